"""Systems with several optimizer runs each: the counts of all outputs, the statistics of pairs, and bootstrap draws.

The segments of a draw are the same for all outputs of all systems, because all of them translate the same test set. The
runs of a system are drawn independently of those of other systems. The workers of an executor can make replicates.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..errors import InputError
from ..lazy import lazy
from ..metrics.base import LARGEST_SUM, Counts, Scores
from ..settings import Resampling, Units
from .counting import Data
from .incomplete import complete_counts
from .replicates import Replicates
from .run_linear import RunCovariances
from .samples import BATCH_CELLS, CountSample, all_sent, resampler_of_sums, stratum_sizes
from .units import documents_and_strata

STATISTICS: Mapping[str, str] = {
    "pooled": "the score of all outputs of a system, taken as one long output",
    "mean": "the mean of the scores of a system's runs",
}

# Ranges of replicates begin at multiples of so many, and the deviations of outputs are sums over such blocks.
BLOCK = 512

# The scores of all systems on R draws by statistic: (metrics, systems, R).
Series: TypeAlias = Mapping[str, Scores]

# From data, arguments and replicates to arrays whose last axis is that of the replicates, or of their blocks of
# :data:`BLOCK`. A function of a module.
Computed: TypeAlias = Callable[..., Sequence[NDArray[Any]]]


@dataclass(frozen=True, eq=False)
class RunData:
    """The outputs of all runs of k systems on the same test set, counted under some metrics.

    ``samples`` have a row for each output: those of the first system, then those of the second, and so on. Their units
    are documents if documents are resampled.
    """

    names: tuple[str, ...]
    n_runs: tuple[int, ...]
    samples: Sequence[CountSample]
    resampling: Resampling

    @classmethod
    def from_data(cls, data: Data, n_runs: Mapping[str, int], units: Units, resampling: Resampling) -> RunData:
        """Count all outputs. The systems of ``data`` are the outputs, in the order of ``n_runs``."""
        grouping = documents_and_strata(units, data.n_segments, warn_of_ids=True)
        samples = [
            complete_counts(sample, "a comparison of runs", data.names).in_units(*grouping).with_counts()
            for sample in data.count(data.names, resampling)
        ]
        return cls(tuple(n_runs), tuple(n_runs.values()), samples, resampling)

    @property
    def replicates(self) -> Replicates:
        """The replicates of the outputs under the first metric; all metrics have the same."""
        return Replicates(self.samples[:1], self.resampling)

    @property
    def n_units(self) -> int:
        """The number of segments, or of documents."""
        return self.samples[0].n_units

    @property
    def unit(self) -> str:
        """``segment`` or ``document``."""
        return self.samples[0].unit

    @lazy
    def rows(self) -> list[slice]:
        """The rows of each system's outputs."""
        ends = np.cumsum(self.n_runs).tolist()
        return [slice(end - n, end) for n, end in zip(self.n_runs, ends, strict=True)]

    @lazy
    def counts(self) -> Counts:
        """The counts of all metrics side by side: (outputs, units, ΣK)."""
        return np.concatenate([sample.counts for sample in self.samples], axis=2)

    @lazy
    def totals(self) -> Counts:
        """The sums over all units: (outputs, ΣK)."""
        return np.concatenate([sample.totals for sample in self.samples], axis=1)

    @lazy
    def deviations(self) -> list[Scores]:
        """The standard deviation of each output's score over draws of segments, with R − 1: (outputs,) by metric.

        0 if R is 1. The core computes those of metrics in Rust, in one pass without storing the draws.
        """
        replicates = self.replicates
        if replicates.n_resamples == 1:
            return [np.zeros(len(self.totals)) for _ in self.samples]
        found: dict[int, Scores] = {}
        native = {m: counts for m, sample in enumerate(self.samples) if (counts := sample.native("draws")) is not None}
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
        return [found[m] if m in found else self._scored[2][m] for m in range(len(self.samples))]

    @property
    def fixed_draws(self) -> Series:
        """The scores of draws of segments, with all runs of each system: (systems, R) by statistic and metric."""
        return self._scored[0]

    @property
    def hierarchical_draws(self) -> Series:
        """The scores of draws of segments and runs: n − 1 of a system's n runs, with replacement, or its only run.

        With n − 1 runs the draws have the variance between runs that n runs have (Rao & Wu 1988,
        doi:10.1080/01621459.1988.10478591).
        """
        return self._scored[1]

    @lazy
    def _scored(self) -> tuple[Series, Series, list[Scores]]:
        """``fixed_draws``, ``hierarchical_draws``, and the standard deviations of all outputs, in one pass.

        Memory: 4·R numbers for each system and metric.
        """
        replicates = self.replicates
        n_draws = replicates.n_resamples
        scores, sums, squares = in_parts(_scored_draws, self, (), replicates, "drawing")
        fixed, hierarchical = (dict(zip(STATISTICS, drawn, strict=True)) for drawn in scores)
        sums, squares = sums.sum(axis=-1), squares.sum(axis=-1)
        variances = np.maximum(squares - sums**2 / n_draws, 0) / max(n_draws - 1, 1)
        return fixed, hierarchical, list(np.sqrt(variances))

    @lazy
    def covariances(self) -> list[RunCovariances]:
        """How the scores of all outputs vary together over test sets, for each metric."""
        return [RunCovariances.from_sample(sample, self.rows) for sample in self.samples]

    def check_sums(self, sums: Counts, where: str = "") -> None:
        """:class:`InputError` if sums over all runs of a system, of (..., outputs, ΣK), could pass ``LARGEST_SUM``."""
        for name, n, rows in zip(self.names, self.n_runs, self.rows, strict=True):
            of_system = sums[..., rows, :]
            # as integers of Python, which do not overflow
            if n * max(int(of_system.max()), -int(of_system.min())) > LARGEST_SUM:
                raise InputError(
                    f"the counts of the {n} runs of {name} are too large to be added up{where}: use fewer runs, or "
                    "round the scores of segments to a few decimals"
                )

    def by_metric(self, sums: Counts) -> list[Counts]:
        """Sums of the columns of all metrics, (..., ΣK), split into those of each metric: (..., K)."""
        ends = np.cumsum([sample.totals.shape[1] for sample in self.samples])[:-1]
        return np.split(sums, ends, axis=-1)

    def scored(self, sums: Counts) -> list[Scores]:
        """The scores of sums of the columns of all metrics: (..., ΣK) in, (...) for each metric out."""
        return [sample.metric.score(own) for sample, own in zip(self.samples, self.by_metric(sums), strict=True)]

    def weights(self, pair: tuple[int, int]) -> tuple[int, int]:
        """What the sums of the runs of two systems are multiplied by, so that both stand for equally many runs.

        1 and 1 for systems with equally many runs. Scores do not change: they are ratios of sums.
        """
        n, m = (self.n_runs[system] for system in pair)
        common = math.lcm(n, m)
        return common // n, common // m

    def score_of(self, system: int, statistic: str) -> list[float]:
        """The score of a system under each metric, by a name in :data:`STATISTICS`."""
        totals = self.totals[self.rows[system]]
        if statistic == "pooled":
            return [float(score) for score in self.scored(totals.sum(axis=0))]
        return [float(scores.mean()) for scores in self.scored(totals)]


