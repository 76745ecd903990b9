"""What is resampled: k systems on the same units under one metric.

=============== ================================ =====================================================================
sample          metric                           a replicate
=============== ================================ =====================================================================
`NativeSample`  a formula in Rust                is summed and scored there, thousands in one call
`FormulaSample` a function over summed counts    is summed in Rust and scored here, batch by batch
`TextSample`    a function that looks at texts   is put together and scored here, one by one
=============== ================================ =====================================================================

All see the same flips and the same draws.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from ..errors import InputError
from ..lazy import lazy
from ..metrics.base import Counts, Metric, MetricLike, Scores, counts_array
from ..metrics.black_box import CorpusFunction
from ..metrics.native import resolve
from ..metrics.precomputed import SegmentScores
from ..settings import Units
from .linear import linear_variances
from .units import Documents, Strata, Variances, document_effects, jackknife_variances

__all__ = [
    "Batch",
    "Codes",
    "CountSample",
    "FormulaSample",
    "NativeSample",
    "Pairs",
    "Sample",
    "TextSample",
]

Pairs: TypeAlias = Sequence[tuple[int, int]]
Codes: TypeAlias = NDArray[np.uint64]

BY_SEGMENT = Units()

# Numbers that a batch of replicates of a formula may hold: 32 MB, whatever the number of replicates.
BATCH_CELLS = 1 << 22


@dataclass(frozen=True)
class Batch:
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
            words = _core.stream_values(self.seed, "shuffle", replicate, -(-n_units // 64))
            return np.unpackbits(words.astype("<u8").view(np.uint8), bitorder="little")
        common = self.codes & np.uint64(replicate)
        for shift in (32, 16, 8, 4, 2, 1):  # the parity of the bits gathers in the last one
            common = common ^ common >> np.uint64(shift)
        return (common & np.uint64(1)).astype(np.intp)

    def sums(self, prepared: _core.Resampler) -> Counts:
        """The sums of these replicates over the swapped or drawn units: (n, cells)."""
        (sums,) = prepared.run(
            [_core.Sums()], n=self.n, seed=self.seed, first=self.first, codes=self.codes, threads=self.threads
        )
        return np.asarray(sums.sums)


class Column(NamedTuple):
    """The one column of counts in which a pair differs."""

    sample: CountSample
    pair: tuple[int, int]
    number: int
    span: int  # Σ|d|/g over the differences d, g their greatest common divisor

    @property
    def differences(self) -> NDArray[np.int64]:
        """Those of the units that differ, in their order."""
        x, y = (self.sample.rows(system)[:, self.number] for system in self.pair)
        return np.asarray((x - y)[x != y])

    def statistics(self, moved: NDArray[np.int64]) -> Scores:
        """score(x) − score(y) if so much of the column's sum moves from x to y: (n,) in and out."""
        totals = np.repeat(self.sample.totals[list(self.pair), None], len(moved), axis=1)
        totals[0, :, self.number] -= moved
        totals[1, :, self.number] += moved
        x, y = self.sample.metric.score(totals)
        statistics: Scores = x - y
        return statistics


