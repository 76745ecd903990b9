"""Texts: reading them from files, naming the systems, and checking that everything lines up."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import sys
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from .errors import InputError

__all__ = ["Corpus", "read_corpus", "read_lines", "system_names"]

STDIN = "-"

Lines: TypeAlias = Sequence[str]

# By content rather than by ending, so that standard input may be compressed too.
_COMPRESSIONS: tuple[tuple[str, bytes, str, Callable[[bytes], bytes]], ...] = (
    ("gzip", b"\x1f\x8b", ".gz", gzip.decompress),
    ("bzip2", b"BZh", ".bz2", bz2.decompress),
    ("xz", b"\xfd7zXZ\x00", ".xz", lzma.decompress),
)


@dataclass(frozen=True)
class Corpus:
    """Systems' outputs and references for the same segments.

    Attributes
    ----------
    systems : mapping of str to S hypotheses
        In order; at least one.
    references : columns of S references
        At least one. None stands for a reference that is missing.
    reference_names : tuple of str
        What to call the columns in messages.

    Raises
    ------
    InputError
        If nothing is given or lengths differ.
    """

    systems: Mapping[str, Lines]
    references: Sequence[Sequence[str | None]]
    reference_names: Sequence[str] = ()

    def __post_init__(self) -> None:
        if not self.references:
            raise InputError("no references: at least one column of references is needed")
        if not self.systems:
            raise InputError("no systems: at least one system's output is needed")
        names = self.reference_names or [f"references[{i}]" for i in range(len(self.references))]
        columns: list[tuple[str, int]] = [(n, len(c)) for n, c in zip(names, self.references, strict=True)]
        columns += [(name, len(lines)) for name, lines in self.systems.items()]
        first_name, expected = columns[0]
        if expected == 0:
            raise InputError(f"{first_name} is empty: at least one segment is needed")
        odd = [(name, length) for name, length in columns if length != expected]
        if odd:
            others = ", ".join(f"{name} has {length:,}" for name, length in odd)
            raise InputError(f"numbers of segments differ: {first_name} has {expected:,}, {others}")

    @property
    def n_segments(self) -> int:
        """S."""
        return len(self.references[0])

    @property
    def n_references(self) -> str:
        """References per segment as signatures give them: a number, or ``var`` if segments differ."""
        if not any(None in column for column in self.references):
            return str(len(self.references))
        counts = {sum(line is not None for line in segment) for segment in zip(*self.references, strict=True)}
        return str(counts.pop()) if len(counts) == 1 else "var"

    @classmethod
    def of(
        cls,
        references: Sequence[str | None] | Sequence[Sequence[str | None]],
        systems: Mapping[str, Lines] | Sequence[Lines],
    ) -> Corpus:
        """From texts in memory: one column of references or several; systems with names or without."""
        if isinstance(references, str) or isinstance(systems, str):
            raise InputError("expected sequences of segments, got a single string")
        columns = _listed("references", references)
        if columns and (columns[0] is None or isinstance(columns[0], str)):
            columns = [columns]
        if not isinstance(systems, Mapping):
            systems = {f"system {i}": lines for i, lines in enumerate(_listed("systems", systems), 1)}
        return cls(
            {str(name): _listed(str(name), lines) for name, lines in systems.items()},
            [_listed(f"references[{i}]", column) for i, column in enumerate(columns)],
        )


def _listed(what: str, values: Any) -> list[Any]:
    """Anything that can be gone through, as a list: arrays, data frames' columns and generators are fine."""
    if isinstance(values, str):
        raise InputError(f"{what}: expected a sequence of segments, got a single string")
    try:
        return list(values)
    except TypeError:
        raise InputError(f"{what}: expected a sequence of segments, got {values!r}") from None


