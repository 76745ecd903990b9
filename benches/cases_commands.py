"""Cases of whole commands, measured in time and memory."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from agreement import same_pvalues, same_scores
from cases_resampling import SHUFFLES
from data import Texts
from races import Contender, Measurement, Race, command
from report import cores
from rivals import ONE_THREAD, RESHUFFLE, SACREBLEU

__all__ = ["million", "whole_command"]


def same_reports(*reports: Any) -> None:
    """Check the JSON of both commands: the scores of all systems, and the p-values of all but the baseline."""
    *theirs, ours = reports
    scores = [system["scores"]["BLEU"]["score"] for system in ours["systems"]]
    pvalues = [comparison["pvalue"] for comparison in ours["comparisons"]]
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
            whole = command(sys.executable, str(Path(__file__).parent / "million.py"), name, str(segments), *threads)

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
