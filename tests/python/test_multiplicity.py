"""Adjusted p-values: their definitions, what ``adjust="auto"`` stands for, simultaneous intervals, and ``anova``."""

import math
from collections.abc import Callable, Sequence
from html import unescape
from itertools import combinations
from typing import Any

import numpy as np
import pytest
import scipy.integrate
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import calls
from budgets import budget
from counts import bleu_counts
from known import ends, known
from margins import OF_DIFFERENCES, chosen, with_margins
from pages import markup
from reshuffle import (
    Comparison,
    CorpusFunction,
    Formula,
    FromCounts,
    InputError,
    SegmentScores,
    bootstrap_interval,
    bootstrap_test,
    compare,
    metric,
    score,
)
from reshuffle.inference import step_down as module
from reshuffle.inference.anova import studentized_range_isf, studentized_range_sf
from reshuffle.inference.hypotheses import Hypotheses, Observed
from reshuffle.inference.multiplicity import ADJUSTMENTS
from reshuffle.inference.plan import Plan
from reshuffle.inference.running import run_on_test_set
from reshuffle.inference.tests import TESTS
from reshuffle.metrics.base import Counts, Scores
from reshuffle.report import render
from reshuffle.resampling import CountSample, MaxT, MinP, Replicates, Series, Spread, TextSample, extremeness
from reshuffle.resampling.schemes import SCHEMES, Shuffling
from reshuffle.resampling.stopping import STOPPING
from reshuffle.settings import Resampling
from step_down import step_down
from texts import translations
from told import assert_raises

BLEU = metric("bleu")
PAIRS = [(1, 0), (2, 0), (3, 0), (3, 1)]
ALTERNATIVES = ["two-sided", "greater", "less"]
UNITS = 60
# How far the systems are apart under each metric; "easy" has many stars, "noisy" has few.
METRICS = {"easy": 4.0, "noisy": 1.5}


def scores(name: str, k: int, n: int = UNITS) -> SegmentScores:
    rng = np.random.default_rng(sum(map(ord, name)))
    values = {f"s{i}": np.round(rng.normal(50 + i * METRICS[name], 10, n), 1) for i in range(k)}
    return SegmentScores(name, values)


def compared(k: int = 3, metrics: tuple[str, ...] = ("easy",), n: int = UNITS, **options: Any) -> Comparison:
    """All pairs of k systems under these metrics."""
    defaults = {"test": "ar", "n_resamples": 199, "interval": None, "all_pairs": True}
    return compare(metrics=[scores(name, k, n) for name in metrics], **{**defaults, **options})


def adjustment(comparison: Comparison) -> str | None:
    return known(comparison.test).adjustment


def pvalues(comparison: Comparison) -> list[float]:
    return [pair.test.pvalue for pair in comparison.comparisons]


def adjusted(comparison: Comparison) -> list[Any]:
    return [pair.test.adjusted_pvalue for pair in comparison.comparisons]


def kinds(comparison: Comparison) -> list[str]:
    """The kinds of the caveats, but for one that every star has on so few segments."""
    return [caveat.kind for caveat in comparison.caveats if caveat.kind != "rare-segments"]


def words(comparison: Comparison, fmt: str = "text") -> str:
    return " ".join(unescape(markup(render(comparison, fmt))).split())


def counts_of(seed: int, systems: int, segments: int) -> Counts:
    """Counts of synthetic BLEU systems, each better than the one before; the third is a copy of the first."""
    counts = bleu_counts(seed, systems, segments, 0.01)
    if systems > 2:
        counts[2] = counts[0]
    return counts


def scales_by_hand(draws: Scores, observed: float, by_side: bool) -> tuple[float, float]:
    """The scales of the deviations below and above the observed difference, 0 if all draws are equal."""
    if len(set(draws)) == 1:
        return 0.0, 0.0
    spread = float(np.std(draws))
    below, above = (
        float(np.sqrt(2 * sum((draw - observed) ** 2 for draw in side) / len(draws)))
        for side in (draws[draws < observed], draws[draws > observed])
    )
    return (below or spread, above or spread) if by_side else (spread, spread)


def max_t_of_draws_by_hand(
    draws: Scores, observed: list[float], alternative: str, by_side: bool
) -> tuple[list[float], list[float]]:
    """Adjusted p-values from the (pairs, R) differences on the draws and the observed ones, and how extreme these are.

    Draw by draw, from the definition: (1 + #{r: the largest deviation of this and all less extreme pairs reaches the
    observed one})/(R + 1), then the running maximum. Deviations d_b − d are divided by their standard deviation; with
    ``by_side`` they are d − d_b, divided by the root mean square of those on the same side of d.
    """

    def standardized(value: float, se: float) -> float:
        extreme = {"two-sided": abs(value), "greater": value, "less": -value}[alternative]
        return extreme / se if se > 0 else np.copysign(np.inf, extreme) if value else 0.0

    spreads = [scales_by_hand(row, d, by_side) for row, d in zip(draws, observed, strict=True)]
    # 0 lies below a positive difference.
    reach = [standardized(d, spread[int(d <= 0)]) for d, spread in zip(observed, spreads, strict=True)]
    sign = -1 if by_side else 1
    order = sorted(range(len(observed)), key=lambda j: (-reach[j], j))
    largest, adjusted = 0.0, [0.0] * len(order)
    for place, j in enumerate(order):
        # A pair whose draws are all equal to a difference other than 0 never counts.
        counted = [i for i in order[place:] if spreads[i][0] > 0 or observed[i] == 0]
        count = 0
        for r in range(draws.shape[1]):
            deviations = [
                standardized(sign * (draws[i, r] - observed[i]), spreads[i][int(draws[i, r] > observed[i])])
                for i in counted
            ]
            count += reach[j] == -np.inf or any(t >= reach[j] - 1e-12 for t in deviations)
        adjusted[j] = largest = max(largest, (count + 1) / (draws.shape[1] + 1))
    return adjusted, reach


