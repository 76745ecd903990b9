"""Replicates of observed counts: shuffles for tests, draws for intervals and tests.

A native metric is summed and scored in Rust. A :class:`~reshuffle.metrics.Formula` is summed in Rust and scored here,
batch by batch, by its own function. Both see the same flips and the same draws.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from ._core import Progress
from .errors import MAX_RESAMPLES, MAX_SEED, InputError, check_integer
from .metrics import Counts, Metric, NativeMetric, Scores, counts_array, thread_count

__all__ = ["Family", "Replicates"]

Pairs: TypeAlias = Sequence[tuple[int, int]]

# Numbers that a batch of replicates of a formula may hold: 32 MB, whatever the number of replicates.
BATCH_CELLS = 1 << 22


def reached(statistics: Scores, thresholds: ArrayLike, alternative: str) -> NDArray[np.bool_]:
    """Which statistics are at least as extreme as their threshold. The core's tally is the same in Rust.

    >>> reached(np.array([-2.0, 1.0, 2.0]), 2.0, "two-sided")
    array([ True, False,  True])
    """
    if alternative == "two-sided":
        return np.greater_equal(np.abs(statistics), thresholds)
    return np.less_equal(statistics, thresholds) if alternative == "less" else np.greater_equal(statistics, thresholds)


@dataclass(frozen=True)
class Family:
    """The counts of k systems under one metric: a (k, S, K) array of int64."""

    metric: Metric
    counts: Counts

    def __post_init__(self) -> None:
        counts = np.ascontiguousarray(counts_array(self.counts, "counts", ndim=3))
        object.__setattr__(self, "counts", counts)

    @classmethod
    def of(cls, metric: Metric, a: ArrayLike, b: ArrayLike | None = None) -> Family:
        """From the (S, K) counts of one system or two."""
        first = counts_array(a, "a", ndim=2)
        if b is None:
            return cls(metric, first[None])
        second = counts_array(b, "b", ndim=2)
        if first.shape != second.shape:
            raise InputError(
                f"a and b must have the same shape (segments, counts), got {first.shape} and {second.shape}"
            )
        return cls(metric, np.stack([first, second]))

    @cached_property
    def totals(self) -> Counts:
        """The sums over all segments: (k, K)."""
        return np.asarray(self.counts.sum(axis=1))

    @cached_property
    def scores(self) -> Scores:
        """The observed score of each system: (k,)."""
        return self.metric.score(self.totals)


class Replicates:
    """R replicates of one or more families of the same S segments.

    Parameters
    ----------
    families : sequence of Family
        All with the same number of segments, at least 2.
    n_resamples : int
        R.
    seed : int
        Replicate r is a pure function of the seed and r, so results depend on nothing else.
    threads, progress
        As in :func:`reshuffle.compare`.
    """

    def __init__(
        self,
        families: Sequence[Family],
        *,
        n_resamples: int,
        seed: int,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.families = tuple(families)
        self.n_resamples = check_integer("n_resamples", n_resamples, 1, MAX_RESAMPLES)
        self.seed = check_integer("seed", seed, 0, MAX_SEED)
        self._threads = thread_count(threads)
        self._progress = progress
        if self.families[0].counts.shape[1] < 2:
            raise InputError("one segment only: there is nothing to shuffle or draw, at least 2 segments are needed")

    def tally(self, pairs: Pairs, thresholds: Scores, alternative: str) -> NDArray[np.int64]:
        """How many shuffles reach each threshold: (metrics, pairs) in and out. Memory does not grow with R."""
        counts = np.zeros(thresholds.shape, dtype=np.int64)
        native = self._native()
        if native:
            indices = list(native)
            counts[indices] = _core.shuffle_tally(
                self._pack(native),
                list(pairs),
                alternative,
                np.ascontiguousarray(thresholds[indices]),
                n=self.n_resamples,
                seed=self.seed,
                threads=self._threads,
                progress=self._progress,
            )
        for index, family in self._formulas().items():
            for _, statistics in self._formula_shuffles(family, pairs):
                counts[index] += reached(statistics, thresholds[index][:, None], alternative).sum(axis=1)
        return counts

    def shuffles(self, pairs: Pairs) -> Scores:
        """The statistic of every shuffle: (metrics, pairs, R)."""
        out = np.empty((len(self.families), len(pairs), self.n_resamples))
        native = self._native()
        if native:
            out[list(native)] = _core.shuffle_statistics(
                self._pack(native),
                list(pairs),
                n=self.n_resamples,
                seed=self.seed,
                threads=self._threads,
                progress=self._progress,
            )
        for index, family in self._formulas().items():
            for batch, statistics in self._formula_shuffles(family, pairs):
                out[index, :, batch] = statistics
        return out

    @cached_property
    def draws(self) -> tuple[Scores, ...]:
        """For each family the score of every system on every draw: (k, R)."""
        out: dict[int, Scores] = {}
        native = self._native()
        if native:
            drawn = _core.draw_scores(
                self._pack(native),
                n=self.n_resamples,
                seed=self.seed,
                threads=self._threads,
                progress=self._progress,
            )
            ends = np.cumsum([len(family.counts) for family in native.values()])[:-1]
            out.update(zip(native, np.split(drawn, ends), strict=True))
        for index, family in self._formulas().items():
            out[index] = np.empty((len(family.counts), self.n_resamples))
            for batch in self._batches(family, "drawing"):
                n = batch.stop - batch.start
                sums = _core.draw_sums([family.counts], n=n, seed=self.seed, first=batch.start, threads=self._threads)
                out[index][:, batch] = family.metric.score(sums.reshape(n, *family.totals.shape)).T
        return tuple(out[index] for index in range(len(self.families)))

    def _native(self) -> dict[int, Family]:
        return {i: f for i, f in enumerate(self.families) if isinstance(f.metric, NativeMetric)}

    def _formulas(self) -> dict[int, Family]:
        return {i: f for i, f in enumerate(self.families) if not isinstance(f.metric, NativeMetric)}

    @staticmethod
    def _pack(native: dict[int, Family]) -> list[tuple[_core.Metric, Counts]]:
        return [(f.metric.core, f.counts) for f in native.values() if isinstance(f.metric, NativeMetric)]

    def _batches(self, family: Family, stage: str) -> Iterator[slice]:
        size = max(1, BATCH_CELLS // family.totals.size)
        progress = self._progress or Progress()
        progress.begin(stage, self.n_resamples)
        for first in range(0, self.n_resamples, size):
            stop = min(first + size, self.n_resamples)
            yield slice(first, stop)
            progress.update(stop)

    def _formula_shuffles(self, family: Family, pairs: Pairs) -> Iterator[tuple[slice, Scores]]:
        """Batches of replicates with the statistic of each pair: (pairs, replicates)."""
        for batch in self._batches(family, "shuffling"):
            n = batch.stop - batch.start
            sums = _core.shuffle_sums([family.counts], n=n, seed=self.seed, first=batch.start, threads=self._threads)
            flipped = sums.reshape(n, *family.totals.shape)
            statistics = np.empty((len(pairs), n))
            for index, (x, y) in enumerate(pairs):
                moved = flipped[:, x] - flipped[:, y]
                shuffled = family.totals[x] - moved, family.totals[y] + moved
                statistics[index] = family.metric.score(shuffled[0]) - family.metric.score(shuffled[1])
            yield batch, statistics
