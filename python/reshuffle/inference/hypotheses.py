"""Null hypotheses, their observed statistics, and the outcomes of tests, as arrays with one element per hypothesis.

A test is a function from :class:`Observed` to :class:`Outcome`. :func:`reshuffle.inference.running.records` converts
outcomes to the public results.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import combinations
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..documented import record
from ..lazy import lazy
from ..metrics.base import Scores, tolerance
from ..resampling import Pairs, Reduction, Replicates, Sample, directed
from ..resampling.exact import MISSING
from ..resampling.histograms import HistogramArray, histograms_of_differences, null_histograms
from ..resampling.reductions import Alternative
from ..resampling.samples import columns_of
from ..resampling.schemes import Shuffling
from .pvalues import threshold

# Which hypotheses are corrected together for multiple tests. With one test set ``set`` is the same as ``all``, and
# ``sets`` the same as ``metric``.
FAMILIES: Mapping[str, str] = {
    "metric": "the pairs under each metric are a family, on each test set",
    "set": "all pairs under all metrics are a family, on each test set",
    "sets": "the pairs under each metric on all test sets are a family",
    "all": "all pairs under all metrics on all test sets are one family",
}
# The families that contain hypotheses about several test sets, and those that contain several metrics.
OVER_SETS, OVER_METRICS = ("sets", "all"), ("set", "all")
# For each family, the family of its tests on one test set.
ON_ONE_SET: Mapping[str, str] = {"metric": "metric", "set": "all", "sets": "metric", "all": "all"}


def family_size(family: str, n_pairs: int, n_metrics: int, n_sets: int = 1) -> int:
    """The number of hypotheses in each family. ``family`` is a name in :data:`FAMILIES`.

    >>> [family_size(family, 6, 4, 3) for family in FAMILIES]
    [6, 24, 18, 72]
    """
    return n_pairs * (n_metrics if family in OVER_METRICS else 1) * (n_sets if family in OVER_SETS else 1)


def pairs_of(n_systems: int, base: int | None = 0) -> Pairs:
    """The pairs of systems to compare, by their indices: each system with ``base``, or all pairs if that is None.

    They are (system, baseline), so that a positive difference means that the system scores higher.

    >>> pairs_of(3), pairs_of(3, None)
    ([(1, 0), (2, 0)], [(1, 0), (2, 0), (2, 1)])
    """
    if base is None:
        return [(y, x) for x, y in combinations(range(n_systems), 2)]
    return [(y, base) for y in range(n_systems) if y != base]


Index = NDArray[np.intp]
Integers = NDArray[np.int64]
T = TypeVar("T", bound=np.generic)


@record(slots=False, eq=False)
class Hypotheses:
    """Null hypotheses: two systems do not differ under a metric on a test set. H is the number of hypotheses."""

    pairs: Pairs
    """The pairs of systems that are compared under every metric on every test set."""
    test_set: Index
    """Shape (H,). Indices. Hypotheses are ordered by test set, then metric, then pair."""
    metric: Index
    """Shape (H,)."""
    a: Index
    """Shape (H,). The systems; or, from :meth:`in_rows_of`, the rows of the metric's sample that stand for them."""
    b: Index
    """Shape (H,)."""
    family: Index
    """Shape (H,). Hypotheses of the same family are corrected together for multiple tests."""

    @classmethod
    def from_pairs(cls, pairs: Pairs, n_metrics: int = 1, n_sets: int = 1, family: str = "metric") -> Hypotheses:
        """All pairs under all metrics on all test sets. ``family`` is a name in :data:`FAMILIES`.

        >>> hypotheses = Hypotheses.from_pairs([(1, 0), (2, 0)], n_metrics=2)
        >>> hypotheses.metric.tolist(), hypotheses.a.tolist()
        ([0, 0, 1, 1], [1, 2, 1, 2])
        >>> hypotheses.family.tolist(), Hypotheses.from_pairs([(1, 0), (2, 0)], 2, family="all").family.tolist()
        ([0, 0, 1, 1], [0, 0, 0, 0])
        >>> Hypotheses.from_pairs([(1, 0)], n_metrics=2, n_sets=2, family="sets").family.tolist()
        [0, 1, 0, 1]
        """
        column = np.repeat(np.arange(n_sets * n_metrics), len(pairs))
        test_set, metric = column // n_metrics, column % n_metrics
        a, b = columns_of(list(pairs) * (n_sets * n_metrics))
        families = {"metric": column, "set": test_set, "sets": metric, "all": np.zeros_like(column)}
        return cls(pairs, test_set, metric, a, b, families[family])

    def __len__(self) -> int:
        return len(self.metric)

    def indices(self, h: int) -> tuple[int, int, int]:
        """The metric of one hypothesis, and its systems a and b."""
        return int(self.metric[h]), int(self.a[h]), int(self.b[h])

    @lazy
    def n_sets(self) -> int:
        """The number of test sets."""
        return int(self.test_set[-1]) + 1

    def on_test_set(self, test_set: int) -> Hypotheses:
        """The hypotheses about one test set."""
        if self.n_sets == 1:
            return self
        return self.take(slice(*np.searchsorted(self.test_set, [test_set, test_set + 1])))

    def take(self, at: slice | Index) -> Hypotheses:
        """Some of the hypotheses."""
        return Hypotheses(self.pairs, self.test_set[at], self.metric[at], self.a[at], self.b[at], self.family[at])

    def in_rows_of(self, samples: Sequence[Sample]) -> Hypotheses:
        """The hypotheses about one test set, with the rows in which its samples compare each pair as ``a`` and ``b``.

        They are the systems themselves, unless scores are missing (:meth:`Sample.rows_of
        <reshuffle.resampling.samples.Sample.rows_of>`).
        """
        rows = [sample.rows_of(self.pairs) for sample in samples]
        if rows.count(self.pairs) == len(rows):
            return self
        a, b = columns_of([pair for own in rows for pair in own])
        return replace(self, a=a, b=b)

    def families(self) -> list[slice]:
        """The range of indices of each family, for the hypotheses about one test set."""
        ends = [*(np.flatnonzero(np.diff(self.family)) + 1).tolist(), len(self)]
        return [slice(first, last) for first, last in zip([0, *ends], ends, strict=False)]

    @property
    def family_of_metric(self) -> Index:
        """The family of the pairs under each metric, for the hypotheses about one test set: (metrics,)."""
        return np.asarray(self.table(self.family)[:, 0])

    def table(self, values: NDArray[T]) -> NDArray[T]:
        """(H,) values for the hypotheses about one test set, reshaped to (metrics, pairs)."""
        return values.reshape(-1, len(self.pairs))


