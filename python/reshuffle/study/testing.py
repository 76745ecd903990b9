"""The p-values of several tests on the simulated test sets of an experiment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from .._core import Progress
from ..inference.hypotheses import Hypotheses
from ..inference.plan import Plan
from ..inference.running import run_on_test_set
from ..metrics.base import Scores
from ..resampling import CountSample, Replicates
from ..settings import TESTS_WITH_MARGIN, ComparisonSettings
from .experiments import Experiment

__all__ = ["Tested", "Testing"]


@dataclass(frozen=True)
class Tested:
    """The outcomes of N simulations.

    Attributes
    ----------
    pvalue : (tests, metrics, N) ndarray of float
    statistic : (metrics, N) ndarray of float
        The observed differences.
    """

    pvalue: Scores
    statistic: Scores


@dataclass(frozen=True)
class Testing:
    """The tests of a study and their settings."""

    tests: Sequence[str]
    n_resamples: int = 999
    alternative: str = "two-sided"
    # How ``ar`` makes its shuffles: iid, subgroup, or orbit (one set of shuffles for all simulations of a fixed test
    # set, whose systems are swapped at random).
    scheme: str = "iid"
    # The number of independent sets of bootstrap weights; None for one for each simulation.
    weight_sets: int | None = None
    # Margins of equivalence and non-inferiority by metric.
    margins: Mapping[str, float] = field(default_factory=dict)
    threads: int | None = None
    progress: Progress | None = None

    def run(self, experiment: Experiment, n: int, first: int = 0) -> Tested:
        """Test the simulations first, …, first + n − 1."""
        n_metrics = len(experiment.populations[0].metrics)
        pvalue = np.empty((len(self.tests), n_metrics, n))
        statistic = np.empty((n_metrics, n))
        plans = [self._plan(test, experiment) for test in self.tests]
        for i in range(n):
            population = experiment.population_of(first + i)
            samples = [
                CountSample.from_counts(metric, counts)
                for metric, counts in zip(population.metrics, experiment.data_set(first + i), strict=True)
            ]
            replicates = Replicates(
                samples, n_resamples=self.n_resamples, seed=experiment.seed_of(first + i), threads=self.threads
            )
            hypotheses = Hypotheses.from_pairs([(0, 1)], n_metrics=n_metrics)
            for own, plan in zip(pvalue, plans, strict=True):
                outcome = run_on_test_set(plan, replicates, hypotheses)
                own[:, i], statistic[:, i] = outcome.pvalue, outcome.statistic
        return Tested(pvalue, statistic)

    def _plan(self, test: str, experiment: Experiment) -> Plan:
        """The plan of a test. Only tests with a margin have margins."""
        margins = self.margins if test in TESTS_WITH_MARGIN else {}
        settings = ComparisonSettings(test, alternative=self.alternative, margins=margins)
        return Plan.from_settings(settings, *experiment.populations[0].metrics)
