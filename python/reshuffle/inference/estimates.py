"""What an interval may be made from: an observed value, its draws, its jackknife values, its standard errors.

The standard errors by the delta method linearise the metric: u_s = ∇f(T)·(x_s − T/S) is what segment s adds to the
score, and se² = S/(S − 1) Σ u_s² (Efron 1981, doi:10.1093/biomet/68.3.589). For a mean that is s/√S. Within strata of
S_h segments the variances of their sums are added up: se² = Σ_h S_h/(S_h − 1) Σ (u_s − ū_h)² (Davison & Hinkley 1997,
doi:10.1017/CBO9780511802843, 3.2).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..lazy import lazy
from ..metrics.base import LARGEST_SUM, Counts, Metric, Scores
from ..metrics.black_box import CorpusFunction
from ..resampling import Batch, CountSample, Replicates, Sample, prepared
from ..resampling.linear import gradient, rows_of, slopes_of
from ..resampling.samples import BATCH_CELLS
from ..resampling.units import Strata

__all__ = ["ANY", "MEANS", "SUMS", "Estimate", "check_kind"]

# What a method may need of a metric.
ANY, SUMS, MEANS = "any", "sums", "means"

# Products of columns that are held at a time: 128 MB, however many segments there are.
PRODUCT_CELLS = 1 << 24


def check_kind(what: str, kind: str, metrics: Iterable[Metric | CorpusFunction], instead: Iterable[str]) -> None:
    """Raise :class:`InputError` if some metric does not offer what a method needs; ``instead`` names others that do."""
    for m in metrics:
        if kind == MEANS and not m.is_mean:
            needs, has = "is for means of segment scores", "is not one"
        elif kind == SUMS and not m.is_sum:
            needs, has = "is for metrics of summed counts", "is a function of texts"
        else:
            continue
        *others, last = instead
        raise InputError(f"{what} {needs}, but {m.name} {has}: use {', '.join(others)} or {last}")


@dataclass(frozen=True)
class Estimate:
    """The score of system ``a`` or, with ``b``, score(a) − score(b). Everything is computed when it is asked for."""

    replicates: Replicates
    family: int
    a: int
    b: int | None = None

    @property
    def _family(self) -> Sample:
        return self.replicates.samples[self.family]

    @property
    def _sums(self) -> CountSample:
        return self._family.sums()

    @lazy
    def _counts(self) -> Counts:
        """The counts of the one or two systems: (1 or 2, S, K)."""
        return self._sums.counts[[self.a] if self.b is None else [self.a, self.b]]

    def _of(self, values: Scores) -> Scores:
        """From the values of all systems, the first axis, to those of this one or of the difference."""
        return np.asarray(values[self.a] if self.b is None else values[self.a] - values[self.b])

    @property
    def n_units(self) -> int:
        """S, or D if documents are the unit."""
        return self._family.n_units

    @property
    def value(self) -> float:
        """What was observed."""
        return float(self._of(self._family.scores))

    @lazy
    def draws(self) -> Scores:
        """The value of every draw: (R,)."""
        return self._of(self.replicates.draws[self.family])

    @lazy
    def leave_one_out(self) -> Scores:
        """The value without each of the units: (S,)."""
        return self._of(self._family.leave_one_out)

    @lazy
    def influences(self) -> Scores:
        """What the value loses without each of the units, less the mean of its stratum: (S,)."""
        return Strata.or_one(self._family.strata, self.n_units).deviations(-self.leave_one_out)

    @lazy
    def segment_values(self) -> Scores:
        """See :meth:`reshuffle.resampling.Sample.values`."""
        return self._family.values(self.a, self.b)

    @lazy
    def delta_error(self) -> float:
        """The standard error by the delta method."""
        return math.sqrt(self._sums.linear.of(self.a, self.b))

    @lazy
    def jackknife_error(self) -> float:
        """The standard error by the jackknife, √((S − 1)/S Σ (θ₍ₛ₎ − mean θ₍ₛ₎)²): Efron & Stein 1981.

        Within strata (S − 1)/S·(θ − θ₍ₛ₎) takes the place of u_s of the delta method, which without strata is the same.
        """
        share = (self.n_units - 1) / self.n_units
        return share * math.sqrt(self._family.jackknife.of(self.a, self.b))

    @lazy
    def bootstrap_error(self) -> float:
        """The standard deviation of the draws, with R − 1 below."""
        if len(self.draws) < 2:
            raise InputError("one draw has no standard deviation: n_resamples must be at least 2")
        return float(self.draws.std(ddof=1))

    @lazy
    def draw_errors(self) -> Scores:
        """The standard error of every draw by the delta method, with the draw's own gradient: (R,).

        Σ u_s² over the segments drawn is a quadratic form in the sums of products of columns over them, and these are
        drawn like counts. Cost: for c columns that vary, c(c + 3)/2 sums.
        """
        if self._family.strata is not None:
            raise InputError(
                "the studentized interval does not support strata: use bca or percentile, or delta, which needs no "
                "draws"
            )
        rows, units = _small(rows_of(self._counts), self.n_units)
        i, j = np.triu_indices(rows.shape[1])
        twice = np.where(i == j, 1.0, 2.0)
        metric, counts = self._sums.metric, self._counts
        errors = np.empty(self.replicates.n_resamples)
        size = BATCH_CELLS // max(i.size, counts.shape[0] * counts.shape[2] ** 2)
        of_counts, of_rows = prepared("draws", counts), prepared("draws", rows[None])
        for batch in self.replicates.batches(max(1, size), "drawing"):
            totals = batch.sums(of_counts).reshape(batch.n, *counts[:, 0].shape)
            slopes = slopes_of(gradient(metric, counts, totals).swapaxes(0, 1)) * units
            first = (slopes * batch.sums(of_rows)).sum(axis=1)
            terms = twice * slopes[:, i] * slopes[:, j] * _sums_of_products(batch, rows, i, j)
            second = terms.sum(axis=1)
            squared = second - first**2 / self.n_units
            # What is left of terms that cancel is rounding, not spread: a draw of segments that are all alike.
            squared[squared <= 2.0**-44 * np.abs(terms).sum(axis=1)] = 0
            errors[batch.first : batch.first + batch.n] = np.sqrt(self.n_units / (self.n_units - 1) * squared)
        return errors


def _small(rows: Counts, segments: int) -> tuple[Counts, NDArray[np.float64]]:
    """Columns whose products can be summed in 64 bits, and the unit of each.

    Counts of words stay as they are. Of fixed-point numbers the leading bits are kept, 20 or more for a million
    segments: the standard error changes by less than one part in a million.
    """
    # Half of the largest sum: rounding may carry into one bit more.
    bits = ((LARGEST_SUM // 2).bit_length() - 1 - segments.bit_length()) // 2
    largest = np.abs(rows).max(axis=0)
    units = np.array([2.0 ** max(0, int(x).bit_length() - bits) for x in largest])
    return np.rint(rows / units).astype(np.int64), units


def _sums_of_products(batch: Batch, rows: Counts, i: NDArray[np.intp], j: NDArray[np.intp]) -> Counts:
    """Σ x_i x_j over the segments drawn, for pairs of columns: (n, pairs)."""
    step = max(1, PRODUCT_CELLS // len(rows))
    blocks = [slice(at, at + step) for at in range(0, i.size, step)]
    # Not prepared once for all batches: of many segments these are too many.
    products = (np.ascontiguousarray(rows[:, i[block]] * rows[:, j[block]])[None] for block in blocks)
    return np.concatenate([batch.sums(prepared("draws", of_block)) for of_block in products], axis=1)
