"""Schemes of shuffles: subgroups in numpy, exact tests against enumeration of all patterns, SciPy and theory."""

import itertools
import sys
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from counts import bleu_counts
from known import known
from reshuffle import Formula, SegmentScores, _core, approximate_randomization, compare, metric
from reshuffle.data.demo import demo_corpus
from reshuffle.metrics.base import Counts, Metric
from reshuffle.report import render
from told import assert_raises

BLEU = metric("bleu")
MEAN = Formula("mean", lambda totals: totals[..., 0] / 1000)
ALTERNATIVES = ("two-sided", "greater", "less")


def two_systems(seed: int, segments: int, differing: int | None = None) -> tuple[Counts, Counts]:
    """Counts of two synthetic systems that differ in this many segments, or in all."""
    a, b = bleu_counts(seed, 2, segments, 0.0)
    others = np.random.default_rng(seed).permutation(segments)[segments if differing is None else differing :]
    b[others] = a[others]
    return a, b


def flips(codes: NDArray[np.uint64], g: int) -> NDArray[np.bool_]:
    """The segments that replicate g of a subgroup swaps, bit by bit."""
    return np.array([(int(code) & g).bit_count() % 2 == 1 for code in codes])


def statistic(m: Metric, a: Counts, b: Counts, flip: NDArray[np.bool_]) -> float:
    """The slow, obvious way: swap rows, sum, score, subtract."""
    x, y = np.where(flip[:, None], b, a), np.where(flip[:, None], a, b)
    return float(m.score(x.sum(axis=0)) - m.score(y.sum(axis=0)))


def share(statistics: Any, observed: float, alternative: str) -> Fraction:
    """The share of statistics at least as extreme; those that differ only by rounding count as ties."""
    extreme = {
        "two-sided": np.abs(statistics) >= abs(observed) - 1e-9,
        "greater": np.asarray(statistics) >= observed - 1e-9,
        "less": np.asarray(statistics) <= observed + 1e-9,
    }[alternative]
    return Fraction(int(extreme.sum()), len(statistics))


@given(st.integers(0, 1000), st.integers(2, 90), st.integers(0, 2**64 - 1), st.integers(1, 70))
def test_a_subgroup_consists_of_the_shuffles_of_its_codes(data_seed: int, segments: int, seed: int, n: int) -> None:
    a, b = two_systems(data_seed, segments)
    options: dict[str, Any] = {"scheme": "subgroup", "n_resamples": n, "seed": seed}
    got = approximate_randomization(a, b, BLEU, keep_null_distribution=True, **options)
    codes = _core.stream_values(seed, "code", 0, segments)
    bits = (n - 1).bit_length()
    expected = [statistic(BLEU, a, b, flips(codes, g)) for g in range(2**bits)]
    np.testing.assert_array_equal(expected, got.null_distribution)
    assert got.n_resamples == len(expected)
    for alternative in ALTERNATIVES:
        result = approximate_randomization(a, b, BLEU, alternative=alternative, **options)
        assert share(expected, result.statistic, alternative) == result.pvalue
        assert result.exceedances == result.pvalue * 2**bits
        assert f"|scheme:subgroup[2^{bits}]|n:{n}|seed:{seed}|" in result.signature
        assert (result.pvalue_interval, result.may_lie_across(result.pvalue)) == (None, False)


@given(st.integers(0, 1000), st.integers(0, 9), st.sampled_from(ALTERNATIVES))
def test_all_patterns_are_enumerated_if_few_segments_differ(data_seed: int, differing: int, alternative: str) -> None:
    a, b = two_systems(data_seed, 40, differing)
    where = np.flatnonzero((a != b).any(axis=1))
    patterns = list(itertools.product([False, True], repeat=len(where)))
    expected = []
    for pattern in patterns:
        flip = np.zeros(40, dtype=bool)
        flip[where] = pattern
        expected.append(statistic(BLEU, a, b, flip))
    got = approximate_randomization(a, b, BLEU, alternative=alternative, keep_null_distribution=True)
    assert share(expected, got.statistic, alternative) == got.pvalue
    assert (got.scheme, got.n_resamples) == ("exact", 2 ** len(where))
    assert got.exceedances == got.pvalue * 2 ** len(where)
    np.testing.assert_array_equal(np.sort(expected), np.sort(known(got.null_distribution)))
    assert got.null_probabilities is None
    assert f"|scheme:exact[2^{len(where)}]|" in got.signature
    assert (got.pvalue_interval, got.may_lie_across(got.pvalue)) == (None, False)


