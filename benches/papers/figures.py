"""Small figures for the page of the papers' claims. matplotlib is imported when one is drawn."""

from __future__ import annotations

from pathlib import Path
from typing import Any

__all__ = ["columns", "save"]

# Text stays text, and the same figures give the same file.
STYLE: Any = {  # matplotlib's type lists every key
    "svg.fonttype": "none", "svg.hashsalt": "reshuffle", "font.size": 8, "axes.titlesize": 8, "axes.spines.top": False,
    "axes.spines.right": False, "lines.linewidth": 1, "lines.markersize": 3.5, "legend.frameon": False,
}  # fmt: skip
WIDTH, HEIGHT = 3.4, 2.4


def columns(n: int) -> tuple[Any, list[Any]]:
    """A figure with n axes beside one another."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(STYLE):
        figure = Figure(figsize=(WIDTH * n, HEIGHT), layout="constrained")
        return figure, list(figure.subplots(1, n, squeeze=False)[0])


def save(figure: Any, path: Path) -> None:
    """Write an SVG file without a date."""
    from matplotlib import rc_context

    with rc_context(STYLE):
        figure.savefig(path, format="svg", metadata={"Date": None})
