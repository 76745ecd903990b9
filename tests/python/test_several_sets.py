"""Several test sets: their averages beside slow implementations and enumeration, families over them, manifests."""

import io
import json
import math
import re
import sys
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.special import ndtri

import reshuffle
from budgets import budget
from known import ends, known
from margins import with_margins
from meteor_files import write_meteor
from reshuffle import (
    CorpusFunction,
    Formula,
    FromCounts,
    InputError,
    SegmentScores,
    SetComparison,
    TestSet,
    compare,
    compare_sets,
    derive_seed,
    toml,
)
from reshuffle.inference.multiplicity import ADJUSTMENTS
from reshuffle.inference.tests import TESTS
from reshuffle.results import may_lie_across
from step_down import step_down
from test_resampling import BLEU, flips, random_counts, weights
from told import assert_raises, assert_refused, assert_told, beyond_the_first, command
from unnamed import unnamed

Counts: TypeAlias = "NDArray[np.int64]"
SEED = 7


def counted(counts: Counts, name: str = "BLEU", metric: Any = BLEU) -> FromCounts:
    return FromCounts(name, {f"s{i}": rows for i, rows in enumerate(counts)}, metric)


def sets_of(*counts: Counts, **options: Any) -> dict[str, TestSet]:
    return {f"set{t}": TestSet(metrics=counted(rows), **options) for t, rows in enumerate(counts)}


def average(result: SetComparison) -> reshuffle.Comparison:
    return known(result.average)


def random_sets(seed: int, systems: int, sizes: Sequence[int]) -> list[Counts]:
    return [random_counts(seed + t, systems, size) for t, size in enumerate(sizes)]


def scores(counts: Counts) -> NDArray[np.float64]:
    return BLEU.score(counts.sum(axis=-2))


def drawn_scores(sets: Sequence[Counts], n: int) -> NDArray[np.float64]:
    """The average of every system on every draw, from the generator up: (k, n)."""
    by_set = []
    for t, counts in enumerate(sets):
        seed = derive_seed(SEED, "test-set", t)
        drawn = [weights(seed, r, counts.shape[1]) for r in range(n)]
        by_set.append(np.array([BLEU.score(np.einsum("s,ksc->kc", w, counts)) for w in drawn]).T)
    return np.asarray(np.mean(by_set, axis=0))


def shuffled_differences(sets: Sequence[Counts], a: int, b: int, n: int) -> NDArray[np.float64]:
    """The difference of two averages on every shuffle, from the generator up: (n,)."""
    out = np.zeros(n)
    for t, counts in enumerate(sets):
        seed = derive_seed(SEED, "test-set", t)
        for r in range(n):
            flip = flips(seed, r, counts.shape[1])[:, None]
            x, y = np.where(flip, counts[b], counts[a]), np.where(flip, counts[a], counts[b])
            out[r] += float(BLEU.score(x.sum(axis=0)) - BLEU.score(y.sum(axis=0))) / len(sets)
    return out


@settings(max_examples=budget(8))
@given(st.integers(0, 1000), st.integers(2, 3))
def test_the_shuffles_of_an_average_are_the_means_of_those_of_the_test_sets(seed: int, n_sets: int) -> None:
    sets, n = random_sets(seed, 3, (30, 17, 9)[:n_sets]), 79
    found = average(
        compare_sets(sets_of(*sets), test="ar", adjust="maxt", all_pairs=True, n_resamples=n, seed=SEED, interval=None)
    )
    observed = np.mean([scores(counts) for counts in sets], axis=0)
    differences = np.array(
        [shuffled_differences(sets, int(p.system[1]), int(p.baseline[1]), n) for p in found.comparisons]
    )
    statistic = np.array([observed[int(p.system[1])] - observed[int(p.baseline[1])] for p in found.comparisons])
    np.testing.assert_allclose([p.difference for p in found.comparisons], statistic, rtol=1e-12)
    reached = (np.abs(differences) >= np.abs(statistic)[:, None] - 1e-9).sum(axis=1)
    assert [p.test.exceedances for p in found.comparisons] == reached.tolist()
    scales = np.sqrt((differences**2).mean(axis=1))
    expected = step_down(np.abs(differences) / scales[:, None], np.abs(statistic) / scales)
    assert [p.test.adjusted_pvalue for p in found.comparisons] == pytest.approx(expected.tolist())


