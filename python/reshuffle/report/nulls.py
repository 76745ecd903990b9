"""Null distributions as figures draw them: those of pages, too, which do not need matplotlib."""

from __future__ import annotations

import math
import re
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..results import Comparison, PairedDifference

# Metrics of the core that are means of 0 and 1.
OF_SEGMENTS = ("accuracy", "exact")
# With more values than this in a bin, it hardly matters that another bin has one more.
MOST_VALUES = 30


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
    if null.width > 0 and values is not None and (found := of_values(edges, heights, *values)) is not None:
        return Bars(*found, values[0] / 2)
    return Bars(edges, heights, 0.0)


def _values(comparison: Comparison, pair: PairedDifference) -> tuple[float, float] | None:
    """The distance of the values that the statistic can have, and one of them, where segments have few scores."""
    assert pair.null is not None
    (signature,) = (each.signature for each in comparison.metrics if each.name == pair.metric)
    unit = re.search(r"\|resolution:(\d+)(?:\^(-?\d+))?", signature)
    if unit is None and signature.partition("|")[0] not in OF_SEGMENTS:
        return None
    regular = pair.n_segments == comparison.n_segments and not comparison.averaged_over
    if not regular or comparison.unit != "segment" or not math.isclose(pair.null.observed, pair.difference):
        return None
    step = (1 if unit is None else int(unit[1]) ** int(unit[2] or 1)) / pair.n_segments
    # An exchange changes a sum of differences by an even number of steps.
    return (2 * step, pair.null.observed) if pair.test.scheme is not None else (step, 0.0)


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
