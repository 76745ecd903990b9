"""Studentized approximate randomization beside its definition, unit by unit in numpy."""

import itertools
import math
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from benches.simulations import studentized_numpy as twin
from benches.simulations.studentized_numpy import Probed
from budgets import budget
from known import known
from reshuffle import CorpusFunction, InputError, SegmentScores, _core, approximate_randomization, compare, metric
from reshuffle.inference import studentized as inference
from reshuffle.metrics.base import Counts, Metric, Scores
from reshuffle.metrics.named import resolve
from reshuffle.resampling import Batch, CountSample, Replicates, Series, TextSample
from reshuffle.resampling.studentized import Constants, _cross, studentize
from reshuffle.resampling.units import Documents, Strata
from reshuffle.settings import Resampling
from step_down import step_down

Flips = NDArray[np.bool_]

ALTERNATIVES = ("two-sided", "greater", "less")


# Counts of metrics, (2, S, K).


def of_texts(name: str, rng: np.random.Generator, n: int) -> Counts:
    """Of outputs with some words changed and others left out; some segments are empty, and some equal."""
    words = np.array([*"abcdefgh"])
    references = [rng.choice(words, rng.integers(0, 30)) for _ in range(n)]

    def output(rate: float) -> list[str]:
        changed = [np.where(rng.random(len(line)) < rate, rng.choice(words, len(line)), line) for line in references]
        return [" ".join(line[rng.random(len(line)) < rng.choice([0, 0.8, 1, 1, 1])]) for line in changed]

    counts: Counts = metric(name).suff_stats([[" ".join(line) for line in references]], [output(0.4), output(0.5)])
    return counts


def depf_like(rng: np.random.Generator, n: int) -> Counts:
    sizes = rng.integers(1, 30, (2, n)), np.stack([rng.integers(1, 30, n)] * 2)
    return np.stack([rng.binomial(np.minimum(*sizes), 0.7), *sizes], axis=-1)


def f_score_of_python(totals: Counts) -> Scores:
    """A callable with a curved formula: 200·m/(h + r), or 0."""
    matched, hypothesis, reference = np.moveaxis(totals, -1, 0)
    scores: Scores = 200 * matched / np.maximum(hypothesis + reference, 1)
    return scores


NAMES = ("bleu", "sentbleu", "nist", "chrf", "chrf++", "ter", "wer", "per", "gtm", "length")
CASES: dict[str, tuple[Any, Callable[[np.random.Generator, int], Counts]]] = {
    **{name: (name, partial(of_texts, name)) for name in NAMES},
    "bleu, floor": (metric("bleu", smooth_method="floor"), partial(of_texts, "bleu")),
    "depf": ("depf", depf_like),
    "callable": (f_score_of_python, depf_like),
}


def sample_of(
    m: Any, counts: Counts, documents: Sequence[int] | None = None, strata: Sequence[int] | None = None
) -> CountSample:
    """The sample that the public functions make."""
    sample = CountSample.from_counts(resolve(m), counts)
    if documents is not None:
        sample = sample.by_document(Documents(np.array(documents)))
    return sample if strata is None else sample.stratified(Strata(np.array(strata)))


def statistics_of(sample: CountSample, n: int, **options: Any) -> Scores:
    """z of the first n shuffles."""
    replicates = Replicates([studentize(sample, (0, 1))], Resampling(n, 3, **options))
    (statistics,) = replicates.run([Series()], [(0, 1)])
    return np.asarray(statistics[0, 0])


# The definition, with derivatives of its own.


def derivatives(m: Metric, totals: Counts) -> Scores:
    """The gradient at (K,) totals: of the core, or by the same finite differences as the module's, term by term."""
    if m.core is not None:
        return np.asarray(m.core.gradients(totals[None])[0])
    slopes = np.zeros(len(totals))
    for k, total in enumerate(totals.tolist()):
        if total > 0:
            up, down = totals.copy(), totals.copy()
            up[k] += 1  # the sums of these tests are below 2^16
            down[k] -= total > 1
            slopes[k] = (m.score(up) - m.score(down)) / (up[k] - down[k])
    return slopes


