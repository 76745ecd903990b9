"""Rejection rates of simulated tests, and their Monte Carlo error."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..metrics.base import Scores
from ..results import ConfidenceInterval, clopper_pearson
from ..results.studies import PvalueShare, Rate
from .clusters import clustered_interval, with_effective_number
from .testing import effective_simulations

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
    (:func:`~reshuffle.study.clusters.clustered_interval`) and for shared shuffles
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
