"""The bootstrap test with least favourable lengths, its interval, and the note near the kink of the brevity penalty."""

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.integrate
import scipy.stats

from known import known
from reshuffle import Comparison, FromCounts, compare, metric
from reshuffle.inference.estimates import Estimate
from reshuffle.inference.hypotheses import Hypotheses
from reshuffle.inference.intervals import INTERVALS
from reshuffle.inference.kink import DIRECTIONS, INNER, LEVELS, NEAR_KINK, SHARES, SHIFT, brevity_of, is_near_kink
from reshuffle.inference.plan import Plan
from reshuffle.inference.running import run_tests
from reshuffle.inference.tests import TESTS
from reshuffle.metrics.base import Counts, Scores
from reshuffle.report.caveats import worded
from reshuffle.resampling import CountSample, Replicates, resampler_of_sums
from reshuffle.settings import ComparisonSettings, Resampling, Units
from told import assert_raises

BLEU = metric("bleu")
SEGMENTS, DRAWS = 120, 299
AUTO = Plan.from_settings(ComparisonSettings(test="auto"))


def outputs(n: int, seed: int, length: float, cut: float = 0.0) -> Counts:
    """The counts of BLEU of two outputs, (2, n, 10). The second is the first without some unmatched words."""
    rng = np.random.default_rng(seed)
    reference = rng.poisson(15, n) + 10
    first = np.maximum(5, reference + np.rint(rng.normal(0, 2, n) + (length - 1) * reference).astype(int))
    second = first - rng.binomial(1, min(1.0, cut * first.mean()), n)
    matches = np.rint(first[:, None] * rng.uniform(0.8, 1.2, (n, 1)) * np.array([0.5, 0.28, 0.16, 0.09])).astype(int)

    def rows(hypothesis: Counts) -> Counts:
        totals = hypothesis[:, None] - np.arange(4)
        return np.column_stack([hypothesis, reference, np.minimum(matches, totals), totals])

    return np.stack([rows(first), rows(second)])


def population(length: float, cut: float) -> Counts:
    """Two outputs of many segments with equal BLEU."""
    return thinned(outputs(20_000, 1, length, cut), 0.0)


def of_equal_expectations(length: float, cut: float, segments: int) -> Counts:
    """Two outputs of many segments whose expected BLEU of S segments is equal."""
    counts, rng = population(length, cut), np.random.default_rng(3)
    picked = [rng.integers(counts.shape[1], size=(100, segments)) for _ in range(40)]
    found = [np.subtract(*BLEU.score(counts[:, each].sum(axis=2))) for each in picked]
    return thinned(outputs(20_000, 1, length, cut), -float(np.mean(found)))


def thinned(counts: Counts, difference: float) -> Counts:
    """Two outputs with this difference of BLEU: matches of one of them are taken away."""
    scores = BLEU.score(counts.sum(axis=1))
    which = int(scores[0] - scores[1] < difference)
    wanted = scores[1] + difference if which == 0 else scores[0] - difference
    order = np.random.default_rng(2).permutation(np.flatnonzero(counts[which, :, 2] > counts[which, :, 3]))
    totals = np.repeat(counts[which].sum(axis=0)[None], len(order) + 1, axis=0)
    totals[:, 2] -= np.arange(len(order) + 1)
    counts[which, order[: np.abs(BLEU.score(totals) - wanted).argmin()], 2] -= 1
    return counts


def systems(counts: Counts, *more: Counts) -> FromCounts:
    rows = {"long": counts[0], "short": counts[1], **{f"other {i}": other for i, other in enumerate(more)}}
    return FromCounts("BLEU", rows, "bleu")


def drawn(counts: Counts, seed: int = 7, draws: int = DRAWS, **units: Any) -> Replicates:
    sample = CountSample.from_arrays(BLEU, counts[0], counts[1], Units(**units))
    return Replicates([sample], Resampling(draws, seed))


