"""Figures of tuning: the scores of runs on two sets of lists, and the course of the runs."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from ....grouping import grouped
from ....results.studies import TuningRun, TuningStep
from ...plots.labels import printable
from ...plots.style import BETTER, FAINT, INK, MUTED
from .base import ColumnFigure, label

# The share of the range of the values that is left free at each end.
FREE = 0.12
# Labels of quantities whose names alone do not say what they count.
LABELS = {"selected": "selected features", "not zero": "features with a weight"}


class ReplicationsFigure(ColumnFigure[TuningRun]):
    """The test score of each run against its development score, with the means and standard deviations."""

    HEIGHT = 2.5

    def draw(self, ax: Axes) -> None:
        x = [run.dev_score for run in self.records]
        y = [run.test_score for run in self.records if run.test_score is not None]
        ax.plot(
            x, y, marker="o", markersize=3.6, markeredgewidth=0.8, markeredgecolor=BETTER, markerfacecolor="white",
            linestyle="none", zorder=3,
        )  # fmt: skip
        for draw, values in ((ax.axvline, x), (ax.axhline, y)):
            draw(sum(values) / len(values), color=MUTED, linewidth=0.6, linestyle=(0, (3, 2)), zorder=1)
        # The same length of a unit on both axes shows which standard deviation is larger.
        half = max(max(x) - min(x), max(y) - min(y)) * (0.5 + FREE) or 0.5
        for limits, values in ((ax.set_xlim, x), (ax.set_ylim, y)):
            middle = (min(values) + max(values)) / 2
            limits(middle - half, middle + half)
        ax.set_box_aspect(1)
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_major_locator(MaxNLocator(5))
        ax.grid(color=FAINT, linewidth=0.5)
        ax.set_axisbelow(True)
        metric = printable(self.study.metrics[0].name)
        label(ax, f"{metric}, development lists", f"{metric}, test lists")


class CourseFigure(ColumnFigure[TuningStep]):
    """A quantity by step: a line for each run and round."""

    def draw(self, ax: Axes) -> None:
        lines = grouped(((each.run, each.round), each) for each in self.records)
        # Starts have no order; epochs and steps have.
        name = self.records[0].quantity
        ordered = "after" in name or name in ("selected", "not zero")
        for own in lines.values():
            x, y = [each.step + 1 for each in own], [each.value for each in own]
            if ordered:
                ax.plot(x, y, color=BETTER, linewidth=0.5, alpha=0.55, zorder=2)
            else:
                ax.plot(x, y, marker=".", markersize=2.5, color=BETTER, alpha=0.55, linestyle="none", zorder=2)
        self._mean(ax, ordered)
        ax.xaxis.set_major_locator(MaxNLocator(8, integer=True))
        ax.grid(axis="y", color=FAINT, linewidth=0.5)
        ax.set_axisbelow(True)
        what, _, counted = name.replace(" of ", " after ").partition(" after ")
        label(ax, counted or "step", LABELS.get(name, what.replace("score", printable(self.study.metrics[0].name))))

    def _mean(self, ax: Axes, ordered: bool) -> None:
        """The mean over runs, at steps that all of them have."""
        values = grouped((each.step, each.value) for each in self.records)
        runs = len({(each.run, each.round) for each in self.records})
        several = {step + 1: sum(own) / runs for step, own in sorted(values.items()) if len(own) == runs > 1}
        if several and ordered:
            ax.plot([*several], [*several.values()], color=INK, linewidth=1.1, zorder=4)
