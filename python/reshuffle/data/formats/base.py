"""What every input format is made of: the file it reads, the columns it returns, and its entry in the registry."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, TypeAlias

from ...errors import IN_FILE, InputError, listed, shortened, unknown_name, warn
from ..files import decoded, display_name


@dataclass(frozen=True, slots=True)
class Column:
    """The segments of a file, or of one column, key or system in it.

    Attributes
    ----------
    name : str
        ``FILE`` or ``FILE#NAME``, as the user wrote it.
    lines : sequence of S str
        None for a missing segment, such as null in JSON.
    first_lines : sequence of S int
        The line of the file on which each segment begins, from 1.
    ids : sequence of S (str, str), or None
        The document and number of each segment, in formats that have them.
    format : str
        ``conllu`` for parses, ``text`` for everything else.
    """

    name: str
    lines: Sequence[Any]
    first_lines: Sequence[int]
    ids: Sequence[tuple[str, str]] | None = None
    format: str = "text"

    def place(self, segment: int, line: int = 1) -> str:
        """The file and line of a line of a segment, both counted from 1, for error messages.

        >>> Column("a.conllu", ["1\\tYes…", "# text = No\\n1\\tNo…"], [1, 3]).place(2, 2)
        'a.conllu, line 4'
        """
        return f"{self.name}, line {self.first_lines[segment - 1] + line - 1}"


@dataclass(frozen=True, slots=True)
class Source:
    """A file that has been read and decompressed."""

    file: str
    data: bytes

    def __post_init__(self) -> None:
        nul = self.data.find(b"\0")
        if nul >= 0 and not self.data.startswith((b"\xff\xfe", b"\xfe\xff")):  # XML may be UTF-16
            line = self.data.count(b"\n", 0, nul) + 1
            warn(f"{self.name}, line {line} contains a NUL character (U+0000): is the file UTF-8 text?")

    @property
    def name(self) -> str:
        """The file's name in messages."""
        return display_name(self.file)

    def label(self, name: str | None) -> str:
        """A column's name in messages."""
        return self.name if name is None else display_name(f"{self.name}#{name}")

    def text(self) -> str:
        """The content as text, without a byte order mark: the format defines how the file begins."""
        text = decoded(self.data, self.name).removeprefix("\ufeff")
        if not text:
            raise InputError(f"{self.name} is empty: expected more than a byte order mark")
        return text

    def fail(self, message: str, line: int | None = None) -> NoReturn:
        """Raise :class:`InputError` for a line of the file."""
        if line is None:
            raise InputError("{file}: {problem}", file=self.name, problem=message)
        raise InputError(IN_FILE, file=self.name, line=line, problem=message)


# The columns, keys or systems that were asked for; None stands for the only one.
Names: TypeAlias = Sequence["str | None"]


def shown_json(value: object) -> str:
    """A JSON value as error messages show it: its kind and, shortened, the value."""
    if value is None:
        return "null"
    kinds = {bool: "", str: "the string ", int: "the number ", float: "the number ", list: "a list", dict: "an object"}
    shown = "" if isinstance(value, list | dict) else json.dumps(value, ensure_ascii=False)
    return kinds[type(value)] + shortened(shown)


def choose(source: Source, kind: str, name: str | None, known: Sequence[str]) -> str:
    """The name, if it exists; without a name, the only one there is. :class:`InputError` otherwise."""
    if name is None:
        if len(known) != 1:
            hint = f": choose one as in '{source.file}#{shortened(known[0])}'" if known else ""
            shown = f" ({listed(known)})" if known else ""
            raise InputError(display_name(f"{source.name}: expected one {kind}, got {len(known)}{shown}{hint}"))
        return known[0]
    if name not in known:
        raise InputError(f"{source.name}: {unknown_name(kind, display_name(name), known)}")
    return name


@dataclass(frozen=True, slots=True)
class FileFormat:
    """An input format.

    Attributes
    ----------
    about : str
        What a file contains, in a few words.
    endings : tuple of str
        File extensions, in lower case.
    read : function
        Takes the file and the names of columns; returns a column for each. Values that are not text stay as they are.
    numbers : type or None
        The type of the values that numbers are parsed from: str, or float where the format has numbers of its own. None
        if the format holds no numbers.
    names : function or None
        The names of all columns, for formats that have several.
    references : function or None
        The names of all references, for formats in which a file may hold several.
    """

    about: str
    endings: tuple[str, ...]
    read: Callable[[Source, Names], list[Column]]
    numbers: type | None = None
    names: Callable[[Source], list[str]] | None = None
    references: Callable[[Source], Names] | None = None
