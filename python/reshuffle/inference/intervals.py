"""Confidence intervals and standard errors.

A new interval is a function here, in :data:`ENDS`, and an entry in methods.toml.

Notation: θ is the observed value, θ*_1 … θ*_R are the bootstrap draws, θ*_q is their quantile q, se is a standard
error, α = 1 − ``confidence_level``, and z_q and t_q are quantiles of the normal and of Student's t distribution.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Any, TypeVar

import numpy as np

from ..data.arrays import as_array
from ..data.columns import check_rows
from ..documented import record
from ..errors import Argument, InputError
from ..metrics.base import Metric, Scores
from ..metrics.black_box import CorpusFunction
from ..options.arrays import BootstrapInterval, StandardError
from ..options.declare import called_with
from ..progress import reported
from ..resampling import CountSample, Problems, Replicates, is_batch
from ..resampling.replicates import array_steps
from ..resampling.schemes import null_distribution
from ..resampling.studentized import studentize
from ..resampling.supplied import Supplied
from ..results import ConfidenceInterval, UsedInterval
from ..settings import Resampling, Units
from ..validate import check_name, default_alpha
from . import kink
from .enough import FOR_STANDARD_DEVIATION, automatic, fewest, for_ends
from .estimates import ANY, Estimate, check_kind
from .methods import METHODS, Method
from .pvalues import largest_rank
from .replay import replicates_of, resampling_of, supplied_in

# The number of draws from which :func:`_outer` estimates quantiles, and the smallest step between them that pays off.
SAMPLE, SHORTEST_STEP = 400, 4


def between(draws: Scores, low: float, high: float) -> tuple[float, float]:
    """The smallest and the largest draw left after dropping a share of the draws at each end.

    The shares are ``low`` and 1 − ``high``; the numbers of dropped draws are rounded down. Koehn 2004 (W04-3250),
    section 5.

    >>> between(np.arange(1, 1001), 0.025, 0.975)
    (26.0, 975.0)
    """
    # Instead of 25, the product may be 24.999…98. The tolerance keeps it from being rounded down to 24.
    last = len(draws) - 1
    dropped_below, dropped_above = (min(int(len(draws) * share + 1e-9), last) for share in (low, 1 - high))
    # With few draws or a low confidence level the two ends may cross.
    first, second = np.sort([dropped_below, last - dropped_above])
    ends = np.partition(draws, [first, second])[[first, second]]
    return float(ends[0]), float(ends[1])


def rank_of_ends(n_draws: int, level: float) -> int:
    """k = ⌊α(R + 1)/2⌋: the ends of the percentile interval are the k-th smallest and the k-th largest of R draws.

    0 if R is too small for this level. k is the largest integer with 2k/(R + 1) ≤ α in floating point, because the test
    ``bootstrap-percentile`` compares its p-value with α in this way.

    >>> rank_of_ends(999, 0.95), rank_of_ends(1000, 0.95), rank_of_ends(30, 0.95)
    (25, 25, 0)
    """
    return largest_rank(n_draws + 1, default_alpha(level), tails=2)


def symmetric_ends(draws: Scores, level: float) -> tuple[float, float]:
    """The k-th smallest and the k-th largest draw; the outermost draws if k is 0."""
    rank = max(rank_of_ends(len(draws), level), 1)
    outer = _outer(draws, rank)
    places = [rank - 1, len(outer) - rank]
    low, high = np.partition(outer, places)[places]
    return float(low), float(high)


def _outer(draws: Scores, rank: int) -> Scores:
    """The draws without most of those in the middle, with at least the ``rank`` smallest and the ``rank`` largest ones.

    Finding the ends among them takes less than half as long. A sample of the draws shows where the middle begins.
    """
    step = len(draws) // SAMPLE
    if step < SHORTEST_STEP:
        return draws
    # The expected number of smaller draws in the sample, and four standard errors.
    place = math.ceil(rank / step + 4 * math.sqrt(rank / step))
    if place > SAMPLE // 4:
        return draws
    sample = np.sort(draws[::step])
    below, above = draws <= sample[place], draws >= sample[-1 - place]
    if min(np.count_nonzero(below), np.count_nonzero(above)) < rank:
        return draws
    return np.asarray(draws[below | above])


def percentile(estimate: Estimate, level: float) -> tuple[float, float]:
    """The k-th smallest and the k-th largest draw, k = ⌊α(R + 1)/2⌋: Davison & Hinkley 1997, 5.3.

    For a difference, 0 is outside exactly when ``bootstrap-percentile`` has p ≤ α (if k ≥ 1). That test counts a draw
    within the tolerance of 0 as a tie, so an end within the tolerance is set to 0.
    """
    low, high = (0.0 if abs(end) <= estimate.tolerance else end for end in symmetric_ends(estimate.draws, level))
    return low, high


def koehn(estimate: Estimate, level: float) -> tuple[float, float]:
    """The smallest and the largest draw after ⌊R·α/2⌋ are dropped at each end: Koehn 2004 (W04-3250), section 5."""
    return between(estimate.draws, (1 - level) / 2, (1 + level) / 2)


def basic(estimate: Estimate, level: float) -> tuple[float, float]:
    """2θ minus the ends of the percentile interval: assumes that θ* − θ is distributed as θ minus the true value."""
    low, high = symmetric_ends(estimate.draws, level)
    return 2 * estimate.value - high, 2 * estimate.value - low


def bca(estimate: Estimate, level: float) -> tuple[float, float]:
    """Percentiles corrected for the bias z₀ and the acceleration a: Efron 1987.

    z₀ is the normal quantile of the proportion of draws below θ; draws within the tolerance of θ count half, as draws
    equal to θ do in SciPy. The acceleration is a = Σ u_s³/(6 (Σ u_s²)^1.5) with u_s = mean θ₍ₛ₎ − θ₍ₛ₎, where θ₍ₛ₎ is
    the value without segment s. The percentile q is replaced by Φ(z₀ + (z₀ + z_q)/(1 − a(z₀ + z_q))). With strata, the
    mean is taken over the stratum of s. Draws from different strata are independent, so the second and third moments of
    the strata add up (Davison & Hinkley 1997, 5.3).
    """
    from scipy.special import ndtr, ndtri

    draws, value = estimate.draws, estimate.value
    below, above = draws < value - estimate.tolerance, draws > value + estimate.tolerance
    share = (1 + below.mean() - above.mean()) / 2
    # If all draws lie on one side of θ, half a draw is counted on the other side, so that z₀ is finite.
    bias = ndtri(np.clip(share, 0.5 / len(draws), 1 - 0.5 / len(draws)))
    u = estimate.influences
    squares = (u**2).sum()
    acceleration = (u**3).sum() / (6 * squares**1.5) if squares > 0 else 0.0

    def corrected(q: float) -> float:
        z = bias + ndtri(q)
        denominator = 1 - acceleration * z
        # Beyond the pole of the formula, the interval ends at the outermost draw.
        return float(ndtr(bias + z / denominator)) if denominator > 0 else float(z > 0)

    return between(draws, corrected((1 - level) / 2), corrected((1 + level) / 2))


def studentized(estimate: Estimate, level: float) -> tuple[float, float]:
    """θ − t*_(1−α/2)·se to θ − t*_(α/2)·se with t*_b = (θ*_b − θ)/se*_b. Standard errors are by the delta method.

    A draw with se*_b = 0 has t*_b = 0 if θ*_b = θ, otherwise ±∞.
    """
    deviations, errors = estimate.draws - estimate.value, estimate.draw_errors
    without_error = np.where(deviations == 0, 0.0, np.copysign(np.inf, deviations))
    ratios = np.divide(deviations, errors, out=without_error, where=errors > 0)
    low, high = between(ratios, (1 - level) / 2, (1 + level) / 2)
    if not np.isfinite([low, high]).all():
        raise InputError(
            f"the studentized interval is infinite, because {(errors == 0).sum():,} of {len(errors):,} draws have a "
            "standard error of 0: use bca or percentile"
        )
    return estimate.value - high * estimate.delta_error, estimate.value - low * estimate.delta_error


def by_inversion(estimate: Estimate, level: float) -> tuple[float, float]:
    """t ± z*·se, where z* is the k-th largest |z| of R shuffles, k = ⌊α(R + 1)⌋, and z the studentized difference.

    If the observed arrangement is one of N shuffles (subgroup and exact), z* is the (⌊αN⌋ + 1)-th largest. 0 is outside
    the closed interval exactly when the two-sided ``ar-studentized`` has p ≤ α.
    """
    studentized = studentize(estimate.count_sample, estimate.pair)
    difference, error, value, slack = studentized.observed
    if difference == error == 0:  # identical systems, which no number of shuffles tells apart
        return 0.0, 0.0
    null = null_distribution(estimate.replicates.with_samples([studentized]), (0, 1), estimate.scheme)
    n = len(null.values) + (not null.includes_observed)
    alpha = default_alpha(level)
    rank = largest_rank(n, alpha)
    if rank == 0:
        what = f"interval 'ar-studentized' needs at least {fewest(alpha):,} shuffles at confidence level {level:.10g}"
        if null.includes_observed and estimate.scheme != "subgroup":
            raise InputError(f"{what}, but the units that differ allow only {n - 1:,}: choose another interval")
        raise InputError(f"{what}, got {n - 1:,}: increase n_resamples, or choose another interval")
    place = len(null.values) - rank - null.includes_observed
    largest = float(np.partition(np.abs(null.values), place)[place])
    if math.isinf(largest):
        raise InputError(
            "interval 'ar-studentized' would be infinite, because too many shuffles have a standard error of 0: choose "
            "another interval"
        )
    if abs(largest - abs(value)) <= slack:  # a tie, so p > α and 0 is an end
        return min(0.0, 2 * difference), max(0.0, 2 * difference)
    return difference - largest * error, difference + largest * error


def student_t(estimate: Estimate, level: float) -> tuple[float, float]:
    """θ ± t_(1−α/2)·s/√S with S − 1 degrees of freedom, where s is the standard deviation of the segment scores."""
    from scipy.special import stdtrit

    values = estimate.segment_values
    half_width = stdtrit(len(values) - 1, (1 + level) / 2) * values.std(ddof=1) / len(values) ** 0.5
    return float(estimate.value - half_width), float(estimate.value + half_width)


STANDARD_ERRORS: Mapping[str, Callable[[Estimate], float]] = {
    "delta": lambda estimate: estimate.delta_error,
    "jackknife": lambda estimate: estimate.jackknife_error,
    "bootstrap": lambda estimate: estimate.bootstrap_error,
}


def _normal(error: str) -> Callable[[Estimate, float], tuple[float, float]]:
    """θ ± z_(1−α/2)·se with the standard error of this name."""

    def ends(estimate: Estimate, level: float) -> tuple[float, float]:
        from scipy.special import ndtri

        half_width = ndtri((1 + level) / 2) * STANDARD_ERRORS[error](estimate)
        return float(estimate.value - half_width), float(estimate.value + half_width)

    return ends


@record(slots=False)
class Interval(Method):
    """An entry of the registry."""

    ends: Callable[[Estimate, float], tuple[float, float]]
    """A function from an estimate and the confidence level to both ends of the interval."""
    kind: str = ANY
    """The kind of metric that it needs: ``ANY``, ``SUMS`` or ``MEANS`` (:mod:`reshuffle.inference.estimates`)."""
    draws: bool = True
    """Whether it needs bootstrap draws."""
    uses_tails: bool = True
    """Whether its ends are among the smallest and largest draws, so that it needs more draws than a standard deviation
    does.
    """
    inverts: str | None = None
    """The name of the test that it inverts, and with which alone it can be used. It is then for differences only."""
    of_scores: str | None = None
    """The name of the interval that the scores of single systems have instead."""
    averages: bool = True
    """Whether it is defined for averages over test sets."""
    shuffles: bool = False
    """Whether the intervals of differences need shuffles, each its own."""

    def confidence_interval(self, estimate: Estimate, level: float) -> ConfidenceInterval:
        """The interval of an estimate at this confidence level."""
        own = self.for_score if estimate.b is None else self
        return ConfidenceInterval(*own.ends(estimate, level), level, own.name)

    @property
    def for_score(self) -> Interval:
        """The interval that scores have in place of this one, which may be for differences only."""
        return self if self.of_scores is None else INTERVALS[self.of_scores]

    def enough_draws(self, level: float) -> int | None:
        """How many draws are enough at this confidence level; None if it needs none."""
        if not self.draws:
            return None
        return for_ends(level) if self.uses_tails else FOR_STANDARD_DEVIATION

    @property
    def kinds(self) -> list[str]:
        """The kinds of replicates over which one interval passes, in their order."""
        if self.shuffles:
            return ["shuffles"]
        return ["draws"] * (self.draws + (self.name == "studentized"))

    @property
    def used(self) -> UsedInterval:
        """The interval in the record of a comparison."""
        return UsedInterval(self.name, self.title, self.draws, source=self.source)


ENDS: Mapping[str, Callable[[Estimate, float], tuple[float, float]]] = {
    "percentile": percentile,
    "koehn": koehn,
    "basic": basic,
    "normal": _normal("bootstrap"),
    "bca": bca,
    "studentized": studentized,
    "delta": _normal("delta"),
    "jackknife": _normal("jackknife"),
    "ar-studentized": by_inversion,
    "bootstrap-kink": kink.by_inversion,
    "t": student_t,
}
INTERVALS: Mapping[str, Interval] = {
    name: Interval(name, **entry, ends=ENDS[name]) for name, entry in METHODS["interval"].items()
}


def check_interval(name: str, *metrics: Metric | CorpusFunction, test: str | None) -> Interval:
    """The interval with this name; ``test`` is the name of the test that goes with it, if any.

    :class:`InputError` if it does not exist, or does not support the test or one of the metrics.
    """
    check_name("interval", name, list(INTERVALS))
    inverts = INTERVALS[name].inverts
    if inverts is not None and test != inverts:
        what, other = f"interval {name!r} inverts the test {inverts!r}", "another interval such as 'percentile'"
        if test is None:
            raise InputError(f"{what}, but nothing is tested here: use {other}")
        use = Argument("test", (inverts,))
        raise InputError(f"{what}, but the test is {test!r}: use {{use}}, or {other}", use=use)
    others = ["percentile", "bca", "jackknife"]
    check_kind(f"interval {name!r}", INTERVALS[name].kind, metrics, others)
    return INTERVALS[name]


T = TypeVar("T")


def _computed(
    options: BootstrapInterval | StandardError,
    resampling: Resampling,
    replay: Supplied | None,
    kinds: Sequence[str],
    function: Callable[[Estimate], T],
) -> T | list[T]:
    """What a function says of the estimate in the options, or of each in a batch; ``kinds`` are its passes."""
    check_rows("", {name: getattr(options, name) for name in ("a", "b", "documents", "strata")})
    arrays = as_array(options.a, "a"), None if options.b is None else as_array(options.b, "b")
    units, has_batch = Units(options.documents, options.strata), is_batch(arrays[0], options.metric)
    n = len(arrays[0]) if has_batch and replay is None else 1
    resampling.announce(step for _ in range(n) for kind in kinds for step in array_steps(kind))

    def of(replicates: Replicates, metric: int = 0) -> T:
        return function(Estimate(replicates, metric, 0, None if options.b is None else 1))

    if not has_batch:
        sample = CountSample.from_arrays(options.metric, *arrays, units)
        return of(replicates_of([sample], resampling, replay))
    problems = Problems.from_arrays(options.metric, *arrays, units, resampling.seed)
    if replay is not None:
        replicates = replicates_of(problems.samples, resampling, replay)
        return [of(replicates, index) for index in range(len(problems))]
    found = [(index, of(replicates)) for index, replicates in problems.enumerate_replicates(resampling)]
    return [result for _, result in sorted(found, key=itemgetter(0))]


@called_with(BootstrapInterval)
def bootstrap_interval(options: BootstrapInterval) -> ConfidenceInterval:
    r"""Confidence interval of a system's score or, with ``b``, of score(a) − score(b).

    Each of R draws takes S segments with replacement, the same segments for both systems. In the table, θ is the
    observed value, θ* its draws, se a standard error, α = 1 − ``confidence_level``, and z and t are quantiles of the
    normal and of Student's t distribution.

    =========== ================================================= ==============================================
    interval    ends                                              source
    =========== ================================================= ==============================================
    percentile  k-th smallest and largest, k = ⌊α(R + 1)/2⌋       Davison & Hinkley 1997, 5.3
    koehn       the same with k = ⌊α·R/2⌋ + 1                     Koehn 2004, W04-3250, section 5
    basic       2θ minus the ends of ``percentile``               Davison & Hinkley 1997, 5.2
    normal      θ ± z·sd(θ*)                                      Efron & Tibshirani 1993, 13.2
    bca         θ*_(α₁), θ*_(α₂), corrected for bias and skew     Efron 1987, doi:10.1080/01621459.1987.10478410
    studentized θ − q·se, q quantiles of (θ* − θ)/se*             Hall 1988, doi:10.1214/aos/1176350933
    delta       θ ± z·se, by the delta method                     Efron 1981, doi:10.1093/biomet/68.3.589
    jackknife   θ ± z·se, by the jackknife                        Efron & Stein 1981, doi:10.1214/aos/1176345462
    t           θ ± t·s/√S, for means of segment scores           Koehn 2004, W04-3250, formula 5
    =========== ================================================= ==============================================

    ``ar-studentized``, for differences only, inverts the test of that name
    (:func:`reshuffle.approximate_randomization`). Its ends are θ ± z*·se, where z* is the k-th largest \|θ_r\|/se_r of
    R shuffles, k = ⌊α(R + 1)⌋, and se is by the delta method (Chung & Romano 2013, doi:10.1214/13-AOS1090).

    docs/statistics/intervals.md defines every interval, and docs/evidence/coverage.md has its empirical coverage.

    Returns
    -------
    ConfidenceInterval
        In the metric's units. For a batch, ``low`` and ``high`` are arrays of shape (batch,).

    Raises
    ------
    InputError
        If shapes differ, counts are not whole numbers, there are fewer than 2 segments or documents, an argument is out
        of range, or the interval does not support the metric, documents or strata.

    Notes
    -----
    Intervals from draws cost as much as a bootstrap test. In addition, ``bca`` and ``jackknife`` compute S scores,
    ``studentized`` computes K derivatives and K²/2 sums for every draw (four times as many for a difference), and
    ``delta`` computes K derivatives. A derivative of a function in Python takes two scores.

    Examples
    --------
    >>> right = np.array([[1], [0], [1], [1], [1], [0], [1], [1]])
    >>> interval = bootstrap_interval(right, lambda totals: totals[..., 0] / 8)
    >>> interval.low, interval.high
    (0.375, 1.0)
    >>> interval = bootstrap_interval(right, lambda totals: totals[..., 0] / 8, interval="delta")
    >>> round(interval.low, 3), round(interval.high, 3)
    (0.429, 1.071)
    >>> interval = bootstrap_interval([0.81, 0.84, 0.79, 0.9], interval="t")  # the mean of segment scores
    >>> round(interval.low, 3), round(interval.high, 3)
    (0.759, 0.911)
    """
    interval, level = INTERVALS[options.interval], options.confidence_level
    number, _ = automatic(interval.enough_draws(level))
    if options.b is None and interval.inverts is not None:
        raise InputError(f"interval {interval.name!r} is for differences: pass b, or choose another")
    if options.indices is not None and interval.kinds != ["draws"]:
        own = ", ".join(repr(name) for name, each in INTERVALS.items() if each.kinds == ["draws"])
        raise InputError(f"interval {interval.name!r} does not support indices: leave them out, or choose one of {own}")

    def of_one(estimate: Estimate) -> ConfidenceInterval:
        metrics = (sample.metric for sample in estimate.replicates.samples)
        return check_interval(interval.name, *metrics, test=interval.inverts).confidence_interval(estimate, level)

    replay = supplied_in(options, "indices")
    with reported(options.progress) as watched:
        resampling = resampling_of(options, watched).with_number(number)
        found = _computed(options, resampling, replay, interval.kinds, of_one)
    if not isinstance(found, list):
        return found
    low, high = np.array([(result.low, result.high) for result in found]).T
    return ConfidenceInterval(low, high, level, interval.name)


@called_with(StandardError)
def standard_error(options: StandardError) -> Any:
    """Standard error of a system's score or, with ``b``, of score(a) − score(b), for a random sample of segments.

    - ``delta``: √(S/(S − 1) Σ u_s²), where u_s = ∇f(T)·(x_s − T/S) is the contribution of segment s to the linearized
      score (Efron 1981, doi:10.1093/biomet/68.3.589). The gradient ∇f of a built-in metric has a closed form. That of a
      function in Python is computed by central differences of whole counts, which are inaccurate where the score
      depends on a count of 1 to 3.
    - ``jackknife``: √((S − 1)/S Σ (θ₍ₛ₎ − mean θ₍ₛ₎)²), where θ₍ₛ₎ is the score without segment s (Efron & Stein 1981,
      doi:10.1214/aos/1176345462).
    - ``bootstrap``: the standard deviation of R draws, with denominator R − 1.

    For a mean the first two are s/√S. With strata of S_h segments they are √(Σ_h S_h/(S_h − 1) Σ (u_s − ū_h)²), with
    u_s = (S − 1)/S·(θ − θ₍ₛ₎) for the jackknife. A stratum of one segment adds nothing.

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
    Cost: K derivatives for ``delta`` (2·K scores for a function in Python), S scores for ``jackknife``, R draws for
    ``bootstrap``.

    Examples
    --------
    >>> right = np.array([[1], [0], [1], [1], [1], [0], [1], [1]])
    >>> round(standard_error(right, lambda totals: totals[..., 0] / 8), 6)  # s/√8
    0.163663
    >>> parts = ["news", "talks"] * 4
    >>> round(standard_error(right, lambda totals: totals[..., 0] / 8, strata=parts), 6)  # √(s₁²/4 + s₂²/4)/2
    0.144338
    """
    error = STANDARD_ERRORS[options.method]
    of_draws = options.method == "bootstrap"
    if options.indices is not None and not of_draws:
        raise InputError(
            f"standard error {options.method!r} does not support indices: leave them out, or choose 'bootstrap'"
        )
    replay = supplied_in(options, "indices")
    with reported(options.progress) as watched:
        kinds = ["draws"] if of_draws else []
        found = _computed(options, resampling_of(options, watched), replay, kinds, error)
    return np.array(found) if isinstance(found, list) else found
