"""The figure of family-wise error rates by adjustment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes

from ....results.studies import FamilyWiseRate
from ...notes import number
from ...plots.labels import PLAIN
from ...plots.style import COLUMN, FAINT, FONT_SIZE, INK, MUTED
from .lines import key, looks

__all__ = ["FamilyWiseFigure"]


@dataclass(frozen=True)
class FamilyWiseFigure:
    """A row for each adjustment, and in it a rate with its interval for each test."""

    rates: Sequence[FamilyWiseRate]

    @property
    def size(self) -> tuple[float, float]:
        return COLUMN, 0.8 + 0.27 * len(self.adjustments)

    @property
    def font_size(self) -> float:
        return FONT_SIZE

    @property
    def adjustments(self) -> list[str]:
        """In order of first appearance."""
        return list(dict.fromkeys(rate.adjustment for rate in self.rates))

    def draw(self, ax: Axes) -> None:
        shown, rows = looks(rate.test for rate in self.rates), self.adjustments
        first = self.rates[0]
        ax.axvline(first.alpha, color=INK, linewidth=0.8, linestyle=(0, (3, 2)), zorder=1)
        ax.axvline(first.independent, color=MUTED, linewidth=0.8, linestyle=(0, (1, 1.5)), zorder=1)
        step = 0.7 / len(shown)
        for rate in self.rates:
            place = list(shown).index(rate.test)
            y = rows.index(rate.adjustment) + (place - (len(shown) - 1) / 2) * step
            look, interval = shown[rate.test], rate.confidence_interval
            color = look["color"] if rate.enough_replicates else FAINT
            ax.plot([interval.low, interval.high], [y, y], color=color, linewidth=0.9, zorder=2)
            ax.plot(
                rate.rate, y, marker=look["marker"], markersize=3.4, markeredgewidth=0.9, markeredgecolor=color,
                markerfacecolor=color if rate.verdict != "at its level" else "white", linestyle="none", zorder=4,
                clip_on=False,
            )  # fmt: skip
        ax.set_yticks(range(len(rows)), rows)
        ax.set_ylim(len(rows) - 0.5, -0.5)
        ax.set_xlim(0, 1)
        ax.tick_params(axis="y", length=0)
        ax.spines[["top", "right", "left"]].set_visible(False)
        faint = "\nfaint: too few replicates" if not all(rate.enough_replicates for rate in self.rates) else ""
        ax.set_xlabel(
            f"family-wise error rate (dashed: α = {number(first.alpha)}; dotted: {first.pairs:,} independent tests)"
            f"{faint}",
            **PLAIN,
        )
        key(ax, shown, loc="lower left", bbox_to_anchor=(0, 1.0), ncols=min(len(shown), 3), columnspacing=1.0)
