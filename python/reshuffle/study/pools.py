"""Pools: large test sets that are split into disjoint samples, as in Koehn 2004 (W04-3250), and what tests conclude."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..execution import Execution, ItemJob
from ..execution.tables import NUMBER, PROBABILITY, SIGN, Column, Columns, stacked
from ..inference.hypotheses import Hypotheses
from ..inference.plan import Plan
from ..inference.running import run_on_test_set
from ..lazy import lazy
from ..metrics.base import Counts, Metric, Scores, tolerance
from ..metrics.black_box import CorpusFunction
from ..resampling import CountSample, Pairs, Replicates, samples_of
from ..resampling.counting import Data
from ..resampling.samples import columns_of
from ..resampling.units import Documents
from ..seeds import derive_seed
from ..settings import ComparisonSettings, Resampling, Units
from .material import Material

# How a pool is split into samples.
LAYOUTS: Mapping[str, str] = {
    "broad": "sample j takes the units j, j + m, j + 2m and so on, where m is the number of samples",
    "block": "sample j takes consecutive units",
}

# The sizes of samples in the paper.
SIZES = (100, 300, 600, 3000)

# The test whose confidence is the share of draws that a system wins. That of other tests is 1 − p.
BY_WINS = "paired-bootstrap"

# Confidences are compared with a level with this tolerance: 1 − .05 is less than .95 in floating point for some p.
SLACK = 1e-9

# Numbers in memory at a time when draws of pairs are compared: 8 MB.
CELLS = 1 << 20

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
    labels: Sequence[str]
    """The names of the metrics."""
    metrics: Sequence[Metric]
    counts: Sequence[Counts]
    pairs: Pairs
    """Those of the study."""
    unit: str

    @classmethod
    def from_material(cls, material: Material, pairs: Pairs) -> Pool:
        """A pool of the segments, or of the documents if the material has any."""
        counts = [*map(material.by_unit, material.counts)]
        return cls(material.names, material.data.labels, material.metrics, counts, pairs, material.unit)

    @property
    def n_units(self) -> int:
        """U."""
        return int(self.counts[0].shape[1])

    def splits(self, layouts: Sequence[str], sizes: Sequence[int], n_samples: int | None = None) -> list[Split]:
        """A split for each layout and size, with as many samples as fit, or ``n_samples``."""
        return [Split(layout, size, n_samples or self.n_units // size) for layout in layouts for size in sizes]

    @lazy
    def scores(self) -> list[Scores]:
        """The scores of all systems on the whole pool: (k,) for each metric."""
        return [metric.score(counts.sum(axis=1)) for metric, counts in zip(self.metrics, self.counts, strict=True)]

    def gaps(self, label: str) -> Scores:
        """The size of the difference of each pair on the whole pool under a metric: (pairs,)."""
        scores = self.scores[self.labels.index(label)]
        first, second = columns_of(self.pairs)
        return np.asarray(np.abs(scores[first] - scores[second]))

    def scores_of_rest(self, units: NDArray[np.intp]) -> list[Scores]:
        """The scores of all systems on the pool without these units: (k,) for each metric."""
        return [
            metric.score(counts.sum(axis=1) - counts[:, units].sum(axis=1))
            for metric, counts in zip(self.metrics, self.counts, strict=True)
        ]

    def samples(self, units: NDArray[np.intp]) -> list[CountSample]:
        """The systems on some units, under each metric."""
        return samples_of(self.metrics, [counts[:, units] for counts in self.counts], self.unit)


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
        """What is to be known of a sample. That of number j has the seed derived for test set j."""
        units = sample_units(self.split.layout, self.split.size, self.split.samples)[index]
        seed = derive_seed(self.seed, "test-set", index)
        samples = self.pool.samples(units)
        return self.of_sample(units, Replicates(samples, Resampling(self.n_resamples, seed, threads)))

    @abstractmethod
    def of_sample(self, units: NDArray[np.intp], replicates: Replicates) -> tuple[Any, ...]:
        """What is to be known of a sample, from its units and its replicates."""


def units_of(data: Data, units: Units) -> tuple[int, str]:
    """How many units a pool will have, and what they are, before it is counted."""
    if units.documents is None:
        return data.n_segments, "segment"
    return Documents.from_ids(units.documents, data.n_segments).n_documents, "document"


def pool_of(
    data: Data, units: Units, resampling: Resampling, n_splits: int, baseline: str | None, all_pairs: bool
) -> tuple[Material, Pool]:
    """The counted systems, and the pool that they make. All samples of so many splits will be drawn from."""
    cost = 0.5 * data.n_segments * len(data.names) * len(data.metrics) * resampling.n_resamples
    material = Material.from_data(data, units, resampling, [("sampling", n_splits * cost, n_splits)])
    return material, Pool.from_material(material, material.pairs(baseline, all_pairs))


def signs(scores: Scores, pairs: Pairs) -> NDArray[np.int8]:
    """The sign of score(a) − score(b) for each pair, 0 for equal scores: (…, k) in, (…, pairs) out."""
    first, second = columns_of(pairs)
    a, b = scores[..., first], scores[..., second]
    return np.where(np.abs(a - b) <= tolerance(a, b), 0, np.sign(a - b)).astype(np.int8)


# What tests conclude from samples, and whether it is right.


def wins_and_losses(draws: Scores, pairs: Pairs) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """In how many draws the first system of each pair scores higher, and in how many the second: (k, R) → (pairs,) ×2.

    >>> wins, losses = wins_and_losses(np.array([[1.0, 2.0, 3.0], [1.0, 1.0, 5.0]]), [(0, 1)])
    >>> wins.tolist(), losses.tolist()
    ([1], [1])
    """
    first, second = columns_of(pairs)
    wins, losses = np.empty((2, len(first)), dtype=np.int64)
    step = max(1, CELLS // draws.shape[1])
    for start in range(0, len(first), step):
        block = slice(start, start + step)
        a, b = draws[first[block]], draws[second[block]]
        wins[block], losses[block] = np.count_nonzero(a > b, axis=1), np.count_nonzero(a < b, axis=1)
    return wins, losses


def plans_of(tests: Sequence[str], metrics: Sequence[Metric | CorpusFunction]) -> list[Plan]:
    """The plan of each test without adjustment.

    :class:`InputError <reshuffle.InputError>` if a test is unknown or does not support one of the metrics.
    """
    return [Plan.from_settings(ComparisonSettings(test=test, adjust="none"), *metrics) for test in tests]


def conclude(tests: Sequence[str], replicates: Replicates, pairs: Pairs) -> Iterator[tuple[Scores, NDArray[np.int8]]]:
    """The confidence of each test in each pair, and the sign of the difference that it favours: (metrics, pairs) each.

    The confidence of ``paired-bootstrap`` is the share of draws won by the system that wins more of them, without the
    + 1 of its p-value: Koehn 2004 (W04-3250), section 6. It favours neither if both win equally many. The confidence of
    other tests is 1 − p, and they favour the system with the higher score.
    """
    hypotheses = Hypotheses.from_pairs(pairs, n_metrics=len(replicates.samples))
    favoured = np.stack([signs(sample.scores, pairs) for sample in replicates.samples])
    for test, plan in zip(tests, plans_of(tests, [sample.metric for sample in replicates.samples]), strict=True):
        if test == BY_WINS:
            wins, losses = np.stack([wins_and_losses(draws, pairs) for draws in replicates.draws], axis=1)
            yield np.maximum(wins, losses) / replicates.n_resamples, np.sign(wins - losses).astype(np.int8)
        else:
            yield 1 - hypotheses.table(run_on_test_set(plan, replicates, hypotheses).pvalue), favoured


@dataclass(frozen=True, eq=False)
class Conclusions:
    """What a test concludes about P pairs under a metric from each of m samples, and the truth.

    ``confidence``, ``favoured`` and ``truth`` are arrays (m, P). The last two are the signs of differences, where 0
    stands for no difference.
    """

    metric: str
    test: str
    split: Split
    confidence: Scores
    favoured: NDArray[np.int8]
    truth: NDArray[np.int8]

    def reached(self, level: float) -> NDArray[np.bool_]:
        """Where the test draws a conclusion at this confidence: (m, P)."""
        return np.asarray((self.confidence >= level - SLACK) & (self.favoured != 0))

    def right(self, level: float) -> NDArray[np.bool_]:
        """Where it draws the right conclusion."""
        return np.asarray(self.reached(level) & (self.favoured == self.truth))

    def wrong(self, level: float) -> NDArray[np.bool_]:
        """Where it draws a wrong conclusion; every conclusion is wrong if there is no true difference."""
        return np.asarray(self.reached(level) & (self.favoured != self.truth))


@dataclass(frozen=True, eq=False)
class Drawn:
    """The samples of one split of a pool."""

    split: Split
    of: Mapping[str, NDArray[Any]]
    """The columns of the job by name: (…, m, k) for systems, (…, m, P) for pairs."""
    conclusions: Sequence[Conclusions]
    """One for each test and metric."""

    @classmethod
    def by(cls, job: SampleTests, execution: Execution) -> Drawn:
        """Draw from all samples and test all pairs on them."""
        table = job.results(job.split.samples, execution)
        of = {name: stacked(table[name], -2) for name in job.columns.by_name}
        found = [
            Conclusions(label, test, job.split, of["confidence"][t, m], of["favoured"][t, m], of["truth"][m])
            for t, test in enumerate(job.tests)
            for m, label in enumerate(job.pool.labels)
        ]
        return cls(job.split, of, found)


@dataclass(frozen=True, eq=False)
class SampleTests(OfSamples):
    """What :class:`Drawn` has of each sample."""

    tests: Sequence[str]
    truth: str

    @property
    def columns(self) -> Columns:
        """Scores and the standard deviations of their draws, and what :class:`Conclusions` have."""
        of_systems, of_pairs = ((len(self.pool.metrics), n) for n in (len(self.pool.names), len(self.pool.pairs)))
        of_tests = len(self.tests), *of_pairs
        return Columns(
            {
                "scores": Column(NUMBER, of_systems),
                "deviations": Column(NUMBER, of_systems),
                "deviations_of_pairs": Column(NUMBER, of_pairs),
                "confidence": Column(PROBABILITY, of_tests),
                "favoured": Column(SIGN, of_tests),
                "truth": Column(SIGN, of_pairs),
            }
        )

    def of_sample(self, units: NDArray[np.intp], replicates: Replicates) -> tuple[Scores | NDArray[np.int8], ...]:
        """The columns of a sample."""
        pairs = self.pool.pairs
        found = list(conclude(self.tests, replicates, pairs))
        known = self.pool.scores if self.truth == "whole" else self.pool.scores_of_rest(units)
        scores = np.stack([sample.scores for sample in replicates.samples])
        deviations, of_pairs = zip(*(_deviations(draws, pairs) for draws in replicates.draws), strict=True)
        confidence, favoured = (np.stack(each) for each in zip(*found, strict=True))
        truths = np.stack([signs(own, pairs) for own in known])
        return scores, np.stack(deviations), np.stack(of_pairs), confidence, favoured, truths


def _deviations(draws: Scores, pairs: Pairs) -> tuple[Scores, Scores]:
    """The standard deviations of the draws of each system and of each pair's difference: (k, R) → (k,), (pairs,)."""
    products = np.atleast_2d(np.cov(draws, ddof=1)) if draws.shape[1] > 1 else np.zeros((len(draws), len(draws)))
    first, second = columns_of(pairs)
    variances = np.diag(products)
    of_pairs = variances[first] + variances[second] - 2 * products[first, second]
    return np.sqrt(variances), np.sqrt(np.maximum(of_pairs, 0.0))
