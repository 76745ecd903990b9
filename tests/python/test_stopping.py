"""Sequential stopping: limits from their definition, and tests that stop at the same shuffle as one-by-one checks."""

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.stats
from numpy.typing import NDArray

from known import known
from reshuffle import (
    BesagClifford,
    CorpusFunction,
    Formula,
    Gandy,
    SegmentScores,
    UsedStopping,
    _core,
    approximate_randomization,
    compare,
    metric,
)
from reshuffle.data import demo
from reshuffle.inference.multiplicity import bonferroni, holm
from reshuffle.inference.pvalues import pvalue
from reshuffle.resampling import CountSample, Replicates, SequentialTally, Series, TextSample
from reshuffle.resampling.stopping import STOPPING, AnyRule
from reshuffle.results import SignificanceResult, clopper_pearson, robbins
from reshuffle.settings import Resampling
from test_resampling import bleu_in_numpy, random_counts
from told import assert_raises

BLEU = metric("bleu")
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
    count = 0
    limits = rule.core().limits(len(reached)).tolist()
    for number, (more, (low, high)) in enumerate(zip(reached.tolist(), limits, strict=True), 1):
        count += more
        if not low < count < high:
            return number, count, True
    return len(reached), count, False


def function_of_all_lines(hypotheses: list[str], references: Any) -> float:
    """A function of texts whose value depends on every line."""
    return float(sum(len(line) * 37 % 101 for line in hypotheses))


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
    sample = TextSample(CorpusFunction("words", function_of_all_lines), systems, [["r"] * 20])
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
    exceedances, shuffles = found.exceedances.astype(int), found.shuffles.astype(int)
    pvalues = pvalue(exceedances, shuffles, rule.includes_observed(found.stopped))[0]
    for p in np.unique(pvalues):
        assert (pvalues <= p).mean() == pytest.approx(p)


# --- Intervals


def outcomes(rule: AnyRule, cap: int, p: float) -> dict[tuple[int, int, bool], float]:
    """The probability of each possible end of a test: (shuffles, exceedances, stopped by the rule)."""
    running, out = np.array([1.0]), {}
    for n, (low, high) in enumerate(rule.core().limits(cap).tolist(), 1):
        running = np.append(running * (1 - p), 0.0) + np.append(0.0, running * p)
        for count in np.flatnonzero(running):
            if not low < count < high:
                out[n, int(count), True] = float(running[count])
                running[count] = 0.0
    return out | {(cap, int(count), False): float(running[count]) for count in np.flatnonzero(running)}


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


@pytest.mark.parametrize(("adjust", "by_hand"), [("holm", holm), ("bonferroni", bonferroni)])
def test_besag_clifford_p_values_can_be_adjusted(adjust: str, by_hand: Any) -> None:
    corpus = demo.demo_corpus()
    options: dict[str, Any] = {"all_pairs": True, "test": "ar:stopping=besag-clifford", "n_resamples": 2000}
    options["strata"] = ["news"] * 20 + ["talks"] * (corpus.n_segments - 20)
    plain = compare(corpus.references, corpus.systems, adjust="none", **options)
    result = compare(corpus.references, corpus.systems, adjust=adjust, **options)
    assert f"|adjust:{adjust}|stopping:besag-clifford[20]|strata:2|n:2" in result.signature
    expected = by_hand(np.array([pair.test.pvalue for pair in plain.comparisons]))
    for there, here, p in zip(plain.comparisons, result.comparisons, expected, strict=True):
        signature = there.test.signature.replace("|stopping:", f"|adjust:{adjust}|stopping:")
        assert here.test == replace(there.test, adjusted_pvalue=p, signature=signature)
