"""Values of coefficients without one system, one segment or one output, standard errors from them, and t tests.

Everything follows from sums over groups: without a cell, its terms are missing. Ties of ``acc23`` and ``tau23`` keep
the threshold ε of all cells, because near the best ε the accuracy does not depend on it to first order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..metrics.base import Counts, Scores
from .values import BOTH, CON, DIS, METRIC, PAIR_VALUES, PEOPLE, mean_of_cells, ratio, tau, without_exponent

# Sums of squares that are smaller in relation to the whole are rounding errors of 0.
NOTHING = 1e-12


class LeftOut(NamedTuple):
    """Values of M metrics, each without one system, one segment, or one output (a cell).

    Only systems, segments and cells count that have scores; NaN where a value is not defined.
    """

    systems: Scores
    segments: Scores
    cells: Scores


def values_left_out(
    coefficient: str,
    grouping: str,
    cells: Scores,
    human: Scores,
    in_core: Mapping[str, Any] | None = None,
) -> LeftOut:
    """The agreement of (M, N, S) scores with (N, S) human scores, NaN where either is missing in all M."""
    there = ~np.isnan(human) & ~np.isnan(cells).any(axis=0)
    rows, columns = np.flatnonzero(there.any(axis=1)), np.flatnonzero(there.any(axis=0))
    there = there[np.ix_(rows, columns)]
    cells = np.ascontiguousarray(np.where(there, cells[:, rows][:, :, columns], np.nan))
    human = np.ascontiguousarray(np.where(there, human[np.ix_(rows, columns)], np.nan))
    where = in_core or {}
    if coefficient == "pearson":
        return _pearson(cells, human, there, grouping)
    if coefficient == "spearman":
        return _spearman(cells, human, there, grouping, where)
    return _of_pairs(coefficient, cells, human, there, grouping, where)


def _of_groups(values: Scores, without: Scores, there: NDArray[np.bool_], grouping: str) -> LeftOut:
    """Means over groups: of segments for ``item``, of systems for ``sys``.

    ``values`` are those of G groups, (M, G), and ``without`` that of its group without each cell, (M, N, S).
    """
    # The last axis is that of the groups.
    without = without if grouping == "item" else without.swapaxes(1, 2)
    own = there if grouping == "item" else there.T
    values = values[:, None, :]
    without = np.where(own, without, values)
    within = mean_of_cells(without)
    known, all_known = _zero(values), ~np.isnan(values)
    sums, counts = known.sum(axis=-1, keepdims=True), all_known.sum(axis=-1, keepdims=True)
    whole = ratio((sums - known)[:, 0], (counts - all_known)[:, 0])
    cells = ratio(sums - known + _zero(without), counts - all_known + ~np.isnan(without))
    if grouping == "item":
        return LeftOut(within, whole, cells[:, there])
    return LeftOut(whole, within, cells.swapaxes(1, 2)[:, there])


def _zero(values: Scores) -> Scores:
    """The values, 0 for NaN."""
    return np.where(np.isnan(values), 0, values)


# Pearson's r: sums of 1, x, y, x², y² and xy.


def _terms(cells: Scores, human: Scores, there: NDArray[np.bool_], axes: tuple[int, ...]) -> Scores:
    """The terms of each cell, (6, M, N, S), of deviations from the means of groups; 0 for missing cells."""

    def deviations(values: Scores) -> Scores:
        known = np.where(there, values, 0)
        means = known.sum(axis=axes, keepdims=True) / np.maximum(there.sum(axis=axes, keepdims=True), 1)
        scaled = without_exponent((known - means).reshape(len(values), -1))
        return np.where(there, scaled.reshape(values.shape), 0)

    x, y = deviations(cells), np.broadcast_to(deviations(human[None]), cells.shape)
    return np.stack([np.broadcast_to(there, x.shape).astype(np.float64), x, y, x * x, y * y, x * y])


def _correlation(sums: Scores, scale: Scores) -> Scores:
    """r from sums; NaN where x or y has no spread, compared with the ``scale`` of all cells."""
    n, x, y, xx, yy, xy = sums
    xx, yy, xy = n * xx - x * x, n * yy - y * y, n * xy - x * y
    spread = (xx > NOTHING * scale[0] * scale[3]) & (yy > NOTHING * scale[0] * scale[4]) & (n > 1.5)
    norms = np.sqrt(np.maximum(xx, 0)) * np.sqrt(np.maximum(yy, 0))
    return np.asarray(np.clip(ratio(xy, norms, spread), -1, 1))


def _pearson(cells: Scores, human: Scores, there: NDArray[np.bool_], grouping: str) -> LeftOut:
    axes = {"none": (-2, -1), "item": (-2,), "sys": (-1,)}[grouping]
    terms = _terms(cells, human, there, axes)
    sums = terms.sum(axis=axes, keepdims=True)

    def without(part: Scores) -> Scores:
        return _correlation(sums - part, np.broadcast_to(sums, part.shape))

    if grouping != "none":
        return _of_groups(_correlation(sums, sums).squeeze(axes), without(terms), there, grouping)
    systems, segments = without(terms.sum(axis=-1, keepdims=True)), without(terms.sum(axis=-2, keepdims=True))
    return LeftOut(systems[:, :, 0], segments[:, 0], without(terms)[:, there])


# Spearman's ρ. Without a cell, the ranks of higher scores are smaller by 1, and those of equal scores by ½.


def _spearman(
    cells: Scores, human: Scores, there: NDArray[np.bool_], grouping: str, where: Mapping[str, Any]
) -> LeftOut:
    counts = _core.meta_cell_counts(cells, human, grouping, np.zeros(len(cells)), **where)
    counts = counts.reshape(*cells.shape, 5)
    (n, s), without = human.shape, np.full(cells.shape, np.nan)
    places = np.arange(n * s).reshape(n, s)
    groups = {"none": [places.ravel()], "sys": list(places), "item": list(places.T)}[grouping]
    values = np.full((len(cells), len(groups)), np.nan)
    for g, group in enumerate(groups):
        own = group[there.flat[group]]
        for m, scores in enumerate(cells):
            x, y = scores.flat[own], human.flat[own]
            values[m, g], without[m].flat[own] = _ranked(x, y, counts[m].reshape(-1, 5)[own])
    if grouping != "none":
        return _of_groups(values, without, there, grouping)
    systems, segments = _drawn_without("spearman", cells, human, where)
    return LeftOut(systems, segments, without[:, there])


def _ranked(x: Scores, y: Scores, counts: Counts) -> tuple[float, Scores]:
    """ρ of all points, and without each of them."""
    n = len(x)
    if n < 2:
        return np.nan, np.full(n, np.nan)
    (u, above_x, higher_x), (v, above_y, higher_y) = _ranks(x), _ranks(y)
    xy, xx, yy = u @ v, u @ u, v @ v
    half = 0.25 * counts[:, BOTH]
    both_above = 0.5 * (higher_x + higher_y - counts[:, DIS]) + half
    equal_x, equal_y = counts[:, METRIC] + counts[:, BOTH], counts[:, PEOPLE] + counts[:, BOTH]
    without_xy = xy - u * v - above_y(u) - above_x(v) + both_above
    without_xx = xx - u * u - 2 * above_x(u) + higher_x + 0.25 * equal_x
    without_yy = yy - v * v - 2 * above_y(v) + higher_y + 0.25 * equal_y
    # Ranks 1 … m have the mean (m + 1)/2 and thus the sum of squared means m(m + 1)²/4.
    all_points, others = n * (n + 1) ** 2 / 4, (n - 1) * n**2 / 4
    value = _of_ranks(np.array([xy, xx, yy]) - all_points)
    return float(value), _of_ranks(np.stack([without_xy, without_xx, without_yy]) - others)


def _of_ranks(sums: Scores) -> Scores:
    """ρ from sums of products of deviations. Ranks are multiples of ½, so that nothing smaller is a spread."""
    xy, xx, yy = sums
    norms = np.sqrt(np.maximum(xx, 0)) * np.sqrt(np.maximum(yy, 0))
    return ratio(xy, norms, (xx > 0.2) & (yy > 0.2))


def _ranks(values: Scores) -> tuple[Scores, Callable[[Scores], Scores], Scores]:
    """Mean ranks, a function that sums numbers of points with higher scores, and the numbers of higher scores."""
    _, place, sizes = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(sizes)

    def above(numbers: Scores) -> Scores:
        """The sum over higher scores, and half of that over other points with an equal score."""
        sums = np.bincount(place, weights=numbers)
        return np.asarray((numbers.sum() - np.cumsum(sums) + 0.5 * sums)[place] - 0.5 * numbers)

    return (ends - (sizes - 1) / 2)[place], above, (len(values) - ends)[place].astype(np.float64)


def _drawn_without(coefficient: str, cells: Scores, human: Scores, where: Mapping[str, Any]) -> tuple[Scores, Scores]:
    """Without each system and each segment, as draws that lack them."""
    n, s = human.shape
    copies = np.ones((n + s, n), dtype=np.uint32), np.ones((n + s, s), dtype=np.uint32)
    copies[0][:n][np.diag_indices(n)] = 0
    copies[1][n:][np.diag_indices(s)] = 0
    (values,) = _core.meta_drawn(
        cells,
        human,
        [("none", coefficient)],
        "both",
        n=n + s,
        seed=0,
        copies=copies,
        **where,
    )
    return values[:, :n], values[:, n:]


def _of_pairs(
    coefficient: str,
    cells: Scores,
    human: Scores,
    there: NDArray[np.bool_],
    grouping: str,
    where: Mapping[str, Any],
) -> LeftOut:
    """Of coefficients that count pairs."""
    value, epsilons = PAIR_VALUES[coefficient], np.zeros(len(cells))
    if coefficient in ("acc23", "tau23"):
        epsilons, _ = _core.meta_calibrate(cells, human, grouping, **where)
        epsilons = np.ascontiguousarray(_zero(epsilons))
    # Of groups, (M, G, 5) and (M, G, 3), and of each cell, (M, N, S, 5).
    counts, sizes = _core.meta_pair_counts(cells, human, grouping, epsilons=epsilons, **where)
    by_cell = _core.meta_cell_counts(cells, human, grouping, epsilons, **where).reshape(*cells.shape, 5)
    # Without a cell, a score is not there any more that no other cell of the group has.
    place = {"none": np.s_[:, :, None], "sys": np.s_[:, :, None], "item": np.s_[:, None, :]}[grouping]
    ties = by_cell[..., METRIC] + by_cell[..., BOTH], by_cell[..., PEOPLE] + by_cell[..., BOTH]
    fewer = np.stack([np.ones_like(ties[0]), ties[0] == 0, ties[1] == 0], axis=-1)
    without = value(counts[place] - by_cell, sizes[place] - fewer)
    if grouping != "none":
        return _of_groups(value(counts, sizes), without, there, grouping)

    def without_clusters(axis: int) -> Scores:
        """Without each system (axis 0) or segment (1): (M, N) or (M, S).

        The pairs of its cells are missing; those of two of its cells are counted in both.
        """
        within, own_sizes = _core.meta_pair_counts(cells, human, ("sys", "item")[axis], epsilons=epsilons)
        others = counts - by_cell.sum(axis=2 - axis) + within
        lost = [_lost_values(np.broadcast_to(values, cells.shape), axis) for values in (cells, human)]
        return value(others, sizes - np.stack([own_sizes[..., 0], *lost], axis=-1))

    return LeftOut(without_clusters(0), without_clusters(1), without[:, there])


def _lost_values(cells: Scores, axis: int) -> Counts:
    """How many different scores only one system (axis 0) or segment (1) has: (M, N) or (M, S)."""
    lost = np.zeros((len(cells), cells.shape[1 + axis]), dtype=np.int64)
    for m, scores in enumerate(cells):
        places = np.nonzero(~np.isnan(scores))
        _, value = np.unique(scores[places], return_inverse=True)
        pairs = np.unique(np.stack([value, places[axis]]), axis=1)
        alone = np.bincount(pairs[0])[pairs[0]] == 1
        np.add.at(lost[m], pairs[1][alone], 1)
    return lost


# Segment, better system, worse system and number of votes.
Votes: TypeAlias = tuple[Counts, Counts, Counts, Counts]


def votes_left_out(cells: Sequence[Scores], votes: Sequence[Votes], ties: str) -> LeftOut:
    """Kendall's τ of all votes on one or several test sets, whose systems and segments are different ones.

    ``cells`` are (M, N, S) scores of each test set, NaN where any metric has none.
    """
    own = [_votes_of_cells(*each) for each in zip(cells, votes, strict=True)]
    # Every vote is on two outputs.
    totals = sum(counts.sum(axis=(1, 2)) for counts in own)[:, None] // 2

    def without(parts: Sequence[Counts]) -> Scores:
        counts = np.concatenate(parts, axis=1)
        return tau(totals - counts[:, counts[0].any(axis=-1)], ties)

    return LeftOut(
        without([counts.sum(axis=2) for counts in own]),
        without([counts.sum(axis=1) // 2 for counts in own]),
        without([counts.reshape(len(counts), -1, 3) for counts in own]),
    )


def _votes_of_cells(cells: Scores, votes: Votes) -> Counts:
    """Concordant, discordant and tied votes on each output: (M, N, S, 3)."""
    segment, better, worse, number = votes
    n_metrics, n, s = cells.shape
    known = (
        ~np.isnan(cells[0, better, segment] + cells[0, worse, segment]) if n_metrics else np.zeros(0, dtype=np.bool_)
    )
    segment, better, worse, number = (each[known] for each in votes)
    counts = np.zeros((n_metrics, n * s * 3), dtype=np.int64)
    for own, scores in zip(counts, cells, strict=True):
        x, y = scores[better, segment], scores[worse, segment]
        kind = np.where(x > y, CON, np.where(x < y, DIS, METRIC))
        for system in (better, worse):
            own += np.bincount((system * s + segment) * 3 + kind, weights=number, minlength=n * s * 3).astype(np.int64)
    return counts.reshape(n_metrics, n, s, 3)


# Standard errors of differences between metrics, for other systems and other segments, and the t test with them.

# The fewest systems, and the fewest segments, from whose differences a variance is estimated.
FEWEST = 4
# Differences and standard errors of values up to 1 that are smaller are rounding errors.
ROUNDING = 1e-11


class Variance(NamedTuple):
    """A variance, and how certain it is."""

    value: float
    df: float


class Errors(Protocol):
    """What knows the variance of the difference between two metrics."""

    def of(self, a: int, b: int) -> Variance:
        """The variance of the value of metric a minus that of metric b."""


@dataclass(frozen=True, eq=False)
class TwoWay:
    """Jackknife covariances of M values: of systems, of segments, and of outputs on their own, (M, M) each."""

    systems: Scores
    segments: Scores
    cells: Scores
    n_systems: int
    n_segments: int

    def of(self, a: int, b: int) -> Variance:
        """The variance between segments, and what systems add to the variance of independent outputs.

        If there are fewer segments than systems, the other way round. Errors of outputs are part of both variances, but
        count once. Degrees of freedom are those of Satterthwaite 1946 (doi:10.2307/3002019).
        """
        systems, segments, cells = (
            float(c[a, a] + c[b, b] - 2 * c[a, b]) for c in (self.systems, self.segments, self.cells)
        )
        parts = [(segments, self.n_segments), (systems, self.n_systems)]
        (base, many), (other, few) = parts if self.n_segments >= self.n_systems else parts[::-1]
        if math.isnan(base + other + cells):
            return Variance(math.nan, math.nan)
        value = base + max(other - cells, 0.0)
        if other <= cells or value <= 0:
            return Variance(max(value, 0.0), many - 1)
        rest = max(value - other, 0.0)
        return Variance(value, value**2 / (other**2 / (few - 1) + rest**2 / (many - 1)))


def two_way(left: LeftOut) -> TwoWay | None:
    """From values without each system, segment and cell; None if there are too few of them, or one has no value.

    Delete-one jackknife (Miller 1974, doi:10.1093/biomet/61.1.1) in the two directions of Cameron, Gelbach & Miller
    2011 (doi:10.1198/jbes.2010.07136).
    """
    n_systems, n_segments = left.systems.shape[1], left.segments.shape[1]
    if min(n_systems, n_segments) < FEWEST or any(np.isnan(values).any() for values in left):
        return None
    systems, segments, cells = (_covariance(values) for values in left)
    return TwoWay(systems, segments, cells, n_systems, n_segments)


def _covariance(values: Scores) -> Scores:
    """(n − 1)/n times the sums of products of deviations."""
    n = values.shape[1]
    deviations = values - values.mean(axis=1, keepdims=True)
    return np.asarray(deviations @ deviations.T * ((n - 1) / n))


@dataclass(frozen=True, eq=False)
class AveragedErrors:
    """Of means over independent test sets.

    ``places`` has the metrics' places in each test set: (M, T).
    """

    parts: Sequence[Errors]
    places: np.ndarray[tuple[int, ...], np.dtype[np.intp]]

    def of(self, a: int, b: int) -> Variance:
        """The variance of the difference of means, with Satterthwaite's degrees of freedom."""
        found = [part.of(int(i), int(j)) for part, i, j in zip(self.parts, self.places[a], self.places[b], strict=True)]
        values = np.array([each.value for each in found]) / len(found) ** 2
        uncertain = float((values**2 / np.array([each.df for each in found])).sum())
        total = float(values.sum())
        return Variance(total, total**2 / uncertain if uncertain > 0 else min(each.df for each in found))


class TTest(NamedTuple):
    """t, its two-sided p-value and its degrees of freedom. NaN where they are not defined."""

    statistic: float
    pvalue: float
    df: float


def t_test(difference: float, variance: Variance) -> TTest:
    """Test whether a difference is 0. No difference has p = 1, and one without a spread no p."""
    from scipy.special import stdtr

    if math.isnan(variance.value):
        return TTest(math.nan, math.nan, math.nan)
    if abs(difference) <= ROUNDING:
        return TTest(0.0, 1.0, variance.df)
    error = math.sqrt(variance.value)
    if error <= ROUNDING:
        return TTest(math.nan, math.nan, variance.df)
    t = difference / error
    return TTest(t, float(2 * stdtr(variance.df, -abs(t))), variance.df)
