"""Kendall's τ against the value of a smoothing's parameter."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from ....grouping import grouped
from ....results.studies import SmoothingSetting
from ...plots.style import COLUMN, FAINT
from .base import ColumnFigure, key_above, label, looks, point

SYMBOLS = {"epsilon": "ε", "k": "K", "alpha": "α"}


class GridFigure(ColumnFigure[SmoothingSetting]):
    """τ by value: a line for each test set."""

    @property
    def size(self) -> tuple[float, float]:
        return COLUMN, 2.1 + 0.14 * -(-len(self._lines) // 2)

    def draw(self, ax: Axes) -> None:
        lines, shown = self._lines, looks(self._lines)
        for name, settings in lines.items():
            ordered = sorted((each for each in settings if each.tau == each.tau), key=lambda each: each.value)
            look = shown[name]
            x = [each.value for each in ordered]
            ax.plot(x, [each.tau for each in ordered], color=look["color"], linestyle=look["linestyle"], linewidth=1.0)
            for each in ordered:
                point(ax, each.value, each.tau, None, look, filled=each.best)
        values = sorted({each.value for each in self.records})
        ax.set_xscale("log")
        ax.xaxis.set_major_locator(FixedLocator(_apart(values)))
        ax.xaxis.set_minor_locator(NullLocator())
        ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        ax.grid(axis="y", color=FAINT, linewidth=0.5)
        label(ax, SYMBOLS[self.records[0].parameter], "Kendall's τ")
        if len(lines) > 1 or next(iter(lines)):
            key_above(ax, shown, 2)

    @property
    def _lines(self) -> dict[str, list[SmoothingSetting]]:
        return grouped((each.test_set, each) for each in self.records)


def _apart(values: Sequence[float]) -> list[float]:
    """The values that have room for their labels on a logarithmic axis: each at least a tenth of it after the last."""
    least = (values[-1] / values[0]) ** 0.1 if values[0] > 0 else 1.0
    kept = [values[0]]
    for value in values[1:]:
        if value >= kept[-1] * least:
            kept.append(value)
    return kept
