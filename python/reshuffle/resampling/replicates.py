"""The loop over R replicates of one or more samples, which runs all reductions in one pass.

A worker of an executor computes a range of the replicates, by the same code as one process. What it returns is the
state of the reductions, which are merged in the order of the replicates: integers are added, and sums of floats are
joined by a tree over the numbers of the replicates. So the result has the same bytes, however the replicates are split.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from itertools import starmap
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._core import Progress
from ..errors import Argument, InputError
from ..lazy import lazy
from ..metrics.base import Scores, thread_count
from ..progress import Step
from ..settings import Resampling
from ..validate import MAX_RESAMPLES, MAX_SEED, check_integer
from .incomplete import IncompleteSample
from .reductions import Draws, Reduction
from .samples import (
    BATCH_CELLS,
    Batch,
    GroupCodes,
    Pairs,
    Sample,
    SentSample,
    TextSample,
    all_sent,
    resampler_of_sums,
    stratum_sizes,
)

T = TypeVar("T")

# The size of the first batch when a stopping rule may end the test early: it takes a few milliseconds.
FIRST_BATCH = 512

PROGRESS_STAGES = {"shuffles": "shuffling", "draws": "drawing", "permutations": "permuting"}


def array_steps(kind: str | None, n_stages: int = 1) -> list[Step]:
    """The only step of a test or interval of arrays: replicates of a kind in this many stages."""
    return [] if kind is None else [(PROGRESS_STAGES[kind], 1.0, n_stages)]


class Pass(NamedTuple):
    """The samples that one pass over the replicates reduces, by their metrics.

    The core scores those with ``native`` metrics and counts, which compare the same ``pairs`` of rows. Without them the
    pass is that of a single sample, which Python scores.
    """

    pairs: Pairs
    metrics: list[int]
    native: list[tuple[_core.Metric, _core.Counts]] | None = None

    def cores(self, reductions: Sequence[Reduction]) -> list[Any]:
        """The reductions of the core."""
        if self.native is None:
            return [reduction.fed(self.pairs, self.metrics[0]) for reduction in reductions]
        return [reduction.core(self.pairs, self.metrics) for reduction in reductions]


class Part(NamedTuple):
    """What a worker has computed of a range of replicates."""

    states: tuple[tuple[Any, ...], ...]
    """For each pass over the replicates, the state of each reduction."""
    evaluations: tuple[int, ...]
    """How many times the function of each sample of texts was called, 0 for other samples."""


def merged(specification: Any, states: Sequence[Any]) -> Any:
    """The reduction of the core whose parts, in the order of the replicates, have these states."""
    parts: list[_core.Reduction] = [specification.with_state(state) for state in states]
    # By halves: parts that hold series are copied when they are merged.
    while len(parts) > 1:
        pairs = zip(parts[::2], parts[1::2], strict=False)
        parts = [*(a.merge(b) for a, b in pairs), *(parts[-1:] if len(parts) % 2 else [])]
    return parts[0]


class Replicates:
    """R replicates of one or more samples. All samples get the same shuffles, draws and permutations.

    Parameters
    ----------
    samples : sequence of Sample
        All with the same kind and number of resampling units, at least 2, and the same strata.
    settings : Resampling
        R, the seed, and what computes them. Replicate r is a pure function of the seed and r.
    codes : (S,) ndarray of uint64, optional
        Those of a subgroup of shuffles: see :meth:`with_codes`.
    """

    # Whether the replicates are user-supplied masks or indices, which have no seed.
    is_replay: ClassVar[bool] = False

    def __init__(self, samples: Sequence[Sample], settings: Resampling, codes: GroupCodes | None = None) -> None:
        self.samples = tuple(samples)
        first = self.samples[0]
        # The resampling unit, ``segment`` or ``document``, its number, and the strata of the bootstrap, if any.
        self.unit, self.n_units, self.strata = first.unit, first.n_units, first.strata
        self.n_resamples = check_integer("n_resamples", settings.n_resamples, 1, MAX_RESAMPLES)
        self.seed = check_integer("seed", settings.seed, 0, MAX_SEED)
        self.progress = settings.progress
        self.threads = thread_count(settings.threads)
        self.executor = settings.executor
        self.codes = codes
        self._range: range | None = None
        self._resamplers: dict[tuple[str, tuple[int, ...]], _core.Resampler] = {}
        self._found: dict[Hashable, Any] = {}
        if self.n_units < 2:
            raise InputError("there is only one segment: tests and intervals need at least 2")

    def first(self, n: int) -> Replicates:
        """The first n of these replicates."""
        return self._with(n_resamples=n)

    def with_threads(self, threads: int | None, progress: Progress | None) -> Replicates:
        """The same replicates, which share what has been prepared, with other threads and another progress."""
        return self._with(threads=thread_count(threads), progress=progress)

    def within(self, first: int, last: int) -> Replicates:
        """The replicates first, …, last − 1, for :meth:`part` and :meth:`batches` in another process."""
        return self._with(_range=range(first, last))

    @property
    def numbers(self) -> range:
        """The numbers of the replicates."""
        return range(self.n_resamples) if self._range is None else self._range

    def with_codes(self, codes: GroupCodes, n: int) -> Replicates:
        """The first n shuffles of a subgroup, which the codes define: (S,).

        Shuffle g swaps a unit if g and the unit's code have an odd number of bits in common.
        """
        return self._with(n_resamples=n, codes=codes)

    def with_samples(self, samples: Sequence[Sample]) -> Replicates:
        """The same replicates of other samples, which have the same resampling units."""
        if self.samples == tuple(samples):
            return self
        return self._with(samples=tuple(samples), _resamplers={})

    def _with(self, **changed: Any) -> Replicates:
        """A copy that shares the Resamplers but not the draws, which depend on what is changed."""
        copied = copy(self)
        for name in ("draws", "replaced_draws"):
            vars(copied).pop(name, None)
        vars(copied).update(_found={}, **changed)
        return copied

    def once(self, key: Hashable, compute: Callable[[], T]) -> T:
        """What several callers need of these replicates and compute once. The key has the function that computes it."""
        if key not in self._found:
            self._found[key] = compute()
        found: T = self._found[key]
        return found

    def run(self, reductions: Sequence[Reduction], pairs: Pairs = ()) -> list[Any]:
        """The results of the reductions, computed in one pass over the replicates.

        All reductions are of the same kind: shuffles, draws or permutations. Those of shuffles compare ``pairs`` of
        systems, for which each sample has its rows
        (:meth:`Sample.rows_of <reshuffle.resampling.samples.Sample.rows_of>`).

        With an executor, its workers compute the reductions that can be computed in parts, if the samples can be sent
        to them. The others are computed in this process, in a pass of their own.
        """
        kind = reductions[0].kind
        own_pairs = [pairs if kind == "draws" else sample.rows_of(pairs) for sample in self.samples]
        passes = self._passes(kind, own_pairs)
        samples = None if self.executor is None else all_sent(self.samples, kind)
        if samples is None:
            return self._results(reductions, passes, [self._run_pass(reductions, each) for each in passes])
        results: dict[int, Any] = {}
        for in_parts in (True, False):
            places = [i for i, each in enumerate(reductions) if each.in_parts == in_parts]
            if places:
                chosen = [reductions[i] for i in places]
                if in_parts:
                    finished = self._run_sent(chosen, own_pairs, samples, passes)
                else:
                    finished = [self._run_pass(chosen, each) for each in passes]
                results |= zip(places, self._results(chosen, passes, finished), strict=True)
        return [results[i] for i in range(len(reductions))]

    def _run_sent(
        self,
        reductions: Sequence[Reduction],
        own_pairs: Sequence[Pairs],
        samples: tuple[SentSample, ...],
        passes: Sequence[Pass],
    ) -> list[list[Any]]:
        """The reductions by the workers of the executor, pass by pass."""
        block = max(each.together for each in samples)
        stage = PROGRESS_STAGES[reductions[0].kind]
        parts = self.by_workers(Replicates.part, (tuple(reductions), tuple(own_pairs)), samples, block, stage)
        for m, sample in enumerate(self.samples):
            if isinstance(sample, TextSample):
                sample.evaluations += sum(part.evaluations[m] for part in parts)
        states = zip(*[part.states for part in parts], strict=True)
        return [
            [
                merged(core, of_core)
                for core, of_core in zip(each.cores(reductions), zip(*own, strict=True), strict=True)
            ]
            for each, own in zip(passes, states, strict=True)
        ]

    def _results(
        self, reductions: Sequence[Reduction], passes: Sequence[Pass], finished: Sequence[Sequence[Any]]
    ) -> list[Any]:
        """The results of the reductions, from those of the core that each pass has finished."""
        rows: list[list[Any]] = [[None] * len(self.samples) for _ in reductions]
        for each, cores in zip(passes, finished, strict=True):
            for by_metric, reduction, core in zip(rows, reductions, cores, strict=True):
                own: Sequence[Any]
                if each.native is None:
                    own = [reduction.row_from_fed(core, each.metrics[0])]
                else:
                    own = reduction.rows_from_core(core, [len(counts) for _, counts in each.native])
                for m, row in zip(each.metrics, own, strict=True):
                    by_metric[m] = row
        return [reduction.combine(by_metric) for reduction, by_metric in zip(reductions, rows, strict=True)]

    def by_workers(
        self,
        function: Callable[..., T],
        arguments: tuple[Any, ...],
        samples: tuple[SentSample, ...],
        block: int,
        stage: str,
    ) -> list[T]:
        """``function(replicates, *arguments)`` of ranges of these replicates, by the workers of the executor.

        Ranges begin at multiples of ``block``.
        """
        from ..execution import Execution, run_job

        job = ReplicatesJob(function, arguments, samples, block, self.seed, self.codes)
        execution = Execution(self.executor, self.threads or None, self.progress)
        return run_job(job, self.n_resamples, execution, stage=stage)

    def part(self, reductions: Sequence[Reduction], own_pairs: Sequence[Pairs]) -> Part:
        """What these replicates, a range, contribute to the reductions: for :meth:`run` in another process."""
        before = [sample.evaluations or 0 for sample in self.samples]
        passes = self._passes(reductions[0].kind, own_pairs)
        states = [tuple(core.state() for core in self._run_pass(reductions, each)) for each in passes]
        calls = [(sample.evaluations or 0) - n for sample, n in zip(self.samples, before, strict=True)]
        return Part(tuple(states), tuple(calls))

    def _passes(self, kind: str, own_pairs: Sequence[Pairs]) -> list[Pass]:
        """The passes over all replicates: by the core for the samples that it scores, then for each of the others."""
        together: dict[int, tuple[Pairs, list[int], list[tuple[_core.Metric, _core.Counts]]]] = {}
        alone: list[Pass] = []
        for m, sample in enumerate(self.samples):
            native, pairs = sample.native(kind), own_pairs[m]
            if native is None:
                alone.append(Pass(pairs, [m]))
                continue
            # Without missing scores, all metrics have the same list of pairs, so its identity is enough.
            _, metrics, natives = together.setdefault(id(pairs), (pairs, [], []))
            metrics.append(m)
            natives.append(native)
        return [*starmap(Pass, together.values()), *alone]

    def _run_pass(self, reductions: Sequence[Reduction], one: Pass) -> list[Any]:
        """The finished reductions of the core for the samples of one pass."""
        kind, cores = reductions[0].kind, one.cores(reductions)
        if one.native is None:
            return self._feed(kind, cores, one)
        numbers = self.numbers
        return self._resampler(kind, one.metrics, one.native).run(
            cores,
            n=len(numbers),
            seed=self.seed,
            first=numbers.start,
            codes=self.codes,
            threads=self.threads,
            progress=self.progress,
        )

    def _feed(self, kind: str, cores: Sequence[Any], one: Pass) -> list[Any]:
        """The same for a sample that Python scores, until no reduction needs more replicates."""
        first = FIRST_BATCH if any(isinstance(core, _core.SequentialTally) for core in cores) else None
        sample = self.samples[one.metrics[0]]
        # The number of systems, without calls of a function of texts.
        systems = len(sample.systems if isinstance(sample, TextSample) else sample.scores)
        feed = _core.Feed(cores, systems, n=len(self.numbers), first=self.numbers.start)
        for batch in self.batches(sample.batch_size, PROGRESS_STAGES[kind], first):
            active = feed.active
            if kind == "shuffles":
                scored = sample.shuffle_statistics([one.pairs[p] for p in active], batch)
            else:
                scored = sample.draw_scores(batch) if kind == "draws" else sample.permutation_scores(batch)
            feed.update(np.ascontiguousarray(scored), active)
            if not feed.active:
                break
        return feed.results()

    def batch(self, other: Batch) -> Batch:
        """The replicates with the numbers of another batch."""
        return Batch(self.seed, other.first, other.n, self.threads, self.codes)

    def statistics(self, m: int, pairs: Pairs, batch: Batch) -> Scores:
        """The statistic of pairs of rows of sample m on the shuffles with the numbers of a batch: (pairs, n)."""
        native, own = self.samples[m].native("shuffles"), self.batch(batch)
        if native is None:
            return self.samples[m].shuffle_statistics(pairs, own)
        resampler = self._resampler("shuffles", [m], [native])
        (series,) = resampler.run([_core.Series(pairs)], codes=own.codes, **own.keywords)
        return np.asarray(series.statistics[0])

    def in_one_pass(self, pairs: Pairs) -> bool:
        """Does the core shuffle these pairs under all metrics in one pass?"""
        passes = self._passes("shuffles", [sample.rows_of(pairs) for sample in self.samples])
        return len(passes) == 1 and passes[0].native is not None

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
        """All replicates in batches, whose size doubles from ``size`` to ``largest``, its default.

        Those of a range (:meth:`within`) are cut where those of all replicates are.
        """
        progress = self.progress or Progress()
        progress.begin(stage, len(self.numbers))
        first, size = self.numbers.start, min(largest, size or largest)
        while first < self.numbers.stop:
            n = min(size - first % size if self.numbers.start else size, self.numbers.stop - first)
            yield Batch(self.seed, first, n, self.threads, self.codes)
            first, size = first + n, min(largest, 2 * size)
            progress.update(first - self.numbers.start)


def _next_true(flags: NDArray[np.bool_], metric: str) -> NDArray[np.intp]:
    """For each flag, the index of the first true one at or after it, or if there is none, of the first one: (R,)."""
    (true,) = np.nonzero(flags)
    if not true.size:
        raise InputError(
            "{metric}: none of {n:,} draws has a segment with a score, because most scores are missing: increase "
            "{number}",
            metric=metric,
            n=len(flags),
            number=Argument("n_resamples"),
        )
    return true[np.searchsorted(true, np.arange(len(flags))) % len(true)]


@dataclass(frozen=True, eq=False)
class ReplicatesJob(Generic[T]):
    """A function of replicates of some samples, and arguments: see :class:`reshuffle.execution.Job`."""

    items: ClassVar[str] = "replicates"

    function: Callable[..., T]
    """A function of a module, or a method."""
    arguments: tuple[Any, ...]
    samples: tuple[SentSample, ...]
    block: int
    """See :class:`reshuffle.execution.Job`."""
    seed: int
    codes: GroupCodes | None

    @lazy
    def _replicates(self) -> Replicates:
        return Replicates([each.sample() for each in self.samples], Resampling(1, self.seed), self.codes)

    def run(self, first: int, last: int, threads: int | None, progress: Progress | None) -> T:
        """See :class:`reshuffle.execution.Job`."""
        replicates = self._replicates.with_threads(threads, progress)
        # Each call counts its own evaluations, also if an executor runs several in this process.
        replicates.samples = tuple(copy(each) if isinstance(each, TextSample) else each for each in replicates.samples)
        return self.function(replicates.within(first, last), *self.arguments)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_replicates"}
