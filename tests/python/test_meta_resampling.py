"""Replicates of coefficients of agreement: every statistic against plain loops on the same swaps and draws."""

import os
import signal
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from agreement import agreement, of_vectors, swaps
from budgets import budget
from meta_material import tau_by_loop
from reshuffle import InputError, _core

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

SEGMENT_COEFFICIENTS = ("pearson", "spearman", "kendall-b", "kendall-c", "accuracy", "acc23", "tau23")
SYSTEM_COEFFICIENTS = ("pearson", "spearman", "kendall-b", "kendall-c", "accuracy")
STATISTICS = [(grouping, name) for grouping in ("none", "sys", "item") for name in SEGMENT_COEFFICIENTS]
STATISTICS += [("system", name) for name in SYSTEM_COEFFICIENTS]
UNITS = ("both", "inputs", "systems")


def swapped(a: Floats, b: Floats, mask: Bools) -> tuple[Floats, Floats]:
    return np.where(mask, b, a), np.where(mask, a, b)


# Scores with many ties, gaps and constant groups. Multiples of 1/8 have exact sums and differences.


def matrix(draw: st.DrawFn, shape: tuple[int, ...], gaps: bool, largest: int) -> Floats:
    numbers = draw(st.lists(st.integers(0, largest), min_size=int(np.prod(shape)), max_size=int(np.prod(shape))))
    out = np.array(numbers, float).reshape(shape) / 8
    if gaps:
        missing = draw(st.lists(st.integers(0, out.size - 1), max_size=max(1, out.size // 3)))
        out.ravel()[missing] = np.nan
    return out


@st.composite
def problems(draw: st.DrawFn) -> tuple[Floats, Floats]:
    shape = (draw(st.integers(1, 5)), draw(st.integers(1, 5)))
    gaps, largest = draw(st.booleans()), draw(st.sampled_from([1, 3, 20, 500]))
    return matrix(draw, (3, *shape), gaps, largest), matrix(draw, shape, gaps, draw(st.sampled_from([1, 3, 20])))


PAIRS = np.array([(0, 1), (2, 0), (1, 1)])


def test_the_coefficients_of_vectors_are_scipys() -> None:
    rng = np.random.default_rng(7)
    for _ in range(20):
        x, y = rng.permutation(9) // 2 / 8, rng.permutation(9) // 3 / 8
        copies = rng.integers(1, 4, 9)
        copies[:2] = 0
        xs, ys = np.repeat(x, copies), np.repeat(y, copies)
        expected = [stats.pearsonr(xs, ys)[0], stats.spearmanr(xs, ys)[0]]
        expected += [stats.kendalltau(xs, ys, variant="b")[0], stats.kendalltau(xs, ys, variant="c")[0]]
        for name, other in zip(SEGMENT_COEFFICIENTS, expected, strict=False):
            assert of_vectors(name, x.tolist(), y.tolist(), copies.tolist()) == pytest.approx(other)


@pytest.mark.parametrize("statistic", STATISTICS, ids="-".join)
@settings(max_examples=budget(8))
@given(problem=problems(), unit=st.sampled_from(UNITS), seed=st.integers(0, 2**64 - 1))
def test_swapped_and_drawn_scores_have_the_values_of_a_plain_loop(
    statistic: tuple[str, str], problem: tuple[Floats, Floats], unit: str, seed: int
) -> None:
    scores, human = problem
    systems, segments = human.shape
    restricted = np.where(np.isnan(scores).any(axis=0), np.nan, human)
    of: dict[str, Any] = {"n": 2, "seed": seed, "first": 2, "threads": 1}
    permuted = _core.meta_permuted(scores, human, [statistic], unit, PAIRS, **of)[0]
    drawn = _core.meta_drawn(scores, human, [statistic], unit, **of)[0]
    for r in range(2):
        mask = swaps(seed, r + 2, unit, human.shape)
        for p, (a, b) in enumerate(PAIRS):
            values = [agreement(m, restricted, statistic) for m in swapped(scores[a], scores[b], mask)]
            np.testing.assert_allclose(permuted[p, r], values[0] - values[1], rtol=0, atol=1e-9)
        indices = _core.stream_indices(seed, r + 2, systems, systems, purpose="selection")
        copies = (
            [1] * systems if unit == "inputs" else np.bincount(indices, minlength=systems).tolist(),
            [1] * segments if unit == "systems" else _core.draw_weights(seed, r + 2, segments).tolist(),
        )
        expected = [agreement(metric, human, statistic, copies) for metric in scores]
        np.testing.assert_allclose(drawn[:, r], expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("shape", [(3, 30), (12, 4), (66, 2)], ids=["long", "wide", "many"])
def test_larger_groups_have_the_values_of_a_plain_loop(shape: tuple[int, int], unit: str) -> None:
    """Groups beyond the sizes at which tables and counts of single pairs end, and more than one block of replicates."""
    rng = np.random.default_rng(sum(shape))
    human = np.round(rng.normal(size=shape) * 4) / 4
    scores = np.round((rng.normal(size=(2, *shape)) + human) * 8) / 8
    scores[0, 0, 0] = human[1, 1] = np.nan
    common = np.where(np.isnan(scores).any(axis=0), np.nan, human)
    statistics = [s for s in STATISTICS if s[1] != "tau23" and not (s[1] == "acc23" and s[0] == "none")]
    got = _core.meta_permuted(scores, human, statistics, unit, PAIRS[:1], n=130, seed=5)[:, 0]
    mask = swaps(5, 129, unit, shape)
    for statistic, values in zip(statistics, got, strict=True):
        a, b = (agreement(metric, common, statistic) for metric in swapped(scores[0], scores[1], mask))
        np.testing.assert_allclose(values[129], a - b, rtol=0, atol=1e-9, err_msg=str(statistic))
    copies = (rng.integers(0, 3, (3, shape[0]), dtype=np.uint32), rng.integers(0, 3, (3, shape[1]), dtype=np.uint32))
    got = _core.meta_drawn(scores, human, statistics, unit, n=3, seed=0, copies=copies)[:, 0]
    for statistic, values in zip(statistics, got, strict=True):
        expected = agreement(scores[0], human, statistic, (copies[0][2].tolist(), copies[1][2].tolist()))
        np.testing.assert_allclose(values[2], expected, rtol=0, atol=1e-9, err_msg=str(statistic))


@pytest.mark.parametrize("ties", ["half", "denominator", "discordant", "ignore"])
@settings(max_examples=budget(20))
@given(problem=problems(), unit=st.sampled_from(UNITS), data=st.data())
def test_votes_have_the_values_of_a_plain_loop(
    ties: str, problem: tuple[Floats, Floats], unit: str, data: st.DataObject
) -> None:
    scores = problem[0]
    systems, segments = scores.shape[1:]
    vote = st.tuples(*(st.integers(0, n - 1) for n in (segments, systems, systems)), st.integers(0, 3))
    counted = data.draw(st.lists(vote.filter(lambda v: v[1] != v[2]), max_size=20)) if systems > 1 else []
    rows = np.array(counted, np.int64).reshape(-1, 4)
    segment, better, worse, n = (np.ascontiguousarray(column) for column in rows.T)
    votes = [each[:3] for each in counted for _ in range(each[3])]
    common = np.where(np.isnan(scores).any(axis=0), np.nan, scores)
    got = _core.meta_permuted_votes(scores, segment, better, worse, n, ties, unit, PAIRS, n=3, seed=9, threads=1)
    for r in range(3):
        mask = swaps(9, r, unit, (systems, segments))
        for p, (a, b) in enumerate(PAIRS):
            values = [tau_by_loop(metric, votes, ties) for metric in swapped(common[a], common[b], mask)]
            np.testing.assert_allclose(got[p, r], values[0] - values[1], rtol=0, atol=1e-12)


def test_nearly_constant_scores_lose_no_digits() -> None:
    """Scores far from 0 that hardly differ: sums of squares would cancel."""
    rng = np.random.default_rng(0)
    human = rng.normal(size=(5, 6))
    scores = 1e3 + rng.normal(size=(2, 5, 6)) * 1e-5
    scores[1] += 7
    for statistic in ((grouping, "pearson") for grouping in ("item", "none", "sys")):
        got = _core.meta_permuted(scores, human, [statistic], "inputs", PAIRS[:1], n=20, seed=1)[0, 0]
        for r in range(20):
            both = swapped(scores[0], scores[1], swaps(1, r, "inputs", human.shape))
            a, b = (agreement(m, human, statistic) for m in both)
            assert got[r] == pytest.approx(a - b, abs=1e-6)


def test_threads_batches_and_other_metrics_do_not_change_a_byte() -> None:
    rng = np.random.default_rng(8)
    human = np.round(rng.normal(size=(5, 20)), 1)
    human[rng.random(human.shape) < 0.2] = np.nan
    scores = np.round(rng.normal(size=(3, 5, 20)), 1)
    call: dict[str, Any] = {"n": 150, "seed": 5}
    for unit in UNITS:
        whole = _core.meta_permuted(scores, human, STATISTICS, unit, PAIRS, threads=1, **call)
        drawn = _core.meta_drawn(scores, human, STATISTICS, unit, threads=1, **call)
        again = _core.meta_permuted(scores, human, STATISTICS, unit, PAIRS, threads=4, **call)
        assert again.tobytes() == whole.tobytes()
        again = _core.meta_drawn(scores, human, STATISTICS, unit, threads=3, **call)
        assert again.tobytes() == drawn.tobytes()
        part = _core.meta_permuted(scores, human, STATISTICS, unit, PAIRS[1:2], n=70, first=30, seed=5)
        np.testing.assert_allclose(part[:, 0], whole[:, 1, 30:100], atol=1e-12)
        part = _core.meta_drawn(scores[1:], human, STATISTICS, unit, n=70, first=30, seed=5)
        assert part.tobytes() == np.ascontiguousarray(drawn[:, 1:, 30:100]).tobytes()


def test_nothing_in_common_is_undefined() -> None:
    nothing = np.full((3, 4), np.nan)
    scores = np.zeros((2, 3, 4))
    assert np.isnan(_core.meta_permuted(scores, nothing, STATISTICS, "both", PAIRS[:1], n=2, seed=1)).all()
    assert np.isnan(_core.meta_drawn(scores, nothing, STATISTICS, "both", n=2, seed=1)).all()
    assert _core.meta_permuted(scores, nothing, STATISTICS, "both", PAIRS[:0], n=2, seed=1).shape == (26, 0, 2)
    assert _core.meta_permuted(scores, nothing, [], "both", PAIRS[:1], n=2, seed=1).shape == (0, 1, 2)


def test_too_many_pairs_to_calibrate_are_refused_at_once() -> None:
    scores = np.zeros((2, 10, 700))
    with pytest.raises(InputError, match=r"at most 16777216 in replicates .* got 24496500"):
        _core.meta_permuted(scores, scores[0], [("none", "acc23")], "both", PAIRS[:1], n=1, seed=1)


def test_an_interrupt_stops_a_long_call() -> None:
    rng = np.random.default_rng(0)
    of = rng.normal(size=(2, 20, 2000)), rng.normal(size=(20, 2000)), [("none", "kendall-b")], "both"
    calls: list[Callable[..., Floats]] = [lambda **n: _core.meta_permuted(*of, PAIRS[:1], **n), _core.meta_drawn]
    for call, arguments in zip(calls, ((), of), strict=True):
        stop = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
        stop.start()
        with pytest.raises(KeyboardInterrupt):
            call(*arguments, n=10**5, seed=1)
        stop.join()


@pytest.mark.parametrize("level", ["input", "global", "system"])
@pytest.mark.parametrize("method", ["both", "inputs", "systems"])
def test_the_swaps_of_nlpstats_give_its_samples(level: str, method: str) -> None:
    """nlpstats 0.0.1: ``permutation_test(X, Y, Z, level, "kendall", method)`` draws from ``numpy.random``."""
    correlations = pytest.importorskip("nlpstats.correlations")
    rng = np.random.default_rng(2)
    human = np.round(rng.normal(size=(6, 9)), 1)
    scores = np.round(rng.normal(size=(2, 6, 9)) + human, 2)
    standardized = (scores - scores.mean(axis=(1, 2), keepdims=True)) / scores.std(axis=(1, 2), keepdims=True)
    for name, ours in [("pearson", "pearson"), ("kendall", "kendall-b"), ("spearman", "spearman")]:
        np.random.seed(7)  # noqa: NPY002
        samples = correlations.permutation_test(*scores, human, level, name, method, n_resamples=20).samples
        np.random.seed(7)  # noqa: NPY002
        masks = np.zeros((20, 6, 9), bool)
        for mask in masks:
            if method != "inputs":
                mask ^= np.random.rand(6, 1) > 0.5  # noqa: NPY002
            if method != "systems":
                mask ^= np.random.rand(1, 9) > 0.5  # noqa: NPY002
        statistic = ({"input": "item", "global": "none", "system": "system"}[level], ours)
        first, second = standardized
        both = ([agreement(m, human, statistic) for m in swapped(first, second, mask)] for mask in masks)
        np.testing.assert_allclose([a - b for a, b in both], samples, atol=1e-9)
