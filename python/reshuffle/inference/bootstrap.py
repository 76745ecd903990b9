"""Bootstrap tests: how many draws are at least as extreme as the observed difference, in five variants."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..metrics.base import Scores
from ..resampling import reached
from .hypotheses import Observed, Outcome
from .pvalues import pvalue

__all__ = ["both", "centred", "paired", "percentile", "shift"]


class Drawn(NamedTuple):
    """The draws of one pair of systems: (R,) differences d_b, the observed difference d, and what counts as extreme.

    ``threshold`` is the value that d_b − d must reach. Differences within ``tolerance`` of each other are equal.
    ``ties`` says whether a draw that equals the threshold counts as extreme.
    """

    differences: Scores
    statistic: float
    threshold: float
    tolerance: float
    alternative: str
    ties: bool


def _on_draws(count: Callable[[Drawn], int]) -> Callable[[Observed], Outcome]:
    """Make a test of all hypotheses from the number of exceedances of one pair."""

    def test(observed: Observed) -> Outcome:
        exceedances, wins, ties = np.empty((3, len(observed.hypotheses)), dtype=np.int64)
        arrays = (observed.statistic, observed.thresholds, observed.tolerances, observed.each_alternative)
        columns = zip(*map(np.ndarray.tolist, arrays), strict=True)
        for h, (statistic, threshold, tolerance, alternative) in enumerate(columns):
            drawn = observed.drawn_differences(h)
            exceedances[h] = count(Drawn(drawn, statistic, threshold, tolerance, alternative, observed.ties == ">="))
            wins[h], ties[h] = np.count_nonzero(drawn > 0), np.count_nonzero(drawn == 0)
        n = np.full(len(exceedances), observed.replicates.n_resamples)
        p = pvalue(exceedances, n, tails=observed.tails)
        return Outcome(observed.statistic, p, exceedances, n, wins=wins, ties=ties)

    test.__doc__ = count.__doc__
    return test


@_on_draws
def shift(drawn: Drawn) -> int:
    """|d_b| − mean |d_b| ≥ |d|: Riezler & Maxwell 2005, Fig. 2, exactly as published."""
    magnitude = np.abs(drawn.differences)
    return int(np.count_nonzero(magnitude - magnitude.mean() >= drawn.threshold))


@_on_draws
def centred(drawn: Drawn) -> int:
    """d_b − d is at least as extreme as d: Hall & Wilson 1991, doi:10.2307/2532163.

    Centring on the mean of the d_b instead would let Monte Carlo error decide ties. If one segment differs, d_b = 0 is
    as far from d as d is from 0, but slightly farther from the mean of the d_b or slightly closer to it.
    """
    return int(np.count_nonzero(reached(drawn.differences - drawn.statistic, drawn.threshold, drawn.alternative)))


@_on_draws
def percentile(drawn: Drawn) -> int:
    """The draws on the other side of 0, ties included; two-sided, those on the side that has fewer.

    It inverts the percentile interval (:func:`reshuffle.inference.intervals.percentile`).
    """
    end = drawn.tolerance if drawn.ties else -drawn.tolerance
    at_most = int(np.count_nonzero(drawn.differences <= end))
    at_least = int(np.count_nonzero(drawn.differences >= -end))
    return {"two-sided": min(at_most, at_least), "greater": at_most, "less": at_least}[drawn.alternative]


def both(observed: Observed) -> Outcome:
    """The larger p of :func:`centred` and :func:`percentile`, so that both have to reject.

    Both test the same null hypothesis, equal expected scores, and either may reject too often. That the larger of two
    p-values is valid if one of them is: Berger 1982, Technometrics 24.

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
def paired(drawn: Drawn) -> int:
    """The better system does not win the draw: Koehn 2004 (W04-3250), section 6. Neither system wins a tie."""
    # For equal systems the sign is 0, so every draw counts and p is 1.
    better = {"two-sided": np.sign(drawn.statistic), "greater": 1, "less": -1}[drawn.alternative]
    advantages = drawn.differences * better
    return int(np.count_nonzero(advantages <= 0 if drawn.ties else advantages < 0))
