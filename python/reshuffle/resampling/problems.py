"""Many problems of one shape in one call: a batch of pairs of systems, or of systems, each with a seed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError
from ..metrics.base import Counts, Metric, MetricLike, check_sums, counts_array
from ..metrics.native import resolve
from ..metrics.precomputed import SegmentScores
from ..settings import Resampling, Units
from ..validate import MAX_SEED, check_integer
from .replicates import Replicates
from .samples import CountSample
from .units import Documents, Strata

__all__ = ["Group", "Problems", "is_batch"]

Seeds = NDArray[np.uint64]


def is_batch(values: ArrayLike, metric: MetricLike | None) -> bool:
    """Are these (batch, S, K) counts, or without a metric (batch, S) scores?

    Whole numbers in two dimensions without a metric are no batch: they may well be (S, K) counts whose metric was
    forgotten.
    """
    try:
        array = np.asarray(values)
    except ValueError:  # rows of different lengths
        return False
    return array.ndim == 3 if metric is not None else array.ndim == 2 and array.dtype.kind == "f"


class Group(NamedTuple):
    """The problems under one metric: their numbers, and for each of k systems its counts in all of them, (n, S, K)."""

    metric: Metric
    numbers: NDArray[np.intp]
    arrays: Sequence[Counts]

    def by(self, documents: Documents) -> Group:
        """The same with documents as the unit."""
        for counts in self.arrays:
            check_sums(counts)  # numpy would not tell
        return self._replace(arrays=[np.ascontiguousarray(documents.sums(counts)) for counts in self.arrays])


@dataclass(frozen=True, eq=False)
class Problems:
    """Problems of one shape, all of the same units.

    Those of scores may be under several metrics: each has a resolution of its own.
    """

    groups: Sequence[Group]
    seeds: Seeds
    unit: str
    strata: Strata | None

    @classmethod
    def of(
        cls, metric: MetricLike | None, a: ArrayLike, b: ArrayLike | None, given: Units, seed: int | ArrayLike
    ) -> Problems:
        """From (batch, S, K) counts or (batch, S) scores of one system or two, and a seed for all or for each."""
        arrays = {"a": np.asarray(a)} if b is None else {"a": np.asarray(a), "b": np.asarray(b)}
        shapes = [array.shape for array in arrays.values()]
        if len(set(shapes)) > 1:
            raise InputError(f"a and b must have the same shape, got {' and '.join(map(str, shapes))}")
        n, n_segments = shapes[0][:2]
        if n == 0:
            raise InputError(f"a batch must hold at least one problem, got shape {shapes[0]}")
        groups = _of_scores(arrays) if metric is None else [_of_counts(resolve(metric), arrays)]
        documents = None if given.documents is None else Documents.of(given.documents, n_segments)
        strata = None if given.strata is None else Strata.of(given.strata, n_segments, documents)
        if documents is None:
            return cls(groups, seeds_of(seed, n), "segment", strata)
        return cls([group.by(documents) for group in groups], seeds_of(seed, n), "document", strata)

    def __len__(self) -> int:
        return len(self.seeds)

    def replicates(self, group: Group, at: int, resampling: Resampling) -> Replicates:
        """Those of one problem, as they would be if it were alone."""
        arrays = [counts[at : at + 1] for counts in group.arrays]
        sample = CountSample.of_turns(group.metric, arrays, self.unit, self.strata)
        seed = int(self.seeds[group.numbers[at]])
        return Replicates.of([sample], replace(resampling, seed=seed))

    def one_by_one(self, resampling: Resampling) -> Iterator[tuple[int, Replicates]]:
        """The replicates of each problem, and its number."""
        for group in self.groups:
            for at, number in enumerate(group.numbers.tolist()):
                yield number, self.replicates(group, at, resampling)


def _of_counts(metric: Metric, arrays: dict[str, NDArray[np.generic]]) -> Group:
    counts = [np.ascontiguousarray(counts_array(array, name, ndim=3)) for name, array in arrays.items()]
    return Group(metric, np.arange(len(counts[0])), counts)


def _of_scores(arrays: dict[str, NDArray[np.generic]]) -> list[Group]:
    """Problems whose scores have the same unit together."""
    by_unit: dict[str, tuple[Metric, list[int], list[Counts]]] = {}
    for number, systems in enumerate(zip(*arrays.values(), strict=True)):
        try:
            scores = SegmentScores("score", dict(zip(arrays, systems, strict=True)))
        except InputError as error:
            raise InputError(f"problem {number} of the batch: {error}") from None
        _, numbers, counts = by_unit.setdefault(scores.signature(), (scores, [], []))
        numbers.append(number)
        counts.append(scores.counts_of(list(arrays)))
    return [
        Group(metric, np.array(numbers), list(np.ascontiguousarray(np.stack(counts, axis=1))))
        for metric, numbers, counts in by_unit.values()
    ]


def seeds_of(seed: int | ArrayLike, n: int) -> Seeds:
    """A seed for each of n problems: the same for all, or those given."""
    if np.ndim(seed) == 0:
        return np.full(n, check_integer("seed", seed, 0, MAX_SEED), dtype=np.uint64)
    given = np.asarray(seed)
    if given.shape != (n,):
        raise InputError(f"seed must be one number or one for each of {n:,} problems, got shape {given.shape}")
    return np.array([check_integer("seed", one, 0, MAX_SEED) for one in given.tolist()], dtype=np.uint64)
