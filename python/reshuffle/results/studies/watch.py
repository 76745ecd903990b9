"""The records of ``watch``: what is known of a difference while data arrive."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ...documented import record
from .base import StudyTypes
from .plan import Plan

# The adjustments for several differences.
BONFERRONI, E_BH = "bonferroni", "e-bh"


class SequentialTest(NamedTuple):
    """What a test of a difference while data arrive is called, and when it holds its level."""

    title: str
    measures: str
    """What it is for."""
    holds: str
    """When its error rate holds."""
    source: str
    """The identifier of the paper."""
    is_exact: bool = False
    """Whether the error rate is at most α; else it is about α, the closer the more units there are."""

    @property
    def rate(self) -> str:
        """What the error rate is in relation to α, in words."""
        return "at most" if self.is_exact else "asymptotically"


ANY_METRIC = "any metric of summed counts"
SEQUENTIAL_TESTS: Mapping[str, SequentialTest] = {
    "betting": SequentialTest(
        "betting (confidence sequence of bounded means)",
        "means of scores with bounds",
        "however often one looks and whenever one stops",
        "doi:10.1093/jrsssb/qkad009",
        is_exact=True,
    ),
    "sign": SequentialTest(
        "sign test (mixture of all chances of a win)",
        "means of segment scores: which system wins more often",
        "however often one looks and whenever one stops",
        "doi:10.1214/aoms/1177696786",
        is_exact=True,
    ),
    "asymptotic": SequentialTest(
        "asymptotic confidence sequence",
        ANY_METRIC,
        "however often one looks from the first look on",
        "doi:10.1214/24-AOS2408",
    ),
    "obrien-fleming": SequentialTest(
        "O'Brien–Fleming boundaries", ANY_METRIC, "over all planned looks", "doi:10.1093/biomet/70.3.659"
    ),
    "pocock": SequentialTest("Pocock boundaries", ANY_METRIC, "over all planned looks", "doi:10.1093/biomet/70.3.659"),
}


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


STUDY = StudyTypes([WatchPlan], verdicts=SequentialVerdict, looks=SequentialLook)
