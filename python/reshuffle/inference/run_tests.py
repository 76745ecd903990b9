"""Tests of systems with several runs: from the statistics of exchange units to p-values.

The first functions say where tests may reject too often: cells above .07 of docs/evidence/runs.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, either
from ..lazy import lazy
from ..metrics.base import Scores, tolerance
from ..resampling import Replicates, extremeness, reached
from ..resampling.run_exchange import Exchanged
from ..resampling.run_t import no_spread
from ..resampling.runs import RunData
from ..resampling.samples import Pairs
from ..resampling.schemes import Shuffling
from ..results.studies.runs import smallest_of_splits
from ..settings import RunSettings
from .exchange import ALL, EXCHANGES, ExchangeUnit
from .hypotheses import COUNTS, Hypotheses, Integers, Observed, Outcome, family_size
from .multiplicity import ADJUSTMENTS
from .plan import Plan
from .pvalues import pvalue
from .running import outcome_of
from .step_down import Adjusted, StepDown, Unadjusted, extremeness_to_reach, step_down_max
from .tests import SignificanceTest

# The skewness of a system's runs matters from this share of the variance of the difference on.
SHARE = 0.2
# s² of so few runs may be near 0 by chance, whatever their share is.
ANY_SHARE = 2


def skewness_matters(of_runs: Sequence[Scores], variance: Scores, fewest: int) -> NDArray[np.bool_]:
    """Whether a test by t could reject too often if runs are skewed: from s²/n of both systems, and the variance.

    A few runs do not show whether their scores are skewed. The skewness of two systems cancels where their runs
    contribute alike, and does not matter beside that of the segments, but few runs do not show this well either. In the
    simulations of ``benches/simulations/run_size.py`` with a size above .07, this is so in .9 of the samples or more.
    """
    carried = np.maximum(*of_runs) >= SHARE * np.asarray(variance)
    return np.asarray(carried | (fewest <= ANY_SHARE))


def run_caveats(unit: ExchangeUnit, data: RunData, metric: int, pair: tuple[int, int]) -> tuple[str, ...]:
    """The names of the caveats that apply to the test of a pair with an exchange unit."""
    n, m = (data.n_runs[system] for system in pair)
    if unit.error is None or min(n, m) < 2:
        return ()
    if no_spread(data, metric, pair):
        return ("no-spread",)
    found = []
    if unit.unequal_spreads is not None and unit.unequal_spreads(n, m):
        found.append("unequal-spreads")
    scores = [data.samples[metric].scores[data.rows[system]] for system in pair]
    of_runs = [np.asarray(own.var(ddof=1) / len(own)) for own in scores]
    if skewness_matters(of_runs, np.asarray(unit.error(data, metric, pair).value ** 2), min(n, m)):
        found.append("skewed-runs")
    return tuple(found)


# The exchange unit with which ``auto`` decides, whatever the number of runs, as long as each system has two: it asks
# whether new runs on new segments would differ, and no other test of that keeps its level so well
# (docs/evidence/runs.md#few-runs-unequal-numbers-and-spreads).
DECIDES = "hierarchical"
# What it shows beside it, where there are enough runs. The reading of Clark et al. 2011 is "pooled".
BESIDE = ("welch", "run", "segment", "pooled")
# With one run of a system, the question has to be another one.
OF_ONE_RUN = ("segment", "pooled")
# Equal values of t in exact arithmetic may differ by this share.
OF_T = 1e-10


@dataclass(eq=False)
class ObservedRuns(Observed):
    """Observed data of pairs of systems with several runs, and what exchanges make of their differences.

    ``score`` is a name in :data:`~reshuffle.resampling.runs.STATISTICS`. Of ``replicates`` only the metrics are read.
    """

    data: RunData = field(kw_only=True)
    unit: ExchangeUnit = field(kw_only=True)
    exchanged: Exchanged = field(kw_only=True)
    score: str = field(kw_only=True)

    @lazy
    def _scores(self) -> tuple[Scores, Scores]:
        table = np.array([self.data.score_of(system, self.score) for system in range(len(self.data.names))]).T
        metric = self.hypotheses.metric
        return table[metric, self.hypotheses.a], table[metric, self.hypotheses.b]

    @lazy
    def difference(self) -> Scores:
        """score(a) − score(b): (H,)."""
        a, b = self._scores
        return np.asarray(a - b)

    @lazy
    def statistic(self) -> Scores:
        """What the replicates are compared with: (H,)."""
        observed = self.exchanged.observed
        return self.difference if observed is None else np.array(observed).ravel()

    @lazy
    def tolerances(self) -> Scores:
        """As in :class:`Observed`; infinite values of t are equal without one."""
        if not self.exchanged.studentized:
            return tolerance(*self._scores)
        return np.where(np.isfinite(self.statistic), OF_T * np.abs(self.statistic), 0.0)

    @lazy
    def series(self) -> list[Scores]:
        """The statistic of each hypothesis in every replicate: (R,) each."""
        return [values for of_metric in self.exchanged.statistics for values in of_metric]

    @lazy
    def exact(self) -> NDArray[np.bool_]:
        """Whether the replicates of each hypothesis are all possible ones: (H,)."""
        return np.tile(self.exchanged.exact, len(self.data.samples))

    @property
    def n_replicates(self) -> int:
        """As in :class:`Observed`, where pairs are exchanged together."""
        return len(self.series[0])

    @property
    def includes_observed(self) -> bool:
        """As in :class:`Observed`, where pairs are exchanged together."""
        return all(self.exchanged.exact)

    def smallest(self, h: int) -> float:
        """The smallest p-value that the test of a hypothesis can reach."""
        if self.exchanged.closed is not None:
            return 0.0
        n, exact = len(self.series[h]), self.exact[h]
        if self.unit.whole_runs:
            _, *systems = self.hypotheses.indices(h)
            a, b = (self.data.n_runs[system] for system in systems)
            of_splits = smallest_of_splits(a, b, self.alternative)
            return of_splits if exact else max(of_splits, 1 / (n + 1))
        if exact:
            return min(1.0, (2 if self.alternative == "two-sided" else 1) / n)
        return 1 / (n + 1)


@dataclass(eq=False)
class RunOutcome(Outcome):
    """The outcome of a test of runs for each hypothesis: see :class:`~reshuffle.results.studies.RunDifference`."""

    n_resamples: Integers = field(metadata=COUNTS)
    """Shape (H,): pairs may have different numbers of runs."""
    exact: NDArray[np.bool_] = field(kw_only=True)
    """Shape (H,)."""
    smallest: Sequence[float] = field(kw_only=True)
    degrees_of_freedom: Sequence[float | None] = field(kw_only=True)


def tested(observed: Observed) -> RunOutcome:
    """The tests of an exchange unit."""
    assert isinstance(observed, ObservedRuns)
    exchanged, alternatives = observed.exchanged, observed.each_alternative
    of_tests = zip(observed.series, observed.thresholds, alternatives, strict=True)
    counts = np.array([int(reached(values, limit, alternative).sum()) for values, limit, alternative in of_tests])
    n = np.array([len(values) for values in observed.series])
    if exchanged.closed is None:
        pvalues = pvalue(counts, n, observed.exact)
    else:
        closed = [each for of_metric in exchanged.closed for each in of_metric]
        pvalues = np.array([each.pvalue(own) for each, own in zip(closed, alternatives, strict=True)])
    degrees = exchanged.degrees_of_freedom
    return RunOutcome(
        observed.difference,
        pvalues,
        counts,
        n,
        exact=observed.exact,
        smallest=[observed.smallest(h) for h in range(len(n))],
        degrees_of_freedom=[None] * len(n) if degrees is None else [float(each) for own in degrees for each in own],
    )


def max_t_of_runs(tests: Unadjusted) -> Adjusted:
    """Step-down maxT (Westfall & Young 1993) of exchanges that all pairs share.

    Statistics are divided by their root mean square over the replicates, whose expected value is 0. Studentized ones
    have a common scale already.
    """
    observed = tests.observed
    assert isinstance(observed, ObservedRuns)
    alternatives, n = observed.each_alternative, len(observed.series)
    if observed.exchanged.studentized:
        scales = np.ones(n)
    else:
        scales = np.array([np.sqrt(np.mean(values**2)) for values in observed.series])
    extremes = extremeness_to_reach(observed.thresholds, alternatives)
    # Where no replicate differs from 0, either the systems are the same or no replicate reaches the difference.
    to_reach = np.divide(extremes, scales, out=np.where(extremes > 0, np.inf, 0.0), where=scales > 0)

    def series(order: Sequence[int]) -> Iterator[Scores]:
        for h in order:
            values = observed.series[h]
            yield extremeness(values, alternatives[h]) / scales[h] if scales[h] > 0 else np.zeros_like(values)

    pvalues, _ = step_down_max(observed, to_reach, series)
    return Adjusted(pvalues)


def run_outcome(data: RunData, pairs: Pairs, unit: ExchangeUnit, settings: RunSettings) -> tuple[Plan, RunOutcome]:
    """Test all pairs (system, baseline) under all metrics, and with which plan."""
    exchanged = unit.run(data, pairs, settings.statistic)
    # What both have; maxT compares exchanges that all pairs share.
    common: dict[str, Any] = {"ties": unit.ties, "alpha": settings.alpha}
    step_down = {"maxt": StepDown(max_t_of_runs)} if exchanged.together else {}
    test = SignificanceTest(
        unit.name, unit.name, unit.about, unit.source, tested, replicates="shuffles", step_down=step_down
    )
    n_tests = family_size(settings.family, len(pairs), len(data.samples))
    # p-values that do not count ties are not valid, and no adjustment makes them so.
    adjust = "none" if n_tests == 1 or settings.adjust is None or unit.ties == ">" else settings.adjust
    if adjust in ("auto", "maxt"):
        adjust = next(iter(step_down), "holm")
    adjustment = None if adjust == "none" else ADJUSTMENTS[adjust]
    plan = Plan(test, settings.alternative, adjustment=adjustment, family=settings.family, **common)
    observed = ObservedRuns(
        Replicates(data.samples, data.resampling),
        Hypotheses.from_pairs(pairs, len(data.samples), family=settings.family),
        settings.alternative,
        Shuffling(),
        **common,
        data=data,
        unit=unit,
        exchanged=exchanged,
        score=settings.statistic,
    )
    outcome = outcome_of(plan, observed)
    assert isinstance(outcome, RunOutcome)
    return plan, outcome


def chosen_exchanges(
    numbers: Mapping[str, int], pairs: Pairs, settings: RunSettings
) -> tuple[list[str], str | None, dict[str, str]]:
    """The exchange units to test, the most important first; why; and those that are left out, with the reasons.

    ``numbers`` are the numbers of runs of the systems; pairs are of their places.
    """
    if not pairs:
        return [], None, {}
    names, requested = list(numbers), list(settings.exchange)
    named = [(names[a], names[b]) for a, b in pairs]
    default, why_default = _default([(numbers[a], numbers[b]) for a, b in named], settings)
    reason: str | None = why_default
    if requested == ["auto"]:
        wanted = default
    elif "all" in requested:
        wanted = list(dict.fromkeys([default[0], *ALL, *(name for name in requested if name != "all")]))
    else:
        wanted, reason = list(dict.fromkeys(requested)), None
    reasons = {name: _impossible(EXCHANGES[name], numbers, named, settings.statistic) for name in wanted}
    impossible = {name: why for name, why in reasons.items() if why is not None}
    if reason is None and impossible:
        name, why = next(iter(impossible.items()))
        raise InputError(f"exchange {name!r} {why}")
    return [name for name in wanted if name not in impossible], reason, impossible


def _default(numbers: Sequence[tuple[int, int]], settings: RunSettings) -> tuple[list[str], str]:
    """The exchange units of ``auto``, of which the first answers the question, and why it does."""
    if min(map(min, numbers)) == 1:
        return list(OF_ONE_RUN), (
            "a system with one run says nothing about how much runs differ, so only segments are exchanged; the result "
            "holds for these outputs, not for other runs of the systems"
        )
    smallest = max(smallest_of_splits(*each, settings.alternative) for each in numbers)
    beside = [name for name in BESIDE if smallest <= settings.alpha or not EXCHANGES[name].whole_runs]
    return [DECIDES, *beside], (
        "it asks whether new runs on new segments would differ, with any number of runs, and takes both runs and "
        "segments into account"
    )


def _impossible(
    unit: ExchangeUnit, numbers: Mapping[str, int], pairs: Sequence[tuple[str, str]], statistic: str
) -> str | None:
    """Why pairs of systems with these numbers of runs cannot be tested with this unit, or None."""
    fewest = min((system for pair in pairs for system in pair), key=lambda system: numbers[system])
    if statistic not in unit.statistics:
        return f"supports the statistic {either(map(repr, unit.statistics))}, not {statistic!r}"
    if unit.needs_runs > numbers[fewest]:
        return (
            f"needs at least {unit.needs_runs} runs of each system, but {fewest} has {numbers[fewest]}: add runs, or "
            "choose another unit, such as 'segment'"
        )
    for a, b in pairs:
        if unit.whole_runs and numbers[a] == numbers[b] == 1:
            return (
                f"needs more than one run, but {b} and {a} have one each, so that p would be 1 whatever the outputs: "
                "add runs, or choose another unit, such as 'segment'"
            )
        if unit.equal_runs and numbers[a] != numbers[b]:
            return (
                f"needs as many runs of one system as of the other, but {b} has {numbers[b]} and {a} has {numbers[a]}: "
                "choose another unit, such as 'pooled'"
            )
    return None
