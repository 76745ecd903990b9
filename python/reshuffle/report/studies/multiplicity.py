"""The report of ``multiplicity``: family-wise error rates of tests and adjustments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...results.studies import FamilyWiseRate, StudyResult
from ..cells import Table
from ..plots.look import COLUMN, FAINT, INK, MUTED
from ..wording import joined, number
from .base import StudyReport
from .figures import Axes, ColumnFigure, Figure, key, label, looks
from .rates import MARKS, level_of, mark_of, rate_decimals, rates_by_level, symbols_of
from .shared import constant, differing, in_common, in_percent, of_keys, of_name, tests_note

# The mark of rates that are low because there are too few replicates.
TOO_FEW = "‡"
NONE = "none"
NAMES = ("metric", "systems", "size")
SYMBOLS = {
    **MARKS,
    TOO_FEW: f"{TOO_FEW}: too few replicates for one small p among larger ones to reject.",
    "systems": "k: systems.",
}


def title(study: StudyResult) -> str:
    """The tests."""
    return f"Family-wise error rates of {joined(dict.fromkeys(rate.test for rate in study.tables['family_wise']))}"


def tables(study: StudyResult) -> Iterator[Table]:
    """A table for each kind of family, with a row for each test and adjustment and a column for each level."""
    for _, own in of_keys(study.tables["family_wise"], "variances"):
        common = in_common(own, "metric", "systems", "variances", "size", "simulations")
        table = rates_by_level(
            own,
            f"Family-wise error rate in %: {common}",
            ["test", "adjustment", *differing(own, NAMES)],
            ("test",),
            _mark,
            own_interval=constant(own, "alpha") is not None,
        )
        yield table.explained(symbols_of(own, SYMBOLS, _mark))


def _mark(rate: FamilyWiseRate) -> str:
    """The mark of a rate."""
    return mark_of(rate) if rate.enough_replicates else TOO_FEW


def conclusions(study: StudyResult) -> Iterator[str]:
    """The rates without adjustment beside those of independent tests, and the adjustments that do not hold α."""
    rates: Sequence[FamilyWiseRate] = study.tables["family_wise"]
    for rate in of_name(rates, adjustment=NONE):
        if rate.systems == max(each.systems for each in rates if each.variances == rate.variances):
            decimals = rate_decimals(rate.simulations)
            yield (
                f"Without adjustment, {rate.test} rejects one or more of {rate.pairs:,} true null "
                f"{'hypothesis' if rate.pairs == 1 else 'hypotheses'} "
                f"in {in_percent(rate.rate, decimals)}% of the test sets at α = {number(rate.alpha)} ({rate.metric}, "
                f"{rate.variances} variances); independent tests would in {in_percent(rate.independent, decimals)}%."
            )
    found = [rate for rate in rates if rate.verdict == "liberal" and rate.adjustment != NONE]
    if found:
        yield f"Adjusted, and still too liberal: {'; '.join(dict.fromkeys(map(_named, found)))}."
    elif any(rate.adjustment != NONE for rate in rates):
        yield "No adjustment is liberal."


def _named(rate: FamilyWiseRate) -> str:
    return f"{rate.test} with {rate.adjustment} ({rate.variances} variances)"


def notes(study: StudyResult) -> Iterator[str]:
    """What the rates are."""
    rates: Sequence[FamilyWiseRate] = study.tables["family_wise"]
    yield (
        "Rates: the share of simulated test sets in which the smallest adjusted p of all pairs is at most α; "
        f"{level_of(rates)} by Clopper–Pearson. All null hypotheses are true, so the false discovery rate of bh and "
        "by is the same."
    )
    yield "Independent tests: 1 − (1 − α)^m for m pairs (W05-0908, 4.4)."
    if any(not rate.enough_replicates for rate in rates):
        needed = max(round(rate.pairs / rate.alpha) for rate in rates) - 1
        yield f"With {needed:,} replicates, all adjustments could reject for one small p."
    yield from tests_note(study)


class FamilyWiseFigure(ColumnFigure[FamilyWiseRate]):
    """A row for each adjustment, and in it a rate with its interval for each test and kind of family."""

    @property
    def size(self) -> tuple[float, float]:
        return COLUMN, 0.9 + 0.2 * (len(self.series) + 2) / 3 + 0.09 * len(self.records)

    @property
    def series(self) -> list[str]:
        """The tests, with what distinguishes families."""
        return list(dict.fromkeys(map(self._series_of, self.records)))

    def _series_of(self, rate: FamilyWiseRate) -> str:
        several = differing(self.records, ("variances", "systems"))
        parts = {"variances": rate.variances, "systems": f"{rate.systems:,} systems"}
        return ", ".join([rate.test, *(parts[name] for name in several)])

    def draw(self, ax: Axes) -> None:
        rows, shown = list(dict.fromkeys(rate.adjustment for rate in self.records)), looks(self.series)
        alpha, most = self.records[0].alpha, max(self.records, key=lambda rate: rate.pairs)
        ax.axvline(alpha, color=INK, linewidth=0.8, linestyle=(0, (3, 2)), zorder=1)
        ax.axvline(most.independent, color=MUTED, linewidth=0.8, linestyle=(0, (1, 1.5)), zorder=1)
        step = 0.8 / len(shown)
        for rate in self.records:
            name, interval = self._series_of(rate), rate.confidence_interval
            y = rows.index(rate.adjustment) + (list(shown).index(name) - (len(shown) - 1) / 2) * step
            color = shown[name]["color"] if rate.enough_replicates else FAINT
            ax.plot([interval.low, interval.high], [y, y], color=color, linewidth=0.9, zorder=2)
            ax.plot(
                rate.rate, y, marker=shown[name]["marker"], markersize=3.2, markeredgewidth=0.8, markeredgecolor=color,
                markerfacecolor="white" if rate.verdict == "at its level" else color, linestyle="none", zorder=4,
                clip_on=False,
            )  # fmt: skip
        ax.set_yticks(range(len(rows)), rows)
        ax.set_ylim(len(rows) - 0.5, -0.5)
        ax.set_xlim(0, min(1.05 * max(most.independent, *(rate.confidence_interval.high for rate in self.records)), 1))
        ax.tick_params(axis="y", length=0)
        ax.spines["left"].set_visible(False)
        faint = "" if all(rate.enough_replicates for rate in self.records) else "\nfaint: too few replicates"
        lines = f"dashed: α = {number(alpha)}, dotted: {most.pairs:,} independent tests"
        label(ax, f"family-wise error rate\n{lines}{faint}", "")
        key(ax, shown, loc="lower left", bbox_to_anchor=(-0.2, 1.0), ncols=min(len(shown), 2), columnspacing=1.0)


FIGURES = {
    "families": Figure(
        "Family-wise error rates by adjustment, with confidence intervals; the dashed line is α.",
        "family_wise",
        ("metric", "size", "alpha"),
        FamilyWiseFigure,
    ),
}
REPORT = StudyReport(title, tables, conclusions, notes, FIGURES)
