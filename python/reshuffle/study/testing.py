"""The p-values of several tests on the simulated test sets of an experiment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..documented import record
from ..errors import InputError
from ..execution import ChunkJob, Execution
from ..execution.tables import NUMBER, PROBABILITY, Column, Columns, Table, stacked
from ..inference import bootstrap, margins
from ..inference.hypotheses import Hypotheses, ObservedPairs
from ..inference.plan import Plan
from ..inference.pvalues import threshold
from ..inference.randomization import outcome_of_shuffles
from ..inference.running import run_on_test_set
from ..lazy import lazy
from ..metrics.base import Scores, thread_count
from ..options.choices import TESTS_WITH_MARGIN
from ..options.declare import taken
from ..resampling import Replicates, Series, directed, extremeness, is_two_sided, samples_of
from ..resampling.schemes import Shuffled, Shuffling, subgroup_bits
from ..resampling.stopping import BesagClifford
from ..resampling.studentized import ObservedStatistics
from ..seeds import derive_seed
from ..settings import ComparisonSettings, Resampling
from .experiments import Experiment, Population

# How ``ar`` makes its shuffles in a study.
SCHEMES: Mapping[str, str] = {
    "auto": "iid",
    "iid": "independent shuffles for each simulation",
    "subgroup": "for each simulation a group of 2^m >= R shuffles from random codes: the fastest",
    "orbit": "one set of shuffles for all simulations of a fixed test set with swaps of probability 1/2",
}

STUDENTIZED = "ar-studentized"
# The tests that a stopping rule can end. Rust runs them, too.
CAN_STOP = ("ar", STUDENTIZED)

# Simulations are tested in chunks whose draws have at most so many scores: 32 MB.
CHUNK_CELLS = 1 << 22
# The largest chunks, so that progress is reported often enough: studentized shuffles take several times as long.
CHUNK = 1 << 12
STUDENTIZED_CHUNK = 1 << 9

# The index of the simulation whose seed makes the shuffles of an orbit. No study has so many simulations.
ORBIT = 1 << 63

# The tests that need only the scores on the draws.
BOOTSTRAPS = (
    bootstrap.centred,
    bootstrap.both,
    bootstrap.percentile,
    bootstrap.shift,
    bootstrap.paired,
    margins.from_centred_draws,
)


@record(slots=False)
class Tested:
    """The outcomes of N simulations."""

    pvalue: Scores
    """Shape (tests, metrics, N)."""
    statistic: Scores
    """Shape (metrics, N). The observed differences."""


@dataclass(frozen=True)
class Testing:
    """The tests of a study and their settings.

    ``ar`` and ``ar-studentized`` with all schemes but ``auto``, and the tests that need only the scores on draws, run
    in Rust, if it can score all metrics. The others are public tests of one simulated test set after another. Either
    way p is that of the public test of the simulated test set with the seed of the simulation, bit for bit, with two
    exceptions, both optional: the scheme ``orbit``, and shared bootstrap weights.
    """

    tests: Sequence[str]
    """Names in the registry of tests."""
    n_resamples: int = 999
    """R. ``subgroup`` makes the next power of two."""
    alternative: str = "two-sided"
    scheme: str = "iid"
    """A name in :data:`SCHEMES`: how ``ar`` makes its shuffles. Other tests with shuffles have independent ones with
    ``iid`` and ``orbit``.

    In ``orbit`` the shuffles of a simulation are not its own. Given the pairs of outputs of a fixed test set, the swaps
    of any simulation are one arrangement of them, and all its shuffles are others: the reference distribution of all
    simulations is the same. So one set of R shuffles, with the seed ``derive_seed(seed, "simulation", 2**63)``, serves
    all. Each p has the same distribution as without it, but all p depend on the same shuffles: see
    :func:`effective_simulations`.
    """
    stopping: BesagClifford | None = None
    """The rule that ends the shuffles of each test in :data:`CAN_STOP`, with the scheme ``iid``."""
    weight_sets: int | None = None
    """The number W of independent sets of bootstrap weights: simulation i draws with the seed of simulation i mod W.
    None for a set for each simulation. Each p has the same distribution as without it, but those with the same weights
    are dependent: use at least 20 to 50.
    """
    margins: Mapping[str, float] = field(default_factory=dict)
    """Margins of equivalence and non-inferiority by metric."""
    execution: Execution = field(default_factory=Execution)
    """Where simulations are tested. For its progress, :meth:`run` is one stage."""

    def run(self, experiment: Experiment, n: int, first: int = 0) -> Tested:
        """Test the simulations first, …, first + n − 1.

        :class:`InputError` for unknown names, for the scheme ``orbit`` if each simulation has other units, and for a
        stopping rule with another scheme than ``iid``.
        """
        self._check(experiment)
        job = _Simulations(replace(self, execution=Execution()), experiment.without_data())
        table = job.results(n, self.execution, first)
        return Tested(stacked(table["pvalue"], -1), stacked(table["statistic"], -1))

    def _check(self, experiment: Experiment) -> None:
        if self.stopping is not None:
            check_stopping(self.stopping.name, self.scheme, self.tests)
        selection = experiment.selection
        if self.scheme != "orbit" or "ar" not in self.tests:
            return
        if selection.sampling != "fixed" or selection.swapped != 0.5:
            raise InputError(
                "scheme 'orbit' needs all units of a fixed test set, swapped with probability 0.5, got sampling "
                f"{selection.sampling!r} and probability {selection.swapped}: use the scheme 'iid' or 'subgroup'"
            )
        if any(population.groups is not None for population in experiment.populations):
            raise InputError(
                "scheme 'orbit' needs units that are swapped one by one, but whole documents are swapped: use the "
                "scheme 'iid' or 'subgroup'"
            )

    def alternatives(self, population: Population) -> list[str]:
        """The alternative under each metric."""
        return [directed(self.alternative, metric.higher_is_better) for metric in population.metrics]

    def plans(self, experiment: Experiment) -> list[Plan]:
        """The plan of each test. Only tests with a margin have margins, and an alternative of their own."""
        metrics = experiment.populations[0].metrics
        scheme = "iid" if self.scheme == "orbit" else self.scheme
        plans = []
        for test in self.tests:
            own = self.margins if test in TESTS_WITH_MARGIN else {}
            alternative = "two-sided" if test in TESTS_WITH_MARGIN else self.alternative
            settings = ComparisonSettings(test=test, alternative=alternative, margins=own)
            plan = Plan.from_settings(settings, *metrics)
            if plan.test.replicates == "shuffles":
                plan = replace(plan, shuffling=Shuffling(scheme, self.stopping if test in CAN_STOP else None))
            plans.append(plan)
        return plans


def _is_on_draws(plan: Plan) -> bool:
    return plan.test.run in BOOTSTRAPS


@dataclass(frozen=True, eq=False)
class _Simulations(ChunkJob):
    """The tests of the simulations of an experiment."""

    testing: Testing
    experiment: Experiment

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.testing, self.experiment)

    @property
    def block(self) -> int:
        """Simulations that share bootstrap weights are cheaper together."""
        return self.testing.weight_sets or 1

    @property
    def columns(self) -> Columns:
        """Those of a simulation are as :class:`Tested` has them."""
        n_metrics = len(self.experiment.populations[0].metrics)
        return Columns(
            {
                "pvalue": Column(PROBABILITY, (len(self.testing.tests), n_metrics)),
                "statistic": Column(NUMBER, (n_metrics,)),
            }
        )

    def fill(self, rows: Table, items: range, threads: int | None) -> None:
        """Test these simulations."""
        tested = _Chunk(self.testing, self.experiment, items.start, len(items), self._orbits(threads), threads).run()
        rows["pvalue"], rows["statistic"] = np.moveaxis(tested.pvalue, -1, 0), tested.statistic.T

    def _orbits(self, threads: int | None) -> Sequence[Scores]:
        """For each population, how extreme the statistics of its shuffles are, in ascending order: (metrics, R)."""
        if self.testing.scheme != "orbit" or "ar" not in self.testing.tests:
            return []
        orbits: Sequence[Scores] | None = vars(self).get("orbits")
        if orbits is None:
            orbits = vars(self)["orbits"] = [self._orbit(each, threads) for each in self.experiment.populations]
        return orbits

    def _orbit(self, population: Population, threads: int | None) -> Scores:
        seed = derive_seed(self.experiment.seed, "simulation", ORBIT)
        (statistics,) = _replicates(self.testing, population, seed, threads).run([Series()], [(0, 1)])
        alternatives = np.array(self.testing.alternatives(population))
        extreme = extremeness(np.asarray(statistics)[:, 0], alternatives[:, None])
        return np.asarray(np.sort(extreme, axis=1))

    @lazy
    def chunk(self) -> int:
        """See :attr:`ChunkJob.chunk`."""
        if not self.experiment.in_core:
            return 1 << 5
        largest = STUDENTIZED_CHUNK if STUDENTIZED in self.testing.tests else CHUNK
        if not any(_is_on_draws(plan) for plan in self.testing.plans(self.experiment)):
            return largest
        cells = 2 * self.testing.n_resamples * len(self.experiment.populations[0].metrics)
        return min(largest, max(CHUNK_CELLS // cells, 1))


@dataclass(frozen=True, eq=False)
class _Chunk:
    """The simulations first, …, first + n − 1, which are tested together."""

    testing: Testing
    experiment: Experiment
    first: int
    n: int
    orbits: Sequence[Scores]  # see _Simulations._orbits
    threads: int | None

    def run(self) -> Tested:
        """Test them."""
        plans = self.testing.plans(self.experiment)
        if not self.experiment.in_core:
            return Tested(*_one_by_one(self, plans))
        pvalue = np.empty((len(plans), len(self.scores), self.n))
        others = []
        for t, plan in enumerate(plans):
            if plan.test.name in CAN_STOP and plan.shuffling.scheme != "auto":
                pvalue[t] = self._shuffled(plan)
            elif _is_on_draws(plan):
                pvalue[t] = plan.test.run(self._observed(plan, self._drawn)).pvalue.reshape(-1, self.n)
            else:
                others.append(t)
        if others:
            pvalue[others], _ = _one_by_one(self, [plans[t] for t in others])
        return Tested(pvalue, self.scores[..., 0] - self.scores[..., 1])

    @property
    def _where(self) -> dict[str, Any]:
        """The first simulation, and the threads, as functions of the core take them."""
        return {"first": self.first, "threads": thread_count(self.threads)}

    @property
    def _alternatives(self) -> list[str]:
        return self.testing.alternatives(self.experiment.populations[0])

    @lazy
    def scores(self) -> Scores:
        """The scores of both systems: (metrics, n, 2)."""
        return self.experiment.core.scores(n=self.n, **self._where)

    @lazy
    def _drawn(self) -> Scores:
        """The scores of both systems on all draws: (metrics, n, 2, R)."""
        return self.experiment.core.draws(
            n_resamples=self.testing.n_resamples, n=self.n, weight_sets=self.testing.weight_sets, **self._where
        )

    def _observed(self, plan: Plan, drawn: Scores | None = None) -> ObservedPairs:
        """What a test observes."""
        n_metrics, n, _ = self.scores.shape
        return taken(
            ObservedPairs,
            plan,
            replicates=_replicates(self.testing, self.experiment.populations[0], self.experiment.seed, self.threads),
            hypotheses=Hypotheses.from_pairs([(2 * i, 2 * i + 1) for i in range(n)], n_metrics),
            scores=self.scores,
            drawn=drawn,
        )

    def _shuffled(self, plan: Plan) -> Scores:
        """The p-values of a test in :data:`CAN_STOP`: (metrics, n)."""
        observed = self._observed(plan)
        thresholds = self._thresholds(plan, observed).reshape(-1, self.n)
        rule = self.testing.stopping
        shuffled = self._counted(plan, thresholds) if rule is None else self._stopped(plan, thresholds, rule)
        return outcome_of_shuffles(observed.statistic, shuffled).pvalue.reshape(-1, self.n)

    def _thresholds(self, plan: Plan, observed: ObservedPairs) -> Scores:
        """The values that shuffles must reach to count: (metrics·n,)."""
        if plan.test.name != STUDENTIZED:
            return observed.thresholds
        parts, follows_difference = self.experiment.core.error_parts(n=self.n, **self._where)
        scores = self.scores.reshape(-1, 2).T
        values, tolerances, _ = ObservedStatistics.from_parts(scores, *parts.reshape(-1, 3).T)
        studentized = threshold(values, tolerances, observed.each_alternative)
        return np.where(follows_difference.ravel(), observed.thresholds, studentized)

    def _counted(self, plan: Plan, thresholds: Scores) -> Shuffled:
        """The number of all shuffles that reach each threshold: (metrics·n,)."""
        is_studentized = plan.test.name == STUDENTIZED
        scheme = plan.shuffling.scheme if is_studentized else self.testing.scheme
        n_resamples = self.testing.n_resamples
        if scheme == "orbit":
            counts = self._reached_in_orbit(thresholds)
        else:
            if scheme == "subgroup":
                n_resamples = 1 << subgroup_bits(n_resamples)
            counts = self.experiment.core.exceedances(
                self._alternatives,
                np.ascontiguousarray(thresholds),
                n_resamples=n_resamples,
                scheme=scheme,
                studentized=is_studentized,
                **self._where,
            ).astype(np.int64)
        return Shuffled(scheme, counts.ravel(), n_resamples, includes_observed=scheme == "subgroup")

    def _stopped(self, plan: Plan, thresholds: Scores, rule: BesagClifford) -> Shuffled:
        """The number of shuffles that reach each threshold until the rule ends the test: (metrics·n,)."""
        n_resamples, exceedances, stopped = self.experiment.core.sequential(
            self._alternatives,
            np.ascontiguousarray(thresholds),
            rule.core(),
            n_resamples=self.testing.n_resamples,
            studentized=plan.test.name == STUDENTIZED,
            **self._where,
        )
        stopped = stopped.ravel()
        return Shuffled(
            "iid",
            exceedances.astype(np.int64).ravel(),
            n_resamples.astype(np.int64).ravel(),
            includes_observed=rule.includes_observed(stopped),
            stopped=stopped,
        )

    def _reached_in_orbit(self, thresholds: Scores) -> NDArray[np.int64]:
        """The number of shuffles of the simulation's population that reach each threshold: (metrics, n)."""
        counts = np.empty(thresholds.shape, dtype=np.int64)
        alternatives = np.array(self._alternatives)[:, None]
        to_reach = thresholds if is_two_sided(alternatives) else extremeness(thresholds, alternatives)
        for p, orbit in enumerate(self.orbits):
            own = slice((p - self.first) % len(self.orbits), None, len(self.orbits))
            for metric, reference in enumerate(orbit):
                counts[metric, own] = len(reference) - np.searchsorted(reference, to_reach[metric, own])
        return counts


