"""Replicates of systems with several runs each, by the workers of an executor: jobs and what they return."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..execution import Execution, run_job
from ..lazy import lazy
from ..settings import Resampling
from .parts import SentSample, sent
from .replicates import Replicates
from .runs import RunData
from .samples import CountSample, GroupCodes

if TYPE_CHECKING:
    from .._core import Progress

# From data, arguments and replicates to arrays whose last axis is that of the replicates, or of their blocks of
# :data:`BLOCK`. A function of a module.
Computed: TypeAlias = Callable[..., Sequence[NDArray[Any]]]

# Ranges begin at multiples of so many replicates.
BLOCK = 512


def in_parts(
    function: Computed, data: RunData, arguments: tuple[Any, ...], replicates: Replicates, stage: str
) -> Sequence[NDArray[Any]]:
    """``function(data, *arguments, replicates)``, by the workers of the executor if there is one.

    ``replicates`` are those of the first sample of the data.
    """
    samples = None if replicates.executor is None else sent(data.samples, "shuffles")
    if samples is None:
        return function(data, *arguments, replicates)
    job = RunsJob(function, data.names, data.n_runs, samples, arguments, replicates.seed, replicates.codes)
    execution = Execution(replicates.executor, replicates.threads or None, replicates.progress)
    parts = run_job(job, replicates.n_resamples, execution, stage=stage)
    return [np.concatenate(arrays, axis=-1) for arrays in zip(*parts, strict=True)]


@dataclass(frozen=True, eq=False)
class RunsJob:
    """A function of replicates of systems with several runs each: see :class:`reshuffle.execution.Job`."""

    items: ClassVar[str] = "replicates"
    block: ClassVar[int] = BLOCK

    function: Computed
    names: tuple[str, ...]
    n_runs: tuple[int, ...]
    samples: tuple[SentSample, ...]
    arguments: tuple[Any, ...]
    seed: int
    codes: GroupCodes | None

    @lazy
    def _data(self) -> RunData:
        samples = [each.sample() for each in self.samples]
        counted = [each for each in samples if isinstance(each, CountSample)]
        return RunData(self.names, self.n_runs, counted, Resampling())

    def run(self, first: int, last: int, threads: int | None, progress: Progress | None) -> list[NDArray[Any]]:
        """See :class:`reshuffle.execution.Job`."""
        replicates = Replicates(
            self._data.samples[:1],
            n_resamples=last,
            seed=self.seed,
            threads=threads,
            progress=progress,
            codes=self.codes,
        )
        return list(self.function(self._data, *self.arguments, replicates.within(first, last)))

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_data"}
