"""The decisions of several tests about the same pairs of systems, and how far they agree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from ..metrics.base import Scores
from ..resampling import Pairs
from ..results.studies import TestAgreement
from .clusters import jackknife_interval, share_of_pairs_interval


@dataclass(frozen=True, eq=False)
class Decisions:
    """What one test says about P pairs of systems under one metric.

    The p-values may come from anywhere, such as judgments of humans, in which case ``metric`` names what was judged.
    """

    metric: str
    test: str
    pvalue: Scores
    """Shape (P,)."""
    favoured: NDArray[np.int8]
    """Shape (P,). 1 if the first system of the pair is better, −1 if the second is, else 0: not the sign of the score's
    difference if lower scores are better.
    """


def kappa(first: NDArray[np.bool_], second: NDArray[np.bool_]) -> float | None:
    """Cohen's kappa of two binary decisions: Cohen 1960, doi:10.1177/001316446002000104. None if it is 0/0.

    >>> kappa(np.array([True, True, False, False]), np.array([True, False, False, False]))
    0.5
    """
    agreement = float((first == second).mean())
    by_chance = float(first.mean() * second.mean() + (1 - first.mean()) * (1 - second.mean()))
    return (agreement - by_chance) / (1 - by_chance) if by_chance < 1 else None


def rank_correlation(first: Scores, second: Scores) -> float | None:
    """Spearman's rank correlation, with mean ranks of ties. None if all values of one array are equal.

    >>> rank_correlation(np.array([0.1, 0.2, 0.2, 0.4]), np.array([0.3, 0.5, 0.5, 0.9]))
    1.0
    """
    ranks = np.array([_ranks(first), _ranks(second)])
    centred = ranks - ranks.mean(axis=1, keepdims=True)
    norms = np.sqrt((centred**2).sum(axis=1))
    if not norms.all():
        return None
    return max(-1.0, min(1.0, float(centred[0] @ centred[1] / (norms[0] * norms[1]))))


def _ranks(values: Scores) -> Scores:
    """Mean ranks, from 1."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - (counts - 1) / 2)[inverse])


def agreements(
    columns: Sequence[Decisions], alphas: Sequence[float], pairs: Pairs, n_systems: int
) -> Iterator[TestAgreement]:
    """The agreement of every two columns at every level."""
    for first, second in combinations(columns, 2):
        correlation = rank_correlation(first.pvalue, second.pvalue)
        for alpha in alphas:
            yield _agreement(first, second, alpha, correlation, pairs, n_systems)


def _agreement(
    first: Decisions, second: Decisions, alpha: float, correlation: float | None, pairs: Pairs, n_systems: int
) -> TestAgreement:
    """The agreement of two columns at one level."""
    a, b = first.pvalue <= alpha, second.pvalue <= alpha
    opposed = a & b & (first.favoured * second.favoured < 0)
    agree = (a == b) & ~opposed
    return TestAgreement(
        metric=first.metric,
        test=first.test,
        other_metric=second.metric,
        other_test=second.test,
        alpha=alpha,
        pairs=len(a),
        both=int((a & b).sum()),
        neither=int((~a & ~b).sum()),
        only_first=int((a & ~b).sum()),
        only_second=int((~a & b).sum()),
        opposed=int(opposed.sum()),
        agreement=float(agree.mean()),
        agreement_interval=share_of_pairs_interval(agree, np.ones(len(a)), pairs, n_systems),
        kappa=kappa(a, b),
        kappa_interval=jackknife_interval(
            lambda mask: kappa(a[mask], b[mask]) if mask.any() else None, pairs, n_systems, limits=(-1.0, 1.0)
        ),
        rank_correlation=correlation,
    )
