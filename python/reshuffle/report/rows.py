"""The numbers of a result as flat tables, for CSV and data frames. A comparison has two: its systems, and its pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import singledispatch
from typing import Any

from ..results import (
    Comparison,
    ConfidenceInterval,
    Flips,
    Gate,
    PairedDifference,
    RankedSystem,
    SegmentTable,
    SetComparison,
    SystemScore,
)
from ..results.studies import StudyResult
from ..validate import check_name
from .flips import flip_columns
from .frames import Columns
from .gate import gate_columns
from .segments import segment_columns

Row = dict[str, Any]

# The columns and their pandas types, as in Columns. They are the same for every comparison, so that programs which read
# several of them need no special cases. The parts of a score are not among them, because each metric has others.
SYSTEM_COLUMNS: Mapping[str, str | None] = {
    "system": None,
    "metric": None,
    "score": "float64",
    "low": "float64",
    "high": "float64",
    "n_segments": "Int64",
    "position": "Int64",
    "rank_low": "Int64",
    "rank_high": "Int64",
    "cluster": "Int64",
    "letters": None,
    "best": "boolean",
    "mcb_pvalue": "float64",
    "unit": None,
    "n_units": "Int64",
    "n_strata": "Int64",
}
PAIR_COLUMNS: Mapping[str, str | None] = {
    "system": None,
    "baseline": None,
    "metric": None,
    "system_score": "float64",
    "baseline_score": "float64",
    "difference": "float64",
    "difference_low": "float64",
    "difference_high": "float64",
    "n_segments": "Int64",
    "test": None,
    "scheme": None,
    "alternative": None,
    "margin": "float64",
    "n_resamples": "Int64",
    "seed": "UInt64",
    "pvalue": "float64",
    "pvalue_low": "float64",
    "pvalue_high": "float64",
    "adjusted_pvalue": "float64",
    "adjustment": None,
    "family": None,
    "significant": "boolean",
    "unit": None,
    "n_units": "Int64",
    "n_strata": "Int64",
    "intraclass_correlation": "float64",
    "design_effect": "float64",
    "caveats": None,
}


@singledispatch
def columns_of(result: Any, table: str | None = None) -> Columns:
    """The columns of a table of a result: for None its main table, or the only one."""
    raise TypeError(f"no tables of {type(result).__name__}")


@columns_of.register
def _(result: Comparison, table: str | None = None) -> Columns:
    types, rows_in = _table(result, table)
    rows = list(rows_in(result))
    return {name: ([row[name] for row in rows], dtype) for name, dtype in types.items()}


@columns_of.register
def _(result: SetComparison, table: str | None = None) -> Columns:
    # None instead of a name like "average", which a test set could have.
    comparisons: list[tuple[str | None, Comparison]] = [*result.sets.items()]
    if result.average is not None:
        comparisons.append((None, result.average))
    types, rows_in = _table(result, table)
    rows = [row | {"test_set": name} for name, comparison in comparisons for row in rows_in(comparison)]
    return {name: ([row[name] for row in rows], dtype) for name, dtype in {"test_set": None, **types}.items()}


@columns_of.register
def _(result: StudyResult, table: str | None = None) -> Columns:
    from .studies.rows import study_columns  # most runs have no study

    return study_columns(result, table)


@columns_of.register
def _(result: Flips, table: str | None = None) -> Columns:
    return flip_columns(result)


@columns_of.register
def _(result: Gate, table: str | None = None) -> Columns:
    return gate_columns(result)


@columns_of.register
def _(result: SegmentTable, table: str | None = None) -> Columns:
    return segment_columns(result)


def _table(result: Comparison | SetComparison, table: str | None) -> Table:
    comparisons = result.sets.values() if isinstance(result, SetComparison) else [result]
    main = "pairs" if any(comparison.comparisons for comparison in comparisons) else "systems"
    name = main if table is None else table
    check_name("table", name, list(TABLES))
    return TABLES[name]


def _ends(prefix: str, interval: ConfidenceInterval | None) -> dict[str, float | None]:
    low, high = (None, None) if interval is None else (interval.low, interval.high)
    return {f"{prefix}low": low, f"{prefix}high": high}


def _systems(comparison: Comparison) -> Iterator[Row]:
    """A row for each metric and system, in the order of ``comparison.scores``."""
    ranked = {
        (r.metric, system.system): (system, system.system in r.best)
        for r in comparison.rankings
        for system in r.systems
    }
    for score in comparison.scores:
        yield {
            **_scored(score),
            **_ranked(*ranked.get((score.metric, score.system), (None, None))),
            "unit": comparison.unit,
            "n_units": comparison.n_units,
            "n_strata": comparison.n_strata,
        }


def _scored(score: SystemScore) -> Row:
    return {
        "system": score.system,
        "metric": score.metric,
        "score": score.score,
        **_ends("", score.confidence_interval),
        "n_segments": score.n_segments,
    }


def _ranked(ranked: RankedSystem | None, best: bool | None) -> Row:
    names = ("position", "rank_low", "rank_high", "cluster", "letters", "mcb_pvalue")
    return {name: getattr(ranked, name, None) for name in names} | {"best": best}


def _pairs(comparison: Comparison) -> Iterator[Row]:
    """A row for each metric and pair, in the order of ``comparison.comparisons``."""
    scores = {(score.metric, score.system): score.score for score in comparison.scores}
    used, alpha = comparison.test, comparison.alpha
    for pair in comparison.comparisons:
        yield {
            "system_score": scores[pair.metric, pair.system],
            "baseline_score": scores[pair.metric, pair.baseline],
            **_tested(pair),
            "adjustment": None if used is None else used.adjustment,
            "family": None if used is None else used.family,
            "significant": None if alpha is None else pair.is_significant(alpha),
            "unit": comparison.unit,
            "n_strata": comparison.n_strata,
        }


def _tested(pair: PairedDifference) -> Row:
    test = pair.test
    return {
        "system": pair.system,
        "baseline": pair.baseline,
        "metric": pair.metric,
        "difference": pair.difference,
        **_ends("difference_", pair.confidence_interval),
        "n_segments": pair.n_segments,
        "n_units": pair.n_units,
        "test": test.test,
        "scheme": test.scheme,
        "alternative": test.alternative,
        "margin": test.margin,
        "n_resamples": test.n_resamples,
        "seed": test.seed,
        "pvalue": test.pvalue,
        **_ends("pvalue_", test.pvalue_interval),
        "adjusted_pvalue": test.adjusted_pvalue,
        "intraclass_correlation": pair.intraclass_correlation,
        "design_effect": pair.design_effect,
        "caveats": " ".join(pair.caveats),
    }


Table = tuple[Mapping[str, str | None], Callable[[Comparison], Iterator[Row]]]
TABLES: Mapping[str, Table] = {"systems": (SYSTEM_COLUMNS, _systems), "pairs": (PAIR_COLUMNS, _pairs)}
