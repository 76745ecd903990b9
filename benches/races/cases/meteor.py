"""Cases of METEOR beside its jar, on 2,489 segments of the first optimizer runs that MultEval's authors published."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path

from benches.data import FOLDER, Texts
from reshuffle import metric, read_lines

from ..agreement import DisagreementError
from ..race import Contender, Measurement, Race, Skipped, call, command, new_folder
from ..rivals import ONE_THREAD, RESHUFFLE

__all__ = ["meteor"]

JAR = "METEOR 1.5 (Java)"
SET = "multeval-newstest2010-optreps"
MODULES = ("exact", "stem")
WEIGHTS = "1.0 0.6"

# The whole command with paraphrases: METEOR takes 1.4 to 1.9 GB.
MEMORY_TARGET = 400e6


def find_jar() -> Path | None:
    """METEOR's jar: RESHUFFLE_METEOR_JAR names it or its folder, or the package pycocoevalcap has it."""
    named = os.environ.get("RESHUFFLE_METEOR_JAR")
    package = None if named else find_spec("pycocoevalcap")
    places = [Path(place, "meteor") for place in (package and package.submodule_search_locations) or ()]
    for path in [Path(named)] if named else places:
        if path.is_file():
            return path
        if jars := sorted(path.glob("meteor-*.jar")):
            return jars[0]
    return None


def unavailable() -> str | None:
    """Why METEOR cannot be timed; None if it can."""
    if shutil.which("java") is None:
        return "Java is not installed"
    if find_jar() is None:
        return "set RESHUFFLE_METEOR_JAR to the path of meteor-1.5.jar, or install pycocoevalcap"
    if not (FOLDER / SET / "ref.txt").is_file():
        return f"there is no {SET} in {FOLDER}"
    return None


def final_score(output: str) -> float:
    """The corpus score that METEOR prints, in per cent."""
    return 100 * float(output.rpartition("Final score:")[2])


def java(hypotheses: Path, references: Path, *options: str) -> Callable[[], Measurement]:
    """METEOR's command."""
    files = (str(find_jar()), str(hypotheses), str(references))
    return command("java", "-Xmx3G", "-jar", *files, "-l", "en", *options, read=final_score)


def without_load(whole: Callable[[], Measurement], load: Callable[[], Measurement]) -> Callable[[], Measurement]:
    """The time of a command less the time of the same on a single segment."""

    def measure() -> Measurement:
        all_segments, one_segment = whole(), load()
        seconds = all_segments.seconds - one_segment.seconds
        return Measurement(seconds, all_segments.outcome, None, f"{one_segment.seconds:.2f} s for one segment deducted")

    return measure


def same_score(expected: float, *others: float) -> None:
    """Check corpus scores; METEOR's order of sums moves the last digit."""
    for actual in others:
        if abs(actual - expected) > 1e-10:
            raise DisagreementError(f"METEOR {expected!r}, reshuffle {actual!r}")


def within_memory(measure: Callable[[], Measurement]) -> Callable[[], Measurement]:
    """Remark whether the peak reached the target."""

    def measured() -> Measurement:
        found = measure()
        verdict = "reached" if (found.peak or 0) <= MEMORY_TARGET else "MISSED"
        return found._replace(remark=f"≤ {MEMORY_TARGET / 1e6:.0f} MB: {verdict}")

    return measured


OURS = """
import sys
import reshuffle
jar, hypotheses, references = sys.argv[1:]
meteor = reshuffle.metric("meteor", meteor_jar=jar)
lines = [reshuffle.read_lines(path) for path in (hypotheses, references)]
print(repr(float(meteor.score(meteor.suff_stats(lines[1:], lines[:1])[0].sum(axis=0)))))
"""


def meteor(texts: Texts) -> list[Race]:
    """Shows the speed of METEOR: first its counting with exact matches and stems alone, where the time of METEOR on a
    single segment (Java's start and the loading of its lists) is deducted and reshuffle's is not; then whole commands,
    which read the table of 5.3 million paraphrases and all other resources, and their memory. reshuffle's command
    starts Python. Scores must agree to 1e-10."""
    reason = unavailable()
    if reason is not None:
        return [Race("exact and stem", [Skipped(JAR, reason)], same_score)]
    hypotheses, references = FOLDER / SET / "baseline" / "opt0.txt", FOLDER / SET / "ref.txt"
    lines = [read_lines(str(path)) for path in (hypotheses, references)]
    ours = metric("meteor", modules=list(MODULES))

    def count(threads: int | None = None) -> Callable[[], float]:
        return lambda: float(ours.score(ours.suff_stats(lines[1:], lines[:1], workers=threads)[0].sum(axis=0)))

    with_stems = ("-m", " ".join(MODULES), "-w", WEIGHTS)
    counting = without_load(java(hypotheses, references, *with_stems), java(*first_segment(lines), *with_stems))
    size = f"{len(lines[0]):,} segments"
    races = [
        Race(
            f"exact and stem, {size}, without METEOR's load time",
            [
                Contender(JAR, counting),
                Contender(RESHUFFLE, call(count()), target=20),
                Contender(ONE_THREAD, call(count(1))),
            ],
            same_score,
        )
    ]
    paths = (str(find_jar()), str(hypotheses), str(references))
    whole = within_memory(command(sys.executable, "-c", OURS, *paths, read=float))
    contenders = [Contender(JAR, java(hypotheses, references), at_most=3), Contender(RESHUFFLE, whole, target=5)]
    return [*races, Race(f"whole command with paraphrases, {size}", contenders, same_score)]


def first_segment(lines: Sequence[Sequence[str]]) -> tuple[Path, Path]:
    """Files with the first segment alone."""
    folder = new_folder()
    paths = folder / "hypothesis", folder / "reference"
    for path, texts in zip(paths, lines, strict=True):
        path.write_text(texts[0] + "\n", encoding="utf-8")
    return paths
