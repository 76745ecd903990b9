"""Metrics whose counts or scores were computed elsewhere. They work in every test, interval and report.

- :class:`SegmentScores`: a score per segment (COMET, BLEURT, human ratings); the corpus score is the mean.
- :class:`FromCounts`: integers per segment, and a function of their sums.
- :class:`OwnTexts`: a metric on texts of its own, such as parses of the texts that the other metrics read.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core, signature
from ..data.corpus import Corpus, Lines, missing, named_columns, numbered
from ..errors import IN_SEGMENT, InputError, listed, quoted
from .base import LARGEST_SUM, Counts, Metric, MetricLike, Scores, check_sums, counts_array, totals_array
from .native import NativeMetric, metric, resolve

__all__ = ["FromCounts", "GivenCounts", "OwnTexts", "SegmentScores", "f_score"]

PerSystem: TypeAlias = "Mapping[str, ArrayLike] | Sequence[ArrayLike] | Any"  # or a table from any package

# Scores may be counted in any unit, and sums of D documents must fit as well: these are refused if D times the largest
# document could pass the largest sum. Counted so, a document may be this many times the mean size.
LARGEST_DOCUMENT = 128
LARGEST_SUM_OF_SCORES = float(LARGEST_SUM // LARGEST_DOCUMENT)
MOST_DECIMALS = 15
# What rounding to the unit may change, as a share of a system's largest score.
COARSEST = 1e-9


class GivenCounts(Metric):
    """A metric that brings the counts of its systems along, so that no text is needed."""

    counts: Mapping[str, Counts]

    def counts_of(self, names: Sequence[str]) -> Counts:
        """The counts of these systems: (k, S, K). Others that it has counts of are left out."""
        missing = [name for name in names if name not in self.counts]
        if missing:
            raise InputError(
                f"{self.name} has nothing for system {quoted(missing[0])}: expected one of {listed(self.counts)}"
            )
        return np.stack([self.counts[name] for name in names])

    def segment_scores_of(self, names: Sequence[str], counts: Counts) -> Scores:
        """See :meth:`Metric.segment_scores_of`: in full, as the given counts are."""
        return self.segment_scores(counts)


@dataclass(frozen=True, eq=False)  # a comparison of arrays is no truth value
class SegmentScores(GivenCounts):
    """Scores of segments that came from elsewhere; a system's score is their mean.

    Scores are kept as integers, so that sums are exact and ties are ties. The unit is the largest power of ten of which
    all scores are whole multiples: ratings from 0 to 100 with two decimals are counted in hundredths. Scores that no
    unit of at least 10⁻¹⁵ fits, such as single-precision floats, are counted in the smallest power of two whose sums
    still fit 55 bits, which changes a score by at most half a unit: the largest |score| times S/2⁵⁵. (With documents as
    unit, sums of large ones drawn again and again then fit 64.) All systems share the unit. :func:`reshuffle.compare`
    and :func:`reshuffle.score` round a mean to the decimals that such a unit determines;
    :func:`reshuffle.segment_scores` returns the scores unchanged.

    Parameters
    ----------
    name : str
        What to call the metric in tables and signatures.
    scores : mapping of str to S numbers, sequence of these, or table of S rows
        By system; a table (pandas, polars, Arrow, a structured array) has a column for each. Without names systems are
        called ``system 1``, ``system 2`` …
    higher_is_better : bool

    Raises
    ------
    InputError
        If there are no scores, a score is missing (masked, null, None) or not finite, numbers of segments differ, or
        scores are so far apart that a unit for the largest would change another system's by more than 10⁻⁹ of its
        largest.

    Examples
    --------
    >>> ratings = SegmentScores("rating", {"a": [1.5, 2, 0], "b": [2.5, 2, 1]})
    >>> ratings.counts["b"].tolist(), ratings.signature()
    ([[25, 1], [20, 1], [10, 1]], 'rating|mean:segments|resolution:10^-1')
    >>> from reshuffle import score
    >>> [s.score for s in score(metrics=ratings).scores]
    [1.1666666666666667, 1.8333333333333333]
    """

    name: str
    scores: PerSystem = field(repr=False)
    higher_is_better: bool = True
    core: _core.Metric = field(init=False, repr=False, compare=False)
    counts: Mapping[str, Counts] = field(init=False, repr=False, compare=False)
    decimals: int | None = field(init=False, repr=False, compare=False)
    _rounded: Mapping[str, Scores] = field(init=False, repr=False, compare=False)  # scores that counts only approximate

    is_mean = True

    def __post_init__(self) -> None:
        arrays = {system: self._checked(system, scores) for system, scores in _by_system(self.name, self.scores)}
        if not arrays:
            raise InputError(f"{self.name}: no scores, at least one system is needed")
        _same_length(self.name, arrays)
        every = np.concatenate(list(arrays.values()))
        scale = _scale(every, len(next(iter(arrays.values()))))
        counts = {}
        coarsest = 0.0
        for system, scores in arrays.items():
            counts[system] = np.ones((len(scores), 2), dtype=np.int64)
            counts[system][:, 0] = np.rint(scores * scale)
            error = float(np.abs(counts[system][:, 0] / scale - scores).max())
            if error > COARSEST * np.abs(scores).max():
                raise self._too_coarse(system, arrays)
            coarsest = max(coarsest, error)
        object.__setattr__(self, "counts", counts)
        # With so many decimals a mean is off by at most one in the last: half from the unit, half from the rounding.
        object.__setattr__(self, "decimals", math.floor(-math.log10(2 * coarsest)) if coarsest else None)
        object.__setattr__(self, "_rounded", {name: array.copy() for name, array in arrays.items()} if coarsest else {})
        object.__setattr__(self, "core", _core.Metric.mean(self.name, scale, self.higher_is_better))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.name, self.scores, self.higher_is_better)

    def _checked(self, system: str, scores: ArrayLike) -> Scores:
        _check_present(f"{self.name}, system {system}", scores)
        try:
            array = np.asarray(scores, dtype=np.float64)
        except (TypeError, ValueError, OverflowError) as error:
            raise InputError(f"{self.name}, system {system}: expected a number for every segment: {error}") from None
        if array.ndim != 1 or array.size == 0:
            raise InputError(
                f"{self.name}, system {system}: expected a number for every segment, got shape {array.shape}"
            )
        bad = np.flatnonzero(~np.isfinite(array))
        if bad.size:
            problem = f"expected a finite number, got {array[bad[0]]}"
            what, segment = f"{self.name}, system {system}", int(bad[0]) + 1
            raise InputError(IN_SEGMENT, what=what, system=system, segment=segment, problem=problem)
        return array

    def segment_scores_of(self, names: Sequence[str], counts: Counts) -> Scores:
        """See :meth:`Metric.segment_scores_of`: the scores that the user gave, unchanged."""
        if not self._rounded:
            return super().segment_scores_of(names, counts)
        return np.stack([self._rounded[name] for name in names])

    def _too_coarse(self, system: str, arrays: Mapping[str, Scores]) -> InputError:
        """The error for a unit in which a system's scores would be lost."""
        own = float(np.abs(arrays[system]).max())
        largest = max(arrays, key=lambda name: float(np.abs(arrays[name]).max()))
        if largest == system:
            return InputError(
                f"{self.name}, system {system}: scores of at most {own:g} in size are too small: multiply all of them"
            )
        segment = int(np.abs(arrays[largest]).argmax())
        place = f"{self.name}, system {largest}, segment {segment + 1}"
        return InputError(
            f"{place}: {arrays[largest][segment]:g} is too large beside the scores of system "
            f"{system}, at most {own:g} in size: all share a unit, and these would be lost in it; "
            "is it a mistake?"
        )

    def score(self, totals: ArrayLike) -> Scores:
        """See :meth:`Metric.score`."""
        totals = totals_array(totals)
        flat = np.ascontiguousarray(totals.reshape(-1, totals.shape[-1]))
        return np.asarray(self.core.scores(flat).reshape(totals.shape[:-1]))

    def signature(self, n_references: str | None = None) -> str:
        """See :meth:`Metric.signature`. References are none of its business."""
        return signature.of_metric(self.name, self.core.signature)


