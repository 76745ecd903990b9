"""Intervals and standard errors of one pair and of all: closed forms, slow twins, and SciPy on the same draws."""

import math
from fractions import Fraction
from itertools import combinations
from math import comb, floor
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy.stats
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from budgets import budget
from counts import as_counts, bleu_counts
from known import known
from reshuffle import (
    Formula,
    FromCounts,
    InputError,
    SegmentScores,
    SignificanceResult,
    _core,
    bootstrap_interval,
    bootstrap_test,
    compare,
    metric,
    standard_error,
)
from reshuffle.data.demo import demo_corpus
from reshuffle.inference.estimates import Estimate
from reshuffle.inference.intervals import INTERVALS, SAMPLE, rank_of_ends, symmetric_ends
from reshuffle.metrics.base import Counts, Metric, Scores
from reshuffle.resampling import CountSample, Replicates
from reshuffle.resampling.linear import gradient
from reshuffle.resampling.units import (
    CLOSE,
    Documents,
    Squares,
    Strata,
    document_effect,
    document_effects,
    paired_influence,
)
from reshuffle.results import clopper_pearson
from reshuffle.settings import Resampling

MEAN = Formula("mean", lambda totals: totals[..., 0] / totals[..., 1])
RATIO = Formula("ratio", lambda totals: 100 * totals[..., 0] / totals[..., 1])
BLEU = metric("bleu")

NUMBERS = st.lists(st.integers(-50, 50), min_size=2, max_size=40)


@pytest.fixture(scope="module")
def demo_counts() -> Counts:
    """The counts of two systems of the demo, 400 segments."""
    corpus = demo_corpus()
    return BLEU.suff_stats(corpus.references, [corpus.systems[name] for name in ("tuned", "baseline")])


@pytest.fixture(scope="module")
def ratio_counts() -> Counts:
    """Errors and lengths of two systems, 60 segments."""
    rng = np.random.default_rng(11)
    lengths = rng.integers(5, 40, 60)
    return np.stack([np.stack([rng.binomial(lengths, share), lengths], axis=-1) for share in (0.3, 0.4)])


def estimate_of(m: Metric, counts: Counts, n: int = 500, seed: int = 7, *, of_pair: bool = False) -> Estimate:
    replicates = Replicates([CountSample.from_counts(m, counts)], Resampling(n, seed))
    return Estimate(replicates, 0, 0, 1 if of_pair else None)


def test_finite_differences_do_not_step_to_a_count_of_0() -> None:
    # log 0 and 1/0 would be refused as not finite.
    logarithm = Formula("log", lambda totals: np.log(totals[..., 0]) / totals[..., 1])
    counts = np.array([[[1, 0], [0, 1]]])
    np.testing.assert_allclose(gradient(logarithm, counts, np.array([1, 1])), [math.log(2), 0])
    product = Formula("product", lambda totals: totals[..., 0] * totals[..., 1])
    assert gradient(product, counts, np.array([0, 1])).tolist() == [0, 0], "no row that is not 0 there"
    # The steps of a count that may be negative lie on both sides of 0.
    signed = np.array([[[2, 1], [-2, 1]]])
    assert gradient(product, signed, np.array([0, 2])).tolist() == [2, 0]


def test_a_metric_undefined_next_to_the_totals_is_refused_with_a_message() -> None:
    edge = Formula("edge", lambda totals: np.where(totals[..., 0] > totals[..., 1], np.nan, totals[..., 0]))
    counts = np.ones((5, 2), dtype=int)
    with pytest.raises(InputError, match=r"slightly above and below .* edge: the function did not .* totals \[6, 5\]"):
        standard_error(counts, edge)
    assert standard_error(counts, edge, method="jackknife") == 0


# --- Standard errors


