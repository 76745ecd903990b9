"""From counted test sets to comparisons: the steps that ``compare``, ``compare_sets`` and ``score`` share.

A comparison on one test set takes the same steps as a comparison on several.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from . import _core, signature
from .data.columns import check_rows
from .data.formats.base import number_in
from .errors import NO_AVERAGE, Argument, InputError, either
from .inference.caveats import with_caveats
from .inference.decomposition import contributions_of
from .inference.enough import automatic
from .inference.estimates import Estimate
from .inference.few_differing import FOR_FEW, TESTS_OF_FEW
from .inference.hypotheses import Hypotheses, Outcome, family_size, pairs_of
from .inference.intervals import INTERVALS, Interval, check_interval
from .inference.kink import FOR_POPULATIONS, brevity_of
from .inference.multiplicity import experimentwise_error, per_comparison_level
from .inference.plan import Plan
from .inference.rankings import with_rankings
from .inference.running import records, run_signature, run_tests
from .inference.steps import JobPlan
from .inference.tests import TESTS
from .metrics.base import significant
from .metrics.given import PrecomputedCounts
from .metrics.named import Metrics
from .resampling import CountSample, Pairs, Replicates, Sample
from .resampling.averaged import AveragedData, averaged_samples
from .resampling.counting import Data, check_reachable
from .resampling.histograms import histograms_of_scores
from .resampling.influence import influences
from .resampling.units import Documents, documents_and_strata
from .results import (
    ComparedTexts,
    Comparison,
    ConfidenceInterval,
    Contribution,
    DocumentScore,
    Exchangeability,
    PairedDifference,
    SignificanceResult,
    SystemScore,
    UsedMetric,
)
from .settings import ComparisonSettings, Resampling, Units, in_order
from .validate import default_alpha

# Results have the scores of documents if there are no more than this.
MOST_DOCUMENTS = 100
# How files have several systems.
SEVERAL_IN_FILES = (
    "; give a file for each, or a table with a column for each, or one with a single row for each system and segment "
    "(several runs are for 'reshuffle runs'), whose columns are called 'system' (or 'model') and 'id'"
)


@dataclass(frozen=True)
class Design:
    """What is compared on every test set, and how. The first system is the baseline if there is one."""

    names: tuple[str, ...]
    baseline: str | None
    pairs: Pairs
    plan: Plan
    interval: Interval | None
    testing: ComparisonSettings
    resampling: Resampling
    # The number of replicates that would be enough, if the number was chosen by "auto".
    enough: int | None

    @classmethod
    def from_settings(
        cls, names: tuple[str, ...], sets: Sequence[Data], testing: ComparisonSettings, resampling: Resampling
    ) -> Design:
        """Check that the settings are compatible with each other and with the metrics of all test sets."""
        if len(names) < 2:
            is_number = not math.isnan(number_in(names[0]))
            hint = "; the name is a number: does the file lack a header line?" if is_number else ""
            hint = hint or ("; the references come first" if names[0] == "system 1" else "")
            raise InputError(
                "only one system ({name}): a comparison needs at least two{hint}",
                name=names[0],
                hint=hint or Argument("", as_flag=SEVERAL_IN_FILES),
            )
        names, baseline = in_order(names, testing)
        pairs = pairs_of(len(names), None if baseline is None else 0)
        plan, interval = _planned(sets, testing, len(pairs))
        size = family_size(plan.family, len(pairs), len(sets[0].metrics), plan.n_sets)
        resampling, enough = _with_number(resampling, plan.enough_replicates(size), interval, testing)
        return cls(names, baseline, pairs, plan, interval, testing, resampling, enough)

    def announce(self, sets: Sequence[Data], names: Sequence[str] = (), average: bool = False) -> None:
        """Plan the steps of the job, for those who watch its progress."""
        if self.resampling.progress is not None:
            numbers = len(self.names), len(self.pairs), self.resampling.n_resamples
            job = JobPlan(sets, names, *numbers, self.plan, self.interval, average)
            self.resampling.progress.plan(job.steps())

    def count(self, data: Data, units: Units, seed: int) -> Resampled:
        """Count the systems on a test set, whose replicates have this seed."""
        if units.source is not None and "texts" not in self.testing.include and not data.reads_sources:
            raise InputError(
                "a source is shown with the texts: add {texts}, or leave it out", texts=Argument("include", ("texts",))
            )
        texts = data.texts(self.names, units) if "texts" in self.testing.include else None
        resampled = Resampled.from_data(data, self.names, units, replace(self.resampling, seed=seed), self.pairs)
        for margin, label, sample in zip(self.plan.margins, data.labels, resampled.by_segment, strict=False):
            scores = [sample.segment_scores(self.names)] if sample.metric.is_mean else []
            check_reachable(f"the margin of {label}", margin, scores, "any difference would be within it")
        return resampled if texts is None else resampled.with_texts(texts)

    def for_average(self, n_metrics: int) -> Design:
        """The same for averages over test sets; :class:`InputError` if the test or interval does not support them."""
        if self.interval is not None and not self.interval.averages:
            others = either(repr(name) for name, interval in INTERVALS.items() if interval.averages)
            raise InputError(
                f"interval {self.interval.name!r} does not support averages over test sets: use {others}, or leave out "
                "the average ({no_average})",
                no_average=NO_AVERAGE,
            )
        return replace(self, plan=self.plan.for_average(len(self.pairs), n_metrics))


def data_and_units(options: Any, metrics: Metrics | None = None) -> tuple[Data, Units]:
    """The data of a function that has ``references``, ``systems`` and ids of units among its options.

    The metrics are ``metrics``, or those of the options.
    """
    strata = getattr(options, "strata", getattr(options, "domains", None))
    source = getattr(options, "source", None)
    own = options.metrics if metrics is None else metrics
    data = Data.from_arguments(options.references, options.systems, own, documents=options.documents, source=source)
    of_runs = next((m for m in data.metrics if isinstance(m, PrecomputedCounts) and m.has_runs), None)
    if of_runs is not None:
        raise InputError(
            f"{of_runs.name} has the scores of runs of each system: use compare_runs(metrics=…), or pass one of each"
        )
    columns = {"references": options.references, "systems": options.systems, **{m.name: m for m in data.metrics}}
    check_rows("", {**columns, "documents": options.documents, "strata": strata, "source": source})
    return data, Units(options.documents, strata, source)


class Resampled(NamedTuple):
    """The systems on a test set, or their averages over test sets, and their replicates.

    ``by_segment`` has a sample for each metric, whose units are segments even if whole documents are resampled.
    """

    data: Data | AveragedData
    names: tuple[str, ...]
    by_segment: Sequence[Sample]
    documents: Documents | None
    replicates: Replicates
    texts: ComparedTexts | None = None

    @classmethod
    def from_data(
        cls, data: Data, names: tuple[str, ...], units: Units, resampling: Resampling, pairs: Pairs = ()
    ) -> Resampled:
        """Count these systems, of which ``pairs`` are compared, and sum the counts of each document if need be."""
        documents, strata = documents_and_strata(units, data.n_segments, warn_of_ids=True)
        by_segment = [sample.for_pairs(pairs) for sample in data.count(names, resampling)]
        samples = [sample.in_units(documents, strata) for sample in by_segment]
        return cls(data, names, by_segment, documents, Replicates(samples, resampling))

    @classmethod
    def average_of(cls, sets: Sequence[Resampled], design: Design) -> Resampled:
        """The averages over test sets, with the replicates that the test sets have."""
        data = AveragedData.from_sets([each.data for each in sets if isinstance(each.data, Data)])
        replicates = [each.replicates for each in sets]
        k, pairs = len(design.names), design.pairs
        by_segment = averaged_samples(data.metrics, [each.by_segment for each in sets], (), k, pairs)
        samples = averaged_samples(data.metrics, [each.samples for each in replicates], replicates, k, pairs)
        return cls(data, design.names, by_segment, None, Replicates(samples, design.resampling))

    def with_texts(self, texts: ComparedTexts) -> Resampled:
        """A copy with these texts, to which segment scores are added."""
        samples = zip(self.data.labels, self.by_segment, strict=True)
        scores = {
            label: {
                name: tuple(None if score != score else score for score in row)
                for name, row in zip(self.names, sample.segment_scores(self.names).tolist(), strict=True)
            }
            for label, sample in samples
            if sample.evaluations is None  # a function of texts need not be defined on a single segment
        }
        return self._replace(texts=replace(texts, scores=scores))

    def effects(self, pairs: Pairs) -> list[tuple[float | None, float | None]]:
        """Intraclass correlation and design effect, metric by metric, pair by pair; (None, None) without documents."""
        if self.documents is None:
            return [(None, None)] * (len(self.by_segment) * len(pairs))
        return [
            (correlation and significant(correlation, 10), effect and significant(effect, 10))
            for sample in self.by_segment
            for correlation, effect in sample.document_effects(self.documents, sample.rows_of(pairs))
        ]

    def exchangeability(
        self, plan: Plan, pairs: Pairs, tests: Sequence[SignificanceResult]
    ) -> list[Exchangeability | None]:
        """Whether outputs are exchangeable, metric by metric, pair by pair; None if the test does not need that.

        None, too, if the test needs more than two systems to be exchangeable, which this does not check.
        """
        all_systems = plan.test.liberal_family is not None and len(self.names) > 2
        found: list[Exchangeability | None] = [None] * len(tests)
        for m, sample in enumerate(self.replicates.samples):
            needed = [
                p
                for p, test in enumerate(tests[m * len(pairs) : (m + 1) * len(pairs)])
                if TESTS[test.test].needs_exchangeable and not all_systems
            ]
            results = sample.exchangeability(sample.rows_of([pairs[p] for p in needed])) if needed else []
            for p, result in zip(needed, results, strict=True):
                found[m * len(pairs) + p] = result
        return found

    def document_scores(self) -> list[DocumentScore]:
        """The scores on each document, metric by metric, for metrics whose documents are speakers."""
        if self.documents is None or self.documents.n_documents > MOST_DOCUMENTS:
            return []
        return [
            DocumentScore(
                document=document,
                system=name,
                metric=label,
                score=sample.round_score(float(sample.metric.score(counts))),
                details=sample.metric.details(counts),
                n_segments=int(n_segments),
            )
            for label, sample in zip(self.data.labels, self.replicates.samples, strict=True)
            if isinstance(sample, CountSample) and sample.metric.by_speaker
            for d, (document, n_segments) in enumerate(zip(self.documents.names, self.documents.sizes, strict=True))
            for name, counts in zip(self.names, sample.stored[:, d].astype(np.int64), strict=True)
        ]

    def contributions(self, design: Design) -> Sequence[tuple[Contribution, ...] | None]:
        """What the parts of formulas contribute to the differences, metric by metric, pair by pair; None unless wanted.

        None, too, for averages over test sets.
        """
        samples = self.replicates.samples
        if "parts" not in design.testing.include or isinstance(self.data, AveragedData):
            return [None] * (len(samples) * len(design.pairs))
        # Intervals need draws, which exist unless neither the test nor the interval has any.
        has_intervals = design.interval is not None and self.replicates.has_draws
        level = design.testing.confidence_level if has_intervals else None
        return [
            found
            for m, sample in enumerate(samples)
            for found in contributions_of(self.replicates, m, sample.rows_of(design.pairs), level)
        ]


class Inferred(NamedTuple):
    """The results beyond the scores: tests and intervals."""

    replicates: Replicates
    testing: ComparisonSettings
    interval: Interval | None
    plan: Plan | None = None
    baseline: str | None = None
    comparisons: Sequence[PairedDifference] = ()

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
    def run(self) -> dict[str, Any]:
        """The part of the signature that describes the test, the interval and the replicates."""
        tests = [pair.test for pair in self.comparisons]
        seed = self.replicates.seed if self.resampled else None
        strata = self.replicates.strata
        run = {**signature.RUN}
        if self.plan is not None:
            run |= run_signature(self.plan, self.replicates, _schemes(tests), seed)
        if self.interval is not None:
            level = self.testing.confidence_level
            run["interval"] = signature.for_interval(self.interval.name, level, self.simultaneous)
        if self.has_few:  # the test by name would not repeat the tests of pairs that differ in few units
            run["test"] = "auto"
        return run | {
            "strata": None if strata is None else strata.n_strata,
            "unit": signature.for_unit(self.replicates.unit, self.replicates.n_units),
            **({} if seed is None else signature.drawn(self.replicates.n_resamples, seed)),
        }

    @property
    def has_few(self) -> bool:
        """Are there pairs that got another test because they differ in few units?"""
        used = {pair.test.test for pair in self.comparisons}
        return self.plan is not None and self.plan.automatic and not used.isdisjoint(TESTS_OF_FEW)

    def interval_of(self, m: int, a: int, b: int | None = None) -> ConfidenceInterval | None:
        """The interval of system a's score under metric m, or with b that of the difference a − b.

        All are indices, a and b those of rows of the sample. None if no intervals were requested.
        """
        if self.interval is None:
            return None
        scheme = "auto" if self.plan is None else self.plan.shuffling.scheme
        estimate = Estimate(self.replicates, m, a, b, scheme)
        return self._rounded(m, self.interval.confidence_interval(estimate, self.testing.confidence_level))

    def of_differences(
        self, outcome: Outcome, rows: Sequence[tuple[int, tuple[int, int]]]
    ) -> list[ConfidenceInterval | None]:
        """The intervals of the differences between two rows of a sample: those of the outcome if it has any."""
        if outcome.low is None or outcome.high is None or self.interval is None or self.plan is None:
            return [self.interval_of(m, *pair) for m, pair in rows]
        level, ends = self.testing.confidence_level, zip(outcome.low.tolist(), outcome.high.tolist(), strict=True)
        method = self.plan.test.name if self.plan.margins else "simultaneous"
        return [
            self._rounded(m, ConfidenceInterval(low, high, level, method))
            for (m, _), (low, high) in zip(rows, ends, strict=True)
        ]

    def _rounded(self, m: int, interval: ConfidenceInterval) -> ConfidenceInterval:
        round_score = self.replicates.samples[m].round_score
        return replace(interval, low=round_score(interval.low), high=round_score(interval.high))


def compared(data: Data, units: Units, testing: ComparisonSettings, resampling: Resampling) -> Comparison:
    """Test whether systems differ: see :func:`reshuffle.compare`."""
    design = Design.from_settings(data.names, [data], testing, resampling)
    design.announce([data])
    (comparison,) = comparisons_of(design, [design.count(data, units, resampling.seed)])
    return comparison


def average_of(design: Design, sets: Mapping[str, Resampled]) -> Comparison:
    """Compare the averages over test sets. ``design`` is the one for averages (:meth:`Design.for_average`)."""
    (comparison,) = comparisons_of(design, [Resampled.average_of(list(sets.values()), design)])
    return replace(comparison, averaged_over=tuple(sets))


def comparisons_of(design: Design, sets: Sequence[Resampled]) -> list[Comparison]:
    """Compare the systems on each test set."""
    replicates, plan = [each.replicates for each in sets], design.plan
    if design.interval is not None and design.interval.draws:
        for of_set in replicates:
            _ = of_set.draws  # now, so that running out of memory shows before the tests have run
    hypotheses = Hypotheses.from_pairs(design.pairs, len(sets[0].data.metrics), len(sets), plan.family)
    outcome = run_tests(plan, replicates, hypotheses, histograms=True)
    found = []
    for t, each in enumerate(sets):
        own = outcome if len(sets) == 1 else outcome.take(np.flatnonzero(hypotheses.test_set == t))
        on_set, data = hypotheses.on_test_set(t), each.data
        tests = records(plan, each.replicates, on_set, own, data.labels, data.n_references)
        found.append(_comparison(each, _inferred(design, each, own, tests)))
    used = {pair.test.test for each in found for pair in each.comparisons}
    if plan.automatic and used.issubset(TESTS_OF_FEW):
        # With an adjustment, that of ``ar``.
        decided = FOR_POPULATIONS if used == {FOR_POPULATIONS} and plan.adjustment is None else FOR_FEW
        plan = replace(plan.for_few_by(decided), automatic=True)
        found = [replace(each, test=plan.used) for each in found]
    noted = (with_caveats(each, plan, design.enough, [other for other in found if other is not each]) for each in found)
    return [with_rankings(each, of_set) for each, of_set in zip(noted, replicates, strict=True)]


def _inferred(design: Design, on: Resampled, outcome: Outcome, tests: Sequence[SignificanceResult]) -> Inferred:
    """The tests and intervals on a test set."""
    found = Inferred(on.replicates, design.testing, design.interval, design.plan, design.baseline)
    samples, labels, names = on.replicates.samples, on.data.labels, design.names
    rows = [(m, own) for m, sample in enumerate(samples) for own in sample.rows_of(design.pairs)]
    # What is computed for all differences at once.
    computed: dict[str, Sequence[Any]] = {
        "confidence_interval": found.of_differences(outcome, rows),
        "exchangeability": on.exchangeability(design.plan, design.pairs, tests),
        "influence": [each for sample in samples for each in influences(sample, design.pairs)],
        "brevity": [each for sample in samples for each in brevity_of(sample, sample.rows_of(design.pairs))],
        "contributions": on.contributions(design),
        "null": [None] * len(rows) if outcome.null is None else outcome.null.tolist(),
    }
    pairs, effects = [*design.pairs] * len(samples), on.effects(design.pairs)
    comparisons = [
        PairedDifference(
            baseline=names[b],
            system=names[a],
            metric=labels[m],
            test=replace(test, statistic=samples[m].round_score(test.statistic)),
            n_segments=_n_scored(on.by_segment[m], own),
            n_units=_n_scored(samples[m], own),
            intraclass_correlation=correlation,
            design_effect=effect,
            **dict(zip(computed, values, strict=True)),
        )
        for (a, b), (m, own), test, (correlation, effect), values in zip(
            pairs, rows, tests, effects, zip(*computed.values(), strict=True), strict=True
        )
    ]
    return found._replace(comparisons=comparisons)


def _planned(sets: Sequence[Data], testing: ComparisonSettings, n_pairs: int) -> tuple[Plan, Interval | None]:
    """The test and the interval, checked to be compatible."""
    metrics = [m for data in sets for m in data.metrics]
    plan = Plan.from_settings(testing, *metrics, n_pairs=n_pairs, n_sets=len(sets))
    interval = None if testing.interval is None else check_interval(testing.interval, *metrics, test=plan.test.name)
    if interval is not None and interval.inverts is not None:
        plan = plan.for_inversion(interval.name)
    return (plan.for_simultaneous(interval, testing.confidence_level) if testing.simultaneous else plan), interval


def _with_number(
    resampling: Resampling, for_test: int | None, interval: Interval | None, testing: ComparisonSettings
) -> tuple[Resampling, int | None]:
    """The settings with a number of replicates. If that was ``auto``, also the number that would be enough."""
    number, enough = automatic(for_test, None if interval is None else interval.enough_draws(testing.confidence_level))
    with_number = resampling.with_number(number)
    return with_number, None if with_number.n_resamples == resampling.n_resamples else enough


def scored(data: Data, units: Units, wanted: ComparisonSettings, resampling: Resampling) -> Comparison:
    """Score systems, with intervals if ``wanted`` has one: see :func:`score`."""
    if wanted.interval is None:
        for name, ids in (("documents", units.documents), ("strata", units.strata)):
            if ids is not None and not (name == "documents" and data.uses_documents):
                raise InputError(f"{name} without intervals: only intervals depend on them; leave {name} out")
        return _scores(data, data.names, data.count_alone(data.names, resampling))
    interval = check_interval(wanted.interval, *data.metrics, test=None)
    resampling, enough = _with_number(resampling, None, interval, wanted)
    if resampling.progress is not None:
        job = JobPlan([data], (), len(data.names), 0, resampling.n_resamples, None, interval)
        resampling.progress.plan(job.steps())
    resampled = Resampled.from_data(data, data.names, units, resampling)
    return with_caveats(_comparison(resampled, Inferred(resampled.replicates, wanted, interval)), None, enough)


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


def _scores(
    data: Data | AveragedData,
    names: tuple[str, ...],
    by_segment: Sequence[Sample],
    found: Inferred | None = None,
) -> Comparison:
    """The scores, with intervals if there are any, and the signature."""
    samples = by_segment if found is None else found.replicates.samples
    every = [(m, s) for m in range(len(samples)) for s in range(len(names))]
    intervals = {at: None if found is None else found.interval_of(*at) for at in every}
    # After the intervals, which may be the first to need draws.
    draws: list[Any] = [[None] * len(names)] * len(samples)
    if found is not None and found.replicates.has_draws:
        threads = found.replicates.threads
        draws = [histograms_of_scores(drawn, range(len(names)), threads) for drawn in found.replicates.draws]
    scores = [
        SystemScore(
            system=name,
            metric=label,
            score=sample.round_score(float(sample.scores[s])),
            confidence_interval=intervals[m, s],
            details=sample.details(s),
            n_segments=_n_scored(by_segment[m], [s]),
            draws=draws[m][s],
        )
        for m, (label, sample) in enumerate(zip(data.labels, samples, strict=True))
        for s, name in enumerate(names)
    ]
    metrics = [
        UsedMetric(label, m.signature(data.n_references), m.higher_is_better, sample.evaluations, m.source)
        for label, m, sample in zip(data.labels, data.metrics, samples, strict=True)
    ]
    return Comparison(
        systems=names,
        metrics=tuple(metrics),
        scores=tuple(scores),
        n_segments=data.n_segments,
        n_references=data.most_references,
        votes=data.ratings,
        unit=samples[0].unit,
        n_units=samples[0].n_units,
        signature=signature.joined(
            [*(m.signature for m in metrics), signature.for_run({} if found is None else found.run)]
        ),
        version=_core.VERSION,
    )


def _comparison(on: Resampled, found: Inferred) -> Comparison:
    """The scores, tests and intervals on a test set, without caveats."""
    strata = found.replicates.strata
    n_tests, level = len(found.comparisons), found.testing.confidence_level
    alpha = default_alpha(level) if found.testing.alpha is None else found.testing.alpha
    return replace(
        _scores(on.data, on.names, on.by_segment, found),
        comparisons=tuple(found.comparisons),
        baseline=found.baseline,
        test=None if found.plan is None else found.plan.used,
        interval=None if found.interval is None else replace(found.interval.used, simultaneous=found.simultaneous),
        experimentwise_error=experimentwise_error(alpha, n_tests) if n_tests else None,
        per_comparison_level=per_comparison_level(alpha, n_tests) if n_tests else None,
        n_strata=None if strata is None else strata.n_strata,
        n_resamples=found.replicates.n_resamples if found.resampled else None,
        confidence_level=level,
        alpha=alpha,
        seed=found.replicates.seed if found.resampled else None,
        texts=on.texts,
        document_scores=tuple(on.document_scores()),
    )
