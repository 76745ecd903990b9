"""A score test of the margin of right-or-wrong answers.

Where few answers differ, shuffles of shifted scores allow too much. If answers are only lost, as many as a margin of
.005 says, none of 200 is lost with a probability of .37, and shuffles take that for proof. The score test of Tango
(1998, 10.1002/(SICI)1097-0258(19980430)17:8<891::AID-SIM780>3.0.CO;2-B) estimates the variance of the difference under
the null hypothesis, so it knows that losses may have been missed.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..metrics.base import Scores


class Answers(NamedTuple):
    """How many of n answers are right under only one of two systems."""

    n: int
    gains: int
    """Right under the new system only."""
    losses: int
    """Right under the baseline only."""
    points: float
    """The score of a right answer minus that of a wrong one."""

    @classmethod
    def of(cls, new: Scores, baseline: Scores, higher_is_better: bool, margin: float) -> Answers | None:
        """Those of the segments that have both scores; None unless scores are 0 and 1, or 0 and 100.

        If all are 0, a margin of 1 or more means 100.

        >>> Answers.of(np.array([1.0, 0, 1, 1]), np.array([1.0, 1, 0, 0]), higher_is_better=True, margin=0.1)
        Answers(n=4, gains=2, losses=1, points=1.0)
        """
        both = np.isfinite(new) & np.isfinite(baseline)
        new, baseline = new[both], baseline[both]
        right = {*new.tolist(), *baseline.tolist()} - {0.0}
        points = right.pop() if right else (1.0 if margin < 1 else 100.0)
        if right or points not in (1.0, 100.0):
            return None
        higher, lower = int((new > baseline).sum()), int((new < baseline).sum())
        gains, losses = (higher, lower) if higher_is_better else (lower, higher)
        return cls(len(new), gains, losses, points)

    def pvalue(self, margin: float) -> float:
        """p of the hypothesis that the new system is worse by ``margin`` points or more (Tango 1998, eq. 4)."""
        from scipy.stats import norm

        return float(norm.sf(self._statistic(margin / self.points)))

    def bound(self, alpha: float) -> float:
        """The difference in points that is the end of the one-sided interval at level 1 − alpha, on the side of losses.

        Without a difference in 200 answers, the new system may have lost 1.3 in 100:

        >>> round(Answers(200, 0, 0, 1.0).bound(0.05), 4)
        -0.0133
        """
        from scipy.optimize import brentq
        from scipy.stats import norm

        z, widest = norm.isf(alpha), 1 - 1e-9
        if self._statistic(widest) < z:
            return -self.points
        return -self.points * float(brentq(lambda margin: self._statistic(margin) - z, -widest, widest, xtol=1e-12))

    def standard_error(self, margin: float) -> float:
        """That of the difference in points, if the new system is worse by ``margin`` points."""
        return self.points * math.sqrt(self._variance(margin / self.points) / self.n)

    def _statistic(self, margin: float) -> float:
        """The difference plus the margin, in standard errors under the hypothesis that their sum is 0."""
        if margin >= 1:  # no system is worse by more, and one by as much only if all answers are lost
            return -math.inf if margin == 1 and self.losses == self.n else math.inf
        variance = self.n * self._variance(margin)
        return (self.gains - self.losses + self.n * margin) / math.sqrt(variance) if variance > 0 else 0.0

    def _variance(self, margin: float) -> float:
        """The variance of the difference of an answer, if p_loss = p_gain + margin, by maximum likelihood."""
        n, gains, losses = self.n, self.gains, self.losses
        b = margin * (2 * n + gains - losses) - gains - losses
        p_gain = (math.sqrt(max(0.0, b**2 + 8 * n * gains * margin * (1 - margin))) - b) / (4 * n)
        return max(0.0, 2 * p_gain + margin * (1 - margin))
