"""Figures for papers. matplotlib is imported only when a figure is drawn.

To add a figure, write a file here with a class that has a size and draws into axes, an entry in :data:`PLOTS`, and a
method of :class:`reshuffle.report.Plots` with its name (``results/plots.py``). Add the name to :mod:`reshuffle.types`,
for type checkers and the command line.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from io import BytesIO
from typing import TYPE_CHECKING, Any

from ...results import Comparison

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .style import Drawing

__all__ = ["PLOTS", "figure_of", "file_of"]

# In inches: higher panels one above the other share their rows instead, at most so many beside each other.
STACKED, MOST_BESIDE = 4.5, 4


def drawn(
    kind: str, comparison: Comparison, metric: str | None, ax: Axes | None = None, width: float | None = None,
    height: float | None = None, **options: Any,
) -> Axes:  # fmt: skip
    """The axes of a figure under a metric; without one, the first axes of a figure with a panel for each."""
    from .style import axes_of

    if metric is None and ax is None and len(comparison.metrics) > 1:
        panels = {used.name: (comparison, used.name) for used in comparison.metrics}
        return figure_of(kind, panels, width=width, height=height, **options).axes[0]
    return axes_of(_drawing(kind, comparison, metric, **options), ax, width, height)


def figure_of(
    kind: str, panels: Mapping[str, tuple[Comparison, str | None]], *, width: float | None = None,
    height: float | None = None, test_set: str = "", **options: Any,
) -> Figure:  # fmt: skip
    """A new figure with a panel for each title: a comparison under one of its metrics. One panel needs no title.

    ``test_set``: the one of the comparisons, for labels, if the result has several.
    """
    from .panels import panels_of, stacked_height
    from .style import axes_of

    def draw(order: tuple[str, ...] = (), beside: int = 1) -> dict[str, Drawing]:
        shown: dict[str, Any] = {**options, "order": order, "beside": beside, "test_set": test_set}
        return {title: _drawing(kind, *panel, **shown) for title, panel in panels.items()}

    drawings, beside = draw(), 1
    if len(drawings) == 1:
        (only,) = drawings.values()
        made: Figure = axes_of(only, width=width, height=height).figure  # type: ignore[assignment]
        return made
    order = _shared_order(kind, panels)
    # A forest has no row of its baseline, which may be another system in each panel.
    has_same_rows = kind != "forest" or (options.get("baseline") or next(iter(panels.values()))[0].baseline) is not None
    if order and has_same_rows and stacked_height(drawings.values()) > STACKED:
        beside = len(panels) if len(panels) <= MOST_BESIDE else 3
    # The bars of a ranking join neighbours, so panels of rankings have an order of their own if they have bars.
    if order and (beside > 1 or kind != "ranking"):
        drawings = draw(order, beside)
    return panels_of(drawings, beside, width, height)


def _shared_order(kind: str, panels: Mapping[str, tuple[Comparison, str | None]]) -> tuple[str, ...]:
    """The systems from the best one in the first panel, if all panels have the same."""
    from .view import View

    first, *others = panels.values()
    comparison, metric = first
    if kind not in ("ranking", "densities", "forest"):
        return ()
    if any({*other.systems} != {*comparison.systems} for other, _ in others):
        return ()
    return (*View.from_options(comparison, metric, None, None).scores,)


def _drawing(
    kind: str, comparison: Comparison, metric: str | None, *, names: Mapping[str, str] | None = None,
    digits: int | None = None, order: tuple[str, ...] = (), beside: int = 1, test_set: str = "", **own: Any,
) -> Drawing:  # fmt: skip
    """A figure of a comparison on this test set, whose rows are in an order that several panels share, if any."""
    from .view import View

    view = replace(View.from_options(comparison, metric, names, digits), order=order, beside=beside, test_set=test_set)
    figure = getattr(import_module(f".{kind}", __package__), PLOTS[kind])
    drawing: Drawing = figure.from_view(view, **own)
    return drawing


def check_matplotlib() -> None:
    """Raise :class:`ModuleNotFoundError` if matplotlib is not installed."""
    if find_spec("matplotlib") is None:
        raise ModuleNotFoundError("plots need matplotlib: pip install 'reshuffle[plots]'", name="matplotlib")


def file_of(figure: Any, fmt: str) -> bytes:
    """The contents of a ``pdf``, ``svg`` or ``png`` file with a new figure."""
    content = BytesIO()
    figure.savefig(content, format=fmt)
    return content.getvalue()


# By the name of a method of Plots, which is also that of a file here, the class in it that draws. In the order of the
# gallery (docs/gallery.md).
PLOTS: Mapping[str, str] = {
    "ranking": "RankingFigure",
    "forest": "Forest",
    "matrix": "Matrix",
    "null": "NullFigure",
    "densities": "Densities",
}
