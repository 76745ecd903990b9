"""Multiple comparisons with the best (Hsu 1981): which systems may be the best one?

For each system i the hypothesis is that no other system is better. The statistic is the largest studentized lead over
i, max_j (θ̂_j − θ̂_i)/se_ji, or 0 if it is negative. It is compared with the distribution of max_j |z_ji| if all
systems are equal to i. These are comparisons of all systems with i as the control, as in Edwards & Hsu 1983 (Journal of
the American Statistical Association 78). So in large samples each system that is truly the best has p > α with
probability 1 − α or more. The critical values are smaller than those of the tests of all pairs. p is 1 for the system
with the best score, so the set of the systems with p > α is never empty.

The absolute value makes the comparisons two-sided. Hsu's comparisons are one-sided and have more power. But where draws
are skewed or biased, as near a kink, most of a test's errors may be in one tail
(docs/statistics/ranking.md#multiple-comparisons-with-the-best has figures).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from ..lazy import lazy
from ..metrics.base import Scores, tolerance
from ..resampling import Replicates, Sample
from .anova import pooled_error
from .pvalues import pvalue
from .sequential import quadrature
from .step_down import Scales, root_mean_squares, scales_of_draws, standard_deviation

# The number of nodes at which each of two integrals is evaluated.
NODES = 96


def of_centred_draws(replicates: Replicates, metric: int) -> Scores:
    """p of each system from the centred draws that the test ``bootstrap`` uses: (k,)."""
    return _Draws.from_replicates(replicates, metric).pvalues(standard_deviation)


def of_percentiles(replicates: Replicates, metric: int) -> Scores:
    """p of each system with the scales of ``bootstrap-percentile``: (k,)."""
    return _Draws.from_replicates(replicates, metric).pvalues(root_mean_squares)


def of_both(replicates: Replicates, metric: int) -> Scores:
    """The larger of both p-values, as in ``bootstrap-both``: (k,)."""
    draws = _Draws.from_replicates(replicates, metric)
    return np.maximum(draws.pvalues(standard_deviation), draws.pvalues(root_mean_squares))


def of_pooled_error(replicates: Replicates, metric: int) -> Scores:
    """p of each system with the error of ``anova``, by Dunnett's comparisons with a control: (k,)."""
    sample = replicates.samples[metric]
    ahead, _ = _ahead(sample)
    error = pooled_error(sample)
    behind_best = ahead.max(axis=0)
    never = np.where(behind_best > 0, np.inf, 0.0)
    t = np.divide(behind_best, error.of_difference, out=never, where=error.of_difference > 0)
    pvalues = np.ones(len(t))
    pvalues[t > 0] = dunnett_sf(t[t > 0], len(t) - 1, error.df)
    return pvalues


def _ahead(sample: Sample) -> tuple[Scores, Scores]:
    """By how much each system (row) is better than each other one, 0 if it is not, and the tolerances: (k, k) each."""
    scores = sample.scores
    tolerances = tolerance(scores[:, None], scores)
    differences = (scores[:, None] - scores) * (1 if sample.metric.higher_is_better else -1)
    return np.maximum(differences - tolerances, 0), tolerances


