"""What a checkpoint costs a study: the same study without and with it, and again from the finished file.

``python benches/resume.py [SIMULATIONS]``. Times are of the processor, on one thread, so that other programs on the
machine matter little; each is the least of five runs in turn. The time of the wall, which also has the waits for the
disk, is beside it.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from reshuffle import SegmentScores
from reshuffle.results.studies import StudyResult
from reshuffle.study import type1

ROUNDS = 5
SCORES = SegmentScores("quality", dict(zip("ab", np.random.default_rng(1).random((2, 2000)).round(2), strict=True)))


def timed(simulations: int, checkpoint: Path | None) -> tuple[float, float, StudyResult]:
    """Seconds of the processor and of the wall, and the result."""
    start, wall = time.process_time(), time.perf_counter()
    found = type1(
        metrics=SCORES,
        tests=["ar", "bootstrap-shift"],
        simulations=simulations,
        n_resamples=999,
        threads=1,
        checkpoint=checkpoint,
    )
    return time.process_time() - start, time.perf_counter() - wall, found


def main(simulations: int = 500) -> None:
    """Print the times."""
    times = []
    with TemporaryDirectory() as folder:
        for i in range(ROUNDS):
            path = Path(folder) / f"{i}.checkpoint"
            runs = [timed(simulations, each) for each in (None, path, path)]
            assert runs[0][2] == runs[1][2] == runs[2][2]
            times.append([run[:2] for run in runs])
            size = path.stat().st_size
    least = np.array(times).min(axis=0)
    for name, (processor, wall) in zip(("without", "with a checkpoint", "from its file"), least, strict=True):
        print(f"{name:18} {processor:6.2f} s ({processor / least[0, 0]:.3f}), wall {wall:6.2f} s")
    print(f"{size:,} bytes for {simulations:,} simulations")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
