"""Null distributions as figures draw them: those of pages, too, which do not need matplotlib."""

from __future__ import annotations

import math
import re
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..results import Comparison, PairedDifference
from .cells import random_replicates

# Metrics of the core that are means of 0 and 1.
OF_SEGMENTS = ("accuracy", "exact")
# With more values than this in a bin, it hardly matters that another bin has one more.
MOST_VALUES = 30
# Steps may be up to this many times as large as those that follow from scores of segments.
MOST_STEPS = 6


class Bars(NamedTuple):
    """A histogram: the edges of the bars, their heights, and half the distance of values if there are few."""

    edges: NDArray[np.float64]
    heights: NDArray[np.float64]
    half: float


def bars_of(comparison: Comparison, pair: PairedDifference) -> Bars:
    """The null distribution of a pair that has one of more than one value."""
    null, values = pair.null, _values(comparison, pair)
    assert null is not None
    heights = np.asarray(null.counts, dtype=np.float64)
    edges = np.float64(null.low) + np.float64(null.width) * np.arange(len(null.counts) + 1)
    half = 0.0
    if null.width > 0 and values is not None:
        # Differences of documents are several steps, perhaps with a common divisor, and their means are of different
        # numbers of segments.
        is_sure = comparison.unit == "segment"
        multiples = [values[0] * n for n in range(1, 2 if is_sure else MOST_STEPS + 1)]
        found = {step / 2: of_values(edges, heights, step, values[1]) for step in multiples}
        known = {half: each for half, each in found.items() if each is not None}
        if not (is_sure and known):
            known[0.0] = edges, heights
        half = min(known, key=lambda half: _roughness(known[half][1]))
        edges, heights = known[half]
    if null.width > 0 and random_replicates(pair.test) is not None:
        edges, heights = of_few(edges, heights, sum(null.counts))
    return Bars(edges, heights, half)


def _roughness(heights: NDArray[np.float64]) -> float:
    """How far the heights go up and down, relative to the highest: 2 with a single peak."""
    return float(np.abs(np.diff(heights, prepend=0.0, append=0.0)).sum() / heights.max())


def of_few(
    edges: NDArray[np.float64], heights: NDArray[np.float64], n: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The histogram with bars that are wide enough for so few replicates, by the rule of Freedman & Diaconis 1981.

    >>> edges, heights = of_few(np.arange(7.0), np.array([1.0, 3, 2, 4, 3, 1]), 6)
    >>> edges.tolist(), heights.tolist()
    ([0.0, 2.0, 4.0, 6.0], [2.0, 3.0, 2.0])
    """
    areas = heights * np.diff(edges)
    low, high = np.interp([0.25, 0.75], np.append(0.0, areas.cumsum()) / areas.sum(), edges)
    together = int(2 * (high - low) * n ** (-1 / 3) / np.median(np.diff(edges)))
    if together < 2:
        return edges, heights
    first = np.arange(0, len(heights), together)
    edges = np.append(edges[first], edges[-1])
    return edges, np.add.reduceat(areas, first) / np.diff(edges)


def _values(comparison: Comparison, pair: PairedDifference) -> tuple[float, float] | None:
    """The distance of the values that the statistic can have, and one of them, where segments have few scores."""
    assert pair.null is not None
    unit = unit_of_scores(comparison, pair.metric)
    regular = pair.n_segments == comparison.n_segments and not comparison.averaged_over
    if unit is None or not regular or not math.isclose(pair.null.observed, pair.difference):
        return None
    step = unit / pair.n_segments
    # An exchange changes a sum of differences by an even number of steps.
    return (2 * step, pair.null.observed) if pair.test.scheme is not None else (step, 0.0)


def unit_of_scores(comparison: Comparison, metric: str) -> float | None:
    """What the scores of segments are multiples of, if a metric is their mean and they have few digits."""
    (signature,) = (each.signature for each in comparison.metrics if each.name == metric)
    unit = re.search(r"\|resolution:(\d+)(?:\^(-?\d+))?", signature)
    if unit is None:
        return 1.0 if signature.partition("|")[0] in OF_SEGMENTS else None
    return float(int(unit[1]) ** int(unit[2] or 1))


def of_values(
    edges: NDArray[np.float64], counts: NDArray[np.float64], step: float, one: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """The histogram of values that are all so many steps from one of them, with the mean count of the values of a bin.

    Bins that have one value more than their neighbours would stand out, as the teeth of a comb. None if there are too
    many values for that, or others.

    >>> edges, counts = of_values(np.arange(5) * 0.15, np.array([2, 1, 2, 1]), 0.1, 0.0)
    >>> edges.round(2).tolist(), counts.tolist()
    ([-0.05, 0.15, 0.45, 0.55], [1.0, 1.0, 1.0])
    """
    at = (edges - one) / step
    if at[1] - at[0] > MOST_VALUES:
        return None
    # A value at the edge of two bins may be in either, because of rounding errors, unless steps are parts of bins.
    shared = np.abs(at - at.round()) < 1e-6
    kept = ~shared if not shared.all() else np.ones_like(shared)
    kept[[0, -1]] = True
    first = np.ceil(at[kept] - 1e-6)
    counts, numbers = np.add.reduceat(counts, np.flatnonzero(kept)[:-1]), np.diff(first)
    if (counts[numbers == 0] > 0).any():
        return None
    has = numbers > 0
    return one + (np.append(first[:-1][has], first[-1]) - 0.5) * step, counts[has] / numbers[has]
