"""Values on an axis with confidence intervals, whose ends may be infinite or undefined."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from matplotlib.axes import Axes

from ...results import ConfidenceInterval
from ..wording import number
from .view import View


def set_limits(ax: Axes, values: Iterable[float], intervals: Sequence[ConfidenceInterval | None]) -> None:
    """Set the limits of x so that they contain all finite numbers, with a margin."""
    ends = [end for interval in intervals if interval is not None for end in (interval.low, interval.high)]
    finite = [float(value) for value in (*values, *ends) if math.isfinite(value)]
    low, high = (min(finite), max(finite)) if finite else (0.0, 0.0)
    margin = 0.05 * (high - low) or 0.05 * abs(high) or 1.0
    ax.set_xlim(low - margin, high + margin)


def whisker(ax: Axes, y: float, value: float, interval: ConfidenceInterval | None, color: str) -> None:
    """Draw an interval as a line, with an arrow at the edge of the axes instead of an infinite end."""
    if interval is None:
        return
    edges = ax.get_xlim()
    drawn = []
    for end, edge, arrow in zip((interval.low, interval.high), edges, "<>", strict=True):
        if math.isinf(end):
            ax.plot(edge, y, marker=arrow, markersize=3, color=color, clip_on=False, zorder=3)
        # An undefined end is drawn at the value itself.
        drawn.append(edge if math.isinf(end) else value if math.isnan(end) else end)
    if not any(map(math.isnan, drawn)):
        ax.plot(drawn, [y, y], color=color, linewidth=1.0, solid_capstyle="butt", zorder=2)


def mark(ax: Axes, y: float, value: float, color: str, filled: bool, marker: str = "o", **attributes: Any) -> None:
    """Draw a value as a marker, which is filled if it is significant."""
    ax.plot(
        value, y, marker=marker, markersize=3.8, markeredgewidth=0.9, markeredgecolor=color,
        markerfacecolor=color if filled else "white", linestyle="none", zorder=4, **attributes,
    )  # fmt: skip


def key(view: View) -> str:
    """What the markers mean."""
    margin = "" if view.margin is None else f" (margin {number(view.margin)})"
    return f"● {view.pvalue_name} ≤ {view.alpha}{margin}    ○ {view.pvalue_name} > {view.alpha}"
