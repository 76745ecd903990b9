"""The result of a comparison of systems, or of their scores, and the records in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING, ClassVar

from ..documented import record
from ..errors import InputError, counted, quoted
from ..options.declare import hinting
from ..validate import check_name
from .caveats import Caveat
from .histograms import Histogram, NullHistogram
from .intervals import ConfidenceInterval
from .lookup import first_names, metric_name, pair_of
from .ranking import DetectableDifference, Ranking
from .reported import Compared, Worded, reports
from .significance import SignificanceResult
from .texts import ComparedTexts
from .verdicts import NO_DIFFERENCE, Verdict, verdict
from .votes import VoteFit

if TYPE_CHECKING:
    from ..report import Plots


@record
class SystemScore:
    """The score of one system under one metric."""

    system: str
    metric: str
    score: float
    """In the metric's units, over all segments for which the system has a score."""
    confidence_interval: ConfidenceInterval | None
    """None if no intervals were requested."""
    details: Mapping[str, float]
    """The parts of the score. For BLEU: the precisions in percent, the brevity penalty, the length ratio, and the
    lengths in tokens.
    """
    n_segments: int
    """The number of segments that have a score. It is smaller than that of the test set only for
    :class:`~reshuffle.SegmentScores` with missing scores.
    """
    draws: Histogram | None = field(default=None, repr=False)
    """The bootstrap distribution of the score. None if the comparison has no bootstrap draws."""


@record
class DocumentScore:
    """The score of one system on one document, such as a speaker, under one metric."""

    document: str
    system: str
    metric: str
    score: float
    """From the sums of counts over the segments of the document."""
    details: Mapping[str, float]
    """The parts of the score, as in :class:`SystemScore`."""
    n_segments: int


@record
class Exchangeability:
    """How the spread of a difference over shuffles compares with its standard error."""

    ratio: float
    """The standard deviation that shuffles give the difference, divided by its standard error by the delta method. It
    is about 1 if the two outputs of a segment are exchangeable. A test by shuffles rejects too often where it is
    clearly smaller, and too rarely where it is clearly larger. docs/statistics/notes.md#exchangeability defines it.
    """
    near_kink: bool
    """Whether the score has a kink near the totals of one of the systems, as BLEU has where the hypotheses are as long
    as the references. Standard errors by the delta method are unreliable there.
    """


@record
class Influence:
    """On how many resampling units a difference rests.

    The influence of a unit is its contribution to the difference, linearized at the mean of both systems' summed
    counts; for means of segment scores, its own difference. docs/evidence/skewed.md defines it.
    """

    differing: int
    """The number of units in which the counts of the two systems differ; for functions of texts, the outputs."""
    effective: float | None = None
    """(Σ|e|)²/Σe² for influences e: the number of units that differ, if all of these have the same influence, and less
    if few of them have most of it. None for functions of texts, where the score has no finite derivatives, and if no
    unit has an influence.
    """
    skewness: float | None = None
    """That of the influences of all units, m₃/m₂^1.5. None in the same cases."""

    @property
    def reversed(self) -> Influence:
        """That of the pair reversed: see :attr:`PairedDifference.reversed`."""
        return replace(self, skewness=None if self.skewness is None else 0.0 - self.skewness)


@record
class Brevity:
    """What the brevity penalty contributes to a difference, and how near both systems are to its kink.

    The derivative of the penalty jumps where hypotheses are as long as their references. Near that point the expected
    score of test sets of this size is lower than the score of the population, by another amount for each system.
    docs/statistics/kink.md has the formulas.
    """

    system: float
    """By how many standard errors the hypotheses are longer than their references; negative if they are shorter."""
    baseline: float
    bias: float
    """By how much the expected difference differs from the difference of the scores of the populations, in absolute
    value and in standard errors of the difference.
    """
    share: float | None
    """Which share of the difference of log scores is that of log penalties; None if the scores are equal or 0."""

    @property
    def reversed(self) -> Brevity:
        """That of the pair reversed: see :attr:`PairedDifference.reversed`."""
        return replace(self, system=self.baseline, baseline=self.system)


