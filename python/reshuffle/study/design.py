"""``plan``: how large a difference a test set can show, and how large a test set a difference needs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

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
from ..options.declare import called_with
from ..options.groups import ONLY
from ..options.studies import Plan
from ..resampling import CountSample
from ..resampling.counting import Data, check_only, check_reachable
from ..results.studies import (
    DetectableAtSize,
    PairError,
    PlannedLooks,
    PlannedPower,
    PlannedSize,
    PowerRate,
    StudyResult,
)
from ..results.studies.design import DesignPlan
from ..validate import check_number
from .calibration import ROUNDS, Calibrator, Efficiency
from .material import Material
from .populations import Population
from .power import true_difference
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
        design = _Design.from_material(material, settings, options)
        tables: dict[str, list[Any]] = {
            # Tests that cannot be simulated share their rows: those of a z-test.
            "detectable": list(dict.fromkeys(design.detectable())),
            "planned": list(dict.fromkeys(design.power())),
            "needed": list(dict.fromkeys(design.needed())),
            "sequential": list(design.sequential()),
            "simulated": list(design.simulated()),
            "errors": list(design.errors()),
        }
        settings = evolve(settings, sizes=design.sizes)
        unused = () if options.simulate else ("tests", "simulations", "n_resamples", "seed")
        none: dict[str, Any] = dict.fromkeys(unused)
        tables = {name: records for name, records in tables.items() if records}
        truths = {"simulated": design.truth} if "simulated" in tables else {}
        return settings.result(options, tables, truths, material, family_size=design.family_size, **none)


SIMULATED = (
    "Test sets were drawn from the data with replacement, and in each unit the two systems of a pair were swapped with "
    "the probability that gives them the difference."
)


@dataclass(frozen=True, eq=False)
class _Design:
    """Standard errors by metric and pair, and the sizes to plan for."""

    material: Material
    settings: StudySettings
    options: Plan
    populations: Sequence[Population]
    standard_errors: Sequence[Sequence[float]]
    sizes: tuple[int, ...]

    @classmethod
    def from_material(cls, material: Material, settings: StudySettings, options: Plan) -> _Design:
        n = material.n_units
        if n < 2:
            raise InputError(f"there is only one {material.unit}: a plan needs at least 2")
        pairs = material.pairs(settings.baseline, settings.all_pairs)
        populations = [material.population(pair) for pair in pairs]
        errors = [[_error(each, m) for each in populations] for m in range(len(material.metrics))]
        sizes = settings.sizes or tuple(dict.fromkeys(max(2, round(share * n)) for share in SHARES))
        design = cls(material, settings, options, populations, errors, tuple(sizes))
        for test in (TESTS[name] for name in settings.tests if options.simulate):
            if test.replicates is not None:
                check_replicates(settings.n_resamples, design.level, test.smallest_numerator(settings.alternative))
        for m, label in enumerate(material.data.labels):
            if design._of_pairs(m) is None:
                raise InputError(
                    f"{label}: the systems do not differ, so the standard error of a difference is unknown: plan with "
                    "outputs of systems that differ"
                )
        return design

    @property
    def family_size(self) -> int:
        return len(self.populations) if self.options.family_size is None else self.options.family_size

    @property
    def level(self) -> float:
        """The level of a single test."""
        return self.settings.alphas[0] / self.family_size

    def _of_pairs(self, m: int) -> tuple[float, float, float] | None:
        return median_and_range(np.array(self.standard_errors[m]))

    def _errors_at(self, m: int, size: int) -> tuple[float, float, float]:
        """The median, smallest and largest standard error on a test set of this size."""
        found = self._of_pairs(m)
        assert found is not None
        scale = math.sqrt(self.material.n_units / size)
        middle, low, high = found
        return middle * scale, low * scale, high * scale

    def _methods(self, m: int) -> tuple[str, ...]:
        """The methods of a metric: the tests, or closed forms."""
        if self.options.simulate:
            return tuple(self.settings.tests)
        return (NORMAL, T_TEST) if self._has_t_test(m) else (NORMAL,)

    def _has_t_test(self, m: int) -> bool:
        """The closed form for the t-test needs a mean over units of equal size."""
        return self.material.metrics[m].is_mean and self.material.documents is None

    @lazy
    def _calibrators(self) -> list[Calibrator]:
        """The pairs under each metric."""
        pairs = self.material.pairs(self.settings.baseline, self.settings.all_pairs)
        named = [self.material.names_of(pair) for pair in pairs]
        return [
            Calibrator(
                label,
                [
                    replace(each, metrics=each.metrics[m : m + 1], counts=each.counts[m : m + 1])
                    for each in self.populations
                ],
                named,
                self.level,
                self.settings,
            )
            for m, label in enumerate(self.material.data.labels)
        ]

    @lazy
    def _efficiencies(self) -> dict[tuple[int, str, float, int, float | None], Efficiency | None]:
        """What was simulated, by metric, test, power, size and, if it is given, difference."""
        return {}

    def _efficiency(
        self, m: int, method: str, power: float, size: int, difference: float | None = None
    ) -> float | None:
        """The efficiency of a test; 1 for closed forms, and None if no pair differs enough to simulate it."""
        if not self.options.simulate or (method == T_TEST and self._has_t_test(m)):
            return 1.0
        key = m, method, power, min(size, self.material.n_units), difference
        if key not in self._efficiencies:
            self._efficiencies[key] = self._calibrators[m].efficiency(method, *key[2:])
        found = self._efficiencies[key]
        return None if found is None else found.ratio

    def _planned(self, powers: Sequence[float]) -> Iterator[tuple[int, str, float, float, int]]:
        """The index of each metric, with each method, target power, the efficiency of the method near it, and size.

        A test that cannot be simulated is planned in closed form.
        """
        for m in range(len(self.material.data.labels)):
            for method in self._methods(m):
                for power in powers:
                    for size in self.sizes:
                        found = self._efficiency(m, method, power, size)
                        yield (m, NORMAL, power, 1.0, size) if found is None else (m, method, power, found, size)

    def detectable(self) -> Iterator[DetectableAtSize]:
        """The minimum detectable difference at each size."""
        for m, method, power, efficiency, size in self._planned(self.options.power):
            factor = max(0.0, detectable_factor(self.level, power, self._side)) / efficiency
            if method == T_TEST and self._has_t_test(m):  # in standard deviations of a unit
                factor = t_detectable(size, self.level, power, self._side) * math.sqrt(size)
            middle, low, high = (factor * error for error in self._errors_at(m, size))
            label = self.material.data.labels[m]
            yield DetectableAtSize(label, method, size, self.level, power, middle, low, high)

    @property
    def _side(self) -> str:
        """The alternative for a positive difference: that of one-sided tests is in their direction."""
        return "two-sided" if self.settings.alternative == "two-sided" else "greater"

    def power(self) -> Iterator[PlannedPower]:
        """The power of each difference at each size."""
        for m, method, _, efficiency, size in self._planned(self.options.power[:1]):
            label, is_t_test = self.material.data.labels[m], method == T_TEST and self._has_t_test(m)
            for difference in self.options.difference.get(label, ()):
                effects = [efficiency * difference / error for error in self._errors_at(m, size)]
                middle, high, low = (self._power(is_t_test, effect, size) for effect in effects)
                type_m = type_s = None
                if not is_t_test and self._side == "two-sided":
                    _, type_m, type_s = normal_errors(effects[0], self.level)
                yield PlannedPower(
                    label, method, size, self.level, difference, middle, low, high, _finite(type_m), _finite(type_s)
                )

    def _power(self, is_t_test: bool, effect: float, size: int) -> float:
        """The power for a difference of so many standard errors."""
        if is_t_test:
            return t_power(effect / math.sqrt(size), size, self.level, self._side)
        return normal_power(effect, self.level, self._side)

    def needed(self) -> Iterator[PlannedSize]:
        """The size that each difference needs."""
        for m, label in enumerate(self.material.data.labels):
            for method in self._methods(m):
                for difference in self.options.difference.get(label, ()):
                    for power in self.options.power:
                        yield self._needed(m, method, difference, power)

    def _needed(self, m: int, method: str, difference: float, power: float) -> PlannedSize:
        errors, label = self._errors_at(m, 1), self.material.data.labels[m]  # the standard deviation of a unit
        if method == T_TEST and self._has_t_test(m):
            sizes = (t_required_units(difference / error, self.level, power, self._side) for error in errors)
            return PlannedSize(label, method, self.level, power, difference, *sizes)
        first = required_units(difference, errors[0], 1, self.level, power, self._side)
        efficiency = self._efficiency(m, method, power, self.material.n_units if first is None else first, difference)
        if efficiency is None:
            method, efficiency = NORMAL, 1.0
        sizes = (required_units(efficiency * difference, error, 1, self.level, power, self._side) for error in errors)
        return PlannedSize(label, method, self.level, power, difference, *sizes)

    def sequential(self) -> Iterator[PlannedLooks]:
        """The size that each difference needs with planned looks, of tests with the normal distribution."""
        n_looks = self.options.looks
        if n_looks is None:
            return
        shares = tuple(look / n_looks for look in range(1, n_looks + 1))
        for m, label in enumerate(self.material.data.labels):
            error = self._errors_at(m, 1)[0]
            for method in PLANNED:
                limits = boundaries(method, shares, self.level)
                for difference in self.options.difference.get(label, ()):
                    for power in self.options.power:
                        drift = drift_for(limits, shares, power)
                        size = math.ceil((drift * error / difference) ** 2)
                        stops = stopping(limits, shares, drift)
                        share = float(stops @ np.array(shares)) + 1 - float(stops.sum())
                        expected = math.ceil(size * share)
                        yield PlannedLooks(label, method, n_looks, self.level, power, difference, size, expected)

    def simulated(self) -> Iterator[PowerRate]:
        """The last simulation of each efficiency."""
        for found in self._efficiencies.values():
            if found is not None:
                yield found.simulated

    @property
    def truth(self) -> str:
        """What was true in the simulations."""
        largest = max((found.simulated.size for found in self._efficiencies.values() if found is not None), default=0)
        units = f"{self.material.n_units:,} {self.material.unit}s"
        words = f" The data has {units}: larger test sets repeat them." if largest > self.material.n_units else ""
        if None in self._efficiencies.values():
            words += " Where no pair differs enough to simulate a test, the plan is that of a z-test."
        return SIMULATED + words

    def errors(self) -> Iterator[PairError]:
        """The difference of each pair and its standard error."""
        pairs = self.material.pairs(self.settings.baseline, self.settings.all_pairs)
        for m, label in enumerate(self.material.data.labels):
            for pair, population, error in zip(pairs, self.populations, self.standard_errors[m], strict=True):
                difference = true_difference(population.metrics[m], population.counts[m].sum(axis=1), 0.5)
                names = self.material.names_of(pair)
                yield PairError(label, *names, difference, error, self.material.n_units)


def _error(population: Population, m: int) -> float:
    """The standard error of a pair's difference on all the data, by the delta method."""
    sample = CountSample.from_counts(population.metrics[m], population.counts[m])
    return math.sqrt(float(sample.variances_of_differences([(0, 1)])[0]))


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
