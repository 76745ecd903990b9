"""Results: frozen records that carry everything needed to repeat them.

Nothing here resamples. Methods that display or convert a result import :mod:`reshuffle.report` when they are called.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .errors import InputError, listed, quoted, shortened, unknown_name
from .types import Format, SegmentFormat
from .validate import check_integer, check_name

__all__ = [
    "Caveat",
    "Comparison",
    "ConfidenceInterval",
    "Exchangeability",
    "PairedDifference",
    "SegmentTable",
    "SignificanceResult",
    "SystemScore",
    "UsedInterval",
    "UsedMetric",
    "UsedStopping",
    "UsedTest",
]


# A float (Real) or an int (Whole), or an array of these for a batch of problems; type checkers cannot know which.
Real: TypeAlias = Any
Whole: TypeAlias = Any


@dataclass(frozen=True, slots=True)
class ConfidenceInterval:
    """An interval for a score, a difference of scores, or a p-value.

    Attributes
    ----------
    low, high : float, or (batch,) ndarray of float
        The ends, which belong to the interval; arrays for a batch of problems.
    confidence_level : float
        For example 0.95.
    method : str
        A name in :data:`reshuffle.inference.intervals.INTERVALS`, or ``simultaneous``, ``clopper-pearson`` or
        ``robbins``.
    """

    low: Real
    high: Real
    confidence_level: float
    method: str


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
    # Chernoff's bound of the binomial tail decides clear cases without SciPy, whose import takes longer than 10,000
    # shuffles.
    share = exceedances / n_resamples
    divergence = sum(x * math.log(x / y) for x, y in ((share, level), (1 - share, 1 - level)) if x > 0)
    if n_resamples * divergence > math.log(40):
        return False
    interval = clopper_pearson(exceedances, n_resamples)
    return bool(interval.low < level < interval.high)


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


@dataclass(frozen=True, slots=True)
class UsedStopping:
    """The stopping rule of a test, and whether it stopped the shuffles.

    Attributes
    ----------
    rule : str
        A name in :data:`reshuffle.resampling.stopping.STOPPING`.
    max_resamples : int
        R, the maximum number of shuffles.
    stopped : bool, or (batch,) ndarray of bool
        False if all R shuffles were used. For ``gandy`` the test is then undecided.
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
    """The result of one test of a pair of systems under one metric, or of a batch of such tests.

    ``print(result)`` shows it in words. For a batch, ``statistic``, ``pvalue``, ``exceedances``, ``n_resamples``,
    ``wins``, ``ties``, ``scheme`` and, if each problem had its own, ``seed`` are arrays of shape (batch,), with −1
    where a single test has None; :meth:`problem` returns the result of one problem.

    Attributes
    ----------
    test : str
        A name in :data:`reshuffle.inference.tests.TESTS`.
    metric : str
        The name of the metric; in a comparison, with the options that distinguish it from others of the same name.
    statistic : float
        score(a) − score(b), in the metric's units.
    pvalue : float
        Probability, under the null hypothesis, of a difference at least as extreme as ``statistic``. From replicates
        (exceedances + 1)/(n_resamples + 1), or exceedances/n_resamples if ``scheme`` is ``subgroup`` or ``exact`` or
        ``besag-clifford`` stopped the shuffles; times ``tails``, but at most 1.
    alternative : str
        ``two-sided``, ``greater`` (a scores higher than b) or ``less``.
    exceedances : int or None
        The number of replicates at least as extreme as the observed difference. Where ``tails`` is 2, the number in the
        smaller tail: draws ≤ 0 or draws ≥ 0, whichever are fewer. None for tests without replicates and for exact tests
        by convolution, which do not enumerate patterns.
    n_resamples : int or None
        The number of replicates, R; if a rule stopped them, the number used. None where ``exceedances`` is None.
    seed : int or None
        The seed of the replicates. None for tests without replicates and for exact tests, which have no randomness.
    signature : str
        Metric, test, seed, generator and version, to be reported with the p-value.
    wins, ties : int or None
        For bootstrap tests: the number of draws in which a scores higher than b, and in which they are equal.
    adjusted_pvalue : float or None
        The p-value adjusted for all tests of its family (:attr:`UsedTest.family`), if there is an adjustment.
    scheme : str or None
        How the null distribution was obtained: ``iid`` (Monte Carlo), ``subgroup`` or ``exact``; see
        :func:`reshuffle.approximate_randomization`. None for tests without shuffles.
    stopping : UsedStopping or None
        The stopping rule of the shuffles, if there was one.
    tails : int
        2 if p is twice the share of the smaller tail, so that p is at least 2/(n_resamples + 1): for the two-sided
        ``bootstrap-percentile``, and for the two-sided ``bootstrap-both`` where ``bootstrap-percentile`` has the larger
        p. Else 1.
    standard_error : float or None
        The standard error that the test divides ``statistic`` by: for ``ar-studentized`` by the delta method (None for
        functions of texts), for ``anova`` √(2·MSE/S), the same for all pairs under a metric. None for other tests.
    null_distribution : (R,) ndarray or None
        The statistic of each replicate, if requested. For ``ar-studentized``, the studentized difference; or the
        difference itself, if shuffles have the same order by both (means of segments).
    null_probabilities : (R,) ndarray or None
        The probabilities of the values of ``null_distribution``; None if they are equally likely.
    caveats : tuple of Caveat
        Warnings about the test itself; those of a comparison are in :attr:`Comparison.caveats`.
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
    tails: Any = 1
    standard_error: Any = None
    null_distribution: NDArray[np.float64] | None = field(default=None, repr=False, compare=False)
    null_probabilities: NDArray[np.float64] | None = field(default=None, repr=False, compare=False)
    caveats: tuple[Caveat, ...] = ()

    def __repr__(self) -> str:
        if np.ndim(self.pvalue):
            return f"<SignificanceResult: {self.test}, {self.metric}, a batch of {len(self.pvalue)}>"
        return (
            f"<SignificanceResult: {self.test}, {self.metric}, {self.alternative}; statistic={self.statistic:.6g}, "
            f"pvalue={self.pvalue:.6g}, n_resamples={self.n_resamples}, seed={self.seed}>"
        )

    def __str__(self) -> str:
        from .report import significance_as_text

        return significance_as_text(self).rstrip("\n")

    def problem(self, number: int) -> SignificanceResult:
        """The result of one problem of a batch: that of a separate test, except for the signature.

        Parameters
        ----------
        number : int
            The index of the problem, from 0.

        Returns
        -------
        SignificanceResult

        Raises
        ------
        InputError
            If this is not the result of a batch, or the batch has no problem of that number.

        Examples
        --------
        >>> from reshuffle import approximate_randomization
        >>> result = approximate_randomization([[0.81, 0.84], [0.7, 0.9]], [[0.75, 0.8], [0.8, 0.85]])
        >>> result.pvalue, result.problem(0).pvalue
        (array([0.5, 1. ]), 0.5)
        """
        statistics, pvalues = np.asarray(self.statistic), np.asarray(self.pvalue)
        if not pvalues.ndim:
            raise InputError("this is the result of a single test: problem() is for the result of a batch")
        check_integer("number", number, 0, len(pvalues) - 1)

        def one(values: Any) -> Any:
            """The value of this problem as a Python scalar, or the value that all problems share; None for −1."""
            value = values[number].item() if getattr(values, "shape", ()) else values
            return None if value == -1 else value

        stopping = self.stopping
        return replace(
            self,
            statistic=statistics[number].item(),
            signature=f"{self.signature}|problem:{number}",
            pvalue=pvalues[number].item(),
            stopping=None if stopping is None else replace(stopping, stopped=one(stopping.stopped)),
            standard_error=None if self.standard_error is None else self.standard_error[number].item(),
            **{
                name: one(getattr(self, name))
                for name in ("exceedances", "n_resamples", "seed", "wins", "ties", "scheme", "tails")
            },
        )

    def _check_single(self) -> None:
        if getattr(self.pvalue, "shape", ()):
            raise InputError("this is the result of a batch: choose one of its problems, as in result.problem(0)")

    @property
    def exact_by(self) -> str | None:
        """How an exact test computed p; None for tests that are not exact.

        ``patterns``: by enumeration of all patterns of swaps; ``convolution``: by convolution of the null distribution.
        """
        self._check_single()
        if self.scheme != "exact":
            return None
        return "convolution" if self.n_resamples is None else "patterns"

    @property
    def pvalue_interval(self) -> ConfidenceInterval | None:
        """95% interval for the exact p-value, which infinitely many replicates would give.

        Clopper–Pearson, or Robbins' if ``gandy`` stopped the shuffles. None for exact p-values, for tests without
        replicates, and for ``subgroup``, whose shuffles are dependent, so that exceedances are not binomial.

        Where ``tails`` is 2, its ends are twice those for the smaller tail, at most 1. Its coverage is at least 95%
        although the draws decide which tail is the smaller one: if they choose the wrong tail and the interval misses
        p, that of the right tail would have missed p, too.
        """
        self._check_single()
        if self.scheme in ("exact", "subgroup") or self.exceedances is None or self.n_resamples is None:
            return None
        if self.stopping is None:
            interval = clopper_pearson(self.exceedances, self.n_resamples)
            low, high = (min(self.tails * end, 1.0) for end in (interval.low, interval.high))
            return replace(interval, low=low, high=high)
        if self.stopping.rule == "gandy":
            return robbins(self.exceedances, self.n_resamples)
        return clopper_pearson(self.exceedances, self.n_resamples, stopped=self.stopping.stopped)

    def may_lie_across(self, level: float) -> bool:
        """Whether :attr:`pvalue_interval` contains ``level``: more replicates could move p to its other side."""
        self._check_single()
        interval_is_simple = self.stopping is None and self.scheme not in ("exact", "subgroup")
        if interval_is_simple and self.exceedances is not None and self.n_resamples is not None:
            return may_lie_across(self.exceedances, self.n_resamples, level / self.tails)
        interval = self.pvalue_interval
        return interval is not None and interval.low < level < interval.high


@dataclass(frozen=True, slots=True)
class SystemScore:
    """The score of one system under one metric.

    Attributes
    ----------
    system, metric : str
    score : float
        In the metric's units.
    confidence_interval : ConfidenceInterval or None
        None if no intervals were requested.
    details : mapping of str to float
        The parts of the score. For BLEU: the precisions in percent, the brevity penalty, the length ratio, and the
        lengths in tokens.
    n_segments : int
        The number of segments that have a score. It is smaller than that of the test set only for
        :class:`~reshuffle.SegmentScores` with missing scores.
    """

    system: str
    metric: str
    score: float
    confidence_interval: ConfidenceInterval | None
    details: Mapping[str, float]
    n_segments: int


@dataclass(frozen=True, slots=True)
class Exchangeability:
    """How the spread of a difference over shuffles compares with its standard error.

    Attributes
    ----------
    ratio : float
        The standard deviation that shuffles give the difference, divided by its standard error by the delta method. It
        is about 1 if the two outputs of a segment are exchangeable. A test by shuffles rejects too often where it is
        clearly smaller, and too rarely where it is clearly larger. docs/statistics.md defines it.
    near_kink : bool
        Whether the score has a kink near the totals of one of the systems, as BLEU has where the hypotheses are as long
        as the references. Standard errors by the delta method are unreliable there.
    """

    ratio: float
    near_kink: bool


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """The difference between two systems under one metric, and its test.

    Attributes
    ----------
    baseline, system, metric : str
    test : SignificanceResult
        ``test.statistic`` is score(system) − score(baseline).
    confidence_interval : ConfidenceInterval or None
        For the difference; None if no intervals were requested.
    n_segments, n_units : int
        The number of segments, and of resampling units, for which both systems have a score. They are smaller than
        those of the test set only for :class:`~reshuffle.SegmentScores` with missing scores. The difference is then
        that of the means over these segments.
    intraclass_correlation : float or None
        The correlation of the segments' paired differences within documents
        (:func:`reshuffle.intraclass_correlation`), each segment's difference being its influence on the difference of
        the scores. None without documents, where it is undefined, and for functions of texts.
    design_effect : float or None
        The variance of the difference divided by its variance if segments were independent
        (:func:`reshuffle.design_effect`). None in the same cases.
    exchangeability : Exchangeability or None
        None for tests that do not need exchangeable outputs, for functions of texts, and where the difference does not
        vary.
    caveats : tuple of str
        The kinds of the comparison's :class:`Caveat` that apply to this pair.
    """

    baseline: str
    system: str
    metric: str
    test: SignificanceResult
    confidence_interval: ConfidenceInterval | None
    n_segments: int
    n_units: int
    intraclass_correlation: float | None = None
    design_effect: float | None = None
    exchangeability: Exchangeability | None = None
    caveats: tuple[str, ...] = ()

    @property
    def difference(self) -> float:
        """score(system) − score(baseline), in the metric's units."""
        return float(self.test.statistic)

    def is_significant(self, alpha: float) -> bool:
        """Whether p, adjusted if there is an adjustment, is at most ``alpha``: what a star marks in reports."""
        adjusted = self.test.adjusted_pvalue
        return bool((self.test.pvalue if adjusted is None else adjusted) <= alpha)


