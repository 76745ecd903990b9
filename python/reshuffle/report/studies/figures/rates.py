"""Figures of rejection rates, by level, adjustment, or the deviation between runs, and of the distribution of p."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from matplotlib.axes import Axes

from ....results.studies import ExchangeRate, FamilyWiseRate, PvalueShare, Rate
from ...plots.labels import PLAIN
from ...plots.style import COLUMN, FAINT, INK, MUTED
from ...wording import ci, number
from ..shared import differing, levels_of, of_name
from .base import ColumnFigure, key, key_above, label, looks, point


class RatesFigure(ColumnFigure[Rate]):
    """Rejection rates divided by their levels, with intervals: a group of tests for each level."""

    def draw(self, ax: Axes) -> None:
        levels, shown = levels_of(self.records), looks(rate.test for rate in self.records)
        ax.axhline(1, color=INK, linewidth=0.8, linestyle=(0, (3, 2)), zorder=1)
        step = 0.7 / len(shown)
        for at, alpha in enumerate(levels):
            for number_of_test, (test, look) in enumerate(shown.items()):
                for rate in of_name(self.records, test=test, alpha=alpha):
                    x = at + (number_of_test - (len(shown) - 1) / 2) * step
                    interval = rate.confidence_interval
                    relative = replace(interval, low=interval.low / alpha, high=interval.high / alpha)
                    point(ax, x, rate.rate / alpha, relative, look, rate.verdict != "at its level")
        ax.set_xlim(-0.5, len(levels) - 0.5)
        ax.set_ylim(0, None)
        ax.set_xticks(range(len(levels)), [number(alpha) for alpha in levels])
        ax.tick_params(axis="x", length=0)
        level = ci(self.records[0].confidence_interval.confidence_level)
        label(ax, f"α\n● {level} excludes α    ○ includes α", "rejection rate / α")
        key_above(ax, shown, 3)


class QQFigure(ColumnFigure[PvalueShare]):
    """The distribution of p against that of an exact test, which is uniform."""

    HEIGHT = 2.8

    def draw(self, ax: Axes) -> None:
        shown = looks(share.test for share in self.records)
        p = np.linspace(0, 1, 201)
        half = 1.959964 * np.sqrt(p * (1 - p) / self.study.plan.simulations)
        ax.fill_between(p, np.clip(p - half, 0, 1), np.clip(p + half, 0, 1), color=FAINT, linewidth=0)
        ax.plot(p, p, color=MUTED, linewidth=0.6)
        for test, look in shown.items():
            own = sorted(of_name(self.records, test=test), key=lambda share: float(share.p))
            x, y = [0.0, *(share.p for share in own)], [0.0, *(share.share for share in own)]
            ax.plot(x, y, color=look["color"], linestyle=look["linestyle"], linewidth=1.0, zorder=3, clip_on=False)
        ax.set_xlim(0, 1)
        ax.set_ylim(0, 1)
        ax.set_aspect("equal")
        label(ax, "p\nband: 95% of exact tests, at each p", "share of simulations with a p-value ≤ p")
        key(ax, shown, lines=True, loc="lower right")


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
