"""The record of a study of the exchange units of optimizer runs."""

from __future__ import annotations

from dataclasses import dataclass

from ..intervals import ConfidenceInterval


@dataclass(frozen=True, slots=True)
class ExchangeRate:
    """How often a test of runs of two equal configurations rejects at one level.

    Attributes
    ----------
    exchange, metric, statistic : str
        As in :class:`~reshuffle.results.studies.RunDifference`.
    runs : int
        The number of runs of each configuration.
    run_sd : float or None
        The standard deviation of the runs' expected scores, divided by the sampling standard deviation of the score of
        one run. None for real runs.
    correlation : float or None
        Between the segment differences of two pairs of runs, without the runs' own effects. None for real runs.
    size : int
        The number of segments (or documents) of a simulated test set.
    alpha : float
        The test rejects if p ≤ alpha.
    rate : float
        The share of simulations in which it rejects: its type-I error.
    confidence_interval : ConfidenceInterval
        For the type-I error. Simulations that share replicates or runs are clusters.
    expected : float or None
        The type-I error by a formula, for many segments; None where there is no formula.
    simulations : int
    """

    exchange: str
    metric: str
    statistic: str
    runs: int
    run_sd: float | None
    correlation: float | None
    size: int
    alpha: float
    rate: float
    confidence_interval: ConfidenceInterval
    expected: float | None
    simulations: int

    @property
    def verdict(self) -> str:
        """The interval against the level: ``liberal``, ``conservative`` or ``at its level``.

        As :attr:`reshuffle.results.studies.Rate.verdict`.
        """
        if self.confidence_interval.low > self.alpha:
            return "liberal"
        return "conservative" if self.confidence_interval.high < self.alpha else "at its level"
