"""``plan``: how large a difference a test set can show, and how large a test set a difference needs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, product
from typing import Any, TypeAlias

import numpy as np
from attrs import evolve

from ..errors import Argument, InputError
from ..inference.detectable import median_and_range
from ..inference.enough import check_replicates
from ..inference.plan import check_test
from ..inference.power import (
    detectable_factor,
    normal_errors,
    normal_power,
    required_units,
    t_detectable,
    t_power,
    t_required_units,
)
from ..inference.sequential import PLANNED, boundaries, drift_for, stopping
from ..inference.tests import TESTS
from ..lazy import lazy
from ..metrics.precomputed import SegmentScores
from ..options.declare import called_with, taken
from ..options.groups import ONLY
from ..options.studies import Plan
from ..resampling.counting import Data, check_only, check_reachable
from ..results.studies import DetectableAtSize, PairError, PlannedLooks, PlannedPower, PlannedSize, StudyResult
from ..results.studies.design import DesignPlan
from ..validate import check_number
from .calibration import ROUNDS, Calibrator, Efficiency
from .material import Material, MeasuredPair
from .settings import StudySettings, started

# Default sizes as shares of the data.
SHARES = (0.25, 0.5, 1, 2, 4)
# In closed form: the z-test with a known standard error, for any test, and the noncentral t distribution, for means.
NORMAL, T_TEST = "normal", "t-test"


def _n_simulations(options: Plan, n_metrics: int) -> int:
    """The number of simulations of each test, at most."""
    n_sizes = len(SHARES) if options.sizes is None else len(options.sizes)
    n_differences = sum(map(len, options.difference.values()))
    return len(ROUNDS) * len(options.power) * (n_metrics * n_sizes + n_differences)


def _by_label(differences: Mapping[str, Sequence[float]], data: Data) -> dict[str, tuple[float, ...]]:
    """The differences by the labels of the metrics, which may have been named in other ways."""
    found: dict[str, tuple[float, ...]] = {}
    for name, values in differences.items():
        if name == ONLY:
            check_only(data.labels, "difference", 0.5)
        label = data.labels[0] if name == ONLY else data.label_of(name)
        found[label] = (*found.get(label, ()), *(_difference(label, each, data) for each in values))
    return found


def _difference(label: str, value: object, data: Data) -> float:
    """A difference to detect, which is positive: its sign does not matter for power. Scores must be able to have it."""
    number = check_number(f"the difference in points of {label}", value, 0, is_open=True)
    metric = data.metrics[data.labels.index(label)]
    if isinstance(metric, SegmentScores):
        scores = [metric.segment_scores(counts) for counts in metric.counts.values()]
        check_reachable(f"the difference of {label}", number, scores, "no test set is large enough")
    return number


@called_with(Plan)
def plan(options: Plan) -> StudyResult[DesignPlan]:
    """Plan a test set: the minimum detectable difference, the power of a test, and the size needed.

    The standard error of a difference is estimated from the outputs by the delta method, and taken as inversely
    proportional to the square root of the number of segments or documents. At the size of the data, the minimum
    detectable difference is that of :func:`reshuffle.compare` (:class:`~reshuffle.DetectableDifference`).

    Returns
    -------
    StudyResult
        With the tables ``detectable`` (:class:`~reshuffle.results.studies.DetectableAtSize`), ``planned``
        (:class:`~reshuffle.results.studies.PlannedPower`), ``needed``
        (:class:`~reshuffle.results.studies.PlannedSize`), ``sequential``
        (:class:`~reshuffle.results.studies.PlannedLooks`), ``simulated``
        (:class:`~reshuffle.results.studies.PowerRate`) and ``errors`` (:class:`~reshuffle.results.studies.PairError`),
        without those that have no records.

    Raises
    ------
    InputError
        As :func:`reshuffle.compare`, if a number is out of range, or all pairs are identical under a metric.

    Notes
    -----
    The closed form has the power of an effect, the difference in standard errors. A test has another power, as that of
    an effect that is larger or smaller by some factor, its efficiency. This is simulated for each test, metric, target
    power and size: the real outputs of a pair are mixed (η in :func:`reshuffle.study.power`) until the difference has
    the effect; the simulated power gives the efficiency, with which a second simulation is made. The pair is that with
    the median standard error of those that differ enough. Sizes beyond that of the data, whose test sets would repeat
    its segments, have the efficiency at the size of the data. If no pair differs enough, the plan is that in closed
    form. Power at other than the target is that of the closed form with the efficiency at the first target.

    Means of segment scores are planned for the t-test by the noncentral t distribution, also without simulation. Card
    et al. 2020 (2020.emnlp-main.745) discuss the power of comparisons in NLP. Cost: for each test, metric, target
    power, and size up to that of the data, ``1.25 * simulations`` tests; without simulation, that of the scores.

    Examples
    --------
    >>> import numpy as np
    >>> from reshuffle import SegmentScores
    >>> from reshuffle.study import plan
    >>> rng = np.random.default_rng(1)
    >>> quality = SegmentScores("quality", {"a": rng.normal(size=400), "b": rng.normal(size=400)})
    >>> planned = plan(metrics=quality, difference={"quality": 0.1}, sizes=[400, 1600], simulate=False)
    >>> [(each.size, round(each.difference, 2)) for each in planned.tables["detectable"] if each.method == "normal"]
    [(400, 0.19), (1600, 0.09)]
    >>> [(each.method, each.size) for each in planned.tables["needed"]]
    [('normal', 1420), ('t-test', 1422)]
    """
    with started("plan", options) as (data, units, settings):
        settings = evolve(settings, alphas=(options.alpha,))
        options = evolve(options, difference=_by_label(options.difference, data))
        if options.looks is not None and not (options.difference and settings.alternative == "two-sided"):
            raise InputError(
                "{looks} can be planned only for two-sided tests and a difference: add {difference}",
                looks=Argument("looks"),
                difference=Argument("difference={METRIC: VALUE}", as_flag="--difference METRIC=VALUE"),
            )
        for test in settings.tests:
            check_test(test, settings.alternative, *(data.metrics if options.simulate else ()))
        n_simulations = _n_simulations(options, len(data.metrics)) * len(settings.tests)
        steps = evolve(settings, tests=settings.tests[:1]).steps(n_simulations) if options.simulate else []
        material = Material.from_data(data, units, settings.resampling, steps)
        metrics = _metrics(material, settings, options)
        every = chain.from_iterable
        tables: dict[str, list[Any]] = {
            # Tests that cannot be simulated share their rows: those of a z-test.
            "detectable": list(dict.fromkeys(every(each.detectable() for each in metrics))),
            "planned": list(dict.fromkeys(every(each.power() for each in metrics))),
            "needed": list(dict.fromkeys(every(each.needed() for each in metrics))),
            "sequential": list(every(each.sequential() for each in metrics)),
            "simulated": [found.simulated for found in metrics[0].simulated.values() if found is not None],
            "errors": list(every(each.errors() for each in metrics)),
        }
        settings = evolve(settings, sizes=metrics[0].sizes)
        unused = () if options.simulate else ("tests", "simulations", "n_resamples", "seed")
        others: dict[str, Any] = {"family_size": metrics[0].family_size, **dict.fromkeys(unused)}
        tables = {name: records for name, records in tables.items() if records}
        truths = {"simulated": _truth(metrics[0].simulated, material)} if "simulated" in tables else {}
        return settings.result(options, tables, truths, material, **others)


SIMULATED = (
    "Test sets were drawn from the data with replacement, and in each unit the two systems of a pair were swapped with "
    "the probability that gives them the difference."
)


# What was simulated, by metric, test, power, size and, if it is given, difference.
Found: TypeAlias = dict[tuple[str, str, float, int, float | None], Efficiency | None]


def _metrics(material: Material, settings: StudySettings, options: Plan) -> list[_Planned]:
    """The plan under each metric; :class:`InputError` if there can be none."""
    n = material.n_units
    if n < 2:
        raise InputError(f"there is only one {material.unit}: a plan needs at least 2")
    pairs = zip(*material.measured_pairs(settings.baseline, settings.all_pairs), strict=True)
    sizes = settings.sizes or tuple(dict.fromkeys(max(2, round(share * n)) for share in SHARES))
    simulated: Found = {}
    metrics = [_Planned(own, settings, options, tuple(sizes), material.documents is None, simulated) for own in pairs]
    for test in (TESTS[name] for name in settings.tests if options.simulate):
        if test.replicates is not None:
            check_replicates(settings.n_resamples, metrics[0].level, test.smallest_numerator(settings.alternative))
    for each in metrics:
        _ = each.standard_errors  # raises an error if the systems do not differ
    return metrics


def _truth(simulated: Found, material: Material) -> str:
    """What was true in the simulations."""
    largest = max((found.simulated.size for found in simulated.values() if found is not None), default=0)
    words = (
        f" Where no two systems differ enough for this power on the {material.n_units:,} {material.unit}s of the data, "
        "larger test sets were simulated, in which segments repeat."
        if largest > material.n_units
        else ""
    )
    if None in simulated.values():
        words += " Where no pair differs enough to simulate a test, the plan is that of a z-test."
    return SIMULATED + words


@dataclass(frozen=True, eq=False)
class _Planned:
    """What is planned under one metric."""

    pairs: Sequence[MeasuredPair]
    settings: StudySettings
    options: Plan
    sizes: tuple[int, ...]
    equal_units: bool
    """Whether units are of equal size, as the closed form for the t-test needs them."""
    simulated: Found
    """Under all metrics."""

    @property
    def label(self) -> str:
        """The name of the metric."""
        return self.pairs[0].metric

    @property
    def family_size(self) -> int:
        """The number of tests that are adjusted together."""
        return len(self.pairs) if self.options.family_size is None else self.options.family_size

    @property
    def level(self) -> float:
        """The level of a single test."""
        return self.settings.alphas[0] / self.family_size

    @property
    def _side(self) -> str:
        """The alternative for a positive difference: that of one-sided tests is in their direction."""
        return "two-sided" if self.settings.alternative == "two-sided" else "greater"

    @property
    def _differences(self) -> Sequence[float]:
        return self.options.difference.get(self.label, ())

    @lazy
    def standard_errors(self) -> tuple[float, float, float]:
        """The median, smallest and largest standard error of the pairs on the data."""
        found = median_and_range(np.array([math.sqrt(each.variance) for each in self.pairs]))
        if found is None:
            raise InputError(
                f"{self.label}: the systems do not differ, so the standard error of a difference is unknown: plan with "
                "outputs of systems that differ"
            )
        return found

    def _errors_at(self, size: int) -> list[float]:
        """The same on a test set of this size."""
        scale = math.sqrt(self.pairs[0].n_units / size)
        return [error * scale for error in self.standard_errors]

    @property
    def _methods(self) -> tuple[str, ...]:
        """The tests, or closed forms."""
        if self.options.simulate:
            return tuple(self.settings.tests)
        return (NORMAL, T_TEST) if self._is_t_test(T_TEST) else (NORMAL,)

    def _is_t_test(self, method: str) -> bool:
        """Whether a method is the closed form for the t-test, which needs a mean over units of equal size."""
        return method == T_TEST and self.pairs[0].formula.is_mean and self.equal_units

    @lazy
    def _calibrator(self) -> Calibrator:
        return Calibrator(self.pairs, self.level, self.settings)

    def _efficiency(self, method: str, power: float, size: int, difference: float | None = None) -> float | None:
        """The efficiency of a test; 1 for closed forms, and None if no pair differs enough to simulate it."""
        if not self.options.simulate or self._is_t_test(method):
            return 1.0
        key = self.label, method, power, min(size, self.pairs[0].n_units), difference
        if key not in self.simulated:
            self.simulated[key] = self._calibrator.efficiency(*key[1:])
        found = self.simulated[key]
        return None if found is None else found.ratio

    def _planned(self, powers: Sequence[float]) -> Iterator[tuple[str, float, float, int]]:
        """Each method with each target power, the efficiency of the method near it, and each size.

        A test that cannot be simulated is planned in closed form.
        """
        for method, power, size in product(self._methods, powers, self.sizes):
            found = self._efficiency(method, power, size)
            yield (NORMAL, power, 1.0, size) if found is None else (method, power, found, size)

    def detectable(self) -> Iterator[DetectableAtSize]:
        """The minimum detectable difference at each size."""
        for method, power, efficiency, size in self._planned(self.options.power):
            factor = max(0.0, detectable_factor(self.level, power, self._side)) / efficiency
            if self._is_t_test(method):  # in standard deviations of a unit
                factor = t_detectable(size, self.level, power, self._side) * math.sqrt(size)
            middle, low, high = (factor * error for error in self._errors_at(size))
            yield DetectableAtSize(self.label, method, size, self.level, power, middle, low, high)

    def power(self) -> Iterator[PlannedPower]:
        """The power of each difference at each size."""
        for method, _, efficiency, size in self._planned(self.options.power[:1]):
            is_t_test = self._is_t_test(method)
            for difference in self._differences:
                effects = [efficiency * difference / error for error in self._errors_at(size)]
                middle, high, low = (self._power(is_t_test, effect, size) for effect in effects)
                type_m = type_s = None
                if not is_t_test and self._side == "two-sided":
                    _, type_m, type_s = normal_errors(effects[0], self.level)
                errors = _finite(type_m), _finite(type_s)
                yield PlannedPower(self.label, method, size, self.level, difference, middle, low, high, *errors)

    def _power(self, is_t_test: bool, effect: float, size: int) -> float:
        """The power for a difference of so many standard errors."""
        if is_t_test:
            return t_power(effect / math.sqrt(size), size, self.level, self._side)
        return normal_power(effect, self.level, self._side)

    def needed(self) -> Iterator[PlannedSize]:
        """The size that each difference needs."""
        for method, difference, power in product(self._methods, self._differences, self.options.power):
            yield self._needed(method, difference, power)

    def _needed(self, method: str, difference: float, power: float) -> PlannedSize:
        errors, asked = self._errors_at(1), (self.level, power, self._side)  # the standard deviation of a unit
        if self._is_t_test(method):
            sizes = (t_required_units(difference / error, *asked) for error in errors)
            return PlannedSize(self.label, method, self.level, power, difference, *sizes)
        first = required_units(difference, errors[0], 1, *asked)
        efficiency = self._efficiency(method, power, self.pairs[0].n_units if first is None else first, difference)
        if efficiency is None:
            method, efficiency = NORMAL, 1.0
        sizes = (required_units(efficiency * difference, error, 1, *asked) for error in errors)
        return PlannedSize(self.label, method, self.level, power, difference, *sizes)

    def sequential(self) -> Iterator[PlannedLooks]:
        """The size that each difference needs with planned looks, of tests with the normal distribution."""
        n_looks = self.options.looks
        if n_looks is None:
            return
        shares = tuple(look / n_looks for look in range(1, n_looks + 1))
        error = self._errors_at(1)[0]
        for method in PLANNED:
            limits = boundaries(method, shares, self.level)
            for difference, power in product(self._differences, self.options.power):
                drift = drift_for(limits, shares, power)
                size = math.ceil((drift * error / difference) ** 2)
                stops = stopping(limits, shares, drift)
                share = float(stops @ np.array(shares)) + 1 - float(stops.sum())
                expected = math.ceil(size * share)
                yield PlannedLooks(self.label, method, n_looks, self.level, power, difference, size, expected)

    def errors(self) -> Iterator[PairError]:
        """The difference of each pair and its standard error."""
        for pair in self.pairs:
            error = math.sqrt(pair.variance)
            yield taken(PairError, pair, difference=pair.observed, standard_error=error, size=pair.n_units)


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
