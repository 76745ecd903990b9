"""The difference between two systems under a metric, and what it rests on."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from ..documented import record
from .histograms import NullHistogram
from .intervals import ConfidenceInterval
from .reported import Worded
from .significance import SignificanceResult


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
    """The number of segments for which both systems have a score: fewer than those of the test set only for
    :class:`~reshuffle.SegmentScores` with missing scores. The difference is then that of the means over these segments.
    """
    n_units: int
    """The number of resampling units among these."""
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
