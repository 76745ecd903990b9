"""The hierarchical bootstrap of systems with several runs each, corrected for few runs."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..metrics.base import Scores
from .run_exchange import Exchanged
from .run_linear import Levels
from .runs import RunData
from .samples import Pairs


@dataclass(frozen=True, eq=False)
class Hierarchical:
    """Draws of runs and segments for a pair of systems, each with at least two runs.

    Three corrections make them a test and an interval for few runs, whose size is measured in docs/evidence/runs.md.

    - The draws count the interaction of run and segment three times (Owen 2007, doi:10.1214/07-AOAS122). So their
      deviations from the observed difference are multiplied by
      :attr:`~reshuffle.resampling.run_linear.Spread.factor`.
    - The variance of few runs is itself uncertain. So a difference of t standard deviations is compared with the draws
      as if it were one of z = Φ⁻¹(T(t)): if deviations are normal, p is that of T, which is Student's t with levels
      (:class:`~reshuffle.resampling.run_linear.Levels`). Hesterberg 2015
      (doi:10.1080/00031305.2015.1089789) expands percentile intervals in the same way, but moves their levels. Then
      10,000 draws are too few for two runs; here the observed value is moved, and they are enough.
    - Draws of two or three runs take few different values. Where the runs make most of the variance, the largest of
      them is soon exceeded, and p would be the smallest possible. So the tails are :func:`no_lighter_than_normal`.
    """

    difference: float
    """The observed difference."""
    deviations: Scores
    """Shape (R,). The deviations of draws, corrected for the interaction and with tails no lighter than normal."""
    scale: float
    """The standard deviation around 0 that the deviations had before their tails were corrected."""
    levels: Levels
    """Those of T: :attr:`~reshuffle.resampling.run_linear.Spread.levels`."""

    @classmethod
    def from_data(cls, data: RunData, m: int, pair: tuple[int, int], statistic: str) -> Hierarchical:
        """For metric m and a pair of systems. The draws are those of :attr:`RunData.hierarchical_draws`."""
        drawn, (a, b) = data.hierarchical_draws[statistic][m], pair
        difference = data.score_of(a, statistic)[m] - data.score_of(b, statistic)[m]
        spread = data.covariances[m].of_difference(a, b)
        deviations = (drawn[a] - drawn[b] - difference) * spread.factor
        return cls.from_deviations(difference, deviations, spread.levels)

    @classmethod
    def from_deviations(cls, difference: float, deviations: Scores, levels: Levels) -> Hierarchical:
        """From deviations that are corrected for the interaction."""
        scale = math.sqrt(float(np.mean(deviations**2)))
        return cls(difference, no_lighter_than_normal(deviations, scale), scale, levels)

    @property
    def compared(self) -> float:
        """The value that deviations are compared with instead of the difference.

        >>> normal = Hierarchical(2.0, np.array([-1.0, 1.0]), 1.0, Levels([1.0], [4]))  # t = 2 with ν = 4: p = .1161
        >>> round(normal.compared, 3)
        1.571
        """
        from scipy.special import ndtri

        if self.scale == 0:
            return self.difference
        share = self.levels.tail(abs(self.difference) / self.scale)
        return math.copysign(-float(ndtri(share)) * self.scale, self.difference)

    def expanded(self, deviation: float) -> float:
        """The difference of which an absolute ``deviation`` would be :attr:`compared`."""
        from scipy.special import ndtr

        if self.scale == 0:
            return deviation
        return self.levels.quantile(float(ndtr(-deviation / self.scale))) * self.scale


def no_lighter_than_normal(deviations: Scores, scale: ArrayLike) -> Scores:
    """Move (…, R) deviations outwards where a normal distribution with ``scale``, (…), has its quantiles further out.

    So a tail beyond any value is the larger one of that of the draws and that of the normal distribution. The order of
    the draws stays, for maxT.

    >>> no_lighter_than_normal(np.array([1.0, -1.0, 1.0, -1.0]), 1.0).round(2).tolist()  # quantiles ±.25, ±.84
    [1.0, -1.0, 1.0, -1.0]
    >>> print(no_lighter_than_normal(np.array([1.0] * 10 + [-1.0] * 10), 1.0).max().round(2))
    1.67
    """
    from scipy.special import ndtri

    n = deviations.shape[-1]
    order = np.argsort(deviations, axis=-1, kind="stable")
    sorted_ = np.take_along_axis(deviations, order, axis=-1)
    normal = ndtri(np.arange(1, n + 1) / (n + 1)) * np.asarray(scale)[..., None]
    found = np.empty_like(deviations)
    np.put_along_axis(
        found, order, np.where(normal > 0, np.maximum(sorted_, normal), np.minimum(sorted_, normal)), axis=-1
    )
    return found


def draw_runs_and_segments(data: RunData, pairs: Pairs, statistic: str) -> Exchanged:
    """Draw runs and segments with replacement: see :class:`Hierarchical`. All systems need at least two runs."""
    found = [[Hierarchical.from_data(data, m, pair, statistic) for pair in pairs] for m in range(len(data.samples))]
    return Exchanged(
        [[drawn.deviations for drawn in of_metric] for of_metric in found],
        [False] * len(pairs),
        degrees_of_freedom=[[drawn.levels.fewest for drawn in of_metric] for of_metric in found],
        observed=[[drawn.compared for drawn in of_metric] for of_metric in found],
    )
