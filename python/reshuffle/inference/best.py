"""Multiple comparisons with the best (Hsu 1981): which systems may be the best one?

For each system i the hypothesis is that no other system is better. The statistic is the largest studentized difference
max_j (θ̂_j − θ̂_i)/se_ji, or 0 if it is negative. It is compared with its distribution if all systems are equal to i.
These are the one-sided comparisons of all systems with i as the control, as in Edwards & Hsu 1983 (Journal of the
American Statistical Association 78), so the set of the systems with p > α contains a best system with probability
1 − α at least. They need smaller critical values than the tests of all pairs. The set is never empty, because p is 1
for the system with the best score.

With ties for the best, each of them is in the set with that probability, but not all of them at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from ..lazy import lazy
from ..metrics.base import Scores, tolerance
from ..resampling import Replicates, Sample
from .anova import pooled_error
from .pvalues import pvalue

__all__ = ["dunnett_sf", "of_both", "of_centred_draws", "of_percentiles", "of_pooled_error"]

# The number of nodes at which each of two integrals is evaluated.
NODES = 96
# A sum of squares below this share of a larger one is not computed as a difference.
CLOSE = 2.0**-16


def of_centred_draws(replicates: Replicates, metric: int) -> Scores:
    """p of each system from the centred draws that the test ``bootstrap`` uses: (k,)."""
    return _Draws.from_replicates(replicates, metric).centred


def of_percentiles(replicates: Replicates, metric: int) -> Scores:
    """p of each system from draws on the other side of 0, as in ``bootstrap-percentile``: (k,)."""
    return _Draws.from_replicates(replicates, metric).percentiles


def of_both(replicates: Replicates, metric: int) -> Scores:
    """The larger of both p-values, as in ``bootstrap-both``: (k,)."""
    draws = _Draws.from_replicates(replicates, metric)
    return np.maximum(draws.centred, draws.percentiles)


def of_pooled_error(replicates: Replicates, metric: int) -> Scores:
    """p of each system with the error of ``anova``, by Dunnett's one-sided comparisons with a control: (k,)."""
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
    """The draws of all systems under a metric.

    ``ahead`` and ``tolerances``, (k, k), are those of :func:`_ahead`. ``deviations``, (k, R), are the draws less the
    observed scores; a positive one is better.
    """

    ahead: Scores
    tolerances: Scores
    deviations: Scores

    @classmethod
    def from_replicates(cls, replicates: Replicates, metric: int) -> _Draws:
        sample = replicates.samples[metric]
        deviations = replicates.draws[metric] - sample.scores[:, None]
        if not sample.metric.higher_is_better:
            np.negative(deviations, out=deviations)
        return cls(*_ahead(sample), deviations)

    @property
    def centred(self) -> Scores:
        """From the deviations, divided by their standard deviation: (k,)."""
        return self._pvalues(1, self._scales[0])

    @property
    def percentiles(self) -> Scores:
        """From the deviations towards 0, divided by their root mean square: (k,)."""
        return self._pvalues(-1, self._scales[1])

    @lazy
    def _scales(self) -> tuple[Scores, Scores]:
        """The scales of each pair's deviations, 0 if they are constant: (k, k) each.

        The first is their standard deviation. The second is the root mean square of those in which the system of the
        row loses some of its lead, or the standard deviation if there are none. They are those of
        :mod:`reshuffle.inference.step_down`, from fewer passes over the draws.
        """
        k, n = self.deviations.shape
        means, of_pair, lost = self.deviations.mean(axis=1), np.empty(n), np.empty(n)
        spread, towards = np.zeros((2, k, k))
        for j, i in combinations(range(k), 2):
            np.subtract(self.deviations[j], self.deviations[i], out=of_pair)
            below = float(np.square(np.minimum(of_pair, 0, out=lost), out=lost).sum())
            squares = float(np.square(of_pair, out=lost).sum())
            if squares <= n * self.tolerances[j, i] ** 2:
                continue
            above = squares - below
            if above < CLOSE * squares:
                above = float(np.square(np.maximum(of_pair, 0, out=lost), out=lost).sum())
            spread[j, i] = spread[i, j] = np.sqrt(max(squares / n - (means[j] - means[i]) ** 2, 0))
            towards[j, i] = np.sqrt(2 * below / n) or spread[j, i]
            towards[i, j] = np.sqrt(2 * above / n) or spread[j, i]
        return spread, towards

    def _pvalues(self, sign: int, scales: Scores) -> Scores:
        """p = (1 + #{r: max_j z*_ji,r ≥ max_j z_ji})/(R + 1) for each system i: (k,).

        z_ji is by how much j is better than i, divided by the scale of the pair. z*_ji,r is the deviation of draw r
        from it, with this sign. Cost: some passes over the draws for each pair. Memory: that of the draws.
        """
        z = np.divide(self.ahead, scales, out=np.where(self.ahead > 0, np.inf, 0.0), where=scales > 0)
        statistic = z.max(axis=0)
        n = self.deviations.shape[1]
        exceedances = [self._exceedances(sign, i, scales[:, i], reach) for i, reach in enumerate(statistic.tolist())]
        return pvalue(np.array(exceedances), n)

    def _exceedances(self, sign: int, i: int, scales: Scores, statistic: float) -> int:
        """The number of draws in which the deviation of any other system from system i reaches the statistic."""
        n = self.deviations.shape[1]
        if statistic == 0 or np.isinf(statistic):
            return 0 if statistic else n
        reached: NDArray[np.bool_] = np.zeros(n, dtype=np.bool_)
        # Most systems are so far from the best that no draw can reach the statistic.
        low, high = self._range if sign > 0 else (-self._range[1], -self._range[0])
        possible = (scales > 0) & (high - low[i] >= statistic * scales)
        for j in np.flatnonzero(possible).tolist():
            reached |= sign * (self.deviations[j] - self.deviations[i]) >= statistic * scales[j]
        return int(reached.sum())

    @lazy
    def _range(self) -> tuple[Scores, Scores]:
        """The smallest and the largest deviation of each system: (k,) each."""
        return self.deviations.min(axis=1), self.deviations.max(axis=1)


