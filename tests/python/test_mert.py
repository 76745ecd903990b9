"""Minimum error rate training: line searches against plain loops and another tool's figures, searches, errors."""

import re
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kbest_files
from budgets import budget
from reshuffle import _core
from test_resampling import PURPOSES, random_values

Array = np.ndarray[Any, Any]


class Lists(NamedTuple):
    """What the core takes."""

    offsets: Array
    features: Array
    counts: Array
    metric: _core.Metric

    def best(self, weights: Array) -> Array:
        """The rows of the entries that the weights pick. The first of several wins."""
        scores = heights(self.features, weights)
        return np.array([a + int(np.argmax(scores[a:b])) for a, b in pairwise(self.offsets)])

    def score(self, weights: Array) -> float:
        return float(self.metric.scores(self.counts[self.best(weights)].sum(0, keepdims=True))[0])


def heights(features: Array, weights: Array) -> Array:
    """Feature scores, summed in the order of the features."""
    scores = np.zeros(len(features))
    for feature, weight in enumerate(weights):
        scores += weight * features[:, feature]
    return scores


def read(folder: Path, part: str) -> Lists:
    """Lists of kbest-wmt11-de-en, with BLEU counts."""
    lists, bleu = kbest_files.kbest(folder, part), _core.Metric("bleu", {"tokenize": "none"})
    return Lists(lists.offsets, lists.dense, lists.counts(bleu), bleu)


@pytest.fixture(scope="module")
def kbest(data: Path) -> Path:
    return data / "kbest-wmt11-de-en"


@pytest.fixture(scope="module")
def dev(kbest: Path) -> Lists:
    return read(kbest, "dev")


@pytest.fixture(scope="module")
def options(kbest: Path) -> Array:
    """Start weights, and the least and the largest weights."""
    return np.array([[float(x) for x in line.split()] for line in (kbest / "init.opt").read_text().splitlines()[:3]])


def stack(height: Array, slope: Array, order: Array) -> list[tuple[int, float]]:
    """The entries of an upper envelope and where each begins to be the best."""
    found: list[tuple[int, float]] = []
    for entry in order:
        if found and slope[found[-1][0]] == slope[entry]:
            continue
        start = -np.inf
        while found:
            top, began = found[-1]
            start = (height[top] - height[entry]) / (slope[entry] - slope[top])
            if start > began:
                break
            found.pop()
            start = -np.inf
        found.append((int(entry), start))
    return found


def slow_line(lists: Lists, weights: Array, direction: Array, ties: Array | None = None) -> tuple[Array, Array]:
    """The corners of a line, with infinities around them, and the scores between them. `ties` orders equal entries."""
    height, slope = heights(lists.features, weights), heights(lists.features, direction)
    ties = np.arange(len(height)) if ties is None else ties
    totals, events = np.zeros(lists.counts.shape[1], np.int64), []
    for a, b in pairwise(lists.offsets):
        order = np.lexsort((ties[a:b], -height[a:b], slope[a:b]))
        envelope = stack(height[a:b], slope[a:b], order)
        totals += lists.counts[a + envelope[0][0]]
        for (before, _), (after, x) in pairwise(envelope):
            events.append((x, lists.counts[a + after] - lists.counts[a + before]))
    events.sort(key=lambda event: event[0])
    places, rows = [-np.inf], [totals]
    for x, change in events:
        if x == places[-1]:
            rows[-1] = rows[-1] + change
        else:
            places.append(x)
            rows.append(rows[-1] + change)
    return np.array([*places, np.inf]), lists.metric.scores(np.array(rows))


def searched(lists: Lists, weights: Array, directions: Array, **options: Any) -> tuple[Array, ...]:
    return _core.tune_line_search(*lists, weights, np.ascontiguousarray(directions), **options)


def tuned(lists: Lists, seeds: list[int], start: Array, low: Array, high: Array, **options: Any) -> tuple[Array, ...]:
    weights = {"start": start.tolist(), "low": low.tolist(), "high": high.tolist()}
    arguments: dict[str, Any] = {**weights, **options, "seeds": seeds}
    return _core.tune_mert(lists.offsets, lists.features, lists.counts, lists.metric, **arguments)


def test_lines_are_those_that_another_tool_searched(dev: Lists, options: Array, golden: Path) -> None:
    # The figures are printed with four decimals of BLEU and six of the interval. Some lists hold entries of the same
    # features and different texts, of which the tool takes any; we take the first. On axes 6 and 8 that matters, and
    # the tool's BLEU is between those with ties in favour of the worse and of the better entry. Plain loops find these
    # two for axis 6.
    pattern = r"(\d+) thresholds (\d+) best BLEU (\S+) on \((\S+),(\S+)\); rescored \D+(\S+); at 0: (\S+)"
    known = [re.match(pattern, line) for line in (golden / "mert/linesearch_dev.txt").read_text().splitlines()]
    position, score, interval, corners, at_zero = searched(dev, options[0], np.eye(12))
    assert len(known) == 12
    quality = dev.metric.segment_scores(dev.counts)
    for axis, line in enumerate(known):
        assert line is not None
        assert int(line[1]) == axis
        # Corners a rounding error apart are one or two.
        assert abs(corners[axis] - int(line[2])) <= 2
        assert [f"{x:.6f}" for x in interval[axis]] == [line[4], line[5]]
        assert f"{at_zero[axis]:.4f}" == line[7]
        if axis == 6:
            worst, best = (slow_line(dev, options[0], np.eye(12)[axis], s * quality)[1].max() for s in (1, -1))
            assert worst - 1e-4 < float(line[3]) < best + 1e-4
            assert worst < score[axis] < best
        elif axis != 8:
            assert f"{score[axis]:.4f}" == line[3] == line[6]
        moved = options[0] + position[axis] * np.eye(12)[axis]
        assert dev.score(moved) == score[axis]