def p_of(replicates: Replicates, test: str = "bootstrap-kink", alternative: str = "two-sided") -> tuple[float, int]:
    """p of a test, and its number of exceedances."""
    plan = AUTO if test == "auto" else Plan(TESTS[test], alternative)
    outcome = run_tests(plan, [replicates], Hypotheses.from_pairs([(0, 1)]))
    return float(outcome.pvalue[0]), int(outcome.exceedances[0])


# A slow implementation of the definitions, place by place and draw by draw.


def excess(totals: Counts) -> Scores:
    return 1 - totals[..., 1] / totals[..., 0]


def places_by_level(x: Scores, drawn_x: Scores) -> dict[float, list[tuple[float, float]]]:
    """The places that each region adds."""
    covariance = np.cov(drawn_x.T, bias=True)
    s = np.sqrt(np.diag(covariance))
    apart = math.acos(covariance[0, 1] / (s[0] * s[1]))
    angles = [2 * math.pi * step / DIRECTIONS for step in range(DIRECTIONS)]
    found = {}
    for level in LEVELS:
        radii = [*(INNER if level == 1 else []), math.sqrt(2 * math.log(SHARES / level))]
        found[level] = [
            (x[0] + r * s[0] * math.cos(t), x[1] + r * s[1] * math.cos(t - apart)) for r in radii for t in angles
        ]
    return found


def twin_deviations(place: tuple[float, float], x: Scores, drawn_x: Scores, drawn_scores: Scores, d: float) -> Scores:
    """The deviation of every draw if the populations were at a place."""
    deviations = []
    for scores, own in zip(drawn_scores, drawn_x, strict=True):
        kept = [
            score * math.exp((min(0, at + mine - here) - min(0, at)) - (min(0, mine) - min(0, here)))
            for score, mine, here, at in zip(scores, own, x, place, strict=True)
        ]
        deviations.append(kept[0] - kept[1] - d)
    return np.array(deviations)


def twin(replicates: Replicates, counts: Counts, alternative: str) -> int:
    """c of p, from the definition: the smallest level at which the test rejects, as a multiple of 1/(R + 1)."""
    resampler, batches = resampler_of_sums("draws", counts), replicates.batches(50, "drawing")
    totals = np.concatenate([batch.sums(resampler).reshape(batch.n, 2, -1) for batch in batches])
    observed = counts.sum(axis=1)
    x, drawn_x = excess(observed), excess(totals)
    scores, drawn_scores = BLEU.score(observed), BLEU.score(totals)
    d, n = scores[0] - scores[1], len(totals) + 1
    slack = 16 * np.spacing(scores.max())

    def count(deviations: Scores) -> int:
        sign = {"greater": 1, "less": -1}.get(alternative)
        far, limit = (abs(deviations), abs(d)) if sign is None else (sign * deviations, sign * d)
        return int((far >= limit - slack).sum())

    most = count(drawn_scores[:, 0] - drawn_scores[:, 1] - d)
    candidates = [n]
    for level, places in places_by_level(x, drawn_x).items():
        most = max([most, *(count(twin_deviations(place, x, drawn_x, drawn_scores, d)) for place in places)])
        without_share = math.ceil(Fraction(most + 1) / (1 - Fraction(1, SHARES)))
        candidates.append(max(without_share, 1, math.floor(level * n + 1e-9)))
    return min(candidates) - 1


@pytest.mark.parametrize(
    ("length", "cut", "alternative"),
    [(1.0, 0.003, "two-sided"), (1.0, 0.003, "less"), (1.01, 0.01, "greater"), (0.99, 0.02, "less")],
)
def test_p_is_that_of_the_definition(length: float, cut: float, alternative: str) -> None:
    counts = outputs(SEGMENTS, 5, length, cut)
    rng = np.random.default_rng(3)
    counts[1, :, 2] -= rng.binomial(np.minimum(1, counts[1, :, 2] - counts[1, :, 3]), 0.2)
    replicates = drawn(counts, draws=99)
    p, exceedances = p_of(replicates, alternative=alternative)
    assert exceedances == twin(replicates, counts, alternative)
    assert p == (exceedances + 1) / 100


