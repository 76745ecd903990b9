"""Schemes: how the null distribution of approximate randomization is obtained.

======== ============================================= =========================================================
scheme   shuffles                                      p
======== ============================================= =========================================================
iid      R, each unit swapped with probability ½       (c + 1)/(R + 1): Noreen 1989
subgroup 2^m that form a group, from random codes      c/2^m: Hemerik & Goeman 2018, doi:10.1007/s11749-017-0571-1
exact    all patterns of swaps of the d units in which c/2^d, or the sum of the probabilities of the values
         the two systems differ                        that reach the threshold
auto     exact where it costs no more than iid, else   that of the scheme used
         iid
======== ============================================= =========================================================

c is the number of shuffles at least as extreme as the observed arrangement. Except in ``iid``, the observed arrangement
is one of the shuffles. Only ``iid`` shuffles are independent, so only they can be stopped early
(:mod:`reshuffle.resampling.stopping`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..metrics.base import Scores
from .exact import MISSING, ExactTests, exact_tests
from .histograms import HistogramArray
from .reductions import Histograms, Reduction, SequentialTally, Series, Tally
from .replicates import Replicates
from .samples import Pairs
from .stopping import AnyRule

SCHEMES: Mapping[str, str] = {
    "auto": "exact where that costs no more than iid, else iid",
    "iid": "Monte Carlo: R independent shuffles, each unit swapped with probability 1/2; p = (c + 1)/(R + 1)",
    "subgroup": "a random group of 2^m >= R shuffles, which is faster; p = c/2^m",
    "exact": "all patterns of swaps, by enumeration or convolution; no Monte Carlo error",
}


@dataclass(frozen=True)
class Shuffling:
    """The scheme of a test and, for ``iid``, the stopping rule, if any.

    The scheme ``replay`` stands for user-supplied replicates.
    """

    scheme: str = "iid"
    stopping: AnyRule | None = None


class Shuffled(NamedTuple):
    """Counts of shuffles, metric by metric. All arrays have shape (H,); what all tests share may be one value."""

    scheme: str | NDArray[np.str_]
    """The scheme of each test, never ``auto``."""
    exceedances: NDArray[np.int64]
    """The number of shuffles at least as extreme as the observed arrangement, and the number of all shuffles. MISSING
    for tests by convolution, whose p is in ``probability``.
    """
    n_resamples: int | NDArray[np.int64]
    includes_observed: bool | NDArray[np.bool_] = False
    """Whether the observed arrangement is one of the shuffles."""
    bits: int | NDArray[np.int64] | None = None
    """The logarithm to base 2 of the number of shuffles of ``subgroup`` and ``exact``, MISSING for ``iid``. None if all
    tests are ``iid``.
    """
    stopped: NDArray[np.bool_] | None = None
    """Whether the stopping rule ended the test. None if there is no rule."""
    probability: Scores | None = None
    """p of tests by convolution, NaN for other tests. None if no test is exact."""
    null: HistogramArray | None = None
    """The null distributions, in an array of any shape, if they were requested."""


def _subgroup(replicates: Replicates) -> Replicates:
    """A random subgroup of 2^m ≥ R shuffles."""
    codes = _core.stream_values(replicates.seed, "code", 0, replicates.n_units)
    return replicates.with_codes(codes, 1 << subgroup_bits(replicates.n_resamples))


def subgroup_bits(n_resamples: int) -> int:
    """The smallest m with 2^m ≥ R."""
    return (n_resamples - 1).bit_length()


def shuffle(
    replicates: Replicates,
    pairs: Pairs,
    thresholds: Scores,
    alternatives: Sequence[str],
    shuffling: Shuffling,
    extra: Sequence[Reduction] = (),
    shuffled_together: Pairs | None = None,
    histograms: bool = False,
) -> tuple[Shuffled, list[Any]]:
    """Shuffle all pairs under all metrics, and count how many shuffles reach the thresholds.

    ``thresholds`` has shape (metrics, pairs), and ``alternatives`` has that of each metric. ``extra`` are further
    reductions of the same shuffles, for ``iid`` without a stopping rule. ``shuffled_together`` are the pairs that
    ``auto`` takes to share the cost of the shuffles, by default all pairs. With ``histograms``, there are histograms of
    the null distributions. Returns the counts, then the results of ``extra``.
    """
    if shuffling.stopping is not None:
        tally = SequentialTally(alternatives, thresholds, shuffling.stopping.core(), histograms)
        counts, *results = replicates.run([tally, *extra], pairs)
        stopped = counts.stopped.ravel()
        shuffled = Shuffled(
            "iid",
            counts.exceedances.ravel(),
            counts.shuffles.ravel(),
            includes_observed=shuffling.stopping.includes_observed(stopped),
            stopped=stopped,
            null=counts.null,
        )
        return shuffled, results

    def run(shuffles: Replicates, some: NDArray[np.intp] | slice, extra: Sequence[Reduction]) -> Any:
        """The counts and the histograms, if any, of these pairs, and the results of further reductions."""
        own: list[Reduction] = [Tally(alternatives, thresholds[:, some])]
        if histograms:
            own.append(Histograms())
        own_pairs = pairs[some] if isinstance(some, slice) else [pairs[p] for p in some]
        counts, *results = shuffles.run([*own, *extra], own_pairs)
        return [counts, *results] if histograms else [counts, None, *results]

    every = slice(None)
    if shuffling.scheme == "subgroup":
        subgroup = _subgroup(replicates)
        counts, null, *results = run(subgroup, every, extra)
        bits = subgroup_bits(replicates.n_resamples)
        return Shuffled(
            "subgroup", counts.ravel(), subgroup.n_resamples, includes_observed=True, bits=bits, null=null
        ), results
    exact = exact_tests(replicates, pairs, shuffling.scheme, shuffled_together or pairs)
    if not exact:
        counts, null, *results = run(replicates, every, extra)
        return Shuffled("iid", counts.ravel(), replicates.n_resamples, null=null), results

    return _exact_or_iid(
        exact,
        lambda others: run(replicates, others, ()),
        replicates.n_resamples,
        thresholds,
        alternatives,
        histograms,
    ), []


def shuffle_batch(
    replicates: Replicates, thresholds: Scores, alternative: str, scheme: str, seeds: NDArray[np.uint64]
) -> Shuffled:
    """Shuffle every pair of a batch with its own seed. The core has to score the sample.

    The sample has two interleaved arrays; systems 2i and 2i + 1 are pair i. ``thresholds``: (1, pairs).
    """
    (sample,) = replicates.samples
    native = sample.native("shuffles")
    assert native is not None
    metric, counts = native
    n_pairs = len(counts) // 2

    def count(pairs: NDArray[np.intp], n: int, core_scheme: str = "iid") -> NDArray[np.int64]:
        tallies = _core.shuffle_many(
            metric,
            counts if len(pairs) == n_pairs else _core.Counts([array[pairs] for array in sample.with_counts().arrays]),
            alternative,
            thresholds[0, pairs],
            n=n,
            seeds=seeds[pairs],
            scheme=core_scheme,
            threads=replicates.threads,
            progress=replicates.progress,
        )
        return tallies.astype(np.int64)[None]

    if scheme == "subgroup":
        bits = subgroup_bits(replicates.n_resamples)
        counted = count(np.arange(n_pairs), 1 << bits, scheme)
        return Shuffled(scheme, counted.ravel(), 1 << bits, includes_observed=True, bits=bits)
    pairs = [(2 * p, 2 * p + 1) for p in range(n_pairs)]
    # The scheme of a pair must not depend on the rest of the batch, so the cost of shuffles is that of a single pair.
    exact = exact_tests(replicates, pairs, scheme, pairs[:1])
    return _exact_or_iid(
        exact,
        lambda others: (count(others, replicates.n_resamples), None),
        replicates.n_resamples,
        thresholds,
        [alternative],
    )


def _exact_or_iid(
    exact: ExactTests,
    count_iid: Callable[[NDArray[np.intp]], tuple[NDArray[np.int64], HistogramArray | None]],
    n_resamples: int,
    thresholds: Scores,
    alternatives: Sequence[str],
    histograms: bool = False,
) -> Shuffled:
    """Make the exact tests, and test the other pairs by ``iid`` shuffles.

    ``count_iid`` returns the exceedances of the pairs with the indices passed to it, (metrics, indices), and, with
    ``histograms``, their null distributions.
    """
    is_iid = np.ones(thresholds.shape, dtype=np.bool_)
    for key in exact:
        is_iid[key] = False
    # A pair is shuffled under all metrics at once, even if its tests under some of them are exact.
    others = np.flatnonzero(is_iid.any(axis=0))
    counts = np.zeros(thresholds.shape, dtype=np.int64)
    null = np.empty(thresholds.shape, dtype=np.object_) if histograms else None
    if others.size:
        counts[:, others], nulls = count_iid(others)
        if null is not None:
            null[:, others] = nulls
    shuffled = Shuffled("iid", counts.ravel(), n_resamples, null=None if null is None else null.ravel())
    if not exact:
        return shuffled
    n_tests, n_pairs = thresholds.size, thresholds.shape[1]
    schemes, sizes = np.full(n_tests, "iid", dtype="<U8"), np.full(n_tests, n_resamples)
    bits, probabilities = np.full(n_tests, MISSING), np.full(n_tests, np.nan)
    for (metric, pair), test in exact.items():
        at = metric * n_pairs + pair
        result = test.result(float(thresholds[metric, pair]), alternatives[metric], histograms)
        schemes[at], sizes[at], bits[at] = "exact", result.n_resamples, result.bits
        shuffled.exceedances[at], probabilities[at] = result.exceedances, result.probability
        if shuffled.null is not None:
            shuffled.null[at] = result.null
    return shuffled._replace(
        scheme=schemes,
        n_resamples=sizes,
        includes_observed=schemes == "exact",
        bits=bits,
        stopped=np.full(n_tests, False),
        probability=probabilities,
    )


class NullDistribution(NamedTuple):
    """The statistic of a pair on every shuffle.

    ``probabilities`` are those of the values, or None if all are equally likely. ``includes_observed`` is as in
    :class:`Shuffled`.
    """

    values: Scores
    probabilities: Scores | None = None
    includes_observed: bool = True


def null_distribution(replicates: Replicates, pair: tuple[int, int], scheme: str) -> NullDistribution:
    """The statistic of a pair under the first sample on every shuffle that :func:`shuffle` uses."""
    exact = exact_tests(replicates, [pair], scheme, [pair])
    if exact:
        return NullDistribution(*exact[0, 0].null_distribution())
    shuffles = _subgroup(replicates) if scheme == "subgroup" else replicates
    (statistics,) = shuffles.run([Series()], [pair])
    return NullDistribution(statistics[0, 0], includes_observed=scheme == "subgroup")
