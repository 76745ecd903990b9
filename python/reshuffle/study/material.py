"""What studies work on: the counts of real systems, from the arguments of a public function or of a command."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..errors import InputError
from ..inference.hypotheses import pairs_of
from ..lazy import lazy
from ..metrics.base import Counts, Metric, check_sums
from ..progress import Step
from ..resampling import CountSample, Pairs
from ..resampling.counting import Data
from ..resampling.incomplete import complete_counts
from ..resampling.units import Documents
from ..settings import Resampling, Units
from ..validate import check_name
from .experiments import Population, swap_probability


@dataclass(frozen=True, eq=False)
class NamedPair:
    """A pair of systems under one metric, by their names. Those of the systems are empty for a model without data."""

    metric: str
    system: str
    baseline: str
    higher_is_better: bool


@dataclass(frozen=True, eq=False)
class MeasuredPair(NamedPair):
    """A pair of systems under one metric, and its counts: (2, U, K)."""

    formula: Metric
    counts: Counts

    @property
    def n_units(self) -> int:
        """U."""
        return int(self.counts.shape[1])

    @property
    def reversed(self) -> MeasuredPair:
        """The same pair with the systems exchanged."""
        counts = np.ascontiguousarray(self.counts[::-1])
        return replace(self, system=self.baseline, baseline=self.system, counts=counts)

    @lazy
    def totals(self) -> Counts:
        """The summed counts of both systems: (2, K)."""
        return np.asarray(self.counts.sum(axis=1))

    def difference(self, effect: float = 0.5) -> float:
        """The difference of the scores of the expected sums of the two systems when they are mixed by η.

        Expected sums are rounded to whole counts. Means are linear in the sums, so that they need no rounding.
        """
        if self.formula.is_mean or effect == 0.5:
            a, b = self.formula.score(self.totals).tolist()
            return float(2 * effect * (a - b)) if effect else 0.0
        swapped = swap_probability(effect)
        expected = np.rint((1 - swapped) * self.totals + swapped * self.totals[::-1]).astype(np.int64)
        a, b = self.formula.score(expected).tolist()
        return float(a - b) if effect else 0.0

    @lazy
    def observed(self) -> float:
        """The difference of the pair as it is."""
        return self.difference()

    @lazy
    def variance(self) -> float:
        """The variance of the difference on all units, by the delta method."""
        sample = CountSample.from_counts(self.formula, self.counts)
        return float(sample.variances_of_differences([(0, 1)])[0])

    @property
    def unit_error(self) -> float:
        """The standard deviation of the contribution of a unit to the difference: se·√U."""
        return math.sqrt(self.variance * self.n_units)

    @lazy
    def null_unit_error(self) -> float:
        """The same when the systems are swapped in every second unit, so that their scores are equal.

        The difference of the pair adds to its variance: a contribution d becomes ±d with mean 0. Of both orders of each
        unit, one population.
        """
        both = np.concatenate([self.counts, self.counts[::-1]], axis=1)
        sample = CountSample.from_counts(self.formula, both)
        return math.sqrt(float(sample.variances_of_differences([(0, 1)])[0]) * both.shape[1])

    def mixture_error(self, effect: float, size: int) -> float:
        """The standard error of the difference of a mixture on a test set of this size.

        The difference is 2η times that of the real pair, and the variance goes with its square from that without a
        difference to that of the real pair: exactly for means, nearly for others.
        """
        null = self.null_unit_error**2
        return math.sqrt((null + 4 * effect**2 * (self.unit_error**2 - null)) / size)


@dataclass(frozen=True, eq=False)
class Material:
    """The systems of a study under all its metrics.

    ``counts`` has an array (k, S, K) for each metric. ``documents`` are the ids of the segments' documents, counted
    from 0 in order of first appearance, (S,), or None. With documents, these are the units of :meth:`population`.
    """

    data: Data
    names: tuple[str, ...]
    metrics: Sequence[Metric]
    counts: Sequence[Counts]
    documents: Documents | None = None

    @classmethod
    def from_data(cls, data: Data, units: Units, resampling: Resampling, others: Sequence[Step] = ()) -> Material:
        """Count all systems. ``others`` are the later steps of the job, for progress reports.

        :class:`InputError` for metrics without counts.
        """
        resampling.announce([*data.counting_steps(len(data.names)), *others])
        counted = [complete_counts(sample, "a study", data.names) for sample in data.count(data.names, resampling)]
        documents = None if units.documents is None else Documents.from_ids(units.documents, data.n_segments)
        return cls(data, data.names, [each.metric for each in counted], [each.counts for each in counted], documents)

    @property
    def n_segments(self) -> int:
        """S."""
        return int(self.counts[0].shape[1])

    @property
    def unit(self) -> str:
        """The units of :meth:`population`: ``segment`` or ``document``."""
        return "segment" if self.documents is None else "document"

    @property
    def n_units(self) -> int:
        """U, the number of units of :meth:`population`."""
        return self.n_segments if self.documents is None else self.documents.n_documents

    def pairs(self, baseline: str | None = None, all_pairs: bool = False) -> Pairs:
        """The pairs (system, baseline) of a study: each system with the first or a named one, or all pairs."""
        if len(self.names) < 2:
            raise InputError(f"there is only one system, {self.names[0]}: a study of tests needs at least 2")
        if baseline is not None:
            check_name("baseline", baseline, self.names)
        base = 0 if baseline is None else self.names.index(baseline)
        return pairs_of(len(self.names), None if all_pairs else base)

    def named(self, systems: Sequence[int]) -> str:
        """The names of systems, separated by commas."""
        return ", ".join(self.names[system] for system in systems)

    def measured(self, pair: tuple[int, int]) -> list[MeasuredPair]:
        """A pair under each metric."""
        population, (system, baseline) = self.population(pair), (self.names[each] for each in pair)
        return [
            MeasuredPair(label, system, baseline, metric.higher_is_better, metric, counts)
            for label, metric, counts in zip(self.data.labels, population.metrics, population.counts, strict=True)
        ]

    def measured_pairs(self, baseline: str | None, all_pairs: bool) -> Iterator[list[MeasuredPair]]:
        """The pairs of a study, each under all metrics. One at a time, because each has counts of its own."""
        return map(self.measured, self.pairs(baseline, all_pairs))

    def population(self, pair: tuple[int, int]) -> Population:
        """The population of a pair of systems as they are."""
        return self.population_of(self.named(pair), [counts[list(pair)] for counts in self.counts])

    def population_of(self, name: str, counts: Sequence[Counts], metrics: Sequence[int] | None = None) -> Population:
        """A population of documents, or of segments without documents, from (2, S, K) counts for each metric.

        ``metrics`` are the indices of the metrics if these are not all.
        """
        chosen = self.metrics if metrics is None else [self.metrics[m] for m in metrics]
        return Population(name, chosen, [np.ascontiguousarray(self.by_unit(of_metric)) for of_metric in counts])

    def by_unit(self, counts: Counts) -> Counts:
        """Counts of segments, (k, S, K), summed over documents if these are the units: (k, U, K)."""
        if self.documents is None:
            return counts
        check_sums(counts)  # numpy does not report integer overflow
        return self.documents.sums(counts)
