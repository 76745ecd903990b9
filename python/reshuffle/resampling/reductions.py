"""Reductions: what is kept of the replicates, such as a tally or a maximum. A new one is a class here and one in Rust.

A reduction has two implementations. Rust computes it for the samples that Rust scores (:meth:`Reduction.core`,
:meth:`Reduction.rows_from_core`). For samples that are scored in Python, an :class:`Accumulator` is updated with one
batch of replicates after another (:meth:`Reduction.accumulator`). Both return one row per metric, and
:meth:`Reduction.combine` builds the result from the rows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from ..metrics.base import Scores
from .histograms import HistogramArray, histograms_from_core
from .samples import Pairs

Indices = Sequence[int]
Row = TypeVar("Row")
Result = TypeVar("Result")


# ``two-sided``, ``greater`` or ``less``: one for all statistics, or an array of them that broadcasts to the statistics.
Alternative: TypeAlias = "str | NDArray[np.str_]"


def directed(alternative: str, higher_is_better: bool) -> str:
    """What ``better`` and ``worse`` mean under a metric: ``greater`` or ``less``. Other alternatives are unchanged.

    >>> directed("better", True), directed("better", False), directed("two-sided", False)
    ('greater', 'less', 'two-sided')
    """
    if alternative not in ("better", "worse"):
        return alternative
    return "greater" if (alternative == "better") == higher_is_better else "less"


def signs(alternative: Alternative) -> NDArray[np.int64]:
    """1 for ``greater``, −1 for ``less``, and 0 for ``two-sided``."""
    names = np.asarray(alternative)
    return np.asarray((names == "greater").astype(np.int64) - (names == "less"))


def reached(statistics: Scores, thresholds: ArrayLike, alternative: Alternative) -> NDArray[np.bool_]:
    """Which statistics are at least as extreme as their threshold. Tallies in Rust use the same rule.

    >>> reached(np.array([-2.0, 1.0, 2.0]), 2.0, "two-sided")
    array([ True, False,  True])
    """
    sign = signs(alternative)
    if not sign.any():
        return np.asarray(np.abs(statistics) >= thresholds)
    return np.asarray(sign * statistics >= sign * np.asarray(thresholds))


def extremeness(statistics: Scores, alternative: Alternative) -> Scores:
    """How extreme statistics are; larger is more extreme.

    >>> extremeness(np.array([-2.0, 1.0]), "less")
    array([ 2., -1.])
    """
    sign = signs(alternative)
    return np.asarray(sign * statistics) if sign.any() else np.abs(statistics)


def _of_metrics(alternative: str | Sequence[str], metrics: Indices) -> str | list[str]:
    """The alternatives of these metrics, from one for all metrics or one for each."""
    return alternative if isinstance(alternative, str) else [alternative[m] for m in metrics]


def _of_metric(alternative: str | Sequence[str], metric: int) -> str:
    return alternative if isinstance(alternative, str) else alternative[metric]


class Accumulator(ABC, Generic[Row]):
    """The state of a reduction for one metric that is scored in Python."""

    @property
    def active(self) -> Indices | None:
        """The pairs that need more replicates; None for all."""
        return None

    @abstractmethod
    def update(self, statistics: Scores) -> None:
        """Add the next replicates: (active pairs or systems, n)."""

    @property
    @abstractmethod
    def row(self) -> Row:
        """The result for this metric."""

    @property
    def part(self) -> Any:
        """The state after some replicates, for :meth:`add_part` in another process: arrays."""
        raise NotImplementedError(f"{type(self).__name__} takes the replicates in order")

    def add_part(self, part: Any) -> None:
        """Add the replicates that follow, from the state of another accumulator."""
        raise NotImplementedError(f"{type(self).__name__} takes the replicates in order")


class Reduction(ABC, Generic[Row, Result]):
    """What to keep of the replicates. ``kind`` says of which: ``shuffles``, ``draws`` or ``permutations``.

    With ``in_parts``, other processes can compute ranges of the replicates, whose results are merged.
    """

    kind: ClassVar[str] = "shuffles"
    in_parts: ClassVar[bool] = True

    @abstractmethod
    def core(self, pairs: Pairs, metrics: Indices) -> Any:
        """The reduction in Rust for the metrics with these indices."""

    @abstractmethod
    def rows_from_core(self, reduction: Any, n_systems: Sequence[int]) -> Sequence[Row]:
        """The rows of a finished reduction in Rust. ``n_systems`` has the number of systems of each of its metrics."""

    @abstractmethod
    def accumulator(self, width: int, metric: int, n: int) -> Accumulator[Row]:
        """An empty accumulator for one metric, ``width`` pairs of shuffles or systems, and n replicates."""

    @abstractmethod
    def combine(self, rows: Sequence[Row]) -> Result:
        """The result for all metrics from their rows, in the order of the metrics."""


class _ArrayReduction(Reduction["NDArray[Any]", "NDArray[Any]"]):
    """A reduction whose result is an array with one row per metric."""

    def combine(self, rows: Sequence[NDArray[Any]]) -> NDArray[Any]:
        """See :meth:`Reduction.combine`."""
        return np.array(rows)


class _CountReduction(_ArrayReduction):
    """Counts of shuffles for each metric and pair."""

    def rows_from_core(self, reduction: Any, n_systems: Sequence[int]) -> Sequence[NDArray[np.int64]]:
        """See :meth:`Reduction.rows_from_core`."""
        return list(reduction.counts.astype(np.int64))


def _select_rows(array: NDArray[Any], metrics: Indices) -> NDArray[Any]:
    """The rows of these metrics, which are in ascending order; without a copy if they are all metrics."""
    return np.ascontiguousarray(array if len(metrics) == len(array) else array[metrics])


@dataclass(frozen=True, eq=False)
class Tally(_CountReduction):
    """How many shuffles reach each threshold: (metrics, pairs) in and out. Memory does not depend on R.

    ``alternative`` is one for all metrics, or a sequence with that of each.
    """

    alternative: str | Sequence[str]
    thresholds: Scores

    def core(self, pairs: Pairs, metrics: Indices) -> _core.Tally:
        """See :meth:`Reduction.core`."""
        return _core.Tally(pairs, _of_metrics(self.alternative, metrics), _select_rows(self.thresholds, metrics))

    def accumulator(self, width: int, metric: int, n: int) -> _TallyAccumulator:
        """See :meth:`Reduction.accumulator`."""
        return _TallyAccumulator(_of_metric(self.alternative, metric), self.thresholds[metric])


class _CountAccumulator(Accumulator["NDArray[np.int64]"]):
    """Counts the shuffles of each pair that satisfy a condition."""

    def __init__(self, pairs: int) -> None:
        self.counts = np.zeros(pairs, np.int64)

    @property
    def row(self) -> NDArray[np.int64]:
        return self.counts

    @property
    def part(self) -> NDArray[np.int64]:
        return self.counts

    def add_part(self, part: NDArray[np.int64]) -> None:
        self.counts += part


class _TallyAccumulator(_CountAccumulator):
    def __init__(self, alternative: str, thresholds: Scores) -> None:
        super().__init__(len(thresholds))
        self.alternative, self.thresholds = alternative, thresholds

    def update(self, statistics: Scores) -> None:
        self.counts += reached(statistics, self.thresholds[:, None], self.alternative).sum(axis=1)


class SequentialCounts(NamedTuple):
    """The state in which sequential tests ended: arrays of shape (metrics, pairs), or (pairs,) for one metric.

    ``shuffles`` is the number of shuffles used, and ``stopped`` is whether the stopping rule ended the test. ``null``
    holds the histograms of the shuffles used, if they were requested.
    """

    shuffles: NDArray[np.int64]
    exceedances: NDArray[np.int64]
    stopped: NDArray[np.bool_]
    null: HistogramArray | None = None


@dataclass(frozen=True, eq=False)
class SequentialTally(Reduction[SequentialCounts, SequentialCounts]):
    """How many of the ``iid`` shuffles reach each threshold, in order, until a stopping rule ends the test.

    ``alternative`` is as for :class:`Tally`. With ``histograms``, there are also histograms of these shuffles.
    """

    in_parts = False

    alternative: str | Sequence[str]
    thresholds: Scores
    rule: _core.StoppingRule
    histograms: bool = False

    def core(self, pairs: Pairs, metrics: Indices) -> _core.SequentialTally:
        """See :meth:`Reduction.core`."""
        thresholds = _select_rows(self.thresholds, metrics)
        alternative = _of_metrics(self.alternative, metrics)
        return _core.SequentialTally(pairs, alternative, thresholds, self.rule, self.histograms)

    def rows_from_core(self, reduction: _core.SequentialTally, n_systems: Sequence[int]) -> Sequence[SequentialCounts]:
        """See :meth:`Reduction.rows_from_core`."""
        shuffles, exceedances = (array.astype(np.int64) for array in (reduction.shuffles, reduction.exceedances))
        binned = reduction.histograms
        nulls = [None] * len(shuffles) if binned is None else _by_metric(binned, len(shuffles))
        return [SequentialCounts(*row) for row in zip(shuffles, exceedances, reduction.stopped, nulls, strict=True)]

    def accumulator(self, width: int, metric: int, n: int) -> _SequentialAccumulator:
        """See :meth:`Reduction.accumulator`."""
        return _SequentialAccumulator(self, metric)

    def combine(self, rows: Sequence[SequentialCounts]) -> SequentialCounts:
        """See :meth:`Reduction.combine`."""
        *arrays, nulls = zip(*rows, strict=True)
        shuffles, exceedances, stopped = map(np.array, arrays)
        return SequentialCounts(shuffles, exceedances, stopped, np.array(nulls) if self.histograms else None)


class _SequentialAccumulator(Accumulator[SequentialCounts]):
    def __init__(self, tally: SequentialTally, metric: int) -> None:
        self.alternative, self.thresholds = _of_metric(tally.alternative, metric), tally.thresholds[metric]
        self.tests = _core.Sequential(tally.rule, len(self.thresholds))
        self.bins = _core.Bins(len(self.thresholds)) if tally.histograms else None

    @property
    def active(self) -> Indices:
        _, _, (stopped,) = self.tests.outcomes
        return [int(test) for test in np.flatnonzero(~stopped)]

    def update(self, statistics: Scores) -> None:
        active = list(self.active)
        extreme = np.zeros((len(self.thresholds), statistics.shape[1]), dtype=np.bool_)
        extreme[active] = reached(statistics, self.thresholds[active, None], self.alternative)
        (before,), _, _ = self.tests.outcomes
        self.tests.update(extreme)
        if self.bins is not None:
            (after,), _, _ = self.tests.outcomes
            values = np.zeros(extreme.shape)
            values[active] = statistics
            self.bins.update(values, after - before)

    @property
    def row(self) -> SequentialCounts:
        (shuffles,), (exceedances,), (stopped,) = self.tests.outcomes
        null = None if self.bins is None else histograms_from_core(*self.bins.histograms)
        return SequentialCounts(shuffles.astype(np.int64), exceedances.astype(np.int64), stopped, null)


def _by_metric(binned: tuple[NDArray[Any], NDArray[Any]], n_metrics: int) -> list[HistogramArray]:
    """The histograms of each metric, from the arrays of all metrics."""
    return np.split(histograms_from_core(*binned), n_metrics)


class _SeriesAccumulator(Accumulator["NDArray[Any]"]):
    """Keeps all statistics, for reductions that need them together: 8·R bytes for each pair or system."""

    def __init__(self, rows: int, n: int) -> None:
        self.all = np.empty((rows, n))
        self.done = 0

    def update(self, statistics: Scores) -> None:
        n = statistics.shape[1]
        self.all[:, self.done : self.done + n] = statistics
        self.done += n

    @property
    def row(self) -> NDArray[Any]:
        return self.all

    @property
    def part(self) -> NDArray[Any]:
        return self.all

    def add_part(self, part: NDArray[Any]) -> None:
        self.update(part)


class Series(_ArrayReduction):
    """The statistic of every shuffle: (metrics, pairs, R)."""

    def core(self, pairs: Pairs, metrics: Indices) -> _core.Series:
        """See :meth:`Reduction.core`."""
        return _core.Series(pairs)

    def rows_from_core(self, reduction: _core.Series, n_systems: Sequence[int]) -> Sequence[Scores]:
        """See :meth:`Reduction.rows_from_core`."""
        return list(reduction.statistics)

    def accumulator(self, width: int, metric: int, n: int) -> _SeriesAccumulator:
        """See :meth:`Reduction.accumulator`."""
        return _SeriesAccumulator(width, n)


class Spread(_ArrayReduction):
    """The standard deviation of every statistic over the shuffles: (metrics, pairs). The mean is 0 by symmetry."""

    def core(self, pairs: Pairs, metrics: Indices) -> _core.Spread:
        """See :meth:`Reduction.core`."""
        return _core.Spread(pairs)

    def rows_from_core(self, reduction: _core.Spread, n_systems: Sequence[int]) -> Sequence[Scores]:
        """See :meth:`Reduction.rows_from_core`."""
        return list(reduction.values)

    def accumulator(self, width: int, metric: int, n: int) -> _SpreadAccumulator:
        """See :meth:`Reduction.accumulator`."""
        return _SpreadAccumulator(width, n)


class _SpreadAccumulator(_SeriesAccumulator):
    @property
    def row(self) -> Scores:
        return np.asarray(np.sqrt((self.all**2).mean(axis=1)))


@dataclass(frozen=True, eq=False)
class MaxT(_CountReduction):
    """Step-down maxT: in how many shuffles the maximum over a test and all less extreme ones reaches its threshold.

    The maximum is over the pairs under all metrics that have the same number in ``families``, (metrics,). A metric that
    is scored in Python must be a family of its own. Statistics are multiplied by ``scales`` to be comparable, and
    ``thresholds`` are the observed ones on that scale: (metrics, pairs). ``alternative`` is as for :class:`Tally`. For
    native samples memory does not depend on R.
    """

    alternative: str | Sequence[str]
    scales: Scores
    thresholds: Scores
    families: NDArray[np.intp]

    def core(self, pairs: Pairs, metrics: Indices) -> _core.MaxT:
        """See :meth:`Reduction.core`."""
        return _core.MaxT(
            pairs,
            _of_metrics(self.alternative, metrics),
            _select_rows(self.scales, metrics),
            _select_rows(self.thresholds, metrics),
            _select_rows(self.families, metrics).tolist(),
        )

    def accumulator(self, width: int, metric: int, n: int) -> _MaxTAccumulator:
        """See :meth:`Reduction.accumulator`."""
        assert (self.families == self.families[metric]).sum() == 1, "the family has several metrics"
        return _MaxTAccumulator(_of_metric(self.alternative, metric), self.scales[metric], self.thresholds[metric])


class _MaxTAccumulator(_CountAccumulator):
    def __init__(self, alternative: str, scales: Scores, thresholds: Scores) -> None:
        super().__init__(len(thresholds))
        self.alternative, self.scales, self.thresholds = alternative, scales[:, None], thresholds[:, None]
        self.order = np.lexsort((-np.arange(len(thresholds)), thresholds))  # the least extreme first

    def update(self, statistics: Scores) -> None:
        extreme = extremeness(statistics, self.alternative) * self.scales
        largest = np.maximum.accumulate(extreme[self.order])
        self.counts[self.order] += (largest >= self.thresholds[self.order]).sum(axis=1)


@dataclass(frozen=True, eq=False)
class MinP(_CountReduction):
    """Step-down minP: in how many shuffles the minimum rank over a test and all less significant ones reaches its rank.

    The rank of a shuffle is its position among all shuffles and the observed arrangement, the most extreme first. The
    observed arrangement has rank c + 1, where c is the number of exceedances: ``ranks``. ``thresholds`` are how extreme
    the observed statistics are, less the ``tolerances`` within which others are ties. These arrays have shape (metrics,
    pairs). ``families`` are those of :class:`MaxT`, and ``alternative`` is as for :class:`Tally`. For native samples
    memory is a few arrays of R numbers.
    """

    in_parts = False

    alternative: str | Sequence[str]
    thresholds: Scores
    tolerances: Scores
    ranks: NDArray[np.int64]
    families: NDArray[np.intp]

    def core(self, pairs: Pairs, metrics: Indices) -> _core.MinP:
        """See :meth:`Reduction.core`."""
        return _core.MinP(
            pairs,
            _of_metrics(self.alternative, metrics),
            _select_rows(self.thresholds, metrics),
            _select_rows(self.tolerances, metrics),
            _select_rows(self.ranks, metrics).astype(np.uint64),
            _select_rows(self.families, metrics).tolist(),
        )

    def accumulator(self, width: int, metric: int, n: int) -> _MinPAccumulator:
        """See :meth:`Reduction.accumulator`."""
        assert (self.families == self.families[metric]).sum() == 1, "the family has several metrics"
        return _MinPAccumulator(self, metric, width, n)


def ranks_among_all(extreme: Scores, threshold: float, tolerance: float) -> NDArray[np.int64]:
    """The rank of every shuffle's statistic among those of all shuffles and the observed one: (R,) in and out.

    ``extreme`` is how extreme the statistics are. The rank is the number of statistics that are at least as extreme.
    The observed statistic and its ties, which lie up to two tolerances above the threshold, have the same rank.

    >>> ranks_among_all(np.array([2.0, 1.0, 1.0, 2.0]), 1.5, 0.5)
    array([3, 5, 5, 3])
    """
    ties = (extreme >= threshold) & (extreme <= threshold + 2 * tolerance)
    extreme = np.where(ties, threshold, extreme)
    # Those at least as extreme are all except those that sort before.
    before = np.searchsorted(np.sort(extreme), extreme)
    return np.asarray(len(extreme) - before + (threshold >= extreme))


class _MinPAccumulator(_SeriesAccumulator):
    def __init__(self, reduction: MinP, metric: int, width: int, n: int) -> None:
        super().__init__(width, n)
        self.alternative = _of_metric(reduction.alternative, metric)
        self.observed = list(zip(reduction.thresholds[metric], reduction.tolerances[metric], strict=True))
        self.ranks = reduction.ranks[metric]

    @property
    def row(self) -> NDArray[np.int64]:
        extreme = extremeness(self.all, self.alternative)
        ranks = np.array([ranks_among_all(series, *of) for series, of in zip(extreme, self.observed, strict=True)])
        order = np.lexsort((-np.arange(len(self.ranks)), -self.ranks))  # the least significant first
        smallest = np.minimum.accumulate(ranks[order])
        counts = np.empty(len(self.ranks), np.int64)
        counts[order] = (smallest <= self.ranks[order][:, None]).sum(axis=1)
        return counts


class Draws(Reduction["Scores", "tuple[Scores, ...]"]):
    """The score of every system on every draw: a (k, R) array for each metric."""

    kind = "draws"

    def core(self, pairs: Pairs, metrics: Indices) -> _core.Draws:
        """See :meth:`Reduction.core`."""
        return _core.Draws()

    def rows_from_core(self, reduction: _core.Draws, n_systems: Sequence[int]) -> Sequence[Scores]:
        """See :meth:`Reduction.rows_from_core`."""
        return np.split(reduction.scores, np.cumsum(n_systems)[:-1])

    def accumulator(self, width: int, metric: int, n: int) -> _SeriesAccumulator:
        """See :meth:`Reduction.accumulator`."""
        return _SeriesAccumulator(width, n)

    def combine(self, rows: Sequence[Scores]) -> tuple[Scores, ...]:
        """See :meth:`Reduction.combine`."""
        return tuple(rows)


class PermutedCounts(NamedTuple):
    """Counts of permutations: arrays of shape (metrics, pairs), or (pairs,) for one metric.

    ``pairs`` are those in which the scores of the pair differ by its threshold, ``ranges`` those in which the highest
    and the lowest score of all systems do.
    """

    pairs: NDArray[np.int64]
    ranges: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class PermutedTally(Reduction[PermutedCounts, PermutedCounts]):
    """How many permutations reach each threshold: (metrics, pairs) in and out. Memory does not depend on R."""

    kind = "permutations"

    compared: Pairs
    thresholds: Scores

    def core(self, pairs: Pairs, metrics: Indices) -> _core.PermutedTally:
        """See :meth:`Reduction.core`."""
        return _core.PermutedTally(self.compared, _select_rows(self.thresholds, metrics))

    def rows_from_core(self, reduction: _core.PermutedTally, n_systems: Sequence[int]) -> Sequence[PermutedCounts]:
        """See :meth:`Reduction.rows_from_core`."""
        both = reduction.counts.astype(np.int64), reduction.range_counts.astype(np.int64)
        return [PermutedCounts(*rows) for rows in zip(*both, strict=True)]

    def accumulator(self, width: int, metric: int, n: int) -> _PermutedAccumulator:
        """See :meth:`Reduction.accumulator`."""
        return _PermutedAccumulator(self.compared, self.thresholds[metric])

    def combine(self, rows: Sequence[PermutedCounts]) -> PermutedCounts:
        """See :meth:`Reduction.combine`."""
        return PermutedCounts(*(np.array(arrays) for arrays in zip(*rows, strict=True)))


# The most differences that are in memory at a time: a few milliseconds of work, between two checks for Ctrl-C.
DIFFERENCES_AT_ONCE = 1 << 18


class _PermutedAccumulator(Accumulator[PermutedCounts]):
    def __init__(self, pairs: Pairs, thresholds: Scores) -> None:
        self.x, self.y = np.array(pairs).T
        self.thresholds = thresholds[:, None]
        self.pairs, self.ranges = np.zeros((2, len(thresholds)), np.int64)

    def update(self, statistics: Scores) -> None:
        ranges = np.ptp(statistics, axis=0)
        # k systems have k(k - 1)/2 pairs, so the differences of all pairs would need far more memory than the scores.
        size = max(1, DIFFERENCES_AT_ONCE // len(ranges))
        for first in range(0, len(self.pairs), size):
            some = slice(first, first + size)
            differences = np.abs(statistics[self.x[some]] - statistics[self.y[some]])
            self.pairs[some] += (differences >= self.thresholds[some]).sum(axis=1)
            self.ranges[some] += (ranges >= self.thresholds[some]).sum(axis=1)

    @property
    def row(self) -> PermutedCounts:
        return PermutedCounts(self.pairs, self.ranges)

    @property
    def part(self) -> PermutedCounts:
        return self.row

    def add_part(self, part: PermutedCounts) -> None:
        self.pairs += part.pairs
        self.ranges += part.ranges


@dataclass(frozen=True, eq=False)
class Histograms(_ArrayReduction):
    """The histogram of every statistic over the shuffles: an array of records, (metrics, pairs).

    With ``half``, each statistic t also counts as −t. Memory does not depend on R.
    """

    half: bool = False

    def core(self, pairs: Pairs, metrics: Indices) -> _core.Histograms:
        """See :meth:`Reduction.core`."""
        return _core.Histograms(pairs, "half of shuffles" if self.half else "shuffles")

    def rows_from_core(self, reduction: _core.Histograms, n_systems: Sequence[int]) -> Sequence[HistogramArray]:
        """See :meth:`Reduction.rows_from_core`."""
        return _by_metric(reduction.histograms, len(n_systems))

    def accumulator(self, width: int, metric: int, n: int) -> _HistogramAccumulator:
        """See :meth:`Reduction.accumulator`."""
        return _HistogramAccumulator(width, half=self.half)


class _HistogramAccumulator(Accumulator[HistogramArray]):
    def __init__(self, pairs: int, *, half: bool = False) -> None:
        self.bins, self.half = _core.Bins(pairs), half

    def update(self, statistics: Scores) -> None:
        self.bins.update(np.ascontiguousarray(statistics))
        if self.half:
            self.bins.update(-statistics)

    @property
    def row(self) -> HistogramArray:
        return histograms_from_core(*self.bins.histograms)

    @property
    def part(self) -> NDArray[np.uint64]:
        return self.bins.state()

    def add_part(self, part: NDArray[np.uint64]) -> None:
        self.bins.merge(part)


@dataclass(frozen=True, eq=False)
class PermutedHistograms(Histograms):
    """The histogram of the difference of every pair over the permutations of all systems."""

    kind = "permutations"

    compared: Pairs = ()

    def core(self, pairs: Pairs, metrics: Indices) -> _core.Histograms:
        """See :meth:`Reduction.core`."""
        return _core.Histograms(self.compared, "permutations")

    def accumulator(self, width: int, metric: int, n: int) -> _PermutedHistogramAccumulator:
        """See :meth:`Reduction.accumulator`."""
        return _PermutedHistogramAccumulator(self.compared)


class _PermutedHistogramAccumulator(_HistogramAccumulator):
    def __init__(self, pairs: Pairs) -> None:
        super().__init__(len(pairs))
        self.x, self.y = np.array(pairs).T

    def update(self, statistics: Scores) -> None:
        super().update(statistics[self.x] - statistics[self.y])
