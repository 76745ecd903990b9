"""Forest plot: the differences of systems from one of them, with confidence intervals and p-values."""

from __future__ import annotations

from dataclasses import dataclass, replace

from matplotlib.axes import Axes

from ...lazy import lazy
from ...results import PairedDifference
from .intervals import Key, draw_key, inner_limits, mark, set_limits, whisker
from .labels import LABEL, wrapped
from .rows import Column, RowFigure, Rows, columns_beside, width_of
from .style import INK
from .view import View

# The height of what is above and below the rows, in inches.
FURNITURE = 0.72


@dataclass(frozen=True)
class Forest(RowFigure):
    """The differences of all systems from ``baseline``."""

    view: View
    baseline: str
    pairs: list[PairedDifference]

    @classmethod
    def from_view(cls, view: View, baseline: str | None) -> Forest:
        """The default is the baseline of the comparison, else the best system."""
        view.need_pairs("a forest plot")
        return cls(view, *view.against(baseline))

    @lazy
    def rows(self) -> Rows:
        """A row for each system."""
        names = [self.view.name(pair.system) for pair in self.pairs]
        rows = Rows.from_names(names, FURNITURE, beside=width_of(self._columns()))
        return replace(rows, shared=bool(self.view.order))

    def draw(self, ax: Axes) -> None:
        self.rows.draw(ax)
        limits = self.view.limits
        intervals = [pair.confidence_interval for pair in self.pairs]
        if (inner := inner_limits(intervals)) is None:
            set_limits(ax, [0.0, *limits, *(pair.difference for pair in self.pairs)], intervals)
        else:
            set_limits(ax, [0.0, *limits, *inner], [])
        left, right_end = ax.get_xlim()
        ax.axvline(0, color=INK, linewidth=0.8, zorder=1)
        for limit in limits:
            ax.axvline(limit, color=INK, linewidth=0.6, linestyle=(0, (4, 2)), zorder=1)
        for y, pair in zip(self.rows.centres, self.pairs, strict=True):
            significant = self.view.is_significant(pair)
            color = self.view.color(pair)
            if not left <= pair.difference <= right_end:
                self._mark_beyond(ax, y, pair, color)
                continue
            whisker(ax, y, pair.difference, pair.confidence_interval, color)
            mark(ax, y, pair.difference, color, significant)
        right = columns_beside(ax, self.rows, self._columns())
        ax.set_xlabel(self._label(self.rows.label_width(ax, right)), **LABEL)
        draw_key(ax, Key.of(self.view, self.pairs))

    def _mark_beyond(self, ax: Axes, y: float, pair: PairedDifference, color: str) -> None:
        """An arrow at the end of an axis that does not reach a difference, and its value."""
        is_left = pair.difference < 0
        left, right = ax.get_xlim()
        edge = (left if is_left else right) + (0.015 if is_left else -0.015) * (right - left)
        among = [each.difference for each in self.pairs]
        ax.plot(edge, y, marker="<" if is_left else ">", markersize=4, color=color, clip_on=False, zorder=4)
        ax.annotate(
            self.view.signed(pair.difference, among), (edge, y), (5 if is_left else -5, 0), "data", "offset points",
            ha="left" if is_left else "right", va="center_baseline", fontsize="small", color=color,
            bbox={"facecolor": "white", "linewidth": 0, "pad": 0.8},
        )  # fmt: skip

    def _columns(self) -> list[Column]:
        if self.view.order:
            return []
        among = [pair.difference for pair in self.pairs]
        differences = [(self.view.signed(difference, among), "") for difference in among]
        pvalues = [(self.view.pvalue_cell(p), "*" if self.view.is_significant(p) else "") for p in self.pairs]
        return [Column("Δ", differences), Column(self.view.pvalue_name, pvalues, symbolic=True)]

    def _label(self, width: int) -> str:
        metric = self.view.metric
        difference = f"Δ{self.view.scored} from {self.view.name(self.baseline)}"
        what = ", ".join(filter(None, (difference, self.view.interval_name(of_differences=True))))
        what += " (→ better)" if metric.higher_is_better else " (← better)"
        what += ", dashed: margin" if self.view.limits else ""
        what += ", arrow: off the axis" if inner_limits([p.confidence_interval for p in self.pairs]) else ""
        return wrapped(what, width)
