"""Gradients of every metric with respect to its summed counts: closed forms against complex steps through slow twins.

For an analytic f the derivative is Im f(x + ih)/h, to the last digits even for tiny h, since nothing is subtracted
(Squire & Trapp 1998, doi:10.1137/S003614459631241X).
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from reshuffle import Formula, FromCounts, SegmentScores, metric, standard_error
from reshuffle.metrics.base import Metric, Scores
from reshuffle.metrics.registry import metric_specs
from reshuffle.resampling.linear import gradient

TINY = 1e-30

Twin = Callable[[Sequence[complex]], complex]


def by_complex_steps(twin: Twin, totals: Sequence[int]) -> list[float]:
    """The derivative with respect to each count that is not 0."""
    return [
        twin([complex(t, TINY * (i == at)) for i, t in enumerate(totals)]).imag / TINY
        for at in range(len(totals))
        if totals[at]
    ]


def closed_form(m: Metric, totals: Sequence[int]) -> Scores:
    array = np.array(totals)
    return gradient(m, array[None, None], array)


def assert_right(m: Metric, twin: Twin, totals: Sequence[int]) -> None:
    """Compare the score and its gradient with the twin's; tolerances scale each derivative by the size of its count."""
    score = float(m.score(totals))
    assert twin([complex(t) for t in totals]).real == pytest.approx(score, rel=1e-9, abs=1e-12)
    slopes = closed_form(m, totals)
    assert np.isfinite(slopes).all()
    found = [slope * t for slope, t in zip(slopes, totals, strict=True) if t]
    expected = [slope * t for slope, t in zip(by_complex_steps(twin, totals), filter(None, totals), strict=True)]
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-11 * (score + 1e-9))


# Zero, small and very large sums.
COUNT = st.one_of(st.just(0), st.integers(1, 4), st.integers(1, 10**7))


# --- BLEU


def bleu_twin(order: int, method: str, amount: float, effective: bool, weights: Sequence[float] | None = None) -> Twin:
    """sacreBLEU's formula (2.6.0, BLEU.compute_bleu), by logarithms; ``mteval`` as mteval-v13a.pl.

    The weight of omitted orders goes to the others in proportion; an order with a weight of 0 is omitted.
    """

    def score(x: Sequence[complex]) -> complex:
        hypothesis, reference, *parts = x
        matches, possible = parts[:order], parts[order:]
        if method != "mteval" and not any(m.real for m in matches):
            return 0
        halving, orders, used = 1.0, order, []
        for n, (m, t) in enumerate(zip(matches, possible, strict=True)):
            if method == "add-k" and n > 0:
                m, t = m + amount, t + amount
            if t.real == 0:
                if method == "mteval":
                    continue  # a precision of 1
                if not effective and (weights is None or any(weights[n:])):
                    return 0
                break
            orders = n + 1 if effective else order
            if m.real == 0:
                halving /= 2
                m = {"exp": halving, "mteval": halving, "floor": amount}.get(method, 0)
            weight = 1.0 if weights is None else weights[n]
            if m == 0 and weight:
                return 0
            used.append(weight * (cmath.log(m) - cmath.log(t)) if weight else 0j)
        if hypothesis.real < reference.real:
            if hypothesis.real == 0:
                return 0
            penalty = 1 - reference / hypothesis
        else:
            penalty = 0j
        each = [1 / order] * order if weights is None else weights
        counted = sum(each[:orders]) / sum(each)
        return 100 * cmath.exp(penalty + sum(used) * (1 / order if weights is None else 1) / (counted or 1))

    return score


@given(
    st.data(),
    st.sampled_from([("none", 0.0), ("exp", 0.0), ("mteval", 0.0), ("floor", 0.1), ("floor", 0.7), ("add-k", 1.0)]),
    st.integers(1, 6),
    st.booleans(),
    st.booleans(),
)
def test_gradients_of_bleu_equal_complex_steps(
    data: st.DataObject, smoothing: tuple[str, float], order: int, effective: bool, weighted: bool
) -> None:
    method, amount = smoothing
    some = st.lists(st.sampled_from([0.0, 0.1, 0.5, 1.0]), min_size=order, max_size=order).filter(any)
    weights = data.draw(some) if weighted else None
    hypothesis, reference = data.draw(COUNT), data.draw(COUNT)
    possible = sorted(data.draw(st.lists(COUNT, min_size=order, max_size=order)), reverse=True)
    matches = [min(t, data.draw(COUNT)) for t in possible]
    totals = [
        hypothesis + (hypothesis == reference),
        reference,
        *matches,
        *possible,
    ]  # away from the kink of the brevity penalty
    options: dict[str, Any] = {"smooth_value": amount} if amount else {}
    if weights is not None:
        options["weights"] = weights
    m = metric("bleu", smooth_method=method, max_ngram_order=order, effective_order=effective, **options)
    assert_right(m, bleu_twin(order, method, amount, effective, weights), totals)


