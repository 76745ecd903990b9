"""Histograms of replicates: of the scores on draws, and of a test's statistic under the null hypothesis.

The bins of a histogram depend only on its values, not on their order (``rust/src/resample/bins.rs``). There are arrays
of histograms because there are many tests. None stands for the histogram of a test without finite statistics.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..metrics.base import Scores
from ..results import Histogram, NullHistogram

HistogramArray = NDArray[np.object_]

# The bins of the core before it joins some of them, and those of a histogram.
FINE_BINS, SHOWN_BINS = 256, 64


def histograms_from_core(ends: Scores, counts: NDArray[np.uint64]) -> HistogramArray:
    """The histograms, (n,), from arrays of the core: the lower end and the width, (n, 2), and the counts, (n, 64)."""
    found = np.empty(len(ends), dtype=np.object_)
    for index, ((low, width), of_bins) in enumerate(zip(ends.tolist(), counts.tolist(), strict=True)):
        if not math.isnan(low):
            found[index] = Histogram(low, width, tuple(of_bins if width else of_bins[:1]))
    return found


def null_histograms(histograms: HistogramArray, observed: Scores) -> HistogramArray:
    """The histograms of tests, of any shape, with their (H,) observed statistics; None where these are not finite."""
    found = np.empty(len(observed), dtype=np.object_)
    for index, (histogram, statistic) in enumerate(zip(histograms.ravel(), observed.tolist(), strict=True)):
        if histogram is not None and math.isfinite(statistic):
            found[index] = NullHistogram(histogram.low, histogram.width, histogram.counts, statistic)
    return found


def histogram(values: Scores) -> Histogram | None:
    """The histogram of values: (R,)."""
    found: Histogram | None = histograms_of_scores(values[None], [0])[0]
    return found


def histograms_of_scores(scores: Scores, systems: Sequence[int], threads: int = 0) -> HistogramArray:
    """The histograms of the scores of n systems, (n,), from (k, R) scores."""
    centres = np.zeros(len(systems))
    return histograms_from_core(
        *_core.histograms(np.ascontiguousarray(scores), systems, None, centres, threads=threads)
    )


def histograms_of_differences(
    scores: Scores, pairs: Sequence[tuple[int, int]], centres: Scores, threads: int
) -> HistogramArray:
    """The histograms of score(x) − score(y) − centre, (n,), from (k, R) scores."""
    systems, minus = (list(side) for side in zip(*pairs, strict=True))
    return histograms_from_core(
        *_core.histograms(np.ascontiguousarray(scores), systems, minus, centres, threads=threads)
    )


def histogram_of_probabilities(values: Scores, probabilities: Scores) -> Histogram | None:
    """The histogram of values with these probabilities. It has the bins that equally many unweighted values would have.

    The extreme 10⁻⁹ of either tail is left out, because it would take most of the bins.
    """
    order = np.argsort(values, kind="stable")
    values, probabilities = values[order], probabilities[order]
    below, above = np.cumsum(probabilities), np.cumsum(probabilities[::-1])[::-1]
    kept = np.isfinite(values) & (below > TAIL) & (above > TAIL)
    values, probabilities = values[kept], probabilities[kept]
    if not values.size:
        return None
    lowest, highest = float(values[0]), float(values[-1])
    if lowest == highest:
        return Histogram(lowest, 0.0, (float(probabilities.sum()),))
    exponent, first, joined = _bins(lowest, highest)
    bins = ((np.floor(np.ldexp(values, -exponent)) - first) // joined).astype(np.intp)
    counts = np.bincount(bins, probabilities, SHOWN_BINS)
    return Histogram(math.ldexp(first, exponent), math.ldexp(joined, exponent), tuple(counts.tolist()))


# The probability of each tail that histogram_of_probabilities leaves out.
TAIL = 1e-9


def _bins(lowest: float, highest: float) -> tuple[int, int, int]:
    """The exponent of the fine bins, the index of the first one, and how many fine bins make one of the histogram."""
    size = max(abs(lowest), abs(highest))
    exponent = max(math.frexp(highest - lowest)[1] - 1 - 8, math.frexp(size)[1] - 1 - 51, -1000)
    while True:
        first, last = (math.floor(math.ldexp(value, -exponent)) for value in (lowest, highest))
        used = last - first + 1
        if used <= FINE_BINS:
            joined = -(-used // SHOWN_BINS)
            return exponent, first - (joined * SHOWN_BINS - used) // 2, joined
        exponent += 1
