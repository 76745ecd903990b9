"""What a comparison found: frozen records that carry everything that made them.

Nothing here resamples or prints. Reports are made from these in :mod:`reshuffle.report`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .errors import InputError
from .validate import check_integer

__all__ = [
    "Caveat",
    "Comparison",
    "ConfidenceInterval",
    "PairedDifference",
    "SegmentTable",
    "SignificanceResult",
    "SystemScore",
    "UsedInterval",
    "UsedMetric",
    "UsedStopping",
    "UsedTest",
]


# A float or an int, or an array of them for a batch of problems: type checkers cannot know which.
Real: TypeAlias = Any
Whole: TypeAlias = Any


@dataclass(frozen=True, slots=True)
class ConfidenceInterval:
    """An interval for a score, a difference of scores, or a p-value.

    Attributes
    ----------
    low, high : float, or (batch,) ndarray of float
        The ends, both inside; arrays for a batch of problems.
    confidence_level : float
        For example 0.95.
    method : str
        The name in :data:`reshuffle.inference.intervals.INTERVALS`, or ``clopper-pearson`` or ``robbins``.
    """

    low: Real
    high: Real
    confidence_level: float
    method: str


def clopper_pearson(
    exceedances: int, n_resamples: int, confidence_level: float = 0.95, stopped: bool = False
) -> ConfidenceInterval:
    """An interval for the p-value that infinitely many replicates would give, from c of R independent ones.

    Clopper & Pearson 1934, doi:10.1093/biomet/26.4.404. Exact: it covers at least as often as it says. If replicates
    were ``stopped`` at the c-th exceedance, chance decided how many there are. As many or more come with the
    probability of at most c − 1 exceedances in R − 1 replicates, so the last one does not count for the upper end.

    The ends are rounded to ten significant digits: later ones differ between releases of SciPy.

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


def robbins(exceedances: int, n_resamples: int, confidence_level: float = 0.95) -> ConfidenceInterval:
    """The same for n replicates stopped by any rule that looks at them: all p with (n + 1)·b(n, p, c) ≥ 1 − level.

    Robbins 1970, doi:10.1214/aoms/1176696786: b is the binomial probability of c of n, and the true p is ever left out,
    after whatever number of replicates, with a probability of at most 1 − level.

    >>> interval = robbins(500, 10_000)
    >>> round(interval.low, 4), round(interval.high, 4)
    (0.0417, 0.0593)
    """
    c, others, n = exceedances, n_resamples - exceedances, n_resamples
    constant = math.lgamma(n + 2) - math.lgamma(c + 1) - math.lgamma(others + 1) - math.log(1 - confidence_level)

    def inside(p: float) -> bool:
        if not 0 < p < 1:
            return c == n * p
        return constant + c * math.log(p) + others * math.log1p(-p) >= 0

    def end(outer: float) -> float:
        """Between the best estimate, which is inside, and an end of all p."""
        inner = c / n
        while not inside(outer):
            middle = (inner + outer) / 2
            if middle in (inner, outer):
                break
            inner, outer = (middle, outer) if inside(middle) else (inner, middle)
        return outer

    return ConfidenceInterval(end(0.0), end(1.0), confidence_level, "robbins")


@dataclass(frozen=True, slots=True)
class UsedStopping:
    """How a test's shuffles were stopped.

    Attributes
    ----------
    rule : str
        The name in :data:`reshuffle.resampling.stopping.STOPPING`.
    max_resamples : int
        R: no more shuffles than that.
    stopped : bool, or (batch,) ndarray of bool
        Did the rule stop them? If not, R was reached; for ``gandy`` that means that nothing is decided.
    exceedances : int or None
        h of ``besag-clifford``.
    level, risk : float or None
        α and ε of ``gandy``.
    """

    rule: str
    max_resamples: int
    stopped: Any
    exceedances: int | None = None
    level: float | None = None
    risk: float | None = None


