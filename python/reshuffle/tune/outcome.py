"""From the runs of an optimizer to their result: weights, scores, course and plan."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import _core, signature
from ..data.corpus import number_of_references
from ..options.declare import chosen as chosen_values
from ..options.declare import options_of
from ..options.tuning import Optimization
from ..results import UsedMetric
from ..results.studies import StartingScores, TuningResult, TuningRun, TuningStep
from ..results.studies.tune import TuningPlan
from .choosing import Chosen
from .course import Course, Run
from .optimizers import FITTERS
from .problem import Problem

# Settings in the signature.
SIGNED = ("optimizer", "options", "replications", "rounds")


def tuning_result(
    course: Course,
    problem: Problem,
    found: Sequence[Run],
    dev: Chosen,
    test: Chosen | None,
    start: StartingScores | None,
    seed: int | None,
) -> TuningResult:
    """The result of all runs, with the plan."""
    seeded = _is_seeded(course)
    test_scores = [None] * len(found) if test is None else [float(score) for score in test.scores]
    runs = tuple(
        TuningRun(int(run.seed) if seeded else None, _weights(run), float(score), on_test)
        for run, score, on_test in zip(found, dev.scores, test_scores, strict=True)
    )
    m, n_references = problem.metric, number_of_references(problem.references)
    line = m.signature(n_references)
    sentence = problem.sentence.segment_signature(n_references) if _uses_sentences(course, problem) else None
    chosen = {"dev": dev} if test is None else {"dev": dev, "test": test}
    method, options, lists = course.method, _values(course.options), problem.lists
    variants = None
    if FITTERS[method.name].variants is not None and len(found) > 1:
        variants = tuple(
            {name: value for name, value in _values(own).items() if value != options[name]}
            for own in course.options_of(len(found))
        )
    plan = TuningPlan(
        optimizer=method.name,
        about=method.about,
        source=method.source,
        options={name: value for name, value in options.items() if value is not None},
        metric=m.name,
        sentence_metric=sentence,
        seed=None if seed is None else int(seed),
        replications=len(found),
        rounds=max(run.trace[-1][0] for run in found),
        decoder=course.kind,
        varies=method.seeded if seeded else None,
        sentences={name: part.lists[0].n_sentences for name, part in chosen.items()},
        entries={name: max(map(len, part.lists)) for name, part in chosen.items()},
        features={"dense": len(lists.names), "sparse": len(problem.names) - len(lists.names)},
        variants=variants,
    )
    steps = tuple(
        TuningStep(i, number, name, step, float(value))
        for i, run in enumerate(found)
        for number, trace in run.trace
        for name, values in trace.items()
        for step, value in enumerate(values)
    )
    tables: dict[str, tuple[Any, ...]] = {"runs": runs, "start": () if start is None else (start,), "trace": steps}
    return TuningResult(
        study="tune",
        plan=plan,
        metrics=(UsedMetric(m.name, line, m.higher_is_better, None, m.source),),
        tables=tables,
        truths={},
        signature=signature.for_study(
            "tune",
            {name: plan[name] for name in SIGNED},
            found[0].seed if seed is None else seed,
            [line, *([] if sentence is None else [sentence])],
        ),
        version=_core.VERSION,
    )


def _is_seeded(course: Course) -> bool:
    """Whether seeds make a difference."""
    return course.method.seeded is not None and getattr(course.options, "method", None) != "lbfgs"


def _uses_sentences(course: Course, problem: Problem) -> bool:
    """Whether the metric of sentences was needed."""
    kind = course.method.optimizes
    return (kind == "sentence" and getattr(course.options, "entry_scores", None) != "moses") or (
        kind == "background" and not problem.gains_bleu
    )


def _values(options: Optimization) -> dict[str, Any]:
    """The options of an optimizer, as plain values by name."""
    return chosen_values(options, *options_of(type(options)))


def _weights(run: Run) -> dict[str, float]:
    """The weights of a run, also those of dense features that are 0: files of weights need all of these."""
    return {**dict.fromkeys(run.problem.lists.names, 0.0), **run.model.weights}
