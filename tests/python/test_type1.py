"""Studies of type-I errors and of families: the rates, their intervals, and what cannot be studied."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.stats
from numpy.typing import NDArray

from known import known
from reshuffle import Corpus, InputError, SegmentScores, approximate_randomization, compare, derive_seed, metric
from reshuffle.inference.multiplicity import ADJUSTMENTS
from reshuffle.resampling.counting import Data
from reshuffle.results.studies import FamilyWiseRate, Rate, StudyResult
from reshuffle.settings import Resampling, Units
from reshuffle.study import multiplicity, power, type1
from reshuffle.study.experiments import Experiment, Population, Selection
from reshuffle.study.material import Material
from reshuffle.study.multiplicity import VARIANCES, Family
from reshuffle.study.null_data import NullOptions, Request
from reshuffle.study.rates import Dependence, rate_interval
from reshuffle.study.settings import DEFAULT_TESTS, StudySettings
from texts import translations
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


# --- Families of systems with equal scores: family-wise error rates


BLEU, TER = metric("bleu"), metric("ter")


def rates(study: StudyResult) -> dict[tuple[str, str, str], FamilyWiseRate]:
    return {(rate.test, rate.adjustment, rate.variances): rate for rate in study.tables["family_wise"]}


def test_outputs_are_permuted_in_each_unit_and_drawn_with_the_seed_of_the_simulation() -> None:
    counts = np.arange(4)[:, None] + 10 * np.arange(300)
    population = Family([0], [counts[:, :, None]], True)
    seed = derive_seed(1, "simulation", 3)
    (drawn,) = population.data_set(seed, "replace", 3000, 3)
    assert drawn.shape == (3, 3000, 1)
    assert (drawn // 10 == drawn[0] // 10).all()  # all systems have the same segments
    orders, times = np.unique(drawn[..., 0] % 10, axis=1, return_counts=True)
    assert (np.sort(orders, axis=0) == np.arange(3)[:, None]).all()
    assert orders.shape[1] == 6
    assert times.min() > 400  # 500 expected, standard deviation 20
    (again,) = population.data_set(seed, "replace", 3000, 3)
    assert np.array_equal(drawn, again)
    (other,) = population.data_set(derive_seed(1, "simulation", 4), "replace", 3000, 3)
    assert not np.array_equal(drawn, other)
    (fixed,) = Family([0], [counts[:, :, None]], False).data_set(seed, "fixed", 300, 4)
    assert np.array_equal(fixed[..., 0], counts)
    (subset,) = Family([0], [counts[:, :, None]], False).data_set(seed, "subset", 30, 4)
    assert len(np.unique(subset[0])) == 30


@pytest.mark.parametrize(("equalize", "family"), [("mix", 3), ("drop-words", 4)])
def test_systems_of_unequal_variances_have_equal_scores(equalize: str, family: int) -> None:
    references, systems = translations(100, 0.9, 0.85, 0.8, 0.7)
    data = Data.from_arguments(references, systems, [BLEU, TER])
    material = Material.from_data(data, Units(), Resampling())
    request = Request(material, NullOptions(equalize=equalize), StudySettings())
    populations, truth = VARIANCES["unequal"](request, family)
    for m, population in enumerate(populations):
        assert not population.permuted
        (counts,) = population.counts
        assert len(counts) == family
        scores = material.metrics[m].score(counts.sum(axis=1))
        assert np.ptp(scores) < 0.05
        assert np.ptp(material.metrics[m].score(material.counts[m].sum(axis=1))) > 5
    assert "BLEU: " in truth
    assert "TER: " in truth
    if equalize == "mix":
        with pytest.raises(InputError, match="4 systems make families of at most 3 with equal scores"):
            VARIANCES["unequal"](request, 4)


@pytest.mark.parametrize("test", ["ar", "bootstrap", "permutation", "anova"])
def test_rates_are_those_of_comparisons_in_a_loop(test: str) -> None:
    quality, own = scores(3, 30), "maxt" if test in ("ar", "bootstrap") else "tukey"
    study = multiplicity(
        metrics=quality, variances="equal", tests=test, adjustments=["none", "hommel", own], simulations=10,
        n_resamples=99, alphas=[0.1, 0.3], sizes=20,
    )  # fmt: skip
    population = Family([0], [quality.counts_of(list(quality.counts))], True)
    options: dict[str, Any] = {"test": "ar:scheme=iid" if test == "ar" else test, "n_resamples": 99, "interval": None}
    smallest: dict[str, list[float]] = {}
    for i in range(10):
        seed = derive_seed(12345, "simulation", i)
        (drawn,) = population.data_set(seed, "replace", 20, 3)
        values = SegmentScores("quality", dict(zip("abc", quality.segment_scores(drawn), strict=True)))
        for adjust in ("none", "hommel", own):
            found = compare(metrics=values, adjust=adjust, all_pairs=True, seed=seed, **options).comparisons
            p = [pair.test.pvalue if adjust == "none" else pair.test.adjusted_pvalue for pair in found]
            smallest.setdefault(adjust, []).append(min(map(known, p)))
    for rate in study.tables["family_wise"]:
        assert rate.rate == np.mean([p <= rate.alpha for p in smallest[rate.adjustment]])
        assert rate.independent == pytest.approx(1 - (1 - rate.alpha) ** 3)
        assert (rate.systems, rate.pairs, rate.size, rate.simulations) == (3, 3, 20, 10)


def test_each_test_has_the_adjustments_that_it_supports() -> None:
    study = multiplicity(
        metrics=scores(4, 50), simulations=2, n_resamples=19, variances="equal", tests=["ar", "permutation"]
    )
    of_pvalues = [name for name, each in ADJUSTMENTS.items() if not each.from_replicates]
    found = [(rate.test, rate.adjustment) for rate in study.tables["family_wise"]]
    own = {"ar": ("maxt", "minp"), "permutation": ("tukey",)}
    expected = [(test, name) for test, names in own.items() for name in ("none", *of_pvalues, *names)]
    assert sorted(found) == sorted(expected)
    some = multiplicity(metrics=scores(4, 50), simulations=2, n_resamples=19, adjustments=["holm", "tukey"])
    found = [(rate.test, rate.adjustment) for rate in some.tables["family_wise"]]
    tests = ("ar", "bootstrap-both", "bootstrap", "permutation")
    assert {*found} == {("permutation", "tukey"), *((test, "holm") for test in tests)}


def test_families_of_several_sizes_and_kinds() -> None:
    references, systems = translations(100, 0.9, 0.85, 0.8)
    study = multiplicity(
        references, systems, ["bleu", "ter"], n_systems=[3, 2], tests="bootstrap", adjustments=["none", "maxt"],
        simulations=3, n_resamples=19, sizes=40,
    )  # fmt: skip
    found = [(rate.variances, rate.systems, rate.metric) for rate in study.tables["family_wise"]]
    expected = [(v, k, m) for v in ("equal", "unequal") for k in (2, 3) for m in ("BLEU", "TER")]
    assert list(dict.fromkeys(found)) == expected
    assert study.plan["equalize"] == "drop-words"
    assert list(study.truths) == ["equal", "unequal"]
    assert "|variances:equal,unequal|n_systems:3,2|" in study.signature


def test_rates_say_whether_there_are_enough_replicates() -> None:
    study = multiplicity(metrics=scores(4, 50), simulations=2, n_resamples=99, variances="equal", tests=["ar", "anova"])
    enough = {(rate.test, rate.adjustment): rate.enough_replicates for rate in study.tables["family_wise"]}
    # Six pairs: 6/100 > .05.
    assert not enough["ar", "holm"]
    assert enough["ar", "maxt"]
    assert enough["ar", "none"]
    assert enough["anova", "holm"]
    more = multiplicity(metrics=scores(4, 50), simulations=2, n_resamples=119, variances="equal", tests="ar")
    assert all(rate.enough_replicates for rate in more.tables["family_wise"])


def test_families_that_cannot_be_made_are_refused() -> None:
    assert_raises("python_errors_of_family_study", globals())


def test_unadjusted_tests_of_a_family_reject_too_often_and_maxt_does_not() -> None:
    study = multiplicity(
        metrics=scores(5, 40), tests="ar", adjustments=["none", "maxt"], simulations=400, n_resamples=99, alphas=0.1,
        variances="equal",
    )  # fmt: skip
    found = rates(study)
    assert found["ar", "none", "equal"].verdict == "liberal"
    assert 0.3 < found["ar", "none", "equal"].rate < found["ar", "none", "equal"].independent
    assert found["ar", "maxt", "equal"].verdict == "at its level"


def test_text_says_what_is_wrong_with_rates() -> None:
    study = multiplicity(
        metrics=scores(5, 40), tests=["ar", "permutation"], adjustments=["none", "holm", "maxt", "tukey"],
        simulations=80, n_resamples=99, sizes=[20, 40], alphas=[0.05, 0.3],
    )  # fmt: skip
    text = " ".join(study.render("text").split())
    assert "quality, 5 systems, 10 pairs, equal variances, 80 simulations" in text
    assert "quality, 4 systems, 6 pairs, unequal variances, 80 simulations" in text
    rate = study.tables["family_wise"][0]
    assert (
        f"Without adjustment, ar rejects one or more of 10 true null hypotheses in {100 * rate.rate:.1f}% of the test "
        "sets at α = 0.05 (quality, equal variances); independent tests would in 40.1%." in text
    )
    assert "‡: too few replicates for one small p among larger ones" in text
    assert "With 199 replicates, all adjustments could reject for one small p." in text
