"""Slow twins of coefficients of agreement: in two vectors, a point with c copies appears c times."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from reshuffle import _core

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


def pairs_of(x: Sequence[float], y: Sequence[float], copies: Sequence[int]) -> tuple[Floats, Floats, Floats]:
    """The differences in x and y of all pairs of different points, and how many pairs of copies there are."""
    i, j = np.triu_indices(len(copies), 1)
    dx, dy = (np.subtract(values[i], values[j]) for values in (np.array(x), np.array(y)))
    return dx, dy, np.array(copies, dtype=float)[i] * np.array(copies, dtype=float)[j]


def of_vectors(name: str, x: Sequence[float], y: Sequence[float], copies: Sequence[int]) -> float:
    """Pearson's r and Spearman's ρ of all copies; τ and the accuracy from all pairs of different points."""
    xs, ys = np.repeat(x, copies), np.repeat(y, copies)
    if len(xs) < 2:
        return np.nan
    dx, dy, n = pairs_of(x, y, copies)
    if name == "accuracy":
        ordered = n * (dy != 0)
        return float((ordered * (np.sign(dx) == np.sign(dy))).sum() / ordered.sum()) if ordered.any() else np.nan
    if (xs == xs[0]).all() or (ys == ys[0]).all():
        return np.nan
    if name == "kendall-c":
        balance = float((n * np.sign(dx) * np.sign(dy)).sum())
        classes = min(len(set(xs.tolist())), len(set(ys.tolist())))
        return 2 * balance / (len(xs) ** 2 * (classes - 1) / classes)
    if name == "kendall-b":
        return float((n * np.sign(dx) * np.sign(dy)).sum() / np.sqrt((n * (dx != 0)).sum() * (n * (dy != 0)).sum()))
    if name == "spearman":
        xs, ys = stats.rankdata(xs), stats.rankdata(ys)
    return float(np.corrcoef(xs, ys)[0, 1])


Group = tuple[list[float], list[float], list[int], int]


def acc23(groups: Sequence[Group]) -> float:
    """The largest mean accuracy over every ε that could matter: 0 and all differences."""
    compared = [(pairs_of(x, y, copies), weight) for x, y, copies, weight in groups if weight]
    # Differences that are equal in exact arithmetic, also of standardized scores.
    compared = [((dx.round(10), dy, n), weight) for (dx, dy, n), weight in compared if n.any()]
    if not compared:
        return np.nan
    epsilons = np.unique(np.concatenate([[0.0], *(np.abs(dx[n > 0]) for (dx, _, n), _ in compared)]))[:, None]
    values = []
    for (dx, dy, n), _ in compared:
        right = np.where(np.abs(dx) <= epsilons, dy == 0, np.sign(dx) == np.sign(dy))
        values.append(right @ n / n.sum())
    return float(np.average(values, axis=0, weights=[weight for _, weight in compared]).max())


def groups_of(
    scores: Floats, human: Floats, grouping: str, systems: Sequence[int], segments: Sequence[int]
) -> list[Group]:
    n_systems, n_segments = scores.shape
    cells = [(i, s) for i in range(n_systems) for s in range(n_segments) if not np.isnan(scores[i, s] + human[i, s])]
    groups: dict[int, Group] = {}
    for i, s in cells:
        key, weight, copies = {
            "none": (0, 1, systems[i] * segments[s]),
            "sys": (i, systems[i], segments[s]),
            "item": (s, segments[s], systems[i]),
        }[grouping]
        x, y, numbers, _ = groups.setdefault(key, ([], [], [], weight))
        x.append(scores[i, s])
        y.append(human[i, s])
        numbers.append(copies)
    return list(groups.values())


def agreement(
    scores: Floats,
    human: Floats,
    statistic: tuple[str, str],
    copies: tuple[Sequence[int], Sequence[int]] | None = None,
) -> float:
    """A coefficient of one metric: the mean over groups in which it is defined."""
    grouping, name = statistic
    systems, segments = copies or ([1] * scores.shape[0], [1] * scores.shape[1])
    if grouping == "system":
        points = []
        for i in range(scores.shape[0]):
            cells = [
                s
                for s in range(scores.shape[1])
                if not np.isnan(scores[i, s] + human[i, s])
                for _ in range(segments[s])
            ]
            if cells:
                points.append((float(np.mean(scores[i, cells])), float(np.mean(human[i, cells])), systems[i]))
        return of_vectors(name, *zip(*points, strict=True)) if points else np.nan
    groups = groups_of(scores, human, grouping, systems, segments)
    if name in ("acc23", "tau23"):
        accuracy = acc23(groups)
        return accuracy if name == "acc23" else 2 * accuracy - 1
    values = [(of_vectors(name, x, y, numbers), weight) for x, y, numbers, weight in groups if weight]
    values = [(v, weight) for v, weight in values if not np.isnan(v)]
    if not values:
        return np.nan
    return float(np.average([v for v, _ in values], weights=[weight for _, weight in values]))


def swaps(seed: int, replicate: int, unit: str, shape: tuple[int, ...]) -> Bools:
    """The swaps of a replicate, from the values of its stream."""
    systems, segments = shape
    bits = {"both": systems * segments, "inputs": segments, "systems": systems}[unit]
    values = _core.stream_values(seed, "shuffle", replicate, -(-bits // 64))
    flips = (values[np.arange(bits) // 64] >> (np.arange(bits) % 64).astype(np.uint64) & np.uint64(1)).astype(bool)
    shapes = {"both": shape, "inputs": (1, segments), "systems": (systems, 1)}
    return np.broadcast_to(flips.reshape(shapes[unit]), shape)
