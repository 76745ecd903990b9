"""Values of coefficients of agreement against plain loops and SciPy; Williams' test."""

import math
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from agreement import agreement, of_vectors
from known import known
from meta_material import QUIET, Scores, Vote, judged, table, tau_by_loop, value
from reshuffle import meta
from reshuffle.meta import JudgedSet, ScoreTable
from told import assert_raises

CELL = st.one_of(st.integers(0, 3).map(float), st.just(math.nan))


@st.composite
def matrices(draw: st.DrawFn) -> tuple[Scores, Scores]:
    """Scores by a metric and by people, with ties and gaps."""
    shape = draw(st.integers(1, 5)), draw(st.integers(1, 6))
    cells = st.lists(CELL, min_size=shape[0] * shape[1], max_size=shape[0] * shape[1])
    x, y = (np.array(draw(cells)).reshape(shape) for _ in range(2))
    y[0, 0] = 1.0 if np.isnan(y).all() else y[0, 0]
    for at in range(shape[0]):  # a system that no one judged would be left out
        y[at, 0] = 2.0 if np.isnan(y[at]).all() else y[at, 0]
    x[0, 0] = 1.0 if np.isnan(x).all() else x[0, 0]
    return x, y


COEFFICIENTS = ["pearson", "spearman", "kendall-b", "kendall-c", "acc23", "tau23"]


@given(matrices(), st.sampled_from(["none", "sys", "item"]), st.booleans())
def test_values_of_cells_equal_their_definitions_group_by_group(
    cells: tuple[Scores, Scores], grouping: str, higher: bool
) -> None:
    x, y = cells
    test_set = JudgedSet.from_scores(table("m", x if higher else -x, higher), human=table("h", y))
    result = meta.segments(test_set, coefficients=COEFFICIENTS, groupings=grouping, **QUIET)
    for name in COEFFICIENTS:
        found = value(result, coefficient=name)
        assert found.value == pytest.approx(agreement(x, y, (grouping, name)), abs=1e-12, nan_ok=True)
        assert (found.reason is None) == (not math.isnan(found.value))


@st.composite
def voted(draw: st.DrawFn) -> tuple[Scores, list[Vote]]:
    """Scores with ties and gaps, and votes on them."""
    n, s = draw(st.integers(2, 5)), draw(st.integers(1, 6))
    x = np.array(draw(st.lists(CELL, min_size=n * s, max_size=n * s))).reshape(n, s)
    pair = st.lists(st.integers(0, n - 1), min_size=2, max_size=2, unique=True)
    votes = draw(st.lists(st.tuples(st.integers(0, s - 1), pair), min_size=1, max_size=20))
    x[0, 0] = 1.0 if np.isnan(x).all() else x[0, 0]
    return x, [(segment, *both) for segment, both in votes]  # type: ignore[misc]


@given(voted(), st.sampled_from(["half", "discordant", "ignore", "denominator"]))
def test_tau_from_votes_equals_a_loop(case: tuple[Scores, list[Vote]], ties: str) -> None:
    x, votes = case
    judgments = judged("abcde"[: len(x)], x.shape[1], votes)
    test_set = JudgedSet.from_scores(table("m", x), judgments=judgments)
    found = value(meta.segments(test_set, ties=ties, **QUIET))
    compared = [
        (x[better, segment], x[worse, segment])
        for segment, better, worse in votes
        if not (math.isnan(x[better, segment]) or math.isnan(x[worse, segment]))
    ]
    decided = any(a != b for a, b in compared)
    assert found.value == pytest.approx(tau_by_loop(x, votes, ties) if decided else math.nan, nan_ok=True)
    assert found.n == len(compared)
    assert found.ties == ties
    if not decided:
        assert found.reason is not None
    elif len(compared) < len(votes):
        assert found.reason == f"{len(votes) - len(compared)} votes without a score of the metric are left out"


@given(matrices(), st.sampled_from([0.0, 1.0, 2.0]))
def test_darr_counts_pairs_with_a_large_human_difference(cells: tuple[Scores, Scores], least: float) -> None:
    x, y = cells
    votes = [
        (j, better, worse)
        for j in range(x.shape[1])
        for a, b in combinations(range(len(x)), 2)
        for better, worse in ((a, b), (b, a))
        if y[better, j] > y[worse, j] and y[better, j] - y[worse, j] >= least
    ]
    test_set = JudgedSet.from_scores(table("m", x), human=table("h", y))
    found = value(meta.segments(test_set, coefficients="darr", minimum_difference=least, **QUIET))
    expected = tau_by_loop(x, votes, "discordant")
    has_order = any(x[b, j] != x[w, j] for j, b, w in votes if not math.isnan(x[b, j] + x[w, j]))
    assert found.value == pytest.approx(expected if has_order else math.nan, nan_ok=True)
    assert (found.grouping, found.ties) == ("votes", "discordant")


