"""Intervals and standard errors against closed forms, slow twins and SciPy on the same draws; what is refused."""

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from counts import as_counts
from known import known
from reshuffle import Formula, InputError, SegmentScores, _core, bootstrap_interval, compare, metric, standard_error
from reshuffle.data.demo import demo_corpus
from reshuffle.inference.estimates import Estimate
from reshuffle.inference.intervals import INTERVALS, SAMPLE, rank_of_ends, symmetric_ends
from reshuffle.metrics.base import Counts, Metric, Scores
from reshuffle.resampling import CountSample, Replicates
from reshuffle.resampling.linear import gradient
from reshuffle.settings import Resampling

MEAN = Formula("mean", lambda totals: totals[..., 0] / totals[..., 1])
RATIO = Formula("ratio", lambda totals: 100 * totals[..., 0] / totals[..., 1])
BLEU = metric("bleu")

NUMBERS = st.lists(st.integers(-50, 50), min_size=2, max_size=40)


@pytest.fixture(scope="module")
def bleu_counts() -> Counts:
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


# --- Gradients


def analytic_ratio(totals: Counts) -> Scores:
    x, y = totals.astype(float)
    return np.array([100 / y, -100 * x / y**2])


def analytic_bleu(totals: Counts) -> Scores:
    """The gradient of BLEU without smoothing, from the logarithms of its factors."""
    hypothesis, reference, *parts = totals.astype(float)
    matches, possible = np.array(parts).reshape(2, 4)
    is_short = hypothesis < reference
    of_lengths = [reference / hypothesis**2 * is_short, -1 / hypothesis * is_short]
    return float(BLEU.score(totals)) * np.concatenate([of_lengths, 0.25 / matches, -0.25 / possible])


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


def test_the_jackknife_leaves_out_each_segment_once(bleu_counts: Counts) -> None:
    a, b = bleu_counts
    for left_out, other in ((without_each(BLEU, a), None), (without_each(BLEU, a) - without_each(BLEU, b), b)):
        expected = math.sqrt(399 / 400 * ((left_out - left_out.mean()) ** 2).sum())
        assert expected == pytest.approx(standard_error(a, BLEU, b=other, method="jackknife"), rel=1e-12)


def slow_draw_errors(counts: Counts, analytic: Any, n: int, seed: int) -> Scores:
    """For each draw and system, the influence of every drawn segment, from the gradient at the draw's totals."""
    segments = counts.shape[1]
    errors = []
    for r in range(n):
        drawn = np.repeat(np.arange(segments), _core.draw_weights(seed, r, segments))
        influence = np.zeros(segments)
        for sign, rows in zip((1, -1), counts[:, drawn], strict=False):
            influence += sign * (rows - rows.mean(axis=0)) @ analytic(rows.sum(axis=0))
        errors.append(math.sqrt(segments / (segments - 1) * (influence**2).sum()))
    return np.array(errors)


@pytest.mark.parametrize("of_pair", [False, True])
def test_standard_errors_of_draws_equal_a_slow_twin(ratio_counts: Counts, bleu_counts: Counts, of_pair: bool) -> None:
    short = bleu_counts.copy()
    short[:, :, 1] += 1
    for m, analytic, counts in ((RATIO, analytic_ratio, ratio_counts), (BLEU, analytic_bleu, short)):
        expected = slow_draw_errors(counts if of_pair else counts[:1], analytic, 100, 7)
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


def by_scipy(values: Any, draws: Scores, method: Any) -> tuple[float, float]:
    """scipy.stats.bootstrap of the mean, on these draws."""
    options: Any = {"bootstrap_result": SimpleNamespace(bootstrap_distribution=draws), "method": method}
    result = scipy.stats.bootstrap((values,), np.mean, n_resamples=0, confidence_level=0.9, **options)
    return float(result.confidence_interval.low), float(result.confidence_interval.high)


@pytest.mark.parametrize("of_pair", [False, True])
@pytest.mark.parametrize(("method", "theirs"), [("percentile", "percentile"), ("basic", "basic"), ("bca", "BCa")])
def test_intervals_of_a_mean_equal_scipys_on_the_same_draws(method: str, theirs: str, of_pair: bool) -> None:
    rng = np.random.default_rng(3)
    # Skewed, and with many ties among the draws.
    a, b = rng.geometric(0.2, 40), rng.geometric(0.3, 40)
    values = a - b if of_pair else a
    estimate = estimate_of(MEAN, np.stack([as_counts(a), as_counts(b)]), 5000, of_pair=of_pair)
    interval = INTERVALS[method].confidence_interval(estimate, 0.9)
    expected = by_scipy(values, estimate.draws, theirs)
    # SciPy interpolates between draws, which are 1/40 apart.
    assert (interval.low, interval.high) == pytest.approx(expected, abs=1 / 40 + 1e-9)
    assert interval.method == method


@pytest.mark.parametrize("of_pair", [False, True])
def test_normal_intervals_are_quantiles_times_standard_errors(bleu_counts: Counts, of_pair: bool) -> None:
    a, b = bleu_counts
    options: dict[str, Any] = {"b": b if of_pair else None, "n_resamples": 300}
    value = BLEU.score(a.sum(axis=0)) - (BLEU.score(b.sum(axis=0)) if of_pair else 0)
    for method, error in (("normal", "bootstrap"), ("delta", "delta"), ("jackknife", "jackknife")):
        reach = scipy.stats.norm.ppf(0.95) * standard_error(a, BLEU, method=error, **options)
        interval = bootstrap_interval(a, BLEU, interval=method, confidence_level=0.9, **options)
        assert (interval.low, interval.high) == pytest.approx((value - reach, value + reach), rel=1e-12)


@pytest.mark.parametrize("of_pair", [False, True])
def test_studentized_intervals_equal_a_slow_twin(ratio_counts: Counts, of_pair: bool) -> None:
    estimate = estimate_of(RATIO, ratio_counts, 999, of_pair=of_pair)
    errors = slow_draw_errors(ratio_counts if of_pair else ratio_counts[:1], analytic_ratio, 999, 7)
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
