"""Figures of agreement: p against the gain, and a matrix of how many pairs tests agree on."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap

from ....results.studies import PairPvalue, TestAgreement
from ...plots.labels import PLAIN, printable
from ...plots.style import COLUMN, INK, MUTED, PAGE
from ...wording import number
from ..shared import in_percent
from .base import ColumnFigure, label, looks, point

# From light to dark, in steps that are distinguishable in print, and the agreements at which they begin.
SHADES = ("#ffffff", "#eef4fa", "#c6dbef", "#6baed6", "#2166ac")
STEPS = (0.0, 0.8, 0.9, 0.95, 0.99)


class GainsFigure(ColumnFigure[PairPvalue]):
    """1 − p of a test against the gain of the better system, pair by pair."""

    def draw(self, ax: Axes) -> None:
        (look,) = looks([self.records[0].test]).values()
        alpha = max(self.study.plan.alphas)
        for level in self.study.plan.alphas:
            ax.axhline(1 - level, color=MUTED, linewidth=0.6, linestyle=(0, (3, 2)), zorder=1)
        for pair in self.records:
            point(ax, pair.gain, 1 - pair.pvalue, None, look, pair.pvalue <= alpha)
        ax.set_ylim(-0.03, 1.03)
        first = self.records[0]
        label(
            ax,
            f"gain in {printable(first.metric)}\n● p ≤ {number(alpha)}    ○ p > {number(alpha)}",
            f"1 − p, {printable(first.test)}",
        )


class AgreementFigure(ColumnFigure[TestAgreement]):
    """The share of pairs on which two tests or metrics agree, in %."""

    @property
    def columns(self) -> list[tuple[str, str]]:
        """The metric and the test of each column."""
        names = [(row.metric, row.test) for row in self.records] + [
            (row.other_metric, row.other_test) for row in self.records
        ]
        return list(dict.fromkeys(names))

    @property
    def size(self) -> tuple[float, float]:
        k = len(self.columns)
        return (COLUMN if k <= 5 else PAGE), 0.5 + 0.2 * k

    def draw(self, ax: Axes) -> None:
        columns = self.columns
        k, places = len(columns), {name: at for at, name in enumerate(columns)}
        shades = np.full((k, k), np.nan)
        for row in self.records:
            high, low = sorted((places[row.metric, row.test], places[row.other_metric, row.other_test]))
            shade = int(np.searchsorted(STEPS, row.agreement, side="right")) - 1
            shades[low, high] = shade
            ax.text(
                high + 0.5, low + 0.5, in_percent(row.agreement, 0), ha="center", va="center_baseline",
                color="white" if shade == len(SHADES) - 1 else INK, fontsize="small",
            )  # fmt: skip
        ax.pcolormesh(
            np.arange(k + 1), np.arange(k + 1), shades, cmap=ListedColormap(SHADES), vmin=-0.5,
            vmax=len(SHADES) - 0.5, edgecolors="white", linewidth=0.6,
        )  # fmt: skip
        ax.set_xlim(0, k)
        ax.set_ylim(k, 0)
        metrics = {metric for metric, _ in columns}
        names = [printable(test if len(metrics) == 1 else f"{metric}, {test}") for metric, test in columns]
        ax.set_yticks(
            np.arange(k) + 0.5, [f"{name}  {i}" for i, name in enumerate(names, 1)], parse_math=PLAIN["parse_math"]
        )
        ax.set_xticks(np.arange(k - 1) + 0.5, [str(i) for i in range(1, k)])
        ax.tick_params(length=0)
        ax.spines[:].set_visible(False)
        title = f"pairs on which both agree in %, α = {number(self.records[0].alpha)}"
        ax.set_xlabel(title, **PLAIN)
