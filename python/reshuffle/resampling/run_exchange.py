"""What random exchanges do to the difference of two systems with several runs each.

Each function returns the statistic of every pair in every replicate, for all metrics, from the same random numbers. An
exchange makes two pseudo-systems with as many pseudo-runs as the systems have, whose summed counts are scored as those
of the systems are: as one long output (``pooled``), or run by run (``mean``).

The core makes the masks of exchanges within segments. The *rows* of such an exchange are the outputs that it swaps, or
their differences from others. The core reads them in groups of 64 units, because one 64-bit mask says for such a group
where a row is swapped.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, combinations, islice
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..grouping import grouped
from ..metrics.base import Counts, Scores, tolerance
from ..seeds import derive_seed
from .reductions import Series
from .replicates import Replicates
from .run_linear import Levels
from .runs import RunData, in_parts
from .samples import BATCH_CELLS, Batch, CountSample, ExchangeOfRuns, Pairs, resampler_of_sums

# All splits of the runs are used if there are at most this many, or at most R.
MANY_SPLITS = 20_000
# Units that share a mask.
GROUP = 64
# Exchanges of several pairs are made in one pass if their rows have at most so many numbers: 128 MB.
ROWS_TOGETHER = 1 << 24
# Random splits that are drawn together. They depend on this number, so it is the same everywhere.
SPLITS_TOGETHER = 4096

Indices: TypeAlias = NDArray[np.intp]
# Makes the rows of one pair: (sides, rows, units, K).
Rows: TypeAlias = Callable[[], Counts]
# Batches of exchanges of a pair, by its index: the sums of counts of the pseudo-runs of both sides, all metrics side by
# side, (n, runs, ΣK) each.
Exchanges: TypeAlias = Iterator[tuple[Batch, int, Counts, Counts]]
# From data, pairs, the statistic and replicates. A function of this module.
Exchange: TypeAlias = Callable[[RunData, Pairs, str, Replicates], Exchanges]


@dataclass(frozen=True, eq=False)
class Exchanged:
    """The statistics of all replicates."""

    statistics: Sequence[Sequence[Scores]] | Scores
    """Shape (R,). For each metric and pair: score(a) − score(b) in every replicate. R may depend on the pair if
    ``exact``.
    """
    exact: Sequence[bool]
    """For each pair, whether these are all possible replicates, the observed arrangement among them."""
    together: bool = True
    """Whether replicate r of all pairs is the same exchange, so that the maximum over pairs has a meaning."""
    degrees_of_freedom: Sequence[Sequence[float]] | None = None
    """For each metric and pair: those of the t distribution that corrects ``hierarchical`` for few runs."""
    observed: Sequence[Sequence[float]] | None = None
    """For each metric and pair: the statistic of the observed arrangement, which replicates have to be compared with.
    None if that is the difference of the systems' scores. It can be another number where sums are weighted for unequal
    numbers of runs and the metric is not a function of ratios of sums, such as BLEU with some smoothings.
    """
    studentized: bool = False
    """Whether the statistics are differences divided by their standard errors."""
    closed: Sequence[Sequence[ClosedForm]] | None = None
    """For each metric and pair: a test without replicates, of which ``statistics`` then has none."""


@dataclass(frozen=True)
class ClosedForm:
    """A difference in standard errors, and its distribution under the null hypothesis, which is symmetric."""

    t: float
    levels: Levels

    def pvalue(self, alternative: str) -> float:
        """The p-value for ``two-sided``, ``greater`` or ``less``; t may be infinite."""
        if alternative == "two-sided":
            return min(1.0, 2 * self._tail(abs(self.t)))
        return self._tail(self.t if alternative == "greater" else -self.t)

    def _tail(self, t: float) -> float:
        return float(t < 0) if math.isinf(t) else self.levels.tail(t)


def splits_are_exact(n: int, m: int, n_resamples: int) -> bool:
    """Whether whole runs are exchanged in all ways, not in R random ones.

    >>> splits_are_exact(7, 7, 999), splits_are_exact(9, 9, 10_000), splits_are_exact(9, 9, 100_000)
    (True, False, True)
    """
    return math.comb(n + m, n) <= max(n_resamples, MANY_SPLITS)


def exchange_runs(data: RunData, pairs: Pairs, statistic: str, studentized: bool = True) -> Exchanged:
    """Whole runs are exchanged: all splits of the n + m runs if they are few, otherwise R random ones.

    The statistic of a split is its difference divided by √(s²/n + s²/m) of its own runs. The test is exact if it does
    not matter which system a run belongs to, and with many runs it keeps its level if only expected scores are equal
    (Janssen 1997, doi:10.1016/S0167-7152(97)00043-6; Chung & Romano 2013, doi:10.1214/13-AOS1090). Beside a single run,
    whose s is unknown, the statistic is the difference.

    If not ``studentized``, it is always the difference. For the mean scores of equally many runs, both give the same
    p-values: the sum of squares around the mean of all runs is the same in all splits, so t grows with the difference.
    """
    replicates = data.replicates
    n_resamples, sizes = replicates.n_resamples, [_sizes(data, pair) for pair in pairs]
    exact = [splits_are_exact(*size, n_resamples) for size in sizes]
    found: list[list[Scores]] = [[] for _ in data.samples]
    observed: list[list[float]] = [[] for _ in data.samples]
    # Under one metric, all pairs or none have the scale of t, so that maxT can compare them.
    studentized = studentized and min(map(min, sizes), default=0) > 1
    for (a, b), size, every in zip(pairs, sizes, exact, strict=True):
        totals = data.totals[np.r_[data.rows[a], data.rows[b]]]
        splits = _all_splits(*size) if every else _random_splits(*size, n_resamples, replicates.seed)
        as_it_is = iter([np.arange(sum(size))[None]])
        for m, own in enumerate(_of_splits(data, totals, splits, size[0], statistic, studentized)):
            found[m].append(own)
        for m, own in enumerate(_of_splits(data, totals, as_it_is, size[0], statistic, studentized)):
            observed[m].append(float(own[0]))
    together = len(set(sizes)) <= 1
    return Exchanged(found, exact, together, observed=observed if studentized else None, studentized=studentized)


def _of_splits(
    data: RunData, totals: Counts, splits: Iterator[Indices], n: int, statistic: str, studentized: bool
) -> list[Scores]:
    """The statistic of each split for each metric: (n_splits,). The first n runs of a split are those of a."""
    found: list[list[Scores]] = [[] for _ in data.samples]
    scores = data.scored(totals)
    for split in splits:
        both = split[:, :n], split[:, n:]
        if statistic == "pooled":
            sides = [data.scored(_sum_of_runs(totals, side)) for side in both]
        else:
            sides = [[own[side].mean(axis=1) for own in scores] for side in both]
        for statistics, own, x, y in zip(found, scores, *sides, strict=True):
            statistics.append(standardized(x, y, own[both[0]], own[both[1]]) if studentized else x - y)
    return [np.concatenate(statistics) for statistics in found]


def standardized(x: Scores, y: Scores, runs_x: Scores, runs_y: Scores) -> Scores:
    """(x − y)/√(s²/n + s²/m), (…), from the scores of systems, (…), and those of their runs, (…, n) and (…, m).

    0 where the difference is 0; otherwise infinite where all runs of each system have the same score. Both are decided
    with the tolerance of ties.

    >>> x, y = np.array([[1.0, 3.0], [2.0, 2.0]]), np.array([[0.0, 0.0], [1.0, 1.0]])
    >>> standardized(x.mean(axis=1), y.mean(axis=1), x, y)
    array([ 2., inf])
    """
    rounding = tolerance(x, y)
    variances = [runs.var(axis=-1, ddof=1) / runs.shape[-1] for runs in (runs_x, runs_y)]
    errors = np.sqrt(variances[0] + variances[1])
    difference = x - y
    t = np.divide(difference, errors, out=np.copysign(np.inf, difference), where=errors > rounding)
    return np.asarray(np.where(np.abs(difference) <= rounding, 0.0, t))


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
    replicates = data.replicates
    patterns = _few_patterns(data, pairs, replicates.n_resamples)
    if patterns is not None:
        replicates = replicates.with_codes(patterns, 1 << int(np.count_nonzero(patterns)))
    exact = [patterns is not None] * len(pairs)
    if statistic == "mean":
        return Exchanged(_in_parts(_segments_of_runs, data, pairs, "mean", replicates), exact)
    return Exchanged(_pooled_segments(data, pairs, replicates), exact, observed=_observed_if_weighted(data, pairs))


def _observed_if_weighted(data: RunData, pairs: Pairs) -> list[list[float]] | None:
    """The difference of the scores of weighted sums for each metric and pair; None if all weights are 1."""
    weights = [data.weights(pair) for pair in pairs]
    if all(pair == (1, 1) for pair in weights):
        return None
    pooled = [data.totals[rows].sum(axis=0) for rows in data.rows]
    a, b = (np.stack([pooled[pair[i]] * w[i] for pair, w in zip(pairs, weights, strict=True)]) for i in (0, 1))
    return [(x - y).tolist() for x, y in zip(data.scored(a), data.scored(b), strict=True)]


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


def _pooled_segments(data: RunData, pairs: Pairs, replicates: Replicates) -> Scores:
    """The statistic of coins for units, (M, pairs, R): scores of the systems' sums over runs."""
    found = np.empty((len(data.samples), len(pairs), replicates.n_resamples))
    # Pairs whose systems stand for equally many runs.
    groups = grouped((math.lcm(*_sizes(data, pair)), p) for p, pair in enumerate(pairs))
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
        found[:, group] = statistics
    return found


