"""Formats for people: the same tables and notes as text, Markdown and LaTeX."""

from __future__ import annotations

import io
import math
import re
import sys
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from ..results import Comparison, ConfidenceInterval, PairedDifference, SignificanceResult, SystemScore, UsedMetric
from .notes import notes, number, strata

if TYPE_CHECKING:
    from rich.console import Console


# Where sentences end their lines if no terminal says.
PROSE_WIDTH = 100
# Columns of a table stand this far apart, and a name is folded to no less than this.
GAP = 2
MIN_NAME = 8


@dataclass(frozen=True, slots=True)
class Terminal:
    """Where text will be shown. ``width`` is None for a file or pipe: tables are then as wide as they need to be."""

    width: int | None = None
    color: bool = False

    def console(self, file: io.StringIO, width: int | None = None) -> Console:
        """A console that writes to ``file`` what this terminal can show, in lines of its width or of another."""
        from rich.console import Console

        color_system: Literal["standard"] | None = "standard" if self.color else None
        return Console(
            file=file,
            width=width or self.width or PROSE_WIDTH,
            force_terminal=self.color,
            color_system=color_system,
            highlight=False,
        )


@dataclass(slots=True)
class Table:
    """Cells to be laid out.

    The first ``n_names`` columns are names, the others numbers, and the last ``n_details`` of these may stand in a
    table of their own.
    """

    title: str
    header: list[str]
    n_names: int = 1
    n_details: int = 0
    rows: list[list[str]] = field(default_factory=list)
    significant: list[bool] = field(default_factory=list)

    def add(self, cells: Sequence[str], significant: bool = False) -> None:
        """Append a row."""
        self.rows.append(list(cells))
        self.significant.append(significant)


def as_text(comparison: Comparison, terminal: Terminal) -> str:
    """Tables that fit a terminal, the notes, and the signature on a line of its own, to be copied whole."""
    from rich.text import Text

    out = io.StringIO()
    console = terminal.console(out)
    for table in tables(comparison):
        console.print(Text(table.title, style="bold"), end="\n\n")
        for part in _parts_that_fit(table, terminal.width):
            _print(part, terminal, out)
            console.print()
    for note in notes(comparison):
        console.print(Text(note))
    # The signature is not wrapped: it is there to be copied.
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + f"\nSignature: {comparison.signature}\n"


def _widths(table: Table) -> list[int]:
    """What each column needs on a screen."""
    from rich.cells import cell_len

    lines = zip(*(map(str.splitlines, row) for row in [table.header, *table.rows]), strict=True)
    return [max((cell_len(line) for cell in column for line in cell), default=0) for column in lines]


def _whole_width(table: Table) -> int:
    return sum(_widths(table)) + GAP * (len(table.header) - 1)


def _parts_that_fit(table: Table, width: int | None) -> list[Table]:
    """The table; if it is too wide its details stand in tables of their own, and long headers on several lines."""
    if width is None or _whole_width(table) <= width:
        return [table]
    widths = _widths(table)
    names, details = range(table.n_names), range(len(widths) - table.n_details, len(widths))
    parts = [[*range(details.start)]]
    # Names can be folded: they leave three quarters of the width to the numbers.
    room = width - min(sum(widths[: table.n_names]), width // 4)
    left = 0
    for index in details:
        left -= widths[index] + GAP
        if left < 0:
            parts.append([*names])
            left = room - widths[index] - GAP
        parts[-1].append(index)
    return [_folded(_part(table, columns), width) for columns in parts]


def _part(table: Table, columns: Sequence[int]) -> Table:
    header, *rows = ([row[index] for index in columns] for row in [table.header, *table.rows])
    return Table(table.title, header, table.n_names, 0, rows, table.significant)


def _folded(table: Table, width: int) -> Table:
    """With headers of numbers on several lines if the table is too wide: they may hold the name of a metric."""
    if _whole_width(table) > width:
        widths = _widths(Table("", [""] * len(table.header), rows=table.rows))
        for index in range(table.n_names, len(widths)):
            table.header[index] = textwrap.fill(table.header[index], max(widths[index], MIN_NAME))
    return table


def _print(table: Table, terminal: Terminal, out: io.StringIO) -> None:
    """Lay out a table. Names are folded where there is no room; a number never is, nor is it cut."""
    from rich import box
    from rich.table import Table as RichTable
    from rich.text import Text

    rich_table = RichTable(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True, show_edge=False)
    for index, name in enumerate(table.header):
        if index < table.n_names:
            rich_table.add_column(Text(name), overflow="fold")
        else:
            rich_table.add_column(Text(name), justify="right", no_wrap=True)
    for cells, significant in zip(table.rows, table.significant, strict=True):
        rich_table.add_row(*map(Text, cells), style="bold" if significant else None)
    whole = _whole_width(table)
    if terminal.width is not None and whole > terminal.width:
        least = whole - sum(max(0, name - MIN_NAME) for name in _widths(table)[: table.n_names])
        whole = max(terminal.width, least)
    terminal.console(out, whole).print(rich_table)


def as_markdown(comparison: Comparison, terminal: Terminal) -> str:
    """Pipe tables, the notes as a list, and the signature as code."""

    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cells) + " |"

    parts = []
    for table in tables(comparison):
        escaped = [[_markdown(cell) for cell in row] for row in [table.header, *table.rows]]
        rule = ["---" if index < table.n_names else "---:" for index in range(len(table.header))]
        parts += [f"**{_markdown(table.title)}**", "\n".join(map(line, [escaped[0], rule, *escaped[1:]]))]
    parts.append("\n".join(f"- {note}" for note in [*notes(comparison), f"Signature: `{comparison.signature}`"]))
    return "\n\n".join(parts) + "\n"


