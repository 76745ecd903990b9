"""sacreBLEU and reshuffle in turn, in one run, on real systems: ``python benches/tools.py --help``.

Each race has several contenders that do the same thing. They run one after the other, again and again, so that
whatever slows the machine down for a while slows all of them down; the median counts. What they find is compared
before anything is printed: a race won with other numbers would not be one.
"""

from __future__ import annotations

import argparse
import inspect
import json
import os
import platform
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from importlib.metadata import version
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import sacrebleu.significance
from numpy.typing import NDArray
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a
from sacrebleu.tokenizers.tokenizer_re import TokenizerRegexp

from data import BASELINE, OTHER, Files, MissingDataError, find
from reshuffle import approximate_randomization, bootstrap_test, metric

Array: TypeAlias = NDArray[Any]

SACREBLEU = f"sacreBLEU {version('sacrebleu')}"
RESHUFFLE = "reshuffle"
ONE_THREAD = "reshuffle, 1 thread"

SHUFFLES = 10_000
DRAWS = 1_000
SEED = 12345


# What is measured.


class Measurement(NamedTuple):
    """One run of one contender; ``peak`` is the resident memory of a command in bytes."""

    seconds: float
    outcome: Any
    peak: int | None = None


@dataclass(frozen=True)
class Contender:
    """One way to do it. ``target``: how many times faster than the race's first contender it is meant to be."""

    name: str
    measure: Callable[[], Measurement]
    target: float | None = None
    at_most: int = sys.maxsize  # runs, for the slow


@dataclass(frozen=True)
class Race:
    """Contenders that must come to the same ``outcome``; times are shown per one of the ``things`` that a run does."""

    what: str
    contenders: Sequence[Contender]
    check: Callable[..., None]
    things: int = 1


class Texts(NamedTuple):
    """The test set in every form that a case may want."""

    files: Files
    references: list[list[str]]
    systems: dict[str, list[str]]
    counts: dict[str, Array]


class Outcome(NamedTuple):
    """What a test of two systems found."""

    difference: float
    pvalue: float
    n_resamples: int


# A turn lasts as long as this at least: a call of milliseconds is repeated, and the mean of its repetitions counts.
# Alone, behind a rival that kept one core busy and let the other sleep, it would measure how long that one takes to
# wake up: on a virtual machine milliseconds, too.
TURN_SECONDS = 0.1


def call(function: Callable[[], Any], before: Callable[[], object] = lambda: None) -> Callable[[], Measurement]:
    """Measure a call in this process; ``before`` is not counted."""

    def measure() -> Measurement:
        seconds, calls = 0.0, 0
        while seconds < TURN_SECONDS:
            before()
            start = perf_counter()
            outcome = function()
            seconds += perf_counter() - start
            calls += 1
        return Measurement(seconds / calls, outcome)

    return measure


# Linux carries the peak of a process over to the children that it starts, through fork and exec. So it is not this
# process, which has held every count and every shuffle by now, that starts the command, but one with next to nothing.
LAUNCHER = """
import os, sys, time
start = time.perf_counter()
child = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)
_, status, usage = os.wait4(child, 0)
print()
print(time.perf_counter() - start, usage.ru_maxrss, os.waitstatus_to_exitcode(status))
"""
MAXRSS_UNIT = 1 if sys.platform == "darwin" else 1024


def command(*arguments: str) -> Callable[[], Measurement]:
    """Measure a module run as a command that prints JSON. Of several processes, the largest counts for the peak."""

    def measure() -> Measurement:
        launch = [sys.executable, "-I", "-S", "-c", LAUNCHER, sys.executable, "-m", *arguments]
        done = subprocess.run(launch, check=True, capture_output=True, text=True)
        output, _, figures = done.stdout.rstrip().rpartition("\n")
        seconds, peak, code = figures.split()
        if int(code):
            raise RuntimeError(f"{arguments[0]} left with exit code {code}: {done.stderr.strip()}")
        return Measurement(float(seconds), json.loads(output), int(peak) * MAXRSS_UNIT)

    return measure