def test_bootstrap_tests_of_an_average_use_the_means_of_the_draws() -> None:
    sets, n = random_sets(6, 3, (40, 25)), 99
    drawn = drawn_scores(sets, n)
    observed = np.mean([scores(counts) for counts in sets], axis=0)
    for test in ("bootstrap", "bootstrap-percentile", "bootstrap-both", "bootstrap-shift", "paired-bootstrap"):
        found = average(compare_sets(sets_of(*sets), test=test, adjust="none", n_resamples=n, seed=SEED))
        for pair in found.comparisons:
            i = int(pair.system[1])
            d, b = observed[i] - observed[0], drawn[i] - drawn[0]
            reached = {
                "bootstrap": (np.abs(b - d) >= abs(d) - 1e-9).sum(),
                "bootstrap-shift": (np.abs(b) - np.abs(b).mean() >= abs(d) - 1e-9).sum(),
                "paired-bootstrap": (b * np.sign(d) <= 0).sum(),
            }
            expected = {name: (count + 1) / (n + 1) for name, count in reached.items()}
            one_side = min((b <= 1e-9).sum(), (b >= -1e-9).sum())
            expected["bootstrap-percentile"] = min(1, 2 * (one_side + 1) / (n + 1))
            expected["bootstrap-both"] = max(expected["bootstrap"], expected["bootstrap-percentile"])
            assert pair.test.pvalue == pytest.approx(expected[test], rel=1e-12)
            np.testing.assert_allclose(ends(pair), np.sort(b)[[1, -2]], atol=1e-9)  # k = .05·100/2 = 2


def test_permutations_of_an_average_are_the_means_of_those_of_the_test_sets() -> None:
    from reshuffle import _core

    sets, n = random_sets(1, 3, (20, 31)), 120
    means = np.zeros((3, n))
    for t, counts in enumerate(sets):
        for r in range(n):
            labels = np.asarray(_core.permutations(derive_seed(SEED, "test-set", t), r, 3, counts.shape[1]))
            rows = np.stack([counts[labels[:, i], np.arange(counts.shape[1])] for i in range(3)])
            means[:, r] += scores(rows) / 2
    found = average(compare_sets(sets_of(*sets), test="permutation", all_pairs=True, n_resamples=n, seed=SEED))
    ranges = np.ptp(means, axis=0)
    for pair in found.comparisons:
        d = means[int(pair.system[1])] - means[int(pair.baseline[1])]
        assert pair.test.exceedances == (np.abs(d) >= abs(pair.difference) - 1e-9).sum()
        assert pair.test.adjusted_pvalue == ((ranges >= abs(pair.difference) - 1e-9).sum() + 1) / (n + 1)


