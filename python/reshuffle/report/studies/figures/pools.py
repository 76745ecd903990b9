"""Figures of samples: accuracy by confidence, scores and differences of samples, and curves by test set size."""

from __future__ import annotations

from dataclasses import replace

from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, NullFormatter, NullLocator

from ....errors import InputError, counted
from ....results import ConfidenceInterval
from ....results.studies import BandAccuracy, CurvePoint, GapConclusions, SampleDifference, SampleScore
from ...plots.labels import printable
from ...plots.style import INK, MUTED
from ...wording import ci, number
from ..shared import band_name, gap_name, of_keys, of_name
from .base import ColumnFigure, key, key_above, label, looks, point

# Curves show intervals from so many test sets on: with fewer, these intervals are hardly shorter than the axis.
FEWEST = 5


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
                    point(ax, x, 100 * band.right, _in_percent(band.confidence_interval), look)
        ax.set_xticks(range(len(places)), [names[low].replace(" to <", "–") for low in places], rotation=40, ha="right")
        ax.set_ylim(0 if 0 in places else 30, 102)
        label(ax, "confidence in %; grey: the band itself", "right conclusions in %")
        key(ax, layouts, loc="lower right")


def _in_percent(interval: ConfidenceInterval | None) -> ConfidenceInterval | None:
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
                    point(ax, x, 100 * gap.right, _in_percent(gap.right_interval), look)
        ax.set_xticks(range(len(bins)), [gap_name(*ends).replace(" to ", "–") for ends in bins])
        ax.set_ylim(0, 102)
        label(ax, "difference on the whole test set", "samples with a right conclusion in %")
        key(ax, sizes, loc="lower right")


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
                interval = _in_percent(each.confidence_interval) if len(lines) == 1 and each.samples >= FEWEST else None
                point(ax, each.size, 100 * each.separated, interval, look)
        ax.set_xscale("log")
        sizes = sorted({each.size for each in self.records})
        ax.xaxis.set_major_locator(FixedLocator(sizes))
        ax.xaxis.set_major_formatter(lambda size, _: number(size))
        ax.xaxis.set_minor_locator(NullLocator())
        ax.xaxis.set_minor_formatter(NullFormatter())
        ax.set_ylim(0, 102)
        label(ax, "size of the test set", "separated pairs in %")
        if len(lines) > 1:
            key(ax, lines, loc="lower right")


def _references(n: int | None) -> str:
    return "all references" if n is None else counted(n, "reference")
