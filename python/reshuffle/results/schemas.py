"""What JSON has of results: the versions of its layout, and the keys of each record.

The records declare the layout: their fields are the keys. The writer (:mod:`reshuffle.report.json`), the reader
(:mod:`reshuffle.data.from_json`) and the JSON Schemas (:mod:`reshuffle.report.schema`) follow from them.
"""

from __future__ import annotations

import math
import typing
from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import cache
from operator import attrgetter
from typing import Any

__all__ = [
    "COMPARISON",
    "FLIPS",
    "NON_FINITE",
    "NUMBER",
    "SEED_DERIVATION",
    "SETS",
    "STUDY",
    "as_dict",
    "derived_keys",
    "field_types",
    "is_untyped",
    "schema_of",
]

# The number is raised when a key disappears or changes its meaning. Readers ignore keys that they do not know.
COMPARISON, SETS = "reshuffle.comparison/2", "reshuffle.sets/2"
STUDY, FLIPS = "reshuffle.study/1", "reshuffle.flips/1"

# JSON has no numbers for these. In values of any type, where a string may be a name, they are objects with this key.
NON_FINITE: Mapping[str, float] = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
NUMBER = "number"
# The key that says how the seed of a record was derived. Records whose seed was not derived lack it.
SEED_DERIVATION = "seed_derivation"


def schema_of(result: object) -> str:
    """The schema of a result's JSON."""
    from . import Comparison, Flips, SetComparison

    schemas: Mapping[type[Any], str] = {Comparison: COMPARISON, SetComparison: SETS, Flips: FLIPS}
    return schemas.get(type(result), STUDY)


@cache
def field_types(record: type[Any]) -> Mapping[str, Any]:
    """The type of each field that JSON has. Fields that equality ignores are not saved."""
    hints = typing.get_type_hints(record, include_extras=True)
    return {name: hints[name] for name in _names(record)}


def is_untyped(annotation: Any) -> bool:
    """Whether a type allows any value under any name."""
    return bool(annotation == Mapping[str, Any])


def derived_keys(record: type[Any]) -> tuple[str, ...]:
    """The properties that JSON has for convenience, beside the fields. Readers ignore them."""
    found: tuple[str, ...] = getattr(record, "DERIVED", ())
    return found


def as_dict(record: Any, *, derived: bool = True) -> dict[str, Any]:
    """The keys of a record in JSON, and their values, which may be records."""
    kind = type(record)
    found = dict(zip(_names(kind), _values(kind)(record), strict=True))
    if derived:
        for name in derived_keys(kind):
            found[name] = getattr(record, name)
    derivation = getattr(found.get("seed"), "derivation", None)
    if derivation is not None:
        found[SEED_DERIVATION] = derivation
    return found


@cache
def _names(record: type[Any]) -> tuple[str, ...]:
    return tuple(field.name for field in fields(record) if field.compare)


@cache
def _values(record: type[Any]) -> Callable[[Any], tuple[Any, ...]]:
    names = _names(record)
    return attrgetter(*names) if len(names) > 1 else lambda value: (getattr(value, names[0]),)
