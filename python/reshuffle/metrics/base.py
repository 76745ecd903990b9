"""The interface of a metric, metrics given by a Python function, and checks of arrays of counts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core, signature
from ..advice import advised
from ..data.arrays import as_array
from ..data.columns import missing
from ..errors import SEGMENT_MESSAGE, InputError, quoted
from ..types import MetricName
from ..validate import LARGEST_SCORE, MAX_THREADS, check_integer, expected_score

# Here, as every module that makes arrays in Rust imports this one, but those that read files need no numpy.
_core.load_numpy()

Counts: TypeAlias = NDArray[np.int64]
Scores: TypeAlias = NDArray[np.float64]

# Python and the Rust core both reject counts whose sum could exceed this, so that 64-bit integers never overflow.
LARGEST_SUM = _core.LARGEST_SUM
LARGEST_SUM_TEXT = f"2^{LARGEST_SUM.bit_length() - 1}"


@dataclass(frozen=True)
class Kink:
    """A factor exp(min(0, x)) of a score, whose derivative jumps at x = 0: a brevity penalty, x = 1 − r/c."""

    hypothesis: int
    """The columns of counts whose sums are c and r."""
    reference: int


class Metric(ABC):
    """A metric whose corpus score is a function of summed integer counts.

    Attributes
    ----------
    core : _core.Metric or None
        The formula in Rust, if there is one.
    is_mean : bool
        Whether the corpus score is the mean of segment scores. The counts of a segment are then its score, in
        fixed point, and 1; or 0 and 0 if the score is missing.
    is_sum : bool
        Whether the score is a function of summed counts; False for :class:`~reshuffle.CorpusFunction`.
    waits_for_texts : bool
        Whether counts and formula depend on the texts, as those of :class:`~.counted.TextMetric`.
    decimals : int or None
        If segment scores were rounded to a fixed-point resolution, how many decimals of a mean are correct. None if the
        counts are exact.
    """

    name: str
    higher_is_better: bool = True
    is_mean: bool = False
    is_sum: ClassVar[bool] = True
    waits_for_texts: ClassVar[bool] = False
    decimals: int | None = None
    core: _core.Metric | None = None

    __getattr__ = advised

    @property
    def columns(self) -> list[str] | None:
        """Names of the K counts of a segment, if they are known."""
        return None

    @property
    def kink(self) -> Kink | None:
        """Where the derivative of the score jumps, at totals that corpora have; None if it does not, or is unknown."""
        return None

    @property
    def reads_parses(self) -> bool | None:
        """Whether the metric reads parses (True) or texts (False); None if it reads neither."""
        return None

    @property
    def reads_sources(self) -> bool:
        """Whether it compares texts with the source texts."""
        return False

    @property
    def uses_documents(self) -> bool:
        """Whether counts depend on the documents: if spans end with them."""
        return False

    @property
    def by_speaker(self) -> bool:
        """Whether results have the score of every document, because documents are speakers."""
        return False

    @property
    def source(self) -> str | None:
        """The ACL id or DOI of the paper that defines the metric; None if it is the user's."""
        return None

    def renamed(self, name: str) -> Metric:
        """This metric, for scoring counts called ``name``. A function takes over the name, for its error messages."""
        return self

    def without_data(self) -> Metric:
        """A metric that scores summed counts as this one does, and has no counts of its own: for other processes."""
        return self

    def formula_signature(self) -> str | None:
        """Signature of the formula alone, for precomputed counts; None for a function, which has no options."""
        return self.signature()

    @abstractmethod
    def score(self, totals: ArrayLike) -> Scores:
        """Scores of summed counts: shape (…, K) in, shape (…) out."""

    def segment_scores(self, counts: ArrayLike) -> Scores:
        """Score of each segment: shape (…, K) in, shape (…) out. By default the corpus formula, segment by segment."""
        return self.score(counts)

    def reported_segment_scores(self, names: Sequence[str], counts: Counts) -> Scores:
        """Segment scores as they are reported to the user: (k, S) for (k, S, K) counts of k systems, by name."""
        scores = self.segment_scores(counts)
        if self.decimals is None:
            return scores
        rounded = scores.round(self.decimals)
        # Scores that are not 0 are not reported as 0, so that they rank as they are.
        return np.where(rounded == 0, scores, rounded)

    def details(self, totals: Counts) -> Mapping[str, float]:
        """Components of the score of one (K,) row of summed counts, such as BLEU's precisions."""
        return {}

    @abstractmethod
    def signature(self, n_references: str | None = None) -> str:
        """Name and options that change a score, in one line.

        ``n_references`` is the number of references per segment, or ``var`` if it varies.
        """

    def segment_signature(self, n_references: str | None = None) -> str:
        """The signature of segment scores; by default that of the corpus score."""
        return self.signature(n_references)


