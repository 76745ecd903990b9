"""Empirical size at the margin, and power where there is no difference, of equivalence and non-inferiority."""

import math
from functools import cache

import numpy as np
import pytest

from margins import WITH_MARGIN
from reshuffle import SegmentScores
from reshuffle.inference.hypotheses import Hypotheses
from reshuffle.inference.plan import Plan
from reshuffle.inference.running import run_on_test_set
from reshuffle.inference.tests import TESTS
from reshuffle.resampling import CountSample, Replicates
from reshuffle.seeds import derive_seed
from reshuffle.settings import ComparisonSettings, Resampling

pytestmark = pytest.mark.slow

SIMULATIONS, SEGMENTS, REPLICATES, ALPHA = 400, 100, 199, 0.05
# Four standard errors of a simulated rate of α.
ERROR = 4 * math.sqrt(ALPHA * (1 - ALPHA) / SIMULATIONS)
MARGIN = 4 / math.sqrt(SEGMENTS)  # in standard errors of the difference: 4


@cache
def rates(difference: float, skewed: bool = False) -> dict[str, float]:
    """The share of simulated test sets with p ≤ α, where the differences of segments have this mean and variance 1."""
    rejected = dict.fromkeys(WITH_MARGIN, 0)
    for i in range(SIMULATIONS):
        rng = np.random.default_rng([17, skewed, i])
        b = rng.normal(size=SEGMENTS)
        d = rng.exponential(size=SEGMENTS) - 1 if skewed else rng.normal(size=SEGMENTS)
        scores = SegmentScores("x", {"a": np.round(b + d + difference, 4), "b": np.round(b, 4)})
        sample = CountSample.from_counts(scores, scores.counts_of(["a", "b"]))
        replicates = Replicates([sample], Resampling(REPLICATES, derive_seed(5, "simulation", i), 1))
        for test in WITH_MARGIN:
            plan = Plan.from_settings(ComparisonSettings(test=test, margins={"x": MARGIN}), scores)
            rejected[test] += run_on_test_set(plan, replicates, Hypotheses.from_pairs([(0, 1)])).pvalue[0] <= ALPHA
    return {test: n / SIMULATIONS for test, n in rejected.items()}


@pytest.mark.parametrize("test", WITH_MARGIN)
def test_the_size_at_the_margin_is_nominal_for_normal_scores_and_the_power_that_of_theory(test: str) -> None:
    assert rates(-MARGIN)[test] == pytest.approx(ALPHA, abs=ERROR)
    if TESTS[test].margin == "equivalence":
        assert rates(MARGIN)[test] == pytest.approx(ALPHA, abs=ERROR)
    # P(|Z| < 4 − 1.645) and P(Z < 4 − 1.645), with slightly less for an estimated variance.
    assert rates(0.0)[test] == pytest.approx(0.9815 if test.startswith("equivalence") else 0.9907, abs=0.025)


def test_studentized_draws_hold_their_level_for_skewed_scores_and_centred_ones_do_not() -> None:
    at_margin = rates(MARGIN, skewed=True)
    assert at_margin["equivalence-studentized"] == pytest.approx(ALPHA, abs=ERROR)
    assert at_margin["equivalence"] > 0.065
    assert at_margin["equivalence-ar"] > 0.055
