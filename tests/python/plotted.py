"""Figures to test, and what is read off them."""

import hashlib
import io
import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.offsetbox import AnnotationBbox
from matplotlib.patches import StepPatch
from matplotlib.text import Text

from reshuffle import Comparison, SegmentScores, compare
from reshuffle.report import PLOTS
from reshuffle.report.plots import figure_of, file_of
from reshuffle.report.plots.intervals import MARKER
from reshuffle.results import Histogram, NullHistogram

SEGMENTS = 200
KINDS = list(PLOTS)
LONG = ("transformer_big_ensemble_v2_beam8_lenpen0.6_ckpt-average-10xx", "x" * 60, "a system with a name of words")
HOSTILE = ("$x^2$", "a_b^c", r"\alpha \frac{1}{2}", "two\nlines\tand tabs", "nul\0", "half \ud800", "% # & ~ { }", "$")


@cache
def systems(names: tuple[str, ...], seed: int = 0) -> dict[str, list[float]]:
    """Segment scores of systems whose quality decreases in the order of the names, with some ties."""
    rng = np.random.default_rng(seed)
    segment = rng.normal(0, 10, SEGMENTS)
    quality = np.linspace(1.2, -1.2, len(names)) * (1 + len(names) / 8)
    return {
        name: np.clip(60 + q + segment + rng.normal(0, 8, SEGMENTS), 0, 100).round(1).tolist()
        for name, q in zip(names, quality, strict=True)
    }


def numbered(k: int) -> tuple[str, ...]:
    return tuple(f"system-{i}" for i in range(1, k + 1))


@cache
def compared(names: tuple[str, ...], all_pairs: bool = True, lower: bool = False, **options: Any) -> Comparison:
    """A comparison with histograms, computed from normal distributions."""
    scores = SegmentScores("rating", systems(names), higher_is_better=not lower)
    return with_histograms(compare(metrics=scores, all_pairs=all_pairs, n_resamples=500, **options))


def with_histograms(comparison: Comparison) -> Comparison:
    rng = np.random.default_rng(1)
    return replace(
        comparison,
        scores=tuple(
            replace(s, draws=Histogram(*histogram(rng.normal(s.score, 0.6, 2000)))) for s in comparison.scores
        ),
        comparisons=tuple(
            replace(p, null=NullHistogram(*histogram(rng.normal(0, 0.8, 2000)), p.difference))
            for p in comparison.comparisons
        ),
    )


def histogram(values: Any) -> tuple[float, float, tuple[int, ...]]:
    """Low, width and counts of 64 bins that contain all values."""
    low, high = min(values), max(values)
    width = (high - low) / 63
    counts = np.bincount(np.floor((values - low) / width).astype(int), minlength=64)
    return float(low), float(width), tuple(map(int, counts))


def drawn(ax: Axes) -> Any:
    """The figure after its layout is computed, without its pixels."""
    figure: Any = ax.figure
    FigureCanvasAgg(figure)
    figure.draw_without_rendering()
    return figure


def plotted(comparison: Comparison, kind: str, **options: Any) -> Axes:
    """A figure of any kind, for the first pair if need be."""
    if kind == "null" and "system" not in options:
        options["system"] = comparison.comparisons[-1]
    axes: Axes = getattr(comparison.plot, kind)(**options)
    return axes


@cache
def saved_as_pdf(kind: str) -> tuple[Any, bytes]:
    """A figure of four systems, and its file."""
    figure: Any = plotted(compared(numbered(4)), kind).figure
    content = io.BytesIO()
    figure.savefig(content, format="pdf")
    return figure, content.getvalue()


def lines_of(ax: Axes) -> list[Any]:
    """The lines, without matplotlib's types of their data, which allow for nearly anything."""
    return list(ax.lines)


def names_of(ax: Axes) -> list[str]:
    return [label.get_text() for label in ax.get_yticklabels()]


def texts_of(ax: Axes) -> list[str]:
    return [text.get_text() for text in ax.texts if text.get_text()]


def key_of(ax: Axes) -> dict[str, Any]:
    """The texts below the label of the axis, and their colours."""
    texts: list[Any] = [text for box in ax.findobj(AnnotationBbox) for text in box.findobj(Text)]
    return {text.get_text(): text.get_color() for text in texts if text.get_text()}


def markers(ax: Axes) -> list[tuple[float, bool]]:
    """The values of the markers from top to bottom, and whether they are filled."""
    lines = [line for line in lines_of(ax) if line.get_marker() in ("o", "s") and line.get_markersize() == MARKER]
    lines.sort(key=lambda line: line.get_ydata()[0])
    return [(float(line.get_xdata()[0]), line.get_markerfacecolor() != "white") for line in lines]


def cells_of(mesh: Any) -> Any:
    """The values of a square mesh, NaN where it has none. Before matplotlib 3.8 they are one list."""
    values = mesh.get_array().filled(np.nan)
    k = math.isqrt(values.size)
    return values.reshape(k, k)


def whiskers(ax: Axes) -> list[tuple[float, float]]:
    """The ends of horizontal lines, from top to bottom."""
    found = [line.get_xydata() for line in lines_of(ax) if line.get_linestyle() == "-" and len(line.get_xydata()) == 2]
    flat = [xy for xy in found if xy[0][1] == xy[1][1]]
    return [(float(xy[0][0]), float(xy[1][0])) for xy in sorted(flat, key=lambda xy: float(xy[0][1]))]


def steps(ax: Axes) -> list[Any]:
    return [patch for patch in ax.patches if isinstance(patch, StepPatch)]


@cache
def of_three_metrics(k: int, all_pairs: bool) -> Comparison:
    metrics = [SegmentScores(f"m{seed}", systems(numbered(k), seed)) for seed in range(3)]
    return with_histograms(compare(metrics=metrics, all_pairs=all_pairs, n_resamples=500))


def panels(comparison: Comparison, kind: str, **options: Any) -> list[Axes]:
    """The panels of all metrics."""
    shown = {metric.name: (comparison, metric.name) for metric in comparison.metrics}
    figure: Any = figure_of(kind, shown, **options)
    return list(figure.axes)


def digests(kinds: Sequence[str]) -> list[str]:
    """A digest of each figure, and of one in the other formats."""
    others = (file_of(compared(numbered(4)).plot.ranking().figure, fmt) for fmt in ("svg", "png"))
    return [hashlib.sha256(content).hexdigest() for content in (*(saved_as_pdf(kind)[1] for kind in kinds), *others)]
