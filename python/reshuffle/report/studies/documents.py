"""The document of a study, from what its :class:`~reshuffle.report.studies.base.StudyReport` says."""

from __future__ import annotations

from ...results.studies import StudyResult
from ..document import Block, Document, Page, Paragraph
from ..layout import Layout
from .registry import report_of


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
