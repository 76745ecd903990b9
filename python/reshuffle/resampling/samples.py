"""Samples: the outputs of k systems on the same test set under one metric. Samples are what is resampled.

============= ============================ =============================================
sample        metric                       how a replicate is computed
============= ============================ =============================================
`CountSample` a formula in Rust            summed and scored in Rust, thousands in one call
`CountSample` a function of summed counts  summed in Rust, scored in Python in batches
`TextSample`  a function of texts          assembled and scored in Python, one at a time
============= ============================ =============================================

For the same seed all of them get the same flips, draws and permutations.

A *resampling unit* is what is swapped, drawn or permuted as a whole: a segment, or a document. Arrays have S rows,
where S is the number of resampling units.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..errors import SEGMENT_MESSAGE, InputError
from ..lazy import lazy
from ..metrics.base import Counts, Metric, MetricLike, Scores, counts_array
from ..metrics.black_box import CorpusFunction
from ..metrics.named import resolve
from ..metrics.precomputed import SegmentScores
from ..results import Exchangeability
from ..settings import Units
from .exchangeability import exchangeability
from .linear import linear_variances, linear_variances_of_differences
from .units import Documents, Strata, Variances, document_effects, documents_and_strata, jackknife_variances

if TYPE_CHECKING:
    from typing_extensions import Self

Pairs: TypeAlias = Sequence[tuple[int, int]]
# One 64-bit code for each resampling unit: see :meth:`reshuffle.resampling.Replicates.with_codes`.
GroupCodes: TypeAlias = NDArray[np.uint64]

# An exchange between two systems with several runs each, as ``_core.Resampler.run`` takes it.
ExchangeOfRuns: TypeAlias = tuple[str, int] | tuple[str, int, int]

# Without ids of documents and strata, each segment is a resampling unit.
SEGMENTS = Units()

# Size limit of a batch of replicates that Python scores, in 64-bit numbers: 32 MB, whatever the number of replicates.
BATCH_CELLS = 1 << 22


@dataclass(frozen=True)
class Batch:
    """The replicates ``first`` to ``first + n - 1``.

    With ``codes`` the shuffles are a subgroup. ``masks`` or ``indices``, arrays with n rows, are user-supplied shuffles
    or draws. ``exchange`` makes shuffles of systems with several runs: see :mod:`.run_exchange`.
    """

    seed: int
    first: int
    n: int
    threads: int
    codes: GroupCodes | None = None
    masks: NDArray[np.bool_] | None = None
    indices: NDArray[np.uint32] | None = None
    exchange: ExchangeOfRuns | None = None

    @property
    def numbers(self) -> range:
        """The numbers of the replicates."""
        return range(self.first, self.first + self.n)

    @property
    def keywords(self) -> dict[str, Any]:
        """What the core takes to make these replicates, beside those that are supplied."""
        return {"n": self.n, "seed": self.seed, "first": self.first, "threads": self.threads}

    def flips(self, replicate: int, n_units: int) -> NDArray[np.integer[Any]]:
        """1 for each unit that the shuffle swaps, otherwise 0: an array of at least ``n_units`` elements."""
        if self.codes is None:
            random_bits = _core.stream_values(self.seed, "shuffle", replicate, -(-n_units // 64))
            return np.unpackbits(random_bits.astype("<u8").view(np.uint8), bitorder="little")
        common = self.codes & np.uint64(replicate)
        for shift in (32, 16, 8, 4, 2, 1):  # the lowest bit becomes the parity of all bits
            common = common ^ common >> np.uint64(shift)
        return (common & np.uint64(1)).astype(np.intp)

    def sums(self, resampler: _core.Resampler) -> Counts:
        """The sums of all columns in each replicate: (n, k·K).

        They are those of the swapped or drawn units, or of all units for permutations.
        """
        (sums,) = resampler.run(
            [_core.Sums()],
            masks=self.masks,
            codes=self.codes,
            indices=self.indices,
            exchange=self.exchange,
            **self.keywords,
        )
        return np.asarray(sums.sums)


# Ranges of replicates begin at multiples of so many: those that the core reduces, which it does in batches of 64; of
# formulas in Python; computed one after the other; and of functions of texts.
OF_CORE, OF_FORMULA, OF_OTHERS, OF_TEXTS = 512, 64, 16, 4


@dataclass(frozen=True, eq=False)
class SentSample:
    """A sample as it is sent to a worker: what replicates need of it, without anything that can be computed again."""

    make: Callable[..., Sample]
    """A function of a module, from ``arguments`` to the sample."""
    arguments: Mapping[str, Any]
    together: int
    """Ranges of replicates begin at multiples of this power of two."""

    def sample(self) -> Sample:
        """The sample."""
        return self.make(**self.arguments)


class DifferingColumn(NamedTuple):
    """The only column of counts in which two systems differ.

    Let d_s be the difference of unit s in that column. The statistic is then a function of one sum, that of the d_s of
    the swapped units. ``n_steps`` is Σ|d_s|/g, where g is the greatest common divisor of the d_s: the sum takes at most
    ``n_steps`` + 1 values.
    """

    sample: CountSample
    pair: tuple[int, int]
    column: int
    n_steps: int

    @property
    def differences(self) -> NDArray[np.int64]:
        """The differences that are not 0, in the order of the units."""
        x, y = (self.sample.rows(system)[:, self.column] for system in self.pair)
        return np.asarray((x - y)[x != y])

    def statistics(self, moved: NDArray[np.int64]) -> Scores:
        """score(x) − score(y) after moving an amount of the column's sum from x to y, for each of n amounts: (n,)."""
        totals = np.repeat(self.sample.totals[list(self.pair), None], len(moved), axis=1)
        totals[0, :, self.column] -= moved
        totals[1, :, self.column] += moved
        x, y = self.sample.metric.score(totals)
        return np.asarray(x - y)


