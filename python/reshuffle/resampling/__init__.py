"""Replicates of observed counts: shuffles for tests, draws for intervals and tests."""

from __future__ import annotations

from .reductions import (
    Draws,
    MaxT,
    MinP,
    Reduction,
    SequentialTally,
    Series,
    Spread,
    Stopped,
    Tally,
    extremeness,
    reached,
)
from .replicates import Replicates
from .samples import Batch, Codes, Column, CountSample, Pairs, Sample, TextSample, prepared

__all__ = [
    "Batch",
    "Codes",
    "Column",
    "CountSample",
    "Draws",
    "MaxT",
    "MinP",
    "Pairs",
    "Reduction",
    "Replicates",
    "Sample",
    "SequentialTally",
    "Series",
    "Spread",
    "Stopped",
    "Tally",
    "TextSample",
    "extremeness",
    "prepared",
    "reached",
]
