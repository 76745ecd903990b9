"""Step-down adjustments from replicates: maxT and minP (Westfall & Young 1993), and what simultaneous intervals need.

They depend on the test: :attr:`reshuffle.inference.tests.SignificanceTest.step_down` has a :class:`StepDown` for each
adjustment that the test supports.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .._core import Progress
from ..errors import Argument, InputError
from ..metrics.base import Scores
from ..resampling import MaxT, MinP, Reduction, Replicates, Series, Spread, extremeness, is_two_sided, ranks_among_all
from ..resampling.reductions import Alternative
from .enough import fewest
from .hypotheses import Observed, Outcome
from .pvalues import largest_rank, pvalue

# Iterates over the extremeness of hypotheses, (R,), in the order of the indices that it gets.
SeriesInOrder: TypeAlias = Callable[[Sequence[int]], Iterator[Scores]]

# From deviations of draws to the scales of those below 0 and above.
Scales: TypeAlias = Callable[[Scores], tuple[float, float]]


@dataclass(frozen=True, eq=False)
class Band:
    """What simultaneous intervals need from an adjustment that compares |d|/scale with a critical value."""

    critical: Callable[[float], Scores]
    """From α to the critical value of each family: (families,)."""
    to_reach: Scores
    """Shape (H,). |d| divided by its scale. The single-step adjusted p is at most α exactly if the critical value is
    smaller.
    """
    below: Scores
    """Shape (H,). The scales of the deviations below and above each difference."""
    above: Scores
    """Shape (H,)."""


@dataclass(frozen=True, eq=False)
class Adjusted:
    """Adjusted p-values, (H,), and the bands of simultaneous intervals, if there are any.

    With several bands, an adjusted p is at most α only if all of them exclude 0.
    """

    pvalues: Scores
    bands: tuple[Band, ...] = ()


@dataclass(frozen=True)
class StepDown:
    """An adjustment from the replicates of a test."""

    adjust: Callable[[Observed, Outcome], Adjusted]
    """From the observed data and the outcome of the tests to the adjusted p-values."""
    extra: Sequence[Reduction] = ()
    """Reductions of the test's own shuffles that it needs."""
    reads_series: bool = False
    """Whether a :class:`Series` of the test's own shuffles, as the last reduction, saves it passes over the shuffles.
    """
    run: Callable[[Observed], Outcome] | None = None
    """The test itself, if it makes the adjustment in the same pass over the replicates. Otherwise
    :attr:`reshuffle.inference.tests.SignificanceTest.run` is used.
    """
    has_bands: bool = False
    """Whether there are simultaneous intervals (:attr:`Adjusted.bands`)."""
    dual: str | None = None
    """The name of the interval of a single difference that excludes 0 if, and only if, the test's own p is at most α;
    None if the bands alone ensure that this p is at most α where they exclude 0.
    """
    per_metric: bool = False
    """Whether it compares scores under the same metric only, so that a family cannot have several metrics."""

    def reductions(self, n_hypotheses: int, n_resamples: int) -> Sequence[Reduction]:
        """The reductions of the test's own shuffles, with the statistics of all shuffles if they need little memory."""
        return (*self.extra, Series()) if self.keeps_statistics(n_hypotheses, n_resamples) else self.extra

    def keeps_statistics(self, n_hypotheses: int, n_resamples: int) -> bool:
        """Whether the statistics of the test's own shuffles are kept, so that they need not be shuffled again."""
        return self.reads_series and n_hypotheses * n_resamples <= STATISTICS_TO_KEEP


def running_maximum(order: NDArray[np.intp], pvalues: Scores) -> Scores:
    """The running maximum of the p-values in this order, at most 1: (m,)."""
    adjusted = np.empty_like(pvalues)
    adjusted[order] = np.minimum(np.maximum.accumulate(pvalues[order]), 1)
    return adjusted


