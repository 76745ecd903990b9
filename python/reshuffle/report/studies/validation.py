"""The report of ``validate``: conclusions from samples of a large test set."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Any

from ...errors import counted
from ...results import ConfidenceInterval
from ...results.studies import BandAccuracy, GapConclusions, PairConclusions, SampleSpread, StudyResult
from ...results.studies.plan import PoolPlan
from ...results.studies.samples import SamplesPlan
from ...results.studies.validation import ValidationPlan
from ..cells import Table, decimals_for
from ..pivot import Cells, Columns, Rows, as_number, number_cell, pivot
from ..plots.look import MUTED
from ..wording import ci, joined, number
from .base import StudyReport
from .figures import Axes, ColumnFigure, Figure, key, label, looks, point
from .shared import band_name, constant, gap_name, in_percent, of_keys, of_name, percent_interval

# The mark of sizes with fewer than ten samples, and the largest number of pairs that reports for people list.
FEW, MOST_PAIRS = "†", 36
SHARES = "Below n=…: the share of samples of n with a right conclusion; wrong: with a wrong one."


def what(values: Mapping[str, Any]) -> str:
    """The metric, the test and the layout of a table, for its title."""
    layout = {"broad": "broad samples", "block": "blocks"}
    return ", ".join(layout[value] if name == "layout" else str(value) for name, value in values.items())


def size_name(record: Any) -> str:
    """A size in a header, marked if there are fewer than ten samples."""
    return ("all n" if record.size is None else f"n={record.size:,}") + mark([record])


def mark(records: Iterable[Any]) -> str:
    """The mark of what rests, also in part, on fewer than ten samples."""
    return FEW * any(record.few_samples for record in records)


def by_size(records: Iterable[Any]) -> dict[int | None, Any]:
    """The first record of each size."""
    found: dict[int | None, Any] = {}
    for record in records:
        found.setdefault(record.size, record)
    return found


def _bands_table(values: Mapping[str, Any], bands: Sequence[BandAccuracy]) -> Table:
    """Koehn's Table 4: the number of conclusions in each band of confidence, and how many of them are right."""
    sizes = by_size(bands)
    shown = 2 + (len(sizes) == 1)  # one size has a column of intervals

    def cells(band: BandAccuracy | None) -> list[str]:
        if band is None:
            return ["0", "–", "–"][:shown]
        interval = percent_interval(band.confidence_interval, 0)
        return [f"{band.conclusions:,}", in_percent(band.right, 1), interval][:shown]

    return pivot(
        f"Right conclusions by confidence: {what(values)}",
        sorted(bands, key=lambda band: -band.low),
        Rows({"Confidence %": lambda band: band_name(band.low, band.high)}),
        Columns("size", lambda size: [size_name(sizes[size]), "right %", ci(0.95)][:shown], cells, sizes),
    )


def _shares_table(
    study: StudyResult[ValidationPlan | SamplesPlan],
    about: str,
    records: Sequence[Any],
    names: Sequence[str],
    rows: Cells,
    decimals: int,
) -> Table:
    """Right and wrong conclusions at the level of the study, by size: a row for all records with these ``names``."""
    sizes = by_size(records)
    level = number(100 * study.plan.confidence_level)

    def cells(each: Any) -> list[str]:
        return ["", ""] if each is None else [in_percent(each.right, decimals), in_percent(each.wrong, decimals)]

    return pivot(
        f"Right and wrong conclusions at {level}% {about}",
        records,
        Rows(rows, attrgetter(*names), n_names=len(rows) - 1),
        Columns("size", lambda size: [size_name(sizes[size]), "wrong"], cells, sizes),
    )


def _gaps_table(study: StudyResult[ValidationPlan], values: Mapping[str, Any], gaps: Sequence[GapConclusions]) -> Table:
    """Right and wrong conclusions by the size of the true difference."""
    rows: Cells = {"Difference": lambda gap: gap_name(gap.low, gap.high), "Pairs": "pairs"}
    return _shares_table(study, f"in % of samples: {what(values)}", gaps, ("low", "high"), rows, 1)


def pairs_table(
    study: StudyResult[ValidationPlan | SamplesPlan], values: Mapping[str, Any], pairs: Sequence[PairConclusions]
) -> Table:
    """Koehn's Table 3: right and wrong conclusions about each pair."""
    decimals = min(decimals_for(max(pair.gap for pair in pairs)), 2)
    rows: Cells = {"Better": "better", "Worse": "worse", "Δ": as_number("gap", f".{decimals}f")}
    ordered = sorted(pairs, key=lambda pair: -pair.gap)
    return _shares_table(
        study, f"about each pair, in % of samples: {what(values)}", ordered, ("better", "worse"), rows, 0
    )


