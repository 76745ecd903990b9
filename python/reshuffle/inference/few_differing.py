"""The default test of pairs that differ in few resampling units: approximate randomization instead of the bootstrap.

A unit in which two systems are equal adds nothing to any shuffle or draw of their difference. So a bootstrap test of
2,000 segments of which five differ is as unreliable as one of five segments, where the smallest exact p is 1/16.

The choice is made for each pair under each metric, not for a family: one pair of near copies among many systems must
not change the test of the others, because approximate randomization needs exchangeable outputs. No swap changes the
number of units that differ, so under exchangeability the test remains exact among the samples for which it is chosen.

Near the kink of a brevity penalty, outputs of different length are so far from exchangeable that the test would reject
equal scores several times too often. There, p is the larger one of this test and ``bootstrap-kink``: it is valid
wherever one of them is, and under exchangeability whatever the data say about the kink, because it is never smaller
than the p of swaps.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..metrics.base import Scores
from ..resampling.schemes import Shuffling, shuffle
from .hypotheses import Observed, Outcome
from .kink import FOR_POPULATIONS, brevity_of, is_near_kink, least_favourable_of
from .randomization import outcome_of_shuffles

# Pairs that differ in fewer units are not tested by the bootstrap unless it is asked for:
# docs/evidence/skewed.md has the table of sizes.
FEW_DIFFERING = 30
# The test of such pairs, and those that may decide: near a kink, the one with the larger p.
FOR_FEW = "ar"
TESTS_OF_FEW = (FOR_FEW, FOR_POPULATIONS)

Index = NDArray[np.intp]


def few_differing(observed: Observed) -> Index:
    """The indices of the hypotheses about pairs that differ in some units, but in fewer than ``FEW_DIFFERING``."""
    pairs = observed.hypotheses.pairs
    numbers = [
        n for sample in observed.replicates.samples for n, _ in sample.differing(sample.rows_of(pairs), FEW_DIFFERING)
    ]
    return np.flatnonzero([0 < n < FEW_DIFFERING for n in numbers])


def near_kink(observed: Observed, few: Index) -> Index:
    """Those of the hypotheses ``few`` whose systems are near the kink of a brevity penalty."""
    found = []
    for h in few.tolist():
        m, a, b = observed.hypotheses.indices(h)
        (brevity,) = brevity_of(observed.replicates.samples[m], [(a, b)])
        if is_near_kink(brevity):
            found.append(h)
    return np.array(found, dtype=np.intp)


def at_kink(observed: Observed, outcome: Outcome, near: Index) -> Outcome:
    """The outcome with the larger one of its p-values and those of ``bootstrap-kink`` for the hypotheses ``near``."""
    found = least_favourable_of(observed, near.tolist())
    decides = np.flatnonzero(found.pvalue > outcome.pvalue[near])
    null = None
    if decides.size and outcome.null is not None:
        null = observed.null_distributions_of_draws()[near[decides]]
    return _tested_by(FOR_POPULATIONS, observed, outcome, near[decides], replace(found.take(decides), null=null))


def retested(observed: Observed, outcome: Outcome, few: Index) -> Outcome:
    """The outcome with the hypotheses ``few`` tested by ``ar``: exactly where that costs no more than R shuffles."""
    found = Outcome.concatenate([_tested_alone(observed, h) for h in few.tolist()])
    return _tested_by(FOR_FEW, observed, outcome, few, found)


def _tested_by(test: str, observed: Observed, outcome: Outcome, at: Index, found: Outcome) -> Outcome:
    """The outcome with what another test found, which has one tail, for the hypotheses ``at``."""
    if outcome.tails is None:
        outcome = replace(outcome, tails=observed.tails)
    return outcome.with_rows(at, replace(found, test=test, tails=1))


def _tested_alone(observed: Observed, h: int) -> Outcome:
    """The outcome of ``ar`` for one hypothesis, on the shuffles that ``ar`` would use for all."""
    hypotheses = observed.hypotheses
    m = int(hypotheses.metric[h])
    replicates = observed.replicates
    # The progress of a comparison does not plan for these shuffles, which take little time.
    own = replicates.with_samples([replicates.samples[m]]).with_threads(replicates.threads or None, None)
    shuffled, _ = shuffle(
        own,
        [hypotheses.pairs[h % len(hypotheses.pairs)]],
        observed.thresholds[h].reshape(1, 1),
        [observed.alternatives[m]],
        Shuffling("auto"),
        histograms=observed.histograms,
    )
    return outcome_of_shuffles(observed.statistic[h : h + 1], shuffled)


def adjusted_for_few(observed: Observed, pvalues: Scores, adjusted: Scores, few: Index) -> Scores:
    """Adjusted p-values from replicates, of which those of ``few`` are at least m·p, for m tests and their own p.

    A false star of such a pair needs p ≤ α/m, and its replicates can only raise the adjusted p of other pairs. So for q
    of them in a family, the family-wise error rate is at most that of the other pairs plus αq/m, however unreliable the
    replicates are, and at most α where they are reliable.
    """
    found = adjusted.copy()
    sizes = np.bincount(observed.hypotheses.family)[observed.hypotheses.family]
    found[few] = np.maximum(found[few], np.minimum(sizes[few] * pvalues[few], 1))
    return found
