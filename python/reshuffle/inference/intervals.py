"""Confidence intervals and standard errors. A new interval is a function here and an entry in :data:`INTERVALS`.

Below, θ is what was observed, θ*_1 … θ*_R are its draws, α = 1 − ``confidence_level``, and z_q and t_q are quantiles of
the normal and of Student's t distribution.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from .. import types
from .._core import Progress
from ..errors import InputError
from ..metrics.base import Metric, MetricLike, Scores
from ..metrics.black_box import CorpusFunction
from ..resampling import CountSample, Problems, Replicates, is_batch
from ..results import ConfidenceInterval, UsedInterval
from ..settings import DocumentIds, Resampling, StratumIds, Units
from ..validate import check_level, check_name
from .estimates import ANY, MEANS, SUMS, Estimate, check_kind

__all__ = ["INTERVALS", "STANDARD_ERRORS", "Interval", "bootstrap_interval", "check_interval", "standard_error"]


def between(draws: Scores, low: float, high: float) -> tuple[float, float]:
    """The order statistics between which the draws lie from the share ``low`` to the share ``high`` of them.

    Koehn 2004 (W04-3250), section 5: whole draws are dropped at each end, never more than that.

    >>> between(np.arange(1, 1001), 0.025, 0.975)
    (26.0, 975.0)
    """
    # 1000 * (1 - 0.95) / 2 is 25.000…02 or 24.999…98: what floating point takes away must not change what is dropped.
    last = len(draws) - 1
    dropped_below, dropped_above = (min(int(len(draws) * share + 1e-9), last) for share in (low, 1 - high))
    # Of few draws, or at a low level, more than all might be dropped: then the two in the middle are left.
    first, second = np.sort([dropped_below, last - dropped_above])
    ends = np.partition(draws, [first, second])[[first, second]]
    return float(ends[0]), float(ends[1])


def percentile(estimate: Estimate, level: float) -> tuple[float, float]:
    """θ*_(α/2) to θ*_(1−α/2): drop the same number of draws at each end."""
    return between(estimate.draws, (1 - level) / 2, (1 + level) / 2)


def basic(estimate: Estimate, level: float) -> tuple[float, float]:
    """2θ − θ*_(1−α/2) to 2θ − θ*_(α/2): the draws lie about θ as θ does about the truth."""
    low, high = percentile(estimate, level)
    return 2 * estimate.value - high, 2 * estimate.value - low


def bca(estimate: Estimate, level: float) -> tuple[float, float]:
    """Percentiles moved by the draws' bias z₀ and by the acceleration a, the skewness of the jackknife values.

    z₀ is the normal quantile of the share of draws below θ, those equal to it counted half, as SciPy does;
    a = Σ u_s³/(6 (Σ u_s²)^1.5) with u_s = mean θ₍ₛ₎ − θ₍ₛ₎, θ₍ₛ₎ without segment s; and a share α becomes
    Φ(z₀ + (z₀ + z_α)/(1 − a(z₀ + z_α))). Efron 1987. Within strata the mean is that of the
    stratum: draws from strata are independent, so their second and third moments add up (Davison & Hinkley 1997, 5.3).
    """
    from scipy.special import ndtr, ndtri

    draws, value = estimate.draws, estimate.value
    share = ((draws < value).mean() + (draws <= value).mean()) / 2
    # If all draws lie on one side, half a draw is taken to lie on the other.
    bias = ndtri(np.clip(share, 0.5 / len(draws), 1 - 0.5 / len(draws)))
    u = estimate.influences
    squares = (u**2).sum()
    acceleration = (u**3).sum() / (6 * squares**1.5) if squares > 0 else 0.0

    def moved(share: float) -> float:
        z = bias + ndtri(share)
        shrunk = 1 - acceleration * z
        return float(ndtr(bias + z / shrunk)) if shrunk > 0 else float(z > 0)  # beyond its pole: the outermost draw

    return between(draws, moved((1 - level) / 2), moved((1 + level) / 2))


def studentized(estimate: Estimate, level: float) -> tuple[float, float]:
    """θ − t*_(1−α/2)·se to θ − t*_(α/2)·se with t*_b = (θ*_b − θ)/se*_b, all se by the delta method.

    A draw with se*_b = 0 has t* = 0 if θ*_b = θ and else an infinite one.
    """
    away, errors = estimate.draws - estimate.value, estimate.draw_errors
    infinite = np.where(away == 0, 0.0, np.copysign(np.inf, away))
    ratios = np.divide(away, errors, out=infinite, where=errors > 0)
    low, high = between(ratios, (1 - level) / 2, (1 + level) / 2)
    if not np.isfinite([low, high]).all():
        raise InputError(
            f"no studentized interval: {(errors == 0).sum():,} of {len(errors):,} draws have a standard error of 0; "
            "use bca or percentile"
        )
    return estimate.value - high * estimate.delta_error, estimate.value - low * estimate.delta_error


def student_t(estimate: Estimate, level: float) -> tuple[float, float]:
    """θ ± t_(1−α/2)·s/√S with S − 1 degrees of freedom, s the standard deviation of the segments' scores."""
    from scipy.special import stdtrit

    values = estimate.segment_values
    reach = stdtrit(len(values) - 1, (1 + level) / 2) * values.std(ddof=1) / len(values) ** 0.5
    return float(estimate.value - reach), float(estimate.value + reach)


