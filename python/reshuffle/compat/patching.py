"""Replace functions and methods of other libraries in place, and put them back.

Programs hold a library's functions in many forms: ``from sacrebleu.metrics import BLEU``, ``sacrebleu.corpus_bleu``,
bound methods, subclasses. So a name in a module is not rebound. Methods are replaced on their class, and functions get
other code, so that whoever holds the class or the function calls the replacement.
"""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from types import FunctionType, TracebackType

from reshuffle import InputError

from .hosts import HOSTS

__all__ = [
    "Installed",
    "Seam",
    "SeamReport",
    "Settings",
    "current_settings",
    "host_version",
    "install",
    "installed",
    "seams",
    "uninstall",
]

logger = logging.getLogger("reshuffle.compat")
_lock = threading.RLock()


PVALUES = ("exact-replay", "sound")
LOGS = ("warn", "off")


@dataclass(frozen=True)
class Settings:
    """The arguments of :func:`install`."""

    pvalues: str = "exact-replay"
    log: str = "warn"

    def __post_init__(self) -> None:
        for what, value, known in (("pvalues", self.pvalues, PVALUES), ("log", self.log, LOGS)):
            if value not in known:
                raise InputError(f"{what} must be {' or '.join(map(repr, known))}, got {value!r}")


@dataclass(frozen=True)
class SeamReport:
    """How often a replacement was called, and how often it called the original instead.

    ``fallbacks`` has the numbers of these calls by reason.
    """

    host: str
    version: str
    name: str
    calls: int
    fallbacks: Mapping[str, int]


@dataclass(eq=False)
class Seam:
    """A function of a host, or a method of one of its classes, that can be replaced.

    ``owner`` is the class of a method, and None for a function. ``original`` can be called at any time, whether or not
    the host is patched. The replacement of a function runs with the globals of the host, so it has no closure, imports
    what it calls, and has the parameters and defaults of the original.
    """

    name: str
    owner: type | None
    original: FunctionType
    replacement: FunctionType
    calls: int = 0
    fallbacks: Counter[str] = field(default_factory=Counter)

    @classmethod
    def method(cls, owner: type, name: str, replacement: FunctionType) -> Seam:
        """The method of this name, which ``owner`` itself defines."""
        return cls(f"{owner.__name__}.{name}", owner, vars(owner)[name], replacement)

    @classmethod
    def function(cls, original: FunctionType, replacement: FunctionType) -> Seam:
        """A function of a module. ``original`` of the seam is a copy, which keeps the code that is replaced."""
        copy = FunctionType(original.__code__, original.__globals__, original.__name__, original.__defaults__)
        copy.__kwdefaults__ = original.__kwdefaults__
        seam = cls(original.__name__, None, copy, replacement)
        seam._function = original
        return seam

    _function: FunctionType | None = field(default=None, repr=False)

    def count(self) -> None:
        """Count a call of the replacement."""
        with _lock:
            self.calls += 1

    def fall_back(self, reason: str) -> None:
        """Count a call of the original, and log the reason when it occurs for the first time."""
        with _lock:
            self.fallbacks[reason] += 1
            first = self.fallbacks[reason] == 1
        if first and _state.settings.log == "warn":
            logger.warning("%s: calls the original: %s", self.name, reason)

    def patch(self) -> None:
        """Replace the function or method."""
        self._set(self.replacement)

    def restore(self) -> None:
        """Undo :meth:`patch`."""
        self._set(self.original)

    def _set(self, function: FunctionType) -> None:
        if self.owner is not None:
            setattr(self.owner, self.original.__name__, function)
        elif self._function is not None:
            self._function.__code__ = function.__code__


@dataclass
class _State:
    """What is patched, and how."""

    settings: Settings = field(default_factory=Settings)
    hosts: tuple[str, ...] = ()


_state = _State()


@dataclass(frozen=True)
class Installed:
    """What is patched after :func:`install`. As a context manager, it undoes that call of ``install`` at the end."""

    hosts: tuple[str, ...]
    settings: Settings
    _before: tuple[tuple[str, ...], Settings] = field(repr=False, compare=False)

    def uninstall(self) -> None:
        """Restore what was patched before this call of :func:`install`."""
        _change(*self._before)

    def __enter__(self) -> Installed:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.uninstall()


def install(only: Iterable[str] | None = None, *, pvalues: str = "exact-replay", log: str = "warn") -> Installed:
    """Patch the hosts named in ``only``, or all that are installed in versions that are known."""
    chosen = Settings(pvalues, log)
    names = _named(only)
    with _lock:
        before = _state.hosts, _state.settings
        after = (*_state.hosts, *(name for name in names if name not in _state.hosts))
        _change(after, chosen)
        return Installed(after, chosen, before)


def uninstall() -> None:
    """Restore the originals everywhere. No effect if nothing is patched."""
    _change((), Settings())


def installed() -> Installed | None:
    """What is patched, or None."""
    with _lock:
        return Installed(_state.hosts, _state.settings, ((), Settings())) if _state.hosts else None


def current_settings() -> Settings:
    """The settings of the last :func:`install`, or the defaults."""
    return _state.settings


def seams() -> list[SeamReport]:
    """The seams of all hosts that have been patched in this process."""
    raise NotImplementedError


def host_version(name: str) -> str:
    """The version of a host. Raises :class:`InputError` if it is not installed, or its version is not known."""
    raise NotImplementedError


def _named(only: Iterable[str] | None) -> list[str]:
    raise NotImplementedError


def _change(hosts: Sequence[str], chosen: Settings) -> None:
    """Patch exactly these hosts."""
    with _lock:
        # All modules are imported before anything is patched, so that an error changes nothing.
        wanted = {name: _seams_of(name) for name in hosts}
        for name in _state.hosts:
            if name not in wanted:
                for seam in _seams_of(name):
                    seam.restore()
        for name, own in wanted.items():
            if name not in _state.hosts:
                for seam in own:
                    seam.patch()
        _state.hosts, _state.settings = tuple(hosts), chosen


def _seams_of(name: str) -> Sequence[Seam]:
    seams: Sequence[Seam] = import_module(HOSTS[name].module).SEAMS
    return seams
