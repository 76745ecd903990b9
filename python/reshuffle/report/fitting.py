"""How large tables are in papers: the size of type, how many columns of the page they span, and how many pages."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from .cells import Table

# In points, the widths of a column and of both columns of an ACL paper (7.7 and 16 cm), which are narrower than most.
COLUMN, PAGE = 219, 455
# The height of the text of LaTeX's article at 11 pt, which is lower than the pages of most papers.
HEIGHT = 540


class Size(NamedTuple):
    """A size of type, as a share of that of the text, and in points the space on each side of a column and a row."""

    scale: float
    space: float
    row: float


SIZES = (Size(1.0, 6, 13.6), Size(0.9, 4, 12), Size(0.8, 3, 11), Size(0.7, 2, 9.5))
# In points, the lines of a caption, the space around it and the table's header, and that around a line between rows.
LINE, AROUND, RULE = 13.6, 40, 6
# Widths of characters in points at 10 pt: the larger one of Computer Modern and Times. Others are as wide as LETTER.
WIDTHS = {
    **dict.fromkeys("0123456789*–†‡", 5.0),
    **dict.fromkeys(".,:;'ijl| ", 3.0),
    **dict.fromkeys("-()[]ftrsI/", 4.0),
    **dict.fromkeys("acez", 4.9),
    **dict.fromkeys("ABCDEFGHKLNOPQRTUVXYZw+−<>≤≥±Δ", 7.7),
    **dict.fromkeys("mMW%", 9.5),
}
LETTER, BOLD = 5.6, 1.12
# The space before the numbers of the next metric, and before letters that belong to the number on their left.
BREAK, CLOSE = 16.0, 4.0


class Fit(NamedTuple):
    """How a table is set: its size, and across how many columns."""

    size: Size
    columns: int


def fitting(table: Table, columns: int | None) -> Fit:
    """The largest size in which a table fits one column, or both; if none does, the smallest.

    In one column the smallest size is used on request only.
    """
    if columns == 1:
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
    own = BREAK * len(breaks(table)) + CLOSE * len(table.beside)
    gaps = len(widths) - 1 - len(breaks(table)) - len(table.beside)
    return size.scale * (sum(widths) + own) + 2 * size.space * gaps


# A part of a table has at least so many rows.
FEWEST = 3


def pages(table: Table, fit: Fit) -> list[Table]:
    """The table in parts that are no taller than a page: where possible, a part ends where lines divide the rows.

    The caption stands above the first one.
    """
    found: list[Table] = []
    ends, first = {*table.rules, *table.sections}, 0
    lines = math.ceil(_text_width(table.caption) / (PAGE if fit.columns == 2 else COLUMN) * 1.1)
    room = HEIGHT - LINE * lines
    while first < len(table.rows) or not found:
        # The header, and the section that the first row belongs to.
        after, height = first, AROUND + fit.size.row * (2 if table.sections else 1)
        while after < len(table.rows):
            height += fit.size.row + (after in table.rules) * RULE
            height += (after in table.sections and after > first) * fit.size.row
            if height > room and after > first:
                break
            after += 1
        if after < len(table.rows):
            after = max(min(after, len(table.rows) - FEWEST), first + 1)
            after = max((end for end in ends if (first + after) / 2 <= end <= after), default=after)
        found.append(table.part(range(first, after)))
        first, room = after, HEIGHT - LINE
    return found


def _text_width(text: str) -> float:
    return sum(WIDTHS.get(character, LETTER) for character in text)


def breaks(table: Table) -> Sequence[int]:
    """The columns of numbers that have more space before them; none if all would have it."""
    return table.breaks if len(table.breaks) + 2 < len(table.header) else ()
