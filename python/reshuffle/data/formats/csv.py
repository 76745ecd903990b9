"""Input format CSV: comma-separated values with a header line, quoted as spreadsheets do."""

from __future__ import annotations

import csv
import math

from ...errors import counted, quoted
from ..files import split_lines
from .base import Column, FileFormat, Names, Source, columns_of, number_in


def read(source: Source, names: Names) -> list[Column]:
    """See :class:`FileFormat`."""
    rows, numbers = _rows(source)
    header = rows.pop(0)
    if not rows:
        source.fail(f"expected a row for each segment after the header {quoted(','.join(header))}, got none")
    return columns_of(source, names, header, rows, numbers)


def names_of(source: Source) -> list[str]:
    """Names of the columns, from the header."""
    header, *_ = next(_records(source), ([], 1))
    return [name.strip() for name in header]


def _rows(source: Source) -> tuple[list[list[str]], list[int]]:
    """The fields of the header and of each row, and the line on which each row begins."""
    rows, numbers = [], []
    for row, number in _records(source):
        rows.append(row if row else [""])
        numbers.append(number)
    rows[0] = [name.strip() for name in rows[0]]
    n = len(rows[0])
    if n == 1 and math.isfinite(number_in(rows[0][0])):
        source.fail(f"expected a header with the name of the column, got {quoted(rows[0][0])}", 1)
    for row, number in zip(rows, numbers, strict=True):
        if len(row) != n:
            source.fail(f"expected {counted(n, 'field')} as in the header, got {len(row)}", number)
    return rows, numbers[1:]


def _records(source: Source) -> zip[tuple[list[str], int]]:
    """The fields of each record, and the line on which it begins."""
    lines = split_lines(source.text())
    reader = csv.reader((line + "\n" for line in lines), strict=True)
    rows, ends = [], [0]
    try:
        for row in reader:
            rows.append(row)
            ends.append(reader.line_num)
    except csv.Error as error:
        source.fail(f"the quotes in the table cannot be read: {error}", ends[-1] + 1)
    return zip(rows, (end + 1 for end in ends), strict=False)


FORMAT = FileFormat(
    "a header line with the names of the columns, then a line for each segment, with fields separated by commas",
    (".csv",),
    read,
    numbers=str,
    names=names_of,
)
