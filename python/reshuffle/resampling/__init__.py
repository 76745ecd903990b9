"""Replicates of observed counts: shuffles and permutations for tests, bootstrap draws for intervals and tests."""

from __future__ import annotations

from .problems import ProblemGroup, Problems, is_batch
from .reductions import (
    Draws,
    Histograms,
    MaxT,
    MinP,
    PermutedCounts,
    PermutedHistograms,
    PermutedTally,
    Reduction,
    SequentialCounts,
    SequentialTally,
    Series,
    Spread,
    Tally,
    directed,
    extremeness,
    ranks_among_all,
    reached,
    signs,
)
from .replicates import Replicates
from .samples import Batch, CountSample, DifferingColumn, GroupCodes, Pairs, Sample, TextSample, resampler_of_sums

__all__ = [
    "Batch",
    "CountSample",
    "DifferingColumn",
    "Draws",
    "GroupCodes",
    "Histograms",
    "MaxT",
    "MinP",
    "Pairs",
    "PermutedCounts",
    "PermutedHistograms",
    "PermutedTally",
    "ProblemGroup",
    "Problems",
    "Reduction",
    "Replicates",
    "Sample",
    "SequentialCounts",
    "SequentialTally",
    "Series",
    "Spread",
    "Tally",
    "TextSample",
    "directed",
    "extremeness",
    "is_batch",
    "ranks_among_all",
    "reached",
    "resampler_of_sums",
    "signs",
]
