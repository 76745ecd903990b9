"""Adjustments of p-values for multiple tests, which control the family-wise error rate or the false discovery rate.

The pairs under one metric form a family. If hypotheses with an adjusted p of at most α are rejected, the probability of
any false rejection in the family (or the expected share of false ones among all rejections) is at most α, whichever
null hypotheses are true.

A new adjustment is a function here and an entry in :data:`ADJUSTMENTS`. An adjustment of p-values is for all tests. One
from replicates depends on the test: :attr:`reshuffle.inference.tests.SignificanceTest.step_down` has a
:class:`StepDown` for each that the test supports.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .._core import Progress
from ..metrics.base import Scores
from ..resampling import MaxT, MinP, Reduction, Spread, extremeness
from ..results import SignificanceResult, may_lie_across
from .hypotheses import Observed, Outcome
from .pvalues import pvalue

__all__ = [
    "ADJUSTMENTS",
    "MAX_T_OF_ALL_DRAWS",
    "MAX_T_OF_DRAWS",
    "MAX_T_OF_REFLECTED_DRAWS",
    "MAX_T_OF_SHUFFLES",
    "MIN_P_OF_SHUFFLES",
    "Adjustment",
    "StepDown",
    "Unadjusted",
    "experimentwise_error",
    "extremeness_to_reach",
    "step_down_max",
    "step_down_min",
]

# The error rates that adjustments control.
FAMILY_WISE, FALSE_DISCOVERY = "family-wise error rate", "false discovery rate"

# Iterates over the extremeness of hypotheses, (R,), in the order of the indices that it gets.
Series: TypeAlias = Callable[[Sequence[int]], Iterator[Scores]]


def experimentwise_error(level: float, n_tests: int) -> float:
    """The probability of at least one false rejection in n independent tests at this level: 1 − (1 − level)ⁿ.

    Riezler & Maxwell 2005 (W05-0908), section 4.4: it is .9954 for their 105 pairs at level .05.

    >>> round(experimentwise_error(0.05, 105), 4)
    0.9954
    """
    return -math.expm1(n_tests * math.log1p(-level))


@dataclass(frozen=True, eq=False)
class Unadjusted:
    """The tests of the hypotheses about one test set, before adjustment."""

    observed: Observed
    outcome: Outcome


def _monotone(order: NDArray[np.intp], pvalues: Scores) -> Scores:
    """The running maximum of the p-values in this order, at most 1: (pairs,)."""
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


def max_t_of_shuffles(tests: Unadjusted) -> Scores:
    """Step-down maxT, with each statistic divided by its standard deviation over the shuffles: (H,).

    p̃_(j) = (1 + #{r : max_{l ≥ j} t_r,(l) ≥ t_(j)})/(R + 1) for the j-th most extreme statistic, then the running
    maximum. Westfall & Young 1993, algorithm 4.1. It takes the dependence between the tests into account, so it usually
    has more power than Bonferroni and Holm.
    """
    observed, (spreads,) = tests.observed, tests.outcome.extra
    # The statistic of identical systems is always 0. A scale of 0 makes every shuffle reach it, so p is 1.
    scales = np.divide(1, spreads, out=np.zeros_like(spreads), where=spreads > 0)
    thresholds = observed.hypotheses.table(extremeness_to_reach(observed.thresholds, observed.alternative)) * scales
    reduction = MaxT(observed.alternative, scales, thresholds)
    (counts,) = observed.replicates.run([reduction], observed.hypotheses.pairs)
    return _step_down(observed, counts, -thresholds)


def min_p_of_shuffles(tests: Unadjusted) -> Scores:
    """Step-down minP: as maxT, but each shuffle's statistic is replaced by its p among all shuffles: (H,).

    Westfall & Young 1993, algorithm 2.8; Ge, Dudoit & Speed 2003 (doi:10.1007/BF02595811), box 4. All tests have the
    same weight, whatever their null distributions. Because p is a multiple of 1/(R + 1), many tests need many shuffles.
    """
    observed, table = tests.observed, tests.observed.hypotheses.table
    ranks = table(tests.outcome.exceedances) + 1
    reduction = MinP(observed.alternative, table(observed.thresholds), ranks)
    (counts,) = observed.replicates.run([reduction], observed.hypotheses.pairs)
    return _step_down(observed, counts, ranks)


def max_t_of_draws(tests: Unadjusted, reflected: bool = False) -> Scores:
    """Step-down maxT of bootstrap draws: as that of shuffles, with (d_b − d)/se as the statistic of draw b: (H,).

    d_b is the pair's difference on the draw, d the observed one, and se the standard deviation of its d_b. Westfall &
    Young 1993, algorithm 4.1, on deviations as in Hall & Wilson 1991 (doi:10.2307/2532163). With ``reflected`` the
    deviations are d − d_b, which for one-sided alternatives are those that ``bootstrap-percentile`` counts.

    No adjusted p is smaller than the pair's own p, which a test may count in another way, and a single pair keeps its
    p. Memory: a few arrays of R numbers, for any number of pairs.
    """
    observed, p = tests.observed, tests.outcome.pvalue
    if len(observed.hypotheses.pairs) == 1:
        return p
    draws = _StandardizedDraws(observed, reflected)
    return np.maximum(step_down_max(observed, draws.to_reach, draws.extremeness), p)


def max_t_of_all_draws(tests: Unadjusted) -> Scores:
    """The larger adjusted p of both deviations: (H,). For two sides they are the same."""
    if tests.observed.alternative == "two-sided":
        return max_t_of_draws(tests)
    return np.maximum(max_t_of_draws(tests), max_t_of_draws(tests, reflected=True))


class _StandardizedDraws:
    """The deviations of each pair's draws, divided by their standard deviation, as extremeness.

    ``to_reach``, (H,), is the extremeness of the observed differences. It is infinite where all draws equal a
    difference other than 0; such a pair adds nothing to a maximum.
    """

    def __init__(self, observed: Observed, reflected: bool) -> None:
        n = len(observed.hypotheses)
        self.observed, self.sign = observed, -1 if reflected else 1
        self.progress, self.done = observed.replicates.progress or Progress(), 0
        self.progress.begin("adjusting", 2 * n)
        self.scales = np.array([self._scale(h) for h in range(n)])
        self.to_reach = extremeness_to_reach(observed.thresholds, observed.alternative) * self.scales
        constant = (self.scales == 0) & (np.abs(observed.statistic) > observed.tolerances)
        self.to_reach[constant] = np.inf * extremeness(observed.statistic[constant], observed.alternative)

    def _step(self) -> None:
        self.done += 1
        self.progress.update(self.done)

    def _scale(self, h: int) -> float:
        """1/se, or 0 if the draws differ by no more than rounding errors."""
        drawn = self.observed.drawn_differences(h)
        self._step()
        return 1 / float(drawn.std()) if np.ptp(drawn) > self.observed.tolerances[h] else 0.0

    def extremeness(self, order: Sequence[int]) -> Iterator[Scores]:
        """The extremeness of the pairs with these indices on every draw: (R,) each."""
        for h in order:
            self._step()
            if np.isfinite(self.to_reach[h]):
                deviations = self.sign * (self.observed.drawn_differences(h) - self.observed.statistic[h])
                yield extremeness(deviations, self.observed.alternative) * self.scales[h]
            else:
                yield np.full(self.observed.replicates.n_resamples, -np.inf)


def step_down_max(observed: Observed, to_reach: Scores, series: Series) -> Scores:
    """Adjusted p-values by step-down maxT: (H,).

    ``to_reach``, (H,), is how extreme the observed statistics are. ``series`` iterates over how extreme those of the
    replicates are, (R,), for hypotheses in the order of their indices. It is called once for each family.
    """
    counts = np.empty(len(to_reach), dtype=np.int64)
    for family in observed.hypotheses.families():
        order = _order(family, to_reach[family])
        largest = np.full(observed.replicates.n_resamples, -np.inf)
        for h, extreme in zip(order, series(order), strict=True):
            np.maximum(largest, extreme, out=largest)
            counts[h] = (largest >= to_reach[h]).sum()
    return _step_down(observed, observed.hypotheses.table(counts), -observed.hypotheses.table(to_reach))


def step_down_min(observed: Observed, to_reach: Scores, ranks: NDArray[np.int64], series: Series) -> Scores:
    """Adjusted p-values by step-down minP, as :func:`step_down_max`: (H,).

    ``ranks``, (H,), are the positions of the observed statistics among the replicates, the most extreme first.
    """
    counts = np.empty(len(ranks), dtype=np.int64)
    for family in observed.hypotheses.families():
        order = _order(family, -ranks[family])
        smallest = np.full(observed.replicates.n_resamples, np.iinfo(np.int64).max)
        for h, extreme in zip(order, series(order), strict=True):
            before = np.searchsorted(np.sort(extreme), extreme)
            np.minimum(smallest, len(extreme) - before + (to_reach[h] >= extreme), out=smallest)
            counts[h] = (smallest <= ranks[h]).sum()
    return _step_down(observed, observed.hypotheses.table(counts), observed.hypotheses.table(ranks))


def _order(family: slice, keys: NDArray[Any]) -> list[int]:
    """The indices of a family in ascending order of the keys, of equal ones the last first."""
    order: list[int] = (family.start + np.lexsort((-np.arange(len(keys)), keys))).tolist()
    return order


def _step_down(observed: Observed, counts: NDArray[np.int64], keys: NDArray[Any]) -> Scores:
    """Adjusted p-values from the exceedances of each step. The steps are in ascending order of ``keys``: (H,)."""
    adjusted = pvalue(counts, observed.replicates.n_resamples)
    index = np.arange(len(observed.hypotheses.pairs))
    orders = (np.lexsort((index, key)) for key in keys)
    return np.concatenate([_monotone(order, p) for order, p in zip(orders, adjusted, strict=True)])


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
        From the unadjusted tests to adjusted p-values, (H,).
    extra : sequence of Reduction
        Reductions of the test's own shuffles that it needs.
    """

    adjust: Callable[[Unadjusted], Scores]
    extra: Sequence[Reduction[Any, Any]] = ()


MAX_T_OF_SHUFFLES = StepDown(max_t_of_shuffles, extra=(Spread(),))
MIN_P_OF_SHUFFLES = StepDown(min_p_of_shuffles)
MAX_T_OF_DRAWS = StepDown(max_t_of_draws)
MAX_T_OF_ALL_DRAWS = StepDown(max_t_of_all_draws)
MAX_T_OF_REFLECTED_DRAWS = StepDown(partial(max_t_of_draws, reflected=True))


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

    def adjust(self, tests: Unadjusted, step_down: StepDown | None) -> Scores:
        """The adjusted p-values, (H,). ``step_down`` is that of the test."""
        if self.of_pvalues is not None:
            p, families = tests.outcome.pvalue, tests.observed.hypotheses.families()
            # Šidák's p of a single test may be smaller by a rounding error.
            return np.asarray(np.maximum(np.concatenate([self.of_pvalues(p[family]) for family in families]), p))
        assert step_down is not None
        return step_down.adjust(tests)


ADJUSTMENTS: Mapping[str, Adjustment] = {
    adjustment.name: adjustment
    for adjustment in (
        Adjustment(
            "bonferroni",
            "Bonferroni",
            "p times the number of pairs",
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
            "1 - (1 - p)^m for m pairs; slightly smaller than Bonferroni's p, exact for independent tests",
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
            "Simes' tests of all sets of pairs; never larger than Hochberg's p, and for the same tests",
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
            "compares with the largest standardized difference of each replicate; accounts for their dependence",
            "Westfall & Young 1993",
            _undecided_by_max_t,
            multiplies=False,
        ),
        Adjustment(
            "minp",
            "step-down minP",
            "compares with the smallest p of each shuffle; needs many shuffles",
            "Westfall & Young 1993; doi:10.1007/BF02595811",
            _undecided_by_min_p,
        ),
        Adjustment(
            "tukey",
            "Tukey's HSD",
            "compares with the range of the scores of all systems; assumes that all of them vary alike",
            "Tukey 1953; doi:10.1145/2094072.2094076",
            _undecided_by_max_t,
            multiplies=False,
        ),
        Adjustment(
            "scheffe",
            "Scheffé",
            "compares with the most extreme of all contrasts between systems; never smaller than Tukey's p",
            "doi:10.1093/biomet/40.1-2.87",
            _undecided_by_max_t,
            multiplies=False,
        ),
    )
}