@lru_cache(maxsize=1)
def _gauss_legendre() -> tuple[Scores, Scores]:
    """The nodes of the integrals between −1 and 1, and their weights: (NODES,) each."""
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    return nodes, weights


def dunnett_sf(t: Scores, n: int, df: int) -> Scores:
    """P(max_j T_j ≥ t) for n comparisons with a control: Dunnett 1955, doi:10.1080/01621459.1955.10501294.

    The T_j have a multivariate t distribution with df degrees of freedom and correlations of ½.

    >>> dunnett_sf(np.array([2.34]), 3, 10).round(3).tolist()
    [0.05]
    """
    from scipy.special import gammaln, log_ndtr

    # T_j = (X_j − X_0)/(√2·s) for independent standard normal X and s² = χ²/df.
    nodes, weights = _gauss_legendre()
    x, of_x = 9 * nodes, 9 * weights * np.exp(-40.5 * nodes**2) / np.sqrt(2 * np.pi)
    low, high = max(0.0, 1 - 9 / np.sqrt(2 * df)), 1 + 9 / np.sqrt(2 * df)
    s = low + (high - low) * (nodes + 1) / 2
    log_density = df / 2 * np.log(df / 2) + np.log(2) - gammaln(df / 2) + (df - 1) * np.log(s) - df * s**2 / 2
    of_s = (high - low) / 2 * weights * np.exp(log_density)
    limits = np.sqrt(2) * np.minimum(t, 1e6)[:, None, None] * s[:, None] + x
    return np.where(np.isinf(t), 0.0, np.minimum(-np.expm1(n * log_ndtr(limits)) @ of_x @ of_s, 1))
