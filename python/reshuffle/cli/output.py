"""Writing reports, atomically if to a file."""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO, TypeAlias

from ..data.files import STDIN, display_name
from ..data.reading import split_name
from ..errors import InputError
from ..report import Layout, Terminal, pieces
from ..report.terminal import stdout_width
from ..results import Comparison, Flips, SegmentTable, SetComparison
from .process import cleanup, stdout_problem

__all__ = ["Result", "Writer", "destination", "terminal"]

Result: TypeAlias = Comparison | SetComparison | SegmentTable | Flips
Writer: TypeAlias = Callable[[Result, str], object]


@contextlib.contextmanager
def destination(output: str | None, inputs: Sequence[str], layout: Layout | None = None) -> Iterator[Writer]:
    """A function that writes the report. A file is written completely or, if the body fails, not at all.

    ``layout`` has the options of the report. Its terminal is set to that of standard output if the report goes there.
    """
    layout = Layout() if layout is None else layout
    descriptor = None if output is None else _descriptor(output)
    if output is None or output == STDIN or descriptor == 1:
        if sys.__stdout__ is None:  # before the work starts
            raise InputError(f"standard output cannot be written: {stdout_problem()}")
        shown_there = replace(layout, terminal=terminal())
        yield lambda result, fmt: _write(sys.stdout, result, fmt, "standard output", shown_there)
        return
    if not output:
        raise InputError("-o: expected the name of a file, got an empty one")
    shown = display_name(output)
    with _write_errors(shown):
        if Path(output).is_dir():
            raise InputError(f"{shown} is a directory: expected the name of a file after -o")
        # A pipe, a terminal or /dev/null is written directly: it cannot be replaced by a file.
        is_stream = descriptor is not None or (Path(output).exists() and not Path(output).is_file())
    if is_stream:
        opened = _stream(output if descriptor is None else descriptor, shown)
    else:
        opened = _replacement(Path(os.path.realpath(output)), shown, inputs)
    with opened as stream:
        yield lambda result, fmt: _write(stream, result, fmt, shown, layout)


def _descriptor(output: str) -> int | None:
    """The file descriptor that a path such as /dev/stdout stands for, which cannot always be opened again."""
    if os.name == "nt":
        return None
    found = re.fullmatch(r"/(?:dev/fd|proc/self/fd)/(\d{1,9})", output)
    return int(found[1]) if found else {"/dev/stdout": 1, "/dev/stderr": 2}.get(output)


@contextlib.contextmanager
def _write_errors(shown: str) -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:  # the reader has closed the pipe
        raise
    except OSError as error:
        raise InputError(f"{shown} cannot be written: {error.strerror or error}") from None


@contextlib.contextmanager
def _stream(path: str | int, shown: str, mode: str = "w") -> Iterator[IO[str]]:
    with _write_errors(shown):
        # Duplicate open descriptors: opening the path again could overwrite what other programs write there.
        stream = open(os.dup(path) if isinstance(path, int) else path, mode, encoding="utf-8", newline="\n")  # noqa: SIM115
    try:
        yield stream
        with _write_errors(shown):
            stream.close()
    finally:
        with contextlib.suppress(OSError):
            stream.close()


@contextlib.contextmanager
def _replacement(target: Path, shown: str, inputs: Sequence[str]) -> Iterator[IO[str]]:
    """A temporary file next to the target, which replaces it at the end."""
    with _write_errors(shown):
        exists = target.exists()
        for path, _ in map(split_name, inputs):
            if path != STDIN and exists and os.path.exists(path) and target.samefile(path):  # noqa: PTH110
                raise InputError(f"{shown} is also an input and would be overwritten: choose another name for -o")
        if exists and not os.access(target, os.W_OK):
            raise InputError(f"{shown} cannot be written: Permission denied")
    part = target.with_name(f".{target.name}.{os.getpid()}.part")

    def remove() -> None:
        with contextlib.suppress(OSError):  # such as on a read-only file system
            part.unlink(missing_ok=True)

    with cleanup(remove):
        try:
            with _stream(str(part), shown, "x") as stream:
                yield stream
            with _write_errors(shown):
                if exists:
                    part.chmod(target.stat().st_mode & 0o7777)
                part.replace(target)
        finally:
            remove()


def _write(stream: IO[str], result: Result, fmt: str, shown: str, layout: Layout) -> None:
    """Write a result piece by piece: one string of all segments of all systems would be large."""
    rendered = pieces(result, fmt, layout)
    with _write_errors(shown):
        stream.writelines(rendered)
        stream.flush()


def terminal() -> Terminal:
    """The width and colours of standard output."""
    width = stdout_width()
    return Terminal() if width is None else Terminal(width, "NO_COLOR" not in os.environ)