@dataclass(frozen=True, slots=True)
class SignificanceResult:
    """The outcome of one test of one pair of systems under one metric, or of one in each problem of a batch.

    For a batch ``statistic``, ``pvalue``, ``exceedances``, ``n_resamples``, ``wins``, ``ties``, ``scheme`` and, if each
    problem had its own, ``seed`` are arrays of shape (batch,), with −1 for a number that a test alone would give as
    None; :meth:`problem` gives one of them.

    Attributes
    ----------
    test : str
        The name in :data:`reshuffle.inference.significance.TESTS`.
    metric : str
        The metric's name; in a comparison the label that distinguishes it from others of that name.
    statistic : float
        score(a) − score(b), in the metric's units.
    pvalue : float
        (exceedances + 1)/(n_resamples + 1); exceedances/n_resamples if the scheme is ``subgroup`` or ``exact``, or if
        ``besag-clifford`` stopped the shuffles; or by the test's own distribution where it has one.
    alternative : str
        ``two-sided``, ``greater`` (a scores higher than b) or ``less``.
    exceedances : int or None
        The replicates at least as extreme as what was observed. None by convolution, where none is looked at by itself,
        and, as the next two, for tests without replicates.
    n_resamples : int or None
        The number of replicates, R, or how many of them were looked at if they were stopped; None by convolution.
    seed : int or None
        The seed of the replicates. None for tests without replicates and for exact tests, where nothing is random.
    signature : str
        Metric, test, seed, generator and version, to be printed beside the p-value.
    wins, ties : int or None
        For tests on draws: the draws in which a scored higher than b, and in which they were equal.
    adjusted_pvalue : float or None
        Adjusted for all pairs under the same metric, if that was asked for.
    scheme : str or None
        How shuffles were gone through: ``iid``, ``subgroup`` or ``exact``
        (:func:`reshuffle.approximate_randomization`). None for tests without shuffles.
    stopping : UsedStopping or None
        The rule by which shuffles were stopped, if there was one.
    null_distribution : (R,) ndarray or None
        The statistic of each replicate, if it was asked for.
    null_probabilities : (R,) ndarray or None
        The probability of each of these; None if they are equally likely.
    """

    test: str
    metric: str
    statistic: Real
    pvalue: Real
    alternative: str
    exceedances: Whole
    n_resamples: Whole
    seed: Whole
    signature: str
    wins: Whole = None
    ties: Whole = None
    adjusted_pvalue: float | None = None
    scheme: Any = None
    stopping: UsedStopping | None = None
    null_distribution: NDArray[np.float64] | None = field(default=None, repr=False, compare=False)
    null_probabilities: NDArray[np.float64] | None = field(default=None, repr=False, compare=False)

    def problem(self, number: int) -> SignificanceResult:
        """The result for one problem of a batch, as the test of it alone gives it but for the signature.

        Parameters
        ----------
        number : int
            From 0.

        Returns
        -------
        SignificanceResult

        Raises
        ------
        InputError
            If this is no batch, or holds no problem of that number.

        Examples
        --------
        >>> from reshuffle import approximate_randomization
        >>> result = approximate_randomization([[0.81, 0.84], [0.7, 0.9]], [[0.75, 0.8], [0.8, 0.85]])
        >>> result.pvalue, result.problem(0).pvalue
        (array([0.5, 1. ]), 0.5)
        """
        statistics, pvalues = np.asarray(self.statistic), np.asarray(self.pvalue)
        if not pvalues.ndim:
            raise InputError("this is the result of one test, not of a batch: it is its own and only problem")
        check_integer("number", number, 0, len(pvalues) - 1)

        def one(values: Any) -> Any:
            """Of the problem: a number of Python's own, None if there is none, or what all problems share."""
            value = values[number].item() if getattr(values, "shape", ()) else values
            return None if value == -1 else value

        stopping = self.stopping
        return replace(
            self,
            statistic=statistics[number].item(),
            signature=f"{self.signature}|problem:{number}",
            pvalue=pvalues[number].item(),
            stopping=None if stopping is None else replace(stopping, stopped=one(stopping.stopped)),
            **{
                name: one(getattr(self, name))
                for name in ("exceedances", "n_resamples", "seed", "wins", "ties", "scheme")
            },
        )

    def _check_alone(self) -> None:
        if getattr(self.pvalue, "shape", ()):
            raise InputError("this is the result of a batch: ask one of its problems, result.problem(0)")

    @property
    def exact_by(self) -> str | None:
        """How an exact test computed p; None for tests that are not exact.

        ``patterns``: by enumerating all patterns of swaps; ``convolution``: from the null distribution by convolution.
        """
        self._check_alone()
        if self.scheme != "exact":
            return None
        return "convolution" if self.n_resamples is None else "patterns"

    @property
    def pvalue_interval(self) -> ConfidenceInterval | None:
        """95 %, for the p-value that infinitely many replicates would give, if there are any.

        Clopper–Pearson; Robbins' if ``gandy`` stopped the shuffles. None, too, for an exact p-value, which needs no
        interval, and for a subgroup: its shuffles depend on one another, so that their count is not binomial.
        """
        self._check_alone()
        if self.scheme in ("exact", "subgroup") or self.exceedances is None or self.n_resamples is None:
            return None
        if self.stopping is None:
            return clopper_pearson(self.exceedances, self.n_resamples)
        if self.stopping.rule == "gandy":
            return robbins(self.exceedances, self.n_resamples)
        return clopper_pearson(self.exceedances, self.n_resamples, stopped=self.stopping.stopped)

    def may_lie_across(self, level: float) -> bool:
        """Could infinitely many replicates give a p-value on the other side of ``level``, by the interval above?"""
        self._check_alone()
        if self.scheme in ("exact", "subgroup") or self.exceedances is None or self.n_resamples is None:
            return False
        # By Hoeffding's inequality the interval reaches no further than this. Most p-values are decided without the
        # distributions of SciPy, which take longer to import than 10,000 shuffles to run.
        reach = (math.log(40) / (2 * self.n_resamples)) ** 0.5
        if self.stopping is None and abs(self.exceedances / self.n_resamples - level) > reach:
            return False
        interval = self.pvalue_interval
        return interval is not None and interval.low < level < interval.high


