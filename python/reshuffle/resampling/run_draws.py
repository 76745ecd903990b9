"""Bootstrap draws of systems with several runs each: of segments, and of runs and segments.

The segments of a draw are the same for all outputs of all systems, because all of them translate the same test set. The
runs of a system are drawn independently of those of other systems.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..lazy import lazy
from ..metrics.base import Counts, Scores
from .replicates import Replicates
from .samples import BATCH_CELLS, resampler_of_sums, stratum_sizes

if TYPE_CHECKING:
    from .runs import RunData

# The deviations of outputs are sums over blocks of so many draws, at multiples of it.
BLOCK = 512

# The scores of all systems on R draws by statistic: (metrics, systems, R).
Series: TypeAlias = Mapping[str, Scores]


@dataclass(frozen=True, eq=False)
class DrawnRuns:
    """The scores of R draws. Segments are drawn once for all outputs and metrics."""

    data: RunData

    @lazy
    def deviations(self) -> list[Scores]:
        """The standard deviation of each output's score over draws of segments, with R − 1: (outputs,) by metric.

        0 if R is 1. The core computes those of metrics in Rust, in one pass without storing the draws.
        """
        data, replicates = self.data, self.data.replicates
        if replicates.n_resamples == 1:
            return [np.zeros(len(data.totals)) for _ in data.samples]
        found: dict[int, Scores] = {}
        native = {m: counts for m, sample in enumerate(data.samples) if (counts := sample.native("draws")) is not None}
        if native:
            resampler = _core.Resampler(
                list(native.values()),
                kind="draws",
                strata=stratum_sizes(replicates.strata),
                threads=replicates.threads,
            )
            (moments,) = resampler.run(
                [_core.Moments()],
                n=replicates.n_resamples,
                seed=replicates.seed,
                threads=replicates.threads,
                progress=replicates.progress,
            )
            found.update(zip(native, np.split(moments.deviations, len(native)), strict=True))
        return [found[m] if m in found else self._scored[2][m] for m in range(len(data.samples))]

    @property
    def fixed(self) -> Series:
        """The scores of draws of segments, with all runs of each system: (systems, R) by statistic and metric."""
        return self._scored[0]

    @property
    def hierarchical(self) -> Series:
        """The scores of draws of segments and runs: n − 1 of a system's n runs, with replacement, or its only run.

        With n − 1 runs the draws have the variance between runs that n runs have (Rao & Wu 1988,
        doi:10.1080/01621459.1988.10478591).
        """
        return self._scored[1]

    @lazy
    def _scored(self) -> tuple[Series, Series, list[Scores]]:
        """``fixed``, ``hierarchical``, and the standard deviations of all outputs, in one pass.

        Memory: 4·R numbers for each system and metric.
        """
        from .run_parts import in_parts

        data, replicates = self.data, self.data.replicates
        n_draws = replicates.n_resamples
        scores, sums, squares = in_parts(_scored_draws, data, (), replicates, "drawing")
        fixed, hierarchical = (dict(zip(STATISTICS_OF_DRAWS, drawn, strict=True)) for drawn in scores)
        sums, squares = sums.sum(axis=-1), squares.sum(axis=-1)
        variances = np.maximum(squares - sums**2 / n_draws, 0) / max(n_draws - 1, 1)
        return fixed, hierarchical, list(np.sqrt(variances))


STATISTICS_OF_DRAWS = ("pooled", "mean")


def _scored_draws(data: RunData, replicates: Replicates) -> list[Scores]:
    """The scores of all systems on draws of segments, and of segments and runs.

    Their shape is (2, statistics, metrics, systems, draws). Then come the sums of the outputs' scores, less the
    observed ones, and of their squares over each block of draws: (metrics, outputs, blocks).
    """
    numbers = replicates.numbers
    n_metrics, k, n_draws = len(data.samples), len(data.names), len(numbers)
    found = np.empty((2, len(STATISTICS_OF_DRAWS), n_metrics, k, n_draws))
    observed = data.scored(data.totals)
    sums, squares = np.zeros((2, n_metrics, len(data.totals), -(-n_draws // BLOCK)))
    runs = [
        _drawn_runs(replicates.seed, system, n, numbers.stop)[numbers.start :] for system, n in enumerate(data.n_runs)
    ]
    for first, drawn in _batches(replicates, data.counts):
        own = slice(first, first + len(drawn))
        data.check_sums(drawn, " in bootstrap draws")
        scores = data.scored(drawn)
        starts = np.arange(0, len(drawn), BLOCK)
        blocks = slice(first // BLOCK, first // BLOCK + len(starts))
        for m, of_metric in enumerate(scores):
            shifted = of_metric - observed[m]
            sums[m, :, blocks] = np.add.reduceat(shifted, starts).T
            squares[m, :, blocks] = np.add.reduceat(shifted**2, starts).T
        for system, rows in enumerate(data.rows):
            taken = runs[system][own]
            of_pooled = data.scored(drawn[:, rows].sum(axis=1))
            of_drawn = data.scored(np.einsum("rn,rnk->rk", taken, drawn[:, rows]))
            for m, of_metric in enumerate(scores):
                values = of_metric[:, rows]
                of_runs = (taken * values).sum(axis=1) / taken[0].sum()
                found[:, :, m, system, own] = [[of_pooled[m], values.mean(axis=1)], [of_drawn[m], of_runs]]
    return [found, sums, squares]


def _batches(replicates: Replicates, counts: Counts) -> Iterator[tuple[int, Counts]]:
    """The sums of all columns of (outputs, units, ΣK) counts over drawn units, in batches: (n, outputs, ΣK).

    They come with the place of their first draw among the replicates. Batches are whole blocks but for the last one.
    """
    k, _, width = counts.shape
    strata = replicates.strata
    resampler = resampler_of_sums("draws", counts if strata is None else strata.sort_units(counts), strata)
    size = max(1, BATCH_CELLS // (k * width * BLOCK)) * BLOCK
    for batch in replicates.batches(size, "drawing"):
        yield batch.first - replicates.numbers.start, batch.sums(resampler).reshape(batch.n, k, width)


def _drawn_runs(seed: int, system: int, n: int, n_draws: int) -> NDArray[np.int64]:
    """How often each draw takes each of a system's n runs: (R, n), with sums of n − 1, or 1 for a single run."""
    n_taken = max(n - 1, 1)
    indices = _core.stream_indices(_core.derive(seed, "run", system), 0, n, n_draws * n_taken).astype(np.int64)
    # the number of a draw and run, as one index
    indices += np.repeat(np.arange(n_draws) * n, n_taken)
    return np.bincount(indices, minlength=n_draws * n).reshape(n_draws, n)
