"""Documents as resampling units, the dependence between segments of a document, and strata of the bootstrap.

Segments of one document depend on one another, so resampling them as if they were independent overstates the evidence.
Resampling whole documents does not. Strata are parts of the test set whose sizes were fixed by design, such as news and
talks. A stratified draw keeps these sizes.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from typing_extensions import Self

from ..data.arrays import as_array
from ..data.columns import segment_list
from ..data.corpus import DocumentIds, StratumIds
from ..errors import SEGMENT_MESSAGE, InputError, quoted, warn
from ..lazy import lazy
from ..metrics.base import Counts, Scores, tolerance
from ..settings import Units

# Fewer segments may well be of as many documents. With more documents than this share, documents would change little.
FEW, MOST = 20, 0.9
# Ids of documents seldom have more words, and titles that do have many segments.
MANY_WORDS = 3

# The matrix is used if ‖u − v‖² is more than this share of ‖u‖² + ‖v‖². Below, the relative error exceeds 10⁻¹¹.
CLOSE = 2.0**-16

# Multiplications between two checks for Ctrl-C: a few milliseconds.
PRODUCTS = 1 << 24


@dataclass(frozen=True, eq=False)
class Groups:
    """The group of each member: ``index``, (S,), has its number. Groups are numbered as they first appear."""

    index: NDArray[np.intp]

    def at(self, members: NDArray[np.intp]) -> Self:
        """The groups of a subset of the members.

        >>> Groups(np.array([0, 1, 2, 0])).at(np.array([2, 3])).index
        array([1, 0])
        """
        return type(self)(np.unique(self.index[members], return_inverse=True)[1])

    @lazy
    def sizes(self) -> NDArray[np.intp]:
        """The number of members of each group: (groups,)."""
        return np.bincount(self.index)

    @lazy
    def order(self) -> NDArray[np.intp]:
        """The indices of the members, with those of each group adjacent: (S,)."""
        return np.argsort(self.index, kind="stable")


@dataclass(frozen=True, eq=False)
class Documents(Groups):
    """The document of each segment. Documents of one segment each have the same numbers as the segments."""

    names: tuple[str, ...] = ()
    """The id of each document, if they come from ids."""

    @classmethod
    def from_ids(cls, ids: DocumentIds, n_segments: int, *, least: int = 2) -> Documents:
        """From the id of each segment's document; :class:`InputError` if there are fewer than ``least`` documents.

        >>> documents = Documents.from_ids(["b", "a", "b"], 3)
        >>> documents.index, documents.names
        (array([0, 1, 0]), ('b', 'a'))
        """
        index, names = numbered("documents", ids, n_segments)
        if len(names) < least:
            raise InputError(
                f"documents: all {n_segments:,} segments belong to one document, {quoted(''.join(names))}: "
                "at least 2 documents are needed"
            )
        return cls(index, tuple(names))

    def check_ids(self) -> None:
        """Warn of ids that are probably texts, or those of segments."""
        n, n_segments = len(self.names), len(self.index)
        share = n / n_segments if n_segments >= FEW else 0
        if share > 0.5 and sum(len(name.split()) > MANY_WORDS for name in self.names) > n / 2:
            warn("the ids of documents look like texts: was the source or another text passed in their place?")
        elif share > MOST:
            warn(
                f"{n:,} documents of {n_segments:,} segments: nearly every segment is a document of its own; "
                "were ids of segments passed in place of those of documents?"
            )

    @property
    def n_documents(self) -> int:
        """D, the number of documents."""
        return len(self.sizes)

    @lazy
    def _starts(self) -> NDArray[np.intp]:
        """The position in ``order`` at which each document begins: (D,)."""
        return np.cumsum(self.sizes) - self.sizes

    @property
    def first_segments(self) -> NDArray[np.intp]:
        """The first segment of each document: (D,)."""
        return self.order[self._starts]

    def sums(self, counts: Counts) -> Counts:
        """The sums over the segments of each document: (k, S, K) in, (k, D, K) out. The caller checks for overflow.

        >>> Documents(np.array([0, 1, 0])).sums(np.array([[[1], [2], [4]]]))
        array([[[5],
                [2]]])
        """
        return np.add.reduceat(counts[:, self.order], self._starts, axis=1, dtype=np.int64)

    def segments(self, documents: NDArray[np.intp]) -> NDArray[np.intp]:
        """The segments of these documents, one document after another.

        >>> Documents(np.array([0, 1, 0])).segments(np.array([0, 0, 1]))
        array([0, 2, 0, 2, 1])
        """
        members = np.split(self.order, self._starts[1:])
        return np.concatenate([members[document] for document in documents])


class Strata(Groups):
    """The stratum of each resampling unit (segment or document)."""

    @classmethod
    def from_ids(cls, ids: StratumIds, n_segments: int, documents: Documents | None = None) -> Strata:
        """From the id of each segment's stratum.

        :class:`InputError` if segments of one document are in different strata, or if every stratum has only one unit.

        >>> Strata.from_ids(["news", "talks", "news", "talks"], 4).index
        array([0, 1, 0, 1])
        >>> Strata.from_ids(["news", "talks", "news", "news"], 4, Documents.from_ids([7, 8, 7, 9], 4)).index
        array([0, 1, 0])
        """
        index, names = numbered("strata", ids, n_segments)
        unit = "segment" if documents is None else "document"
        if documents is not None:
            first = documents.first_segments
            strays = np.flatnonzero(index != index[first][documents.index])
            if strays.size:
                stray, begin = strays[0], first[documents.index[strays[0]]]
                of = (
                    f"the document {quoted(documents.names[documents.index[stray]])}"
                    if documents.names
                    else "one document"
                )
                raise InputError(
                    f"strata: segments {begin + 1} and {stray + 1} belong to {of}, but to the strata "
                    f"{quoted(names[index[begin]])} and {quoted(names[index[stray]])}: "
                    "a document must lie in one stratum"
                )
            index = index[first]
        strata = cls(index)
        if (strata.sizes < 2).all():
            raise InputError(
                f"strata: each of {len(names):,} strata has only one {unit}, so there is nothing to draw: at least "
                f"one stratum needs 2 {unit}s"
            )
        return strata

    @property
    def n_strata(self) -> int:
        """H, the number of strata."""
        return len(self.sizes)

    def sort_units(self, counts: Counts) -> Counts:
        """(k, S, K) counts with the units of each stratum adjacent; without a copy if they already are."""
        is_sorted = bool((np.diff(self.index) >= 0).all())
        return counts if is_sorted else np.ascontiguousarray(counts[:, self.order])

    @staticmethod
    def or_single(strata: Strata | None, n_units: int) -> Strata:
        """The strata, or a single stratum of all units if there are none."""
        return Strata(np.zeros(n_units, np.intp)) if strata is None else strata

    def deviations(self, values: Scores) -> Scores:
        """The deviation of each unit's value from the mean of its stratum: (S,) in and out.

        >>> Strata(np.array([0, 0, 1])).deviations(np.array([1.0, 3.0, 7.0]))
        array([-1.,  1.,  0.])
        """
        # Subtracting the overall mean first avoids cancellation when values are large and close together.
        shifted = values - values.mean()
        return np.asarray(shifted - (np.bincount(self.index, shifted) / self.sizes)[self.index])

    def variance(self, values: Scores) -> float:
        """The variance of Σ u_s for units sampled within strata: Σ_h S_h/(S_h − 1) Σ (u_s − ū_h)².

        A stratum with only one unit adds nothing, because its variance cannot be estimated.

        >>> Strata(np.array([0, 0, 1])).variance(np.array([1.0, 3.0, 7.0]))
        4.0
        """
        return float((self.factors * self.deviations(values) ** 2).sum())

    @lazy
    def factors(self) -> Scores:
        """S_h/(S_h − 1) of the stratum of each unit: (S,)."""
        return np.asarray((self.sizes / np.maximum(self.sizes - 1, 1))[self.index])


def documents_and_strata(
    units: Units, n_segments: int, *, warn_of_ids: bool = False
) -> tuple[Documents | None, Strata | None]:
    """The documents and the strata of these ids, None where there are none.

    With ``warn_of_ids``, ids of documents that are probably something else give a warning.
    """
    documents = None if units.documents is None else Documents.from_ids(units.documents, n_segments)
    if warn_of_ids and documents is not None:
        documents.check_ids()
    return documents, None if units.strata is None else Strata.from_ids(units.strata, n_segments, documents)


class Squares:
    """Σ_s w_s (u_as − u_bs)² for any two rows a, b of (k, S) values, with (S,) weights w. Memory: k·S + k² numbers.

    Standard errors and intraclass correlations of a pair of systems are such sums of the units' contributions. One pass
    over the units for each of k(k − 1)/2 pairs would be slow. The Gram matrix of the contributions to the k scores
    contains all of them, because ‖u − v‖² = ‖u‖² + ‖v‖² − 2·u·v.
    """

    def __init__(self, values: Scores, weights: Scores) -> None:
        self._values = values
        self._weights = weights

    @lazy
    def _matrix(self) -> Scores:
        """The sums for all pairs of rows, NaN where cancellation makes them inaccurate: (k, k)."""
        k, n = self._values.shape
        gram = np.zeros((k, k))
        size = max(1, PRODUCTS // k**2)
        for first in range(0, n, size):
            block = slice(first, first + size)
            scaled = self._values[:, block] * np.sqrt(self._weights[block])
            gram += scaled @ scaled.T
        both = np.add.outer(gram.diagonal(), gram.diagonal())
        squares = both - 2 * gram
        squares[~(squares > CLOSE * both)] = np.nan
        return squares

    def between(self, a: int, b: int) -> float | None:
        """The sum for rows a and b. None if they are so similar that the caller has to subtract them first.

        >>> squares = Squares(np.array([[1.0, 2.0], [3.0, 2.0], [3.0, 2.0]]), np.array([1.0, 0.5]))
        >>> squares.between(0, 1), squares.between(1, 2)
        (4.0, None)
        """
        squared: float = self._matrix.item(a, b)
        return None if math.isnan(squared) else squared


class Variances:
    """The variances of sums over units sampled within strata, for k systems and for differences between them.

    Parameters
    ----------
    n_systems : int
        k.
    values : callable
        ``values(a)`` returns the (S,) values of a system, and ``values(a, b)`` those of a difference, computed without
        cancellation.
    strata : Strata
        See :meth:`Strata.variance`.

    Examples
    --------
    >>> rows = np.array([[1.0, 3.0], [2.0, 2.0], [4.0, 2.0]])
    >>> single = Strata(np.zeros(2, int))
    >>> variances = Variances(3, lambda a, b=None: rows[a] if b is None else rows[a] - rows[b], single)
    >>> variances.variance(0), round(variances.variance(0, 2), 9), variances.variance(1, 1)
    (4.0, 16.0, 0.0)
    """

    def __init__(self, n_systems: int, values: Callable[..., Scores], strata: Strata) -> None:
        self._n_systems = n_systems
        self._values_of = values
        self._strata = strata

    @lazy
    def _values(self) -> Scores:
        return np.stack([self._values_of(a) for a in range(self._n_systems)])

    @lazy
    def _squares(self) -> Squares:
        return Squares(np.stack([self._strata.deviations(row) for row in self._values]), self._strata.factors)

    def variance(self, a: int, b: int | None = None) -> float:
        """The variance for system a or, with ``b``, for the difference a − b. It is 0 for identical systems."""
        if b is None:
            return self._strata.variance(self._values[a])
        # For two systems the matrix of all pairs would be more work than the only difference.
        squared = self._squares.between(a, b) if self._n_systems > 2 else None
        return self._strata.variance(self._values_of(a, b)) if squared is None else squared


def jackknife_variances(leave_one_out: Scores, strata: Strata) -> Variances:
    """The variances of the (k, S) scores without each unit."""

    def values(a: int, b: int | None = None) -> Scores:
        return np.asarray(leave_one_out[a] if b is None else leave_one_out[a] - leave_one_out[b])

    return Variances(len(leave_one_out), values, strata)


def numbered(what: str, ids: DocumentIds | StratumIds, n_segments: int) -> tuple[NDArray[np.intp], list[str]]:
    """The number of each segment's document, stratum …, and the ids in the order in which they first appear."""
    if isinstance(ids, str):
        raise InputError(
            f"{what}: expected an id for each segment, got the single string {quoted(ids)}; of a data frame, pass the "
            f"column itself, as in {what}=frame[{quoted(ids)}]"
        )
    if not isinstance(ids, Iterable):
        raise InputError(f"{what}: expected an id for each segment, got {quoted(ids)}")
    listed = segment_list(what, ids)
    if len(listed) != n_segments:
        raise InputError(f"{what}: expected an id for each of {n_segments:,} segments, got {len(listed):,}")
    known: dict[str, int] = {}
    index = [known.setdefault(_id_text(what, id_, i), len(known)) for i, id_ in enumerate(listed, 1)]
    return np.array(index, np.intp), list(known)