@record
class Contribution:
    """What a part of a metric's formula contributes to a difference. Those of all parts add up to the difference.

    docs/statistics/intervals.md#what-makes-a-difference has the definitions.
    """

    part: str
    """For BLEU ``bp``, the brevity penalty, and ``p_1``, ``p_2`` …, the precisions; for other metrics ``precision``,
    ``recall``, ``fragmentation``, ``penalty``, ``information``, ``substitutions``, ``deletions`` or ``insertions``.
    """
    difference: float
    """In the metric's units."""
    confidence_interval: ConfidenceInterval | None = None
    """Percentiles of the draws, at the comparison's confidence level. None without draws or intervals, and if a part is
    undefined on any draw.
    """

    @property
    def reversed(self) -> Contribution:
        """That to the difference of the pair reversed: see :attr:`PairedDifference.reversed`."""
        interval = self.confidence_interval
        return replace(
            self,
            difference=0.0 - self.difference,
            confidence_interval=None if interval is None else interval.reversed,
        )


@record
class PairedDifference(Worded):
    """The difference between two systems under one metric, and its test.

    ``print(pair)`` shows the difference, p, and what they rest on, in a few lines.
    """

    baseline: str
    system: str
    metric: str
    test: SignificanceResult
    """``test.statistic`` is score(system) − score(baseline)."""
    confidence_interval: ConfidenceInterval | None
    """For the difference; None if no intervals were requested. For a test with a margin it is the one that belongs to
    the test, at the confidence level 1 − 2·alpha.
    """
    n_segments: int
    """The number of segments, and of resampling units, for which both systems have a score. They are smaller than those
    of the test set only for :class:`~reshuffle.SegmentScores` with missing scores. The difference is then that of the
    means over these segments.
    """
    n_units: int
    intraclass_correlation: float | None = None
    """The correlation of the segments' paired differences within documents (:func:`reshuffle.intraclass_correlation`),
    each segment's difference being its influence on the difference of the scores. None without documents, where it is
    undefined, and for functions of texts.
    """
    design_effect: float | None = None
    """The variance of the difference divided by its variance if segments were independent
    (:func:`reshuffle.design_effect`). None in the same cases.
    """
    exchangeability: Exchangeability | None = None
    """None for tests that do not need exchangeable outputs, for functions of texts, and where the difference does not
    vary.
    """
    influence: Influence | None = None
    """On how many resampling units the difference rests. None for averages over test sets."""
    brevity: Brevity | None = None
    """None for metrics without a brevity penalty, and where the lengths or the difference do not vary."""
    contributions: tuple[Contribution, ...] | None = None
    """What the parts of the formula contribute to the difference, if they were requested (``include="parts"``). Empty
    for metrics whose parts are not known, and for BLEU where a precision is 0 or smoothed.
    """
    caveats: tuple[str, ...] = ()
    """The kinds of the comparison's :class:`Caveat` that apply to this pair."""
    null: NullHistogram | None = None
    """The null distribution of the test statistic, from the replicates of the test: shuffles, permutations, or
    bootstrap draws centred on 0. None for tests without replicates, and if the observed statistic is infinite.
    """

    DERIVED: ClassVar[tuple[str, ...]] = ("difference",)

    def __post_init__(self) -> None:
        object.__setattr__(self, "test", replace(self.test, names=(self.system, self.baseline)))

    def __repr__(self) -> str:
        return (
            f"<PairedDifference: {self.metric}, {self.system} against {self.baseline}; "
            f"difference={self.difference:.6g}, test.pvalue={self.test.pvalue:.6g}, test.test={self.test.test}>"
        )

    @property
    def difference(self) -> float:
        """score(system) − score(baseline), in the metric's units."""
        return float(self.test.statistic)

    def is_significant(self, alpha: float) -> bool:
        """Whether p, adjusted if there is an adjustment, is at most ``alpha``: what a star marks in reports.

        For a test with a margin: whether equivalence or non-inferiority is shown.
        """
        return self.test.is_significant(alpha)

    @property
    def reversed(self) -> PairedDifference:
        """The difference of the baseline from the system, if the test can be reversed.

        That is so for two-sided tests and those of equivalence: :attr:`Comparison.is_reversible`.
        """
        interval, parts = self.confidence_interval, self.contributions
        return replace(
            self,
            system=self.baseline,
            baseline=self.system,
            test=self.test.reversed,
            confidence_interval=None if interval is None else interval.reversed,
            influence=None if self.influence is None else self.influence.reversed,
            brevity=None if self.brevity is None else self.brevity.reversed,
            contributions=None if parts is None else tuple(part.reversed for part in parts),
            null=None if self.null is None else self.null.reversed,
        )


