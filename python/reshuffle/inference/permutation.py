"""The permutation test of more than two systems, and the randomized version of Tukey's adjustment.

In each segment the outputs of all k systems are permuted. Under the null hypothesis that all of them are exchangeable,
the test is exact for any metric.
"""

from __future__ import annotations

import numpy as np

from ..resampling import PermutedCounts, PermutedTally
from .hypotheses import Observed, Outcome
from .pvalues import pvalue
from .step_down import Adjusted, StepDown, Unadjusted

__all__ = ["TUKEY", "permutation_test"]


def permutation_test(observed: Observed) -> Outcome:
    """Count the permutations of all systems in which the difference of a pair is at least the observed one.

    ``extra`` has the numbers of permutations in which the range of all scores is: (metrics, pairs).
    """
    hypotheses, n = observed.hypotheses, observed.replicates.n_resamples
    tally = PermutedTally(hypotheses.pairs, hypotheses.table(observed.thresholds))
    counts: PermutedCounts
    (counts,) = observed.replicates.run([tally], hypotheses.pairs)
    exceedances = counts.pairs.ravel()
    replicates = np.full(len(hypotheses), n)
    return Outcome(observed.statistic, pvalue(exceedances, n), exceedances, replicates, extra=[counts.ranges])


def _tukey(tests: Unadjusted) -> Adjusted:
    """(1 + #{range of the k scores ≥ |t|})/(R + 1): randomized Tukey HSD, Carterette 2012.

    No pair differs by more than the range, so no adjusted p is below the unadjusted one.
    """
    (ranges,) = tests.outcome.extra
    return Adjusted(pvalue(ranges.ravel(), tests.observed.replicates.n_resamples))


TUKEY = StepDown(_tukey, per_metric=True)
