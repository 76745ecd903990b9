"""The p-values of exchange units on many simulated test sets at a time.

The scores are linear in their components (:class:`~reshuffle.study.run_model.RunModel`), and so is a difference of mean
scores. So the components are exchanged or drawn once, for all correlations and standard deviations between runs.
:func:`composed_pvalues` is the plain way, test set by test set, with which the tests compare it.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import numpy as np

from ..inference.exchange import ExchangeUnit
from ..inference.pvalues import threshold
from ..inference.run_tests import run_outcome
from ..metrics.base import Counts, Scores, tolerance
from ..resampling.reductions import reached
from ..resampling.run_exchange import exchange_runs
from ..resampling.run_hierarchical import draw_runs_and_segments, no_lighter_than_normal
from ..resampling.run_linear import RunCovariances, tails
from ..resampling.runs import RunData
from ..settings import Resampling, RunSettings
from .run_model import RunModel, data_of

# The difference that is tested: second − first.
PAIR = (1, 0)


def model_pvalues(
    unit: ExchangeUnit,
    model: RunModel,
    components: Counts,
    coefficients: Scores,
    statistic: str,
    resampling: Resampling,
) -> tuple[Scores, bool]:
    """The p-values of a unit on simulated test sets, (cells, simulations), and whether they are exact.

    ``components`` are (simulations, 3, 2n, S), ``coefficients`` (cells, 3). All test sets get the same replicates.
    """
    simulations = len(components)
    data = data_of(components.reshape(-1, *components.shape[2:]), resampling)
    if unit.run is draw_runs_and_segments:
        return _drawn_pvalues(model, data, components, coefficients), False
    # The numbers of runs are equal, so dividing the differences of splits by their standard errors changes no p-value.
    function = partial(exchange_runs, studentized=False) if unit.run is exchange_runs else unit.run
    exchanged = function(data, [PAIR], statistic)
    if exchanged.closed is not None:  # statistics that are not linear in the components
        return composed_pvalues(unit, model, components, coefficients, statistic, resampling)
    replicates = np.array([series for (series,) in exchanged.statistics]).reshape(simulations, 3, -1)
    observed, tolerances = _observed(data, coefficients, statistic)
    limits = threshold(observed, tolerances if unit.ties == ">=" else -tolerances, "two-sided")
    return _pvalues(replicates, coefficients, limits, exchanged.exact[0]), bool(exchanged.exact[0])


def composed_pvalues(
    unit: ExchangeUnit,
    model: RunModel,
    components: Counts,
    coefficients: Scores,
    statistic: str,
    resampling: Resampling,
) -> tuple[Scores, bool]:
    """As :func:`model_pvalues`, from the scores of each test set, as :func:`reshuffle.compare_runs` tests them."""
    composed = np.stack([model.composed(components, own) for own in coefficients])
    data = data_of(composed.reshape(-1, *composed.shape[2:]), resampling)
    _, outcome = run_outcome(data, [PAIR], unit, RunSettings(statistic=statistic, adjust=None))
    return outcome.pvalue.reshape(len(coefficients), len(components)), bool(outcome.exact[0])


def _observed(data: RunData, coefficients: Scores, statistic: str) -> tuple[Scores, Scores]:
    """The differences, and the tolerances of ties: (cells, simulations) each. ``data`` has the components."""
    scores = [np.array(data.score_of(system, statistic)).reshape(-1, 3) @ coefficients.T for system in PAIR]
    a, b = (np.ascontiguousarray(each.T) for each in scores)
    return a - b, tolerance(a, b)


def _pvalues(replicates: Scores, coefficients: Scores, limits: Scores, exact: bool) -> Scores:
    """The p-values, (cells, simulations), from the replicates of the components, (simulations, 3, R)."""
    of_cells = (np.einsum("c,scr->sr", own, replicates) for own in coefficients)
    return _shares(zip(of_cells, limits, strict=True), exact)


def _shares(of_cells: Iterable[tuple[Scores, Scores]], exact: bool) -> Scores:
    """The shares of replicates, (simulations, R) for each cell, that reach the limits, (simulations,)."""
    plus = 0 if exact else 1
    return np.array(
        [
            (reached(values, limit[:, None], "two-sided").sum(axis=1) + plus) / (values.shape[1] + plus)
            for values, limit in of_cells
        ]
    )


def _drawn_pvalues(model: RunModel, data: RunData, components: Counts, coefficients: Scores) -> Scores:
    """The p-values of the hierarchical bootstrap: (cells, simulations).

    Its deviations are stretched to Student's t by an increasing function, so the difference is shrunk instead.
    """
    from scipy.special import ndtri

    a, b = PAIR
    drawn = np.array([scores[a] - scores[b] for scores in data.drawn.hierarchical["mean"]])
    observed, tolerances = _observed(data, coefficients, "mean")
    of_components = np.subtract(*(np.array(data.score_of(system, "mean")) for system in PAIR))
    deviations = (drawn - of_components[:, None]).reshape(len(components), 3, -1)
    factors, shares, degrees = _spreads(model, data.rows, components, coefficients)
    squares = np.einsum("ka,kb,sab->ks", coefficients, coefficients, deviations @ deviations.transpose(0, 2, 1))
    scales = np.sqrt(squares / deviations.shape[2]) * factors
    reduced = np.maximum(np.abs(observed) - tolerances, 0)
    ratios = np.divide(reduced, scales, out=np.zeros_like(reduced), where=scales > 0)
    # stretched(z·scale) ≥ d exactly if Φ(−z) ≤ T(−d/scale)
    unscaled = scales / factors
    limits = -ndtri(tails(ratios, shares, degrees)) * unscaled
    limits = np.where((scales > 0) | (reduced == 0), limits, np.inf)
    of_cells = (
        no_lighter_than_normal(np.einsum("c,scr->sr", own, deviations), scale)
        for own, scale in zip(coefficients, unscaled, strict=True)
    )
    return _shares(zip(of_cells, limits, strict=True), False)


def _spreads(
    model: RunModel, rows: list[slice], components: Counts, coefficients: Scores
) -> tuple[Scores, Scores, Scores]:
    """The factor of each difference, (cells, simulations), and its levels, (cells, simulations, levels).

    They are those of :class:`~reshuffle.resampling.run_linear.Spread`: with equal numbers of runs there are two levels,
    runs and segments. The shares come before the degrees of freedom.
    """
    simulations, _, outputs, size = components.shape
    means = components.mean(axis=3)
    centred = (components - means[..., None]).reshape(simulations, 3 * outputs, size) / size
    products = (centred @ centred.transpose(0, 2, 1)).reshape(simulations, 3, outputs, 3, outputs)
    factors = np.empty((len(coefficients), simulations))
    levels = np.empty((2, *factors.shape, 2))
    for cell, own in enumerate(coefficients):
        covariances = np.einsum("a,b,saxby->sxy", own, own, products)
        scores = np.einsum("a,sax->sx", own, means)
        for at in range(simulations):
            runs = RunCovariances(scores[at], covariances[at] * size / (size - 1), covariances[at], size, rows)
            spread = runs.of_difference(*PAIR)
            factors[cell, at] = spread.factor
            levels[:, cell, at] = spread.levels.shares, spread.levels.degrees_of_freedom
    return factors, levels[0], levels[1]