@record
class UsedMetric:
    """A metric of a result."""

    name: str
    """As in tables, with the options that distinguish it from others of the same name."""
    signature: str
    higher_is_better: bool
    evaluations: int | None = None
    """For functions of texts, the number of calls; else None."""
    source: str | None = None
    """The ACL id or DOI of the paper that defines it. None for external scores and functions."""


@record
class UsedTest:
    """The test of a comparison."""

    name: str
    """The name in :data:`reshuffle.inference.tests.TESTS`, and its name in reports."""
    title: str
    alternative: str
    """As requested: ``two-sided``, ``better``, ``worse``, ``greater`` or ``less``; or ``equivalence`` or
    ``non-inferiority``, for tests with a margin.
    """
    replicates: str | None
    """``shuffles``, ``draws`` or ``permutations``; None for tests without replicates."""
    adjustment: str | None = None
    """The adjustment for multiple tests, if there was one, and its name in reports."""
    adjustment_title: str | None = None
    adjustment_rate: str | None = None
    """The error rate that it controls: ``family-wise error rate`` or ``false discovery rate``."""
    family: str | None = None
    """Which tests are adjusted together: the pairs under each metric (``metric``), or all pairs under all metrics
    (``all``). On several test sets: the pairs under each metric on each test set (``metric``) or on all test sets
    (``sets``), or all pairs under all metrics on each test set (``set``) or on all test sets (``all``). None without an
    adjustment.
    """
    n_sets: int = 1
    """The number of test sets in a family. If it is more than 1, families also contain tests of other comparisons."""
    stopping: str | None = None
    """The stopping rule of the shuffles as signatures write it, if there was one."""
    source: str | None = None
    """The papers of the test and of the adjustment, as in their registries."""
    adjustment_source: str | None = None

    @property
    def has_margin(self) -> bool:
        """Whether it shows equivalence or non-inferiority, so that a star marks no difference."""
        return self.alternative in ("equivalence", "non-inferiority")


@record
class UsedInterval:
    """The confidence interval of a result."""

    name: str
    """The name in :data:`reshuffle.inference.intervals.INTERVALS`, and its name in reports."""
    title: str
    draws: bool
    """Whether it is computed from bootstrap draws."""
    simultaneous: bool = False
    """Whether the intervals of differences are simultaneous instead."""
    source: str | None = None
    """The paper of the interval, as in the registry."""