def _markdown(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|")


def as_latex(comparison: Comparison, terminal: Terminal) -> str:
    """``tabular`` environments for the booktabs package; notes and signature as comments."""
    lines = ["% needs \\usepackage{booktabs}"]
    for table in tables(comparison):
        n_numbers = len(table.header) - table.n_names
        lines += [f"% {table.title}", f"\\begin{{tabular}}{{{'l' * table.n_names}{'r' * n_numbers}}}", "\\toprule"]
        lines += [" & ".join(map(_latex, table.header)) + r" \\", r"\midrule"]
        lines += [" & ".join(map(_latex, row)) + r" \\" for row in table.rows]
        lines += [r"\bottomrule", r"\end{tabular}"]
    lines += [f"% {note}" for note in [*notes(comparison), f"Signature: {comparison.signature}"]]
    return "\n".join(lines) + "\n"


# A number, or the ends of an interval.
NUMBERS = re.compile(r"[-+]?\d[\d.,]*(?: to [-+]?\d[\d.,]*)?")

_LATEX_ESCAPES = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "Δ": r"$\Delta$",
        **{c: f"\\{c}" for c in "&%$#_{}"},
    }
)


def _latex(cell: str) -> str:
    escaped = cell.translate(_LATEX_ESCAPES)
    # A minus sign in numbers only: a hyphen in a name stays a hyphen.
    return re.sub(r"-(?=\d)", "$-$", escaped) if NUMBERS.fullmatch(cell) else escaped


def tables(comparison: Comparison) -> Iterator[Table]:
    """The tables of a comparison, metric by metric."""
    for metric in comparison.metrics:
        scores = [s for s in comparison.scores if s.metric == metric.name]
        pairs = [p for p in comparison.comparisons if p.metric == metric.name]
        if not pairs:
            yield _scores_with_details(comparison, metric, scores)
        elif comparison.baseline is None:
            yield _scores(comparison, metric, scores, {})
            yield _pairs(comparison, metric, pairs, _decimals(scores))
        else:
            yield _scores(comparison, metric, scores, {p.system: p for p in pairs})


def _title(comparison: Comparison, metric: UsedMetric) -> str:
    arrow = "" if metric.higher_is_better else ", lower is better"
    segments = "segment" if comparison.n_segments == 1 else "segments"
    if comparison.unit != "segment":
        segments += f" in {comparison.n_units:,} {comparison.unit}s"
    if comparison.n_strata is not None:
        segments += f" in {strata(comparison)}"
    n = comparison.n_references
    references = f"{n:,} reference{'s' * (n != 1)}, " if n else ""
    return (
        f"{metric.name}{arrow}: {comparison.n_segments:,} {segments}, {references}"
        f"{len(comparison.systems):,} system{'s' * (len(comparison.systems) != 1)}"
    )


def _level(comparison: Comparison) -> list[str]:
    """The column header of the intervals, if there are any."""
    has_none = comparison.interval is None or comparison.confidence_level is None
    return [] if has_none else [f"{number(100 * (comparison.confidence_level or 0))} % interval"]


