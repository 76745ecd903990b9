"""The process of a command line: signals, standard streams and exit codes.

Imports next to nothing, so that signals are handled while larger modules are imported.
"""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, NoReturn

from ..errors import InputError, WorkerError
from ..leftovers import leftover, undo_all

if TYPE_CHECKING:
    from types import FrameType

DIFFERENT = 1  # as diff and cmp
REJECTED = 1  # by a gate
BAD_INPUT = 2
OUT_OF_MEMORY = 3
WORKER_FAILED = 4
INCONCLUSIVE = 5
INTERRUPTED = 128 + 2  # as shells report the end by SIGINT
# What each code means, as docs/guide/files.md and 'reshuffle explain exit-code' have it.
EXIT_CODES: Mapping[int, str] = {
    0: "success, also if the reader of standard output closes the pipe: gate and verify keep their codes",
    REJECTED: "'reshuffle gate' rejects, or 'reshuffle verify' found differences; Python itself also ends with 1 "
    "after an unexpected error",
    BAD_INPUT: "arguments or input cannot be used, or output cannot be written",
    OUT_OF_MEMORY: "not enough memory",
    WORKER_FAILED: "a worker or the scheduler of --workers failed or ended",
    INCONCLUSIVE: "'reshuffle gate' is inconclusive",
    INTERRUPTED: "interrupted by Ctrl-C",
}

# numpy 2 with its libraries takes 125 MiB of address space; the rest is needed besides.
ROOM_BYTES = 160 << 20

NO_MEMORY = "not enough memory"


@contextlib.contextmanager
def cleanup(undo: Callable[[], object] | None = None) -> Iterator[None]:
    """Call ``undo``, and undo other leftovers, if a signal ends the process during the body.

    After errors the body cleans up itself.
    """
    noted = contextlib.nullcontext() if undo is None else leftover(undo)
    # Handlers only for the body: the default ones also end a process that hangs in compiled code.
    with noted, _signals_handled("SIGTERM", "SIGHUP"):
        yield


def leave(command: Callable[[], int | None]) -> NoReturn:
    """Run a command line and exit with its code, or with that of an error and one sentence about it.

    The codes are :data:`EXIT_CODES`. SIGTERM and SIGHUP end the process as usual, after unfinished files have been
    removed.
    """
    _occupy_standard_streams()
    with _signals_handled("SIGINT"):
        code, message = _run(command)
    if message:
        _complain(f"reshuffle: error: {message}\n" if code != INTERRUPTED else f"\n{message}\n")
    _drop_unwritten()
    sys.exit(code)


def _run(command: Callable[[], int | None]) -> tuple[int, str]:
    code = 0
    try:
        code = command() or 0
        if sys.stdout is not None:
            sys.stdout.flush()
        return code, ""
    except InputError as error:
        return BAD_INPUT, str(error.with_flags())
    except WorkerError as error:
        return WORKER_FAILED, str(error)
    except KeyboardInterrupt:  # where our signal handler is not installed
        return INTERRUPTED, "reshuffle: interrupted"
    except BrokenPipeError:
        return code, ""
    except Exception as error:
        if _lacks_memory(error):
            said = str(error) if isinstance(error, MemoryError) else ""
            return OUT_OF_MEMORY, f"{NO_MEMORY}: {said or 'fewer systems, metrics or replicates (-n) need less'}"
        if isinstance(error, FileNotFoundError) and error.filename is None:  # from os.getcwd()
            return BAD_INPUT, "the current folder does not exist any more: change to another one (cd)"
        if isinstance(error, OSError) and error.filename is None:  # errors about files are InputErrors
            return BAD_INPUT, f"standard output cannot be written: {stdout_problem(error)}"
        raise


def stdout_problem(error: OSError | None = None) -> str | None:
    """Why standard output cannot be written: it is closed, or the reason in ``error``; None if neither is known."""
    if sys.__stdout__ is None:
        return "it is closed; use -o to write to a file"
    return None if error is None else error.strerror or str(error)


def _lacks_memory(error: BaseException | None) -> bool:
    """Whether memory ran out, in any form: it may also keep modules from being mapped or threads from starting."""
    seen: set[int] = set()  # chains of exceptions may be circular
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM):
            return True
        signs = ("Cannot allocate memory", "failed to map segment", "can't start new thread")
        if isinstance(error, ImportError | RuntimeError) and any(sign in str(error) for sign in signs):
            return True
        error = error.__cause__ or error.__context__
    return False


def check_room() -> None:
    """Raise MemoryError if ``ulimit -v`` leaves too little for numpy, whose libraries would hang or abort."""
    try:
        import resource
    except ImportError:  # Windows has no such limits
        return
    if resource.getrlimit(resource.RLIMIT_AS)[0] == resource.RLIM_INFINITY:
        return
    import mmap

    try:
        mmap.mmap(-1, ROOM_BYTES).close()
    except OSError:
        raise MemoryError(
            f"the limit on the address space (ulimit -v) leaves less than {ROOM_BYTES >> 20} MiB; raise it"
        ) from None


def single_threaded_blas() -> None:
    """Have numpy's OpenBLAS start no threads: they wait busily and take the processors from the core's threads."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def _complain(message: str) -> None:
    """Write to standard error, if it is open and somebody reads it."""
    with contextlib.suppress(OSError, ValueError):
        if sys.stderr is not None:
            sys.stderr.write(message)
            sys.stderr.flush()


def _drop_unwritten() -> None:
    """Drop what could not be written to a stream, so that flushing it at exit does not raise again."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except (OSError, ValueError):
            with contextlib.suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _occupy_standard_streams() -> None:
    """Open those of the descriptors 0, 1 and 2 that are closed, so that no other file gets their numbers and output.

    Standard output is opened for reading, so that writing to it fails and a report is not lost silently.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            with contextlib.suppress(OSError):
                os.open(os.devnull, os.O_RDONLY if descriptor == 1 else os.O_RDWR)
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115


@contextlib.contextmanager
def _signals_handled(*names: str) -> Iterator[None]:
    """Replace the default signal handlers only: signals that nohup or a shell ignores stay ignored."""
    before = {}
    for name in names:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
            with contextlib.suppress(ValueError):  # not in the main thread
                before[number] = signal.signal(number, _end)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _end(number: int, frame: FrameType | None) -> None:
    """End the process from within the handler: an exception could get lost in callbacks, above all in imports."""
    undo_all()
    if number == signal.SIGINT:
        with contextlib.suppress(OSError):
            os.write(2, b"\nreshuffle: interrupted\n")
        os._exit(INTERRUPTED)
    # By the signal itself, so that the parent process sees which signal ended it.
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    os._exit(128 + number)
