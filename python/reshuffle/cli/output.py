"""Writing reports, atomically if to a file."""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeAlias, get_args

import click

from .. import types
from ..data.files import STDIN, check_stdin, display_name, writing
from ..data.reading import split_name
from ..errors import InputError, either, printable, shortened
from ..report import PAPERS, WITH_METHODS, Layout, Terminal, pieces
from ..report.terminal import stdout_width
from ..report.wording import joined
from ..results import Comparison, Flips, Gate, SegmentTable, SetComparison
from ..results.studies import StudyResult
from .input_files import input_files
from .params import COMMAND_LINE
from .process import cleanup, stdout_problem

Result: TypeAlias = Comparison | SetComparison | SegmentTable | Flips | Gate | StudyResult
Writer: TypeAlias = Callable[[Result], object]

# Formats that have the digests of the files that the result was read from.
WITH_INPUTS = ("json", "html")
# The key of a context for a function that gets the digests before anything is computed.
ON_INPUTS = "reshuffle.inputs"
# What a paper cites, beside its table.
BIBTEX = "bibtex"
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
    ".xml": "junit",
}


@dataclass(frozen=True)
class Reports:
    """Where to write a report, and as what."""

    files: tuple[tuple[str | None, str], ...] = ((None, "text"),)
    """Each file and its format. None is standard output."""
    paper: Path | None = None
    """The folder of a paper."""

    @classmethod
    def chosen(cls, fmt: str | None, outputs: Sequence[str], known: Sequence[str], default: str) -> Reports:
        """The files of ``-o``, in the format of ``--format`` or else of their endings.

        A file without an ending, or with that of plain text, has the default format. :class:`InputError` for an ending
        that is not that of one of the ``known`` formats.

        >>> Reports.chosen(None, ["a.json", "a.HTML", "a"], ("text", "json", "html"), "text").files
        (('a.json', 'json'), ('a.HTML', 'html'), ('a', 'text'))
        """
        by_ending = {"": default, ".txt": default, **{end: name for end, name in ENDINGS.items() if name in known}}
        for output in outputs:
            ending = Path(output).suffix.lower()
            if fmt is None and ending not in by_ending and _descriptor(output) is None:
                raise InputError(
                    f"-o {shortened(display_name(output))}: no format has the ending {shortened(ending)}; use "
                    f"{either([end for end in by_ending if end])}, or add --format"
                )
        files = [(output, fmt or by_ending.get(Path(output).suffix.lower(), default)) for output in outputs]
        return cls(tuple(files) or ((None, fmt or default),))

    @classmethod
    def taken(cls, options: dict[str, Any], known: Sequence[str], default: str = "text") -> Reports:
        """As :meth:`chosen`, from the options of a command, of which those of output are taken out."""
        chosen = cls.chosen(options.pop("fmt"), options.pop("outputs"), known, default)
        return replace(chosen, paper=_paper(options.pop("paper", None)))

    @property
    def formats(self) -> list[str]:
        """The formats, without repetitions."""
        return list(dict.fromkeys(fmt for _, fmt in self.files))

    def check(self, option: str, formats: Collection[str], add: str) -> None:
        """Raise :class:`InputError` if no report has one of the formats that an option is for."""
        if not {*formats} & {*self.formats}:
            plural = "s" if len(formats) > 1 else ""
            raise InputError(
                f"{option} is for the format{plural} {joined(formats)}, not {either(self.formats)}: leave it out{add}"
            )


def chosen_output(options: dict[str, Any]) -> tuple[Reports, Layout]:
    """Take the format, the files and the layout of the report out of ``options``."""
    reports, table = Reports.taken(options, get_args(types.Format)), options.pop("table")
    if table is not None:
        reports.check("--table", ["csv"], ", or add --format csv")
    return reports, Layout(table=table, full=chosen_full(options, reports))


def chosen_full(options: dict[str, Any], reports: Reports) -> bool:
    """Take ``--full`` out of ``options``; :class:`InputError` if no report is as text."""
    full: bool = options.pop("full", False)
    if full:
        reports.check("--full", ["text"], ": other formats have everything")
    return full


