"""Cases of optimizer runs: MultEval's command and exchanges of runs, on the outputs that MultEval's authors published.

The test set has 2,489 segments and three systems with three runs each, of which the third is a copy of the first.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.ter import TER

from benches.data import FOLDER, Texts
from reshuffle import FromCounts, InputWarning, NativeMetric, RunComparison, compare_runs, metric, read_lines

from ..agreement import DisagreementError, same_scores
from ..race import Contender, Measurement, Race, Skipped, call, command
from ..rivals import ONE_THREAD, RESHUFFLE, SACREBLEU, forget_tokens
from .meteor import SET, find_jar

__all__ = ["runs"]

SYSTEMS = ("baseline", "sys1", "sys2")
# Draws of segments and shuffles: MultEval's defaults.
N_RESAMPLES = 10_000
COUNTED = f"{SACREBLEU}: BLEU and TER, counts alone"

# MultEval needs 2 to 4 GB with METEOR.
SECONDS, SECONDS_WITH_METEOR, BYTES = 0.4, 5, 400e6

EXCHANGES = ("run", "segment", "cell", "pooled", "multeval", "hierarchical")


def files() -> dict[str, list[Path]]:
    """The outputs of each system's runs."""
    return {name: sorted((FOLDER / SET / name).glob("*.txt")) for name in SYSTEMS}


def within(measure: Callable[[], Measurement], seconds: float) -> Callable[[], Measurement]:
    """Remark whether the time of the first turn, and the memory of a command, reached the targets."""

    def verdict(reached: bool) -> str:
        return "reached" if reached else "MISSED"

    def measured() -> Measurement:
        found = measure()
        remark = f"≤ {seconds:g} s in the first turn: {verdict(found.seconds <= seconds)}"
        if found.peak is not None:
            remark += f"; ≤ {BYTES / 1e6:.0f} MB: {verdict(found.peak <= BYTES)}"
        return found._replace(remark=remark)

    return measured


def multeval(*options: str) -> Callable[[], Measurement]:
    """MultEval's command line, as reshuffle has it. The outcome is the mean BLEU of each system."""
    (baseline, outputs), *systems = files().items()
    hypotheses = [f"--hyps-{baseline}", *map(str, outputs)]
    for name, outputs in systems:
        hypotheses += [f"--hyps-{name}", *map(str, outputs)]
    arguments = ("eval", "--refs", str(FOLDER / SET / "ref.txt"), *hypotheses, *options)
    counts = (f"--boot-samples={N_RESAMPLES}", f"--ar-shuffles={N_RESAMPLES}", "--verbosity=0")
    return command(sys.executable, "-m", "reshuffle.compat.multeval", *arguments, *counts, read=mean_bleu)


def mean_bleu(output: str) -> list[float]:
    """The mean BLEU of each system, with the one decimal of the table."""
    columns: list[list[str]] = [line.split() for line in output.splitlines()]
    (place,) = [i for i, cells in enumerate(columns) if cells[:1] == ["n=3"]]
    return [float(next(cell for cell in cells if "." in cell)) for cells in columns[place + 1 :][: len(SYSTEMS)]]


def same_means(expected: list[float], *others: list[float]) -> None:
    """Check mean BLEU to one decimal, which is all that MultEval's table has."""
    for actual in others:
        same_scores(expected, actual, 0.05 + 1e-9)


def runs(texts: Texts) -> list[Race]:
    """MultEval's example, outputs of newstest2010. Shows that a whole evaluation of runs (interpreter, imports,
    reading, counting, 10,000 draws for s_sel, 10,000 shuffles for p) takes less time than sacreBLEU's counting of the
    same nine outputs alone; with METEOR, whose table of paraphrases is read again each time; and what each unit of
    exchange costs once the outputs are counted. Mean BLEU must agree; METEOR itself is not timed here."""
    if not all(len(outputs) == 3 for outputs in files().values()):
        return [Race("runs", [Skipped(SET, f"it is not in {FOLDER}")], same_means)]
    references = [read_lines(str(FOLDER / SET / "ref.txt"))]
    systems = {name: [read_lines(str(path)) for path in outputs] for name, outputs in files().items()}
    metrics = [metric("bleu", tokenize="none"), metric("ter", variant="tercom"), metric("length", tokenize="none")]
    size = f"3 systems, 3 runs each, {len(references[0]):,} segments"
    return [
        commands(references, systems, metrics, size),
        with_meteor(size),
        *(exchanges(references, systems, metrics, size, threads) for threads in (None, 1)),
    ]


