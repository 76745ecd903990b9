"""Values of coefficients: agreement between the scores of M metrics and those of people."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from ..metrics.base import Counts, Scores
from ..metrics.given import decimal_steps

Integers = NDArray[np.int64]

# The columns of pairs: concordant, discordant, tied only in the metric, tied only by people, tied in both.
CON, DIS, METRIC, PEOPLE, BOTH = range(5)

# Floats have every whole number up to this one.
MOST_STEPS = 2.0**53

CONSTANT = "no group has different scores of both metric and people"
NO_PAIRS = "no group has two outputs that both metric and people scored"
# A metric that orders a smaller share of the pairs has so large a calibrated ε because none of its differences helps.
FEW_ORDERED = 0.01
ALL_TIED = "ε ties over 99% of the pairs of outputs, so the agreement is about that of a metric that ties them all"
NO_VOTES = "no votes on outputs that the metric scored"
NO_SEGMENTS = "the metric has scores of systems, but none of segments"


class Values(NamedTuple):
    """The agreement of M metrics with people."""

    value: Scores
    """Shape (M,). NaN where it is not defined."""
    n: Integers
    """Shape (M,). Votes, systems, pairs of systems, or cells with both scores in groups with a value."""
    groups: Integers | None
    """Shape (M,). The number of groups with a value."""
    epsilon: Scores | None
    """Shape (M,). Calibrated thresholds of ties."""
    reason: tuple[str | None, ...]
    """Why a value is not defined, or what is unusual about it."""


def vote_values(rows: Counts, ties: str, no_votes: str = NO_VOTES) -> Values:
    """Kendall's τ from (M, S, 4) counts of votes: concordant, discordant, tied in the metric, without a score.

    ``no_votes`` is the reason for no value of a metric whose counts are all 0.
    """
    counts = rows.sum(axis=1)
    con, dis, tied, lost = counts.T
    reasons = []
    for decided, ties_only, without in zip(con + dis > 0, tied, lost, strict=True):
        if decided:
            reasons.append(f"{without:,} votes without a score of the metric are left out" if without else None)
        elif ties_only:
            reasons.append("the metric gives both outputs of every vote the same score")
        else:
            reasons.append(no_votes)
    return Values(tau(counts[:, :3], ties), con + dis + tied, None, None, tuple(reasons))


def tau(counts: Counts, ties: str) -> Scores:
    """Kendall's τ from (…, 3) concordant, discordant and tied votes, NaN where all are tied."""
    numerators, denominators = tau_parts(counts, ties)
    return ratio(numerators, denominators, counts[..., CON] + counts[..., DIS] > 0)


def tau_parts(counts: Counts, ties: str) -> tuple[Counts, Counts]:
    """Numerators and denominators of τ, from (…, 3) concordant, discordant and tied votes.

    A tie adds 0 to the numerator under ``half``, ``denominator`` and ``ignore``, and −1 under ``discordant``. It adds 1
    to the denominator, except under ``ignore``.
    """
    con, dis, tied = np.moveaxis(counts, -1, 0)
    numerators = con - dis - tied if ties == "discordant" else con - dis
    return numerators, con + dis if ties == "ignore" else con + dis + tied


def matrix_values(
    coefficient: str,
    grouping: str,
    scores: Scores,
    human: Scores,
    in_core: Mapping[str, Any] | None = None,
) -> Values:
    """The agreement of (M, N, S) scores with (N, S) human scores, both higher for better, NaN for missing cells.

    Groups without a value are left out of the mean: those in which metric or people have no two different scores, or
    for accuracies those without pairs.
    """
    values, cells, epsilon, counts = group_values(coefficient, grouping, scores, human, in_core)
    defined = ~np.isnan(values)
    groups, reason = defined.sum(axis=1), CONSTANT if epsilon is None else NO_PAIRS
    reasons = tuple(None if n else reason for n in groups.tolist())
    if epsilon is not None and counts is not None:
        con, dis, by_metric, by_people, both = counts.sum(axis=1).T
        ordered, tied = con + dis + by_people, by_metric + both
        useless = (by_metric > 0) & (ordered < FEW_ORDERED * (ordered + tied))
        reasons = tuple(why or (ALL_TIED if none else None) for why, none in zip(reasons, useless, strict=True))
    return Values(mean_of_cells(values), np.where(defined, cells, 0).sum(axis=1), groups, epsilon, reasons)


