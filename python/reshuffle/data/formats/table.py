"""Tables with a header, in files whose ending does not say what separates the fields, as those of WMT."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from ...errors import InputError, counted, quoted, unknown_name
from ..files import split_lines
from .base import Column, FileFormat, Names, Source, choose

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Rows:
    """The rows of a table, by column.

    ``lines`` has the line of the file on which each row ends, from 1, and ``source`` the file.
    """

    header: tuple[str, ...]
    columns: Sequence[Sequence[str]]
    lines: Sequence[int]
    source: Source

    def __getitem__(self, name: str) -> Sequence[str]:
        """The column of this name."""
        if name not in self.header:
            raise InputError(f"{self.source.name}: {unknown_name('column', name, self.header)}")
        if self.header.count(name) > 1:
            self.source.fail(f"{self.header.count(name)} columns in the header are called {quoted(name)}: expected one")
        return self.columns[self.header.index(name)]

    def where(self, mask: NDArray[np.bool_]) -> Rows:
        """The rows that a mask selects."""
        if mask.all():
            return self
        kept = mask.nonzero()[0].tolist()
        columns = [[column[row] for row in kept] for column in self.columns]
        return Rows(self.header, columns, [self.lines[row] for row in kept], self.source)

    def fail(self, row: int, problem: str) -> NoReturn:
        """Raise :class:`InputError` for a row, counted from 0."""
        self.source.fail(problem, self.lines[row])


def read_rows(source: Source, header: bool = True, may_be_short: bool = False) -> Rows:
    """The rows of a file whose fields are separated by tabs, commas or white space, whichever its first line has.

    Fields may be quoted as in CSV, unless they are separated by white space. Empty lines at the end are ignored. With
    ``may_be_short``, empty fields at the end of a row may be missing.
    """
    text = source.text()
    regular = _regular(text, header)
    if regular is not None:
        names, columns = regular
        return Rows(names, columns, range(1 + header, len(columns[0]) + 1 + header), source)
    lines = split_lines(text)
    while lines and not lines[-1].strip():
        lines.pop()
    if not lines:
        source.fail("contains only empty lines: expected a header and rows" if header else "contains only empty lines")
    rows, numbers = _split(source, lines, _delimiter(lines[0]))
    names = tuple(name.strip() for name in rows[0]) if header else tuple(map(str, range(len(rows[0]))))
    rows, numbers = (rows[1:], numbers[1:]) if header else (rows, numbers)
    if not rows:
        source.fail(f"expected rows after the header {quoted(lines[0])}, got none")
    if may_be_short:
        rows = [row + [""] * (len(names) - len(row)) for row in rows]
    if set(map(len, rows)) != {len(names)}:
        row, number = next((row, number) for row, number in zip(rows, numbers, strict=True) if len(row) != len(names))
        fields = f"{counted(len(names), 'field')} as in the {'header' if header else 'first line'}"
        source.fail(f"expected {fields}, got {len(row)}" if any(row) else f"expected {fields}, got none", number)
    return Rows(names, list(zip(*rows, strict=True)), numbers, source)


def _delimiter(line: str) -> str | None:
    """What separates the fields of a line; None for white space."""
    return next((each for each in "\t," if each in line), None)


def _regular(text: str, header: bool) -> tuple[tuple[str, ...], list[Sequence[str]]] | None:
    """Names and columns, if all lines have the same number of fields, and no field is quoted; else None.

    It takes a third of the time of a split of each line.
    """
    delimiter = _delimiter(text.partition("\n")[0])
    if delimiter is None or '"' in text or "\r" in text:
        return None
    text = text.removesuffix("\n")
    import numpy as np  # not at start-up

    letters = np.frombuffer(text.encode(), dtype=np.uint8)
    ends = np.append(np.flatnonzero(letters == ord("\n")), len(letters))
    counts = np.diff(np.searchsorted(np.flatnonzero(letters == ord(delimiter)), ends), prepend=0)
    if len(counts) <= header or (counts != counts[0]).any():
        return None
    n = int(counts[0]) + 1
    fields = text.replace("\n", delimiter).split(delimiter)
    columns: list[Sequence[str]] = [fields[n * header + i :: n] for i in range(n)]
    return tuple(name.strip() for name in fields[:n]) if header else tuple(map(str, range(n))), columns


def _split(source: Source, lines: list[str], delimiter: str | None) -> tuple[list[list[str]], Sequence[int]]:
    """The fields of each row, and the line on which it ends."""
    if delimiter is None or not any('"' in line for line in lines):
        return [line.split(delimiter) for line in lines], range(1, len(lines) + 1)
    plain = [line.split(delimiter) for line in lines]
    if delimiter == "\t" and not any(field.startswith('"') for fields in plain for field in fields):
        return plain, range(1, len(lines) + 1)  # quotes within texts
    try:
        rows, numbers = _quoted(lines, delimiter)
    except csv.Error as error:
        rows, numbers, problem = [], [], str(error)
    else:
        problem = ""
    if delimiter == "\t" and len({len(row) for row in rows}) != 1 and len({len(fields) for fields in plain}) == 1:
        return plain, range(1, len(lines) + 1)  # no quoting, as in the TSV files of this package
    if problem:
        source.fail(f"the quotes in the table cannot be read: {problem}")
    return rows, numbers


def _quoted(lines: list[str], delimiter: str) -> tuple[list[list[str]], list[int]]:
    """The fields of each row of a table with quotes, and the line on which it ends."""
    reader = csv.reader((line + "\n" for line in lines), delimiter=delimiter, strict=True)
    rows, numbers = [], []
    for row in reader:
        rows.append(row)
        numbers.append(reader.line_num)
    return rows, numbers


def names_of(source: Source) -> list[str]:
    """Names of the columns, from the header."""
    line = source.text().partition("\n")[0]
    ((header, *_), _) = _split(source, [line], _delimiter(line))
    return [name.strip() for name in header]


def read(source: Source, names: Names) -> list[Column]:
    """See :class:`FileFormat`."""
    rows = read_rows(source)
    chosen = [choose(source, "column", name, rows.header) for name in names]
    return [Column(source.label(n), rows[name], rows.lines) for n, name in zip(names, chosen, strict=True)]


FORMAT = FileFormat(
    "a header line with the names of the columns, then a line for each segment, with fields separated by tabs, commas "
    "or white space",
    (),
    read,
    numbers=str,
    names=names_of,
)
