"""What the parts of formulas contribute to differences: against slow twins, in reports, and read back."""

import io
import json
import math
from collections.abc import Callable, Sequence
from functools import cache
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import Outcome
from counts import bleu_counts
from known import ends, known
from reshuffle import (
    FromCounts,
    InputError,
    NativeMetric,
    SegmentScores,
    TestSet,
    compare,
    compare_sets,
    metric,
    read_json,
)
from reshuffle.data.demo import demo_corpus
from reshuffle.inference.decomposition import DECOMPOSITIONS, contributions_of, decomposition_of, shapley
from reshuffle.metrics.base import Counts, Scores
from reshuffle.resampling import CountSample, Replicates, resampler_of_sums
from reshuffle.settings import Resampling, Units
from told import assert_told

BLEU = metric("bleu")
DRAWS = 59
LEVEL = 0.9

METRICS = {
    "bleu": BLEU,
    "bleu weights": metric("bleu", weights=[0.5, 0.3, 0.0, 0.4]),
    "bleu one order": metric("bleu", max_ngram_order=1),
    "chrf": metric("chrf"),
    "chrf beta": metric("chrf", beta=0.5, char_order=2),
    "chrf smoothed": metric("chrf", eps_smoothing=True),
    "chrf++": metric("chrf++"),
    "depf": metric("depf"),
    "gtm": metric("gtm"),
    "meteor": metric("meteor", modules=["exact"]),
    "nist": metric("nist"),
    "sari": metric("sari"),
    "sari precision": metric("sari", deletion="precision"),
    **{name: metric(name) for name in ("asr-wer", "cer", "mer", "wil")},
}


def test_there_is_an_example_of_every_metric_with_parts() -> None:
    assert {each.key for each in METRICS.values()} == set(DECOMPOSITIONS)


@cache
def demo_counts(m: NativeMetric) -> Counts:
    """The counts of the systems of the demo: (systems, segments, K)."""
    corpus = demo_corpus()
    if m.key == "depf":  # which counts relations as GTM does words
        m = METRICS["gtm"]
    elif m.key == "sari":
        m = metric("sari", sources=corpus.references[0][::-1], **m.options)
    return m.suff_stats(corpus.references, corpus.systems)


def random_counts(m: NativeMetric, seed: int, systems: int = 2, segments: int = 30) -> Counts:
    """Counts of segments of the demo: (systems, segments, K)."""
    chosen = np.random.default_rng(seed).integers(0, demo_corpus().n_segments, segments)
    return np.ascontiguousarray(demo_counts(m)[:systems, chosen])


def from_counts(m: NativeMetric, counts: Counts) -> FromCounts:
    return FromCounts(m.name, dict(zip("abc", counts, strict=False)), m)


def drawn(m: Any, counts: Counts, seed: int = 7, **units: Any) -> Replicates:
    sample = CountSample.from_arrays(m, counts[0], counts[1], Units(**units))
    return Replicates([sample], Resampling(DRAWS, seed))


# They add up.


@pytest.mark.parametrize("name", METRICS)
@given(seed=st.integers(0, 10**6))
def test_contributions_add_up_to_the_difference(name: str, seed: int) -> None:
    m = METRICS[name]
    replicates = drawn(m, random_counts(m, seed))
    (sample,) = replicates.samples
    decomposition = known(decomposition_of(sample))
    assert isinstance(sample, CountSample)
    parts = decomposition.parts(sample.totals)
    x, y = ([part[system] for part in parts] for system in (0, 1))
    forth, back = decomposition.split(x, y), decomposition.split(y, x)
    assert forth.shape == (len(decomposition.names),)
    assert abs(forth.sum() - (sample.scores[0] - sample.scores[1])) < 1e-10
    np.testing.assert_allclose(back, -forth, rtol=1e-9, atol=1e-12)
    assert {repr(float(part)) for part in decomposition.split(x, x)} == {"0.0"}


