"""What a job is, as a digest and in words: the same in every process, on every machine and with every library version.

A pickle would not do: its bytes depend on which equal strings are one object, on attributes that were computed before,
and on the versions of Python and NumPy.
"""

from __future__ import annotations

import contextlib
import hashlib
import numbers
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, fields, is_dataclass
from functools import partial
from types import CodeType, FunctionType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, quoted, shortened

# Fields that say how a job is computed. Its results do not depend on them.
NO_RESULT = frozenset({"threads", "progress", "executor", "workers", "execution", "checkpoint"})

# A job has so many facts at most.
MAX_FACTS = 64
# The longest sequence that is a fact.
MAX_IN_FACT = 16
# Lists of numbers that are at least so long are hashed as an array.
LONG = 64
# Arrays are converted, copied and hashed in pieces of so many bytes.
PIECE = 1 << 24

MODULE = "reshuffle."


@dataclass(frozen=True)
class Described:
    """A job."""

    digest: str
    """64 hexadecimal digits. Equal jobs have equal digests."""
    facts: Mapping[str, str]
    """Its settings, for messages that say how two jobs differ: numbers, names and short lists of them."""


def described(job: object) -> Described:
    """The digest and the facts of a job.

    A job consists of dataclasses, mappings, sequences, sets, arrays, numbers and strings, and of functions and objects
    that can be pickled. Of a dataclass, the arguments count, but not those in :data:`NO_RESULT`.

    :class:`InputError` for anything else.

    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Job:
    ...     seed: int
    ...     counts: np.ndarray
    ...     threads: int = 1
    >>> job = described(Job(5, np.arange(4)))
    >>> job.facts, job == described(Job(np.int64(5), np.arange(8)[:4], threads=2))
    ({'seed': '5'}, True)
    >>> job.digest == described(Job(6, np.arange(4))).digest
    False
    """
    walk = _Walk()
    walk.visit(job)
    return Described(walk.hash.hexdigest(), walk.facts)


def scalar(value: object) -> bool | int | float | complex | str | bytes | None:
    """A number, a string or None as a plain object; TypeError for anything else.

    >>> scalar(np.float64(0.5)), scalar(np.str_("a")), scalar(np.True_)
    (0.5, 'a', True)
    """
    if value is None or isinstance(value, bool | np.bool_):
        return None if value is None else bool(value)
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, bytes | bytearray):
        return bytes(value)
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        return float(value)
    if isinstance(value, numbers.Complex):
        return complex(value)
    raise TypeError


def _word(value: object) -> str:
    """A number or a string in a list; TypeError for anything else."""
    return str(scalar(value))