def _id_text(what: str, id_: object, segment: int) -> str:
    """An id as text; 7 and "7" are the same id."""
    is_id = isinstance(id_, str | numbers.Integral) and not isinstance(id_, bool)
    if not is_id or not str(id_).strip():
        problem = f"expected a string or an integer, got {quoted(id_)}"
        raise InputError(SEGMENT_MESSAGE, what=what, segment=segment, problem=problem)
    return str(id_)


def paired_influence(scores: Scores, leave_one_out: Scores, a: int, b: int) -> Scores:
    """The jackknife influence of every segment on score(a) − score(b): (S,).

    The influence of segment s on f is (S − 1)·(f(T) − f(T − x_s)) (Efron & Stein 1981, doi:10.1214/aos/1176345462). For
    a mean it is the segment's score minus the mean. ``scores`` has shape (k,); ``leave_one_out``, (k, S), are the
    scores without each segment.

    >>> without = np.array([[3.5, 4.0, 4.5], [2.0, 2.0, 2.0]])  # means of two of (5, 4, 3), and of two of (2, 2, 2)
    >>> paired_influence(np.array([4.0, 2.0]), without, 0, 1).tolist()
    [1.0, 0.0, -1.0]
    """
    difference = (scores[a] - leave_one_out[a]) - (scores[b] - leave_one_out[b])
    # Differences of a few units in the last place are rounding errors of the scores.
    rounding = tolerance(scores[a], scores[b])
    others = leave_one_out.shape[1] - 1
    return np.asarray(others * np.where(np.abs(difference) <= rounding, 0.0, difference))