@pytest.mark.parametrize("more", [0, 1, 10**3, 10**6])
def test_large_contributions_to_a_small_difference_are_exact(more: int) -> None:
    """The logarithmic mean of almost equal scores is not a quotient of rounding errors."""
    totals = np.array([[10**10, 10**10, 8 * 10**9, 2 * 10**9, 10**9, 10**8, *[10**10] * 4]] * 2)
    totals[1, 2:4] = 4 * 10**9, 4 * 10**9 + more
    decomposition = known(DECOMPOSITIONS["bleu"](BLEU))
    parts = decomposition.parts(totals)
    found = decomposition.split([p[0] for p in parts], [p[1] for p in parts])
    x, y = BLEU.score(totals)
    assert abs(found.sum() - (x - y)) < 1e-13
    assert not found[[0, 3, 4]].any()
    # The mean is between the scores, which differ by 0.007% at most.
    assert min(x, y) - 1e-12 <= found[1] / (0.25 * math.log(2)) <= max(x, y) + 1e-12


def test_contributions_on_real_texts_add_up_and_have_the_names_of_the_details() -> None:
    corpus = demo_corpus()
    chosen: list[Any] = [*(METRICS[name] for name in ("bleu", "chrf", "chrf++", "gtm", "meteor", "nist")), "ter"]
    comparison = compare(corpus.references, corpus.systems, chosen, all_pairs=True, n_resamples=DRAWS, include="parts")
    for fmt in ("markdown", "latex", "typst"):
        assert "the parts of each difference" in comparison.render(fmt, pairs=True)
    assert "parts" not in comparison.render("text", pairs=False)
    assert len(comparison.comparisons) == 7 * 6
    for pair in comparison.comparisons:
        contributions = known(pair.contributions)
        if pair.metric == "TER":
            assert contributions == ()
            continue
        # Scores of GTM and NIST are rounded to the resolution of their counts.
        slack = 1e-6 if pair.metric in ("GTM", "NIST") else 1e-9
        assert abs(sum(each.difference for each in contributions) - pair.difference) < slack
        for each in contributions:
            interval = known(each.confidence_interval)
            assert interval.low < each.difference < interval.high
            assert (interval.confidence_level, interval.method) == (0.95, "percentile")
            if pair.metric != "NIST":
                assert each.part in comparison.score(pair.system, pair.metric).details


# The definitions, with loops.


def weights_of_draws(replicates: Replicates) -> list[list[int]]:
    """How often each draw has each unit."""
    (sample,) = replicates.samples
    units = np.eye(sample.n_units, dtype=np.int64)[None]
    resampler = resampler_of_sums("draws", units)
    return [row for batch in replicates.batches(10, "drawing") for row in batch.sums(resampler).tolist()]


def twin_of_bleu(totals: Sequence[int]) -> list[float]:
    """The logarithms of BLEU's factors."""
    hypothesis, reference = totals[:2]
    factors = [min(1.0, math.exp(1 - reference / hypothesis))]
    factors += [(matched / possible) ** 0.25 for matched, possible in zip(totals[2:6], totals[6:], strict=True)]
    return [math.log(factor) for factor in factors]


def twin_contributions(x: Sequence[int], y: Sequence[int]) -> list[float]:
    """L·(ln xᵢ − ln yᵢ)."""
    logs = twin_of_bleu(x), twin_of_bleu(y)
    score_x, score_y = (100 * math.exp(sum(each)) for each in logs)
    mean = score_x if score_x == score_y else (score_x - score_y) / math.log(score_x / score_y)
    return [mean * (a - b) for a, b in zip(*logs, strict=True)]


def twin_of_chrf(x: Sequence[int], y: Sequence[int]) -> list[float]:
    """Precision first and recall first, averaged."""

    def precision_recall(totals: Sequence[int]) -> tuple[float, float]:
        orders = [totals[i : i + 3] for i in range(0, len(totals), 3)]
        return (
            sum(matched / hypothesis for hypothesis, _, matched in orders) / len(orders),
            sum(matched / reference for _, reference, matched in orders) / len(orders),
        )

    def f(precision: float, recall: float) -> float:
        return 100 * 5 * precision * recall / (4 * precision + recall)

    (p, r), (q, s) = precision_recall(x), precision_recall(y)
    return [(f(p, s) - f(q, s) + f(p, r) - f(q, r)) / 2, (f(q, r) - f(q, s) + f(p, r) - f(p, s)) / 2]


