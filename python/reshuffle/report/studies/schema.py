"""The JSON Schema of studies, made from the types of their records.

``python -m reshuffle.report.studies.schema > docs/schema/study-1.json`` writes the committed one.
"""

from __future__ import annotations

import json
import types
import typing
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from ...documented import fields_of
from ...results import ConfidenceInterval
from ...results.schemas import STUDY
from ...results.studies import RECORDS, TABLES_OF

TEXT = {"type": "string"}
NULL = {"type": "null"}
PLAIN: dict[Any, dict[str, Any]] = {
    str: TEXT,
    int: {"type": "integer"},
    float: {"$ref": "#/$defs/number"},
    bool: {"type": "boolean"},
    ConfidenceInterval: {"$ref": "#/$defs/interval"},
}


def study_schema() -> dict[str, Any]:
    """The schema (draft 2020-12) of ``reshuffle.study/1``."""
    # By the name of the table, in all studies that have one of that name.
    found: dict[str, list[type[Any]]] = {}
    for of_study in (RECORDS, *TABLES_OF.values()):
        for name, record in of_study.items():
            found.setdefault(name, []).append(record)
    tables = {name: {"type": "array", "items": _one_of(known)} for name, known in found.items()}
    records = {record.__name__: _record(record) for known in found.values() for record in known}
    summaries = {
        name: {**_value(float | None), "description": about}
        for name, about in (
            ("s_dev", "Of tune: the standard deviation of the runs' scores on the development lists."),
            ("s_test", "Of tune: the same on the test lists; null without these."),
        )
    }
    properties: dict[str, Any] = {
        "schema": {"const": STUDY},
        "study": {**TEXT, "description": "The name of the study, such as type1."},
        "signature": TEXT,
        "version": TEXT,
        "plan": {"type": "object", "description": "All settings, by the names of the keyword arguments in Python."},
        "truths": {
            "type": "object",
            "additionalProperties": TEXT,
            "description": "What was true in the simulated test sets, by null hypothesis or alternative.",
        },
        "metrics": {"type": "array", "items": {"$ref": "#/$defs/metric"}},
        **summaries,
        **tables,
    }
    required = [name for name in properties if name not in tables and name not in summaries]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "study-1.json",
        "title": STUDY,
        "description": "The result of a study. Each study has some of the lists of records, the most important one "
        "first. Later versions of reshuffle may add keys; readers should ignore those that they do not know.",
        "type": "object",
        "properties": properties,
        "required": required,
        "anyOf": [{"required": [name]} for name in tables],
        "$defs": {
            "number": {
                "description": "JSON has no NaN and infinities; they are written as strings.",
                "anyOf": [{"type": "number"}, {"enum": ["NaN", "Infinity", "-Infinity"]}],
            },
            "interval": _object({"low": float, "high": float, "confidence_level": float, "method": str}),
            "metric": {
                **_object({"name": str, "signature": str, "higher_is_better": bool, "source": str | None}),
                "description": "source is the ACL id or DOI of the paper.",
            },
            **records,
        },
    }


def _one_of(records: list[type[Any]]) -> dict[str, Any]:
    links = [{"$ref": f"#/$defs/{record.__name__}"} for record in records]
    return links[0] if len(links) == 1 else {"anyOf": links}


def _record(record: type[Any]) -> dict[str, Any]:
    summary = (record.__doc__ or "").strip().splitlines()[0]
    annotations, documented = typing.get_type_hints(record), fields_of(record)
    found = _object({field.name: annotations[field.name] for field in fields(record)})
    for name, value in found["properties"].items():
        if documented[name].about:
            found["properties"][name] = {**value, "description": " ".join(documented[name].about.split())}
    return {"description": summary, **found}


def _object(annotations: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {name: _value(annotation) for name, annotation in annotations.items()},
        "required": list(annotations),
    }


def _value(annotation: Any) -> dict[str, Any]:
    if annotation in PLAIN:
        return PLAIN[annotation]
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType):
        return {"anyOf": [NULL if argument is type(None) else _value(argument) for argument in arguments]}
    if origin is tuple:
        return {"type": "array", "items": _value(arguments[0])}
    if origin is Mapping:
        return {"type": "object", "additionalProperties": _value(arguments[1])}
    if is_dataclass(annotation) and isinstance(annotation, type):
        return _record(annotation)
    raise TypeError(f"no schema for {annotation}")


if __name__ == "__main__":
    print(json.dumps(study_schema(), indent=2, ensure_ascii=False))
