"""Results as something to read: pure functions from a result to a string.

A new format is a function in a file here and an entry in :data:`FORMATS`, for several test sets in
:data:`SET_FORMATS`, for scores of segments in :data:`SEGMENT_FORMATS`, or for flips in :data:`FLIP_FORMATS`. Its name
is also in :mod:`reshuffle.types`, for type checkers and the command line. Studies have a package of their own,
:mod:`reshuffle.report.studies`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import singledispatch
from typing import Any

from ..errors import InputError
from ..results import Comparison, Flips, SegmentTable, SetComparison
from ..results.studies import StudyResult
from ..validate import check_name
from .csv import as_csv
from .differences import metric_difference_as_text, pair_as_text, run_difference_as_text
from .flips import flip_columns, flips_as_csv, flips_as_text
from .frames import as_pandas, as_polars, rows_of
from .json import as_json
from .latex import as_latex, sets_as_latex
from .layout import MAX_TEXTS, Layout
from .markdown import as_markdown, sets_as_markdown
from .methods import bibtex, methods_as_text, methods_sentence
from .notebook import notebook_html
from .page import as_html, sets_as_html
from .plots import PLOTS, Plots, plots_of
from .rows import TABLES, as_dicts, default_table, frame_columns
from .segments import (
    preview_as_html,
    preview_as_text,
    segment_columns,
    segments_as_dicts,
    segments_as_jsonl,
    segments_as_tsv,
)
from .sets import sets_as_text
from .significance import significance_as_text
from .terminal import Terminal
from .text import as_text
from .typst import as_typst, sets_as_typst

__all__ = [
    "FLIP_FORMATS",
    "FORMATS",
    "MAX_TEXTS",
    "PLOTS",
    "SEGMENT_FORMATS",
    "SET_FORMATS",
    "TABLES",
    "Layout",
    "Plots",
    "Terminal",
    "as_dicts",
    "as_pandas",
    "as_polars",
    "bibtex",
    "default_table",
    "flip_columns",
    "flips_as_text",
    "frame_columns",
    "methods_sentence",
    "metric_difference_as_text",
    "notebook_html",
    "pair_as_text",
    "pieces",
    "plots_of",
    "preview_as_html",
    "preview_as_text",
    "render",
    "render_flips",
    "render_segments",
    "rows_of",
    "run_difference_as_text",
    "segment_columns",
    "segments_as_dicts",
    "significance_as_text",
]

FORMATS: Mapping[str, Callable[[Comparison, Layout], str]] = {
    "text": as_text,
    "json": as_json,
    "csv": as_csv,
    "markdown": as_markdown,
    "latex": as_latex,
    "typst": as_typst,
    "html": as_html,
}

SET_FORMATS: Mapping[str, Callable[[SetComparison, Layout], str]] = {
    "text": sets_as_text,
    "json": as_json,
    "csv": as_csv,
    "markdown": sets_as_markdown,
    "latex": sets_as_latex,
    "typst": sets_as_typst,
    "html": sets_as_html,
}

SEGMENT_FORMATS: Mapping[str, Callable[[SegmentTable], Iterator[str]]] = {
    "tsv": segments_as_tsv,
    "jsonl": segments_as_jsonl,
}

FLIP_FORMATS: Mapping[str, Callable[[Flips, Terminal], str]] = {
    "text": flips_as_text,
    "json": as_json,
    "csv": flips_as_csv,
}


@singledispatch
def pieces(result: Any, fmt: str, layout: Layout | None = None) -> Iterable[str]:
    """A result of any kind in a format of its kind, piece by piece."""
    raise TypeError(f"no report of {type(result).__name__}")


@pieces.register
def _(result: Comparison, fmt: str, layout: Layout | None = None) -> Iterable[str]:
    return [render(result, fmt, layout)]


@pieces.register
def _(result: SetComparison, fmt: str, layout: Layout | None = None) -> Iterable[str]:
    return [render(result, fmt, layout)]


@pieces.register
def _(result: SegmentTable, fmt: str, layout: Layout | None = None) -> Iterable[str]:
    return render_segments(result, fmt)


@pieces.register
def _(result: Flips, fmt: str, layout: Layout | None = None) -> Iterable[str]:
    return [render_flips(result, fmt, None if layout is None else layout.terminal)]


@pieces.register
def _(result: StudyResult, fmt: str, layout: Layout | None = None) -> Iterable[str]:
    from .studies import render_study  # most runs have no study

    return [render_study(result, fmt, layout)]


# Formats in which systems keep the names of the input: programs read them, and HTML embeds the JSON.
DATA_FORMATS = ("json", "csv", "html")


def render(result: Comparison | SetComparison, fmt: str = "text", layout: Layout | None = None) -> str:
    """The result in one of :data:`FORMATS`, ending in a newline."""
    check_name("format", fmt, list(FORMATS))
    layout = layout or Layout()
    if layout.methods and fmt != "text":
        raise InputError(f"the paragraph about methods is part of the format text, not of {fmt}: leave out --methods")
    if fmt == "html":
        layout.check_texts(comparison.texts for comparison in _comparisons(result))
    if isinstance(result, SetComparison):
        shown = result if fmt in DATA_FORMATS else layout.apply_to_sets(result)
        report = SET_FORMATS[fmt](shown, layout)
        return f"{report}\n{methods_as_text(shown, layout.terminal)}" if layout.methods else report
    named = result if fmt in DATA_FORMATS else layout.apply(result)
    report = FORMATS[fmt](named, layout)
    return f"{report}\n{methods_as_text(named, layout.terminal)}" if layout.methods else report


def _comparisons(result: Comparison | SetComparison) -> Iterable[Comparison]:
    return result.sets.values() if isinstance(result, SetComparison) else [result]


def render_segments(table: SegmentTable, fmt: str = "tsv") -> Iterator[str]:
    """The scores of segments in one of :data:`SEGMENT_FORMATS`, piece by piece because the whole may be large.

    >>> from reshuffle import segment_scores
    >>> table = segment_scores(["the cat sat on the mat"], {"a": ["the cat sat on the mat"]})
    >>> print(*render_segments(table), sep="", end="")  # doctest: +NORMALIZE_WHITESPACE
    segment system BLEU
    1       a      100.0
    """
    check_name("format", fmt, list(SEGMENT_FORMATS))
    return SEGMENT_FORMATS[fmt](table)


def render_flips(flips: Flips, fmt: str = "text", terminal: Terminal | None = None) -> str:
    """The flips in one of :data:`FLIP_FORMATS`, ending in a newline. ``terminal`` matters to ``text`` only."""
    check_name("format", fmt, list(FLIP_FORMATS))
    return FLIP_FORMATS[fmt](flips, terminal or Terminal())