def test_enumeration_is_chosen_if_half_of_the_patterns_are_at_most_the_shuffles() -> None:
    a, b = two_systems(1, 60, 11)
    assert (a != b).any(axis=1).sum() == 11
    schemes = [approximate_randomization(a, b, BLEU, n_resamples=n).scheme for n in (1023, 1024)]
    assert schemes == ["iid", "exact"]
    forced = approximate_randomization(a, b, BLEU, n_resamples=10, scheme="exact")
    assert forced.pvalue == approximate_randomization(a, b, BLEU).pvalue
    assert "|scheme:" not in approximate_randomization(a, b, BLEU, n_resamples=1023).signature


DIFFERENCES = st.lists(st.integers(-6, 6), min_size=2, max_size=10)


@given(DIFFERENCES, st.integers(1, 9), st.sampled_from(ALTERNATIVES))
def test_the_exact_distribution_of_one_column_equals_enumeration(
    differences: list[int], unit: int, alternative: str
) -> None:
    d = unit * np.array(differences)
    a, b = np.maximum(d, 0)[:, None] + 3, np.maximum(-d, 0)[:, None] + 3
    sums = [sum(s * x for s, x in zip(signs, d, strict=True)) for signs in SIGNS[: 2 ** len(d), : len(d)].tolist()]
    expected = share(sums, sum(d), alternative)
    # n_resamples=1 allows enumeration of one pattern only, so two segments or more use the distribution of the sum.
    exact = approximate_randomization(
        a, b, MEAN, alternative=alternative, n_resamples=1, scheme="exact", keep_null_distribution=True
    )
    assert expected == exact.pvalue == approximate_randomization(a, b, MEAN, alternative=alternative).pvalue
    if np.count_nonzero(d) > 1:
        assert (exact.exceedances, exact.n_resamples) == (None, None)
        assert known(exact.null_probabilities).sum() == 1
        for value, probability in zip(known(exact.null_distribution), known(exact.null_probabilities), strict=True):
            assert Fraction(sum(abs(s / 1000 - value) < 1e-9 for s in sums), len(sums)) == probability
    assert f"|scheme:exact[2^{np.count_nonzero(d)}]|" in exact.signature


SIGNS = np.array(list(itertools.product((1, -1), repeat=10)))[:, ::-1]


@pytest.mark.parametrize("n", [10, 30, 50])
def test_exact_p_values_of_signed_ranks_equal_wilcoxons_test(n: int) -> None:
    alternative: Any
    d = np.arange(1, n + 1) * np.random.default_rng(n).choice([-1, 1, 1], n)
    zeros = np.zeros((n, 1), dtype=np.int64)
    for alternative in ALTERNATIVES:
        ours = approximate_randomization(d[:, None], zeros, MEAN, alternative=alternative)
        theirs = scipy.stats.wilcoxon(d, alternative=alternative, method="exact")
        assert theirs.pvalue == pytest.approx(ours.pvalue, rel=1e-12)


@pytest.mark.parametrize(("wins", "losses"), [(1530, 1470), (1600, 1400), (2000, 1000), (2500, 500)])
def test_exact_p_values_of_signs_equal_the_binomial_test_far_into_the_tail(wins: int, losses: int) -> None:
    d = np.array([1] * wins + [-1] * losses)
    ours = approximate_randomization(d[:, None], 0 * d[:, None], MEAN)
    theirs = scipy.stats.binomtest(wins, wins + losses).pvalue
    assert theirs == pytest.approx(ours.pvalue, rel=1e-9)


