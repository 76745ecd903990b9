"""Cases of resampling: the counts are given, so that nothing but shuffles, draws and scores is timed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import sacrebleu.significance
from sacrebleu.metrics.bleu import BLEU

from agreement import Array, Outcome, same_outcomes
from data import BASELINE, OTHER, Texts
from races import Contender, Race, call
from reshuffle import approximate_randomization, bootstrap_test, metric
from rivals import ONE_THREAD, RESHUFFLE, SACREBLEU

__all__ = ["SHUFFLES", "ar", "bootstrap", "vectorised"]

SHUFFLES = 10_000
DRAWS = 1_000
SEED = 12345


def pair(texts: Texts) -> tuple[Array, Array]:
    """The counts of two systems."""
    a, b = metric("bleu").suff_stats([texts.systems[OTHER], texts.systems[BASELINE]], texts.references)
    # SciPy is imported at the first p-value. A command pays for that, and `command` counts it; a call does not.
    approximate_randomization(a, b, "bleu", n_resamples=1)
    return a, b


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


def ar(texts: Texts) -> list[Race]:
    """Approximate randomization of one pair with the counts given is the kernel that the package is about; the rival
    is sacreBLEU's own test, which holds all flips in memory and scores shuffles one by one."""
    a, b = pair(texts)
    contenders = [
        Contender(SACREBLEU, call(sacrebleu_test(sacrebleu.significance._paired_ar_test, a, b, SHUFFLES))),
        Contender(RESHUFFLE, call(reshuffle_ar(a, b)), target=200),
        Contender(ONE_THREAD, call(reshuffle_ar(a, b, threads=1))),
    ]
    return [Race(f"one pair, {SHUFFLES:,} shuffles", contenders, same_outcomes)]


def bootstrap(texts: Texts) -> list[Race]:
    """The paired bootstrap (with shift, as sacreBLEU has it) of one pair with the counts given: draws cost more than
    shuffles, for a segment may come any number of times where a shuffle decides between two."""
    a, b = pair(texts)
    contenders = [
        Contender(SACREBLEU, call(sacrebleu_test(sacrebleu.significance._paired_bs_test, a, b, DRAWS))),
        Contender(RESHUFFLE, call(reshuffle_bootstrap(a, b)), target=50),
        Contender(ONE_THREAD, call(reshuffle_bootstrap(a, b, threads=1))),
    ]
    return [Race(f"one pair, {DRAWS:,} draws", contenders, same_outcomes)]


def vectorised(texts: Texts) -> list[Race]:
    """The same two tests against vectorised numpy with BLAS, to tell how much of the gain is not Python's loop over
    replicates; there is no target."""
    a, b = pair(texts)
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