def max_t_of_shuffles(observed: Observed, outcome: Outcome) -> Adjusted:
    """Step-down maxT of shuffles, with each difference divided by its standard deviation over the shuffles.

    p̃_(j) = (1 + #{r : max_{l ≥ j} t_r,(l) ≥ t_(j)})/(R + 1) for the j-th most extreme statistic, then the running
    maximum. Westfall & Young 1993, algorithm 4.1. It takes the dependence between the tests into account, so it usually
    has more power than Bonferroni and Holm.
    """
    spreads, *kept = outcome.extra
    hypotheses, alternatives = observed.hypotheses, observed.each_alternative
    n = observed.replicates.n_resamples
    # The statistic of identical systems is always 0. A scale of 0 makes every shuffle reach it, so p is 1.
    scales = np.divide(1, spreads, out=np.zeros_like(spreads), where=spreads > 0)
    thresholds = hypotheses.table(extremeness_to_reach(observed.thresholds, alternatives)) * scales
    if kept or not _reductions_suffice(observed):
        factors = scales.ravel()
        by_hypothesis = [statistics for of_metric in kept[0] for statistics in of_metric] if kept else []

        def series(order: Sequence[int]) -> Iterator[Scores]:
            in_order = (by_hypothesis[h] for h in order) if kept else _statistics(observed, order)
            for h, statistics in zip(order, in_order, strict=True):
                yield extremeness(statistics, alternatives[h]) * factors[h]

        pvalues, _ = step_down_max(hypotheses.families(), n, thresholds.ravel(), series)
        return Adjusted(pvalues)
    reduction = MaxT(observed.alternatives, scales, thresholds, hypotheses.family_of_metric)
    (counts,) = observed.replicates.run([reduction], hypotheses.pairs)
    return Adjusted(_step_down(hypotheses.families(), pvalue(counts.ravel(), n), -thresholds.ravel()))


def min_p_of_shuffles(observed: Observed, outcome: Outcome) -> Adjusted:
    """Step-down minP: as maxT, but each shuffle's statistic is replaced by its p among all shuffles.

    Westfall & Young 1993, algorithm 2.8; Ge, Dudoit & Speed 2003 (doi:10.1007/BF02595811), box 4. All tests have the
    same weight, whatever their null distributions. Because p is a multiple of 1/(R + 1), many tests need many shuffles.
    """
    table, alternatives = observed.hypotheses.table, observed.each_alternative
    to_reach = extremeness_to_reach(observed.thresholds, alternatives)
    ranks = outcome.exceedances + 1
    if not observed.replicates.in_one_pass(observed.hypotheses.pairs):

        def series(order: Sequence[int]) -> Iterator[Scores]:
            return map(extremeness, _statistics(observed, order), alternatives[order])

        return Adjusted(step_down_min(observed, (to_reach, observed.tolerances), ranks, series))
    families = observed.hypotheses.family_of_metric
    reduction = MinP(observed.alternatives, table(to_reach), table(observed.tolerances), table(ranks), families)
    (counts,) = observed.replicates.run([reduction], observed.hypotheses.pairs)
    pvalues = pvalue(counts.ravel(), observed.replicates.n_resamples)
    return Adjusted(_step_down(observed.hypotheses.families(), pvalues, ranks))


def _reductions_suffice(observed: Observed) -> bool:
    """Can reductions compare the hypotheses of each family? With several metrics, only if one pass has all of them."""
    families = observed.hypotheses.family_of_metric
    return len(np.unique(families)) == len(families) or observed.replicates.in_one_pass(observed.hypotheses.pairs)


# The most statistics of shuffles to hold in memory: 128 MB.
STATISTICS_AT_ONCE = 1 << 24
# The most to keep of the test's own shuffles, to save a second pass: 32 MB.
STATISTICS_TO_KEEP = 1 << 22


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


def max_t_of_centred_draws(observed: Observed, outcome: Outcome) -> Adjusted:
    """Step-down maxT of bootstrap draws: as that of shuffles, with (d_b − d)/se as the statistic of draw b.

    d_b is the pair's difference on the draw, d the observed one, and se the standard deviation of its d_b. Westfall &
    Young 1993, algorithm 4.1, on deviations as in Hall & Wilson 1991 (doi:10.2307/2532163).

    A family of one hypothesis keeps its p, because a test may count draws differently. Memory: a few arrays of R
    numbers, for any number of pairs.
    """
    return _max_t_of_draws(observed, outcome, standard_deviation, 1)


def max_t_of_percentiles(observed: Observed, outcome: Outcome) -> Adjusted:
    """Step-down maxT of bootstrap draws for ``bootstrap-percentile``, which counts draws on the other side of 0.

    The statistic of draw b is (d − d_b)/s, and the observed one is its value at d_b = 0, d/s. The scale s is the root
    mean square of the deviations on the same side of d as d_b (or 0), because percentiles follow the skewness of the
    draws. Beran 1988 (Journal of the American Statistical Association 83) makes statistics comparable by their ranks,
    which need far more draws than scales.
    """
    return _max_t_of_draws(observed, outcome, root_mean_squares, -1)


def max_t_of_both(observed: Observed, outcome: Outcome) -> Adjusted:
    """The larger of the adjusted p-values of :func:`max_t_of_centred_draws` and :func:`max_t_of_percentiles`.

    Near a kink of the metric, either of them alone rejects too often (:func:`reshuffle.inference.bootstrap.both`).
    """
    centred, percentiles = max_t_of_centred_draws(observed, outcome), max_t_of_percentiles(observed, outcome)
    return Adjusted(np.maximum(centred.pvalues, percentiles.pvalues), (*centred.bands, *percentiles.bands))


