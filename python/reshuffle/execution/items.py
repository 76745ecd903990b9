"""Jobs whose items are computed one after the other, each by all threads."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

from .base import Execution
from .jobs import run_table
from .tables import Columns, Table

if TYPE_CHECKING:
    from .._core import Progress


class ItemJob:
    """The base of a :class:`~reshuffle.execution.jobs.TableJob` that computes one item at a time.

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

    @property
    @abstractmethod
    def columns(self) -> Columns:
        """What is computed of an item."""

    @abstractmethod
    def item(self, index: int, threads: int | None) -> tuple[Any, ...]:
        """Compute one item, the arrays of its columns: a pure function of its index."""

    def run(self, first: int, last: int, threads: int | None, progress: Progress | None) -> Table:
        """The rows of the items first, …, last − 1."""
        if progress is not None:
            progress.begin(self.stage, last - first)
        table = self.columns.empty(last - first)
        for row, index in enumerate(range(first, last)):
            table[row] = self.item(index, threads)
            if progress is not None:
                progress.update(row + 1)
        return table

    def results(self, n: int, execution: Execution) -> Table:
        """The rows of the items 0, …, n − 1."""
        return run_table(self, n, execution, stage=self.stage)
