"""Formulas of named counts, written as text, and the counts that they use from tables with names of columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .. import _core, signature
from ..data.arrays import as_array
from ..data.columns import named_columns
from ..errors import SEGMENT_MESSAGE, InputError, listed, quoted, warn
from .base import Counts, InCore, check_present, core_details
from .given import MAX_RELATIVE_ERROR, steps_of
from .named import resolve

# In a formula, the number of segments, if no column has that name: `errors / segments` is a mean.
SEGMENTS = "segments"


@dataclass(frozen=True)
class Expression(InCore):
    """The formula of a metric as text: ``100 * edits / chars``, with names of columns of counts.

    :class:`~reshuffle.FromCounts` says what a formula may consist of.

    Attributes
    ----------
    text : str
        The formula, without the spaces that it was written with.
    names : tuple of str
        Columns that the formula may use.
    scales : tuple of float
        Of each of them, the number of steps of its resolution in 1; empty if all have integers.
    columns : list of str
        The columns that it uses.

    Raises
    ------
    InputError
        If the text is not a formula of these columns. The error has the column in the text.

    Examples
    --------
    >>> rate = Expression("CER", "100 * edits / chars", ("edits", "chars", "words"), higher_is_better=False)
    >>> rate.columns, float(rate.score([3, 12])), rate.signature()
    (['edits', 'chars'], 25.0, 'CER|formula:100*edits/chars')
    >>> Expression("CER", "100 * edits / open(chars)", ("edits", "chars"))
    Traceback (most recent call last):
    reshuffle.errors.InputError: CER: at character 15 of the formula: expected a function (log, exp, sqrt, abs, min, max, sum, mean, where, ratio, perplexity, f, f_beta, macro_f), got "open"
    """  # noqa: E501 (a message)

    # In files of counts, instead of the name of a metric.
    key: ClassVar[str] = "formula"

    name: str
    text: str
    names: tuple[str, ...]
    scales: tuple[float, ...] = ()
    higher_is_better: bool = True
    core: _core.Metric = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        columns = dict(zip(self.names, self.scales or [1.0] * len(self.names), strict=True))
        columns.setdefault(SEGMENTS, 1.0)
        core = _core.Metric.expression(self.name, self.text, list(columns.items()), self.higher_is_better)
        vars(self).update(core=core, text=dict(core.signature)["formula"])

    @property
    def columns(self) -> list[str]:
        """The columns that the formula uses, in the order of the table."""
        return self.core.columns

    @property
    def options(self) -> Mapping[str, Any]:
        """What the formula is made from, besides its name and the names of its columns."""
        scales = dict(zip(self.names, self.scales, strict=False))
        used = [scales.get(column, 1.0) for column in self.columns]
        return {"text": self.text, "scales": used, "higher_is_better": self.higher_is_better}

    def details(self, totals: Counts) -> Mapping[str, float]:
        """See :meth:`Metric.details`: the sums."""
        return core_details(self.core, totals)

    def signature(self, n_references: str | None = None) -> str:
        return signature.for_metric(self.name, self.core.signature)

    def formula_signature(self) -> str:
        return "|".join(map(":".join, self.core.signature))


def named_counts(
    name: str, text: str, tables: Mapping[str, Any], names: Sequence[str] | None, lower_is_better: bool
) -> tuple[Expression, dict[str, Counts]]:
    """The formula of a metric, and the counts of each system that it uses.

    ``names`` are those of the columns of arrays; tables have their own. Columns of real numbers become integers.
    Raises :class:`InputError` for columns without names or with different ones, and for what is no number.
    """
    columns = {system: _columns(f"{name}, system {system}", text, rows, names) for system, rows in tables.items()}
    (first, expected), *others = ((system, tuple(own)) for system, own in columns.items())
    for system, own in others:
        if own != expected:
            raise InputError(f"{name}: the columns of {first} are {listed(expected)}, those of {system} {listed(own)}")
    used = Expression(name, text, expected, (), not lower_is_better).columns
    counts: dict[str, list[NDArray[Any]]] = {system: [] for system in columns}
    scales = dict.fromkeys(expected, 1.0)
    for column in used:
        if column == SEGMENTS and SEGMENTS not in expected:
            continue
        numbers = {
            system: _numbers(f"{name}, system {system}, column {column}", own[column])
            for system, own in columns.items()
        }
        scales[column] = _steps(f"{name}, column {column}", list(numbers.values()))
        for system, values in numbers.items():
            counts[system].append(values if scales[column] == 1 else np.rint(values * scales[column]).astype(np.int64))
    if SEGMENTS in used and SEGMENTS not in expected:
        for of_system in counts.values():
            n_segments = len(of_system[0]) if of_system else len(next(iter(columns.values()))[expected[0]])
            of_system.append(np.ones(n_segments, dtype=np.int64))
    formula = Expression(name, text, expected, tuple(scales.values()), not lower_is_better)
    return formula, {system: np.stack(own, axis=1) for system, own in counts.items()}


def note_divisions(formula: Expression, counts: Mapping[str, Counts]) -> None:
    """Warn of systems whose own score comes from a division by 0. Single draws may divide by 0 without a warning."""
    sums = {system: rows.sum(axis=0) for system, rows in counts.items()}
    found = [system for system, totals in sums.items() if formula.core.divides_by_zero(totals)]
    if found:
        totals = ", ".join(f"{column} = {total:g}" for column, total in formula.details(sums[found[0]]).items())
        whose = f"{listed(found)} ({found[0]}: {totals})" if len(found) > 1 else f"{found[0]} ({totals})"
        warn(f"{formula.name}: the formula divides by 0, which counts as 0, for the sums of {whose}")


def _columns(what: str, text: str, rows: Any, names: Sequence[str] | None) -> Mapping[str, Any]:
    """The columns of a table or an array, by name."""
    found = named_columns(what, rows) if names is None else None
    if found is not None:
        return found
    if names is None:
        if text.isidentifier():
            resolve(text)  # the error of a misspelled name
        raise InputError(
            f"{what}: {quoted(text)} is not the name of a metric, and a formula needs names of columns: pass tables, "
            "or columns=[…]"
        )
    array = as_array(rows, what)
    if isinstance(names, str) or array.ndim != 2 or array.shape[1] != len(names):
        raise InputError(f"{what}: expected a column for each of {listed(names)}, got shape {array.shape}")
    return dict(zip(map(str, names), array.T, strict=True))


def _numbers(what: str, values: Any) -> NDArray[Any]:
    """A column of finite numbers."""
    check_present(what, values)
    array = as_array(values, what)
    if array.dtype.kind not in "biuf" or array.ndim != 1 or not array.size:
        raise InputError(f"{what}: expected a number for every segment, got {quoted(values)}")
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        segment = int(np.flatnonzero(~np.isfinite(array))[0])
        problem = f"expected a finite number, got {array[segment]}"
        raise InputError(SEGMENT_MESSAGE, what=what, segment=segment + 1, problem=problem)
    return array


def _steps(what: str, numbers: Sequence[NDArray[Any]]) -> float:
    """The number of steps of a column's resolution in 1: 1 for whole numbers."""
    values = np.concatenate([each.ravel() for each in numbers]).astype(np.float64)
    if all(each.dtype.kind in "biu" for each in numbers) or np.array_equal(values, np.rint(values)):
        return 1.0
    steps = steps_of(values, max(map(len, numbers)))
    if np.abs(np.rint(values * steps) / steps - values).max() > MAX_RELATIVE_ERROR * np.abs(values).max():
        raise InputError(f"{what}: its numbers differ too much in size to be added exactly")
    return steps