@dataclass(frozen=True, slots=True)
class UsedMetric:
    """A metric of a result.

    Attributes
    ----------
    name : str
        As in tables, with the options that distinguish it from others of the same name.
    signature : str
    higher_is_better : bool
    evaluations : int or None
        For functions of texts, the number of calls; else None.
    """

    name: str
    signature: str
    higher_is_better: bool
    evaluations: int | None = None


@dataclass(frozen=True, slots=True)
class UsedTest:
    """The test of a comparison.

    Attributes
    ----------
    name, title : str
        The name in :data:`reshuffle.inference.tests.TESTS`, and its name in reports.
    alternative : str
        ``two-sided``, ``greater`` or ``less``.
    replicates : str or None
        ``shuffles``, ``draws`` or ``permutations``; None for tests without replicates.
    adjustment, adjustment_title : str or None
        The adjustment for multiple tests, if there was one, and its name in reports.
    adjustment_rate : str or None
        The error rate that it controls: ``family-wise error rate`` or ``false discovery rate``.
    family : str or None
        Which tests are adjusted together: the pairs under each metric (``metric``), or all pairs under all metrics
        (``all``). None without an adjustment.
    stopping : str or None
        The stopping rule of the shuffles as signatures write it, if there was one.
    """

    name: str
    title: str
    alternative: str
    replicates: str | None
    adjustment: str | None = None
    adjustment_title: str | None = None
    adjustment_rate: str | None = None
    family: str | None = None
    stopping: str | None = None