STANDARD_ERRORS: Mapping[str, Callable[[Estimate], float]] = {
    "delta": lambda estimate: estimate.delta_error,
    "jackknife": lambda estimate: estimate.jackknife_error,
    "bootstrap": lambda estimate: estimate.bootstrap_error,
}


def _normal(error: str) -> Callable[[Estimate, float], tuple[float, float]]:
    """θ ± z_(1−α/2)·se."""

    def ends(estimate: Estimate, level: float) -> tuple[float, float]:
        from scipy.special import ndtri

        reach = ndtri((1 + level) / 2) * STANDARD_ERRORS[error](estimate)
        return float(estimate.value - reach), float(estimate.value + reach)

    return ends


@dataclass(frozen=True)
class Interval:
    """An interval as the registry knows it.

    ``ends(estimate, level)`` gives both ends. ``kind`` is what it needs of a metric: ``ANY``, ``SUMS`` or ``MEANS`` of
    :mod:`reshuffle.inference.estimates`. ``draws`` tells whether it needs draws.
    """

    name: str
    title: str
    about: str
    source: str
    ends: Callable[[Estimate, float], tuple[float, float]]
    kind: str = ANY
    draws: bool = True

    def of(self, estimate: Estimate, level: float) -> ConfidenceInterval:
        """The interval of an estimate."""
        return ConfidenceInterval(*self.ends(estimate, level), level, self.name)

    @property
    def used(self) -> UsedInterval:
        """For the record."""
        return UsedInterval(self.name, self.title, self.draws)


INTERVALS: Mapping[str, Interval] = {
    interval.name: interval
    for interval in (
        Interval(
            "percentile",
            "percentile",
            "the range of the draws after the same number is dropped at each end",
            "W04-3250, section 5",
            percentile,
        ),
        Interval(
            "basic",
            "basic",
            "the percentile interval reflected about the observed score",
            "doi:10.1017/CBO9780511802843, 5.2",
            basic,
        ),
        Interval(
            "normal",
            "normal, with the standard deviation",
            "the observed score ± a normal quantile times the standard deviation of the draws",
            "doi:10.1201/9780429246593, 13.2",
            _normal("bootstrap"),
        ),
        Interval(
            "bca",
            "BCa (bias-corrected and accelerated)",
            "percentiles corrected for bias and skewness",
            "doi:10.1080/01621459.1987.10478410",
            bca,
        ),
        Interval(
            "studentized",
            "studentized",
            "bootstrap-t: the deviation of each draw is divided by the standard error of that draw",
            "doi:10.1214/aos/1176350933",
            studentized,
            kind=SUMS,
        ),
        Interval(
            "delta",
            "normal, with the standard error of the delta method",
            "the observed score ± a normal quantile times the standard error of the linearised metric; no draws",
            "doi:10.1093/biomet/68.3.589",
            _normal("delta"),
            kind=SUMS,
            draws=False,
        ),
        Interval(
            "jackknife",
            "normal, with the standard error of the jackknife",
            "the observed score ± a normal quantile times the standard error from leaving out segments; no draws",
            "doi:10.1214/aos/1176345462",
            _normal("jackknife"),
            draws=False,
        ),
        Interval(
            "t",
            "Student's t, of the scores of segments",
            "Student's t, for means of segment scores; no draws",
            "W04-3250, formula 5",
            student_t,
            kind=MEANS,
            draws=False,
        ),
    )
}


