"""Metrics whose counts or scores are computed in advance, often by another tool.

- :class:`SegmentScores`: a score per segment (COMET, BLEURT, human ratings); the corpus score is the mean.
- :class:`FromCounts`: integer counts per segment, and a function of their sums.
- :class:`OwnTexts`: a metric on texts of its own, such as parses of the texts that the other metrics read.

They work in every test, interval and report.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence, Sized, ValuesView
from copy import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core, signature
from ..data.arrays import as_array, holds_array
from ..data.columns import check_rows, index_of, missing, named_columns, segment_list
from ..data.corpus import Corpus, Lines, number_systems
from ..data.id_columns import FEWEST, names_ids, warn_of_ids, warn_of_transposed
from ..errors import (
    SEGMENT_MESSAGE,
    Argument,
    InputError,
    MisreadWarning,
    counted,
    listed,
    printable,
    quoted,
    shortened,
    warn,
)
from ..names import has_formula
from ..options.hints import with_hints
from ..results.lookup import first_names
from ..types import MetricName, Missing
from ..validate import (
    LARGEST_SCORE,
    SMALLEST_SCORE,
    check_flag,
    check_name,
    check_number,
    check_text,
    expected_score,
)
from .base import (
    Counts,
    InCore,
    Metric,
    MetricLike,
    Rebuilt,
    Scores,
    check_present,
    check_sums,
    counts_array,
    totals_array,
)
from .expression import Expression, named_counts, note_divisions
from .given import MAX_RELATIVE_ERROR, CountsOfFormula, PrecomputedCounts, steps_of
from .named import metric, resolve
from .native import NativeMetric

if TYPE_CHECKING:
    from ..data.joined_scores import JoinedScores
    from ..data.score_tables import ScoreTable

PerSystem: TypeAlias = "Mapping[str, ArrayLike] | Sequence[ArrayLike] | Any"  # or a table from any package

# Iterables that numpy takes for a single value.
ONCE = (Iterator, ValuesView)
# What to do about missing scores, as in :data:`reshuffle.types.Missing`.
TREATMENTS_OF_MISSING = ("error", "pairwise")
MISSING_MESSAGE = (
    SEGMENT_MESSAGE + "; with {missing}, each pair of systems is compared on the segments for which both have a score"
)


@with_hints
@dataclass(frozen=True, eq=False)  # == of arrays is not a bool
class SegmentScores(InCore, PrecomputedCounts):
    """Segment scores from another tool or from raters; a system's score is their mean.

    Scores are stored as integers, in fixed point, so that sums are exact and equal scores are exact ties. The
    resolution, which all systems share, is the largest power of ten of which every score is a multiple: ratings from 0
    to 100 with two decimals have the resolution 0.01.

    Scores for which no power of ten down to 10⁻¹⁵ is fine enough, such as single-precision floats, are rounded to a
    power of two: the finest for which their sum still fits 55 bits. (The remaining bits are for documents as resampling
    unit, where the same large document may be drawn many times.) Rounding changes a score by at most half the
    resolution, that is max |score|·S/2⁵⁵. :func:`reshuffle.compare` and :func:`reshuffle.score` then round means to the
    decimals that are certain, and :func:`reshuffle.segment_scores` returns the original scores.

    Parameters
    ----------
    name : str
        Name of the metric in tables and signatures.
    scores : mapping of str to S numbers, sequence of S numbers for each system, or table of S rows
        The scores of each system. A table (pandas, polars, Arrow, a structured array) has one column per system.
        Systems without names are called ``system 1``, ``system 2`` … For :func:`reshuffle.compare_runs`, a list with
        the scores of each run, or an array with a row for each; the runs of ``x`` are called ``x#0``, ``x#1`` … In a
        mapping or table with a column for each run, they have the names of these.
    higher_is_better : bool, optional
        True by default, with a warning if the name is one of an error, such as ``WER`` or ``latency``.
    missing : {'error', 'pairwise'}
        What to do about missing scores: NaN, None, null or masked values. With ``pairwise``, the score of a system is
        the mean of the scores that it has, and two systems are compared on the segments for which both have a score.
        So the difference of a pair need not be the difference of the two scores. Results have the number of segments
        of every score and of every difference.
    segment_ids : sequence of str, optional
        What reports without texts call the segments, such as :attr:`ScoreTable.segment_ids`, instead of their numbers.

    Raises
    ------
    InputError
        If there are no scores, a score is infinite or missing without ``missing="pairwise"``, a system has no scores,
        numbers of segments differ, the largest score is not from 10⁻⁷⁵ to 10⁷⁵ in magnitude, or needs a resolution so
        coarse that the scores of some system would change by more than 10⁻⁹ of that system's largest.

    Notes
    -----
    With missing scores, a pair costs as much time and memory as two more systems, 16·S bytes each, unless all systems
    lack the same scores.

    Examples
    --------
    >>> ratings = SegmentScores("rating", {"a": [1.5, 2, 0], "b": [2.5, 2, 1]})
    >>> ratings.counts["b"].tolist(), ratings.signature()
    ([[25, 1], [20, 1], [10, 1]], 'rating|mean:segments|resolution:10^-1')
    >>> from reshuffle import score
    >>> [s.score for s in score(metrics=ratings).scores]
    [1.1666666666666667, 1.8333333333333333]

    System b has no score for the third segment, so the systems are compared on the other three:

    >>> from reshuffle import compare
    >>> ratings = SegmentScores("rating", {"a": [1, 2, 0, 3], "b": [2, 2, None, 5]}, missing="pairwise")
    >>> result = compare(metrics=ratings, test="ar", interval=None)
    >>> [(s.score, s.n_segments) for s in result.scores]
    [(1.5, 4), (3.0, 3)]
    >>> result.pair("b").difference, result.pair("b").n_segments
    (1.0, 3)
    """

    name: str
    scores: PerSystem = field(repr=False)
    higher_is_better: bool | None = None  # type: ignore[assignment]
    missing: Missing | str = "error"
    segment_ids: Sequence[str] | None = field(default=None, repr=False)
    core: _core.Metric = field(init=False, repr=False, compare=False)
    counts: Mapping[str, Counts] = field(init=False, repr=False, compare=False)
    decimals: int | None = field(init=False, repr=False, compare=False)
    # Whether no score is missing.
    is_complete: bool = field(init=False, repr=False, compare=False)
    # What is said if some systems have shares and others percentages or logarithms.
    two_scales: str = field(init=False, repr=False, compare=False, default="")
    # How many segments that not all files have were left out.
    _n_left_out: int = field(init=False, repr=False, compare=False, default=0)
    # The number of steps of the resolution in 1.
    _steps: float = field(init=False, repr=False, compare=False)
    # The original scores if the counts had to round them, otherwise empty.
    _unrounded: Mapping[str, Scores] = field(init=False, repr=False, compare=False)

    is_mean = True

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.strip():
            raise InputError(
                f"SegmentScores: the first argument is the name of the metric, got {quoted(self.name)}: write "
                "SegmentScores('NAME', scores)"
            )
        check_text("the name of a metric", self.name)
        if self.higher_is_better is not None:
            check_flag("higher_is_better", self.higher_is_better)
        check_name("missing", self.missing, TREATMENTS_OF_MISSING)
        if isinstance(self.scores, Mapping):  # what can be read only once is kept
            read = {name: [*own] if isinstance(own, ONCE) else own for name, own in self.scores.items()}
            vars(self)["scores"] = read
        of_systems = _items_by_system(self.name, self.scores)
        runs = [run for system, scores in of_systems for run in _runs_of(self.name, system, scores)]
        items = [(output, scores) for output, _, scores in runs]
        vars(self).update(
            index=index_of(self.scores),
            has_runs=[*dict(items)] != [*dict(of_systems)],
            run_names={output: name for output, name, _ in runs},
        )
        is_table = not isinstance(self.scores, Mapping | list | tuple)
        named_ids = [system for system, _ in items if is_table and names_ids(system)]
        # Columns of texts first: those of a long table are not to be chosen.
        arrays = {system: self._checked(system, scores) for system, scores in items if system not in named_ids}
        if named_ids:
            raise InputError(
                f"{self.name}: expected a column of scores for each system, got ids "
                f"({listed(map(quoted, named_ids))}): choose columns, as in table[['a', 'b']]"
            )
        if not arrays:
            raise InputError(f"{self.name}: no scores, at least one system is needed")
        check_same_length(self.name, arrays)
        if is_table:
            warn_of_ids(self.name, arrays, lambda names: f"table[{names[:2]}]")
        n_segments = len(next(iter(arrays.values())))
        if is_table:
            is_array = isinstance(self.scores, np.ndarray)
            each, others = ("row of the array", "columns") if is_array else ("column of the table", "rows")
            advice = f"if its {others} are the systems, pass its transpose (.T)"
            warn_of_transposed(self.name, len(arrays), n_segments, each, advice)
        if self.segment_ids is not None:
            ids = tuple(map(str, self.segment_ids))
            if len(ids) != n_segments:
                raise InputError(f"{self.name}: expected an id for each of {n_segments:,} segments, got {len(ids):,}")
            vars(self)["segment_ids"] = ids
        all_scores = np.concatenate(list(arrays.values()))
        lacking = {} if self.missing == "error" else {name: np.isnan(array) for name, array in arrays.items()}
        lacking = {name: is_missing for name, is_missing in lacking.items() if is_missing.any()}
        if self.higher_is_better is None:
            check_direction(self.name, float(np.fmax.reduce(all_scores)))
            vars(self)["higher_is_better"] = True
        _warn_of_failures(self.name, arrays)
        vars(self)["two_scales"] = _on_two_scales(self.name, arrays, bool(self.higher_is_better))
        if self.two_scales:
            warn(self.two_scales, MisreadWarning)
        largest = float(np.fmax.reduce(np.abs(all_scores)))  # without those that are missing
        if 0 < largest < SMALLEST_SCORE:
            raise InputError(
                f"{self.name}: all scores are at most {largest:g} in magnitude, which is too small (expected one of at "
                f"least {SMALLEST_SCORE:g}): multiply all scores by a constant"
            )
        scale = steps_of(all_scores[~np.isnan(all_scores)] if lacking else all_scores, n_segments)
        counts = {}
        max_error = 0.0
        for system, scores in arrays.items():
            counts[system] = np.ones((len(scores), 2), dtype=np.int64)
            if system in lacking:
                scores = np.where(lacking[system], 0, scores)
                counts[system][lacking[system], 1] = 0
            counts[system][:, 0] = np.rint(scores * scale)
            error = float(np.abs(counts[system][:, 0] / scale - scores).max())
            if error > MAX_RELATIVE_ERROR * np.abs(scores).max():
                raise self._too_large_error(system, arrays)
            max_error = max(max_error, error)
        # A mean with these decimals is off by at most 1 in the last: half from the resolution, half from its rounding.
        decimals = math.floor(-math.log10(2 * max_error)) if max_error else None
        unrounded = {name: array.copy() for name, array in arrays.items()} if max_error else {}
        core = _core.Metric.mean(self.name, scale, bool(self.higher_is_better))
        vars(self).update(counts=counts, core=core, decimals=decimals, is_complete=not lacking)
        vars(self).update(_steps=scale, _unrounded=unrounded)

    def __repr__(self) -> str:
        systems = f"{counted(len(self.counts), 'system')} ({first_names(self.counts)})"
        return f"<SegmentScores: {printable(self.name)}; {systems}; {counted(self.n_segments, 'segment')}>"

    @classmethod
    def from_table(cls, scores: ScoreTable | JoinedScores, *, missing: Missing | str = "error") -> SegmentScores:
        """The scores that :func:`~reshuffle.read_scores` or :func:`~reshuffle.join_scores` has read.

        Examples
        --------
        >>> from reshuffle import ScoreTable, compare
        >>> table = ScoreTable("MQM", ("a", "b"), segments=[[-1, 0, -5, 0], [-5, -1, -5, -2]])
        >>> compare(metrics=SegmentScores.from_table(table), test="ar").pair("b").difference
        -1.75
        """
        either: Any = scores
        table: ScoreTable = getattr(either, "table", either)
        if not hasattr(table, "segment_ids"):
            raise InputError(
                f"expected the result of read_scores or join_scores, got {quoted(scores)}: pass dicts, arrays and data "
                "frames are SegmentScores('NAME', scores)"
            )
        if table.segments is None:
            raise InputError(f"{table.source}: expected scores of segments, got scores of systems")
        by_system = dict(zip(table.systems, table.segments, strict=True))
        higher_is_better = None if table.higher_is_better else False
        found = cls(table.name, by_system, higher_is_better, missing, table.segment_ids)
        unmatched: Mapping[str, tuple[str, ...]] = getattr(either, "unmatched", {})
        return found.without_segments(len({name for names in unmatched.values() for name in names}))

    def without_segments(self, n: int) -> SegmentScores:
        """A copy whose signature says that n segments, which not all files have, were left out."""
        found = copy(self)
        vars(found)["_n_left_out"] = n
        return found

    def _checked(self, system: str, scores: ArrayLike) -> Scores:
        """The scores of a system as floats, with NaN for missing ones."""
        what = f"{self.name}, system {system}"
        array = as_array(_with_nan(what, scores), what)
        try:
            if array.dtype.kind == "c":  # astype drops the imaginary part
                raise TypeError("they are complex")
            if array.dtype.kind in "mM":  # astype would count the units, such as nanoseconds
                raise TypeError("they are times: divide durations by a unit, such as numpy.timedelta64(1, 's')")
            if array.size and array.dtype.kind in "SU":  # astype reads numbers in strings
                float(array.flat[0])
                raise TypeError("they are strings: convert them to numbers first")
            array = array.astype(np.float64, copy=False)
        except (TypeError, ValueError, OverflowError) as error:
            if array.dtype.kind in "OUT" and isinstance(array.flat[0], str) and isinstance(error, ValueError):
                raise InputError(
                    f"{what}: expected a number for every segment, got the text {quoted(str(array.flat[0]))}: "
                    "compare(references, systems) takes texts; DataFrame.pivot makes a column for each system "
                    "of a long table"
                ) from None
            raise InputError(f"{what}: expected a number for every segment: {shortened(str(error), 80)}") from None
        if array.ndim != 1 or array.size == 0:
            # Rows that are more than the columns are taken for segments, as in a table that was not transposed.
            hint = (
                "; for several runs, pass a list with the scores of each, or the transpose (.T) of an array with a "
                f"column for each; with more runs than segments, name them {quoted(output_name(system, 0))}, "
                f"{quoted(output_name(system, 1))} …"
                if array.ndim == 2
                else ""
            )
            got = f"the single value {quoted(array.item())}" if array.ndim == 0 else f"shape {array.shape}"
            got = "none" if scores is None or array.shape == (0,) else got
            raise InputError(f"{what}: expected a number for every segment, got {got}{hint}")
        are_scores = np.abs(array) <= LARGEST_SCORE
        if are_scores.all():
            return array
        is_missing = np.isnan(array)
        bad = np.flatnonzero(~are_scores if self.missing == "error" else ~are_scores & ~is_missing)
        if bad.size:
            place = {"what": what, "system": system, "segment": int(bad[0]) + 1}
            if is_missing[bad[0]]:
                pairwise = Argument("missing", ("pairwise",))
                raise InputError(MISSING_MESSAGE, **place, problem="the score is missing", missing=pairwise)
            problem = f"expected {expected_score(array[bad[0]])}, got {array[bad[0]]}"
            raise InputError(SEGMENT_MESSAGE, **place, problem=problem)
        if is_missing.all():
            raise InputError(f"{what}: all {len(array):,} scores are missing, at least one is needed")
        return array

    def reported_segment_scores(self, names: Sequence[str], counts: Counts) -> Scores:
        """See :meth:`Metric.reported_segment_scores`. These are the user's scores, unchanged; NaN if missing."""
        if self._unrounded:
            return np.stack([self._unrounded[name] for name in names])
        counts = counts[: len(names)]  # other rows are for pairs
        return np.where(counts[..., 1] > 0, self.segment_scores(counts), np.nan)

    def _too_large_error(self, system: str, arrays: Mapping[str, Scores]) -> InputError:
        """The error for scores so large that the resolution is too coarse for those of ``system``."""
        own = float(np.nanmax(np.abs(arrays[system])))
        largest = max(arrays, key=lambda name: float(np.nanmax(np.abs(arrays[name]))))
        segment = int(np.nanargmax(np.abs(arrays[largest])))
        return InputError(
            f"{self.name}, system {largest}, segment {segment + 1}: {arrays[largest][segment]:g} is too large. All "
            f"scores are stored with the same resolution, and those of system {system}, at most {own:g} in magnitude, "
            "would be rounded too much. Is the large score a mistake?"
        )

    def without_data(self) -> Metric:
        return Mean(self.name, self._steps, bool(self.higher_is_better))

    def signature(self, n_references: str | None = None) -> str:
        """See :meth:`Metric.signature`. The scores do not depend on references, so none are shown."""
        missing = [] if self.missing == "error" else [("missing", str(self.missing))]
        left_out = [("unmatched", f"drop[{self._n_left_out}]")] if self._n_left_out else []
        return signature.for_metric(self.name, [*self.core.signature, *missing, *left_out])


