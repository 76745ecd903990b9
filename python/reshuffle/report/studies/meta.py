"""The report of ``meta``: how well metrics agree with people."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Any

from ...grouping import grouped
from ...results.studies import MetaEvaluation, MetricAgreement, MetricDifference, MetricGroup
from ..cells import Table, decimals_for, pvalue_cell, short_pvalue
from ..pivot import Bold, Cells, Columns, Rows, as_ends, as_number, ends_cell, number_cell, pivot
from ..wording import ci, counted, joined, number
from ..words import words, words_of
from .base import StudyReport
from .figures import Figure, in_module
from .meta_sentences import MAX_TESTED, conclusions, explained, notes, symbols
from .meta_sentences import settings as settings_of_sentences
from .meta_values import Family, families, name_of, on_segments, shown_families, sized
from .shared import constant, with_arrow

# So many pairs have a row each, with intervals; more metrics have a matrix of p-values, up to a number that fits.
MAX_PAIRS, MAX_MATRIX = 6, 16
# So many metrics have a column in the table of systems, which is shown for one test set.
MAX_METRICS = 8
DECIMALS, SMALL = 3, 0.01
# The part of a page with the scores of systems; the others are those of coefficients.
SCORES = "Scores of systems"
# What the groups of a grouping are; Group is the column of letters.
GROUPS = {"sys": "Systems", "item": "Segments"}
SPEC = f".{DECIMALS}f"


def title(result: MetaEvaluation) -> str:
    """The metrics, the level and the test sets."""
    sets = result.plan.test_sets
    where = f" on {counted(len(sets), 'test set')}" if len(sets) > 1 else f" on {sets[0]}" if sets[0] else ""
    level = {"segment": "segments", "system": "systems"}[result.plan.level]
    return f"Agreement of {counted(len(result.metrics), 'metric')} with people on the scores of {level}{where}"


def tables(result: MetaEvaluation) -> Iterator[Table]:
    """The coefficients, the tests of pairs of metrics, and the scores of systems."""
    yield from _coefficients(result)
    shown = [family for family in shown_families(result) if family.comparisons]
    if len(shown) <= MAX_TESTED:
        for family in shown:
            yield from _tests(family, few=MAX_PAIRS)
    sets = list(dict.fromkeys(each.test_set for each in result.systems))
    if len(sets) == 1 and len(result.metrics) <= MAX_METRICS:
        yield _scores(result, sets[0])


def paper(result: MetaEvaluation) -> Iterator[Table]:
    """The same with a matrix of p-values for every coefficient, and captions that explain: papers have no notes."""
    for table in _coefficients(result):
        yield table.explained(symbols(result, table))
    for family in shown_families(result):
        for table in _tests(family, few=1) if family.comparisons else ():
            yield table.explained(symbols(result, table, family.comparisons))


def _coefficients(result: MetaEvaluation) -> Iterator[Table]:
    """A table for each coefficient that some metric has: with a column for each test set, if there are several."""
    every = grouped((family.name, family) for family in families(result)).values()
    for own in [own for own in every if any(family.is_defined for family in own)] or every:
        sets = [family for family in own if not family.is_over_sets]
        if len(sets) > 1:
            yield _overview(own, len(sets))
        for family in sets if len(sets) in (1, len(own)) else ():
            yield _values(result, family)


def _title(result: MetaEvaluation, family: Family) -> str:
    n = constant(family.results, "n")
    sizes = ["" if n is None else sized(result, family, n), on_segments(result, family)]
    size = ", ".join(filter(None, sizes))
    return f"Agreement with people by {family.title}{size and f': {size}'}"


# What bold type marks in tables of values.
LEADERS = "the best agreement, and those that do not differ significantly from it"


def _interval_header(results: Sequence[MetricAgreement | MetricDifference]) -> list[str]:
    """The header of the column of intervals, if any metric has one."""
    levels = [each.confidence_interval.confidence_level for each in results if each.confidence_interval is not None]
    return [ci(levels[0])] if levels else []


def _placed(family: Family) -> Cells:
    """The interval of each metric, and its place in the ranking, if there are any."""

    def placed(shown: Callable[[MetricGroup], str]) -> Callable[[MetricAgreement], str] | None:
        found = family.group_of
        return (lambda each: shown(found[each.metric]) if each.metric in found else "–") if found else None

    return {
        **dict.fromkeys(_interval_header(family.results), as_ends("confidence_interval", SPEC)),
        "Group": placed(lambda group: group.letters or "–"),
        "Cluster": placed(lambda group: f"{group.cluster:,}"),
    }


def _values(result: MetaEvaluation, family: Family) -> Table:
    """A row for each metric: the value, its interval, and the place in the ranking."""
    results = family.results
    cells: Cells = {
        "Metric": "metric",
        family.symbol: as_number("value", SPEC),
        **_placed(family),
        "ε": any(each.epsilon is not None for each in results) and as_number("epsilon", ".3g"),
        # The head says of what n is the number, as the title does where it is the same for all: 2 outputs.
        sized(result, family, 2).partition(" ")[2].capitalize(): constant(results, "n") is None and as_number("n", ","),
        GROUPS.get(family.grouping or "", "Groups"): constant(results, "groups") is None
        and results[0].groups is not None
        and as_number("groups", ","),
    }
    rows = Rows(cells, n_names=1, bold=lambda each: family.leads(each.metric))
    found = pivot(_title(result, family), list(map(family.by_metric.get, family.by_value)), rows, bold_means=LEADERS)
    return replace(found, page_part=family.name)


def _overview(every: Sequence[Family], n_sets: int) -> Table:
    """A row for each metric and a column for each test set, then averages with intervals and ranking.

    If only test sets were tested, their values have letters.
    """
    by_name = {family.test_set: family for family in every}
    first = next((family for family in every if family.is_over_sets), every[0])
    lettered = not any(family.groups for family in every if family.is_over_sets)

    def heading(name: str) -> list[str]:
        family = by_name[name]
        return [name.capitalize(), *Rows(_placed(family)).shown] if family.is_over_sets else [name]

    def cells(each: MetricAgreement) -> list[str]:
        family, value = by_name[each.test_set], number_cell(each.value, SPEC)
        if not family.is_over_sets:
            return [value + (_letters(family, each.metric) if lettered else "")]
        shown = [value, *(cell(each) for cell in Rows(_placed(family)).shown.values())]
        return [*map(Bold, shown)] if family.leads(each.metric) else shown

    places = {metric: place for place, metric in enumerate(first.by_value)}
    records = sorted((each for family in every for each in family.results), key=lambda each: places[each.metric])
    title = f"Agreement with people by {first.name} on {counted(n_sets, 'test set')}"
    columns = Columns("test_set", heading, cells, by_name)
    return replace(pivot(title, records, Rows({"Metric": "metric"}), columns, LEADERS), page_part=first.name)


def _letters(family: Family, metric: str) -> str:
    """The letters of a metric after its value, in a place of their own."""
    width = max((len(group.letters) for group in family.groups), default=0)
    group = family.group_of.get(metric)
    return f" {group.letters if group else '':<{width}}" if width else ""


def _tests(family: Family, few: int) -> Iterator[Table]:
    """The pairs with differences and intervals if they are few, or compared with a baseline; else p of all pairs."""
    complete = bool(family.groups)
    metrics = [metric for metric in family.ranked if metric in family.group_of]
    starred = any(each.is_significant(family.alpha) for each in family.comparisons)
    found = None
    if complete and len(family.comparisons) > few and len(metrics) <= MAX_MATRIX:
        found = _matrix(family, metrics)
    elif not complete or len(family.comparisons) <= few:
        found = _differences(family)
    if found is not None:
        symbols = f"*: {_p(family)} ≤ {number(family.alpha)}." if starred else ""
        yield replace(found.explained(symbols), page_part=family.name)


def _p(family: Family) -> str:
    """What the p-values that decide are called."""
    return "p" if all(each.adjusted_pvalue is None for each in family.comparisons) else "adjusted p"


def _matrix(family: Family, metrics: Sequence[str]) -> Table:
    """The p-values of all pairs, from best to worst."""
    header = ["Metric", *(f"{i}" for i in range(1, len(metrics)))]
    table = Table(f"{_p(family).capitalize()} of all pairs by {family.title}", header)
    table.breaks = tuple(range(2, len(header)))
    for i, metric in enumerate(metrics):
        cells = [f"{i + 1}  {metric}"]
        for other in metrics[: len(metrics) - 1]:
            pair = family.pairs.get((metric, other))
            if metrics.index(other) >= i or pair is None:
                cells.append("")
                continue
            star = "*" if pair.is_significant(family.alpha) else " "
            cells.append(f"{short_pvalue(pair.final_pvalue, family.alpha)}{star}")
        table.add(cells)
    return table


def _differences(family: Family) -> Table:
    """A row for each pair: the difference, its interval, and p."""
    places = {metric: place for place, metric in enumerate(family.ranked)}
    pairs = sorted(family.comparisons, key=lambda each: sorted((places[each.metric_a], places[each.metric_b])))
    adjusted = _p(family) != "p"
    baseline = constant(pairs, "metric_b") if len(pairs) > 1 else None
    # One decimal more where three would hide the differences.
    spec = f"+.{DECIMALS + (max(abs(each.difference) for each in pairs) < SMALL)}f"

    def sign(each: MetricDifference) -> int:
        """Without a baseline, the better metric is the first."""
        return -1 if baseline is None and each.difference < 0 else 1

    def names(each: MetricDifference) -> tuple[str, ...]:
        return (each.metric_a, each.metric_b)[:: sign(each)]

    def interval(each: MetricDifference) -> str:
        return ends_cell(sorted(sign(each) * end + 0.0 for end in each.confidence_interval or ()), spec)  # no -0.0

    def p_cell(each: MetricDifference, p: float, decides: bool) -> str:
        star = ("*" if each.is_significant(family.alpha) else " ") * decides
        return pvalue_cell(p, each.n_resamples, family.alpha) + star

    cells: Cells = {
        "Metric": lambda each: names(each)[0],
        "Compared with": baseline is None and (lambda each: names(each)[1]),
        "Δ": lambda each: f"{sign(each) * each.difference:{spec}}",
        **dict.fromkeys(_interval_header(pairs), interval),
        "p": lambda each: p_cell(each, each.pvalue, not adjusted),
        "Adjusted p": adjusted and (lambda each: p_cell(each, each.final_pvalue, True)),
    }
    return pivot(
        f"{'Differences' if baseline is None else f'Differences from {baseline}'} in {family.title}",
        pairs,
        Rows(cells, n_names=1 + (baseline is None), bold=lambda each: family.better(*names(each))),
        bold_means=f"significantly better agreement than {baseline or 'that of the metric compared with'}",
    )


def _scores(result: MetaEvaluation, test_set: str) -> Table:
    """A row for each system, from best to worst in the eyes of people."""
    own = sorted((each for each in result.systems if each.test_set == test_set), key=lambda each: -each.human)
    decimals = {
        metric: decimals_for(max(map(abs, scores)))
        for metric, scores in grouped((each.metric, each.score) for each in own).items()
    }
    human: Cells = {
        "System": "system",
        "Human": as_number("human", f".{decimals_for(max(abs(each.human) for each in own))}f"),
    }
    arrows = {metric.name: with_arrow(metric) for metric in result.metrics if metric.name in decimals}
    columns = Columns(
        "metric",
        lambda name: [arrows[name]],
        lambda each: ["–" if each is None else f"{each.score:.{decimals[each.metric]}f}"],
        arrows,
    )
    on = f" on {test_set}" if test_set else ""
    found = pivot(
        f"Scores of systems{on}, by people and metrics", own, Rows(human, attrgetter("system"), n_names=1), columns
    )
    return replace(found, page_part=SCORES)


def defined(results: Sequence[MetricAgreement]) -> list[MetricAgreement]:
    """The values of families in which some metric has one."""
    by_family = grouped(((each.test_set, each.level, each.grouping, each.coefficient), each) for each in results)
    return [each for own in by_family.values() if not all(math.isnan(each.value) for each in own) for each in own]


def complete_pairs(comparisons: Sequence[MetricDifference]) -> list[MetricDifference]:
    """The comparisons of families with at least three metrics in which all pairs were compared."""
    found = []
    by_family = grouped(((each.test_set, each.level, each.grouping, each.coefficient), each) for each in comparisons)
    for own in by_family.values():
        k = len({name for each in own for name in (each.metric_a, each.metric_b)})
        if k > 2 and len(own) == k * (k - 1) // 2:
            found += own
    return found


def _titled(field: str, value: str) -> str:
    """What tables call a coefficient or a grouping, unless it is one of another version."""
    known: Mapping[str, Mapping[str, str]] = words("meta")[field] if field in ("coefficient", "grouping") else {}
    return known.get(value, {}).get("name", value)


def _part(chosen: Mapping[str, Any]) -> str:
    """The part of a page with the figures of a coefficient and grouping."""
    return name_of(chosen["coefficient"], chosen["grouping"])


FIGURES = {
    "forest": Figure(
        "Agreement of each metric with people, with confidence intervals; metrics that share a letter do not differ "
        "significantly.",
        "results",
        ("test_set", "coefficient", "grouping"),
        in_module("meta_figures", "AgreementForest"),
        over="metric",
        flat=defined,
        needs="a coefficient that is defined",
        titled=_titled,
        part=_part,
    ),
    "matrix": Figure(
        "p-values of all pairs of metrics, from best to worst agreement with people.",
        "comparisons",
        ("test_set", "coefficient", "grouping"),
        in_module("meta_figures", "MetricMatrix"),
        over="metric_a",
        flat=complete_pairs,
        needs="tests of all pairs of at least 3 metrics",
        titled=_titled,
        part=_part,
        beyond=MAX_PAIRS,
    ),
    "scatter": Figure(
        "Scores of systems by the metric and by people.",
        "systems",
        ("test_set", "metric"),
        in_module("meta_figures", "SystemScatter"),
        over="system",
        beside=3,
        part=lambda chosen: SCORES,
    ),
}


def truth_title(name: str) -> str:
    """What sentences call a test."""
    title: str = words_of("meta", "test", name)
    return title


def settings(result: MetaEvaluation) -> dict[str, str]:
    """The coefficients and tests of the methods paragraph, by their names in papers."""
    chosen = dict.fromkeys(each.coefficient for each in result.results)
    found = {"coefficients": joined(words("meta")["coefficient"].get(name, {}).get("name", name) for name in chosen)}
    if result.truths:
        found["tests"] = joined(map(truth_title, result.truths))
        found["source"] = "; ".join(dict.fromkeys(words_of("meta", "source", name) for name in result.truths))
    return found | settings_of_sentences(result)


REPORT = StudyReport(
    title, tables, conclusions, notes, FIGURES, paper=paper, settings=settings, truths="Null hypotheses",
    truth="Null hypothesis of ", truth_title=truth_title, explained=explained,
)  # fmt: skip
