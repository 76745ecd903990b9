"""What is kept of replicates. A new reduction is a class here, and one in the core.

A reduction is what is asked for. The core carries it out for the samples that it scores itself
(:meth:`Reduction.core`, :meth:`Reduction.rows`); of those that are scored in Python it takes in batch after batch
(:meth:`Reduction.begin`). Both give a row for each metric, of which :meth:`Reduction.whole` makes what was asked for.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from ..metrics.base import Scores
from .samples import Pairs

__all__ = ["Draws", "MaxT", "MinP", "Reduction", "SequentialTally", "Series", "Spread", "Stopped", "Tally"]

Indices = Sequence[int]
Row = TypeVar("Row")
Whole = TypeVar("Whole")


def reached(statistics: Scores, thresholds: ArrayLike, alternative: str) -> NDArray[np.bool_]:
    """Which statistics are at least as extreme as their threshold. The core's tally is the same in Rust.

    >>> reached(np.array([-2.0, 1.0, 2.0]), 2.0, "two-sided")
    array([ True, False,  True])
    """
    if alternative == "two-sided":
        statistics = np.abs(statistics)
    at_least = np.less_equal if alternative == "less" else np.greater_equal
    return np.asarray(at_least(statistics, thresholds))


def extremeness(statistics: Scores, alternative: str) -> Scores:
    """How extreme statistics are: the larger the number, the more.

    >>> extremeness(np.array([-2.0, 1.0]), "less")
    array([ 2., -1.])
    """
    return np.abs(statistics) if alternative == "two-sided" else -statistics if alternative == "less" else statistics


class Kept(ABC, Generic[Row]):
    """What is kept so far of the replicates of one metric that is scored in Python."""

    @property
    def running(self) -> Indices | None:
        """The pairs that are still wanted; None for all."""
        return None

    @abstractmethod
    def take(self, statistics: Scores) -> None:
        """Take in some more replicates, in order: (pairs that are running or systems, n)."""

    @property
    @abstractmethod
    def row(self) -> Row:
        """What was asked for."""


class Reduction(ABC, Generic[Row, Whole]):
    """What to keep of replicates. ``kind``: of ``shuffles`` or of ``draws``."""

    kind: ClassVar[str] = "shuffles"

    @abstractmethod
    def core(self, pairs: Pairs, metrics: Indices) -> Any:
        """The core's own reduction, of these metrics."""

    @abstractmethod
    def rows(self, found: Any, sizes: Sequence[int]) -> Sequence[Row]:
        """What the core's reduction found, for each of its metrics, which have so many systems."""

    @abstractmethod
    def begin(self, width: int, metric: int, n: int) -> Kept[Row]:
        """The same of a metric scored in Python, of ``width`` pairs or systems, before the first of n replicates."""

    @abstractmethod
    def whole(self, rows: Sequence[Row]) -> Whole:
        """What was asked for, of all metrics in their order."""


class _Stacked(Reduction["NDArray[Any]", "NDArray[Any]"]):
    """An array with a row for each metric."""

    def whole(self, rows: Sequence[NDArray[Any]]) -> NDArray[Any]:
        """See :meth:`Reduction.whole`."""
        return np.array(rows)


def _of(array: NDArray[Any], metrics: Indices) -> NDArray[Any]:
    """The rows of these metrics; the array itself if they are all there are."""
    return np.ascontiguousarray(array if len(metrics) == len(array) else array[metrics])


@dataclass(frozen=True, eq=False)
class Tally(_Stacked):
    """How many shuffles reach each threshold: (metrics, pairs) in and out. Memory does not grow with R."""

    alternative: str
    thresholds: Scores

    def core(self, pairs: Pairs, metrics: Indices) -> _core.Tally:
        """See :meth:`Reduction.core`."""
        return _core.Tally(pairs, self.alternative, _of(self.thresholds, metrics))

    def rows(self, found: _core.Tally, sizes: Sequence[int]) -> Sequence[NDArray[np.int64]]:
        """See :meth:`Reduction.rows`."""
        return list(found.counts.astype(np.int64))

    def begin(self, width: int, metric: int, n: int) -> _Tallied:
        """See :meth:`Reduction.begin`."""
        return _Tallied(self.alternative, self.thresholds[metric])


class _Counted(Kept["NDArray[np.int64]"]):
    """A number of shuffles for each pair."""

    def __init__(self, pairs: int) -> None:
        self.counts = np.zeros(pairs, np.int64)

    @property
    def row(self) -> NDArray[np.int64]:
        return self.counts


