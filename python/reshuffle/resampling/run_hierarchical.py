"""The hierarchical bootstrap of systems with several runs each, corrected for few runs."""

from __future__ import annotations

import numpy as np

from ..errors import InputError
from ..metrics.base import Scores
from .run_exchange import Exchanged
from .runs import RunData
from .samples import Pairs

__all__ = ["draw_runs_and_segments", "stretched"]

# The normal quantiles between which t quantiles are interpolated, and the largest of them: 1 in 10^15 draws is beyond.
GRID = np.linspace(0, 8, 2049)


def draw_runs_and_segments(data: RunData, pairs: Pairs, statistic: str) -> Exchanged:
    """Draw runs and segments with replacement: deviations from the observed difference, corrected for few runs.

    The deviations are corrected in two ways. The draws count the interaction of run and segment three times (Owen 2007,
    doi:10.1214/07-AOAS122), so all deviations are multiplied by the root of the ratio of
    :attr:`~reshuffle.resampling.run_linear.Spread.variance` to ``of_draws``. The variance of few runs is itself
    uncertain, so deviations are then :func:`stretched` to Student's t.
    """
    alone = [name for name, n in zip(data.names, data.n_runs, strict=True) if n < 2]
    if alone:
        raise InputError(
            f"exchange 'hierarchical' needs at least 2 runs of each system, but {alone[0]!r} has one: give more runs, "
            "or use 'segment', which takes runs as fixed"
        )
    statistics, degrees = [], []
    for m, drawn in enumerate(data.drawn.hierarchical[statistic]):
        observed = [data.score_of(system, statistic)[m] for system in range(len(data.names))]
        spreads = [data.covariances[m].of_difference(a, b) for a, b in pairs]
        degrees.append([spread.degrees_of_freedom for spread in spreads])
        statistics.append(
            [
                stretched((drawn[a] - drawn[b] - (observed[a] - observed[b])) * spread.factor, spread.degrees_of_freedom)
                for (a, b), spread in zip(pairs, spreads, strict=True)
            ]
        )
    return Exchanged(statistics, [False] * len(pairs), centred=True, degrees_of_freedom=degrees)


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
    if scale == 0 or not np.isfinite(degrees_of_freedom):
        return deviations
    quantiles = -stdtrit(degrees_of_freedom, ndtr(-GRID))
    return np.asarray(np.copysign(np.interp(np.abs(deviations) / scale, GRID, quantiles) * scale, deviations))