def document_effects(
    scores: Scores, leave_one_out: Scores, documents: Documents, pairs: Sequence[tuple[int, int]]
) -> Iterator[tuple[float, float]]:
    """The intraclass correlation and the design effect of each pair's :func:`paired_influence`, NaN where undefined.

    Both depend on the sums of squares between and within documents, which two Gram matrices give for all pairs.
    """
    influences = (leave_one_out.shape[1] - 1) * (scores[:, None] - leave_one_out)
    parts = [_between_and_within(values, documents) for values in influences]
    between = Squares(np.stack([part[0] for part in parts]), documents.sizes.astype(np.float64))
    within = Squares(np.stack([part[1] for part in parts]), np.ones(len(documents.index)))
    for a, b in pairs:
        squares_between, squares_within = between.between(a, b), within.between(a, b)
        if squares_between is None or squares_within is None:  # the systems are too similar: see Squares
            yield document_effect(paired_influence(scores, leave_one_out, a, b), documents)
        else:
            yield _effect(squares_between, squares_within, documents)


def _between_and_within(values: Scores, documents: Documents) -> tuple[Scores, Scores]:
    """Deviations of the documents' means from the overall mean, (D,), and of the values from those means, (S,)."""
    # Subtracting the overall mean first avoids cancellation when values are large and close together.
    shifted = values - values.mean()
    means = np.bincount(documents.index, shifted) / documents.sizes
    return means - shifted.mean(), shifted - means[documents.index]