# The core's own scores, as a formula in Python.
IN_PYTHON = Formula("the same", BLEU.score)
# A formula in which systems can differ by the same amount in every draw.
LINEAR = Formula("linear", lambda totals: totals[..., 0] / 64)


@pytest.mark.parametrize("metric_", ["bleu", "python", "constant"])
@pytest.mark.parametrize("test", ["bootstrap", "bootstrap-percentile", "bootstrap-both"])
@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_max_t_of_draws_follows_its_definition(alternative: str, test: str, metric_: str) -> None:
    for seed in range(2):
        counts, pairs = counts_of(seed, 4, 60), PAIRS
        if metric_ == "constant":
            column, other = (np.random.default_rng(seed + more).integers(0, 9, 64) for more in (0, 9))
            counts, pairs = np.stack([column, column + seed, column, other])[:, :, None], [*PAIRS, (0, 1)]
        chosen = {"bleu": BLEU, "python": IN_PYTHON, "constant": LINEAR}[metric_]
        replicates = Replicates([CountSample.from_counts(chosen, counts)], Resampling(200, seed))
        (scores,), totals = replicates.draws, replicates.samples[0].scores
        draws = np.array([scores[a] - scores[b] for a, b in pairs])
        observed = [float(totals[a] - totals[b]) for a, b in pairs]
        by_side = {"bootstrap": [False], "bootstrap-percentile": [True], "bootstrap-both": [False, True]}[test]
        by_hand = [max_t_of_draws_by_hand(draws, observed, alternative, each) for each in by_side]
        expected, reach = np.max([p for p, _ in by_hand], axis=0), by_hand[0][1]
        plan = Plan(TESTS[test], alternative, adjustment=ADJUSTMENTS["maxt"])
        outcome = run_on_test_set(plan, replicates, Hypotheses.from_pairs(pairs))
        found = known(outcome.adjusted)
        np.testing.assert_allclose(found, np.maximum(expected, outcome.pvalue))
        assert found[1] == 1  # two identical systems
        if test == "bootstrap":
            # The step of each pair counts its own draws too, in the way in which its test counts them.
            np.testing.assert_allclose(found, expected)
        if metric_ == "constant" and seed > 0:  # one pair differs by the same amount in every draw
            assert np.isinf(reach[0])
            certain = {"two-sided": 0, "greater": 0, "less": 4}[alternative]
            assert expected[certain] == 1 / 201


# --- Families that span metrics

# The tests with maxT, of which some have minP.
WITH_MAXT = [name for name, test in TESTS.items() if "maxt" in test.step_down]
COPY = metric("bleu", max_ngram_order=2)


def samples_of(seed: int, kinds: str, segments: int = 40) -> list[Any]:
    """Four systems under several metrics: n is scored in the core, p in Python, t a function of texts."""
    counts = counts_of(seed, 4, segments)
    # As texts: the number of matching words of each segment, which the function sums.
    lines = [[str(matches) for matches in rows[:, 2]] for rows in counts]
    words = CorpusFunction("words", lambda texts, _: sum(int(text) ** 2 for text in texts) / 1000)
    made = {
        "n": CountSample.from_counts(BLEU, counts),
        "m": CountSample.from_counts(COPY, counts[..., [0, 1, 2, 3, 6, 7]]),
        "p": CountSample.from_counts(IN_PYTHON, counts),
        "t": TextSample(words, lines, [lines[0]]),
    }
    return [made[kind] for kind in kinds]


def adjusted_by(
    test: str, adjust: str, samples: Sequence[Any], family: str, *, alternative: str = "two-sided", **options: Any
) -> tuple[Scores, Scores]:
    """The p-values of ``PAIRS``, and those adjusted."""
    n, pairs = options.pop("n", 150), options.pop("pairs", PAIRS)
    replicates = Replicates(samples, Resampling(n, 11, **options))
    plan = Plan(TESTS[test], alternative, adjustment=ADJUSTMENTS[adjust])
    outcome = run_on_test_set(plan, replicates, Hypotheses.from_pairs(pairs, len(samples), family=family))
    return outcome.pvalue, known(outcome.adjusted)


