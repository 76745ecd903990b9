"""The words of reports about tests of equivalence and non-inferiority, whose stars mark no differences."""

from __future__ import annotations

from ..results import Comparison, PairedDifference, UsedMetric, UsedTest
from ..results.verdicts import UNDIRECTED
from .cells import under
from .computed import alternative_phrase
from .wording import Nameless, joined, named, number
from .words import sentence


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
        undirected = test.alternative in UNDIRECTED
        return alternative_phrase(test.alternative) if undirected else f"one-sided ({test.alternative})"
    return f"margin{'s' if len(comparison.metrics) > 1 else ''} {within_all(comparison)}"


def claim(comparison: Comparison, of: str) -> str:
    """What a star means, as a phrase. ``of`` has the margins."""
    return f"equivalent within {of}" if _is_equivalence(comparison) else f"not worse by {of} or more"


def margin_statement(comparison: Comparison, metric: UsedMetric) -> str:
    """Which systems are equivalent or not inferior under a metric, and of which this is not shown."""
    pairs = under(metric.name, comparison.comparisons)
    shown = [pair.system for pair in pairs if is_significant(comparison, pair)]
    others = [pair.system for pair in pairs if not is_significant(comparison, pair)]
    limit = within(comparison, metric.name)
    values = {
        "is_equivalence": _is_equivalence(comparison),
        "claim": claim(comparison, limit),
        "limit": limit,
        "baseline": comparison.baseline,
        "n_pairs": len(pairs),
        "n_shown": len(shown),
        "n_others": len(others),
        "shown": named(shown, "system") if shown else "",
        "others": named(others, "system") if others else "",
    }
    if comparison.baseline is None:
        said = sentence("notes", "margin", "of_pairs", **values)
        return said if shown else Nameless(said)
    return sentence("notes", "margin", "against", **values)


def _is_equivalence(comparison: Comparison) -> bool:
    return comparison.test is not None and comparison.test.alternative == "equivalence"


def is_significant(comparison: Comparison, pair: PairedDifference) -> bool:
    """Whether the difference has a star."""
    return comparison.alpha is not None and pair.is_significant(comparison.alpha)