def check_interval(name: str, *metrics: Metric | CorpusFunction) -> Interval:
    """The interval of that name, or :class:`InputError` if there is none or it is not for one of the metrics."""
    check_name("interval", name, list(INTERVALS))
    others = ["percentile", "bca", "jackknife"]
    check_kind(f"interval {name!r}", INTERVALS[name].kind, metrics, others)
    return INTERVALS[name]


T = TypeVar("T")


@dataclass(frozen=True)
class _Asked:
    """One or two systems, or a batch of them, of which an interval or a standard error is wanted."""

    a: ArrayLike
    b: ArrayLike | None
    metric: MetricLike | None
    units: Units
    resampling: Resampling
    seed: int | ArrayLike

    @property
    def is_batch(self) -> bool:
        """Are they many problems?"""
        return is_batch(self.a, self.metric)

    def estimate(self) -> Estimate:
        """Of one problem."""
        sample = CountSample.of_arrays(self.metric, self.a, self.b, self.units)
        return self._of(Replicates.of([sample], replace(self.resampling, seed=self.seed)))

    def each(self, of: Callable[[Estimate], T]) -> list[T]:
        """Something of each problem of a batch."""
        problems = Problems.of(self.metric, self.a, self.b, self.units, self.seed)
        found = [(number, of(self._of(replicates))) for number, replicates in problems.one_by_one(self.resampling)]
        return [value for _, value in sorted(found, key=itemgetter(0))]

    def _of(self, replicates: Replicates) -> Estimate:
        return Estimate(replicates, 0, 0, None if self.b is None else 1)


def bootstrap_interval(
    a: ArrayLike,
    metric: MetricLike | None = None,
    *,
    b: ArrayLike | None = None,
    documents: DocumentIds | None = None,
    strata: StratumIds | None = None,
    method: types.Interval | str = "percentile",
    confidence_level: float = 0.95,
    n_resamples: int = 10_000,
    seed: int | ArrayLike = 12345,
    threads: int | None = None,
    progress: Progress | None = None,
) -> ConfidenceInterval:
    r"""Confidence interval of a system's score or, with ``b``, of score(a) − score(b).

    S segments are drawn with replacement, B times, the same for both systems. With θ what was observed, θ* its draws,
    se a standard error, α = 1 − ``confidence_level`` and z and t quantiles of the normal and Student's t distribution:

    =========== ============================================ ==============================================
    method      ends                                         source
    =========== ============================================ ==============================================
    percentile  θ*_(α/2), θ*_(1−α/2)                         Koehn 2004, W04-3250, section 5
    basic       2θ − θ*_(1−α/2), 2θ − θ*_(α/2)               Davison & Hinkley 1997, 5.2
    normal      θ ± z·sd(θ*)                                 Efron & Tibshirani 1993, 13.2
    bca         θ*_(α₁), θ*_(α₂), moved by bias and skewness Efron 1987, doi:10.1080/01621459.1987.10478410
    studentized θ − q·se, q quantiles of (θ* − θ)/se*        Hall 1988, doi:10.1214/aos/1176350933
    delta       θ ± z·se, by the delta method                Efron 1981, doi:10.1093/biomet/68.3.589
    jackknife   θ ± z·se, by the jackknife                   Efron & Stein 1981, doi:10.1214/aos/1176345462
    t           θ ± t·s/√S, for means of segment scores      Koehn 2004, W04-3250, formula 5
    =========== ============================================ ==============================================

    docs/statistics.md has every definition and how often each interval covers.

    Parameters
    ----------
    a, b : (S, K) array_like of int, or (S,) array_like of float
        The counts of each segment; without a metric one score for each segment, of which the mean is taken. A batch of
        problems has the shape (batch, S, K) or (batch, S), as in :func:`reshuffle.approximate_randomization`.
    metric, documents, strata, n_resamples, seed, threads, progress
        As in :func:`reshuffle.bootstrap_test`; ``n_resamples`` is B, the number of draws. ``delta``, ``jackknife`` and
        ``t`` make none. ``studentized`` and ``t`` are not for strata.
    method : str
        A name in :data:`INTERVALS`. ``t`` is for metrics that are means: :class:`reshuffle.SegmentScores`.
    confidence_level : float
        Strictly between 0 and 1.

    Returns
    -------
    ConfidenceInterval
        In the metric's units. For a batch the ends are arrays.

    Raises
    ------
    InputError
        If shapes differ, counts are not whole numbers, there are fewer than 2 segments or documents, an argument
        is out of range, or the method is not for this metric or not for strata.

    Notes
    -----
    Cost: as a bootstrap test. In addition ``bca`` and ``jackknife`` need S scores, and ``studentized`` K derivatives
    and K²/2 sums for every draw, four times that for a difference; ``delta`` needs K derivatives in all. A derivative
    of a function in Python takes two scores.

    Examples
    --------
    >>> right = np.array([[1], [0], [1], [1], [1], [0], [1], [1]])
    >>> interval = bootstrap_interval(right, lambda totals: totals[..., 0] / 8)
    >>> interval.low, interval.high
    (0.375, 1.0)
    >>> interval = bootstrap_interval(right, lambda totals: totals[..., 0] / 8, method="delta")
    >>> round(interval.low, 3), round(interval.high, 3)
    (0.429, 1.071)
    >>> interval = bootstrap_interval([0.81, 0.84, 0.79, 0.9], method="t")  # of a mean of segment scores
    >>> round(interval.low, 3), round(interval.high, 3)
    (0.759, 0.911)
    """
    confidence_level = check_level("confidence_level", confidence_level)
    check_name("interval", method, list(INTERVALS))
    resampling = Resampling(n_resamples, threads=threads, progress=progress)
    asked = _Asked(a, b, metric, Units(documents, strata), resampling, seed)

    def interval(estimate: Estimate) -> ConfidenceInterval:
        used = check_interval(method, *(sample.metric for sample in estimate.replicates.samples))
        return used.of(estimate, confidence_level)

    if not asked.is_batch:
        return interval(asked.estimate())
    found = asked.each(interval)
    low, high = np.array([(one.low, one.high) for one in found]).T
    return ConfidenceInterval(low, high, confidence_level, method)


