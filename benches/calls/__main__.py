"""Time single calls of the Python interface, in this build or in this and an earlier one in turn.

    python -m benches.calls [--before PYTHON] [--turns N] [--simd PATH] [options of pytest]

Without ``--before``, pytest-benchmark prints its table. PYTHON is the interpreter of a virtual environment with the
earlier reshuffle and pytest-benchmark. Both builds run the calls of this folder, each in a new process for every turn,
because the memory layout makes the same code up to a third faster or slower for the lifetime of a process. Each ratio
is between the medians of two consecutive processes, whose order alternates, so that a temporary slowdown of the machine
affects both builds; a ratio above 1 means that this build is faster. The interquartile range of the ratios shows the
noise. Options that are not listed here are those of pytest: ``-k count``, ``--benchmark-timer=time.process_time``.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory

from benches.machine import SIMD_PATHS, duration

__all__ = ["main"]

FOLDER = Path(__file__).parent
# The options of this repository's tests are not for benchmarks, which must not run beside each other.
PYTEST = ("-m", "pytest", str(FOLDER), "-o", "addopts=", "-p", "no:cacheprovider", "-q", "--benchmark-only")
# Turns repeat what rounds would.
SHORT = ("--benchmark-min-rounds=1", "--benchmark-max-time=0.1")


def medians(python: str, options: Sequence[str]) -> dict[str, float]:
    """The seconds of each call in a new process of an interpreter."""
    with TemporaryDirectory() as folder:
        file = Path(folder, "times.json")
        command = [python, *PYTEST, *SHORT, f"--benchmark-json={file}", *options]
        done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
        # A call fails if the earlier build lacks it.
        if done.returncode > 1 or not file.exists():
            raise SystemExit(
                f"calls: pytest in {python} ended with exit code {done.returncode}\n{done.stdout}{done.stderr}"
            )
        calls = json.loads(file.read_text("utf-8"))["benchmarks"]
    return {call["name"]: call["stats"]["median"] for call in calls}


def in_turn(before: str, turns: int, options: Sequence[str]) -> list[tuple[dict[str, float], dict[str, float]]]:
    """The medians of this build and of the earlier one, by turn."""
    measured = []
    for turn in range(turns):
        print(f"turn {turn + 1} of {turns} …", file=sys.stderr)
        sides = [("now", sys.executable), ("before", before)]
        found = {side: medians(python, options) for side, python in (sides if turn % 2 else reversed(sides))}
        measured.append((found["now"], found["before"]))
    return measured


def lines(measured: Sequence[tuple[Mapping[str, float], Mapping[str, float]]]) -> list[str]:
    """A line for each call: the median ratio of before to now, its interquartile range, and both medians."""
    found = []
    for name in measured[0][0]:
        pairs = [(now[name], before[name]) for now, before in measured if name in now and name in before]
        if len(pairs) < 2:
            found.append(f"{name}: not in both builds")
            continue
        ratios = [before / now for now, before in pairs]
        low, _, high = quantiles(ratios, n=4)
        times = " / ".join(duration(median(side)) for side in zip(*pairs, strict=True))
        found.append(f"{name}: {median(ratios):.3f} ({low:.3f} to {high:.3f}), now / before {times}")
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Time this build, or both."""
    parser = argparse.ArgumentParser(
        prog="python -m benches.calls", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--before", metavar="PYTHON", help="an interpreter that imports the earlier reshuffle")
    parser.add_argument(
        "--turns", type=int, default=5, metavar="N", help="processes of each build (default: %(default)s)"
    )
    parser.add_argument("--simd", choices=SIMD_PATHS, help="vector instructions (default: the best of this processor)")
    options, others = parser.parse_known_args(arguments)
    if options.turns < 2:
        parser.error(f"--turns must be at least 2, got {options.turns}")
    if options.simd is not None:
        os.environ["RESHUFFLE_SIMD"] = options.simd
    if options.before is None:
        return subprocess.run([sys.executable, *PYTEST, *others], check=False).returncode
    print(*lines(in_turn(options.before, options.turns, others)), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
