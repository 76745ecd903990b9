"""The result of a comparison of systems, or of their scores, and the records in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from ..documented import record
from ..errors import InputError, counted, quoted
from ..options.hints import hinting
from ..validate import check_name
from .caveats import Caveat
from .compared import Compared
from .differences import PairedDifference
from .histograms import Histogram
from .intervals import ConfidenceInterval
from .lookup import first_names, metric_name, pair_of
from .plots import Plots
from .ranking import DetectableDifference, Ranking
from .reported import reports
from .texts import ComparedTexts
from .verdicts import NO_DIFFERENCE, UNDIRECTED, Verdict, verdict
from .votes import VoteFit


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
    ``non-inferiority``, for tests with a margin; or ``one-sided`` in the observed direction, for ``paired-bootstrap``.
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
    """The number of segments of each system."""
    n_references: int
    """The number of references of a segment; the largest if it varies."""
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
        return self.test is not None and self.test.alternative in (*UNDIRECTED, "equivalence")

    @property
    def plot(self) -> Plots:
        """Figures for papers: ``plot.ranking()``, ``forest()``, ``matrix()``, ``null()`` and ``densities()``.

        Each takes and returns matplotlib axes: see :class:`reshuffle.report.Plots`.

        Raises
        ------
        ModuleNotFoundError
            If matplotlib is not installed.
        """
        reports().check_matplotlib()
        return Plots(self)

    def __repr__(self) -> str:
        n, k = len(self.comparisons), len(self.systems)
        tests = "" if self.test is None else f"; {counted(n, 'test')} ({self.test.name})"
        drawn = "" if self.n_resamples is None else f"; n_resamples={self.n_resamples}, seed={self.seed}"
        size = counted(self.n_segments, "segment") if self.votes is None else counted(self.votes.n_votes, "vote")
        return (
            f"<Comparison: {first_names(metric.name for metric in self.metrics)}; {counted(k, 'system')} "
            f"({first_names(self.systems)}); {size}{tests}{drawn}>"
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
            of_texts = "reshuffle.compare tests differences, reshuffle.score does not"
            why = of_texts if self.votes is None else "print(result) says why"
            raise InputError(f"this result has scores only: {why}")
        metrics, names = [used.name for used in self.metrics], (system, baseline, metric)
        return pair_of(self.comparisons, names, self.systems, metrics, self.baseline, self.is_reversible)
