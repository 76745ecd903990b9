"""From texts to a comparison: the whole path, in order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import singledispatch
from itertools import combinations
from operator import methodcaller
from typing import Any, NamedTuple, TypeAlias

from . import _core, signature
from ._core import Progress
from .data.corpus import Corpus, Lines
from .errors import InputError, unknown_name, warn
from .inference.caveats import caveats
from .inference.estimates import Estimate
from .inference.hypotheses import Hypotheses
from .inference.intervals import Interval, check_interval
from .inference.multiplicity import experimentwise_error
from .inference.significance import Plan, records, run_of, run_tests
from .lazy import lazy
from .metrics.black_box import CorpusFunction
from .metrics.native import NativeMetric, metric
from .metrics.precomputed import GivenCounts
from .resampling import CountSample, Pairs, Replicates, Sample, TextSample
from .resampling.stopping import AnyRule
from .resampling.units import Documents, Strata
from .results import (
    Comparison,
    ConfidenceInterval,
    PairedDifference,
    SegmentTable,
    SignificanceResult,
    SystemScore,
    UsedMetric,
)
from .settings import Comparing, DocumentIds, Levels, Resampling, StratumIds, Units

__all__ = ["compare", "score", "segment_scores"]

References: TypeAlias = "Sequence[str | None] | Sequence[Sequence[str | None]] | None"
Systems: TypeAlias = "Mapping[str, Lines] | Sequence[Lines] | None"
AnyMetric: TypeAlias = NativeMetric | GivenCounts | CorpusFunction
Metrics: TypeAlias = "str | AnyMetric | Sequence[str | AnyMetric]"


def compare(
    references: References = None,
    systems: Systems = None,
    metrics: Metrics = "bleu",
    *,
    documents: DocumentIds | None = None,
    strata: StratumIds | None = None,
    test: str = "ar",
    scheme: str = "auto",
    stopping: str | AnyRule | None = None,
    n_resamples: int = 10_000,
    baseline: str | None = None,
    all_pairs: bool = False,
    alternative: str = "two-sided",
    adjust: str | None = None,
    interval: str | None = "percentile",
    confidence_level: float = 0.95,
    alpha: float | None = None,
    seed: int = 12345,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Score systems against references and test whether they differ by more than chance.

    Every pair, every metric and every interval uses the same shuffles and the same draws.

    Parameters
    ----------
    references : S references, or columns of S references each
        None stands for a reference that is missing; every segment needs at least one.
    systems : mapping of str to S hypotheses, or sequence of these
        At least two. Without names they are called ``system 1``, ``system 2`` …
    metrics : str, metric, or sequence of these
        By name or from :func:`reshuffle.metric`; or :class:`~reshuffle.SegmentScores`, :class:`~reshuffle.FromCounts`,
        :class:`~reshuffle.OwnTexts` and :class:`~reshuffle.CorpusFunction`. With the first three of these alone no
        texts are needed.
    documents : sequence of S str or int, optional
        The id of each segment's document; segments of a document need not be adjacent. Whole documents are then
        swapped and drawn, and what their segments have in common is reported.
    strata : sequence of S str or int, optional
        The id of each segment's stratum: a part of the test set whose size was fixed when it was made. Draws and
        standard errors are then within strata; shuffles, which swap each segment by itself, stay the same. A document
        must lie in one stratum.
    test : str
        A name in :data:`reshuffle.inference.significance.TESTS`. ``t-test``, ``wilcoxon`` and ``sign-test`` are for
        metrics that are means of segment scores: :class:`~reshuffle.SegmentScores`.
    scheme : {'auto', 'iid', 'subgroup', 'exact'}
        How the test ``ar`` goes through shuffles, as in :func:`reshuffle.approximate_randomization`. It is decided for
        each pair and metric, and the result names it. No other test has one, and adjustments made from shuffles go
        through them by ``iid``.
    stopping : {'besag-clifford', 'gandy'}, BesagClifford or Gandy, optional
        Of test ``ar``, by ``iid``: look at no more shuffles than each pair needs under each metric, and at
        ``n_resamples`` at most. :class:`~reshuffle.BesagClifford` stops at 20 exceedances, :class:`~reshuffle.Gandy` as
        soon as it is decided, with an error of at most .001, whether p ≤ ``alpha``.
    n_resamples : int
        Shuffles for the test and draws for the intervals.
    baseline : str, optional
        The system that the others are compared with; the first one by default.
    all_pairs : bool
        Compare every pair instead.
    alternative : {'two-sided', 'greater', 'less'}
        ``greater``: the system scores higher than the baseline.
    adjust : str, optional
        A name in :data:`reshuffle.inference.multiplicity.ADJUSTMENTS`: also report p-values adjusted for all pairs
        under a metric.
        Of tests that were stopped, ``besag-clifford`` gives p that ``holm`` and ``bonferroni`` can adjust.
    interval : str or None
        A name in :data:`reshuffle.inference.intervals.INTERVALS`, for the scores and the differences; None for no
        intervals.
    confidence_level : float
        Of the intervals.
    alpha : float, optional
        The level of the tests: p-values of at most this are called significant. 1 − ``confidence_level`` by default.
    seed : int
        0 to 2⁶⁴ − 1. The same seed gives the same replicates on any machine and number of threads.
    threads : int, optional
        As many as there are cores by default.
    progress : Progress, optional
        Tells another thread how far the comparison has come.

    Returns
    -------
    Comparison

    Raises
    ------
    InputError
        If the texts do not line up, there are fewer than two systems, segments or documents, a name is unknown, an
        argument is out of range, or the test or the interval is not for one of the metrics.

    Notes
    -----
    ``pvalue`` is that of a single test; ``adjust`` adds ``adjusted_pvalue``. Memory: the counts, 8·k·S·K bytes, and the
    draws, 8·k·R bytes per metric.

    Examples
    --------
    >>> references = ["the cat sat on the mat", "a dog barked at the moon", "it rained all day long"]
    >>> good = ["the cat sat on the mat", "a dog barked at the moon", "it rained all day"]
    >>> poor = ["cat on mat", "the dog barks at a moon", "rain all the day"]
    >>> comparison = compare(references, {"poor": poor, "good": good}, n_resamples=99)
    >>> [f"{score.system}: {score.score:.1f}" for score in comparison.scores]
    ['poor: 6.0', 'good: 93.9']
    >>> 0 < comparison.comparisons[0].test.pvalue <= 1
    True

    Two of the segments are of one document:

    >>> comparison = compare(references, {"poor": poor, "good": good}, documents=["a", "a", "b"], n_resamples=99)
    >>> comparison.unit, comparison.n_units
    ('document', 2)
    """
    levels = Levels.of(interval, confidence_level, alpha)
    testing = Comparing(test, scheme, stopping, alternative, adjust, baseline, all_pairs)
    resampling = Resampling(n_resamples, seed, threads, progress)
    return compared(Data.of(references, systems, metrics), Units(documents, strata), testing, levels, resampling)


