"""Meta-evaluation computed a second time, plainly, from its definitions: values, p-values, maxT, letters, clusters."""

import math
from collections.abc import Callable
from functools import cache, partial
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from agreement import agreement, of_vectors, swaps
from known import ends, known
from meta_material import QUIET, Scores, Vote, judged, table, tau_by_loop, value
from reshuffle import _core, meta
from reshuffle.meta import JudgedSet, ScoreTable
from reshuffle.meta.values import ALL_TIED
from step_down import step_down
from told import assert_raises

R = 39
FEW = 9  # where the twin takes long
SEED = 4


def of_systems(name: str, x: Scores, y: Scores) -> float:
    """The value for the means of systems."""
    a, b = np.nanmean(x, axis=1), np.nanmean(y, axis=1)
    return of_vectors(name, a.tolist(), b.tolist(), [1] * len(a))


def material(seed: int) -> tuple[dict[str, Scores], Scores, JudgedSet]:
    """Three metrics, one of which counts errors, and people: ties, gaps, a row without a spread."""
    rng = np.random.default_rng(seed)
    n, s = 5, 8
    human = np.round(rng.normal(0, 2, (n, s)) + np.arange(n)[:, None])
    cells = {name: np.round(human + rng.normal(0, noise, (n, s))) for name, noise in (("x", 1), ("y", 3), ("ter", 2))}
    cells["x"][1] = 2.0  # a constant system
    cells["y"][:, 3] = 1.0  # a constant segment
    human[0, 2], cells["y"][4, 5], cells["ter"][2, 7] = np.nan, np.nan, np.nan
    tables = [table("x", cells["x"]), table("y", cells["y"]), table("ter", -cells["ter"], higher=False)]
    return cells, human, JudgedSet.from_scores(tables, human=table("people", human))


def standardized(cells: dict[str, Scores], human: Scores) -> dict[str, Scores]:
    there = ~np.isnan(human)
    for own in cells.values():
        there &= ~np.isnan(own)
    common = {name: np.where(there, own, np.nan) for name, own in cells.items()}
    return {name: (own - np.nanmean(own)) / np.nanstd(own) for name, own in common.items()}


def replicates(
    value: Callable[[Scores], float], cells: dict[str, Scores], unit: str, n: int = R
) -> tuple[list[tuple[str, str]], Scores, Scores]:
    """All pairs of metrics, their observed differences, and those of all shuffles, (pairs, n)."""
    pairs = list(combinations(cells, 2))
    observed = np.array([value(cells[a]) - value(cells[b]) for a, b in pairs])
    found = np.empty((len(pairs), n))
    for r in range(n):
        swap = swaps(SEED, r, unit, next(iter(cells.values())).shape)
        for pair, (a, b) in enumerate(pairs):
            x, y = cells[a], cells[b]
            found[pair, r] = value(np.where(swap, y, x)) - value(np.where(swap, x, y))
    return pairs, observed, found


def stepdown(observed: Scores, found: Scores) -> Scores:
    """Step-down maxT of differences divided by their root mean square."""
    spread = np.sqrt((found**2).mean(axis=1))
    spread[spread == 0] = 1
    return step_down(np.abs(found) / spread[:, None], np.abs(observed) / spread)


SEGMENT_COEFFICIENTS = ["pearson", "spearman", "kendall-b", "kendall-c", "acc23", "tau23"]


# Every unit and every grouping; test_meta_resampling compares the core's values for all of them together.
@pytest.mark.parametrize(
    ("unit", "grouping"), [("both", "none"), ("both", "sys"), ("both", "item"), ("inputs", "none"), ("systems", "item")]
)
def test_segments_equal_their_definitions(unit: str, grouping: str) -> None:
    seed = {"both": 0, "inputs": 1, "systems": 2}[unit]
    cells, human, test_set = material(seed)
    result = meta.segments(
        test_set,
        coefficients=SEGMENT_COEFFICIENTS,
        groupings=grouping,
        test=f"perm-{unit}",
        interval=None,
        n_resamples=FEW,
        seed=SEED,
    )
    common = standardized(cells, human)
    by_definition = cache(
        lambda of: replicates(partial(agreement, human=human, statistic=(grouping, of)), common, unit, FEW)
    )
    for coefficient in SEGMENT_COEFFICIENTS:
        for each in (record for record in result.results if record.coefficient == coefficient):
            assert each.value == pytest.approx(agreement(cells[each.metric], human, (grouping, coefficient)), abs=1e-12)
        pairs, observed, found = by_definition("acc23" if coefficient == "tau23" else coefficient)
        assert not np.isnan(found).any()
        factor = 2 if coefficient == "tau23" else 1
        p = (1 + (np.abs(found) >= np.abs(observed)[:, None] - 1e-10).sum(axis=1)) / (FEW + 1)
        adjusted = stepdown(observed, found)
        compared = [record for record in result.comparisons if record.coefficient == coefficient]
        assert [(record.metric_a, record.metric_b) for record in compared] == pairs
        for at, record in enumerate(compared):
            assert record.difference == pytest.approx(factor * observed[at], abs=1e-11)
            assert (record.pvalue, record.adjusted_pvalue) == pytest.approx((p[at], adjusted[at]))