@dataclass(frozen=True, slots=True)
class SystemScore:
    """The score of one system under one metric.

    ``details`` holds the parts that make up the score (for BLEU the precisions in per cent, the brevity penalty, the
    length ratio and the lengths in tokens); ``confidence_interval`` is None unless it was asked for.
    """

    system: str
    metric: str
    score: float
    confidence_interval: ConfidenceInterval | None
    details: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """How one system differs from another under one metric.

    ``test.statistic`` is score(system) − score(baseline), and ``confidence_interval`` is for that difference, None
    without intervals. If documents are the unit, ``intraclass_correlation`` is the correlation of the segments' paired
    differences within a document, and ``design_effect`` how many times larger that makes the variance of the difference
    than if segments were independent (:func:`reshuffle.intraclass_correlation`, :func:`reshuffle.design_effect`, of the
    influence that each segment has on the difference); None where they are not defined, and for functions of texts.
    """

    baseline: str
    system: str
    metric: str
    test: SignificanceResult
    confidence_interval: ConfidenceInterval | None
    intraclass_correlation: float | None = None
    design_effect: float | None = None

    @property
    def difference(self) -> float:
        """score(system) − score(baseline), in the metric's units."""
        return float(self.test.statistic)


@dataclass(frozen=True, slots=True)
class UsedMetric:
    """A metric as it was used: its name, its signature, and whether a higher score is a better one.

    ``evaluations``: how often a function of texts was called; None for metrics that are summed.
    """

    name: str
    signature: str
    higher_is_better: bool
    evaluations: int | None = None


@dataclass(frozen=True, slots=True)
class UsedTest:
    """A test as it was used.

    Its name, its title, the alternative, what its replicates are called if it has any, the name and title of the
    adjustment of p for many tests if one was made, and the rule by which shuffles were stopped, as signatures name it,
    if there was one.
    """

    name: str
    title: str
    alternative: str
    replicates: str | None
    adjustment: str | None = None
    adjustment_title: str | None = None
    stopping: str | None = None


