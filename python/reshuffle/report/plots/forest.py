"""Forest plot: the differences of systems from one of them, with confidence intervals and p-values."""

from __future__ import annotations

from dataclasses import dataclass, replace

from matplotlib.axes import Axes

from ...lazy import lazy
from ...results import PairedDifference
from .intervals import Key, draw_key, mark, set_limits, whisker
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
        set_limits(ax, [0.0, *limits, *(p.difference for p in self.pairs)], [p.confidence_interval for p in self.pairs])
        ax.axvline(0, color=INK, linewidth=0.8, zorder=1)
        for limit in limits:
            ax.axvline(limit, color=INK, linewidth=0.6, linestyle=(0, (4, 2)), zorder=1)
        for y, pair in zip(self.rows.centres, self.pairs, strict=True):
            significant = self.view.is_significant(pair)
            color = self.view.color(pair)
            whisker(ax, y, pair.difference, pair.confidence_interval, color)
            mark(ax, y, pair.difference, color, significant)
        right = columns_beside(ax, self.rows, self._columns())
        ax.set_xlabel(self._label(self.rows.label_width(ax, right)), **LABEL)
        draw_key(ax, Key.of(self.view, self.pairs))

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
        return wrapped(what, width)
