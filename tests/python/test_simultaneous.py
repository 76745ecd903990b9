"""Simultaneous intervals: against their definition, beside the stars, and what is refused."""

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from known import ends, known
from reshuffle import FromCounts, SegmentScores, bootstrap_interval, bootstrap_test, compare
from reshuffle.metrics.base import Counts
from reshuffle.results import Comparison
from test_multiplicity import counts_of
from told import assert_raises

TESTS_WITH_DRAWS = ["bootstrap", "bootstrap-percentile", "bootstrap-both"]
SUPPORTED = [*TESTS_WITH_DRAWS, "ar-studentized"]


def ratings(seed: int, systems: int = 4, segments: int = 50, step: float = 0.3) -> SegmentScores:
    """Means that differ by multiples of ``step``, with an error of about .14 for 50 segments."""
    rng = np.random.default_rng(seed)
    scores = {f"s{k}": np.round(rng.normal(step * k, 1, segments), 2) for k in range(systems)}
    return SegmentScores("rating", scores)


def bleu(seed: int, systems: int = 4, segments: int = 50) -> FromCounts:
    counts = counts_of(seed, systems, segments)
    return FromCounts("BLEU", {f"s{k}": counts[k] for k in range(systems)}, "bleu")


def compared(metrics: Any, **options: Any) -> Comparison:
    settings: dict[str, Any] = {"all_pairs": True, "interval": "simultaneous", "n_resamples": 199} | options
    return compare(metrics=metrics, **settings)


def excludes_0(interval: Any) -> bool:
    return not interval.low <= 0 <= interval.high


@pytest.mark.parametrize("test", SUPPORTED)
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
    comparison = compared(metrics, test=test, n_resamples=n, family=family, alpha=alpha, confidence_level=level)
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
    comparison = compared(data, test=test)
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
    for each, alone in zip(got, compared(data, test=test, interval="percentile").comparisons, strict=True):
        own = known(alone.confidence_interval)
        assert 1 < (each.high - each.low) / (own.high - own.low) < 1.6


def test_a_family_of_one_pair_has_the_interval_by_inversion() -> None:
    """For two systems the largest |z| is that of the pair."""
    test = "ar-studentized:scheme=iid"
    for data in (ratings(1, 2), bleu(3, 2)):
        (one,) = compared(data, test=test, interval="simultaneous:scores=ar-studentized").comparisons
        (other,) = compared(data, test=test, interval="ar-studentized").comparisons
        assert one.test.adjusted_pvalue == one.test.pvalue == other.test.pvalue
        assert ends(one) == pytest.approx(ends(other), rel=1e-12)


@pytest.mark.parametrize("test", SUPPORTED)
def test_identical_systems_have_an_interval_of_width_0(test: str) -> None:
    data = bleu(4)  # s2 is a copy of s0
    pair = compared(data, test=test).pair("s2", "s0")
    assert ends(pair) == (0, 0)
    assert pair.test.adjusted_pvalue == 1


@pytest.mark.parametrize("test", [*TESTS_WITH_DRAWS, "anova"])
@pytest.mark.parametrize("others", [{}, {"c": [2.0, 3.0, 4.0]}, {"c": [7.0, 8.0, 9.0]}])
def test_constant_differences_have_an_interval_of_width_0_and_a_star(test: str, others: dict[str, Any]) -> None:
    table = {"a": [1.0, 2.0, 3.0], "b": [2.0, 3.0, 4.0], **others}
    for pair in compared(SegmentScores("rating", table), test=test).comparisons:
        assert ends(pair) == pytest.approx((pair.difference, pair.difference), abs=1e-12)
        assert pair.is_significant(0.05) == excludes_0(pair.confidence_interval) == (pair.difference != 0)


def test_other_combinations_are_refused_with_a_reason() -> None:
    assert_raises("python_errors_of_simultaneous", globals())
