"""Sums of squared differences between the rows of a matrix, for all pairs of rows.

Standard errors and intraclass correlations of a pair of systems are sums of squares of the units' contributions to
score(a) − score(b). For k systems there are k(k − 1)/2 pairs, and one pass over the units for each would be slow. The
Gram matrix of the contributions to the k scores contains all of them, because ‖u − v‖² = ‖u‖² + ‖v‖² − 2·u·v.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..lazy import lazy

Values = NDArray[np.float64]

# The matrix is used if ‖u − v‖² is more than this share of ‖u‖² + ‖v‖². Below, the relative error exceeds 10⁻¹¹.
CLOSE = 2.0**-16

# Multiplications between two checks for Ctrl-C: a few milliseconds.
PRODUCTS = 1 << 24


class Squares:
    """Σ_s w_s (u_as − u_bs)² for any two rows a, b of (k, S) values, with (S,) weights w. Memory: k·S + k² numbers."""

    def __init__(self, values: Values, weights: Values) -> None:
        self._values = values
        self._weights = weights

    @lazy
    def _matrix(self) -> Values:
        """The sums for all pairs of rows, NaN where cancellation makes them inaccurate: (k, k)."""
        k, n = self._values.shape
        gram = np.zeros((k, k))
        size = max(1, PRODUCTS // k**2)
        for first in range(0, n, size):
            block = slice(first, first + size)
            scaled = self._values[:, block] * np.sqrt(self._weights[block])
            gram += scaled @ scaled.T
        both = np.add.outer(gram.diagonal(), gram.diagonal())
        squares = both - 2 * gram
        squares[~(squares > CLOSE * both)] = np.nan
        return squares

    def between(self, a: int, b: int) -> float | None:
        """The sum for rows a and b. None if they are so similar that the caller has to subtract them first.

        >>> squares = Squares(np.array([[1.0, 2.0], [3.0, 2.0], [3.0, 2.0]]), np.array([1.0, 0.5]))
        >>> squares.between(0, 1), squares.between(1, 2)
        (4.0, None)
        """
        squared: float = self._matrix.item(a, b)
        return None if math.isnan(squared) else squared
