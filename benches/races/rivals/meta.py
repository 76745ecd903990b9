"""Tests and coefficients of mt-metrics-eval, as its formulae are computed: numpy, SciPy and loops in Python.

Its package on PyPI is a placeholder, so what it computes is written here in our own words.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np
from scipy.stats import pearsonr, zscore

from benches.data import Array

__all__ = ["Cells", "calibrated", "kendall_b", "pearson", "permuted", "soft_accuracy"]

# Scores of people and of metrics in cells that both have: one array for each group.
Cells: TypeAlias = Sequence[Array]


def pearson(human: Array, scores: Array) -> float:
    """Pearson's r of two vectors, by SciPy."""
    return float(pearsonr(human, scores)[0])


def kendall_b(human: Array, scores: Array) -> float:
    """Kendall's τ-b of two short vectors: discordant pairs from a Fenwick tree, in Python."""
    order = np.argsort(human)
    scores, human = scores[order], human[order]
    ranks = np.r_[True, human[1:] != human[:-1]].cumsum(dtype=np.intp)
    order = np.argsort(scores, kind="mergesort")
    scores, ranks = scores[order], ranks[order]
    places = np.r_[True, scores[1:] != scores[:-1]].cumsum(dtype=np.intp)
    size = 1 + int(ranks.max())
    tree, discordant, at = [0] * size, 0, 0
    while at < len(places):
        end = at
        while end < len(places) and places[at] == places[end]:
            discordant += at
            node = int(ranks[end])
            while node:
                discordant -= tree[node]
                node &= node - 1
            end += 1
        for each in range(at, end):
            node = int(ranks[each])
            while node < size:
                tree[node] += 1
                node += node & -node
        at = end
    both = np.diff(np.nonzero(np.r_[True, (places[1:] != places[:-1]) | (ranks[1:] != ranks[:-1]), True])[0])
    tied = int((both * (both - 1) // 2).sum())
    of_scores, of_human = (int((n * (n - 1) // 2).sum()) for n in (np.bincount(places), np.bincount(ranks)))
    pairs = len(places) * (len(places) - 1) // 2
    if pairs in (of_scores, of_human):
        return float("nan")
    concordant = pairs - of_scores - of_human + tied - discordant
    return float((concordant - discordant) / np.sqrt(pairs - of_scores) / np.sqrt(pairs - of_human))


def calibrated(human: Cells, scores: Cells) -> float:
    """acc23 with ties calibrated: all pairs of cells as tuples, sorted by difference, and made ties one by one."""
    pairs: list[tuple[float, int, int, int]] = []
    right: dict[int, int] = {}
    total: dict[int, int] = {}
    for row, (people, metric) in enumerate(zip(human, scores, strict=True)):
        for i, j in combinations(range(len(people)), 2):
            tied = people[i] == people[j]
            difference = abs(metric[i] - metric[j])
            if tied:
                correct = metric[i] == metric[j]
            else:
                correct = (people[i] > people[j]) == (metric[i] > metric[j]) and metric[i] != metric[j]
            pairs.append((difference, row, int(correct), int(tied)))
            right[row] = right.get(row, 0) + int(correct)
            total[row] = total.get(row, 0) + 1
    accuracy = sum(right[row] / total[row] for row in total)
    best, current = accuracy, accuracy
    last: float | None = None
    for difference, row, correct, tied in sorted(pairs):
        if last is not None and difference != last:
            best = max(best, current)
        current += (tied - correct) / total[row]
        last = difference
    return float(max(best, current)) / len(total)


def mean_of_groups(coefficient: Callable[[Array, Array], float]) -> Callable[[Cells, Cells], float]:
    """The mean over groups that have a value."""

    def value(human: Cells, scores: Cells) -> float:
        values = np.array([coefficient(h, s) for h, s in zip(human, scores, strict=True)])
        values = values[~np.isnan(values)]
        return float(np.average(values)) if len(values) else 0.0

    return value


def permuted(
    human: Cells, a: Cells, b: Cells, value: Callable[[Cells, Cells], float], n: int, rng: np.random.Generator
) -> tuple[float, Array]:
    """PERM-BOTH of two metrics: the difference of their coefficients, and n replicates of it.

    All cells are standardized, and each is swapped with probability ½.
    """
    ends = np.cumsum([len(group) for group in human])[:-1]
    first, second = zscore(np.concatenate(a)), zscore(np.concatenate(b))
    observed = value(human, np.split(first, ends)) - value(human, np.split(second, ends))
    replicates = np.empty(n)
    for r in range(n):
        kept = rng.binomial(1, 0.5, len(first))
        swapped = 1 - kept
        one, other = kept * first + swapped * second, swapped * first + kept * second
        replicates[r] = value(human, np.split(one, ends)) - value(human, np.split(other, ends))
    return observed, replicates


def pair_pvalues(scores: Array, n: int, rng: np.random.Generator) -> Array:
    """One-sided p of all pairs of systems, on the same signs: (N, S) to the pairs in order."""
    signs = rng.random((n, scores.shape[1]), dtype=np.float32)
    np.rint(signs, out=signs)
    signs = 2 * signs - 1
    scores = scores.astype(np.float32)
    sums, replicates = scores.sum(axis=1), signs @ scores.T
    return np.array(
        [
            (replicates[:, i] - replicates[:, j] >= sums[i] - sums[j]).mean()
            for i, j in combinations(range(len(scores)), 2)
        ]
    )


def soft_accuracy(human: Array, metrics: Sequence[Array], n: int, rng: np.random.Generator) -> list[float]:
    """Soft pairwise accuracy of each metric: 1 − the mean difference between p of people and p of the metric."""
    people = pair_pvalues(human, n, rng)
    return [1 - float(np.abs(people - pair_pvalues(each, n, rng)).mean()) for each in metrics]


def groups_of(human: Array, scores: Array, grouping: str) -> tuple[Any, Any]:
    """The cells that people have, as one group or as a group for each segment."""
    there = ~np.isnan(human)
    if grouping == "none":
        return [human[there]], [scores[there]]
    columns = [s for s in range(human.shape[1]) if there[:, s].any()]
    return [human[there[:, s], s] for s in columns], [scores[there[:, s], s] for s in columns]
