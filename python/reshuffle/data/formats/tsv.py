"""Input format TSV: tab-separated values with a header line, without quoting."""

from __future__ import annotations

from ...errors import counted, quoted
from ..files import split_lines
from .base import Column, FileFormat, Names, Source, columns_of


def read(source: Source, names: Names) -> list[Column]:
    """See :class:`FileFormat`."""
    lines = split_lines(source.text())
    header, rows = lines[0].split("\t"), lines[1:]
    if not rows:
        source.fail(f"expected a row for each segment after the header {quoted(lines[0])}, got none")
    for number, row in enumerate(rows, 2):
        if row.count("\t") != len(header) - 1:
            fields = f"{counted(len(header), 'field')} as in the header"
            source.fail(f"expected {fields}, got {row.count(chr(9)) + 1}", number)
    return columns_of(source, names, header, (row.split("\t") for row in rows), range(2, len(rows) + 2))


def names_of(source: Source) -> list[str]:
    """Names of the columns, from the header."""
    return split_lines(source.text())[0].split("\t")


FORMAT = FileFormat(
    "a header line with the names of the columns, then a line for each segment",
    (".tsv",),
    read,
    numbers=str,
    names=names_of,
)
