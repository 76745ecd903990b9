"""How each study is shown."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ...errors import InputError, unknown_name
from ...results.studies import MODULES, StudyResult
from ...results.studies import STUDIES as RECORDS
from .base import StudyReport

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STUDIES: Mapping[str, StudyReport] = {
    study: import_module(f"{__package__}.{module}").REPORT for study, module in zip(RECORDS, MODULES, strict=True)
}


def report_of(study: StudyResult) -> StudyReport:
    """How a study is shown. :class:`InputError` for a study that this version does not know."""
    if study.study not in STUDIES:
        raise unknown_name("study", study.study, STUDIES)
    return STUDIES[study.study]


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

    figures = report_of(study).figures
    if name not in figures:
        if not figures:
            raise InputError(f"the study {study.study} has no figures")
        raise unknown_name(f"figure of the study {study.study}", name, figures)
    figure = figures[name]
    return axes_of(figure.drawing(study, figure.chosen(study, name, where)), ax, width, height)
