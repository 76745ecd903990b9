"""The sentences below the tables: how the numbers were computed, and what limits them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from typing import Any

from ..grouping import grouped
from ..results import Comparison, PairedDifference, SetComparison, UsedTest
from ..results.intervals import NORMAL, width_in_errors
from ..results.sets import MAX_DROPPED
from .caveats import cautions, where_said
from .cells import under
from .layout import Layout, by_name
from .margins import claim, sides
from .parts import notes_on_parts
from .votes import vote_notes
from .wording import few, joined, left_out, option, percent
from .words import filled, sentence, words_of

_note = partial(sentence, "notes", "note")


def notes(result: Comparison | SetComparison, layout: Layout) -> Iterator[str]:
    """The sentences below the tables: first how the numbers were computed, then the caveats."""
    yield from explanations(result, layout)
    yield from cautions(result, layout)


def explanations(result: Comparison | SetComparison, layout: Layout) -> Iterator[str]:
    """How the numbers were computed, and what the symbols mean, each with the test sets that it is about."""
    of = result if isinstance(result, SetComparison) else None
    if of is not None and of.dropped:
        yield f"Left out, because not every test set has them: {few(of.dropped, MAX_DROPPED)}."
    found = (
        (sentence, name)
        for name, comparison in by_name(result).items()
        for sentence in explanations_of(comparison, layout, of)
    )
    yield from where_said(result, grouped(found))


def explanations_of(comparison: Comparison, layout: Layout, of: SetComparison | None = None) -> Iterator[str]:
    """How the numbers were computed, and what the symbols mean. ``of``: of which the comparison is a part."""
    for metric in comparison.metrics:
        if metric.evaluations is not None:
            yield f"{metric.name}: computed from the texts by {metric.evaluations:,} calls of its function."
        if comparison.lacks_scores(metric.name):
            yield _note("missing", metric=metric.name, **_of_pairs(comparison, metric.name))
        if of is None or comparison is not of.average:  # of an average, each test set says it
            yield from (f"{metric.name}: {sentence}" for sentence in left_out(metric.signature))
    values = values_of(comparison, of)
    values["averaged"] |= of is not None and of.average is not None and comparison.n_strata is None
    if comparison.votes is not None:
        yield from map(layout.spelled, vote_notes(comparison.votes))
    if comparison.baseline is None and comparison.rankings:
        yield from filter(None, [" ".join(_ranks(comparison, layout, of))])
    tested, adjustment, more, interval = "", "", [], ""
    if comparison.test is not None and comparison.alpha is not None:
        # With its meaning if no table of the report has the mark.
        has_stars = comparison.baseline is not None or layout.triangle or layout.shows_pairs(comparison)
        values["star"], mark = ("*", "star") if has_stars else ("significant:", "positive")
        tested = _note("test", **values)
        if "rule" in values:
            more.append(_note("stopping", **values))
        rate, several = comparison.test.adjustment_rate, values["all_tests"] > 1
        if comparison.test.adjustment is not None and rate is not None and several:
            values["risk"] = filled(words_of("notes", "error rate", rate), {"mark": mark})
            adjustment = layout.spelled(_note("adjustment", **values))
            if values["n_raised"]:
                more.append(_note("raised", **values))
            if of is not None and of.average is not None and over_sets(of):
                more.append(_note("not_covered", **values))
    if comparison.interval is not None and values["level"] is not None and layout.shows_intervals(comparison):
        interval = _note("interval", **values)
    hidden = " ".join(_not_shown(comparison, layout, of))
    # Notes of two lines: that on p is longer with several metrics, and test sets say once what is hidden.
    if of is not None:
        notes = [[tested], [adjustment], [interval], [hidden]]
    elif len(comparison.metrics) > 1:
        notes = [[tested, hidden], [adjustment], [interval]]
    else:
        notes = [[tested, adjustment], [interval, hidden]]
    yield from filter(None, (" ".join(filter(None, each)) for each in notes))
    yield from more
    if layout.shows_parts(comparison):
        yield from notes_on_parts(comparison)


def values_of(comparison: Comparison, of: SetComparison | None = None) -> dict[str, Any]:
    """What notes say about how numbers were computed, by name. ``of``: of which the comparison is a part."""
    n_tests, n_metrics = len(comparison.comparisons), len(comparison.metrics)
    apart = of is not None and len(by_name(of)) > 1 and not over_sets(of)
    n_families = n_tests // comparison.family_size * len(by_name(of)) if of is not None and apart else n_metrics
    has_average, alpha = of is not None and of.average is not None, comparison.alpha or 0
    values = {
        "alpha": alpha,
        "level": comparison.confidence_level,
        "n": comparison.n_resamples or 0,
        "unit": comparison.unit,
        "n_strata": comparison.n_strata,
        "averaged": bool(comparison.averaged_over),
        "n_tests": n_tests,
        "n_metrics": n_metrics,
        "n_pairs": n_tests // n_metrics,
        "family_size": comparison.family_size,
        "adjusted": comparison.family_size > 1,
        "apart": apart,
        "average": has_average,
        "separately": "" if of is None else separately(of),
        "n_families": n_families,
        "limit": min(1, round(n_families * alpha, 12)),
        "limit_joint": min(1, round((1 + has_average) * alpha, 12)),
        "n_sets": 1,
    }
    if comparison.interval is not None:
        values |= {
            "interval_title": comparison.interval.title,
            "draws": comparison.interval.draws,
            "simultaneous": comparison.interval.simultaneous,
            "is_normal": comparison.interval.name in NORMAL and not comparison.interval.simultaneous,
            "width": f"{width_in_errors(comparison.confidence_level or 0.95):.2f}",
        }
    return values if comparison.test is None else values | _of_test(comparison, comparison.test)


def _of_test(comparison: Comparison, test: UsedTest) -> dict[str, Any]:
    """The same of the test."""
    tests = [pair.test for pair in comparison.comparisons]
    rule = next((each.stopping for each in tests if each.stopping is not None), None)
    numbers = [each.n_resamples or 0 for each in tests]
    values: dict[str, Any] = {
        # The name that one types, and what it stands for.
        "test_name": test.title if test.name in test.title else f"{test.name} ({test.title})",
        "sides": sides(comparison, test),
        "alternative": test.alternative,
        "has_margin": test.has_margin,
        "claim": claim(comparison, "the margin"),
        "replicates": test.replicates,
        "replicate": (test.replicates or "").removesuffix("s"),
        "exact": sum(each.scheme == "exact" for each in tests),
        "patterns": sum(each.exact_by == "patterns" for each in tests),
        "convolution": sum(each.exact_by == "convolution" for each in tests),
        "subgroup": next((each.n_resamples for each in tests if each.scheme == "subgroup"), None),
        "stopping": test.stopping is not None,
        "numbers": (min(numbers), max(numbers)),
        "most_used": max(numbers),
        "not_stopped": sum(each.stopping is not None and not each.stopping.stopped for each in tests),
        "adjusted_by": test.adjustment_title,
        "n_raised": sum(is_of_few(pair, test) for pair in comparison.comparisons) if test.adjustment == "maxt" else 0,
        "rate": test.adjustment_rate,
        "is_nominal": is_nominal(comparison),
        "over_metrics": test.family in ("set", "all"),
        "n_sets": test.n_sets,
        "several_sets": test.n_sets > 1,
        "all_tests": len(tests) * test.n_sets,
    }
    if rule is not None:
        values |= {"rule": rule.rule, "exceedances": rule.exceedances or 0}
        values |= {"stop_level": rule.level, "stop_risk": rule.risk}
    return values


def is_of_few(pair: PairedDifference, test: UsedTest) -> bool:
    """Whether a pair has another test than the others because it differs in few units."""
    return "few-differing" in pair.caveats and pair.test.test != test.name


def _of_pairs(comparison: Comparison, metric: str) -> dict[str, Any]:
    """How many pairs there are under a metric, and whether their differences are not those of the scores shown."""
    scores = {score.system: score.score for score in under(metric, comparison.scores)}
    pairs = under(metric, comparison.comparisons)
    as_shown = (
        math.isclose(scores[p.system] - scores[p.baseline], p.difference, rel_tol=1e-9, abs_tol=1e-12) for p in pairs
    )
    return {"n_pairs": len(pairs), "apart_from_scores": not all(as_shown)}


LETTERS = "systems that share a letter do not differ significantly."
LINES = "Lines: each system above a line is significantly better than each below it."


def rank_key(comparison: Comparison, without: str = "") -> str:
    """What ranks are; those without simultaneous coverage end in ``without``."""
    if all(ranking.simultaneous for ranking in comparison.rankings):
        return f"Rank: simultaneous {percent(1 - (comparison.alpha or 0))} confidence intervals of the ranks."
    return f"Rank: the ranks that are compatible with the significant differences{without}."


def _ranks(comparison: Comparison, layout: Layout, of: SetComparison | None) -> Iterator[str]:
    """The meaning of the ranks and letters that are shown."""
    # Tables of scores on test sets have letters but no ranks: those of the average and of each set have them.
    has_ranks = of is None or (of.average is not None and not layout.paper) or layout.wants_pairs
    n_metrics = len(comparison.metrics)
    ranks = rank_key(comparison, ", without simultaneous coverage")
    without = [ranking.metric for ranking in comparison.rankings if ranking.groups is None]
    if len(without) == len(comparison.rankings):
        if has_ranks:
            yield f"{ranks} Letters: none, because over 26 are needed."
        return
    if has_ranks and (without or layout.shows_group("ranks", n_metrics)):
        yield ranks
    if layout.shows_group("letters", n_metrics):
        missing = f" There are none under {joined(without)}, because more than 26 would be needed." if without else ""
        yield f"Group: {LETTERS}{missing}"
    if has_ranks and n_metrics == 1 and comparison.rankings[0].systems[-1].cluster > 1:
        yield LINES


def _not_shown(comparison: Comparison, layout: Layout, of: SetComparison | None) -> Iterator[str]:
    """What the report leaves out, and how to see it."""
    several, tests = len(comparison.metrics) > 1, len(comparison.comparisons) * (1 if of is None else len(by_name(of)))
    pairs = layout.spelled(option("--pairs", "render(pairs=True)"))
    if tests and not layout.shows_pairs(comparison) and (several or comparison.baseline is None):
        shown = "differences, intervals and p" if comparison.interval is not None else "differences and p"
        every = {1: "the test", 2: "both tests"}.get(tests, f"all {tests:,} tests")
        yield f"For the {shown} of {every}: {pairs}, or save as JSON or CSV."
    if not (layout.paper or layout.shows_all_documents(comparison)):
        yield f"For the scores on all documents: {f'{pairs}, or ' if tests else ''}save as JSON or HTML."
    if several and not (tests or layout.shows_details(comparison)) and any(s.details for s in comparison.scores):
        yield "The components of the scores, such as precisions, are in json, and in reports on a single metric."


def is_nominal(comparison: Comparison) -> bool:
    """Whether units are too few for the error rate of tests of ratings (docs/evidence/votes.md)."""
    return comparison.votes is not None and any(each.kind == "small-sample" for each in comparison.caveats)


def over_sets(result: SetComparison) -> bool:
    """Whether families extend over the test sets."""
    return any(each.test is not None and each.test.n_sets > 1 for each in result.sets.values())


def separately(result: SetComparison) -> str:
    """What has families of its own if they do not extend over the test sets."""
    return f"on each test set {'' if result.average is None else 'and for the average '}separately"
