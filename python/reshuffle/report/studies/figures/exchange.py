"""The figure of type-I errors of exchange units against the standard deviation between runs."""

from __future__ import annotations

from matplotlib.axes import Axes

from ....results.studies.exchange import ExchangeRate
from ...plots.labels import PLAIN
from ...plots.style import COLUMN, MUTED
from ...wording import number
from ..wording import of_name
from .base import ColumnFigure, key_above, looks, point


class ExchangeFigure(ColumnFigure[ExchangeRate]):
    """A line for each exchange unit, over the standard deviations between runs."""

    @property
    def size(self) -> tuple[float, float]:
        return COLUMN, 2.4 + 0.14 * -(-len(self.units) // 3)

    @property
    def units(self) -> list[str]:
        """The exchange units, in order of appearance."""
        return list(dict.fromkeys(rate.exchange for rate in self.records))

    def draw(self, ax: Axes) -> None:
        shown, alpha = looks(self.units), self.records[0].alpha
        ax.axhline(alpha, color=MUTED, linewidth=0.6, linestyle=(0, (3, 2)), zorder=1)
        for unit, look in shown.items():
            own = sorted(of_name(self.records, exchange=unit), key=lambda rate: rate.run_sd or 0.0)
            x = [rate.run_sd or 0.0 for rate in own]
            color = look["color"]
            ax.plot(x, [rate.rate for rate in own], color=color, linestyle=look["linestyle"], linewidth=1.0, zorder=3)
            if all(rate.expected is not None for rate in own):
                ax.plot(
                    x, [rate.expected for rate in own], color=color, linestyle=(0, (1, 1.5)), linewidth=0.7, zorder=2
                )
            for rate in own:
                point(ax, rate.run_sd or 0.0, rate.rate, rate.confidence_interval, look)
        ax.set_ylim(0, min(1.02, 1.1 * max(max(rate.confidence_interval.high for rate in self.records), 2 * alpha)))
        if self.records[0].run_sd is None:
            ax.set_xticks([])
        else:
            ax.set_xlabel("standard deviation between runs / sampling standard deviation", **PLAIN)
        ax.spines[["top", "right"]].set_visible(False)
        ax.set_ylabel(f"type-I error at α = {number(alpha)}", **PLAIN)
        key_above(ax, shown, 3)
