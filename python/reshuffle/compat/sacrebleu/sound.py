"""The mode ``sound``: p-values and intervals for sacreBLEU's systems from reshuffle's tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sacrebleu.metrics import BLEU, CHRF, TER

import reshuffle  # not `from reshuffle import …`, so that modules are imported only when this mode is used

from .formulas import formula_of
from .samples import Sample

MeanAndHalfWidth: TypeAlias = "tuple[float | None, float | None]"

# A mean length over n references is whole after multiplication by n, or by a multiple of n.
DIVISORS = range(1, 61)

TESTS = {"ar": "ar:scheme=iid", "bs": "bootstrap"}


# The results of one metric: p-values of all systems except the baseline, and intervals of all systems.
Sound: TypeAlias = "tuple[list[float], list[MeanAndHalfWidth]]"


def tested(test: str, samples: Sequence[Sample], n_resamples: int, n_draws: int, seed: int) -> list[Sound]:
    """Test all systems under all metrics, in one pass.

    ``ar`` is approximate randomization with ``n_resamples`` shuffles, and ``bs`` the centred bootstrap with as many
    draws. Intervals are percentile intervals from ``n_draws`` draws, as midpoint and half width, or None if ``n_draws``
    is not positive.
    """
    metrics = [_metric(number, sample) for number, sample in enumerate(samples)]
    together = test == "bs"
    comparison = reshuffle.compare(
        metrics=metrics,
        baseline="0",
        test=TESTS[test],
        n_resamples=n_resamples,
        adjust=None,
        interval="percentile" if together else None,
        seed=seed,
    )
    scores = comparison
    if not together and n_draws > 0:
        scores = reshuffle.score(metrics=metrics, interval="percentile", n_resamples=n_draws, seed=seed)
    pvalues = [float(pair.test.pvalue) for pair in comparison.comparisons]
    intervals = _intervals(scores)
    k = len(samples[0].values)
    return [(pvalues[i * (k - 1) : (i + 1) * (k - 1)], intervals[i * k : (i + 1) * k]) for i in range(len(samples))]


def _intervals(comparison: reshuffle.Comparison) -> list[MeanAndHalfWidth]:
    intervals = [system.confidence_interval for system in comparison.scores]
    return [
        (None, None) if each is None else (float(each.low + each.high) / 2, float(each.high - each.low) / 2)
        for each in intervals
    ]


def _metric(number: int, sample: Sample) -> reshuffle.FromCounts:
    assert sample.counts is not None
    counts = {str(system): rows for system, rows in enumerate(sample.counts)}
    return reshuffle.FromCounts(f"metric {number}", counts, _formula(sample))


def _formula(sample: Sample) -> reshuffle.Metric:
    """The native formula if the metric computes its score as sacreBLEU does, otherwise the metric's own method."""
    own = sample.metric
    if formula_of(own, sample.values.shape[2]) is not None:
        if isinstance(own, BLEU):
            return reshuffle.metric(
                "bleu",
                smooth_method=own.smooth_method,
                smooth_value=own.smooth_value,
                max_ngram_order=own.max_ngram_order,
                effective_order=bool(own.effective_order),
            )
        if isinstance(own, CHRF):
            orders = {"char_order": own.char_order, "word_order": own.word_order}
            return reshuffle.metric("chrf", **orders, beta=float(own.beta), eps_smoothing=bool(own.eps_smoothing))
        if isinstance(own, TER):
            return reshuffle.metric("ter")

    def scores(totals: NDArray[np.int64]) -> NDArray[Any]:
        rows = sample.host_sums(totals.reshape(-1, totals.shape[-1]))
        return np.array([own._compute_score_from_stats(row).score for row in rows]).reshape(totals.shape[:-1])

    return reshuffle.Formula(type(own).__name__, scores)
