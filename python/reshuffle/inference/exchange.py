"""The registry of exchange units: what is exchanged between systems with several runs each, and intervals to it.

To add one, write a function from the data, the pairs and the statistic to the statistics of all replicates
(:mod:`reshuffle.resampling.run_exchange`), and add it to :data:`FUNCTIONS`, what users know of it to methods.toml, and
what reports say of it to ``report/words/runs.toml``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ..metrics.base import tolerance
from ..resampling.run_exchange import (
    Exchanged,
    exchange_cells,
    exchange_pooled,
    exchange_runs,
    exchange_segments,
    shuffle_as_multeval,
)
from ..resampling.run_hierarchical import Hierarchical, draw_runs_and_segments
from ..resampling.run_linear import one_level
from ..resampling.run_t import Error, hierarchical_error, hierarchical_t, welch_error, welch_t
from ..resampling.runs import RunData
from ..resampling.samples import Pairs
from ..results import ConfidenceInterval
from ..validate import default_alpha
from .intervals import symmetric_ends
from .methods import METHODS
from .pvalues import largest_rank

Ends = tuple[float, float]


@dataclass(frozen=True)
class RunInterval:
    """A kind of interval, which takes into account what the tests of some exchange units do."""

    method: str
    """The name in results."""
    ends: Callable[[RunData, int, tuple[int, int], str, float], Ends]
    """From the data, the indices of the metric and of the systems a and b, the statistic and the confidence level to
    the ends of the interval of score(a) − score(b).
    """
    needs_runs: int = 2
    """The smallest number of runs of each system."""

    def of(
        self, data: RunData, metric: int, pair: tuple[int, int], statistic: str, level: float
    ) -> ConfidenceInterval | None:
        """The interval in points of the metric; None if a system has too few runs."""
        if min(data.n_runs[system] for system in pair) < self.needs_runs:
            return None
        return ConfidenceInterval(*self.ends(data, metric, pair, statistic, level), level, self.method)


def of_error(error: Error, data: RunData, metric: int, pair: tuple[int, int], statistic: str, level: float) -> Ends:
    """d ± the quantile of the levels of a standard error, times that error. d is the difference of the statistic.

    For the statistic ``pooled`` the error is that of the mean scores, which differ from the pooled ones little.
    """
    a, b = (data.score_of(system, statistic)[metric] for system in pair)
    found = error(data, metric, pair)
    half = found.levels.quantile((1 - level) / 2) * found.value
    return a - b - half, a - b + half


def percentile(data: RunData, metric: int, pair: tuple[int, int], statistic: str, level: float) -> Ends:
    """The k-th smallest and the k-th largest difference on draws of segments, k = ⌊α(R + 1)/2⌋, with all runs.

    Davison & Hinkley 1997, 5.3, as for two systems with one run each.
    """
    a, b = (data.fixed_draws[statistic][metric][system] for system in pair)
    rounding = tolerance(*(np.array(data.score_of(system, statistic)[metric]) for system in pair))
    low, high = (0.0 if abs(end) <= rounding else end for end in symmetric_ends(a - b, level))
    return low, high


def hierarchical(data: RunData, metric: int, pair: tuple[int, int], statistic: str, level: float) -> Ends:
    """d ± q, where q belongs to the k-th largest absolute deviation of the hierarchical bootstrap, k = ⌊α(R + 1)⌋.

    The deviation is expanded for few runs: see :class:`~reshuffle.resampling.run_hierarchical.Hierarchical`. The
    interval is symmetric (Hall 1988, *On symmetric bootstrap confidence intervals*), so it excludes 0 exactly when the
    two-sided test has p ≤ α. k is at least 1.
    """
    drawn = Hierarchical.from_data(data, metric, pair, statistic)
    n = len(drawn.deviations)
    place = n - max(largest_rank(n + 1, default_alpha(level)), 1)
    half = drawn.expanded(float(np.partition(np.abs(drawn.deviations), place)[place]))
    return drawn.difference - half, drawn.difference + half


# For new runs of both systems on this test set (Welch 1947); for these runs on new test sets; for both.
WELCH = RunInterval("welch-t", partial(of_error, welch_error))
PERCENTILE = RunInterval("percentile", percentile, needs_runs=1)
HIERARCHICAL = RunInterval("hierarchical", hierarchical)
HIERARCHICAL_T = RunInterval("hierarchical-t", partial(of_error, hierarchical_error))


@dataclass(frozen=True)
class ExchangeUnit:
    """An entry of the registry."""

    name: str
    """The name that users type."""
    about: str
    """What is exchanged, in words."""
    null: str
    """The null hypothesis, in words."""
    question: str
    """What the test answers, in words: which of runs and segments would be new."""
    caveat: str
    """What the test does not take into account, as a sentence, or empty."""
    source: str
    """The ACL id or DOI of the paper."""
    run: Callable[[RunData, Pairs, str], Exchanged]
    """From the data, the pairs and the statistic to the statistics of all replicates."""
    interval: RunInterval
    """The interval of the difference."""
    error: Error | None = None
    """The standard error that the test takes the difference to have; None if it does not need how much runs differ."""
    unequal_spreads: Callable[[int, int], bool] | None = None
    """With which numbers of runs it rejects normal scores too often if the runs of one system vary more; None: none."""
    whole_runs: bool = False
    """Whether it exchanges whole runs, so that their numbers limit p."""
    needs_runs: int = 1
    """The smallest number of runs of each system."""
    equal_runs: bool = False
    """Whether both systems must have the same number of runs."""
    ties: str = ">="
    """``>`` if replicates exactly as extreme as the difference do not count, as in MultEval."""
    statistics: Sequence[str] = ("pooled", "mean")
    """The statistics that it supports."""

    def worded(self, text: str, unit: str) -> str:
        """``about``, ``null``, ``question`` or ``caveat`` for a resampling unit: documents instead of segments.

        >>> EXCHANGES["segment"].worded("a coin for each segment", "document")
        'a coin for each document'
        """
        return text.replace("segment", unit)


# What tests of runs answer. The first is the question of ``auto``.
NEW_RUNS_AND_SEGMENTS = "would new runs on new segments differ?"
NEW_RUNS = "would new runs differ on these segments?"
NEW_SEGMENTS = "would the outputs of these runs differ on new segments?"

# From so many runs of each system on, exchanging equally many whole runs keeps its level with unequal spreads.
ENOUGH = 10

# From python -m benches.simulations.run_size.
SKEWED = (
    "With few runs, its p-values rest on the assumption that the scores of runs are about normal: with a skewness of 2 "
    "it rejects up to .11 instead of .05 where the runs of one system make most of the variance."
)

# The fields ``run``, ``question``, ``interval``, ``error`` and ``unequal_spreads``.
FUNCTIONS: Mapping[str, tuple[Any, str, RunInterval, Error | None, Callable[[int, int], bool] | None]] = {
    "run": (exchange_runs, NEW_RUNS, WELCH, welch_error, lambda n, m: n != m or n < ENOUGH),
    "welch": (welch_t, NEW_RUNS, WELCH, welch_error, lambda n, m: not one_level(n, m)),
    "segment": (exchange_segments, NEW_SEGMENTS, PERCENTILE, None, None),
    "pooled": (exchange_pooled, NEW_SEGMENTS, PERCENTILE, None, None),
    "cell": (exchange_cells, NEW_SEGMENTS, PERCENTILE, None, None),
    "hierarchical": (draw_runs_and_segments, NEW_RUNS_AND_SEGMENTS, HIERARCHICAL, hierarchical_error, None),
    "hierarchical-t": (hierarchical_t, NEW_RUNS_AND_SEGMENTS, HIERARCHICAL_T, hierarchical_error, None),
    "multeval": (shuffle_as_multeval, NEW_SEGMENTS, PERCENTILE, None, None),
}


def _unit(name: str, entry: Mapping[str, Any]) -> ExchangeUnit:
    run, question, interval, error, unequal_spreads = FUNCTIONS[name]
    caveat = SKEWED if question == NEW_RUNS_AND_SEGMENTS else entry["caveat"]
    own = {**entry, "caveat": caveat, "question": question}
    return ExchangeUnit(name, **own, run=run, interval=interval, error=error, unequal_spreads=unequal_spreads)


EXCHANGES: Mapping[str, ExchangeUnit] = {name: _unit(name, entry) for name, entry in METHODS["exchange"].items()}

# The exchange units that ``all`` stands for. MultEval's has to be asked for by name.
ALL = tuple(name for name in EXCHANGES if name != "multeval")
