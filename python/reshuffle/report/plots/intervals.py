"""Values on an axis with confidence intervals, whose ends may be infinite or undefined."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.offsetbox import AnnotationBbox, HPacker, TextArea, VPacker

from ...results import ConfidenceInterval
from ..wording import number
from .labels import PLAIN
from .style import BETTER, INK, MUTED, WORSE
from .ticks import Ticks
from .view import View

# In points. Ends of intervals are higher than markers, so that they are visible where an interval is narrower than one.
MARKER, END = 3.2, 4.8
# Texts with their colours.
Pieces: TypeAlias = Sequence[tuple[str, str]]


def set_limits(ax: Axes, values: Iterable[float], intervals: Sequence[ConfidenceInterval | None]) -> None:
    """Set the limits of x so that they contain all finite numbers, with a margin."""
    ends = [end for interval in intervals if interval is not None for end in (interval.low, interval.high)]
    finite = [float(value) for value in (*values, *ends) if math.isfinite(value)]
    low, high = (min(finite), max(finite)) if finite else (0.0, 0.0)
    margin = 0.05 * (high - low) or 0.05 * abs(high) or 1.0
    ax.set_xlim(low - margin, high + margin)
    ax.xaxis.set_major_locator(Ticks())


def whisker(ax: Axes, y: float, value: float, interval: ConfidenceInterval | None, color: str) -> None:
    """Draw an interval as a line with marked ends: an arrow at the edge of the axes instead of an infinite one."""
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
        ends = [end for end in (interval.low, interval.high) if math.isfinite(end)]
        ax.plot(
            ends, [y] * len(ends), marker="|", markersize=END, markeredgewidth=0.7, color=color, linestyle="none",
            zorder=3,
        )  # fmt: skip


def mark(ax: Axes, y: float, value: float, color: str, filled: bool, marker: str = "o", **attributes: Any) -> None:
    """Draw a value as a marker, which is filled if it is significant."""
    ax.plot(
        value, y, marker=marker, markersize=MARKER, markeredgewidth=0.8, markeredgecolor=color,
        markerfacecolor=color if filled else "white", linestyle="none", zorder=4, **attributes,
    )  # fmt: skip


def key(view: View, colors: Iterable[str]) -> Pieces:
    """What the markers mean, if they have these colours."""
    margin = "" if view.margin is None else f" (margin {number(view.margin)})"
    used = {*colors}
    filled = [("●", color) for color in (BETTER, WORSE, INK) if color in used] or [("●", INK)]
    texts = f" {view.pvalue_name} ≤ {view.alpha}{margin}    ", f" {view.pvalue_name} > {view.alpha}"
    return [*filled, (texts[0], INK), ("○", MUTED), (texts[1], INK)]


class Below(AnnotationBbox):
    """A box that is measured where it will be drawn; before matplotlib 3.8, it is measured where it was drawn last."""

    def get_tightbbox(self, renderer: Any = None) -> Any:
        """Its extent in pixels."""
        if renderer is not None:
            self.update_positions(renderer)
        return super().get_tightbbox(renderer)


def draw_key(ax: Axes, lines: Sequence[Pieces]) -> None:
    """Write lines of coloured text below the label of the axis."""
    rows: list[Artist] = [
        HPacker(
            children=[TextArea(text, textprops={"color": color, **PLAIN}) for text, color in line],
            pad=0, sep=0, align="baseline",
        )
        for line in lines
    ]  # fmt: skip
    box = VPacker(children=rows, pad=0, sep=1.5, align="center")
    below = Below(
        box, (0.5, 0), xybox=(0, -1.5), xycoords=ax.xaxis.label, boxcoords="offset points", box_alignment=(0.5, 1),
        frameon=False, pad=0, annotation_clip=False,
    )  # fmt: skip
    ax.add_artist(below)
