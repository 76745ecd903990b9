"""The minimum detectable difference of a test set."""

from __future__ import annotations

import math

import numpy as np

from ..metrics.base import Scores
from ..resampling import Pairs, Replicates
from ..results import Comparison, DetectableDifference
from .power import POWER, detectable_factor


def detectable_differences(comparison: Comparison, replicates: Replicates) -> tuple[DetectableDifference, ...]:
    """The minimum detectable difference under each metric whose differences have a standard error.

    Pairs that differ in so few units that no test of swaps could be significant are left out: a difference of some
    standard errors would not be, either.
    """
    test, alpha = comparison.test, comparison.alpha
    if test is None or alpha is None or test.has_margin:
        return ()
    level = alpha / comparison.family_size
    factor = detectable_factor(level, POWER, test.alternative)
    if not np.isfinite(factor):  # the smallest levels underflow
        return ()
    fewest = math.ceil(-math.log2(level)) + (test.alternative == "two-sided")
    numbers = {name: index for index, name in enumerate(comparison.systems)}
    found = []
    for m, metric in enumerate(comparison.metrics):
        of_metric = [pair for pair in comparison.comparisons if pair.metric == metric.name]
        errors = standard_errors(replicates, m, [(numbers[pair.system], numbers[pair.baseline]) for pair in of_metric])
        few = [pair.influence is not None and pair.influence.differing < fewest for pair in of_metric]
        errors = np.where(few, np.nan, errors)
        of_pairs = median_and_range(errors)
        if of_pairs is not None:
            middle, low, high = (factor * error for error in of_pairs)
            left_out = tuple(
                (pair.system, pair.baseline)
                for pair, error in zip(of_metric, errors.tolist(), strict=True)
                if not 0 < error < math.inf
            )
            found.append(DetectableDifference(metric.name, middle, low, high, POWER, level, left_out))
    return tuple(found)


def median_and_range(errors: Scores) -> tuple[float, float, float] | None:
    """The median, the smallest and the largest of the standard errors that are neither 0 nor unknown, if any.

    >>> median_and_range(np.array([0.5, 0.0, 0.7, np.nan, 0.4])), median_and_range(np.array([0.0]))
    ((0.5, 0.4, 0.7), None)
    """
    from statistics import median  # np.median imports numpy.ma, which takes 10 ms

    vary = errors[np.isfinite(errors) & (errors > 0)]
    return (median(vary.tolist()), float(vary.min()), float(vary.max())) if vary.size else None


def standard_errors(replicates: Replicates, metric: int, pairs: Pairs) -> Scores:
    """The standard error of each pair's difference, NaN where it is unknown: (pairs,).

    It is that of the delta method for metrics with counts. For others it is the standard deviation of the draws, if the
    test or the intervals have drawn.
    """
    sample = replicates.samples[metric]
    rows = sample.rows_of(pairs)
    try:
        with np.errstate(all="ignore"):
            variances = sample.variances_of_differences(rows)
    except Exception:
        # A function in Python may fail at sums that the test does not need. This must not end a comparison.
        variances = None
    if variances is not None:
        return np.sqrt(variances)
    if not replicates.has_draws or replicates.n_resamples < 2:
        return np.full(len(pairs), np.nan)
    draws = replicates.draws[metric]
    return np.array([(draws[a] - draws[b]).std(ddof=1) for a, b in rows])
