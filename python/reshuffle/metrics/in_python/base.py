"""What metrics that are counted in Python share. This module does not import numpy."""

from __future__ import annotations

import string
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from ...errors import SEGMENT_MESSAGE, InputError, quoted
from ..registry import MetricSpec

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Options = Mapping[str, Any]

# With at most so many labels, formulas are within the length that the core allows.
MOST_LABELS = 190
# What names of columns begin with: without f, they are not the names of functions in formulas.
FIRST_LETTERS = string.ascii_letters.replace("f", "")


def variable(column: int) -> str:
    """The name of a column in formulas: short, because a formula has at most 4,096 characters.

    >>> variable(0), variable(51), variable(2702)
    ('a', 'aa', 'ZZ')
    """
    if column < len(FIRST_LETTERS):
        return FIRST_LETTERS[column]
    first, second = divmod(column - len(FIRST_LETTERS), len(string.ascii_letters))
    return FIRST_LETTERS[first] + string.ascii_letters[second]


@dataclass(frozen=True, kw_only=True)
class Spec(MetricSpec):
    """A metric that is counted in Python, by the name after ``-m``."""

    shown: str
    """Its name in reports."""
    counts: str
    """What is counted of a segment, for people."""
    count: Callable[[Texts, Options], Found]
    fixed: Sequence[tuple[str, str]] = ()
    """What the signature shows before the options: names and values."""
    formula: Callable[[Sequence[str], Options], str] | None = None
    """The formula of sums, from the names of the counts; column i is called ``variable(i)`` there. None for a mean."""
    details: Callable[[Sequence[str], Sequence[int]], dict[str, float]] = lambda columns, totals: {}
    """What a report shows beside the score, from the names of the counts and their sums."""
    uses_documents: bool = False
    """Whether the counts depend on the documents."""
    steps: float = 1.0
    """Scores of a mean are rounded to multiples of 1/steps, so that sums are exact."""

    def signature(self, options: Options) -> list[tuple[str, str]]:
        """The part of the signature for these options, which are all of the metric."""
        return [*self.fixed, *((name, value) for name, value in options.items() if value is not None)]


@dataclass(frozen=True)
class Found:
    """The names of the K counts, and the counts of each system, (S, K); for a mean, the score of each segment, (S,)."""

    columns: Sequence[str]
    counts: Mapping[str, NDArray[np.generic]]


@dataclass(frozen=True)
class Texts:
    """What is counted: columns of references, outputs, and the id of each segment's document, if it has one."""

    metric: str
    references: Sequence[Sequence[str | None]]
    systems: Mapping[str, Sequence[str]]
    documents: Sequence[object] | NDArray[Any] | None = None

    def __post_init__(self) -> None:
        for i, column in enumerate(self.references, 1):
            self._check(f"reference {i}", column, True)
        for name, lines in self.systems.items():
            self._check(name, lines, False)

    def _check(self, what: str, lines: Sequence[object], may_be_missing: bool) -> None:
        if {*map(type, lines)} <= ({str, type(None)} if may_be_missing else {str}):
            return
        for segment, line in enumerate(lines):
            if not isinstance(line, str) and not (may_be_missing and line is None):
                self.fail(what, segment, f"expected a string, got {quoted(line)}")

    @property
    def only_reference(self) -> list[str]:
        """The reference of each segment; :class:`InputError` unless there is exactly one."""
        if len(self.references) != 1:
            raise InputError(
                f"{self.metric} compares with one label for each segment, got {len(self.references)} columns of "
                "references: accuracy, exact and f1 accept several"
            )
        for segment, line in enumerate(self.references[0]):
            if line is None:
                self.fail("the reference", segment, "the label is missing")
        return [line for line in self.references[0] if line is not None]

    def check_labels(self, labels: Sequence[str]) -> None:
        """Raise :class:`InputError` for more different labels than can be counted: perhaps the lines are no labels."""
        if len(labels) > MOST_LABELS:
            raise InputError(
                f"{self.metric}: expected at most {MOST_LABELS} different labels, got {len(labels):,}, such as "
                f"{quoted(labels[0])}: a line is a label"
            )

    def fail(self, what: str, segment: int, problem: str) -> NoReturn:
        """Raise :class:`InputError` for a segment, counted from 0."""
        raise InputError(SEGMENT_MESSAGE, what=f"{self.metric}, {what}", segment=segment + 1, problem=problem)
