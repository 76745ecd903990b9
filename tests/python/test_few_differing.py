"""Differences that rest on few segments: their influences, their default test, and their notes."""

import itertools
import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from benches.simulations import skewed_size
from known import known
from reshuffle import (
    Comparison,
    CorpusFunction,
    FromCounts,
    SegmentScores,
    TestSet,
    approximate_randomization,
    bootstrap_test,
    compare,
    compare_sets,
    read_corpus,
)
from reshuffle.inference.concentration import SEGMENTS_WITH_RARE, SKEWED
from reshuffle.inference.few_differing import FEW_DIFFERING, FOR_FEW
from reshuffle.inference.tests import DEFAULT
from reshuffle.results import Influence

Array = NDArray[np.float64]
OPTIONS: dict[str, Any] = {"interval": None, "n_resamples": 999}
LENGTH = CorpusFunction("length", lambda hypotheses, _: float(sum(map(len, hypotheses))))


def scores(*differences: Array) -> SegmentScores:
    """Systems that differ from the first one by these amounts in each segment."""
    zero = np.zeros(len(differences[0]))
    return SegmentScores("rating", {"a": zero, **dict(zip("bcdefgh", differences, strict=False))})


def few(n: int, segments: int = 2000) -> Array:
    """n differences of one sign and different sizes, in random places."""
    rng = np.random.default_rng(n)
    values = np.zeros(segments)
    values[rng.choice(segments, n, replace=False)] = 1 + rng.integers(5, size=n)
    return values


def noise(segments: int = 2000, seed: int = 1) -> Array:
    return np.round(np.random.default_rng(seed).normal(size=segments), 3)


def kinds(comparison: Comparison) -> list[str]:
    return [caveat.kind for caveat in comparison.caveats]


def influence(comparison: Comparison) -> Influence:
    """That of the units on the first difference."""
    return known(comparison.comparisons[0].influence)


def shown(comparison: Comparison) -> str:
    return " ".join(str(comparison).split())


# --- Influences


def slow_influence(formula: Any, a: Any, b: Any) -> tuple[int, float, float]:
    """By a loop over the units, with a numerical derivative in the direction of each unit's difference."""
    middle = (a.sum(axis=0) + b.sum(axis=0)) / 2
    step, values, differing = 1e-5, [], 0
    for x, y in zip(a, b, strict=True):
        delta = x - y
        differing += any(d != 0 for d in delta)
        values.append((formula(middle + step * delta) - formula(middle - step * delta)) / (2 * step))
    mean = sum(values) / len(values)
    second = sum((v - mean) ** 2 for v in values) / len(values)
    third = sum((v - mean) ** 3 for v in values) / len(values)
    return differing, sum(map(abs, values)) ** 2 / sum(v * v for v in values), third / second**1.5