# What must be equal.


class DisagreementError(Exception):
    """Contenders came to different results, so their times say nothing."""


def same_counts(expected: Sequence[Any], *others: Array) -> None:
    """The same integers, and scores equal to 1e-9."""
    ours, theirs = metric("bleu"), BLEU()
    scores = [theirs._aggregate_and_compute(system).score for system in expected]
    for actual in others:
        if not np.array_equal(np.asarray(expected), actual):
            raise DisagreementError("counts differ")
        same_scores(scores, ours.score(actual.sum(axis=1)))


def same_scores(expected: Sequence[float] | float, actual: Sequence[float] | Array | float) -> None:
    """Equal but for the order of floating-point operations."""
    if not np.allclose(expected, actual, rtol=0, atol=1e-9):
        raise DisagreementError(f"scores differ: {expected} and {actual}")


def same_pvalues(p: float, n: int, q: float, m: int) -> None:
    """Estimates of one p-value, from n and from m replicates, within five standard errors of each other."""
    pooled = (p * n + q * m) / (n + m)
    if abs(p - q) > 5 * np.sqrt(pooled * (1 - pooled) * (1 / n + 1 / m)):
        raise DisagreementError(f"p-values differ by more than Monte Carlo error: {p} and {q}")


def same_outcomes(expected: Outcome, *others: Outcome) -> None:
    """The same difference of scores and, within Monte Carlo error, the same p-value."""
    for actual in others:
        same_scores(expected.difference, actual.difference)
        same_pvalues(expected.pvalue, expected.n_resamples, actual.pvalue, actual.n_resamples)


def same_reports(*reports: Any) -> None:
    """The JSON of both commands: scores of all systems, p-values of all but the baseline."""
    *theirs, ours = reports
    scores = [system["scores"]["BLEU"]["score"] for system in ours["systems"]]
    pvalues = [comparison["pvalue"] for comparison in ours["comparisons"]]
    for report in theirs:
        same_scores([system["BLEU"]["score"] for system in report], scores)
        for system, p in zip(report[1:], pvalues, strict=True):
            same_pvalues(system["BLEU"]["p_value"], SHUFFLES, p, SHUFFLES)


# The contenders.


def forget_tokens() -> None:
    """Empty sacreBLEU's caches of tokenized lines: a run would find all of the one before, a user's would not."""
    Tokenizer13a.__call__.cache_clear()
    TokenizerRegexp.__call__.cache_clear()


def sacrebleu_test(test: Callable[..., Any], a: Array, b: Array, n: int) -> Callable[[], Outcome]:
    """One of sacreBLEU's own paired tests with the counts given.

    It takes texts and counts them first. That one step gives the counts that it would have given, in its own form, a
    list of lists of integers; everything else is its own code.
    """
    rival = BLEU()
    counts, baseline_counts = a.tolist(), b.tolist()
    vars(rival)["_extract_corpus_statistics"] = lambda hypotheses, references: counts
    baseline = rival._aggregate_and_compute(baseline_counts).score
    info = {"BLEU": (baseline_counts, sacrebleu.significance.Result(baseline))}
    segments = [""] * len(counts)  # of which it wants to know the number

    def run() -> Outcome:
        _, results = test(info, "system", segments, None, {"BLEU": rival}, n_samples=n, seed=SEED)
        return Outcome(results["BLEU"].score - baseline, results["BLEU"].p_value, n)

    return run


def reshuffle_ar(a: Array, b: Array, threads: int | None = None) -> Callable[[], Outcome]:
    """Approximate randomization as a user calls it."""

    def run() -> Outcome:
        result = approximate_randomization(a, b, metric("bleu"), n_resamples=SHUFFLES, seed=SEED, threads=threads)
        return Outcome(result.statistic, result.pvalue, SHUFFLES)

    return run


