"""The constants and cross columns of ``ar-studentized`` in numpy: the slow twin of the core, and other forms of it.

:mod:`reshuffle.resampling.studentized` defines the statistic. The tests compare the core with this module, and
``studentized_forms.py`` compares the package's form of the standard error with others.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from reshuffle import InputError
from reshuffle._core import LARGEST_SUM
from reshuffle.metrics.base import Counts, Metric, Scores
from reshuffle.resampling import CountSample
from reshuffle.resampling.linear import gradient
from reshuffle.resampling.studentized import Constants, StudentizedSample, both_ends, with_constants
from reshuffle.resampling.units import Strata

# Contributions and columns are rounded to integers, so that their products can be summed exactly. This is the root mean
# square of the rounded contributions: their rounding errors change the variance by about 1/10,000.
CONTRIBUTION_SCALE = 64
# Columns of w with values above LARGEST_TERM are rounded, too, to a root mean square of TERM_SCALE.
LARGEST_TERM = 1 << 12
TERM_SCALE = 64
# With strata of different sizes the columns have weights, so small integers need more digits.
WEIGHTED_TERM_SCALE = 16
# A second direction is used if ḡ turns by more than this share of its size.
CHANGE = 0.05
# A column of w that equals another one plus a constant is replaced by the exceptions, at most one in this many units.
UNITS_PER_EXCEPTION = 64
# The same condition on a sample of about this many units rules out most pairs of columns quickly.
SAMPLE = 256
SAMPLED_UNITS_PER_EXCEPTION = 16

Matrix: TypeAlias = NDArray[np.float64]

# From differences, directions and weights to contributions and their projection.
Contribute: TypeAlias = "Callable[[Counts, Probed, Weights], tuple[Counts, Matrix]]"


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


def cross_of(
    metric: Metric, a: Counts, b: Counts, strata: Strata, contribute: Contribute | None = None, change: float = CHANGE
) -> Cross:
    """The constants and the cross columns of two systems with (S, K) counts."""
    delta, n_strata = a - b, strata.n_strata
    probed = Probed.from_counts(metric, a, b, change)
    weights = Weights.from_strata(strata)
    terms, basis = _terms(a + b, weights, probed.changing)
    differing = delta.any(axis=0)
    largest = LARGEST_TERM if terms.shape[1] else LARGEST_SUM // len(delta)
    if weights.relative is None and np.count_nonzero(differing) <= 1 and np.abs(delta).max() <= largest:
        contributions, projection = _integers(delta, weights)
    else:
        contributions, projection = (contribute or rounded)(delta, probed, weights)
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
    def from_counts(cls, metric: Metric, a: Counts, b: Counts, change: float = CHANGE) -> Probed:
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
            if sizes.max() > change**2 * squared:
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
    here = gradient(metric, ends, middle[None])
    try:
        return np.concatenate([here, gradient(metric, ends, totals)])
    except InputError:  # a function need not be defined where only one of its counts has moved
        return here


def _integers(delta: Counts, weights: Weights) -> tuple[Counts, Matrix]:
    """The differences of the only column that differs as contributions, (S, 1), and the projection: no rounding."""
    column = int(delta.any(axis=0).argmax())
    projection = np.zeros((1, delta.shape[1]))
    projection[0, column] = weights.common
    return delta[:, [column]], projection


def rounded(delta: Counts, probed: Probed, weights: Weights) -> tuple[Counts, Matrix]:
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
    for k in np.flatnonzero(changing & (w != w[0]).any(axis=0)).tolist():
        row: Scores = np.zeros(width)
        row[k] = 1
        for base in list(places):
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


def studentize(
    sample: CountSample, pair: tuple[int, int] = (0, 1), contribute: Contribute | None = None, change: float = CHANGE
) -> StudentizedSample:
    """As the package's function of this name, for samples without missing scores."""
    a, b = map(sample.rows, pair)
    cross = cross_of(sample.metric, a, b, Strata.or_single(sample.strata, len(a)), contribute, change)
    rows, follows = cross.append_to(a, b), cross.follows_difference
    return with_constants(sample.metric, [rows], sample.unit, cross.constants, a.shape[1], follows_difference=follows)
