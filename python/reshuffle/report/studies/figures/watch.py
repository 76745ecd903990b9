"""The figure of a difference and its confidence sequence while data arrive."""

from __future__ import annotations

from matplotlib.axes import Axes

from ....results.studies import SequentialLook
from ...plots.labels import wrapped
from ...plots.style import INK, MUTED
from .base import ColumnFigure, label


class WatchFigure(ColumnFigure[SequentialLook]):
    """A line for the difference, and a band for its confidence sequence."""

    HEIGHT = 2.2

    def draw(self, ax: Axes) -> None:
        looks = sorted(self.records, key=lambda look: look.units)
        units = [look.units for look in looks]
        ax.axhline(0, color=MUTED, linewidth=0.6, linestyle=(0, (3, 2)), zorder=1)
        ends = [(look.units, look.low, look.high) for look in looks if look.low is not None and look.high is not None]
        if ends:
            at, low, high = zip(*ends, strict=True)
            ax.fill_between(at, low, high, color=INK, alpha=0.15, linewidth=0, zorder=2)
        ax.plot(
            units, [look.difference for look in looks], color=INK, linewidth=1.0, marker="o", markersize=2, zorder=3
        )
        label(ax, "units", wrapped(f"Δ {looks[0].metric}", 30))
