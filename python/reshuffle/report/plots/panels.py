"""Figures with a panel for each metric."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from matplotlib.layout_engine import ConstrainedLayoutEngine

from ...errors import Argument, warn
from .intervals import add_key, merged_key
from .look import PAGE, PAGE_HEIGHT
from .style import PADDING, SIZES, STYLE, Drawing, PaperAxes, PaperFigure, length_of, warn_of_missing_letters

# The height of the title of a panel with the space above it, and the space between two panels as a fraction of one.
TITLE, GAP = 0.2, 0.08
# A key of one line has room in a figure, which is higher with more, in inches.
ONE_LINE = 0.2


def stacked_height(drawings: Iterable[Drawing]) -> float:
    """The height of panels one above the other, in inches."""
    return sum(each.size[1] + TITLE for each in drawings)


def panels_of(drawings: Mapping[str, Drawing], beside: int, width: float | None, height: float | None) -> PaperFigure:
    """A new figure with a panel under each title.

    ``beside`` panels stand beside each other. If these are more than one, only the first of them has names of rows.
    """
    sizes = [each.size for each in drawings.values()]
    rows = [sizes[start : start + beside] for start in range(0, len(sizes), beside)]
    heights = [max(high for _, high in row) + TITLE for row in rows]
    # The rows of one panel fit a page already, without the title.
    high = sum(heights) if len(rows) > 1 else min(heights[0], PAGE_HEIGHT)
    default = PAGE if beside > 1 else max(wide for wide, _ in sizes), high
    if height is None and high > PAGE_HEIGHT:
        warn(
            "the panels are {high} inches high together, and a page has {page}: plot each metric alone ({metric}), or "
            "choose {height}",
            high=f"{high:.1f}",
            page=f"{PAGE_HEIGHT:.1f}",
            metric=Argument("metric"),
            height=SIZES["height"],
        )
    size = [length_of(*given) for given in zip(("width", "height"), (width, height), default, strict=True)]
    layout = ConstrainedLayoutEngine(h_pad=0.05, w_pad=PADDING, wspace=GAP)
    font_size = min(each.font_size for each in drawings.values())
    figure = PaperFigure(font_size, figsize=(size[0], size[1]), dpi=STYLE["figure.dpi"], layout=layout)
    with figure.style():
        grid = figure.add_gridspec(len(rows), beside, height_ratios=heights)
        places = [divmod(number, beside) for number in range(len(drawings))]
        panels = [figure.add_subplot(grid[place], axes_class=PaperAxes) for place in places]
        for number, (axes, (title, each)) in enumerate(zip(panels, drawings.items(), strict=True)):
            each.draw(axes)
            if not axes.get_title():
                axes.set_title(title, loc="left", fontweight="bold", parse_math=False)
            if number and (legend := axes.get_legend()) is not None:  # the first panel has it
                legend.remove()
            axes.tick_params(labelleft=number % beside == 0)
            if number % beside:
                axes.set_ylabel("")
        if (key := merged_key(panels)) is not None:
            high = add_key(figure, key)
            if height is None:
                figure.set_figheight(size[1] + (high if high > ONE_LINE else 0))
            high /= figure.get_figheight()
            layout.set(rect=(0, high, 1, 1 - high))
        warn_of_missing_letters(figure)
    return figure
