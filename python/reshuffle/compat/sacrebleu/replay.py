"""The shuffles and draws that sacreBLEU makes with numpy, and its scores of them, to the last bit.

sacreBLEU makes all masks or indices in one call, and all systems start from the same seed. The same numbers are made
here in blocks, once for all systems and metrics. Sums are integers. That equals its sums: matrix products of integers
or of doubles that are exact, and sums of float32 up to 2²⁴. Above that, float32 is summed as it does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from reshuffle import resampled_sums

from .counting import overrides
from .formulas import Scores, formula_of
from .samples import Sample

__all__ = ["drawn_rows", "drawn_scores", "shuffled_scores"]

Rng: TypeAlias = np.random.Generator

# A block of masks or indices takes this many bytes, or as many as the counts if these take more.
BLOCK_BYTES = 1 << 24

# numpy takes 32 masks from a random word and drops the rest of the last one. Blocks of whole words continue the stream.
MASKS_PER_WORD = 32

# Every sum of whole numbers ≥ 0 up to here is exact in float32, and so are its partial sums.
LARGEST_SINGLE = 2**24


def shuffled_scores(samples: Sequence[Sample], rng: Rng, n_samples: int) -> list[list[tuple[Scores, Scores]]]:
    """For each sample and each system but the baseline, the (R,) scores of both shuffled systems.

    ``samples`` have counts of the same number of segments. Continues the stream of ``rng``.
    """
    blocks: list[list[list[tuple[Scores, Scores]]]] = []
    n_segments = samples[0].values.shape[1]
    for size in _blocks(n_samples, n_segments, samples):
        masks = rng.integers(2, size=(size, n_segments), dtype=bool)
        blocks.append([_shuffled(sample, masks) for sample in samples])
    return [[_joined(parts) for parts in zip(*of_sample, strict=True)] for of_sample in zip(*blocks, strict=True)]


def _shuffled(sample: Sample, masks: NDArray[np.bool_]) -> list[tuple[Scores, Scores]]:
    assert sample.counts is not None
    chosen = resampled_sums(sample.counts, masks=masks)
    rest = sample.totals() - chosen
    scores = []
    for system in range(1, len(sample.values)):
        pair = (chosen[:, 0] + rest[:, system], rest[:, 0] + chosen[:, system])
        a, b = (_shuffle_scores(sample.metric, sample.host_sums(sums)) for sums in pair)
        scores.append((a, b))
    return scores


def _shuffle_scores(metric: Any, sums: NDArray[Any]) -> Scores:
    formula = None if overrides(metric, "_aggregate_and_compute") else formula_of(metric, sums.shape[1])
    if formula is not None:
        return formula(sums)
    return np.array([metric._aggregate_and_compute(row).score for row in sums[:, None]])


def drawn_scores(samples: Sequence[Sample], rng: Rng, n_samples: int, first: int = 0) -> list[list[Scores]]:
    """For each sample and each system from ``first`` on, the (R,) scores of draws. Continues the stream of ``rng``."""
    blocks = [
        [[_draw_scores(sample.metric, rows) for rows in _drawn(sample, indices, first)] for sample in samples]
        for indices in _indices(samples, rng, n_samples)
    ]
    return [
        [np.concatenate(parts) for parts in zip(*of_sample, strict=True)] for of_sample in zip(*blocks, strict=True)
    ]


def drawn_rows(sample: Sample, rng: Rng, n_samples: int) -> Iterator[NDArray[np.float32]]:
    """The host's float32 sums of drawn statistics of the sample's only system, (K,) for each draw."""
    for indices in _indices([sample], rng, n_samples):
        (rows,) = _drawn(sample, indices)
        yield from rows


def _indices(samples: Sequence[Sample], rng: Rng, n_samples: int) -> Iterator[NDArray[np.int64]]:
    """Blocks of indices of drawn segments."""
    n_segments = samples[0].values.shape[1]
    for size in _blocks(n_samples, n_segments * np.dtype(np.int64).itemsize, samples):
        yield rng.choice(n_segments, size=(size, n_segments), replace=True)


def _drawn(sample: Sample, indices: NDArray[np.int64], first: int = 0) -> list[NDArray[np.float32]]:
    """The host's float32 sums of drawn statistics, (R, K) for each system from ``first`` on."""
    if sample.counts is None or sample.counts.min() < 0:
        return [_single_sums(values, indices) for values in sample.values[first:]]
    sums = resampled_sums(sample.counts[first:], indices=indices)
    result = []
    for system, values in enumerate(sample.values[first:]):
        rows = (sums[:, system] / sample.divisor).astype(np.float32)
        inexact = np.flatnonzero((sums[:, system] > LARGEST_SINGLE).any(axis=1))
        if inexact.size:
            rows[inexact] = _single_sums(values, indices[inexact])
        result.append(rows)
    return result


def _single_sums(values: NDArray[Any], indices: NDArray[np.int64]) -> NDArray[np.float32]:
    """Sums rounded to float32 after each addition, in the order in which numpy adds them for the host."""
    singles = values.astype(np.float32)
    return np.array([singles[draw].sum(0) for draw in indices])


def _draw_scores(metric: Any, rows: NDArray[np.float32]) -> Scores:
    formula = formula_of(metric, rows.shape[1])
    if formula is not None:
        return formula(rows)
    return np.array([metric._compute_score_from_stats(row).score for row in rows])


def _joined(parts: Sequence[tuple[Scores, Scores]]) -> tuple[Scores, Scores]:
    a, b = (np.concatenate(scores) for scores in zip(*parts, strict=True))
    return a, b


def _blocks(n_samples: int, row_bytes: int, samples: Sequence[Sample]) -> Iterator[int]:
    """The sizes of blocks of replicates."""
    most = max(BLOCK_BYTES, *(sample.values.nbytes for sample in samples))
    size = max(1, most // row_bytes // MASKS_PER_WORD) * MASKS_PER_WORD
    for begin in range(0, n_samples, size):
        yield min(size, n_samples - begin)
