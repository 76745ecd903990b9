"""Replications of an optimizer, in this process or by the workers of an executor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from ..execution import Execution, run_job
from ..options.tuning import Optimization
from .lists import NBest
from .optimizers import FITS, READS, Fitted
from .problem import Problem

if TYPE_CHECKING:
    from .. import _core
    from .._core import Progress


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
    def of(cls, name: str, problem: Problem, options: Optimization, seeds: Sequence[int]) -> ReplicationsJob:
        """What workers need of a problem."""
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
        known = {what: np.ascontiguousarray(getattr(problem, what)) for what in READS[name](problem, options)}
        vars(sent).update(known)
        return cls(name, options, tuple(seeds), sent)

    def run(self, first: int, last: int, threads: int | None, progress: Progress | None) -> Fitted:
        """The runs first, …, last − 1. See :class:`reshuffle.execution.Job`."""
        return FITS[self.name](self.problem.watched(threads or 0, progress), self.options, self.seeds[first:last])
