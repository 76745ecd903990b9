"""Captions of tables in papers: what the symbols mean."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from ..results import Comparison, SetComparison
from ..types import Groups
from .cells import EXACT, Table
from .margins import has_margin
from .methods import in_caption, on_all_sets, other_tests_phrase
from .notes import over_sets, rank_key, separately
from .systems import some_interval_disagrees
from .wording import ci, number

# Panels of a ranking beside each other that have room for ranks and letters.
MOST_RANKED = 3

# Words by which sentences about symbols explain ranks and letters.
_EXPLAINED: Mapping[Groups, str] = {"ranks": "Rank:", "letters": "do not differ significantly"}

# A score with letters, in a table of test sets.
_LETTERED = re.compile(r"^-?[\d.]+ [a-z]+ *$")


def explained(sentences: str) -> list[Groups]:
    """Which of ranks and letters a table or figure has: those that the sentences about its symbols explain."""
    return [kind for kind, words in _EXPLAINED.items() if words in sentences]


def symbols(comparison: Comparison, table: Table) -> str:
    """The meaning of the symbols in a table of a comparison."""
    test = comparison.test
    adjusted = None if test is None else in_caption("adjusted_over", comparison)
    return " ".join(_symbols(comparison, table, comparison, adjusted, [metric.name for metric in comparison.metrics]))


def symbols_of_sets(result: SetComparison, table: Table) -> str:
    """The same for a table of all test sets, on which the tests may be exact or not, and of the averages."""
    first = next(iter(result.sets.values()))
    if first.test is None:
        return symbols(first, table)
    adjusted = in_caption("adjusted_over", first)
    average = result.average
    if average is not None and average.test is not None and average.family_size > 1:
        of_averages = in_caption("adjusted_over", average)
        adjusted += f"; for averages {of_averages}" if of_averages != adjusted else ""
    if not over_sets(result):
        adjusted += f", {separately(result)}"
    return " ".join(_symbols(first, table, on_all_sets(result), adjusted, [*result.sets]))


def symbols_of_figure(comparison: Comparison, kind: str, n_panels: int, has_arrows: bool = False) -> Iterator[str]:
    """The meaning of arrows, ranks, letters and significance in a figure."""
    if has_arrows:
        yield "Arrow: a difference off the axis, with its value."
    test, alpha = comparison.test, comparison.alpha
    if kind == "densities" or test is None or alpha is None or not comparison.comparisons:
        return
    p = "adjusted p" if comparison.family_size > 1 else "p"
    if kind == "forest" or comparison.baseline is not None:
        meaning = "shown by the test" if has_margin(comparison) else "significant (blue: better, orange: worse)"
        yield f"Filled: {meaning}, {p} ≤ {number(alpha)}; open: not."
    if kind == "forest" and some_interval_disagrees(comparison):
        yield "The intervals are not adjusted: some exclude 0 although p is above that level."
    if kind == "forest" and n_panels > 1:
        yield "All panels have the order of the first."
    if kind == "ranking" and comparison.baseline is None and comparison.rankings:
        lettered = any(system.letters for ranking in comparison.rankings for system in ranking.systems)
        if not lettered or n_panels <= MOST_RANKED:
            yield rank_key(comparison)
        if lettered:
            who = "Systems that share a letter" if n_panels > 1 else "Systems on the same bar"
            yield f"{who} do not differ significantly."
        yield f"Significant: {p} ≤ {number(alpha)}."
    if comparison.family_size > 1:
        yield f"Adjusted p: {in_caption('adjusted_over', comparison)}."


def _symbols(
    comparison: Comparison, table: Table, tested: Comparison, adjusted: str | None, columns: Sequence[str]
) -> Iterator[str]:
    """``tested`` has the tests of all numbers in the table, and ``adjusted`` describes the adjustment.

    ``columns`` are the names of metrics or test sets, which are no symbols, in the header.
    """
    # The names of systems may end in a star, or have a dagger.
    header = set(Counter(table.header) - Counter(columns))
    cells = [cell for row in table.rows for cell in row[table.n_names :]]
    test, alpha = comparison.test, comparison.alpha
    p = "adjusted p" if comparison.family_size > 1 else "p"
    lettered = any(_LETTERED.search(cell) for cell in cells)
    if "Rank" in header:
        yield rank_key(comparison)
    if "Group" in header:
        yield "Group: systems that share a letter do not differ significantly."
    elif lettered and "Rank" not in header:
        yield "Systems that share a letter do not differ significantly."
    if "Δ" in header and "Baseline" in header:
        yield "Δ: the system's score minus the baseline's."
    elif "Δ" in header and comparison.baseline is not None and "Differences from" not in table.title:
        yield f"Δ: difference from {comparison.baseline}, before rounding."
    if test is not None and alpha is not None:
        if any(cell.rstrip().endswith("*") for cell in cells):
            # The titles of tables say what a star means if it marks no difference.
            named = comparison.baseline is not None and not has_margin(comparison)
            differs = f"differs from {comparison.baseline}, " if named else ""
            yield f"*: {differs}{p} ≤ {number(alpha)}."
        elif lettered or {"Rank", "Group"} & header:
            yield f"Significant: {p} ≤ {number(alpha)}."
        yield f"p: {in_caption('test_in_caption', tested)}{other_tests_phrase(tested, test)}."
        if comparison.family_size > 1:
            yield f"Adjusted p: {adjusted}."
    if any(EXACT in cell for cell in cells):
        yield f"{EXACT}: exact p-value."
    level = comparison.confidence_level
    if comparison.interval is not None and level is not None and any(ci(level) in name for name in header):
        of_scores = " of scores" if has_margin(comparison) else ""
        only_p = comparison.family_size > 1 and not comparison.interval.simultaneous
        apart = ", not adjusted" if "Δ" in header and not of_scores and only_p else ""
        yield f"{ci(level)}{of_scores}: {in_caption('interval_in_caption', comparison)}{apart}."
        if of_scores:
            yield f"{ci(level)} of differences: the inverse of the test."
    if "n" in header:
        yield "n: the number of segments that have scores."
