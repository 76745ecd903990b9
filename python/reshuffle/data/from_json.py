"""From the parsed JSON of a result to the result.

:mod:`reshuffle.report.json` writes them. docs/json.md describes them, and docs/schema has their JSON Schemas.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from .. import _core
from ..errors import quoted, unknown_name
from ..results import Comparison, Flips, Gate, Histogram, NullHistogram, SetComparison, SignificanceResult, UsedStopping
from ..results.schemas import COMPARISON, FLIPS, GATE, SETS, STUDY, Result, cached_by_type
from ..results.studies import StudyResult, types_of
from .checks import check_comparison, check_gate, check_histogram, check_sets, check_stopping, check_study, check_test
from .decoding import Decoder, Hooks, Mismatch, inside, keys_of, list_of, object_of, record_of, text
from .packed import inflated, unpacked_records, unpacked_texts

# Where to ask if a file is not what was expected.
DOCTOR = "; 'reshuffle doctor FILE' says what a file is"
# What reads the first version of the layout.
EARLIER = "a build from before the release of 0.1.0"


def result_from_document(document: Any) -> Result:
    """The result of a parsed document. Raises :class:`Mismatch` if it is not the document of a result."""
    if isinstance(document, dict) and "schema" not in document:
        raise Mismatch(f"no result of reshuffle: the key schema is missing{DOCTOR}")
    schema = object_of({"schema": text})(document)["schema"]
    if schema == STUDY:
        return _study(document)
    if schema in _RECORDS:
        result: Result = _decoder(_RECORDS[schema])(document)
        return result
    raise _other_schema(schema).inside("schema")


def _other_schema(schema: str) -> Mismatch:
    """The problem with a schema that this version does not have."""
    known = [*_RECORDS, STUDY]
    kind, _, number = schema.rpartition("/")
    for each in known:
        if each.startswith(f"{kind}/") and number.isdecimal():
            is_earlier = int(number) < int(each.rpartition("/")[2])
            advice = (
                f"run the command again, or read it with {EARLIER}"
                if is_earlier
                else "install a later version to read it"
            )
            return Mismatch(f"reshuffle {_core.VERSION} reads {each}, got {quoted(schema)}: {advice}")
    return Mismatch(str(unknown_name("schema", schema, known)))


def _unpacked(document: Any) -> Any:
    """The document of a comparison, of which an HTML report has parts in packed form (:mod:`reshuffle.data.packed`)."""
    if not isinstance(document, dict):
        return document
    found = dict(document)
    for key, unpacked in _PACKED.items():
        if isinstance(found.get(key), dict):
            with inside(key):
                found[key] = unpacked(inflated(found[key]))
    return found


def _pairs(packed: Any) -> Any:
    """A list of pairs, from columns."""
    return unpacked_records(packed) if isinstance(packed, dict) and "fields" in packed else packed


_PACKED: Mapping[str, Callable[[Any], Any]] = {"comparisons": _pairs, "texts": unpacked_texts}


_RECORDS: Mapping[str, type[Any]] = {COMPARISON: Comparison, SETS: SetComparison, FLIPS: Flips, GATE: Gate}
_HOOKS = Hooks(
    before={Comparison: _unpacked},
    after={
        Comparison: check_comparison,
        SetComparison: check_sets,
        Gate: check_gate,
        SignificanceResult: check_test,
        UsedStopping: check_stopping,
        **dict.fromkeys((Histogram, NullHistogram), check_histogram),
    },
)


@cached_by_type
def _decoder(record: type[Any]) -> Decoder:
    return record_of(record, _HOOKS)


@cache
def _study_keys() -> Decoder:
    keys = keys_of(StudyResult, _HOOKS)
    del keys["tables"]
    return object_of(keys)


def _study(document: Any) -> StudyResult[Any]:
    """A study, whose tables are keys of the document."""
    found = _study_keys()(document)
    tables: dict[str, tuple[Any, ...]] = {}
    kinds = types_of(found["study"])
    known = kinds.tables
    # Keys that this version does not know may be those of a later one.
    for name in document:
        if name in known:
            with inside(name):
                tables[name] = list_of(_decoder(known[name]))(document[name])
    if not any(tables.values()):
        raise Mismatch(f"expected the records of a table, such as {', '.join(known)}, got none")
    plan = kinds.plan_with(found["plan"])
    if plan is not None:
        with inside("plan"):
            found["plan"] = _decoder(plan)(document["plan"])
    result = kinds.result(tables=tables, **found)
    check_study(result)
    return result
