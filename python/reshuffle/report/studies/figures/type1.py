"""Figures of type-I errors: rates against their levels, and the distribution of p."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from matplotlib.axes import Axes

from ....results.studies import PvalueShare, Rate
from ...plots.style import FAINT, INK, MUTED
from ...wording import ci, number
from ..wording import levels_of, of_name
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
