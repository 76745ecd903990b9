"""The records of ``human``: means that people's labels and metrics estimate together."""

from __future__ import annotations

from collections.abc import Sequence

from ...documented import record
from ..ranking import RankedSystem
from .base import StudyTypes
from .plan import Plan

# In a result of labels that were drawn at random, a metric looks as if they were not this often.
SELECTED = 0.01


def is_selected(pvalue: float | None, n: int) -> bool:
    """Whether one of n p-values says that labels were not drawn at random."""
    return pvalue is not None and pvalue < SELECTED / n


def deciding(predictors: Sequence[str]) -> str | None:
    """The predictor with whose help a result decides: the only one. Of several, none was chosen beforehand."""
    return predictors[0] if len(predictors) == 1 else None


@record
class LabelledEstimate:
    """An estimate of a system's mean label, or of the difference of two systems."""

    metric: str
    """The metric that has the labels, or those of the raters."""
    standardized: bool
    """Whether labels are in standard deviations from the mean of their rater, over all labels of that rater, which
    removes the raters' own scales; else as they were given.
    """
    predictor: str | None
    """The metric that helped; None for the labels alone."""
    system: str
    baseline: str | None
    """The system that is subtracted; None for the mean of one system."""
    labelled: int
    """The number of units with labels; for a difference, of both systems."""
    estimate: float
    standard_error: float
    low: float | None
    """The ends of the t interval; None if labels, or differences of them, are all equal or predicted exactly: then the
    standard error is unknown.
    """
    high: float | None
    pvalue: float | None
    """Two-sided, of the t test that there is no difference; 1 without an interval. None for a mean."""
    adjusted_pvalue: float | None
    """Adjusted by Holm's method for all pairs; None for a mean, or if there is one pair."""
    weight: float
    """λ: how much the estimate changes with a change of 1 in the predictor. 0 without predictor."""
    correlation: float | None
    """Of labels and predictor over the labelled units; None without predictor, or if one of them is constant."""
    worth: float
    """How many more labels would give the same standard error without the predictor. Below 0, usually −1, if the
    predictor says nothing about them: its weight is fitted to them, which takes a degree of freedom.
    """
    detectable: float | None
    """The difference that this t test shows with 80% power. None for a mean, or if raters are a sample, or without an
    interval.
    """
    needed: int | None
    """The number of labels with which the planned difference is shown with that power, if as large a share of the units
    has labels. None for a mean, without a planned difference, with strata, if raters are a sample, or beyond 2⁵³.
    """
    shift_pvalue: float | None
    """That the predictor has the same mean in labelled and other units. Small if labels were not drawn at random."""

    @property
    def decisive_pvalue(self) -> float:
        """The adjusted p-value if there is one, else p; NaN for a mean."""
        p = self.pvalue if self.adjusted_pvalue is None else self.adjusted_pvalue
        return float("nan") if p is None else p


@record
class RaterAgreement:
    """How far the raters agree on the same outputs."""

    standardized: bool
    """As for :class:`LabelledEstimate`."""
    coefficient: str
    """``alpha-nominal``, ``alpha-ordinal`` or ``alpha-interval`` (Krippendorff's α, for labels that are names, an order
    or numbers), or ``kappa`` (Cohen's, of two raters). For more than 20 different labels, only ``alpha-interval``.
    """
    value: float | None
    """1 for perfect agreement, 0 for that of chance; None if all labels are equal."""
    low: float | None
    """The percentile interval, from 2,000 draws of the units that labels of several raters have."""
    high: float | None
    outputs: int
    """The number of outputs with labels of at least two raters."""


@record
class PlannedLook:
    """When labels are looked at, and what ends the labelling: O'Brien and Fleming's boundary."""

    predictor: str | None
    system: str
    baseline: str
    look: int
    """From 1."""
    labels: int
    """The number of labelled units at this look."""
    level: float
    """The difference is shown at this look if its p, without an adjustment, is at most this."""
    power: float
    """The probability that the planned difference is shown at this look or before."""


@record
class PlannedRaters:
    """How many units have to be labelled, by how many raters each, to show the difference with 80% power."""

    predictor: str | None
    system: str
    baseline: str
    per_segment: int
    """How many of these raters label each segment."""
    needed: int | None
    """The number of labelled units, if as large a share has labels; None beyond 2⁵³."""


@record(kw_only=True, eq=False)
class HumanPlan(Plan):
    """What labels of people were joined with: the options of :func:`reshuffle.human`, and what followed from them."""

    systems: tuple[str, ...]
    baseline: str | None
    """None for all pairs."""
    human: tuple[str, ...]
    """The metrics that have labels: one, or one for each rater."""
    raters: str | None
    """None for one rater."""
    strata: int | None
    """Their number; None without strata."""
    unit: str
    """``segment`` or ``document``."""
    units: int
    """The number of these, with labels or not."""
    target: str
    difference: float | None
    looks: int | None
    confidence_level: float


STUDY = StudyTypes(
    [HumanPlan],
    differences=LabelledEstimate,
    scores=LabelledEstimate,
    ranking=RankedSystem,
    agreement=RaterAgreement,
    looks=PlannedLook,
    designs=PlannedRaters,
)
