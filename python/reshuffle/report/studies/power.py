"""The report of ``power``: power by effect and size, and the errors of significant differences."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Literal

from ...errors import counted
from ...grouping import grouped
from ...results.studies import PowerRate, StudyResult
from ...results.studies.power import ParametricPlan, PowerPlan
from ...results.studies.sensitivity import SensitivityPlan
from ..cells import Table, decimals_for
from ..pivot import Cells, Columns, Rows, fields, number_cell, pivot
from ..plots.look import COLUMN, MUTED, PAGE
from ..wording import joined, number
from .base import StudyReport
from .figures import Axes, ColumnFigure, Figure, curve, key_above, label, looks
from .rates import alphas_of, cells_of, level_of
from .shared import HEADINGS, differing, in_common, in_percent, of_keys, tests_note, unit_of


def title(study: StudyResult) -> str:
    """The tests."""
    return f"Power of {joined(dict.fromkeys(rate.test for rate in study.tables['power']))}"


def tables(study: StudyResult) -> Iterator[Table]:
    """For each model and pair, the power, and the errors of significant differences."""
    for _, rates in of_keys(study.tables["power"], "model", "system", "baseline"):
        shown = power_title(rates)
        yield power_table(rates, f"Power in %: {shown}").explained(symbols(study, rates))
        if any(rate.type_m is not None for rate in rates):
            yield error_table(rates, f"Significant differences: {shown}").explained(ERROR_SYMBOLS)


def symbols(study: StudyResult, rates: Sequence[PowerRate]) -> str:
    """What the symbols of :func:`power_table` mean."""
    mixed = any(rate.effect is not None for rate in rates)
    eta = "η: from 0 (no difference) to 0.5 (the real pair); " if mixed else ""
    n = f"n: {unit_of(study)}s in a simulated test set"
    return f"{n}; {eta}Δ: true difference; ±: half the width of the 95% interval."


ERROR_SYMBOLS = (
    "M: mean size of significant differences, in multiples of the true one (type-M error, exaggeration); S: share of "
    "significant differences with the wrong sign (type-S error), in %."
)


def power_title(rates: Sequence[PowerRate]) -> str:
    """What the rates of one model and pair have in common."""
    first = rates[0]
    pair = f"{first.system} − {first.baseline}" if first.system else ""
    parts = [in_common(rates, "model"), pair, in_common(rates, "metric", "size", "simulations")]
    return ", ".join(filter(None, parts))


def _case(rate: PowerRate) -> tuple[Hashable, ...]:
    """What the rates in a row have in common."""
    return rate.test, rate.metric, rate.size, rate.effect, rate.difference


def _table(
    rates: Sequence[PowerRate],
    title: str,
    heading: Callable[[float], list[str]],
    cells: Callable[[PowerRate | None], list[str]],
    cases: Collection[Hashable],
) -> Table:
    """A row for each of these cases, and columns for each level."""
    names = ["test", *differing(rates, ("metric", "size"))]
    if any(rate.effect is not None for rate in rates):
        largest = grouped((rate.metric, abs(rate.difference)) for rate in rates)
        spec = {metric: f".{decimals_for(max(own))}f" for metric, own in largest.items()}
        effect: Cells = {
            "η": lambda rate: number(round(rate.effect, 4)),
            "Δ": lambda rate: f"{rate.difference:{spec[rate.metric]}}",
        }
    else:
        effect = {"Δ": "difference"}
    shown = [rate for rate in rates if _case(rate) in cases]
    for name in reversed(names):  # values are in the order of their first appearance
        shown = [rate for _, own in of_keys(shown, name) for rate in own]
    return pivot(
        title,
        shown,
        Rows(fields(HEADINGS, names) | effect, _case, attrgetter(*names), len(names)),
        Columns("alpha", heading, cells, alphas_of(rates)),
    )


def power_table(rates: Sequence[PowerRate], title: str) -> Table:
    """A row for each test, metric, size and effect, and for each level the power in percent."""
    cell = cells_of(rates, lambda rate: "", plus_minus=True)

    def cells(rate: PowerRate | None) -> list[str]:
        return ["" if rate is None else cell(rate)]

    return _table(rates, title, lambda alpha: [f"α={number(alpha)}"], cells, {*map(_case, rates)})


def error_table(rates: Sequence[PowerRate], title: str) -> Table:
    """For each level the type-M and type-S errors, in a row for each case that has some."""
    cases = {_case(rate) for rate in rates if rate.type_m is not None}

    def cells(rate: PowerRate | None) -> list[str]:
        return ["–", "–"] if rate is None else [number_cell(rate.type_m, ".2f"), in_percent(rate.type_s, 1)]

    return _table(rates, title, lambda alpha: [f"M, α={number(alpha)}", "S"], cells, cases)


def conclusions(study: StudyResult) -> Iterator[str]:
    """The power for the largest difference at the level nearest to .05, and the worst exaggeration."""
    rates: Sequence[PowerRate] = study.tables["power"]
    alpha = min(alphas_of(rates), key=lambda level: abs(level - 0.05))
    at = [rate for rate in rates if rate.alpha == alpha and rate.difference]
    if not at:
        return

    def difference(rate: PowerRate) -> str:
        largest = max(abs(each.difference) for each in at if each.metric == rate.metric)
        return number(rate.difference) if rate.effect is None else f"{rate.difference:.{decimals_for(largest)}f}"

    if not differing(at, ("metric", "system", "baseline", "model", "size")):
        largest = max(abs(rate.difference) for rate in at)
        best = [rate for rate in at if abs(rate.difference) == largest]
        powers = ", ".join(f"{rate.test} {in_percent(rate.rate, 1)}%" for rate in best)
        yield f"Power at α = {number(alpha)} for Δ = {difference(best[0])}: {powers}."
    worst = max((rate for rate in at if rate.type_m is not None), key=lambda rate: rate.type_m or 0, default=None)
    if worst is not None and worst.type_m is not None and worst.type_m >= 1.05:
        yield (
            f"At α = {number(alpha)}, significant differences are up to {worst.type_m:.2f} times the true one "
            f"({worst.test}, {worst.metric}, n = {worst.size:,}, Δ = {difference(worst)})."
        )


def notes(study: StudyResult[PowerPlan | ParametricPlan]) -> Iterator[str]:
    """What the rates and intervals are."""
    rates: Sequence[PowerRate] = study.tables["power"]
    used = levels_used(study)
    yield f"Power: the share of simulated test sets with p ≤ {used}; {level_of(rates)} by Clopper–Pearson."
    yield from without_level(rates)
    for fit in study.tables.get("fits", ()):
        pair = f"{fit.system} − {fit.baseline}"
        yield f"{pair}, {fit.metric}: P₀ = {fit.p_zero:.3f}, b₀ = {fit.b_zero:.4g}, from {fit.units:,} units."
    if isinstance(study.plan, ParametricPlan):
        yield f"P₀ = {number(study.plan.p_zero)}, b₀ = {number(study.plan.b_zero)} (Card et al. 2020)."
    yield from tests_note(study)


def levels_used(study: StudyResult[PowerPlan | ParametricPlan | SensitivityPlan]) -> str:
    """The level that p is compared with."""
    if not study.plan.size_adjusted:
        return "α"
    return "the level at which the test rejects α of the test sets without a difference (size-adjusted)"


def without_level(rates: Sequence[PowerRate]) -> Iterator[str]:
    """Size-adjusted powers that are 0 only because no p is small enough, as a sentence."""
    missing = sum(rate.level <= 0 for rate in rates)
    if missing:
        yield (
            f"For {missing:,} of {counted(len(rates), 'power')} there is no level at which the test rejects at most α "
            "of the test sets without a difference, so that the power is 0: use more simulations and replicates."
        )


# The number of characters for which the key of a figure of one column has room.
WIDEST = 48


@dataclass(frozen=True)
class PowerFigure(ColumnFigure[PowerRate]):
    """Power against a field of the rates: a line for each test, and whatever else differs."""

    by: Literal["difference", "effect", "size"]
    label: str
    """Of the x axis."""

    @property
    def size(self) -> tuple[float, float]:
        rows = -(-len(self._lines) // self._columns)
        return (COLUMN if self._longest <= WIDEST else PAGE), 2.1 + 0.14 * rows

    def draw(self, ax: Axes) -> None:
        lines, shown, alpha = self._lines, looks(self._lines), self.records[0].alpha
        ax.axhline(alpha, color=MUTED, linewidth=0.6, linestyle=(0, (3, 2)), zorder=1)
        for name, rates in lines.items():
            ordered = sorted(rates, key=self._x)
            curve(ax, [self._x(rate) for rate in ordered], ordered, shown[name])
        ax.set_ylim(0, 1.02)
        ax.set_xlim(0, None)
        if self.by == "size":
            ax.xaxis.set_major_formatter(lambda x, _: f"{x:,.0f}")
        label(ax, self.label, f"power at α = {number(alpha)}")
        key_above(ax, shown, self._columns)

    def _x(self, rate: PowerRate) -> float:
        return abs(float(getattr(rate, self.by) or 0))

    @property
    def _lines(self) -> dict[str, list[PowerRate]]:
        """The rates by the test, with what else differs between lines."""
        fields = ("test", "metric", "model", "system", "baseline", "effect", "difference")
        differ = set(differing(self.records, fields))

        def name(rate: PowerRate) -> str:
            parts = [str(getattr(rate, field)) for field in fields[:3] if field in differ] or [rate.test]
            if {"system", "baseline"} & differ:
                parts.append(f"{rate.system} − {rate.baseline}")
            if self.by == "size" and "effect" in differ and rate.effect is not None:
                parts.append(f"η = {number(rate.effect)}")
            elif self.by == "size" and "difference" in differ:
                parts.append(f"Δ = {number(rate.difference)}")
            return ", ".join(parts)

        return grouped((name(rate), rate) for rate in self.records)

    @property
    def _longest(self) -> int:
        """The number of characters of the longest name of a line."""
        return max(map(len, self._lines))

    @property
    def _columns(self) -> int:
        """The columns of the key."""
        return max(1, min(len(self._lines), 3, WIDEST // (self._longest + 4)))


def by_difference(study: StudyResult, rates: Sequence[PowerRate]) -> PowerFigure:
    """Power against the true difference."""
    return PowerFigure(study, rates, "difference", f"true difference ({rates[0].metric})")


def by_size(study: StudyResult, rates: Sequence[PowerRate]) -> PowerFigure:
    """Power against the size, without the rates under the null hypothesis, unless there are no others."""
    return PowerFigure(study, [rate for rate in rates if rate.difference] or rates, "size", f"{unit_of(study)}s")


FIGURES = {
    "power": Figure(
        "Power by the true difference, with confidence intervals.",
        "power",
        ("metric", "size", "alpha"),
        by_difference,
        "difference",
    ),
    "sizes": Figure(
        "Power by the size of the test set, with confidence intervals.",
        "power",
        ("metric", "test", "alpha"),
        by_size,
        "size",
    ),
}
REPORT = StudyReport(title, tables, conclusions, notes, FIGURES)
