"""A list of records as columns, which takes a third of the space in a page with many pairs.

:mod:`reshuffle.data.packed` and ``scripts/result.js`` of the page read them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass
from typing import Any

__all__ = ["packed_columns", "packed_values"]

# Values of which a column has at most this many are listed once.
MAX_DISTINCT = 1000


def packed_columns(records: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The packed values of each key of some records. The value of a key that a record lacks is null."""
    keys = dict.fromkeys(key for record in records for key in record)
    return {key: packed_values([record.get(key) for record in records]) for key in keys}


def packed_values(values: Sequence[Any]) -> dict[str, Any]:
    """A list of at least one JSON value, or record, in the first of four forms that fits it.

    ``{"all": value}`` if all are equal, ``{"fields": {key: packed values}}`` of objects with the same keys,
    ``{"of": values, "index": positions}`` of few distinct strings, and ``{"each": values}``.
    """
    first = values[0]
    if is_dataclass(first) and all(type(value) is type(first) for value in values):
        return {
            "fields": {
                key: packed_values([getattr(value, key) for value in values]) for key in first.__dataclass_fields__
            }
        }
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
