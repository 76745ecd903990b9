"""Studentized shuffles: the difference of two systems divided by a standard error that is computed on every shuffle.

Approximate randomization assumes that the systems' outputs are exchangeable. If they are not (two outputs of one model
with different lengths, for example), the differences of shuffled systems have the wrong variance even if the scores are
equal. If each difference is divided by its own standard error, the test is also valid for equal scores, in large
samples (Janssen 1997, doi:10.1016/S0167-7152(97)00043-6; Chung & Romano 2013, doi:10.1214/13-AOS1090). It remains exact
for exchangeable outputs.

Notation: a_u and b_u are the counts of unit u, δ_u = a_u − b_u and w_u = a_u + b_u. On a shuffle with totals T_x and
T_y, σ_u is −1 if unit u is swapped, else 1. f is the metric. The standard error √v is that of the delta method. With
ḡ = (∇f(T_x) + ∇f(T_y))/2 and q = (∇f(T_x) − ∇f(T_y))/2, unit u contributes i_u = ḡ·σ_uδ_u + q·w_u to the linearized
difference. v = U/(U − 1)·[Σ i_u² − (Σ i_u)²/U] for U units, or the sum of this over strata.

Σ i_u² contains 2 Σ σ_u (ḡ·δ_u)(q·w_u), for which every product of a column of δ and a column of w would have to be
summed on every shuffle. Therefore ḡ·δ_u is approximated by the contribution Σ_j α_j e_ju, with e_ju = g_j·δ_u for one
or two fixed directions g_j. The first is the gradient at the mean totals; the second, if ḡ changes its direction
between shuffles, is the direction of the largest change. The factors α_j project ḡ on these directions. The columns
e_j·w, called cross columns, are summed like counts. A swap of unit u changes only the sign of δ_u and e_ju, and neither
the directions nor anything else, so the test stays exact however rough the approximation is.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..errors import InputError
from ..lazy import lazy
from ..metrics.base import Counts, Metric, Scores, tolerance
from .linear import gradient
from .samples import BATCH_CELLS, Batch, CountSample, DifferingColumn, Pairs, SentSample
from .units import Strata

# The most numbers in the cross columns of the strata: 1 GB.
LARGEST_CROSS = 1 << 27

Matrix = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Constants:
    """What no swap changes. There are m directions, p terms (columns of w) and n strata."""

    scale: float
    """The power of 2 by which differences are multiplied, about 1 divided by their standard error, so that squares
    neither overflow nor underflow. Variances are multiplied by its square.
    """
    projection: Matrix
    """Shape (m, K). From ḡ to the factors α of the contributions."""
    basis: Matrix
    """Shape (p, K). From q to the factors of the terms."""
    contribution_squares: Matrix
    """Shape (m, m). Σ e·e'."""
    term_squares: Matrix
    """Shape (p, p). Σ w·w'."""
    stratum_terms: Matrix
    """Shape (n, p). Σ w over each stratum, divided by the square root of its number of units."""
    stratum_factors: Matrix
    """Shape (n,). 1 divided by the square root of the number of units of each stratum."""

    def formula(self, core: _core.Metric) -> _core.Studentized:
        """The studentized formula of a native metric."""
        return _core.Studentized(core, **vars(self))

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


