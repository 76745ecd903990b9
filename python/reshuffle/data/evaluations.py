"""What readers of judgments and of scores share: votes, scores, and columns of numbers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from ..errors import Argument, counted, quoted
from .formats.base import Source
from .score_columns import Integers

# The largest number of segments that is taken from a file: a larger one is a mistake, and would need much memory.
MAX_SEGMENTS = 10_000_000
# Numbers of so many digits fit into 64 bits.
MAX_DIGITS = 18


class Votes(NamedTuple):
    """What a file of judgments says, before ids are mapped to systems.

    ``first`` and ``second`` (J,) are indices into ``ids``. ``sign`` (J,) is 1 if the first is better, −1 if the second
    is, and 0 for a tie. ``segment`` (J,) counts from 0, and ``lines`` (J,) are lines of the file. ``base`` is the
    number of the first segment in the file.
    """

    ids: list[str]
    segment: Integers
    first: Integers
    second: Integers
    sign: Integers
    lines: Integers
    base: int

    def line_of(self, system: int) -> int:
        """The line on which a system occurs first."""
        return int(self.lines[(self.first == system) | (self.second == system)].min())

    def lost(self, systems: Collection[int]) -> str:
        """How many votes and ties are left out without these systems."""
        is_lost = np.isin([self.first, self.second], list(systems)).any(axis=0)
        n, ties = (f"{int((is_lost & of).sum()):,} of {int(of.sum()):,}" for of in (self.sign != 0, self.sign == 0))
        return f"{n} votes{'' if self.sign.all() else f' and {ties} ties'}"


class Cells(NamedTuple):
    """The scores of one metric or of people: a value for each rating, before ids are mapped to systems.

    ``system`` (J,) are indices into ``ids``, or None if the file does not name systems. ``segment`` (J,) counts from 0;
    None for scores of systems. ``values`` (J,) are NaN for missing scores. If ``in_order``, the file does not number
    the segments, so that it must have a row for each. ``keys`` has the ids of the segments, if they are not numbers.
    """

    metric: str
    ids: list[str]
    system: Integers | None
    segment: Integers | None
    values: NDArray[np.float64]
    lines: Sequence[int]
    base: int = 1
    in_order: bool = False
    keys: Sequence[str] | None = None

    def line_of(self, system: int) -> int:
        """The line on which a system occurs first."""
        return self.lines[int(np.flatnonzero(self.system == system)[0])]

    def lost(self, systems: Collection[int]) -> str:
        """How many scores are left out without these systems."""
        has = np.isfinite(self.values)
        assert self.system is not None
        n = int((np.isin(self.system, list(systems)) & has).sum())
        return f"{n:,} of {int(has.sum()):,} scores"


def integers(
    fail: Callable[[int, str], NoReturn], name: str, column: Sequence[str], what: str = "a whole number"
) -> Integers:
    """A column of integers. ``fail`` raises the error for a row with another value than ``what``."""
    if "_" not in "".join(column):  # which int() accepts, and no other program writes
        try:
            return np.array(list(map(int, column)), dtype=np.int64)
        except (ValueError, OverflowError):
            pass
    for row, field in enumerate(column):
        if not field.strip().removeprefix("-").isdecimal():
            fail(row, f"expected {what} as {name}, got {quoted(field)}")
        if len(field.strip()) > MAX_DIGITS:
            fail(row, f"expected {what} as {name}, with at most {MAX_DIGITS} digits, got {quoted(field)}")
    return np.array([int(field) for field in column], dtype=np.int64)


def check_segments(
    source: Source, segment: Integers, lines: Sequence[int] | Integers, base: int, n_segments: int | None
) -> int:
    """The number of segments; :class:`InputError` for the first line with a segment out of range.

    ``n_segments`` is the number of segments of the texts, or None for the largest in the file.
    """
    n = MAX_SEGMENTS if n_segments is None else n_segments
    wrong = np.flatnonzero((segment < 0) | (segment >= n))
    if not wrong.size:
        return int(segment.max()) + 1 if n_segments is None else n
    line, at = min((int(lines[at]), at) for at in wrong.tolist())
    last = f" to {n - 1 + base:,}"
    option, hint = "segment_base", f"the first segment is {base} unless {{option}} says otherwise"
    if n_segments is not None:
        last += f", because the texts have {counted(n, 'segment')}"
    elif segment[at] < 0:
        last = ""
    else:
        option, hint = "n_segments", "if the texts have more, say how many with {option}"
    problem = f"expected a segment from {base}{last}, got {segment[at] + base:,}; {hint}"
    return source.fail(problem, line, option=Argument(option))


def numbers_of(chosen: Sequence[int] | NDArray[np.intp], n: int) -> Integers:
    """The new number of each of n things: that in ``chosen``, or −1."""
    index = np.full(n, -1, dtype=np.int64)
    index[chosen] = np.arange(len(chosen))
    return index


def renumbered(names: Sequence[str], *columns: Integers) -> tuple[list[str], list[Integers]]:
    """The names that occur in columns of indices into them, and the columns as indices into these names.

    >>> renumbered(["a", "b", "c"], np.array([2, 0]), np.array([0]))
    (['a', 'c'], [array([1, 0]), array([0])])
    """
    used = np.unique(np.concatenate(columns))
    index = numbers_of(used, len(names))
    return [names[i] for i in used], [index[column] for column in columns]
