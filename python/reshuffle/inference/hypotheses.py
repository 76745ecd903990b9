"""Null hypotheses, and what was found out about them, as arrays with a place for each hypothesis.

Tests fill an :class:`Outcome` in; :mod:`reshuffle.inference.significance` makes the public records of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..metrics.base import Scores
from ..resampling import Pairs
from ..resampling.schemes import NONE

__all__ = ["COLUMNS", "Hypotheses", "Outcome"]

Index = NDArray[np.intp]
Integers = NDArray[np.int64]
T = TypeVar("T", bound=np.generic)


@dataclass(frozen=True, eq=False)
class Hypotheses:
    """That systems a and b do not differ under a metric on a test set, for each place of the arrays, all (H,).

    ``systems`` holds a and b, (2, H).

    They come test set by test set, metric by metric and pair by pair, since all metrics are resampled together for all
    ``pairs``. Those of one ``family`` are corrected together: adjusted p control the chance of any false alarm in it.
    """

    pairs: Pairs
    test_set: Index
    metric: Index
    systems: Index
    family: Index

    @classmethod
    def of_pairs(cls, pairs: Pairs, n_metrics: int = 1, n_sets: int = 1) -> Hypotheses:
        """All pairs under all metrics on all test sets; those of a metric on a test set are a family.

        >>> hypotheses = Hypotheses.of_pairs([(1, 0), (2, 0)], n_metrics=2)
        >>> hypotheses.metric.tolist(), hypotheses.a.tolist()
        ([0, 0, 1, 1], [1, 2, 1, 2])
        """
        family = np.repeat(np.arange(n_sets * n_metrics), len(pairs))
        systems = np.array(list(pairs) * (n_sets * n_metrics), dtype=np.intp).reshape(-1, 2).T
        return cls(pairs, family // n_metrics, family % n_metrics, systems, family)

    @property
    def a(self) -> Index:
        """The first system of each."""
        return np.asarray(self.systems[0])

    @property
    def b(self) -> Index:
        """The second one."""
        return np.asarray(self.systems[1])

    def __len__(self) -> int:
        return len(self.metric)

    @property
    def n_sets(self) -> int:
        """How many test sets there are."""
        return int(self.test_set[-1]) + 1

    def of_set(self, test_set: int) -> Hypotheses:
        """Those about one test set."""
        if self.n_sets == 1:
            return self
        at = slice(*np.searchsorted(self.test_set, [test_set, test_set + 1]))
        return Hypotheses(self.pairs, self.test_set[at], self.metric[at], self.systems[:, at], self.family[at])

    def families(self) -> list[slice]:
        """The places of each family, which lie side by side."""
        ends = [*np.flatnonzero(np.diff(self.family)) + 1, len(self)]
        return [slice(first, last) for first, last in zip([0, *ends], ends, strict=False)]

    def table(self, values: NDArray[T]) -> NDArray[T]:
        """Values of the hypotheses about one test set as an array of (metrics, pairs)."""
        return values.reshape(-1, len(self.pairs))


@dataclass(frozen=True, eq=False)
class Outcome:
    """What was found about each hypothesis.

    Attributes
    ----------
    statistic, pvalue : (H,) ndarray of float
        score(a) − score(b), and its p.
    exceedances, n_resamples : (H,) ndarray of int
        Replicates at least as extreme as what was observed, and how many were looked at; NONE where nothing was counted
        one by one.
    adjusted : (H,) ndarray of float, or None
        p adjusted for all hypotheses of the family.
    scheme : (H,) ndarray of str, or None
        How shuffles were gone through.
    bits : (H,) ndarray of int, or None
        Of the schemes whose number of shuffles is a power of two, which; else NONE.
    by_rule : (H,) ndarray of bool, or None
        Did a rule stop the shuffles?
    wins, ties : (H,) ndarray of int, or None
        Draws in which a scored higher than b, and in which they were equal.
    kept : sequence
        What else was asked for of the shuffles, by (metrics, pairs).
    """

    statistic: Scores
    pvalue: Scores
    exceedances: Integers
    n_resamples: Integers
    adjusted: Scores | None = None
    scheme: NDArray[np.str_] | None = None
    bits: Integers | None = None
    by_rule: NDArray[np.bool_] | None = None
    wins: Integers | None = None
    ties: Integers | None = None
    kept: Sequence[Any] = ()

    @classmethod
    def joined(cls, outcomes: Sequence[Outcome]) -> Outcome:
        """The outcomes of one test, one after the other; what else was kept is left out."""

        def column(name: str, filled: object) -> Any:
            parts = [getattr(outcome, name) for outcome in outcomes]
            if all(part is None for part in parts):
                return None
            sizes = [len(outcome.pvalue) for outcome in outcomes]
            whole = [np.full(n, filled) if part is None else part for n, part in zip(sizes, parts, strict=True)]
            return np.concatenate(whole)

        return cls(**{name: column(name, filled) for name, filled in COLUMNS.items()})

    def at(self, places: NDArray[np.intp]) -> Outcome:
        """The same in another order, or some of it."""
        columns: dict[str, Any] = {name: getattr(self, name) for name in COLUMNS}
        moved: dict[str, Any] = {name: None if column is None else column[places] for name, column in columns.items()}
        return Outcome(**moved)


# The columns, and what stands for a value in those that not all tests have.
COLUMNS: dict[str, object] = {
    "statistic": np.nan,
    "pvalue": np.nan,
    "exceedances": NONE,
    "n_resamples": NONE,
    "adjusted": np.nan,
    "scheme": "",
    "bits": NONE,
    "by_rule": False,
    "wins": NONE,
    "ties": NONE,
}
