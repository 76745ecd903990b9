"""Whether two systems' outputs may be exchangeable, judged by the spread of their difference over shuffles.

Over shuffles, score(a) − score(b) has the right spread if the outputs of a unit are exchangeable. To first order its
square is V(e), where V is the variance of a sum over units sampled within strata (:meth:`Strata.variance
<reshuffle.resampling.units.Strata.variance>`), e_u = g₀·(a_u − b_u), and g₀ is the gradient of the score at the mean of
both totals. Whether or not outputs are exchangeable, the variance of the difference is V(∇f(T_a)·a_u − ∇f(T_b)·b_u), by
the delta method. Both are quadratic forms of K × K moments, so no pair needs a pass over the units of its own.

Two systems of equal length may by chance lie on both sides of a kink of the score, such as that of BLEU's brevity
penalty. So gradients are taken at totals in which counts that differ by no more than noise are equal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from ..metrics.base import Counts, Metric, Scores, significant
from ..results import Exchangeability
from .linear import gradient
from .units import Strata

Index = NDArray[np.intp]

# Totals of a count that differ by fewer standard errors are taken as equal. With 2, one in 20 pairs of systems of equal
# length would seem to differ.
NOISE = 3.0
# A score has a kink near the totals if half of the difference between both gradients arises within this many standard
# errors.
NEARBY = 2.0

# Columns of counts in a product of matrices, which is then a matrix of 8 MB at most.
COLUMNS = 1 << 10
# Multiplications between two checks for Ctrl-C, about ten milliseconds, and numbers in memory at a time.
PRODUCTS, CELLS = 1 << 27, 1 << 20
# Variances below this share of the terms from which they are computed are dominated by rounding errors.
SMALLEST = 2.0**-30
# As SMALLEST, for the share of the products that are summed up to a variance, if documents with constant scores have
# different sizes.
SMALLEST_OF_PRODUCTS = 2.0**-40


def exchangeability(
    metric: Metric, counts: Counts, totals: Counts, strata: Strata, pairs: Sequence[tuple[int, int]]
) -> list[Exchangeability | None]:
    """The ratio of both spreads for each pair, from (k, S, K) counts and (k, K) totals.

    None where the difference does not vary, or where the score has no finite derivatives. Cost: a product of matrices
    with k·K columns, S rows, and some gradients for each pair.
    """
    found: list[Exchangeability | None] = [None] * len(pairs)
    moments = _Moments(counts, totals, strata)
    with np.errstate(all="ignore"):
        for indices, a, b in _groups(np.array(pairs, dtype=np.intp), counts.shape[-1]):
            aa, bb, ab = moments.of_pairs(a, b)
            try:
                results = list(_compare(metric, counts, totals[a], totals[b], aa, bb, ab))
            except Exception:
                # A function in Python may fail at totals that no shuffle has. This check must not end a comparison.
                continue
            for index, result in zip(indices, results, strict=True):
                found[index] = result
    return found


def _groups(pairs: Index, n_counts: int) -> Iterator[tuple[Index, Index, Index]]:
    """Groups of pairs with few different systems: their indices, and the systems a and b of each."""
    size = max(1, COLUMNS // n_counts)
    tiles = pairs // size
    most = max(1, CELLS // n_counts**2)
    for tile in np.unique(tiles, axis=0):
        members = np.flatnonzero((tiles == tile).all(axis=1))
        for first in range(0, len(members), most):
            indices = members[first : first + most]
            yield indices, pairs[indices, 0], pairs[indices, 1]


class _Moments:
    """Σ_u w_u x_u y_u' for the counts of two systems, less the means of their strata, with w_u = S_h/(S_h − 1)."""

    def __init__(self, counts: Counts, totals: Counts, strata: Strata) -> None:
        self._counts = counts
        self._means = totals / counts.shape[1]
        self._weights = np.sqrt(strata.factors)
        self._own: dict[int, Scores] = {}
        self._strata = strata

    def of_pairs(self, a: Index, b: Index) -> tuple[Scores, Scores, Scores]:
        """The moments of a with a, of b with b, and of a with b, for each pair: three arrays (pairs, K, K)."""
        systems_a, systems_b, both = np.unique(a), np.unique(b), np.union1d(a, b)
        if len(both) ** 2 <= 2 * len(systems_a) * len(systems_b):  # a symmetric product costs half as much
            systems_a = systems_b = both
        cross = self._products(systems_a, systems_b)
        at_a, at_b = np.searchsorted(systems_a, a), np.searchsorted(systems_b, b)
        if systems_a is systems_b:
            self._own.update(zip(both.tolist(), np.einsum("sisj->sij", cross).copy(), strict=True))
        own_a, own_b = self._own_moments(systems_a), self._own_moments(systems_b)
        return own_a[at_a], own_b[at_b], cross[at_a, :, at_b, :]

    def _own_moments(self, systems: Index) -> Scores:
        """The moments of each system with itself: (systems, K, K)."""
        for system in systems.tolist():
            if system not in self._own:
                one = np.array([system])
                self._own[system] = self._products(one, one)[0, :, 0]
        return np.stack([self._own[system] for system in systems.tolist()])

    def _products(self, left: Index, right: Index) -> Scores:
        """The moments of all systems ``left`` with all systems ``right``: (left, K, right, K)."""
        n, k = self._counts.shape[1:]
        is_symmetric = np.array_equal(left, right)
        rows, columns = len(left) * k, len(right) * k
        total = np.zeros((rows, columns))
        size = max(1, min(PRODUCTS // (rows * columns), CELLS // (rows + columns)))
        for first in range(0, n, size):
            block = slice(first, first + size)
            deviations = self._deviations(left, block)
            total += deviations.T @ (deviations if is_symmetric else self._deviations(right, block))
        if self._strata.n_strata > 1:
            total -= self._means_of_strata(left).T @ self._means_of_strata(right)
        return total.reshape(len(left), k, len(right), k)

    def _deviations(self, systems: Index, block: slice) -> Scores:
        """The deviations of counts from their overall means, times the root of the weights: (units, systems · K)."""
        # In the order of the result, so that nothing is copied; ``systems`` is sorted.
        adjacent = systems[-1] - systems[0] + 1 == len(systems)
        counts = self._counts[slice(systems[0], systems[-1] + 1) if adjacent else systems, block].swapaxes(0, 1)
        deviations = np.empty(counts.shape)
        np.subtract(counts, self._means[systems], out=deviations)
        deviations *= self._weights[block, None, None]
        return deviations.reshape(len(deviations), -1)

    def _means_of_strata(self, systems: Index) -> Scores:
        """The deviations of the strata's means, scaled so that their products can be subtracted from the moments."""
        strata = self._strata
        starts = np.cumsum(strata.sizes) - strata.sizes
        sums = np.add.reduceat(self._counts[systems][:, strata.order], starts, axis=1, dtype=np.int64)
        scale = self._weights[strata.order[starts]] / np.sqrt(strata.sizes)
        deviations = (sums - strata.sizes[:, None] * self._means[systems, None]) * scale[:, None]
        return np.asarray(deviations.swapaxes(0, 1).reshape(len(scale), -1))


def _form(left: Scores, moments: Scores, right: Scores) -> Scores:
    """The bilinear form of each pair: (pairs, K), (pairs, K, K), (pairs, K) → (pairs,)."""
    return np.asarray(np.einsum("pi,pij,pj->p", left, moments, right, optimize=True))


def _compare(
    metric: Metric, counts: Counts, totals_a: Counts, totals_b: Counts, aa: Scores, bb: Scores, ab: Scores
) -> Iterator[Exchangeability | None]:
    """The ratio of each pair from its totals, (pairs, K), and moments, (pairs, K, K)."""
    difference = aa + bb - ab - ab.swapaxes(1, 2)
    noise = NOISE * np.sqrt(np.maximum(np.diagonal(difference, axis1=1, axis2=2), 0))
    middle = (totals_a + totals_b) >> 1
    alike = np.abs(totals_a - totals_b) <= noise
    totals_a, totals_b = (np.where(alike, middle, totals) for totals in (totals_a, totals_b))
    slopes, slopes_a, slopes_b = (gradient(metric, counts, totals) for totals in (middle, totals_a, totals_b))
    terms = _form(slopes_a, aa, slopes_a) + _form(slopes_b, bb, slopes_b)
    exchanged, sampled = _form(slopes, difference, slopes), terms - 2 * _form(slopes_a, ab, slopes_b)
    kinks = _near_kink(metric, counts, (totals_a, slopes_a, aa), (totals_b, slopes_b, bb))
    products = _form(abs(slopes_a), abs(aa), abs(slopes_a)) + _form(abs(slopes_b), abs(bb), abs(slopes_b))
    varies = (sampled > SMALLEST * terms) & (sampled > SMALLEST_OF_PRODUCTS * products)
    ratios = np.sqrt(np.maximum(exchanged, 0) / sampled)
    for is_valid, ratio, near_kink in zip(varies & np.isfinite(ratios), ratios, kinks, strict=True):
        yield Exchangeability(significant(ratio), bool(near_kink)) if is_valid else None


def _near_kink(
    metric: Metric, counts: Counts, a: tuple[Counts, Scores, Scores], b: tuple[Counts, Scores, Scores]
) -> NDArray[np.bool_]:
    """Whether the gradient changes abruptly near the totals of either system: (pairs,).

    Both systems are totals, gradients and moments. Where f is continuous, its gradients on both sides of a kink differ
    in the direction h in which f has the kink. So the totals are moved in the direction in which h·T varies most.
    """
    (totals_a, slopes_a, _), (totals_b, slopes_b, _) = a, b
    h = slopes_a - slopes_b
    towards_b = np.sign((h * (totals_b - totals_a)).sum(axis=1))
    near = np.zeros(len(h), np.bool_)
    for (totals, slopes, moments), towards, side in ((a, towards_b, 1), (b, -towards_b, -1)):
        along = np.einsum("pij,pj->pi", moments, h)
        variance = (h * along).sum(axis=1)
        error = np.sqrt(variance)[:, None]
        step = np.divide(along, error, out=np.zeros_like(along), where=error > 0)
        moved = np.rint(totals + NEARBY * towards[:, None] * step).astype(np.int64)
        # Ratios and logarithms are undefined at 0.
        moved = np.where(totals >= 0, np.maximum(moved, np.minimum(totals, 1)), moved)
        change = side * ((slopes - gradient(metric, counts, moved)) * along).sum(axis=1)
        near |= (variance > 0) & (2 * change >= variance)
    return near
