"""JSON: one object with every number in full, which :func:`reshuffle.read_json` reads back.

A list of records has a line for each. That keeps files of many pairs short, and lines can be compared with ``diff``.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import is_dataclass
from functools import singledispatch
from typing import Any

from ..results import (
    Caveat,
    ComparedTexts,
    Comparison,
    Contribution,
    Flips,
    PairedDifference,
    SetComparison,
    SystemScore,
    UsedMetric,
)
from ..results.schemas import COMPARISON, SETS, STUDY
from ..results.studies import StudyResult
from .flips import flips_as_json
from .layout import Layout
from .packed import packed_columns


@singledispatch
def as_json(result: Any, layout: Layout) -> str:
    """One object; docs/json.md describes its keys."""
    raise TypeError(f"no JSON of {type(result).__name__}")


@as_json.register
def _(result: Comparison, layout: Layout) -> str:
    return f"{_comparison(result)}\n"


@as_json.register
def _(result: SetComparison, layout: Layout) -> str:
    return f"{_sets(result)}\n"


@as_json.register
def _(result: StudyResult, layout: Layout) -> str:
    return study_as_json(result)


@as_json.register
def _(result: Flips, layout: Layout) -> str:
    return flips_as_json(result)


def embedded_json(result: Comparison | SetComparison) -> str:
    """The JSON in an HTML report: like that of a JSON file, but with the pairs as columns and without derived keys."""
    return _sets(result, packed=True) if isinstance(result, SetComparison) else _comparison(result, packed=True)


def _sets(sets: SetComparison, *, packed: bool = False) -> str:
    found = {
        "schema": _line(SETS),
        "signature": _line(sets.signature),
        "version": _line(sets.version),
        "dropped": _line(sets.dropped),
        "test_sets": _lines(
            "[]", (_comparison(comparison, name, packed=packed) for name, comparison in sets.sets.items())
        ),
        "average": "null" if sets.average is None else _comparison(sets.average, packed=packed),
    }
    return _object(found)


def _comparison(comparison: Comparison, name: str | None = None, *, packed: bool = False) -> str:
    """The object of a comparison; ``name`` is that of its test set."""
    numbered = comparison.lacks_scores()
    scores: dict[str, dict[str, Any]] = {system: {} for system in comparison.systems}
    for score in comparison.scores:
        scores[score.system][score.metric] = _score(score, numbered)
    values = {
        **({} if name is None else {"name": name}),
        "schema": COMPARISON,
        "signature": comparison.signature,
        "version": comparison.version,
        "baseline": comparison.baseline,
        "segments": comparison.n_segments,
        "unit": comparison.unit,
        "units": comparison.n_units,
        **({} if comparison.n_strata is None else {"strata": comparison.n_strata}),
        **({"averaged_over": comparison.averaged_over} if comparison.averaged_over else {}),
        "references": comparison.n_references,
        "n_resamples": comparison.n_resamples,
        "confidence_level": comparison.confidence_level,
        "alpha": comparison.alpha,
        **_seed(comparison.seed),
        "adjustment": None if comparison.test is None else comparison.test.adjustment,
        "family": None if comparison.test is None else comparison.test.family,
        "experimentwise_error": comparison.experimentwise_error,
        "per_comparison_level": comparison.per_comparison_level,
        "test": comparison.test,
        "interval": comparison.interval,
    }
    lists = {
        "metrics": map(_metric, comparison.metrics),
        "systems": ({"name": name, "scores": by_metric} for name, by_metric in scores.items()),
        "rankings": comparison.rankings,
        "detectable": comparison.detectable,
        "caveats": map(_caveat, comparison.caveats),
    }
    pairs = [_pair(pair, numbered, derived=not packed) for pair in comparison.comparisons]
    return _object(
        {key: _line(value) for key, value in values.items()}
        | {key: _lines("[]", map(_line, records)) for key, records in lists.items()}
        | {"comparisons": _columns(pairs) if packed else _lines("[]", map(_line, pairs))}
        | ({} if comparison.texts is None else {"texts": _texts(comparison.texts)})
    )


def study_as_json(study: StudyResult) -> str:
    """One object, with the records of each table under its name."""
    values = {
        "schema": STUDY,
        "study": study.study,
        "signature": study.signature,
        "version": study.version,
        "plan": study.plan,
        "truths": dict(study.truths),
        **study.summary,
    }
    lists = {"metrics": map(_metric, study.metrics), **study.tables}
    lines = {key: _line(value) for key, value in values.items()}
    return _object(lines | {key: _lines("[]", map(_line, records)) for key, records in lists.items()}) + "\n"


def _metric(metric: UsedMetric) -> dict[str, Any]:
    found = {name: getattr(metric, name) for name in ("name", "signature", "higher_is_better", "source")}
    return found if metric.evaluations is None else {**found, "evaluations": metric.evaluations}


def _columns(records: Sequence[Mapping[str, Any]]) -> str:
    columns = {key: _line(values) for key, values in packed_columns(records).items()}
    return _object({"count": str(len(records)), "columns": _object(columns)})


def _score(score: SystemScore, numbered: bool) -> dict[str, Any]:
    return {
        "score": score.score,
        **({"n_segments": score.n_segments} if numbered else {}),
        "confidence_interval": score.confidence_interval,
        "details": dict(score.details),
        "draws": score.draws,
    }


def _pair(pair: PairedDifference, numbered: bool, *, derived: bool) -> dict[str, Any]:
    """The keys of a pair; those that can be derived from others only on request, because computing them takes time."""
    test = pair.test
    return {
        "baseline": pair.baseline,
        "system": pair.system,
        "metric": pair.metric,
        "test": test.test,
        "scheme": test.scheme,
        **({"exact_by": test.exact_by} if derived else {}),
        "alternative": test.alternative,
        **({} if test.margin is None else {"margin": test.margin}),
        "difference": test.statistic,
        **({"n_segments": pair.n_segments, "n_units": pair.n_units} if numbered else {}),
        "pvalue": test.pvalue,
        **({"pvalue_interval": test.pvalue_interval} if derived else {}),
        "adjusted_pvalue": test.adjusted_pvalue,
        "confidence_interval": pair.confidence_interval,
        "exceedances": test.exceedances,
        "n_resamples": test.n_resamples,
        "stopping": test.stopping,
        **_seed(test.seed),
        "tails": test.tails,
        "standard_error": test.standard_error,
        "wins": test.wins,
        "ties": test.ties,
        "intraclass_correlation": pair.intraclass_correlation,
        "design_effect": pair.design_effect,
        "exchangeability": pair.exchangeability,
        "influence": pair.influence,
        "brevity": pair.brevity,
        **({} if pair.contributions is None else {"contributions": _contributions(pair.contributions)}),
        "null": pair.null,
        "caveats": pair.caveats,
        "test_caveats": [*map(_caveat, test.caveats)],
        "signature": test.signature,
    }


def _contributions(contributions: Sequence[Contribution]) -> dict[str, Any]:
    """By the names of the parts, which pack into columns."""
    return {
        each.part: {"difference": each.difference, "confidence_interval": each.confidence_interval}
        for each in contributions
    }


def _texts(texts: ComparedTexts) -> str:
    """The references segment by segment, and the outputs and scores system by system."""
    return _object(
        {
            "references": _lines("[]", map(_line, texts.references)),
            "systems": _object({name: _line(output) for name, output in texts.systems.items()}),
            "scores": _object(
                {
                    metric: _object({name: _line(scores) for name, scores in by_system.items()})
                    for metric, by_system in texts.scores.items()
                }
            ),
        }
    )


def _seed(seed: int | None) -> dict[str, Any]:
    """The seed, and how it was derived if it was."""
    derivation = getattr(seed, "derivation", None)
    return {"seed": seed} if derivation is None else {"seed": seed, "seed_derivation": derivation}


def _caveat(caveat: Caveat) -> dict[str, Any]:
    return {"kind": caveat.kind, **caveat.values}


# The layout.


def _object(entries: Mapping[str, str]) -> str:
    return _lines("{}", (f"{_line(key)}: {value}" for key, value in entries.items()))


def _lines(brackets: str, items: Iterable[str]) -> str:
    """Items on lines of their own, indented. Strings in JSON contain no line breaks."""
    lines = ",\n".join(items).replace("\n", "\n  ")
    return f"{brackets[0]}\n  {lines}\n{brackets[1]}" if lines else brackets


def _line(value: object) -> str:
    """A value on one line."""
    try:
        return _ENCODE(value)
    except ValueError:  # a number that JSON does not have
        return _ENCODE(_with_names(value))


def _record(value: Any) -> dict[str, Any]:
    """The fields of a record that another one contains, or the items of a mapping that is no dict."""
    if isinstance(value, Mapping):
        return dict(value)
    return {name: getattr(value, name) for name in type(value).__dataclass_fields__}


_ENCODE = json.JSONEncoder(ensure_ascii=False, allow_nan=False, default=_record).encode


def _with_names(value: Any) -> Any:
    """The value, with numbers that JSON does not have replaced by their names."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if is_dataclass(value) and not isinstance(value, type):
        value = _record(value)
    if isinstance(value, Mapping):
        return {key: _with_names(item) for key, item in value.items()}
    return [*map(_with_names, value)] if isinstance(value, list | tuple) else value