@pytest.mark.parametrize("adjust", ["maxt", "minp"])
@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize(
    ("kinds", "family"), [("np", "metric"), ("mn", "all"), ("pmn", "all"), ("tn", "all"), ("pt", "all")]
)
def test_families_follow_the_definition(kinds: str, family: str, alternative: str, adjust: str) -> None:
    samples = samples_of(3, kinds)
    p, got = adjusted_by("ar", adjust, samples, family, alternative=alternative)
    replicates = Replicates(samples, Resampling(150, 11))
    (series,) = replicates.run([Series()], PAIRS)
    series = series.reshape(-1, 150)
    hypotheses = Hypotheses.from_pairs(PAIRS, len(samples))
    statistic = Observed(replicates, hypotheses, alternative, Shuffling()).statistic
    extreme, observed = extremeness(series, alternative), extremeness(statistic, alternative)
    if adjust == "maxt":
        spread = np.sqrt((series**2).mean(axis=1))
        scale = np.where(spread > 0, spread, 1)
        extreme, observed = extreme / scale[:, None], observed / scale
    families = 1 if family == "all" else len(samples)
    parts = zip(np.split(extreme, families), np.split(observed, families), strict=True)
    np.testing.assert_allclose(got, np.concatenate([step_down(*part, adjust) for part in parts]))
    assert np.all(got >= p)
    if family == "metric":
        in_core, in_python = np.split(got, 2)
        np.testing.assert_array_equal(in_core, in_python)


@pytest.mark.parametrize(
    ("test", "adjust"), [(test, a) for test in WITH_MAXT for a in (*TESTS[test].step_down, "holm")]
)
def test_metrics_of_the_core_and_of_python_give_the_same_family(test: str, adjust: str) -> None:
    p, native = adjusted_by(test, adjust, samples_of(4, "mn"), "all")
    q, mixed = adjusted_by(test, adjust, samples_of(4, "mp"), "all")
    np.testing.assert_allclose(p, q)
    np.testing.assert_allclose(native, mixed)
    assert np.all(native >= p)
    _, apart = adjusted_by(test, adjust, samples_of(4, "mn"), "metric")
    assert (native > apart).any()


@pytest.mark.parametrize("kinds", ["n", "nm", "pn"])
@pytest.mark.parametrize("adjust", ["maxt", "minp"])
def test_families_over_metrics_are_the_same_for_any_number_of_threads_and_batches(
    monkeypatch: pytest.MonkeyPatch, adjust: str, kinds: str
) -> None:
    expected = [values.tobytes() for values in adjusted_by("ar", adjust, samples_of(5, kinds), "all")]
    for threads, at_once, kept in ((1, 1, 0), (2, 500, 0), (3, 1 << 24, 0), (3, 1, 1 << 22)):
        monkeypatch.setattr(module, "STATISTICS_AT_ONCE", at_once)
        monkeypatch.setattr(module, "STATISTICS_TO_KEEP", kept)
        found = adjusted_by("ar", adjust, samples_of(5, kinds), "all", threads=threads)
        assert expected == [values.tobytes() for values in found]


def test_max_t_makes_a_second_pass_only_if_the_statistics_need_too_much_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lines = [f"a{i} b{i} c{i}" for i in range(12)]
    systems = {"x": lines, **{f"y{m}": [line if i % m else "z" for i, line in enumerate(lines)] for m in (2, 3)}}
    share = CorpusFunction("share", lambda h, r: sum(a == b for a, b in zip(h, r[0], strict=True)) / len(h))
    found = []
    # The statistics of 60 shuffles of two pairs.
    for kept, passes in ((120, 1), (119, 2)):
        monkeypatch.setattr(module, "STATISTICS_TO_KEEP", kept)
        comparison = compare(lines, systems, share, test="ar", adjust="maxt", n_resamples=60, interval=None)
        # Three scores, then the passes of 60 shuffles, each with two pairs of systems.
        assert comparison.metrics[0].evaluations == 3 + passes * 60 * 2 * 2
        found.append([pair.test for pair in comparison.comparisons])
    assert found[0] == found[1]


# The adjustments of each test.
SUPPORTED = {
    test.name: [each.name for each in ADJUSTMENTS.values() if each.name in test.step_down or not each.from_replicates]
    for test in map(TESTS.__getitem__, OF_DIFFERENCES)
    if test.kind == "any"
}


@pytest.mark.parametrize("test", SUPPORTED)
def test_all_pairs_are_one_family_and_one_pair_needs_no_adjustment(test: str) -> None:
    for adjust in SUPPORTED[test]:
        several, alone = (compared(k, adjust=adjust, test=test) for k in (3, 2))
        assert None not in adjusted(several)
        sided = "one-sided" if test == "paired-bootstrap" else "two-sided"
        assert f"|alternative:{sided}|adjust:{adjust}|" in several.signature
        assert adjusted(alone) == pytest.approx(pvalues(alone), rel=1e-14)  # powers of older releases of numpy
        assert "adjusted p" not in words(alone)


