"""On how many resampling units a difference rests: the influence of each unit on it, in closed form.

The influence of unit u on score(a) − score(b) is e_u = g·(a_u − b_u), where g is the gradient of the score at the mean
of both totals: a unit's contribution to the linearized difference of two exchangeable outputs. For means of segment
scores e_u is the difference of the scores of unit u, up to a factor that all units share.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..metrics.base import Counts, Scores, significant
from ..results import Influence
from .linear import gradient
from .samples import CountSample, Pairs, Sample, TextSample

# Units whose counts are copied at a time.
UNITS = 1 << 16
# A variance below this share of the mean square is a rounding error.
SMALLEST = 2.0**-40


def influences(sample: Sample, pairs: Pairs) -> Sequence[Influence | None]:
    """The :class:`~reshuffle.Influence` of each pair of systems. Cost: a pass over the units for each pair.

    None for averages and ratings.
    """
    if not isinstance(sample, CountSample | TextSample):
        return [None] * len(pairs)
    return [_of_pair(*sample.alone(rows)) for rows in sample.rows_of(pairs)]


def _of_pair(sample: Sample, rows: Sequence[int]) -> Influence:
    """The same for two rows of a sample in which both have scores in all units."""
    a, b = rows
    if isinstance(sample, TextSample):
        return Influence(len(sample.differing_units((a, b))))
    counts = sample.with_counts()
    differing, values = contributions(counts, a, b)
    if values is None or not np.isfinite(values).all():
        return Influence(differing)
    squares = float(values @ values)
    if not squares:
        return Influence(differing)
    deviations = values - values.mean()
    variance = float(deviations @ deviations) / len(values)
    third = float((deviations * deviations) @ deviations) / len(values)
    is_constant = variance * len(values) <= SMALLEST * squares
    return Influence(
        differing,
        effective=significant(float(np.abs(values).sum()) ** 2 / squares),
        skewness=0.0 if is_constant else significant(third / math.sqrt(variance) ** 3),
    )


def contributions(sample: CountSample, a: int, b: int) -> tuple[int, Scores | None]:
    """The number of units in which the counts differ, and the influence of every unit, in points of the score.

    None instead of the influences if the score has no derivatives there.
    """
    stored = sample.stored
    slopes = _slopes(sample, a, b)
    values = np.empty(sample.n_units)
    differing = 0
    for first in range(0, sample.n_units, UNITS):
        piece = slice(first, first + UNITS)
        x, y = (stored[row, piece].astype(np.int64, copy=False) for row in (a, b))
        difference = x - y
        differing += int(np.count_nonzero(difference.any(axis=1)))
        if slopes is not None:
            values[piece] = difference @ slopes
    return differing, None if slopes is None else values


def _slopes(sample: CountSample, a: int, b: int) -> Scores | None:
    """The gradient of the score at the mean of both totals: (K,); None where it cannot be computed."""
    middle: Counts = (sample.totals[a] + sample.totals[b]) >> 1
    # Only numerical derivatives read the counts.
    counts = sample.stored if sample.metric.core is not None else sample.stored[[a, b]]
    with np.errstate(all="ignore"):
        try:
            return np.asarray(gradient(sample.metric, counts, middle[None])[0])
        except Exception:
            # A function in Python may fail at totals that no replicate has. This must not end a comparison.
            return None
