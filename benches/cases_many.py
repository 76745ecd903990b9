"""Cases of whole commands on many systems and on several test sets."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from cases_pairs import MANY_SYSTEMS, synthetic_systems
from cases_resampling import SEED, SHUFFLES
from data import Texts
from races import Contender, Measurement, Race, command
from rivals import RESHUFFLE

__all__ = ["html", "many", "sets"]

SEGMENTS = 3000
FORMATS = ("text", "html")
METRICS = ("-m", "bleu", "-m", "chrf", "-m", "ter")
# With and without the default test of all pairs, which the earlier builds do not have.
TESTS: Mapping[str, Sequence[str]] = {"ar": ("--test", "ar"), "default test": ()}

NUMBERS_OF_SETS = (1, 2, 5, 10)
SYSTEMS_OF_SETS = 20


def many(texts: Texts) -> list[Race]:
    """Shows what a leaderboard waits for: the whole command with interpreter, imports, reading, counting, all pairs
    with p adjusted by maxT, intervals from 10,000 draws, rankings and text. First sixteen systems under BLEU, chrF and
    TER, then 100 systems of 3,000 segments, which are real ones and mixtures of them. The aims for the latter are 40
    seconds and 1.5 GiB."""
    return _races(texts, {name: [*options, "--adjust", "maxt"] for name, options in TESTS.items()})


def html(texts: Texts) -> list[Race]:
    """Shows the cost of the HTML report over the text report: the JSON, the template and importing jinja2, but not the
    histograms, which every result has. All pairs of 16 systems, and of 100, under three metrics. The aims are at most a
    quarter of the time and 3 seconds."""
    return _races(texts, {f"as {name}": ["--format", name] for name in FORMATS})


def _races(texts: Texts, variants: Mapping[str, Sequence[str]]) -> list[Race]:
    """Compare all pairs of the real systems, and of a hundred, with the options of each variant."""
    folder = Path(_folder().name)
    reference, systems = _written(folder, "hundred", _shortened(texts), MANY_SYSTEMS)
    few = [*METRICS, "--all-pairs", "-n", str(SHUFFLES)]
    races = []
    for files in ([texts.files.reference, *texts.files.systems], [reference, *systems]):
        contenders = [
            Contender(f"{RESHUFFLE}, {name}", _compare(*files, *few, *options), at_most=3 if len(files) > 100 else 99)
            for name, options in variants.items()
        ]
        races.append(Race(f"{len(files) - 1} systems, three metrics, all pairs", contenders, _not_empty))
    return races


def sets(texts: Texts) -> list[Race]:
    """Shows how the time of one command grows with the number of test sets: all pairs of twenty systems under BLEU, on
    sets of 3,000 segments sampled from the real ones, with the average over sets; times are per set. The aim is a time
    that is proportional to the number of sets."""
    folder, rng, files = Path(_folder().name), np.random.default_rng(SEED), []
    for t in range(max(NUMBERS_OF_SETS)):
        sampled = rng.integers(SEGMENTS, size=SEGMENTS).tolist()
        files += [_written(folder, f"set {t + 1}", _shortened(texts), SYSTEMS_OF_SETS, sampled)]
    contenders = []
    for n in NUMBERS_OF_SETS:
        named = [word for t in range(n) for word in ("--set", f"s{t + 1}", files[t][0], *files[t][1])]
        whole = _compare(*named, "-m", "bleu", "--all-pairs", "--adjust", "maxt", "-n", str(SHUFFLES))
        contenders.append(Contender(f"{RESHUFFLE}, {n} test set{'s' * (n > 1)}", whole, things=n))
    return [Race(f"{SYSTEMS_OF_SETS} systems, all pairs, per test set", contenders, _not_empty)]


@cache
def _folder() -> TemporaryDirectory[str]:
    """A folder for texts, deleted at the end of the process."""
    return TemporaryDirectory()


def _shortened(texts: Texts) -> Texts:
    """The first 3,000 segments, the usual size of a test set."""
    systems = {name: lines[:SEGMENTS] for name, lines in texts.systems.items()}
    return texts._replace(references=[lines[:SEGMENTS] for lines in texts.references], systems=systems)


def _written(
    folder: Path, name: str, texts: Texts, n: int, segments: Sequence[int] | None = None
) -> tuple[str, list[str]]:
    """The files of the reference and of n systems, real ones and mixtures, in a new folder."""
    columns = {system: np.array(lines, dtype=object)[:, None] for system, lines in texts.systems.items()}
    own = folder / name
    own.mkdir(exist_ok=True)

    def write(file: str, lines: Sequence[str]) -> str:
        chosen = lines if segments is None else [lines[s] for s in segments]
        (own / file).write_text("".join(f"{line}\n" for line in chosen), encoding="utf-8")
        return str(own / file)

    systems = [write(system, lines[:, 0].tolist()) for system, lines in synthetic_systems(columns, n).items()]
    return write("reference", texts.references[0]), systems


def _compare(*arguments: str) -> Callable[[], Measurement]:
    """Measure a comparison by the command line, with its report."""
    return command(sys.executable, "-m", RESHUFFLE, "compare", *arguments, read=str)


def _not_empty(*reports: str) -> None:
    """Check that there are reports: those of different tests and test sets differ."""
    assert all("BLEU" in report for report in reports)
