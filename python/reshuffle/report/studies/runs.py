"""The report of ``runs``: systems with several optimizer runs each (Clark et al. 2011)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ...errors import counted
from ...results import UsedMetric
from ...results.studies import ObservedDifference, RunComparison, RunDifference, RunScores, SystemRuns
from ..cells import Table, interval_cells, pvalue_cell, signed
from ..notes import EXACT
from ..wording import ci, joined, number, option
from .base import Brief, Figure, StudyReport
from .run_sentences import MOST_OBSERVED, answers, conclusions, intervals, notes, tests_of
from .run_values import (
    adjusts,
    by_pair,
    decimals_under,
    deviation,
    each_score,
    exchange_phrase,
    is_significant,
    of_unit,
    question_of,
    verdict_of,
)
from .wording import constant, of_name, percent

# The mark of p-values of tests that cannot reach alpha, whatever the outputs are.
UNREACHABLE = "‡"
# Before the name of an exchange unit whose null hypothesis follows.
NULL = "Null hypothesis of "


@dataclass(frozen=True, slots=True)
class ScoredRuns:
    """The scores of a system's runs under one metric, as figures need them."""

    system: str
    metric: str
    scores: RunScores


def scored_runs(systems: Sequence[SystemRuns]) -> list[ScoredRuns]:
    """The scores of all systems under all metrics."""
    return [ScoredRuns(each.name, metric, scores) for each in systems for metric, scores in each.scores.items()]


def title(result: RunComparison) -> str:
    """The systems and the number of runs."""
    systems = result.plan.systems
    return f"Runs of {counted(len(systems), 'system')}: {counted(sum(systems.values()), 'output')}"


def tables(result: RunComparison) -> Iterator[Table]:
    """The scores, the tested differences, what scores vary with, and what other experiments would observe."""
    yield _scores(result).explained(_spread(result))
    if result.comparisons:
        yield _differences(result).explained(p_symbols(result))
        yield from _other_tests(result)
    yield from _variance_tables(result)
    if 0 < len([*by_pair(result.observed)]) <= MOST_OBSERVED:
        yield _observed(result).explained(REVERSED)


def brief(result: RunComparison) -> Brief:
    """The scores with the tests that decide, what was found, and what limits it."""
    symbols = [_spread(result)]
    if not result.comparisons:
        return Brief([_scores(result)], [*answers(result)], [*symbols, *_left_out(result)])
    one = len({each.baseline for each in result.comparisons}) == 1
    tables = [_scores_and_tests(result)] if one else [_scores(result), _differences(result)]
    symbols += [p_symbols(result), tests_of(result, result.plan.exchange[:1]), *intervals(result)]
    return Brief(tables, [*answers(result)], [*symbols, *_left_out(result)])


def _left_out(result: RunComparison) -> Iterator[str]:
    """Where the rest is."""
    others = result.plan.exchange[1:]
    tests = [f"p by other tests ({joined(others)})"] if result.comparisons and others else []
    several = ["the median runs", "what scores vary with"] if any(_varies(each) for each in result.systems) else []
    more = [*tests, *several]
    if more:
        yield f"{option('--full', 'render(full=True)')} and all other formats also show {joined(more)}."


def _varies(system: SystemRuns) -> bool:
    """Whether a system has several runs."""
    return any(len(scores.runs) > 1 for scores in system.scores.values())


def paper(result: RunComparison) -> Iterator[Table]:
    """The same for papers: scores and tests against a baseline are in one table, and captions state the nulls."""
    nulls = " ".join(f"{NULL}{name}: {null.rstrip('.')}." for name, null in result.truths.items())
    tested = " ".join([p_symbols(result), *intervals(result), nulls]) if result.comparisons else ""
    if result.comparisons and len({each.baseline for each in result.comparisons}) == 1:
        yield _scores_and_tests(result).explained(f"Avg: mean of the runs. {_spread(result)} {tested}")
    else:
        yield _scores(result).explained(_spread(result))
        if result.comparisons:
            yield _differences(result).explained(tested)
    if result.comparisons:
        yield from _other_tests(result)
    yield from _variance_tables(result)
    if result.observed:
        yield _observed_rows(result).explained(REVERSED)


def _variance_tables(result: RunComparison) -> Iterator[Table]:
    """The table of variances, unless all systems have one run."""
    if any(each.scores.between_runs is not None for each in scored_runs(result.systems)):
        yield _variances(result).explained(of_unit(result, EFFECTIVE))


