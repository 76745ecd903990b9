"""The tables of a study as columns of values, for CSV and data frames: made from the fields of their records."""

from __future__ import annotations

import typing
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any, NamedTuple

from ...results import ConfidenceInterval
from ...results.studies import ObservedDifference, RunComparison, RunDifference, StudyResult, SystemRuns, types_of
from ...results.studies.runs import RunPlan
from ...validate import check_name
from ..frames import Columns, Fields, columns_from
from ..rows import PAIR_COLUMNS

# The pandas type of a field; without None in its annotation, integers need none that has missing values.
TYPES: Mapping[type, str | None] = {str: None, int: "Int64", float: "float64", bool: "boolean"}
# The type of seeds, which may be above 2^63.
SEED = "UInt64"
INTERVAL = "_interval"
# The column of the keys of a field that maps names to records, by the name of the field.
KEYS: Mapping[str, str] = {"scores": "metric"}
# The table of the differences of runs, which is that by default, and that of a study; of other studies it is the first.
PAIRS = ("pairs", "comparisons")
# Columns that have the names of those of a comparison, instead of names of fields.
RENAMED: Mapping[type, Mapping[str, str]] = {
    SystemRuns: {"name": "system"},
    ObservedDifference: {"low": "difference_low", "high": "difference_high"},
}


class RunPairRow(NamedTuple):
    """A metric, a pair of systems with several runs, and an exchange unit."""

    plan: RunPlan
    pair: RunDifference
    system_score: float
    baseline_score: float

    @property
    def significant(self) -> bool:
        """Whether the difference has a star."""
        return self.pair.is_significant(self.plan.alpha)

    @property
    def caveats(self) -> str:
        """The kinds of the caveats that apply to the pair."""
        return " ".join(self.pair.caveats)


# Those of a comparison of one run of each system come first, as far as there are any, in their order.
RUN_PAIR_COLUMNS: Fields = {
    **{name: PAIR_COLUMNS[name] for name in ("system", "baseline", "metric", "system_score", "baseline_score")},
    "difference": ("float64", "pair.difference"),
    **{name: PAIR_COLUMNS[name] for name in ("difference_low", "difference_high")},
    "pvalue": ("float64", "pair.pvalue"),
    "adjusted_pvalue": ("float64", "pair.adjusted_pvalue"),
    "significant": PAIR_COLUMNS["significant"],
    "n_segments": ("Int64", "plan.segments"),
    "exchange": (None, "pair.exchange"),
    "statistic": (None, "pair.statistic"),
    "alternative": (None, "plan.alternative"),
    "exact": ("boolean", "pair.exact"),
    "exceedances": ("Int64", "pair.exceedances"),
    "n_resamples": ("Int64", "pair.n_resamples"),
    "seed": ("UInt64", "plan.seed"),
    "smallest_pvalue": ("float64", "pair.smallest_pvalue"),
    "runs_needed": ("Int64", "pair.runs_needed"),
    "degrees_of_freedom": ("float64", "pair.degrees_of_freedom"),
    "unit": (None, "plan.unit"),
    "n_units": ("Int64", "plan.units"),
    "caveats": PAIR_COLUMNS["caveats"],
}


def _run_pairs(runs: RunComparison) -> Iterator[RunPairRow]:
    """A row for each metric, pair and exchange unit, in the order of ``runs.comparisons``."""
    for pair in runs.comparisons:
        scores = (runs.score(name, pair.metric) for name in (pair.system, pair.baseline))
        of_both = [each.pooled if pair.statistic == "pooled" else each.mean for each in scores]
        yield RunPairRow(runs.plan, pair, *of_both)


def tables_of(study: StudyResult) -> list[str]:
    """The names of the tables of a study, as ``to_pandas`` and ``--table`` take them, the main one first."""
    if not isinstance(study, RunComparison):
        return list(study.tables)
    shown, own = PAIRS
    return [*([shown] if own in study.tables else []), *(name for name in study.tables if name != own)]


def study_columns(study: StudyResult, table: str | None = None) -> Columns:
    """The columns of a table: a field each, but the ends of an interval are two.

    ``confidence_interval`` becomes ``low`` and ``high``, and ``NAME_interval`` becomes ``NAME_low`` and ``NAME_high``;
    so does ``confidence_interval`` of a record that has other fields called ``low`` and ``high``. Some columns have
    other names (:data:`RENAMED`). Tuples are joined by commas. A field that maps names to numbers becomes
    ``FIELD.NAME`` for each name. A record with a field that maps names to records has a row for each name, with the
    name in a column of its own (:data:`KEYS`) and the fields of both records.
    """
    known = tables_of(study)
    name = known[0] if table is None else table
    check_name("table", name, known)
    if isinstance(study, RunComparison) and name == PAIRS[0]:
        return columns_from(RUN_PAIR_COLUMNS, [*_run_pairs(study)])
    return _columns(types_of(study.study).tables[name], study.tables[name])


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
