"""How each study is shown. The module of a study is imported when its report is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ...errors import InputError, unknown_name
from ...results.studies import MODULES, StudyResult
from .base import StudyReport

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def report_of(study: str) -> StudyReport:
    """How the study of this name is shown. :class:`InputError` if this version does not know it."""
    if study not in MODULES:
        raise unknown_name("study", study, MODULES)
    report: StudyReport = import_module(f"{__package__}.{MODULES[study]}").REPORT
    return report


def draw_figure(
    study: StudyResult,
    name: str,
    *,
    ax: Axes | None = None,
    width: float | None = None,
    height: float | None = None,
    **where: Any,
) -> Axes:
    """Draw a figure of the records that have the values ``where``. Values of None are ignored."""
    from ..plots.style import axes_of

    figures = report_of(study.study).figures
    if name not in figures:
        if not figures:
            raise InputError(f"the study {study.study} has no figures")
        raise unknown_name(f"figure of the study {study.study}", name, figures)
    figure = figures[name]
    return axes_of(figure.drawing(study, figure.chosen(study, name, where)), ax, width, height)
