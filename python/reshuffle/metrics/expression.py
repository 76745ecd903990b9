"""Formulas of named counts, written as text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from .. import _core, signature
from .base import Counts, InCore, core_details

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
