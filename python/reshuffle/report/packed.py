"""A list of records as columns, which takes a third of the space in a page with many pairs.

:mod:`reshuffle.data.packed` and ``scripts/result.js`` of the page read them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["packed_records", "packed_values"]

# Values of which a column has at most this many are listed once.
MAX_DISTINCT = 1000


def packed_records(records: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """``{"count": n, "columns": {key: packed values}}`` of n records with the same keys."""
    keys = records[0] if records else ()
    return {
        "count": len(records),
        "columns": {key: packed_values([record[key] for record in records]) for key in keys},
    }


def packed_values(values: Sequence[Any]) -> dict[str, Any]:
    """A list of JSON values in the first of four forms that fits it.

    ``{"all": value}`` if all are equal, ``{"fields": {key: packed values}}`` of objects with the same keys,
    ``{"of": values, "index": positions}`` of few distinct strings, and ``{"each": values}``.
    """
    first = values[0]
    if all(value == first and type(value) is type(first) for value in values):
        return {"all": first}
    if all(isinstance(value, dict) and value.keys() == first.keys() for value in values):
        return {"fields": {key: packed_values([value[key] for value in values]) for key in first}}
    if all(isinstance(value, str) for value in values):
        distinct = list(dict.fromkeys(values))
        if len(distinct) <= min(MAX_DISTINCT, len(values) // 2):
            positions = {value: position for position, value in enumerate(distinct)}
            return {"of": distinct, "index": [positions[value] for value in values]}
    return {"each": list(values)}
