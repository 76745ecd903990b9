"""How jobs and their tasks get to the workers of an executor.

A job travels once. It is pickled, and its large arrays are kept apart, as pieces that are named by their digests. On
one machine each piece is a file, which workers map into memory. A Dask client scatters the pieces. Pieces that the next
job has too, as the counts of the same systems, are not sent again.
"""

from __future__ import annotations

import os
import pickle
import shutil
import tempfile
from collections.abc import MutableMapping, Sequence
from concurrent.futures import BrokenExecutor, Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary, finalize

from ..errors import InputError, WorkerError, quoted
from .worker import Answer, Buffer, Parcel, digest_of, run_range, run_task

# Smaller arrays stay in the pickle.
LARGE_BYTES = 1 << 16


def sender_for(executor: Any, job: Any) -> Sender:
    """The sender of a job to an executor.

    :class:`InputError` if the job cannot be pickled; :class:`WorkerError` if a Dask scheduler does not take it.
    """
    if isinstance(executor, ThreadPoolExecutor):
        return _InProcess(executor, job)
    client = _client_of(executor)
    if client is not None:
        return _Scattered(client, packed(job))
    if not hasattr(executor, "submit"):
        executor = executor.get_executor()
    return _InFiles(executor, packed(job))


def _client_of(executor: Any) -> Any:
    """The Dask client behind an executor, if there is one."""
    for candidate in (executor, getattr(executor, "_client", None)):
        if hasattr(candidate, "get_executor") and hasattr(candidate, "scatter"):
            return candidate
    return None


def packed(job: Any) -> dict[str, Buffer]:
    """A job as the pieces that travel, by digest: the pickle, then the large arrays. :class:`InputError` if it cannot.

    >>> import numpy as np
    >>> [len(piece) > 500_000 for piece in packed({"counts": np.zeros(100_000)}).values()]
    [False, True]
    """
    try:  # it also pickles functions without a name, and those of the main program
        from cloudpickle import dumps
    except ImportError:
        from pickle import dumps
    arrays: list[Buffer] = []

    def stays(buffer: pickle.PickleBuffer) -> bool:
        raw = buffer.raw()
        if raw.nbytes < LARGE_BYTES:
            return True
        arrays.append(raw)
        return False

    try:
        head = dumps(job, protocol=5, buffer_callback=stays)
    except Exception as error:
        raise InputError(
            f"an executor sends the job to other processes, but it cannot be pickled ({error}): define functions of "
            "metrics at the top level of a module, install cloudpickle, or leave out the executor"
        ) from error
    return {digest_of(piece): piece for piece in (head, *arrays)}


def _submitted(executor: Any, task: Any, *arguments: Any) -> Future[Answer]:
    """Submit a task. :class:`InputError` if the executor takes no more."""
    try:
        future: Future[Answer] = executor.submit(task, *arguments)
    except BrokenExecutor:
        raise
    except RuntimeError as error:
        raise InputError(f"the executor takes no tasks ({error}): pass one that is running") from error
    return future


def _workers_of(executor: Any) -> int:
    """The number of workers that an executor has, or as many as this machine has processors."""
    for name in ("_max_workers", "max_workers", "num_workers"):
        number = getattr(executor, name, None)
        if isinstance(number, int) and number > 0:
            return number
    return os.cpu_count() or 1


class _InProcess:
    """Threads of this process, which take the job as it is.

    As of each sender, ``workers`` is how many tasks run at the same time, as far as is known, ``digests`` are those of
    all pieces of the job, and ``fresh`` those of the pieces that the first task of each worker needs with it.
    """

    def __init__(self, executor: ThreadPoolExecutor, job: Any) -> None:
        self.executor, self.job = executor, job
        self.workers = _workers_of(executor)
        self.digests = self.fresh = ()

    def submit(self, first: int, last: int, digests: Sequence[str] = ()) -> Future[Answer]:
        """Send a task, with some pieces of the job."""
        return _submitted(self.executor, run_range, self.job, first, last)

    def renew(self) -> bool:
        """Send the pieces again, after the workers that had them ended. Whether that is possible."""
        return False