def quietly(*arguments: Any, **settings: Any) -> RunComparison:
    """``compare_runs`` without the warning that one of the systems is a copy."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InputWarning)
        return compare_runs(*arguments, **settings)


def commands(
    references: list[list[str]], systems: Mapping[str, list[list[str]]], metrics: list[NativeMetric], size: str
) -> Race:
    """The whole evaluation without METEOR, beside sacreBLEU's counting."""

    def counted() -> list[float]:
        bleu, ter = BLEU(tokenize="none", force=True), TER()
        means = []
        for outputs in systems.values():
            for lines in outputs:
                ter._extract_corpus_statistics(lines, references)
            statistics = [bleu._extract_corpus_statistics(lines, references) for lines in outputs]
            means.append(float(np.mean([bleu._aggregate_and_compute(of_run).score for of_run in statistics])))
        return means

    def compared(threads: int | None = None) -> list[float]:
        result = quietly(references, systems, metrics, exchange="multeval", n_resamples=N_RESAMPLES, workers=threads)
        return [system.scores["BLEU"].mean for system in result.systems]

    return Race(
        f"{size}: BLEU, TER, length",
        [
            Contender(COUNTED, call(counted, forget_tokens), at_most=1),
            Contender(
                f"{RESHUFFLE}: python -m reshuffle.compat.multeval",
                within(multeval("--metrics", "bleu", "ter", "length"), SECONDS),
                target=1,
            ),
            Contender(f"{RESHUFFLE}: compare_runs, texts read", within(call(compared), SECONDS), target=1),
            Contender(f"{ONE_THREAD}: compare_runs, texts read", call(lambda: compared(1))),
        ],
        same_means,
    )


def with_meteor(size: str) -> Race:
    """The whole evaluation with METEOR."""
    what, jar = f"{size}: BLEU, METEOR, TER, length", find_jar()
    if jar is None:
        missing = "set RESHUFFLE_METEOR_JAR to the path of meteor-1.5.jar, or install pycocoevalcap"
        return Race(what, [Skipped("METEOR", missing)], same_means)
    options = ("--metrics", "bleu", "meteor", "ter", "length", "--meteor.language=en", f"--meteor.jar={jar}")
    ours = Contender(
        f"{RESHUFFLE}: python -m reshuffle.compat.multeval", within(multeval(*options), SECONDS_WITH_METEOR)
    )
    return Race(what, [ours], same_means)


def exchanges(
    references: list[list[str]],
    systems: Mapping[str, list[list[str]]],
    metrics: list[NativeMetric],
    size: str,
    threads: int | None,
) -> Race:
    """Each unit of exchange on counts: two pairs, three metrics, s_sel and everything else included."""
    outputs = {f"{name}#{run}": lines for name, of_system in systems.items() for run, lines in enumerate(of_system)}
    names = list(outputs)
    counts = [
        FromCounts(each.name, dict(zip(names, each.suff_stats(references, list(outputs.values())), strict=True)), each)
        for each in metrics
    ]

    def compared(exchange: str) -> dict[tuple[str, str], float]:
        result = quietly(
            None,
            {name: len(of_system) for name, of_system in systems.items()},
            counts,
            exchange=exchange,
            n_resamples=N_RESAMPLES,
            workers=threads,
        )
        return {(each.system, each.metric): each.difference for each in result.comparisons if each.exchange == exchange}

    def contender(exchange: str) -> Contender:
        return Contender(
            f"{RESHUFFLE if threads is None else ONE_THREAD}: {exchange}", call(lambda: compared(exchange))
        )

    return Race(f"{size}: exchange of counted outputs", [contender(each) for each in EXCHANGES], same_differences)


def same_differences(expected: Mapping[Any, float], *others: Mapping[Any, float]) -> None:
    """Check that differences of scores do not depend on the unit."""
    for actual in others:
        if actual != expected:
            raise DisagreementError(f"differences differ: {expected} and {actual}")