def _spread_table(rows: Sequence[SampleSpread]) -> Table:
    """The bootstrap's standard deviation beside that over samples."""
    names = ["Metric", "Layout"] if constant(rows, "metric") is None else ["Layout"]
    header = [*names, "n", "Samples", "scores", "bootstrap", "ratio", "differences", "bootstrap", "ratio"]
    title = "Standard deviation over samples, and that of the bootstrap"
    table = Table(title if len(names) > 1 else f"{title}: {rows[0].metric}", header, n_names=len(names))
    for where, own in of_keys(rows, "metric", "layout", "size"):
        row = [where["metric"], where["layout"]][-len(names) :]
        row += [f"{where['size']:,}{mark(own)}", f"{own[0].samples:,}"]
        for quantity in ("scores", "differences"):
            (each,) = of_name(own, quantity=quantity)
            spec = f".{decimals_for(each.bootstrap * 10)}f"
            row += [number_cell(each.observed, spec), number_cell(each.bootstrap, spec), number_cell(each.ratio, ".2f")]
        table.add(row)
    return table


def title(study: StudyResult[ValidationPlan]) -> str:
    """The tests, and what they were tried on."""
    return f"Validation of {joined(study.plan.tests)} on samples of {counted(study.plan.units, study.plan.unit)}"


def tables(study: StudyResult[ValidationPlan]) -> Iterator[Table]:
    """The accuracy by confidence, the conclusions by difference and by pair, and the spread."""
    keys = ("metric", "test", "layout")
    for values, bands in of_keys(study.tables["bands"], *keys):
        yield _bands_table(values, bands)
    for values, gaps in of_keys(study.tables["gaps"], *keys):
        yield _gaps_table(study, values, gaps).explained(SHARES)
    for values, pairs in of_keys(study.tables["pairs"], *keys):
        if len(pairs) // len(by_size(pairs)) <= MOST_PAIRS:
            yield pairs_table(study, values, pairs).explained(SHARES)
    if study.tables["spread"]:
        yield _spread_table(study.tables["spread"])


def conclusions(study: StudyResult[ValidationPlan]) -> Iterator[str]:
    """How many conclusions are right, which differences samples detect, and the spread of the bootstrap."""
    level = number(100 * study.plan.confidence_level)
    for values, pairs in of_keys(study.tables["pairs"], "metric", "test"):
        shares = [
            f"{in_percent(right / (right + wrong), 1)}% of those from {what(where)}{mark(own)}"
            for where, own in of_keys(pairs, "layout")
            if (right := sum(pair.right * pair.samples for pair in own if pair.gap > 0))
            + (wrong := sum(pair.wrong * pair.samples for pair in own if pair.gap > 0))
        ]
        if shares:
            yield f"{what(values)}: of the conclusions at {level}% confidence, {joined(shares)} are right."
    yield from _sufficient(study)
    for where, own in of_keys([row for row in study.tables["spread"] if row.quantity == "differences"], "layout"):
        ratios = [row.ratio for row in own if row.ratio is not None]
        if ratios:
            low, high = f"{min(ratios):.2f}", f"{max(ratios):.2f}"
            times = low if low == high else f"{low} to {high}"
            over = f"{what(where)}{mark(own)}"
            yield f"The bootstrap's standard deviation of differences is {times} times that over {over}."


def _sufficient(study: StudyResult[ValidationPlan]) -> Iterator[str]:
    """The smallest difference that at least 90% of the samples of a size detect."""
    enough = 0.9
    for values, gaps in of_keys(study.tables["gaps"], "metric", "test", "layout"):
        parts: list[str] = []
        for where, own in of_keys(gaps, "size"):
            shown = [gap.low for gap in own if all(g.right >= enough for g in own if g.low >= gap.low)]
            if shown:
                it = "it" if parts else "the difference"
                parts.append(f"of {where['size']:,}{mark(own)} where {it} is over {number(min(shown))}")
        if parts:
            share = f"at least {in_percent(enough, 0)}% of samples"
            yield f"{what(values)}: {share} {joined(parts)} lead to the right conclusion."


