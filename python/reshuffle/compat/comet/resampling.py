"""comet-compare's numbers: bootstrap means, wins and ties, and paired t-tests of all pairs of systems.

Facts from unbabel-comet 2.2.7, ``comet/cli/compare.py``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from reshuffle import InputError

Scores: TypeAlias = "Sequence[float] | NDArray[Any]"

# Means of draws that differ by less are a tie.
TIE = 0.001
ALTERNATIVES = ("two-sided", "less", "greater")
# Numbers that are processed at once: as many as stay in the processor's cache.
BLOCK = 1 << 19


def statistical_results(
    scores: Mapping[str, Scores],
    *,
    num_splits: int = 300,
    sample_ratio: float = 0.4,
    t_test_alternative: str = "two-sided",
    seed: int = 1,
) -> list[dict[str, Any]]:
    """What comet-compare computes for each pair of systems.

    Parameters
    ----------
    scores : mapping of str to S floats
        The segment scores of each system.
    num_splits : int
        The number of bootstrap draws.
    sample_ratio : float
        The size of a draw, as a share of the segments.
    t_test_alternative : {'two-sided', 'less', 'greater'}
        Of the paired t-test.
    seed : int
        1 in comet-compare, which cannot be changed there.

    Returns
    -------
    list of dict
        The objects in ``statistical_results`` of comet-compare's JSON. Scores are rounded to 32 bits, as there. p is
        NaN for systems with the same scores.

    Raises
    ------
    InputError
        If there are fewer than two systems, or systems have different numbers of segments; if a score is not finite.

    Notes
    -----
    comet-compare's draws have ``sample_ratio`` of the segments, so that means of draws vary more than means of test
    sets of this size, and p-values are not adjusted for several pairs. :func:`reshuffle.compare` with
    :class:`reshuffle.SegmentScores` has neither defect.

    Examples
    --------
    >>> (pair,) = statistical_results({"a": [0.5, 0.625, 0.75, 0.5], "b": [0.5, 0.5, 0.5, 0.375]})
    >>> {name: round(value, 2) for name, value in pair["bootstrap_resampling"].items()}
    {'x-mean': 0.59, 'y-mean': 0.47, 'ties (%)': 0.28, 'x_wins (%)': 0.72, 'y_wins (%)': 0.0}
    >>> round(pair["paired_t-test"]["p_value"], 4)
    0.0917
    """
    if t_test_alternative not in ALTERNATIVES:
        raise InputError(f"t_test_alternative: expected one of {', '.join(ALTERNATIVES)}, got {t_test_alternative!r}")
    names, matrix = list(scores), as_matrix(scores)
    n_segments = matrix.shape[1]
    means = resampled_means(matrix, num_splits, max(int(n_segments * sample_ratio), 1), seed)
    x, y = np.triu_indices(len(names), 1)
    tests = zip(*_paired_t_tests(matrix, t_test_alternative), strict=True)
    of_systems = [float(mean) for mean in np.mean(means, axis=1)]
    counted = _wins(means, x, y)
    return [
        {
            "x_name": names[i],
            "y_name": names[j],
            "bootstrap_resampling": {
                "x-mean": of_systems[i],
                "y-mean": of_systems[j],
                "ties (%)": ties / num_splits,
                "x_wins (%)": x_wins / num_splits,
                "y_wins (%)": y_wins / num_splits,
            },
            "paired_t-test": {"statistic": statistic, "p_value": p},
        }
        for i, j, (ties, x_wins, y_wins), (statistic, p) in zip(x.tolist(), y.tolist(), counted, tests, strict=True)
    ]


def as_matrix(scores: Mapping[str, Scores]) -> NDArray[np.float32]:
    """Scores as (N, S) 32-bit floats; InputError if that is impossible."""
    if len(scores) < 2:
        raise InputError(f"expected the scores of at least two systems, got {len(scores)}")
    (first, reference), *others = scores.items()
    for name, values in others:
        if len(values) != len(reference):
            raise InputError(
                f"{name} has scores of {len(values):,} segments, but {first} of {len(reference):,}: they must match"
            )
    if not len(reference):
        raise InputError("expected the scores of at least one segment, got none")
    matrix = np.array([np.asarray(values, dtype=np.float64) for values in scores.values()]).astype(np.float32)
    wrong = np.argwhere(~np.isfinite(matrix))
    if wrong.size:
        system, segment = wrong[0].tolist()
        raise InputError(f"expected finite scores, but {list(scores)[system]} has none of segment {segment + 1:,}")
    return matrix


def resampled_means(
    scores: NDArray[np.float32], num_splits: int, sample_size: int, seed: int = 1
) -> NDArray[np.float32]:
    """The means of bootstrap draws: (N, num_splits), from (N, S) scores, on the same draws for all systems.

    The same numbers as from ``numpy.random.seed(seed)``, ``numpy.random.choice(S, (sample_size, num_splits))`` and the
    mean of the scores that it chooses, in 32 bits, without an array of N × sample_size × num_splits.
    """
    n_systems, n_segments = scores.shape
    random = np.random.RandomState(seed)
    if num_splits == 1:  # numpy sums a single column pairwise
        drawn: NDArray[np.float32] = np.take(scores, random.choice(n_segments, size=(sample_size, 1)), axis=1)
        means: NDArray[np.float32] = drawn.mean(axis=1)
        return means
    by_segment = np.ascontiguousarray(scores.T)
    rows = min(sample_size, max(1, BLOCK // (num_splits * n_systems)))
    # Sums are accumulated row by row, as numpy does it along an axis that is not the last.
    block = np.empty((rows + 1, num_splits, n_systems), dtype=np.float32)
    sums = np.zeros((num_splits, n_systems), dtype=np.float32)
    for start in range(0, sample_size, rows):
        size = min(rows, sample_size - start)
        block[0] = sums
        chosen = random.choice(n_segments, size=(size, num_splits))
        np.take(by_segment, chosen, axis=0, out=block[1 : size + 1], mode="clip")
        np.add.reduce(block[: size + 1], axis=0, out=sums)
    return np.ascontiguousarray((sums / np.float32(sample_size)).T)


def _wins(means: NDArray[np.float32], x: NDArray[np.intp], y: NDArray[np.intp]) -> list[list[float]]:
    """Ties and wins of each pair: [ties, wins of x, wins of y]."""
    rows = max(1, BLOCK // means.shape[1])
    found: list[list[float]] = []
    for start in range(0, len(x), rows):
        delta = means[x[start : start + rows]] - means[y[start : start + rows]]
        counts = [(np.abs(delta) < TIE).sum(axis=1), (delta >= TIE).sum(axis=1), (delta <= -TIE).sum(axis=1)]
        found += np.stack(counts, axis=1).astype(float).tolist()
    return found


def _paired_t_tests(scores: NDArray[np.float32], alternative: str) -> tuple[list[float], list[float]]:
    """Statistics and p-values of all pairs, as from the installed ``scipy.stats.ttest_rel`` (p to 10 digits).

    SciPy has computed moments in the precision of the scores since version 1.15, and in 64 bits before. Since 1.17 it
    also rounds statistics and p-values to 32 bits, which comet-compare cannot write as JSON; here they have 64.
    """
    import scipy

    n_systems, n = scores.shape
    major, minor = scipy.__version__.split(".")[:2]
    kind = np.float32 if (int(major), int(minor)) >= (1, 15) else np.float64
    rows = max(1, BLOCK // n)
    parts = []
    for system in range(n_systems - 1):
        for start in range(system + 1, n_systems, rows):
            delta = (scores[system] - scores[start : start + rows]).astype(kind, copy=False)
            mean = delta.mean(axis=1, keepdims=True)
            delta -= mean
            variance = np.square(delta, out=delta).mean(axis=1).astype(np.float64)
            with np.errstate(divide="ignore", invalid="ignore"):
                variance *= np.divide(n, n - 1)
                parts.append(mean[:, 0].astype(np.float64) / np.sqrt(variance / n))
    statistics = np.concatenate(parts)
    of_statistic = {"two-sided": -np.abs(statistics), "less": statistics, "greater": -statistics}[alternative]
    p = student_t(n - 1, of_statistic) * (2 if alternative == "two-sided" else 1)
    return statistics.tolist(), p.tolist()


def student_t(freedom: int, t: NDArray[np.float64]) -> NDArray[np.float64]:
    """The distribution function of Student's t with whole degrees of freedom.

    As ``scipy.special.stdtr``, whose import takes longer than all else that the command does. The regularized
    incomplete beta function by its continued fraction (DLMF 8.17.22).
    """
    a = freedom / 2
    ratio = 1 / math.sqrt(math.pi)  # Γ(a + ½) / Γ(a)
    for k in range(1, freedom):
        ratio = k / 2 / ratio
    with np.errstate(divide="ignore", invalid="ignore"):
        odds = t * t / freedom
        x, y = 1 / (1 + odds), 1 / (1 + 1 / odds)
        # The fraction converges fast for I_x(a, ½) in the tails, and for 1 − I_y(½, a) between them.
        is_central = x > (a + 1) / (a + 2.5)
        p, q, z = np.where(is_central, 0.5, a), np.where(is_central, a, 0.5), np.where(is_central, y, x)
        fraction = np.ones_like(t)
        for k in range(60 + int(2 * math.sqrt(a)), 0, -1):
            m = k // 2
            term = -(p + m) * (p + q + m) / (p + 2 * m + 1) if k % 2 else m * (q - m) / (p + 2 * m - 1)
            fraction = 1 + term / (p + 2 * m) * z / fraction
        share = np.exp(-a * np.log1p(odds)) * np.sqrt(y / math.pi) * ratio / (p * fraction)
    both_tails = np.where(is_central, 1 - share, share)
    return np.where(t > 0, 1 - both_tails / 2, both_tails / 2)
