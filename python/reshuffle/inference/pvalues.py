"""From counts of replicates to p-values, and what a replicate has to reach to be counted."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..metrics.base import Scores

__all__ = ["pvalue", "threshold"]

Integers: TypeAlias = NDArray[np.int64]
Truths: TypeAlias = NDArray[np.bool_]


def pvalue(exceedances: Integers, n_resamples: Integers | int, includes_observed: Truths | bool = False) -> Scores:
    """p = (c + 1)/(R + 1): Riezler & Maxwell 2005 (W05-0908), Fig. 1, last line.

    The 1 is what was observed, which is at least as extreme as itself. Where it is one of the R replicates that were
    counted, as in a group, p = c/R.

    >>> pvalue(np.array([0, 499, 9999]), 9999)
    array([1.e-04, 5.e-02, 1.e+00])
    >>> pvalue(np.array([2]), 16, includes_observed=True)
    array([0.125])
    """
    observed = 1 if includes_observed is False else np.logical_not(includes_observed)
    p: Scores = (exceedances + observed) / (n_resamples + observed)
    return p


def threshold(statistic: Scores, scores_a: Scores, scores_b: Scores, alternative: str) -> Scores:
    """What a replicate has to reach to count as at least as extreme as ``statistic``.

    Equal sums give equal scores, so the usual ties are exact. Two different sums may have differences that are equal
    in mathematics but not in floating point; the sixteen units in the last place of the larger score by which the
    threshold is eased let these count as ties, as they should.
    """
    slack: Scores = 16 * np.spacing(np.maximum(np.abs(scores_a), np.abs(scores_b)))
    if alternative == "two-sided":
        statistic = np.abs(statistic)
    return statistic + slack if alternative == "less" else statistic - slack