def _max_t_of_draws(observed: Observed, outcome: Outcome, scales: Scales, sign: int) -> Adjusted:
    draws = _StandardizedDraws(observed, scales, sign)
    families, n = observed.hypotheses.families(), observed.replicates.n_resamples
    pvalues, largest = step_down_max(families, n, draws.to_reach, draws.extremeness)
    for family in families:
        if family.stop - family.start == 1:
            pvalues[family] = outcome.pvalue[family]
    return Adjusted(pvalues, (Band(partial(critical_values, largest), draws.to_reach, draws.below, draws.above),))


def critical_values(largest: Sequence[Scores], alpha: float) -> Scores:
    """The k-th largest of the (R,) maxima of each family, k = ⌊α(R + 1)⌋: (families,)."""
    rank = rank_for_intervals(len(largest[0]), alpha)
    return np.array([np.partition(maxima, -rank)[-rank] for maxima in largest])


def rank_for_intervals(n_resamples: int, alpha: float, tails: int = 1) -> int:
    """The largest k with ``tails``·k/(R + 1) ≤ α; :class:`InputError` if it is 0."""
    rank = largest_rank(n_resamples + 1, alpha, tails)
    if rank == 0:
        raise InputError(
            f"simultaneous intervals need at least {fewest(alpha, tails):,} replicates at confidence level "
            f"{1 - alpha:.10g}, got {n_resamples:,}: increase {{number}}",
            number=Argument("n_resamples"),
        )
    return rank


def standard_deviation(deviations: Scores) -> tuple[float, float]:
    """The standard deviation, for both sides."""
    return (float(deviations.std()),) * 2


def root_mean_squares(deviations: Scores) -> tuple[float, float]:
    """The root mean squares of the deviations below 0 and above; the standard deviation for a side without any."""
    below, above = (math.sqrt(2 * float((side(deviations, 0) ** 2).mean())) for side in (np.minimum, np.maximum))
    if below and above:
        return below, above
    spread = float(deviations.std())
    return below or spread, above or spread


def scales_of_draws(
    replicates: Replicates,
    scales: Scales,
    pair: tuple[int, int, int],
    deviations: Callable[[], Scores],
    tolerance: float,
) -> tuple[float, float]:
    """The scales of a pair's deviations below 0 and above, 0 if they differ by no more than the tolerance.

    ``pair`` has the index of the metric, and two rows of its sample. The replicates keep the scales, because
    adjustments and rankings need the same ones.
    """

    def computed() -> tuple[float, float]:
        values = deviations()
        return scales(values) if np.ptp(values) > tolerance else (0.0, 0.0)

    return replicates.once((scales, pair), computed)


class _StandardizedDraws:
    """The deviations of each pair's draws from the observed difference, divided by their scales, as extremeness.

    ``sign`` is 1 for d_b − d, and −1 for d − d_b.

    ``below`` and ``above``, (H,), are the scales of deviations on either side, 0 if the draws differ by no more than
    rounding errors. ``to_reach``, (H,), is the extremeness of the observed differences. It is infinite where all draws
    equal a difference other than 0; such a pair adds nothing to a maximum.
    """

    def __init__(self, observed: Observed, scales: Scales, sign: int) -> None:
        n = len(observed.hypotheses)
        self.observed, self.scales, self.sign = observed, scales, sign
        self.progress, self.done = observed.replicates.progress or Progress(), 0
        self.progress.begin("adjusting", 2 * n)
        self.below, self.above = np.array([self._checked_scales(h) for h in range(n)]).T
        towards_0 = np.where(observed.statistic > 0, self.below, self.above)
        to_reach = extremeness_to_reach(observed.thresholds, observed.each_alternative)
        self.to_reach = np.divide(to_reach, towards_0, out=np.zeros(n), where=towards_0 > 0)
        constant = (towards_0 == 0) & (np.abs(observed.statistic) > observed.tolerances)
        self.to_reach[constant] = np.inf * extremeness(
            observed.statistic[constant], observed.each_alternative[constant]
        )

    def _deviations(self, h: int) -> Scores:
        self.done += 1
        self.progress.update(self.done)
        return np.asarray(self.observed.drawn_differences(h) - self.observed.statistic[h])

    def _checked_scales(self, h: int) -> tuple[float, float]:
        key, tolerance = self.observed.hypotheses.indices(h), float(self.observed.tolerances[h])
        return scales_of_draws(self.observed.replicates, self.scales, key, partial(self._deviations, h), tolerance)

    def _standardized(self, h: int, deviations: Scores) -> Scores:
        """0 for identical systems, so that all draws count."""
        below, above = self.sign * self.below[h], self.sign * self.above[h]
        if below == 0:
            return np.zeros_like(deviations)
        return np.asarray(deviations / (below if below == above else np.where(deviations < 0, below, above)))

    def extremeness(self, order: Sequence[int]) -> Iterator[Scores]:
        """The extremeness of the pairs with these indices on every draw: (R,) each."""
        for h in order:
            deviations = self._deviations(h)
            if np.isfinite(self.to_reach[h]):
                yield extremeness(self._standardized(h, deviations), self.observed.each_alternative[h])
            else:
                yield np.full_like(deviations, -np.inf)


