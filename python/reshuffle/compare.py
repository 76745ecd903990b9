"""From texts to a comparison: the whole path, in order."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from operator import methodcaller
from typing import Any, TypeAlias

from . import _core
from ._core import Progress
from .corpus import Corpus, Lines
from .errors import InputError, check_level, unknown_name, warn
from .estimates import Estimate
from .given import CorpusFunction, GivenCounts
from .intervals import Interval, check_interval
from .lazy import lazy
from .metrics import Metric, NativeMetric, Scores, metric
from .multiplicity import check_adjustment, experimentwise_error
from .resampling import AnyFamily, Family, Pairs, Replicates, TextFamily
from .results import Comparison, ConfidenceInterval, PairedDifference, SegmentTable, SystemScore, UsedMetric, UsedTest
from .schemes import scheme_name
from .significance import check_shuffling, check_test, run_signature, run_test
from .stopping import AnyRule
from .units import DocumentIds, Documents, Strata, StratumIds, document_effect, paired_influences

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
        A name in :data:`reshuffle.significance.TESTS`. ``t-test``, ``wilcoxon`` and ``sign-test`` are for metrics
        that are means of segment scores: :class:`~reshuffle.SegmentScores`.
    scheme : {'auto', 'iid', 'subgroup', 'exact'}
        How the test ``ar`` goes through shuffles, as in :func:`reshuffle.approximate_randomization`. It is decided for
        each pair and metric, and the result names it. No other test has one, and adjustments made from shuffles go
        through them by ``iid``.
    stopping : {'besag-clifford', 'gandy'}, BesagClifford or Gandy, optional
        Of test ``ar``, by ``iid``: look at no more shuffles than each pair needs under each metric, and at
        ``n_resamples`` at most. :class:`~reshuffle.BesagClifford` stops at 20 exceedances, :class:`~reshuffle.Gandy` as
        soon as it is decided, with an error of at most .001, whether p ≤ 1 − ``confidence_level``.
    n_resamples : int
        Shuffles for the test and draws for the intervals.
    baseline : str, optional
        The system that the others are compared with; the first one by default.
    all_pairs : bool
        Compare every pair instead.
    alternative : {'two-sided', 'greater', 'less'}
        ``greater``: the system scores higher than the baseline.
    adjust : str, optional
        A name in :data:`reshuffle.multiplicity.ADJUSTMENTS`: gives p-values adjusted for all pairs under a metric, too.
        Of tests that were stopped, ``besag-clifford`` gives p that ``holm`` and ``bonferroni`` can adjust.
    interval : str or None
        A name in :data:`reshuffle.intervals.INTERVALS`, for the scores and the differences; None for no intervals.
    confidence_level : float
        Of the intervals; 1 − the level at which p-values are called significant.
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
    confidence_level = check_level("confidence_level", confidence_level)
    data = _Data.of(references, systems, metrics)
    chosen = check_test(test, alternative, *data.metrics)
    adjustment = check_adjustment(adjust, chosen.name, chosen.replicates == "shuffles")
    shuffling = check_shuffling(scheme, stopping, chosen, adjustment, round(1 - confidence_level, 12))
    used = None if interval is None else check_interval(interval, *data.metrics)
    names = data.names
    if len(names) < 2:
        raise InputError(f"only one system ({names[0]}): a comparison needs at least two")
    if all_pairs and baseline is not None:
        raise InputError("a baseline and all pairs exclude each other: leave one of them out")
    if baseline is not None and baseline not in names:
        raise unknown_name("baseline", baseline, names)
    if not all_pairs:
        baseline = names[0] if baseline is None else baseline
        names = (baseline, *(name for name in names if name != baseline))

    units = None if documents is None else Documents.of(documents, data.n_segments)
    groups = None if strata is None else Strata.of(strata, data.n_segments, units)
    by_segment = data.count(names, threads, progress)
    families = _resampled_by(by_segment, units, groups)
    replicates = Replicates(families, n_resamples=n_resamples, seed=seed, threads=threads, progress=progress)
    # Pairs are (system, baseline): a positive difference means that the system scores higher.
    pairs = [(y, x) for x, y in combinations(range(len(names)), 2) if all_pairs or x == 0]
    if used is not None and used.draws:
        _ = replicates.draws  # first: if they do not fit in memory, that should show before the tests are run
    results = run_test(chosen, replicates, pairs, alternative, adjustment, shuffling, data.labels, data.n_references)
    effects = [_document_effects(family, units, pairs) for family in by_segment]
    comparisons = [
        PairedDifference(
            baseline=names[b],
            system=names[a],
            metric=label,
            test=replace(result, statistic=_known(data.metrics[m], result.statistic)),
            confidence_interval=_interval(used, replicates, confidence_level, m, a, b),
            intraclass_correlation=correlation,
            design_effect=effect,
        )
        for m, (label, of_metric, effects_of_metric) in enumerate(zip(data.labels, results, effects, strict=True))
        for (a, b), result, (correlation, effect) in zip(pairs, of_metric, effects_of_metric, strict=True)
    ]
    record = UsedTest(
        chosen.name,
        chosen.title,
        alternative,
        chosen.replicates,
        adjustment=None if adjustment is None else adjustment.name,
        adjustment_title=None if adjustment is None else adjustment.title,
        stopping=None if shuffling.stopping is None else shuffling.stopping.signature,
    )
    return _comparison(data, names, families, replicates, used, confidence_level, baseline, record, comparisons)


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
    data = _Data.of(references, systems, metrics)
    names = data.names
    if interval is None and confidence_level is None:
        for name, ids in (("documents", documents), ("strata", strata)):
            if ids is not None:
                raise InputError(f"{name} without intervals: only intervals depend on them; leave {name} out")
        return _comparison(data, names, data.count(names, threads, progress))
    used = check_interval("percentile" if interval is None else interval, *data.metrics)
    confidence_level = check_level("confidence_level", 0.95 if confidence_level is None else confidence_level)
    units = None if documents is None else Documents.of(documents, data.n_segments)
    groups = None if strata is None else Strata.of(strata, data.n_segments, units)
    families = _resampled_by(data.count(names, threads, progress), units, groups)
    replicates = Replicates(families, n_resamples=n_resamples, seed=seed, threads=threads, progress=progress)
    return _comparison(data, names, families, replicates, used, confidence_level)


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
    data = _Data.of(references, systems, metrics)
    units, names = (None, None) if documents is None else Documents.named(documents, data.n_segments)
    families = data.count(data.names, threads, progress)
    nrefs = data.n_references
    signatures = [(f.metric.segment_signature if units is None else f.metric.signature)(nrefs) for f in families]
    used = tuple(
        UsedMetric(label, signature, f.metric.higher_is_better)
        for label, signature, f in zip(data.labels, signatures, families, strict=True)
    )

    def scored(m: AnyMetric, family: AnyFamily) -> Scores:
        if units is not None:
            return family.document_scores(units)
        if isinstance(m, GivenCounts):
            return m.segment_scores_of(data.names)
        return family.segment_scores if m.decimals is None else family.segment_scores.round(m.decimals)

    scores = [scored(m, f) for m, f in zip(data.metrics, families, strict=True)]
    return SegmentTable(
        systems=data.names,
        metrics=used,
        scores=dict(zip(data.labels, scores, strict=True)),
        signature="|".join([*signatures, f"version:reshuffle-{_core.VERSION}"]),
        version=_core.VERSION,
        documents=names,
    )


@dataclass(frozen=True)
class _Data:
    """What is to be scored: metrics, and texts unless all metrics bring their counts along."""

    corpus: Corpus | None
    metrics: Sequence[AnyMetric]
    names: tuple[str, ...]

    @classmethod
    def of(cls, references: References, systems: Systems, metrics: Metrics) -> _Data:
        chosen = list(metrics) if isinstance(metrics, Sequence) and not isinstance(metrics, str) else [metrics]
        resolved: list[Any] = [metric(m) if isinstance(m, str) else m for m in chosen]
        if not resolved:
            raise InputError("no metrics: at least one is needed")
        for m in resolved:
            if not isinstance(m, NativeMetric | GivenCounts | CorpusFunction):
                raise InputError(
                    "a metric is a name, reshuffle.metric(name), SegmentScores, FromCounts, OwnTexts or "
                    f"CorpusFunction, got {m!r}"
                )
        signatures = [m.signature() for m in resolved]
        if len(set(signatures)) < len(signatures):
            raise InputError(f"the same metric is given twice: {', '.join(signatures)}")
        for m in resolved:
            # Two native ones are told apart by their options.
            if not isinstance(m, NativeMetric) and [n.name for n in resolved].count(m.name) > 1:
                raise InputError(f"two metrics are called {m.name}: give the one that is not counted here another name")
        if references is not None and systems is not None:
            corpus = Corpus.of(references, systems)
            corpus.check()
            _check_detokenized(corpus, resolved)
            return cls(corpus, resolved, tuple(corpus.systems))
        if references is not None or systems is not None:
            there, missing = ("references", "systems") if systems is None else ("systems", "references")
            raise InputError(f"{there} without {missing}: give both, or neither if all scores are given")
        needy = [m.name for m in resolved if not isinstance(m, GivenCounts)]
        if needy:
            raise InputError(f"{', '.join(needy)} needs texts: give references and systems")
        return cls(None, resolved, tuple(resolved[0].counts))

    @lazy
    def labels(self) -> list[str]:
        """What to call the metrics: their names, and what tells those of one name apart.

        >>> bleus = [metric("bleu"), metric("bleu", lowercase=True, tokenize="intl"), metric("chrf")]
        >>> _Data.of(["a"], [["a"]], bleus).labels
        ['BLEU case:mixed tok:13a', 'BLEU case:lc tok:intl', 'chrF2']
        """
        parts = [m.signature().split("|")[1:] for m in self.metrics]
        labels = []
        for m, own in zip(self.metrics, parts, strict=True):
            rivals = [others for n, others in zip(self.metrics, parts, strict=True) if n.name == m.name]
            labels.append(" ".join([m.name, *(part for part in own if any(part not in others for others in rivals))]))
        return labels

    @property
    def n_segments(self) -> int:
        """S, by the texts or else by the first metric."""
        if self.corpus is not None:
            return self.corpus.n_segments
        assert isinstance(self.metrics[0], GivenCounts)  # of() has seen to it
        return len(next(iter(self.metrics[0].counts.values())))

    @property
    def n_references(self) -> str | None:
        """References per segment as signatures give them."""
        return None if self.corpus is None else self.corpus.n_references

    def count(self, names: Sequence[str], threads: int | None, progress: Progress | None) -> list[AnyFamily]:
        """The counts of these systems under every metric."""
        families = [self._family(m, names, threads, progress) for m in self.metrics]
        for family in families:
            if family.n_units != self.n_segments:
                other = families[0].metric.name if self.corpus is None else "the texts"
                raise InputError(
                    f"{family.metric.name} has {family.n_units:,} segments, {other} {self.n_segments:,}: they must be "
                    "the same"
                )
        return families

    def _family(self, m: AnyMetric, names: Sequence[str], threads: int | None, progress: Progress | None) -> AnyFamily:
        if isinstance(m, GivenCounts):
            return Family(m, m.counts_of(names))
        assert self.corpus is not None  # of() has seen to it
        outputs = {name: self.corpus.systems[name] for name in names}
        if isinstance(m, CorpusFunction):
            return TextFamily(m, list(outputs.values()), self.corpus.references)
        return Family(m, m.suff_stats(outputs, self.corpus.references, threads=threads, progress=progress))


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


def _resampled_by(families: list[AnyFamily], documents: Documents | None, strata: Strata | None) -> list[AnyFamily]:
    """The same with documents as the unit, and with draws within strata of the units."""
    if documents is not None:
        families = [family.by(documents) for family in families]
    return families if strata is None else [family.within(strata) for family in families]


def _document_effects(
    family: AnyFamily, documents: Documents | None, pairs: Pairs
) -> list[tuple[float | None, float | None]]:
    """Intraclass correlation and design effect of each pair, None where they are not defined or not known."""
    if documents is None or isinstance(family, TextFamily):
        return [(None, None)] * len(pairs)
    effects = (
        document_effect(values, documents) for values in paired_influences(family.scores, family.leave_one_out, pairs)
    )
    return [
        (None if math.isnan(correlation) else correlation, None if math.isnan(effect) else effect)
        for correlation, effect in effects
    ]


def _known(m: AnyMetric | Metric, value: float) -> float:
    """A score or difference, rounded to the decimals that its unit determines."""
    return value if m.decimals is None else round(value, m.decimals)


def _interval(
    used: Interval | None, replicates: Replicates | None, level: float | None, m: int, a: int, b: int | None = None
) -> ConfidenceInterval | None:
    """The interval of a system's score or of a difference, if intervals were asked for."""
    if used is None or replicates is None or level is None:
        return None
    found = used.of(Estimate(replicates, m, a, b), level)
    of_metric = replicates.families[m].metric
    return replace(found, low=_known(of_metric, found.low), high=_known(of_metric, found.high))


