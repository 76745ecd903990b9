"""Unpacking of what HTML reports have in packed form: the inverse of :mod:`reshuffle.report.json`."""

from __future__ import annotations

import binascii
import json
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from .decoding import Mismatch, inside, list_of, mapping_of, object_of, text, unchanged, whole
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
    found = object_of({"count": whole, "fields": _mapping})(document)
    # Without this check, a corrupt count could allocate any amount of memory.
    if found["count"] > max(1, _longest(found)):
        raise Mismatch("expected the number of records").inside("count")
    return _inside("fields", _fields, found["fields"], found["count"])


def _fields(fields: Any, count: int) -> list[Any]:
    columns = _mapping(fields)
    if not columns:
        return [{} for _ in range(count)]
    found = [_inside(key, _values, packed, count) for key, packed in columns.items()]
    return [dict(zip(columns, row, strict=True)) for row in zip(*found, strict=True)]


def _items(positions: Any, count: int) -> list[Any]:
    found = [_inside(number, _values, packed, count) for number, packed in enumerate(_list(positions))]
    return [list(row) for row in zip(*found, strict=True)]


def _longest(packed: Any) -> int:
    """The number of values in the longest list of some packed values."""
    return max((len(values) for values in _lists(packed)), default=0)


def _lists(packed: Any) -> Iterator[Sequence[Any]]:
    if isinstance(packed, dict):
        yield from (packed[form] for form in ("index", "each") if isinstance(packed.get(form), list))
        for form in ("fields", "items"):
            inner = packed.get(form)
            for values in inner.values() if isinstance(inner, dict) else inner if isinstance(inner, list) else ():
                yield from _lists(values)


def _values(packed: Any, count: int) -> list[Any]:
    """``count`` values from any of the packed forms."""
    forms = _mapping(packed)
    if "all" in forms:
        return [forms["all"]] * count
    for form, unpacked in _NESTED.items():
        if form in forms:
            return _inside(form, unpacked, forms[form], count)
    name, decode = ("index", _INDEXED) if "of" in forms else ("each", _EACH)
    values = decode(forms)
    if len(values[name]) != count:
        raise Mismatch(f"expected {count} values, got {len(values[name])}").inside(name)
    if name == "each":
        return list(values["each"])
    distinct = values["of"]
    for number, position in enumerate(values["index"]):
        if position >= len(distinct):
            raise Mismatch(f"expected a position below {len(distinct)}, got {position}").inside(number).inside("index")
    return [distinct[position] for position in values["index"]]


def _inside(step: str | int, unpacked: Callable[[Any, int], list[Any]], packed: Any, count: int) -> list[Any]:
    with inside(step):
        return unpacked(packed, count)


_NESTED: Mapping[str, Callable[[Any, int], list[Any]]] = {"fields": _fields, "items": _items}
_INDEXED, _EACH = object_of({"of": _list, "index": list_of(whole)}), object_of({"each": _list})
