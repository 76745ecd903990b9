"""Power curves, by difference or by size, and minimum detectable differences by size."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter

from ....grouping import grouped
from ....results.studies import DetectableAtSize, PowerRate
from ...plots.style import COLUMN, FAINT, MUTED, PAGE
from ...wording import number
from ..shared import constant, differing, of_keys, unit_of
from .base import ColumnFigure, key, key_above, label, looks, point

# The number of characters for which the key of a figure of one column has room.
WIDEST = 48


class PowerFigure(ColumnFigure[PowerRate], ABC):
    """Power against a field of the rates: a line for each test, and whatever else differs."""

    BY: ClassVar[Literal["difference", "effect", "size"]]

    @property
    @abstractmethod
    def label(self) -> str:
        """Of the x axis."""

    @property
    def rates(self) -> Sequence[PowerRate]:
        """The rates that are drawn."""
        return self.records

    @property
    def size(self) -> tuple[float, float]:
        rows = -(-len(self._lines) // self._columns)
        return (COLUMN if self._longest <= WIDEST else PAGE), 2.1 + 0.14 * rows

    def draw(self, ax: Axes) -> None:
        lines, shown = self._lines, looks(self._lines)
        alpha = constant(self.rates, "alpha")
        if alpha is not None:
            ax.axhline(alpha, color=MUTED, linewidth=0.6, linestyle=(0, (3, 2)), zorder=1)
        for name, rates in lines.items():
            ordered = sorted(rates, key=self._x)
            look = shown[name]
            x, y = [self._x(rate) for rate in ordered], [rate.rate for rate in ordered]
            ax.plot(x, y, color=look["color"], linestyle=look["linestyle"], linewidth=1.0, zorder=3)
            for rate in ordered:
                point(ax, self._x(rate), rate.rate, rate.confidence_interval, look)
        ax.set_ylim(0, 1.02)
        ax.set_xlim(0, None)
        if self.BY == "size":
            ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:,.0f}"))
        label(ax, self.label, "power" if alpha is None else f"power at α = {number(alpha)}")
        key_above(ax, shown, self._columns)

    @property
    def _lines(self) -> dict[str, list[PowerRate]]:
        return grouped((self._name(rate), rate) for rate in self.rates)

    @property
    def _longest(self) -> int:
        """The number of characters of the longest name of a line."""
        return max(map(len, self._lines))

    @property
    def _columns(self) -> int:
        """The columns of the key."""
        return max(1, min(len(self._lines), 3, WIDEST // (self._longest + 4)))

    def _x(self, rate: PowerRate) -> float:
        return abs(float(getattr(rate, self.BY) or 0))

    def _name(self, rate: PowerRate) -> str:
        """The test, with what else differs between lines."""
        others = [name for name in ("test", "metric", "model") if name in self._differing]
        parts = [str(getattr(rate, name)) for name in others] or [rate.test]
        if {"system", "baseline"} & set(self._differing):
            parts.append(f"{rate.system} − {rate.baseline}")
        if self.BY == "size" and "effect" in self._differing and rate.effect is not None:
            parts.append(f"η = {number(rate.effect)}")
        elif self.BY == "size" and "difference" in self._differing:
            parts.append(f"Δ = {number(rate.difference)}")
        return ", ".join(parts)

    @property
    def _differing(self) -> list[str]:
        return differing(self.rates, ("test", "metric", "model", "system", "baseline", "effect", "difference"))


class ByDifference(PowerFigure):
    """Power against the true difference."""

    BY = "difference"

    @property
    def label(self) -> str:
        return f"true difference ({constant(self.records, 'metric')})"


class ByEffect(PowerFigure):
    """Power against the effect η, under every metric."""

    BY = "effect"
    label = "η"


class BySize(PowerFigure):
    """Power against the size of the test set."""

    BY = "size"

    @property
    def label(self) -> str:
        return f"{unit_of(self.study)}s"

    @property
    def rates(self) -> Sequence[PowerRate]:
        """Without the rates under the null hypothesis, unless there are no others."""
        return [rate for rate in self.records if rate.difference] or self.records


class DetectableFigure(ColumnFigure[DetectableAtSize]):
    """The minimum detectable difference against the size, with the range over pairs as a band."""

    HEIGHT = 2.3

    def draw(self, ax: Axes) -> None:
        methods = {each.method for each in self.records}
        series = {
            f"{values['method'] + ', ' if len(methods) > 1 else ''}power {number(values['power'])}": own
            for values, own in of_keys(self.records, "method", "power")
        }
        shown = looks(series)
        for own, look in zip(series.values(), shown.values(), strict=True):
            own.sort(key=lambda each: int(each.size))
            sizes = np.array([each.size for each in own])
            x = np.geomspace(sizes[0], sizes[-1], 101)
            # Nearly in proportion to 1/√n, which is a curve.
            scaled = np.array([(each.low, each.difference, each.high) for each in own]).T * np.sqrt(sizes)
            low, middle, high = (np.interp(np.log(x), np.log(sizes), each) / np.sqrt(x) for each in scaled)
            ax.fill_between(x, low, high, color=FAINT, linewidth=0, zorder=1)
            ax.plot(x, middle, color=look["color"], linestyle=look["linestyle"], linewidth=1.0)
            for each in own:
                point(ax, each.size, each.difference, None, look)
        ax.set_xscale("log")
        ticks = sorted({each.size for each in self.records})
        ax.set_xticks(ticks, [f"{size:,}" for size in ticks])
        ax.minorticks_off()
        ax.set_ylim(0, None)
        metric = constant(self.records, "metric")
        label(ax, f"{unit_of(self.study)}s", f"minimum detectable difference ({metric})")
        key(ax, shown, loc="upper right")
