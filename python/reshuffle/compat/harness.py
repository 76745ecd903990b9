"""Shared by the backends for evaluation harnesses: the standard error of a score from counts."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any, NamedTuple

from numpy.typing import NDArray

from reshuffle import NativeMetric, standard_error

__all__ = ["Counted", "logger"]

logger = logging.getLogger("reshuffle.compat")


class Counted(NamedTuple):
    """The counts of a harness's items.

    Attributes
    ----------
    metric : NativeMetric
    counts : (S, K) ndarray of int64
        One row for each item.
    """

    metric: NativeMetric
    counts: NDArray[Any]

    @classmethod
    def from_texts(
        cls, metric: NativeMetric, hypotheses: Sequence[str], references: Sequence[Sequence[str]]
    ) -> Counted:
        """Count S hypotheses against columns of S references each."""
        (counts,) = metric.suff_stats([hypotheses], references)
        return cls(metric, counts)

    def bootstrap_error(self, n_resamples: int) -> float:
        """The bootstrap standard error: the standard deviation of the scores of ``n_resamples`` draws."""
        return float(standard_error(self.counts, self.metric, method="bootstrap", n_resamples=n_resamples))
