"""Adjusted p-values: by hand, against their definitions, and the same for native and Python metrics."""

from collections.abc import Callable, Sequence
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import calls
from budgets import budget
from counts import bleu_counts
from known import known
from margins import OF_DIFFERENCES
from reshuffle import CorpusFunction, Formula, FromCounts, InputError, SegmentScores, compare, metric
from reshuffle.inference import step_down as module
from reshuffle.inference.hypotheses import Hypotheses, Observed
from reshuffle.inference.multiplicity import ADJUSTMENTS
from reshuffle.inference.plan import Plan
from reshuffle.inference.running import run_on_test_set
from reshuffle.inference.tests import TESTS
from reshuffle.metrics.base import Counts, Scores
from reshuffle.resampling import CountSample, MaxT, MinP, Replicates, Series, Spread, TextSample, extremeness
from reshuffle.resampling.schemes import Shuffling
from reshuffle.results import Comparison
from reshuffle.settings import ComparisonSettings, Resampling
from step_down import step_down

BLEU = metric("bleu")
PAIRS = [(1, 0), (2, 0), (3, 0), (3, 1)]
ALTERNATIVES = ["two-sided", "greater", "less"]


def counts_of(seed: int, systems: int, segments: int) -> Counts:
    """Counts of synthetic BLEU systems, each better than the one before; the third is a copy of the first."""
    counts = bleu_counts(seed, systems, segments, 0.01)
    if systems > 2:
        counts[2] = counts[0]
    return counts


def bleu_in_numpy(totals: Counts) -> Scores:
    """The core's own scores, as a formula in Python."""
    return BLEU.score(totals)


def stepped_down(order: list[int], raw: dict[int, float]) -> list[float]:
    """The running maximum in this order of the tests, returned in their original order."""
    largest, out = 0.0, {}
    for test in order:
        largest = max(largest, raw[test])
        out[test] = largest
    return [out[test] for test in sorted(out)]


def scales_by_hand(draws: Scores, observed: float, by_side: bool) -> tuple[float, float]:
    """The scales of the deviations below and above the observed difference, 0 if all draws are equal."""
    if len(set(draws)) == 1:
        return 0.0, 0.0
    spread = float(np.std(draws))
    if not by_side:
        return spread, spread
    below = sum((draw - observed) ** 2 for draw in draws if draw < observed)
    above = sum((draw - observed) ** 2 for draw in draws if draw > observed)
    return tuple(float(np.sqrt(2 * squares / len(draws))) or spread for squares in (below, above))  # type: ignore[return-value]


def max_t_of_draws_by_hand(
    draws: Scores, observed: list[float], alternative: str, by_side: bool
) -> tuple[list[float], list[float]]:
    """Adjusted p-values from the (pairs, R) differences on the draws and the observed ones, and how extreme these are.

    Draw by draw, from the definition: (1 + #{r: the largest deviation of this and all less extreme pairs reaches the
    observed one})/(R + 1), then the running maximum. Deviations d_b − d are divided by their standard deviation; with
    ``by_side`` they are d − d_b, divided by the root mean square of those on the same side of d.
    """
    infinity = float("inf")

    def extreme(value: float) -> float:
        return {"two-sided": abs(value), "greater": value, "less": -value}[alternative]

    def standardized(value: float, se: float) -> float:
        if se > 0:
            return extreme(value) / se
        return 0.0 if value == 0 else infinity * extreme(value)

    spreads = [scales_by_hand(row, d, by_side) for row, d in zip(draws, observed, strict=True)]
    # 0 lies below a positive difference.
    reach = [standardized(d, spread[int(d <= 0)]) for d, spread in zip(observed, spreads, strict=True)]
    sign = -1 if by_side else 1
    order = sorted(range(len(observed)), key=lambda j: (-reach[j], j))
    raw = {}
    for place, j in enumerate(order):
        count = 0
        for r in range(draws.shape[1]):
            deviations = [
                # A pair whose draws are all equal to a difference other than 0 never counts.
                standardized(sign * (draws[i, r] - observed[i]), spreads[i][int(draws[i, r] > observed[i])])
                for i in order[place:]
                if spreads[i][0] > 0 or observed[i] == 0
            ]
            count += reach[j] == -infinity or any(t >= reach[j] - 1e-12 for t in deviations)
        raw[j] = (count + 1) / (draws.shape[1] + 1)
    return stepped_down(order, raw), reach


# A formula in which systems can differ by the same amount in every draw.
LINEAR = Formula("linear", lambda totals: totals[..., 0] / 64)


