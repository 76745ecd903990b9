"""Writing reports, atomically if to a file."""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeAlias, get_args

import click
from attrs import evolve

from .. import types
from ..data.files import STDIN, check_stdin, display_name
from ..data.reading import split_name
from ..errors import InputError, either, printable, shortened, warn, writing
from ..leftovers import opened, replacements
from ..options.evaluations import NameMap
from ..report import PAPERS, WITH_METHODS, Layout, Terminal, formats_by_ending, pieces
from ..report.layout import check_names, check_triangle, named_systems
from ..report.sources import every_entry
from ..report.terminal import stdout_width
from ..report.wording import joined
from ..results import ComparedTexts, Comparison, Flips, Gate, SegmentTable, SetComparison
from ..results.studies import StudyResult
from .input_files import input_files
from .params import COMMAND_LINE
from .process import cleanup, stdout_problem

Result: TypeAlias = Comparison | SetComparison | SegmentTable | Flips | Gate | StudyResult
Writer: TypeAlias = Callable[[Result], object]

# Formats that have the digests of the files that the result was read from.
WITH_INPUTS = ("json", "html")
# Formats that show what the parts of formulas contribute also without --pairs.
FORMATS_WITH_PARTS = ("html", "json")
# The key of a context for a function that gets the digests before anything is computed.
ON_INPUTS = "reshuffle.inputs"
# What a paper cites, beside its table.
BIBTEX = "bibtex"
# Of LaTeX, for all files of a paper.
PACKAGES = "booktabs,graphicx,multirow,natbib,xurl"
# Endings of the files of figures, which another command writes.
FIGURES = (".pdf", ".png", ".svg")


@dataclass(frozen=True)
class Output:
    """Where the reports of a command go, and how they look."""

    reports: Sequence[tuple[str | None, str]]
    """Each file and its format. None is standard output."""
    paper: Path | None = None
    """The folder of a paper."""
    layout: Layout = field(default_factory=Layout)
    tables: Sequence[str] = ()
    """Those of CSV, each of which goes to a file with its name before the ending, unless the layout names one."""
    kept: Sequence[str] = ()
    """Files that must not be replaced, beside those from which the result is computed."""
    names: NameMap | None = None
    """The display names of the layout, and where their file has them."""

    @classmethod
    def from_options(
        cls,
        options: dict[str, Any],
        formats: Sequence[str] = get_args(types.Format),
        default: str = "text",
        *,
        tables: Sequence[str] = (),
        methods: bool = False,
    ) -> Output:
        """Take ``-o``, ``--format``, ``--paper``, ``--table`` and ``--full`` out of ``options``, if they are there.

        ``--format`` is for files whose ending names no format. Without it, :class:`InputError` for an ending of none of
        the ``formats``. ``methods``: whether ``--methods`` was given.

        >>> Output.from_options({"fmt": None, "outputs": ["a.json", "a.HTML", "a"]}, ("text", "json", "html")).reports
        [('a.json', 'json'), ('a.HTML', 'html'), ('a', 'text')]
        """
        fmt, outputs = options.pop("fmt"), options.pop("outputs")
        by_ending = formats_by_ending(formats, fmt or default)
        for output in outputs:
            ending = Path(output).suffix.lower()
            if fmt is None and ending not in by_ending and _descriptor(output) is None:
                figures = "; 'reshuffle plot' draws figures of a result in JSON" if ending in FIGURES else ""
                raise InputError(
                    f"-o {shortened(display_name(output))}: no format has the ending {shortened(ending)}; use "
                    f"{either([end for end in by_ending if end])}, or add --format{figures}"
                )
        reports = [(output, by_ending.get(Path(output).suffix.lower(), fmt or default)) for output in outputs]
        if fmt is not None and reports and all(used != fmt for _, used in reports):
            raise InputError(
                f"--format {fmt} is for files whose names do not say their format, but "
                f"{shortened(display_name(outputs[0]))} does: leave it out, or name another file"
            )
        table, full = options.pop("table", None), options.pop("full", False)
        layout = Layout(table=table, full=full, methods=methods)
        found = cls(reports or [(None, fmt or default)], _paper(options.pop("paper", None)), layout, tables)
        if table is not None:
            found.check("--table", ["csv"], ", or add --format csv")
        found.check_methods(methods)
        if full and "text" not in found.formats:
            warn("--full changes nothing: formats other than text always have everything")
        return found

    @property
    def formats(self) -> list[str]:
        """The formats, without repetitions."""
        return list(dict.fromkeys(fmt for _, fmt in self.reports))

    @property
    def needs_parts(self) -> bool:
        """Whether any report shows what the parts of formulas contribute, which takes as long as the draws."""
        return bool(self.layout.pairs) or bool({*FORMATS_WITH_PARTS} & {*self.formats})

    def check(self, option: str, formats: Collection[str], add: str) -> None:
        """Raise :class:`InputError` if no report has one of the formats that an option is for."""
        if not {*formats} & {*self.formats}:
            plural = "s" if len(formats) > 1 else ""
            raise InputError(
                f"{option} is for the format{plural} {joined(formats)}, not {either(self.formats)}: leave it out{add}"
            )

    def check_methods(self, wanted: bool) -> None:
        """The same for ``--methods``, if it was given."""
        if wanted:
            in_python = "; in Python, results (also from read_json) have methods_sentence() and bibtex()"
            self.check("--methods", WITH_METHODS, in_python)

    def check_systems(self, systems: Sequence[str], all_pairs: bool = False, compared: int | None = None) -> None:
        """Raise :class:`InputError` if the layout does not suit the systems, before the tests are computed.

        ``compared``: how many of them are compared, by default all.
        """
        if self.layout.triangle:
            check_triangle(len(systems) if compared is None else compared, all_pairs)
        if self.names is not None:
            check_names(self.names.names, systems, self.names.where)

    def check_texts(self, texts: Iterable[ComparedTexts]) -> None:
        """Raise :class:`InputError` if the texts are too large for the report, before the tests are computed."""
        if "html" in self.formats:
            self.layout.check_texts(texts)


