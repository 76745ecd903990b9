"""Rejection rates of simulated tests, and their Monte Carlo error.

Of shares whose cases depend on one another, such as pairs of systems on one test set, the intervals allow for clusters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..metrics.base import Scores
from ..resampling import Pairs
from ..results import ConfidenceInterval, clopper_pearson
from ..results.studies import PvalueShare, Rate
from .testing import effective_simulations

Numbers: TypeAlias = "NDArray[np.integer[Any]] | NDArray[np.bool_] | Scores"


def clustered_interval(hits: Numbers, cases: Numbers) -> ConfidenceInterval | None:
    """95% interval for the share Σ hits/Σ cases, from the numbers of m independent clusters: (m,) each.

    The variance over clusters is v = m/(m − 1) Σ (h_j − r·c_j)²/(Σ c)², where r is the share. The rest is as in
    :func:`_effective_interval`. None with fewer than two clusters.

    >>> interval = clustered_interval(np.array([9, 10, 7, 9]), np.array([10, 10, 10, 10]))
    >>> round(interval.low, 3), round(interval.high, 3)
    (0.549, 0.992)
    >>> interval = clustered_interval(np.array([10, 10, 10, 10]), np.array([10, 10, 10, 10]))
    >>> round(interval.low, 3), round(interval.high, 3)
    (0.398, 1.0)
    """
    hits, cases = hits[cases > 0], cases[cases > 0]
    m, n = len(cases), float(cases.sum())
    if m < 2:
        return None
    share = float(hits.sum()) / n
    variance = m / (m - 1) * float(((hits - share * cases) ** 2).sum()) / n**2
    return _effective_interval(share, n, variance, m)


def share_of_pairs_interval(hits: Numbers, cases: Numbers, pairs: Pairs, n_systems: int) -> ConfidenceInterval | None:
    """95% interval for the share Σ hits/Σ cases of pairs of systems, from the numbers of each pair: (pairs,) each.

    Pairs depend on one another where they share a system. The variance is that of the jackknife over systems
    (:func:`jackknife_interval`). The rest is as in :func:`_effective_interval`. None with fewer than three systems that
    have cases.
    """
    without = _without_each(pairs, n_systems)
    involved = sum(bool(cases[~mask].any()) for mask in without)
    left = without @ cases.astype(float)
    if involved < 3 or not left.all():
        return None
    shares, share = (without @ hits.astype(float)) / left, float(hits.sum()) / float(cases.sum())
    variance = (involved - 1) / involved * float(((shares - share) ** 2).sum())
    return _effective_interval(share, float(cases.sum()), variance, involved)


def _effective_interval(share: float, n: float, variance: float, clusters: int) -> ConfidenceInterval:
    """The Clopper–Pearson interval with an effective number of cases: Korn & Graubard 1998, Survey Methodology 24.

    n* = r(1 − r)/v·(t_(n−1)/t_(m−1))², at most n, where r is the share, v its variance over m clusters, and t are
    quantiles of Student's t distribution. Where v is 0 the clusters are counted instead of the cases.
    """
    from scipy.special import stdtrit

    tail = (1 - CONFIDENCE_LEVEL) / 2
    effective = float(min(clusters, n))
    if variance > 1e-18 and n > 1:
        narrower = stdtrit(n - 1, 1 - tail) / stdtrit(clusters - 1, 1 - tail)
        effective = min(n, share * (1 - share) / variance * float(narrower) ** 2)
    return with_effective_number(share * effective, (1 - share) * effective, "korn-graubard")


def with_effective_number(hits: float, others: float, method: str) -> ConfidenceInterval:
    """The Clopper–Pearson interval for so many hits and other cases, which need not be whole numbers."""
    from scipy.special import betaincinv

    tail = (1 - CONFIDENCE_LEVEL) / 2
    low = betaincinv(hits, others + 1, tail) if hits > 0 else 0.0
    high = betaincinv(hits + 1, others, 1 - tail) if others > 0 else 1.0
    return ConfidenceInterval(float(f"{low:.10g}"), float(f"{high:.10g}"), CONFIDENCE_LEVEL, method)


def _without_each(pairs: Pairs, n_systems: int) -> NDArray[np.bool_]:
    """For each system, the pairs without it: (systems, pairs)."""
    array = np.asarray(pairs).reshape(-1, 2)
    return np.asarray((array[None] != np.arange(n_systems)[:, None, None]).all(axis=2))


def jackknife_interval(
    statistic: Callable[[NDArray[np.bool_]], float | None],
    pairs: Pairs,
    n_systems: int,
    limits: tuple[float, float] = (0.0, 1.0),
) -> ConfidenceInterval | None:
    """95% interval for a statistic of pairs of systems, which depend on one another where they share a system.

    ``statistic`` takes a mask of the pairs to use, (pairs,), and may return None where it is undefined. Its variance is
    that of the jackknife which leaves out one of k systems with all its pairs, (k − 1)/k Σ (θ_(i) − mean θ_(i))²
    (Arvesen 1969, doi:10.1214/aoms/1177697287, for statistics of pairs). The interval is θ ± t·se with k − 1 degrees of
    freedom, cut at the ``limits``. None with fewer than three systems, or if the statistic is undefined, for all pairs
    or without one of the systems.
    """
    from scipy.special import stdtrit

    without = _without_each(pairs, n_systems)
    value = statistic(np.ones(without.shape[1], dtype=bool))
    known = np.array([each for mask in without if (each := statistic(mask)) is not None])
    if value is None or len(known) < n_systems or n_systems < 3:
        return None
    error = np.sqrt((n_systems - 1) / n_systems * ((known - known.mean()) ** 2).sum())
    half_width = float(stdtrit(n_systems - 1, (1 + CONFIDENCE_LEVEL) / 2) * error)
    low, high = max(limits[0], value - half_width), min(limits[1], value + half_width)
    return ConfidenceInterval(float(f"{low:.10g}"), float(f"{high:.10g}"), CONFIDENCE_LEVEL, "jackknife")


# The points at which reports show the distribution of p.
GRID = tuple(round(p, 3) for p in (0.005, *(0.01 * i for i in range(1, 11)), *(0.05 * i for i in range(3, 21))))
CONFIDENCE_LEVEL = 0.95


@dataclass(frozen=True)
class Dependence:
    """How the simulations of a cell depend on one another."""

    clusters: NDArray[np.intp] | None = None
    """Shape (N,). Simulations of one cluster share bootstrap weights or runs; clusters are independent."""
    shared_replicates: int | None = None
    """The number of shuffles that all simulations compare with, if these are the same (scheme ``orbit``)."""


INDEPENDENT = Dependence()


@dataclass(frozen=True)
class Cell:
    """The p-values of a test under one metric, a null and a size: (N,)."""

    test: str
    metric: str
    null: str
    size: int
    pvalues: Scores
    dependence: Dependence = INDEPENDENT


def rate_interval(rejected: NDArray[np.bool_], dependence: Dependence = INDEPENDENT) -> ConfidenceInterval:
    """The 95% interval of the rejection probability, from whether each of N simulated tests rejects.

    Clopper–Pearson for independent simulations; with an effective number of simulations for clusters
    (:func:`~reshuffle.study.rates.clustered_interval`) and for shared shuffles
    (:func:`~reshuffle.study.testing.effective_simulations`).

    >>> interval = rate_interval(np.arange(1000) < 50)
    >>> round(interval.low, 3), round(interval.high, 3), interval.method
    (0.037, 0.065, 'clopper-pearson')
    """
    n, count = len(rejected), int(rejected.sum())
    if dependence.shared_replicates is not None:
        effective = effective_simulations(n, dependence.shared_replicates)
        hits = count / n * effective
        return with_effective_number(hits, effective - hits if count < n else 0.0, "clopper-pearson-shared")
    if dependence.clusters is not None and len(np.unique(dependence.clusters)) < n:
        index = np.unique(dependence.clusters, return_inverse=True)[1]
        interval = clustered_interval(np.bincount(index, weights=rejected), np.bincount(index))
        # One cluster says nothing about the variance between clusters.
        return interval or ConfidenceInterval(0.0, 1.0, CONFIDENCE_LEVEL, "korn-graubard")
    return clopper_pearson(count, n, CONFIDENCE_LEVEL)


def rates(cell: Cell, alphas: Sequence[float]) -> Iterator[Rate]:
    """The rejection rate at each level: the share of simulations with p ≤ alpha."""
    for alpha in alphas:
        rejected = cell.pvalues <= alpha
        interval = rate_interval(rejected, cell.dependence)
        rate = float(rejected.mean())
        yield Rate(cell.test, cell.metric, cell.null, cell.size, alpha, rate, interval, len(rejected))


def pvalue_shares(cell: Cell) -> Iterator[PvalueShare]:
    """The distribution of p on the grid."""
    ordered = np.sort(cell.pvalues)
    # A p of 5/100 is at most .05 although 0.05 may be rounded differently on the grid.
    counts = np.searchsorted(ordered, np.array(GRID) * (1 + 1e-12), side="right")
    for p, count in zip(GRID, counts.tolist(), strict=True):
        yield PvalueShare(cell.test, cell.metric, cell.null, cell.size, p, count / len(ordered))
