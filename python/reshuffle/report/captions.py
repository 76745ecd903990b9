"""Captions of tables in papers: what the symbols mean."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from ..results import Comparison, PairedDifference, SetComparison
from ..types import Groups
from .cells import EXACT, Table
from .margins import has_margin
from .methods import in_caption, on_all_sets, other_tests_phrase
from .notes import LINES, over_sets, rank_key, separately
from .systems import some_interval_disagrees
from .wording import ci
from .words import Template, words

# Panels beside each other that have room for ranks and letters beside scores, and for scores or differences.
MOST_RANKED, MOST_NUMBERED = 2, 3

# The sentences that explain ranks and letters, in ``words/captions.toml``.
_OF_GROUPS: Mapping[Groups, str] = {"ranks": "rank", "letters": "letters"}

# A score with letters, in a table of test sets.
_LETTERED = re.compile(r"^-?[\d.]+ [a-z]+ *$")


class Symbols(NamedTuple):
    """Sentences on the symbols in a table or figure, and which of ranks and letters it has."""

    meaning: str
    groups: Sequence[Groups]


def symbols(comparison: Comparison, table: Table) -> Symbols:
    """The meaning of the symbols in a table of a comparison."""
    adjusted = "" if comparison.test is None else in_caption("adjusted_over", comparison)
    return _symbols(comparison, table, comparison, adjusted, [metric.name for metric in comparison.metrics])


def symbols_of_sets(result: SetComparison, table: Table) -> Symbols:
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
    return _symbols(first, table, on_all_sets(result), adjusted, [*result.sets])


def symbols_of_figure(
    comparison: Comparison, kind: str, n_panels: int, drawn: Collection[PairedDifference] = (), has_arrows: bool = False
) -> Symbols:
    """The meaning of arrows, ranks, letters and significance in a figure. ``drawn``: the differences in it."""
    is_tested = kind != "densities" and bool(comparison.comparisons) and comparison.alpha is not None
    is_forest = is_tested and kind == "forest"
    values = {
        "has_arrows": has_arrows,
        "is_tested": is_tested,
        "has_filled": is_forest or (is_tested and comparison.baseline is not None),
        "is_forest": is_forest,
        "is_ranking": is_tested and kind == "ranking" and comparison.baseline is None and bool(comparison.rankings),
        "has_letters": any(system.letters for ranking in comparison.rankings for system in ranking.systems),
        "has_room": n_panels <= MOST_RANKED,
        "several_panels": n_panels > 1,
        "intervals_disagree": is_forest and some_interval_disagrees(comparison, drawn),
        "by_adjustment": in_caption("adjusted_over", comparison) if is_tested else "",
    }
    return _sentences("figure", comparison, values)


def _symbols(
    comparison: Comparison, table: Table, tested: Comparison, adjusted: str, columns: Sequence[str]
) -> Symbols:
    """``tested`` has the tests of all numbers in the table, and ``adjusted`` describes the adjustment.

    ``columns`` are the names of metrics or test sets, which are no symbols, in the header.
    """
    # The names of systems may end in a star, or have a dagger.
    header = set(Counter(table.header) - Counter(columns))
    cells = [cell for row in table.rows for cell in row[table.n_names :]]
    test, interval, level = comparison.test, comparison.interval, comparison.confidence_level
    has_letters = any(_LETTERED.search(cell) for cell in cells)
    values = {
        "has_ranks": "Rank" in header,
        "has_groups": "Group" in header,
        "has_letters": has_letters,
        "marks_groups": has_letters or bool({"Rank", "Group"} & header),
        "has_lines": bool({"Rank", "Group"} & header and table.rules),
        "has_differences": "Δ" in header,
        "has_baselines": "Baseline" in header,
        "has_numbers": "n" in header,
        "baseline": comparison.baseline,
        "in_title": "Differences from" in table.title,
        "has_stars": any(cell.rstrip().endswith("*") for cell in cells),
        "has_exact": any(EXACT in cell for cell in cells),
        "is_tested": test is not None and comparison.alpha is not None,
        "by_test": "" if test is None else in_caption("test_in_caption", tested) + other_tests_phrase(tested, test),
        "by_adjustment": adjusted,
        "level": level,
    }
    if interval is not None and level is not None and any(ci(level) in name for name in header):
        by_interval = in_caption("interval_in_caption", comparison)
        values |= {"has_intervals": True, "by_interval": by_interval, "simultaneous": interval.simultaneous}
    return _sentences("table", comparison, values)


def _sentences(kind: str, comparison: Comparison, values: Mapping[str, Any]) -> Symbols:
    values = {
        "alpha": comparison.alpha,
        "adjusted": comparison.family_size > 1,
        "has_margin": has_margin(comparison),
        "rank_key": rank_key(comparison),
        "lines_key": LINES,
        **values,
    }
    template = Template({**words("captions")[kind], **words("captions")["phrase"]})
    found = {part: text for part in words("captions")[kind] if (text := template.filled(part, values))}
    return Symbols(" ".join(found.values()), [group for group, part in _OF_GROUPS.items() if part in found])
