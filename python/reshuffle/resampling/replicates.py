"""The loop over R replicates of one or more samples, which runs all reductions in one pass."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._core import Progress
from ..errors import InputError
from ..lazy import lazy
from ..metrics.base import Scores, thread_count
from ..settings import Resampling
from ..validate import MAX_RESAMPLES, MAX_SEED, check_integer
from .incomplete import IncompleteSample
from .reductions import Accumulator, Draws, Reduction
from .samples import BATCH_CELLS, Batch, GroupCodes, Pairs, Sample, resampler_of_sums, stratum_sizes
from .units import Strata

__all__ = ["Replicates"]

# The size of the first batch when a stopping rule may end the test early: it takes a few milliseconds.
FIRST_BATCH = 512

PROGRESS_STAGES = {"shuffles": "shuffling", "draws": "drawing", "permutations": "permuting"}


class Replicates:
    """R replicates of one or more samples. All samples get the same shuffles, draws and permutations.

    Parameters
    ----------
    samples : sequence of Sample
        All with the same kind and number of resampling units, at least 2, and the same strata.
    n_resamples : int
        R.
    seed : int
        Replicate r is a pure function of the seed and r.
    threads, progress
        As in :func:`reshuffle.compare`.
    """

    # Whether the replicates are user-supplied masks or indices, which have no seed.
    is_replay: ClassVar[bool] = False

    def __init__(
        self,
        samples: Sequence[Sample],
        *,
        n_resamples: int,
        seed: int,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.samples = tuple(samples)
        self.n_resamples = check_integer("n_resamples", n_resamples, 1, MAX_RESAMPLES)
        self.seed = check_integer("seed", seed, 0, MAX_SEED)
        self.progress = progress
        self.threads = thread_count(threads)
        self._codes: GroupCodes | None = None
        self._resamplers: dict[tuple[str, tuple[int, ...]], _core.Resampler] = {}
        # Scales of the draws' differences by the function that computes them: see inference.step_down.
        self.scales: dict[object, dict[tuple[int, int, int], tuple[float, float]]] = {}
        if self.n_units < 2:
            raise InputError("there is only one segment: tests and intervals need at least 2")

    @classmethod
    def from_settings(cls, samples: Sequence[Sample], settings: Resampling) -> Replicates:
        """Replicates of these samples with a caller's number, seed, threads and progress."""
        return cls(
            samples,
            n_resamples=settings.n_resamples,
            seed=settings.seed,
            threads=settings.threads,
            progress=settings.progress,
        )

    @property
    def unit(self) -> str:
        """The resampling unit: ``segment`` or ``document``."""
        return self.samples[0].unit

    @property
    def n_units(self) -> int:
        """The number of resampling units."""
        return self.samples[0].n_units

    @property
    def strata(self) -> Strata | None:
        """The strata of the bootstrap, or None."""
        return self.samples[0].strata

    def first(self, n: int) -> Replicates:
        """The first n of these replicates."""
        fewer = self._copy()
        fewer.n_resamples = n
        return fewer

    def with_codes(self, codes: GroupCodes, n: int) -> Replicates:
        """The first n shuffles of a subgroup, which the codes define: (S,).

        Shuffle g swaps a unit if g and the unit's code have an odd number of bits in common.
        """
        subgroup = self.first(n)
        subgroup._codes = codes
        return subgroup

    def with_samples(self, samples: Sequence[Sample]) -> Replicates:
        """The same replicates of other samples, which have the same resampling units."""
        if self.samples == tuple(samples):
            return self
        others = self._copy()
        others.samples = tuple(samples)
        others._resamplers = {}
        return others

    def _copy(self) -> Replicates:
        """A copy that shares the Resamplers but not the draws, which depend on the attributes to be changed."""
        copied = copy(self)
        for name in ("draws", "permuted", "replaced_draws"):
            vars(copied).pop(name, None)
        copied.scales = {}
        return copied

    def run(self, reductions: Sequence[Reduction[Any, Any]], pairs: Pairs = ()) -> list[Any]:
        """The results of the reductions, computed in one pass over the replicates.

        All reductions are of the same kind: shuffles, draws or permutations. Those of shuffles compare ``pairs`` of
        systems, for which each sample has its rows
        (:meth:`Sample.rows_of <reshuffle.resampling.samples.Sample.rows_of>`).
        """
        (kind,) = {reduction.kind for reduction in reductions}
        for_core = [sample.native(kind) for sample in self.samples]  # None for a sample that Python scores
        rows: list[list[Any]] = [[None] * len(self.samples) for _ in reductions]  # of each reduction, by sample
        own_pairs = [pairs if kind == "draws" else sample.rows_of(pairs) for sample in self.samples]
        for metrics in self._groups(own_pairs, for_core):
            together = [counts for m in metrics if (counts := for_core[m]) is not None]
            finished = self._resampler(kind, metrics, together).run(
                [reduction.core(own_pairs[metrics[0]], metrics) for reduction in reductions],
                n=self.n_resamples,
                seed=self.seed,
                codes=self._codes,
                threads=self.threads,
                progress=self.progress,
            )
            n_systems = [len(counts) for _, counts in together]
            for by_metric, reduction, core in zip(rows, reductions, finished, strict=True):
                for m, row in zip(metrics, reduction.rows_from_core(core, n_systems), strict=True):
                    by_metric[m] = row
        for m, sample in enumerate(self.samples):
            if for_core[m] is None:
                width = len(pairs) if kind == "shuffles" else len(sample.scores)
                accumulators = [reduction.accumulator(width, m, self.n_resamples) for reduction in reductions]
                self._accumulate(sample, kind, own_pairs[m], accumulators)
                for by_metric, accumulator in zip(rows, accumulators, strict=True):
                    by_metric[m] = accumulator.row
        return [reduction.combine(by_metric) for reduction, by_metric in zip(reductions, rows, strict=True)]

    def batch(self, other: Batch) -> Batch:
        """The replicates with the numbers of another batch."""
        return Batch(self.seed, other.first, other.n, self.threads, self._codes)

    def statistics(self, m: int, pairs: Pairs, batch: Batch) -> Scores:
        """The statistic of pairs of rows of sample m on the shuffles with the numbers of a batch: (pairs, n)."""
        native, own = self.samples[m].native("shuffles"), self.batch(batch)
        if native is None:
            return self.samples[m].shuffle_statistics(pairs, own)
        (series,) = self._resampler("shuffles", [m], [native]).run(
            [_core.Series(pairs)],
            n=own.n,
            seed=own.seed,
            first=own.first,
            codes=own.codes,
            threads=own.threads,
        )
        return np.asarray(series.statistics[0])

    def in_one_pass(self, pairs: Pairs) -> bool:
        """Does the core shuffle these pairs under all metrics in one pass?"""
        for_core = [sample.native("shuffles") for sample in self.samples]
        return None not in for_core and len(self._groups([s.rows_of(pairs) for s in self.samples], for_core)) == 1

    @staticmethod
    def _groups(own_pairs: Sequence[Pairs], for_core: Sequence[object]) -> list[list[int]]:
        """The native samples, in groups that one pass can reduce because they compare the same rows."""
        groups: dict[int, list[int]] = {}
        for m, pairs in enumerate(own_pairs):
            if for_core[m] is not None:
                groups.setdefault(id(pairs), []).append(m)  # without missing scores it is the same object
        return list(groups.values())

    def _resampler(
        self, kind: str, metrics: Sequence[int], native: Sequence[tuple[_core.Metric, _core.Counts]]
    ) -> _core.Resampler:
        """The Resampler of some native samples, which is built once for each kind of replicates."""
        key = kind, tuple(metrics)
        if key not in self._resamplers:
            self._resamplers[key] = _core.Resampler(
                native,
                kind=kind,
                strata=stratum_sizes(self.strata) if kind == "draws" else None,
                threads=self.threads,
            )
        return self._resamplers[key]

    def _accumulate(self, sample: Sample, kind: str, pairs: Pairs, accumulators: Sequence[Accumulator[Any]]) -> None:
        """Score the replicates of a sample in Python until no accumulator needs more."""
        first = FIRST_BATCH if any(accumulator.active is not None for accumulator in accumulators) else None
        for batch in self.batches(sample.batch_size, PROGRESS_STAGES[kind], first):
            needed = _active_pairs(accumulators, len(pairs))
            if kind == "shuffles":
                scored = sample.shuffle_statistics([pairs[p] for p in needed], batch)
            else:
                scored = sample.draw_scores(batch) if kind == "draws" else sample.permutation_scores(batch)
            for accumulator in accumulators:
                active = accumulator.active
                accumulator.update(scored if active is None else scored[[needed.index(pair) for pair in active]])
            if all(accumulator.active == [] for accumulator in accumulators):
                break

    @property
    def has_draws(self) -> bool:
        """Have the draws been computed?"""
        return "draws" in vars(self)

    @lazy
    def draws(self) -> tuple[Scores, ...]:
        """The score of every system on every draw: an array (k, R) for each sample."""
        draws: tuple[Scores, ...]
        (draws,) = self.run([Draws()])
        if not self.replaced_draws:
            return draws
        replaced = {m: draws[m].copy() for m, _ in self.replaced_draws}  # the core's arrays are read-only
        for (m, row), instead in self.replaced_draws.items():
            replaced[m][row] = draws[m][row, instead]
        return tuple(replaced.get(m, drawn) for m, drawn in enumerate(draws))

    @lazy
    def permuted(self) -> tuple[Scores, ...]:
        """The score at every position of every permutation: an array (k, R) for each sample.

        All samples share one pass, because drawing permutations takes most of the time.
        """
        scores = tuple(np.empty((len(sample.scores), self.n_resamples)) for sample in self.samples)
        counted = [(m, sample.with_counts()) for m, sample in enumerate(self.samples) if sample.evaluations is None]
        for sample, own in zip(self.samples, scores, strict=True):
            if sample.evaluations is not None:  # a function of texts
                for batch in self.batches(sample.batch_size, "permuting"):
                    own[:, batch.first : batch.first + batch.n] = sample.permutation_scores(batch)
        if not counted:
            return scores
        together = np.concatenate([sample.counts for _, sample in counted], axis=2)
        ends = np.cumsum([sample.totals.shape[1] for _, sample in counted])[:-1]
        resampler = resampler_of_sums("permutations", together)
        k, _, width = together.shape
        for batch in self.batches(max(1, BATCH_CELLS // (k * width)), "permuting"):
            sums = np.split(batch.sums(resampler).reshape(batch.n, k, width), ends, axis=2)
            for (m, counts), of_sample in zip(counted, sums, strict=True):
                scores[m][:, batch.first : batch.first + batch.n] = counts.metric.score(of_sample).T
        return scores

    @lazy
    def replaced_draws(self) -> Mapping[tuple[int, int], NDArray[np.intp]]:
        """For each (sample, row) of which some draws contain no scores: which draw is used for each draw, (R,).

        A draw without scores has no mean. It is replaced by the next draw that has scores.
        """
        found = {}
        for m, sample in enumerate(self.samples):
            if isinstance(sample, IncompleteSample) and sample.scarce[0]:
                rows, numbers = sample.scarce
                resampler = resampler_of_sums("draws", numbers, self.strata)
                batches = self.batches(max(1, BATCH_CELLS // len(rows)), "drawing")
                has_scores = np.concatenate([batch.sums(resampler) > 0 for batch in batches])
                for row, drawn in zip(rows, has_scores.T, strict=True):
                    if not drawn.all():
                        found[m, row] = _next_true(drawn, sample.metric.name)
        return found

    def batches(self, largest: int, stage: str, size: int | None = None) -> Iterator[Batch]:
        """All replicates in batches, whose size doubles from ``size`` to ``largest``, its default."""
        progress = self.progress or Progress()
        progress.begin(stage, self.n_resamples)
        first, size = 0, min(largest, size or largest)
        while first < self.n_resamples:
            n = min(size, self.n_resamples - first)
            yield Batch(self.seed, first, n, self.threads, self._codes)
            first, size = first + n, min(largest, 2 * size)
            progress.update(first)


def _active_pairs(accumulators: Sequence[Accumulator[Any]], n_pairs: int) -> Sequence[int]:
    """The pairs that any accumulator still needs."""
    active = [accumulator.active for accumulator in accumulators]
    if any(pairs is None for pairs in active):
        return range(n_pairs)
    return sorted({pair for pairs in active if pairs is not None for pair in pairs})


def _next_true(flags: NDArray[np.bool_], metric: str) -> NDArray[np.intp]:
    """For each flag, the index of the first true one at or after it, or if there is none, of the first one: (R,)."""
    (true,) = np.nonzero(flags)
    if not true.size:
        raise InputError(
            f"{metric}: none of {len(flags):,} draws has a segment with a score, because most scores are "
            "missing: increase n_resamples (-n)"
        )
    return true[np.searchsorted(true, np.arange(len(flags))) % len(true)]
