"""From counts of replicates to p-values, and the threshold at which a replicate counts."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..metrics.base import ONE, Scores
from ..resampling import is_two_sided, signs
from ..resampling.reductions import Alternative

Integers: TypeAlias = NDArray[np.int64]
Booleans: TypeAlias = NDArray[np.bool_]


def pvalue(
    exceedances: Integers, n_resamples: Integers | int, includes_observed: Booleans | bool = False, tails: int = 1
) -> Scores:
    """p = (c + 1)/(R + 1) for c exceedances in R replicates: Riezler & Maxwell 2005 (W05-0908), Fig. 1, last line.

    The 1 counts the observed arrangement. Where it is already one of the R replicates, as in a group of shuffles,
    p = c/R. If the exceedances are those of the smaller of two tails, p is ``tails`` = 2 times that, but at most 1.

    >>> pvalue(np.array([0, 499, 9999]), 9999)
    array([1.e-04, 5.e-02, 1.e+00])
    >>> pvalue(np.array([2]), 16, includes_observed=True)
    array([0.125])
    >>> pvalue(np.array([24, 600]), 999, tails=2)
    array([0.05, 1.  ])
    """
    # As floats, because numpy divides integers in slow steps. They are exact.
    observed = ONE if includes_observed is False else np.logical_not(includes_observed)
    p: Scores = (np.asarray(exceedances, dtype=float) + observed) / (np.asarray(n_resamples, dtype=float) + observed)
    return p if tails == 1 else np.minimum(tails * p, 1)


def threshold(statistic: Scores, tolerances: Scores, alternative: Alternative) -> Scores:
    """The value that a replicate must reach to count as at least as extreme as ``statistic``, or as a tie with it."""
    if is_two_sided(alternative):
        return np.asarray(np.abs(statistic) - tolerances)
    return np.asarray(statistic - signs(alternative) * tolerances)


def largest_rank(n: int, alpha: float, tails: int = 1) -> int:
    """The largest integer k with tails·k/n ≤ α in floating point, as p-values are compared with α."""
    rank = int(alpha * n / tails)
    rank += tails * (rank + 1) / n <= alpha
    rank -= tails * rank / n > alpha
    return rank