def _scale(scores: Scores, segments: int) -> float:
    """How many units make 1."""
    largest = float(np.abs(scores).max())
    for decimals in range(MOST_DECIMALS + 1):
        scale = 10.0**decimals
        if largest * scale * segments > LARGEST_SUM_OF_SCORES:
            break
        if np.array_equal(np.round(scores, decimals), scores):
            return scale
    # The largest float is 2^1024, so that even its units are a float.
    exponent = math.floor(math.log2(LARGEST_SUM_OF_SCORES / segments) - math.log2(largest)) if largest else 0
    return 2.0 ** min(exponent, 1000)


class _WithFormula(GivenCounts):
    """Given counts that are scored as another metric scores its own."""

    formula: Metric

    def score(self, totals: ArrayLike) -> Scores:
        """See :meth:`Metric.score`."""
        return self.formula.score(totals)

    def segment_scores(self, counts: ArrayLike) -> Scores:
        """See :meth:`Metric.segment_scores`."""
        return self.formula.segment_scores(counts)

    def details(self, totals: Counts) -> Mapping[str, float]:
        """See :meth:`Metric.details`."""
        return self.formula.details(totals)


@dataclass(frozen=True, eq=False)
class FromCounts(_WithFormula):
    """Integer counts for every segment that came from elsewhere, and what makes a score of their sums.

    Parameters
    ----------
    name : str
        What to call the metric in tables and signatures.
    counts : mapping of str to (S, K) integers, or sequence of these
        By system; each may be a table of K columns. Without names systems are called ``system 1``, ``system 2`` …
    scoring : function, str or Metric
        A function from summed counts, shape (…, K), to scores, shape (…), called on thousands of replicates at once; or
        a metric whose formula is to be used, such as ``"bleu"``.
    higher_is_better : bool, optional
        By default what the metric says whose formula is used, or True.

    Raises
    ------
    InputError
        If counts are not integers, are missing (masked, null, None), or shapes differ.

    Examples
    --------
    Precision, recall and F from three counts:

    >>> counts = {"a": [[3, 5, 4], [0, 2, 2]], "b": [[4, 4, 4], [1, 2, 2]]}
    >>> f1 = FromCounts("F1", counts, f_score)
    >>> from reshuffle import compare
    >>> compare(metrics=f1).comparisons[0].difference
    37.179487179487175
    """

    name: str
    counts: Mapping[str, Counts] = field(repr=False)
    scoring: MetricLike
    higher_is_better: bool | None = None  # type: ignore[assignment]
    formula: Metric = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        counts = {system: self._checked(system, rows) for system, rows in _by_system(self.name, self.counts)}
        if not counts:
            raise InputError(f"{self.name}: no counts, at least one system is needed")
        _same_length(self.name, counts)
        for system, rows in counts.items():
            check_sums(rows[None], f"{self.name}, system {system}: ")
        widths = {system: rows.shape[1] for system, rows in counts.items()}
        if len(set(widths.values())) > 1:
            raise InputError(f"{self.name}: numbers of counts differ: {widths}")
        formula = resolve(self.scoring).named(self.name)
        width, columns = next(iter(widths.values())), formula.columns
        if columns is not None and len(columns) != width:
            raise InputError(
                f"{self.name}: a row of {formula.name} holds {len(columns)} counts, got {width}; "
                f"expected {', '.join(columns)}"
            )
        object.__setattr__(self, "counts", counts)
        object.__setattr__(self, "formula", formula)
        object.__setattr__(self, "core", formula.core)
        object.__setattr__(self, "decimals", formula.decimals)
        if self.higher_is_better is None:
            object.__setattr__(self, "higher_is_better", formula.higher_is_better)

    def _checked(self, system: str, rows: ArrayLike) -> Counts:
        what = f"{self.name}, system {system}"
        _check_present(what, rows)
        columns = named_columns(what, rows)
        if columns is not None:
            rows = np.stack([np.asarray(column) for column in columns.values()], axis=-1)
        return np.ascontiguousarray(counts_array(rows, what, ndim=2))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.name, self.counts, self.scoring, self.higher_is_better)

    def signature(self, n_references: str | None = None) -> str:
        """See :meth:`Metric.signature`: the formula's, if it has one. References were counted elsewhere."""
        return signature.of_given_counts(self.name, self.formula.formula_signature())


