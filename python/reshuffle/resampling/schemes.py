"""Ways to go through the shuffles of a pair of systems.

======== ============================================= =========================================================
scheme   shuffles                                      p
======== ============================================= =========================================================
iid      R, each unit swapped with probability ½       (c + 1)/(R + 1): Noreen 1989
subgroup 2^m that are a group, of random codes of bits c/2^m: Hemerik & Goeman 2018, doi:10.1007/s11749-017-0571-1
exact    all patterns of swaps of the d units in which c/2^d, or Σ of their probabilities
         a pair differs, or the law of their sum
auto     exact where that costs no more than iid, else iid
======== ============================================= =========================================================

c counts the shuffles at least as extreme as what was observed, which is one of them in all but the first. Only of the
first each is independent of all before, so that a rule may stop them (:mod:`reshuffle.resampling.stopping`).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..errors import InputError
from ..lazy import lazy
from ..metrics.base import Scores
from .reductions import Reduction, SequentialTally, Series, Tally, reached
from .replicates import Replicates
from .samples import Column, Pairs, Sample
from .stopping import AnyRule

__all__ = ["NONE", "SCHEMES", "Shuffled", "Shuffling", "null_distribution", "shuffle"]

SCHEMES = ("auto", "iid", "subgroup", "exact")

# Marks a missing integer in arrays, such as the number of shuffles of a test that had none.
NONE = -1

# Scores are what takes time: 2^30 patterns of a pair take a minute or so.
MOST_PATTERNS = 30

# What a law and shuffles cost, in additions of probabilities, of which a core makes tens of billions a second. The
# ratios were measured with AVX-512; they decide what is done, so they must not depend on where it is done.
COST_OF_LAW = 2_000_000  # one law, however short: two dozen calls of numpy
COST_OF_VALUE = 900  # the score of both systems at one value of a law, by numpy
COST_OF_SCORES = 480  # the same of one shuffle
COST_OF_FLIP = 1.0  # of one unit, whatever the number of pairs
COST_OF_SUM = 0.5  # of one unit of one system, relative to the first one
# A minute or so.
LARGEST_COST = 15 * 10**10
# Half a gigabyte of probabilities.
LONGEST_LAW = 1 << 25


@dataclass(frozen=True)
class Shuffling:
    """How a test goes through its shuffles: the scheme and, if it is ``iid``, the rule that stops them, if any."""

    scheme: str = "iid"
    stopping: AnyRule | None = None


class Shuffled(NamedTuple):
    """What shuffles gave, each array (metrics, pairs).

    ``exceedances`` of ``n_resamples`` shuffles were counted, NONE where nothing was counted one by one: there
    ``probability`` is p. ``includes_observed`` tells whether what was observed is one of them. A scheme whose number of
    shuffles is a power of two has ``bits``, others NONE. If a rule could stop the shuffles, they are those that were
    looked at, and ``by_rule`` tells whether it did. The last three are None where no pair has any.
    """

    scheme: NDArray[np.str_]
    exceedances: NDArray[np.int64]
    n_resamples: NDArray[np.int64]
    includes_observed: bool | NDArray[np.bool_] = False
    bits: NDArray[np.int64] | None = None
    by_rule: NDArray[np.bool_] | None = None
    probability: Scores | None = None

    @classmethod
    def by(
        cls, scheme: str, exceedances: NDArray[np.int64], n_resamples: int | NDArray[np.int64], **others: Any
    ) -> Shuffled:
        """All pairs by one scheme."""
        schemes, n = np.empty(exceedances.shape, dtype="<U8"), np.empty(exceedances.shape, dtype=np.int64)
        schemes[...], n[...] = scheme, n_resamples
        return cls(schemes, exceedances, n, **others)

    def with_exact(self, tests: Mapping[tuple[int, int], Enumerated]) -> Shuffled:
        """The same, but for pairs under metrics that were tested exactly."""
        shape = self.exceedances.shape
        out = self._replace(
            includes_observed=np.full(shape, False),
            bits=np.full(shape, NONE),
            by_rule=np.full(shape, False),
            probability=np.full(shape, np.nan),
        )
        for place, one in tests.items():
            values = ("exact", one.exceedances, one.n_resamples, True, one.bits, False, one.probability)
            arrays: tuple[Any, ...] = out
            for array, value in zip(arrays, values, strict=True):
                array[place] = value
        return out


class Enumerated(NamedTuple):
    """What an exact test of one pair gave: see :class:`Shuffled`."""

    bits: int
    exceedances: int = NONE
    n_resamples: int = NONE
    probability: float = np.nan


class Exact(Protocol):
    """An exact test of one pair."""

    def shuffled(self, threshold: float, alternative: str) -> Enumerated:
        """How much of the null distribution reaches the threshold."""

    def distribution(self) -> tuple[Scores, Scores | None]:
        """The values of the statistic, and their probabilities if they are not equally likely."""


# By metric and pair.
ExactTests: TypeAlias = Mapping[tuple[int, int], Exact]


@dataclass(frozen=True)
class Patterns:
    """All patterns of swaps of the units in which a pair differs."""

    replicates: Replicates
    sample: Sample
    pair: tuple[int, int]

    @classmethod
    def of(cls, replicates: Replicates, sample: Sample, pair: tuple[int, int]) -> Patterns:
        """Without the other systems."""
        return cls(replicates, *sample.of_pair(pair))

    @lazy
    def _units(self) -> NDArray[np.intp]:
        return self.sample.differing_units(self.pair)

    def _first(self, n: int) -> Replicates:
        # With a bit of its own for each unit, replicate g swaps the units whose bits g has.
        codes = np.zeros(self.sample.n_units, dtype=np.uint64)
        codes[self._units] = np.uint64(1) << np.arange(len(self._units), dtype=np.uint64)
        return self.replicates.alone(self.sample).grouped(codes, n)

    def shuffled(self, threshold: float, alternative: str) -> Enumerated:
        """The share of patterns that reach the threshold."""
        bits = len(self._units)
        # A pattern and its complement have opposite statistics, so that for a two-sided test one half will do.
        times = 2 if alternative == "two-sided" and bits else 1
        (counts,) = self._first(2**bits // times).run([Tally(alternative, np.array([[threshold]]))], [self.pair])
        return Enumerated(bits, times * int(counts[0, 0]), 2**bits)

    def distribution(self) -> tuple[Scores, None]:
        """The statistic of every pattern."""
        (statistics,) = self._first(2 ** len(self._units)).run([Series()], [self.pair])
        return statistics[0, 0], None


@dataclass(frozen=True)
class Law:
    """The law of the statistic of a pair that differs in one column of counts: it is a function of that column's sum.

    The sum over the swapped units takes Σ|d_s|/g + 1 values, g the greatest common divisor of the differences d_s, and
    its law is the convolution of d laws of two points. Nothing is subtracted, so a p-value is right to d·2⁻⁵² of
    itself; one below 2·10⁻³⁰⁸ is given as that.
    """

    replicates: Replicates
    column: Column
    differences: NDArray[np.int64]

    @classmethod
    def of(cls, replicates: Replicates, column: Column) -> Law:
        """With those differences of the pair in the column that are not 0."""
        return cls(replicates, column, column.differences)

    @staticmethod
    def cost(units: int, column: Column) -> int:
        """In additions of probabilities, if the pair differs in so many units."""
        return COST_OF_LAW + column.span * (units + COST_OF_VALUE)

    def shuffled(self, threshold: float, alternative: str) -> Enumerated:
        """The probability of what reaches the threshold."""
        statistics, probabilities = self.distribution()
        extreme = reached(statistics, threshold, alternative)
        # The law is symmetric. Both ends together make the same sum for (x, y) and (y, x), to the last bit.
        weights = np.where(extreme, probabilities, 0.0)
        p = 1.0 if extreme.all() else 0.5 * float((weights + weights[::-1]).sum())
        return Enumerated(len(self.differences), probability=min(max(p, sys.float_info.min), 1.0))

    def distribution(self) -> tuple[Scores, Scores]:
        """The values of the statistic, some of which may be equal, and their probabilities."""
        unit = int(np.gcd.reduce(self.differences))
        steps = np.abs(self.differences // unit).astype(np.uint64)
        probabilities = _core.subset_sum_distribution(steps, progress=self.replicates.progress)
        # Σ of the swapped d_s has the law of (Σ of the negative ones) + Σ of the |d_s| whose coin shows heads.
        least = int(self.differences[self.differences < 0].sum())
        statistics = np.empty(len(probabilities))
        size = self.column.sample.batch
        for first in range(0, len(statistics), size):
            part = statistics[first : first + size]
            part[:] = self.column.statistics(least + unit * np.arange(first, first + len(part)))
        return statistics, probabilities


def _cost_of_shuffles(replicates: Replicates, sample: Sample, pairs: Pairs) -> float:
    """What R shuffles of one of the pairs cost, in additions of probabilities.

    That is its scores, and its share of the flips and of the systems' sums. It is a function of the numbers of units,
    systems, pairs and shuffles alone, so that ``auto`` does the same everywhere. That no more than one column is summed
    up makes it too low, if anything.
    """
    others = len(set(chain.from_iterable(pairs))) - 1
    shared = sample.n_units * (COST_OF_FLIP + COST_OF_SUM * others)
    return replicates.n_resamples * (COST_OF_SCORES + shared / len(pairs))


def exact_tests(replicates: Replicates, pairs: Pairs, scheme: str, sharing: Pairs) -> ExactTests:
    """How to test exactly those pairs under each metric that should be.

    ``sharing`` are the pairs that would otherwise go through the same shuffles, of which each then costs less.
    """
    if scheme not in ("auto", "exact"):
        return {}
    return {
        (m, p): test
        for m, sample in enumerate(replicates.samples)
        for p, test in _exact_tests_of(replicates, sample, pairs, scheme, sharing)
    }


def _exact_tests_of(
    replicates: Replicates, sample: Sample, pairs: Pairs, scheme: str, sharing: Pairs
) -> Iterator[tuple[int, Exact]]:
    """The same under one metric, with the numbers of the pairs."""
    few = replicates.n_resamples.bit_length()  # 2^(d − 1) ≤ R
    most = few if scheme == "auto" else sample.n_units
    affordable = _cost_of_shuffles(replicates, sample, sharing) if scheme == "auto" else LARGEST_COST
    for p, (units, column) in enumerate(sample.differing(pairs, most)):
        if units <= few:
            yield p, Patterns.of(replicates, sample, pairs[p])
        elif column is not None and Law.cost(units, column) <= affordable and column.span < LONGEST_LAW:
            yield p, Law.of(replicates, column)
        elif scheme == "auto":
            continue
        elif units <= MOST_PATTERNS:
            yield p, Patterns.of(replicates, sample, pairs[p])
        else:
            raise InputError(
                f"{sample.metric.name}: two systems differ in {units:,} {sample.unit}s, too many for an exact test, "
                f"which enumerates 2^{units} patterns of swaps (at most 2^{MOST_PATTERNS}, unless the systems differ "
                "in only one column of small counts): choose the scheme 'auto', 'iid' or 'subgroup'"
            )


def _grouped(replicates: Replicates) -> Replicates:
    """At least as many shuffles, which are a group."""
    codes = _core.stream_values(replicates.seed, "code", 0, replicates.n_units)
    return replicates.grouped(codes, 1 << _bits(replicates))


def _bits(replicates: Replicates) -> int:
    return (replicates.n_resamples - 1).bit_length()


def shuffle(
    replicates: Replicates,
    pairs: Pairs,
    thresholds: Scores,
    alternative: str,
    shuffling: Shuffling,
    besides: Sequence[Reduction[Any, Any]] = (),
) -> tuple[Shuffled, list[Any]]:
    """Shuffle every pair under every sample. ``thresholds``: (metrics, pairs).

    ``besides`` is what else to keep of the shuffles, for ``iid`` that no rule stops; it comes second.
    """
    if shuffling.stopping is not None:
        asked = SequentialTally(alternative, thresholds, shuffling.stopping.core())
        found, *kept = replicates.run([asked, *besides], pairs)
        includes = shuffling.stopping.includes_observed(found.by_rule)
        shuffled = Shuffled.by(
            "iid", found.exceedances, found.shuffles, includes_observed=includes, by_rule=found.by_rule
        )
        return shuffled, kept
    if shuffling.scheme == "subgroup":
        group = _grouped(replicates)
        counts, *kept = group.run([Tally(alternative, thresholds), *besides], pairs)
        bits = np.full(counts.shape, _bits(replicates))
        return Shuffled.by("subgroup", counts, group.n_resamples, includes_observed=True, bits=bits), kept
    exact = exact_tests(replicates, pairs, shuffling.scheme, pairs)
    if not exact:
        counts, *kept = replicates.run([Tally(alternative, thresholds), *besides], pairs)
        return Shuffled.by("iid", counts, replicates.n_resamples), kept

    def by_coins(others: NDArray[np.intp]) -> NDArray[np.int64]:
        (counts,) = replicates.run([Tally(alternative, thresholds[:, others])], [pairs[p] for p in others])
        return np.asarray(counts)

    return _exact_or(by_coins, exact, replicates.n_resamples, thresholds, alternative), []


def shuffle_each(
    replicates: Replicates, thresholds: Scores, alternative: str, scheme: str, seeds: NDArray[np.uint64]
) -> Shuffled | None:
    """Shuffle the systems of a sample of two arrays two by two, each pair by a seed of its own: exactly or by coins.

    ``thresholds``: (1, pairs). None if the core does not score the sample.
    """
    (sample,) = replicates.samples
    native = sample.native("shuffles")
    if native is None:
        return None
    metric, counts = native
    n_pairs = len(counts) // 2

    def by_coins(others: NDArray[np.intp]) -> NDArray[np.int64]:
        found = _core.shuffle_many(
            metric,
            counts if len(others) == n_pairs else _core.Counts([array[others] for array in sample.sums().arrays]),
            alternative,
            thresholds[0, others],
            n=replicates.n_resamples,
            seeds=seeds[others],
            threads=replicates.threads,
            progress=replicates.progress,
        )
        return found.astype(np.int64)[None]

    pairs = [(2 * p, 2 * p + 1) for p in range(n_pairs)]
    # As if each pair were alone: it must not matter what else is in the batch.
    exact = exact_tests(replicates, pairs, scheme, pairs[:1])
    return _exact_or(by_coins, exact, replicates.n_resamples, thresholds, alternative)


def _exact_or(
    by_coins: Callable[[NDArray[np.intp]], NDArray[np.int64]],
    exact: ExactTests,
    n_resamples: int,
    thresholds: Scores,
    alternative: str,
) -> Shuffled:
    """Pairs under metrics that can be tested exactly are; what is left is counted ``by_coins``."""
    by_chance = np.ones(thresholds.shape, dtype=np.bool_)
    for place in exact:
        by_chance[place] = False
    others = np.flatnonzero(by_chance.any(axis=0))
    counts = np.zeros(thresholds.shape, dtype=np.int64)
    if others.size:
        counts[:, others] = by_coins(others)
    shuffled = Shuffled.by("iid", counts, n_resamples)
    if not exact:
        return shuffled
    return shuffled.with_exact(
        {place: test.shuffled(float(thresholds[place]), alternative) for place, test in exact.items()}
    )


def null_distribution(replicates: Replicates, pair: tuple[int, int], scheme: str) -> tuple[Scores, Scores | None]:
    """The statistic of a pair under the first sample on every shuffle that :func:`shuffle` would go through.

    The second array holds their probabilities if they are not equally likely.
    """
    exact = exact_tests(replicates, [pair], scheme, [pair])
    if exact:
        return exact[0, 0].distribution()
    shuffles = _grouped(replicates) if scheme == "subgroup" else replicates
    (statistics,) = shuffles.run([Series()], [pair])
    return statistics[0, 0], None
