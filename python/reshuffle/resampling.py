"""Replicates of observed counts: shuffles for tests, draws for intervals and tests.

A metric with a formula in Rust is summed and scored there. A :class:`~reshuffle.metrics.Formula` is summed in Rust and
scored here, batch by batch, by its own function; a :class:`~reshuffle.given.CorpusFunction` sees the texts themselves,
one replicate at a time. All see the same flips and the same draws.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _former as _core
from ._core import Progress
from .errors import MAX_RESAMPLES, MAX_SEED, InputError, check_integer
from .given import CorpusFunction, SegmentScores
from .lazy import lazy
from .metrics import Counts, Metric, MetricLike, Scores, check_sums, counts_array, resolve, thread_count
from .stopping import Stopped
from .units import DocumentIds, Documents, Strata, StratumIds

__all__ = ["AnyFamily", "Family", "Replicates", "Replication", "TextFamily"]

Pairs: TypeAlias = Sequence[tuple[int, int]]
Codes: TypeAlias = NDArray[np.uint64]

# Numbers that a batch of replicates of a formula may hold: 32 MB, whatever the number of replicates.
BATCH_CELLS = 1 << 22

# Replicates in the first batch of those that may be stopped: it takes a few milliseconds.
FIRST_BATCH = 512


def reached(statistics: Scores, thresholds: ArrayLike, alternative: str) -> NDArray[np.bool_]:
    """Which statistics are at least as extreme as their threshold. The core's tally is the same in Rust.

    >>> reached(np.array([-2.0, 1.0, 2.0]), 2.0, "two-sided")
    array([ True, False,  True])
    """
    if alternative == "two-sided":
        statistics = np.abs(statistics)
    at_least = np.less_equal if alternative == "less" else np.greater_equal
    return np.asarray(at_least(statistics, thresholds))


def extremeness(statistics: Scores, alternative: str) -> Scores:
    """How extreme statistics are: the larger the number, the more.

    >>> extremeness(np.array([-2.0, 1.0]), "less")
    array([ 2., -1.])
    """
    return np.abs(statistics) if alternative == "two-sided" else -statistics if alternative == "less" else statistics


@dataclass(frozen=True)
class Family:
    """The counts of k systems under one metric: a (k, S, K) array of int64, or (k, D, K) if documents are the unit.

    Units are drawn within ``strata`` if there are any. Shuffles swap each unit by itself, and strata mean nothing to
    them.
    """

    metric: Metric
    counts: Counts
    unit: str = "segment"
    strata: Strata | None = None

    def __post_init__(self) -> None:
        counts = np.ascontiguousarray(counts_array(self.counts, "counts", ndim=3))
        check_sums(counts)  # not only in the core: totals are summed in numpy, which overflows silently
        object.__setattr__(self, "counts", counts)

    @classmethod
    def of(
        cls,
        metric: MetricLike | None,
        a: ArrayLike,
        b: ArrayLike | None = None,
        documents: DocumentIds | None = None,
        strata: StratumIds | None = None,
    ) -> Family:
        """From the (S, K) counts of one system or two, or without a metric from their (S,) scores of segments."""
        if documents is not None or strata is not None:
            family = by_segment = cls.of(metric, a, b)
            n = by_segment.n_units
            units = None if documents is None else Documents.of(documents, n)
            if units is not None:
                family = family.by(units)
            return family if strata is None else family.within(Strata.of(strata, n, units))
        systems = {"a": a} if b is None else {"a": a, "b": b}
        shapes = {name: _shape(values) for name, values in systems.items()}
        if metric is None:
            for name, shape in shapes.items():
                if len(shape) != 1:
                    raise InputError(
                        f"without a metric {name} must hold one score for each segment, shape (S,), got shape {shape}; "
                        "for (S, K) counts give the metric: a name, a Metric or a function of sums"
                    )
            scores = SegmentScores("score", systems)
            return cls(scores, scores.counts_of(list(systems)))
        for name, shape in shapes.items():
            if len(shape) == 1:
                raise InputError(
                    f"{name} must have 2 dimensions, got shape {shape}: a metric sums (S, K) counts; to compare the "
                    "means of one score per segment leave the metric out"
                )
        metric = resolve(metric)
        first = counts_array(a, "a", ndim=2)
        if b is None:
            return cls(metric, first[None])
        second = counts_array(b, "b", ndim=2)
        if first.shape != second.shape:
            raise InputError(
                f"a and b must have the same shape (segments, counts), got {first.shape} and {second.shape}"
            )
        return cls(metric, np.stack([first, second]))

    def by(self, documents: Documents) -> Family:
        """The same with documents as the unit."""
        return Family(self.metric, documents.sums(self.counts), "document")

    def within(self, strata: Strata) -> Family:
        """The same with draws within strata of the units."""
        return replace(self, strata=strata)

    @lazy
    def to_draw(self) -> Counts:
        """The counts in the order in which they are drawn: stratum after stratum."""
        return self.counts if self.strata is None else self.strata.arranged(self.counts)

    @property
    def n_units(self) -> int:
        """How many rows can be swapped and drawn: S, or D if documents are the unit."""
        return int(self.counts.shape[1])

    @lazy
    def totals(self) -> Counts:
        """The sums over all units: (k, K)."""
        return np.asarray(self.counts.sum(axis=1))

    @lazy
    def scores(self) -> Scores:
        """The observed score of each system: (k,)."""
        return self.metric.score(self.totals)

    @property
    def segment_scores(self) -> Scores:
        """The score of every unit by itself: (k, S)."""
        return self.metric.segment_scores(self.counts)

    def document_scores(self, documents: Documents) -> Scores:
        """The corpus score of every document by itself: (k, D)."""
        return self.metric.score(documents.sums(self.counts))

    @lazy
    def leave_one_out(self) -> Scores:
        """The score of each system without each of the units: (k, S)."""
        return np.stack([self.metric.score(t - rows) for t, rows in zip(self.totals, self.counts, strict=True)])

    def details(self, system: int) -> Mapping[str, float]:
        """The parts that make up a system's score."""
        return self.metric.details(self.totals[system])

    @property
    def batch(self) -> int:
        """How many replicates to make at a time."""
        return max(1, BATCH_CELLS // self.totals.size)

    def differing(self, pairs: Pairs, most: int) -> list[tuple[int, int | None]]:
        """For each pair the number of units in which it differs, and the column in which it does if that is but one.

        A pair that differs in several columns is looked at until ``most`` units are passed.
        """
        return _core.differing_units(self.counts, list(pairs), most=most)

    def of_pair(self, pair: tuple[int, int]) -> tuple[Family, tuple[int, int]]:
        """The same without other systems, and the pair there."""
        return Family(self.metric, self.counts[list(pair)], self.unit), (0, 1)

    def differing_units(self, pair: tuple[int, int]) -> NDArray[np.intp]:
        """The units in which a pair differs."""
        x, y = self.counts[list(pair)]
        return np.flatnonzero((x != y).any(axis=-1))

    def shuffled(self, pairs: Pairs, replicates: Replication) -> Scores:
        """The statistic of every pair on every shuffle: (pairs, n)."""
        n = replicates.n
        sums = replicates.of(partial(_core.shuffle_sums, codes=replicates.codes), self.counts)
        flipped = sums.reshape(n, *self.totals.shape)
        statistics = np.empty((len(pairs), n))
        for index, (x, y) in enumerate(pairs):
            moved = flipped[:, x] - flipped[:, y]
            statistics[index] = self.metric.score(self.totals[x] - moved) - self.metric.score(self.totals[y] + moved)
        return statistics

    def drawn(self, replicates: Replication) -> Scores:
        """The score of every system on every draw: (k, n)."""
        sums = replicates.of(_core.draw_sums, self.to_draw, strata=core_sizes(self.strata))
        return self.metric.score(sums.reshape(replicates.n, *self.totals.shape)).T


def _shape(values: ArrayLike) -> tuple[int, ...]:
    """The shape of an array; () if rows differ in length, for which the conversion raises an error later."""
    try:
        return np.shape(values)
    except ValueError:
        return ()


class TextFamily:
    """The outputs of k systems under a function that looks at texts, which is called anew for every replicate."""

    batch = 1

    def __init__(
        self,
        metric: CorpusFunction,
        systems: Sequence[Sequence[str]],
        references: Sequence[Sequence[str | None]],
        documents: Documents | None = None,
        strata: Strata | None = None,
    ) -> None:
        self.metric = metric
        self.systems = [list(lines) for lines in systems]
        self.references = [list(column) for column in references]
        self.documents = documents
        self.strata = strata
        self.calls = 0

    def by(self, documents: Documents) -> TextFamily:
        """The same with documents as the unit."""
        return TextFamily(self.metric, self.systems, self.references, documents)

    def within(self, strata: Strata) -> TextFamily:
        """The same with draws within strata of the units."""
        return TextFamily(self.metric, self.systems, self.references, self.documents, strata)

    def _evaluate(self, hypotheses: list[str], segments: Sequence[int]) -> float:
        """The function's value for hypotheses of these segments."""
        self.calls += 1
        return self.metric.evaluate(hypotheses, [[column[s] for s in segments] for column in self.references])

    @property
    def unit(self) -> str:
        """What is swapped and drawn."""
        return "segment" if self.documents is None else "document"

    @property
    def n_units(self) -> int:
        """How many of them there are."""
        return self._n_segments if self.documents is None else self.documents.n_documents

    @property
    def _n_segments(self) -> int:
        return len(self.references[0])

    @lazy
    def scores(self) -> Scores:
        """The observed score of each system: (k,)."""
        return np.array([self._evaluate(list(lines), range(self._n_segments)) for lines in self.systems])

    @property
    def segment_scores(self) -> Scores:
        """The function on one segment at a time: (k, S)."""
        return np.array([[self._evaluate([line], [s]) for s, line in enumerate(lines)] for lines in self.systems])

    def document_scores(self, documents: Documents) -> Scores:
        """The function's value on each document by itself: (k, D)."""
        members = [documents.segments(np.array([document])).tolist() for document in range(documents.n_documents)]
        return np.array([[self._evaluate([lines[s] for s in of], of) for of in members] for lines in self.systems])

    @lazy
    def leave_one_out(self) -> Scores:
        """The score of each system without each of the units, at a call for each: (k, S)."""
        unit_of = range(self._n_segments) if self.documents is None else self.documents.index.tolist()
        scores = np.empty((len(self.systems), self.n_units))
        for left_out in range(self.n_units):
            kept = [s for s, unit in enumerate(unit_of) if unit != left_out]
            for index, lines in enumerate(self.systems):
                scores[index, left_out] = self._evaluate([lines[s] for s in kept], kept)
        return scores

    def details(self, system: int) -> Mapping[str, float]:
        """None: nothing is known about the function."""
        return {}

    def differing(self, pairs: Pairs, most: int) -> list[tuple[int, int | None]]:
        """For each pair the number of units in which it differs; there are no columns."""
        return [(len(self.differing_units(pair)), None) for pair in pairs]

    def of_pair(self, pair: tuple[int, int]) -> tuple[TextFamily, tuple[int, int]]:
        """The same: other systems cost nothing."""
        return self, pair

    def differing_units(self, pair: tuple[int, int]) -> NDArray[np.intp]:
        """The units in which a pair differs."""
        lines = zip(*(self.systems[system] for system in pair), strict=True)
        segments = np.flatnonzero([x != y for x, y in lines])
        return segments if self.documents is None else np.unique(self.documents.index[segments])

    def shuffled(self, pairs: Pairs, replicates: Replication) -> Scores:
        """The statistic of every pair on every shuffle: (pairs, n)."""
        everything = range(self._n_segments)
        statistics = np.empty((len(pairs), replicates.n))
        for column, r in enumerate(replicates.numbers):
            flips = replicates.flips(r, self.n_units)
            swap = (flips if self.documents is None else flips[self.documents.index]).tolist()
            for index, (x, y) in enumerate(pairs):
                both = self.systems[x], self.systems[y]
                left, right = ([both[side ^ swap[s]][s] for s in everything] for side in (0, 1))
                statistics[index, column] = self._evaluate(left, everything) - self._evaluate(right, everything)
        return statistics

    def drawn(self, replicates: Replication) -> Scores:
        """The score of every system on every draw: (k, n)."""
        scores = np.empty((len(self.systems), replicates.n))
        for column, r in enumerate(replicates.numbers):
            drawn = _core.draw_weights(replicates.seed, r, self.n_units, strata=core_sizes(self.strata))
            weights = np.empty_like(drawn)
            weights[slice(None) if self.strata is None else self.strata.order] = drawn
            units = np.repeat(np.arange(self.n_units), weights)
            segments = (units if self.documents is None else self.documents.segments(units)).tolist()
            for index, lines in enumerate(self.systems):
                scores[index, column] = self._evaluate([lines[s] for s in segments], segments)
        return scores


AnyFamily: TypeAlias = Family | TextFamily


def core_sizes(strata: Strata | None) -> list[int] | None:
    """The sizes of strata for the core."""
    return None if strata is None else strata.sizes.tolist()


@dataclass(frozen=True)
class Replication:
    """Some consecutive replicates: n of them from number ``first``, by codes of units if there are any."""

    seed: int
    first: int
    n: int
    threads: int
    codes: Codes | None = None

    @property
    def numbers(self) -> range:
        """Their numbers."""
        return range(self.first, self.first + self.n)

    def flips(self, replicate: int, n_units: int) -> NDArray[np.integer[Any]]:
        """1 for each unit that a shuffle swaps, else 0. There may be more of them than units."""
        if self.codes is None:
            words = _core.stream_words(self.seed, "shuffle", replicate, -(-n_units // 64))
            return np.unpackbits(words.astype("<u8").view(np.uint8), bitorder="little")
        common = self.codes & np.uint64(replicate)
        for shift in (32, 16, 8, 4, 2, 1):  # the parity of the bits gathers in the last one
            common = common ^ common >> np.uint64(shift)
        return (common & np.uint64(1)).astype(np.intp)

    def of(self, sums: Callable[..., Counts], counts: Counts, **options: Any) -> Counts:
        """The sums of these replicates, by one of the core's functions with options of its own."""
        rows = [np.ascontiguousarray(counts)]
        return sums(rows, n=self.n, seed=self.seed, first=self.first, threads=self.threads, **options)


class Replicates:
    """R replicates of one or more families of the same units.

    Parameters
    ----------
    families : sequence of Family
        All with the same unit, the same number of units, at least 2, and the same strata.
    n_resamples : int
        R.
    seed : int
        Replicate r is a pure function of the seed and r, so results depend on nothing else.
    threads, progress
        As in :func:`reshuffle.compare`.
    codes : (units,) array of uint64, optional
        Replicate g of a shuffle swaps the units whose code has an odd number of bits in common with g.
    """

    def __init__(
        self,
        families: Sequence[AnyFamily],
        *,
        n_resamples: int,
        seed: int,
        threads: int | None = None,
        progress: Progress | None = None,
        codes: Codes | None = None,
    ) -> None:
        self.families = tuple(families)
        self.n_resamples = check_integer("n_resamples", n_resamples, 1, MAX_RESAMPLES)
        self.seed = check_integer("seed", seed, 0, MAX_SEED)
        self._threads = thread_count(threads)
        self.progress = progress
        self._codes = codes
        if self.n_units < 2:
            raise InputError("one segment only: there is nothing to shuffle or draw, at least 2 segments are needed")

    @property
    def unit(self) -> str:
        """What is swapped and drawn: ``segment`` or ``document``."""
        return self.families[0].unit

    @property
    def n_units(self) -> int:
        """How many of them there are."""
        return self.families[0].n_units

    def first(self, n: int) -> Replicates:
        """The first n of them."""
        return Replicates(
            self.families,
            n_resamples=n,
            seed=self.seed,
            threads=self._threads or None,
            progress=self.progress,
            codes=self._codes,
        )

    def grouped(self, codes: Codes, n: int, families: Sequence[AnyFamily] | None = None) -> Replicates:
        """n shuffles by codes of units, of these families or all."""
        return Replicates(
            self.families if families is None else families,
            n_resamples=n,
            seed=self.seed,
            threads=self._threads or None,
            progress=self.progress,
            codes=codes,
        )

    @property
    def strata(self) -> Strata | None:
        """Within what they are drawn."""
        return self.families[0].strata

    def tally(self, pairs: Pairs, thresholds: Scores, alternative: str) -> NDArray[np.int64]:
        """How many shuffles reach each threshold: (metrics, pairs) in and out. Memory does not grow with R."""
        counts = np.zeros(thresholds.shape, dtype=np.int64)
        native = self._native()
        if native:
            indices = list(native)
            counts[indices] = _core.shuffle_tally(
                list(native.values()),
                list(pairs),
                alternative,
                np.ascontiguousarray(thresholds[indices]),
                codes=self._codes,
                **self._how,
            )
        for index, family in self._others().items():
            for replicates in self.batches(family.batch, "shuffling"):
                statistics = family.shuffled(pairs, replicates)
                counts[index] += reached(statistics, thresholds[index][:, None], alternative).sum(axis=1)
        return counts

    def tally_until(self, rule: _core.StoppingRule, pairs: Pairs, thresholds: Scores, alternative: str) -> Stopped:
        """The same of shuffles by coins, one after the other, until the rule stops each pair under each metric."""
        assert self._codes is None  # shuffles of a group depend on one another
        shape = thresholds.shape
        out = Stopped(np.zeros(shape, np.int64), np.zeros(shape, np.int64), np.zeros(shape, np.bool_))
        arrays = out.shuffles, out.exceedances, out.by_rule
        native = self._native()
        if native:
            indices = list(native)
            found = _core.shuffle_until(
                list(native.values()),
                list(pairs),
                alternative,
                np.ascontiguousarray(thresholds[indices]),
                rule,
                **self._how,
            )
            for array, values in zip(arrays, found, strict=True):
                array[indices] = values
        for index, family in self._others().items():
            sequential = _core.Sequential(rule, len(pairs))
            for batch in self.batches(family.batch, "shuffling", FIRST_BATCH):
                running = np.flatnonzero(~sequential.outcomes[2]).tolist()
                statistics = family.shuffled([pairs[pair] for pair in running], batch)
                looked_at = np.zeros((len(pairs), batch.n), dtype=np.bool_)
                looked_at[running] = reached(statistics, thresholds[index, running, None], alternative)
                sequential.look(looked_at)
                if sequential.finished:
                    break
            for array, (values,) in zip(arrays, sequential.outcomes, strict=True):
                array[index] = values
        return out

    def spreads(self, pairs: Pairs) -> Scores:
        """The root mean square of every statistic over the shuffles, whose mean is 0 by symmetry: (metrics, pairs)."""
        out = np.empty((len(self.families), len(pairs)))
        native = self._native()
        if native:
            out[list(native)] = _core.shuffle_spreads(list(native.values()), list(pairs), **self._how)
        for index in self._others():
            out[index] = np.sqrt((self._shuffled(index, pairs) ** 2).mean(axis=1))
        return out

    def max_t(self, pairs: Pairs, alternative: str, scales: Scores, thresholds: Scores) -> NDArray[np.int64]:
        """How many shuffles have, among a pair and the less extreme ones of its metric, one that reaches its threshold.

        ``scales`` are what statistics are multiplied with to be comparable, ``thresholds`` how extreme the observed
        ones then are. All have shape (metrics, pairs). Memory does not grow with R for native metrics.
        """
        counts = np.zeros(thresholds.shape, dtype=np.int64)
        native = self._native()
        if native:
            indices = list(native)
            of_native = (np.ascontiguousarray(array[indices]) for array in (scales, thresholds))
            counts[indices] = _core.shuffle_max_t(
                list(native.values()), list(pairs), alternative, *of_native, **self._how
            )
        for index in self._others():
            extreme = extremeness(self._shuffled(index, pairs), alternative) * scales[index][:, None]
            order = np.lexsort((-np.arange(len(pairs)), thresholds[index]))  # the least extreme first
            largest = np.maximum.accumulate(extreme[order])
            counts[index, order] = (largest >= thresholds[index, order][:, None]).sum(axis=1)
        return counts

    def min_p(self, pairs: Pairs, alternative: str, thresholds: Scores, ranks: NDArray[np.int64]) -> NDArray[np.int64]:
        """How many shuffles have, among a pair and the less significant ones of its metric, one of its rank or better.

        A shuffle's rank is its place among all shuffles and what was observed, which has ``ranks``: c + 1. All have
        shape (metrics, pairs). Memory is that of a few series of R numbers for native metrics.
        """
        counts = np.zeros(thresholds.shape, dtype=np.int64)
        native = self._native()
        if native:
            indices = list(native)
            of_native = np.ascontiguousarray(thresholds[indices]), ranks[indices].astype(np.uint64)
            counts[indices] = _core.shuffle_min_p(
                list(native.values()), list(pairs), alternative, *of_native, **self._how
            )
        for index in self._others():
            extreme = extremeness(self._shuffled(index, pairs), alternative)
            observed = extremeness(thresholds[index], alternative)[:, None]
            # How many are at least as extreme: all but those that sort before.
            before = [np.searchsorted(np.sort(series), series) for series in extreme]
            own = self.n_resamples - np.array(before) + (observed >= extreme)
            order = np.lexsort((-np.arange(len(pairs)), -ranks[index]))  # the least significant first
            smallest = np.minimum.accumulate(own[order])
            counts[index, order] = (smallest <= ranks[index, order][:, None]).sum(axis=1)
        return counts

    def shuffles(self, pairs: Pairs) -> Scores:
        """The statistic of every shuffle: (metrics, pairs, R)."""
        out = np.empty((len(self.families), len(pairs), self.n_resamples))
        native = self._native()
        if native:
            out[list(native)] = _core.shuffle_statistics(
                list(native.values()),
                list(pairs),
                codes=self._codes,
                **self._how,
            )
        for index in self._others():
            out[index] = self._shuffled(index, pairs)
        return out

    def _shuffled(self, index: int, pairs: Pairs) -> Scores:
        """The statistic of every shuffle under a metric that is scored here: (pairs, R)."""
        family = self.families[index]
        out = np.empty((len(pairs), self.n_resamples))
        for batch in self.batches(family.batch, "shuffling"):
            out[:, batch.first : batch.first + batch.n] = family.shuffled(pairs, batch)
        return out

    @lazy
    def draws(self) -> tuple[Scores, ...]:
        """For each family the score of every system on every draw: (k, R)."""
        out: dict[int, Scores] = {}
        native = self._native(to_draw=True)
        if native:
            drawn = _core.draw_scores(
                list(native.values()),
                strata=core_sizes(self.strata),
                **self._how,
            )
            ends = np.cumsum([len(counts) for _, counts in native.values()])[:-1]
            out.update(zip(native, np.split(drawn, ends), strict=True))
        for index, family in self._others().items():
            out[index] = np.empty((len(family.scores), self.n_resamples))
            for batch in self.batches(family.batch, "drawing"):
                out[index][:, batch.first : batch.first + batch.n] = family.drawn(batch)
        return tuple(out[index] for index in range(len(self.families)))

    @property
    def _how(self) -> dict[str, Any]:
        """How the core is to make them."""
        return {
            "n": self.n_resamples,
            "seed": self.seed,
            "threads": self._threads,
            "progress": self.progress,
        }

    def _native(self, *, to_draw: bool = False) -> dict[int, tuple[_core.Metric, Counts]]:
        """What is summed and scored in Rust, to be shuffled or drawn."""
        return {
            i: (f.metric.core, f.to_draw if to_draw else f.counts)
            for i, f in enumerate(self.families)
            if isinstance(f, Family) and f.metric.core is not None
        }

    def _others(self) -> dict[int, AnyFamily]:
        """What is scored here."""
        native = self._native()
        return {i: f for i, f in enumerate(self.families) if i not in native}

    def batches(self, largest: int, stage: str, size: int | None = None) -> Iterator[Replication]:
        """All replicates in batches, the first of this ``size``, others twice as large up to the ``largest``."""
        progress = self.progress or Progress()
        progress.begin(stage, self.n_resamples)
        first, size = 0, min(largest, size or largest)
        while first < self.n_resamples:
            n = min(size, self.n_resamples - first)
            yield Replication(self.seed, first, n, self._threads, self._codes)
            first, size = first + n, min(largest, 2 * size)
            progress.update(first)