def test_results_are_bitwise_equal_for_any_number_of_threads() -> None:
    counts = counts_of(9, 6, 2000)
    pairs = list(combinations(range(6), 2))

    def run(threads: int) -> list[bytes]:
        replicates = Replicates([CountSample.from_counts(BLEU, counts)], Resampling(1500, 3, threads))
        spreads, ranks = replicates.run([Spread()], pairs)[0], np.full((1, len(pairs)), 40)
        max_t = MaxT("two-sided", np.ones_like(spreads), 2 * spreads, np.arange(1))
        reductions: list[Any] = [Series(), max_t, MinP("two-sided", spreads, 0 * spreads, ranks, np.arange(1))]
        found = [replicates.run([each], pairs)[0] for each in reductions]
        summary = calls.draw_summary([(BLEU.core, counts)], n=1500, seed=3, threads=threads)
        return [array.tobytes() for array in (spreads, replicates.draws[0], *found, *summary)]

    assert run(1) == run(2) == run(3) == run(8)


# --- Adjustments of p-values


P_VALUES = st.lists(st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.01, 0.02, 0.5, 1.0])), min_size=1, max_size=6)


def closed_test(p: Scores, local: Callable[[Scores], float]) -> Scores:
    """The largest p of all intersections that contain a hypothesis: Marcus, Peritz & Gabriel 1976."""
    adjusted = np.zeros(len(p))
    for size in range(1, len(p) + 1):
        for members in combinations(range(len(p)), size):
            adjusted[list(members)] = np.maximum(adjusted[list(members)], local(p[list(members)]))
    return np.minimum(adjusted, 1)


@settings(max_examples=budget(300))
@given(P_VALUES)
def test_adjustments_of_p_values_follow_their_definitions(values: list[float]) -> None:
    p, m = np.array(values), len(values)
    ranked = np.sort(p)
    harmonic = sum(1 / j for j in range(1, m + 1))

    def step_up(factor: Callable[[int], float]) -> list[float]:
        """For each p the smallest of the scaled p-values from its rank on."""
        scaled = [factor(j) * ranked[j - 1] for j in range(1, m + 1)]
        return [min(1, *scaled[np.flatnonzero(ranked == x)[-1] :], 1) for x in p]

    expected: dict[str, Any] = {
        "bonferroni": [min(m * x, 1) for x in p],
        "holm": closed_test(p, lambda subset: len(subset) * subset.min()),
        "sidak": [1 - (1 - x) ** m for x in p],
        "hochberg": step_up(lambda j: m - j + 1),
        # Of each intersection, the p-value of Simes 1986.
        "hommel": closed_test(p, lambda own: float((len(own) * np.sort(own) / np.arange(1, len(own) + 1)).min())),
        "bh": step_up(lambda j: m / j),
        "by": step_up(lambda j: harmonic * m / j),
    }
    of_pvalues = {name: adjustment.of_pvalues for name, adjustment in ADJUSTMENTS.items() if adjustment.of_pvalues}
    assert set(of_pvalues) == set(expected)
    for name, adjust in of_pvalues.items():
        np.testing.assert_allclose(adjust(p), expected[name], rtol=1e-9, atol=1e-12, err_msg=name)
        assert (adjust(p) >= p - 1e-15).all(), name
        np.testing.assert_array_equal(adjust(p[::-1]), adjust(p)[::-1], err_msg=name)


# --- What ``auto`` stands for


@pytest.mark.parametrize("test", TESTS)
def test_auto_is_the_own_max_t_of_the_test_or_holm(test: str) -> None:
    expected = next(iter(TESTS[test].step_down), "holm")
    chosen: dict[str, Any] = {"test": with_margins(test, "easy")}
    several = compared(**chosen)
    assert adjustment(several) == expected
    assert several == compared(**chosen, adjust=expected)
    assert adjusted(several) != [None] * 3
    for raw, p in zip(pvalues(several), adjusted(several), strict=True):
        assert raw <= p <= 1
    single = compared(2, **chosen)
    assert single == compared(2, **chosen, adjust="none")
    assert (adjustment(single), adjusted(single)) == (None, [None])


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, "maxt"),
        ({"test": "ar:scheme=iid"}, "maxt"),
        ({"test": "ar:scheme=subgroup"}, "holm"),
        ({"test": "ar:scheme=exact", "n": 10}, "holm"),
        ({"test": "ar:stopping=besag-clifford"}, "holm"),
        ({"test": "ar:stopping=besag-clifford,scheme=iid"}, "holm"),
        ({"test": "ar:stopping=gandy"}, None),
        ({"k": 2, "metrics": ("easy", "noisy")}, "holm"),
        ({"k": 2, "metrics": ("easy", "noisy"), "family": "all", "test": "ar:stopping=besag-clifford"}, "holm"),
        ({"k": 2, "metrics": ("easy", "noisy"), "family": "all"}, "maxt"),
        ({"k": 2, "metrics": ("easy", "noisy"), "test": "ar:stopping=gandy"}, None),
        ({"k": 2, "family": "all"}, None),
        ({"k": 3, "all_pairs": False}, "maxt"),
    ],
)
def test_auto_depends_on_the_scheme_the_rule_and_the_number_of_comparisons(
    options: dict[str, Any], expected: str | None
) -> None:
    comparison = compared(**options)
    assert adjustment(comparison) == expected
    # A signature names no adjustment of families of one test, which changes nothing.
    is_adjusted = comparison.family_size > 1 and expected is not None
    assert ("|adjust:" in comparison.signature) == (f"|adjust:{expected}|" in comparison.signature) == is_adjusted
    if options.get("family") != "all":
        by_name = compared(**options, adjust=expected)
        assert (pvalues(comparison), adjusted(comparison)) == (pvalues(by_name), adjusted(by_name))