def test_without_a_kink_it_is_the_centred_bootstrap() -> None:
    words, rng = "a b c d e f g h".split(), np.random.default_rng(4)
    references, x, y = ([" ".join(rng.choice(words, 6)) for _ in range(40)] for _ in range(3))
    metrics = ["chrf", "ter", "length", "nist", "wer", "gtm"]
    one, other = (
        compare(references, {"x": x, "y": y}, metrics, test=test, interval=None, n_resamples=199).comparisons
        for test in ("bootstrap", "bootstrap-kink")
    )
    assert [pair.test.pvalue for pair in one] == [pair.test.pvalue for pair in other]
    assert {metric(name).kink for name in metrics} == {None}


def test_outputs_without_words_are_compared_as_by_the_centred_bootstrap() -> None:
    counts = outputs(SEGMENTS, 2, 1.0)
    counts[1, :, [0, *range(2, 10)]] = 0
    replicates = drawn(counts)
    assert p_of(replicates) == p_of(replicates, "bootstrap")
    counts = outputs(6, 2, 1.0)
    counts[1, 1:, [0, *range(2, 10)]] = 0  # some draws have no words
    assert 0 < p_of(drawn(counts))[0] <= 1


def test_threads_documents_and_strata() -> None:
    counts = outputs(SEGMENTS, 2, 1.0, 0.01)
    external = systems(counts)
    options: dict[str, Any] = {"test": "bootstrap-kink", "interval": "bootstrap-kink", "n_resamples": 499}
    one = compare(metrics=external, workers=1, **options)
    assert compare(metrics=external, workers=2, **options) == one
    ids = [i // 2 for i in range(SEGMENTS)]
    by_document = compare(metrics=external, documents=ids, **options).comparisons[0].test
    summed = counts.reshape(2, -1, 2, 10).sum(axis=2)
    assert by_document.pvalue == p_of(drawn(summed[::-1].copy(), 12345, 499))[0]
    ids = [i % 2 for i in range(SEGMENTS)]
    stratified = compare(metrics=external, strata=ids, **options).comparisons[0].test
    assert stratified.pvalue == p_of(drawn(counts[::-1].copy(), 12345, 499, strata=ids))[0]


# The interval.


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.97, 0.99])
def test_the_interval_excludes_0_exactly_when_p_is_at_most_alpha(level: float) -> None:
    outside = 0
    for seed in range(25):
        counts = outputs(SEGMENTS, seed, [0.99, 1.0, 1.2][seed % 3], 0.01)
        counts[1, : 2 * (seed % 5), 2] -= 1
        replicates = drawn(counts, seed)
        low, high = INTERVALS["bootstrap-kink"].ends(Estimate(replicates, 0, 0, 1), level)
        p = p_of(replicates)[0]
        assert (not low <= 0 <= high) == (p <= 1 - level + 1e-12)
        assert low + high == pytest.approx(2 * Estimate(replicates, 0, 0, 1).value)
        outside += not low <= 0 <= high
    assert outside > 0


def test_the_interval_of_a_tie_has_0_as_an_end() -> None:
    one = outputs(SEGMENTS, 1, 1.2)[0]
    other = one.copy()
    other[0, 2] -= 1
    low, high = INTERVALS["bootstrap-kink"].ends(Estimate(drawn(np.stack([one, other])), 0, 0, 1), 0.6)
    assert low <= 0 < high


# What is not supported.


def test_what_is_not_supported_is_refused() -> None:
    counts_of_two = systems(outputs(SEGMENTS, 2, 1.0, 0.01))
    assert_raises("python_errors_of_kink", {"compare": compare, "counts_of_two": lambda: counts_of_two})


