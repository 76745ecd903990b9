"""Tables as strings in cells, which the formats for people lay out, and the formatting of numbers in them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from ..documented import documented
from ..results import ConfidenceInterval, SignificanceResult, SystemScore
from ..types import Groups

# A record under a metric.
M = TypeVar("M", bound=Any)
# The mark of exact p-values in tables.
EXACT = "†"


@documented
@dataclass(slots=True)
class Table:
    """A title, a header and rows of cells."""

    title: str
    header: list[str]
    """A cell for each column."""
    n_names: int = 1
    """The first columns are names, which are aligned left and may be folded. The others are numbers."""
    rows: list[list[str]] = field(default_factory=list)
    bold: list[tuple[bool, ...]] = field(default_factory=list)
    """A flag for each cell, row by row."""
    rules: list[int] = field(default_factory=list)
    """The indices of the rows that have a line above them, without the line below the header."""
    breaks: tuple[int, ...] = ()
    """The columns at which the table may be split where it is too wide: each part begins with the names."""
    gap: int = 2
    """Characters between two columns of numbers in a text."""
    grouped: int = 0
    """In the first so many columns, text leaves out a cell that repeats the one above it, and in papers such a cell
    spans the rows. Other formats repeat it, because their tables can be sorted.
    """
    sections: dict[int, str] = field(default_factory=dict)
    """In papers, what stands above these rows, across the table: what holds of them all."""
    beside: tuple[int, ...] = ()
    """Columns of letters that belong to the number on their left: papers set them close to it."""
    stacks: bool = False
    """Whether a narrow page shows each row as a list of its cells: the rows are read one by one, not compared."""
    bold_means: str = ""
    """What bold type marks, as a phrase."""
    symbols: str = ""
    """Sentences that explain the symbols in the cells and the header."""
    groups: Sequence[Groups] = ()
    """Which of ranks and letters these explain."""
    remark: str = ""
    """In papers, a sentence about the numbers of this table alone."""
    page_part: str = ""
    """The heading of the part of an HTML page that it is in, if the page has parts."""

    def add(self, cells: Sequence[str], bold: bool | Sequence[bool] = False) -> None:
        """Append a row. ``bold`` has a flag for each cell, or is one flag for all cells."""
        self.rows.append(list(cells))
        self.bold.append((bold,) * len(cells) if isinstance(bold, bool) else tuple(bold))

    def rule(self) -> None:
        """Add a line between the rows so far and the next row."""
        self.rules.append(len(self.rows))

    def part(self, rows: range) -> Table:
        """Some of the rows, below the section that the first one belongs to.

        >>> table = Table("", ["System", "BLEU"], sections={0: "news", 2: "chat"}, rules=[2])
        >>> for name in "abcd":
        ...     table.add([name, "30.00"])
        >>> later = table.part(range(1, 4))
        >>> [cells[0] for cells in later.rows], later.sections, later.rules
        (['b', 'c', 'd'], {0: 'news', 1: 'chat'}, [1])
        """
        first, after = rows.start, rows.stop
        sections = {max(row, first) - first: text for row, text in self.sections.items() if row < after}
        rules = [row - first for row in self.rules if first < row < after]
        return replace(self, rows=self.rows[first:after], bold=self.bold[first:after], rules=rules, sections=sections)

    def explained(self, symbols: str, groups: Sequence[Groups] = ()) -> Table:
        """The same table with sentences that explain its symbols, and which of ranks and letters are among these."""
        return replace(self, symbols=symbols, groups=groups)

    def is_left(self, column: int) -> bool:
        """Whether a column is aligned left, as names and letters are, and other words without numbers.

        >>> table = Table("", ["System", "BLEU", "Group"])
        >>> table.add(["b", "30.00", "a"])
        >>> [table.is_left(column) for column in range(3)]
        [True, False, True]
        """
        words = "".join(row[column] for row in self.rows)
        is_text = any(map(str.isalpha, words)) and not any(map(str.isdigit, words))
        return column < self.n_names or column in self.beside or is_text

    @property
    def caption(self) -> str:
        """The title, and the meaning of all symbols: what stands above the table in a paper."""
        return " ".join(filter(None, (f"{self.title}.", self.remark, self.key, self.symbols)))

    def is_explained_by(self, other: Table) -> bool:
        """Whether the caption of another table explains the same symbols, so that a reference to it is enough."""
        return self is not other and bool(self.symbols) and (self.key, self.symbols) == (other.key, other.symbols)

    @property
    def unexplained(self) -> Table:
        """The same table without the meaning of its symbols."""
        return replace(self, symbols="", bold_means="")

    @property
    def key(self) -> str:
        """A sentence about bold type; empty if nothing is bold.

        >>> table = Table("", ["System", "BLEU"], bold_means="better than a")
        >>> table.add(["b", "30.00"])
        >>> before = table.key
        >>> table.add(["c", "40.00"], bold=True)
        >>> before, table.key
        ('', 'Bold: better than a.')
        """
        return f"Bold: {self.bold_means}." if self.bold_means and any(map(any, self.bold)) else ""

    def spans(self) -> list[list[int]]:
        """For each row and grouped column, how many rows the cell spans; 0 if it belongs to the cell above.

        >>> table = Table("", ["Metric", "System"], n_names=2, grouped=1)
        >>> for name in ("BLEU", "BLEU", "TER"):
        ...     table.add([name, "a"])
        >>> table.spans()
        [[2], [0], [1]]
        """
        spans = [[1] * self.grouped for _ in self.rows]
        for column in range(self.grouped):
            first = 0
            for number in range(1, len(self.rows)):
                if self.rows[number][: column + 1] == self.rows[first][: column + 1]:
                    spans[first][column] += 1
                    spans[number][column] = 0
                else:
                    first = number
        return spans


def keys(tables: Iterable[Table]) -> list[str]:
    """What bold type marks in the tables, each sentence once, and not again without what follows its semicolon.

    >>> tables = [Table("", ["System"], bold_means=means) for means in ("better; in its whole row", "better", "best")]
    >>> for table in tables:
    ...     table.add(["a"], bold=True)
    >>> keys(tables)
    ['Bold: better; in its whole row.', 'Bold: best.']
    """
    sentences = dict.fromkeys(filter(None, (table.key for table in tables)))
    fuller = {f"{each.partition(';')[0]}." for each in sentences if ";" in each}
    return [each for each in sentences if each not in fuller]


def under(metric: str, records: Iterable[M]) -> list[M]:
    """Those of some scores, pairs or rankings that are under a metric."""
    return [each for each in records if each.metric == metric]


def decimals_of(scores: Sequence[SystemScore], digits: int | None) -> int:
    """The decimals of scores under one metric, and of their differences."""
    return decimals_for(max(abs(score.score) for score in scores)) if digits is None else digits


def decimals_for(largest: float) -> int:
    """Decimals for scores up to ``largest``: two in the tens, four from 0 to 1, more where these would show 0.

    >>> decimals_for(71.2), decimals_for(5.3), decimals_for(0.8), decimals_for(0.00013)
    (2, 3, 4, 6)
    """
    if 0 < largest < 0.01:
        return min(2 - math.floor(math.log10(largest)), 15)
    return 2 if largest >= 10 else 3 if largest > 1 else 4


def decimals_apart(decimals: int, difference: float, ends: Sequence[float] = ()) -> int:
    """Decimals at which neither a difference nor an end of its interval shows 0: one precision for both.

    The difference has two significant digits where ``decimals`` would show 0. An end has one, with at most two decimals
    more: its distance from 0 does not matter below that.

    >>> decimals_apart(2, 2.046), decimals_apart(2, -0.00151), decimals_apart(2, 0.3, [-0.003, 0.7])
    (2, 4, 3)
    >>> decimals_apart(2, 0.3, [1e-12, 0.7]), decimals_apart(2, 0.0)
    (2, 2)
    """
    needed = decimals
    if 0 < abs(difference) < 0.5 * 10**-decimals:
        needed = min(1 - math.floor(math.log10(abs(difference))), 15)
    for end in ends:
        if 0 < abs(end) < 0.5 * 10**-needed:
            own = -math.floor(math.log10(abs(end)))
            needed = own if own <= max(needed, decimals + 2) else needed
    return needed


def decimals_in_column(decimals: int, differences: Iterable[float]) -> int:
    """One precision for a column of differences: more than ``decimals`` where one of them would show 0.

    The largest has at least two significant digits, and others one, with at most two decimals more. Ends of intervals
    need none: their sign says on which side of 0 they are.

    >>> [decimals_in_column(2, each) for each in ([2.046, -0.3], [2.046, -0.0015], [2.046, 0.0, 1e-9], [-0.0015])]
    [2, 3, 2, 4]
    """
    sizes = [abs(each) for each in differences if each]
    needed = [-math.floor(math.log10(each)) for each in sizes if each < 0.5 * 10**-decimals]
    enough = [own for own in needed if own <= decimals + 2]
    return max([decimals_apart(decimals, max(sizes, default=0.0)), *enough])


def score_cell(value: float, decimals: int) -> str:
    """A score; one that is rounded to 0, such as a mean rating of -7e-17, has no sign.

    >>> score_cell(-1.25, 1), score_cell(-7e-17, 3)
    ('-1.2', '0.000')
    """
    shown = f"{value:.{decimals}f}"
    return shown if float(shown) else shown.lstrip("-")


def signed(value: float, decimals: int) -> str:
    """A difference with its sign.

    >>> signed(2.046, 2), signed(-0.00123, 2), signed(-0.0, 2)
    ('+2.05', '-0.00', '+0.00')
    """
    return f"{value + 0.0:+.{decimals}f}"  # -0.0 + 0.0 is 0.0


def difference_and_interval(
    difference: float, interval: ConfidenceInterval | None, decimals: int, exactly: bool = False
) -> list[str]:
    """The cells of a difference and of its interval, if there is one, with one precision.

    It has ``decimals`` if so many were asked for (``exactly``), otherwise more where these would show 0.

    >>> interval = ConfidenceInterval(-0.04, -0.00092, 0.95, "percentile")
    >>> difference_and_interval(-0.0015, interval, 2), difference_and_interval(-0.0015, interval, 2, exactly=True)
    (['-0.0015', '-0.0400 to -0.0009'], ['-0.00', '-0.04 to -0.00'])
    """
    ends = [] if interval is None else [interval.low, interval.high]
    if not exactly:
        decimals = decimals_apart(decimals, difference, ends)
    return [signed(difference, decimals), *([" to ".join(signed(end, decimals) for end in ends)] if ends else [])]


def interval_cells(interval: ConfidenceInterval | None, decimals: int) -> list[str]:
    """The cell of an interval of a score, if there is one."""
    return [] if interval is None else [" to ".join(f"{end:.{decimals}f}" for end in (interval.low, interval.high))]


def pvalue_cell(p: float, n_replicates: int | None = None, alpha: float | None = None) -> str:
    """``p`` with as many decimals as 1/R has for R random replicates, at least four; ``–`` if it is not defined.

    More where these would show it on the other side of alpha, as for all p-values.

    >>> pvalue_cell(0.0123456), pvalue_cell(0.0123456, 1_000_000), pvalue_cell(1e-5), pvalue_cell(float("nan"))
    ('0.0123', '0.012346', '<0.0001', '–')
    >>> pvalue_cell(0.05001), pvalue_cell(0.05001, alpha=0.05)
    ('0.0500', '0.05001')
    """
    if math.isnan(p):
        return "–"
    if p < 1e-4:
        return "<0.0001"
    return _beside(p, max(4, math.ceil(math.log10(n_replicates or 1))), alpha)


def short_pvalue(p: float, alpha: float | None = None) -> str:
    """``p`` with three decimals, without the leading zero: for matrices.

    ``<`` only where :func:`pvalue_cell` shows less, too.

    >>> short_pvalue(0.0321), short_pvalue(0.00094), short_pvalue(0.99999), short_pvalue(float("nan"))
    ('.032', '<.001', '1', '–')
    >>> pvalue_cell(1 / 1001), short_pvalue(1 / 1001), short_pvalue(0.0504), short_pvalue(0.0504, alpha=0.05)
    ('0.0010', '.001', '.050', '.0504')
    """
    if math.isnan(p):
        return "–"
    if float(f"{p:.4f}") < 0.001:
        return "<.001"
    return _beside(p, 3, alpha).removeprefix("0") if p < 0.9995 else "1"


def _beside(p: float, decimals: int, alpha: float | None) -> str:
    """``p`` with so many decimals, or more where rounding would hide on which side of alpha it is.

    formatP and shortP of the page do the same.
    """
    while decimals < 15 and alpha is not None and (p <= alpha) != (float(f"{p:.{decimals}f}") <= alpha):
        decimals += 1
    return f"{p:.{decimals}f}"


def equation(name: str, cell: str) -> str:
    """A cell in a sentence: ``p = 0.05``, or ``p < 0.0001``."""
    return f"{name} < {cell[1:]}" if cell.startswith("<") else f"{name} = {cell}"


def random_replicates(test: SignificanceResult) -> int | None:
    """The number of replicates of a test if they are random."""
    return None if test.scheme == "exact" else test.n_resamples


def rank_cell(low: int, high: int) -> str:
    """An interval of ranks.

    >>> rank_cell(2, 5), rank_cell(1, 1)
    ('2–5', '1')
    """
    return f"{low}" if low == high else f"{low}–{high}"
