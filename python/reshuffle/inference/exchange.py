"""The registry of exchange units: what is exchanged between systems with several runs each.

To add one, write a function from the data, the pairs and the statistic to the statistics of all replicates
(:mod:`reshuffle.resampling.run_exchange`), and add an entry to :data:`EXCHANGES`, and what reports say of it to
``report/words/runs.toml``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

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
    statistics: tuple[str, ...] = ("pooled", "mean")
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

# The rates in the caveats are type-I errors at the level .05: both systems have the same expected score. 5,000
# simulations each, from reshuffle study exchange --exchange all multeval --runs 3 5 --correlation 0.54
# --run-sd 0 0.775 --simulations 5000. Where no standard deviation between runs is named, it is 0. .448 of segment is
# from --exchange segment --runs 5 --correlation 0 --run-sd 2.333.
EXCHANGES: Mapping[str, ExchangeUnit] = {
    unit.name: unit
    for unit in (
        ExchangeUnit(
            "run",
            "whole runs: the runs of both systems are split anew into two systems, in all ways if these are few, and "
            "differences are divided by their standard errors",
            "on these segments, it does not matter which system a run belongs to",
            NEW_RUNS,
            "It takes the test set as given, so it also finds differences that hold only on these segments: as a test "
            "of the expected scores on other segments it rejects too often (.388 instead of .05 in a simulation with "
            "five runs). "
            "If the runs of one system vary more than those of the other, it rejects up to .17 with two to ten runs. "
            "With few runs it cannot reach a small p-value: at least .1 with 3 runs of each system, .0286 with 4 and "
            ".0079 with 5 (two-sided).",
            "P11-2031",
            exchange_runs,
            WELCH,
            welch_error,
            lambda n, m: n != m or n < ENOUGH,
            whole_runs=True,
        ),
        ExchangeUnit(
            "welch",
            "nothing is exchanged: Welch's t test of the runs' scores",
            "on these segments, new runs of both systems would have the same expected score",
            NEW_RUNS,
            "It takes the test set as given, as run does. With two runs beside more it rejects up to .12, not .05, "
            "if the runs of one system vary more than those of the other, and with skewed runs up to .16.",
            "doi:10.1093/biomet/34.1-2.28",
            welch_t,
            WELCH,
            welch_error,
            lambda n, m: not one_level(n, m),
            needs_runs=2,
        ),
        ExchangeUnit(
            "segment",
            "one coin for each segment swaps all outputs of one system with all outputs of the other",
            "for each segment, the outputs of one system could as well be the other's",
            NEW_SEGMENTS,
            "It ignores that other runs of the same systems would differ. Where the expected scores of runs differ, it "
            "rejects too often (.085 instead of .05 in a simulation with three runs and a standard deviation between "
            "runs of .775 sampling standard deviations, .448 with one of 2.3 and five runs).",
            "W05-0908, Fig. 1",
            exchange_segments,
            PERCENTILE,
        ),
        ExchangeUnit(
            "pooled",
            "for each segment, the outputs of all runs of both systems are permuted: Clark et al.'s stratified test",
            "for each segment, it does not matter which run of which system an output comes from",
            NEW_SEGMENTS,
            "It treats the runs of a segment as independent, but runs of one system resemble each other, so it rejects "
            "too often (.217 instead of .05 in a simulation with three runs, .321 with five).",
            "P11-2031",
            exchange_pooled,
            PERCENTILE,
        ),
        ExchangeUnit(
            "cell",
            "one coin for each run and segment swaps the output of one system with that of the other's run of the same "
            "number: MultEval's test, mended",
            "for each run and segment, the output of one system could as well be the other's",
            NEW_SEGMENTS,
            "It treats the runs of a segment as independent, but runs of one system resemble each other, so it rejects "
            "too often (.163 instead of .05 in a simulation with three runs, .257 with five). Runs are paired by their "
            "order, although it has no meaning: another order gives another p-value.",
            "P11-2031",
            exchange_cells,
            PERCENTILE,
            equal_runs=True,
        ),
        ExchangeUnit(
            "hierarchical",
            "nothing is exchanged: segments are drawn with replacement, and runs within each system (bootstrap)",
            "new runs of both systems, on new segments, would have the same expected score",
            NEW_RUNS_AND_SEGMENTS,
            SKEWED,
            "doi:10.1214/07-AOAS122",
            draw_runs_and_segments,
            HIERARCHICAL,
            hierarchical_error,
            needs_runs=2,
        ),
        ExchangeUnit(
            "hierarchical-t",
            "nothing is exchanged: a t test whose variance is that of runs and segments together, as in hierarchical",
            "new runs of both systems, on new segments, would have the same expected score",
            NEW_RUNS_AND_SEGMENTS,
            SKEWED,
            "doi:10.2307/3002019",
            hierarchical_t,
            HIERARCHICAL_T,
            hierarchical_error,
            needs_runs=2,
        ),
        ExchangeUnit(
            "multeval",
            "MultEval 0.5.1's own shuffle: one coin for each run and segment, and a permutation of the runs in each "
            "segment, whose inverse is used for the other system",
            "for each run and segment, the output of one system could as well be the other's",
            NEW_SEGMENTS,
            "A legacy test, for comparison with published results. With three or more runs, its two shuffled systems "
            "are not complements: some outputs are in both and others in neither. Ties do not count, so identical "
            "systems get the smallest p-value. It treats the runs of a segment as independent and rejects too often "
            "(.183 instead of .05 in a simulation with three runs, .295 with five). Runs are paired by their order, "
            "although it has no meaning: another order gives another p-value.",
            "P11-2031",
            shuffle_as_multeval,
            PERCENTILE,
            equal_runs=True,
            ties=">",
            statistics=("pooled",),
        ),
    )
}

# The exchange units that ``all`` stands for. MultEval's has to be asked for by name.
ALL = tuple(name for name in EXCHANGES if name != "multeval")
