"""What a job is, and how it is to be computed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol, TypeAlias, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from .._core import Progress
    from .checkpoint import Checkpoint

Result = TypeVar("Result", covariant=True)


class HasExecutor(Protocol):
    """An object such as a Dask client."""

    def get_executor(self) -> Executor:
        """The executor."""


AnyExecutor: TypeAlias = "Executor | HasExecutor | None"


@dataclass(frozen=True)
class Execution:
    """Where a job is computed, who watches it, and where its finished parts are kept.

    Attributes
    ----------
    executor : concurrent.futures.Executor, object with ``get_executor()``, or None
        What runs the pieces of the job; None for this process.
    threads : int or None
        The threads of this process. Workers of an executor run one thread each.
    progress : Progress or None
    checkpoint : Checkpoint or None
    """

    executor: AnyExecutor = None
    threads: int | None = None
    progress: Progress | None = None
    checkpoint: Checkpoint | None = None


class Job(Protocol[Result]):
    """A pure function of ranges of indices: a frozen object that can be pickled, with all that it needs.

    It holds neither threads nor a progress nor an executor. Its result for a range must consist of the results for the
    parts of the range, however these are cut.

    Attributes
    ----------
    items : str
        What the indices number, for messages: ``simulations``.
    """

    items: ClassVar[str]

    @property
    def block(self) -> int:
        """Pieces of the job are multiples of so many items, if that makes them cheaper; otherwise 1."""

    def run(self, first: int, last: int, threads: int | None, progress: Progress | None) -> Result:
        """Compute the items first, …, last − 1.

        If there is a progress, the call computes all items: it begins the stage, and updates it.
        """
