"""Studentized approximate randomization: each difference is divided by its own standard error.

:mod:`reshuffle.resampling.studentized` defines the statistic. Every pair has a sample of its own, so pairs are shuffled
in groups. All groups have the same shuffles.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from ..lazy import lazy
from ..metrics.base import Scores
from ..metrics.black_box import CorpusFunction
from ..resampling import Pairs, Replicates, Sample, Series
from ..resampling.schemes import shuffle
from ..resampling.studentized import studentize
from .hypotheses import Observed, Outcome
from .pvalues import tolerance, widened
from .randomization import outcome_of_shuffles

__all__ = ["studentized_randomization"]

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
    cells: int

    @classmethod
    def from_observed(cls, observed: Observed, index: int, studentize_all: bool) -> Tested:
        """The hypothesis with this index.

        A function of texts has no gradient, so its difference is not studentized. Unless ``studentize_all``, neither is
        one that puts shuffles in the same order as the studentized difference does.
        """
        sample = observed.replicates.samples[observed.hypotheses.metric[index]]
        pair = int(observed.hypotheses.a[index]), int(observed.hypotheses.b[index])
        if not isinstance(sample.metric, CorpusFunction):
            studentized = studentize(sample.with_counts(), pair)
            if studentize_all or not studentized.follows_difference:
                value, slack = studentized.observed.value, studentized.observed.tolerance
                return cls(index, studentized, (0, 1), value, slack, studentized.arrays[0].size)
            sample, pair = sample.select_pair(pair)
        x, y = sample.scores[list(pair)]
        return cls(index, sample, pair, float(x - y), float(tolerance(x, y)), CELLS)


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
        return widened(statistics, tolerances, self.observed.alternative)

    def outcome(self) -> Outcome:
        """The outcome of the tests."""
        observed, thresholds = self.observed, self.thresholds[:, None]
        shuffled, _ = shuffle(self.replicates, self.pairs, thresholds, observed.alternative, observed.shuffling)
        return outcome_of_shuffles(observed.statistic[[tested.index for tested in self.tested]], shuffled)

    def series(self) -> Iterator[tuple[float, Scores]]:
        """For each hypothesis the threshold, and the statistic on every shuffle: (R,)."""
        (statistics,) = self.replicates.run([Series()], self.pairs)
        return zip(self.thresholds.tolist(), statistics[:, 0], strict=True)


def _groups(observed: Observed, indices: Iterable[int], studentize_all: bool) -> Iterator[Group]:
    """Groups of the hypotheses with these indices, in their order."""
    group = Group(observed)
    for index in indices:
        tested = Tested.from_observed(observed, index, studentize_all)
        if not group.has_room(tested):
            yield group
            group = Group(observed)
        group.tested.append(tested)
    yield group


def studentized_randomization(observed: Observed) -> Outcome:
    """Count the shuffles whose studentized difference is at least as extreme as the observed one."""
    groups = _groups(observed, range(len(observed.hypotheses)), studentize_all=False)
    return Outcome.concatenate([group.outcome() for group in groups])
