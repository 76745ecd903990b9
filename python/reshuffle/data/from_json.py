"""From the parsed JSON of a result to the result.

:mod:`reshuffle.report.json` writes them. docs/json.md describes them, and docs/schema has their JSON Schemas.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, get_args

from ..errors import InputError, quoted, unknown_name
from ..results import (
    Brevity,
    Caveat,
    ComparedTexts,
    Comparison,
    ConfidenceInterval,
    Contribution,
    DetectableDifference,
    Exchangeability,
    Histogram,
    Influence,
    NullHistogram,
    PairedDifference,
    Ranking,
    SetComparison,
    SignificanceResult,
    SystemScore,
    UsedInterval,
    UsedMetric,
    UsedStopping,
    UsedTest,
)
from ..results.histograms import N_BINS
from ..results.schemas import COMPARISON, NON_FINITE, SETS, STUDY
from ..results.studies import RESULTS, RunComparison, StudyResult, record_types
from ..seeds import DerivedSeed
from ..types import Stopping
from .decoding import (
    Decoder,
    Key,
    Mismatch,
    flag,
    list_of,
    mapping_of,
    object_of,
    optional,
    positive,
    real,
    record_of,
    text,
    whole,
)
from .packed import unpacked_records

# The values of caveats that are strings or lists of strings: a system may be called Infinity.
TEXTS_OF_CAVEATS = frozenset("baseline instead metric reasons rule system test unit used".split())


def result_from_document(document: Any) -> Comparison | SetComparison | StudyResult:
    """The result of a parsed document. Raises :class:`Mismatch` if it is not the document of a result."""
    decoders: Mapping[str, Callable[[Any], Comparison | SetComparison | StudyResult]] = {
        COMPARISON: _comparison,
        SETS: _sets,
        STUDY: _study,
    }
    schema = object_of({"schema": text})(document)["schema"]
    if schema not in decoders:
        raise Mismatch(str(unknown_name("schema", schema, decoders))).inside("schema")
    return decoders[schema](document)


# Several test sets.


@cache
def _set_keys() -> Callable[[Any], dict[str, Any]]:
    return object_of(
        {
            "signature": text,
            "version": text,
            "dropped": list_of(text),
            "test_sets": list_of(lambda document: (object_of({"name": text})(document)["name"], _comparison(document))),
            "average": optional(_comparison),
        }
    )


def _sets(document: Any) -> SetComparison:
    found = _set_keys()(document)
    test_sets = found.pop("test_sets")
    _check_unique([name for name, _ in test_sets], "test_sets")
    _, first = test_sets[0]
    for number, (_, comparison) in enumerate(test_sets):
        if _compared(comparison) != _compared(first):
            raise Mismatch("expected the systems, metrics and pairs of the first").inside(number).inside("test_sets")
    average = found["average"]
    if average is not None and _compared(average) != _compared(first):
        raise Mismatch("expected the systems, metrics and pairs of the test sets").inside("average")
    return SetComparison(sets=dict(test_sets), **found)


def _compared(comparison: Comparison) -> tuple[object, ...]:
    """What all test sets and their average have in common."""
    names = tuple(metric.name for metric in comparison.metrics)
    return comparison.systems, names, tuple((pair.system, pair.baseline) for pair in comparison.comparisons)


# One comparison.


def _comparison(document: Any) -> Comparison:
    found = _comparison_keys()(document)
    metrics, systems = found["metrics"], [system["name"] for system in found["systems"]]
    _check_unique([metric["name"] for metric in metrics], "metrics")
    _check_unique(systems, "systems")
    names = [metric["name"] for metric in metrics]
    _check_names(found["comparisons"], names, systems)
    _check_tests(found, len(metrics))
    _check_rankings(found, names, systems)
    _check_texts(found, names, systems)
    return Comparison(
        systems=tuple(systems),
        metrics=tuple(UsedMetric(**metric) for metric in metrics),
        scores=tuple(_scores(found)),
        comparisons=tuple(_pair(pair, found) for pair in found["comparisons"]),
        n_segments=found["segments"],
        n_units=found["units"],
        n_strata=found["strata"],
        n_references=found["references"],
        seed=_seed(found),
        **{name: found[name] for name in _SAME_NAME},
    )


# The fields of a comparison that are keys of the same name, and have the same values.
_SAME_NAME = (
    "signature", "version", "baseline", "unit", "n_resamples", "confidence_level", "alpha", "experimentwise_error",
    "per_comparison_level", "test", "interval", "rankings", "detectable", "caveats", "averaged_over", "texts",
)  # fmt: skip


def _scores(found: Mapping[str, Any]) -> list[SystemScore]:
    """The scores metric by metric, from the systems with their scores by metric."""
    scores = []
    for metric in [metric["name"] for metric in found["metrics"]]:
        for number, system in enumerate(found["systems"]):
            if metric not in system["scores"]:
                missing = Mismatch("the key is missing").inside(metric).inside("scores")
                raise missing.inside(number).inside("systems")
            values = system["scores"][metric]
            n_segments = values.pop("n_segments")
            n_segments = found["segments"] if n_segments is None else n_segments
            scores.append(SystemScore(system["name"], metric, **values, n_segments=n_segments))
    return scores


def _pair(pair: dict[str, Any], found: Mapping[str, Any]) -> PairedDifference:
    """A difference and its test, from the keys of both in one object."""
    test = {name: pair.pop(name) for name in _TEST_NAMES}
    n_segments, n_units = pair.pop("n_segments"), pair.pop("n_units")
    return PairedDifference(
        n_segments=found["segments"] if n_segments is None else n_segments,
        n_units=found["units"] if n_units is None else n_units,
        test=SignificanceResult(
            metric=pair["metric"],
            statistic=pair.pop("difference"),
            seed=_seed(pair),
            caveats=pair.pop("test_caveats"),
            **test,
        ),
        **{name: pair[name] for name in _PAIR_NAMES},
    )


_TEST_NAMES = (
    "test", "pvalue", "alternative", "exceedances", "n_resamples", "signature", "wins", "ties", "adjusted_pvalue",
    "scheme", "stopping", "tails", "standard_error", "margin",
)  # fmt: skip
_PAIR_NAMES = (
    "baseline", "system", "metric", "confidence_interval", "intraclass_correlation", "design_effect",
    "exchangeability", "influence", "brevity", "contributions", "caveats", "null",
)  # fmt: skip


def _seed(found: Mapping[str, Any]) -> int | None:
    seed, derivation = found["seed"], found["seed_derivation"]
    return seed if seed is None or derivation is None else DerivedSeed(seed, derivation)


@cache
def _metric() -> Callable[[Any], dict[str, Any]]:
    return object_of(
        {
            "name": text,
            "signature": text,
            "higher_is_better": flag,
            "evaluations": Key(whole),
            "source": optional(text),
        }
    )


def _contributions(document: Any) -> tuple[Contribution, ...]:
    """What parts contribute to a difference, from an object with a key for each."""
    values = mapping_of(object_of({"difference": real, "confidence_interval": _interval()}))(document)
    return tuple(Contribution(part, **each) for part, each in values.items())


@cache
def _interval() -> Decoder:
    return optional(record_of(ConfidenceInterval, low=real, high=real))


@cache
def _comparison_keys() -> Callable[[Any], dict[str, Any]]:
    """The decoder of a comparison, which is made once."""
    interval = _interval()
    seed: dict[str, Decoder | Key] = {"seed": optional(whole), "seed_derivation": Key(optional(text))}
    score = object_of(
        {
            "score": real,
            "n_segments": Key(whole),
            "confidence_interval": interval,
            "details": mapping_of(real),
            "draws": Key(optional(_histogram(Histogram))),
        }
    )
    pair = object_of(
        {
            "baseline": text,
            "system": text,
            "metric": text,
            "test": text,
            "scheme": optional(text),
            "alternative": text,
            "margin": Key(optional(real)),
            "difference": real,
            "n_segments": Key(whole),
            "n_units": Key(whole),
            "pvalue": real,
            "adjusted_pvalue": optional(real),
            "confidence_interval": interval,
            "exceedances": optional(whole),
            "n_resamples": optional(positive),
            "stopping": optional(record_of(UsedStopping, rule=_rule, stopped=flag)),
            **seed,
            "tails": whole,
            "standard_error": optional(real),
            "wins": optional(whole),
            "ties": optional(whole),
            "signature": text,
            "test_caveats": list_of(_caveat),
            "intraclass_correlation": optional(real),
            "design_effect": optional(real),
            "exchangeability": optional(record_of(Exchangeability)),
            "influence": Key(optional(record_of(Influence))),
            "brevity": Key(optional(record_of(Brevity, share=optional(real)))),
            "contributions": Key(optional(_contributions)),
            "caveats": list_of(text),
            "null": Key(optional(_histogram(NullHistogram))),
        }
    )
    texts = record_of(
        ComparedTexts,
        references=list_of(list_of(optional(text))),
        systems=mapping_of(list_of(text)),
        scores=mapping_of(mapping_of(list_of(optional(real)))),
    )
    pairs = list_of(pair)
    return object_of(
        {
            "signature": text,
            "version": text,
            "baseline": optional(text),
            "segments": whole,
            "unit": text,
            "units": whole,
            "strata": Key(whole),
            "averaged_over": Key(list_of(text), ()),
            "references": whole,
            "n_resamples": optional(whole),
            "confidence_level": optional(real),
            "alpha": optional(real),
            **seed,
            "experimentwise_error": optional(real),
            "per_comparison_level": optional(real),
            "test": optional(record_of(UsedTest)),
            "interval": optional(record_of(UsedInterval)),
            "metrics": list_of(_metric()),
            "systems": list_of(object_of({"name": text, "scores": mapping_of(score)})),
            "comparisons": lambda value: pairs(
                unpacked_records(value) if isinstance(value, dict) and "columns" in value else value
            ),
            "rankings": list_of(record_of(Ranking)),
            "detectable": list_of(record_of(DetectableDifference)),
            "caveats": list_of(_caveat),
            "texts": Key(texts),
        }
    )


def _histogram(cls: type[Histogram]) -> Decoder:
    """A histogram, checked so that figures can draw it."""
    decode = record_of(cls)

    def checked(value: Any) -> Histogram:
        histogram = decode(value)
        expected = N_BINS if histogram.width else 1
        if not histogram.width >= 0:
            raise Mismatch.expected("a number that is not negative", histogram.width).inside("width")
        if len(histogram.counts) != expected:
            raise Mismatch(f"expected {expected} counts, got {len(histogram.counts)}").inside("counts")
        return histogram

    return checked


def _rule(value: Any) -> str:
    """The name of a stopping rule, which reports describe."""
    if value not in get_args(Stopping):
        raise Mismatch(str(unknown_name("stopping rule", text(value), get_args(Stopping))))
    return text(value)


def _caveat(document: Any) -> Caveat:
    kind = object_of({"kind": text})(document)["kind"]
    values = {
        key: value if key in TEXTS_OF_CAVEATS else _with_numbers(value)
        for key, value in document.items()
        if key != "kind"
    }
    return Caveat(kind, {key: tuple(value) if isinstance(value, list) else value for key, value in values.items()})


def _with_numbers(value: Any) -> Any:
    """The value of a caveat with the numbers that JSON does not have."""
    if isinstance(value, list):
        return [_with_numbers(item) for item in value]
    if type(value) is int:
        return real(value)
    return NON_FINITE.get(value, value) if isinstance(value, str) else value


# Studies.


@cache
def _study_keys() -> Callable[[Any], dict[str, Any]]:
    return object_of(
        {
            "study": text,
            "signature": text,
            "version": text,
            "plan": _plan,
            "truths": mapping_of(text),
            "metrics": list_of(_metric()),
        }
    )


def _level(value: Any) -> float:
    """A level, strictly between 0 and 1."""
    if not 0 < real(value) < 1:
        raise Mismatch.expected("a number between 0 and 1", value)
    return real(value)


def _level_of_scores(value: Any) -> str:
    """What metrics and people agree about."""
    if value not in ("segment", "system"):
        raise Mismatch.expected("segment or system", value)
    return text(value)


# What reports expect of the settings that mean the same in all studies. Other settings are shown as they are.
_SETTINGS: Mapping[str, Decoder] = {
    **dict.fromkeys(("alpha", "confidence_level"), optional(_level)),
    "alphas": list_of(_level),
    "level": _level_of_scores,
    **dict.fromkeys(
        ("family_size", "n_resamples", "random_starts", "replications", "rounds", "seed", "simulations", "units"),
        optional(whole),
    ),
    **dict.fromkeys(
        ("coefficients", "exchange", "groupings", "layouts", "models", "test_sets", "tests"), list_of(text)
    ),
    **dict.fromkeys(("about", "alternative", "metric", "probabilities", "topbest", "unit", "utility"), optional(text)),
    **dict.fromkeys(("all_pairs", "average", "exclude_self", "pooled", "simulate", "size_adjusted"), optional(flag)),
    **dict.fromkeys(("b_zero", "minimum_difference", "p_zero", "scale"), optional(real)),
}


def _plan(value: Any) -> dict[str, Any]:
    found: dict[str, Any] = mapping_of(_with_numbers)(value)
    for name, decoder in _SETTINGS.items():
        if name in found:
            try:
                found[name] = decoder(value[name])
            except Mismatch as mismatch:
                raise mismatch.inside(name) from None
    return found


@cache
def _records(study: str, table: str) -> Decoder:
    return list_of(record_of(record_types(study)[table]))


def _study(document: Any) -> StudyResult:
    found = _study_keys()(document)
    metrics = tuple(UsedMetric(**metric) for metric in found.pop("metrics"))
    tables: dict[str, tuple[Any, ...]] = {}
    known = record_types(found["study"])
    # Keys that this version does not know may be those of a later one.
    for name in document:
        if name in known:
            try:
                tables[name] = _records(found["study"], name)(document[name])
            except Mismatch as mismatch:
                raise mismatch.inside(name) from None
    if not any(tables.values()):
        raise Mismatch(f"expected the records of a table, such as {', '.join(known)}, got none")
    result = RESULTS.get(found["study"], StudyResult)(metrics=metrics, tables=tables, **found)
    names = [metric.name for metric in metrics]
    for table, records in tables.items():
        for number, record in enumerate(records):
            if hasattr(record, "metric") and record.metric not in names:
                unknown = Mismatch(str(unknown_name("metric", record.metric, names)))
                raise unknown.inside("metric").inside(number).inside(table)
    if isinstance(result, RunComparison):
        _check_runs(result)
    _check_shown(result)
    return result


def _check_shown(result: StudyResult) -> None:
    """Check that the settings and tables fit together: only the report of a study knows how."""
    try:
        result.render("text")
    except InputError:
        return  # a result of a later version, which can be read, but not shown
    except Exception as error:
        raise Mismatch(
            f"the plan, the metrics and the tables of the study {quoted(result.study)} do not fit together "
            f"({type(error).__name__}: {error})"
        ) from None


def _check_runs(result: RunComparison) -> None:
    """Check the parts of a comparison of runs that reports rely on."""
    if not result.tables.get("systems"):
        raise Mismatch("expected at least one system").inside("systems")
    for key in ("exchange", "alpha", "systems"):
        if key not in result.plan:
            raise Mismatch("the key is missing").inside(key).inside("plan")
    names = [metric.name for metric in result.metrics]
    for number, system in enumerate(result.systems):
        if [*system.scores] != names:
            problem = Mismatch(f"expected the metrics {', '.join(names)}, got {', '.join(system.scores) or 'none'}")
            raise problem.inside("scores").inside(number).inside("systems")
    known = {"baseline": [each.name for each in result.systems], "metric": names}
    known["system"] = known["baseline"]
    for table in ("comparisons", "observed"):
        for number, pair in enumerate(result.tables.get(table, ())):
            for key, of_key in known.items():
                if getattr(pair, key) not in of_key:
                    unknown = Mismatch(str(unknown_name(key, getattr(pair, key), of_key)))
                    raise unknown.inside(key).inside(number).inside(table)
    keys: dict[str, list[tuple[str, str, str]]] = {metric: [] for metric in names}
    for pair in result.comparisons:
        keys[pair.metric].append((pair.baseline, pair.system, pair.exchange))
    pairs = dict.fromkeys(found[:2] for found in keys[names[0]])
    expected = [(*pair, exchange) for pair in pairs for exchange in result.plan["exchange"]]
    if any(found != expected for found in keys.values()):
        raise Mismatch("expected each pair under each metric, by each exchange unit of the plan").inside("comparisons")


# Checks of the consistency that reports rely on.


def _check_unique(names: Sequence[str], key: str) -> None:
    if not names:
        raise Mismatch("expected at least one, got none").inside(key)
    if len(set(names)) < len(names):
        raise Mismatch("two have the same name").inside(key)


def _check_names(pairs: Sequence[Mapping[str, Any]], metrics: Sequence[str], systems: Sequence[str]) -> None:
    known = {"baseline": set(systems), "system": set(systems), "metric": set(metrics)}
    for number, pair in enumerate(pairs):
        for key, names in known.items():
            if pair[key] not in names:
                unknown = Mismatch(str(unknown_name(key, pair[key], names)))
                raise unknown.inside(key).inside(number).inside("comparisons")


def _check_tests(found: Mapping[str, Any], n_metrics: int) -> None:
    """Check that every metric has the same pairs, and that all have the intervals and adjusted p-values or none."""
    pairs, test = found["comparisons"], found["test"]
    if found["interval"] is not None and found["confidence_level"] is None:
        raise Mismatch.expected("a number, because there are intervals", None).inside("confidence_level")
    if (test is None) != (not pairs):
        raise Mismatch("expected comparisons exactly if there is a test").inside("comparisons")
    n = len(pairs) // n_metrics
    each = [(pair["system"], pair["baseline"]) for pair in pairs]
    metrics = [metric["name"] for metric in found["metrics"]]
    in_order = [pair["metric"] for pair in pairs] == [metric for metric in metrics for _ in range(n)]
    if len(pairs) % n_metrics or not in_order or each != each[:n] * n_metrics or len(set(each)) != n * bool(pairs):
        raise Mismatch("expected the same pairs for each metric, metric by metric").inside("comparisons")
    values = [
        (("systems", number), s) for number, system in enumerate(found["systems"]) for s in system["scores"].values()
    ]
    for (key, number), value in [*values, *((("comparisons", n), pair) for n, pair in enumerate(pairs))]:
        if (value["confidence_interval"] is None) != (found["interval"] is None):
            raise Mismatch("expected an interval exactly if the result has them").inside(number).inside(key)
    margins: dict[str, float] = {}
    for number, pair in enumerate(pairs):
        margin = pair["margin"]
        if (margin is None) == test.has_margin or (margin is not None and not 0 < margin < math.inf):
            expected = "a number above 0 exactly if the test has a margin"
            raise Mismatch.expected(expected, margin).inside("margin").inside(number).inside("comparisons")
        if margin != margins.setdefault(pair["metric"], margin):
            problem = Mismatch.expected("the same margin for all pairs under a metric", margin).inside("margin")
            raise problem.inside(number).inside("comparisons")
    for number, pair in enumerate(pairs):
        if (pair["adjusted_pvalue"] is None) != (test.adjustment is None):
            problem = Mismatch("expected a number exactly if the test has an adjustment").inside("adjusted_pvalue")
            raise problem.inside(number).inside("comparisons")


def _check_rankings(found: Mapping[str, Any], metrics: Sequence[str], systems: Sequence[str]) -> None:
    """Check that rankings have all systems, and that what is said about metrics is about those of the result."""
    for key in ("rankings", "detectable"):
        for number, record in enumerate(found[key]):
            if record.metric not in metrics:
                unknown = Mismatch(str(unknown_name("metric", record.metric, metrics)))
                raise unknown.inside("metric").inside(number).inside(key)
    for number, ranking in enumerate(found["rankings"]):
        sets = {"best": ranking.best, "mcb_best": ranking.mcb_best}
        if sorted(ranked.system for ranked in ranking.systems) != sorted(systems):
            raise Mismatch("expected every system once").inside("systems").inside(number).inside("rankings")
        for key, names in sets.items():
            if names is not None and not (names and set(names) <= set(systems)):
                raise Mismatch("expected some of the systems").inside(key).inside(number).inside("rankings")


def _check_texts(found: Mapping[str, Any], metrics: Sequence[str], systems: Sequence[str]) -> None:
    """Check that texts cover every segment and system, and that scores name no other metrics, systems or segments."""
    texts, n = found["texts"], found["segments"]
    if texts is None:
        return
    columns = {"systems": texts.systems, **{f"scores.{metric}": scores for metric, scores in texts.scores.items()}}
    for metric in texts.scores:
        if metric not in metrics:
            raise Mismatch(str(unknown_name("metric", metric, metrics))).inside("scores").inside("texts")
    if len(texts.references) != n:
        raise _wrong_number("references", texts.references, n).inside("references").inside("texts")
    for key, by_system in columns.items():
        if sorted(by_system) != sorted(systems):
            raise Mismatch("expected every system once").inside(key).inside("texts")
        for name, values in by_system.items():
            if len(values) != n:
                raise _wrong_number("values", values, n).inside(name).inside(key).inside("texts")


def _wrong_number(what: str, values: Sequence[object], expected: int) -> Mismatch:
    return Mismatch(f"expected {what} of {expected:,} segments, got {len(values):,}")
