"""Matrix of the p-values of all pairs, from best to worst, in shades from dark (small p) to light."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from numpy.typing import NDArray

from ...errors import ALL_PAIRS, InputError, quoted
from ...lazy import lazy
from ..cells import short_pvalue
from ..wording import number
from .labels import LABEL, LABEL_LINES, mathematical, text_size, wrapped
from .look import FONT_SIZE, INK, MUTED
from .rows import RowFigure, Rows
from .view import View

# In inches: the margins above and below the rows, the height of the legend, and the height of a row with values.
FURNITURE = 0.12
LEGEND = 1.0
LABELLED = 0.18
ROW = 0.19
# With more than MANY rows, the legend fits into the empty half; with more than MAX_VALUES, values do not fit.
MANY, MAX_VALUES = 9, 20
# The size of values in cells, relative to that of text, the share of a cell that they may fill, and the smallest size
# that is readable, in points.
SMALL, IN_CELL, READABLE = 0.833, 0.95, 5.0
# The upper ends of the classes of p-values; alpha is another.
ENDS = (0.001, 0.01, 0.1)
# From dark to light, in steps that are distinguishable in print.
SHADES = ("#08306b", "#2166ac", "#6baed6", "#c6dbef", "#eef4fa")


class Fitting(Artist):
    """Makes values as small as their cells need, or hides them, when cells have their size."""

    def __init__(self, texts: Sequence[Any], n: int) -> None:
        super().__init__()
        self.set(zorder=0, in_layout=False)  # drawn before the values
        self.texts, self.n, self.size = texts, n, SMALL * text_size()

    def draw(self, renderer: Any) -> None:
        """Set the sizes of the values."""
        ax: Any = self.axes
        for text in self.texts:  # a hidden text has no width
            text.set(visible=True, fontsize=self.size)
        widest = max((text.get_window_extent(renderer).width for text in self.texts), default=1.0)
        size = min(1.0, IN_CELL * ax.bbox.width / self.n / widest) * self.size
        for text in self.texts:
            text.set(visible=size >= READABLE, fontsize=size)


class PvalueMatrix(RowFigure):
    """The base of figures of p-values of all pairs, each in the row and the column of two of the names."""

    LEGEND_WIDTH: ClassVar[float] = 1.05
    """In inches: the width of the legend and the row numbers, and that of the narrowest cell that can show a value."""
    MIN_CELL: ClassVar[float] = 0.22

    @lazy
    def names(self) -> list[str]:
        """From the best to the worst."""
        raise NotImplementedError

    @property
    def pvalues(self) -> Mapping[tuple[int, int], tuple[float, bool]]:
        """By row and column: p, and whether it is significant."""
        raise NotImplementedError

    @property
    def level(self) -> float | None:
        """The level of the tests."""
        raise NotImplementedError

    @property
    def pvalue_name(self) -> str:
        """What the p-values are called."""
        raise NotImplementedError

    @property
    def label(self) -> str:
        """What the p-values are of, below the cells."""
        return ""

    @lazy
    def rows(self) -> Rows:
        """A row for each name."""
        furniture = FURNITURE + (LABELLED if self.label else 0.0)
        return Rows.from_names(
            self.names, furniture, ROW, beside=self.LEGEND_WIDTH, axes=self.MIN_CELL * len(self.names)
        )

    @property
    def ends(self) -> list[float]:
        """The upper end of each class of p-values but the last."""
        return sorted({*ENDS, 0.05 if self.level is None else self.level})

    def draw(self, ax: Axes) -> None:
        k, ends, pvalues = len(self.names), self.ends, self.pvalues
        shades = [SHADES[min(i, len(SHADES) - 1)] for i in range(len(ends) + 1)]
        classes = np.full((k, k), np.nan)
        for place, (p, _) in pvalues.items():
            classes[place] = np.nan if math.isnan(p) else np.searchsorted(ends, p)
        self.rows.draw(ax, lines=False)
        self._number(ax)
        self._draw_cells(ax, classes, shades)
        if k <= MAX_VALUES:
            values = {place: f"{short_pvalue(p, self.level)}{'*' * star}" for place, (p, star) in pvalues.items()}
            texts = [
                ax.text(
                    column + 0.5, self.rows.centres[row], value, ha="center", va="center_baseline",
                    fontsize=SMALL * text_size(), color="white" if classes[row, column] < 2 else INK,
                )
                for (row, column), value in values.items()
            ]  # fmt: skip
            ax.add_artist(Fitting(texts, k))
        self._draw_legend(ax, shades)
        if self.label:
            width = self.rows.label_width(ax, numbers=self._numbers_width)
            ax.set_xlabel(wrapped(self.label, width, LABEL_LINES), **LABEL)

    @property
    def _numbers_width(self) -> float:
        """The width of the numbers between names and cells, in points."""
        return (0.5 * len(str(len(self.names))) + 1) * text_size()

    def _number(self, ax: Axes) -> None:
        """Number the rows between the names and the cells, and the columns on the diagonal."""
        centres = self.rows.centres
        digits = len(str(len(centres)))
        size = text_size()
        # In digits, which are about half as wide as the size: the width of a cell.
        room = self.rows.axes_width(ax, self._numbers_width) / len(centres) / (0.5 * size)
        ax.tick_params(axis="y", pad=self._numbers_width)
        for i, y in enumerate(centres, start=1):
            ax.annotate(
                f"{i}", (0, y), (-0.4 * size, 0), ("axes fraction", "data"), "offset points",
                ha="right", va="center_baseline", color=MUTED, annotation_clip=False,
            )  # fmt: skip
            if len(centres) <= MAX_VALUES or room > digits + 0.5:
                ax.text(i - 0.5, y, f"{i}", ha="center", va="center_baseline", color=MUTED)
            elif i % 10 == 0:  # wider than its cell: not over the cells before it
                ax.text(i - 0.9, y, f"{i}", ha="left", va="center_baseline", color=MUTED)

    def _draw_cells(self, ax: Axes, classes: NDArray[np.float64], shades: Sequence[str]) -> None:
        """Draw the classes of p-values, (k, k), as shaded cells; NaN is none."""
        k = len(classes)
        ax.spines["bottom"].set_visible(False)
        ax.set_xlim(0, k)
        ax.set_xticks([])
        ax.pcolormesh(
            np.arange(k + 1), self.rows.edges, classes, cmap=ListedColormap(shades), vmin=-0.5, vmax=len(shades) - 0.5,
            edgecolors="white", linewidth=0.6 if k <= MAX_VALUES else 0.15,
        )  # fmt: skip

    def _draw_legend(self, ax: Axes, shades: Sequence[str]) -> None:
        texts = [f"≤ {number(end)}" for end in self.ends]
        texts.append(f"> {number(self.ends[-1])}")
        handles: list[Artist] = [
            Patch(facecolor=shade, edgecolor=MUTED, linewidth=0.4, label=text)
            for shade, text in zip(shades, texts, strict=True)
        ]
        if len(self.names) <= MAX_VALUES and any(significant for _, significant in self.pvalues.values()):
            level = f"≤ {number(self.level or 0)}"
            handles.append(
                Line2D([], [], linestyle="none", marker="$*$", markersize=4, markeredgewidth=0, color=INK, label=level)
            )
        # The upper right half is empty, but with few rows it is too small for the legend.
        figure: Any = ax.figure
        scale = 72 * text_size() / FONT_SIZE / (ax.get_position().size * figure.get_size_inches() * 72)
        many = len(self.names) > MANY and (scale * (self.LEGEND_WIDTH, LEGEND)).sum() < 1
        place = {"loc": "upper right"} if many else {"loc": "center left", "bbox_to_anchor": (1, 0.5)}
        ax.legend(handles=handles, title=mathematical(self.pvalue_name), frameon=False, **place)


@dataclass(frozen=True)
class Matrix(PvalueMatrix):
    """The p-values of all pairs of systems."""

    view: View

    @classmethod
    def from_view(cls, view: View) -> Matrix:
        """Raise :class:`InputError` unless all pairs were compared."""
        view.need_pairs("a matrix")
        k = len(view.comparison.systems)
        if len(view.pairs) < k * (k - 1) // 2:
            raise InputError(
                "a matrix shows all pairs, but the systems were compared with {baseline} only: use forest, or compare "
                "with {all_pairs}",
                baseline=quoted(view.comparison.baseline),
                all_pairs=ALL_PAIRS,
            )
        return cls(view)

    @lazy
    def names(self) -> list[str]:
        """The display names of the systems."""
        return [self.view.name(system) for system in self.view.scores]

    @property
    def size(self) -> tuple[float, float]:
        width, height = self.rows.size
        return width, max(height, LEGEND + LABELLED)

    @property
    def label(self) -> str:
        """The metric and the test set, and which system of a pair is better or the baseline."""
        columns = (
            "the system of the column is the better one" if self.view.comparison.is_reversible else "columns: baselines"
        )
        return f"{self.view.scored}; {columns}"

    @property
    def level(self) -> float | None:
        return self.view.comparison.alpha

    @property
    def pvalue_name(self) -> str:
        return self.view.pvalue_name

    @property
    def pvalues(self) -> dict[tuple[int, int], tuple[float, bool]]:
        """The row is the worse system or, if the test is one-sided, the system."""
        places = {system: index for index, system in enumerate(self.view.scores)}
        found = {}
        for pair in self.view.pairs:
            system, baseline = places[pair.system], places[pair.baseline]
            is_reversed = self.view.comparison.is_reversible and system < baseline
            place = (baseline, system) if is_reversed else (system, baseline)
            found[place] = pair.test.final_pvalue, self.view.is_significant(pair)
        return found
