"""Tests and intervals: definitions by hand, theory, and other tools' numbers."""

import itertools
from statistics import NormalDist
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from budgets import budget
from counts import as_counts
from known import known
from reshuffle import (
    Corpus,
    Formula,
    SegmentScores,
    approximate_randomization,
    bootstrap_test,
    compare,
    experimentwise_error,
    metric,
)
from reshuffle.inference.intervals import INTERVALS, between
from reshuffle.results import SignificanceResult, clopper_pearson

MEAN = Formula("mean", lambda totals: totals[..., 0] / totals[..., 1])


def test_differences_that_differ_only_by_rounding_are_ties() -> None:
    # Swapping changes the difference by 0.1, 0.2, 0.3 and 0.3, each in a separate count: in tenths the sixteen patterns
    # are ±1 ±2 ±3 ±3. The observed +1 +2 +3 -3 = 3 ties with -1 -2 +3 +3, but not in floating point.
    weighted = Formula("weighted", lambda totals: totals @ np.array([0.1, 0.2, 0.3]))
    ones = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0]])
    a, b = ones, np.array([[0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 1]])
    tenths = np.array([*itertools.product((1, -1), repeat=4)]) @ [1, 2, 3, 3]
    exact = float((np.abs(tenths) >= 3).mean())
    result = approximate_randomization(a, b, weighted, keep_null_distribution=True)
    assert exact == result.pvalue
    lost = (np.abs(known(result.null_distribution)) >= abs(result.statistic)).mean()
    assert lost < exact - 0.05, "without the tolerance of the threshold these ties would be lost"


@pytest.mark.parametrize("documents", [None, range(100)])
def test_the_p_value_of_the_centred_bootstrap_does_not_jump_with_the_seed(documents: Any) -> None:
    # One of 100 segments differs. A draw has it m times: m = 0 and m >= 2 are as far from m = 1 as 0 is. Centred on the
    # mean of the draws, which is just above or just below 1, only one of the two would count: p would be .37 or .26.
    a = as_counts(np.arange(100))
    b = a + [[1, 0]] * (np.arange(100) == 7)[:, None]
    expected = 1 - 0.99**99  # of the probabilities of m, only that of 1 is left out
    for seed in range(5):
        result = bootstrap_test(a, b, MEAN, n_resamples=10_000, seed=seed, documents=documents)
        assert result.pvalue == pytest.approx(expected, abs=0.025)  # five standard errors


@given(st.integers(1, 5000), st.floats(0, 1), st.sampled_from([0.5, 0.9, 0.95, 0.99]))
def test_clopper_pearson_equals_scipys(n: int, share: float, level: float) -> None:
    c = round(n * share)
    expected = scipy.stats.binomtest(c, n).proportion_ci(level, method="exact")
    interval = clopper_pearson(c, n, level)
    assert (expected.low, expected.high) == pytest.approx((interval.low, interval.high), abs=1e-9)


def test_clopper_pearson_has_the_same_digits_with_every_scipy_release() -> None:
    # SciPy 1.10.0 gives 0.003685762865738008, 1.15.3 0.0036857628657393834 and 1.18.1 0.003685762865739383.
    assert clopper_pearson(0, 999).high == 0.003685762866
    interval = clopper_pearson(500, 10_000)
    assert (interval.low, interval.high) == (0.0458099422, 0.05445452703)


def test_the_experimentwise_error_of_105_tests_equals_riezler_and_maxwells() -> None:
    assert experimentwise_error(0.05, 105) == pytest.approx(0.9954, abs=5e-5)


@pytest.mark.parametrize(
    ("n", "level", "ends"),
    [
        (1000, 0.95, (26, 975)),
        (1000, 0.9, (51, 950)),
        (100, 0.95, (3, 98)),
        (10, 0.95, (1, 10)),
        (1, 0.95, (1, 1)),
        (10, 1e-9, (5, 6)),
    ],
)
def test_koehns_interval_drops_the_same_number_of_draws_at_each_end(
    n: int, level: float, ends: tuple[int, int]
) -> None:
    draws = np.random.default_rng(0).permutation(np.arange(1.0, n + 1))
    assert ends == between(draws, (1 - level) / 2, (1 + level) / 2)
    assert ends == INTERVALS["koehn"].ends(SimpleNamespace(draws=draws), level)  # type: ignore[arg-type]


