"""Forest plot: the differences of systems from one of them, with confidence intervals and p-values."""

from __future__ import annotations

from dataclasses import dataclass

from matplotlib.axes import Axes

from ...lazy import lazy
from ...results import PairedDifference
from ..captions import MOST_NUMBERED
from .intervals import SLACK, Key, draw_key, inner_limits, mark, set_limits, whisker
from .labels import LABEL, LABEL_LINES, LETTER, columns, text_size, wrapped
from .look import INK
from .rows import Column, RowFigure, Rows, columns_beside, has_room_beside, width_beside, width_of
from .view import View

# The height of what is above and below the rows, in inches.
FURNITURE = 0.72
# The width of an arrow and the spaces beside it, in average letters, and the most of an axis for it and its value.
BESIDE_ARROW, MOST_ROOM = 3, 0.4


@dataclass(frozen=True)
class Forest(RowFigure):
    """The differences of all systems from ``baseline``."""

    view: View
    baseline: str
    pairs: list[PairedDifference]

    @classmethod
    def from_view(cls, view: View, baseline: str | None = None) -> Forest:
        """The default is the baseline of the comparison, else the best system."""
        view.need_pairs("a forest plot")
        return cls(view, *view.against(baseline))

    @lazy
    def rows(self) -> Rows:
        """A row for each system."""
        names = [self.view.name(pair.system) for pair in self.pairs]
        return Rows.from_names(names, FURNITURE, beside=width_of(self._columns()), shared=self.view.beside > 1)

    @lazy
    def inner(self) -> tuple[float, float] | None:
        """The ends of the intervals that the axis reaches, if a few others are beyond it."""
        return inner_limits([pair.confidence_interval for pair in self.pairs])

    def draw(self, ax: Axes) -> None:
        self.rows.draw(ax)
        limits = self.view.limits
        intervals = [pair.confidence_interval for pair in self.pairs]
        if self.inner is None:
            set_limits(ax, [0.0, *limits, *(pair.difference for pair in self.pairs)], intervals)
        else:
            set_limits(ax, [0.0, *limits, *self.inner], [])
            self._make_room(ax)
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
        right, texts = 0.0, self._columns()
        if has_room_beside(ax, self.rows, width_beside(texts)):
            right = columns_beside(ax, self.rows, texts)
        width = self.rows.label_width(ax, right)
        ax.set_xlabel(self._label(width), **LABEL)
        draw_key(ax, Key.of(self.view, self.pairs), width + SLACK)

    def _make_room(self, ax: Axes) -> None:
        """Extend an axis where the values of arrows would cross its vertical lines."""
        lines = [0.0, *self.view.limits]
        width = self.rows.axes_width(ax, 72 * width_of(self._columns()))
        for is_left in (True, False):
            left, right = ax.get_xlim()
            beyond = [p.difference for p in self.pairs if (p.difference < left if is_left else p.difference > right)]
            if not beyond:
                continue
            letters = max(columns(self._beyond(each)) for each in beyond) + BESIDE_ARROW
            share = min(letters * LETTER * text_size() / width, MOST_ROOM)
            if is_left:
                ax.set_xlim(left=min(left, (min(lines) - share * right) / (1 - share)))
            else:
                ax.set_xlim(right=max(right, (max(lines) - share * left) / (1 - share)))

    def _beyond(self, difference: float) -> str:
        """The value beside an arrow."""
        return self.view.signed(difference, [pair.difference for pair in self.pairs])

    def _mark_beyond(self, ax: Axes, y: float, pair: PairedDifference, color: str) -> None:
        """An arrow at the end of an axis that does not reach a difference, and its value."""
        is_left = pair.difference < 0
        left, right = ax.get_xlim()
        edge = (left if is_left else right) + (0.015 if is_left else -0.015) * (right - left)
        ax.plot(edge, y, marker="<" if is_left else ">", markersize=4, color=color, clip_on=False, zorder=4)
        ax.annotate(
            self._beyond(pair.difference), (edge, y), (5 if is_left else -5, 0), "data", "offset points",
            ha="left" if is_left else "right", va="center_baseline", fontsize="small", color=color,
            bbox={"facecolor": "white", "linewidth": 0, "pad": 0.8},
        )  # fmt: skip

    def _columns(self) -> list[Column]:
        if self.view.beside > MOST_NUMBERED:
            return []
        among = [pair.difference for pair in self.pairs]
        stars = ["*" if self.view.is_significant(pair) else "" for pair in self.pairs]
        differences = [self.view.signed(difference, among) for difference in among]
        if self.view.beside > 1:
            return [Column("Δ", [*zip(differences, stars, strict=True)])]
        pvalues = zip(map(self.view.pvalue_cell, self.pairs), stars, strict=True)
        return [
            Column("Δ", [(each, "") for each in differences]),
            Column(self.view.pvalue_name, [*pvalues], symbolic=True),
        ]

    def _label(self, width: int) -> str:
        metric = self.view.metric
        difference = f"Δ{self.view.scored} from {self.view.name(self.baseline)}"
        what = ", ".join(filter(None, (difference, self.view.interval_name(of_differences=True))))
        what += " (→ better)" if metric.higher_is_better else " (← better)"
        what += ", dashed: margin" if self.view.limits else ""
        what += ", arrow: off the axis" if self.inner else ""
        return wrapped(what, width, LABEL_LINES)
