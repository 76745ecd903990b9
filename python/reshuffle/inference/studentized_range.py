"""The distribution of the studentized range, for Tukey's test: SciPy's, with few of its slow calls.

A call of SciPy integrates twice, which takes milliseconds. 100 systems have 4,950 pairs under each metric.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ..metrics.base import Scores

__all__ = ["studentized_range_isf", "studentized_range_sf"]

# The number of values up to which each is a call. More values are interpolated between so many nodes.
NODES = 200
# SciPy subtracts from 1, so smaller probabilities are rounding errors.
SMALLEST = 1e-11


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
        With an absolute error below 10⁻⁶, or 10⁻⁹ for up to 200 different values.

    Examples
    --------
    >>> studentized_range_sf(np.array([0.0, 3.8767767500]), 3, 10).round(9).tolist()
    [1.0, 0.05]
    """
    from scipy.interpolate import PchipInterpolator
    from scipy.stats import studentized_range

    values, inverse = np.unique(q, return_inverse=True)
    finite = values[np.isfinite(values)]
    out = np.zeros(len(values))
    if len(finite) <= NODES:
        out[: len(finite)] = studentized_range.sf(finite, k, df)
    else:
        nodes = np.linspace(finite[0], finite[-1], NODES)
        logs = np.log(np.maximum(studentized_range.sf(nodes, k, df), SMALLEST))
        out[: len(finite)] = np.exp(PchipInterpolator(nodes, logs)(finite))
    return np.asarray(np.clip(out, 0, 1)[inverse.reshape(-1)])


@lru_cache(maxsize=16)
def studentized_range_isf(p: float, k: int, df: int) -> float:
    """The value that Q reaches with probability p. Cached, because all metrics of a comparison have the same.

    >>> round(studentized_range_isf(0.05, 3, 10), 6)
    3.876777
    """
    from scipy.stats import studentized_range

    return float(studentized_range.isf(p, k, df))
