"""Counts of pairs and votes, and tie calibration: against loops, SciPy and, where it is installed, mt-metrics-eval."""

import itertools
import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from reshuffle import _core

Matrix = NDArray[np.float64]
GROUPINGS = ("none", "sys", "item")


def groups(matrix: Matrix, grouping: str) -> list[Matrix]:
    """The cells of a matrix of systems × segments by group."""
    return {"none": [matrix.ravel()], "sys": list(matrix), "item": list(matrix.T)}[grouping]


def both(scores: Matrix, human: Matrix) -> tuple[list[float], list[float]]:
    kept = [(m, h) for m, h in zip(scores.tolist(), human.tolist(), strict=True) if m == m and h == h]
    return [m for m, _ in kept], [h for _, h in kept]


def pair_counts(scores: Matrix, human: Matrix, epsilon: float = 0.0) -> list[int]:
    """Concordant, discordant, tied only in the metric, tied only by people, tied in both: pair by pair."""
    counts = [0] * 5
    cells = list(zip(*both(scores, human), strict=True))
    for (m1, h1), (m2, h2) in itertools.combinations(cells, 2):
        tied = abs(m1 - m2) <= epsilon, h1 == h2
        if any(tied):
            counts[{(True, False): 2, (False, True): 3, (True, True): 4}[tied]] += 1
        else:
            counts[0 if (m1 > m2) == (h1 > h2) else 1] += 1
    return counts


@pytest.mark.parametrize("epsilon", [0.0, 0.05, 3.0])
@pytest.mark.parametrize("n", [40, 41, 150])
def test_long_groups_are_counted_like_short_ones(n: int, epsilon: float) -> None:
    rng = np.random.default_rng(n)
    scores = np.where(rng.random((3, n, 1)) < 0.1, np.nan, np.round(rng.normal(size=(3, n, 1)), 1))
    scores[0] = rng.normal(size=(n, 1))
    human = np.where(rng.random((n, 1)) < 0.1, np.nan, np.round(rng.normal(size=(n, 1)), 1))
    counts, _ = _core.meta_pair_counts(scores, human, "none", epsilons=np.full(3, epsilon))
    for metric in range(3):
        expected = pair_counts(scores[metric].ravel(), human.ravel(), epsilon)
        assert counts[metric, 0].tolist() == expected


def test_infinite_scores_are_compared_like_others() -> None:
    scores = np.array([[[np.inf, np.inf, -np.inf, -np.inf, 0.0]]])
    human = np.array([[3.0, 2.0, 1.0, 1.0, 5.0]])
    counts, _ = _core.meta_pair_counts(scores, human, "none", epsilons=np.array([1e300]))
    # inf and 0: discordant twice; -inf and 0: concordant twice; inf and -inf: concordant four times.
    assert counts[0, 0].tolist() == [6, 2, 1, 0, 1]
    epsilon, _ = _core.meta_calibrate(scores, human, "none")
    assert epsilon.tolist() == [0.0]


