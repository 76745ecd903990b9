"""JSON, CSV, dicts and data frames: every number in full."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from importlib import import_module
from typing import Any

from ..results import Comparison, ConfidenceInterval, PairedDifference, SignificanceResult, SystemScore
from .terminal import Terminal

__all__ = ["as_csv", "as_dicts", "as_json", "data_frame", "frame_columns"]


def as_json(comparison: Comparison, terminal: Terminal) -> str:
    """One object; docs/guide.md describes its keys."""
    systems = [
        {"name": name, "scores": {s.metric: _score(s) for s in comparison.scores if s.system == name}}
        for name in comparison.systems
    ]
    document = {
        "signature": comparison.signature,
        "version": comparison.version,
        "baseline": comparison.baseline,
        "segments": comparison.n_segments,
        "unit": comparison.unit,
        "units": comparison.n_units,
        **({} if comparison.n_strata is None else {"strata": comparison.n_strata}),
        "references": comparison.n_references,
        "n_resamples": comparison.n_resamples,
        "confidence_level": comparison.confidence_level,
        "alpha": comparison.alpha,
        "seed": comparison.seed,
        "experimentwise_error": comparison.experimentwise_error,
        "metrics": [
            {"name": m.name, "signature": m.signature, "higher_is_better": m.higher_is_better}
            | ({} if m.evaluations is None else {"evaluations": m.evaluations})
            for m in comparison.metrics
        ],
        "systems": systems,
        "comparisons": [_pair(pair) for pair in comparison.comparisons],
        "caveats": [{"kind": caveat.kind, **caveat.values} for caveat in comparison.caveats],
    }
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _interval(interval: ConfidenceInterval | None) -> dict[str, Any] | None:
    if interval is None:
        return None
    return {
        "low": interval.low,
        "high": interval.high,
        "confidence_level": interval.confidence_level,
        "method": interval.method,
    }


def _score(score: SystemScore) -> dict[str, Any]:
    return {
        "score": score.score,
        "confidence_interval": _interval(score.confidence_interval),
        "details": dict(score.details),
    }


def _pair(pair: PairedDifference) -> dict[str, Any]:
    test = pair.test
    return {
        "baseline": pair.baseline,
        "system": pair.system,
        "metric": pair.metric,
        "test": test.test,
        "scheme": test.scheme,
        "exact_by": test.exact_by,
        "alternative": test.alternative,
        "difference": pair.difference,
        "pvalue": test.pvalue,
        "pvalue_interval": _interval(test.pvalue_interval),
        "adjusted_pvalue": test.adjusted_pvalue,
        "confidence_interval": _interval(pair.confidence_interval),
        "exceedances": test.exceedances,
        "n_resamples": test.n_resamples,
        "stopping": None if test.stopping is None else asdict(test.stopping),
        "seed": test.seed,
        "wins": test.wins,
        "ties": test.ties,
        "intraclass_correlation": pair.intraclass_correlation,
        "design_effect": pair.design_effect,
    }


# The columns of CSV and their pandas types; None is for strings. Integers are nullable, because pandas would turn a column
# with missing integers into float64, which cannot hold every seed.
COLUMNS: Mapping[str, str | None] = {
    "system": None,
    "metric": None,
    "score": "float64",
    "low": "float64",
    "high": "float64",
    "baseline": None,
    "difference": "float64",
    "difference_low": "float64",
    "difference_high": "float64",
    "test": None,
    "scheme": None,
    "alternative": None,
    "n_resamples": "Int64",
    "seed": "UInt64",
    "pvalue": "float64",
    "pvalue_low": "float64",
    "pvalue_high": "float64",
    "adjusted_pvalue": "float64",
    "unit": None,
    "n_units": "Int64",
    "intraclass_correlation": "float64",
    "design_effect": "float64",
    "n_strata": "Int64",  # only if draws were within strata
    "caveats": None,
}


def _columns(comparison: Comparison) -> list[str]:
    return [name for name in COLUMNS if name != "n_strata" or comparison.n_strata is not None]


def as_csv(comparison: Comparison, terminal: Terminal) -> str:
    """A row for each system that has no baseline, then a row for each comparison, metric by metric."""
    out = io.StringIO()
    writer = csv.DictWriter(out, _columns(comparison), lineterminator="\n")
    writer.writeheader()
    writer.writerows(as_dicts(comparison))
    return out.getvalue()


def as_dicts(comparison: Comparison) -> list[dict[str, Any]]:
    """The rows of the CSV, each with all columns; None is for what does not apply."""
    rows: list[dict[str, Any]] = []
    for metric in comparison.metrics:
        scores = {s.system: s for s in comparison.scores if s.metric == metric.name}
        pairs = [pair for pair in comparison.comparisons if pair.metric == metric.name]
        compared = {pair.system for pair in pairs}
        rows += [_scored(score) for name, score in scores.items() if name not in compared]
        rows += [_scored(scores[pair.system]) | _tested(comparison, pair) for pair in pairs]
    units = {"unit": comparison.unit, "n_units": comparison.n_units, "n_strata": comparison.n_strata}
    return [{name: (row | units).get(name) for name in _columns(comparison)} for row in rows]


def _ends(prefix: str, interval: ConfidenceInterval | None) -> dict[str, float]:
    return {} if interval is None else {f"{prefix}low": interval.low, f"{prefix}high": interval.high}


def _scored(score: SystemScore) -> dict[str, Any]:
    values = {"system": score.system, "metric": score.metric, "score": score.score}
    return values | _ends("", score.confidence_interval)


def _tested(comparison: Comparison, pair: PairedDifference) -> dict[str, Any]:
    test = pair.test
    return {
        "baseline": pair.baseline,
        "difference": pair.difference,
        **_ends("difference_", pair.confidence_interval),
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
        "caveats": " ".join(_caveats(comparison, pair)),
    }


# Caveats that apply to some of the tests only. The others apply to all tests, or to those of the metric they name.
_APPLIES: Mapping[str, Callable[[SignificanceResult, float], bool]] = {
    "undecided": lambda test, alpha: test.stopping is not None and not test.stopping.stopped,
    "few-replicates": lambda test, alpha: test.scheme != "exact",
    "near-alpha": lambda test, alpha: test.may_lie_across(alpha),
}


def _caveats(comparison: Comparison, pair: PairedDifference) -> list[str]:
    """The kinds of caveats that apply to a test."""
    return [
        caveat.kind
        for caveat in comparison.caveats
        if caveat.values.get("metric", pair.metric) == pair.metric
        and (caveat.kind not in _APPLIES or _APPLIES[caveat.kind](pair.test, caveat.values.get("alpha", 0.0)))
    ]


def frame_columns(comparison: Comparison) -> dict[str, tuple[Sequence[Any], str | None]]:
    """The columns of the CSV by name: values and pandas type."""
    rows = as_dicts(comparison)
    return {name: ([row[name] for row in rows], COLUMNS[name]) for name in _columns(comparison)}


def data_frame(columns: Mapping[str, tuple[Sequence[Any], str | None]]) -> Any:
    """A pandas data frame from columns: values and pandas type."""
    try:
        pandas: Any = import_module("pandas")
    except ImportError:
        message = "to_pandas needs pandas: pip install pandas; to_dicts works without it"
        raise ModuleNotFoundError(message, name="pandas") from None
    return pandas.DataFrame({name: pandas.Series(values, dtype=dtype) for name, (values, dtype) in columns.items()})
