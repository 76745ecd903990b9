"""What the formats for papers show: the table of systems, or all tables on request, with captions that explain them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from ..results import Comparison
from .cells import Table
from .conclusions import conclusions
from .layout import Layout
from .methods import adjustment_phrase, interval_phrase, test_phrase, uncited
from .notes import EXACT, ci, notes, number
from .tables import tables

__all__ = ["LONG", "Paper", "paper_of"]

# A table of more rows does not fit a page.
LONG = 45


class Paper(NamedTuple):
    """The content of a report for a paper, in no format yet.

    ``tables`` have a caption each. ``remarks`` are for the author: what the tests conclude, notes and caveats, and the
    signature.
    """

    tables: list[tuple[Table, str]]
    remarks: list[str]


def paper_of(comparison: Comparison, layout: Layout) -> Paper:
    """The table of systems; the others only if the layout asks for pairs or a triangle."""
    asked = layout.triangle or bool(layout.pairs)
    shown = list(tables(comparison, replace(layout, pairs=bool(layout.pairs))))
    remarks = [*conclusions(comparison, layout), *notes(comparison, layout), f"Signature: {comparison.signature}"]
    return Paper([(table, caption(comparison, table)) for table in (shown if asked else shown[:1])], remarks)


def caption(comparison: Comparison, table: Table) -> str:
    """The title of a table, and the meaning of its symbols."""
    return " ".join([f"{table.title}.", *_symbols(comparison, table)])


def _symbols(comparison: Comparison, table: Table) -> Iterator[str]:
    header, cells = set(table.header), [cell for row in table.rows for cell in row]
    test, alpha = comparison.test, comparison.alpha
    p = "adjusted p" if comparison.family_size > 1 else "p"
    if "Rank" in header:
        at_once = ""
        if comparison.rankings[0].simultaneous and alpha is not None:
            at_once = f", {number(100 * (1 - alpha))}% for all systems at once"
        yield f"Rank: the ranks that the tests leave open{at_once}."
        yield "Bold: not significantly worse than any other system."
    if "Group" in header:
        yield "Group: systems that share a letter do not differ significantly."
    if "Δ" in header:
        yield f"Δ: difference from {comparison.baseline or 'the baseline'}."
    if test is not None and alpha is not None:
        if any(cell.rstrip().endswith("*") for cell in cells):
            yield f"*: {p} ≤ {number(alpha)}."
        elif "Rank" in header:
            yield f"Significant: {p} ≤ {number(alpha)}."
        yield f"p: {test_phrase(comparison, test, uncited)}."
        if comparison.family_size > 1:
            yield f"Adjusted p: {adjustment_phrase(comparison, test, uncited)}."
    if any(EXACT in cell for cell in cells):
        yield f"{EXACT}: exact p."
    level = comparison.confidence_level
    if comparison.interval is not None and level is not None and any(ci(level) in name for name in header):
        yield f"{ci(level)}: {interval_phrase(comparison, comparison.interval, uncited)}."
    if "n" in header:
        yield "n: the number of segments that have scores."