def test_orders_without_ngrams_and_without_weight_are_omitted() -> None:
    totals = [1, 0, 1, 0, 0, 1, 0, 0]
    m = metric("bleu", smooth_method="none", max_ngram_order=3, weights=[0.1, 0, 0])
    assert m.score(totals) == 100
    assert_right(m, bleu_twin(3, "none", 0, False, [0.1, 0, 0]), totals)


def test_the_gradient_at_the_kink_of_the_brevity_penalty_is_the_mean_of_both_sides() -> None:
    # S·r/c² and −S/c where the hypotheses are shorter, 0 where they are longer.
    totals = np.array([50, 50, 30, 20, 10, 5, 50, 46, 42, 38])
    score = float(metric("bleu").score(totals))
    at, shorter, longer = (closed_form(metric("bleu"), [n, *totals[1:]])[:2] for n in (50, 49, 51))
    assert at == pytest.approx([score / 100, -score / 100])
    assert shorter == pytest.approx([score * math.exp(1 - 50 / 49) * 50 / 49**2, -score * math.exp(1 - 50 / 49) / 49])
    assert longer.tolist() == [0, 0]


def test_the_smoothed_value_of_an_order_without_matches_is_constant() -> None:
    totals = [10, 12, 5, 3, 0, 0, 10, 8, 6, 4]
    for options in ({}, {"smooth_method": "floor"}, {"smooth_method": "mteval"}):
        slopes = closed_form(metric("bleu", **options), totals)
        assert slopes[4:6].tolist() == [0, 0]
        assert (slopes[6:] < 0).all()


# --- The others


def f_score(beta: float, precision: complex, recall: complex) -> complex:
    denominator = beta**2 * precision + recall
    return (1 + beta**2) * precision * recall / denominator if denominator else 0


def chrf_twin(beta: float, eps_smoothing: bool) -> Twin:
    """chrF as in sacreBLEU 2.6.0; with ``eps_smoothing`` as in chrF++.py."""

    def score(x: Sequence[complex]) -> complex:
        orders = [(x[i + 2], x[i], x[i + 1]) for i in range(0, len(x), 3)]
        if eps_smoothing:
            ratios = [(m / h if h.real else 1e-16, m / r if r.real else 1e-16) for m, h, r in orders]
            return 100 * sum(f_score(beta, p, r) or 1e-16 for p, r in ratios) / len(orders)
        used = [(m / h, m / r) for m, h, r in orders if h.real and r.real]
        if not used:
            return 0
        means = [sum(ratios) / len(used) for ratios in zip(*used, strict=True)]
        return 100 * f_score(beta, means[0], means[1])

    return score


@given(st.data(), st.integers(1, 4), st.integers(0, 2), st.sampled_from([0.0, 0.5, 1.0, 2.0, 3.0]), st.booleans())
def test_gradients_of_chrf_equal_complex_steps(
    data: st.DataObject, chars: int, words: int, beta: float, eps: bool
) -> None:
    n = 3 * (chars + words)
    totals = data.draw(st.lists(COUNT, min_size=n, max_size=n))
    m = metric("chrf", char_order=chars, word_order=words, beta=beta, eps_smoothing=eps)
    assert_right(m, chrf_twin(beta, eps), totals)


def nist_twin(order: int) -> Twin:
    """mteval-v13a.pl: information per n-gram, and exp(β·ln²(min(1, h/r))), which is ½ at a ratio of two thirds."""

    def score(x: Sequence[complex]) -> complex:
        info, hyp, (h, r) = x[:order], x[order : 2 * order], x[2 * order :]
        gain = sum(i / 2**28 / (n if n.real else 1) for i, n in zip(info, hyp, strict=True))
        if not r.real or h.real >= r.real:
            return gain
        beta = math.log(0.5) / math.log(1.5) ** 2
        return gain * cmath.exp(beta * cmath.log(h / r) ** 2) if h.real else 0

    return score