# Size.


def sizes(counts: Counts, simulations: int, segments: int, tests: list[str]) -> dict[str, float]:
    """How often tests reject at .05, and how often the default does without the note ``near-kink``."""
    rng = np.random.default_rng(11)
    rejected = dict.fromkeys([*tests, "auto without a note"], 0)
    for seed in range(simulations):
        replicates = drawn(counts[:, rng.integers(counts.shape[1], size=segments)], seed)
        p = {test: p_of(replicates, test)[0] for test in tests}
        for test in tests:
            rejected[test] += p[test] <= 0.05
        if p.get("auto", 1) <= 0.05:
            (brevity,) = brevity_of(replicates.samples[0], [(0, 1)])
            rejected["auto without a note"] += not is_near_kink(brevity)
    return {test: n / simulations for test, n in rejected.items()}


def test_the_default_rejects_equal_scores_of_populations_near_the_kink_and_this_test_does_not() -> None:
    found = sizes(population(1.0, 0.004), 120, 200, ["bootstrap-both", "bootstrap-kink"])
    assert found["bootstrap-both"] > 0.1
    assert found["bootstrap-kink"] <= 0.03


@pytest.mark.slow
@pytest.mark.parametrize(("length", "cut"), [(1.0, 0.004), (1.0, 0.01), (1.003, 0.003), (0.99, 0.015), (1.05, 0.01)])
def test_size_at_the_kink(length: float, cut: float) -> None:
    found = sizes(population(length, cut), 1000, 500, ["bootstrap-both", "bootstrap", "bootstrap-kink"])
    print(f"lengths {length} and {length - cut}: {found}")
    assert found["bootstrap-kink"] < 0.05 + 3 * (0.05 * 0.95 / 1000) ** 0.5


@pytest.mark.slow
@pytest.mark.parametrize(("segments", "cut"), [(100, 0.002), (100, 0.006), (500, 0.002), (500, 0.006)])
def test_size_of_the_default_under_both_null_hypotheses(segments: int, cut: float) -> None:
    """At the kink, with fewer than 30 segments that differ and with more, where it rejects up to .06."""
    limit = 0.06 + 3 * (0.06 * 0.94 / 1000) ** 0.5
    of_expected = sizes(of_equal_expectations(1.0, cut, segments), 1000, segments, ["auto", "ar"])
    of_populations = sizes(population(1.0, cut), 1000, segments, ["auto", "ar"])
    print(f"{segments} segments, lengths 1.0 and {1 - cut}: {of_expected} {of_populations}")
    assert of_expected["auto"] < limit
    assert of_populations["auto without a note"] < limit
    assert of_populations["ar"] > limit


# The note.


def test_the_bias_is_that_of_the_formula() -> None:
    """The expectation of min(0, x) for a normal x, by numerical integration."""
    counts = outputs(SEGMENTS, 2, 1.005, 0.01)
    (found,) = brevity_of(drawn(counts).samples[0], [(0, 1)])
    assert found is not None
    totals = counts.sum(axis=1)
    x, scores = excess(totals), BLEU.score(totals)
    influences = [counts[i, :, 0] * totals[i, 1] / totals[i, 0] ** 2 - counts[i, :, 1] / totals[i, 0] for i in (0, 1)]
    s = [math.sqrt(SEGMENTS / (SEGMENTS - 1) * (u**2).sum()) for u in influences]  # the sum of u is 0
    assert [found.system, found.baseline] == pytest.approx([x[0] / s[0], x[1] / s[1]], rel=1e-3)
    biases = []
    for shift in np.linspace(-SHIFT, SHIFT, 81):
        both = []
        for i in (0, 1):
            mean = x[i] + shift * np.mean(s)
            grid = np.linspace(mean - 9 * s[i], mean + 9 * s[i], 20_001)
            density = scipy.stats.norm.pdf(grid, mean, s[i])
            expected = scipy.integrate.trapezoid(np.minimum(0, grid) * density, grid)
            both.append(scores[i] * (expected - min(0, mean)))
        biases.append(abs(both[0] - both[1]))
    smooth = BLEU.score(totals - np.eye(10, dtype=int)[1] * totals[:, 1:2])
    # What each segment contributes to BLEU without the brevity penalty, linearized.
    relative = counts[..., 2:] / totals[:, None, 2:]
    without = smooth[:, None] / 4 * (relative[..., :4] - relative[..., 4:]).sum(axis=-1)
    difference = without[0] - without[1]
    variance = SEGMENTS * difference.var(ddof=1)
    both_sides = CountSample.from_arrays(BLEU, *counts).linear.variance(0, 1)
    assert found.bias == pytest.approx(max(biases) / math.sqrt(min(variance, both_sides)), rel=2e-3)
    assert found.share == pytest.approx(
        (min(0, x[0]) - min(0, x[1])) / (math.log(scores[0]) - math.log(scores[1])), rel=1e-3
    )


