"""Soft pairwise accuracy: do metrics and people agree on how sure it is which of two systems is better?

Thompson, Mathur, Deutsch & Khayrallah 2024 (2024.wmt-1.118).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations, compress

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..inference.pvalues import pvalue, threshold
from ..metrics.base import Scores, thread_count, tolerance
from ..resampling import CountSample, Pairs, Replicates, Tally
from ..resampling.samples import columns_of
from ..seeds import derive_seed
from ..settings import Resampling
from .coefficients import SYSTEM, TESTS
from .comparing import Question, Testing
from .material import JudgedSet
from .metric_scores import MetricScores, mean_sample
from .samples import Agreement, CoreSample, ratio_sample, standardized
from .values import Values

NAME = "soft-accuracy"

# Permutations for the p-values of systems, as in the paper. The number of replicates of tests and intervals is another.
PERMUTATIONS = 1_000

# A formula, its counts, whether lower scores are better, and whether a score is a ratio: see ``_core.meta_soft_drawn``.
Counted = tuple[_core.Metric, NDArray[np.int64], bool, bool]


def soft_question(test_set: JudgedSet, uses_votes: bool, testing: Testing, seed: int) -> Question:
    """Soft pairwise accuracy of all metrics on a test set, with samples for intervals and tests.

    The value is 1 − mean |p_human − p_metric| over all pairs of systems. p is that of a one-sided paired permutation
    test with :data:`PERMUTATIONS` permutations, which people and all metrics have in common: (c + 1)/(R + 1), ties
    included. Native metrics are scored by their formula on the swapped counts. People's scores
    are the mean of their scores of segments, or with ``uses_votes`` the share of votes that a system wins. Only
    segments for which all systems have scores by people and by all metrics are used.

    Cost: R·N²/2 scores for people and each metric, and as many in every draw of an interval.
    """
    material, reasons = _Material.of(test_set, uses_votes)
    n_metrics, inner = len(reasons), derive_seed(seed, "simulation", 0)
    values = Values(np.full(n_metrics, np.nan), np.zeros(n_metrics, dtype=np.int64), None, None, reasons)
    if material is None:
        return Question.on(test_set, SYSTEM, None, NAME, values)
    p_people, p = material.pvalues(replace(testing.resampling, n_resamples=PERMUTATIONS, seed=inner))
    compared = 1 - np.abs(p - p_people).mean(axis=1)
    values.value[material.rows], values.n[material.rows] = compared, len(p_people)
    question = replace(Question.on(test_set, SYSTEM, None, NAME, values), compared=compared, n_common=len(p_people))
    test = testing.test_for("perm-systems")
    if testing.interval is not None:
        drawn = material.drawn(TESTS[testing.interval].unit, compared, inner)
        note = None if drawn else "intervals of soft-accuracy need formulas of the core, not of Python"
        question = replace(question, own=drawn, common=drawn, note=note)
    if test is None:
        return question
    unit = TESTS[test].unit
    if TESTS[test].replicates == "draws":
        drawn = material.drawn(unit, compared, inner)
        return question if drawn is None else replace(question, tested=drawn, test=test)
    swaps = material.swaps(p_people, unit, inner)
    return replace(question, tested=swaps, compared=swaps.scores, test=test)


@dataclass(frozen=True, eq=False)
class _Material:
    """Metrics and people on the segments that all have scored.

    ``rows`` are the metrics that have a value, ``segments`` the numbers of the segments.
    """

    test_set: JudgedSet
    segments: NDArray[np.intp]
    people: CountSample
    rows: list[int]

    @classmethod
    def of(cls, test_set: JudgedSet, uses_votes: bool) -> tuple[_Material | None, tuple[str | None, ...]]:
        """From a test set, and why each metric has no value; None if none has."""
        human = None if uses_votes else test_set.human_cells
        gaps = [None if m.segments is None else np.isnan(m.segments) for m in test_set.metrics]
        complete = [own is not None and not own.all(axis=1).any() for own in gaps]
        there = np.ones(test_set.n_segments, dtype=np.bool_)
        for own in (*compress(gaps, complete), None if human is None else np.isnan(human)):
            if own is not None:
                there &= ~own.any(axis=0)
        people = _people(test_set, human, uses_votes, there)
        if isinstance(people, str):
            return None, (people,) * len(complete)
        segments = np.flatnonzero(there)
        reasons = tuple(
            _constant(m, segments) if enough else "the metric lacks scores of segments of some system"
            for m, enough in zip(test_set.metrics, complete, strict=True)
        )
        rows = [row for row, reason in enumerate(reasons) if reason is None]
        return cls(test_set, segments, people, rows) if rows else None, reasons

    @property
    def metrics(self) -> list[MetricScores]:
        """The metrics that have a value."""
        return [self.test_set.metrics[row] for row in self.rows]

    def pvalues(self, resampling: Resampling) -> tuple[Scores, Scores]:
        """One-sided p-values of all pairs of systems on the same shuffles: people's, and those of each metric.

        The alternative is that the first system of a pair is better. p = (c + 1)/(R + 1), ties included.
        """
        counted = [_counted(_whole(m), m.sign < 0) for m in self.metrics]
        people = _counted(self.people, False)
        known = [each for each in counted if each is not None]
        assert people is not None
        p_people, *p = _core.meta_soft_pvalues(
            people,
            known,
            self.segments.astype(np.uint32),
            permutations=resampling.n_resamples,
            inner_seed=resampling.seed,
            threads=thread_count(resampling.threads),
        )
        lacking = [m for m, own in zip(self.metrics, counted, strict=True) if own is None]
        samples, pairs = (
            [_counts(m, self.segments) for m in lacking],
            combinations(range(len(self.test_set.systems)), 2),
        )
        found, others = iter(p), iter(pair_pvalues(samples, [m.sign for m in lacking], list(pairs), resampling))
        return p_people, np.array([next(others if own is None else found) for own in counted])

    def drawn(self, unit: str, scores: Scores, inner: int) -> CoreSample | None:
        """The sample for draws of this unit, which compute all p-values again; None if a formula is one of Python.

        Pairs of copies of a system are left out.
        """
        counted = [_counted(_counts(m, self.segments), m.sign < 0) for m in self.metrics]
        known = [each for each in counted if each is not None]
        people = _counted(self.people, False)
        if people is None or len(known) < len(counted):
            return None
        drawn = partial(_core.meta_soft_drawn, people, known, unit, permutations=PERMUTATIONS, inner_seed=inner)
        return CoreSample(Agreement(NAME), scores, len(self.segments), drawn=drawn)

    def swaps(self, p_people: Scores, unit: str, inner: int) -> CoreSample:
        """The sample for swaps of standardized scores of segments, whose means are compared."""
        cells = np.full((len(self.rows), len(self.test_set.systems), self.test_set.n_segments), np.nan)
        for own, m in zip(cells, self.metrics, strict=True):
            assert m.segments is not None
            own[:, self.segments] = m.sign * m.segments[:, self.segments]
        cells = np.ascontiguousarray(standardized(cells)).reshape(cells.shape)
        of_all = cells, p_people, self.segments.astype(np.uint32)
        values = _core.meta_soft_values(*of_all, permutations=PERMUTATIONS, inner_seed=inner)
        swapped = partial(_core.meta_soft_permuted, *of_all, unit, permutations=PERMUTATIONS, inner_seed=inner)
        return CoreSample(Agreement(NAME), values, cells.shape[2], swapped)


def _people(test_set: JudgedSet, human: Scores | None, uses_votes: bool, there: NDArray[np.bool_]) -> CountSample | str:
    """Human scores of systems as counts, or why no metric has a value."""
    judgments = test_set.judgments if uses_votes else None
    if len(test_set.systems) < 3:
        return f"{len(test_set.systems)} systems: at least 3 are needed"
    if human is None and judgments is None:
        return "people scored systems, but no segments"
    if there.sum() < 2:
        return "fewer than 2 segments have scores of all systems by people and all metrics"
    if human is not None:
        sample = mean_sample(human[:, there])
    else:
        assert judgments is not None
        won, voted = np.zeros((2, len(judgments.systems), judgments.n_segments), dtype=np.int64)
        np.add.at(won, (judgments.better, judgments.segment), judgments.votes)
        for side in (judgments.better, judgments.worse):
            np.add.at(voted, (side, judgments.segment), judgments.votes)
        sample = ratio_sample("wins", won[:, there], voted[:, there])
    if (sample.totals[:, 1] == 0).any():
        return "a system has no votes on segments that all metrics scored"
    if (sample.counts == sample.counts[:1]).all():
        return "people gave all systems the same scores"
    return sample


def _constant(m: MetricScores, segments: NDArray[np.intp]) -> str | None:
    """Why a metric cannot order any two systems."""
    assert m.segments is not None
    first = m.segments[:, segments[0]]
    if (first != first[0]).any():  # as nearly always
        return None
    cells = m.segments[:, segments]
    return "the metric gives all systems the same scores" if (cells == cells[:1]).all() else None


def pair_pvalues(samples: Sequence[CountSample], signs: Sequence[int], pairs: Pairs, resampling: Resampling) -> Scores:
    """One-sided p-values of all pairs under several metrics, from the same shuffles: (metrics, pairs).

    The alternative is that the first system of a pair is better. A sign of −1 stands for a metric where lower is
    better. p = (c + 1)/(R + 1), ties included.
    """
    found = np.empty((len(samples), len(pairs)))
    a, b = columns_of(pairs)
    for sign, alternative in ((1, "greater"), (-1, "less")):
        rows = [m for m, own in enumerate(signs) if own == sign]
        if not rows:
            continue
        replicates = Replicates([samples[m] for m in rows], resampling)
        scores = np.stack([sample.scores for sample in replicates.samples])
        x, y = scores[:, a], scores[:, b]
        to_reach = threshold(x - y, tolerance(x, y), alternative)
        (counts,) = replicates.run([Tally(alternative, to_reach)], pairs)
        found[rows] = pvalue(counts.astype(np.int64), resampling.n_resamples)
    return found


def _whole(m: MetricScores) -> CountSample:
    """The counts of a metric on all segments, or its scores of segments if it has no counts."""
    if m.sample is not None:
        return m.sample
    assert m.segments is not None
    return mean_sample(m.segments)


def _counts(m: MetricScores, segments: NDArray[np.intp]) -> CountSample:
    """As :func:`_whole`, on these segments."""
    whole = _whole(m)
    return CountSample.from_counts(whole.metric, whole.counts.take(segments, axis=1))


def _counted(sample: CountSample, lower: bool) -> Counted | None:
    """A sample as the core takes it; None if its formula is one of Python."""
    core = sample.metric.core
    ratio = sample.metric.is_mean or isinstance(sample.metric, Agreement)
    return None if core is None else (core, np.ascontiguousarray(sample.counts, dtype=np.int64), lower, ratio)
