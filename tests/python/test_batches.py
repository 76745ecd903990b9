"""A batch of problems in one call gives the same results as one call per problem."""

from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from counts import bleu_counts
from reshuffle import Formula, approximate_randomization, bootstrap_interval, bootstrap_test, metric, standard_error
from reshuffle.metrics.base import Counts, MetricLike
from reshuffle.results import SignificanceResult
from reshuffle.types import BootstrapTest
from told import assert_raises

BLEU = metric("bleu")
TER = metric("ter")
SAME = Formula("the same", lambda totals: BLEU.score(totals))


def problems(seed: int, batch: int = 5, segments: int = 40) -> tuple[Counts, Counts]:
    """Problems from identical systems to systems that differ in every segment."""
    a, b = bleu_counts(seed, 2 * batch, segments, 0.0).reshape(2, batch, segments, 10)
    for problem in range(batch):
        same = segments - problem * segments // max(batch - 1, 1)
        b[problem, :same] = a[problem, :same]
    return a, b


def check(whole: SignificanceResult, alone: list[SignificanceResult]) -> None:
    """Every number of every problem in the batch equals that of the problem alone."""
    assert whole.pvalue.shape == (len(alone),)
    single = "statistic pvalue exceedances n_resamples seed wins ties scheme stopping standard_error".split()
    for number, one in enumerate(alone):
        of_batch = whole.problem(number)
        for name in single:
            if name != "seed" or one.seed is not None:  # an exact test has no seed
                assert getattr(of_batch, name) == getattr(one, name), name


OPTIONS = st.fixed_dictionaries(
    {
        "scheme": st.sampled_from(["auto", "iid", "subgroup"]),
        "alternative": st.sampled_from(["two-sided", "greater", "less"]),
        "stopping": st.sampled_from([None, "besag-clifford", "gandy"]),
        "test": st.sampled_from(["ar", "ar-studentized"]),
        "documents": st.sampled_from([None, np.arange(40) // 4]),
    }
)


@given(st.integers(0, 2**32), st.booleans(), st.sampled_from([BLEU, SAME]), OPTIONS)
def test_shuffling_a_batch_equals_shuffling_each_problem(
    seed: int, own_seeds: bool, m: MetricLike, options: dict[str, Any]
) -> None:
    a, b = problems(seed)
    seeds: Any = [seed + 7 * number for number in range(len(a))] if own_seeds else seed
    options = {**options, "n_resamples": 99} | ({"scheme": "iid"} if options["stopping"] else {})
    whole = approximate_randomization(a, b, m, seed=seeds, **options)
    each = np.broadcast_to(seeds, len(a)).tolist()
    check(whole, [approximate_randomization(x, y, m, seed=s, **options) for x, y, s in zip(a, b, each, strict=True)])
    assert ("unit:document[10]" in whole.signature) == (options["documents"] is not None)


@pytest.mark.parametrize("test", get_args(BootstrapTest))
@pytest.mark.parametrize("m", [BLEU, SAME])
def test_bootstrapping_a_batch_equals_bootstrapping_each_problem(test: str, m: MetricLike) -> None:
    a, b = problems(4)
    seeds = [3, 1, 4, 1, 5]
    for documents in (None, np.arange(40) // 4):
        options: dict[str, Any] = {"test": test, "n_resamples": 50, "documents": documents}
        options["strata"] = np.arange(40) // 20
        whole = bootstrap_test(a, b, m, seed=seeds, **options)
        check(whole, [bootstrap_test(x, y, m, seed=s, **options) for x, y, s in zip(a, b, seeds, strict=True)])


def test_each_problem_has_its_own_score_resolution() -> None:
    rng = np.random.default_rng(6)
    a, b = rng.normal(size=(2, 6, 30))
    a[:3], b[:3] = a[:3].round(1), b[:3].round(2)  # these three have a resolution of 0.01, the others a power of two
    a[4] *= 1000
    for test in (approximate_randomization, bootstrap_test):
        check(test(a, b, n_resamples=50), [test(x, y, n_resamples=50) for x, y in zip(a, b, strict=True)])


@pytest.mark.parametrize(
    "method", ["percentile", "koehn", "basic", "normal", "bca", "studentized", "delta", "jackknife"]
)
@pytest.mark.parametrize("m", [BLEU, TER, SAME])
def test_intervals_of_a_batch_equal_those_of_each_problem(method: str, m: Any) -> None:
    a, b = problems(7, batch=3) if m is not TER else np.random.default_rng(8).integers(1, 9, (2, 3, 40, 2))
    seeds = [5, 6, 7]
    for other in (None, b):
        whole = bootstrap_interval(a, m, b=other, interval=method, n_resamples=60, seed=seeds)
        for number, s in enumerate(seeds):
            of_b = None if other is None else other[number]
            one = bootstrap_interval(a[number], m, b=of_b, interval=method, n_resamples=60, seed=s)
            assert (whole.low[number], whole.high[number]) == (one.low, one.high)


@pytest.mark.parametrize("method", ["delta", "jackknife", "bootstrap"])
def test_standard_errors_of_a_batch_equal_those_of_each_problem(method: str) -> None:
    a, b = problems(9)
    whole = standard_error(a, BLEU, b=b, method=method, n_resamples=50)
    expected = [standard_error(x, BLEU, b=y, method=method, n_resamples=50) for x, y in zip(a, b, strict=True)]
    assert whole.tolist() == expected


def test_invalid_batches_are_refused() -> None:
    a, b = problems(10)
    whole = approximate_randomization(a, b, BLEU, n_resamples=9)
    assert_raises("python_errors_of_batches", globals() | {"a": a, "b": b, "whole": whole})
    assert whole.problem(4).pvalue_interval is not None


def test_the_choice_of_exact_tests_does_not_depend_on_the_rest_of_the_batch() -> None:
    rng = np.random.default_rng(11)
    # The systems differ in one column, in more segments from problem to problem: the exact distribution of its sum
    # costs less than the shuffles in the first problems, and more in the last.
    a = rng.integers(1, 4, (24, 1000, 2))
    a[..., 1] = 9
    b = a.copy()
    for problem in range(24):
        b[problem, : 40 * (problem + 1), 0] += rng.integers(1, 3, 40 * (problem + 1))
    whole = approximate_randomization(a, b, TER, n_resamples=1500)
    check(whole, [approximate_randomization(x, y, TER, n_resamples=1500) for x, y in zip(a, b, strict=True)])
    assert set(whole.scheme) == {"exact", "iid"}
    assert "|batch:24|test:ar|alternative:two-sided|scheme:exact+iid|n:1500|seed:12345|" in whole.signature