@pytest.mark.parametrize("unit", ["both", "inputs", "systems"])
def test_systems_equal_their_definitions(unit: str) -> None:
    cells, human, test_set = material(7)
    names = ["pearson", "spearman", "kendall-b", "accuracy"]
    result = meta.systems(
        test_set, coefficients=names, test=f"perm-{unit}", interval=None, n_resamples=R, seed=SEED, adjust="maxt"
    )
    common = standardized(cells, human)
    there = ~np.isnan(common["x"])
    people = np.where(there, human, np.nan)
    if unit == "systems":  # each system has one score, on the scale of the means of standardized cells
        people = np.nanmean(human, axis=1, keepdims=True)
        spread = {name: np.nanmean(own, axis=1).std() for name, own in common.items()}
        common = standardized({name: np.nanmean(own, axis=1, keepdims=True) for name, own in cells.items()}, people)
        common = {name: spread[name] * own for name, own in common.items()}
    for coefficient in names:
        for each in (record for record in result.results if record.coefficient == coefficient):
            assert each.value == pytest.approx(of_systems(coefficient, cells[each.metric], human), abs=1e-12)
        pairs, observed, found = replicates(partial(of_systems, coefficient, y=people), common, unit)
        p = (1 + (np.abs(found) >= np.abs(observed)[:, None] - 1e-10).sum(axis=1)) / (R + 1)
        compared = [record for record in result.comparisons if record.coefficient == coefficient]
        for at, record in enumerate(compared):
            assert (record.metric_a, record.metric_b) == pairs[at]
            assert record.difference == pytest.approx(observed[at], abs=1e-11)
            assert record.pvalue == pytest.approx(p[at]), coefficient
            assert record.adjusted_pvalue == pytest.approx(stepdown(observed, found)[at])


@pytest.mark.parametrize(
    ("coefficient", "grouping", "unit"), [("kendall-b", "item", "inputs"), ("pearson", "none", "both")]
)
def test_minp_equals_its_definition(coefficient: str, grouping: str, unit: str) -> None:
    cells, human, test_set = material(3)
    result = meta.segments(
        test_set, coefficients=coefficient, groupings=grouping, test=f"perm-{unit}", interval=None, n_resamples=R,
        seed=SEED, adjust="minp",
    )  # fmt: skip
    value = partial(agreement, human=human, statistic=(grouping, coefficient))
    pairs, observed, found = replicates(value, standardized(cells, human), unit)
    assert [(each.metric_a, each.metric_b) for each in result.comparisons] == pairs
    expected = step_down(np.abs(found), np.abs(observed), "minp")
    assert [each.adjusted_pvalue for each in result.comparisons] == pytest.approx(expected)
    assert (expected != stepdown(observed, found)).any()


@pytest.mark.parametrize("coefficient", ["pearson", "kendall-b"])
def test_intervals_of_drawn_segments_equal_their_definitions(coefficient: str) -> None:
    cells, human, test_set = material(5)
    result = meta.segments(
        test_set, coefficients=coefficient, groupings="item", test="boot-inputs", n_resamples=R, seed=SEED
    )
    draws = [np.repeat(np.arange(8), _core.draw_weights(SEED, r, 8)) for r in range(R)]

    def drawn(own: Scores, people: Scores) -> Scores:
        return np.array([agreement(own[:, draw], people[:, draw], ("item", coefficient)) for draw in draws])

    for each in result.results:
        own = drawn(cells[each.metric], human)
        assert ends(each) == pytest.approx((own.min(), own.max()), abs=1e-10)  # 2.5% of 40 steps
    common = standardized(cells, human)
    for pair in result.comparisons:
        apart = drawn(common[pair.metric_a], human) - drawn(common[pair.metric_b], human)
        assert ends(pair) == pytest.approx((apart.min(), apart.max()), abs=1e-10)
        least = min((apart <= 1e-12).sum(), (apart >= -1e-12).sum())
        assert pair.pvalue == pytest.approx(min(1, 2 * (least + 1) / (R + 1)))


