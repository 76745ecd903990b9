"""Trends of scores over the runs of a history: the test of Mann and Kendall."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from ..results import Trend
from ..results.gate import PastGate, PastTask
from .multiplicity import holm

# With fewer runs, only nearly monotone scores can be told from chance after an adjustment for several tasks.
FEWEST_RUNS = 8


def trends(runs: Sequence[PastGate]) -> tuple[Trend, ...]:
    """The trend of each task of the last run over all runs that have it, the earliest first.

    Runs with the outputs of the run before add nothing, and are left out. So are those on another number of segments.
    """
    changed = [*runs[:1], *(now for before, now in pairwise(runs) if now.digest != before.digest)]
    series = {task.name: _scores(changed, task) for task in (runs[-1].tasks if runs else ())}
    enough = {name: scores for name, scores in series.items() if len(scores) >= FEWEST_RUNS and np.ptp(scores) > 0}
    if not enough:
        return ()
    from scipy.stats import kendalltau  # takes long to import

    found = [kendalltau(range(len(scores)), scores) for scores in enough.values()]
    adjusted = holm(np.array([float(each.pvalue) for each in found]))
    return tuple(
        Trend(name, len(scores), float(each.statistic), float(p), tuple(scores))
        for (name, scores), each, p in zip(enough.items(), found, adjusted, strict=True)
    )


def _scores(runs: Sequence[PastGate], task: PastTask) -> list[float]:
    """The scores of the new system under a task, run by run."""
    key = task.name, task.n_units
    return [each.system_score for run in runs for each in run.tasks if (each.name, each.n_units) == key]
