"""Writing reports, atomically if to a file."""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO, Any, TypeAlias, get_args

import click

from .. import types
from ..data.files import STDIN, display_name
from ..data.reading import split_name
from ..errors import InputError
from ..report import Layout, Terminal, pieces
from ..report.terminal import stdout_width
from ..results import Comparison, Flips, SegmentTable, SetComparison
from ..results.studies import StudyResult
from .params import COMMAND_LINE
from .process import cleanup, stdout_problem

__all__ = [
    "Result",
    "Writer",
    "binary_destination",
    "chosen_format",
    "chosen_output",
    "destination",
    "stream_destination",
    "terminal",
]

Result: TypeAlias = Comparison | SetComparison | SegmentTable | Flips | StudyResult
Writer: TypeAlias = Callable[[Result], object]

# The format that the ending of a file names.
ENDINGS: Mapping[str, str] = {
    ".json": "json",
    ".csv": "csv",
    ".md": "markdown",
    ".tex": "latex",
    ".typ": "typst",
    ".html": "html",
    ".tsv": "tsv",
    ".jsonl": "jsonl",
}


def chosen_format(fmt: str | None, output: str | None, known: Collection[str], default: str) -> str:
    """The format of ``--format``, else that of the ending of the output file if it is one of ``known``, else a default.

    >>> [chosen_format(None, name, ("text", "json"), "text") for name in ("a.json", "a.JSON", "a.csv", "json", None)]
    ['json', 'json', 'text', 'text', 'text']
    """
    if fmt is not None:
        return fmt
    ending = ENDINGS.get(Path(output or "").suffix.lower(), default)
    return ending if ending in known else default


def chosen_output(options: dict[str, Any]) -> tuple[str, str | None, Layout]:
    """Take the format, the file and the layout of the report out of ``options``."""
    fmt, output, table = options.pop("fmt"), options.pop("output"), options.pop("table")
    fmt = chosen_format(fmt, output, get_args(types.Format), "text")
    if table is not None and fmt != "csv":
        raise InputError(f"--table is for the format csv, not {fmt}: leave it out, or add --format csv")
    return fmt, output, Layout(table=table, command=click.get_current_context().meta[COMMAND_LINE])


@contextlib.contextmanager
def destination(
    output: str | None,
    inputs: Sequence[str],
    fmt: str = "text",
    layout: Layout | None = None,
    tables: Sequence[str] = (),
) -> Iterator[Writer]:
    """A function that writes the report. Files are written completely or, if the body fails, not at all.

    ``layout`` has the options of the report. Its terminal is set to that of standard output if the report goes there.
    If there are ``tables``, each goes to a file of its own, which has the name of the table before the ending.
    """
    layout = Layout() if layout is None else layout
    descriptor = None if output is None else _descriptor(output)
    if output is None or output == STDIN or descriptor == 1:
        if sys.__stdout__ is None:  # before the work starts
            raise InputError(f"standard output cannot be written: {stdout_problem()}")
        shown_there = replace(layout, terminal=terminal())
        yield lambda result: _write(sys.stdout, result, fmt, "standard output", shown_there)
        return
    shown = display_name(output)
    if _is_stream(output, shown):
        with _stream(output if descriptor is None else descriptor, shown) as stream:
            yield lambda result: _write(stream, result, fmt, shown, layout)
        return
    path = Path(output)
    layouts = {str(path.with_name(f"{path.stem}.{t}{path.suffix}")): replace(layout, table=t) for t in tables}
    layouts = layouts or {output: layout}
    with _replacements(list(layouts), inputs) as streams:

        def write(result: Result) -> None:
            for (file, its_layout), stream in zip(layouts.items(), streams, strict=True):
                _write(stream, result, fmt, display_name(file), its_layout)

        yield write


