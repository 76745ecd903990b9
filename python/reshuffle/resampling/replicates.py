"""R replicates of samples of the same units, and the one loop over what is to be kept of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from typing import Any, TypeVar

from .. import _core
from .._core import Progress
from ..errors import InputError
from ..lazy import lazy
from ..metrics.base import Scores, thread_count
from ..settings import Resampling
from ..validate import MAX_RESAMPLES, MAX_SEED, check_integer
from .reductions import Draws, Kept, Reduction
from .samples import Batch, Codes, Pairs, Sample, sizes_of
from .units import Strata

__all__ = ["Replicates"]

Whole = TypeVar("Whole")

# Replicates in the first batch of those that may be stopped: it takes a few milliseconds.
FIRST_BATCH = 512

STAGES = {"shuffles": "shuffling", "draws": "drawing"}


class Replicates:
    """R replicates of one or more samples of the same units.

    Parameters
    ----------
    samples : sequence of Sample
        All with the same unit, the same number of units, at least 2, and the same strata.
    n_resamples : int
        R.
    seed : int
        Replicate r is a pure function of the seed and r, so results depend on nothing else.
    threads, progress
        As in :func:`reshuffle.compare`.
    """

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
        self._codes: Codes | None = None
        self._prepared: dict[str, _core.Resampler] = {}
        if self.n_units < 2:
            raise InputError("there is only one segment: tests and intervals need at least 2")

    @classmethod
    def of(cls, samples: Sequence[Sample], given: Resampling) -> Replicates:
        """Of these samples, as a caller chose."""
        return cls(
            samples, n_resamples=given.n_resamples, seed=given.seed, threads=given.threads, progress=given.progress
        )

    @property
    def unit(self) -> str:
        """What is swapped and drawn: ``segment`` or ``document``."""
        return self.samples[0].unit

    @property
    def n_units(self) -> int:
        """How many of them there are."""
        return self.samples[0].n_units

    @property
    def strata(self) -> Strata | None:
        """Within what they are drawn."""
        return self.samples[0].strata

    def first(self, n: int) -> Replicates:
        """The first n of them."""
        fewer = self._like_this()
        fewer.n_resamples = n
        return fewer

    def grouped(self, codes: Codes, n: int) -> Replicates:
        """n shuffles by codes of units: replicate g swaps those whose code has an odd number of bits of g."""
        others = self.first(n)
        others._codes = codes
        return others

    def alone(self, sample: Sample) -> Replicates:
        """Those of another sample of the same units."""
        if self.samples == (sample,):
            return self
        others = self._like_this()
        others.samples = (sample,)
        others._prepared = {}
        return others

    def _like_this(self) -> Replicates:
        """A copy to change; what is prepared is shared, what was made of these replicates is not."""
        others = copy(self)
        vars(others).pop("draws", None)
        return others

    def run(self, reductions: Sequence[Reduction[Any, Any]], pairs: Pairs = ()) -> list[Any]:
        """What the reductions ask for, all in one pass over the replicates.

        They are of one kind, shuffles or draws; those of shuffles are of these ``pairs``.
        """
        (kind,) = {reduction.kind for reduction in reductions}
        of_samples = [sample.native(kind) for sample in self.samples]
        native = [found for found in of_samples if found is not None]
        rows: list[list[Any]] = [[] for _ in reductions]
        if native:
            metrics = [m for m, found in enumerate(of_samples) if found is not None]
            filled = self._resampler(kind, native).run(
                [reduction.core(pairs, metrics) for reduction in reductions],
                n=self.n_resamples,
                seed=self.seed,
                codes=self._codes,
                threads=self.threads,
                progress=self.progress,
            )
            sizes = [len(counts) for _, counts in native]
            rows = [list(reduction.rows(one, sizes)) for reduction, one in zip(reductions, filled, strict=True)]
        if len(native) < len(of_samples):
            for m, sample in enumerate(self.samples):
                if of_samples[m] is None:
                    width = len(pairs) if kind == "shuffles" else len(sample.scores)
                    kept = [reduction.begin(width, m, self.n_resamples) for reduction in reductions]
                    self._take_in(sample, kind, pairs, kept)
                    for into, of_sample in zip(rows, kept, strict=True):
                        into.insert(m, of_sample.row)
        return [reduction.whole(of_reduction) for reduction, of_reduction in zip(reductions, rows, strict=True)]

    def _resampler(self, kind: str, native: Sequence[tuple[_core.Metric, _core.Counts]]) -> _core.Resampler:
        """The native samples, prepared once for each kind."""
        if kind not in self._prepared:
            self._prepared[kind] = _core.Resampler(
                native,
                kind=kind,
                strata=sizes_of(self.strata) if kind == "draws" else None,
                threads=self.threads,
                progress=self.progress,
            )
        return self._prepared[kind]

    def _take_in(self, sample: Sample, kind: str, pairs: Pairs, kept: Sequence[Kept[Any]]) -> None:
        """Score all replicates of a sample here, as many as anything is still kept of."""
        first = FIRST_BATCH if any(one.running is not None for one in kept) else None
        for batch in self.batches(sample.batch, STAGES[kind], first):
            wanted = _wanted(kept, len(pairs))
            scored = sample.drawn(batch) if kind == "draws" else sample.shuffled([pairs[p] for p in wanted], batch)
            for one in kept:
                running = one.running
                one.take(scored if running is None else scored[[wanted.index(pair) for pair in running]])
            if all(one.running == [] for one in kept):
                break

    @lazy
    def draws(self) -> tuple[Scores, ...]:
        """For each sample the score of every system on every draw: (k, R)."""
        draws: tuple[Scores, ...]
        (draws,) = self.run([Draws()])
        return draws

    def batches(self, largest: int, stage: str, size: int | None = None) -> Iterator[Batch]:
        """All replicates in batches, the first of this ``size``, others twice as large up to the ``largest``."""
        progress = self.progress or Progress()
        progress.begin(stage, self.n_resamples)
        first, size = 0, min(largest, size or largest)
        while first < self.n_resamples:
            n = min(size, self.n_resamples - first)
            yield Batch(self.seed, first, n, self.threads, self._codes)
            first, size = first + n, min(largest, 2 * size)
            progress.update(first)


def _wanted(kept: Sequence[Kept[Any]], pairs: int) -> Sequence[int]:
    """The pairs of which any still has to be kept."""
    running = [one.running for one in kept]
    if any(of_one is None for of_one in running):
        return range(pairs)
    return sorted({pair for of_one in running if of_one is not None for pair in of_one})
