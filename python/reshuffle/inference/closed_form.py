"""Tests of means of segment scores whose p-values have a closed form: t, Wilcoxon and sign test."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import _core
from ..metrics.base import Scores
from ..resampling.exact import MISSING
from .hypotheses import Observed, Outcome

# The largest numbers of differences, without and with ties, for which the signed-rank test is exact.
MAX_EXACT_RANKS = 50
MAX_EXACT_TIED_RANKS = 13


def _on_segments(pvalue: Callable[[Scores, str], float]) -> Callable[[Observed], Outcome]:
    """Make a test of all hypotheses from a p-value of the (S,) differences of one pair."""

    def test(observed: Observed) -> Outcome:
        hypotheses, samples = observed.hypotheses, observed.replicates.samples
        pvalues = np.ones(len(hypotheses))
        for h, (m, a, b) in enumerate(zip(hypotheses.metric, hypotheses.a, hypotheses.b, strict=True)):
            differences = samples[m].segment_values(a, b)
            if differences.any():  # otherwise p is 1
                pvalues[h] = pvalue(differences, observed.alternatives[m])
        missing = np.full(len(hypotheses), MISSING)
        return Outcome(observed.statistic, pvalues, missing, missing)

    test.__doc__ = pvalue.__doc__
    return test


def binary_exponent(values: Scores) -> int:
    """The power of two next above the largest magnitude. Divided by it, values keep all their bits.

    Their squares then neither overflow nor underflow.

    >>> binary_exponent(np.array([3.0, -5.0])), binary_exponent(np.array([3e300]))
    (3, 999)
    """
    return int(np.frexp(np.abs(values).max())[1])


@_on_segments
def t_test(differences: Scores, alternative: str) -> float:
    """Student 1908: t = mean d/(s/√S) with S − 1 degrees of freedom.

    If all differences are equal, t is infinite and p is 0 or 1.
    """
    from scipy.special import stdtr

    differences = np.ldexp(differences, -binary_exponent(differences))
    # Rounding of the mean would give equal differences a tiny standard deviation.
    error = differences.std(ddof=1) / len(differences) ** 0.5 if np.ptp(differences) else 0.0
    mean = differences.mean()
    t = mean / error if error else np.copysign(np.inf, mean)
    if alternative == "two-sided":
        return float(2 * stdtr(len(differences) - 1, -abs(t)))
    return float(stdtr(len(differences) - 1, t if alternative == "less" else -t))


@_on_segments
def wilcoxon(differences: Scores, alternative: str) -> float:
    """Wilcoxon 1945: the sum of the ranks of |d_s| with d_s > 0. Zeros are dropped, ties have their mean rank.

    The p-value is exact for at most 50 differences, or 13 if there are ties. Otherwise it is from the normal
    distribution with variance Σ rank²/4, which corrects for ties, and without a continuity correction. SciPy has had
    these defaults since 1.15; earlier versions ignored ties in this choice.
    """
    differences = differences[differences != 0]
    sizes, inverse, counts = np.unique(np.abs(differences), return_inverse=True, return_counts=True)
    ranks = (2 * np.cumsum(counts) - counts + 1)[inverse]  # twice the mean ranks, which are whole numbers
    observed, total = int(ranks[differences > 0].sum()), int(ranks.sum())
    if len(differences) <= (MAX_EXACT_RANKS if len(sizes) == len(differences) else MAX_EXACT_TIED_RANKS):
        null = _core.subset_sum_distribution(ranks.astype(np.uint64))
        null = 0.5 * (null + null[::-1])  # exactly symmetric, so (a, b) and (b, a) have the same p to the last bit
        greater, less = (float(null[sum_of_ranks:].sum()) for sum_of_ranks in (observed, total - observed))
    else:
        from scipy.special import ndtr

        z = (observed - total / 2) / (0.5 * np.linalg.norm(ranks))
        greater, less = float(ndtr(-z)), float(ndtr(z))
    p = {"greater": greater, "less": less, "two-sided": 2 * min(greater, less)}[alternative]
    return min(p, 1.0)


@_on_segments
def sign_test(differences: Scores, alternative: Any) -> float:
    """Dixon & Mood 1946: exact binomial test of whether half of the nonzero differences are positive."""
    from scipy.stats import binomtest

    wins, losses = int((differences > 0).sum()), int((differences < 0).sum())
    return float(binomtest(wins, wins + losses, alternative=alternative).pvalue)
