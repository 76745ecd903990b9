"""Formats for people: the same tables and notes as text, Markdown and LaTeX."""

from __future__ import annotations

import io
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from ..results import Comparison, ConfidenceInterval, PairedDifference, SystemScore, UsedMetric

if TYPE_CHECKING:
    from rich.console import Console


@dataclass(frozen=True, slots=True)
class Terminal:
    """Where text will be shown."""

    width: int = 100
    color: bool = False

    def console(self, file: io.StringIO) -> Console:
        """A console that writes to ``file`` what this terminal can show."""
        from rich.console import Console

        color_system: Literal["standard"] | None = "standard" if self.color else None
        return Console(
            file=file, width=self.width, force_terminal=self.color, color_system=color_system, highlight=False
        )


@dataclass(slots=True)
class Table:
    """Cells to be laid out. The first ``n_names`` columns are names, the others numbers."""

    title: str
    header: Sequence[str]
    n_names: int = 1
    rows: list[list[str]] = field(default_factory=list)
    significant: list[bool] = field(default_factory=list)

    def add(self, cells: Sequence[str], significant: bool = False) -> None:
        """Append a row."""
        self.rows.append(list(cells))
        self.significant.append(significant)


def as_text(comparison: Comparison, terminal: Terminal) -> str:
    """Tables that fit a terminal, the notes, and the signature on a line of its own, to be copied whole."""
    from rich import box
    from rich.table import Table as RichTable
    from rich.text import Text

    out = io.StringIO()
    console = terminal.console(out)
    for table in tables(comparison):
        console.print(Text(table.title, style="bold"), end="\n\n")
        rich_table = RichTable(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True, show_edge=False)
        for index, name in enumerate(table.header):
            justify: Literal["left", "right"] = "left" if index < table.n_names else "right"
            rich_table.add_column(Text(name), justify=justify, no_wrap=True, overflow="ellipsis")
        for cells, significant in zip(table.rows, table.significant, strict=True):
            rich_table.add_row(*map(Text, cells), style="bold" if significant else None)
        console.print(rich_table)
        console.print()
    for note in notes(comparison):
        console.print(Text(note))
    # The signature is not wrapped: it is there to be copied.
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + f"\nSignature: {comparison.signature}\n"


def as_markdown(comparison: Comparison, terminal: Terminal) -> str:
    """Pipe tables, the notes as a list, and the signature as code."""

    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cells) + " |"

    parts = []
    for table in tables(comparison):
        escaped = [[cell.replace("\\", "\\\\").replace("|", "\\|") for cell in row] for row in table.rows]
        rule = ["---" if index < table.n_names else "---:" for index in range(len(table.header))]
        parts += [f"**{table.title}**", "\n".join(map(line, [table.header, rule, *escaped]))]
    parts.append("\n".join(f"- {note}" for note in [*notes(comparison), f"Signature: `{comparison.signature}`"]))
    return "\n\n".join(parts) + "\n"


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
    is_negative = cell.startswith("-") and cell[1:2].isdigit()
    return f"$-${escaped[1:]}" if is_negative else escaped


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


def notes(comparison: Comparison) -> Iterator[str]:
    """What a reader has to know to read the tables."""
    for metric in comparison.metrics:
        if metric.evaluations is not None:
            yield f"{metric.name}: a function of texts, called {metric.evaluations:,} times."
    if comparison.n_resamples is None or comparison.confidence_level is None:
        return
    level = comparison.level
    n = f"{comparison.n_resamples:,}"
    of_units = "" if comparison.unit == "segment" else f" of {comparison.unit}s"
    tests = [pair.test for pair in comparison.comparisons]
    if comparison.test is not None:
        test = comparison.test
        yield f"p: {test.title}, {_replicates(comparison, n)}{of_units}, {test.alternative}; * p ≤ {level:.3g}."
    yield f"Intervals: percentile of {n} bootstrap draws{of_units}."
    for metric in comparison.metrics:
        yield from _dependence([pair for pair in comparison.comparisons if pair.metric == metric.name])
    if len(tests) > 1 and comparison.experimentwise_error is not None:
        power = f"1 - {1 - level:.3g}^{len(tests)}"
        yield (
            f"{len(tests)} tests, p not adjusted: if nothing differed, independent tests that keep their level would "
            f"give at least one p ≤ {level:.3g} with probability {comparison.experimentwise_error:.3g} ({power})."
        )
    if comparison.test is not None and comparison.test.replicates == "shuffles":
        smallest = 2.0 ** ((comparison.test.alternative == "two-sided") - comparison.n_units)
        if smallest > level:
            by_chance = " but by chance of the shuffles" if any(test.scheme == "iid" for test in tests) else ""
            yield (
                f"{comparison.n_units} {comparison.unit}s can be swapped in {2**comparison.n_units} ways: no p below "
                f"{smallest:.3g}{by_chance}, too few to decide at {level:.3g}."
            )
            return
    sampled = [test.n_resamples for test in tests if test.scheme != "exact" and test.n_resamples is not None]
    smallest = 1 / (max(sampled) + any(test.scheme == "iid" for test in tests)) if sampled else 0
    if smallest > level:
        n = f"{max(sampled):,}"
        yield f"{n} replicates cannot give a p below {smallest:.2g}: too few to decide at {level:.3g}; raise n."
        return
    close = sum(test.may_lie_across(level) for test in tests)
    if close:
        yield (
            f"{close} of {len(tests)} p-values may lie on the other side of {level:.3g} by chance of the "
            "replicates alone (Clopper-Pearson, 95 %); more replicates would tell."
        )


