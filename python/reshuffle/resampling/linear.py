"""The delta method: a metric linearized at the summed counts of each system.

u_s = ∇f(T)·(x_s − T/S) is the contribution of segment s to the linearized score, and the squared standard error is
S/(S − 1) Σ u_s² (Efron 1981, doi:10.1093/biomet/68.3.589). For a difference of two systems, u_s is the difference of
their contributions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ..errors import InputError
from ..metrics.base import Counts, Metric, Scores
from .units import Strata, Variances

# Numerical derivatives use a step of total/2^16, for which the truncation and rounding errors are about 1e-10 each.
STEP_BITS = 16

# Numbers in memory at a time: 2 MB, whatever the number of segments.
CELLS = 1 << 18
# Segments whose counts are copied at a time, if there are more.
SEGMENTS = 1 << 16
# Variances of differences below this share of the variances of both scores are dominated by rounding errors.
SMALLEST = 2.0**-30


ADVICE = "use the jackknife or an interval from draws"


def gradient(metric: Metric, counts: Counts, totals: Counts, advice: str = ADVICE) -> Scores:
    """The derivatives of the score with respect to each summed count: (…, K) in and out.

    Metrics in Rust have a closed form. At a kink (BLEU where hypotheses and references are equally long) the derivative
    is the mean of the left and right derivatives. It is 0 for a sum of 0 that is smoothed: all segments have 0 there,
    so the derivative would be multiplied by 0.

    For a :class:`~reshuffle.Formula` the derivatives are central differences. ``counts``, (systems, S, K), are the
    counts of the systems in question; steps are relative to their sums. A step is a whole number, at least 1, because
    the function may need integers, for example as indices. A count that cannot be negative is not lowered to 0, where
    logarithms and ratios are undefined. Near 0 the difference is therefore one-sided, and for a curved function of a
    count of 1 to 3 it is inaccurate (the relative errors for a logarithm are 31, 10 and 4 %). ``advice`` is what the
    error message recommends if the function fails there.
    """
    if metric.core is not None:
        flat = np.ascontiguousarray(totals.reshape(-1, totals.shape[-1]))
        return np.asarray(metric.core.gradients(flat).reshape(totals.shape))
    is_signed = counts.min(axis=(0, 1)) < 0
    # Both systems have the same steps, so equal totals have equal gradients.
    up = np.maximum(np.abs(counts).sum(axis=1).max(axis=0) >> STEP_BITS, 1)
    down = np.where(is_signed | (totals > up), up, 0)
    one_each = np.eye(totals.shape[-1], dtype=np.int64)
    here = totals[..., None, :]
    try:
        higher = metric.score(here + one_each * up)
        lower = metric.score(here - one_each * down[..., None])
    except InputError as error:
        raise InputError(
            f"the delta method scores summed counts slightly above and below the observed ones, but {error}; {advice}"
        ) from None
    return np.where(is_signed | (totals > 0), (higher - lower) / (up + down), 0.0)


def rows_of(counts: Counts) -> Counts:
    """The columns of which each segment's contribution is a linear combination.

    For one system, (1, S, K) counts, these are the centred counts, (S, K). For a difference, (2, S, K) counts, they are
    the centred counts of a and the differences a − b, (S, 2K). If a and b are equal in all segments, their gradients
    are equal too, and the linearized difference is exactly 0.
    """
    a = counts[0]
    centred = a - np.rint(a.mean(axis=0)).astype(np.int64)
    return centred if len(counts) == 1 else np.concatenate([centred, a - counts[1]], axis=1)


def slopes_of(gradients: Scores) -> Scores:
    """The coefficients of the columns of :func:`rows_of`, from the gradients of the one or two systems (first axis)."""
    if len(gradients) == 1:
        return np.asarray(gradients[0])
    return np.concatenate([gradients[0] - gradients[1], gradients[1]], axis=-1)


def linear_variances(metric: Metric, counts: Counts, totals: Counts, strata: Strata) -> Variances:
    """The delta-method variances of k scores and their differences, from (k, S, K) counts and (k, K) totals.

    Counts may be integers of any width. Those of more than ``SEGMENTS`` segments are copied piece by piece.
    """
    slopes = np.concatenate([gradient(metric, counts[x : x + 1], totals[[x]]) for x in range(len(counts))])
    n = counts.shape[1]

    def values(*systems: int) -> Scores:
        own = slopes_of(slopes[list(systems)])
        if n <= SEGMENTS:
            rows = rows_of(counts[list(systems)].astype(np.int64, copy=False))
            return np.asarray((rows - rows.mean(axis=0)) @ own)
        return _values_in_pieces(counts, totals, systems, own)

    return Variances(len(counts), values, strata)


def _values_in_pieces(counts: Counts, totals: Counts, systems: Sequence[int], slopes: Scores) -> Scores:
    """The contributions of many segments: (S,). The means of the columns of :func:`rows_of` follow from the totals."""
    n = counts.shape[1]
    sums = totals[list(systems)]
    centre = np.rint(sums[0] / n).astype(np.int64)
    means = (sums[0] - n * centre) / n
    if len(systems) > 1:
        means = np.concatenate([means, (sums[0] - sums[1]) / n])
    values = np.empty(n)
    for first in range(0, n, SEGMENTS):
        piece = slice(first, first + SEGMENTS)
        own = [counts[system, piece].astype(np.int64) for system in systems]
        rows = own[0] - centre
        rows = rows if len(own) == 1 else np.concatenate([rows, own[0] - own[1]], axis=1)
        values[piece] = (rows - means) @ slopes
    return values


def linear_values(
    metric: Metric, counts: Counts, totals: Counts, advice: str = ADVICE
) -> Iterator[tuple[slice, Scores]]:
    """The values whose sums are the linearized scores of k systems, less the means, block by block of the units.

    Each block comes with its values: (k, units).
    """
    k, n, n_counts = counts.shape
    slopes = np.concatenate([gradient(metric, counts[x : x + 1], totals[[x]], advice) for x in range(k)])
    size = max(1, CELLS // max(k, n_counts))
    for first in range(0, n, size):
        block = slice(first, first + size)
        each = zip(counts, totals / n, slopes, strict=True)
        yield block, np.stack([(rows[block] - mean) @ slope for rows, mean, slope in each])


def linear_variances_of_differences(
    metric: Metric, counts: Counts, totals: Counts, strata: Strata, pairs: Sequence[tuple[int, int]]
) -> Scores:
    """The delta-method variance of each pair's difference, from (k, S, K) counts and (k, K) totals: (pairs,).

    It is 0 for systems that hardly differ, so that cancellation would make it inaccurate. Cost: a product of matrices
    with k columns and S rows. Memory: little beyond the counts and k² numbers.
    """
    k = len(counts)
    weights, products = np.sqrt(strata.factors), np.zeros((k, k))
    sums = np.zeros((k, strata.n_strata))
    for block, values in linear_values(metric, counts, totals):
        if strata.n_strata > 1:  # the mean of a single stratum is 0
            sums += [np.bincount(strata.index[block], row, strata.n_strata) for row in values]
        values *= weights[block]
        products += values @ values.T
    if strata.n_strata > 1:
        means = sums / np.sqrt(np.maximum(strata.sizes - 1, 1))
        products -= means @ means.T
    a, b = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
    both = products[a, a] + products[b, b]
    variances = both - 2 * products[a, b]
    return np.where(variances > SMALLEST * both, variances, 0.0)