def test_the_smallest_p_value_is_the_smallest_normal_float() -> None:
    ones = np.ones((3000, 1), dtype=np.int64)
    assert approximate_randomization(ones, 0 * ones, MEAN).pvalue == sys.float_info.min
    assert approximate_randomization(ones, 0 * ones, MEAN, alternative="less").pvalue == 1


def test_auto_uses_the_exact_distribution_if_it_costs_no_more_than_the_shuffles() -> None:
    rng = np.random.default_rng(6)
    a, b = rng.integers(0, 9, (2, 500, 1))
    # Some 450 differences of 1 to 8: 1.4 million additions for the span of 1,400, and 900 for each of its values.
    schemes = {n: approximate_randomization(a, b, MEAN, n_resamples=n).scheme for n in (20, 200, 5_000, 10_000)}
    assert schemes == {20: "iid", 200: "iid", 5_000: "exact", 10_000: "exact"}
    # Differences far apart: the distribution has very many values, which does not affect shuffles.
    far = approximate_randomization(1000 * a + rng.integers(2, size=a.shape), b, MEAN, n_resamples=10_000)
    multiples = approximate_randomization(1000 * a, 1000 * b, MEAN, n_resamples=10_000)
    assert (multiples.scheme, far.scheme) == ("exact", "iid")
    # Pairs share flips and sums: with sixteen systems on 3,000 segments, the shuffles of each pair cost little.
    for k, scheme in ((2, "exact"), (16, "iid")):
        scores = SegmentScores("x", {str(x): rng.integers(0, 4, 3000).tolist() for x in range(k)})
        found = compare(metrics=scores, test="ar", n_resamples=10_000, all_pairs=True).comparisons
        assert {pair.test.scheme for pair in found} == {scheme}


def test_results_are_the_same_for_any_number_of_threads() -> None:
    a, b = two_systems(1, 3000)
    few = two_systems(1, 3000, 14)
    for x, y, options in (
        (a, b, {"scheme": "subgroup", "n_resamples": 100_000}),
        (*few, {}),
        (a[:, 2:3], b[:, 2:3], {}),
    ):
        m = BLEU if x.shape[1] > 1 else MEAN
        results = [approximate_randomization(x, y, m, workers=n, **options) for n in (1, 2, 5)]  # type: ignore[arg-type]
        assert results[0] == results[1] == results[2]


def compare_mixed(test: str) -> Any:
    """A comparison of three systems with the first; two of them differ from it in few segments.

    p is not adjusted, because ``auto`` would choose maxT, which needs the scheme iid for all pairs.
    """
    corpus = demo_corpus()
    first = list(next(iter(corpus.systems.values())))
    references = [str(line) for line in corpus.references[0]]
    near, nearer, far = first.copy(), first.copy(), [line + " x" for line in first]
    near[:6], nearer[3:6] = references[:6], references[3:6]
    systems = {"first": first, "near": near, "nearer": nearer, "far": far}
    return compare(references, systems, test=test, n_resamples=1000, adjust="none")


def test_the_scheme_is_chosen_for_each_pair_and_reported() -> None:
    result = compare_mixed("ar")
    tests = {pair.system: pair.test for pair in result.comparisons}
    schemes = {"near": "exact", "nearer": "exact", "far": "iid"}
    assert schemes == {name: test.scheme for name, test in tests.items()}
    iid_tests = {pair.system: pair.test for pair in compare_mixed("ar:scheme=iid").comparisons}
    assert iid_tests["far"] == tests["far"]
    for name in ("near", "nearer"):
        p = tests[name].pvalue
        assert abs(p - iid_tests[name].pvalue) < 5 * (p * (1 - p) / 1000) ** 0.5 + 1 / 1000
    assert "|test:ar|alternative:two-sided|scheme:exact+iid|n:1000|" in result.signature
    assert ",ar,exact,two-sided," in render(result, "csv")
    assert "|scheme:subgroup[2^10]|n:1000|" in compare_mixed("ar:scheme=subgroup").signature


def test_impossible_schemes_are_refused() -> None:
    a, b = two_systems(1, 60)
    assert_raises("python_errors_of_schemes", globals() | {"a": a, "b": b})