@dataclass(frozen=True, eq=False)
class OwnTexts(_WithFormula):
    """A metric on texts of its own, beside metrics on others: dependency F on parses beside BLEU on texts.

    Segments must be the same and in the same order.

    Parameters
    ----------
    metric : str or NativeMetric
    references, systems
        As for :func:`reshuffle.compare`, with the same names of systems.
    threads : int, optional
        As many as there are cores by default.

    Raises
    ------
    InputError
        As :func:`reshuffle.score`.

    Examples
    --------
    >>> def parsed(word):
    ...     return ["\\t".join(["1", word, word, "_", "_", "_", "0", "root", "_", "_"])]
    >>> parses = {"a": parsed("no"), "b": parsed("yes")}
    >>> depf = OwnTexts("depf", parses["a"], parses)
    >>> from reshuffle import score
    >>> [(s.metric, s.system, s.score) for s in score(["no"], {"a": ["no"], "b": ["yes"]}, ["length", depf]).scores]
    [('length', 'a', 1.0), ('length', 'b', 1.0), ('DepF', 'a', 100.0), ('DepF', 'b', 0.0)]
    """

    metric: str | NativeMetric
    references: Sequence[str | None] | Sequence[Sequence[str | None]] = field(repr=False)
    systems: Mapping[str, Lines] | Sequence[Lines] = field(repr=False)
    threads: int | None = field(default=None, repr=False)
    formula: NativeMetric = field(init=False, repr=False)
    counts: Mapping[str, Counts] = field(init=False, repr=False)
    _n_references: str = field(init=False, repr=False)

    def __post_init__(self) -> None:
        formula = metric(self.metric) if isinstance(self.metric, str) else self.metric
        if not isinstance(formula, NativeMetric):
            raise InputError(f"expected the name of a metric or reshuffle.metric(name), got {quoted(formula)}")
        corpus = Corpus.of(self.references, self.systems)
        counts = formula.suff_stats(corpus.systems, corpus.references, threads=self.threads)
        object.__setattr__(self, "counts", dict(zip(corpus.systems, counts, strict=True)))
        object.__setattr__(self, "formula", formula)
        object.__setattr__(self, "core", formula.core)
        object.__setattr__(self, "decimals", formula.decimals)
        object.__setattr__(self, "name", formula.name)
        object.__setattr__(self, "higher_is_better", formula.higher_is_better)
        object.__setattr__(self, "_n_references", corpus.n_references)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.metric, self.references, self.systems, self.threads)

    def signature(self, n_references: str | None = None) -> str:
        """See :meth:`Metric.signature`: that of the metric on its own texts."""
        return self.formula.signature(self._n_references)

    def segment_signature(self, n_references: str | None = None) -> str:
        """See :meth:`Metric.segment_signature`."""
        return self.formula.segment_signature(self._n_references)


