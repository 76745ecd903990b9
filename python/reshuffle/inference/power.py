"""Power in closed form: what a test of a difference detects, from the standard error of the difference.

The estimate is taken as normal with a known standard error, so that it differs significantly from 0 at level α if it is
beyond z₁₋α⸝₂ standard errors. For means of segment scores there is also the power of the t-test, whose standard error
is estimated. *Power* is the probability of a significant difference, of whichever sign. Type-S error is the probability
that a significant difference has the wrong sign, and type-M error is the expected size of a significant difference, in
multiples of the true one (Gelman & Carlin 2014, doi:10.1177/1745691614551642).
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ..errors import InputError
from ..metrics.base import Scores

# The power that is usual in planning samples (Cohen 1988, Statistical Power Analysis for the Behavioral Sciences).
POWER = 0.8

# The largest test set that a plan gives: beyond, float64 no longer counts units one by one.
MAX_UNITS = 2**53

# The points at which the power of the t-test is integrated: standard normal quantiles and their spacing.
LARGEST_QUANTILE, SPACING = 10.0, 0.01


class DesignErrors(NamedTuple):
    """Power, and what is expected of significant differences; the errors are NaN if there can be none."""

    power: float
    type_m: float
    type_s: float


def _tail(level: float, alternative: str) -> float:
    """The probability of each tail in which a test at this level rejects."""
    return level / 2 if alternative == "two-sided" else level


def critical_value(level: float, alternative: str = "two-sided") -> float:
    """z₁₋α⸝₂, or z₁₋α for a one-sided test; infinite for a level so small that it underflows.

    >>> round(critical_value(0.05), 4), round(critical_value(0.05, "greater"), 4)
    (1.96, 1.6449)
    """
    from statistics import NormalDist

    tail = _tail(level, alternative)
    return -NormalDist().inv_cdf(tail) if tail > 0 else math.inf


def normal_cdf(z: float) -> float:
    """Φ(z), without SciPy, whose import takes longer than most comparisons.

    >>> round(normal_cdf(-1.96), 6)
    0.024998
    """
    return math.erfc(-z / math.sqrt(2)) / 2


def detectable_factor(level: float, power: float = POWER, alternative: str = "two-sided") -> float:
    """The true difference that is detected with this power, in standard errors: z₁₋α⸝₂ + z_power.

    The significant differences of the wrong sign, at most α/2 of all, are not counted.

    >>> round(detectable_factor(0.05), 3)
    2.802
    """
    from statistics import NormalDist

    return NormalDist().inv_cdf(power) + critical_value(level, alternative)


def normal_power(effect: float, level: float, alternative: str = "two-sided") -> float:
    """The power to detect a true difference of ``effect`` standard errors.

    It is 1 − Φ(z − effect) + Φ(−z − effect) with z = z₁₋α⸝₂. One-sided tests have only the tail of the alternative, so
    that an effect of the other sign has less power than α.

    >>> round(normal_power(2.8, 0.05), 3), round(normal_power(0, 0.05), 3)
    (0.8, 0.05)
    """
    z = critical_value(level, alternative)
    above = normal_cdf(effect - z) if alternative != "less" else 0.0
    below = normal_cdf(-effect - z) if alternative != "greater" else 0.0
    return above + below


def normal_errors(effect: float, level: float) -> DesignErrors:
    """Power, type-M and type-S error of a two-sided test of a true difference of ``effect`` standard errors.

    The mean of |estimate| over both tails is the exaggeration ratio times |effect|: Lu, Qiu & Deng 2019,
    doi:10.1111/bmsp.12132, in closed form what Gelman & Carlin 2014 simulate. With no effect, type-M is infinite and
    type-S is ½.

    >>> errors = normal_errors(2.8, 0.05)  # as Gelman & Carlin 2014
    >>> round(errors.power, 2), round(errors.type_m, 1), f"{errors.type_s:.1e}"
    (0.8, 1.1, '1.2e-06')
    """
    z, effect = critical_value(level), abs(effect)
    right, wrong = normal_cdf(effect - z), normal_cdf(-effect - z)
    power = right + wrong
    if power == 0:
        return DesignErrors(power, math.nan, math.nan)
    below, above = z - effect, z + effect  # whose squares may be infinite
    density = (math.exp(-below * below / 2) + math.exp(-above * above / 2)) / math.sqrt(2 * math.pi)
    size = (density + effect * (right - wrong)) / power
    return DesignErrors(power, size / effect if effect else math.inf, wrong / power)


def required_units(
    difference: float, standard_error: float, n_units: int, level: float, power: float, alternative: str = "two-sided"
) -> int | None:
    """The smallest test set on which the difference is detected with this power; None if that is beyond 2⁵³ units.

    ``standard_error`` is that of the difference on ``n_units`` units. It is inversely proportional to the square root
    of the number of units, so that n = n_units·(factor·se/difference)².

    >>> required_units(1.0, 0.5, 1000, 0.05, 0.8)
    1963
    """
    if not difference:  # or so small that it underflows
        return None
    ratio = max(0.0, detectable_factor(level, power, alternative)) * standard_error / difference
    needed = n_units * ratio * ratio
    return max(2, math.ceil(needed * (1 - 1e-12))) if needed < MAX_UNITS else None


def t_power(effect: float, n_units: float, level: float, alternative: str = "two-sided") -> float:
    """The power of the paired t-test of n normal differences; ``effect`` is their mean in standard deviations.

    t has the noncentral t distribution with n − 1 degrees of freedom and noncentrality effect·√n (Cohen 1988, 2.5; as
    ``power.t.test`` in R with ``strict = TRUE``).

    >>> round(t_power(0.5, 34, 0.05), 4)
    0.8078
    """
    if n_units < 2:
        raise InputError(f"a t-test needs at least 2 units, got {n_units}")
    from scipy.special import stdtrit

    noncentrality = effect * math.sqrt(n_units)
    limit = -float(stdtrit(n_units - 1, _tail(level, alternative)))
    power = 0.0
    if alternative != "less":
        power += _beyond(limit, n_units - 1, noncentrality)
    if alternative != "greater":
        power += _beyond(limit, n_units - 1, -noncentrality)
    return min(1.0, power)


def _beyond(limit: float, freedom: float, noncentrality: float) -> float:
    """The probability that a noncentral t exceeds a positive limit.

    Given the estimated standard deviation s, in units of the true one, it is Φ(noncentrality − limit·s); this is the
    mean over s. SciPy's ``nctdtr`` is wrong far from the mean: in 1.15, P(T > 8.6) is 1 for 3 degrees of freedom and
    noncentrality −7.
    """
    from scipy.special import ndtr

    deviations, weights = _deviations(freedom)
    return float((ndtr(noncentrality - limit * deviations) * weights).sum())


@lru_cache(maxsize=4)
def _deviations(freedom: float) -> tuple[Scores, Scores]:
    """The values of s in :func:`_beyond`, and their weights: the trapezoidal rule over the normal quantiles of s."""
    from scipy.special import gammainccinv, gammaincinv, ndtr

    z = np.arange(-LARGEST_QUANTILE, LARGEST_QUANTILE + SPACING / 2, SPACING)
    half = freedom / 2
    squares = np.where(z < 0, gammaincinv(half, ndtr(z)), gammainccinv(half, ndtr(-z))) / half
    return np.sqrt(squares), SPACING / math.sqrt(2 * math.pi) * np.exp(-(z**2) / 2)


def t_detectable(n_units: float, level: float, power: float = POWER, alternative: str = "two-sided") -> float:
    """The mean difference, in standard deviations of the differences, that a t-test detects with this power.

    0 if the power is not above the level, which the test rejects without any difference.

    >>> round(t_detectable(34, 0.05), 4)
    0.495
    """
    from scipy.optimize import brentq

    sign = -1.0 if alternative == "less" else 1.0
    if t_power(0.0, n_units, level, alternative) >= power:
        return 0.0
    high = 1.0
    while t_power(sign * high, n_units, level, alternative) < power:
        high *= 2
    return float(brentq(lambda x: t_power(sign * x, n_units, level, alternative) - power, 0.0, high, xtol=1e-12))


def t_required_units(effect: float, level: float, power: float, alternative: str = "two-sided") -> int | None:
    """The smallest n with which a t-test detects a mean of ``effect`` standard deviations; None beyond 2⁵³.

    >>> [t_required_units(effect, 0.05, 0.8) for effect in (0.2, 0.5, 0.8)]  # as Cohen 1988 and G*Power
    [199, 34, 15]
    """
    sign = -1.0 if alternative == "less" else 1.0
    first = required_units(abs(effect), 1.0, 1, level, power, alternative)
    if first is None:
        return None
    # The t-test needs a little more than the normal approximation, which is where the search begins.
    low, high = 2, max(2, first)
    while t_power(sign * abs(effect), high, level, alternative) < power:
        low, high = high, high + max(1, high // 64) * (2 if high < 64 else 1)
    while low < high:
        middle = (low + high) // 2
        if t_power(sign * abs(effect), middle, level, alternative) < power:
            low = middle + 1
        else:
            high = middle
    return high
