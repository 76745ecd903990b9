"""What a job is, and how it is to be computed."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Protocol, TypeAlias, TypeVar

from ..documented import record

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
# A number of threads, all cores, or an executor.
AnyWorkers: TypeAlias = "int | Executor | HasExecutor | None"


@record
class Execution:
    """Where a job is computed, who watches it, and where its finished parts are kept."""

    executor: AnyExecutor = None
    """What runs the pieces of the job; None for this process."""
    threads: int | None = None
    """The threads of this process. Workers of an executor run one thread each."""
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
