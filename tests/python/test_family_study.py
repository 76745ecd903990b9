"""Studies of multiple tests: families of systems with equal scores, and their family-wise error rates."""

from typing import Any

import numpy as np
import pytest

from known import known
from reshuffle import InputError, SegmentScores, compare, derive_seed, metric
from reshuffle.inference.multiplicity import ADJUSTMENTS
from reshuffle.resampling.counting import Data
from reshuffle.results.studies import FamilyWiseRate, StudyResult
from reshuffle.settings import Resampling, Units
from reshuffle.study import multiplicity
from reshuffle.study.material import Material
from reshuffle.study.multiplicity import VARIANCES, FamilyPopulation
from reshuffle.study.null_data import NullOptions, Request
from reshuffle.study.settings import StudySettings
from texts import translations
from told import assert_raises

BLEU, TER = metric("bleu"), metric("ter")


def scores(k: int = 4, n: int = 50, seed: int = 1) -> SegmentScores:
    rng = np.random.default_rng(seed)
    return SegmentScores("quality", {f"system {i}": rng.integers(0, 50, n) / 10 for i in range(k)})


def rates(study: StudyResult) -> dict[tuple[str, str, str], FamilyWiseRate]:
    return {(rate.test, rate.adjustment, rate.variances): rate for rate in study.tables["family_wise"]}


def test_outputs_are_permuted_in_each_unit_and_drawn_with_the_seed_of_the_simulation() -> None:
    counts = np.arange(4)[:, None] + 10 * np.arange(300)
    population = FamilyPopulation([0], [counts[:, :, None]], True)
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
    (fixed,) = FamilyPopulation([0], [counts[:, :, None]], False).data_set(seed, "fixed", 300, 4)
    assert np.array_equal(fixed[..., 0], counts)
    (subset,) = FamilyPopulation([0], [counts[:, :, None]], False).data_set(seed, "subset", 30, 4)
    assert len(np.unique(subset[0])) == 30


@pytest.mark.parametrize(("equalize", "family"), [("mix", 3), ("drop-words", 4)])
def test_systems_of_unequal_variances_have_equal_scores(equalize: str, family: int) -> None:
    references, systems = translations(100, 0.9, 0.85, 0.8, 0.7)
    data = Data.from_arguments(references, systems, [BLEU, TER])
    material = Material.from_data(data, Units(), Resampling())
    request = Request(material, NullOptions(equalize=equalize), StudySettings())
    found = VARIANCES["unequal"](request, family)
    for m, population in enumerate(found.populations):
        assert not population.permuted
        (counts,) = population.counts
        assert len(counts) == family
        scores = material.metrics[m].score(counts.sum(axis=1))
        assert np.ptp(scores) < 0.05
        assert np.ptp(material.metrics[m].score(material.counts[m].sum(axis=1))) > 5
    assert "BLEU: " in found.truth
    assert "TER: " in found.truth
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
    population = FamilyPopulation([0], [quality.counts_of(list(quality.counts))], True)
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
        metrics=scores(), simulations=2, n_resamples=19, variances="equal", tests=["ar", "permutation"]
    )
    of_pvalues = [name for name, each in ADJUSTMENTS.items() if not each.from_replicates]
    found = [(rate.test, rate.adjustment) for rate in study.tables["family_wise"]]
    own = {"ar": ("maxt", "minp"), "permutation": ("tukey",)}
    expected = [(test, name) for test, names in own.items() for name in ("none", *of_pvalues, *names)]
    assert sorted(found) == sorted(expected)
    some = multiplicity(metrics=scores(), simulations=2, n_resamples=19, adjustments=["holm", "tukey"])
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
    study = multiplicity(metrics=scores(), simulations=2, n_resamples=99, variances="equal", tests=["ar", "anova"])
    enough = {(rate.test, rate.adjustment): rate.enough_replicates for rate in study.tables["family_wise"]}
    # Six pairs: 6/100 > .05.
    assert not enough["ar", "holm"]
    assert enough["ar", "maxt"]
    assert enough["ar", "none"]
    assert enough["anova", "holm"]
    more = multiplicity(metrics=scores(), simulations=2, n_resamples=119, variances="equal", tests="ar")
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
