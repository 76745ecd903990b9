"""``compare``, ``score`` and ``segment_scores``: from texts to results, step by step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from . import _core, signature, types
from .comparing import compared, scored
from .data.columns import Texts
from .execution import AnyExecutor
from .inference.steps import counting_steps
from .progress import AnyProgress, reported
from .resampling.counting import Data, Metrics, References, Systems
from .resampling.stopping import AnyRule
from .resampling.units import Documents
from .results import Comparison, SegmentTable, UsedMetric
from .settings import ComparisonSettings, DocumentIds, Levels, Resampling, StratumIds, Units


def compare(
    references: References = None,
    systems: Systems = None,
    metrics: Metrics = "bleu",
    *,
    reference: str | Sequence[str] | None = None,
    documents: DocumentIds | None = None,
    strata: StratumIds | None = None,
    test: types.TestChoice | str = "auto",
    scheme: types.Scheme | str = "auto",
    stopping: types.Stopping | str | AnyRule | None = None,
    n_resamples: int | Literal["auto"] = 10_000,
    baseline: str | None = None,
    all_pairs: bool = False,
    alternative: types.Alternative | str = "two-sided",
    adjust: types.Adjustment | str | None = "auto",
    family: types.Family | str = "metric",
    interval: types.Interval | str | None = "percentile",
    confidence_level: float | None = None,
    simultaneous: bool = False,
    alpha: float | None = None,
    margins: Mapping[str, float] | None = None,
    seed: int = 12345,
    with_texts: bool = False,
    with_parts: bool = False,
    threads: int | None = None,
    executor: AnyExecutor = None,
    progress: AnyProgress = None,
) -> Comparison:
    """Score systems against references and test whether they differ by more than chance.

    All pairs and all metrics use the same shuffles and the same bootstrap draws.

    Parameters
    ----------
    references : S references, columns of S references each, or a data frame
        None stands for a missing reference; every segment needs at least one reference.
    systems : mapping of str to S hypotheses, or sequence of these
        At least two. In a sequence they are named ``system 1``, ``system 2`` …
    metrics : str, metric, or sequence of these
        Names, or metrics made by :func:`reshuffle.metric`, :class:`~reshuffle.CorpusFunction`,
        :class:`~reshuffle.SegmentScores`, :class:`~reshuffle.FromCounts` or :class:`~reshuffle.OwnTexts`. The last
        three bring their own data: with only these, ``references`` and ``systems`` can be left out.
    reference : str or sequence of str, optional
        The column of the references, or several such columns, if ``references`` is a data frame with S rows. Null
        stands for a missing reference. ``systems`` are then names of columns, or a mapping from names of systems to
        names of columns; ``documents`` and ``strata`` may also be names of columns. The data frame is from pandas or
        polars, an Arrow table, a structured numpy array, or a dict of columns.
    documents : sequence of S str or int, optional
        The document id of each segment; the segments of a document need not be adjacent. Whole documents are then
        resampled, and the intraclass correlation and design effect are reported.
    strata : sequence of S str or int, optional
        The stratum id of each segment. A stratum is a part of the test set whose size was fixed by design. Bootstrap
        draws and standard errors are then stratified; shuffles are not affected, because they swap within a segment.
        All segments of a document must be in the same stratum.
    test : str
        A name in :data:`reshuffle.inference.tests.TESTS`, or ``auto``, the default: ``bootstrap-both``, which tests
        whether the expected scores on test sets of this size are equal, and ``ar`` for pairs that differ in fewer than
        30 segments or documents, where the bootstrap is unreliable. A note says for which pairs. ``bootstrap-kink``
        tests whether the scores of the populations are equal, which is not the same where BLEU's brevity penalty sets
        in. ``ar`` (approximate randomization) tests exchangeability and is exact for any number of segments.
        ``t-test``, ``wilcoxon`` and ``sign-test`` are for metrics that are means of segment scores:
        :class:`~reshuffle.SegmentScores`.
        ``equivalence`` and ``non-inferiority``, also with ``-studentized`` or ``-ar``, need ``margins``.
    scheme : {'auto', 'iid', 'subgroup', 'exact'}
        For the tests ``ar`` and ``ar-studentized``: how the null distribution is obtained; see
        :func:`reshuffle.approximate_randomization`. ``auto`` decides for each pair and metric, and the result names the
        scheme used. The adjustments ``maxt`` and ``minp`` of these tests need ``iid``, so ``auto`` is ``iid`` with
        them.
    stopping : {'besag-clifford', 'gandy'}, BesagClifford or Gandy, optional
        For the tests ``ar`` and ``ar-studentized`` with the scheme ``iid``: stop the shuffles of each pair and metric
        early (sequential Monte Carlo), after ``n_resamples`` at the latest. :class:`~reshuffle.BesagClifford` stops
        after 20 exceedances; :class:`~reshuffle.Gandy` stops once it is decided whether p ≤ ``alpha``, with error
        probability .001.
    n_resamples : int or 'auto'
        R, the number of shuffles or draws of the test, and the number of draws of the intervals. ``auto`` stands for
        the number that is needed, at least 10,000 and at most a million: 20/``alpha`` − 1 for the test, or
        20·m/``alpha`` − 1 for families of m tests with any adjustment but ``maxt`` and ``tukey``; twice as many for
        ``bootstrap-both`` and ``bootstrap-percentile``; and 40/(1 − ``confidence_level``) − 1 for intervals whose ends
        are draws. The result and its signature have the number used.
    baseline : str, optional
        The system that all others are compared with. The first system by default.
    all_pairs : bool
        Compare every pair of systems instead.
    alternative : {'two-sided', 'better', 'worse', 'greater', 'less'}
        ``better``: the alternative hypothesis is that the system is better than the baseline under the metric: scores
        higher, or lower where lower is better. ``greater``: that it scores higher, whether or not higher is better.
    adjust : str or None
        How p-values are adjusted for multiple tests: a name in :data:`reshuffle.inference.multiplicity.ADJUSTMENTS`, or
        ``none`` or None for p-values that are not adjusted. The default, ``auto``, is step-down ``maxt``, or ``tukey``
        for ``anova`` and ``permutation`` (with family ``metric``). It is ``holm`` for other tests without ``maxt``,
        with the schemes ``exact`` and ``subgroup``, with ``besag-clifford``, and if every family has only one test. A
        single test, and tests stopped by ``gandy``, are not adjusted.
    family : {'metric', 'all'}
        Which tests are adjusted together: the pairs under each metric, or all pairs under all metrics. The other
        families are for several test sets (:func:`compare_sets`).
    interval : str or None
        A name in :data:`reshuffle.inference.intervals.INTERVALS`, for scores and differences. None for no intervals.
    confidence_level : float, optional
        Confidence level of the intervals: 0.95 by default, or 1 − 2·``alpha`` for tests with a margin.
    simultaneous : bool
        Make the intervals of the differences simultaneous: with probability ``confidence_level``, all intervals of a
        family contain their true differences. They use the statistic and the replicates that decide about stars, so
        every difference whose interval excludes 0 has a star. For the two-sided tests ``bootstrap-both``,
        ``bootstrap``, ``bootstrap-percentile`` and ``ar-studentized`` with ``maxt``, and for ``anova`` with ``tukey``
        or ``scheffe``. ``interval`` is then the interval of the scores, ``percentile``.
    alpha : float, optional
        Significance level of the tests. 1 − ``confidence_level`` by default, or half of that for tests with a margin.
    margins : mapping of str to float, optional
        For the tests of equivalence and non-inferiority: the margin of each metric, a positive number in points of the
        metric, as in ``{"bleu": 0.5}``. ``equivalence`` shows that the scores of a system and the baseline differ by
        less than the margin, ``non-inferiority`` that the system is not worse by the margin or more. Intervals of
        differences are then those that show it (docs/statistics.md), and ``interval`` is that of the scores.
    seed : int
        0 to 2⁶⁴ − 1. The same seed gives the same result on any machine and any number of threads.
    with_texts : bool
        Keep the references, the outputs and the score of every segment in the result (``Comparison.texts``). JSON
        and HTML reports then include them, and the HTML report lists the segments in which two systems differ most.
    with_parts : bool
        Split each difference into the contributions of the parts of the metric's formula, such as BLEU's brevity
        penalty and precisions, with intervals from the same draws (:attr:`PairedDifference.contributions`). For
        ``bleu``, ``chrf``, ``chrf++``, ``meteor``, ``nist``, ``gtm`` and ``depf``.
    threads : int, optional
        One per core by default.
    executor : concurrent.futures.Executor or object with ``get_executor()``, optional
        Such as a pool of processes or a Dask client. Its workers count the systems and compute the shuffles and draws:
        see docs/clusters.md. The result has the same bytes. Worth it for many systems, or a function of texts.
    progress : bool or Progress, optional
        True shows a progress bar in a terminal or a notebook, if the call takes long. Another thread can read the state
        of a :class:`Progress`.

    Returns
    -------
    Comparison

    Raises
    ------
    InputError
        If the texts differ in length, there are fewer than two systems, segments or documents, a name is unknown, an
        argument is out of range, the test or the interval does not support one of the metrics, or ``with_texts`` is
        used without texts.

    Notes
    -----
    ``pvalue`` is never adjusted for multiple tests. ``adjusted_pvalue`` is, and unless it is None it decides about
    stars and :meth:`PairedDifference.is_significant`. Memory: 8·k·S·K bytes for the counts and 8·k·R bytes for the
    draws of each metric (k systems, S segments, K counts, R resamples).

    Examples
    --------
    Three segments are too few for the bootstrap, but not for approximate randomization:

    >>> references = ["the cat sat on the mat", "a dog barked at the moon", "it rained all day long"]
    >>> good = ["the cat sat on the mat", "a dog barked at the moon", "it rained all day"]
    >>> poor = ["cat on mat", "the dog barks at a moon", "rain all the day"]
    >>> comparison = compare(references, {"poor": poor, "good": good}, test="ar", n_resamples=99)
    >>> [f"{score.system}: {score.score:.1f}" for score in comparison.scores]
    ['poor: 6.0', 'good: 93.9']
    >>> comparison.comparisons[0].test.pvalue  # 2 of 8 shuffles
    0.25

    The first two segments are one document:

    >>> documents = ["a", "a", "b"]
    >>> comparison = compare(references, {"poor": poor, "good": good}, documents=documents, test="ar", n_resamples=99)
    >>> comparison.unit, comparison.n_units
    ('document', 2)

    The same from the columns of a data frame:

    >>> frame = {"ref": references, "poor": poor, "good": good, "talk": documents}
    >>> again = compare(frame, ["poor", "good"], reference="ref", documents="talk", test="ar", n_resamples=99)
    >>> again == comparison
    True
    """
    levels = Levels.for_tests(interval, confidence_level, alpha, test=test)
    chosen = {} if margins is None else margins
    testing = ComparisonSettings(
        test,
        scheme,
        stopping,
        alternative,
        adjust,
        baseline,
        all_pairs,
        family,
        simultaneous,
        with_texts,
        chosen,
        with_parts,
    )
    texts = Texts.from_arguments(references, systems, reference, documents=documents, strata=strata)
    data, units = Data.from_arguments(texts.references, texts.systems, metrics), Units(texts.documents, texts.strata)
    with reported(progress) as watched:
        resampling = Resampling(n_resamples, seed, threads, watched, executor)
        return compared(data, units, testing, levels, resampling)


def score(
    references: References = None,
    systems: Systems = None,
    metrics: Metrics = "bleu",
    *,
    reference: str | Sequence[str] | None = None,
    documents: DocumentIds | None = None,
    strata: StratumIds | None = None,
    interval: types.Interval | str | None = None,
    confidence_level: float | None = None,
    n_resamples: int | Literal["auto"] = 10_000,
    seed: int = 12345,
    threads: int | None = None,
    progress: AnyProgress = None,
) -> Comparison:
    """Score systems against references, with confidence intervals if ``interval`` or ``confidence_level`` is given.

    The parameters are those of :func:`compare`. One system is enough, and without intervals one segment too. If only
    one of ``interval`` and ``confidence_level`` is given, the other has its default there.

    Returns
    -------
    Comparison
        With scores only: ``comparisons`` is empty.

    Raises
    ------
    InputError
        As :func:`compare`, and for ``documents`` or ``strata`` without ``interval`` or ``confidence_level``: only
        intervals depend on them.

    Examples
    --------
    >>> result = score(["the cat sat on the mat"], {"a": ["the cat sat on a mat"]})
    >>> round(result.scores[0].score, 2)
    53.73
    """
    levels = Levels.for_intervals(interval, confidence_level)
    texts = Texts.from_arguments(references, systems, reference, documents=documents, strata=strata)
    data, units = Data.from_arguments(texts.references, texts.systems, metrics), Units(texts.documents, texts.strata)
    with reported(progress) as watched:
        resampling = Resampling(n_resamples, seed, threads, watched)
        return scored(data, units, levels, resampling)


def segment_scores(
    references: References = None,
    systems: Systems = None,
    metrics: Metrics = "bleu",
    *,
    reference: str | Sequence[str] | None = None,
    documents: DocumentIds | None = None,
    threads: int | None = None,
    progress: AnyProgress = None,
) -> SegmentTable:
    """The score of every segment of every system, or of every document.

    The parameters are those of :func:`compare`. One system and one segment are enough. With ``documents``, each
    document is scored by the corpus formula from its summed counts.

    Returns
    -------
    SegmentTable

    Raises
    ------
    InputError
        As :func:`compare`.

    Notes
    -----
    The mean of segment scores is the corpus score only for metrics that are means. Segment BLEU leaves out the n-gram
    orders for which the hypothesis is too short, as sacreBLEU's ``sentence_bleu`` does (``eff:yes`` in the signature).

    Examples
    --------
    >>> table = segment_scores(["the cat sat on the mat", "no"], {"a": ["the cat sat on a mat", "no"]})
    >>> table.scores["BLEU"].round(2)
    array([[ 53.73, 100.  ]])
    """
    texts = Texts.from_arguments(references, systems, reference, documents=documents)
    data = Data.from_arguments(texts.references, texts.systems, metrics)
    grouping, ids = (None, None) if documents is None else Documents.with_names(texts.documents, data.n_segments)
    with reported(progress) as watched:
        if watched is not None:
            watched.plan(counting_steps(data, len(data.names)))
        samples = data.count(data.names, Resampling(threads=threads, progress=watched))
    nrefs = data.n_references
    signatures = [(m.segment_signature if grouping is None else m.signature)(nrefs) for m in data.metrics]
    used = tuple(
        UsedMetric(label, line, m.higher_is_better)
        for label, line, m in zip(data.labels, signatures, data.metrics, strict=True)
    )
    scores = [s.segment_scores(data.names) if grouping is None else s.document_scores(grouping) for s in samples]
    return SegmentTable(
        systems=data.names,
        metrics=used,
        scores=dict(zip(data.labels, scores, strict=True)),
        signature=signature.joined([*signatures, signature.version()]),
        version=_core.VERSION,
        documents=ids,
    )