@dataclass(frozen=True, eq=False)
class _Draws:
    """The draws of all systems under a metric: ``deviations``, (k, R), are the draws less the observed scores."""

    replicates: Replicates
    metric: int
    deviations: Scores

    @classmethod
    def from_replicates(cls, replicates: Replicates, metric: int) -> _Draws:
        return cls(replicates, metric, replicates.draws[metric] - replicates.samples[metric].scores[:, None])

    def pvalues(self, scales: Scales) -> Scores:
        """p = (1 + #{r: max_j |z*_ji,r| ≥ max_j z_ji})/(R + 1) for each system i: (k,).

        z_ji is the lead of j over i, divided by the scale of the deviations towards 0. z*_ji,r is the deviation of draw
        r, divided by the scale of its side. Cost: a few passes over the draws for each pair, and some more for scales
        that no adjustment has computed. Memory: that of the draws.
        """
        sample = self.replicates.samples[self.metric]
        ahead, tolerances = _ahead(sample)
        below = self._scales_below(scales, tolerances)
        towards_0 = below if sample.metric.higher_is_better else below.T
        z = np.divide(ahead, towards_0, out=np.where(ahead > 0, np.inf, 0.0), where=towards_0 > 0)
        exceedances = [self._exceedances(i, below, reach) for i, reach in enumerate(z.max(axis=0).tolist())]
        return pvalue(np.array(exceedances), self.replicates.n_resamples)

    def _scales_below(self, scales: Scales, tolerances: Scores) -> Scores:
        """The scale below 0 of the deviations of row less column, which is that above 0 of column less row: (k, k)."""
        below = np.zeros_like(tolerances)
        for b, a in combinations(range(len(below)), 2):

            def of_pair(a: int = a, b: int = b) -> Scores:
                return np.asarray(self.deviations[a] - self.deviations[b])

            below[a, b], below[b, a] = scales_of_draws(
                self.replicates, scales, (self.metric, a, b), of_pair, float(tolerances[a, b])
            )
        return below

    def _exceedances(self, i: int, below: Scores, statistic: float) -> int:
        """The number of draws in which the deviation of any other system from system i reaches the statistic."""
        n = self.replicates.n_resamples
        if statistic == 0 or np.isinf(statistic):
            return 0 if statistic else n
        reached: NDArray[np.bool_] = np.zeros(n, dtype=np.bool_)
        lowest, highest = -statistic * below[:, i], statistic * below[i]
        # Most systems are so far from the best that no draw can reach the statistic.
        low, high = self._range
        possible = (highest > 0) & ((high - low[i] >= highest) | (low - high[i] <= lowest))
        for j in np.flatnonzero(possible).tolist():
            of_pair = self.deviations[j] - self.deviations[i]
            reached |= of_pair >= highest[j]
            reached |= of_pair <= lowest[j]
        return int(reached.sum())

    @lazy
    def _range(self) -> tuple[Scores, Scores]:
        """The smallest and the largest deviation of each system: (k,) each."""
        return self.deviations.min(axis=1), self.deviations.max(axis=1)


def dunnett_sf(t: Scores, n: int, df: int) -> Scores:
    """P(max_j |T_j| ≥ t) for n comparisons with a control: Dunnett 1955, doi:10.1080/01621459.1955.10501294.

    The T_j have a multivariate t distribution with df degrees of freedom and correlations of ½.

    >>> dunnett_sf(np.array([2.76]), 3, 10).round(3).tolist()
    [0.05]
    """
    from scipy.special import gammaln, ndtr

    # T_j = (X_j − X_0)/(√2·s) for independent standard normal X and s² = χ²/df.
    nodes, weights = quadrature(NODES)
    x, of_x = 9 * nodes, 9 * weights * np.exp(-40.5 * nodes**2) / np.sqrt(2 * np.pi)
    low, high = max(0.0, 1 - 9 / np.sqrt(2 * df)), 1 + 9 / np.sqrt(2 * df)
    s = low + (high - low) * (nodes + 1) / 2
    log_density = df / 2 * np.log(df / 2) + np.log(2) - gammaln(df / 2) + (df - 1) * np.log(s) - df * s**2 / 2
    of_s = (high - low) / 2 * weights * np.exp(log_density)
    limits = np.sqrt(2) * np.minimum(t, 1e6)[:, None, None] * s[:, None]
    outside = np.minimum(ndtr(x - limits) + ndtr(-x - limits), 1)
    with np.errstate(divide="ignore"):  # log 0
        any_outside = -np.expm1(n * np.log1p(-outside))
    return np.where(np.isinf(t), 0.0, np.minimum(any_outside @ of_x @ of_s, 1))
