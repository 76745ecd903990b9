"""The histograms of replicates that a result keeps."""

from __future__ import annotations

import numpy as np

from ..resampling import Replicates
from ..resampling.histograms import NullHistograms, histograms_of_differences, histograms_of_scores
from ..results import Histogram
from .hypotheses import Observed

__all__ = ["distributions_of_scores", "null_distributions_of_draws"]


def null_distributions_of_draws(observed: Observed) -> NullHistograms:
    """The null distributions of a bootstrap test, (H,): the draws of each difference, centred on 0."""
    hypotheses, replicates = observed.hypotheses, observed.replicates
    found = []
    for m, scores in enumerate(replicates.draws):
        of_metric = hypotheses.metric == m
        pairs = list(zip(hypotheses.a[of_metric].tolist(), hypotheses.b[of_metric].tolist(), strict=True))
        statistics = np.ascontiguousarray(observed.statistic[of_metric])
        found.append(histograms_of_differences(scores, pairs, statistics, statistics, replicates.threads))
    return np.concatenate(found)


def distributions_of_scores(replicates: Replicates, n_systems: int) -> dict[tuple[int, int], Histogram | None]:
    """The bootstrap distribution of each score, by indices of metric and system; empty if there are no draws."""
    if not replicates.has_draws:
        return {}
    return {
        (m, s): histogram
        for m, scores in enumerate(replicates.draws)
        for s, histogram in enumerate(histograms_of_scores(scores, range(n_systems), replicates.threads))
    }
