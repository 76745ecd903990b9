"""Cases of resampling from precomputed counts: the times are those of shuffles, draws and scores only."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import sacrebleu.significance
import scipy.stats
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER

from benches.data import BASELINE, OTHER, Array, Texts
from reshuffle import FromCounts, SegmentScores, _core, approximate_randomization, bootstrap_test, compare, metric

from ..agreement import Outcome, same_outcomes
from ..race import Contender, Race, call
from ..rivals import ONE_THREAD, RESHUFFLE, SACREBLEU, name

__all__ = ["SEED", "SHUFFLES", "ar", "bootstrap", "pair", "pairs", "sacrebleu_test", "scipys", "vectorized"]

# Replicates of the other tools, and those of reshuffle in roughly a thousandth of the time; times are per replicate.
SHUFFLES, OUR_SHUFFLES = 10_000, 100_000
DRAWS, OUR_DRAWS = 1_000, 100_000
SEED = 12345
SIMD = _core.simd()


def pair(texts: Texts, key: str = "bleu") -> tuple[Array, Array]:
    """The counts of two systems."""
    a, b = metric(key).suff_stats(texts.references, [texts.systems[OTHER], texts.systems[BASELINE]])
    # SciPy is imported for the first p-value. The case `command` includes the import; these cases do not.
    approximate_randomization(a, b, key, n_resamples=1)
    return a, b


RIVALS = {"bleu": BLEU, "chrf": CHRF, "ter": TER}


def sacrebleu_test(test: Callable[..., Any], a: Array, b: Array, n: int, key: str = "bleu") -> Callable[[], Outcome]:
    """One of sacreBLEU's own paired tests on precomputed counts.

    The tests take texts and count them first. That one step is replaced by one that returns the counts in its format, a
    list of lists of integers; everything else is sacreBLEU's code.
    """
    rival = RIVALS[key]()
    counts, baseline_counts = a.tolist(), b.tolist()
    vars(rival)["_extract_corpus_statistics"] = lambda hypotheses, references: counts
    baseline = rival._aggregate_and_compute(baseline_counts).score
    info = {key: (baseline_counts, sacrebleu.significance.Result(baseline))}
    segments = [""] * len(counts)  # only their number is used

    def run() -> Outcome:
        _, results = test(info, "system", segments, None, {key: rival}, n_samples=n, seed=SEED)
        return Outcome(results[key].score - baseline, results[key].p_value, n)

    return run


def reshuffle_ar(a: Array, b: Array, threads: int | None = None, key: str = "bleu") -> Callable[[], Outcome]:
    """Approximate randomization with the scheme ``iid``, as ``auto`` may find an exact p-value without any shuffles."""
    options: dict[str, Any] = {"scheme": "iid", "n_resamples": OUR_SHUFFLES, "seed": SEED, "workers": threads}

    def run() -> Outcome:
        result = approximate_randomization(a, b, metric(key), **options)
        return Outcome(result.statistic, result.pvalue, OUR_SHUFFLES)

    return run


def reshuffle_bootstrap(a: Array, b: Array, threads: int | None = None) -> Callable[[], Outcome]:
    """The bootstrap test that sacreBLEU implements."""

    def run() -> Outcome:
        bleu = metric("bleu")
        result = bootstrap_test(a, b, bleu, test="bootstrap-shift", n_resamples=OUR_DRAWS, seed=SEED, workers=threads)
        return Outcome(result.statistic, result.pvalue, OUR_DRAWS)

    return run


def numpy_bleu(totals: Array) -> Array:
    """BLEU with exponential smoothing of (R, 10) summed counts: both lengths, then matches and n-grams per order.

    It assumes that there are n-grams of all four orders, as in any corpus.
    """
    length, reference, matches, ngrams = np.split(totals, [1, 2, 6], axis=1)
    halved = 0.5 ** np.cumsum(matches == 0, axis=1)
    precisions = np.where(matches > 0, matches, halved) / ngrams
    brevity = np.minimum(0, 1 - reference / length)[:, 0]
    return np.asarray(100 * np.exp(brevity + np.log(precisions).mean(axis=1)))


def numpy_ar(a: Array, b: Array) -> Callable[[], Outcome]:
    """Approximate randomization with numpy: blocks of flips times a − b through BLAS.

    Unpacking bits from raw 64-bit values took a quarter of the time of ``rng.integers(2)``, and blocks of 500 were
    faster than smaller or larger ones. Sums stay below 2²⁴, so float32 is exact.
    """
    block, segments = 500, len(a)
    n_values = -(-segments // 64)
    difference = (a - b).astype(np.float32)
    total_a, total_b = a.sum(axis=0), b.sum(axis=0)

    def run() -> Outcome:
        source = np.random.SFC64(SEED)
        (observed,) = numpy_bleu(total_a[None]) - numpy_bleu(total_b[None])
        reached = 0
        for first in range(0, SHUFFLES, block):
            size = min(block, SHUFFLES - first)
            raw = source.random_raw(size * n_values).view(np.uint8).reshape(size, -1)
            flips = np.unpackbits(raw, axis=1, count=segments).astype(np.float32)
            shift = (flips @ difference).astype(np.float64)
            shuffled = numpy_bleu(total_a - shift) - numpy_bleu(total_b + shift)
            reached += int((np.abs(shuffled) >= abs(observed)).sum())
        return Outcome(float(observed), (reached + 1) / (SHUFFLES + 1), SHUFFLES)

    return run


def numpy_bootstrap(a: Array, b: Array) -> Callable[[], Outcome]:
    """The bootstrap with shift, with numpy: how often each segment is drawn, times the counts, through BLAS.

    ``bincount`` of offset indices took a sixth of the time of gathering rows and a tenth of that of
    ``rng.multinomial``; blocks of 50 were the fastest.
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


