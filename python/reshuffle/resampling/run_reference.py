"""The distribution of a difference of systems with several runs, divided by its estimated standard error.

The variance of the difference is a sum of parts, *levels*: the runs, whose few scores give an uncertain estimate, and
the segments. With a single level it is Student's t. With several ones a critical value is the mean of those of
Student's t, weighted by the estimated variances, as Cochran and Cox have it for two means (Cochran 1964, *Approximate
significance levels of the Behrens-Fisher test*, Biometrics 20, 191-195). Satterthwaite's formula over all levels
instead takes a variance that is small by chance for a well-known one, and rejects too often.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..metrics.base import Scores

# Halvings of the logarithm of a tail probability, which is between -700 and 0: enough for the last digit.
HALVINGS = 64
SMALLEST = 1e-300


def quantiles(tail: ArrayLike, shares: Scores, degrees: Scores) -> Scores:
    """The values that are exceeded with the probabilities ``tail``: (…) in, with shares and degrees (…, levels)."""
    from scipy.special import stdtrit

    probabilities = np.maximum(tail, SMALLEST)[..., None]
    return np.asarray(-(shares * stdtrit(degrees, probabilities)).sum(axis=-1))


def tails(t: ArrayLike, shares: Scores, degrees: Scores) -> Scores:
    """The probabilities to exceed ``t`` ≥ 0: the inverse of :func:`quantiles`.

    A mean of quantiles is between them, so the tail is between those of the levels.
    """
    from scipy.special import stdtr

    values = np.asarray(t, dtype=np.float64)
    each = np.maximum(stdtr(degrees, -values[..., None]), SMALLEST)
    low, high = (np.log(end) for end in (each.min(axis=-1), each.max(axis=-1)))
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        exceeded = quantiles(np.exp(middle), shares, degrees) > values
        low, high = np.where(exceeded, middle, low), np.where(exceeded, high, middle)
    return np.asarray(np.exp((low + high) / 2))


@dataclass(frozen=True)
class Levels:
    """The levels of a variance."""

    shares: Sequence[float]
    """The share of each in the variance. They add up to 1."""
    degrees_of_freedom: Sequence[float]
    """Those of the estimate of each."""

    @property
    def fewest(self) -> float:
        """The degrees of freedom of the level whose estimate is the least certain."""
        return min(self.degrees_of_freedom)

    def quantile(self, tail: float) -> float:
        """The value that is exceeded with the probability ``tail``.

        >>> round(Levels([1.0], [4]).quantile(0.025), 3), round(Levels([0.5, 0.5], [1, 299]).quantile(0.025), 3)
        (2.776, 7.337)
        """
        return float(quantiles(tail, np.array(self.shares), np.array(self.degrees_of_freedom)))

    def tail(self, t: float) -> float:
        """The probability to exceed ``t``; that to fall below it is ``tail(-t)``.

        >>> round(Levels([1.0], [4]).tail(2.776), 3)
        0.025
        """
        own = float(tails(abs(t), np.array(self.shares), np.array(self.degrees_of_freedom)))
        return own if t >= 0 else 1 - own
