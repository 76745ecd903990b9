"""``parametric_power``: the power of approximate randomization under the model of Card et al. 2020, without data."""

from __future__ import annotations

from dataclasses import replace

from attrs import evolve

from ..options.declare import called_with, taken
from ..options.studies import ParametricPower
from ..results import UsedMetric
from ..results.studies import PowerRate, StudyResult
from ..results.studies.power import ParametricPlan
from .parametric import SwapEffects
from .power import MODELS, as_rate, parametric_cells, power_rates
from .settings import settings_of


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
        settings = evolve(settings, tests=("ar",))
        model = SwapEffects(options.p_zero, options.b_zero)
        differences = [(None, difference) for difference in options.difference]
        found: list[PowerRate] = []
        for size in options.sizes:
            names = options.metric, "", ""
            for cell in parametric_cells(model, size, differences, names, settings, options.size_adjusted):
                found += power_rates(cell, settings, options.size_adjusted)
        plan = taken(ParametricPlan, options, models=("parametric",), metrics=(options.metric,), tests=("ar",))
        metrics = (UsedMetric(options.metric, options.metric, True),)
        tables = {"power": found, "rates": map(as_rate, found)}
        truths = {"parametric": MODELS["parametric"].truth}
        # Signed by its own name, because the model is given; recorded as 'power' with this model alone.
        result = settings.result(
            "parametric_power", plan, metrics, tables, truths, simulated=True, unsigned=("models",)
        )
        return replace(result, study="power")
