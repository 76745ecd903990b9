"""The style of figures: fonts and settings, for a column of an ACL paper printed in black and white."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any, Protocol

import matplotlib.style
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, fontManager, get_font
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from ...errors import Argument, InputError, listed, quoted, warn
from .look import FONT_SIZE, INK

# Pixels of an inch in a notebook, where a figure is larger than in print.
NOTEBOOK = 144
# The margin of a figure, so that no line is cut off.
PADDING = 0.02

# STIXGeneral resembles Times, the font of ACL papers, and comes with matplotlib, so that files do not depend on the
# fonts of a machine. DejaVu Sans, which also comes with it, and the fonts of the machine supply characters it lacks.
FONTS = ["STIXGeneral", "DejaVu Sans"]
FALLBACK = (
    "Noto Sans CJK JP", "Noto Sans CJK SC", "Noto Sans Devanagari", "Noto Sans Bengali", "Noto Sans Tamil",
    "Noto Sans Thai", "PingFang SC", "Hiragino Sans", "Microsoft YaHei", "Yu Gothic", "Malgun Gothic", "Nirmala UI",
    "Source Han Sans", "WenQuanYi Zen Hei", "Droid Sans Fallback", "Arial Unicode MS", "Unifont",
)  # fmt: skip

STYLE: Mapping[str, Any] = {
    "font.size": FONT_SIZE,
    "mathtext.fontset": "stix",
    "axes.titlesize": FONT_SIZE,
    "axes.labelsize": FONT_SIZE,
    "xtick.labelsize": FONT_SIZE - 0.5,
    "ytick.labelsize": "medium",
    "legend.fontsize": FONT_SIZE - 0.5,
    "legend.title_fontsize": FONT_SIZE - 0.5,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "xtick.major.pad": 2.0,
    "ytick.major.pad": 3.0,
    "axes.labelpad": 2.5,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "hatch.linewidth": 0.5,
    "figure.dpi": 200.0,
    "savefig.dpi": 300.0,
    # TrueType outlines, which can be searched and copied; conferences refuse the bitmaps of Type 3.
    "pdf.fonttype": 42,
    "ps.fonttype": 42,
    "svg.fonttype": "path",
    "svg.hashsalt": "reshuffle",
}

# Without the date, the same figure gives the same file.
UNDATED: Mapping[str, Mapping[str, None]] = {"pdf": {"CreationDate": None}, "svg": {"Date": None}}


class Drawing(Protocol):
    """A figure that can be drawn into any axes."""

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in inches."""

    @property
    def font_size(self) -> float:
        """The size of names and numbers, in points: smaller with many rows."""

    def draw(self, ax: Axes) -> None:
        """Add the artists."""


class PaperFigure(Figure):
    """A figure that keeps its style when it is drawn and saved, whatever the user's matplotlib settings are."""

    def __init__(self, font_size: float, **attributes: Any) -> None:
        self.font_size = font_size
        super().__init__(**attributes)

    @contextmanager
    def style(self) -> Iterator[None]:
        """Use the settings of the figure, and restore the user's afterwards."""
        settings = {**STYLE, "font.family": _fonts(), "font.size": self.font_size}
        with matplotlib.style.context(settings, after_reset=True), warnings.catch_warnings():
            warnings.filterwarnings("ignore", r"Glyph \d+")  # `warn_of_missing_letters` has reported them
            warnings.filterwarnings("error", "constrained_layout not applied")
            try:
                yield
            except UserWarning as warning:
                if "constrained_layout" not in str(warning):
                    raise
                raise self._too_small() from None

    def _too_small(self) -> InputError:
        size = " × ".join(f"{length:.3g}" for length in self.get_size_inches())
        return InputError(
            "a figure of {size} inches has no room for its labels: choose a larger {width} or {height}, or "
            "shorter {names}",
            size=size,
            **SIZES,
            names=Argument("names"),
        )

    def draw(self, renderer: Any) -> None:
        """As :meth:`matplotlib.figure.Figure.draw`: ticks get their settings only now."""
        with self.style():
            super().draw(renderer)

    def savefig(self, fname: Any, **options: Any) -> None:
        """As :meth:`matplotlib.figure.Figure.savefig`, with embedded TrueType fonts and without a date.

        Raises
        ------
        InputError
            If the figure is too small for its labels.
        """
        named = Path(fname).suffix[1:] if isinstance(fname, str | Path) else ""
        undated = UNDATED.get(str(options.get("format") or named).lower(), {})
        if undated:
            options["metadata"] = {**undated, **(options.get("metadata") or {})}
        with self.style():
            try:
                super().savefig(fname, **options)
            except ValueError as error:
                if "Image size" not in str(error):
                    raise
                raise InputError(
                    "{error} Choose PDF or SVG, or a smaller {width} or {height}", error=str(error), **SIZES
                ) from None
            # Texts have slightly different widths in a file and on the canvas, where they are measured.
            if not self._has_room():
                self.draw_without_rendering()
                if not self._has_room():
                    raise self._too_small()

    def _repr_png_(self) -> tuple[bytes, dict[str, float]]:
        """What a notebook displays, also without pyplot: the picture, and its size there."""
        content = BytesIO()
        self.savefig(content, format="png")
        width, height = self.get_size_inches() * NOTEBOOK
        return content.getvalue(), {"width": float(width), "height": float(height)}

    def _has_room(self) -> bool:
        """The layout engine reserves space for most labels, but not for wide ones below and above the axes."""
        box, (width, height) = self.get_tightbbox(), self.get_size_inches()
        over = max(-box.x0, -box.y0, box.x1 - width, box.y1 - height)
        return bool(over <= PADDING)