def read_lines(path: str | os.PathLike[str]) -> list[str]:
    """The lines of a UTF-8 file, without their ends; ``-`` is standard input.

    gzip, bzip2 and xz are recognised by their first bytes. A line ends at LF or CRLF and nowhere else: U+2028, U+0085,
    a lone CR and the like are characters of the line, and so is U+FEFF, wherever it stands.

    Raises
    ------
    InputError
        If the file cannot be read or decompressed, is empty, or is not UTF-8; with the line and byte.
    """
    path = os.fspath(path)
    name = display_name(path)
    data = _decompressed(_bytes(path), name)
    if not data:
        raise InputError(f"{name} is empty: expected one segment per line")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - (data.rfind(b"\n", 0, error.start) + 1) + 1
        raise InputError(
            f"{name}, line {line}, byte {column}: 0x{data[error.start]:02x} is not valid UTF-8; "
            f"convert the file to UTF-8 first (byte {error.start + 1} of the file)"
        ) from None
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return [line.removesuffix("\r") for line in lines] if "\r" in text else lines


def _bytes(path: str) -> bytes:
    name = display_name(path)
    if not path:
        raise InputError("expected the name of a file, got an empty one")
    if path == STDIN and sys.stdin is None:
        raise InputError("standard input is closed: there is nothing to read from -")
    try:
        return sys.stdin.buffer.read() if path == STDIN else Path(path).read_bytes()
    except FileNotFoundError:
        raise InputError(f"{name}: no such file") from None
    except IsADirectoryError:
        raise InputError(f"{name} is a directory: expected a file with one segment per line") from None
    except OSError as error:
        raise InputError(f"{name} cannot be read: {error.strerror or error}") from None
    except ValueError as error:  # a NUL in the name
        raise InputError(f"{name!r} cannot be read: {error}") from None


def _decompressed(data: bytes, name: str) -> bytes:
    for what, magic, _, decompress in _COMPRESSIONS:
        if data.startswith(magic):
            try:
                return decompress(data)
            except (OSError, EOFError, lzma.LZMAError, zlib.error) as error:
                raise InputError(f"{name} looks like {what} but cannot be decompressed: {error}") from None
    return data


def display_name(path: str) -> str:
    """A path as it can be printed, whatever bytes it holds."""
    return "standard input" if path == STDIN else path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def system_names(paths: Sequence[str]) -> list[str]:
    """Short names for files: the stem; where stems clash the file name; where names clash the folders too.

    >>> system_names(["out/online-A.0.txt.gz", "b/sys.txt", "c/sys.txt", "-"])
    ['online-A.0', 'b/sys.txt', 'c/sys.txt', 'stdin']
    >>> system_names(["a.txt", "a.tok", "b.txt", "b.txt"])
    ['a.txt', 'a.tok', 'b', 'b#2']
    """
    longer = [_ever_longer_names(path) for path in paths]
    length = [0] * len(paths)
    while True:
        names = [choices[i] for choices, i in zip(longer, length, strict=True)]
        # A file that is named twice is not told apart by a longer name.
        paths_of = {name: {path for path, n in zip(paths, names, strict=True) if n == name} for name in names}
        clashing = [i for i, n in enumerate(names) if len(paths_of[n]) > 1 and length[i] + 1 < len(longer[i])]
        if not clashing:
            break
        for i in clashing:
            length[i] += 1
    unique: list[str] = []
    for name in names:
        candidates = [name, *(f"{name}#{i}" for i in range(2, len(names) + 2))]
        unique.append(next(c for c in candidates if c not in unique))
    return unique


def _ever_longer_names(path: str) -> list[str]:
    if path == STDIN:
        return ["stdin"]
    shown = Path(display_name(path))
    compressed = any(shown.suffix == suffix for _, _, suffix, _ in _COMPRESSIONS)
    stem = Path(shown.stem).stem if compressed else shown.stem
    return [stem or shown.name, *(str(Path(*shown.parts[-d:])) for d in range(1, len(shown.parts) + 1))]


def read_corpus(references: Sequence[str], systems: Sequence[str]) -> Corpus:
    """Read files, one segment per line, and check that they line up.

    Raises
    ------
    InputError
        As :func:`read_lines`; if line counts differ, with the count of each; if standard input is named twice.
    """
    if [*references, *systems].count(STDIN) > 1:
        raise InputError("standard input (-) can be read only once")
    columns = [read_lines(path) for path in references]
    outputs = dict(zip(system_names(systems), map(read_lines, systems), strict=True))
    return Corpus(outputs, columns, tuple(map(display_name, references)))