@contextlib.contextmanager
def destination(
    reports: Reports,
    inputs: Sequence[str],
    layout: Layout | None = None,
    tables: Sequence[str] = (),
    others: Sequence[str] = (),
) -> Iterator[Writer]:
    """A function that writes the reports. Files are written completely or, if the body fails, not at all.

    ``inputs`` are the paths that the body reads results from, and ``others`` those that must not be replaced either.
    The digests of inputs are computed now: results may take hours, in which files change.
    ``layout`` has the options of the reports. Its terminal is set to that of standard output for a report there, and
    its command to that of this process unless it has one. Each of the ``tables`` of CSV goes to a file of its own,
    which has the name of the table before the ending, unless the layout names one.
    """
    check_stdin(list(inputs).count(STDIN))
    layout = layout or Layout()
    if layout.command is None:
        layout = replace(layout, command=click.get_current_context().meta[COMMAND_LINE])
    every = [part for output, fmt in reports.files for part in _parts(output, fmt, layout, tables)]
    # FILE.tex and FILE.typ have the same entries.
    parts = [part for n, part in enumerate(every) if part.fmt != BIBTEX or part not in every[:n]]
    _check_different([part.output for part in parts])
    files = [str(part.output) for part in parts if part.output is not None and not part.is_stream]
    needs_inputs = reports.paper is not None or any(part.fmt in WITH_INPUTS for part in parts)
    read = input_files(inputs) if needs_inputs else ()
    if (on_inputs := click.get_current_context().meta.get(ON_INPUTS)) is not None:
        on_inputs(read)
    kept = [*inputs, *others]
    with contextlib.ExitStack() as stack:
        opened: dict[str, IO[str]] = {}
        for output in (str(part.output) for part in parts if part.is_stream):
            opened[output] = stack.enter_context(_open(output))
        # Last, so that files are replaced only if all streams could be written.
        if files:
            opened.update(zip(files, stack.enter_context(_replacements(files, kept)), strict=True))

        def write(result: Result) -> None:
            if read:
                result = replace(result, inputs=read)
            if reports.paper is not None and isinstance(result, Comparison | SetComparison | StudyResult):
                _write_paper(reports.paper, result, layout, kept)
            for part in parts:
                _write(sys.stdout if part.output is None else opened[part.output], result, part)

        yield write


def need_matplotlib() -> None:
    """Raise :class:`InputError` if matplotlib is not installed."""
    from ..report import check_matplotlib  # most commands draw no figures

    try:
        check_matplotlib()
    except ModuleNotFoundError as error:
        raise InputError(str(error)) from None


def _paper(folder: str | None) -> Path | None:
    """The folder of ``--paper``, after a check."""
    if folder is None:
        return None
    from ..report import check_folder  # most commands write no paper

    need_matplotlib()
    if not folder:
        raise InputError("--paper: expected the name of a folder, got an empty one")
    check_folder(Path(folder))
    return Path(folder)


def _write_paper(
    folder: Path, result: Comparison | SetComparison | StudyResult, layout: Layout, inputs: Sequence[str]
) -> None:
    from ..report import check_folder, paper_files

    contents = paper_files(result, layout)
    stale = check_folder(folder, contents)
    with writing(display_name(str(folder))):
        folder.mkdir(parents=True, exist_ok=True)
    with _replacements([str(folder / name) for name in contents], inputs, "xb") as files:
        for (name, content), file in zip(contents.items(), files, strict=True):
            with writing(display_name(str(folder / name))):
                file.write(content)
    for path in stale:
        with writing(display_name(str(path))):
            path.unlink()


class _Part(NamedTuple):
    """A report or a table of it, and where it is written: standard output (None), a stream or a file.

    ``keep``: all control characters (None), or only these.
    """

    output: str | None
    shown: str
    fmt: str
    layout: Layout
    is_stream: bool = False
    keep: str | None = None


