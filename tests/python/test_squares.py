"""Standard errors and document effects of all pairs from one matrix equal those computed pair by pair."""

import math
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from budgets import budget
from known import known
from reshuffle import Formula, FromCounts, SegmentScores, compare, metric, standard_error
from reshuffle.metrics.base import Counts, Metric, Scores
from reshuffle.resampling import CountSample, squares
from reshuffle.resampling.linear import gradient
from reshuffle.resampling.squares import CLOSE, Squares
from reshuffle.resampling.units import Documents, Strata, document_effect, document_effects, paired_influence

RATIO = Formula("ratio", lambda totals: 100 * totals[..., 0] / (1 + totals[..., 1]))
METRICS: list[Metric] = [metric("bleu"), metric("ter"), metric("chrf"), metric("nist"), metric("sentbleu"), RATIO]


def width(m: Metric) -> int:
    return 2 if m.core is None else len(m.core.columns)


def systems_of(m: Metric, seed: int, k: int, n: int, kinds: list[int]) -> Counts:
    """Counts of k systems. Kinds: 0 a new system, 1 a copy of the one before, 2 a copy that differs in one segment."""
    rng = np.random.default_rng(seed)
    # Counts decrease along a row, as matches are at most the n-grams that they are divided by.
    out = [np.sort(rng.integers(1, 40, size=(n, width(m))), axis=1)[:, ::-1].copy()]
    for kind in kinds[: k - 1]:
        last = out[-1]
        new = np.where(rng.random((n, 1)) < 0.5, last, rng.permutation(last)) if kind == 0 else last.copy()
        if kind == 2:
            new[rng.integers(n)] += 1
        out.append(new)
    return np.stack(out)


def delta_of_a_pair(m: Metric, a: Counts, b: Counts, strata: Strata) -> float:
    """By definition: the counts of a and the differences to b, times their gradients in the linearized difference."""
    centred = a - np.rint(a.mean(axis=0)).astype(np.int64)
    rows = np.concatenate([centred, a - b], axis=1)
    of_a, of_b = (gradient(m, x[None], x[None].sum(axis=1))[0] for x in (a, b))
    return strata.variance((rows - rows.mean(axis=0)) @ np.concatenate([of_a - of_b, of_b]))


def ids_of(seed: int, n: int, groups: int) -> list[int]:
    return [*range(groups), *np.random.default_rng(seed).integers(0, groups, size=n - groups).tolist()]


SEEDS = st.integers(0, 10**6)
KINDS = st.lists(st.integers(0, 2), min_size=4, max_size=4)


