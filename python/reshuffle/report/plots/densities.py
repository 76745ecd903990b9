"""Densities: the bootstrap distribution of each system's score, one above the other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from ...errors import Argument, InputError
from ...lazy import lazy
from ...results import Histogram, SystemScore
from ..nulls import of_values, unit_of_scores
from .intervals import set_limits
from .labels import LABEL, LABEL_LINES, PLAIN, columns, printable, wrapped
from .look import INK, MUTED
from .rows import RowFigure, Rows
from .view import View

Curve: TypeAlias = tuple[NDArray[np.float64], NDArray[np.float64]]

# Inches: above and below the rows, and the height of a row.
FURNITURE, ROW = 0.55, 0.22
# The height of the highest curve, in rows.
OVERLAP = 1.7
# The number of points of a curve, and how far it extends beyond the draws, in standard deviations of the kernel.
POINTS, REACH = 241, 4.0


@dataclass(frozen=True)
class Densities(RowFigure):
    """The smoothed histograms of the draws of all systems that have them."""

    view: View

    @classmethod
    def from_view(cls, view: View) -> Densities:
        """At least one system must have draws."""
        if all(score.draws is None for score in view.scores.values()):
            raise InputError(
                "this result has no histograms of bootstrap draws: compute it with an interval or a test with "
                "bootstrap draws, such as {interval}",
                interval=Argument("interval", ("percentile",)),
            )
        return cls(view)

    @lazy
    def rows(self) -> Rows:
        """A row for each system."""
        names = [self.view.name(system) for system in self.view.rows]
        return Rows.from_names(names, FURNITURE, ROW, shared=self.view.beside > 1)

    @lazy
    def curves(self) -> Mapping[str, Curve]:
        """The density of each system whose draws are not all equal: points and values."""
        draws = {system: score.draws for system, score in self.view.scores.items()}
        unit, comparison = unit_of_scores(self.view.comparison, self.view.metric.name), self.view.comparison
        is_mean = unit is not None and comparison.unit == "segment" and not comparison.averaged_over
        step = unit / comparison.n_segments if unit and is_mean else None
        return {s: smoothed(found, step) for s, found in draws.items() if found is not None and found.width > 0}

    def draw(self, ax: Axes) -> None:
        scores = self.view.scores
        self.rows.draw(ax, above=OVERLAP - 1, lines=False)
        ends = [end for x, _ in self.curves.values() for end in (x[0], x[-1])]
        set_limits(ax, [*ends, *(score.score for score in scores.values())], [])
        highest = max((y.max() for _, y in self.curves.values()), default=1.0)
        bases = self.rows.edges[1:]
        for order, (base, system) in enumerate(zip(bases, self.view.rows, strict=True)):
            score = scores[system]
            base = float(base) - 0.12
            ax.axhline(base, color=MUTED, linewidth=0.3, zorder=order + 2)
            if system in self.curves:
                x, density = self.curves[system]
                self._draw_curve(ax, score, x, density * (OVERLAP - 0.12) / highest, base, order + 2)
            elif score.draws is not None:
                ax.vlines(score.draws.low, base - OVERLAP / 2, base, color=INK, linewidth=1.0, zorder=order + 2)
        # Slightly below the middle, to align each name with its curve.
        ax.set_yticks([centre + 0.05 for centre in self.rows.centres], labels=list(self.rows.labels), **PLAIN)
        ax.set_xlabel(self._label(self.rows.label_width(ax)), **LABEL)

    def _draw_curve(
        self, ax: Axes, score: SystemScore, x: NDArray[np.float64],
        height: NDArray[np.float64], base: float, order: float,
    ) -> None:  # fmt: skip
        top = base - height
        ax.fill_between(x, base, top, color="white", linewidth=0, zorder=order)
        interval = score.confidence_interval
        if interval is not None:
            inside = (x >= interval.low) & (x <= interval.high)
            ax.fill_between(x, base, top, where=inside.tolist(), color="#7fb8da", linewidth=0, zorder=order)
        ax.plot(x, top, color=INK, linewidth=0.7, zorder=order)
        ax.plot(
            [score.score] * 2, [base, float(np.interp(score.score, x, top))], color=INK, linewidth=1.1, zorder=order
        )

    def _label(self, width: int) -> str:
        interval = self.view.interval_name()
        better = f"({'→' if self.view.metric.higher_is_better else '←'} better)"
        what, filled = f"{self.view.scored} on bootstrap draws {better}", f"filled: {interval}"
        if not interval:
            return wrapped(what, width, LABEL_LINES)
        line = printable(f"{what}; {filled}")
        return line if columns(line) <= width else f"{wrapped(f'{what};', width, LABEL_LINES)}\n{filled}"


def smoothed(draws: Histogram, step: float | None = None) -> Curve:
    """The density of a histogram, smoothed by a normal kernel with the bandwidth of Scott's rule: points and values.

    Scott 1992, Multivariate Density Estimation: the bandwidth is n^(−1/5) standard deviations.

    ``step``: the distance of the values that draws can have, of which some bins may have more than others.
    """
    counts = np.asarray(draws.counts, dtype=np.float64)
    edges = np.float64(draws.low) + np.float64(draws.width) * np.arange(len(counts) + 1)
    if step and (found := of_values(edges, counts, step, 0.0)) is not None:
        edges, counts = found[0], found[1] * np.diff(found[0]) / step
    centres = (edges[:-1] + edges[1:]) / 2
    weights = counts / counts.sum()
    mean = weights @ centres
    deviation = np.sqrt(weights @ (centres - mean) ** 2)
    # Narrower kernels would show the bins.
    bandwidth = max(deviation * counts.sum() ** -0.2, 0.6 * np.diff(edges).max())
    filled = centres[counts > 0]
    x = np.linspace(filled[0] - REACH * bandwidth, filled[-1] + REACH * bandwidth, POINTS)
    kernel = np.exp(-0.5 * ((x[:, None] - centres) / bandwidth) ** 2) / (bandwidth * np.sqrt(2 * np.pi))
    return x, kernel @ weights