@dataclass(eq=False)
class Observed:
    """The observed data for the hypotheses about one test set, and the options of the test.

    ``alternative`` is the requested one. Under a metric it is that in ``alternatives``, because ``better`` and
    ``worse`` are ``greater`` or ``less`` there.

    ``extra`` are reductions of the test's shuffles that an adjustment needs. ``ties`` is the tie rule: ``>=`` if a
    replicate exactly as extreme as the observed difference counts, ``>`` if not. ``tails`` is 2 if p is twice the
    share of the smaller tail, else 1. ``every_statistic`` says whether an adjustment or an interval will read the
    statistics of all replicates, and ``histograms`` whether the test has to return :attr:`Outcome.null`. For tests with
    a margin, ``margins`` has that of each metric, and their intervals have the confidence level 1 − 2·``alpha``.
    """

    replicates: Replicates
    hypotheses: Hypotheses
    alternative: str
    shuffling: Shuffling
    extra: Sequence[Reduction] = ()
    tails: int = 1
    ties: str = ">="
    every_statistic: bool = False
    histograms: bool = False
    margins: Sequence[float] = ()
    alpha: float = 0.05

    @lazy
    def alternatives(self) -> list[str]:
        """The alternative under each metric."""
        return [directed(self.alternative, sample.metric.higher_is_better) for sample in self.replicates.samples]

    @lazy
    def each_alternative(self) -> NDArray[np.str_]:
        """The alternative of each hypothesis: (H,)."""
        return np.array(self.alternatives)[self.hypotheses.metric]

    @property
    def one_or_each_alternative(self) -> Alternative:
        """The alternative of all hypotheses; that of each, (H,), if there are several."""
        # A name costs less than an array of names, and a test of few replicates has little else to do.
        return self.alternatives[0] if len(set(self.alternatives)) == 1 else self.each_alternative

    @lazy
    def _scores(self) -> tuple[Scores, Scores]:
        """The scores of a, and those of b: (H,) each."""
        scores = [sample.scores for sample in self.replicates.samples]
        a, b = self.hypotheses.a, self.hypotheses.b
        if len(scores) == 1:
            return scores[0][a], scores[0][b]
        # With missing scores, samples have different numbers of rows.
        table = np.full((len(scores), max(map(len, scores))), np.nan)
        for row, own in zip(table, scores, strict=True):
            row[: len(own)] = own
        return table[self.hypotheses.metric, a], table[self.hypotheses.metric, b]

    @lazy
    def statistic(self) -> Scores:
        """t = score(a) − score(b): (H,)."""
        a, b = self._scores
        difference: Scores = a - b
        return difference

    @lazy
    def thresholds(self) -> Scores:
        """The values that replicates must reach to count, (H,): see :func:`reshuffle.inference.pvalues.threshold`."""
        tolerances = self.tolerances if self.ties == ">=" else -self.tolerances
        return threshold(self.statistic, tolerances, self.one_or_each_alternative)

    @lazy
    def tolerances(self) -> Scores:
        """How far a difference may lie from another one to count as equal to it: (H,)."""
        return tolerance(*self._scores)

    def drawn_differences(self, hypothesis: int) -> Scores:
        """score(a) − score(b) on every bootstrap draw: (R,)."""
        m, a, b = self.hypotheses.indices(hypothesis)
        scores = self.replicates.draws[m]
        difference: Scores = scores[a] - scores[b]
        return difference

    def null_distributions_of_draws(self) -> HistogramArray:
        """The null distributions of a bootstrap test, (H,): the draws of each difference, centred on 0."""
        hypotheses, replicates = self.hypotheses, self.replicates
        found = []
        for m, scores in enumerate(replicates.draws):
            of_metric = hypotheses.metric == m
            pairs = list(zip(hypotheses.a[of_metric].tolist(), hypotheses.b[of_metric].tolist(), strict=True))
            found.append(histograms_of_differences(scores, pairs, self.statistic[of_metric], replicates.threads))
        return null_histograms(np.concatenate(found), self.statistic)


