"""The records of ``human``: means that people's labels and metrics estimate together."""

from __future__ import annotations

from dataclasses import dataclass

from ...documented import documented
from .plan import Plan


@documented
@dataclass(frozen=True, slots=True)
class LabelledEstimate:
    """An estimate of a system's mean label, or of the difference of two systems."""

    metric: str
    """The metric that has the labels."""
    predictor: str | None
    """The metric that helped; None for the labels alone."""
    system: str
    baseline: str | None
    """The system that is subtracted; None for the mean of one system."""
    labelled: int
    """The number of units with labels; for a difference, of both systems."""
    estimate: float
    standard_error: float
    low: float
    high: float
    pvalue: float | None
    """Two-sided, of the t test that there is no difference. None for a mean."""
    adjusted_pvalue: float | None
    """Adjusted by Holm's method for all pairs; None for a mean, or if there is one pair."""
    weight: float
    """λ: how much the estimate changes with a change of 1 in the predictor. 0 without predictor."""
    correlation: float | None
    """Of labels and predictor over the labelled units; None without predictor, or if one of them is constant."""
    worth: float
    """How many labels more would give the same standard error without the predictor."""
    detectable: float | None
    """The difference that this t test shows with 80% power; None for a mean."""
    needed: int | None
    """The number of labels with which the planned difference is shown with that power, if as large a share of the units
    has labels. None for a mean, without a planned difference, or beyond 2⁵³.
    """
    shift_pvalue: float | None
    """That the predictor has the same mean in labelled and other units. Small if labels were not drawn at random."""


@documented
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class HumanPlan(Plan):
    """What labels of people were joined with: the options of :func:`reshuffle.human`, and what followed from them."""

    systems: tuple[str, ...]
    baseline: str
    human: str
    """The metric that has the labels."""
    unit: str
    """``segment`` or ``document``."""
    units: int
    """The number of these, with labels or not."""
    target: str
    difference: float | None
    confidence_level: float
