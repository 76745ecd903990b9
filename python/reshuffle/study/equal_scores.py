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

# Scores count as equal, and a difference as the margin, if they are off by at most this many standard errors of the
# difference on the whole pool. This changes a size of .05 by less than .0001.
TOLERANCE = 0.02
# After the bisection, single segments or pairs are exchanged at most this many times to bring the score to its target.
ROUNDS = 4


class CannotBeMadeError(InputError):
    """The scores of this pair cannot be made equal, or different by the margin."""


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
                made, about = _made_pair(request, m, pair, margin, m * len(request.pairs) + number)
            except CannotBeMadeError as error:
                refusals.append(error)
                continue
            populations.append(material.population_of(material.named(pair), [made], [m]))
            abouts.append(f"{material.data.labels[m]}: {about}")
        if not populations:
            raise refusals[0]
        n_refused += len(refusals)
        parts.append(Part([m], populations))
    truth = (
        f"Under each metric the scores of the two systems {what} on the whole pool, from which test sets were drawn: "
        f"{EQUALIZE[how]} ({'; '.join(abouts[:3])}{'; …' if len(abouts) > 3 else ''}). Their lengths and variances "
        "differ, so outputs need not be exchangeable."
    )
    if n_refused:
        pairs = "1 pair was" if n_refused == 1 else f"{n_refused:,} pairs were"
        truth += f" {pairs} left out, because this cannot be done with these systems."
    return NullData(parts, 0.0, truth, material.unit)


def _made_pair(request: Request, m: int, pair: tuple[int, int], margin: float, index: int) -> tuple[Counts, str]:
    """A pair under one metric, (2, S, K), after one system was made worse, and how, in words.

    The first is made worse if it is less than the margin below the second, otherwise the second, so that the first is
    then below it by just the margin.
    :class:`InputError` if that does not give the difference.
    """
    material = request.material
    metric, counts = material.metrics[m], material.counts[m]
    scores = metric.score(counts.sum(axis=1))
    first, second = (float(scores[system]) for system in pair)
    sign = 1.0 if metric.higher_is_better else -1.0
    wanted = -sign * margin
    # Make the first worse if it is too good, else the second.
    worse = 0 if sign * (first - second - wanted) > 0 else 1
    target = second + wanted if worse == 0 else first - wanted
    if first - second == wanted:
        return counts[list(pair)], f"{material.named(pair[:1])} as it is"
    # With a margin, segments of the other system of the pair may do.
    without = () if margin else (pair[1 - worse],)
    changed, about = made_worse(request, m, pair[worse], target, index, without)
    made = counts[list(pair)].copy()
    made[worse] = changed
    error = checked_error(request, m, pair, made, wanted)
    what = "the difference and the margin" if margin else "the scores"
    return made, f"{about}; {what} are equal" if error == 0 else f"{about}; {what} differ by {error:.1g}"


def checked_error(request: Request, m: int, pair: tuple[int, int], made: Counts, wanted: float = 0.0) -> float:
    """By how much a difference is off; :class:`InputError` if that is not small beside its standard error.

    ``made`` are the counts of a pair of systems under metric m after one of them was made worse: (2, S, K).
    """
    material = request.material
    metric = material.metrics[m]
    found = metric.score(made.sum(axis=1))
    error = abs(float(found[0] - found[1]) - wanted)
    variances = CountSample.from_counts(metric, made).variances_of_differences([(0, 1)])
    standard_error = 0.0 if variances is None else float(np.sqrt(variances[0]))
    # Two outputs that are the same everywhere have no standard error.
    if error <= max(TOLERANCE * standard_error, 1e-9):
        return error
    scores = metric.score(material.counts[m][list(pair)].sum(axis=1))
    names = [material.names[system] for system in pair]
    what = f"{abs(wanted):g} apart" if wanted else "equal"
    raise CannotBeMadeError(
        f"{material.data.labels[m]}: the scores of {quoted(names[0])} and {quoted(names[1])}, which differ by "
        f"{abs(float(scores[0] - scores[1])):.3g}, cannot be made {what}: they are off by {error:.3g}, and at most "
        f"{TOLERANCE * standard_error:.2g} is allowed; use another value of equalize, or other systems"
    )


def made_worse(
    request: Request, m: int, system: int, target: float, index: int, without: Sequence[int] = ()
) -> tuple[Counts, str]:
    """A system after it was made worse until its score under metric m is a target: (S, K), and how, in words.

    ``index`` numbers the random order of segments or words; ``without`` are systems whose segments must not be taken.
    """
    one = _System(request, m, system, target, index)
    return one.mixed(without) if request.options.equalize == "mix" else one.with_words_dropped()


