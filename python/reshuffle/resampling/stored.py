"""Samples of counts in files, which are read where they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..lazy import lazy
from ..metrics.base import Counts, Metric, Scores
from ..metrics.stored import StoredCounts, systems_at
from .samples import OF_CORE, CountSample, SentSample
from .units import Strata

# Counts that are copied to 64 bits at a time: 32 MB.
CELLS = 1 << 22
# Counts in a file are sent up to this size, 64 MB; beyond, workers open the file, which they all have to see.
SENT_BYTES = 1 << 26


@dataclass(eq=False)
class StoredSample(CountSample):
    """The counts of k systems in a file, in as few bits as they need.

    The core, checks of exchangeability and variances of differences read them where they are. ``counts`` is a copy in
    64 bits, for everything else.
    """

    array: NDArray[np.signedinteger[Any]] = field(kw_only=True)

    @staticmethod
    def from_stored(
        metric: Metric, array: NDArray[np.signedinteger[Any]] | None = None, strata: Strata | None = None
    ) -> StoredSample:
        """The counts in an array, or by default those of all systems of :class:`StoredCounts`."""
        if array is None:
            assert isinstance(metric, StoredCounts)
            array = metric.array
        # One array for each system, as evenly spaced systems are not adjacent.
        arrays = [np.ascontiguousarray(array[i : i + 1]) for i in range(len(array))]
        return StoredSample(metric, arrays, "segment", strata, array=array)

    @property
    def is_whole(self) -> bool:
        """Whether these are the counts of all systems of the metric."""
        return isinstance(self.metric, StoredCounts) and self.array is self.metric.array

    def __reduce__(self) -> tuple[Any, ...]:
        """By the name of the file, if all systems are those of the metric."""
        return StoredSample.from_stored, (self.metric, None if self.is_whole else self.array, self.strata)

    def sent(self, kind: str) -> SentSample:
        """See :meth:`Sample.sent`."""
        is_named = self.is_whole and self.array.nbytes > SENT_BYTES
        own = {
            "metric": self.metric if is_named else self.metric.without_data(),
            "array": None if is_named else np.ascontiguousarray(self.array),
            "strata": None if self.strata is None else replace(self.strata),
        }
        return SentSample(StoredSample.from_stored, own, OF_CORE)

    @property
    def stored(self) -> NDArray[np.signedinteger[Any]]:
        """See :attr:`CountSample.stored`."""
        return self.array

    @lazy
    def counts(self) -> Counts:
        """The counts of all systems in 64 bits: (k, S, K)."""
        return np.ascontiguousarray(self.array, dtype=np.int64)

    def rows(self, system: int) -> Counts:
        """The counts of one system in 64 bits: (S, K)."""
        return np.asarray(self.array[system].astype(np.int64))

    def select_pair(self, pair: tuple[int, int]) -> tuple[CountSample, tuple[int, int]]:
        """See :meth:`Sample.select_pair`."""
        if len(self.array) == 2:
            return self, pair
        return StoredSample.from_stored(self.metric, systems_at(self.array, pair)), (0, 1)

    def segment_scores(self, names: Sequence[str]) -> Scores:
        """See :meth:`Sample.segment_scores`."""
        scores = np.empty(self.array.shape[:2])
        for block in self._blocks():
            scores[:, block] = self.metric.reported_segment_scores(names, self.array[:, block].astype(np.int64))
        return scores

    @lazy
    def leave_one_out(self) -> Scores:
        """See :attr:`Sample.leave_one_out`."""
        scores = np.empty(self.array.shape[:2])
        for block in self._blocks():
            scores[:, block] = self.metric.score(self.totals[:, None] - self.array[:, block])
        return scores

    def _blocks(self) -> Iterator[slice]:
        """Segments whose counts are copied at a time."""
        systems, segments, columns = self.array.shape
        size = max(1, CELLS // (systems * columns))
        return (slice(first, first + size) for first in range(0, segments, size))
