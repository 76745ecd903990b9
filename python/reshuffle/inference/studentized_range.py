"""The distribution of the studentized range, for Tukey's test: Tukey 1953; Copenhaver & Holland 1988.

scipy.stats.studentized_range integrates twice for each value, which takes milliseconds, and subtracts from 1, so that
small probabilities have only absolute accuracy. Here all integrands are positive, so that small probabilities are
accurate, too, and the inner integral is tabulated once for all values.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from ..metrics.base import Scores

__all__ = ["studentized_range_sf"]

# The distance between the nodes of the table of the range of normal variables. The interpolation is of fourth order,
# with a relative error below 10⁻⁹.
STEP = 1 / 32

# The largest range in the table: from here on its probability is below 10⁻²⁵⁰ for any number of variables that fits in
# memory, and is taken to be 0.
LARGEST = 50.0

# The nodes of the inner integral are this far apart. The trapezoidal rule converges geometrically for such integrands.
INNER_STEP = 1 / 16

# Values whose outer integrals are computed together.
TOGETHER = 1024


def studentized_range_sf(q: Scores, k: int, df: int) -> Scores:
    """P(Q ≥ q), where Q is the range of k standard normal variables, divided by an independent √(χ²/df).

    Parameters
    ----------
    q : (n,) ndarray of float
        Not negative; may be infinite.
    k : int
        At least 2.
    df : int
        At least 1.

    Returns
    -------
    (n,) ndarray of float
        With a relative error below 10⁻⁷; 0 where it is below about 10⁻²⁵⁰.

    Examples
    --------
    >>> studentized_range_sf(np.array([0.0, 3.8767767500]), 3, 10).round(9).tolist()
    [1.0, 0.05]
    """
    values, inverse = np.unique(q, return_inverse=True)
    out = np.zeros(len(values))
    finite = np.isfinite(values)
    table = _log_range(k)
    for first in range(0, int(finite.sum()), TOGETHER):
        block = slice(first, min(first + TOGETHER, int(finite.sum())))
        out[block] = _outer(values[block], df, table)
    return np.asarray(np.clip(out, 0, 1)[inverse.reshape(-1)])


def _outer(q: Scores, df: int, table: _LogRange) -> Scores:
    """∫ f(y) P(range ≥ q·eʸ) dy, where f is the density of y = ½ log(χ²/df): (n,).

    The integrand is about exp(df·y − (df/2 + q²/4)·e²ʸ), which has its maximum at y = −½ log(1 + q²/(2·df)) and there
    the width 1/√(2·df). For moderate q the maximum is between there and 0.
    """
    from scipy.special import gammaln

    width = 1 / math.sqrt(2 * df)
    center = -0.5 * np.log1p(q**2 / (2 * df))
    # exp(df·y) decreases slowly on the left of the maximum if df is small.
    low, high = center - 9 * width - 40 / df, np.minimum(0.0, center + 9 * width + 4) + 9 * width
    n = 2 + int(np.ceil(((high - low) / (width / 5)).max()))
    y = low[:, None] + (high - low)[:, None] * np.linspace(0, 1, n)
    log_density = math.log(2) + df / 2 * math.log(df / 2) - gammaln(df / 2) + df * (y - np.exp(2 * y) / 2)
    with np.errstate(under="ignore"):
        integrand = np.exp(log_density + table(q[:, None] * np.exp(y)))
    return np.asarray(integrand.sum(axis=1) * (high - low) / (n - 1))


@lru_cache(maxsize=4)
def _log_range(k: int) -> _LogRange:
    """The table, which takes tenths of a second, is kept for other metrics and comparisons."""
    return _LogRange(k)


class _LogRange:
    """log P(range of k standard normal variables ≥ w), from a table with cubic Hermite interpolation."""

    def __init__(self, k: int) -> None:
        from scipy.special import log_ndtr, ndtr

        w = np.arange(0, LARGEST + STEP, STEP)
        self.logs, self.slopes = np.zeros_like(w), np.zeros_like(w)
        # z is the smallest of the variables. For large w the integrand has its maximum near −w/2.
        z = np.arange(-LARGEST / 2 - 10, 10, INNER_STEP)
        with np.errstate(under="ignore"):
            # b/a is the probability that a variable above z is also above z + w.
            density = np.log(k * INNER_STEP) - z**2 / 2 - math.log(2 * math.pi) / 2
            log_a = log_ndtr(-z)
            for i, width in enumerate(w):
                beyond = np.exp(log_ndtr(-z - width) - log_a)
                with np.errstate(divide="ignore"):
                    log_below = np.log1p(-np.minimum(beyond, 1))
                tail = np.exp(density + (k - 1) * log_a) * -np.expm1((k - 1) * log_below)
                self.logs[i] = math.log(tail.sum())
                inside = (k - 2) * np.log(np.maximum(ndtr(z + width) - ndtr(z), 1e-300)) if k > 2 else 0.0
                falls = (k - 1) * np.exp(density - (z + width) ** 2 / 2 - math.log(2 * math.pi) / 2 + inside)
                self.slopes[i] = -falls.sum() / tail.sum()
        self.logs[0] = 0.0

    def __call__(self, w: Scores) -> Scores:
        """−∞ beyond the table."""
        place = np.minimum((w / STEP).astype(np.intp), len(self.logs) - 2)
        x = w / STEP - place
        y0, y1 = self.logs[place], self.logs[place + 1]
        d0, d1 = STEP * self.slopes[place], STEP * self.slopes[place + 1]
        # The cubic polynomial with these values and slopes at both ends.
        curved = y0 + x * (d0 + x * (3 * (y1 - y0) - 2 * d0 - d1 + x * (2 * (y0 - y1) + d0 + d1)))
        return np.where(w < LARGEST, curved, -np.inf)
