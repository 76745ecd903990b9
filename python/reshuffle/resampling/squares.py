"""Sums of squared differences of all pairs of systems, from one matrix.

Standard errors, and what segments of a document have in common, are sums of squares of what units add to score(a) −
score(b). Pair by pair that is a pass over the units for each of k(k − 1)/2 pairs. All of them are in the Gram matrix of
what units add to the k scores, for ‖u − v‖² = ‖u‖² + ‖v‖² − 2·u·v.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..lazy import lazy

__all__ = ["Squares"]

Values = NDArray[np.float64]

# The smallest share of ‖u‖² + ‖v‖² that is taken from the matrix. Below it, rounding is more than 10⁻¹¹ of the result.
CLOSE = 2.0**-16

# Multiplications between two looks whether there is a Ctrl-C: some milliseconds.
PRODUCTS = 1 << 24


class Squares:
    """Σ_s w_s (u_as − u_bs)² for any two rows of (k, S) values, with (S,) weights. Memory: k·S + k² numbers."""

    def __init__(self, values: Values, weights: Values) -> None:
        self._values = values
        self._weights = weights

    @lazy
    def _matrix(self) -> Values:
        """For all rows a and b, NaN where the matrix cannot tell."""
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
        """That of rows a and b. None if they are so much alike that they have to be subtracted first.

        >>> squares = Squares(np.array([[1.0, 2.0], [3.0, 2.0], [3.0, 2.0]]), np.array([1.0, 0.5]))
        >>> squares.between(0, 1), squares.between(1, 2)
        (4.0, None)
        """
        found = self._matrix.item(a, b)
        return None if math.isnan(found) else found
