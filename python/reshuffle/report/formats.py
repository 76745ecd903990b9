"""The formats of results: those for people, for programs, of gates and of segments."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

from attrs import evolve

from .. import types
from ..errors import Argument, InputError, either, printable, writing
from ..leftovers import opened, replacements
from ..results import Flips, Gate, SegmentTable
from ..validate import check_name
from .document import Document
from .frames import as_csv
from .gate import gate_as_github, gate_as_junit
from .json import as_json
from .kinds import columns_of, document, paper_document
from .latex import as_latex
from .layout import LABEL, Layout
from .markdown import as_markdown
from .page import as_html
from .segments import segments_as_jsonl, segments_as_tsv
from .text import as_text
from .typst import as_typst
from .wording import file_name

# For people. In papers, captions explain the tables.
WRITERS: Mapping[str, Callable[[Document, Layout], str]] = {
    "text": as_text,
    "markdown": as_markdown,
    "latex": as_latex,
    "typst": as_typst,
    "html": as_html,
}
PAPERS = ("latex", "typst")
WITH_METHODS = ("text", "markdown", *PAPERS)
# For programs, with every number in full and the names of the input. They are in pieces, because scores of segments may
# be large.
DATA: Mapping[str, Callable[[Any, Layout], Iterable[str]]] = {
    "json": lambda result, layout: [as_json(result)],
    "csv": lambda result, layout: [as_csv(columns_of(result, layout.table))],
    "junit": lambda gate, layout: [gate_as_junit(gate)],
    "github": lambda gate, layout: [gate_as_github(gate)],
    "tsv": lambda table, layout: segments_as_tsv(table),
    "jsonl": lambda table, layout: segments_as_jsonl(table),
}
FORMATS: Sequence[str] = get_args(types.Format)
# The formats of those kinds of results that have others than these.
FORMATS_OF = {SegmentTable: types.SegmentFormat, Gate: types.GateFormat, Flips: types.FlipFormat}
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


def formats_of(result: Any) -> tuple[str, ...]:
    """The formats of a kind of result."""
    return get_args(FORMATS_OF.get(type(result), types.Format))


def formats_by_ending(known: Collection[str], default: str) -> dict[str, str]:
    """Which of the ``known`` formats the ending of a file names: none, or that of plain text, names the default."""
    return {"": default, ".txt": default, **{end: name for end, name in ENDINGS.items() if name in known}}


def save(result: Any, path: str, options: Mapping[str, Any]) -> None:
    """Write what ``result.render`` returns, in the format that the ending of a file names."""
    shown, (default, *others) = printable(path), formats_of(result)
    by_ending, ending = formats_by_ending([default, *others], default), Path(path).suffix.lower()
    if ending not in by_ending:
        figures = " (figures: result.plot.NAME().figure.savefig)" if ending in (".pdf", ".png", ".svg") else ""
        known = either([end for end in by_ending if end])
        raise InputError(f"{shown}: no format has the ending {ending}; use {known}{figures}")
    # Methods of results have no option for the label.
    before = LABEL.set(file_name(Path(path).stem))
    try:
        text = result.render(by_ending[ending], **options)
    finally:
        LABEL.reset(before)
    with contextlib.ExitStack() as stack:
        if Path(path).exists() and not Path(path).is_file():  # such as /dev/stdout, which no file may replace
            file = stack.enter_context(opened(path, shown))
        else:
            (file,) = stack.enter_context(replacements({path: shown}, "x"))
        with writing(shown):
            file.write(text)


def render(result: Any, fmt: str | None = None, layout: Layout | None = None) -> str:
    """A result of any kind in a format of its kind, by default the first, ending in a newline."""
    return "".join(pieces(result, fmt or formats_of(result)[0], layout))


def pieces(result: Any, fmt: str, layout: Layout | None = None) -> Iterable[str]:
    """The same piece by piece.

    >>> from reshuffle import segment_scores
    >>> table = segment_scores(["the cat sat on the mat"], {"a": ["the cat sat on the mat"]})
    >>> print(*pieces(table, "tsv"), sep="", end="")  # doctest: +NORMALIZE_WHITESPACE
    segment system BLEU
    1       a      100.0
    """
    check_name("format", fmt, formats_of(result))
    layout = (layout or Layout()).named(result)
    if layout.methods and fmt not in WITH_METHODS:
        raise InputError(
            f"the paragraph about methods is for {either(WITH_METHODS)}, not for {fmt}: leave out --methods"
        )
    if layout.table is not None and fmt != "csv":
        raise InputError(f"{{table}} is for the format csv, not for {fmt}: leave it out", table=Argument("table"))
    if fmt in DATA:
        return DATA[fmt](result, layout)
    if fmt != "text":
        layout = layout.for_paper() if fmt in PAPERS else evolve(layout, full=True)
    made = paper_document if fmt in PAPERS else document
    return [WRITERS[fmt](made(result, layout), layout)]