class PaperAxes(Axes):
    """Axes that a notebook displays as their figure."""

    def _repr_png_(self) -> tuple[bytes, dict[str, float]]:
        figure: Any = self.figure
        shown: tuple[bytes, dict[str, float]] = figure._repr_png_()
        return shown


# What is around users' axes keeps this distance from the edge of the figure, relative to its size.
EDGE = 0.01


class Fitted:
    """The place of users' axes without what is around them: smaller than matplotlib's, unless a layout engine, also one
    that is set later, such as that of ``tight_layout``, has made room."""

    MOST = 0.6
    """The share of the place that may be for what is around the axes."""

    def __init__(self, ax: Axes) -> None:
        self.ax, self.is_measuring = ax, False

    def __call__(self, ax: Any, renderer: Any = None) -> Bbox:
        """As matplotlib asks for it."""
        figure, place = ax.figure, Bbox(ax.get_position(original=True).get_points())
        if figure.get_layout_engine() is not None or renderer is None or self.is_measuring:
            return place
        self.is_measuring = True
        box = ax.get_tightbbox(renderer).transformed(figure.transFigure.inverted())
        self.is_measuring = False
        others = [each.get_position(original=True) for each in figure.axes if each is not ax]
        # Other axes have what is around them to their left and below.
        low = [max([EDGE, *(o.max[i] for o in others if o.max[i] <= place.min[i])]) for i in (0, 1)]
        high = [place.max[i] if any(o.min[i] >= place.max[i] for o in others) else 1 - EDGE for i in (0, 1)]
        less, over = np.maximum(low - box.min, 0), np.maximum(box.max - high, 0)
        shrunk = np.minimum(1, np.multiply(self.MOST, place.size) / np.maximum(less + over, 1e-9))
        return Bbox([place.min + less * shrunk, place.max - over * shrunk])

    def get_subplotspec(self) -> Any:
        """For ``tight_layout``."""
        return self.ax.get_subplotspec()


def _fonts() -> list[str]:
    # matplotlib logs a warning for every font that is not installed.
    installed = {font.name for font in fontManager.ttflist}
    return [*FONTS, *(name for name in FALLBACK if name in installed)]


def axes_of(drawing: Drawing, ax: Axes | None = None, width: float | None = None, height: float | None = None) -> Axes:
    """Axes with the drawing: ``ax``, or those of a new figure of this width and height in inches."""
    if ax is not None:
        if not isinstance(ax, Axes):
            got = f"{quoted(ax)}: plt.subplots() makes a figure and its Axes"
            if hasattr(ax, "__len__"):  # of plt.subplots(2, 2)
                got = f"{getattr(ax, 'size', len(ax))} in an array or list: choose one, as in ax=axes.flat[0]"
            raise InputError(f"ax must be an Axes of matplotlib, got {got}")
        if width is not None or height is not None:
            raise InputError("width and height apply to new figures only: leave them out with ax")
        drawing.draw(ax)
        if ax.get_axes_locator() is None:
            ax.set_axes_locator(Fitted(ax))
        return ax
    size = [length_of(*given) for given in zip(("width", "height"), (width, height), drawing.size, strict=True)]
    layout = ConstrainedLayoutEngine(h_pad=PADDING, w_pad=PADDING)
    figure = PaperFigure(drawing.font_size, figsize=(size[0], size[1]), dpi=STYLE["figure.dpi"], layout=layout)
    with figure.style():
        axes = figure.add_subplot(axes_class=PaperAxes)
        drawing.draw(axes)
        if height is None:
            figure.set_figheight(size[1] + sum(getattr(artist, "beyond", 0.0) for artist in axes.artists))
        warn_of_missing_letters(figure)
    return axes


def warn_of_missing_letters(figure: Figure) -> None:
    """Warn of characters that no font has, which figures show as boxes."""
    used = {c for text in figure.findobj(Text) for c in text.get_text() if not c.isascii()}
    for family in _fonts():
        if used:
            used -= set(map(chr, get_font(findfont(FontProperties(family=[family]))).get_charmap()))
    if used:
        warn(
            "no installed font has the characters {characters}: install a font that has them, such as Noto Sans CJK, "
            "or choose display names with other characters ({names})",
            characters=listed(sorted(used)),
            names=Argument("names"),
        )


# In inches; larger than a poster. At 300 dpi, matplotlib takes 900 MB for an image of this size.
MAX_LENGTH = 50.0
# The arguments, in messages.
SIZES = {"width": Argument("width"), "height": Argument("height")}


def length_of(what: str, given: float | None, default: float) -> float:
    """A width or height in inches."""
    if given is None:
        return default
    number = float(given) if isinstance(given, int | float) and not isinstance(given, bool) else -1.0
    if not 0 < number <= MAX_LENGTH:
        raise InputError(
            "{what} must be a number of inches above 0, at most {most}, got {given}",
            what=Argument(what),
            most=f"{MAX_LENGTH:g}",
            given=quoted(given),
        )
    return number
