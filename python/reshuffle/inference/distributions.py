"""The histograms of replicates that a result keeps."""

from __future__ import annotations

import math

import numpy as np

from ..metrics.base import Scores
from ..resampling import Replicates
from ..resampling.histograms import HistogramArray, histograms_of_differences, histograms_of_scores
from ..results import Histogram, NullHistogram
from .hypotheses import Observed


def null_histograms(histograms: HistogramArray, observed: Scores) -> HistogramArray:
    """The histograms of tests, of any shape, with their (H,) observed statistics; None where these are not finite."""
    found = np.empty(len(observed), dtype=np.object_)
    for index, (histogram, statistic) in enumerate(zip(histograms.ravel(), observed.tolist(), strict=True)):
        if histogram is not None and math.isfinite(statistic):
            found[index] = NullHistogram(histogram.low, histogram.width, histogram.counts, statistic)
    return found


def null_distributions_of_draws(observed: Observed) -> HistogramArray:
    """The null distributions of a bootstrap test, (H,): the draws of each difference, centred on 0."""
    hypotheses, replicates = observed.hypotheses, observed.replicates
    found = []
    for m, scores in enumerate(replicates.draws):
        of_metric = hypotheses.metric == m
        pairs = list(zip(hypotheses.a[of_metric].tolist(), hypotheses.b[of_metric].tolist(), strict=True))
        found.append(histograms_of_differences(scores, pairs, observed.statistic[of_metric], replicates.threads))
    return null_histograms(np.concatenate(found), observed.statistic)


def distributions_of_scores(replicates: Replicates, n_systems: int) -> dict[tuple[int, int], Histogram | None]:
    """The bootstrap distribution of each score, by indices of metric and system; empty if there are no draws."""
    if not replicates.has_draws:
        return {}
    return {
        (m, s): histogram
        for m, scores in enumerate(replicates.draws)
        for s, histogram in enumerate(histograms_of_scores(scores, range(n_systems), replicates.threads))
    }
