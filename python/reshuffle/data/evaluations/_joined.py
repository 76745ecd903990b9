"""Cells of formats whose segments have ids of any kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .base import Cells, cells_of, codes


class Record(NamedTuple):
    """A score of an output: NaN if it is missing."""

    system: str
    segment: str
    value: float
    line: int


def joined_cells(metric: str, records: Sequence[Record]) -> Cells:
    """The cells of at least one record. Segments are in the order of their first occurrence."""
    systems, segments, values, lines = zip(*records, strict=True)
    keys, (segment,) = codes([segments])
    return cells_of(metric, systems, segment, np.array(values, dtype=np.float64), lines, base=0, keys=keys)
