"""Statistics of several systems under one metric of sacreBLEU, as integers that can be resampled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..patching import NotNative
from .counting import as_statistics

LARGEST_EXACT = 2**53
"""Doubles hold sums of integers exactly up to here."""

# Statistics that are not whole numbers, such as mean lengths over 2 or 4 references, are multiplied by a power of two
# up to this one.
LARGEST_DIVISOR = 2**10


@dataclass(frozen=True, eq=False)
class Sample:
    """The statistics of k systems under one metric; the first is the baseline.

    Attributes
    ----------
    metric : Metric
        sacreBLEU's metric.
    values : (k, S, K) ndarray of int64 (int32 under Windows with NumPy 1) or float64
        sacreBLEU's lists of statistics as an array, in the dtype that numpy chooses.
    counts : (k, S, K) ndarray of int64, or None
        ``values`` times ``divisor``. None if no small divisor makes them whole numbers.
    divisor : int
    """

    metric: Any
    values: NDArray[Any]
    counts: NDArray[np.int64] | None
    divisor: int

    @classmethod
    def from_values(cls, metric: Any, values: Sequence[NDArray[Any]], divisors: Sequence[int] = ()) -> Sample:
        """From one (S, K) array for each system.

        ``divisors`` are tried in order. By default they are powers of two, with which sacreBLEU's sums are exact.
        """
        stacked = np.stack(values)
        for divisor in divisors or [1 << power for power in range(LARGEST_DIVISOR.bit_length())]:
            counts = _whole(stacked, divisor, exact=not divisors)
            if counts is not None:
                return cls(metric, stacked, counts, divisor)
        return cls(metric, stacked, None, 1)

    def host_sums(self, sums: NDArray[np.int64]) -> NDArray[Any]:
        """sacreBLEU's sums of values, in its dtype, from sums of counts."""
        if self.divisor == 1:
            return sums.astype(self.values.dtype, copy=False)
        return sums / self.divisor


def _whole(values: NDArray[Any], divisor: int, exact: bool) -> NDArray[np.int64] | None:
    """``values`` times ``divisor`` as int64, or None unless these are whole numbers whose sums are exact in doubles."""
    scaled = values if divisor == 1 else values * divisor
    rounded = np.rint(scaled) if scaled.dtype.kind == "f" else scaled
    if not (np.array_equal(rounded, scaled) if exact else np.allclose(rounded, scaled, rtol=1e-12, atol=0)):
        return None
    largest = LARGEST_EXACT if values.dtype.kind == "f" else min(LARGEST_EXACT, np.iinfo(values.dtype).max)
    if float(np.abs(rounded).max(initial=0)) * rounded.shape[1] > largest:
        return None
    return rounded.astype(np.int64, copy=False)


def as_values(statistics: Any) -> NDArray[Any]:
    """sacreBLEU's statistics of one system as an (S, K) array of integers or float64.

    Raises
    ------
    NotNative
        If that is impossible, or a value is not finite.
    """
    try:
        values = np.asarray(statistics)
    except ValueError:
        raise NotNative("segments have different numbers of statistics") from None
    if values.ndim != 2 or 0 in values.shape:
        raise NotNative(f"the statistics have shape {values.shape}")
    if values.dtype not in (np.int32, np.int64, np.float64) or not np.isfinite(values).all():
        raise NotNative(f"the statistics are not finite int32, int64 or float64 numbers (their type is {values.dtype})")
    return values


def values_of_counts(metric: Any, counts: NDArray[np.int64]) -> NDArray[Any]:
    """(S, K) counts in the dtype that numpy chooses for sacreBLEU's lists of the same counts."""
    return counts.astype(np.asarray(as_statistics(metric, counts[:1])).dtype, copy=False)
