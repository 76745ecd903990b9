"""Studentized approximate randomization: each difference is divided by its own standard error.

:mod:`reshuffle.resampling.studentized` defines the statistic. Every pair has a sample of its own, so pairs are shuffled
in groups. All groups have the same shuffles.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from ..lazy import lazy
from ..metrics.base import Scores, tolerance
from ..metrics.black_box import CorpusFunction
from ..resampling import Pairs, Replicates, Sample, Series, extremeness, reached
from ..resampling.histograms import HistogramArray, histogram
from ..resampling.schemes import Shuffled, shuffle
from ..resampling.studentized import studentize
from .hypotheses import Observed, Outcome
from .pvalues import threshold
from .randomization import outcome_of_shuffles
from .step_down import (
    Adjusted,
    Band,
    StepDown,
    critical_values,
    extremeness_to_reach,
    step_down_max,
    step_down_min,
)

# Hypotheses are shuffled together, so that they share the random flips, while their counts have at most this many
# numbers.
CELLS = 1 << 22
# Counts of hypotheses that are kept until their shuffles, instead of being computed again: 128 MB.
KEPT_CELLS = 1 << 24


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
        m, a, b = observed.hypotheses.indices(index)
        sample, pair = observed.replicates.samples[m], (a, b)
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
    """Hypotheses that are shuffled together. ``n_kept`` is how many statistics of each are kept."""

    observed: Observed
    tested: list[Tested] = field(default_factory=list)
    n_kept: int = 0

    def has_room(self, more: Tested) -> bool:
        """Can this hypothesis be added?"""
        cells = sum(tested.cells for tested in self.tested)
        kept = self.n_kept * (len(self.tested) + 1)
        return not self.tested or (more.pair == self.pairs[0] and max(cells + more.cells, kept) <= CELLS)

    @property
    def pairs(self) -> Pairs:
        """The pair of systems, the same in all samples."""
        return [self.tested[0].pair]

    @lazy
    def replicates(self) -> Replicates:
        """The shuffles of all samples."""
        return self.observed.replicates.with_samples([tested.sample for tested in self.tested])

    @property
    def statistic(self) -> Scores:
        """The observed statistics: (n,)."""
        return np.array([tested.statistic for tested in self.tested])

    @lazy
    def thresholds(self) -> Scores:
        """The values that the statistic of a shuffle must reach to count: (n,)."""
        tolerances = np.array([tested.tolerance for tested in self.tested])
        return threshold(self.statistic, tolerances, self.alternatives)

    @property
    def alternatives(self) -> NDArray[np.str_]:
        """The alternative of each hypothesis: (n,)."""
        return self.observed.each_alternative[[tested.index for tested in self.tested]]

    def outcome(self) -> Outcome:
        """The outcome of the tests.

        ``extra`` has the thresholds, the tolerances and the results of ``Observed.extra``: (n,) each.
        """
        observed = self.observed
        shuffled, results = shuffle(
            self.replicates,
            self.pairs,
            self.thresholds[:, None],
            self.alternatives.tolist(),
            observed.shuffling,
            observed.extra,
            # As if all pairs shared the shuffles, so that ``auto`` chooses as for the test ``ar``.
            shuffled_together=observed.hypotheses.pairs,
            histograms=observed.histograms,
        )
        differences = observed.statistic[[tested.index for tested in self.tested]]
        tolerances = np.array([tested.tolerance for tested in self.tested])
        extra = [self.thresholds, tolerances, *[result[:, 0] for result in results]]
        outcome = outcome_of_shuffles(differences, shuffled, extra, self.statistic)
        return replace(outcome, standard_error=np.array([tested.error for tested in self.tested]))

    def statistics(self) -> Iterator[Scores]:
        """The statistic of each hypothesis on every shuffle: (R,) each."""
        (statistics,) = self.replicates.run([Series()], self.pairs)
        for of_metric in statistics:
            yield of_metric[0]


def _groups(observed: Observed, hypotheses: Iterable[Tested], n_kept: int = 0) -> Iterator[Group]:
    """Groups of these hypotheses, in their order."""
    group = Group(observed, n_kept=n_kept)
    for tested in hypotheses:
        if not group.has_room(tested):
            yield group
            group = Group(observed, n_kept=n_kept)
        group.tested.append(tested)
    if group.tested:
        yield group


def _statistics(observed: Observed, hypotheses: Iterable[Tested]) -> Iterator[Scores]:
    """The statistic of each of these hypotheses on every shuffle: (R,) each."""
    groups = _groups(observed, hypotheses, observed.replicates.n_resamples)
    return chain.from_iterable(group.statistics() for group in groups)


def studentized_randomization(observed: Observed) -> Outcome:
    """Count the shuffles whose studentized difference is at least as extreme as the observed one.

    ``extra`` has the (H,) thresholds, the tolerances and the results of ``Observed.extra``.
    """
    hypotheses = (Tested.from_observed(observed, index) for index in range(len(observed.hypotheses)))
    outcomes = [group.outcome() for group in _groups(observed, hypotheses)]
    extra = [np.concatenate(arrays) for arrays in zip(*[outcome.extra for outcome in outcomes], strict=True)]
    return replace(Outcome.concatenate(outcomes), extra=extra)


class _OnePass:
    """The test and its step-down maxT, from one pass over the shuffles.

    A studentized difference needs no further scale, so the order of the steps is known before the shuffles. The
    differences of functions of texts are divided by their standard deviations over the shuffles, so they are shuffled
    first, and all their statistics are kept.

    Attributes
    ----------
    thresholds : (H,) ndarray of float
        The values that the statistics of shuffles must reach to count.
    errors, scales : (H,) ndarray of float
        The standard errors, NaN for functions of texts; and the divisors of the differences.
    to_reach : (H,) ndarray of float
        The extremeness of the observed statistics, with the differences of functions of texts divided by their scale.
    exceedances : (H,) ndarray of int
        The counts of shuffles that reach the threshold, once :meth:`extremeness` has seen the hypothesis.
    statistics : (H,) ndarray of float
        The observed statistics.
    histograms : (H,) ndarray of Histogram or None, or None
        The null distributions, if they were requested. :meth:`extremeness` fills in that of each hypothesis.
    """

    def __init__(self, observed: Observed) -> None:
        n = len(observed.hypotheses)
        self.observed = observed
        self.kept: dict[int, Tested] = {}
        self.of_texts: dict[int, Scores] = {}
        self.exceedances = np.empty(n, dtype=np.int64)
        statistics, tolerances, self.errors, divisors = np.empty((4, n))
        cells = 0
        for h in range(n):
            tested = Tested.from_observed(observed, h)
            statistics[h], tolerances[h], self.errors[h] = tested.statistic, tested.tolerance, tested.error
            divisors[h] = 1.0
            if math.isnan(tested.error):
                (self.of_texts[h],) = _statistics(observed, [tested])
                divisors[h] = np.sqrt((self.of_texts[h] ** 2).mean())
            elif cells + tested.cells <= KEPT_CELLS:
                cells += tested.cells
                self.kept[h] = tested
        self.thresholds = threshold(statistics, tolerances, observed.each_alternative)
        self.divisors = divisors
        self.scales = np.where(np.isnan(self.errors), divisors, self.errors)
        to_reach = extremeness_to_reach(self.thresholds, observed.each_alternative)
        # A function of identical texts always has the difference 0, so every shuffle reaches it and p is 1.
        self.to_reach = np.divide(to_reach, divisors, out=np.zeros(n), where=divisors > 0)
        self.statistics = statistics
        self.histograms: HistogramArray | None = np.empty(n, dtype=np.object_) if observed.histograms else None

    def extremeness(self, order: Sequence[int]) -> Iterator[Scores]:
        """How extreme the statistics of the hypotheses with these indices are on every shuffle: (R,) each."""
        alternatives = self.observed.each_alternative
        studentized = _statistics(self.observed, (self._tested(h) for h in order if h not in self.of_texts))
        for h in order:
            statistics = self.of_texts.pop(h) if h in self.of_texts else next(studentized)
            self.exceedances[h] = np.count_nonzero(reached(statistics, self.thresholds[h], alternatives[h]))
            if self.histograms is not None:
                self.histograms[h] = histogram(statistics)
            extreme = extremeness(statistics, alternatives[h])
            yield extreme / self.divisors[h] if self.divisors[h] > 0 else np.zeros_like(extreme)

    def _tested(self, h: int) -> Tested:
        return self.kept.pop(h) if h in self.kept else Tested.from_observed(self.observed, h)


def _randomization_with_max_t(observed: Observed) -> Outcome:
    """As :func:`studentized_randomization`. ``extra`` has the p-values adjusted by step-down maxT."""
    one_pass = _OnePass(observed)
    families, n = observed.hypotheses.families(), observed.replicates.n_resamples
    pvalues, largest = step_down_max(families, n, one_pass.to_reach, one_pass.extremeness)
    shuffled = Shuffled("iid", one_pass.exceedances, n, null=one_pass.histograms)
    band = Band(partial(critical_values, largest), one_pass.to_reach, one_pass.scales, one_pass.scales)
    outcome = outcome_of_shuffles(observed.statistic, shuffled, [Adjusted(pvalues, (band,))], one_pass.statistics)
    return replace(outcome, standard_error=one_pass.errors)


def _from_outcome(observed: Observed, outcome: Outcome) -> Adjusted:
    """The adjusted p-values that the test has found."""
    (adjusted,) = outcome.extra
    assert isinstance(adjusted, Adjusted)
    return adjusted


def _min_p(observed: Observed, outcome: Outcome) -> Adjusted:
    """Step-down minP, for which the scale of a statistic does not matter."""
    thresholds, tolerances = outcome.extra
    alternatives = observed.each_alternative
    to_reach = extremeness_to_reach(thresholds, alternatives)

    def series(order: Sequence[int]) -> Iterator[Scores]:
        statistics = _statistics(observed, (Tested.from_observed(observed, h) for h in order))
        return map(extremeness, statistics, alternatives[order])

    return Adjusted(step_down_min(observed, (to_reach, tolerances), outcome.exceedances + 1, series))


MAX_T = StepDown(_from_outcome, run=_randomization_with_max_t, has_bands=True)
MIN_P = StepDown(_min_p)


def as_studentized(replicates: Replicates) -> Replicates:
    """The same replicates of two systems with their studentized difference as the statistic.

    Unchanged if shuffles have the same order by the difference.
    """
    (sample,) = replicates.samples
    studentized = studentize(sample.with_counts(), (0, 1))
    return replicates if studentized.follows_difference else replicates.with_samples([studentized])
