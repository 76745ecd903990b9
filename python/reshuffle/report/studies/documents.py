"""The document of a study, from what its :class:`~reshuffle.report.studies.base.StudyReport` says, and the methods
paragraph of a paper: sentences of ``words/studies.toml`` with the settings of the plan.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ...errors import counted, printable
from ...results.studies import StudyResult
from ..document import Block, Document, Page, Paragraph
from ..layout import Layout
from ..methods import Methods, cite, metrics_phrase, signed_by
from ..wording import joined, left_out, number
from ..words import filled, words, words_of
from .base import report_of
from .shared import unit_of


def study_document(study: StudyResult, layout: Layout) -> Document:
    """The main table, what was found, the other tables, and the notes; or the short form, if the study has one."""
    report = report_of(study.study)
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
        return [*dict.fromkeys(map(layout.spelled, sentences))]

    first, *others = shown
    blocks: list[Block] = [first, Paragraph(spoken(found)), *others]
    methods = Methods(tuple(study_sentences(study))) if layout.methods else None
    notes = [*notes, *left_out(study.signature)]
    document = Document(blocks, spoken(notes), study.signature, methods, page=page)
    return document


def study_sentences(study: StudyResult) -> Iterator[str]:
    """What was computed and how, what was true, and the version."""
    report = report_of(study.study)
    if report.methods is not None:
        yield from report.methods(study)
    else:
        yield from _of_words(study)
        yield from map(printable, report.truths_of(study))
    yield signed_by(study.version, printable(study.signature))


def _of_words(study: StudyResult) -> Iterator[str]:
    """The sentences whose settings the study has."""
    values = {name: text for name, value in study.plan.items() if (text := _shown(name, value))} | _material(study)
    settings = report_of(study.study).settings
    if settings is not None:
        values |= settings(study)
    for template in words_of("studies", "study", study.study):
        shared = template.removeprefix("=")
        text = words("studies")["common"][shared] if shared != template else template
        if {*re.findall(r"\{(\w+)\}", text)} <= {*values}:
            # Between texts there are sources, which names of systems cannot make.
            parts = re.split(r" \[@(.+?)\]", text)
            texts = (filled(part, values) for part in parts)
            yield "".join(cite(part) if n % 2 else part for n, part in enumerate(texts))


def _shown(name: str, value: Any) -> str:
    """A setting as text; empty for settings that a study lacks or that are records."""
    if isinstance(value, Mapping):
        value = [each for each in value.values() if isinstance(each, int)]
    if isinstance(value, list):
        found = [text for each in value if (text := _shown(name, each))]
        return joined(found) if found else ""
    if value is None or isinstance(value, bool | str) or name == "seed":
        return "" if value is None else printable(str(value))
    return f"{value:,}" if isinstance(value, int) else number(value)


def _material(study: StudyResult) -> dict[str, str]:
    """What was scored, of studies of texts or scores."""
    found = {"unit": unit_of(study)}
    if study.metrics:
        found["metrics"] = metrics_phrase(study.metrics)
    systems, units = study.plan.get("systems"), study.plan.get("units")
    if isinstance(systems, list) and isinstance(units, int):
        found |= {"systems": counted(len(systems), "system"), "size": counted(units, unit_of(study))}
        if "simulations" in study.plan and study.plan.get("sizes") is None:
            found["sizes"] = f"{units:,}"
    return found
