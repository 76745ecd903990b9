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
from .look import PAGE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .style import Drawing
    from .view import View

__all__ = ["PLOTS", "figure_of", "file_of"]

# In inches: higher panels one above the other share their rows instead, at most so many beside each other.
STACKED, MOST_BESIDE = 4.5, 4


def drawn(
    kind: str, comparison: Comparison, metric: str | None, ax: Axes | None = None, width: float | None = None,
    height: float | None = None, names: Mapping[str, str] | None = None, digits: int | None = None, **own: Any,
) -> Axes:  # fmt: skip
    """The axes of a figure under a metric; without one, the first axes of a figure with a panel for each."""
    from .style import axes_of
    from .view import View

    if metric is None and ax is None and len(comparison.metrics) > 1:
        panels = {used.name: (comparison, used.name) for used in comparison.metrics}
        return figure_of(kind, panels, width=width, height=height, names=names, digits=digits, **own).axes[0]
    return axes_of(_drawing(kind, View.from_options(comparison, metric, names, digits), own), ax, width, height)


def figure_of(
    kind: str, panels: Mapping[str, tuple[Comparison, str | None]], *, width: float | None = None,
    height: float | None = None, names: Mapping[str, str] | None = None, digits: int | None = None,
    test_set: str = "", **own: Any,
) -> Figure:  # fmt: skip
    """A new figure with a panel for each title: a comparison under one of its metrics. One panel needs no title.

    ``test_set``: the one of the comparisons, for labels, if the result has several.
    """
    from .panels import panels_of, stacked_height
    from .style import axes_of, length_of
    from .view import View

    views = {
        title: replace(View.from_options(*panel, names, digits), test_set=test_set) for title, panel in panels.items()
    }
    drawings = {title: _drawing(kind, view, own) for title, view in views.items()}
    first, *others = views.values()
    if not others:
        (only,) = drawings.values()
        made: Figure = axes_of(only, width=width, height=height).figure  # type: ignore[assignment]
        return made
    beside = 1
    # Panels with the same systems have the order of the first, in which the best one is above.
    if kind in ("ranking", "densities", "forest") and len({frozenset(view.scores) for view in views.values()}) == 1:
        # A forest has no row of its baseline, which may be another system in each panel.
        has_same_rows = kind != "forest" or (own.get("baseline") or first.comparison.baseline) is not None
        if has_same_rows and stacked_height(drawings.values()) > STACKED:
            beside = len(panels) if len(panels) <= MOST_BESIDE else 3
        # The bars of a ranking join neighbours, so panels of rankings have an order of their own if they have bars.
        if beside > 1 or kind != "ranking":
            # Narrow panels have as few columns as those of as many panels on a page.
            crowded = max(beside, round(beside * PAGE / length_of("width", width, PAGE)))
            shared = {title: replace(view, order=(*first.scores,), beside=crowded) for title, view in views.items()}
            drawings = {title: _drawing(kind, view, own) for title, view in shared.items()}
    return panels_of(drawings, beside, width, height)


def _drawing(kind: str, view: View, own: Mapping[str, Any]) -> Drawing:
    """A figure of a comparison under a metric, with options of its own."""
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
