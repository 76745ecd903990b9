"""``gate``: whether new outputs may replace those of the baseline."""

from __future__ import annotations

import contextlib
import hashlib
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from datetime import datetime, timezone
from typing import Any

import numpy as np

from . import _core, signature
from .comparing import Design, Resampled, data_and_units
from .data.history import append_run, read_history
from .errors import Argument, InputError, counted, listed, quoted, unknown_name, warn
from .human import LabelUnits, Question, labels_among, scores_by_segment
from .inference.detectable import standard_errors
from .inference.enough import check_replicates
from .inference.gate import (
    FEWEST,
    PAIR,
    MarginOutcome,
    allowed_if_equal,
    changes,
    margin_outcomes,
    more_units,
    needed_room,
    trends,
    verdict_of,
)
from .inference.hypotheses import Hypotheses, Outcome
from .inference.multiplicity import holm
from .inference.plan import Plan
from .inference.power import POWER, detectable_factor
from .inference.running import run_tests
from .metrics.base import Metric, Scores
from .metrics.black_box import CorpusFunction
from .metrics.precomputed import SegmentScores
from .names import metric_key
from .options.declare import called_with
from .options.gate import Gate as GateOptions
from .options.gate import Gated, Margin, of_test_set
from .options.groups import ONLY
from .options.inputs import AnySet
from .progress import reported
from .resampling import CountSample, Sample, TextSample
from .resampling.counting import Data, check_only, check_reachable, metrics_named, plain_number
from .resampling.influence import contributions
from .results import Gate, GateTask, LostSegment
from .results.gate import PastGate, PastTask
from .results.studies.human import is_selected
from .seeds import derive_seed
from .sets import SetData, on_each, on_test_set
from .settings import ComparisonSettings, Resampling

# How many of the segments that lost most are listed.
MOST_LOST = 3


@called_with(GateOptions)
def gate(options: GateOptions) -> Gate:
    """Decide whether new outputs may replace those of a baseline: allow, reject, or inconclusive.

    The first system is the baseline, the second one is new. A task is a metric on a test set.

    ``allow``: on every task, the new system is shown not to be worse by the margin or more. Each task is tested at
    level ``alpha``. A system that is worse by the margin on any task is allowed with a probability of at most
    ``alpha``, however many tasks there are, as far as the tests hold their level: docs/statistics/gate.md. ``reject``:
    not allowed, and on some task the new system is shown to be worse, even by less than the margin. A system that is no
    worse on any task is rejected with a probability of at most ``alpha``, as far as the tests hold it.
    ``inconclusive``: neither. Test sets of fewer than 20 segments (or documents) show nothing.

    Returns
    -------
    Gate

    Raises
    ------
    InputError
        As :func:`reshuffle.compare`; if there are not two systems, a metric lacks a margin, or a margin is given for a
        metric that is not compared.

    Notes
    -----
    Both probabilities are those of one run. At level .05, a gate that runs every night for a year rejects about 18
    times although the systems are equally good. Margins of right-or-wrong answers are tested
    by Tango's score test (not with documents or strata), those of other means of segment scores by
    ``non-inferiority-ar``, those of other metrics by ``non-inferiority-studentized`` or, with strata and for functions
    of texts, by ``non-inferiority``; regressions by the default test with p adjusted for all tasks
    (docs/statistics/gate.md). With labels (``human``), both are t tests of the estimate of :func:`reshuffle.human`.
    Cost: that of :func:`reshuffle.compare` and of a test with margins, on the same counts and draws.

    Examples
    --------
    >>> from reshuffle import SegmentScores
    >>> scores = {"old": [70, 80, 60, 75, 90] * 20, "new": [71, 79, 60, 76, 90] * 20}
    >>> verdict = gate(metrics=SegmentScores("rating", scores), margin={"rating": 1})
    >>> verdict.verdict, round(verdict.tasks[0].difference, 2), verdict.tasks[0].margin
    ('allow', 0.2, 1.0)
    """
    sets = _sets(options)
    with reported(options.progress) as watched:
        return gated(sets, options, Resampling.from_options(options, watched))


