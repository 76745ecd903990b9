"""The words of reports about tests of equivalence and non-inferiority, whose stars mark no differences."""

from __future__ import annotations

from ..results import Comparison, PairedDifference, UsedMetric, UsedTest
from .cells import under
from .wording import Nameless, are, counted, joined, named, number


def has_margin(comparison: Comparison) -> bool:
    """Whether the test is one of equivalence or non-inferiority."""
    return comparison.test is not None and comparison.test.has_margin


def margin_of(comparison: Comparison, metric: str) -> float | None:
    """The margin under a metric; None for other tests."""
    return next((pair.test.margin for pair in comparison.comparisons if pair.metric == metric), None)


def within(comparison: Comparison, metric: str) -> str:
    """The margin under a metric with its unit: ``±0.5 BLEU``, or ``0.5 BLEU`` for non-inferiority."""
    margin = margin_of(comparison, metric)
    assert margin is not None
    return f"{'±' if _is_equivalence(comparison) else ''}{number(margin)} {metric}"


def within_all(comparison: Comparison) -> str:
    """The margins under all metrics."""
    return joined(within(comparison, metric.name) for metric in comparison.metrics)


def sides(comparison: Comparison, test: UsedTest) -> str:
    """The alternative of a test, or its margins."""
    if not test.has_margin:
        return test.alternative
    return f"margin{'s' if len(comparison.metrics) > 1 else ''} {within_all(comparison)}"


def claim(comparison: Comparison, of: str) -> str:
    """What a star means, as a phrase. ``of`` has the margins."""
    return f"equivalent within {of}" if _is_equivalence(comparison) else f"not worse by {of} or more"


def margin_statement(comparison: Comparison, metric: UsedMetric) -> str:
    """Which systems are equivalent or not inferior under a metric, and of which this is not shown."""
    pairs = under(metric.name, comparison.comparisons)
    shown = [pair for pair in pairs if is_significant(comparison, pair)]
    others = [pair for pair in pairs if not is_significant(comparison, pair)]
    limit = within(comparison, metric.name)
    if comparison.baseline is None:
        return _of_pairs(comparison, len(shown), len(pairs), limit)
    baseline = comparison.baseline
    if _is_equivalence(comparison):
        positive, negative = f"equivalent to {baseline} within {limit}", "not shown to be equivalent to it"
        alone = f"not shown to be equivalent to {baseline} within {limit}"
    else:
        positive = f"not worse than {baseline} by {limit} or more"
        negative = "not shown to be non-inferior to it"
        alone = f"not shown to be non-inferior to {baseline} (not worse by {limit} or more)"
    if not shown:
        return f"{_some(others)} {alone}"
    first = f"{_some(shown)} {positive}"
    return f"{first}, and {_some(others)} {negative}" if others else first


def _of_pairs(comparison: Comparison, n_shown: int, n: int, limit: str) -> str:
    """For all pairs: how many there are."""
    if not n_shown:
        return Nameless(f"no pair is shown to be {claim(comparison, limit)}")
    of = f"{n_shown:,} of {counted(n, 'pair')} {are(n_shown)}"
    others = ", and the others are not shown to be" if n_shown < n else ""
    if _is_equivalence(comparison):
        return f"{of} equivalent within {limit}{others}"
    return f"{of} non-inferior (the system is not worse than its baseline by {limit} or more){others}"


def _is_equivalence(comparison: Comparison) -> bool:
    return comparison.test is not None and comparison.test.alternative == "equivalence"


def is_significant(comparison: Comparison, pair: PairedDifference) -> bool:
    """Whether the difference has a star."""
    return comparison.alpha is not None and pair.is_significant(comparison.alpha)


def _some(pairs: list[PairedDifference]) -> str:
    return f"{named([pair.system for pair in pairs], 'system')} {are(len(pairs))}"
