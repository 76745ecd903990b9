"""Experiments: populations of pairs of systems, and the simulated test sets that are drawn from them.

Each test set is a pure function of the seed and its number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..lazy import lazy
from ..metrics.base import Counts, Metric
from ..resampling import CountSample
from ..resampling.samples import core_counts
from ..seeds import DerivedSeed, derive_seed

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
class Experiment:
    """Simulated test sets from populations.

    Simulation i uses population i mod P of P, and ``derive_seed(seed, "simulation", i)`` as the seed of everything
    random in it:

    - The units, from the stream with the purpose ``selection``: drawn with replacement, its indices; as a subset, the
      units with the smallest 64-bit values, in the order of the population.
    - The swaps, from the stream ``assignment``: the j-th chosen unit is swapped if the j-th 32-bit number is less than
      2³² times the probability.
    - The replicates of the tests.

    With groups, whole groups are drawn and swapped in this way, each with all its units.
    """

    populations: Sequence[Population]
    selection: Selection
    seed: int

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.populations, self.selection, self.seed)  # without what can be computed again

    def without_data(self) -> Experiment:
        """The same experiment with metrics that have no counts of their own: populations have those that it needs."""
        populations = [
            replace(each, metrics=[metric.without_data() for metric in each.metrics]) for each in self.populations
        ]
        return replace(self, populations=populations)

    def seed_of(self, simulation: int) -> DerivedSeed:
        """The seed of a simulation."""
        return derive_seed(self.seed, "simulation", simulation)

    def population_of(self, simulation: int) -> Population:
        """The population of a simulation."""
        return self.populations[simulation % len(self.populations)]

    @lazy
    def in_core(self) -> bool:
        """Whether Rust can score all metrics."""
        metrics = (metric for population in self.populations for metric in population.metrics)
        return all(metric.core is not None for metric in metrics)

    @lazy
    def core(self) -> _core.Experiment:
        """The same experiment in Rust, with the counts packed. It has scores only if :attr:`in_core`."""
        return _core.Experiment(
            [_packed(population) for population in self.populations],
            sampling=self.selection.sampling,
            size=self.selection.size,
            swapped=round(self.selection.swapped * 2**32),
            seed=self.seed,
        )

    def units(self, simulation: int) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """The chosen units, and in which of them the two systems are swapped."""
        chosen, swapped = self.core.units(simulation)
        return chosen.astype(np.intp), swapped

    def data_set(self, simulation: int) -> list[Counts]:
        """The counts of both systems in a simulated test set: (2, n, K) for each metric."""
        chosen, swapped = self.units(simulation)
        first = swapped.astype(np.intp)
        systems = np.stack([first, 1 - first])
        return [np.ascontiguousarray(counts[systems, chosen]) for counts in self.population_of(simulation).counts]


def _packed(population: Population) -> tuple[list[tuple[_core.Metric | None, _core.Counts]], NDArray[np.uint32] | None]:
    """A population as the core takes it."""
    samples: list[tuple[_core.Metric | None, _core.Counts]] = []
    for metric, counts in zip(population.metrics, population.counts, strict=True):
        native = CountSample.from_counts(metric, counts).native("shuffles")
        samples.append((None, core_counts(np.asarray(counts, dtype=np.int64))) if native is None else native)
    groups = None if population.groups is None else np.ascontiguousarray(population.groups, dtype=np.uint32)
    return samples, groups