@given(st.data(), st.integers(1, 6))
def test_gradients_of_nist_equal_complex_steps(data: st.DataObject, order: int) -> None:
    information = st.lists(st.integers(0, 2**40), min_size=order, max_size=order)
    totals = data.draw(information) + data.draw(st.lists(COUNT, min_size=order + 2, max_size=order + 2))
    assert_right(metric("nist", max_ngram_order=order), nist_twin(order), totals)


def ratio(factor: float, otherwise: float = 0) -> Twin:
    def score(x: Sequence[complex]) -> complex:
        return factor * x[0] / x[1] if x[1].real else otherwise * bool(x[0].real)

    return score


RATIOS: dict[str, Twin] = {
    "ter": ratio(100, 100),
    "wer": ratio(100, 100),
    "per": ratio(100, 100),
    "length": ratio(1),
}


@pytest.mark.parametrize("name", RATIOS)
@given(COUNT, COUNT)
def test_gradients_of_ratios_equal_complex_steps(name: str, above: int, below: int) -> None:
    assert_right(metric(name), RATIOS[name], [above, below])


@given(COUNT, COUNT, COUNT)
def test_gradients_of_sentence_bleu_equal_complex_steps(weighted: int, length: int, unweighted: int) -> None:
    assert_right(metric("sentbleu"), ratio(100 / 2**30), [weighted, length, unweighted])


@pytest.mark.parametrize("deletion", ["f", "precision"])
@given(st.lists(COUNT, min_size=36, max_size=36))
def test_gradients_of_sari_equal_complex_steps(deletion: str, totals: list[int]) -> None:
    def of_ngrams(x: Sequence[complex], precise: bool) -> complex:
        both, output, references = x
        factor, possible = (1, output) if precise else (2, output + references)
        return factor * both / possible if possible.real else 0

    def twin(x: Sequence[complex]) -> complex:
        precise = [deletion == "precision" and i >= 8 for i in range(12)]
        return sum(of_ngrams(x[3 * i : 3 * i + 3], precise[i]) for i in range(12)) * 100 / 12

    assert_right(metric("sari", deletion=deletion), twin, totals)


@pytest.mark.parametrize("name", ["rouge1", "rouge2", "rougeL", "rougeLsum"])
@given(st.lists(COUNT, min_size=4, max_size=4))
def test_gradients_of_rouge_equal_complex_steps(name: str, totals: list[int]) -> None:
    assert_right(metric(name), ratio(100 / 2**40), totals)


@pytest.mark.parametrize("name", ["gtm", "depf"])
@given(COUNT, COUNT, COUNT)
def test_gradients_of_f_equal_complex_steps(name: str, match: int, hyp: int, ref: int) -> None:
    def twin(x: Sequence[complex]) -> complex:
        return 200 * x[0] / (x[1] + x[2]) if (x[1] + x[2]).real else 0

    assert_right(metric(name), twin, [match, hyp, ref])