class _Tallied(_Counted):
    def __init__(self, alternative: str, thresholds: Scores) -> None:
        super().__init__(len(thresholds))
        self.alternative, self.thresholds = alternative, thresholds

    def take(self, statistics: Scores) -> None:
        self.counts += reached(statistics, self.thresholds[:, None], self.alternative).sum(axis=1)


class Stopped(NamedTuple):
    """How far each test came: arrays of shape (metrics, pairs), or of a row of it."""

    shuffles: NDArray[np.int64]
    exceedances: NDArray[np.int64]
    by_rule: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class SequentialTally(Reduction[Stopped, Stopped]):
    """The same of shuffles by coins, one after the other, until a rule stops each pair under each metric."""

    alternative: str
    thresholds: Scores
    rule: _core.StoppingRule

    def core(self, pairs: Pairs, metrics: Indices) -> _core.SequentialTally:
        """See :meth:`Reduction.core`."""
        return _core.SequentialTally(pairs, self.alternative, _of(self.thresholds, metrics), self.rule)

    def rows(self, found: _core.SequentialTally, sizes: Sequence[int]) -> Sequence[Stopped]:
        """See :meth:`Reduction.rows`."""
        shuffles, exceedances = (array.astype(np.int64) for array in (found.shuffles, found.exceedances))
        return [Stopped(*row) for row in zip(shuffles, exceedances, found.stopped, strict=True)]

    def begin(self, width: int, metric: int, n: int) -> _InSequence:
        """See :meth:`Reduction.begin`."""
        return _InSequence(self.alternative, self.thresholds[metric], self.rule)

    def whole(self, rows: Sequence[Stopped]) -> Stopped:
        """See :meth:`Reduction.whole`."""
        return Stopped(*(np.array(arrays) for arrays in zip(*rows, strict=True)))


class _InSequence(Kept[Stopped]):
    def __init__(self, alternative: str, thresholds: Scores, rule: _core.StoppingRule) -> None:
        self.alternative, self.thresholds = alternative, thresholds
        self.tests = _core.Sequential(rule, len(thresholds))

    @property
    def running(self) -> Indices:
        _, _, (by_rule,) = self.tests.outcomes
        return [int(test) for test in np.flatnonzero(~by_rule)]

    def take(self, statistics: Scores) -> None:
        running = list(self.running)
        looked_at = np.zeros((len(self.thresholds), statistics.shape[1]), dtype=np.bool_)
        looked_at[running] = reached(statistics, self.thresholds[running, None], self.alternative)
        self.tests.update(looked_at)

    @property
    def row(self) -> Stopped:
        (shuffles,), (exceedances,), (by_rule,) = self.tests.outcomes
        return Stopped(shuffles.astype(np.int64), exceedances.astype(np.int64), by_rule)


class _Collected(Kept["NDArray[Any]"]):
    """All statistics, for what needs them side by side: 8·R bytes for each pair or system."""

    def __init__(self, rows: int, n: int) -> None:
        self.all = np.empty((rows, n))
        self.done = 0

    def take(self, statistics: Scores) -> None:
        n = statistics.shape[1]
        self.all[:, self.done : self.done + n] = statistics
        self.done += n

    @property
    def row(self) -> NDArray[Any]:
        return self.all


class Series(_Stacked):
    """The statistic of every shuffle: (metrics, pairs, R)."""

    def core(self, pairs: Pairs, metrics: Indices) -> _core.Series:
        """See :meth:`Reduction.core`."""
        return _core.Series(pairs)

    def rows(self, found: _core.Series, sizes: Sequence[int]) -> Sequence[Scores]:
        """See :meth:`Reduction.rows`."""
        return list(found.statistics)

    def begin(self, width: int, metric: int, n: int) -> _Collected:
        """See :meth:`Reduction.begin`."""
        return _Collected(width, n)


class Spread(_Stacked):
    """The root mean square of every statistic over the shuffles, whose mean is 0 by symmetry: (metrics, pairs)."""

    def core(self, pairs: Pairs, metrics: Indices) -> _core.Spread:
        """See :meth:`Reduction.core`."""
        return _core.Spread(pairs)

    def rows(self, found: _core.Spread, sizes: Sequence[int]) -> Sequence[Scores]:
        """See :meth:`Reduction.rows`."""
        return list(found.values)

    def begin(self, width: int, metric: int, n: int) -> _Spread:
        """See :meth:`Reduction.begin`."""
        return _Spread(width, n)


class _Spread(_Collected):
    @property
    def row(self) -> Scores:
        return np.asarray(np.sqrt((self.all**2).mean(axis=1)))


