"""What makes the JSON in a page smaller: records as columns, and compressed JSON.

:mod:`reshuffle.data.packed` and ``scripts/result.js`` of the page unpack both.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Sequence
from dataclasses import is_dataclass
from typing import Any

from ..results import ComparedTexts
from ..results.schemas import as_columns, as_dict

# Strings are listed once, with an index, if a column has at most this many distinct ones.
MAX_DISTINCT = 1000


def packed_records(records: Sequence[Any]) -> dict[str, Any]:
    """The number of records of one type, and their packed fields, without keys that can be derived from others."""
    return {"count": len(records), **(packed_values(records) if records else {"fields": {}})}


def packed_values(values: Sequence[Any]) -> dict[str, Any]:
    """A list of at least one value in one of five forms.

    ``{"fields": {key: packed values}}`` for records of one type and for objects with the same keys; ``{"all": value}``
    for equal values; ``{"items": [packed values]}`` for equally long lists of records, position by position;
    ``{"of": distinct, "index": positions}`` for strings with few distinct values, else ``{"each": values}``.
    """
    first = values[0]
    if is_dataclass(first) and all(type(value) is type(first) for value in values):
        return {"fields": {key: packed_values(column) for key, column in as_columns(values).items()}}
    if all(value == first and type(value) is type(first) for value in values):
        return {"all": first}
    if all(isinstance(value, dict) and value.keys() == first.keys() for value in values):
        return {"fields": {key: packed_values([value[key] for value in values]) for key in first}}
    if isinstance(first, tuple) and all(_has_records(value, len(first)) for value in values):
        return {"items": [packed_values(position) for position in zip(*values, strict=True)]}
    if all(isinstance(value, str) for value in values):
        distinct = list(dict.fromkeys(values))
        if len(distinct) <= min(MAX_DISTINCT, len(values) // 2):
            positions = {value: position for position, value in enumerate(distinct)}
            return {"of": distinct, "index": [positions[value] for value in values]}
    return {"each": list(values)}


def _has_records(value: Any, n: int) -> bool:
    return isinstance(value, tuple) and len(value) == n > 0 and is_dataclass(value[0])


def deflated(text: str) -> dict[str, str]:
    """JSON as ``{"deflate": …}``: its UTF-8 in zlib's format, in base64."""
    # In JSON, the backslash replacement of a lone surrogate, which UTF-8 does not have, is its escape sequence.
    packed = zlib.compress(text.encode("utf-8", "backslashreplace"))
    return {"deflate": base64.b64encode(packed).decode("ascii")}


def by_segment(texts: ComparedTexts) -> dict[str, Any]:
    """The keys of texts, in which all outputs of a segment and all its scores follow each other.

    Outputs of a segment resemble each other, so they take a tenth of the space when compressed.
    """
    return as_dict(texts) | {
        "names": list(texts.systems),
        "systems": list(zip(*texts.systems.values(), strict=True)),
        "scores": {metric: list(zip(*by_system.values(), strict=True)) for metric, by_system in texts.scores.items()},
    }
