"""What the tables, sentences and figures of comparisons of runs have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...results.studies import RunComparison, RunDifference, RunScores, SystemRuns
from ..cells import decimals_for
from ..words import Template, words
from .shared import of_name

# Longer tables of what other experiments would observe are only in CSV and JSON.
MOST_OBSERVED = 12


def decimals_under(result: RunComparison, metric: str) -> int:
    """The decimals of scores and differences under a metric."""
    return decimals_for(max(abs(system.scores[metric].mean) for system in result.systems))


@dataclass(frozen=True, slots=True)
class ScoredRuns:
    """The scores of a system's runs under one metric."""

    system: str
    metric: str
    scores: RunScores


def scored_runs(systems: Sequence[SystemRuns]) -> list[ScoredRuns]:
    """The scores of each system, metric by metric."""
    return [ScoredRuns(each.name, metric, each.scores[metric]) for metric in systems[0].scores for each in systems]


def deviation(value: float | None, decimals: int) -> str:
    """A standard deviation; a dash if it is undefined, and never 0 for what only rounds to it.

    >>> deviation(0.26, 2), deviation(None, 2), deviation(0.001, 2), deviation(0.0, 2)
    ('0.26', '–', '<0.01', '0.00')
    """
    if value is None:
        return "–"
    rounded = f"{value:.{decimals}f}"
    return f"<{10.0**-decimals:.{decimals}f}" if value > 0 and float(rounded) == 0 else rounded


def p_name(result: RunComparison, units: Sequence[str]) -> str:
    """What the p-values of tests by these exchange units are called."""
    adjusted = (each.adjusted_pvalue is not None for each in result.comparisons if each.exchange in units)
    return "adjusted p" if any(adjusted) else "p"


def deciding(result: RunComparison) -> list[RunDifference]:
    """The differences, tested by the exchange unit that decides."""
    return of_name(result.comparisons, exchange=result.default_exchange)


def is_significant(result: RunComparison, each: RunDifference) -> bool:
    """Whether a test of the exchange unit that decides rejects."""
    return each.exchange == result.default_exchange and each.is_significant(result.plan.alpha)


def has_several(result: RunComparison) -> bool:
    """Whether a system has several runs."""
    return any(n > 1 for n in result.plan.systems.values())


def observes_many(result: RunComparison) -> bool:
    """Whether only CSV and JSON have the table of what other experiments would observe, because it is long."""
    return len({(each.metric, each.baseline, each.system) for each in result.observed}) > MOST_OBSERVED


def of_unit(result: RunComparison, text: str) -> str:
    """A text about segments, for documents if these are resampled."""
    unit = result.plan.unit
    return text.replace("segment", unit).replace("Segment", unit.capitalize())


def phrase(result: RunComparison, name: str, exchange: str = "", **values: Any) -> str:
    """A phrase of ``words/runs.toml``, of an interval or of an exchange unit; empty if there is none."""
    known = words("runs")
    parts = {**known["phrase"], **known["interval"], **known["exchange"].get(exchange, {})}
    two_sided = result.plan.alternative == "two-sided"
    return Template(parts).filled(name, {**result.plan, "two_sided": two_sided, **values}) if name in parts else ""


def exchange_phrase(result: RunComparison, unit: str | None = None) -> str:
    """What a test does, after ``by``: by default that which decides."""
    name = unit or result.default_exchange or ""
    return phrase(result, "by", name) or name
