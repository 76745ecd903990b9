"""Replace functions and methods of other libraries (hosts) in place, and restore them.

Programs refer to a library's functions in many ways: ``from sacrebleu.metrics import BLEU``,
``sacrebleu.corpus_bleu``, bound methods, subclasses. Rebinding a name in a module would miss most of these references.
Therefore methods are replaced on their class, and functions get another ``__code__``, so that all references call the
replacement.
"""

from __future__ import annotations

import logging
import os
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import update_wrapper
from importlib import import_module
from itertools import groupby
from types import FunctionType
from typing import Any, NamedTuple

from reshuffle import InputError

from .hosts import HOSTS

logger = logging.getLogger("reshuffle.compat")

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
    """How often a replaced function was called, and how often it left the call to the original.

    Attributes
    ----------
    host, version : str
        The library, and its version in this process.
    name : str
        The function, or the class and the method.
    calls : int
        The number of calls in this process since the library was first patched.
    fallbacks : mapping of str to int
        For each reason, the number of calls that were left to the original.
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
    the host is patched.
    """

    name: str
    owner: type | None
    original: FunctionType
    replacement: FunctionType
    calls: int = 0
    fallbacks: Counter[str] = field(default_factory=Counter)
    # Any, because mypy takes a function in a dataclass for a method.
    _function: Any = field(default=None, repr=False)

    @classmethod
    def method(cls, owner: type, name: str, replacement: FunctionType) -> Seam:
        """The method of this name, which ``owner`` itself defines."""
        original = vars(owner)[name]
        if not isinstance(original, FunctionType) or _package(original) != _package(owner):
            raise InputError(
                f"{owner.__module__}.{owner.__name__}.{name} has been replaced by {original!r}. Call "
                "reshuffle.compat.install() before the other code replaces it"
            )
        # help() of the host's class must not change, and a pickle of the method must be loadable without reshuffle.
        update_wrapper(replacement, original)
        return cls(f"{owner.__name__}.{name}", owner, original, replacement)

    @classmethod
    def function(cls, original: FunctionType, replacement: Callable[..., Any], *, shortcut: str = "") -> Seam:
        """A function of a module, whose parameters are positional. The seam's ``original`` is a copy with its code.

        The new code of the function imports ``replacement`` from its module, which takes a microsecond, and calls it.
        Before that it runs ``shortcut``, a statement for calls that are cheaper than the import.
        """
        name, module = original.__name__, replacement.__module__
        parameters = ", ".join(original.__code__.co_varnames[: original.__code__.co_argcount])
        source = f"""
def {name}({parameters}):
    {shortcut}
    from {module} import {replacement.__name__} as replacement
    return replacement({parameters})
"""
        defined: dict[str, Any] = {}
        exec(compile(source, f"<replacement of {name} by {module}>", "exec"), defined)
        copy = FunctionType(original.__code__, original.__globals__, name, original.__defaults__)
        return cls(name, None, copy, defined[name], _function=original)

    def count(self) -> None:
        """Count a call of the replacement."""
        with _counting:
            self.calls += 1

    def fall_back(self, reason: str) -> None:
        """Count a call that is left to the original, and log the reason when it first occurs."""
        with _counting:
            self.fallbacks[reason] += 1
            first = self.fallbacks[reason] == 1
        if first and _state.settings.log == "warn":
            logger.warning("%s: left to the original: %s", self.name, reason)

    def leave(self, reason: object, *arguments: Any) -> Any:
        """What the original returns. Counts the call as in :meth:`fall_back`."""
        self.fall_back(str(reason))
        return self.original(*arguments)

    def patch(self) -> None:
        """Replace the function or method, unless other code has already replaced it."""
        self._swap(self.original, self.replacement)

    def restore(self) -> None:
        """Undo :meth:`patch`, unless other code has replaced the function or method since."""
        self._swap(self.replacement, self.original)

    def _swap(self, old: FunctionType, new: FunctionType) -> None:
        if self.owner is not None:
            if vars(self.owner).get(self.original.__name__) is old:
                setattr(self.owner, self.original.__name__, new)
                return
        elif self._function is not None and self._function.__code__ is old.__code__:
            self._function.__code__ = new.__code__
            return
        if _state.settings.log == "warn":
            logger.warning("%s was replaced by code other than reshuffle's, and stays as it is", self.name)

    def report(self, host: str, version: str) -> SeamReport:
        """The calls so far."""
        with _counting:
            return SeamReport(host, version, self.name, self.calls, dict(self.fallbacks))


def _package(thing: FunctionType | type) -> str:
    return thing.__module__.partition(".")[0]


def rebound(function: FunctionType, module: str, about: str, **names: Any) -> Any:
    """A copy of a host's function as one of ``module``, with these values for names of the host's module.

    ``about`` is its docstring.
    """
    copy = FunctionType(function.__code__, {**function.__globals__, **names}, function.__name__, function.__defaults__)
    copy.__kwdefaults__ = function.__kwdefaults__
    update_wrapper(copy, function)
    copy.__module__, copy.__doc__ = module, about
    return copy


