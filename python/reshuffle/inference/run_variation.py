"""Placeholder of helper VAR's module."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..metrics.base import Scores
from ..resampling.runs import RunData
from ..resampling.samples import Pairs
from ..results.studies import ObservedDifference

__all__ = ["Variation", "corrected_pvalue", "observed_differences", "variations"]


@dataclass(frozen=True)
class Variation:
    """How much the score of one run of a system varies: see :class:`~reshuffle.results.studies.RunScores`."""

    s_sel: float
    between_runs: float | None = None
    between_segments: float | None = None
    interaction: float | None = None
    effective_test_sets: float | None = None


def variations(data: RunData) -> list[list[Variation]]:
    """For each metric and system."""
    return [[Variation(float("nan")) for _ in data.names] for _ in data.samples]


def corrected_pvalue(pvalues: Scores, degrees_of_freedom: Scores) -> Scores:
    return pvalues


def observed_differences(data: RunData, pairs: Pairs, labels: Sequence[str]) -> tuple[ObservedDifference, ...]:
    return ()
