"""``parametric_power``: the power of approximate randomization under the model of Card et al. 2020, without data."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace

from .. import _core, signature, types
from ..errors import InputError
from ..execution import AnyExecutor
from ..execution.checkpoint import kept
from ..progress import AnyProgress, reported
from ..resampling import directed
from ..results import UsedMetric
from ..results.studies import PowerRate, StudyResult
from ..validate import check_number
from .parametric import CARD_BLEU, SwapEffects, simulate_swap_effects
from .power import MODELS, KnownDifference, power_rates, rates_of
from .settings import StudySettings, in_list


@dataclass(frozen=True)
class SwapOptions:
    """The model. Fields are named like the public keyword arguments."""

    difference: Sequence[float] = (1.0,)
    p_zero: float = CARD_BLEU.p_zero
    b_zero: float = CARD_BLEU.b_zero
    metric: str = "BLEU"
    size_adjusted: bool = False

    def checked(self) -> SwapOptions:
        """The options with the differences as a tuple. :class:`InputError` for one that is not a number."""
        differences = []
        for value in in_list(self.difference):
            differences.append(check_number(f"the difference in points of {self.metric}", value))
        if not differences:
            raise InputError(f"no difference: expected at least one number of points of {self.metric}")
        return replace(self, difference=tuple(dict.fromkeys(differences)))


def parametric_power(
    difference: float | Sequence[float] = 1.0,
    sizes: int | Sequence[int] = 2000,
    *,
    p_zero: float = CARD_BLEU.p_zero,
    b_zero: float = CARD_BLEU.b_zero,
    metric: str = "BLEU",
    size_adjusted: bool = False,
    alphas: float | Sequence[float] = 0.05,
    alternative: types.Alternative | str = "two-sided",
    simulations: int = 1000,
    n_resamples: int = 999,
    seed: int = 12345,
    threads: int | None = None,
    executor: AnyExecutor = None,
    progress: AnyProgress = None,
    checkpoint: str | os.PathLike[str] | None = None,
) -> StudyResult:
    """Power, type-M and type-S errors of approximate randomization under a model of the effects of swaps.

    Swapping the outputs of a segment changes the difference of two systems by an effect that is 0 with probability P₀,
    and otherwise has a Laplace distribution with location −2Δ/(n(1 − P₀)) and scale b₀/n, for a true difference Δ and
    n segments (Card et al. 2020, 2020.emnlp-main.745). Effects add up. To fit the model to outputs of your own, use
    the model ``parametric`` of :func:`reshuffle.study.power`.

    Parameters
    ----------
    difference : float or sequence of float
        Δ, in points of the metric.
    sizes : int or sequence of int
        n, the numbers of segments.
    p_zero, b_zero : float
        P₀ and b₀. The defaults are Card et al.'s for BLEU.
    metric : str
        The name of the metric in the result.
    size_adjusted, alphas, alternative, simulations, n_resamples, seed, threads, executor, progress, checkpoint
        As for :func:`reshuffle.study.power`.

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
    settings = StudySettings(
        tests=("ar",),
        sizes=sizes,  # type: ignore[arg-type]
        alphas=alphas,  # type: ignore[arg-type]
        simulations=simulations,
        n_resamples=n_resamples,
        alternative=alternative,
        seed=seed,
        threads=threads,
        executor=executor,
    )
    options = SwapOptions(difference, p_zero, b_zero, metric, size_adjusted)  # type: ignore[arg-type]
    with reported(progress) as watched, kept(checkpoint, "power") as finished:
        return parametric_power_of(settings.watched_by(watched, finished), options)


def parametric_power_of(settings: StudySettings, options: SwapOptions) -> StudyResult:
    """The power under the model: see :func:`parametric_power`."""
    settings, options = settings.checked(), options.checked()
    model, testing = SwapEffects(options.p_zero, options.b_zero), settings.testing()
    testing = replace(testing, alternative=directed(settings.alternative, True))
    run = settings.seed, settings.simulations, testing
    found: list[PowerRate] = []
    for size in settings.sizes or (2000,):
        null = simulate_swap_effects(model, 0.0, size, *run).pvalues if options.size_adjusted else None
        for difference in options.difference:
            simulated = simulate_swap_effects(model, difference, size, *run)
            cell = KnownDifference(
                "ar",
                options.metric,
                "",
                "",
                "parametric",
                None,
                size,
                difference,
                simulated.pvalues,
                simulated.differences,
                model.standard_error(difference, size),
                null,
            )
            found += power_rates(cell, settings, options.size_adjusted)
    plan = {
        "difference": list(options.difference),
        "p_zero": options.p_zero,
        "b_zero": options.b_zero,
        "metrics": [options.metric],
        "size_adjusted": options.size_adjusted,
        "tests": ["ar"],
        "sizes": list(settings.sizes or (2000,)),
        "alphas": list(settings.alphas),
        "alternative": settings.alternative,
        "simulations": settings.simulations,
        "n_resamples": settings.n_resamples,
        "seed": int(settings.seed),
    }
    return StudyResult(
        study="power",
        plan={"models": ["parametric"], **plan},
        metrics=(UsedMetric(options.metric, options.metric, True),),
        tables={"power": tuple(found), "rates": rates_of(found)},
        truths={"parametric": MODELS["parametric"].truth},
        signature=signature.for_study("parametric_power", settings.signed(plan), settings.seed, []),
        version=_core.VERSION,
    )