def studentize(sample: CountSample, pair: tuple[int, int]) -> StudentizedSample:
    """A sample of the two systems whose statistic is their studentized difference."""
    _ = sample.core_counts  # raises an error if a sum overflows, which numpy would not report
    units = sample.scored_units(pair)
    alone, systems = sample.alone(pair)
    a, b = (np.ascontiguousarray(alone.with_counts().rows(system), dtype=np.int64) for system in systems)
    cross = _cross(sample.metric, a, b, Strata.or_single(alone.strata, len(a)))
    rows = cross.rows(a, b)
    if units is not None:  # shuffles need all units
        scored, rows = rows, np.zeros((2, sample.n_units, rows.shape[2]), dtype=np.int64)
        rows[:, units] = scored
    return with_constants(
        sample.metric,
        [rows],
        sample.unit,
        Constants(*cross.constants),
        a.shape[1],
        follows_difference=cross.follows_difference,
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
    return StudentizedNative(metric, arrays, formula=formula, **shared)


# A variance of at most this share of the squares that it is computed from is rounding error and counts as 0, as in the
# core.
ROUNDING = 2.0**-44
# The limit for finite differences, whose relative errors are about 1e-10. A smaller one would break ties by chance.
ROUNDING_OF_FINITE_DIFFERENCES = 2.0**-28


def _studentized(
    x: Scores, y: Scores, scale: Scores | float, variances: Scores, sizes: Scores, rounding: float
) -> Scores:
    """The differences x − y divided by their standard errors: (n,).

    Where the variance is 0 but for rounding errors, 0 for equal scores and infinite for others, as in the core.
    """
    differences = x - y
    without_error = np.where(np.abs(differences) <= tolerance(x, y), 0.0, np.copysign(np.inf, differences))
    errors, has_error = np.sqrt(np.maximum(variances, 0)), variances > rounding * np.abs(sizes)
    return np.asarray(np.divide(differences * scale, errors, out=without_error, where=has_error))


class ObservedStatistics(NamedTuple):
    """Observed differences in score: the studentized differences, their tolerances for ties, the standard errors.

    Each is (n,).
    """

    values: Scores
    tolerances: Scores
    errors: Scores

    @classmethod
    def from_parts(
        cls, scores: Scores, scales: Scores | float, variances: Scores, sizes: Scores, rounding: float = ROUNDING
    ) -> ObservedStatistics:
        """From (2, n) scores, the variances of the scaled differences, the sizes of their terms and rounding errors."""
        x, y = scores
        values = _studentized(x, y, scales, variances, sizes, rounding)
        has_error = variances > rounding * np.abs(sizes)
        positive = np.where(has_error, variances, 1)
        roots = np.sqrt(positive)
        # The smaller a variance is compared with its terms, the larger is its relative rounding error.
        conditions = np.maximum(1.0, sizes / positive)
        finite = np.where(has_error, np.abs(values), 0)
        tolerances = (tolerance(x, y) * scales / roots + finite * rounding) * conditions
        return cls(values, np.where(has_error, tolerances, 0), np.where(has_error, roots / scales, 0))


class ObservedStatistic(NamedTuple):
    """The observed difference in score, its standard error, the studentized difference, and its tolerance for ties."""

    difference: float
    error: float
    value: float
    tolerance: float


@dataclass(eq=False)
class StudentizedSample(CountSample):
    """Two systems with the counts of the metric and the cross columns.

    ``width`` is the number of counts of the metric. With ``follows_difference``, shuffles have the same order by the
    studentized difference as by the difference.
    """

    follows_difference: bool = field(kw_only=True)
    constants: Constants = field(kw_only=True)
    width: int = field(kw_only=True)

    rounding: ClassVar[float] = ROUNDING

    @abstractmethod
    def _parts(self) -> tuple[Scores, Scores]:
        """The variance of the scaled observed difference, and the size of its terms: (1,) each."""

    @lazy
    def observed(self) -> ObservedStatistic:
        """The observed statistic."""
        scores, parts = self.scores, (self.constants.scale, *self._parts(), self.rounding)
        value, slack, error = ObservedStatistics.from_parts(scores[:, None], *parts)
        return ObservedStatistic(float(scores[0] - scores[1]), error.item(), value.item(), slack.item())

    def sent(self, kind: str) -> SentSample:
        """See :meth:`Sample.sent`."""
        own = {"constants": self.constants, "width": self.width, "follows_difference": self.follows_difference}
        return self._sent(with_constants, **own)

    def differing(self, pairs: Pairs, most: int) -> list[tuple[int, DifferingColumn | None]]:
        """See :meth:`Sample.differing`. The statistic is never a function of one sum."""
        return [(n, None) for n, _ in super().differing(pairs, most)]


@dataclass(eq=False)
class StudentizedNative(StudentizedSample):
    """Studentized in Rust."""

    formula: _core.Studentized = field(kw_only=True)

    @property
    def core(self) -> _core.Metric:
        """See :attr:`CountSample.core`."""
        return self.formula.metric

    def _parts(self) -> tuple[Scores, Scores]:
        _, variance, size = self.formula.parts(*self.totals)
        return np.array([variance]), np.array([size])


@dataclass(eq=False)
class StudentizedFormula(StudentizedSample):
    """Studentized in numpy, for a formula in Python, whose gradients are finite differences."""

    rounding: ClassVar[float] = ROUNDING_OF_FINITE_DIFFERENCES

    @lazy
    def scores(self) -> Scores:
        """See :attr:`Sample.scores`."""
        return self.metric.score(self.totals[:, : self.width])

    def _parts(self) -> tuple[Scores, Scores]:
        return self._variances(self.totals[:, None])

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
        return _studentized(x, y, self.constants.scale, variances, sizes, self.rounding)[None]

    @property
    def batch_size(self) -> int:
        """See :attr:`Sample.batch_size`. Finite differences score every shuffle 2K times."""
        return max(1, BATCH_CELLS // (self.totals.size + 4 * self.width**2))


def _gradient(metric: Metric, counts: Counts, totals: Counts) -> Scores:
    return gradient(metric, counts, totals, advice="use the test 'ar'")


def both_ends(a: Counts, b: Counts) -> Counts:
    """The smaller and the larger count of each pair: (2, S, K)."""
    return np.stack([np.minimum(a, b), np.maximum(a, b)])


def _cross(metric: Metric, a: Counts, b: Counts, strata: Strata) -> _core.Cross:
    """The constants and the cross columns of two systems with (S, K) counts, computed in Rust."""
    pair, n_strata = _core.PairCounts(a, b), strata.n_strata
    index = None if n_strata == 1 else strata.index.astype(np.uint32)
    cross = pair.cross(_probe(metric, a, b, pair.probes), sizes=strata.sizes.tolist(), strata=index)
    if len(a) * len(cross.constants[1]) * n_strata > LARGEST_CROSS:
        raise InputError(
            f"test 'ar-studentized' sums the contributions of every stratum separately, and {n_strata:,} strata of "
            f"{len(a):,} units are too many: use 'ar', or fewer strata"
        )
    return cross


def _probe(metric: Metric, a: Counts, b: Counts, totals: Counts) -> Scores:
    """The gradient at each of the (n, K) totals. Only at the first if a function is undefined at one of the others."""
    ends = both_ends(a, b) if metric.core is None else a[None]  # closed forms need no steps
    here = _gradient(metric, ends, totals[:1])
    try:
        return np.concatenate([here, _gradient(metric, ends, totals[1:])])
    except InputError:  # a function need not be defined where only one of its counts has moved
        return here
