"""What many tests at once do to the chance of a false alarm."""

from __future__ import annotations

import math

__all__ = ["experimentwise_error"]


def experimentwise_error(level: float, n_tests: int) -> float:
    """The chance of at least one false alarm in n independent tests, p_e = 1 − (1 − p_c)ⁿ.

    Riezler & Maxwell 2005 (W05-0908), section 4.4, whose 105 pairs at .05 give .9954.

    >>> round(experimentwise_error(0.05, 105), 4)
    0.9954
    """
    return -math.expm1(n_tests * math.log1p(-level))
