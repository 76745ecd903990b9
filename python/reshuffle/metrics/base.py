"""What every metric is: counts per segment, and a formula from summed counts to a score."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core, signature
from ..errors import InputError, quoted
from ..validate import MAX_THREADS, check_integer

__all__ = [
    "LARGEST_SUM",
    "Counts",
    "Formula",
    "Metric",
    "MetricLike",
    "Scores",
    "check_sums",
    "counts_array",
    "thread_count",
    "totals_array",
]

Counts: TypeAlias = NDArray[np.int64]
Scores: TypeAlias = NDArray[np.float64]

# Sums of counts beyond this are refused, here and in the core, so that nothing ever wraps around in 64 bits.
LARGEST_SUM = _core.LARGEST_SUM
LARGEST_SUM_TOLD = f"2^{LARGEST_SUM.bit_length() - 1}"


class Metric(ABC):
    """A corpus score that is a function of summed integer counts.

    ``core`` is its formula in Rust, if it has one there. ``is_mean`` tells whether the score is the mean of the scores
    of segments; then a row of counts is a number and 1. ``reads_parses`` tells whether it counts parses (True) or texts
    (False) itself; None if it counts neither. ``decimals`` is the number of decimals of a score that are
    known where counts are numbers rounded to a unit, and None where counts are exact.
    """

    name: str
    higher_is_better: bool = True
    is_mean: bool = False
    is_sum: ClassVar[bool] = True
    decimals: int | None = None
    core: _core.Metric | None = None

    @property
    def columns(self) -> list[str] | None:
        """What each of the K counts of a segment is, if that is known."""
        return None

    @property
    def reads_parses(self) -> bool | None:
        """See above."""
        return None

    def named(self, name: str) -> Metric:
        """The same as what counts of this name are scored by: a function is called like them."""
        return self

    def formula_signature(self) -> str | None:
        """What scores counts from elsewhere, in one line; None for a function, which has no options."""
        return self.signature()

    @abstractmethod
    def score(self, totals: ArrayLike) -> Scores:
        """The scores of summed counts: shape (…, K) in, shape (…) out, in the metric's units."""

    def segment_scores(self, counts: ArrayLike) -> Scores:
        """The scores of segments, each by itself: shape (…, K) in, shape (…) out. The corpus formula by default."""
        return self.score(counts)

    def segment_scores_of(self, names: Sequence[str], counts: Counts) -> Scores:
        """The same of systems of these names, with (k, S, K) counts, to be shown: (k, S)."""
        scores = self.segment_scores(counts)
        return scores if self.decimals is None else scores.round(self.decimals)

    def details(self, totals: Counts) -> Mapping[str, float]:
        """The parts that make up the score of one (K,) row of summed counts."""
        return {}

    @abstractmethod
    def signature(self, n_references: str | None = None) -> str:
        """The options that change a score, in one line; ``n_references`` is a number or ``var``."""

    def segment_signature(self, n_references: str | None = None) -> str:
        """The same for scores of segments, where it differs."""
        return self.signature(n_references)


MetricLike: TypeAlias = "str | Metric | Callable[[Counts], ArrayLike]"


