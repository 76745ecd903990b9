"""Figures with a row for each system: names on the left, columns of text on the right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.font_manager import FontProperties, findfont
from matplotlib.textpath import TextPath
from matplotlib.transforms import ScaledTranslation, Transform
from numpy.typing import NDArray

from ...lazy import lazy
from .labels import LETTER, MATHEMATICAL, PLAIN, columns, lines_of, mathematical, text_size, wrapped
from .look import COLUMN, FAINT, FONT_SIZE, PAGE, PAGE_HEIGHT
from .style import FONTS, PaperFigure

# The length of a line of a name, in average letters: in a column-wide figure, a page-wide one, and one with many rows.
NARROW, WIDE, SINGLE = 24, 36, 62
# The space between the axes and the baseline of the headers of columns, as a fraction of the font size.
HEADER = 0.65
# With more rows than this, long names make the figure page-wide, so that most need one line only.
MANY = 40
# In inches, 3 cm: narrower axes make the figure page-wide, because markers would hide intervals in them.
AXES = 3.0 / 2.54
# The distance of rows, relative to the size of their text, and the size that it has in low axes of users, at least.
SPACED, SMALL = 1.15, 5.0
# In inches: the height of a row of one line, that of each further line, and the smallest height of a row.
ROW, LINE, SMALLEST = 0.155, 0.11, 0.076


@dataclass(frozen=True)
class Rows:
    """The rows of a figure."""

    labels: tuple[str, ...]
    """Names, wrapped."""
    heights: tuple[float, ...]
    """Relative to a row of one line."""
    row: float
    """The height of a row of one line, in inches."""
    width: float
    """The default width of the figure, in inches."""
    furniture: float
    """The height of what is above and below the rows, in inches."""
    shared: bool = False
    """Whether panels beside each other have these rows, with names beside the first one only."""

    @classmethod
    def from_names(
        cls,
        names: Sequence[str],
        furniture: float,
        row: float = ROW,
        beside: float = 0.0,
        axes: float = AXES,
        shared: bool = False,
    ) -> Rows:
        """As wide as a column or, if the axes would be too narrow in it, as a page.

        In inches: ``furniture`` is the height of what is above and below the rows, ``row`` that of a row, ``beside``
        the width of what is to the right of the axes, and ``axes`` the least width of the axes.
        """
        narrow = cls._of_width(COLUMN, names, furniture, row)
        one_line = len(names) <= MANY or max(map(columns, names)) <= NARROW
        fits = narrow.width - narrow.names_width - beside >= axes
        chosen = narrow if one_line and fits else cls._of_width(PAGE, names, furniture, row)
        return replace(chosen, shared=shared)

    @classmethod
    def _of_width(cls, width: float, names: Sequence[str], furniture: float, row: float) -> Rows:
        limit = NARROW if width == COLUMN else SINGLE if len(names) > MANY else WIDE
        labels = tuple(wrapped(name, limit) for name in names)
        heights = tuple(1 + (lines_of(label) - 1) * LINE / row for label in labels)
        scale = min(1.0, max((PAGE_HEIGHT - furniture) / (row * sum(heights)), SMALLEST / row))
        return cls(labels, heights, row * scale, width, furniture)

    @property
    def size(self) -> tuple[float, float]:
        """The default width and height of the figure, in inches."""
        return self.width, self.row * sum(self.heights) + self.furniture

    @property
    def font_size(self) -> float:
        """In points; small enough that neighbouring rows do not overlap."""
        return min(FONT_SIZE, 72 * self.row / SPACED)

    @property
    def edges(self) -> NDArray[np.float64]:
        """The boundaries of the rows, from 0, in the unit of ``heights``."""
        return np.concatenate([[0.0], np.cumsum(self.heights)])

    @property
    def centres(self) -> list[float]:
        """The middle of each row."""
        edges = self.edges
        return [float(centre) for centre in (edges[:-1] + edges[1:]) / 2]

    def label_width(self, ax: Axes, right: float = 0.0, numbers: float = 0.0) -> int:
        """How many average letters fit a line below the axes.

        In points: ``right`` is the width of text beside the axes, and ``numbers`` that between names and axes.
        """
        width, left = self._width_and_left(ax)
        left += numbers
        is_own = isinstance(ax.figure, PaperFigure)
        letter = LETTER * (FONT_SIZE if is_own else text_size() * _relative_width())
        # Two letters less than the estimate: releases of matplotlib set text in slightly different widths.
        return max(int((width - left - right + 2 * min(left, right)) / letter) - 2, 12 if is_own else 20)

    def axes_width(self, ax: Axes, right: float) -> float:
        """The approximate width of axes without what is beside them, in points."""
        width, left = self._width_and_left(ax)
        return width - left - right

    def _width_and_left(self, ax: Axes) -> tuple[float, float]:
        """The approximate width of a panel and, of that, of the names beside the axes, in points."""
        figure: Any = ax.figure
        place = ax.get_subplotspec()
        beside = 1 if place is None else place.get_gridspec().ncols
        width, left = figure.get_figwidth(), self.names_width
        if not isinstance(figure, PaperFigure):
            left *= text_size() * _relative_width() / self.font_size
        elif self.shared:
            return 72 * (width - left) / beside, 0.0
        return 72 * width / beside, 72 * left

    @property
    def names_width(self) -> float:
        """The approximate width of the names, in inches."""
        longest = max(columns(line) for label in self.labels for line in label.split("\n"))
        return (longest + 1) * LETTER * self.font_size / 72

    def draw(self, ax: Axes, above: float = 0.0, lines: bool = True) -> None:
        """Set up axes with the names on the left and the first row on top. ``above``: space above the first row."""
        ax.set_ylim(float(self.edges[-1]), -above)
        ax.set_yticks(self.centres, labels=list(self.labels), **PLAIN)
        figure: Any = ax.figure
        row = 72 * ax.get_position().height * figure.get_figheight() / len(self.labels)
        ax.tick_params(axis="y", length=0, labelsize=min(text_size(), max(row / SPACED, SMALL)))
        ax.spines[["left", "top", "right"]].set_visible(False)
        ax.set_axisbelow(True)
        if lines:
            ax.grid(axis="y", color=FAINT, linewidth=0.4)


class RowFigure:
    """A figure with a row for each system, whose size follows from its rows."""

    @lazy
    def rows(self) -> Rows:
        """A row for each system."""
        raise NotImplementedError

    @property
    def size(self) -> tuple[float, float]:
        return self.rows.size

    @property
    def font_size(self) -> float:
        return self.rows.font_size


@dataclass(frozen=True)
class Column:
    """Right-aligned cells to the right of the axes, each with text that protrudes from the column, such as a star."""

    header: str
    cells: Sequence[tuple[str, str]]
    symbolic: bool = False
    """Whether the header has symbols, and is no name."""

    @property
    def width(self) -> float:
        """In average letters, including the space before the column."""
        return max(columns(text) for text in (self.header, *(cell for cell, _ in self.cells))) + 2


def width_of(beside_rows: Sequence[Column]) -> float:
    """The width of the columns, in inches."""
    return sum(column.width for column in beside_rows) * LETTER * FONT_SIZE / 72


def has_room_beside(ax: Axes, rows: Rows, right: float) -> bool:
    """Whether users' axes have room for so many points to their right: then they have half of their place left."""
    return isinstance(ax.figure, PaperFigure) or rows.axes_width(ax, right) > rows.axes_width(ax, 0.0) / 2


