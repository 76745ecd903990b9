"""The content of the formats for papers: the table of systems, or all tables on request, with captions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from ..results import Comparison, SetComparison
from .cells import Table
from .conclusions import conclusions
from .layout import Layout
from .margins import has_margin
from .methods import adjustment_phrase, interval_phrase, on_all_sets, test_phrase, uncited
from .notes import EXACT, ci, notes, number
from .sets import content_of_sets, tables_with_owners
from .tables import tables

# A table of more rows does not fit a page.
LONG = 45


# A score with letters, in a table of test sets.
_LETTERED = re.compile(r"^-?[\d.]+ [a-z]+ *$")


class Paper(NamedTuple):
    """The content of a report for a paper, in no format yet.

    ``tables`` have a caption each. ``remarks`` are for the author: sentences about the results, notes, caveats and the
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


def paper_of_sets(result: SetComparison, layout: Layout) -> Paper:
    """A table of systems and test sets for each metric; the others only if the layout asks for pairs or a triangle."""
    asked = layout.triangle or bool(layout.pairs)
    shown = replace(layout, pairs=bool(layout.pairs))
    _, remarks = content_of_sets(result, shown)
    remarks.append(f"Signature: {result.signature}")
    # The tables of all test sets come first.
    owned = sorted(tables_with_owners(result, shown), key=lambda pair: pair[1] is not None)
    return Paper(
        [
            (table, _caption_of_sets(result, table) if owner is None else caption(owner, table))
            for table, owner in owned
            if asked or owner is None
        ],
        remarks,
    )


def caption(comparison: Comparison, table: Table) -> str:
    """The title of a table, and the meaning of its symbols."""
    test = comparison.test
    adjusted = None if test is None else adjustment_phrase(comparison, test, uncited)
    return " ".join([f"{table.title}.", *_symbols(comparison, table, comparison, adjusted)])


def _caption_of_sets(result: SetComparison, table: Table) -> str:
    """The same for a table of all test sets, on which the tests may be exact or not, and of the averages."""
    first = next(iter(result.sets.values()))
    if first.test is None:
        return caption(first, table)
    adjusted = adjustment_phrase(first, first.test, uncited)
    average = result.average
    if average is not None and average.test is not None and average.family_size > 1:
        of_averages = adjustment_phrase(average, average.test, uncited)
        adjusted += f"; for averages {of_averages}" if of_averages != adjusted else ""
    return " ".join([f"{table.title}.", *_symbols(first, table, on_all_sets(result), adjusted)])


def _symbols(comparison: Comparison, table: Table, tested: Comparison, adjusted: str | None) -> Iterator[str]:
    """``tested`` has the tests of all numbers in the table, and ``adjusted`` describes the adjustment."""
    # The names of systems may end in a star, or have a dagger.
    header, cells = set(table.header), [cell for row in table.rows for cell in row[table.n_names :]]
    test, alpha = comparison.test, comparison.alpha
    p = "adjusted p" if comparison.family_size > 1 else "p"
    if "Rank" in header:
        if comparison.rankings[0].simultaneous and alpha is not None:
            yield f"Rank: simultaneous {number(100 * (1 - alpha))}% confidence intervals of the ranks."
        else:
            yield "Rank: the ranks that are compatible with the significant differences."
    if table.key:
        yield table.key
    if "Group" in header:
        yield "Group: systems that share a letter do not differ significantly."
    elif any(_LETTERED.search(cell) for cell in cells) and "Rank" not in header:
        yield "Systems that share a letter do not differ significantly."
    if "Δ" in header:
        yield f"Δ: difference from {comparison.baseline or 'the baseline'}."
    if test is not None and alpha is not None:
        if any(cell.rstrip().endswith("*") for cell in cells):
            # The titles of tables say what a star means if it marks no difference.
            named = comparison.baseline is not None and not has_margin(comparison)
            differs = f"differs from {comparison.baseline}, " if named else ""
            yield f"*: {differs}{p} ≤ {number(alpha)}."
        elif "Rank" in header:
            yield f"Significant: {p} ≤ {number(alpha)}."
        yield f"p: {test_phrase(tested, test, uncited)}."
        if comparison.family_size > 1:
            yield f"Adjusted p: {adjusted}."
    if any(EXACT in cell for cell in cells):
        yield f"{EXACT}: exact p-value."
    level = comparison.confidence_level
    if comparison.interval is not None and level is not None and any(ci(level) in name for name in header):
        of_scores = " of scores" if has_margin(comparison) else ""
        yield f"{ci(level)}{of_scores}: {interval_phrase(comparison, comparison.interval, uncited)}."
        if of_scores:
            yield f"{ci(level)} of differences: the inverse of the test."
    if "n" in header:
        yield "n: the number of segments that have scores."