@dataclass(frozen=True, slots=True)
class UsedInterval:
    """The confidence interval of a result.

    Attributes
    ----------
    name, title : str
        The name in :data:`reshuffle.inference.intervals.INTERVALS`, and its name in reports.
    draws : bool
        Whether it is computed from bootstrap draws.
    simultaneous : bool
        Whether the intervals of differences are simultaneous instead.
    """

    name: str
    title: str
    draws: bool
    simultaneous: bool = False


@dataclass(frozen=True, slots=True)
class Caveat:
    """A warning about the p-values or intervals of a result. :mod:`reshuffle.report` formulates the sentences.

    Attributes
    ----------
    kind : str
        - ``liberal``: the test rejects true null hypotheses far more often than its level says;
        - ``all-exchangeable``: the test assumes that the outputs of all systems are exchangeable; a family-wise error
          rate measured where their variances differ, and tests to use instead with the adjustment ``maxt``;
        - ``approximate``: under a metric whose score is not a mean of segment scores, the test is computed on jackknife
          pseudo-values and is approximate;
        - ``undecided``: tests with a stopping rule used all their shuffles without a decision;
        - ``other-test``: a metric is a function of texts, which the chosen test does not support, so another test was
          used for it;
        - ``dependence``: the correlation of segments within documents under a metric, and the design effect;
        - ``not-exchangeable``: some differences under a metric have the wrong spread over shuffles, because the
          systems' outputs are not exchangeable; the worst pair, and a test to use instead;
        - ``not-adjusted``: p-values are not adjusted although there are several tests, because the stopping rule only
          estimates p;
        - ``many-tests``: p-values are not adjusted; the probability of at least one false positive, and the level for
          each test that would keep this probability at α;
        - ``few-units``: there are too few segments or documents for any p ≤ α;
        - ``few-replicates``: there are too few replicates for any p, or adjusted p, to be at most α;
        - ``near-alpha``: for some p-values, or adjusted p-values, the Monte Carlo error leaves open whether p ≤ α;
        - ``auto-limit``: ``auto`` used its maximum number of replicates, which is not enough;
        - ``small-sample``: there are too few segments or documents for a bootstrap test or an interval from draws;
        - ``few-draws``: there are too few draws for precise ends of the intervals;
        - ``star-and-interval``: for some differences of a family, the star and the interval disagree; the reasons.
    values : mapping of str to number, bool, str or sequence of these
        The numbers in the sentence, by name. A pair is the minimum and maximum over the pairs of systems. ``pairs`` and
        ``tests`` are the numbers of pairs to which the caveat applies and of all pairs; ``few-units`` and
        ``small-sample`` have them only if scores are missing.
    """

    kind: str
    values: Mapping[str, Any]


