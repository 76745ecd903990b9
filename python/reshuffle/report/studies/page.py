"""The HTML page of a study: its tables can be sorted, and its figures are images in the page."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from ...errors import InputError
from ...results.schemas import STUDY
from ...results.studies import StudyResult
from ..cells import Table
from ..document import Document, Page
from ..json import as_json
from ..layout import Layout
from ..page import STUDY_SCRIPTS
from ..page.content import Content
from ..plots import file_of
from ..plots.look import COLUMN
from ..wording import joined, number
from .base import draw_figure, report_of
from .figures import Axes, Figure

# More figures would make the page slow; `reshuffle plot` draws any.
MAX_FIGURES = 24
# How wide the page shows a figure that fits a column of a paper, in pixels (27rem in page.css).
COLUMN_PIXELS = 432


@dataclass(frozen=True)
class Drawn:
    """A figure as base64-encoded SVG, with its caption.

    ``width`` is that of a figure wider than a column, in pixels, so that its text is as large as that of the others.
    """

    svg: str
    about: str
    width: int | None = None
    part: str = ""
    """The heading of the part of the page that it is in, if the page has parts."""


@dataclass(frozen=True)
class Part:
    """Some tables and figures of a page, with what explains them."""

    heading: str
    sentences: Sequence[str]
    tables: Sequence[Table]
    figures: Sequence[Drawn]


@dataclass(frozen=True, kw_only=True)
class StudyContent(Content):
    """What the template of studies renders, also of other results."""

    truths: Sequence[tuple[str, str]] = ()
    truths_heading: str = ""
    parts: Sequence[Part] = ()
    """What has a heading of its own. Other tables are above the notes, and other figures below them."""
    figures: Sequence[Drawn]
    without: str = ""
    """A sentence about figures that are not in the page."""
    plan: str
    """JSON; empty for results without one."""
    plan_heading: str = "Plan"


def study_page(study: StudyResult, document: Document, layout: Layout) -> Page:
    """The page of a study, whose document is known."""
    report = report_of(study.study)
    truths = report.truths_of(study)
    figures, without = _figures(study, report.figures)
    explained = report.explained(study)
    every = [*(table.page_part for table in document.tables), *(figure.part for figure in figures)]
    parts = [
        Part(
            heading[:1].upper() + heading[1:] if heading.isascii() else heading,  # daRR τ
            explained.get(heading, ()),
            [table for table in document.tables if table.page_part == heading],
            [figure for figure in figures if figure.part == heading],
        )
        for heading in dict.fromkeys(filter(None, every))
    ]
    said = {*truths, *(sentence for part in parts for sentence in part.sentences)}
    shown = StudyContent(
        title=report.title(study),
        facts=[*study_facts(study)],
        conclusions=document.found,
        tables=[table for table in document.tables if not table.page_part],
        notes=[note for note in document.notes if note not in said],
        truths=[(report.truth_title(name), _sentence(truth)) for name, truth in study.truths.items()],
        truths_heading=report.truths,
        parts=parts,
        figures=[figure for figure in figures if not figure.part],
        without=without,
        command=layout.command,
        plan=json.dumps(dict(study.plan), indent=2, ensure_ascii=False),
        signature=study.signature,
        version=study.version,
        schema=STUDY,
    )
    return Page("study.html.j2", STUDY_SCRIPTS, as_json(study), {"shown": shown})


def _sentence(truth: str) -> str:
    return f"{truth[:1].upper()}{truth[1:].rstrip('.')}."


# The settings that are facts, and what the page calls them.
FACTS: Mapping[str, str] = {
    "systems": "Systems",
    "segments": "Segments",
    "tests": "Tests",
    "exchange": "Tests",
    "sizes": "Sizes",
    "alphas": "α",
    "simulations": "Simulations",
    "n_resamples": "Replicates",
    "sampling": "Sampling",
    "seed": "Seed",
}


def study_facts(study: StudyResult) -> Iterator[tuple[str, str]]:
    """The most important settings, as terms and values."""
    titled = report_of(study.study).truth_title
    if study.metrics:
        yield "Metrics", joined(metric.name for metric in study.metrics)
    for key, name in FACTS.items():
        value = _setting(study, key)
        if value is not None and value != []:
            values = value if isinstance(value, list) else [value]
            yield name, ", ".join(_fact(key, each, titled) for each in values)


def _setting(study: StudyResult, key: str) -> Any:
    """A setting, or the number of systems. The title counts several test sets, and systems with runs."""
    value = study.plan.get(key)
    if isinstance(value, Mapping):
        value = next(iter(value.values())) if len(value) == 1 else None
    return len(value) if key == "systems" and isinstance(value, list | tuple) else value


def _fact(key: str, value: Any, titled: Callable[[str], str]) -> str:
    if key == "tests":
        return titled(value)
    if key == "seed" or not isinstance(value, int | float):
        return str(value)
    return f"{value:,}" if isinstance(value, int) else number(value)


def _figures(study: StudyResult, figures: Mapping[str, Figure]) -> tuple[list[Drawn], str]:
    """Every figure for each of its options, as far as the page has room, and what is not there."""
    if not figures:
        return [], ""
    chosen_of = {name: figure.choices(study, figure.beyond) for name, figure in figures.items()}
    every = [(name, figure, chosen) for name, figure in figures.items() for chosen in chosen_of[name]]
    if find_spec("matplotlib") is None:
        return [], "matplotlib, which draws the figures, is not installed: pip install 'reshuffle[plots]'."
    drawn = []
    for name, figure, chosen in every[:MAX_FIGURES]:
        axes = draw_figure(study, name, **chosen)
        try:
            svg, width = file_of(axes.figure, "svg"), _width(axes)
        except InputError:  # names are too long: that is no reason to have no page
            continue
        part = figure.part(chosen)
        beside = [each for each in chosen_of[name] if figure.part(each) == part]
        several = [key for key in chosen if chosen[key] and len({each[key] for each in beside}) > 1]
        options = ", ".join(figure.option(key, chosen[key]) for key in several)
        about = f"{figure.about.removesuffix('.')} ({options})." if several else figure.about
        drawn.append(Drawn(base64.b64encode(svg).decode("ascii"), about, width, part))
    left = len(every) - len(drawn)
    if not left:
        return drawn, ""
    return drawn, f"{left:,} more figures are not shown: reshuffle plot draws them from this file, in any --width."


def _width(axes: Axes) -> int | None:
    """The width of a figure in pixels of the page if it is wider than a column."""
    figure: Any = axes.figure
    width = float(figure.get_figwidth())
    return round(width / COLUMN * COLUMN_PIXELS) if width > 1.01 * COLUMN else None