@contextlib.contextmanager
def destination(output: Output, inputs: Sequence[str]) -> Iterator[Writer]:
    """A function that writes the reports. Files are written completely or, if the body fails, not at all.

    ``inputs`` are the paths that the body reads results from. Their digests are computed now: results may take hours,
    in which files change. The terminal of the layout is set to that of standard output for a report there, and its
    command to that of this process unless it has one.
    """
    check_stdin(list(inputs).count(STDIN))
    layout, paper = output.layout, output.paper
    if paper is not None:
        _check_without_inputs(paper, inputs)
    if layout.command is None:
        layout = evolve(layout, command=click.get_current_context().meta[COMMAND_LINE])
    every = [part for file, fmt in output.reports for part in _parts(file, fmt, layout, output.tables)]
    # FILE.tex and FILE.typ have the same entries.
    parts = [part for n, part in enumerate(every) if part.fmt != BIBTEX or part not in every[:n]]
    _check_different([part.output for part in parts])
    files = [str(part.output) for part in parts if part.output is not None and not part.is_stream]
    needs_inputs = paper is not None or any(part.fmt in WITH_INPUTS for part in parts)
    read = input_files(inputs) if needs_inputs else ()
    if (on_inputs := click.get_current_context().meta.get(ON_INPUTS)) is not None:
        on_inputs(read)
    kept = [*inputs, *output.kept]
    with contextlib.ExitStack() as stack:
        streams: dict[str, IO[str]] = {}
        for stream in (str(part.output) for part in parts if part.is_stream):
            descriptor = _descriptor(stream)
            place = stream if descriptor is None else descriptor
            streams[stream] = stack.enter_context(opened(place, display_name(stream)))
        # Last, so that files are replaced only if all streams could be written.
        if files:
            streams.update(zip(files, stack.enter_context(_replacements(files, kept)), strict=True))

        def write(result: Result) -> None:
            if read:
                result = replace(result, inputs=read)
            if layout.names and isinstance(result, Comparison | SetComparison):
                known = named_systems(result)
                names = {system: name for system, name in layout.names.items() if system in known}
                result = replace(result, display_names=names)
            if paper is not None and isinstance(result, Comparison | SetComparison | StudyResult):
                from ..report import write_paper

                written = write_paper(result, paper, layout, lambda paths: _replacements([*paths], kept, "xb"))
                _say_written(paper, written)
            for part in parts:
                # If nobody reads on, files are still written, and the exit code is that of the result.
                with contextlib.suppress(BrokenPipeError):
                    _write(sys.stdout if part.output is None else streams[part.output], result, part)

        yield write


def _say_written(folder: Path, written: Sequence[Path]) -> None:
    """Say that a paper was written, with the commands of LaTeX that read it, in the order of an article."""
    shown, parts = printable(folder.as_posix()), {path.stem for path in written if path.suffix == ".tex"}

    def inputs(*names: str) -> str:
        return " ".join(f"\\input{{{shown}/{name}}}" for name in names if name in parts)

    click.echo(
        f"Wrote {len(written)} files to {shown}/. In LaTeX: \\usepackage{{{PACKAGES}}} \\graphicspath{{{{{shown}/}}}} "
        f"{inputs('table', 'methods', 'figures')} \\bibliography{{{shown}/references}} "
        f"\\appendix \\section{{Statistical details}} {inputs('appendix', 'differences')}",
        err=True,
    )


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
    if Path(folder).suffix.lower() in (".tex", ".typ", ".pdf"):
        raise InputError(
            f"--paper {shortened(display_name(folder))}: expected the name of a folder, which gets several files; for "
            "one table write -o FILE.tex or FILE.typ"
        )
    check_folder(Path(folder))
    return Path(folder)