@dataclass(eq=False)
class ObservedPairs(Observed):
    """Observed data of many pairs of systems, each with replicates of its own, that the core has scored.

    ``scores`` are those of both systems of each pair under each metric, (metrics, pairs, 2), and ``drawn`` those on all
    draws, (metrics, pairs, 2, R), if there are any. Of ``replicates`` only their number and the metrics are read. Pair
    p of the hypotheses is (2p, 2p + 1).
    """

    scores: Scores = field(kw_only=True)
    drawn: Scores | None = field(default=None, kw_only=True)

    @lazy
    def _scores(self) -> tuple[Scores, Scores]:
        a, b = np.ascontiguousarray(self.scores.reshape(-1, 2).T)
        return a, b

    def drawn_differences(self, hypothesis: int) -> Scores:
        """See :meth:`Observed.drawn_differences`."""
        assert self.drawn is not None
        a, b = self.drawn[divmod(hypothesis, self.drawn.shape[1])]
        return np.asarray(a - b)


# What stands for a missing value in the columns of an outcome.
REALS, COUNTS, NAMES = {"missing": np.nan}, {"missing": MISSING}, {"missing": ""}
FLAGS, TAILS, HISTOGRAMS = {"missing": False}, {"missing": 1}, {"missing": None}


@dataclass(eq=False)
class Outcome:
    """The outcome of a test for each hypothesis. A column that is the same for all may be one value."""

    statistic: Scores = field(metadata=REALS)
    """Shape (H,). score(a) − score(b), and its p-value."""
    pvalue: Scores = field(metadata=REALS)
    """Shape (H,)."""
    exceedances: Integers = field(metadata=COUNTS)
    """Shape (H,). The number of replicates at least as extreme as the observed difference, and of all replicates;
    MISSING if p is not a proportion of replicates. For a test that doubles the smaller tail, the number in that tail.
    """
    n_resamples: Integers | int = field(metadata=COUNTS)
    """Shape (H,)."""
    adjusted: Scores | None = field(default=None, metadata=REALS)
    """Shape (H,). p adjusted for all hypotheses of the family."""
    test: NDArray[np.str_] | str | None = field(default=None, metadata=NAMES)
    """Shape (H,). The name of the test, if another one than the plan's was used; else empty."""
    scheme: NDArray[np.str_] | str | None = field(default=None, metadata=NAMES)
    """Shape (H,). The scheme of the shuffles; empty for tests without any."""
    bits: Integers | int | None = field(default=None, metadata=COUNTS)
    """Shape (H,). The logarithm to base 2 of the number of shuffles of ``subgroup`` and ``exact``; MISSING for other
    schemes.
    """
    stopped: NDArray[np.bool_] | None = field(default=None, metadata=FLAGS)
    """Shape (H,). Whether a stopping rule ended the test."""
    wins: Integers | None = field(default=None, metadata=COUNTS)
    """Shape (H,). The number of draws in which a scored higher than b, and in which the scores were equal."""
    ties: Integers | None = field(default=None, metadata=COUNTS)
    """Shape (H,)."""
    tails: Integers | int | None = field(default=None, metadata=TAILS)
    """Shape (H,). 2 where p is twice the share of the smaller tail, else 1; None if it is :attr:`Observed.tails`
    everywhere.
    """
    standard_error: Scores | None = field(default=None, metadata=REALS)
    """Shape (H,). The standard error that the difference was divided by, NaN if it was not."""
    low: Scores | None = field(default=None, metadata=REALS)
    """Shape (H,). The ends of confidence intervals of the differences: simultaneous ones, or those of tests with a
    margin.
    """
    high: Scores | None = field(default=None, metadata=REALS)
    """Shape (H,)."""
    null: HistogramArray | None = field(default=None, metadata=HISTOGRAMS)
    """Shape (H,). The null distributions, if they were requested and the test has replicates."""
    extra: Sequence[Any] = ()
    """The results of :attr:`Observed.extra`, each with one row per metric."""

    @classmethod
    def concatenate(cls, outcomes: Sequence[Outcome]) -> Outcome:
        """The outcomes of one test for several groups of hypotheses, without ``extra``."""

        def column(name: str, missing: object) -> Any:
            parts = [getattr(outcome, name) for outcome in outcomes]
            if all(part is None for part in parts):
                return None
            filled = [missing if part is None else part for part in parts]
            return np.concatenate([outcome.each(part) for outcome, part in zip(outcomes, filled, strict=True)])

        return cls(**{name: column(name, missing) for name, missing in COLUMNS.items()})

    def take(self, indices: NDArray[np.intp]) -> Outcome:
        """The outcomes of the hypotheses with these indices, in their order, without ``extra``."""
        columns: dict[str, Any] = {name: getattr(self, name) for name in COLUMNS}
        taken: dict[str, Any] = {
            name: column[indices] if isinstance(column, np.ndarray) else column for name, column in columns.items()
        }
        return Outcome(**taken)

    def each(self, column: Any) -> NDArray[Any]:
        """A column with a value for each hypothesis, also where it is the same for all: (H,)."""
        return np.broadcast_to(column, len(self.pvalue))

    def with_rows(self, at: Index, others: Outcome) -> Outcome:
        """This outcome, but for the hypotheses ``at`` with what others have, in their order."""
        rows = np.arange(len(self.pvalue))
        rows[at] = len(rows) + np.arange(len(at))
        return replace(Outcome.concatenate([self, others]).take(rows), extra=self.extra)


# The columns of an outcome, and the value that stands for a missing one.
COLUMNS: dict[str, object] = {each.name: each.metadata["missing"] for each in fields(Outcome) if each.metadata}
