"""Rankings: decisions about pairs of systems become rank intervals, clusters, letters and the set of the best."""

import math
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_t, norm

import reshuffle
from budgets import budget
from known import known
from reshuffle import Comparison, Formula, FromCounts, InputError, Ranking, SegmentScores, compare
from reshuffle.inference.rankings import clusters, groups_without_difference, members
from reshuffle.inference.tests import TESTS
from reshuffle.resampling import CountSample, Replicates, linear
from reshuffle.resampling.units import Strata
from reshuffle.settings import Resampling

SEGMENTS = 60


def ratings(
    means: list[float], n: int = SEGMENTS, seed: int = 1, name: str = "rating", **options: Any
) -> SegmentScores:
    """Scores of systems a, b, … with nearly these means."""
    rng = np.random.default_rng(seed)
    scores = {chr(ord("a") + i): np.round(rng.normal(mean, 1, n), 3) for i, mean in enumerate(means)}
    return SegmentScores(name, scores, **options)


def ranked(metric: Any, **options: Any) -> Ranking:
    (ranking,) = compared(metric, **options).rankings
    return ranking


def compared(metric: Any, **options: Any) -> Comparison:
    return compare(metrics=metric, **{"all_pairs": True, "n_resamples": 499, "interval": None, **options})


# Letters.


@st.composite
def decisions(draw: st.DrawFn, most: int = 9) -> np.ndarray[Any, Any]:
    """Any symmetric matrix of significant differences."""
    k = draw(st.integers(1, most))
    different = np.zeros((k, k), dtype=bool)
    for a, b in combinations(range(k), 2):
        different[a, b] = different[b, a] = draw(st.booleans())
    return different


def as_sets(different: np.ndarray[Any, Any]) -> list[int]:
    return [sum(1 << int(other) for other in np.flatnonzero(row)) for row in different]


def maximal_cliques(different: np.ndarray[Any, Any]) -> list[list[int]]:
    """The twin: of all sets without a difference, those that no other contains."""
    k = len(different)
    alike = [
        set(systems)
        for size in range(1, k + 1)
        for systems in combinations(range(k), size)
        if not different[np.ix_(systems, systems)].any()
    ]
    return sorted(sorted(one) for one in alike if not any(one < other for other in alike))


@settings(max_examples=budget(300))
@given(decisions())
def test_groups_are_the_maximal_cliques_of_systems_that_do_not_differ(different: np.ndarray[Any, Any]) -> None:
    groups = known(groups_without_difference(as_sets(different), most=1000))
    assert maximal_cliques(different) == [members(group) for group in groups]


