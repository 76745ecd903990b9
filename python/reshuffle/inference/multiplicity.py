"""What many tests at once do to the chance of a false alarm, and what to do about it.

The pairs under one metric are a family. An adjusted p of at most α for some of them is then wrong with probability at
most α, whichever of the pairs differ in truth. A new adjustment is a function here and an entry in :data:`ADJUSTMENTS`.
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
from ..validate import check_name
from .hypotheses import Hypotheses, Outcome
from .pvalues import pvalue

__all__ = ["ADJUSTMENTS", "Adjustment", "Unadjusted", "check_adjustment", "experimentwise_error"]


def experimentwise_error(level: float, n_tests: int) -> float:
    """The chance of at least one false alarm in n independent tests, p_e = 1 − (1 − p_c)ⁿ.

    Riezler & Maxwell 2005 (W05-0908), section 4.4, whose 105 pairs at .05 give .9954.

    >>> round(experimentwise_error(0.05, 105), 4)
    0.9954
    """
    return -math.expm1(n_tests * math.log1p(-level))


@dataclass(frozen=True, eq=False)
class Unadjusted:
    """The tests of the hypotheses about one test set. ``thresholds``, (H,), are what shuffles had to reach."""

    replicates: Replicates
    hypotheses: Hypotheses
    alternative: str
    thresholds: Scores
    outcome: Outcome


def _stepped(order: NDArray[np.intp], pvalues: Scores) -> Scores:
    """Each p at least as large as those of the tests before it in the order, and at most 1: (pairs,)."""
    adjusted = np.empty_like(pvalues)
    adjusted[order] = np.minimum(np.maximum.accumulate(pvalues[order]), 1)
    return adjusted


def bonferroni(pvalues: Scores) -> Scores:
    """m·p: (pairs,) in and out. Dunn 1961, doi:10.1080/01621459.1961.10482090.

    >>> bonferroni(np.array([0.01, 0.4])).tolist()
    [0.02, 0.8]
    """
    return np.minimum(len(pvalues) * pvalues, 1)


def holm(pvalues: Scores) -> Scores:
    """The j-th smallest p times m − j + 1, never less than the one before: (pairs,) in and out. Holm 1979.

    >>> holm(np.array([0.03, 0.01, 0.02])).tolist()
    [0.04, 0.03, 0.04]
    """
    order = np.argsort(pvalues, kind="stable")
    factors = np.empty(len(pvalues))
    factors[order] = np.arange(len(pvalues), 0, -1)
    return _stepped(order, factors * pvalues)


def _each(adjust: Callable[[Scores], Scores]) -> Callable[[Unadjusted], Scores]:
    """Apply an adjustment of p-values to every family."""

    def adjusted(tested: Unadjusted) -> Scores:
        return np.concatenate([adjust(tested.outcome.pvalue[family]) for family in tested.hypotheses.families()])

    return adjusted


def max_t(tested: Unadjusted) -> Scores:
    """Step-down maxT, each statistic in units of its own spread over the shuffles: (H,).

    p̃_(j) = (1 + #{r : max_{l ≥ j} t_r,(l) ≥ t_(j)})/(R + 1), then the running maximum, the most extreme first. Westfall
    & Young 1993, algorithm 4.1. It knows how the tests depend on one another, and loses the less power for it.
    """
    (spreads,) = tested.outcome.kept
    # Systems that are equal have no spread: whatever comes, comes as far as they do, and p is 1.
    scales = np.divide(1, spreads, out=np.zeros_like(spreads), where=spreads > 0)
    thresholds = tested.hypotheses.table(_eased(tested)) * scales
    (counts,) = tested.replicates.run([MaxT(tested.alternative, scales, thresholds)], tested.hypotheses.pairs)
    return _step_down(tested, counts, -thresholds)


def min_p(tested: Unadjusted) -> Scores:
    """Step-down minP: as maxT, with the p of a shuffle among all shuffles in the place of its statistic.

    Westfall & Young 1993, algorithm 2.8; Ge, Dudoit & Speed 2003 (doi:10.1007/BF02595811), box 4. Every test has the
    same weight, whatever its null distribution looks like; many tests need many shuffles, for p comes in steps of
    1/(R + 1).
    """
    table = tested.hypotheses.table
    ranks = table(tested.outcome.exceedances) + 1
    asked = MinP(tested.alternative, table(tested.thresholds), ranks)
    (counts,) = tested.replicates.run([asked], tested.hypotheses.pairs)
    return _step_down(tested, counts, ranks)


def _step_down(tested: Unadjusted, counts: NDArray[np.int64], keys: NDArray[Any]) -> Scores:
    """Adjusted p from how many shuffles reach each step; steps are in ascending order of ``keys``: (H,)."""
    adjusted = pvalue(counts, tested.replicates.n_resamples)
    index = np.arange(len(tested.hypotheses.pairs))
    orders = (np.lexsort((index, key)) for key in keys)
    return np.concatenate([_stepped(order, p) for order, p in zip(orders, adjusted, strict=True)])


def _eased(tested: Unadjusted) -> Scores:
    """How extreme a replicate has to be; an absolute value is never below 0."""
    if tested.alternative == "two-sided":
        return np.maximum(tested.thresholds, 0)
    return extremeness(tested.thresholds, tested.alternative)


@dataclass(frozen=True)
class Adjustment:
    """An adjustment as the registry knows it: from all tests to their adjusted p-values, (H,).

    ``of_shuffles`` tells whether it is made from shuffles, and ``besides`` what it needs of those that the test goes
    through.
    """

    name: str
    title: str
    about: str
    source: str
    adjust: Callable[[Unadjusted], Scores]
    of_shuffles: bool = False
    besides: Sequence[Reduction[Any, Any]] = ()


ADJUSTMENTS: Mapping[str, Adjustment] = {
    adjustment.name: adjustment
    for adjustment in (
        Adjustment(
            "bonferroni",
            "Bonferroni",
            "p times the number of pairs",
            "doi:10.1080/01621459.1961.10482090",
            _each(bonferroni),
        ),
        Adjustment(
            "holm",
            "Holm",
            "Bonferroni in steps from the smallest p; rejects whatever Bonferroni rejects, and sometimes more",
            "Holm 1979, Scandinavian Journal of Statistics 6",
            _each(holm),
        ),
        Adjustment(
            "maxt",
            "step-down maxT",
            "compares with the largest difference of each shuffle; accounts for the dependence between tests",
            "Westfall & Young 1993",
            max_t,
            of_shuffles=True,
            besides=(Spread(),),
        ),
        Adjustment(
            "minp",
            "step-down minP",
            "compares with the smallest p of each shuffle; needs many shuffles",
            "Westfall & Young 1993; doi:10.1007/BF02595811",
            min_p,
            of_shuffles=True,
        ),
    )
}


def check_adjustment(name: str | None, test: str, of_shuffles: bool) -> Adjustment | None:
    """The adjustment of that name, or :class:`InputError` if there is none or it is not for the test."""
    if name is None:
        return None
    check_name("adjustment", name, list(ADJUSTMENTS))
    adjustment = ADJUSTMENTS[name]
    if adjustment.of_shuffles and not of_shuffles:
        others = [other.name for other in ADJUSTMENTS.values() if not other.of_shuffles]
        raise InputError(
            f"adjustment {name!r} is computed from shuffles, but the test {test!r} has none: use the test 'ar', or "
            f"{' or '.join(others)}"
        )
    return adjustment
