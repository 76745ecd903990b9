"""What makes a difference: the contributions of the parts of a formula, which add up to the difference of the scores.

A product x = Π xᵢ, such as BLEU's penalty and precisions to the powers of their weights, has ln x = Σ ln xᵢ. Part i
contributes L·(ln xᵢ − ln yᵢ) to x − y, where L = (x − y)/(ln x − ln y) is the logarithmic mean (Ang, Zhang & Choi 1998,
Energy 23).

In another formula, such as an F-score of precision and recall, what replacing one part by that of the other system
changes depends on which others have been replaced before. It is averaged over all orders of the parts (Shapley 1953,
Contributions to the Theory of Games II).

The sums of counts on every draw give the contributions on the draw, and these their intervals.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, combinations
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..metrics.base import Counts, Scores
from ..metrics.given import CountsOfFormula
from ..metrics.native import NativeMetric
from ..resampling import CountSample, Pairs, Replicates, Sample, resampler_of_sums
from ..resampling.samples import BATCH_CELLS
from ..results import ConfidenceInterval, Contribution
from .intervals import symmetric_ends

# A value of each part for systems, draws or both: (…), or (…, n) for a part that consists of n numbers.
Parts: TypeAlias = Sequence[NDArray[Any]]

# Contributions are rounded to these decimals: later digits depend on the library that computes logarithms.
DECIMALS = 10

# What chrF++.py uses for a precision, recall or F-score that is undefined.
EPSILON = 1e-16
# NIST's penalty is ½ for hypotheses of two thirds of the references' length.
NIST_PENALTY = math.log(2) / math.log(1.5) ** 2


@dataclass(frozen=True)
class Decomposition:
    """The parts of a formula."""

    names: tuple[str, ...]
    parts: Callable[[Counts], Parts]
    """From summed counts, (…, K), to the value of each part. NaN where it is undefined."""
    split: Callable[[Parts, Parts], Scores]
    """From the parts of two systems to their contributions to the difference of the scores: (parts, …)."""


def of_product(x: Parts, y: Parts) -> Scores:
    """The contributions to the difference of two products, in hundredths, from the logarithms of their factors."""
    with np.errstate(invalid="ignore"):
        differences = np.stack([a - b for a, b in zip(x, y, strict=True)])
        total, score = differences.sum(axis=0), 100 * np.exp(sum(y))
        # (x − y)/ln(x/y), also where x and y are almost equal.
        relative = np.divide(np.expm1(total), total, out=np.ones_like(total), where=total != 0)
        differences *= score * relative
    return differences


def shapley(score: Callable[[Parts], Scores], x: Parts, y: Parts) -> Scores:
    """The contributions to score(x) − score(y), averaged over all orders in which parts of y are replaced."""
    n = len(x)
    subsets = [*chain.from_iterable(combinations(range(n), size) for size in range(n + 1))]
    values = {subset: score([x[i] if i in subset else y[i] for i in range(n)]) for subset in subsets}
    found = np.zeros((n, *np.shape(values[()])))
    for subset in subsets:
        share = 1 / (n * math.comb(n - 1, len(subset))) if len(subset) < n else 0.0
        for i in set(range(n)).difference(subset):
            found[i] += share * (values[tuple(sorted((*subset, i)))] - values[subset])
    return found


def _bleu(metric: NativeMetric) -> Decomposition | None:
    """The penalty and the precisions. With add-k, precisions are not ratios of counts."""
    if metric.option("smooth_method") == "add-k":
        return None
    n = (len(metric.columns) - 2) // 2
    weights = metric.option("weights") or (1 / n,) * n

    def logarithms(totals: Counts) -> Parts:
        hypothesis, reference, *counts = np.moveaxis(np.asarray(totals, dtype=np.float64), -1, 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            found = [np.minimum(0, 1 - reference / hypothesis)]
            for weight, matched, possible in zip(weights, counts[:n], counts[n:], strict=True):
                # A precision of 0 is smoothed or makes the score 0: it has no logarithm.
                precision = np.where(matched > 0, matched / possible, np.nan)
                found.append(weight * np.log(precision) if weight else np.zeros_like(precision))
        return found

    return Decomposition(("bp", *(f"p_{order}" for order in range(1, n + 1))), logarithms, of_product)


def _chrf(metric: NativeMetric) -> Decomposition:
    """Precision and recall: means over the orders, or with ``eps_smoothing`` those of all orders."""
    factor, smoothed = float(metric.option("beta")) ** 2, bool(metric.option("eps_smoothing"))

    def precision_recall(totals: Counts) -> Parts:
        counts = np.asarray(totals, dtype=np.float64).reshape(*np.shape(totals)[:-1], -1, 3)
        hypothesis, reference, matched = np.moveaxis(counts, -1, 0)
        if smoothed:
            return [_ratio(matched, hypothesis, EPSILON), _ratio(matched, reference, EPSILON)]
        occurs = (hypothesis > 0) & (reference > 0)
        n = np.maximum(occurs.sum(axis=-1), 1)
        return [np.where(occurs, _ratio(matched, each), 0).sum(axis=-1) / n for each in (hypothesis, reference)]

    def score(parts: Parts) -> Scores:
        if smoothed:
            return np.asarray(_f_score(factor, parts, EPSILON / 100).mean(axis=-1))
        return _f_score(factor, parts)

    return Decomposition(("precision", "recall"), precision_recall, partial(shapley, score))


def _f1(metric: NativeMetric) -> Decomposition:
    """Precision and recall, from matches and the sizes of both sides."""

    def precision_recall(totals: Counts) -> Parts:
        matched, hypothesis, reference = np.moveaxis(np.asarray(totals, dtype=np.float64), -1, 0)
        return [_ratio(matched, hypothesis), _ratio(matched, reference)]

    return Decomposition(("precision", "recall"), precision_recall, partial(shapley, partial(_f_score, 1.0)))


def _meteor(metric: NativeMetric) -> Decomposition:
    """Precision, recall and fragmentation. Each depends on counts of its own, which replace those of the other."""
    columns = metric.columns
    of_fragmentation = [columns.index(name) for name in ("chunks", "hyp_match", "ref_match")]
    groups = [
        *([i for i, name in enumerate(columns) if side in name and i not in of_fragmentation] for side in SIDES),
        of_fragmentation,
    ]

    def counts(totals: Counts) -> Parts:
        return [totals[..., group] for group in groups]

    def score(parts: Parts) -> Scores:
        totals = np.empty((*parts[0].shape[:-1], len(columns)), dtype=np.int64)
        for group, part in zip(groups, parts, strict=True):
            totals[..., group] = part
        return metric.score(totals)

    return Decomposition(("precision", "recall", "fragmentation"), counts, partial(shapley, score))


# What the names of counts of hypotheses, which make precision, and of references, which make recall, contain.
SIDES = ("hyp_", "ref_")


def _nist(metric: NativeMetric) -> Decomposition:
    """The length penalty and the information of the matches."""

    def parts(totals: Counts) -> Parts:
        *counts, hypothesis, reference = np.moveaxis(np.asarray(totals, dtype=np.float64), -1, 0)
        n = len(counts) // 2
        gains = [info / np.maximum(possible, 1) for info, possible in zip(counts[:n], counts[n:], strict=True)]
        ratio = np.minimum(1, _ratio(hypothesis, reference, 1.0))
        with np.errstate(divide="ignore"):
            return [np.exp(-NIST_PENALTY * np.log(ratio) ** 2), np.sum(gains, axis=0) / NIST_UNIT]

    def score(parts: Parts) -> Scores:
        return np.asarray(parts[0] * parts[1])

    return Decomposition(("penalty", "information"), parts, partial(shapley, score))


def _edits(metric: NativeMetric) -> Decomposition:
    """The rates of substitutions, deletions and insertions, whose sum is the score."""

    def rates(totals: Counts) -> Parts:
        substitutions, deletions, insertions, hits = np.moveaxis(np.asarray(totals, dtype=np.float64), -1, 0)
        whole = substitutions + deletions + hits + (insertions if metric.key == "mer" else 0)
        return [edits / np.maximum(whole, 1) for edits in (substitutions, deletions, insertions)]

    def split(x: Parts, y: Parts) -> Scores:
        return np.stack([100 * (a - b) for a, b in zip(x, y, strict=True)])

    return Decomposition(("substitutions", "deletions", "insertions"), rates, split)


def _information_lost(metric: NativeMetric) -> Decomposition:
    """Precision and recall of the words."""

    def precision_recall(totals: Counts) -> Parts:
        substitutions, deletions, insertions, hits = np.moveaxis(np.asarray(totals, dtype=np.float64), -1, 0)
        hypothesis, reference = substitutions + insertions + hits, substitutions + deletions + hits
        nothing = hypothesis + reference == 0
        return [np.where(nothing, 1.0, _ratio(hits, length)) for length in (hypothesis, reference)]

    def score(parts: Parts) -> Scores:
        return np.asarray(100 * (1 - parts[0] * parts[1]))

    return Decomposition(("precision", "recall"), precision_recall, partial(shapley, score))


def _sari(metric: NativeMetric) -> Decomposition:
    """The operations, each with a third of the score."""

    def thirds(totals: Counts) -> Parts:
        counts = np.asarray(totals, dtype=np.float64).reshape(*np.shape(totals)[:-1], 3, 4, 3)
        both, output, references = np.moveaxis(counts, -1, 0)
        scores = 2 * _ratio(both, output + references)
        if metric.option("deletion") == "precision":
            scores[..., 2, :] = _ratio(both, output)[..., 2, :]
        return list(np.moveaxis(100 * scores.mean(axis=-1) / 3, -1, 0))

    def differences(x: Parts, y: Parts) -> Scores:
        return np.asarray(np.stack(x) - np.stack(y))

    return Decomposition(("add", "keep", "delete"), thirds, differences)


# The fixed-point resolution of NIST's information.
NIST_UNIT = 2.0**28


def _ratio(part: Scores, whole: Scores, undefined: float = 0.0) -> Scores:
    """A ratio of counts, with another value where there is nothing to divide by."""
    return np.asarray(np.divide(part, whole, out=np.full(np.shape(part), undefined), where=whole > 0))


def _f_score(factor: float, parts: Parts, undefined: float = 0.0) -> Scores:
    """The F-score of precision and recall in hundredths, with β² = ``factor``."""
    precision, recall = parts
    both = factor * precision + recall
    return 100 * _ratio((1 + factor) * precision * recall, both, undefined)


# The parts of the formulas of metrics, by the names of these; a function returns None for options without parts.
DECOMPOSITIONS: Mapping[str, Callable[[NativeMetric], Decomposition | None]] = {
    "asr-wer": _edits,
    "bleu": _bleu,
    "cer": _edits,
    "chrf": _chrf,
    "chrf++": _chrf,
    "depf": _f1,
    "gtm": _f1,
    "mer": _edits,
    "meteor": _meteor,
    "nist": _nist,
    "sari": _sari,
    "wil": _information_lost,
}


def decomposition_of(sample: Sample) -> Decomposition | None:
    """The parts of the formula of a sample's metric; None if they are not known."""
    if not isinstance(sample, CountSample):
        return None
    formula = sample.metric.formula if isinstance(sample.metric, CountsOfFormula) else sample.metric
    if not isinstance(formula, NativeMetric) or formula.key not in DECOMPOSITIONS:
        return None
    return DECOMPOSITIONS[formula.key](formula)


