"""Where tests of systems with several runs may reject too often: cells above .07 of docs/evidence/runs.md."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..metrics.base import Scores
from ..resampling.run_t import no_spread
from ..resampling.runs import RunData
from .exchange import ExchangeUnit

# The skewness of a system's runs matters from this share of the variance of the difference on.
SHARE = 0.2
# s² of so few runs may be near 0 by chance, whatever their share is.
ANY_SHARE = 2


def skewness_matters(of_runs: Sequence[Scores], variance: Scores, fewest: int) -> NDArray[np.bool_]:
    """Whether a test by t could reject too often if runs are skewed: from s²/n of both systems, and the variance.

    A few runs do not show whether their scores are skewed. The skewness of two systems cancels where their runs
    contribute alike, and does not matter beside that of the segments, but few runs do not show this well either. In the
    simulations of ``benches/simulations/run_size.py`` with a size above .07, this is so in .9 of the samples or more.
    """
    carried = np.maximum(*of_runs) >= SHARE * np.asarray(variance)
    return np.asarray(carried | (fewest <= ANY_SHARE))


def run_caveats(unit: ExchangeUnit, data: RunData, metric: int, pair: tuple[int, int]) -> tuple[str, ...]:
    """The names of :data:`RUN_CAVEAT_KINDS` that apply to the test of a pair with an exchange unit."""
    n, m = (data.n_runs[system] for system in pair)
    if unit.error is None or min(n, m) < 2:
        return ()
    if no_spread(data, metric, pair):
        return ("no-spread",)
    found = []
    if unit.unequal_spreads is not None and unit.unequal_spreads(n, m):
        found.append("unequal-spreads")
    scores = [data.samples[metric].scores[data.rows[system]] for system in pair]
    of_runs = [np.asarray(own.var(ddof=1) / len(own)) for own in scores]
    if skewness_matters(of_runs, np.asarray(unit.error(data, metric, pair).value ** 2), min(n, m)):
        found.append("skewed-runs")
    return tuple(found)
