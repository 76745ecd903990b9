"""Flips: the segments that a system gains and loses at a threshold, and those with the largest influence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..errors import counted
from ..results import FlippedSegment, Flips, LostSegment
from ..results.schemas import as_dict
from .cells import Table, decimals_for
from .document import Document
from .frames import Columns, Fields, columns_from
from .layout import Layout
from .wording import left_out, number
from .words import said

# The most gained or lost segments that a text lists.
MAX_LISTED = 20
# The columns of CSV beside the segment.
COLUMNS: Fields = {
    "baseline_score": ("float64", "baseline_score"),
    "system_score": ("float64", "system_score"),
    "flip": (None, "flip"),
    "contribution": ("float64", "contribution"),
}


def flips_document(flips: Flips, layout: Layout) -> Document:
    """The scores, the segments with the largest parts of the difference, and the segments gained and lost."""
    tables, largest = [_scores(flips)], flips.largest
    if largest:
        title = f"{counted(len(largest), flips.unit)} with the largest parts of Δ"
        header = [flips.unit.capitalize(), flips.baseline, flips.system, "Part of Δ"]
        tables.append(segments_table(title, header, largest, [each.contribution for each in largest]))
    return Document(tables, [*_sentences(flips), *left_out(flips.signature)], flips.signature)


def _scores(flips: Flips) -> Table:
    metric = flips.metric
    direction = "" if metric.higher_is_better else ", lower is better"
    title = f"{metric.name}{direction}: {counted(len(flips.segments), flips.unit)} of 2 systems"
    decimals = decimals_for(max(abs(flips.baseline_score), abs(flips.system_score)))
    passes = f"{'≥' if metric.higher_is_better else '≤'} {number(flips.threshold)}"
    table = Table(title, ["System", metric.name, "Δ", passes])
    passed = flips.n_both + len(flips.lost), flips.n_both + len(flips.gained)
    difference = f"{flips.difference:+.{decimals}f}"
    table.add([flips.baseline, f"{flips.baseline_score:.{decimals}f}", "baseline", f"{passed[0]:,}"])
    table.add([flips.system, f"{flips.system_score:.{decimals}f}", difference, f"{passed[1]:,}"])
    return table


def segments_table(
    title: str, header: list[str], segments: Sequence[FlippedSegment | LostSegment], shares: Sequence[float]
) -> Table:
    """Segments with their scores, and their shares of a difference, the largest first."""
    table = Table(title, header)
    decimals = decimals_for(max(abs(score) for s in segments for score in (s.baseline_score, s.system_score)))
    of_shares = decimals_for(abs(shares[0]))
    for each, share in zip(segments, shares, strict=True):
        scores = (f"{score:.{decimals}f}" for score in (each.baseline_score, each.system_score))
        table.add([str(each.segment), *scores, f"{share:+.{of_shares}f}"])
    return table


def _sentences(flips: Flips) -> Iterator[str]:
    gained, lost = flips.gained, flips.lost
    numbers = {"n_gained": len(gained), "n_lost": len(lost), "n_unchanged": flips.n_unchanged}
    return said("flips", "found", {**as_dict(flips), **numbers, "gained": _listed(gained), "lost": _listed(lost)})


def _listed(segments: Sequence[int | str]) -> str:
    """The first segments, and how many there are if these are not all."""
    shown = ", ".join(map(str, segments[:MAX_LISTED]))
    return shown if len(segments) <= MAX_LISTED else f"{shown} … ({len(segments):,} in all; json and csv have them)"


def flip_columns(flips: Flips, table: str | None = None) -> Columns:
    """The columns of the CSV."""
    segments = flips.segments
    numbers = [each.segment for each in segments]
    unit = (numbers, "int64" if all(isinstance(each, int) for each in numbers) else None)
    return {flips.unit: unit, **columns_from(COLUMNS, segments)}