# --- Means of segment scores


def mean_test(test: str, a: Any, b: Any, alternative: str = "two-sided") -> SignificanceResult:
    """A test of score(a) - score(b)."""
    scores = SegmentScores("rating", {"b": b, "a": a})
    return compare(metrics=scores, test=test, alternative=alternative, interval="delta").comparisons[0].test


def signed_ranks(d: Any, alternative: str) -> float:
    """Wilcoxon's p-value by enumeration, SciPy's exact test or the textbook's normal approximation, as documented."""
    d = d[d != 0]
    n, ranks = len(d), scipy.stats.rankdata(np.abs(d))
    w = ranks[d > 0].sum()
    ties = np.unique(np.abs(d), return_counts=True)[1]
    if n <= 13:
        sums = np.array([sum(chosen) for chosen in itertools.product(*([0.0, rank] for rank in ranks))])
        greater, less = (sums >= w).mean(), (sums <= w).mean()
    elif n <= 50 and len(ties) == n:
        return float(scipy.stats.wilcoxon(d, alternative=alternative, method="exact").pvalue)  # type: ignore[call-overload]
    else:
        variance = (n * (n + 1) * (2 * n + 1) - (ties**3 - ties).sum() / 2) / 24
        z = (w - n * (n + 1) / 4) / variance**0.5
        greater, less = NormalDist().cdf(-z), NormalDist().cdf(z)
    return float({"greater": greater, "less": less}.get(alternative, min(1, 2 * min(greater, less))))


SCIPY: dict[str, Any] = {
    "t-test": lambda d, alternative: scipy.stats.ttest_1samp(d, 0, alternative=alternative).pvalue,
    "wilcoxon": signed_ranks,
    "sign-test": lambda d, alternative: (
        scipy.stats.binomtest(int((d > 0).sum()), int((d != 0).sum()), alternative=alternative).pvalue
    ),
}


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("test", SCIPY)
@settings(max_examples=budget(25))  # enumeration is slow
@given(st.lists(st.tuples(st.integers(-9, 9), st.integers(-9, 9)), min_size=2, max_size=70))
def test_tests_of_means_equal_scipys(test: str, alternative: str, pairs: list[tuple[int, int]]) -> None:
    a, b = np.array(pairs, dtype=float).T
    result = mean_test(test, a, b, alternative)
    assert result.statistic == pytest.approx((a - b).mean(), abs=1e-12)
    assert 0 <= result.pvalue <= 1
    if np.ptp(a - b) > 0:  # equal differences have a test of their own
        assert SCIPY[test](a - b, alternative) == pytest.approx(result.pvalue, rel=1e-9)


@pytest.mark.parametrize("test", SCIPY)
def test_p_is_one_if_no_segment_differs(test: str) -> None:
    for scores, alternative in itertools.product(([0.5, 0.25], [1, 2, 3] * 20), ("two-sided", "greater", "less")):
        assert mean_test(test, scores, scores, alternative).pvalue == 1


