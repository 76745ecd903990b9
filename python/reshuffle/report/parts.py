"""What the parts of a metric's formula contribute to differences: a table for each metric, and sentences about them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..results import Comparison, PairedDifference, UsedMetric
from .cells import Table, difference_and_interval, under
from .layout import Layout
from .wording import counted, percent

# Metrics whose only part that depends on a system is the number of edits, as signatures name them.
OF_EDITS = ("TER", "WER", "PER")


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
        intervals = (
            "; their intervals are percentiles of the draws, for each alone, not for all at once" if known else ""
        )
        yield f"Contributions of the parts add up to the difference{intervals}."
    if known and len(known) < len(shown):
        yield "Contributions without an interval: on some draws a precision is 0 or smoothed."
    for metric in comparison.metrics:
        pairs = under(metric.name, comparison.comparisons)
        without, reason = sum(pair.contributions == () for pair in pairs), _why_not(metric)
        if without == 0 or reason is None:
            continue
        subject = "no difference is" if without == len(pairs) else f"{without} of {counted(len(pairs), 'difference')}"
        verb = "" if without == len(pairs) else " is not" if without == 1 else " are not"
        yield f"{metric.name}: {subject}{verb} split into parts, because {reason}."


def _why_not(metric: UsedMetric) -> str | None:
    """Why differences are not split; None for metrics of which nobody expects it, such as external scores."""
    family = metric.signature.partition("|")[0]
    if family == "BLEU":
        return "a precision is 0 or smoothed"
    if family in OF_EDITS:
        return "its counts have all edits in one sum, and the words of the references are the same for both systems"
    return None
