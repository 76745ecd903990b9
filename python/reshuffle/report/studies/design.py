"""The report of ``plan``: minimum detectable differences, powers and sizes of test sets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from operator import attrgetter
from typing import Any

import numpy as np

from ...errors import counted
from ...results.studies import DetectableAtSize, PairError, PlannedLooks, PlannedPower, PlannedSize, StudyResult
from ...results.studies.design import DesignPlan
from ..cells import Table, decimals_for
from ..pivot import Cells, Rows, as_number, fields, pivot
from ..plots.look import FAINT
from ..wording import joined, number, percent
from .base import StudyReport
from .figures import Axes, ColumnFigure, Figure, key, label, looks, point
from .power import ERROR_SYMBOLS, power_table, symbols
from .shared import as_percent, constant, in_common, in_percent, of_keys, of_name, unit_of


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
        pairs = {f"{rate.system} − {rate.baseline}" for rate in rates}
        shown = [*(pairs if len(pairs) == 1 else ()), in_common(rates, "size")]
        table = power_table(rates, ", ".join(["Simulated power in %", *filter(None, shown)]))
        yield table.explained(symbols(study, rates))
    yield _errors(study)


def _has_range(records: Sequence[Any]) -> bool:
    """Do standard errors differ between pairs?"""
    return any(each.low != each.high for each in records)


def _ranges(study: StudyResult[DesignPlan]) -> str:
    """What the range over pairs is."""
    if not _has_range(study.tables["detectable"]):
        return ""
    return "Tables show the pair of systems with the median standard error; range: over all pairs."


# With a difference of at most this share, tables have no rows of the t test beside those of the z-test.
ALIKE = 0.02


def _shown(study: StudyResult[DesignPlan], table: str) -> Sequence[Any]:
    """The records of a table, without those that would repeat others."""
    records: Sequence[Any] = study.tables[table]
    return of_name(records, method="normal") if _repeats(study) else records


def _repeats(study: StudyResult[DesignPlan]) -> bool:
    """Whether the t test detects nearly the differences of the z-test, without a simulated method beside them."""
    found: Sequence[DetectableAtSize] = study.tables["detectable"]
    if {each.method for each in found} != {"normal", "t-test"}:
        return False
    pairs = [[each.difference for each in own] for _, own in of_keys(found, "metric", "size", "power")]
    return all(max(pair) <= (1 + ALIKE) * min(pair) for pair in pairs)


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

    found: Sequence[DetectableAtSize] = _shown(study, "detectable")
    cells: Cells = {
        _units(study): "size",
        "Power": _power(found),
        "Difference": lambda each: points(each, each.difference),
        "Range": _range(found, points),
    }
    return _table(study, f"Minimum detectable difference{_of_power(found)}", found, cells, ["power"])


def _planned(study: StudyResult[DesignPlan]) -> Table:
    found: Sequence[PlannedPower] = _shown(study, "planned")
    has_errors = any(each.type_m is not None for each in found)
    cells: Cells = {
        "Difference": "difference",
        _units(study): "size",
        "Power in %": as_percent("power", 1),
        "Range": _range(found, lambda each, power: in_percent(power, 1)),
        "M": has_errors and as_number("type_m", ".2f"),
        "S": has_errors and as_percent("type_s", 1),
    }
    return _table(study, "Power of given differences", found, cells, ["difference"])


def _needed(study: StudyResult[DesignPlan]) -> Table:
    found: Sequence[PlannedSize] = _shown(study, "needed")
    cells: Cells = {
        "Difference": "difference",
        "Power": _power(found),
        _units(study): lambda each: _size(each.size),
        "Range": _range(found, lambda each, size: _size(size)),
    }
    return _table(study, f"Size needed{_of_power(found)}", found, cells)


def _sequential(study: StudyResult[DesignPlan]) -> Table:
    found: Sequence[PlannedLooks] = study.tables["sequential"]
    cells: Cells = {
        **fields(HEADER, HEADER),
        "Difference": "difference",
        "Power": _power_cell,
        _units(study): "size",
        "Expected": "expected",
    }
    title = f"Size needed with {found[0].looks} planned looks{_of_power(found)}"
    return pivot(title, found, Rows(cells, n_names=2))


def _size(size: int | None) -> str:
    return "over 2⁵³" if size is None else f"{size:,}"


def _units(study: StudyResult[DesignPlan]) -> str:
    """The heading of sizes."""
    return f"{unit_of(study).capitalize()}s"


def _power_cell(each: Any) -> str:
    return f"{in_percent(each.power, 0)}%"


def _power(records: Sequence[Any]) -> Callable[[Any], str] | None:
    """The column of powers, unless the title has the only one."""
    return _power_cell if constant(records, "power") is None else None


def _range(records: Sequence[Any], shown: Callable[[Any, Any], str]) -> Callable[[Any], str] | None:
    """The column of ranges over pairs, if standard errors differ between these."""
    if not _has_range(records):
        return None
    return lambda each: " to ".join(dict.fromkeys((shown(each, each.low), shown(each, each.high))))


def _table(
    study: StudyResult[DesignPlan], title: str, records: Sequence[Any], cells: Cells, by: Sequence[str] = ()
) -> Table:
    """A row for each record, with its names first, and a line between metrics, and between values of the fields."""
    methods = {each.method for each in records}
    # The method, if there are several, or another than was asked for.
    names = ["metric", *(["method"] if len(methods) > 1 or (study.plan.simulate and "normal" in methods) else [])]
    return pivot(title, records, Rows(fields(HEADER, names) | cells, group=attrgetter(*names, *by), n_names=len(names)))


def _errors(study: StudyResult[DesignPlan]) -> Table:
    """The standard errors on which the plan is based."""
    found: Sequence[PairError] = study.tables["errors"]
    cells: Cells = {
        "Metric": "metric",
        "System": "system",
        "Baseline": "baseline",
        "Δ": lambda each: f"{each.difference:+.{_decimals(study, each.metric) + 1}f}",
        "SE": lambda each: f"{each.standard_error:.{_decimals(study, each.metric) + 1}f}",
    }
    title = f"Differences on the data ({found[0].size:,} {unit_of(study)}s)"
    return pivot(title, found, Rows(cells, n_names=3))


def conclusions(study: StudyResult[DesignPlan]) -> Iterator[str]:
    """What a test set of the size of the data can detect, and how large a test set each difference needs."""
    # Of several methods for the same question, the first.
    at_hand = [own[0] for _, own in of_keys(study.tables["detectable"], "metric", "size", "power")]
    for values, own in of_keys(of_name(at_hand, size=study.plan.units), "power"):
        power = values["power"]
        shown = joined(f"{each.difference:.{_decimals(study, each.metric)}f} {each.metric}" for each in own)
        differences = "a difference" if len(own) == 1 else "differences"
        units = counted(own[0].size, unit_of(study))
        yield f"With {number(100 * power)}% power, {units} detect {differences} of at least {shown}."
    for _, (each, *_) in of_keys(study.tables.get("needed", ()), "metric", "difference", "power"):
        power = f"{number(100 * each.power)}% power"
        shown = f"a difference of {number(each.difference)} {each.metric}"
        yield f"To detect {shown} with {power}, a test set needs {_size(each.size)} {unit_of(study)}s."


def notes(study: StudyResult[DesignPlan]) -> Iterator[str]:
    """How the numbers were computed."""
    plan = study.plan
    (level, *_) = (each.level for each in study.tables["detectable"])
    family = plan.family_size
    z = "z(1 − α/2)" if plan.alternative == "two-sided" else "z(1 − α)"
    share = "" if family == 1 else f" (α = {number(plan.alpha)} over {family:,} tests)"
    effect = f"({z} + z(power))·SE" + ("/efficiency" if "simulated" in study.tables else "")
    yield (
        f"Minimum detectable difference: {effect}, {plan.alternative}, each test at {level:.4g}{share}; "
        f"SE by the delta method, proportional to 1/√{unit_of(study)}s."
    )
    if _repeats(study):
        yield f"A t test detects nearly the same differences (within {percent(ALIKE)}): JSON and CSV have its rows."
    elif any(each.method == "t-test" for each in study.tables["detectable"]):
        yield "t-test: from the noncentral t distribution, for normal differences."
    if "simulated" in study.tables:
        tests = joined(plan.tests or ())
        yield (
            f"Efficiency: the effect that gives a z-test the simulated power of {tests}, divided by the true effect "
            f"(difference / SE of the simulated test sets); {plan.simulations:,} test sets each, "
            f"{plan.n_resamples:,} replicates."
        )
    else:
        why, advice = "", "The power of a test may differ by .07: simulate it."
        if plan.simulate:
            why = ", because no pair differs enough"
            advice = f"The power of a test may differ by .07, and be much less where few {unit_of(study)}s differ."
        yield f"Not simulated{why}: this is the power of a z-test whose SE is known. {advice}"


class DetectableFigure(ColumnFigure[DetectableAtSize]):
    """The minimum detectable difference against the size, with the range over pairs as a band."""

    HEIGHT = 2.3

    def draw(self, ax: Axes) -> None:
        methods = {each.method for each in self.records}
        series = {
            f"{values['method'] + ', ' if len(methods) > 1 else ''}power {number(values['power'])}": own
            for values, own in of_keys(self.records, "method", "power")
        }
        shown = looks(series)
        for own, look in zip(series.values(), shown.values(), strict=True):
            own.sort(key=lambda each: int(each.size))
            sizes = np.array([each.size for each in own])
            x = np.geomspace(sizes[0], sizes[-1], 101)
            # Nearly in proportion to 1/√n, which is a curve.
            scaled = np.array([(each.low, each.difference, each.high) for each in own]).T * np.sqrt(sizes)
            low, middle, high = (np.interp(np.log(x), np.log(sizes), each) / np.sqrt(x) for each in scaled)
            ax.fill_between(x, low, high, color=FAINT, linewidth=0, zorder=1)
            ax.plot(x, middle, color=look["color"], linestyle=look["linestyle"], linewidth=1.0)
            for each in own:
                point(ax, each.size, each.difference, None, look)
        ax.set_xscale("log")
        ticks = sorted({each.size for each in self.records})
        ax.set_xticks(ticks, [f"{size:,}" for size in ticks])
        ax.minorticks_off()
        ax.set_ylim(0, None)
        metric = constant(self.records, "metric")
        label(ax, f"{unit_of(self.study)}s", f"minimum detectable difference ({metric})")
        key(ax, shown, loc="upper right")


FIGURES = {
    "detectable": Figure(
        "Minimum detectable difference by the size of the test set; the band covers all pairs of systems.",
        "detectable",
        ("metric",),
        DetectableFigure,
        "size",
    ),
}
REPORT = StudyReport(title, tables, conclusions, notes, FIGURES)