def _in_parts(
    function: Exchange, data: RunData, pairs: Pairs, statistic: str, replicates: Replicates, stage: str = "shuffling"
) -> Scores:
    """The statistics of all replicates, (M, pairs, R), by the workers of the executor if there is one."""
    (statistics,) = in_parts(_scored, data, (function, tuple(pairs), statistic), replicates, stage)
    return np.asarray(statistics)


def _scored(data: RunData, function: Exchange, pairs: Pairs, statistic: str, replicates: Replicates) -> list[Scores]:
    """The statistics of exchanges, filled batch by batch: one array, (M, pairs, replicates)."""
    numbers = replicates.numbers
    found = np.empty((len(data.samples), len(pairs), len(numbers)))

    def scores(runs: Counts) -> list[Scores]:
        if statistic == "pooled":
            return data.scored(runs.sum(axis=1))
        return [own.mean(axis=1) for own in data.scored(runs)]

    for batch, p, a, b in function(data, pairs, statistic, replicates):
        for own, x, y in zip(found, scores(a), scores(b), strict=True):
            own[p][batch.first - numbers.start :][: batch.n] = x - y
    return [found]


def _segments_of_runs(data: RunData, pairs: Pairs, statistic: str, replicates: Replicates) -> Exchanges:
    """Coins for units, for means of the scores of runs."""
    outputs, _, width = data.counts.shape
    resampler = resampler_of_sums("shuffles", data.counts)
    most = max(math.lcm(*_sizes(data, pair)) for pair in pairs)
    virtual = [np.array(_virtual_runs(data, pair)).T for pair in pairs]
    for batch in replicates.batches(_batch_size(max(outputs, most) * width), "shuffling"):
        flipped = batch.sums(resampler).reshape(batch.n, outputs, width)
        for p, (x, y) in enumerate(virtual):
            moved = flipped[:, y] - flipped[:, x]
            yield batch, p, data.totals[x] + moved, data.totals[y] - moved