def f_score(totals: NDArray[np.int64], beta: float = 1.0) -> Scores:
    """F in per cent from summed counts (…, 3): matches, items of the hypothesis, items of the reference.

    F = (1 + β²)·P·R/(β²·P + R) with precision P = matches/hypothesis and recall R = matches/reference (van Rijsbergen
    1979). 0 where neither side has an item. For another β pass ``functools.partial(f_score, beta=2)``.

    >>> f_score(np.array([[3, 4, 6], [0, 0, 0]]))
    array([60.,  0.])
    """
    matches, hypothesis, reference = np.moveaxis(np.asarray(totals, dtype=np.float64), -1, 0)
    items = hypothesis + beta**2 * reference
    return np.asarray(100 * (1 + beta**2) * matches / np.where(items == 0, 1, items))


def _by_system(name: str, values: Any) -> list[tuple[str, Any]]:
    named = named_columns(name, values)
    if named is None:
        try:
            named = numbered(values)
        except TypeError:
            raise InputError(f"{name}: expected a mapping from systems to values, got {values!r}") from None
    return list(named.items())


def _check_present(what: str, values: Any) -> None:
    """Raise :class:`InputError` for the first missing value, which has no meaningful number."""
    gone = missing(values)
    if gone is not None and gone.any():
        segment = int(np.flatnonzero(gone.reshape(len(gone), -1).any(axis=1))[0]) + 1
        problem = "the value is missing: expected a number for every segment"
        raise InputError(IN_SEGMENT, what=what, segment=segment, problem=problem)


def _same_length(name: str, arrays: Mapping[str, NDArray[Any]]) -> None:
    lengths = {system: len(array) for system, array in arrays.items()}
    if len(set(lengths.values())) > 1:
        listed = ", ".join(f"{system} has {length:,}" for system, length in lengths.items())
        raise InputError(f"{name}: numbers of segments differ: {listed}")
