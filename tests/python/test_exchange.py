"""Whether outputs are exchangeable: the closed form equals the definition, and agrees with shuffles of real outputs."""

import math
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budgets import budget
from known import known
from margins import with_margins
from reshuffle import (
    Corpus,
    CorpusFunction,
    Exchangeability,
    Formula,
    FromCounts,
    SegmentScores,
    approximate_randomization,
    compare,
    metric,
    standard_error,
)
from reshuffle.data.demo import demo_corpus
from reshuffle.inference.tests import TESTS
from reshuffle.metrics.base import Counts, Metric
from reshuffle.resampling import CountSample, exchangeability
from reshuffle.resampling.linear import gradient
from reshuffle.resampling.units import Strata

RATIO = Formula("ratio", lambda totals: 100 * totals[..., 0] / (1 + totals[..., 1]))
METRICS: list[Metric] = [metric("bleu"), metric("ter"), metric("chrf"), metric("nist"), RATIO]


def systems_of(m: Metric, seed: int, k: int, n: int) -> Counts:
    """Counts of k systems, in parts alike; counts decrease along a row, as matches are at most n-grams."""
    rng = np.random.default_rng(seed)
    width = 2 if m.core is None else len(m.core.columns)
    shared = rng.integers(1, 40, size=(n, width))
    own = [np.where(rng.random((n, 1)) < 0.7, shared, rng.integers(1, 40, size=shared.shape)) for _ in range(k)]
    # Some systems have larger counts.
    scaled = [rows * (1 + index % 2) for index, rows in enumerate(own)]
    return np.stack([np.sort(rows, axis=1)[:, ::-1] for rows in scaled])


def by_definition(m: Metric, counts: Counts, pair: tuple[int, int], strata: Strata) -> float | None:
    """√(V(e)/V(u)), with a pass over the units for the pair."""
    a, b = counts[list(pair)]
    total_a, total_b = a.sum(axis=0), b.sum(axis=0)
    middle = (total_a + total_b) // 2
    for c in range(counts.shape[-1]):
        if abs(total_a[c] - total_b[c]) <= 3 * math.sqrt(strata.variance((a - b)[:, c].astype(float))):
            total_a[c] = total_b[c] = middle[c]
    g, g_a, g_b = gradient(m, counts, np.stack([middle, total_a, total_b]))
    exchanged, sampled = strata.variance((a - b) @ g), strata.variance(a @ g_a - b @ g_b)
    terms = strata.variance(a @ g_a) + strata.variance(b @ g_b)
    return math.sqrt(exchanged / sampled) if sampled > 1e-6 * terms else None


