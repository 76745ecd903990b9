"""Formats for programs: every number in full."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import asdict
from typing import Any

from ..results import Comparison, ConfidenceInterval, PairedDifference, SystemScore
from .terminal import Terminal


def as_json(comparison: Comparison, terminal: Terminal) -> str:
    """One object; its keys are described in docs/guide.md."""
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


def as_csv(comparison: Comparison, terminal: Terminal) -> str:
    """A row for each system that is compared with nothing, then a row for each comparison, metric by metric."""
    rows: list[dict[str, Any]] = []
    for metric in comparison.metrics:
        scores = {s.system: s for s in comparison.scores if s.metric == metric.name}
        pairs = [pair for pair in comparison.comparisons if pair.metric == metric.name]
        compared = {pair.system for pair in pairs}
        rows += [_row(score) for name, score in scores.items() if name not in compared]
        rows += [_row(scores[pair.system]) | _tested(pair) for pair in pairs]
    out = io.StringIO()
    units: dict[str, Any] = {"unit": comparison.unit, "n_units": comparison.n_units}
    columns = [*_SCORED, *_TESTED, *_UNITS]
    if comparison.n_strata is not None:
        units["n_strata"] = comparison.n_strata
        columns.append("n_strata")
    writer = csv.DictWriter(out, columns, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(row | units for row in rows)
    return out.getvalue()


_SCORED = ("system", "metric", "score", "low", "high")
_TESTED = (
    "baseline",
    "difference",
    "difference_low",
    "difference_high",
    "test",
    "scheme",
    "alternative",
    "n_resamples",
    "seed",
    "pvalue",
    "pvalue_low",
    "pvalue_high",
    "adjusted_pvalue",
)
_UNITS = ("unit", "n_units", "intraclass_correlation", "design_effect")


def _row(score: SystemScore) -> dict[str, Any]:
    interval = score.confidence_interval
    ends = ("", "") if interval is None else (interval.low, interval.high)
    return dict(zip(_SCORED, (score.system, score.metric, score.score, *ends), strict=True))


def _tested(pair: PairedDifference) -> dict[str, Any]:
    test, interval = pair.test, pair.confidence_interval
    of_pvalue = test.pvalue_interval
    low, high = ("", "") if interval is None else (interval.low, interval.high)
    values = (
        pair.baseline,
        pair.difference,
        low,
        high,
        test.test,
        test.scheme,
        test.alternative,
        test.n_resamples,
        test.seed,
        test.pvalue,
        None if of_pvalue is None else of_pvalue.low,
        None if of_pvalue is None else of_pvalue.high,
        test.adjusted_pvalue,
    )
    return dict(zip(_TESTED, values, strict=True)) | {
        "intraclass_correlation": pair.intraclass_correlation,
        "design_effect": pair.design_effect,
    }
