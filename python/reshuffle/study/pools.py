"""Pools: large test sets that are split into disjoint samples, as in Koehn 2004 (W04-3250)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..execution import ItemJob
from ..execution.tables import Table
from ..metrics.base import Counts, Metric, Scores, tolerance
from ..progress import Step
from ..resampling import CountSample, Pairs, Replicates, samples_of
from ..resampling.counting import Data
from ..resampling.units import Documents
from ..seeds import derive_seed
from ..settings import Resampling, Units
from .material import Material

# How a pool is split into samples.
LAYOUTS: Mapping[str, str] = {
    "broad": "sample j takes the units j, j + m, j + 2m and so on, where m is the number of samples",
    "block": "sample j takes consecutive units",
}

# The sizes of samples in the paper.
SIZES = (100, 300, 600, 3000)

# With fewer samples of a size, shares of samples are unreliable.
ENOUGH_SAMPLES = 10


def check_sizes(
    sizes: Sequence[int] | None, n_units: int, unit: str = "segment", n_samples: int | None = None
) -> tuple[int, ...]:
    """The sizes of samples in ascending order; by default those of the paper with at least ten samples.

    :class:`InputError` for sizes larger than the pool, or if the pool is too small for ``n_samples``.

    >>> check_sizes(None, 3004), check_sizes((600, 300, 300), 3004), check_sizes(None, 500)
    ((100, 300), (300, 600), (50,))
    """
    if sizes is None:
        least = ENOUGH_SAMPLES if n_samples is None else n_samples
        enough = tuple(size for size in SIZES if size * least <= n_units)
        sizes = enough or (max(2, n_units // least),)
    chosen = tuple(sorted({*sizes}))
    if chosen[-1] > n_units:
        raise InputError(
            f"a sample of {chosen[-1]:,} {unit}s is larger than the pool of {n_units:,}: use a smaller size"
        )
    if n_samples is not None and n_samples * chosen[-1] > n_units:
        raise InputError(
            f"{n_samples:,} disjoint samples of {chosen[-1]:,} {unit}s need {n_samples * chosen[-1]:,} {unit}s, but the"
            f" pool has {n_units:,}: use at most {n_units // chosen[-1]:,} samples, or smaller ones"
        )
    return chosen


def sample_units(layout: str, size: int, n_samples: int) -> NDArray[np.intp]:
    """The units of each sample: (samples, size).

    >>> sample_units("broad", 3, 2).tolist(), sample_units("block", 3, 2).tolist()
    ([[0, 2, 4], [1, 3, 5]], [[0, 1, 2], [3, 4, 5]])
    """
    units = np.arange(size * n_samples)
    return units.reshape(size, n_samples).T if layout == "broad" else units.reshape(n_samples, size)


@dataclass(frozen=True)
class Split:
    """The disjoint samples of one size and layout."""

    layout: str
    size: int
    samples: int
    """How many there are."""

    @property
    def few_samples(self) -> bool:
        """Are there fewer than ten samples?"""
        return self.samples < ENOUGH_SAMPLES


@dataclass(frozen=True, eq=False)
class Pool:
    """k systems on U units (segments or documents), with an array (k, U, K) of counts for each metric."""

    names: tuple[str, ...]
    metrics: Sequence[Metric]
    counts: Sequence[Counts]
    unit: str = "segment"

    @classmethod
    def from_material(cls, material: Material) -> Pool:
        """A pool of the segments, or of the documents if the material has any."""
        return cls(material.names, material.metrics, [*map(material.by_unit, material.counts)], material.unit)

    @property
    def n_units(self) -> int:
        """U."""
        return int(self.counts[0].shape[1])

    def splits(self, layouts: Sequence[str], sizes: Sequence[int], n_samples: int | None = None) -> list[Split]:
        """A split for each layout and size, with as many samples as fit, or ``n_samples``."""
        return [Split(layout, size, n_samples or self.n_units // size) for layout in layouts for size in sizes]

    def scores(self) -> list[Scores]:
        """The scores of all systems on the whole pool: (k,) for each metric."""
        return [metric.score(counts.sum(axis=1)) for metric, counts in zip(self.metrics, self.counts, strict=True)]

    def scores_of_rest(self, units: NDArray[np.intp]) -> list[Scores]:
        """The scores of all systems on the pool without these units: (k,) for each metric."""
        return [
            metric.score(counts.sum(axis=1) - counts[:, units].sum(axis=1))
            for metric, counts in zip(self.metrics, self.counts, strict=True)
        ]

    def samples(self, units: NDArray[np.intp]) -> list[CountSample]:
        """The systems on some units, under each metric."""
        return samples_of(self.metrics, [counts[:, units] for counts in self.counts], self.unit)

    def replicates(self, split: Split, resampling: Resampling, sample: int) -> tuple[NDArray[np.intp], Replicates]:
        """The units and the replicates of a sample. Those of sample j have the seed derived for test set j."""
        units = sample_units(split.layout, split.size, split.samples)[sample]
        return units, Replicates(
            self.samples(units),
            n_resamples=resampling.n_resamples,
            seed=derive_seed(resampling.seed, "test-set", sample),
            threads=resampling.threads,
        )


@dataclass(frozen=True, eq=False)
class OfSamples(ItemJob):
    """The base of jobs that compute something of each sample of a split."""

    pool: Pool
    split: Split
    n_resamples: Any
    seed: int
    items: ClassVar[str] = "samples"
    stage: ClassVar[str] = "sampling"

    def item(self, index: int, threads: int | None) -> tuple[Any, ...]:
        """What is to be known of a sample."""
        return self.of_sample(
            *self.pool.replicates(self.split, Resampling(self.n_resamples, self.seed, threads), index)
        )

    @abstractmethod
    def of_sample(self, units: NDArray[np.intp], replicates: Replicates) -> tuple[Any, ...]:
        """What is to be known of a sample, from its units and its replicates."""

    def of_all(self, resampling: Resampling) -> Table:
        """The rows of all samples."""
        return self.results(self.split.samples, resampling.execution)


def units_of(data: Data, units: Units) -> tuple[int, str]:
    """How many units a pool will have, and what they are, before it is counted."""
    if units.documents is None:
        return data.n_segments, "segment"
    return Documents.from_ids(units.documents, data.n_segments).n_documents, "document"


def sampling_step(data: Data, n_splits: int, resampling: Resampling) -> Step:
    """The step of drawing from all samples of some splits, for progress reports."""
    cost = 0.5 * data.n_segments * len(data.names) * len(data.metrics) * resampling.n_resamples
    return "sampling", n_splits * cost, n_splits


def signs(scores: Scores, pairs: Pairs) -> NDArray[np.int8]:
    """The sign of score(a) − score(b) for each pair, 0 for equal scores: (…, k) in, (…, pairs) out."""
    first, second = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
    a, b = scores[..., first], scores[..., second]
    return np.where(np.abs(a - b) <= tolerance(a, b), 0, np.sign(a - b)).astype(np.int8)