def group_values(
    coefficient: str, grouping: str, scores: Scores, human: Scores, in_core: Mapping[str, Any] | None = None
) -> tuple[Scores, Integers, Scores | None, Counts | None]:
    """The agreement in each group, and what it is computed from, (M, G) each, and the calibrated thresholds of ties.

    Last the counts of pairs, (M, G, 5), of coefficients that count them.
    """
    scores, human = np.ascontiguousarray(scores), np.ascontiguousarray(human)
    if coefficient in ("pearson", "spearman"):
        found = [correlations(own, human, grouping, ranks=coefficient == "spearman") for own in scores]
        values, cells = (np.stack(each) for each in zip(*found, strict=True))
        return values, cells, None, None
    where, epsilon = in_core or {}, None
    counts, sizes = _core.meta_pair_counts(scores, human, grouping, **where)
    if coefficient in ("acc23", "tau23"):
        whole, steps = in_steps(scores)
        epsilon, counts = _core.meta_calibrate(whole, human, grouping, **where)
        epsilon = epsilon / steps
    cells = counts[..., [CON, DIS, METRIC]].sum(axis=-1) if coefficient == "accuracy" else sizes[..., 0]
    return PAIR_VALUES[coefficient](counts, sizes), cells, epsilon, counts


def ratio(numerators: ArrayLike, denominators: ArrayLike, defined: NDArray[np.bool_] | bool = True) -> Scores:
    """The ratio, NaN where it is not ``defined`` or the denominator is not positive."""
    a, b = np.asarray(numerators, dtype=np.float64), np.asarray(denominators, dtype=np.float64)
    found = np.full(np.broadcast_shapes(a.shape, b.shape), np.nan)
    return np.asarray(np.divide(a, b, out=found, where=np.logical_and(defined, b > 0)))


def mean_of_cells(cells: Scores) -> Scores:
    """The mean of each row without its missing cells, NaN for a row without any: (…, S) to (…)."""
    there = ~np.isnan(cells)
    return ratio(np.where(there, cells, 0).sum(axis=-1), there.sum(axis=-1))


def mean_of_scores(cells: Scores) -> Scores:
    """The same for scores, as exactly as possible: systems with equal sums of decimals have equal means.

    >>> mean_of_scores(np.array([[0.1, 0.2, 0.3], [0.2, 0.2, 0.2]])).tolist()
    [0.2, 0.2]
    """
    ((whole,), (steps,)) = in_steps(cells[None])
    there = ~np.isnan(whole)
    return ratio(np.where(there, whole, 0).sum(axis=-1), there.sum(axis=-1) * steps)


def _tau_b(counts: Counts, sizes: Counts) -> Scores:
    """Kendall 1945: (C − D)/√((P − ties of the metric)(P − ties of people))."""
    pairs = counts.sum(axis=-1).astype(np.float64)
    untied = pairs - counts[..., METRIC] - counts[..., BOTH], pairs - counts[..., PEOPLE] - counts[..., BOTH]
    return ratio(counts[..., CON] - counts[..., DIS], np.sqrt(untied[0]) * np.sqrt(untied[1]))


def _tau_c(counts: Counts, sizes: Counts) -> Scores:
    """Stuart 1953: 2(C − D)m/(n²(m − 1)), with m the smaller number of different scores."""
    n = sizes[..., 0].astype(np.float64)
    m = sizes[..., 1:].min(axis=-1).astype(np.float64)
    return ratio(2 * (counts[..., CON] - counts[..., DIS]) * m, n**2 * (m - 1))


def _accuracy(counts: Counts, sizes: Counts) -> Scores:
    """Pairs that metric and people order alike, or both tie, as a share of all pairs: Deutsch et al. 2023, Eq. 5."""
    return ratio(counts[..., CON] + counts[..., BOTH], counts.sum(axis=-1))


def _ordered_alike(counts: Counts, sizes: Counts) -> Scores:
    """Pairs ordered alike as a share of those that people order: Kocmi et al. 2021. Ties of the metric are wrong."""
    return ratio(counts[..., CON], counts[..., [CON, DIS, METRIC]].sum(axis=-1))


PAIR_VALUES: Mapping[str, Callable[[Counts, Counts], Scores]] = {
    "kendall-b": _tau_b,
    "kendall-c": _tau_c,
    "acc23": _accuracy,
    "tau23": lambda counts, sizes: 2 * _accuracy(counts, sizes) - 1,
    "accuracy": _ordered_alike,
}


