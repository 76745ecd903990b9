"""Rankings of the systems, from the two-sided tests of all pairs, and minimum detectable differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ..metrics.base import Scores, tolerance
from ..resampling import Replicates
from ..results import Comparison, PairedDifference, RankedSystem, Ranking, SystemScore, UsedMetric
from .clustering import Decisions, clusters, groups_without_difference, letters, members, positions
from .detectable import detectable_differences
from .multiplicity import ADJUSTMENTS, FAMILY_WISE
from .tests import TESTS

# Groups are named by one letter each.
MOST_GROUPS = 26


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
    return comparison.test is not None and comparison.test.alternative == "two-sided" and n == k * (k - 1) // 2


def can_be_ranked(comparison: Comparison, metric: UsedMetric) -> bool:
    """Are all systems compared on the same segments? If scores are missing, the differences may contradict them."""
    numbers = {score.n_segments for score in comparison.scores if score.metric == metric.name}
    numbers |= {pair.n_segments for pair in comparison.comparisons if pair.metric == metric.name}
    return len(numbers) == 1


def _ranking(comparison: Comparison, replicates: Replicates, m: int) -> Ranking:
    """The ranking under one metric. Systems are numbered from best to worst."""
    metric, alpha = comparison.metrics[m], comparison.alpha
    assert alpha is not None
    scores = _from_best_to_worst(comparison, metric)
    names = [score.system for score in scores]
    pairs = [pair for pair in comparison.comparisons if pair.metric == metric.name]
    better, different = _decisions(comparison, names, pairs, alpha)
    pvalues = _of_best(comparison, replicates, m)
    systems, groups = ranked(names, np.array([score.score for score in scores]), better, different, pvalues)
    return Ranking(
        metric=metric.name,
        systems=systems,
        groups=groups,
        best=tuple(ranked.system for ranked in systems if ranked.rank_low == 1),
        mcb_best=tuple(name for name in names if pvalues[name] > alpha) if pvalues else None,
        simultaneous=_is_simultaneous(comparison),
    )


def ranked(
    names: Sequence[str], scores: Scores, better: Decisions, different: Sequence[int], of_best: Mapping[str, float]
) -> tuple[tuple[RankedSystem, ...], tuple[tuple[str, ...], ...] | None]:
    """Systems from best to worst with what decisions about pairs say of them, and the systems of each letter."""
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


def _of_best(comparison: Comparison, replicates: Replicates, m: int) -> Mapping[str, float]:
    """p of the hypothesis that a system is the best, by its name; empty if the test has no such p-values."""
    assert comparison.test is not None
    of_best = TESTS[comparison.test.name].best
    return {} if of_best is None else dict(zip(comparison.systems, of_best(replicates, m).tolist(), strict=True))


def _from_best_to_worst(comparison: Comparison, metric: UsedMetric) -> list[SystemScore]:
    """The scores under a metric, the best first; equal scores in the order of the systems."""
    scores = [score for score in comparison.scores if score.metric == metric.name]
    return sorted(scores, key=lambda score: score.score, reverse=metric.higher_is_better)


def _decisions(
    comparison: Comparison, names: Sequence[str], pairs: Sequence[PairedDifference], alpha: float
) -> tuple[Decisions, list[int]]:
    """Which systems are significantly better than which, and the set of those that differ from each."""
    numbers = {name: index for index, name in enumerate(names)}
    better = np.zeros((len(names), len(names)), dtype=np.bool_)
    different = [0] * len(names)
    for pair in pairs:
        if pair.is_significant(alpha):
            a, b = numbers[pair.system], numbers[pair.baseline]
            different[a] |= 1 << b
            different[b] |= 1 << a
            verdict = comparison.verdict(pair)
            if verdict != "undecided":
                better[(a, b) if verdict == "better" else (b, a)] = True
    return better, different


def _is_simultaneous(comparison: Comparison) -> bool:
    """Is the family-wise error rate controlled? A family of one test needs no adjustment."""
    assert comparison.test is not None
    name = comparison.test.adjustment
    if name is None:
        return len(comparison.systems) == 2
    return ADJUSTMENTS[name].rate == FAMILY_WISE
