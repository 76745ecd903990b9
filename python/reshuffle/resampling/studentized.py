"""Studentized shuffles: the difference of two systems divided by a standard error that is computed on every shuffle.

Approximate randomization assumes that the systems' outputs are exchangeable. If they are not (two outputs of one model
with different lengths, for example), the differences of shuffled systems have the wrong variance even if the scores are
equal. If each difference is divided by its own standard error, the test is also valid for equal scores, in large
samples (Janssen 1997, doi:10.1016/S0167-7152(97)00043-6; Chung & Romano 2013, doi:10.1214/13-AOS1090). It remains exact
for exchangeable outputs.

Notation: a_u and b_u are the counts of unit u, δ_u = a_u − b_u and w_u = a_u + b_u. On a shuffle with totals T_x and
T_y, σ_u is −1 if unit u is swapped, else 1. f is the metric. The standard error √v is that of the delta method. With
ḡ = (∇f(T_x) + ∇f(T_y))/2 and q = (∇f(T_x) − ∇f(T_y))/2, unit u contributes i_u = ḡ·σ_uδ_u + q·w_u to the linearised
difference. v = U/(U − 1)·[Σ i_u² − (Σ i_u)²/U] for U units, or the sum of this over strata.

Σ i_u² contains 2 Σ σ_u (ḡ·δ_u)(q·w_u), for which every product of a column of δ and a column of w would have to be
summed on every shuffle. Therefore ḡ·δ_u is approximated by the contribution Σ_j α_j e_ju, with e_ju = g_j·δ_u for one
or two fixed directions g_j. The first is the gradient at the mean totals; the second, if ḡ changes its direction
between shuffles, is the direction of the largest change. The factors α_j project ḡ on these directions. The columns
e_j·w, called cross columns, are summed like counts. A swap of unit u changes only the sign of δ_u and e_ju, and neither
the directions nor anything else, so the test stays exact however rough the approximation is.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._core import LARGEST_SUM
from ..errors import InputError
from ..lazy import lazy
from ..metrics.base import Counts, Metric, Scores, tolerance
from .linear import gradient
from .samples import BATCH_CELLS, Batch, CountSample, DifferingColumn, FormulaSample, NativeSample, Pairs
from .units import Strata

__all__ = ["StudentizedSample", "studentize"]

# Contributions and columns are rounded to integers, so that their products can be summed exactly. This is the root mean
# square of the rounded contributions: their rounding errors change the variance by about 1/10,000.
CONTRIBUTION_SCALE = 64
# Columns of w with values above LARGEST_TERM are rounded, too, to a root mean square of TERM_SCALE.
LARGEST_TERM = 1 << 12
TERM_SCALE = 64
# With strata of different sizes the columns have weights, so small integers need more digits.
WEIGHTED_TERM_SCALE = 16
# The most numbers in the cross columns of the strata: 1 GB.
LARGEST_CROSS = 1 << 27
# A second direction is used if ḡ turns by more than this share of its size.
CHANGE = 0.05
# A column of w that equals another one plus a constant is replaced by the exceptions, at most one in this many units.
UNITS_PER_EXCEPTION = 64
# The same condition on a sample of about this many units rules out most pairs of columns quickly.
SAMPLE = 256
SAMPLED_UNITS_PER_EXCEPTION = 16

Matrix = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Constants:
    """What no swap changes. There are m directions, p terms (columns of w) and n strata.

    Attributes
    ----------
    scale : float
        The power of 2 by which differences are multiplied, about 1 divided by their standard error, so that squares
        neither overflow nor underflow. Variances are multiplied by its square.
    projection : (m, K) ndarray
        From ḡ to the factors α of the contributions.
    basis : (p, K) ndarray
        From q to the factors of the terms.
    contribution_squares : (m, m) ndarray
        Σ e·e'.
    term_squares : (p, p) ndarray
        Σ w·w'.
    stratum_terms : (n, p) ndarray
        Σ w over each stratum, divided by the square root of its number of units.
    stratum_factors : (n,) ndarray
        1 divided by the square root of the number of units of each stratum.
    """

    scale: float
    projection: Matrix
    basis: Matrix
    contribution_squares: Matrix
    term_squares: Matrix
    stratum_terms: Matrix
    stratum_factors: Matrix

    def formula(self, core: _core.Metric) -> _core.Studentized:
        """The studentized formula of a native metric."""
        return _core.Studentized(
            core,
            scale=self.scale,
            projection=self.projection,
            basis=self.basis,
            contribution_squares=self.contribution_squares,
            term_squares=self.term_squares,
            stratum_terms=self.stratum_terms,
            stratum_factors=self.stratum_factors,
        )

    def variances(self, gradients: Scores, cross: Counts) -> tuple[Scores, Scores]:
        """The variances of n scaled differences, and the sums of the squares that they are computed from: (n,) each.

        Rounding errors are relative to these sums, called sizes.

        ``gradients``, (2, n, K), are those of both systems. ``cross``, (n, m·(p + n)), are the signed sums of the cross
        columns: e·w for each direction and term, then e for each direction and stratum.
        """
        (m, _), (p, _) = self.projection.shape, self.basis.shape
        # Not BLAS, whose order of additions depends on the number of rows.
        factors = np.einsum("rk,jk->rj", (gradients[0] + gradients[1]) / 2, self.projection)
        slopes = np.einsum("rk,lk->rl", (gradients[0] - gradients[1]) / 2, self.basis)
        sizes = np.einsum("ri,ij,rj->r", factors, self.contribution_squares, factors)
        sizes = sizes + np.einsum("ri,ij,rj->r", slopes, self.term_squares, slopes)
        products = cross[:, : m * p].reshape(len(cross), m, p)
        sums = np.einsum("rj,rjk->rk", factors, cross[:, m * p :].reshape(len(cross), m, -1)) * self.stratum_factors
        sums = sums + np.einsum("rl,kl->rk", slopes, self.stratum_terms)
        both = 2 * np.einsum("rj,rjl,rl->r", factors, products, slopes)
        return sizes + both - (sums**2).sum(axis=1), sizes


class Cross(NamedTuple):
    """The constants of a pair, and the factors of its cross columns.

    ``contributions`` has shape (S, m), ``terms`` (S, p). With ``follows_difference``, the variance of a shuffle depends
    only on its difference, and z increases with the difference.
    """

    constants: Constants
    contributions: Counts
    terms: Counts
    strata: Strata
    follows_difference: bool

    def append_to(self, a: Counts, b: Counts) -> Counts:
        """The (S, K) counts of both systems, followed by the cross columns: (2, S, K + m·(p + n)).

        The second system has zeros in the cross columns. After swaps, the sum of the first system less that of the
        second is therefore Σ σ·e·w.
        """
        (n_units, m), p, n_strata, width = (
            self.contributions.shape,
            self.terms.shape[1],
            self.strata.n_strata,
            a.shape[1],
        )
        rows = np.zeros((2, n_units, width + m * (p + n_strata)), dtype=np.int64)
        rows[0, :, :width], rows[1, :, :width] = a, b
        for j, contributions in enumerate(self.contributions.T):
            first = width + j * p
            np.multiply(contributions[:, None], self.terms, out=rows[0, :, first : first + p])
            rows[0, np.arange(n_units), width + m * p + j * n_strata + self.strata.index] = contributions
        return rows


def studentize(sample: CountSample, pair: tuple[int, int]) -> StudentizedSample:
    """A sample of the two systems whose statistic is their studentized difference."""
    _ = sample.core_counts  # raises an error if a sum overflows, which numpy would not report
    units = sample.scored_units(pair)
    alone, systems = sample.alone(pair)
    a, b = map(alone.with_counts().rows, systems)
    cross = _cross(sample.metric, a, b, Strata.or_single(alone.strata, len(a)))
    rows = cross.append_to(a, b)
    if units is not None:  # shuffles need all units
        scored, rows = rows, np.zeros((2, sample.n_units, rows.shape[2]), dtype=np.int64)
        rows[:, units] = scored
    return with_constants(
        sample.metric, [rows], sample.unit, cross.constants, a.shape[1], follows_difference=cross.follows_difference
    )


def with_constants(
    metric: Metric,
    arrays: Sequence[Counts],
    unit: str,
    constants: Constants,
    width: int,
    *,
    follows_difference: bool,
) -> StudentizedSample:
    """A sample of two systems with cross columns behind the ``width`` counts of the metric."""
    shared: dict[str, Any] = {
        "unit": unit, "constants": constants, "width": width, "follows_difference": follows_difference
    }  # fmt: skip
    if metric.core is None:
        return StudentizedFormula(metric, arrays, **shared)
    formula = constants.formula(metric.core)
    return StudentizedNative(metric, arrays, core=formula.metric, formula=formula, **shared)


# A variance of at most this share of the squares that it is computed from is rounding error and counts as 0, as in the
# core.
ROUNDING = 2.0**-44
# The limit for finite differences, whose relative errors are about 1e-10. A smaller one would break ties by chance.
ROUNDING_OF_FINITE_DIFFERENCES = 2.0**-28


def _studentized(x: Scores, y: Scores, scale: float, variances: Scores, sizes: Scores, rounding: float) -> Scores:
    """The differences x − y divided by their standard errors: (n,).

    Where the variance is 0 but for rounding errors, 0 for equal scores and infinite for others, as in the core.
    """
    differences = x - y
    without_error = np.where(np.abs(differences) <= tolerance(x, y), 0.0, np.copysign(np.inf, differences))
    errors, has_error = np.sqrt(np.maximum(variances, 0)), variances > rounding * np.abs(sizes)
    return np.asarray(np.divide(differences * scale, errors, out=without_error, where=has_error))


class ObservedStatistic(NamedTuple):
    """The observed difference in score, its standard error, the studentized difference, and its tolerance for ties."""

    difference: float
    error: float
    value: float
    tolerance: float

    @classmethod
    def from_parts(
        cls, scores: Scores, scale: float, variance: float, size: float, rounding: float
    ) -> ObservedStatistic:
        """From both scores, the variance of the scaled difference, the size of its terms and their rounding errors."""
        difference, slack = float(scores[0] - scores[1]), float(tolerance(scores[0], scores[1]))
        variances, sizes = np.array([variance]), np.array([size])
        (value,) = _studentized(scores[:1], scores[1:], scale, variances, sizes, rounding).tolist()
        if variance <= rounding * abs(size):
            return cls(difference, 0.0, value, 0.0)
        root = variance**0.5
        # The smaller a variance is compared with its terms, the larger is its relative rounding error.
        condition = max(1.0, size / variance)
        return cls(difference, root / scale, value, (slack * scale / root + abs(value) * rounding) * condition)


@dataclass(frozen=True, eq=False)
class StudentizedSample(CountSample):
    """Two systems with the counts of the metric and the cross columns.

    ``width`` is the number of counts of the metric. With ``follows_difference``, shuffles have the same order by the
    studentized difference as by the difference.
    """

    follows_difference: bool = field(kw_only=True)
    constants: Constants = field(kw_only=True)
    width: int = field(kw_only=True)

    @property
    @abstractmethod
    def observed(self) -> ObservedStatistic:
        """The observed statistic."""

    def differing(self, pairs: Pairs, most: int) -> list[tuple[int, DifferingColumn | None]]:
        """See :meth:`Sample.differing`. The statistic is never a function of one sum."""
        return [(n, None) for n, _ in super().differing(pairs, most)]


@dataclass(frozen=True, eq=False)
class StudentizedNative(StudentizedSample, NativeSample):
    """Studentized in Rust."""

    formula: _core.Studentized = field(kw_only=True)

    @lazy
    def observed(self) -> ObservedStatistic:
        """The observed statistic."""
        _, variance, size = self.formula.parts(*self.totals)
        return ObservedStatistic.from_parts(self.scores, self.constants.scale, variance, size, ROUNDING)


@dataclass(frozen=True, eq=False)
class StudentizedFormula(StudentizedSample, FormulaSample):
    """Studentized in numpy, for a formula in Python, whose gradients are finite differences."""

    @lazy
    def scores(self) -> Scores:
        """See :attr:`Sample.scores`."""
        return self.metric.score(self.totals[:, : self.width])

    @lazy
    def observed(self) -> ObservedStatistic:
        """The observed statistic."""
        variances, sizes = self._variances(self.totals[:, None])
        return ObservedStatistic.from_parts(
            self.scores, self.constants.scale, variances.item(), sizes.item(), ROUNDING_OF_FINITE_DIFFERENCES
        )

    def _variances(self, totals: Counts) -> tuple[Scores, Scores]:
        """The variances of n differences and the sizes of their terms, from (2, n, …) totals."""
        counts, cross = totals[..., : self.width], totals[..., self.width :]
        gradients = _gradient(self.metric, self._for_steps, counts)
        return self.constants.variances(gradients, cross[0] - cross[1])

    @lazy
    def _for_steps(self) -> Counts:
        """Counts that determine the steps of finite differences and that no swap changes: (2, S, K)."""
        return both_ends(*self.counts[..., : self.width])

    def shuffle_statistics(self, pairs: Pairs, batch: Batch) -> Scores:
        """See :meth:`Sample.shuffle_statistics`."""
        flipped = batch.sums(self._shuffle_resampler).reshape(batch.n, *self.totals.shape)
        moved = flipped[:, 0] - flipped[:, 1]
        totals = np.stack([self.totals[0] - moved, self.totals[1] + moved])
        x, y = self.metric.score(totals[..., : self.width])
        variances, sizes = self._variances(totals)
        return _studentized(x, y, self.constants.scale, variances, sizes, ROUNDING_OF_FINITE_DIFFERENCES)[None]

    @property
    def batch_size(self) -> int:
        """See :attr:`Sample.batch_size`. Finite differences score every shuffle 2K times."""
        return max(1, BATCH_CELLS // (self.totals.size + 4 * self.width**2))


def _gradient(metric: Metric, counts: Counts, totals: Counts) -> Scores:
    return gradient(metric, counts, totals, advice="use the test 'ar'")


def both_ends(a: Counts, b: Counts) -> Counts:
    """The smaller and the larger count of each pair: (2, S, K)."""
    return np.stack([np.minimum(a, b), np.maximum(a, b)])


def _cross(metric: Metric, a: Counts, b: Counts, strata: Strata) -> Cross:
    """The constants and the cross columns of two systems with (S, K) counts."""
    delta, n_strata = a - b, strata.n_strata
    probed = Probed.from_counts(metric, a, b)
    weights = Weights.from_strata(strata)
    terms, basis = _terms(a + b, weights, probed.changing)
    differing = delta.any(axis=0)
    largest = LARGEST_TERM if terms.shape[1] else LARGEST_SUM // len(delta)
    if weights.relative is None and np.count_nonzero(differing) <= 1 and np.abs(delta).max() <= largest:
        contributions, projection = _integers(delta, weights)
    else:
        contributions, projection = _rounded(delta, probed, weights)
    if contributions.size * n_strata > LARGEST_CROSS:
        raise InputError(
            f"test 'ar-studentized' sums the contributions of every stratum separately, and {n_strata:,} strata of "
            f"{len(delta):,} units are too many: use 'ar', or fewer strata"
        )
    roots = np.sqrt(strata.sizes)
    sums = np.array([np.bincount(strata.index, term, n_strata) for term in terms.T]).reshape(-1, n_strata).T
    constants = Constants(
        probed.scale,
        projection * probed.scale,
        basis * probed.scale,
        _moments(contributions),
        _moments(terms),
        np.ascontiguousarray(sums / roots[:, None]),
        1 / roots,
    )
    # In this case v is a constant times Σδ² − (Σσδ)²/U, for the only column that differs.
    follows_difference = bool(
        n_strata == 1
        and np.count_nonzero(differing) <= 1
        and not terms.shape[1]
        and not probed.changing[differing].any()
    )
    return Cross(constants, contributions, terms, strata, follows_difference)


def _moments(columns: Counts) -> Matrix:
    """Σ x·x' over the rows x: (K, K) for (S, K). The order of additions does not depend on threads, unlike BLAS's."""
    values = columns.astype(np.float64)
    return np.asarray(np.einsum("si,sj->ij", values, values))


class Weights(NamedTuple):
    """The square roots of the factors U_k/(U_k − 1) of the units' strata.

    ``common`` is the largest of them. ``relative``, (S,), are all of them divided by it, 0 for the only unit of a
    stratum; None if all are 1.
    """

    common: float
    relative: Scores | None

    @classmethod
    def from_strata(cls, strata: Strata) -> Weights:
        """The weights of the units of these strata."""
        roots = np.where(strata.sizes > 1, np.sqrt(strata.sizes / np.maximum(strata.sizes - 1, 1)), 0)
        common = float(roots.max())
        return cls(common, None if (roots == common).all() else (roots / common)[strata.index])

    def rounded(self, values: Scores | Counts, scale: float) -> Counts:
        """Values times a scale and the relative weights, rounded. Halves go to even, so −x is rounded as x is."""
        scaled = values * scale if self.relative is None else values * scale * self.relative
        return np.rint(scaled).astype(np.int64)


class Probed(NamedTuple):
    """The gradient near the mean totals.

    ``directions``, (m, K), are multiplied by ``scale`` (:class:`Constants`). ``changing``, (K,), says which derivatives
    change between shuffles. ``moments``, (K, K), are Σ δ·δ'.
    """

    scale: float
    directions: Matrix
    changing: NDArray[np.bool_]
    moments: Matrix

    @classmethod
    def from_counts(cls, metric: Metric, a: Counts, b: Counts) -> Probed:
        """Evaluate the gradient at the mean totals, and with each total moved as far as any swaps can move it."""
        ends = both_ends(a, b)
        moments = _moments(a - b)
        gradients = _probe(metric, ends)
        # The largest contribution of one column to the standard deviation of the difference.
        size = float((np.abs(gradients[0]) * np.sqrt(moments.diagonal())).max())
        scale = 2.0 ** -min(max(math.frexp(size)[1], -1000), 1000) if size > 0 else 1.0
        here, others = gradients[0] * scale, gradients[1:] * scale
        directions, squared = [here], here @ moments @ here
        if len(others) and squared > 0:
            up, down = np.split(others, 2)
            # The change of ḡ where one system is at the upper end and the other at the lower. The part of it along
            # the first direction needs no second one.
            changes = (up + down) / 2 - here
            changes -= (changes @ moments @ here / squared)[:, None] * here
            sizes = np.einsum("ri,ij,rj->r", changes, moments, changes)
            if sizes.max() > CHANGE**2 * squared:
                directions.append(changes[sizes.argmax()])
        is_known = len(others) > 0 or not moments.any()
        changing = (others != here).any(axis=0) if is_known else np.full(len(here), True)
        return cls(scale, np.array(directions), changing, moments)


def _probe(metric: Metric, ends: Counts) -> Scores:
    """The gradient at the mean totals, then with each total as large and as small as swaps can make it: (n, K).

    ``ends`` are the counts of :func:`both_ends`. Only the first row if a function is undefined at one of the others.
    """
    lowest, highest = ends.sum(axis=1)
    # The mean, rounded up: the sum of both could overflow.
    middle = (lowest >> 1) + (highest >> 1) + ((lowest | highest) & 1)
    (moved,) = np.nonzero((ends[0] != ends[1]).any(axis=0))
    # A derivative at a sum of 0 may be one of another formula.
    lowest = np.where(lowest < 0, lowest, np.maximum(lowest, np.minimum(middle, 1)))
    totals = np.repeat(middle[None], 2 * len(moved), axis=0)
    totals[np.arange(len(totals)), np.tile(moved, 2)] = np.concatenate([highest[moved], lowest[moved]])
    here = _gradient(metric, ends, middle[None])
    try:
        return np.concatenate([here, _gradient(metric, ends, totals)])
    except InputError:  # a function need not be defined where only one of its counts has moved
        return here


def _integers(delta: Counts, weights: Weights) -> tuple[Counts, Matrix]:
    """The differences of the only column that differs as contributions, (S, 1), and the projection: no rounding."""
    column = int(delta.any(axis=0).argmax())
    projection = np.zeros((1, delta.shape[1]))
    projection[0, column] = weights.common
    return delta[:, [column]], projection


def _rounded(delta: Counts, probed: Probed, weights: Weights) -> tuple[Counts, Matrix]:
    """The rounded contributions along the directions, (S, m), and the projection."""
    directions, moments = probed.directions, probed.moments
    contributions = np.zeros((len(delta), len(directions)), dtype=np.int64)
    projection = np.zeros_like(directions)
    for j, direction in enumerate(directions):
        # Column by column: the order of additions, and so the rounding, does not depend on signs.
        values = sum(slope * column for slope, column in zip(direction, delta.T, strict=True))
        size = direction @ moments @ direction
        if size > 0:
            scale = CONTRIBUTION_SCALE * (np.count_nonzero(values) / size) ** 0.5
            contributions[:, j] = weights.rounded(values, scale)
            projection[j] = direction @ moments * (weights.common / size / scale)
    return contributions, projection


def _terms(w: Counts, weights: Weights, changing: NDArray[np.bool_]) -> tuple[Counts, Matrix]:
    """The columns that Σ q·w is computed from, (S, p), and the basis.

    A constant added to a column does not change the variance. So columns are centred, and constant ones are left out.
    If a column equals another one plus a constant in nearly all units, only its exceptions are kept.
    """
    n_units, width = w.shape
    all_columns = np.ascontiguousarray(w.T)
    columns: list[Counts] = []
    rows: list[Scores] = []
    places: dict[int, int] = {}
    steps = _steps(all_columns)
    for k in np.flatnonzero(changing & (w != w[0]).any(axis=0)).tolist():
        row: Scores = np.zeros(width)
        row[k] = 1
        for base in _possible(steps, k, list(places)):
            exceptions = _exceptions(all_columns[k], all_columns[base])
            if exceptions is not None:
                rows[places[base]][k] = 1
                if exceptions.any():
                    columns.append(exceptions)
                    rows.append(row)
                break
        else:
            places[k] = len(columns)
            columns.append(all_columns[k] - round(all_columns[k].mean()))
            rows.append(row)
    terms, basis = np.zeros((n_units, len(columns)), dtype=np.int64), np.zeros((len(columns), width))
    for place, (column, row) in enumerate(zip(columns, rows, strict=True)):
        scale = 1.0 if weights.relative is None else WEIGHTED_TERM_SCALE
        if np.abs(column).max() > LARGEST_TERM:
            scale = TERM_SCALE / float(np.sqrt(np.mean(column.astype(np.float64) ** 2)))
        terms[:, place] = weights.rounded(column, scale)
        basis[place] = row * (weights.common / scale)
    return terms, basis


def _steps(columns: Counts) -> Counts:
    """The changes from one unit to the next in the sample of each column that :func:`_exceptions` compares first."""
    return np.diff(columns[:, :: max(1, columns.shape[1] // SAMPLE)], axis=1)


def _possible(steps: Counts, column: int, bases: list[int]) -> Iterator[int]:
    """The bases of which the column could have few exceptions in the sample.

    Each exception changes at most two steps. All bases are compared at once, and hardly any is left.
    """
    changes = (steps[bases] != steps[column]).sum(axis=1).tolist()
    most = 2 * (steps.shape[1] + 1)
    return (base for base, n in zip(bases, changes, strict=True) if n * SAMPLED_UNITS_PER_EXCEPTION <= most)


def _exceptions(column: Counts, base: Counts) -> Counts | None:
    """A column minus another one and a constant: (S,). None unless this is 0 in nearly all units."""
    step = max(1, len(column) // SAMPLE)
    sample = column[::step] - base[::step]
    constant = np.partition(sample, len(sample) // 2)[len(sample) // 2]
    # Most pairs of columns are not alike, which a few of their units show.
    if np.count_nonzero(sample != constant) * SAMPLED_UNITS_PER_EXCEPTION > len(sample):
        return None
    apart = column - base - constant
    return apart if np.count_nonzero(apart) * UNITS_PER_EXCEPTION <= len(column) else None