@dataclass(frozen=True)
class Mean(InCore):
    """The formula of :class:`SegmentScores`, without scores.

    ``steps`` is the number of steps of the resolution in 1.
    """

    name: str
    steps: float
    higher_is_better: bool = True
    core: _core.Metric = field(init=False, repr=False, compare=False)

    is_mean = True

    def __post_init__(self) -> None:
        vars(self)["core"] = _core.Metric.mean(self.name, self.steps, self.higher_is_better)

    def signature(self, n_references: str | None = None) -> str:
        return signature.for_metric(self.name, self.core.signature)


def _with_nan(what: str, scores: Any) -> Any:
    """The scores with NaN for those that are masked, null or None."""
    is_missing = missing(scores)
    if is_missing is None or is_missing.ndim != 1 or not is_missing.any():
        return scores
    return [math.nan if lacks else value for value, lacks in zip(segment_list(what, scores), is_missing, strict=True)]


@with_hints
@dataclass(frozen=True, eq=False)
class FromCounts(CountsOfFormula):
    """User-supplied integer counts for every segment, and the formula that scores their sums.

    Parameters
    ----------
    name : str
        Name of the metric in tables and signatures.
    counts : mapping of str to (S, K) integers, or sequence of (S, K) integers for each system
        The counts of each system, as an array or as a table of K columns. Systems without names are called
        ``system 1``, ``system 2`` … For a formula as text they may be real numbers: see Notes.
    scoring : str, Metric or function
        A formula of the columns, such as ``"100 * edits / chars"`` (see Notes); a metric whose formula to use, such as
        ``"bleu"``; or a function of summed counts, shape (…, K), that returns scores, shape (…), and is
        called on thousands of replicates at once.
    higher_is_better : bool, optional
        By default that of the metric in ``scoring``, and True for a formula or a function.
    columns : sequence of K str, optional
        The names of the columns of arrays, for a formula. Tables have names.

    Raises
    ------
    InputError
        If counts are not integers or are missing (masked, null, None), if shapes differ, or if a formula cannot be
        read.

    Notes
    -----
    A formula as text consists of numbers, ``+ - * / ** ^ ( )``, comparisons, names of columns (in backquotes if they
    are not identifiers), and these functions: ``log``, ``exp``, ``sqrt``, ``abs``, ``min``, ``max``, ``sum``,
    ``mean``, ``where(condition, a, b)``, ``ratio(a, b)`` = a/b, ``perplexity(a, b)`` = exp(a/b), ``f(tp, fp, fn)``,
    ``f_beta(tp, fp, fn, beta)`` and ``macro_f(tp, fp, fn, tp, fp, fn, …)``. Divisions by 0 are 0. ``segments`` is the
    number of segments, unless a column has that name. Nothing else is allowed, so formulas from strangers are
    safe to run. Sums without a finite value, such as the logarithm of 0, are an error, also in replicates.

    Such a formula is evaluated in the core, on all threads. It has exact derivatives, and is written to signatures and
    files of counts; those of a function are approximated by differences, and it is written to neither. Columns that a
    formula as text does not use are left out. Real numbers, such as logarithms of probabilities, become integers in
    multiples of a resolution, which is in the signature, as for :class:`SegmentScores`.

    Examples
    --------
    A character error rate:

    >>> counts = {"a": {"edits": [3, 0], "chars": [12, 8]}, "b": {"edits": [5, 1], "chars": [12, 8]}}
    >>> rate = FromCounts("CER", counts, "100 * edits / chars", higher_is_better=False)
    >>> rate.signature()
    'CER|counts:given|formula:100*edits/chars'
    >>> from reshuffle import compare
    >>> compare(metrics=rate, test="ar").comparisons[0].difference
    15.0

    Precision, recall and F from three counts, by a function:

    >>> counts = {"a": [[3, 5, 4], [0, 2, 2]], "b": [[4, 4, 4], [1, 2, 2]]}
    >>> f1 = FromCounts("F1", counts, f_score)
    >>> compare(metrics=f1).comparisons[0].difference
    37.179487179487175
    """

    name: str
    counts: Mapping[str, Any] = field(repr=False)
    scoring: MetricLike
    higher_is_better: bool | None = None  # type: ignore[assignment]
    columns: Sequence[str] | None = None  # type: ignore[assignment]
    formula: Metric = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_text("the name of a metric", self.name)
        if self.higher_is_better is not None:
            check_flag("higher_is_better", self.higher_is_better)
        vars(self)["index"] = index_of(self.counts)
        tables = dict(_items_by_system(self.name, self.counts))
        given: Expression | None = None
        if isinstance(self.scoring, str) and not has_formula(self.scoring.partition(":")[0]):
            lower = self.higher_is_better is False
            given, tables = named_counts(self.name, self.scoring, tables, self.columns, lower)
        counts = {system: self._checked(system, rows) for system, rows in tables.items()}
        if not counts:
            raise InputError(f"{self.name}: no counts, at least one system is needed")
        check_same_length(self.name, counts)
        for system, rows in counts.items():
            check_sums(rows[None], f"{self.name}, system {system}: ")
        if given is not None:
            note_divisions(given, counts)
        widths = {system: rows.shape[1] for system, rows in counts.items()}
        if len(set(widths.values())) > 1:
            shown = ", ".join(f"{system} has {width}" for system, width in widths.items())
            raise InputError(f"{self.name}: numbers of counts per segment differ: {shown}")
        width = next(iter(widths.values()))
        formula = given or resolve(self.scoring).renamed(self.name)
        columns = formula.columns
        if columns is not None and len(columns) != width:
            raise InputError(
                f"{self.name}: {formula.name} needs {len(columns)} counts per segment, got {width}; "
                f"expected {', '.join(columns)}"
            )
        vars(self).update(counts=counts, formula=formula, columns=columns)
        self._take_over(formula, "core", "decimals")
        if self.higher_is_better is None:
            self._take_over(formula, "higher_is_better")
            if given is not None or not isinstance(self.scoring, str | Metric):
                check_direction(self.name)

    def _checked(self, system: str, rows: ArrayLike) -> Counts:
        what = f"{self.name}, system {system}"
        check_present(what, rows)
        return np.ascontiguousarray(counts_array(rows, what, ndim=2))

    def __reduce__(self) -> tuple[Any, ...]:
        scoring = self.formula if isinstance(self.formula, Expression) else self.scoring
        return type(self), (self.name, self.counts, scoring, self.higher_is_better)

    def signature(self, n_references: str | None = None) -> str:
        """See :meth:`Metric.signature`. It includes the signature of the formula, without a number of references."""
        return signature.for_precomputed_counts(self.name, self.formula.formula_signature())