def exchange_pooled(data: RunData, pairs: Pairs, statistic: str) -> Exchanged:
    """The n + m outputs of each unit are permuted.

    For the pooled statistic, output l is one of a's if label l of the permutation is below n. The mean needs to know
    the run, too: position i, which is run i of a if i is below n, has the output of label i.
    """
    replicates = data.replicates
    stage = "shuffling" if statistic == "pooled" else "permuting"
    statistics = _in_parts(_permuted_outputs, data, pairs, statistic, replicates, stage)
    together = len({_sizes(data, pair) for pair in pairs}) <= 1
    return Exchanged(statistics, [False] * len(pairs), together=together)


def _permuted_outputs(data: RunData, pairs: Pairs, statistic: str, replicates: Replicates) -> Exchanges:
    sizes = [_sizes(data, pair) for pair in pairs]
    if statistic == "pooled":
        for n, m in sorted(set(sizes)):
            own = [p for p, size in enumerate(sizes) if size == (n, m)]
            rows = [partial(_signed_outputs, data, pairs[p]) for p in own]
            for batch, i, moved in swapped_sums(replicates, ("pooled", n, m), rows, data.counts[0].size * (n + m)):
                a, b = _pooled_totals(data, pairs[own[i]])
                yield batch, own[i], a + moved, b - moved
    else:
        width = data.totals.shape[1]
        for p, (system, baseline) in enumerate(pairs):
            both, n = np.r_[data.rows[system], data.rows[baseline]], data.n_runs[system]
            resampler = resampler_of_sums("permutations", data.counts[both])
            for batch in replicates.batches(_batch_size(len(both) * width), "permuting"):
                sums = batch.sums(resampler).reshape(batch.n, len(both), width)
                yield batch, p, sums[:, :n], sums[:, n:]