def contenders(theirs: Contender, ours: Callable[..., Callable[[], Any]], n: int, target: float) -> list[Contender]:
    """Another tool, and reshuffle on all cores and on one thread, each with its number of replicates.

    Targets are for processors with AVX2 or AVX-512.
    """
    return [
        theirs,
        Contender(RESHUFFLE, call(ours()), target=None if SIMD == "portable" else target, things=n),
        Contender(ONE_THREAD, call(ours(threads=1)), things=n),
    ]


def ar(texts: Texts) -> list[Race]:
    """Shows the speed of the central kernel, approximate randomization of one pair from precomputed counts, per
    shuffle. sacreBLEU's own test holds all flips in memory and scores shuffles one by one; it makes 10,000 of them,
    reshuffle 100,000."""
    races = []
    for key, target in [("bleu", 800 if SIMD == "avx2" else 1000), ("chrf", 500), ("ter", 500)]:
        a, b = pair(texts, key)
        theirs = sacrebleu_test(sacrebleu.significance._paired_ar_test, a, b, SHUFFLES, key)
        rival = Contender(SACREBLEU, call(theirs), at_most=3, things=SHUFFLES)
        ours = partial(reshuffle_ar, a, b, key=key)
        what = f"one pair, {metric(key).name}, per shuffle"
        races.append(Race(what, contenders(rival, ours, OUR_SHUFFLES, target), same_outcomes))
    return races


def bootstrap(texts: Texts) -> list[Race]:
    """Shows the speed of the paired bootstrap (with shift, as in sacreBLEU) of one pair from precomputed counts, per
    draw; sacreBLEU makes 1,000 draws, reshuffle 100,000. Draws cost more than shuffles, as a segment can be drawn any
    number of times, while a shuffle has only two choices."""
    a, b = pair(texts)
    theirs = sacrebleu_test(sacrebleu.significance._paired_bs_test, a, b, DRAWS)
    rival = Contender(SACREBLEU, call(theirs), things=DRAWS)
    ours = partial(reshuffle_bootstrap, a, b)
    return [Race("one pair, BLEU, per draw", contenders(rival, ours, OUR_DRAWS, 150), same_outcomes)]


