"""Documents as the unit of resampling, how much the segments of a document have in common, and strata to draw within.

Segments of one document depend on one another. Whoever swaps or draws them one by one takes them for more evidence than
they are; whoever swaps and draws whole documents does not. Strata are parts of the test set whose sizes were fixed when
it was made, as so many segments of news and so many of talks: draws then keep these sizes.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import SEGMENT_MESSAGE, InputError, quoted
from ..lazy import lazy
from ..metrics.base import Counts, Scores
from ..settings import DocumentIds, StratumIds
from .squares import Squares

__all__ = ["DocumentIds", "Documents", "Strata", "StratumIds", "design_effect", "intraclass_correlation"]


@dataclass(frozen=True, eq=False)
class Documents:
    """Which segment belongs to which document.

    ``index`` (S,) holds the number of each segment's document. Documents are numbered as they first appear, so that
    documents of one segment each are the segments.
    """

    index: NDArray[np.intp]

    @classmethod
    def of(cls, ids: DocumentIds, n_segments: int) -> Documents:
        """From an id for each segment; :class:`InputError` unless there are at least two documents.

        >>> Documents.of(["b", "a", "b"], 3).index
        array([0, 1, 0])
        """
        index, names = _numbered("documents", ids, n_segments)
        if len(names) < 2:
            raise InputError(
                f"documents: all {n_segments:,} segments belong to one document, {quoted(''.join(names))}: "
                "at least 2 documents are needed"
            )
        return cls(index)

    @classmethod
    def named(cls, ids: DocumentIds, n_segments: int) -> tuple[Documents, tuple[str, ...]]:
        """From an id for each segment; also the documents' ids in the order of their numbers. One document is enough.

        >>> Documents.named(["b", "a", "b"], 3)[1]
        ('b', 'a')
        """
        index, names = _numbered("documents", ids, n_segments)
        return cls(index), tuple(names)

    @property
    def n_documents(self) -> int:
        """D."""
        return len(self.sizes)

    @lazy
    def sizes(self) -> NDArray[np.intp]:
        """How many segments each document has: (D,)."""
        return np.bincount(self.index)

    @lazy
    def _order(self) -> NDArray[np.intp]:
        """The segments, document after document."""
        return np.argsort(self.index, kind="stable")

    @lazy
    def _starts(self) -> NDArray[np.intp]:
        """Where in that order each document begins."""
        return np.cumsum(self.sizes) - self.sizes

    @property
    def first_segments(self) -> NDArray[np.intp]:
        """The first segment of each document: (D,)."""
        return self._order[self._starts]

    def sums(self, counts: Counts) -> Counts:
        """The exact sums over the segments of each document: (k, S, K) in, (k, D, K) out; a family's counts fit int64.

        >>> Documents(np.array([0, 1, 0])).sums(np.array([[[1], [2], [4]]]))
        array([[[5],
                [2]]])
        """
        return np.add.reduceat(counts[:, self._order], self._starts, axis=1)

    def segments(self, documents: NDArray[np.intp]) -> NDArray[np.intp]:
        """The segments of these documents, document after document.

        >>> Documents(np.array([0, 1, 0])).segments(np.array([0, 0, 1]))
        array([0, 2, 0, 2, 1])
        """
        members = np.split(self._order, self._starts[1:])
        return np.concatenate([members[document] for document in documents])


@dataclass(frozen=True, eq=False)
class Strata:
    """Which unit belongs to which stratum.

    ``index`` (S,) holds the number of each unit's stratum, (D,) if documents are the unit. Strata are numbered as they
    first appear.
    """

    index: NDArray[np.intp]

    @classmethod
    def of(cls, ids: StratumIds, n_segments: int, documents: Documents | None = None) -> Strata:
        """From an id for each segment.

        :class:`InputError` if segments of one document are of different strata, or every stratum has one unit only.

        >>> Strata.of(["news", "talks", "news", "talks"], 4).index
        array([0, 1, 0, 1])
        >>> Strata.of(["news", "talks", "news", "news"], 4, Documents.of([7, 8, 7, 9], 4)).index
        array([0, 1, 0])
        """
        index, names = _numbered("strata", ids, n_segments)
        unit = "segment" if documents is None else "document"
        if documents is not None:
            first = documents.first_segments
            strays = np.flatnonzero(index != index[first][documents.index])
            if strays.size:
                stray, begin = strays[0], first[documents.index[strays[0]]]
                raise InputError(
                    f"strata: segments {begin + 1} and {stray + 1} belong to one document, but to the strata "
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
        """H."""
        return len(self.sizes)

    @lazy
    def sizes(self) -> NDArray[np.intp]:
        """How many units each stratum has: (H,)."""
        return np.bincount(self.index)

    @lazy
    def order(self) -> NDArray[np.intp]:
        """The units, stratum after stratum."""
        return np.argsort(self.index, kind="stable")

    def arranged(self, counts: Counts) -> Counts:
        """The rows of (k, S, K) counts, stratum after stratum."""
        is_arranged = bool((np.diff(self.index) >= 0).all())
        return counts if is_arranged else np.ascontiguousarray(counts[:, self.order])

    @staticmethod
    def or_one(strata: Strata | None, n_units: int) -> Strata:
        """These, or the one that all units are without strata."""
        return Strata(np.zeros(n_units, np.intp)) if strata is None else strata

    def deviations(self, values: Scores) -> Scores:
        """What each unit has more than the mean of its stratum: (S,) in and out.

        >>> Strata(np.array([0, 0, 1])).deviations(np.array([1.0, 3.0, 7.0]))
        array([-1.,  1.,  0.])
        """
        # Shifted first: what all values have in common would only cost digits.
        shifted = values - values.mean()
        return np.asarray(shifted - (np.bincount(self.index, shifted) / self.sizes)[self.index])

    def variance(self, values: Scores) -> float:
        """The variance of the sum of units' values u if those of a stratum vary: Σ_h S_h/(S_h − 1) Σ (u_s − ū_h)².

        A stratum of one unit tells nothing of how its units vary, and adds nothing.

        >>> Strata(np.array([0, 0, 1])).variance(np.array([1.0, 3.0, 7.0]))
        4.0
        """
        return float((self.factors * self.deviations(values) ** 2).sum())

    @lazy
    def factors(self) -> Scores:
        """S_h/(S_h − 1) for each unit: (S,)."""
        return np.asarray((self.sizes / np.maximum(self.sizes - 1, 1))[self.index])


class Variances:
    """The variances of sums of units' values if units of a stratum vary: of k systems, and of their differences.

    Parameters
    ----------
    n_systems : int
        k.
    values : callable
        ``values(a)`` gives the (S,) values of a system, ``values(a, b)`` those of a difference: with no more rounding
        errors than the difference has digits.
    strata : Strata
        Within these units vary: see :meth:`Strata.variance`.

    Examples
    --------
    >>> rows = np.array([[1.0, 3.0], [2.0, 2.0], [4.0, 2.0]])
    >>> one = Strata(np.zeros(2, int))
    >>> variances = Variances(3, lambda a, b=None: rows[a] if b is None else rows[a] - rows[b], one)
    >>> variances.of(0), round(variances.of(0, 2), 9), variances.of(1, 1)
    (4.0, 16.0, 0.0)
    """

    def __init__(self, n_systems: int, values: Callable[..., Scores], strata: Strata) -> None:
        self._n_systems = n_systems
        self._of = values
        self._strata = strata

    @lazy
    def _values(self) -> Scores:
        return np.stack([self._of(a) for a in range(self._n_systems)])

    @lazy
    def _squares(self) -> Squares:
        return Squares(np.stack([self._strata.deviations(row) for row in self._values]), self._strata.factors)

    def of(self, a: int, b: int | None = None) -> float:
        """That of system a or, with ``b``, of a less b. Of identical systems it is 0."""
        if b is None:
            return self._strata.variance(self._values[a])
        # Two systems have one difference, which is looked at directly.
        squared = self._squares.between(a, b) if self._n_systems > 2 else None
        return self._strata.variance(self._of(a, b)) if squared is None else squared


def jackknife_variances(leave_one_out: Scores, strata: Strata) -> Variances:
    """Of the (k, S) scores without each of the units."""

    def values(a: int, b: int | None = None) -> Scores:
        return np.asarray(leave_one_out[a] if b is None else leave_one_out[a] - leave_one_out[b])

    return Variances(len(leave_one_out), values, strata)


def _numbered(what: str, ids: DocumentIds | StratumIds, n_segments: int) -> tuple[NDArray[np.intp], list[str]]:
    """The number of each segment's document or stratum, as these first appear, and their ids."""
    if isinstance(ids, str):
        raise InputError(f"{what}: expected an id for each segment, got the single string {quoted(ids)}")
    try:
        listed = list(ids)
    except TypeError:
        raise InputError(f"{what}: expected an id for each segment, got {quoted(ids)}") from None
    if len(listed) != n_segments:
        raise InputError(f"{what}: expected an id for each of {n_segments:,} segments, got {len(listed):,}")
    known: dict[str, int] = {}
    index = [known.setdefault(_checked(what, id_, i), len(known)) for i, id_ in enumerate(listed, 1)]
    return np.array(index, np.intp), list(known)