def _scored_draws(data: RunData, replicates: Replicates) -> list[Scores]:
    """The scores of all systems on draws of segments, and of segments and runs.

    Their shape is (2, statistics, metrics, systems, draws). Then come the sums of the outputs' scores, less the
    observed ones, and of their squares over each block of draws: (metrics, outputs, blocks).
    """
    numbers = replicates.numbers
    n_metrics, k, n_draws = len(data.samples), len(data.names), len(numbers)
    found = np.empty((2, len(STATISTICS), n_metrics, k, n_draws))
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


def in_parts(
    function: Computed, data: RunData, arguments: tuple[Any, ...], replicates: Replicates, stage: str
) -> Sequence[NDArray[Any]]:
    """``function(data, *arguments, replicates)``, by the workers of the executor if there is one.

    ``replicates`` are those of the first sample of the data.
    """
    samples = None if replicates.executor is None else all_sent(data.samples, "shuffles")
    if samples is None:
        return function(data, *arguments, replicates)
    of_data = function, data.names, data.n_runs, arguments
    parts = replicates.by_workers(_of_replicates, of_data, samples, BLOCK, stage)
    return [np.concatenate(arrays, axis=-1) for arrays in zip(*parts, strict=True)]


def _of_replicates(
    replicates: Replicates,
    function: Computed,
    names: tuple[str, ...],
    n_runs: tuple[int, ...],
    arguments: tuple[Any, ...],
) -> list[NDArray[Any]]:
    """What a function says of a range of replicates, whose samples are those of systems with several runs."""
    samples = [sample.with_counts() for sample in replicates.samples]
    return list(function(RunData(names, n_runs, samples, Resampling()), *arguments, replicates))
