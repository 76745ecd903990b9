"""The loop that computes jobs: in this process or by an executor, with or without a checkpoint."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar

import numpy as np

from ..errors import InputError, WorkerError
from .base import Execution, Job
from .tables import Columns, Table

if TYPE_CHECKING:
    from concurrent.futures import Future

    from .._core import Progress
    from .checkpoint import Stage
    from .transport import Sender
    from .worker import Answer, Failed

Result = TypeVar("Result")

# Tasks are as long as it takes for their cost to be small, and short enough to show progress and to lose little.
TASK_SECONDS = 1.0
# Near the end tasks get shorter, so that all workers finish at about the same time, but not shorter than this.
SHORTEST_SECONDS = 0.1
# A task has at most so many times the items of the longest one measured.
GROWTH = 8
# Tasks in flight for each worker.
AHEAD = 4
# The number of workers may change: how often it is asked for.
RECOUNT_SECONDS = 5.0
# How often a job is sent again because the workers that had it ended.
RENEWALS = 5
# How long the wait for a task may block Ctrl-C on Windows.
WAIT_SECONDS = 1.0


def run_job(
    job: Job[Result], n: int, execution: Execution, *, stage: str, first: int = 0, kept: Stage | None = None
) -> list[Result]:
    """The results of the items first, …, first + n − 1 of a job, in pieces that are ordered by index.

    Where the pieces begin depends on the executor and on the time they take; joined, they are always the same. Pieces
    that are ``kept`` are not computed again, and the others are added.

    Raises
    ------
    InputError
        As the job, and if it cannot be sent to the executor. If it was raised in a worker, the message begins with the
        range of items.
    WorkerError
        If a worker ends or fails. The message names the range.
    """
    whole = first, first + n
    if execution.executor is None and kept is None:
        return [job.run(*whole, execution.threads, execution.progress)]
    found: dict[int, Any] = {}
    missing = [whole]
    if kept is not None:
        found = {start: table for (start, _), table in kept.finished.items()}
        missing = kept.missing
    progress, done = execution.progress, n - sum(end - start for start, end in missing)
    if progress is not None:
        progress.begin(stage, n)
        progress.update(done)
    for start, end, result in _computed(job, missing, execution, kept is not None):
        found[start] = result
        if kept is not None:
            kept.add(start, end, result)
        done += end - start
        if progress is not None:
            progress.update(done)
    return [found[start] for start in sorted(found)]


def _computed(
    job: Job[Any], missing: list[tuple[int, int]], execution: Execution, has_checkpoint: bool
) -> Iterator[tuple[int, int, Any]]:
    """The results of some ranges, in pieces, in the order in which they are finished."""
    if not missing:
        return iter(())
    remaining = _Remaining(missing, job.block)
    if execution.executor is None:
        return _here(job, remaining, execution)
    return _sent(job, remaining, execution, has_checkpoint)


class _Remaining:
    """The items that no task has yet, and how many a task takes, from the times that others took."""

    def __init__(self, ranges: Iterable[tuple[int, int]], block: int) -> None:
        self.ranges = deque(ranges)
        self.block = max(1, block)
        self.largest = 0
        self.times: deque[tuple[int, float]] = deque(maxlen=16)

    def __bool__(self) -> bool:
        return bool(self.ranges)

    def took(self, items: int, seconds: float) -> None:
        """Note the time of a task."""
        self.times.append((items, seconds))
        self.largest = max(self.largest, items)

    def put_back(self, first: int, last: int) -> None:
        """Return the range of a task that was not computed."""
        self.ranges.appendleft((first, last))

    def take(self, workers: int) -> tuple[int, int]:
        """The range of the next task."""
        size = self._size(workers)
        first, last = self.ranges.popleft()
        middle = min(last, first + size)
        if middle < last:
            self.ranges.appendleft((middle, last))
        return first, middle

    def _size(self, workers: int) -> int:
        if not self.times:
            return self.block
        rate = sum(items for items, _ in self.times) / max(1e-9, sum(seconds for _, seconds in self.times))
        left = sum(last - first for first, last in self.ranges)
        size = min(rate * TASK_SECONDS, self.largest * GROWTH)
        if workers > 1:
            size = min(size, max(left / (2 * workers), rate * SHORTEST_SECONDS))
        return max(1, int(size) // self.block) * self.block


def _here(job: Job[Result], remaining: _Remaining, execution: Execution) -> Iterator[tuple[int, int, Result]]:
    """Compute pieces in this process."""
    while remaining:
        first, last = remaining.take(1)
        start = time.perf_counter()
        result = job.run(first, last, execution.threads, None)
        remaining.took(last - first, time.perf_counter() - start)
        yield first, last, result


def _sent(
    job: Job[Result], remaining: _Remaining, execution: Execution, has_checkpoint: bool
) -> Iterator[tuple[int, int, Result]]:
    """Have the workers of an executor compute pieces.

    However the loop ends, no task of it is left waiting in the executor.
    """
    from .transport import sender_for

    tasks = _Tasks(job, sender_for(execution.executor, job), remaining, has_checkpoint)
    try:
        while remaining or tasks.pending:
            tasks.top_up()
            yield from tasks.finished()
    finally:
        for future in tasks.pending:
            future.cancel()


class _RemoteError(Exception):
    """The traceback of a worker, as the cause of an error."""

    def __str__(self) -> str:
        return f"\n{self.args[0]}"


class _Tasks:
    """The tasks of a job in an executor."""

    def __init__(self, job: Job[Any], sender: Sender, remaining: _Remaining, has_checkpoint: bool) -> None:
        self.job, self.sender, self.remaining, self.has_checkpoint = job, sender, remaining, has_checkpoint
        self.pending: dict[Future[Answer], tuple[int, int]] = {}
        self.with_pieces: set[Future[Answer]] = set()
        self.lacking: set[str] = set()  # workers that did not find the job, and have not computed a task since
        self.workers, self.counted = 1, float("-inf")
        self.opened = self.renewals = 0

    def top_up(self) -> None:
        """Submit tasks until there are enough for every worker."""
        if time.monotonic() - self.counted > RECOUNT_SECONDS:
            self.counted = time.monotonic()
            with suppress(Exception):  # a scheduler that is gone: the tasks will say so
                self.workers = self.sender.workers
        while self.sender.fresh and self.remaining and self.opened < self.workers:
            self._submit(*self.remaining.take(self.workers), self.sender.fresh)
            self.opened += 1
        while self.remaining and len(self.pending) < AHEAD * self.workers:
            self._submit(*self.remaining.take(self.workers))

    def _submit(self, first: int, last: int, digests: Sequence[str] = ()) -> None:
        future = self._broken(lambda: self.sender.submit(first, last, digests), first, last)
        self.pending[future] = first, last
        if digests:
            self.with_pieces.add(future)

    def finished(self) -> Iterator[tuple[int, int, Any]]:
        """Wait for a task, and return the results of all that are done."""
        from concurrent.futures import FIRST_COMPLETED, wait

        from .worker import Failed, Missing

        done, _ = wait(self.pending, WAIT_SECONDS, FIRST_COMPLETED)
        for future in sorted(done, key=self.pending.__getitem__):
            first, last = self.pending.pop(future)
            if future in self.with_pieces:
                self.with_pieces.remove(future)
                if future.cancelled() and self.renewals < RENEWALS and self.sender.renew():
                    self.renewals += 1
                    self.remaining.put_back(first, last)
                    continue
            answer = self._broken(future.result, first, last)
            if isinstance(answer, Missing):
                self.lacking.add(answer.worker)
                if len(self.with_pieces) < len(self.lacking):
                    self._submit(first, last, self.sender.digests)
                else:
                    self.remaining.put_back(first, last)
            elif isinstance(answer, Failed):
                raise self._error(answer, first, last) from (_RemoteError(answer.trace) if answer.trace else None)
            else:
                self.lacking.discard(answer.worker)
                self.remaining.took(last - first, answer.seconds)
                yield first, last, answer.result

    def _error(self, failed: Failed, first: int, last: int) -> Exception:
        """The error of a task that failed."""
        where = f"{named_range(self.job, first, last)} failed in a worker: "
        if failed.error is not None:
            return failed.error.with_prefix(where)
        return WorkerError(where + failed.text)

    def _broken(self, call: Callable[[], Result], first: int, last: int) -> Result:
        """Call a method of an executor or a future; :class:`WorkerError` in place of errors of the executor."""
        from concurrent.futures import BrokenExecutor, CancelledError

        try:
            return call()
        except BrokenExecutor as error:
            if self.has_checkpoint:
                advice = "run it again with the same checkpoint (--resume), which has all finished blocks"
            elif self.remaining.times:
                advice = "use fewer workers if memory ran out, and a checkpoint (--resume) to keep what is finished"
            else:
                advice = (
                    "a script that starts processes needs \"if __name__ == '__main__':\"; if memory ran out, use fewer"
                )
            raise WorkerError(
                f"a worker process ended before it finished {named_range(self.job, first, last)}: {advice}"
            ) from error
        except CancelledError as error:
            raise WorkerError(
                f"the executor cancelled {named_range(self.job, first, last)}, perhaps because its workers or its "
                "scheduler ended"
            ) from error
        except (InputError, WorkerError):
            raise
        except Exception as error:
            raise WorkerError(
                f"{named_range(self.job, first, last)} failed in the executor: {type(error).__name__}: {error}"
            ) from error


def named_range(job: Job[Any], first: int, last: int) -> str:
    """The items first, …, last − 1 in words.

    >>> class Example:
    ...     items = "simulations"
    >>> named_range(Example(), 120, 180), named_range(Example(), 7, 8)
    ('simulations 120–179', 'simulation 7')
    """
    if last - first == 1:
        return f"{job.items.removesuffix('s')} {first}"
    return f"{job.items} {first}–{last - 1}"


class TableJob(Job[Table], Protocol):
    """A job with a row for each item."""

    @property
    def columns(self) -> Columns:
        """What a row has."""


def run_table(job: TableJob, n: int, execution: Execution, *, stage: str, first: int = 0) -> Table:
    """The rows of the items first, …, first + n − 1 of a job. Errors as :func:`run_job`.

    With a checkpoint, rows that it has are not computed again, and the others are kept in it.
    """
    kept = None
    if execution.checkpoint is not None:
        from .digest import described

        kept = execution.checkpoint.stage(stage, described(job), job.columns, first, first + n)
    return np.concatenate(run_job(job, n, execution, stage=stage, first=first, kept=kept))


class ChunkJob:
    """The base of a :class:`~reshuffle.execution.jobs.TableJob` that computes chunks of items, by default simulations.

    Attributes
    ----------
    items : str
        See :class:`~reshuffle.execution.Job`.
    stage : str
        The stage of a progress.
    """

    items: ClassVar[str] = "simulations"
    stage: ClassVar[str] = "simulating"

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

    def results(self, n: int, execution: Execution, first: int = 0) -> Table:
        """The rows of the items first, …, first + n − 1."""
        return run_table(self, n, execution, stage=self.stage, first=first)


class ItemJob(ChunkJob):
    """A :class:`ChunkJob` that computes one item at a time."""

    chunk: ClassVar[int] = 1

    @abstractmethod
    def item(self, index: int, threads: int | None) -> tuple[Any, ...]:
        """Compute one item, the arrays of its columns: a pure function of its index."""

    def fill(self, rows: Table, items: range, threads: int | None) -> None:
        """See :meth:`ChunkJob.fill`."""
        (rows[0],) = (self.item(index, threads) for index in items)
