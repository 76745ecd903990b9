"""What a race is and how it is run: contenders that do the same thing, in turn, on the same machine.

They run one after the other, again and again, so that whatever slows the machine down for a while slows all of them
down; the median counts. What they find is compared before anything is printed: a race won with other numbers would
not be one.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
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
    """One way to do it. ``target``: how many times faster than the race's first contender it is meant to be.

    Times are shown per one of the ``things`` that a run does: a rival that takes minutes may do fewer.
    """

    name: str
    measure: Callable[[], Measurement]
    target: float | None = None
    at_most: int = sys.maxsize  # runs, for the slow
    things: int = 1


@dataclass(frozen=True)
class Skipped:
    """A contender that is not there, and why."""

    name: str
    reason: str


@dataclass(frozen=True)
class Race:
    """Contenders whose outcomes ``check`` compares, in their order. Without the first there is no race."""

    what: str
    contenders: Sequence[Contender | Skipped]
    check: Callable[..., None]


class Times(NamedTuple):
    """What was measured of one contender, per thing, turn by turn."""

    contender: Contender
    seconds: list[float]
    peaks: list[int]
    remarks: list[str]


# Between two contenders: the threads of a BLAS go on looking for work for some hundredths of a second after its last
# product, and would take a core from whoever comes next.
REST_SECONDS = 0.1


def run(race: Race, repeats: int) -> list[Times]:
    """Let the contenders run in turn and, before they go on, compare what they found the first time."""
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


# Ways to measure.


# A turn lasts as long as this at least: a call of milliseconds is repeated, and the mean of its repetitions counts.
# Alone, behind a rival that kept one core busy and let the other sleep, it would measure how long that one takes to
# wake up: on a virtual machine milliseconds, too.
TURN_SECONDS = 0.1


def call(function: Callable[[], Any], before: Callable[[], object] = lambda: None) -> Callable[[], Measurement]:
    """Measure a call in this process; ``before`` is not counted."""

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
    """Measure the first call of ``prepare(*arguments)`` in a new process, which has cached nothing yet.

    Imports and ``prepare`` itself are not counted. Function and arguments are pickled.
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


# Linux carries the peak of a process over to the children that it starts, through fork and exec. So it is not this
# process, which has held every count and every shuffle by now, that starts the command, but one with next to nothing.
LAUNCHER = """
import os, sys, time
start = time.perf_counter()
child = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ)
_, status, usage = os.wait4(child, 0)
print()
print(time.perf_counter() - start, usage.ru_maxrss, os.waitstatus_to_exitcode(status))
"""
MAXRSS_UNIT = 1 if sys.platform == "darwin" else 1024


def command(*arguments: str, read: Callable[[str], Any] = json.loads) -> Callable[[], Measurement]:
    """Measure a command; ``read`` makes its outcome of its output. Of several processes, the largest counts for the
    peak."""

    def measure() -> Measurement:
        launch = [sys.executable, "-I", "-S", "-c", LAUNCHER, *arguments]
        done = subprocess.run(launch, check=True, capture_output=True, text=True, encoding="utf-8")
        output, _, figures = done.stdout.rstrip().rpartition("\n")
        seconds, peak, code = figures.split()
        if int(code):
            raise RuntimeError(f"{' '.join(arguments[:3])} left with exit code {code}: {done.stderr.strip()}")
        return Measurement(float(seconds), read(output), int(peak) * MAXRSS_UNIT)

    return measure
