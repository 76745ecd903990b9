"""The delta method: a metric linearised at the summed counts of each system.

u_s = ∇f(T)·(x_s − T/S) is what segment s adds to the score, and se² = S/(S − 1) Σ u_s² (Efron 1981,
doi:10.1093/biomet/68.3.589). Of a difference of two systems it is the difference of theirs.
"""

from __future__ import annotations

import numpy as np

from ..errors import InputError
from ..metrics.base import Counts, Metric, Scores
from .units import Strata, Variances

__all__ = ["gradient", "linear_variances", "rows_of", "slopes_of"]

# The step of a numerical derivative, relative to the total: errors of truncation and of rounding are about 1e-10 each.
STEP_BITS = 16


def gradient(metric: Metric, counts: Counts, totals: Counts) -> Scores:
    """The derivatives of the score with respect to each summed count: (…, K) in and out.

    Metrics of the core have them in closed form. At a kink (BLEU where hypotheses and references are equally long) the
    derivative is the mean of both sides. For a sum of 0 whose order is smoothed it is 0: all rows are 0 there, so it
    would be multiplied by 0.

    For a :class:`~reshuffle.Formula` they are central differences. ``counts`` are those of the systems in question,
    (systems, S, K); steps are relative to their sums. The function may rely on integers, for example to shift them or
    to look them up in a table, so a step is at least 1. A count that cannot be negative is not lowered to 0, where
    logarithms and ratios are undefined. Near 0 the difference is therefore one-sided, and for a curved function of a
    count of 1 to 3 it is rough (for a logarithm it is off by 31, 10 and 4 %).
    """
    if metric.core is not None:
        flat = np.ascontiguousarray(totals.reshape(-1, totals.shape[-1]))
        return np.asarray(metric.core.gradients(flat).reshape(totals.shape))
    is_signed = counts.min(axis=(0, 1)) < 0
    # The same steps for both systems: equal totals have equal gradients.
    up = np.maximum(np.abs(counts).sum(axis=1).max(axis=0) >> STEP_BITS, 1)
    down = np.where(is_signed | (totals > up), up, 0)
    one_each = np.eye(totals.shape[-1], dtype=np.int64)
    here = totals[..., None, :]
    try:
        higher = metric.score(here + one_each * up)
        lower = metric.score(here - one_each * down[..., None])
    except InputError as error:
        raise InputError(
            f"the delta method scores sums a little above and below those of the segments, and {error}; use the "
            "jackknife or an interval from draws"
        ) from None
    return np.where(is_signed | (totals > 0), (higher - lower) / (up + down), 0.0)


def rows_of(counts: Counts) -> Counts:
    """Columns of which a linearised value is a sum: of the (1, S, K) counts of a system (S, K), of two (S, 2K).

    For a difference these are the counts of a and what b has less. Where a and b are equal in all segments, so are
    their gradients, and the linearised difference is exactly 0.
    """
    a = counts[0]
    centred = a - np.rint(a.mean(axis=0)).astype(np.int64)
    return centred if len(counts) == 1 else np.concatenate([centred, a - counts[1]], axis=1)


def slopes_of(gradients: Scores) -> Scores:
    """What each column of :func:`rows_of` is multiplied by, from the gradients of the systems, the first axis."""
    if len(gradients) == 1:
        return np.asarray(gradients[0])
    return np.concatenate([gradients[0] - gradients[1], gradients[1]], axis=-1)


def linear_variances(metric: Metric, counts: Counts, totals: Counts, strata: Strata) -> Variances:
    """The variances by the delta method of the scores of (k, S, K) counts, which sum to (k, K), and of differences."""
    slopes = np.concatenate([gradient(metric, counts[[x]], totals[[x]]) for x in range(len(counts))])

    def values(*systems: int) -> Scores:
        rows = rows_of(counts[list(systems)])
        return np.asarray((rows - rows.mean(axis=0)) @ slopes_of(slopes[list(systems)]))

    return Variances(len(counts), values, strata)
