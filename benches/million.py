"""Counts a corpus of any size in a process of its own: ``python benches/million.py METRIC SEGMENTS [THREADS]``.

Prints JSON: the seconds that counting took, and in bytes the texts (as UTF-8), the counts, and by how much the peak of
resident memory grew while it counted.
"""

from __future__ import annotations

import json
import resource
import sys
from time import perf_counter

from data import find
from races import MAXRSS_UNIT
from reshuffle import metric


def repeated(lines: list[str], segments: int) -> list[str]:
    """The lines again and again, no two alike."""
    return [f"{lines[i % len(lines)]} w{i // len(lines)}" for i in range(segments)]


def peak() -> int:
    """The largest resident memory so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * MAXRSS_UNIT


def main(name: str, segments: int, threads: int | None = None) -> None:
    """Make the corpus, count it, and say what that took."""
    files = find()
    (references,), (system, *_) = files.references(), files.outputs().values()
    hypotheses, references = repeated(system, segments), repeated(references, segments)
    before = peak()
    start = perf_counter()
    counts = metric(name).suff_stats([hypotheses], [references], threads=threads)
    seconds = perf_counter() - start
    found = {
        "seconds": seconds,
        "growth": peak() - before,
        "counts": counts.nbytes,
        "texts": sum(len(line.encode()) for line in hypotheses + references),
        "totals": counts.sum(axis=1).tolist(),
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