class _Walk:
    """Visits a job in depth, and hashes a token for each part: its kind and its length, and then its content."""

    def __init__(self) -> None:
        self.hash = hashlib.blake2b(digest_size=32)
        self.facts: dict[str, str] = {}
        self._inside: list[int] = []

    def visit(self, value: Any, name: str | None = None) -> None:
        """Hash a value. ``name`` is that of its fact, if it has one."""
        try:
            self._token("scalar", repr(scalar(value)))
        except TypeError:
            pass
        else:
            self._fact(name, scalar(value))
            return
        if id(value) in self._inside:
            self._token("above", str(len(self._inside) - self._inside.index(id(value))))
            return
        self._inside.append(id(value))
        self._visit_compound(value, name)
        self._inside.pop()

    def _visit_compound(self, value: Any, name: str | None) -> None:
        if isinstance(value, np.ndarray):
            self._array(value)
        elif isinstance(value, Mapping):
            self._mapping(value, name)
        elif is_dataclass(value) and not isinstance(value, type):
            self._fields(value)
        elif isinstance(value, Sequence):
            self._sequence(value, name)
        elif isinstance(value, Set):
            self._token("set", "".join(sorted(described(item).digest for item in value)))
        elif isinstance(value, type) or _is_own(value):
            self._token("name", f"{value.__module__}.{value.__qualname__}")
        elif isinstance(value, FunctionType):
            self._function(value)
        elif isinstance(value, partial):
            self._token("partial")
            self.visit((value.func, value.args, value.keywords))
        else:
            self._object(value)

    def _token(self, kind: str, text: str = "") -> None:
        content = text.encode("utf-8", "surrogatepass")
        self.hash.update(f"{kind}:{len(content)}:".encode())
        self.hash.update(content)

    def _fact(self, name: str | None, value: object) -> None:
        if name is not None and len(self.facts) < MAX_FACTS and not isinstance(value, bytes):
            self.facts.setdefault(name, shortened(value) if isinstance(value, str) else quoted(value))

    def _fields(self, value: Any) -> None:
        """The arguments of a dataclass. An object with a signature, a metric, is described by it."""
        self._token("object", f"{type(value).__module__}.{type(value).__qualname__}")
        signature = getattr(value, "signature", None)
        if callable(signature):
            self._fact("metric", signature())
        for field in fields(value):
            if field.init and field.name not in NO_RESULT:
                self._token("field", field.name)
                self.visit(getattr(value, field.name), None if callable(signature) else field.name)

    def _sequence(self, value: Sequence[Any], name: str | None) -> None:
        if len(value) >= LONG and all(isinstance(item, str) for item in value):
            self._token("strings", ",".join(str(len(item)) for item in value))
            self._token("joined", "".join(value))
            return
        if len(value) >= LONG and all(type(item) in (int, float) for item in value):
            array = np.asarray(value)
            if array.dtype.kind in "iuf":
                self._array(array)
                return
        self._token("sequence", str(len(value)))
        for item in value:
            self.visit(item)
        if len(value) <= MAX_IN_FACT and name is not None:
            with contextlib.suppress(TypeError):
                self._fact(name, ", ".join(_word(item) for item in value) or "none")

    def _mapping(self, value: Mapping[Any, Any], name: str | None) -> None:
        # The order of systems can matter, so it counts.
        self._token("mapping", str(len(value)))
        for key, item in value.items():
            self.visit(key)
            self.visit(item)
        if len(value) <= MAX_IN_FACT and name is not None:
            with contextlib.suppress(TypeError):
                self._fact(name, ", ".join(f"{_word(key)}={_word(item)}" for key, item in value.items()) or "none")

    def _array(self, array: NDArray[Any]) -> None:
        if array.dtype.kind == "O":
            self._token("array", str(array.shape))
            for item in array.ravel().tolist():
                self.visit(item)
            return
        # Whole numbers count by their values: the same counts can be stored with more or fewer bits.
        fits = array.dtype.kind in "iu" and np.can_cast(array.dtype, np.int64)
        dtype = np.dtype(np.int64) if fits else array.dtype
        dtype = dtype.newbyteorder("<")
        self._token("array", f"{dtype.descr} {array.shape}")
        for piece in _pieces(array):
            self.hash.update(piece.astype(dtype, copy=False).view(np.uint8).data)

    def _function(self, function: FunctionType) -> None:
        """A function of the user: its name and its code, which two versions of Python may compile differently."""
        self._token("function", f"{function.__module__}.{function.__qualname__}")
        self._code(function.__code__)
        cells = function.__closure__ or ()
        self.visit((function.__defaults__, function.__kwdefaults__, [cell.cell_contents for cell in cells]))

    def _code(self, code: CodeType) -> None:
        self._token("code", code.co_code.hex())
        self._token("names", " ".join(code.co_names))
        self._token("constants", str(len(code.co_consts)))
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                self._code(constant)
            else:
                self.visit(constant)

    def _object(self, value: Any) -> None:
        """Any other object: what a pickle would keep of it."""
        problem = f"a job with {quoted(value)} cannot be described: expected an object that can be pickled"
        try:
            parts = value.__reduce_ex__(4)
        except Exception:
            raise InputError(problem) from None
        if isinstance(parts, str):
            self._token("name", f"{getattr(value, '__module__', None)}.{parts}")
            return
        self._token("object", f"{type(value).__module__}.{type(value).__qualname__}")
        made_by, arguments, *state = parts
        self.visit(made_by)
        self.visit(arguments)
        for part in state:
            self.visit(list(part) if hasattr(part, "__next__") else part)


def _is_own(value: Any) -> bool:
    """Whether a value is a function of this package, which its name and the version describe."""
    return (
        isinstance(value, FunctionType)
        and (value.__module__ or "").startswith(MODULE)
        and "<" not in value.__qualname__  # neither a lambda nor a function in another
    )


def _pieces(array: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """The elements of an array in C order, in contiguous pieces of limited size."""
    flat = array.reshape(-1) if array.flags.c_contiguous else None
    length = array.size if flat is not None else len(array)
    step = max(PIECE * length // max(array.nbytes, 1), 1)
    for first in range(0, length, step):
        rows = slice(first, first + step)
        yield np.ascontiguousarray(array[rows]).reshape(-1) if flat is None else flat[rows]
