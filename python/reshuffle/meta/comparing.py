"""From samples of metrics to intervals, tests of all pairs of metrics, and rankings: by the engine for systems."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any, ClassVar

import numpy as np

from .._core import Progress
from ..errors import InputError, quoted, unknown_name
from ..inference.estimates import Estimate
from ..inference.hypotheses import Hypotheses
from ..inference.intervals import INTERVALS
from ..inference.multiplicity import ADJUSTMENTS
from ..inference.plan import Plan
from ..inference.rankings import ranked
from ..inference.running import run_on_test_set
from ..metrics.base import Scores, thread_count
from ..options.declare import taken
from ..options.meta import Averages, Segments, Systems
from ..resampling import Pairs, Replicates, Sample
from ..resampling.averaged import AveragedMetric, AveragedSample
from ..results import ConfidenceInterval
from ..results.studies import MetricAgreement, MetricDifference, MetricGroup
from ..seeds import derive_seed
from ..settings import ComparisonSettings, Resampling, levels
from ..validate import check_name
from .coefficients import COEFFICIENTS, TESTS
from .jackknife import AveragedErrors, Errors, TTest, t_test
from .material import JudgedSet
from .samples import DECIMALS
from .values import Values
from .williams import WilliamsResult, williams

# The tests of the engine, by the kind of replicates.
ENGINE_TESTS = {"shuffles": "ar", "draws": "bootstrap-percentile"}


# Why there is no interval, if there is no other reason.
NO_DRAWS = "no interval: no draw leaves two different scores of metrics and people"


@dataclass(frozen=True, kw_only=True)
class Testing:
    """How metrics are compared: settings of the public functions."""

    __test__: ClassVar[bool] = False  # pytest would take it for a class of tests

    test: str
    baseline: str | None = None
    adjust: str | None
    interval: str | None
    confidence_level: float
    alpha: float
    resampling: Resampling

    @classmethod
    def on(cls, sets: Sequence[JudgedSet], options: Segments | Systems, progress: Progress | None) -> Testing:
        """From the options of a function, and what watches it.

        :class:`InputError` for a baseline that is no metric of the test sets, and for averages as
        :func:`check_averages`.
        """
        labels = [m.label for m in sets[0].metrics]
        if options.baseline is not None and options.baseline not in labels:
            raise unknown_name("baseline metric", options.baseline, labels)
        check_averages(options.average, [each.name for each in sets])
        return taken(
            cls,
            options,
            test="none" if options.test is None else options.test,
            resampling=Resampling(options.n_resamples, options.seed, options.threads, progress, options.executor),
            **levels(options.confidence_level, options.alpha),
        )

    def pairs(self, labels: Sequence[str]) -> Pairs:
        """All pairs of metrics, or those of each metric with the baseline."""
        if self.baseline is None:
            return list(combinations(range(len(labels)), 2))
        if self.baseline not in labels:
            return []
        base = labels.index(self.baseline)
        return [(a, base) for a in range(len(labels)) if a != base]

    def test_for(self, automatic: str | None) -> str | None:
        """The name of the test of a coefficient, ``automatic`` by default; None for no test."""
        return {"auto": automatic, "none": None}.get(self.test, self.test)

    def announce(self, questions: Sequence[tuple[str, float]]) -> None:
        """Plan the steps of the job, for those who watch its progress: the name and the cost of each question."""
        drawn = 0.0 if self.interval is None else 0.2
        shuffled = 0.0 if self.test == "none" else 1.0
        steps = [
            (f"{stage} {name}", share * cost, 1)
            for name, cost in questions
            for stage, share in (("shuffling", shuffled), ("drawing", drawn))
            if share
        ]
        self.resampling.announce(steps)

    @property
    def in_core(self) -> dict[str, Any]:
        """The threads and the progress, as functions of the core take them."""
        return {"threads": thread_count(self.resampling.threads), "progress": self.resampling.progress}


@dataclass(frozen=True, eq=False)
class Question:
    """One coefficient on one test set: the values of M metrics, and the samples from which replicates are made."""

    test_set: str
    level: str
    grouping: str | None
    coefficient: str
    ties: str | None
    """As in :class:`~reshuffle.results.studies.MetricAgreement`."""
    labels: tuple[str, ...]
    values: Values
    """On all scores of each metric."""
    rows: Sequence[int] = ()
    """The metrics that have a value; those in the samples."""
    own: Sample | None = None
    """These metrics on all their own scores, for intervals of values."""
    common: Sample | None = None
    """These metrics on the scores that people and all of them have, for intervals of differences."""
    tested: Sample | None = None
    """The same, with the replicates of the test."""
    compared: Scores = field(default_factory=lambda: np.empty(0))
    """Shape (rows,). The values of these metrics whose differences are tested."""
    n_common: int = 0
    """What these values are computed from."""
    test: str | None = None
    """A name in :data:`TESTS`; None for no test."""
    errors: Errors | None = None
    """For the test ``t-both``: standard errors of the differences."""
    vectors: Sequence[Scores] | None = None
    """For Williams' test: the human scores and the metrics' scores of the same systems."""
    note: str | None = None
    """Why there is no interval or no test."""
    segments: Sequence[int | None] | None = None
    """At system level, on how many segments each metric scored the systems; None where its scores are given."""
    judged_segments: int | None = None
    """At system level, how many segments people judged; None where they scored systems as a whole."""

    @classmethod
    def on(cls, test_set: JudgedSet, level: str, grouping: str | None, coefficient: str, values: Values) -> Question:
        """With these values, of which some may not be defined, and as yet without samples."""
        labels, rows = tuple(m.label for m in test_set.metrics), np.flatnonzero(~np.isnan(values.value)).tolist()
        ties = COEFFICIENTS[coefficient].ties
        return cls(test_set.name, level, grouping, coefficient, ties, labels, values, rows)

    @property
    def key(self) -> tuple[str | None, str]:
        """What it has in common with the same question on other test sets."""
        return self.grouping, self.coefficient

    @property
    def names(self) -> list[str]:
        """The labels of the metrics in the samples."""
        return [self.labels[row] for row in self.rows]


@dataclass(frozen=True, eq=False)
class Answer:
    """The records about one question, and the replicates of its samples, which averages read."""

    question: Question
    results: Sequence[MetricAgreement]
    comparisons: Sequence[MetricDifference] = ()
    groups: Sequence[MetricGroup] = ()
    replicates: Mapping[str, Replicates] = field(default_factory=dict)


def answered(question: Question, testing: Testing, seed: int) -> Answer:
    """The records about one question. The same seed gives all questions the same replicates."""
    samples = {"own": question.own, "common": question.common, "tested": question.tested}
    resampling = replace(testing.resampling, seed=seed)
    made: dict[int, Replicates] = {}
    replicates = {
        name: made.setdefault(id(sample), Replicates([sample], resampling))
        for name, sample in samples.items()
        if sample is not None and sample.n_units > 1
    }
    comparisons = list(_compared(question, replicates, testing))
    return Answer(
        question,
        list(_results(question, replicates.get("own"), testing)),
        comparisons,
        list(_groups(question, comparisons, testing)),
        replicates,
    )


def _results(question: Question, replicates: Replicates | None, testing: Testing) -> Iterator[MetricAgreement]:
    """The value of every metric, with its interval."""
    values, rows = question.values, list(question.rows)
    for m, label in enumerate(question.labels):
        interval = _interval(replicates, testing, rows.index(m)) if m in rows else None
        epsilon = math.nan if values.epsilon is None else float(values.epsilon[m])
        yield taken(
            MetricAgreement,
            question,
            metric=label,
            value=float(values.value[m]),
            confidence_interval=interval,
            n=int(values.n[m]),
            groups=None if values.groups is None else int(values.groups[m]),
            epsilon=None if math.isnan(epsilon) else epsilon,
            segments=None if question.segments is None else question.segments[m],
            reason=values.reason[m] or (None if interval or testing.interval is None else question.note or NO_DRAWS),
        )


def _interval(
    replicates: Replicates | None, testing: Testing, a: int, b: int | None = None
) -> ConfidenceInterval | None:
    """The percentile interval of a metric's value, or of the difference of two; None if there are no draws of it."""
    if replicates is None or testing.interval is None:
        return None
    estimate = Estimate(replicates, 0, a, b)
    if np.isnan(estimate.draws).any():
        return None
    interval = INTERVALS["percentile"].confidence_interval(estimate, testing.confidence_level)
    round_score = replicates.samples[0].round_score
    return replace(interval, low=round_score(interval.low), high=round_score(interval.high))


