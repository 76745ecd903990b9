"""Exact tests: the null distribution of all 2^d patterns of swaps, where d is the number of units that differ.

Swapping a unit in which the two systems are equal changes nothing. There are two algorithms, both of them exact:

- :class:`Enumeration` computes the statistic of every pattern, for any metric.
- :class:`Convolution` is for a pair that differs in one column of counts. Its statistic is a function of one sum, whose
  distribution is a convolution.

:func:`exact_tests` chooses between them and random shuffles by their cost.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..errors import InputError
from ..lazy import lazy
from ..metrics.base import Scores
from ..results import Histogram
from .histograms import histogram_of_probabilities
from .reductions import Histograms, Reduction, Series, Tally, reached
from .replicates import Replicates
from .samples import DifferingColumn, Pairs, Sample

# Stands for a missing integer in arrays, such as the number of shuffles of a test without shuffles.
MISSING = -1

# The most units whose patterns are enumerated: scoring 2^30 patterns takes about a minute.
MAX_PATTERN_BITS = 30

# Costs of a convolution and of shuffles, in additions of two probabilities. One core makes tens of billions of these a
# second. The ratios were measured with AVX-512. They are constants so that ``auto`` chooses the same everywhere.
COST_OF_CONVOLUTION = 2_000_000  # of one convolution, however short: two dozen calls of numpy
COST_OF_VALUE = 900  # of scoring both systems at one value of the sum, in numpy
COST_OF_SCORES = 480  # of scoring both systems on one shuffle
COST_OF_FLIP = 1.0  # of one random flip of a unit, which all pairs share
COST_OF_SUM = 0.5  # of adding one unit to the sum of one system; the first system needs no sum
# The largest cost of a convolution with ``exact``: about a minute.
MAX_COST = 15 * 10**10
# The largest number of probabilities of a convolution: half a gigabyte.
MAX_CONVOLUTION = 1 << 25


class ExactResult(NamedTuple):
    """The result of an exact test of one pair: see :class:`reshuffle.resampling.schemes.Shuffled`."""

    bits: int
    exceedances: int = MISSING
    n_resamples: int = MISSING
    probability: float = np.nan
    null: Histogram | None = None


@dataclass(frozen=True)
class Enumeration:
    """The statistic of every pattern of swaps of the units in which a pair differs."""

    replicates: Replicates
    sample: Sample
    pair: tuple[int, int]

    @lazy
    def _units(self) -> NDArray[np.intp]:
        return self.sample.differing_units(self.pair)

    def _patterns(self, n: int) -> Replicates:
        """The first n patterns. Each unit that differs has one bit, and replicate g swaps the units whose bit g has."""
        codes = np.zeros(self.sample.n_units, dtype=np.uint64)
        codes[self._units] = np.uint64(1) << np.arange(len(self._units), dtype=np.uint64)
        return self.replicates.with_samples([self.sample]).with_codes(codes, n)

    def result(self, threshold: float, alternative: str, histogram: bool = False) -> ExactResult:
        """The share of the null distribution that reaches the threshold; with ``histogram``, also a histogram of it."""
        bits = len(self._units)
        # A pattern and its complement have opposite statistics, so half of the patterns suffice for a two-sided test.
        copies = 2 if alternative == "two-sided" and bits else 1
        reductions: list[Reduction] = [Tally(alternative, np.array([[threshold]]))]
        if histogram:
            reductions.append(Histograms(half=copies == 2))
        counts, *nulls = self._patterns(2**bits // copies).run(reductions, [self.pair])
        return ExactResult(bits, copies * int(counts[0, 0]), 2**bits, null=nulls[0][0, 0] if nulls else None)

    def null_distribution(self) -> tuple[Scores, None]:
        """The statistic of every pattern: (2^d,)."""
        (statistics,) = self._patterns(2 ** len(self._units)).run([Series()], [self.pair])
        return statistics[0, 0], None


@dataclass(frozen=True)
class Convolution:
    """The distribution of the statistic of a pair that differs in one column of counts, by convolution.

    The statistic is a function of the sum of the differences d_s of the swapped units. This sum takes at most
    Σ|d_s|/g + 1 values, where g is the greatest common divisor of the d_s. Each of the d units adds 0 or d_s to it, so
    its distribution is the convolution of d distributions of two points. No term is subtracted, so the relative error
    of a p-value is at most d·2⁻⁵². A p-value below 2·10⁻³⁰⁸ is reported as that number.
    """

    replicates: Replicates
    column: DifferingColumn
    differences: NDArray[np.int64]

    @staticmethod
    def pays_off(n_units: int, column: DifferingColumn, highest_cost: float) -> bool:
        """Whether it has room, and costs at most so much, for a pair that differs in ``n_units`` units."""
        cost = COST_OF_CONVOLUTION + column.n_steps * (n_units + COST_OF_VALUE)
        return cost <= highest_cost and column.n_steps < MAX_CONVOLUTION

    def result(self, threshold: float, alternative: str, histogram: bool = False) -> ExactResult:
        """See :meth:`Enumeration.result`."""
        statistics, probabilities = self.null_distribution()
        extreme = reached(statistics, threshold, alternative)
        # The distribution is symmetric. Its mean with its mirror image gives (x, y) and (y, x) the same p to the last
        # bit.
        weights = np.where(extreme, probabilities, 0.0)
        p = 1.0 if extreme.all() else 0.5 * float((weights + weights[::-1]).sum())
        null = histogram_of_probabilities(statistics, probabilities) if histogram else None
        return ExactResult(len(self.differences), probability=min(max(p, sys.float_info.min), 1.0), null=null)

    def null_distribution(self) -> tuple[Scores, Scores]:
        """The values of the statistic, some of which may be equal, and their probabilities."""
        divisor = int(np.gcd.reduce(self.differences))
        steps = np.abs(self.differences // divisor).astype(np.uint64)
        probabilities = _core.subset_sum_distribution(steps, progress=self.replicates.progress)
        # The sum of a random subset of the d_s has the same distribution as the sum of the negative d_s plus the sum of
        # a random subset of the |d_s|.
        smallest = int(self.differences[self.differences < 0].sum())
        statistics = np.empty(len(probabilities))
        size = self.column.sample.batch_size
        for first in range(0, len(statistics), size):
            part = statistics[first : first + size]
            part[:] = self.column.statistics(smallest + divisor * np.arange(first, first + len(part)))
        return statistics, probabilities


# The key is (metric, pair).
ExactTests: TypeAlias = Mapping[tuple[int, int], Enumeration | Convolution]


def _cost_of_shuffles(replicates: Replicates, sample: Sample, pairs: Pairs) -> float:
    """The cost of R shuffles of one of the pairs: scoring it, and its share of the flips and of the systems' sums.

    It depends only on the numbers of units, systems, pairs and shuffles. It is a lower bound, because it counts one
    column of counts.
    """
    others = len(set(chain.from_iterable(pairs))) - 1
    shared = sample.n_units * (COST_OF_FLIP + COST_OF_SUM * others)
    return replicates.n_resamples * (COST_OF_SCORES + shared / len(pairs))


def exact_tests(replicates: Replicates, pairs: Pairs, scheme: str, shuffled_together: Pairs) -> ExactTests:
    """The exact tests to make for a scheme: of all pairs for ``exact``, of those where it costs less for ``auto``.

    ``shuffled_together`` are the pairs that would otherwise share the same random shuffles and their cost.
    :class:`InputError` if ``exact`` would be too expensive.
    """
    found: dict[tuple[int, int], Enumeration | Convolution] = {}
    if scheme not in ("auto", "exact"):
        return found
    # The largest d for which 2^(d − 1) ≤ R: a two-sided test enumerates half of the 2^d patterns.
    cheap_bits = replicates.n_resamples.bit_length()
    for m, sample in enumerate(replicates.samples):
        rows, together = sample.rows_of(pairs), sample.rows_of(shuffled_together)
        most = cheap_bits if scheme == "auto" else sample.n_units
        highest_cost = _cost_of_shuffles(replicates, sample, together) if scheme == "auto" else MAX_COST
        for p, (n_units, column) in enumerate(sample.differing(rows, most)):
            if n_units <= cheap_bits:
                found[m, p] = Enumeration(replicates, *sample.select_pair(rows[p]))
            elif column is not None and Convolution.pays_off(n_units, column, highest_cost):
                found[m, p] = Convolution(replicates, column, column.differences)
            elif scheme == "auto":
                continue
            elif n_units <= MAX_PATTERN_BITS:
                found[m, p] = Enumeration(replicates, *sample.select_pair(rows[p]))
            else:
                raise InputError(
                    f"{sample.metric.name}: two systems differ in {n_units:,} {sample.unit}s, too many for an exact "
                    f"test, which enumerates 2^{n_units} patterns of swaps (at most 2^{MAX_PATTERN_BITS}, unless the "
                    "systems differ in only one column of small counts): choose the scheme 'auto', 'iid' or 'subgroup'"
                )
    return found
