"""Tables of races for a terminal, and dated records for the repository."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import NamedTuple

from benches.machine import dated_record, duration, markdown_table

from .race import Contender, Times


class Row(NamedTuple):
    """One contender in the table."""

    case: str
    what: str
    tool: str
    median: str
    spread: str
    peak: str
    faster: str
    remarks: str


HEADER = Row("case", "what", "tool", "median", "fastest to slowest", "peak", "speed", "target")
RIGHT_ALIGNED = {"median", "spread", "peak", "faster"}


def rows(case: str, what: str, measured: Sequence[Times]) -> list[Row]:
    """The rows of a race. Speeds are relative to its first contender, whose row also names case and race."""
    reference_seconds = median(measured[0].seconds) if measured else 0.0
    return [
        row(case if index == 0 else "", what if index == 0 else "", times, reference_seconds)
        for index, times in enumerate(measured)
    ]


def row(case: str, what: str, times: Times, reference_seconds: float) -> Row:
    """Format the measurements of a contender."""
    seconds, peaks = times.seconds, times.peaks
    faster = reference_seconds / median(seconds)
    return Row(
        case,
        what,
        times.contender.name,
        duration(median(seconds)),
        f"{duration(min(seconds))} to {duration(max(seconds))}, n = {len(seconds)}",
        f"{median(peaks) / 1e6:,.0f} MB" if peaks else "",
        f"{faster:,.0f}×" if faster >= 100 else f"{faster:.1f}×",
        "; ".join(filter(None, [verdict(times.contender, faster), times.remarks[0]])),
    )


def verdict(contender: Contender, faster: float) -> str:
    """Whether the target was reached."""
    if contender.target is None:
        return ""
    return f"≥ {contender.target:g}×: {'reached' if faster >= contender.target else 'MISSED'}"


def plain_table(rows: Sequence[Row]) -> str:
    """Columns for a terminal."""
    widths = [max(map(len, column)) for column in zip(HEADER, *rows, strict=True)]

    def line(cells: Row) -> str:
        padded = [
            f"{cell:>{width}}" if name in RIGHT_ALIGNED else f"{cell:<{width}}"
            for name, cell, width in zip(Row._fields, cells, widths, strict=True)
        ]
        return "  ".join(padded).rstrip()

    return "\n".join([line(HEADER), "─" * (sum(widths) + 2 * (len(widths) - 1)), *map(line, rows)])


READING = (
    "Medians over turns; within a turn, a call shorter than a tenth of a second is repeated for that long. Speed: "
    "relative to the first tool of the same race. reshuffle uses all cores unless stated otherwise. Peak: resident "
    "memory of the whole command, or of its largest process. The results of each race were compared: counts are equal, "
    "scores are equal to 1e-9 or the tolerance stated for the case, and p-values are equal within Monte Carlo error."
)


def record(
    facts: Mapping[str, str], command_line: str, rows: Sequence[Row], skipped: Sequence[str], about: Mapping[str, str]
) -> str:
    """A dated record: machine, commit, command, table, missing tools, and what each case shows."""
    data = {"test set": "wmt17-en-de, unless the case names another"}
    absent = ["\n".join(f"- {line}" for line in skipped)] if skipped else []
    shown = "\n".join(f"- `{case}`: {what}" for case, what in about.items())
    table = markdown_table(HEADER, rows, text_columns=3)
    return dated_record("reshuffle beside other tools", {**facts, **data}, command_line, table, READING, *absent, shown)
