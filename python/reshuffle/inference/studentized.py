"""Studentized approximate randomization: each difference is divided by its own standard error.

:mod:`reshuffle.resampling.studentized` defines the statistic. Every pair has a sample of its own, so pairs are shuffled
in groups. All groups have the same shuffles.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

import numpy as np

from ..lazy import lazy
from ..metrics.base import Scores, tolerance
from ..metrics.black_box import CorpusFunction
from ..resampling import Pairs, Replicates, Sample, Series, Spread, extremeness
from ..resampling.schemes import shuffle
from ..resampling.studentized import studentize
from .hypotheses import Observed, Outcome
from .multiplicity import StepDown, Unadjusted, extremeness_to_reach, step_down_max, step_down_min
from .pvalues import threshold
from .randomization import outcome_of_shuffles

__all__ = ["MAX_T", "MIN_P", "as_studentized", "studentized_randomization"]

# Hypotheses are shuffled together, so that they share the random flips, while their counts have at most this many
# numbers.
CELLS = 1 << 22


@dataclass(frozen=True, eq=False)
class Tested:
    """A hypothesis as it is tested: a sample, the pair of systems in it, and the observed statistic.

    Another statistic that differs by no more than ``tolerance`` is a tie.
    """

    index: int
    sample: Sample
    pair: tuple[int, int]
    statistic: float
    tolerance: float
    error: float
    cells: int

    @classmethod
    def from_observed(cls, observed: Observed, index: int) -> Tested:
        """The hypothesis with this index.

        The difference of a function of texts is not studentized, because the function has no gradient. If shuffles have
        the same order with and without studentization, the plain difference is tested, because it may have an exact
        test; but not if an adjustment or an interval needs the studentized difference of every shuffle.
        """
        sample = observed.replicates.samples[observed.hypotheses.metric[index]]
        pair = int(observed.hypotheses.a[index]), int(observed.hypotheses.b[index])
        if not isinstance(sample.metric, CorpusFunction):
            studentized = studentize(sample.with_counts(), pair)
            if observed.every_statistic or not studentized.follows_difference:
                _, error, value, slack = studentized.observed
                return cls(index, studentized, (0, 1), value, slack, error, studentized.arrays[0].size)
            sample, pair = sample.select_pair(pair)
            error = studentized.observed.error
        else:
            error = math.nan
        x, y = sample.scores[list(pair)]
        return cls(index, sample, pair, float(x - y), float(tolerance(x, y)), error, CELLS)


@dataclass(frozen=True, eq=False)
class Group:
    """Hypotheses that are shuffled together."""

    observed: Observed
    tested: list[Tested] = field(default_factory=list)

    def has_room(self, more: Tested) -> bool:
        """Can this hypothesis be added?"""
        cells = sum(tested.cells for tested in self.tested)
        return not self.tested or (more.pair == self.pairs[0] and cells + more.cells <= CELLS)

    @property
    def pairs(self) -> Pairs:
        """The pair of systems, the same in all samples."""
        return [self.tested[0].pair]

    @lazy
    def replicates(self) -> Replicates:
        """The shuffles of all samples."""
        return self.observed.replicates.with_samples([tested.sample for tested in self.tested])

    @lazy
    def thresholds(self) -> Scores:
        """The values that the statistic of a shuffle must reach to count: (n,)."""
        statistics = np.array([tested.statistic for tested in self.tested])
        tolerances = np.array([tested.tolerance for tested in self.tested])
        return threshold(statistics, tolerances, self.observed.alternative)

    def outcome(self) -> Outcome:
        """The outcome of the tests. ``extra`` has the thresholds, then the results of ``Observed.extra``: (n,) each."""
        observed = self.observed
        shuffled, results = shuffle(
            self.replicates,
            self.pairs,
            self.thresholds[:, None],
            observed.alternative,
            observed.shuffling,
            observed.extra,
            # As if all pairs shared the shuffles, so that ``auto`` chooses as for the test ``ar``.
            shuffled_together=observed.hypotheses.pairs,
        )
        statistic = observed.statistic[[tested.index for tested in self.tested]]
        extra = [self.thresholds, *[result[:, 0] for result in results]]
        outcome = outcome_of_shuffles(statistic, shuffled, extra)
        return replace(outcome, standard_error=np.array([tested.error for tested in self.tested]))

    def extremeness(self) -> Iterator[Scores]:
        """How extreme the statistic of each hypothesis is on every shuffle: (R,) each."""
        (statistics,) = self.replicates.run([Series()], self.pairs)
        for of_metric in statistics:
            yield extremeness(of_metric[0], self.observed.alternative)


def _groups(observed: Observed, indices: Iterable[int]) -> Iterator[Group]:
    """Groups of the hypotheses with these indices, in their order."""
    group = Group(observed)
    for index in indices:
        tested = Tested.from_observed(observed, index)
        if not group.has_room(tested):
            yield group
            group = Group(observed)
        group.tested.append(tested)
    yield group


def studentized_randomization(observed: Observed) -> Outcome:
    """Count the shuffles whose studentized difference is at least as extreme as the observed one.

    ``extra`` has the (H,) thresholds, then the results of ``Observed.extra``.
    """
    outcomes = [group.outcome() for group in _groups(observed, range(len(observed.hypotheses)))]
    extra = [np.concatenate(arrays) for arrays in zip(*[outcome.extra for outcome in outcomes], strict=True)]
    return replace(Outcome.concatenate(outcomes), extra=extra)


class _Shuffles:
    """The extremeness of every hypothesis on every shuffle, divided by ``spreads``, and that of the observed ones."""

    def __init__(self, tests: Unadjusted, spreads: Scores | float) -> None:
        self.observed = tests.observed
        to_reach = extremeness_to_reach(tests.outcome.extra[0], self.observed.alternative)
        self.spreads = np.broadcast_to(spreads, to_reach.shape)
        # A function of identical texts always has the difference 0, so every shuffle reaches it and p is 1.
        self.to_reach = np.divide(to_reach, self.spreads, out=np.zeros_like(to_reach), where=self.spreads > 0)

    def extremeness(self, order: Sequence[int]) -> Iterator[Scores]:
        """That of the hypotheses with these indices: (R,) each."""
        each = chain.from_iterable(group.extremeness() for group in _groups(self.observed, order))
        for h, extreme in zip(order, each, strict=True):
            yield extreme / self.spreads[h] if self.spreads[h] > 0 else np.zeros_like(extreme)


def _max_t(tests: Unadjusted) -> Scores:
    """Step-down maxT: (H,). Differences that are not studentized are divided by their standard deviations."""
    _, spreads = tests.outcome.extra
    studentized = ~np.isnan(_errors(tests))
    shuffles = _Shuffles(tests, np.where(studentized, 1.0, spreads))
    return step_down_max(tests.observed, shuffles.to_reach, shuffles.extremeness)


def _min_p(tests: Unadjusted) -> Scores:
    """Step-down minP, for which the scale of a statistic does not matter: (H,)."""
    shuffles = _Shuffles(tests, 1.0)
    return step_down_min(tests.observed, shuffles.to_reach, tests.outcome.exceedances + 1, shuffles.extremeness)


def _errors(tests: Unadjusted) -> Scores:
    """The standard errors, NaN for functions of texts: (H,)."""
    assert tests.outcome.standard_error is not None
    return tests.outcome.standard_error


MAX_T = StepDown(_max_t, extra=(Spread(),))
MIN_P = StepDown(_min_p)


def as_studentized(replicates: Replicates) -> Replicates:
    """The same replicates of two systems with their studentized difference as the statistic.

    Unchanged if shuffles have the same order by the difference.
    """
    (sample,) = replicates.samples
    studentized = studentize(sample.with_counts(), (0, 1))
    return replicates if studentized.follows_difference else replicates.with_samples([studentized])
