"""Metrics in the role of systems: samples whose rows are metrics and whose scores are values of a coefficient.

The engine of resampling then tests differences between metrics as it tests those between systems: all pairs on the same
replicates, adjusted for multiple tests, also for averages over test sets. Votes are counts, whose sums the core scores.
The other coefficients are computed anew in every replicate by functions of the core.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..errors import InputError
from ..lazy import lazy
from ..metrics.base import Counts, Metric, Scores, counts_array
from ..resampling import CountSample, Pairs, Sample
from ..resampling.samples import BATCH_CELLS, OF_OTHERS, Batch, SentSample, columns_of, resampler_of_sums
from ..resampling.units import Strata
from .metric_scores import MetricScores
from .values import group_values, in_steps, mean_of_cells, without_exponent

# Values that are equal in exact arithmetic may differ by rounding errors, which tests must not take for differences.
# Draws are rounded to so many decimals. Differences after shuffles are not: see :func:`with_ties`.
DECIMALS = 12
ROUNDING = 1e-11

# Binary places of the means and standard deviations by which metrics are standardized: an error of 10⁻⁶.
SHORT = 20

# The most differences between metrics on shuffles to hold in memory: 128 MB.
STATISTICS_AT_ONCE = 1 << 24


@dataclass(frozen=True)
class Agreement(Metric):
    """A coefficient, which scores metrics."""

    name: str
    core: _core.Metric | None = None
    higher_is_better: bool = True

    @classmethod
    def ratio(cls, name: str) -> Agreement:
        """The ratio of two sums, such as τ from votes."""
        return cls(name, _core.Metric.mean(name, 1.0, True))

    def __reduce__(self) -> tuple[Any, ...]:
        if self.core is not None:
            return Agreement.ratio, (self.name,)
        return Agreement, (self.name, None, self.higher_is_better)

    def score(self, totals: object) -> Scores:
        """Ratios of summed counts: (…, 2) in, (…) out. :class:`InputError` for other coefficients."""
        if self.core is None:
            raise InputError(f"{self.name} is not a function of summed counts")
        array = counts_array(np.asarray(totals), "totals")
        flat = np.ascontiguousarray(array.reshape(-1, array.shape[-1]))
        return np.asarray(self.core.scores(flat).reshape(array.shape[:-1]))

    def signature(self, n_references: str | None = None) -> str:
        """The name."""
        return self.name


def ratio_sample(name: str, numerators: Counts, denominators: Counts, strata: Strata | None = None) -> CountSample:
    """M metrics as ratios of sums over segments: (M, S) numerators and denominators."""
    counts = np.stack([numerators, denominators], axis=-1)
    return CountSample.from_counts(Agreement.ratio(name), counts, "segment", strata)


@dataclass(eq=False)
class CoreSample(Sample):
    """M metrics by values that are computed anew in every replicate, by functions of the core or as subclasses do."""

    unit: ClassVar[str] = "segment"

    metric: Agreement
    scores: Scores
    """Shape (M,). The observed values."""
    n_units: int
    """S."""
    swapped: Callable[..., Scores] | None = field(default=None, repr=False)
    """The differences of pairs of metrics, (P, 2), after swaps: (P, n); it takes ``Batch.keywords``, too."""
    drawn: Callable[..., Scores] | None = field(default=None, repr=False)
    """The values on draws, NaN where they are not defined: (M, n); it takes ``Batch.keywords``."""

    def round_score(self, value: float) -> float:
        """The value without the digits that rounding errors decide."""
        return round(value, DECIMALS)

    @property
    def batch_size(self) -> int:
        """See :attr:`Sample.batch_size`. Large, because the core sorts scores anew for each batch."""
        return max(1, STATISTICS_AT_ONCE // max(1, len(self.scores) ** 2 // 2))

    def shuffle_statistics(self, pairs: Pairs, batch: Batch) -> Scores:
        """See :meth:`Sample.shuffle_statistics`. What differs from the observed one by rounding only is equal to it."""
        assert self.swapped is not None
        array = np.array(pairs, dtype=np.int64).reshape(-1, 2)
        return with_ties(self.swapped(array, **batch.keywords), pairs, self.scores)

    def draw_scores(self, batch: Batch) -> Scores:
        """See :meth:`Sample.draw_scores`. A draw without a value for some metric is replaced by the next one."""
        return np.round(with_values(self.on_draws(batch)), DECIMALS)

    def on_draws(self, batch: Batch) -> Scores:
        """See :attr:`drawn`."""
        assert self.drawn is not None
        return self.drawn(**batch.keywords)

    def sent(self, kind: str) -> SentSample | None:
        """See :meth:`Sample.sent`. Not for draws, of which one without a value is replaced by the next one."""
        return SentSample(copy, {"x": self}, OF_OTHERS) if kind == "shuffles" else None


def matrix_sample(
    coefficient: str, cells: Scores, human: Scores, grouping: str, values: Scores, swapped: str, drawn: str
) -> CoreSample:
    """M metrics by their agreement with human scores of the same cells.

    ``cells`` are (M, N, S) scores, higher for better, NaN where people or any metric lack a score. For shuffles every
    metric is standardized (:func:`standardized`). ``human`` are (N, S) scores of people, ``grouping`` is a name in
    ``types.Grouping``, or ``system`` for means of rows, and ``values`` are the observed ones, (M,). ``swapped`` and
    ``drawn`` are ``both``, ``inputs`` or ``systems``. Scores of systems have one cell each, and N units.
    """
    n_systems, n_segments = human.shape
    of_core = np.ascontiguousarray(cells), np.ascontiguousarray(human), [(grouping, coefficient)]
    return CoreSample(
        Agreement(coefficient),
        values,
        n_segments if n_segments > 1 else n_systems,
        partial(_only, _core.meta_permuted, *of_core, swapped),
        partial(_only, _core.meta_drawn, *of_core, drawn),
    )


def _only(function: Callable[..., Scores], *args: Any, **keywords: Any) -> Scores:
    (values,) = function(*args, **keywords)
    return np.asarray(values)


def with_ties(statistics: Scores, pairs: Pairs, scores: Scores) -> Scores:
    """Differences after shuffles, (P, n), where those that equal the observed ones except for rounding become equal.

    Rounding both to some decimals would not do: 0.3 − 0.1 and 0.2 may be rounded to different numbers. A shuffle
    without a value counts like the observed difference, so that p is not too small. ``scores`` are the observed values,
    (M,).

    >>> with_ties(np.array([[0.2, -0.2, np.nan, 0.1]]), [(0, 1)], np.array([0.3, 0.1])) == 0.3 - 0.1
    array([[ True, False,  True, False]])
    """
    a, b = columns_of(pairs)
    observed = (scores[a] - scores[b])[:, None]
    tied = np.where(np.abs(statistics + observed) <= ROUNDING, -observed, statistics)
    return np.where(np.isnan(statistics) | (np.abs(statistics - observed) <= ROUNDING), observed, tied)


def with_values(draws: Scores) -> Scores:
    """Draws, (M, n), with those in which a metric has no value replaced by the next draw in which all have one.

    All NaN if there is no such draw. A draw has no value if it has no two different scores.

    >>> with_values(np.array([[1.0, np.nan, 3.0], [4.0, 5.0, 6.0]]))
    array([[1., 3., 3.],
           [4., 6., 6.]])
    """
    defined = ~np.isnan(draws).any(axis=0)
    if defined.all():
        return draws
    (places,) = np.nonzero(defined)
    if not places.size:
        return np.full_like(draws, np.nan)
    return np.asarray(draws[:, places[np.searchsorted(places, np.arange(draws.shape[1])) % len(places)]])


def standardized(cells: Scores) -> Scores:
    """Metrics with mean 0 and standard deviation 1, to six digits, over the cells that they have: (M, N, S) in and out.

    A metric without two different scores becomes 0. Deutsch, Dror & Roth 2021 (doi:10.1162/tacl_a_00417), section 3.2.
    """
    flat, _ = in_steps(cells.reshape(len(cells), -1))
    there = ~np.isnan(flat)
    n = np.maximum(there.sum(axis=1), 1)[:, None]
    known = without_exponent(np.where(there, flat, 0))
    means = known.sum(axis=1, keepdims=True) / n
    spread = np.sqrt((np.where(there, known - means, 0) ** 2).sum(axis=1, keepdims=True) / n)
    factors = np.divide(1, spread, out=np.zeros_like(spread), where=spread > 0)
    scaled = (known - _short(means, spread)) * _short(factors, factors)
    return np.where(there, scaled, np.nan).reshape(cells.shape)


def _short(numbers: Scores, units: Scores) -> Scores:
    """Numbers rounded to ``SHORT`` binary places of the units.

    Products with scores of up to 33 binary places are then exact, and pairs of scores that are equally far apart stay
    so: acc23 takes all of them as ties, or none.
    """
    places = SHORT - np.frexp(units)[1]
    return np.asarray(np.ldexp(np.rint(np.ldexp(numbers, places)), -places))


@dataclass(eq=False)
class SystemDraws:
    """The scores of N systems by people and by M metrics on draws of segments, which all coefficients share."""

    metrics: Sequence[MetricScores]
    """Their counts give the scores of each draw. Scores of systems without counts are the same in every draw."""
    human: Scores
    """Shape (N,). The observed human scores."""
    people: Callable[[Batch], Scores] | None
    """The human scores on the draws of a batch, (n, N); None for scores that are the same in every draw."""
    n_segments: int
    """S."""
    _last: tuple[tuple[int, int, int], Scores] | None = field(default=None, init=False)

    @lazy
    def given(self) -> Scores:
        """The observed scores of systems, higher for better: (M, N)."""
        return np.stack([m.sign * m.system_scores for m in self.metrics])

    @property
    def varies(self) -> bool:
        """Whether anything differs between draws."""
        return self.people is not None or any(m.sample is not None for m in self.metrics)

    @property
    def batch_size(self) -> int:
        """As many draws as the sums of one metric, those of all votes, or the scores of all metrics may take."""
        counted = [m.sample.totals.size for m in self.metrics if m.sample is not None]
        return max(1, BATCH_CELLS // max([2 * len(self.human) ** 2, self.given.size, *counted]))

    def scores(self, batch: Batch) -> Scores:
        """Human scores, then those of the metrics, on the draws of a batch: (1 + M, n, N). The last batch is kept."""
        key = batch.seed, batch.first, batch.n
        if self._last is None or self._last[0] != key:
            shape = batch.n, len(self.human)
            found = [np.broadcast_to(self.human, shape) if self.people is None else self.people(batch)]
            for m, given in zip(self.metrics, self.given, strict=True):
                same, counts = np.broadcast_to(given, shape), m.sample
                found.append(same if counts is None else m.sign * drawn_scores(counts, batch))
            self._last = key, np.stack(found)
        return self._last[1]


@dataclass(eq=False, kw_only=True)
class DrawnSystems(CoreSample):
    """M metrics by their agreement with human scores of systems, on draws of segments."""

    draws: SystemDraws = field(repr=False)
    rows: Sequence[int]
    """The metrics among those of ``draws``."""
    systems: NDArray[np.intp]
    """Shape (N',). The systems among those of ``draws``."""

    @property
    def batch_size(self) -> int:
        """See :attr:`Sample.batch_size`."""
        return self.draws.batch_size

    def on_draws(self, batch: Batch) -> Scores:
        """See :attr:`CoreSample.drawn`."""
        drawn = self.draws.scores(batch)[:, :, self.systems]
        human, metrics = drawn[0], drawn[1:][list(self.rows)]
        values, *_ = group_values(self.metric.name, "sys", metrics, human)
        return np.where(np.isnan(metrics + human).any(axis=-1), np.nan, values)


def drawn_scores(sample: CountSample, batch: Batch) -> Scores:
    """The scores of N systems on the draws of a batch: (n, N). NaN for a mean without any score."""
    sums = batch.sums(resampler_of_sums("draws", sample.counts)).reshape(batch.n, *sample.totals.shape)
    scores = np.asarray(sample.metric.score(sums))
    return np.where(sums[..., 1] > 0, scores, np.nan) if sample.metric.is_mean else scores


@dataclass(frozen=True, eq=False)
class Cells:
    """Scores of metrics, (M, N, S), and of people, (N, S), higher for better; NaN where either is missing.

    ``common`` has the standardized scores of metrics in the cells that people and all metrics have, and ``human`` those
    of people.
    """

    own: Scores
    people: Scores

    @lazy
    def there(self) -> NDArray[np.bool_]:
        """The common cells: (N, S)."""
        return np.asarray(~np.isnan(self.people) & ~np.isnan(self.own).any(axis=0))

    @property
    def has_gaps(self) -> bool:
        """Whether a metric lacks a score that people have."""
        return bool((np.isnan(self.own) & ~np.isnan(self.people)).any())

    @lazy
    def common(self) -> Scores:
        """Standardized scores of metrics in common cells."""
        return np.ascontiguousarray(standardized(np.where(self.there, self.own, np.nan)))

    @lazy
    def human(self) -> Scores:
        """Scores of people in common cells."""
        return np.ascontiguousarray(np.where(self.there, self.people, np.nan))

    @property
    def n_common(self) -> int:
        """The number of common cells."""
        return int(self.there.sum())


def standardized_systems(scores: Scores, cells: Scores | None) -> Scores:
    """Scores of systems, (M, N), on a common scale: with mean 0, and the spread of the means of standardized cells.

    ``cells`` are standardized scores of segments, (M, N, S), whose many values make the scale more certain than that of
    N scores; without them, or if all means of a metric are equal, every metric has standard deviation 1.
    """
    scaled = standardized(scores[:, :, None])[..., 0]
    if cells is None:
        return scaled
    spread = np.stack([mean_of_cells(own) for own in cells]).std(axis=1, keepdims=True)
    return scaled * spread if (spread > 0).all() else scaled