def _checked(what: str, id_: object, segment: int) -> str:
    """An id as text: 7 and "7" are one."""
    is_id = isinstance(id_, str | numbers.Integral) and not isinstance(id_, bool)
    if not is_id or not str(id_).strip():
        problem = f"expected a string or an integer, got {quoted(id_)}"
        raise InputError(SEGMENT_MESSAGE, what=what, segment=segment, problem=problem)
    return str(id_)


def paired_influence(scores: Scores, leave_one_out: Scores, a: int, b: int) -> Scores:
    """What every segment does to score(a) − score(b): its jackknife influence, (S,).

    The influence of segment s on f is (S − 1)·(f(T) − f(T − x_s)) (Efron & Stein 1981, doi:10.1214/aos/1176345462). For
    a mean it is the segment's score less the mean. ``scores`` has shape (k,), ``leave_one_out`` those without each of
    the segments, (k, S).

    >>> without = np.array([[3.5, 4.0, 4.5], [2.0, 2.0, 2.0]])  # means of two of 5, 4 and 3, and of 2, 2 and 2
    >>> paired_influence(np.array([4.0, 2.0]), without, 0, 1).tolist()
    [1.0, 0.0, -1.0]
    """
    difference = (scores[a] - leave_one_out[a]) - (scores[b] - leave_one_out[b])
    # Scores are right to some units in the last place; what is smaller than these is no difference.
    rounding = 16 * np.spacing(max(abs(scores[a]), abs(scores[b])))
    others = leave_one_out.shape[1] - 1
    return np.asarray(others * np.where(np.abs(difference) <= rounding, 0.0, difference))