def _scores(
    comparison: Comparison, metric: UsedMetric, scores: Sequence[SystemScore], tested: dict[str, PairedDifference]
) -> Table:
    header = ["System", metric.name, *_level(comparison)]
    of_tests = ["Δ", *_level(comparison), *_pvalues(comparison)]
    if tested:
        header += of_tests
    table = Table(_title(comparison, metric), header)
    decimals = _decimals(scores)
    for score in scores:
        cells = [score.system, f"{score.score:.{decimals}f}", *_ends(score.confidence_interval, decimals)]
        pair = tested.get(score.system)
        if pair is not None:
            cells += _tested(comparison, pair, decimals)
        elif tested:
            cells += ["baseline", *[""] * (len(of_tests) - 1)]
        table.add(cells, pair is not None and _significant(comparison, pair))
    return table


def _pairs(comparison: Comparison, metric: UsedMetric, pairs: Sequence[PairedDifference], decimals: int) -> Table:
    header = ["System", "compared with", "Δ", *_level(comparison), *_pvalues(comparison)]
    table = Table(f"{metric.name}: {len(pairs):,} pair{'s' * (len(pairs) != 1)}", header, n_names=2)
    for pair in pairs:
        table.add([pair.system, pair.baseline, *_tested(comparison, pair, decimals)], _significant(comparison, pair))
    return table


def _scores_with_details(comparison: Comparison, metric: UsedMetric, scores: Sequence[SystemScore]) -> Table:
    names = list(scores[0].details)
    details = _details(names, scores)
    header = ["System", metric.name, *_level(comparison), *names]
    table = Table(_title(comparison, metric), header, n_details=len(names))
    decimals = _decimals(scores)
    for score, of_score in zip(scores, details, strict=True):
        interval = _ends(score.confidence_interval, decimals)
        table.add([score.system, f"{score.score:.{decimals}f}", *interval, *of_score])
    return table


def _details(names: Sequence[str], scores: Sequence[SystemScore]) -> list[list[str]]:
    """The details of each score: counts as whole numbers, p_1, p_2 … of all systems with the same decimals."""
    alike: dict[str, list[float]] = {}
    for name in names:
        alike.setdefault(name.split("_")[0], []).extend(score.details[name] for score in scores)

    def shown(name: str, value: float) -> str:
        if isinstance(value, int):
            return f"{value:,}"
        return f"{value:.{1 if max(alike[name.split('_')[0]]) >= 10 else 3}f}"

    return [[shown(name, score.details[name]) for name in names] for score in scores]


def _decimals(scores: Sequence[SystemScore]) -> int:
    """Decimals to show: two for scores in the tens, four for scores from 0 to 1, more where these would show 0."""
    largest = max(abs(score.score) for score in scores)
    if 0 < largest < 0.01:
        return min(2 - math.floor(math.log10(largest)), 15)
    return 2 if largest >= 10 else 3 if largest > 1 else 4


def _ends(interval: ConfidenceInterval | None, decimals: int, sign: str = "") -> list[str]:
    """The cell of an interval, if there is one."""
    return [] if interval is None else [f"{interval.low:{sign}.{decimals}f} to {interval.high:{sign}.{decimals}f}"]


def _tested(comparison: Comparison, pair: PairedDifference, decimals: int) -> list[str]:
    mark = "*" if _significant(comparison, pair) else " "
    difference = f"{pair.difference:+.{decimals}f}"
    pvalues = [_pvalue(pair.test, p) for p in (pair.test.pvalue, pair.test.adjusted_pvalue) if p is not None]
    return [difference, *_ends(pair.confidence_interval, decimals, "+"), *pvalues[:-1], pvalues[-1] + mark]


def _pvalues(comparison: Comparison) -> list[str]:
    return ["p"] if comparison.test is None or comparison.test.adjustment is None else ["p", "adjusted p"]


def _significant(comparison: Comparison, pair: PairedDifference) -> bool:
    adjusted = pair.test.adjusted_pvalue
    p = pair.test.pvalue if adjusted is None else adjusted
    return comparison.alpha is not None and p <= comparison.alpha


def _pvalue(test: SignificanceResult, p: float) -> str:
    """With as many digits as the number of replicates can tell, four at least; a smaller p in powers of ten."""
    if test.n_resamples is None or test.scheme == "exact":
        if p <= sys.float_info.min:  # a t-test without variance, or a convolution's smallest probability
            return "<2.3e-308" if p else "0"
        return f"{p:.4f}" if p >= 1e-4 else f"{p:.1e}"
    digits = max(4, math.ceil(math.log10(test.n_resamples)))
    return f"{p:.{digits}f}"