MetricLike: TypeAlias = "MetricName | str | Metric | Callable[[Counts], ArrayLike]"


@dataclass(frozen=True)
class Formula(Metric):
    """A metric defined by a Python function of summed counts.

    The function takes an integer array of shape (…, K) and returns scores of shape (…). It should be vectorized,
    because it is called on thousands of replicates at once.

    >>> accuracy = Formula("accuracy", lambda totals: totals[..., 0] / totals[..., 1])
    >>> accuracy.score([[3, 4], [1, 4]])
    array([0.75, 0.25])
    """

    name: str
    function: Callable[[Counts], ArrayLike]
    higher_is_better: bool = True

    def score(self, totals: ArrayLike) -> Scores:
        """See :meth:`Metric.score`.

        Raises :class:`InputError` if the function does not return finite numbers of the expected shape, at most 1e75 in
        magnitude.
        """
        totals = totals_array(totals)
        returned = self.function(totals)
        try:
            array = as_array(returned, "scores")
            # astype alone would accept strings, drop the imaginary part of complex numbers and turn None into NaN.
            # as_array reads a mapping as a table, which cannot be scores.
            if array.dtype.kind not in "biufO" or returned is None or isinstance(returned, Mapping):
                raise TypeError
            scores = array.astype(np.float64)
        except (TypeError, ValueError, OverflowError):
            raise InputError(
                f"{self.name}: the function returned {quoted(returned)} for totals of shape {totals.shape}; expected "
                f"numbers of shape {totals.shape[:-1]}, one score for each row of {totals.shape[-1]} counts"
            ) from None
        if scores.shape != totals.shape[:-1]:
            raise InputError(
                f"{self.name}: the function returned shape {scores.shape} for totals of shape {totals.shape}; "
                f"expected {totals.shape[:-1]}, one score for each row of {totals.shape[-1]} counts, which are "
                "totals[..., 0], totals[..., 1] …"
            )
        are_scores = np.abs(scores) <= LARGEST_SCORE
        if not are_scores.all():
            row = int(np.flatnonzero(~are_scores.ravel())[0])
            bad, expected = totals.reshape(-1, totals.shape[-1])[row], expected_score(scores.flat[row])
            raise InputError(
                f"{self.name}: the function did not return {expected} for the totals {quoted(bad.tolist())}"
            )
        return scores

    def signature(self, n_references: str | None = None) -> str:
        """See :meth:`Metric.signature`. A function has no options that the signature could show."""
        return signature.for_metric(self.name, n_references=n_references)

    def renamed(self, name: str) -> Formula:
        return replace(self, name=name)

    def formula_signature(self) -> None:
        return


