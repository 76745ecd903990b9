"""Null distribution: what a test statistic would be by chance, and what it is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from ...errors import InputError, quoted
from ...results import NullHistogram, PairedDifference
from ...results.verdicts import UNDIRECTED
from ..cells import equation, pvalue_cell, random_replicates
from ..nulls import bars_of
from .intervals import Pieces, Said, draw_key
from .labels import LABEL, LETTER, MATHEMATICAL, NO_MATH, columns, mathematical, wrapped
from .look import BETTER, COLUMN, FONT_SIZE, INK, MUTED
from .style import PaperFigure
from .view import View

HEIGHT = 2.0
# Columns of letters below the axes.
WIDTH = 50
# Tests that count the replicates on the other side of 0, so that the tail is opposite to the observed difference.
OPPOSITE = ("bootstrap-percentile", "paired-bootstrap")
# The key has room for names of so many characters.
MAX_NAME = 24


@dataclass(frozen=True)
class NullFigure:
    """The histogram of a pair's statistic under the null hypothesis."""

    view: View
    pair: PairedDifference
    null: NullHistogram

    @classmethod
    def from_view(
        cls, view: View, system: str | PairedDifference | None = None, baseline: str | None = None
    ) -> NullFigure:
        """The pair that the arguments name must have a null distribution."""
        view.need_pairs("a null distribution")
        if isinstance(system, PairedDifference):
            baseline, system = system.baseline, system.system
        if not isinstance(system, str | None):
            raise InputError(f"expected a system and its baseline, as two names, got {quoted(system)}")
        first = view.pairs[0]
        if system is None and len(view.pairs) > 1:
            raise InputError(
                f"there are {len(view.pairs):,} pairs: choose one, as in null({quoted(first.system)}, "
                f"{quoted(first.baseline)})"
            )
        pair = first if system is None else view.pair(system, baseline)
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
        counts = np.asarray(null.counts, dtype=np.float64)
        if null.width > 0:
            edges, counts, half = bars_of(self.view.comparison, self.pair)
            ax.stairs(counts, edges, fill=True, color="#c9c9c9", linewidth=0)
            for low, high in tails(self.pair):
                self._fill_tail(ax, edges, counts, low - half, high + half)
            ax.stairs(counts, edges, color=MUTED, linewidth=0.5)
        else:
            ax.vlines(null.low, 0, sum(null.counts), color=MUTED, linewidth=2.0)
        ax.set_ylim(0, 1.15 * (counts.max() or 1))
        ax.axvline(null.observed, ymax=0.95, color=INK, linewidth=1.2)
        if self.pair.test.alternative in UNDIRECTED:
            ax.axvline(-null.observed, ymax=0.95, color=INK, linewidth=0.8, linestyle=(0, (3, 2)))
        ax.set_yticks([])
        ax.spines[["left", "top", "right"]].set_visible(False)
        ax.set_ylabel(self._counted())
        ax.set_xlabel(self._label(), **LABEL)
        said = ["— observed", *["- - with the opposite sign"] * (self.pair.test.alternative in UNDIRECTED)]
        draw_key(ax, Said([((each, INK),) for each in said]), own=self._tail())
        ax.set_title(mathematical(self._observed(ax)), pad=2, **MATHEMATICAL)

    def _tail(self) -> list[Pieces]:
        """What the areas mean."""
        lines: list[Pieces] = []
        if not tails(self.pair):
            return lines
        is_opposite, test = _counts_opposite(self.pair), self.pair.test
        said = [(f"{NO_MATH}{self._other()}", INK), (" at least as good", INK)]
        said = said if is_opposite else [(" at least as extreme", INK)]
        lines.append([("■", BETTER), *said, (self._share(), INK)])
        if test.tails == 2:
            lines.append([("p = 2(c + 1)/(R + 1)", INK)])
        return lines

    def _other(self) -> str:
        """The system that the draws opposite to the observed difference favour."""
        pair, alternative = self.pair, self.pair.test.alternative
        is_below = alternative == "greater" or (alternative in UNDIRECTED and self.null.observed > 0)
        name = self.view.name(pair.baseline if is_below == self.view.metric.higher_is_better else pair.system)
        return name if len(name) <= MAX_NAME else "the other system"

    def _share(self) -> str:
        """How many replicates are filled, as far as they were counted."""
        test = self.pair.test
        if test.n_resamples is None or not isinstance(test.exceedances, int):
            return ""
        return f": c = {test.exceedances:,} of R = {test.n_resamples:,} {self._counted()}"

    def _fill_tail(
        self, ax: Axes, edges: NDArray[np.float64], counts: NDArray[np.float64], low: float, high: float
    ) -> None:
        clipped = np.clip(edges, low, high)
        inside = np.diff(clipped) > 0
        if inside.any():
            first, last = np.flatnonzero(inside)[[0, -1]]
            ax.stairs(counts[first : last + 1], clipped[first : last + 2], fill=True, color=BETTER, linewidth=0)

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

    def _observed(self, ax: Axes) -> str:
        """Title: on two lines if one is longer than the axes, for whose title layout engines keep no room."""
        test, observed = self.pair.test, self.null.observed
        studentized = not math.isclose(observed, self.pair.difference)
        shown = f"{observed:+.2f}".replace("-", "\N{MINUS SIGN}") if studentized else self.view.signed(observed)
        parts = [
            f"observed {shown}",
            equation("p", pvalue_cell(test.pvalue, random_replicates(test), self.view.comparison.alpha)),
        ]
        if self.view.pvalue_name != "p":
            parts.append(equation("adjusted p", self.view.pvalue_cell(self.pair)))
        line = "    ".join(parts)
        figure: Any = ax.figure
        own = isinstance(figure, PaperFigure)
        room = figure.get_figwidth() * (1 if own else ax.get_position().width) * 72
        size = float(ax.title.get_fontsize())
        if columns(line) * LETTER * size <= room or len(parts) < 3:
            return line
        return f"{'    '.join(parts[:-1])}\n{parts[-1]}"


def tails(pair: PairedDifference) -> list[tuple[float, float]]:
    """Where statistics are at least as extreme as the observed one: from, to.

    None for ``bootstrap-shift``, which centres the sizes of the differences instead of the differences.
    """
    assert pair.null is not None
    if pair.test.test == "bootstrap-shift":
        return []
    observed, test = pair.null.observed, pair.test
    opposite = _counts_opposite(pair)
    above, below = (-math.inf, -observed), (-observed, math.inf)
    if test.alternative in UNDIRECTED:
        if not opposite:
            return [(-math.inf, -abs(observed)), (abs(observed), math.inf)]
        return [above if observed > 0 else below]
    if not opposite:
        above, below = (observed, math.inf), (-math.inf, observed)
    return [above if test.alternative == "greater" else below]


def _counts_opposite(pair: PairedDifference) -> bool:
    """Whether the tail is opposite to the observed difference: draws in which the other system is at least as good."""
    return pair.test.test in OPPOSITE or pair.test.tails == 2 or _is_percentile(pair)


def _is_percentile(pair: PairedDifference) -> bool:
    """Whether ``bootstrap-percentile`` decides the one-sided ``bootstrap-both``: p counts the draws beyond 0."""
    test = pair.test
    if test.test != "bootstrap-both" or test.alternative == "two-sided":
        return False
    beyond = test.n_resamples - test.wins if test.alternative == "greater" else test.wins + test.ties
    return bool(test.exceedances == beyond)
