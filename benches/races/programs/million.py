"""Count a corpus of any size in a separate process: ``million METRIC SEGMENTS [THREADS]``.

Prints JSON: the seconds of counting, and in bytes the texts (as UTF-8), the counts, and the growth of the peak of
resident memory during counting.
"""

from __future__ import annotations

import json
import resource
import sys
from collections.abc import Iterator, Sequence
from time import perf_counter

from benches.data import find
from reshuffle import metric

from ..race import MAXRSS_UNIT


def repeated(lines: Sequence[str], segments: int) -> Iterator[str]:
    """The lines repeated, each time with a different word added."""
    return (f"{lines[i % len(lines)]} w{i // len(lines)}" for i in range(segments))


def peak() -> int:
    """The peak of resident memory so far, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * MAXRSS_UNIT


def main(name: str, segments: int, threads: int | None = None) -> None:
    """Make the corpus, count it and print the measurements."""
    files = find()
    (references,), (system, *_) = files.references(), files.outputs().values()
    hypotheses, references = list(repeated(system, segments)), list(repeated(references, segments))
    before = peak()
    start = perf_counter()
    counts = metric(name).suff_stats([references], [hypotheses], workers=threads)
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
