"""Power curves, by difference or by size, and minimum detectable differences by size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter

from ....results.studies import DetectableAtSize, PowerRate
from ...notes import number
from ...plots.labels import PLAIN
from ...plots.style import COLUMN, FAINT, FONT_SIZE, MUTED, PAGE
from ..wording import constant, differing, of_name
from .lines import key, looks, point

# The number of characters for which the key of a figure of one column has room.
WIDEST = 48


@dataclass(frozen=True)
class PowerFigure:
    """Power against the true difference, the effect η or the size: a line for each test, and whatever else differs.

    ``about`` is the metric for differences, and the unit for sizes.
    """

    rates: Sequence[PowerRate]
    by: Literal["difference", "effect", "size"]
    about: str

    @property
    def size(self) -> tuple[float, float]:
        rows = -(-len(self._lines) // self._columns)
        return (COLUMN if self._longest <= WIDEST else PAGE), 2.1 + 0.14 * rows

    @property
    def font_size(self) -> float:
        return FONT_SIZE

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
        if self.by == "size":
            ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:,.0f}"))
        ax.spines[["top", "right"]].set_visible(False)
        ax.set_xlabel(self._label, **PLAIN)
        ax.set_ylabel("power" if alpha is None else f"power at α = {number(alpha)}", **PLAIN)
        key(ax, shown, loc="lower left", bbox_to_anchor=(0, 1.0), ncols=self._columns, columnspacing=1.0)

    @property
    def _lines(self) -> dict[str, list[PowerRate]]:
        lines: dict[str, list[PowerRate]] = {}
        for rate in self.rates:
            lines.setdefault(self._name(rate), []).append(rate)
        return lines

    @property
    def _longest(self) -> int:
        """The number of characters of the longest name of a line."""
        return max(map(len, self._lines))

    @property
    def _columns(self) -> int:
        """The columns of the key."""
        return max(1, min(len(self._lines), 3, WIDEST // (self._longest + 4)))

    @property
    def _label(self) -> str:
        labels = {"difference": f"true difference ({self.about})", "effect": "η", "size": f"{self.about}s"}
        return labels[self.by]

    def _x(self, rate: PowerRate) -> float:
        return abs(float(getattr(rate, self.by) or 0))

    def _name(self, rate: PowerRate) -> str:
        """The test, with what else differs between lines."""
        others = [name for name in ("test", "metric", "model") if name in self._differing]
        parts = [str(getattr(rate, name)) for name in others] or [rate.test]
        if {"system", "baseline"} & set(self._differing):
            parts.append(f"{rate.system} − {rate.baseline}")
        if self.by == "size" and "effect" in self._differing and rate.effect is not None:
            parts.append(f"η = {number(rate.effect)}")
        elif self.by == "size" and "difference" in self._differing:
            parts.append(f"Δ = {number(rate.difference)}")
        return ", ".join(parts)

    @property
    def _differing(self) -> list[str]:
        return differing(self.rates, ("test", "metric", "model", "system", "baseline", "effect", "difference"))


@dataclass(frozen=True)
class DetectableFigure:
    """The minimum detectable difference against the size, with the range over pairs as a band."""

    found: Sequence[DetectableAtSize]
    unit: str

    @property
    def size(self) -> tuple[float, float]:
        return COLUMN, 2.3

    @property
    def font_size(self) -> float:
        return FONT_SIZE

    def draw(self, ax: Axes) -> None:
        found = of_name(self.found, method="normal")
        powers = dict.fromkeys(each.power for each in found)
        shown = looks(f"power {number(power)}" for power in powers)
        for power, look in zip(powers, shown.values(), strict=True):
            own = sorted(of_name(found, power=power), key=lambda each: int(each.size))
            # In proportion to 1/√n, which is a curve.
            x = np.geomspace(own[0].size, own[-1].size, 101)
            scale = np.sqrt(own[0].size / x)
            ax.fill_between(x, own[0].low * scale, own[0].high * scale, color=FAINT, linewidth=0, zorder=1)
            ax.plot(x, own[0].difference * scale, color=look["color"], linestyle=look["linestyle"], linewidth=1.0)
            for each in own:
                point(ax, each.size, each.difference, None, look)
        ax.set_xscale("log")
        sizes = sorted({each.size for each in found})
        ax.set_xticks(sizes, [f"{size:,}" for size in sizes])
        ax.minorticks_off()
        ax.set_ylim(0, None)
        ax.spines[["top", "right"]].set_visible(False)
        ax.set_xlabel(f"{self.unit}s", **PLAIN)
        ax.set_ylabel(f"minimum detectable difference ({constant(found, 'metric')})", **PLAIN)
        key(ax, shown, loc="upper right")
