"""Approximate randomization: swap the outputs of the two systems in random segments.

The permutation test is of more than two systems, with the randomized version of Tukey's adjustment: in each segment the
outputs of all k systems are permuted. Under the null hypothesis that all of them are exchangeable, it is exact for any
metric.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..metrics.base import Scores
from ..resampling import PermutedCounts, PermutedHistograms, PermutedTally, Reduction
from ..resampling.exact import MISSING
from ..resampling.histograms import null_histograms
from ..resampling.schemes import Shuffled, shuffle
from .hypotheses import Observed, Outcome
from .pvalues import pvalue
from .step_down import Adjusted, StepDown


def permutation_test(observed: Observed) -> Outcome:
    """Count the permutations of all systems in which the difference of a pair is at least the observed one.

    ``extra`` has the numbers of permutations in which the range of all scores is: (metrics, pairs).
    """
    hypotheses, n = observed.hypotheses, observed.replicates.n_resamples
    tally = PermutedTally(hypotheses.pairs, hypotheses.table(observed.thresholds))
    reductions: list[Reduction] = [tally]
    if observed.histograms:
        reductions.append(PermutedHistograms(compared=hypotheses.pairs))
    counts: PermutedCounts
    counts, *nulls = observed.replicates.run(reductions, hypotheses.pairs)
    exceedances = counts.pairs.ravel()
    null = null_histograms(nulls[0], observed.statistic) if nulls else None
    return Outcome(observed.statistic, pvalue(exceedances, n), exceedances, n, null=null, extra=[counts.ranges])


def _tukey(observed: Observed, outcome: Outcome) -> Adjusted:
    """(1 + #{range of the k scores ≥ |t|})/(R + 1): randomized Tukey HSD, Carterette 2012.

    No pair differs by more than the range, so no adjusted p is below the unadjusted one.
    """
    (ranges,) = outcome.extra
    return Adjusted(pvalue(ranges.ravel(), observed.replicates.n_resamples))


TUKEY = StepDown(_tukey, per_metric=True)


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
        pvalues,
        shuffled.exceedances,
        shuffled.n_resamples,
        scheme=shuffled.scheme,
        bits=shuffled.bits,
        stopped=shuffled.stopped,
        null=None if shuffled.null is None else null_histograms(shuffled.null, statistic if tested is None else tested),
        extra=extra,
    )