@contextlib.contextmanager
def stream_destination(output: str, inputs: Sequence[str]) -> Iterator[IO[bytes]]:
    """A file to write bytes to. If the body fails, the file of this name is left as it was."""
    shown = display_name(output)
    with contextlib.ExitStack() as stack:
        if _is_stream(output, shown):
            stream: IO[Any] = stack.enter_context(_stream(output, shown, "wb"))
        else:
            (stream,) = stack.enter_context(_replacements([output], inputs, "xb"))
        with _write_errors(shown):
            yield stream
            stream.flush()


@contextlib.contextmanager
def binary_destination(output: str, inputs: Sequence[str]) -> Iterator[Callable[[bytes], object]]:
    """Yields a function that writes bytes to a file. If the body fails, the file is left as it was."""
    shown = display_name(output)
    with contextlib.ExitStack() as stack:
        if _is_stream(output, shown):
            stream: IO[Any] = stack.enter_context(_stream(output, shown, "wb"))
        else:
            (stream,) = stack.enter_context(_replacements([output], inputs, "xb"))

        def write(content: bytes) -> None:
            with _write_errors(shown):
                stream.write(content)
                stream.flush()

        yield write


def _is_stream(output: str, shown: str) -> bool:
    """Whether to write to ``output`` directly: a pipe, a terminal or /dev/null cannot be replaced by a file."""
    if not output:
        raise InputError("-o: expected the name of a file, got an empty one")
    with _write_errors(shown):
        if Path(output).is_dir():
            raise InputError(f"{shown} is a directory: expected the name of a file after -o")
        return _descriptor(output) is not None or (Path(output).exists() and not Path(output).is_file())


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
def _stream(path: str | int, shown: str, mode: str = "w") -> Iterator[IO[Any]]:
    # Names from JSON may have half of a surrogate pair, which standard output escapes in the same way.
    text: dict[str, Any] = {"encoding": "utf-8", "errors": "backslashreplace", "newline": "\n"}
    with _write_errors(shown):
        # Duplicate open descriptors: opening the path again could overwrite what other programs write there.
        target = os.dup(path) if isinstance(path, int) else path
        stream = open(target, mode, **({} if "b" in mode else text))  # noqa: SIM115
    try:
        yield stream
        with _write_errors(shown):
            stream.close()
    finally:
        with contextlib.suppress(OSError):
            stream.close()


@contextlib.contextmanager
def _replacements(paths: Sequence[str], inputs: Sequence[str], mode: str = "x") -> Iterator[list[IO[Any]]]:
    """A temporary file next to each target. At the end, when all of them are complete, they replace the targets."""
    targets = [Path(os.path.realpath(path)) for path in paths]
    shown = [display_name(path) for path in paths]
    for target, name in zip(targets, shown, strict=True):
        _check_target(target, name, inputs)
    parts = [target.with_name(f".{target.name}.{os.getpid()}.part") for target in targets]

    def remove() -> None:
        for part in parts:
            with contextlib.suppress(OSError):  # such as on a read-only file system
                part.unlink(missing_ok=True)

    with cleanup(remove):
        try:
            with contextlib.ExitStack() as stack:
                opened = zip(parts, shown, strict=True)
                yield [stack.enter_context(_stream(str(part), name, mode)) for part, name in opened]
            for target, part, name in zip(targets, parts, shown, strict=True):
                with _write_errors(name):
                    if target.exists():
                        part.chmod(target.stat().st_mode & 0o7777)
                    part.replace(target)
        finally:
            remove()


def _check_target(target: Path, shown: str, inputs: Sequence[str]) -> None:
    """Raise :class:`InputError` for a file that must not or cannot be replaced."""
    with _write_errors(shown):
        if not target.exists():
            return
        for path, _ in map(split_name, inputs):
            if path != STDIN and os.path.exists(path) and target.samefile(path):  # noqa: PTH110
                raise InputError(f"{shown} is also an input and would be overwritten: choose another name for -o")
        if not target.is_file():
            raise InputError(f"{shown} is not a file and cannot be replaced: choose another name for -o")
        if not os.access(target, os.W_OK):
            raise InputError(f"{shown} cannot be written: Permission denied")


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
