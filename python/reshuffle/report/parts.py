"""What the parts of a metric's formula contribute to differences: a table for each metric, and sentences about them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from ..results import Comparison, PairedDifference, UsedMetric
from .cells import Table, difference_and_interval, under
from .layout import Layout
from .wording import percent
from .words import sentence

# Metrics whose only part that depends on a system is the number of edits, as signatures name them.
OF_EDITS = ("TER", "WER", "PER")
_said = partial(sentence, "notes", "parts")


def part_name(part: str) -> str:
    """The name of a part in reports.

    >>> part_name("bp"), part_name("p_2"), part_name("recall")
    ('brevity penalty', '2-gram precision', 'recall')
    """
    if part == "bp":
        return "brevity penalty"
    return f"{part[2:]}-gram precision" if part.startswith("p_") else part


def parts_table(comparison: Comparison, metric: UsedMetric, pairs: Sequence[PairedDifference], layout: Layout) -> Table:
    """A row for each part of each difference that is split into parts."""
    has_intervals = any(each.confidence_interval for pair in pairs for each in pair.contributions or ())
    header = ["System", "Baseline", "Part", "Contribution"]
    if has_intervals and comparison.confidence_level is not None:
        header.append(f"{percent(comparison.confidence_level)} of draws")
    table = Table(f"{metric.name}: the parts of each difference", header, n_names=3, grouped=2)
    parts = [each.difference for pair in pairs for each in pair.contributions or ()]
    decimals = layout.decimals_of(parts, layout.decimals(comparison, metric.name))
    for pair in pairs:
        for each in pair.contributions or ():
            shown = difference_and_interval(each.difference, each.confidence_interval, decimals, exactly=True)
            numbers = [*shown, ""]
            cells = [pair.system, pair.baseline, part_name(each.part), *numbers]
            table.add(cells[: len(header)])
    return table


def notes_on_parts(comparison: Comparison) -> Iterator[str]:
    """What contributions are, and which differences are not split into parts."""
    shown = [each for pair in comparison.comparisons for each in pair.contributions or ()]
    known = [each for each in shown if each.confidence_interval is not None]
    if shown:
        yield _said("sum", has_intervals=bool(known))
    if known and len(known) < len(shown):
        yield _said("some_without")
    for metric in comparison.metrics:
        pairs, family = under(metric.name, comparison.comparisons), metric.signature.partition("|")[0]
        values = {"metric": metric.name, "n_pairs": len(pairs), "family": family, "of_edits": family in OF_EDITS}
        if without := sum(pair.contributions == () for pair in pairs):
            yield from filter(None, [_said("not_split", **values, without=without)])