def _metric_name(metric: str | None, known: Sequence[str]) -> str:
    """The known name that equals ``metric``, ignoring case if need be. For None, the only known name."""
    if metric is None:
        if len(known) > 1:
            raise InputError(f"there are {len(known)} metrics: choose one of {listed(known)}")
        return known[0]
    if metric in known:
        return metric
    alike = [name for name in known if name.casefold() == str(metric).casefold()]
    if len(alike) != 1:
        raise unknown_name("metric", str(metric), known)
    return alike[0]


def _first_names(names: Iterable[str]) -> str:
    """At most four names, shortened, for a repr."""
    names = list(names)
    return ", ".join([*map(shortened, names[:4]), *(["…"] if len(names) > 4 else [])])


@dataclass(frozen=True, slots=True)
class Comparison:
    """The result of :func:`reshuffle.compare` or :func:`reshuffle.score`, with everything needed to repeat it.

    ``print(comparison)`` shows the tables of the command line, and a notebook shows them as HTML. :meth:`score` and
    :meth:`pair` look up one number, :meth:`to_dicts` and :meth:`to_pandas` return all of them, and :meth:`render`
    formats a report.

    Attributes
    ----------
    systems : tuple of str
        The baseline first if there is one, else in the order of the input.
    metrics : tuple of UsedMetric
    scores : tuple of SystemScore
        Metric by metric, system by system.
    comparisons : tuple of PairedDifference
        Metric by metric, pair by pair; empty for ``score``.
    baseline : str or None
        None if all pairs were compared, and for ``score``.
    test : UsedTest or None
        None for ``score``.
    interval : UsedInterval or None
        None if there are no intervals.
    experimentwise_error : float or None
        The probability of at least one p ≤ α if no systems differed and the tests were independent, 1 − (1 − α)^m for
        m tests. None for ``score``.
    per_comparison_level : float or None
        The level for each of the m tests that would make that probability α: 1 − (1 − α)^(1/m). None for ``score``.
    n_segments, n_references : int
        Segments per system, and references per segment (the maximum if it varies).
    unit : str
        The resampling unit: ``segment`` or ``document``.
    n_units : int
        The number of resampling units.
    n_strata : int or None
        The number of strata of the bootstrap; None without strata.
    n_resamples, seed : int or None
        None if nothing was resampled at random, for example if all tests are exact and there are no draws. With a
        stopping rule each test has its own number of shuffles.
    confidence_level : float or None
        Of the intervals. None if there are neither intervals nor tests.
    alpha : float or None
        The significance level. For ``score``, 1 − confidence_level.
    caveats : tuple of Caveat
        Warnings about the p-values, which reports show as sentences.
    signature : str
        One line with everything needed to repeat the result on the same texts.
    version : str
        The version of reshuffle.

    Examples
    --------
    >>> from reshuffle import compare
    >>> from reshuffle.data.demo import demo_corpus
    >>> corpus = demo_corpus()
    >>> comparison = compare(corpus.references, corpus.systems, interval=None)
    >>> print(comparison)
    BLEU: 400 segments, 1 reference, 4 systems
    <BLANKLINE>
    System     BLEU         Δ       p  adjusted p
    ─────────────────────────────────────────────
    baseline  71.19  baseline
    tuned     73.24     +2.05  0.1622      0.1622
    larger    81.38    +10.19  0.0002     0.0002*
    rules     54.09    -17.10  0.0002     0.0002*
    <BLANKLINE>
    p: centred and percentile bootstrap, 10,000 draws, two-sided; * adjusted p ≤ 0.05.
    Adjusted p: step-down maxT over 3 pairs; ...
    >>> round(comparison.score("tuned").score, 2)
    73.24
    >>> comparison.pair("tuned").test.pvalue < comparison.alpha
    False
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
    per_comparison_level: float | None = None
    n_strata: int | None = None
    n_resamples: int | None = None
    confidence_level: float | None = None
    alpha: float | None = None
    seed: int | None = None
    caveats: tuple[Caveat, ...] = ()

    @property
    def family_size(self) -> int:
        """The number of tests that are adjusted together; 1 without an adjustment."""
        if self.test is None or self.test.adjustment is None:
            return 1
        return len(self.comparisons) // (1 if self.test.family == "all" else len(self.metrics))

    def __repr__(self) -> str:
        tests = "" if self.test is None else f"; {len(self.comparisons)} tests ({self.test.name})"
        return (
            f"<Comparison: {_first_names(metric.name for metric in self.metrics)}; {len(self.systems)} systems "
            f"({_first_names(self.systems)}); {self.n_segments} segments{tests}; n_resamples={self.n_resamples}, "
            f"seed={self.seed}>"
        )

    def __str__(self) -> str:
        from .report import Terminal, render

        return render(self, "text", Terminal.from_stdout()).rstrip("\n")

    def lacks_scores(self, metric: str | None = None) -> bool:
        """Whether any segment scores are missing under a metric, or under any metric if it is None."""
        return any(s.n_segments < self.n_segments for s in self.scores if metric in (None, s.metric))

    def _repr_html_(self) -> str:
        """The tables, notes and caveats as HTML, for notebooks."""
        return self.render("html")

    def score(self, system: str, metric: str | None = None) -> SystemScore:
        """The score of a system under a metric.

        Parameters
        ----------
        system : str
        metric : str, optional
            A name in ``metrics``, in upper or lower case. May be left out if there is only one.

        Returns
        -------
        SystemScore

        Raises
        ------
        InputError
            If there is no such system or metric.

        Examples
        --------
        >>> import reshuffle
        >>> comparison = reshuffle.score(["the cat sat on the mat"], {"a": ["the cat sat on a mat"]}, ["bleu", "ter"])
        >>> round(comparison.score("a", "TER").score, 2)
        16.67
        """
        name = _metric_name(metric, [used.name for used in self.metrics])
        check_name("system", system, self.systems)
        return next(score for score in self.scores if (score.system, score.metric) == (system, name))

    def pair(self, system: str, baseline: str | None = None, metric: str | None = None) -> PairedDifference:
        """The difference of a system from a baseline under a metric, and its test.

        Parameters
        ----------
        system : str
        baseline : str, optional
            May be left out if the system was compared with only one.
        metric : str, optional
            As for :meth:`score`.

        Returns
        -------
        PairedDifference

        Raises
        ------
        InputError
            If there is no such comparison.

        Examples
        --------
        >>> import reshuffle
        >>> ratings = reshuffle.SegmentScores("rating", {"a": [1, 2, 3, 4], "b": [2, 3, 3, 5], "c": [1, 1, 2, 3]})
        >>> comparison = reshuffle.compare(metrics=ratings, all_pairs=True)
        >>> comparison.pair("c", baseline="b").difference
        -1.5
        >>> comparison.pair("b", baseline="c")
        Traceback (most recent call last):
        reshuffle.errors.InputError: 'b' was not compared with baseline 'c'; its comparisons: pair('b', 'a'), ...
        """
        if not self.comparisons:
            raise InputError(
                "this result has scores only: reshuffle.compare tests differences, reshuffle.score does not"
            )
        name = _metric_name(metric, [used.name for used in self.metrics])
        check_name("system", system, self.systems)
        if baseline is not None:
            check_name("baseline", baseline, self.systems)
        pairs = [pair for pair in self.comparisons if pair.metric == name]
        found = [pair for pair in pairs if pair.system == system and baseline in (None, pair.baseline)]
        if len(found) == 1:
            return found[0]
        shown = quoted(system)
        if found:
            raise InputError(f"{shown} was compared with {listed(pair.baseline for pair in found)}: choose a baseline")
        others = [p for p in pairs if system in (p.system, p.baseline)]
        problem = "is always the baseline" if baseline is None else f"was not compared with baseline {quoted(baseline)}"
        calls = listed(f"pair({quoted(p.system)}, {quoted(p.baseline)})" for p in others)
        raise InputError(f"{shown} {problem}; its comparisons: {calls}")

    def render(self, fmt: Format = "text") -> str:
        """A report as a string, ending in a newline.

        Parameters
        ----------
        fmt : str
            As ``--format`` of the command line; a name in :data:`reshuffle.report.FORMATS`.

        Returns
        -------
        str

        Raises
        ------
        InputError
            If there is no such format.

        Examples
        --------
        >>> from reshuffle import score
        >>> print(score(["the cat sat on the mat"], {"a": ["the cat sat on a mat"]}, "ter").render("markdown"))
        **TER, lower is better: 1 segment, 1 reference, 1 system**
        <BLANKLINE>
        | System | TER |
        | --- | ---: |
        | a | 16.67 |
        <BLANKLINE>
        - Signature: `TER|nrefs:1|...
        """
        from .report import render

        return render(self, fmt)

    def to_dicts(self) -> list[dict[str, Any]]:
        """The rows of the CSV format as flat dicts: one for each system without a baseline and for each comparison.

        Returns
        -------
        list of dict
            All have the same keys, the columns of the CSV; the value is None where one does not apply.
            ``polars.DataFrame`` and ``pandas.DataFrame`` take the list as it is.

        Examples
        --------
        >>> from reshuffle import SegmentScores, compare
        >>> ratings = SegmentScores("rating", {"a": [1, 2, 3, 4], "b": [2, 3, 3, 5]})
        >>> rows = compare(metrics=ratings, test="ar").to_dicts()
        >>> [(row["system"], row["score"], row["difference"], row["pvalue"]) for row in rows]
        [('a', 2.5, None, None), ('b', 3.25, 0.75, 0.25)]
        """
        from .report import as_dicts

        return as_dicts(self)

    def to_pandas(self) -> Any:
        """The rows of :meth:`to_dicts` as a ``pandas.DataFrame``.

        Missing values are NaN in columns of floats, ``pandas.NA`` in columns of integers, which keep every digit of a
        seed, and None in columns of strings.

        Raises
        ------
        ModuleNotFoundError
            If pandas is not installed.
        """
        from .report import data_frame, frame_columns

        return data_frame(frame_columns(self))


@dataclass(frozen=True, slots=True, eq=False)
class SegmentTable:
    """The score of every segment, or of every document, of every system: the result of :func:`segment_scores`.

    ``print(table)`` shows the first rows, and a notebook shows them as HTML.

    Attributes
    ----------
    systems : tuple of str
        In the order of the input.
    metrics : tuple of UsedMetric
    scores : mapping of str to (k, S) ndarray
        By the metric's name; a row for each system.
    signature : str
        One line with everything needed to repeat the result on the same texts.
    version : str
        The version of reshuffle.
    documents : tuple of str, or None
        The D ids of the documents if the scores are those of documents, else None.

    Examples
    --------
    >>> from reshuffle import segment_scores
    >>> table = segment_scores(["the cat sat on the mat", "no"], {"a": ["the cat sat on a mat", "no"]})
    >>> print(table)
    2 segments, 1 system
    <BLANKLINE>
    Segment  System    BLEU
    ───────────────────────
    1        a        53.73
    2        a       100.00
    <BLANKLINE>
    Signature: BLEU|nrefs:1|case:mixed|eff:yes|...
    >>> table.to_dicts()[1]
    {'segment': 2, 'system': 'a', 'BLEU': 100.0}
    """

    systems: tuple[str, ...]
    metrics: tuple[UsedMetric, ...]
    scores: Mapping[str, NDArray[np.float64]]
    signature: str
    version: str
    documents: tuple[str, ...] | None = None

    def __repr__(self) -> str:
        unit = "segments" if self.documents is None else "documents"
        return (
            f"<SegmentTable: {_first_names(self.scores)}; {len(self.systems)} systems ({_first_names(self.systems)}); "
            f"{self.n_segments} {unit}>"
        )

    def __str__(self) -> str:
        from .report import Terminal, preview_as_text

        return preview_as_text(self, Terminal.from_stdout()).rstrip("\n")

    def _repr_html_(self) -> str:
        """The first rows as HTML, for notebooks."""
        from .report import preview_as_html

        return preview_as_html(self)

    @property
    def n_segments(self) -> int:
        """S, or D if the scores are those of documents."""
        return int(next(iter(self.scores.values())).shape[1])

    def system_scores(self, system: str, metric: str | None = None) -> NDArray[np.float64]:
        """The (S,) scores of a system under a metric.

        Parameters
        ----------
        system : str
        metric : str, optional
            A name in ``scores``, in upper or lower case. May be left out if there is only one.

        Returns
        -------
        (S,) ndarray

        Raises
        ------
        InputError
            If there is no such system or metric.

        Examples
        --------
        >>> from reshuffle import segment_scores
        >>> table = segment_scores(["the cat sat on the mat", "no"], {"a": ["the cat sat on a mat", "no"]})
        >>> table.system_scores("a").round(2)
        array([ 53.73, 100.  ])
        """
        name = _metric_name(metric, list(self.scores))
        check_name("system", system, self.systems)
        scores: NDArray[np.float64] = self.scores[name][self.systems.index(system)]
        return scores

    def render(self, fmt: SegmentFormat = "tsv") -> str:
        """All rows as a string.

        Parameters
        ----------
        fmt : str
            As ``--format`` of ``reshuffle score --segments``; a name in :data:`reshuffle.report.SEGMENT_FORMATS`.

        Returns
        -------
        str

        Raises
        ------
        InputError
            If there is no such format, or it cannot hold one of the names.
        """
        from .report import render_segments

        return "".join(render_segments(self, fmt))

    def to_dicts(self) -> list[dict[str, Any]]:
        """The rows as flat dicts, one for each segment (or document) and system.

        Returns
        -------
        list of dict
            With the keys ``segment`` (from 1) or ``document`` (its id), ``system``, and the name of each metric.
        """
        from .report import segments_as_dicts

        return segments_as_dicts(self)

    def to_pandas(self) -> Any:
        """The rows of :meth:`to_dicts` as a ``pandas.DataFrame``.

        Raises
        ------
        ModuleNotFoundError
            If pandas is not installed.
        """
        from .report import data_frame, segment_columns

        return data_frame(segment_columns(self))
