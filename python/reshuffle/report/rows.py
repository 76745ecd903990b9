"""The rows of a comparison: flat dicts, for CSV and data frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from ..results import Comparison, ConfidenceInterval, PairedDifference, SystemScore

__all__ = ["as_dicts", "column_names", "data_frame", "frame_columns"]

# The columns and their pandas types; None is for strings. Integers are nullable, because pandas would turn a column
# with missing integers into float64, which cannot hold every seed.
COLUMNS: Mapping[str, str | None] = {
    "system": None,
    "metric": None,
    "score": "float64",
    "low": "float64",
    "high": "float64",
    "n_segments": "Int64",  # only if scores are missing
    "baseline": None,
    "difference": "float64",
    "difference_low": "float64",
    "difference_high": "float64",
    "difference_n_segments": "Int64",  # only if scores are missing
    "test": None,
    "scheme": None,
    "alternative": None,
    "n_resamples": "Int64",
    "seed": "UInt64",
    "pvalue": "float64",
    "pvalue_low": "float64",
    "pvalue_high": "float64",
    "adjusted_pvalue": "float64",
    "adjustment": None,
    "family": None,
    "unit": None,
    "n_units": "Int64",
    "intraclass_correlation": "float64",
    "design_effect": "float64",
    "n_strata": "Int64",  # only if draws were within strata
    "caveats": None,
}


def column_names(comparison: Comparison) -> list[str]:
    """The columns of the rows of this comparison."""
    left_out = {
        *([] if comparison.lacks_scores() else ["n_segments", "difference_n_segments"]),
        *(["n_strata"] if comparison.n_strata is None else []),
    }
    return [name for name in COLUMNS if name not in left_out]


def as_dicts(comparison: Comparison) -> list[dict[str, Any]]:
    """The rows of the CSV, each with all columns; None is for what does not apply."""
    rows: list[dict[str, Any]] = []
    used = comparison.test
    adjustment = {} if used is None else {"adjustment": used.adjustment, "family": used.family}
    for metric in comparison.metrics:
        scores = {s.system: s for s in comparison.scores if s.metric == metric.name}
        pairs = [pair for pair in comparison.comparisons if pair.metric == metric.name]
        compared = {pair.system for pair in pairs}
        rows += [_scored(score) for name, score in scores.items() if name not in compared]
        rows += [_scored(scores[pair.system]) | _tested(pair) | adjustment for pair in pairs]
    units = {"unit": comparison.unit, "n_units": comparison.n_units, "n_strata": comparison.n_strata}
    return [{name: (row | units).get(name) for name in column_names(comparison)} for row in rows]


def _ends(prefix: str, interval: ConfidenceInterval | None) -> dict[str, float]:
    return {} if interval is None else {f"{prefix}low": interval.low, f"{prefix}high": interval.high}


def _scored(score: SystemScore) -> dict[str, Any]:
    values = {"system": score.system, "metric": score.metric, "score": score.score, "n_segments": score.n_segments}
    return values | _ends("", score.confidence_interval)


def _tested(pair: PairedDifference) -> dict[str, Any]:
    test = pair.test
    return {
        "baseline": pair.baseline,
        "difference": pair.difference,
        **_ends("difference_", pair.confidence_interval),
        "difference_n_segments": pair.n_segments,
        "test": test.test,
        "scheme": test.scheme,
        "alternative": test.alternative,
        "n_resamples": test.n_resamples,
        "seed": test.seed,
        "pvalue": test.pvalue,
        **_ends("pvalue_", test.pvalue_interval),
        "adjusted_pvalue": test.adjusted_pvalue,
        "intraclass_correlation": pair.intraclass_correlation,
        "design_effect": pair.design_effect,
        "caveats": " ".join(pair.caveats),
    }


def frame_columns(comparison: Comparison) -> dict[str, tuple[Sequence[Any], str | None]]:
    """The columns of the CSV by name: values and pandas type."""
    rows = as_dicts(comparison)
    return {name: ([row[name] for row in rows], COLUMNS[name]) for name in column_names(comparison)}


def data_frame(values_and_types: Mapping[str, tuple[Sequence[Any], str | None]]) -> Any:
    """A pandas data frame from columns: values and pandas type."""
    try:
        pandas: Any = import_module("pandas")
    except ImportError:
        message = "to_pandas needs pandas: pip install pandas; to_dicts works without it"
        raise ModuleNotFoundError(message, name="pandas") from None
    return pandas.DataFrame(
        {name: pandas.Series(values, dtype=dtype) for name, (values, dtype) in values_and_types.items()}
    )
