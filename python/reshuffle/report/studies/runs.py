"""The report of ``runs``: systems with several optimizer runs each (Clark et al. 2011)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from operator import attrgetter
from typing import Any

from ...errors import counted
from ...grouping import grouped
from ...results.studies import ObservedDifference, RunComparison, RunDifference
from ..cells import EXACT, Table, decimals_apart, decimals_in_column, difference_and_interval, pvalue_cell, signed
from ..pivot import Bold, Cells, Columns, Rows, ends_cell, pivot
from ..wording import ci, joined
from ..words import said
from .base import Brief, StudyReport
from .figures import Figure, in_module
from .run_sentences import (
    ScoredRuns,
    answers,
    conclusions,
    deciding,
    decimals_under,
    deviation,
    exchange_phrase,
    has_several,
    intervals,
    is_significant,
    methods,
    notes,
    observes_many,
    of_unit,
    p_name,
    phrase,
    scored_runs,
    tests_of,
)
from .shared import constant, in_percent, with_arrow

# The mark of p-values of tests that cannot reach alpha, whatever the outputs are.
UNREACHABLE = "‡"
# What stands before the name of an exchange unit whose null hypothesis follows.
TRUTH = "Null hypothesis of "


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
    if result.observed and not observes_many(result):
        yield _observed(result, in_rows=False).explained(phrase(result, "reversed"))


def brief(result: RunComparison) -> Brief:
    """The scores with the tests that decide, what was found, and what limits it."""
    tables, notes = [_scores(result)], [_spread(result)]
    if result.comparisons:
        one = constant(result.comparisons, "baseline") is not None
        tables = [_scores_and_tests(result)] if one else [*tables, _differences(result)]
        notes += [p_symbols(result), tests_of(result, result.plan.exchange[:1]), *intervals(result)]
    return Brief(tables, [*answers(result)], list(filter(None, [*notes, _left_out(result)])))


def _left_out(result: RunComparison) -> str:
    """Where the rest is."""
    others = result.plan.exchange[1:]
    more = [f"p by other tests ({joined(others)})"] if result.comparisons and others else []
    more += ["the median runs", "what scores vary with"] if has_several(result) else []
    return phrase(result, "left_out", more=more)


def paper(result: RunComparison) -> Iterator[Table]:
    """The same for papers: scores and tests against a baseline are in one table, and captions state the nulls."""
    nulls = {name: f"{TRUTH}{name}: {null.rstrip('.')}." for name, null in result.truths.items()}
    decide = [nulls.pop(name) for name in result.plan.exchange[:1] if name in nulls]
    tested = " ".join([p_symbols(result), *intervals(result), *decide]) if result.comparisons else ""
    if constant(result.comparisons, "baseline") is not None:
        yield _scores_and_tests(result).explained(f"{_spread(result)} {tested}")
    else:
        yield _scores(result).explained(_spread(result))
        if result.comparisons:
            yield _differences(result).explained(tested)
    if result.comparisons:
        yield from _other_tests(result, [*nulls.values()])
    yield from _variance_tables(result)
    if result.observed:
        yield _observed(result, in_rows=True).explained(phrase(result, "reversed"))


def _variance_tables(result: RunComparison) -> Iterator[Table]:
    """The table of variances, unless all systems have one run."""
    if has_several(result):
        yield _variances(result).explained(phrase(result, "effective"))


def _spread(result: RunComparison) -> str:
    """What the standard deviations of the table of scores are."""
    return phrase(result, "spread", has_dev=_has_dev(result))


def _has_dev(result: RunComparison) -> bool:
    return any(each.scores.s_dev is not None for each in scored_runs(result.systems))


def _number_of_runs(result: RunComparison) -> int | None:
    """The number of runs of each system; None if it differs."""
    numbers = set(result.plan.systems.values())
    return numbers.pop() if len(numbers) == 1 else None


def _names(result: RunComparison, several: bool = False) -> Cells:
    """The names of the metric, the system and, if there are several, the baseline."""
    arrows = {metric.name: with_arrow(metric) for metric in result.metrics}
    names: Cells = {"Metric": lambda each: arrows[each.metric], "System": "system"}
    return {**names, "Baseline": "baseline"} if several else names


def _rows(cells: Cells, n_names: int, *key: str) -> Rows:
    """A row for each metric and what else is in the key, with a line between metrics."""
    return Rows(cells, attrgetter("metric", *key), attrgetter("metric"), n_names, grouped=1)


def _bold(cells: Cells, bold: Callable[[Any], bool]) -> Cells:
    """The same cells in bold type for some records."""

    def shown(cell: Callable[[Any], str], each: Any) -> str:
        return Bold(cell(each)) if bold(each) else cell(each)

    return {heading: partial(shown, cell) for heading, cell in Rows(cells).shown.items()}


def _means(result: RunComparison, number: str) -> Cells:
    """The number of runs, if it differs between systems, their mean, and how much they vary."""

    def spread(name: str) -> Callable[[ScoredRuns], str]:
        return lambda each: deviation(getattr(each.scores, name), each.decimals)

    return {
        number: _number_of_runs(result) is None and (lambda each: f"{len(each.scores.runs):,}"),
        "Mean": lambda each: f"{each.scores.mean:.{each.decimals}f}",
        "s_sel": spread("s_sel"),
        "s_test": spread("s_test"),
        "s_dev": _has_dev(result) and spread("s_dev"),
    }


def _scores(result: RunComparison) -> Table:
    """A row for each metric and system: the mean of the runs, and how much they vary."""
    n = _number_of_runs(result)
    runs = "runs" if n is None else f"{counted(n, 'run')} of each system"

    def from_to(each: ScoredRuns) -> str:
        ends = each.scores.minimum, each.scores.maximum
        return ends_cell(ends if len(each.scores.runs) > 1 else None, f".{each.decimals}f")

    median: Cells = {"Range": from_to, "Median run": lambda each: str(each.scores.median_run)}
    cells = {**_names(result), **_means(result, "Runs"), **median}
    title = f"Scores of {runs}: {counted(result.plan.segments, 'segment')}"
    return pivot(title, scored_runs(result.systems), _rows(cells, 2, "system"))


def _asked(result: RunComparison, shown: str) -> str:
    """The title of a table of differences: the question, and the test that answers it."""
    unit = result.plan.exchange[0]
    by, _, _ = exchange_phrase(result).partition(" (")
    return f"{shown}: {result.plan.questions[unit]} ({p_name(result, [unit])} by {by})"


def _p_head(result: RunComparison, unit: str) -> str:
    """What heads a column of p-values."""
    return p_name(result, [unit]).replace("adjusted", "adj.")


def _p_cell(result: RunComparison, each: RunDifference) -> str:
    """The p-value of a pair, with marks."""
    marks = ("*" if is_significant(result, each) else "") + (EXACT if each.exact else "")
    marks += UNREACHABLE if each.smallest_pvalue > result.plan.alpha else ""
    return pvalue_cell(each.final_pvalue, None if each.exact else each.n_resamples, result.plan.alpha) + marks


def _aligned(table: Table, n: int) -> Table:
    """Pad the last n cells of each row, in which marks follow numbers, so that the numbers are in line."""
    for column in range(len(table.header) - n, len(table.header)):
        marks = [len(row[column]) - len(row[column].rstrip(f"*{EXACT}{UNREACHABLE}")) for row in table.rows]
        for row, own in zip(table.rows, marks, strict=True):
            row[column] += " " * (max(marks) - own)
    return table


def _tested(result: RunComparison) -> Cells:
    """The difference, its interval and p of the test that decides."""

    differences = grouped((each.metric, each.difference) for each in result.comparisons)
    under = decimals_under(result.systems)
    decimals = {metric: decimals_in_column(under[metric], own) for metric, own in differences.items()}

    def shown(each: RunDifference) -> list[str]:
        places = decimals[each.metric]
        return [*difference_and_interval(each.difference, each.confidence_interval, places, exactly=True), "–"]

    return {
        "Δ": lambda each: shown(each)[0],
        ci(result.plan.confidence_level): lambda each: shown(each)[1],
        _p_head(result, result.default_exchange or ""): partial(_p_cell, result),
    }


def _differences(result: RunComparison) -> Table:
    """A row for each metric and pair: the difference with its interval, and p of the test that decides."""
    baseline = constant(result.comparisons, "baseline")
    names, tested = _names(result, baseline is None), _tested(result)
    if baseline is None:
        better, worse = ({name: names[name]} for name in ("System", "Baseline"))
        shown: Cells = {
            **_bold(better, lambda each: result.verdict(each) == "better"),
            **_bold(worse, lambda each: result.verdict(each) == "worse"),
            **tested,
        }
    else:
        shown = _bold({"System": names["System"], **tested}, lambda each: result.verdict(each) == "better")
    title = _asked(result, "Differences" if baseline is None else f"Differences from {baseline}")
    rows = _rows({**names, **shown}, len(names), "baseline", "system")
    bold = phrase(result, "bold", baseline=baseline, by=exchange_phrase(result))
    return _aligned(pivot(title, deciding(result), rows, bold_means=bold), 1)


def _other_tests(result: RunComparison, nulls: Sequence[str] = ()) -> Iterator[Table]:
    """A row for each metric and pair: p of the tests beside the one that decides, if there are any."""
    others = result.plan.exchange[1:]
    if not others:
        return
    names = _names(result, constant(result.comparisons, "baseline") is None)
    columns = Columns(
        "exchange", lambda name: [f"{_p_head(result, name)}, {name}"], lambda each: [_p_cell(result, each)], others
    )
    title = f"The same differences: {p_name(result, others)} by other tests"
    table = pivot(title, result.comparisons, _rows(names, len(names), "baseline", "system"), columns)
    marks = _symbols(result, [each for each in result.comparisons if each.exchange in others])
    yield _aligned(table, len(others)).explained(" ".join(filter(None, [_questions(result, others), marks, *nulls])))


def _questions(result: RunComparison, units: Sequence[str]) -> str:
    """What these tests answer."""
    by_question = grouped((result.plan.questions[unit], unit) for unit in units)
    return " ".join(f"{joined(names)}: {question}" for question, names in by_question.items())


def p_symbols(result: RunComparison) -> str:
    """What the marks and the columns of the tests that decide mean."""
    decide = deciding(result)
    starred, p = any(is_significant(result, each) for each in decide), p_name(result, result.plan.exchange[:1])
    return _symbols(result, decide, decides=True, starred=starred, p=p, by=exchange_phrase(result))


def _symbols(result: RunComparison, shown: Sequence[RunDifference], **values: Any) -> str:
    """What marks beside p of some tests mean."""
    exact = any(each.exact for each in shown)
    unreachable = any(each.smallest_pvalue > result.plan.alpha for each in shown)
    return " ".join(said("runs", "symbol", {**result.plan, "exact": exact, "unreachable": unreachable, **values}))


def _scores_and_tests(result: RunComparison) -> Table:
    """The table of a paper: a row for each metric and system, as MultEval's, with p of the test that decides."""
    n = _number_of_runs(result)
    baseline = constant(result.comparisons, "baseline")
    tests = {(each.metric, each.system): each for each in deciding(result)}

    def of_test(cell: Callable[[Any], str], each: ScoredRuns) -> str:
        test = tests.get((each.metric, each.system))
        return "–" if test is None else cell(test)

    def better(each: ScoredRuns) -> bool:
        test = tests.get((each.metric, each.system))
        return test is not None and result.verdict(test) == "better"

    names = _names(result)
    tested = {heading: partial(of_test, cell) for heading, cell in Rows(_tested(result)).shown.items()}
    cells = {**names, **_bold({"System": names["System"], **_means(result, "n"), **tested}, better)}
    title = _asked(result, f"Scores of {'runs' if n is None else counted(n, 'run')} and differences from {baseline}")
    rows = _rows(cells, 2, "system")
    bold = phrase(result, "bold", baseline=baseline, by=exchange_phrase(result))
    return _aligned(pivot(title, scored_runs(result.systems), rows, bold_means=bold), 1)


