"""Equivalence and non-inferiority: tests whose null hypothesis is a difference of at least a margin m > 0.

Equivalence is shown by two one-sided tests, of the null hypotheses "the difference is at most −m" and "it is at least
m"; both have to reject, so p is the larger of the two (Schuirmann 1987, doi:10.1007/BF01068419). Non-inferiority
needs only the test of "the system is worse by m or more".

Every variant is defined by R values w_r, whose distribution about the observed difference t describes the uncertainty
of the true difference. p against "at most −m" is (1 + #{w_r ≤ −m})/(R + 1), and p against "at least m" is
(1 + #{w_r ≥ m})/(R + 1). The interval from the k-th smallest to the k-th largest w_r, k = ⌊α(R + 1)⌋, has the
confidence level 1 − 2α, and it lies between −m and m exactly when the test of equivalence has p ≤ α (if k ≥ 1).

============= ======================================== =============================================================
variant       w_r                                      source
============= ======================================== =============================================================
centred       2t − d_r for draw r: p counts draws with Davison & Hinkley 1997, 5.2 (the basic interval)
              d_r − t ≥ t + m
studentized   t − se·(d_r − t)/se_r, with the standard Hall 1988, doi:10.1214/aos/1176350933
              error of every draw by the delta method
ar            the mean of a_s − b_s over the segments  Riezler & Maxwell 2005 (W05-0908), Fig. 1, on shifted scores;
              that shuffle r swaps                     Hartigan 1969, doi:10.1080/01621459.1969.10501057
============= ======================================== =============================================================

The last one is approximate randomization of a + m and b, and of a − m and b: the shuffle of the segments in a set s has
a difference of at least the observed one if Σ_s (a − b + m) ≤ 0, so if the mean of a − b over s is at most −m.
"""

from __future__ import annotations

import math
import numbers
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ..errors import InputError, listed, quoted, unknown_name
from ..metrics.base import Counts, Metric, Scores
from ..metrics.black_box import CorpusFunction
from ..resampling import resampler_of_sums
from ..resampling.counting import labels_of, metrics_named
from ..resampling.exact import MISSING
from ..resampling.samples import BATCH_CELLS
from .estimates import Estimate
from .hypotheses import Observed, Outcome
from .pvalues import largest_rank, pvalue

# Patterns of swaps are enumerated for at most this many units: 2^22 sums take less than a second.
MAX_ENUMERATED = 22


def check_margins(
    margins: Mapping[str, float], metrics: Sequence[Metric | CorpusFunction], noun: str, user: str
) -> tuple[float, ...]:
    """The margin of each metric, from a mapping of the names that users type.

    ``noun`` and ``user`` say in messages what uses the margins, such as the test ``equivalence``. A name is that of
    ``-m`` or that in reports, in any case.
    :class:`InputError` for a margin that is not a finite number above 0, an unknown name, or a metric without a margin.
    """
    if not margins and not metrics:  # most tests have none
        return ()
    labels = labels_of(metrics)
    named = {name: metrics_named(str(name), metrics) for name in margins}
    by_metrics: dict[tuple[int, ...], str] = {}
    for name, own in named.items():
        other = by_metrics.setdefault(tuple(own), name)
        if own and other != name:
            raise InputError(
                f"{noun} {user!r}: {other} and {name} are margins of the same metric: leave out one of them"
            )
    found: dict[int, float] = {}
    # The margin of one metric replaces that of several with a name in common.
    for name, own in sorted(named.items(), key=lambda item: -len(item[1])):
        if not own:
            known = dict.fromkeys(str(getattr(m, "key", m.name)) for m in metrics)
            raise unknown_name("metric of a margin", str(name), list(known))
        found |= dict.fromkeys(own, _checked(str(name), margins[name]))
    of_metrics = [found.get(m) for m in range(len(metrics))]
    lacking = [label for label, margin in zip(labels, of_metrics, strict=True) if margin is None]
    if lacking:
        raise InputError(
            f"{noun} {user!r} needs a margin for each metric, but there is none for {listed(lacking)}: write "
            f"{shlex.quote(f'{user}:{lacking[0]}')}=VALUE, in points of the metric"
        )
    return tuple(margin for margin in of_metrics if margin is not None)


def _checked(name: str, value: Any) -> float:
    number = float(value) if isinstance(value, numbers.Real) and not isinstance(value, bool) else math.nan
    if not 0 < number < math.inf:
        raise InputError(
            f"the margin of {name} must be a finite number above 0, in points of the metric, got {quoted(value)}"
        )
    return number


class Values(NamedTuple):
    """The values w_r of a hypothesis: R each for its lower and its upper test.

    They differ only where a shuffle swaps no segment: it reaches the observed difference of any shifted scores, so that
    it counts in both tests. ``scheme`` is that of the shuffles: with ``exact``, the values are those of all patterns of
    swaps but the observed one.
    """

    low: Scores
    high: Scores
    scheme: str | None = None


def _test(values: Callable[[Observed, int], Values]) -> Callable[[Observed], Outcome]:
    """Make a test of all hypotheses from the values of one."""

    def test(observed: Observed) -> Outcome:
        n = len(observed.hypotheses)
        exceedances, n_values = np.empty((2, n), dtype=np.int64)
        low, high = np.empty((2, n))
        schemes: list[str | None] = []
        for h in range(n):
            found = values(observed, h)
            exceedances[h], low[h], high[h] = _counted(observed, h, found)
            n_values[h] = len(found.low)
            schemes.append(found.scheme)
        p = pvalue(exceedances, n_values)
        outcome = Outcome(observed.statistic, p, exceedances, n_values, low=low, high=high)
        if schemes[0] is None:
            return outcome
        # The observed arrangement is one of all patterns, and as extreme as itself.
        exact = np.array(schemes) == "exact"
        bits = np.where(exact, np.log2(n_values + 1).round().astype(np.int64), MISSING)
        return replace(
            outcome, exceedances=exceedances + exact, n_resamples=n_values + exact, scheme=np.array(schemes), bits=bits
        )

    test.__doc__ = values.__doc__
    return test


