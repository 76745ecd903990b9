"""``power``: how often tests detect a difference that is there, and how much significant differences exaggerate it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TypeAlias

import numpy as np
from attrs import evolve
from numpy.typing import NDArray

from ..errors import InputError
from ..inference.power import normal_power
from ..metrics.base import Scores
from ..options.declare import called_with, taken
from ..options.studies import ParametricPower, Power, Sensitivity
from ..resampling import directed
from ..results.studies import FittedSwapEffects, PowerRate, Rate, StudyResult
from ..results.studies.power import ParametricPlan, PowerPlan
from ..toml import loads
from .experiments import Experiment, Population, Selection, swap_probability
from .material import Material, MeasuredPair, NamedPair
from .parametric import SwapEffects, SwapTests
from .rates import rate_interval
from .settings import StudySettings, settings_of, started

# What is true in simulated test sets.
MODELS: Mapping[str, Mapping[str, str]] = loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))


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
        n_cells = settings.n_pairs(len(data.names)) * settings.n_sizes * _n_cells(options)
        material = settings.material(data, units, n_cells)
        study = PowerStudy(material, settings, options, options.models)
        found = [rate for cells in study.cells() for cell in cells for rate in power_rates(cell, settings)]
        tables: dict[str, Iterable[object]] = {"power": found, "rates": map(as_rate, found)}
        if "parametric" in options.models:
            tables["fits"] = study.fits()
        truths = {name: MODELS[name]["truth"] for name in options.models}
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
    """

    pair: NamedPair
    test: str
    model: str
    effect: float | None
    size: int
    difference: float
    pvalues: Scores
    differences: Scores
    standard_error: float | None = None
    null_pvalues: Scores | None = None

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
            alternative = directed(settings.alternative, cell.pair.higher_is_better)
            approximation = normal_power(difference / cell.standard_error, alpha, alternative)
        yield taken(
            PowerRate,
            cell.pair,
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


def simulated_mixture(pairs: Sequence[MeasuredPair], size: int, effect: float, settings: StudySettings) -> Cells:
    """Simulate the mixture of a pair of systems, and test it under some metrics: a cell for each test and metric."""
    name = f"{pairs[0].system}, {pairs[0].baseline}"
    population = Population(name, [each.formula for each in pairs], [each.counts for each in pairs])
    selection = Selection(settings.sampling, size, swap_probability(effect))
    tested = settings.testing().run(Experiment([population], selection, settings.seed), settings.simulations)
    errors = [each.mixture_error(effect, size) if settings.sampling == "replace" else None for each in pairs]
    return [
        KnownDifference(pair, test, "eta", effect, size, pair.difference(effect), p, statistic, error)
        for test, pvalues in zip(settings.tests, tested.pvalue, strict=True)
        for pair, p, statistic, error in zip(pairs, pvalues, tested.statistic, errors, strict=True)
    ]


def parametric_cells(
    model: SwapEffects,
    pair: NamedPair,
    size: int,
    differences: Iterable[tuple[float | None, float]],
    settings: StudySettings,
    size_adjusted: bool,
) -> Iterator[KnownDifference]:
    """Simulated tests of the model ``parametric``: for each η, or None, and the difference that it makes."""
    alternative = directed(settings.alternative, pair.higher_is_better)

    def simulated(difference: float) -> tuple[Scores, Scores]:
        job = SwapTests(model, difference, size, settings.seed, settings.n_resamples, alternative)
        table = job.results(settings.simulations, settings.execution)
        return table["pvalue"].copy(), table["difference"].copy()

    null = simulated(0.0)[0] if size_adjusted else None
    for effect, difference in differences:
        results = *simulated(difference), model.standard_error(difference, size), null
        yield KnownDifference(pair, "ar", "parametric", effect, size, difference, *results)


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
            pair = NamedPair(options.metric, "", "", True)
            for cell in parametric_cells(model, pair, size, differences, settings, options.size_adjusted):
                found += power_rates(cell, settings)
        tables = {"power": found, "rates": map(as_rate, found)}
        truths = {"parametric": MODELS["parametric"]["truth"]}
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
        for pairs in self.material.measured_pairs(self.settings.baseline, self.settings.all_pairs):
            for size in sizes:
                yield from self._cells_of(pairs, size)

    def _cells_of(self, pairs: Sequence[MeasuredPair], size: int) -> Iterator[Cells]:
        options, settings = self.options, self.settings
        null = simulated_mixture(pairs, size, 0.0, settings) if options.size_adjusted else None
        for name in self.models:
            if name == "parametric":
                yield [cell for pair in pairs for cell in self._parametric(pair, size)]
                continue
            for effect in (0.5,) if name == "real" else options.effects:
                mixture = null if effect == 0 and null else simulated_mixture(pairs, size, effect, settings)
                without = [cell.pvalues for cell in null] if null else [None] * len(mixture)
                yield [replace(cell, model=name, null_pvalues=own) for cell, own in zip(mixture, without, strict=True)]

    def _parametric(self, pair: MeasuredPair, size: int) -> Iterator[KnownDifference]:
        """Approximate randomization on test sets from the model that is fitted to the pair."""
        differences = [(effect, pair.difference(effect)) for effect in self.options.effects]
        adjusted = self.options.size_adjusted
        return parametric_cells(_fitted(pair), pair, size, differences, self.settings, adjusted)

    def fits(self) -> Iterator[FittedSwapEffects]:
        """The parameters of the model for each metric and pair."""
        for pair in chain.from_iterable(self.material.measured_pairs(self.settings.baseline, self.settings.all_pairs)):
            yield taken(FittedSwapEffects, pair, _fitted(pair), difference=pair.observed, units=pair.n_units)


def _fitted(pair: MeasuredPair) -> SwapEffects:
    model = SwapEffects.fitted(pair.formula, pair.counts)
    if model is None:
        raise InputError(
            f"model 'parametric': no swap of {pair.system} and {pair.baseline} has an effect under {pair.metric} that "
            "could be fitted: leave the model out"
        )
    return model
