"""Records of a study of power."""

from __future__ import annotations

from ...documented import record
from ..intervals import ConfidenceInterval
from .base import Rate, StudyTypes
from .plan import PairsPlan, Plan, first


@record
class PowerRate:
    """How often a test detects a known difference, and what its significant differences are like."""

    test: str
    metric: str
    system: str
    """The pair. Differences are score(system) − score(baseline). Empty for a model without data."""
    baseline: str
    model: str
    """What was true in the simulated test sets: a name in :data:`reshuffle.study.power.MODELS`."""
    effect: float | None
    """The difference as a share of that of the real pair, halved: η, from 0 to ½. None for a model without data."""
    size: int
    """The number of units (segments or documents) of a simulated test set."""
    alpha: float
    """The level of the test."""
    level: float
    """The test rejects if p ≤ level: alpha or, for size-adjusted power, the level at which it rejects a share of at
    most alpha of the simulations of the null hypothesis.
    """
    difference: float
    """The true difference, in points of the metric."""
    rate: float
    """The power: the share of simulations in which the test rejects, whatever the sign of the difference."""
    confidence_interval: ConfidenceInterval
    """For the power: Clopper–Pearson. For size-adjusted power it takes the level as known."""
    mean_difference: float
    """The mean of the observed differences over all simulations."""
    type_m: float | None
    """The mean size of the significant differences divided by the true one: the exaggeration ratio. None if the true
    difference is 0, or no difference was significant.
    """
    type_s: float | None
    """The share of the significant differences that have the wrong sign. None as for ``type_m``."""
    approximation: float | None
    """The power of a normal estimate with the standard error of the delta method. None if test sets are not drawn with
    replacement.
    """
    simulations: int


@record
class FittedSwapEffects:
    """The model of Card et al. 2020, fitted to a pair: see :class:`reshuffle.study.parametric.SwapEffects`."""

    metric: str
    system: str
    baseline: str
    p_zero: float
    """The share of units in which a swap does not change the difference."""
    b_zero: float
    """The scale of the Laplace distribution of the other effects, times the number of units."""
    difference: float
    """The difference of the pair."""
    units: int
    """The number of units that the model was fitted to."""


@record(kw_only=True, eq=False)
class PowerPlan(PairsPlan):
    """How power was simulated from data: the options of :func:`reshuffle.study.power`."""

    models: tuple[str, ...] = first()
    effects: tuple[float, ...] = first()
    size_adjusted: bool = first()
    metrics: tuple[str, ...] = first()


@record(kw_only=True, eq=False)
class ParametricPlan(Plan):
    """How power was simulated without data: the options of :func:`reshuffle.study.parametric_power`."""

    models: tuple[str, ...]
    difference: tuple[float, ...]
    p_zero: float
    b_zero: float
    metrics: tuple[str, ...]
    size_adjusted: bool
    tests: tuple[str, ...]
    sizes: tuple[int, ...]
    alphas: tuple[float, ...]
    alternative: str
    simulations: int
    n_resamples: int
    seed: int


STUDY = StudyTypes([PowerPlan, ParametricPlan], power=PowerRate, rates=Rate, fits=FittedSwapEffects)
