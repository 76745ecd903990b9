"""The result of a comparison of systems with several optimizer runs each, and its records."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from ... import types
from ...documented import record
from ...errors import InputError, counted, quoted
from ...options.hints import hinting
from ...validate import check_name
from ..intervals import ConfidenceInterval
from ..lookup import first_names, metric_name, pair_of
from ..reported import Worded
from ..verdicts import Tested, Verdict, verdict
from .base import StudyResult, StudyTypes
from .plan import Plan

# More runs than this are not recommended to anybody.
MOST_RUNS = 1000
# Clark et al. 2011 (P11-2031), section 5, recommend at least so many runs.
RECOMMENDED_RUNS = 3


def smallest_of_splits(n: int, m: int, alternative: str = "two-sided") -> float:
    """The smallest p-value of an exact test that exchanges whole runs, for n and m runs.

    With as many runs of both systems, the opposite of the observed split is as extreme as that split.

    >>> [round(smallest_of_splits(n, n), 4) for n in (3, 4, 5)]
    [0.1, 0.0286, 0.0079]
    """
    opposite = n == m and alternative == "two-sided"
    return min(1.0, (2 if opposite else 1) / math.comb(n + m, n))


def runs_needed(alpha: float, alternative: str = "two-sided") -> int | None:
    """The number of runs of each system with which exchanging whole runs can give a p-value of at most alpha.

    None if even a thousand are not enough.

    >>> runs_needed(0.05), runs_needed(0.05, "greater"), runs_needed(0.001)
    (4, 3, 7)
    """
    enough = (n for n in range(1, MOST_RUNS + 1) if smallest_of_splits(n, n, alternative) <= alpha)
    return next(enough, None)


@record
class RunScores:
    """The scores of a system's runs under one metric, and how much they vary.

    All standard deviations are in points of the metric, and have n − 1 in the denominator.
    """

    runs: tuple[float, ...]
    """The score of each run on the test set."""
    mean: float
    """Of ``runs``."""
    minimum: float
    maximum: float
    pooled: float
    """The score of all outputs of all runs taken as one long output."""
    s_test: float | None
    """Standard deviation of ``runs``: Clark et al. 2011 (P11-2031), 4.1. None for one run."""
    s_sel: float
    """The mean over runs of the bootstrap standard deviation of a run's score, from draws of segments. NaN for one
    draw.
    """
    s_dev: float | None
    """Standard deviation of ``dev_runs``. None without the development set, or with one run."""
    dev_runs: tuple[float, ...]
    """The score of each run on the development set, or empty."""
    median_run: int
    """The index of the run with the median score, from 0; the lower one of an even number of runs."""
    between_runs: float | None
    """Variance components of the score of one run on a test set of this size: the runs' expected scores, the choice of
    segments, and what is neither. None for one run.
    """
    between_segments: float | None
    interaction: float | None
    effective_test_sets: float | None
    """How many independent test sets the runs are worth together: the variance of one run's score divided by that of
    the mean of all runs. 1 if runs do not matter; the number of runs if segments do not matter. None for one run, or if
    nothing varies.
    """
    variance_pvalue: float | None = None
    """p of the Pitman–Morgan test that runs vary equally on both sets. None if undefined, or without ``dev_runs``."""


@record
class SystemRuns:
    """A system: its runs, and their scores under each metric."""

    name: str
    outputs: tuple[str, ...]
    """The name of each run's output, such as its file."""
    scores: Mapping[str, RunScores]
    """By the name of the metric."""