def standard_error(
    a: ArrayLike,
    metric: MetricLike | None = None,
    *,
    b: ArrayLike | None = None,
    documents: DocumentIds | None = None,
    strata: StratumIds | None = None,
    method: types.StandardError | str = "delta",
    n_resamples: int = 10_000,
    seed: int | ArrayLike = 12345,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Any:
    """Standard error of a system's score or, with ``b``, of score(a) − score(b), over random segments.

    - ``delta``: √(S/(S − 1) Σ u_s²) where u_s = ∇f(T)·(x_s − T/S) is what segment s adds to the score if the metric is
      linearised (Efron 1981, doi:10.1093/biomet/68.3.589). ∇f is in closed form; for a function in Python by central
      differences in whole counts, which are rough where the score depends on a count of 1 to 3.
    - ``jackknife``: √((S − 1)/S Σ (θ₍ₛ₎ − mean θ₍ₛ₎)²) over the scores without one of the segments (Efron & Stein 1981,
      doi:10.1214/aos/1176345462).
    - ``bootstrap``: the standard deviation of B draws, with B − 1 below.

    The first two are s/√S for a mean. Within strata of S_h segments they are √(Σ_h S_h/(S_h − 1) Σ (u_s − ū_h)²), where
    for the jackknife u_s is (S − 1)/S·(θ − θ₍ₛ₎); a stratum of one segment adds nothing.

    Parameters
    ----------
    a, b : (S, K) array_like of int, or (S,) array_like of float
        The counts of each segment; without a metric one score for each segment, of which the mean is taken. A batch of
        problems has the shape (batch, S, K) or (batch, S), as in :func:`reshuffle.approximate_randomization`.
    metric, documents, strata, n_resamples, seed, threads, progress
        As in :func:`bootstrap_interval`; the last four matter to ``bootstrap`` only.
    method : {'delta', 'jackknife', 'bootstrap'}

    Returns
    -------
    float, or (batch,) ndarray of float
        In the metric's units.

    Raises
    ------
    InputError
        As :func:`bootstrap_interval`.

    Notes
    -----
    Cost: K derivatives (2·K scores of a function in Python), S scores, B draws.

    Examples
    --------
    >>> right = np.array([[1], [0], [1], [1], [1], [0], [1], [1]])
    >>> round(standard_error(right, lambda totals: totals[..., 0] / 8), 6)  # s/√8
    0.163663
    >>> parts = ["news", "talks"] * 4
    >>> round(standard_error(right, lambda totals: totals[..., 0] / 8, strata=parts), 6)  # √(s₁²/4 + s₂²/4)/2
    0.144338
    """
    check_name("standard error", method, list(STANDARD_ERRORS))
    resampling = Resampling(n_resamples, threads=threads, progress=progress)
    asked = _Asked(a, b, metric, Units(documents, strata), resampling, seed)
    error = STANDARD_ERRORS[method]
    return np.array(asked.each(error)) if asked.is_batch else error(asked.estimate())
