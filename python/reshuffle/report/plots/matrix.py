"""Matrix of the p-values of all pairs, from best to worst, in shades from dark (small p) to light."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.patches import Patch
from numpy.typing import NDArray

from ...errors import InputError, quoted
from ...lazy import lazy
from ...results import PairedDifference
from ..notes import number
from .rows import RowFigure, Rows, text_size
from .style import INK, MUTED, PAGE
from .view import View

# In inches: the margins above and below the rows, the height of the legend, and the height of a row with values.
FURNITURE = 0.12
LEGEND = 1.0
ROW = 0.19
# In inches: the width of the legend and the row numbers, and that of the narrowest cell that can show a value.
LEGEND_WIDTH, MIN_CELL = 0.85, 0.22
# With more than MANY systems, the legend fits into the empty half; with more than MAX_VALUES, values do not fit.
MANY, MAX_VALUES = 9, 20
# The upper ends of the classes of p-values; alpha is another.
ENDS = (0.001, 0.01, 0.1)
# From dark to light, in steps that are distinguishable in print.
SHADES = ("#08306b", "#2166ac", "#6baed6", "#c6dbef", "#eef4fa")


@dataclass(frozen=True)
class Matrix(RowFigure):
    """The p-values of all pairs."""

    view: View

    @classmethod
    def from_view(cls, view: View) -> Matrix:
        """Raise :class:`InputError` unless all pairs were compared."""
        view.need_pairs("a matrix")
        k = len(view.comparison.systems)
        if len(view.pairs) < k * (k - 1) // 2:
            raise InputError(
                f"a matrix shows all pairs, but the systems were compared with {quoted(view.comparison.baseline)} "
                "only: use forest, or compare with all_pairs=True (--all-pairs)"
            )
        return cls(view)

    @lazy
    def rows(self) -> Rows:
        """A row for each system."""
        names = [self.view.name(system) for system in self.view.scores]
        narrow = Rows.from_names(names, FURNITURE, ROW)
        cell = (narrow.width - narrow.names_width - LEGEND_WIDTH) / len(names)
        return narrow if cell >= MIN_CELL else Rows.from_names(names, FURNITURE, ROW, PAGE)

    @property
    def size(self) -> tuple[float, float]:
        width, height = self.rows.size
        return width, max(height, LEGEND)

    @property
    def ends(self) -> list[float]:
        """The upper end of each class of p-values but the last."""
        alpha = self.view.comparison.alpha
        return sorted({*ENDS, 0.05 if alpha is None else alpha})

    @lazy
    def _places(self) -> dict[str, int]:
        return {system: index for index, system in enumerate(self.view.scores)}

    def cell(self, pair: PairedDifference) -> tuple[int, int]:
        """Row and column of a pair: the row is the worse system or, if the test is one-sided, the system."""
        system, baseline = self._places[pair.system], self._places[pair.baseline]
        return (system, baseline) if not self.view.two_sided or system > baseline else (baseline, system)

    def draw(self, ax: Axes) -> None:
        k = len(self.view.scores)
        shades = [SHADES[min(i, len(SHADES) - 1)] for i in range(len(self.ends) + 1)]
        classes = np.full((k, k), np.nan)
        for pair in self.view.pairs:
            classes[self.cell(pair)] = np.searchsorted(self.ends, self.view.pvalue(pair))
        self.rows.draw(ax, lines=False)
        self._number(ax)
        draw_cells(ax, self.rows.edges, classes, shades)
        if k <= MAX_VALUES:
            self._write_values(ax)
        self._draw_legend(ax, shades)

    def _number(self, ax: Axes) -> None:
        """Number the rows between the names and the cells, and the columns on the diagonal."""
        centres = self.rows.centres
        digits = len(str(len(centres)))
        size = text_size()
        ax.tick_params(axis="y", pad=(0.5 * digits + 1) * size)
        for i, y in enumerate(centres, start=1):
            ax.annotate(
                f"{i}", (0, y), (-0.4 * size, 0), ("axes fraction", "data"), "offset points",
                ha="right", va="center_baseline", color=MUTED, annotation_clip=False,
            )  # fmt: skip
            if len(centres) <= MAX_VALUES or i % 10 == 0:
                ax.text(i - 0.5, y, f"{i}", ha="center", va="center_baseline", color=MUTED)

    def _write_values(self, ax: Axes) -> None:
        for pair in self.view.pairs:
            row, column = self.cell(pair)
            p = self.view.pvalue(pair)
            dark = np.searchsorted(self.ends, p) < 2
            ax.text(
                column + 0.5, self.rows.centres[row], f"{short(p)}{'*' if self.view.is_significant(pair) else ''}",
                ha="center", va="center_baseline", color="white" if dark else INK, fontsize="small",
            )  # fmt: skip

    def _draw_legend(self, ax: Axes, shades: list[str]) -> None:
        alpha = self.view.comparison.alpha
        texts = [f"≤ {number(end)}{'*' if end == alpha else ''}" for end in self.ends] + [f"> {number(self.ends[-1])}"]
        patches = [
            Patch(facecolor=shade, edgecolor=MUTED, linewidth=0.4, label=text)
            for shade, text in zip(shades, texts, strict=True)
        ]
        # The upper right half is empty, but with few systems it is too small for the legend.
        place = (
            {"loc": "upper right"}
            if len(self.view.scores) > MANY
            else {"loc": "center left", "bbox_to_anchor": (1, 0.5)}
        )
        ax.legend(handles=patches, title=self.view.pvalue_name, frameon=False, **place)


def draw_cells(ax: Axes, edges: NDArray[np.float64], classes: NDArray[np.float64], shades: Sequence[str]) -> None:
    """Draw the classes of p-values, (k, k), as shaded cells; NaN is none. ``edges`` are those of the rows."""
    k = len(classes)
    ax.spines["bottom"].set_visible(False)
    ax.set_xlim(0, k)
    ax.set_xticks([])
    ax.pcolormesh(
        np.arange(k + 1), edges, classes, cmap=ListedColormap(shades), vmin=-0.5, vmax=len(shades) - 0.5,
        edgecolors="white", linewidth=0.6 if k <= MAX_VALUES else 0.15,
    )  # fmt: skip


def short(p: float) -> str:
    """A p-value with three decimals, without the leading zero.

    >>> short(0.0321), short(0.0002), short(0.99999)
    ('.032', '<.001', '1')
    """
    if p < 0.001:
        return "<.001"
    return f"{p:.3f}".removeprefix("0") if p < 0.9995 else "1"
