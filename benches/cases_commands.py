"""Cases of whole commands, for which memory counts as well as time."""

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
    """The JSON of both commands: scores of all systems, p-values of all but the baseline."""
    *theirs, ours = reports
    scores = [system["scores"]["BLEU"]["score"] for system in ours["systems"]]
    pvalues = [comparison["pvalue"] for comparison in ours["comparisons"]]
    for report in theirs:
        same_scores([system["BLEU"]["score"] for system in report], scores)
        for system, p in zip(report[1:], pvalues, strict=True):
            same_pvalues(system["BLEU"]["p_value"], SHUFFLES, p, SHUFFLES)


def whole_command(texts: Texts) -> list[Race]:
    """The whole command is what a user waits for, interpreter, imports, reading and counting included; reshuffle's also
    draws 10,000 bootstrap replicates of every system for intervals, which sacreBLEU's does not."""
    python = (sys.executable, "-m")
    reference, systems = texts.files.reference, texts.files.systems
    theirs = ["sacrebleu", reference, "-i", *systems, "-m", "bleu", "-f", "json"]
    theirs += ["--paired-ar", "--paired-ar-n", str(SHUFFLES)]
    ours = ["reshuffle", "compare", reference, *systems, "-n", str(SHUFFLES), "--format", "json"]
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
    """Counting a million made-up segments (the lines of one system again and again, each time with another word behind
    them) shows what grows with a corpus. Times are of the counting, peaks of the command that makes the texts and
    counts them. Beside them: the texts as UTF-8, the counts (eight bytes times systems, segments and columns), and by
    how much the peak grew while it counted. What grows beyond the counts is the border's: Python keeps the UTF-8 of
    every string outside ASCII that a library has asked it for; and the table of NIST, which holds all references'
    n-grams. There is no rival; the sums of one thread and of all are compared."""

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
