"""User-supplied masks and indices: sums, tests, intervals and standard errors from them equal slow twins in numpy."""

import itertools
import os
import signal
import threading
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budgets import budget
from counts import bleu_counts
from reshuffle import (
    Formula,
    InputError,
    Progress,
    _core,
    approximate_randomization,
    bootstrap_interval,
    bootstrap_test,
    metric,
    resampled_sums,
    standard_error,
)
from reshuffle.data.demo import demo_corpus
from reshuffle.inference.intervals import INTERVALS
from reshuffle.metrics.base import tolerance
from reshuffle.types import BootstrapTest
from test_resampling import flips
from told import assert_raises

Arrays = Any


def in_blocks(rows: Arrays, *sizes: int) -> Iterator[Arrays]:
    """Blocks of these sizes, and one block of the remaining rows."""
    first = 0
    for size in sizes:
        yield rows[first : first + size]
        first += size
    yield rows[first:]


counts_arrays = st.tuples(
    st.integers(1, 3),
    st.integers(1, 80),
    st.integers(1, 4),
    st.sampled_from([1, 200, 2**20, 2**45]),
    st.integers(0, 99),
).map(lambda s: np.random.default_rng(s[4]).integers(-s[3], 3 * s[3], size=s[:3]))


@settings(deadline=None, max_examples=budget(60))
@given(counts=counts_arrays, n=st.integers(1, 150), seed=st.integers(0, 99), threads=st.integers(1, 3))
def test_sums_over_masks_are_those_of_adding(counts: Arrays, n: int, seed: int, threads: int) -> None:
    masks = np.random.default_rng(seed).random((n, counts.shape[1])) < 0.4
    expected = np.einsum("rs,ksc->rkc", masks.astype(np.int64), counts)
    np.testing.assert_array_equal(expected, resampled_sums(counts, masks=masks, workers=threads))
    np.testing.assert_array_equal(expected[:, 0], resampled_sums(counts[0], masks=masks.astype(np.int8)))
    np.testing.assert_array_equal(expected, resampled_sums(list(counts), masks=in_blocks(masks, 1, n // 2)))
    # As some operations of NumPy 1.24 leave masks: all bytes but 0 are true.
    other = (masks * np.uint8(254)).view(bool)
    np.testing.assert_array_equal(expected, resampled_sums(counts, masks=other))


@settings(deadline=None, max_examples=budget(60))
@given(counts_arrays, st.integers(1, 40), st.integers(1, 700), st.integers(0, 99), st.integers(1, 3))
def test_sums_over_indices_are_those_of_adding(counts: Arrays, n: int, width: int, seed: int, threads: int) -> None:
    indices = np.random.default_rng(seed).integers(0, counts.shape[1], size=(n, width))
    expected = counts[:, indices].sum(axis=2).swapaxes(0, 1)
    np.testing.assert_array_equal(expected, resampled_sums(counts, indices=indices, workers=threads))
    np.testing.assert_array_equal(expected, resampled_sums(counts, indices=in_blocks(indices, 1, n // 2)))
    np.testing.assert_array_equal(expected[:, 0], resampled_sums(counts[0], indices=indices.astype(np.uint8)))


def test_large_masks_and_indices_are_converted_in_pieces() -> None:
    rng = np.random.default_rng(1)
    counts = rng.integers(0, 9, size=(3000, 1))
    masks, indices = rng.integers(2, size=(3000, 3000), dtype=bool), rng.integers(0, 3000, size=(3000, 3000))
    np.testing.assert_array_equal(masks.astype(np.float32) @ counts, resampled_sums(counts, masks=masks))
    np.testing.assert_array_equal(counts[indices].sum(axis=1), resampled_sums(counts, indices=indices))
    # More indices than segments cannot overflow a sum.
    assert resampled_sums([[2**59], [1]], indices=[[0] * 3]).tolist() == [[3 * 2**59]]


COUNTS = np.arange(12).reshape(4, 3)
MASKS = np.ones((2, 4), dtype=bool)
MANY = np.zeros((20, 150), dtype=np.int64)


def test_small_blocks_may_be_views_of_memory_that_is_written_again() -> None:
    masks = np.random.default_rng(1).integers(2, size=(201, 4), dtype=bool)

    def blocks() -> Iterator[Any]:
        memory, first = np.empty((50, 4), dtype=bool), 0
        for size in [1] * 100 + [0, 40, 1, 50, 10]:
            memory[:size] = masks[first : first + size]
            yield memory[:size]
            first += size

    assert (resampled_sums(COUNTS, masks=masks) == resampled_sums(COUNTS, masks=blocks())).all()


def test_unusable_masks_indices_and_counts_are_refused() -> None:
    assert_raises("python_errors_of_supplied", globals())
    ragged: Any = [[True] * 4, [True]]
    with pytest.raises(InputError, match=r"^masks must be an array of numbers: "):
        resampled_sums(COUNTS, masks=ragged)
    with pytest.raises(InputError, match=r"^counts must be an array of numbers: "):
        resampled_sums([[[1]], [[1], [2]]], masks=MASKS)


# Tests, intervals and standard errors.

BLEU = metric("bleu")
SAME = Formula("the same", BLEU.score)
METRICS = [BLEU, SAME]
A, B = bleu_counts(3, 2, 150, 0.012)


def own_masks(seed: int, n: int, segments: int) -> Arrays:
    """The shuffles of the scheme ``iid``, rebuilt from the random bits."""
    return np.array([flips(seed, r, segments) for r in range(n)])


def own_indices(seed: int, n: int, segments: int) -> Arrays:
    """The draws of a seed, rebuilt from the weights."""
    return np.array([np.repeat(np.arange(segments), _core.draw_weights(seed, r, segments)) for r in range(n)])


SAME_FIELDS = ("statistic", "pvalue", "exceedances", "n_resamples")


def assert_replayed(expected: Any, got: Any, *more: str) -> None:
    """Results from masks or indices are those of the seed that they were made from."""
    assert [getattr(expected, name) for name in (*SAME_FIELDS, *more)] == [
        getattr(got, name) for name in (*SAME_FIELDS, *more)
    ]
    np.testing.assert_array_equal(expected.null_distribution, got.null_distribution)
    assert (got.scheme, got.seed, got.pvalue_interval) == ("replay", None, None)
    assert "|scheme:replay[500]|version:" in got.signature


@pytest.mark.parametrize("scored_by", METRICS, ids=["native", "formula"])
@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_masks_of_a_seed_give_the_results_of_the_seed(scored_by: Any, alternative: str) -> None:
    test = partial(approximate_randomization, A, B, scored_by, alternative=alternative, keep_null_distribution=True)
    expected = test(scheme="iid", n_resamples=500, seed=9)
    masks = own_masks(9, 500, 150)
    of_bytes, blocks = masks.astype(np.uint8), in_blocks(masks, 1, 64, 7)
    for supplied in (masks, of_bytes, masks.tolist(), blocks, list(in_blocks(masks, 9))):
        got = test(masks=supplied)
        assert_replayed(expected, got)
    assert "\n500 user-supplied replicates, " in str(got)


SIDES = [(name, "two-sided") for name in get_args(BootstrapTest)]
SIDES += [(name, side) for name, _ in SIDES if name != "bootstrap-shift" for side in ("greater", "less")]


@pytest.mark.parametrize("scored_by", METRICS, ids=["native", "formula"])
@pytest.mark.parametrize(("name", "alternative"), SIDES)
def test_indices_of_a_seed_give_the_results_of_the_seed(scored_by: Any, name: Any, alternative: Any) -> None:
    test = partial(bootstrap_test, A, B, scored_by, test=name, alternative=alternative, keep_null_distribution=True)
    expected = test(n_resamples=500, seed=9)
    indices = own_indices(9, 500, 150)
    for supplied in (indices, indices.astype(np.int16), indices.tolist(), in_blocks(indices, 1, 64, 7)):
        assert_replayed(expected, test(indices=supplied), "wins", "ties", "tails")


WITH_DRAWS = [name for name, interval in INTERVALS.items() if interval.kinds == ["draws"]]


@pytest.mark.parametrize("scored_by", METRICS, ids=["native", "formula"])
@pytest.mark.parametrize("b", [None, B], ids=["score", "difference"])
def test_indices_of_a_seed_give_the_intervals_of_the_seed(scored_by: Any, b: Any) -> None:
    indices = own_indices(9, 500, 150)
    assert WITH_DRAWS == ["percentile", "koehn", "basic", "normal", "bca", "bootstrap-kink"]
    for method in WITH_DRAWS[:-1]:  # the last one is for differences of scores with a kink
        interval = partial(bootstrap_interval, A, scored_by, b=b, interval=method, confidence_level=0.9)
        assert interval(n_resamples=500, seed=9) == interval(indices=in_blocks(indices, 100))
    error = partial(standard_error, A, scored_by, b=b, method="bootstrap")
    assert error(n_resamples=500, seed=9) == error(indices=in_blocks(indices, 100))


def total(totals: Arrays) -> Arrays:
    """A metric whose ties are exact in floating point."""
    return totals[..., 0] / 1.0


EXTREME: dict[str, Callable[[Any, Any, Any], Any]] = {
    "two-sided": lambda t, d, at_least: at_least(np.abs(t), np.abs(d)),
    "greater": lambda t, d, at_least: at_least(t, d),
    "less": lambda t, d, at_least: at_least(-t, -d),
}


@given(
    seed=st.integers(0, 500),
    segments=st.integers(2, 40),
    n=st.integers(1, 90),
    alternative=st.sampled_from(["two-sided", "greater", "less"]),
    ties=st.sampled_from([">=", ">"]),
    threads=st.integers(1, 3),
)
@settings(deadline=None, max_examples=budget(150))
def test_pvalues_are_those_of_swapping_and_drawing(
    seed: int, segments: int, n: int, alternative: Any, ties: Any, threads: int
) -> None:
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 3, size=(2, segments, 1))  # which tie in many replicates
    masks, indices = rng.integers(2, size=(n, segments), dtype=bool), rng.integers(0, segments, size=(n, segments + 3))
    at_least = np.greater_equal if ties == ">=" else np.greater
    d = int((a - b).sum())

    shuffled = np.where(masks, (b - a)[:, 0], (a - b)[:, 0]).sum(axis=1)
    exceedances = int(EXTREME[alternative](shuffled, d, at_least).sum())
    got = approximate_randomization(a, b, total, alternative=alternative, masks=masks, ties=ties, workers=threads)
    assert (exceedances, (exceedances + 1) / (n + 1), n) == (got.exceedances, got.pvalue, got.n_resamples)
    assert ("|ties:>|" in got.signature) == (ties == ">")

    drawn = (a - b)[indices, 0].sum(axis=1)
    below, above = int(at_least(-drawn, 0).sum()), int(at_least(drawn, 0).sum())
    not_better = {"two-sided": -np.sign(d) * drawn, "greater": -drawn, "less": drawn}[alternative]
    counts = {
        "bootstrap": EXTREME[alternative](drawn - d, d, at_least).sum(),
        "bootstrap-percentile": {"two-sided": min(below, above), "greater": below, "less": above}[alternative],
        "paired-bootstrap": at_least(not_better, 0).sum(),
    }
    if alternative == "two-sided":
        counts["bootstrap-shift"] = at_least(np.abs(drawn) - np.abs(drawn).mean(), abs(d)).sum()
    for name, exceedances in counts.items():
        options: dict[str, Any] = {"test": name, "alternative": alternative, "ties": ties, "indices": indices}
        result = bootstrap_test(a, b, total, keep_null_distribution=True, **options)
        assert ((drawn > 0).sum(), (drawn == 0).sum()) == (result.wins, result.ties)
        np.testing.assert_array_equal(drawn - d, result.null_distribution)
        tails = 2 if name == "bootstrap-percentile" and alternative == "two-sided" else 1
        assert (int(exceedances), n, tails) == (result.exceedances, result.n_resamples, result.tails), name
        assert min(tails * (int(exceedances) + 1) / (n + 1), 1) == result.pvalue


@pytest.mark.parametrize("ties", [">=", ">"])
def test_differences_within_rounding_error_are_ties(ties: Any) -> None:
    rng = np.random.default_rng(2)
    a, b = rng.integers(1, 4, size=(2, 12, 2))
    ratio = Formula("ratio", lambda totals: totals[..., 0] / totals[..., 1] / 7)
    masks = rng.integers(2, size=(4000, 12), dtype=bool)
    x, y = (ratio.score(np.where(masks[..., None], p, q).sum(axis=1)) for p, q in ((b, a), (a, b)))
    observed = ratio.score(a.sum(axis=0)), ratio.score(b.sum(axis=0))
    slack = tolerance(*observed)
    beyond = np.abs(x - y) - abs(observed[0] - observed[1])
    assert (np.abs(beyond) <= slack).any()
    expected = (beyond >= -slack).sum() if ties == ">=" else (beyond > slack).sum()
    assert expected == approximate_randomization(a, b, ratio, masks=masks, ties=ties).exceedances


def test_identical_systems_have_p_1_unless_ties_do_not_count() -> None:
    masks, indices = own_masks(1, 99, 150), own_indices(1, 99, 150)
    assert approximate_randomization(A, A, BLEU, masks=masks).pvalue == 1
    assert approximate_randomization(A, A, BLEU, masks=masks, ties=">").pvalue == 0.01
    for name in get_args(BootstrapTest):
        assert bootstrap_test(A, A, BLEU, test=name, indices=indices).pvalue == 1
        strict = bootstrap_test(A, A, BLEU, test=name, indices=indices, ties=">")
        assert (strict.exceedances, strict.pvalue) == (0, strict.tails / 100)


@pytest.mark.parametrize("scored_by", [BLEU, SAME, None], ids=["native", "formula", "scores"])
def test_a_batch_has_the_results_of_its_problems(scored_by: Any) -> None:
    a, b = (np.stack([x, B, x[::-1]]) for x in (A, B))
    if scored_by is None:
        # Each problem has its own resolution.
        a, b = (x.sum(axis=2) * np.array([[0.5], [0.01], [1 / 3]]) for x in (a, b))
    masks, indices = own_masks(5, 300, 150), own_indices(5, 300, 150)
    ar = partial(approximate_randomization, ties=">")
    whole = ar(a, b, scored_by, masks=in_blocks(masks, 50))
    signature = f"|batch:3|test:ar|alternative:two-sided|scheme:replay[300]|ties:>|version:reshuffle-{_core.VERSION}"
    assert whole.signature.endswith(signature)
    calls: list[tuple[Any, dict[str, Any]]] = [(ar, {"masks": masks})]
    calls += [(partial(bootstrap_test, test=name), {"indices": indices}) for name in get_args(BootstrapTest)]
    for call, supplied in calls:
        of_all = call(a, b, scored_by, **{name: in_blocks(rows, 50) for name, rows in supplied.items()})
        for i, (x, y) in enumerate(zip(a, b, strict=True)):
            alone = call(x, y, scored_by, **supplied)
            assert replace(of_all.problem(i), signature="") == replace(alone, signature="")
    bca = partial(bootstrap_interval, interval="bca")
    error = partial(standard_error, method="bootstrap")
    intervals, errors = bca(a, scored_by, b=b, indices=indices), error(a, scored_by, indices=in_blocks(indices, 50))
    for i, (x, y) in enumerate(zip(a, b, strict=True)):
        interval = bca(x, scored_by, b=y, indices=indices)
        assert (intervals.low[i], intervals.high[i]) == (interval.low, interval.high)
        assert errors[i] == error(x, scored_by, indices=indices)


@pytest.mark.parametrize(("test", "n"), [("ar", 500), ("bs", 200)])
@pytest.mark.parametrize("name", ["bleu", "chrf"])
def test_replicates_of_sacrebleu_give_its_pvalues(
    monkeypatch: pytest.MonkeyPatch, test: str, n: int, name: str
) -> None:
    significance = pytest.importorskip("sacrebleu.significance")
    classes = pytest.importorskip("sacrebleu.metrics").METRICS
    monkeypatch.setenv("SACREBLEU_SEED", "77")
    corpus = demo_corpus()
    (reference,), baseline, tuned = corpus.references, *(corpus.systems[name] for name in ("baseline", "tuned"))
    systems = [("baseline", baseline), ("tuned", tuned), ("same", baseline)]
    paired = significance.PairedTest(systems, {name: classes[name.upper()]()}, [reference], test, n_samples=n)
    theirs = next(iter(scores for key, scores in paired()[1].items() if key != "System"))
    counted = metric(name).suff_stats([reference], dict(systems))
    rng, size = np.random.default_rng(77), (n, len(reference))
    if test == "ar":
        call = partial(approximate_randomization, masks=rng.integers(2, size=size, dtype=bool))
    else:
        indices = rng.choice(len(reference), size=size, replace=True)
        call = partial(bootstrap_test, test="bootstrap-shift", indices=indices)
        for system, result in zip(counted, theirs, strict=True):
            interval = bootstrap_interval(system, name, interval="koehn", indices=indices)
            half_width = (interval.high - interval.low) / 2
            np.testing.assert_allclose(half_width, result.ci, rtol=1e-4)  # of sums in 32-bit floats
    assert [result.p_value for result in theirs[1:]] == [
        call(x, counted[0], name, ties=">").pvalue for x in counted[1:]
    ]


def test_blocks_are_read_once_and_never_held_together() -> None:
    n, segments = 400, 3000
    rng = np.random.default_rng(1)
    a, b = bleu_counts(1, 2, segments, 0.01)
    read = 0

    def blocks() -> Iterator[Arrays]:
        nonlocal read
        for _ in range(n // 8):
            read += 1
            yield rng.integers(2, size=(8, segments), dtype=bool)

    tracemalloc.start()
    try:
        result = approximate_randomization(a, b, BLEU, masks=blocks(), keep_null_distribution=True)
        resampled_sums(a, masks=blocks())
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (n // 8 * 2, n) == (read, len(result.null_distribution))  # type: ignore[arg-type]
    assert peak < n * segments


def test_progress_reaches_its_end() -> None:
    for supplied in (own_masks(1, 200, 150), in_blocks(own_masks(1, 200, 150), 100)):
        progress = Progress()
        approximate_randomization(A, B, BLEU, masks=supplied, progress=progress)
        assert (progress.stage, progress.done, progress.fraction) == ("shuffling", 200, 1.0)


@pytest.mark.parametrize("kind", ["masks", "indices"])
def test_a_signal_stops_a_run(kind: str) -> None:
    """The signal arrives while the core sums a block, or between blocks."""
    counts = bleu_counts(1, 8, 4000, 0.01)
    block = np.random.default_rng(1).integers(2, size=(2000, 4000), dtype=bool if kind == "masks" else np.uint32)
    endless: Any = {kind: itertools.repeat(block)}
    stop = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    stop.start()
    with pytest.raises(KeyboardInterrupt):
        resampled_sums(counts, **endless)
    stop.join()
