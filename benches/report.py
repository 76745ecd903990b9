"""Tables for a terminal, and dated records for the repository."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median
from typing import NamedTuple

from races import Contender, Times
from reshuffle import _core

# Packages that may be missing are listed if installed.
PACKAGES = (
    "reshuffle",
    "sacrebleu",
    "numpy",
    "scipy",
    "nltk",
    "bleuscore",
    "fastchrf",
    "sacrebleu-mojo",
    "evaluatio",
    "lm_eval",
)


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


def duration(seconds: float) -> str:
    """Three digits and a unit."""
    units = ((1.0, "s"), (1e3, "ms"), (1e6, "µs"))
    number, unit = next(((seconds * f, u) for f, u in units if seconds * f >= 1), (seconds * 1e6, "µs"))
    return f"{number:#.3g}".rstrip(".") + f" {unit}"


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


def markdown_table(rows: Sequence[Row]) -> str:
    """Columns for a record."""
    rule = ["---:" if name in RIGHT_ALIGNED else "---" for name in Row._fields]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (HEADER, rule, *rows))


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def cpu_model() -> str:
    """The name of the processor according to the system."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def commit() -> str:
    """The commit that was measured, with ``-dirty`` if files differ from it."""
    git = shutil.which("git")
    if git is None:
        return "unknown"
    describe = [git, "describe", "--always", "--dirty", "--exclude=*"]
    done = subprocess.run(describe, cwd=Path(__file__).parent, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


def packages() -> list[str]:
    """Name and version of every installed package that takes part."""
    found = []
    for name in PACKAGES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return found


def circumstances() -> dict[str, str]:
    """The facts needed to judge the measurements."""
    return {
        "machine": f"{cpu_model()}, {cores()} cores, {platform.system()} {platform.machine()}",
        "software": ", ".join([f"{platform.python_implementation()} {platform.python_version()}", *packages()]),
        "instructions": _core.simd(),
        "commit": commit(),
        "load at the start": f"{os.getloadavg()[0]:.2f}",
    }


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
    data = "- test set: wmt17-en-de, unless the case names another"
    listed = "\n".join([*(f"- {name}: {fact}" for name, fact in facts.items()), data, f"- command: `{command_line}`"])
    absent = ["\n".join(f"- {line}" for line in skipped)] if skipped else []
    shown = "\n".join(f"- `{case}`: {what}" for case, what in about.items())
    title = f"# {date.today().isoformat()}: reshuffle beside other tools"
    return "\n\n".join([title, listed, markdown_table(rows), READING, *absent, shown]) + "\n"
