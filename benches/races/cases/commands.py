"""Cases of whole commands, measured in time and memory."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benches.data import BASELINE, OTHER, Texts
from benches.machine import cores

from ..agreement import nothing, same_pvalues, same_scores
from ..programs.million import repeated
from ..race import Contender, Measurement, Race, command, new_folder
from ..rivals import ONE_THREAD, RESHUFFLE, SACREBLEU
from .resampling import SHUFFLES

__all__ = ["disk", "million", "whole_command"]


def same_reports(*reports: Any) -> None:
    """Check the JSON of both commands: the scores of all systems, and the p-values of all but the baseline."""
    *theirs, ours = reports
    scores = [score["score"] for score in ours["scores"]]
    pvalues = [comparison["test"]["pvalue"] for comparison in ours["comparisons"]]
    for report in theirs:
        same_scores([system["BLEU"]["score"] for system in report], scores)
        for system, p in zip(report[1:], pvalues, strict=True):
            same_pvalues(system["BLEU"]["p_value"], SHUFFLES, p, SHUFFLES)


def whole_command(texts: Texts) -> list[Race]:
    """Shows what a user waits for: the whole command with interpreter, imports, reading and counting. reshuffle also
    draws 10,000 bootstrap replicates of every system for intervals and adjusts p for the number of pairs, which
    sacreBLEU does not."""
    python = (sys.executable, "-m")
    reference, systems = texts.files.reference, texts.files.systems
    theirs = ["sacrebleu", reference, "-i", *systems, "-m", "bleu", "-f", "json"]
    theirs += ["--paired-ar", "--paired-ar-n", str(SHUFFLES)]
    ours = ["reshuffle", "compare", reference, *systems, "--test", "ar", "-n", str(SHUFFLES), "--format", "json"]
    contenders = [
        Contender(SACREBLEU, command(*python, *theirs), at_most=2),
        Contender(
            f"{SACREBLEU}, --paired-jobs {cores()}", command(*python, *theirs, "--paired-jobs", str(cores())), at_most=1
        ),
        Contender(RESHUFFLE, command(*python, *ours), target=30),
    ]
    return [Race(f"{len(systems)} systems, AR, {SHUFFLES:,} shuffles", contenders, same_reports)]


SIZES = (100_000, 1_000_000)
METRICS = ("bleu", "chrf", "ter", "nist")


def million(texts: Texts) -> list[Race]:
    """Shows how time and memory grow with the corpus, by counting up to a million synthetic segments (the lines of one
    system repeated, with a different word added each time). Times are of counting only; peaks are of the process that
    also makes the texts. The remarks give the size of the texts in UTF-8, of the counts (eight bytes per system,
    segment and column), and the growth of the peak during counting. Growth beyond the counts has two causes: Python
    caches the UTF-8 form of every non-ASCII string that a library requests, and NIST keeps a table of the n-grams of
    all references. There is no other tool; the sums from one thread and from all threads are compared."""

    def race(name: str, segments: int) -> Race:
        def counting(*threads: str) -> Any:
            whole = command(sys.executable, "-m", "benches.races.programs.million", name, str(segments), *threads)

            def measure() -> Measurement:
                _, found, peak, _ = whole()
                sizes = ", ".join(f"{what} {found[what] / 1e6:,.0f} MB" for what in ("texts", "counts", "growth"))
                return Measurement(found["seconds"], found["totals"], peak, sizes)

            return measure

        contenders = [
            Contender(RESHUFFLE, counting(), at_most=3),
            Contender(ONE_THREAD, counting("1"), at_most=1),
        ]
        return Race(f"{name}, {segments:,} segments", contenders, same_scores)

    return [race(name, segments) for name in METRICS for segments in SIZES]


# The segments and draws of texts that are larger than memory.
LARGE, DRAWS = 10_000_000, 10_000


def disk(texts: Texts) -> list[Race]:
    """Shows the commands for texts that are larger than memory: BLEU counts of two systems of ten million synthetic
    segments (4 GB in the folder for temporary files, which TMPDIR names) are written to a file, and 10,000 draws are
    made from it. The peak includes the pages of that file that are mapped at the time. There is no other tool."""
    folder = new_folder()
    columns = {"ref": texts.references[0], "a": texts.systems[BASELINE], "b": texts.systems[OTHER]}
    files = [folder / f"{name}.txt" for name in columns]
    for path, lines in zip(files, columns.values(), strict=True):
        with path.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(f"{line}\n" for line in repeated(lines, LARGE))
    counts = folder / "counts.npz"

    def race(what: str, read: Sequence[Path], *arguments: str) -> Race:
        whole = command(sys.executable, "-m", "reshuffle", *arguments, read=str)

        def measure() -> Measurement:
            size = sum(path.stat().st_size for path in read)
            return whole()._replace(remark=f"reads {size / 1e6:,.0f} MB")

        return Race(f"{what}, {LARGE:,} segments", [Contender(RESHUFFLE, measure, at_most=1)], nothing)

    return [
        race("count", files, "count", *map(str, files), "-o", str(counts)),
        race("score", [counts], "score", str(counts)),
        race(f"compare, {DRAWS:,} draws", [counts], "compare", str(counts), "-n", str(DRAWS)),
    ]
