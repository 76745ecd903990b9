"""JSON: one object with every number in full."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from ..results import Comparison, ConfidenceInterval, PairedDifference, SystemScore
from .layout import Layout

__all__ = ["as_document", "as_json"]


def as_json(comparison: Comparison, layout: Layout) -> str:
    """One object; docs/guide.md describes its keys."""
    return json.dumps(as_document(comparison), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def as_document(comparison: Comparison) -> dict[str, Any]:
    """The object as a dict."""
    numbered = comparison.lacks_scores()
    systems = [
        {"name": name, "scores": {s.metric: _score(s, numbered) for s in comparison.scores if s.system == name}}
        for name in comparison.systems
    ]
    return {
        "signature": comparison.signature,
        "version": comparison.version,
        "baseline": comparison.baseline,
        "segments": comparison.n_segments,
        "unit": comparison.unit,
        "units": comparison.n_units,
        **({} if comparison.n_strata is None else {"strata": comparison.n_strata}),
        **({"averaged_over": list(comparison.averaged_over)} if comparison.averaged_over else {}),
        "references": comparison.n_references,
        "n_resamples": comparison.n_resamples,
        "confidence_level": comparison.confidence_level,
        "alpha": comparison.alpha,
        "seed": comparison.seed,
        "adjustment": None if comparison.test is None else comparison.test.adjustment,
        "family": None if comparison.test is None else comparison.test.family,
        "experimentwise_error": comparison.experimentwise_error,
        "per_comparison_level": comparison.per_comparison_level,
        "metrics": [
            {"name": m.name, "signature": m.signature, "higher_is_better": m.higher_is_better}
            | ({} if m.evaluations is None else {"evaluations": m.evaluations})
            for m in comparison.metrics
        ],
        "systems": systems,
        "comparisons": [_pair(pair, numbered) for pair in comparison.comparisons],
        "caveats": [{"kind": caveat.kind, **caveat.values} for caveat in comparison.caveats],
    }


def _interval(interval: ConfidenceInterval | None) -> dict[str, Any] | None:
    if interval is None:
        return None
    return {
        "low": interval.low,
        "high": interval.high,
        "confidence_level": interval.confidence_level,
        "method": interval.method,
    }


def _score(score: SystemScore, numbered: bool) -> dict[str, Any]:
    return {
        "score": score.score,
        **({"n_segments": score.n_segments} if numbered else {}),
        "confidence_interval": _interval(score.confidence_interval),
        "details": dict(score.details),
    }


def _pair(pair: PairedDifference, numbered: bool) -> dict[str, Any]:
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
        **({"n_segments": pair.n_segments, "n_units": pair.n_units} if numbered else {}),
        "pvalue": test.pvalue,
        "pvalue_interval": _interval(test.pvalue_interval),
        "adjusted_pvalue": test.adjusted_pvalue,
        "confidence_interval": _interval(pair.confidence_interval),
        "exceedances": test.exceedances,
        "n_resamples": test.n_resamples,
        "stopping": None if test.stopping is None else asdict(test.stopping),
        "seed": test.seed,
        "tails": test.tails,
        "standard_error": test.standard_error,
        "wins": test.wins,
        "ties": test.ties,
        "intraclass_correlation": pair.intraclass_correlation,
        "design_effect": pair.design_effect,
        "exchangeability": None if pair.exchangeability is None else asdict(pair.exchangeability),
        "caveats": list(pair.caveats),
    }