def message(**options: Any) -> str | None:
    try:
        compared(**options)
    except InputError as error:
        return str(error)
    return None


@pytest.mark.parametrize(("k", "family"), [(2, "metric"), (3, "all")])
@pytest.mark.parametrize("test", TESTS)
def test_auto_is_never_the_reason_of_an_error(test: str, k: int, family: str) -> None:
    every = [with_margins(test, "easy")]
    if test in ("ar", "ar-studentized"):
        every = [chosen(test, scheme=scheme, stopping=rule) for scheme in SCHEMES for rule in (None, *STOPPING)]
    for each in every:
        options: dict[str, Any] = {"k": k, "n": 8, "test": each, "n_resamples": 9}
        assert message(**options, family=family) == message(**options, adjust="none")


def test_without_an_adjustment_stars_depend_on_p() -> None:
    options: dict[str, Any] = {"k": 6, "metrics": ("noisy",), "test": "ar:scheme=iid"}
    plain = compared(**options, adjust="none")
    assert plain == compared(**options, adjust=None)
    assert adjusted(plain) == [None] * 15
    assert [pair.is_significant(0.05) for pair in plain.comparisons] == [p <= 0.05 for p in pvalues(plain)]
    default = compared(**options)
    assert [pair.is_significant(0.05) for pair in default.comparisons] == [p <= 0.05 for p in adjusted(default)]
    assert sum(p <= 0.05 for p in pvalues(plain)) > sum(p <= 0.05 for p in adjusted(default))
    assert "adjust" not in plain.signature
    for fmt in ("text", "markdown", "latex", "html"):
        assert "adjusted p" in words(default, fmt)
        assert "adjusted p" not in words(plain, fmt)
    assert "significant: adjusted p ≤ 0.05" in words(default)
    assert "significant: p ≤ 0.05" in words(plain)


# --- Families


@pytest.mark.parametrize("name", [name for name, a in ADJUSTMENTS.items() if a.of_pvalues is not None])
def test_a_family_is_the_pairs_under_a_metric_or_all_tests(name: str) -> None:
    of_pvalues = known(ADJUSTMENTS[name].of_pvalues)
    by_metric, together = (compared(metrics=("easy", "noisy"), adjust=name, family=f) for f in ("metric", "all"))
    p = np.array(pvalues(by_metric))
    assert pvalues(together) == p.tolist()
    assert adjusted(by_metric) == [*of_pvalues(p[:3]), *of_pvalues(p[3:])]
    assert adjusted(together) == of_pvalues(p).tolist()
    assert (by_metric.family_size, together.family_size) == (3, 6)
    assert f"|adjust:{name}|family:all|" in together.signature
    assert all(f"|adjust:{name}|family:all|" in pair.test.signature for pair in together.comparisons)
    assert "family" not in by_metric.signature


def test_a_family_of_all_metrics_counts_in_auto_and_in_notes() -> None:
    options: dict[str, Any] = {"metrics": ("easy", "noisy"), "adjust": "holm"}
    many: dict[str, Any] = {**options, "test": "ar:scheme=iid", "n_resamples": "auto"}
    assert compared(**many, family="all", alpha=0.01).n_resamples == 11_999
    assert compared(**many, alpha=0.001).n_resamples == 59_999
    # The smallest adjusted p is 3/100 over a metric, and 6/100 over both.
    assert "few-replicates" not in kinds(compared(**options, n_resamples=99))
    few = compared(**options, n_resamples=99, family="all")
    (caveat,) = (c for c in few.caveats if c.kind == "few-replicates")
    assert (caveat.values["family"], caveat.values["smallest"], caveat.values["enough"]) == (6, 0.06, 2399)
    assert all("few-replicates" in pair.caveats for pair in few.comparisons)
    # 2/2^7 for two sides, times 3 or 6.
    exact: dict[str, Any] = {**options, "n": 7, "test": "ar:scheme=exact"}
    assert "few-units" not in kinds(compared(**exact))
    (caveat,) = (c for c in compared(**exact, family="all").caveats if c.kind == "few-units")
    assert caveat.values["smallest"] == pytest.approx(6 / 2**6)


def test_impossible_families_and_adjustments_are_refused() -> None:
    assert_raises("python_errors_of_adjusted_by_default", globals())


# --- Simultaneous intervals: their definition, and the stars beside them


TESTS_WITH_DRAWS = ["bootstrap", "bootstrap-percentile", "bootstrap-both"]
WITH_BANDS = [*TESTS_WITH_DRAWS, "ar-studentized"]


def ratings(seed: int, systems: int = 4, segments: int = 50, step: float = 0.3) -> SegmentScores:
    """Means that differ by multiples of ``step``, with an error of about .14 for 50 segments."""
    rng = np.random.default_rng(seed)
    scores = {f"s{k}": np.round(rng.normal(step * k, 1, segments), 2) for k in range(systems)}
    return SegmentScores("rating", scores)


