"""Bootstrap tests: how many draws are at least as extreme as the observed difference, in five variants."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..metrics.base import Scores
from ..resampling import reached, signs
from ..resampling.reductions import Alternative
from .hypotheses import Observed, Outcome
from .pvalues import Integers, pvalue

# Draws that are compared at a time stay in the cache: 512 KB.
CELLS = 1 << 16


class Drawn(NamedTuple):
    """The draws of n pairs of systems, which have R draws each.

    ``differences`` are the d_b, (n, R). ``statistic`` is the observed difference d, ``threshold`` what d_b − d must
    reach, and ``tolerance`` how far equal differences may lie apart, all (n, 1). ``alternative`` is that of all pairs,
    or of each, (n, 1). ``ties`` says whether a draw that equals the threshold counts as extreme.
    """

    differences: Scores
    statistic: Scores
    threshold: Scores
    tolerance: Scores
    alternative: Alternative
    ties: bool

    @classmethod
    def of(cls, observed: Observed, hypotheses: range) -> Drawn:
        """The draws of some hypotheses."""
        here = slice(hypotheses.start, hypotheses.stop), None
        alternative = observed.one_or_each_alternative
        return cls(
            np.array([observed.drawn_differences(h) for h in hypotheses]),
            observed.statistic[here],
            observed.thresholds[here],
            observed.tolerances[here],
            alternative if isinstance(alternative, str) else alternative[here],
            ties=observed.ties == ">=",
        )


def _numbers(conditions: NDArray[np.bool_]) -> Integers:
    """How many of the draws of each pair satisfy a condition: (n,)."""
    numbers: Integers = conditions.sum(axis=1, dtype=np.int64)  # as count_nonzero does it
    return numbers


def _on_draws(count: Callable[[Drawn], Integers]) -> Callable[[Observed], Outcome]:
    """Make a test of all hypotheses from the numbers of exceedances of some of them: (n,)."""

    def test(observed: Observed) -> Outcome:
        n, n_resamples = len(observed.hypotheses), observed.replicates.n_resamples
        exceedances, wins, ties = np.empty((3, n), dtype=np.int64)
        size = max(1, CELLS // n_resamples)
        for first in range(0, n, size):
            hypotheses = range(first, min(first + size, n))
            here, drawn = slice(first, first + size), Drawn.of(observed, hypotheses)
            exceedances[here] = count(drawn)
            wins[here] = _numbers(drawn.differences > 0)
            ties[here] = _numbers(drawn.differences == 0)
        p = pvalue(exceedances, n_resamples, tails=observed.tails)
        return Outcome(observed.statistic, p, exceedances, n_resamples, wins=wins, ties=ties)

    test.__doc__ = count.__doc__
    return test


@_on_draws
def shift(drawn: Drawn) -> Integers:
    """|d_b| − mean |d_b| ≥ |d|: Riezler & Maxwell 2005, Fig. 2, exactly as published."""
    magnitude = np.abs(drawn.differences)
    centred_on_mean = magnitude - magnitude.mean(axis=1, keepdims=True)
    return _numbers(centred_on_mean >= drawn.threshold)


@_on_draws
def centred(drawn: Drawn) -> Integers:
    """d_b − d is at least as extreme as d: Hall & Wilson 1991, doi:10.2307/2532163.

    Centring on the mean of the d_b instead would let Monte Carlo error decide ties. If one segment differs, d_b = 0 is
    as far from d as d is from 0, but slightly farther from the mean of the d_b or slightly closer to it.
    """
    deviations = drawn.differences - drawn.statistic
    return _numbers(reached(deviations, drawn.threshold, drawn.alternative))


@_on_draws
def percentile(drawn: Drawn) -> Integers:
    """The draws on the other side of 0, ties included; two-sided, those on the side that has fewer.

    It inverts the percentile interval (:func:`reshuffle.inference.intervals.percentile`).
    """
    end = drawn.tolerance if drawn.ties else -drawn.tolerance
    at_most, at_least = _numbers(drawn.differences <= end), _numbers(drawn.differences >= -end)
    sign = signs(drawn.alternative).ravel()
    return np.asarray(np.where(sign > 0, at_most, np.where(sign < 0, at_least, np.minimum(at_most, at_least))))


def both(observed: Observed) -> Outcome:
    """The larger p of :func:`centred` and :func:`percentile`, so that both have to reject.

    Both test the same null hypothesis, equal expected scores, and either may reject too often. The larger of two
    p-values is valid if one of them is, because it is at most α only if that one is.

    Near a kink of the metric, such as that of BLEU's brevity penalty, the distribution of the draws is skewed and
    biased. The skewness makes ``centred`` reject too often, and the bias ``percentile``, but in different cases.
    """
    of_centred, of_percentile = centred(replace(observed, tails=1)), percentile(observed)
    decides = of_percentile.pvalue > of_centred.pvalue
    return replace(
        of_centred,
        pvalue=np.where(decides, of_percentile.pvalue, of_centred.pvalue),
        exceedances=np.where(decides, of_percentile.exceedances, of_centred.exceedances),
        tails=np.where(decides, observed.tails, 1),
    )


@_on_draws
def paired(drawn: Drawn) -> Integers:
    """The better system does not win the draw: Koehn 2004 (W04-3250), section 6. Neither system wins a tie."""
    # For equal systems the sign is 0, so every draw counts and p is 1.
    sign = signs(drawn.alternative)
    better = np.where(sign == 0, np.sign(drawn.statistic), sign)
    advantages = drawn.differences * better
    return _numbers(advantages <= 0 if drawn.ties else advantages < 0)