@dataclass(frozen=True, eq=False)
class MaxT(_Stacked):
    """How many shuffles have, among a pair and the less extreme ones of its metric, one that reaches its threshold.

    ``scales`` are what statistics are multiplied with to be comparable, ``thresholds`` how extreme the observed ones
    then are. All have shape (metrics, pairs). Memory does not grow with R for native samples.
    """

    alternative: str
    scales: Scores
    thresholds: Scores

    def core(self, pairs: Pairs, metrics: Indices) -> _core.MaxT:
        """See :meth:`Reduction.core`."""
        return _core.MaxT(pairs, self.alternative, _of(self.scales, metrics), _of(self.thresholds, metrics))

    def rows(self, found: _core.MaxT, sizes: Sequence[int]) -> Sequence[NDArray[np.int64]]:
        """See :meth:`Reduction.rows`."""
        return list(found.counts.astype(np.int64))

    def begin(self, width: int, metric: int, n: int) -> _MaxT:
        """See :meth:`Reduction.begin`."""
        return _MaxT(self.alternative, self.scales[metric], self.thresholds[metric])


class _MaxT(_Counted):
    def __init__(self, alternative: str, scales: Scores, thresholds: Scores) -> None:
        super().__init__(len(thresholds))
        self.alternative, self.scales, self.thresholds = alternative, scales[:, None], thresholds[:, None]
        self.order = np.lexsort((-np.arange(len(thresholds)), thresholds))  # the least extreme first

    def take(self, statistics: Scores) -> None:
        extreme = extremeness(statistics, self.alternative) * self.scales
        largest = np.maximum.accumulate(extreme[self.order])
        self.counts[self.order] += (largest >= self.thresholds[self.order]).sum(axis=1)


@dataclass(frozen=True, eq=False)
class MinP(_Stacked):
    """How many shuffles have, among a pair and the less significant ones of its metric, one of its rank or better.

    A shuffle's rank is its place among all shuffles and what was observed, which has ``ranks``: c + 1. All have shape
    (metrics, pairs). Memory is that of a few series of R numbers for native samples.
    """

    alternative: str
    thresholds: Scores
    ranks: NDArray[np.int64]

    def core(self, pairs: Pairs, metrics: Indices) -> _core.MinP:
        """See :meth:`Reduction.core`."""
        ranks = _of(self.ranks, metrics).astype(np.uint64)
        return _core.MinP(pairs, self.alternative, _of(self.thresholds, metrics), ranks)

    def rows(self, found: _core.MinP, sizes: Sequence[int]) -> Sequence[NDArray[np.int64]]:
        """See :meth:`Reduction.rows`."""
        return list(found.counts.astype(np.int64))

    def begin(self, width: int, metric: int, n: int) -> _MinP:
        """See :meth:`Reduction.begin`."""
        return _MinP(self, metric, width, n)


class _MinP(_Collected):
    def __init__(self, asked: MinP, metric: int, width: int, n: int) -> None:
        super().__init__(width, n)
        self.alternative = asked.alternative
        self.thresholds, self.ranks = asked.thresholds[metric], asked.ranks[metric]

    @property
    def row(self) -> NDArray[np.int64]:
        extreme = extremeness(self.all, self.alternative)
        observed = extremeness(self.thresholds, self.alternative)[:, None]
        # How many are at least as extreme: all but those that sort before.
        before = [np.searchsorted(np.sort(series), series) for series in extreme]
        own = self.all.shape[1] - np.array(before) + (observed >= extreme)
        order = np.lexsort((-np.arange(len(self.ranks)), -self.ranks))  # the least significant first
        smallest = np.minimum.accumulate(own[order])
        counts = np.empty(len(self.ranks), np.int64)
        counts[order] = (smallest <= self.ranks[order][:, None]).sum(axis=1)
        return counts


class Draws(Reduction["Scores", "tuple[Scores, ...]"]):
    """The score of every system on every draw: a (k, R) array for each metric."""

    kind = "draws"

    def core(self, pairs: Pairs, metrics: Indices) -> _core.Draws:
        """See :meth:`Reduction.core`."""
        return _core.Draws()

    def rows(self, found: _core.Draws, sizes: Sequence[int]) -> Sequence[Scores]:
        """See :meth:`Reduction.rows`."""
        return np.split(found.scores, np.cumsum(sizes)[:-1])

    def begin(self, width: int, metric: int, n: int) -> _Collected:
        """See :meth:`Reduction.begin`."""
        return _Collected(width, n)

    def whole(self, rows: Sequence[Scores]) -> tuple[Scores, ...]:
        """See :meth:`Reduction.whole`."""
        return tuple(rows)
