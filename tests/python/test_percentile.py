"""The test ``bootstrap-percentile`` and the percentile interval: each is the dual of the other."""

from fractions import Fraction
from math import comb, floor
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budgets import budget
from counts import bleu_counts
from known import known
from reshuffle import (
    Formula,
    SegmentScores,
    SignificanceResult,
    approximate_randomization,
    bootstrap_interval,
    bootstrap_test,
    compare,
    metric,
)
from reshuffle.inference.intervals import INTERVALS, rank_of_ends
from reshuffle.metrics.base import Counts
from reshuffle.results import clopper_pearson

BLEU = metric("bleu")
# Equal in exact arithmetic, as 0.1 + 0.2 and 0.3, but not in floating point.
WEIGHTED = Formula("weighted", lambda totals: totals @ np.array([0.1, 0.2, 0.3]))
ALPHAS = ["0.5", "0.32", "0.2", "0.1", "0.0371", "0.05", "0.02", "0.01"]


def assert_dual(a: Any, b: Any, m: Any, n: int, alpha: str, seed: int, **units: Any) -> None:
    """p ≤ α exactly when 0 is outside the interval, for all alternatives."""
    for alternative, sides in (("two-sided", 1), ("greater", 2), ("less", 2)):
        level = 1 - sides * float(alpha)
        if level <= 0 or rank_of_ends(n, level) < 1:
            continue
        options = {"n_resamples": n, "seed": seed, **units}
        test = bootstrap_test(a, b, m, test="bootstrap-percentile", alternative=alternative, **options)
        interval = bootstrap_interval(a, m, b=b, confidence_level=level, **options)
        above, below = interval.low > 0, interval.high < 0
        outside = {"two-sided": above or below, "greater": above, "less": below}[alternative]
        assert outside == (test.pvalue <= float(alpha)), (alternative, test.pvalue, interval)


DRAWS = st.one_of(st.integers(1, 60), st.sampled_from([99, 100, 199, 399]))


