"""Jobs whose items are computed one after the other, each by all threads."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

from .base import Execution
from .jobs import run_job

if TYPE_CHECKING:
    from .._core import Progress

__all__ = ["ItemJob"]

Result = TypeVar("Result")


class ItemJob(Generic[Result]):
    """The base of a :class:`~reshuffle.execution.Job` that computes one item at a time.

    Attributes
    ----------
    items : str
        See :class:`~reshuffle.execution.Job`.
    stage : str
        The stage of a progress.
    """

    items: ClassVar[str]
    stage: ClassVar[str]

    @property
    def block(self) -> int:
        """Any item may begin a piece."""
        return 1

    @abstractmethod
    def item(self, index: int, threads: int | None) -> Result:
        """Compute one item: a pure function of its index."""

    def run(self, first: int, last: int, threads: int | None, progress: Progress | None) -> list[Result]:
        """The results of the items first, …, last − 1."""
        if progress is not None:
            progress.begin(self.stage, last - first)
        results = []
        for index in range(first, last):
            results.append(self.item(index, threads))
            if progress is not None:
                progress.update(index + 1 - first)
        return results

    def results(self, n: int, execution: Execution) -> list[Result]:
        """The results of the items 0, …, n − 1."""
        return [result for part in run_job(self, n, execution, stage=self.stage) for result in part]
