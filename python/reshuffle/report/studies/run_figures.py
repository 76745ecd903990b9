"""Figures of runs: every run's score, their distribution, and the differences that experiments would observe."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke
from numpy.typing import NDArray

from ...lazy import lazy
from ...results.studies import ObservedDifference
from ..plots.labels import LABEL, PLAIN, filled, printable, wrapped
from ..plots.look import BETTER, COLUMN, FAINT, INK, MUTED
from ..plots.rows import RowFigure, Rows
from ..plots.ticks import Ticks
from ..wording import counted
from .figures import ColumnFigure, StudyFigure, key_above, label, looks
from .run_sentences import ScoredRuns

# Inches: below the rows, and the height of a row of runs: at least, for each run, and at most.
FURNITURE, LOWEST, EACH_RUN, HIGHEST = 0.62, 0.28, 0.085, 1.1
# A light shade of the blue of the figures.
PALE = "#9cc3de"
# So many runs are in their order and have their number beside them; more runs are in the order of their scores.
NUMBERED = 12
# A light edge around the number of a run, which may be on the line of the mean.
HALO = [withStroke(linewidth=1.2, foreground="white")]
# The share of the height of a row that is left free.
FREE = 0.22
# The height of a row of a histogram, in inches, and its numbers of bins.
HISTOGRAM, FEWEST_BINS, MOST_BINS = 0.42, 16, 40
# Histograms with so many runs in the highest bar are drawn as blocks, one for each run.
BLOCKS = 6


def _drawn(s_sel: float) -> float:
    """The length of a line for s_sel: one draw of segments has no standard deviation, and then there is no line."""
    return 0.0 if math.isnan(s_sel) else s_sel


def _with_indices(text: str) -> str:
    """A text in which ``s_sel`` and ``s_test`` are symbols with an index, and what names have is no mathematics.

    >>> print(_with_indices("cost in $ ± s_sel"))
    cost in \\$ ± $s_\\mathrm{sel}$
    """
    return re.sub(r"\bs_(sel|test)\b", r"$s_\\mathrm{\1}$", text.replace("$", r"\$"))


def _spread(ax: Axes, values: Sequence[float]) -> None:
    """Limits of the x axis with room beside the values."""
    low, high = min(values), max(values)
    margin = 0.05 * (high - low) or 0.5 * abs(high) or 0.5
    ax.set_xlim(low - margin, high + margin)
    ax.xaxis.set_major_locator(Ticks())


class RunsFigure(StudyFigure[ScoredRuns], RowFigure):
    """A row for each system, and in it a line for each run: its score with the bootstrap standard deviation."""

    @lazy
    def rows(self) -> Rows:
        """As high as the lines need."""
        most = max(len(each.scores.runs) for each in self.records)
        height = min(max(LOWEST, EACH_RUN * (most + 2)), HIGHEST)
        return Rows.from_names([each.system for each in self.records], FURNITURE, height)

    def draw(self, ax: Axes) -> None:
        self.rows.draw(ax, lines=False)
        edges = self.rows.edges
        ends = []
        for at, each in enumerate(self.records):
            scores, s_sel = each.scores, _drawn(each.scores.s_sel)
            half = max(s_sel, scores.s_test or 0.0)
            ends += [scores.minimum - s_sel, scores.maximum + s_sel, scores.mean - half]
            ends.append(scores.mean + half)
            self._draw_system(ax, each, float(edges[at]), float(edges[at + 1]))
            if at:
                ax.axhline(float(edges[at]), color=FAINT, linewidth=0.5, zorder=1)
        _spread(ax, ends)
        width = self.rows.label_width(ax)
        what = wrapped(f"{self.records[0].metric} of each run ± s_sel", width)
        band = [", band: ± s_test"] if any(each.scores.s_test is not None for each in self.records) else []
        median = [", ●: median run"] if any(len(each.scores.runs) > 1 for each in self.records) else []
        parts = filled(["line: mean", *band, *median], width)
        ax.set_xlabel(_with_indices("\n".join([what, *parts]).replace("\n, ", ",\n")), **{**LABEL, "parse_math": True})

    def _draw_system(self, ax: Axes, each: ScoredRuns, top: float, bottom: float) -> None:
        scores, n, s_sel = each.scores, len(each.scores.runs), _drawn(each.scores.s_sel)
        free = FREE / 2 * (bottom - top)
        top, bottom = top + free, bottom - free
        if scores.s_test is not None:
            ends = scores.mean - scores.s_test, scores.mean + scores.s_test
            ax.fill_betweenx([top, bottom], *ends, color=FAINT, linewidth=0, zorder=2)
        ax.plot([scores.mean, scores.mean], [top, bottom], color=INK, linewidth=0.9, zorder=3)
        numbered = n <= NUMBERED
        order = range(n) if numbered else np.argsort(scores.runs, kind="stable")[::-1].tolist()
        y = [top + (place + 0.5) * (bottom - top) / n for place in range(n)]
        x = np.array([scores.runs[run] for run in order])
        color, width = (BETTER, 0.8) if numbered else (PALE, 0.3)
        ax.hlines(y, x - s_sel, x + s_sel, color=color, linewidth=width, zorder=4)
        for run, at, height in zip(order, x.tolist(), y, strict=True):
            self._draw_run(ax, at, height, numbered, run == scores.median_run and n > 1)
            if numbered and n > 1:
                ax.annotate(
                    str(run), (at + s_sel, height), (1.5, 0), "data", "offset points", va="center_baseline",
                    fontsize=0.75 * self.font_size, color=MUTED, zorder=7, path_effects=HALO, **PLAIN,
                )  # fmt: skip

    def _draw_run(self, ax: Axes, x: float, y: float, numbered: bool, median: bool) -> None:
        """A marker, filled for the median run. Those of many runs are small and filled, and the median's is larger."""
        color = INK if median else BETTER
        ax.plot(
            x, y, marker="o", markersize=3.4 if numbered or median else 1.6, markeredgewidth=0.7 if numbered else 0.4,
            markeredgecolor=color, markerfacecolor="white" if numbered and not median else color, linestyle="none",
            zorder=6 if median else 5,
        )  # fmt: skip


