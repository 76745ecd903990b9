"""Adjustments of p-values for multiple tests, which control the family-wise error rate or the false discovery rate.

A family is the pairs under one metric, or all pairs under all metrics. If hypotheses with an adjusted p of at most α
are rejected, the probability of any false rejection in the family (or the expected share of false ones among all
rejections) is at most α, whichever null hypotheses are true.

A new adjustment is a function here and an entry in :data:`ADJUSTMENTS`. An adjustment of p-values is for all tests. One
from replicates depends on the test: :attr:`reshuffle.inference.tests.SignificanceTest.step_down` has a
:class:`StepDown` for each that the test supports.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .._core import Progress
from ..errors import InputError
from ..metrics.base import Scores
from ..resampling import MaxT, MinP, Reduction, Series, Spread, extremeness, ranks_among_all
from ..results import SignificanceResult, may_lie_across
from .hypotheses import Observed, Outcome
from .pvalues import largest_rank, pvalue

__all__ = [
    "ADJUSTMENTS",
    "MAX_T_OF_BOTH",
    "MAX_T_OF_CENTRED_DRAWS",
    "MAX_T_OF_PERCENTILES",
    "MAX_T_OF_SHUFFLES",
    "MIN_P_OF_SHUFFLES",
    "Adjusted",
    "Adjustment",
    "Band",
    "StepDown",
    "Unadjusted",
    "critical_values",
    "experimentwise_error",
    "extremeness_to_reach",
    "per_comparison_level",
    "rank_for_intervals",
    "step_down_max",
    "step_down_min",
]

# The error rates that adjustments control.
FAMILY_WISE, FALSE_DISCOVERY = "family-wise error rate", "false discovery rate"

# Iterates over the extremeness of hypotheses, (R,), in the order of the indices that it gets.
SeriesInOrder: TypeAlias = Callable[[Sequence[int]], Iterator[Scores]]


def experimentwise_error(level: float, n_tests: int) -> float:
    """The probability of at least one false rejection in n independent tests at this level: 1 − (1 − level)ⁿ.

    Riezler & Maxwell 2005 (W05-0908), section 4.4: it is .9954 for their 105 pairs at level .05.

    >>> round(experimentwise_error(0.05, 105), 4)
    0.9954
    """
    return -math.expm1(n_tests * math.log1p(-level))


def per_comparison_level(error: float, n_tests: int) -> float:
    """The level for each of n tests whose experimentwise error is ``error``: 1 − (1 − error)^(1/n).

    The inverse of :func:`experimentwise_error`, as in Riezler & Maxwell 2005 (W05-0908), section 4.4. For independent
    tests the experimentwise error is then exactly ``error`` (Šidák 1967, doi:10.1080/01621459.1967.10482935).

    >>> round(per_comparison_level(0.05, 105), 6)
    0.000488
    >>> round(experimentwise_error(per_comparison_level(0.05, 105), 105), 6)
    0.05
    """
    return -math.expm1(math.log1p(-error) / n_tests)


@dataclass(frozen=True, eq=False)
class Unadjusted:
    """The tests of the hypotheses about one test set, before adjustment."""

    observed: Observed
    outcome: Outcome


@dataclass(frozen=True, eq=False)
class Band:
    """What simultaneous intervals need from an adjustment that compares |d| divided by its scale with a critical value.

    Attributes
    ----------
    critical : callable
        From α to the critical value of each family: (families,).
    to_reach : (H,) ndarray of float
        |d| divided by its scale. The single-step adjusted p is at most α exactly if the critical value is smaller.
    below, above : (H,) ndarray of float
        The scales of the deviations below and above each difference.
    """

    critical: Callable[[float], Scores]
    to_reach: Scores
    below: Scores
    above: Scores


@dataclass(frozen=True, eq=False)
class Adjusted:
    """Adjusted p-values, (H,), and the bands of simultaneous intervals, if there are any.

    With several bands, an adjusted p is at most α only if all of them exclude 0.
    """

    pvalues: Scores
    bands: tuple[Band, ...] = ()


def _monotone(order: NDArray[np.intp], pvalues: Scores) -> Scores:
    """The running maximum of the p-values in this order, at most 1: (m,)."""
    adjusted = np.empty_like(pvalues)
    adjusted[order] = np.minimum(np.maximum.accumulate(pvalues[order]), 1)
    return adjusted


def bonferroni(pvalues: Scores) -> Scores:
    """m·p for m p-values: (m,) in and out. Dunn 1961, doi:10.1080/01621459.1961.10482090.

    >>> bonferroni(np.array([0.01, 0.4])).tolist()
    [0.02, 0.8]
    """
    return np.minimum(len(pvalues) * pvalues, 1)


def holm(pvalues: Scores) -> Scores:
    """(m − j + 1)·p for the j-th smallest of m p-values, then the running maximum: (m,) in and out. Holm 1979.

    >>> holm(np.array([0.03, 0.01, 0.02])).tolist()
    [0.04, 0.03, 0.04]
    """
    order = np.argsort(pvalues, kind="stable")
    factors = np.empty(len(pvalues))
    factors[order] = np.arange(len(pvalues), 0, -1)
    return _monotone(order, factors * pvalues)


def sidak(pvalues: Scores) -> Scores:
    """1 − (1 − p)^m for m p-values: (m,) in and out. Exact for independent tests. Šidák 1967.

    >>> sidak(np.array([0.01, 0.4])).round(4).tolist()
    [0.0199, 0.64]
    """
    with np.errstate(divide="ignore"):  # log 0 for p = 1, whose adjusted p is 1
        return np.asarray(-np.expm1(len(pvalues) * np.log1p(-pvalues)))


def hochberg(pvalues: Scores) -> Scores:
    """(m − j + 1)·p for the j-th smallest of m p-values, then the running minimum from the largest. Hochberg 1988.

    >>> hochberg(np.array([0.03, 0.01, 0.04])).tolist()
    [0.04, 0.03, 0.04]
    """
    return _step_up(pvalues, np.arange(len(pvalues), 0, -1))


def hommel(pvalues: Scores) -> Scores:
    """The largest p of Simes' tests of all intersections that contain a hypothesis: (m,) in and out. Hommel 1988.

    A set of j hypotheses is tested by min_i j·p_(i)/i. Of the sets that contain a given hypothesis, the one with the
    largest p consists of it and the j − 1 others with the largest p-values. Cost: m² operations.

    >>> hommel(np.array([0.01, 0.04, 0.2])).round(10).tolist()
    [0.03, 0.08, 0.2]
    """
    m = len(pvalues)
    order = np.argsort(pvalues, kind="stable")
    p = adjusted = pvalues[order]
    for j in range(2, m + 1):
        # The j − 1 largest p-values, which are the second, third, … of any intersection.
        largest = p[m - j + 1 :]
        of_others = (j * largest / np.arange(2, j + 1)).min()
        simes = np.minimum(j * p[: m - j + 1], of_others)
        # One of the j − 1 largest is in the intersection of the j largest, which is the last of these.
        adjusted = np.maximum(adjusted, np.concatenate([simes, np.full(j - 1, simes[-1])]))
    out = np.empty(m)
    out[order] = np.minimum(adjusted, 1)
    return out


def benjamini_hochberg(pvalues: Scores) -> Scores:
    """m·p/j for the j-th smallest of m p-values, then the running minimum from the largest: (m,) in and out.

    Benjamini & Hochberg 1995.

    >>> benjamini_hochberg(np.array([0.03, 0.01, 0.02])).round(10).tolist()
    [0.03, 0.03, 0.03]
    """
    return _step_up(pvalues, len(pvalues) / np.arange(1, len(pvalues) + 1))


def benjamini_yekutieli(pvalues: Scores) -> Scores:
    """Benjamini and Hochberg's times 1 + 1/2 + … + 1/m: (m,) in and out. Benjamini & Yekutieli 2001.

    >>> benjamini_yekutieli(np.array([0.02, 0.01])).round(10).tolist()
    [0.03, 0.03]
    """
    ranks = np.arange(1, len(pvalues) + 1)
    return _step_up(pvalues, (1 / ranks).sum() * len(pvalues) / ranks)


def _step_up(pvalues: Scores, factors: NDArray[Any]) -> Scores:
    """The sorted p-values times factors, then the running minimum from the largest, at most 1: (m,)."""
    order = np.argsort(pvalues, kind="stable")
    adjusted = np.empty_like(pvalues)
    adjusted[order] = np.minimum.accumulate((factors * pvalues[order])[::-1])[::-1]
    return np.minimum(adjusted, 1)


def max_t_of_shuffles(tests: Unadjusted) -> Adjusted:
    """Step-down maxT of shuffles, with each difference divided by its standard deviation over the shuffles.

    p̃_(j) = (1 + #{r : max_{l ≥ j} t_r,(l) ≥ t_(j)})/(R + 1) for the j-th most extreme statistic, then the running
    maximum. Westfall & Young 1993, algorithm 4.1. It takes the dependence between the tests into account, so it usually
    has more power than Bonferroni and Holm.
    """
    observed, (spreads,) = tests.observed, tests.outcome.extra
    hypotheses, alternative = observed.hypotheses, observed.alternative
    # The statistic of identical systems is always 0. A scale of 0 makes every shuffle reach it, so p is 1.
    scales = np.divide(1, spreads, out=np.zeros_like(spreads), where=spreads > 0)
    thresholds = hypotheses.table(extremeness_to_reach(observed.thresholds, alternative)) * scales
    if not _reductions_suffice(observed):
        factors = scales.ravel()

        def series(order: Sequence[int]) -> Iterator[Scores]:
            for h, statistics in zip(order, _statistics(observed, order), strict=True):
                yield extremeness(statistics, alternative) * factors[h]

        pvalues, _ = step_down_max(observed, thresholds.ravel(), series)
        return Adjusted(pvalues)
    reduction = MaxT(alternative, scales, thresholds, hypotheses.family_of_metric)
    (counts,) = observed.replicates.run([reduction], hypotheses.pairs)
    return Adjusted(_step_down(observed, counts.ravel(), -thresholds.ravel()))


def min_p_of_shuffles(tests: Unadjusted) -> Adjusted:
    """Step-down minP: as maxT, but each shuffle's statistic is replaced by its p among all shuffles.

    Westfall & Young 1993, algorithm 2.8; Ge, Dudoit & Speed 2003 (doi:10.1007/BF02595811), box 4. All tests have the
    same weight, whatever their null distributions. Because p is a multiple of 1/(R + 1), many tests need many shuffles.
    """
    observed, table = tests.observed, tests.observed.hypotheses.table
    alternative = observed.alternative
    to_reach = extremeness_to_reach(observed.thresholds, alternative)
    ranks = tests.outcome.exceedances + 1
    if not _reductions_suffice(observed):

        def series(order: Sequence[int]) -> Iterator[Scores]:
            return (extremeness(statistics, alternative) for statistics in _statistics(observed, order))

        return Adjusted(step_down_min(observed, (to_reach, observed.tolerances), ranks, series))
    families = observed.hypotheses.family_of_metric
    reduction = MinP(alternative, table(to_reach), table(observed.tolerances), table(ranks), families)
    (counts,) = observed.replicates.run([reduction], observed.hypotheses.pairs)
    return Adjusted(_step_down(observed, counts.ravel(), ranks))


def _reductions_suffice(observed: Observed) -> bool:
    """Can reductions compare the hypotheses of each family? With several metrics, only if one pass has all of them."""
    families = observed.hypotheses.family_of_metric
    return len(np.unique(families)) == len(families) or observed.replicates.in_one_pass(observed.hypotheses.pairs)


# The most statistics of shuffles to hold in memory: 128 MB.
STATISTICS_AT_ONCE = 1 << 24


def _statistics(observed: Observed, order: Sequence[int]) -> Iterator[Scores]:
    """The statistics of the hypotheses with these indices on every shuffle, (R,) each, in this order."""
    hypotheses, replicates = observed.hypotheses, observed.replicates
    by_metric = [replicates.with_samples([sample]) for sample in replicates.samples]
    at_once = max(1, STATISTICS_AT_ONCE // replicates.n_resamples)
    metrics, pairs = hypotheses.metric.tolist(), hypotheses.pairs
    for first in range(0, len(order), at_once):
        chunk = order[first : first + at_once]
        found: dict[int, Scores] = {}
        for m in sorted({metrics[h] for h in chunk}):
            of_metric = [h for h in chunk if metrics[h] == m]
            (statistics,) = by_metric[m].run([Series()], [pairs[h % len(pairs)] for h in of_metric])
            found.update(zip(of_metric, statistics[0], strict=True))
        for h in chunk:
            yield found.pop(h)


def max_t_of_centred_draws(tests: Unadjusted) -> Adjusted:
    """Step-down maxT of bootstrap draws: as that of shuffles, with (d_b − d)/se as the statistic of draw b.

    d_b is the pair's difference on the draw, d the observed one, and se the standard deviation of its d_b. Westfall &
    Young 1993, algorithm 4.1, on deviations as in Hall & Wilson 1991 (doi:10.2307/2532163).

    A family of one hypothesis keeps its p, because a test may count draws differently. Memory: a few arrays of R
    numbers, for any number of pairs.
    """
    return _max_t_of_draws(tests, _CentredDraws(tests.observed))


def max_t_of_percentiles(tests: Unadjusted) -> Adjusted:
    """Step-down maxT of bootstrap draws for ``bootstrap-percentile``, which counts draws on the other side of 0.

    The statistic of draw b is (d − d_b)/s, and the observed one is its value at d_b = 0, d/s. The scale s is the root
    mean square of the deviations on the same side of d as d_b (or 0), because percentiles follow the skewness of the
    draws. Beran 1988 (Journal of the American Statistical Association 83) makes statistics comparable by their ranks,
    which need far more draws than scales.
    """
    return _max_t_of_draws(tests, _DrawsBySide(tests.observed))


def max_t_of_both(tests: Unadjusted) -> Adjusted:
    """The larger of the adjusted p-values of :func:`max_t_of_centred_draws` and :func:`max_t_of_percentiles`.

    Near a kink of the metric, either of them alone rejects too often (:func:`reshuffle.inference.bootstrap.both`).
    """
    centred, percentiles = max_t_of_centred_draws(tests), max_t_of_percentiles(tests)
    return Adjusted(np.maximum(centred.pvalues, percentiles.pvalues), (*centred.bands, *percentiles.bands))


def _max_t_of_draws(tests: Unadjusted, draws: _StandardizedDraws) -> Adjusted:
    observed = tests.observed
    pvalues, largest = step_down_max(observed, draws.to_reach, draws.extremeness)
    for family in observed.hypotheses.families():
        if family.stop - family.start == 1:
            pvalues[family] = tests.outcome.pvalue[family]
    return Adjusted(pvalues, (Band(partial(critical_values, largest), draws.to_reach, draws.below, draws.above),))


def critical_values(largest: Sequence[Scores], alpha: float) -> Scores:
    """The k-th largest of the (R,) maxima of each family, k = ⌊α(R + 1)⌋: (families,)."""
    rank = rank_for_intervals(len(largest[0]), alpha)
    return np.array([np.partition(maxima, -rank)[-rank] for maxima in largest])


def rank_for_intervals(n_resamples: int, alpha: float, tails: int = 1) -> int:
    """The largest k with ``tails``·k/(R + 1) ≤ α; :class:`InputError` if it is 0."""
    rank = largest_rank(n_resamples + 1, alpha, tails)
    if rank == 0:
        needed = math.ceil(tails / alpha - 1e-9) - 1
        raise InputError(
            f"simultaneous intervals need at least {needed:,} replicates at confidence level {1 - alpha:.10g}, got "
            f"{n_resamples:,}: increase n_resamples (-n)"
        )
    return rank


class _StandardizedDraws(ABC):
    """The deviations of each pair's draws from the observed difference, divided by their scales, as extremeness.

    ``below`` and ``above``, (H,), are the scales of deviations on either side, 0 if the draws differ by no more than
    rounding errors. ``to_reach``, (H,), is the extremeness of the observed differences. It is infinite where all draws
    equal a difference other than 0; such a pair adds nothing to a maximum.
    """

    def __init__(self, observed: Observed) -> None:
        n = len(observed.hypotheses)
        self.observed = observed
        self.progress, self.done = observed.replicates.progress or Progress(), 0
        self.progress.begin("adjusting", 2 * n)
        self.below, self.above = np.array([self._checked_scales(h) for h in range(n)]).T
        towards_0 = np.where(observed.statistic > 0, self.below, self.above)
        to_reach = extremeness_to_reach(observed.thresholds, observed.alternative)
        self.to_reach = np.divide(to_reach, towards_0, out=np.zeros(n), where=towards_0 > 0)
        constant = (towards_0 == 0) & (np.abs(observed.statistic) > observed.tolerances)
        self.to_reach[constant] = np.inf * extremeness(observed.statistic[constant], observed.alternative)

    def _step(self) -> None:
        self.done += 1
        self.progress.update(self.done)

    def _deviations(self, h: int) -> Scores:
        self._step()
        return np.asarray(self.observed.drawn_differences(h) - self.observed.statistic[h])

    def _checked_scales(self, h: int) -> tuple[float, float]:
        deviations = self._deviations(h)
        return self.scales(deviations) if np.ptp(deviations) > self.observed.tolerances[h] else (0.0, 0.0)

    @abstractmethod
    def scales(self, deviations: Scores) -> tuple[float, float]:
        """The scale of deviations below 0, and of those above."""

    @abstractmethod
    def standardized(self, h: int, deviations: Scores) -> Scores:
        """The deviations of a pair divided by their scale, with the sign that the test gives them."""

    def extremeness(self, order: Sequence[int]) -> Iterator[Scores]:
        """The extremeness of the pairs with these indices on every draw: (R,) each."""
        for h in order:
            deviations = self._deviations(h)
            if np.isfinite(self.to_reach[h]):
                yield extremeness(self.standardized(h, deviations), self.observed.alternative)
            else:
                yield np.full_like(deviations, -np.inf)


class _CentredDraws(_StandardizedDraws):
    """d_b − d, divided by its standard deviation."""

    def scales(self, deviations: Scores) -> tuple[float, float]:
        """See :class:`_StandardizedDraws`."""
        return (float(deviations.std()),) * 2

    def standardized(self, h: int, deviations: Scores) -> Scores:
        """See :class:`_StandardizedDraws`. 0 for identical systems, so that all draws count."""
        return deviations / self.below[h] if self.below[h] > 0 else np.zeros_like(deviations)


class _DrawsBySide(_StandardizedDraws):
    """d − d_b, divided by the root mean square of the deviations on the same side of d."""

    def scales(self, deviations: Scores) -> tuple[float, float]:
        """See :class:`_StandardizedDraws`. A side without draws has the standard deviation."""
        below, above = (math.sqrt(2 * float((side(deviations, 0) ** 2).mean())) for side in (np.minimum, np.maximum))
        spread = float(deviations.std())
        return below or spread, above or spread

    def standardized(self, h: int, deviations: Scores) -> Scores:
        """See :class:`_StandardizedDraws`. 0 for identical systems, so that all draws count."""
        if self.below[h] == 0:
            return np.zeros_like(deviations)
        return np.asarray(-deviations / np.where(deviations < 0, self.below[h], self.above[h]))


def step_down_max(observed: Observed, to_reach: Scores, series: SeriesInOrder) -> tuple[Scores, tuple[Scores, ...]]:
    """Step-down maxT from the extremeness of all replicates.

    ``to_reach``, (H,), is how extreme the observed statistics are. ``series`` iterates over how extreme those of the
    replicates are, (R,), for hypotheses in the order of their indices. It is called once for each family. Returns the
    adjusted p-values, and how extreme the most extreme statistic of each family is on every replicate, (R,) each.
    """
    counts, maxima = np.empty(len(to_reach), dtype=np.int64), []
    for family in observed.hypotheses.families():
        order = _order(family, to_reach[family])
        largest = np.full(observed.replicates.n_resamples, -np.inf)
        for h, extreme in zip(order, series(order), strict=True):
            np.maximum(largest, extreme, out=largest)
            counts[h] = (largest >= to_reach[h]).sum()
        maxima.append(largest)
    return _step_down(observed, counts, -to_reach), tuple(maxima)


def step_down_min(
    observed: Observed, thresholds: tuple[Scores, Scores], ranks: NDArray[np.int64], series: SeriesInOrder
) -> Scores:
    """Adjusted p-values by step-down minP, (H,). ``series`` is that of :func:`step_down_max`.

    ``thresholds`` are how extreme the observed statistics are and the tolerances that have been subtracted, (H,) each.
    ``ranks``, (H,), are the positions of the observed statistics among the replicates, the most extreme first.
    """
    counts = np.empty(len(ranks), dtype=np.int64)
    to_reach, tolerances = (values.tolist() for values in thresholds)
    for family in observed.hypotheses.families():
        order = _order(family, -ranks[family])
        smallest = np.full(observed.replicates.n_resamples, np.iinfo(np.int64).max)
        for h, extreme in zip(order, series(order), strict=True):
            np.minimum(smallest, ranks_among_all(extreme, to_reach[h], tolerances[h]), out=smallest)
            counts[h] = (smallest <= ranks[h]).sum()
    return _step_down(observed, counts, ranks)


def _order(family: slice, keys: NDArray[Any]) -> list[int]:
    """The indices of a family in ascending order of the keys, of equal ones the last first."""
    order: list[int] = (family.start + np.lexsort((-np.arange(len(keys)), keys))).tolist()
    return order


def _step_down(observed: Observed, counts: NDArray[np.int64], keys: NDArray[Any]) -> Scores:
    """Adjusted p-values, (H,), from the exceedances of each step. Steps are in ascending order of ``keys``: (H,)."""
    adjusted = pvalue(counts, observed.replicates.n_resamples)
    for family in observed.hypotheses.families():
        adjusted[family] = _monotone(np.argsort(keys[family], kind="stable"), adjusted[family])
    return adjusted


def extremeness_to_reach(thresholds: Scores, alternative: str) -> Scores:
    """Thresholds on the scale of :func:`~reshuffle.resampling.extremeness`."""
    if alternative == "two-sided":
        return np.maximum(thresholds, 0)  # the tolerance for rounding makes the threshold of 0 negative
    return extremeness(thresholds, alternative)


@dataclass(frozen=True)
class StepDown:
    """An adjustment from the replicates of a test.

    Attributes
    ----------
    adjust : callable
        From the unadjusted tests to the adjusted p-values.
    extra : sequence of Reduction
        Reductions of the test's own shuffles that it needs.
    run : callable or None
        The test itself, if it makes the adjustment in the same pass over the replicates. Otherwise
        :attr:`reshuffle.inference.tests.SignificanceTest.run` is used.
    has_bands : bool
        Whether there are simultaneous intervals (:attr:`Adjusted.bands`).
    dual : str or None
        The name of the interval of a single difference that excludes 0 if, and only if, the test's own p is at most α;
        None if the bands alone ensure that this p is at most α where they exclude 0.
    per_metric : bool
        Whether it compares scores under the same metric only, so that a family cannot have several metrics.
    """

    adjust: Callable[[Unadjusted], Adjusted]
    extra: Sequence[Reduction[Any, Any]] = ()
    run: Callable[[Observed], Outcome] | None = None
    has_bands: bool = False
    dual: str | None = None
    per_metric: bool = False


MAX_T_OF_SHUFFLES = StepDown(max_t_of_shuffles, extra=(Spread(),))
MIN_P_OF_SHUFFLES = StepDown(min_p_of_shuffles)
MAX_T_OF_CENTRED_DRAWS = StepDown(max_t_of_centred_draws, has_bands=True)
MAX_T_OF_PERCENTILES = StepDown(max_t_of_percentiles, has_bands=True, dual="percentile")
MAX_T_OF_BOTH = StepDown(max_t_of_both, has_bands=True, dual="percentile")


# Which adjusted p-values may lie on either side of α, from the 95% interval of the p-value or count behind each.


def _undecided_by_bonferroni(tests: Sequence[SignificanceResult], alpha: float) -> list[int]:
    """m·p may lie on either side of α where p may lie on either side of α/m."""
    return [index for index, test in enumerate(tests) if test.may_lie_across(alpha / len(tests))]


def _undecided_by_holm(tests: Sequence[SignificanceResult], alpha: float) -> list[int]:
    """In ascending order of p, the j-th p is compared with α/(m − j + 1), and each rejection needs those before it."""
    undecided: list[int] = []
    order = sorted(range(len(tests)), key=lambda index: float(tests[index].pvalue))
    for rank, index in enumerate(order):
        level = alpha / (len(tests) - rank)
        across = tests[index].may_lie_across(level)
        if not across and tests[index].pvalue > level:
            break  # neither this hypothesis nor one with a larger p is rejected
        if across or undecided:
            undecided.append(index)
    return undecided


def _by_ends(of_pvalues: Callable[[Scores], Scores]) -> Callable[[Sequence[SignificanceResult], float], list[int]]:
    """Adjust the low ends of the intervals of all p-values, and the high ends: α may lie between both results."""

    def undecided(tests: Sequence[SignificanceResult], alpha: float) -> list[int]:
        intervals = [test.pvalue_interval for test in tests]
        low, high = (
            of_pvalues(
                np.array(
                    [
                        float(test.pvalue if interval is None else getattr(interval, end))
                        for test, interval in zip(tests, intervals, strict=True)
                    ]
                )
            )
            for end in ("low", "high")
        )
        found: list[int] = np.flatnonzero((low < alpha) & (alpha < high)).tolist()
        return found

    return undecided


def _undecided_by_max_t(tests: Sequence[SignificanceResult], alpha: float) -> list[int]:
    """The adjusted p is (c + 1)/(R + 1) for a count of its own, c, or the unadjusted p if that is larger.

    Without replicates nothing is left open.
    """

    def across(test: SignificanceResult) -> bool:
        if test.n_resamples is None or test.adjusted_pvalue is None:
            return False
        if test.adjusted_pvalue == test.pvalue:
            return test.may_lie_across(alpha)
        count = round(test.adjusted_pvalue * (test.n_resamples + 1)) - 1
        return may_lie_across(count, test.n_resamples, alpha)

    return [index for index, test in enumerate(tests) if across(test)]


def _undecided_by_min_p(tests: Sequence[SignificanceResult], alpha: float) -> list[int]:
    """The adjusted p is the share of shuffles whose smallest p is at most p, and changes at most in proportion to p.

    The relative Monte Carlo error of p is the larger one, because p has fewer exceedances than this share.
    """

    def across(test: SignificanceResult) -> bool:
        adjusted = test.adjusted_pvalue
        return adjusted is not None and test.may_lie_across(alpha * test.pvalue / adjusted)

    return [index for index, test in enumerate(tests) if across(test)]


@dataclass(frozen=True)
class Adjustment:
    """An entry of the registry.

    Attributes
    ----------
    name, title, about, source : str
        The name that users type, the name in reports, a description, and the paper.
    undecided : callable
        From the tests of one family and α to the indices of those for which Monte Carlo error leaves open whether the
        adjusted p is at most α.
    of_pvalues : callable or None
        From the p-values of a family to adjusted p-values, (m,) in and out. None if it is computed from replicates, by
        the :class:`StepDown` of the test.
    rate : str
        The error rate that it controls: ``FAMILY_WISE`` or ``FALSE_DISCOVERY``.
    multiplies : bool
        Whether the smallest of m p-values becomes up to m times as large, so that m tests need m times as many
        replicates.
    """

    name: str
    title: str
    about: str
    source: str
    undecided: Callable[[Sequence[SignificanceResult], float], list[int]]
    of_pvalues: Callable[[Scores], Scores] | None = None
    rate: str = FAMILY_WISE
    multiplies: bool = True

    @property
    def from_replicates(self) -> bool:
        """Does it need the replicates of the test, and not only the p-values?"""
        return self.of_pvalues is None

    def adjust(self, tests: Unadjusted, step_down: StepDown | None) -> Adjusted:
        """The adjusted p-values, none of which is smaller than its p. ``step_down`` is that of the test.

        A step-down adjustment may count other replicates than the test's own p, which can then be the larger one.
        """
        p = tests.outcome.pvalue
        if self.of_pvalues is not None:
            families = tests.observed.hypotheses.families()
            adjusted = Adjusted(np.concatenate([self.of_pvalues(p[family]) for family in families]))
        else:
            assert step_down is not None
            adjusted = step_down.adjust(tests)
        return replace(adjusted, pvalues=np.maximum(adjusted.pvalues, p))


ADJUSTMENTS: Mapping[str, Adjustment] = {
    adjustment.name: adjustment
    for adjustment in (
        Adjustment(
            "bonferroni",
            "Bonferroni",
            "p times the number of tests in the family",
            "doi:10.1080/01621459.1961.10482090",
            _undecided_by_bonferroni,
            of_pvalues=bonferroni,
        ),
        Adjustment(
            "holm",
            "Holm",
            "Bonferroni in steps from the smallest p; rejects whatever Bonferroni rejects, and sometimes more",
            "Holm 1979, Scandinavian Journal of Statistics 6",
            _undecided_by_holm,
            of_pvalues=holm,
        ),
        Adjustment(
            "sidak",
            "Šidák",
            "1 - (1 - p)^m for m tests; slightly smaller than Bonferroni's p, exact for independent tests",
            "doi:10.1080/01621459.1967.10482935",
            _by_ends(sidak),
            of_pvalues=sidak,
        ),
        Adjustment(
            "hochberg",
            "Hochberg",
            "Holm's factors, starting from the largest p; for independent or positively dependent tests",
            "doi:10.1093/biomet/75.4.800",
            _by_ends(hochberg),
            of_pvalues=hochberg,
        ),
        Adjustment(
            "hommel",
            "Hommel",
            "Simes' tests of all sets of hypotheses; p never larger than Hochberg's, under the same conditions",
            "doi:10.1093/biomet/75.2.383",
            _by_ends(hommel),
            of_pvalues=hommel,
        ),
        Adjustment(
            "bh",
            "Benjamini-Hochberg",
            "false discovery rate, for independent or positively dependent tests",
            "doi:10.1111/j.2517-6161.1995.tb02031.x",
            _by_ends(benjamini_hochberg),
            of_pvalues=benjamini_hochberg,
            rate=FALSE_DISCOVERY,
        ),
        Adjustment(
            "by",
            "Benjamini-Yekutieli",
            "false discovery rate, for any dependence between the tests",
            "doi:10.1214/aos/1013699998",
            _by_ends(benjamini_yekutieli),
            of_pvalues=benjamini_yekutieli,
            rate=FALSE_DISCOVERY,
        ),
        Adjustment(
            "maxt",
            "step-down maxT",
            "compares with the largest standardized difference of each replicate; accounts for dependence between "
            "tests; for ar, ar-studentized, bootstrap, bootstrap-percentile and bootstrap-both",
            "Westfall & Young 1993",
            _undecided_by_max_t,
            multiplies=False,
        ),
        Adjustment(
            "minp",
            "step-down minP",
            "compares with the smallest p of each shuffle; for ar and ar-studentized; needs many shuffles",
            "Westfall & Young 1993; doi:10.1007/BF02595811",
            _undecided_by_min_p,
        ),
        Adjustment(
            "tukey",
            "Tukey's HSD",
            "compares with the range of the scores of all systems; for anova and permutation; assumes that all systems "
            "have the same variance",
            "Tukey 1953; doi:10.1145/2094072.2094076",
            _undecided_by_max_t,
            multiplies=False,
        ),
        Adjustment(
            "scheffe",
            "Scheffé",
            "compares with the most extreme of all contrasts between systems; for anova; for pairs, p is never "
            "smaller than Tukey's",
            "doi:10.1093/biomet/40.1-2.87",
            _undecided_by_max_t,
            multiplies=False,
        ),
    )
}
