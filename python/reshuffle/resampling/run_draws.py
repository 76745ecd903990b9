"""Bootstrap draws of systems with several runs each: of segments, and of runs and segments.

The segments of a draw are the same for all outputs of all systems, because all of them translate the same test set. The
runs of a system are drawn independently of those of other systems.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..metrics.base import Counts, Scores
from .replicates import Replicates
from .samples import BATCH_CELLS, resampler_of_sums

if TYPE_CHECKING:
    from .runs import RunData

__all__ = ["DrawnRuns"]


@dataclass(frozen=True, eq=False)
class DrawnRuns:
    """The scores of R draws.

    Attributes
    ----------
    deviations : list of (outputs,) ndarray
        For each metric: the standard deviation of each output's score over draws of segments, with R − 1; 0 if R is 1.
    fixed : mapping of str to list of (systems, R) ndarray
        For each statistic and metric: the score of each system on draws of segments, with all of its runs.
    hierarchical : mapping of str to list of (systems, R) ndarray
        The same with runs drawn as well: n − 1 of a system's n runs, with replacement, or its only run. With n − 1
        runs the draws have the variance between runs that n runs have (Rao & Wu 1988,
        doi:10.1080/01621459.1988.10478591).
    """

    deviations: Sequence[Scores]
    fixed: Mapping[str, Sequence[Scores]]
    hierarchical: Mapping[str, Sequence[Scores]]

    @classmethod
    def from_data(cls, data: RunData) -> DrawnRuns:
        """One pass over R draws of segments, for all outputs and metrics. Memory: 4·R numbers per system and metric."""
        replicates = Replicates.from_settings(data.samples[:1], data.resampling)
        n_metrics, k, n_draws = len(data.samples), len(data.names), replicates.n_resamples
        fixed, hierarchical = (
            {name: [np.empty((k, n_draws)) for _ in range(n_metrics)] for name in ("pooled", "mean")} for _ in range(2)
        )
        observed = data.scored(data.totals)
        sums, squares = np.zeros((2, n_metrics, len(data.totals)))
        runs = [_drawn_runs(replicates.seed, system, n, n_draws) for system, n in enumerate(data.n_runs)]
        for first, drawn in _batches(replicates, data.counts):
            own = slice(first, first + len(drawn))
            scores = data.scored(drawn)
            for m, of_metric in enumerate(scores):
                shifted = of_metric - observed[m]
                sums[m] += shifted.sum(axis=0)
                squares[m] += (shifted**2).sum(axis=0)
            for system, rows in enumerate(data.rows):
                taken = runs[system][own]
                pooled = drawn[:, rows].sum(axis=1)
                pooled_runs = np.einsum("rn,rnk->rk", taken, drawn[:, rows])
                of_pooled, of_pooled_runs = data.scored(pooled), data.scored(pooled_runs)
                for m, of_metric in enumerate(scores):
                    values = of_metric[:, rows]
                    fixed["pooled"][m][system, own] = of_pooled[m]
                    fixed["mean"][m][system, own] = values.mean(axis=1)
                    hierarchical["pooled"][m][system, own] = of_pooled_runs[m]
                    hierarchical["mean"][m][system, own] = (taken * values).sum(axis=1) / taken[0].sum()
        variances = np.maximum(squares - sums**2 / n_draws, 0) / max(n_draws - 1, 1)
        return cls(list(np.sqrt(variances)), fixed, hierarchical)


def _batches(replicates: Replicates, counts: Counts) -> Iterator[tuple[int, Counts]]:
    """The sums of all columns of (outputs, units, ΣK) counts over drawn units, in batches: (n, outputs, ΣK)."""
    k, _, width = counts.shape
    strata = replicates.strata
    resampler = resampler_of_sums("draws", counts if strata is None else strata.sort_units(counts), strata)
    for batch in replicates.batches(max(1, BATCH_CELLS // (k * width)), "drawing"):
        yield batch.first, batch.sums(resampler).reshape(batch.n, k, width)


def _drawn_runs(seed: int, system: int, n: int, n_draws: int) -> NDArray[np.int64]:
    """How often each draw takes each of a system's n runs: (R, n), with sums of n − 1, or 1 for a single run."""
    n_taken = max(n - 1, 1)
    indices = _core.stream_indices(_core.derive(seed, "run", system), 0, n, n_draws * n_taken).astype(np.int64)
    # the number of a draw and run, as one index
    indices += np.repeat(np.arange(n_draws) * n, n_taken)
    return np.bincount(indices, minlength=n_draws * n).reshape(n_draws, n)
