"""Soft pairwise accuracy: values, draws and swaps against plain loops."""

from dataclasses import replace
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from known import ends
from meta_material import judged, table, value
from reshuffle import FromCounts, _core, derive_seed, meta
from reshuffle.meta import JudgedSet, ScoreTable
from reshuffle.meta.metric_scores import MetricScores
from reshuffle.meta.soft_accuracy import PERMUTATIONS, _counts, _Material, pair_pvalues
from reshuffle.resampling import CountSample
from reshuffle.settings import Resampling
from test_resampling import flips
from texts import translations

Scores = np.ndarray[Any, Any]

SEED = 5
SOFT: dict[str, Any] = {"coefficients": "soft-accuracy", "seed": SEED}
QUIET: dict[str, Any] = {**SOFT, "test": None, "interval": None}


@cache
def signs(n: int) -> Scores:
    """−1 for swapped segments: (permutations, n)."""
    inner = derive_seed(SEED, "simulation", 0)
    return np.array([np.where(flips(int(inner), k, n), -1, 1) for k in range(PERMUTATIONS)])


def pvalues(cells: Scores) -> Scores:
    """One-sided p-values that the first system of each pair is better, by sums of (N, S) scores."""
    found = []
    for a, b in combinations(range(len(cells)), 2):
        difference = cells[a] - cells[b]
        reached = signs(len(difference)) @ difference >= difference.sum() - 1e-9
        found.append((reached.sum() + 1) / (PERMUTATIONS + 1))
    return np.array(found)


def soft(cells: Scores, human: Scores) -> float:
    return float(1 - np.abs(pvalues(cells) - pvalues(human)).mean())


def material(seed: int, n: int = 4, s: int = 9) -> tuple[dict[str, Scores], Scores, JudgedSet]:
    rng = np.random.default_rng(seed)
    human = np.round(rng.normal(0, 2, (n, s)) + np.arange(n)[:, None])
    cells = {name: np.round(human + rng.normal(0, noise, (n, s))) for name, noise in (("x", 1), ("y", 4), ("ter", 2))}
    tables = [table("x", cells["x"]), table("y", cells["y"]), table("ter", -cells["ter"], higher=False)]
    return cells, human, JudgedSet.from_scores(tables, human=table("people", human))


@pytest.mark.parametrize("seed", range(4))
def test_values_equal_their_definition(seed: int) -> None:
    cells, human, test_set = material(seed)
    result = meta.systems(test_set, **QUIET)
    for name, own in cells.items():
        assert value(result, name).value == pytest.approx(soft(own, human), abs=1e-12)
        assert value(result, name).n == 6


def test_only_segments_that_all_have_scored_count() -> None:
    cells, human, _ = material(1)
    human[0, 2], cells["x"][3, 4] = np.nan, np.nan
    tables = [table("x", cells["x"]), table("y", cells["y"])]
    result = meta.systems(JudgedSet.from_scores(tables, human=table("people", human)), **QUIET)
    there = [0, 1, 3, 5, 6, 7, 8]
    for name in ("x", "y"):
        assert value(result, name).value == pytest.approx(soft(cells[name][:, there], human[:, there]), abs=1e-12)


@pytest.mark.parametrize("unit", ["both", "inputs", "systems"])
def test_tests_equal_their_definition(unit: str) -> None:
    cells, human, test_set = material(2)
    n, (k, s) = 39, human.shape
    result = meta.systems(test_set, **SOFT, test=f"perm-{unit}", interval=None, n_resamples=n)
    scaled = {name: (own - own.mean()) / own.std() for name, own in cells.items()}
    for pair in result.comparisons:
        a, b = scaled[pair.metric_a], scaled[pair.metric_b]
        observed = soft(a, human) - soft(b, human)
        assert pair.difference == pytest.approx(observed, abs=1e-11)
        reached = 0
        for r in range(n):
            swap = flips(SEED, r, {"both": k * s, "inputs": s, "systems": k}[unit])
            swap = swap.reshape(k, s) if unit == "both" else swap if unit == "inputs" else swap[:, None]
            shuffled = soft(np.where(swap, b, a), human) - soft(np.where(swap, a, b), human)
            reached += abs(shuffled) >= abs(observed) - 1e-10
        assert pair.pvalue == pytest.approx((reached + 1) / (n + 1))