def test_darr_counts_a_pair_of_decimals_that_differ_by_just_so_much() -> None:
    people = [[70.1, 62.4, 0.7], [45.1, 37.4, 0.6]]  # as floats, the first and the last difference are too small
    for rows, least, n in ((slice(2), 25.0, 2), (slice(2, 3), 0.1, 1)):
        human = table("h", np.array(people)[:, rows])
        test_set = JudgedSet.from_scores(table("m", [[2.0] * n, [1.0] * n]), human=human)
        found = value(meta.segments(test_set, coefficients="darr", minimum_difference=least, **QUIET))
        assert (found.value, found.n) == (1.0, n)


SYSTEM_SCORE = st.one_of(st.integers(-3, 3).map(float), st.just(math.nan))


@given(
    st.integers(1, 7).flatmap(
        lambda n: st.tuples(
            st.lists(SYSTEM_SCORE, min_size=n, max_size=n),
            st.lists(st.integers(0, 4).map(float), min_size=n, max_size=n),
        )
    )
)
def test_agreement_on_systems_equals_scipy_and_a_loop(scores: tuple[list[float], list[float]]) -> None:
    names = tuple("abcdefg"[: len(scores[0])])
    given_scores, human = (ScoreTable(name, names, None, np.array(own)) for name, own in zip("mh", scores, strict=True))
    result = meta.systems(JudgedSet.from_scores(given_scores, human=human), **QUIET)
    both = [(a, b) for a, b in zip(*scores, strict=True) if not math.isnan(a)]
    x, y = [a for a, _ in both], [b for _, b in both]
    enough = len(x) >= 3 and len(set(x)) > 1 and len(set(y)) > 1
    for name in ("pearson", "spearman", "kendall-b"):
        found = value(result, coefficient=name)
        assert found.value == pytest.approx(
            of_vectors(name, x, y, [1] * len(x)) if enough else math.nan, abs=1e-12, nan_ok=True
        )
        assert found.n == len(x)
        assert (found.reason is None) == enough
    ordered = [
        (a > c) - (a < c) == (b > d) - (b < d) for (a, b), (c, d) in combinations(zip(x, y, strict=True), 2) if b != d
    ]
    found = value(result, coefficient="accuracy")
    assert found.value == pytest.approx(np.mean(ordered) if enough else math.nan, nan_ok=True)
    if enough:
        assert found.n == len(ordered)


def test_williams_test_of_published_scores(data: Path) -> None:
    """The p-value printed by Graham & Baldwin's scripts (example-output), one-sided, with n − 2 degrees of freedom."""
    folder = data / "williams-test-examples" / "example-data"
    human = meta.read_scores(folder / "mt-systems-scored-by-humans", language_pair="es-en")
    tables = meta.read_all_scores(folder / "mt-systems-scored-by-metrics", language_pair="es-en")
    test_set = JudgedSet.from_scores(list(tables.values()), human=human)
    result = meta.systems(test_set, coefficients="pearson")
    printed = {"AMBER": 0.880651168828011, "BLEU_4_closest_cased": 0.760352368043568}
    assert {each.metric: each.value for each in result.results} == pytest.approx(printed, abs=1e-12)
    (pair,) = result.comparisons
    assert (pair.test, pair.degrees_of_freedom, pair.n) == ("williams", 9.0, 12)
    assert pair.pvalue == pytest.approx(0.02491754132819098)  # two-sided, n − 3
    people = known(human.system_scores)
    amber, bleu = (m.system_scores for m in test_set.metrics)
    assert meta.williams(people, amber, bleu, alternative="greater", df=10).pvalue == pytest.approx(0.0114079074943561)
    assert meta.williams(people, amber, bleu, alternative="greater").pvalue == pytest.approx(0.01245877066409549)


@given(st.integers(0, 2**32), st.integers(4, 12))
def test_williams_formula(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    people, first, second = rng.normal(0, 1, (3, n))
    r = np.corrcoef([people, first, second])
    r12, r13, r23 = r[0, 1], r[0, 2], r[1, 2]
    k = 1 - r12**2 - r13**2 - r23**2 + 2 * r12 * r13 * r23
    t = (r12 - r13) * math.sqrt(
        (n - 1) * (1 + r23) / (2 * (n - 1) / (n - 3) * k + ((r12 + r13) / 2) ** 2 * (1 - r23) ** 3)
    )
    found = meta.williams(people, first, second)
    assert found.statistic == pytest.approx(t, rel=1e-9)
    assert found.pvalue == pytest.approx(2 * scipy.stats.t.sf(abs(t), n - 3), rel=1e-9)
    assert found == pytest.approx(meta.williams(r12, r13, r23, n))
    swapped = meta.williams(people, second, first)
    assert swapped.statistic == pytest.approx(-found.statistic)
    one_sided = [meta.williams(people, first, second, alternative=side).pvalue for side in ("greater", "less")]
    assert sum(one_sided) == pytest.approx(1)
    assert meta.williams(people, first, first).pvalue == 1
    # Powers of 2, so that only the exponents differ: squares of the first overflow, of the second vanish.
    assert meta.williams(people, np.ldexp(first, 1000), np.ldexp(second, -1000)) == found
    assert math.isnan(meta.williams(people, np.ones(n), second).pvalue)


def test_williams_refuses() -> None:
    assert_raises("python_errors_of_meta_values", globals())