def _check_without_inputs(folder: Path, inputs: Sequence[str]) -> None:
    """Raise :class:`InputError` for a folder with an input: later, the files of the paper would be taken for others.

    The folder of an earlier paper may have results, too.
    """
    from ..report.paper import FACTS

    place = os.path.realpath(folder)
    for file, _ in map(split_name, inputs):
        if file != STDIN and os.path.dirname(os.path.realpath(file)) == place and not (folder / FACTS).exists():  # noqa: PTH120
            raise InputError(
                f"--paper {shortened(display_name(str(folder)))}: the folder has inputs, such as {display_name(file)}: "
                "choose a folder of its own for the paper"
            )


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
    layout = evolve(layout, methods=methods, table=layout.table if fmt == "csv" else None)
    if output is None or output == STDIN or _descriptor(output) == 1:
        if sys.__stdout__ is None:  # before the work starts
            raise InputError(f"standard output cannot be written: {stdout_problem()}")
        # The text report is printable, and has escapes for bold type. Other formats keep names as they are in files
        # and pipes, but a terminal would obey what is in a name. Escaped JSON is the same JSON.
        keep = None if fmt == "text" or stdout_width() is None else "\n\t"
        return [_Part(None, "standard output", fmt, evolve(layout, terminal=terminal()), keep=keep)]
    shown = display_name(output)
    if _is_stream(output, shown):
        return [_Part(output, shown, fmt, layout, is_stream=True)]
    layout = layout.labelled(Path(output).stem)
    if methods and fmt in PAPERS:
        entries = str(Path(output).with_suffix(".bib"))
        return [_Part(output, shown, fmt, layout), _Part(entries, display_name(entries), BIBTEX, layout)]
    if fmt != "csv" or layout.table is not None or not tables:
        return [_Part(output, shown, fmt, layout)]
    path = Path(output)
    named = [(str(path.with_name(f"{path.stem}.{table}{path.suffix}")), table) for table in tables]
    return [_Part(file, display_name(file), fmt, evolve(layout, table=table)) for file, table in named]


def _check_different(outputs: Sequence[str | None]) -> None:
    """Raise :class:`InputError` if two reports have the same file."""
    paths = [None if output is None else os.path.realpath(output) for output in outputs]
    for n, output in enumerate(outputs):
        if paths[n] in paths[:n]:
            shown = "standard output" if output is None else display_name(output)
            raise InputError(f"-o names {shown} twice: leave out one of them")


@contextlib.contextmanager
def stream_destination(output: str | None, inputs: Sequence[str]) -> Iterator[IO[bytes]]:
    """A file to write bytes to, or standard output. If the body fails, the file of this name is left as it was."""
    check_stdin(list(inputs).count(STDIN))
    if output is None or output == STDIN:
        sys.stdout.flush()
        yield sys.stdout.buffer
        sys.stdout.flush()
        return
    shown = display_name(output)
    with contextlib.ExitStack() as stack:
        if _is_stream(output, shown):
            stream: IO[Any] = stack.enter_context(opened(output, shown, "wb"))
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
            raise InputError(f"{shown} is a folder: expected the name of a file after -o")
        return _descriptor(output) is not None or (Path(output).exists() and not Path(output).is_file())


def _descriptor(output: str) -> int | None:
    """The file descriptor that a path such as /dev/stdout stands for, which cannot always be opened again."""
    if os.name == "nt":
        return None
    found = re.fullmatch(r"/(?:dev/fd|proc/self/fd)/(\d{1,9})", output)
    return int(found[1]) if found else {"/dev/stdout": 1, "/dev/stderr": 2}.get(output)


@contextlib.contextmanager
def _replacements(paths: Sequence[str], inputs: Sequence[str], mode: str = "x") -> Iterator[list[IO[Any]]]:
    """Files that replace others, as :func:`reshuffle.leftovers.replacements`, also if a signal ends the process."""
    shown = {path: display_name(path) for path in paths}
    for path, name in shown.items():
        _check_target(Path(os.path.realpath(path)), name, inputs)
    with cleanup(), replacements(shown, mode) as files:
        yield files


def _check_target(target: Path, shown: str, inputs: Sequence[str]) -> None:
    """Raise :class:`InputError` for a file that must not or cannot be replaced."""
    with writing(shown):
        for path, _ in map(split_name, inputs):
            is_same = target.exists() and os.path.exists(path) and target.samefile(path)  # noqa: PTH110
            if path != STDIN and (is_same or os.path.realpath(path) == str(target)):
                raise InputError(f"{shown} is also an input and would be overwritten: choose another name")
        if not target.exists():
            return
        if not target.is_file():
            raise InputError(f"{shown} is not a file and cannot be replaced: choose another name")
        if not os.access(target, os.W_OK):
            raise InputError(f"{shown} cannot be written: Permission denied")


def _write(stream: IO[str], result: Result, part: _Part) -> None:
    """Write a result piece by piece: one string of all segments of all systems would be large."""
    if part.fmt == BIBTEX and isinstance(result, Comparison | SetComparison | StudyResult):
        rendered: Iterable[str] = [every_entry()]
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
