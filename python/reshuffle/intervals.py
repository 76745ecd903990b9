"""Confidence intervals from draws. A new one is a function here and an entry in :data:`INTERVALS`."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import ArrayLike

from ._core import Progress
from .errors import check_level, check_name
from .metrics import MetricLike, Scores, resolve
from .resampling import Family, Replicates
from .results import ConfidenceInterval
from .units import DocumentIds

__all__ = ["INTERVALS", "bootstrap_interval"]


def percentile(draws: Scores, confidence_level: float = 0.95) -> ConfidenceInterval:
    """Drop the same number of draws at each end: Koehn 2004 (W04-3250), section 3.

    Of 1,000 draws at 95 % the 26th and the 975th are the ends. ``draws`` has shape (R,).

    >>> interval = percentile(np.arange(1, 1001), 0.95)
    >>> interval.low, interval.high
    (26.0, 975.0)
    """
    # 1000 * (1 - 0.9) / 2 is 49.999…: what floating point takes away must not drop one draw fewer.
    dropped = min(int(np.floor(len(draws) * (1 - confidence_level) / 2 + 1e-9)), (len(draws) - 1) // 2)
    ends = [dropped, len(draws) - 1 - dropped]
    low, high = np.partition(draws, ends)[ends]
    return ConfidenceInterval(float(low), float(high), confidence_level, "percentile")


INTERVALS: Mapping[str, Callable[[Scores, float], ConfidenceInterval]] = {"percentile": percentile}


def bootstrap_interval(
    a: ArrayLike,
    metric: MetricLike,
    *,
    b: ArrayLike | None = None,
    documents: DocumentIds | None = None,
    method: str = "percentile",
    confidence_level: float = 0.95,
    n_resamples: int = 10_000,
    seed: int = 12345,
    threads: int | None = None,
    progress: Progress | None = None,
) -> ConfidenceInterval:
    """Bootstrap confidence interval of a system's score or, with ``b``, of score(a) − score(b).

    S segments are drawn with replacement, B times, the same for both systems. Koehn 2004 (W04-3250), section 3.

    Parameters
    ----------
    a, b : (S, K) array_like of int
        The counts of each segment.
    metric, documents, n_resamples, seed, threads, progress
        As in :func:`reshuffle.bootstrap_test`; ``n_resamples`` is B, the number of draws.
    method : str
        A name in :data:`INTERVALS`.
    confidence_level : float
        Strictly between 0 and 1.

    Returns
    -------
    ConfidenceInterval
        In the metric's units.

    Raises
    ------
    InputError
        If shapes differ, counts are not whole numbers, there are fewer than 2 segments or documents, or an argument is
        out of range.

    Examples
    --------
    >>> right = np.array([[1], [0], [1], [1], [1], [0], [1], [1]])
    >>> interval = bootstrap_interval(right, lambda totals: totals[..., 0] / 8)
    >>> interval.low, interval.high
    (0.375, 1.0)
    """
    check_name("interval", method, list(INTERVALS))
    confidence_level = check_level("confidence_level", confidence_level)
    replicates = Replicates(
        [Family.of(resolve(metric), a, b, documents)],
        n_resamples=n_resamples,
        seed=seed,
        threads=threads,
        progress=progress,
    )
    (scores,) = replicates.draws
    drawn = scores[0] if b is None else scores[0] - scores[1]
    return INTERVALS[method](drawn, confidence_level)
