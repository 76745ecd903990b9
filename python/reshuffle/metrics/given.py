"""Metrics that have the counts of their systems already, and real numbers as counts, in multiples of a resolution."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError, listed, quoted
from .base import LARGEST_SUM, Counts, Kink, Metric, Scores

# The resolution of scores is chosen so that their sum is at most MAX_SUM_OF_SCORES. Draws of D documents are rejected
# if D times the largest document could exceed LARGEST_SUM, so this factor allows a document of 128 times mean size.
MAX_RELATIVE_DOCUMENT = 128
MAX_SUM_OF_SCORES = float(LARGEST_SUM // MAX_RELATIVE_DOCUMENT)
MAX_DECIMALS = 15
# Largest rounding error of a score, relative to the system's largest score.
MAX_RELATIVE_ERROR = 1e-9


def decimal_steps(scores: Scores, limit: float) -> float | None:
    """The smallest power of ten by which all scores are whole numbers up to ``limit``; None if there is none.

    >>> decimal_steps(np.array([0.5, 0.25]), 1e15), decimal_steps(np.array([1 / 3]), 1e15)
    (100.0, None)
    """
    largest = float(np.abs(scores).max(initial=0))
    for decimals in range(MAX_DECIMALS + 1):
        scale = 10.0**decimals
        if largest * scale > limit:
            break
        # One score refutes most resolutions.
        if round(largest * scale) / scale == largest and np.array_equal(np.round(scores, decimals), scores):
            return scale
    return None


def steps_of(scores: Scores, segments: int) -> float:
    """The scale, how many steps of the resolution make 1: a power of ten if one is fine enough, else a power of two."""
    limit = MAX_SUM_OF_SCORES / segments
    found = decimal_steps(scores, limit)
    if found is not None:
        return found
    return 2.0 ** math.floor(math.log2(limit) - math.log2(np.abs(scores).max()))


class PrecomputedCounts(Metric):
    """A metric that already has the counts of its systems, so that it needs no texts."""

    counts: Mapping[str, Counts]
    # The largest number of references of a segment, if the counts are those of texts that are not there.
    most_references: int = 0
    segment_ids: Sequence[str] | None = None
    # The index of the columns of pandas that were given, if any: see :func:`~reshuffle.data.columns.check_rows`.
    index: Any = None
    # Whether systems were given with several runs, each of which is a system here.
    has_runs: bool = False
    # What reports call the systems, if they are runs with names.
    run_names: Mapping[str, str] = MappingProxyType({})

    @property
    def system_names(self) -> tuple[str, ...]:
        """The systems that have counts."""
        return tuple(self.counts)

    @property
    def n_segments(self) -> int:
        """S."""
        return len(next(iter(self.counts.values())))

    def counts_of(self, names: Sequence[str]) -> Counts:
        """The counts of the systems ``names``, (k, S, K)."""
        unknown = [name for name in names if name not in self.counts]
        if unknown:
            raise InputError(
                f"{self.name} has no counts or scores for system {quoted(unknown[0])}, only for {listed(self.counts)}"
            )
        return np.stack([self.counts[name] for name in names])

    def reported_segment_scores(self, names: Sequence[str], counts: Counts) -> Scores:
        """See :meth:`Metric.reported_segment_scores`. They are not rounded, because precomputed counts are exact."""
        return self.segment_scores(counts)


class CountsOfFormula(PrecomputedCounts):
    """Precomputed counts that the formula of another metric scores."""

    formula: Metric

    def _take_over(self, formula: Metric, *names: str) -> None:
        """Make these attributes of the formula those of this metric."""
        vars(self).update({name: getattr(formula, name) for name in names})

    @property
    def kink(self) -> Kink | None:
        return self.formula.kink

    @property
    def by_speaker(self) -> bool:
        return self.formula.by_speaker

    @property
    def source(self) -> str | None:
        return self.formula.source

    def score(self, totals: ArrayLike) -> Scores:
        return self.formula.score(totals)

    def segment_scores(self, counts: ArrayLike) -> Scores:
        return self.formula.segment_scores(counts)

    def details(self, totals: Counts) -> Mapping[str, float]:
        return self.formula.details(totals)

    def without_data(self) -> Metric:
        return self.formula.without_data()
