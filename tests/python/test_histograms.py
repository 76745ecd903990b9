"""Histograms of null distributions and of draws, against numpy and exact fractions on all replicates."""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, make_dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reshuffle
from budgets import budget
from counts import bleu_counts
from known import known
from reshuffle import AR, BesagClifford, FromCounts, Gandy, Histogram, _core, compare, read_json
from reshuffle.data.packed import unpacked_records
from reshuffle.metrics.base import Scores
from reshuffle.report import render
from reshuffle.report.json import packed_records
from reshuffle.resampling import Batch, CountSample, Replicates, Series
from reshuffle.resampling.histograms import TAIL, histogram, histogram_of_probabilities
from reshuffle.results.schemas import as_dict
from reshuffle.settings import Resampling
from told import assert_raises

BLEU = reshuffle.metric("bleu")
SYSTEMS = ("base", "first", "second")
COUNTS = dict(zip(SYSTEMS, bleu_counts(3, 3, 70, 0.03), strict=True))
NATIVE = FromCounts("BLEU", COUNTS, BLEU)
IN_PYTHON = FromCounts("BLEU", COUNTS, lambda totals: BLEU.score(totals))
R = 700
OTHER_DERIVATIVES = "a formula in Python has finite differences, not the derivatives that the stand-alone test uses"

# The distribution of a test, and its observed statistic.
Null = tuple[Scores, Scores | None, float]


