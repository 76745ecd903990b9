"""The report of ``agreement``: tests and metrics beside one another."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any

import numpy as np

from ...errors import counted
from ...results.studies import DomainBand, GainBin, GainThreshold, PairPvalue, StudyResult, TestAgreement
from ...results.studies.agreement import AgreementPlan
from ..cells import Table, decimals_for
from ..pivot import Cells, Columns, Rows, as_ends, as_number, number_cell, pivot
from ..plots.look import COLUMN, INK, MUTED, PAGE
from ..wording import ci, joined, number
from .base import StudyReport
from .figures import Axes, ColumnFigure, Figure, label, looks, point
from .shared import as_percent, band_name, gap_name, in_percent, of_keys, of_name

# With more rows, the agreement of different tests under different metrics is left to csv.
MOST_ROWS = 21
# The columns of text of a table of winners without the bands, and those of a test beside its name.
ROOM_FOR_TESTS = 86
BESIDE_A_TEST = 20


def title(study: StudyResult[AgreementPlan]) -> str:
    """The tests and the metrics."""
    tests = dict.fromkeys(row.test for row in study.tables["tests"])
    of_tests = f" of {joined(tests)}" if tests else ""
    return f"Agreement{of_tests} under {joined(metric.name for metric in study.metrics)}"


def _shown(study: StudyResult[AgreementPlan]) -> list[TestAgreement]:
    """The agreements that tables list."""
    rows = study.tables["tests"]
    if len({(row.metric, row.test, row.other_metric, row.other_test) for row in rows}) <= MOST_ROWS:
        return list(rows)
    return [row for row in rows if row.metric == row.other_metric or row.test == row.other_test]


def _names(row: TestAgreement) -> tuple[str, str]:
    """The two tests, the two metrics, or both."""
    if row.metric == row.other_metric:
        return f"{row.test} ({row.metric})", row.other_test
    if row.test == row.other_test:
        return f"{row.metric} ({row.test})", row.other_metric
    return f"{row.metric}, {row.test}", f"{row.other_metric}, {row.other_test}"


def _tests_table(alpha: float, rows: Sequence[TestAgreement]) -> Table:
    """Whether two tests reject for the same pairs."""
    cells: Cells = {
        "First": lambda row: _names(row)[0],
        "Second": lambda row: _names(row)[1],
        "both": "both",
        "neither": "neither",
        "1st": "only_first",
        "2nd": "only_second",
        "opp.": any(row.opposed for row in rows) and "opposed",
        "κ": as_number("kappa", ".2f"),
        ci(0.95): as_ends("kappa_interval", ".2f"),
        "ρ": as_number("rank_correlation", ".2f"),
    }
    title = f"Significant pairs of systems by two tests, or under two metrics, at α={number(alpha)}"
    return pivot(title, rows, Rows(cells, n_names=2))


def _thresholds_table(rows: Sequence[GainThreshold]) -> Table:
    """The gain above which pairs are significant."""

    def gain(name: str) -> Callable[[GainThreshold], str]:
        def shown(row: GainThreshold) -> str:
            gains = (row.threshold, row.smallest_significant, row.largest_insignificant)
            decimals = min(3, decimals_for(max((gain for gain in gains if gain is not None), default=1.0)))
            return number_cell(getattr(row, name), f".{decimals}f")

        return shown

    cells: Cells = {
        "Metric": "metric",
        "Test": "test",
        "α": "alpha",
        "signif. %": as_percent("significant", 1),
        "threshold": gain("threshold"),
        "errors": "errors",
        "smallest *": gain("smallest_significant"),
        "largest not *": gain("largest_insignificant"),
    }
    title = f"Difference above which {counted(rows[0].pairs, 'pair')} of systems are significant"
    return pivot(title, rows, Rows(cells, n_names=2))


def _gains_table(values: Mapping[str, Any], rows: Sequence[GainBin]) -> Table:
    """The share of significant pairs by gain."""
    return pivot(
        f"Significant pairs in % by gain (absolute difference): {values['metric']}, α={number(values['alpha'])}",
        rows,
        Rows({"Gain": lambda row: gap_name(row.low, row.high), "Pairs": "pairs"}, attrgetter("low", "high"), n_names=1),
        Columns("test", lambda test: [test], lambda row: [in_percent(row.significant, 0)]),
    )


def _domains_table(values: Mapping[str, Any], rows: Sequence[DomainBand]) -> Table:
    """Winners that also win on another part, over all ordered pairs of parts."""

    def cells(row: DomainBand) -> list[str]:
        n, shares = pooled(of_name(rows, test=row.test, low=row.low, high=row.high))
        return [f"{n:,}", *(in_percent(share, 0) for share in shares)]

    return pivot(
        f"Winners on one part that also win on another part: {values['metric']}, α={number(values['alpha'])}",
        rows,
        Rows({"Confidence %": lambda row: band_name(row.low, row.high)}),
        Columns("test", lambda test: [test, "win %", "signif. %"], cells),
    )


def _side_by_side(tests: Sequence[str]) -> Iterator[list[str]]:
    """The tests of each table of winners, so that no table is wider than a page."""
    chosen: list[str] = []
    for test in tests:
        if chosen and sum(len(each) + BESIDE_A_TEST for each in [*chosen, test]) > ROOM_FOR_TESTS:
            yield chosen
            chosen = []
        chosen = [*chosen, test]
    yield chosen


def pooled(rows: Sequence[DomainBand]) -> tuple[int, tuple[float | None, float | None]]:
    """The pairs of some rows, and the shares of these that also win and also win significantly."""
    n = sum(row.pairs for row in rows)
    if not n:
        return 0, (None, None)
    wins = sum(row.pairs * (row.also_wins or 0) for row in rows)
    return n, (wins / n, sum(row.pairs * (row.also_significant or 0) for row in rows) / n)


def tables(study: StudyResult[AgreementPlan]) -> Iterator[Table]:
    """The agreement of tests, the thresholds, the significant pairs by gain, and winners on other parts."""
    symbols = (
        "1st, 2nd: only that one rejects. κ: Cohen's kappa of the decisions; ρ: Spearman's correlation of the p-values."
    )
    opposed = " Opp.: both reject, but in favour of different systems."
    for values, rows in of_keys(_shown(study), "alpha"):
        explained = symbols + opposed * any(row.opposed for row in rows)
        yield _tests_table(values["alpha"], rows).explained(explained)
    if study.tables["thresholds"]:
        symbols = "Threshold: separates significant pairs from others with the fewest errors. *: significant."
        yield _thresholds_table(study.tables["thresholds"]).explained(symbols)
    for values, gains in of_keys(study.tables["gains"], "metric", "alpha"):
        yield _gains_table(values, gains)
    symbols = (
        "Below a test: the number of winners in the band, counted once for each other part; win, signif.: the shares "
        "of these that also win there, or win significantly."
    )
    for values, bands in of_keys(study.tables["domains"], "metric", "alpha"):
        for tests in _side_by_side(list(dict.fromkeys(band.test for band in bands))):
            own = [band for band in bands if band.test in tests]
            yield _domains_table(values, own).explained(symbols)


def conclusions(study: StudyResult[AgreementPlan]) -> Iterator[str]:
    """The range of agreement, the thresholds, and how often winners also win on other parts."""
    for kind, same in (("tests under one metric", "metric"), ("metrics with one test", "test")):
        rows = [row for row in study.tables["tests"] if getattr(row, same) == getattr(row, f"other_{same}")]
        if not rows:
            continue
        low, high = (pick(rows, key=lambda row: row.agreement) for pick in (min, max))
        if low.agreement == high.agreement:
            yield f"Two {kind} agree on {in_percent(low.agreement, 1)}% of the pairs."
        else:
            yield (
                f"Two {kind} agree on {in_percent(low.agreement, 1)}% ({joined(_names(low))}) to "
                f"{in_percent(high.agreement, 1)}% ({joined(_names(high))}) of the pairs."
            )
    for values, rows in of_keys(study.tables["thresholds"], "metric", "alpha"):
        parts = [f"{number(round(row.threshold, 2))} ({row.test})" for row in rows if row.threshold is not None]
        if parts:
            level = number(values["alpha"])
            yield f"{values['metric']}: differences are significant at {level} above about {joined(parts)}."
    for values, rows in of_keys(study.tables["domains"], "metric", "alpha"):
        _, (wins, _) = pooled([row for row in rows if row.low >= 1 - values["alpha"] - 1e-9])
        if wins is not None:
            level = number(100 - 100 * values["alpha"])
            yield (
                f"{values['metric']}: {in_percent(wins, 1)}% of the winners with {level}% confidence also win on other "
                "parts."
            )


def notes(study: StudyResult[AgreementPlan]) -> Iterator[str]:
    """What the numbers are."""
    plan, n = study.plan, len(study.plan.systems)
    yield (
        f"All {counted(n * (n - 1) // 2, 'pair')} of {counted(n, 'system')} on {plan.units:,} {plan.unit}s, with "
        f"{plan.n_resamples:,} shuffles or draws for each test; p is not adjusted. Confidence: 1 − p."
    )
    if plan.domains:
        yield f"Parts: {joined(plan.domains)}."
    elif plan.halves:
        halves = {"broad": f"every other {plan.unit}", "block": "the first and the second half"}
        yield f"Parts: two halves, {halves[plan.halves]}."
    yield f"{ci(0.95)}: by the jackknife over systems, for other systems on this test set."
    if len(_shown(study)) < len(study.tables["tests"]):
        yield "Pairs of different tests under different metrics: --format csv --table tests."


# From light to dark, in steps that are distinguishable in print, and the agreements at which they begin.
SHADES = ("#ffffff", "#eef4fa", "#c6dbef", "#6baed6", "#2166ac")


STEPS = (0.0, 0.8, 0.9, 0.95, 0.99)


class GainsFigure(ColumnFigure[PairPvalue]):
    """1 − p of a test against the gain of the better system, pair by pair."""

    def draw(self, ax: Axes) -> None:
        from ..plots.labels import printable

        (look,) = looks([self.records[0].test]).values()
        alpha = max(self.study.plan.alphas)
        for level in self.study.plan.alphas:
            ax.axhline(1 - level, color=MUTED, linewidth=0.6, linestyle=(0, (3, 2)), zorder=1)
        for pair in self.records:
            point(ax, pair.gain, 1 - pair.pvalue, None, look, pair.pvalue <= alpha)
        ax.set_ylim(-0.03, 1.03)
        first = self.records[0]
        label(
            ax,
            f"gain in {printable(first.metric)}\n● p ≤ {number(alpha)}    ○ p > {number(alpha)}",
            f"1 − p ({printable(first.test)})",
        )


class AgreementFigure(ColumnFigure[TestAgreement]):
    """The share of pairs on which two tests or metrics agree, in %."""

    @property
    def columns(self) -> list[tuple[str, str]]:
        """The metric and the test of each column."""
        names = [(row.metric, row.test) for row in self.records] + [
            (row.other_metric, row.other_test) for row in self.records
        ]
        return list(dict.fromkeys(names))

    @property
    def size(self) -> tuple[float, float]:
        k = len(self.columns)
        return (COLUMN if k <= 5 else PAGE), 0.5 + 0.2 * k

    def draw(self, ax: Axes) -> None:
        from matplotlib.colors import ListedColormap

        from ..plots.labels import printable

        columns = self.columns
        k, places = len(columns), {name: at for at, name in enumerate(columns)}
        shades = np.full((k, k), np.nan)
        for row in self.records:
            high, low = sorted((places[row.metric, row.test], places[row.other_metric, row.other_test]))
            shade = int(np.searchsorted(STEPS, row.agreement, side="right")) - 1
            shades[low, high] = shade
            ax.text(
                high + 0.5, low + 0.5, in_percent(row.agreement, 0), ha="center", va="center_baseline",
                color="white" if shade == len(SHADES) - 1 else INK, fontsize="small",
            )  # fmt: skip
        ax.pcolormesh(
            np.arange(k + 1), np.arange(k + 1), shades, cmap=ListedColormap(SHADES), vmin=-0.5,
            vmax=len(SHADES) - 0.5, edgecolors="white", linewidth=0.6,
        )  # fmt: skip
        ax.set_xlim(0, k)
        ax.set_ylim(k, 0)
        metrics = {metric for metric, _ in columns}
        names = [printable(test if len(metrics) == 1 else f"{metric}, {test}") for metric, test in columns]
        ax.set_yticks(np.arange(k) + 0.5, [f"{name}  {i}" for i, name in enumerate(names, 1)], parse_math=False)
        ax.set_xticks(np.arange(k - 1) + 0.5, [str(i) for i in range(1, k)])
        ax.tick_params(length=0)
        ax.spines[:].set_visible(False)
        label(ax, f"pairs on which both agree in %, α = {number(self.records[0].alpha)}", "")


FIGURES = {
    "gains": Figure("1 − p against the gain, for each pair.", "pair_pvalues", ("metric", "test"), GainsFigure),
    "agreement": Figure("Pairs on which tests and metrics agree.", "tests", ("alpha",), AgreementFigure),
}
REPORT = StudyReport(title, tables, conclusions, notes, FIGURES)