class Sample:
    """k systems on the same resampling units under one metric.

    Draws are made within ``strata``, if there are any. Strata do not affect shuffles and permutations, which exchange
    systems within a unit.

    The methods of this class are those of a sample without counts of its own: no exact tests, closed forms, or units
    that are still to be formed. Subclasses have counts, or shuffles or draws. Checks of options ensure that nobody asks
    for more.
    """

    metric: Metric | CorpusFunction
    """The metric that scores the systems."""

    if TYPE_CHECKING:  # when it runs, a dataclass would take these for the defaults of its fields

        @property
        def unit(self) -> str:
            """The resampling unit: ``segment`` or ``document``."""

        @property
        def n_units(self) -> int:
            """S, the number of resampling units."""

        @property
        def scores(self) -> Scores:
            """The observed score of each system: (k,)."""

        @property
        def batch_size(self) -> int:
            """How many replicates to compute at a time when Python scores them."""

        def segment_scores(self, names: Sequence[str]) -> Scores:
            """The score of every segment of the systems with these names: (k, S)."""

        @property
        def leave_one_out(self) -> Scores:
            """The score of each system without each unit: (k, S)."""

        @property
        def linear(self) -> Variances:
            """The variances by the delta method; :class:`InputError` for a function of texts."""

        def segment_values(self, a: int, b: int | None = None) -> Scores:
            """For a metric that is a mean: the segment scores of ``a``, or with ``b`` the differences a − b: (S,).

            Differences are computed on integers, so equal differences stay equal.
            """

        def by_document(self, documents: Documents) -> Sample:
            """The same systems with documents as the resampling unit."""

        def stratified(self, strata: Strata) -> Sample:
            """The same systems with draws within strata."""

        def document_scores(self, documents: Documents) -> Scores:
            """The score of every document: (k, D)."""

        def differing(self, pairs: Pairs, most: int) -> list[tuple[int, DifferingColumn | None]]:
            """For each pair the number of units in which its systems differ, and the only column that differs, or None.

            For a pair that differs in several columns, counting stops after ``most`` + 1 units.
            """

        def differing_units(self, pair: tuple[int, int]) -> NDArray[np.intp]:
            """The indices of the units in which the two systems differ."""

        def select_pair(self, pair: tuple[int, int]) -> tuple[Sample, tuple[int, int]]:
            """A sample without the other systems, and the indices of the pair in it."""

        def with_counts(self) -> CountSample:
            """This sample, for code that needs counts; :class:`InputError` if it has none."""

        def shuffle_statistics(self, pairs: Pairs, batch: Batch) -> Scores:
            """The statistic of every pair on every shuffle: (pairs, n)."""

        def draw_scores(self, batch: Batch) -> Scores:
            """The score of every system on every draw: (k, n)."""

        def permutation_scores(self, batch: Batch) -> Scores:
            """The score at every position of every permutation: (k, n)."""

    @property
    def strata(self) -> Strata | None:
        """The strata of the bootstrap, or None."""
        return None

    @property
    def evaluations(self) -> int | None:
        """How many times a function of texts was called; None for metrics with counts."""
        return None

    def round_score(self, value: float) -> float:
        """A score or difference, rounded to the decimals that the metric's fixed-point resolution determines."""
        return value if self.metric.decimals is None else round(value, self.metric.decimals)

    @lazy
    def jackknife(self) -> Variances:
        """The variances of ``leave_one_out``."""
        return jackknife_variances(self.leave_one_out, Strata.or_single(self.strata, self.n_units))

    def for_pairs(self, pairs: Pairs) -> Self:
        """The same systems, prepared for tests of these pairs and for intervals.

        :class:`InputError` if a system or a pair has scores in fewer than two units.
        """
        return self

    def rows_of(self, pairs: Pairs) -> Pairs:
        """The rows with which each pair is compared: indices into ``scores`` and the other arrays.

        These are the systems themselves (and ``pairs`` itself), unless scores are missing: then a pair is compared on
        the segments that both have. All other methods take these indices.
        """
        return pairs

    def scored_units(self, rows: Sequence[int]) -> NDArray[np.intp] | None:
        """The units in which all these systems have scores; None if they have scores in all units."""
        return None

    def alone(self, rows: Sequence[int]) -> tuple[Sample, Sequence[int]]:
        """A sample of the units in which all these systems have scores, and the indices of the systems in it."""
        return self, rows

    def in_units(self, documents: Documents | None, strata: Strata | None) -> Sample:
        """The same systems with documents, if there are any, as the resampling unit, and draws within strata."""
        sample = self if documents is None else self.by_document(documents)
        return sample if strata is None else sample.stratified(strata)

    def document_effects(self, documents: Documents, pairs: Pairs) -> list[tuple[float | None, float | None]]:
        """Intraclass correlation and design effect of each pair, None where undefined or unknown."""
        return [(None, None)] * len(pairs)

    def exchangeability(self, pairs: Pairs) -> list[Exchangeability | None]:
        """How the spread over shuffles compares with the standard error, pair by pair; None where unknown."""
        return [None] * len(pairs)

    def variances_of_differences(self, pairs: Pairs) -> Scores | None:
        """The squared standard error of each pair's difference by the delta method; None without counts: (pairs,)."""
        return None

    def details(self, system: int) -> Mapping[str, float]:
        """The components of a system's score, such as precisions and the brevity penalty."""
        return {}

    def native(self, kind: str) -> tuple[_core.Metric, _core.Counts] | None:
        """The metric and counts with which Rust computes replicates of a kind; None if Python scores the sample.

        Where it is None, :meth:`shuffle_statistics`, :meth:`draw_scores` and :meth:`permutation_scores` are called
        instead.
        """
        return None

    def sent(self, kind: str) -> SentSample | None:
        """This sample as it is sent to a worker; None if replicates of this kind need this process."""
        return None


