"""The quantities that intervals and standard errors are computed from: :class:`Estimate`.

Standard errors by the delta method linearize the metric: u_s = ∇f(T)·(x_s − T/S) is the contribution of segment s to
the score, and se² = S/(S − 1) Σ u_s² (Efron 1981, doi:10.1093/biomet/68.3.589). For a mean, se = s/√S. With strata of
S_h segments, se² is the sum of the strata's variances, Σ_h S_h/(S_h − 1) Σ (u_s − ū_h)² (Davison & Hinkley 1997,
doi:10.1017/CBO9780511802843, 3.2).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, either
from ..lazy import lazy
from ..metrics.base import LARGEST_SUM, Counts, Metric, Scores, tolerance
from ..metrics.black_box import CorpusFunction
from ..resampling import Batch, CountSample, Replicates, Sample, resampler_of_sums
from ..resampling.linear import gradient, rows_of, slopes_of
from ..resampling.samples import BATCH_CELLS
from ..resampling.units import Strata

# Kinds of metrics that a method may need: any, those of summed counts, and means of segment scores.
ANY, SUMS, MEANS = "any", "sums", "means"

# The number of products of columns in memory at a time: 128 MB, whatever the number of segments.
PRODUCT_CELLS = 1 << 24


def check_kind(what: str, kind: str, metrics: Iterable[Metric | CorpusFunction], instead: Iterable[str]) -> None:
    """Raise :class:`InputError` if a metric is not of the kind that ``what`` needs; ``instead`` names alternatives."""
    for m in metrics:
        if kind == MEANS and not m.is_mean:
            needs, has = "is for means of segment scores", "is not one"
        elif kind == SUMS and not m.is_sum:
            needs, has = "is for metrics of summed counts", "is a function of texts"
        else:
            continue
        raise InputError(f"{what} {needs}, but {m.name} {has}: use {either(instead)}")


@dataclass(eq=False)
class Estimate:
    """The score of system ``a`` or, with ``b``, score(a) − score(b), under the metric with index ``metric``.

    With missing scores, ``a`` and ``b`` are the rows of the sample that stand for the systems. ``scheme`` is that of
    the shuffles, if the method uses any. Other attributes are computed on first access.
    """

    replicates: Replicates
    metric: int
    a: int
    b: int | None = None
    scheme: str = "auto"

    @property
    def _sample(self) -> Sample:
        return self.replicates.samples[self.metric]

    @property
    def count_sample(self) -> CountSample:
        """The counts of all systems under the metric; :class:`InputError` if it has none."""
        return self._sample.with_counts()

    @property
    def pair(self) -> tuple[int, int]:
        """The systems of a difference."""
        assert self.b is not None
        return self.a, self.b

    @lazy
    def _counts(self) -> Counts:
        """The counts of the one or two systems: (1 or 2, S, K)."""
        return self.count_sample.counts[[self.a] if self.b is None else [self.a, self.b]]

    def _select(self, values: Scores) -> Scores:
        """The values of this system or difference, from those of all systems (first axis)."""
        return np.asarray(values[self.a] if self.b is None else values[self.a] - values[self.b])

    @lazy
    def _alone(self) -> tuple[Sample, Sequence[int]]:
        """The sample without the units in which a score is missing, and the system or systems in it."""
        return self._sample.alone([self.a] if self.b is None else [self.a, self.b])

    @property
    def n_units(self) -> int:
        """S, the number of resampling units without missing scores."""
        return self._alone[0].n_units

    @property
    def value(self) -> float:
        """The observed score or difference."""
        return float(self._select(self._sample.scores))

    @lazy
    def tolerance(self) -> float:
        """How far a difference may lie from 0 to count as 0, as in tests; 0 for a score."""
        if self.b is None:
            return 0.0
        scores = self._sample.scores
        return float(tolerance(scores[self.a], scores[self.b]))

    @lazy
    def draws(self) -> Scores:
        """The value on every draw: (R,)."""
        return self._select(self.replicates.draws[self.metric])

    @lazy
    def leave_one_out(self) -> Scores:
        """The value without each unit: (S,)."""
        sample, (a, *b) = self._alone
        values = sample.leave_one_out
        return np.asarray(values[a] - values[b[0]] if b else values[a])

    @lazy
    def influences(self) -> Scores:
        """mean θ₍ₛ₎ − θ₍ₛ₎, where θ₍ₛ₎ is the value without unit s and the mean is over its stratum: (S,)."""
        return Strata.or_single(self._alone[0].strata, self.n_units).deviations(-self.leave_one_out)

    @lazy
    def segment_values(self) -> Scores:
        """See :meth:`reshuffle.resampling.Sample.values`."""
        return self._sample.segment_values(self.a, self.b)

    @lazy
    def delta_error(self) -> float:
        """The standard error by the delta method."""
        sample, systems = self._alone
        return math.sqrt(sample.linear.variance(*systems))

    @lazy
    def jackknife_error(self) -> float:
        """The standard error by the jackknife, √((S − 1)/S Σ (θ₍ₛ₎ − mean θ₍ₛ₎)²): Efron & Stein 1981.

        With strata it is the formula of the delta method with (S − 1)/S·(θ − θ₍ₛ₎) instead of u_s. Without strata both
        formulas are equal.
        """
        share = (self.n_units - 1) / self.n_units
        sample, systems = self._alone
        return share * math.sqrt(sample.jackknife.variance(*systems))

    @lazy
    def bootstrap_error(self) -> float:
        """The standard deviation of the draws, with denominator R − 1."""
        if len(self.draws) < 2:
            raise InputError("a standard deviation needs at least 2 draws, got 1")
        return float(self.draws.std(ddof=1))

    @lazy
    def draw_errors(self) -> Scores:
        """The standard error of every draw by the delta method, with the gradient at the draw: (R,).

        Σ u_s² over the drawn segments is a quadratic form. Its coefficients are sums of products of columns, which are
        drawn like counts. Cost: c(c + 3)/2 sums per draw for c columns that vary.
        """
        if self._sample.strata is not None:
            raise InputError(
                "the studentized interval does not support strata: use bca or percentile, or delta, which needs no "
                "draws"
            )
        n_drawn, n = self._sample.n_units, self.n_units
        rows, resolutions = _rounded_columns(rows_of(self._counts), n_drawn)
        i, j = np.triu_indices(rows.shape[1])
        twice = np.where(i == j, 1.0, 2.0)
        metric, counts = self.count_sample.metric, self._counts
        errors = np.empty(self.replicates.n_resamples)
        size = BATCH_CELLS // max(i.size, counts.shape[0] * counts.shape[2] ** 2)
        sums_of_counts, sums_of_rows = resampler_of_sums("draws", counts), resampler_of_sums("draws", rows[None])
        for batch in self.replicates.batches(max(1, size), "drawing"):
            totals = batch.sums(sums_of_counts).reshape(batch.n, *counts[:, 0].shape)
            slopes = slopes_of(gradient(metric, counts, totals).swapaxes(0, 1)) * resolutions
            first = (slopes * batch.sums(sums_of_rows)).sum(axis=1)
            terms = twice * slopes[:, i] * slopes[:, j] * _sums_of_products(batch, rows, i, j)
            second = terms.sum(axis=1)
            squared = second - first**2 / n_drawn
            # In a draw of equal segments the terms cancel, and what remains is a rounding error.
            squared[squared <= 2.0**-44 * np.abs(terms).sum(axis=1)] = 0
            errors[batch.first : batch.first + batch.n] = np.sqrt(n / (n - 1) * squared)
        # Both rows of a pair have the same missing scores, and so the same draws without scores.
        instead = self.replicates.replaced_draws.get((self.metric, self.a))
        return errors if instead is None else errors[instead]


def _rounded_columns(rows: Counts, segments: int) -> tuple[Counts, NDArray[np.float64]]:
    """Columns rounded so that sums of their products fit in 64 bits, and the resolution of each column.

    Counts of words are small and do not change. Fixed-point numbers keep their leading bits, at least 20 for a million
    segments, which changes the standard error by less than one part in a million.
    """
    # One bit is left for rounding up.
    bits = ((LARGEST_SUM // 2).bit_length() - 1 - segments.bit_length()) // 2
    largest = np.abs(rows).max(axis=0)
    resolutions = np.array([2.0 ** max(0, int(x).bit_length() - bits) for x in largest])
    return np.rint(rows / resolutions).astype(np.int64), resolutions


def _sums_of_products(batch: Batch, rows: Counts, i: NDArray[np.intp], j: NDArray[np.intp]) -> Counts:
    """Σ x_i x_j over the drawn segments, for pairs of columns i, j: (n, pairs)."""
    step = max(1, PRODUCT_CELLS // len(rows))
    blocks = [slice(at, at + step) for at in range(0, i.size, step)]
    # The products are computed again for every batch, because for many segments they do not fit in memory.
    products = (np.ascontiguousarray(rows[:, i[block]] * rows[:, j[block]])[None] for block in blocks)
    return np.concatenate([batch.sums(resampler_of_sums("draws", block)) for block in products], axis=1)
