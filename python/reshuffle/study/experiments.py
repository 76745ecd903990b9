"""Experiments: the simulated test sets of a study, each a pure function of the seed and its number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..lazy import lazy
from ..metrics.base import Counts
from ..resampling import CountSample
from ..resampling.samples import core_counts
from ..seeds import DerivedSeed, derive_seed
from .populations import Population, Selection


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
