"""Time this reshuffle and an earlier one in turn, on the cases in which ``tools.py`` compares it with other tools.

    python benches/before.py PYTHON [--repeats N] [--only CASE ...] [--simd PATH]

PYTHON is the interpreter of a virtual environment with the earlier reshuffle. Both run the benchmark code in this
directory. Each side starts a new process for every turn, because the memory layout makes the same code up to a third
faster or slower for the lifetime of a process. Each ratio is between two consecutive measurements, so that a temporary
slowdown of the machine affects both sides; a ratio above 1 means that this reshuffle is faster. The interquartile range
of the ratios shows the noise.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from statistics import median, quantiles
from time import sleep

from rich.console import Console
from rich.progress import track

from data import Texts, find
from races import REST_SECONDS, Contender, Measurement
from report import duration
from rivals import RESHUFFLE
from tools import CASES, ORDINARY, add_simd, take_path


def measurements(cases: Sequence[str]) -> dict[str, Callable[[], Measurement]]:
    """The measurements by name: the reshuffle contenders of every race in the cases."""
    files = find()
    texts = Texts(files, files.references(), files.outputs())
    return {
        f"{case}: {race.what}, {contender.name}": contender.measure
        for case in cases
        for race in CASES[case](texts)
        for contender in race.contenders
        if isinstance(contender, Contender) and contender.name.startswith(RESHUFFLE)
    }


def serve(cases: Sequence[str]) -> None:
    """Measure the case named on each line of standard input, until it ends."""
    measures = measurements(cases)
    print(json.dumps(list(measures)), flush=True)
    for line in sys.stdin:
        print(measures[json.loads(line)]().seconds, flush=True)


class Side:
    """A process with one of the two builds, which measures on request."""

    def __init__(self, python: str, cases: Sequence[str]) -> None:
        self.python = python
        command = [python, __file__, "--serve", python, "--only", *cases]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.names: list[str] = json.loads(self._answer())

    def measure(self, name: str) -> float:
        """The seconds of one turn."""
        sleep(REST_SECONDS)
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(name) + "\n")
        self.process.stdin.flush()
        return float(self._answer())

    def close(self) -> None:
        """End the process."""
        self.process.communicate()

    def _answer(self) -> str:
        assert self.process.stdout is not None
        answer = self.process.stdout.readline()
        if not answer:
            raise SystemExit(f"before.py: {self.python} ended with exit code {self.process.wait()}")
        return answer


def main() -> None:
    """Measure both sides in turn and print a line for each name."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("python", metavar="PYTHON", help="an interpreter that imports the earlier reshuffle")
    parser.add_argument("--repeats", type=int, default=11, metavar="N", help="turns of each (default: %(default)s)")
    parser.add_argument("--only", nargs="+", choices=CASES, default=ORDINARY, metavar="CASE", help=", ".join(ORDINARY))
    add_simd(parser)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    take_path(options.simd)
    if options.serve:
        serve(options.only)
        return
    if options.repeats < 2:
        parser.error(f"--repeats must be at least 2, got {options.repeats}")
    measured: dict[str, list[list[float]]] = {}
    for turn in track(range(options.repeats), "turns", console=Console(stderr=True)):
        now, before = Side(sys.executable, options.only), Side(options.python, options.only)
        order = (now, before) if turn % 2 else (before, now)
        for name in now.names:
            if name in before.names:
                for side in order:
                    side.measure(name)  # warms caches
                seconds = {side: side.measure(name) for side in order}
                measured.setdefault(name, []).append([seconds[now], seconds[before]])
            elif not turn:
                print(f"{name}: not in the earlier version")
        now.close()
        before.close()
    for name, pairs in measured.items():
        ratios = [earlier / later for later, earlier in pairs]
        low, _, high = quantiles(ratios, n=4)
        times = " / ".join(duration(median(side)) for side in zip(*pairs, strict=True))
        print(f"{name}: {median(ratios):.3f} ({low:.3f} to {high:.3f}), now / before {times}")


if __name__ == "__main__":
    main()
