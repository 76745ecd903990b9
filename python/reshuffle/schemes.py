"""Ways to go through the shuffles of a pair of systems.

======== ============================================= =========================================================
scheme   shuffles                                      p
======== ============================================= =========================================================
iid      R, each unit swapped with probability ½       (c + 1)/(R + 1): Noreen 1989
subgroup 2^m that are a group, of random codes of bits c/2^m: Hemerik & Goeman 2018, doi:10.1007/s11749-017-0571-1
exact    all patterns of swaps of the d units in which c/2^d, or Σ of their probabilities
         a pair differs, or the law of their sum
auto     exact where that is no work to speak of, else iid
======== ============================================= =========================================================

c counts the shuffles at least as extreme as what was observed, which is one of them in all but the first. Only of the
first each is independent of all before, so that a rule may stop them (:mod:`reshuffle.stopping`).
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from . import _core
from .errors import InputError
from .lazy import lazy
from .metrics import Scores
from .resampling import AnyFamily, Family, Pairs, Replicates, reached
from .results import UsedStopping
from .stopping import AnyRule

__all__ = ["SCHEMES", "Shuffled", "Shuffling", "null_distribution", "shuffle"]

SCHEMES = ("auto", "iid", "subgroup", "exact")

# Scores are what takes time: 2^30 patterns of a pair take a minute or so.
MOST_PATTERNS = 30

# What a law may cost, in additions of probabilities: some milliseconds, and some minutes.
AUTOMATIC_COST = 10**8
LARGEST_COST = 10**11
COST_OF_SCORES = 100
# Half a gigabyte of probabilities.
LONGEST_LAW = 1 << 25


def scheme_name(scheme: str, bits: int) -> str:
    """A scheme and the number of its shuffles, a power of two, as signatures name them."""
    return f"{scheme}[2^{bits}]"


@dataclass(frozen=True)
class Shuffling:
    """How a test goes through its shuffles: the scheme and, if it is ``iid``, the rule that stops them, if any."""

    scheme: str = "iid"
    stopping: AnyRule | None = None


@dataclass(frozen=True)
class Shuffled:
    """What the shuffles of one pair under one metric gave.

    ``n_resamples`` and ``exceedances`` are None where nothing was counted one by one; if a rule could stop the
    shuffles, they are of those that were looked at.
    """

    pvalue: float
    exceedances: int | None
    n_resamples: int | None
    scheme: str
    bits: int | None = None
    stopping: UsedStopping | None = None

    @classmethod
    def by_coins(cls, exceedances: int, n_resamples: int) -> Shuffled:
        """p = (c + 1)/(R + 1): Riezler & Maxwell 2005 (W05-0908), Fig. 1, last line."""
        return cls((exceedances + 1) / (n_resamples + 1), exceedances, n_resamples, "iid")

    @classmethod
    def by_group(cls, exceedances: int, bits: int, scheme: str) -> Shuffled:
        """p = c/2^bits: what was observed is one of the shuffles that were counted.

        >>> Shuffled.by_group(2, 4, "exact").pvalue
        0.125
        """
        return cls(exceedances / 2**bits, exceedances, 2**bits, scheme, bits)

    @property
    def name(self) -> str | None:
        """The scheme and the number of its shuffles as signatures name them, None for what goes without saying.

        >>> Shuffled.by_coins(2, 99).name, Shuffled.by_group(2, 4, "exact").name
        (None, 'exact[2^4]')
        """
        return None if self.bits is None else scheme_name(self.scheme, self.bits)


@dataclass(frozen=True)
class Patterns:
    """All patterns of swaps of the units in which a pair differs."""

    replicates: Replicates
    family: AnyFamily
    pair: tuple[int, int]

    @classmethod
    def of(cls, replicates: Replicates, family: AnyFamily, pair: tuple[int, int]) -> Patterns:
        """Without the other systems."""
        return cls(replicates, *family.of_pair(pair))

    @lazy
    def _units(self) -> NDArray[np.intp]:
        return self.family.differing_units(self.pair)

    def _first(self, n: int) -> Replicates:
        # With a bit of its own for each unit, replicate g swaps the units whose bits g has.
        codes = np.zeros(self.family.n_units, dtype=np.uint64)
        codes[self._units] = np.uint64(1) << np.arange(len(self._units), dtype=np.uint64)
        return self.replicates.grouped(codes, n, [self.family])

    def shuffled(self, threshold: float, alternative: str) -> Shuffled:
        """The share of patterns that reach the threshold."""
        bits = len(self._units)
        # A pattern and its complement have opposite statistics, so that for a two-sided test one half will do.
        times = 2 if alternative == "two-sided" and bits else 1
        count = self._first(2**bits // times).tally([self.pair], np.array([[threshold]]), alternative)
        return Shuffled.by_group(times * int(count[0, 0]), bits, "exact")

    def distribution(self) -> tuple[Scores, None]:
        """The statistic of every pattern."""
        return self._first(2 ** len(self._units)).shuffles([self.pair])[0, 0], None


@dataclass(frozen=True)
class Law:
    """The law of the statistic of a pair that differs in one column of counts: it is a function of that column's sum.

    The sum over the swapped units takes Σ|d_s|/g + 1 values, g the greatest common divisor of the differences d_s, and
    its law is the convolution of d laws of two points. Nothing is subtracted, so a p-value is right to d·2⁻⁵² of
    itself; one below 2·10⁻³⁰⁸ is given as that.
    """

    replicates: Replicates
    family: Family
    pair: tuple[int, int]
    column: int
    differences: NDArray[np.int64]

    @classmethod
    def of(cls, replicates: Replicates, family: Family, pair: tuple[int, int], column: int) -> Law:
        """With those differences of the pair in the column that are not 0."""
        x, y = (family.counts[system, :, column] for system in pair)
        return cls(replicates, family, pair, column, (x - y)[x != y])

    @property
    def unit(self) -> int:
        """What all differences are whole multiples of."""
        return int(np.gcd.reduce(self.differences))

    @property
    def span(self) -> int:
        """Σ|d_s|/g."""
        return int(np.abs(self.differences).astype(object).sum()) // self.unit

    @property
    def cost(self) -> int:
        """In additions, roughly."""
        return self.span * (len(self.differences) + COST_OF_SCORES)

    def shuffled(self, threshold: float, alternative: str) -> Shuffled:
        """The probability of what reaches the threshold."""
        statistics, probabilities = self.distribution()
        extreme = reached(statistics, threshold, alternative)
        # The law is symmetric. Both ends together make the same sum for (x, y) and (y, x), to the last bit.
        weights = np.where(extreme, probabilities, 0.0)
        p = 1.0 if extreme.all() else 0.5 * float((weights + weights[::-1]).sum())
        return Shuffled(min(max(p, sys.float_info.min), 1.0), None, None, "exact", len(self.differences))

    def distribution(self) -> tuple[Scores, Scores]:
        """The values of the statistic, some of which may be equal, and their probabilities."""
        steps = np.abs(self.differences // self.unit).astype(np.uint64)
        probabilities = _core.coin_law(steps, progress=self.replicates.progress)
        # Σ of the swapped d_s has the law of (Σ of the negative ones) + Σ of the |d_s| whose coin shows heads.
        least = int(self.differences[self.differences < 0].sum())
        totals = self.family.totals[list(self.pair)]
        statistics = np.empty(len(probabilities))
        for first in range(0, len(statistics), self.family.batch):
            part = statistics[first : first + self.family.batch]
            moved = least + self.unit * np.arange(first, first + len(part))
            rows = np.repeat(totals[:, None], len(part), axis=1)
            rows[0, :, self.column] -= moved
            rows[1, :, self.column] += moved
            part[:] = self.family.metric.score(rows[0]) - self.family.metric.score(rows[1])
        return statistics, probabilities


Exact: TypeAlias = "Patterns | Law"


def exact_tests(replicates: Replicates, metric: int, pairs: Pairs, scheme: str) -> list[Exact | None]:
    """For each pair how to test it exactly under a metric, None if it should not be."""
    if scheme not in ("auto", "exact"):
        return [None] * len(pairs)
    family = replicates.families[metric]
    few = replicates.n_resamples.bit_length()  # 2^(d − 1) ≤ R
    most = few if scheme == "auto" else family.n_units
    found: list[Exact | None] = []
    for pair, (units, column) in zip(pairs, family.differing(pairs, most), strict=True):
        law = Law.of(replicates, family, pair, column) if column is not None and isinstance(family, Family) else None
        affordable = AUTOMATIC_COST if scheme == "auto" else LARGEST_COST
        if units <= few:
            found.append(Patterns.of(replicates, family, pair))
        elif law is not None and law.cost <= affordable and law.span < LONGEST_LAW:
            found.append(law)
        elif scheme == "auto":
            found.append(None)
        elif units <= MOST_PATTERNS:
            found.append(Patterns.of(replicates, family, pair))
        else:
            raise InputError(
                f"{family.metric.name}: two systems differ in {units:,} {family.unit}s, too many for an exact test of "
                f"2^{units} patterns of swaps (at most 2^{MOST_PATTERNS}, unless they differ in one column of small "
                "counts): choose the scheme 'auto', 'iid' or 'subgroup'"
            )
    return found


def _grouped(replicates: Replicates) -> Replicates:
    """At least as many shuffles, which are a group."""
    codes = _core.stream_words(replicates.seed, "code", 0, replicates.n_units)
    return replicates.grouped(codes, 1 << _bits(replicates))


def _bits(replicates: Replicates) -> int:
    return (replicates.n_resamples - 1).bit_length()


def _until(
    replicates: Replicates, pairs: Pairs, thresholds: Scores, alternative: str, rule: AnyRule
) -> list[list[Shuffled]]:
    """Shuffles by coins, until the rule stops them."""
    found = replicates.tally_until(rule.core(), pairs, thresholds, alternative)
    pvalues = rule.pvalues(found)

    def shuffled(m: int, p: int) -> Shuffled:
        used = rule.used(replicates.n_resamples, bool(found.by_rule[m, p]))
        n, exceedances = int(found.shuffles[m, p]), int(found.exceedances[m, p])
        return Shuffled(float(pvalues[m, p]), exceedances, n, "iid", stopping=used)

    return [[shuffled(m, p) for p in range(len(pairs))] for m in range(len(pvalues))]


def shuffle(
    replicates: Replicates, pairs: Pairs, thresholds: Scores, alternative: str, shuffling: Shuffling
) -> list[list[Shuffled]]:
    """Shuffle every pair under every family: metric by metric, pair by pair. ``thresholds``: (metrics, pairs)."""
    if shuffling.stopping is not None:
        return _until(replicates, pairs, thresholds, alternative, shuffling.stopping)
    scheme = shuffling.scheme
    exact = [exact_tests(replicates, metric, pairs, scheme) for metric in range(len(replicates.families))]
    others = [p for p in range(len(pairs)) if any(of_metric[p] is None for of_metric in exact)]
    counts = np.zeros(thresholds.shape, dtype=np.int64)
    if others:
        shuffles = _grouped(replicates) if scheme == "subgroup" else replicates
        counts[:, others] = shuffles.tally([pairs[p] for p in others], thresholds[:, others], alternative)

    def shuffled(m: int, p: int) -> Shuffled:
        test = exact[m][p]
        if test is not None:
            return test.shuffled(float(thresholds[m, p]), alternative)
        if scheme == "subgroup":
            return Shuffled.by_group(int(counts[m, p]), _bits(replicates), scheme)
        return Shuffled.by_coins(int(counts[m, p]), replicates.n_resamples)

    return [[shuffled(m, p) for p in range(len(pairs))] for m in range(len(exact))]


def null_distribution(replicates: Replicates, pair: tuple[int, int], scheme: str) -> tuple[Scores, Scores | None]:
    """The statistic of a pair under the first family on every shuffle that :func:`shuffle` would go through.

    The second array holds their probabilities if they are not equally likely.
    """
    (exact,) = exact_tests(replicates, 0, [pair], scheme)
    if exact is not None:
        return exact.distribution()
    shuffles = _grouped(replicates) if scheme == "subgroup" else replicates
    return shuffles.shuffles([pair])[0, 0], None
