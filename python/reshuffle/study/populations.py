"""Populations: pairs of systems from which simulated test sets are drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..metrics.base import Counts, Metric

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