@pytest.mark.parametrize("metric_", ["bleu", "python", "constant"])
@pytest.mark.parametrize("test", ["bootstrap", "bootstrap-percentile", "bootstrap-both"])
@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_max_t_of_draws_follows_its_definition(alternative: str, test: str, metric_: str) -> None:
    for seed in range(3):
        if metric_ == "constant":
            column = np.random.default_rng(seed).integers(0, 9, 64)
            other = np.random.default_rng(seed + 9).integers(0, 9, 64)
            counts = np.stack([column, column + seed, column, other])[:, :, None]
            pairs = [*PAIRS, (0, 1)]
            replicates = Replicates([CountSample.from_counts(LINEAR, counts)], Resampling(200, seed))
        else:
            pairs = PAIRS
            chosen = BLEU if metric_ == "bleu" else Formula("the same", bleu_in_numpy)
            sample = CountSample.from_counts(chosen, counts_of(seed, 4, 60))
            replicates = Replicates([sample], Resampling(200, seed))
        (scores,), totals = replicates.draws, replicates.samples[0].scores
        draws = np.array([scores[a] - scores[b] for a, b in pairs])
        observed = [float(totals[a] - totals[b]) for a, b in pairs]
        by_side = {"bootstrap": [False], "bootstrap-percentile": [True], "bootstrap-both": [False, True]}[test]
        by_hand = [max_t_of_draws_by_hand(draws, observed, alternative, each) for each in by_side]
        expected, reach = np.max([p for p, _ in by_hand], axis=0), by_hand[0][1]
        plan = Plan(TESTS[test], alternative, adjustment=ADJUSTMENTS["maxt"])
        outcome = run_on_test_set(plan, replicates, Hypotheses.from_pairs(pairs))
        assert outcome.adjusted is not None
        np.testing.assert_allclose(outcome.adjusted, np.maximum(expected, outcome.pvalue))
        assert outcome.adjusted[1] == 1  # two identical systems
        if test == "bootstrap":
            # The step of each pair counts its own draws too, in the way in which its test counts them.
            np.testing.assert_allclose(outcome.adjusted, expected)
        if metric_ == "constant" and seed > 0:  # one pair differs by the same amount in every draw
            assert np.isinf(reach[0])
            certain = {"two-sided": 0, "greater": 0, "less": 4}[alternative]
            assert expected[certain] == 1 / 201


# --- Families that span metrics

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
        "p": CountSample.from_counts(Formula("the same", bleu_in_numpy), counts),
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
    ("kinds", "family"), [("np", "metric"), *((kinds, "all") for kinds in ("nm", "mn", "np", "pmn", "tn", "pt"))]
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


def supported(tests: Sequence[str], adjustments: Sequence[str]) -> list[tuple[str, str]]:
    """The tests with those adjustments that they have."""
    own = {name for name, adjustment in ADJUSTMENTS.items() if adjustment.from_replicates}
    return [(t, a) for t in tests for a in adjustments if a not in own or a in TESTS[t].step_down]


@pytest.mark.parametrize(
    ("test", "adjust"),
    supported(
        ["ar", "bootstrap", "bootstrap-both", "bootstrap-percentile", "ar-studentized"], ["maxt", "minp", "holm"]
    ),
)
def test_metrics_of_the_core_and_of_python_give_the_same_family(test: str, adjust: str) -> None:
    p, native = adjusted_by(test, adjust, samples_of(4, "mn"), "all")
    q, mixed = adjusted_by(test, adjust, samples_of(4, "mp"), "all")
    np.testing.assert_allclose(p, q)
    np.testing.assert_allclose(native, mixed)
    assert np.all(native >= p)
    _, apart = adjusted_by(test, adjust, samples_of(4, "mn"), "metric")
    assert (native > apart).any()