@dataclass(frozen=True)
class Formula(Metric):
    """A metric given by a function over summed counts.

    The function takes an integer array of shape (…, K) and returns the scores, shape (…). It is called on thousands of
    replicates at once, so it should be vectorised.

    >>> accuracy = Formula("accuracy", lambda totals: totals[..., 0] / totals[..., 1])
    >>> accuracy.score([[3, 4], [1, 4]])
    array([0.75, 0.25])
    """

    name: str
    function: Callable[[Counts], ArrayLike]
    higher_is_better: bool = True

    def score(self, totals: ArrayLike) -> Scores:
        """See :meth:`Metric.score`.

        Raises :class:`InputError` if the function does not return finite numbers of the expected shape.
        """
        totals = totals_array(totals)
        given = self.function(totals)
        try:
            array = np.asarray(given)
            # Conversion alone would accept text, drop the imaginary part of complex numbers and make NaN of None.
            if array.dtype.kind not in "biufO" or given is None:
                raise TypeError
            scores = array.astype(np.float64)
        except (TypeError, ValueError, OverflowError):
            raise InputError(
                f"{self.name}: the function gave {quoted(given)} for totals of shape {totals.shape}; expected "
                f"numbers of shape {totals.shape[:-1]}, one score for each row of {totals.shape[-1]} counts"
            ) from None
        if scores.shape != totals.shape[:-1]:
            raise InputError(
                f"{self.name}: the function gave shape {scores.shape} for totals of shape {totals.shape}; "
                f"expected {totals.shape[:-1]}, one score for each row of {totals.shape[-1]} counts"
            )
        if not np.isfinite(scores).all():
            bad = totals.reshape(-1, totals.shape[-1])[~np.isfinite(scores).ravel()][0]
            raise InputError(f"{self.name}: the score of the totals {bad.tolist()} is not a finite number")
        return scores

    def signature(self, n_references: str | None = None) -> str:
        """See :meth:`Metric.signature`; a function has no options that could be told."""
        return signature.of_metric(self.name, n_references=n_references)

    def named(self, name: str) -> Formula:
        """See :meth:`Metric.named`."""
        return replace(self, name=name)

    def formula_signature(self) -> None:
        """See :meth:`Metric.formula_signature`."""
        return


def counts_array(values: ArrayLike, what: str, ndim: int | None = None) -> Counts:
    """``values`` as int64, or :class:`InputError` if that would change them or they have the wrong dimensions."""
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise InputError(f"{what} must be an array of whole numbers: {error}") from None
    if ndim is not None and array.ndim != ndim:
        raise InputError(f"{what} must have {ndim} dimensions, got shape {array.shape}")
    if array.ndim == 0 or array.size == 0:
        raise InputError(f"{what} must hold at least one row of counts, got shape {array.shape}")
    if array.dtype == np.int64:
        return array
    if array.dtype == np.bool_ or np.issubdtype(array.dtype, np.integer):
        if array.dtype == np.uint64 and array.max() > np.iinfo(np.int64).max:
            raise InputError(f"{what} must fit 64-bit signed integers, got {array.max()}")
        return array.astype(np.int64, copy=False)
    if not np.issubdtype(array.dtype, np.floating):
        raise InputError(f"{what} must be integers, got {array.dtype}")
    bad = ~(np.isfinite(array) & (array == np.rint(array)) & (np.abs(array) <= float(LARGEST_SUM)))
    if bad.any():
        raise InputError(f"{what} must be whole numbers, got {array[bad][0]}")
    return array.astype(np.int64)


def totals_array(values: ArrayLike) -> Counts:
    """Summed counts as int64, or :class:`InputError` if they are not whole numbers, or larger than the largest sum."""
    totals = counts_array(values, "totals")
    for extreme in (int(totals.max()), int(totals.min())):
        if abs(extreme) > LARGEST_SUM:
            raise InputError(f"totals must be at most {LARGEST_SUM_TOLD} in magnitude, got {extreme}")
    return totals


def check_sums(counts: Counts, place: str = "") -> None:
    """Raise :class:`InputError`, as the core does, if sums of (k, S, K) counts over segments could be too large.

    ``place``, if there is one, is told before.
    """
    ends = zip(counts.max(axis=(0, 1)).tolist(), counts.min(axis=(0, 1)).tolist(), strict=True)
    for column, (high, low) in enumerate(ends):
        if max(high, -low) * counts.shape[1] > LARGEST_SUM:
            message = "{place}the counts of column {column} are too large: their sum would pass {largest}"
            raise InputError(message, place=place, column=column, largest=LARGEST_SUM_TOLD)


def thread_count(threads: int | None) -> int:
    """The core's word for a number of threads: 0 for as many as there are cores."""
    return 0 if threads is None else check_integer("threads", threads, 1, MAX_THREADS)