@pytest.mark.parametrize("interval", ["boot-inputs", "boot-systems", "boot-both"])
def test_intervals_equal_their_definition(interval: str) -> None:
    """Pairs of copies of a system are left out."""
    cells, human, test_set = material(4)
    n, (k, s) = 39, human.shape
    result = meta.systems(test_set, **SOFT, test=None, interval=interval, n_resamples=n)
    pairs = list(combinations(range(k), 2))
    values: dict[str, list[float]] = {name: [] for name in cells}
    for r in range(n):
        chosen = _core.stream_indices(SEED, r, k, k, purpose="selection")
        copies = np.ones(k) if interval == "boot-inputs" else np.bincount(chosen, minlength=k)
        weights = np.array([copies[a] * copies[b] for a, b in pairs])
        drawn = np.repeat(np.arange(s), 1 if interval == "boot-systems" else _core.draw_weights(SEED, r, s))
        assert weights.any()
        for name, own in cells.items():
            apart = np.abs(pvalues(own[:, drawn]) - pvalues(human[:, drawn]))
            values[name].append(1 - float(np.average(apart, weights=weights)))
    for name, found in values.items():
        assert ends(value(result, name)) == pytest.approx((min(found), max(found)), abs=1e-10)


def test_identical_metrics_have_p_1_and_the_same_interval() -> None:
    cells, human, _ = material(5)
    tables = [table("x", cells["x"]), table("y", 3 * cells["x"] + 1), table("z", -cells["x"], higher=False)]
    test_set = JudgedSet.from_scores(tables, human=table("people", human))
    for test in ("perm-both", "perm-inputs", "perm-systems", "boot-inputs", "boot-both", "boot-systems"):
        result = meta.systems(test_set, **SOFT, test=test, n_resamples=49)
        assert {(pair.pvalue, pair.difference) for pair in result.comparisons} == {(1.0, 0.0)}
        assert len({each.confidence_interval for each in result.results}) == 1
        assert {each.letters for each in result.groups} == {"a"}


@pytest.mark.parametrize("votes", [False, True])
def test_pvalues_equal_those_of_approximate_randomization(votes: bool) -> None:
    rng = np.random.default_rng(10)
    references, outputs = translations(70, 0.7, 0.72, 0.68, 0.65)
    systems = dict(zip("pqrs", outputs.values(), strict=True))
    human: Scores = np.round(rng.normal(0, 1, (4, 70)))
    human[1, 4:7] = np.nan
    ballots = [(s, a, b) for s in range(69) for a in range(4) for b in range(4) if human[a, s] > human[b, s]]
    people: dict[str, Any] = {"judgments": judged("pqrs", 70, ballots)}
    if not votes:
        people = {"human": ScoreTable("people", tuple(systems), human, None, True)}
    given = JudgedSet.from_texts(references, systems, ["bleu", "chrf", "ter", "nist"], **people)
    chrf = given.metrics[1]
    assert chrf.sample is not None
    counts = np.stack([chrf.sample.counts[:, :, 0], chrf.sample.counts[:, :, 1]], axis=2)
    formula = FromCounts("F", dict(zip(systems, counts, strict=True)), lambda sums: sums[..., 0] / (1 + sums[..., 1]))
    of_python = MetricScores("F", False, chrf.segments, chrf.system_scores, CountSample.from_counts(formula, counts))
    scores = np.round(rng.normal(0, 1, (4, 70)))
    scores[2, 9] = np.nan
    table_of = MetricScores.from_table(ScoreTable("t", tuple(systems), scores, None, False), tuple(systems), 70)
    test_set = replace(given, metrics=(of_python, *given.metrics, table_of))
    material, _ = _Material.of(test_set, votes)
    assert material is not None
    assert len(material.segments) == (69 if votes else 66)
    resampling = Resampling(500, 3, 2)
    got = material.pvalues(resampling)
    samples = [material.people, *(_counts(m, material.segments) for m in material.metrics)]
    of = samples, [1, *(m.sign for m in material.metrics)], list(combinations(range(4), 2))
    expected = pair_pvalues(*of, resampling)
    assert np.array_equal(np.vstack(got), expected)
    assert len(np.unique(expected)) > 20
    result = meta.systems(test_set, **QUIET, scored_segments="all")
    people, *own = pair_pvalues(*of, Resampling(PERMUTATIONS, derive_seed(SEED, "simulation", 0)))
    values = [1 - np.abs(each - people).mean() for each in own]
    assert [each.value for each in result.results] == pytest.approx(values)


