"""Rounds of decoding and optimization."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, quoted
from ..execution import Execution, run_job
from ..options.tuning import Optimization
from ..seeds import derive_seed
from .choosing import Model
from .decoders import Decoder
from .lists import NBest
from .optimizers import FITTERS, Fitted
from .options import Optimizer
from .problem import Problem

if TYPE_CHECKING:
    from .. import _core
    from .._core import Progress


@dataclass(frozen=True, eq=False)
class Run:
    """A run after its last round: its model, the joined lists, and the course of all rounds."""

    seed: int
    problem: Problem
    model: Model
    trace: tuple[tuple[int, Mapping[str, Sequence[float]]], ...]


@dataclass(frozen=True, eq=False)
class Course:
    """Rounds of decoding and optimization."""

    method: Optimizer
    options: Optimization
    decoder: Decoder | None
    folder: Path
    executor: Any = None

    @property
    def kind(self) -> str | None:
        """What decodes: ``command``, ``simulated`` or ``function``; None if nothing does."""
        return None if self.decoder is None else getattr(self.decoder, "kind", "function")

    def runs(self, problem: Problem, seeds: Sequence[int], rounds: int) -> list[Run]:
        """All runs. Their first round is the same problem; then each has its own lists."""
        fitted, options = replications(self, problem, seeds), self.options_of(len(seeds))
        pairs = enumerate(zip(seeds, fitted.models, strict=True))
        runs = [Run(seed, problem, model, ((1, _of_run(fitted, i)),)) for i, (seed, model) in pairs]
        return [self._later(i, run, options[i], rounds) for i, run in enumerate(runs)]

    def options_of(self, n: int) -> Sequence[Optimization]:
        """The options of each of n runs."""
        variants = FITTERS[self.method.name].variants
        return [self.options] * n if variants is None else variants(self.options, n)

    def _later(self, i: int, run: Run, options: Optimization, rounds: int) -> Run:
        """The rounds of a run after the first."""
        for number in range(2, rounds + 1):
            assert self.decoder is not None
            before = run.problem
            new = decoded(self.decoder, run.model.weights, self.folder / f"{i}-{number}")
            joined = before.lists.merged(new)
            if len(joined) == len(before.lists):
                break
            problem = replace(before, lists=joined, previous=run.model.weights)
            fitted = FITTERS[self.method.name].fit(problem, options, [derive_seed(run.seed, "restart", number)])
            run = Run(run.seed, problem, fitted.models[0], (*run.trace, (number, _of_run(fitted, 0))))
        return run


def _of_run(fitted: Fitted, i: int) -> dict[str, Sequence[float]]:
    return {name: rows[i] for name, rows in fitted.trace.items()}


def decoded(decoder: Decoder, weights: Mapping[str, float], folder: Path) -> NBest:
    folder.mkdir()
    lists = decoder(weights, folder)
    if not isinstance(lists, NBest):
        raise InputError(f"decoder: expected lists (NBest), got {quoted(lists)}")
    return lists


def replications(course: Course, problem: Problem, seeds: Sequence[int]) -> Fitted:
    """What an optimizer finds with each of some seeds.

    An optimizer that reads texts runs in this process, because workers do not have them.
    """
    name, options, fitter = course.method.name, course.options, FITTERS[course.method.name]
    if course.executor is None or fitter.reads is None:
        return fitter.fit(problem, options, seeds)
    job = ReplicationsJob.of(name, problem, options, seeds, fitter.reads(problem, options))
    execution = Execution(course.executor, problem.threads or None, problem.progress)
    parts = run_job(job, len(seeds), execution, stage="tuning")
    models = [model for part in parts for model in part.models]
    trace = {key: [row for part in parts for row in part.trace[key]] for key in parts[0].trace}
    return Fitted(models, trace)


@dataclass(frozen=True, eq=False)
class Features:
    """The features of lists, in place of lists of the core."""

    offsets: NDArray[np.int64]
    names: list[str]
    dense: NDArray[np.float64]
    # Workers get them as ``NBest.all_sparse``.
    sparse_names: ClassVar[Sequence[str]] = ()


@dataclass(frozen=True, eq=False)
class ReplicationsJob:
    """Runs of an optimizer with different seeds, which are the items: see :class:`reshuffle.execution.Job`.

    ``problem`` has no texts, but what the optimizer reads of the entries' counts and scores has been computed.
    """

    items: ClassVar[str] = "replications"
    block: ClassVar[int] = 1

    name: str
    options: Optimization
    seeds: tuple[int, ...]
    problem: Problem

    @classmethod
    def of(
        cls, name: str, problem: Problem, options: Optimization, seeds: Sequence[int], read: Sequence[str]
    ) -> ReplicationsJob:
        """What workers need of a problem, of which the optimizer reads some attributes."""
        lists = problem.lists
        features = Features(lists.offsets, lists.names, lists.dense)
        sent = replace(
            problem,
            lists=NBest(cast("_core.NBest", features), all_sparse=lists.sparse),
            references=[],
            sources=None,
            threads=0,
            progress=None,
        )
        known = {what: np.ascontiguousarray(getattr(problem, what)) for what in read}
        vars(sent).update(known)
        return cls(name, options, tuple(seeds), sent)

    def run(self, first: int, last: int, threads: int | None, progress: Progress | None) -> Fitted:
        """The runs first, …, last − 1. See :class:`reshuffle.execution.Job`."""
        problem = self.problem.watched(threads or 0, progress)
        return FITTERS[self.name].fit(problem, self.options, self.seeds[first:last])
