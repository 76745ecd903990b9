"""Cells of formats whose segments have ids of any kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .base import Cells, codes


class Record(NamedTuple):
    """A score of an output: NaN if it is missing."""

    system: str
    segment: str
    value: float
    line: int


def cells_of(metric: str, records: Sequence[Record]) -> Cells:
    """The cells of at least one record. Segments are in the order of their first occurrence."""
    systems, segments, values, lines = zip(*records, strict=True)
    ids, (system,) = codes([systems])
    keys, (segment,) = codes([segments])
    first = np.unique(system, return_index=True)[1].tolist()
    numbers = np.array(values, dtype=np.float64)
    return Cells(metric, ids, [lines[i] for i in first], system, segment, numbers, lines, 0, keys=keys)