def correlations(scores: Scores, human: Scores, grouping: str, *, ranks: bool) -> tuple[Scores, Integers]:
    """Pearson's r, or with ``ranks`` Spearman's ρ, of every group, and its number of cells with both scores: (G,) each.

    ``scores`` and ``human`` have shape (N, S). NaN where either has no two different scores in the group.
    """
    groups = {"none": lambda cells: cells.reshape(1, -1), "sys": lambda cells: cells, "item": lambda cells: cells.T}
    x, y = (groups[grouping](cells) for cells in (scores, human))
    there = ~(np.isnan(x) | np.isnan(y))
    if ranks:
        x, y = (_ranks(cells, there) for cells in (x, y))
    n = there.sum(axis=1)
    (dx, varies_x), (dy, varies_y) = (_deviations(cells, there, n) for cells in (x, y))
    norms = np.sqrt((dx * dx).sum(axis=1)) * np.sqrt((dy * dy).sum(axis=1))
    return np.clip(ratio((dx * dy).sum(axis=1), norms, varies_x & varies_y), -1, 1), n


def _ranks(cells: Scores, there: NDArray[np.bool_]) -> Scores:
    """Ranks within each row among the cells that are there; ties have mean ranks."""
    from scipy.stats import rankdata

    return np.asarray(rankdata(np.where(there, cells, np.inf), axis=1).astype(np.float64))


def _deviations(cells: Scores, there: NDArray[np.bool_], n: Integers) -> tuple[Scores, NDArray[np.bool_]]:
    """The deviations from the mean of each row, 0 for missing cells, and whether a row has different scores."""
    known = without_exponent(np.where(there, cells, 0))
    means = known.sum(axis=1) / np.maximum(n, 1)
    deviations = np.where(there, known - means[:, None], 0)
    low, high = (np.where(there, cells, end) for end in (np.inf, -np.inf))
    varies = low.min(axis=1, initial=np.inf) < high.max(axis=1, initial=-np.inf)
    return deviations, varies


def in_steps(scores: Scores) -> tuple[Scores, Scores]:
    """Scores of M metrics, (M, …), as whole numbers if they are decimals, and how many steps make 1, (M,).

    As floats, 0.3 − 0.2 and 0.2 − 0.1 differ. A calibrated ε would call some of these pairs tied and others not.

    >>> whole, steps = in_steps(np.array([[0.1, 0.2, 0.3, np.nan], [1 / 3, 2 / 3, 1, 2]]))
    >>> whole[0].tolist(), steps.tolist()
    ([1.0, 2.0, 3.0, nan], [10.0, 1.0])
    """
    found = [decimal_steps(own[~np.isnan(own)], MOST_STEPS) for own in scores]
    whole = [own if steps is None else np.rint(own * steps) for own, steps in zip(scores, found, strict=True)]
    return np.array(whole).reshape(scores.shape), np.array([steps or 1.0 for steps in found])


def without_exponent(rows: Scores) -> Scores:
    """Each row divided by the power of 2 above its largest absolute value, so that no square overflows or vanishes.

    >>> without_exponent(np.array([[3e300, 1e300], [0.0, 0.0]])).round(2).tolist()
    [[0.56, 0.19], [0.0, 0.0]]
    """
    _, exponents = np.frexp(np.abs(rows).max(axis=-1, keepdims=True, initial=0))
    return np.asarray(np.ldexp(rows, -exponents))


def system_values(coefficient: str, scores: Scores, human: Scores) -> Values:
    """The agreement of (M, N) scores of systems with (N,) human scores, both higher for better, NaN for missing."""
    both = ~(np.isnan(scores) | np.isnan(human))
    reasons = tuple(_reason(own[has], human[has]) for own, has in zip(scores, both, strict=True))
    few = np.array([reason is not None for reason in reasons])
    values, n, *_ = group_values(coefficient, "none", scores[:, :, None], human[:, None])
    return Values(np.where(few, np.nan, values[:, 0]), n[:, 0], None, None, reasons)


def _reason(scores: Scores, human: Scores) -> str | None:
    """Why agreement at system level is not defined."""
    if len(human) < 3:
        return f"{len(human)} systems with both scores: at least 3 are needed"
    if np.ptp(human) == 0:
        return "people gave all systems the same score"
    return "the metric gives all systems the same score" if np.ptp(scores) == 0 else None
