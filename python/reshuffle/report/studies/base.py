"""What a study tells the formats about itself. Its module is imported when its report is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from importlib import import_module
from typing import Any, NamedTuple, TypeAlias

from ...documented import record
from ...errors import InputError, unknown_name
from ...results.studies import MODULES, StudyResult
from ..cells import Table
from ..plots.look import PAGE
from .figures import Axes, Figure

# The functions of a study take results of its own type.
Sentences: TypeAlias = Callable[[Any], Iterator[str]]


class Brief(NamedTuple):
    """The short form of a study: tables, what was found, and notes, of which the last says what is left out."""

    tables: Sequence[Table]
    conclusions: Sequence[str]
    notes: Sequence[str]


@record(slots=False)
class StudyReport:
    """How the results of a study are shown: ``REPORT`` of its module in this package."""

    title: Callable[[Any], str]
    """From a result to the title of its page."""
    tables: Callable[[Any], Iterator[Table]]
    """From a result to its tables, the most important one first."""
    conclusions: Sentences
    """From a result to sentences: what was found, which text shows below the first table, and how it was computed,
    which it shows at the end. The truths of the result are notes already.
    """
    notes: Sentences
    figures: Mapping[str, Figure] = field(default_factory=dict)
    """By name: ``result.plot.NAME`` and ``reshuffle plot RESULT NAME``."""
    paper: Callable[[Any], Iterator[Table]] | None = None
    """Like ``tables``, for the formats for papers, if these should have other tables."""
    brief: Callable[[Any], Brief] | None = None
    """From a result to what a terminal shows, for studies whose report is long."""
    methods: Callable[[Any], Iterator[str]] | None = None
    """From a result to the sentences of a methods paragraph, in place of those of ``words/studies.toml``."""
    settings: Callable[[Any], Mapping[str, str]] | None = None
    """From a result to values of these sentences that are not in its plan."""
    intervals: str = "The tables have the results, with intervals for their Monte Carlo error where these are known."
    """What the checklist of a paper says of the tables and of what their intervals are for."""
    truths: str = "What was true"
    """The heading of the truths in a page."""
    truth: str = ""
    """What stands before the name of a truth in a note."""
    truth_title: Callable[[str], str] = str
    """From the name of a truth to what notes call it."""
    explained: Callable[[Any], Mapping[str, Sequence[str]]] = lambda study: {}
    """From a result to the notes that a page has below the heading of a part, by heading."""

    def truths_of(self, study: StudyResult) -> list[str]:
        """The truths of a result as notes."""
        return [f"{self.truth}{self.truth_title(name)}: {truth.rstrip('.')}." for name, truth in study.truths.items()]


def report_of(study: str) -> StudyReport:
    """How the study of this name is shown. :class:`InputError` if this version does not know it."""
    if study not in MODULES:
        raise unknown_name("study", study, MODULES)
    report: StudyReport = import_module(f"{__package__}.{MODULES[study]}").REPORT
    return report


# Panels beside each other are as wide as this at least, in inches.
NARROWEST = 2.0


def draw_figure(
    study: StudyResult,
    name: str,
    *,
    ax: Axes | None = None,
    width: float | None = None,
    height: float | None = None,
    **where: Any,
) -> Axes:
    """Draw a figure of the records that have the values ``where``, with a panel for each metric if none is named.

    Values of None are ignored. Returns the first axes.
    """
    from ..plots.panels import panels_of
    from ..plots.style import axes_of, length_of

    figures = report_of(study.study).figures
    if name not in figures:
        if not figures:
            raise InputError(f"the study {study.study} has no figures")
        raise unknown_name(f"figure of the study {study.study}", name, figures)
    figure = figures[name]
    panels = figure.panels(study, name, where, single=ax is not None)
    drawings = {title: figure.drawing(study, records) for title, records in panels.items()}
    if len(drawings) == 1:
        (only,) = drawings.values()
        return axes_of(only, ax, width, height)
    beside = min(len(drawings), figure.beside, max(int(length_of("width", width, PAGE) / NARROWEST), 1))
    return panels_of(drawings, beside, width, height).axes[0]