SPREAD = (
    "s_sel: mean over the runs of the bootstrap standard deviation of a run's score; s_test: standard deviation of the "
    "runs' scores (both in points of the metric)."
)
S_DEV = " s_dev: that of the runs' scores on the development set."
EFFECTIVE = (
    "Effective test sets: how many independent test sets the runs are worth together, from 1 (runs do not matter) to "
    "the number of runs (segments do not matter)."
)
REVERSED = (
    "Central 95% of the differences of means, on this test set; rev.: in how many experiments, in %, the difference "
    "has the opposite sign (a difference of 0 counts as half)."
)


def _spread(result: RunComparison) -> str:
    """What the standard deviations of the table of scores are."""
    return SPREAD + (S_DEV if _has_dev(result) else "")


def _has_dev(result: RunComparison) -> bool:
    return any(each.scores.s_dev is not None for each in scored_runs(result.systems))


def with_arrow(metric: UsedMetric) -> str:
    """The name of a metric, and whether higher or lower scores are better."""
    return f"{metric.name} {'↑' if metric.higher_is_better else '↓'}"


def _spread_cells(result: RunComparison, scores: RunScores, decimals: int) -> list[str]:
    values = [scores.s_sel, scores.s_test, *([scores.s_dev] if _has_dev(result) else [])]
    return [deviation(value, decimals) for value in values]


def _spread_header(result: RunComparison) -> list[str]:
    return ["s_sel", "s_test", *(["s_dev"] if _has_dev(result) else [])]


def _number_of_runs(result: RunComparison) -> int | None:
    """The number of runs of each system; None if it differs."""
    numbers = set(result.plan.systems.values())
    return numbers.pop() if len(numbers) == 1 else None


def _score_rows(result: RunComparison, table: Table) -> Iterator[tuple[list[str], UsedMetric, SystemRuns, RunScores]]:
    """The names in the row of each metric and system, and its scores; with a rule before each further metric."""
    for metric, system, scores in each_score(result):
        _rule_between(table, with_arrow(metric))
        yield [with_arrow(metric), system.name], metric, system, scores


def _rule_between(table: Table, metric: str) -> None:
    """A rule, if the last row is not of the same metric."""
    if table.rows and table.rows[-1][0] != metric:
        table.rule()


def _scores(result: RunComparison) -> Table:
    """A row for each metric and system: the mean of the runs, and how much they vary."""
    n = _number_of_runs(result)
    runs = "runs" if n is None else f"{counted(n, 'run')} of each system"
    title = f"Scores of {runs}: {counted(result.plan.segments, 'segment')}"
    header = ["Metric", "System", *(["Runs"] if n is None else []), "Mean", *_spread_header(result)]
    table = Table(title, [*header, "Range", "Median run"], n_names=2, grouped=1)
    for names, metric, _, scores in _score_rows(result, table):
        decimals = decimals_under(result, metric.name)
        runs_range = f"{scores.minimum:.{decimals}f} to {scores.maximum:.{decimals}f}"
        cells = [*names, *_mean_cells(result, scores, decimals), "–" if len(scores.runs) == 1 else runs_range]
        table.add([*cells, str(scores.median_run)])
    return table


def _mean_cells(result: RunComparison, scores: RunScores, decimals: int) -> list[str]:
    """The number of runs, if it differs between systems, their mean, and how much they vary."""
    numbers = [f"{len(scores.runs):,}"] if _number_of_runs(result) is None else []
    return [*numbers, f"{scores.mean:.{decimals}f}", *_spread_cells(result, scores, decimals)]


def _p_name(result: RunComparison) -> str:
    return "adjusted p" if adjusts(result) else "p"


def _asked(result: RunComparison, shown: str) -> str:
    """The title of a table of differences: the question, and the test that answers it."""
    unit = result.default_exchange or ""
    question, by = question_of(result, unit), f"{_p_name(result)} by {unit}"
    return f"{shown}, and {by}" if question is None else f"{shown}: {question} ({by})"


def _p_cells(result: RunComparison, tested: Sequence[RunDifference]) -> list[str]:
    """The p-values of a pair, with marks in a place of their own."""
    cells = []
    for each in tested:
        marks = ("*" if is_significant(result, each) else "") + (EXACT if each.exact else "")
        marks += UNREACHABLE if each.smallest_pvalue > result.plan.alpha else ""
        cells.append(pvalue_cell(each.final_pvalue, None if each.exact else each.n_resamples) + marks)
    return cells


def _aligned(table: Table, columns: Sequence[int]) -> None:
    """Pad cells in which marks follow numbers, so that the numbers are in line."""
    for column in columns:
        marks = [len(row[column]) - len(row[column].rstrip(f"*{EXACT}{UNREACHABLE}")) for row in table.rows]
        for row, own in zip(table.rows, marks, strict=True):
            row[column] += " " * (max(marks) - own)


