"""Confidence intervals, and those of p-values from replicates."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from statistics import NormalDist
from typing import Annotated, Any, TypeAlias

from ..documented import record

# Numbers, names and truth values in results, which are arrays in the result of a batch of problems. Type checkers
# cannot know which of the two a value is. The type in ``Annotated`` is that of a single test, which is what is saved.
Real: TypeAlias = Annotated[Any, float]
OptionalReal: TypeAlias = Annotated[Any, float | None]
Whole: TypeAlias = Annotated[Any, int]
OptionalWhole: TypeAlias = Annotated[Any, int | None]
Flag: TypeAlias = Annotated[Any, bool]
OptionalText: TypeAlias = Annotated[Any, str | None]

# The intervals that are a score ± a normal quantile times a standard error.
NORMAL = ("delta", "jackknife", "normal")


def width_in_errors(confidence_level: float) -> float:
    """How many standard errors wide these intervals are.

    >>> round(width_in_errors(0.95), 2)
    3.92
    """
    return 2 * NormalDist().inv_cdf((1 + confidence_level) / 2)


@record
class ConfidenceInterval:
    """An interval for a score, a difference of scores, or a p-value."""

    low: Real
    """The ends, which belong to the interval; arrays for a batch of problems."""
    high: Real
    confidence_level: float
    """For example 0.95."""
    method: str
    """A name in :data:`reshuffle.inference.intervals.INTERVALS`, the name of a test with a margin, or ``simultaneous``,
    ``clopper-pearson``, ``robbins``, ``korn-graubard`` (a share of cases in clusters), ``clopper-pearson-shared`` (a
    share of cases that share replicates) or ``jackknife``. For systems with several runs, ``percentile``, ``welch-t``,
    ``hierarchical`` or ``hierarchical-t`` (:mod:`reshuffle.inference.exchange`).
    """

    def __iter__(self) -> Iterator[Real]:
        """The ends: ``low, high = interval``.

        >>> low, high = ConfidenceInterval(0.2, 1.4, 0.95, "percentile")
        >>> low, high
        (0.2, 1.4)
        """
        return iter((self.low, self.high))

    def __getitem__(self, index: int) -> Real:
        """The lower end (0) or the upper end (1), as in SciPy.

        >>> ConfidenceInterval(0.2, 1.4, 0.95, "percentile")[1]
        1.4
        """
        return (self.low, self.high)[index]

    @property
    def standard_error(self) -> Real | None:
        """Of intervals by ``delta``, ``jackknife`` and ``normal``, the standard error; None of others.

        >>> interval = ConfidenceInterval(0.46, 0.66, 0.95, "delta")
        >>> round(interval.standard_error, 4), ConfidenceInterval(0.46, 0.66, 0.95, "percentile").standard_error
        (0.051, None)
        """
        return (self.high - self.low) / width_in_errors(self.confidence_level) if self.method in NORMAL else None

    @property
    def reversed(self) -> ConfidenceInterval:
        """That of the negative difference: see :attr:`PairedDifference.reversed`."""
        return replace(self, low=0.0 - self.high, high=0.0 - self.low)


def clopper_pearson(
    exceedances: int, n_resamples: int, confidence_level: float = 0.95, stopped: bool = False
) -> ConfidenceInterval:
    """Clopper–Pearson interval for the exact p-value, from c exceedances in R independent replicates.

    Clopper & Pearson 1934, doi:10.1093/biomet/26.4.404. Conservative: its coverage is at least ``confidence_level``.
    With ``stopped``, sampling ended at the c-th exceedance, so that R is random. The event "at least R replicates"
    is then the event "at most c − 1 exceedances in R − 1 replicates", which gives the upper end.

    The ends are rounded to ten significant digits: later digits differ between releases of SciPy.

    >>> interval = clopper_pearson(500, 10_000)
    >>> round(interval.low, 4), round(interval.high, 4)
    (0.0458, 0.0545)
    """
    from scipy.special import betaincinv

    tail = (1 - confidence_level) / 2
    c, others = exceedances, n_resamples - exceedances
    low = betaincinv(c, others + 1, tail) if c else 0.0
    high = betaincinv(c + (not stopped), others, 1 - tail) if others else 1.0
    return ConfidenceInterval(float(f"{low:.10g}"), float(f"{high:.10g}"), confidence_level, "clopper-pearson")


def may_lie_across(exceedances: int, n_resamples: int, level: float) -> bool:
    """Whether the 95% interval of :func:`clopper_pearson` contains ``level``.

    >>> may_lie_across(480, 10_000, 0.05), may_lie_across(400, 10_000, 0.05)
    (True, False)
    """
    if not 0 < level < 1:
        return False
    # An end of the interval is beyond the level if the binomial tail at the level is larger than that of the interval.
    # SciPy, whose import takes longer than 10,000 shuffles, only decides what rounding could.
    ratio = _smaller_tail(exceedances, n_resamples, level) / 0.025
    if abs(ratio - 1) > 1e-9 * n_resamples / (1 - level):
        return ratio > 1
    interval = clopper_pearson(exceedances, n_resamples)
    return bool(interval.low < level < interval.high)


def _smaller_tail(c: int, n: int, p: float) -> float:
    """The smaller of the binomial probabilities of at most and of at least c successes in n, or a number from .1 to it.

    The other one is at least ½, because np, rounded up or down, is the median. The relative error is less than 10⁻¹³·n.

    >>> round(_smaller_tail(4, 4, 0.5), 12), round(_smaller_tail(2, 12, 0.5), 12)
    (0.0625, 0.019287109375)
    """
    if c > n * p:
        c, p = n - c, 1 - p
    log_term = math.lgamma(n + 1) - math.lgamma(c + 1) - math.lgamma(n - c + 1) + c * math.log(p)
    tail = term = math.exp(log_term + (n - c) * math.log1p(-p))
    odds = (1 - p) / p
    while c and tail < 0.1 and term > 1e-17 * tail:
        term *= c / (n - c + 1) * odds
        tail += term
        c -= 1
    return tail


def robbins(exceedances: int, n_resamples: int, confidence_level: float = 0.95) -> ConfidenceInterval:
    """Robbins' interval for the exact p-value, valid for any stopping rule: all p with (n + 1)·b(n, p, c) ≥ 1 − level.

    Robbins 1970, doi:10.1214/aos/1176696786. b is the binomial probability of c exceedances in n replicates. With
    probability at least ``confidence_level`` the intervals contain the true p for every n at once.

    >>> interval = robbins(500, 10_000)
    >>> round(interval.low, 4), round(interval.high, 4)
    (0.0417, 0.0593)
    """
    c, others, n = exceedances, n_resamples - exceedances, n_resamples
    constant = math.lgamma(n + 2) - math.lgamma(c + 1) - math.lgamma(others + 1) - math.log(1 - confidence_level)

    def contains(p: float) -> bool:
        if not 0 < p < 1:
            return c == n * p
        return constant + c * math.log(p) + others * math.log1p(-p) >= 0

    def end(outer: float) -> float:
        """The end of the interval between c/n, which it contains, and ``outer`` (0 or 1), by bisection."""
        inner = c / n
        while not contains(outer):
            middle = (inner + outer) / 2
            if middle in (inner, outer):
                break
            inner, outer = (middle, outer) if contains(middle) else (inner, middle)
        return outer

    return ConfidenceInterval(end(0.0), end(1.0), confidence_level, "robbins")
