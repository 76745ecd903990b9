"""Tests of systems with several runs by Student's t, without replicates. Each system needs at least two runs."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

from ..metrics.base import tolerance
from .run_exchange import ClosedForm, Exchanged
from .run_linear import Levels, satterthwaite
from .runs import RunData
from .samples import Pairs


class StandardError(NamedTuple):
    """The standard error of a difference, 0 within rounding, and the levels of its variance."""

    value: float
    levels: Levels


# From the data, the index of a metric and those of two systems.
Error: TypeAlias = Callable[[RunData, int, tuple[int, int]], StandardError]


def welch_error(data: RunData, m: int, pair: tuple[int, int]) -> StandardError:
    """√(s²/n + s²/m) of the runs' scores, with Satterthwaite's degrees of freedom: for new runs on this test set.

    Welch 1947 (doi:10.1093/biomet/34.1-2.28).
    """
    scores = [data.samples[m].scores[data.rows[system]] for system in pair]
    parts = [float(own.var(ddof=1)) / len(own) for own in scores]
    degrees = satterthwaite(parts, [len(own) - 1 for own in scores])
    return _standard_error(data, m, pair, sum(parts), Levels([1.0], [degrees]))


def hierarchical_error(data: RunData, m: int, pair: tuple[int, int]) -> StandardError:
    """√(s²/n + s²/m + what segments add), for new runs and new segments; the interaction counts once.

    The variance and its levels are those of the hierarchical bootstrap:
    :meth:`~reshuffle.resampling.run_linear.RunCovariances.of_difference`.
    """
    spread = data.covariances[m].of_difference(*pair)
    return _standard_error(data, m, pair, spread.variance, spread.levels)


def no_spread(data: RunData, m: int, pair: tuple[int, int]) -> bool:
    """Whether all runs of each system have the same score."""
    return welch_error(data, m, pair).value == 0


def welch_t(data: RunData, pairs: Pairs, statistic: str) -> Exchanged:
    """Welch's t test of the difference of the statistic, with its standard error from the runs' scores."""
    return _closed(welch_error, data, pairs, statistic)


def hierarchical_t(data: RunData, pairs: Pairs, statistic: str) -> Exchanged:
    """The t test that corresponds to the hierarchical bootstrap."""
    return _closed(hierarchical_error, data, pairs, statistic)


def _closed(error: Error, data: RunData, pairs: Pairs, statistic: str) -> Exchanged:
    scores = [data.score_of(system, statistic) for system in range(len(data.names))]
    found = [
        [_closed_form(scores[a][m], scores[b][m], error(data, m, (a, b))) for a, b in pairs]
        for m in range(len(data.samples))
    ]
    return Exchanged(
        [[np.empty(0)] * len(pairs) for _ in found],
        [False] * len(pairs),
        together=False,
        degrees_of_freedom=[[each.levels.fewest for each in own] for own in found],
        studentized=True,
        closed=found,
    )


def _closed_form(a: float, b: float, error: StandardError) -> ClosedForm:
    """Without any spread, t is 0 for a difference of 0 and otherwise infinite."""
    difference = a - b
    if abs(difference) <= float(tolerance(np.array(a), np.array(b))):
        return ClosedForm(0.0, error.levels)
    t = difference / error.value if error.value > 0 else math.copysign(math.inf, difference)
    return ClosedForm(t, error.levels)


def _standard_error(data: RunData, m: int, pair: tuple[int, int], variance: float, levels: Levels) -> StandardError:
    error = math.sqrt(variance)
    largest = [np.abs(data.samples[m].scores[data.rows[system]]).max() for system in pair]
    return StandardError(error if error > float(tolerance(*map(np.asarray, largest))) else 0.0, levels)