@pytest.mark.parametrize("factor", [1e70, 1e-9])
def test_huge_and_tiny_scores_agree_as_others_do(factor: float) -> None:
    cells, human, _ = material(6)
    tables = [table("x", cells["x"]), table("y", cells["y"])]
    scaled = [table("x", factor * cells["x"]), table("y", factor * cells["y"])]
    settings: dict[str, Any] = {"coefficients": ["pearson", "spearman"], "n_resamples": R, "interval": None}
    for people in (table("people", human), table("people", factor * human)):
        usual, found = (
            [
                *(each.value for each in meta.segments(test_set, **settings).results),
                *(each.difference for each in meta.systems(test_set, **settings, test="perm-both").comparisons),
                *(each.pvalue for each in meta.systems(test_set, **settings, test="perm-both").comparisons),
            ]
            for test_set in (JudgedSet.from_scores(each, human=people) for each in (tables, scaled))
        )
        assert found == pytest.approx(usual, abs=1e-9)


@pytest.mark.parametrize("test", ["t-both", "perm-both"])
@pytest.mark.parametrize("grouping", ["none", "item"])
def test_ties_of_decimals_are_those_of_whole_numbers(test: str, grouping: str) -> None:
    # Scores that are equally far apart stay so, although 0.3 − 0.2 and 0.2 − 0.1 differ as floats, and so may scores
    # after they are standardized: else a calibrated ε would take some of these pairs as ties.
    rng = np.random.default_rng(1)
    quality = rng.normal(0, 1, (5, 40))
    human = table("people", quality.round().clip(-1, 1))
    ratings = {name: (3 + quality + rng.normal(0, noise, (5, 40))).round() for name, noise in (("x", 0.7), ("y", 1.0))}

    def numbers(factor: float) -> list[float]:
        tables = [table(name, cells / factor) for name, cells in ratings.items()]
        settings: dict[str, Any] = {"coefficients": ["acc23"], "groupings": grouping, "test": test, "n_resamples": 99}
        found = meta.segments(JudgedSet.from_scores(tables, human=human), **settings)
        for each in found.results:
            assert each.value == pytest.approx(
                agreement(ratings[each.metric], known(human.segments), (grouping, "acc23"))
            )
        (pair,) = found.comparisons
        assert pair.difference == pytest.approx(found.results[0].value - found.results[1].value)
        epsilons = [known(each.epsilon) * factor for each in found.results]
        of_metrics = [end for each in found.results for end in ends(each)]
        return [*of_metrics, *epsilons, pair.difference, *ends(pair), pair.pvalue]

    assert numbers(10) == pytest.approx(numbers(1))


def test_systems_with_equal_sums_of_decimals_are_tied() -> None:
    # Sums of decimals as floats depend on their order.
    rng = np.random.default_rng(0)
    row = rng.integers(0, 11, 7)
    human = np.array([row, row[::-1], np.roll(row, 3), row + 1, row - 1])
    metric = np.array([np.roll(row, 2), row, rng.permutation(row), row + 2, row - 2])
    names = ["spearman", "kendall-b", "accuracy"]
    for factor in (1, 10):
        test_set = JudgedSet.from_scores([table("m", metric / factor)], human=table("people", human / factor))
        found = meta.systems(test_set, coefficients=names, test=None, interval=None)
        assert [each.value for each in found.results] == pytest.approx([1.0] * 3)
        assert len({each.score for each in found.human}) == 3


# --- Values; Williams' test


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


@given(matrices(), st.sampled_from(["none", "sys", "item"]), st.booleans())
def test_values_of_cells_equal_their_definitions_group_by_group(
    cells: tuple[Scores, Scores], grouping: str, higher: bool
) -> None:
    x, y = cells
    test_set = JudgedSet.from_scores(table("m", x if higher else -x, higher), human=table("h", y))
    result = meta.segments(test_set, coefficients=SEGMENT_COEFFICIENTS, groupings=grouping, **QUIET)
    for name in SEGMENT_COEFFICIENTS:
        found = value(result, coefficient=name)
        assert found.value == pytest.approx(agreement(x, y, (grouping, name)), abs=1e-12, nan_ok=True)
        assert (found.reason in (None, ALL_TIED)) == (not math.isnan(found.value))


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
