"""How much the scores of a system vary between runs and between test sets."""

from __future__ import annotations

from typing import NamedTuple

from ..resampling.runs import RunData

__all__ = ["Components", "components", "s_sel"]


class Components(NamedTuple):
    """Variance components of the score of one run on a test set of this size, in squared points of the metric.

    Attributes
    ----------
    between_runs : float
        The expected scores of runs: their differences remain on any number of segments.
    between_segments : float
        The choice of segments, as far as it affects all runs alike.
    interaction : float
        The choice of segments, as far as it affects each run differently.
    effective_test_sets : float or None
        How many independent test sets the runs are worth: the variance of one run's score divided by that of the mean
        of all runs. None if nothing varies.
    """

    between_runs: float
    between_segments: float
    interaction: float
    effective_test_sets: float | None


def s_sel(data: RunData, metric: int, system: int) -> float:
    """The mean over a system's runs of the bootstrap standard deviation of the run's score, in points of the metric.

    Each of R draws takes S segments with replacement; the standard deviation has R − 1 in the denominator. Clark et al.
    2011 (P11-2031), 3.1: "test set selection". The first call makes the draws, for all systems and metrics.
    """
    return float(data.drawn.deviations[metric][data.rows[system]].mean())


def components(data: RunData, metric: int, system: int) -> Components | None:
    """The variance components of a system's score; None for one run.

    These are the two-way moments for runs and segments, both taken as random (Cornfield & Tukey 1956,
    doi:10.1214/aoms/1177728067). The values are the contributions of segments to the score of each run, which is
    linearised at the summed counts of that run (the delta method, :mod:`reshuffle.resampling.run_linear`).

    - ``interaction``: the variance that the segments give to the score of one run, less what different runs share;
    - ``between_segments``: the mean covariance that the segments give to the scores of two runs;
    - ``between_runs``: the variance of the runs' scores (s_test squared), less the interaction, which is part of it.

    Estimates below 0 become 0. With few runs this happens often, and means that the runs differ no more than their
    segments alone would make them differ. Strata and documents are taken into account. Cost: a product of matrices with
    a column for each output, for all systems once.
    """
    parts = data.covariances[metric].parts(system)
    if parts is None:
        return None
    runs, segments, interaction = (max(part, 0.0) for part in parts[1:])
    n = data.n_runs[system]
    of_mean = (runs + interaction) / n + segments
    one = runs + segments + interaction
    return Components(runs, segments, interaction, one / of_mean if of_mean > 0 else None)
