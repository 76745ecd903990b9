"""Where tests of systems with several runs may reject too often: the cells above .07 of the table in docs/statistics.md."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..metrics.base import Scores
from ..resampling.run_linear import TOO_FEW
from ..resampling.run_t import hierarchical_error, no_spread, welch_error
from ..resampling.runs import RunData

__all__ = ["RUN_CAVEATS", "carried_by_few", "run_caveats"]

RUN_CAVEATS = ("no-spread", "unequal-spreads", "skewed-runs")
# The runs of one system carry a difference if they have this share of its variance: see carried_by_few.
MOST = 0.5
# From so many runs of each system on, exchanging equally many whole runs keeps its level with unequal spreads.
ENOUGH = 10


def carried_by_few(of_runs: Sequence[Scores], variance: Scores) -> NDArray[np.bool_]:
    """Whether most of the variance of a difference comes from the runs of one system: s²/n of both, and the variance.

    The skewness of the scores of two systems' runs cancels where they contribute alike. It does not in this case, and a
    few runs do not show it. Where skewed runs are rejected in more than .07 of the simulations of
    ``benches/simulations/run_size.py``, this is so in .97 of the samples or more.
    """
    return np.asarray(np.maximum(*of_runs) >= MOST * np.asarray(variance))


def run_caveats(exchange: str, data: RunData, metric: int, pair: tuple[int, int]) -> tuple[str, ...]:
    """The names of :data:`RUN_CAVEATS` that apply to the test of a pair with an exchange unit.

    - ``no-spread``: all runs of each system have the same score, so the runs say nothing about how much others differ;
    - ``unequal-spreads``: with these numbers of runs, the test rejects too often if the runs of one system vary more
      than those of the other;
    - ``skewed-runs``: most of the variance comes from the runs of one system, so the test rejects too often if their
      scores are skewed.
    """
    n, m = (data.n_runs[system] for system in pair)
    if exchange not in OF_SPREADS or min(n, m) < 2:
        return ()
    if no_spread(data, metric, pair):
        return ("no-spread",)
    found = []
    if OF_SPREADS[exchange](n, m):
        found.append("unequal-spreads")
    if exchange != "run" and carried_by_few(*_variances(exchange, data, metric, pair)):
        found.append("skewed-runs")
    return tuple(found)


def _variances(exchange: str, data: RunData, metric: int, pair: tuple[int, int]) -> tuple[Sequence[Scores], Scores]:
    """s²/n of the runs of both systems, and the variance that the test takes the difference to have."""
    scores = [data.samples[metric].scores[data.rows[system]] for system in pair]
    of_runs = [np.asarray(own.var(ddof=1) / len(own)) for own in scores]
    error = welch_error if exchange == "welch" else hierarchical_error
    return of_runs, np.asarray(error(data, metric, pair).value ** 2)


# With which numbers of runs the tests that need the spreads of runs reject normal scores too often if these are unequal.
OF_SPREADS = {
    "run": lambda n, m: n != m or n < ENOUGH,
    "welch": lambda n, m: min(n, m) <= TOO_FEW < max(n, m),
    "hierarchical": lambda n, m: False,
    "hierarchical-t": lambda n, m: False,
}
