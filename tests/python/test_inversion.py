"""The interval ``ar-studentized``: it inverts the test of that name."""

from __future__ import annotations

import numpy as np
import pytest

from reshuffle import InputError, SegmentScores, bootstrap_interval, compare


@pytest.mark.parametrize("scheme", ["iid", "subgroup", "exact"])
@pytest.mark.parametrize("level", [0.5, 0.9, 0.95])
def test_the_interval_excludes_0_exactly_when_the_test_rejects(scheme: str, level: float) -> None:
    rng = np.random.default_rng(1)
    rejected = []
    for shift in np.linspace(0, 2, 21):
        a, b = rng.integers(0, 9, (2, 9)) + np.array([[0.0], [shift]])
        ratings = SegmentScores("rating", {"a": a.tolist(), "b": b.tolist()})
        (pair,) = compare(
            metrics=ratings, test="ar-studentized", interval="ar-studentized", confidence_level=level, scheme=scheme,
            n_resamples=199,
        ).comparisons  # fmt: skip
        interval = pair.confidence_interval
        assert interval is not None
        assert interval.low <= pair.difference <= interval.high
        rejected.append(pair.is_significant(1 - level))
        assert rejected[-1] == (not interval.low <= 0 <= interval.high)
    assert 0 < sum(rejected) < len(rejected)


def test_too_few_shuffles_are_an_error_with_a_way_out() -> None:
    a, b = np.random.default_rng(1).normal(size=(2, 100))
    with pytest.raises(
        InputError, match=r"at least 19 shuffles at confidence level 0\.95, got 18: increase n_resamples"
    ):
        bootstrap_interval(a, b=b, method="ar-studentized", n_resamples=18)
    assert bootstrap_interval(a, b=b, method="ar-studentized", n_resamples=19).method == "ar-studentized"


def test_too_few_segments_are_an_error_that_does_not_advise_more_shuffles() -> None:
    with pytest.raises(InputError, match=r"the units that differ allow only 15: choose another interval$"):
        bootstrap_interval([1.0, 2.0, 4.0, 8.0], b=[0.0, 3.0, 1.0, 5.0], method="ar-studentized")
