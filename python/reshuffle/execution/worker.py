"""What runs in the workers of an executor.

A worker keeps the last job, so that a job travels once. It runs one thread, and never raises: failures are results, so
that each executor brings them back in the same way.
"""

from __future__ import annotations

import contextlib
import hashlib
import mmap
import os
import pickle
import platform
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from .. import _core
from ..errors import InputError

# What a pickled job consists of; anything with the buffer protocol.
Buffer: TypeAlias = Any


@dataclass(frozen=True)
class Parcel:
    """Where a worker finds a pickled job."""

    digests: tuple[str, ...]
    """Those of its pieces: the pickle, then the large arrays, which are kept apart."""
    folder: str | None
    """Where each piece is a file, named by its digest, on the machine of the submitting process. None if the pieces
    come with each task.
    """
    version: str = _core.VERSION
    """That of the package: other versions may compute something else."""


class Finished(NamedTuple):
    """The result of a range, the time that it took, and the worker that computed it."""

    result: Any
    seconds: float
    worker: str


class Failed(NamedTuple):
    """An exception, which is passed on only if it is an :class:`InputError`, and its text and traceback."""

    error: InputError | None
    text: str
    trace: str


class Missing(NamedTuple):
    """The worker does not see the files of the job."""

    worker: str


Answer: TypeAlias = "Finished | Failed | Missing"


class _Kept(NamedTuple):
    digests: tuple[str, ...]
    job: Any
    buffers: dict[str, Buffer]


# The last job of this process.
_kept: _Kept | None = None


def digest_of(piece: Buffer) -> str:
    """The digest of the bytes of a piece, as a name."""
    return hashlib.blake2b(piece, digest_size=20).hexdigest()


def run_task(parcel: Parcel, first: int, last: int, digests: Sequence[str] = (), *pieces: Buffer) -> Answer:
    """Compute a range of a job, in a worker. Some pieces of the parcel may come with the task."""

    def compute() -> Answer:
        if parcel.version != _core.VERSION:
            raise InputError(
                f"the worker has reshuffle {_core.VERSION}, but the job is from {parcel.version}: install the same "
                "version for both"
            )
        job = _job_of(parcel, dict(zip(digests, pieces, strict=True)))
        return Missing(_name()) if job is None else run_range(job, first, last)

    return _caught(compute)


def run_range(job: Any, first: int, last: int) -> Answer:
    """Compute a range of a job on one thread."""

    def compute() -> Answer:
        start = time.perf_counter()
        result = job.run(first, last, 1, None)
        return Finished(result, time.perf_counter() - start, _name())

    return _caught(compute)


def _name() -> str:
    """A name of this process that no other worker has."""
    return f"{platform.node()}:{os.getpid()}"


def _caught(compute: Callable[[], Answer]) -> Answer:
    try:
        return compute()
    except InputError as error:
        return Failed(error, str(error), "")
    except Exception as error:
        text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        return Failed(None, text, traceback.format_exc())


def _job_of(parcel: Parcel, found: dict[str, Buffer]) -> Any:
    """The job, or None if a piece of it is nowhere to be found."""
    global _kept
    kept = _kept
    if kept is not None and kept.digests == parcel.digests:
        return kept.job
    for digest in parcel.digests:
        if digest in found:
            continue
        piece = kept.buffers[digest] if kept is not None and digest in kept.buffers else _read(parcel.folder, digest)
        if piece is None:
            return None
        found[digest] = piece
    head, *arrays = (found[digest] for digest in parcel.digests)
    job = pickle.loads(head, buffers=arrays)
    _kept = _Kept(parcel.digests, job, found)
    return job


def _read(folder: str | None, digest: str) -> Buffer | None:
    """A piece from its file, or None if there is no such file, or another machine has one of this name."""
    if folder is None:
        return None
    with contextlib.suppress(OSError, ValueError), (Path(folder) / digest).open("rb") as file:
        # Windows does not remove files that are mapped. Elsewhere the workers of a machine share the memory.
        piece = file.read() if os.name == "nt" else mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        if digest_of(piece) == digest:
            return piece
    return None
