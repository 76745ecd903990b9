"""The hierarchical bootstrap of systems with several runs each, corrected for few runs."""

from __future__ import annotations

import numpy as np

from ..metrics.base import Scores
from .run_exchange import Exchanged
from .runs import RunData
from .samples import Pairs

__all__ = ["corrected_deviations", "draw_runs_and_segments", "stretched"]

# The normal quantiles between which t quantiles are interpolated, and the largest of them: 1 in 10^15 draws is beyond.
GRID = np.linspace(0, 8, 2049)


def draw_runs_and_segments(data: RunData, pairs: Pairs, statistic: str) -> Exchanged:
    """Draw runs and segments with replacement: corrected deviations from the observed difference of each pair.

    See :func:`corrected_deviations`. All systems need at least two runs.
    """
    found = [[corrected_deviations(data, m, pair, statistic) for pair in pairs] for m in range(len(data.samples))]
    return Exchanged(
        [[deviations for deviations, _ in of_metric] for of_metric in found],
        [False] * len(pairs),
        centred=True,
        degrees_of_freedom=[[degrees for _, degrees in of_metric] for of_metric in found],
    )


def corrected_deviations(data: RunData, m: int, pair: tuple[int, int], statistic: str) -> tuple[Scores, float]:
    """The deviations of R draws of runs and segments from the observed difference, and the degrees of freedom.

    The deviations are corrected in two ways. The draws count the interaction of run and segment three times (Owen 2007,
    doi:10.1214/07-AOAS122), so all deviations are multiplied by :attr:`~reshuffle.resampling.run_linear.Spread.factor`.
    The variance between few runs is itself uncertain, so deviations are then :func:`stretched` to Student's t.
    """
    drawn, (a, b) = data.drawn.hierarchical[statistic][m], pair
    observed = data.score_of(a, statistic)[m] - data.score_of(b, statistic)[m]
    spread = data.covariances[m].of_difference(a, b)
    deviations = (drawn[a] - drawn[b] - observed) * spread.factor
    return stretched(deviations, spread.degrees_of_freedom), spread.degrees_of_freedom


def stretched(deviations: Scores, degrees_of_freedom: float) -> Scores:
    """Deviations with the tails of Student's t: those of a normal distribution become t distributed.

    With the standard deviation σ of the deviations, z·σ becomes T⁻¹(Φ(z))·σ. The percentiles of the result are those of
    Hesterberg's expanded percentile interval (2015, doi:10.1080/00031305.2015.1089789) if the deviations are normal.
    He takes percentiles farther out instead, for which 10,000 draws are too few if there are two runs.

    >>> stretched(np.array([-1.0, 1.0, -1.0, 1.0]), 2).round(3)
    array([-1.312,  1.312, -1.312,  1.312])
    """
    from scipy.special import ndtr, stdtrit

    scale = float(np.sqrt(np.mean(deviations**2)))
    if scale == 0:
        return deviations
    quantiles = -stdtrit(degrees_of_freedom, ndtr(-GRID))
    return np.asarray(np.copysign(np.interp(np.abs(deviations) / scale, GRID, quantiles) * scale, deviations))
