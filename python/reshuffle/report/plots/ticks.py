"""Ticks whose labels are apart: those of small numbers are wider than matplotlib expects."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.textpath import TextPath
from matplotlib.ticker import Locator, MaxNLocator

# The least space between two labels, as a fraction of the font size.
SPACE = 0.6
# Narrow axes have at least three ticks if their labels fit, else two, else one: matplotlib would have two by default.
FEWEST = (3, 2, 1)


class Ticks(Locator):
    """As many ticks at round values as have labels that do not touch, but not more than matplotlib would have."""

    axis: Any
    """The axis of a figure, since only there labels have a width."""

    def __call__(self) -> Any:
        """The positions in the limits of the axis."""
        return self.tick_values(*self.axis.get_view_interval())

    def tick_values(self, vmin: float, vmax: float) -> Any:
        """The positions between two values, of which those at the ends may be beyond them."""
        most = int(np.clip(self.axis.get_tick_space(), 1, 9))
        ticks: Any = []
        for fewest in FEWEST:
            for intervals in range(most, 0, -1):
                locator = MaxNLocator(intervals, steps=[1, 2, 2.5, 5, 10], min_n_ticks=fewest)
                ticks = locator.tick_values(vmin, vmax)
                if self._apart(ticks, vmin, vmax):
                    return ticks
        return ticks

    def _apart(self, ticks: Any, vmin: float, vmax: float) -> bool:
        """Whether the labels of these ticks have space between them."""
        labels = self.axis.get_major_formatter().format_ticks(ticks)
        shown = [(tick, label) for tick, label in zip(ticks, labels, strict=True) if vmin <= tick <= vmax]
        font = self.axis.get_major_ticks(1)[0].label1.get_fontproperties()
        size = font.get_size_in_points()
        axes = self.axis.axes
        point = 72 * axes.bbox.width / axes.figure.dpi / ((vmax - vmin) or 1.0)
        ends = []
        for tick, label in shown:
            half = _width(label, size, font) / 2
            ends.append((tick * point - half, tick * point + half))
        return all(right - left >= SPACE * size for (_, left), (right, _) in pairwise(ends))


@lru_cache(maxsize=1000)
def _width(label: str, size: float, font: Any) -> float:
    """The width of a label. matplotlib asks for ticks many times while it lays out a figure: widths are kept."""
    return float(TextPath((0, 0), label, size, font).get_extents().width) if label else 0.0
