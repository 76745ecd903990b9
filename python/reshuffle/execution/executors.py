"""The executors that users pass, and those that the command line makes."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any

from ..errors import InputError, WorkerError, quoted
from ..validate import MAX_THREADS, check_integer

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor

# The names of the command line; DASK is followed by an address.
PROCESSES, DASK = "processes", "dask://"

# How long a scheduler may take to answer, and its first worker to come: queues start them one after the other.
CONNECT_SECONDS = 10
WORKER_SECONDS = 120


def check_workers(name: str, workers: Any) -> None:
    """:class:`InputError` for what is neither None nor a number of threads nor an executor, nor has one."""
    if isinstance(workers, Integral) and not isinstance(workers, bool):
        check_integer(name, workers, 1, MAX_THREADS)
        return
    if workers is None or isinstance(workers, NamedWorkers):
        return
    if not isinstance(workers, type):
        if callable(getattr(workers, "submit", None)) or callable(getattr(workers, "get_executor", None)):
            return
    elif hasattr(workers, "submit"):
        raise InputError(f"{name}: expected an executor, got the class {workers.__name__}: call it")
    raise InputError(
        f"{name}: expected a number of threads, an executor of concurrent.futures, an object with get_executor() such "
        f"as a Dask client, or None for all cores, got {quoted(workers)}"
    )


@dataclass(frozen=True)
class NamedWorkers:
    """An executor of the command line, which is not open yet: processes or, with an address, those of Dask."""

    address: str = ""
    number: int | None = None

    @classmethod
    def from_text(cls, text: str) -> NamedWorkers:
        """The executor of this name. :class:`InputError` if there is none.

        >>> NamedWorkers.from_text("dask://localhost:8786"), NamedWorkers.from_text("processes:4").number
        (NamedWorkers(address='localhost:8786', number=None), 4)
        """
        name, colon, number = text.partition(":")
        if name == PROCESSES:
            if colon and not (number.isascii() and number.isdigit() and len(number) <= len(str(MAX_THREADS))):
                raise InputError(f"--workers {quoted(text)}: expected a number of processes, as {PROCESSES}:4")
            return cls(number=check_integer(f"--workers {PROCESSES}", int(number), 1, MAX_THREADS) if colon else None)
        address = text.removeprefix(DASK)
        host, colon, port = address.rpartition(":")
        if not text.startswith(DASK):
            raise InputError(
                f"--workers: expected a number of threads, or {PROCESSES}, {PROCESSES}:N or {DASK}HOST:PORT, got "
                f"{quoted(text)}"
            )
        is_port = port.isascii() and port.isdigit() and int(port[:6]) < 1 << 16
        if not (host and colon and is_port) or set(host) & set("/ \t"):
            raise InputError(
                f"--workers {quoted(text)}: expected the address of a Dask scheduler, as dask://localhost:8786"
            )
        return cls(address)

    @contextlib.contextmanager
    def opened(self) -> Iterator[Any]:
        """The executor, while the body runs.

        :class:`InputError` if a scheduler cannot be reached, or a package is missing; :class:`WorkerError` if the
        scheduler ends.
        """
        if self.address:
            with _dask_client(self.address) as client:
                yield client
            return
        pool = process_pool(self.number or processors())
        try:
            yield pool
        except BaseException:
            stop(pool)
            raise
        pool.shutdown()


def processors() -> int:
    """The number of processors that this process may use."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def process_pool(workers: int) -> ProcessPoolExecutor:
    """New processes, which are all being started. They end with this process, however it ends, and not by Ctrl-C."""
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    with _interrupts_blocked():
        _start_quiet_tracker()
        pool = ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), initializer=_in_worker)
        for _ in range(workers):
            pool.submit(_nothing)
    return pool


def stop(pool: ProcessPoolExecutor) -> None:
    """End the processes of a pool at once."""
    processes = list((getattr(pool, "_processes", None) or {}).values())
    pool.shutdown(wait=False, cancel_futures=True)
    for process in processes:
        with contextlib.suppress(OSError, ValueError):
            process.terminate()


@contextlib.contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Block SIGINT for processes that are started in the body. Here it is delivered after the body."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _start_quiet_tracker() -> None:
    """Start the process that removes semaphores if this process ends by a signal; by default it complains of them."""
    from multiprocessing import resource_tracker

    before = os.environ.get("PYTHONWARNINGS")
    own = "ignore::UserWarning:multiprocessing.resource_tracker"
    os.environ["PYTHONWARNINGS"] = f"{before},{own}" if before else own
    try:
        resource_tracker.ensure_running()
    finally:
        os.environ.pop("PYTHONWARNINGS")
        if before is not None:
            os.environ["PYTHONWARNINGS"] = before


def _nothing() -> None:
    """A task that starts a process."""


def _in_worker() -> None:
    """Prepare a process of :func:`process_pool`: the terminal's Ctrl-C is for its parent, whose end ends it."""
    import multiprocessing
    import threading

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()

    def end_with_parent() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=end_with_parent, name="reshuffle-parent", daemon=True).start()
    from . import worker  # noqa: F401 - while the submitting process prepares the job


def imported_dask(address: str) -> Any:
    """The package of Dask clusters. :class:`InputError` if it is not installed."""
    try:
        import distributed
    except ImportError:
        raise InputError(
            f"--workers {DASK}{address} needs the package distributed: pip install 'reshuffle[cluster]'"
        ) from None
    return distributed


@contextlib.contextmanager
def _dask_client(address: str) -> Iterator[Any]:
    """A client of the scheduler at this address."""
    import asyncio
    import logging

    distributed = imported_dask(address)
    # These log tracebacks besides the one sentence, also while the client closes.
    for name in ("distributed", "distributed.client", "tornado.application", "asyncio"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        # Dask's own timeout ends before the scheduler's first message, for which it would wait forever.
        asyncio.run(asyncio.wait_for(_reached(f"tcp://{address}"), CONNECT_SECONDS))
        client = distributed.Client(f"tcp://{address}", timeout=CONNECT_SECONDS, set_as_default=False)
    except Exception:  # of the network; other servers can make Dask raise anything
        raise InputError(
            f"no Dask scheduler answers at {address}: start one with 'dask scheduler', or check the address"
        ) from None
    try:
        try:
            client.wait_for_workers(1, timeout=WORKER_SECONDS)
        except (TimeoutError, distributed.TimeoutError):  # two classes before Python 3.11
            raise InputError(
                f"the Dask scheduler at {address} has no workers: start some with 'dask worker {address}'"
            ) from None
        except Exception as error:
            raise WorkerError(
                f"the Dask scheduler at {address} ended before it had workers ({type(error).__name__}: {error}): start "
                "it again"
            ) from error
        yield client
    finally:
        with contextlib.suppress(Exception):  # the scheduler may be gone, and what is to be known is known
            client.close()


async def _reached(address: str) -> None:
    """Connect to a scheduler once. A client that fails at this would complain again when it is deleted."""
    from distributed.comm import connect

    comm = await connect(address, timeout=CONNECT_SECONDS)
    comm.abort()