@pytest.mark.parametrize("with_documents", [False, True])
def test_intervals_without_percentiles_are_those_of_independent_samples(with_documents: bool) -> None:
    sets = random_sets(5, 3, (60, 35))
    ids = [[s // 4 for s in range(counts.shape[1])] if with_documents else None for counts in sets]
    named = {
        f"set{t}": TestSet(metrics=counted(c), documents=i) for t, (c, i) in enumerate(zip(sets, ids, strict=True))
    }
    for interval in ("delta", "jackknife"):
        found = average(compare_sets(named, test="ar", n_resamples=9, interval=interval))
        squared = np.zeros(2)
        for counts, own in zip(sets, ids, strict=True):
            options: dict[str, Any] = {"method": interval, "documents": own}
            errors = [reshuffle.standard_error(counts[2], BLEU, b=b, **options) for b in (None, counts[0])]
            squared += np.square(errors) / 4
        pair = found.pair("s2")
        both = [known(each.confidence_interval) for each in (found.score("s2"), pair)]
        widths = [each.high - each.low for each in both]
        np.testing.assert_allclose(widths, 2 * ndtri(0.975) * np.sqrt(squared), rtol=1e-9)
        assert both[1].high + both[1].low == pytest.approx(2 * pair.difference)


def test_bca_intervals_of_an_average_add_up_the_moments_of_the_test_sets() -> None:
    from scipy.special import ndtr

    sets, n = random_sets(8, 2, (50, 30)), 99
    found = average(compare_sets(sets_of(*sets), interval="bca", n_resamples=n, seed=SEED))
    drawn = drawn_scores(sets, n)
    d = np.mean([scores(c)[1] - scores(c)[0] for c in sets])
    influences = []
    for counts in sets:
        without = np.array([scores(np.delete(counts, s, axis=1)) for s in range(counts.shape[1])])
        differences = (without[:, 1] - without[:, 0]) / 2
        influences.append(differences.mean() - differences)
    u = np.concatenate(influences)
    b = drawn[1] - drawn[0]
    z0, a = ndtri(((b < d).mean() + (b <= d).mean()) / 2), (u**3).sum() / (6 * (u**2).sum() ** 1.5)
    low, high = (float(ndtr(z0 + (z0 + z) / (1 - a * (z0 + z)))) for z in (ndtri(0.025), ndtri(0.975)))
    ordered = np.sort(b)
    expected = ordered[int(n * low)], ordered[n - 1 - int(n * (1 - high))]
    np.testing.assert_allclose(ends(found.comparisons[0]), expected, rtol=1e-9)


@pytest.mark.parametrize("test", [name for name, test in TESTS.items() if test.averages])
def test_results_are_the_same_bytes_on_any_number_of_threads(test: str) -> None:
    sets = sets_of(*random_sets(2, 4, (70, 40, 33)))
    options: dict[str, Any] = {"test": with_margins(test, "bleu"), "n_resamples": 300, "all_pairs": True}
    one, four = (compare_sets(sets, workers=threads, **options) for threads in (1, 4))
    assert one == four


@pytest.mark.parametrize("test", ["ar", "bootstrap-both", "ar-studentized", "permutation"])
def test_each_test_set_has_the_results_of_a_comparison_with_its_derived_seed(test: str) -> None:
    sets = sets_of(*random_sets(2, 3, (70, 40)))
    found = compare_sets(sets, test=test, n_resamples=199, seed=SEED, average=False)
    assert found.average is None
    for t, (name, each) in enumerate(sets.items()):
        seed = derive_seed(SEED, "test-set", t)
        assert found[name] == compare(metrics=each.metrics or "bleu", test=test, n_resamples=199, seed=seed)


def adjusted(result: SetComparison, metric: str | None = None) -> NDArray[np.float64]:
    """Adjusted p by test set, then metric and pair: (sets, tests)."""
    pairs = [[p for p in each.comparisons if metric in (None, p.metric)] for each in result.sets.values()]
    return np.array([[p.test.adjusted_pvalue for p in of_set] for of_set in pairs])


def raw(result: SetComparison) -> NDArray[np.float64]:
    return np.array([[p.test.pvalue for p in each.comparisons] for each in result.sets.values()])


def two_metrics(seed: int) -> dict[str, TestSet]:
    """Three systems on three test sets under two metrics."""
    names = {}
    for t, counts in enumerate(random_sets(seed, 3, (45, 60, 50))):
        ratings = {f"s{i}": counts[i, :, 2] + 4.0 * i for i in range(3)}
        names[f"set{t}"] = TestSet(metrics=[counted(counts), SegmentScores("rating", ratings)])
    return names


# The families of p-values by test set, metric and pair: (sets, metrics, pairs).
PLACES: dict[str, list[Any]] = {
    "metric": [(t, m) for t in range(3) for m in range(2)],
    "set": [(t, slice(None)) for t in range(3)],
    "sets": [(slice(None), m) for m in range(2)],
    "all": [(slice(None), slice(None))],
}


@pytest.mark.parametrize("family", PLACES)
@pytest.mark.parametrize("name", [name for name, each in ADJUSTMENTS.items() if each.of_pvalues is not None])
def test_adjustments_of_p_values_take_the_whole_family(name: str, family: str) -> None:
    of_pvalues = known(ADJUSTMENTS[name].of_pvalues)
    options: dict[str, Any] = {"n_resamples": 199, "all_pairs": True, "adjust": name, "average": False}
    result = compare_sets(two_metrics(1), family=family, **options)
    p = raw(result).reshape(3, 2, 3)
    expected = np.empty_like(p)
    for place in PLACES[family]:
        expected[place] = np.maximum(of_pvalues(p[place].ravel()).reshape(p[place].shape), p[place])
        assert {each.family_size for each in result.sets.values()} == {p[place].size}
    np.testing.assert_allclose(adjusted(result).reshape(3, 2, 3), expected, rtol=1e-12)


@pytest.mark.parametrize("test", [name for name, each in TESTS.items() if each.step_down])
def test_adjustments_from_replicates_are_made_on_each_test_set_and_combined(test: str) -> None:
    for adjust, own in TESTS[test].step_down.items():
        options: dict[str, Any] = {"n_resamples": 99, "all_pairs": True, "average": False, "test": test}
        for over, within in (("sets", "metric"), ("all", "set")):
            if own.per_metric and over == "all":
                with pytest.raises(InputError, match="under one metric, so there is no family 'all'"):
                    compare_sets(two_metrics(1), family=over, adjust=adjust, **options)
                continue
            single, combined = (
                compare_sets(two_metrics(1), family=family, adjust=adjust, **options) for family in (within, over)
            )
            np.testing.assert_array_equal(raw(single), raw(combined))
            np.testing.assert_allclose(adjusted(combined), 1 - (1 - adjusted(single)) ** 3, rtol=1e-9, atol=1e-15)
            assert (adjusted(single) >= raw(single)).all()


def test_reports_say_the_error_rate_of_all_families_and_what_is_found_on_average() -> None:
    cases = [("metric", True), ("metric", False), ("set", True), ("sets", True)]
    told = {}
    for family, with_average in cases:
        result = compare_sets(two_metrics(1), family=family, average=with_average, n_resamples=99, all_pairs=True)
        told[f"family {family}{'' if with_average else ', no average'}"] = result.render(pairs=False)
        # What a paper says of it, too.
        apart = family != "sets"
        assert ("on each test set, and a difference is called" in result.methods_sentence()) == apart
        where = " and for the average" if with_average else ""
        assert (f", on each test set{where} separately.}}" in result.render("latex")) == apart
    told["a baseline"] = compare_sets(two_metrics(1), n_resamples=99).render("text")
    assert_told("sets", beyond_the_first(told))


@pytest.mark.parametrize(
    ("family", "of_average", "of_one_pair"),
    [("metric", "metric", None), ("set", "all", None), ("sets", "metric", "holm"), ("all", "all", "holm")],
)
def test_averages_are_families_of_their_own(family: str, of_average: str, of_one_pair: str | None) -> None:
    result = compare_sets(two_metrics(1), family=family, n_resamples=99, all_pairs=True)
    assert known(result["set0"].test).adjustment == "maxt"
    found = average(result)
    assert (known(found.test).family, known(found.test).n_sets) == (of_average, 1)
    assert found.family_size == (6 if of_average == "all" else 3)
    assert ("|adjust:maxt|family:all|" in found.signature) == (of_average == "all")
    # With one pair on each test set there is nothing to gain from maxT within the test sets.
    one_pair = compare_sets(sets_of(*(c[:2] for c in random_sets(1, 3, (50, 45)))), family=family, n_resamples=99)
    assert known(one_pair["set0"].test).adjustment == of_one_pair
    assert (f"|adjust:holm|family:{family}|" in one_pair["set0"].signature) == (of_one_pair == "holm")
    assert "|adjust" not in average(one_pair).signature


@pytest.mark.parametrize("family", ["sets", "all"])
@pytest.mark.parametrize("test", ["bootstrap-both", "bootstrap", "ar-studentized"])
def test_simultaneous_intervals_over_test_sets_exclude_0_only_with_a_star(test: str, family: str) -> None:
    options: dict[str, Any] = {"test": test, "n_resamples": 999, "all_pairs": True, "interval": "simultaneous"}
    over, within = (
        compare_sets(two_metrics(1), family=each, average=False, **options)
        for each in (family, {"sets": "metric", "all": "set"}[family])
    )
    excluded = 0
    for name, found in over.sets.items():
        for pair, narrower in zip(found.comparisons, within[name].comparisons, strict=True):
            wide, narrow = known(pair.confidence_interval), known(narrower.confidence_interval)
            assert wide.low <= narrow.low <= narrow.high <= wide.high
            if not wide.low <= 0 <= wide.high:
                excluded += 1
                assert pair.is_significant(0.05)
    assert excluded > 0


@pytest.mark.slow
@pytest.mark.parametrize(("adjust", "n_resamples"), [("maxt", 199), ("holm", 999)])
def test_the_family_wise_error_rate_over_test_sets_is_at_most_alpha(adjust: str, n_resamples: int) -> None:
    rng = np.random.default_rng(1)
    n, false = 1000, {"sets": 0, "metric": 0, "average": 0}
    options: dict[str, Any] = {"test": "ar:scheme=iid", "adjust": adjust, "n_resamples": n_resamples, "interval": None}
    for simulation in range(n):
        sets = {}
        for t in range(4):
            shared = rng.normal(size=60)
            by_system = {f"s{i}": shared + rng.normal(size=60) for i in range(4)}
            sets[f"set{t}"] = TestSet(metrics=SegmentScores("x", by_system))
        for family in ("sets", "metric"):
            found = compare_sets(sets, family=family, all_pairs=True, seed=simulation, **options)
            false[family] += bool((adjusted(found) <= 0.05).any())
            false["average"] += family == "sets" and any(p.is_significant(0.05) for p in average(found).comparisons)
    print(adjust, false)
    limit = 0.05 * n + 3 * math.sqrt(n * 0.05 * 0.95)
    assert false["sets"] <= limit
    assert false["average"] <= limit
    assert false["metric"] > limit  # four families of the level .05


def test_stopping_rules_end_the_shuffles_of_averages() -> None:
    sets, n = random_sets(3, 2, (40, 30)), 3000
    found = average(compare_sets(sets_of(*sets), test="ar:stopping=besag-clifford", n_resamples=n, seed=SEED))
    (pair,) = found.comparisons
    reached = np.abs(shuffled_differences(sets, 1, 0, 1500)) >= abs(pair.difference) - 1e-9
    stop = int(np.flatnonzero(np.cumsum(reached) == 20)[0]) + 1
    assert (pair.test.n_resamples, pair.test.exceedances) == (stop, 20)


def rated(scores: Sequence[Sequence[float]], missing: bool = False) -> TestSet:
    by_system = {f"s{i}": list(each) for i, each in enumerate(scores)}
    return TestSet(metrics=SegmentScores("rating", by_system, missing="pairwise" if missing else "error"))


def test_missing_scores_of_a_test_set_are_left_out_of_its_part_of_the_average() -> None:
    rng, nan = np.random.default_rng(4), math.nan
    complete, gappy = rng.integers(0, 9, (3, 30)).astype(float), rng.integers(0, 9, (3, 40)).astype(float)
    gappy[0, :7] = gappy[1, 5:19] = gappy[2, 30] = nan
    sets = {"a": rated(complete.tolist()), "b": rated(gappy.tolist(), missing=True)}
    result = compare_sets(sets, test="ar", all_pairs=True, n_resamples=500, interval="jackknife", seed=SEED)
    found = average(result)
    for pair in found.comparisons:
        i, j = int(pair.system[1]), int(pair.baseline[1])
        both = ~np.isnan(gappy[i]) & ~np.isnan(gappy[j])
        first, second = complete[i] - complete[j], np.where(both, gappy[i] - gappy[j], 0)
        d = first.mean() / 2 + second.sum() / both.sum() / 2
        assert pair.difference == pytest.approx(d)
        assert (pair.n_units, pair.n_segments) == (30 + both.sum(), 30 + both.sum())
        squared = first.var(ddof=1) / 30 / 4 + second[both].var(ddof=1) / both.sum() / 4
        assert np.diff(ends(pair)).item() == pytest.approx(2 * ndtri(0.975) * math.sqrt(squared), rel=1e-6)
        signs = [
            np.array([1 - 2.0 * flips(derive_seed(SEED, "test-set", t), r, n) for r in range(500)])
            for t, n in enumerate((30, 40))
        ]
        replicates = (signs[0] @ first) / 30 / 2 + (signs[1] @ second) / both.sum() / 2
        assert pair.test.exceedances == (np.abs(replicates) >= abs(d) - 1e-9).sum()
    assert [s.n_segments for s in found.scores] == [30 + int((~np.isnan(row)).sum()) for row in gappy]


def test_functions_and_formulas_in_python_have_the_averages_of_native_metrics() -> None:
    def averaged(sets: Any, *metrics: Any, **options: Any) -> Any:
        (pair,) = average(compare_sets(sets, *metrics, **{"test": "ar", "n_resamples": 99, **options})).comparisons
        return pair.test.pvalue, pytest.approx(pair.difference)

    counts = random_sets(6, 2, (25, 31))
    formula = Formula("f", lambda totals: BLEU.score(totals))
    in_python = {f"set{t}": TestSet(metrics=counted(rows, "BLEU", formula)) for t, rows in enumerate(counts)}
    assert averaged(in_python) == averaged(sets_of(*counts))

    def words(hypotheses: list[str], references: list[list[str | None]]) -> float:
        return sum(len(line.split()) for line in hypotheses) / len(hypotheses)

    lines = [["a b", "c", "d e f", "g h"], ["a", "b b b", "c c", "d"]]
    texts = {name: (["x"] * 4, {"s0": lines[t], "s1": lines[1 - t]}) for t, name in enumerate("uv")}
    lengths = [[len(line.split()) for line in own] for own in lines]
    means = {name: rated([lengths[t], lengths[1 - t]]) for t, name in enumerate("uv")}
    assert averaged(texts, CorpusFunction("words", words)) == averaged(means, test="ar:scheme=iid")


def test_documents_and_strata_of_test_sets_count_for_the_average() -> None:
    counts = random_sets(6, 2, (40, 30))
    sets = {
        "documents": TestSet(metrics=counted(counts[0]), documents=[s // 2 for s in range(40)]),
        "strata": TestSet(metrics=counted(counts[1]), strata=[s % 3 for s in range(30)]),
    }
    found = average(compare_sets(sets, n_resamples=99))
    assert (found.n_units, found.unit, found.n_segments, found.n_strata) == (50, "unit", 70, 4)
    assert found.comparisons[0].n_segments == 70


def test_outputs_that_are_not_exchangeable_on_the_test_sets_are_not_on_average() -> None:
    from counts import lengths

    uneven = lengths(12, 12)
    sets = {name: TestSet(metrics=uneven) for name in "ab"}
    result = compare_sets(sets, test="ar", n_resamples=99)
    of_sets = [each.comparisons[0].exchangeability for each in result.sets.values()]
    of_average = known(average(result).comparisons[0].exchangeability)
    assert of_sets[0] is not None
    assert of_average.ratio == pytest.approx(of_sets[0].ratio)
    assert of_average.near_kink == of_sets[0].near_kink


@pytest.mark.parametrize("test", [name for name, each in TESTS.items() if not each.averages])
def test_tests_without_averages_compare_the_test_sets(test: str) -> None:
    rng = np.random.default_rng(1)
    sets = {name: rated(rng.normal(size=(2, 20)).tolist()) for name in "ab"}
    with pytest.raises(InputError, match=f"the test '{test}' does not support averages over test sets: use "):
        compare_sets(sets, test=with_margins(test, "rating"), n_resamples=99)
    of_sets = compare_sets(sets, test=with_margins(test, "rating"), n_resamples=99, average=False)
    assert of_sets["a"].comparisons


def some_texts(*systems: str) -> tuple[list[str], dict[str, list[str]]]:
    return ["a b c d", "e f g h", "i j k l"], {name: ["a b c", f"{name} e f", "i j k l"] for name in systems}


RATED = {name: rated(np.random.default_rng(1).normal(size=(2, 20)).tolist()) for name in "ab"}


def refused(sets: Any, **options: Any) -> SetComparison:
    return compare_sets(sets, **{"test": "ar", "n_resamples": 9, **options})


def test_bad_test_sets_are_refused() -> None:
    assert_raises("python_errors_of_sets", globals())


def test_scores_pairs_and_figures_are_those_of_the_average_unless_a_test_set_is_named() -> None:
    result = compare_sets({"u": some_texts("a", "b"), "v": some_texts("b", "a")}, test="ar", n_resamples=9)
    assert result.pair("b", metric="bleu") is average(result).pair("b")
    assert result.pair("b", test_set="v") is result["v"].pair("b")
    assert (result.score("a"), result.score("a", test_set="u")) == (average(result).score("a"), result["u"].score("a"))
    assert "(average)" in result.plot.forest().get_xlabel()
    without: Any = replace(result, average=None)
    with pytest.raises(InputError, match=r"there is no average: choose a test set, as in result\[NAME\]: u, v"):
        without.pair("b")
    # One test set has no average, but the same methods.
    one = compare_sets({"u": some_texts("a", "b")}, "ter", test="ar:scheme=iid", n_resamples=99)
    assert (one.average, one.pair("b")) == (None, one["u"].pair("b"))
    assert "verage" not in str(one)


def test_systems_that_a_test_set_lacks_are_left_out_with_a_warning() -> None:
    sets = {"u": some_texts("a", "b", "c"), "v": some_texts("c", "b", "d")}
    with pytest.warns(reshuffle.InputWarning, match="left out, because not every test set has them: a, d$"):
        found = compare_sets(sets, test="ar", n_resamples=9, missing_systems="drop")
    assert (found.dropped, found["u"].systems, found["v"].systems) == (("a", "d"), ("b", "c"), ("b", "c"))
    assert repr(found) == "<SetComparison: BLEU; 2 systems (b, c); 2 test sets (u, v) and their average; 3 tests (ar)>"
    with pytest.raises(InputError, match="unknown test set 'w'; known: u, v"):
        found["w"]
    # Of many, the first are named.
    sets = {"u": some_texts(*"abcdefghi"), "v": some_texts("a", "b")}
    with pytest.warns(reshuffle.InputWarning, match=r"has them: c, d, e, f, g, h … \(7 in all\)$"):
        found = compare_sets(sets, test="ar", n_resamples=9, missing_systems="drop")
    assert "Left out, because not every test set has them: c, d, e, f, g, h and 1 more.\n" in str(found)
    assert "c, d, e, f, g, h and 1 more were left out" in found.methods_sentence()
    with pytest.raises(InputError, match=r"2 in all of them\): 'v' lacks c, d, e, f, g, h … \(7 in all\); give"):
        compare_sets(sets, test="ar", n_resamples=9)


def test_the_number_of_references_of_an_average_is_at_most_that_of_a_test_set() -> None:
    lines, systems = some_texts("a", "b")
    found = compare_sets({"one": (lines, systems), "two": ([lines, lines], systems)}, test="ar", n_resamples=9)
    shown = {name: str(each) for name, each in {"": found, **found.sets}.items()}
    for name, number in (("", "up to 2 references"), ("one", "1 reference"), ("two", "2 references")):
        assert f", {number}, 2 systems" in shown[name]
    some: Any = [lines, [lines[0], *[None] * (len(lines) - 1)]]
    assert "with up to 2 references each" in compare(some, systems, test="ar", n_resamples=9).methods_sentence()


def test_notes_of_a_paper_explain_ranks_only_where_tables_have_them() -> None:
    found = compare_sets({name: some_texts("a", "b", "c") for name in "uv"}, all_pairs=True, test="ar", n_resamples=99)
    explained = [("% Rank:" in found.render("latex", pairs=pairs), "Rank:" in str(found)) for pairs in (False, True)]
    assert explained == [(False, True), (True, True)]


def test_a_language_may_have_a_tokenizer_of_its_own() -> None:
    chinese = {"a": ["今天天气好", "我爱苹果", "你好"], "b": ["今天", "我喜欢苹果", "世界"]}
    zh = TestSet(["今天天气很好", "我喜欢苹果", "你好世界"], chinese, reshuffle.metric("bleu", tokenize="zh"))
    sets: dict[str, Any] = {"de": some_texts("a", "b"), "zh": zh}
    found = compare_sets(sets, test="ar", n_resamples=9)
    assert average(found).metrics[0].signature == "BLEU|nrefs:1|case:mixed|eff:no|tok:13a+zh|smooth:exp"
    of_both = r"sets:de\|BLEU\|nrefs:1\|case:mixed\|eff:no\|tok:13a\|smooth:exp\|sets:zh\|BLEU\|.*\|tok:zh\|"
    assert re.match(of_both, found.signature)
    mean = np.mean([found[name].score("a").score for name in sets])
    assert average(found).score("a").score == pytest.approx(mean)


def test_the_caveats_of_a_family_over_test_sets_take_all_of_them_into_account() -> None:
    def caveats(adjust: str, family: str, n: int) -> list[list[Any]]:
        options: dict[str, Any] = {"test": "ar", "all_pairs": True, "average": False, "n_resamples": n}
        found = compare_sets(two_metrics(1), adjust=adjust, family=family, **options)
        return [[c for c in each.caveats if c.kind == "few-replicates"] for each in found.sets.values()]

    # The smallest p is 1/151: 9/151 > .05 for nine tests over the test sets, and 3/151 < .05 on each.
    assert [bool(each) for each in caveats("holm", "sets", 150)] == [True] * 3
    assert [bool(each) for each in caveats("holm", "metric", 150)] == [False] * 3
    ((caveat,), *_) = caveats("maxt", "sets", 50)
    assert caveat.values["smallest"] == pytest.approx(1 - (1 - 1 / 51) ** 3)
    assert caveat.values["enough"] == math.ceil(20 / (1 - 0.95 ** (1 / 3))) - 1


def test_stars_of_families_over_test_sets_are_open_where_those_of_each_set_are() -> None:
    options: dict[str, Any] = {"test": "ar", "adjust": "maxt", "all_pairs": True, "n_resamples": 999, "average": False}
    within, over = (compare_sets(two_metrics(4), family=family, **options) for family in ("metric", "sets"))
    # With p of three test sets, 1 − (1 − p)³ is at most .05 where p is at most:
    level = 1 - 0.95 ** (1 / 3)
    counts = np.rint(adjusted(within) * 1000) - 1
    expected = [[may_lie_across(int(count), 999, level) for count in of_set] for of_set in counts]
    found = [["near-alpha" in pair.caveats for pair in each.comparisons] for each in over.sets.values()]
    assert found == expected
    assert sum(map(sum, found)) == 4
    # The first pair of the first test set is one of them, and the first of the others in the families of the second.
    nine = compare_sets(two_metrics(3), family="sets", **{**options, "adjust": "bonferroni"})
    for each in nine.sets.values():
        for pair in each.comparisons:
            assert ("near-alpha" in pair.caveats) == pair.test.may_lie_across(0.05 / 9)


# The command line.

NEWS, TALKS = (
    ("news/reference.txt", "news/baseline.txt", "news/tuned.txt"),
    ("talks/reference.txt", "talks/tuned.txt", "talks/baseline.txt"),
)


@pytest.fixture
def halves(demo: Path) -> Path:
    """The two halves of the demo in folders of their own."""
    for folder, part in (("news", slice(0, 200)), ("talks", slice(200, 400))):
        (demo / folder).mkdir()
        for path in demo.glob("*.txt"):
            (demo / folder / path.name).write_text("".join(path.read_text().splitlines(keepends=True)[part]))
    return demo


def texts_of(folder: str, *systems: str) -> tuple[list[str], dict[str, list[str]]]:
    lines = {name: reshuffle.read_lines(f"{folder}/{name}.txt") for name in ("reference", *systems)}
    return lines.pop("reference"), lines


def write_manifest(content: object, name: str = "sets.json") -> str:
    Path(name).write_text(content if isinstance(content, str) else json.dumps(content))
    return name


def test_set_names_a_test_set_and_its_files(halves: Path, run: Any) -> None:
    command = ("compare", "--set", "one", *NEWS, "--set", "two", *TALKS, "-n", "99")
    outcome = run(*command, "-m", "ter", "--format", "json")
    assert (outcome.code, outcome.err) == (0, "")
    sets = {"one": texts_of("news", "baseline", "tuned"), "two": texts_of("talks", "tuned", "baseline")}
    assert unnamed(outcome.out) == compare_sets(sets, "ter", n_resamples=99, include="parts").render("json")
    # The order of the first test set, whatever that of the others.
    assert json.loads(outcome.out)["sets"]["two"]["systems"] == ["baseline", "tuned"]
    alone = run(*command, "--no-average").out
    assert "Average" not in alone
    assert "\none: BLEU: 200 segments, 1 reference, 2 systems\n" in alone


TOML = """
[sets.one]
references = "news/reference.txt"
systems = {base = "news/baseline.txt", better = "news/tuned.txt"}
documents = "docs.txt"
scores.COMET = {better = "comet.tsv#tuned", base = "comet.tsv#baseline"}

[sets."zwei und drei"]
references = ["talks/reference.txt", "talks/larger.txt"]
systems = {better = "talks/tuned.txt", base = "talks/baseline.txt"}
metrics = ["bleu:lowercase"]
tokenize = "intl"
scores.COMET = {base = "more.txt", better = "more.txt"}
strata = "strata.txt"
"""


def test_a_manifest_has_files_metrics_and_options_of_every_test_set(halves: Path, run: Any) -> None:
    rows = np.random.default_rng(1).normal(size=(2, 200)).round(3)
    (halves / "sub").mkdir()
    for name in ("news", "talks"):
        (halves / name).rename(halves / "sub" / name)
    for name, lines in {
        "comet.tsv": ["baseline\ttuned", *(f"{a}\t{b}" for a, b in rows.T)],
        "more.txt": rows[0],
        "docs.txt": [f"d{i // 5}" for i in range(200)],
        "strata.txt": [i % 2 for i in range(200)],
    }.items():
        (halves / "sub" / name).write_text("".join(f"{line}\n" for line in lines))
    args = ("-n", "99", "--format", "json", "--test", "ar", "--manifest")
    outcome = run("compare", *args, write_manifest(TOML, "sub/sets.toml"))
    assert (outcome.code, outcome.err) == (0, "")
    again = run("compare", *args, write_manifest(toml.loads(TOML), "sub/sets.json"))
    assert unnamed(again.out) == unnamed(outcome.out)
    document = json.loads(outcome.out)
    one, other = document["sets"].values()
    assert other["systems"] == ["base", "better"]
    assert (one["unit"], one["n_units"], other["n_strata"]) == ("document", 40, 2)
    assert one["metrics"][0]["signature"] == "BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp"
    assert other["metrics"][0]["signature"] == "BLEU|nrefs:2|case:lc|eff:no|tok:intl|smooth:exp"
    of_one, of_other = ([s["score"] for s in each["scores"] if s["metric"] == "COMET"] for each in (one, other))
    np.testing.assert_allclose(of_one, rows.mean(axis=1), atol=1e-9)
    assert len({*of_other}) == 1
    assert {m["name"] for m in document["average"]["metrics"]} == {"BLEU", "COMET"}


@pytest.mark.parametrize("keys", ["keys", "metrics"])
@pytest.mark.parametrize("absolute", [False, True])
def test_paths_in_options_are_relative_to_the_manifest(halves: Path, run: Any, keys: str, absolute: bool) -> None:
    folder = write_meteor(Path("sub/jar"))
    jar = str(folder.absolute()) if absolute else "jar"
    own: dict[str, Any] = {"metrics": f"meteor:modules=exact,stem,module-weights=1,0.5,meteor-jar={jar}"}
    if keys == "keys":
        own = {"metrics": "meteor", "modules": ["exact", "stem"], "module_weights": [1, 0.5], "meteor_jar": jar}
    texts = {"references": "../news/reference.txt", "systems": ["../news/baseline.txt", "../news/tuned.txt"]}
    manifest = write_manifest({"sets": {"a": {**texts, **own}}}, "sub/sets.json")
    outcome = run("compare", "--manifest", manifest, "--test", "ar", "--format", "json", "-n", "9")
    assert outcome.code == 0, outcome.err
    assert re.search(r"modules:exact\+stem.*function:\[", outcome.out)


def test_scores_need_no_texts(halves: Path, run: Any) -> None:
    Path("a.txt").write_text("1\n2\n3\n4\n")
    Path("b.txt").write_text("2\n2\n4\n5\n")
    manifest = write_manifest(
        {"sets": {n: {"scores": {"rating": {"x": "a.txt", "y": "b.txt"}}, "lower_is_better": "rating"} for n in "uv"}}
    )
    document = json.loads(run("compare", "--manifest", manifest, "--test", "ar", "--format", "json").out)
    assert document["average"]["comparisons"][0]["difference"] == 0.75
    assert document["average"]["metrics"][0]["higher_is_better"] is False


def with_key(**keys: object) -> dict[str, Any]:
    """A manifest of one test set, with these keys."""
    texts = {"references": "news/reference.txt", "systems": ["news/baseline.txt", "news/tuned.txt"]}
    return {"sets": {"a": {**texts, **keys}}}


def test_bad_manifests_are_refused_in_a_sentence(halves: Path, run: Any) -> None:
    def manifest(content: object, name: str = "sets.json") -> int:
        return command(["compare", "--manifest", write_manifest(content, name)])

    assert_raises("python_errors_of_manifests", globals() | {"manifest": manifest})
    twice = write_manifest("[sets.a]\n[sets.a]\n", "sets.toml")
    assert "sets.toml is not valid TOML: " in run("compare", "--manifest", twice).refusal()


def test_a_manifest_may_be_standard_input_and_have_a_byte_order_mark_and_windows_line_ends(
    halves: Path, run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ("compare", "-n", "9", "--manifest")
    expected = run(*command, write_manifest(with_key()))
    assert expected.code == 0
    toml = '[sets.a]\nreferences = "news/reference.txt"\nsystems = ["news/baseline.txt", "news/tuned.txt"]\n'
    for name, text in (("sets.json", json.dumps(with_key(), indent=1)), ("sets.toml", toml)):
        Path(name).write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())
        assert run(*command, name) == expected
    for references, code in (("news/reference.txt", 0), ("-", 2)):
        content = json.dumps(with_key(references=references)).encode()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        outcome = run(*command, "-")
        assert outcome.code == code
        assert "standard input (-) can supply only one text" in outcome.err if code else outcome == expected


def test_wrong_command_lines_are_refused_in_a_sentence(halves: Path, run: Any) -> None:
    assert_refused("errors_of_sets", run)


def test_a_test_set_given_twice_is_warned_of() -> None:
    texts = [(["a b", "c d"], {"x": ["a b", "c"], "y": ["a", last]}) for last in ("c d", "c e")]
    scores = [TestSet(metrics=SegmentScores("q", {"x": [1, 2, 3, 1], "y": [2, 1, 1, last]})) for last in (1, 2)]
    sets: dict[str, list[Any]] = {"outputs": texts, "scores": scores}
    for what, (one, other) in sets.items():
        with pytest.warns(reshuffle.InputWarning, match=f"test sets 'one' and 'two' have the same {what}: was"):
            compare_sets({"one": one, "other": other, "two": one}, n_resamples=9)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            compare_sets({"one": one, "other": other}, n_resamples=9)