def test_families_over_metrics_are_the_same_for_any_number_of_threads_and_batches(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for kinds in ("n", "nm", "pn"):
        for adjust in ("maxt", "minp"):
            monkeypatch.undo()
            expected = [values.tobytes() for values in adjusted_by("ar", adjust, samples_of(5, kinds), "all")]
            for threads, at_once, kept in ((1, 1, 0), (2, 500, 0), (3, 1 << 24, 0), (3, 1, 1 << 22)):
                monkeypatch.setattr(module, "STATISTICS_AT_ONCE", at_once)
                monkeypatch.setattr(module, "STATISTICS_TO_KEEP", kept)
                found = adjusted_by("ar", adjust, samples_of(5, kinds), "all", threads=threads)
                assert expected == [values.tobytes() for values in found]


def test_max_t_makes_a_second_pass_only_if_the_statistics_need_too_much_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    references = [f"a{i} b{i} c{i}" for i in range(12)]
    systems = {
        "x": references,
        "y": [line if i % 3 else "z" for i, line in enumerate(references)],
        "z": [line if i % 2 else "z" for i, line in enumerate(references)],
    }
    share = CorpusFunction("share", lambda h, r: sum(a == b for a, b in zip(h, r[0], strict=True)) / len(h))
    found = []
    # The statistics of 60 shuffles of two pairs.
    for kept, passes in ((120, 1), (119, 2)):
        monkeypatch.setattr(module, "STATISTICS_TO_KEEP", kept)
        comparison = compare(references, systems, share, test="ar", adjust="maxt", n_resamples=60, interval=None)
        # Three scores, then the passes of 60 shuffles, each with two pairs of systems.
        assert comparison.metrics[0].evaluations == 3 + passes * 60 * 2 * 2
        found.append([pair.test for pair in comparison.comparisons])
    assert found[0] == found[1]


@cache
def compared(adjust: str | None, **options: Any) -> Comparison:
    counts = counts_of(5, 5, 200)
    external = FromCounts("m", dict(zip("abcde", counts, strict=True)), "bleu")
    return compare(metrics=external, adjust=adjust, **{"test": "ar", "n_resamples": 200, **options})


# The adjustments of each test.
SUPPORTED = {
    test.name: [each.name for each in ADJUSTMENTS.values() if each.name in test.step_down or not each.from_replicates]
    for test in map(TESTS.__getitem__, OF_DIFFERENCES)
    if test.kind == "any"
}


@pytest.mark.parametrize("test", SUPPORTED)
def test_all_pairs_are_one_family_and_one_pair_needs_no_adjustment(test: str) -> None:
    counts = counts_of(5, 2, 200)
    pair = FromCounts("m", {"a": counts[0], "b": counts[1]}, "bleu")
    for adjust in SUPPORTED[test]:
        adjusted = compared(adjust, all_pairs=True, test=test)
        assert None not in [p.test.adjusted_pvalue for p in adjusted.comparisons]
        assert f"|alternative:two-sided|adjust:{adjust}|" in adjusted.signature
        alone = compare(metrics=pair, adjust=adjust, n_resamples=99, test=test).comparisons[0].test
        assert alone.adjusted_pvalue == alone.pvalue


def test_adjustments_from_replicates_need_a_test_that_supports_them() -> None:
    for test in ("bootstrap-shift", "paired-bootstrap", "t-test"):
        with pytest.raises(
            InputError,
            match=f"adjustment 'maxt' does not support the test '{test}': use test='ar', 'ar-studentized', "
            "'bootstrap', 'bootstrap-both' or 'bootstrap-percentile', or "
            "adjust='bonferroni', 'holm', 'sidak', 'hochberg', 'hommel', 'bh' or 'by'$",
        ):
            Plan.from_settings(ComparisonSettings(test=test, adjust="maxt"))
    with pytest.raises(
        InputError, match=r"^adjustment 'minp' does not support the default test 'bootstrap-both': use "
    ):
        compare(metrics=SegmentScores("x", [[1, 2], [2, 3]]), adjust="minp")
    with pytest.raises(InputError, match="unknown adjustment 'duncan'"):
        compared("duncan")


def test_results_are_bitwise_equal_for_any_number_of_threads() -> None:
    counts = counts_of(9, 6, 2000)
    pairs = list(combinations(range(6), 2))

    def run(threads: int) -> list[bytes]:
        replicates = Replicates([CountSample.from_counts(BLEU, counts)], Resampling(1500, 3, threads))
        spreads = replicates.run([Spread()], pairs)[0]
        ones = np.ones_like(spreads)
        ranks: NDArray[np.int64] = np.full(spreads.shape, 40)
        summary = calls.draw_summary([(BLEU.core, counts)], n=1500, seed=3, threads=threads)
        return [
            spreads.tobytes(),
            replicates.run([Series()], pairs)[0].tobytes(),
            replicates.draws[0].tobytes(),
            replicates.run([MaxT("two-sided", ones, 2 * spreads, np.arange(1))], pairs)[0].tobytes(),
            replicates.run([MinP("two-sided", spreads, 0 * spreads, ranks, np.arange(1))], pairs)[0].tobytes(),
            *(array.tobytes() for array in summary),
        ]

    expected = run(1)
    for threads in (2, 3, 8):
        assert expected == run(threads)


# --- Adjustments of p-values


P_VALUES = st.lists(st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.01, 0.02, 0.5, 1.0])), min_size=1, max_size=6)


def closed_test(p: Scores, local: Callable[[Scores], float]) -> Scores:
    """The largest p of all intersections that contain a hypothesis: Marcus, Peritz & Gabriel 1976."""
    adjusted = np.zeros(len(p))
    for size in range(1, len(p) + 1):
        for members in combinations(range(len(p)), size):
            adjusted[list(members)] = np.maximum(adjusted[list(members)], local(p[list(members)]))
    return np.minimum(adjusted, 1)


def simes(p: Scores) -> float:
    """The p-value of the intersection of all hypotheses: Simes 1986."""
    return float((len(p) * np.sort(p) / np.arange(1, len(p) + 1)).min())


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
        "hommel": closed_test(p, simes),
        "bh": step_up(lambda j: m / j),
        "by": step_up(lambda j: harmonic * m / j),
    }
    of_pvalues = {name: adjustment.of_pvalues for name, adjustment in ADJUSTMENTS.items() if adjustment.of_pvalues}
    assert set(of_pvalues) == set(expected)
    for name, adjust in of_pvalues.items():
        np.testing.assert_allclose(adjust(p), expected[name], rtol=1e-9, atol=1e-12, err_msg=name)
        assert (adjust(p) >= p - 1e-15).all(), name
        np.testing.assert_array_equal(adjust(p[::-1]), adjust(p)[::-1], err_msg=name)
