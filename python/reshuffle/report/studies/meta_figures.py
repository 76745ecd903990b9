"""Figures of meta-evaluations: agreement with intervals, p-values of all pairs, and scores of systems."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from ...lazy import lazy
from ...results.studies import MetricAgreement, MetricSystemScore
from ..plots.intervals import Said, draw_key, mark, set_limits, whisker
from ..plots.labels import LETTER, NO_MATH, PLAIN, columns, minus, printable, text_size, wrapped
from ..plots.look import BETTER, COLUMN, FAINT, INK, WORSE
from ..plots.matrix import LEGEND, PvalueMatrix
from ..plots.names import Names, places
from ..plots.rows import Column, RowFigure, Rows, columns_beside, has_room_beside, width_beside, width_of
from ..wording import ci
from .figures import ColumnFigure, StudyFigure, label
from .meta_values import AVERAGE, Family, family_of

# In inches: the height of what is above and below the rows of a forest, and the width of a cell of a matrix.
FURNITURE, CELL = 0.62, 0.36
# So many systems have names or numbers beside their points, in letters of this size relative to others, but at least
# of so many points.
NAMED, NAME_SIZE, SMALLEST = 40, 0.85, 6.2
# The space around points, as a share of that between them, and of what range the others take if a few are off the axes.
MARGIN, SQUEEZED = 0.09, 0.5
# Points, and those off the axes.
POINT: dict[str, Any] = {
    "marker": "o", "markersize": 3.2, "markeredgewidth": 0.8, "markeredgecolor": BETTER, "markerfacecolor": "white",
    "linestyle": "none", "zorder": 2.5,
}  # fmt: skip
HUMAN = "human score (↑ better)"
FAR = {"marker": "D", "markeredgecolor": WORSE}


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
        right, texts = 0.0, self._columns()
        if has_room_beside(ax, self.rows, width_beside(texts)):
            right = columns_beside(ax, self.rows, texts)
        intervals = [each.confidence_interval for each in shown if each.confidence_interval is not None]
        level = f", {ci(intervals[0].confidence_level)}" if intervals else ""
        what = f"{self.family.name}{_of_set(self.family.test_set)}{level} (→ better)"
        ax.set_xlabel(wrapped(what, self.rows.label_width(ax, right)), **PLAIN)
        if leaders:
            draw_key(ax, Said([(("●", BETTER), (" shares a letter with the best", INK))]))

    @property
    def _shown(self) -> list[MetricAgreement]:
        return [self.family.by_metric[metric] for metric in self.family.by_value]

    def _columns(self) -> list[Column]:
        shown = self._shown
        values = ["–" if math.isnan(each.value) else f"{each.value:.3f}" for each in shown]
        found = [Column(self.family.symbol, [(minus(value), "") for value in values])]
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
    def label(self) -> str:
        return f"{self.family.name}{_of_set(self.family.test_set)}; the metric of the column agrees better"

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


class SystemScatter(ColumnFigure[MetricSystemScore]):
    """A point for each system: its score by the metric and by people."""

    HEIGHT = 0.8 * COLUMN

    @lazy
    def of_set(self) -> list[MetricSystemScore]:
        """The systems under all metrics, from the best to the worst for people."""
        of_set = (each for each in self.study.systems if each.test_set == self.records[0].test_set)
        return sorted((each for each in of_set if math.isfinite(each.score + each.human)), key=lambda each: -each.human)

    def draw(self, ax: Axes) -> None:
        first = self.records[0]
        records = [each for each in self.of_set if each.metric == first.metric]
        xy, shown = _points(records)
        ax.grid(color=FAINT, linewidth=0.4)
        ax.set_axisbelow(True)
        # The panels of all metrics have the same limits of y.
        human = np.array([each.human for each in self.of_set])
        limits = np.array([_around(xy[shown, 0]), _around(human[near(human)])])
        sign = 1 if all(each.higher_is_better for each in self.study.metrics if each.name == first.metric) else -1
        ax.set(xlim=limits[0, ::sign], ylim=limits[1])
        points = np.clip(xy, *limits.T)
        for point, within in zip(points, shown, strict=True):
            ax.plot(*point, clip_on=False, **POINT | ({} if within else FAR))
        if len(xy) <= NAMED:
            values = [minus("" if within else f" ({x:.3g}, {y:.3g})") for (x, y), within in zip(xy, shown, strict=True)]
            self._name(ax, [each.system for each in records], points, values)
        wanted = (first.test_set, first.metric, "pearson")
        of_metric = [own.value for own in self.study.results if (own.test_set, own.metric, own.coefficient) == wanted]
        lines = [f"{first.metric}{_of_set(first.test_set)} (→ better)"]
        if of_metric and not math.isnan(of_metric[0]):
            lines.append(minus(f"r = {of_metric[0]:.3f}"))
            if not shown.all() and np.ptp(xy[shown], axis=0).all():
                lines[-1] += minus(f" ({sign * np.corrcoef(*xy[shown].T)[0, 1]:.3f} without ◇)")
        letters = int(_room(ax)[0] / (LETTER * text_size()))
        line = "; ".join(lines)
        label(ax, line if columns(line) <= letters else "\n".join(wrapped(each, letters) for each in lines), HUMAN)

    def _name(self, ax: Axes, systems: Sequence[str], points: NDArray[np.float64], beyond: Sequence[str]) -> None:
        """Names beside the points or, without room for all of them under each metric, numbers with a key.

        A number is the place among all systems, so that it means the same system in the panels of all metrics.
        """
        size = max(SMALLEST, NAME_SIZE * text_size())
        room, names = _room(ax), {each.system: printable(each.system) for each in self.of_set}
        numbers = dict(zip(names, map(str, range(1, len(names) + 1)), strict=True))
        key: list[tuple[tuple[str, str], ...]] = []
        if not all(self._fits(metric, names, size, room) for metric in {each.metric for each in self.of_set}):
            key = [((numbers[system], BETTER), (f"{NO_MATH}{name}", INK)) for system, name in names.items()]
            names = numbers
        if any(beyond):
            key.append((("◇", WORSE), (" off the axes (its values)", INK)))
        if key:
            draw_key(ax, Said(key), room[0] / (LETTER * text_size()))
        Names(ax, points, [f"{names[system]}{end}" for system, end in zip(systems, beyond, strict=True)], size)

    def _fits(self, metric: str, names: Mapping[str, str], size: float, room: NDArray[np.float64]) -> bool:
        """Whether the names of all systems have room beside their points under a metric."""
        records = [each for each in self.of_set if each.metric == metric]
        xy, shown = _points(records)
        low, high = np.transpose([_around(each) for each in xy[shown].T])
        at = (np.clip(xy, low, high) - low) / (high - low)
        sizes = [(columns(names[each.system]) * LETTER * size, size) for each in records]
        return places(at * room, np.array(sizes), room)[2]


def _points(records: Sequence[MetricSystemScore]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """The scores by the metric and by people, and which are not far from the others."""
    xy = np.array([(each.score, each.human) for each in records], dtype=np.float64)
    by_people = near(xy[:, 1])
    return xy, near(xy[:, 0]) if by_people.all() else by_people


def _around(values: NDArray[np.float64]) -> tuple[float, float]:
    """Limits of an axis with room around the values."""
    margin = MARGIN * np.ptp(values) or 0.1 * abs(values[0]) or 1.0
    return float(values.min() - margin), float(values.max() + margin)


def _room(ax: Axes) -> NDArray[np.float64]:
    """The approximate width and height of axes, in points."""
    figure: Any = ax.figure
    size: NDArray[np.float64] = ax.get_position().size * figure.get_size_inches() * 72
    return size


def near(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """All but at most a tenth of the values, if the others take less than half of the range without these.

    >>> near(np.array([1, 9, 9.5, 10, 10.5, 11, 11.5, 12, 12.5, 13])).tolist().count(False)
    1
    """
    ranked = np.sort(values)
    for out in range(1, len(values) // 10 + 1):
        low = min(range(out + 1), key=lambda at: ranked[at - out - 1] - ranked[at])
        if ranked[low - out - 1] - ranked[low] < SQUEEZED * (ranked[-1] - ranked[0]):
            found: NDArray[np.bool_] = (values >= ranked[low]) & (values <= ranked[low - out - 1])
            return found
    return np.full(len(values), True)
