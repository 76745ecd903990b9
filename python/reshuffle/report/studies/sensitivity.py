"""The report of ``sensitivity``: Riezler & Maxwell's Tables 1 and 2, and power by metric."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ...errors import counted
from ...grouping import grouped
from ...results.studies import MetricSensitivity, PowerContrast, StudyResult
from ...results.studies.sensitivity import SensitivityPlan
from ..cells import Table, decimals_for, pvalue_cell
from ..pivot import Cells, Columns, Rows, fields, pivot
from ..wording import joined, number
from .base import StudyReport
from .figures import Figure
from .power import PowerFigure, levels_used, power_table, power_title, symbols, without_level
from .rates import alphas_of, half_width, level_of, rate_decimals
from .shared import constant, differing, in_percent, of_name, tests_note


def title(study: StudyResult) -> str:
    """The metrics."""
    return f"Sensitivity of {joined(metric.name for metric in study.metrics)}"


def _pairs(study: StudyResult) -> list[tuple[str, str]]:
    return list(dict.fromkeys((each.system, each.baseline) for each in study.tables["sensitivity"]))


def tables(study: StudyResult) -> Iterator[Table]:
    """The tables of the paper, then the power under each metric, and the differences in power."""
    pairs = _pairs(study)
    first = _one_pair(study, *pairs[0]) if len(pairs) == 1 else _variants(study)
    yield first.explained(DIFFERENCES)
    for system, baseline in pairs:
        rates = of_name(study.tables["power"], system=system, baseline=baseline)
        yield power_table(rates, f"Power in %: {power_title(rates)}").explained(symbols(study, rates))
    contrasts = [each for each in study.tables["contrasts"] if each.effect]
    if contrasts:
        paired = "Differences in power: on the same simulated test sets, in percentage points."
        yield _contrasts(contrasts).explained(paired)


HEADER = {"system": "System", "baseline": "Baseline", "metric": "Metric"}
CLEAREST = "the metric that shows the difference most clearly"
DIFFERENCES = "SE: standard error by the delta method; Δ/SE: absolute difference in standard errors, with its rank."


def _decimals(study: StudyResult, metric: str) -> int:
    return decimals_for(max(abs(each.score) for each in of_name(study.tables["scored"], metric=metric)))


def _table(study: StudyResult, title: str, names: Sequence[str], scored: Sequence[str] = ()) -> Table:
    """A row for each difference, and a line between pairs: its standard error, p of each test, and its size in standard
    errors. The scores of the ``scored`` systems are before it.
    """
    tests = list(dict.fromkeys(each.test for each in study.tables["tested"]))
    header = [*(f"{name} (SE)" for name in scored), "Δ (SE)", *(f"p, {test}" for test in tests), "Δ/SE"]

    def pair(each: MetricSensitivity) -> tuple[str, str]:
        return each.system, each.baseline

    def cells(each: MetricSensitivity) -> list[str]:
        decimals, of_metric = _decimals(study, each.metric), of_name(study.tables["scored"], metric=each.metric)
        where = {"metric": each.metric, "system": each.system, "baseline": each.baseline}
        found = [own for name in scored for own in of_name(of_metric, system=name)]
        tested = [own for test in tests for own in of_name(study.tables["tested"], test=test, **where)]
        return [
            *(f"{own.score:.{decimals}f} ({own.standard_error:.{decimals}f})" for own in found),
            f"{each.difference:+.{decimals}f} ({each.standard_error:.{decimals}f})",
            *(pvalue_cell(own.pvalue) for own in tested),
            "–" if each.standardized is None else f"{each.standardized:.2f} ({each.rank})",
        ]

    rows = Rows(fields(HEADER, names), id, pair, bold=lambda each: bool(each.rank == 1))
    return pivot(title, study.tables["sensitivity"], rows, Columns("", lambda _: header, cells, [None]), CLEAREST)


def _one_pair(study: StudyResult, system: str, baseline: str) -> Table:
    """Table 1 of the paper: a row for each metric with the scores of both systems and their standard errors."""
    return _table(study, f"Two systems under {len(study.metrics):,} metrics", ["metric"], [baseline, system])


def _variants(study: StudyResult) -> Table:
    """Table 2 of the paper: a row for each system and metric, with the difference from its baseline and p-values."""
    baseline = constant(study.tables["sensitivity"], "baseline")
    shown = "Differences" if baseline is None else f"Differences from {baseline}"
    return _table(study, shown, ["system", *(["baseline"] if baseline is None else []), "metric"])


def _contrasts(contrasts: Sequence[PowerContrast]) -> Table:
    """A row for each two metrics, pair, size and effect, and for each level the difference in power."""
    several = bool(differing(contrasts, ("system", "baseline")))
    rows: Cells = {
        "Metrics": lambda each: f"{each.metric} − {each.other}",
        "Pair": several and (lambda each: f"{each.system} − {each.baseline}"),
        "Test": "test",
        "n": bool(differing(contrasts, ["size"])) and "size",
        "η": "effect",
    }

    def cell(each: PowerContrast) -> str:
        interval = each.confidence_interval
        star = "*" if interval.low > 0 or interval.high < 0 else " "
        return f"{100 * each.difference:+.{decimals}f}{star} ±{in_percent(half_width(interval), decimals)}"

    by_case = grouped((_compared(each), each) for each in contrasts)
    decimals = rate_decimals(min(each.simulations for each in contrasts))
    return pivot(
        "Difference in power",
        [each for own in by_case.values() for each in own],
        Rows(rows, lambda each: (*_compared(each), each.effect), _compared, n_names=2 + several),
        Columns("alpha", lambda alpha: [f"α={number(alpha)}"], lambda each: [cell(each)], alphas_of(contrasts)),
    )


def _compared(each: PowerContrast) -> tuple[Any, ...]:
    """What a contrast compares, without the effect."""
    return each.metric, each.other, each.system, each.baseline, each.test, each.size


def conclusions(study: StudyResult) -> Iterator[str]:
    """The most sensitive metric for each pair."""
    first = [each for each in study.tables["sensitivity"] if each.rank == 1]
    metrics = list(dict.fromkeys(each.metric for each in first))
    if not metrics:
        yield "No metric shows a difference."
    elif len(metrics) == 1:
        yield f"{metrics[0]} shows {'the difference' if len(first) == 1 else 'every difference'} most clearly."
    else:
        numbers = ((metric, sum(each.metric == metric for each in first)) for metric in metrics)
        counts = (f"{metric} for {counted(n, 'pair')}" for metric, n in numbers)
        yield f"The clearest metric depends on the pair: {joined(counts)}."


def notes(study: StudyResult[SensitivityPlan]) -> Iterator[str]:
    """What the numbers are."""
    numbers = {each.n_resamples for each in study.tables["tested"]} - {None}
    if numbers:
        yield f"p of the real pairs: {max(numbers):,} replicates."
    level = level_of(study.tables["power"])
    yield (
        f"Power: the share of simulated test sets with p ≤ {levels_used(study)}; {level} by Clopper–Pearson, of "
        "differences in power by Bonett & Price 2012. *: the interval excludes 0."
    )
    yield from without_level(study.tables["power"])
    yield from tests_note(study)


FIGURES = {
    "sensitivity": Figure(
        "Power under each metric by η: from no difference (0) to the real pair (0.5).",
        "power",
        ("test", "size", "alpha"),
        lambda study, rates: PowerFigure(study, rates, "effect", "η (0: no difference, 0.5: the real pair)"),
        "effect",
    ),
}
REPORT = StudyReport(title, tables, conclusions, notes, FIGURES)