def all_candidates(scores: Matrix, human: Matrix, grouping: str) -> tuple[Matrix, Any, bool]:
    """Each ε and the accuracy that it adds, by sorting all pairs; and whether the accuracies are exact.

    They are unless groups have too many different sizes.
    """
    differences: list[Any] = [np.zeros(1)]
    gains, sizes = [np.zeros(1, dtype=np.int64)], [1]
    for m, h in zip(groups(scores, grouping), groups(human, grouping), strict=True):
        kept = ~(np.isnan(m) | np.isnan(h))
        i, j = np.triu_indices(int(kept.sum()), 1)
        if len(i):
            metric, people = m[kept][i] - m[kept][j], h[kept][i] - h[kept][j]
            differences.append(np.abs(metric))
            gains.append((people == 0).astype(np.int64) - (np.sign(metric) == np.sign(people)))
            sizes.append(len(i))
    order = np.argsort(np.concatenate(differences), kind="stable")
    unit = math.lcm(*sizes)
    exact = unit * len(sizes) < 2**62
    weights: list[Any] = [unit // size if exact else 1 / size for size in sizes]
    values = np.cumsum(np.concatenate([gain * weight for gain, weight in zip(gains, weights, strict=True)])[order])
    sorted_differences = np.concatenate(differences)[order]
    last = np.append(sorted_differences[1:] != sorted_differences[:-1], True)
    return sorted_differences[last], values[last], exact


def simulated(n_systems: int, n_segments: int, gaps: float, digits: int = 99) -> tuple[Matrix, Matrix]:
    """Scores of metrics that agree with people, more or less closely, who often see no difference."""
    rng = np.random.default_rng(n_systems)
    quality = rng.normal(size=(n_systems, n_segments)) + rng.normal(size=n_segments)
    human: Any = -np.round(np.maximum(0.0, 1.5 * quality + rng.normal(size=quality.shape)))
    noisy = [rng.normal(size=quality.shape) * noise - quality for noise in (0.3, 1.0, 3.0)]
    scores: Any = np.round(np.array(noisy), digits)
    human[rng.random(human.shape) < gaps] = np.nan
    scores[rng.random(scores.shape) < gaps] = np.nan
    scores[2] *= 1e-9
    return scores, human


@pytest.mark.parametrize(("grouping", "n_segments"), [("none", 40), ("sys", 80), ("item", 200)])
@pytest.mark.parametrize("n_systems", [6, 20])
@pytest.mark.parametrize("gaps", [0.0, 0.1])
@pytest.mark.parametrize("digits", [1, 99])
def test_buckets_of_pairs_miss_no_maximum(
    grouping: str, n_systems: int, n_segments: int, gaps: float, digits: int
) -> None:
    scores, human = simulated(n_systems, n_segments, gaps, digits)
    epsilons, counts = _core.meta_calibrate(scores, human, grouping, threads=3)
    for of_threads in (1, 4):
        again = _core.meta_calibrate(scores, human, grouping, threads=of_threads)
        assert again[0].tobytes() == epsilons.tobytes()
    for metric, of_metric in enumerate(scores):
        candidates, accuracies, exact = all_candidates(of_metric, human, grouping)
        chosen = np.flatnonzero(candidates == epsilons[metric])[0]
        tolerance = 0 if exact else 1e-10
        assert chosen == np.flatnonzero(accuracies >= accuracies.max() - tolerance)[0]
    defined = np.nan_to_num(epsilons)
    np.testing.assert_array_equal(counts, _core.meta_pair_counts(scores, human, grouping, epsilons=defined)[0])


@pytest.mark.parametrize("grouping", ["item", "sys"])
def test_calibration_is_that_of_mt_metrics_eval(grouping: str) -> None:
    # The package of this name on PyPI is another one, without statistics.
    stats = pytest.importorskip("mt_metrics_eval.stats")
    scores, human = simulated(6, 60, 0.1)
    gold = [None if np.isnan(score) else score for score in human.ravel().tolist()]
    epsilons, counts = _core.meta_calibrate(scores, human, grouping)
    for of_metric, epsilon, of_groups in zip(scores, epsilons, counts, strict=True):
        pairs = of_groups.sum(axis=1)
        ours = ((of_groups[:, 0] + of_groups[:, 4])[pairs > 0] / pairs[pairs > 0]).mean()
        for variant, expected in [("acc23", ours), ("23", 2 * ours - 1)]:
            value, threshold, _ = stats.KendallWithTiesOpt(
                gold, of_metric.ravel().tolist(), variant, len(human), grouping, sample_rate=1.0
            )
            np.testing.assert_allclose(value, expected, rtol=1e-9)
            # It adds up rounded accuracies, whose maximum may be another one of several that are equal.
            candidates, accuracies, _ = all_candidates(of_metric, human, grouping)
            of_ours, of_theirs = (accuracies[candidates == each][0] for each in (epsilon, threshold))
            np.testing.assert_allclose(of_ours, of_theirs, atol=1e-9)


def test_nothing_gives_nothing() -> None:
    none = np.zeros(0, dtype=np.int64)
    assert _core.meta_votes(np.zeros((2, 3, 4)), none, none, none, none).sum() == 0
    for shape in [(0, 3, 4), (2, 0, 4), (2, 3, 0)]:
        for grouping, n_groups in zip(GROUPINGS, (1, *shape[1:]), strict=True):
            counts, sizes = _core.meta_pair_counts(np.zeros(shape), np.zeros(shape[1:]), grouping)
            assert (counts.shape, counts.sum()) == ((shape[0], n_groups, 5), 0)
            assert sizes.shape == (shape[0], n_groups, 3)
            epsilons, _ = _core.meta_calibrate(np.zeros(shape), np.zeros(shape[1:]), grouping)
            assert epsilons.shape == shape[:1]
            assert np.isnan(epsilons).all()