def _compared(question: Question, replicates: Mapping[str, Replicates], testing: Testing) -> Iterator[MetricDifference]:
    """The differences between metrics, with intervals if there are draws."""
    pairs, names, common = testing.pairs(question.names), question.names, replicates.get("common")
    if question.test is None or not pairs:
        return
    kind = TESTS[question.test].replicates
    if kind is None:
        tests = _in_closed_form(question, pairs, testing)
    else:
        tests = _by_replicates(kind, pairs, replicates.get("tested"), testing)
    none = dict.fromkeys(("exceedances", "n_resamples", "statistic", "degrees_of_freedom"))
    for (a, b), found in zip(pairs, tests, strict=False):  # some questions have no tests
        own = {**none, **found, "metric_a": names[a], "metric_b": names[b], "n": question.n_common}
        yield taken(MetricDifference, question, confidence_interval=_interval(common, testing, a, b), **own)


def _by_replicates(
    kind: str, pairs: Pairs, replicates: Replicates | None, testing: Testing
) -> Iterator[Mapping[str, Any]]:
    """Tests of all pairs by the engine; none if metrics have no values on draws."""
    if replicates is None or (kind == "draws" and np.isnan(replicates.draws[0]).any()):
        return
    settings = ComparisonSettings(
        test=ENGINE_TESTS[kind],
        scheme="iid" if kind == "shuffles" else "auto",
        adjust=testing.adjust,
        all_pairs=True,
        alpha=testing.alpha,
    )
    plan = Plan.from_settings(settings, replicates.samples[0].metric, n_pairs=len(pairs))
    outcome = run_on_test_set(plan, replicates, Hypotheses.from_pairs(pairs))
    n_resamples = outcome.each(outcome.n_resamples)
    for h in range(len(pairs)):
        yield {
            "difference": replicates.samples[0].round_score(float(outcome.statistic[h])),
            "pvalue": float(outcome.pvalue[h]),
            "adjusted_pvalue": None if outcome.adjusted is None else float(outcome.adjusted[h]),
            "exceedances": int(outcome.exceedances[h]),
            "n_resamples": int(n_resamples[h]),
        }