class Sample(Protocol):
    """k systems on the same units under one metric. Units are drawn within ``strata``, if there are any.

    Shuffles swap each unit by itself, and strata mean nothing to them.
    """

    @property
    def metric(self) -> Metric | CorpusFunction:
        """What gives a score."""

    @property
    def strata(self) -> Strata | None:
        """Within what units are drawn."""

    @property
    def unit(self) -> str:
        """What is swapped and drawn: ``segment`` or ``document``."""

    @property
    def n_units(self) -> int:
        """How many of them there are: S, or D if documents are the unit."""

    @property
    def scores(self) -> Scores:
        """The observed score of each system: (k,)."""

    def segment_scores(self, names: Sequence[str]) -> Scores:
        """The score of every segment by itself, of the systems of these names: (k, S)."""

    def known(self, value: float) -> float:
        """A score or difference, rounded to the decimals that its unit determines."""

    @property
    def leave_one_out(self) -> Scores:
        """The score of each system without each of the units: (k, S)."""

    @property
    def jackknife(self) -> Variances:
        """The variances of ``leave_one_out``."""

    def values(self, a: int, b: int | None = None) -> Scores:
        """Of a mean, the values whose mean is the score of a or, with ``b``, score(a) − score(b): (S,).

        Differences are taken of integers, so that those that are equal stay so.
        """

    @property
    def evaluations(self) -> int | None:
        """How often a function of texts was called; None for sums."""

    @property
    def batch(self) -> int:
        """How many replicates to make at a time if they are scored here."""

    def by(self, documents: Documents) -> Sample:
        """The same with documents as the unit."""

    def within(self, strata: Strata) -> Sample:
        """The same with draws within strata of the units."""

    def document_scores(self, documents: Documents) -> Scores:
        """The score of every document by itself: (k, D)."""

    def document_effects(self, documents: Documents, pairs: Pairs) -> list[tuple[float | None, float | None]]:
        """Intraclass correlation and design effect of each pair, None where they are not defined or not known."""

    def details(self, system: int) -> Mapping[str, float]:
        """The parts that make up a system's score."""

    def differing(self, pairs: Pairs, most: int) -> list[tuple[int, Column | None]]:
        """For each pair the number of units in which it differs, and the column in which it does if that is but one.

        A pair that differs in several columns is looked at until ``most`` units are passed.
        """

    def differing_units(self, pair: tuple[int, int]) -> NDArray[np.intp]:
        """The units in which a pair differs."""

    def of_pair(self, pair: tuple[int, int]) -> tuple[Sample, tuple[int, int]]:
        """The same without other systems, and the pair there."""

    def sums(self) -> CountSample:
        """Itself, for what needs counts; :class:`InputError` if it has none."""

    def native(self, kind: str) -> tuple[_core.Metric, _core.Counts] | None:
        """What the core sums and scores for ``shuffles`` or ``draws``; None for what is scored here, as follows."""

    def shuffled(self, pairs: Pairs, batch: Batch) -> Scores:
        """The statistic of every pair on every shuffle: (pairs, n)."""

    def drawn(self, batch: Batch) -> Scores:
        """The score of every system on every draw: (k, n)."""


def prepared(kind: str, counts: Counts, strata: Strata | None = None) -> _core.Resampler:
    """Counts that are to be summed in the core, and scored here: (k, S, K)."""
    return _core.Resampler([(None, checked(counts))], kind=kind, strata=sizes_of(strata))


def checked(counts: Counts) -> _core.Counts:
    """(k, S, K) counts for the core, in the order of memory that it wants."""
    return _core.Counts([np.ascontiguousarray(counts)])


def sizes_of(strata: Strata | None) -> list[int] | None:
    """The sizes of strata for the core."""
    return None if strata is None else strata.sizes.tolist()


