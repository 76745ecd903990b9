"""Tests of systems with several runs: from the statistics of exchange units to p-values.

The first functions say where tests may reject too often: cells above .07 of docs/evidence/runs.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, either
from ..metrics.base import Scores, tolerance
from ..resampling import directed, extremeness, reached
from ..resampling.run_exchange import Exchanged
from ..resampling.run_t import no_spread
from ..resampling.runs import RunData
from ..resampling.samples import Pairs
from ..results.studies.runs import smallest_of_splits
from ..settings import RunSettings
from .exchange import ALL, EXCHANGES, ExchangeUnit
from .hypotheses import Hypotheses, Integers, family_size
from .multiplicity import ADJUSTMENTS
from .pvalues import pvalue, threshold
from .step_down import extremeness_to_reach, step_down_max

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
class RunOutcome:
    """The outcome of a test for each hypothesis, (H,): see :class:`~reshuffle.results.studies.RunDifference`."""

    difference: Scores
    pvalue: Scores
    exceedances: Integers
    n_resamples: Integers
    exact: NDArray[np.bool_]
    smallest: Sequence[float]
    degrees_of_freedom: Sequence[float | None]
    adjusted: Scores | None = None


def run_outcome(data: RunData, pairs: Pairs, unit: ExchangeUnit, settings: RunSettings) -> tuple[str, RunOutcome]:
    """Test all pairs (system, baseline) under all metrics: the name of the adjustment, or ``none``, and the outcome."""
    exchanged = unit.run(data, pairs, settings.statistic)
    hypotheses = Hypotheses.from_pairs(pairs, len(data.samples), family=settings.family)
    of_metrics = [directed(settings.alternative, sample.metric.higher_is_better) for sample in data.samples]
    alternatives, series = np.array(of_metrics)[hypotheses.metric], list(chain.from_iterable(exchanged.statistics))
    scores = np.array([data.score_of(system, settings.statistic) for system in range(len(data.names))]).T
    a, b = (scores[hypotheses.metric, systems] for systems in (hypotheses.a, hypotheses.b))
    statistic = a - b if exchanged.observed is None else np.array(exchanged.observed).ravel()
    tolerances = tolerance(a, b)
    if exchanged.studentized:  # infinite values of t are equal without a tolerance
        tolerances = np.where(np.isfinite(statistic), OF_T * np.abs(statistic), 0.0)
    limits = threshold(statistic, tolerances if unit.ties == ">=" else -tolerances, alternatives)
    of_tests = zip(series, limits, alternatives, strict=True)
    counts = np.array([int(reached(values, limit, alternative).sum()) for values, limit, alternative in of_tests])
    n, exact = np.array([len(values) for values in series]), np.tile(exchanged.exact, len(data.samples))
    if exchanged.closed is None:
        pvalues = pvalue(counts, n, exact)
        smallest = [
            _smallest(unit, (data.n_runs[x], data.n_runs[y]), size, is_exact, settings.alternative)
            for (x, y), size, is_exact in zip([*pairs] * len(data.samples), n.tolist(), exact, strict=True)
        ]
    else:
        closed = zip(chain.from_iterable(exchanged.closed), alternatives, strict=True)
        pvalues, smallest = np.array([each.pvalue(own) for each, own in closed]), [0.0] * len(n)
    degrees = exchanged.degrees_of_freedom
    own_degrees = [None] * len(n) if degrees is None else list(map(float, chain.from_iterable(degrees)))
    outcome = RunOutcome(a - b, pvalues, counts, n, exact, smallest, own_degrees)
    adjust = _adjustment(settings, unit, exchanged, family_size(settings.family, len(pairs), len(data.samples)))
    if adjust == "maxt":
        families = hypotheses.families()
        outcome.adjusted = np.maximum(_max_t(exchanged, families, series, limits, alternatives), pvalues)
    elif adjust != "none":
        outcome.adjusted = ADJUSTMENTS[adjust].by_family(pvalues, hypotheses.family)
    return adjust, outcome


def _adjustment(settings: RunSettings, unit: ExchangeUnit, exchanged: Exchanged, n_tests: int) -> str:
    """The name of the adjustment of tests that are a family, or ``none``."""
    # p-values that do not count ties are not valid, and no adjustment makes them so.
    if n_tests == 1 or settings.adjust is None or unit.ties == ">":
        return "none"
    if settings.adjust in ("auto", "maxt"):
        return "maxt" if exchanged.together else "holm"  # maxT compares exchanges that all pairs share
    return settings.adjust


def _smallest(unit: ExchangeUnit, numbers: tuple[int, int], n: int, is_exact: bool, alternative: str) -> float:
    """The smallest p-value that the test of two systems with these numbers of runs can reach by n replicates."""
    if unit.whole_runs:
        of_splits = smallest_of_splits(*numbers, alternative)
        return of_splits if is_exact else max(of_splits, 1 / (n + 1))
    if is_exact:
        return min(1.0, (2 if alternative == "two-sided" else 1) / n)
    return 1 / (n + 1)


def _max_t(
    exchanged: Exchanged,
    families: Sequence[slice],
    series: Sequence[Scores],
    limits: Scores,
    alternatives: NDArray[np.str_],
) -> Scores:
    """Step-down maxT (Westfall & Young 1993) of exchanges that all pairs share.

    Statistics are divided by their root mean square over the replicates, whose expected value is 0. Studentized ones
    have a common scale already.
    """
    n = len(series)
    scales = np.ones(n) if exchanged.studentized else np.array([np.sqrt(np.mean(values**2)) for values in series])
    extremes = extremeness_to_reach(limits, alternatives)
    # Where no replicate differs from 0, either the systems are the same or no replicate reaches the difference.
    to_reach = np.divide(extremes, scales, out=np.where(extremes > 0, np.inf, 0.0), where=scales > 0)

    def in_order(order: Sequence[int]) -> Iterator[Scores]:
        for h in order:
            extreme = extremeness(series[h], alternatives[h])
            yield extreme / scales[h] if scales[h] > 0 else np.zeros_like(extreme)

    pvalues, _ = step_down_max(families, len(series[0]), to_reach, in_order, includes_observed=all(exchanged.exact))
    return pvalues


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