def _in_closed_form(question: Question, pairs: Pairs, testing: Testing) -> Iterator[Mapping[str, Any]]:
    """Tests of all pairs without replicates: Williams' test, or t tests with standard errors."""
    values = question.compared
    differences = [float(values[a] - values[b]) for a, b in pairs]
    found: Sequence[WilliamsResult | TTest]
    if question.vectors is not None:
        human, *metrics = question.vectors
        found = [williams(human, metrics[a], metrics[b]) for a, b in pairs]
    else:
        assert question.errors is not None
        of_pairs = [question.errors.of(a, b) for a, b in pairs]
        found = [t_test(*each) for each in zip(differences, of_pairs, strict=True)]
    pvalues = np.array([result.pvalue for result in found])
    name = {"auto": "holm" if len(pairs) > 1 else "none", None: "none"}.get(testing.adjust, testing.adjust)
    adjusted: Sequence[float | None] = [None] * len(pairs)
    if name is not None and name != "none":
        of_pvalues = ADJUSTMENTS[name].of_pvalues
        if of_pvalues is None:
            raise InputError(
                f"adjustment {name!r} needs replicates, which the test {question.test!r} does not make: use 'holm', or "
                "a test 'perm-…'"
            )
        adjusted = np.maximum(of_pvalues(pvalues), pvalues).tolist()
    for difference, result, p in zip(differences, found, adjusted, strict=True):
        yield {
            "difference": round(difference, DECIMALS),
            "pvalue": result.pvalue,
            "adjusted_pvalue": p,
            "statistic": result.statistic,
            "degrees_of_freedom": float(result.df),
        }


def _groups(question: Question, comparisons: Sequence[MetricDifference], testing: Testing) -> Iterator[MetricGroup]:
    """The ranking of metrics, where all pairs were tested: ranks by value, letters and clusters by adjusted p."""
    names = question.names
    if testing.baseline is not None or len(comparisons) != len(names) * (len(names) - 1) // 2 or not comparisons:
        return
    values = np.round(question.compared, DECIMALS)
    order = np.argsort(-values, kind="stable").tolist()
    significant = [
        (pair.metric_a, pair.metric_b, int(np.sign(pair.difference)))
        for pair in comparisons
        if pair.is_significant(testing.alpha)
    ]
    systems, _ = ranked([names[row] for row in order], values[order], significant, {})
    for each in systems:
        yield taken(MetricGroup, question, each, metric=each.system, rank=each.position, letters=each.letters or "")


