"""Rankings of the systems, from the two-sided tests of all pairs, and minimum detectable differences.

Systems are numbered from best to worst. ``better``, (k, k) booleans, is true where the system of the row is
significantly better than the system of the column, which is only above the diagonal. Sets of systems are integers whose
bit i stands for system i.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from string import ascii_lowercase

import numpy as np
from numpy.typing import NDArray

from ..metrics.base import Scores, tolerance
from ..resampling import Replicates
from ..results import NO_DIFFERENCE, Comparison, RankedSystem, Ranking, UsedMetric, Verdict
from ..results.verdicts import UNDIRECTED
from .detectable import detectable_differences
from .multiplicity import ADJUSTMENTS, FAMILY_WISE
from .tests import TESTS

Decisions = NDArray[np.bool_]


def positions(scores: Sequence[float], tolerances: Sequence[float]) -> list[int]:
    """1 + the number of systems before the first one with an equal score, for scores from best to worst: (k,).

    Scores whose distance is at most the system's entry in ``tolerances`` are equal.

    >>> positions([30.0, 29.5, 29.5, 28.0], [1e-9] * 4)
    [1, 2, 2, 4]
    """
    found: list[int] = []
    first = 0
    for index, (score, within) in enumerate(zip(scores, tolerances, strict=True)):
        if abs(score - scores[first]) > within:
            first = index
        found.append(first + 1)
    return found


def clusters(better: Decisions) -> list[int]:
    """The cluster of each system, from 1: (k,).

    A cluster ends where every system so far is significantly better than every later one, as in the rankings of WMT.

    >>> clusters(np.array([[False, True, True], [False, False, False], [False, False, False]]))
    [1, 2, 2]
    """
    k = len(better)
    # The last system that each one is not significantly better than.
    last = np.where(better, -1, np.arange(k)).max(axis=1)
    ends = np.maximum.accumulate(last) <= np.arange(k)
    return [1, *(1 + np.cumsum(ends[:-1])).tolist()]


def groups_without_difference(different: Sequence[int], most: int) -> list[int] | None:
    """The largest sets of systems without a significant difference, sorted by their members; None if over ``most``.

    ``different[i]`` is the set of the systems that differ significantly from system i. Two systems are in a common set
    if and only if they do not differ. This is the insert-and-absorb algorithm (Piepho 2004, Journal of Computational
    and Graphical Statistics 13), which splits sets at significant pairs and drops subsets of others. Here all pairs of
    a system with earlier systems are inserted at once. The number of sets then never decreases from one system to the
    next, so it can stop as soon as there are too many. Adversarial decisions have 3^(k/3) sets. Cost: k·most²
    operations on sets.

    >>> groups_without_difference([0b100, 0b000, 0b001], most=26)
    [3, 6]
    """
    groups = [0]
    for system, others in enumerate(different):
        alike = {group & ~others for group in groups}
        maximal = [one for one in alike if not any(one != other and one & other == one for other in alike)]
        groups = [group for group in groups if group & others] + [group | 1 << system for group in maximal]
        if len(groups) > most:
            return None
    return sorted(groups, key=members)


def members(group: int) -> list[int]:
    """The systems of a set, in order.

    >>> members(0b1101)
    [0, 2, 3]
    """
    return [system for system in range(group.bit_length()) if group >> system & 1]


def letters(groups: Sequence[int], n_systems: int) -> list[str]:
    """The letters of each system, one for each of at most 26 sets that contain it: (k,).

    >>> letters([0b011, 0b110], 3)
    ['a', 'ab', 'b']
    """
    named = list(zip(ascii_lowercase, groups, strict=False))
    return ["".join(letter for letter, group in named if group >> system & 1) for system in range(n_systems)]


# Groups are named by one letter each.
MOST_GROUPS = 26
SIGNS: Mapping[Verdict, int] = {"better": 1, "worse": -1, NO_DIFFERENCE: 0}


def with_rankings(comparison: Comparison, replicates: Replicates) -> Comparison:
    """The comparison with its rankings and minimum detectable differences."""
    rankings = tuple(
        _ranking(comparison, replicates, m)
        for m, metric in enumerate(comparison.metrics)
        if has_all_pairs(comparison) and can_be_ranked(comparison, metric)
    )
    return replace(comparison, rankings=rankings, detectable=detectable_differences(comparison, replicates))


def has_all_pairs(comparison: Comparison) -> bool:
    """Are all pairs of systems compared by two-sided tests?"""
    k, n = len(comparison.systems), len(comparison.comparisons) // len(comparison.metrics)
    return comparison.test is not None and comparison.test.alternative in UNDIRECTED and n == k * (k - 1) // 2


def can_be_ranked(comparison: Comparison, metric: UsedMetric) -> bool:
    """Are all systems compared on the same segments? If scores are missing, the differences may contradict them."""
    numbers = {score.n_segments for score in comparison.scores if score.metric == metric.name}
    numbers |= {pair.n_segments for pair in comparison.comparisons if pair.metric == metric.name}
    return len(numbers) == 1


def _ranking(comparison: Comparison, replicates: Replicates, m: int) -> Ranking:
    """The ranking under one metric. Systems are numbered from best to worst."""
    metric, alpha = comparison.metrics[m], comparison.alpha
    assert alpha is not None
    scores = [score for score in comparison.scores if score.metric == metric.name]
    # Equal scores stay in the order of the systems.
    scores.sort(key=lambda score: score.score, reverse=metric.higher_is_better)
    names = [score.system for score in scores]
    pairs = [pair for pair in comparison.comparisons if pair.metric == metric.name and pair.is_significant(alpha)]
    significant = [(pair.system, pair.baseline, SIGNS[comparison.verdict(pair)]) for pair in pairs]
    assert comparison.test is not None
    of_best = TESTS[comparison.test.name].best
    pvalues: Mapping[str, float] = {}
    if of_best is not None:
        pvalues = dict(zip(comparison.systems, of_best(replicates, m).tolist(), strict=True))
    systems, groups = ranked(names, np.array([score.score for score in scores]), significant, pvalues)
    # A family of one test needs no adjustment.
    adjustment = comparison.test.adjustment
    is_controlled = len(names) == 2 if adjustment is None else ADJUSTMENTS[adjustment].rate == FAMILY_WISE
    return Ranking(
        metric=metric.name,
        systems=systems,
        groups=groups,
        best=tuple(ranked.system for ranked in systems if ranked.rank_low == 1),
        mcb_best=tuple(name for name in names if pvalues[name] > alpha) if pvalues else None,
        simultaneous=is_controlled,
    )


def ranked(
    names: Sequence[str], scores: Scores, significant: Iterable[tuple[str, str, int]], of_best: Mapping[str, float]
) -> tuple[tuple[RankedSystem, ...], tuple[tuple[str, ...], ...] | None]:
    """Systems from best to worst with what decisions about pairs say of them, and the systems of each letter.

    ``significant`` are the pairs that differ, with 1 if the first is better, −1 if the second is, and 0 if the test
    does not say which. ``of_best`` has p of the hypothesis that a system is the best, if the test has such p-values.
    """
    at = {name: index for index, name in enumerate(names)}
    better, different = np.zeros((len(names),) * 2, dtype=np.bool_), [0] * len(names)
    for one, other, sign in significant:
        pair = a, b = at[one], at[other]
        different[a] |= 1 << b
        different[b] |= 1 << a
        if sign:
            better[pair if sign > 0 else pair[::-1]] = True
    groups = groups_without_difference(different, MOST_GROUPS)
    shown: Sequence[str | None] = [None] * len(names) if groups is None else letters(groups, len(names))
    systems = tuple(
        RankedSystem(name, position, 1 + n_better, len(names) - n_worse, cluster, letter, of_best.get(name))
        for name, position, n_better, n_worse, cluster, letter in zip(
            names,
            positions(scores.tolist(), tolerance(scores, scores).tolist()),
            better.sum(axis=0).tolist(),
            better.sum(axis=1).tolist(),
            clusters(better),
            shown,
            strict=True,
        )
    )
    return systems, None if groups is None else tuple(tuple(names[i] for i in members(group)) for group in groups)
