"""What JSON has of results: the versions of its layout, and the keys of each record.

The records declare the layout: their fields are the keys. The writer (:mod:`reshuffle.report.json`), the reader
(:mod:`reshuffle.data.from_json`) and the JSON Schemas (:mod:`reshuffle.report.schema`) follow from them.
"""

from __future__ import annotations

import math
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from functools import cache
from operator import attrgetter
from typing import Any, TypeAlias, TypeVar

from . import Comparison, Flips, Gate, SetComparison
from .studies import StudyResult

T = TypeVar("T")
# What is written as JSON and read back.
Result: TypeAlias = Comparison | SetComparison | StudyResult | Flips | Gate

# The number is raised when a key disappears or changes its meaning. Readers ignore keys that they do not know.
COMPARISON, SETS = "reshuffle.comparison/2", "reshuffle.sets/2"
STUDY, FLIPS, GATE = "reshuffle.study/1", "reshuffle.flips/2", "reshuffle.gate/1"

# JSON has no numbers for these. In values of any type, where a string may be a name, they are objects with this key.
NON_FINITE: Mapping[str, float] = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
NUMBER = "number"
# The key that says how the seed of a record was derived. Records whose seed was not derived lack it.
SEED_DERIVATION = "seed_derivation"


def cached_by_type(function: Callable[[type[Any]], T]) -> Callable[[type[Any]], T]:
    """``functools.cache`` for functions of types, which mypy does not take as hashable."""
    cached: Any = cache(function)
    found: Callable[[type[Any]], T] = cached
    return found


def schema_of(result: Result) -> str:
    """The schema of a result's JSON."""
    schemas: Mapping[type[Any], str] = {Comparison: COMPARISON, SetComparison: SETS, Flips: FLIPS, Gate: GATE}
    return schemas.get(type(result), STUDY)


@cached_by_type
def field_types(record: type[Any]) -> Mapping[str, Any]:
    """The type of each field that JSON has, or the bound of a variable. Fields that equality ignores are not saved."""
    hints = typing.get_type_hints(record, include_extras=True)
    return {name: getattr(hints[name], "__bound__", hints[name]) for name in _getter(record)[0]}


def is_untyped(annotation: Any) -> bool:
    """Whether a type allows any value under any name."""
    return bool(annotation == Mapping[str, Any])


@cached_by_type
def derived_keys(record: type[Any]) -> tuple[str, ...]:
    """The properties that JSON has for convenience, beside the fields. Readers ignore them."""
    found: tuple[str, ...] = getattr(record, "DERIVED", ())
    return found


def as_dict(record: Any) -> dict[str, Any]:
    """The keys of a record in JSON, and their values, which may be records."""
    return _as_dict(type(record))(record)


@cached_by_type
def _as_dict(record: type[Any]) -> Callable[[Any], dict[str, Any]]:
    """:func:`as_dict` for records of one type, of which a result may have thousands."""
    (names, values), derived = _getter(record), derived_keys(record)
    is_seeded = "seed" in names

    def entries(of: Any) -> dict[str, Any]:
        found = dict(zip(names, values(of), strict=True))
        for name in derived:
            found[name] = getattr(of, name)
        if is_seeded and hasattr(of.seed, "derivation"):
            found[SEED_DERIVATION] = of.seed.derivation
        return found

    return entries


def as_columns(records: Sequence[Any]) -> dict[str, Sequence[Any]]:
    """The values of each key in records of one type, without derived keys; None where a record lacks the key."""
    names, values = _getter(type(records[0]))
    found: dict[str, Sequence[Any]] = dict(zip(names, zip(*map(values, records), strict=True), strict=True))
    derivations = [getattr(seed, "derivation", None) for seed in found.get("seed", ())]
    return found | {SEED_DERIVATION: derivations} if any(derivations) else found


@cached_by_type
def _getter(record: type[Any]) -> tuple[tuple[str, ...], Callable[[Any], tuple[Any, ...]]]:
    """The names of the fields that JSON has, and a function from a record to their values."""
    names = tuple(field.name for field in fields(record) if field.compare)
    return names, attrgetter(*names) if len(names) > 1 else lambda value: (getattr(value, names[0]),)