def document_effects(
    scores: Scores, leave_one_out: Scores, documents: Documents, pairs: Sequence[tuple[int, int]]
) -> Iterator[tuple[float, float]]:
    """The intraclass correlation and the design effect of each pair's :func:`paired_influence`, NaN where not defined.

    Both depend on sums of squares between documents and within them, which one matrix each has for all pairs.
    """
    influences = (leave_one_out.shape[1] - 1) * (scores[:, None] - leave_one_out)
    parts = [_between_and_within(values, documents) for values in influences]
    between = Squares(np.stack([part[0] for part in parts]), documents.sizes.astype(np.float64))
    within = Squares(np.stack([part[1] for part in parts]), np.ones(len(documents.index)))
    for a, b in pairs:
        of_documents, of_segments = between.between(a, b), within.between(a, b)
        if of_documents is None or of_segments is None:  # so much alike that rounding counts
            yield document_effect(paired_influence(scores, leave_one_out, a, b), documents)
        else:
            yield _effect(of_documents, of_segments, documents)


def _between_and_within(values: Scores, documents: Documents) -> tuple[Scores, Scores]:
    """The mean of each document less that of all segments, (D,), and each segment less its document's mean, (S,)."""
    # Shifted first: what all values have in common would only cost digits.
    shifted = values - values.mean()
    means = np.bincount(documents.index, shifted) / documents.sizes
    return means - shifted.mean(), shifted - means[documents.index]


