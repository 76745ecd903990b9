"""The record of a study of gates, and of looks while data arrive."""

from __future__ import annotations

from ...documented import record
from ..intervals import ConfidenceInterval
from .base import ErrorRate, StudyTypes
from .plan import Plan

# The method of fixed gates; the others look while data arrive.
GATE = "gate"


@record
class GateRate(ErrorRate):
    """How often a gate, or a test while data arrive, comes to one decision."""

    method: str
    """``gate``, a method of :func:`reshuffle.watch`, ``naive`` (a z-test after every segment from the 51st on) or
    ``once`` (one z-test at the end).
    """
    differences: str
    """The distribution of a segment's difference of two systems that are equally good."""
    tasks: int
    """The number of tasks that are decided together."""
    correlation: float
    """Of the normal scores of two tasks on a segment, from which the differences are made."""
    margin: float
    """In standard errors of a difference after all segments."""
    truth: str
    """``equal``, ``one worse`` or ``all worse``: the tasks on which the new system is worse, by exactly the margin."""
    size: int
    """The number of segments, for tests while data arrive that of all of them."""
    decision: str
    """``allow``, ``reject`` or ``inconclusive``; while data arrive, ``decided`` if the first difference shown on any
    task is real, ``wrongly`` if it is not, or has the opposite sign; else ``undecided``.
    """
    is_wrong: bool
    """Whether the decision is one of those whose probability alpha bounds."""
    alpha: float
    rate: float
    """The share of simulations with this decision."""
    confidence_interval: ConfidenceInterval
    """Clopper and Pearson's."""
    units: float | None
    """Of all simulations of tests while data arrive: the median of the segments after which they decided, all of them
    if they did not.
    """
    simulations: int


@record(kw_only=True, eq=False)
class GatePlan(Plan):
    """What was decided, and how often: the options of :func:`reshuffle.study.gate`."""

    methods: tuple[str, ...]
    differences: tuple[str, ...]
    tasks: tuple[int, ...]
    correlation: tuple[float, ...]
    margin: tuple[float, ...] | None
    """None for that with which equal systems are allowed in 80% of the cases."""
    sizes: tuple[int, ...]
    alpha: float
    first_look: int
    looks: int
    metrics: tuple[str, ...]
    simulations: int
    n_resamples: int
    seed: int


STUDY = StudyTypes([GatePlan], decisions=GateRate)