@record
class RunDifference(Worded, Tested):
    """The difference of a system from the baseline, tested by exchanging one kind of unit."""

    baseline: str
    system: str
    metric: str
    exchange: str
    """What is exchanged: a name in :data:`reshuffle.inference.exchange.EXCHANGES`."""
    statistic: str
    """``pooled``: the difference of the scores of all outputs of each system taken as one; ``mean``: the difference of
    the mean scores of the runs.
    """
    difference: float
    """The statistic: system − baseline."""
    pvalue: float
    """Not adjusted for multiple tests."""
    adjusted_pvalue: float | None
    """Adjusted for all pairs of the family, or None."""
    smallest_pvalue: float
    """The smallest p-value that the test can reach with these runs and replicates."""
    runs_needed: int | None
    """How many runs of each system the test needs so that p can reach alpha; None if the number of runs does not limit
    p.
    """
    exceedances: int
    """The number of replicates at least as extreme as the difference, and of all replicates; 0 for t tests."""
    n_resamples: int
    exact: bool
    """Whether the replicates are all possible ones, so that p is exceedances/n_resamples."""
    degrees_of_freedom: float | None
    """Of the t distribution with which ``welch``, ``hierarchical`` and ``hierarchical-t`` take into account that the
    variance of few runs is uncertain.
    """
    confidence_interval: ConfidenceInterval | None
    """Of the difference, for the sources of variation that the test takes into account."""
    caveats: tuple[str, ...] = ()
    """Why the test may reject too often here: names of caveats that ``reshuffle explain`` knows."""

    def __repr__(self) -> str:
        return (
            f"<RunDifference: {self.metric}, {self.system} against {self.baseline}; difference={self.difference:.6g}, "
            f"pvalue={self.pvalue:.6g}, exchange={self.exchange}>"
        )

    @property
    def reversed(self) -> RunDifference:
        """The difference of the baseline from the system, for two-sided tests."""
        interval = self.confidence_interval
        return replace(
            self,
            system=self.baseline,
            baseline=self.system,
            difference=0.0 - self.difference,
            confidence_interval=None if interval is None else interval.reversed,
        )


@record
class ObservedDifference:
    """The difference that an experiment with fewer or more runs would have observed, by drawing from the runs.

    Clark et al. 2011 (P11-2031), Figure 2. The test set is fixed.
    """

    baseline: str
    system: str
    metric: str
    n_runs: int
    """The number of runs of each system in the experiment."""
    mean: float
    """Of the difference of the mean scores."""
    standard_deviation: float
    minimum: float
    maximum: float
    low: float
    """The central 95% of the differences."""
    high: float
    reversed: float
    """The share of experiments whose difference has the other sign than that of all runs, ties counted as half."""
    experiments: int
    """The number of draws of runs, or of all possible choices of runs."""


@record(kw_only=True, eq=False)
class RunPlan(Plan):
    """How systems were compared: the options of :func:`reshuffle.compare_runs`, and what followed from them."""

    systems: Mapping[str, int]
    """The number of runs of each system."""
    baseline: str | None
    """None if all pairs were compared."""
    all_pairs: bool
    exchange: tuple[str, ...]
    """The exchange units that were tested. The first one decides."""
    exchange_requested: str | tuple[str, ...]
    """The option ``exchange``."""
    statistic: str
    alternative: str
    adjust: str | None
    """The option; ``adjustments`` has what was done."""
    family: str
    alpha: float
    confidence_level: float
    segments: int
    """The number of segments of the test set."""
    unit: str
    """What was resampled: ``segment`` or ``document``."""
    units: int
    """The number of these."""
    strata: int | None
    """The number of strata; None without strata."""
    n_resamples: int
    seed: int
    exchange_reason: str | None
    """Why the first exchange unit decides; None if it was asked for by name."""
    questions: Mapping[str, str]
    """What the test of each exchange unit answers, in words."""
    left_out: Mapping[str, str]
    """Exchange units that were left out, and why."""
    adjustments: Mapping[str, str]
    """The adjustment of p by exchange unit, or ``none``."""
    duplicates: tuple[tuple[str | int, ...], ...]
    """Runs with the same output as an earlier one: (system, run, earlier system, earlier run)."""
    median_on: str
    median_metric: str
    """The metric by which ``median_runs`` were chosen."""
    median_runs: Mapping[str, int]
    """The run of each system to analyse by hand."""


