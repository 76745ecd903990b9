"""The report of ``plan``: minimum detectable differences, powers and sizes of test sets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ...errors import counted
from ...results.studies import DetectableAtSize, PlannedLooks, PlannedPower, PlannedSize, StudyResult
from ...results.studies.design import DesignPlan
from ..cells import Table, decimals_for
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
    found: Sequence[DetectableAtSize] = study.tables["detectable"]
    names, ranged = _names(study, found), _has_range(found)
    power = [] if constant(found, "power") is not None else ["Power"]
    header = [*(HEADER[name] for name in names), f"{unit_of(study).capitalize()}s", *power, "Difference"]
    table = Table(
        f"Minimum detectable difference{_of_power(found)}",
        [*header, *(["Range"] if ranged else [])],
        n_names=len(names),
    )
    for each, keys in _ruled(table, found, names, ["power"]):
        decimals = _decimals(study, each.metric)
        shown = [
            f"{each.size:,}",
            *([f"{percent(each.power, 0)}%"] if power else []),
            f"{each.difference:.{decimals}f}",
        ]
        table.add([*keys, *shown, *_range(each, ranged, lambda x, d=decimals: f"{x:.{d}f}")])
    return table


def _planned(study: StudyResult[DesignPlan]) -> Table:
    found: Sequence[PlannedPower] = study.tables["planned"]
    names, ranged = _names(study, found), _has_range(found)
    errors = any(each.type_m is not None for each in found)
    header = [*(HEADER[name] for name in names), "Difference", f"{unit_of(study).capitalize()}s", "Power in %"]
    header += [*(["Range"] if ranged else []), *(["M", "S"] if errors else [])]
    table = Table("Power of given differences", header, n_names=len(names))
    for each, keys in _ruled(table, found, names, ["difference"]):
        shown = [_given(each.difference), f"{each.size:,}", percent(each.power, 1)]
        shown += _range(each, ranged, lambda x: percent(x, 1))
        if errors:
            m_and_s = each.type_m is not None and each.type_s is not None
            shown += [f"{each.type_m:.2f}", percent(each.type_s or 0, 1)] if m_and_s else ["–", "–"]
        table.add([*keys, *shown])
    return table


def _needed(study: StudyResult[DesignPlan]) -> Table:
    found: Sequence[PlannedSize] = study.tables["needed"]
    names, ranged = _names(study, found), _has_range(found)
    power = [] if constant(found, "power") is not None else ["Power"]
    header = [*(HEADER[name] for name in names), "Difference", *power, f"{unit_of(study).capitalize()}s"]
    header += ["Range"] if ranged else []
    table = Table(f"Size needed{_of_power(found)}", header, n_names=len(names))
    for each, keys in _ruled(table, found, names):
        shown = [_given(each.difference), *([f"{percent(each.power, 0)}%"] if power else []), _size(each.size)]
        table.add([*keys, *shown, *_range(each, ranged, _size)])
    return table


def _sequential(study: StudyResult[DesignPlan]) -> Table:
    found: Sequence[PlannedLooks] = study.tables["sequential"]
    units = f"{unit_of(study).capitalize()}s"
    table = Table(
        f"Size needed with {found[0].looks} planned looks{_of_power(found)}",
        ["Metric", "Method", "Difference", "Power", units, "Expected"],
        n_names=2,
    )
    for each in found:
        power = f"{percent(each.power, 0)}%"
        table.add([each.metric, each.method, _given(each.difference), power, f"{each.size:,}", f"{each.expected:,}"])
    return table


def _size(size: int | None) -> str:
    return "over 2⁵³" if size is None else f"{size:,}"


def _given(difference: float) -> str:
    """A difference as it was given."""
    return number(difference)


def _range(each: Any, ranged: bool, shown: Any) -> list[str]:
    return [f"{shown(each.low)} to {shown(each.high)}"] if ranged else []


def _ruled(
    table: Table, records: Sequence[Any], names: Sequence[str], by: Sequence[str] = ()
) -> Iterator[tuple[Any, list[str]]]:
    """Each record with its names, and a line between metrics, differences and powers."""
    before = None
    for each in records:
        keys = [str(getattr(each, name)) for name in names]
        group = [*keys, *(getattr(each, name) for name in by)]
        if before not in (None, group):
            table.rule()
        before = group
        yield each, keys


def _errors(study: StudyResult[DesignPlan]) -> Table:
    """The standard errors on which the plan is based."""
    found = study.tables["errors"]
    size = f"{found[0].size:,} {unit_of(study)}s"
    table = Table(f"Differences on the data ({size})", ["Metric", "System", "Baseline", "Δ", "SE"], n_names=3)
    for each in found:
        decimals = _decimals(study, each.metric) + 1
        cells = [each.metric, each.system, each.baseline]
        table.add([*cells, f"{each.difference:+.{decimals}f}", f"{each.standard_error:.{decimals}f}"])
    return table


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
            shown = f"a difference of {_given(each.difference)} {each.metric}"
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
