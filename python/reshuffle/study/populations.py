"""Populations: pairs of systems from which simulated test sets are drawn."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..lazy import lazy
from ..metrics.base import Counts, Metric
from ..resampling import CountSample

# How the units of a simulated test set are chosen from the population.
SAMPLING = ("replace", "subset", "fixed")


@dataclass(frozen=True, eq=False)
class Population:
    """Two systems under one or more metrics."""

    name: str
    """Such as ``A, B``."""
    metrics: Sequence[Metric]
    counts: Sequence[Counts]
    """Shape (2, U, K). The counts of both systems, for each metric."""
    groups: NDArray[np.uint32] | None = None
    """Shape (U,). The document of each unit, counted from 0 in order of first appearance, if whole documents are drawn
    and swapped although the tests resample units.
    """

    @property
    def n_units(self) -> int:
        """U."""
        return int(self.counts[0].shape[1])

    @property
    def n_groups(self) -> int:
        """What a selection chooses from: the number of units or, with groups, of groups."""
        return self.n_units if self.groups is None else int(self.groups.max()) + 1


@dataclass(frozen=True)
class Selection:
    """How a simulated test set is chosen from a population."""

    sampling: str = "replace"
    """Draw units with replacement or without it, or take all of them. With groups, whole groups are drawn."""
    size: int | None = None
    """How many units (or groups) to draw; None for all of them."""
    swapped: float = 0.5
    """The probability with which the two systems of a unit (or group) are swapped: ½ makes them exchangeable, 0 leaves
    their difference as it is, and (1 − 2η)/2 shrinks it by about the factor 2η.
    """


def swap_probability(eta: float) -> float:
    """The probability with which two systems are swapped in a unit for an effect of size η from 0 to ½: (1 − 2η)/2.

    η = 0 makes the systems exchangeable, the null hypothesis of approximate randomization; η = ½ is the real pair. In
    between, each system's expected counts move in proportion from the mean of both to its own, so that power curves
    over η compare metrics on the same effects, with real covariance.

    >>> swap_probability(0), swap_probability(0.25), swap_probability(0.5)
    (0.5, 0.25, 0.0)
    """
    return (1 - 2 * eta) / 2


@dataclass(frozen=True, eq=False)
class NamedPair:
    """A pair of systems under one metric, by their names. Those of the systems are empty for a model without data."""

    metric: str
    system: str
    baseline: str
    higher_is_better: bool


@dataclass(frozen=True, eq=False)
class MeasuredPair(NamedPair):
    """A pair of systems under one metric, and its counts: (2, U, K)."""

    formula: Metric
    counts: Counts

    @property
    def n_units(self) -> int:
        """U."""
        return int(self.counts.shape[1])

    @property
    def reversed(self) -> MeasuredPair:
        """The same pair with the systems exchanged."""
        counts = np.ascontiguousarray(self.counts[::-1])
        return replace(self, system=self.baseline, baseline=self.system, counts=counts)

    @lazy
    def totals(self) -> Counts:
        """The summed counts of both systems: (2, K)."""
        return np.asarray(self.counts.sum(axis=1))

    def difference(self, effect: float = 0.5) -> float:
        """The difference of the scores of the expected sums of the two systems when they are mixed by η.

        Expected sums are rounded to whole counts. Means are linear in the sums, so that they need no rounding.
        """
        if self.formula.is_mean or effect == 0.5:
            a, b = self.formula.score(self.totals).tolist()
            return float(2 * effect * (a - b)) if effect else 0.0
        swapped = swap_probability(effect)
        expected = np.rint((1 - swapped) * self.totals + swapped * self.totals[::-1]).astype(np.int64)
        a, b = self.formula.score(expected).tolist()
        return float(a - b) if effect else 0.0

    @lazy
    def observed(self) -> float:
        """The difference of the pair as it is."""
        return self.difference()

    @lazy
    def variance(self) -> float:
        """The variance of the difference on all units, by the delta method."""
        sample = CountSample.from_counts(self.formula, self.counts)
        return float(sample.variances_of_differences([(0, 1)])[0])

    @property
    def unit_error(self) -> float:
        """The standard deviation of the contribution of a unit to the difference: se·√U."""
        return math.sqrt(self.variance * self.n_units)

    def mixture_error(self, effect: float, size: int) -> float:
        """The standard error of the difference of a mixture on a test set of this size.

        A contribution d to the difference Δ of the real pair becomes ±d with mean 2ηd: its variance is that of d plus
        (1 − 4η²)·Δ².
        """
        return math.sqrt((self.unit_error**2 + (1 - 4 * effect**2) * self.observed**2) / size)
