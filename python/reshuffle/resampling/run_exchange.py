"""What random exchanges do to the difference of two systems with several runs each.

Each function returns the statistic of every pair in every replicate, for all metrics, from the same random numbers. An
exchange makes two pseudo-systems with as many pseudo-runs as the systems have, whose summed counts are scored as those
of the systems are: as one long output (``pooled``), or run by run (``mean``).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations, islice
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..errors import InputError
from ..metrics.base import Counts, Scores
from ..seeds import derive_seed
from .reductions import Series
from .replicates import Replicates
from .runs import RunData
from .samples import BATCH_CELLS, Batch, CountSample, Pairs, resampler_of_sums

__all__ = [
    "Exchanged",
    "exchange_cells",
    "exchange_pooled",
    "exchange_runs",
    "exchange_segments",
    "number_of_splits",
    "shuffle_as_multeval",
    "splits_are_exact",
]

# All splits of the runs are used if there are at most this many, or at most R.
MANY_SPLITS = 20_000
# Random splits that are drawn together. They depend on this number, so it is the same everywhere.
SPLITS_TOGETHER = 4096

Indices: TypeAlias = NDArray[np.intp]
# Sums of counts of pseudo-runs, all metrics side by side: (n, runs, ΣK).
RunSums: TypeAlias = Counts


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


def number_of_splits(n: int, m: int) -> int:
    """In how many ways n + m runs can be split into n and m: C(n + m, n).

    >>> number_of_splits(3, 3), number_of_splits(5, 5)
    (20, 252)
    """
    return math.comb(n + m, n)


def splits_are_exact(n: int, m: int, n_resamples: int) -> bool:
    """Whether whole runs are exchanged in all ways, not in R random ones.

    >>> splits_are_exact(7, 7, 999), splits_are_exact(9, 9, 10_000), splits_are_exact(9, 9, 100_000)
    (True, False, True)
    """
    return number_of_splits(n, m) <= max(n_resamples, MANY_SPLITS)


def exchange_runs(data: RunData, pairs: Pairs, statistic: str) -> Exchanged:
    """Whole runs are exchanged: all splits of the n + m runs if they are few, otherwise R random ones."""
    n_resamples = Replicates.from_settings([data.samples[0]], data.resampling).n_resamples
    sizes = [_sizes(data, pair) for pair in pairs]
    exact = [splits_are_exact(*size, n_resamples) for size in sizes]
    found: list[list[Scores]] = [[] for _ in data.samples]
    for (a, b), size, every in zip(pairs, sizes, exact, strict=True):
        totals = data.totals[np.r_[data.rows[a], data.rows[b]]]
        n_splits = number_of_splits(*size) if every else n_resamples
        splits = _all_splits(*size) if every else _random_splits(*size, n_resamples, int(data.resampling.seed))
        of_pair = _of_splits(data, totals, splits, n_splits, size[0], statistic)
        for own, statistics in zip(found, of_pair, strict=True):
            own.append(statistics)
    return Exchanged(found, exact, together=len(set(sizes)) <= 1)


def _of_splits(
    data: RunData, totals: Counts, splits: Iterator[Indices], n_splits: int, n: int, statistic: str
) -> list[Scores]:
    """The statistic of each split for each metric: (n_splits,). The first n runs of a split are those of a."""
    found: list[Scores] = [np.empty(n_splits) for _ in data.samples]
    scores = data.scored(totals)
    first = 0
    for split in splits:
        these = slice(first, first + len(split))
        if statistic == "pooled":
            sides = [data.scored(_sum_of_runs(totals, side)) for side in (split[:, :n], split[:, n:])]
        else:
            sides = [[own[side].mean(axis=1) for own in scores] for side in (split[:, :n], split[:, n:])]
        for statistics, x, y in zip(found, *sides, strict=True):
            statistics[these] = x - y
        first = these.stop
    return found


def _sum_of_runs(totals: Counts, runs: Indices) -> Counts:
    """The sums of the totals of some runs: (N, ΣK) and (n, runs) in, (n, ΣK) out."""
    members = np.zeros((len(runs), len(totals)), dtype=np.int64)
    np.put_along_axis(members, runs, 1, axis=1)
    return np.asarray(members @ totals)


def _all_splits(n: int, m: int) -> Iterator[Indices]:
    """All splits of n + m runs, in batches of (n_splits, n + m). The first is the observed one."""
    left = combinations(range(n + m), n)
    while flat := list(chain.from_iterable(islice(left, SPLITS_TOGETHER))):
        a = np.array(flat, dtype=np.intp).reshape(-1, n)
        others = np.ones((len(a), n + m), dtype=np.bool_)
        np.put_along_axis(others, a, False, axis=1)
        yield np.concatenate([a, np.nonzero(others)[1].reshape(-1, m)], axis=1)


def _random_splits(n: int, m: int, n_resamples: int, seed: int) -> Iterator[Indices]:
    """R random splits of n + m runs, in batches of (n_splits, n + m). Each side is in order."""
    for first in range(0, n_resamples, SPLITS_TOGETHER):
        size = min(SPLITS_TOGETHER, n_resamples - first)
        orders = _core.permutations(seed, first // SPLITS_TOGETHER, n + m, size).astype(np.intp)
        yield np.concatenate([np.sort(orders[:, :n], axis=1), np.sort(orders[:, n:], axis=1)], axis=1)


def exchange_segments(data: RunData, pairs: Pairs, statistic: str) -> Exchanged:
    """One coin for each unit swaps all outputs of one system with all outputs of the other.

    With unequal numbers of runs, both systems stand for the least common multiple of the numbers: see
    :meth:`RunData.weights`. All patterns of swaps are used if the systems differ in so few units that there are at most
    R.
    """
    replicates = Replicates.from_settings([data.samples[0]], data.resampling)
    patterns = _few_patterns(data, pairs, replicates.n_resamples)
    if patterns is not None:
        replicates = replicates.with_codes(patterns, 1 << int(np.count_nonzero(patterns)))
    found = (_pooled_segments if statistic == "pooled" else _segments_of_runs)(data, pairs, replicates)
    return Exchanged(found, [patterns is not None] * len(pairs))


def _few_patterns(data: RunData, pairs: Pairs, n_resamples: int) -> NDArray[np.uint64] | None:
    """A bit for each unit in which any pair differs, (units,); None if they have more than R patterns of swaps."""
    differs = np.zeros(data.n_units, dtype=np.bool_)
    for a, b in pairs:
        for x, y in _virtual_runs(data, (a, b)):
            np.logical_or(differs, (data.counts[x] != data.counts[y]).any(axis=1), out=differs)
            if 1 << int(np.count_nonzero(differs)) > n_resamples:
                return None
    (units,) = np.nonzero(differs)
    codes = np.zeros(data.n_units, dtype=np.uint64)
    codes[units] = np.uint64(1) << np.arange(len(units), dtype=np.uint64)
    return codes


def _virtual_runs(data: RunData, pair: tuple[int, int]) -> list[tuple[int, int]]:
    """The outputs of two systems side by side: those of run 0 of each, of run 1 and so on.

    The runs of each system are repeated in order up to the least common multiple of the numbers of runs.
    """
    (n, m), (a, b) = _sizes(data, pair), (data.rows[system].start for system in pair)
    return [(a + run % n, b + run % m) for run in range(math.lcm(n, m))]


def _pooled_segments(data: RunData, pairs: Pairs, replicates: Replicates) -> list[list[Scores]]:
    """The statistic of coins for units: scores of the systems' sums over runs, for each metric and pair."""
    found: list[list[Scores]] = [[np.empty(0)] * len(pairs) for _ in data.samples]
    groups: dict[int, list[int]] = {}  # pairs whose systems stand for equally many runs
    for p, pair in enumerate(pairs):
        groups.setdefault(math.lcm(*_sizes(data, pair)), []).append(p)
    for common, group in groups.items():
        systems = sorted(set(chain.from_iterable(pairs[p] for p in group)))
        index = {system: row for row, system in enumerate(systems)}
        samples = [
            CountSample.from_counts(
                sample.metric,
                np.stack([sample.counts[data.rows[s]].sum(axis=0) * (common // data.n_runs[s]) for s in systems]),
            )
            for sample in data.samples
        ]
        own_pairs = [(index[pairs[p][0]], index[pairs[p][1]]) for p in group]
        (statistics,) = replicates.with_samples(samples).run([Series()], own_pairs)
        for m, of_metric in enumerate(statistics):
            for p, of_pair in zip(group, of_metric, strict=True):
                found[m][p] = of_pair
    return found


def _segments_of_runs(data: RunData, pairs: Pairs, replicates: Replicates) -> list[list[Scores]]:
    """The statistic of coins for units: means of the scores of runs, for each metric and pair."""
    outputs, _, width = data.counts.shape
    resampler = resampler_of_sums("shuffles", data.counts)
    most = max(math.lcm(*_sizes(data, pair)) for pair in pairs)
    collected = _Collected.of(data, pairs, "mean", replicates.n_resamples)
    virtual = [np.array(_virtual_runs(data, pair)).T for pair in pairs]
    for batch in replicates.batches(_batch_size(max(outputs, most) * width), "shuffling"):
        flipped = batch.sums(resampler).reshape(batch.n, outputs, width)
        for p, (x, y) in enumerate(virtual):
            moved = flipped[:, y] - flipped[:, x]
            collected.add(batch, p, data.totals[x] + moved, data.totals[y] - moved)
    return collected.statistics


def exchange_pooled(data: RunData, pairs: Pairs, statistic: str) -> Exchanged:
    """The n + m outputs of each unit are permuted. The first n of them are those of a."""
    replicates = Replicates.from_settings([data.samples[0]], data.resampling)
    collected = _Collected.of(data, pairs, statistic, replicates.n_resamples)
    width = data.totals.shape[1]
    for p, (a, b) in enumerate(pairs):
        both, n = np.r_[data.rows[a], data.rows[b]], data.n_runs[a]
        resampler = resampler_of_sums("permutations", data.counts[both])
        for batch in replicates.batches(_batch_size(len(both) * width), "permuting"):
            sums = batch.sums(resampler).reshape(batch.n, len(both), width)
            collected.add(batch, p, sums[:, :n], sums[:, n:])
    same = len({_sizes(data, pair) for pair in pairs}) <= 1
    return Exchanged(collected.statistics, [False] * len(pairs), together=same)


def exchange_cells(data: RunData, pairs: Pairs, statistic: str) -> Exchanged:
    """One coin for each run and unit swaps the outputs of the two systems.

    Run i of one system is paired with run i of the other. The coins of run i are those of the seed derived for run i.
    """
    cells = _Cells.of(data, pairs, "cell")
    replicates = Replicates.from_settings([data.samples[0]], data.resampling)
    seeds = [derive_seed(replicates.seed, "run", run) for run in range(cells.n_runs)]
    collected = _Collected.of(data, pairs, statistic, replicates.n_resamples)
    for batch in replicates.batches(cells.batch_size, "shuffling"):
        flipped = cells.sums([replace(batch, seed=int(seed)) for seed in seeds])
        for p, (a, b) in enumerate(pairs):
            moved = cells.moved(flipped, (a, b))
            collected.add(batch, p, data.totals[data.rows[a]] + moved, data.totals[data.rows[b]] - moved)
    return Exchanged(collected.statistics, [False] * len(pairs))


def shuffle_as_multeval(data: RunData, pairs: Pairs, statistic: str) -> Exchanged:
    """The shuffle of MultEval 0.5.1: a coin for each run and unit, and a permutation of the runs in each unit.

    Pseudo-system X takes in run i of a unit the output of run π(i), of a or, if the coin of i says so, of b. Y takes
    the output of run π⁻¹(i), of the other system. If π is not its own inverse, which needs three runs, some outputs are
    in both and others in neither.
    """
    assert statistic == "pooled"
    cells = _Cells.of(data, pairs, "multeval")
    replicates = Replicates.from_settings([data.samples[0]], data.resampling)
    collected = _Collected.of(data, pairs, statistic, replicates.n_resamples)
    for batch in replicates.batches(cells.masked_batch_size, "shuffling"):
        masks = _multeval_masks(replicates.seed, batch.first, batch.n, cells.n_runs, data.n_units)
        x, y = (
            cells.sums([replace(batch, masks=mask) for mask in np.ascontiguousarray(side.transpose(1, 0, 2))])
            for side in masks
        )
        for p, (a, b) in enumerate(pairs):
            totals_a, totals_b = (data.totals[data.rows[system]] for system in (a, b))
            collected.add(batch, p, totals_a + cells.moved(x, (a, b)), totals_b - cells.moved(y, (a, b)))
    return Exchanged(collected.statistics, [False] * len(pairs))


def _multeval_masks(
    seed: int, first: int, n: int, n_runs: int, n_units: int
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which outputs X has of b instead of a, and Y of a instead of b: each (n, runs, units).

    X has run j of a or b at the position π⁻¹(j), whose coin decides; Y has it at the position π(j). The coins of a
    group of 64 units are one value of the stream for each position; π(i) is label i of the permutation.
    """
    words = -(-n_units // 64)
    coins = np.empty((n, n_runs, 64 * words), dtype=np.bool_)
    order = np.empty((n, n_runs, n_units), dtype=np.intp)
    for r in range(n):
        values = _core.stream_values(seed, "shuffle", first + r, n_runs * words).reshape(words, n_runs).T
        coins[r] = np.unpackbits(np.ascontiguousarray(values, dtype="<u8").view(np.uint8), axis=1, bitorder="little")
        order[r] = _core.permutations(seed, first + r, n_runs, n_units).T
    inverse = np.argsort(order, axis=1)
    used = coins[:, :, :n_units]
    return np.take_along_axis(used, inverse, axis=1), np.take_along_axis(used, order, axis=1)


@dataclass(frozen=True, eq=False)
class _Cells:
    """The counts of systems with equally many runs, run by run."""

    n_runs: int
    index: dict[int, int]
    resamplers: Sequence[_core.Resampler]
    shape: tuple[int, int, int]

    @classmethod
    def of(cls, data: RunData, pairs: Pairs, exchange: str) -> _Cells:
        """Those of the systems of some pairs. :class:`InputError` if they have different numbers of runs."""
        systems = sorted(set(chain.from_iterable(pairs)))
        numbers = [data.n_runs[system] for system in systems]
        if len(set(numbers)) > 1:
            own = ", ".join(f"{data.names[system]} {data.n_runs[system]}" for system in systems)
            raise InputError(
                f"the exchange {exchange!r} pairs run i of one system with run i of the other, so all systems need the "
                f"same number of runs, but they have: {own}. Choose another exchange, or leave out some runs"
            )
        starts = np.array([data.rows[system].start for system in systems])
        resamplers = [resampler_of_sums("shuffles", data.counts[starts + run]) for run in range(numbers[0])]
        shape = len(systems), data.n_units, data.totals.shape[1]
        return cls(numbers[0], {system: row for row, system in enumerate(systems)}, resamplers, shape)

    @property
    def batch_size(self) -> int:
        k, _, width = self.shape
        return _batch_size(self.n_runs * k * width)

    @property
    def masked_batch_size(self) -> int:
        """The size of a batch with masks and permutations of all cells."""
        k, n_units, width = self.shape
        return _batch_size(self.n_runs * max(k * width, 4 * n_units))

    def sums(self, batches: Sequence[Batch]) -> Counts:
        """The sums of the swapped outputs with one batch for each run: (n, runs, systems, ΣK)."""
        k, _, width = self.shape
        each = [own.sums(resampler) for own, resampler in zip(batches, self.resamplers, strict=True)]
        return np.stack([sums.reshape(-1, k, width) for sums in each], axis=1)

    def moved(self, sums: Counts, pair: tuple[int, int]) -> RunSums:
        """What the swaps add to the runs of the first system and take from those of the second."""
        a, b = (self.index[system] for system in pair)
        return np.asarray(sums[:, :, b] - sums[:, :, a])


@dataclass(frozen=True, eq=False)
class _Collected:
    """The statistics of all replicates, filled batch by batch."""

    data: RunData
    statistic: str
    statistics: list[list[Scores]]

    @classmethod
    def of(cls, data: RunData, pairs: Pairs, statistic: str, n_resamples: int) -> _Collected:
        return cls(data, statistic, [[np.empty(n_resamples) for _ in pairs] for _ in data.samples])

    def add(self, batch: Batch, p: int, a: RunSums, b: RunSums) -> None:
        """Score the pseudo-runs of both sides of pair p."""
        for own, x, y in zip(self.statistics, self._scored(a), self._scored(b), strict=True):
            own[p][batch.first : batch.first + batch.n] = x - y

    def _scored(self, runs: RunSums) -> list[Scores]:
        if self.statistic == "pooled":
            return self.data.scored(runs.sum(axis=1))
        return [scores.mean(axis=1) for scores in self.data.scored(runs)]


def _sizes(data: RunData, pair: tuple[int, int]) -> tuple[int, int]:
    return data.n_runs[pair[0]], data.n_runs[pair[1]]


def _batch_size(cells: int) -> int:
    """How many replicates fit a batch if each has this many numbers."""
    return max(1, BATCH_CELLS // cells)
