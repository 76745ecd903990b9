"""JSON: one object with every number in full, which :func:`reshuffle.read_json` reads back.

The fields of the records are the keys (:mod:`reshuffle.results.schemas`). A list of records has a line for each. That
keeps files of many pairs short, and lines can be compared with ``diff``.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import is_dataclass
from typing import Any

from ..results import Comparison, SetComparison
from ..results.schemas import NUMBER, Result, as_dict, field_types, is_untyped, schema_of
from ..results.studies import StudyResult
from .packed import by_segment, deflated, packed_records

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