def _interval_of(tested: Sequence[RunDifference], decimals: int) -> str:
    """The interval of the exchange unit that decides."""
    return "".join(interval_cells(tested[0].confidence_interval, decimals, signed)) or "–"


def _interval_header(result: RunComparison) -> str:
    return ci(result.plan.confidence_level or 0.95)


def _differences(result: RunComparison) -> Table:
    """A row for each metric and pair: the difference with its interval, and p of the test that decides."""
    baseline = constant(result.comparisons, "baseline")
    names = _names_of_pairs(baseline)
    header = [*names, "Δ", _interval_header(result), "p"]
    shown = "Differences" if baseline is None else f"Differences from {baseline}"
    table = Table(_asked(result, shown), header, n_names=len(names), grouped=1)
    table.bold_means = _bold_means(result, baseline)
    for cells, tested in _pair_rows(result, table, result.comparisons):
        decimals = decimals_under(result, tested[0].metric)
        cells += [signed(tested[0].difference, decimals), _interval_of(tested, decimals)]
        cells += _p_cells(result, tested[:1])
        verdict = verdict_of(result, tested[0])
        if baseline is not None:
            _add(table, cells, verdict == "better")
        else:
            table.add(cells, [False, verdict == "better", verdict == "worse", *[False] * (len(cells) - 3)])
    _aligned(table, [len(header) - 1])
    return table


def _other_tests(result: RunComparison) -> Iterator[Table]:
    """A row for each metric and pair: p of the tests beside the one that decides, if there are any."""
    others = result.plan.exchange[1:]
    if not others:
        return
    baseline = constant(result.comparisons, "baseline")
    names = _names_of_pairs(baseline)
    header = [*names, *(f"p, {name}" for name in others)]
    table = Table(f"The same differences: {_p_name(result)} by other tests", header, n_names=len(names), grouped=1)
    table.breaks = tuple(range(len(names) + 1, len(header)))
    for cells, tested in _pair_rows(result, table, result.comparisons):
        table.add([*cells, *_p_cells(result, tested[1:])])
    _aligned(table, range(len(names), len(header)))
    yield table.explained(_questions(result, others))


def _questions(result: RunComparison, units: Sequence[str]) -> str:
    """What these tests answer."""
    by_question: dict[str, list[str]] = {}
    for unit in units:
        question = question_of(result, unit)
        if question is not None:
            by_question.setdefault(question, []).append(unit)
    return " ".join(f"{joined(names)}: {question}" for question, names in by_question.items())


def _names_of_pairs(baseline: str | None) -> list[str]:
    return ["Metric", "System", *([] if baseline is not None else ["Baseline"])]


def _pair_rows(result: RunComparison, table: Table, records: Sequence[Any]) -> Iterator[tuple[list[str], list[Any]]]:
    """The names in the row of each metric and pair, and its records; with a rule before each further metric."""
    arrows = {metric.name: with_arrow(metric) for metric in result.metrics}
    several = constant(records, "baseline") is None
    for (metric, base, system), own in by_pair(records):
        _rule_between(table, arrows[metric])
        yield [arrows[metric], system, *([base] if several else [])], own


def _add(table: Table, cells: Sequence[str], bold: bool) -> None:
    """Append a row. The name of the metric spans rows, so it is never bold."""
    table.add(cells, [False, *[bold] * (len(cells) - 1)])


def _bold_means(result: RunComparison, baseline: str | None) -> str:
    """What bold type marks in tables of differences."""
    if baseline is None:
        return f"the significantly better system of a pair, by {exchange_phrase(result)}"
    return f"significantly better than {baseline}, by {exchange_phrase(result)}"


def p_symbols(result: RunComparison) -> str:
    """What the marks and the columns of the tests mean."""
    alpha = number(result.plan.alpha)
    p = _p_name(result)
    parts = [f"Δ: {DIFFERENCES[constant(result.comparisons, 'statistic') or 'pooled']}"]
    if any(is_significant(result, each) for each in result.comparisons):
        parts.append(f"*: {p} ≤ {alpha} by {exchange_phrase(result)}")
    if any(each.exact for each in result.comparisons):
        parts.append(f"{EXACT}: exact p")
    if any(each.smallest_pvalue > result.plan.alpha for each in result.comparisons):
        parts.append(f"{UNREACHABLE}: no outputs could give p ≤ {alpha}")
    return ". ".join(parts) + "."


DIFFERENCES = {
    "pooled": "difference of the pooled scores (all outputs of a system scored as one), which can differ a little from "
    "the difference of the means",
    "mean": "difference of the means of the runs' scores",
}


