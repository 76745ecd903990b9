"""Values on an axis with confidence intervals, whose ends may be infinite or undefined."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.offsetbox import AnnotationBbox, HPacker, TextArea, VPacker

from ...results import ConfidenceInterval, PairedDifference
from ..wording import number
from .labels import LETTER, MATHEMATICAL, NO_MATH, PLAIN, columns, lines_of, mathematical, text_size
from .look import BETTER, INK, MUTED, WORSE
from .ticks import Ticks
from .view import View

# In points. Ends of intervals are higher than markers, so that they are visible where an interval is narrower than one.
MARKER, END = 3.2, 4.8
# The height of a line of a key, as a multiple of the font size.
KEY_LINE = 1.4
# How many average letters longer lines of keys may be than lines of labels, which have some to spare.
SLACK = 4
# Figures have room for so many lines of a key.
MOST_LINES = 3
# An axis ends before a tenth of the rows if the others would take less than this share of it.
SQUEEZED = 0.25
# What the colours of significant differences mean.
DIRECTIONS = {BETTER: "better", WORSE: "worse"}
# Texts with their colours.
Pieces: TypeAlias = Sequence[tuple[str, str]]


def set_limits(ax: Axes, values: Iterable[float], intervals: Sequence[ConfidenceInterval | None]) -> None:
    """Set the limits of x so that they contain all finite numbers, with a margin."""
    ends = [end for interval in intervals if interval is not None for end in (interval.low, interval.high)]
    finite = [float(value) for value in (*values, *ends) if math.isfinite(value)]
    low, high = (min(finite), max(finite)) if finite else (0.0, 0.0)
    margin = 0.05 * (high - low) or 0.05 * abs(high) or 1.0
    ax.set_xlim(low - margin, high + margin)
    ax.xaxis.set_major_locator(Ticks())


def inner_limits(intervals: Sequence[ConfidenceInterval | None]) -> tuple[float, float] | None:
    """The ends of most intervals, if a few others, at most a tenth of them, would squeeze them; else None."""
    spans = [(each.low, each.high) for each in intervals if each is not None]
    if not all(math.isfinite(end) for span in spans for end in span):
        return None
    whole = _width([*spans, (0.0, 0.0)])
    farthest = sorted(spans, key=lambda span: -max(map(abs, span)))
    for out in range(1, len(spans) // 10 + 1):
        rest = [*farthest[out:], (0.0, 0.0)]
        if _width(rest) < SQUEEZED * whole:
            return min(low for low, _ in rest), max(high for _, high in rest)
    return None


def _width(spans: Sequence[tuple[float, float]]) -> float:
    return max(high for _, high in spans) - min(low for low, _ in spans)


def whisker(ax: Axes, y: float, value: float, interval: ConfidenceInterval | None, color: str) -> None:
    """Draw an interval as a line with marked ends: an arrow at the edge of the axes instead of an end beyond it."""
    if interval is None:
        return
    edges = ax.get_xlim()
    drawn = []
    for end, edge, arrow in zip((interval.low, interval.high), edges, "<>", strict=True):
        is_beyond = not edges[0] <= end <= edges[1] and not math.isnan(end)
        if is_beyond:
            ax.plot(edge, y, marker=arrow, markersize=3, color=color, clip_on=False, zorder=3)
        # An undefined end is drawn at the value itself.
        drawn.append(edge if is_beyond else value if math.isnan(end) else end)
    if not any(map(math.isnan, drawn)):
        ax.plot(drawn, [y, y], color=color, linewidth=1.0, solid_capstyle="butt", zorder=2)
        ends = [end for end in (interval.low, interval.high) if edges[0] <= end <= edges[1]]
        ax.plot(
            ends, [y] * len(ends), marker="|", markersize=END, markeredgewidth=0.7, color=color, linestyle="none",
            zorder=3,
        )  # fmt: skip


def mark(ax: Axes, y: float, value: float, color: str, filled: bool, marker: str = "o", **attributes: Any) -> None:
    """Draw a value as a marker, which is filled if it is significant."""
    ax.plot(
        value, y, marker=marker, markersize=MARKER, markeredgewidth=0.8, markeredgecolor=color,
        markerfacecolor=color if filled else "white", linestyle="none", zorder=4, **attributes,
    )  # fmt: skip


@dataclass(frozen=True)
class Key:
    """What the markers of a figure mean: only kinds that it has."""

    filled: tuple[str, ...]
    """The colours of the filled markers."""
    hollow: bool
    significant: str
    not_significant: str
    baseline: str = ""
    """The system whose marker is a square, wrapped."""

    @classmethod
    def of(cls, view: View, pairs: Iterable[PairedDifference], baseline: str = "") -> Key:
        """The key of the markers of these pairs."""
        marked = [(pair, view.is_significant(pair)) for pair in pairs]
        colors = {view.color(pair) for pair, is_filled in marked if is_filled}
        filled = tuple(color for color in (BETTER, WORSE, INK) if color in colors)
        margin = "" if view.margin is None else f" (margin {number(view.margin)})"
        p = view.pvalue_name
        names = f"{p} ≤ {view.alpha}{margin}", f"{p} > {view.alpha}{'' if filled else margin}"
        return cls(filled, not all(is_filled for _, is_filled in marked), *names, baseline)

    def with_others(self, others: Sequence[Key]) -> Key | None:
        """One key of several figures; None if their markers mean different things."""
        every = [self, *others]
        if len({(each.significant, each.baseline) for each in every}) > 1:
            return None
        colors = {color for each in every for color in each.filled}
        filled = tuple(color for color in (BETTER, WORSE, INK) if color in colors)
        return replace(self, filled=filled, hollow=any(each.hollow for each in every))

    def lines(self, width: float) -> Sequence[Pieces]:
        """The baseline and the markers, in lines of at most ``width`` average letters."""
        named = [(DIRECTIONS.get(color, ""), color) for color in self.filled]
        items: list[tuple[tuple[str, str], ...]] = [(("●", color), (f" {name}", INK)) for name, color in named]
        directed = any(name for name, _ in named)
        if items:
            items[-1] += ((f" ({self.significant})" if directed else self.significant, INK),)
        if self.hollow:
            items.append((("○", MUTED), (" not significant" if directed else f" {self.not_significant}", INK)))
        lines, of_baseline = Said(items).lines(width), ((f"■ {self.baseline}", INK),)
        together = Said([of_baseline, *items]).lines(width)
        return lines if not self.baseline else together if len(together) == 1 else [of_baseline, *lines]


@dataclass(frozen=True)
class Said:
    """A key of items that are the same wherever it stands, several of them on a line."""

    said: Sequence[tuple[tuple[str, str], ...]]

    def with_others(self, others: Sequence[Said]) -> Said:
        """One key of several figures."""
        return Said([*dict.fromkeys(item for each in (self, *others) for item in each.said)])

    def lines(self, width: float) -> Sequence[Pieces]:
        """Lines of at most ``width`` average letters, unless an item is longer."""
        lines: list[list[tuple[str, str]]] = []
        for item in self.said:
            # Spaces alone would be a text of another height.
            *others, (text, color) = lines[-1] if lines else item
            joined = [*others, (f"{text}   ", color), *item]
            if lines and columns("".join(text for text, _ in joined)) <= width:
                lines[-1] = joined
            else:
                lines.append([*item])
        return lines


class Below(AnnotationBbox):
    """A box that is measured where it will be drawn; before matplotlib 3.8, it is measured where it was drawn last."""

    beyond = 0.0
    """The height of the lines for which figures have no room by default, in inches."""
    key: Key | Said | None = None
    own: Sequence[Pieces] = ()
    """Lines below the key that are about these axes alone."""

    def get_tightbbox(self, renderer: Any = None) -> Any:
        """Its extent in pixels."""
        if renderer is not None:
            self.update_positions(renderer)
        return super().get_tightbbox(renderer)


def draw_key(ax: Axes, key: Key | Said, width: float = math.inf, own: Sequence[Pieces] = ()) -> None:
    """Write a key below the label of the axis, in lines of at most ``width`` average letters.

    ``own``: lines below it that stay if panels share the key.
    """
    below = write_below(ax, [*key.lines(width), *own])
    below.key, below.own = key, own


def merged_key(panels: Sequence[Axes]) -> Key | Said | None:
    """One key of several panels, which are left without; None if they have none, or keys of different words."""
    keyed = [artist for ax in panels for artist in ax.artists if isinstance(artist, Below) and artist.key]
    keys: list[Any] = [artist.key for artist in keyed]
    merged: Key | Said | None = keys[0].with_others(keys[1:]) if keys else None
    for artist in keyed if merged is not None else []:
        ax: Any = artist.axes
        artist.remove()
        if artist.own:
            write_below(ax, artist.own)
    return merged


def add_key(figure: Figure, key: Key | Said) -> float:
    """Write a key at the bottom of a figure. Returns its height, in inches."""
    lines = key.lines(72 * figure.get_figwidth() / (LETTER * text_size()) - 2)
    box = AnnotationBbox(
        _packed(lines), (0.5, 0), xybox=(0, 1), xycoords="figure fraction", boxcoords="offset points",
        box_alignment=(0.5, 0), frameon=False, pad=0, annotation_clip=False,
    )  # fmt: skip
    box.set_in_layout(False)
    figure.add_artist(box)
    return _height(lines)


def _height(lines: Sequence[Pieces]) -> float:
    return sum(lines_of(text) for line in lines for text, _ in line[:1]) * text_size() * KEY_LINE / 72


def write_below(ax: Axes, lines: Sequence[Pieces]) -> Below:
    """Write lines of coloured text below the label of the axis."""
    below = Below(
        _packed(lines), (0.5, 0), xybox=(0, -1.5), xycoords=ax.xaxis.label, boxcoords="offset points",
        box_alignment=(0.5, 1), frameon=False, pad=0, annotation_clip=False,
    )  # fmt: skip
    below.beyond = _height(lines[MOST_LINES:])
    ax.add_artist(below)
    return below


def _packed(lines: Sequence[Pieces]) -> VPacker:
    rows: list[Artist] = [HPacker(children=[*map(_area, line)], pad=0, sep=0, align="baseline") for line in lines]
    return VPacker(children=rows, pad=0, sep=1.5, align="center")


def _area(piece: tuple[str, str]) -> TextArea:
    """A text in its colour. The first of a line is a marker, perhaps with a name."""
    text, color = piece
    named = text.startswith(("■", NO_MATH))
    style = PLAIN if named else MATHEMATICAL
    return TextArea(text if named else mathematical(text), textprops={"color": color, **style})
