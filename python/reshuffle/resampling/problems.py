"""Batches: many problems of the same shape in one call. A problem is one system or a pair, with a seed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..data.arrays import as_array
from ..errors import InputError
from ..metrics.base import Counts, Metric, MetricLike, check_sums, counts_array
from ..metrics.named import resolve
from ..settings import Resampling, Units
from ..validate import MAX_SEED, check_integer
from .replicates import Replicates
from .samples import CountSample, scores_of_arrays
from .units import Documents, Strata, documents_and_strata

Seeds = NDArray[np.uint64]


def is_batch(array: NDArray[Any], metric: MetricLike | None) -> bool:
    """Are these (batch, S, K) counts, or without a metric (batch, S) scores?

    A two-dimensional array of integers without a metric is not a batch: it may be (S, K) counts whose metric the
    caller forgot.
    """
    return array.ndim == 3 if metric is not None else array.ndim == 2 and array.dtype.kind == "f"


class ProblemGroup(NamedTuple):
    """The problems under one metric.

    ``indices`` are their positions in the batch, (n,). ``arrays`` has one array (n, S, K) for each of the k systems.
    """

    metric: Metric
    indices: NDArray[np.intp]
    arrays: Sequence[Counts]

    def by_document(self, documents: Documents) -> ProblemGroup:
        """The same problems with documents as the resampling unit."""
        for counts in self.arrays:
            check_sums(counts)  # numpy does not report integer overflow
        return self._replace(arrays=[np.ascontiguousarray(documents.sums(counts)) for counts in self.arrays])


@dataclass(frozen=True, eq=False)
class Problems:
    """Problems of the same shape, with the same documents and strata.

    Counts form one group. Segment scores form one group for each fixed-point resolution, which is part of the metric.
    """

    groups: Sequence[ProblemGroup]
    seeds: Seeds
    unit: str
    strata: Strata | None

    @classmethod
    def from_arrays(
        cls, metric: MetricLike | None, a: ArrayLike, b: ArrayLike | None, units: Units, seed: int | ArrayLike
    ) -> Problems:
        """From (batch, S, K) counts or (batch, S) scores of one or two systems, and one seed or one per problem."""
        arrays = {name: as_array(values, name) for name, values in (("a", a), ("b", b)) if values is not None}
        shapes = [array.shape for array in arrays.values()]
        if len(set(shapes)) > 1:
            raise InputError(f"a and b must have the same shape, got {' and '.join(map(str, shapes))}")
        n, n_segments = shapes[0][:2]
        if n == 0:
            raise InputError(f"a batch must have at least one problem, got shape {shapes[0]}")
        if metric is None:
            groups = _group_scores(arrays)
        else:
            counts = [np.ascontiguousarray(counts_array(array, name, ndim=3)) for name, array in arrays.items()]
            groups = [ProblemGroup(resolve(metric), np.arange(n), counts)]
        documents, strata = documents_and_strata(units, n_segments)
        if documents is None:
            return cls(groups, check_seeds(seed, n), "segment", strata)
        return cls([group.by_document(documents) for group in groups], check_seeds(seed, n), "document", strata)

    def __len__(self) -> int:
        return len(self.seeds)

    def replicates(self, group: ProblemGroup, position: int, resampling: Resampling) -> Replicates:
        """The replicates of one problem of a group, the same as outside a batch."""
        seed = int(self.seeds[group.indices[position]])
        return Replicates([self._sample(group, position)], replace(resampling, seed=seed))

    def _sample(self, group: ProblemGroup, position: int) -> CountSample:
        arrays = [counts[position : position + 1] for counts in group.arrays]
        return CountSample(group.metric, arrays, self.unit, self.strata)

    @property
    def samples(self) -> list[CountSample]:
        """The sample of each problem, in the order of the batch."""
        samples: dict[int, CountSample] = {}
        for group in self.groups:
            samples |= {int(index): self._sample(group, place) for place, index in enumerate(group.indices)}
        return [samples[index] for index in range(len(self))]

    def enumerate_replicates(self, resampling: Resampling) -> Iterator[tuple[int, Replicates]]:
        """The index of each problem in the batch, and its replicates."""
        for group in self.groups:
            for position, index in enumerate(group.indices.tolist()):
                yield index, self.replicates(group, position, resampling)


def _group_scores(arrays: dict[str, NDArray[np.generic]]) -> list[ProblemGroup]:
    """Group the problems whose segment scores have the same resolution."""
    groups: dict[str, tuple[Metric, list[int], list[Counts]]] = {}
    for index, systems in enumerate(zip(*arrays.values(), strict=True)):
        try:
            scores = scores_of_arrays(dict(zip(arrays, systems, strict=True)))
        except InputError as error:
            raise InputError(f"problem {index} of the batch: {error}") from None
        _, indices, counts = groups.setdefault(scores.signature(), (scores, [], []))
        indices.append(index)
        counts.append(scores.counts_of(list(arrays)))
    return [
        ProblemGroup(metric, np.array(indices), list(np.ascontiguousarray(np.stack(counts, axis=1))))
        for metric, indices, counts in groups.values()
    ]


def check_seeds(seed: int | ArrayLike, n: int) -> Seeds:
    """The seed of each of n problems, from one seed for all or one for each."""
    if np.ndim(seed) == 0:
        return np.full(n, check_integer("seed", seed, 0, MAX_SEED), dtype=np.uint64)
    seeds = np.asarray(seed)
    if seeds.shape != (n,):
        raise InputError(f"seed must be one number or one for each of {n:,} problems, got shape {seeds.shape}")
    return np.array([check_integer("seed", one, 0, MAX_SEED) for one in seeds.tolist()], dtype=np.uint64)