@settings(max_examples=budget(200))
@given(
    st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), min_size=2, max_size=12),
    st.sampled_from([1, 0.1, 0.37]),
    DRAWS,
    st.sampled_from(ALPHAS),
)
def test_interval_and_test_of_a_mean_never_disagree(
    pairs: list[tuple[int, int]], scale: float, n: int, alpha: str
) -> None:
    a, b = np.array(pairs).T * scale
    assert_dual(a, b, None, n, alpha, 7)
    if len(a) > 2:
        assert_dual(a, b, None, n, alpha, 7, documents=[i // 2 for i in range(len(a))])


@settings(max_examples=budget(200))
@given(
    st.lists(st.tuples(*[st.integers(0, 2)] * 6), min_size=2, max_size=8),
    DRAWS,
    st.sampled_from(ALPHAS),
    st.integers(0, 99),
)
def test_interval_and_test_of_a_formula_in_python_never_disagree(
    rows: list[tuple[int, ...]], n: int, alpha: str, seed: int
) -> None:
    counts = np.array(rows)
    assert_dual(counts[:, :3], counts[:, 3:], WEIGHTED, n, alpha, seed)


def test_draws_that_differ_from_0_only_by_rounding_are_ties_in_test_and_interval() -> None:
    # A draw with as many segments of the one kind as of the other has .3n - .1n - .2n, which is 0 but for rounding.
    ones, zeros = np.eye(3, dtype=np.int64), np.zeros((6, 3), dtype=np.int64)
    a, b = zeros.copy(), zeros.copy()
    a[:3], b[3:] = ones[2], ones[0] + ones[1]
    result = bootstrap_test(a, b, WEIGHTED, test="bootstrap-percentile", n_resamples=999, keep_null_distribution=True)
    drawn = known(result.null_distribution) + result.statistic
    noise = (drawn != 0) & (np.abs(drawn) < 1e-12)
    assert noise.sum() > 20, "without a tolerance these draws would not be ties"
    assert min((drawn < 1e-12).sum(), (drawn > -1e-12).sum()) == result.exceedances
    # An end that is such a draw is 0. The estimate is that of a pair with scores up to 1.
    draws = np.concatenate([np.full(100, 1e-17), np.ones(899)])
    stand_in: Any = SimpleNamespace(draws=draws, tolerance=1e-15, value=0.5)
    assert INTERVALS["percentile"].ends(stand_in, 0.95) == (0.0, 1.0)
    assert INTERVALS["koehn"].ends(stand_in, 0.95) == (1e-17, 1.0)


def test_identical_systems_have_p_1_and_the_smallest_p_is_2_in_r_plus_1() -> None:
    a, b = bleu_counts(1, 2, 40, 0.0)
    better = a + np.array([0, 0, 1, 1, 1, 1, 0, 0, 0, 0])

    def found(x: Counts, y: Counts, alternative: str) -> tuple[float, int | None, int]:
        result = bootstrap_test(x, y, BLEU, test="bootstrap-percentile", n_resamples=99, alternative=alternative)
        return result.pvalue, result.exceedances, result.tails

    assert [found(a, a, side)[:2] for side in ("two-sided", "greater", "less")] == [(1, 99)] * 3
    assert found(better, a, "two-sided") == (2 / 100, 0, 2)
    assert found(better, a, "greater") == (1 / 100, 0, 1)
    assert bootstrap_test(b, a, BLEU).tails == approximate_randomization(a, b, BLEU).tails == 1
    # The note that there are too few replicates knows it.
    for n in (38, 39):
        scores = SegmentScores("m", {"x": np.zeros(30), "y": np.ones(30)})
        comparison = compare(metrics=scores, test="bootstrap-percentile", n_resamples=n, interval=None)
        values = [caveat.values["smallest"] for caveat in comparison.caveats if caveat.kind == "few-replicates"]
        assert values == ([2 / 39] if n == 38 else [])


@given(st.integers(1, 10**7), st.integers(1, 9999))
def test_the_rank_of_the_ends_is_exact(n: int, ten_thousandths: int) -> None:
    exact = floor(Fraction(ten_thousandths, 10_000) * (n + 1) / 2)
    level = 1 - ten_thousandths / 10_000
    rank = rank_of_ends(n, level)
    assert exact == rank
    # It is the largest number of draws for which p is at most alpha.
    assert 2 * rank / (n + 1) <= ten_thousandths / 10_000 < 2 * (rank + 1) / (n + 1)


# --- The interval of the p-value


def result_of(c: int, n: int, tails: int = 2) -> SignificanceResult:
    p = min(1, tails * (c + 1) / (n + 1))
    return SignificanceResult("bootstrap-percentile", "m", 0.0, p, "two-sided", c, n, 1, "", tails=tails)


@pytest.mark.parametrize("n", [7, 40])
@pytest.mark.parametrize("ties", [0.0, 0.1, 0.6])
def test_the_interval_of_p_covers_it_with_at_least_its_probability(n: int, ties: float) -> None:
    # The draws below 0, equal to 0 and above 0 are multinomial; all outcomes are enumerated.
    intervals = [result_of(c, n).pvalue_interval for c in range(n + 1)]
    for below in np.linspace(0, 1 - ties, 21):
        above = 1 - ties - below
        p = min(1.0, 2 * min(below + ties, above + ties))
        covered = 0.0
        for x in range(n + 1):
            for y in range(n + 1 - x):
                interval = known(intervals[min(n - x, n - y)])
                if interval.low <= p <= interval.high:
                    covered += comb(n, x) * comb(n - x, y) * below**x * above**y * ties ** (n - x - y)
        assert covered >= 0.95 - 1e-12


@given(st.integers(1, 5000), st.floats(0, 1), st.sampled_from([0.01, 0.05, 0.5]), st.sampled_from([1, 2]))
def test_may_lie_across_a_level_agrees_with_the_interval_of_p(n: int, share: float, level: float, tails: int) -> None:
    c = round(n * share)
    result, one_tail = result_of(c, n, tails), clopper_pearson(c, n)
    low, high = known(result.pvalue_interval).low, known(result.pvalue_interval).high
    assert (min(1, tails * one_tail.low), min(1, tails * one_tail.high)) == (low, high)
    assert (low < level < high) == result.may_lie_across(level)


@settings(max_examples=budget(100))
@given(st.integers(0, 2**32), st.integers(2, 12), DRAWS, st.sampled_from(["two-sided", "greater", "less"]))
def test_bootstrap_both_has_the_larger_p(seed: int, segments: int, n: int, alternative: str) -> None:
    a, b = bleu_counts(seed, 2, segments, 0.0)
    both, *alone = (
        bootstrap_test(a, b, BLEU, test=test, alternative=alternative, n_resamples=n, seed=seed)
        for test in ("bootstrap-both", "bootstrap", "bootstrap-percentile")
    )
    assert (both.pvalue, both.test) == (max(result.pvalue for result in alone), "bootstrap-both")
    assert both.pvalue == min(both.tails * ((both.exceedances or 0) + 1) / (n + 1), 1)
