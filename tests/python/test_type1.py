"""Studies of type-I errors: the rates, their intervals, and what cannot be studied."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.stats
from numpy.typing import NDArray

from reshuffle import Corpus, SegmentScores, approximate_randomization, compare, derive_seed
from reshuffle.results.studies import Rate, StudyResult
from reshuffle.study import power, type1
from reshuffle.study.experiments import Experiment, Population, Selection
from reshuffle.study.rates import Dependence, rate_interval
from reshuffle.study.settings import DEFAULT_TESTS
from told import assert_raises


def scores(k: int = 2, n: int = 60, seed: int = 1) -> SegmentScores:
    rng = np.random.default_rng(seed)
    return SegmentScores("quality", {f"system {i}": rng.integers(0, 50, n) / 10 for i in range(k)})


def test_rates_are_those_of_a_loop_over_simulated_test_sets() -> None:
    quality = scores()
    study = type1(metrics=quality, tests=["ar", "bootstrap"], sizes=[20, 40], simulations=50, n_resamples=39)
    counts = quality.counts_of(list(quality.counts))
    experiment = Experiment([Population("", [quality], [counts])], Selection("replace", 20), 12345)
    drawn = [quality.segment_scores(experiment.data_set(i)[0]).round(1) for i in range(50)]
    for test, chosen in (("ar", "ar:scheme=iid"), ("bootstrap", "bootstrap")):
        pvalues = [
            compare(
                metrics=SegmentScores("quality", dict(zip("ab", own, strict=True))), test=chosen, interval=None,
                n_resamples=39, seed=derive_seed(12345, "simulation", i),
            ).comparisons[0].test.pvalue
            for i, own in enumerate(drawn)
        ]  # fmt: skip
        for alpha in (0.01, 0.05, 0.1):
            (rate,) = (each for each in study.rates if (each.test, each.size, each.alpha) == (test, 20, alpha))
            assert rate.rate == sum(p <= alpha for p in pvalues) / 50
            assert (rate.metric, rate.null, rate.simulations) == ("quality", "swap", 50)
        shares = [s for s in study.tables["pvalues"] if (s.test, s.size) == (test, 20)]
        assert [s.share for s in shares] == [sum(p <= s.p + 1e-12 for p in pvalues) / 50 for s in shares]
        assert shares[-1].p == shares[-1].share == 1


def test_pairs_of_systems_take_turns() -> None:
    quality = scores(3)
    study = type1(metrics=quality, tests="t-test", simulations=7, all_pairs=True)
    counts = quality.counts_of(list(quality.counts))
    pairs = [Population("", [quality], [counts[[y, x]]]) for x, y in ((0, 1), (0, 2), (1, 2))]
    experiment = Experiment(pairs, Selection(), 12345)
    drawn = [quality.segment_scores(experiment.data_set(i)[0]) for i in range(7)]
    pvalues = [scipy.stats.ttest_rel(*both).pvalue for both in drawn]
    shares = study.tables["pvalues"]
    assert [share.share for share in shares] == [sum(p <= share.p for p in pvalues) / 7 for share in shares]
    assert study.plan["systems"] == ["system 0", "system 1", "system 2"]
    first = type1(metrics=quality, tests="t-test", simulations=7)
    assert first.tables["pvalues"] != study.tables["pvalues"]


@pytest.mark.parametrize("n_resamples", [1, 2])
def test_ar_is_valid_at_every_level_by_enumeration(n_resamples: int) -> None:
    """P(p ≤ α) over all swaps of three units and all sets of R shuffles, equally likely: at most α = j/(R + 1)."""
    values = np.array([[1.0, 2.0, 4.0], [0.0, 0.0, 0.0]])
    patterns = [np.array(pattern) for pattern in itertools.product([False, True], repeat=3)]
    sets = [np.array(masks) for masks in itertools.product(patterns, repeat=n_resamples)]
    data = [np.where(pattern, values[::-1], values) for pattern in patterns]
    pvalues = np.array([[approximate_randomization(a, b, masks=masks).pvalue for a, b in data] for masks in sets])
    for alpha in (np.arange(n_resamples) + 1) / (n_resamples + 1):
        # Two of eight arrangements have each |t|, so ties are possible and the test is conservative, but not by much.
        assert 0.8 * alpha - 0.1 <= (pvalues <= alpha).mean() <= alpha


def coverage(rejected: NDArray[np.bool_], dependence: Dependence, truth: float) -> float:
    intervals = [rate_interval(row, dependence) for row in rejected]
    return float(np.mean([interval.low <= truth <= interval.high for interval in intervals]))


def test_intervals_of_clusters_cover_where_independent_ones_do_not() -> None:
    rng = np.random.default_rng(3)
    clusters = np.arange(600) % 30
    # The rates of clusters vary between them with mean .1.
    of_clusters = rng.beta(2, 18, size=(400, 30))
    rejected = rng.random((400, 600)) < of_clusters[:, clusters]
    assert 0.92 < coverage(rejected, Dependence(clusters=clusters), 0.1) < 0.98
    assert coverage(rejected, Dependence(), 0.1) < 0.9
    one = rate_interval(rejected[0], Dependence(clusters=np.zeros(600, dtype=np.intp)))
    assert (one.low, one.high) == (0, 1)
    alone = rate_interval(rejected[0], Dependence(clusters=np.arange(600)))
    assert alone == rate_interval(rejected[0])


@pytest.mark.slow
def test_intervals_of_shared_shuffles_cover_where_independent_ones_do_not() -> None:
    rng = np.random.default_rng(4)
    n, r, alpha = 2000, 199, 0.1
    shared = np.sort(rng.random((400, r)), axis=1)
    observed = rng.random((400, n))
    # p = (1 + #{shared ≥ observed})/(r + 1) ≤ α where fewer than α(r + 1) shared ones are as large.
    rejected = observed > shared[:, [-round(alpha * (r + 1))]]
    assert 0.92 < coverage(rejected, Dependence(shared_replicates=r), alpha) < 0.985
    assert coverage(rejected, Dependence(), alpha) < 0.6


@pytest.mark.parametrize(("n", "exceedances"), [(99, 20), (999, 100), (1000, 101)])
def test_stopping_leaves_all_rates_as_they_are(n: int, exceedances: int) -> None:
    """For 1,000 shuffles, α·(R + 1) is not a whole number."""
    settings: dict[str, Any] = {"tests": ["ar", "ar-studentized", "bootstrap"], "simulations": 40, "n_resamples": n}
    whole = type1(metrics=scores(), **settings)
    stopped = type1(metrics=scores(), **settings | {"tests": ["ar:stopping=besag-clifford", *settings["tests"][1:]]})
    assert stopped.rates == whole.rates
    assert stopped.tables["pvalues"] != whole.tables["pvalues"]
    assert (stopped.plan["stopping"], stopped.plan["exceedances"]) == ("besag-clifford", exceedances)
    assert whole.plan["stopping"] is None
    assert f"scheme:iid|stopping:besag-clifford|exceedances:{exceedances}|" in stopped.signature
    note = f"Shuffles end early, at {exceedances} exceedances"
    assert note in " ".join(stopped.render("text").split())
    assert note not in " ".join(whole.render("text").split())


def test_verdicts_compare_the_interval_with_the_level() -> None:
    def verdict(count: int) -> str:
        interval = rate_interval(np.arange(1000) < count)
        return Rate("ar", "BLEU", "swap", 500, 0.05, count / 1000, interval, 1000).verdict

    assert [verdict(count) for count in (20, 40, 50, 60, 80)] == [
        "conservative", "at its level", "at its level", "at its level", "liberal"
    ]  # fmt: skip


def test_settings_that_cannot_be_used_are_refused() -> None:
    assert_raises("python_errors_of_type1", globals())


def test_documents_are_the_units() -> None:
    quality = scores()
    documents = [i // 4 for i in range(60)]
    study = type1(metrics=quality, tests="ar", simulations=30, n_resamples=19, documents=documents)
    assert {rate.size for rate in study.rates} == {15}
    assert "In each document" in study.truths["swap"]
    values = quality.segment_scores(quality.counts_of(list(quality.counts)))
    sums = {name: row.reshape(15, 4).mean(axis=1) for name, row in zip("ab", values, strict=True)}
    of_sums = type1(metrics=SegmentScores("quality", sums), tests="ar", simulations=30, n_resamples=19)
    assert [rate.rate for rate in of_sums.rates] == [rate.rate for rate in study.rates]


@pytest.mark.parametrize("study", [type1, power])
def test_default_tests_are_those_that_have_the_alternative(study: Callable[..., StudyResult]) -> None:
    def tested(**arguments: Any) -> tuple[str, ...]:
        found = study(metrics=scores(), simulations=2, n_resamples=19, alphas=0.1, **arguments)
        return tuple(found.plan["tests"])

    assert tested() == DEFAULT_TESTS
    one_sided = tested(alternative="better")
    assert one_sided == tuple(name for name in DEFAULT_TESTS if name != "bootstrap-shift")


@pytest.mark.slow
def test_equal_scores_of_lengths_on_both_sides_of_the_reference_make_ar_liberal(wmt17: Corpus) -> None:
    """One system, and a copy that repeats random words, so that the brevity penalty bends between them.

    docs/evidence/size.md has larger sizes of ar, for copies that differ in little but their length.
    """
    rng = np.random.default_rng(7)
    lines = wmt17.systems["LIUM-NMT.4900"]
    longer = [" ".join(word for word in line.split() for _ in range(1 + (rng.random() < 0.06))) for line in lines]
    study = type1(
        wmt17.references, {"system": lines, "longer": longer}, null="equal-score:equalize=drop-words", sizes=1000,
        alphas=0.05, tests=["ar", "ar-studentized", "bootstrap-percentile"], n_resamples=199, simulations=1000,
    )  # fmt: skip
    ar, *others = (rate.rate for rate in study.rates)
    print(f"ar {ar}, ar-studentized, bootstrap-percentile: {others}")
    assert ar > 0.08 > max(others)