class HistogramFigure(StudyFigure[ScoredRuns], RowFigure):
    """A row for each system with the histogram of its runs' scores, in the same bins."""

    @lazy
    def rows(self) -> Rows:
        """A row for each system."""
        return Rows.from_names([each.system for each in self.records], FURNITURE, HISTOGRAM)

    @property
    def bins(self) -> NDArray[np.float64]:
        """The edges: bins of the width by Freedman & Diaconis 1981 of the widest system, in limits."""
        values = [np.asarray(each.scores.runs) for each in self.records]
        low, high = min(v.min() for v in values), max(v.max() for v in values)
        if low == high:
            return np.array([low - 0.5, high + 0.5])
        quartiles = [np.subtract(*np.percentile(v, [75, 25])) for v in values]
        width = max(2 * q / len(v) ** (1 / 3) for q, v in zip(quartiles, values, strict=True))
        n = FEWEST_BINS if width <= 0 else math.ceil((high - low) / width)
        return np.linspace(low, high, min(max(n, FEWEST_BINS), MOST_BINS) + 1)

    def draw(self, ax: Axes) -> None:
        self.rows.draw(ax, lines=False)
        edges, bins = self.rows.edges, self.bins
        shares = [np.histogram(each.scores.runs, bins)[0] / len(each.scores.runs) for each in self.records]
        highest = max(float(share.max()) for share in shares)
        for each, share, base, top in zip(self.records, shares, edges[1:], edges[:-1], strict=True):
            base, room = float(base) - 0.04, 0.86 * float(base - top)
            n = len(each.scores.runs)
            heights = room * share / highest
            ax.bar(
                bins[:-1], -heights, np.diff(bins), base, align="edge", color=PALE, edgecolor=BETTER,
                linewidth=0.4, zorder=3,
            )  # fmt: skip
            if round(highest * n) <= BLOCKS:
                for left, right, height, count in zip(bins, bins[1:], heights, share * n, strict=False):
                    lines = [base - height * k / count for k in range(1, round(count))]
                    ax.hlines(lines, left, right, color=BETTER, linewidth=0.4, zorder=4)
            ax.axhline(base, color=MUTED, linewidth=0.4, zorder=2)
            mean = each.scores.mean
            ax.plot([mean, mean], [base, base - room], color=INK, linewidth=0.9, linestyle=(0, (3, 1.5)), zorder=5)
        _spread(ax, bins.tolist())
        what = wrapped(f"{self.records[0].metric} of the runs; dashed: mean", self.rows.label_width(ax))
        ax.set_xlabel(f"{what}\nhighest bar: {self._named(highest)}", **LABEL)

    def _named(self, highest: float) -> str:
        """What the highest bar stands for: a number of runs, or a share if systems have different numbers."""
        numbers = {len(each.scores.runs) for each in self.records}
        if len(numbers) > 1:
            return f"{100 * highest:.0f}% of a system's runs"
        (n,) = numbers
        return f"{round(highest * n):,} of {counted(n, 'run')}"


