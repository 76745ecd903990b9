"""Replicates, and rules that end them: beside numpy from the generator up, by enumeration, on any number of threads."""

import itertools
import json
import math
import pickle
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import combinations, count, islice
from typing import Any

import numpy as np
import pytest
import scipy.stats
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import calls
from budgets import budget
from known import known
from reshuffle import (
    BesagClifford,
    CorpusFunction,
    Formula,
    FromCounts,
    Gandy,
    InputError,
    SegmentScores,
    UsedStopping,
    _core,
    approximate_randomization,
    compare,
    derive_seed,
    metric,
    standard_error,
)
from reshuffle.inference.pvalues import pvalue
from reshuffle.metrics.base import Counts, Metric, Scores
from reshuffle.report import render
from reshuffle.resampling import (
    CountSample,
    MaxT,
    MinP,
    Replicates,
    SequentialCounts,
    SequentialTally,
    Series,
    Spread,
    Tally,
    TextSample,
)
from reshuffle.resampling.stopping import STOPPING, AnyRule
from reshuffle.results import SignificanceResult, clopper_pearson, robbins
from reshuffle.settings import Resampling
from told import assert_raises

BLEU = metric("bleu")


def random_counts(seed: int, systems: int, segments: int) -> Counts:
    """Counts of synthetic BLEU systems: matches decrease with the order, n-grams are lengths less the order."""
    rng = np.random.default_rng(seed)
    length = rng.integers(1, 40, size=(systems, segments))
    reference = np.broadcast_to(rng.integers(1, 40, size=segments), (systems, segments))
    totals = [np.maximum(length - n, 0) for n in range(4)]
    matches = [rng.binomial(t, 0.6 / 1.5**n) for n, t in enumerate(totals)]
    return np.stack([length, reference, *matches, *totals], axis=-1).astype(np.int64)


HALF = 0xFFFFFFFF
PURPOSES = {"shuffle": 0, "draw": 1, "residual": 2, "rest": 3, "code": 4, "derive": 5, "permutation": 6}


