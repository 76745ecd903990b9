"""The report of ``samples``: scores and conclusions on samples, and curves of their precision."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...errors import InputError, counted
from ...results.studies import CurvePoint, SampleDifference, SampleRange, SampleScore, StudyResult
from ...results.studies.samples import SamplesPlan
from ..cells import Table, decimals_for
from ..pivot import Cells, Columns, Rows, as_number, pivot
from ..plots.look import INK, MUTED
from ..wording import ci, number
from .base import StudyReport
from .figures import Axes, ColumnFigure, Figure, key, key_above, label, looks, point
from .shared import as_percent, constant, in_percent, of_keys, of_name
from .validation import FEW, MOST_PAIRS, SHARES, by_size, interval_in_percent, mark, pairs_table, samples_note, what


def _ranges_table(values: Mapping[str, Any], ranges: Sequence[SampleRange]) -> Table:
    """The scores of each system on the samples, beside that on the pool."""
    about = {name: value for name, value in values.items() if name != "size"}
    spec = f".{decimals_for(max(abs(each.highest) for each in ranges))}f"
    cells: Cells = {
        "System": "system",
        "pool": as_number("pool_score", spec),
        "lowest": as_number("lowest", spec),
        "highest": as_number("highest", spec),
        "sd": as_number("deviation", spec),
        "outside %": as_percent("outside", 0),
        ci(0.95): as_percent("outside_interval", 0),
    }
    of = f"{counted(ranges[0].samples, 'sample')} of {values['size']:,}{mark(ranges)}"
    return pivot(f"Scores on {of}: {what(about)}", ranges, Rows(cells, n_names=1))


def _curve_table(metric: str, points: Sequence[CurvePoint]) -> Table:
    """Widths and separated pairs by the size of the test set, for one number of references."""
    spec = f".{decimals_for(max(point.width for point in points))}f"
    cells: Cells = {
        "n": "size",
        "Test sets": "samples",
        "Width": as_number("width", spec),
        "% of score": as_percent("relative_width", 1),
        "Width of Δ": as_number("difference_width", spec),
        "Separated %": as_percent("separated", 1),
        ci(0.95): as_percent("confidence_interval", 0),
    }
    return pivot(f"Precision by test set size: {metric}", points, Rows(cells, n_names=1))


def _curves_table(metric: str, points: Sequence[CurvePoint]) -> Table:
    """The same for several numbers of references, in a row each."""
    decimals = decimals_for(max(point.width for point in points))

    def cells(point: CurvePoint) -> list[str]:
        return [f"{point.width:.{decimals}f}", in_percent(point.relative_width, 1), in_percent(point.separated, 1)]

    return pivot(
        f"Width of intervals by test set size and number of references: {metric}",
        points,
        Rows({"References": "references"}),
        Columns("size", lambda size: [f"n={size:,}", "% of score", "sep. %"], cells),
    )


def title(study: StudyResult[SamplesPlan]) -> str:
    """What was sampled."""
    return f"Samples of {counted(study.plan.units, study.plan.unit)}"


def tables(study: StudyResult[SamplesPlan]) -> Iterator[Table]:
    """The ranges of scores, the conclusions, and the curves."""
    outside = (
        f"Outside: the share of samples whose {ci(study.plan.confidence_level)} does not contain the pool's score."
    )
    for values, ranges in of_keys(study.tables["ranges"], "metric", "layout", "size"):
        yield _ranges_table(values, ranges).explained(outside)
    for values, pairs in of_keys(study.tables["pairs"], "metric", "layout"):
        if len(pairs) // len(by_size(pairs)) <= MOST_PAIRS:
            yield pairs_table(study, values, pairs).explained(SHARES)
    separated = "Separated: pairs whose interval of the difference does not contain 0."
    for values, points in of_keys(study.tables["curves"], "metric"):
        if constant(points, "references") is None and any(point.references for point in points):
            widths = f"Below n=…: the width of the interval of a score. {separated}"
            yield _curves_table(values["metric"], points).explained(widths)
        else:
            yield _curve_table(values["metric"], points).explained(separated)


def conclusions(study: StudyResult[SamplesPlan]) -> Iterator[str]:
    """How many differences are reversed, how many intervals miss, and what more segments or references gain."""
    for values, ranges in of_keys(study.tables["ranges"], "metric", "layout", "size"):
        own = of_name(study.tables["differences"], **values)
        size = values.pop("size")
        intervals = sum(each.samples for each in ranges)
        missed = sum(round(each.outside * each.samples) for each in ranges)
        reversed_ = sum(each.reversal for each in own)
        yield (
            f"{what(values)} of {size:,}{mark(ranges)}: {missed:,} of {intervals:,} intervals "
            f"({in_percent(missed / intervals, 1)}%) miss the pool's score, and {reversed_:,} of {len(own):,} "
            f"differences ({in_percent(reversed_ / len(own), 1)}%) are reversed."
        )
    yield from _gained(study)


def _gained(study: StudyResult[SamplesPlan]) -> Iterator[str]:
    """What more segments or references bring, from the ends of the curves."""
    for values, points in of_keys(study.tables["curves"], "metric"):
        numbers = [point.references for point in points]
        first, last = points[0], points[-1]
        if numbers[0] != numbers[-1]:
            few, many = (of_name(points, references=n, size=last.size)[0] for n in (numbers[0], numbers[-1]))
            yield (
                f"{values['metric']}: {last.size:,} {study.plan.unit}s separate {in_percent(many.separated, 0)}% of "
                f"the pairs with {numbers[-1]} references, and {in_percent(few.separated, 0)}% with {numbers[0]}."
            )
        elif first.size != last.size:
            yield (
                f"{values['metric']}: {in_percent(first.separated, 0)}% of the pairs are separated by test sets of "
                f"{first.size:,}, and {in_percent(last.separated, 0)}% by one of {last.size:,}."
            )


def notes(study: StudyResult[SamplesPlan]) -> Iterator[str]:
    """What the numbers are."""
    plan = study.plan
    yield samples_note(study)
    yield (
        f"Intervals: {plan.interval}, {number(100 * plan.confidence_level)}%, from {plan.n_resamples:,} "
        "draws. A conclusion needs that share of draws won."
    )
    if any(each.few_samples for each in study.tables["ranges"]):
        yield f"{FEW}: fewer than ten samples, too few for reliable shares."


CELL = ("metric", "layout", "size", "system")
# Curves show intervals from so many test sets on: with fewer, these intervals are hardly shorter than the axis.
FEWEST = 5


class ScoresFigure(ColumnFigure[SampleScore]):
    """The score and the interval of a system on each sample, against its score on the pool."""

    @property
    def _pool_score(self) -> float:
        """The score on the pool, which is in another table."""
        first = self.records[0]
        own = of_name(
            self.study.tables["ranges"],
            metric=first.metric, layout=first.layout, size=first.size, system=first.system,
        )  # fmt: skip
        if len(own) != 1:  # in edited JSON
            raise InputError(f"the scores of {first.system} on samples need one record in the table ranges")
        return float(own[0].pool_score)

    def draw(self, ax: Axes) -> None:
        from ..plots.labels import printable

        (look,) = looks([self.records[0].system]).values()
        ax.axhline(self._pool_score, color=MUTED, linewidth=0.8, linestyle=(0, (3, 2)), zorder=1)
        for each in self.records:
            point(ax, each.sample, each.score, each.confidence_interval, look, not each.covers)
        level = ci(self.records[0].confidence_interval.confidence_level)
        ax.set_xlim(0, len(self.records) + 1)
        label(
            ax,
            f"sample\n● {level} misses the overall score (dashes)    ○ contains it",
            f"{printable(self.records[0].metric)} of {printable(self.records[0].system)}",
        )


class DifferencesFigure(ColumnFigure[SampleDifference]):
    """The difference of a system from its baselines on each sample. Reversed differences are filled."""

    def draw(self, ax: Axes) -> None:
        from ..plots.labels import printable

        baselines = looks(each.baseline for each in self.records)
        ax.axhline(0, color=INK, linewidth=0.6, zorder=1)
        for each in self.records:
            point(ax, each.sample, each.difference, None, baselines[each.baseline], each.reversal)
        ax.set_xlim(0, max(each.sample for each in self.records) + 1)
        first = self.records[0]
        label(
            ax,
            "sample\n● opposite sign to the whole test set    ○ same sign",
            f"{printable(first.metric)}: {printable(first.system)} − baseline",
        )
        key_above(ax, baselines, 3)


class CurvesFigure(ColumnFigure[CurvePoint]):
    """The share of separated pairs by the size of the test set, with a line for each number of references."""

    def draw(self, ax: Axes) -> None:
        names = {each.references: _references(each.references) for each in self.records}
        lines = looks(names.values())
        for where, own in of_keys(self.records, "references"):
            look = lines[names[where["references"]]]
            x, y = [each.size for each in own], [100 * each.separated for each in own]
            ax.plot(x, y, color=look["color"], linestyle=look["linestyle"], linewidth=0.9, zorder=2)
            for each in own:
                interval = (
                    interval_in_percent(each.confidence_interval)
                    if len(lines) == 1 and each.samples >= FEWEST
                    else None
                )
                point(ax, each.size, 100 * each.separated, interval, look)
        ax.set_xscale("log")
        sizes = sorted({each.size for each in self.records})
        ax.set_xticks(sizes, [f"{size:,}" for size in sizes])
        ax.minorticks_off()
        ax.set_ylim(0, 102)
        label(ax, "size of the test set", "separated pairs in %")
        if len(lines) > 1:
            key(ax, lines, loc="lower right")


def _references(n: int | None) -> str:
    return "all references" if n is None else counted(n, "reference")


FIGURES = {
    "curves": Figure("Separated pairs by the size of the test set.", "curves", ("metric",), CurvesFigure),
    "differences": Figure("Differences from the baseline on each sample.", "differences", CELL, DifferencesFigure),
    "scores": Figure("Scores on each sample, with confidence intervals.", "scores", CELL, ScoresFigure),
}
REPORT = StudyReport(title, tables, conclusions, notes, FIGURES)