def _signed_outputs(data: RunData, pair: tuple[int, int]) -> Counts:
    """What a gains if an output changes sides: minus the outputs of a, then those of b, (1, n + m, units, ΣK)."""
    a, b = (data.counts[data.rows[system]] for system in pair)
    return np.concatenate([-a, b])[None]


def exchange_cells(data: RunData, pairs: Pairs, statistic: str) -> Exchanged:
    """One coin for each run and unit swaps the outputs of the two systems.

    Run i of one system is paired with run i of the other. The coins of run i are those of the seed derived for run i.
    """
    replicates = data.replicates
    return Exchanged(_in_parts(_swapped_cells, data, pairs, statistic, replicates), [False] * len(pairs))


def _swapped_cells(data: RunData, pairs: Pairs, statistic: str, replicates: Replicates) -> Exchanges:
    n_runs, systems = data.n_runs[pairs[0][0]], sorted(set(chain.from_iterable(pairs)))
    row = {system: at for at, system in enumerate(systems)}
    starts = np.array([data.rows[system].start for system in systems])
    seeded = [
        (int(derive_seed(replicates.seed, "run", run)), resampler_of_sums("shuffles", data.counts[starts + run]))
        for run in range(n_runs)
    ]
    k, width = len(systems), data.totals.shape[1]
    for batch in replicates.batches(_batch_size(n_runs * k * width), "shuffling"):
        each = [replace(batch, seed=seed).sums(own).reshape(-1, k, width) for seed, own in seeded]
        flipped = np.stack(each, axis=1)
        for p, (a, b) in enumerate(pairs):
            moved = flipped[:, :, row[b]] - flipped[:, :, row[a]]
            yield batch, p, data.totals[data.rows[a]] + moved, data.totals[data.rows[b]] - moved


def shuffle_as_multeval(data: RunData, pairs: Pairs, statistic: str) -> Exchanged:
    """The shuffle of MultEval 0.5.1: a coin for each run and unit, and a permutation of the runs in each unit.

    Pseudo-system X takes in run i of a unit the output of run π(i), of a or, if the coin of i says so, of b. Y takes
    the output of run π⁻¹(i), of the other system. If π is not its own inverse, which needs three runs, some outputs are
    in both and others in neither.
    """
    assert statistic == "pooled"
    replicates = data.replicates
    return Exchanged(_in_parts(_multeval_shuffles, data, pairs, statistic, replicates), [False] * len(pairs))


