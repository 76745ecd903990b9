"""Histograms of replicates: of the scores on draws, and of a test's statistic under the null hypothesis.

The bins of a histogram depend only on its values, not on their order (``rust/src/resample/bins.rs``).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..metrics.base import Scores
from ..results import Histogram, NullHistogram

__all__ = [
    "Binned",
    "NullHistograms",
    "histogram_of_probabilities",
    "histograms_of_differences",
    "histograms_of_scores",
    "null_histogram",
    "null_histograms",
]

# Null distributions, with None for a test whose statistics are not finite: an array of objects.
NullHistograms = NDArray[np.object_]

# The bins of the core before it joins some of them, and those of a histogram.
FINE_BINS, SHOWN_BINS = 256, 64


class Binned(NamedTuple):
    """Histograms as the core returns them: the lower end and the width, (n, 2), and the counts, (n, 64)."""

    ends: Scores
    counts: NDArray[np.uint64]


def _histograms(binned: Binned) -> list[tuple[float, float, tuple[int, ...]] | None]:
    """Lower end, width and counts of each histogram; None for those that do not exist."""
    rows = zip(binned.ends.tolist(), binned.counts.tolist(), strict=True)
    return [
        None if math.isnan(low) else (low, width, tuple(counts if width else counts[:1]))
        for (low, width), counts in rows
    ]


def null_histograms(binned: Binned, observed: Scores) -> NullHistograms:
    """The null distributions of tests, (n,), with their observed statistics: (n,)."""
    found = np.empty(len(observed), dtype=np.object_)
    for index, (histogram, statistic) in enumerate(zip(_histograms(binned), observed.tolist(), strict=True)):
        if histogram is not None and math.isfinite(statistic):
            found[index] = NullHistogram(*histogram, statistic)
    return found


def null_histogram(statistics: Scores, observed: float) -> NullHistogram | None:
    """The histogram of all statistics of one test, (R,)."""
    values, of_test = np.ascontiguousarray(statistics)[None], np.array([observed])
    found = null_histograms(Binned(*_core.histograms(values, [0], None, np.zeros(1), of_test)), of_test)
    histogram: NullHistogram | None = found[0]
    return histogram


def histograms_of_scores(scores: Scores, systems: Sequence[int], threads: int) -> list[Histogram | None]:
    """The histograms of the scores of systems, from (k, R) scores."""
    centres, observed = np.zeros(len(systems)), np.full(len(systems), np.nan)
    scores = np.ascontiguousarray(scores)
    binned = Binned(*_core.histograms(scores, systems, None, centres, observed, threads=threads))
    return [None if histogram is None else Histogram(*histogram) for histogram in _histograms(binned)]


def histograms_of_differences(
    scores: Scores, pairs: Sequence[tuple[int, int]], centres: Scores, observed: Scores, threads: int
) -> NullHistograms:
    """The histograms of score(x) − score(y) − centre, (n,), from (k, R) scores."""
    systems, minus = (list(side) for side in zip(*pairs, strict=True))
    binned = _core.histograms(np.ascontiguousarray(scores), systems, minus, centres, observed, threads=threads)
    return null_histograms(Binned(*binned), observed)


def histogram_of_probabilities(values: Scores, probabilities: Scores, observed: float) -> NullHistogram | None:
    """The histogram of values with these probabilities. It has the bins that equal numbers of values would have.

    Values in the tails, of which each has a probability below 10⁻⁹, are left out: they would take most of the bins.
    """
    order = np.argsort(values, kind="stable")
    values, probabilities = values[order], probabilities[order]
    below, above = np.cumsum(probabilities), np.cumsum(probabilities[::-1])[::-1]
    kept = np.isfinite(values) & (below > TAIL) & (above > TAIL)
    values, probabilities = values[kept], probabilities[kept]
    if not values.size or not math.isfinite(observed):
        return None
    lowest, highest = min(float(values[0]), observed), max(float(values[-1]), observed)
    if lowest == highest:
        return NullHistogram(lowest, 0.0, (float(probabilities.sum()),), observed)
    exponent, first, joined = _bins(lowest, highest)
    bins = ((np.floor(np.ldexp(values, -exponent)) - first) // joined).astype(np.intp)
    counts = np.bincount(bins, probabilities, SHOWN_BINS)
    return NullHistogram(math.ldexp(first, exponent), math.ldexp(joined, exponent), tuple(counts.tolist()), observed)


# The probability of each tail that histogram_of_probabilities leaves out.
TAIL = 1e-9


def _bins(lowest: float, highest: float) -> tuple[int, int, int]:
    """The exponent of the fine bins, the number of the first one, and how many are joined to one that is shown."""
    size = max(abs(lowest), abs(highest))
    exponent = max(math.frexp(highest - lowest)[1] - 1 - 8, math.frexp(size)[1] - 1 - 51, -1000)
    while True:
        first, last = (math.floor(math.ldexp(value, -exponent)) for value in (lowest, highest))
        used = last - first + 1
        if used <= FINE_BINS:
            joined = -(-used // SHOWN_BINS)
            return exponent, first - (joined * SHOWN_BINS - used) // 2, joined
        exponent += 1
