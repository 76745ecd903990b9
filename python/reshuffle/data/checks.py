"""What reports rely on beyond the types of values: that names occur, and that pairs and scores are complete.

Each check raises :class:`Mismatch` with the place of the problem in the JSON.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any, get_args

from ..errors import InputError, quoted, unknown_name
from ..results import Comparison, Gate, Histogram, SetComparison, SignificanceResult, UsedStopping
from ..results.histograms import N_BINS
from ..results.studies import RunComparison, StudyResult
from ..results.studies.human import HumanPlan
from ..types import Stopping
from .decoding import Decoder, Mismatch, inside, list_of, optional, real, text


def check_histogram(histogram: Histogram) -> None:
    """Check that figures can draw it."""
    expected = N_BINS if histogram.width else 1
    if not histogram.width >= 0:
        raise Mismatch.expected("a number that is not negative", histogram.width).inside("width")
    if len(histogram.counts) != expected:
        raise Mismatch(f"expected {expected} counts, got {len(histogram.counts)}").inside("counts")


def check_stopping(stopping: UsedStopping) -> None:
    """Check that the rule is one that reports describe."""
    _check_name("stopping rule", stopping.rule, get_args(Stopping), "rule")


def check_test(test: SignificanceResult) -> None:
    """Check that a number of replicates is not 0."""
    if test.n_resamples == 0:
        raise Mismatch.expected("a whole number above 0", 0).inside("n_resamples")


def check_comparison(comparison: Comparison) -> None:
    """Check that the parts of a comparison are about the same systems, metrics and pairs, and complete."""
    metrics = [metric.name for metric in comparison.metrics]
    _check_unique(metrics, "metrics")
    _check_unique(comparison.systems, "systems")
    of_scores = [(score.metric, score.system) for score in comparison.scores]
    if of_scores != [(metric, system) for metric in metrics for system in comparison.systems]:
        raise Mismatch("expected a score for each metric and system, metric by metric").inside("scores")
    systems = set(comparison.systems)
    _check_names("comparisons", comparison.comparisons, baseline=systems, system=systems, metric=metrics)
    for number, pair in enumerate(comparison.comparisons):
        _check_name("metric", pair.test.metric, [pair.metric], "comparisons", number, "test", "metric")
    _check_pairs(comparison, metrics)
    _check_intervals(comparison)
    _check_margins(comparison)
    _check_rankings(comparison, metrics)
    _check_texts(comparison, metrics)


def check_sets(sets: SetComparison) -> None:
    """Check that all test sets and their average have the same systems, metrics and pairs."""
    if not sets.sets:
        raise Mismatch("expected at least one, got none").inside("sets")
    expected = _compared(next(iter(sets.sets.values())))
    for name, comparison in sets.sets.items():
        if _compared(comparison) != expected:
            raise Mismatch("expected the systems, metrics and pairs of the first").inside("sets", name)
    if sets.average is not None and _compared(sets.average) != expected:
        raise Mismatch("expected the systems, metrics and pairs of the test sets").inside("average")


def check_gate(gate: Gate) -> None:
    """Check that tasks have names of their own, and that trends are of tasks and can be drawn."""
    names = [task.name for task in gate.tasks]
    _check_unique(names, "tasks")
    _check_names("trends", gate.trends, task=names)
    for number, trend in enumerate(gate.trends):
        if len(set(trend.scores)) < 2 or len(trend.scores) != trend.n_runs:
            raise Mismatch("expected a score for each run, not all equal").inside("trends", number, "scores")


def _compared(comparison: Comparison) -> tuple[object, ...]:
    names = tuple(metric.name for metric in comparison.metrics)
    return comparison.systems, names, tuple((pair.system, pair.baseline) for pair in comparison.comparisons)


def check_study(result: StudyResult) -> None:
    """Check the settings and the names of metrics in a study, and that its report can be shown."""
    for name, decoder in _SETTINGS.items():
        if name in result.plan:
            with inside("plan", name):
                decoder(result.plan[name])
    names = [metric.name for metric in result.metrics]
    if isinstance(result.plan, HumanPlan):  # the mean of the raters
        names.append(", ".join(result.plan.human))
    for table, records in result.tables.items():
        _check_names(table, [record for record in records if hasattr(record, "metric")], metric=names)
    if isinstance(result, RunComparison):
        _check_runs(result, names)
    _check_shown(result)


# One comparison.


def _check_pairs(comparison: Comparison, metrics: Sequence[str]) -> None:
    """Check that every metric has the same pairs, and that they have an adjusted p-value if there is an adjustment."""
    pairs, test = comparison.comparisons, comparison.test
    if (test is None) != (not pairs):
        raise Mismatch("expected comparisons if there is a test, and only then").inside("comparisons")
    n = len(pairs) // len(metrics)
    each = [(pair.system, pair.baseline) for pair in pairs]
    in_order = [pair.metric for pair in pairs] == [metric for metric in metrics for _ in range(n)]
    if not in_order or each != each[:n] * len(metrics) or len(set(each)) != n:
        raise Mismatch("expected the same pairs for each metric, metric by metric").inside("comparisons")
    for number, pair in enumerate(pairs):
        if test is not None and (pair.test.adjusted_pvalue is None) != (test.adjustment is None):
            problem = Mismatch("expected a number exactly if the test has an adjustment")
            raise problem.inside("comparisons", number, "test", "adjusted_pvalue")


def _check_intervals(comparison: Comparison) -> None:
    """Check that all scores and differences have intervals, or none."""
    if comparison.interval is not None and comparison.confidence_level is None:
        raise Mismatch.expected("a number, because there are intervals", None).inside("confidence_level")
    lists: Mapping[str, Sequence[Any]] = {"scores": comparison.scores, "comparisons": comparison.comparisons}
    for key, records in lists.items():
        for number, record in enumerate(records):
            if (record.confidence_interval is None) != (comparison.interval is None):
                raise Mismatch("expected an interval exactly if the result has them").inside(key, number)


def _check_margins(comparison: Comparison) -> None:
    """Check that all pairs under a metric have the same margin, if the test has one."""
    margins: dict[str, float | None] = {}
    for number, pair in enumerate(comparison.comparisons):
        margin, test = pair.test.margin, comparison.test
        expected = None
        if test is not None and (
            margin is None or not 0 < margin < math.inf if test.has_margin else margin is not None
        ):
            expected = "a number above 0 exactly if the test has a margin"
        elif margin != margins.setdefault(pair.metric, margin):
            expected = "the same margin for all pairs under a metric"
        if expected is not None:
            raise Mismatch.expected(expected, margin).inside("comparisons", number, "test", "margin")


def _check_rankings(comparison: Comparison, metrics: Sequence[str]) -> None:
    """Check that rankings have all systems, and that what is said about metrics is about those of the result."""
    _check_names("rankings", comparison.rankings, metric=metrics)
    _check_names("detectable", comparison.detectable, metric=metrics)
    for number, ranking in enumerate(comparison.rankings):
        if sorted(ranked.system for ranked in ranking.systems) != sorted(comparison.systems):
            raise Mismatch("expected every system once").inside("rankings", number, "systems")
        for key, names in (("best", ranking.best), ("mcb_best", ranking.mcb_best)):
            if names is not None and not (names and set(names) <= set(comparison.systems)):
                raise Mismatch("expected some of the systems").inside("rankings", number, key)


def _check_texts(comparison: Comparison, metrics: Sequence[str]) -> None:
    """Check that texts cover every segment and system, and that scores name no other metrics, systems or segments."""
    texts, n = comparison.texts, comparison.n_segments
    if texts is None:
        return
    for metric in texts.scores:
        _check_name("metric", metric, metrics, "texts", "scores")
    _check_length("references", texts.references, n, "references")
    columns: Mapping[str, Mapping[str, Sequence[object]]] = {
        "systems": texts.systems,
        **{f"scores.{metric}": scores for metric, scores in texts.scores.items()},
    }
    for key, by_system in columns.items():
        if sorted(by_system) != sorted(comparison.systems):
            raise Mismatch("expected every system once").inside("texts", key)
        for name, values in by_system.items():
            _check_length("values", values, n, key, name)


def _check_length(what: str, values: Sequence[object], expected: int, *place: str) -> None:
    if len(values) != expected:
        problem = Mismatch(f"expected {what} of {expected:,} segments, got {len(values):,}")
        raise problem.inside("texts", *place)


def _check_unique(names: Sequence[str], key: str) -> None:
    if not names:
        raise Mismatch("expected at least one, got none").inside(key)
    if len(set(names)) < len(names):
        raise Mismatch("two have the same name").inside(key)


def _check_names(key: str, records: Sequence[Any], **known: Collection[str]) -> None:
    """Check that fields of the records in a list have known names."""
    for number, record in enumerate(records):
        for name, names in known.items():
            _check_name(name, getattr(record, name), names, key, number, name)


def _check_name(kind: str, name: str, known: Collection[str], *place: str | int) -> None:
    if name not in known:
        raise Mismatch(str(unknown_name(kind, name, known))).inside(*place)


# Studies.


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


# What reports expect of settings beyond their types.
_SETTINGS: Mapping[str, Decoder] = {
    **dict.fromkeys(("alpha", "confidence_level"), optional(_level)),
    "alphas": list_of(_level),
    "level": _level_of_scores,
}


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


def _check_runs(result: RunComparison, metrics: Sequence[str]) -> None:
    """Check the parts of a comparison of runs that reports rely on."""
    if not result.tables.get("systems"):
        raise Mismatch("expected at least one system").inside("systems")
    for number, system in enumerate(result.systems):
        if [*system.scores] != metrics:
            problem = Mismatch(f"expected the metrics {', '.join(metrics)}, got {', '.join(system.scores) or 'none'}")
            raise problem.inside("systems", number, "scores")
    systems = [system.name for system in result.systems]
    for table in ("comparisons", "observed"):
        _check_names(table, result.tables.get(table, ()), baseline=systems, system=systems)
    keys: dict[str, list[tuple[str, str, str]]] = {metric: [] for metric in metrics}
    for pair in result.comparisons:
        keys[pair.metric].append((pair.baseline, pair.system, pair.exchange))
    pairs = dict.fromkeys(found[:2] for found in keys[metrics[0]])
    expected = [(*pair, exchange) for pair in pairs for exchange in result.plan.exchange]
    if any(found != expected for found in keys.values()):
        raise Mismatch("expected each pair under each metric, by each exchange unit of the plan").inside("comparisons")
