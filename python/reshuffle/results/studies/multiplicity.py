"""Records of a study of multiple tests."""

from __future__ import annotations

from dataclasses import dataclass

from ..intervals import ConfidenceInterval


@dataclass(frozen=True, slots=True)
class FamilyWiseRate:
    """How often at least one of many true null hypotheses is rejected: a family-wise error rate.

    Attributes
    ----------
    test, adjustment, metric : str
        The adjustment is ``none`` for p-values that are not adjusted.
    variances : str
        The kind of family: ``equal`` (exchangeable systems) or ``unequal`` (equal scores only).
    systems, pairs : int
        The number of systems, and of their pairs, which are all tested.
    size : int
        The number of units of a simulated test set.
    alpha : float
    rate : float
        The share of simulations in which the smallest adjusted p of the family is at most alpha.
    confidence_interval : ConfidenceInterval
        Clopper and Pearson's.
    independent : float
        1 − (1 − alpha)^pairs, the rate of as many independent exact tests without adjustment: Riezler & Maxwell 2005
        (W05-0908), 4.4.
    enough_replicates : bool
        Whether the smallest p, times the number of pairs where the adjustment multiplies by it, is at most alpha. If
        not, the rate is low because there are too few replicates.
    simulations : int
    """

    test: str
    adjustment: str
    metric: str
    variances: str
    systems: int
    pairs: int
    size: int
    alpha: float
    rate: float
    confidence_interval: ConfidenceInterval
    independent: float
    enough_replicates: bool
    simulations: int

    @property
    def verdict(self) -> str:
        """As that of :class:`~reshuffle.results.studies.Rate`."""
        if self.confidence_interval.low > self.alpha:
            return "liberal"
        return "conservative" if self.confidence_interval.high < self.alpha else "at its level"
