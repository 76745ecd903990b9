"""Gradients of every metric with respect to its summed counts: closed forms against differences of its own scores."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budgets import budget
from reshuffle import Formula, metric, standard_error
from reshuffle.metrics.base import Metric, Scores
from reshuffle.metrics.registry import metric_specs
from reshuffle.resampling.linear import gradient


def closed_form(m: Metric, totals: Any) -> Scores:
    array = np.array(totals)
    return gradient(m, array[None, None], array)


def by_differences(m: Metric, totals: Any) -> Scores:
    """The derivative with respect to each count, by central differences of a ten-thousandth of it; NaN for 0."""
    steps = np.diag(-(-np.array(totals) // 10**4))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((m.score(totals + steps) - m.score(totals - steps)) / (2 * np.diag(steps)))


# --- Every native metric

# So large that a ten-thousandth is a whole number.
COUNT = st.sampled_from([0, 1, 1, 1, 1, 1]).flatmap(lambda one: st.integers(one * 10**4, one * 10**7))
OPTIONS: dict[str, Any] = {
    "bleu": st.fixed_dictionaries(
        {"smooth_method": st.sampled_from(["none", "exp", "mteval", "floor", "add-k"]), "max_ngram_order": st.just(4)},
        optional={
            "effective_order": st.booleans(),
            "weights": st.lists(st.sampled_from([0.0, 0.1, 0.5, 1.0]), min_size=4, max_size=4).filter(any),
        },
    ),
    "chrf": st.fixed_dictionaries(
        {"beta": st.sampled_from([0.0, 0.5, 1.0, 3.0]), "eps_smoothing": st.booleans(), "word_order": st.integers(0, 2)}
    ),
    "nist": st.fixed_dictionaries({"max_ngram_order": st.integers(1, 6)}),
    "sari": st.fixed_dictionaries({"deletion": st.sampled_from(["f", "precision"])}),
    "meteor": st.fixed_dictionaries(
        {"modules": st.just(["exact", "stem"])},
        optional={"parameters": st.sampled_from([[0.75, 1.4, 0.45, 0.7], [0.0, 0.0, 0.9, 1.0]])},
    ),
}


def away_from_kinks(name: str, totals: list[int]) -> list[int]:
    """Totals at which the score has a derivative, near those that are given."""
    if name == "bleu":  # more n-grams than matches, and fewer of higher orders
        possible = sorted(totals[6:], reverse=True)
        totals = [*totals[:2], *(min(pair) for pair in zip(totals[2:6], possible, strict=True)), *possible]
    if name == "meteor":
        totals[0] += totals[2] + 10**4  # words, some of which are no function words
        totals[1] += totals[3] + 10**4
        totals[20] = min(totals[20], (totals[21] + totals[22]) // 4)  # with more chunks the score would be negative
    at = {"bleu": (0, 1), "nist": (-2, -1)}.get(name)
    if at is not None and abs(totals[at[0]] - totals[at[1]]) * 1000 < totals[at[1]]:
        totals[at[0]] += totals[at[1]] // 1000
    return totals


@pytest.mark.parametrize("name", [spec.name for spec in metric_specs()])
def test_gradients_equal_differences_of_scores(name: str) -> None:
    @settings(max_examples=budget(120))
    @given(OPTIONS.get(name, st.just({})), st.data())
    def check(options: dict[str, Any], data: st.DataObject) -> None:
        m = metric(name, **options)
        totals = data.draw(st.lists(COUNT, min_size=len(m.columns), max_size=len(m.columns)))
        totals = away_from_kinks(name, totals)
        slopes, score = closed_form(m, totals), float(m.score(totals))
        assert np.isfinite(slopes).all()
        used = np.array(totals) > 0
        found, expected = (each[used] * np.array(totals)[used] for each in (slopes, by_differences(m, totals)))
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-7 * score)

    check()


def test_orders_without_ngrams_and_without_weight_are_omitted() -> None:
    totals = np.array([10, 0, 10, 0, 0, 10, 0, 0]) * 10**4
    m = metric("bleu", smooth_method="none", max_ngram_order=3, weights=[0.1, 0, 0])
    assert m.score(totals) == 100
    np.testing.assert_allclose(closed_form(m, totals)[[2, 5]], by_differences(m, totals)[[2, 5]], rtol=1e-6)


def test_the_gradient_at_the_kink_of_the_brevity_penalty_is_the_mean_of_both_sides() -> None:
    # S·r/c² and −S/c where the hypotheses are shorter, 0 where they are longer.
    totals = np.array([50, 50, 30, 20, 10, 5, 50, 46, 42, 38])
    score = float(metric("bleu").score(totals))
    at, shorter, longer = (closed_form(metric("bleu"), [n, *totals[1:]])[:2] for n in (50, 49, 51))
    assert at == pytest.approx([score / 100, -score / 100])
    assert shorter == pytest.approx([score * math.exp(1 - 50 / 49) * 50 / 49**2, -score * math.exp(1 - 50 / 49) / 49])
    assert longer.tolist() == [0, 0]


# --- What they are for


def rows_with_few_matches(of_order_4: int) -> Any:
    """200 segments, of which only this many have a matching 4-gram."""
    rng = np.random.default_rng(of_order_4)
    length = rng.integers(8, 30, 200)
    matches = [rng.binomial(length - n, share) for n, share in enumerate((0.5, 0.2, 0.05))]
    fourth = np.zeros(200, dtype=int)
    fourth[:of_order_4] = 1
    return np.stack([length, length + 2, *matches, fourth, *(length - n for n in range(4))], axis=-1)


@pytest.mark.parametrize("few", [1, 2, 3])
def test_standard_errors_are_exact_if_an_order_has_few_matches(few: int) -> None:
    rows = rows_with_few_matches(few)
    # BLEU is the same with all sums multiplied, but its derivatives are divided.
    slopes = by_differences(metric("bleu"), rows.sum(axis=0) * 10**6) * 10**6
    u = (rows - rows.mean(axis=0)) @ slopes
    expected = math.sqrt(200 / 199 * (u**2).sum())
    assert standard_error(rows, "bleu") == pytest.approx(expected, rel=1e-6)
    # Finite differences with steps of one, which functions in Python still use, were this far off.
    function = Formula("BLEU", metric("bleu").score)
    error = abs(standard_error(rows, function) / expected - 1)
    assert {1: 0.10, 2: 0.02, 3: 0.005}[few] < error < 0.3