def random_values(seed: int, replicate: int, purpose: str, n: int, part: int = 0) -> NDArray[np.uint64]:
    """Philox4x32-10 from its definition (doi:10.1145/2063384.2063405): the first n 64-bit values of a stream."""
    block = np.arange(-(-n // 2), dtype=np.uint64)
    counters = (PURPOSES[purpose] | part << 8, replicate & HALF, replicate >> 32)
    x: list[NDArray[Any]] = [block, *(np.full_like(block, c) for c in counters)]
    keys = [seed & HALF, seed >> 32]
    for _ in range(10):
        p, q = x[0] * np.uint64(0xD2511F53), x[2] * np.uint64(0xCD9E8D57)
        k, m = (np.uint64(key) for key in keys)
        x = [q >> 32 ^ x[1] ^ k, q & HALF, p >> 32 ^ x[3] ^ m, p & HALF]
        keys = [(keys[0] + 0x9E3779B9) & HALF, (keys[1] + 0xBB67AE85) & HALF]
    return np.stack([x[0] | x[1] << 32, x[2] | x[3] << 32], axis=1).ravel()[:n]


def halves(seed: int, replicate: int, purpose: str, part: int = 0) -> Iterator[int]:
    """The 32-bit halves of the values, the low one first, without end."""
    for n in (2**k for k in count(6)):
        yield from (
            random_values(seed, replicate, purpose, n, part).astype("<u8").view("<u4")[n if n > 64 else 0 :].tolist()
        )


def indices(seed: int, replicate: int, purpose: str, bound: int, part: int = 0) -> Iterator[int]:
    """Uniform indices below a bound, without end: Lemire 2019 (doi:10.1145/3230636)."""
    for half in halves(seed, replicate, purpose, part):
        if half * bound % 2**32 >= 2**32 % bound:
            yield half * bound >> 32


def flips(seed: int, replicate: int, segments: int) -> NDArray[np.bool_]:
    """The flips of an independent shuffle: segment s has bit s % 64 of value s // 64."""
    drawn = random_values(seed, replicate, "shuffle", -(-segments // 64))
    return np.unpackbits(drawn.astype("<u8").view(np.uint8), bitorder="little")[:segments].astype(bool)


@cache
def poisson_cdf(segments: int) -> list[Fraction]:
    """P(N <= k) for k = 0, 1 …; P(N = 0) is a multiple of 1/256."""
    mean = max(1 - 1.5 / math.sqrt(segments), 0.0)
    p = math.ceil(256 * math.exp(-mean)) / 256
    rate = math.log(1 / p)
    below, cdf = 0.0, []
    for k in range(17):
        below += p
        p *= rate / (k + 1)
        cdf.append(Fraction(min(below, 1.0)))
    return [*cdf, Fraction(1)]


def poisson_weights(seed: int, replicate: int, segments: int, part: int) -> NDArray[np.int64]:
    """Step 1 of resample/kernel/weights.rs: a byte per segment, and 32 more bits if a step of the CDF is within it."""
    cdf = poisson_cdf(segments)
    drawn = random_values(seed, replicate, "draw", -(-segments // 8), part).astype("<u8").view(np.uint8)
    further = halves(seed, replicate, "residual", part)
    out = []
    for byte in drawn[:segments].tolist():
        at = Fraction(byte, 256)
        if byte == 255 or any(at < step < at + Fraction(1, 256) for step in cdf):
            at += Fraction(next(further), 2**40)
        out.append(sum(step <= at for step in cdf))
    return np.array(out)


def weights(seed: int, replicate: int, segments: int, stratum: int = 0) -> NDArray[np.int64]:
    """How often a draw takes each segment: step 2, starting again if the sum exceeds S, and adding draws up to S.

    Every stratum has 256 parts of the streams, one for each attempt.
    """
    first = 256 * stratum
    out = next(w for part in count(first) if (w := poisson_weights(seed, replicate, segments, part)).sum() <= segments)
    more = islice(indices(seed, replicate, "rest", segments, first), int(segments - out.sum()))
    np.add.at(out, list(more), 1)
    return out


def shuffled_statistic(a: Counts, b: Counts, flip: NDArray[np.bool_]) -> float:
    """The slow, obvious way: swap rows, sum, score, subtract."""
    x, y = np.where(flip[:, None], b, a), np.where(flip[:, None], a, b)
    return float(BLEU.score(x.sum(axis=0)) - BLEU.score(y.sum(axis=0)))


SEEDS = st.integers(0, 2**64 - 1)


@given(SEEDS, SEEDS, st.sampled_from(["shuffle", "draw", "code"]))
def test_random_values_are_those_of_philox(seed: int, replicate: int, purpose: str) -> None:
    np.testing.assert_array_equal(
        random_values(seed, replicate, purpose, 99), _core.stream_values(seed, purpose, replicate, 99)
    )


DERIVED = {"test-set": 1, "simulation": 2, "run": 3, "restart": 4}


@given(SEEDS, st.sampled_from(sorted(DERIVED)), SEEDS)
def test_a_derived_seed_is_the_first_value_of_a_separate_stream(seed: int, kind: str, index: int) -> None:
    derived = derive_seed(seed, kind, index)
    assert derived == int(random_values(seed, index, "derive", 1, DERIVED[kind])[0])
    again = pickle.loads(pickle.dumps(derived))
    assert (json.dumps(again), again.derivation) == (str(int(derived)), f"{seed}>{kind}[{index}]")


def test_a_derived_seed_gives_the_results_of_its_integer_and_a_signature_with_its_derivation() -> None:
    rng = np.random.default_rng(1)
    counts = {name: np.sort(rng.integers(1, 9, (30, 10)))[:, ::-1] for name in "ab"}
    seed, written = derive_seed(derive_seed(12345, "simulation", 7), "test-set", 3), "12345>simulation[7]>test-set[3]"
    derived, plain = (
        compare(metrics=FromCounts("m", counts, "bleu"), n_resamples=99, seed=each, test="ar:scheme=iid")
        for each in (seed, int(seed))
    )
    assert f"|n:99|seed:{written}|" in derived.signature
    assert derived.signature.replace(written, str(int(seed))) == plain.signature
    assert json.loads(render(derived, "json"))["seed"] == derived.seed == plain.seed
    assert [s.confidence_interval for s in derived.scores] == [s.confidence_interval for s in plain.scores]
    one, other = (
        approximate_randomization(counts["a"], counts["b"], "bleu", n_resamples=99, seed=each, scheme="iid")
        for each in (seed, int(seed))
    )
    assert f"|seed:{written}|" in one.signature
    assert one.pvalue == other.pvalue


@given(SEEDS, st.integers(1, 2**32 - 1))
def test_indices_use_32_bit_halves_without_bias(seed: int, bound: int) -> None:
    expected = list(islice(indices(seed, 5, "draw", bound), 99))
    np.testing.assert_array_equal(expected, _core.stream_indices(seed, 5, bound, 99))


@given(st.integers(0, 1000), st.integers(2, 300), SEEDS)
def test_shuffles_equal_those_computed_in_numpy(data_seed: int, segments: int, seed: int) -> None:
    a, b = random_counts(data_seed, 2, segments)
    options: Any = {"scheme": "iid", "n_resamples": 20, "seed": seed, "keep_null_distribution": True}
    got = approximate_randomization(a, b, BLEU, **options)
    expected = [shuffled_statistic(a, b, flips(seed, r, segments)) for r in range(20)]
    np.testing.assert_array_equal(expected, got.null_distribution)
    reached = int((np.abs(expected) >= abs(got.statistic)).sum())
    assert reached == got.exceedances
    assert (reached + 1) / 21 == got.pvalue


@settings(max_examples=budget(25))
@given(SEEDS, SEEDS, st.integers(1, 400) | st.sampled_from([3000, 3004]))
def test_weights_of_draws_equal_those_computed_in_numpy(seed: int, replicate: int, segments: int) -> None:
    np.testing.assert_array_equal(weights(seed, replicate, segments), _core.draw_weights(seed, replicate, segments))


@settings(max_examples=budget(25))
@given(SEEDS, SEEDS, st.lists(st.integers(1, 60), min_size=1, max_size=8))
@example(1, 4, [1] * 65_535 + [9])  # the last of many strata has its own stream
def test_weights_within_strata_equal_those_computed_in_numpy(seed: int, replicate: int, strata: list[int]) -> None:
    last = max(0, len(strata) - 8)
    expected = np.concatenate([weights(seed, replicate, size, h) for h, size in enumerate(strata) if h >= last])
    found = _core.draw_weights(seed, replicate, sum(strata), strata=strata)
    np.testing.assert_array_equal(expected, found[-len(expected) :])


def test_draws_whose_weights_exceed_s_are_started_again() -> None:
    above = [replicate for replicate in range(60) if poisson_weights(1, replicate, 50, 0).sum() > 50]
    assert len(above) >= 2
    for replicate in above:
        np.testing.assert_array_equal(weights(1, replicate, 50), _core.draw_weights(1, replicate, 50))


@pytest.mark.slow
def test_weights_of_draws_have_multinomial_moments() -> None:
    segments, n = 200, 20_000
    drawn = np.array([_core.draw_weights(5, r, segments) for r in range(n)], dtype=float)
    mean, variance, covariance = 1, 1 - 1 / segments, -1 / segments
    assert abs(drawn.mean(axis=0) - mean).max() < 5 * (variance / n) ** 0.5
    assert abs(drawn.var(axis=0) - variance).max() < 6 * (3 * variance**2 / n) ** 0.5
    observed = np.cov(drawn.T)
    off_diagonal = observed[~np.eye(segments, dtype=bool)]
    assert off_diagonal.mean() == pytest.approx(covariance, rel=0.02)
    assert abs(off_diagonal - covariance).max() < 6 / n**0.5


@given(st.integers(0, 1000), st.integers(2, 300), SEEDS)
def test_draws_sum_the_rows_times_their_weights(data_seed: int, segments: int, seed: int) -> None:
    counts = random_counts(data_seed, 3, segments)
    (got,) = Replicates([CountSample.from_counts(BLEU, counts)], Resampling(10, seed)).draws
    expected = [BLEU.score(np.tensordot(_core.draw_weights(seed, r, segments), counts, (0, 1))) for r in range(10)]
    np.testing.assert_array_equal(np.transpose(expected), got)


@pytest.mark.parametrize(("differing", "least"), [(1, 1.0), (2, 0.5), (3, 0.25)])
def test_systems_that_differ_in_few_segments_cannot_get_a_small_p_value(differing: int, least: float) -> None:
    # sacreBLEU 2.6.0 and MultEval count > instead of ≥, and give 1/(R + 1) to all of these.
    for seed in range(10):
        a = random_counts(seed, 1, 200)[0]
        b = a.copy()
        b[:differing, 2:6] //= 2
        n = 10_000
        result = approximate_randomization(a, b, BLEU, n_resamples=n, seed=seed, scheme="iid")
        masks = np.array([[bool(m >> s & 1) for s in range(200)] for m in range(2**differing)])
        statistics = np.array([shuffled_statistic(a, b, mask) for mask in masks])
        exact = float((np.abs(statistics) >= abs(result.statistic)).mean())
        assert exact >= least
        assert exact == approximate_randomization(a, b, BLEU).pvalue
        assert abs(result.pvalue - exact) < 5 * (exact * (1 - exact) / n) ** 0.5 + 1 / n
        assert differing > 1 or result.pvalue == 1


def bleu_in_numpy(totals: Counts) -> Scores:
    """BLEU with exponential smoothing, in the same order of operations as the core, as a formula."""
    matches, possible = totals[..., 2:6].astype(float), totals[..., 6:10].astype(float)
    zeros = np.cumsum(matches == 0, axis=-1)
    matches = np.where(matches == 0, 0.5**zeros, matches)
    precisions = np.where(possible > 0, matches / np.maximum(possible, 1), 0)
    product = precisions[..., 0] * precisions[..., 1] * precisions[..., 2] * precisions[..., 3]
    hypothesis, reference = totals[..., 0], totals[..., 1]
    penalty = np.exp(np.minimum(1 - reference / np.maximum(hypothesis, 1), 0)) * (hypothesis > 0)
    return np.where(totals[..., 2:6].any(axis=-1), 100 * penalty * np.sqrt(np.sqrt(product)), 0.0)


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_a_formula_and_a_native_metric_get_the_same_replicates(monkeypatch: Any, alternative: str) -> None:
    monkeypatch.setattr("reshuffle.resampling.samples.BATCH_CELLS", 20 * 300)  # several batches
    counts = random_counts(4, 2, 100)
    metrics = (BLEU, Formula("numpy", bleu_in_numpy), BLEU)
    replicates = Replicates([CountSample.from_counts(m, counts) for m in metrics], Resampling(1000, 3))
    pairs = [(0, 1), (1, 0)]
    native, formula, again = replicates.run([Series()], pairs)[0]
    np.testing.assert_array_equal(native, again)
    np.testing.assert_allclose(native, formula, atol=1e-12)
    np.testing.assert_allclose(replicates.draws[0], replicates.draws[1], atol=1e-12)
    tally = replicates.run([Tally(alternative, np.full((3, 2), 0.1))], pairs)[0]
    statistic = np.abs(native) if alternative == "two-sided" else native
    reached = statistic <= 0.1 if alternative == "less" else statistic >= 0.1
    np.testing.assert_array_equal(np.stack([reached.sum(axis=1)] * 3), tally)


@pytest.mark.parametrize("metrics", [[BLEU], [BLEU, Formula("numpy", bleu_in_numpy)]])
def test_several_reductions_in_one_pass_equal_each_alone(metrics: list[Metric]) -> None:
    counts, pairs = random_counts(5, 4, 60), list(combinations(range(4), 2))
    samples = [CountSample.from_counts(m, counts) for m in metrics]
    replicates = Replicates(samples, Resampling(2000, 5))
    (series,) = replicates.run([Series()], pairs)
    thresholds = np.quantile(np.abs(series), 0.9, axis=-1)
    asked: list[Any] = [
        Tally("two-sided", thresholds),
        Spread(),
        SequentialTally("two-sided", thresholds, BesagClifford(9).core()),
        MaxT("two-sided", np.ones_like(thresholds), thresholds, np.arange(len(metrics))),
        Series(),
    ]
    if len(metrics) == 1:  # the core does not rank what Python scores
        asked.append(MinP("two-sided", thresholds, 0 * thresholds, np.full(thresholds.shape, 40), np.arange(1)))
    for reduction, found in zip(asked, replicates.run(asked, pairs), strict=True):
        (alone,) = replicates.run([reduction], pairs)
        if isinstance(found, SequentialCounts):
            assert found.null is alone.null is None
            found, alone = found[:3], alone[:3]
        np.testing.assert_array_equal(np.array(found), np.array(alone))


def test_counts_of_any_integer_size_are_exact() -> None:
    # Fixed-point columns need wide SIMD lanes: sums must not wrap, and the largest differences must be kept.
    rng = np.random.default_rng(0)
    counts = rng.integers(-(2**50), 2**50, size=(2, 500, 3))
    sums = calls.draw_sums([counts], n=5, seed=1)
    for replicate in range(5):
        expected = np.tensordot(_core.draw_weights(1, replicate, 500).astype(np.int64), counts, (0, 1))
        np.testing.assert_array_equal(expected.ravel(), sums[replicate])


MEAN_OF_ROWS = Formula("mean", lambda totals: totals[..., 0] / totals[..., 1])


def test_sums_at_the_limit_are_exact_and_larger_ones_are_refused() -> None:
    largest = 2**62 // 3
    rows = np.array([[largest, 1]] * 3)
    assert standard_error(rows, MEAN_OF_ROWS, method="jackknife") == 0
    assert largest == CountSample.from_arrays(MEAN_OF_ROWS, rows).scores[0]
    for m in (MEAN_OF_ROWS, metric("length"), SegmentScores("x", [[1.0, 2.0]])):
        assert m.score([2**62, 1]) > 0
        for totals in ([2**62 + 1, 1], [1, -(2**63)]):
            with pytest.raises(
                InputError, match=r"at most 2\^62 in magnitude, got (4611686018427387905|-922337203685477)"
            ):
                m.score(totals)
    # 2·match and hyp + ref exceed 64 bits; the F-score of three equal numbers is 100.
    assert metric("depf").score([2**62] * 3) == 100
    assert metric("depf").details(np.array([2**62] * 3))["precision"] == 100


# 2^62 + 2^62 is -2^63 in 64 bits, and numpy does not report the overflow.
HUGE, NEGATIVE = ([[sign * 2**62, 1], [sign * 2**62, 1], [0, 1]] for sign in (1, -1))
OTHERS = [[1, 1], [2, 1], [3, 1]]


def test_invalid_arguments_and_sums_that_would_overflow_are_refused() -> None:
    assert_raises("python_errors_of_resampling", globals())


def test_fortran_order_is_refused_by_the_core_and_converted_by_public_functions() -> None:
    counts = random_counts(1, 2, 30)
    in_columns = np.asfortranarray(counts)
    with pytest.raises(TypeError, match=r"expected a C-contiguous array; numpy\.ascontiguousarray makes one"):
        calls.draw_sums([in_columns], n=5, seed=1)
    one, other = (approximate_randomization(c[0], c[1], BLEU, n_resamples=50).pvalue for c in (counts, in_columns))
    assert one == other


# --- Sequential stopping


RULES: list[AnyRule] = [BesagClifford(), BesagClifford(1), BesagClifford(300), Gandy(0.05), Gandy(0.3, 0.25)]


@pytest.mark.parametrize("risk", [0.25, 0.05, 0.001, 1e-9])
@pytest.mark.parametrize("level", [0.9, 0.5, 0.1, 0.05, 0.01, 0.001])
def test_gandy_decides_for_the_side_of_the_level_that_p_is_on(level: float, risk: float) -> None:
    n = np.arange(1, 5001)
    low, high = _core.StoppingRule.gandy(level, risk).limits(5000).T
    possible = low >= 0
    assert ((low + 1)[possible] <= level * (n + 1)[possible]).all()
    possible = high <= n
    assert ((high + 1)[possible] > level * (n + 1)[possible]).all()


def one_by_one(rule: AnyRule, reached: NDArray[np.bool_]) -> tuple[int, int, bool]:
    """The slow, obvious way: shuffles, exceedances, and whether the rule stopped."""
    exceeded = 0
    limits = rule.core().limits(len(reached)).tolist()
    for number, (more, (low, high)) in enumerate(zip(reached.tolist(), limits, strict=True), 1):
        exceeded += more
        if not low < exceeded < high:
            return number, exceeded, True
    return len(reached), exceeded, False


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.signature)
def test_each_test_stops_at_the_shuffle_at_which_one_by_one_checks_stop(
    rule: AnyRule, alternative: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = random_counts(4, 3, 100)
    samples = [CountSample.from_counts(m, counts) for m in (BLEU, Formula("numpy", bleu_in_numpy), BLEU)]
    pairs = [(0, 1), (1, 0), (2, 0)]
    n = 3000
    replicates = Replicates(samples, Resampling(n, 3))
    statistics = replicates.run([Series()], pairs)[0]
    size = np.abs(statistics) if alternative == "two-sided" else statistics
    sides = {"less": 0.0, "greater": 1.0, "two-sided": 1.0}
    # Shares from p = 0.6 to 1/3000, some as close to .05 as possible.
    shares = np.array([[0.6, 0.05, 0.3], [0.3, 0.049, 0.001], [0.01, 0.05, 0.1]])
    thresholds = np.array(
        [[np.quantile(size[m, p], abs(sides[alternative] - shares[m, p])) for p in range(3)] for m in range(3)]
    )
    reached = size <= thresholds[..., None] if alternative == "less" else size >= thresholds[..., None]
    expected = [[one_by_one(rule, reached[m, p]) for p in range(3)] for m in range(3)]
    assert len({n for row in expected for n, _, _ in row}) > 2
    for first_batch, threads in [(512, 1), (1, 2), (1000, 3), (7, None)]:
        monkeypatch.setattr("reshuffle.resampling.replicates.FIRST_BATCH", first_batch)
        replicates = Replicates(samples, Resampling(n, 3, threads))
        found = replicates.run([SequentialTally(alternative, thresholds, rule.core())], pairs)[0]
        got = np.stack([found.shuffles, found.exceedances, found.stopped], axis=-1)
        np.testing.assert_array_equal(np.array(expected), got)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.signature)
def test_functions_of_texts_are_called_only_for_the_shuffles_used(rule: AnyRule) -> None:
    rng = np.random.default_rng(1)
    systems = [["x" * length for length in rng.integers(1, 90, 20)] for _ in range(3)]
    function = CorpusFunction("words", lambda lines, _: float(sum(len(line) * 37 % 101 for line in lines)))
    sample = TextSample(function, systems, [["r"] * 20])
    pairs = [(1, 0), (2, 0)]
    n = 500
    statistics = Replicates([sample], Resampling(n, 3)).run([Series()], pairs)[0][0]
    thresholds = np.quantile(np.abs(statistics), [0.5, 0.9], axis=1)[:, :1]
    expected = [one_by_one(rule, of_pair) for of_pair in np.abs(statistics) >= thresholds]
    before = sample.evaluations
    tally = SequentialTally("two-sided", thresholds.T, rule.core())
    (found,) = Replicates([sample], Resampling(n, 3)).run([tally], pairs)
    assert expected == list(zip(found.shuffles[0], found.exceedances[0], found.stopped[0], strict=True))
    assert 2 * sum(used for used, _, _ in expected) == sample.evaluations - before


@pytest.mark.parametrize("h", [1, 2, 3, 9])
def test_besag_and_cliffords_p_is_exact_when_all_orders_are_equally_likely(h: int) -> None:
    # The observed value and six shuffles: under the null all orders of seven different numbers are equally likely.
    rule = BesagClifford(h)
    orders = np.array(list(itertools.permutations(range(7))))
    observed, shuffled = orders[:, 0].astype(float), orders[:, 1:].astype(float)
    tally = _core.SequentialTally([(0, 1)] * len(orders), "greater", observed[None], rule.core())
    feed = _core.Feed([tally], 2, n=6)
    feed.update(shuffled, range(len(orders)))
    (found,) = feed.results()
    shuffles, exceedances, stopped = found.outcomes
    pvalues = pvalue(exceedances.astype(int), shuffles.astype(int), rule.includes_observed(stopped))[0]
    for p in np.unique(pvalues):
        assert (pvalues <= p).mean() == pytest.approx(p)


# --- Intervals


def outcomes(rule: AnyRule, cap: int, p: float) -> dict[tuple[int, int, bool], float]:
    """The probability of each possible end of a test: (shuffles, exceedances, stopped by the rule)."""
    running, out = np.array([1.0]), {}
    for n, (low, high) in enumerate(rule.core().limits(cap).tolist(), 1):
        running = np.append(running * (1 - p), 0.0) + np.append(0.0, running * p)
        for exceeded in np.flatnonzero(running):
            if not low < exceeded < high:
                out[n, int(exceeded), True] = float(running[exceeded])
                running[exceeded] = 0.0
    return out | {(cap, int(exceeded), False): float(running[exceeded]) for exceeded in np.flatnonzero(running)}


@pytest.mark.parametrize("rule", [BesagClifford(5), Gandy(0.05), Gandy(0.2, 0.1)], ids=lambda rule: rule.signature)
def test_intervals_of_p_have_their_coverage_with_and_without_stopping(rule: AnyRule) -> None:
    cap = 400
    for p in (0.004, 0.03, 0.05, 0.08, 0.4, 0.93):
        covered = 0.0
        found = outcomes(rule, cap, p)
        assert sum(found.values()) == pytest.approx(1)
        for (n, c, by_rule), probability in found.items():
            used = rule.used(cap, by_rule)
            result = SignificanceResult("ar", "m", 0.0, 0.5, "two-sided", c, n, 1, "", stopping=used)
            interval = known(result.pvalue_interval)
            covered += probability * (interval.low <= p <= interval.high)
        assert covered >= 0.95


def test_the_interval_after_stopping_comes_from_the_negative_binomial_distribution() -> None:
    interval = clopper_pearson(20, 400, stopped=True)
    # P(N ≤ 400) and P(N ≥ 400) for the number N of shuffles until the 20th exceedance.
    assert scipy.stats.nbinom.cdf(380, 20, interval.low) == pytest.approx(0.025)
    assert scipy.stats.nbinom.sf(379, 20, interval.high) == pytest.approx(0.025)
    assert clopper_pearson(20, 20, stopped=True).high == 1


@pytest.mark.parametrize(("c", "n"), [(0, 1), (1, 1), (0, 300), (300, 300), (3, 400), (123, 456), (5000, 100_000)])
def test_robbins_interval_follows_its_definition(c: int, n: int) -> None:
    interval = robbins(c, n, 0.99)
    for end, edge in ((interval.low, 0.0), (interval.high, 1.0)):
        if c != n * edge:
            assert (n + 1) * scipy.stats.binom.pmf(c, n, end) == pytest.approx(0.01, rel=1e-6)
        else:
            assert end == edge
    assert interval.low <= c / n <= interval.high


# --- The public API


def test_the_result_and_its_signature_name_the_stopping_rule() -> None:
    a, b = random_counts(5, 2, 200)
    result = approximate_randomization(a, b, BLEU, stopping="besag-clifford", n_resamples=50_000)
    assert UsedStopping("besag-clifford", max_resamples=50_000, stopped=True, exceedances=20) == result.stopping
    assert (20, 20 / known(result.n_resamples)) == (result.exceedances, result.pvalue)
    assert "|test:ar|alternative:two-sided|stopping:besag-clifford[20]|n:50000|seed:12345|" in result.signature

    result = approximate_randomization(a, b, BLEU, stopping=Gandy(risk=0.01), n_resamples=50_000)
    assert UsedStopping("gandy", max_resamples=50_000, stopped=True, level=0.05, risk=0.01) == result.stopping
    assert "|stopping:gandy[0.05,0.01]|n:50000|" in result.signature
    # Identical systems stop at once.
    for rule, largest in (("besag-clifford", 20), ("gandy", 9)):
        result = approximate_randomization(a, a, BLEU, stopping=rule, n_resamples=10**15)
        assert result.pvalue == 1
        assert known(result.n_resamples) <= largest


RATED = SegmentScores("rating", {"b": [1, 2, 3], "a": [2, 3, 5]})


def test_impossible_stopping_is_refused() -> None:
    assert_raises("python_errors_of_stopping", globals())


@pytest.mark.parametrize("rule", STOPPING)
def test_stopping_uses_iid_shuffles_in_the_default_scheme(rule: str) -> None:
    a, b = random_counts(5, 2, 200)
    a[:-4] = b[:-4]  # without stopping, the 16 patterns would be enumerated
    options: dict[str, Any] = {"n_resamples": 3000, "keep_null_distribution": True}
    assert approximate_randomization(a, b, BLEU, **options).scheme == "exact"
    iid = approximate_randomization(a, b, BLEU, scheme="iid", **options)
    result = approximate_randomization(a, b, BLEU, stopping=rule, **options)
    assert result.scheme == "iid"
    assert "scheme" not in result.signature
    assert result == approximate_randomization(a, b, BLEU, stopping=rule, scheme="iid", **options)
    assert len(known(result.null_distribution)) == result.n_resamples
    np.testing.assert_array_equal(known(iid.null_distribution)[: result.n_resamples], known(result.null_distribution))
    assert result.null_probabilities is None