@given(decisions(), st.integers(1, 8))
def test_there_are_no_groups_exactly_if_there_are_too_many(different: np.ndarray[Any, Any], most: int) -> None:
    expected = len(maximal_cliques(different)) <= most
    assert expected == (groups_without_difference(as_sets(different), most) is not None)
    # With 50 separate pairs that differ there are 2**50 groups; with 33 triples, 3**33, which fit in no memory.
    pairs = [1 << (system ^ 1) for system in range(100)]
    triples = [0b111 << 3 * (system // 3) & ~(1 << system) for system in range(99)]
    assert groups_without_difference(pairs, 26) is groups_without_difference(triples, 26) is None


# Clusters and positions.


@settings(max_examples=budget(300))
@given(decisions())
def test_clusters_end_where_all_systems_are_better_than_all_later_ones(different: np.ndarray[Any, Any]) -> None:
    better = np.triu(different)
    expected, number = [], 1
    for i in range(len(better)):
        expected.append(number)
        number += bool(better[: i + 1, i + 1 :].all())
    assert expected == clusters(better)


# Rankings of comparisons.


def twin(comparison: Comparison, metric: str, higher: bool) -> dict[str, tuple[int, int, int]]:
    """Position, best and worst rank of each system, straight from the pairs."""
    found = {}
    scores = {score.system: score.score for score in comparison.scores if score.metric == metric}
    for name, score in scores.items():
        n_better = n_worse = 0
        for pair in comparison.comparisons:
            if pair.metric == metric and name in (pair.system, pair.baseline) and pair.is_significant(0.05):
                sign = (1 if pair.system == name else -1) * (1 if higher else -1) * pair.difference
                n_better += sign < 0
                n_worse += sign > 0
        ahead = sum(other > score if higher else other < score for other in scores.values())
        found[name] = 1 + ahead, 1 + n_better, len(scores) - n_worse
    return found


@pytest.mark.parametrize("higher", [True, False])
@pytest.mark.parametrize("test", [name for name, test in TESTS.items() if "two-sided" in test.alternatives])
def test_rank_intervals_count_the_significantly_better_and_worse_systems(test: str, higher: bool) -> None:
    comparison = compared(
        ratings([50, 50.1, 50.4, 50.8, 51, 52], higher_is_better=higher), test=test, confidence_level=0.95
    )
    (ranking,) = comparison.rankings
    expected = twin(comparison, "rating", higher)
    assert len({values[1:] for values in expected.values()}) > 2
    assert {r.system: (r.position, r.rank_low, r.rank_high) for r in ranking.systems} == expected
    order = [comparison.score(r.system).score for r in ranking.systems]
    assert order == sorted(order, reverse=higher)
    assert ranking.best == tuple(r.system for r in ranking.systems if r.rank_low == 1)
    for pair in comparison.comparisons:
        a, b = ranking[pair.system], ranking[pair.baseline]
        assert pair.is_significant(0.05) == set(a.letters or "").isdisjoint(b.letters or "")
    assert [
        tuple(r.system for r in ranking.systems if letter in (r.letters or ""))
        for letter in "abcdef"[: len(known(ranking.groups))]
    ] == list(known(ranking.groups))


@pytest.mark.parametrize("test", ["bootstrap", "bootstrap-percentile", "bootstrap-both", "anova"])
def test_identical_systems_share_position_letters_and_the_set_of_the_best(test: str) -> None:
    values = np.random.default_rng(3).integers(0, 9, SEGMENTS)
    noise = np.random.default_rng(4).normal(-4, 1, SEGMENTS).round(3)
    ranking = ranked(SegmentScores("x", {"poor": noise, "one": values, "worse": values - 1, "two": values}), test=test)
    found = [(r.system, r.position, r.letters, r.cluster) for r in ranking.systems]
    assert found == [("one", 1, "a", 1), ("two", 1, "a", 1), ("worse", 3, "b", 2), ("poor", 4, "c", 3)]
    assert ranking.best == ranking.mcb_best == ("one", "two")
    assert ranking["one"].mcb_pvalue == ranking["two"].mcb_pvalue == 1
    assert ranked(SegmentScores("x", {"one": values, "two": values}), test=test).mcb_best == ("one", "two")
    lead = ranked(SegmentScores("x", {"one": values, "two": values - 1}), test=test)  # a constant one
    assert (lead.mcb_best, lead["two"].mcb_pvalue) == (("one",), 0 if test == "anova" else 1 / 500)
    with pytest.raises(InputError, match="unknown system 'd'"):
        ranking["d"]


def test_only_two_sided_tests_of_all_pairs_give_rankings() -> None:
    three, two = ratings([50, 51, 52]), ratings([50, 51])
    assert compared(three, all_pairs=False).rankings == ()
    assert compared(three, alternative="greater").rankings == ()
    assert len(compared(three).rankings) == 1
    # The only pair of two systems is all pairs.
    assert len(compared(two, all_pairs=False).rankings) == 1
    assert reshuffle.score(metrics=two).rankings == ()
    assert reshuffle.score(metrics=two).detectable == ()


def test_more_than_26_groups_have_no_letters() -> None:
    ranking = ranked(ratings([float(10 * i) for i in range(27)], n=20), test="t-test", adjust="holm")
    assert ranking.groups is None
    assert [(r.rank_low, r.cluster, r.letters) for r in ranking.systems] == [(i, i, None) for i in range(1, 28)]
    of_26 = ranked(ratings([float(10 * i) for i in range(26)], n=20), test="t-test", adjust="holm")
    assert [r.letters for r in of_26.systems] == [chr(ord("a") + i) for i in range(26)]


# Minimum detectable differences.


@pytest.mark.parametrize("units", ["segments", "documents", "strata", "both"])
@pytest.mark.parametrize("name", ["bleu", "ter", "mean"])
def test_detectable_differences_are_those_of_the_delta_interval(name: str, units: str) -> None:
    rng = np.random.default_rng(4)
    n = 40
    options: dict[str, Any] = {}
    if units in ("documents", "both"):
        options["documents"] = [f"d{s // 2}" for s in range(n)]
    if units in ("strata", "both"):
        options["strata"] = [f"h{min(s // 6, 3)}" for s in range(n)]
    if name == "mean":
        metric: Any = ratings([50, 50.5, 51, 51], n=n)
        comparison = compare(metrics=metric, all_pairs=True, interval="delta", n_resamples=99, **options)
    else:
        words = rng.integers(0, 30, (n, 12))
        outputs = {
            f"s{i}": [" ".join(map(str, np.where(rng.random(12) < 0.6 + i / 20, row, 99))) for row in words]
            for i in range(4)
        }
        references = [" ".join(map(str, row)) for row in words]
        comparison = compare(references, outputs, name, all_pairs=True, interval="delta", n_resamples=99, **options)
    z = norm.ppf(0.975)
    intervals = [pair.confidence_interval for pair in comparison.comparisons]
    errors = [(interval.high - interval.low) / (2 * z) for interval in intervals if interval is not None]
    level = 0.05 / 6
    factor = norm.ppf(1 - level / 2) + norm.ppf(0.8)
    (found,) = comparison.detectable
    assert (found.power, found.level) == (0.8, level)
    np.testing.assert_allclose(
        [found.difference, found.low, found.high],
        factor * np.array([np.median(errors), min(errors), max(errors)]),
        rtol=1e-4 if name == "mean" else 1e-6,  # intervals of ratings are rounded
    )


def test_the_level_of_a_detectable_difference_follows_the_family_and_the_alternative() -> None:
    metrics = [ratings([50, 50.5, 51]), ratings([50, 50.5, 51], seed=2, name="other")]
    unadjusted = compared(metrics, adjust="none").detectable
    assert [found.level for found in unadjusted] == [0.05, 0.05]
    assert [found.level for found in compared(metrics).detectable] == [0.05 / 3] * 2
    assert [found.level for found in compared(metrics, family="all").detectable] == [0.05 / 6] * 2
    # With a baseline, over its pairs.
    assert [found.level for found in compared(metrics, all_pairs=False).detectable] == [0.05 / 2] * 2
    one_sided = compared(metrics, adjust="none", alternative="greater").detectable[0]
    assert one_sided.level == 0.05
    ratio = (norm.ppf(0.95) + norm.ppf(0.8)) / (norm.ppf(0.975) + norm.ppf(0.8))
    assert one_sided.difference == pytest.approx(ratio * unadjusted[0].difference)


def test_identical_systems_and_formulas_that_fail_have_no_detectable_difference() -> None:
    values = np.random.default_rng(3).normal(0, 1, (2, SEGMENTS)).round(3)
    pair = compared(SegmentScores("x", {"one": values[0], "two": values[1]}), adjust="none").detectable[0]
    metric = SegmentScores("x", {"one": values[0], "two": values[1], "copy": values[1]})
    with_copy = compared(metric, adjust="none").detectable[0]
    assert with_copy.low == pytest.approx(pair.low)
    assert with_copy.high == pytest.approx(pair.high)
    assert compared(SegmentScores("x", {"one": values[1], "two": values[1]})).detectable == ()

    def picky(sums: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        if (sums[..., 0] != sums[..., 0].astype(int)).any() or (sums[..., 1] != SEGMENTS).any():
            raise ZeroDivisionError
        return np.asarray(sums[..., 0] / sums[..., 1])

    counts = np.random.default_rng(6).integers(0, 9, (2, SEGMENTS, 2))
    counts[..., 1] = 1
    comparison = compared(FromCounts("picky", {"a": counts[0], "b": counts[1]}, picky), test="ar")
    assert (comparison.detectable, len(comparison.rankings)) == ((), 1)


# Multiple comparisons with the best.


def naive_pvalues(comparison: Comparison, draws: np.ndarray[Any, Any], higher: bool, kind: str) -> dict[str, float]:
    """The twin: the definition, with all deviations of all pairs in memory."""
    sign = 1 if higher else -1
    scores = sign * np.array([score.score for score in comparison.scores])
    deviations = sign * draws - scores[:, None]
    found = {}
    for i, name in enumerate(comparison.systems):
        statistic, replicates = [], []
        for j in range(len(scores)):
            lead, of_pair = scores[j] - scores[i], deviations[j] - deviations[i]
            if j == i or np.ptp(of_pair) < 1e-9:
                continue
            if kind == "centred":
                scale = of_pair.std()
                statistic.append(lead / scale)
                replicates.append(abs(of_pair) / scale)
            else:
                below, above = (np.sqrt(2 * np.mean(side(of_pair, 0) ** 2)) for side in (np.minimum, np.maximum))
                below, above = below or of_pair.std(), above or of_pair.std()
                statistic.append(lead / (below if lead > 0 else above))
                replicates.append(abs(of_pair) / np.where(of_pair < 0, below, above))
        largest = max(statistic, default=0)
        count = (np.max(replicates, axis=0) >= largest - 1e-9).sum() if largest > 1e-9 else draws.shape[1]
        found[name] = (1 + count) / (1 + draws.shape[1])
    return found


def drawn(metric: SegmentScores, n: int, seed: int) -> np.ndarray[Any, Any]:
    sample = CountSample.from_counts(metric, metric.counts_of(list(metric.counts)))
    return Replicates([sample], Resampling(n, seed)).draws[0]


@settings(max_examples=budget(60), deadline=None)
@given(
    st.lists(st.lists(st.integers(-3, 3), min_size=5, max_size=5), min_size=2, max_size=5),
    st.booleans(),
    st.sampled_from(["bootstrap", "bootstrap-percentile", "bootstrap-both"]),
)
def test_p_of_the_best_is_that_of_its_definition(rows: list[list[int]], higher: bool, test: str) -> None:
    metric = SegmentScores("x", {chr(97 + i): row for i, row in enumerate(rows)}, higher_is_better=higher)
    comparison = compared(metric, test=test, n_resamples=199, seed=7)
    draws = drawn(metric, 199, 7)
    expected = dict.fromkeys(comparison.systems, 0.0)
    for kind in {"bootstrap": ["centred"], "bootstrap-percentile": ["percentile"]}.get(test, ["centred", "percentile"]):
        for name, p in naive_pvalues(comparison, draws, higher, kind).items():
            expected[name] = max(expected[name], p)
    (ranking,) = comparison.rankings
    assert {r.system: r.mcb_pvalue for r in ranking.systems} == pytest.approx(expected)
    assert ranking.mcb_best == tuple(r.system for r in ranking.systems if (r.mcb_pvalue or 0) > 0.05)
    assert ranking.systems[0].mcb_pvalue == 1
    assert ranking.mcb_best


@pytest.mark.parametrize("means", [[50, 50.2], [50, 50.1, 50.2], [50, 50.1, 50.2, 50.15]])
def test_p_of_the_best_with_a_pooled_error_is_dunnetts(means: list[float]) -> None:
    comparison, n = compared(ratings(means), test="anova"), len(means) - 1
    (ranking,) = comparison.rankings
    error = comparison.comparisons[0].test.standard_error
    scores = {score.system: score.score for score in comparison.scores}
    correlations = np.full((n, n), 0.5) + np.eye(n) / 2
    for name, score in scores.items():
        t = (max(scores.values()) - score) / error
        draws = multivariate_t(shape=correlations, df=n * (SEGMENTS - 1), seed=1).rvs(400_000).reshape(-1, n)
        expected = (abs(draws).max(axis=1) >= t).mean()
        assert ranking[name].mcb_pvalue == (1 if t == 0 else pytest.approx(expected, abs=0.003))


def test_systems_with_different_segments_have_no_ranking() -> None:
    rows = {name: list(np.asarray(row)[:, 0] / 1000) for name, row in ratings([50, 51, 52]).counts.items()}
    gap = {**rows, "b": [math.nan, *rows["b"][1:]]}
    comparison = compared([SegmentScores("x", gap, missing="pairwise"), ratings([50, 51, 52])])
    assert [ranking.metric for ranking in comparison.rankings] == ["rating"]
    assert [each.values["metric"] for each in comparison.caveats if each.kind == "not-ranked"] == ["x"]
    assert [found.metric for found in comparison.detectable] == ["x", "rating"]
    # All pairs are compared on the same segments if all systems lack the same scores.
    shared = {name: [math.nan, *row[1:]] for name, row in rows.items()}
    without = {name: row[1:] for name, row in rows.items()}
    (ranking,) = compared(SegmentScores("x", shared, missing="pairwise"), test="t-test").rankings
    assert ranking == ranked(SegmentScores("x", without), test="t-test")


@pytest.mark.parametrize("units", ["segments", "documents", "strata"])
def test_missing_scores_count_as_absent_in_detectable_differences(units: str) -> None:
    rows = {name: list(np.asarray(row)[:, 0] / 1000) for name, row in ratings([50, 50.5]).counts.items()}
    ids = [f"{s // 7}" for s in range(SEGMENTS)]
    options: dict[str, Any] = {"segments": {}, "documents": {"documents": ids}, "strata": {"strata": ids}}[units]
    gap = SegmentScores("x", {"a": [math.nan, *rows["a"][1:]], "b": [*rows["b"][:-1], math.nan]}, missing="pairwise")
    common = SegmentScores("x", {name: row[1:-1] for name, row in rows.items()})
    (expected,) = compared(common, **dict.fromkeys(options, ids[1:-1])).detectable
    assert compared(gap, **options).detectable[0].difference == pytest.approx(expected.difference)


@pytest.mark.parametrize("n_strata", [1, 7, 150])
def test_standard_errors_do_not_depend_on_blocks(n_strata: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    counts = rng.integers(0, 9, (4, 300, 3)) + rng.integers(0, 9, (300, 3))
    formula = Formula("ratio", lambda sums: (sums[..., 0] + 1) / (sums[..., 1] + sums[..., 2] + 1))
    sample = CountSample.from_counts(formula, counts).stratified(Strata(rng.permutation(300) % n_strata))
    pairs = [(b, a) for a, b in combinations(range(4), 2)]
    expected = [sample.linear.variance(*pair) for pair in pairs]
    np.testing.assert_allclose(sample.variances_of_differences(pairs), expected)
    monkeypatch.setattr(linear, "CELLS", 28)
    np.testing.assert_allclose(sample.variances_of_differences(pairs), expected)
