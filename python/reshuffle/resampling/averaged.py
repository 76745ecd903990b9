"""``AveragedSample``: the mean of the scores on several test sets, resampled on each of them independently.

A replicate of the average is the mean of one replicate of each test set. Every test set has a seed of its own, so that
its replicates are the same with and without the average, and independent of those of the other test sets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from .. import signature
from ..errors import InputError
from ..lazy import lazy
from ..metrics.base import Metric, Scores
from ..metrics.named import AnyMetric
from ..results import Exchangeability
from ..settings import Resampling
from .counting import Data
from .replicates import Replicates
from .samples import BATCH_CELLS, Batch, GroupCodes, Pairs, Sample, SentSample, all_sent
from .units import Strata, Variances

Index = NDArray[np.intp]

# Batches are cut at multiples of this many replicates, as the core computes them.
BLOCK = 64


def mean_of(arrays: Iterable[Scores], n: int) -> Scores:
    """The mean of n arrays of the same shape, added in their order, so that it has the same bits everywhere."""
    left = iter(arrays)
    total = next(left).astype(np.float64)
    for array in left:
        total += array
    total /= n
    return total


@dataclass(frozen=True, eq=False)
class AveragedMetric(Metric):
    """The mean of a metric's scores on several test sets, on each of which the metric may have other options."""

    name: str
    higher_is_better: bool = True
    decimals: int | None = None
    signatures: Sequence[str] = ()

    @classmethod
    def from_metrics(
        cls, label: str, metrics: Sequence[AnyMetric], n_references: Sequence[str | None]
    ) -> AveragedMetric:
        """From the metric of each test set, and its number of references as signatures write it."""
        decimals = [m.decimals for m in metrics]
        known = [n for n in decimals if n is not None]
        return cls(
            label,
            metrics[0].higher_is_better,
            max(known) if len(known) == len(decimals) else None,
            [m.signature(nrefs) for m, nrefs in zip(metrics, n_references, strict=True)],
        )

    def score(self, totals: object) -> NoReturn:
        """Raises :class:`InputError`: the counts of different test sets are never added."""
        raise InputError(f"{self.name}: an average over test sets is not a function of summed counts")

    def signature(self, n_references: str | None = None) -> str:
        """The signatures of the test sets, merged."""
        return signature.merged(self.signatures)


class AveragedVariances(Variances):
    """The variances of weighted sums of independent values, one from each test set.

    ``parts`` has the variances of each test set, the weight of its values squared, and its rows for those of the
    average.
    """

    def __init__(self, parts: Sequence[tuple[Variances, float, Index]]) -> None:
        self._parts = parts

    def variance(self, a: int, b: int | None = None) -> float:
        """See :meth:`Variances.variance`."""
        return sum(
            weight * part.variance(int(rows[a]), None if b is None else int(rows[b]))
            for part, weight, rows in self._parts
        )


@dataclass(frozen=True)
class AveragedData:
    """What an average over test sets is computed from, as :class:`~reshuffle.resampling.counting.Data` of one."""

    labels: Sequence[str]
    metrics: Sequence[AveragedMetric]
    n_segments: int
    most_references: int
    n_references: None = None
    ratings: None = None

    @classmethod
    def from_sets(cls, sets: Sequence[Data]) -> AveragedData:
        """From the data of all test sets, which have the same metrics."""
        nrefs = [data.n_references for data in sets]
        metrics = [
            AveragedMetric.from_metrics(label, metrics, nrefs)
            for label, *metrics in zip(sets[0].labels, *(data.metrics for data in sets), strict=True)
        ]
        return cls(
            sets[0].labels,
            metrics,
            sum(data.n_segments for data in sets),
            max(data.most_references for data in sets),
        )


def averaged_samples(
    metrics: Sequence[AveragedMetric],
    by_set: Sequence[Sequence[Sample]],
    sources: Sequence[Replicates],
    n_systems: int,
    pairs: Pairs,
) -> list[AveragedSample]:
    """The averages over all test sets, metric by metric, from the samples of each test set.

    ``sources`` are the replicates of each test set; empty for samples that are not resampled.
    """
    rows = np.repeat(np.arange(n_systems)[:, None], len(by_set), axis=1)
    return [
        AveragedSample(metric, samples, sources, m, rows).for_pairs(pairs)
        for m, (metric, *samples) in enumerate(zip(metrics, *by_set, strict=True))
    ]