def samples_note(study: StudyResult[PoolPlan]) -> str:
    """What the samples are."""
    unit, n = study.plan.unit, study.plan.units
    return (
        f"Samples: disjoint {unit}s of a pool of {n:,}; broad sample j takes every m-th {unit} from the j-th on, where "
        "m is the number of samples, and blocks are consecutive."
    )


def notes(study: StudyResult[ValidationPlan]) -> Iterator[str]:
    """What the numbers are."""
    plan = study.plan
    yield samples_note(study)
    confidence = "Confidence: 1 − p"
    if "paired-bootstrap" in plan.tests:
        others = " (paired-bootstrap), or 1 − p (other tests)" if len(plan.tests) > 1 else ""
        confidence = f"Confidence: the share of {plan.n_resamples:,} draws that the favoured system wins{others}"
    yield f"{confidence}; p is not adjusted. Right: the system that the test favours is truly better."
    if any(row.few_samples for row in study.tables["pairs"]):
        yield f"{FEW}: fewer than ten samples, too few for reliable shares."
    if any(band.size is not None for band in study.tables["bands"]):
        yield (
            f"{ci(0.95)}: with samples as clusters (Korn & Graubard 1998), for conclusions from other samples of this "
            "pool."
        )
    if any(
        len(own) // len(by_size(own)) > MOST_PAIRS
        for _, own in of_keys(study.tables["pairs"], "metric", "test", "layout")
    ):
        yield "Conclusions about each pair: --format csv --table pairs."


class BandsFigure(ColumnFigure[BandAccuracy]):
    """The share of right conclusions by confidence, with a marker for each layout. The dashes are the bands."""

    def draw(self, ax: Axes) -> None:
        sizes = {band.size for band in self.records}
        shown = [band for band in self.records if band.size is None or len(sizes) == 1]
        layouts = looks(band.layout for band in shown)
        places = {low: at for at, low in enumerate(sorted({band.low for band in shown}))}
        names = {band.low: band_name(band.low, band.high) for band in shown}
        for low, at in places.items():
            high = of_name(shown, low=low)[0].high
            ax.fill_between([at - 0.4, at + 0.4], 100 * low, 100 * high, color=MUTED, alpha=0.25, linewidth=0.4)
        step = 0.5 / len(layouts)
        for i, (layout, look) in enumerate(layouts.items()):
            for band in of_name(shown, layout=layout):
                if band.right is not None:
                    x = places[band.low] + (i - (len(layouts) - 1) / 2) * step
                    point(ax, x, 100 * band.right, interval_in_percent(band.confidence_interval), look)
        ax.set_xticks(range(len(places)), [names[low].replace(" to <", "–") for low in places], rotation=40, ha="right")
        ax.set_ylim(0 if 0 in places else 30, 102)
        label(ax, "confidence in %; grey: the band itself", "right conclusions in %")
        key(ax, layouts, loc="lower right")


def interval_in_percent(interval: ConfidenceInterval | None) -> ConfidenceInterval | None:
    return None if interval is None else replace(interval, low=100 * interval.low, high=100 * interval.high)


class GapsFigure(ColumnFigure[GapConclusions]):
    """The share of right conclusions by the size of the true difference, with a marker for each size of samples."""

    def draw(self, ax: Axes) -> None:
        sizes = looks(f"n = {gap.size:,}" for gap in self.records)
        bins = list(dict.fromkeys((gap.low, gap.high) for gap in sorted(self.records, key=lambda gap: gap.low)))
        step = 0.5 / len(sizes)
        for i, (size, look) in enumerate(sizes.items()):
            for gap in self.records:
                if f"n = {gap.size:,}" == size:
                    x = bins.index((gap.low, gap.high)) + (i - (len(sizes) - 1) / 2) * step
                    point(ax, x, 100 * gap.right, interval_in_percent(gap.right_interval), look)
        ax.set_xticks(range(len(bins)), [gap_name(*ends).replace(" to ", "–") for ends in bins])
        ax.set_ylim(0, 102)
        label(ax, "difference on the whole test set", "samples with a right conclusion in %")
        key(ax, sizes, loc="lower right")


FIGURES = {
    "bands": Figure(
        "Right conclusions by confidence, with confidence intervals.",
        "bands",
        ("metric", "test"),
        BandsFigure,
        among=("layout",),
    ),
    "gaps": Figure(
        "Right conclusions by the difference on the whole test set.",
        "gaps",
        ("metric", "test", "layout"),
        GapsFigure,
    ),
}
REPORT = StudyReport(title, tables, conclusions, notes, FIGURES)