def _sets(options: GateOptions) -> Mapping[str, SetData]:
    """The test sets; a single one has no name."""
    if options.sets is None:
        return {"": SetData(*data_and_units(options))}
    if options.references is not None or options.systems is not None:
        raise InputError("sets cannot be combined with references and systems: make them one of the test sets")
    if not isinstance(options.sets, Mapping) or not options.sets:
        raise InputError(f"sets: expected a mapping of names to test sets, got {quoted(options.sets)}")
    sets: Mapping[str, AnySet] = options.sets
    return {str(name): SetData.from_set(str(name), each, options.metrics) for name, each in sets.items()}


def gated(sets: Mapping[str, SetData], options: GateOptions, resampling: Resampling) -> Gate:
    """The verdict on these test sets, and trends over the history: see :func:`gate`."""
    runs = [] if options.history is None else read_history(options.history)
    names = _two_systems(sets)
    _check_sets_of(options, sets)
    for metric in (metric for each in sets.values() for metric in each.data.metrics):
        if isinstance(metric, SegmentScores) and metric.two_scales:
            raise InputError(metric.two_scales)
    decided = (_by_replicates if options.human is None else _by_labels)(sets, names, options, resampling)
    if options.history is None:
        return decided
    tasks = tuple(PastTask(*(getattr(task, each.name) for each in fields(PastTask))) for task in decided.tasks)
    now = datetime.now(timezone.utc).isoformat(timespec="seconds")
    run = PastGate(now, decided.version, decided.digest, decided.verdict, tasks)
    append_run(options.history, run)
    changed = changes([*runs, run])
    return replace(decided, trends=trends(changed), n_runs=len(changed))


