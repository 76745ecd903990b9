"""Caveats of a comparison: each has a kind and values. Reports write the sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..results import Caveat, Comparison, PairedDifference, UsedTest

__all__ = ["caveats"]


def caveats(comparison: Comparison) -> tuple[Caveat, ...]:
    """All caveats of a comparison, in the order of :class:`~reshuffle.results.Caveat`."""
    return tuple(_caveats(comparison))


def _caveats(comparison: Comparison) -> Iterator[Caveat]:
    pairs, test, alpha = comparison.comparisons, comparison.test, comparison.alpha
    if not pairs or test is None or alpha is None:
        return
    yield from _undecided(pairs)
    for metric in comparison.metrics:
        yield from _dependence([pair for pair in pairs if pair.metric == metric.name])
    if len(pairs) > 1 and test.adjustment is None and comparison.experimentwise_error is not None:
        yield Caveat(
            "many-tests", {"tests": len(pairs), "alpha": alpha, "probability": comparison.experimentwise_error}
        )
    if test.replicates is not None:
        yield from (
            _few_units(comparison, test, alpha) or _few_replicates(pairs, alpha) or _near_alpha(pairs, test, alpha)
        )


def _undecided(pairs: Sequence[PairedDifference]) -> Iterator[Caveat]:
    """Tests by Gandy's rule that used all shuffles without a decision."""
    rules = [pair.test.stopping for pair in pairs]
    undecided = [rule for rule in rules if rule is not None and rule.rule == "gandy" and not rule.stopped]
    if undecided:
        numbers = {"undecided": len(undecided), "tests": len(pairs), "n_resamples": undecided[0].max_resamples}
        yield Caveat("undecided", numbers)


def _dependence(pairs: Sequence[PairedDifference]) -> Iterator[Caveat]:
    """The dependence between segments of a document, under one metric."""
    correlations = [p.intraclass_correlation for p in pairs if p.intraclass_correlation is not None]
    effects = [p.design_effect for p in pairs if p.design_effect is not None]
    if correlations:
        yield Caveat(
            "dependence",
            {
                "metric": pairs[0].metric,
                "correlations": (min(correlations), max(correlations)),
                "design_effects": (min(effects), max(effects)),
            },
        )


def _few_units(comparison: Comparison, test: UsedTest, alpha: float) -> list[Caveat]:
    """Too few resampling units: even the smallest possible p is above alpha."""
    smallest = 2.0 ** ((test.alternative == "two-sided") - comparison.n_units)
    if test.replicates != "shuffles" or smallest <= alpha:
        return []
    by_chance = any(pair.test.scheme == "iid" for pair in comparison.comparisons)
    values = {"units": comparison.n_units, "unit": comparison.unit, "smallest": smallest, "by_chance": by_chance}
    return [Caveat("few-units", {**values, "alpha": alpha})]


def _few_replicates(pairs: Sequence[PairedDifference], alpha: float) -> list[Caveat]:
    """Too few replicates: even the smallest possible p is above alpha."""
    tests = [pair.test for pair in pairs]
    # A test that was stopped early could have used up to max_resamples.
    possible = [test.n_resamples if test.stopping is None else test.stopping.max_resamples for test in tests]
    counted = [r for r, test in zip(possible, tests, strict=True) if test.scheme != "exact" and r is not None]
    if not counted:
        return []
    # p = (c + 1)/(R + 1), but c/R for a subgroup, which includes the observed arrangement.
    plus_one = any(test.scheme != "subgroup" for test in tests)
    smallest = tests[0].tails / (max(counted) + plus_one)
    if smallest <= alpha:
        return []
    return [Caveat("few-replicates", {"n_resamples": max(counted), "smallest": smallest, "alpha": alpha})]


def _near_alpha(pairs: Sequence[PairedDifference], test: UsedTest, alpha: float) -> list[Caveat]:
    """p-values that more replicates might move to the other side of alpha."""
    # Gandy's rule bounds the probability of that.
    if test.stopping is not None and test.stopping.startswith("gandy"):
        return []
    near = sum(pair.test.may_lie_across(alpha) for pair in pairs)
    return [Caveat("near-alpha", {"near": near, "tests": len(pairs), "alpha": alpha})] if near else []