def bleu(seed: int, systems: int = 4, segments: int = 50) -> FromCounts:
    counts = counts_of(seed, systems, segments)
    return FromCounts("BLEU", {f"s{k}": counts[k] for k in range(systems)}, "bleu")


def with_bands(metrics: Any, **options: Any) -> Comparison:
    settings: dict[str, Any] = {"all_pairs": True, "interval": "simultaneous", "n_resamples": 199} | options
    return compare(metrics=metrics, **settings)


def excludes_0(interval: Any) -> bool:
    return not interval.low <= 0 <= interval.high


@pytest.mark.parametrize("test", WITH_BANDS)
@given(
    seed=st.integers(0, 2**32),
    systems=st.integers(2, 4),
    alpha=st.sampled_from([0.01, 0.05, 0.1, 0.32]),
    n=st.integers(199, 340),
    kind=st.sampled_from(["means", "bleu", "both"]),
    family=st.sampled_from(["metric", "all"]),
    step=st.sampled_from([0, 0.2, 0.4]),
)
def test_each_interval_that_excludes_0_has_its_star(
    test: str, seed: int, systems: int, alpha: float, n: int, kind: str, family: str, step: float
) -> None:
    means, formula = ratings(seed, systems, 20, step), bleu(seed, systems, 20)
    metrics = {"means": means, "bleu": formula, "both": [means, formula]}[kind]
    level = round(1 - alpha, 12)
    comparison = with_bands(metrics, test=test, n_resamples=n, family=family, alpha=alpha, confidence_level=level)
    for pair in comparison.comparisons:
        interval = known(pair.confidence_interval)
        assert (interval.method, interval.confidence_level) == ("simultaneous", level)
        assert interval.low <= pair.difference <= interval.high
        if excludes_0(interval):
            assert pair.is_significant(alpha)


def bands_by_hand(drawn: Counts, observed: Counts, alpha: float, by_side: bool) -> tuple[Counts, Counts]:
    """The ends of all pairs from their (pairs, R) differences on the draws and the observed ones."""
    n, deviations = drawn.shape[1], drawn - observed[:, None]
    if by_side:
        below, above = (np.sqrt(2 * (np.clip(deviations, *ends) ** 2).mean(axis=1)) for ends in ((None, 0), (0, None)))
    else:
        below = above = deviations.std(axis=1)
    largest = np.max(np.where(deviations < 0, -deviations / below[:, None], deviations / above[:, None]), axis=0)
    critical = np.sort(largest)[-int(alpha * (n + 1) + 1e-9)]
    return observed - critical * below, observed + critical * above


@pytest.mark.parametrize("test", TESTS_WITH_DRAWS)
def test_ends_from_draws_follow_their_definition(test: str) -> None:
    data, pairs = ratings(5), [(b, a) for a, b in combinations(range(4), 2)]
    comparison = with_bands(data, test=test)
    scores = [counts[:, 0] / 100 for counts in data.counts.values()]
    results = [bootstrap_test(scores[a], scores[b], n_resamples=199, keep_null_distribution=True) for a, b in pairs]
    observed = np.array([result.statistic for result in results])
    drawn = observed[:, None] + np.array([result.null_distribution for result in results])
    by_side = {"bootstrap": [False], "bootstrap-percentile": [True], "bootstrap-both": [False, True]}[test]
    ends = [bands_by_hand(drawn, observed, 0.05, each) for each in by_side]
    if test != "bootstrap":
        single = [bootstrap_interval(scores[a], b=scores[b], n_resamples=199) for a, b in pairs]
        ends.append((np.array([each.low for each in single]), np.array([each.high for each in single])))
    expected = np.min([low for low, _ in ends], axis=0), np.max([high for _, high in ends], axis=0)
    got: list[Any] = [pair.confidence_interval for pair in comparison.comparisons]
    np.testing.assert_allclose([[each.low for each in got], [each.high for each in got]], expected)
    # Wider than single intervals, but by less than Bonferroni's quantile of a normal distribution, 2.64 for six pairs.
    for each, alone in zip(got, with_bands(data, test=test, interval="percentile").comparisons, strict=True):
        own = known(alone.confidence_interval)
        assert 1 < (each.high - each.low) / (own.high - own.low) < 1.6


def test_a_family_of_one_pair_has_the_interval_by_inversion() -> None:
    """For two systems the largest |z| is that of the pair."""
    test = "ar-studentized:scheme=iid"
    for data in (ratings(1, 2), bleu(3, 2)):
        (one,) = with_bands(data, test=test, interval="simultaneous:scores=ar-studentized").comparisons
        (other,) = with_bands(data, test=test, interval="ar-studentized").comparisons
        assert one.test.adjusted_pvalue == one.test.pvalue == other.test.pvalue
        assert ends(one) == pytest.approx(ends(other), rel=1e-12)


@pytest.mark.parametrize("test", WITH_BANDS)
def test_identical_systems_have_an_interval_of_width_0(test: str) -> None:
    data = bleu(4)  # s2 is a copy of s0
    pair = with_bands(data, test=test).pair("s2", "s0")
    assert ends(pair) == (0, 0)
    assert pair.test.adjusted_pvalue == 1