def _replicates(testing: Testing, population: Population, seed: int, threads: int | None) -> Replicates:
    """Replicates of a whole population."""
    samples = samples_of(population.metrics, population.counts)
    return Replicates(samples, Resampling(testing.n_resamples, seed, threads))


def _one_by_one(chunk: _Chunk, plans: Sequence[Plan]) -> tuple[Scores, Scores]:
    """The p-values, (tests, metrics, n), and statistics, (metrics, n), by public tests of one data set at a time."""
    testing, experiment = chunk.testing, chunk.experiment
    n_metrics = len(experiment.populations[0].metrics)
    pvalue = np.empty((len(plans), n_metrics, chunk.n))
    statistic = np.empty((n_metrics, chunk.n))
    hypotheses = Hypotheses.from_pairs([(0, 1)], n_metrics=n_metrics)
    for i in range(chunk.n):
        simulation = chunk.first + i
        samples = samples_of(experiment.population_of(simulation).metrics, experiment.data_set(simulation))
        sets: dict[int, Replicates] = {}  # by the simulation whose seed they have
        for own, plan in zip(pvalue, plans, strict=True):
            shares = testing.weight_sets if plan.test.replicates == "draws" else None
            seeded = simulation if shares is None else simulation % shares
            if seeded not in sets:
                seed = experiment.seed_of(seeded)
                sets[seeded] = Replicates(samples, Resampling(testing.n_resamples, seed, chunk.threads))
            outcome = run_on_test_set(plan, sets[seeded], hypotheses)
            own[:, i], statistic[:, i] = outcome.pvalue, outcome.statistic
    return pvalue, statistic


