"""How the scores of runs vary over test sets: their covariances, by the delta method.

Run i of a system has the score f(T_i). Its contribution from unit s is u_is = ∇f(T_i)·(x_is − T_i/S), and the
covariance of the scores of two runs on random test sets is S/(S − 1) Σ_s u_is u_js. The runs of a system see the same
segments. So the covariance of two runs is what their segments have in common, and the rest of a run's variance is the
interaction of run and segment. This is the two-way analysis of variance of the contributions in terms of covariances,
as Obuchowski & Rockette 1995 (doi:10.1080/03610919508813243) use it for readers and cases.

A difference of two systems, divided by its estimated standard error, has the distribution of :class:`Levels`: its
variance is a sum of parts, *levels*: the runs, whose few scores give an uncertain estimate, and the segments. With a
single level it is Student's t. With several, a critical value is the mean of those of Student's t, weighted by the
estimated variances, as Cochran and Cox have it for two means (Cochran 1964, *Approximate significance levels of the
Behrens-Fisher test*, Biometrics 20, 191-195). Satterthwaite's formula over all levels instead takes a variance that is
small by chance for a well-known one, and rejects too often.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..documented import documented
from ..metrics.base import Scores
from .linear import linear_values
from .samples import CountSample
from .units import Strata

# Halvings of the logarithm of a tail probability, which is between -700 and 0: enough for the last digit.
HALVINGS = 64
SMALLEST = 1e-300


def quantiles(tail: ArrayLike, shares: Scores, degrees: Scores) -> Scores:
    """The values that are exceeded with the probabilities ``tail``: (…) in, with shares and degrees (…, levels)."""
    from scipy.special import stdtrit

    probabilities = np.maximum(tail, SMALLEST)[..., None]
    return np.asarray(-(shares * stdtrit(degrees, probabilities)).sum(axis=-1))


def tails(t: ArrayLike, shares: Scores, degrees: Scores) -> Scores:
    """The probabilities to exceed ``t`` ≥ 0: the inverse of :func:`quantiles`.

    A mean of quantiles is between them, so the tail is between those of the levels.
    """
    from scipy.special import stdtr

    values = np.asarray(t, dtype=np.float64)
    each = np.maximum(stdtr(degrees, -values[..., None]), SMALLEST)
    low, high = (np.log(end) for end in (each.min(axis=-1), each.max(axis=-1)))
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        exceeded = quantiles(np.exp(middle), shares, degrees) > values
        low, high = np.where(exceeded, middle, low), np.where(exceeded, high, middle)
    return np.asarray(np.exp((low + high) / 2))


@dataclass(frozen=True)
class Levels:
    """The levels of a variance."""

    shares: Sequence[float]
    """The share of each in the variance. They add up to 1."""
    degrees_of_freedom: Sequence[float]
    """Those of the estimate of each."""

    @property
    def fewest(self) -> float:
        """The degrees of freedom of the level whose estimate is the least certain."""
        return min(self.degrees_of_freedom)

    def quantile(self, tail: float) -> float:
        """The value that is exceeded with the probability ``tail``.

        >>> round(Levels([1.0], [4]).quantile(0.025), 3), round(Levels([0.5, 0.5], [1, 299]).quantile(0.025), 3)
        (2.776, 7.337)
        """
        return float(quantiles(tail, np.array(self.shares), np.array(self.degrees_of_freedom)))

    def tail(self, t: float) -> float:
        """The probability to exceed ``t``; that to fall below it is ``tail(-t)``.

        >>> round(Levels([1.0], [4]).tail(2.776), 3)
        0.025
        """
        own = float(tails(abs(t), np.array(self.shares), np.array(self.degrees_of_freedom)))
        return own if t >= 0 else 1 - own


ADVICE = "leave out this metric, or the exchange unit 'hierarchical'"


class Parts(NamedTuple):
    """Estimated variances of a system's scores, in squared points of the metric."""

    observed: float
    """The variance of the runs' scores, with n − 1."""
    between_runs: float
    """Estimated variance components of the score of one run. Estimates below 0 are kept."""
    between_segments: float
    interaction: float


@documented
class Spread(NamedTuple):
    """The variance of a difference of two systems, from :meth:`RunCovariances.of_difference`."""

    variance: float
    """For new runs and new segments."""
    of_draws: float
    """What the draws of runs and segments have by construction: they count the interaction more than once."""
    of_runs: tuple[float, float]
    """What the runs of each system contribute to ``variance``, with the interaction: s²/n."""
    levels: Levels
    """The runs, and the segments without the interaction."""

    @property
    def factor(self) -> float:
        """What the deviations of draws are multiplied by, so that they have ``variance``; 1 where they do not vary."""
        return math.sqrt(self.variance / self.of_draws) if self.of_draws > 0 else 1.0


# The largest number of runs of a system beside one with two or three with which both are one level: with more, the
# size of the test passes .07 (benches/simulations/run_size.py).
ONE_LEVEL = {2: 2, 3: 5}


def one_level(n: int, m: int) -> bool:
    """Whether the runs of systems with n and m runs are one level."""
    return max(n, m) <= ONE_LEVEL.get(min(n, m), max(n, m))