def test_votes_are_shares_of_wins() -> None:
    cells, human, _ = material(6)
    votes = [(s, a, b) for s in range(9) for a in range(4) for b in range(4) if human[a, s] > human[b, s]]
    test_set = JudgedSet.from_scores(
        [table("x", cells["x"]), table("y", cells["y"])], judgments=judged("abcd", 9, votes)
    )
    result = meta.systems(test_set, **SOFT, n_resamples=99)
    won, voted = np.zeros((2, 4, 9))
    for s, a, b in votes:
        won[a, s] += 1
        voted[[a, b], s] += 1
    swaps, found = signs(9) < 0, []
    for a, b in combinations(range(4), 2):

        def difference(swap: Scores, a: int = a, b: int = b) -> float:
            rows = [np.where(swap, other, own) for own, other in (((won[a]), won[b]), (won[b], won[a]))]
            sums = [np.where(swap, other, own) for own, other in ((voted[a], voted[b]), (voted[b], voted[a]))]
            return float(rows[0].sum() / sums[0].sum() - rows[1].sum() / sums[1].sum())

        observed = difference(np.zeros(9, dtype=bool))
        reached = sum(difference(swap) >= observed - 1e-9 for swap in swaps)
        found.append((reached + 1) / (PERMUTATIONS + 1))
    for name in ("x", "y"):
        expected = 1 - np.abs(pvalues(cells[name]) - np.array(found)).mean()
        assert value(result, name).value == pytest.approx(expected)
        assert value(result, name).confidence_interval is not None


def test_reasons() -> None:
    cells, human, _ = material(7)
    people = table("people", human)

    def reason(metric: ScoreTable, **human: Any) -> str | None:
        result = meta.systems(JudgedSet.from_scores([metric, table("other", cells["y"])], **human), **QUIET)
        assert np.isnan(value(result, metric.name).value)
        return value(result, metric.name).reason

    x, constant = table("x", cells["x"]), table("c", np.tile(cells["x"][:1], (4, 1)))
    holes, gaps = cells["x"].copy(), human.copy()
    holes[1] = gaps[0, 1:] = np.nan
    of_systems = ScoreTable("s", ("a", "b", "c", "d"), None, np.array([0.0, 1, 2, 3]))
    same = table("people", np.tile(human[:1], (4, 1)))
    for own, judges, expected in (
        (constant, people, "the metric gives all systems the same scores"),
        (table("h", holes), people, "the metric lacks scores of segments of some system"),
        (of_systems, people, "the metric lacks scores of segments of some system"),
        (x, of_systems, "people scored systems, but no segments"),
        (x, same, "people gave all systems the same scores"),
        (x, ScoreTable("people", ("a", "b"), human[:2], None), "2 systems: at least 3 are needed"),
        (x, table("people", gaps), "fewer than 2 segments have scores of all systems by people and all metrics"),
    ):
        assert reason(own, human=judges) == expected
    # The other metrics still have values.
    both = JudgedSet.from_scores([constant, table("y", cells["y"])], human=people)
    result = meta.systems(both, **SOFT, n_resamples=49)
    assert not np.isnan(value(result, "y").value)
    assert result.comparisons == ()


def test_threads_do_not_change_results() -> None:
    test_set = material(9)[2]
    results = [meta.systems(test_set, **SOFT, n_resamples=99, workers=threads) for threads in (1, 2, 4)]
    assert results[0] == results[1] == results[2]