def _by_replicates(sets: Mapping[str, SetData], names: tuple[str, str], rule: Gated, resampling: Resampling) -> Gate:
    """Count the systems on each test set, test the tasks, and decide."""
    data = [each.data for each in sets.values()]
    metrics = [metric for each in data for metric in each.metrics]
    settings = ComparisonSettings(alternative="worse", family="all", alpha=rule.alpha, interval=None)
    design = Design.from_settings(names, data, settings, resampling)
    resampling = design.resampling
    check_replicates(resampling.n_resamples, rule.alpha)
    given = on_each(sets, lambda name, each: _given_margins(each.data, rule, of_test_set(rule.margin, name, sets)))
    design.announce(data, list(sets) if len(sets) > 1 else ())
    resampled = []
    for index, (name, each) in enumerate(sets.items()):
        seed = resampling.seed if len(sets) == 1 else derive_seed(resampling.seed, "test-set", index)
        with on_test_set(name):
            resampled.append(design.count(each.data, replace(each.units, source=None), seed))
    replicates = [each.replicates for each in resampled]
    hypotheses = Hypotheses.from_pairs([PAIR], len(metrics) // len(sets), len(sets), "all")
    worse = run_tests(design.plan, replicates, hypotheses)
    better = _better(rule, resampled, hypotheses, metrics)
    tasks: list[GateTask] = []
    for t, (name, on) in enumerate(zip(sets, resampled, strict=True)):
        at = np.flatnonzero(hypotheses.test_set == t)
        own, of_better = worse.take(at), None if better is None else better.take(at)
        with on_test_set(name):
            tasks += _tested(name, on, rule, given[name], own, design.plan.test.name, of_better, len(metrics))
    # Of texts, another warning says so.
    if all(task.n_differing == 0 for task in tasks) and all(each.data.corpus is None for each in sets.values()):
        warn(f"{names[0]} and {names[1]} have the same scores on every {tasks[0].unit}: was a file passed twice?")
    lines = _signatures(sets)
    for on in resampled:
        sample, strata = on.replicates.samples[0], on.replicates.strata
        lines += signature.for_units(sample.unit, sample.n_units, None if strata is None else strata.n_strata)
    adjusted = worse.pvalue if worse.adjusted is None else worse.adjusted
    return _decided(names, tasks, adjusted, rule, resampling, lines, _counts(resampled))


def _by_labels(sets: Mapping[str, SetData], names: tuple[str, str], rule: Gated, resampling: Resampling) -> Gate:
    """The gate of people's labels: a task on each test set, without draws."""
    resampling.announce(step for each in sets.values() for step in each.data.counting_steps(2))
    found = on_each(sets, lambda name, on: _labelled(name, on, rule, sets, resampling)).values()
    tasks, scores, sampled = zip(*found, strict=True)
    adjusted = holm(np.array([task.worse_pvalue for task in tasks]))
    lines = [*_signatures(sets), f"human:{rule.human}", *dict.fromkeys(part for each in sampled for part in each)]
    values = (np.ascontiguousarray(own, dtype="<f8").tobytes() for each in scores for own in each)
    return _decided(names, tasks, adjusted, rule, replace(resampling, n_resamples=0), lines, values)


def _signatures(sets: Mapping[str, SetData]) -> list[str]:
    """Those of the metrics of all test sets."""
    return [m.signature(each.data.n_references) for each in sets.values() for m in each.data.metrics]


def _two_systems(sets: Mapping[str, SetData]) -> tuple[str, str]:
    """The baseline and the new system, which all test sets have."""
    names = next(iter(sets.values())).data.names
    for name, each in sets.items():
        with on_test_set(name):
            if len(each.data.names) != 2:
                hint = "; to choose two of a file, write FILE#NAME or FILE#model=NAME for each"
                raise InputError(
                    "expected two systems, a baseline and a new one, got {got}: {names}"
                    + "{hint}" * (len(each.data.names) > 2),
                    got=counted(len(each.data.names), "system"),
                    names=listed(each.data.names),
                    hint=Argument("", as_flag=hint),
                )
            if set(each.data.names) != set(names):
                raise InputError(
                    f"expected the systems {names[0]} and {names[1]}, as on the first test set, got "
                    f"{listed(each.data.names)}"
                )
            if each.data.labels != next(iter(sets.values())).data.labels:
                raise InputError("all test sets need metrics of the same names, in the same order")
    baseline, system = names
    return baseline, system


@contextlib.contextmanager
def _about(option: str) -> Iterator[None]:
    """Mark errors as those of an option: the command line names the file that has it. The innermost mark counts."""
    try:
        yield
    except InputError as error:
        raise error if "about" in error.fields else error.with_field("about", option) from None


@_about("margin")
def _check_sets_of(rule: Gated, sets: Mapping[str, SetData]) -> None:
    """:class:`InputError` for the name of a margin or a primary metric with a test set that is not there.

    Unknown metrics are found with those of each test set.
    """
    metrics = next(iter(sets.values())).data.metrics
    if [*sets] == [""]:
        return
    for name in rule.margin:
        of_set = name.rpartition("/")[0]
        if name == ONLY or of_set in sets or metrics_named(name, metrics):
            continue
        if name in sets:
            raise InputError(
                f"a margin of {quoted(name)}, which is a test set: write {name}/METRIC, such as "
                f"{name}/{metrics[0].name}={rule.margin[name]}"
            )
        if of_set:
            raise unknown_name("test set of a margin", of_set, sets)
    with _about("primary"):
        for name in rule.primary:
            of_set, _, metric = name.rpartition("/")
            if of_set in sets and not metrics_named(name, metrics):
                raise InputError(
                    f"primary metric {quoted(name)}: a metric is primary on all test sets, so write {quoted(metric)}"
                )


@_about("margin")
def _given_margins(
    data: Data, rule: Gated, given: Iterable[Mapping[str, Margin]], tested: Sequence[int] | None = None
) -> list[Margin | None]:
    """The margin of each metric; :class:`InputError` for one that is missing, or of a metric that is not compared.

    ``tested`` are the metrics that are, by default all. The first of ``given`` that has a metric counts.
    """
    found: list[Margin | None] = [None] * len(data.metrics)
    primary = _primary(data, rule)
    own = range(len(found)) if tested is None else tested
    for margins in given:
        before = [*found]
        for name, margin in margins.items():
            for m in [_only(data, own, primary, margin)] if name == ONLY else data.named(name, "metric with a margin"):
                if found[m] is not before[m]:
                    raise InputError(f"{data.labels[m]} has two margins: leave out one of them")
                if tested is not None and m not in tested:
                    raise InputError(f"{data.labels[m]} only predicts {rule.human}: leave out its margin")
                found[m] = margin if before[m] is None else before[m]
    if rule.rule == "no-regression":
        return found
    lacking = [data.labels[m] for m in own if found[m] is None and m not in primary]
    if lacking:
        raise InputError(
            "no margin for {metrics}: say how much worse the new system may be, as in {margin}, or use {rule}",
            metrics=listed(lacking),
            margin=Argument("margin", {lacking[0]: _example(data.metrics[data.labels.index(lacking[0])])}),
            rule=Argument("rule", ("no-regression",)),
        )
    for m, of_primary in enumerate(found):
        if m in primary and of_primary is not None:
            raise InputError(
                "{name} is a primary metric, under which the new system must be better, so a margin has no "
                "effect: leave out {margin}, or name other primary metrics",
                name=data.labels[m],
                margin=Argument("margin", {data.labels[m]: _shortest(of_primary)}),
            )
    return found


def _shortest(margin: Margin) -> float | str:
    """A margin as one writes it."""
    return str(margin) if margin.unit else plain_number(f"{margin.value:g}")


def _example(m: object) -> float | str:
    """A margin for scores of this size: a fiftieth of the range that segments have, or of the baseline's score."""
    if not isinstance(m, SegmentScores):
        return "2%"
    scores = [m.segment_scores(counts) for counts in m.counts.values()]
    spread = float(np.nanmax(scores) - np.nanmin(scores)) or 1.0
    return plain_number(f"{spread / 50:.1g}")


def _only(data: Data, own: Sequence[int], primary: set[int], margin: Margin) -> int:
    """The metric of a margin without a name."""
    needy = [m for m in own if m not in primary] or own
    check_only([data.labels[m] for m in needy], "margin", margin)
    return needy[0]


@_about("primary")
def _primary(data: Data, rule: Gated) -> set[int]:
    """The indices of the metrics under which the new system has to be better."""
    return {m for name in rule.primary for m in data.named(name, "primary metric")}


def _better(
    rule: Gated, resampled: Sequence[Resampled], hypotheses: Hypotheses, metrics: Sequence[object]
) -> Outcome | None:
    """The tests of whether the new system is better, which the rule ``superior`` needs, without an adjustment."""
    if not rule.primary:
        return None
    settings = ComparisonSettings(alternative="better", adjust="none", alpha=rule.alpha)
    plan = Plan.from_settings(settings, *metrics, n_sets=len(resampled))  # type: ignore[arg-type]
    return run_tests(plan, [each.replicates for each in resampled], replace(hypotheses, family=hypotheses.metric))


def _task(rule: Gated, n_tasks: int, of_margin: MarginOutcome | None, error: float | None, **known: Any) -> GateTask:
    """One of so many tasks, before its p is adjusted for the others (:func:`_decided`).

    ``error`` is the standard error by the delta method, and ``known`` has the fields that need no decision.
    """
    test, margin_p, bound, own_error = of_margin or (None, None, None, None)
    p = known["better_pvalue"] if margin_p is None else margin_p
    has_enough = known["n_units"] >= FEWEST
    return GateTask(
        **known,
        standard_error=error if own_error is None else own_error,
        bound=bound,
        margin_test=test,
        margin_pvalue=margin_p,
        worse_adjusted_pvalue=known["worse_pvalue"],
        has_enough=has_enough,
        is_shown=has_enough and (p is None or p <= rule.alpha),
        is_worse=False,
        detectable=detectable_factor(rule.alpha / n_tasks, POWER, "worse") * error if error else None,
        more_units=None,
    )


def _labelled(
    name: str, on: SetData, rule: Gated, sets: Collection[str], resampling: Resampling
) -> tuple[GateTask, list[Scores], list[str]]:
    """What people's labels on a test set say, with the help of the only predictor.

    Also the labels and the predictions, (2, S) of both systems, and the unit and the strata for the signature.
    """
    data, label = on.data, str(rule.human)
    (at,) = labels_among(data, [label])
    others = [m for m in range(len(data.labels)) if m != at]
    if len(others) > 1:
        raise InputError(
            f"{listed([data.labels[m] for m in others])} could predict {label}, but a gate takes one predictor, "
            "which is chosen beforehand: leave out the others"
        )
    design = LabelUnits.of(on.units, data.n_segments)
    scores = scores_by_segment(data, data.count(data.names, resampling))
    base, system, difference = (
        Question.of(scores[at][None], [scores[m] for m in others], *question).answers(design)[-1]
        for question in ((0,), (1,), (1, 0))
    )
    if any(is_selected(each.shift_pvalue, 2) for each in (base, system)):
        warn(
            f"{data.labels[others[0]]} scores the labelled {design.unit}s differently from the others, by more than "
            "chance: unless those with labels were drawn at random, the verdict means nothing"
        )
    # Where labels and predictor are the same for both systems on all segments, no test is needed.
    is_identical = not any(np.nan_to_num(new - old).any() for old, new in scores)
    higher_is_better = data.metrics[at].higher_is_better
    sign = 1 if higher_is_better else -1
    better = replace(difference, mean=sign * difference.mean)
    given = _given_margins(data, rule, of_test_set(rule.margin, name, sets), [at])[at]
    margin = of_margin = None
    known = [own[~np.isnan(own)] for own in scores[at]]
    if given is not None:
        means, deviation = (base.mean, system.mean), float(known[0].std(ddof=1))
        margin = _in_points(given, data.metrics[at], label, name, means, known, lambda: deviation)
        of_margin = MarginOutcome("t-test", 0.0, 0.0)
        if not is_identical:
            bound = sign * better.interval(1 - 2 * rule.alpha)[0]
            of_margin = MarginOutcome("t-test", better.pvalue_above(-margin), bound)
    differ = scores[at][1] - scores[at][0]
    task = _task(
        rule,
        len(sets),
        of_margin,
        difference.standard_error if difference.is_tested or is_identical else None,
        test_set=name,
        metric=label,
        higher_is_better=higher_is_better,
        unit=f"labelled {design.unit}",
        n_units=difference.n,
        n_differing=int((differ[~np.isnan(differ)] != 0).sum()),
        baseline_score=base.mean,
        system_score=system.mean,
        difference=difference.mean,
        margin=margin,
        given_margin=None if given is None else str(given),
        worse_test="t-test",
        worse_pvalue=replace(better, mean=-better.mean).pvalue_above(0.0),
        better_pvalue=better.pvalue_above(0.0) if rule.primary else None,
        lost=(),
    )
    strata = [] if design.strata is None else [f"strata:{design.strata.n_strata}"]
    return task, scores, [f"unit:{design.unit}", *strata]


def _tested(
    name: str,
    on: Resampled,
    rule: Gated,
    given: Sequence[Margin | None],
    worse: Outcome,
    worse_test: str,
    better: Outcome | None,
    n_tasks: int,
) -> Iterator[GateTask]:
    """Each metric on a test set. ``worse`` and ``better`` are the tests that have no margin."""
    data = on.data
    assert isinstance(data, Data)
    margins = [
        None if margin is None else _points_on(margin, sample, label, name)
        for margin, sample, label in zip(given, on.by_segment, data.labels, strict=True)
    ]
    outcomes = margin_outcomes(on.replicates, margins, rule.alpha)
    primary, ids = _primary(data, rule), data.segment_ids if on.documents is None else on.documents.names
    for m, (sample, of_margin) in enumerate(zip(on.replicates.samples, outcomes, strict=True)):
        ((new, base),) = sample.rows_of([PAIR])
        scored = sample.scored_units([new, base])
        n_units = sample.n_units if scored is None else len(scored)
        (error,) = standard_errors(on.replicates, m, [PAIR])
        n_differing, lost, n_lost = _lost(on, m, ids)
        rounded, written = sample.round_score, given[m]
        yield _task(
            rule,
            n_tasks,
            None if of_margin is None else of_margin._replace(bound=rounded(of_margin.bound)),
            float(error) if math.isfinite(error) else None,
            test_set=name,
            metric=data.labels[m],
            higher_is_better=sample.metric.higher_is_better,
            unit=sample.unit,
            n_units=n_units,
            n_differing=n_differing,
            baseline_score=rounded(float(sample.scores[base])),
            system_score=rounded(float(sample.scores[new])),
            difference=rounded(float(sample.scores[new] - sample.scores[base])),
            margin=margins[m],
            given_margin=None if written is None else str(written),
            worse_test=(worse.test[m] if worse.test is not None else "") or worse_test,
            worse_pvalue=float(worse.pvalue[m]),
            better_pvalue=None if better is None or m not in primary else float(better.pvalue[m]),
            lost=lost,
            n_lost=n_lost,
            n_missing=sample.n_units - n_units,
        )


def _points_on(margin: Margin, sample: Sample, label: str, test_set: str) -> float:
    """The margin in points of the metric. ``sample`` has the segments of the test set."""
    ((new, base),) = sample.rows_of([PAIR])

    def deviation() -> float:
        if isinstance(sample, TextSample):
            raise InputError(
                f"{label} is a function of texts, which has no standard deviation: give its margin in points"
            )
        alone, (row,) = sample.alone([base])
        return math.sqrt(alone.linear.variance(row) * alone.n_units)

    of_segments: list[Scores] = []
    if isinstance(sample, CountSample) and sample.metric.is_mean:
        of_segments = [sample.metric.segment_scores(sample.rows(row)) for row in (new, base)]
    scores = [float(sample.scores[row]) for row in (base, new)]
    return _in_points(margin, sample.metric, label, test_set, scores, of_segments, deviation)


# Of these metrics, 0 is agreement by chance, and the lowest score is -1.
BY_CHANCE = ("kappa", "mcc")


@_about("margin")
def _in_points(
    margin: Margin,
    metric: Metric | CorpusFunction,
    label: str,
    test_set: str,
    scores: Sequence[float],
    of_segments: Sequence[Scores],
    deviation: Callable[[], float],
) -> float:
    """The margin in points, if it can refuse a system. ``scores`` are the baseline's and the other's.

    ``of_segments`` are those of segments that the scores are means of, and ``deviation`` the standard deviation of the
    baseline's. :class:`InputError` if a score of 0 would be allowed, or scores cannot differ by as much.
    """
    score, scale = scores[0], 1.0
    if margin.unit:
        scale = deviation() if margin.unit == "sd" else abs(score) / 100
    if not 0 < scale < math.inf:
        what = "the baseline's score" if margin.unit == "%" else "the standard deviation of the baseline's segments"
        raise InputError(f"the margin of {label} is {margin}, but {what} is {scale:g}: give the margin in points")
    points = margin.value * scale
    lowest = min([*scores, *(float(np.nanmin(each)) for each in of_segments)])
    if metric.higher_is_better and 0 < score < points and lowest >= 0 and metric_key(label) not in BY_CHANCE:
        shown = f"{margin}, which is {points:.4g} points" if margin.unit else str(margin)
        raise InputError(
            f"the margin of {label} is {shown}, and the baseline's score is {score:.4g}, so that a score of 0 would be "
            "allowed: choose a smaller margin, such as {argument}",
            argument=Argument("margin", {f"{test_set}/{label}" if test_set else label: _example(metric)}),
        )
    check_reachable(f"the margin of {label}", points, of_segments, "any system would be allowed")
    return points


def _lost(on: Resampled, m: int, ids: Sequence[str] | None) -> tuple[int, tuple[LostSegment, ...], int | None]:
    """In how many units the systems differ under a metric, those that lost most, and how many lost as much."""
    sample = on.replicates.samples[m]
    ((new, base),) = sample.rows_of([PAIR])
    if isinstance(sample, TextSample):
        return len(sample.differing_units((new, base))), (), None
    alone, (a, b) = sample.alone([new, base])
    n_differing, values = contributions(alone.with_counts(), a, b)
    if values is None or not np.isfinite(values).all():
        return n_differing, (), None
    losses = -values if sample.metric.higher_is_better else values
    most = [int(unit) for unit in np.argsort(-losses, kind="stable")[:MOST_LOST] if losses[unit] > 0]
    scored, by_segment = sample.scored_units([new, base]), on.by_segment[m]
    # Of each segment or document: (2, units), the baseline's first.
    if on.documents is None:
        scores = by_segment.segment_scores(on.names)
    else:
        scores = by_segment.document_scores(on.documents)[list(by_segment.rows_of([PAIR])[0][::-1])]
    found = []
    for unit in most:
        at = unit if scored is None else int(scored[unit])
        number = at + 1 if ids is None else ids[at]
        old, now = scores[:, at].tolist()
        found.append(LostSegment(number, old, now, alone.round_score(float(values[unit]))))
    # The last digits of floats are no differences.
    n_lost = int((losses >= losses[most[-1]] * (1 - 1e-12)).sum()) if most else None
    return n_differing, tuple(found), n_lost


def _decided(
    names: tuple[str, str],
    tasks: Sequence[GateTask],
    adjusted: Scores,
    rule: Gated,
    resampling: Resampling,
    lines: Sequence[str],
    digested: Iterable[bytes],
) -> Gate:
    """The verdict, and what would be enough for another one. ``adjusted``: p of being worse, for all tasks."""
    with_margin = [task for task in tasks if task.margin is not None]
    rooms = [math.inf if task.room is None and task.standard_error == 0 else task.room for task in with_margin]
    known = [room for room in rooms if room is not None]
    # The rule superior does not allow equal systems.
    has_power = rule.rule == "non-inferior" and len(known) == len(tasks) and all(task.has_enough for task in tasks)
    needed = needed_room(len(tasks), rule.alpha) if has_power else None
    judged = tuple(
        replace(
            task,
            worse_adjusted_pvalue=p,
            is_worse=task.has_enough and p <= rule.alpha,
            more_units=more_units(task.n_units, task.room, needed) if needed and task.room else None,
        )
        for task, p in zip(tasks, adjusted.tolist(), strict=True)
    )
    margins = [task.margin for task in with_margin if task.margin is not None]
    digest = hashlib.sha256()
    for part in digested:
        digest.update(part)
    return Gate(
        verdict=verdict_of(rule.rule, judged),
        rule=rule.rule,
        alpha=rule.alpha,
        baseline=names[0],
        system=names[1],
        tasks=judged,
        allowed_if_equal=allowed_if_equal(known, rule.alpha) if has_power else None,
        needed_room=needed,
        n_resamples=resampling.n_resamples,
        seed=resampling.seed,
        digest=digest.hexdigest(),
        trends=(),
        signature=signature.for_gate(lines, rule.rule, margins, rule.alpha, resampling.n_resamples, resampling.seed),
        version=_core.VERSION,
    )


def _counts(resampled: Sequence[Resampled]) -> Iterator[bytes]:
    """The counts, or texts, of both systems on all test sets."""
    for sample in (sample for each in resampled for sample in each.by_segment):
        if isinstance(sample, TextSample):
            yield repr(sample.systems).encode("utf-8", "surrogatepass")
            continue
        alone, rows = sample.alone(list(sample.rows_of([PAIR])[0]))
        assert isinstance(alone, CountSample)
        yield from (np.ascontiguousarray(alone.stored[row], dtype="<i8").tobytes() for row in rows)
