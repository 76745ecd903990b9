"""Williams' test of the difference between two correlations that have a variable in common."""

from __future__ import annotations

import math
from typing import NamedTuple, overload

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError, quoted
from ..metrics.base import Scores
from ..validate import check_integer, check_name
from .values import without_exponent

ALTERNATIVES = ("two-sided", "greater", "less")

# Correlations computed from the same numbers can exceed 1, or leave a negative determinant, by rounding.
ROUNDING = 1e-9


class WilliamsResult(NamedTuple):
    """The result of :func:`williams`."""

    statistic: float
    """t; positive if r12 > r13. NaN where it is not defined."""
    pvalue: float
    """NaN where it is not defined."""
    df: int
    """Degrees of freedom."""


@overload
def williams(
    r12: float, r13: float, r23: float, n: int, *, alternative: str = "two-sided", df: int | None = None
) -> WilliamsResult: ...
@overload
def williams(
    r12: ArrayLike,
    r13: ArrayLike,
    r23: ArrayLike,
    n: None = None,
    *,
    alternative: str = "two-sided",
    df: int | None = None,
) -> WilliamsResult: ...
def williams(
    r12: ArrayLike,
    r13: ArrayLike,
    r23: ArrayLike,
    n: int | None = None,
    *,
    alternative: str = "two-sided",
    df: int | None = None,
) -> WilliamsResult:
    """Test whether two metrics correlate equally well with people, from the correlations or from the scores.

    Williams 1959, in the form of Graham & Baldwin 2014 (D14-1020), with K = 1 − r12² − r13² − r23² + 2·r12·r13·r23:

    t = (r12 − r13)·√((n − 1)(1 + r23)/(2K(n − 1)/(n − 3) + (r12 + r13)²/4·(1 − r23)³)), with n − 3 degrees of freedom.

    Parameters
    ----------
    r12, r13, r23 : float
        The correlations between people and the first metric, people and the second metric, and the two metrics. To
        compare metrics where lower is better with others, negate their correlations, or pass absolute values.
        Without ``n``: the scores themselves, (n,) each, of people, the first and the second metric.
    n : int, optional
        The number of systems, at least 4.
    alternative : {'two-sided', 'greater', 'less'}
        ``greater``: the first metric correlates better. Graham & Baldwin's p is that of ``greater`` for the better
        metric.
    df : int, optional
        Degrees of freedom, n − 3 by default. The p-values that Graham & Baldwin's scripts print have n − 2, as earlier
        versions of R's package psych did: .0114 for their example, where n − 3 gives .0125.

    Returns
    -------
    WilliamsResult
        Statistic, p-value and degrees of freedom. For r12 = r13 and r23 = 1, such as identical metrics, t = 0 and p is
        1 (two-sided) or .5. Other correlations without a spread (K = 0, a constant score) have no t: NaN.

    Raises
    ------
    InputError
        For fewer than 4 systems, correlations outside −1 … 1 or that no data can have, and scores of different length
        or that are not finite.

    Examples
    --------
    >>> result = williams(0.9, 0.8, 0.85, 12)
    >>> round(result.statistic, 3), round(result.pvalue, 3), result.df
    (1.259, 0.24, 9)
    >>> people, first, second = [1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 6, 5], [2, 1, 4, 3, 6, 5]
    >>> round(williams(people, first, second, alternative="greater").pvalue, 3)
    0.152
    """
    check_name("alternative", alternative, ALTERNATIVES)
    if n is None:
        r12, r13, r23, n = _correlations(r12, r13, r23)
    n = check_integer("the number of systems (n)", n, 4)
    values: list[float] = []
    for name, value in (("r12", r12), ("r13", r13), ("r23", r23)):
        if np.ndim(value) != 0:
            raise InputError(f"{name}: with n, expected a correlation, got {quoted(value)}; leave n out to pass scores")
        number = float(np.asarray(value, dtype=np.float64))
        if abs(number) > 1 + ROUNDING:
            raise InputError(f"{name} must be between -1 and 1, got {number}")
        values.append(float(np.clip(number, -1, 1)))
    t, df = statistic(values[0], values[1], values[2], n), n - 3 if df is None else check_integer("df", df, 1)
    return WilliamsResult(t, _pvalue(t, df, alternative), df)


def statistic(r12: float, r13: float, r23: float, n: int) -> float:
    """Williams' t; NaN where it is not defined."""
    determinant = 1 - r12**2 - r13**2 - r23**2 + 2 * r12 * r13 * r23
    if determinant < -1e-6:
        raise InputError(f"no scores have the correlations {r12:g}, {r13:g} and {r23:g}: is one of them mistyped?")
    if math.isnan(determinant):
        return math.nan
    if abs(r12 - r13) <= ROUNDING and r23 >= 1 - ROUNDING:
        return 0.0
    spread = 2 * max(determinant, 0.0) * (n - 1) / (n - 3) + ((r12 + r13) / 2) ** 2 * (1 - r23) ** 3
    if spread <= ROUNDING**2:
        return 0.0 if r12 == r13 else math.nan
    return (r12 - r13) * math.sqrt((n - 1) * max(1 + r23, 0.0) / spread)


def _pvalue(t: float, df: int, alternative: str) -> float:
    """The tail of Student's distribution."""
    from scipy.special import stdtr

    if math.isnan(t):
        return math.nan
    if alternative == "two-sided":
        return float(2 * stdtr(df, -abs(t)))
    return float(stdtr(df, -t if alternative == "greater" else t))


def _correlations(people: ArrayLike, first: ArrayLike, second: ArrayLike) -> tuple[float, float, float, int]:
    """The correlations of three vectors of scores, and their length."""
    arrays: list[Scores] = []
    for name, values in (("people", people), ("the first metric", first), ("the second metric", second)):
        try:
            array = np.asarray(values, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError(f"the scores of {name} must be numbers, got {quoted(values)}") from None
        if array.ndim != 1:
            raise InputError(f"the scores of {name} must be a sequence of numbers, got {quoted(values)}: or pass n")
        if not np.isfinite(array).all():
            raise InputError(f"the scores of {name} must be finite, got {array[~np.isfinite(array)][0]}")
        arrays.append(without_exponent(array))
    lengths = [len(array) for array in arrays]
    if len(set(lengths)) > 1:
        raise InputError(
            f"people and both metrics need scores of the same systems, got {lengths[0]}, {lengths[1]} and "
            f"{lengths[2]} scores"
        )
    check_integer("the number of systems (n)", lengths[0], 4)
    deviations = [array - array.mean() for array in arrays]
    norms = [float(np.sqrt(d @ d)) for d in deviations]
    constant = [norm <= 1e-12 * float(np.abs(array).max()) for norm, array in zip(norms, arrays, strict=True)]

    def correlation(a: int, b: int) -> float:
        if constant[a] or constant[b]:
            return math.nan
        return float(deviations[a] @ deviations[b] / (norms[a] * norms[b]))

    return correlation(0, 1), correlation(0, 2), correlation(1, 2), lengths[0]
