"""The report of ``plan``: minimum detectable differences, powers and sizes of test sets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ...errors import counted
from ...results.studies import DetectableAtSize, PairError, PlannedLooks, PlannedPower, PlannedSize, StudyResult
from ...results.studies.design import DesignPlan
from ..cells import Table, decimals_for
from ..pivot import Cells, Rows, fields, pivot
from ..wording import joined, number
from .base import Figure, StudyReport
from .power import ERROR_SYMBOLS, power_table
from .wording import constant, of_name, percent, unit_of


def title(study: StudyResult[DesignPlan]) -> str:
    """The metrics."""
    return f"Plan of a test set: {joined(metric.name for metric in study.metrics)}"


def tables(study: StudyResult[DesignPlan]) -> Iterator[Table]:
    """Minimum detectable differences, power, sizes needed, simulated power, and standard errors."""
    yield _detectable(study).explained(_ranges(study))
    if "planned" in study.tables:
        has_errors = any(each.type_m is not None for each in study.tables["planned"])
        yield _planned(study).explained(ERROR_SYMBOLS if has_errors else "")
        yield _needed(study)
    if "sequential" in study.tables:
        yield _sequential(study).explained("Expected: units at the look that decides, if the difference is true.")
    if study.tables.get("simulated"):
        rates = study.tables["simulated"]
        (first, *_) = rates
        pairs = {(rate.system, rate.baseline) for rate in rates}
        shown = f", {first.system} − {first.baseline}" if len(pairs) == 1 else ""
        table = power_table(rates, f"Simulated power in %{shown}")
        yield table.explained("±: half the width of the 95% interval.")
    yield _errors(study)


def _has_range(records: Sequence[Any]) -> bool:
    """Do standard errors differ between pairs?"""
    return any(each.low != each.high for each in records)


def _ranges(study: StudyResult[DesignPlan]) -> str:
    """What the range over pairs is."""
    if not _has_range(study.tables["detectable"]):
        return ""
    return "Tables show the pair of systems with the median standard error; range: over all pairs."


def _names(study: StudyResult[DesignPlan], records: Sequence[Any]) -> list[str]:
    """The metric, and the method if there are several, or another than was asked for."""
    methods = {each.method for each in records}
    return ["metric", *(["method"] if len(methods) > 1 or (study.plan.simulate and "normal" in methods) else [])]


HEADER = {"metric": "Metric", "method": "Method"}


def _decimals(study: StudyResult[DesignPlan], metric: str) -> int:
    """The decimals of differences under a metric."""
    found = [each.difference for each in study.tables["detectable"] if each.metric == metric]
    return decimals_for(max(found))


def _of_power(records: Sequence[Any]) -> str:
    """The power for a title, if it is always the same."""
    power = constant(records, "power")
    return "" if power is None else f" with {number(100 * power)}% power"


def _detectable(study: StudyResult[DesignPlan]) -> Table:
    def points(each: DetectableAtSize, difference: float) -> str:
        return f"{difference:.{_decimals(study, each.metric)}f}"

    found: Sequence[DetectableAtSize] = study.tables["detectable"]
    cells = {_units(study): _size_cell, **_power(found), "Difference": lambda each: points(each, each.difference)}
    title = f"Minimum detectable difference{_of_power(found)}"
    return _table(study, title, found, cells | _range(found, points), ["power"])


def _planned(study: StudyResult[DesignPlan]) -> Table:
    found: Sequence[PlannedPower] = study.tables["planned"]
    cells = GIVEN | {_units(study): _size_cell, "Power in %": lambda each: percent(each.power, 1)}
    cells |= _range(found, lambda each, power: percent(power, 1))
    if any(each.type_m is not None for each in found):
        cells["M"] = lambda each: "–" if each.type_m is None else f"{each.type_m:.2f}"
        cells["S"] = lambda each: "–" if each.type_s is None else percent(each.type_s, 1)
    return _table(study, "Power of given differences", found, cells, ["difference"])


def _needed(study: StudyResult[DesignPlan]) -> Table:
    found: Sequence[PlannedSize] = study.tables["needed"]
    cells = {**GIVEN, **_power(found), _units(study): _size_cell}
    return _table(study, f"Size needed{_of_power(found)}", found, cells | _range(found, lambda each, size: _size(size)))


def _sequential(study: StudyResult[DesignPlan]) -> Table:
    found: Sequence[PlannedLooks] = study.tables["sequential"]
    cells: Cells = {**fields(HEADER, HEADER), **GIVEN, "Power": _power_cell, _units(study): _size_cell}
    cells["Expected"] = lambda each: f"{each.expected:,}"
    title = f"Size needed with {found[0].looks} planned looks{_of_power(found)}"
    return pivot(title, found, Rows(cells, n_names=2))


def _size(size: int | None) -> str:
    return "over 2⁵³" if size is None else f"{size:,}"


def _size_cell(each: Any) -> str:
    return _size(each.size)


def _units(study: StudyResult[DesignPlan]) -> str:
    """The heading of sizes."""
    return f"{unit_of(study).capitalize()}s"


# The column of differences, as they were given.
GIVEN: Cells = {"Difference": lambda each: number(each.difference)}


def _power_cell(each: Any) -> str:
    return f"{percent(each.power, 0)}%"


def _power(records: Sequence[Any]) -> Cells:
    """The column of powers, unless the title has the only one."""
    return {} if constant(records, "power") is not None else {"Power": _power_cell}


def _range(records: Sequence[Any], shown: Callable[[Any, Any], str]) -> Cells:
    """The column of ranges over pairs, if standard errors differ between these."""
    if not _has_range(records):
        return {}
    return {"Range": lambda each: f"{shown(each, each.low)} to {shown(each, each.high)}"}


def _table(
    study: StudyResult[DesignPlan], title: str, records: Sequence[Any], cells: Cells, by: Sequence[str] = ()
) -> Table:
    """A row for each record, with its names first, and a line between metrics, and between values of the fields."""
    names = _names(study, records)

    def group(each: Any) -> list[Any]:
        return [getattr(each, name) for name in (*names, *by)]

    return pivot(title, records, Rows(fields(HEADER, names) | cells, group=group, n_names=len(names)))


def _errors(study: StudyResult[DesignPlan]) -> Table:
    """The standard errors on which the plan is based."""

    def points(each: PairError, value: float, sign: str = "") -> str:
        return f"{value:{sign}.{_decimals(study, each.metric) + 1}f}"

    found: Sequence[PairError] = study.tables["errors"]
    cells: Cells = fields({**HEADER, "system": "System", "baseline": "Baseline"}, ["metric", "system", "baseline"])
    cells["Δ"] = lambda each: points(each, each.difference, "+")
    cells["SE"] = lambda each: points(each, each.standard_error)
    title = f"Differences on the data ({found[0].size:,} {unit_of(study)}s)"
    return pivot(title, found, Rows(cells, n_names=3))


def conclusions(study: StudyResult[DesignPlan]) -> Iterator[str]:
    """What a test set of the size of the data can detect, and how large a test set each difference needs."""
    found = study.tables["detectable"]
    at_hand = of_name([each for each in found if _is_first(each, found)], size=study.plan.units)
    for power in dict.fromkeys(each.power for each in at_hand):
        own = of_name(at_hand, power=power)
        shown = joined(f"{each.difference:.{_decimals(study, each.metric)}f} {each.metric}" for each in own)
        differences = "a difference" if len(own) == 1 else "differences"
        units = counted(own[0].size, unit_of(study))
        yield f"With {number(100 * power)}% power, {units} detect {differences} of at least {shown}."
    needed = study.tables.get("needed", ())
    for each in needed:
        if _is_first(each, needed):
            power = f"{number(100 * each.power)}% power"
            shown = f"a difference of {number(each.difference)} {each.metric}"
            yield f"To detect {shown} with {power}, a test set needs {_size(each.size)} {unit_of(study)}s."


def _is_first(record: Any, records: Sequence[Any]) -> bool:
    """Whether a record has the first of the methods for the same question."""
    keys = KEYS[type(record)]
    same = (each for each in records if all(getattr(each, key) == getattr(record, key) for key in keys))
    return next(same) is record


# What a row of a table is about, besides the method.
KEYS: dict[type, tuple[str, ...]] = {
    DetectableAtSize: ("metric", "size", "power"),
    PlannedSize: ("metric", "difference", "power"),
}


def notes(study: StudyResult[DesignPlan]) -> Iterator[str]:
    """How the numbers were computed."""
    plan = study.plan
    (level, *_) = (each.level for each in study.tables["detectable"])
    family = plan.family_size
    z = "z₁₋α⸝₂" if plan.alternative == "two-sided" else "z₁₋α"
    share = "" if family == 1 else f" (α = {number(plan.alpha)} over {family:,} tests)"
    effect = f"({z} + z_power)·SE" + ("/efficiency" if "simulated" in study.tables else "")
    yield (
        f"Minimum detectable difference: {effect}, {plan.alternative}, each test at {level:.4g}{share}; "
        f"SE by the delta method, proportional to 1/√{unit_of(study)}s."
    )
    if any(each.method == "t-test" for each in study.tables["detectable"]):
        yield "t-test: from the noncentral t distribution, for normal differences."
    if "simulated" in study.tables:
        tests = joined(plan.tests or ())
        yield (
            f"Efficiency: the effect that gives a z-test the simulated power of {tests}, divided by the true effect; "
            f"{plan.simulations:,} test sets each, {plan.n_resamples:,} replicates."
        )
    else:
        why, advice = "", "The power of a test may differ by .07: simulate it."
        if plan.simulate:
            why = ", because no pair differs enough"
            advice = f"The power of a test may differ by .07, and be much less where few {unit_of(study)}s differ."
        yield f"Not simulated{why}: this is the power of a z-test whose SE is known. {advice}"


FIGURES = {
    "detectable": Figure(
        "Minimum detectable difference by the size of the test set; the band covers all pairs of systems.",
        "detectable",
        ("metric",),
        "power:DetectableFigure",
        "size",
    ),
}

REPORT = StudyReport(title, tables, conclusions, notes, FIGURES)