@settings(max_examples=budget(60))
@given(st.sampled_from(METRICS), st.integers(0, 10**6), st.integers(2, 5), st.integers(3, 200), st.integers(1, 4))
def test_the_closed_form_for_all_pairs_equals_the_definition(m: Metric, seed: int, k: int, n: int, groups: int) -> None:
    counts = systems_of(m, seed, k, n)
    groups = min(groups, n // 2)
    ids = [*range(groups), *np.random.default_rng(seed).integers(0, groups, size=n - groups).tolist()]
    strata = Strata.from_ids(ids, n)
    sample = CountSample.from_counts(m, counts, strata=None if groups == 1 else strata)
    pairs = [(b, a) for a, b in combinations(range(k), 2)]
    for pair, found in zip(pairs, sample.exchangeability(pairs), strict=True):
        expected = by_definition(m, counts, pair, strata)
        if expected is not None:
            assert known(found).ratio == pytest.approx(expected, rel=1e-3, abs=1e-6)


def test_the_order_of_a_pair_and_the_other_systems_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = systems_of(METRICS[0], 1, 7, 300)
    sample = CountSample.from_counts(METRICS[0], counts)
    pairs = list(combinations(range(7), 2))
    all_at_once = sample.exchangeability(pairs)
    assert all_at_once == sample.exchangeability([(b, a) for a, b in pairs])
    alone = [CountSample.from_counts(METRICS[0], counts[[a, b]]).exchangeability([(0, 1)])[0] for a, b in pairs]
    assert all_at_once == alone
    for columns, products, cells in ((1, 1, 1), (20, 1 << 12, 1 << 10), (30, 1 << 30, 300)):
        monkeypatch.setattr(exchangeability, "COLUMNS", columns)
        monkeypatch.setattr(exchangeability, "PRODUCTS", products)
        monkeypatch.setattr(exchangeability, "CELLS", cells)
        assert sample.exchangeability(pairs) == all_at_once


def test_means_have_a_ratio_of_1_and_identical_systems_none() -> None:
    rng = np.random.default_rng(1)
    scores = {name: rng.normal(50 + 20 * i, 10, 80).round(3) for i, name in enumerate("ab")}
    scores["c"] = scores["a"]
    comparison = compare(metrics=SegmentScores("m", scores), all_pairs=True, test="ar", n_resamples=99, interval=None)
    found = {pair.system + pair.baseline: pair.exchangeability for pair in comparison.comparisons}
    assert found == {"ba": Exchangeability(1.0, False), "ca": None, "cb": Exchangeability(1.0, False)}


def test_only_tests_of_exchangeability_check_it_and_not_for_functions_of_texts() -> None:
    corpus = demo_corpus()
    references = corpus.references[0][:50]
    systems = {name: corpus.systems[name][:50] for name in ("tuned", "larger")}
    for test in TESTS.values():
        if test.kind == "any":
            comparison = compare(references, systems, "bleu", test=with_margins(test.name, "bleu"), n_resamples=9)
            assert (comparison.comparisons[0].exchangeability is not None) == (test.name in ("ar", "permutation"))
    words = CorpusFunction("words", lambda lines, _: sum(len(line.split()) for line in lines) / len(lines))
    of_texts = compare(references, systems, words, test="ar", n_resamples=9)
    assert of_texts.comparisons[0].exchangeability is None


def fragile(totals: Any) -> Any:
    """A table of scores, which has no entry for totals that no shuffle has."""
    table = {4: 1.0, 5: 2.0, 6: 3.0, 7: 4.0, 8: 5.0}
    return np.array([table[int(total)] for total in np.ravel(totals)]).reshape(np.shape(totals)[:-1])


def test_a_formula_without_derivatives_does_not_end_a_comparison() -> None:
    counts = {"a": np.full((4, 1), 1), "b": np.full((4, 1), 2)}
    comparison = compare(metrics=FromCounts("table", counts, fragile), test="ar", interval=None, n_resamples=20)
    assert (comparison.comparisons[0].test.pvalue, comparison.comparisons[0].exchangeability) == (0.125, None)


def cut(corpus: Corpus, name: str, share: float) -> list[str]:
    """The outputs of a system without a share of their words."""
    rng = np.random.default_rng(1)
    return [" ".join(word for word in line.split() if rng.random() >= share) for line in corpus.systems[name]]


BLEU = metric("bleu")


def real_counts(corpus: Corpus, **systems: list[str]) -> Counts:
    return BLEU.suff_stats(corpus.references, [*systems.values()])


@pytest.mark.parametrize(("name", "near_kink"), [("LIUM-NMT.4900", False), ("FBK.4870", True), ("KIT.4950", False)])
def test_the_ratio_is_that_of_the_shuffles_to_the_standard_error(wmt17: Corpus, name: str, near_kink: bool) -> None:
    """4% of the words cut. Where the mean of both systems is near the kink, Σe² is a rough approximation."""
    a, b = real_counts(wmt17, full=list(wmt17.systems[name]), short=cut(wmt17, name, 0.04))
    result = approximate_randomization(a, b, BLEU, n_resamples=2000, keep_null_distribution=True)
    spread = math.sqrt(known(result.null_distribution).var() - result.statistic**2 / len(a))
    (found,) = CountSample.from_counts(BLEU, np.stack([a, b])).exchangeability([(0, 1)])
    assert known(found).ratio == pytest.approx(spread / standard_error(a, BLEU, b=b), rel=0.1)
    assert known(found).near_kink == near_kink


def swapped(a: Counts, b: Counts, seed: int) -> Counts:
    flips = np.random.default_rng(seed).random((len(a), 1)) < 0.5
    return np.stack([np.where(flips, a, b), np.where(flips, b, a)])


@pytest.mark.parametrize("pair", [("FBK.4870", "LMU-nmt-single.4893"), ("LIUM-NMT.4900", "KIT.4950")])
def test_outputs_that_are_exchangeable_by_construction_are_not_flagged(wmt17: Corpus, pair: tuple[str, str]) -> None:
    """The first pair has the length of the reference, so that samples lie on both sides of the kink of BLEU."""
    a, b = real_counts(wmt17, a=list(wmt17.systems[pair[0]]), b=list(wmt17.systems[pair[1]]))
    rng = np.random.default_rng(1)
    for seed in range(50):
        rows = rng.integers(0, len(a), 500)
        (found,) = CountSample.from_counts(BLEU, swapped(a[rows], b[rows], seed)).exchangeability([(0, 1)])
        assert 0.8 <= known(found).ratio <= 1.25


@pytest.mark.parametrize("test", ["ar", "permutation"])
@pytest.mark.parametrize("scores", [([0.1] * 8, [1.0] * 8), ([0.3] * 7, [0.3] * 7), ([0.9] * 8, [0.0] * 8)])
def test_constant_scores_in_documents_of_different_sizes_do_not_vary(
    test: str, scores: tuple[list[float], list[float]]
) -> None:
    # The sums of a document vary with its size, but no mean does. Rounding errors would give any ratio, or NaN.
    a, b = scores
    documents = list("aabccdee")[: len(a)]
    close = [b[0] + 1e-12 * (s == 5) for s in range(len(b))] if a == b else b
    comparison = compare(
        metrics=SegmentScores("s", {"a": a, "b": close}), documents=documents, test=test, n_resamples=39
    )
    assert comparison.pair("b").exchangeability is None
    assert "not exchangeable" not in str(comparison)
    assert "NaN" not in comparison.render("json")
