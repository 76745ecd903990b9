"""The test ``anova`` and its adjustments: against loops, SciPy, numerical integration and the paired t-test."""

import math
from itertools import combinations
from typing import Any

import numpy as np
import pytest
import scipy.integrate
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from budgets import budget
from known import ends, known
from reshuffle import Comparison, CorpusFunction, FromCounts, SegmentScores, compare, score
from reshuffle.inference.anova import studentized_range_isf, studentized_range_sf
from texts import translations
from told import assert_raises

Values = NDArray[np.float64]


def ratings(seed: int, systems: int, segments: int) -> dict[str, Values]:
    rng = np.random.default_rng(seed)
    difficulty = rng.normal(0, 2, segments)
    # Multiples of 1/64, so that no rounding to the fixed-point resolution changes them.
    return {f"s{i}": np.round(64 * (difficulty + rng.normal(i / 10, 1, segments))) / 64 for i in range(systems)}


def t_in_loops(values: Values, means: Values, strata: list[int] | None = None) -> tuple[Values, int]:
    """|t| of all pairs and the degrees of freedom, from (k, S) values: the definition, number by number."""
    k, n = values.shape
    strata = [0] * n if strata is None else strata
    squares = 0.0
    for s in range(n):
        block = [u for u in range(n) if strata[u] == strata[s]]
        for i in range(k):
            mean_of_system = sum(values[i, u] for u in block) / len(block)
            mean_of_segment = sum(values[j, s] for j in range(k)) / k
            mean = sum(values[j, u] for j in range(k) for u in block) / (k * len(block))
            squares += (values[i, s] - mean_of_system - mean_of_segment + mean) ** 2
    df = (k - 1) * (n - len(set(strata)))
    error = math.sqrt(2 * squares / df / n)
    return np.array([abs(means[y] - means[x]) / error for x, y in combinations(range(k), 2)]), df


def pvalues(comparison: Comparison) -> Values:
    return np.array([pair.test.pvalue for pair in comparison.comparisons])


def adjusted(comparison: Comparison) -> Values:
    return np.array([pair.test.adjusted_pvalue for pair in comparison.comparisons])


def check(comparison: Comparison, scheffe: Comparison, t: Values, df: int, k: int) -> None:
    assert np.allclose(pvalues(comparison), 2 * scipy.stats.t.sf(t, df), rtol=1e-8, atol=0)
    expected = scipy.stats.studentized_range.sf(math.sqrt(2) * t, k, df)
    assert np.allclose(adjusted(comparison), expected, rtol=1e-7, atol=1e-10)
    assert np.allclose(adjusted(scheffe), scipy.stats.f.sf(t**2 / (k - 1), k - 1, df), rtol=1e-8, atol=0)
    assert (pvalues(comparison) <= adjusted(comparison)).all()
    assert (adjusted(comparison) <= adjusted(scheffe) + 1e-12).all()


@settings(max_examples=budget(8), deadline=None)
@given(seed=st.integers(0, 999), systems=st.integers(3, 4), segments=st.integers(2, 12))
def test_means_are_compared_by_the_definition(seed: int, systems: int, segments: int) -> None:
    own = ratings(seed, systems, segments)
    values = np.stack(list(own.values()))
    t, df = t_in_loops(values, values.mean(axis=1))
    metric = SegmentScores("rating", own)
    tukey, scheffe = (
        compare(metrics=metric, test="anova", adjust=adjust, interval="t", all_pairs=True)
        for adjust in ("tukey", "scheffe")
    )
    check(tukey, scheffe, t, df, systems)
    errors = [pair.test.standard_error for pair in tukey.comparisons]
    assert np.allclose(np.abs([pair.test.statistic for pair in tukey.comparisons]), t * errors, atol=1e-9)
    assert "approximate" not in str(tukey)


@pytest.mark.parametrize("adjust", ["tukey", "scheffe"])
def test_simultaneous_intervals_are_those_of_tukey_and_scheffe(adjust: str) -> None:
    k, n = 4, 12
    metric = SegmentScores("rating", ratings(3, k, n))
    comparison = compare(metrics=metric, test="anova", adjust=adjust, interval="simultaneous", all_pairs=True)
    df = (k - 1) * (n - 1)
    critical = {
        "tukey": scipy.stats.studentized_range.ppf(0.95, k, df) / np.sqrt(2),
        "scheffe": np.sqrt((k - 1) * scipy.stats.f.ppf(0.95, k - 1, df)),
    }[adjust]
    assert len(comparison.comparisons) == 6
    for pair in comparison.comparisons:
        reach = critical * known(pair.test.standard_error)
        assert ends(pair) == pytest.approx((pair.difference - reach, pair.difference + reach), rel=1e-6)


def share(hypotheses: list[str], references: list[list[str | None]]) -> float:
    """The share of words that are right, which is not a mean of segment scores."""
    words, right = " ".join(hypotheses).split(), " ".join(filter(None, references[0])).split()
    return 100 * sum(map(str.__eq__, words, right)) / len(right)


