"""Count and compare texts that are larger than memory: ``python benches/ten_million.py [SEGMENTS] [DRAWS] [THREADS]``.

Writes texts of two systems (10^7 segments each by default: 4 GB, removed at the end), counts BLEU into a file, and
compares the systems by 10,000 draws from that file, each by a command in a process of its own. Prints JSON: the seconds
of each command, the peak of its resident memory, which includes the pages of the file that are mapped at that time, and
the sizes of texts and counts. ``--keep DIR`` writes to DIR and removes nothing; texts there are used again.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from pathlib import Path
from time import perf_counter

from data import BASELINE, OTHER, find
from races import MAXRSS_UNIT
from reshuffle import read_lines

# Lines written at a time.
BLOCK = 1 << 16


def write(path: Path, lines: list[str], segments: int) -> None:
    """The lines repeated, each time with a different word added."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for first in range(0, segments, BLOCK):
            numbers = range(first, min(segments, first + BLOCK))
            file.writelines(f"{lines[i % len(lines)]} w{i // len(lines)}\n" for i in numbers)


def run(*arguments: str) -> dict[str, float]:
    """The seconds and the peak of resident memory, in bytes, of a command of reshuffle."""
    start = perf_counter()
    child = os.posix_spawn(sys.executable, [sys.executable, "-m", "reshuffle", *arguments], dict(os.environ))
    _, status, usage = os.wait4(child, 0)
    if status:
        raise SystemExit(f"reshuffle {' '.join(arguments)} failed")
    return {"seconds": round(perf_counter() - start, 1), "peak": usage.ru_maxrss * MAXRSS_UNIT}


def main(folder: Path, segments: int, draws: int, threads: int) -> None:
    """Write the texts, run the commands and print the measurements."""
    files = find()
    named = {Path(path).stem: path for path in files.systems}
    sources = {"ref.txt": files.reference, "a.txt": named[BASELINE], "b.txt": named[OTHER]}
    for name, source in sources.items():
        if not (folder / name).exists():
            write(folder / name, read_lines(source), segments)
    texts, counts, result = [str(folder / name) for name in sources], str(folder / "counts.npz"), str(folder / "r.json")
    common = ["--threads", str(threads)]
    found = {
        "segments": segments,
        "draws": draws,
        "threads": threads,
        "texts": sum(Path(path).stat().st_size for path in texts),
        "count": run("count", *texts, "-o", counts, *common),
        "counts": Path(counts).stat().st_size,
        "score": run("score", counts, "-o", str(folder / "s.json"), *common),
        "compare": run("compare", counts, "-n", str(draws), "-o", result, *common),
        "load": os.getloadavg()[0],
    }
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    words = sys.argv[1:]
    kept = Path(words.pop(words.index("--keep") + 1)) if "--keep" in words else None
    given = [int(word) for word in words if word != "--keep"]
    numbers = given + [10_000_000, 10_000, 2][len(given) :]
    place = kept or Path(tempfile.mkdtemp(dir="."))
    try:
        main(place, *numbers)
    finally:
        if kept is None:
            shutil.rmtree(place)