@dataclass(frozen=True, eq=False)
class CountSample(ABC):
    """The counts of k systems under a metric, with S segments or D documents as the units.

    ``arrays`` are C-contiguous arrays of int64, all of the shape (n, S, K). With one array its systems are numbered as
    they lie there; with two they take turns: system 0 is the first of the first array, system 1 the first of the
    second. So the systems of two arrays need not be copied into one.
    """

    metric: Metric
    arrays: Sequence[Counts]
    unit: str = "segment"
    strata: Strata | None = None

    evaluations: ClassVar[None] = None

    @staticmethod
    def of(metric: Metric, counts: Counts, unit: str = "segment", strata: Strata | None = None) -> CountSample:
        """From (k, S, K) counts, scored where the metric's formula is."""
        counts = np.ascontiguousarray(counts_array(counts, "counts", ndim=3))
        return CountSample.of_turns(metric, [counts], unit, strata)

    @staticmethod
    def of_turns(
        metric: Metric, arrays: Sequence[Counts], unit: str = "segment", strata: Strata | None = None
    ) -> CountSample:
        """From arrays whose systems take turns."""
        if metric.core is None:
            return FormulaSample(metric, arrays, unit, strata)
        return NativeSample(metric, arrays, unit, strata, core=metric.core)

    @lazy
    def counts(self) -> Counts:
        """The counts of all systems: (k, S, K)."""
        return self.arrays[0] if len(self.arrays) == 1 else np.concatenate(np.stack(self.arrays, axis=1))

    def rows(self, system: int) -> Counts:
        """The counts of one system: (S, K)."""
        place, array = divmod(system, len(self.arrays))
        rows: Counts = self.arrays[array][place]
        return rows

    @lazy
    def checked(self) -> _core.Counts:
        """The counts for the core, which has checked that none of their sums overflows."""
        return _core.Counts(self.arrays)

    @staticmethod
    def of_arrays(
        metric: MetricLike | None,
        a: ArrayLike,
        b: ArrayLike | None = None,
        given: Units = BY_SEGMENT,
    ) -> CountSample:
        """From the (S, K) counts of one system or two, or without a metric from their (S,) scores of segments."""
        sample = _of_arrays(metric, {"a": a} if b is None else {"a": a, "b": b})
        n = sample.n_units
        documents = None if given.documents is None else Documents.of(given.documents, n)
        if documents is not None:
            sample = sample.by(documents)
        return sample if given.strata is None else sample.within(Strata.of(given.strata, n, documents))

    def by(self, documents: Documents) -> CountSample:
        """See :meth:`Sample.by`."""
        return CountSample.of(self.metric, self._sums(documents), "document")

    def _sums(self, documents: Documents) -> Counts:
        """The sums over each document, once those over all segments are known not to overflow: numpy would not tell."""
        _ = self.checked
        return documents.sums(self.counts)

    def within(self, strata: Strata) -> CountSample:
        """See :meth:`Sample.within`."""
        return replace(self, strata=strata)

    @lazy
    def to_draw(self) -> Counts:
        """The counts in the order in which they are drawn: stratum after stratum."""
        return self.counts if self.strata is None else self.strata.arranged(self.counts)

    @property
    def n_units(self) -> int:
        """See :attr:`Sample.n_units`."""
        return int(self.arrays[0].shape[1])

    @lazy
    def totals(self) -> Counts:
        """The sums over all units: (k, K)."""
        return self.checked.totals

    @lazy
    def scores(self) -> Scores:
        """See :attr:`Sample.scores`."""
        return self.metric.score(self.totals)

    def segment_scores(self, names: Sequence[str]) -> Scores:
        """See :meth:`Sample.segment_scores`."""
        return self.metric.reported_segment_scores(names, self.counts)

    def known(self, value: float) -> float:
        """See :meth:`Sample.known`."""
        return value if self.metric.decimals is None else round(value, self.metric.decimals)

    def document_scores(self, documents: Documents) -> Scores:
        """The corpus score of every document by itself: (k, D)."""
        return self.metric.score(self._sums(documents))

    @lazy
    def leave_one_out(self) -> Scores:
        """See :attr:`Sample.leave_one_out`."""
        return np.stack([self.metric.score(t - rows) for t, rows in zip(self.totals, self.counts, strict=True)])

    @lazy
    def jackknife(self) -> Variances:
        """See :attr:`Sample.jackknife`."""
        return jackknife_variances(self.leave_one_out, Strata.or_one(self.strata, self.n_units))

    @lazy
    def linear(self) -> Variances:
        """The variances of what each unit adds to the score if the metric is linearised: the delta method."""
        return linear_variances(self.metric, self.counts, self.totals, Strata.or_one(self.strata, self.n_units))

    def values(self, a: int, b: int | None = None) -> Scores:
        """See :meth:`Sample.values`."""
        if self.unit != "segment" or self.strata is not None:
            units = "strata" if self.strata is not None else f"{self.unit}s"
            raise InputError(
                f"{self.metric.name}: t intervals and t, Wilcoxon and sign tests treat segments as independent; with "
                f"{units} use 'ar' or 'bootstrap', and an interval from draws"
            )
        rows = self.rows(a)
        if b is not None:
            rows = rows.copy()
            rows[:, 0] -= self.rows(b)[:, 0]
        return self.metric.segment_scores(rows)

    def document_effects(self, documents: Documents, pairs: Pairs) -> list[tuple[float | None, float | None]]:
        """See :meth:`Sample.document_effects`."""
        effects = document_effects(self.scores, self.leave_one_out, documents, pairs)
        return [(_defined(correlation), _defined(effect)) for correlation, effect in effects]

    def details(self, system: int) -> Mapping[str, float]:
        """See :meth:`Sample.details`."""
        return self.metric.details(self.totals[system])

    @property
    def batch(self) -> int:
        """See :attr:`Sample.batch`."""
        return max(1, BATCH_CELLS // self.totals.size)

    def differing(self, pairs: Pairs, most: int) -> list[tuple[int, Column | None]]:
        """See :meth:`Sample.differing`."""
        found = self.checked.differing(pairs, most=most)
        return [
            (units, None if column is None else Column(self, pair, column, span))
            for pair, (units, column, span) in zip(pairs, found, strict=True)
        ]

    def of_pair(self, pair: tuple[int, int]) -> tuple[CountSample, tuple[int, int]]:
        """See :meth:`Sample.of_pair`."""
        if len(self.checked) == 2:
            return self, pair
        return CountSample.of(self.metric, np.stack([self.rows(system) for system in pair]), self.unit), (0, 1)

    def differing_units(self, pair: tuple[int, int]) -> NDArray[np.intp]:
        """See :meth:`Sample.differing_units`."""
        x, y = map(self.rows, pair)
        return np.flatnonzero((x != y).any(axis=-1))

    def sums(self) -> CountSample:
        """See :meth:`Sample.sums`."""
        return self

    @abstractmethod
    def native(self, kind: str) -> tuple[_core.Metric, _core.Counts] | None:
        """See :meth:`Sample.native`."""

    @lazy
    def _to_shuffle(self) -> _core.Resampler:
        return prepared("shuffles", self.counts)

    @lazy
    def _to_draw(self) -> _core.Resampler:
        return prepared("draws", self.to_draw, self.strata)

    def shuffled(self, pairs: Pairs, batch: Batch) -> Scores:
        """See :meth:`Sample.shuffled`."""
        flipped = batch.sums(self._to_shuffle).reshape(batch.n, *self.totals.shape)
        statistics = np.empty((len(pairs), batch.n))
        for index, (x, y) in enumerate(pairs):
            moved = flipped[:, x] - flipped[:, y]
            statistics[index] = self.metric.score(self.totals[x] - moved) - self.metric.score(self.totals[y] + moved)
        return statistics

    def drawn(self, batch: Batch) -> Scores:
        """See :meth:`Sample.drawn`."""
        return self.metric.score(batch.sums(self._to_draw).reshape(batch.n, *self.totals.shape)).T


@dataclass(frozen=True, eq=False)
class NativeSample(CountSample):
    """Counts that the core sums and scores."""

    core: _core.Metric = field(kw_only=True)

    @lazy
    def scores(self) -> Scores:
        """See :attr:`Sample.scores`."""
        return self.core.scores(self.totals)

    def native(self, kind: str) -> tuple[_core.Metric, _core.Counts] | None:
        """See :meth:`Sample.native`."""
        in_order = kind == "shuffles" or self.strata is None
        return self.core, self.checked if in_order else checked(self.to_draw)


@dataclass(frozen=True, eq=False)
class FormulaSample(CountSample):
    """Counts that the core sums, and a function in Python scores."""

    def native(self, kind: str) -> None:
        """See :meth:`Sample.native`."""
        return


def _defined(value: float) -> float | None:
    return None if math.isnan(value) else value


def _of_arrays(metric: MetricLike | None, systems: Mapping[str, ArrayLike]) -> CountSample:
    """From the counts or scores of systems, which the message of an error calls by their names here."""
    shapes = {name: _shape(values) for name, values in systems.items()}
    if metric is None:
        for name, shape in shapes.items():
            if len(shape) != 1:
                raise InputError(
                    f"without a metric {name} must hold one score for each segment, shape (S,), got shape {shape}; "
                    "for (S, K) counts give the metric: a name, a Metric or a function of sums"
                )
        scores = SegmentScores("score", systems)
        return CountSample.of(scores, scores.counts_of(list(systems)))
    for name, shape in shapes.items():
        if len(shape) == 1:
            raise InputError(
                f"{name} must have 2 dimensions, got shape {shape}: a metric sums (S, K) counts; to compare the "
                "means of one score per segment leave the metric out"
            )
    metric = resolve(metric)
    arrays = [counts_array(values, name, ndim=2) for name, values in systems.items()]
    if len({array.shape for array in arrays}) > 1:
        got = " and ".join(str(array.shape) for array in arrays)
        raise InputError(f"a and b must have the same shape (segments, counts), got {got}")
    return CountSample.of_turns(metric, [np.ascontiguousarray(array[None]) for array in arrays])


def _shape(values: ArrayLike) -> tuple[int, ...]:
    """The shape of an array; () if rows differ in length, for which the conversion raises an error later."""
    try:
        return np.shape(values)
    except ValueError:
        return ()


class TextSample:
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
        self.evaluations = 0

    def by(self, documents: Documents) -> TextSample:
        """The same with documents as the unit."""
        return TextSample(self.metric, self.systems, self.references, documents)

    def within(self, strata: Strata) -> TextSample:
        """The same with draws within strata of the units."""
        return TextSample(self.metric, self.systems, self.references, self.documents, strata)

    def _evaluate(self, hypotheses: list[str], segments: Sequence[int]) -> float:
        """The function's value for hypotheses of these segments."""
        self.evaluations += 1
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

    def known(self, value: float) -> float:
        """The value: nothing is known about its unit."""
        return value

    def segment_scores(self, names: Sequence[str]) -> Scores:
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

    @lazy
    def jackknife(self) -> Variances:
        """See :attr:`Sample.jackknife`."""
        return jackknife_variances(self.leave_one_out, Strata.or_one(self.strata, self.n_units))

    def values(self, a: int, b: int | None = None) -> Scores:
        """There are none: the score is no mean."""
        raise InputError(f"{self.metric.name} is a function of texts, not a mean of scores of segments")

    def document_effects(self, documents: Documents, pairs: Pairs) -> list[tuple[float | None, float | None]]:
        """None: they would take a call for every segment."""
        return [(None, None)] * len(pairs)

    def details(self, system: int) -> Mapping[str, float]:
        """None: nothing is known about the function."""
        return {}

    def differing(self, pairs: Pairs, most: int) -> list[tuple[int, Column | None]]:
        """For each pair the number of units in which it differs; there are no columns."""
        return [(len(self.differing_units(pair)), None) for pair in pairs]

    def of_pair(self, pair: tuple[int, int]) -> tuple[TextSample, tuple[int, int]]:
        """The same: other systems cost nothing."""
        return self, pair

    def differing_units(self, pair: tuple[int, int]) -> NDArray[np.intp]:
        """The units in which a pair differs."""
        lines = zip(*(self.systems[system] for system in pair), strict=True)
        segments = np.flatnonzero([x != y for x, y in lines])
        return segments if self.documents is None else np.unique(self.documents.index[segments])

    def sums(self) -> CountSample:
        """There are none."""
        raise InputError(f"{self.metric.name} is a function of texts: it has no counts that could be summed")

    def native(self, kind: str) -> None:
        """See :meth:`Sample.native`."""
        return

    def shuffled(self, pairs: Pairs, batch: Batch) -> Scores:
        """See :meth:`Sample.shuffled`."""
        everything = range(self._n_segments)
        statistics = np.empty((len(pairs), batch.n))
        for column, r in enumerate(batch.numbers):
            flips = batch.flips(r, self.n_units)
            swap = (flips if self.documents is None else flips[self.documents.index]).tolist()
            for index, (x, y) in enumerate(pairs):
                both = self.systems[x], self.systems[y]
                left, right = ([both[side ^ swap[s]][s] for s in everything] for side in (0, 1))
                statistics[index, column] = self._evaluate(left, everything) - self._evaluate(right, everything)
        return statistics

    def drawn(self, batch: Batch) -> Scores:
        """See :meth:`Sample.drawn`."""
        scores = np.empty((len(self.systems), batch.n))
        for column, r in enumerate(batch.numbers):
            drawn = _core.draw_weights(batch.seed, r, self.n_units, strata=sizes_of(self.strata))
            weights = np.empty_like(drawn)
            weights[slice(None) if self.strata is None else self.strata.order] = drawn
            units = np.repeat(np.arange(self.n_units), weights)
            segments = (units if self.documents is None else self.documents.segments(units)).tolist()
            for index, lines in enumerate(self.systems):
                scores[index, column] = self._evaluate([lines[s] for s in segments], segments)
        return scores
