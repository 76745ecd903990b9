"""The JSON Schemas (draft 2020-12) of results, made from the types and docstrings of the records' fields.

``python -m reshuffle.report.schema docs/schema`` writes the committed ones.
"""

from __future__ import annotations

import json
import sys
import types
import typing
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from typing import Annotated, Any

from ..documented import fields_of
from ..grouping import grouped
from ..results import Comparison, Flips, Gate, SetComparison
from ..results.schemas import (
    COMPARISON,
    FLIPS,
    GATE,
    NON_FINITE,
    SEED_DERIVATION,
    SETS,
    STUDY,
    derived_keys,
    field_types,
)
from ..results.studies import MODULES, StudyResult, types_of

Schema = dict[str, Any]

NULL: Schema = {"type": "null"}
PLAIN: Mapping[Any, Schema] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"$ref": "#/$defs/number"},
    bool: {"type": "boolean"},
    Any: {},
}
DEFINITIONS: Mapping[str, Schema] = {
    "number": {
        "description": "JSON has no NaN or infinities; they are written as strings.",
        "anyOf": [{"type": "number"}, {"enum": list(NON_FINITE)}],
    }
}
DERIVATION = "How the seed was derived from another one, as in 12345>test-set[0]. Absent if it was not."


def schemas() -> dict[str, Schema]:
    """The schemas of all kinds of results, by the names of their files."""
    found = {
        COMPARISON: _schema(Comparison),
        SETS: _schema(SetComparison),
        FLIPS: _schema(Flips),
        GATE: _schema(Gate),
        STUDY: _study(),
    }
    return {
        _file_name(name): {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$id": _file_name(name),
            "title": name,
            **schema,
            "properties": {"schema": {"const": name}, **schema["properties"]},
            "required": ["schema", *schema["required"]],
        }
        for name, schema in found.items()
    }


def _file_name(schema: str) -> str:
    return f"{schema.removeprefix('reshuffle.').replace('/', '-')}.json"


def _schema(record: type[Any]) -> Schema:
    return {**_record(record), "$defs": {**DEFINITIONS, **_definitions(field_types(record).values())}}


def _study() -> Schema:
    """That of a study, whose tables are keys: by name, in all studies that have one of that name."""
    studies = {name: types_of(name) for name in MODULES}
    tables = grouped(dict.fromkeys(each for study in studies.values() for each in study.tables.items()))
    schema = _record(StudyResult)
    del schema["properties"]["tables"]
    schema["required"].remove("tables")
    for study in studies.values():
        schema["properties"] |= _derived(study.result)
    for name, records in tables.items():
        schema["properties"][name] = {"type": "array", "items": _any_of(map(_value, records))}
    every = [
        record for records in (*(study.plans for study in studies.values()), *tables.values()) for record in records
    ]
    definitions = _definitions([*field_types(StudyResult).values(), *every])
    return {
        **schema,
        "anyOf": [{"required": [name]} for name in tables],
        "allOf": [
            {
                "if": {"properties": {"study": {"const": name}}},
                "then": {"properties": {"plan": _any_of(map(_value, study.plans))}},
            }
            for name, study in studies.items()
        ],
        "$defs": {**DEFINITIONS, **definitions},
    }


def _definitions(annotations: Iterable[Any]) -> dict[str, Schema]:
    """The schemas of all records in types, by name."""
    found: dict[str, Schema] = {}
    for annotation in annotations:
        if is_dataclass(annotation) and isinstance(annotation, type):
            if annotation.__name__ not in found:
                found |= {annotation.__name__: _record(annotation), **_definitions(field_types(annotation).values())}
        else:
            found |= _definitions(typing.get_args(annotation))
    return found


def _record(record: type[Any]) -> Schema:
    """The schema of a record. Keys with a default may be absent, in files of earlier versions."""
    documented = fields_of(record)
    properties = {
        name: _described(_value(annotation), documented[name].about) for name, annotation in field_types(record).items()
    }
    if "seed" in properties:
        properties[SEED_DERIVATION] = {**PLAIN[str], "description": DERIVATION}
    defaults = {field.name: field.default for field in fields(record)}
    return {
        "description": (record.__doc__ or "").strip().splitlines()[0],
        "type": "object",
        "properties": properties | _derived(record),
        "required": [name for name in field_types(record) if defaults[name] is MISSING],
    }


def _derived(record: type[Any]) -> dict[str, Schema]:
    """The properties that are written, but not read."""
    found = {}
    for name in derived_keys(record):
        getter = getattr(record, name).fget
        about = (getter.__doc__ or "").split("\n\n")[0]
        found[name] = _described(_value(typing.get_type_hints(getter, include_extras=True)["return"]), about)
    return found


def _described(value: Schema, about: str) -> Schema:
    return {**value, "description": " ".join(about.split())} if about else value


def _value(annotation: Any) -> Schema:
    if annotation in PLAIN:
        return PLAIN[annotation]
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is Annotated:
        return _value(arguments[1])
    if origin in (typing.Union, types.UnionType):
        return _any_of(NULL if argument is type(None) else _value(argument) for argument in arguments)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": _value(arguments[1])}
    if origin is not None:
        return {"type": "array", "items": _value(arguments[0])}
    if is_dataclass(annotation) and isinstance(annotation, type):
        return {"$ref": f"#/$defs/{annotation.__name__}"}
    raise TypeError(f"no schema for {annotation}")


def _any_of(values: Iterable[Schema]) -> Schema:
    found = list(values)
    return found[0] if len(found) == 1 else {"anyOf": found}


if __name__ == "__main__":
    for name, schema in schemas().items():
        path = Path(sys.argv[1]) / name
        path.write_text(json.dumps(schema, indent=2, ensure_ascii=False) + "\n", "utf-8", newline="\n")
