"""Reductions: what is kept of the replicates, such as a tally or a maximum. A new one is a class here and one in Rust.

The core computes them, also from the scores of samples that are scored in Python, which it is fed batch by batch
(:class:`reshuffle._core.Feed`). There is one row per metric, and :meth:`Reduction.combine` builds the result from the
rows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from ..metrics.base import Scores
from .histograms import HistogramArray, histograms_from_core
from .samples import Pairs

Indices = Sequence[int]

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


SIGNS = {"two-sided": 0, "greater": 1, "less": -1}


def signs(alternative: Alternative) -> NDArray[np.int64]:
    """1 for ``greater``, −1 for ``less``, and 0 for ``two-sided``."""
    if isinstance(alternative, str):
        return np.asarray(SIGNS[alternative])
    names = np.asarray(alternative)
    return np.asarray((names == "greater").astype(np.int64) - (names == "less"))


def is_two_sided(alternative: Alternative) -> bool:
    """Whether all statistics have that alternative: either all have it or none."""
    return alternative == "two-sided" if isinstance(alternative, str) else not signs(alternative).any()


def reached(statistics: Scores, thresholds: ArrayLike, alternative: Alternative) -> NDArray[np.bool_]:
    """Which statistics are at least as extreme as their threshold. Tallies in Rust use the same rule.

    >>> reached(np.array([-2.0, 1.0, 2.0]), 2.0, "two-sided")
    array([ True, False,  True])
    """
    if is_two_sided(alternative):
        return np.asarray(np.abs(statistics) >= thresholds)
    sign = signs(alternative)
    return np.asarray(sign * statistics >= sign * np.asarray(thresholds))


def extremeness(statistics: Scores, alternative: Alternative) -> Scores:
    """How extreme statistics are; larger is more extreme.

    >>> extremeness(np.array([-2.0, 1.0]), "less")
    array([ 2., -1.])
    """
    return np.abs(statistics) if is_two_sided(alternative) else np.asarray(signs(alternative) * statistics)


def _of_metrics(alternative: str | Sequence[str], metrics: Indices) -> str | list[str]:
    """The alternatives of these metrics, from one for all metrics or one for each."""
    if isinstance(alternative, str):
        return alternative
    # The core takes a name sooner than a list.
    return alternative[metrics[0]] if len(metrics) == 1 else [alternative[m] for m in metrics]


class Reduction(ABC):
    """What to keep of the replicates. ``kind`` says of which: ``shuffles``, ``draws`` or ``permutations``.

    With ``in_parts``, other processes can compute ranges of the replicates, whose results are merged.
    """

    kind: ClassVar[str] = "shuffles"
    in_parts: ClassVar[bool] = True

    @abstractmethod
    def core(self, pairs: Pairs, metrics: Indices) -> Any:
        """The reduction in Rust for the metrics with these indices."""

    @abstractmethod
    def rows_from_core(self, reduction: Any, n_systems: Sequence[int]) -> Sequence[Any]:
        """The rows of a finished reduction in Rust. ``n_systems`` has the number of systems of each of its metrics."""

    def fed(self, pairs: Pairs, metric: int) -> Any:
        """The reduction in Rust for a metric that is scored in Python."""
        return self.core(pairs, [metric])

    def row_from_fed(self, reduction: Any, metric: int) -> Any:
        """The row of a finished :meth:`fed`."""
        (row,) = self.rows_from_core(reduction, [0])
        return row

    @abstractmethod
    def combine(self, rows: Sequence[Any]) -> Any:
        """The result for all metrics from their rows, in the order of the metrics."""


class _ArrayReduction(Reduction):
    """A reduction whose result is an array with one row per metric."""

    def combine(self, rows: Sequence[NDArray[Any]]) -> NDArray[Any]:
        """See :meth:`Reduction.combine`."""
        return np.array(rows)


class _CountReduction(_ArrayReduction):
    """Counts of shuffles for each metric and pair."""

    def rows_from_core(self, reduction: Any, n_systems: Sequence[int]) -> Sequence[NDArray[np.int64]]:
        """See :meth:`Reduction.rows_from_core`."""
        return list(reduction.counts.astype(np.int64))

    def combine(self, rows: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
        """See :meth:`Reduction.combine`."""
        return rows[0][None] if len(rows) == 1 else np.array(rows)


def _select_rows(array: NDArray[Any], metrics: Indices) -> NDArray[Any]:
    """The rows of these metrics, which are in ascending order; without a copy if they are all metrics."""
    return np.ascontiguousarray(array if len(metrics) == len(array) else array[metrics])


@dataclass(eq=False)
class Tally(_CountReduction):
    """How many shuffles reach each threshold: (metrics, pairs) in and out. Memory does not depend on R.

    ``alternative`` is one for all metrics, or a sequence with that of each.
    """

    alternative: str | Sequence[str]
    thresholds: Scores

    def core(self, pairs: Pairs, metrics: Indices) -> _core.Tally:
        """See :meth:`Reduction.core`."""
        return _core.Tally(pairs, _of_metrics(self.alternative, metrics), _select_rows(self.thresholds, metrics))


class SequentialCounts(NamedTuple):
    """The state in which sequential tests ended: arrays of shape (metrics, pairs), or (pairs,) for one metric.

    ``shuffles`` is the number of shuffles used, and ``stopped`` is whether the stopping rule ended the test. ``null``
    holds the histograms of the shuffles used, if they were requested.
    """

    shuffles: NDArray[np.int64]
    exceedances: NDArray[np.int64]
    stopped: NDArray[np.bool_]
    null: HistogramArray | None = None


@dataclass(eq=False)
class SequentialTally(Reduction):
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
        *numbers, stopped = reduction.outcomes
        shuffles, exceedances = (array.astype(np.int64) for array in numbers)
        binned = reduction.histograms
        nulls = [None] * len(shuffles) if binned is None else _by_metric(binned, len(shuffles))
        return [SequentialCounts(*row) for row in zip(shuffles, exceedances, stopped, nulls, strict=True)]

    def combine(self, rows: Sequence[SequentialCounts]) -> SequentialCounts:
        """See :meth:`Reduction.combine`."""
        *arrays, nulls = zip(*rows, strict=True)
        shuffles, exceedances, stopped = map(np.array, arrays)
        return SequentialCounts(shuffles, exceedances, stopped, np.array(nulls) if self.histograms else None)


def _by_metric(binned: tuple[NDArray[Any], NDArray[Any]], n_metrics: int) -> list[HistogramArray]:
    """The histograms of each metric, from the arrays of all metrics."""
    return np.split(histograms_from_core(*binned), n_metrics)


class Series(_ArrayReduction):
    """The statistic of every shuffle: (metrics, pairs, R)."""

    def core(self, pairs: Pairs, metrics: Indices) -> _core.Series:
        """See :meth:`Reduction.core`."""
        return _core.Series(pairs)

    def rows_from_core(self, reduction: _core.Series, n_systems: Sequence[int]) -> Sequence[Scores]:
        """See :meth:`Reduction.rows_from_core`."""
        return list(reduction.statistics)


class Spread(_ArrayReduction):
    """The standard deviation of every statistic over the shuffles: (metrics, pairs). The mean is 0 by symmetry."""

    def core(self, pairs: Pairs, metrics: Indices) -> _core.Spread:
        """See :meth:`Reduction.core`."""
        return _core.Spread(pairs)

    def rows_from_core(self, reduction: _core.Spread, n_systems: Sequence[int]) -> Sequence[Scores]:
        """See :meth:`Reduction.rows_from_core`."""
        return list(reduction.values)

    def fed(self, pairs: Pairs, metric: int) -> _core.Series:
        """All statistics: their batches need not begin where the sums of squares of the core do."""
        return _core.Series(pairs)

    def row_from_fed(self, reduction: _core.Series, metric: int) -> Scores:
        """See :meth:`Reduction.row_from_fed`."""
        (statistics,) = reduction.statistics
        return np.asarray(np.sqrt((statistics**2).mean(axis=1)))


@dataclass(eq=False)
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


@dataclass(eq=False)
class MinP(_CountReduction):
    """Step-down minP: in how many shuffles the minimum rank over a test and all less significant ones reaches its rank.

    The rank of a shuffle is its position among all shuffles and the observed arrangement, the most extreme first. The
    observed arrangement has rank c + 1, where c is the number of exceedances: ``ranks``. ``thresholds`` are how extreme
    the observed statistics are, less the ``tolerances`` within which others are ties. These arrays have shape (metrics,
    pairs). ``families`` are those of :class:`MaxT`, and ``alternative`` is as for :class:`Tally`. Only for
    native samples. Memory is a few arrays of R numbers.
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