def _variances(result: RunComparison) -> Table:
    """A row for each metric and system: the shares of the variance of one run's score."""

    def share(name: str, each: ScoredRuns) -> str:
        part, total = getattr(each.scores, name), sum(getattr(each.scores, name) or 0 for name in PARTS.values())
        return "–" if part is None or total <= 0 else in_percent(part / total, 0)

    def worth(each: ScoredRuns) -> str:
        n = each.scores.effective_test_sets
        return "–" if n is None else f"{n:.1f} of {len(each.scores.runs):,}"

    shares = {of_unit(result, heading): partial(share, name) for heading, name in PARTS.items()}
    cells: Cells = {**_names(result), **shares, "Effective test sets": worth}
    title = "What one run's score varies with, in % of its variance"
    return pivot(title, scored_runs(result.systems), _rows(cells, 2, "system"))


PARTS = {"Runs": "between_runs", "Segments": "between_segments", "Run × segment": "interaction"}


def _observed(result: RunComparison, in_rows: bool) -> Table:
    """A row for each metric and pair: differences that experiments with other numbers of runs would observe.

    For papers, which have no room for so many columns, a row for each number of runs.
    """
    baseline = constant(result.observed, "baseline")
    of = "" if baseline is None else f" from {baseline}"
    title = f"Differences{of} that experiments with other numbers of runs would observe"
    names = _names(result, baseline is None)
    pair, under = attrgetter("metric", "baseline", "system"), decimals_under(result.systems)

    def between(each: ObservedDifference) -> str:
        ends = (each.low, each.high)  # one of them may be 0 but for the rounding of the computer
        decimals = decimals_apart(under[each.metric], max(ends, key=abs), ends)
        return " to ".join(signed(end, decimals) for end in ends)

    def opposite(each: ObservedDifference) -> str:
        return in_percent(each.reversed, 0)

    if in_rows:
        cells: Cells = {**names, "Runs": "n_runs", "Central 95%": between, "rev.": opposite}
        return pivot(title, result.observed, Rows(cells, group=pair, n_names=len(names), grouped=len(names)))
    columns = Columns(
        "n_runs",
        lambda n: [counted(n, "run"), "rev."],
        lambda each: ["–", "–"] if each is None else [between(each), opposite(each)],
        sorted({each.n_runs for each in result.observed}),
    )
    return pivot(title, result.observed, _rows(names, len(names), "baseline", "system"), columns)


FIGURES = {
    "runs": Figure(
        "The score of each run ± s_sel, their mean (line) and s_test around it (band).",
        "systems",
        ("metric",),
        in_module("run_figures", "RunsFigure"),
        flat=scored_runs,
    ),
    "histogram": Figure(
        "The distribution of the runs' scores of each system, as in Fig. 1 of Clark et al. 2011.",
        "systems",
        ("metric",),
        in_module("run_figures", "HistogramFigure"),
        flat=scored_runs,
    ),
    "observed": Figure(
        "The difference that experiments with fewer or more runs would observe, as in Fig. 2 of Clark et al. 2011.",
        "observed",
        ("metric", "system"),
        in_module("run_figures", "ObservedFigure"),
    ),
}
REPORT = StudyReport(
    title, tables, conclusions, notes, FIGURES, paper=paper, brief=brief, methods=methods, truths="Null hypotheses",
    truth=TRUTH,
)  # fmt: skip