@given(NUMBERS, st.integers(0, 9))
def test_standard_errors_of_means_and_their_differences_are_the_textbook_ones(numbers: list[int], seed: int) -> None:
    others = np.random.default_rng(seed).integers(-50, 50, len(numbers))
    for values, other in ((np.array(numbers), None), (numbers - others, as_counts(others))):
        expected = np.std(values, ddof=1) / len(numbers) ** 0.5
        for method in ("delta", "jackknife"):
            error = standard_error(as_counts(numbers), MEAN, b=other, method=method)
            assert expected == pytest.approx(error, rel=1e-9, abs=1e-12)


def without_each(m: Metric, counts: Counts) -> Scores:
    return np.array([float(m.score(np.delete(counts, s, axis=0).sum(axis=0))) for s in range(len(counts))])


def test_the_jackknife_leaves_out_each_segment_once(demo_counts: Counts) -> None:
    a, b = demo_counts
    for left_out, other in ((without_each(BLEU, a), None), (without_each(BLEU, a) - without_each(BLEU, b), b)):
        expected = math.sqrt(399 / 400 * ((left_out - left_out.mean()) ** 2).sum())
        assert expected == pytest.approx(standard_error(a, BLEU, b=other, method="jackknife"), rel=1e-12)


def slow_draw_errors(m: Metric, counts: Counts, n: int) -> Scores:
    """For each draw, the influence of every drawn segment on all systems, from their gradients at the draw's totals."""
    segments = counts.shape[1]
    errors = []
    for r in range(n):
        drawn = np.repeat(np.arange(segments), _core.draw_weights(7, r, segments))
        influence = np.zeros(segments)
        for sign, rows in zip((1, -1), counts[:, drawn], strict=False):
            influence += sign * (rows - rows.mean(axis=0)) @ gradient(m, counts[:1], rows.sum(axis=0))
        errors.append(math.sqrt(segments / (segments - 1) * (influence**2).sum()))
    return np.array(errors)


@pytest.mark.parametrize("of_pair", [False, True])
def test_standard_errors_of_draws_equal_a_slow_twin(ratio_counts: Counts, demo_counts: Counts, of_pair: bool) -> None:
    short = demo_counts.copy()
    short[:, :, 1] += 1
    for m, counts in ((RATIO, ratio_counts), (BLEU, short)):
        expected = slow_draw_errors(m, counts if of_pair else counts[:1], 100)
        got = estimate_of(m, counts, 100, of_pair=of_pair).draw_errors
        np.testing.assert_allclose(got, expected, rtol=1e-5)


def slow_draw_errors_of_a_mean(values: NDArray[np.float64], n: int, seed: int) -> Scores:
    weights = [_core.draw_weights(seed, r, len(values)) for r in range(n)]
    return np.array([np.std(np.repeat(values, w), ddof=1) / len(values) ** 0.5 for w in weights])


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e15])
def test_standard_errors_are_accurate_for_counts_too_large_to_be_squared(scale: float) -> None:
    rng = np.random.default_rng(1)
    values = {name: scale * rng.normal(3, 1, 300) for name in "ab"}  # about 2^52 resolution steps each
    rating = SegmentScores("rating", values)
    counts = rating.counts_of("ab")
    assert counts.max() > 2**45
    of_score = estimate_of(rating, counts, 200).draw_errors
    np.testing.assert_allclose(of_score, slow_draw_errors_of_a_mean(values["a"], 200, 7), rtol=1e-6)
    of_difference = estimate_of(rating, counts, 200, of_pair=True).draw_errors
    expected = slow_draw_errors_of_a_mean(values["a"] - values["b"], 200, 7)
    np.testing.assert_allclose(of_difference, expected, rtol=1e-6)


def test_a_draw_without_differing_segments_has_a_standard_error_of_0() -> None:
    a, b = as_counts([5, 1, 2, 3, 4, 3]), as_counts([1, 1, 2, 3, 4, 3])
    estimate = estimate_of(MEAN, np.stack([a, b]), 200, of_pair=True)
    np.testing.assert_array_equal(estimate.draws == 0, estimate.draw_errors == 0)
    assert 0.2 < (estimate.draws == 0).mean() < 0.5  # (5/6)^6 = .33
    with pytest.raises(InputError, match=r"of 200 draws have a standard error of 0: use bca or percentile"):
        bootstrap_interval(a, MEAN, b=b, interval="studentized", n_resamples=200)


