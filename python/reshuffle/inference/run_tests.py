"""Tests of systems with several runs: from the statistics of exchange units to p-values."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, either
from ..metrics.base import Scores, tolerance
from ..resampling import directed, extremeness, reached
from ..resampling.run_exchange import Exchanged
from ..resampling.runs import RunData
from ..resampling.samples import Pairs
from ..results.studies.runs import runs_needed, smallest_of_splits
from .exchange import EXCHANGES, ExchangeUnit
from .multiplicity import ADJUSTMENTS
from .pvalues import threshold
from .step_down import extremeness_to_reach, running_maximum

# The exchange units that ``all`` stands for. MultEval's has to be asked for by name.
ALL = tuple(name for name in EXCHANGES if name != "multeval")
# The adjustments for comparisons of runs.
OF_PVALUES = tuple(name for name, adjustment in ADJUSTMENTS.items() if not adjustment.from_replicates)
# The exchange unit with which ``auto`` decides, whatever the number of runs, as long as each system has two: it asks
# whether new runs on new segments would differ, and no other test of that keeps its level so well
# (docs/evidence/runs.md#few-runs-unequal-numbers-and-spreads).
DECIDES = "hierarchical"
# What it shows beside it, where there are enough runs. The reading of Clark et al. 2011 is "pooled".
BESIDE = ("welch", "run", "segment", "pooled")
# With one run of a system, the question has to be another one.
OF_ONE_RUN = ("segment", "pooled")


@dataclass(frozen=True)
class RunTesting:
    """What is tested for all pairs, and how; checked by :meth:`check`."""

    statistic: str = "pooled"
    alternative: str = "two-sided"
    adjust: str | None = "auto"
    family: str = "metric"
    alpha: float = 0.05

    def check(self) -> None:
        """Raise :class:`InputError` for an adjustment that comparisons of runs do not have."""
        if self.adjust not in (None, "auto", "none", "maxt", *OF_PVALUES):
            raise InputError(
                f"comparisons of runs have no adjustment {self.adjust!r}: use "
                f"{either(map(repr, ('auto', 'none', 'maxt', *OF_PVALUES)))}"
            )

    def adjustment(self, n_tests: int, together: bool) -> str | None:
        """The adjustment of a family of so many tests, or None. ``together`` is :attr:`Exchanged.together`."""
        if n_tests == 1 or self.adjust in (None, "none"):
            return None
        if self.adjust == "auto" or (self.adjust == "maxt" and not together):
            return "maxt" if together else "holm"
        return self.adjust


@dataclass(frozen=True)
class PairOutcome:
    """The test of a pair under a metric, with one exchange unit. See :class:`~reshuffle.results.studies.RunDifference`.

    ``adjustment`` is the name of the adjustment, None if there is none.
    """

    difference: float
    pvalue: float
    adjusted_pvalue: float | None
    smallest_pvalue: float
    runs_needed: int | None
    exceedances: int
    n_resamples: int
    exact: bool
    degrees_of_freedom: float | None
    adjustment: str | None


def chosen_exchanges(
    numbers: Mapping[str, int], pairs: Pairs, requested: Sequence[str], testing: RunTesting
) -> tuple[list[str], str | None, dict[str, str]]:
    """The exchange units to test, the most important first; why; and those that are left out, with the reasons.

    ``numbers`` are the numbers of runs of the systems; pairs are of their places. ``requested`` are names in
    :data:`EXCHANGES`, or ``auto`` alone, or ``all`` with or without names.
    """
    if not pairs:
        return [], None, {}
    systems = [_Numbered(*item) for item in numbers.items()]
    named = [(systems[a], systems[b]) for a, b in pairs]
    default, why_default = _default(named, testing)
    reason: str | None = why_default
    if requested == ["auto"]:
        wanted = default
    elif "all" in requested:
        wanted = list(dict.fromkeys([default[0], *ALL, *(name for name in requested if name != "all")]))
    else:
        wanted, reason = list(dict.fromkeys(requested)), None
    impossible = {name: why for name in wanted if (why := _impossible(EXCHANGES[name], named, testing))}
    if reason is None and impossible:
        name, why = next(iter(impossible.items()))
        raise InputError(f"exchange {name!r} {why}")
    return [name for name in wanted if name not in impossible], reason, impossible


def _default(named: Sequence[tuple[_Numbered, _Numbered]], testing: RunTesting) -> tuple[list[str], str]:
    """The exchange units of ``auto``, of which the first answers the question, and why it does."""
    if min(system.n_runs for pair in named for system in pair) == 1:
        return list(OF_ONE_RUN), (
            "a system with one run says nothing about how much runs differ, so only segments are exchanged; the result "
            "holds for these outputs, not for other runs of the systems"
        )
    smallest = max(smallest_of_splits(a.n_runs, b.n_runs, testing.alternative) for a, b in named)
    beside = [name for name in BESIDE if name != "run" or smallest <= testing.alpha]
    return [DECIDES, *beside], (
        "it asks whether new runs on new segments would differ, with any number of runs, and takes both runs and "
        "segments into account"
    )


class _Numbered(NamedTuple):
    """A system and the number of its runs."""

    name: str
    n_runs: int


def _impossible(unit: ExchangeUnit, pairs: Sequence[tuple[_Numbered, _Numbered]], testing: RunTesting) -> str | None:
    """Why systems with these numbers of runs cannot be tested with this unit, or None."""
    fewest = min((system for pair in pairs for system in pair), key=lambda system: system.n_runs)
    if testing.statistic not in unit.statistics:
        return f"supports the statistic {either(map(repr, unit.statistics))}, not {testing.statistic!r}"
    if unit.needs_runs > fewest.n_runs:
        return (
            f"needs at least {unit.needs_runs} runs of each system, but {fewest.name} has {fewest.n_runs}: add "
            "runs, or choose another unit, such as 'segment'"
        )
    alone = next(((a, b) for a, b in pairs if a.n_runs == b.n_runs == 1), None)
    if unit.name == "run" and alone is not None:
        a, b = alone
        return (
            f"needs more than one run, but {b.name} and {a.name} have one each, so that p would be 1 "
            "whatever the outputs: add runs, or choose another unit, such as 'segment'"
        )
    unequal = next(((a, b) for a, b in pairs if a.n_runs != b.n_runs), None)
    if unit.equal_runs and unequal is not None:
        a, b = unequal
        return (
            f"needs as many runs of one system as of the other, but {b.name} has {b.n_runs} and "
            f"{a.name} has {a.n_runs}: choose another unit, such as 'pooled'"
        )
    return None


def pair_outcomes(data: RunData, pairs: Pairs, unit: ExchangeUnit, testing: RunTesting) -> list[list[PairOutcome]]:
    """Test all pairs (system, baseline) under all metrics: a list of pairs for each metric."""
    exchanged = unit.run(data, pairs, testing.statistic)
    scores = np.array([data.score_of(system, testing.statistic) for system in range(len(data.names))]).T
    a, b = np.array(pairs).T
    observed = scores[:, a] - scores[:, b]
    compared = observed if exchanged.observed is None else np.array(exchanged.observed)
    tolerances = _of_t(compared) if exchanged.studentized else tolerance(scores[:, a], scores[:, b])
    alternatives = [directed(testing.alternative, sample.metric.higher_is_better) for sample in data.samples]
    of_tests = np.repeat(np.array(alternatives)[:, None], len(pairs), axis=1)
    thresholds = threshold(compared, tolerances if unit.ties == ">=" else -tolerances, of_tests)
    counts = np.array(
        [
            [int(reached(values, limit, alternative).sum()) for values, limit in zip(own, limits, strict=True)]
            for own, limits, alternative in zip(exchanged.statistics, thresholds, alternatives, strict=True)
        ]
    )
    if exchanged.closed is None:
        pvalues = _pvalues(exchanged, counts)
    else:
        closed = zip(exchanged.closed, alternatives, strict=True)
        pvalues = np.array([[each.pvalue(alternative) for each in own] for own, alternative in closed])
    # p-values that do not count ties are not valid, and no adjustment makes them so.
    adjustment = testing.adjustment(_family_size(counts, testing), exchanged.together) if unit.ties == ">=" else None
    adjusted = (
        None if adjustment is None else _adjusted(exchanged, (thresholds, of_tests, pvalues), adjustment, testing)
    )
    return [
        [
            PairOutcome(
                difference=float(observed[m, p]),
                pvalue=float(pvalues[m, p]),
                adjusted_pvalue=None if adjusted is None else float(adjusted[m, p]),
                smallest_pvalue=_smallest(exchanged, unit, data, (m, p), pairs, testing),
                runs_needed=runs_needed(testing.alpha, testing.alternative) if unit.name == "run" else None,
                exceedances=int(counts[m, p]),
                n_resamples=len(exchanged.statistics[m][p]),
                exact=bool(exchanged.exact[p]),
                degrees_of_freedom=_degrees_of_freedom(exchanged, m, p),
                adjustment=adjustment,
            )
            for p in range(len(pairs))
        ]
        for m in range(len(data.samples))
    ]


# Equal values of t in exact arithmetic may differ by this share.
OF_T = 1e-10


def _of_t(values: Scores) -> Scores:
    """The tolerances of ties of t; infinite values are equal without one."""
    return np.where(np.isfinite(values), OF_T * np.abs(values), 0.0)


def _degrees_of_freedom(exchanged: Exchanged, m: int, p: int) -> float | None:
    return None if exchanged.degrees_of_freedom is None else float(exchanged.degrees_of_freedom[m][p])


def _family_size(counts: NDArray[np.int64], testing: RunTesting) -> int:
    return counts.size if testing.family == "all" else counts.shape[1]


def _pvalues(exchanged: Exchanged, counts: NDArray[np.int64]) -> Scores:
    """From (metrics, pairs) counts of replicates: (c + 1)/(R + 1), or c/N of all N arrangements."""
    plus = np.where(exchanged.exact, 0, 1)
    n = np.array([[len(values) for values in own] for own in exchanged.statistics])
    return np.asarray((counts + plus) / (n + plus))


def _smallest(
    exchanged: Exchanged, unit: ExchangeUnit, data: RunData, at: tuple[int, int], pairs: Pairs, testing: RunTesting
) -> float:
    """The smallest p-value that the test of a pair under a metric can reach."""
    m, p = at
    if exchanged.closed is not None:
        return 0.0
    n, exact = len(exchanged.statistics[m][p]), exchanged.exact[p]
    if unit.name == "run":
        a, b = pairs[p]
        of_splits = smallest_of_splits(data.n_runs[a], data.n_runs[b], testing.alternative)
        return of_splits if exact else max(of_splits, 1 / (n + 1))
    if exact:
        return min(1.0, (2 if testing.alternative == "two-sided" else 1) / n)
    return 1 / (n + 1)


def _adjusted(
    exchanged: Exchanged, unadjusted: tuple[Scores, NDArray[np.str_], Scores], adjustment: str, testing: RunTesting
) -> Scores:
    """The adjusted p-values. ``unadjusted``: thresholds of statistics, alternatives, p; (metrics, pairs)."""
    thresholds, alternatives, pvalues = unadjusted
    adjusted = np.empty_like(pvalues)
    for family in _families(pvalues.shape, testing.family):
        if adjustment == "maxt":
            adjusted[family] = _max_t(exchanged, family, thresholds[family], alternatives[family])
        else:
            of_pvalues = ADJUSTMENTS[adjustment].of_pvalues
            assert of_pvalues is not None
            adjusted[family] = of_pvalues(pvalues[family])
    return np.maximum(adjusted, pvalues)


def _families(shape: tuple[int, ...], family: str) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """The indices of the metrics and of the pairs of each family."""
    metrics, pairs = np.indices(shape)
    if family == "all":
        yield metrics.ravel(), pairs.ravel()
    else:
        yield from zip(metrics, pairs, strict=True)


def _max_t(
    exchanged: Exchanged,
    family: tuple[NDArray[np.intp], NDArray[np.intp]],
    thresholds: Scores,
    alternatives: NDArray[np.str_],
) -> Scores:
    """Step-down maxT (Westfall & Young 1993) of the tests of a family: (tests,).

    Statistics are divided by their root mean square over the replicates, whose expected value is 0. Studentized ones
    have a common scale already.
    """
    series = [exchanged.statistics[m][p] for m, p in zip(*family, strict=True)]
    if exchanged.studentized:
        scales = np.ones(len(series))
    else:
        scales = np.array([math.sqrt(float(np.mean(values**2))) for values in series])
    extremes = extremeness_to_reach(thresholds, alternatives)
    # Where no replicate differs from 0, either the systems are the same or no replicate reaches the difference.
    to_reach = np.divide(extremes, scales, out=np.where(extremes > 0, np.inf, 0.0), where=scales > 0)
    order = np.lexsort((-np.arange(len(to_reach)), to_reach))  # the least extreme first
    largest = np.full(len(series[0]), -np.inf)
    counts = np.empty(len(series))
    for test in order.tolist():
        if scales[test] > 0:
            np.maximum(largest, extremeness(series[test], alternatives[test]) / scales[test], out=largest)
        else:
            np.maximum(largest, 0, out=largest)
        counts[test] = np.count_nonzero(largest >= to_reach[test])
    plus = 0 if all(exchanged.exact) else 1
    return running_maximum(np.argsort(-to_reach, kind="stable"), (counts + plus) / (len(largest) + plus))