class Draws(Reduction):
    """The score of every system on every draw: a (k, R) array for each metric."""

    kind = "draws"

    def core(self, pairs: Pairs, metrics: Indices) -> _core.Draws:
        """See :meth:`Reduction.core`."""
        return _core.Draws()

    def rows_from_core(self, reduction: _core.Draws, n_systems: Sequence[int]) -> Sequence[Scores]:
        """See :meth:`Reduction.rows_from_core`."""
        scores = reduction.scores
        return [scores[first:last] for first, last in pairwise([0, *accumulate(n_systems[:-1]), None])]

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


@dataclass(eq=False)
class PermutedTally(Reduction):
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

    def combine(self, rows: Sequence[PermutedCounts]) -> PermutedCounts:
        """See :meth:`Reduction.combine`."""
        return PermutedCounts(*(np.array(arrays) for arrays in zip(*rows, strict=True)))


@dataclass(eq=False)
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


@dataclass(eq=False)
class PermutedHistograms(Histograms):
    """The histogram of the difference of every pair over the permutations of all systems."""

    kind = "permutations"

    compared: Pairs = ()

    def core(self, pairs: Pairs, metrics: Indices) -> _core.Histograms:
        """See :meth:`Reduction.core`."""
        return _core.Histograms(self.compared, "permutations")