def check_stopping(rule: str, scheme: str, tests: Sequence[str]) -> None:
    """:class:`InputError` if the shuffles are not independent, or there is no test that the rule could end."""
    if scheme != "iid":
        raise InputError(
            f"the stopping rule {rule!r} needs independent shuffles, as the scheme 'iid' makes them, not those of "
            f"{scheme!r}: leave out the scheme or the rule"
        )
    if not set(tests) & set(CAN_STOP):
        raise InputError(
            f"the stopping rule {rule!r} is for {' and '.join(map(repr, CAN_STOP))}, but the tests are "
            f"{', '.join(map(repr, tests))}: add one of them, or leave out the rule"
        )


def effective_simulations(simulations: int, n_resamples: int) -> float:
    """How many independent simulations say as much about a rejection rate as N that share one set of R shuffles.

    Given the shuffles, a simulation rejects at level α if its statistic is above the k-th largest of theirs, k =
    ⌊α(R + 1)⌋. If statistics are continuous and the null hypothesis is true, the probability of that is the k-th
    smallest of R uniform numbers, Beta(k, R + 1 − k), so the number of rejections is beta-binomial. Its variance is
    that of a binomial number times 1 + (N − 1)/(R + 2), whatever the level. So N simulations say as much as N divided
    by this factor, which is less than R + 2 for any N. Intervals for the rate use this number of simulations, and
    rejections in proportion (Korn & Graubard 1998, Survey Methodology 24).

    >>> round(effective_simulations(10_000, 9_999)), round(effective_simulations(10_000, 199))
    (5000, 197)
    """
    return simulations / (1 + (simulations - 1) / (n_resamples + 2))