def definition(m: Metric, a: Counts, b: Counts, flips: Flips, strata: Sequence[int]) -> tuple[float, float]:
    """The difference on one shuffle and its variance, from the contribution of each unit."""
    x, y = np.where(flips[:, None], b, a), np.where(flips[:, None], a, b)
    at_x, at_y = derivatives(m, x.sum(axis=0)), derivatives(m, y.sum(axis=0))
    mean, half = (at_x + at_y) / 2, (at_x - at_y) / 2
    contributions = (x + y) @ half
    # ḡ·δ, projected on the directions, which are orthogonal in the metric of Σδδ'.
    # They are the gradient in the middle, and the module's second direction, if any.
    middle = derivatives(m, -(-(a + b).sum(axis=0) // 2))
    for direction in (middle, *Probed.from_counts(m, a, b).directions[1:]):
        products = (x - y) @ direction
        if products.any():
            contributions = contributions + products * (products @ ((x - y) @ mean)) / (products @ products)
    variance = 0.0
    for stratum in set(strata):
        own = contributions[np.array(strata) == stratum]
        if len(own) > 1:
            variance += len(own) / (len(own) - 1) * ((own - own.mean()) ** 2).sum()
    return float(m.score(x.sum(axis=0)) - m.score(y.sum(axis=0))), variance


def close_to_definition(sample: CountSample, strata: Sequence[int], n: int = 24) -> None:
    """Contributions and columns of w are rounded to 1/64 of their root mean square or finer.

    A rounding error of u/√12, for u = 1/64, adds 1/√12/64 = .0045 of a contribution that is independent of it: with 60
    units, v changes by about .0045·2/√60 = .0012, and z by half of it. Several columns of w that cancel may be rounded,
    so ten times that is allowed; dropping or confusing any term changes z by much more.
    """
    a, b = sample.counts
    got = statistics_of(sample, n)
    units = sample.n_units
    shuffles = [Batch(3, 0, n, 1).flips(r, units)[:units].astype(bool) for r in range(n)]
    expected = [definition(sample.metric, a, b, flips, strata) for flips in shuffles]
    z = [difference / max(variance, 1e-300) ** 0.5 for difference, variance in expected]
    assert got == pytest.approx(z, rel=6e-3, abs=1e-6)
    observed = studentize(sample, (0, 1)).observed
    difference, variance = definition(sample.metric, a, b, np.zeros(sample.n_units, bool), strata)
    assert observed.difference == pytest.approx(difference, rel=1e-12)
    assert observed.error == pytest.approx(variance**0.5, rel=6e-3)


@pytest.mark.parametrize("case", CASES)
@given(seed=st.integers(0, 2**32))
@settings(max_examples=budget(3))
def test_statistics_equal_the_definition(case: str, seed: int) -> None:
    m, invent = CASES[case]
    rng = np.random.default_rng(seed)
    counts = invent(rng, 60)
    close_to_definition(sample_of(m, counts), [0] * 60)
    # Strata of different sizes, the last of a single unit.
    strata = [0] * 31 + [1] * 18 + [2] * 10 + [3]
    close_to_definition(sample_of(m, counts, strata=strata), strata)
    documents, counts = np.concatenate([np.arange(30), rng.integers(0, 30, 120)]).tolist(), invent(rng, 150)
    close_to_definition(sample_of(m, counts, documents), [0] * 30)
    strata = [0] * 15 + [1] * 15  # of equal sizes
    close_to_definition(sample_of(m, counts, documents, strata), strata)


@given(seed=st.integers(0, 2**32), n_documents=st.integers(8, 20))
@settings(max_examples=budget(10))
def test_statistics_of_means_over_documents_equal_the_definition(seed: int, n_documents: int) -> None:
    """Unequal numbers of segments make the mean a ratio."""
    rng = np.random.default_rng(seed)
    scores = SegmentScores("score", {"a": rng.normal(size=80).round(2), "b": rng.normal(0.1, size=80).round(2)})
    documents = np.concatenate([np.arange(n_documents), rng.integers(0, n_documents, 80 - n_documents)]).tolist()
    close_to_definition(sample_of(scores, scores.counts_of(["a", "b"]), documents), [0] * n_documents)


# Exactness.


def swapped(a: Counts, b: Counts, flips: Sequence[int]) -> tuple[Counts, Counts]:
    at = np.array(flips, bool)[:, None]
    return np.where(at, b, a), np.where(at, a, b)


SMALL = ("bleu", "ter", "chrf", "callable")


@pytest.mark.parametrize("case", SMALL)
@pytest.mark.parametrize("alternative", ALTERNATIVES)
@given(seed=st.integers(0, 2**32), n=st.integers(2, 5), strata=st.booleans())
@settings(max_examples=budget(5))
def test_the_test_is_exact_whichever_arrangement_is_observed(
    case: str, alternative: str, seed: int, n: int, strata: bool
) -> None:
    """Over all arrangements of the same outputs, at most a share α has p ≤ α."""
    m, invent = CASES[case]
    a, b = invent(np.random.default_rng(seed), n)
    ids = [0] + [1] * (n - 1) if strata and n > 2 else None
    options: dict[str, Any] = {"strata": ids, "test": "ar-studentized", "alternative": alternative}
    arrangements = [swapped(a, b, flips) for flips in itertools.product((0, 1), repeat=n)]
    p = [approximate_randomization(*both, m, scheme="exact", **options).pvalue for both in arrangements]
    for alpha in {*p}:
        assert np.mean(np.array(p) <= alpha) <= alpha + 1e-12
    # The statistics of the arrangements are the same, up to sign, whichever of them is observed.
    null = []
    for x, y in (arrangements[0], arrangements[len(arrangements) // 3], arrangements[-1]):
        sample = sample_of(m, np.stack([x, y]), strata=ids)
        z = [studentize(sample_of(m, np.stack(both), strata=ids), (0, 1)).observed.value for both in arrangements]
        replicates = Replicates([studentize(sample, (0, 1))], Resampling(1 << n, 1))
        codes = np.uint64(1) << np.arange(n, dtype=np.uint64)
        (statistics,) = replicates.with_codes(codes, 1 << n).run([Series()], [(0, 1)])
        null.append(np.sort(statistics[0, 0]))
        assert null[-1] == pytest.approx(np.sort(z), rel=1e-8, abs=1e-8)
    if resolve(m).core is not None:
        assert all((one == null[0]).all() for one in null)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("case", ["bleu", "ter"])
def test_the_test_of_a_subgroup_is_exact(case: str, alternative: str) -> None:
    """Over the arrangements of a subgroup, at most a share α has p ≤ α."""
    m, invent = CASES[case]
    a, b = invent(np.random.default_rng(7), 30)
    options: dict[str, Any] = {"test": "ar-studentized", "alternative": alternative, "scheme": "subgroup"}
    options["n_resamples"] = 32
    codes = _core.stream_values(12345, "code", 0, len(a))  # of the default seed
    patterns = [[bin(int(code) & g).count("1") % 2 for code in codes] for g in range(32)]
    p = np.array([approximate_randomization(*swapped(a, b, flips), m, **options).pvalue for flips in patterns])
    assert len(set(p.tolist())) > 8
    for alpha in set(p.tolist()):
        assert np.mean(p <= alpha) <= alpha + 1e-12


# The slow twin in numpy.


def equals_the_twin(m: Any, a: Counts, b: Counts, strata: Sequence[int] | None = None) -> _core.Cross:
    """The core has the same integers, and matrices that differ by rounding errors only."""
    metric_of = resolve(m)
    of_units = Strata.or_single(None if strata is None else Strata(np.array(strata)), len(a))
    a, b = map(np.ascontiguousarray, (a, b))
    got, expected = _cross(metric_of, a, b, of_units), twin.cross_of(metric_of, a, b, of_units)
    np.testing.assert_array_equal(got.contributions.T, expected.contributions)
    np.testing.assert_array_equal(got.terms.T, expected.terms)
    np.testing.assert_array_equal(got.rows(a, b), expected.append_to(a, b))
    assert got.follows_difference == expected.follows_difference
    for name, found in zip(Constants.__dataclass_fields__, got.constants, strict=True):
        matrix: Any = found
        expected_matrix = np.asarray(getattr(expected.constants, name))
        assert np.shape(matrix) == expected_matrix.shape, name
        largest = np.abs(expected_matrix).max(initial=0)
        np.testing.assert_allclose(matrix, expected_matrix, rtol=1e-9, atol=1e-12 * largest, err_msg=name)
    return got


@pytest.mark.parametrize("case", CASES)
@given(seed=st.integers(0, 2**32), n=st.integers(2, 700), same=st.sampled_from([0, 0.5, 0.97, 1]), strata=st.booleans())
@settings(max_examples=budget(15))
def test_constants_and_cross_columns_equal_those_of_the_twin(
    case: str, seed: int, n: int, same: float, strata: bool
) -> None:
    m, invent = CASES[case]
    rng = np.random.default_rng(seed)
    a, b = invent(rng, n)
    is_same = rng.random(n) < same
    b[is_same] = a[is_same]
    equals_the_twin(m, a, b, rng.permutation(np.arange(n) % 3).tolist() if strata and n > 5 else None)


@given(st.integers(0, 10**6), st.integers(2, 2000), st.integers(-3, 2), st.sampled_from([2, 3, 50, 2**40]))
@example(1, 1100, 0, 2**40)
@settings(max_examples=budget(60))
def test_columns_that_are_nearly_alike_are_reduced_to_their_exceptions(
    seed: int, units: int, more: int, below: int
) -> None:
    """The twin compares all pairs of columns. The core rules out most of them by a quick comparison.

    There are about as many exceptions as there may be, all in the units that are compared first, and each changes two
    steps there.
    """
    rng = np.random.default_rng(seed)
    columns = rng.integers(0, below, (5, units))
    for copy, base in ((2, 0), (3, 1), (4, 0)):  # copies plus a constant, with exceptions
        places = np.arange(0, units, 2 * max(1, units // 256))
        some = rng.permutation(places)[: max(0, units // 64 + more)]
        kept = columns[copy, some]
        columns[copy] = columns[base] + 7
        columns[copy, some] = kept

    def curved(totals: Counts) -> Scores:
        scores: Scores = np.prod(np.sqrt(np.maximum(totals, 0) / (below * units)), axis=-1)
        return scores

    a, b = columns.T.copy(), np.zeros((units, 5), dtype=np.int64)
    cross = equals_the_twin(curved, a, b)
    if units > 1100 and below > 3:
        assert 2 <= len(cross.terms) <= 5


# Means.


def means_of(seed: int, n: int, kind: str) -> tuple[Scores, Scores]:
    """Segment scores: with ties, without, or mostly equal ones."""
    rng = np.random.default_rng(seed)
    if kind == "real":
        both = rng.normal(size=(2, n))
    elif kind == "coarse":
        both = rng.integers(-4, 5, (2, n)) / 10
    else:
        both = np.where(rng.random((2, n)) < 0.15, rng.integers(0, 3, (2, n)), 1) * 1.0
    return both[0], both[1]


KINDS = ("real", "coarse", "mostly equal")


@given(
    seed=st.integers(0, 2**32),
    n=st.integers(2, 40),
    kind=st.sampled_from(KINDS),
    scheme=st.sampled_from(["iid", "exact", "auto", "subgroup"]),
    alternative=st.sampled_from(ALTERNATIVES),
    stopping=st.sampled_from([None, None, "besag-clifford", "gandy"]),
)
@settings(max_examples=budget(100))
def test_p_of_means_equals_that_of_ar(
    seed: int, n: int, kind: str, scheme: str, alternative: str, stopping: str | None
) -> None:
    n = min(n, 14) if scheme == "exact" else n
    a, b = means_of(seed, n, kind)
    options: dict[str, Any] = {"scheme": "iid" if stopping else scheme, "stopping": stopping}
    options |= {"alternative": alternative, "n_resamples": 200, "seed": seed}
    one = approximate_randomization(a, b, test="ar-studentized", **options)
    other = approximate_randomization(a, b, **options)
    for field in ("pvalue", "exceedances", "n_resamples", "scheme"):
        assert getattr(one, field) == getattr(other, field)


@given(seed=st.integers(0, 2**32), n=st.integers(2, 40), alternative=st.sampled_from(ALTERNATIVES))
@settings(max_examples=budget(40))
def test_p_of_a_mean_in_python_equals_that_of_ar(seed: int, n: int, alternative: str) -> None:
    """Finite differences of a linear function are not exactly constant, and many shuffles have the same difference."""
    a, b = np.random.default_rng(seed).integers(0, 3, (2, n, 1)) * 1_007
    options: dict[str, Any] = {"alternative": alternative, "n_resamples": 200, "scheme": "iid"}

    def mean(totals: Counts) -> Scores:
        return np.asarray(totals[..., 0] / 7.3 - 1e4)

    one, other = (approximate_randomization(a, b, mean, test=test, **options) for test in ("ar-studentized", "ar"))
    assert one.pvalue == other.pvalue


@given(seed=st.integers(0, 2**32))
@settings(max_examples=budget(20))
def test_strata_of_equal_sizes_are_not_left_to_ar(seed: int) -> None:
    """Sums over each stratum are subtracted, so z is not a function of the difference."""
    a, b = means_of(seed, 12, "real")
    strata = [0] * 6 + [1] * 6
    result = approximate_randomization(a, b, strata=strata, test="ar-studentized", scheme="exact")
    shuffled = [(a - b) * signs for signs in itertools.product((1, -1), repeat=12)]
    z = [delta.sum() / Strata(np.array(strata)).variance(delta) ** 0.5 for delta in shuffled]
    assert result.pvalue == np.mean(np.abs(z) >= abs(z[0]) * (1 - 1e-9))


def test_a_curved_formula_of_one_column_is_not_left_to_ar() -> None:
    """Matches of one order differ, and both systems' sums are constant: no column of w, but another gradient."""
    counts = np.full((2, 8, 10), 30)
    counts[0, :, 5] = [2, 0, 2, 2, 1, 0, 2, 2]
    counts[1, :, 5] = 2 - counts[0, :, 5]
    sample = sample_of("bleu", counts)
    assert not studentize(sample, (0, 1)).follows_difference
    close_to_definition(sample, [0] * 8)


# Symmetry, identical systems, no variance.


@pytest.mark.parametrize("case", CASES)
@given(seed=st.integers(0, 2**32), n=st.integers(2, 60))
@settings(max_examples=budget(5))
def test_the_order_of_the_systems_does_not_matter(case: str, seed: int, n: int) -> None:
    m, invent = CASES[case]
    a, b = invent(np.random.default_rng(seed), n)
    options: dict[str, Any] = {"metric": m, "test": "ar-studentized", "n_resamples": 99, "scheme": "iid"}

    def test(x: Counts, y: Counts, alternative: str) -> tuple[float, float, float | None]:
        result = approximate_randomization(x, y, alternative=alternative, **options)
        return result.pvalue, abs(result.statistic), result.standard_error

    assert test(a, b, "two-sided") == test(b, a, "two-sided")
    assert test(a, b, "greater") == test(b, a, "less")
    z, reverse = (statistics_of(sample_of(m, np.stack(both)), 70) for both in ((a, b), (b, a)))
    assert (z == -reverse).all()


@pytest.mark.parametrize("case", CASES)
def test_identical_systems_have_p_1(case: str) -> None:
    m, invent = CASES[case]
    a, _ = invent(np.random.default_rng(1), 20)
    for alternative, scheme in itertools.product(ALTERNATIVES, ("iid", "auto", "subgroup")):
        options: dict[str, Any] = {"test": "ar-studentized", "alternative": alternative, "scheme": scheme}
        result = approximate_randomization(a, a, m, n_resamples=99, **options)
        assert (result.pvalue, result.statistic, result.standard_error) == (1, 0, 0)
        assert approximate_randomization(0 * a, 0 * a, m, n_resamples=99, **options).pvalue == 1
    assert not statistics_of(sample_of(m, np.stack([a, a])), 10).any()


def test_a_difference_without_variance_is_infinite() -> None:
    """All units differ by the same amount. Only the arrangements that keep or swap all of them have no variance."""
    a, b = np.full(10, 0.3), np.full(10, 0.1)
    scores = SegmentScores("score", {"a": a, "b": b})
    observed = studentize(sample_of(scores, scores.counts_of("ab")), (0, 1)).observed
    assert (observed.value, observed.error) == (np.inf, 0)
    options: dict[str, Any] = {"test": "ar-studentized", "scheme": "exact"}
    result = approximate_randomization(a, b, **options)
    assert (result.pvalue, result.standard_error) == (2 / 1024, 0)
    # With strata the statistic is studentized. If each of two strata is all kept or all swapped, in 4 of 64
    # arrangements, there is no variance; in two of them the difference is 0.
    a, b = np.ones(6), np.zeros(6)
    options["strata"] = [0, 0, 0, 1, 1, 1]
    result = approximate_randomization(a, b, keep_null_distribution=True, **options)
    assert (result.pvalue, result.standard_error) == (2 / 64, 0)
    z = np.sort(known(result.null_distribution))
    assert (z[0], z[-1], np.isfinite(z).sum()) == (-np.inf, np.inf, 62)
    assert approximate_randomization(a, b, alternative="less", **options).pvalue == 1


@pytest.mark.parametrize("magnitude", [1e-70, 1e-30, 1e30, 1e70])
def test_squares_of_large_and_small_scores_neither_overflow_nor_underflow(magnitude: float) -> None:
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(2, 30)).round(3)
    documents = np.concatenate([np.arange(10), rng.integers(0, 10, 20)]).tolist()
    options: dict[str, Any] = {"documents": documents, "test": "ar-studentized", "scheme": "iid", "n_resamples": 499}
    expected = approximate_randomization(a, b, **options)
    got = approximate_randomization(a * magnitude, b * magnitude, **options)
    # The fixed-point resolution of the scores may differ, and so may the rounding of contributions.
    assert got.pvalue == pytest.approx(expected.pvalue, abs=0.01)
    assert got.standard_error == pytest.approx(expected.standard_error * magnitude, rel=0.01)

    def ratio(scale: float) -> Callable[[Counts], Scores]:
        return lambda totals: scale * totals[..., 0] / totals[..., 1]

    x, y = of_texts("ter", rng, 40)
    options = {"test": "ar-studentized", "scheme": "iid", "n_resamples": 499}
    expected, got = (approximate_randomization(x, y, ratio(scale), **options) for scale in (1.0, magnitude))
    assert got.pvalue == expected.pvalue


@pytest.mark.parametrize("case", ["bleu", "chrf", "ter"])
def test_the_largest_sums_do_not_overflow(case: str) -> None:
    m, invent = CASES[case]
    a, b = invent(np.random.default_rng(1), 50)
    expected = approximate_randomization(a, b, m, test="ar-studentized", n_resamples=300)
    factor = 2**62 // (50 * int(max(a.max(), b.max())))
    got = approximate_randomization(a * factor, b * factor, m, test="ar-studentized", n_resamples=300)
    # Ratios are the same, but columns of w are rounded.
    assert got.pvalue == pytest.approx(expected.pvalue, abs=0.01)
    assert got.standard_error == pytest.approx(expected.standard_error, rel=0.01)
    with pytest.raises(InputError, match="their sum would pass 2\\^62"):
        approximate_randomization(a * 2 * factor, b, m, test="ar-studentized", n_resamples=300)


def test_threads_and_batches_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    for case in ("bleu", "chrf", "ter", "callable"):
        m, invent = CASES[case]
        sample = sample_of(m, invent(rng, 300), strata=[0] * 150 + [1] * 150)
        z = [statistics_of(sample, 1000, threads=threads).tobytes() for threads in (1, 2, 3)]
        assert len(set(z)) == 1, case
        if m is f_score_of_python:
            monkeypatch.setattr("reshuffle.resampling.studentized.BATCH_CELLS", 1000)
            assert statistics_of(sample, 1000).tobytes() == z[0]


@pytest.mark.parametrize("case", ["ter", "depf", "length"])
@given(seed=st.integers(0, 2**32), strata=st.booleans())
@settings(max_examples=budget(5))
def test_a_callable_gives_the_p_of_the_native_metric(case: str, seed: int, strata: bool) -> None:
    """The same formula in Python, with finite differences instead of derivatives in closed form."""
    m, invent = CASES[case]
    counts = 8 * invent(np.random.default_rng(seed), 50)  # steps of 1 are small beside the sums
    native = resolve(m)
    ids = [0] * 20 + [1] * 30 if strata else None
    one, other = (sample_of(formula, counts, strata=ids) for formula in (native, native.score))
    assert statistics_of(other, 200) == pytest.approx(statistics_of(one, 200), rel=1e-4, abs=1e-6)
    options: dict[str, Any] = {"test": "ar-studentized", "n_resamples": 300, "strata": ids, "scheme": "iid"}
    a, b = counts
    p = [approximate_randomization(a, b, formula, **options).pvalue for formula in (native, native.score)]
    assert p[0] == p[1]


# Many systems: step-down adjustments.


def texts(n: int = 40) -> tuple[list[str], dict[str, list[str]]]:
    """A reference and five systems, of which two are identical."""
    rng = np.random.default_rng(11)
    reference = [" ".join(rng.choice([*"abcdefgh"], rng.integers(3, 14))) for _ in range(n)]

    def noisy(rate: float) -> list[str]:
        return [" ".join(w if rng.random() > rate else "x" for w in line.split()) for line in reference]

    systems = {name: noisy(rate) for name, rate in (("a", 0.1), ("b", 0.16), ("c", 0.2), ("e", 0.4))}
    return reference, systems | {"d": systems["c"]}


METRICS: dict[str, Callable[[], Any]] = {
    "bleu": lambda: metric("bleu"),
    "ter": lambda: metric("ter"),
    "text": lambda: CorpusFunction("common", lambda lines, _: float(np.mean([line.count("a") for line in lines]))),
    # A score of segments that makes no ties, which minP ranks in its own way.
    "mean": lambda: SegmentScores(
        "mean", {name: [sum(map(math.sqrt, line.encode())) for line in lines] for name, lines in texts()[1].items()}
    ),
}

SHUFFLES = 99


@cache
def sample_under(key: str) -> Any:
    """The segments of a metric of METRICS under all systems."""
    reference, systems = texts()
    m = METRICS[key]()
    if isinstance(m, CorpusFunction):
        return TextSample(m, list(systems.values()), [list(reference)])
    if isinstance(m, SegmentScores):
        return CountSample.from_counts(m, m.counts_of(list(systems)))
    return CountSample.from_counts(m, m.suff_stats([reference], [*systems.values()]))


@cache
def series_of(key: str, pair: tuple[int, int]) -> tuple[Scores, float]:
    """What the definition compares for one pair: its statistics on all shuffles, comparable, and the observed one."""
    sample = sample_under(key)
    if key == "text":
        replicates = Replicates([sample], Resampling(SHUFFLES, 12345))
        (statistics,) = replicates.run([Series()], [pair])
        spread = float(np.sqrt((statistics[0, 0] ** 2).mean())) or 1.0
        return statistics[0, 0] / spread, float(sample.scores[pair[0]] - sample.scores[pair[1]]) / spread
    studentized = studentize(sample, pair)
    (statistics,) = Replicates([studentized], Resampling(SHUFFLES, 12345)).run([Series()], [(0, 1)])
    return statistics[0, 0], studentized.observed.value


def oriented(values: Any, alternative: str) -> Any:
    return np.abs(values) if alternative == "two-sided" else values if alternative == "greater" else -np.asarray(values)


@pytest.mark.parametrize("adjust", ["maxt", "minp"])
@pytest.mark.parametrize(("alternative", "cells"), [("two-sided", None), ("better", None), ("two-sided", 1000)])
def test_step_down_adjustments_equal_the_definition(
    adjust: str, alternative: str, cells: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if cells is not None:  # in groups of a few pairs, some of which are prepared twice
        monkeypatch.setattr(inference, "CELLS", cells)
        monkeypatch.setattr(inference, "KEPT_CELLS", 5 * cells)
    reference, systems = texts()
    options: dict[str, Any] = {"test": "ar-studentized", "adjust": adjust, "alternative": alternative}
    metrics = [make() for make in METRICS.values()]
    result = compare(reference, systems, metrics, all_pairs=True, n_resamples=SHUFFLES, **options).comparisons
    names = list(systems)
    assert len(result) == 10 * len(METRICS)
    for at, (key, m) in enumerate(zip(METRICS, metrics, strict=True)):
        comparisons = result[10 * at : 10 * at + 10]
        parts = [series_of(key, (names.index(c.system), names.index(c.baseline))) for c in comparisons]
        side = comparisons[0].test.alternative
        assert side == {"two-sided": side, "better": "greater" if m.higher_is_better else "less"}[alternative]
        series = oriented(np.array([statistics for statistics, _ in parts]), side)
        observed = oriented(np.array([value for _, value in parts]), side)
        p = ((series >= observed[:, None] - 1e-9).sum(axis=1) + 1) / (SHUFFLES + 1)
        assert [c.test.pvalue for c in comparisons] == pytest.approx(p)
        assert [c.test.adjusted_pvalue for c in comparisons] == pytest.approx(step_down(series, observed, adjust))
        assert {c.test.test for c in comparisons} == {"ar" if key == "text" else "ar-studentized"}
        same = next(c for c in comparisons if {c.system, c.baseline} == {"c", "d"})
        assert (same.test.pvalue, same.test.adjusted_pvalue) == (1, 1)


def test_too_many_strata_are_refused_with_a_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reshuffle.resampling.studentized.LARGEST_CROSS", 1000)
    a, b = of_texts("ter", np.random.default_rng(1), 100)
    strata = (np.arange(100) // 2).tolist()
    with pytest.raises(InputError, match=r"50 strata of 100 units are too many: use 'ar', or fewer strata"):
        approximate_randomization(a, b, "ter", strata=strata, test="ar-studentized")


def test_a_function_that_has_no_derivative_is_refused_with_a_way_out() -> None:
    a, b = depf_like(np.random.default_rng(1), 20)

    def only_there(totals: Counts) -> Scores:
        return np.where(np.isin(totals[..., 1], [a[:, 1].sum(), b[:, 1].sum()]), totals[..., 0], np.nan)

    with pytest.raises(InputError, match=r"did not return a finite number for the totals .*; use the test 'ar'$"):
        approximate_randomization(a, b, only_there, test="ar-studentized")


def test_a_function_that_is_undefined_beyond_its_counts_has_one_direction() -> None:
    """Matches cannot exceed the words, so the gradient cannot be probed where only one of the counts has moved."""
    rng = np.random.default_rng(1)
    words = np.full((2, 60), 20)
    matches = rng.binomial(19, 0.99, (2, 60))

    def logit(totals: Counts) -> Scores:
        with np.errstate(invalid="ignore", divide="ignore"):
            scores: Scores = np.log(totals[..., 0] / (totals[..., 1] - totals[..., 0] - 60))
        return scores

    sample = sample_of(logit, np.stack([matches, words], axis=-1))
    assert len(Probed.from_counts(sample.metric, *sample.counts).directions) == 1
    a, b = sample.counts
    result = approximate_randomization(a, b, logit, test="ar-studentized", n_resamples=200)
    assert 0 < result.pvalue < 1