def columns_beside(ax: Axes, rows: Rows, beside_rows: Sequence[Column]) -> float:
    """Write the columns to the right of the axes, one cell for each row. Returns where they end, in points."""
    size = text_size()
    letter = LETTER * size * _relative_width()
    right = 0.0
    for column in beside_rows:
        right += column.width * letter
        header, style = (mathematical(column.header), MATHEMATICAL) if column.symbolic else (column.header, PLAIN)
        ax.annotate(
            header, (1, 1), (right, HEADER * size), "axes fraction", "offset points",
            ha="right", va="baseline", annotation_clip=False, **style,
        )  # fmt: skip
        for y, (cell, hanging) in zip(rows.centres, column.cells, strict=True):
            for text, side in ((cell, "right"), (hanging, "left")):
                if text:
                    ax.annotate(
                        text, (1, y), (right, 0), ("axes fraction", "data"), "offset points",
                        ha=side, va="center_baseline", annotation_clip=False, **PLAIN,
                    )  # fmt: skip
    return right


def width_beside(beside_rows: Sequence[Column]) -> float:
    """The width of the columns in the font of the axes, in points."""
    return sum(column.width for column in beside_rows) * LETTER * text_size() * _relative_width()


def _relative_width() -> float:
    """The width of letters, relative to that in the font of the figure's style: users' axes may have another font."""
    used, own = (_width_of_letters(findfont(FontProperties(family))) for family in (None, FONTS[0]))
    return used / own


@cache
def _width_of_letters(file: str) -> float:
    """The width of some letters in the font of a file."""
    return float(TextPath((0, 0), "adjusted p 0.0123", 10, FontProperties(fname=file)).get_extents().width)


def beside(ax: Axes, points: float) -> Transform:
    """Data coordinates for y, and x in points from the right edge of the axes."""
    figure = ax.get_figure()
    assert figure is not None
    return ax.get_yaxis_transform() + ScaledTranslation(points / 72, 0, figure.dpi_scale_trans)
