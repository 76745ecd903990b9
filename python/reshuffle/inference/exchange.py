"""The registry of exchange units: what is exchanged between systems with several runs each.

To add one, write a function from the data, the pairs and the statistic to the statistics of all replicates
(:mod:`reshuffle.resampling.run_exchange`), and add it to :data:`FUNCTIONS`, what users know of it to methods.toml, and
what reports say of it to ``report/words/runs.toml``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..resampling.run_exchange import (
    Exchanged,
    exchange_cells,
    exchange_pooled,
    exchange_runs,
    exchange_segments,
    shuffle_as_multeval,
)
from ..resampling.run_hierarchical import draw_runs_and_segments
from ..resampling.run_linear import one_level
from ..resampling.run_t import Error, hierarchical_error, hierarchical_t, welch_error, welch_t
from ..resampling.runs import RunData
from ..resampling.samples import Pairs
from .methods import METHODS
from .run_intervals import HIERARCHICAL, HIERARCHICAL_T, PERCENTILE, WELCH, RunInterval


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
