"""How large tables are in papers: the size of type, how many columns of the page they span, and how many pages."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from .cells import Table

# In points, the widths of a column and of both columns of an ACL paper (7.7 and 16 cm), which are narrower than most.
COLUMN, PAGE = 219, 455
# The height of the text of most papers, 9 inches, and that of LaTeX's article at 11 pt, where taller tables are made
# smaller.
HEIGHT, LOWEST = 650, 527


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
    """The table in parts that are no taller than a page, about equally tall: where possible, lines divide the parts.

    Rows that share a cell stay together. The caption stands above the first part.
    """
    ends = {*table.rules, *table.sections}
    starts = _starts(table, fit, HEIGHT)
    low, high = HEIGHT / len(starts) / 2, float(HEIGHT)
    while len(starts) > 1 and high - low > fit.size.row:
        middle = (low + high) / 2
        shorter = _starts(table, fit, middle)
        if len(shorter) == len(starts) and len(ends.intersection(shorter)) >= len(ends.intersection(starts)):
            starts, high = shorter, middle
        else:
            low = middle
    return [table.part(range(*each)) for each in zip(starts, [*starts[1:], len(table.rows)], strict=True)]


def taller(part: Table, fit: Fit, height: float) -> bool:
    """Whether the rows are taller."""
    return fit.size.row * (len(part.rows) + len(part.sections)) + RULE * len(part.rules) > height


def caption_lines(table: Table, fit: Fit) -> int:
    """How many lines the caption has, at most."""
    return math.ceil(_text_width(table.caption) / (PAGE if fit.columns == 2 else COLUMN) * 1.1)


def _starts(table: Table, fit: Fit, full: float) -> list[int]:
    """The first rows of parts of at most this height."""
    found: list[int] = []
    ends, first = {*table.rules, *table.sections}, 0
    whole = [number for number, spans in enumerate(table.spans()) if not spans or spans[-1]]
    room = full - LINE * caption_lines(table, fit)
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
            after = next((end for end in reversed(whole[: bisect_right(whole, after)]) if end > first), after)
        found.append(first)
        first, room = after, full - LINE
    return found


def widest(table: Table) -> tuple[list[str], list[bool]]:
    """The widest cell of each column, and whether it is bold."""
    columns = [
        [(cells[index], bold[index]) for cells, bold in zip(table.rows, table.bold, strict=True)]
        for index in range(len(table.header))
    ]
    found = [max(column, key=lambda each: _text_width(each[0]) * (BOLD if each[1] else 1)) for column in columns]
    return [cell for cell, _ in found], [flag for _, flag in found]


def _text_width(text: str) -> float:
    return sum(WIDTHS.get(character, LETTER) for character in text)


def breaks(table: Table) -> Sequence[int]:
    """The columns of numbers that have more space before them; none if all would have it."""
    return table.breaks if len(table.breaks) + 2 < len(table.header) else ()