def _replicates(comparison: Comparison, n: str) -> str:
    """What the test went through: n replicates, or for some pairs or all of them another number."""
    assert comparison.test is not None  # notes() has seen to it
    tests = [pair.test for pair in comparison.comparisons]
    exact = sum(test.scheme == "exact" for test in tests)
    group = next((test.n_resamples for test in tests if test.scheme == "subgroup"), None)
    if exact == len(tests):
        return f"exact, by all patterns of {comparison.test.replicates}"
    if group is not None:
        return f"{group:,} {comparison.test.replicates} that are a group"
    some = f" ({exact} of {len(tests)} p exact, by all patterns)" if exact else ""
    return f"{n} {comparison.test.replicates}{some}"


def _dependence(pairs: Sequence[PairedDifference]) -> Iterator[str]:
    """What segments of a document have in common, under one metric."""
    correlations = [p.intraclass_correlation for p in pairs if p.intraclass_correlation is not None]
    effects = [p.design_effect for p in pairs if p.design_effect is not None]
    if correlations:
        yield (
            f"{pairs[0].metric}: paired differences within a document correlate by {_range(correlations, 3)} (ICC), "
            f"which makes variances {_range(effects, 2)} times (design effect) those of independent segments."
        )


def _range(values: Sequence[float], decimals: int) -> str:
    ends = dict.fromkeys(f"{value:.{decimals}f}" for value in (min(values), max(values)))
    return " to ".join(ends)


def _title(comparison: Comparison, metric: UsedMetric) -> str:
    arrow = "" if metric.higher_is_better else ", lower is better"
    segments = "segment" if comparison.n_segments == 1 else "segments"
    if comparison.unit != "segment":
        segments += f" in {comparison.n_units:,} {comparison.unit}s"
    n = comparison.n_references
    references = f"{n} reference{'s' * (n != 1)}, " if n else ""
    return (
        f"{metric.name}{arrow}: {comparison.n_segments:,} {segments}, {references}"
        f"{len(comparison.systems)} system{'s' * (len(comparison.systems) != 1)}"
    )


def _level(comparison: Comparison) -> str:
    return f"{_percent(comparison.confidence_level or 0)} interval"


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"


def _scores(
    comparison: Comparison, metric: UsedMetric, scores: Sequence[SystemScore], tested: dict[str, PairedDifference]
) -> Table:
    header = ["System", metric.name, _level(comparison)]
    if tested:
        header += ["Δ", _level(comparison), "p"]
    table = Table(_title(comparison, metric), header)
    decimals = _decimals(scores)
    for score in scores:
        cells = [score.system, f"{score.score:.{decimals}f}", _ends(score.confidence_interval, decimals)]
        pair = tested.get(score.system)
        if pair is not None:
            cells += _tested(comparison, pair, decimals)
        elif tested:
            cells += ["baseline", "", ""]
        table.add(cells, pair is not None and _significant(comparison, pair))
    return table


def _pairs(comparison: Comparison, metric: UsedMetric, pairs: Sequence[PairedDifference], decimals: int) -> Table:
    header = ["System", "compared with", "Δ", _level(comparison), "p"]
    table = Table(f"{metric.name}: {len(pairs)} pairs", header, n_names=2)
    for pair in pairs:
        table.add([pair.system, pair.baseline, *_tested(comparison, pair, decimals)], _significant(comparison, pair))
    return table


def _scores_with_details(comparison: Comparison, metric: UsedMetric, scores: Sequence[SystemScore]) -> Table:
    intervals = comparison.confidence_level is not None
    names = list(scores[0].details)
    table = Table(
        _title(comparison, metric), ["System", metric.name, *([_level(comparison)] if intervals else []), *names]
    )
    decimals = _decimals(scores)
    for score in scores:
        interval = [_ends(score.confidence_interval, decimals)] if intervals else []
        table.add(
            [score.system, f"{score.score:.{decimals}f}", *interval, *(_detail(score.details[name]) for name in names)]
        )
    return table


def _detail(value: float) -> str:
    if value == int(value) and value > 1:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.3f}"


def _decimals(scores: Sequence[SystemScore]) -> int:
    """How many decimals show a metric: two for scores in the tens, four for shares of 1."""
    largest = max(abs(score.score) for score in scores)
    return 2 if largest >= 10 else 3 if largest > 1 else 4


def _ends(interval: ConfidenceInterval | None, decimals: int, sign: str = "") -> str:
    return "" if interval is None else f"{interval.low:{sign}.{decimals}f} to {interval.high:{sign}.{decimals}f}"


def _tested(comparison: Comparison, pair: PairedDifference, decimals: int) -> list[str]:
    mark = "*" if _significant(comparison, pair) else " "
    difference = f"{pair.difference:+.{decimals}f}"
    return [difference, _ends(pair.confidence_interval, decimals, "+"), _pvalue(pair) + mark]


def _significant(comparison: Comparison, pair: PairedDifference) -> bool:
    return pair.test.pvalue <= comparison.level


def _pvalue(pair: PairedDifference) -> str:
    """With as many digits as the number of replicates can tell, four at least. An exact one tells all that it is."""
    p = pair.test.pvalue
    if pair.test.scheme == "exact" or pair.test.n_resamples is None:
        return f"{p:.4f}" if p >= 0.0001 else f"{p:.1e}"
    return f"{p:.{max(4, math.ceil(math.log10(pair.test.n_resamples)))}f}"