@pytest.mark.parametrize(("m", "twin"), [(BLEU, twin_contributions), (METRICS["chrf"], twin_of_chrf)])
def test_contributions_and_intervals_are_those_of_the_definition(
    m: NativeMetric, twin: Callable[[Sequence[int], Sequence[int]], list[float]]
) -> None:
    counts = random_counts(m, 3)
    replicates = drawn(m, counts)
    (found,) = contributions_of(replicates, 0, [(0, 1)], LEVEL)
    rows = counts.tolist()
    k = len(rows[0][0])

    def totals(system: int, weights: Sequence[int]) -> list[int]:
        return [sum(w * row[c] for w, row in zip(weights, rows[system], strict=True)) for c in range(k)]

    expected = twin(*(totals(system, [1] * len(rows[0])) for system in (0, 1)))
    on_draws = [twin(totals(0, weights), totals(1, weights)) for weights in weights_of_draws(replicates)]
    assert len(on_draws) == DRAWS
    for i, each in enumerate(found):
        assert each.difference == pytest.approx(expected[i], abs=1e-9)
        ordered = sorted(contributions[i] for contributions in on_draws)
        rank = int((1 - LEVEL) * (DRAWS + 1) / 2 + 1e-9)
        assert rank == 3
        assert ends(each) == pytest.approx((ordered[rank - 1], ordered[-rank]), abs=1e-9)


@given(st.lists(st.floats(0.1, 0.9), min_size=6, max_size=6))
def test_shapley_is_the_average_over_all_orders(values: list[float]) -> None:
    def score(parts: Any) -> Scores:
        a, b, c = parts
        return np.asarray(a * b / (a + b) * (1 - 0.3 * c**2))

    x, y = ([np.array(v) for v in half] for half in (values[:3], values[3:]))
    expected = [0.0] * 3
    for order in permutations(range(3)):
        parts = [*y]
        for i in order:
            before = score(parts)
            parts[i] = x[i]
            expected[i] += float(score(parts) - before) / 6
    np.testing.assert_allclose(shapley(score, x, y), expected, atol=1e-14)