def score(
    references: References = None,
    systems: Systems = None,
    metrics: Metrics = "bleu",
    *,
    documents: DocumentIds | None = None,
    strata: StratumIds | None = None,
    interval: str | None = None,
    confidence_level: float | None = None,
    n_resamples: int = 10_000,
    seed: int = 12345,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Score systems against references, with confidence intervals if ``interval`` or ``confidence_level`` is given.

    Parameters are those of :func:`compare`; one system is enough, and one segment too unless intervals are wanted. Of
    ``interval`` and ``confidence_level`` the one that is not given is as there.

    Returns
    -------
    Comparison
        Without comparisons.

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
    levels = Levels.asked(interval, confidence_level)
    resampling = Resampling(n_resamples, seed, threads, progress)
    return scored(Data.of(references, systems, metrics), Units(documents, strata), levels, resampling)


def segment_scores(
    references: References = None,
    systems: Systems = None,
    metrics: Metrics = "bleu",
    *,
    documents: DocumentIds | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> SegmentTable:
    """Score every segment of every system by itself, or every document.

    Parameters are those of :func:`compare`; one system is enough, and one segment too. With ``documents`` the scores
    are those of documents, each by the corpus formula from the sums over its segments.

    Returns
    -------
    SegmentTable

    Raises
    ------
    InputError
        As :func:`compare`.

    Notes
    -----
    The mean of these scores is not the corpus score unless the metric says so. For BLEU, orders for which a hypothesis
    is too short are left out, as sacreBLEU's ``sentence_bleu`` does, and the signature says ``eff:yes``; without
    smoothing most segments would score 0.

    Examples
    --------
    >>> table = segment_scores(["the cat sat on the mat", "no"], {"a": ["the cat sat on a mat", "no"]})
    >>> table.scores["BLEU"].round(2)
    array([[ 53.73, 100.  ]])
    """
    data = Data.of(references, systems, metrics)
    units, ids = (None, None) if documents is None else Documents.named(documents, data.n_segments)
    samples = data.count(data.names, Resampling(threads=threads, progress=progress))
    nrefs = data.n_references
    signatures = [(m.segment_signature if units is None else m.signature)(nrefs) for m in data.metrics]
    used = tuple(
        UsedMetric(label, line, m.higher_is_better)
        for label, line, m in zip(data.labels, signatures, data.metrics, strict=True)
    )
    scores = [s.segment_scores(data.names) if units is None else s.document_scores(units) for s in samples]
    return SegmentTable(
        systems=data.names,
        metrics=used,
        scores=dict(zip(data.labels, scores, strict=True)),
        signature=signature.joined([*signatures, signature.version()]),
        version=_core.VERSION,
        documents=ids,
    )


@singledispatch
def sampled(m: object, names: Sequence[str], corpus: Corpus | None, resampling: Resampling) -> Sample:
    """The outputs of these systems under a metric."""
    raise _no_metric(m)


@sampled.register
def _(m: GivenCounts, names: Sequence[str], corpus: Corpus | None, resampling: Resampling) -> Sample:
    return CountSample.of(m, m.counts_of(names))


@sampled.register
def _(m: NativeMetric, names: Sequence[str], corpus: Corpus | None, resampling: Resampling) -> Sample:
    texts = _texts(m, corpus)
    outputs = {name: texts.systems[name] for name in names}
    threads, progress = resampling.threads, resampling.progress
    return CountSample.of(m, m.suff_stats(outputs, texts.references, threads=threads, progress=progress))


@sampled.register
def _(m: CorpusFunction, names: Sequence[str], corpus: Corpus | None, resampling: Resampling) -> Sample:
    texts = _texts(m, corpus)
    return TextSample(m, [texts.systems[name] for name in names], texts.references)


def _no_metric(m: object) -> InputError:
    return InputError(
        f"a metric is a name, reshuffle.metric(name), SegmentScores, FromCounts, OwnTexts or CorpusFunction, got {m!r}"
    )


def _texts(m: AnyMetric, corpus: Corpus | None) -> Corpus:
    """The texts, which a metric needs."""
    if corpus is None:
        raise _without_texts([m.name])
    return corpus


def _without_texts(metrics: Sequence[str]) -> InputError:
    return InputError(f"{', '.join(metrics)} needs texts: give references and systems")


@dataclass(frozen=True)
class Data:
    """What is to be scored: metrics, and texts unless all metrics bring their counts along."""

    corpus: Corpus | None
    metrics: Sequence[AnyMetric]
    names: tuple[str, ...]
    n_segments: int

    @classmethod
    def of(cls, references: References, systems: Systems, metrics: Metrics) -> Data:
        """From what a caller gave; :class:`InputError` for what does not go together."""
        resolved = _resolved(metrics)
        if references is not None and systems is not None:
            corpus = Corpus.of(references, systems)
            corpus.check()
            _check_detokenized(corpus, resolved)
            return cls(corpus, resolved, tuple(corpus.systems), corpus.n_segments)
        if references is not None or systems is not None:
            there, missing = ("references", "systems") if systems is None else ("systems", "references")
            raise InputError(f"{there} without {missing}: give both, or neither if all scores are given")
        needy = [m.name for m in resolved if not isinstance(m, GivenCounts)]
        if needy:
            raise _without_texts(needy)
        counts = resolved[0].counts
        return cls(None, resolved, tuple(counts), len(next(iter(counts.values()))))

    @lazy
    def labels(self) -> list[str]:
        """What to call the metrics: their names, and what tells those of one name apart.

        >>> bleus = [metric("bleu"), metric("bleu", lowercase=True, tokenize="intl"), metric("chrf")]
        >>> Data.of(["a"], [["a"]], bleus).labels
        ['BLEU case:mixed tok:13a', 'BLEU case:lc tok:intl', 'chrF2']
        """
        parts = [m.signature().split("|")[1:] for m in self.metrics]
        labels = []
        for m, own in zip(self.metrics, parts, strict=True):
            rivals = [others for n, others in zip(self.metrics, parts, strict=True) if n.name == m.name]
            labels.append(" ".join([m.name, *(part for part in own if any(part not in others for others in rivals))]))
        return labels

    @property
    def n_references(self) -> str | None:
        """References per segment as signatures give them."""
        return None if self.corpus is None else self.corpus.n_references

    def count(self, names: Sequence[str], resampling: Resampling) -> list[Sample]:
        """The counts of these systems under every metric."""
        samples = [sampled(m, names, self.corpus, resampling) for m in self.metrics]
        for sample in samples:
            if sample.n_units != self.n_segments:
                other = samples[0].metric.name if self.corpus is None else "the texts"
                raise InputError(
                    f"{sample.metric.name} has {sample.n_units:,} segments, {other} {self.n_segments:,}: they must be "
                    "the same"
                )
        return samples


def _resolved(metrics: Metrics) -> list[Any]:
    """Metrics that can be told apart, by name or as they are."""
    chosen = list(metrics) if isinstance(metrics, Sequence) and not isinstance(metrics, str) else [metrics]
    resolved: list[Any] = [metric(m) if isinstance(m, str) else m for m in chosen]
    if not resolved:
        raise InputError("no metrics: at least one is needed")
    for m in resolved:
        if not isinstance(m, NativeMetric | GivenCounts | CorpusFunction):
            raise _no_metric(m)
    signatures = [m.signature() for m in resolved]
    if len(set(signatures)) < len(signatures):
        raise InputError(f"the same metric is given twice: {', '.join(signatures)}")
    for m in resolved:
        # Two native ones are told apart by their options.
        if not isinstance(m, NativeMetric) and [n.name for n in resolved].count(m.name) > 1:
            raise InputError(f"two metrics are called {m.name}: give the one that is not counted here another name")
    return resolved


# As sacreBLEU 2.6.0 counts them (sacrebleu/metrics/base.py).
TOKENIZED_PERIODS = 100
_ends_tokenized = methodcaller("endswith", " .")


def _check_detokenized(corpus: Corpus, metrics: Sequence[AnyMetric]) -> None:
    """Warn of outputs that seem to be tokenized already if a metric tokenizes them."""
    tokenizing = [m for m in metrics if isinstance(m, NativeMetric) and m.tokenizes]
    if not tokenizing:
        return
    for name, lines in corpus.systems.items():
        try:
            n = sum(map(_ends_tokenized, lines))
        except (AttributeError, TypeError):  # not strings: counting raises the error
            return
        if n >= TOKENIZED_PERIODS:
            warn(
                f"{n:,} segments of the system {name!r} end in a tokenized period (' .'), but {tokenizing[0].name} "
                "tokenizes texts itself: detokenize them, or turn its tokenizer off (tokenize 'none')"
            )


class Resampled(NamedTuple):
    """The replicates of some systems, and their outputs by segment even if documents are the unit."""

    names: tuple[str, ...]
    by_segment: Sequence[Sample]
    documents: Documents | None
    replicates: Replicates

    @classmethod
    def of(cls, data: Data, names: tuple[str, ...], units: Units, resampling: Resampling) -> Resampled:
        """Count these systems, and add up what is swapped and drawn together."""
        documents = None if units.documents is None else Documents.of(units.documents, data.n_segments)
        strata = None if units.strata is None else Strata.of(units.strata, data.n_segments, documents)
        samples = by_segment = data.count(names, resampling)
        if documents is not None:
            samples = [sample.by(documents) for sample in samples]
        if strata is not None:
            samples = [sample.within(strata) for sample in samples]
        return cls(names, by_segment, documents, Replicates.of(samples, resampling))

    def effects(self, pairs: Pairs) -> list[tuple[float | None, float | None]]:
        """Intraclass correlation and design effect, metric by metric, pair by pair; None without documents."""
        if self.documents is None:
            return [(None, None)] * (len(self.by_segment) * len(pairs))
        return [effect for sample in self.by_segment for effect in sample.document_effects(self.documents, pairs)]


class Inferred(NamedTuple):
    """What was found out beyond the scores."""

    replicates: Replicates
    levels: Levels
    interval: Interval | None
    plan: Plan | None = None
    baseline: str | None = None
    comparisons: Sequence[PairedDifference] = ()

    @property
    def resampled(self) -> bool:
        """Does anything depend on chance?"""
        of_draws = self.interval is not None and self.interval.draws
        return of_draws or any(pair.test.seed is not None for pair in self.comparisons)

    @property
    def run(self) -> signature.Run:
        """What signatures tell of it."""
        tests = [pair.test for pair in self.comparisons]
        seed = self.replicates.seed if self.resampled else None
        strata = self.replicates.strata
        run = signature.Run() if self.plan is None else run_of(self.plan, self.replicates, _schemes(tests), seed)
        return run._replace(
            interval=None
            if self.interval is None
            else signature.of_interval(self.interval.name, self.levels.confidence_level),
            strata=None if strata is None else strata.n_strata,
            unit=self.replicates.unit,
            units=self.replicates.n_units,
            n=self.replicates.n_resamples,
            seed=seed,
        )

    def interval_of(self, m: int, a: int, b: int | None = None) -> ConfidenceInterval | None:
        """That of a system's score or of a difference, if intervals were asked for."""
        if self.interval is None:
            return None
        level, known = self.levels.confidence_level, self.replicates.samples[m].known
        low, high = self.interval.ends(Estimate(self.replicates, m, a, b), level)
        return ConfidenceInterval(known(low), known(high), level, self.interval.name)


def compared(data: Data, units: Units, testing: Comparing, levels: Levels, resampling: Resampling) -> Comparison:
    """Test whether systems differ: see :func:`compare`."""
    plan = Plan.of(testing, *data.metrics, alpha=levels.alpha)
    interval = None if levels.interval is None else check_interval(levels.interval, *data.metrics)
    names, baseline = _in_order(data.names, testing)
    resampled = Resampled.of(data, names, units, resampling)
    replicates = resampled.replicates
    # Pairs are (system, baseline): a positive difference means that the system scores higher.
    pairs = [(y, x) for x, y in combinations(range(len(names)), 2) if baseline is None or x == 0]
    if interval is not None and interval.draws:
        _ = replicates.draws  # first: if they do not fit in memory, that should show before the tests are run
    hypotheses = Hypotheses.of_pairs(pairs, len(data.metrics))
    outcome = run_tests(plan, [replicates], hypotheses)
    tests = records(plan, [replicates], hypotheses, outcome, data.labels, data.n_references)
    found = Inferred(replicates, levels, interval, plan, baseline)
    places = zip(hypotheses.metric.tolist(), hypotheses.a.tolist(), hypotheses.b.tolist(), strict=True)
    comparisons = [
        PairedDifference(
            baseline=names[b],
            system=names[a],
            metric=data.labels[m],
            test=replace(test, statistic=replicates.samples[m].known(test.statistic)),
            confidence_interval=found.interval_of(m, a, b),
            intraclass_correlation=correlation,
            design_effect=effect,
        )
        for (m, a, b), test, (correlation, effect) in zip(places, tests, resampled.effects(pairs), strict=True)
    ]
    return _comparison(data, names, replicates.samples, found._replace(comparisons=comparisons))


def _in_order(names: tuple[str, ...], testing: Comparing) -> tuple[tuple[str, ...], str | None]:
    """The systems with the baseline first, and the baseline; None if every pair is compared."""
    baseline = testing.baseline
    if len(names) < 2:
        raise InputError(f"only one system ({names[0]}): a comparison needs at least two")
    if testing.all_pairs and baseline is not None:
        raise InputError("a baseline and all pairs exclude each other: leave one of them out")
    if testing.all_pairs:
        return names, None
    baseline = names[0] if baseline is None else baseline
    if baseline not in names:
        raise unknown_name("baseline", baseline, names)
    return (baseline, *(name for name in names if name != baseline)), baseline


def scored(data: Data, units: Units, levels: Levels | None, resampling: Resampling) -> Comparison:
    """Score systems, with intervals if there are levels: see :func:`score`."""
    if levels is None or levels.interval is None:
        for name, ids in (("documents", units.documents), ("strata", units.strata)):
            if ids is not None:
                raise InputError(f"{name} without intervals: only intervals depend on them; leave {name} out")
        return _comparison(data, data.names, data.count(data.names, resampling))
    interval = check_interval(levels.interval, *data.metrics)
    replicates = Resampled.of(data, data.names, units, resampling).replicates
    return _comparison(data, data.names, replicates.samples, Inferred(replicates, levels, interval))


def _schemes(tests: Sequence[SignificanceResult]) -> str | None:
    """The schemes of all tests, as a signature names them."""
    schemes = {(test.scheme, test.n_resamples) for test in tests}
    # A subgroup is the same for all. Exact tests differ in their numbers of patterns, and there may be many of them.
    names = {signature.of_scheme(s, n.bit_length() - 1) if s == "subgroup" and n else s for s, n in schemes if s}
    return "+".join(sorted(names)) if names - {"iid"} else None


def _comparison(
    data: Data, names: tuple[str, ...], samples: Sequence[Sample], found: Inferred | None = None
) -> Comparison:
    """The record of everything."""
    scores = [
        SystemScore(
            system=name,
            metric=label,
            score=sample.known(float(sample.scores[s])),
            confidence_interval=None if found is None else found.interval_of(m, s),
            details=sample.details(s),
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


def _with_inference(scores: Comparison, found: Inferred) -> Comparison:
    """The record of scores with that of intervals and tests."""
    strata = found.replicates.strata
    n_tests = len(found.comparisons)
    inferred = replace(
        scores,
        comparisons=tuple(found.comparisons),
        baseline=found.baseline,
        test=None if found.plan is None else found.plan.used,
        interval=None if found.interval is None else found.interval.used,
        experimentwise_error=experimentwise_error(found.levels.alpha, n_tests) if n_tests else None,
        n_strata=None if strata is None else strata.n_strata,
        n_resamples=found.replicates.n_resamples if found.resampled else None,
        confidence_level=found.levels.confidence_level,
        alpha=found.levels.alpha,
        seed=found.replicates.seed if found.resampled else None,
    )
    return replace(inferred, caveats=caveats(inferred))
