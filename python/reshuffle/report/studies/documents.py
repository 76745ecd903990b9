"""The document of a study, from what its :class:`~reshuffle.report.studies.base.StudyReport` says."""

from __future__ import annotations

from collections.abc import Iterable

from ...results.studies import StudyResult
from ..document import Block, Document, Page, Paragraph
from ..layout import Layout
from ..methods import Methods
from ..wording import spelled
from .methods import study_sentences
from .registry import report_of


def study_document(study: StudyResult, layout: Layout) -> Document:
    """The main table, what was found, the other tables, and the notes; or the short form, if the study has one."""
    report = report_of(study)
    if report.brief is not None and not (layout.full or layout.paper):
        shown, found, notes = report.brief(study)
    else:
        shown = [*(report.paper if layout.paper and report.paper else report.tables)(study)]
        found = [*report.conclusions(study)]
        symbols = (table.symbols for table in shown if table.symbols)
        notes = [*symbols, *report.truths_of(study), *report.notes(study)]

    def page() -> Page:
        from .page import study_page  # draws figures

        return study_page(study, document, layout)

    def spoken(sentences: Iterable[str]) -> list[str]:
        return [*dict.fromkeys(spelled(each, layout.command is not None) for each in sentences)]

    first, *others = shown
    blocks: list[Block] = [first, Paragraph(spoken(found)), *others]
    methods = Methods.of(study_sentences, study) if layout.methods else None
    document = Document(blocks, spoken(notes), study.signature, methods, page=page)
    return document