def reshuffle_bootstrap(a: Array, b: Array, threads: int | None = None) -> Callable[[], Outcome]:
    """The bootstrap that sacreBLEU has, as a user calls it."""

    def run() -> Outcome:
        bleu = metric("bleu")
        result = bootstrap_test(a, b, bleu, method="shift", n_resamples=DRAWS, seed=SEED, threads=threads)
        return Outcome(result.statistic, result.pvalue, DRAWS)

    return run


def numpy_bleu(totals: Array) -> Array:
    """BLEU with exponential smoothing of (R, 10) summed counts: both lengths, then matches and n-grams per order.

    Corpora have n-grams of all four orders, so nothing here looks after those that have not.
    """
    length, reference, matches, ngrams = np.split(totals, [1, 2, 6], axis=1)
    halved = 0.5 ** np.cumsum(matches == 0, axis=1)
    precisions = np.where(matches > 0, matches, halved) / ngrams
    brevity = np.minimum(0, 1 - reference / length)[:, 0]
    return np.asarray(100 * np.exp(brevity + np.log(precisions).mean(axis=1)))


def numpy_ar(a: Array, b: Array) -> Callable[[], Outcome]:
    """Approximate randomization with numpy: blocks of flips times a − b through BLAS.

    Bits unpacked from raw words took a quarter of the time of ``rng.integers(2)``, and blocks of 500 less than smaller
    or larger ones. Sums stay below 2²⁴, so float32 is exact.
    """
    block, segments = 500, len(a)
    words = -(-segments // 64)
    moved = (a - b).astype(np.float32)
    total_a, total_b = a.sum(axis=0), b.sum(axis=0)

    def run() -> Outcome:
        source = np.random.SFC64(SEED)
        (observed,) = numpy_bleu(total_a[None]) - numpy_bleu(total_b[None])
        reached = 0
        for first in range(0, SHUFFLES, block):
            size = min(block, SHUFFLES - first)
            raw = source.random_raw(size * words).view(np.uint8).reshape(size, -1)
            flips = np.unpackbits(raw, axis=1, count=segments).astype(np.float32)
            shift = (flips @ moved).astype(np.float64)
            shuffled = numpy_bleu(total_a - shift) - numpy_bleu(total_b + shift)
            reached += int((np.abs(shuffled) >= abs(observed)).sum())
        return Outcome(float(observed), (reached + 1) / (SHUFFLES + 1), SHUFFLES)

    return run


def numpy_bootstrap(a: Array, b: Array) -> Callable[[], Outcome]:
    """The bootstrap with shift, with numpy: how often each segment is drawn, times the counts through BLAS.

    ``bincount`` of offset indices took a sixth of the time of gathering rows and a tenth of that of
    ``rng.multinomial``; blocks of 50 were the best.
    """
    block, segments = 50, len(a)
    both = np.hstack([a, b]).astype(np.float32)
    width = a.shape[1]

    def run() -> Outcome:
        rng = np.random.Generator(np.random.SFC64(SEED))
        (observed,) = numpy_bleu(a.sum(axis=0)[None]) - numpy_bleu(b.sum(axis=0)[None])
        drawn = np.empty(DRAWS)
        for first in range(0, DRAWS, block):
            size = min(block, DRAWS - first)
            indices = rng.integers(segments, size=(size, segments)) + np.arange(size)[:, None] * segments
            times = np.bincount(indices.ravel(), minlength=size * segments).reshape(size, segments)
            sums = (times.astype(np.float32) @ both).astype(np.float64)
            drawn[first : first + size] = numpy_bleu(sums[:, :width]) - numpy_bleu(sums[:, width:])
        magnitude = np.abs(drawn)
        reached = int((magnitude - magnitude.mean() >= abs(observed)).sum())
        return Outcome(float(observed), (reached + 1) / (DRAWS + 1), DRAWS)

    return run


# The cases. A docstring says what a case shows and why it is here, and is printed.


def count(texts: Texts) -> list[Race]:
    """Counting BLEU (13a, per system of 3,004 segments) is where every run begins: reshuffle's time includes the
    references, sacreBLEU's does not, and its cache of tokenized lines is emptied before every run."""
    references, bleu = texts.references, metric("bleu")
    systems = list(texts.systems.values())
    rival = BLEU(references=references)

    def race(what: str, systems: list[list[str]]) -> Race:
        def theirs() -> list[Any]:
            return [rival._extract_corpus_statistics(lines, None) for lines in systems]

        contenders = [
            Contender(SACREBLEU, call(theirs, before=forget_tokens)),
            Contender(RESHUFFLE, call(lambda: bleu.suff_stats(systems, references)), target=15),
            Contender(ONE_THREAD, call(lambda: bleu.suff_stats(systems, references, threads=1))),
        ]
        return Race(what, contenders, same_counts, things=len(systems))

    prepare = Contender(SACREBLEU, call(lambda: BLEU(references=references), before=forget_tokens))
    return [
        Race("references alone, not in sacreBLEU's times below", [prepare], lambda _: None),
        race("one system", systems[:1]),
        race(f"{len(systems)} systems in one go, per system", systems),
    ]


def ar(texts: Texts) -> list[Race]:
    """Approximate randomization of one pair with the counts given is the kernel that the package is about; the rival
    is sacreBLEU's own test, which holds all flips in memory and scores shuffles one by one."""
    a, b = texts.counts[OTHER], texts.counts[BASELINE]
    contenders = [
        Contender(SACREBLEU, call(sacrebleu_test(sacrebleu.significance._paired_ar_test, a, b, SHUFFLES))),
        Contender(RESHUFFLE, call(reshuffle_ar(a, b)), target=200),
        Contender(ONE_THREAD, call(reshuffle_ar(a, b, threads=1))),
    ]
    return [Race(f"one pair, {SHUFFLES:,} shuffles", contenders, same_outcomes)]


def bootstrap(texts: Texts) -> list[Race]:
    """The paired bootstrap (with shift, as sacreBLEU has it) of one pair with the counts given: draws cost more than
    shuffles, for a segment may come any number of times where a shuffle decides between two."""
    a, b = texts.counts[OTHER], texts.counts[BASELINE]
    contenders = [
        Contender(SACREBLEU, call(sacrebleu_test(sacrebleu.significance._paired_bs_test, a, b, DRAWS))),
        Contender(RESHUFFLE, call(reshuffle_bootstrap(a, b)), target=50),
        Contender(ONE_THREAD, call(reshuffle_bootstrap(a, b, threads=1))),
    ]
    return [Race(f"one pair, {DRAWS:,} draws", contenders, same_outcomes)]


def vectorised(texts: Texts) -> list[Race]:
    """The same two tests against vectorised numpy with BLAS, to tell how much of the gain is not Python's loop over
    replicates; there is no target."""
    a, b = texts.counts[OTHER], texts.counts[BASELINE]
    races = [
        (f"AR, {SHUFFLES:,} shuffles", numpy_ar, reshuffle_ar),
        (f"bootstrap, {DRAWS:,} draws", numpy_bootstrap, reshuffle_bootstrap),
    ]
    return [
        Race(
            what,
            [
                Contender("numpy", call(theirs(a, b))),
                Contender(RESHUFFLE, call(ours(a, b))),
                Contender(ONE_THREAD, call(ours(a, b, threads=1))),
            ],
            same_outcomes,
        )
        for what, theirs, ours in races
    ]


def whole_command(texts: Texts) -> list[Race]:
    """The whole command is what a user waits for, interpreter, imports, reading and counting included; reshuffle's also
    draws 10,000 bootstrap replicates of every system for intervals, which sacreBLEU's does not."""
    reference, systems = texts.files.reference, texts.files.systems
    theirs = ["sacrebleu", reference, "-i", *systems, "-m", "bleu", "-f", "json"]
    theirs += ["--paired-ar", "--paired-ar-n", str(SHUFFLES)]
    ours = ["reshuffle", "compare", reference, *systems, "-n", str(SHUFFLES), "--format", "json"]
    contenders = [
        Contender(SACREBLEU, command(*theirs), at_most=2),
        Contender(f"{SACREBLEU}, --paired-jobs {cores()}", command(*theirs, "--paired-jobs", str(cores())), at_most=1),
        Contender(RESHUFFLE, command(*ours), target=30),
    ]
    return [Race(f"{len(systems)} systems, AR, {SHUFFLES:,} shuffles", contenders, same_reports)]


CASES: Mapping[str, Callable[[Texts], list[Race]]] = {
    "count": count,
    "ar": ar,
    "bootstrap": bootstrap,
    "numpy": vectorised,
    "command": whole_command,
}


def about(case: str) -> str:
    """The docstring of a case as one line."""
    return " ".join((inspect.getdoc(CASES[case]) or "").split())


# Running and reporting.


class Row(NamedTuple):
    """One contender in the table."""

    case: str
    what: str
    tool: str
    median: str
    spread: str
    peak: str
    faster: str
    target: str


HEADER = Row("case", "what", "tool", "median", "fastest to slowest", "peak", "speed", "target")
RIGHT_ALIGNED = {"median", "spread", "peak", "faster"}


def run(case: str, race: Race, repeats: int) -> list[Row]:
    """Let the contenders run in turn and, before they go on, compare what they found the first time."""
    seconds: list[list[float]] = [[] for _ in race.contenders]
    peaks: list[list[int]] = [[] for _ in race.contenders]
    for turn in range(repeats):
        outcomes = []
        for index, contender in enumerate(race.contenders):
            if turn >= contender.at_most:
                continue
            measurement = contender.measure()
            seconds[index].append(measurement.seconds / race.things)
            peaks[index] += [] if measurement.peak is None else [measurement.peak]
            outcomes.append(measurement.outcome)
        if turn == 0:
            race.check(*outcomes)
    yardstick = median(seconds[0])
    return [
        row(case if index == 0 else "", race.what if index == 0 else "", contender, times, of_peaks, yardstick)
        for index, (contender, times, of_peaks) in enumerate(zip(race.contenders, seconds, peaks, strict=True))
    ]


def row(
    case: str, what: str, contender: Contender, seconds: Sequence[float], peaks: Sequence[int], yardstick: float
) -> Row:
    """Put the figures into words."""
    faster = yardstick / median(seconds)
    verdict = ""
    if contender.target is not None:
        verdict = f"≥ {contender.target:g}×: {'reached' if faster >= contender.target else 'MISSED'}"
    return Row(
        case,
        what,
        contender.name,
        duration(median(seconds)),
        f"{duration(min(seconds))} to {duration(max(seconds))}, n = {len(seconds)}",
        f"{median(peaks) / 1e6:,.0f} MB" if peaks else "",
        f"{faster:,.0f}×" if faster >= 100 else f"{faster:.1f}×",
        verdict,
    )


def duration(seconds: float) -> str:
    """Three digits and a unit."""
    number, unit = (seconds * 1e3, "ms") if seconds < 1 else (seconds, "s")
    return f"{number:#.3g}".rstrip(".") + f" {unit}"


def plain_table(rows: Sequence[Row]) -> str:
    """Columns for a terminal."""
    widths = [max(map(len, column)) for column in zip(HEADER, *rows, strict=True)]

    def line(cells: Row) -> str:
        padded = [
            f"{cell:>{width}}" if name in RIGHT_ALIGNED else f"{cell:<{width}}"
            for name, cell, width in zip(Row._fields, cells, widths, strict=True)
        ]
        return "  ".join(padded).rstrip()

    return "\n".join([line(HEADER), "─" * (sum(widths) + 2 * (len(widths) - 1)), *map(line, rows)])


def markdown_table(rows: Sequence[Row]) -> str:
    """Columns for a record."""
    rule = ["---:" if name in RIGHT_ALIGNED else "---" for name in Row._fields]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (HEADER, rule, *rows))


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def cpu_model() -> str:
    """As the system names it."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def commit() -> str:
    """What was measured, ``-dirty`` if files had changed since."""
    git = shutil.which("git")
    if git is None:
        return "unknown"
    describe = [git, "describe", "--always", "--dirty", "--exclude=*"]
    done = subprocess.run(describe, cwd=Path(__file__).parent, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


def circumstances() -> dict[str, str]:
    """What a reader has to know to believe the figures."""
    packages = ", ".join(f"{name} {version(name)}" for name in ("reshuffle", "sacrebleu", "numpy"))
    return {
        "machine": f"{cpu_model()}, {cores()} cores, {platform.system()} {platform.machine()}",
        "software": f"{platform.python_implementation()} {platform.python_version()}, {packages}",
        "commit": commit(),
        "load at the start": f"{os.getloadavg()[0]:.2f}",
    }


READING = (
    "Medians of runs in turn; in a turn a call of less than a tenth of a second is repeated for that long. Speed: how "
    "many times faster than the first tool of the same race. reshuffle uses all cores unless it says otherwise. Peak: "
    "resident memory of the whole command, of several processes the largest. The results of each race were compared: "
    "counts equal, scores equal to 1e-9, p-values within Monte Carlo error."
)


def record(facts: Mapping[str, str], rows: Sequence[Row], cases: Sequence[str], repeats: int) -> str:
    """A dated record: machine, commit, command, table, and what each case shows."""
    arguments = ["--repeats", str(repeats)] + ([] if list(cases) == list(CASES) else ["--only", *cases])
    command_line = shlex.join(["python", "benches/tools.py", *arguments])
    listed = "\n".join([*(f"- {name}: {fact}" for name, fact in facts.items()), f"- command: `{command_line}`"])
    shown = "\n".join(f"- `{case}`: {about(case)}" for case in cases)
    title = f"# {date.today().isoformat()}: sacreBLEU and reshuffle on wmt17-en-de"
    return "\n\n".join([title, listed, markdown_table(rows), READING, shown]) + "\n"


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The command line, with the cases in its help."""
    parser = argparse.ArgumentParser(
        description="Run sacreBLEU and reshuffle in turn on wmt17-en-de and print a table of times.",
        epilog="\n\n".join(["cases:", *(f"  {case}: {about(case)}" for case in CASES)]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--repeats", type=int, default=5, metavar="N", help="runs of each (default: %(default)s)")
    parser.add_argument("--only", nargs="+", choices=CASES, default=list(CASES), metavar="CASE", help=", ".join(CASES))
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write a dated record as well")
    parsed = parser.parse_args(arguments)
    if parsed.repeats < 1:
        parser.error(f"--repeats must be at least 1, got {parsed.repeats}")
    if parsed.markdown is not None and not parsed.markdown.absolute().parent.is_dir():
        parser.error(f"--markdown: there is no folder {parsed.markdown.parent}")  # now, rather than after the races
    return parsed


def read() -> Texts:
    """Read and count the test set, and get done what is done once in a process."""
    files = find()
    references, systems = files.references(), files.outputs()
    counts = metric("bleu").suff_stats(list(systems.values()), references)
    # SciPy is imported at the first p-value. A command pays for that, and `command` counts it; a call does not.
    approximate_randomization(counts[0], counts[1], "bleu", n_resamples=1)
    return Texts(files, references, systems, dict(zip(systems, counts, strict=True)))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the cases asked for."""
    options = parse(arguments)
    try:
        texts = read()
    except MissingDataError as missing:
        print(f"tools.py: {missing}", file=sys.stderr)
        return 2
    facts, rows = circumstances(), []
    for case in options.only:
        for race in CASES[case](texts):
            print(f"{case}: {race.what} …", file=sys.stderr)
            rows += run(case, race, options.repeats)
    print(*(f"{name}: {fact}" for name, fact in facts.items()), sep="\n")
    print(f"\n{plain_table(rows)}\n\n{READING}\n")
    print(*(f"{case}: {about(case)}" for case in options.only), sep="\n")
    if options.markdown is not None:
        options.markdown.write_text(record(facts, rows, options.only, options.repeats), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
