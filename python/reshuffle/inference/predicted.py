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
several segments have sums, and a mean is a ratio of sums, which is linearised.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..metrics.base import Scores


@dataclass(frozen=True)
class Estimated:
    """An estimate of the mean label per segment."""

    mean: float
    standard_error: float
    n: int
    """The number of labelled units."""
    weight: float = 0.0
    """λ."""
    correlation: float | None = None
    """Of labels and predictions, over the labelled units; None if one of them is constant."""
    shift: float = math.nan
    """How far the mean prediction of the labelled units is from that of the others, in standard errors; else NaN."""

    @property
    def freedom(self) -> int:
        """The degrees of freedom of its standard error."""
        return self.n - 1 if math.isnan(self.shift) else self.n - 2

    def interval(self, level: float) -> tuple[float, float]:
        """The ends of the t interval."""
        from scipy.special import stdtrit

        half = float(stdtrit(self.freedom, (1 + level) / 2)) * self.standard_error
        return self.mean - half, self.mean + half

    @property
    def pvalue(self) -> float:
        """Two-sided, of the t test that the mean is 0. 1 if all labels and predictions are 0."""
        from scipy.special import stdtr

        if self.standard_error == 0:
            return float(self.mean == 0)
        return float(2 * stdtr(self.freedom, -abs(self.mean) / self.standard_error))

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

    def alone(self) -> Estimated:
        """The mean of the labels."""
        mean, residuals = _mean(self.labels, self.sizes[self.labelled])
        return Estimated(mean, self._error(residuals, 1), len(self.labels))

    def predicted(self, predictions: Scores) -> Estimated:
        """The same with predictions, (n + N,): sums over the segments of each unit."""
        n, rest = len(self.labels), ~self.labelled
        mean, y = _mean(self.labels, self.sizes[self.labelled])
        of_labelled, f = _mean(predictions[self.labelled], self.sizes[self.labelled])
        of_rest, g = _mean(predictions[rest], self.sizes[rest])
        of_all, _ = _mean(predictions, self.sizes)
        if not f.any():  # all predictions are equal, as far as labels can tell
            return self.alone()
        covariance = float(np.cov(y, f)[0, 1])
        error_of_rest = g.std(ddof=1) / math.sqrt(len(g))
        if self.finite:
            weight = covariance / f.var(ddof=1)
            estimate = mean + weight * (of_all - of_labelled)
            error = self._error(y - weight * f, 2)
        else:
            weight = covariance / (f.var(ddof=1) + n / len(g) * g.var(ddof=1))
            estimate = mean + weight * (of_rest - of_labelled)
            error = math.hypot(self._error(y - weight * f, 2), weight * error_of_rest)
        correlation = float(np.corrcoef(y, f)[0, 1]) if y.any() else None
        shift = (of_labelled - of_rest) / math.hypot(f.std(ddof=1) / math.sqrt(n), error_of_rest)
        return Estimated(estimate, error, n, float(weight), correlation, float(shift))

    def _error(self, residuals: Scores, fitted: int) -> float:
        """The standard error of a mean over the labelled units, of which ``fitted`` numbers were estimated."""
        share = 1 - len(self.labels) / len(self.labelled) if self.finite else 1.0
        return float(residuals.std(ddof=fitted) * math.sqrt(share / len(residuals)))


def sums_of(index: NDArray[np.intp], values: Scores) -> Scores:
    """The sums over the segments of each unit, by the unit of each segment."""
    found: Scores = np.bincount(index, values).astype(np.float64, copy=False)
    return found


def _mean(sums: Scores, sizes: Scores) -> tuple[float, Scores]:
    """The mean per segment, and the part of each unit in its error, (units,): their mean is 0."""
    mean = float(sums.sum() / sizes.sum())
    return mean, (sums - mean * sizes) / sizes.mean()
