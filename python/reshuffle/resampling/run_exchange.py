"""What random exchanges do to the difference of two systems with several runs each.

Each function returns the statistic of every pair in every replicate, for all metrics, from the same random numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..metrics.base import Scores
from .replicates import Replicates
from .runs import RunData
from .samples import BATCH_CELLS, Pairs, resampler_of_sums

__all__ = ["Exchanged", "exchange_segments"]


@dataclass(frozen=True, eq=False)
class Exchanged:
    """The statistics of all replicates.

    Attributes
    ----------
    statistics : list of list of (R,) ndarray
        For each metric and pair: score(a) − score(b) in every replicate. R may depend on the pair if ``exact``.
    exact : sequence of bool
        For each pair, whether these are all possible replicates, the observed arrangement among them.
    together : bool
        Whether replicate r of all pairs is the same exchange, so that the maximum over pairs has a meaning.
    centred : bool
        Whether the statistics are deviations of bootstrap draws from the observed difference, not shuffles.
    degrees_of_freedom : list of list of float, or None
        For each metric and pair: those of the t distribution that corrects ``hierarchical`` for few runs.
    """

    statistics: Sequence[Sequence[Scores]]
    exact: Sequence[bool]
    together: bool = True
    centred: bool = False
    degrees_of_freedom: Sequence[Sequence[float]] | None = None


def exchange_segments(data: RunData, pairs: Pairs, statistic: str) -> Exchanged:
    """One coin for each unit swaps all outputs of one system with all outputs of the other."""
    assert statistic == "pooled"  # TODO: mean, unequal numbers of runs, batches
    counts = np.stack([data.pooled(system) for system in range(len(data.names))])
    resampler = resampler_of_sums("shuffles", counts)
    replicates = Replicates.from_settings([data.samples[0]], data.resampling)
    k, _, width = counts.shape
    totals = counts.sum(axis=1)
    found: list[list[list[Scores]]] = [[[] for _ in pairs] for _ in data.samples]
    for batch in replicates.batches(max(1, BATCH_CELLS // (k * width)), "shuffling"):
        flipped = batch.sums(resampler).reshape(batch.n, k, width)
        for p, (a, b) in enumerate(pairs):
            moved = flipped[:, b] - flipped[:, a]
            for m, (x, y) in enumerate(
                zip(data.scored(totals[a] + moved), data.scored(totals[b] - moved), strict=True)
            ):
                found[m][p].append(x - y)
    return Exchanged([[np.concatenate(parts) for parts in own] for own in found], [False] * len(pairs))
