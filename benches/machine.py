"""What measurements share: the machine and the software, numbers with units, tables and dated records."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from reshuffle import _core

__all__ = ["SIMD_PATHS", "circumstances", "cores", "dated_record", "duration", "markdown_table"]

# The values of RESHUFFLE_SIMD.
SIMD_PATHS = ("portable", "avx2", "avx512")

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


def duration(seconds: float) -> str:
    """Three digits and a unit."""
    units = ((1.0, "s"), (1e3, "ms"), (1e6, "µs"))
    number, unit = next(((seconds * f, u) for f, u in units if seconds * f >= 1), (seconds * 1e6, "µs"))
    return f"{number:#.3g}".rstrip(".") + f" {unit}"


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]], text_columns: int = 1) -> str:
    """A Markdown table; columns after the first ``text_columns`` are aligned to the right."""
    rule = ["---" if column < text_columns else "---:" for column in range(len(header))]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (header, rule, *rows))


def dated_record(title: str, facts: Mapping[str, str], command: str, *parts: str) -> str:
    """A record for ``benches/record``: date, facts, the command that repeats the run, and what it printed."""
    listed = "\n".join([*(f"- {name}: {fact}" for name, fact in facts.items()), f"- command: `{command}`"])
    return "\n\n".join([f"# {date.today().isoformat()}: {title}", listed, *(part.strip() for part in parts)]) + "\n"