@dataclass(eq=False)
class AveragedSample(Sample):
    """k systems on G test sets under one metric: the mean of the scores on the test sets.

    The resampling units are those of all test sets, and each test set is a stratum, or several if it has strata itself.
    """

    metric: AveragedMetric
    samples: Sequence[Sample]
    """The same systems on each test set."""
    sources: Sequence[Replicates]
    """The replicates of each test set, in which ``samples`` have the index ``index``. Empty for a sample that is not
    resampled (:meth:`alone`).
    """
    index: int
    rows: Index
    """Shape (n, G). The row of each test set's sample for each row of this one."""
    places: Mapping[tuple[int, int], tuple[int, int]] = field(default_factory=dict)
    """The rows with which each pair of systems is compared, if scores are missing in a test set."""
    n_pairs: int = 1
    """The number of pairs that are compared."""

    @property
    def n_sets(self) -> int:
        """G, the number of test sets."""
        return len(self.samples)

    def _parts(self) -> Iterable[tuple[Sample, Index]]:
        """The sample of each test set, and its rows."""
        return zip(self.samples, self.rows.T, strict=True)

    def _mean(self, values: Callable[[Sample], Scores]) -> Scores:
        """The mean of (k, …) arrays, one for each test set."""
        return mean_of((values(sample)[rows] for sample, rows in self._parts()), self.n_sets)

    @lazy
    def strata(self) -> Strata:
        """The test sets, or their strata."""
        own = [Strata.or_single(sample.strata, sample.n_units) for sample in self.samples]
        first = np.cumsum([0, *(strata.n_strata for strata in own[:-1])])
        return Strata(np.concatenate([strata.index + n for strata, n in zip(own, first.tolist(), strict=True)]))

    @property
    def unit(self) -> str:
        """The resampling unit of all test sets, or ``unit`` if they have different ones."""
        units = {sample.unit for sample in self.samples}
        return units.pop() if len(units) == 1 else "unit"

    @property
    def n_units(self) -> int:
        """The number of resampling units of all test sets together."""
        return sum(sample.n_units for sample in self.samples)

    @lazy
    def scores(self) -> Scores:
        """The mean of the scores on all test sets: (k,)."""
        return self._mean(lambda sample: sample.scores)

    @lazy
    def leave_one_out(self) -> Scores:
        """The score of each system without each unit of any test set: (k, units)."""
        without = [
            (sample.scores[:, None] - sample.leave_one_out)[rows] / self.n_sets for sample, rows in self._parts()
        ]
        return np.asarray(self.scores[:, None] - np.concatenate(without, axis=1))

    @lazy
    def jackknife(self) -> Variances:
        """Variances with which the squared jackknife error is the mean of those of the test sets, divided by G."""
        n = self.n_units

        def share(units: int) -> float:
            return (units - 1) / units

        return self._averaged(lambda sample: sample.jackknife, lambda sample: (share(sample.n_units) / share(n)) ** 2)

    @lazy
    def linear(self) -> Variances:
        """See :attr:`Sample.linear`."""
        return self._averaged(lambda sample: sample.linear, lambda sample: 1.0)

    def _averaged(self, variances: Callable[[Sample], Variances], factor: Callable[[Sample], float]) -> Variances:
        return AveragedVariances(
            [(variances(sample), factor(sample) / self.n_sets**2, rows) for sample, rows in self._parts()]
        )

    @property
    def evaluations(self) -> int | None:
        """The calls of a function of texts on all test sets, those of the test sets' own results included."""
        calls = [sample.evaluations for sample in self.samples]
        return None if None in calls else sum(n for n in calls if n is not None)

    @property
    def batch_size(self) -> int:
        """See :attr:`Sample.batch_size`."""
        size = min([BATCH_CELLS // max(len(self.rows), self.n_pairs), *(s.batch_size for s in self.samples)])
        return size // BLOCK * BLOCK if size > BLOCK else max(1, size)

    def for_pairs(self, pairs: Pairs) -> AveragedSample:
        """See :meth:`Sample.for_pairs`. The samples of the test sets have been prepared for the same pairs."""
        own = [sample.rows_of(pairs) for sample in self.samples]
        if all(rows is pairs for rows in own):
            return replace(self, n_pairs=len(pairs))
        found = {tuple(row): index for index, row in enumerate(self.rows.tolist())}

        def row_of(pair: int, side: int) -> int:
            return found.setdefault(tuple(rows[pair][side] for rows in own), len(found))

        places = {(a, b): (row_of(p, 0), row_of(p, 1)) for p, (a, b) in enumerate(pairs)}
        return replace(self, rows=np.array(list(found), dtype=np.intp), places=places, n_pairs=len(pairs))

    def rows_of(self, pairs: Pairs) -> Pairs:
        """See :meth:`Sample.rows_of`."""
        return [self.places[a, b] for a, b in pairs] if self.places else pairs

    def scored_units(self, rows: Sequence[int]) -> Index | None:
        """See :meth:`Sample.scored_units`."""
        found = [sample.scored_units(own[list(rows)].tolist()) for sample, own in self._parts()]
        if all(units is None for units in found):
            return None
        sizes = [sample.n_units for sample in self.samples]
        first = np.cumsum([0, *sizes[:-1]]).tolist()
        each = zip(found, sizes, first, strict=True)
        return np.asarray(np.concatenate([(np.arange(n) if units is None else units) + at for units, n, at in each]))

    def alone(self, rows: Sequence[int]) -> tuple[AveragedSample, Sequence[int]]:
        """See :meth:`Sample.alone`."""
        if self.scored_units(rows) is None:
            return self, rows
        parts = [sample.alone(own[list(rows)].tolist()) for sample, own in self._parts()]
        own_rows = np.array([systems for _, systems in parts], dtype=np.intp).T
        sample = AveragedSample(self.metric, [sample for sample, _ in parts], (), self.index, own_rows)
        return sample, range(len(rows))

    def exchangeability(self, pairs: Pairs) -> list[Exchangeability | None]:
        """The root of the sum of the test sets' squared spreads, divided by that of their squared standard errors."""
        by_set = []
        for sample, rows in self._parts():
            own = [(int(rows[a]), int(rows[b])) for a, b in pairs]
            found = sample.exchangeability(own)
            by_set.append([(each, _variance(sample, pair)) for pair, each in zip(own, found, strict=True)])
        return [_overall(found) for found in zip(*by_set, strict=True)]

    def variances_of_differences(self, pairs: Pairs) -> Scores | None:
        """See :meth:`Sample.variances_of_differences`. Test sets are independent, so their variances add up."""
        found = [
            sample.variances_of_differences([(int(rows[a]), int(rows[b])) for a, b in pairs])
            for sample, rows in self._parts()
        ]
        known = [variances for variances in found if variances is not None]
        return None if len(known) < self.n_sets else mean_of(known, self.n_sets**2)

    def sent(self, kind: str) -> SentSample | None:
        """See :meth:`Sample.sent`. Draws and permutations are those of the test sets, which are computed once."""
        samples = all_sent(self.samples, kind)
        # The calls of functions of texts are counted by their samples.
        if kind != "shuffles" or samples is None or self.evaluations is not None:
            return None
        streams = tuple((source.seed, source.codes) for source in self.sources)
        own = {"metric": self.metric, "rows": self.rows, "n_pairs": self.n_pairs}
        together = max(each.together for each in samples)
        return SentSample(_average_for_shuffles, {"samples": samples, "streams": streams, **own}, together)

    def shuffle_statistics(self, pairs: Pairs, batch: Batch) -> Scores:
        """See :meth:`Sample.shuffle_statistics`. Every test set has the shuffles of its own seed."""
        parts = zip(self.sources, self.rows.T.tolist(), strict=True)
        statistics = (
            source.statistics(self.index, [(rows[a], rows[b]) for a, b in pairs], batch) for source, rows in parts
        )
        return mean_of(statistics, self.n_sets)

    def draw_scores(self, batch: Batch) -> Scores:
        """See :meth:`Sample.draw_scores`. These are the means of the test sets' draws, which are computed once."""
        drawn = slice(batch.first, batch.first + batch.n)
        parts = zip(self.sources, self.rows.T, strict=True)
        return mean_of((source.draws[self.index][:, drawn][rows] for source, rows in parts), self.n_sets)

    def permutation_scores(self, batch: Batch) -> Scores:
        """See :meth:`Sample.permutation_scores`. Every test set has the permutations of its own seed."""
        both = zip(self.samples, self.sources, strict=True)
        return mean_of((sample.permutation_scores(source.batch(batch)) for sample, source in both), self.n_sets)


def _average_for_shuffles(
    metric: AveragedMetric,
    samples: Sequence[SentSample],
    streams: Sequence[tuple[int, GroupCodes | None]],
    rows: Index,
    n_pairs: int,
) -> AveragedSample:
    """An average in a worker. ``streams`` are the seed and the codes of the shuffles of each test set."""
    own = [each.sample() for each in samples]
    sources = [
        Replicates([sample], Resampling(1, seed, 1), codes) for sample, (seed, codes) in zip(own, streams, strict=True)
    ]
    return AveragedSample(metric, own, sources, 0, rows, n_pairs=n_pairs)


def _variance(sample: Sample, pair: tuple[int, int]) -> float:
    """The variance of the difference of two rows by the delta method; 0 for a function of texts."""
    if sample.evaluations is not None:
        return 0.0
    alone, (a, b) = sample.alone(pair)
    return alone.linear.variance(a, b)


def _overall(found: Sequence[tuple[Exchangeability | None, float]]) -> Exchangeability | None:
    """From the result and the variance of each test set; None if it is unknown for one of them or nothing varies."""
    if any(result is None and variance > 0 for result, variance in found):
        return None
    known = [(result, variance) for result, variance in found if result is not None]
    total = sum(variance for _, variance in known)
    if total == 0:
        return None
    squared = sum(result.ratio**2 * variance for result, variance in known) / total
    return Exchangeability(float(np.sqrt(squared)), any(result.near_kink for result, _ in known))
