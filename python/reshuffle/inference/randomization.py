"""Approximate randomization: swap the outputs of the two systems in random segments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..metrics.base import Scores
from ..resampling.exact import MISSING
from ..resampling.schemes import Shuffled, shuffle
from .distributions import null_histograms
from .hypotheses import Observed, Outcome
from .pvalues import pvalue


def approximate_randomization(observed: Observed) -> Outcome:
    """Count the shuffles at least as extreme as the observed difference: Riezler & Maxwell 2005, Fig. 1."""
    hypotheses = observed.hypotheses
    shuffled, extra = shuffle(
        observed.replicates,
        hypotheses.pairs,
        hypotheses.table(observed.thresholds),
        observed.alternatives,
        observed.shuffling,
        observed.extra,
        histograms=observed.histograms,
    )
    return outcome_of_shuffles(observed.statistic, shuffled, extra)


def outcome_of_shuffles(
    statistic: Scores, shuffled: Shuffled, extra: Sequence[Any] = (), tested: Scores | None = None
) -> Outcome:
    """The outcome of the test from the (H,) observed differences and the counts of shuffles.

    ``tested`` are the (H,) observed statistics, by default the differences.
    """
    pvalues = pvalue(shuffled.exceedances, shuffled.n_resamples, shuffled.includes_observed)
    if shuffled.probability is not None:
        pvalues = np.where(shuffled.n_resamples == MISSING, shuffled.probability, pvalues)
    return Outcome(
        statistic,
        pvalues.ravel(),
        shuffled.exceedances.ravel(),
        shuffled.n_resamples.ravel(),
        scheme=shuffled.scheme.ravel(),
        bits=None if shuffled.bits is None else shuffled.bits.ravel(),
        stopped=None if shuffled.stopped is None else shuffled.stopped.ravel(),
        null=None if shuffled.null is None else null_histograms(shuffled.null, statistic if tested is None else tested),
        extra=extra,
    )
