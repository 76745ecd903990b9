"""The records of ``watch``: what is known of a difference while data arrive."""

from __future__ import annotations

from ...documented import record
from .plan import Plan

# The adjustments for several differences.
BONFERRONI, E_BH = "bonferroni", "e-bh"


@record
class SequentialVerdict:
    """What is known of a difference after all units so far."""

    metric: str
    system: str
    baseline: str
    verdict: str
    """``better`` or ``worse`` if a difference was shown at any look, with ``e-bh`` at the last one; else
    ``undecided``.
    """
    decided_at: int | None
    """The number of units after which it was shown."""
    units: int
    """The number of units so far."""
    difference: float
    low: float | None
    """The ends of the confidence sequence at the last look: with probability 1 − alpha it has the true difference at
    all looks. None before the first look, and for ``sign``, which has none.
    """
    high: float | None
    pvalue: float | None
    """The smallest p at any look. It is valid however one stops: ``1/(largest e-value)`` for ``betting`` and ``sign``.
    None for planned looks.
    """
    log_evalue: float | None = None
    """The natural logarithm of the e-value after all units so far, for ``betting`` and ``sign``. Of a true null
    hypothesis, the expected e-value is 1 at most. So e-values of different nights may be multiplied if no unit is in
    two of them, and e-values of several differences averaged.
    """


@record
class SequentialLook:
    """One look at a difference."""

    metric: str
    system: str
    baseline: str
    units: int
    """The number of units up to the look."""
    difference: float
    low: float | None
    high: float | None
    pvalue: float | None
    z: float | None
    """The difference in standard errors, for metrics of summed counts."""
    boundary: float | None
    """The absolute value of ``z`` at which a planned look decides."""


@record(kw_only=True, eq=False)
class WatchPlan(Plan):
    """How differences were watched: the options of :func:`reshuffle.watch`, and what followed from them."""

    systems: tuple[str, ...]
    unit: str
    """``segment`` or ``document``."""
    units: int
    """The number of these so far."""
    baseline: str | None
    method: str
    alpha: float
    adjust: str | None
    """None for Bonferroni's."""
    bounds: tuple[float, ...] | None
    first_look: int | None
    """Only for the method ``asymptotic``."""
    looks: int | None
    """Only for methods with planned looks, as ``planned``."""
    planned: int | None
