"""Numbers as Java prints them."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike


def fixed(values: ArrayLike, decimals: int) -> list[str]:
    """``String.format("%.Nf")`` of one-dimensional ``values``: halves of the decimal notation are rounded up.

    Python rounds the binary number, so that it prints 6.25 as 6.2, and 0.15, which is a little less, as 0.1.

    >>> fixed([6.25, 0.15, -0.25, 0.249, -math.inf], 1)
    ['6.3', '0.2', '-0.3', '0.2', '-Infinity']
    """
    array = np.asarray(values, dtype=np.float64)
    power = 10.0 ** (decimals + 1)
    with np.errstate(invalid="ignore", over="ignore"):  # of infinities and of the largest numbers
        digits = np.rint(array * power)
        # The quotient is the float nearest to the decimal number, which is the one that is printed with these digits.
        is_half = (digits / power == array) & (np.abs(digits) % 10 == 5)
    array = np.where(is_half, np.nextafter(array, np.copysign(np.inf, array)), array)
    return [f"{value:.{decimals}f}" if math.isfinite(value) else _not_finite(value) for value in array.tolist()]


def _not_finite(value: float) -> str:
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def rounded(value: float | None, decimals: int) -> str:
    """One number as in :func:`fixed`; ``NaN`` for None."""
    return "NaN" if value is None else fixed([value], decimals)[0]


def as_double(values: Iterable[float]) -> list[str]:
    """``Double.toString``: the shortest digits, with an exponent below 0.001 and from 10⁷.

    >>> as_double([25.0, 1 / 3, 0.0001, 0.0, 12345678.0])
    ['25.0', '0.3333333333333333', '1.0E-4', '0.0', '1.2345678E7']
    """
    return [repr(value) if value == 0 or 1e-3 <= abs(value) < 1e7 else _scientific(value) for value in values]


def _scientific(value: float) -> str:
    digits, _, exponent = f"{value!r}".partition("e")
    if not exponent:  # Python begins to write exponents further from 1 than Java does
        digits, _, exponent = np.format_float_scientific(value, trim="0").partition("e")
    return f"{digits if '.' in digits else digits + '.0'}E{int(exponent)}"