class _Folder:
    """The files of the last job that was sent to an executor. They are removed with this object."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="reshuffle-"))
        self.digests: set[str] = set()
        self.remove = finalize(self, shutil.rmtree, self.folder, ignore_errors=True)

    def keep(self, pieces: dict[str, Buffer]) -> str:
        """Write the pieces that are not yet there, and remove all others."""
        for digest in self.digests - set(pieces):
            (self.folder / digest).unlink(missing_ok=True)
        for digest in set(pieces) - self.digests:
            unfinished = self.folder / f"{digest}.part"
            unfinished.write_bytes(pieces[digest])
            unfinished.replace(self.folder / digest)
        self.digests = set(pieces)
        return str(self.folder)


_folders: MutableMapping[Any, _Folder] = WeakKeyDictionary()


def remove_files() -> None:
    """Remove the files of all jobs, before the process ends without ceremony."""
    for folder in list(_folders.values()):
        folder.remove()


class _InFiles:
    """Workers of any executor, which read the job from files."""

    def __init__(self, executor: Any, pieces: dict[str, Buffer]) -> None:
        self.executor, self.pieces = executor, pieces
        self.digests, self.fresh = tuple(pieces), ()
        self.workers = _workers_of(executor)
        try:
            if executor not in _folders:
                _folders[executor] = _Folder()
            folder = _folders[executor].keep(pieces)
        except OSError as error:
            raise InputError(
                f"the job cannot be written to the folder of temporary files: {error.strerror}: set TMPDIR to a folder "
                "with more room"
            ) from error
        self.parcel = Parcel(self.digests, folder)

    def submit(self, first: int, last: int, digests: Sequence[str] = ()) -> Future[Answer]:
        pieces = (bytes(self.pieces[digest]) for digest in digests)
        return _submitted(self.executor, run_task, self.parcel, first, last, digests, *pieces)

    def renew(self) -> bool:
        return False


# The pieces of the last job that was sent to a client, by digest.
_scattered: MutableMapping[Any, dict[str, Any]] = WeakKeyDictionary()


class _Scattered:
    """Workers of a Dask client, which has the pieces of the job sent to each of them.

    Only the first task of a worker depends on the pieces, and keeps Dask from dropping copies until then. Later Dask
    may drop or lose them, while the worker keeps the job.
    """

    def __init__(self, client: Any, pieces: dict[str, Buffer]) -> None:
        self.client, self.pieces = client, pieces
        self.executor = client.get_executor(pure=False)
        self.digests = tuple(pieces)
        self.parcel = Parcel(self.digests, None)
        self.fresh = self._scatter(_scattered.get(client, {}))

    def _scatter(self, kept: dict[str, Any]) -> list[str]:
        """Send the pieces but those that were sent before, and return their digests."""
        new = [digest for digest in self.pieces if digest not in kept]
        try:
            sent = self.client.scatter([bytes(self.pieces[digest]) for digest in new], broadcast=True, hash=False)
        except Exception as error:  # of the network, or Dask's own
            raise WorkerError(
                f"the job cannot be sent to the workers of the Dask client {quoted(self.client)}: "
                f"{type(error).__name__}: {error}: are the scheduler and the workers running?"
            ) from error
        kept = kept | dict(zip(new, sent, strict=True))
        self.futures = _scattered[self.client] = {digest: kept[digest] for digest in self.pieces}
        return new

    @property
    def workers(self) -> int:
        return max(1, int(sum(self.client.nthreads().values())))

    def submit(self, first: int, last: int, digests: Sequence[str] = ()) -> Future[Answer]:
        pieces = (self.futures[digest] for digest in digests)
        return _submitted(self.executor, run_task, self.parcel, first, last, digests, *pieces)

    def renew(self) -> bool:
        self._scatter({})
        return True


# Sends the tasks of one job to an executor.
Sender: TypeAlias = _InProcess | _InFiles | _Scattered