@record
class Comparison(Compared):
    """The result of :func:`reshuffle.compare` or :func:`reshuffle.score`, with everything needed to repeat it.

    ``print(comparison)`` shows the tables of the command line, and a notebook shows them as HTML. :meth:`score` and
    :meth:`pair` look up one number, :meth:`to_dicts`, :meth:`to_pandas` and :meth:`to_polars` return all of them, and
    :meth:`render` formats a report. :attr:`plot` draws figures for papers.

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
    larger    81.38    +10.19  0.0002     0.0002*
    tuned     73.24     +2.05  0.1622     0.1622
    rules     54.09    -17.10  0.0002     0.0002*
    <BLANKLINE>
    larger is significantly better than baseline, rules is significantly worse, and tuned shows no significant
    difference from baseline under BLEU.
    Minimum detectable difference (80% power, median pair): BLEU 4.65 (range 4.24 to 4.82).
    <BLANKLINE>
    p: bootstrap-both (centred and percentile bootstrap), 10,000 draws, two-sided; * adjusted p ≤ 0.05.
    Adjusted p: step-down maxT over 3 pairs; ...
    >>> round(comparison.score("tuned").score, 2)
    73.24
    >>> comparison.pair("tuned").test.pvalue < comparison.alpha
    False
    """

    systems: tuple[str, ...]
    """The baseline first if there is one, else in the order of the input."""
    metrics: tuple[UsedMetric, ...]
    scores: tuple[SystemScore, ...]
    """Metric by metric, system by system."""
    n_segments: int
    """Segments per system, and references per segment (the maximum if it varies)."""
    n_references: int
    unit: str
    """The resampling unit: ``segment`` or ``document``, or ``unit`` for an average over test sets with both; for
    ratings ``judge``, ``ranking``, ``prompt`` or ``vote``.
    """
    n_units: int
    """The number of resampling units."""
    signature: str
    """One line with everything needed to repeat the result on the same texts."""
    version: str
    """The version of reshuffle."""
    comparisons: tuple[PairedDifference, ...] = ()
    """Metric by metric, pair by pair; empty for ``score``."""
    baseline: str | None = None
    """None if all pairs were compared, and for ``score``."""
    test: UsedTest | None = None
    """None for ``score``."""
    interval: UsedInterval | None = None
    """None if there are no intervals."""
    experimentwise_error: float | None = None
    """The probability of at least one p ≤ α if no systems differed and the tests were independent, 1 − (1 − α)^m for m
    tests. None for ``score``.
    """
    per_comparison_level: float | None = None
    """The level for each of the m tests that would make that probability α: 1 − (1 − α)^(1/m). None for ``score``."""
    n_strata: int | None = None
    """The number of strata of the bootstrap; None without strata."""
    n_resamples: int | None = None
    """None if nothing was resampled at random, for example if all tests are exact and there are no draws. With a
    stopping rule each test has its own number of shuffles.
    """
    confidence_level: float | None = None
    """Of the intervals. None if there are neither intervals nor tests."""
    alpha: float | None = None
    """The significance level. For ``score``, 1 − confidence_level."""
    seed: int | None = None
    caveats: tuple[Caveat, ...] = ()
    """Warnings about the p-values, which reports show as sentences."""
    rankings: tuple[Ranking, ...] = ()
    """The systems from best to worst, metric by metric. Empty unless all pairs were compared by two-sided tests."""
    detectable: tuple[DetectableDifference, ...] = ()
    """The minimum detectable difference, metric by metric, for metrics whose differences have a standard error; empty
    for ``score``.
    """
    averaged_over: tuple[str, ...] = ()
    """The names of the test sets, if the scores are means of those on several test sets. ``n_segments`` and ``n_units``
    are then those of all test sets together, whose units may differ (``unit``), and ``n_strata`` is the number of test
    sets or of their strata.
    """
    texts: ComparedTexts | None = field(default=None, repr=False)
    """The texts and segment scores, if they were requested (``include="texts"``)."""
    document_scores: tuple[DocumentScore, ...] = ()
    """The scores on every document, metric by metric, document by document, for metrics of speech recognition with at
    most 100 documents, which are speakers; otherwise empty.
    """
    votes: VoteFit | None = None
    """The votes and their model, for ratings (:func:`reshuffle.votes`); otherwise None. ``n_segments`` is then the
    number of units.
    """

    @property
    def family_size(self) -> int:
        """The number of tests that are adjusted together; 1 without an adjustment."""
        if self.test is None or self.test.adjustment is None:
            return 1
        return (
            self.test.n_sets * len(self.comparisons) // (1 if self.test.family in ("set", "all") else len(self.metrics))
        )

    @property
    def is_reversible(self) -> bool:
        """Whether the tests are two-sided or of equivalence: their p-values are also those of the pairs reversed.

        :meth:`pair` then takes the two systems in either order.
        """
        return self.test is not None and self.test.alternative in ("two-sided", "equivalence")

    @property
    def plot(self) -> Plots:
        """Figures for papers: ``plot.ranking()``, ``forest()``, ``matrix()``, ``null()`` and ``densities()``.

        Each takes and returns matplotlib axes: see :class:`reshuffle.report.Plots`.

        Raises
        ------
        ModuleNotFoundError
            If matplotlib is not installed.
        """
        plots: Plots = reports().plots_of(self)
        return plots

    def __repr__(self) -> str:
        n, k = len(self.comparisons), len(self.systems)
        tests = "" if self.test is None else f"; {counted(n, 'test')} ({self.test.name})"
        return (
            f"<Comparison: {first_names(metric.name for metric in self.metrics)}; {counted(k, 'system')} "
            f"({first_names(self.systems)}); {counted(self.n_segments, 'segment')}{tests}; "
            f"n_resamples={self.n_resamples}, seed={self.seed}>"
        )

    @hinting
    def verdict(self, pair: PairedDifference) -> Verdict:
        """Whether the system of a pair is significantly ``better`` or ``worse`` than its baseline, or neither.

        It takes into account whether higher scores are better under the metric. If neither is shown, it is ``no
        significant difference``; a test with a margin shows no difference, so it is that of all its pairs. Bold type in
        reports follows it.

        Examples
        --------
        >>> from reshuffle import SegmentScores, compare
        >>> errors = SegmentScores("errors", {"a": [1, 2, 3, 4] * 9, "b": [0, 1, 2, 3] * 9}, higher_is_better=False)
        >>> comparison = compare(metrics=errors)
        >>> comparison.verdict(comparison.pair("b"))
        'better'
        """
        if not isinstance(pair, PairedDifference):
            raise InputError(f"verdict takes a pair, such as comparison.pair({pair!r}), got {quoted(pair)}")
        if self.alpha is None or (self.test is not None and self.test.has_margin):
            return NO_DIFFERENCE
        higher_is_better = next(metric.higher_is_better for metric in self.metrics if metric.name == pair.metric)
        return verdict(pair.difference, pair.is_significant(self.alpha), higher_is_better, pair.test.alternative)

    def lacks_scores(self, metric: str | None = None) -> bool:
        """Whether any segment scores are missing under a metric, or under any metric if it is None."""
        return any(s.n_segments < self.n_segments for s in self.scores if metric in (None, s.metric))

    @hinting
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
        check_name("system", system, self.systems)
        name = metric_name(metric, [used.name for used in self.metrics])
        return next(score for score in self.scores if (score.system, score.metric) == (system, name))

    @hinting
    def pair(self, system: str, baseline: str | None = None, metric: str | None = None) -> PairedDifference:
        """The difference of a system from a baseline under a metric, and its test.

        Parameters
        ----------
        system : str
        baseline : str, optional
            May be left out if the system was compared with only one. Either system of a pair can be the baseline, but
            for tests with a direction (:attr:`is_reversible`).
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
        >>> comparison.pair("b", baseline="c").difference
        1.5
        """
        if not self.comparisons:
            raise InputError(
                "this result has scores only: reshuffle.compare tests differences, reshuffle.score does not"
            )
        metrics, names = [used.name for used in self.metrics], (system, baseline, metric)
        return pair_of(self.comparisons, names, self.systems, metrics, self.baseline, self.is_reversible)