def check_averages(average: Averages, names: Sequence[str]) -> None:
    """:class:`InputError` for groups of test sets that do not exist, overlap, or have names that are taken."""
    if isinstance(average, bool):
        return
    seen: set[str] = set()
    for name, own in average.items():
        if name in (*names, "average", "pooled"):
            raise InputError(f"average: the name {quoted(name)} is that of a test set or of another mean")
        for each in own:
            check_name("test set", each, names)
            if each in seen:
                raise InputError(f"average: the test set {quoted(each)} is in two groups, or twice in one")
            seen.add(each)


def averages_of(answers: Sequence[Answer], average: Averages, testing: Testing) -> Iterator[Answer]:
    """The means over the test sets of one question: of all, or of each group and then of the groups' means."""
    if average is False or len(answers) < 2:
        return
    parts = list(answers)
    if not isinstance(average, bool):
        by_name = {answer.question.test_set: answer for answer in answers}
        grouped = {each for own in average.values() for each in own}
        means = [averaged([by_name[each] for each in own], testing, name) for name, own in average.items()]
        yield from means
        parts = [*means, *(answer for name, answer in by_name.items() if name not in grouped)]
    if len(parts) > 1:
        yield averaged(parts, testing)


def averaged(answers: Sequence[Answer], testing: Testing, name: str = "average") -> Answer:
    """The mean over test sets, each with the same weight. Replicates are means of the test sets' replicates."""
    questions = [answer.question for answer in answers]
    first = questions[0]
    values = _mean_values(questions)
    rows = [m for m, label in enumerate(first.labels) if all(label in question.names for question in questions)]
    labels = [first.labels[row] for row in rows]
    own_rows = [[question.names.index(label) for question in questions] for label in labels]
    # The row of each metric among those of each test set.
    places = np.array(own_rows, dtype=np.intp).reshape(len(labels), len(questions))
    samples: dict[str, Sample] = {}
    for role in ("own", "common", "tested"):
        there = [source for answer in answers if (source := answer.replicates.get(role)) is not None]
        if len(there) == len(answers) and rows:
            metric = AveragedMetric(first.coefficient, True, None, [first.coefficient])
            each = [source.samples[0] for source in there]
            samples[role] = AveragedSample(metric, each, there, 0, places, n_pairs=max(math.comb(len(rows), 2), 1))
    test = first.test if len({question.test for question in questions}) == 1 and first.test != "williams" else None
    known = [question.errors for question in questions if question.errors is not None]
    errors = AveragedErrors(known, places) if len(known) == len(questions) else None
    if test == "t-both" and (errors is None or len(rows) < 2):
        test = None
    compared = samples["tested"].scores if "tested" in samples else np.empty(0)
    if test == "t-both":
        compared = np.mean([question.compared[own] for question, own in zip(questions, places.T, strict=True)], axis=0)
    notes = [question.note for question in questions if question.note is not None]
    question = replace(
        first,
        test_set=name,
        values=values,
        rows=rows,
        own=samples.get("own"),
        common=samples.get("common"),
        tested=samples.get("tested"),
        compared=compared,
        errors=errors,
        n_common=sum(question.n_common for question in questions),
        test=test,
        vectors=None,
        note=notes[0] if notes else None,
    )
    return answered(question, testing, testing.resampling.seed)


def _mean_values(questions: Sequence[Question]) -> Values:
    """The mean of the values on all test sets; NaN where one is not defined."""
    table = np.stack([question.values.value for question in questions])
    reasons: list[str | None] = []
    for m in range(table.shape[1]):
        lacking = [question.test_set for question, value in zip(questions, table[:, m], strict=True) if np.isnan(value)]
        reasons.append(f"no value on {', '.join(lacking)}" if lacking else None)
    n = np.sum([question.values.n for question in questions], axis=0)
    groups = [question.values.groups for question in questions]
    known = [each for each in groups if each is not None]
    return Values(table.mean(axis=0), n, np.sum(known, axis=0) if known else None, None, tuple(reasons))


def set_seed(seed: int, at: int, n_sets: int) -> int:
    """The seed of a test set: that of the call if there is only one."""
    return int(derive_seed(seed, "test-set", at)) if n_sets > 1 else seed
