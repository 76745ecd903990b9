"""The tables of a study as columns of values, for CSV and data frames: made from the fields of their records."""

from __future__ import annotations

import typing
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from ...results import ConfidenceInterval
from ...results.studies import ObservedDifference, RunDifference, StudyResult, SystemRuns, record_types
from ...validate import check_name
from ..frames import Columns

# The pandas type of a field; without None in its annotation, integers need none that has missing values.
TYPES: Mapping[type, str | None] = {str: None, int: "Int64", float: "float64", bool: "boolean"}
# The type of seeds, which may be above 2^63.
SEED = "UInt64"
INTERVAL = "_interval"
# The column of the keys of a field that maps names to records, by the name of the field.
KEYS: Mapping[str, str] = {"scores": "metric"}
# The table by default, by study; of others the first.
MAIN: Mapping[str, str] = {"runs": "comparisons"}
# Columns that have the names of those of a comparison, instead of names of fields.
OF_DIFFERENCE: Mapping[str, str] = {"low": "difference_low", "high": "difference_high"}
RENAMED: Mapping[type, Mapping[str, str]] = {
    SystemRuns: {"name": "system"},
    RunDifference: OF_DIFFERENCE,
    ObservedDifference: OF_DIFFERENCE,
}


def study_columns(study: StudyResult, table: str | None = None) -> Columns:
    """The columns of a table: a field each, but the ends of an interval are two.

    ``confidence_interval`` becomes ``low`` and ``high``, and ``NAME_interval`` becomes ``NAME_low`` and ``NAME_high``;
    so does ``confidence_interval`` of a record that has other fields called ``low`` and ``high``. Some columns have
    other names (:data:`RENAMED`). Tuples are joined by commas. A field that maps names to numbers becomes
    ``FIELD.NAME`` for each name. A record with a field that maps names to records has a row for each name, with the
    name in a column of its own (:data:`KEYS`) and the fields of both records.
    """
    main = MAIN.get(study.study, "")
    name = table if table is not None else main if main in study.tables else next(iter(study.tables))
    check_name("table", name, list(study.tables))
    return _columns(record_types(study.study)[name], study.tables[name])


def _columns(record: type[Any], records: Sequence[Any]) -> dict[str, tuple[list[Any], str | None]]:
    """The columns of records of one type."""
    annotations = typing.get_type_hints(record)
    for name, annotation in annotations.items():
        if typing.get_origin(annotation) is Mapping and typing.get_args(annotation)[1] not in TYPES:
            rows = [(each, key) for each in records for key in getattr(each, name)]
            outer = _plain_columns(record, annotations, [each for each, _ in rows], without=name)
            inner = _columns(typing.get_args(annotation)[1], [getattr(each, name)[key] for each, key in rows])
            return {**outer, KEYS[name]: ([key for _, key in rows], None), **inner}
    return _plain_columns(record, annotations, records)


def _plain_columns(
    record: type[Any], annotations: Mapping[str, Any], records: Sequence[Any], without: str | None = None
) -> dict[str, tuple[list[Any], str | None]]:
    """The columns of the fields that are no mappings."""
    columns: dict[str, tuple[list[Any], str | None]] = {}
    for field in fields(record):
        if field.name == without:
            continue
        values = [getattr(each, field.name) for each in records]
        kinds = [kind for kind in typing.get_args(annotations[field.name]) if kind is not type(None)]
        kind = kinds[0] if type(None) in typing.get_args(annotations[field.name]) else annotations[field.name]
        if kind is ConfidenceInterval:
            alone = field.name == "confidence_interval" and "low" not in annotations
            prefix = "" if alone else f"{field.name.removesuffix(INTERVAL)}_"
            for end in ("low", "high"):
                ends = [None if value is None else getattr(value, end) for value in values]
                columns[f"{prefix}{end}"] = (ends, "float64")
        elif typing.get_origin(kind) is Mapping:
            keys = dict.fromkeys(key for value in values for key in value)
            columns |= {f"{field.name}.{key}": ([value.get(key) for value in values], "float64") for key in keys}
        elif typing.get_origin(kind) is tuple:
            columns[field.name] = ([None if value is None else ",".join(map(str, value)) for value in values], None)
        else:
            columns[field.name] = (values, SEED if field.name == "seed" else TYPES[kind])
    names = RENAMED.get(record, {})
    return {names.get(name, name): column for name, column in columns.items()}
