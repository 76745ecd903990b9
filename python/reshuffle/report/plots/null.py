"""Null distribution: what a test statistic would be by chance, and what it is."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from ...errors import InputError, quoted
from ...results import NullHistogram, PairedDifference
from ..cells import equation, pvalue_cell, random_replicates
from .intervals import Pieces, write_below
from .labels import LABEL, MATHEMATICAL, mathematical, wrapped
from .style import BETTER, COLUMN, FONT_SIZE, INK, MUTED
from .view import View

HEIGHT = 2.0
# Columns of letters below the axes.
WIDTH = 50
# Tests that count the replicates on the other side of 0, so that the tail is opposite to the observed difference.
OPPOSITE = ("bootstrap-percentile", "paired-bootstrap")


@dataclass(frozen=True)
class NullFigure:
    """The histogram of a pair's statistic under the null hypothesis."""

    view: View
    pair: PairedDifference
    null: NullHistogram

    @classmethod
    def from_view(cls, view: View, pair: PairedDifference) -> NullFigure:
        """The pair must have a null distribution."""
        if pair.null is None:
            test = view.comparison.test
            if view.margin is not None:
                raise InputError(
                    "a test of equivalence or non-inferiority has no null distribution of no difference: use forest, "
                    "which shows the intervals and the margin"
                )
            if pair.test.n_resamples is not None:  # JSON need not have the key
                raise InputError(
                    f"the result has no histogram of the null distribution of {quoted(pair.system)} and "
                    f"{quoted(pair.baseline)}: compute it again"
                )
            raise InputError(
                f"the test of {quoted(pair.system)} and {quoted(pair.baseline)} has no null distribution from "
                f"replicates{'' if test is None else f': {test.name} has none'}; choose a test with shuffles or draws"
            )
        return cls(view, pair, pair.null)

    @property
    def size(self) -> tuple[float, float]:
        return COLUMN, HEIGHT

    @property
    def font_size(self) -> float:
        return FONT_SIZE

    def draw(self, ax: Axes) -> None:
        null = self.null
        if null.width > 0:
            edges = np.float64(null.low) + np.float64(null.width) * np.arange(len(null.counts) + 1)
            ax.stairs(null.counts, edges, fill=True, color="#c9c9c9", linewidth=0)
            for low, high in tails(self.pair):
                self._fill_tail(ax, edges, low, high)
            ax.stairs(null.counts, edges, color=MUTED, linewidth=0.5)
        else:
            ax.vlines(null.low, 0, sum(null.counts), color=MUTED, linewidth=2.0)
        ax.set_ylim(0, 1.15 * (max(null.counts) or 1))
        ax.axvline(null.observed, ymax=0.95, color=INK, linewidth=1.2)
        if self.pair.test.alternative == "two-sided":
            ax.axvline(-null.observed, ymax=0.95, color=INK, linewidth=0.8, linestyle=(0, (3, 2)))
        ax.set_yticks([])
        ax.spines[["left", "top", "right"]].set_visible(False)
        ax.set_ylabel(self._counted())
        ax.set_xlabel(self._label(), **LABEL)
        write_below(ax, self._key())
        ax.set_title(mathematical(self._observed()), pad=2, **MATHEMATICAL)

    def _key(self) -> list[Pieces]:
        """What lines and areas mean."""
        opposite = "   - - with the opposite sign" if self.pair.test.alternative == "two-sided" else ""
        said = " c filled; p = 2(c + 1)/(R + 1)" if self.pair.test.tails == 2 else " at least as extreme"
        areas: Pieces = [("■", BETTER), (said, INK)]
        return [[(f"— observed{opposite}", INK)], *[areas] * bool(tails(self.pair))]

    def _fill_tail(self, ax: Axes, edges: NDArray[np.float64], low: float, high: float) -> None:
        clipped = np.clip(edges, low, high)
        inside = np.diff(clipped) > 0
        if inside.any():
            first, last = np.flatnonzero(inside)[[0, -1]]
            counts = np.asarray(self.null.counts)[first : last + 1]
            ax.stairs(counts, clipped[first : last + 2], fill=True, color=BETTER, linewidth=0)

    def _counted(self) -> str:
        test = self.view.comparison.test
        whole = all(isinstance(count, int) for count in self.null.counts)
        if not whole or test is None or test.replicates is None:
            return "probability"
        # Only shuffles have a scheme. Pairs that differ in few units may have them even if others have draws, and draws
        # even if others have shuffles.
        if test.replicates in ("draws", "shuffles"):
            return "draws" if self.pair.test.scheme is None else "shuffles"
        return test.replicates

    def _label(self) -> str:
        system, baseline = self.view.name(self.pair.system), self.view.name(self.pair.baseline)
        studentized = not math.isclose(self.null.observed, self.pair.difference)
        what = "Studentized Δ" if studentized else "Δ"
        pair = f"{what}{self.view.scored}: {system} \N{MINUS SIGN} {baseline}"
        return f"{wrapped(pair, WIDTH)}\nunder the null hypothesis"

    def _observed(self) -> str:
        test, observed = self.pair.test, self.null.observed
        studentized = not math.isclose(observed, self.pair.difference)
        shown = f"{observed:+.2f}".replace("-", "\N{MINUS SIGN}") if studentized else self.view.signed(observed)
        parts = [
            f"observed {shown}",
            equation("p", pvalue_cell(test.pvalue, random_replicates(test), self.view.comparison.alpha)),
        ]
        if self.view.pvalue_name != "p":
            parts.append(equation("adjusted p", self.view.pvalue_cell(self.pair)))
        return "    ".join(parts)


def tails(pair: PairedDifference) -> list[tuple[float, float]]:
    """Where statistics are at least as extreme as the observed one: from, to.

    None for ``bootstrap-shift``, which centres the sizes of the differences instead of the differences.
    """
    assert pair.null is not None
    if pair.test.test == "bootstrap-shift":
        return []
    observed, test = pair.null.observed, pair.test
    opposite = test.test in OPPOSITE or test.tails == 2 or _is_percentile(pair)
    above, below = (-math.inf, -observed), (-observed, math.inf)
    if test.alternative == "two-sided":
        if not opposite:
            return [(-math.inf, -abs(observed)), (abs(observed), math.inf)]
        return [above if observed > 0 else below]
    if not opposite:
        above, below = (observed, math.inf), (-math.inf, observed)
    return [above if test.alternative == "greater" else below]


def _is_percentile(pair: PairedDifference) -> bool:
    """Whether ``bootstrap-percentile`` decides the one-sided ``bootstrap-both``: p counts the draws beyond 0."""
    test = pair.test
    if test.test != "bootstrap-both" or test.alternative == "two-sided":
        return False
    beyond = test.n_resamples - test.wins if test.alternative == "greater" else test.wins + test.ties
    return bool(test.exceedances == beyond)