def _effect(between: float, within: float, documents: Documents) -> tuple[float, float]:
    """The intraclass correlation and the design effect from the sums of squares between and within documents."""
    n, d = len(documents.index), documents.n_documents
    if n == d:
        return math.nan, 1.0
    weighted_size = float((documents.sizes**2).sum()) / n
    between, within = between / (d - 1), within / (n - d)
    n_0 = (n - weighted_size) / (d - 1)
    correlation = (between - within) / (between + (n_0 - 1) * within)
    # Where sizes differ, the weighted size is larger than n_0, and the least correlation gives less than 0.
    return correlation, max(1 + (weighted_size - 1) * correlation, 0.0)


def document_effect(values: Scores, documents: Documents) -> tuple[float, float]:
    """The intraclass correlation and the design effect of (S,) values, NaN where undefined."""
    if np.ptp(values) == 0 and len(values) > documents.n_documents:
        return math.nan, math.nan
    between, within = _between_and_within(values, documents)
    return _effect(float((documents.sizes * between**2).sum()), float((within**2).sum()), documents)


def _checked_values(values: ArrayLike, documents: DocumentIds) -> tuple[Scores, Documents]:
    array = as_array(values, "values")
    try:
        array = array.astype(np.float64, copy=False)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"values: expected a number for each segment: {error}") from None
    if array.ndim != 1 or array.size == 0:
        raise InputError(f"values: expected a number for each segment, got shape {array.shape}")
    bad = np.flatnonzero(~np.isfinite(array))
    if bad.size:
        problem = f"expected a finite number, got {array[bad[0]]}"
        raise InputError(SEGMENT_MESSAGE, what="values", segment=int(bad[0]) + 1, problem=problem)
    return array, Documents.from_ids(documents, len(array))