@st.composite
def problems(draw: st.DrawFn) -> Lists:
    """Small lists with ties, under a metric whose higher or lower scores are better."""
    sizes = draw(st.lists(st.integers(1, 9), min_size=1, max_size=5))
    rng = np.random.default_rng(draw(st.integers(0, 1 << 32)))
    metric = _core.Metric(draw(st.sampled_from(["bleu", "ter"])), {})
    features = rng.normal(0, 1, (sum(sizes), 3))
    if draw(st.booleans()):
        features = np.round(features)
    counts = rng.integers(1, 20, (sum(sizes), len(metric.columns)))
    return Lists(np.cumsum([0, *sizes]), features, counts, metric)


@given(problems(), st.integers(0, 1 << 32))
@settings(max_examples=budget(60))
def test_lines_of_invented_lists_are_those_of_plain_loops(lists: Lists, seed: int) -> None:
    rng = np.random.default_rng(seed)
    weights, directions = rng.normal(0, 1, 3), np.concatenate([np.eye(3), rng.normal(0, 1, (2, 3))])
    position, score, interval, _, at_zero = searched(lists, weights, directions)
    sign = 1 if lists.metric.higher_is_better else -1
    for line, direction in enumerate(directions):
        places, scores = slow_line(lists, weights, direction)
        gains = np.where(np.diff(places) > 1e-9, sign * scores, -np.inf)
        assert sign * score[line] == gains.max()
        assert at_zero[line] == lists.score(weights)
        part = int(np.flatnonzero(places == interval[line, 0])[0])
        assert gains[part] == gains.max()
        best = np.flatnonzero(gains == gains.max())
        here = [i for i in best if places[i] <= 0 <= places[i + 1]]
        assert part in (here or [best[0]])
        assert (position[line] == 0) == bool(here)


@pytest.mark.parametrize("name", ["moses", "cdec", "both"])
def test_presets_name_restarts_and_random_directions(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PURPOSES, "tuning", 9)
    rng = np.random.default_rng(3)
    lists = Lists(np.arange(0, 61, 6), rng.normal(0, 1, (60, 4)), rng.integers(1, 20, (60, 2)), _core.Metric("ter", {}))
    start, low, high = np.array([1, 0, 0, 0.5]), np.full(4, -1.0), np.full(4, 2.0)
    restarts, directions = {"moses": (20, 0), "cdec": (0, 5), "both": (20, 5)}[name]
    got = tuned(lists, [1, 2], start, low, high, preset=name)
    other = tuned(lists, [1, 2], start, low, high, preset="both", restarts=restarts, random_directions=directions)
    for one, two in zip(got, other, strict=True):
        np.testing.assert_array_equal(one, two)
    weights, scores, chosen, ends, steps = got
    assert (weights.shape, ends.shape, steps.shape) == ((2, 4), (2, restarts + 1, 2), (2, restarts + 1))
    assert np.abs(weights).sum(1) == pytest.approx([1, 1])
    assert scores.tolist() == [lists.score(w) for w in weights] == [ends[i, chosen[i], 1] for i in (0, 1)]
    # TER: lower is better.
    assert scores.tolist() == ends[:, :, 1].min(1).tolist()
    assert (ends[:, :, 1] <= ends[:, :, 0]).all()
    assert ends[:, 0, 0] == pytest.approx([lists.score(start)] * 2)
    draws = (random_values(2, 0, "tuning", 4, part=1) >> np.uint64(11)) / 2**53
    begun = low + (high - low) * draws if restarts else start
    assert ends[1, min(restarts, 1), 0] == lists.score(begun / np.abs(begun).sum())


@pytest.mark.slow
def test_tuned_scores_reach_those_of_moses(dev: Lists, kbest: Path, options: Array) -> None:
    # Moses' mert with 20 restarts and 5 random directions, 20 seeds: dev 26.56 (s_dev .044), test 25.59 (s_test .108).
    test = read(kbest, "test")
    weights, scores, *_ = tuned(dev, list(range(1, 21)), *options)
    assert scores.mean() >= 26.5
    assert 0.02 < scores.std(ddof=1) < 0.1
    held_out = np.array([test.score(w) for w in weights])
    assert 25.3 < held_out.mean() < 25.8
    assert held_out.std(ddof=1) > scores.std(ddof=1)
