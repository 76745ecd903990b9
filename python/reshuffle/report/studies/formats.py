"""Studies in every format, from what their :class:`~reshuffle.report.studies.base.StudyReport` says.

The formats share the writers of comparisons: a study has tables, captions and sentences like these.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from ...errors import InputError, unknown_name
from ...results.studies import StudyResult
from ...validate import check_name
from ..csv import csv_of
from ..fragment import html_fragment
from ..json import as_json
from ..latex import latex_document
from ..layout import Layout
from ..markdown import markdown_document
from ..paper import Paper
from ..text import paragraph, prose, table_as_text
from ..typst import typst_document
from .rows import study_columns

if TYPE_CHECKING:
    from .base import Explained, StudyReport


def report_of(study: StudyResult) -> StudyReport:
    """How the study is shown. :class:`InputError` for a study that this version does not know."""
    from . import STUDIES

    if study.study not in STUDIES:
        raise unknown_name("study", study.study, STUDIES)
    return STUDIES[study.study]


def notes_of(study: StudyResult, explained: list[Explained] | None = None) -> list[str]:
    """What symbols mean, what was true, and how the numbers were computed; each only once."""
    report = report_of(study)
    explained = list(report.tables(study)) if explained is None else explained
    symbols = (symbols for _, symbols in explained if symbols)
    return list(dict.fromkeys([*symbols, *report.truths_of(study), *report.notes(study)]))


def _as_text(study: StudyResult, layout: Layout) -> str:
    """The main table, what was found, the other tables, the notes and the signature."""
    report, terminal = report_of(study), layout.terminal
    explained = list(report.tables(study))
    first, *others = (table_as_text(table, terminal) for table, _ in explained)
    answer = paragraph(report.conclusions(study), terminal)
    below = prose(notes_of(study, explained), study.signature, terminal, (table for table, _ in explained))
    return "\n".join([first, *([answer] if answer else []), *others, below])


def _as_csv(study: StudyResult, layout: Layout) -> str:
    return csv_of(study_columns(study, layout.table))


def _as_markdown(study: StudyResult, layout: Layout) -> str:
    report = report_of(study)
    sentences = [*report.conclusions(study), *notes_of(study)]
    return markdown_document((table for table, _ in report.tables(study)), sentences, study.signature)


def _paper(study: StudyResult) -> Paper:
    """The tables with captions, and the sentences as remarks for the author."""
    report = report_of(study)
    explained = list((report.paper or report.tables)(study))
    captioned = [
        (table, " ".join(filter(None, (f"{table.title}.", symbols, table.key)))) for table, symbols in explained
    ]
    remarks = [*report.conclusions(study), *notes_of(study, explained), f"Signature: {study.signature}"]
    return Paper(captioned, remarks)


def _as_latex(study: StudyResult, layout: Layout) -> str:
    return latex_document(_paper(study))


def _as_typst(study: StudyResult, layout: Layout) -> str:
    return typst_document(_paper(study))


def _as_html(study: StudyResult, layout: Layout) -> str:
    from .page import study_as_html

    return study_as_html(study, layout)


STUDY_FORMATS: Mapping[str, Callable[[StudyResult, Layout], str]] = {
    "text": _as_text,
    "json": as_json,
    "csv": _as_csv,
    "markdown": _as_markdown,
    "latex": _as_latex,
    "typst": _as_typst,
    "html": _as_html,
}


def render_study(study: StudyResult, fmt: str = "text", layout: Layout | None = None) -> str:
    """The study in one of :data:`STUDY_FORMATS`, ending in a newline."""
    check_name("format", fmt, list(STUDY_FORMATS))
    layout = layout or Layout()
    if layout.table is not None and fmt != "csv":
        raise InputError(f"a table (--table) is chosen for the format csv, not for {fmt}: leave it out")
    return STUDY_FORMATS[fmt](study, layout)


def study_as_fragment(study: StudyResult) -> str:
    """A ``div`` with the tables, a list of sentences and the signature, for notebooks."""
    report = report_of(study)
    sentences = [*report.conclusions(study), *notes_of(study)]
    return html_fragment((table for table, _ in report.tables(study)), sentences, study.signature)
