"""The report of ``gate``: how often gates, and tests while data arrive, come to each decision."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import attrgetter

from ...errors import counted
from ...results.studies import StudyResult
from ...results.studies.gate import GATE, GatePlan, GateRate
from ..cells import Table
from ..pivot import Bold, Columns, Rows, as_field, fields, pivot
from ..wording import joined, number
from .base import StudyReport
from .wording import (
    LIBERAL,
    constant,
    differing,
    half_width,
    level_of,
    mark_of,
    of_keys,
    of_name,
    percent,
    rate_decimals,
    said,
)

# The columns that identify a row, and what tables call them.
NAMES = {
    "method": "Method",
    "differences": "Differences",
    "tasks": "Tasks",
    "correlation": "ρ",
    "margin": "Margin",
    "size": "n",
    "truth": "Truth",
}


def title(study: StudyResult[GatePlan]) -> str:
    """What is simulated."""
    return f"Decisions of {joined(study.plan.methods)}"


def _decisions(study: StudyResult[GatePlan]) -> Sequence[GateRate]:
    return study.tables["decisions"]


def tables(study: StudyResult[GatePlan]) -> Iterator[Table]:
    """A table of gates, and one of tests while data arrive."""
    rates = _decisions(study)
    for heading, own in (
        ("Verdicts of gates", of_name(rates, method=GATE)),
        ("Tests while data arrive", [rate for rate in rates if rate.method != GATE]),
    ):
        if own:
            yield _table(own, f"{heading}, in %: {counted(own[0].simulations, 'simulation')}").explained(_symbols(own))


def _table(rates: Sequence[GateRate], heading: str) -> Table:
    """A row for each method and kind of tasks, and a column for each decision."""
    names = [name for name in NAMES if name == "truth" or name in differing(rates, NAMES)]
    decimals, width = rate_decimals(rates[0].simulations), max(len(_mark(rate)) for rate in rates)

    def cells(rate: GateRate) -> list[str]:
        shown = f"{percent(rate.rate, decimals)}{_mark(rate):<{width}}"
        cell = Bold(shown) if _mark(rate) == LIBERAL else shown
        return [cell, f"{rate.units:,.0f}"] if rate.decision == "wrongly" else [cell]

    columns = Columns(
        "decision",
        # One number of segments for both.
        lambda name: [name, "Segments"] if name == "wrongly" else [name],
        cells,
        None if rates[0].units is None else ["decided", "wrongly"],
    )
    rows = Rows(fields(NAMES, names), group=attrgetter(*names[:-1]) if names[:-1] else None)
    return pivot(heading, rates, rows, columns, "rates of wrong decisions whose interval lies above α")


def _mark(rate: GateRate) -> str:
    return mark_of(rate) if rate.is_wrong and rate.verdict == "liberal" else ""


def _symbols(rates: Sequence[GateRate]) -> str:
    shown = differing(rates, NAMES)
    return said(
        {
            "ρ: correlation between tasks.": "correlation" in shown,
            "Margin: in standard errors.": "margin" in shown,
            "Segments: the median number after which a method decides.": rates[0].units is not None,
            f"{LIBERAL}: wrong decisions whose {level_of(rates)} lies above α.": any(map(_mark, rates)),
        }
    )


def conclusions(study: StudyResult[GatePlan]) -> Iterator[str]:
    """Which methods decide wrongly too often."""
    rates, alpha = [rate for rate in _decisions(study) if rate.is_wrong], number(study.plan.alpha)
    others = []
    for values, own in of_keys(rates, "method"):
        liberal = [rate for rate in own if _mark(rate)]
        if not liberal:
            others.append(values["method"])
            continue
        how, worst = f"more often than α = {alpha}", percent(max(rate.rate for rate in liberal), 1)
        yield f"{values['method']} decides wrongly {how} in {len(liberal)} of {len(own)} cases: up to {worst}%."
    if others:
        yield f"Wrong decisions of {joined(others)} are compatible with α = {alpha}."


def notes(study: StudyResult[GatePlan]) -> Iterator[str]:
    """What the decisions are, and their Monte Carlo error."""
    plan, rates = study.plan, _decisions(study)
    for name in ("correlation", "margin", "size"):
        if constant(rates, name) is not None:
            yield f"{NAMES[name]} = {as_field(name)(rates[0])}{' standard errors' * (name == 'margin')}."
    if GATE in plan.methods:
        yield (
            f"Gates have the rule non-inferior and {counted(plan.n_resamples, 'replicate')}. Wrong: allow where a "
            "task is worse, reject where all are equal."
        )
    if set(plan.methods) - {GATE}:
        yield (
            "While data arrive, all tasks together are tested at α; decided: the first difference shown is "
            "real; wrongly: it is not, or has the opposite sign."
        )
    widest = max(half_width(rate.confidence_interval) for rate in rates)
    yield f"Half the width of a rate's {level_of(rates)} (Clopper–Pearson) is at most {percent(widest, 1)} points."


REPORT = StudyReport(title, tables, conclusions, notes)
