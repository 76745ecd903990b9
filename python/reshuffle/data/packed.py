"""Unpacking of what HTML reports have in packed form: the inverse of :mod:`reshuffle.report.packed`."""

from __future__ import annotations

import binascii
import contextlib
import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .decoding import Mismatch, inside, list_of, mapping_of, text, unchanged
from .files import MAX_INPUT

_list, _mapping = list_of(unchanged), mapping_of(unchanged)


def inflated(document: Any) -> Any:
    """The document of ``{"deflate": compressed JSON}``; anything else as it is."""
    if not (isinstance(document, dict) and "deflate" in document):
        return document
    try:
        packed = zlib.decompressobj()
        plain = packed.decompress(binascii.a2b_base64(text(document["deflate"])), MAX_INPUT)
        if not packed.eof:
            raise Mismatch("expected compressed JSON, got a part of it").inside("deflate")
        return json.loads(plain)
    except (ValueError, zlib.error, RecursionError):
        raise Mismatch("expected compressed JSON").inside("deflate") from None


def unpacked_texts(document: Any) -> Any:
    """The document of texts with a list for each system, from one with a list for each segment."""
    if not (isinstance(document, dict) and "names" in document):
        return document
    names = list_of(text)(document["names"])
    scores = _mapping(document.get("scores"))

    def by_system(rows: Any) -> dict[str, Any]:
        columns = zip(*(_as_long_as(names, row) for row in _list(rows)), strict=True)
        return dict(zip(names, map(list, columns), strict=True))

    found = {key: value for key, value in document.items() if key != "names"}
    with inside("systems"):
        found["systems"] = by_system(document.get("systems"))
    with inside("scores"):
        found["scores"] = {metric: by_system(rows) for metric, rows in scores.items()}
    return found


def _as_long_as(names: Sequence[str], row: Any) -> Sequence[Any]:
    values: Sequence[Any] = _list(row)
    if len(values) != len(names):
        raise Mismatch(f"expected {len(names)} values for a segment, got {len(values)}")
    return values


def unpacked_records(document: Any) -> list[dict[str, Any]]:
    """The records of ``{"count": n, "fields": {key: packed values}}``; :class:`Mismatch` if it is something else."""
    with contextlib.suppress(AttributeError, LookupError, TypeError, ValueError):
        # Without this check, a corrupt count could allocate any amount of memory.
        if document["count"] <= max(1, _longest(document["fields"])):
            return _records(document["fields"], document["count"])
    raise Mismatch("expected packed records")


def _longest(packed: Any) -> int:
    """The number of values in the longest list of some packed values."""
    if isinstance(packed, dict):
        return max(map(_longest, packed.values()), default=0)
    return max([len(packed), *map(_longest, packed)]) if isinstance(packed, list) else 0


def _records(fields: Mapping[str, Any], count: int) -> list[dict[str, Any]]:
    return [dict(zip(fields, row, strict=True)) for row in _rows(fields.values(), count)]


def _rows(columns: Iterable[Any], count: int) -> list[list[Any]]:
    unpacked = [_values(packed, count) for packed in columns]
    return [row for _, *row in zip(range(count), *unpacked, strict=True)]


def _values(packed: Any, count: int) -> Sequence[Any]:
    """``count`` values from any of the packed forms."""
    if "all" in packed:
        return [packed["all"]] * count
    if "fields" in packed:
        return _records(packed["fields"], count)
    if "items" in packed:
        return _rows(packed["items"], count)
    values: Sequence[Any] = packed["each"] if "each" in packed else [packed["of"][at] for at in packed["index"]]
    return values