def pairs(texts: Texts) -> list[Race]:
    """Shows the gain from sharing work: all 120 pairs of sixteen systems (BLEU, 10,000 shuffles) use the same flips and
    one sum per system; times are per pair and shuffle. sacreBLEU tests one pair at a time, so one pair stands for
    each."""
    names = [OTHER, BASELINE, *(name for name in texts.systems if name not in (OTHER, BASELINE))]
    rows = metric("bleu").suff_stats(texts.references, [texts.systems[name] for name in names])
    counts = dict(zip(names, rows, strict=True))
    theirs = sacrebleu_test(sacrebleu.significance._paired_ar_test, counts[OTHER], counts[BASELINE], SHUFFLES)
    n_pairs = len(counts) * (len(counts) - 1) // 2
    options: dict[str, Any] = {"test": "ar:scheme=iid", "all_pairs": True, "interval": None, "adjust": None}

    def ours(threads: int | None = None) -> Callable[[], Outcome]:
        def run() -> Outcome:
            metrics = FromCounts("bleu", counts, "bleu")
            result = compare(metrics=metrics, n_resamples=SHUFFLES, seed=SEED, workers=threads, **options)
            first = result.comparisons[0].test  # of BASELINE minus OTHER
            return Outcome(-first.statistic, first.pvalue, SHUFFLES)

        return run

    rival = Contender(SACREBLEU, call(theirs), at_most=3, things=SHUFFLES)
    what = f"{n_pairs} pairs, {SHUFFLES:,} shuffles, per pair and shuffle"
    return [Race(what, contenders(rival, ours, SHUFFLES * n_pairs, 5000), same_outcomes)]


def scipys(texts: Texts) -> list[Race]:
    """Shows SciPy's permutation test of a mean (of sentence BLEU) on the same data, vectorized and in batches that fit
    the cache, per shuffle."""
    bleu = metric("bleu")
    scores = bleu.segment_scores(bleu.suff_stats(texts.references, [texts.systems[OTHER], texts.systems[BASELINE]]))
    external = SegmentScores("sentence BLEU", {"a": scores[0], "b": scores[1]})

    def theirs() -> Outcome:
        def statistic(x: Array, y: Array, axis: int) -> Array:
            return np.asarray((x - y).mean(axis=axis))

        options: dict[str, Any] = {"permutation_type": "samples", "n_resamples": SHUFFLES, "batch": 50}
        result = scipy.stats.permutation_test(tuple(scores), statistic, vectorized=True, rng=SEED, **options)
        return Outcome(float(result.statistic), float(result.pvalue), SHUFFLES)

    def ours(threads: int | None = None) -> Callable[[], Outcome]:
        options: dict[str, Any] = {"scheme": "iid", "n_resamples": OUR_SHUFFLES, "seed": SEED, "workers": threads}

        def run() -> Outcome:
            result = approximate_randomization(external.counts["a"], external.counts["b"], external, **options)
            return Outcome(result.statistic, result.pvalue, OUR_SHUFFLES)

        return run

    rival = Contender(name("scipy").replace("scipy", "SciPy"), call(theirs), at_most=3, things=SHUFFLES)
    return [Race("mean, one pair, per shuffle", contenders(rival, ours, OUR_SHUFFLES, 100), same_outcomes)]


def vectorized(texts: Texts) -> list[Race]:
    """Shows how much of the gain is not due to avoiding Python's loop over replicates: the same two tests against
    vectorized numpy with BLAS, per replicate."""
    a, b = pair(texts)
    numpy_races = [
        ("AR, BLEU, per shuffle", numpy_ar, SHUFFLES, reshuffle_ar, OUR_SHUFFLES, 15),
        ("bootstrap, BLEU, per draw", numpy_bootstrap, DRAWS, reshuffle_bootstrap, OUR_DRAWS, 8),
    ]
    return [
        Race(
            what,
            contenders(Contender(name("numpy"), call(theirs(a, b)), things=n), partial(ours, a, b), our_n, target),
            same_outcomes,
        )
        for what, theirs, n, ours, our_n, target in numpy_races
    ]
