"""Adjustments of p-values for multiple tests, which control the family-wise error rate.

The pairs under one metric form a family. If hypotheses with an adjusted p of at most α are rejected, the probability of
any false rejection in the family is at most α, whichever null hypotheses are true (strong control). A new adjustment is
a function here and an entry in :data:`ADJUSTMENTS`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..metrics.base import Scores
from ..resampling import MaxT, MinP, Reduction, Replicates, Spread, extremeness
from ..results import SignificanceResult, may_lie_across
from ..validate import check_name
from .hypotheses import Hypotheses, Outcome
from .pvalues import pvalue

__all__ = ["ADJUSTMENTS", "Adjustment", "Unadjusted", "check_adjustment", "experimentwise_error"]


def experimentwise_error(level: float, n_tests: int) -> float:
    """The probability of at least one false rejection in n independent tests at this level: 1 − (1 − level)ⁿ.

    Riezler & Maxwell 2005 (W05-0908), section 4.4: it is .9954 for their 105 pairs at level .05.

    >>> round(experimentwise_error(0.05, 105), 4)
    0.9954
    """
    return -math.expm1(n_tests * math.log1p(-level))


@dataclass(frozen=True, eq=False)
class Unadjusted:
    """The tests of the hypotheses about one test set, before adjustment.

    ``thresholds``, (H,), are the values that replicates had to reach to count.
    """

    replicates: Replicates
    hypotheses: Hypotheses
    alternative: str
    thresholds: Scores
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


def _on_each_family(adjust: Callable[[Scores], Scores]) -> Callable[[Unadjusted], Scores]:
    """Make an adjustment of all tests from an adjustment of the p-values of one family."""

    def adjust_all(tests: Unadjusted) -> Scores:
        return np.concatenate([adjust(tests.outcome.pvalue[family]) for family in tests.hypotheses.families()])

    return adjust_all


def max_t(tests: Unadjusted) -> Scores:
    """Step-down maxT, with each statistic divided by its standard deviation over the shuffles: (H,).

    p̃_(j) = (1 + #{r : max_{l ≥ j} t_r,(l) ≥ t_(j)})/(R + 1) for the j-th most extreme statistic, then the running
    maximum. Westfall & Young 1993, algorithm 4.1. It takes the dependence between the tests into account, so it usually
    has more power than Bonferroni and Holm.
    """
    (spreads,) = tests.outcome.extra
    # The statistic of identical systems is always 0. A scale of 0 makes every shuffle reach it, so p is 1.
    scales = np.divide(1, spreads, out=np.zeros_like(spreads), where=spreads > 0)
    thresholds = tests.hypotheses.table(_extremeness_to_reach(tests)) * scales
    (counts,) = tests.replicates.run([MaxT(tests.alternative, scales, thresholds)], tests.hypotheses.pairs)
    return _step_down(tests, counts, -thresholds)


def min_p(tests: Unadjusted) -> Scores:
    """Step-down minP: as maxT, but each shuffle's statistic is replaced by its p among all shuffles: (H,).

    Westfall & Young 1993, algorithm 2.8; Ge, Dudoit & Speed 2003 (doi:10.1007/BF02595811), box 4. All tests have the
    same weight, whatever their null distributions. Because p is a multiple of 1/(R + 1), many tests need many shuffles.
    """
    table = tests.hypotheses.table
    ranks = table(tests.outcome.exceedances) + 1
    reduction = MinP(tests.alternative, table(tests.thresholds), ranks)
    (counts,) = tests.replicates.run([reduction], tests.hypotheses.pairs)
    return _step_down(tests, counts, ranks)


def _step_down(tests: Unadjusted, counts: NDArray[np.int64], keys: NDArray[Any]) -> Scores:
    """Adjusted p-values from the exceedances of each step. The steps are in ascending order of ``keys``: (H,)."""
    adjusted = pvalue(counts, tests.replicates.n_resamples)
    index = np.arange(len(tests.hypotheses.pairs))
    orders = (np.lexsort((index, key)) for key in keys)
    return np.concatenate([_monotone(order, p) for order, p in zip(orders, adjusted, strict=True)])


def _extremeness_to_reach(tests: Unadjusted) -> Scores:
    """The thresholds on the scale of :func:`~reshuffle.resampling.extremeness`: (H,)."""
    if tests.alternative == "two-sided":
        return np.maximum(tests.thresholds, 0)  # the tolerance for rounding makes the threshold of 0 negative
    return extremeness(tests.thresholds, tests.alternative)


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


def _undecided_by_max_t(tests: Sequence[SignificanceResult], alpha: float) -> list[int]:
    """The adjusted p is (c + 1)/(R + 1) for a count of its own, c."""

    def across(test: SignificanceResult) -> bool:
        if test.n_resamples is None or test.adjusted_pvalue is None:
            return False
        count = round(test.adjusted_pvalue * (test.n_resamples + 1)) - 1
        return may_lie_across(count, test.n_resamples, alpha)

    return [index for index, test in enumerate(tests) if across(test)]


def _undecided_by_min_p(tests: Sequence[SignificanceResult], alpha: float) -> list[int]:
    """The adjusted p is the share of shuffles whose smallest p reaches p: it changes at most in proportion to p.

    The Monte Carlo error of p is therefore the larger one; that of the share itself comes from more exceedances.
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
    adjust : callable
        From the unadjusted tests to adjusted p-values, (H,).
    undecided : callable
        From the tests of one family and α to the indices of those for which Monte Carlo error leaves open whether the
        adjusted p is at most α.
    of_pvalues : callable or None
        The adjustment as a function of the p-values of one family; None if it needs the replicates.
    multiplies : bool
        Whether the smallest of m p-values is multiplied by about m, so that m tests need m times as many replicates.
    uses_shuffles : bool
        Whether it needs the shuffles of the test, and not only the p-values.
    extra : sequence of Reduction
        Reductions of the test's own shuffles that it needs.
    """

    name: str
    title: str
    about: str
    source: str
    adjust: Callable[[Unadjusted], Scores]
    undecided: Callable[[Sequence[SignificanceResult], float], list[int]]
    of_pvalues: Callable[[Scores], Scores] | None = None
    multiplies: bool = True
    uses_shuffles: bool = False
    extra: Sequence[Reduction[Any, Any]] = ()


ADJUSTMENTS: Mapping[str, Adjustment] = {
    adjustment.name: adjustment
    for adjustment in (
        Adjustment(
            "bonferroni",
            "Bonferroni",
            "p times the number of pairs",
            "doi:10.1080/01621459.1961.10482090",
            _on_each_family(bonferroni),
            _undecided_by_bonferroni,
            of_pvalues=bonferroni,
        ),
        Adjustment(
            "holm",
            "Holm",
            "Bonferroni in steps from the smallest p; rejects whatever Bonferroni rejects, and sometimes more",
            "Holm 1979, Scandinavian Journal of Statistics 6",
            _on_each_family(holm),
            _undecided_by_holm,
            of_pvalues=holm,
        ),
        Adjustment(
            "maxt",
            "step-down maxT",
            "compares with the largest difference of each shuffle; accounts for the dependence between tests",
            "Westfall & Young 1993",
            max_t,
            _undecided_by_max_t,
            multiplies=False,
            uses_shuffles=True,
            extra=(Spread(),),
        ),
        Adjustment(
            "minp",
            "step-down minP",
            "compares with the smallest p of each shuffle; needs many shuffles",
            "Westfall & Young 1993; doi:10.1007/BF02595811",
            min_p,
            _undecided_by_min_p,
            uses_shuffles=True,
        ),
    )
}


def check_adjustment(name: str | None, test: str, has_shuffles: bool) -> Adjustment | None:
    """The adjustment with this name; :class:`InputError` if it does not exist or does not support the test."""
    if name is None:
        return None
    check_name("adjustment", name, list(ADJUSTMENTS))
    adjustment = ADJUSTMENTS[name]
    if adjustment.uses_shuffles and not has_shuffles:
        others = [other.name for other in ADJUSTMENTS.values() if not other.uses_shuffles]
        raise InputError(
            f"adjustment {name!r} is computed from shuffles, but the test {test!r} has none: use the test 'ar', or "
            f"{' or '.join(others)}"
        )
    return adjustment
