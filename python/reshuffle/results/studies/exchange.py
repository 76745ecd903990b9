"""The record of a study of the exchange units of optimizer runs."""

from __future__ import annotations

from ...documented import record
from ..intervals import ConfidenceInterval
from .base import ErrorRate, StudyTypes
from .plan import Plan, sometimes


@record
class ExchangeRate(ErrorRate):
    """How often a test of runs of two equal configurations rejects at one level."""

    exchange: str
    """As in :class:`~reshuffle.results.studies.RunDifference`."""
    metric: str
    statistic: str
    runs: int
    """The number of runs of each configuration."""
    run_sd: float | None
    """The standard deviation of the runs' expected scores, divided by the sampling standard deviation of the score of
    one run. None for real runs.
    """
    correlation: float | None
    """Between the segment differences of two pairs of runs, without the runs' own effects. None for real runs."""
    size: int
    """The number of segments (or documents) of a simulated test set."""
    alpha: float
    """The test rejects if p ≤ alpha."""
    rate: float
    """The share of simulations in which it rejects: its type-I error."""
    confidence_interval: ConfidenceInterval
    """For the type-I error. Simulations that share replicates or runs are clusters."""
    expected: float | None
    """The type-I error by a formula, for many segments; None where there is no formula."""
    simulations: int


@record(kw_only=True, eq=False)
class ExchangePlan(Plan):
    """How tests of runs were simulated: the options of :func:`reshuffle.study.exchange`, and what followed."""

    exchange: tuple[str, ...]
    statistic: str
    runs: tuple[int, ...]
    run_sd: tuple[float, ...] | None = sometimes()
    """Only for simulated scores, as ``correlation``."""
    correlation: tuple[float, ...] | None = sometimes()
    systems: tuple[str, ...] | None = sometimes()
    """The runs of the system, as ``units``, ``unit`` and ``sampling`` not for simulated scores."""
    units: int | None = sometimes()
    unit: str | None = sometimes()
    metrics: tuple[str, ...]
    sizes: tuple[int, ...] | None
    sampling: str | None = sometimes()
    alphas: tuple[float, ...]
    simulations: int
    n_resamples: int
    alternative: str
    seed: int
    left_out: tuple[str, ...] = ()
    """Exchange units that need more runs, in words."""


STUDY = StudyTypes([ExchangePlan], exchange_sizes=ExchangeRate)
