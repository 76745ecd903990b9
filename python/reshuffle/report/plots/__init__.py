"""Figures for papers. matplotlib is imported only when a figure is drawn.

To add a figure, write a file here with a class that has a size and draws into axes, an entry in :data:`PLOTS`, and a
method of :class:`reshuffle.report.Plots` with its name (``results/plots.py``). Add the name to :mod:`reshuffle.types`,
for type checkers and the command line.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from io import BytesIO
from typing import TYPE_CHECKING, Any

from ...errors import InputError, quoted
from ...results import Comparison, PairedDifference

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .style import Drawing
    from .view import View

__all__ = ["PLOTS", "figure_of", "file_of"]

# In inches: higher panels one above the other share their rows instead, at most so many beside each other.
STACKED, MOST_BESIDE = 4.5, 4


def drawn(
    kind: str, comparison: Comparison, metric: str | None, ax: Axes | None, width: float | None, height: float | None,
    **options: Any,
) -> Axes:  # fmt: skip
    """The axes of a figure under a metric; without one, the first axes of a figure with a panel for each."""
    from .style import axes_of

    metrics = [used.name for used in comparison.metrics]
    if metric is None and ax is None and len(metrics) > 1:
        panels = {name: (comparison, name) for name in metrics}
        axes: Axes = figure_of(kind, panels, width=width, height=height, **options).axes[0]
        return axes
    return axes_of(_drawing(kind, comparison, metric, **options), ax, width, height)


def figure_of(
    kind: str, panels: Mapping[str, tuple[Comparison, str | None]], *, width: float | None = None,
    height: float | None = None, test_set: str = "", **options: Any,
) -> Figure:  # fmt: skip
    """A new figure with a panel for each title: a comparison under one of its metrics. One panel needs no title.

    ``test_set``: the one of the comparisons, for labels, if the result has several.
    """
    from .panels import drawn_alone, panels_of, stacked_height
    from .style import axes_of

    def draw(order: tuple[str, ...] = (), beside: int = 1) -> dict[str, Callable[..., Axes]]:
        shown: dict[str, Any] = {**options, "order": order, "beside": beside, "test_set": test_set}
        return {title: partial(axes_of, _drawing(kind, *panel, **shown)) for title, panel in panels.items()}

    panel = draw()
    if len(panel) == 1:
        (only,) = panel.values()
        made: Figure = only(width=width, height=height).figure  # type: ignore[assignment]
        return made
    alone, beside = drawn_alone(panel), 1
    order = _shared_order(kind, panels)
    if stacked_height(alone) > STACKED and order and _has_same_rows(kind, panels, options.get("baseline")):
        beside = len(panels) if len(panels) <= MOST_BESIDE else 3
    # The bars of a ranking join neighbours, so panels of rankings have an order of their own if they have bars.
    if order and (beside > 1 or kind != "ranking"):
        panel = draw(order, beside)
        alone = drawn_alone(panel)
    return panels_of(panel, alone, beside, width, height)


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


def _has_same_rows(kind: str, panels: Mapping[str, tuple[Comparison, str | None]], baseline: Any) -> bool:
    """Whether all panels have the same rows: a forest has none of its baseline."""
    comparison, _ = next(iter(panels.values()))
    return kind != "forest" or (baseline or comparison.baseline) is not None


def _drawing(
    kind: str, comparison: Comparison, metric: str | None, *, names: Mapping[str, str] | None = None,
    digits: int | None = None, order: tuple[str, ...] = (), beside: int = 1, test_set: str = "", **own: Any,
) -> Drawing:  # fmt: skip
    """A figure of a comparison on this test set, whose rows are in an order that several panels share, if any."""
    from .view import View

    view = View.from_options(comparison, metric, names, digits)
    return PLOTS[kind](replace(view, order=order, beside=beside, test_set=test_set), **own)


def check_matplotlib() -> None:
    """Raise :class:`ModuleNotFoundError` if matplotlib is not installed."""
    if find_spec("matplotlib") is None:
        raise ModuleNotFoundError("plots need matplotlib: pip install 'reshuffle[plots]'", name="matplotlib")


def _forest(view: View, baseline: str | None = None) -> Drawing:
    from .forest import Forest

    return Forest.from_view(view, baseline)


def _matrix(view: View) -> Drawing:
    from .matrix import Matrix

    return Matrix.from_view(view)


def _ranking(view: View) -> Drawing:
    from .ranking import RankingFigure

    return RankingFigure(view)


def _null(view: View, system: str | PairedDifference | None = None, baseline: str | None = None) -> Drawing:
    from .null import NullFigure

    return NullFigure.from_view(view, _pair(view, system, baseline))


def _densities(view: View) -> Drawing:
    from .densities import Densities

    return Densities.from_view(view)


def _pair(view: View, system: str | PairedDifference | None, baseline: str | None) -> PairedDifference:
    """The pair that arguments name."""
    view.need_pairs("a null distribution")
    if isinstance(system, PairedDifference):
        return view.pair(system.system, system.baseline)
    if isinstance(system, str):
        return view.pair(system, baseline)
    if system is not None:
        raise InputError(f"expected a system and its baseline, as two names, got {quoted(system)}")
    first = view.pairs[0]
    if len(view.pairs) > 1:
        raise InputError(
            f"there are {len(view.pairs):,} pairs: choose one, as in null({quoted(first.system)}, "
            f"{quoted(first.baseline)})"
        )
    return first


def file_of(figure: Any, fmt: str) -> bytes:
    """The contents of a ``pdf``, ``svg`` or ``png`` file with a new figure."""
    content = BytesIO()
    figure.savefig(content, format=fmt)
    return content.getvalue()


# By the name of a method of Plots, in the order of the gallery (docs/gallery.md).
PLOTS: Mapping[str, Callable[..., Drawing]] = {
    "ranking": _ranking,
    "forest": _forest,
    "matrix": _matrix,
    "null": _null,
    "densities": _densities,
}
