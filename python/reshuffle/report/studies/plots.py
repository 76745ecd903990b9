"""The figures of a study. matplotlib is imported only when a figure is drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...errors import Argument, InputError, listed, unknown_name
from ...results.lookup import metric_name
from ...results.studies import StudyResult
from ...validate import check_name
from .base import Figure
from .registry import report_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
    return axes_of(figure.draw(study, records_of(study, name, figure, where)), ax, width, height)


def choices(study: StudyResult, figure: Figure) -> list[dict[str, Any]]:
    """The options of every figure of a kind that the study has, unless it would have only one point."""
    records = figure.records(study)
    if figure.over is not None and len({getattr(record, figure.over) for record in records}) < 2:
        return []
    every = [tuple(getattr(record, field) for field in figure.by) for record in records]
    return [dict(zip(figure.by, values, strict=True)) for values in dict.fromkeys(every)]


def records_of(study: StudyResult, name: str, figure: Figure, where: Mapping[str, Any]) -> Sequence[Any]:
    """The records of one figure.

    Raises
    ------
    InputError
        If an option does not apply to the figure, its value is unknown, or one of several values must be chosen.
    """
    given = {field: value for field, value in where.items() if value is not None}
    known = (*figure.by, *figure.among)
    for field in given:
        if field not in known:
            options = f": it has {listed(known)}" if known else ""
            raise InputError(
                "the figure {name} has no option {option}{options}", name=name, option=Argument(field), options=options
            )
    records = list(figure.records(study))
    if not records:
        needed = f"needs {figure.needs}" if figure.needs else f"shows the table {figure.table}"
        raise InputError(f"the figure {name} {needed}, but the result has none")
    for field in (*figure.by, *(each for each in figure.among if each in given)):
        values = list(dict.fromkeys(getattr(record, field) for record in records))
        shown = [str(value) for value in values]
        if field in given:
            if field == "metric":
                given[field] = metric_name(given[field], shown)
            by_name = {str(value).casefold(): value for value in values}
            if str(given[field]).casefold() not in by_name:
                check_name(field, str(given[field]), shown)
            chosen = by_name[str(given[field]).casefold()]
        elif len(values) > 1:
            raise InputError(
                "the result has several values of {field}: choose one with {option}: {values}",
                field=field,
                option=Argument(field),
                values=listed(shown),
            )
        else:
            (chosen,) = values
        records = [record for record in records if getattr(record, field) == chosen]
    return records