def twin(values: Scores, weights: Scores | None = None) -> Histogram | None:
    """The histogram by its definition: the narrowest 256 bins that hold all values, joined to 64, in fractions."""
    kept = np.isfinite(values)
    exact = [Fraction(value) for value in values[kept].tolist()]
    n = [1] * len(exact) if weights is None else weights[kept].tolist()
    if not exact:
        return None
    lowest, highest = min(exact), max(exact)
    if lowest == highest:
        return Histogram(float(lowest), 0.0, (sum(n),))
    resolution = max(math.frexp(max(abs(lowest), abs(highest)))[1] - 52, -1000)
    for exponent in range(resolution, 1024):
        unit = Fraction(2) ** exponent
        first, used = math.floor(lowest / unit), math.floor(highest / unit) - math.floor(lowest / unit) + 1
        if used <= 256:
            break
    joined = math.ceil(used / 64)
    first -= (joined * 64 - used) // 2
    counts = [0] * 64
    for value, number in zip(exact, n, strict=True):
        counts[(math.floor(value / unit) - first) // joined] += number
    return Histogram(float(first * unit), float(joined * unit), tuple(counts))


def check(expected: Null, got: Histogram | None) -> None:
    """The histogram of a test is the twin of its null distribution."""
    values, probabilities, observed = expected
    assert isinstance(got, reshuffle.NullHistogram)
    assert got.observed == pytest.approx(observed, rel=1e-12, abs=1e-12)
    if probabilities is not None:
        below, above = np.cumsum(probabilities), np.cumsum(probabilities[::-1])[::-1]
        values = np.where((below > TAIL) & (above > TAIL), values, np.nan)
    same = known(twin(values, probabilities))
    assert (same.low, same.width) == (got.low, got.width)
    assert same.counts == pytest.approx(got.counts, rel=1e-12)
    if probabilities is None:
        assert same.counts == got.counts
        assert all(type(count) is int for count in got.counts)


# A product with a subnormal number can be 0.
NUMBERS = (
    st.floats(-1e6, 1e6, allow_subnormal=False) | st.integers(-3, 3).map(float) | st.sampled_from([math.nan, math.inf])
)


@given(st.lists(NUMBERS, min_size=1, max_size=99))
@settings(max_examples=budget(400))
def test_a_histogram_is_that_of_its_definition(values: list[float]) -> None:
    scores = np.array([values], dtype=float)
    feed = _core.Feed([_core.Histograms([(0, 1)])], 2, n=len(values))
    feed.update(scores, [0])
    (fed,) = feed.results()
    for ends, counts in (fed.histograms, _core.histograms(scores, [0], None, np.zeros(1))):
        ((low, width),), (of_bins,) = ends.tolist(), counts.tolist()
        expected = twin(scores[0])
        if expected is None:
            assert math.isnan(low)
            assert not any(of_bins)
        else:
            assert expected == Histogram(low, width, tuple(of_bins if width else of_bins[:1]))


def null_of(result: reshuffle.SignificanceResult, statistic: float | None = None) -> Null:
    """The distribution that a test has kept, and its statistic."""
    observed = result.statistic if statistic is None else statistic
    return known(result.null_distribution), result.null_probabilities, float(observed)


def kept(test: AR | str, pair: tuple[str, str]) -> Null:
    """The null distribution of a test of one pair alone."""
    a, b = (COUNTS[name] for name in pair)
    options: dict[str, Any] = {"keep_null_distribution": True, "n_resamples": R}
    if isinstance(test, str):
        return null_of(reshuffle.bootstrap_test(a, b, BLEU, test=test, **options))
    options |= {"scheme": test.scheme, "stopping": test.stopping}
    result = reshuffle.approximate_randomization(
        a, b, BLEU, test="ar-studentized" if test.studentized else "ar", **options
    )
    return null_of(result, result.statistic / known(result.standard_error) if test.studentized else None)


RULES: list[BesagClifford | Gandy] = [BesagClifford(3), BesagClifford(40), Gandy(0.05), Gandy(0.4)]
TESTS: list[AR | str] = [
    *(AR(studentized=studentized) for studentized in (False, True)),
    *(AR(scheme=scheme) for scheme in ("iid", "subgroup")),
    *(AR(studentized=studentized, stopping=rule) for rule in RULES for studentized in (False, True)),
    *(f"bootstrap{kind}" for kind in ("", "-both", "-percentile", "-shift")),
    "paired-bootstrap",
]


@pytest.mark.parametrize("measure", [NATIVE, IN_PYTHON], ids=["native", "in Python"])
@pytest.mark.parametrize("test", TESTS, ids=str)
def test_the_histogram_of_a_pair_is_that_of_the_null_distribution(test: AR | str, measure: FromCounts) -> None:
    """Of a test that stops, it is that of the shuffles that were used."""
    rule = None if isinstance(test, str) else test.stopping
    if isinstance(test, AR) and test.studentized and measure is IN_PYTHON:
        pytest.skip(OTHER_DERIVATIVES)
    alpha = rule.alpha if isinstance(rule, Gandy) else 0.05
    options: dict[str, Any] = {"metrics": measure, "test": test, "n_resamples": R, "adjust": "none", "alpha": alpha}
    comparison = compare(**options, all_pairs=True)
    for pair in comparison.comparisons:
        check(kept(test, (pair.system, pair.baseline)), pair.null)
        assert sum(known(pair.null).counts) == pair.test.n_resamples
    assert not isinstance(rule, BesagClifford) or len({pair.test.n_resamples for pair in comparison.comparisons}) > 1
    assert [found.draws is not None for found in comparison.scores] == [True] * 3
    without = compare(**options, interval=None)
    assert [found.draws is not None for found in without.scores] == [isinstance(test, str)] * 3
    assert [pair.null for pair in without.comparisons] == [pair.null for pair in comparison.comparisons[:2]]


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_exact_tests_have_all_patterns_or_probabilities(alternative: str) -> None:
    rng = np.random.default_rng(5)
    few = {name: np.where(np.arange(70)[:, None] < 6, rows, COUNTS["base"]) for name, rows in COUNTS.items()}
    edits = {name: rng.integers(0, 9, (70, 1)) for name in SYSTEMS}
    for counts, formula, by in ((few, BLEU, "patterns"), (edits, lambda t: t[..., 0] / 70, "convolution")):
        comparison = compare(
            metrics=FromCounts("m", counts, formula), test="ar:scheme=exact", all_pairs=True, alternative=alternative
        )
        for pair in comparison.comparisons:
            assert pair.test.exact_by == by
            result = reshuffle.approximate_randomization(
                counts[pair.system], counts[pair.baseline], formula, keep_null_distribution=True, scheme="exact"
            )
            check(null_of(result), pair.null)
            total = 1.0 if by == "convolution" else 64
            assert sum(known(pair.null).counts) == pytest.approx(total, abs=2.1e-9)


def test_exact_and_random_tests_are_mixed() -> None:
    both = {**COUNTS, "second": np.where(np.arange(70)[:, None] < 5, COUNTS["second"], COUNTS["base"])}
    of_metric: dict[str, tuple[Any, Any]] = {
        "BLEU": (both, BLEU),
        "matches": ({name: rows[:, 2:3] for name, rows in both.items()}, mean),
    }
    measures = [FromCounts(name, counts, formula) for name, (counts, formula) in of_metric.items()]
    comparison = compare(metrics=measures, test="ar", all_pairs=True, n_resamples=R, adjust="none")
    schemes = {(pair.metric, pair.test.scheme) for pair in comparison.comparisons}
    assert schemes > {("BLEU", "exact"), ("BLEU", "iid")}
    for pair in comparison.comparisons:
        counts, formula = of_metric[pair.metric]
        result = reshuffle.approximate_randomization(
            counts[pair.system],
            counts[pair.baseline],
            formula,
            scheme=pair.test.scheme or "auto",
            keep_null_distribution=True,
            n_resamples=R,
        )
        check(null_of(result), pair.null)


def mean(totals: Any) -> Any:
    return np.asarray(totals)[..., 0] / 70


def test_permutations_are_counted_in_rust_and_in_python() -> None:
    comparisons = [
        compare(metrics=measure, test="permutation", all_pairs=True, n_resamples=R) for measure in (NATIVE, IN_PYTHON)
    ]
    sample = CountSample.from_counts(BLEU, np.stack([*COUNTS.values()]))
    scores = sample.permutation_scores(Batch(12345, 0, R, threads=1))
    for comparison in comparisons:
        for pair in comparison.comparisons:
            a, b = (SYSTEMS.index(name) for name in (pair.system, pair.baseline))
            check((scores[a] - scores[b], None, pair.difference), pair.null)


def test_the_histograms_of_draws_have_all_scores() -> None:
    for measure in (NATIVE, IN_PYTHON):
        comparison = compare(metrics=measure, n_resamples=R)
        (draws,) = Replicates([CountSample.from_counts(BLEU, np.stack([*COUNTS.values()]))], Resampling(R, 12345)).draws
        assert [twin(own) for own in draws] == [found.draws for found in comparison.scores]
        assert comparison.scores == reshuffle.score(metrics=measure, n_resamples=R, interval="percentile").scores
    assert [found.draws for found in reshuffle.score(metrics=NATIVE).scores] == [None] * 3


SET_COUNTS = {
    name: dict(zip(SYSTEMS, bleu_counts(i, 3, 50, 0.03), strict=True)) for i, name in enumerate(("news", "talks"))
}
SETS = {name: reshuffle.TestSet(metrics=FromCounts("BLEU", counts, BLEU)) for name, counts in SET_COUNTS.items()}


@pytest.mark.parametrize("test", ["ar", "bootstrap-both", "permutation"])
def test_averages_over_test_sets_have_the_means_of_their_replicates(test: str) -> None:
    result = reshuffle.compare_sets(SETS, test=test, all_pairs=True, n_resamples=R)
    replicates = [
        Replicates([CountSample.from_counts(BLEU, np.stack([*counts.values()]))], Resampling(R, of_set.seed or 0))
        for counts, of_set in zip(SET_COUNTS.values(), result.sets.values(), strict=True)
    ]
    for pair in known(result.average).comparisons:
        a, b = (SYSTEMS.index(name) for name in (pair.system, pair.baseline))
        if test == "ar":
            values = [of_set.run([Series()], [(a, b)])[0][0, 0] for of_set in replicates]
        else:
            both = [
                of_set.draws[0] if test != "permutation" else of_set.samples[0].permutation_scores(each)
                for of_set in replicates
                for each in of_set.batches(R, "permuting")
            ]
            means = (both[0] + both[1]) / 2
            values = [means[a] - means[b] - (0 if test == "permutation" else pair.null.observed)] * 2  # type: ignore[union-attr]
        check(((values[0] + values[1]) / 2, None, pair.difference), pair.null)
    for found in known(result.average).scores:
        assert sum(known(found.draws).counts) == R


TEXTS = {
    name: [" ".join("abcdefg"[: 1 + int(n)]) for n in np.random.default_rng(i).integers(0, 7, 30)]
    for i, name in enumerate(SYSTEMS)
}


def n_words(hypotheses: Sequence[str], references: Any) -> float:
    return sum(len(line.split()) for line in hypotheses) / 30


@pytest.mark.parametrize("test", ["ar", "ar-studentized", "permutation", "bootstrap-both"])
def test_functions_of_texts_have_the_histograms_of_the_same_counts(test: str) -> None:
    counts = {name: np.array([[len(line.split())] for line in lines]) for name, lines in TEXTS.items()}
    iid = ":scheme=iid" if test.startswith("ar") else ""
    options: dict[str, Any] = {"n_resamples": 99, "all_pairs": True}
    of_texts = compare(TEXTS["base"], TEXTS, reshuffle.CorpusFunction("words", n_words), test=f"{test}{iid}", **options)
    metrics = FromCounts("words", counts, lambda t: t[..., 0] / 30)
    of_counts = compare(metrics=metrics, test=f"{test.partition('-st')[0]}{iid}", **options)
    assert [pair.null for pair in of_counts.comparisons] == [pair.null for pair in of_texts.comparisons]
    assert [found.draws for found in of_counts.scores] == [found.draws for found in of_texts.scores]


@pytest.mark.parametrize("test", ["ar", "bootstrap-both"])
def test_missing_scores_leave_histograms_of_all_replicates(test: str) -> None:
    rng = np.random.default_rng(2)
    rows = {name: np.where(rng.random(40) < 0.3, np.nan, rng.normal(i, 2, 40)) for i, name in enumerate(SYSTEMS)}
    measure = reshuffle.SegmentScores("rating", rows, missing="pairwise")
    comparison = compare(metrics=measure, test=test, all_pairs=True, n_resamples=R)
    for pair in comparison.comparisons:
        assert sum(known(pair.null).counts) == R
        assert known(pair.null).observed == pytest.approx(pair.difference, abs=1e-9)
    assert [sum(found.draws.counts) for found in comparison.scores if found.draws] == [R] * 3


@pytest.mark.parametrize("test", ["ar", "ar-studentized", "bootstrap-both", "permutation"])
def test_identical_systems_have_a_single_bin(test: str) -> None:
    test += ":scheme=iid" if test.startswith("ar") else ""
    same = FromCounts("BLEU", dict.fromkeys(SYSTEMS, COUNTS["base"]), BLEU)
    comparison = compare(metrics=same, test=test, all_pairs=True, n_resamples=99)
    assert [pair.null for pair in comparison.comparisons] == [reshuffle.NullHistogram(0.0, 0.0, (99,), 0.0)] * 3
    assert read_json(render(comparison, "json")) == comparison


def test_tests_without_replicates_have_no_histograms() -> None:
    rows = {name: np.random.default_rng(i).normal(0, 1, 20) for i, name in enumerate(SYSTEMS)}
    for test in ("t-test", "wilcoxon", "sign-test", "anova"):
        comparison = compare(
            metrics=reshuffle.SegmentScores("x", rows), test=test, interval="t", adjust="none", all_pairs=True
        )
        assert {pair.null for pair in comparison.comparisons} == {None}
        assert {found.draws for found in comparison.scores} == {None}


def test_statistics_that_are_not_finite_are_left_out() -> None:
    # All segments differ by the same amount, so the standard error of the observed difference is 0.
    rows = {"base": np.arange(20.0), "first": np.arange(20.0) + 1}
    for adjust in ("none", "maxt"):
        (pair,) = compare(
            metrics=reshuffle.SegmentScores("x", rows), test="ar-studentized:scheme=iid", adjust=adjust
        ).comparisons
        assert pair.test.standard_error == 0
        # Without an adjustment the difference is not divided where shuffles have the same order without division.
        assert (pair.null is None) == (adjust == "maxt")
        assert pair.null is None or pair.null.observed == 1
    assert histogram(np.array([math.inf, math.nan])) is None
    assert histogram(np.array([math.inf, 1.0, math.nan])) == Histogram(1.0, 0.0, (1,))
    assert histogram_of_probabilities(np.array([math.inf]), np.array([1.0])) is None
    assert histogram_of_probabilities(np.array([2.0]), np.array([1.0])) == Histogram(2.0, 0.0, (1.0,))


# --- JSON in HTML reports


@dataclass(frozen=True)
class Point:
    x: object
    y: object


POINTS = [Point(1, "a"), Point(1, "b"), (Point(1, "a"),), (Point(2, "b"), Point(2, Point(1, 2))), (), (1, 2)]
VALUES = st.sampled_from(
    [*POINTS, "a", "b", 1, 1.0, None, True, [1, 2], {"x": 1, "y": "a"}, {"x": 2, "y": "a"}, {"x": 1}]
)


Record = make_dataclass("Record", ["k", "all", "fields", "items", "n"])


@given(st.data())
def test_packed_values_are_unpacked(data: st.DataObject) -> None:
    n = data.draw(st.integers(0, 12))
    columns = {key: data.draw(st.lists(VALUES, min_size=n, max_size=n)) for key in ("k", "all", "fields", "items")}
    # Without any list, only one record is believed.
    columns["n"] = list(range(n))
    records = [Record(*row) for row in zip(*columns.values(), strict=True)]
    document, *written = (json.loads(json.dumps(each, default=as_dict)) for each in (packed_records(records), *records))
    assert written == unpacked_records(document)


def with_columns(document: Any) -> str:
    """The JSON of a result whose packed pairs are these."""
    whole = json.loads(render(compare(metrics=NATIVE, n_resamples=9), "json"))
    return json.dumps({**whole, "comparisons": document})


def damaged(**change: Any) -> str:
    """The JSON of a result whose first histogram is changed."""
    document = json.loads(render(compare(metrics=NATIVE, n_resamples=99), "json"))
    document["comparisons"][0]["null"] |= change
    return json.dumps(document)


def test_damaged_columns_and_histograms_are_refused_with_their_place() -> None:
    assert_raises("python_errors_of_histograms", globals())
    document = json.loads(damaged())
    del document["comparisons"][0]["null"], document["scores"][0]["draws"]
    read = read_json(json.dumps(document))  # as earlier versions wrote it
    assert read.comparisons[0].null is read.scores[0].draws is None  # type: ignore[union-attr]
