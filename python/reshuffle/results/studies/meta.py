"""The result of a meta-evaluation: how well metrics agree with people, and its records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ...documented import record
from ..intervals import ConfidenceInterval
from ..reported import Worded
from ..verdicts import Tested
from .base import StudyResult, StudyTypes
from .plan import Plan, sometimes


@record
class MetricAgreement:
    """How well a metric agrees with people, by one coefficient."""

    test_set: str
    """The name of the test set, such as a language pair; ``average`` for the mean over test sets, ``pooled`` for all
    judgments of all test sets taken as one.
    """
    metric: str
    level: str
    """``segment`` or ``system``: whose scores are compared."""
    grouping: str | None
    """At segment level: ``none`` (all scores in one group), ``sys`` (a group for each system), ``item`` (a group for
    each segment), and the value is the mean over groups. ``votes`` where people compared pairs of outputs. None at
    system level.
    """
    coefficient: str
    """A name in :data:`reshuffle.meta.COEFFICIENTS`."""
    ties: str | None
    """How tied scores of the metric count in ``tau``, ``darr`` and ``accuracy``; None for other coefficients."""
    value: float
    """NaN where it is not defined; ``reason`` says why. Positive values are agreement, also for metrics where lower is
    better.
    """
    confidence_interval: ConfidenceInterval | None
    n: int
    """What the value was computed from: votes, pairs of outputs (``darr``), outputs, systems, or pairs of systems."""
    groups: int | None
    """The number of groups that have a value."""
    epsilon: float | None
    """The calibrated difference up to which scores of the metric count as tied."""
    segments: int | None
    """At system level, the number of segments on which the metric scored the systems; None for an average, and where
    its scores of systems were given.
    """
    judged_segments: int | None
    """At system level, the number of segments of which people judged an output; None for an average, and where people
    scored systems as a whole.
    """
    reason: str | None
    """Why the value is not defined, or what is unusual."""


@record
class MetricDifference(Worded, Tested):
    """The difference between the agreement of two metrics with people, and a test of it."""

    test_set: str
    metric_a: str
    metric_b: str
    level: str
    grouping: str | None
    coefficient: str
    ties: str | None
    """As in :class:`MetricAgreement`."""
    test: str
    """A name in :data:`reshuffle.meta.TESTS`."""
    difference: float
    """The value of ``metric_a`` minus that of ``metric_b``, on what all metrics have scores for."""
    pvalue: float
    """Not adjusted for multiple tests."""
    adjusted_pvalue: float | None
    """Adjusted for all pairs of metrics of the family."""
    confidence_interval: ConfidenceInterval | None
    """Of the difference."""
    exceedances: int | None
    """The number of replicates at least as extreme as the difference, and of all replicates. None for tests without
    replicates.
    """
    n_resamples: int | None
    statistic: float | None
    """t, of the tests ``williams`` and ``t-both``."""
    degrees_of_freedom: float | None
    n: int
    """As in :class:`MetricAgreement`."""


@record
class MetricGroup:
    """The place of a metric in the ranking of metrics by one coefficient."""

    test_set: str
    metric: str
    level: str
    grouping: str | None
    coefficient: str
    ties: str | None
    rank: int
    """From 1, by value."""
    letters: str
    """Compact letter display: metrics that share a letter do not differ significantly (adjusted p-values)."""
    cluster: int
    """From 1: all metrics of a cluster differ significantly from all metrics of later clusters, as in WMT's rankings.
    """


@record
class HumanScores:
    """The human score of a system, and how much of it was judged."""

    test_set: str
    system: str
    score: float | None
    """The score at system level, higher is better; None where there is none."""
    segments: int
    """The number of segments with a score or judgment of the system."""
    judgments: int
    """The number of scores, or of votes in which the system took part."""


@record
class MetricSystemScore:
    """The score of a system by a metric and by people."""

    test_set: str
    metric: str
    system: str
    score: float
    """As the metric gives it."""
    human: float
    """The human score of the system, higher is better."""


@record(kw_only=True, eq=False)
class MetaPlan(Plan):
    """How metrics were evaluated: the options of functions of :mod:`reshuffle.meta`, and what followed from them."""

    level: str
    """``segment`` or ``system``."""
    test_sets: tuple[str, ...]
    """A single test set need not have a name."""
    systems: Mapping[str, tuple[str, ...]]
    """By test set, as the next six."""
    left_out: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Systems that nobody judged."""
    segments: Mapping[str, int]
    """The number of segments."""
    repeats: str | None = None
    """What repeated judgments of the same outputs count as; None without votes."""
    raw_votes: Mapping[str, int] = field(default_factory=dict)
    """The number of votes, and of ties, before repeated ones are joined."""
    raw_ties: Mapping[str, int] = field(default_factory=dict)
    coefficients: tuple[str, ...] | None = ()
    groupings: tuple[str, ...] | None = sometimes()
    """At segment level, as ``ties``, ``minimum_difference`` and ``pooled``."""
    ties: str | None = sometimes()
    minimum_difference: float | None = sometimes()
    human_scores: str | None = sometimes()
    """At system level, as the next two: how people's votes were turned into scores, separated by commas."""
    scored_segments: str | None = sometimes()
    judged_segments: Mapping[str, int | None] | None = sometimes()
    """The number of segments that people judged, by test set; None where they scored systems as a whole."""
    average: bool | Mapping[str, tuple[str, ...]] = False
    """Whether there is an average over test sets, or groups of test sets that have one each."""
    pooled: bool | None = sometimes()
    test: str = "none"
    """The option; ``tests`` has the tests that were computed."""
    tests: tuple[str | None, ...] = ()
    baseline: str | None = None
    adjust: str | None = None
    interval: str | None = None
    confidence_level: float
    alpha: float
    n_resamples: int | None = None
    seed: int | None = None


@dataclass(frozen=True, repr=False)
class MetaEvaluation(StudyResult[MetaPlan]):
    """How well metrics agree with people: the result of the functions of :mod:`reshuffle.meta`.

    A :class:`~reshuffle.StudyResult` with the study ``meta`` and the tables ``results``, ``comparisons``, ``groups``,
    ``human`` and, at system level, ``systems``.
    """

    @property
    def results(self) -> tuple[MetricAgreement, ...]:
        """The agreement of each metric with people, by test set, grouping and coefficient."""
        return self.tables.get("results", ())

    @property
    def comparisons(self) -> tuple[MetricDifference, ...]:
        """The tested differences between metrics."""
        return self.tables.get("comparisons", ())

    @property
    def groups(self) -> tuple[MetricGroup, ...]:
        """The ranking of the metrics, where all pairs were compared."""
        return self.tables.get("groups", ())

    @property
    def human(self) -> tuple[HumanScores, ...]:
        """The human score of each system, and how much of it was judged."""
        return self.tables.get("human", ())

    @property
    def systems(self) -> tuple[MetricSystemScore, ...]:
        """The scores of each system by each metric and by people; only at system level."""
        return self.tables.get("systems", ())


STUDY = StudyTypes(
    [MetaPlan],
    MetaEvaluation,
    results=MetricAgreement,
    comparisons=MetricDifference,
    groups=MetricGroup,
    human=HumanScores,
    systems=MetricSystemScore,
)