def _schemes(comparisons: Sequence[PairedDifference]) -> str | None:
    """The schemes of all tests, as a signature names them."""
    schemes = {(test.scheme, test.n_resamples) for test in (pair.test for pair in comparisons)}
    # A subgroup is the same for all. Exact tests differ in their numbers of patterns, and there may be many of them.
    names = {scheme_name(s, n.bit_length() - 1) if s == "subgroup" and n else s for s, n in schemes if s}
    return "+".join(sorted(names)) if names - {"iid"} else None


def _comparison(
    data: _Data,
    names: tuple[str, ...],
    families: Sequence[AnyFamily],
    replicates: Replicates | None = None,
    used: Interval | None = None,
    confidence_level: float | None = None,
    baseline: str | None = None,
    test: UsedTest | None = None,
    comparisons: Sequence[PairedDifference] = (),
) -> Comparison:
    nrefs = data.n_references
    scores = [
        SystemScore(
            system=name,
            metric=data.labels[m],
            score=_known(family.metric, float(family.scores[s])),
            confidence_interval=_interval(used, replicates, confidence_level, m, s),
            details=family.details(s),
        )
        for m, family in enumerate(families)
        for s, name in enumerate(names)
    ]
    metrics = [
        UsedMetric(
            label,
            f.metric.signature(nrefs),
            f.metric.higher_is_better,
            f.calls if isinstance(f, TextFamily) else None,
        )
        for label, f in zip(data.labels, families, strict=True)
    ]
    resampled = (used is not None and used.draws) or any(pair.test.seed is not None for pair in comparisons)
    made = replicates if resampled else None
    tested = None
    if test is not None:
        tested = test.name, test.alternative, test.adjustment, _schemes(comparisons), test.stopping
    strata = None if replicates is None else replicates.strata
    run = run_signature(replicates, tested, strata, resampled)
    if used is not None:
        run = f"interval:{used.name}[{confidence_level:g}]|{run}"
    error = None
    if comparisons and confidence_level is not None:
        error = experimentwise_error(round(1 - confidence_level, 12), len(comparisons))
    return Comparison(
        systems=names,
        metrics=tuple(metrics),
        scores=tuple(scores),
        comparisons=tuple(comparisons),
        baseline=baseline,
        test=test,
        interval=None if used is None else used.used,
        experimentwise_error=error,
        n_segments=data.n_segments,
        n_references=0 if data.corpus is None else len(data.corpus.references),
        unit=families[0].unit,
        n_units=families[0].n_units,
        n_strata=None if strata is None else strata.n_strata,
        n_resamples=None if made is None else made.n_resamples,
        confidence_level=confidence_level,
        seed=None if made is None else made.seed,
        signature="|".join([*(m.signature for m in metrics), run]),
        version=_core.VERSION,
    )