@pytest.mark.parametrize("documents", [False, True])
def test_influences_are_those_of_a_slow_loop(documents: bool) -> None:
    rng = np.random.default_rng(5)
    a = rng.integers(5, 60, (80, 2))
    b = a.copy()
    b[::3] += rng.integers(-4, 4, b[::3].shape)

    def formula(totals: Any) -> Any:
        return totals[..., 0] ** 2 / (totals[..., 1] * 3000.0)

    ids = [i // 4 for i in range(80)] if documents else None
    found = influence(compare(metrics=FromCounts("m", {"b": b, "a": a}, formula), documents=ids, **OPTIONS))
    if documents:
        a, b = a.reshape(20, 4, 2).sum(axis=1), b.reshape(20, 4, 2).sum(axis=1)
    differing, effective, skewness = slow_influence(formula, a, b)
    assert found.differing == differing
    assert found.effective == pytest.approx(effective, rel=2e-3)
    assert found.skewness == pytest.approx(skewness, rel=1e-2, abs=1e-2)


def test_unknown_influences_are_none() -> None:
    texts = influence(compare(["a b", "c d"], {"x": ["a b", "c"], "y": ["a", "c"]}, LENGTH, **OPTIONS))
    assert (texts.differing, texts.effective, texts.skewness) == (1, None, None)
    comparison = compare(metrics=scores(np.zeros(50)), **OPTIONS)
    assert (influence(comparison).differing, influence(comparison).effective) == (0, None)
    assert comparison.comparisons[0].test.pvalue == 1
    constant = influence(compare(metrics=scores(np.ones(50)), **OPTIONS))
    assert (constant.effective, constant.skewness) == (50, 0)


def test_missing_scores_leave_out_their_segments() -> None:
    values = few(6, 50)
    values[np.flatnonzero(values == 0)[:4]] = math.nan
    own = SegmentScores("rating", {"a": np.zeros(50), "b": values}, missing="pairwise")
    pair = compare(metrics=own, **OPTIONS).comparisons[0]
    assert (pair.n_units, known(pair.influence).differing, pair.test.test) == (46, 6, FOR_FEW)


# --- The default test


def test_five_of_two_thousand_segments_get_an_exact_test() -> None:
    differences = np.zeros(2000)
    differences[[3, 50, 700, 1200, 1999]] = 1
    own = scores(differences)
    assert compare(metrics=own, test=DEFAULT).comparisons[0].test.pvalue == pytest.approx(0.0374, abs=0.004)
    comparison = compare(metrics=own)
    test = comparison.comparisons[0].test
    assert (test.test, test.scheme, test.pvalue, test.seed) == ("ar", "exact", 0.0625, None)
    assert known(comparison.test).name == "ar"
    assert "b and a differ in 5 of 2,000 segments" in shown(comparison)
    assert "The 5 segments that differ can be swapped in only 32 ways" in shown(comparison)
    assert "test:auto" in comparison.signature


def test_notes_about_few_segments_do_not_contradict_one_another() -> None:
    """Outputs of very different length are not exchangeable, but draws of twelve segments are no remedy."""
    rng = np.random.default_rng(1)
    words = np.stack([rng.integers(1, 4, 12), rng.integers(20, 60, 12)])
    right = (words * rng.random((2, 12))).astype(int)
    counts = {system: np.stack([right[i], words[i]], axis=1) for i, system in enumerate("ab")}
    metric = FromCounts("X", counts, lambda totals: 100 * totals[..., 0] / totals[..., 1])
    assert "so ar rejects too rarely. " in shown(compare(metrics=metric))
    assert "so ar rejects too rarely; use" in shown(compare(metrics=metric, test="ar"))


@pytest.mark.parametrize("n", [1, 5, 13, 20, FEW_DIFFERING - 1])
@pytest.mark.parametrize("alternative", ["two-sided", "greater"])
def test_the_p_of_few_is_that_of_ar(n: int, alternative: str) -> None:
    differences = few(n)
    given: dict[str, Any] = {"metrics": scores(differences), "alternative": alternative, "n_resamples": 1_999}
    by_default, by_name = (compare(test=test, **given).comparisons[0] for test in ("auto", "ar"))
    assert by_default.test == by_name.test
    assert by_default.null == by_name.null
    assert by_default.exchangeability == by_name.exchangeability
    alone = approximate_randomization(differences, np.zeros(2000), alternative=alternative, n_resamples=1_999)
    assert by_default.test.pvalue == alone.pvalue
    if n <= 13:
        sums = [sum(s) for s in itertools.product(*((-d, d) for d in differences[differences != 0]))]
        extreme = [abs(s) >= differences.sum() if alternative == "two-sided" else s >= differences.sum() for s in sums]
        assert by_default.test.pvalue == pytest.approx(np.mean(extreme))


@pytest.mark.parametrize("n", [0, FEW_DIFFERING, 200])
def test_other_pairs_keep_the_bootstrap(n: int) -> None:
    given: dict[str, Any] = {"metrics": scores(few(n)), **OPTIONS}
    by_default, by_name = compare(**given), compare(test=DEFAULT, **given)
    assert by_default == by_name
    assert "few-differing" not in kinds(by_default)


def test_a_test_by_name_is_respected_with_a_note() -> None:
    for test, noted in (("bootstrap", True), ("t-test", True), ("ar", False), ("sign-test", False)):
        comparison = compare(metrics=scores(few(8)), test=test, **OPTIONS)
        assert comparison.comparisons[0].test.test == test
        assert ("few-differing" in kinds(comparison)) == noted
        assert (f"{test} is unreliable; use ar." in shown(comparison)) == noted


@pytest.mark.parametrize("threads", [1, 3])
def test_one_pair_of_near_copies_does_not_change_the_test_of_others(threads: int) -> None:
    base = noise()
    own = scores(base, base + few(6), noise(seed=2) + 0.2)
    given: dict[str, Any] = {"metrics": own, "all_pairs": True, **OPTIONS}
    by_default, by_name = (compare(**given, test=test, workers=threads) for test in ("auto", DEFAULT))
    assert by_default.comparisons != by_name.comparisons
    for pair, other in zip(by_default.comparisons, by_name.comparisons, strict=True):
        if {pair.system, pair.baseline} == {"b", "c"}:
            exact = approximate_randomization(base + few(6), base, n_resamples=999).pvalue
            assert (pair.test.test, pair.test.pvalue) == (FOR_FEW, exact)
            # A star needs both the maxT of the draws and p ≤ α/m.
            assert pair.test.adjusted_pvalue == max(other.test.adjusted_pvalue or 0, min(6 * exact, 1))
        else:
            assert (pair.test, pair.confidence_interval) == (other.test, other.confidence_interval)
    assert by_default.test == by_name.test
    assert "1 of 6 tests exact" in shown(by_default)
    raised = "For 1 pair with few differing segments, adjusted p is at least 6 times p (Bonferroni), so it may exceed"
    assert (raised in shown(by_default), raised in shown(by_name)) == (True, False)
    assert by_default.detectable[0].left_out == (("c", "b"),)
    assert "; without c − b, which differ too little." in shown(by_default)
    assert by_default == compare(**given, workers=2)


def test_captions_say_which_p_are_of_another_test() -> None:
    said = "approximate randomization for 1 of 2 tests, where the systems differ in few segments."
    for fmt in ("latex", "typst"):
        assert said in compare(metrics=scores(few(5), noise()), **OPTIONS).render(fmt)
        assert said not in compare(metrics=scores(noise(), noise(seed=2)), **OPTIONS).render(fmt)


def test_where_all_pairs_differ_in_few_segments_the_whole_comparison_is_that_of_ar() -> None:
    own = scores(few(8, 60), few(9, 60), few(12, 60))
    by_default, by_name = (compare(metrics=own, all_pairs=True, test=test, **OPTIONS) for test in ("auto", "ar"))
    assert [pair.test for pair in by_default.comparisons] == [pair.test for pair in by_name.comparisons]
    assert (by_default.test, by_default.rankings) == (by_name.test, by_name.rankings)


def test_adjustments_of_p_values_get_the_p_of_ar() -> None:
    own = scores(few(7), noise(seed=2))
    comparison = compare(metrics=own, all_pairs=True, adjust="bonferroni", **OPTIONS)
    (pair,) = (pair for pair in comparison.comparisons if pair.test.test == FOR_FEW)
    assert pair.test.adjusted_pvalue == pytest.approx(min(1, 3 * pair.test.pvalue))


def test_simultaneous_intervals_keep_their_test() -> None:
    own = scores(few(6), noise(seed=2))
    comparison = compare(metrics=own, all_pairs=True, interval="simultaneous", n_resamples=999)
    assert {pair.test.test for pair in comparison.comparisons} == {DEFAULT}
    assert "few-differing" in kinds(comparison)


def test_functions_of_texts_and_documents_are_counted_in_their_units() -> None:
    references = ["a b c"] * 60
    other = ["a b" if i < 12 else line for i, line in enumerate(references)]
    documents = [i // 3 for i in range(60)]
    for metrics in (LENGTH, "bleu"):
        given: dict[str, Any] = {"metrics": metrics, "interval": None, "n_resamples": 99}
        pair = compare(references, {"x": references, "y": other}, documents=documents, **given).comparisons[0]
        assert (known(pair.influence).differing, pair.test.test, pair.test.n_resamples) == (4, FOR_FEW, 16)


def test_test_sets_are_decided_one_by_one() -> None:
    sets = {name: TestSet(metrics=scores(own)) for name, own in (("few", few(5)), ("many", noise() + 0.5))}
    result = compare_sets(sets, interval=None, n_resamples=999)
    assert [result[name].comparisons[0].test.test for name in sets] == [FOR_FEW, DEFAULT]
    assert known(result.average).comparisons[0].test.test == DEFAULT
    assert "test:auto" in result.signature


# --- Notes


def simulated(case: str, block: int, replicates: int) -> tuple[Array, Array]:
    """The differences of the samples of a case, and the p-values of the default test."""
    differences, rng = skewed_size.samples(case, block)
    n = differences.shape[1]
    weights = rng.multinomial(n, [1 / n] * n, size=replicates).astype(float)
    signs = rng.choice([-1.0, 1.0], size=(replicates, n))
    return differences, skewed_size.pvalues(differences, weights, signs)["default"]


@pytest.mark.parametrize("case", skewed_size.CASES)
def test_what_is_rejected_above_the_level_has_its_note(case: str) -> None:
    """In all cases of the table of docs/evidence/skewed.md with a size above .07."""
    if "MQM" in case and "RESHUFFLE_DATA" not in os.environ:
        pytest.skip("RESHUFFLE_DATA is not set")
    differences, p = simulated(case, 0, 299)
    rejected = np.flatnonzero(p <= 0.03)
    if len(rejected) / len(differences) < 0.05:
        return  # not above the level
    found = [compare(metrics=scores(differences[number]), **OPTIONS) for number in rejected[:3]]
    stars = [each for each in found if each.comparisons[0].is_significant(0.05)]
    assert stars
    noted = [bool({"few-differing", "skewed", "rare-segments"} & set(kinds(each))) for each in stars]
    assert np.mean(noted) >= 0.9


def test_the_notes_say_how_much_a_difference_rests_on() -> None:
    skewed = np.round(np.random.default_rng(3).lognormal(0, 1.5, 100) + 0.5, 3)
    comparison = compare(metrics=scores(skewed), **OPTIONS)
    (caveat,) = (caveat for caveat in comparison.caveats if caveat.kind == "skewed")
    found = influence(comparison)
    assert caveat.values["effective"] == found.effective
    enough = SKEWED * known(found.skewness) ** 2
    assert 100 < enough <= caveat.values["enough"] < enough + 100  # two digits, upwards


def test_small_test_sets_may_lack_a_kind_of_segment() -> None:
    for n, noted in ((100, True), (SEGMENTS_WITH_RARE - 1, True), (SEGMENTS_WITH_RARE, False)):
        comparison = compare(metrics=scores(noise(n) + 1), **OPTIONS)
        assert kinds(comparison) == (["rare-segments"] if noted else [])
        assert (f"such a test set with probability {0.99**n:.0%}" in shown(comparison)) == noted
    assert 0.99**SEGMENTS_WITH_RARE < 0.05 < 0.99 ** (SEGMENTS_WITH_RARE - 1)
    assert kinds(compare(metrics=scores(noise(100)), **OPTIONS)) == []


# --- The table of sizes


def test_the_simulation_computes_the_tests_of_the_package() -> None:
    """The same draws and swaps give the same p-values."""
    rng = np.random.default_rng(8)
    n, r = 25, 199
    differences = np.round(rng.lognormal(size=(4, n)) - 1.3, 2) * (rng.random((4, n)) < 0.8)
    indices = rng.integers(n, size=(r, n))
    weights = np.array([np.bincount(row, minlength=n) for row in indices], dtype=float)
    masks = rng.integers(2, size=(r, n)).astype(bool)
    found = skewed_size.pvalues(differences, weights, np.where(masks, -1.0, 1.0))
    for i, row in enumerate(differences):
        zero = np.zeros(n)
        for test in ("bootstrap-both", "bootstrap-percentile"):
            assert found[test][i] == bootstrap_test(row, zero, test=test, indices=indices).pvalue
        assert found["ar"][i] == approximate_randomization(row, zero, masks=masks).pvalue
        own = influence(compare(metrics=scores(row), **OPTIONS))
        differing, effective, skewness = skewed_size.influences(row[None])
        assert own.differing == differing[0]
        assert (own.effective, own.skewness) == pytest.approx((effective[0], skewness[0]), rel=1e-3)


@pytest.mark.slow
def test_notes_are_rare_on_pairs_of_real_systems(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    noted: list[Sequence[str]] = []
    for folder in (data / name for name in ("wmt17-en-de", "wmt19-en-de", "wmt21-en-de")):
        corpus = read_corpus([str(min(folder.glob("ref*.txt")))], sorted(map(str, (folder / "sys").iterdir())))
        options: dict[str, Any] = {"all_pairs": True, "interval": None, "n_resamples": 499}
        comparison = compare(corpus.references, corpus.systems, ["bleu", "chrf", "ter"], **options)
        noted += [pair.caveats for pair in comparison.comparisons]
    share = np.mean([bool({"few-differing", "skewed", "rare-segments"} & set(each)) for each in noted])
    with capsys.disabled():
        print(f"\n{share:.4f} of {len(noted):,} pairs have a note")
    assert share <= 0.02


@pytest.mark.slow
@pytest.mark.parametrize(
    "case", ["normal, 10", "normal, 20", "normal, 30", "symmetric, 5 of 2,000 differ", "symmetric, 20 of 2,000 differ"]
)
def test_the_default_keeps_its_level_with_few_exchangeable_differences(case: str) -> None:
    assert np.mean([simulated(case, block, 999)[1] <= 0.05 for block in range(8)]) <= 0.07