# --- Intervals


@pytest.mark.parametrize("of_pair", [False, True])
@pytest.mark.parametrize(("method", "theirs"), [("percentile", "percentile"), ("basic", "basic"), ("bca", "BCa")])
def test_intervals_of_a_mean_equal_scipys_on_the_same_draws(method: str, theirs: str, of_pair: bool) -> None:
    rng = np.random.default_rng(3)
    # Skewed, and with many ties among the draws.
    a, b = rng.geometric(0.2, 40), rng.geometric(0.3, 40)
    values = a - b if of_pair else a
    estimate = estimate_of(MEAN, np.stack([as_counts(a), as_counts(b)]), 5000, of_pair=of_pair)
    interval = INTERVALS[method].confidence_interval(estimate, 0.9)
    # scipy.stats.bootstrap on these draws. It interpolates between them, which are 1/40 apart.
    options: Any = {"bootstrap_result": SimpleNamespace(bootstrap_distribution=estimate.draws), "method": theirs}
    result = scipy.stats.bootstrap((values,), np.mean, n_resamples=0, confidence_level=0.9, **options)
    expected = tuple(result.confidence_interval)
    assert (interval.low, interval.high) == pytest.approx(expected, abs=1 / 40 + 1e-9)
    assert interval.method == method


@pytest.mark.parametrize("of_pair", [False, True])
def test_normal_intervals_are_quantiles_times_standard_errors(demo_counts: Counts, of_pair: bool) -> None:
    a, b = demo_counts
    options: dict[str, Any] = {"b": b if of_pair else None, "n_resamples": 300}
    value = BLEU.score(a.sum(axis=0)) - (BLEU.score(b.sum(axis=0)) if of_pair else 0)
    for method, error in (("normal", "bootstrap"), ("delta", "delta"), ("jackknife", "jackknife")):
        reach = scipy.stats.norm.ppf(0.95) * standard_error(a, BLEU, method=error, **options)
        interval = bootstrap_interval(a, BLEU, interval=method, confidence_level=0.9, **options)
        assert (interval.low, interval.high) == pytest.approx((value - reach, value + reach), rel=1e-12)


@pytest.mark.parametrize("of_pair", [False, True])
def test_studentized_intervals_equal_a_slow_twin(ratio_counts: Counts, of_pair: bool) -> None:
    estimate = estimate_of(RATIO, ratio_counts, 999, of_pair=of_pair)
    errors = slow_draw_errors(RATIO, ratio_counts if of_pair else ratio_counts[:1], 999)
    # Of 999 draws at 90 %, 49 are dropped at each end.
    ratios = np.sort((estimate.draws - estimate.value) / errors)
    expected = estimate.value - estimate.delta_error * ratios[[999 - 50, 49]]
    interval = INTERVALS["studentized"].confidence_interval(estimate, 0.9)
    assert (interval.low, interval.high) == pytest.approx(tuple(expected), rel=1e-5)


