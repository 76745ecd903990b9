"""How many replicates are enough: the number that ``n_resamples="auto"`` uses and that notes recommend.

p is a multiple of 1/(R + 1). If R + 1 = 20/α, a p of α is the twentieth smallest possible p, and its Monte Carlo
standard error is about a fifth of α. The ends of a percentile interval are the k-th smallest and the k-th largest draw;
k is 20 if R + 1 = 40/(1 − confidence level).
"""

from __future__ import annotations

import math

from ..errors import Argument, InputError
from ..validate import MAX_RESAMPLES

# The number of replicates that should be at least as extreme if p = α, and that should lie beyond each end of an
# interval.
BEYOND = 20
# A standard deviation of R draws has a relative standard error of 1/√(2R): 5% for 200 draws.
FOR_STANDARD_DEVIATION = 200
# The limits of ``auto``: the default number, and a maximum beyond which the user should decide.
SMALLEST, LARGEST = 10_000, 1_000_000


def for_pvalue(alpha: float, numerator: int = 1) -> int:
    """Enough replicates for a test at level α whose smallest p, after adjustment, is ``numerator``/(R + 1).

    >>> for_pvalue(0.05), for_pvalue(0.05, 120)
    (399, 47999)
    """
    return _ceil(BEYOND * numerator / alpha) - 1


def fewest(alpha: float, numerator: float = 1) -> int:
    """The fewest replicates with which the smallest p, ``numerator``/(R + 1), is at most α.

    >>> fewest(0.05), fewest(0.05, 2)
    (19, 39)
    """
    return math.ceil(numerator / alpha - 1e-9) - 1


def check_replicates(n: int, alpha: float, numerator: int = 1) -> None:
    """:class:`InputError` if even the smallest p, ``numerator``/(n + 1), is above α."""
    least = fewest(alpha, numerator)
    if n < least:
        raise InputError(
            f"at alpha {alpha:g}, the test can reject only with {least:,} replicates or more, got {n:,}: increase "
            "{number}",
            number=Argument("n_resamples"),
        )


def for_ends(level: float) -> int:
    """Enough draws for an interval at this confidence level whose ends depend on the tails of the draws.

    >>> for_ends(0.95), for_ends(0.999)
    (799, 39999)
    """
    return _ceil(2 * BEYOND / (1 - level)) - 1


def automatic(*needed: int | None) -> tuple[int, int]:
    """The number that ``auto`` stands for, and the number that is enough, which is larger if it exceeds the limit.

    >>> automatic(399, 47_999), automatic(399, None), automatic(1_979_999)
    ((47999, 47999), (10000, 10000), (1000000, 1979999))
    """
    enough = max([SMALLEST, *(n for n in needed if n is not None)])
    return min(enough, LARGEST), enough


def _ceil(x: float) -> int:
    """The smallest integer that is at least x, up to the rounding error of x, and at most the number allowed.

    >>> 2 * 20 / (1 - 0.9), _ceil(2 * 20 / (1 - 0.9))
    (400.0000000000001, 400)
    """
    return math.ceil(min(x * (1 - 1e-9), MAX_RESAMPLES))
