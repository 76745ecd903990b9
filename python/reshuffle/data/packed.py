"""Unpacking of the columns in HTML reports into records: the inverse of :mod:`reshuffle.report.packed`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .decoding import Mismatch, list_of, object_of, whole


def unpacked_records(document: Any) -> list[dict[str, Any]]:
    """The records of ``{"count": n, "columns": {key: packed values}}``; :class:`Mismatch` if it is something else."""
    found = object_of({"count": whole, "columns": _mapping})(document)
    count, columns = found["count"], found["columns"]
    # Without this check, a corrupt count could allocate any amount of memory.
    if count > max(1, *map(_longest, columns.values()), 0):
        raise Mismatch("expected the number of records").inside("count")
    by_key: dict[str, list[Any]] = {}
    for key, packed in columns.items():
        try:
            by_key[key] = _values(packed, count)
        except Mismatch as mismatch:
            raise mismatch.inside(key).inside("columns") from None
    return _rows(by_key, count)


def _rows(columns: Mapping[str, list[Any]], count: int) -> list[dict[str, Any]]:
    if not columns:
        return [{} for _ in range(count)]
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _mapping(value: Any) -> dict[str, Any]:
    if type(value) is not dict:
        raise Mismatch.expected("an object", value)
    return value


def _longest(packed: Any) -> int:
    """The number of values in the longest list of some packed values."""
    return max((len(values) for values in _lists(packed)), default=0)


def _lists(packed: Any) -> Iterator[list[Any]]:
    if isinstance(packed, dict):
        yield from (packed[form] for form in ("index", "each") if isinstance(packed.get(form), list))
        if isinstance(packed.get("fields"), dict):
            for values in packed["fields"].values():
                yield from _lists(values)


def _values(packed: Any, count: int) -> list[Any]:
    """``count`` values from any of the packed forms."""
    forms = _mapping(packed)
    if "all" in forms:
        return [forms["all"]] * count
    if "fields" in forms:
        found: dict[str, list[Any]] = {}
        for key, values in _mapping(forms["fields"]).items():
            try:
                found[key] = _values(values, count)
            except Mismatch as mismatch:
                raise mismatch.inside(key).inside("fields") from None
        return list(_rows(found, count))
    name, form = ("index", object_of({"of": _list, "index": list_of(whole)})) if "of" in forms else ("each", _EACH)
    values = form(forms)
    if len(values[name]) != count:
        raise Mismatch(f"expected {count} values, got {len(values[name])}").inside(name)
    if name == "each":
        return list(values["each"])
    distinct = values["of"]
    for number, position in enumerate(values["index"]):
        if position >= len(distinct):
            raise Mismatch(f"expected a position below {len(distinct)}, got {position}").inside(number).inside("index")
    return [distinct[position] for position in values["index"]]


def _list(value: Any) -> list[Any]:
    if type(value) is not list:
        raise Mismatch.expected("a list", value)
    return value


_EACH = object_of({"each": _list})