def _scores_and_tests(result: RunComparison) -> Table:
    """The table of a paper: a row for each metric and system, as MultEval's, with p of the test that decides."""
    n = _number_of_runs(result)
    runs = "runs" if n is None else counted(n, "run")
    header = ["Metric", "System", *(["n"] if n is None else []), "Avg", *_spread_header(result)]
    header += ["Δ", _interval_header(result), "p"]
    baseline = constant(result.comparisons, "baseline")
    title = _asked(result, f"Scores of {runs} and differences from {baseline}")
    table = Table(title, header, n_names=2, grouped=1, bold_means=_bold_means(result, baseline))
    pairs = {(metric, system): tested for (metric, _, system), tested in by_pair(result.comparisons)}
    for names, metric, system, scores in _score_rows(result, table):
        decimals, tested = decimals_under(result, metric.name), pairs.get((metric.name, system.name))
        cells = [*names, *_mean_cells(result, scores, decimals)]
        if tested is None:
            table.add([*cells, *["–"] * 3])
            continue
        cells += [signed(tested[0].difference, decimals), _interval_of(tested, decimals)]
        _add(table, [*cells, *_p_cells(result, tested[:1])], verdict_of(result, tested[0]) == "better")
    _aligned(table, [len(header) - 1])
    return table


def _variances(result: RunComparison) -> Table:
    """A row for each metric and system: the shares of the variance of one run's score."""
    parts = [of_unit(result, name) for name in ("Segments", "Run × segment")]
    header = ["Metric", "System", "Runs", *parts, "Effective test sets"]
    table = Table("What one run's score varies with, in % of its variance", header, n_names=2, grouped=1)
    for names, _, _, scores in _score_rows(result, table):
        components = (scores.between_runs, scores.between_segments, scores.interaction)
        total = sum(part or 0 for part in components)
        shares = ["–" if part is None or total <= 0 else percent(part / total, 0) for part in components]
        worth = scores.effective_test_sets
        table.add([*names, *shares, "–" if worth is None else f"{worth:.1f} of {len(scores.runs):,}"])
    return table


def _observed(result: RunComparison) -> Table:
    """A row for each metric and pair: differences that experiments with other numbers of runs would observe."""
    numbers = sorted({each.n_runs for each in result.observed})
    names = _names_of_pairs(constant(result.observed, "baseline"))
    header = [*names, *(cell for n in numbers for cell in (counted(n, "run"), "rev."))]
    breaks = tuple(range(len(names) + 2, len(header), 2))
    table = Table(_observed_title(result), header, n_names=len(names), breaks=breaks, grouped=1)
    for cells, own in _pair_rows(result, table, result.observed):
        for n in numbers:
            found = of_name(own, n_runs=n)
            cells += _observed_cells(found[0], decimals_under(result, own[0].metric)) if found else ["–", "–"]
        table.add(cells)
    return table


def _observed_rows(result: RunComparison) -> Table:
    """The same for papers, which have no room for so many columns: a row for each number of runs."""
    names = _names_of_pairs(constant(result.observed, "baseline"))
    header = [*names, "Runs", "Central 95%", "rev."]
    table = Table(_observed_title(result), header, n_names=len(names), grouped=len(names))
    arrows = {metric.name: with_arrow(metric) for metric in result.metrics}
    for (metric, base, system), own in by_pair(result.observed):
        if table.rows:
            table.rule()
        for each in own:
            cells = [arrows[metric], system, base][: len(names)]
            table.add([*cells, f"{each.n_runs:,}", *_observed_cells(each, decimals_under(result, metric))])
    return table


def _observed_title(result: RunComparison) -> str:
    baseline = constant(result.observed, "baseline")
    of = "" if baseline is None else f" from {baseline}"
    return f"Differences{of} that experiments with other numbers of runs would observe"


def _observed_cells(each: ObservedDifference, decimals: int) -> list[str]:
    return [f"{signed(each.low, decimals)} to {signed(each.high, decimals)}", percent(each.reversed, 0)]


FIGURES = {
    "runs": Figure(
        "The score of each run ± s_sel, their mean (line) and s_test around it (band).",
        "systems",
        ("metric",),
        "runs:RunsFigure",
        flat=scored_runs,
    ),
    "histogram": Figure(
        "The distribution of the runs' scores of each system, as in Fig. 1 of Clark et al. 2011.",
        "systems",
        ("metric",),
        "runs:HistogramFigure",
        flat=scored_runs,
    ),
    "observed": Figure(
        "The difference that experiments with fewer or more runs would observe, as in Fig. 2 of Clark et al. 2011.",
        "observed",
        ("metric", "system"),
        "runs:ObservedFigure",
    ),
}

REPORT = StudyReport(
    title, tables, conclusions, notes, FIGURES, paper=paper, brief=brief, truths="Null hypotheses", truth=NULL
)
