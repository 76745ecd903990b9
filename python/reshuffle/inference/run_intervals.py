"""Confidence intervals of the difference of two systems with several runs each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from ..metrics.base import tolerance
from ..resampling.run_hierarchical import Hierarchical
from ..resampling.run_t import Error, hierarchical_error, welch_error
from ..resampling.runs import RunData
from ..results import ConfidenceInterval
from ..validate import default_alpha
from .intervals import symmetric_ends
from .pvalues import largest_rank

Ends = tuple[float, float]


@dataclass(frozen=True)
class RunInterval:
    """A kind of interval, which takes into account what the tests of some exchange units do."""

    method: str
    """The name in results."""
    ends: Callable[[RunData, int, tuple[int, int], str, float], Ends]
    """From the data, the indices of the metric and of the systems a and b, the statistic and the confidence level to
    the ends of the interval of score(a) − score(b).
    """
    needs_runs: int = 2
    """The smallest number of runs of each system."""

    def of(
        self, data: RunData, metric: int, pair: tuple[int, int], statistic: str, level: float
    ) -> ConfidenceInterval | None:
        """The interval in points of the metric; None if a system has too few runs."""
        if min(data.n_runs[system] for system in pair) < self.needs_runs:
            return None
        return ConfidenceInterval(*self.ends(data, metric, pair, statistic, level), level, self.method)


def of_error(error: Error, data: RunData, metric: int, pair: tuple[int, int], statistic: str, level: float) -> Ends:
    """d ± the quantile of the levels of a standard error, times that error. d is the difference of the statistic.

    For the statistic ``pooled`` the error is that of the mean scores, which differ from the pooled ones little.
    """
    a, b = (data.score_of(system, statistic)[metric] for system in pair)
    found = error(data, metric, pair)
    half = found.levels.quantile((1 - level) / 2) * found.value
    return a - b - half, a - b + half


def percentile(data: RunData, metric: int, pair: tuple[int, int], statistic: str, level: float) -> Ends:
    """The k-th smallest and the k-th largest difference on draws of segments, k = ⌊α(R + 1)/2⌋, with all runs.

    Davison & Hinkley 1997, 5.3, as for two systems with one run each.
    """
    a, b = (data.drawn.fixed[statistic][metric][system] for system in pair)
    rounding = tolerance(*(np.array(data.score_of(system, statistic)[metric]) for system in pair))
    low, high = (0.0 if abs(end) <= rounding else end for end in symmetric_ends(a - b, level))
    return low, high


def hierarchical(data: RunData, metric: int, pair: tuple[int, int], statistic: str, level: float) -> Ends:
    """d ± q, where q belongs to the k-th largest absolute deviation of the hierarchical bootstrap, k = ⌊α(R + 1)⌋.

    The deviation is expanded for few runs: see :class:`~reshuffle.resampling.run_hierarchical.Hierarchical`. The
    interval is symmetric (Hall 1988, *On symmetric bootstrap confidence intervals*), so it excludes 0 exactly when the
    two-sided test has p ≤ α. k is at least 1.
    """
    drawn = Hierarchical.from_data(data, metric, pair, statistic)
    n = len(drawn.deviations)
    place = n - max(largest_rank(n + 1, default_alpha(level)), 1)
    half = drawn.expanded(float(np.partition(np.abs(drawn.deviations), place)[place]))
    return drawn.difference - half, drawn.difference + half


# For new runs of both systems on this test set (Welch 1947); for these runs on new test sets; for both.
WELCH = RunInterval("welch-t", partial(of_error, welch_error))
PERCENTILE = RunInterval("percentile", percentile, needs_runs=1)
HIERARCHICAL = RunInterval("hierarchical", hierarchical)
HIERARCHICAL_T = RunInterval("hierarchical-t", partial(of_error, hierarchical_error))