def _parts(output: str | None, fmt: str, layout: Layout, tables: Sequence[str]) -> list[_Part]:
    """What a report consists of. Options that belong to the format of another report do not apply to it."""
    methods = layout.methods and fmt in WITH_METHODS
    layout = replace(layout, methods=methods, table=layout.table if fmt == "csv" else None)
    if output is None or output == STDIN or _descriptor(output) == 1:
        if sys.__stdout__ is None:  # before the work starts
            raise InputError(f"standard output cannot be written: {stdout_problem()}")
        # The text report is printable, and has escapes for bold type. Other formats keep names as they are in files
        # and pipes, but a terminal would obey what is in a name. Escaped JSON is the same JSON.
        keep = None if fmt == "text" or stdout_width() is None else "\n\t"
        return [_Part(None, "standard output", fmt, replace(layout, terminal=terminal()), keep=keep)]
    shown = display_name(output)
    if _is_stream(output, shown):
        return [_Part(output, shown, fmt, layout, is_stream=True)]
    if methods and fmt in PAPERS:
        entries = str(Path(output).with_suffix(".bib"))
        return [_Part(output, shown, fmt, layout), _Part(entries, display_name(entries), BIBTEX, layout)]
    if fmt != "csv" or layout.table is not None or not tables:
        return [_Part(output, shown, fmt, layout)]
    path = Path(output)
    named = [(str(path.with_name(f"{path.stem}.{table}{path.suffix}")), table) for table in tables]
    return [_Part(file, display_name(file), fmt, replace(layout, table=table)) for file, table in named]


def _check_different(outputs: Sequence[str | None]) -> None:
    """Raise :class:`InputError` if two reports have the same file."""
    seen: set[str | None] = set()
    for output in outputs:
        path = None if output is None else os.path.realpath(output)
        if path in seen:
            shown = "standard output" if output is None else display_name(output)
            raise InputError(f"-o names {shown} twice: leave out one of them")
        seen.add(path)


def _open(output: str) -> contextlib.AbstractContextManager[IO[str]]:
    descriptor = _descriptor(output)
    return _stream(output if descriptor is None else descriptor, display_name(output))


@contextlib.contextmanager
def stream_destination(output: str, inputs: Sequence[str]) -> Iterator[IO[bytes]]:
    """A file to write bytes to. If the body fails, the file of this name is left as it was."""
    check_stdin(list(inputs).count(STDIN))
    shown = display_name(output)
    with contextlib.ExitStack() as stack:
        if _is_stream(output, shown):
            stream: IO[Any] = stack.enter_context(_stream(output, shown, "wb"))
        else:
            (stream,) = stack.enter_context(_replacements([output], inputs, "xb"))
        with writing(shown):
            yield stream
            stream.flush()


def _is_stream(output: str, shown: str) -> bool:
    """Whether to write to ``output`` directly: a pipe, a terminal or /dev/null cannot be replaced by a file."""
    if not output:
        raise InputError("-o: expected the name of a file, got an empty one")
    with writing(shown):
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
def _stream(path: str | int, shown: str, mode: str = "w") -> Iterator[IO[Any]]:
    # Names from JSON may have half of a surrogate pair, which standard output escapes in the same way.
    text: dict[str, Any] = {"encoding": "utf-8", "errors": "backslashreplace", "newline": "\n"}
    with writing(shown):
        # Duplicate open descriptors: opening the path again could overwrite what other programs write there.
        target = os.dup(path) if isinstance(path, int) else path
        stream = open(target, mode, **({} if "b" in mode else text))  # noqa: SIM115
    try:
        yield stream
        with writing(shown):
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
                with writing(name):
                    if target.exists():
                        part.chmod(target.stat().st_mode & 0o7777)
                    part.replace(target)
        finally:
            remove()


def _check_target(target: Path, shown: str, inputs: Sequence[str]) -> None:
    """Raise :class:`InputError` for a file that must not or cannot be replaced."""
    with writing(shown):
        if not target.exists():
            return
        for path, _ in map(split_name, inputs):
            if path != STDIN and os.path.exists(path) and target.samefile(path):  # noqa: PTH110
                raise InputError(f"{shown} is also an input and would be overwritten: choose another name for -o")
        if not target.is_file():
            raise InputError(f"{shown} is not a file and cannot be replaced: choose another name for -o")
        if not os.access(target, os.W_OK):
            raise InputError(f"{shown} cannot be written: Permission denied")


def _write(stream: IO[str], result: Result, part: _Part) -> None:
    """Write a result piece by piece: one string of all segments of all systems would be large."""
    if part.fmt == BIBTEX and isinstance(result, Comparison | SetComparison):
        rendered: Iterable[str] = [result.bibtex()]
    else:
        rendered = pieces(result, part.fmt, part.layout)
    if part.keep is not None:
        rendered = (printable(piece, part.keep) for piece in rendered)
    with writing(part.shown):
        stream.writelines(rendered)
        stream.flush()


def terminal() -> Terminal:
    """The width and colours of standard output."""
    width = stdout_width()
    return Terminal() if width is None else Terminal(width, "NO_COLOR" not in os.environ)
