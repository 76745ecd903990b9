"""Records of a study of the sensitivity of metrics."""

from __future__ import annotations

from ...documented import record
from ..intervals import ConfidenceInterval
from .base import StudyTypes
from .plan import PairsPlan, first
from .power import PowerRate


@record
class ScoredSystem:
    """The score of a system and its standard error."""

    metric: str
    system: str
    score: float
    standard_error: float
    """By the delta method."""


@record
class TestedDifference:
    """The difference of two systems on all the data, with the p-value of one test."""

    metric: str
    system: str
    baseline: str
    test: str
    difference: float
    """score(system) − score(baseline)."""
    pvalue: float
    n_resamples: int | None
    """The number of replicates, or None for a test in closed form."""


@record
class MetricSensitivity:
    """How clearly a metric shows the difference of two systems."""

    metric: str
    system: str
    baseline: str
    difference: float
    """score(system) − score(baseline)."""
    standard_error: float
    """Of the difference, by the delta method."""
    standardized: float | None
    r"""\|difference\|/standard_error: the larger, the more sensitive. None if the standard error is 0."""
    rank: int | None
    """Among the metrics for this pair, 1 for the most sensitive."""


@record
class PowerContrast:
    """The difference in power between two metrics, on the same simulated test sets."""

    test: str
    """The test, and the two metrics."""
    metric: str
    other: str
    system: str
    baseline: str
    effect: float
    """η of the mixture."""
    size: int
    alpha: float
    difference: float
    """The power under ``metric`` minus that under ``other``."""
    confidence_interval: ConfidenceInterval
    """Adjusted Wald for paired proportions: Bonett & Price 2012, doi:10.3102/1076998611411915."""
    only_metric: int
    """The numbers of simulations in which the test rejects under one metric only."""
    only_other: int
    simulations: int


@record(kw_only=True, eq=False)
class SensitivityPlan(PairsPlan):
    """How the sensitivity of metrics was simulated: the options of :func:`reshuffle.study.sensitivity`."""

    effects: tuple[float, ...] = first()
    size_adjusted: bool = first()
    metrics: tuple[str, ...] = first()


STUDY = StudyTypes(
    [SensitivityPlan],
    sensitivity=MetricSensitivity,
    scored=ScoredSystem,
    tested=TestedDifference,
    power=PowerRate,
    contrasts=PowerContrast,
)
