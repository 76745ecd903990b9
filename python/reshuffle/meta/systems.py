"""``systems``: do the scores of systems by metrics agree with people?"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from ..data.judgments import Judgments
from ..errors import InputError
from ..metrics.base import Scores
from ..options.declare import called_with
from ..options.meta import Systems
from ..progress import reported
from ..resampling.samples import Batch, resampler_of_sums
from ..results.studies import MetaEvaluation, MetricSystemScore
from .coefficients import SYSTEM, TESTS
from .comparing import Answer, Question, Testing, answered, averages_of, set_seed
from .evaluation import evaluation, people
from .human import HUMAN_SCORES
from .human import human_scores as scores_of_votes
from .material import JudgedSet, as_sets
from .metric_scores import lacks_system, mean_sample
from .samples import (
    Agreement,
    Cells,
    CoreSample,
    DrawnSystems,
    SystemDraws,
    drawn_scores,
    matrix_sample,
    standardized_systems,
)
from .soft_accuracy import soft_question
from .values import mean_of_cells, mean_of_scores, system_values

Flags = NDArray[np.bool_]


@called_with(Systems)
def systems(options: Systems) -> MetaEvaluation:
    """How well metrics agree with people on systems, with intervals and tests of all pairs of metrics.

    Returns
    -------
    MetaEvaluation
        A value that is not defined is NaN, and its ``reason`` says why.

    Raises
    ------
    InputError
        For unknown names, settings that cannot be combined, and human scores that the test sets do not have.

    Notes
    -----
    For metrics computed here, values are those of corpus scores. For intervals from drawn segments, these are computed
    by the metric's formula on every draw, and human scores from the votes or scores of the drawn segments, or left as
    they are where people scored systems as a whole. ``perm-systems`` and ``boot-systems`` swap and draw scores of
    systems. For swaps every metric is scaled like the means of its standardized segment scores, or, if some metric has
    none of these, to standard deviation 1. ``perm-both``, ``perm-inputs`` and ``boot-both`` use means of standardized
    segment scores, as in Deutsch, Dror & Roth 2021 (doi:10.1162/tacl_a_00417), so that their differences are those of
    the means, and so do all tests ``perm-*`` of ``soft-accuracy``.

    Examples
    --------
    >>> import numpy as np
    >>> from reshuffle.meta import ScoreTable, JudgedSet, systems
    >>> names = ("a", "b", "c", "d", "e")
    >>> people = ScoreTable("DA", names, None, np.array([71.0, 74.0, 79.0, 68.0, 80.0]))
    >>> good = ScoreTable("good", names, None, np.array([0.31, 0.35, 0.37, 0.30, 0.40]))
    >>> poor = ScoreTable("poor", names, None, np.array([20.0, 22.0, 21.0, 19.5, 20.5]))
    >>> result = systems(JudgedSet.from_scores([good, poor], human=people), coefficients="pearson")
    >>> [(each.metric, round(each.value, 3)) for each in result.results]
    [('good', 0.97), ('poor', 0.497)]
    >>> result.comparisons[0].test, round(result.comparisons[0].pvalue, 3)
    ('williams', 0.138)
    """
    sets = as_sets(options.test_sets)
    with reported(options.progress) as watched:
        testing = Testing.on(sets, options, watched)
        answers: list[Answer] = []
        testing.announce([(f"{name} {each.name}".rstrip(), 1.0) for each in sets for name in options.coefficients])
        described, kinds, scored = [], [], []
        segments: dict[str, int | None] = {}
        for at, whole in enumerate(sets):
            judged = judged_segments(whole, options.human_scores)
            segments[whole.name] = None if judged is None else len(judged)
            test_set = whole if judged is None or options.scored_segments == "all" else whole.on(judged)
            human = People.of(test_set, options.human_scores)
            described += list(people(whole, human.scores))
            scored += list(_scored(test_set, human.scores))
            kinds.append(human.kind)
            seed = set_seed(testing.resampling.seed, at, len(sets))
            draws = SystemDraws(test_set.metrics, human.scores, human.drawn, test_set.n_segments)
            for coefficient in options.coefficients:
                question = replace(
                    _question(test_set, human, draws, coefficient, testing, seed),
                    segments=[None if m.is_given else test_set.n_segments for m in test_set.metrics],
                    judged_segments=segments[whole.name],
                )
                answers.append(answered(question, testing, seed))
        for coefficient in options.coefficients:
            own = [answer for answer in answers if answer.question.coefficient == coefficient]
            answers += list(averages_of(own, options.average, testing))
        plan = {
            "coefficients": list(options.coefficients),
            "human_scores": ", ".join(dict.fromkeys(kinds)),
            "scored_segments": options.scored_segments,
            "judged_segments": segments,
            "average": options.average if len(sets) > 1 else False,
        }
        return evaluation(SYSTEM, sets, answers, plan, testing, described, scored)


def _scored(test_set: JudgedSet, human: Scores) -> Iterator[MetricSystemScore]:
    """The scores of each system by metrics and people, where there are both."""
    for m in test_set.metrics:
        for system, score, by_people in zip(test_set.systems, m.system_scores.tolist(), human.tolist(), strict=True):
            if not (math.isnan(score) or math.isnan(by_people)):
                yield MetricSystemScore(test_set.name, m.label, system, score, by_people)


def judged_segments(test_set: JudgedSet, wanted: str | None) -> NDArray[np.intp] | None:
    """The segments of which people judged an output; None where they scored systems as a whole.

    ``wanted`` is a name in ``HUMAN_SCORES`` or None, as for :meth:`People.of`.
    """
    human, judgments = test_set.human, test_set.judgments
    if wanted is None and human is not None:
        if human.system_scores is not None or human.segments is None:
            return None
        return np.flatnonzero(~np.isnan(human.segments).all(axis=0))
    if judgments is None:
        return None  # an error of the caller, which People.of explains
    every = judgments if judgments.raw is None else judgments.raw
    return np.asarray(np.unique(np.concatenate([every.segment, every.tied[:, 0]])), dtype=np.intp)


@dataclass(frozen=True, eq=False)
class People:
    """Human scores of systems, higher for better.

    ``kind`` says where they come from: ``given``, ``means`` of scores of segments, or a name in
    :data:`reshuffle.meta.HUMAN_SCORES`. ``drawn`` computes them on draws of segments; None for ``given``. ``cells`` are
    scores of segments, (N, S); rows without a spread where there are none.
    """

    kind: str
    scores: Scores
    cells: Scores
    drawn: Callable[[Batch], Scores] | None

    @classmethod
    def of(cls, test_set: JudgedSet, wanted: str | None) -> People:
        """From the judgments of a test set; ``wanted`` is a name in ``HUMAN_SCORES`` or None."""
        human, judgments = test_set.human, test_set.judgments
        if wanted is not None and judgments is None:
            raise InputError(
                f"human scores {wanted!r} need votes, but {test_set.name or 'the test set'} has none: leave them out"
            )
        if wanted is None and human is not None:
            cells = test_set.human_cells
            means = np.full(len(test_set.systems), np.nan) if cells is None else mean_of_scores(cells)
            if cells is not None and human.system_scores is None:
                return cls("means", means, cells, _drawn_means(cells))
            sign = 1 if human.higher_is_better else -1
            given = means if human.system_scores is None else sign * human.system_scores
            scores = np.where(np.isnan(given), means, given)
            return cls("given", scores, _constant_rows(scores, test_set.n_segments), None)
        assert judgments is not None
        kind = wanted or "wins"
        scores = scores_of_votes(judgments, kind)
        return cls(kind, scores, _constant_rows(scores, test_set.n_segments), _drawn_votes(judgments, kind))


def _constant_rows(scores: Scores, n_segments: int) -> Scores:
    """Cells whose means are the scores."""
    return np.repeat(scores[:, None], n_segments, axis=1)


def _drawn_means(cells: Scores) -> Callable[[Batch], Scores] | None:
    """Human scores from drawn segments: (n, N). None if a system has none."""
    if lacks_system(cells):
        return None
    sample = cache(lambda: mean_sample(cells))
    return lambda batch: drawn_scores(sample(), batch)


def _drawn_votes(judgments: Judgments, kind: str) -> Callable[[Batch], Scores]:
    """Human scores from the votes of drawn segments: (n, N)."""
    every = judgments if judgments.raw is None else judgments.raw
    n, n_segments = len(every.systems), every.n_segments
    tied = every.tied.T
    cells = [every.better * n + every.worse, n * n + tied[1] * n + tied[2], n * n + tied[2] * n + tied[1]]
    # Wins, then ties, of each system against each other one. Most pairs have no ties, which would need memory.
    there, column = np.unique(np.concatenate(cells), return_inverse=True)
    segment = np.concatenate([every.segment, tied[0], tied[0]])
    columns = np.zeros((1, n_segments, len(there)), dtype=np.int64)
    np.add.at(columns[0], (segment, column), np.concatenate([every.votes, np.ones(2 * tied.shape[1], np.int64)]))

    def scores(batch: Batch) -> Scores:
        sums = np.zeros((batch.n, 2 * n * n), dtype=np.int64)
        sums[:, there] = batch.sums(resampler_of_sums("draws", columns))
        wins, ties = np.moveaxis(sums.reshape(batch.n, 2, n, n), 1, 0)
        return HUMAN_SCORES[kind](wins, ties)

    return scores


def _question(
    test_set: JudgedSet, human: People, draws: SystemDraws, coefficient: str, testing: Testing, seed: int
) -> Question:
    """One coefficient on one test set."""
    scores = draws.given
    if coefficient == "soft-accuracy":
        return soft_question(test_set, human.kind not in ("given", "means"), testing, seed)
    values = system_values(coefficient, scores, human.scores)
    question = Question.on(test_set, SYSTEM, None, coefficient, values)
    chosen = question.rows
    if not chosen:
        return question
    there = ~np.isnan(human.scores) & ~np.isnan(scores[chosen]).any(axis=0)
    compared = system_values(coefficient, scores[chosen][:, there], human.scores[there])
    if np.isnan(compared.value).any():
        return replace(question, note="on the systems that all metrics scored, agreement is not defined")
    question = replace(question, compared=compared.value, n_common=int(compared.n[0]))
    automatic = "williams" if coefficient == "pearson" and there.sum() >= 4 else "perm-systems"
    test = testing.test_for(automatic)
    if test == "williams" and there.sum() < 4:
        return replace(question, note="Williams' test needs at least 4 systems that all metrics scored")
    return _with_samples(question, test_set, human, draws, there, test, testing)


def _with_samples(
    question: Question,
    test_set: JudgedSet,
    human: People,
    draws: SystemDraws,
    there: Flags,
    test: str | None,
    testing: Testing,
) -> Question:
    """The question with samples for its test and for intervals."""
    rows = list(question.rows)
    metrics = [test_set.metrics[row] for row in rows]
    named = [name for name in (test, testing.interval) if name not in (None, "williams", "boot-inputs")]
    by_cells = [name for name in named if TESTS[name].unit != "systems"]
    lacking = next((m.label for m in metrics if m.segments is None), None)
    if by_cells and lacking is not None:
        raise InputError(
            f"{' and '.join(map(repr, by_cells))} need{'s' * (len(by_cells) == 1)} scores of segments, but {lacking} "
            "has only scores of systems: use 'perm-systems', 'williams' or no test, and 'boot-systems', 'boot-inputs' "
            "or no interval"
        )
    given = draws.given[rows][:, there]
    cells = None
    if named and lacking is None:
        cells = Cells(test_set.cells[rows], np.where(there[:, None], human.cells, np.nan))
    samples: dict[str, CoreSample] = {}
    for name in dict.fromkeys(named):
        if TESTS[name].unit == "systems":
            scaled = standardized_systems(given, None if cells is None else cells.common[:, there])
            of_cells, of_people, values = scaled[:, :, None], human.scores[there][:, None], question.compared
        else:
            assert cells is not None
            of_cells, of_people = cells.common, cells.human
            means = np.stack([mean_of_cells(own) for own in of_cells])
            values = system_values(question.coefficient, means, mean_of_scores(of_people)).value
        unit = TESTS[name].unit
        samples[name] = matrix_sample(question.coefficient, of_cells, of_people, "system", values, unit, unit)
    if any(np.isnan(sample.scores).any() for sample in samples.values()):
        return replace(question, note="on means of scores of segments, agreement is not defined")
    drawn: DrawnSystems | None = None
    if draws.n_segments > 1 and draws.varies:
        drawn = DrawnSystems(
            metric=Agreement(question.coefficient),
            scores=question.compared,
            n_units=draws.n_segments,
            draws=draws,
            rows=question.rows,
            systems=np.flatnonzero(there),
        )
    if drawn is None and testing.interval == "boot-inputs":
        question = replace(question, note="no interval, because there are no scores of segments to draw")
    common = drawn if testing.interval is None else samples.get(testing.interval, drawn)
    if test == "williams":
        return replace(question, own=common, common=common, vectors=[human.scores[there], *given], test=test)
    tested = drawn if test is None else samples.get(test, drawn)
    compared = question.compared if tested is None else tested.scores
    return replace(question, own=common, common=common, tested=tested, compared=compared, test=test)
