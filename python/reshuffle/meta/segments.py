"""``segments``: do the scores of metrics agree with people segment by segment?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations

import numpy as np

from .. import _core
from ..errors import InputError, either
from ..grouping import grouped
from ..metrics.base import Counts, Scores
from ..options.declare import called_with
from ..options.meta import Segments
from ..progress import reported
from ..resampling import CountSample
from ..resampling.units import Strata
from ..results.studies import MetaEvaluation
from .coefficients import COEFFICIENTS, SEGMENT, TESTS
from .comparing import Answer, Question, Testing, answered, averages_of, set_seed
from .costs import check_costs
from .evaluation import evaluation, people
from .jackknife import FEWEST, LeftOut, Votes, two_way, values_left_out, votes_left_out
from .material import JudgedSet, as_sets
from .samples import Agreement, Cells, CoreSample, matrix_sample, ratio_sample, standardized
from .values import NO_SEGMENTS, NO_VOTES, Values, in_steps, matrix_values, tau_parts, vote_values

# What is asked by default: of votes, and of human scores.
OF_VOTES = ("tau",)
OF_SCORES = ("pearson", "kendall-b", "acc23")
# What a question costs by its grouping, in questions about votes.
COSTS = {"votes": 1.0, "item": 20.0, "none": 100.0}


@called_with(Segments)
def segments(options: Segments) -> MetaEvaluation:
    """How well metrics agree with people segment by segment, with intervals and tests of all pairs of metrics.

    Returns
    -------
    MetaEvaluation
        A value that is not defined is NaN, and its ``reason`` says why.

    Raises
    ------
    InputError
        For unknown names, settings that cannot be combined, and coefficients for which people's judgments are of the
        wrong kind.

    Notes
    -----
    A value uses all scores of its metric. Differences, their tests and the ranking use the votes or cells for which
    people and all metrics have scores. Cost: τ from votes is resampled as sums of counts. Other coefficients are
    computed anew in every replicate. ``acc23`` and ``tau23`` calibrate ties on all pairs of outputs of a group, of
    which there may be 2²⁴ with intervals or tests ``perm-*`` and ``boot-*``; a warning says if that takes minutes.
    ``t-both`` compares all outputs of a group with each other once. Memory: 16·M·N·S bytes for M metrics, and 8·M·R for
    the draws.

    Examples
    --------
    >>> from reshuffle.meta import Judgments, ScoreTable, JudgedSet, segments
    >>> votes = Judgments.from_votes(["a", "b"], 6, segment=[0, 1, 2, 3, 4, 5], better=[0] * 5 + [1],
    ...                              worse=[1] * 5 + [0])
    >>> scores = {"good": [[3, 3, 3, 3, 3, 1], [2, 2, 2, 2, 2, 2]], "poor": [[3, 1, 3, 1, 2, 3], [2, 2, 2, 2, 2, 2]]}
    >>> metrics = [ScoreTable(name, ("a", "b"), np.array(own, dtype=float), None, True) for name, own in scores.items()]
    >>> result = segments(JudgedSet.from_scores(metrics, judgments=votes), n_resamples=999)
    >>> [(each.metric, round(each.value, 3), each.n) for each in result.results]
    [('good', 1.0, 6), ('poor', -0.167, 6)]
    >>> result.comparisons[0].difference > 1, result.comparisons[0].pvalue < 0.2
    (True, True)
    """
    sets = as_sets(options.test_sets)
    with reported(options.progress) as watched:
        testing = Testing.on(sets, options, watched)
        answers: list[Answer] = []
        asked = [(each, *question) for each in sets for question in _questions(options, each)]
        check_costs(asked, testing)
        testing.announce(
            [(f"{name} {each.name}".rstrip(), COSTS.get(grouping, COSTS["none"])) for each, grouping, name in asked]
        )
        for test_set, grouping, coefficient in asked:
            if grouping == "votes":
                question = _of_votes(test_set.name, [test_set], coefficient, options, testing)
            else:
                question = _of_cells(test_set, grouping, coefficient, testing)
            answers.append(
                answered(question, testing, set_seed(testing.resampling.seed, sets.index(test_set), len(sets)))
            )
        if not answers:
            raise InputError("people scored systems but no segments: use meta.systems (reshuffle meta systems)")
        if len(sets) > 1:
            answers += list(_over_sets(sets, answers, options, testing))
        plan = {
            "coefficients": list(dict.fromkeys(answer.question.coefficient for answer in answers)),
            "groupings": list(dict.fromkeys(answer.question.grouping for answer in answers)),
            "ties": options.ties,
            "minimum_difference": options.minimum_difference,
            "average": options.average if len(sets) > 1 else False,
            "pooled": options.pooled and len(sets) > 1,
        }
        return evaluation(SEGMENT, sets, answers, plan, testing, [each for s in sets for each in people(s, None)])


def _questions(options: Segments, test_set: JudgedSet) -> list[tuple[str, str]]:
    """The groupings and coefficients for the judgments of a test set."""
    wanted = options.coefficients
    if wanted is None:
        of_scores = () if test_set.human_cells is None else OF_SCORES
        wanted = (*(OF_VOTES if test_set.judgments is not None else ()), *of_scores)
    found: list[tuple[str, str]] = []
    for name in wanted:
        entry = COEFFICIENTS[name]
        if entry.human == "votes" or name == "darr":
            found.append(("votes", name))
        else:
            own = ("item" if entry.pairs else "none",) if options.groupings is None else options.groupings
            found.extend((grouping, name) for grouping in own)
    return found


def _over_sets(
    sets: Sequence[JudgedSet], answers: Sequence[Answer], options: Segments, testing: Testing
) -> Iterator[Answer]:
    """The averages over test sets, and the values of all votes pooled."""
    by_key = grouped((answer.question.key, answer) for answer in answers)
    for (grouping, coefficient), own in by_key.items():
        if len(own) == len(sets):
            yield from averages_of(own, options.average, testing)
        if options.pooled and grouping == "votes" and len(own) == len(sets):
            question = _of_votes("pooled", sets, coefficient, options, testing)
            yield answered(question, testing, testing.resampling.seed)


def _human_cells(test_set: JudgedSet, coefficient: str) -> Scores:
    """The human scores of segments, higher for better; :class:`InputError` if there are none."""
    cells = test_set.human_cells
    if cells is None:
        raise InputError(
            f"{coefficient} needs human scores of segments, but {test_set.name or 'the test set'} has none: use 'tau' "
            "for votes, or meta.systems (reshuffle meta systems) for scores of systems"
        )
    return cells


def _vote_rows(cells: Scores, votes: Votes, coefficient: str, testing: Testing) -> Counts:
    """Concordant, discordant and tied votes, and those without a score, of each judged segment: (M, S', 4)."""
    rows = _core.meta_votes(np.ascontiguousarray(cells), *votes, **testing.in_core)
    if coefficient == "darr":  # two outputs of which the metric scored only one are no vote
        rows[..., 3] = 0
    return np.ascontiguousarray(rows[:, rows.any(axis=(0, 2))])


def _explained(values: Values, sets: Sequence[JudgedSet]) -> Values:
    """With another reason for metrics that have no scores of segments on any test set."""
    lacking = [all(m.segments is None for m in own) for own in zip(*(each.metrics for each in sets), strict=True)]
    reasons = (NO_SEGMENTS if no else reason for no, reason in zip(lacking, values.reason, strict=True))
    return values._replace(reason=tuple(reasons))


def _of_votes(name: str, sets: Sequence[JudgedSet], coefficient: str, options: Segments, testing: Testing) -> Question:
    """τ of all metrics from the votes of one test set, or of several taken as one."""
    ties = COEFFICIENTS[coefficient].ties or options.ties
    cells = [each.cells for each in sets]
    votes = [_votes_on(each, coefficient, options) for each in sets]
    rows = [_vote_rows(*each, coefficient, testing) for each in zip(cells, votes, strict=True)]
    no_votes = NO_VOTES
    if coefficient == "darr":
        no_votes = (
            "no two outputs of a segment that the metric scored have human scores that differ by "
            f"{options.minimum_difference:g} or more"
        )
    values = _explained(vote_values(np.concatenate(rows, axis=1), ties, no_votes), sets)
    question = replace(Question.on(sets[0], SEGMENT, "votes", coefficient, values), test_set=name, ties=ties)
    chosen = question.rows
    wanted = testing.test_for("t-both")
    for what in (testing.interval, None if wanted is None or TESTS[wanted].replicates != "draws" else wanted):
        if what is not None and TESTS[what].unit != "inputs":
            raise InputError(
                f"{coefficient} has draws of segments only, with all their votes: use 'boot-inputs', got {what!r}"
            )
    own = [each[chosen] for each in rows]
    common = own
    there = [np.where(np.isnan(each[chosen]).any(axis=0), np.nan, each[chosen]) for each in cells]
    if any(each[..., 3].any() for each in own) or coefficient == "darr":
        common = [_vote_rows(*each, coefficient, testing) for each in zip(there, votes, strict=True)]
    n_common = int(sum(each[:1, :, :3].sum() for each in common))
    if not chosen or sum(each.shape[1] for each in common) < 2:
        return replace(question, note="fewer than 2 segments have votes on outputs that all metrics scored")
    samples = [_tau_sample(coefficient, each, ties) for each in (own, common)]
    question = replace(
        question,
        own=samples[0],
        common=samples[1],
        tested=samples[1],
        compared=samples[1].scores,
        n_common=n_common,
        test=wanted,
    )
    if wanted == "t-both":
        return _with_errors(question, lambda: votes_left_out(there, votes, ties), "perm-inputs", testing)
    if wanted in ("perm-both", "perm-systems"):
        if len(sets) > 1:
            return replace(question, tested=None, test=None, note="votes of several test sets have only 'perm-inputs'")
        scaled = np.ascontiguousarray(standardized(there[0]))
        swapped = partial(_core.meta_permuted_votes, scaled, *votes[0], ties, TESTS[wanted].unit)
        sample = CoreSample(Agreement(coefficient), question.compared, scaled.shape[2], swapped)
        return replace(question, tested=sample)
    return question


def _votes_on(test_set: JudgedSet, coefficient: str, options: Segments) -> Votes:
    """The votes of people, or for ``darr`` those that follow from their scores: two outputs that differ enough are one.

    Scores and differences are in steps of their last place: as floats, 70.1 − 45.1 is below 25.
    """
    if coefficient == "darr":
        whole, (steps,) = in_steps(_human_cells(test_set, coefficient)[None])
        # 0.07 · 100 is not 7 as floats.
        votes = votes_of_scores(whole[0], float(f"{options.minimum_difference * steps:.15g}"))
    else:
        judgments = test_set.judgments
        if judgments is None:
            raise InputError(
                f"tau needs votes, but {test_set.name or 'the test set'} has human scores: use "
                f"{either(map(repr, ('darr', *OF_SCORES)))}"
            )
        votes = judgments.segment, judgments.better, judgments.worse, judgments.votes
    segment, better, worse, number = (np.ascontiguousarray(each, dtype=np.int64) for each in votes)
    return segment, better, worse, number


def _with_errors(question: Question, left_out: Callable[[], LeftOut], other: str, testing: Testing) -> Question:
    """The question with standard errors for its t test; if there are none, ``auto`` is the ``other`` test."""
    if len(question.rows) < 2:
        return question
    errors = two_way(left_out())
    if errors is not None:
        return replace(question, tested=None, errors=errors)
    if testing.test == "auto":
        return replace(question, test=other)
    note = (
        f"no p-values: 't-both' needs {FEWEST} systems and {FEWEST} segments that all metrics scored, without each of "
        "which agreement is defined"
    )
    return replace(question, tested=None, test=None, note=note)


def votes_of_scores(human: Scores, least: float) -> tuple[Counts, Counts, Counts, Counts]:
    """Segments, better and worse systems of all pairs of (N, S) human scores that differ by ``least`` or more.

    A pair is one vote. The last array has the numbers of votes, all 1.
    """
    found: list[Counts] = []
    for a, b in combinations(range(len(human)), 2):
        difference = human[a] - human[b]
        segments = np.flatnonzero((np.abs(difference) >= least) & (difference != 0))
        first = difference[segments] > 0
        found.append(np.stack([segments, np.where(first, a, b), np.where(first, b, a), np.ones_like(segments)]))
    segment, better, worse, votes = np.concatenate(found, axis=1) if found else np.empty((4, 0), dtype=np.int64)
    return segment, better, worse, votes


def _tau_sample(coefficient: str, rows: Sequence[Counts], ties: str) -> CountSample:
    """Metrics by τ, from the (M, S', 4) counts of each test set, which are strata of the draws."""
    strata = None
    if len(rows) > 1:
        strata = Strata(np.repeat(np.arange(len(rows)), [each.shape[1] for each in rows]))
    return ratio_sample(coefficient, *tau_parts(np.concatenate(rows, axis=1)[..., :3], ties), strata=strata)


def _of_cells(test_set: JudgedSet, grouping: str, coefficient: str, testing: Testing) -> Question:
    """The agreement of all metrics with human scores of segments."""
    cells, human = test_set.cells, _human_cells(test_set, coefficient)
    where = testing.in_core
    values = _explained(matrix_values(coefficient, grouping, cells, human, where), [test_set])
    question = Question.on(test_set, SEGMENT, grouping, coefficient, values)
    chosen = question.rows
    if not chosen or test_set.n_segments < 2:
        return replace(question, note="there is only one segment" if chosen else None)
    material = Cells(cells[chosen], human)
    compared = values.value[chosen]
    if material.has_gaps:
        compared = matrix_values(coefficient, grouping, material.common, material.human, where).value
        if np.isnan(compared).any():
            return replace(question, note="on the cells that all metrics have, agreement is not defined")
    test, interval = testing.test_for("t-both"), testing.interval
    of_test = None if test is None else TESTS[test]
    swapped = of_test.unit if of_test is not None and of_test.replicates == "shuffles" else "both"
    drawn = "inputs" if interval is None else TESTS[interval].unit
    on_common = coefficient, material.common, material.human, grouping, compared, swapped
    own = tested = common = matrix_sample(*on_common, drawn)
    if material.has_gaps:
        whole, _ = in_steps(cells[chosen])
        own = matrix_sample(coefficient, whole, human, grouping, values.value[chosen], swapped, drawn)
    if of_test is not None and of_test.replicates == "draws" and of_test.unit != drawn:
        tested = matrix_sample(*on_common, of_test.unit)
    question = replace(
        question,
        own=own,
        common=common,
        tested=tested,
        compared=compared,
        n_common=material.n_common,
        test=test,
    )
    if test != "t-both":
        return question

    def left_out() -> LeftOut:
        return values_left_out(coefficient, grouping, material.common, material.human, where)

    return _with_errors(question, left_out, "perm-both", testing)
