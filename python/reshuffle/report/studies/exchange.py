"""The report of ``exchange``: type-I errors of the exchange units of optimizer runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...errors import counted
from ...results.studies import StudyResult
from ...results.studies.exchange import ExchangePlan, ExchangeRate
from ..cells import Table
from ..pivot import Columns, Rows, fields, pivot
from ..plots.look import COLUMN, MUTED
from ..wording import joined, number
from .base import StudyReport
from .figures import Axes, ColumnFigure, Figure, curve, key_above, label, looks
from .rates import BOLD_RATES, MARKS, cells_of, half_width, level_of, rate_decimals, symbols_of
from .shared import HEADINGS, constant, differing, in_common, in_percent, of_keys, of_name

# The fields that identify a row.
NAMES = ("metric", "size", "runs", "correlation", "run_sd")
SYMBOLS = {
    "correlation": "ρ: correlation between the segment differences of runs.",
    "run_sd": "τ: standard deviation between runs, in sampling standard deviations of a score.",
    **MARKS,
}


def title(study: StudyResult[ExchangePlan]) -> str:
    """The statistic and where the runs are from."""
    return f"Type-I error of tests of optimizer runs: {joined(study.plan.exchange)}"


def tables(study: StudyResult[ExchangePlan]) -> Iterator[Table]:
    """A table for each level: a column for each exchange unit; then the expected rates."""
    rates: Sequence[ExchangeRate] = study.tables["exchange_sizes"]
    for _, own in of_keys(rates, "alpha"):
        common = in_common(own, "alpha", "metric", "size", "simulations")
        yield _table(study, own, f"Type-I error in %: {common}").explained(symbols_of(own, SYMBOLS))
    for values, own in of_keys([rate for rate in rates if rate.expected is not None], "alpha"):
        yield _table(study, own, f"Expected for many segments, in %: α = {number(values['alpha'])}", expected=True)


def _table(
    study: StudyResult[ExchangePlan], rates: Sequence[ExchangeRate], heading: str, expected: bool = False
) -> Table:
    """A row for each kind of data set, and a column for each exchange unit."""
    names = [name for name in NAMES if name == "runs" or name in differing(rates, NAMES)]
    decimals = rate_decimals(min(rate.simulations for rate in rates))
    measured = cells_of(rates)

    def cells(rate: ExchangeRate | None) -> list[str]:
        if rate is None:
            return ["–"]
        return [in_percent(rate.expected, decimals) if expected else measured(rate)]

    units = [unit for unit in study.plan.exchange if of_name(rates, exchange=unit)]
    return pivot(
        heading,
        rates,
        Rows(
            fields(HEADINGS, names),
            group=lambda rate: [getattr(rate, name) for name in names[:-1]] if names[-1] == "run_sd" else None,
        ),
        Columns("exchange", lambda unit: [unit], cells, units),
        BOLD_RATES,
    )


def conclusions(study: StudyResult[ExchangePlan]) -> Iterator[str]:
    """Which units reject too often, and which do not."""
    rates: Sequence[ExchangeRate] = study.tables["exchange_sizes"]
    others = []
    for values, own in of_keys(rates, "exchange"):
        unit, found = values["exchange"], sum(rate.verdict == "liberal" for rate in own)
        if not found:
            others.append(unit)
            continue
        worst = max(own, key=lambda rate: rate.rate / rate.alpha)
        where = "every time" if found == len(own) else f"in {found:,} of {len(own):,} cases"
        yield f"{unit} rejects too often {where}: up to {in_percent(worst.rate, 1)}% at α = {number(worst.alpha)}."
    if others:
        yield f"{joined(others)} never reject{'s' * (len(others) == 1)} significantly too often here."


def notes(study: StudyResult[ExchangePlan]) -> Iterator[str]:
    """What the rates and intervals are, and what is left out."""
    rates: Sequence[ExchangeRate] = study.tables["exchange_sizes"]
    widest = max(half_width(rate.confidence_interval) for rate in rates)
    yield (
        "Rates: the share of simulated test sets with p ≤ α, two-sided, with "
        f"{counted(study.plan.n_resamples, 'replicate')} each. Half the width of the {level_of(rates)} is at most "
        f"{in_percent(widest, 1)} points."
    )
    if any(rate.exchange == "run" and rate.rate == 0 for rate in rates):
        yield "run has few possible p-values: with 3 runs of each configuration the smallest is .1, with 4 it is .029."
    if constant(rates, "correlation") not in (None, 0.0) or "correlation" in differing(rates, NAMES):
        names = [name for name in ("run", "welch") if any(rate.exchange == name for rate in rates)] or ["run"]
        yield (
            f"{joined(names)} take{'s' * (len(names) == 1)} the segments as given. With ρ > 0 the configurations "
            "differ on these segments, though not on average over all segments."
        )
    if study.plan.left_out:
        yield f"Left out, because they need more runs: {joined(study.plan.left_out)}."


class ExchangeFigure(ColumnFigure[ExchangeRate]):
    """A line for each exchange unit, over the standard deviations between runs."""

    @property
    def size(self) -> tuple[float, float]:
        return COLUMN, 2.4 + 0.14 * -(-len(self.units) // 3)

    @property
    def units(self) -> list[str]:
        """The exchange units, in order of appearance."""
        return list(dict.fromkeys(rate.exchange for rate in self.records))

    def draw(self, ax: Axes) -> None:
        shown, alpha = looks(self.units), self.records[0].alpha
        ax.axhline(alpha, color=MUTED, linewidth=0.6, linestyle=(0, (3, 2)), zorder=1)
        for unit, look in shown.items():
            own = sorted(of_name(self.records, exchange=unit), key=lambda rate: rate.run_sd or 0.0)
            x, y = [rate.run_sd or 0.0 for rate in own], [rate.expected for rate in own]
            if None not in y:
                ax.plot(x, y, color=look["color"], linestyle=(0, (1, 1.5)), linewidth=0.7, zorder=2)
            curve(ax, x, own, look)
        ax.set_ylim(0, min(1.02, 1.1 * max(max(rate.confidence_interval.high for rate in self.records), 2 * alpha)))
        below = "standard deviation between runs / sampling standard deviation"
        if self.records[0].run_sd is None:
            below = ""
            ax.set_xticks([])
        label(ax, below, f"type-I error at α = {number(alpha)}")
        key_above(ax, shown, 3)


FIGURES = {
    "exchange": Figure(
        "Type-I error against the standard deviation between runs, with confidence intervals; dotted lines are "
        "expected values for many segments, and the dashed line is α.",
        "exchange_sizes",
        ("metric", "runs", "correlation", "size", "alpha"),
        ExchangeFigure,
        over="run_sd",
    ),
}
REPORT = StudyReport(title, tables, conclusions, notes, FIGURES)
