"""Ranking: scores with confidence intervals, best first, with ranks and groups or differences from the baseline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from ...lazy import lazy
from ...results import PairedDifference
from ..captions import MOST_NUMBERED, MOST_RANKED
from ..cells import rank_cell, score_cell
from .intervals import SLACK, Key, draw_key, mark, set_limits, whisker
from .labels import LABEL, LABEL_LINES, PLAIN, columns, printable, text_size, wrapped
from .look import FONT_SIZE, INK
from .rows import HEADER, Column, RowFigure, Rows, beside, columns_beside, has_room_beside, width_beside, width_of
from .view import View

# The height of what is above and below the rows, in inches.
FURNITURE = 0.72
# The distance between two bars, in points.
GAP = 6.5
# The heading of the bars above their letters, and its distance from their baseline as a multiple of the font size.
HEADING, GROUP = "group", 1.3
# In average letters; metrics with longer names are named only in the axis label.
MAX_HEADER = 10


@dataclass(frozen=True)
class RankingFigure(RowFigure):
    """The scores of all systems under one metric."""

    view: View

    @classmethod
    def from_view(cls, view: View) -> RankingFigure:
        """Every result has scores."""
        return cls(view)

    @lazy
    def groups(self) -> list[tuple[str, tuple[str, ...]]]:
        """The letters and the systems of each group without significant differences."""
        ranking = None if self.view.beside > 1 else self.view.ranking
        groups = () if ranking is None or ranking.groups is None else ranking.groups
        return [(chr(ord("a") + index), group) for index, group in enumerate(groups)]

    @lazy
    def rows(self) -> Rows:
        """A row for each system."""
        names = [self.view.name(system) for system in self.view.rows]
        above = GROUP * FONT_SIZE / 72 if self.groups else 0.0
        beside = width_of(self._columns()) + self._groups_width / 72
        return Rows.from_names(names, FURNITURE + above, beside=beside, shared=self.view.beside > 1)

    @property
    def _groups_width(self) -> float:
        """The width of the bars of groups, in points."""
        return (max(len(self.groups), 2) + 1) * GAP if self.groups else 0.0

    @property
    def _against(self) -> Mapping[str, PairedDifference]:
        """The difference of each system from the baseline of the comparison."""
        if self.view.comparison.baseline is None:
            return {}
        return {pair.system: pair for pair in self.view.pairs}

    def draw(self, ax: Axes) -> None:
        scores, against = self.view.scores, self._against
        self.rows.draw(ax)
        set_limits(ax, [s.score for s in scores.values()], [s.confidence_interval for s in scores.values()])
        for y, system in zip(self.rows.centres, self.view.rows, strict=True):
            score = scores[system]
            pair = against.get(system)
            significant = pair is None or self.view.is_significant(pair)
            color = INK
            if pair is not None:
                color = self.view.color(pair)
            elif against:  # the baseline
                ax.axvline(score.score, color=INK, linewidth=0.6, linestyle=(0, (4, 2)), zorder=1)
            whisker(ax, y, score.score, score.confidence_interval, color)
            mark(ax, y, score.score, color, significant, marker="s" if against and pair is None else "o")
        right, texts = 0.0, self._columns()
        if has_room_beside(ax, self.rows, width_beside(texts) + self._groups_width):
            right = columns_beside(ax, self.rows, texts)
            self._draw_groups(ax, right + 1.6 * GAP)
        width = self.rows.label_width(ax, right + self._groups_width)
        ax.set_xlabel(self._label(width), **LABEL)
        if against:
            baseline = wrapped(self.view.name(self.view.comparison.baseline or ""), width - 3)
            draw_key(ax, Key.of(self.view, against.values(), baseline), width + SLACK)

    def _columns(self) -> list[Column]:
        view = self.view
        if view.beside > 1:
            return self._shared_columns()
        found = [self._scores()]
        if view.ranking is not None:
            ranks = [view.ranking[system] for system in view.scores]
            found.append(Column("rank", [(rank_cell(ranked.rank_low, ranked.rank_high), "") for ranked in ranks]))
        if self._against:
            pairs = [self._against.get(system) for system in view.scores]
            found.append(Column("Δ", [("", "") if pair is None else self._difference(pair) for pair in pairs]))
        return found

    def _scores(self) -> Column:
        """The scores; in panels beside each other, which have no differences, with stars."""
        view, header = self.view, printable(self.view.metric.name)
        stars = {s for s, pair in self._against.items() if view.beside > 1 and view.is_significant(pair)}
        cells = [(score_cell(view.scores[s].score, view.decimals), "*" if s in stars else "") for s in view.rows]
        return Column(header if view.beside == 1 and columns(header) <= MAX_HEADER else "score", cells)

    def _shared_columns(self) -> list[Column]:
        """Scores, ranks and letters, as far as there is room: rows may be in another order, so that bars do not fit."""
        if self.view.ranking is None:
            return [self._scores()] * (self.view.beside <= MOST_NUMBERED)
        ranks = [self.view.ranking[system] for system in self.view.rows]
        letters = [ranked.letters for ranked in ranks]
        found = [self._scores()] * (self.view.beside <= MOST_NUMBERED)
        if not all(letters) or self.view.beside <= MOST_RANKED:
            found.append(Column("rank", [(rank_cell(ranked.rank_low, ranked.rank_high), "") for ranked in ranks]))
        if all(letters):
            found.append(Column(HEADING, [(each or "", "") for each in letters]))
        return found

    def _difference(self, pair: PairedDifference) -> tuple[str, str]:
        among = [each.difference for each in self._against.values()]
        return self.view.signed(pair.difference, among), "*" if self.view.is_significant(pair) else ""

    def _draw_groups(self, ax: Axes, left: float) -> None:
        """A bar for each group of systems without significant differences, with its letter above."""
        centres = dict(zip(self.view.scores, self.rows.centres, strict=True))
        size = text_size()
        if self.groups:
            ax.annotate(
                HEADING, (1, 1), (left - 0.5 * GAP, (HEADER + GROUP) * size), "axes fraction", "offset points",
                ha="left", va="baseline", annotation_clip=False, **PLAIN,
            )  # fmt: skip
        for index, (letter, group) in enumerate(self.groups):
            points = left + index * GAP
            ax.annotate(
                letter, (1, 1), (points, HEADER * size), "axes fraction", "offset points",
                ha="center", va="baseline", annotation_clip=False, **PLAIN,
            )  # fmt: skip
            ys = [centres[system] for system in centres if system in group]
            place: dict[str, Any] = {"transform": beside(ax, points), "clip_on": False, "color": INK}
            ax.add_line(Line2D([1, 1], [ys[0], ys[-1]], linewidth=1.2, **place))
            ax.add_line(Line2D([1] * len(ys), ys, linestyle="none", marker="o", markersize=3, **place))

    def _label(self, width: int) -> str:
        metric = self.view.metric
        what = ", ".join(filter(None, (self.view.scored, self.view.interval_name())))
        return wrapped(f"{what} ({'→' if metric.higher_is_better else '←'} better)", width, LABEL_LINES)
