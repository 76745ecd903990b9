"""Confidence intervals of the difference of two systems with several runs each, one kind for each exchange unit."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from ..metrics.base import tolerance
from ..resampling.run_hierarchical import Hierarchical
from ..resampling.run_t import StandardError, hierarchical_error, welch_error
from ..resampling.runs import RunData
from ..results import ConfidenceInterval
from ..settings import default_alpha
from .intervals import rank_of_ends
from .pvalues import largest_rank


def interval_of(
    exchange: str,
    data: RunData,
    metric: int,
    pair: tuple[int, int],
    statistic: str,
    confidence_level: float,
) -> ConfidenceInterval | None:
    """The interval of score(a) − score(b) that takes into account what the test of an exchange unit does.

    =============================================== ================ ==================================
    exchange unit                                   method           sources of variation
    =============================================== ================ ==================================
    ``run``, ``welch``                              ``welch-t``      other runs; the test set is fixed
    ``segment``, ``pooled``, ``cell``, ``multeval`` ``percentile``   other segments; the runs are fixed
    ``hierarchical``                                ``hierarchical`` other runs and other segments
    ``hierarchical-t``                              the same name    the same
    =============================================== ================ ==================================

    Parameters
    ----------
    exchange : str
        A name in :data:`reshuffle.inference.exchange.EXCHANGES`.
    data : RunData
    metric : int
        The index of the metric.
    pair : (int, int)
        The indices of the systems a and b.
    statistic : {'pooled', 'mean'}
    confidence_level : float

    Returns
    -------
    ConfidenceInterval or None
        In points of the metric. None if a system has one run and the interval needs more.
    """
    method, function = RUN_INTERVALS[exchange]
    ends = function(data, metric, pair, statistic, confidence_level)
    return None if ends is None else ConfidenceInterval(*ends, confidence_level, method)


Ends = tuple[float, float]


def welch(data: RunData, metric: int, pair: tuple[int, int], statistic: str, level: float) -> Ends | None:
    """d ± t_ν·√(s_a²/n_a + s_b²/n_b), where s is the standard deviation of the runs' scores (s_test).

    Welch 1947 (doi:10.1093/biomet/34.1-2.28). None if a system has one run. It holds for new runs of both systems on
    this test set. For the statistic ``pooled`` the interval is centred at the difference of the pooled scores; the
    spread is that of the mean scores, which differ from the pooled ones little.
    """
    return _of_error(welch_error, data, metric, pair, statistic, level)


def hierarchical_t(data: RunData, metric: int, pair: tuple[int, int], statistic: str, level: float) -> Ends | None:
    """d ± the quantile of the test ``hierarchical-t`` times its standard error. None if a system has one run."""
    return _of_error(hierarchical_error, data, metric, pair, statistic, level)


def _of_error(
    error: Callable[[RunData, int, tuple[int, int]], StandardError],
    data: RunData,
    metric: int,
    pair: tuple[int, int],
    statistic: str,
    level: float,
) -> Ends | None:
    """The interval of a test in closed form: d ± quantile·error."""
    if min(data.n_runs[system] for system in pair) < 2:
        return None
    difference = _difference(data, metric, pair, statistic)
    found = error(data, metric, pair)
    half = found.levels.quantile((1 - level) / 2) * found.value
    return difference - half, difference + half


def percentile(data: RunData, metric: int, pair: tuple[int, int], statistic: str, level: float) -> Ends:
    """The k-th smallest and the k-th largest difference on draws of segments, k = ⌊α(R + 1)/2⌋, with all runs.

    Davison & Hinkley 1997, 5.3, as for two systems with one run each. It holds for these runs on new test sets.
    """
    a, b = (data.drawn.fixed[statistic][metric][system] for system in pair)
    draws = a - b
    rank = max(rank_of_ends(len(draws), level), 1)
    places = sorted([rank - 1, len(draws) - rank])
    ends = np.partition(draws, places)[places]
    rounding = _tolerance(data, metric, pair, statistic)
    low, high = (0.0 if abs(end) <= rounding else float(end) for end in ends)
    return low, high


def hierarchical(data: RunData, metric: int, pair: tuple[int, int], statistic: str, level: float) -> Ends | None:
    """d ± q, where q belongs to the k-th largest absolute deviation of the hierarchical bootstrap, k = ⌊α(R + 1)⌋.

    The deviation is expanded for few runs: see :class:`~reshuffle.resampling.run_hierarchical.Hierarchical`. The
    interval is symmetric (Hall 1988, *On symmetric bootstrap confidence intervals*), so it excludes 0 exactly when the
    two-sided test has p ≤ α. k is at least 1. None if a system has one run.
    """
    if min(data.n_runs[system] for system in pair) < 2:
        return None
    drawn = Hierarchical.from_data(data, metric, pair, statistic)
    n = len(drawn.deviations)
    place = n - max(largest_rank(n + 1, default_alpha(level)), 1)
    half = drawn.expanded(float(np.partition(np.abs(drawn.deviations), place)[place]))
    return drawn.difference - half, drawn.difference + half


def _difference(data: RunData, metric: int, pair: tuple[int, int], statistic: str) -> float:
    a, b = (data.score_of(system, statistic)[metric] for system in pair)
    return a - b


def _tolerance(data: RunData, metric: int, pair: tuple[int, int], statistic: str) -> float:
    """How far from 0 a difference may be and count as a tie."""
    a, b = (np.array(data.score_of(system, statistic)[metric]) for system in pair)
    return float(tolerance(a, b))


# The name of the method and its function, by the exchange unit.
RUN_INTERVALS: Mapping[str, tuple[str, Callable[[RunData, int, tuple[int, int], str, float], Ends | None]]] = {
    "run": ("welch-t", welch),
    "welch": ("welch-t", welch),
    "segment": ("percentile", percentile),
    "pooled": ("percentile", percentile),
    "cell": ("percentile", percentile),
    "hierarchical": ("hierarchical", hierarchical),
    "hierarchical-t": ("hierarchical-t", hierarchical_t),
    "multeval": ("percentile", percentile),
}