@pytest.mark.parametrize("test", [*TESTS_WITH_DRAWS, "anova"])
@pytest.mark.parametrize("others", [{}, {"c": [2.0, 3.0, 4.0]}, {"c": [7.0, 8.0, 9.0]}])
def test_constant_differences_have_an_interval_of_width_0_and_a_star(test: str, others: dict[str, Any]) -> None:
    table = {"a": [1.0, 2.0, 3.0], "b": [2.0, 3.0, 4.0], **others}
    for pair in with_bands(SegmentScores("rating", table), test=test).comparisons:
        assert ends(pair) == pytest.approx((pair.difference, pair.difference), abs=1e-12)
        assert pair.is_significant(0.05) == excludes_0(pair.confidence_interval) == (pair.difference != 0)


def test_other_combinations_are_refused_with_a_reason() -> None:
    assert_raises("python_errors_of_simultaneous", globals())


# --- The test ``anova`` and its adjustments: against loops, SciPy, numerical integration and the paired t-test


Values = NDArray[np.float64]


def of_difficulty(seed: int, systems: int, segments: int) -> dict[str, Values]:
    rng = np.random.default_rng(seed)
    difficulty = rng.normal(0, 2, segments)
    # Multiples of 1/64, so that no rounding to the fixed-point resolution changes them.
    return {f"s{i}": np.round(64 * (difficulty + rng.normal(i / 10, 1, segments))) / 64 for i in range(systems)}


def t_in_loops(values: Values, means: Values, strata: list[int] | None = None) -> tuple[Values, int]:
    """|t| of all pairs and the degrees of freedom, from (k, S) values: the definition, number by number."""
    k, n = values.shape
    strata = [0] * n if strata is None else strata
    squares = 0.0
    for s in range(n):
        block = [u for u in range(n) if strata[u] == strata[s]]
        for i in range(k):
            mean_of_system = sum(values[i, u] for u in block) / len(block)
            mean_of_segment = sum(values[j, s] for j in range(k)) / k
            mean = sum(values[j, u] for j in range(k) for u in block) / (k * len(block))
            squares += (values[i, s] - mean_of_system - mean_of_segment + mean) ** 2
    df = (k - 1) * (n - len(set(strata)))
    error = math.sqrt(2 * squares / df / n)
    return np.array([abs(means[y] - means[x]) / error for x, y in combinations(range(k), 2)]), df


def check(comparison: Comparison, scheffe: Comparison, t: Values, df: int, k: int) -> None:
    p, of_tukey, of_scheffe = map(np.array, (pvalues(comparison), adjusted(comparison), adjusted(scheffe)))
    assert np.allclose(p, 2 * scipy.stats.t.sf(t, df), rtol=1e-8, atol=0)
    expected = scipy.stats.studentized_range.sf(math.sqrt(2) * t, k, df)
    assert np.allclose(of_tukey, expected, rtol=1e-7, atol=1e-10)
    assert np.allclose(of_scheffe, scipy.stats.f.sf(t**2 / (k - 1), k - 1, df), rtol=1e-8, atol=0)
    assert (p <= of_tukey).all()
    assert (of_tukey <= of_scheffe + 1e-12).all()


@settings(max_examples=budget(8), deadline=None)
@given(seed=st.integers(0, 999), systems=st.integers(2, 4), segments=st.integers(2, 12))
def test_means_are_compared_by_the_definition(seed: int, systems: int, segments: int) -> None:
    own = of_difficulty(seed, systems, segments)
    values = np.stack(list(own.values()))
    t, df = t_in_loops(values, values.mean(axis=1))
    metric = SegmentScores("rating", own)
    tukey, scheffe = (
        compare(metrics=metric, test="anova", adjust=adjust, interval="t", all_pairs=True)
        for adjust in ("tukey", "scheffe")
    )
    check(tukey, scheffe, t, df, systems)
    errors = [pair.test.standard_error for pair in tukey.comparisons]
    assert np.allclose(np.abs([pair.test.statistic for pair in tukey.comparisons]), t * errors, atol=1e-9)
    assert "approximate" not in str(tukey)


@pytest.mark.parametrize("adjust", ["tukey", "scheffe"])
def test_simultaneous_intervals_are_those_of_tukey_and_scheffe(adjust: str) -> None:
    k, n = 4, 12
    metric = SegmentScores("rating", of_difficulty(3, k, n))
    comparison = compare(metrics=metric, test="anova", adjust=adjust, interval="simultaneous", all_pairs=True)
    df = (k - 1) * (n - 1)
    critical = {
        "tukey": scipy.stats.studentized_range.ppf(0.95, k, df) / np.sqrt(2),
        "scheffe": np.sqrt((k - 1) * scipy.stats.f.ppf(0.95, k - 1, df)),
    }[adjust]
    assert len(comparison.comparisons) == 6
    for pair in comparison.comparisons:
        reach = critical * known(pair.test.standard_error)
        assert ends(pair) == pytest.approx((pair.difference - reach, pair.difference + reach), rel=1e-6)


