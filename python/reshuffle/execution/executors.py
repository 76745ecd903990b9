"""The executors that users pass, and those that the command line makes."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ..errors import InputError, WorkerError, quoted

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor

# The names of the command line; DASK is followed by an address.
THREADS, PROCESSES, DASK = "threads", "processes", "dask://"
EXECUTORS = (THREADS, PROCESSES, f"{DASK}HOST:PORT")

# How long a scheduler may take to answer, and its first worker to come: queues start them one after the other.
CONNECT_SECONDS = 10
WORKER_SECONDS = 120


def check_executor(executor: Any) -> None:
    """:class:`InputError` for what is neither None nor an executor nor has one."""
    if executor is None:
        return
    if not isinstance(executor, type):
        if callable(getattr(executor, "submit", None)) or callable(getattr(executor, "get_executor", None)):
            return
    elif hasattr(executor, "submit"):
        raise InputError(f"executor: expected an executor, got the class {executor.__name__}: call it")
    raise InputError(
        "executor: expected an executor of concurrent.futures, an object with get_executor() such as a Dask client, or "
        f"None, got {quoted(executor)}"
    )


def check_name_of_executor(name: str) -> str:
    """The name of an executor on the command line. :class:`InputError` for what is none.

    >>> check_name_of_executor("dask://localhost:8786")
    'dask://localhost:8786'
    """
    if name in (THREADS, PROCESSES):
        return name
    host, colon, port = name.removeprefix(DASK).rpartition(":")
    if not name.startswith(DASK):
        raise InputError(f"unknown executor {quoted(name)}: expected {', '.join(EXECUTORS[:-1])} or {EXECUTORS[-1]}")
    is_port = port.isascii() and port.isdigit() and int(port[:6]) < 1 << 16
    if not (host and colon and is_port) or set(host) & set("/ \t"):
        raise InputError(f"executor {quoted(name)}: expected the address of a Dask scheduler, as dask://localhost:8786")
    return name


@contextlib.contextmanager
def opened(name: str | None, threads: int | None = None) -> Iterator[Any]:
    """The executor of this name, while the body runs; None for threads of this process.

    ``threads`` is the number of processes, by default one for each processor. :class:`InputError` if a scheduler cannot
    be reached, or a package is missing; :class:`WorkerError` if the scheduler ends.
    """
    if name is None or name == THREADS:
        yield None
        return
    check_name_of_executor(name)
    if name.startswith(DASK):
        with _dask_client(name.removeprefix(DASK)) as client:
            yield client
        return
    pool = process_pool(threads or processors())
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
            f"--executor {DASK}{address} needs the package distributed: pip install 'reshuffle[cluster]'"
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