def near(length: float, cut: float, **options: Any) -> Comparison:
    return compare(metrics=systems(outputs(500, 2, length, cut)), n_resamples=999, **options)


def kinds(comparison: Comparison) -> dict[str, Any]:
    return {caveat.kind: caveat for caveat in comparison.caveats}


def test_the_note_near_the_kink_is_in_the_report() -> None:
    found = near(1.0, 0.01)
    caveat = kinds(found)["near-kink"]
    brevity = known(found.comparisons[0].brevity)
    assert caveat.values["bias"] == brevity.bias >= NEAR_KINK
    assert "near-kink" in found.comparisons[0].caveats
    assert (
        "BLEU: the output of long is about as long as the references, where the brevity penalty sets in, so the "
        "test may reject too often and the interval may exclude 0 too often: compare with test='bootstrap-kink' and "
        "interval='bootstrap-kink'."
    ) in " ".join(str(found).split())
    of_several = {**caveat.values, "tests": 120, "lengths": (0.4, 8.0), "interval": False, "swaps": "ar"}
    assert worded(replace(caveat, values=of_several), for_command=True) == (
        "BLEU: for 1 of 120 pairs (short and long), the output of short is about as long as the references, where the "
        "brevity penalty sets in, so ar may reject too often: compare these two alone, with --test bootstrap-kink."
    )
    assert worded(replace(caveat, values={**of_several, "pairs": 7})).startswith(
        "BLEU: for 7 of 120 pairs, outputs are about as long as the references (worst: short and long), where the "
    )


def test_there_is_no_note_where_neither_p_nor_the_interval_shows_a_difference() -> None:
    """bootstrap-kink rejects less often, so it would change nothing."""
    significant, other = (near(1.0, cut, interval=None).comparisons[0] for cut in (0.01, 0.004))
    assert other.test.pvalue > 0.05 >= significant.test.pvalue
    assert is_near_kink(other.brevity)
    assert ("near-kink" in significant.caveats, "near-kink" in other.caveats) == (True, False)
    caveat = kinds(near(1.0, 0.004))["near-kink"]
    assert (caveat.values["test"], caveat.values["interval"]) == (False, True)


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"interval": None}, "so the test may reject too often: compare with test"),
        ({"test": "bootstrap-kink"}, "so the interval may exclude 0 too often: compare with interval"),
        ({"test": "bootstrap-both"}, "so the test may reject too often and the interval may"),
        ({"test": "ar"}, "so ar may reject too often and the interval may"),
        ({"test": "bootstrap-kink", "interval": "bootstrap-kink"}, None),
        ({"test": "bootstrap-kink", "interval": None}, None),
    ],
)
def test_the_note_names_what_may_be_wrong(options: dict[str, Any], what: str | None) -> None:
    found = near(1.0, 0.01, **options)
    assert ("near-kink" in kinds(found)) == (what is not None)
    assert (what or "") in " ".join(str(found).split())


