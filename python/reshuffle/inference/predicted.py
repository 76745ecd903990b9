r"""Means that people scored on some units, with the help of a metric that scored all of them.

n of n + N units have labels y, and all have a prediction f. With a weight λ, the estimate of the mean label is

    θ = ȳ + λ·(f̄_N − f̄_n),   se² = Var_n(y − λf)/n + λ²·Var_N(f)/N,

where means and variances with index n are over the labelled units, and those with N over the others. λ makes se² as
small as possible: λ = Cov_n(y, f)/(Var_n(f) + n/N·Var_N(f)). So a prediction may be on any scale. This is
prediction-powered inference (Angelopoulos et al. 2023, doi:10.1126/science.adi6000) with a tuned weight (Angelopoulos,
Duchi & Zrnic 2023, arXiv:2311.01453). Theirs divides by the variance of all predictions instead, which is the same for
large n; but with few labels, and large differences that are rare, it can do worse than the labels alone.

Where the question is about these n + N units only, their mean f̄ is known: θ = ȳ + λ·(f̄ − f̄_n) with
λ = Cov_n(y, f)/Var_n(f) and se² = (1 − n/(n + N))·Var_n(y − λf)/n, the regression estimate of survey sampling (Cochran
1977, section 7.3).

Variances of y − λf have the divisor n − 2, and t intervals n − 2 degrees of freedom, because λ is fitted. Units of
several segments have sums, and a mean is a ratio of sums, which is linearized.

In strata whose shares W_h of all segments are known, labels are a random sample of each stratum, in any proportions:
the estimate is Σ W_h·θ_h with one λ, which makes Σ W_h²·se_h² as small as possible, and degrees of freedom are those of
Satterthwaite (1946, doi:10.2307/3002019). It is the same whether strata were drawn from, or made afterwards.

Labels that are all equal, or are all predicted without an error, leave a standard error of 0. That says nothing of the
units without labels, so there is no test: p is 1, and the interval unbounded. (The t test of ``compare``, which has
the scores of all units, has p = 0 there.)

Where the raters are a sample, too, the error of the labelled units is that of two crossed clusters, units and raters:
the variance with clusters of units, plus that with clusters of raters, minus that of both together (Cameron, Gelbach &
Miller 2011, doi:10.1198/jbes.2010.07136), with A − 1 degrees of freedom for A raters.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..lazy import lazy
from ..metrics.base import Scores
from ..resampling.units import Strata

# A part of an error that is so small a share of the values is rounding.
SMALLEST = 1e-12


@dataclass(frozen=True)
class Estimated:
    """An estimate of the mean label per segment."""

    mean: float
    standard_error: float
    freedom: float
    """The degrees of freedom of its standard error."""
    n: int
    """The number of labelled units."""
    weight: float = 0.0
    """λ."""
    correlation: float | None = None
    """Of labels and predictions, over the labelled units; None if one of them is constant."""
    shift: float = math.nan
    """How far the mean prediction of the labelled units is from that of the others, in standard errors; else NaN."""

    @property
    def is_tested(self) -> bool:
        """Whether there is a test: not if the labels say nothing of their error."""
        return self.standard_error > 0

    def interval(self, level: float) -> tuple[float, float]:
        """The ends of the t interval, infinite without a test."""
        from scipy.special import stdtrit

        if not self.is_tested:
            return -math.inf, math.inf
        half = float(stdtrit(self.freedom, (1 + level) / 2)) * self.standard_error
        return self.mean - half, self.mean + half

    @property
    def pvalue(self) -> float:
        """Two-sided, of the t test that the mean is 0."""
        from scipy.special import stdtr

        if not self.is_tested:
            return 1.0
        return float(2 * stdtr(self.freedom, -abs(self.mean) / self.standard_error))

    def pvalue_above(self, limit: float) -> float:
        """One-sided, of the t test that the mean is ``limit`` or less."""
        from scipy.special import stdtr

        if not self.is_tested:
            return 1.0
        return float(stdtr(self.freedom, (limit - self.mean) / self.standard_error))

    @property
    def shift_pvalue(self) -> float | None:
        """Two-sided, of the test that labelled and other units have the same mean prediction; None without one."""
        return None if math.isnan(self.shift) else math.erfc(abs(self.shift) / math.sqrt(2))


@dataclass(frozen=True, eq=False)
class Labelled:
    """Labels of some units: sums over the segments of each of them, (n,), and which units they are, (n + N,)."""

    labels: Scores
    labelled: NDArray[np.bool_]
    sizes: Scores
    """The number of segments of each unit: (n + N,)."""
    finite: bool = False
    """Whether the mean of these n + N units is meant, instead of that of all units like them."""
    strata: Strata | None = None
    """Of all units."""
    by_rater: tuple[Scores, Scores] | None = None
    """Where raters are a second cluster: the part of each in ``labels`` and in the sizes of these units, (A, n)."""

    def alone(self) -> Estimated:
        """The mean of the labels."""
        means, y = self._means(self.labels, self.labelled)
        return Estimated(float(means @ self._shares), *self._error(means, y, y), len(y))

    def predicted(self, predictions: Scores) -> Estimated:
        """The same with predictions, (n + N,): sums over the segments of each unit."""
        at, rest = self.labelled, ~self.labelled
        means, y = self._means(self.labels, at)
        of_labelled, f = self._means(predictions[at], at)
        of_rest, g = self._means(predictions[rest], rest)
        if not f.any():  # all predictions are equal, as far as labels can tell
            return self.alone()
        covariance, variance = self._product(y, f, at), self._product(f, f, at)
        of_others = self._product(g, g, rest)
        if self.finite:
            weight = covariance / variance
            others, _ = self._means(predictions, np.ones_like(at))
        else:
            weight = covariance / (variance + of_others)
            others = of_rest
        estimate = (means + weight * (others - of_labelled)) @ self._shares
        error, freedom = self._error(means, y, _without_rounding(y - weight * f, y))
        if not self.finite:
            error = math.hypot(error, weight * math.sqrt(of_others))
        correlation = float(covariance / math.sqrt(variance * self._product(y, y, at))) if y.any() else None
        from_rest = (of_labelled - of_rest) @ self._shares
        shift = from_rest / math.sqrt(self._product(f, f, at, False) + self._product(g, g, rest, False))
        return Estimated(float(estimate), error, freedom, len(y), float(weight), correlation, float(shift))

    @lazy
    def _strata(self) -> Strata:
        return Strata.or_single(self.strata, len(self.labelled))

    @lazy
    def _shares(self) -> Scores:
        """The share of each stratum in all segments."""
        return np.asarray(np.bincount(self._strata.index, self.sizes) / self.sizes.sum())

    def _means(self, sums: Scores, at: NDArray[np.bool_]) -> tuple[Scores, Scores]:
        """The means per segment of the strata, from these units, and the part of each unit in the error of their sum.

        The sum of the parts of each stratum is 0.
        """
        stratum, sizes = self._strata.index[at], self.sizes[at]
        means = sums_of(stratum, sums) / sums_of(stratum, sizes)
        scales = self._scales(at)
        return means, _without_rounding((sums - means[stratum] * sizes) * scales, sums * scales)

    def _scales(self, at: NDArray[np.bool_]) -> Scores:
        """What makes the sum of a unit a part of the mean of all segments: share of the stratum by mean size."""
        stratum = self._strata.index[at]
        return np.asarray((self._shares * np.bincount(stratum) / sums_of(stratum, self.sizes[at]))[stratum])

    def _product(self, one: Scores, other: Scores, at: NDArray[np.bool_], finite: bool | None = None) -> float:
        """The covariance of two means over these units, from the parts of each."""
        return float(self._by_stratum(one * other, at, self.finite if finite is None else finite).sum())

    def _by_stratum(self, products: Scores, at: NDArray[np.bool_], finite: bool) -> Scores:
        stratum = self._strata.index[at]
        n = np.bincount(stratum)
        share = 1 - n / self._strata.sizes if finite else 1.0
        return np.asarray(share * sums_of(stratum, products) / (n * (n - 1)))

    def _error(self, means: Scores, y: Scores, residuals: Scores) -> tuple[float, float]:
        """The standard error of a mean over the labelled units, and its degrees of freedom. λ takes one of them."""
        at, n = self.labelled, len(y)
        fitted = 0 if residuals is y else 1
        by_stratum = self._by_stratum(residuals**2, at, self.finite)
        each, left = np.bincount(self._strata.index[at]) - 1, n - len(means)
        variance = float(by_stratum.sum()) * left / (left - fitted)
        ratio = float(by_stratum.sum()) ** 2 / float((by_stratum**2 / each).sum()) if by_stratum.any() else left
        freedom = round(ratio, 9) - fitted
        if self.by_rater is None:
            return math.sqrt(variance), freedom
        labels, sizes = self.by_rater
        stratum = self._strata.index[at]
        own = (labels - means[stratum] * sizes) * self._scales(at) - (y - residuals) * sizes / self.sizes[at]
        own = _without_rounding(own / np.bincount(stratum)[stratum], labels)
        n_raters = len(own)
        between = n_raters / (n_raters - 1) * float((own.sum(axis=1) ** 2).sum()) - float((own**2).sum())
        return math.sqrt(variance + max(between, 0.0)), min(freedom, n_raters - 1)


def _without_rounding(parts: Scores, values: Scores) -> Scores:
    """``parts``, those of them that are rounding of numbers as large as ``values`` replaced by 0."""
    return np.asarray(np.where(np.abs(parts) > SMALLEST * np.abs(values).max(), parts, 0.0))


def sums_of(index: NDArray[np.intp], values: Scores) -> Scores:
    """The sums over the segments of each unit, by the unit of each segment."""
    return np.asarray(np.bincount(index, values).astype(np.float64, copy=False))
