"""Replications of an optimizer, in this process or by the workers of an executor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from ..execution import Execution, run_job
from ..lazy import lazy
from ..options.tuning import Optimization
from .lists import NBest, Sparse
from .optimizers import FITS, READS, Fitted
from .problem import Problem

if TYPE_CHECKING:
    from .. import _core
    from .._core import Progress
    from ..metrics.native import NativeMetric


def replications(
    name: str, problem: Problem, options: Optimization, seeds: Sequence[int], executor: Any = None
) -> Fitted:
    """What an optimizer finds with each of some seeds.

    An optimizer that reads texts runs in this process, because workers do not have them.
    """
    if executor is None or name not in READS:
        return FITS[name](problem, options, seeds)
    job = ReplicationsJob.of(name, problem, options, seeds)
    execution = Execution(executor, problem.threads or None, problem.progress)
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


@dataclass(frozen=True, eq=False)
class ReplicationsJob:
    """Runs of an optimizer with different seeds, which are the items: see :class:`reshuffle.execution.Job`.

    ``known`` has what the optimizer reads of the entries' counts and scores, by the attribute of :class:`Problem`.
    """

    items: ClassVar[str] = "replications"

    name: str
    options: Optimization
    seeds: tuple[int, ...]
    features: Features
    sparse: Sparse | None
    metric: NativeMetric
    sentence: NativeMetric
    asked: bool
    initial: Mapping[str, float] | None
    low: NDArray[np.float64] | None
    high: NDArray[np.float64] | None
    previous: Mapping[str, float] | None
    known: Mapping[str, NDArray[Any]]

    @classmethod
    def of(cls, name: str, problem: Problem, options: Optimization, seeds: Sequence[int]) -> ReplicationsJob:
        """What workers need of a problem."""
        lists = problem.lists
        return cls(
            name,
            options,
            tuple(seeds),
            Features(lists.offsets, lists.names, lists.dense),
            lists.sparse,
            problem.metric,
            problem.sentence,
            problem.asked,
            problem.initial,
            problem.low,
            problem.high,
            problem.previous,
            {what: np.ascontiguousarray(getattr(problem, what)) for what in READS[name](problem, options)},
        )

    block: ClassVar[int] = 1

    @lazy
    def _problem(self) -> Problem:
        lists = NBest(cast("_core.NBest", self.features), all_sparse=self.sparse)
        problem = Problem(
            lists, [], self.metric, self.sentence, self.asked, self.initial, self.low, self.high, self.previous
        )
        vars(problem).update(self.known)
        return problem

    def run(self, first: int, last: int, threads: int | None, progress: Progress | None) -> Fitted:
        """The runs first, …, last − 1. See :class:`reshuffle.execution.Job`."""
        return FITS[self.name](self._problem.watched(threads or 0, progress), self.options, self.seeds[first:last])

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_problem"}
