"""Jobs whose results are tables of numbers, a row for each item: those that a checkpoint can keep.

A job declares its columns. So a file holds plain bytes, whose meaning comes from the job and not from the file: nothing
in a file can make objects, and what does not have the size or the range of the columns is no result.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

# A structured array (N,): the results of N items.
Table: TypeAlias = NDArray[np.void]


class Kind(NamedTuple):
    """The type of numbers, as numpy writes it, and the range in which they lie; NaN lies in none."""

    dtype: str
    low: float
    high: float


PROBABILITY = Kind("<f8", 0, 1)
NUMBER = Kind("<f8", -math.inf, math.inf)
SIGN = Kind("<i1", -1, 1)
FLAG = Kind("<i1", 0, 1)


class Column(NamedTuple):
    """What a column has for each item: an array of this shape."""

    kind: Kind
    shape: tuple[int, ...] = ()


@dataclass(frozen=True)
class Columns:
    """The columns of a table, in order.

    >>> columns = Columns({"pvalue": Column(PROBABILITY, (2,))})
    >>> table = columns.empty(1)
    >>> table["pvalue"] = [[0.25, 1]]
    >>> columns.decoded(table.tobytes(), 1)["pvalue"]
    array([[0.25, 1.  ]])
    >>> columns.decoded(table.tobytes(), 2) is columns.decoded(np.array([0.25, np.nan]).tobytes(), 1) is None
    True
    """

    by_name: dict[str, Column]

    @property
    def dtype(self) -> np.dtype[np.void]:
        """The type of a row."""
        return np.dtype([(name, column.kind.dtype, column.shape) for name, column in self.by_name.items()])

    @property
    def plain(self) -> list[Any]:
        """Names, types and shapes, as JSON has them."""
        return [[name, column.kind.dtype, list(column.shape)] for name, column in self.by_name.items()]

    def empty(self, n: int) -> Table:
        """A table to fill."""
        return np.empty(n, self.dtype)

    def decoded(self, content: bytes, n: int) -> Table | None:
        """The table with these bytes; None if they are no results of n items."""
        if len(content) != n * self.dtype.itemsize:
            return None
        table = np.frombuffer(content, self.dtype)
        for name, (kind, _) in self.by_name.items():
            if not ((table[name] >= kind.low) & (table[name] <= kind.high)).all():
                return None
        return table


def stacked(column: NDArray[Any], axis: int) -> NDArray[Any]:
    """A column of a table as numpy.stack would join the arrays of its items along ``axis``.

    >>> stacked(np.array([[1, 2], [3, 4]]), -1)
    array([[1, 3],
           [2, 4]])
    """
    return np.ascontiguousarray(np.moveaxis(column, 0, axis))
