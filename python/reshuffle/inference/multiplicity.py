"""Adjustments of p-values for multiple tests, which control the family-wise error rate or the false discovery rate.

A family is the pairs under one metric, or all pairs under all metrics, on one test set or on several. If hypotheses
with an adjusted p of at most α are rejected, the probability of any false rejection in the family (or the expected
share of false ones among all rejections) is at most α, whichever null hypotheses are true: if each p is valid, and for
some adjustments only under conditions on their dependence, which docs/statistics/multiple.md states.

A new adjustment is a function here, in :data:`FUNCTIONS`, and an entry in methods.toml. One of p-values is for all
tests. One from replicates depends on the test: see :mod:`reshuffle.inference.step_down`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..documented import record
from ..metrics.base import Scores
from ..results import SignificanceResult, may_lie_across
from ..validate import check_integer, check_number
from .hypotheses import Hypotheses, Observed, Outcome
from .methods import METHODS, Method
from .step_down import Adjusted, StepDown, running_maximum

Undecided: TypeAlias = Callable[[Sequence[SignificanceResult], float], list[int]]

# The error rates that adjustments control.
FAMILY_WISE, FALSE_DISCOVERY = "family-wise error rate", "false discovery rate"


def experimentwise_error(alpha: float, n_tests: int) -> float:
    """The probability of at least one false rejection in n independent tests at level alpha: 1 − (1 − alpha)ⁿ.

    Riezler & Maxwell 2005 (W05-0908), section 4.4: it is .9954 for their 105 pairs at level .05.

    >>> round(experimentwise_error(0.05, 105), 4)
    0.9954
    """
    alpha, n_tests = check_number("alpha", alpha, 0, 1), check_integer("n_tests", n_tests, 1)
    return 1.0 if alpha == 1 else -math.expm1(n_tests * math.log1p(-alpha))


def per_comparison_level(error: float, n_tests: int) -> float:
    """The level for each of n tests whose experimentwise error is ``error``: 1 − (1 − error)^(1/n).

    The inverse of :func:`experimentwise_error`, as in Riezler & Maxwell 2005 (W05-0908), section 4.4. For independent
    tests the experimentwise error is then exactly ``error`` (Šidák 1967, doi:10.1080/01621459.1967.10482935).

    >>> round(per_comparison_level(0.05, 105), 6)
    0.000488
    >>> round(experimentwise_error(per_comparison_level(0.05, 105), 105), 6)
    0.05
    """
    error, n_tests = check_number("error", error, 0, 1), check_integer("n_tests", n_tests, 1)
    return 1.0 if error == 1 else -math.expm1(math.log1p(-error) / n_tests)


def over_independent(pvalues: Scores, n_sets: int) -> Scores:
    """1 − (1 − p)^G: p of the union of G independent test sets, from p of one of them. Šidák 1967.

    >>> over_independent(np.array([0.01, 1.0]), 2).round(4).tolist()
    [0.0199, 1.0]
    """
    with np.errstate(divide="ignore"):  # log 0 for p = 1
        return np.asarray(-np.expm1(n_sets * np.log1p(-pvalues)))


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
    return running_maximum(order, factors * pvalues)


def sidak(pvalues: Scores) -> Scores:
    """1 − (1 − p)^m for m p-values: (m,) in and out. Exact for independent tests. Šidák 1967.

    >>> sidak(np.array([0.01, 0.4])).round(4).tolist()
    [0.0199, 0.64]
    """
    return over_independent(pvalues, len(pvalues))


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


def _by_ends(of_pvalues: Callable[[Scores], Scores]) -> Undecided:
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


@record(slots=False)
class Adjustment(Method):
    """An entry of the registry."""

    undecided: Undecided
    """From the tests of one family and α to the indices of those for which Monte Carlo error leaves open whether the
    adjusted p is at most α.
    """
    of_pvalues: Callable[[Scores], Scores] | None = None
    """From the p-values of a family to adjusted p-values, (m,) in and out. None if it is computed from replicates, by
    the :class:`StepDown` of the test.
    """
    rate: str = FAMILY_WISE
    """The error rate that it controls: ``FAMILY_WISE`` or ``FALSE_DISCOVERY``."""
    multiplies: bool = True
    """Whether the smallest of m p-values becomes up to m times as large, so that m tests need m times as many
    replicates.
    """

    @property
    def from_replicates(self) -> bool:
        """Does it need the replicates of the test, and not only the p-values?"""
        return self.of_pvalues is None

    def adjust(self, observed: Observed, outcome: Outcome, step_down: StepDown | None) -> Adjusted:
        """The adjusted p-values, none of which is smaller than its p. ``step_down`` is that of the test.

        A step-down adjustment may count other replicates than the test's own p, which can then be the larger one.
        """
        p = outcome.pvalue
        if self.of_pvalues is not None:
            return Adjusted(self.by_family(p, observed.hypotheses.family))
        assert step_down is not None
        adjusted = step_down.adjust(observed, outcome)
        return replace(adjusted, pvalues=np.maximum(adjusted.pvalues, p))

    def by_family(self, pvalues: Scores, family: NDArray[np.intp]) -> Scores:
        """The p-values adjusted in each family, whose numbers are (H,), and none smaller than it was: (H,)."""
        assert self.of_pvalues is not None
        adjusted = np.empty_like(pvalues)
        for each in np.unique(family):
            adjusted[family == each] = self.of_pvalues(pvalues[family == each])
        return np.maximum(adjusted, pvalues)

    def over_sets(self, hypotheses: Hypotheses, outcome: Outcome) -> Scores:
        """The p-values of several test sets, adjusted in families that contain hypotheses about all of them: (H,).

        ``outcome.adjusted`` are the p-values adjusted within each test set. An adjustment of p-values starts again from
        the p-values of the whole family. One from replicates cannot, because every test set has its own: if p is valid
        for each of G independent test sets, 1 − (1 − p)^G is valid for all of them (Šidák 1967), and exact.
        """
        assert outcome.adjusted is not None
        if self.of_pvalues is None:
            return over_independent(outcome.adjusted, hypotheses.n_sets)
        return self.by_family(outcome.pvalue, hypotheses.family)


# From the p-values of a family to adjusted ones, and what Monte Carlo error leaves undecided.
FUNCTIONS: Mapping[str, tuple[Callable[[Scores], Scores] | None, Undecided]] = {
    "bonferroni": (bonferroni, _undecided_by_bonferroni),
    "holm": (holm, _undecided_by_holm),
    "sidak": (sidak, _by_ends(sidak)),
    "hochberg": (hochberg, _by_ends(hochberg)),
    "hommel": (hommel, _by_ends(hommel)),
    "bh": (benjamini_hochberg, _by_ends(benjamini_hochberg)),
    "by": (benjamini_yekutieli, _by_ends(benjamini_yekutieli)),
    "maxt": (None, _undecided_by_max_t),
    "minp": (None, _undecided_by_min_p),
    "tukey": (None, _undecided_by_max_t),
    "scheffe": (None, _undecided_by_max_t),
}
ADJUSTMENTS: Mapping[str, Adjustment] = {
    name: Adjustment(name, **METHODS["adjustment"][name], of_pvalues=of_pvalues, undecided=undecided)
    for name, (of_pvalues, undecided) in FUNCTIONS.items()
}
