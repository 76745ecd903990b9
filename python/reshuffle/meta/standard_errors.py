"""Standard errors of differences between metrics, for other systems and other segments, and the t test with them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from ..metrics.base import Scores
from .left_out import LeftOut

# The fewest systems, and the fewest segments, from whose differences a variance is estimated.
FEWEST = 4
# Differences and standard errors of values up to 1 that are smaller are rounding errors.
ROUNDING = 1e-11


class Variance(NamedTuple):
    """A variance, and how certain it is."""

    value: float
    df: float


class Errors(Protocol):
    """What knows the variance of the difference between two metrics."""

    def of(self, a: int, b: int) -> Variance:
        """The variance of the value of metric a minus that of metric b."""


@dataclass(frozen=True, eq=False)
class TwoWay:
    """Jackknife covariances of M values: of systems, of segments, and of outputs on their own, (M, M) each."""

    systems: Scores
    segments: Scores
    cells: Scores
    n_systems: int
    n_segments: int

    def of(self, a: int, b: int) -> Variance:
        """The variance between segments, and what systems add to the variance of independent outputs.

        If there are fewer segments than systems, the other way round. Errors of outputs are part of both variances, but
        count once. Degrees of freedom are those of Satterthwaite 1946 (doi:10.2307/3002019).
        """
        systems, segments, cells = (
            float(c[a, a] + c[b, b] - 2 * c[a, b]) for c in (self.systems, self.segments, self.cells)
        )
        parts = [(segments, self.n_segments), (systems, self.n_systems)]
        (base, many), (other, few) = parts if self.n_segments >= self.n_systems else parts[::-1]
        if math.isnan(base + other + cells):
            return Variance(math.nan, math.nan)
        value = base + max(other - cells, 0.0)
        if other <= cells or value <= 0:
            return Variance(max(value, 0.0), many - 1)
        rest = max(value - other, 0.0)
        return Variance(value, value**2 / (other**2 / (few - 1) + rest**2 / (many - 1)))


def two_way(left: LeftOut) -> TwoWay | None:
    """From values without each system, segment and cell; None if there are too few of them, or one has no value.

    Delete-one jackknife (Miller 1974, doi:10.1093/biomet/61.1.1) in the two directions of Cameron, Gelbach & Miller
    2011 (doi:10.1198/jbes.2010.07136).
    """
    n_systems, n_segments = left.systems.shape[1], left.segments.shape[1]
    if min(n_systems, n_segments) < FEWEST or any(np.isnan(values).any() for values in left):
        return None
    systems, segments, cells = (_covariance(values) for values in left)
    return TwoWay(systems, segments, cells, n_systems, n_segments)


def _covariance(values: Scores) -> Scores:
    """(n − 1)/n times the sums of products of deviations."""
    n = values.shape[1]
    deviations = values - values.mean(axis=1, keepdims=True)
    return np.asarray(deviations @ deviations.T * ((n - 1) / n))


@dataclass(frozen=True, eq=False)
class AveragedErrors:
    """Of means over independent test sets.

    ``places`` has the metrics' places in each test set: (M, T).
    """

    parts: Sequence[Errors]
    places: np.ndarray[tuple[int, ...], np.dtype[np.intp]]

    def of(self, a: int, b: int) -> Variance:
        """The variance of the difference of means, with Satterthwaite's degrees of freedom."""
        found = [part.of(int(i), int(j)) for part, i, j in zip(self.parts, self.places[a], self.places[b], strict=True)]
        values = np.array([each.value for each in found]) / len(found) ** 2
        uncertain = float((values**2 / np.array([each.df for each in found])).sum())
        total = float(values.sum())
        return Variance(total, total**2 / uncertain if uncertain > 0 else min(each.df for each in found))


class TTest(NamedTuple):
    """t, its two-sided p-value and its degrees of freedom. NaN where they are not defined."""

    statistic: float
    pvalue: float
    df: float


def t_test(difference: float, variance: Variance) -> TTest:
    """Test whether a difference is 0. No difference has p = 1, and one without a spread no p."""
    from scipy.special import stdtr

    if math.isnan(variance.value):
        return TTest(math.nan, math.nan, math.nan)
    if abs(difference) <= ROUNDING:
        return TTest(0.0, 1.0, variance.df)
    error = math.sqrt(variance.value)
    if error <= ROUNDING:
        return TTest(math.nan, math.nan, variance.df)
    t = difference / error
    return TTest(t, float(2 * stdtr(variance.df, -abs(t))), variance.df)
