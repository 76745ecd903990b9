"""What this process would leave behind if a signal ended it at once: unfinished files, folders, programs it started.

Only the command line handles signals, by ending the process from within the handler (:mod:`reshuffle.cli.process`). So
what has to be undone is noted here while it exists, by whoever makes it.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from .errors import writing

_undo: list[Callable[[], object]] = []


@contextlib.contextmanager
def leftover(undo: Callable[[], object]) -> Iterator[None]:
    """Have :func:`undo_all` call ``undo`` during the body, which cleans up itself however it ends."""
    _undo.append(undo)
    try:
        yield
    finally:
        _undo.remove(undo)


@contextlib.contextmanager
def opened(path: str | int, shown: str, mode: str = "w") -> Iterator[IO[Any]]:
    """A file to write to, or an open descriptor. ``shown`` is its name in errors.

    A pipe that nobody reads is closed without an error, which writing to it has raised.
    """
    # Names from JSON may have half of a surrogate pair, which standard output escapes in the same way.
    text: dict[str, Any] = {"encoding": "utf-8", "errors": "backslashreplace", "newline": "\n"}
    with writing(shown):
        # Duplicate open descriptors: opening the path again could overwrite what other programs write there.
        target = os.dup(path) if isinstance(path, int) else path
        stream = open(target, mode, **({} if "b" in mode else text))  # noqa: SIM115
    try:
        yield stream
        with writing(shown), contextlib.suppress(BrokenPipeError):
            stream.close()
    finally:
        with contextlib.suppress(OSError):
            stream.close()


@contextlib.contextmanager
def replacements(paths: Mapping[str, str], mode: str = "xb") -> Iterator[list[IO[Any]]]:
    """A temporary file next to each target. At the end, when all of them are complete, they replace the targets.

    ``paths`` have the names that errors show.
    """
    targets = [Path(os.path.realpath(path)) for path in paths]
    parts = [target.with_name(f".{target.name}.{os.getpid()}.part") for target in targets]

    def remove() -> None:
        for part in parts:
            with contextlib.suppress(OSError):  # such as on a read-only file system
                part.unlink(missing_ok=True)

    with leftover(remove):
        try:
            with contextlib.ExitStack() as stack:
                named = zip(parts, paths.values(), strict=True)
                yield [stack.enter_context(opened(str(part), name, mode)) for part, name in named]
            for target, part, name in zip(targets, parts, paths.values(), strict=True):
                with writing(name):
                    if target.exists():
                        part.chmod(target.stat().st_mode & 0o7777)
                    part.replace(target)
        finally:
            remove()


def undo_all() -> None:
    """Undo everything, the newest first."""
    while _undo:
        with contextlib.suppress(Exception):
            _undo.pop()()
