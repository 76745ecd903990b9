"""Confidence intervals of shares whose cases depend on one another: pairs of systems that share a test set."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..results import ConfidenceInterval

__all__ = ["clustered_interval", "jackknife_interval"]

Numbers: TypeAlias = "NDArray[np.int64] | NDArray[np.float64]"


def clustered_interval(hits: Numbers, cases: Numbers, level: float = 0.95) -> ConfidenceInterval | None:
    """Interval for the share Σ hits/Σ cases, from the numbers of m independent clusters: (m,) each.

    Korn & Graubard 1998, Survey Methodology 24: the Clopper–Pearson interval with an effective number of cases, n* =
    r(1 − r)/v·(t_(n−1)/t_(m−1))², at most n. r is the share, v = m/(m − 1) Σ (h_j − r·c_j)²/(Σ c)² its variance over
    clusters, and t are quantiles of Student's t distribution. Where no case differs from the others v is 0, and the
    clusters are counted instead of the cases. None with fewer than two clusters.

    >>> interval = clustered_interval(np.array([9, 10, 7, 9]), np.array([10, 10, 10, 10]))
    >>> round(interval.low, 3), round(interval.high, 3)
    (0.549, 0.992)
    >>> interval = clustered_interval(np.array([10, 10, 10, 10]), np.array([10, 10, 10, 10]))
    >>> round(interval.low, 3), round(interval.high, 3)
    (0.398, 1.0)
    """
    from scipy.special import betaincinv, stdtrit

    hits, cases = hits[cases > 0], cases[cases > 0]
    m, n = len(cases), float(cases.sum())
    if m < 2:
        return None
    share = float(hits.sum()) / n
    variance = m / (m - 1) * float(((hits - share * cases) ** 2).sum()) / n**2
    tail = (1 - level) / 2
    if variance > 0:
        narrower = stdtrit(n - 1, 1 - tail) / stdtrit(m - 1, 1 - tail)
        effective = min(n, share * (1 - share) / variance * float(narrower) ** 2)
    else:
        effective = float(m)
    x, others = share * effective, (1 - share) * effective
    low = betaincinv(x, others + 1, tail) if x > 0 else 0.0
    high = betaincinv(x + 1, others, 1 - tail) if others > 0 else 1.0
    return ConfidenceInterval(float(f"{low:.10g}"), float(f"{high:.10g}"), level, "korn-graubard")


def jackknife_interval(
    statistic: Callable[[NDArray[np.bool_]], float | None],
    pairs: Sequence[tuple[int, int]],
    n_systems: int,
    level: float = 0.95,
    limits: tuple[float, float] = (0.0, 1.0),
) -> ConfidenceInterval | None:
    """Interval for a statistic of pairs of systems, which depend on one another where they share a system.

    ``statistic`` takes a mask of the pairs to use, (pairs,), and may return None where it is undefined. Its variance is
    that of the jackknife which leaves out one of k systems with all its pairs, (k − 1)/k Σ (θ_(i) − mean θ_(i))²
    (Arvesen 1969, doi:10.1214/aoms/1177697287, for statistics of pairs). The interval is θ ± t·se with k − 1 degrees of
    freedom, cut at the ``limits``. None if the statistic is undefined, for all pairs or without one of the systems.
    """
    from scipy.special import stdtrit

    array = np.asarray(pairs).reshape(-1, 2)
    value = statistic(np.ones(len(array), dtype=bool))
    without = [statistic((array != system).all(axis=1)) for system in range(n_systems)]
    known = np.array([each for each in without if each is not None])
    if value is None or len(known) < n_systems or n_systems < 3:
        return None
    error = np.sqrt((n_systems - 1) / n_systems * ((known - known.mean()) ** 2).sum())
    half_width = float(stdtrit(n_systems - 1, (1 + level) / 2) * error)
    low, high = max(limits[0], value - half_width), min(limits[1], value + half_width)
    return ConfidenceInterval(float(f"{low:.10g}"), float(f"{high:.10g}"), level, "jackknife")
