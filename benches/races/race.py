"""Races: contenders that do the same task run in turn on the same machine.

Every contender runs once per turn, so that a temporary slowdown of the machine affects all of them; the median over
turns counts. Their results are compared before anything is printed, because times for different results cannot be
compared.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, sleep
from typing import Any, NamedTuple


class Measurement(NamedTuple):
    """One run of one contender; ``peak`` is the resident memory of a command in bytes."""

    seconds: float
    outcome: Any
    peak: int | None = None
    remark: str = ""


@dataclass(frozen=True)
class Contender:
    """One way to do the task. ``target`` is the desired speed relative to the first contender of the race.

    Times are per thing: one run does ``things`` of them, so that a tool that takes minutes may do fewer.
    """

    name: str
    measure: Callable[[], Measurement]
    target: float | None = None
    at_most: int = sys.maxsize  # runs of a slow contender
    things: int = 1


@dataclass(frozen=True)
class Skipped:
    """A contender that is not available, and the reason."""

    name: str
    reason: str


@dataclass(frozen=True)
class Race:
    """Contenders, in order, whose outcomes ``check`` compares. Without its first contender the race is left out."""

    what: str
    contenders: Sequence[Contender | Skipped]
    check: Callable[..., None]


class Times(NamedTuple):
    """The measurements of one contender: seconds per thing, for each turn."""

    contender: Contender
    seconds: list[float]
    peaks: list[int]
    remarks: list[str]


# Pause between contenders: the threads of a BLAS keep spinning for some hundredths of a second after its last product,
# and would take a core from the next contender.
REST_SECONDS = 0.1


def run(race: Race, repeats: int) -> list[Times]:
    """Run the contenders in turn; after the first turn, compare their results."""
    if isinstance(race.contenders[0], Skipped):
        return []
    measured = [Times(contender, [], [], []) for contender in race.contenders if isinstance(contender, Contender)]
    for turn in range(repeats):
        outcomes = []
        for contender, seconds, peaks, remarks in measured:
            if turn >= contender.at_most:
                continue
            sleep(REST_SECONDS)
            measurement = contender.measure()
            seconds.append(measurement.seconds / contender.things)
            peaks += [] if measurement.peak is None else [measurement.peak]
            remarks.append(measurement.remark)
            outcomes.append(measurement.outcome)
        if turn == 0:
            race.check(*outcomes)
    return measured


KEPT: list[TemporaryDirectory[str]] = []


def new_folder() -> Path:
    """A folder for files of contenders, which is removed at the end of the process."""
    KEPT.append(TemporaryDirectory(prefix="reshuffle-benches-"))
    return Path(KEPT[-1].name)


# Ways to measure.


# The minimum length of a turn: shorter calls are repeated, and their mean counts. A single short call after a contender
# that used only one core would include the time in which the other core wakes up, on a virtual machine milliseconds.
TURN_SECONDS = 0.1


def call(function: Callable[[], Any], before: Callable[[], object] = lambda: None) -> Callable[[], Measurement]:
    """Measure a call in this process; ``before`` is not timed."""

    def measure() -> Measurement:
        seconds, calls = 0.0, 0
        while seconds < TURN_SECONDS:
            before()
            start = perf_counter()
            outcome = function()
            seconds += perf_counter() - start
            calls += 1
        return Measurement(seconds / calls, outcome)

    return measure


def first_call(prepare: Callable[..., Callable[[], Any]], *arguments: Any) -> Callable[[], Measurement]:
    """Measure the first call of ``prepare(*arguments)`` in a new process with empty caches.

    Imports and ``prepare`` itself are not timed. Function and arguments are pickled.
    """

    def measure() -> Measurement:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as new:
            return new.submit(_once, prepare, arguments).result()

    return measure


def _once(prepare: Callable[..., Callable[[], Any]], arguments: Sequence[Any]) -> Measurement:
    function = prepare(*arguments)
    start = perf_counter()
    outcome = function()
    return Measurement(perf_counter() - start, outcome)


# On Linux, a child process inherits the peak of its parent through fork and exec. So the command is not started by this
# process, which has held all counts and shuffles, but by a small one.
LAUNCHER = """
import os, sys, time
start = time.perf_counter()
child = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ)
_, status, usage = os.wait4(child, 0)
print()
print(time.perf_counter() - start, usage.ru_maxrss, os.waitstatus_to_exitcode(status))
"""
# Bytes in a unit of the peak that the system reports.
MAXRSS_UNIT = 1 if sys.platform == "darwin" else 1024


def command(*arguments: str, read: Callable[[str], Any] = json.loads) -> Callable[[], Measurement]:
    """Measure a command; ``read`` converts its output to the outcome. The peak is that of its largest process.

    Its modules are compiled in the first turn, as in an installation, even if this process writes no bytecode.
    """
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}

    def measure() -> Measurement:
        launch = [sys.executable, "-I", "-S", "-c", LAUNCHER, *arguments]
        done = subprocess.run(launch, check=True, capture_output=True, text=True, encoding="utf-8", env=environment)
        output, _, figures = done.stdout.rstrip().rpartition("\n")
        seconds, peak, code = figures.split()
        if int(code):
            raise RuntimeError(f"{' '.join(arguments[:3])} left with exit code {code}: {done.stderr.strip()}")
        return Measurement(float(seconds), read(output), int(peak) * MAXRSS_UNIT)

    return measure
