"""``power``: how often tests detect a difference that is there, and how much significant differences exaggerate it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

import numpy as np
from attrs import evolve
from numpy.typing import NDArray

from ..errors import InputError
from ..inference.plan import check_test
from ..inference.power import normal_power
from ..metrics.base import Counts, Metric, Scores
from ..options.declare import called_with, taken
from ..options.studies import ParametricPower, Power, Sensitivity
from ..resampling import CountSample, directed
from ..results.studies import FittedSwapEffects, PowerRate, Rate, StudyResult
from ..results.studies.power import ParametricPlan, PowerPlan
from ..toml import loads
from .experiments import Experiment
from .material import Material
from .null_data import swap_probability
from .parametric import SwapEffects, simulate_swap_effects
from .populations import Population, Selection
from .rates import rate_interval
from .settings import StudySettings, settings_of, started


@dataclass(frozen=True)
class PowerModel:
    """An entry of the registry: what is true in simulated test sets."""

    name: str
    title: str
    truth: str
    source: str


MODELS: Mapping[str, PowerModel] = {
    name: PowerModel(name, **entry)
    for name, entry in loads(Path(__file__).with_suffix(".toml").read_text("utf-8")).items()
}


@called_with(Power)
def power(options: Power) -> StudyResult[PowerPlan]:
    """The power of significance tests on real outputs, by effect and size of the test set.

    Each simulation draws a test set from real outputs in which the difference of the two systems is known, and tests
    it. Power is the share of the simulations in which the test rejects. Type-M error is how many times larger
    significant differences are than the true one, type-S error how often they have the wrong sign (Gelman & Carlin
    2014, doi:10.1177/1745691614551642).

    Returns
    -------
    StudyResult
        With the tables ``power`` (:class:`~reshuffle.results.studies.PowerRate`), ``rates`` (the same as
        :class:`~reshuffle.results.studies.Rate`) and, for ``parametric``, ``fits``
        (:class:`~reshuffle.results.studies.FittedSwapEffects`).

    Raises
    ------
    InputError
        As :func:`reshuffle.study.type1`, for an effect outside [0, ½], and for ``parametric`` if the outputs of a pair
        do not differ.

    Notes
    -----
    The true difference under ``eta`` is that of the expected sums of counts. Several pairs are studied each for itself.
    The scheme cannot be ``orbit``, a stopping rule cannot be combined with ``size_adjusted``, whose levels need every
    p, and ``parametric`` makes all shuffles. Cost: simulations × tests × R scores for each metric, pair, size and
    effect.

    Examples
    --------
    >>> import numpy as np
    >>> from reshuffle import SegmentScores
    >>> from reshuffle.study import power
    >>> rng = np.random.default_rng(1)
    >>> quality = SegmentScores("quality", {"a": rng.normal(size=100), "b": rng.normal(0.3, size=100)})
    >>> study = power(metrics=quality, tests="ar", effects=[0, 0.5], alphas=0.05, simulations=100, n_resamples=99)
    >>> [(rate.effect, rate.rate) for rate in study.tables["power"]]
    [(0.0, 0.06), (0.5, 0.62)]
    """
    with started("power", options) as (data, units, settings):
        check_shuffles(settings, options.size_adjusted)
        for test in settings.tests:
            check_test(test, settings.alternative, *data.metrics)
        n_cells = settings.n_pairs(len(data.names)) * settings.n_sizes * _n_cells(options)
        material = Material.from_data(data, units, settings.resampling, settings.steps(n_cells))
        study = PowerStudy(material, settings, options, options.models)
        found = [rate for cells in study.cells() for cell in cells for rate in power_rates(cell, settings)]
        tables: dict[str, Iterable[object]] = {"power": found, "rates": map(as_rate, found)}
        if "parametric" in options.models:
            tables["fits"] = study.fits()
        truths = {name: MODELS[name].truth for name in options.models}
        return settings.result(options, tables, truths, material)


def check_shuffles(settings: StudySettings, size_adjusted: bool) -> None:
    """:class:`InputError` for shuffles that do not suit a study of power.

    Shuffles that all simulations share need exchangeable systems, and the levels of size-adjusted power need every p.
    """
    if settings.scheme == "orbit":
        raise InputError("scheme 'orbit' needs systems without a difference: use 'iid' or 'subgroup'")
    if size_adjusted and settings.stopping is not None:
        raise InputError(
            f"size-adjusted power needs the p of all shuffles, but the stopping rule {settings.stopping!r} ends them "
            "early: leave one of them out"
        )


def _n_cells(options: Power) -> int:
    """The number of cells that simulate test sets from the data, for each pair and size."""
    etas = {*(options.effects if "eta" in options.models else ())}
    return len(etas | ({0.5} if "real" in options.models else set()) | ({0.0} if options.size_adjusted else set()))


def as_rate(found: PowerRate) -> Rate:
    """The rate as all studies have it; ``null`` names the alternative, the effect and the pair."""
    name = found.model if found.effect is None else f"{found.model}={found.effect:g}"
    null = f"{name}: {found.system}, {found.baseline}" if found.system else f"{name}={found.difference:g}"
    return taken(Rate, found, null=null)


@dataclass(frozen=True, eq=False)
class KnownDifference:
    """The simulated tests of a cell: one test, one metric, one true difference.

    ``pvalues`` and ``differences`` are (N,). ``null_pvalues`` are those of the same test without a difference, if
    power is size-adjusted. ``standard_error`` is that of the difference on a test set of this size, if it is known.
    ``higher_is_better`` is the direction of the metric.
    """

    test: str
    metric: str
    system: str
    baseline: str
    model: str
    effect: float | None
    size: int
    difference: float
    pvalues: Scores
    differences: Scores
    standard_error: float | None = None
    null_pvalues: Scores | None = None
    higher_is_better: bool = True

    def rejected(self, alpha: float) -> tuple[float, NDArray[np.bool_]]:
        """The level at which the test rejects, which has this size if power is size-adjusted, and where it does."""
        level = alpha if self.null_pvalues is None else critical_level(self.null_pvalues, alpha)
        return level, np.asarray(self.pvalues <= level)


# Simulated tests, ordered by test, then metric.
Cells: TypeAlias = Sequence[KnownDifference]


def critical_level(null_pvalues: Scores, alpha: float) -> float:
    """The largest of the (N,) p-values under the null hypothesis at which a share of at most α is rejected, else 0.

    >>> critical_level(np.array([0.01, 0.02, 0.02, 0.5]), 0.25), critical_level(np.array([0.02, 0.02, 0.5, 1.0]), 0.25)
    (0.01, 0.0)
    """
    ordered = np.sort(null_pvalues)
    allowed = int(alpha * len(ordered) + 1e-9)
    if allowed == len(ordered):
        return 1.0
    below = ordered[ordered < ordered[allowed]]
    return float(below[-1]) if len(below) else 0.0


def power_rates(cell: KnownDifference, settings: StudySettings) -> Iterator[PowerRate]:
    """Power, type-M and type-S errors of a cell at each level."""
    difference, observed = cell.difference, cell.differences
    for alpha in settings.alphas:
        level, rejected = cell.rejected(alpha)
        type_m = type_s = None
        if difference and rejected.any():
            significant = observed[rejected]
            type_m = float(np.abs(significant).mean() / abs(difference))
            type_s = float((np.sign(significant) != math.copysign(1, difference)).mean())
        approximation = None
        if cell.standard_error:
            alternative = directed(settings.alternative, cell.higher_is_better)
            approximation = normal_power(difference / cell.standard_error, alpha, alternative)
        yield taken(
            PowerRate,
            cell,
            alpha=alpha,
            level=level,
            rate=float(rejected.mean()),
            confidence_interval=rate_interval(rejected),
            mean_difference=float(observed.mean()),
            type_m=type_m,
            type_s=type_s,
            approximation=approximation,
            simulations=len(rejected),
        )


def true_difference(metric: Metric, totals: Counts, effect: float) -> float:
    """The difference of the scores of the expected sums of two systems, (2, K) totals, when they are mixed by η.

    Expected sums are rounded to whole counts. Means are linear in the sums, so that they need no rounding.
    """
    if metric.is_mean or effect == 0.5:
        a, b = metric.score(totals).tolist()
        return float(2 * effect * (a - b)) if effect else 0.0
    swapped = swap_probability(effect)
    expected = np.rint((1 - swapped) * totals + swapped * totals[::-1]).astype(np.int64)
    a, b = metric.score(expected).tolist()
    return float(a - b) if effect else 0.0


def unit_error(population: Population, m: int) -> float:
    """The standard deviation of the contribution of a unit to the difference, by the delta method: se·√U."""
    sample = CountSample.from_counts(population.metrics[m], population.counts[m])
    return math.sqrt(float(sample.variances_of_differences([(0, 1)])[0]) * population.n_units)


def mixture_error(of_unit: float, difference: float, effect: float, size: int) -> float:
    """The standard error of the difference of a mixture on a test set of this size.

    A contribution d to the difference Δ of the real pair becomes ±d with mean 2ηd: its variance is that of d plus
    (1 − 4η²)·Δ².
    """
    return math.sqrt((of_unit**2 + (1 - 4 * effect**2) * difference**2) / size)


def simulated_mixture(
    population: Population,
    labels: Sequence[str],
    pair: tuple[str, str],
    size: int,
    effect: float,
    settings: StudySettings,
) -> Cells:
    """Simulate the mixture of a pair of systems, and test it: a cell for each test and metric."""
    selection = Selection(settings.sampling, size, swap_probability(effect))
    tested = settings.testing().run(Experiment([population], selection, settings.seed), settings.simulations)
    known = []
    for m, metric in enumerate(population.metrics):
        totals = population.counts[m].sum(axis=1)
        error = None
        if settings.sampling == "replace":
            whole = true_difference(metric, totals, 0.5)
            error = mixture_error(unit_error(population, m), whole, effect, size)
        known.append((true_difference(metric, totals, effect), error, metric.higher_is_better))
    return [
        KnownDifference(
            test, label, *pair, "eta", effect, size, difference, p, statistic, error, higher_is_better=higher_is_better
        )
        for test, pvalues in zip(settings.tests, tested.pvalue, strict=True)
        for label, p, statistic, (difference, error, higher_is_better) in zip(
            labels, pvalues, tested.statistic, known, strict=True
        )
    ]


def parametric_cells(
    model: SwapEffects,
    size: int,
    differences: Iterable[tuple[float | None, float]],
    names: tuple[str, str, str],
    settings: StudySettings,
    size_adjusted: bool,
    higher_is_better: bool = True,
) -> Iterator[KnownDifference]:
    """Simulated tests of the model ``parametric``: for each η, or None, and the difference that it makes.

    ``names`` are those of the metric, the system and the baseline.
    """
    testing = settings.testing()
    testing = replace(testing, alternative=directed(testing.alternative, higher_is_better))
    run = settings.seed, settings.simulations, testing
    null = simulate_swap_effects(model, 0.0, size, *run).pvalues if size_adjusted else None
    for effect, difference in differences:
        found = simulate_swap_effects(model, difference, size, *run)
        error, statistics = model.standard_error(difference, size), found.differences
        yield KnownDifference(
            "ar",
            *names,
            "parametric",
            effect,
            size,
            difference,
            found.pvalues,
            statistics,
            error,
            null,
            higher_is_better,
        )


@called_with(ParametricPower)
def parametric_power(options: ParametricPower) -> StudyResult[ParametricPlan]:
    """Power, type-M and type-S errors of approximate randomization under a model of the effects of swaps.

    Swapping the outputs of a segment changes the difference of two systems by an effect that is 0 with probability P₀,
    and otherwise has a Laplace distribution with location −2Δ/(n(1 − P₀)) and scale b₀/n, for a true difference Δ and
    n segments (Card et al. 2020, 2020.emnlp-main.745). Effects add up. To fit the model to outputs of your own, use
    the model ``parametric`` of :func:`reshuffle.study.power`.

    Returns
    -------
    StudyResult
        With the tables ``power`` (:class:`~reshuffle.results.studies.PowerRate`) and ``rates``
        (:class:`~reshuffle.results.studies.Rate`).

    Raises
    ------
    InputError
        If a number is out of range.

    Notes
    -----
    Card et al. count only significant differences of the right sign; power here counts those of both signs, of which
    ``type_s`` is the share of the wrong ones. Cost: simulations × R × n additions for each difference and size.

    Examples
    --------
    >>> from reshuffle.study import parametric_power
    >>> study = parametric_power(1.0, 2000, simulations=100, n_resamples=99)
    >>> (found,) = study.tables["power"]
    >>> found.difference, round(found.approximation, 2)  # "approximately 75% power" in the abstract
    (1.0, 0.75)
    """
    with settings_of("power", options) as settings:
        # Signed by its own name, because the model is given; recorded as 'power' with this model alone.
        settings = evolve(settings, study="parametric_power", tests=("ar",))
        model = SwapEffects(options.p_zero, options.b_zero)
        differences = [(None, difference) for difference in options.difference]
        found: list[PowerRate] = []
        for size in options.sizes:
            names = options.metric, "", ""
            for cell in parametric_cells(model, size, differences, names, settings, options.size_adjusted):
                found += power_rates(cell, settings)
        tables = {"power": found, "rates": map(as_rate, found)}
        truths = {"parametric": MODELS["parametric"].truth}
        result = settings.result(
            options,
            tables,
            truths,
            label=options.metric,
            plan=ParametricPlan,
            unsigned=("models",),
            models=("parametric",),
        )
        return replace(result, study="power")


@dataclass(frozen=True, eq=False)
class PowerStudy:
    """Simulated tests of known differences of real outputs."""

    material: Material
    settings: StudySettings
    options: Power | Sensitivity
    models: Sequence[str] = ("eta",)

    def cells(self) -> Iterator[Cells]:
        """The cells of each pair, size, model and effect."""
        sizes = self.settings.sizes_in(self.material.n_units, self.material.unit)
        for pair in self.material.pairs(self.settings.baseline, self.settings.all_pairs):
            for size in sizes:
                yield from self._cells_of(pair, size)

    def _cells_of(self, pair: tuple[int, int], size: int) -> Iterator[Cells]:
        population, options = self.material.population(pair), self.options
        null = self._mixture(population, pair, size, 0.0) if options.size_adjusted else None
        for name in self.models:
            if name == "parametric":
                yield [*self._parametric(population, pair, size)]
                continue
            for effect in (0.5,) if name == "real" else options.effects:
                mixture = null if effect == 0 and null else self._mixture(population, pair, size, effect)
                without = [cell.pvalues for cell in null] if null else [None] * len(mixture)
                yield [replace(cell, model=name, null_pvalues=own) for cell, own in zip(mixture, without, strict=True)]

    def _mixture(self, population: Population, pair: tuple[int, int], size: int, effect: float) -> Cells:
        return simulated_mixture(
            population, self.material.data.labels, self.material.names_of(pair), size, effect, self.settings
        )

    def _parametric(self, population: Population, pair: tuple[int, int], size: int) -> Iterator[KnownDifference]:
        """Approximate randomization on test sets from the model that is fitted to the pair."""
        for m, metric in enumerate(population.metrics):
            model, totals = self._fitted(population, pair, m), population.counts[m].sum(axis=1)
            differences = [(effect, true_difference(metric, totals, effect)) for effect in self.options.effects]
            names = self.material.data.labels[m], *self.material.names_of(pair)
            adjusted = self.options.size_adjusted
            yield from parametric_cells(
                model, size, differences, names, self.settings, adjusted, metric.higher_is_better
            )

    def _fitted(self, population: Population, pair: tuple[int, int], m: int) -> SwapEffects:
        model = SwapEffects.fitted(population.metrics[m], population.counts[m])
        if model is None:
            raise InputError(
                f"model 'parametric': swaps of {self.material.named(pair)} have no effects under "
                f"{self.material.data.labels[m]} whose spread could be fitted: leave it out"
            )
        return model

    def fits(self) -> Iterator[FittedSwapEffects]:
        """The parameters of the model for each metric and pair."""
        for pair in self.material.pairs(self.settings.baseline, self.settings.all_pairs):
            population = self.material.population(pair)
            for m, metric in enumerate(population.metrics):
                model = self._fitted(population, pair, m)
                difference = true_difference(metric, population.counts[m].sum(axis=1), 0.5)
                names, label = self.material.names_of(pair), self.material.data.labels[m]
                yield FittedSwapEffects(label, *names, model.p_zero, model.b_zero, difference, self.material.n_units)
