"""Experiments: the simulated test sets of a study, each a pure function of the seed and its number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..metrics.base import Counts
from ..seeds import DerivedSeed, derive_seed
from .populations import Population, Selection

__all__ = ["Experiment"]


@dataclass(frozen=True, eq=False)
class Experiment:
    """Simulated test sets from populations.

    Simulation i uses population i mod P of P, and ``derive_seed(seed, "simulation", i)`` as the seed of everything
    random in it: the units (purpose ``selection``), the swaps (``assignment``), and the replicates of the tests.
    """

    populations: Sequence[Population]
    selection: Selection
    seed: int

    def seed_of(self, simulation: int) -> DerivedSeed:
        """The seed of a simulation."""
        return derive_seed(self.seed, "simulation", simulation)

    def population_of(self, simulation: int) -> Population:
        """The population of a simulation."""
        return self.populations[simulation % len(self.populations)]

    def units(self, simulation: int) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """The chosen units, and in which of them the two systems are swapped."""
        population, seed = self.population_of(simulation), self.seed_of(simulation)
        n_all = population.n_groups
        n = n_all if self.selection.size is None else self.selection.size
        if self.selection.sampling == "replace":
            chosen = _core.stream_indices(seed, 0, n_all, n, purpose="selection").astype(np.intp)
        elif self.selection.sampling == "subset":
            # The units with the smallest keys, in the order of the population.
            keys = _core.stream_values(seed, "selection", 0, n_all)
            chosen = np.sort(np.argsort(keys, kind="stable")[:n])
        else:
            chosen = np.arange(n_all)
        # The j-th chosen unit is swapped if the stream's j-th 32-bit word is less than swapped·2^32.
        words = _core.stream_values(seed, "assignment", 0, -(-len(chosen) // 2)).view(np.uint32)[: len(chosen)]
        swapped = words < round(self.selection.swapped * 2**32)
        if population.groups is None:
            return chosen, swapped
        members = [np.flatnonzero(population.groups == group) for group in range(n_all)]
        return (
            np.concatenate([members[group] for group in chosen]),
            np.repeat(swapped, [len(members[group]) for group in chosen]),
        )

    def data_set(self, simulation: int) -> list[Counts]:
        """The counts of both systems in a simulated test set: (2, n, K) for each metric."""
        chosen, swapped = self.units(simulation)
        counts = (counts[:, chosen] for counts in self.population_of(simulation).counts)
        return [np.ascontiguousarray(np.where(swapped[:, None], own[::-1], own)) for own in counts]
