"""JSON: one object with every number in full, which :func:`reshuffle.read_json` reads back.

The fields of the records are the keys (:mod:`reshuffle.results.schemas`). A list of records has a line for each. That
keeps files of many pairs short, and lines can be compared with ``diff``.

The JSON in a page is smaller: records are columns, and long parts are compressed. :mod:`reshuffle.data.packed` and
``scripts/result.js`` of the page unpack both.
"""

from __future__ import annotations

import base64
import json
import math
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import is_dataclass
from typing import Any

from ..results import ComparedTexts, Comparison, SetComparison
from ..results.schemas import NUMBER, Result, as_columns, as_dict, field_types, is_untyped, schema_of
from ..results.studies import StudyResult

# In characters. Pages with more about their pairs take longer to open than their JSON to inflate.
MAX_PLAIN = 1_000_000


def as_json(result: Result) -> str:
    """One object; docs/json.md describes its keys."""
    return _object({"schema": _line(schema_of(result)), **_texts(result)}) + "\n"


def embedded_json(result: Comparison | SetComparison) -> str:
    """The JSON in an HTML report: like that of a JSON file, but with the pairs as columns and without derived keys.

    Texts are compressed, and so are many pairs.
    """
    document = _packed(result) if isinstance(result, Comparison) else as_dict(result)
    if isinstance(result, SetComparison):
        document["sets"] = {name: _packed(comparison) for name, comparison in result.sets.items()}
        document["average"] = None if result.average is None else _packed(result.average)
    return _object({key: _line(value) for key, value in {"schema": schema_of(result), **document}.items()})


def _packed(comparison: Comparison) -> dict[str, Any]:
    pairs: dict[str, Any] = packed_records(comparison.comparisons)
    plain = _line(pairs)
    return as_dict(comparison) | {
        "comparisons": deflated(plain) if len(plain) > MAX_PLAIN else pairs,
        "texts": None if comparison.texts is None else deflated(_line(by_segment(comparison.texts))),
    }


def _texts(record: Any) -> dict[str, str]:
    """The values of a record's keys. Those on one line come first, so that settings are found above long lists."""
    entries, types, tables = as_dict(record), field_types(type(record)), {}
    if isinstance(record, StudyResult):
        # The names of a study's tables are keys, too, the most important one first. All plans are written alike.
        tables, types = entries.pop("tables"), field_types(StudyResult)
        entries["plan"] = dict(record.plan)
    texts = {key: _text(value, is_untyped(types.get(key))) for key, value in entries.items()}
    texts = dict(sorted(texts.items(), key=lambda entry: "\n" in entry[1]))
    return texts | {name: _text(records) for name, records in tables.items()}


def _text(value: Any, untyped: bool = False) -> str:
    """A value, with a line for each of its items if some of these are lists or objects."""
    items = as_dict(value) if is_dataclass(value) else value
    values = items.values() if isinstance(items, Mapping) else items if isinstance(items, list | tuple) else ()
    if not any(isinstance(item, list | tuple | Mapping) or is_dataclass(item) for item in values):
        return _line(items, untyped)
    if is_dataclass(value):
        return _object(_texts(value))
    if isinstance(value, Mapping):
        return _object({key: _text(item, untyped) for key, item in value.items()})
    return _lines("[]", (_line(item, untyped) for item in value))


def _object(entries: Mapping[str, str]) -> str:
    return _lines("{}", (f"{_line(key)}: {value}" for key, value in entries.items()))


def _lines(brackets: str, items: Iterable[str]) -> str:
    """Items on lines of their own, indented. Strings in JSON contain no line breaks."""
    lines = ",\n".join(items).replace("\n", "\n  ")
    return f"{brackets[0]}\n  {lines}\n{brackets[1]}" if lines else brackets


def _line(value: object, untyped: bool = False) -> str:
    """A value on one line."""
    try:
        return _ENCODE(value)
    except ValueError:  # a number that JSON does not have
        return _ENCODE(_with_names(value, untyped))


def _record(value: Any) -> dict[str, Any]:
    """A record in another one, or a mapping that is no dict."""
    return as_dict(value) if is_dataclass(value) else dict(value)


_ENCODE = json.JSONEncoder(ensure_ascii=False, check_circular=False, allow_nan=False, default=_record).encode


def _with_names(value: Any, untyped: bool) -> Any:
    """The value, with numbers that JSON does not have replaced by their names."""
    if isinstance(value, float) and not math.isfinite(value):
        name = "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
        return {NUMBER: name} if untyped else name
    if is_dataclass(value) and not isinstance(value, type):
        types = field_types(type(value))
        return {key: _with_names(item, is_untyped(types.get(key))) for key, item in as_dict(value).items()}
    if isinstance(value, Mapping):
        return {key: _with_names(item, untyped) for key, item in value.items()}
    return [_with_names(item, untyped) for item in value] if isinstance(value, list | tuple) else value


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