@pytest.mark.parametrize(
    ("options", "parameters"),
    [
        ({}, (0.85, 0.2, 0.6, 0.75)),
        ({"task": "adq"}, (0.75, 1.4, 0.45, 0.7)),
        ({"parameters": [0.0, 0.0, 0.9, 1.0]}, (0.0, 0.0, 0.9, 1.0)),
    ],
)
@given(st.lists(COUNT, min_size=23, max_size=23))
def test_gradients_of_meteor_equal_complex_steps(
    options: dict[str, Any], parameters: Sequence[float], counts: list[int]
) -> None:
    alpha, beta, gamma, delta = parameters
    weights = (1.0, 0.6, 0.0, 0.0) if "task" not in options else (1.0, 1.0, 0.0, 0.0)
    counts[0] += counts[2]
    counts[1] += counts[3]
    counts[20] = min(counts[20], (counts[21] + counts[22]) // 2)  # with more chunks the score would be negative

    def twin(x: Sequence[complex]) -> complex:
        sides = []
        for side in (0, 1):
            length = delta * (x[side] - x[2 + side]) + (1 - delta) * x[2 + side]
            by_module = zip(weights, range(4 + side, 20, 4), strict=True)
            matches = sum(w * (delta * x[i] + (1 - delta) * x[i + 2]) for w, i in by_module)
            sides.append(matches / length if length.real else 0)
        mean = alpha * sides[0] + (1 - alpha) * sides[1]
        matched = (x[21] + x[22]) / 2
        penalty = gamma * (x[20] / matched) ** beta if x[20].real and matched.real else 0
        return 100 * sides[0] * sides[1] / mean * (1 - penalty) if complex(mean).real else 0

    assert_right(metric("meteor", modules=["exact", "stem"], **options), twin, counts)


@given(st.integers(-(10**9), 10**9), st.integers(1, 10**6))
@example(0, 5)
def test_gradients_of_a_mean_of_possibly_negative_scores_equal_complex_steps(total: int, segments: int) -> None:
    m = SegmentScores("x", {"a": [0.25, -1.0]})
    slopes = closed_form(m, [total, segments])
    assert slopes == pytest.approx([1 / 100 / segments, -total / 100 / segments**2], rel=1e-12)


def _errors(x: Sequence[complex]) -> complex:
    return x[0] + x[1] + x[2]


def _error_rate(x: Sequence[complex]) -> complex:
    length = x[0] + x[1] + x[3]
    return 100 * _errors(x) / (length if length.real else 1)


def _match_error_rate(x: Sequence[complex]) -> complex:
    return 100 * _errors(x) / (_errors(x) + x[3]) if (_errors(x) + x[3]).real else 0


def _information_lost(x: Sequence[complex]) -> complex:
    reference, hypothesis = x[0] + x[1] + x[3], x[0] + x[2] + x[3]
    if not (reference + hypothesis).real:
        return 0
    return 100 * (1 - x[3] ** 2 / (reference * hypothesis)) if reference.real and hypothesis.real else 100


OF_SPEECH: dict[str, Twin] = {
    "asr-wer": _error_rate,
    "cer": _error_rate,
    "mer": _match_error_rate,
    "wil": _information_lost,
}


@pytest.mark.parametrize("name", OF_SPEECH)
@given(COUNT, COUNT, COUNT, COUNT)
def test_gradients_of_rates_of_speech_equal_complex_steps(name: str, s: int, d: int, i: int, h: int) -> None:
    assert_right(metric(name), OF_SPEECH[name], [s, d, i, h])


def test_every_native_metric_is_tested_here() -> None:
    assert {spec.name for spec in metric_specs()} == {
        *RATIOS,
        *OF_SPEECH,
        "bleu",
        "sentbleu",
        "nist",
        "chrf",
        "chrf++",
        "gtm",
        "meteor",
        "depf",
        "rouge1",
        "rouge2",
        "rougeL",
        "rougeLsum",
        "sari",
    }


def test_gradients_of_many_totals_equal_those_of_each_and_external_counts_use_their_metrics() -> None:
    totals = np.random.default_rng(3).integers(0, 50, (4, 7, 10))
    for m in (metric("bleu"), FromCounts("given", {"a": totals[0]}, "bleu")):
        each = [[closed_form(metric("bleu"), row) for row in rows] for rows in totals]
        np.testing.assert_array_equal(np.array(each), gradient(m, totals, totals))


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
    totals = rows.sum(axis=0)
    slopes = np.array(by_complex_steps(bleu_twin(4, "exp", 0, False), totals.tolist()))
    u = (rows - rows.mean(axis=0)) @ slopes
    expected = math.sqrt(200 / 199 * (u**2).sum())
    assert standard_error(rows, "bleu") == pytest.approx(expected, rel=1e-12)
    # Finite differences with steps of one, which functions in Python still use, were this far off.
    function = Formula("BLEU", metric("bleu").score)
    error = abs(standard_error(rows, function) / expected - 1)
    assert {1: 0.10, 2: 0.02, 3: 0.005}[few] < error < 0.3


@pytest.mark.parametrize("name", ["bleu", "nist", "chrf", "ter"])
def test_the_jackknife_converges_to_the_delta_method(name: str) -> None:
    rng = np.random.default_rng(8)
    words = "the a cat dog sat barked on at mat moon".split()
    references = [" ".join(rng.choice(words, rng.integers(5, 12))) for _ in range(60)]
    systems = [[" ".join(w for w in line.split() if rng.random() < keep) for line in references] for keep in (0.9, 0.8)]
    m = metric(name)
    a, b = m.suff_stats([references], systems)
    apart = []
    for times in (1, 10, 100):
        many = [np.tile(rows, (times, 1)) for rows in (a, b)]
        delta, jackknife = (standard_error(many[0], m, b=many[1], method=how) for how in ("delta", "jackknife"))
        apart.append(abs(jackknife / delta - 1))
    # The delta method drops the terms after the linear one; these are of the order of 1/S.
    assert apart[0] < 0.1
    assert apart[1] < 0.2 * apart[0] + 1e-9
    assert apart[2] < 0.2 * apart[1] + 1e-9
