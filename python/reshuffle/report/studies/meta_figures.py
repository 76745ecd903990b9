"""Figures of meta-evaluations: agreement with intervals, p-values of all pairs, and scores of systems."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes

from ...lazy import lazy
from ...results.studies import MetricAgreement, MetricSystemScore
from ..plots.intervals import Said, draw_key, mark, set_limits, whisker
from ..plots.labels import LETTER, PLAIN, columns, printable, text_size, wrapped
from ..plots.look import BETTER, COLUMN, FAINT, INK, MUTED
from ..plots.matrix import LEGEND, PvalueMatrix
from ..plots.panels import TITLE
from ..plots.rows import Column, RowFigure, Rows, columns_beside, width_of
from ..plots.style import PaperFigure
from ..wording import ci
from .figures import ColumnFigure, StudyFigure, label
from .meta_values import AVERAGE, Family, family_of

# In inches: the height of what is above and below the rows of a forest, and the width of a cell of a matrix.
FURNITURE, CELL = 0.62, 0.36
# So many systems have their names beside their points, in letters of this size relative to others.
NAMED, NAME_SIZE = 25, 0.72
# The share of a figure that the axes take, at least, and the radius of a point in points.
SHARE, RADIUS = 0.78, 2.5
# Letters of images are wider than those of PDF, because they end at whole pixels.
WIDER = 1.06


class _FamilyFigure(StudyFigure[Any]):
    """A figure of a family."""

    @lazy
    def family(self) -> Family:
        """The family of the records."""
        return family_of(self.study, self.records[0])


def _of_set(test_set: str) -> str:
    """How a label names the test set."""
    if not test_set:
        return ""
    return ", average" if test_set == AVERAGE else f", {test_set}"


class AgreementForest(_FamilyFigure, RowFigure):
    """The agreement of each metric with people, from best to worst, with intervals and letters."""

    @lazy
    def rows(self) -> Rows:
        """A row for each metric."""
        return Rows.from_names(self.family.by_value, FURNITURE, beside=width_of(self._columns()))

    def draw(self, ax: Axes) -> None:
        self.rows.draw(ax)
        shown = self._shown
        set_limits(ax, [each.value for each in shown], [each.confidence_interval for each in shown])
        low, high = ax.get_xlim()
        if low < 0 < high:
            ax.axvline(0, color=INK, linewidth=0.6, zorder=1)
        leaders = self.family.leaders
        for y, each in zip(self.rows.centres, shown, strict=True):
            if math.isnan(each.value):
                continue
            leads = each.metric in leaders
            color = BETTER if leads or not leaders else INK
            whisker(ax, y, each.value, each.confidence_interval, color)
            mark(ax, y, each.value, color, leads)
        right = columns_beside(ax, self.rows, self._columns())
        intervals = [each.confidence_interval for each in shown if each.confidence_interval is not None]
        level = f", {ci(intervals[0].confidence_level)}" if intervals else ""
        what = f"{self.family.name}{_of_set(self.family.test_set)}{level} (→ better)"
        ax.set_xlabel(wrapped(what, self.rows.label_width(ax, right)), **PLAIN)
        if leaders:
            draw_key(ax, Said([[("●", BETTER), (" shares a letter with the best", INK)]]))

    @property
    def _shown(self) -> list[MetricAgreement]:
        return [self.family.by_metric[metric] for metric in self.family.by_value]

    def _columns(self) -> list[Column]:
        shown = self._shown
        values = ["–" if math.isnan(each.value) else f"{each.value:.3f}" for each in shown]
        found = [Column(self.family.symbol, [(value.replace("-", "\N{MINUS SIGN}"), "") for value in values])]
        if self.family.groups:
            places = [self.family.group_of.get(each.metric) for each in shown]
            found.append(Column("Group", [("–" if place is None else place.letters or "–", "") for place in places]))
        return found


class MetricMatrix(_FamilyFigure, PvalueMatrix):
    """The p-values of all pairs of metrics."""

    LEGEND_WIDTH, MIN_CELL = 0.9, 0.3

    @lazy
    def names(self) -> list[str]:
        """The metrics that were compared."""
        compared = {name for pair in self.family.comparisons for name in (pair.metric_a, pair.metric_b)}
        return [metric for metric in self.family.ranked if metric in compared]

    @property
    def size(self) -> tuple[float, float]:
        width, height = self.rows.size
        # Wider than a column, as far as the cells need it.
        needed = self.rows.names_width + self.LEGEND_WIDTH + CELL * len(self.names)
        return max(COLUMN, min(width, needed)), max(height, LEGEND) + 0.2

    @property
    def level(self) -> float | None:
        return self.family.alpha

    @property
    def pvalue_name(self) -> str:
        adjusted = any(pair.adjusted_pvalue is not None for pair in self.family.comparisons)
        return "adjusted p" if adjusted else "p"

    @property
    def pvalues(self) -> dict[tuple[int, int], tuple[float, bool]]:
        """The row is the worse metric."""
        found = {}
        for row, metric in enumerate(self.names):
            for column, other in enumerate(self.names[:row]):
                pair = self.family.pairs[metric, other]
                found[row, column] = pair.final_pvalue, pair.is_significant(self.family.alpha)
        return found

    def draw(self, ax: Axes) -> None:
        super().draw(ax)
        what = f"{self.family.name}{_of_set(self.family.test_set)}"
        ax.set_xlabel(wrapped(what, self.rows.label_width(ax)), **PLAIN)


class SystemScatter(ColumnFigure[MetricSystemScore]):
    """A point for each system: its score by the metric and by people."""

    HEIGHT = 0.8 * COLUMN

    def draw(self, ax: Axes) -> None:
        x = [each.score for each in self.records]
        y = [each.human for each in self.records]
        ax.grid(color=FAINT, linewidth=0.4)
        ax.set_axisbelow(True)
        ax.plot(
            x, y, marker="o", markersize=3.8, markeredgewidth=0.9, markeredgecolor=BETTER, markerfacecolor="white",
            linestyle="none", zorder=3,
        )  # fmt: skip
        ax.margins(0.12)
        first = self.records[0]
        if not all(each.higher_is_better for each in self.study.metrics if each.name == first.metric):
            ax.invert_xaxis()
        numbered = self._name(ax) if len(self.records) <= NAMED else []
        wanted = (first.test_set, first.metric, "pearson")
        values = [own.value for own in self.study.results if (own.test_set, own.metric, own.coefficient) == wanted]
        shown = f"; r = {values[0]:.3f}" if values and not math.isnan(values[0]) else ""
        r = shown.replace("-", "\N{MINUS SIGN}")
        letters = int(50 * self._room(ax)[0] / COLUMN)
        below = wrapped(f"{first.metric}{_of_set(first.test_set)} (→ better){r}", letters)
        label(ax, "\n".join([below, *filled(numbered, letters)]), "human score (↑ better)")

    def _name(self, ax: Axes) -> list[str]:
        """Names beside the points, and numbers beside those whose names have no room: what these stand for.

        A number is the place among all systems, so that it means the same system in the panels of all metrics.
        """
        size = NAME_SIZE * text_size()
        width, height = (72 * SHARE * length for length in self._room(ax))
        (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()
        points = [
            ((each.score - left) / (right - left) * width, (each.human - low) / (high - low) * height)
            for each in self.records
        ]
        names = [printable(each.system) for each in self.records]
        lengths = [WIDER * columns(name) * LETTER * size for name in names]
        places = places_of_names(points, lengths, size, width, height)
        without = [number for number, place in enumerate(places) if place is None]
        short = {number: str(number + 1) for number in without}
        lengths = [columns(short[at]) * LETTER * size if at in short else each for at, each in enumerate(lengths)]
        places = places_of_names(points, lengths, size, width, height, places)
        for number, (each, place) in enumerate(zip(self.records, places, strict=True)):
            along, up = place or (RADIUS + 1, 0.0)  # a number beside equal points may cover another
            side = "left" if along > 0 else "center" if along > -lengths[number] else "right"
            start = {"left": along, "center": 0.0, "right": -RADIUS - 1}[side]
            ax.annotate(
                short.get(number, names[number]), (each.score, each.human), (start, up), "data", "offset points",
                ha=side, va="center_baseline", fontsize=size, color=MUTED, **PLAIN,
            )  # fmt: skip
        return [f"{short[number]} {names[number]}" for number in without]

    def _room(self, ax: Axes) -> tuple[float, float]:
        """The size of the figure in inches or, of panels, of this one."""
        figure, place = ax.figure, ax.get_subplotspec()
        if not isinstance(figure, PaperFigure):
            return self.size
        width, height = float(figure.get_figwidth()), float(figure.get_figheight())
        if place is None:
            return width, height
        grid = place.get_gridspec()
        heights: Any = grid.get_height_ratios()
        own = height * float(heights[place.rowspan.start]) / float(sum(heights))
        return width / grid.ncols, own - TITLE * (len(heights) > 1)


def filled(items: Sequence[str], width: float) -> list[str]:
    """Lines of at most so many average letters, unless an item is longer, with two spaces between items.

    >>> filled(["1 one", "2 two", "3 three"], 13)
    ['1 one  2 two', '3 three']
    """
    lines: list[str] = []
    for item in items:
        if lines and columns(f"{lines[-1]}  {item}") <= width:
            lines[-1] += f"  {item}"
        else:
            lines.append(item)
    return lines


def places_of_names(
    points: Sequence[tuple[float, float]],
    lengths: Sequence[float],
    size: float,
    width: float,
    height: float,
    kept: Sequence[tuple[float, float] | None] = (),
) -> list[tuple[float, float] | None]:
    """Where names of these lengths begin, relative to their points, so that none covers a point or another name.

    Parameters
    ----------
    points : sequence of (x, y)
        In points from the lower left corner of axes of this width and height.
    lengths : sequence of float
    size : float
        The font size.
    kept : sequence of (x, y) or None
        The places that some names have already.

    Returns
    -------
    list of (x, y) or None
        None for a name without room.

    Examples
    --------
    >>> places_of_names([(10.0, 10.0), (14.0, 10.0)], [20.0, 20.0], 5.0, 100.0, 100.0)
    [None, (3.5, 0.0)]
    >>> places_of_names([(10.0, 10.0), (14.0, 10.0)], [3.0, 3.0], 5.0, 100.0, 100.0, [None, (3.5, 0.0)])
    [(-6.5, 0.0), (3.5, 0.0)]
    """
    # Names keep a distance from other points, so that it is clear whose they are. Numbers are closer to their own.
    near = RADIUS if kept else 2 * RADIUS
    boxes = [(x - near, x + near, y - near, y + near) for x, y in points]
    found: list[tuple[float, float] | None] = [*(kept or [None] * len(points))]

    def box_of(at: int, place: tuple[float, float]) -> tuple[float, float, float, float]:
        (x, y), (start, up) = points[at], place
        return (x + start, x + start + lengths[at], y + up - size / 2, y + up + size / 2)

    boxes += [box_of(at, place) for at, place in enumerate(found) if place is not None]
    for at, length in enumerate(lengths):
        if found[at] is not None:
            continue
        gap = RADIUS + 1
        sides = [(gap, 0.0), (-length - gap, 0.0)]
        sides += [(start, up * size) for up in (1, -1) for start in (gap, -length - gap, -length / 2)]
        for place in sides:
            box = box_of(at, place)
            inside = box[0] >= 0 and box[1] <= width and box[2] >= 0 and box[3] <= height
            others = (other for number, other in enumerate(boxes) if number != at)
            if inside and not any(_overlap(box, other) for other in others):
                found[at] = place
                boxes.append(box)
                break
    return found


def _overlap(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    """Whether two boxes (left, right, low, high) have a point in common."""
    return one[0] < other[1] and other[0] < one[1] and one[2] < other[3] and other[2] < one[3]