@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
@pytest.mark.parametrize("of_pair", [False, True])
def test_t_intervals_equal_scipys(level: float, of_pair: bool) -> None:
    rng = np.random.default_rng(6)
    a, b = rng.normal(size=30).round(2), rng.normal(size=30).round(2)
    rating = SegmentScores("rating", {"a": a, "b": b})
    other = rating.counts["b"] if of_pair else None
    interval = bootstrap_interval(rating.counts["a"], rating, b=other, interval="t", confidence_level=level)
    expected = scipy.stats.ttest_1samp(a - b if of_pair else a, 0).confidence_interval(level)
    assert (interval.low, interval.high) == pytest.approx((expected.low, expected.high), rel=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_bca_of_a_difference_counts_ties_that_differ_by_rounding(seed: int) -> None:
    # 5/30 − 3/30 and 6/30 − 4/30 differ as floats. The mean of whole differences has no such rounding.
    rng = np.random.default_rng(seed)
    a, b, indices = rng.integers(0, 4, 30), rng.integers(0, 4, 30), rng.integers(0, 30, (500, 30))
    options: dict[str, Any] = {"interval": "bca", "confidence_level": 0.5, "indices": indices}
    of_pair = bootstrap_interval(as_counts(a), MEAN, b=as_counts(b), **options)
    alone = bootstrap_interval(as_counts(a - b), MEAN, **options)
    assert (of_pair.low, of_pair.high) == pytest.approx((alone.low, alone.high), abs=1e-12)


def test_bca_is_defined_if_all_draws_lie_on_one_side_of_the_value() -> None:
    # The value lies above all draws, then below all draws.
    def ends(draws: Scores, value: float, left_out: Scores) -> tuple[float, float]:
        stand_in: Any = SimpleNamespace(draws=draws, value=value, tolerance=0.0, influences=left_out.mean() - left_out)
        return INTERVALS["bca"].ends(stand_in, 0.95)

    draws, left_out = np.arange(100, dtype=np.float64), np.arange(9, dtype=np.float64)
    low, high = ends(draws, 200.0, left_out)
    assert 50 < low <= high == 99
    low, high = ends(draws, -1.0, left_out)
    assert 0 == low <= high < 50
    # So skewed that the transformation passes its pole: the end is the outermost draw.
    assert ends(draws, 99.5, np.array([0.0] * 8 + [-1e9]))[1] == 99


KINDS: dict[str, Any] = {
    "normal": lambda draws: draws,
    "ties": np.rint,
    "constant": np.ones_like,
    "ascending": np.sort,
    # Every draw of the sample is in the middle, or at an end.
    "periodic in the middle": lambda draws: draws * (np.arange(len(draws)) % max(len(draws) // SAMPLE, 1) > 0),
    "periodic at an end": lambda draws: draws + 100 * (np.arange(len(draws)) % max(len(draws) // SAMPLE, 1) == 0),
}


@given(
    st.integers(0, 2**32), st.integers(1, 12_000), st.sampled_from([0.5, 0.9, 0.95, 0.999]), st.sampled_from([*KINDS])
)
def test_the_ends_of_percentile_intervals_equal_those_of_sorted_draws(
    seed: int, n: int, level: float, kind: str
) -> None:
    draws = KINDS[kind](np.random.default_rng(seed).standard_normal(n))
    rank = max(rank_of_ends(n, level), 1)
    in_order = np.sort(draws)
    assert symmetric_ends(draws, level) == (in_order[rank - 1], in_order[-rank])


# --- The interval that inverts the test ``ar-studentized``


@pytest.mark.parametrize("scheme", ["iid", "subgroup", "exact"])
@pytest.mark.parametrize("level", [0.5, 0.9, 0.95])
def test_the_interval_excludes_0_exactly_when_the_test_rejects(scheme: str, level: float) -> None:
    rng = np.random.default_rng(1)
    rejected = []
    for shift in np.linspace(0, 2, 21):
        a, b = rng.integers(0, 9, (2, 9)) + np.array([[0.0], [shift]])
        ratings = SegmentScores("rating", {"a": a.tolist(), "b": b.tolist()})
        options: dict[str, Any] = {"test": f"ar-studentized:scheme={scheme}", "interval": "ar-studentized"}
        (pair,) = compare(metrics=ratings, confidence_level=level, n_resamples=199, **options).comparisons
        interval = known(pair.confidence_interval)
        assert interval.low <= pair.difference <= interval.high
        rejected.append(pair.is_significant(1 - level))
        assert rejected[-1] == (not interval.low <= 0 <= interval.high)
    assert 0 < sum(rejected) < len(rejected)


# --- The percentile interval and the test ``bootstrap-percentile``: each is the dual of the other


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


def test_the_smallest_p_is_2_in_r_plus_1() -> None:
    """Which the note that there are too few replicates knows."""
    for n in (38, 39):
        scores = SegmentScores("m", {"x": np.zeros(30), "y": np.ones(30)})
        comparison = compare(metrics=scores, test="bootstrap-percentile", n_resamples=n, interval=None)
        assert comparison.comparisons[0].test.pvalue == 2 / (n + 1)
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


# --- Standard errors and document effects of all pairs from one matrix


PER_WORD = Formula("ratio", lambda totals: 100 * totals[..., 0] / (1 + totals[..., 1]))
METRICS: list[Metric] = [metric("bleu"), metric("ter"), metric("chrf"), metric("nist"), metric("sentbleu"), PER_WORD]


def systems_of(m: Metric, seed: int, k: int, n: int, kinds: list[int]) -> Counts:
    """Counts of k systems. Kinds: 0 a new system, 1 a copy of the one before, 2 a copy that differs in one segment."""
    rng = np.random.default_rng(seed)
    width = 2 if m.core is None else len(m.core.columns)
    # Counts decrease along a row, as matches are at most the n-grams that they are divided by.
    out = [np.sort(rng.integers(1, 40, size=(n, width)), axis=1)[:, ::-1].copy()]
    for kind in kinds[: k - 1]:
        last = out[-1]
        new = np.where(rng.random((n, 1)) < 0.5, last, rng.permutation(last)) if kind == 0 else last.copy()
        if kind == 2:
            new[rng.integers(n)] += 1
        out.append(new)
    return np.stack(out)


def delta_of_a_pair(m: Metric, a: Counts, b: Counts, strata: Strata) -> float:
    """By definition: the counts of a and the differences to b, times their gradients in the linearized difference."""
    centred = a - np.rint(a.mean(axis=0)).astype(np.int64)
    rows = np.concatenate([centred, a - b], axis=1)
    of_a, of_b = (gradient(m, x[None], x[None].sum(axis=1))[0] for x in (a, b))
    return strata.variance((rows - rows.mean(axis=0)) @ np.concatenate([of_a - of_b, of_b]))


def ids_of(seed: int, n: int, groups: int) -> list[int]:
    return [*range(groups), *np.random.default_rng(seed).integers(0, groups, size=n - groups).tolist()]


SEEDS = st.integers(0, 10**6)
COPIES = st.lists(st.integers(0, 2), min_size=4, max_size=4)


@settings(max_examples=budget(60))
@given(st.sampled_from(METRICS), SEEDS, st.integers(3, 400), st.integers(1, 3), COPIES)
@example(METRICS[0], 1, 400, 1, [1, 2, 0, 2])
def test_variances_of_all_pairs_equal_those_pair_by_pair(
    m: Metric, seed: int, n: int, n_strata: int, kinds: list[int]
) -> None:
    counts = systems_of(m, seed, 5, n, kinds)
    strata = Strata(np.array(ids_of(seed, n, min(n_strata, n // 2))))
    sample = CountSample.from_counts(m, counts).stratified(strata)
    for a, b in combinations(range(5), 2):
        expected = delta_of_a_pair(m, counts[a], counts[b], strata)
        assert sample.linear.variance(a, b) == pytest.approx(expected, rel=1e-9)
        assert sample.linear.variance(b, a) == pytest.approx(expected, rel=1e-9)
        left_out = sample.leave_one_out[a] - sample.leave_one_out[b]
        assert sample.jackknife.variance(a, b) == pytest.approx(strata.variance(left_out), rel=1e-9)
        if (counts[a] == counts[b]).all():
            assert (sample.linear.variance(a, b), sample.jackknife.variance(a, b)) == (0.0, 0.0)


@pytest.mark.parametrize("m", METRICS, ids=lambda m: m.name)
def test_the_variance_of_a_tiny_difference_is_exact(m: Metric) -> None:
    n = 20_000
    counts = systems_of(m, 3, 3, n, [2, 0])
    strata = Strata(np.zeros(n, np.intp))
    sample = CountSample.from_counts(m, counts)
    of_one, close = sample.linear.variance(0), sample.linear.variance(0, 1)
    assert 0 < close < CLOSE * of_one
    assert close == pytest.approx(delta_of_a_pair(m, counts[0], counts[1], strata), rel=1e-12)


@settings(max_examples=budget(60))
@given(SEEDS, st.integers(4, 300), st.integers(2, 300), COPIES)
@example(5, 8, 8, [0, 1, 2, 0])
def test_document_effects_of_all_pairs_equal_those_pair_by_pair(
    seed: int, n: int, groups: int, kinds: list[int]
) -> None:
    sample = CountSample.from_counts(metric("bleu"), systems_of(metric("bleu"), seed, 5, n, kinds))
    documents = Documents(np.array(ids_of(seed, n, min(groups, n))))
    pairs = list(combinations(range(5), 2))
    found = list(document_effects(sample.scores, sample.leave_one_out, documents, pairs))
    for (a, b), (correlation, effect) in zip(pairs, found, strict=True):
        expected = document_effect(paired_influence(sample.scores, sample.leave_one_out, a, b), documents)
        assert correlation == pytest.approx(expected[0], rel=1e-9, abs=1e-9, nan_ok=True)
        assert effect == pytest.approx(expected[1], rel=1e-9, abs=1e-9, nan_ok=True)
        identical = (sample.counts[a] == sample.counts[b]).all() and documents.n_documents < n
        assert math.isnan(effect) or not identical


def test_results_do_not_depend_on_the_size_of_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    values, weights = rng.normal(size=(7, 1000)), rng.random(1000)
    whole = Squares(values, weights)
    monkeypatch.setattr("reshuffle.resampling.units.PRODUCTS", 1000)
    for a, b in combinations(range(7), 2):
        expected = (weights * (values[a] - values[b]) ** 2).sum()
        for found in (whole.between(a, b), Squares(values, weights).between(a, b)):
            assert found == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("units", [{}, {"documents": 6}, {"documents": 6, "strata": 60}])
@pytest.mark.parametrize("method", ["delta", "jackknife"])
def test_intervals_of_a_comparison_equal_those_of_each_pair(method: str, units: dict[str, int]) -> None:
    n, rng = 120, np.random.default_rng(6)
    ids: dict[str, Any] = {name: (np.arange(n) // size).tolist() for name, size in units.items()}
    bleu = systems_of(metric("bleu"), 7, 6, n, [0, 1, 2, 0, 0])
    ratings: Scores = np.round(rng.normal(70, 10, (6, n)), 2)
    names = [f"s{i}" for i in range(6)]
    by_name = [dict(zip(names, each, strict=True)) for each in (bleu, bleu[..., :2], ratings)]
    counts = [FromCounts("BLEU", by_name[0], "bleu"), FromCounts("ratio", by_name[1], PER_WORD.function)]
    metrics = [*counts, SegmentScores("rating", by_name[2])]
    found = compare(metrics=metrics, all_pairs=True, interval=method, n_resamples=1, **ids).comparisons
    assert len(found) == 45
    given_to: dict[str, Any] = {"BLEU": (bleu, "bleu"), "ratio": (bleu[..., :2], PER_WORD), "rating": (ratings, None)}
    for pair in found:
        systems, scoring = given_to[pair.metric]
        a, b = (systems[names.index(name)] for name in (pair.system, pair.baseline))
        error = standard_error(a, scoring, b=b, method=method, **ids)
        interval = known(pair.confidence_interval)
        reach = (interval.high - interval.low) / 2
        assert reach == pytest.approx(1.959963984540054 * error, rel=1e-9, abs=1e-12)
