"""``compare``, ``score`` and ``segment_scores``: from texts to results, step by step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Literal, NamedTuple

from . import _core, signature, types
from ._core import Progress
from .data.columns import Texts
from .errors import InputError, unknown_name
from .inference.caveats import with_caveats
from .inference.enough import automatic
from .inference.estimates import Estimate
from .inference.hypotheses import Hypotheses, Outcome, family_size
from .inference.intervals import Interval, check_interval
from .inference.multiplicity import experimentwise_error, per_comparison_level
from .inference.tests import Plan, records, run_signature, run_tests
from .resampling import Pairs, Replicates, Sample
from .resampling.counting import Data, Metrics, References, Systems
from .resampling.stopping import AnyRule
from .resampling.units import Documents, Strata
from .results import (
    Comparison,
    ConfidenceInterval,
    Exchangeability,
    PairedDifference,
    SegmentTable,
    SignificanceResult,
    SystemScore,
    UsedMetric,
)
from .settings import ComparisonSettings, DocumentIds, Levels, Resampling, StratumIds, Units

__all__ = ["compare", "score", "segment_scores"]


def compare(
    references: References = None,
    systems: Systems = None,
    metrics: Metrics = "bleu",
    *,
    reference: str | Sequence[str] | None = None,
    documents: DocumentIds | None = None,
    strata: StratumIds | None = None,
    test: types.Test | str = "bootstrap-both",
    scheme: types.Scheme | str = "auto",
    stopping: types.Stopping | str | AnyRule | None = None,
    n_resamples: int | Literal["auto"] = 10_000,
    baseline: str | None = None,
    all_pairs: bool = False,
    alternative: types.Alternative | str = "two-sided",
    adjust: types.Adjustment | str | None = "auto",
    family: types.Family | str = "metric",
    interval: types.Interval | str | None = "percentile",
    confidence_level: float = 0.95,
    simultaneous: bool = False,
    alpha: float | None = None,
    seed: int = 12345,
    threads: int | None = None,
    progress: Progress | None = None,
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
        ``references`` is a data frame with S rows, and this is its column of references, or several columns, in which
        null stands for a missing reference. ``systems`` are then names of columns, or a mapping from names of systems
        to names of columns; ``documents`` and ``strata`` may also be names of columns. A data frame is one of pandas or
        polars, an Arrow table, a structured numpy array, or a dict of columns.
    documents : sequence of S str or int, optional
        The document id of each segment; the segments of a document need not be adjacent. Whole documents are then
        resampled, and the intraclass correlation and design effect are reported.
    strata : sequence of S str or int, optional
        The stratum id of each segment. A stratum is a part of the test set whose size was fixed by design. Bootstrap
        draws and standard errors are then stratified; shuffles are not affected, because they swap within a segment.
        All segments of a document must be in the same stratum.
    test : str
        A name in :data:`reshuffle.inference.tests.TESTS`. The default, ``bootstrap-both``, tests whether the expected
        scores are equal. ``ar`` (approximate randomization) tests exchangeability and is exact for any number of
        segments; use it or ``ar-studentized`` with fewer than about 40 segments or documents. ``t-test``, ``wilcoxon``
        and ``sign-test`` are for metrics that are means of segment scores: :class:`~reshuffle.SegmentScores`.
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
    alternative : {'two-sided', 'greater', 'less'}
        ``greater``: the alternative hypothesis is that the system scores higher than the baseline.
    adjust : str or None
        How p-values are adjusted for multiple tests: a name in :data:`reshuffle.inference.multiplicity.ADJUSTMENTS`, or
        ``none`` or None for p-values that are not adjusted. The default, ``auto``, is step-down ``maxt``, or ``tukey``
        for ``anova`` and ``permutation`` (with family ``metric``). It is ``holm`` for other tests without ``maxt``,
        with the schemes ``exact`` and ``subgroup``, with ``besag-clifford``, and if every family has only one test. A
        single test, and tests stopped by ``gandy``, are not adjusted.
    family : {'metric', 'all'}
        Which tests are adjusted together: the pairs under each metric, or all pairs under all metrics.
    interval : str or None
        A name in :data:`reshuffle.inference.intervals.INTERVALS`, for scores and differences. None for no intervals.
    confidence_level : float
        Confidence level of the intervals.
    simultaneous : bool
        Make the intervals of the differences simultaneous: with probability ``confidence_level``, all intervals of a
        family contain their true differences. They use the statistic and the replicates that decide about stars, so
        every difference whose interval excludes 0 has a star. For the two-sided tests ``bootstrap-both``,
        ``bootstrap``, ``bootstrap-percentile`` and ``ar-studentized`` with ``maxt``, and for ``anova`` with ``tukey``
        or ``scheffe``. ``interval`` is then the interval of the scores, ``percentile``.
    alpha : float, optional
        Significance level of the tests. 1 − ``confidence_level`` by default.
    seed : int
        0 to 2⁶⁴ − 1. The same seed gives the same result on any machine and any number of threads.
    threads : int, optional
        One per core by default.
    progress : Progress, optional
        Lets another thread read how far the comparison has come.

    Returns
    -------
    Comparison

    Raises
    ------
    InputError
        If the texts differ in length, there are fewer than two systems, segments or documents, a name is unknown, an
        argument is out of range, or the test or the interval does not support one of the metrics.

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
    levels = Levels.for_tests(interval, confidence_level, alpha)
    testing = ComparisonSettings(test, scheme, stopping, alternative, adjust, baseline, all_pairs, family, simultaneous)
    resampling = Resampling(n_resamples, seed, threads, progress)
    texts = Texts.from_arguments(references, systems, reference, documents=documents, strata=strata)
    data, units = Data.from_arguments(texts.references, texts.systems, metrics), Units(texts.documents, texts.strata)
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
    progress: Progress | None = None,
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
    resampling = Resampling(n_resamples, seed, threads, progress)
    texts = Texts.from_arguments(references, systems, reference, documents=documents, strata=strata)
    data, units = Data.from_arguments(texts.references, texts.systems, metrics), Units(texts.documents, texts.strata)
    return scored(data, units, levels, resampling)


def segment_scores(
    references: References = None,
    systems: Systems = None,
    metrics: Metrics = "bleu",
    *,
    reference: str | Sequence[str] | None = None,
    documents: DocumentIds | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
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
    samples = data.count(data.names, Resampling(threads=threads, progress=progress))
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


class Resampled(NamedTuple):
    """The systems of one call and their replicates.

    ``by_segment`` has a sample for each metric, whose units are segments even if whole documents are resampled.
    """

    names: tuple[str, ...]
    by_segment: Sequence[Sample]
    documents: Documents | None
    replicates: Replicates

    @classmethod
    def from_data(
        cls, data: Data, names: tuple[str, ...], units: Units, resampling: Resampling, pairs: Pairs = ()
    ) -> Resampled:
        """Count these systems, of which ``pairs`` are compared, and sum the counts of each document if need be."""
        documents = None if units.documents is None else Documents.from_ids(units.documents, data.n_segments)
        strata = None if units.strata is None else Strata.from_ids(units.strata, data.n_segments, documents)
        samples = by_segment = [sample.for_pairs(pairs) for sample in data.count(names, resampling)]
        if documents is not None:
            samples = [sample.by_document(documents) for sample in samples]
        if strata is not None:
            samples = [sample.stratified(strata) for sample in samples]
        return cls(names, by_segment, documents, Replicates.from_settings(samples, resampling))

    def effects(self, pairs: Pairs) -> list[tuple[float | None, float | None]]:
        """Intraclass correlation and design effect, metric by metric, pair by pair; (None, None) without documents."""
        if self.documents is None:
            return [(None, None)] * (len(self.by_segment) * len(pairs))
        return [
            effect
            for sample in self.by_segment
            for effect in sample.document_effects(self.documents, sample.rows_of(pairs))
        ]

    def exchangeability(self, plan: Plan, pairs: Pairs) -> list[Exchangeability | None]:
        """Whether outputs are exchangeable, metric by metric, pair by pair; None if the test does not need that.

        None, too, if the test needs more than two systems to be exchangeable, which this does not check.
        """
        all_systems = plan.test.liberal_family is not None and len(self.names) > 2
        if all_systems or not plan.test.needs_exchangeable:
            return [None] * (len(self.by_segment) * len(pairs))
        return [found for sample in self.replicates.samples for found in sample.exchangeability(sample.rows_of(pairs))]


class Inferred(NamedTuple):
    """The results beyond the scores: tests and intervals."""

    replicates: Replicates
    levels: Levels
    interval: Interval | None
    plan: Plan | None = None
    baseline: str | None = None
    comparisons: Sequence[PairedDifference] = ()
    # The number of replicates that would be enough, if the number was chosen by "auto".
    enough: int | None = None

    @property
    def resampled(self) -> bool:
        """Does any result depend on random replicates?"""
        of_draws = self.interval is not None and self.interval.draws
        return of_draws or any(pair.test.seed is not None for pair in self.comparisons)

    @property
    def simultaneous(self) -> bool:
        """Are the intervals of differences simultaneous?"""
        return self.plan is not None and self.plan.simultaneous is not None

    @property
    def run(self) -> signature.Run:
        """The part of the signature that describes the test, the interval and the replicates."""
        tests = [pair.test for pair in self.comparisons]
        seed = self.replicates.seed if self.resampled else None
        strata = self.replicates.strata
        run = signature.Run() if self.plan is None else run_signature(self.plan, self.replicates, _schemes(tests), seed)
        return run._replace(
            interval=None
            if self.interval is None
            else signature.for_interval(self.interval.name, self.levels.confidence_level, self.simultaneous),
            strata=None if strata is None else strata.n_strata,
            unit=self.replicates.unit,
            units=self.replicates.n_units,
            n=self.replicates.n_resamples,
            seed=seed,
        )

    def interval_of(self, m: int, a: int, b: int | None = None) -> ConfidenceInterval | None:
        """The interval of system a's score under metric m, or with b that of the difference a − b.

        All are indices, a and b those of rows of the sample. None if no intervals were requested.
        """
        if self.interval is None:
            return None
        scheme = "auto" if self.plan is None else self.plan.shuffling.scheme
        estimate = Estimate(self.replicates, m, a, b, scheme)
        return self._rounded(m, self.interval.confidence_interval(estimate, self.levels.confidence_level))

    def of_differences(
        self, outcome: Outcome, rows: Sequence[tuple[int, tuple[int, int]]]
    ) -> list[ConfidenceInterval | None]:
        """The intervals of the differences between two rows of a sample, which are simultaneous if the outcome is."""
        if outcome.low is None or outcome.high is None:
            return [self.interval_of(m, *pair) for m, pair in rows]
        level, ends = self.levels.confidence_level, zip(outcome.low.tolist(), outcome.high.tolist(), strict=True)
        return [
            self._rounded(m, ConfidenceInterval(low, high, level, "simultaneous"))
            for (m, _), (low, high) in zip(rows, ends, strict=True)
        ]

    def _rounded(self, m: int, interval: ConfidenceInterval) -> ConfidenceInterval:
        round_score = self.replicates.samples[m].round_score
        return replace(interval, low=round_score(interval.low), high=round_score(interval.high))


def compared(
    data: Data, units: Units, testing: ComparisonSettings, levels: Levels, resampling: Resampling
) -> Comparison:
    """Test whether systems differ: see :func:`compare`."""
    names, baseline = _in_order(data.names, testing)
    # Pairs are (system, baseline): a positive difference means that the system scores higher.
    pairs = [(y, x) for x, y in combinations(range(len(names)), 2) if baseline is None or x == 0]
    plan, interval = _planned(data, testing, levels, len(pairs))
    size = family_size(plan.family, len(pairs), len(data.metrics))
    resampling, enough = _with_number(resampling, plan.enough_replicates(size, levels.alpha), interval, levels)
    resampled = Resampled.from_data(data, names, units, resampling, pairs)
    replicates = resampled.replicates
    if interval is not None and interval.draws:
        _ = replicates.draws  # now, so that running out of memory shows before the tests have run
    hypotheses = Hypotheses.from_pairs(pairs, len(data.metrics), family=plan.family)
    outcome = run_tests(plan, [replicates], hypotheses)
    tests = records(plan, [replicates], hypotheses, outcome, data.labels, data.n_references)
    found = Inferred(replicates, levels, interval, plan, baseline, enough=enough)
    rows = [(m, own) for m, sample in enumerate(replicates.samples) for own in sample.rows_of(pairs)]
    comparisons = [
        PairedDifference(
            baseline=names[b],
            system=names[a],
            metric=data.labels[m],
            test=replace(test, statistic=replicates.samples[m].round_score(test.statistic)),
            confidence_interval=confidence_interval,
            n_segments=_n_scored(resampled.by_segment[m], own),
            n_units=_n_scored(replicates.samples[m], own),
            intraclass_correlation=correlation,
            design_effect=effect,
            exchangeability=exchangeability,
        )
        for (a, b), (m, own), test, confidence_interval, (correlation, effect), exchangeability in zip(
            pairs * len(data.metrics),
            rows,
            tests,
            found.of_differences(outcome, rows),
            resampled.effects(pairs),
            resampled.exchangeability(plan, pairs),
            strict=True,
        )
    ]
    return _comparison(data, names, resampled.by_segment, found._replace(comparisons=comparisons))


def _planned(data: Data, testing: ComparisonSettings, levels: Levels, n_pairs: int) -> tuple[Plan, Interval | None]:
    """The test and the interval, checked to be compatible."""
    plan = Plan.from_settings(testing, *data.metrics, alpha=levels.alpha, n_pairs=n_pairs)
    interval = None if levels.interval is None else check_interval(levels.interval, *data.metrics, test=plan.test.name)
    if interval is not None and interval.inverts is not None:
        plan = plan.for_inversion(interval.name)
    return (plan.for_simultaneous(interval, levels) if testing.simultaneous else plan), interval


def _with_number(
    resampling: Resampling, for_test: int | None, interval: Interval | None, levels: Levels
) -> tuple[Resampling, int | None]:
    """The settings with a number of replicates. If that was ``auto``, also the number that would be enough."""
    number, enough = automatic(for_test, None if interval is None else interval.enough_draws(levels.confidence_level))
    with_number = resampling.with_number(number)
    return with_number, None if with_number.n_resamples == resampling.n_resamples else enough


def _in_order(names: tuple[str, ...], testing: ComparisonSettings) -> tuple[tuple[str, ...], str | None]:
    """The systems with the baseline first, and the baseline, which is None if every pair is compared."""
    baseline = testing.baseline
    if len(names) < 2:
        raise InputError(f"only one system ({names[0]}): a comparison needs at least two")
    if testing.all_pairs and baseline is not None:
        raise InputError("a baseline and all pairs cannot be combined: leave one of them out")
    if testing.all_pairs:
        return names, None
    baseline = names[0] if baseline is None else baseline
    if baseline not in names:
        raise unknown_name("baseline", baseline, names)
    return (baseline, *(name for name in names if name != baseline)), baseline


def scored(data: Data, units: Units, levels: Levels | None, resampling: Resampling) -> Comparison:
    """Score systems, with intervals unless ``levels`` is None: see :func:`score`."""
    if levels is None or levels.interval is None:
        for name, ids in (("documents", units.documents), ("strata", units.strata)):
            if ids is not None:
                raise InputError(f"{name} without intervals: only intervals depend on them; leave {name} out")
        return _comparison(data, data.names, data.count(data.names, resampling))
    interval = check_interval(levels.interval, *data.metrics, test=None)
    resampling, enough = _with_number(resampling, None, interval, levels)
    resampled = Resampled.from_data(data, data.names, units, resampling)
    found = Inferred(resampled.replicates, levels, interval, enough=enough)
    return _comparison(data, data.names, resampled.by_segment, found)


def _schemes(tests: Sequence[SignificanceResult]) -> str | None:
    """The schemes of all tests, as a signature names them; None if there is no other than ``iid``."""
    schemes = {(test.scheme, test.n_resamples) for test in tests}
    # A subgroup has the same size in all tests, so the signature can name it. Exact tests have different numbers of
    # patterns, too many to list.
    names = {signature.for_scheme(s, n.bit_length() - 1) if s == "subgroup" and n else s for s, n in schemes if s}
    return "+".join(sorted(names)) if names - {"iid"} else None


def _n_scored(sample: Sample, rows: Sequence[int]) -> int:
    """The number of units in which all these systems have scores."""
    units = sample.scored_units(rows)
    return sample.n_units if units is None else len(units)


def _comparison(
    data: Data, names: tuple[str, ...], by_segment: Sequence[Sample], found: Inferred | None = None
) -> Comparison:
    """The result, with tests and intervals if there are any."""
    samples = by_segment if found is None else found.replicates.samples
    scores = [
        SystemScore(
            system=name,
            metric=label,
            score=sample.round_score(float(sample.scores[s])),
            confidence_interval=None if found is None else found.interval_of(m, s),
            details=sample.details(s),
            n_segments=_n_scored(by_segment[m], [s]),
        )
        for m, (label, sample) in enumerate(zip(data.labels, samples, strict=True))
        for s, name in enumerate(names)
    ]
    metrics = [
        UsedMetric(label, m.signature(data.n_references), m.higher_is_better, sample.evaluations)
        for label, m, sample in zip(data.labels, data.metrics, samples, strict=True)
    ]
    base = Comparison(
        systems=names,
        metrics=tuple(metrics),
        scores=tuple(scores),
        n_segments=data.n_segments,
        n_references=0 if data.corpus is None else len(data.corpus.references),
        unit=samples[0].unit,
        n_units=samples[0].n_units,
        signature=signature.joined(
            [*(m.signature for m in metrics), (signature.Run() if found is None else found.run).line]
        ),
        version=_core.VERSION,
    )
    return base if found is None else _with_inference(base, found)


def _with_inference(base: Comparison, found: Inferred) -> Comparison:
    """A result that has only scores so far, with tests and intervals added."""
    strata = found.replicates.strata
    n_tests = len(found.comparisons)
    inferred = replace(
        base,
        comparisons=tuple(found.comparisons),
        baseline=found.baseline,
        test=None if found.plan is None else found.plan.used,
        interval=None if found.interval is None else replace(found.interval.used, simultaneous=found.simultaneous),
        experimentwise_error=experimentwise_error(found.levels.alpha, n_tests) if n_tests else None,
        per_comparison_level=per_comparison_level(found.levels.alpha, n_tests) if n_tests else None,
        n_strata=None if strata is None else strata.n_strata,
        n_resamples=found.replicates.n_resamples if found.resampled else None,
        confidence_level=found.levels.confidence_level,
        alpha=found.levels.alpha,
        seed=found.replicates.seed if found.resampled else None,
    )
    return with_caveats(inferred, found.enough, found.plan is not None and found.plan.unadjusted_by_rule)
