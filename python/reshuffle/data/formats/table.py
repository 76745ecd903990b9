"""Tables with a header: TSV without quotes, CSV as spreadsheets write it, and others.

The first line of others says how to split them. In TSV and CSV, an empty line of a table with one column is an empty
field.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, NoReturn

from ...errors import InputError, counted, quoted, unknown_name
from ..files import split_lines
from .base import Column, FileFormat, Names, Source, choose, number_in

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Rows:
    """The rows of a table, by column.

    ``lines`` has the line of the file on which each row begins, from 1, and ``source`` the file.
    """

    header: tuple[str, ...]
    columns: Sequence[Sequence[str]]
    lines: Sequence[int]
    source: Source

    def index(self, name: str) -> int:
        """The place of the column of this name; :class:`InputError` unless there is exactly one."""
        if name not in self.header:
            raise InputError(f"{self.source.name}: {unknown_name('column', name, self.header)}")
        if self.header.count(name) > 1:
            self.source.fail(f"{self.header.count(name)} columns in the header are called {quoted(name)}: expected one")
        return self.header.index(name)

    def __getitem__(self, name: str) -> Sequence[str]:
        """The column of this name."""
        return self.columns[self.index(name)]

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


def read_rows(source: Source, header: bool = True, may_be_short: bool = False, is_csv: bool = False) -> Rows:
    """The rows of a file whose fields are separated by tabs, commas or white space, whichever its first line has.

    Fields may be quoted as in CSV, unless they are separated by white space. Empty lines at the end are ignored. With
    ``may_be_short``, empty fields at the end of a row may be missing.
    """
    text = source.text()
    regular = _regular(text, header, is_csv)
    if regular is not None:
        names, columns = regular
        return Rows(names, columns, range(1 + header, len(columns[0]) + 1 + header), source)
    lines = split_lines(text)
    while not is_csv and lines and not lines[-1].strip():
        lines.pop()
    if not lines:
        source.fail("contains only empty lines: expected a header and rows" if header else "contains only empty lines")
    rows, numbers = _split(source, lines, is_csv)
    names = tuple(name.strip() for name in rows[0]) if header else tuple(map(str, range(len(rows[0]))))
    rows, numbers = (rows[1:], numbers[1:]) if header else (rows, numbers)
    if not rows:
        source.fail(f"expected rows after the header {quoted(lines[0])}, got none")
    if may_be_short:
        rows = [row + [""] * (len(names) - len(row)) for row in rows]
    if set(map(len, rows)) != {len(names)}:
        row, number = next((row, number) for row, number in zip(rows, numbers, strict=True) if len(row) != len(names))
        fields = f"{counted(len(names), 'field')} as in the {'header' if header else 'first line'}"
        source.fail(f"expected {fields}, got {len(row) if len(row) > 1 or any(row) else 'none'}", number)
    return Rows(names, list(zip(*rows, strict=True)), numbers, source)


def _delimiter(line: str, is_csv: bool) -> str | None:
    """What separates the fields of a file that begins with this line; None for white space."""
    return "," if is_csv else next((each for each in "\t," if each in line), None)


def _regular(text: str, header: bool, is_csv: bool) -> tuple[tuple[str, ...], list[Sequence[str]]] | None:
    """Names and columns, if all lines have the same number of fields, and no field is quoted; else None.

    It takes a third of the time of a split of each line.
    """
    delimiter = _delimiter(text.partition("\n")[0], is_csv)
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


def _split(source: Source, lines: list[str], is_csv: bool) -> tuple[list[list[str]], Sequence[int]]:
    """The fields of each row, and the line on which it begins."""
    delimiter = _delimiter(lines[0], is_csv)
    plain = [line.split(delimiter) for line in lines], range(1, len(lines) + 1)
    if delimiter is None or not any('"' in line for line in lines):
        return plain
    by_tabs = delimiter == "\t"
    if by_tabs and not any(field.startswith('"') for fields in plain[0] for field in fields):
        return plain  # quotes within texts
    reader = csv.reader((line + "\n" for line in lines), delimiter=delimiter, strict=True)
    rows, numbers, problem, begin = [], [], "", 1
    try:
        for row in reader:
            rows.append(row or [""])
            numbers.append(begin)
            begin = reader.line_num + 1
    except csv.Error as error:
        problem = f"the quotes in the table cannot be read: {error}"
    if by_tabs and (problem or len({len(row) for row in rows}) != 1) and len({len(row) for row in plain[0]}) == 1:
        return plain  # no quoting, as in the TSV files of this package
    if problem:
        source.fail(problem, begin)
    return rows, numbers


def names_of(source: Source, is_csv: bool = False) -> list[str]:
    """Names of the columns, from the header."""
    line, _, rest = source.text().partition("\n")
    lines = split_lines(f"{line}\n{rest}") if is_csv and '"' in line else [line.removesuffix("\r")]
    return [name.strip() for name in _split(source, lines, is_csv)[0][0]]


def _csv_rows(source: Source) -> Rows:
    return read_rows(source, is_csv=True)


def read(source: Source, names: Names, is_csv: bool = False) -> list[Column]:
    """See :class:`FileFormat`."""
    rows = source.once(_csv_rows if is_csv else read_rows)
    if is_csv and len(rows.header) == 1 and math.isfinite(number_in(rows.header[0])):
        source.fail(f"expected a header with the name of the column, got {quoted(rows.header[0])}", 1)
    chosen = [choose(source, "column", name, rows.header) for name in names]
    return [Column(source.label(n), rows[name], rows.lines) for n, name in zip(names, chosen, strict=True)]


def _read_tsv(source: Source, names: Names) -> list[Column]:
    """See :class:`FileFormat`. Of a line, only the fields of these columns are kept."""
    first, *lines = split_lines(source.text())
    if not lines:
        source.fail(f"expected rows after the header {quoted(first)}, got none")
    rows = Rows(tuple(first.split("\t")), (), range(2, len(lines) + 2), source)
    for row, line in enumerate(lines):
        if line.count("\t") != len(rows.header) - 1:
            fields = f"{counted(len(rows.header), 'field')} as in the header"
            rows.fail(row, f"expected {fields}, got {line.count(chr(9)) + 1}")
    chosen = [choose(source, "column", name, rows.header) for name in names]
    # itemgetter returns a tuple only for two or more items, so pick one more and drop it.
    pick = itemgetter(0, *map(rows.index, chosen))
    columns = list(zip(*(pick(line.split("\t")) for line in lines), strict=True))[1:]
    return [Column(source.label(name), list(fields), rows.lines) for name, fields in zip(names, columns, strict=True)]


def _names_in_tsv(source: Source) -> list[str]:
    return source.text().partition("\n")[0].removesuffix("\r").split("\t")


HEADER = "a header line with the names of the columns, then a line for each segment"
TSV = FileFormat(HEADER, (".tsv",), _read_tsv, numbers=str, names=_names_in_tsv)
CSV = FileFormat(
    f"{HEADER}, with fields separated by commas",
    (".csv",),
    partial(read, is_csv=True),
    numbers=str,
    names=partial(names_of, is_csv=True),
)
FORMAT = FileFormat(
    f"{HEADER}, with fields separated by tabs, commas or white space", (), read, numbers=str, names=names_of
)