class NotNative(Exception):  # noqa: N818 - not an error: the caller then uses the original
    """reshuffle cannot compute this, and the host's own function has to. The argument is the reason."""


class _Loaded(NamedTuple):
    """A host that has been imported: its version and its seams."""

    version: str
    seams: Sequence[Seam]


@dataclass
class _State:
    """The calls of :func:`install` that are in effect (``requests``, oldest first), and what follows from them."""

    requests: dict[object, tuple[tuple[str, ...], Settings]] = field(default_factory=dict)
    loaded: dict[str, _Loaded] = field(default_factory=dict)
    hosts: tuple[str, ...] = ()
    settings: Settings = field(default_factory=Settings)


_state = _State()
_lock = threading.RLock()
# A lock of its own, because a replacement that counts its call must not wait for a thread that is in install().
_counting = threading.Lock()


def _after_fork() -> None:
    # If another thread of the parent held a lock, it would never be released in the child.
    global _lock, _counting
    _lock, _counting = threading.RLock(), threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


@dataclass(frozen=True)
class Installed:
    """The patched libraries and the settings. As a context manager, it undoes its call of ``install`` on exit.

    Attributes
    ----------
    hosts : tuple of str
        The libraries that this call of :func:`install` patched, or found patched.
    settings : Settings
        Its other arguments.
    """

    hosts: tuple[str, ...]
    settings: Settings
    _requests: tuple[object, ...] = field(repr=False, compare=False)

    def uninstall(self) -> None:
        """Undo this call of :func:`install`.

        Libraries that other calls have also patched stay patched until those calls are undone.
        """
        with _lock:
            for request in self._requests:
                _state.requests.pop(request, None)
            _apply()

    def __enter__(self) -> Installed:
        return self

    def __exit__(self, *error: object) -> None:
        self.uninstall()


def install(only: str | Iterable[str] | None = None, *, pvalues: str = "exact-replay", log: str = "warn") -> Installed:
    """Replace slow functions of other libraries, in place.

    Programs call these libraries as before and get the same results. Calls that reshuffle cannot compute, such as those
    of a subclass with its own counting, are left to the library's own code.

    Parameters
    ----------
    only : str or iterable of str, optional
        The libraries to patch: ``sacrebleu``, ``nltk``, ``lm_eval``, ``lighteval``. By default only ``sacrebleu``, and
        only if it is installed in a supported version: NLTK takes long to import, and the numbers of the others change.
    pvalues : {"exact-replay", "sound"}, optional
        Significance tests in the library. ``"exact-replay"`` generates the same random numbers as the library and
        returns its p-values and intervals to the last digit. ``"sound"`` returns p-values and intervals of reshuffle's
        tests, which count ties, and marks the signature.
    log : {"warn", "off"}, optional
        With ``"warn"``, the logger ``reshuffle.compat`` warns when a call is left to the library's own code, once for
        each reason.

    Returns
    -------
    Installed
        A context manager with a method ``uninstall``. A library stays patched until every call of ``install`` that
        patched it is undone, or until :func:`uninstall` is called. If several calls differ in ``pvalues`` or ``log``,
        the latest of those in effect applies.

    Raises
    ------
    InputError
        If ``only`` names an unknown library, or one that is not installed, or whose version is not supported. Then
        nothing is patched.

    Examples
    --------
    >>> import sacrebleu
    >>> from reshuffle import compat
    >>> with compat.install():
    ...     print(sacrebleu.corpus_bleu(["the cat sat on a mat"], [["the cat sat on the mat"]]))
    BLEU = 53.73 83.3/60.0/50.0/33.3 (BP = 1.000 ratio = 1.000 hyp_len = 6 ref_len = 6)
    >>> compat.installed() is None
    True
    """
    chosen = Settings(pvalues, log)
    # Modules are imported before the lock is taken, because an import can wait for another thread, and before anything
    # is patched, so that an error changes nothing.
    loaded = _load_usable(chosen) if only is None else {name: _load(name) for name in _known(only)}
    hosts = tuple(loaded)
    request = object()
    with _lock:
        _state.loaded.update(loaded)
        _state.requests[request] = hosts, chosen
        _apply()
    return Installed(hosts, chosen, (request,))


def uninstall(only: str | Iterable[str] | None = None) -> None:
    """Restore the original functions of these libraries (all by default), however often :func:`install` was called.

    Has no effect on a library that is not patched.
    """
    names = None if only is None else _known(only)
    with _lock:
        for request, (hosts, chosen) in list(_state.requests.items()):
            kept = () if names is None else tuple(name for name in hosts if name not in names)
            if kept:
                _state.requests[request] = kept, chosen
            else:
                del _state.requests[request]
        _apply()


def installed() -> Installed | None:
    """What is patched now, or None. The method ``uninstall`` of the result restores everything."""
    with _lock:
        return Installed(_state.hosts, _state.settings, tuple(_state.requests)) if _state.hosts else None


