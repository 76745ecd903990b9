"""Simultaneous confidence intervals: the confidence level is the probability that all intervals of a family are right.

As the adjustments to which they belong, they have this level in large samples.

The interval of a difference d is d − c·s₋ to d + c·s₊. c is the critical value of the largest standardized deviation
in the family, and s₋ and s₊ are the scales of the deviations below and above d. Such intervals correspond to the
single-step form of the adjustment that decides about stars (Westfall & Young 1993, 2.3). Its step-down form rejects
whatever the single-step form rejects. So a difference whose interval excludes 0 has a star, but a difference with a
star may have an interval that contains 0.

If an adjusted p is the largest of several p-values, the interval contains those that correspond to each of them.
"""

from __future__ import annotations

import numpy as np

from ..errors import InputError
from ..metrics.base import Scores
from ..settings import default_alpha
from .estimates import Estimate
from .hypotheses import Observed
from .intervals import INTERVALS
from .step_down import Adjusted, Band, StepDown, rank_for_intervals


def simultaneous_ends(observed: Observed, adjusted: Adjusted, step_down: StepDown, level: float) -> Scores:
    """The lower and the upper ends of the intervals of all differences: (2, H).

    An end is itself part of the interval. ``level`` is the confidence level for a family. :class:`InputError` if there
    are too few replicates for it, or if an interval would be infinite.
    """
    alpha = default_alpha(level)
    if step_down.dual is not None:
        rank_for_intervals(observed.replicates.n_resamples, alpha, observed.tails)
    ends = [_ends_of_band(observed, band, alpha) for band in adjusted.bands]
    if step_down.dual is not None:
        hypotheses, dual = observed.hypotheses, INTERVALS[step_down.dual]
        systems = zip(hypotheses.metric.tolist(), hypotheses.a.tolist(), hypotheses.b.tolist(), strict=True)
        single = [dual.ends(Estimate(observed.replicates, m, a, b), level) for m, a, b in systems]
        ends.append(np.array(single).T)
    lower, upper = np.array(ends).swapaxes(0, 1)
    return np.array([lower.min(axis=0), upper.max(axis=0)])


def _ends_of_band(observed: Observed, band: Band, alpha: float) -> Scores:
    """The ends by one statistic: (2, H)."""
    # The maximum over a family whose differences are all constant is −∞. Their intervals have a width of 0.
    critical = np.empty(len(observed.hypotheses))
    for family, value in zip(observed.hypotheses.families(), band.critical(alpha).tolist(), strict=True):
        critical[family] = max(value, 0)
    if np.isinf(critical).any():
        raise InputError(
            "simultaneous intervals would be infinite, because too many replicates have a standard error of 0: use "
            "another test"
        )
    difference = observed.statistic
    lower, upper = difference - critical * band.below, difference + critical * band.above
    # A critical value within the tolerance of the observed one is a tie. Then p > α, and 0 is an end.
    tie = critical >= band.to_reach
    return np.array([np.where(tie, np.minimum(lower, 0), lower), np.where(tie, np.maximum(upper, 0), upper)])