@dataclass(frozen=True, eq=False)
class OwnTexts(Rebuilt, CountsOfFormula):
    """A metric on different texts from those of the other metrics: dependency F on parses beside BLEU on texts.

    Both must have the same segments in the same order.

    Parameters
    ----------
    metric : str or NativeMetric
    references, systems
        As for :func:`reshuffle.compare`. Systems must have the same names as the other texts.
    workers : int, optional
        Number of threads. By default all cores.

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

    metric: MetricName | str | NativeMetric
    references: Sequence[str | None] | Sequence[Sequence[str | None]] = field(repr=False)
    systems: Mapping[str, Lines] | Sequence[Lines] = field(repr=False)
    workers: int | None = field(default=None, repr=False)
    formula: NativeMetric = field(init=False, repr=False)
    counts: Mapping[str, Counts] = field(init=False, repr=False)
    _n_references: str = field(init=False, repr=False)

    def __post_init__(self) -> None:
        formula = metric(self.metric) if isinstance(self.metric, str) else self.metric
        if not isinstance(formula, NativeMetric):
            raise InputError(f"expected the name of a metric or reshuffle.metric(name), got {quoted(formula)}")
        corpus = Corpus.from_texts(self.references, self.systems)
        rows = formula.suff_stats(corpus.references, corpus.systems, workers=self.workers)
        counts = dict(zip(corpus.systems, rows, strict=True))
        vars(self).update(counts=counts, formula=formula, _n_references=corpus.n_references)
        self._take_over(formula, "core", "decimals", "name", "higher_is_better")

    def signature(self, n_references: str | None = None) -> str:
        """See :meth:`Metric.signature`. The number of references is that of these texts."""
        return self.formula.signature(self._n_references)

    def segment_signature(self, n_references: str | None = None) -> str:
        return self.formula.segment_signature(self._n_references)


def f_score(totals: NDArray[np.int64], beta: float = 1.0) -> Scores:
    """F-score in percent from summed counts of shape (…, 3): matches, items in the hypothesis, items in the reference.

    F = (1 + β²)·P·R/(β²·P + R) with precision P = matches/hypothesis and recall R = matches/reference (van Rijsbergen
    1979). It is 0 where neither side has an item. For another β pass ``functools.partial(f_score, beta=2)``.

    >>> f_score(np.array([[3, 4, 6], [0, 0, 0]]))
    array([60.,  0.])
    """
    counts, beta = totals_array(totals), check_number("beta", beta, 0)
    if counts.shape[-1] != 3:
        raise InputError(f"f_score: totals must have 3 counts in the last axis, got shape {counts.shape}")
    matches, hypothesis, reference = np.moveaxis(counts.astype(np.float64), -1, 0)
    items = hypothesis + beta**2 * reference
    return np.asarray(100 * (1 + beta**2) * matches / np.where(items == 0, 1, items))


def output_name(system: str, run: int) -> str:
    """The name of a run's output: the key of its scores in :class:`SegmentScores` and :class:`FromCounts`.

    >>> output_name("baseline", 0)
    'baseline#0'
    """
    return f"{system}#{run}"


def _runs_of(metric: str, system: str, scores: Any) -> list[tuple[str, str, Any]]:
    """The scores of each run of a system, if they are of several, else its scores; with their keys and names."""
    runs: Any = named_columns(f"{metric}, system {system}", scores)  # a table with a column for each run
    if runs is None:
        is_sequence = isinstance(scores, list | tuple) or (isinstance(scores, np.ndarray) and scores.ndim > 0)
        first: Any = scores[0] if is_sequence and len(scores) else None
        is_list = isinstance(first, list | tuple) or holds_array(first)
        shape = as_array(first, system).shape if is_list else ()
        if not shape or len(scores) > shape[0]:
            return [(system, system, scores)]
        runs = {output_name(system, run): each for run, each in enumerate(scores)}
    return [(output_name(system, run), name, each) for run, (name, each) in enumerate(runs.items())]


def runs_in(metric: str, names: Sequence[str]) -> dict[str, int]:
    """The number of runs of each system, from the names of their outputs; :class:`InputError` for other names.

    >>> runs_in("accuracy", ["old#0", "old#1", "new#0"])
    {'old': 2, 'new': 1}
    """
    found: dict[str, int] = {}
    for name in names:
        system, mark, run = name.rpartition("#")
        if not (mark and system and run.isdecimal()):
            raise InputError(
                f"{metric}: expected the scores of each run, as in {{'old': [run, run, run], 'new': [run, run, run]}}, "
                f"got those of {listed(names)}"
            )
        found[system] = found.get(system, 0) + 1
    return found


def _items_by_system(name: str, values: Any) -> list[tuple[str, Any]]:
    named = named_columns(name, values)
    if named is None:
        try:
            # Some arrays, for example those with only ``__dlpack__``, cannot be iterated over.
            is_iterable = hasattr(values, "__iter__") or hasattr(values, "__getitem__")
            named = number_systems(values if is_iterable else as_array(values, name))
            if named and all(map(np.isscalar, named.values())):
                raise InputError(
                    f"{name}: expected scores of each system, got one list of {counted(len(named), 'value')}: write "
                    "{'a': scores, 'b': others}, or pass a table with a column for each system"
                )
        except TypeError:
            raise InputError(f"{name}: expected a mapping from systems to values, got {values!r}") from None
    check_rows(f"{name}: ", named)
    return list(named.items())


def check_same_length(name: str, arrays: Mapping[str, Sized], advice: str = "") -> None:
    """:class:`InputError` unless all systems have as many segments. ``advice`` is the end of its message."""
    lengths = {system: len(array) for system, array in arrays.items()}
    if len(set(lengths.values())) > 1:
        (first, length), *others = lengths.items()
        shown = ", ".join(f"{system} has {other:,}" for system, other in others if other != length)
        segments = f"{counted(length, 'segment')}"
        raise InputError(f"{name}: {first} has {segments}, {shown}: all systems must have the same segments{advice}")


# Where -1 is an answer, as of votes that say -1, 0 or 1, it is not as rare.
MOST_FAILURES = 0.05


def _warn_of_failures(name: str, arrays: Mapping[str, Scores]) -> None:
    """Warn of a rare -1 among scores of 0 and 1, which often stands for an answer that failed."""
    for system, scores in arrays.items():
        n_failed = int((scores == -1).sum())
        if 0 < n_failed <= MOST_FAILURES * len(scores) and {*np.unique(scores[~np.isnan(scores)])} == {-1, 0, 1}:
            warn(
                f"{name}: {counted(n_failed, 'score')} of {system} {'is' if n_failed == 1 else 'are'} -1, and all "
                "others are 0 or 1: if that stands for a failed answer, write 0 for a wrong one, or nothing for a "
                "missing one"
            )


# Percentages are on average at least so many times as large as shares, even those of a much worse system.
FEWEST_TIMES = 10


def _on_two_scales(name: str, arrays: Mapping[str, Scores], higher_is_better: bool) -> str:
    """What is said if some systems have shares, and another has percentages or logarithms; else empty."""
    ranges = {system: (np.fmin.reduce(scores), np.fmax.reduce(scores)) for system, scores in arrays.items()}
    shares = next((system for system, (low, high) in ranges.items() if 0 <= low <= high <= 1 and high > 0), None)
    if shares is None:
        return ""
    for system, scores in arrays.items():
        low, high = ranges[system]
        others = f"{name}: the scores of {shares} are from 0 to 1, and those of {system}"
        if _may_be_percent(scores, arrays[shares], higher_is_better):
            return (
                f"{others} reach {high:g}: convert them to one scale; if they already are on one, divide all "
                "scores and margins by 100, which leaves p unchanged"
            )
        if _may_be_logarithms(scores, arrays[shares]):
            return (
                f"{others} are from {low:g} to {high:g}: if these are log-likelihoods, compare them alone; else divide "
                "all by 100"
            )
    return ""


def _may_be_percent(scores: Scores, shares: Scores, higher_is_better: bool) -> bool:
    """Whether scores may be percentages or ratings, while others are shares (0 to 1) of the same.

    Those of segments are 0 or 100, or means of a few of these, none of which lies strictly between 0 and 1; or means of
    many, with decimals, which are much larger than the shares. Or they are ratings from 1 to 5 or 10. Of lower scores,
    as of times, some may be so, too.
    """
    low, high = np.fmin.reduce(scores), np.fmax.reduce(scores)
    if low < 0 or not 1 < high <= 100:
        return False
    if high >= 50 and not ((scores > 0) & (scores < 1)).any():
        return True
    if not higher_is_better:
        return False
    if _has_decimals(scores):
        return bool(high >= 50 or np.nanmean(scores) >= FEWEST_TIMES * np.nanmean(shares))
    return len(scores) >= FEWEST and low >= 1 and _has_decimals(shares)


def _may_be_logarithms(scores: Scores, shares: Scores) -> bool:
    """Whether scores may be log-likelihoods (perhaps without their sign), while others are right or wrong."""
    low, high = np.fmin.reduce(scores), np.fmax.reduce(scores)
    if len(scores) < FEWEST or np.fmax.reduce(shares) <= 0.5 or not _has_decimals(scores):
        return False
    return high <= 0 or (low >= 0 and high > 1 and {*np.unique(shares[~np.isnan(shares)])} == {0, 1})


def _has_decimals(scores: Scores) -> bool:
    """Whether most scores other than 0 are not whole numbers."""
    own = scores[(scores != 0) & ~np.isnan(scores)]
    return bool((np.rint(own) != own).sum() > len(own) / 2)


# Words in the names of metrics of which lower scores are usually better.
LOWER = {
    "brier", "cer", "cost", "distance", "duration", "ece", "error", "errors", "hallucination", "hallucinations",
    "latency", "loss", "mae", "mer", "metricx", "mse", "nll", "perplexity", "ppl", "rank", "rmse", "runtime", "ter",
    "toxicity", "wer", "wil",
}  # fmt: skip
# What makes a score of an error: 1-wer, neg_loss, no errors, hallucination-free, cost_savings, error_detection_f1.
REVERSED = re.compile(
    r"-|1|neg|inv|non?(?![^\W_])|.*[- _](free|(savings?|reduction|similarity|acc|accuracy|auc|f1|precision|recall)$)"
)


def check_direction(name: str, largest: float = 1.0) -> None:
    """Warn if a metric for which higher is better by default is called like an error, unless its scores are negated.

    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     for name in ("WER", "latency_ms", "mqm errors", "1-WER", "no_errors", "error-free", "cost_savings"):
    ...         check_direction(name, 1.0)
    ...     check_direction("WER", 0.0)
    >>> [str(each.message).partition(":")[0] for each in caught]
    ['WER', 'latency_ms', 'mqm errors']
    """
    words = set(re.findall(r"[^\W\d_]+", name.casefold()))
    if largest > 0 and (words & LOWER or words == {"per"}) and not REVERSED.match(name.casefold()):
        warn(
            "{name}: higher scores count as better; for an error or a loss add {lower}; if higher is better, rename it",
            MisreadWarning,
            name=name,
            lower=Argument("higher_is_better=False", as_flag=f"--lower-is-better {name}"),
        )
