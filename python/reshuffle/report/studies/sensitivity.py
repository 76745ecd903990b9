"""The report of ``sensitivity``: Riezler & Maxwell's Tables 1 and 2, and power by metric."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ...errors import counted
from ...results.studies import MetricSensitivity, PowerContrast, StudyResult
from ...results.studies.sensitivity import SensitivityPlan
from ..cells import Table, decimals_for, pvalue_cell
from ..pivot import Columns, Rows, pivot
from ..wording import ci, joined, number
from .base import Figure, StudyReport
from .power import levels_used, power_table, power_title, symbols, without_level
from .wording import constant, levels_of, of_name, percent, rate_decimals, tests_note


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
        yield power_table(rates, f"Power in %: {power_title(rates)}").explained(symbols(rates))
    contrasts = [each for each in study.tables["contrasts"] if each.effect]
    if contrasts:
        paired = "Differences in power: on the same simulated test sets, in percentage points."
        yield _contrasts(contrasts).explained(paired)


CLEAREST = "the metric that shows the difference most clearly"
DIFFERENCES = "SE: standard error by the delta method; Δ/SE: absolute difference in standard errors, with its rank."


def _decimals(study: StudyResult, metric: str) -> int:
    return decimals_for(max(abs(each.score) for each in of_name(study.tables["scored"], metric=metric)))


def _one_pair(study: StudyResult, system: str, baseline: str) -> Table:
    """Table 1 of the paper: a row for each metric with the scores of both systems and their standard errors."""
    header = ["Metric", f"{baseline} (SE)", f"{system} (SE)", *_header(study)]
    table = Table(f"Two systems under {len(study.metrics):,} metrics", header, bold_means=CLEAREST)
    for found in study.tables["sensitivity"]:
        decimals = _decimals(study, found.metric)
        cells = [found.metric]
        for name in (baseline, system):
            (own,) = of_name(study.tables["scored"], metric=found.metric, system=name)
            cells.append(f"{own.score:.{decimals}f} ({own.standard_error:.{decimals}f})")
        table.add([*cells, *_cells(study, found)], bold=found.rank == 1)
    return table


def _variants(study: StudyResult) -> Table:
    """Table 2 of the paper: a row for each system and metric, with the difference from its baseline and p-values."""
    baseline = constant(study.tables["sensitivity"], "baseline")
    names = ["System", *([] if baseline is not None else ["Baseline"]), "Metric"]
    shown = "Differences" if baseline is None else f"Differences from {baseline}"
    table = Table(shown, [*names, *_header(study)], n_names=len(names), bold_means=CLEAREST)
    before = None
    for found in study.tables["sensitivity"]:
        if before not in (None, (found.system, found.baseline)):
            table.rule()
        before = found.system, found.baseline
        cells = [found.system, *([] if baseline is not None else [found.baseline]), found.metric]
        table.add([*cells, *_cells(study, found)], bold=found.rank == 1)
    return table


def _tests(study: StudyResult) -> list[str]:
    return list(dict.fromkeys(each.test for each in study.tables["tested"]))


def _header(study: StudyResult) -> list[str]:
    return ["Δ (SE)", *(f"p, {test}" for test in _tests(study)), "Δ/SE"]


def _cells(study: StudyResult, found: MetricSensitivity) -> list[str]:
    """The difference with its standard error, p of each test, and the difference in standard errors with its rank."""
    decimals = _decimals(study, found.metric)
    cells = [f"{found.difference:+.{decimals}f} ({found.standard_error:.{decimals}f})"]
    for test in _tests(study):
        where = {"metric": found.metric, "system": found.system, "baseline": found.baseline, "test": test}
        (tested,) = of_name(study.tables["tested"], **where)
        cells.append(pvalue_cell(tested.pvalue))
    return [*cells, "–" if found.standardized is None else f"{found.standardized:.2f} ({found.rank})"]


def _contrasts(contrasts: Sequence[PowerContrast]) -> Table:
    """A row for each two metrics, pair, size and effect, and for each level the difference in power."""
    rows: dict[str, Callable[[PowerContrast], str]] = {"Metrics": lambda each: f"{each.metric} − {each.other}"}
    if len({(each.system, each.baseline) for each in contrasts}) > 1:
        rows["Pair"] = lambda each: f"{each.system} − {each.baseline}"
    rows["Test"] = lambda each: each.test
    n_names = len(rows)
    if len({each.size for each in contrasts}) > 1:
        rows["n"] = lambda each: f"{each.size:,}"
    rows["η"] = lambda each: number(each.effect)
    order = {each: at for at, each in enumerate(dict.fromkeys(map(_compared, contrasts)))}
    decimals = rate_decimals(min(each.simulations for each in contrasts))
    return pivot(
        "Difference in power",
        sorted(contrasts, key=lambda each: order[_compared(each)]),
        Rows(rows, lambda each: (*_compared(each), each.effect), _compared, n_names),
        Columns(
            "alpha",
            lambda alpha: [f"α={number(alpha)}"],
            lambda each: [_contrast_cell(each, decimals)],
            levels_of(contrasts),  # type: ignore[arg-type]
        ),
    )


def _compared(each: PowerContrast) -> tuple[Any, ...]:
    """What a contrast compares, without the effect."""
    return each.metric, each.other, each.system, each.baseline, each.test, each.size


def _contrast_cell(each: PowerContrast, decimals: int) -> str:
    interval = each.confidence_interval
    half = (interval.high - interval.low) / 2
    star = "*" if interval.low > 0 or interval.high < 0 else " "
    return f"{100 * each.difference:+.{decimals}f}{star} ±{percent(half, decimals)}"


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
    level = ci(study.tables["power"][0].confidence_interval.confidence_level)
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
        "power:ByEffect",
        "effect",
    ),
}

REPORT = StudyReport(title, tables, conclusions, notes, FIGURES)
