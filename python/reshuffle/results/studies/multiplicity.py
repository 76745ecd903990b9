"""Records of a study of multiple tests."""

from __future__ import annotations

from ...documented import record
from ..intervals import ConfidenceInterval
from .base import ErrorRate, StudyTypes
from .plan import SimulatedPlan, first


@record
class FamilyWiseRate(ErrorRate):
    """How often at least one of many true null hypotheses is rejected: a family-wise error rate."""

    test: str
    """The adjustment is ``none`` for p-values that are not adjusted."""
    adjustment: str
    metric: str
    variances: str
    """The kind of family: ``equal`` (exchangeable systems) or ``unequal`` (equal scores only)."""
    systems: int
    """The number of systems, and of their pairs, which are all tested."""
    pairs: int
    size: int
    """The number of units of a simulated test set."""
    alpha: float
    rate: float
    """The share of simulations in which the smallest adjusted p of the family is at most alpha."""
    confidence_interval: ConfidenceInterval
    """Clopper and Pearson's."""
    independent: float
    """1 − (1 − alpha)^pairs, the rate of as many independent exact tests without adjustment: Riezler & Maxwell 2005
    (W05-0908), 4.4.
    """
    enough_replicates: bool
    """Whether the smallest p, times the number of pairs where the adjustment multiplies by it, is at most alpha. If
    not, the rate is low because there are too few replicates.
    """
    simulations: int


@record(kw_only=True, eq=False)
class MultiplicityPlan(SimulatedPlan):
    """How families of tests were simulated: the options of :func:`reshuffle.study.multiplicity`."""

    variances: tuple[str, ...] = first()
    n_systems: tuple[int, ...] | None = first()
    metrics: tuple[str, ...] = first()
    seed: int
    adjustments: tuple[str, ...] | None
    equalize: str | None
    """None without unequal variances."""


STUDY = StudyTypes([MultiplicityPlan], family_wise=FamilyWiseRate)
