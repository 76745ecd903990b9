"""The mode ``exact-replay``: the shuffles and draws that sacreBLEU makes with numpy, and their scores, to the last bit.

sacreBLEU generates all masks or indices in one call, and starts from the same seed for every system. Here the same
random numbers are generated in blocks, once for all systems and metrics. Sums are computed as integers. They equal
sacreBLEU's sums of shuffles, which are exact, and its sums of draws up to 2²⁴, above which float32 is not exact. Larger
sums of draws are computed in float32, in sacreBLEU's order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

import reshuffle  # resampled_sums imports its modules when it is used

from .counting import overrides
from .formulas import Scores, formula_of
from .samples import Sample

Rng: TypeAlias = np.random.Generator
T = TypeVar("T")

# The size of a block of replicates in bytes, or the size of the counts if that is larger.
BLOCK_BYTES = 1 << 25

# Sums are copied while they are computed, transposed and scored.
COPIES_OF_SUMS = 3

# numpy takes 32 masks from each 32-bit value, and drops the unused bits at the end of a call. If the masks of each
# block fill whole values, the blocks are the same as one array.
MASKS_PER_WORD = 32

# float32 holds all whole numbers up to here, so a sum ≥ 0 up to here is exact, and so are its partial sums.
LARGEST_SINGLE = 2**24


def shuffled_scores(samples: Sequence[Sample], rng: Rng, n_samples: int) -> list[list[tuple[Scores, Scores]]]:
    """For each sample and each system except the baseline, the (R,) scores of both systems after each shuffle.

    ``samples`` must have counts, and the same number of segments. Continues the stream of ``rng``.
    """
    # Swapping a segment moves the difference of its counts from one sum to the other. Most differences fit in a byte,
    # and are summed faster than counts.
    differences = np.concatenate([_counts(sample)[:1] - _counts(sample)[1:] for sample in samples], axis=2)
    n_segments = differences.shape[1]
    blocks = []
    for size in _blocks(n_samples, n_segments, differences):
        masks = rng.integers(2, size=(size, n_segments), dtype=bool)
        moved = reshuffle.resampled_sums(differences, masks=masks)
        blocks.append([_shuffled(sample, own) for sample, own in zip(samples, _split(moved, samples), strict=True)])
    return _joined(blocks, lambda parts: tuple(map(np.concatenate, zip(*parts, strict=True))))


def _shuffled(sample: Sample, moved: NDArray[np.int64]) -> list[tuple[Scores, Scores]]:
    """Scores of one block. ``moved`` are the (R, k − 1, K) sums of baseline minus system over swapped segments."""
    baseline, *systems = _counts(sample).sum(axis=1)
    scores = []
    for system, total in enumerate(systems):
        # Formulas are faster on contiguous columns.
        difference = np.ascontiguousarray(moved[:, system].T)
        pair = (total[:, None] + difference, baseline[:, None] - difference)
        a, b = (_shuffle_scores(sample.metric, sample.host_sums(sums).T) for sums in pair)
        scores.append((a, b))
    return scores


def _shuffle_scores(metric: Any, sums: NDArray[Any]) -> Scores:
    formula = None if overrides(metric, "_aggregate_and_compute") else formula_of(metric, sums.shape[1])
    if formula is not None:
        return formula(sums)
    return np.array([metric._aggregate_and_compute(row).score for row in np.ascontiguousarray(sums)[:, None]])


class Draws:
    """Makes the indices of draws. The first block is kept for callers that start from the same random numbers.

    The constructor of ``PairedTest`` starts from the same seed for each metric, and so does its bootstrap test.
    """

    def __init__(self) -> None:
        self._kept: dict[tuple[str, int, int], tuple[NDArray[np.uint32], Any]] = {}

    def block(self, rng: Rng, size: int, n_segments: int) -> NDArray[np.uint32]:
        """The next (R, S) indices of ``rng``.

        sacreBLEU calls ``choice``, which makes 64-bit integers from the same random bits.
        """
        key = (repr(rng.bit_generator.state), size, n_segments)
        if key in self._kept:
            indices, rng.bit_generator.state = self._kept[key]
            return indices
        indices = rng.integers(0, n_segments, size=(size, n_segments), dtype=np.uint32)
        if not self._kept:
            self._kept[key] = indices, rng.bit_generator.state
        return indices


def drawn_scores(
    samples: Sequence[Sample], rng: Rng, n_samples: int, draws: Draws, first: int = 0
) -> list[list[Scores]]:
    """For each sample and each system from ``first`` on, the (R,) scores of draws. Continues the stream of ``rng``."""
    blocks = [
        [
            [_draw_scores(sample.metric, rows) for rows in of_sample]
            for sample, of_sample in zip(samples, drawn, strict=True)
        ]
        for drawn in _drawn(samples, rng, n_samples, draws, first)
    ]
    return _joined(blocks, np.concatenate)


def drawn_objects(sample: Sample, rng: Rng, n_samples: int) -> Iterator[Any]:
    """sacreBLEU's score object for each draw of the sample's only system."""
    for ((rows,),) in _drawn([sample], rng, n_samples, Draws(), 0):
        for row in rows:
            yield sample.metric._compute_score_from_stats(row)


def _drawn(
    samples: Sequence[Sample], rng: Rng, n_samples: int, draws: Draws, first: int
) -> Iterator[list[list[NDArray[np.float32]]]]:
    """Blocks of sacreBLEU's float32 sums: (R, K) for each sample, and each of its systems from ``first`` on."""
    whole = [sample for sample in samples if sample.counts is not None and sample.counts.min() >= 0]
    counts = np.concatenate([_counts(sample)[first:] for sample in whole], axis=2) if whole else None
    n_segments = samples[0].values.shape[1]
    for size in _blocks(n_samples, n_segments * np.dtype(np.uint32).itemsize, counts):
        indices = draws.block(rng, size, n_segments)
        sums = [] if counts is None else _split(reshuffle.resampled_sums(counts, indices=indices), whole)
        of_sample = dict(zip(whole, sums, strict=True))
        yield [_rows(sample, indices, of_sample.get(sample), first) for sample in samples]


