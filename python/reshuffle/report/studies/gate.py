"""The report of ``gate``: how often gates, and tests while data arrive, come to each decision."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import attrgetter

from ...errors import counted
from ...results.studies import StudyResult
from ...results.studies.gate import GATE, GatePlan, GateRate
from ..cells import Table
from ..pivot import Columns, Rows, as_field, fields, pivot
from ..wording import joined, number
from .base import StudyReport
from .rates import LIBERAL, cells_of, half_width, level_of, symbols_of
from .shared import HEADINGS, constant, differing, in_percent, of_keys, of_name

# The fields that identify a row.
NAMES = ("method", "differences", "tasks", "correlation", "margin", "size", "truth")
SYMBOLS = {
    "correlation": "ρ: correlation between tasks.",
    "margin": "Margin: in standard errors.",
    "units": "Segments: the median number after which a method decides.",
    LIBERAL: f"{LIBERAL}: wrong decisions whose {{level}} lies above α.",
}


def title(study: StudyResult[GatePlan]) -> str:
    """What is simulated."""
    return f"Decisions of {joined(study.plan.methods)}"


def tables(study: StudyResult[GatePlan]) -> Iterator[Table]:
    """A table of gates, and one of tests while data arrive."""
    rates: Sequence[GateRate] = study.tables["decisions"]
    for heading, own in (
        ("Verdicts of gates", of_name(rates, method=GATE)),
        ("Tests while data arrive", [rate for rate in rates if rate.method != GATE]),
    ):
        if own:
            table = _table(own, f"{heading}, in %: {counted(own[0].simulations, 'simulation')}")
            yield table.explained(symbols_of(own, SYMBOLS, _mark, also=() if own[0].units is None else ("units",)))


def _table(rates: Sequence[GateRate], heading: str) -> Table:
    """A row for each method and kind of tasks, and a column for each decision."""
    names = [name for name in NAMES if name == "truth" or name in differing(rates, NAMES)]
    cell = cells_of(rates, _mark)

    def cells(rate: GateRate) -> list[str]:
        return [cell(rate), f"{rate.units:,.0f}"] if rate.decision == "wrongly" else [cell(rate)]

    columns = Columns(
        "decision",
        # One number of segments for both.
        lambda name: [name, "Segments"] if name == "wrongly" else [name],
        cells,
        None if rates[0].units is None else ["decided", "wrongly"],
    )
    rows = Rows(fields(HEADINGS, names), group=attrgetter(*names[:-1]) if names[:-1] else None)
    return pivot(heading, rates, rows, columns, "rates of wrong decisions whose interval lies above α")


def _mark(rate: GateRate) -> str:
    return LIBERAL if rate.is_wrong and rate.verdict == "liberal" else ""


def conclusions(study: StudyResult[GatePlan]) -> Iterator[str]:
    """Which methods decide wrongly too often."""
    rates, alpha = [rate for rate in study.tables["decisions"] if rate.is_wrong], number(study.plan.alpha)
    others = []
    for values, own in of_keys(rates, "method"):
        liberal = [rate for rate in own if _mark(rate)]
        if not liberal:
            others.append(values["method"])
            continue
        how, worst = f"more often than α = {alpha}", in_percent(max(rate.rate for rate in liberal), 1)
        yield f"{values['method']} decides wrongly {how} in {len(liberal)} of {len(own)} cases: up to {worst}%."
    if others:
        yield f"Wrong decisions of {joined(others)} are compatible with α = {alpha}."


def notes(study: StudyResult[GatePlan]) -> Iterator[str]:
    """What the decisions are, and their Monte Carlo error."""
    plan, rates = study.plan, study.tables["decisions"]
    for name in ("correlation", "margin", "size"):
        if constant(rates, name) is not None:
            yield f"{HEADINGS[name]} = {as_field(name)(rates[0])}{' standard errors' * (name == 'margin')}."
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
    yield f"Half the width of a rate's {level_of(rates)} (Clopper–Pearson) is at most {in_percent(widest, 1)} points."


REPORT = StudyReport(title, tables, conclusions, notes)
