"""Replicates of observed counts: shuffles for tests, draws for intervals and tests."""

from __future__ import annotations

from .problems import Group, Problems, is_batch
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
    "Group",
    "MaxT",
    "MinP",
    "Pairs",
    "Problems",
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
    "is_batch",
    "prepared",
    "reached",
]