def _rows(
    sample: Sample, indices: NDArray[np.uint32], sums: NDArray[np.int64] | None, first: int
) -> list[NDArray[np.float32]]:
    """sacreBLEU's float32 sums of one block, from integer sums where these are available."""
    values = sample.values[first:]
    if sums is None:
        return [_single_sums(system, indices) for system in values]
    result = []
    for system, exact in zip(values, np.moveaxis(sums, 1, 0), strict=True):
        rows = (exact / sample.divisor).astype(np.float32)
        inexact = np.flatnonzero((exact > LARGEST_SINGLE).any(axis=1))
        if inexact.size:
            rows[inexact] = _single_sums(system, indices[inexact])
        result.append(rows)
    return result


def _single_sums(values: NDArray[Any], indices: NDArray[np.uint32]) -> NDArray[np.float32]:
    """Sums that are rounded to float32 after each addition, in the order in which numpy adds them in sacreBLEU."""
    singles = values.astype(np.float32)
    return np.array([singles[draw].sum(0) for draw in indices])


def _draw_scores(metric: Any, rows: NDArray[np.float32]) -> Scores:
    formula = formula_of(metric, rows.shape[1])
    if formula is not None:
        return formula(rows)
    return np.array([metric._compute_score_from_stats(row).score for row in rows])


def _counts(sample: Sample) -> NDArray[np.int64]:
    assert sample.counts is not None
    return sample.counts


def _split(sums: NDArray[np.int64], samples: Sequence[Sample]) -> list[NDArray[np.int64]]:
    """The columns of each sample, from sums with the columns of all samples."""
    return np.split(sums, np.cumsum([sample.values.shape[2] for sample in samples])[:-1], axis=2)


def _joined(blocks: Sequence[Sequence[Sequence[T]]], join: Callable[[Sequence[T]], Any]) -> list[list[Any]]:
    """For each sample and system, the results of all blocks joined."""
    return [[join(parts) for parts in zip(*of_sample, strict=True)] for of_sample in zip(*blocks, strict=True)]


def _blocks(n_samples: int, row_bytes: int, counts: NDArray[np.int64] | None) -> Iterator[int]:
    """The numbers of replicates in each block.

    A replicate takes ``row_bytes`` for its masks or indices, and the sums of the (k, S, K) ``counts``.
    """
    most = BLOCK_BYTES
    if counts is not None:
        most = max(most, counts.nbytes)
        row_bytes += COPIES_OF_SUMS * counts[:, 0].nbytes
    size = max(1, most // row_bytes // MASKS_PER_WORD) * MASKS_PER_WORD
    for begin in range(0, n_samples, size):
        yield min(size, n_samples - begin)
