"""Bootstrap tests: how many draws are at least as extreme as the observed difference, in three variants."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..metrics.base import Scores
from ..resampling import reached
from .hypotheses import Observed, Outcome
from .pvalues import pvalue

__all__ = ["centred", "paired", "shift"]


def _on_draws(count: Callable[[Scores, float, float, str], int]) -> Callable[[Observed], Outcome]:
    """Make a test of all hypotheses from the number of exceedances of one pair.

    ``count`` gets the (R,) differences on the draws, the observed statistic, its threshold and the alternative.
    """

    def test(observed: Observed) -> Outcome:
        exceedances, wins, ties = np.empty((3, len(observed.hypotheses)), dtype=np.int64)
        for h, (statistic, threshold) in enumerate(zip(observed.statistic, observed.thresholds, strict=True)):
            drawn = observed.drawn_differences(h)
            exceedances[h] = count(drawn, float(statistic), float(threshold), observed.alternative)
            wins[h], ties[h] = (drawn > 0).sum(), (drawn == 0).sum()
        n = np.full(len(exceedances), observed.replicates.n_resamples)
        return Outcome(observed.statistic, pvalue(exceedances, n), exceedances, n, wins=wins, ties=ties)

    test.__doc__ = count.__doc__
    return test


@_on_draws
def shift(drawn: Scores, statistic: float, threshold: float, alternative: str) -> int:
    """|d_b| − mean |d_b| ≥ |d|: Riezler & Maxwell 2005, Fig. 2, exactly as published."""
    magnitude = np.abs(drawn)
    return int((magnitude - magnitude.mean() >= threshold).sum())


@_on_draws
def centred(drawn: Scores, statistic: float, threshold: float, alternative: str) -> int:
    """d_b − mean d_b is at least as extreme as d: centring makes the null hypothesis hold for the draws."""
    return int(reached(drawn - drawn.mean(), threshold, alternative).sum())


@_on_draws
def paired(drawn: Scores, statistic: float, threshold: float, alternative: str) -> int:
    """The better system does not win the draw: Koehn 2004 (W04-3250), section 6. Neither system wins a tie."""
    # For equal systems the sign is 0, so every draw counts and p is 1.
    better = {"two-sided": np.sign(statistic), "greater": 1, "less": -1}[alternative]
    return int((drawn * better <= 0).sum())