def all_sent(samples: Sequence[Sample], kind: str) -> tuple[SentSample, ...] | None:
    """The samples as they are sent; None if replicates of one of them need this process."""
    found = tuple(each for sample in samples if (each := sample.sent(kind)) is not None)
    return found if len(found) == len(samples) else None


def columns_of(pairs: Pairs) -> NDArray[np.intp]:
    """The first ones and the second ones of the pairs: (2, pairs)."""
    return np.array(pairs, dtype=np.intp).reshape(-1, 2).T


def resampler_of_sums(
    kind: str, counts: NDArray[np.signedinteger[Any]], strata: Strata | None = None
) -> _core.Resampler:
    """A Resampler that sums (k, S, K) counts over the swapped, drawn or permuted units, without scoring them."""
    return _core.Resampler([(None, core_counts(counts))], kind=kind, strata=stratum_sizes(strata))


def core_counts(counts: NDArray[np.signedinteger[Any]]) -> _core.Counts:
    """(k, S, K) counts as an object of the core, which needs them in C order."""
    return _core.Counts([np.ascontiguousarray(counts)])


def stratum_sizes(strata: Strata | None) -> list[int] | None:
    """The sizes of strata in the form that the core takes."""
    return None if strata is None else strata.sizes.tolist()


@dataclass(eq=False)
class CountSample(Sample):
    """The counts of k systems under a metric.

    ``arrays`` are one or two C-contiguous arrays of int64. One array, (k, S, K), holds the systems in order. The
    systems of two arrays, each (k/2, S, K), are interleaved: system 0 is the first of the first array, system 1 the
    first of the second. So a batch of pairs need not be copied into one array.
    """

    metric: Metric
    arrays: Sequence[Counts]
    unit: str = "segment"
    strata: Strata | None = None

    @staticmethod
    def from_counts(metric: Metric, counts: Counts, unit: str = "segment", strata: Strata | None = None) -> CountSample:
        """From (k, S, K) counts."""
        return CountSample(metric, [np.ascontiguousarray(counts_array(counts, "counts", ndim=3))], unit, strata)

    @property
    def core(self) -> _core.Metric | None:
        """The formula in Rust, which then scores the replicates, too."""
        return self.metric.core

    @lazy
    def counts(self) -> Counts:
        """The counts of all systems: (k, S, K)."""
        if len(self.arrays) == 1:
            return self.arrays[0]
        return np.concatenate(np.stack(self.arrays, axis=1))  # (k/2, 2, S, K), then its first two axes become one

    @property
    def stored(self) -> NDArray[np.signedinteger[Any]]:
        """The counts of all systems, (k, S, K), in the width in which they are stored: at most 64 bits.

        For what reads them piece by piece. Sums and differences of narrow integers overflow silently.
        """
        return self.counts

    def rows(self, system: int) -> Counts:
        """The counts of one system: (S, K)."""
        index, array = divmod(system, len(self.arrays))
        return np.asarray(self.arrays[array][index])

    @lazy
    def core_counts(self) -> _core.Counts:
        """The counts as an object of the core, which has checked that no sum overflows."""
        return _core.Counts(self.arrays)

    @staticmethod
    def from_arrays(
        metric: MetricLike | None,
        a: NDArray[Any],
        b: NDArray[Any] | None = None,
        units: Units = SEGMENTS,
    ) -> CountSample:
        """From the (S, K) counts of one or two systems or, without a metric, from their (S,) segment scores."""
        systems = {"a": a} if b is None else {"a": a, "b": b}
        sample = _sample_of_scores(systems) if metric is None else _sample_of_counts(resolve(metric), systems)
        return sample.in_units(*documents_and_strata(units, sample.n_units)).with_counts()

    def by_document(self, documents: Documents) -> CountSample:
        """See :meth:`Sample.by_document`."""
        return CountSample.from_counts(self.metric, self._document_sums(documents), "document")

    def _document_sums(self, documents: Documents) -> Counts:
        """The sums over each document: (k, D, K)."""
        _ = self.core_counts  # raises an error if the sum over all segments overflows, which numpy would not report
        return documents.sums(self.stored)

    def stratified(self, strata: Strata) -> CountSample:
        """See :meth:`Sample.stratified`."""
        return replace(self, strata=strata)

    @lazy
    def counts_by_stratum(self) -> NDArray[np.signedinteger[Any]]:
        """The counts as they are stored, with the units of each stratum adjacent, as the core draws them."""
        return self.stored if self.strata is None else self.strata.sort_units(self.stored)

    @property
    def n_units(self) -> int:
        """See :attr:`Sample.n_units`."""
        return int(self.arrays[0].shape[1])

    @lazy
    def totals(self) -> Counts:
        """The sums over all units: (k, K)."""
        return self.core_counts.totals

    @lazy
    def scores(self) -> Scores:
        """See :attr:`Sample.scores`."""
        return self.metric.score(self.totals) if self.core is None else self.core.scores(self.totals)

    def segment_scores(self, names: Sequence[str]) -> Scores:
        """See :meth:`Sample.segment_scores`."""
        return self.metric.reported_segment_scores(names, self.counts)

    def document_scores(self, documents: Documents) -> Scores:
        """The corpus formula on the summed counts of every document: (k, D)."""
        return self.metric.score(self._document_sums(documents))

    @lazy
    def leave_one_out(self) -> Scores:
        """See :attr:`Sample.leave_one_out`."""
        return np.stack([self.metric.score(t - rows) for t, rows in zip(self.totals, self.counts, strict=True)])

    @lazy
    def linear(self) -> Variances:
        """The variances by the delta method, those of the units' contributions to the linearized scores."""
        return linear_variances(self.metric, self.stored, self.totals, Strata.or_single(self.strata, self.n_units))

    def segment_values(self, a: int, b: int | None = None) -> Scores:
        """See :meth:`Sample.segment_values`."""
        if self.unit != "segment" or self.strata is not None:
            units = "strata" if self.strata is not None else f"{self.unit}s"
            raise InputError(
                f"{self.metric.name}: t intervals and t, Wilcoxon and sign tests treat segments as independent; with "
                f"{units} use 'bootstrap-both' or 'ar', and an interval from draws"
            )
        rows = self.rows(a)
        if b is not None:
            rows = rows.copy()
            rows[:, 0] -= self.rows(b)[:, 0]
        return self.metric.segment_scores(rows)

    def document_effects(self, documents: Documents, pairs: Pairs) -> list[tuple[float | None, float | None]]:
        """See :meth:`Sample.document_effects`."""
        effects = document_effects(self.scores, self.leave_one_out, documents, pairs)
        return [(_none_if_nan(correlation), _none_if_nan(effect)) for correlation, effect in effects]

    def exchangeability(self, pairs: Pairs) -> list[Exchangeability | None]:
        """See :meth:`Sample.exchangeability`."""
        strata = Strata.or_single(self.strata, self.n_units)
        return exchangeability(self.metric, self.stored, self.totals, strata, pairs)

    def variances_of_differences(self, pairs: Pairs) -> Scores:
        """See :meth:`Sample.variances_of_differences`."""
        strata = Strata.or_single(self.strata, self.n_units)
        return linear_variances_of_differences(self.metric, self.stored, self.totals, strata, pairs)

    def details(self, system: int) -> Mapping[str, float]:
        """See :meth:`Sample.details`."""
        return self.metric.details(self.totals[system])

    @property
    def batch_size(self) -> int:
        """See :attr:`Sample.batch_size`."""
        return max(1, BATCH_CELLS // self.totals.size)

    def differing(self, pairs: Pairs, most: int) -> list[tuple[int, DifferingColumn | None]]:
        """See :meth:`Sample.differing`."""
        counted = self.core_counts.differing(pairs, most=most)
        return [
            (n, None if column is None else DifferingColumn(self, pair, column, n_steps))
            for pair, (n, column, n_steps) in zip(pairs, counted, strict=True)
        ]

    def select_pair(self, pair: tuple[int, int]) -> tuple[CountSample, tuple[int, int]]:
        """See :meth:`Sample.select_pair`."""
        if len(self.core_counts) == 2:
            return self, pair
        return CountSample.from_counts(self.metric, np.stack([self.rows(system) for system in pair]), self.unit), (0, 1)

    def differing_units(self, pair: tuple[int, int]) -> NDArray[np.intp]:
        """See :meth:`Sample.differing_units`."""
        x, y = map(self.rows, pair)
        return np.flatnonzero((x != y).any(axis=-1))

    def with_counts(self) -> CountSample:
        """See :meth:`Sample.with_counts`."""
        return self

    def native(self, kind: str) -> tuple[_core.Metric, _core.Counts] | None:
        """See :meth:`Sample.native`."""
        if self.core is None:
            return None
        by_stratum = kind == "draws" and self.strata is not None
        return self.core, core_counts(self.counts_by_stratum) if by_stratum else self.core_counts

    def sent(self, kind: str) -> SentSample:
        """See :meth:`Sample.sent`."""
        return self._sent(CountSample, strata=None if self.strata is None else replace(self.strata))

    def _sent(self, make: Callable[..., Sample], **own: Any) -> SentSample:
        """The sample that a function makes of the counts in memory and what else it takes."""
        shared = {"metric": self.metric.without_data(), "arrays": tuple(self.arrays), "unit": self.unit}
        return SentSample(make, shared | own, OF_FORMULA if self.metric.core is None else OF_CORE)

    @lazy
    def _shuffle_resampler(self) -> _core.Resampler:
        return resampler_of_sums("shuffles", self.counts)

    @lazy
    def _draw_resampler(self) -> _core.Resampler:
        return resampler_of_sums("draws", self.counts_by_stratum, self.strata)

    @lazy
    def _permutation_resampler(self) -> _core.Resampler:
        return resampler_of_sums("permutations", self.counts)

    def shuffle_statistics(self, pairs: Pairs, batch: Batch) -> Scores:
        """See :meth:`Sample.shuffle_statistics`."""
        flipped = batch.sums(self._shuffle_resampler).reshape(batch.n, *self.totals.shape)
        statistics = np.empty((len(pairs), batch.n))
        for index, (x, y) in enumerate(pairs):
            moved = flipped[:, x] - flipped[:, y]
            statistics[index] = self.metric.score(self.totals[x] - moved) - self.metric.score(self.totals[y] + moved)
        return statistics

    def draw_scores(self, batch: Batch) -> Scores:
        """See :meth:`Sample.draw_scores`."""
        return self.metric.score(batch.sums(self._draw_resampler).reshape(batch.n, *self.totals.shape)).T

    def permutation_scores(self, batch: Batch) -> Scores:
        """See :meth:`Sample.permutation_scores`."""
        return self.metric.score(batch.sums(self._permutation_resampler).reshape(batch.n, *self.totals.shape)).T


def samples_of(metrics: Sequence[Metric], counts: Sequence[Counts], unit: str = "segment") -> list[CountSample]:
    """The sample of each metric, from its (k, S, K) counts of the same systems."""
    return [CountSample.from_counts(metric, own, unit) for metric, own in zip(metrics, counts, strict=True)]


def _none_if_nan(value: float) -> float | None:
    return None if math.isnan(value) else value


def scores_of_arrays(systems: Mapping[str, NDArray[Any]]) -> SegmentScores:
    """The segment scores of systems, for functions that have no argument about missing scores."""
    try:
        return SegmentScores("score", systems)
    except InputError as error:
        if "missing" not in error.fields:
            raise
        problem = "the score is missing: leave this segment out of all arrays"
        raise InputError(SEGMENT_MESSAGE, **{**error.fields, "problem": problem}) from None


def _sample_of_scores(systems: Mapping[str, NDArray[Any]]) -> CountSample:
    """A sample from the segment scores of systems. The keys are the names that error messages use."""
    for name, array in systems.items():
        if array.ndim != 1:
            raise InputError(
                f"without a metric, {name} must hold one score for each segment, shape (S,), got shape {array.shape}; "
                "for (S, K) counts pass the metric: a name, a Metric or a function of summed counts"
            )
    scores = scores_of_arrays(systems)
    return CountSample.from_counts(scores, scores.counts_of(list(systems)))


def _sample_of_counts(metric: Metric, systems: Mapping[str, NDArray[Any]]) -> CountSample:
    """A sample from the counts of systems."""
    arrays = []
    for name, array in systems.items():
        if array.ndim == 1:
            raise InputError(
                f"{name} must have 2 dimensions, got shape {array.shape}: a metric needs (S, K) counts; to compare the "
                "means of segment scores, leave the metric out"
            )
        arrays.append(np.ascontiguousarray(counts_array(array, name, ndim=2)[None]))
    first, last = arrays[0][0], arrays[-1][0]
    if first.shape != last.shape:
        raise InputError(f"a and b must have the same shape (segments, counts), got {first.shape} and {last.shape}")
    return CountSample(metric, arrays)


@dataclass(eq=False)
class TextSample(Sample):
    """The outputs of k systems under a function of texts, which is called for every replicate."""

    metric: CorpusFunction
    systems: Sequence[Sequence[str]]
    references: Sequence[Sequence[str | None]]
    documents: Documents | None = None
    strata: Strata | None = None
    evaluations: int = field(default=0, init=False)

    batch_size: ClassVar[int] = 1

    def __post_init__(self) -> None:
        self.systems = [list(lines) for lines in self.systems]
        self.references = [list(column) for column in self.references]

    def by_document(self, documents: Documents) -> TextSample:
        """See :meth:`Sample.by_document`."""
        return TextSample(self.metric, self.systems, self.references, documents)

    def stratified(self, strata: Strata) -> TextSample:
        """See :meth:`Sample.stratified`."""
        return TextSample(self.metric, self.systems, self.references, self.documents, strata)

    def _evaluate(self, hypotheses: list[str], segments: Sequence[int]) -> float:
        """The function's value for these hypotheses, with the references of these segments."""
        self.evaluations += 1
        return self.metric.evaluate(hypotheses, [[column[s] for s in segments] for column in self.references])

    @property
    def unit(self) -> str:
        """See :attr:`Sample.unit`."""
        return "segment" if self.documents is None else "document"

    @property
    def n_units(self) -> int:
        """See :attr:`Sample.n_units`."""
        return self._n_segments if self.documents is None else self.documents.n_documents

    @property
    def _n_segments(self) -> int:
        return len(self.references[0])

    @lazy
    def scores(self) -> Scores:
        """The observed score of each system: (k,)."""
        return np.array([self._evaluate(list(lines), range(self._n_segments)) for lines in self.systems])

    def segment_scores(self, names: Sequence[str]) -> Scores:
        """The function's value on every segment: (k, S)."""
        return np.array([[self._evaluate([line], [s]) for s, line in enumerate(lines)] for lines in self.systems])

    def document_scores(self, documents: Documents) -> Scores:
        """The function's value on every document: (k, D)."""
        members = [documents.segments(np.array([document])).tolist() for document in range(documents.n_documents)]
        return np.array(
            [[self._evaluate([lines[s] for s in segments], segments) for segments in members] for lines in self.systems]
        )

    @lazy
    def leave_one_out(self) -> Scores:
        """The score of each system without each unit, with k·S calls of the function: (k, S)."""
        unit_of = range(self._n_segments) if self.documents is None else self.documents.index.tolist()
        scores = np.empty((len(self.systems), self.n_units))
        for left_out in range(self.n_units):
            rest = [s for s, unit in enumerate(unit_of) if unit != left_out]
            for index, lines in enumerate(self.systems):
                scores[index, left_out] = self._evaluate([lines[s] for s in rest], rest)
        return scores

    @property
    def linear(self) -> Variances:
        """Raises :class:`InputError`: the function has no derivatives."""
        return self.with_counts().linear

    def segment_values(self, a: int, b: int | None = None) -> Scores:
        """Raises :class:`InputError`: the score is not a mean of segment scores."""
        raise InputError(f"{self.metric.name} is a function of texts, not a mean of segment scores")

    def differing(self, pairs: Pairs, most: int) -> list[tuple[int, DifferingColumn | None]]:
        """For each pair the number of units in which its systems differ, and None, as texts have no columns."""
        return [(len(self.differing_units(pair)), None) for pair in pairs]

    def select_pair(self, pair: tuple[int, int]) -> tuple[TextSample, tuple[int, int]]:
        """This sample itself: it scores only the pair, so its other systems cost nothing."""
        return self, pair

    def differing_units(self, pair: tuple[int, int]) -> NDArray[np.intp]:
        """See :meth:`Sample.differing_units`."""
        lines = zip(*(self.systems[system] for system in pair), strict=True)
        segments = np.flatnonzero([x != y for x, y in lines])
        return segments if self.documents is None else np.unique(self.documents.index[segments])

    def with_counts(self) -> CountSample:
        """Raises :class:`InputError`: there are no counts."""
        raise InputError(f"{self.metric.name} is a function of texts and has no counts to sum")

    def sent(self, kind: str) -> SentSample:
        """See :meth:`Sample.sent`."""
        units = {name: own and replace(own) for name, own in (("documents", self.documents), ("strata", self.strata))}
        own = {"metric": self.metric, "systems": self.systems, "references": self.references}
        return SentSample(TextSample, own | units, OF_TEXTS)

    def shuffle_statistics(self, pairs: Pairs, batch: Batch) -> Scores:
        """See :meth:`Sample.shuffle_statistics`."""
        segments = range(self._n_segments)
        statistics = np.empty((len(pairs), batch.n))
        for column, r in enumerate(batch.numbers):
            flips = batch.flips(r, self.n_units)
            swap = (flips if self.documents is None else flips[self.documents.index]).tolist()
            for index, (x, y) in enumerate(pairs):
                both = self.systems[x], self.systems[y]  # left and right exchange lines where swap is 1
                left, right = ([both[side ^ swap[s]][s] for s in segments] for side in (0, 1))
                statistics[index, column] = self._evaluate(left, segments) - self._evaluate(right, segments)
        return statistics

    def draw_scores(self, batch: Batch) -> Scores:
        """See :meth:`Sample.draw_scores`."""
        scores = np.empty((len(self.systems), batch.n))
        for column, r in enumerate(batch.numbers):
            drawn = _core.draw_weights(batch.seed, r, self.n_units, strata=stratum_sizes(self.strata))
            # The core draws units stratum by stratum; the texts are in their original order.
            weights = np.empty_like(drawn)
            weights[slice(None) if self.strata is None else self.strata.order] = drawn
            units = np.repeat(np.arange(self.n_units), weights)
            segments = (units if self.documents is None else self.documents.segments(units)).tolist()
            for index, lines in enumerate(self.systems):
                scores[index, column] = self._evaluate([lines[s] for s in segments], segments)
        return scores

    def permutation_scores(self, batch: Batch) -> Scores:
        """See :meth:`Sample.permutation_scores`."""
        segments, k = range(self._n_segments), len(self.systems)
        unit_of = np.arange(self._n_segments) if self.documents is None else self.documents.index
        scores = np.empty((k, batch.n))
        for column, r in enumerate(batch.numbers):
            labels = _core.permutations(batch.seed, r, k, self.n_units)[unit_of].T.tolist()
            for position, systems in enumerate(labels):
                lines = [self.systems[system][s] for s, system in enumerate(systems)]
                scores[position, column] = self._evaluate(lines, segments)
        return scores
