"""Type-I error and coverage, by minutes of simulation on real outputs: ``python -m pytest -m slow -s``.

docs/evidence quotes the figures printed here.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import pytest
import scipy.stats
from numpy.typing import NDArray

from reshuffle import (
    Corpus,
    Gandy,
    InputError,
    SegmentScores,
    _core,
    approximate_randomization,
    bootstrap_test,
    compare,
    metric,
)
from reshuffle.inference.estimates import MEANS, Estimate
from reshuffle.inference.hypotheses import Hypotheses
from reshuffle.inference.intervals import INTERVALS
from reshuffle.inference.plan import Plan
from reshuffle.inference.running import run_tests
from reshuffle.metrics.base import Counts, Metric
from reshuffle.resampling import CountSample, Replicates
from reshuffle.resampling.units import Strata
from reshuffle.results import clopper_pearson
from reshuffle.settings import ComparisonSettings, Resampling, Units

pytestmark = pytest.mark.slow

SIMULATIONS = 4000
SIMULATIONS_OF_INTERVALS = 3000
SEGMENTS = 500
LEVELS = (0.1, 0.05, 0.01)
BLEU = metric("bleu")


@pytest.fixture(scope="module")
def pair(wmt17: Corpus) -> Counts:
    """The counts of two close systems."""
    names = ("KIT.4950", "RWTH-nmt-ensemble.4921")
    return BLEU.suff_stats(wmt17.references, [wmt17.systems[name] for name in names])


def null_pvalues(pair: Counts, test: Callable[[Counts, Counts, int], float]) -> NDArray[np.float64]:
    """p-values under the null hypothesis: a random subset of segments, the two outputs of each swapped at random."""
    rng = np.random.default_rng(2005)
    pvalues = []
    for simulation in range(SIMULATIONS):
        subset = pair[:, rng.choice(pair.shape[1], SEGMENTS, replace=False)]
        swap = rng.integers(2, size=SEGMENTS, dtype=bool)[:, None]
        a, b = np.where(swap, subset[1], subset[0]), np.where(swap, subset[0], subset[1])
        pvalues.append(test(a, b, simulation))
    return np.array(pvalues)


def report(name: str, pvalues: NDArray[np.float64]) -> list[float]:
    """Print and return the rejection rate at each level."""
    rates = []
    for level in LEVELS:
        rejected = int((pvalues <= level).sum())
        interval = clopper_pearson(rejected, len(pvalues))
        rates.append(rejected / len(pvalues))
        print(f"{name}: {rates[-1]:.3f} at {level} (95 % interval {interval.low:.3f} to {interval.high:.3f})")
    return rates


# The options of approximate randomization, a bootstrap test, or a test of means.
NOMINAL: dict[str, dict[str, Any]] = {
    "ar": {"n_resamples": 999},
    "subgroup": {"n_resamples": 1024, "scheme": "subgroup"},
    "besag-clifford": {"n_resamples": 9999, "stopping": "besag-clifford"},
    "gandy": {"n_resamples": 99_999, "stopping": "gandy"},
    "t-test": {},
    "wilcoxon": {},
    "sign-test": {},
}
# Expected ranges of the rejection rate at .05 of tests that are not exact, with room for the simulation's own error.
BOUNDS = {
    "bootstrap": (0.035, 0.065),
    "bootstrap-percentile": (0.035, 0.065),
    "bootstrap-both": (0.035, 0.065),
    "bootstrap-shift": (0.09, 0.13),
    "paired-bootstrap": (0.085, 0.125),
}


@pytest.mark.parametrize("name", [*NOMINAL, *BOUNDS])
def test_tests_of_a_pair_have_the_documented_type_i_error(pair: Counts, name: str) -> None:
    used: list[int] = []
    undecided = 0

    def pvalue(a: Counts, b: Counts, seed: int) -> float:
        nonlocal undecided
        if name in BOUNDS:
            return float(bootstrap_test(a, b, BLEU, test=name, n_resamples=999, seed=seed).pvalue)
        if NOMINAL[name]:
            result = approximate_randomization(a, b, BLEU, seed=seed, **NOMINAL[name])
            used.append(result.n_resamples or 0)
            undecided += result.stopping is not None and not result.stopping.stopped
            return float(result.pvalue)
        scores = SegmentScores("BLEU of segments", {"b": BLEU.segment_scores(b), "a": BLEU.segment_scores(a)})
        return float(compare(metrics=scores, test=name, interval="t").comparisons[0].test.pvalue)

    pvalues = null_pvalues(pair, pvalue)
    rates = dict(zip(LEVELS, report(name, pvalues), strict=True))
    if name in BOUNDS:
        low, high = BOUNDS[name]
        assert low < rates[0.05] < high
    for level in () if name in BOUNDS else (0.05,) if name == "gandy" else LEVELS:
        assert abs(rates[level] - level) < 4 * (level * (1 - level) / SIMULATIONS) ** 0.5
    if name in ("ar", "subgroup"):
        # p-values are uniform throughout, not only in the tail: Kolmogorov-Smirnov at about 1e-4.
        grid = (np.arange(SIMULATIONS) + 1) / SIMULATIONS
        assert np.abs(np.sort(pvalues) - grid).max() < 2.2 / SIMULATIONS**0.5
    if "stopping" in NOMINAL.get(name, {}):
        print(f"shuffles used: median {np.median(used):.0f}, mean {np.mean(used):.0f}; {undecided} undecided")


@pytest.mark.parametrize("p", [0.03, 0.04, 0.045, 0.05, 0.055, 0.06, 0.08])
def test_gandy_stopping_decides_wrongly_with_at_most_the_stated_risk(p: float) -> None:
    rng = np.random.default_rng(2009)
    tests, cap, risk = 20_000, 20_480, 0.001
    tally = _core.SequentialTally([(0, 1)] * tests, "greater", np.ones((1, tests)), Gandy(0.05, risk).core())
    feed = _core.Feed([tally], 2, n=cap)
    for _ in range(cap // 512):
        feed.update((rng.random((tests, 512), dtype=np.float32) < p).astype(float), range(tests))
    (found,) = feed.results()
    shuffles, exceedances, decided = (array[0] for array in found.outcomes)
    wrong = int((decided & ((exceedances > 0.05 * shuffles) != (p > 0.05))).sum())
    print(
        f"gandy, p = {p}: {wrong} of {tests} decided for the wrong side, {1 - decided.mean():.4f} undecided after "
        f"{cap} shuffles, {shuffles.mean():.0f} shuffles on average"
    )
    assert wrong <= scipy.stats.binom.ppf(0.9999, tests, risk)


@pytest.mark.parametrize("segments", [100, 500])
@pytest.mark.parametrize("statistic", ["corpus", "mean"])
def test_intervals_have_the_documented_coverage(pair: Counts, statistic: str, segments: int) -> None:
    """95% intervals for BLEU, and for the mean of sentence BLEU, on samples from a set whose score is known."""
    rng = np.random.default_rng(2004)
    m: Metric = BLEU
    if statistic == "mean":
        m = SegmentScores("BLEU of segments", list(BLEU.segment_scores(pair)))
        pair = m.counts_of(list(m.counts))
    scores = m.score(pair.sum(axis=1))
    truth = scores[0], scores[0] - scores[1]
    covered = {name: np.zeros(2) for name in INTERVALS if statistic == "mean" or INTERVALS[name].kind != MEANS}
    for simulation in range(SIMULATIONS_OF_INTERVALS):
        drawn = pair[:, rng.integers(pair.shape[1], size=segments)]
        replicates = Replicates([CountSample.from_counts(m, drawn)], Resampling(999, simulation))
        of_score, of_difference = Estimate(replicates, 0, 0), Estimate(replicates, 0, 0, 1)
        for name, counts in covered.items():
            ends = [INTERVALS[name].confidence_interval(estimate, 0.95) for estimate in (of_score, of_difference)]
            counts += [i.low <= true <= i.high for i, true in zip(ends, truth, strict=True)]
    rates = {name: counts / SIMULATIONS_OF_INTERVALS for name, counts in covered.items()}
    for name, (score, difference) in rates.items():
        print(f"coverage, {statistic}, {segments} segments, {name}: score {score:.3f}, difference {difference:.3f}")
    low = 0.92 if segments == 100 else 0.935
    assert all(low < rate < 0.97 for both in rates.values() for rate in both)


# Expected ranges of the rejection rates at .05 with 40 documents: ``ar`` on segments, and ``ar`` on documents.
SEGMENT_RATES = {0.0: (0.035, 0.065), 0.02: (0.065, 0.11), 0.05: (0.105, 0.155), 0.1: (0.18, 0.235), 0.2: (0.27, 0.34)}
DOCUMENT_RATES = (0.037, 0.064)


def null_pvalues_of_documents(icc: float, documents: int, method: str, by_document: bool) -> NDArray[np.float64]:
    """p-values for normal paired differences with mean 0 and correlation ``icc`` within documents."""
    rng = np.random.default_rng(2012)
    ids = np.repeat(np.arange(documents), 15)
    pvalues = []
    for simulation in range(SIMULATIONS):
        of_documents, of_segments = rng.normal(size=documents), rng.normal(size=len(ids))
        differences = icc**0.5 * of_documents[ids] + (1 - icc) ** 0.5 * of_segments
        scores = SegmentScores("difference", {"a": np.round(differences, 3), "b": np.zeros(len(ids))})
        # These simulations measure Monte Carlo shuffles; the default scheme would test some samples exactly.
        is_ar = method == "ar"
        test = partial(approximate_randomization, scheme="iid") if is_ar else partial(bootstrap_test, test=method)
        options: dict[str, Any] = {"documents": ids if by_document else None, "n_resamples": 999, "seed": simulation}
        pvalues.append(test(scores.counts["a"], scores.counts["b"], scores, **options).pvalue)
    return np.array(pvalues)


@pytest.mark.parametrize("icc", SEGMENT_RATES)
def test_type_i_error_is_nominal_for_documents_and_too_high_for_correlated_segments(icc: float) -> None:
    _, of_segments, _ = report(f"ar, segments, ICC {icc}", null_pvalues_of_documents(icc, 40, "ar", False))
    _, of_documents, _ = report(f"ar, documents, ICC {icc}", null_pvalues_of_documents(icc, 40, "ar", True))
    assert SEGMENT_RATES[icc][0] < of_segments < SEGMENT_RATES[icc][1]
    assert DOCUMENT_RATES[0] < of_documents < DOCUMENT_RATES[1]


@pytest.mark.parametrize("documents", [10, 20, 40, 80])
def test_bootstrap_tests_need_more_documents_than_approximate_randomization(documents: int) -> None:
    rates = {
        m: report(f"{m}, {documents} documents", null_pvalues_of_documents(0.1, documents, m, True))[1]
        for m in ("ar", "bootstrap", "bootstrap-percentile", "bootstrap-both")
    }
    assert DOCUMENT_RATES[0] < rates["ar"] < DOCUMENT_RATES[1]
    assert DOCUMENT_RATES[0] < rates["bootstrap-both"] <= min(rates["bootstrap"], rates["bootstrap-percentile"])
    assert max(rates["bootstrap"], rates["bootstrap-percentile"]) < 0.12


@pytest.mark.parametrize("size", [30, 10, 2])
def test_intervals_within_strata_are_narrower_and_cover_unless_strata_are_small(size: int) -> None:
    """95% intervals of a mean where strata differ as much as the segments within one, with and without strata."""
    rng = np.random.default_rng(1997)
    n_strata = 120 // size
    ids = np.repeat(np.arange(n_strata), size)
    means = np.linspace(-1, 1, n_strata)[ids]
    means /= means.std()
    found: dict[tuple[str, bool], list[tuple[bool, float]]] = {}
    for simulation in range(1500):
        # Somewhat skewed, as scores are: a gamma distribution with a variance of 1.
        values = means + (rng.gamma(16, size=len(ids)) - 16) / 4
        scores = SegmentScores("score", {"a": np.round(values, 3)})
        for strata in (None, ids):
            sample = CountSample.from_arrays(scores, scores.counts["a"], units=Units(strata=strata))
            estimate = Estimate(Replicates([sample], Resampling(999, simulation)), 0, 0)
            for name in ("percentile", "bca", "delta"):
                interval = INTERVALS[name].confidence_interval(estimate, 0.95)
                is_covered = interval.low <= 0 <= interval.high
                found.setdefault((name, strata is not None), []).append((is_covered, interval.high - interval.low))
    rates = {key: np.mean(both, axis=0) for key, both in found.items()}
    for name in ("percentile", "bca", "delta"):
        (without, wide), (within, narrow) = rates[name, False], rates[name, True]
        print(
            f"{n_strata} strata of {size}, {name}: coverage {without:.3f} without, {within:.3f} within; "
            f"width {wide:.3f} without, {narrow:.3f} within"
        )
        assert without > 0.98
        if name == "delta":
            assert 0.93 < within < 0.965
            assert narrow / wide == pytest.approx(0.5**0.5, rel=0.02)
        else:
            # The draws' variance is (S_h - 1)/S_h of the true one, and coverage falls accordingly.
            shorter = ((size - 1) / size) ** 0.5
            assert narrow / wide == pytest.approx(0.5**0.5 * shorter, rel=0.02)
            assert within == pytest.approx(math.erf(1.96 * shorter / 2**0.5), abs=0.025)


SIMULATIONS_OF_SMALL_SAMPLES = 4000
# Of 999 draws, the interval koehn has the same ends as percentile.
INTERVALS_OF_SMALL_SAMPLES = ("percentile", "bca", "studentized", "delta", "t")
TESTS_OF_SMALL_SAMPLES = ("ar", "bootstrap", "bootstrap-percentile", "bootstrap-both")
# Segments of the documents into which the test set is cut.
UNEQUAL_DOCUMENTS = (2, 4, 8, 12, 20, 30, 60)


def documents_of(pair: Counts, sizes: Sequence[int]) -> Counts:
    """The sums of consecutive segments, in documents of these sizes, one after another: (systems, documents, K)."""
    ends = list(itertools.accumulate(itertools.islice(itertools.cycle(sizes), pair.shape[1])))
    starts = [0, *(end for end in ends if end <= pair.shape[1])]
    return np.add.reduceat(pair[:, : starts[-1]], starts[:-1], axis=1)


def population(pair: Counts, statistic: str, units: str) -> tuple[Metric, Counts, int]:
    """The metric, the counts that samples are drawn from (systems, strata, units, K), and the units of a stratum."""
    size = int(units.split()[0])
    if statistic == "mean":
        scores = SegmentScores("BLEU of segments", list(BLEU.segment_scores(pair)))
        return scores, scores.counts_of(list(scores.counts))[:, None], size
    if "documents" in units:
        return BLEU, documents_of(pair, [15] if units.endswith("of 15") else UNEQUAL_DOCUMENTS)[:, None], size
    if units.endswith("strata of 10"):
        # Strata of short, middle and long segments.
        by_length = np.argsort(pair[0, :, BLEU.columns.index("ref_len")], kind="stable")
        equal = by_length[: pair.shape[1] // size * size].reshape(size, -1)
        return BLEU, pair[:, equal], 10
    return BLEU, pair[:, None], size


@pytest.mark.parametrize(
    ("statistic", "units"),
    [
        *((statistic, f"{n} segments") for statistic in ("BLEU", "mean") for n in (10, 30, 100)),
        ("BLEU", "10 documents of 15"),
        ("BLEU", "10 unequal documents"),
        ("BLEU", "3 strata of 10"),
    ],
)
def test_small_samples_have_the_documented_coverage_and_type_i_error(pair: Counts, statistic: str, units: str) -> None:
    """95% intervals on samples of a set whose score is known, and tests of random swaps in them: rows of two tables."""
    m, counts, size = population(pair, statistic, units)
    strata = None if counts.shape[1] == 1 else Strata(np.repeat(np.arange(counts.shape[1]), size))
    scores = m.score(counts.sum(axis=(1, 2)))
    truth = scores[0], scores[0] - scores[1]
    without = ({"t"} if statistic != "mean" else set()) | ({"studentized"} if strata else set())
    covered = {name: np.zeros(2) for name in INTERVALS_OF_SMALL_SAMPLES if name not in without}
    refused, rejected = 0, dict.fromkeys(TESTS_OF_SMALL_SAMPLES, 0)
    rng = np.random.default_rng(2012)
    for simulation in range(SIMULATIONS_OF_SMALL_SAMPLES):
        chosen = rng.integers(counts.shape[2], size=(counts.shape[1], size))
        rows = counts[:, np.arange(len(chosen))[:, None], chosen].reshape(2, chosen.size, -1)
        resampling = Resampling(999, simulation, 1)
        replicates = Replicates([CountSample.from_counts(m, rows, strata=strata)], resampling)
        for name, inside in covered.items():
            for index, estimate in enumerate((Estimate(replicates, 0, 0), Estimate(replicates, 0, 0, 1))):
                try:
                    low, high = INTERVALS[name].ends(estimate, 0.95)
                except InputError as error:
                    if "the studentized interval is infinite" not in str(error):
                        raise
                    refused += 1
                    low, high = -math.inf, math.inf
                inside[index] += low <= truth[index] <= high
        swap = np.asarray(rng.integers(2, size=rows.shape[1], dtype=bool))[:, None]
        swapped = np.where(swap, rows[::-1], rows)
        null = Replicates([CountSample.from_counts(m, swapped, strata=strata)], resampling)
        for name in rejected:
            plan = Plan.from_settings(ComparisonSettings(test=name))
            rejected[name] += run_tests(plan, [null], Hypotheses.from_pairs([(0, 1)])).pvalue[0] <= 0.05
    n = SIMULATIONS_OF_SMALL_SAMPLES
    rates = {name: inside / n for name, inside in covered.items()}
    sizes = {name: count / n for name, count in rejected.items()}
    title = f"{statistic}, {units}"
    shown = ["–" if name not in rates else cell(*rates[name]) for name in INTERVALS_OF_SMALL_SAMPLES]
    print(f"\n| {' | '.join([title, *shown])} |")
    print(f"| {' | '.join([title, *map(cell, sizes.values())])} |")
    if refused:
        print(f"{title}: {refused} studentized intervals are infinite")
    # Four standard errors of the simulation.
    assert sizes["ar"] < 0.05 + 4 * (0.05 * 0.95 / n) ** 0.5
    assert all(0.75 < rate < 0.99 for both in rates.values() for rate in both)


def cell(*rates: float) -> str:
    """Rates as docs/evidence writes them."""
    return " / ".join(f"{rate:.3f}".removeprefix("0") for rate in rates)
