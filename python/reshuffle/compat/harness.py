"""Shared by the backends and adapters for evaluation libraries: the standard error of a score from counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reshuffle import InputError, NativeMetric, standard_error


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
    def from_items(
        cls, metric: NativeMetric, hypotheses: Sequence[str], references: Sequence[Sequence[str]]
    ) -> Counted:
        """Count S hypotheses against the references of each.

        Raises :class:`InputError` if the numbers of references differ: the harnesses then do not score all references.
        """
        numbers = sorted(set(map(len, references)))
        if len(numbers) > 1:
            raise InputError(
                f"the number of references must be the same for all items, got {numbers[0]} to {numbers[-1]}"
            )
        (counts,) = metric.suff_stats([list(column) for column in zip(*references, strict=True)], [hypotheses])
        return cls(metric, counts)

    @classmethod
    def from_groups(
        cls, metric: NativeMetric, hypotheses: Sequence[str], references: Sequence[Sequence[str]]
    ) -> Counted:
        """As :meth:`from_items`, but the numbers of references may differ. At least one item is needed."""
        numbers = np.array([len(items) for items in references], dtype=np.int64)
        if numbers.min() == 0:
            raise InputError(f"prediction {int(numbers.argmin())} (counted from 0) has no reference")
        counts: NDArray[Any] = np.empty((len(numbers), len(metric.columns)), dtype=np.int64)
        for number in np.unique(numbers):
            rows = np.flatnonzero(numbers == number).tolist()
            group = [hypotheses[row] for row in rows], [references[row] for row in rows]
            counts[rows] = cls.from_items(metric, *group).counts
        return cls(metric, counts)

    def bootstrap_error(self, n_resamples: int) -> float:
        """The bootstrap standard error: the standard deviation of the scores of ``n_resamples`` draws."""
        return float(standard_error(self.counts, self.metric, method="bootstrap", n_resamples=n_resamples))
