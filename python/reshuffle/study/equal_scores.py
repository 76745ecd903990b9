"""Populations whose scores are equal, or differ by a margin: real outputs, of which one was made worse.

Outputs with equal scores need not be exchangeable: their lengths and variances differ. So tests of exchangeability,
such as approximate randomization, need not have the right size here, and tests of equal scores should.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, quoted
from ..metrics.base import Counts, Metric
from ..metrics.native import NativeMetric
from ..resampling import CountSample
from .null_data import EQUALIZE, NullData, Part, Request

__all__ = ["closest", "of_equal_scores", "of_margins"]

# Scores count as equal, and a difference as the margin, if they are off by at most this many standard errors of the
# difference on the whole pool. This changes a size of .05 by less than .0001.
TOLERANCE = 0.02
# At most so many segments are exchanged after the bisection, each of which brings the score closest to its target.
ROUNDS = 4


class CannotBeMadeError(InputError):
    """The scores of this pair cannot be made equal, or different by the margin."""


@dataclass(frozen=True)
class Made:
    """A pair after one of its systems was made worse, (2, S, K), and how, in words."""

    counts: Counts
    about: str
    error: float


def of_equal_scores(request: Request) -> NullData:
    """Pairs of systems with equal scores on the whole pool."""
    return _made(request, [0.0] * len(request.material.metrics), "are equal")


def of_margins(request: Request, margins: Sequence[float]) -> NullData:
    """Pairs in which the system is worse than the baseline by the margin of the metric."""
    return _made(request, margins, "differ by the margin")


def _made(request: Request, margins: Sequence[float], what: str) -> NullData:
    """Pairs (system, baseline) whose system is worse by a margin on the whole pool, for each metric."""
    material, how = request.material, request.options.equalize
    parts, abouts, n_refused = [], [], 0
    for m, margin in enumerate(margins):
        populations, refusals = [], []
        for number, pair in enumerate(request.pairs):
            try:
                made = _Pair(request, m, pair, margin, m * len(request.pairs) + number).made()
            except CannotBeMadeError as error:
                refusals.append(error)
                continue
            populations.append(material.population_of(material.named(pair), [made.counts], [m]))
            abouts.append((material.data.labels[m], made))
        if not populations:
            raise refusals[0]
        n_refused += len(refusals)
        parts.append(Part([m], populations))
    truth = (
        f"Under each metric the scores of the two systems {what} on the whole pool, from which test sets were drawn: "
        f"{EQUALIZE[how]} ({'; '.join(f'{label}: {made.about}' for label, made in abouts[:3])}"
        f"{'; …' if len(abouts) > 3 else ''}). Their lengths and variances differ, so outputs need not be exchangeable."
    )
    if n_refused:
        pairs = "1 pair was" if n_refused == 1 else f"{n_refused:,} pairs were"
        truth += f" {pairs} left out, because this cannot be done with the systems at hand."
    return NullData(parts, 0.0, truth, material.unit)


@dataclass(frozen=True)
class _Pair:
    """A pair of systems under one metric, whose first should be worse by ``margin``."""

    request: Request
    m: int
    pair: tuple[int, int]
    margin: float
    index: int

    @property
    def metric(self) -> Metric:
        return self.request.material.metrics[self.m]

    @property
    def counts(self) -> Counts:
        """Those of all systems: (k, S, K)."""
        return self.request.material.counts[self.m]

    @property
    def label(self) -> str:
        return self.request.material.data.labels[self.m]

    def made(self) -> Made:
        """The pair after the better one was made worse. :class:`InputError` if that does not give the difference."""
        scores = self.metric.score(self.counts.sum(axis=1))
        first, second = (float(scores[system]) for system in self.pair)
        sign = 1.0 if self.metric.higher_is_better else -1.0
        wanted = -sign * self.margin
        # Make the first worse if it is too good, else the second.
        worse = 0 if sign * (first - second - wanted) > 0 else 1
        target = second + wanted if worse == 0 else first - wanted
        name = self.request.material.names[self.pair[worse]]
        if first - second == wanted:
            return Made(self.counts[list(self.pair)], f"{name} as it is", 0.0)
        way = self._mixed if self.request.options.equalize == "mix" else self._dropped
        changed, about = way(worse, target)
        made = self.counts[list(self.pair)].copy()
        made[worse] = changed
        found = self.metric.score(made.sum(axis=1))
        error = abs(float(found[0] - found[1]) - wanted)
        self._check(made, error, first - second)
        return Made(made, f"{about}; {_off(error, self.margin)}", error)

    def _check(self, made: Counts, error: float, difference: float) -> None:
        variances = CountSample.from_counts(self.metric, made).variances_of_differences([(0, 1)])
        standard_error = 0.0 if variances is None else float(np.sqrt(variances[0]))
        # Two outputs that are the same everywhere have no standard error.
        if error <= max(TOLERANCE * standard_error, 1e-9):
            return
        names = [self.request.material.names[system] for system in self.pair]
        what = "equal" if self.margin == 0 else f"{self.margin:g} apart"
        raise CannotBeMadeError(
            f"{self.label}: the scores of {quoted(names[0])} and {quoted(names[1])}, which differ by "
            f"{abs(difference):.3g}, cannot be made {what}: they are off by {error:.3g}, and only "
            f"{TOLERANCE * standard_error:.2g} is small enough; use another value of equalize, or other systems"
        )

    def _is_worse(self, score: float, target: float) -> bool:
        return score < target if self.metric.higher_is_better else score > target

    def _mixed(self, worse: int, target: float) -> tuple[Counts, str]:
        """The worse system with some segments of a third one: bisection over a random order of the segments."""
        material = self.request.material
        totals = self.counts.sum(axis=1)
        scores = self.metric.score(totals)
        changed, other = self.pair[worse], self.pair[1 - worse]
        third = [
            system
            for system in range(len(material.names))
            if system != changed and (system != other or self.margin) and self._is_worse(float(scores[system]), target)
        ]
        if not third:
            gap = abs(float(scores[changed]) - target)
            raise CannotBeMadeError(
                f"{self.label}: no third system scores worse than {target:.4g}, so segments of it cannot bring down "
                f"{quoted(material.names[changed])}, whose score differs by {gap:.3g}: add a worse system, or use "
                "equalize 'drop-words'"
            )
        # The worst one, of which the fewest segments are needed.
        source = (min if self.metric.higher_is_better else max)(third, key=lambda system: float(scores[system]))
        own, theirs = self.counts[changed], self.counts[source]
        order = self.request.order(self.index, len(own))

        def at(n: int) -> Counts:
            rows: Counts = own.copy()
            rows[order[:n]] = theirs[order[:n]]
            return rows

        n = self._most(len(order), at, target)
        rows = closest(at(n), theirs, order[n:], self.metric, target)
        share = float((rows != own).any(axis=1).sum()) / max(int((theirs != own).any(axis=1).sum()), 1)
        return rows, f"{share:.1%} of {material.names[changed]} from {material.names[source]}"

    def _dropped(self, worse: int, target: float) -> tuple[Counts, str]:
        """The worse system with random words dropped: bisection over a random order of the words."""
        material = self.request.material
        corpus, metric = material.data.corpus, self.metric
        if corpus is None or not isinstance(metric, NativeMetric) or metric.reads_parses:
            raise InputError(
                f"{self.label}: equalize 'drop-words' needs texts, which this metric does not read: use 'mix'"
            )
        name = material.names[self.pair[worse]]
        words = [str(line).split() for line in corpus.systems[name]]
        ends = np.cumsum([len(line) for line in words])
        order = self.request.order(self.index, int(ends[-1]))
        segment_of = np.searchsorted(ends, np.arange(int(ends[-1])), side="right")

        def count(dropped: NDArray[np.intp]) -> Counts:
            kept = np.ones(int(ends[-1]), dtype=bool)
            kept[dropped] = False
            at = iter(kept.tolist())
            lines = [" ".join([word for word in line if next(at)]) for line in words]
            counted: Counts = metric.counted({name: lines}, corpus.references, self.request.resampling.threads, None)[0]
            return counted

        n = self._most(len(order), lambda n: count(order[:n]), target)
        # The next word of each segment in this order.
        rest = order[n:]
        segments, first = np.unique(segment_of[rest], return_index=True)
        rows = closest(count(order[:n]), count(np.concatenate([order[:n], rest[first]])), segments, metric, target)
        return rows, f"{n / max(len(order), 1):.2%} of the words of {name}"

    def _most(self, n: int, rows: Callable[[int], Counts], target: float) -> int:
        """The largest number of changes, by bisection, with which the score is not yet worse than the target."""
        few, many = 0, n
        while many - few > 1:
            middle = (few + many) // 2
            is_worse = self._is_worse(float(self.metric.score(rows(middle).sum(axis=0))), target)
            few, many = (few, middle) if is_worse else (middle, many)
        return few


def closest(
    counts: Counts, others: Counts, segments: NDArray[np.intp], metric: Metric, target: float, rounds: int = ROUNDS
) -> Counts:
    """Replace the rows of a few segments by others, one after another, so that the score comes closest to a target.

    Parameters
    ----------
    counts, others : (S, K) ndarray of int
    segments : (n,) ndarray of int
        The segments that may be exchanged.
    metric : Metric
    target : float
    rounds : int
        How many at most.

    Returns
    -------
    (S, K) ndarray of int
    """
    rows, left = counts.copy(), np.asarray(segments)
    for _ in range(rounds):
        totals = rows.sum(axis=0)
        if not len(left):
            break
        errors = np.abs(metric.score(totals + others[left] - rows[left]) - target)
        best = int(errors.argmin())
        if errors[best] >= abs(float(metric.score(totals)) - target):
            break
        rows[left[best]] = others[left[best]]
        left = np.delete(left, best)
    return rows


def _off(error: float, margin: float) -> str:
    """By how much a difference of the pool is off."""
    what = "the scores" if margin == 0 else "the difference and the margin"
    return f"{what} are equal" if error == 0 else f"{what} differ by {error:.1g}"
