"""The distribution of the studentized range, for Tukey's test: SciPy's, with few of its slow calls.

A call of SciPy integrates twice, which takes milliseconds. 100 systems have 4,950 pairs under each metric.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache

import numpy as np

from ..metrics.base import Scores

# The number of values up to which each is a call. More values are interpolated between so many nodes.
NODES = 200
# SciPy subtracts from 1, so smaller probabilities may be errors. They are reported as this, which is larger.
SMALLEST = 1e-10


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
        At least 10⁻¹⁰, or 0 for infinite values. The absolute error is below 10⁻⁶.

    Examples
    --------
    >>> studentized_range_sf(np.array([0.0, 3.8767767500]), 3, 10).round(9).tolist()
    [1.0, 0.05]
    """
    from scipy.interpolate import CubicSpline

    values, inverse = np.unique(q, return_inverse=True)
    finite = values[np.isfinite(values)]
    p = np.zeros(len(values))
    if len(finite) <= NODES:
        p[: len(finite)] = _by_scipy(finite, k, df)
    else:
        nodes = np.linspace(finite[0], finite[-1], NODES)
        at_nodes = _by_scipy(nodes, k, df)
        large = at_nodes > SMALLEST
        inside = finite <= nodes[large][-1]
        p[: len(finite)][inside] = np.exp(CubicSpline(nodes[large], np.log(at_nodes[large]))(finite[inside]))
    p[: len(finite)] = np.minimum.accumulate(np.clip(p[: len(finite)], SMALLEST, 1))  # values are in ascending order
    return np.asarray(p[inverse.reshape(-1)])


@contextmanager
def _without_warnings() -> Iterator[None]:
    """Ignore warnings of integrals that are as accurate as the others, for few or for very many degrees of freedom."""
    from scipy.integrate import IntegrationWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IntegrationWarning)
        yield


def _by_scipy(q: Scores, k: int, df: int) -> Scores:
    from scipy.stats import studentized_range

    with _without_warnings():
        return np.asarray(studentized_range.sf(q, k, df))


@lru_cache(maxsize=16)
def studentized_range_isf(p: float, k: int, df: int) -> float:
    """The value that Q reaches with probability p. Cached, because all metrics of a comparison have the same.

    >>> round(studentized_range_isf(0.05, 3, 10), 6)
    3.876777
    """
    from scipy.stats import studentized_range

    with _without_warnings():
        return float(studentized_range.isf(p, k, df))