@pytest.mark.parametrize("name", ["chrf smoothed", "meteor", "nist"])
@pytest.mark.parametrize("units", [{}, {"strata": [0, 1, 1] * 10}, {"documents": [i // 3 for i in range(30)]}])
def test_contributions_on_draws_add_up_to_the_drawn_differences(name: str, units: dict[str, Any]) -> None:
    """So they are those of the draws that the interval of the difference has, within strata and of documents."""
    m = METRICS[name]
    counts = random_counts(m, 11)
    comparison = compare(metrics=from_counts(m, counts), n_resamples=DRAWS, include="parts", **units)
    (pair,) = comparison.comparisons
    assert pair.contributions
    assert abs(sum(each.difference for each in pair.contributions) - pair.difference) < 1e-6
    # Where only one part differs, its interval is that of the difference.
    other = counts.copy()
    other[0, :, -1] += 20  # the hypotheses of NIST are shorter than the references
    chosen = {"chrf smoothed": slice(0, None, 3), "meteor": slice(-3, -2), "nist": slice(-2, -1)}[name]
    other[1] = other[0]
    other[1, :, chosen] += np.random.default_rng(1).integers(1, 3, (30, 1))
    comparison = compare(metrics=from_counts(m, other), n_resamples=DRAWS, include="parts", **units)
    (pair,) = comparison.comparisons
    (differing,) = (each for each in known(pair.contributions) if each.difference)
    assert ends(differing) == pytest.approx(ends(pair), abs=1e-6)


# Where there is nothing, or nothing to split.


@pytest.mark.parametrize("options", [{"smooth_method": "none"}, {}, {"smooth_method": "floor"}])
def test_bleu_with_a_precision_of_0_is_not_split(options: dict[str, Any]) -> None:
    m = metric("bleu", **options)
    counts = random_counts(BLEU, 2)
    counts[1, :, 5] = 0
    assert contributions_of(drawn(m, counts), 0, [(0, 1), (0, 0)], LEVEL)[0] == ()
    counts[1, 0, 5] = 1  # on some draws there is no match
    (found,) = contributions_of(drawn(m, counts), 0, [(0, 1)], LEVEL)
    assert len(found) == 5
    assert all(each.confidence_interval is None for each in found)
    (without,) = contributions_of(drawn(m, counts), 0, [(0, 1)], None)
    assert without == found


def test_bleu_with_add_k_and_metrics_without_known_parts_are_not_split() -> None:
    counts = random_counts(BLEU, 2)
    add_k = metric("bleu", smooth_method="add-k")
    assert contributions_of(drawn(add_k, counts), 0, [(0, 1)], LEVEL) == [()]
    scores = SegmentScores("rating", {"a": [1.0, 2.0] * 20, "b": [2.0, 2.0] * 20})
    (pair,) = compare(metrics=scores, n_resamples=99, include="parts").comparisons
    assert pair.contributions == ()
    functions = FromCounts("F", {"a": counts[0], "b": counts[1]}, lambda totals: totals[..., 2] / totals[..., 0])
    assert compare(metrics=functions, n_resamples=99, include="parts").comparisons[0].contributions == ()


def test_there_are_no_intervals_without_draws_or_intervals() -> None:
    sets = from_counts(BLEU, bleu_counts(1, 2, 60, 0.05))
    for options in ({"interval": None}, {"interval": "delta", "test": "ar"}):
        (pair,) = compare(metrics=sets, n_resamples=99, include="parts", **options).comparisons
        assert [each.confidence_interval for each in known(pair.contributions)] == [None] * 5


def test_contributions_are_computed_on_request_and_do_not_change_anything_else() -> None:
    sets = from_counts(BLEU, bleu_counts(1, 2, 60, 0.05))
    without, found = (compare(metrics=sets, n_resamples=99, include=wanted) for wanted in ((), "parts"))
    assert without.comparisons[0].contributions is None
    document, extended = (json.loads(each.render("json")) for each in (without, found))
    assert document["comparisons"][0].pop("contributions") is None
    parts = [each["part"] for each in extended["comparisons"][0].pop("contributions")]
    assert parts == ["bp", "p_1", "p_2", "p_3", "p_4"]
    assert extended == document
    with pytest.raises(InputError, match="unknown value of include"):
        compare(metrics=sets, include="yes")


def test_on_several_test_sets_each_has_its_contributions_and_the_average_none() -> None:
    corpus = demo_corpus()
    halves = {
        name: TestSet(corpus.references[0][part], {s: lines[part] for s, lines in corpus.systems.items()})
        for name, part in {"news": slice(0, 200), "talks": slice(200, 400)}.items()
    }
    result = compare_sets(halves, n_resamples=99, include="parts")
    for comparison in result.sets.values():
        for pair in comparison.comparisons:
            assert abs(sum(each.difference for each in known(pair.contributions)) - pair.difference) < 1e-9
    assert {pair.contributions for pair in known(result.average).comparisons} == {None}
    assert read_json(io.StringIO(result.render("json"))) == result
    assert "news: BLEU: the parts of each difference" in result.render("text", pairs=True)


# Reports.


def test_what_reports_tell() -> None:
    corpus = demo_corpus()
    two = {name: corpus.systems[name] for name in ("baseline", "tuned")}
    chosen = [METRICS[name] for name in ("bleu", "chrf", "gtm", "meteor")]
    results = {
        "metrics with and without parts": compare(
            corpus.references, two, [*chosen, "ter"], n_resamples=DRAWS, include="parts"
        )
    }
    counts = random_counts(BLEU, 8, systems=3)
    for name, matches in (("a precision is 0", 0), ("a precision is 0 on some draws", 1)):
        counts[2, :, 5] = 0
        counts[2, 0, 5] = matches
        results[name] = compare(metrics=from_counts(BLEU, counts), n_resamples=99, include="parts")
        assert read_json(io.StringIO(results[name].render("json"))) == results[name]
    assert_told("parts", {name: each.render("text", pairs=True) for name, each in results.items()})


def test_the_command_line_computes_contributions_where_they_are_shown(demo: Path, run: Callable[..., Outcome]) -> None:
    command = ("compare", "reference.txt", "baseline.txt", "tuned.txt", "-n", "99")
    assert "the parts of each difference" in run(*command, "--pairs").out
    assert "the parts of each difference" not in run(*command).out
    (pair,) = json.loads(run(*command, "--format", "json").out)["comparisons"]
    assert len(pair["contributions"]) == 5
