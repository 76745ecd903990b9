"""Unpacking of what HTML reports have in packed form: the inverse of :mod:`reshuffle.report.json`."""

from __future__ import annotations

import binascii
import contextlib
import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .decoding import Mismatch, text
from .files import MAX_INPUT

# What is raised where a value has another form. Nobody edits what is compressed, so errors need not say where.
OF_WRONG_FORMS = (AttributeError, LookupError, TypeError, ValueError)


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
    with contextlib.suppress(*OF_WRONG_FORMS):
        found = dict(document)
        names = found.pop("names")
        found["systems"] = _by_system(names, found["systems"])
        found["scores"] = {metric: _by_system(names, rows) for metric, rows in found["scores"].items()}
        return found
    raise Mismatch("expected packed texts")


def _by_system(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> dict[str, list[Any]]:
    return dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))


def unpacked_records(document: Any) -> list[dict[str, Any]]:
    """The records of ``{"count": n, "fields": {key: packed values}}``; :class:`Mismatch` if it is something else."""
    with contextlib.suppress(*OF_WRONG_FORMS):
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
    if "each" in packed:
        values: Sequence[Any] = packed["each"]
        return values
    if min(packed["index"], default=0) < 0:
        raise LookupError
    return [packed["of"][at] for at in packed["index"]]
