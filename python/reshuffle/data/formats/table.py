"""Tables with a header: TSV without quotes, CSV as spreadsheets write it, and others.

The first line of others says how to split them. In TSV and CSV, an empty line of a table with one column is an empty
field.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, NoReturn

from ...errors import InputError, counted, quoted, unknown_name
from ..files import split_lines
from .base import Column, Format, Names, Source, choose, number_in

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


TAB = "\t"
# Headers of tables of scores, in lower case, by the role of the column.
ROLES = {
    "system": ("system", "sys", "system_id", "systemid", "mt_system"),
    "segment": ("segment", "seg_id", "sid", "segment_id", "segid"),
    "score": ("human", "human_score", "mqm_avg_score", "score", "mqm", "da", "rating", "prediction"),
    "language_pair": ("lp", "language_pair", "lang_pair", "langpair"),
    "test_set": ("testset", "test_set", "data", "dataset"),
    "metric": ("metric",),
}


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


def read_rows(source: Source, header: bool = True, may_be_short: bool = False, delimiter: str | None = None) -> Rows:
    """The rows of a file whose fields are separated by tabs, commas or white space, whichever its first line has.

    Fields may be quoted as in CSV, unless they are separated by white space. Empty lines at the end are ignored. With
    ``may_be_short``, empty fields at the end of a row may be missing. With a ``delimiter``, a comma or a tab, a file is
    CSV, or TSV without quotes, and empty lines are rows.
    """
    text = source.text()
    regular = _regular(text, header, delimiter)
    if regular is not None:
        names, columns = regular
        return Rows(names, columns, range(1 + header, len(columns[0]) + 1 + header), source)
    lines = split_lines(text)
    while delimiter is None and lines and not lines[-1].strip():
        lines.pop()
    if not lines:
        source.fail("contains only empty lines: expected a header and rows" if header else "contains only empty lines")
    rows, numbers = _split(source, lines, delimiter)
    names = _names(rows[0], delimiter) if header else tuple(map(str, range(len(rows[0]))))
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


def _names(fields: Sequence[str], delimiter: str | None) -> tuple[str, ...]:
    """The names of the columns. In TSV, all characters count."""
    return tuple(fields) if delimiter == TAB else tuple(name.strip() for name in fields)


def _delimiter(line: str) -> str | None:
    """What separates the fields of a file that begins with this line; None for white space."""
    return next((each for each in "\t," if each in line), None)


def _regular(text: str, header: bool, delimiter: str | None) -> tuple[tuple[str, ...], list[Sequence[str]]] | None:
    """Names and columns, if all lines have the same number of fields, and no field is quoted; else None.

    It takes a third of the time of a split of each line.
    """
    own = delimiter or _delimiter(text.partition("\n")[0])
    if own is None or (delimiter != TAB and '"' in text) or "\r" in text:
        return None
    text = text.removesuffix("\n")
    import numpy as np  # not at start-up

    letters = np.frombuffer(text.encode(), dtype=np.uint8)
    ends = np.append(np.flatnonzero(letters == ord("\n")), len(letters))
    counts = np.diff(np.searchsorted(np.flatnonzero(letters == ord(own)), ends), prepend=0)
    if len(counts) <= header or (counts != counts[0]).any():
        return None
    n = int(counts[0]) + 1
    fields = text.replace("\n", own).split(own)
    columns: list[Sequence[str]] = [fields[n * header + i :: n] for i in range(n)]
    return _names(fields[:n], delimiter) if header else tuple(map(str, range(n))), columns


def _split(source: Source, lines: list[str], delimiter: str | None) -> tuple[list[list[str]], Sequence[int]]:
    """The fields of each row, and the line on which it begins."""
    own = delimiter or _delimiter(lines[0])
    plain = [line.split(own) for line in lines], range(1, len(lines) + 1)
    if own is None or delimiter == TAB or not any('"' in line for line in lines):
        return plain
    by_tabs = own == TAB
    if by_tabs and not any(field.startswith('"') for fields in plain[0] for field in fields):
        return plain  # quotes within texts
    reader = csv.reader((line + "\n" for line in lines), delimiter=own, strict=True)
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


def names_of(source: Source, delimiter: str | None = None) -> list[str]:
    """Names of the columns, from the header."""
    line, _, rest = source.text().partition("\n")
    lines = split_lines(f"{line}\n{rest}") if delimiter == "," and '"' in line else [line.removesuffix("\r")]
    return list(_names(_split(source, lines, delimiter)[0][0], delimiter))


def read(source: Source, names: Names, rows_of: Callable[[Source], Rows] = read_rows) -> list[Column]:
    """See :class:`Format`."""
    rows = source.once(rows_of)
    chosen = [choose(source, "column", name, rows.header) for name in names]
    return [Column(source.label(n), rows[name], rows.lines) for n, name in zip(names, chosen, strict=True)]


def _csv(source: Source) -> Rows:
    rows = read_rows(source, delimiter=",")
    if len(rows.header) == 1 and math.isfinite(number_in(rows.header[0])):
        source.fail(f"expected a header with the name of the column, got {quoted(rows.header[0])}", 1)
    return rows


def _recognizes(file: str, line: str) -> bool:
    """Whether a header has one of the names of columns that are known."""
    names = {name.strip().lower() for name in (line.split("\t") if "\t" in line else line.replace(",", " ").split())}
    return not names.isdisjoint(chain.from_iterable(ROLES.values()))


HEADER = "the names of the columns in the first line"
_tsv = partial(read_rows, delimiter=TAB)
TSV = Format(HEADER, (".tsv",), partial(read, rows_of=_tsv), numbers=str, names=partial(names_of, delimiter=TAB))
CSV = Format(
    f"{HEADER}, fields separated by commas",
    (".csv",),
    partial(read, rows_of=_csv),
    numbers=str,
    names=partial(names_of, delimiter=","),
)
FORMAT = Format(
    f"{HEADER}, fields separated by tabs, commas or white space",
    (),
    read,
    numbers=str,
    names=names_of,
    recognizes=_recognizes,
)