def run_levels(parts: tuple[float, float], numbers: tuple[int, int]) -> list[tuple[float, float]]:
    """The variance and the degrees of freedom of the levels of runs, from s²/n and n of both systems.

    One level, with Satterthwaite's degrees of freedom (1946, doi:10.2307/3002019). But s² of two or three runs is near
    0 too often: beside a system with more of them, the runs of each are a level of their own.

    >>> run_levels((1.0, 1.0), (3, 3)), run_levels((1.0, 1.0), (2, 3))
    ([(2.0, 4.0)], [(1.0, 1), (1.0, 2)])
    """
    if not one_level(*numbers):
        return [(part, n - 1) for part, n in zip(parts, numbers, strict=True)]
    return [(sum(parts), satterthwaite(parts, [n - 1 for n in numbers]))]


def satterthwaite(parts: Sequence[float], degrees: Sequence[float]) -> float:
    """The degrees of freedom of a sum of variances: (Σ v)²/Σ(v²/ν), for Σ v = 0 Σ ν.

    >>> satterthwaite([1.0, 1.0], [2, 2]), satterthwaite([0.0, 0.0], [2, 2])
    (4.0, 4.0)
    """
    largest = max(parts)
    if largest <= 0:
        return float(sum(degrees))
    shares = [part / largest for part in parts]  # squares of small numbers would be 0
    return sum(shares) ** 2 / sum(share**2 / nu for share, nu in zip(shares, degrees, strict=True))


@dataclass(frozen=True, eq=False)
class RunCovariances:
    """The scores of all outputs under a metric, and their covariances over random test sets."""

    scores: Scores
    """Shape (outputs,)."""
    covariances: Scores
    """Shape (outputs, outputs). Of the scores of two outputs on the same random test set of this size."""
    shrunk: Scores
    """Shape (outputs, outputs). The same for bootstrap draws, which have S_h instead of S_h − 1 in the denominator of
    each stratum.
    """
    n_units: int
    rows: list[slice]
    """The outputs of each system."""

    @classmethod
    def from_sample(cls, sample: CountSample, rows: list[slice]) -> RunCovariances:
        """Under its metric. Cost: a product of matrices with a column for each output and S rows."""
        k, n = sample.counts.shape[:2]
        strata = Strata.or_single(sample.strata, n)
        sums, products, drawn = np.zeros((strata.n_strata, k)), np.zeros((k, k)), np.zeros((k, k))
        for block, values in linear_values(sample.metric, sample.counts, sample.totals, ADVICE):
            if strata.n_strata > 1:  # the mean of a single stratum is 0
                sums += np.stack([np.bincount(strata.index[block], row, strata.n_strata) for row in values], axis=1)
            products += (values * strata.factors[block]) @ values.T
            drawn += values @ values.T
        # less the means of the strata
        products -= (sums / np.maximum(strata.sizes - 1, 1)[:, None]).T @ sums
        drawn -= (sums / strata.sizes[:, None]).T @ sums
        return cls(sample.scores, products, drawn, n, rows)

    def parts(self, system: int) -> Parts | None:
        """The variance components of a system; None for one run."""
        rows = self.rows[system]
        scores = self.scores[rows]
        if len(scores) < 2:
            return None
        own, shared = own_and_shared(self.covariances[rows, rows])
        observed = float(scores.var(ddof=1))
        return Parts(observed, observed - (own - shared), shared, own - shared)

    def of_difference(self, a: int, b: int) -> Spread:
        """The variance of the difference of two systems' mean scores, each with at least 2 runs.

        The mean scores of new runs differ with the variance Σ s²/n of the observed ones over both systems, which
        contains the interaction. The segments add the covariance of different runs, without the interaction. So it
        counts once. The segments have S − 1 degrees of freedom; for the runs see :func:`run_levels`.
        """
        weights = np.zeros(len(self.scores))
        parts, drawn_runs, interaction = [], 0.0, 0.0
        for system, sign in ((a, 1), (b, -1)):
            rows = self.rows[system]
            n = rows.stop - rows.start
            weights[rows] += sign / n
            own, shared = own_and_shared(self.covariances[rows, rows])
            drawn_own, drawn_shared = own_and_shared(self.shrunk[rows, rows])
            of_mean = float(self.scores[rows].var(ddof=1)) / n
            parts.append(of_mean)
            interaction += (own - shared) / n
            drawn_runs += of_mean + (drawn_own - drawn_shared) / n
        segments = max(float(weights @ self.covariances @ weights) - interaction, 0.0)
        of_runs, numbers = (parts[0], parts[1]), (self.n_runs(a), self.n_runs(b))
        variance = sum(of_runs) + segments
        found = [*run_levels(of_runs, numbers), (segments, max(self.n_units - 1, 1))]
        shares = [part / variance if variance > 0 else 1 / len(found) for part, _ in found]
        levels = Levels(shares, [float(degrees) for _, degrees in found])
        return Spread(variance, drawn_runs + float(weights @ self.shrunk @ weights), of_runs, levels)

    def n_runs(self, system: int) -> int:
        """The number of runs of a system."""
        rows = self.rows[system]
        return int(rows.stop - rows.start)


def own_and_shared(covariances: Scores) -> tuple[float, float]:
    """The mean of the diagonal and of the rest of a (n, n) matrix, n ≥ 2."""
    n = len(covariances)
    own = float(np.trace(covariances))
    return own / n, (float(covariances.sum()) - own) / (n * (n - 1))
