"""What figures of studies have in common: they are made from records of a study, and distinguish tests without colours.

A key names the lines and markers of the tests.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from ....results import ConfidenceInterval
from ...plots.labels import PLAIN, printable
from ...plots.style import BETTER, COLUMN, FONT_SIZE, INK, MUTED, WORSE

R = TypeVar("R")


@dataclass(frozen=True)
class StudyFigure(Generic[R]):
    """The base of classes that draw records of a study (:class:`~reshuffle.report.plots.style.Drawing`)."""

    study: Any
    records: Sequence[R]


class ColumnFigure(StudyFigure[R]):
    """A figure as wide as a column of a paper, in its size of type."""

    HEIGHT: ClassVar[float] = 2.1
    """In inches."""

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in inches."""
        return COLUMN, self.HEIGHT

    @property
    def font_size(self) -> float:
        """In points."""
        return FONT_SIZE


COLOURS = (INK, BETTER, WORSE, MUTED)
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p", "h", "*")
DASHES: tuple[Any, ...] = ("solid", (0, (4, 1.5)), (0, (1, 1.2)), (0, (5, 1.2, 1, 1.2)), (0, (3, 1, 1, 1, 1, 1)))
# What distinguishes the n-th test: no two of the first twelve agree in their markers.
LOOKS: tuple[dict[str, Any], ...] = tuple(
    {"color": COLOURS[i % len(COLOURS)], "marker": marker, "linestyle": DASHES[i % len(DASHES)]}
    for i, marker in enumerate(MARKERS)
)


def looks(names: Iterable[str]) -> dict[str, dict[str, Any]]:
    """The colour, marker and dashes of each name, in order of first appearance."""
    return {name: LOOKS[i % len(LOOKS)] for i, name in enumerate(dict.fromkeys(names))}


def point(
    ax: Axes, x: float, y: float, interval: ConfidenceInterval | None, look: dict[str, Any], filled: bool = True
) -> None:
    """A value with its interval as a vertical line."""
    color = look["color"]
    if interval is not None:
        ax.plot([x, x], [interval.low, interval.high], color=color, linewidth=0.9, solid_capstyle="butt", zorder=2)
    ax.plot(
        x, y, marker=look["marker"], markersize=3.8, markeredgewidth=0.9, markeredgecolor=color,
        markerfacecolor=color if filled else "white", linestyle="none", zorder=4,
    )  # fmt: skip


def label(ax: Axes, x: str, y: str) -> None:
    """Label both axes, which are the only lines around the figure."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.set_xlabel(x, **PLAIN)
    ax.set_ylabel(y, **PLAIN)


def key_above(ax: Axes, shown: dict[str, dict[str, Any]], columns: int) -> None:
    """A legend of the names above the axes, in at most so many columns."""
    key(ax, shown, loc="lower left", bbox_to_anchor=(0, 1.0), ncols=min(columns, len(shown)), columnspacing=1.0)


def key(ax: Axes, shown: dict[str, dict[str, Any]], lines: bool = False, **attributes: Any) -> None:
    """A legend of the names."""
    handles = [
        Line2D(
            [], [], color=look["color"], marker="" if lines else look["marker"], markersize=3.8, linewidth=1.0,
            linestyle=look["linestyle"] if lines else "none",
        )
        for look in shown.values()
    ]  # fmt: skip
    names: Sequence[str] = [printable(name) for name in shown]
    legend = ax.legend(
        handles, names, frameon=False, borderaxespad=0.2, handlelength=2.2 if lines else 1.0, labelspacing=0.25,
        handletextpad=0.5, **attributes,
    )  # fmt: skip
    for text in legend.get_texts():
        text.set_parse_math(PLAIN["parse_math"])