@settings(max_examples=budget(60))
@given(st.sampled_from(METRICS), SEEDS, st.integers(3, 400), st.integers(1, 3), KINDS)
@example(METRICS[0], 1, 400, 1, [1, 2, 0, 2])
def test_variances_of_all_pairs_equal_those_pair_by_pair(
    m: Metric, seed: int, n: int, n_strata: int, kinds: list[int]
) -> None:
    counts = systems_of(m, seed, 5, n, kinds)
    strata = Strata(np.array(ids_of(seed, n, min(n_strata, n // 2))))
    sample = CountSample.from_counts(m, counts).stratified(strata)
    for a, b in combinations(range(5), 2):
        expected = delta_of_a_pair(m, counts[a], counts[b], strata)
        assert sample.linear.variance(a, b) == pytest.approx(expected, rel=1e-9)
        assert sample.linear.variance(b, a) == pytest.approx(expected, rel=1e-9)
        left_out = sample.leave_one_out[a] - sample.leave_one_out[b]
        assert sample.jackknife.variance(a, b) == pytest.approx(strata.variance(left_out), rel=1e-9)
        if (counts[a] == counts[b]).all():
            assert (sample.linear.variance(a, b), sample.jackknife.variance(a, b)) == (0.0, 0.0)


@pytest.mark.parametrize("m", METRICS, ids=lambda m: m.name)
def test_the_variance_of_a_tiny_difference_is_exact(m: Metric) -> None:
    n = 20_000
    counts = systems_of(m, 3, 3, n, [2, 0])
    strata = Strata(np.zeros(n, np.intp))
    sample = CountSample.from_counts(m, counts)
    of_one, close = sample.linear.variance(0), sample.linear.variance(0, 1)
    assert 0 < close < CLOSE * of_one
    assert close == pytest.approx(delta_of_a_pair(m, counts[0], counts[1], strata), rel=1e-12)


@settings(max_examples=budget(60))
@given(SEEDS, st.integers(4, 300), st.integers(2, 300), KINDS)
@example(5, 8, 8, [0, 1, 2, 0])
def test_document_effects_of_all_pairs_equal_those_pair_by_pair(
    seed: int, n: int, groups: int, kinds: list[int]
) -> None:
    sample = CountSample.from_counts(metric("bleu"), systems_of(metric("bleu"), seed, 5, n, kinds))
    documents = Documents(np.array(ids_of(seed, n, min(groups, n))))
    pairs = list(combinations(range(5), 2))
    found = list(document_effects(sample.scores, sample.leave_one_out, documents, pairs))
    for (a, b), (correlation, effect) in zip(pairs, found, strict=True):
        expected = document_effect(paired_influence(sample.scores, sample.leave_one_out, a, b), documents)
        assert correlation == pytest.approx(expected[0], rel=1e-9, abs=1e-9, nan_ok=True)
        assert effect == pytest.approx(expected[1], rel=1e-9, abs=1e-9, nan_ok=True)
        identical = (sample.counts[a] == sample.counts[b]).all() and documents.n_documents < n
        assert math.isnan(effect) or not identical


def test_results_do_not_depend_on_the_size_of_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    values, weights = rng.normal(size=(7, 1000)), rng.random(1000)
    whole = Squares(values, weights)
    monkeypatch.setattr(squares, "PRODUCTS", 1000)
    for a, b in combinations(range(7), 2):
        expected = (weights * (values[a] - values[b]) ** 2).sum()
        for found in (whole.between(a, b), Squares(values, weights).between(a, b)):
            assert found == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("options", [{}, {"documents": True}, {"strata": True}, {"documents": True, "strata": True}])
@pytest.mark.parametrize("method", ["delta", "jackknife"])
def test_intervals_of_a_comparison_equal_those_of_each_pair(method: str, options: dict[str, bool]) -> None:
    n, rng = 120, np.random.default_rng(6)
    ids: dict[str, Any] = {name: (np.arange(n) // (6 if name == "documents" else 60)).tolist() for name in options}
    bleu = systems_of(metric("bleu"), 7, 6, n, [0, 1, 2, 0, 0])
    ratings: Scores = np.round(rng.normal(70, 10, (6, n)), 2)
    names = [f"s{i}" for i in range(6)]
    by_name = [dict(zip(names, each, strict=True)) for each in (bleu, bleu[..., :2], ratings)]
    counts = [FromCounts("BLEU", by_name[0], "bleu"), FromCounts("ratio", by_name[1], RATIO.function)]
    metrics = [*counts, SegmentScores("rating", by_name[2])]
    found = compare(metrics=metrics, all_pairs=True, interval=method, n_resamples=1, **ids).comparisons
    assert len(found) == 45
    given_to: dict[str, Any] = {"BLEU": (bleu, "bleu"), "ratio": (bleu[..., :2], RATIO), "rating": (ratings, None)}
    for pair in found:
        systems, scoring = given_to[pair.metric]
        a, b = (systems[names.index(name)] for name in (pair.system, pair.baseline))
        error = standard_error(a, scoring, b=b, method=method, **ids)
        interval = known(pair.confidence_interval)
        reach = (interval.high - interval.low) / 2
        assert reach == pytest.approx(1.959963984540054 * error, rel=1e-9, abs=1e-12)