@pytest.mark.parametrize("units", ["segments", "documents", "strata", "strata of documents"])
@pytest.mark.parametrize("name", ["bleu", "share"])
def test_other_scores_are_compared_by_jackknife_pseudo_values(name: str, units: str) -> None:
    references, systems = translations(24, 0.8, 0.75, 0.7)
    documents = [i // 2 for i in range(24)] if "documents" in units else None
    strata = [i // 10 for i in range(24)] if "strata" in units else None
    metric = "bleu" if name == "bleu" else CorpusFunction("share", share)
    options: dict[str, Any] = {"documents": documents, "strata": strata, "interval": "jackknife", "all_pairs": True}
    tukey, scheffe = (
        compare(references, systems, metric, test="anova", adjust=adjust, **options) for adjust in ("tukey", "scheffe")
    )

    unit = np.arange(24) if documents is None else np.array(documents)
    n = unit.max() + 1

    def score_without(system: str, left_out: int | None) -> float:
        kept = [i for i in range(24) if unit[i] != left_out]
        return score([references[i] for i in kept], {"a": [systems[system][i] for i in kept]}, metric).scores[0].score

    scores = np.array([score_without(system, None) for system in systems])
    without = np.array([[score_without(system, u) for u in range(n)] for system in systems])
    pseudo = scores[:, None] + (n - 1) * (without.mean(axis=1, keepdims=True) - without)
    assert np.allclose(pseudo.mean(axis=1), scores)
    of_units = None if strata is None else [strata[int(np.flatnonzero(unit == u)[0])] for u in range(n)]
    t, df = t_in_loops(pseudo, scores, of_units)
    check(tukey, scheffe, t, df, 3)
    thing = "document" if documents else "segment"
    assert all("approximate" in pair.caveats for pair in (*tukey.comparisons, *scheffe.comparisons))
    printed = " ".join(str(tukey).split())
    assert "anova is approximate, because it uses jackknife pseudo-values" in printed
    assert f"the score is not a mean of {thing} scores" in printed
    assert (f"unit:document[{n}]" in tukey.comparisons[0].test.signature) == (thing == "document")


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("k", "df"), [(2, 9), (16, 15 * 499), (100, 99 * 2999), (20, 29_997)])
def test_critical_values_have_their_probability(k: int, df: int) -> None:
    for alpha in (0.05, 0.001, *([0.99] if k == 20 else [])):
        critical = studentized_range_isf(alpha, k, df)
        assert studentized_range_sf(np.array([critical]), k, df)[0] == pytest.approx(alpha, rel=1e-6)


@pytest.mark.parametrize("adjust", ["tukey", "scheffe"])
def test_two_systems_have_the_p_of_the_paired_t_test(adjust: str) -> None:
    metric = SegmentScores("rating", ratings(1, 2, 50))
    (ours,) = compare(metrics=metric, test="anova", adjust=adjust, interval="t").comparisons
    (theirs,) = compare(metrics=metric, test="t-test", interval="t").comparisons
    assert ours.test.pvalue == pytest.approx(theirs.test.pvalue, rel=1e-12)
    assert ours.test.adjusted_pvalue == ours.test.pvalue


def test_identical_systems_and_errors_of_0() -> None:
    own = ratings(1, 2, 9)
    own["copy"] = own["s0"]
    comparison = compare(metrics=SegmentScores("x", own), test="anova", adjust="tukey", interval="t", all_pairs=True)
    same = comparison.pair("copy", "s0").test
    assert (same.pvalue, same.adjusted_pvalue) == (1, 1)

    first = own["s0"]
    # 0.1 is not a binary fraction, so the differences of floats are not all equal.
    shifted = {"a": first, "b": first + 0.1, "c": first, "d": first + 5}
    metric = SegmentScores("x", shifted)
    for adjust in ("tukey", "scheffe"):
        for pair in compare(metrics=metric, test="anova", adjust=adjust, interval="t", all_pairs=True).comparisons:
            expected = float({pair.system, pair.baseline} == {"a", "c"})
            assert (pair.test.pvalue, pair.test.adjusted_pvalue) == (expected, expected)


def test_unsupported_options_are_refused() -> None:
    assert_raises("python_errors_of_anova", globals() | {"metric": SegmentScores("x", ratings(0, 3, 5))})


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("test", "exponent"), [("t-test", -240), ("t-test", 240), ("anova", -240), ("anova", 240), ("anova", -960)]
)
def test_squares_of_tiny_and_huge_scores_neither_underflow_nor_overflow(test: str, exponent: int) -> None:
    rng = np.random.default_rng(5)
    scores = {name: rng.integers(0, 1 << 20, 30) / (1 << 20) for name in "abc"}

    def scaled(power: int) -> SegmentScores | FromCounts:
        if exponent > -960:
            return SegmentScores("m", {name: np.ldexp(values, power) for name, values in scores.items()})
        # Scores of segments are refused if they are so small, but not those of formulas.
        counts = {name: np.stack([np.rint(values * (1 << 20)), np.ones(30)], axis=1) for name, values in scores.items()}
        return FromCounts("m", counts, lambda totals: np.ldexp(totals[..., 0] / totals[..., 1], power))

    options: dict[str, Any] = {"test": test, "interval": None, "baseline": "a"}
    expected, found = (compare(metrics=scaled(power), **options) for power in (0, exponent))
    assert [pair.test.pvalue for pair in found.comparisons] == [pair.test.pvalue for pair in expected.comparisons]
