"""Records packed into columns, which take a third of the space in a page with many pairs.

:mod:`reshuffle.data.packed` and ``scripts/result.js`` of the page unpack them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass
from typing import Any

# Strings are listed once, with an index, if a column has at most this many distinct ones.
MAX_DISTINCT = 1000


def packed_columns(records: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The packed values of each key. A record without a key has null there."""
    keys = dict.fromkeys(key for record in records for key in record)
    return {key: packed_values([record.get(key) for record in records]) for key in keys}


def packed_values(values: Sequence[Any]) -> dict[str, Any]:
    """A list of at least one JSON value or record in one of four forms.

    ``{"all": value}`` for equal values, ``{"fields": {key: packed values}}`` for objects with the same keys,
    ``{"of": distinct, "index": positions}`` for strings with few distinct values, else ``{"each": values}``.
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
