"""The permutation test of more than two systems, and the randomized version of Tukey's adjustment.

In each segment the outputs of all k systems are permuted. Under the null hypothesis that all of them are exchangeable,
the test is exact for any metric.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..resampling import PermutedCounts, PermutedHistograms, PermutedTally, Reduction
from .distributions import null_histograms
from .hypotheses import Observed, Outcome
from .pvalues import pvalue
from .step_down import Adjusted, StepDown, Unadjusted


def permutation_test(observed: Observed) -> Outcome:
    """Count the permutations of all systems in which the difference of a pair is at least the observed one.

    ``extra`` has the numbers of permutations in which the range of all scores is: (metrics, pairs).
    """
    hypotheses, n = observed.hypotheses, observed.replicates.n_resamples
    tally = PermutedTally(hypotheses.pairs, hypotheses.table(observed.thresholds))
    reductions: list[Reduction[Any, Any]] = [tally]
    if observed.histograms:
        reductions.append(PermutedHistograms(compared=hypotheses.pairs))
    counts: PermutedCounts
    counts, *nulls = observed.replicates.run(reductions, hypotheses.pairs)
    exceedances = counts.pairs.ravel()
    replicates = np.full(len(hypotheses), n)
    null = null_histograms(nulls[0], observed.statistic) if nulls else None
    return Outcome(
        observed.statistic, pvalue(exceedances, n), exceedances, replicates, null=null, extra=[counts.ranges]
    )


def _tukey(tests: Unadjusted) -> Adjusted:
    """(1 + #{range of the k scores ≥ |t|})/(R + 1): randomized Tukey HSD, Carterette 2012.

    No pair differs by more than the range, so no adjusted p is below the unadjusted one.
    """
    (ranges,) = tests.outcome.extra
    return Adjusted(pvalue(ranges.ravel(), tests.observed.replicates.n_resamples))


TUKEY = StepDown(_tukey, per_metric=True)