def _effect(between: float, within: float, documents: Documents) -> tuple[float, float]:
    """The same from the sums of squares between documents and within them."""
    n, d = len(documents.index), documents.n_documents
    if n == d:
        return math.nan, 1.0
    weighted_size = float((documents.sizes**2).sum()) / n
    between, within = between / (d - 1), within / (n - d)
    n_0 = (n - weighted_size) / (d - 1)
    correlation = (between - within) / (between + (n_0 - 1) * within)
    return correlation, 1 + (weighted_size - 1) * correlation


def document_effect(values: Scores, documents: Documents) -> tuple[float, float]:
    """The intraclass correlation and the design effect, NaN where they are not defined."""
    if np.ptp(values) == 0 and len(values) > documents.n_documents:
        return math.nan, math.nan
    between, within = _between_and_within(values, documents)
    return _effect(float((documents.sizes * between**2).sum()), float((within**2).sum()), documents)


def _checked_values(values: ArrayLike, documents: DocumentIds) -> tuple[Scores, Documents]:
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"values: expected a number for each segment: {error}") from None
    if array.ndim != 1 or array.size == 0:
        raise InputError(f"values: expected a number for each segment, got shape {array.shape}")
    bad = np.flatnonzero(~np.isfinite(array))
    if bad.size:
        problem = f"expected a finite number, got {array[bad[0]]}"
        raise InputError(SEGMENT_MESSAGE, what="values", segment=int(bad[0]) + 1, problem=problem)
    return array, Documents.of(documents, len(array))


def intraclass_correlation(values: ArrayLike, documents: DocumentIds) -> float:
    """How alike the segments of a document are: the intraclass correlation of their values.

    The estimator of the one-way analysis of variance for documents of unequal sizes m_d (Donner 1986,
    doi:10.2307/1403259): with the mean squares between and within D documents of N segments,

        ICC = (MSB − MSW) / (MSB + (n₀ − 1)·MSW),  n₀ = (N − Σ m_d²/N) / (D − 1).

    1 if values differ between documents only, about 0 if documents make no difference. A negative one is given as it
    is: segments of a document are then less alike than those of different documents.

    Parameters
    ----------
    values : (S,) array_like of float
        For example the differences of two systems' segment scores.
    documents : sequence of S str or int
        The id of each segment's document; segments of a document need not be adjacent. At least two documents.

    Returns
    -------
    float
        NaN if every document has one segment only, or if all values are equal.

    Raises
    ------
    InputError
        If values are not finite, numbers differ, an id is empty, or there are fewer than two documents.

    Examples
    --------
    >>> round(intraclass_correlation([1, 2, 3, 5, 6, 7], ["a", "a", "a", "b", "b", "b"]), 3)
    0.885
    """
    return document_effect(*_checked_values(values, documents))[0]


def design_effect(values: ArrayLike, documents: DocumentIds) -> float:
    """How many times larger the variance of the mean is than if segments were independent.

    1 + (m̃ − 1)·ICC (Kish 1965, *Survey Sampling*) with :func:`intraclass_correlation` and the mean document size as a
    segment sees it, m̃ = Σ m_d²/Σ m_d, which makes it exact for unequal sizes (Eldridge, Ashby & Kerry 2006,
    doi:10.1093/ije/dyl129). N segments are worth N/design effect independent ones.

    Parameters
    ----------
    values, documents
        As in :func:`intraclass_correlation`.

    Returns
    -------
    float
        1 if every document has one segment only; NaN if all values are equal.

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
