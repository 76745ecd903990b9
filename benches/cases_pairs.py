"""Cases of many pairs of systems: whole comparisons from precomputed counts, through the public functions."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import import_module
from itertools import combinations
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import sacrebleu.significance

from agreement import Array, Outcome, same_outcomes, same_pvalues, same_scores
from cases_resampling import SEED, SHUFFLES, contenders, pair, sacrebleu_test
from data import BASELINE, OTHER, Texts
from races import Contender, Measurement, Race, call, command
from reshuffle import (
    FromCounts,
    InputError,
    Metric,
    SegmentScores,
    approximate_randomization,
    compare,
    metric,
    standard_error,
)
from reshuffle.results import Comparison
from rivals import ONE_THREAD, RESHUFFLE, SACREBLEU

__all__ = ["auto", "delta", "families", "maxt", "pairs"]

SMALL = 500
MANY_SYSTEMS = 100

Problem: TypeAlias = tuple[Array, Array, Metric]


def counted(texts: Texts, key: str) -> dict[str, Array]:
    """The counts of all systems, beginning with OTHER and BASELINE, whose difference is not significant."""
    names = [OTHER, BASELINE, *(name for name in texts.systems if name not in (OTHER, BASELINE))]
    counts = metric(key).suff_stats([texts.systems[name] for name in names], texts.references)
    return dict(zip(names, counts, strict=True))


def all_pairs(key: str, counts: Mapping[str, Array], **options: Any) -> Callable[[], Comparison]:
    """A comparison of all pairs by approximate randomization, without intervals and adjustment unless the options add
    them."""
    external = FromCounts(key, counts, key)
    arguments = {
        "test": "ar",
        "scheme": "iid",
        "interval": no_interval(),
        "n_resamples": SHUFFLES,
        "seed": SEED,
        "all_pairs": True,
        "adjust": None,
        **options,
    }
    return lambda: compare(metrics=external, **arguments)


def no_interval() -> str | None:
    """The value of ``interval`` that makes no intervals. The earliest builds do not accept None; for them, an interval
    that costs nothing is added to the registry."""
    try:
        compare(metrics=SegmentScores("score", [[0, 1], [0, 1]]), n_resamples=1, interval=None)
    except InputError:
        intervals = import_module("reshuffle.intervals")  # where the earliest builds have it
        free: Any = intervals.Interval("none", "none", "none", "none", lambda *_: (0.0, 0.0), draws=False)
        registry: Any = intervals.INTERVALS
        registry["none"] = free
        return "none"
    return None


def pairs(texts: Texts) -> list[Race]:
    """Shows the gain from sharing work: all 120 pairs of sixteen systems (BLEU, 10,000 shuffles) use the same flips and
    one sum per system; times are per pair and shuffle. sacreBLEU tests one pair at a time, so one pair stands for
    each."""
    counts = counted(texts, "bleu")
    theirs = sacrebleu_test(sacrebleu.significance._paired_ar_test, counts[OTHER], counts[BASELINE], SHUFFLES)
    n_pairs = len(counts) * (len(counts) - 1) // 2

    def ours(threads: int | None = None) -> Callable[[], Outcome]:
        run = all_pairs("bleu", counts, threads=threads)

        def outcome() -> Outcome:
            first = run().comparisons[0].test  # of BASELINE minus OTHER
            return Outcome(-first.statistic, first.pvalue, SHUFFLES)

        return outcome

    rival = Contender(SACREBLEU, call(theirs), at_most=3, things=SHUFFLES)
    what = f"{n_pairs} pairs, {SHUFFLES:,} shuffles, per pair and shuffle"
    return [Race(what, contenders(rival, ours, SHUFFLES * n_pairs, 5000), same_outcomes)]


def same_comparisons(expected: Comparison, *others: Comparison) -> None:
    """Check for the same differences and, within Monte Carlo error, the same unadjusted p-values."""
    for actual in others:
        for one, other in zip(expected.comparisons, actual.comparisons, strict=True):
            same_scores(one.difference, other.difference)
            same_pvalues(one.test.pvalue, SHUFFLES, other.test.pvalue, SHUFFLES)


def auto(texts: Texts) -> list[Race]:
    """Compares the cost of the default scheme ``auto`` with that of ``iid``: for 120 pairs by TER, which differ in one
    column, and for one pair of 500 segments that differs in one column. The aim is a ratio close to 1, as an exact
    p-value should not make users wait."""
    counts = counted(texts, "ter")
    n_pairs = len(counts) * (len(counts) - 1) // 2
    races = [
        Race(
            f"{n_pairs} pairs, TER, {name.removeprefix(RESHUFFLE).lstrip(', ') or 'all cores'}",
            [
                Contender(f"{name}, iid", call(all_pairs("ter", counts, threads=threads))),
                Contender(f"{name}, auto", call(all_pairs("ter", counts, scheme="auto", threads=threads)), target=0.9),
            ],
            same_comparisons,
        )
        for name, threads in ((RESHUFFLE, None), (ONE_THREAD, 1))
    ]
    # One column of BLEU, and human ratings in tenths of a point: their sum has 160 times as many possible values.
    a, b = (counts[:SMALL].copy() for counts in pair(texts))
    column = metric("bleu").columns.index("match_2")
    b[:, [c for c in range(b.shape[1]) if c != column]] = np.delete(a, column, axis=1)
    ratings = np.round(np.random.default_rng(SEED).normal(80, 15, (2, SMALL)).clip(0, 100), 1)
    external = SegmentScores("ratings", list(ratings))
    x, y = external.counts.values()
    problems: list[tuple[str, Problem]] = [("BLEU", (a, b, metric("bleu"))), ("ratings", (x, y, external))]
    for what, problem in problems:
        for n in (999, SHUFFLES):
            schemes = [
                Contender(f"{ONE_THREAD}, iid", call(run_one_pair(problem, "iid", n))),
                Contender(f"{ONE_THREAD}, auto", call(run_one_pair(problem, "auto", n)), target=0.9),
            ]
            label = f"one pair of {SMALL} segments that differs in one column, {what}, R = {n:,}"
            races.append(Race(label, schemes, same_outcomes))
    return races


def run_one_pair(problem: Problem, scheme: str, n: int) -> Callable[[], Outcome]:
    """Approximate randomization of (a, b, metric) with a scheme."""
    options: dict[str, Any] = {"scheme": scheme, "n_resamples": n, "seed": SEED, "threads": 1}

    def run() -> Outcome:
        result = approximate_randomization(*problem, **options)
        return Outcome(result.statistic, result.pvalue, n)

    return run


def maxt(texts: Texts) -> list[Race]:
    """Shows the cost of p-values adjusted by maxT for all 120 pairs of sixteen systems (BLEU, 10,000 shuffles),
    compared with unadjusted ones: a second pass over the shuffles standardizes each statistic by the spread found in
    the first."""
    counts = counted(texts, "bleu")
    n_pairs = len(counts) * (len(counts) - 1) // 2
    return [
        Race(
            f"{n_pairs} pairs, BLEU, {SHUFFLES:,} shuffles",
            [
                Contender(f"{RESHUFFLE}, p alone", call(all_pairs("bleu", counts))),
                Contender(f"{RESHUFFLE}, maxT", call(all_pairs("bleu", counts, adjust="maxt"))),
                Contender(f"{ONE_THREAD}, p alone", call(all_pairs("bleu", counts, threads=1))),
                Contender(f"{ONE_THREAD}, maxT", call(all_pairs("bleu", counts, adjust="maxt", threads=1))),
            ],
            same_comparisons,
        )
    ]


def families(texts: Texts) -> list[Race]:
    """Shows the cost of maxT where it is largest (10,000 shuffles, 3,000 segments). With studentized differences every
    pair has sums of its own: all 28 pairs of eight systems, compared with as many tests of a single pair by ``ar``. The
    aim is at most four times as long. Then plain differences for all 4,950 pairs of 100 systems under three metrics
    (BLEU, chrF, TER), in families by metric and in one family. The aims are 25 seconds and 1 GiB on two cores; the time
    is that of the comparison without counting, the peak that of the process."""
    shorter = Texts(texts.files, [lines[:3000] for lines in texts.references], {})
    systems = {name: lines[:3000] for name, lines in texts.systems.items()}
    races = []
    for key in ("bleu", "chrf"):
        counts = dict(list(counted(shorter._replace(systems=systems), key).items())[:8])
        both = [{x: counts[x], y: counts[y]} for x, y in combinations(counts, 2)]
        for name, threads in ((RESHUFFLE, None), (ONE_THREAD, 1)):
            one_by_one = [all_pairs(key, pair_of, threads=threads) for pair_of in both]
            together = all_pairs(key, counts, test="ar-studentized", adjust="maxt", threads=threads)
            race = [
                Contender(f"{name}, ar, pair by pair", call(partial(differences, one_by_one))),
                Contender(f"{name}, ar-studentized, maxT", call(partial(differences, [together])), target=0.25),
            ]
            races.append(Race(f"{len(both)} pairs, {key}, {name}", race, same_scores))

    def hundred(family: str) -> Callable[[], Measurement]:
        whole = command(sys.executable, str(Path(__file__).parent / "hundred.py"), family)

        def measure() -> Measurement:
            measured = whole()
            remark = f"{measured.outcome['tests']:,} tests"
            return Measurement(measured.outcome["seconds"], measured.outcome["mean"], measured.peak, remark)

        return measure

    def less_often(of_metric: float, of_all: float) -> None:
        assert of_metric < of_all, "a larger family must have larger adjusted p-values"

    contenders = [Contender(f"{RESHUFFLE}, family {name}", hundred(name), at_most=3) for name in ("metric", "all")]
    return [*races, Race(f"{MANY_SYSTEMS} systems, three metrics", contenders, less_often)]


def differences(comparisons: Sequence[Callable[[], Comparison]]) -> list[float]:
    """The differences that these comparisons test, in order of size."""
    return sorted(abs(pair.difference) for run in comparisons for pair in run().comparisons)


def synthetic_systems(counts: Mapping[str, Array], n: int) -> dict[str, Array]:
    """n different systems: real ones, and mixtures in which every m-th segment comes from the next system."""
    real = list(counts.values())
    segments = np.arange(len(real[0]))
    mixed = (
        np.where((segments % (i // len(real) + 1) == 0)[:, None], real[(i + 1) % len(real)], real[i % len(real)])
        for i in range(len(real), n)
    )
    return {f"system {i}": rows for i, rows in enumerate([*real, *mixed], 1)}


def delta(texts: Texts) -> list[Race]:
    """Shows the cost of delta-method intervals for all 4,950 pairs of 100 systems (BLEU, one thread, time per pair): 99
    pairs one by one, then whole comparisons with one shuffle, with and without intervals. The difference between the
    last two is the cost of the intervals."""
    counts = synthetic_systems(counted(texts, "bleu"), MANY_SYSTEMS)
    first, *rest = counts.values()
    bleu = metric("bleu")
    n_pairs = MANY_SYSTEMS * (MANY_SYSTEMS - 1) // 2

    def one_by_one() -> list[float]:
        return [standard_error(other, bleu, b=first, threads=1) for other in rest]

    # The comparison computes the ends of intervals from standard errors and stores them in its records.
    options: dict[str, Any] = {"n_resamples": 1, "threads": 1}
    intervals = all_pairs("bleu", counts, interval="delta", **options)

    def errors_of_the_first() -> list[float]:
        quantile = 1.959963984540054  # the .975 quantile of the normal distribution
        found = [pair.confidence_interval for pair in intervals().comparisons[: len(rest)]]
        return [(interval.high - interval.low) / 2 / quantile for interval in found if interval is not None]

    def nothing() -> None:
        all_pairs("bleu", counts, **options)()

    def same(expected: list[float], actual: list[float], _: None) -> None:
        same_scores(expected, actual)

    rows = [
        Contender(f"{ONE_THREAD}, pair by pair", call(one_by_one), at_most=3, things=len(rest)),
        Contender(f"{ONE_THREAD}, a comparison with intervals", call(errors_of_the_first), things=n_pairs),
        Contender(f"{ONE_THREAD}, without intervals", call(nothing), things=n_pairs),
    ]
    return [Race(f"{n_pairs:,} pairs, per pair", rows, same)]
