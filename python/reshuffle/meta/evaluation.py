"""The result of a meta-evaluation from the answers to its questions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from .. import _core, signature
from ..metrics.base import Scores
from ..options.declare import taken
from ..results.studies import HumanScores, MetaEvaluation, MetricSystemScore
from ..results.studies.meta import MetaPlan
from .coefficients import TESTS
from .comparing import Answer, Testing
from .material import JudgedSet
from .values import mean_of_scores

# The settings in the signature.
SIGNED = (
    "level", "test_sets", "coefficients", "groupings", "ties", "minimum_difference", "human_scores",
    "scored_segments", "repeats", "tests", "adjust", "interval", "confidence_level", "n_resamples",
)  # fmt: skip


def evaluation(
    level: str,
    sets: Sequence[JudgedSet],
    answers: Sequence[Answer],
    settings: Mapping[str, Any],
    testing: Testing,
    human: Iterable[HumanScores],
    systems: Iterable[MetricSystemScore] = (),
) -> MetaEvaluation:
    """All records, and a plan with all settings."""
    judgments = [each.judgments for each in sets if each.judgments is not None]
    tests = list(dict.fromkeys(answer.question.test for answer in answers if answer.comparisons))
    plan = taken(
        MetaPlan,
        testing,
        level=level,
        test_sets=tuple(each.name for each in sets),
        systems={each.name: tuple(each.systems) for each in sets},
        left_out={each.name: tuple(each.left_out) for each in sets if each.left_out},
        segments={each.name: each.n_segments for each in sets},
        repeats=judgments[0].repeats if judgments else None,
        raw_votes={each.name: each.judgments.n_raw for each in sets if each.judgments is not None},
        raw_ties={each.name: each.judgments.n_raw_ties for each in sets if each.judgments is not None},
        tests=tuple(tests),
        n_resamples=testing.resampling.n_resamples,
        seed=testing.resampling.seed,
        **settings,
    )
    metrics = tuple(m.used for m in sets[0].metrics)
    # A single test set need not have a name.
    signed = {key: plan[key] for key in SIGNED if key in plan and (key != "test_sets" or any(plan[key]))}
    return MetaEvaluation(
        study="meta",
        plan=plan,
        metrics=metrics,
        tables={
            "results": tuple(record for answer in answers for record in answer.results),
            "comparisons": tuple(record for answer in answers for record in answer.comparisons),
            "groups": tuple(record for answer in answers for record in answer.groups),
            "human": tuple(human),
            **({"systems": scored} if (scored := tuple(systems)) else {}),
        },
        truths={name: TESTS[name].null for name in tests if name is not None},
        signature=signature.for_study("meta", signed, testing.resampling.seed, [m.signature for m in metrics]),
        version=_core.VERSION,
    )


def people(test_set: JudgedSet, scores: Scores | None) -> Iterator[HumanScores]:
    """Human scores of each system, and how much was judged. ``scores`` are by default means of scores of segments."""
    n = len(test_set.systems)
    judged = np.zeros((n, test_set.n_segments), dtype=np.bool_)
    counts = np.zeros(n, dtype=np.int64)
    judgments, cells = test_set.judgments, test_set.human_cells
    if judgments is not None:
        for side in (judgments.better, judgments.worse):
            judged[side, judgments.segment] = True
            np.add.at(counts, side, judgments.votes)
    if cells is not None:
        there = ~np.isnan(cells)
        judged |= there
        counts += there.sum(axis=1)
        scores = mean_of_scores(cells) if scores is None else scores
    for at, system in enumerate(test_set.systems):
        score = None if scores is None or np.isnan(scores[at]) else float(scores[at])
        yield HumanScores(test_set.name, system, score, int(judged[at].sum()), int(counts[at]))
