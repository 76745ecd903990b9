"""User-supplied masks and indices: sums, tests, intervals and standard errors from them equal slow twins in numpy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reshuffle import InputError, resampled_sums

Arrays = Any


def in_blocks(rows: Arrays, *sizes: int) -> Iterator[Arrays]:
    """Blocks of these sizes, and the rest."""
    first = 0
    for size in sizes:
        yield rows[first : first + size]
        first += size
    yield rows[first:]


counts_arrays = st.tuples(
    st.integers(1, 3),
    st.integers(1, 80),
    st.integers(1, 4),
    st.sampled_from([1, 200, 2**20, 2**45]),
    st.integers(0, 99),
).map(lambda s: np.random.default_rng(s[4]).integers(-s[3], 3 * s[3], size=s[:3]))


@given(counts=counts_arrays, n=st.integers(1, 150), seed=st.integers(0, 99), threads=st.integers(1, 3))
@settings(deadline=None, max_examples=60)
def test_sums_over_masks_are_those_of_adding(counts: Arrays, n: int, seed: int, threads: int) -> None:
    masks = np.random.default_rng(seed).random((n, counts.shape[1])) < 0.4
    expected = np.einsum("rs,ksc->rkc", masks.astype(np.int64), counts)
    np.testing.assert_array_equal(expected, resampled_sums(counts, masks=masks, threads=threads))
    np.testing.assert_array_equal(expected[:, 0], resampled_sums(counts[0], masks=masks.astype(np.int8)))
    np.testing.assert_array_equal(expected, resampled_sums(list(counts), masks=in_blocks(masks, 1, n // 2)))


@given(
    counts=counts_arrays,
    n=st.integers(1, 40),
    width=st.integers(1, 700),
    seed=st.integers(0, 99),
    threads=st.integers(1, 3),
)
@settings(deadline=None, max_examples=60)
def test_sums_over_indices_are_those_of_adding(counts: Arrays, n: int, width: int, seed: int, threads: int) -> None:
    indices = np.random.default_rng(seed).integers(0, counts.shape[1], size=(n, width))
    expected = counts[:, indices].sum(axis=2).swapaxes(0, 1)
    np.testing.assert_array_equal(expected, resampled_sums(counts, indices=indices, threads=threads))
    np.testing.assert_array_equal(expected, resampled_sums(counts, indices=in_blocks(indices, 1, n // 2)))
    np.testing.assert_array_equal(expected[:, 0], resampled_sums(counts[0], indices=indices.astype(np.uint8)))


def test_large_masks_and_indices_are_converted_in_pieces() -> None:
    rng = np.random.default_rng(1)
    counts = rng.integers(0, 9, size=(3000, 1))
    masks = rng.integers(2, size=(3000, 3000), dtype=bool)
    np.testing.assert_array_equal(masks.astype(np.float32) @ counts, resampled_sums(counts, masks=masks))
    indices = rng.integers(0, 3000, size=(3000, 3000))
    np.testing.assert_array_equal(counts[indices].sum(axis=1), resampled_sums(counts, indices=indices))


COUNTS = np.arange(12).reshape(4, 3)
MASKS = np.ones((2, 4), dtype=bool)
BAD: dict[str, tuple[dict[str, Any], str]] = {
    "neither": ({}, "pass masks, an (R, S) array of bool, or indices, an (R, n) array of integers"),
    "both": ({"masks": MASKS, "indices": MASKS.astype(int)}, "masks and indices were both passed: they define"),
    "number": ({"masks": 5}, "masks: expected an array of two dimensions, or an iterable of such blocks, got 5"),
    "text": (
        {"masks": "1010"},
        "masks: expected an array of two dimensions, or an iterable of such blocks, got '1010'",
    ),
    "one mask": ({"masks": MASKS[0]}, "masks must have 2 dimensions (replicates, segments), got shape (4,)"),
    "one mask in a list": (
        {"masks": [True] * 4},
        "masks must have 2 dimensions (replicates, segments), got shape (4,)",
    ),
    "three dimensions": (
        {"masks": MASKS[None]},
        "masks must have 2 dimensions (replicates, segments), got shape (1, 2",
    ),
    "width": ({"masks": MASKS[:, :3]}, "masks must have 4 columns, one for each segment, got shape (2, 3)"),
    "twos": ({"masks": MASKS * 2}, "masks must be booleans, or the integers 0 and 1, got 2 in replicate 0, segment 0"),
    "floats": ({"masks": MASKS * 1.0}, "masks must be booleans, or the integers 0 and 1, got float64"),
    "NaN": ({"masks": MASKS * np.nan}, "masks must be booleans, or the integers 0 and 1, got float64"),
    "texts": ({"masks": [["a"] * 4]}, "masks must be booleans, or the integers 0 and 1, got <U1"),
    "ragged": ({"masks": [[True] * 4, [True]]}, "masks must be an array of numbers: "),
    "no replicates": ({"masks": MASKS[:0]}, "masks: expected at least one replicate, got none"),
    "no blocks": ({"masks": iter([])}, "masks: expected at least one replicate, got none"),
    "empty list": ({"masks": []}, "masks: expected at least one replicate, got none"),
    "empty blocks": ({"indices": [MASKS[:0].astype(int)]}, "indices: expected at least one replicate, got none"),
    "blocks of rows": (
        {"masks": iter(MASKS)},
        "masks must have 2 dimensions (replicates, segments), got shape (4,)",
    ),
    "widths of blocks": (
        {"indices": [np.zeros((2, 4), int), np.zeros((2, 5), int)]},
        "indices from replicate 2 on must have 4 columns, as before, got shape (2, 5)",
    ),
    "a later mask": (
        {"masks": [MASKS, MASKS * np.array([[1], [3]])]},
        "masks must be booleans, or the integers 0 and 1, got 3 in replicate 3, segment 0",
    ),
    "index": (
        {"indices": [[0, 1], [3, 4]]},
        "indices must be from 0 to 3, because there are 4 segments, got 4 in replicate 1",
    ),
    "negative": (
        {"indices": [[0, -1]]},
        "indices must be from 0 to 3, because there are 4 segments, got -1 in replicate",
    ),
    "booleans": ({"indices": MASKS}, "indices must be integers, got bool: pass booleans as masks"),
    "real indices": ({"indices": MASKS * 1.0}, "indices must be integers, got float64"),
    "no indices": ({"indices": np.zeros((2, 0), int)}, "indices: expected at least one index in each replicate, got"),
    "threads": ({"masks": MASKS, "threads": 0}, "threads must be a whole number from 1 to 4096, got 0"),
}


@pytest.mark.parametrize(("arguments", "message"), BAD.values(), ids=BAD.keys())
def test_unusable_masks_and_indices_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        resampled_sums(COUNTS, **arguments)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ([1, 2], "counts must have 2 dimensions (segments, counts) or 3 (systems, segments, counts), got shape (2,)"),
        ([[1.5]], "counts must be whole numbers, got 1.5"),
        ([[np.nan]], "counts must be whole numbers, got nan"),
        ([[None]], "counts must be integers, got object"),
        ([[2**62], [1]], "the counts of column 0 are too large: their sum would pass 2^62"),
        ([[[1]], [[1], [2]]], "counts must be an array of numbers: "),
        (np.zeros((0, 3), int), "counts must hold at least one row of counts, got shape (0, 3)"),
        (5, "counts must hold at least one row of counts, got shape ()"),
    ],
)
def test_unusable_counts_are_refused(counts: Any, message: str) -> None:
    with pytest.raises(InputError) as caught:
        resampled_sums(counts, masks=[[True] * 2])
    assert str(caught.value).startswith(message)


def test_more_indices_than_segments_cannot_overflow_a_sum() -> None:
    counts = [[2**59], [1]]
    assert resampled_sums(counts, indices=[[0] * 3]).tolist() == [[3 * 2**59]]
    with pytest.raises(
        InputError, match="the number of indices of a replicate must be at most 4 for counts this large"
    ):
        resampled_sums(counts, indices=[[0] * 5])