def _multeval_shuffles(data: RunData, pairs: Pairs, statistic: str, replicates: Replicates) -> Exchanges:
    n = data.n_runs[pairs[0][0]]
    rows = [partial(_differences_of_sides, data, pair) for pair in pairs]
    for batch, p, sums in swapped_sums(replicates, ("multeval", n), rows, data.counts[0].size * 4 * n):
        a, b = _pooled_totals(data, pairs[p])
        yield batch, p, a + sums[:, :1], b - sums[:, 1:]


def _pooled_totals(data: RunData, pair: tuple[int, int]) -> tuple[Counts, Counts]:
    """The sums of all outputs of both systems."""
    a, b = (data.totals[data.rows[system]].sum(axis=0) for system in pair)
    return a, b


def _differences_of_sides(data: RunData, pair: tuple[int, int]) -> Counts:
    """Outputs of b minus those of a, run by run, in the rows of X for X and in those of Y for Y: (2, 2n, units, ΣK)."""
    a, b = (data.counts[data.rows[system]] for system in pair)
    sides = np.zeros((2, 2, *a.shape), dtype=np.int64)
    sides[0, 0] = sides[1, 1] = b - a
    return sides.reshape(2, -1, *a.shape[1:])


def _sizes(data: RunData, pair: tuple[int, int]) -> tuple[int, int]:
    return data.n_runs[pair[0]], data.n_runs[pair[1]]


def _batch_size(cells: int) -> int:
    """How many replicates fit a batch if each has this many numbers."""
    return max(1, BATCH_CELLS // cells)


def in_groups(rows: Counts) -> Counts:
    """Rows in the order of the core: (..., rows, S, K) in, (..., 64·⌈S/64⌉·rows, K) out.

    First come the first 64 units of row 0, then those of row 1 and so on, then the next 64 units of row 0. Units are
    filled up with zeros to whole groups.

    >>> rows = np.arange(2 * 65).reshape(2, 65, 1)
    >>> in_groups(rows).shape, in_groups(rows)[[0, 63, 64, 128, 129, 192], 0].tolist()
    ((256, 1), [0, 63, 65, 64, 0, 129])
    """
    *leading, n_rows, n_units, width = rows.shape
    groups = -(-n_units // GROUP)
    padded = np.zeros((*leading, n_rows, groups * GROUP, width), dtype=np.int64)
    padded[..., :n_units, :] = rows
    by_group = padded.reshape(*leading, n_rows, groups, GROUP, width).swapaxes(-4, -3)
    return by_group.reshape(*leading, groups * n_rows * GROUP, width)


def swapped_sums(
    replicates: Replicates, exchange: ExchangeOfRuns, pairs: Sequence[Rows], size: int
) -> Iterator[tuple[Batch, int, Counts]]:
    """The sums of the swapped rows of some pairs that have the same exchange, batch by batch.

    Parameters
    ----------
    replicates : Replicates
        Their number, seed and threads.
    exchange : tuple
        As in ``_core.Resampler.run``.
    pairs : sequence of callable
        Each makes the rows of a pair: (sides, rows, S, K). All sides have the same swaps.
    size : int
        How many numbers there are in the rows of a pair.

    Yields
    ------
    tuple
        A batch, the index of the pair, and the sums of each side: (n, sides, K).
    """
    together = max(1, ROWS_TOGETHER // size)
    for first in range(0, len(pairs), together):
        sides = [in_groups(rows()) for rows in pairs[first : first + together]]
        n_sides, n_units, width = sides[0].shape
        counts = np.concatenate([np.zeros((1, n_units, width), dtype=np.int64), *sides])
        n_pairs = len(sides)
        del sides
        resampler = resampler_of_sums("shuffles", counts)
        del counts
        cells = (1 + n_pairs * n_sides) * width
        for batch in replicates.batches(max(1, BATCH_CELLS // cells), "shuffling"):
            sums = replace(batch, exchange=exchange).sums(resampler).reshape(batch.n, -1, width)[:, 1:]
            for p in range(n_pairs):
                yield batch, first + p, sums[:, p * n_sides : (p + 1) * n_sides]
