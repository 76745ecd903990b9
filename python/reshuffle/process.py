"""The process around a command line: signals, standard streams, and the code that it exits with.

Imports next to nothing, so that all of this holds while larger modules are imported.
"""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NoReturn

from .errors import InputError

if TYPE_CHECKING:
    from types import FrameType

__all__ = ["BAD_INPUT", "INTERRUPTED", "OUT_OF_MEMORY", "check_room", "cleanup", "leave"]

BAD_INPUT = 2
OUT_OF_MEMORY = 3
INTERRUPTED = 128 + 2  # as shells report a process that SIGINT ended

# numpy 2 with its libraries takes 125 MiB of addresses, and a little is needed beside it.
ROOM_BYTES = 160 << 20

NO_MEMORY = "not enough memory"

_cleanups: list[Callable[[], object]] = []


@contextlib.contextmanager
def cleanup(undo: Callable[[], object]) -> Iterator[None]:
    """Calls ``undo`` if a signal ends the process during the body. Whatever else ends it is the body's business."""
    _cleanups.append(undo)
    try:
        # Only now: without anything to clean up they end a process that hangs in compiled code, too.
        with _signals_handled("SIGTERM", "SIGHUP"):
            yield
    finally:
        _cleanups.remove(undo)


def leave(command: Callable[[], int | None]) -> NoReturn:
    """Run a command line and leave with its exit code, or with that of what went wrong and one sentence about it.

    0 also if whoever reads the output has had enough; 2 for what cannot be used or written, 3 if memory runs out, 130
    after Ctrl-C. SIGTERM and SIGHUP end the process as they always do, once what is half done has been removed.
    """
    _occupy_standard_streams()
    with _signals_handled("SIGINT"):
        code, message = _run(command)
    if message:
        _complain(f"reshuffle: error: {message}\n" if code != INTERRUPTED else f"\n{message}\n")
    _drop_unwritten()
    sys.exit(code)


def _run(command: Callable[[], int | None]) -> tuple[int, str]:
    try:
        code = command() or 0
        if sys.stdout is not None:
            sys.stdout.flush()
        return code, ""
    except InputError as error:
        return BAD_INPUT, str(error)
    except KeyboardInterrupt:  # where a handler of signals is not ours to set
        return INTERRUPTED, "reshuffle: interrupted"
    except BrokenPipeError:
        return 0, ""
    except Exception as error:
        if _lacks_memory(error):
            return OUT_OF_MEMORY, _about_memory(error)
        if isinstance(error, OSError) and error.filename is None:  # files have had their sentence
            return BAD_INPUT, f"standard output cannot be written: {stdout_problem(error)}"
        raise


def stdout_problem(error: OSError | None = None) -> str | None:
    """Why nothing can be written to standard output, as far as that can be told without trying."""
    if sys.__stdout__ is None:
        return "it is closed; -o writes to a file"
    return None if error is None else error.strerror or str(error)


def _lacks_memory(error: BaseException | None) -> bool:
    """Whether it was memory that failed, in whatever words: modules may fail to be mapped, threads to be started."""
    seen: set[int] = set()  # chains of exceptions may have circles
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
    """Raise MemoryError where a limit leaves too little for numpy, whose libraries hang or end the process there."""
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


def _about_memory(error: BaseException) -> str:
    said = str(error) if isinstance(error, MemoryError) else ""
    return f"{NO_MEMORY}: {said}" if said else f"{NO_MEMORY}: fewer systems, metrics or replicates (-n) need less"


def _complain(message: str) -> None:
    """To standard error, if there is one and somebody reads it."""
    with contextlib.suppress(OSError, ValueError):
        if sys.stderr is not None:
            sys.stderr.write(message)
            sys.stderr.flush()


def _drop_unwritten() -> None:
    """What could not be written to a stream must not raise again when the interpreter flushes it at exit."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except (OSError, ValueError):
            with contextlib.suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _occupy_standard_streams() -> None:
    """Open what is closed of 0, 1 and 2, or the next file would get the number and what is written there end in it.

    What is written to standard output fails: nobody should lose a report without a word.
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
    """Handlers of our own in the place of the default ones; nohup's, a shell's in the background and others' stay."""
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
    """End the process from within the handler: an exception is lost where Python calls back, in imports above all."""
    while _cleanups:
        with contextlib.suppress(Exception):
            _cleanups.pop()()
    if number == signal.SIGINT:
        with contextlib.suppress(OSError):
            os.write(2, b"\nreshuffle: interrupted\n")
        os._exit(INTERRUPTED)
    # By the signal itself, so that whoever waits for the process is told what ended it.
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    os._exit(128 + number)