def intraclass_correlation(values: ArrayLike, documents: DocumentIds) -> float:
    """Intraclass correlation: how similar the values of segments of the same document are.

    This is the estimator from a one-way analysis of variance with documents of unequal sizes m_d (Donner 1986,
    doi:10.2307/1403259). With the mean squares between and within D documents, MSB and MSW, and N segments,

        ICC = (MSB − MSW) / (MSB + (n₀ − 1)·MSW),  n₀ = (N − Σ m_d²/N) / (D − 1).

    It is 1 if all segments of a document have the same value, and about 0 if segments are independent. It is negative
    if segments of the same document are less similar than segments of different documents; negative estimates are not
    set to 0.

    Parameters
    ----------
    values : (S,) array_like of float
        For example the differences of two systems' segment scores.
    documents : sequence of S str or int
        The document id of each segment. Segments of a document need not be adjacent. At least two documents.

    Returns
    -------
    float
        NaN if every document has only one segment, or if all values are equal.

    Raises
    ------
    InputError
        If a value is not finite, the numbers of values and ids differ, an id is empty, or there are fewer than two
        documents.

    Examples
    --------
    >>> round(intraclass_correlation([1, 2, 3, 5, 6, 7], ["a", "a", "a", "b", "b", "b"]), 3)
    0.885
    """
    return document_effect(*_checked_values(values, documents))[0]


def design_effect(values: ArrayLike, documents: DocumentIds) -> float:
    """Design effect: the variance of the mean relative to the variance if segments were independent.

    It is 1 + (m̃ − 1)·ICC (Kish 1965, *Survey Sampling*), where ICC is the :func:`intraclass_correlation` and m̃ = Σ
    m_d²/Σ m_d is the mean size of a segment's document. With this m̃ the formula is exact for documents of unequal
    sizes (Eldridge, Ashby & Kerry 2006, doi:10.1093/ije/dyl129). An estimate below 0, from a negative ICC, is set to 0,
    because no variance is negative. The effective sample size is N divided by the design effect.

    Parameters
    ----------
    values, documents
        As in :func:`intraclass_correlation`.

    Returns
    -------
    float
        1 if every document has only one segment; NaN if all values are equal.

    Raises
    ------
    InputError
        As :func:`intraclass_correlation`.

    Examples
    --------
    >>> round(design_effect([1, 2, 3, 5, 6, 7], ["a", "a", "a", "b", "b", "b"]), 3)
    2.769
    """
    return document_effect(*_checked_values(values, documents))[1]