@dataclass(frozen=True, slots=True)
class UsedInterval:
    """An interval as it was used: its name, its title, and whether it was made from draws."""

    name: str
    title: str
    draws: bool


@dataclass(frozen=True, slots=True)
class Caveat:
    """Something to know before results are believed. Reports put it into words.

    Attributes
    ----------
    kind : str
        - ``undecided``: tests that a rule was to stop came to the end of their shuffles without a decision;
        - ``dependence``: what segments of a document have in common under a metric;
        - ``many-tests``: how probable it is that some p is small by chance if nothing differs and nothing is adjusted;
        - ``few-units``, ``few-replicates``: no p can be as small as α;
        - ``near-alpha``: p-values that may lie on the other side of α by chance of the replicates.
    values : mapping of str to number, str or pair of numbers
        The numbers behind it, by name. Pairs are the smallest and the largest of several.
    """

    kind: str
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Everything that a call of :func:`reshuffle.compare` or :func:`reshuffle.score` found, and what made it.

    Attributes
    ----------
    systems : tuple of str
        In the order given; the baseline first if there is one.
    metrics : tuple of UsedMetric
    scores : tuple of SystemScore
        Metric by metric, system by system.
    comparisons : tuple of PairedDifference
        Metric by metric, pair by pair; empty for ``score``.
    baseline : str or None
        None if every pair was compared.
    test : UsedTest or None
        None if nothing was tested.
    interval : UsedInterval or None
        None if there are no intervals.
    experimentwise_error : float or None
        If no systems differed, the tests kept their level and were independent: the chance of at least one p of at
        most alpha.
    n_segments, n_references : int
        Segments per system; columns of references.
    unit : str
        What was swapped and drawn: ``segment`` or ``document``.
    n_units : int
        How many of them there are.
    n_strata : int or None
        How many strata units were drawn within; None if none were given.
    n_resamples, seed : int or None
        None if nothing was resampled at random, for example if all tests are exact and there are no draws. Tests with
        a stopping rule have their own number of shuffles.
    confidence_level : float or None
        Of the intervals. None if there are no intervals and no tests.
    alpha : float or None
        The level of the tests: p-values of at most this are called significant. Without tests, 1 − confidence_level.
    caveats : tuple of Caveat
        What to know before tests are believed; reports put it into words.
    signature : str
        One line that tells a reader how to repeat it.
    version : str
        Of reshuffle.
    """

    systems: tuple[str, ...]
    metrics: tuple[UsedMetric, ...]
    scores: tuple[SystemScore, ...]
    n_segments: int
    n_references: int
    unit: str
    n_units: int
    signature: str
    version: str
    comparisons: tuple[PairedDifference, ...] = ()
    baseline: str | None = None
    test: UsedTest | None = None
    interval: UsedInterval | None = None
    experimentwise_error: float | None = None
    n_strata: int | None = None
    n_resamples: int | None = None
    confidence_level: float | None = None
    alpha: float | None = None
    seed: int | None = None
    caveats: tuple[Caveat, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class SegmentTable:
    """The score of every segment, or of every document, of every system.

    Attributes
    ----------
    systems : tuple of str
        In the order given.
    metrics : tuple of UsedMetric
    scores : mapping of str to (k, S) ndarray
        System by system, by the metric's name, or by its signature where two metrics share a name.
    signature : str
        One line that tells a reader how to repeat it.
    version : str
        Of reshuffle.
    documents : tuple of str, or None
        The D ids of the documents if the scores are of documents rather than segments, else None.
    """

    systems: tuple[str, ...]
    metrics: tuple[UsedMetric, ...]
    scores: Mapping[str, NDArray[np.float64]]
    signature: str
    version: str
    documents: tuple[str, ...] | None = None

    @property
    def n_segments(self) -> int:
        """S, or D if the scores are of documents."""
        return int(next(iter(self.scores.values())).shape[1])
