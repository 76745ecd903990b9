"""p-values and intervals of sacreBLEU's systems by the tests of reshuffle."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sacrebleu.metrics import BLEU, CHRF, TER

from reshuffle import Formula, Metric, approximate_randomization, bootstrap_interval, bootstrap_test, metric

from .formulas import formula_of
from .samples import Sample

__all__ = ["DIVISORS", "MeanAndHalfWidth", "means_and_half_widths", "pvalues"]

MeanAndHalfWidth: TypeAlias = "tuple[float | None, float | None]"

# A mean of lengths over n references, or over numbers that divide n, is whole after multiplication by n.
DIVISORS = range(1, 61)


def pvalues(test: str, sample: Sample, n_resamples: int, seed: int) -> list[float]:
    """The p-value of each system against the baseline."""
    assert sample.counts is not None
    baseline, *systems = sample.counts
    formula = _formula(sample)
    found = []
    for counts in systems:
        if test == "ar":
            result = approximate_randomization(baseline, counts, formula, n_resamples=n_resamples, seed=seed)
        else:
            result = bootstrap_test(baseline, counts, formula, n_resamples=n_resamples, seed=seed)
        found.append(float(result.pvalue))
    return found


def means_and_half_widths(sample: Sample, n_resamples: int, seed: int) -> list[MeanAndHalfWidth]:
    """The middle and the half width of each system's 95 % percentile interval; None if there are no draws."""
    assert sample.counts is not None
    if n_resamples < 1:
        return [(None, None)] * len(sample.counts)
    formula = _formula(sample)
    found: list[MeanAndHalfWidth] = []
    for counts in sample.counts:
        interval = bootstrap_interval(counts, formula, n_resamples=n_resamples, seed=seed)
        low, high = float(interval.low), float(interval.high)
        found.append(((low + high) / 2, (high - low) / 2))
    return found


def _formula(sample: Sample) -> Metric:
    """The native formula if the metric computes its score as sacreBLEU does, else the metric's own method."""
    own = sample.metric
    if formula_of(own, sample.values.shape[2]) is not None:
        if isinstance(own, BLEU):
            return metric(
                "bleu",
                smooth_method=own.smooth_method,
                smooth_value=own.smooth_value,
                max_ngram_order=own.max_ngram_order,
                effective_order=bool(own.effective_order),
            )
        if isinstance(own, CHRF):
            orders = {"char_order": own.char_order, "word_order": own.word_order}
            return metric("chrf", **orders, beta=float(own.beta), eps_smoothing=bool(own.eps_smoothing))
        if isinstance(own, TER):
            return metric("ter")

    def scores(totals: NDArray[np.int64]) -> NDArray[Any]:
        rows = sample.host_sums(totals.reshape(-1, totals.shape[-1]))
        return np.array([own._compute_score_from_stats(row).score for row in rows]).reshape(totals.shape[:-1])

    return Formula(type(own).__name__, scores)
