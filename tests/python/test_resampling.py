"""Replicates: rebuilt in numpy from the generator up, enumerated, and the same whoever computes them."""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from reshuffle import Formula, InputError, _core, approximate_randomization, bootstrap_test, metric
from reshuffle.metrics import Counts, Scores
from reshuffle.resampling import Family, Replicates

BLEU = metric("bleu")


def random_counts(seed: int, systems: int, segments: int) -> Counts:
    """Counts of made-up BLEU systems: matches fall with the order, totals are lengths less the order."""
    rng = np.random.default_rng(seed)
    length = rng.integers(1, 40, size=(systems, segments))
    reference = np.broadcast_to(rng.integers(1, 40, size=segments), (systems, segments))
    totals = [np.maximum(length - n, 0) for n in range(4)]
    matches = [rng.binomial(t, 0.6 / 1.5**n) for n, t in enumerate(totals)]
    return np.stack([length, reference, *matches, *totals], axis=-1).astype(np.int64)


def flips(seed: int, replicate: int, segments: int) -> NDArray[np.bool_]:
    """The flips of a replicate, from numpy's own Philox."""
    key = np.array([seed, replicate], dtype=np.uint64)
    words = np.random.Philox(key=key).random_raw(-(-segments // 64))
    return np.unpackbits(words.astype("<u8").view(np.uint8), bitorder="little")[:segments].astype(bool)


def philox(seed: int, replicate: int, purpose: int) -> np.random.Philox:
    """A stream of numpy's own."""
    key, counter = np.array([seed, replicate], dtype=np.uint64), np.array([0, 0, 0, purpose], dtype=np.uint64)
    return np.random.Philox(key=key, counter=counter)


@cache
def law(segments: int) -> tuple[list[tuple[int, ...]], list[tuple[float, tuple[int, ...]]]]:
    """The triples that sixteen bits stand for, and the others with the sum of their probabilities so far."""
    rate = max(1 - 2 / segments**0.5, 0.0)
    terms = [1.0]
    for k in range(1, 18):
        terms.append(terms[-1] * rate / k)
    total = sum(terms)
    pmf = [term / total for term in terms]
    decided: list[tuple[int, ...]] = []
    left, rest = 0.0, []
    for triple in product(range(18), repeat=3):
        probability = pmf[triple[0]] * pmf[triple[1]] * pmf[triple[2]]
        if max(triple) <= 5:
            values = int(probability * 65536)
            decided += [triple] * values
            probability -= values / 65536
        left += probability
        rest.append((left, triple))
    return decided, rest


def poisson_weights(seed: int, replicate: int, segments: int) -> NDArray[np.int64]:
    """Step 1 of rust/src/resample/multinomial.rs from numpy's Philox: three segments at a time."""
    decided, rest = law(segments)
    n_triples = -(-segments // 3)
    sixteens = philox(seed, replicate, 1).random_raw(-(-n_triples // 4)).astype("<u8").view("<u2")
    words = philox(seed, replicate, 2).random_raw(n_triples)
    drawn: list[int] = []
    for bits, word in zip(sixteens.tolist(), words.tolist(), strict=False):
        if bits < len(decided):
            drawn += decided[bits]
        else:
            at = (word >> 11) / 2**53 * rest[-1][0]
            drawn += next((triple for so_far, triple in rest if so_far > at), rest[-1][1])
    return np.array(drawn[:segments])


def weights(seed: int, replicate: int, segments: int) -> NDArray[np.int64]:
    """How often a draw takes each segment: step 2, make it S draws."""
    out = poisson_weights(seed, replicate, segments)
    candidates = np.random.Generator(philox(seed, replicate, 3))
    levels = np.random.Generator(philox(seed, replicate, 4))
    for _ in range(segments - out.sum()):
        out[candidates.integers(segments)] += 1
    while out.sum() > segments:
        segment, level = candidates.integers(segments), levels.integers(17)
        out[segment] -= level < out[segment]
    return out


def shuffled_statistic(a: Counts, b: Counts, flip: NDArray[np.bool_]) -> float:
    """The slow, obvious way: swap rows, sum, score, subtract."""
    x, y = np.where(flip[:, None], b, a), np.where(flip[:, None], a, b)
    return float(BLEU.score(x.sum(axis=0)) - BLEU.score(y.sum(axis=0)))


SEEDS = st.integers(0, 2**64 - 1)


@given(SEEDS, SEEDS, st.sampled_from(["shuffle", "draw"]))
def test_words_are_those_of_numpys_philox(seed: int, replicate: int, purpose: str) -> None:
    counter = np.array([0, 0, 0, purpose == "draw"], dtype=np.uint64)
    expected = np.random.Philox(key=np.array([seed, replicate], dtype=np.uint64), counter=counter).random_raw(9)
    np.testing.assert_array_equal(expected, _core.stream_words(seed, purpose, replicate, 9))


@given(SEEDS, st.integers(1, 2**32 - 1))
def test_indices_are_those_of_numpys_bounded_integers(seed: int, bound: int) -> None:
    key = np.array([seed, 5], dtype=np.uint64)
    generator = np.random.Generator(np.random.Philox(key=key, counter=np.array([0, 0, 0, 1], dtype=np.uint64)))
    np.testing.assert_array_equal(generator.integers(bound, size=99), _core.stream_indices(seed, 5, bound, 99))


def test_indices_are_uniform() -> None:
    counts = np.bincount(_core.stream_indices(1, 0, 100, 1_000_000), minlength=100)
    chi2 = ((counts - 10_000) ** 2 / 10_000).sum()
    assert 50 < chi2 < 160  # 99 degrees of freedom: 1e-5 on either side


def test_flips_of_neighbouring_replicates_and_seeds_are_uncorrelated() -> None:
    words = {key: _core.stream_words(key[0], "shuffle", key[1], 2000) for key in product((1, 2), (0, 1, 2))}
    bits = {key: np.unpackbits(w.view(np.uint8)) for key, w in words.items()}
    n = 128_000
    for one, other in product(bits, bits):
        agreement = int((bits[one] == bits[other]).sum())
        assert (agreement == n) if one == other else abs(agreement - n / 2) < 5 * (n / 4) ** 0.5


@given(st.integers(0, 1000), st.integers(2, 300), SEEDS)
def test_shuffles_equal_those_rebuilt_in_numpy(data_seed: int, segments: int, seed: int) -> None:
    a, b = random_counts(data_seed, 2, segments)
    got = approximate_randomization(a, b, BLEU, n_resamples=20, seed=seed, keep_null_distribution=True)
    expected = [shuffled_statistic(a, b, flips(seed, r, segments)) for r in range(20)]
    np.testing.assert_array_equal(expected, got.null_distribution)
    reached = int((np.abs(expected) >= abs(got.statistic)).sum())
    assert reached == got.exceedances
    assert (reached + 1) / 21 == got.pvalue


@settings(max_examples=25)
@given(SEEDS, SEEDS, st.integers(1, 400) | st.sampled_from([3000, 3004]))
def test_weights_of_draws_equal_those_rebuilt_in_numpy(seed: int, replicate: int, segments: int) -> None:
    np.testing.assert_array_equal(weights(seed, replicate, segments), _core.draw_weights(seed, replicate, segments))


def test_weights_of_draws_that_come_out_above_s_are_thinned_out() -> None:
    above = [replicate for replicate in range(400) if poisson_weights(1, replicate, 50).sum() > 50]
    assert len(above) > 2
    for replicate in above:
        np.testing.assert_array_equal(weights(1, replicate, 50), _core.draw_weights(1, replicate, 50))


def test_weights_of_draws_have_the_moments_of_a_multinomial_law() -> None:
    segments, n = 200, 20_000
    drawn = np.array([_core.draw_weights(5, r, segments) for r in range(n)], dtype=float)
    mean, variance, covariance = 1, 1 - 1 / segments, -1 / segments
    assert abs(drawn.mean(axis=0) - mean).max() < 5 * (variance / n) ** 0.5
    assert abs(drawn.var(axis=0) - variance).max() < 6 * (3 * variance**2 / n) ** 0.5
    observed = np.cov(drawn.T)
    off = observed[~np.eye(segments, dtype=bool)]
    assert off.mean() == pytest.approx(covariance, rel=0.02)
    assert abs(off - covariance).max() < 6 / n**0.5


@given(st.integers(0, 1000), st.integers(2, 300), SEEDS)
def test_draws_add_the_rows_as_often_as_their_weights_say(data_seed: int, segments: int, seed: int) -> None:
    counts = random_counts(data_seed, 3, segments)
    (got,) = Replicates([Family(BLEU, counts)], n_resamples=10, seed=seed).draws
    expected = [BLEU.score(np.tensordot(_core.draw_weights(seed, r, segments), counts, (0, 1))) for r in range(10)]
    np.testing.assert_array_equal(np.transpose(expected), got)


@pytest.mark.parametrize("segments", range(2, 13))
def test_all_shuffles_are_enumerated_and_the_test_estimates_their_share(segments: int) -> None:
    a, b = random_counts(segments, 2, segments)
    masks = np.array(list(product([False, True], repeat=segments)))
    observed = shuffled_statistic(a, b, masks[0])
    statistics = np.array([shuffled_statistic(a, b, mask) for mask in masks])
    expected = int((np.abs(statistics) >= abs(observed)).sum())
    counts = np.stack([a, b])
    got = _core.shuffle_tally(
        [(BLEU.core, counts)], [(0, 1)], "two-sided", np.array([[abs(observed)]]), n=0, seed=0, masks=masks
    )
    assert expected == got[0, 0]
    share, n = expected / len(masks), 100_000
    estimate = approximate_randomization(a, b, BLEU, n_resamples=n)
    assert abs(estimate.pvalue - share) < 5 * (share * (1 - share) / n) ** 0.5 + 1 / n


def test_identical_systems_get_p_1() -> None:
    a = random_counts(1, 1, 500)[0]
    assert approximate_randomization(a, a, BLEU, n_resamples=999).pvalue == 1
    for method in ("centred", "shift", "paired"):
        assert bootstrap_test(a, a, BLEU, method=method, n_resamples=999).pvalue == 1


@pytest.mark.parametrize(("differing", "least"), [(1, 1.0), (2, 0.5), (3, 0.25)])
def test_systems_that_differ_in_few_segments_cannot_get_a_small_p(differing: int, least: float) -> None:
    # sacreBLEU 2.6.0 and MultEval count > instead of ≥ and give 1/(R + 1) to all of these.
    for seed in range(10):
        a = random_counts(seed, 1, 200)[0]
        b = a.copy()
        b[:differing, 2:6] //= 2
        n = 10_000
        result = approximate_randomization(a, b, BLEU, n_resamples=n, seed=seed)
        masks = np.array([[bool(m >> s & 1) for s in range(200)] for m in range(2**differing)])
        statistics = np.array([shuffled_statistic(a, b, mask) for mask in masks])
        exact = float((np.abs(statistics) >= abs(result.statistic)).mean())
        assert exact >= least
        assert abs(result.pvalue - exact) < 5 * (exact * (1 - exact) / n) ** 0.5 + 1 / n
        assert differing > 1 or result.pvalue == 1


def test_results_are_the_same_bytes_for_any_number_of_threads() -> None:
    counts = random_counts(3, 4, 3000)
    pairs = [(0, 1), (2, 1), (3, 0)]

    def run(threads: int) -> list[bytes]:
        replicates = Replicates([Family(BLEU, counts)], n_resamples=3000, seed=9, threads=threads)
        return [replicates.shuffles(pairs).tobytes(), replicates.draws[0].tobytes()]

    expected = run(1)
    for threads in (2, 3, 8):
        assert expected == run(threads)


def bleu_in_numpy(totals: Counts) -> Scores:
    """BLEU with exponential smoothing, in the same order of operations as the core, as a formula."""
    matches, possible = totals[..., 2:6].astype(float), totals[..., 6:10].astype(float)
    zeros = np.cumsum(matches == 0, axis=-1)
    matches = np.where(matches == 0, 0.5**zeros, matches)
    precisions = np.where(possible > 0, matches / np.maximum(possible, 1), 0)
    product = precisions[..., 0] * precisions[..., 1] * precisions[..., 2] * precisions[..., 3]
    hypothesis, reference = totals[..., 0], totals[..., 1]
    penalty = np.exp(np.minimum(1 - reference / np.maximum(hypothesis, 1), 0)) * (hypothesis > 0)
    return np.where(totals[..., 2:6].any(axis=-1), 100 * penalty * np.sqrt(np.sqrt(product)), 0.0)


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_a_formula_and_a_native_metric_see_the_same_replicates(monkeypatch: Any, alternative: str) -> None:
    monkeypatch.setattr("reshuffle.resampling.BATCH_CELLS", 20 * 300)  # several batches
    counts = random_counts(4, 2, 100)
    families = [Family(BLEU, counts), Family(Formula("numpy", bleu_in_numpy), counts), Family(BLEU, counts)]
    replicates = Replicates(families, n_resamples=1000, seed=3)
    pairs = [(0, 1), (1, 0)]
    native, formula, again = replicates.shuffles(pairs)
    np.testing.assert_array_equal(native, again)
    np.testing.assert_allclose(native, formula, atol=1e-12)
    np.testing.assert_allclose(replicates.draws[0], replicates.draws[1], atol=1e-12)
    tally = replicates.tally(pairs, np.full((3, 2), 0.1), alternative)
    statistic = np.abs(native) if alternative == "two-sided" else native
    reached = statistic <= 0.1 if alternative == "less" else statistic >= 0.1
    np.testing.assert_array_equal(np.stack([reached.sum(axis=1)] * 3), tally)


def test_counts_of_any_integer_size_are_exact() -> None:
    # Fixed-point columns need wide lanes: the sums must not wrap, and the largest differences must be kept.
    rng = np.random.default_rng(0)
    counts = rng.integers(-(2**50), 2**50, size=(2, 500, 3))
    sums = _core.draw_sums([counts], n=5, seed=1)
    for replicate in range(5):
        expected = np.tensordot(_core.draw_weights(1, replicate, 500).astype(np.int64), counts, (0, 1))
        np.testing.assert_array_equal(expected.ravel(), sums[replicate])


@pytest.mark.parametrize(
    ("a", "b", "options", "message"),
    [
        ([[1], [2]], [[1], [2], [3]], {}, r"same shape \(segments, counts\), got \(2, 1\) and \(3, 1\)"),
        ([[1]], [[2]], {}, "one segment only"),
        ([1, 2], [1, 2], {}, r"a must have 2 dimensions, got shape \(2,\)"),
        ([[1.5], [2]], [[1], [2]], {}, "a must be whole numbers, got 1.5"),
        ([[float("nan")], [2]], [[1], [2]], {}, "a must be whole numbers, got nan"),
        ([["x"], ["y"]], [[1], [2]], {}, "a must be integers"),
        ([[], []], [[], []], {}, "a must hold at least one row of counts"),
        ([[2**62], [1]], [[1], [2]], {}, "counts of column 0 are too large"),
        (
            [[1], [2]],
            [[1], [2]],
            {"n_resamples": 0},
            "n_resamples must be a whole number from 1 to 9007199254740992, got 0",
        ),
        ([[1], [2]], [[1], [2]], {"n_resamples": 10.5}, "n_resamples must be a whole number"),
        ([[1], [2]], [[1], [2]], {"seed": -1}, "seed must be a whole number from 0 to 18446744073709551615, got -1"),
        ([[1], [2]], [[1], [2]], {"threads": 0}, "threads must be a whole number from 1 to 4096, got 0"),
        ([[1], [2]], [[1], [2]], {"alternative": "bigger"}, "unknown alternative 'bigger'"),
    ],
)
def test_arguments_that_cannot_be_used_are_refused(a: Any, b: Any, options: dict[str, Any], message: str) -> None:
    mean = Formula("mean", lambda totals: totals[..., 0] / 2)
    with pytest.raises(InputError, match=message):
        approximate_randomization(a, b, mean, **options)


def test_counts_of_another_width_than_the_metrics_are_refused() -> None:
    with pytest.raises(InputError, match="columns of BLEU: expected 10, got 1"):
        approximate_randomization([[1], [2]], [[1], [2]], "bleu")


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda totals: totals.sum(), "the function gave shape"),
        (lambda totals: totals[..., 0] * np.nan, "is not a finite number"),
        (lambda totals: np.full(totals.shape[:-1], np.inf), "is not a finite number"),
    ],
)
def test_a_formula_that_gives_no_score_is_refused(function: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        approximate_randomization([[1], [2]], [[2], [3]], function)
