"""Exchanges within segments whose masks the core makes: the order of rows that it reads, and sums of what is swapped.

The *rows* of an exchange are the outputs that it swaps, or their differences from others. The core reads them in groups
of 64 units, because one 64-bit mask says for such a group where a row is swapped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from ..metrics.base import Counts
from .replicates import Replicates
from .samples import BATCH_CELLS, Batch, ExchangeOfRuns, resampler_of_sums

# Units that share a mask.
GROUP = 64
# Exchanges of several pairs are made in one pass if their rows have at most so many numbers: 128 MB.
ROWS_TOGETHER = 1 << 24

# Makes the rows of one pair: (sides, rows, units, K).
Rows: TypeAlias = Callable[[], Counts]


def in_groups(rows: Counts) -> Counts:
    """Rows in the order of the core: (..., rows, S, K) in, (..., 64·⌈S/64⌉·rows, K) out.

    First come the first 64 units of row 0, then those of row 1 and so on, then the next 64 units of row 0. Units are
    filled up with zeros to whole groups.

    >>> rows = np.arange(2 * 65).reshape(2, 65, 1)
    >>> in_groups(rows).shape, in_groups(rows)[[0, 63, 64, 128, 129, 192], 0].tolist()
    ((256, 1), [0, 63, 65, 64, 0, 129])
    """
    *leading, n_rows, n_units, width = rows.shape
    groups = -(-n_units // GROUP)
    padded = np.zeros((*leading, n_rows, groups * GROUP, width), dtype=np.int64)
    padded[..., :n_units, :] = rows
    by_group = padded.reshape(*leading, n_rows, groups, GROUP, width).swapaxes(-4, -3)
    return by_group.reshape(*leading, groups * n_rows * GROUP, width)


def swapped_sums(
    replicates: Replicates, exchange: ExchangeOfRuns, pairs: Sequence[Rows], size: int
) -> Iterator[tuple[Batch, int, Counts]]:
    """The sums of the swapped rows of some pairs that have the same exchange, batch by batch.

    Parameters
    ----------
    replicates : Replicates
        Their number, seed and threads.
    exchange : tuple
        As in ``_core.Resampler.run``.
    pairs : sequence of callable
        Each makes the rows of a pair: (sides, rows, S, K). All sides have the same swaps.
    size : int
        How many numbers there are in the rows of a pair.

    Yields
    ------
    tuple
        A batch, the index of the pair, and the sums of each side: (n, sides, K).
    """
    together = max(1, ROWS_TOGETHER // size)
    for first in range(0, len(pairs), together):
        sides = [in_groups(rows()) for rows in pairs[first : first + together]]
        n_sides, n_units, width = sides[0].shape
        counts = np.concatenate([np.zeros((1, n_units, width), dtype=np.int64), *sides])
        n_pairs = len(sides)
        del sides
        resampler = resampler_of_sums("shuffles", counts)
        del counts
        cells = (1 + n_pairs * n_sides) * width
        for batch in replicates.batches(max(1, BATCH_CELLS // cells), "shuffling"):
            sums = replace(batch, exchange=exchange).sums(resampler).reshape(batch.n, -1, width)[:, 1:]
            for p in range(n_pairs):
                yield batch, first + p, sums[:, p * n_sides : (p + 1) * n_sides]
