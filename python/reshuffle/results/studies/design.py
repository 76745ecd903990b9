"""Records of a plan of a test set."""

from __future__ import annotations

from collections.abc import Mapping

from ...documented import record
from .base import StudyTypes
from .plan import DataPlan, first, sometimes
from .power import PowerRate


@record
class PairError:
    """The difference of two systems on the data, and its standard error, on which plans are based."""

    metric: str
    system: str
    baseline: str
    difference: float
    """score(system) − score(baseline)."""
    standard_error: float
    """By the delta method, on ``size`` units; 0 if the systems hardly differ."""
    size: int
    """The number of units (segments or documents) of the data."""


@record
class DetectableAtSize:
    """The minimum detectable difference on a test set of some size."""

    metric: str
    method: str
    """The test whose power was simulated. ``t-test``: from the noncentral t distribution, for means of segment scores.
    ``normal``: (z₁₋α⸝₂ + z_power)·se, if nothing was simulated.
    """
    size: int
    """The number of units."""
    level: float
    """The level of a single test: α divided by the number of tests that are adjusted together."""
    power: float
    """The probability of detecting it."""
    difference: float
    """In points of the metric, for the pair with the median standard error."""
    low: float
    """The same for the smallest and the largest standard error."""
    high: float


@record
class PlannedPower:
    """The power for a given difference on a test set of some size."""

    metric: str
    """As in :class:`DetectableAtSize`."""
    method: str
    size: int
    """The number of units."""
    level: float
    """The level of a single test."""
    difference: float
    """The true difference, in points of the metric."""
    power: float
    """For the pair with the median standard error."""
    low: float
    """The same for the largest and the smallest standard error."""
    high: float
    type_m: float | None
    """The expected size of a significant difference divided by the true one (exaggeration ratio), for the median
    standard error, of a z-test with this power. None for one-sided tests and the t-test.
    """
    type_s: float | None
    """The probability that a significant difference has the wrong sign. None as for ``type_m``."""


@record
class PlannedSize:
    """The number of units that a test set needs."""

    metric: str
    """As in :class:`DetectableAtSize`."""
    method: str
    level: float
    """The level of a single test."""
    power: float
    """The target power."""
    difference: float
    """The true difference, in points of the metric."""
    size: int | None
    """For the pair with the median standard error. None if 2⁵³ units are not enough."""
    low: int | None
    """The same for the smallest and the largest standard error."""
    high: int | None


@record
class PlannedLooks:
    """The number of units that :func:`reshuffle.watch` needs with planned looks."""

    metric: str
    method: str
    """``obrien-fleming`` or ``pocock``."""
    looks: int
    """The number of looks, after equal numbers of units."""
    level: float
    """The level of a single test, at all looks together."""
    power: float
    """The target power, at all looks together."""
    difference: float
    """The true difference, in points of the metric."""
    size: int
    """The number of units at the last look, for the pair with the median standard error."""
    expected: int
    """The expected number of units at the look that decides, or at the last one."""


@record(kw_only=True, eq=False)
class DesignPlan(DataPlan):
    """How a test set was planned: the options of :func:`reshuffle.study.plan`, and what followed from them."""

    difference: Mapping[str, tuple[float, ...]] = first()
    """The differences to show, by metric."""
    power: tuple[float, ...] = first()
    alpha: float = first()
    family_size: int = first()
    """The number of tests that share alpha."""
    looks: int | None = first()
    simulate: bool = first()
    metrics: tuple[str, ...] = first()
    tests: tuple[str, ...] | None = sometimes()
    """Only with ``simulate``, as ``simulations``, ``n_resamples`` and ``seed``."""
    sizes: tuple[int, ...]
    simulations: int | None = sometimes()
    n_resamples: int | None = sometimes()
    alternative: str
    baseline: str | None
    all_pairs: bool
    seed: int | None = sometimes()


STUDY = StudyTypes(
    [DesignPlan],
    detectable=DetectableAtSize,
    planned=PlannedPower,
    needed=PlannedSize,
    sequential=PlannedLooks,
    simulated=PowerRate,
    errors=PairError,
)
