"""The figure of family-wise error rates by adjustment."""

from __future__ import annotations

from matplotlib.axes import Axes

from ....results.studies import FamilyWiseRate
from ...plots.labels import PLAIN
from ...plots.style import COLUMN, FAINT, INK, MUTED
from ...wording import number
from ..wording import differing
from .base import ColumnFigure, key, looks


class FamilyWiseFigure(ColumnFigure[FamilyWiseRate]):
    """A row for each adjustment, and in it a rate with its interval for each test and kind of family."""

    @property
    def size(self) -> tuple[float, float]:
        return COLUMN, 0.9 + 0.2 * (len(self.series) + 2) / 3 + 0.09 * len(self.records)

    @property
    def series(self) -> list[str]:
        """The tests, with what distinguishes families."""
        return list(dict.fromkeys(map(self._series_of, self.records)))

    def _series_of(self, rate: FamilyWiseRate) -> str:
        several = differing(self.records, ("variances", "systems"))
        parts = {"variances": rate.variances, "systems": f"{rate.systems:,} systems"}
        return ", ".join([rate.test, *(parts[name] for name in several)])

    def draw(self, ax: Axes) -> None:
        rows, shown = list(dict.fromkeys(rate.adjustment for rate in self.records)), looks(self.series)
        alpha, most = self.records[0].alpha, max(self.records, key=lambda rate: rate.pairs)
        ax.axvline(alpha, color=INK, linewidth=0.8, linestyle=(0, (3, 2)), zorder=1)
        ax.axvline(most.independent, color=MUTED, linewidth=0.8, linestyle=(0, (1, 1.5)), zorder=1)
        step = 0.8 / len(shown)
        for rate in self.records:
            name, interval = self._series_of(rate), rate.confidence_interval
            y = rows.index(rate.adjustment) + (list(shown).index(name) - (len(shown) - 1) / 2) * step
            color = shown[name]["color"] if rate.enough_replicates else FAINT
            ax.plot([interval.low, interval.high], [y, y], color=color, linewidth=0.9, zorder=2)
            ax.plot(
                rate.rate, y, marker=shown[name]["marker"], markersize=3.2, markeredgewidth=0.8, markeredgecolor=color,
                markerfacecolor="white" if rate.verdict == "at its level" else color, linestyle="none", zorder=4,
                clip_on=False,
            )  # fmt: skip
        ax.set_yticks(range(len(rows)), rows)
        ax.set_ylim(len(rows) - 0.5, -0.5)
        ax.set_xlim(0, 1)
        ax.tick_params(axis="y", length=0)
        ax.spines[["top", "right", "left"]].set_visible(False)
        faint = "" if all(rate.enough_replicates for rate in self.records) else "\nfaint: too few replicates"
        lines = f"dashed: α = {number(alpha)}, dotted: {most.pairs:,} independent tests"
        ax.set_xlabel(f"family-wise error rate\n{lines}{faint}", **PLAIN)
        key(ax, shown, loc="lower left", bbox_to_anchor=(-0.2, 1.0), ncols=min(len(shown), 2), columnspacing=1.0)