def share(hypotheses: list[str], references: list[list[str | None]]) -> float:
    """The share of words that are right, which is not a mean of segment scores."""
    words, right = " ".join(hypotheses).split(), " ".join(filter(None, references[0])).split()
    return 100 * sum(map(str.__eq__, words, right)) / len(right)


@pytest.mark.parametrize("units", ["segments", "documents", "strata", "strata of documents"])
@pytest.mark.parametrize("name", ["bleu", "share"])
def test_other_scores_are_compared_by_jackknife_pseudo_values(name: str, units: str) -> None:
    references, systems = translations(24, 0.8, 0.75, 0.7)
    documents = [i // 2 for i in range(24)] if "documents" in units else None
    strata = [i // 10 for i in range(24)] if "strata" in units else None
    metric = "bleu" if name == "bleu" else CorpusFunction("share", share)
    options: dict[str, Any] = {"documents": documents, "strata": strata, "interval": "jackknife", "all_pairs": True}
    tukey, scheffe = (
        compare(references, systems, metric, test="anova", adjust=adjust, **options) for adjust in ("tukey", "scheffe")
    )

    unit = np.arange(24) if documents is None else np.array(documents)
    n = unit.max() + 1

    def score_without(system: str, left_out: int | None) -> float:
        kept = [i for i in range(24) if unit[i] != left_out]
        return score([references[i] for i in kept], {"a": [systems[system][i] for i in kept]}, metric).scores[0].score

    scores = np.array([score_without(system, None) for system in systems])
    without = np.array([[score_without(system, u) for u in range(n)] for system in systems])
    pseudo = scores[:, None] + (n - 1) * (without.mean(axis=1, keepdims=True) - without)
    assert np.allclose(pseudo.mean(axis=1), scores)
    of_units = None if strata is None else [strata[int(np.flatnonzero(unit == u)[0])] for u in range(n)]
    t, df = t_in_loops(pseudo, scores, of_units)
    check(tukey, scheffe, t, df, 3)
    thing = "document" if documents else "segment"
    assert all("approximate" in pair.caveats for pair in (*tukey.comparisons, *scheffe.comparisons))
    printed = " ".join(str(tukey).split())
    assert "anova is approximate, because it uses jackknife pseudo-values" in printed
    assert f"the score is not a mean of {thing} scores" in printed
    assert (f"unit:document[{n}]" in tukey.comparisons[0].test.signature) == (thing == "document")


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("k", "df"), [(2, 9), (16, 15 * 499), (100, 99 * 2999), (20, 29_997)])
def test_critical_values_have_their_probability(k: int, df: int) -> None:
    for alpha in (0.05, 0.001, *([0.99] if k == 20 else [])):
        critical = studentized_range_isf(alpha, k, df)
        assert studentized_range_sf(np.array([critical]), k, df)[0] == pytest.approx(alpha, rel=1e-6)


def test_identical_systems_and_errors_of_0() -> None:
    own = of_difficulty(1, 2, 9)
    own["copy"] = own["s0"]
    comparison = compare(metrics=SegmentScores("x", own), test="anova", adjust="tukey", interval="t", all_pairs=True)
    same = comparison.pair("copy", "s0").test
    assert (same.pvalue, same.adjusted_pvalue) == (1, 1)

    first = own["s0"]
    # 0.1 is not a binary fraction, so the differences of floats are not all equal.
    shifted = {"a": first, "b": first + 0.1, "c": first, "d": first + 5}
    metric = SegmentScores("x", shifted)
    for adjust in ("tukey", "scheffe"):
        for pair in compare(metrics=metric, test="anova", adjust=adjust, interval="t", all_pairs=True).comparisons:
            expected = float({pair.system, pair.baseline} == {"a", "c"})
            assert (pair.test.pvalue, pair.test.adjusted_pvalue) == (expected, expected)


def test_unsupported_options_are_refused() -> None:
    assert_raises("python_errors_of_anova", globals() | {"metric": SegmentScores("x", of_difficulty(0, 3, 5))})


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("test", "exponent"), [("t-test", -240), ("t-test", 240), ("anova", -240), ("anova", 240), ("anova", -960)]
)
def test_squares_of_tiny_and_huge_scores_neither_underflow_nor_overflow(test: str, exponent: int) -> None:
    rng = np.random.default_rng(5)
    scores = {name: rng.integers(0, 1 << 20, 30) / (1 << 20) for name in "abc"}

    def scaled(power: int) -> SegmentScores | FromCounts:
        if exponent > -960:
            return SegmentScores("m", {name: np.ldexp(values, power) for name, values in scores.items()})
        # Scores of segments are refused if they are so small, but not those of formulas.
        counts = {name: np.stack([np.rint(values * (1 << 20)), np.ones(30)], axis=1) for name, values in scores.items()}
        return FromCounts("m", counts, lambda totals: np.ldexp(totals[..., 0] / totals[..., 1], power))

    options: dict[str, Any] = {"test": test, "interval": None, "baseline": "a"}
    expected, found = (compare(metrics=scaled(power), **options) for power in (0, exponent))
    assert [pair.test.pvalue for pair in found.comparisons] == [pair.test.pvalue for pair in expected.comparisons]
