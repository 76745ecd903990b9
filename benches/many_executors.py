"""Comparisons of many systems, by threads of one process and by as many worker processes:

    python benches/many_executors.py --workers 2

Prints the best of three, in seconds and in processor seconds, which hardly depend on what else the machine does, and
the seconds of the first comparison by processes, which also starts them and sends the counts. All results are compared.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import psutil
from numpy.typing import NDArray

import reshuffle
from data import find
from reshuffle.execution.executors import process_pool

WORDS = 200  # segments for the function of texts
REPEATS = 3


def mean_words(hypotheses: list[str], references: list[list[str | None]]) -> float:
    """A function of texts, which Python calls for every replicate."""
    return sum(len(line.split()) for line in hypotheses) / len(hypotheses)


def cases() -> dict[str, Callable[..., reshuffle.Comparison]]:
    """What is compared, by name."""
    files = find()
    references, systems = files.references(), files.outputs()
    few = [column[:WORDS] for column in references], {name: lines[:WORDS] for name, lines in systems.items()}
    pairs: dict[str, Any] = {"all_pairs": True, "test": "ar", "adjust": "maxt", "n_resamples": 100_000}
    function = reshuffle.CorpusFunction("words", mean_words)
    return {
        f"ar, all pairs of {len(systems)}, BLEU and chrF, 100,000 shuffles and draws": lambda **how: reshuffle.compare(
            references, systems, ["bleu", "chrf"], **pairs, **how
        ),
        f"bootstrap, {len(systems)} systems, TER, 100,000 draws": lambda **how: reshuffle.compare(
            references, systems, "ter", n_resamples=100_000, **how
        ),
        f"bootstrap, {len(systems)} systems, a function of {WORDS} texts, 2,000 draws": lambda **how: reshuffle.compare(
            *few, function, n_resamples=2_000, **how
        ),
    }


def processor_seconds() -> float:
    """The processor time of this process and of its children."""
    processes = [psutil.Process(), *psutil.Process().children(recursive=True)]
    return sum(sum(process.cpu_times()[:2]) for process in processes)


def timed(call: Callable[..., reshuffle.Comparison], **how: Any) -> tuple[NDArray[np.float64], reshuffle.Comparison]:
    """The seconds and the processor seconds of a call, and its result."""
    start = np.array([time.perf_counter(), processor_seconds()])
    result = call(**how)
    return np.array([time.perf_counter(), processor_seconds()]) - start, result


def main() -> None:
    """Time all cases."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=2)
    workers = parser.parse_args().workers
    print(f"{workers} workers, load {os.getloadavg()[0]:.1f}")
    for name, call in cases().items():
        with process_pool(workers) as pool:
            (first, _), expected = timed(call, executor=pool)
            best = {kind: np.full(2, np.inf) for kind in ("threads", "processes")}
            for _ in range(REPEATS):  # in turn, because other programs may take time, too
                for kind, how in (("threads", {"threads": workers}), ("processes", {"executor": pool})):
                    seconds, got = timed(call, **how)
                    best[kind] = np.minimum(best[kind], seconds)
                    assert got == expected
        print(f"{name}\n  processes with their start {first:.2f} s")
        for what, threads, processes in zip(("seconds", "processor seconds"), *best.values(), strict=True):
            print(f"  {what}: threads {threads:.2f}, processes {processes:.2f}: {processes / threads:.2f}")


if __name__ == "__main__":
    main()
