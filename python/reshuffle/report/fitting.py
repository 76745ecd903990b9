"""How large tables are in papers: the size of type, and how many columns of the page they span."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .cells import Table

# A table of more rows does not fit a page.
LONG = 45
# In points, the widths of a column and of both columns of an ACL paper (7.7 and 16 cm), which are narrower than most.
COLUMN, PAGE = 219, 455
# The width of an article's text in one column, for tables of several pages.
ARTICLE = 345


class Size(NamedTuple):
    """A size of type, as a share of that of the text, and the points on each side of a column."""

    scale: float
    space: float


SIZES = (Size(1.0, 6), Size(0.9, 4), Size(0.8, 3), Size(0.7, 2))
# Widths of characters in points at 10 pt: the larger one of Computer Modern and Times. Others are as wide as LETTER.
WIDTHS = {
    **dict.fromkeys("0123456789*–†‡", 5.0),
    **dict.fromkeys(".,:;'ijl| ", 3.0),
    **dict.fromkeys("-()[]ftrsI/", 4.0),
    **dict.fromkeys("acez", 4.9),
    **dict.fromkeys("ABCDEFGHKLNOPQRTUVXYZw+−<>≤≥±Δ", 7.7),
    **dict.fromkeys("mMW%", 9.5),
}
LETTER, BOLD, BREAK = 5.6, 1.12, 10.0


class Fit(NamedTuple):
    """How a table is set: its size, and across how many columns."""

    size: Size
    columns: int


def fitting(table: Table, columns: int | None) -> Fit:
    """The largest size in which a table fits one column, or both; if none does, the smallest.

    In one column the smallest size is used on request only.
    """
    if len(table.rows) > LONG:
        tried = [(size, 2, ARTICLE) for size in SIZES]
    elif columns == 1:
        tried = [(size, 1, COLUMN) for size in SIZES]
    else:
        tried = [(size, 1, COLUMN) for size in SIZES[:-1] if columns is None] + [(size, 2, PAGE) for size in SIZES]
    for size, across, room in tried:
        if table_width(table, size) <= room:
            return Fit(size, across)
    return Fit(SIZES[-1], tried[-1][1])


def table_width(table: Table, size: Size) -> float:
    """About how wide a table is, in points."""
    widths = [_text_width(name) for name in table.header]
    for row, bold in zip(table.rows, table.bold, strict=True):
        cells = [_text_width(cell) * (BOLD if flag else 1) for cell, flag in zip(row, bold, strict=True)]
        widths = [*map(max, widths, cells)]
    gaps = len(widths) - 1 - len(breaks(table))
    return size.scale * (sum(widths) + BREAK * len(breaks(table))) + 2 * size.space * gaps


def _text_width(text: str) -> float:
    return sum(WIDTHS.get(character, LETTER) for character in text)


def breaks(table: Table) -> Sequence[int]:
    """The columns of numbers that have more space before them; none if all would have it."""
    return table.breaks if len(table.breaks) + 2 < len(table.header) else ()