def test_equal_differences_have_an_infinite_t_and_few_patterns() -> None:
    # 0.3 - 0.1 and 0.4 - 0.2 are equal in tenths, but not as floats: the variance is 0, and t is infinite.
    a, b = [0.3, 0.4, 0.9], [0.1, 0.2, 0.7]
    for alternative, p in (("two-sided", 0), ("greater", 0), ("less", 1)):
        assert mean_test("t-test", a, b, alternative).pvalue == p
    # Of eight sign patterns two are as extreme; the other tests do not depend on the size of equal differences.
    for test in ("wilcoxon", "sign-test"):
        assert mean_test(test, a, b).pvalue == pytest.approx(2 / 8)
        assert mean_test(test, a, b, "greater").pvalue == pytest.approx(1 / 8)
        assert mean_test(test, a, b, "less").pvalue == 1
    # .2 -.2 .2 .3 -.1, which differ in the last digit as floats
    a, b = [0.3, 0.1, 0.9, 0.5, 0.0], [0.1, 0.3, 0.7, 0.2, 0.1]
    assert signed_ranks(np.array([2, -2, 2, 3, -1]), "two-sided") == mean_test("wilcoxon", a, b).pvalue


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("n", [2, 12, 13, 14, 20, 49, 50, 51, 300])
def test_signed_ranks_are_exact_up_to_the_documented_sizes_with_any_scipy(
    n: int, ties: bool, alternative: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    d = np.random.default_rng(n).permutation(np.arange(1, n + 1)) * np.where(np.arange(n) % 3 == 0, -1, 1)
    if ties:
        d[np.argmax(np.abs(d))] = 1 if n > 2 else d[np.argmin(np.abs(d))]
    expected = signed_ranks(d, alternative)
    backwards = {"greater": "less", "less": "greater"}.get(alternative, alternative)
    # SciPy's default method of wilcoxon differs between versions.
    monkeypatch.setattr(scipy.stats, "wilcoxon", None)
    got = mean_test("wilcoxon", d, np.zeros(n), alternative).pvalue
    assert expected == pytest.approx(got, rel=1e-12)
    assert got == mean_test("wilcoxon", np.zeros(n), d, backwards).pvalue


# newstest2017 en-de in sacreBLEU's test/test_significance.py (commit 27bec34): BLEU of sixteen systems against the
# baseline LIUM-NMT.4900, tokens separated by white space. Moses: scripts/moses-sigdiff.pl with 2,000 bootstrap samples,
# mean of three runs. MultEval (github.com/mjclark/multeval): 10,000 trials of approximate randomization.
PUBLISHED = {
    "C-3MA.4959": (0.00000, 0.0001),
    "FBK.4870": (0.01267, 0.0218),
    "KIT.4950": (0.02233, 0.0410),
    "LMU-nmt-reranked.4934": (0.04383, 0.09029),
    "LMU-nmt-single.4893": (0.20783, 0.58494),
    "online-A.0": (0.00000, 0.0001),
    "online-B.0": (0.38100, 0.94111),
    "online-F.0": (0.00000, 0.0001),
    "online-G.0": (0.00000, 0.0001),
    "PROMT-Rule-based.4735": (0.00000, 0.0001),
    "RWTH-nmt-ensemble.4921": (0.01167, 0.0207),
    "SYSTRAN.4847": (0.20983, 0.59914),
    "TALP-UPC.4834": (0.00000, 0.0001),
    "uedin-nmt.4722": (0.00000, 0.0001),
    "xmu.4910": (0.25483, 0.71073),
}


@pytest.mark.parametrize(("test", "tool"), [("bootstrap-shift", "Moses"), ("ar", "MultEval")])
def test_p_values_equal_those_of_moses_and_multeval(wmt17: Corpus, test: str, tool: str) -> None:
    """Within .01, as sacreBLEU's own test asks: ``sacrebleu ref.txt -i LIUM-NMT.4900 … -m bleu -tok none --paired-bs``
    (and ``--paired-ar``), sacreBLEU 2.6.0."""
    options: dict[str, Any] = {"baseline": "LIUM-NMT.4900", "n_resamples": 20_000, "interval": None}
    found = compare(wmt17.references, wmt17.systems, metric("bleu", tokenize="none"), test=test, **options)
    expected = {name: published[tool == "MultEval"] for name, published in PUBLISHED.items()}
    assert expected.keys() == {pair.system for pair in found.comparisons}
    for pair in found.comparisons:
        assert abs(expected[pair.system] - pair.test.pvalue) < 0.01, pair.system
