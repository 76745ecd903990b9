"""Cases of whole commands on many systems and on several test sets."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from benches.data import Texts

from ..race import Contender, Measurement, Race, command, new_folder
from ..rivals import RESHUFFLE
from .resampling import SEED, SHUFFLES

__all__ = ["html", "many", "sets"]

SEGMENTS = 3000
MANY_SYSTEMS = 100
FORMATS = ("text", "html")
METRICS = ("-m", "bleu", "-m", "chrf", "-m", "ter")
TESTS: Mapping[str, Sequence[str]] = {
    "ar": ("--test", "ar"),
    "ar, one family": ("--test", "ar", "--family", "all"),
    "default test": (),
}

NUMBERS_OF_SETS = (1, 2, 5, 10)
SYSTEMS_OF_SETS = 20


def many(texts: Texts) -> list[Race]:
    """Shows what a leaderboard waits for: the whole command with interpreter, imports, reading, counting, all pairs
    with p adjusted by maxT, intervals from 10,000 draws, rankings and text. First sixteen systems under BLEU, chrF and
    TER, then 100 systems of 3,000 segments, which are real ones and mixtures of them: 14,850 tests. The
    aims for the latter are 40 seconds and 1.5 GiB."""
    return _races(texts, {name: [*options, "--adjust", "maxt"] for name, options in TESTS.items()})


def html(texts: Texts) -> list[Race]:
    """Shows the cost of the HTML report over the text report: the JSON, the template and importing jinja2, but not the
    histograms, which every result has. All pairs of 16 systems, and of 100, under three metrics. The aims are at most a
    quarter of the time and 3 seconds."""
    return _races(texts, {f"as {name}": ["--format", name] for name in FORMATS})


def _races(texts: Texts, variants: Mapping[str, Sequence[str]]) -> list[Race]:
    """Compare all pairs of the real systems, and of a hundred, with the options of each variant."""
    folder = new_folder()
    reference, systems = _written(folder, "hundred", texts.first(SEGMENTS), MANY_SYSTEMS)
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
    folder, rng, files = new_folder(), np.random.default_rng(SEED), []
    for t in range(max(NUMBERS_OF_SETS)):
        sampled = rng.integers(SEGMENTS, size=SEGMENTS).tolist()
        files += [_written(folder, f"set {t + 1}", texts.first(SEGMENTS), SYSTEMS_OF_SETS, sampled)]
    contenders = []
    for n in NUMBERS_OF_SETS:
        named = [word for t in range(n) for word in ("--set", f"s{t + 1}", files[t][0], *files[t][1])]
        whole = _compare(*named, "-m", "bleu", "--all-pairs", "--adjust", "maxt", "-n", str(SHUFFLES))
        contenders.append(Contender(f"{RESHUFFLE}, {n} test set{'s' * (n > 1)}", whole, things=n))
    return [Race(f"{SYSTEMS_OF_SETS} systems, all pairs, per test set", contenders, _not_empty)]


def synthetic_systems(systems: Mapping[str, Sequence[str]], n: int) -> dict[str, Sequence[str]]:
    """n different systems: real ones, and mixtures in which every m-th segment comes from the next system."""
    real = list(systems.values())

    def mixed(i: int) -> Sequence[str]:
        own, following, m = real[i % len(real)], real[(i + 1) % len(real)], i // len(real) + 1
        return own if m == 1 else [following[s] if s % m == 0 else own[s] for s in range(len(own))]

    return {f"system {i + 1}": mixed(i) for i in range(n)}


def _written(
    folder: Path, name: str, texts: Texts, n: int, segments: Sequence[int] | None = None
) -> tuple[str, list[str]]:
    """The files of the reference and of n systems, real ones and mixtures, in a new folder."""
    own = folder / name
    own.mkdir(exist_ok=True)

    def write(file: str, lines: Sequence[str]) -> str:
        chosen = lines if segments is None else [lines[s] for s in segments]
        (own / file).write_text("".join(f"{line}\n" for line in chosen), encoding="utf-8")
        return str(own / file)

    systems = [write(system, lines) for system, lines in synthetic_systems(texts.systems, n).items()]
    return write("reference", texts.references[0]), systems


def _compare(*arguments: str) -> Callable[[], Measurement]:
    """Measure a comparison by the command line, with its report."""
    return command(sys.executable, "-m", RESHUFFLE, "compare", *arguments, read=str)


def _not_empty(*reports: str) -> None:
    """Check that there are reports: those of different tests and test sets differ."""
    assert all("BLEU" in report for report in reports)