def step_down_max(
    families: Sequence[slice], n: int, to_reach: Scores, series: SeriesInOrder, *, includes_observed: bool = False
) -> tuple[Scores, tuple[Scores, ...]]:
    """Step-down maxT from the extremeness of all n replicates, among which the observed arrangement may be.

    ``to_reach``, (H,), is how extreme the observed statistics are. ``series`` iterates over how extreme those of the
    replicates are, (R,), for hypotheses in the order of their indices. It is called once for each family. Returns the
    adjusted p-values, and how extreme the most extreme statistic of each family is on every replicate, (R,) each.
    """
    counts, maxima = np.empty(len(to_reach), dtype=np.int64), []
    for family in families:
        order = _order(family, to_reach[family])
        largest = np.full(n, -np.inf)
        for h, extreme in zip(order, series(order), strict=True):
            np.maximum(largest, extreme, out=largest)
            counts[h] = np.count_nonzero(largest >= to_reach[h])
        maxima.append(largest)
    return _step_down(families, pvalue(counts, n, includes_observed), -to_reach), tuple(maxima)


def step_down_min(
    observed: Observed, thresholds: tuple[Scores, Scores], ranks: NDArray[np.int64], series: SeriesInOrder
) -> Scores:
    """Adjusted p-values by step-down minP, (H,). ``series`` is that of :func:`step_down_max`.

    ``thresholds`` are how extreme the observed statistics are and the tolerances that have been subtracted, (H,) each.
    ``ranks``, (H,), are the positions of the observed statistics among the replicates, the most extreme first.
    """
    counts = np.empty(len(ranks), dtype=np.int64)
    to_reach, tolerances = (values.tolist() for values in thresholds)
    families, n = observed.hypotheses.families(), observed.replicates.n_resamples
    for family in families:
        order = _order(family, -ranks[family])
        smallest = np.full(n, np.iinfo(np.int64).max)
        for h, extreme in zip(order, series(order), strict=True):
            np.minimum(smallest, ranks_among_all(extreme, to_reach[h], tolerances[h]), out=smallest)
            counts[h] = np.count_nonzero(smallest <= ranks[h])
    return _step_down(families, pvalue(counts, n), ranks)


def _order(family: slice, keys: NDArray[Any]) -> list[int]:
    """The indices of a family in ascending order of the keys, of equal ones the last first."""
    order: list[int] = (family.start + np.lexsort((-np.arange(len(keys)), keys))).tolist()
    return order


def _step_down(families: Sequence[slice], pvalues: Scores, keys: NDArray[Any]) -> Scores:
    """Adjusted p-values, (H,), from those of each step. Steps are in ascending order of ``keys``: (H,)."""
    adjusted = np.empty_like(pvalues)
    for family in families:
        adjusted[family] = running_maximum(np.argsort(keys[family], kind="stable"), pvalues[family])
    return adjusted


def extremeness_to_reach(thresholds: Scores, alternative: Alternative) -> Scores:
    """Thresholds on the scale of :func:`~reshuffle.resampling.extremeness`."""
    if is_two_sided(alternative):
        return np.maximum(thresholds, 0)  # the tolerance for rounding makes the threshold of 0 negative
    return extremeness(thresholds, alternative)


MAX_T_OF_SHUFFLES = StepDown(max_t_of_shuffles, extra=(Spread(),), reads_series=True)
MIN_P_OF_SHUFFLES = StepDown(min_p_of_shuffles)
MAX_T_OF_CENTRED_DRAWS = StepDown(max_t_of_centred_draws, has_bands=True)
MAX_T_OF_PERCENTILES = StepDown(max_t_of_percentiles, has_bands=True, dual="percentile")
MAX_T_OF_BOTH = StepDown(max_t_of_both, has_bands=True, dual="percentile")