class ObservedFigure(ColumnFigure[ObservedDifference]):
    """The differences that experiments with so many runs of each system would observe, for each baseline."""

    @property
    def size(self) -> tuple[float, float]:
        return COLUMN, 2.2 + (0.14 * len(self._baselines) if len(self._baselines) > 1 else 0)

    @property
    def _baselines(self) -> list[str]:
        return list(dict.fromkeys(each.baseline for each in self.records))

    def draw(self, ax: Axes) -> None:
        shown = looks(self._baselines)
        numbers = sorted({each.n_runs for each in self.records})
        step = 0.7 / len(shown)
        ax.axhline(0, color=INK, linewidth=0.8, linestyle=(0, (3, 2)), zorder=1)
        for each in self.records:
            look = shown[each.baseline]
            x = numbers.index(each.n_runs) + (self._baselines.index(each.baseline) - (len(shown) - 1) / 2) * step
            color = look["color"]
            ax.plot([x, x], [each.minimum, each.maximum], color=color, linewidth=0.6, zorder=2)
            ax.plot([x, x], [each.low, each.high], color=color, linewidth=2.6, solid_capstyle="butt", zorder=3)
            ax.plot(
                x, each.mean, marker=look["marker"], markersize=4.2, markeredgewidth=0.8, markeredgecolor=color,
                markerfacecolor="white", linestyle="none", zorder=4,
            )  # fmt: skip
            if len(shown) * len(numbers) <= 12:
                ax.annotate(
                    f"{100 * each.reversed:.0f}%", (x, each.maximum), (0, 2), "data", "offset points", ha="center",
                    va="bottom", fontsize=0.85 * self.font_size, color=MUTED, **PLAIN,
                )  # fmt: skip
        ax.set_xticks(range(len(numbers)), [f"{n:,}" for n in numbers])
        ax.set_xlim(-0.5, len(numbers) - 0.5)
        low, high = ax.get_ylim()
        ax.set_ylim(low, high + 0.06 * (high - low))
        ax.tick_params(axis="x", length=0)
        labels = "\n%: experiments with the opposite sign" if len(shown) * len(numbers) <= 12 else ""
        first = self.records[0]
        minus = f" − {first.baseline}" if len(shown) == 1 else ""
        label(
            ax,
            f"runs of each system\nthick: central 95%, thin: all{labels}",
            wrapped(f"Δ{printable(first.metric)}, {first.system}{minus}", 34),
        )
        if len(shown) > 1:
            named = {f"− {name}": look for name, look in shown.items()}
            key_above(ax, named, 2)
