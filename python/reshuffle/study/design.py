"""``plan``: how large a difference a test set can show, and how large a test set a difference needs."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from .. import _core, signature, types
from ..data.columns import Texts
from ..errors import InputError, quoted
from ..execution import AnyExecutor
from ..execution.checkpoint import kept
from ..inference.detectable import median_and_range
from ..inference.plan import check_test
from ..inference.power import (
    POWER,
    detectable_factor,
    normal_errors,
    normal_power,
    required_units,
    t_detectable,
    t_power,
    t_required_units,
)
from ..progress import AnyProgress, reported
from ..resampling import CountSample, directed
from ..resampling.counting import Data, Metrics, References, Systems
from ..results.lookup import metric_name
from ..results.studies import DetectableAtSize, PairError, PlannedPower, PlannedSize, PowerRate, StudyResult
from ..settings import DocumentIds, Units
from ..validate import check_integer, check_level, check_number
from .material import Material
from .populations import Population
from .power import power_rates, simulated_mixture, true_difference
from .settings import StudySettings, in_list

__all__ = ["DesignOptions", "plan", "plan_of"]

# Default sizes as shares of the data.
SHARES = (0.25, 0.5, 1, 2, 4)
METHODS = ("normal", "t-test")


@dataclass(frozen=True)
class DesignOptions:
    """What is planned. Fields are named like the public keyword arguments."""

    differences: Mapping[str, Any] = field(default_factory=dict)
    powers: Sequence[float] = (POWER,)
    family_size: int | None = None
    simulate: bool = False

    def checked(self, labels: Sequence[str]) -> DesignOptions:
        """The options with the labels of the metrics, and numbers as tuples. :class:`InputError` for bad values."""
        differences: dict[str, tuple[float, ...]] = {}
        for name, values in self.differences.items():
            label = metric_name(name, labels)
            differences[label] = (*differences.get(label, ()), *(_difference(label, each) for each in in_list(values)))
        powers = tuple(check_level("power", power) for power in in_list(self.powers))
        if not powers:
            raise InputError("no power: expected at least one number between 0 and 1, such as 0.8")
        if self.family_size is not None:
            check_integer("family_size", self.family_size, 1)
        return replace(self, differences=differences, powers=powers)


def _difference(label: str, value: object) -> float:
    """A difference to detect, which is positive: its sign does not matter for power."""
    number = check_number(f"the difference in points of {label}", value, 0)
    if number <= 0:
        raise InputError(f"difference: expected a positive number of points of {label}, got {quoted(value)}")
    return number


def plan(
    references: References = None,
    systems: Systems = None,
    metrics: Metrics = "bleu",
    *,
    difference: Mapping[str, float | Sequence[float]] | None = None,
    power: float | Sequence[float] = POWER,
    sizes: int | Sequence[int] | None = None,
    alpha: float = 0.05,
    alternative: types.Alternative | str = "two-sided",
    family_size: int | None = None,
    baseline: str | None = None,
    all_pairs: bool = False,
    simulate: bool = False,
    tests: types.Test | str | Sequence[str] = "bootstrap-both",
    simulations: int = 1000,
    n_resamples: int = 999,
    reference: str | Sequence[str] | None = None,
    documents: DocumentIds | None = None,
    seed: int = 12345,
    threads: int | None = None,
    executor: AnyExecutor = None,
    progress: AnyProgress = None,
    checkpoint: str | os.PathLike[str] | None = None,
) -> StudyResult:
    """Plan a test set: the minimum detectable difference, the power of a test, and the size needed.

    The standard error of a difference is estimated from the outputs by the delta method, and taken as inversely
    proportional to the square root of the number of segments or documents. At the size of the data, the minimum
    detectable difference is that of :func:`reshuffle.compare` (:class:`~reshuffle.DetectableDifference`).

    Parameters
    ----------
    references, systems, metrics, reference
        As for :func:`reshuffle.compare`, but metrics must have counts: no :class:`~reshuffle.CorpusFunction`, and no
        missing scores.
    difference : mapping of str to float or sequence of float, optional
        Differences to detect, in points of each metric: ``{"bleu": 1.0}``.
    power : float or sequence of float
        The target probability of detecting a difference.
    sizes : int or sequence of int, optional
        Numbers of units of the planned test sets. By default ¼, ½, 1, 2 and 4 times as many as the data has.
    alpha : float
        The significance level of a family of tests.
    alternative : {'two-sided', 'better', 'worse', 'greater', 'less'}
        One-sided tests are planned, and simulated, for a difference in their direction.
    family_size : int, optional
        The number of tests adjusted together: a single test has the level ``alpha``/``family_size``. By
        default the number of pairs.
    baseline, all_pairs
        The pairs whose standard errors are used, as for :func:`reshuffle.compare`.
    simulate : bool
        Also simulate tests of the differences, or without any of the minimum detectable differences, on test sets drawn
        from the data with replacement. The real outputs are mixed until the pair has the difference: see ``eta`` in
        :func:`reshuffle.study.power`. The pair is the one with the median standard error of those that differ by at
        least as much.
    tests, simulations, n_resamples
        The simulated tests, the number of simulated test sets, and the replicates of each test.
    documents : sequence of S str or int, optional
        The document id of each segment. Documents are then the units.
    seed, threads, executor, progress, checkpoint
        As for :func:`reshuffle.study.type1`.

    Returns
    -------
    StudyResult
        With the tables ``detectable`` (:class:`~reshuffle.results.studies.DetectableAtSize`), ``planned``
        (:class:`~reshuffle.results.studies.PlannedPower`), ``needed``
        (:class:`~reshuffle.results.studies.PlannedSize`), ``simulated``
        (:class:`~reshuffle.results.studies.PowerRate`) and ``errors`` (:class:`~reshuffle.results.studies.PairError`),
        without those that have no records.

    Raises
    ------
    InputError
        As :func:`reshuffle.compare`, if a number is out of range, all pairs are identical under a metric, or no pair
        differs as much as a difference to simulate.

    Notes
    -----
    Test sets larger than the data repeat its segments when they are simulated, so they are no more varied
    than the data. Means of segment scores are also planned for the t-test, by the noncentral t distribution. Card et
    al. 2020 (2020.emnlp-main.745) discuss the power of comparisons in NLP. Cost without simulation: that of the scores.

    Examples
    --------
    >>> import numpy as np
    >>> from reshuffle import SegmentScores
    >>> from reshuffle.study import plan
    >>> rng = np.random.default_rng(1)
    >>> quality = SegmentScores("quality", {"a": rng.normal(size=400), "b": rng.normal(size=400)})
    >>> planned = plan(metrics=quality, difference={"quality": 0.1}, sizes=[400, 1600])
    >>> [(each.size, round(each.difference, 2)) for each in planned.tables["detectable"] if each.method == "normal"]
    [(400, 0.19), (1600, 0.09)]
    >>> [(each.method, each.size) for each in planned.tables["needed"]]
    [('normal', 1420), ('t-test', 1422)]
    """
    options = DesignOptions(difference or {}, power, family_size, simulate)  # type: ignore[arg-type]
    settings = StudySettings(
        tests=tests,
        sizes=sizes,  # type: ignore[arg-type]
        alphas=(alpha,),
        simulations=simulations,
        n_resamples=n_resamples,
        alternative=alternative,
        baseline=baseline,
        all_pairs=all_pairs,
        seed=seed,
        threads=threads,
        executor=executor,
    )
    texts = Texts.from_arguments(references, systems, reference, documents=documents)
    data, units = Data.from_arguments(texts.references, texts.systems, metrics), Units(texts.documents)
    with reported(progress) as watched, kept(checkpoint, "plan") as finished:
        return plan_of(data, units, settings.watched_by(watched, finished), options)


def plan_of(data: Data, units: Units, settings: StudySettings, options: DesignOptions) -> StudyResult:
    """A plan from counted texts: see :func:`plan`."""
    check_level("alpha", settings.alphas[0])
    settings, options = settings.checked(), options.checked(data.labels)
    for test in settings.tests:
        check_test(test, settings.alternative, *(data.metrics if options.simulate else ()))
    n_differences = sum(map(len, options.differences.values())) or len(data.metrics) * len(options.powers)
    n_cells = n_differences * (len(SHARES) if settings.sizes is None else len(settings.sizes))
    steps = settings.steps(n_cells) if options.simulate else []
    material = Material.from_data(data, units, settings.resampling, steps)
    design = _Design.from_material(material, settings, options)
    simulated, left_out = design.simulated() if options.simulate else ((), "")
    tables: dict[str, tuple[Any, ...]] = {
        "detectable": tuple(design.detectable()),
        "planned": tuple(design.power()),
        "needed": tuple(design.needed()),
        "simulated": tuple(simulated),
        "errors": tuple(design.errors()),
    }
    settings = replace(settings, sizes=design.sizes)
    shared = settings.plan(material)
    for name in ("alphas", "sampling", "scheme", "stopping", "weight_sets", "margins"):
        shared.pop(name)
    if not options.simulate:
        for name in ("tests", "simulations", "n_resamples", "seed"):
            shared.pop(name)
    planned = {
        "difference": {label: list(values) for label, values in options.differences.items()},
        "power": list(options.powers),
        "alpha": settings.alphas[0],
        "family_size": design.family_size,
        "simulate": options.simulate,
        "metrics": list(data.labels),
        **shared,
    }
    used = material.used_metrics
    truths = {"simulated": f"{SIMULATED}{left_out}"} if options.simulate else {}
    return StudyResult(
        study="plan",
        plan=planned,
        metrics=used,
        tables={name: records for name, records in tables.items() if records},
        truths=truths,
        signature=signature.for_study("plan", settings.signed(planned), settings.seed, [m.signature for m in used]),
        version=_core.VERSION,
    )


SIMULATED = (
    "Test sets were drawn from the data with replacement, and in each unit the two systems of a pair were swapped with "
    "the probability that gives them the difference."
)


@dataclass(frozen=True, eq=False)
class _Design:
    """Standard errors by metric and pair, and the sizes to plan for."""

    material: Material
    settings: StudySettings
    options: DesignOptions
    populations: Sequence[Population]
    standard_errors: Sequence[Sequence[float]]
    sizes: tuple[int, ...]

    @classmethod
    def from_material(cls, material: Material, settings: StudySettings, options: DesignOptions) -> _Design:
        n = material.n_units
        if n < 2:
            raise InputError(f"there is only one {material.unit}: a plan needs at least 2")
        pairs = material.pairs(settings.baseline, settings.all_pairs)
        populations = [material.population(pair) for pair in pairs]
        errors = [[_error(each, m) for each in populations] for m in range(len(material.metrics))]
        sizes = settings.sizes or tuple(dict.fromkeys(max(2, round(share * n)) for share in SHARES))
        design = cls(material, settings, options, populations, errors, tuple(sizes))
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
        """The methods of a metric. The t-test needs a mean over units of equal size."""
        is_mean = self.material.metrics[m].is_mean and self.material.documents is None
        return METHODS if is_mean else METHODS[:1]

    def _metrics(self) -> Iterator[tuple[int, str, str]]:
        """The index and the label of each metric, with each of its methods."""
        for m, label in enumerate(self.material.data.labels):
            for method in self._methods(m):
                yield m, label, method

    def detectable(self) -> Iterator[DetectableAtSize]:
        """The minimum detectable difference at each size."""
        for m, label, method in self._metrics():
            for power in self.options.powers:
                for size in self.sizes:
                    factor = max(0.0, detectable_factor(self.level, power, self._side))
                    if method == "t-test":  # in standard deviations of a unit
                        factor = t_detectable(size, self.level, power, self._side) * math.sqrt(size)
                    middle, low, high = (factor * error for error in self._errors_at(m, size))
                    yield DetectableAtSize(label, method, size, self.level, power, middle, low, high)

    @property
    def _side(self) -> str:
        """The alternative for a positive difference: that of one-sided tests is in their direction."""
        return "two-sided" if self.settings.alternative == "two-sided" else "greater"

    def power(self) -> Iterator[PlannedPower]:
        """The power of each difference at each size."""
        for m, label, method in self._metrics():
            for difference in self.options.differences.get(label, ()):
                for size in self.sizes:
                    errors = self._errors_at(m, size)
                    middle, high, low = (self._power(method, difference / error, size) for error in errors)
                    type_m = type_s = None
                    if method == "normal" and self._side == "two-sided":
                        _, type_m, type_s = normal_errors(difference / errors[0], self.level)
                    yield PlannedPower(
                        label, method, size, self.level, difference, middle, low, high, _finite(type_m), _finite(type_s)
                    )

    def _power(self, method: str, effect: float, size: int) -> float:
        """The power for a difference of so many standard errors."""
        if method == "t-test":
            return t_power(effect / math.sqrt(size), size, self.level, self._side)
        return normal_power(effect, self.level, self._side)

    def needed(self) -> Iterator[PlannedSize]:
        """The size that each difference needs."""
        for m, label, method in self._metrics():
            for difference in self.options.differences.get(label, ()):
                for power in self.options.powers:
                    sizes = (self._needed(method, difference, error, power) for error in self._errors_at(m, 1))
                    yield PlannedSize(label, method, self.level, power, difference, *sizes)

    def _needed(self, method: str, difference: float, error: float, power: float) -> int | None:
        """``error`` is the standard deviation of a unit."""
        if method == "t-test":
            return t_required_units(difference / error, self.level, power, self._side)
        return required_units(difference, error, 1, self.level, power, self._side)

    def errors(self) -> Iterator[PairError]:
        """The difference of each pair and its standard error."""
        names = self.material.names
        pairs = self.material.pairs(self.settings.baseline, self.settings.all_pairs)
        for m, label in enumerate(self.material.data.labels):
            for (y, x), population, error in zip(pairs, self.populations, self.standard_errors[m], strict=True):
                difference = true_difference(population.metrics[m], population.counts[m].sum(axis=1), 0.5)
                yield PairError(label, names[y], names[x], difference, error, self.material.n_units)

    def simulated(self) -> tuple[list[PowerRate], str]:
        """Simulated powers, and a sentence about minimum detectable differences that no pair has."""
        found: list[PowerRate] = []
        left_out = 0
        detectable = [each for each in self.detectable() if each.method == "normal"]
        for m, label in enumerate(self.material.data.labels):
            for size in self.sizes:
                if label in self.options.differences:
                    differences: Sequence[float] = self.options.differences[label]
                else:
                    differences = [e.difference for e in detectable if (e.metric, e.size) == (label, size)]
                for difference in differences:
                    chosen = self._with_difference(m, difference)
                    if chosen is not None:
                        found += self._simulate(m, chosen, difference, size)
                    elif label in self.options.differences:
                        raise self._too_large(m, label, difference)
                    else:
                        left_out += 1
        cases = "minimum detectable difference is" if left_out == 1 else "minimum detectable differences are"
        words = f" {left_out:,} {cases} not simulated, because no pair differs as much." if left_out else ""
        largest = max(self.sizes)
        if largest > self.material.n_units:
            words += (
                f" The data has {self.material.n_units:,} {self.material.unit}s: larger test sets repeat them, and are "
                "no more varied."
            )
        return found, words

    def _differences(self, m: int) -> list[float]:
        """The difference of each pair."""
        return [
            true_difference(population.metrics[m], population.counts[m].sum(axis=1), 0.5)
            for population in self.populations
        ]

    def _with_difference(self, m: int, difference: float) -> int | None:
        """The pair with the (lower) median standard error of those that differ by at least so much."""
        errors = self.standard_errors[m]
        able = [at for at, own in enumerate(self._differences(m)) if abs(own) >= difference and errors[at] > 0]
        return sorted(able, key=lambda at: errors[at])[(len(able) - 1) // 2] if able else None

    def _too_large(self, m: int, label: str, difference: float) -> InputError:
        largest = max(map(abs, self._differences(m)))
        return InputError(
            f"difference: {difference:g} points of {label} cannot be simulated, because no pair differs by more than "
            f"{largest:.4g}: ask for less, or leave out the simulation"
        )

    def _simulate(self, m: int, at: int, difference: float, size: int) -> Iterator[PowerRate]:
        """Simulate a test of a difference under one metric at one size."""
        population, settings = self.populations[at], replace(self.settings, alphas=(self.level,))
        y, x = self.material.pairs(settings.baseline, settings.all_pairs)[at]
        counts, metric = population.counts[m], population.metrics[m]
        wanted = math.copysign(difference, true_difference(metric, counts.sum(axis=1), 0.5))
        # One-sided tests are simulated in the direction of their alternative.
        alternative = directed(settings.alternative, metric.higher_is_better)
        if alternative != "two-sided" and (wanted > 0) != (alternative == "greater"):
            counts, wanted, y, x = np.ascontiguousarray(counts[::-1]), -wanted, x, y
        alone = Population(population.name, [metric], [counts])
        eta = effect_for(alone, wanted)
        names = self.material.names[y], self.material.names[x]
        for cell in simulated_mixture(alone, [self.material.data.labels[m]], names, size, eta, settings):
            yield from power_rates(cell, settings)


def effect_for(population: Population, difference: float) -> float:
    """η for which the mixture of a pair under one metric has this difference, by bisection.

    The pair itself differs by at least as much, with the same sign.
    """
    (metric,), (counts,) = population.metrics, population.counts
    totals, low, high = counts.sum(axis=1), 0.0, 0.5
    for _ in range(40):
        middle = (low + high) / 2
        if abs(true_difference(metric, totals, middle)) < abs(difference):
            low = middle
        else:
            high = middle
    return high


def _error(population: Population, m: int) -> float:
    """The standard error of a pair's difference on all the data, by the delta method."""
    sample = CountSample.from_counts(population.metrics[m], population.counts[m])
    return math.sqrt(float(sample.variances_of_differences([(0, 1)])[0]))


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
