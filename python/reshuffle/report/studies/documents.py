"""The document of a study, from what its :class:`~reshuffle.report.studies.base.StudyReport` says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import unknown_name
from ...results.studies import StudyResult
from ..document import Block, Document, Page, Paragraph
from ..layout import Layout

if TYPE_CHECKING:
    from .base import StudyReport


def report_of(study: StudyResult) -> StudyReport:
    """How the study is shown. :class:`InputError` for a study that this version does not know."""
    from . import STUDIES

    if study.study not in STUDIES:
        raise unknown_name("study", study.study, STUDIES)
    return STUDIES[study.study]


def study_document(study: StudyResult, layout: Layout) -> Document:
    """The main table, what was found, the other tables, and the notes: each only once."""
    report = report_of(study)
    first, *others = (report.paper if layout.paper and report.paper else report.tables)(study)
    symbols = (table.symbols for table in (first, *others) if table.symbols)
    notes = dict.fromkeys([*symbols, *report.truths_of(study), *report.notes(study)])

    def page() -> Page:
        from .page import study_page  # draws figures

        return study_page(study, document, layout)

    blocks: list[Block] = [first, Paragraph([*report.conclusions(study)]), *others]
    document = Document(blocks, [*notes], study.signature, page=page)
    return document