@dataclass(frozen=True)
class _System:
    """A system that should be as bad as a target score."""

    request: Request
    m: int
    system: int
    target: float
    index: int

    @property
    def metric(self) -> Metric:
        return self.request.material.metrics[self.m]

    @property
    def label(self) -> str:
        return self.request.material.data.labels[self.m]

    @property
    def reads_texts(self) -> bool:
        """Can words be dropped under this metric?"""
        parses = not isinstance(self.metric, NativeMetric) or self.metric.reads_parses
        return self.request.material.data.corpus is not None and not parses

    def is_worse(self, score: float) -> bool:
        """Is a score worse than the target?"""
        return score < self.target if self.metric.higher_is_better else score > self.target

    def mixed(self, without: Sequence[int]) -> tuple[Counts, str]:
        """With some segments of another system: bisection over a random order of the segments."""
        material, counts = self.request.material, self.request.material.counts[self.m]
        scores = self.metric.score(counts.sum(axis=1)).tolist()
        third = [
            other
            for other in range(len(scores))
            if other != self.system and other not in without and self.is_worse(scores[other])
        ]
        name = material.names[self.system]
        if not third:
            advice = "add a worse system" + ", or use equalize=drop-words" * self.reads_texts
            raise CannotBeMadeError(
                f"{self.label}: no third system scores worse than {self.target:.4g}, so segments of it cannot bring "
                f"down {quoted(name)}, whose score differs by {abs(scores[self.system] - self.target):.3g}: "
                f"{advice}"
            )
        # The worst one, of which the fewest segments are needed.
        source = (min if self.metric.higher_is_better else max)(third, key=lambda other: scores[other])
        own, theirs = counts[self.system], counts[source]
        order = self.request.order(self.index, len(own))

        def at(n: int) -> Counts:
            rows: Counts = own.copy()
            rows[order[:n]] = theirs[order[:n]]
            return rows

        n = self._most(len(order), at)
        rows = at(n)
        others = theirs.copy()
        others[order[:n]] = own[order[:n]]
        rows = closest(rows, others, self.metric, self.target)
        share = float((rows != own).any(axis=1).sum()) / max(int((theirs != own).any(axis=1).sum()), 1)
        return rows, f"{share:.1%} of {name} from {material.names[source]}"

    def with_words_dropped(self) -> tuple[Counts, str]:
        """With random words dropped: bisection over a random order of the words."""
        material, metric = self.request.material, self.metric
        corpus = material.data.corpus
        if corpus is None or not isinstance(metric, NativeMetric) or not self.reads_texts:
            raise InputError(
                f"{self.label}: equalize 'drop-words' needs texts, which this metric does not read: use 'mix'"
            )
        name, threads = material.names[self.system], self.request.settings.threads
        words = [str(line).split() for line in corpus.systems[name]]
        ends = np.cumsum([len(line) for line in words])
        order = self.request.order(self.index, int(ends[-1]))
        segment_of = np.searchsorted(ends, np.arange(int(ends[-1])), side="right")

        def count(dropped: NDArray[np.intp]) -> Counts:
            kept = np.ones(int(ends[-1]), dtype=bool)
            kept[dropped] = False
            at = iter(kept.tolist())
            lines = [" ".join([word for word in line if next(at)]) for line in words]
            return np.asarray(metric.counted({name: lines}, corpus.references, threads, None)[0])

        n = self._most(len(order), lambda n: count(order[:n]))
        # The next word of each segment in this order.
        rest = order[n:]
        first = np.unique(segment_of[rest], return_index=True)[1]
        others = count(np.concatenate([order[:n], rest[first]]))
        rows = closest(count(order[:n]), others, metric, self.target)
        return rows, f"{n / max(len(order), 1):.2%} of the words of {name}"

    def _most(self, n: int, rows: Callable[[int], Counts]) -> int:
        """The largest number of changes, by bisection, with which the score is not yet worse than the target."""
        few, many = 0, n
        while many - few > 1:
            middle = (few + many) // 2
            is_worse = self.is_worse(float(self.metric.score(rows(middle).sum(axis=0))))
            few, many = (few, middle) if is_worse else (middle, many)
        return few


def closest(counts: Counts, others: Counts, metric: Metric, target: float) -> Counts:
    """Exchange a few rows with others, one or two at a time, so that the score comes closest to a target.

    In each round the exchange of every single row is tried, and for every row the pair with that one other whose effect
    makes up the rest, as if effects added up. The best one is made, if it is better than none.

    Parameters
    ----------
    counts, others : (S, K) ndarray of int
    metric : Metric
    target : float

    Returns
    -------
    (S, K) ndarray of int
    """
    rows, rest = counts.copy(), others.copy()
    for _ in range(ROUNDS):
        totals, changes = rows.sum(axis=0), rest - rows
        score = float(metric.score(totals))
        singles = np.flatnonzero(changes.any(axis=1))
        if not len(singles):
            break
        effects = metric.score(totals + changes[singles]) - score
        order = np.argsort(effects, kind="stable")
        # For each row, another one whose effect is next to what is missing.
        places = np.searchsorted(effects[order], target - score - effects).clip(0, len(order) - 1)
        partners = singles[order[places]]
        pairs = np.flatnonzero(partners != singles)
        of_pairs = (
            metric.score(totals + changes[singles[pairs]] + changes[partners[pairs]]) if len(pairs) else effects[:0]
        )
        errors = np.abs(np.concatenate([effects + score, of_pairs]) - target)
        best = int(errors.argmin())
        if errors[best] >= abs(score - target):
            break
        chosen = pairs[best - len(singles)] if best >= len(singles) else best
        exchanged = [int(singles[chosen])] + ([int(partners[chosen])] if best >= len(singles) else [])
        rows[exchanged], rest[exchanged] = rest[exchanged], rows[exchanged]
    return rows