def contributions_of(
    replicates: Replicates, m: int, pairs: Pairs, level: float | None
) -> list[tuple[Contribution, ...]]:
    """The contributions to the difference of each pair of rows under metric m. Empty where they are undefined.

    With a level, they have percentile intervals from the draws; a part that is undefined on a draw has none.
    """
    sample = replicates.samples[m]
    decomposition = decomposition_of(sample)
    if decomposition is None or not isinstance(sample, CountSample):
        return [()] * len(pairs)
    observed = decomposition.parts(sample.totals)
    drawn = None if level is None else _drawn_parts(decomposition, sample, replicates)
    found: list[tuple[Contribution, ...]] = []
    for a, b in pairs:
        values = decomposition.split(_of(observed, a), _of(observed, b))
        if not np.isfinite(values).all():
            found.append(())
            continue
        intervals: list[ConfidenceInterval | None] = [None] * len(values)
        if level is not None and drawn is not None:
            intervals = _intervals(decomposition.split(_of(drawn, a), _of(drawn, b)), level)
        found.append(tuple(map(Contribution, decomposition.names, _rounded(values), intervals)))
    return found


def _of(parts: Parts, system: int) -> Parts:
    return [part[system] for part in parts]


def _drawn_parts(decomposition: Decomposition, sample: CountSample, replicates: Replicates) -> Parts:
    """The parts of every system on every draw, (k, R) or (k, R, n), from the sums of the counts."""
    resampler = resampler_of_sums("draws", sample.counts_by_stratum, sample.strata)
    quiet = replicates.with_threads(replicates.threads or None, None)
    batches = []
    for batch in quiet.batches(max(1, BATCH_CELLS // sample.totals.size), "drawing"):
        sums = batch.sums(resampler).reshape(batch.n, *sample.totals.shape)
        batches.append(decomposition.parts(sums.swapaxes(0, 1)))
    return [np.concatenate(each, axis=1) for each in zip(*batches, strict=True)]


def _intervals(drawn: Scores, level: float) -> list[ConfidenceInterval | None]:
    """The percentile interval of each part, from its contributions on the draws: (parts, R)."""
    if not np.isfinite(drawn).all():
        return [None] * len(drawn)
    ends = (_rounded(np.array(symmetric_ends(row, level))) for row in drawn)
    return [ConfidenceInterval(low, high, level, "percentile") for low, high in ends]


def _rounded(values: Scores) -> list[float]:
    """To :data:`DECIMALS`, without negative zeros."""
    rounded: list[float] = (np.round(values, DECIMALS) + 0.0).tolist()
    return rounded