class Rebuilt:
    """A dataclass that is pickled as the call that made it: what the core has made cannot be pickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(getattr(self, each.name) for each in fields(cast(Any, self)) if each.init)


class InCore(Rebuilt, Metric):
    """A metric whose formula is evaluated in Rust."""

    core: _core.Metric

    def score(self, totals: ArrayLike) -> Scores:
        """See :meth:`Metric.score`. Raises :class:`InputError` for sums for which a formula as text has no value.

        >>> from reshuffle import metric
        >>> metric("bleu").score([4, 4, 4, 3, 2, 1, 4, 3, 2, 1])
        array(100.)
        """
        totals = totals_array(totals)
        flat = np.ascontiguousarray(totals.reshape(-1, totals.shape[-1]))
        return np.asarray(self.core.scores(flat).reshape(totals.shape[:-1]))


def counts_array(values: ArrayLike, what: str, ndim: int | None = None) -> Counts:
    """``values`` as int64.

    Raises :class:`InputError` if conversion would change a value, or if the number of dimensions is not ``ndim``.
    """
    array = as_array(values, what)
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
        first = array[bad][0]
        limit = f" of at most {LARGEST_SUM_TEXT} in magnitude" if abs(first) > LARGEST_SUM else ""
        raise InputError(f"{what} must be whole numbers{limit}, got {first}")
    return array.astype(np.int64)


def totals_array(values: ArrayLike) -> Counts:
    """Summed counts as int64, or :class:`InputError` if they are not whole numbers or exceed ``LARGEST_SUM``."""
    totals = counts_array(values, "totals")
    for extreme in (int(totals.max()), int(totals.min())):
        if abs(extreme) > LARGEST_SUM:
            raise InputError(f"totals must be at most {LARGEST_SUM_TEXT} in magnitude, got {extreme}")
    return totals


def check_present(what: str, values: Any) -> None:
    """Raise :class:`InputError` for the first missing value, which numpy could turn into an arbitrary number."""
    is_missing = missing(values)
    if is_missing is not None and is_missing.any():
        segment = int(np.flatnonzero(is_missing.reshape(len(is_missing), -1).any(axis=1))[0]) + 1
        problem = "the value is missing: expected a number for every segment"
        raise InputError(SEGMENT_MESSAGE, what=what, segment=segment, problem=problem)


def core_details(core: _core.Metric, totals: Counts) -> dict[str, float]:
    """The components of a score by a formula of the core. Those that are counts are int."""
    counted = set(core.columns)
    details = core.details(np.ascontiguousarray(totals_array(totals)))
    return {name: int(value) if name in counted and value.is_integer() else value for name, value in details}


def check_sums(counts: Counts, place: str = "") -> None:
    """Raise :class:`InputError` if a sum over the S segments of (k, S, K) counts could exceed ``LARGEST_SUM``.

    The core has the same check. ``place`` is put before the message.
    """
    ends = zip(counts.max(axis=(0, 1)).tolist(), counts.min(axis=(0, 1)).tolist(), strict=True)
    for column, (high, low) in enumerate(ends):
        if max(high, -low) * counts.shape[1] > LARGEST_SUM:
            message = "{place}the counts of column {column} are too large: their sum would pass {largest}"
            raise InputError(message, place=place, column=column, largest=LARGEST_SUM_TEXT)


# numpy takes longer to convert a number of Python than to add or multiply a few numbers.
ONE, SIXTEEN = np.array(1.0), np.array(16.0)


def tolerance(scores_a: Scores, scores_b: Scores) -> Scores:
    """How far apart two differences of scores may be to count as equal.

    Equal sums give equal scores, so most ties are exact. But two different sums may have differences that are equal in
    exact arithmetic and not in floating point. The tolerance is 16 units in the last place of the larger score.
    """
    tolerances: Scores = SIXTEEN * np.spacing(np.maximum(abs(scores_a), abs(scores_b)))
    return tolerances


def significant(value: float, digits: int = 4) -> float:
    """The value with so many digits: later ones of products of matrices depend on the library that multiplies them."""
    return float(f"{value:.{digits}g}")


def thread_count(threads: int | None) -> int:
    """The number of threads as the core takes it: 0 means one per processor core."""
    return 0 if threads is None else check_integer("workers", threads, 1, MAX_THREADS)