@dataclass(frozen=True, repr=False)
class RunComparison(StudyResult[RunPlan]):
    """The result of :func:`reshuffle.compare_runs`: a :class:`~reshuffle.StudyResult` called ``runs``.

    Its tables are ``systems`` (:class:`SystemRuns`), ``comparisons`` (:class:`RunDifference`) and ``observed``
    (:class:`ObservedDifference`). ``truths`` has the null hypothesis of each exchange unit in words. :meth:`score` and
    :meth:`pair` look up one of them.
    """

    def __repr__(self) -> str:
        plan, systems = self.plan, self.plan.systems
        tests = f"; {counted(len(self.comparisons), 'test')} ({first_names(plan.exchange)})" if self.comparisons else ""
        return (
            f"<RunComparison: {first_names(metric.name for metric in self.metrics)}; {counted(len(systems), 'system')} "
            f"({first_names(systems)}), {counted(sum(systems.values()), 'run')}; {counted(plan.segments, 'segment')}"
            f"{tests}; n_resamples={plan.n_resamples}, seed={plan.seed}>"
        )

    def render(self, fmt: types.AnyFormat | None = None, *, table: str | None = None, full: bool = False) -> str:
        """As :meth:`StudyResult.render`. ``full`` is for text: also p by other tests, and what scores vary with."""
        return self._rendered(fmt, table=table, full=full)

    @property
    def systems(self) -> tuple[SystemRuns, ...]:
        """The systems with the scores of their runs."""
        return self.tables["systems"]

    @property
    def comparisons(self) -> tuple[RunDifference, ...]:
        """The tested differences; empty with only one system."""
        return self.tables.get("comparisons", ())

    @property
    def observed(self) -> tuple[ObservedDifference, ...]:
        """What experiments with other numbers of runs would observe; empty with only one system."""
        return self.tables.get("observed", ())

    @property
    def default_exchange(self) -> str | None:
        """The exchange unit whose p-values answer the question; the others are shown beside it. None without tests."""
        return self.plan.exchange[0] if self.plan.exchange else None

    @hinting
    def verdict(self, pair: RunDifference) -> Verdict:
        """Whether a system is significantly ``better`` or ``worse`` by the test of a pair, as Comparison.verdict."""
        if not isinstance(pair, RunDifference):
            raise InputError(f"verdict takes a pair, such as result.pair({pair!r}), got {quoted(pair)}")
        higher_is_better = next(metric.higher_is_better for metric in self.metrics if metric.name == pair.metric)
        return verdict(pair.difference, pair.is_significant(self.plan.alpha), higher_is_better, self.plan.alternative)

    @hinting
    def score(self, system: str, metric: str | None = None) -> RunScores:
        """The scores of a system's runs under a metric.

        Raises
        ------
        InputError
            If there is no such system or metric; ``metric`` may be left out if there is only one.
        """
        found = {each.name: each.scores for each in self.systems}
        check_name("system", system, list(found))
        return found[system][metric_name(metric, [used.name for used in self.metrics])]

    @hinting
    def pair(
        self, system: str, baseline: str | None = None, metric: str | None = None, exchange: str | None = None
    ) -> RunDifference:
        """The difference of a system from a baseline under a metric, and its test.

        Parameters
        ----------
        system, baseline, metric : str
            As for :meth:`reshuffle.Comparison.pair`.
        exchange : str, optional
            The exchange unit, by default the one that decides (:attr:`default_exchange`).

        Raises
        ------
        InputError
            If there is no such comparison.

        Examples
        --------
        >>> from reshuffle import SegmentScores, compare_runs
        >>> ratings = {"a": [[1, 2, 3, 4], [1, 2, 2, 4]], "b": [[2, 3, 3, 5], [2, 2, 4, 5]]}
        >>> result = compare_runs(metrics=SegmentScores("rating", ratings), n_resamples=99, exchange="segment")
        >>> round(result.pair("b").difference, 3), round(result.score("b").mean, 3)
        (0.875, 3.25)
        """
        if not self.comparisons:
            raise InputError("this result has the runs of one system only: compare two or more")
        unit = self.plan.exchange[0] if exchange is None else exchange
        check_name("exchange", unit, self.plan.exchange)
        pairs = [each for each in self.comparisons if each.exchange == unit]
        metrics, names = [used.name for used in self.metrics], (system, baseline, metric)
        reversible = self.plan.alternative == "two-sided"
        return pair_of(pairs, names, list(self.plan.systems), metrics, self.plan.baseline, reversible)


STUDY = StudyTypes([RunPlan], RunComparison, systems=SystemRuns, comparisons=RunDifference, observed=ObservedDifference)