def current_settings() -> Settings:
    """The settings of the latest :func:`install` in effect, or the defaults."""
    return _state.settings


def seams(only: str | Iterable[str] | None = None) -> list[SeamReport]:
    """How often each replaced function was called: of these libraries, or of all that were patched in this process."""
    names = None if only is None else _known(only)
    with _lock:
        loaded = list(_state.loaded.items())
    return [
        seam.report(name, host.version)
        for name, host in loaded
        if names is None or name in names
        for seam in host.seams
    ]


def host_version(name: str) -> str:
    """The version of a host. Raises :class:`InputError` if it is not installed, or its version is not supported."""
    host = HOSTS[name]
    try:
        module = import_module(name)
    except ImportError as error:
        if isinstance(error, ModuleNotFoundError) and error.name == name:
            raise _NotInstalledError(f"{name} is not installed: pip install '{host.supported}'") from None
        raise InputError(f"{name} cannot be imported: {error}") from error
    # The metadata may belong to another copy of the library than the one that was imported.
    found = getattr(module, "__version__", None) or _version_of_package(host.package)
    if not _release(host.lowest) <= _release(found) < _release(host.below):
        raise InputError(
            f"{name} {found or 'of unknown version'} is not supported: reshuffle.compat supports {host.supported}"
        )
    return str(found)


class _NotInstalledError(InputError):
    """A host is not installed. If the user did not name it, there is no warning."""


def _version_of_package(package: str) -> str:
    from importlib.metadata import PackageNotFoundError, version  # slow to import: a tenth of importing sacreBLEU

    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _release(version: str) -> tuple[int, ...]:
    """The numbers of a version: (2, 6, 1) for 2.6.1.dev3+g1a2b. Empty if there are none, which is below all others."""
    numbers = re.match(r"\d+(\.\d+)*", version)
    return tuple(map(int, numbers[0].split("."))) if numbers else ()


def _known(only: str | Iterable[str]) -> list[str]:
    names = [only] if isinstance(only, str) else list(dict.fromkeys(only))
    for name in names:
        if name not in HOSTS:
            raise InputError(f"reshuffle.compat cannot patch {name!r}; it can patch: {', '.join(HOSTS)}")
    return names


def _load(name: str) -> _Loaded:
    return _Loaded(host_version(name), import_module(HOSTS[name].module).SEAMS)


def _load_usable(chosen: Settings) -> dict[str, _Loaded]:
    """The hosts that are patched when none are named."""
    loaded = {}
    for name in (name for name, host in HOSTS.items() if not host.only_if_named):
        try:
            loaded[name] = _load(name)
        except InputError as error:
            level = logging.INFO if isinstance(error, _NotInstalledError) or chosen.log == "off" else logging.WARNING
            logger.log(level, "not patched: %s", error)
    if not loaded and chosen.log == "warn":
        logger.warning("nothing is patched: no supported library is installed")
    return loaded


def _apply() -> None:
    """Patch exactly the hosts that are requested."""
    wanted = dict.fromkeys(name for hosts, _ in _state.requests.values() for name in hosts)
    for name, host in _state.loaded.items():
        for seam in host.seams:
            if name in wanted and name not in _state.hosts:
                seam.patch()
            elif name not in wanted and name in _state.hosts:
                seam.restore()
    _state.hosts = tuple(wanted)
    _state.settings = [chosen for _, chosen in _state.requests.values()][-1] if wanted else Settings()


def seam_table(reports: Iterable[SeamReport]) -> str:
    """A table with a row for each replaced function, and below each row the reasons why the original was called.

    >>> reports = [
    ...     SeamReport("sacrebleu", "2.6.0", "Metric._cache_references", 2, {}),
    ...     SeamReport("sacrebleu", "2.6.0", "Metric._extract_corpus_statistics", 16, {"there are no references": 3}),
    ... ]
    >>> print(seam_table(reports))
    replaced by reshuffle.compat         calls  left to the original
    sacrebleu 2.6.0
      Metric._cache_references               2                     0
      Metric._extract_corpus_statistics     16                     3
        3: there are no references
    """
    rows: list[tuple[str, ...]] = [("replaced by reshuffle.compat", "calls", "left to the original")]
    for (host, version), group in groupby(reports, lambda report: (report.host, report.version)):
        rows.append((f"{host} {version}",))
        for report in group:
            rows.append((f"  {report.name}", f"{report.calls:,}", f"{sum(report.fallbacks.values()):,}"))
            rows.extend((f"    {number:,}: {reason}",) for reason, number in report.fallbacks.items())
    if len(rows) == 1:
        return "reshuffle.compat: nothing is patched"
    name, calls, fallbacks = (max(len(row[i]) for row in rows if len(row) == 3) for i in range(3))
    return "\n".join(
        f"{row[0]:<{name}}  {row[1]:>{calls}}  {row[2]:>{fallbacks}}" if len(row) == 3 else row[0] for row in rows
    )
