"""Jobs whose items are computed some at a time, each time by all threads."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

from .base import Execution
from .jobs import run_table
from .tables import Columns, Table

if TYPE_CHECKING:
    from .._core import Progress


class ChunkJob:
    """The base of a :class:`~reshuffle.execution.jobs.TableJob` that computes chunks of items.

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

    @property
    @abstractmethod
    def chunk(self) -> int:
        """How many items are computed at a time. Results do not depend on it."""

    @abstractmethod
    def fill(self, rows: Table, items: range, threads: int | None) -> None:
        """Compute some items, at most a chunk, each of them a pure function of its index."""

    def run(self, first: int, last: int, threads: int | None, progress: Progress | None) -> Table:
        """The rows of the items first, …, last − 1."""
        if progress is not None:
            progress.begin(self.stage, last - first)
        table = self.columns.empty(last - first)
        for start in range(first, last, self.chunk):
            items = range(start, min(last, start + self.chunk))
            self.fill(table[start - first : items.stop - first], items, threads)
            if progress is not None:
                progress.update(items.stop - first)
        return table

    def results(self, n: int, execution: Execution) -> Table:
        """The rows of the items 0, …, n − 1."""
        return run_table(self, n, execution, stage=self.stage)


class ItemJob(ChunkJob):
    """A :class:`ChunkJob` that computes one item at a time."""

    chunk: ClassVar[int] = 1

    @abstractmethod
    def item(self, index: int, threads: int | None) -> tuple[Any, ...]:
        """Compute one item, the arrays of its columns: a pure function of its index."""

    def fill(self, rows: Table, items: range, threads: int | None) -> None:
        """See :meth:`ChunkJob.fill`."""
        (rows[0],) = (self.item(index, threads) for index in items)
