"""Meta-evaluation computed a second time, plainly, from its definitions: values, p-values, maxT, letters, clusters."""

from collections.abc import Callable
from functools import cache, partial
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from agreement import agreement, of_vectors, swaps
from known import ends, known
from meta_material import table
from reshuffle import _core, meta
from reshuffle.meta import JudgedSet
from step_down import step_down

Scores = np.ndarray[Any, Any]

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
    ("unit", "grouping"),
    [("both", "none"), ("both", "sys"), ("both", "item"), ("inputs", "none"), ("systems", "item")],
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
    for people in (table("people", human), table("people", factor * human)):
        usual, found = (JudgedSet.from_scores(each, human=people) for each in (tables, scaled))
        settings: dict[str, Any] = {"coefficients": ["pearson", "spearman"], "n_resamples": R, "interval": None}
        for one, other in zip(
            meta.segments(usual, **settings).results, meta.segments(found, **settings).results, strict=True
        ):
            assert one.value == pytest.approx(other.value, abs=1e-9)
        for pair, same in zip(
            meta.systems(usual, **settings, test="perm-both").comparisons,
            meta.systems(found, **settings, test="perm-both").comparisons,
            strict=True,
        ):
            assert (pair.difference, pair.pvalue) == pytest.approx((same.difference, same.pvalue), abs=1e-9)


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