# The default for outputs that differ in few segments.


def with_few(seed: int, *more: Counts, cut: float = 0.004, **options: Any) -> Comparison:
    return compare(metrics=systems(outputs(100, seed, 1.0, cut), *more), n_resamples=999, **options)


@pytest.mark.parametrize("alternative", ["two-sided", "better", "worse"])
@pytest.mark.parametrize("seed", range(4))
def test_the_larger_p_decides_where_few_segments_differ(seed: int, alternative: str) -> None:
    by_default, *by_name = (
        with_few(seed, test=test, alternative=alternative).comparisons[0].test
        for test in ("auto", "ar", "bootstrap-kink")
    )
    assert by_default == max(by_name, key=lambda test: test.pvalue)


def test_swaps_decide_where_their_p_is_larger() -> None:
    """With four segments that differ, no p is below 1/8."""
    counts = outputs(100, 1, 1.0)
    counts[1, :4, [0, 6, 7, 8, 9]] -= 2
    counts[1, :4, 2:6] -= [3, 1, 1, 1]
    found, kink = (compare(metrics=systems(counts), n_resamples=999, test=test) for test in ("auto", "bootstrap-kink"))
    (pair,) = found.comparisons
    assert (pair.test.test, pair.test.scheme, pair.test.pvalue) == ("ar", "exact", 1 / 8)
    assert kink.comparisons[0].test.pvalue < 1 / 8
    assert kinds(found)["few-differing"].values["at_kink"] == 1
    assert "few-units" in pair.caveats


def test_the_notes_say_what_holds_for_the_test_that_decided() -> None:
    found = with_few(1)
    assert found.comparisons[0].test.test == "bootstrap-kink"
    assert (
        "so p is that of approximate randomization (ar) or, as both are about as long as the references, that of "
        "bootstrap-kink, whichever is larger." in " ".join(str(found).split())
    )
    assert "not-exchangeable" not in found.comparisons[0].caveats
    assert "test:auto" in found.signature
    assert "p is the larger one of those of ar and bootstrap-kink." in " ".join(found.methods_sentence().split())


@pytest.mark.parametrize("adjust", ["auto", "holm"])
def test_adjusted_p_of_such_pairs(adjust: str) -> None:
    other = outputs(100, 9, 1.0)[0]
    own, ar, kink = (
        with_few(1, other, all_pairs=True, test=t, adjust=a, interval=None)
        for t, a in (("auto", adjust), ("ar", "none"), ("bootstrap-kink", "none"))
    )
    (at,) = (i for i, pair in enumerate(own.comparisons) if {pair.system, pair.baseline} == {"long", "short"})
    test, *alone = (each.comparisons[at].test for each in (own, ar, kink))
    assert test.pvalue == max(each.pvalue for each in alone)
    assert known(test.adjusted_pvalue) >= min(1, (3 if adjust == "auto" else 1) * test.pvalue)
    assert {pair.test.test for i, pair in enumerate(own.comparisons) if i != at} == {"bootstrap-both"}
    assert "few-differing" in kinds(own)


def test_where_all_pairs_differ_in_few_segments_near_the_kink() -> None:
    third = outputs(100, 1, 1.0, 0.004)[1]
    own, ar, kink = (
        with_few(1, third, cut=0.002, all_pairs=True, interval=None, test=test, adjust=adjust)
        for test, adjust in (("auto", "auto"), ("ar", "auto"), ("bootstrap-kink", "none"))
    )
    assert own.test == ar.test
    for found, by_swaps, at_kink in zip(own.comparisons, ar.comparisons, kink.comparisons, strict=True):
        assert found.test.pvalue == max(by_swaps.test.pvalue, at_kink.test.pvalue)
        assert found.test.adjusted_pvalue == max(by_swaps.test.adjusted_pvalue or 0, min(1, 3 * found.test.pvalue))