def _counted(observed: Observed, h: int, values: Values) -> tuple[int, float, float]:
    """How many values are beyond the margin on the side where there are more, and the ends of the interval.

    Values within the tolerance of the margin are on it. So an end within the tolerance is set to the margin.
    """
    m = observed.hypotheses.metric[h]
    margin, tolerance = observed.margins[m], float(observed.tolerances[h])
    below = int(np.count_nonzero(values.low + margin <= tolerance))
    above = int(np.count_nonzero(values.high - margin >= -tolerance))
    higher_is_better = observed.replicates.samples[m].metric.higher_is_better
    counted = {"equivalence": max(below, above), "non-inferiority": below if higher_is_better else above}
    n = len(values.low)
    # The outermost values if there are too few for this level.
    rank = max(largest_rank(n + 1, observed.alpha), 1)
    low = float(np.partition(values.low, rank - 1)[rank - 1])
    high = float(np.partition(values.high, n - rank)[n - rank])
    low = -margin if abs(low + margin) <= tolerance else low
    high = margin if abs(high - margin) <= tolerance else high
    return counted[observed.alternative], low, high


@_test
def from_centred_draws(observed: Observed, h: int) -> Values:
    """w_r = 2t − d_r."""
    reflected = 2 * observed.statistic[h] - observed.drawn_differences(h)
    return Values(reflected, reflected)


@_test
def from_studentized_draws(observed: Observed, h: int) -> Values:
    """w_r = t − se·(d_r − t)/se_r. A draw without a standard error is at t if d_r = t, otherwise infinitely far."""
    if observed.replicates.strata is not None:
        raise InputError("tests with studentized draws do not support strata: use the test without '-studentized'")
    t, estimate = observed.statistic[h], Estimate(observed.replicates, *observed.hypotheses.indices(h))
    error = estimate.delta_error
    if error == 0:  # the difference is the same in every draw
        same = np.full(observed.replicates.n_resamples, t)
        return Values(same, same)
    deviations, errors = estimate.draws - t, estimate.draw_errors
    deviations[np.abs(deviations) <= observed.tolerances[h]] = 0.0
    without_error = np.where(deviations == 0, 0.0, np.copysign(np.inf, deviations))
    ratios = np.divide(deviations, errors, out=without_error, where=errors > 0)
    found = t - error * ratios
    return Values(found, found)


@_test
def from_shuffles(observed: Observed, h: int) -> Values:
    """w_r is the mean of a_s − b_s over the segments that shuffle r swaps."""
    m, *systems = observed.hypotheses.indices(h)
    sample = observed.replicates.samples[m].with_counts()
    a, b = map(sample.rows, systems)
    # The columns of a mean of segment scores are the sum of the scores and their number. Units without scores have 0.
    rows = np.stack([a[:, 0] - b[:, 0], a[:, 1]], axis=1)
    scored = rows[rows[:, 1] > 0]
    complete = _is_complete(observed, len(scored))
    sums = _all_sums(scored)[1:] if complete else _sums(observed, rows)
    has_scores = sums[:, 1] > 0
    means = np.zeros(len(sums))
    if has_scores.any():
        means[has_scores] = sample.metric.score(sums[has_scores])
    low, high = (np.where(has_scores, means, end) for end in (-math.inf, math.inf))
    return Values(low, high, "exact" if complete else "iid")


def _is_complete(observed: Observed, n_units: int) -> bool:
    """Whether all patterns of swaps are enumerated."""
    scheme, n = observed.shuffling.scheme, observed.replicates.n_resamples
    if scheme == "exact" and n_units > MAX_ENUMERATED:
        raise InputError(
            f"scheme 'exact' would need 2^{n_units} patterns of swaps, at most 2^{MAX_ENUMERATED} are enumerated: use "
            "'iid'"
        )
    return scheme == "exact" or (scheme == "auto" and n_units <= MAX_ENUMERATED and 2 ** (n_units - 1) <= n)


def _all_sums(rows: Counts) -> Counts:
    """The sums of (n, K) rows over every set of rows, the empty one first: (2^n, K)."""
    sums = np.zeros((1, rows.shape[1]), dtype=np.int64)
    for row in rows:
        sums = np.concatenate([sums, sums + row])
    return sums


def _sums(observed: Observed, rows: Counts) -> Counts:
    """The sums of (S, K) rows over the units that each shuffle swaps: (R, K)."""
    replicates = observed.replicates
    # The core sums columns in which two systems differ, so the second one has zeros.
    resampler = resampler_of_sums("shuffles", np.stack([rows, np.zeros_like(rows)]))
    sums = np.empty((replicates.n_resamples, rows.shape[1]), dtype=np.int64)
    for batch in replicates.batches(max(1, BATCH_CELLS // rows.shape[1]), "shuffling"):
        swapped = batch.sums(resampler).reshape(batch.n, 2, -1)
        sums[batch.first : batch.first + batch.n] = swapped[:, 0] - swapped[:, 1]
    return sums
