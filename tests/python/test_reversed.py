"""Pairs reversed: the same numbers as with the systems in the other order."""

from dataclasses import asdict
from typing import Any

import numpy as np
import pytest

from known import known
from reshuffle import Comparison, InputError, SegmentScores, TestSet, compare, compare_sets
from reshuffle.data.demo import demo_corpus
from reshuffle.inference.estimates import MEANS
from reshuffle.inference.tests import TESTS

CORPUS = demo_corpus()
RNG = np.random.default_rng(3)
RATINGS = {name: np.round(RNG.exponential(2, 400) + shift, 1) for name, shift in (("tuned", 0.4), ("baseline", 0.0))}
TURNED = [name for name, test in TESTS.items() if test.margin in (None, "equivalence")]


def compared(names: tuple[str, str], test: str = "auto", **options: Any) -> Comparison:
    """A mean of ratings and, if the test takes it, BLEU, with all that a pair can have."""
    systems = {name: CORPUS.systems[name] for name in names}
    ratings = SegmentScores("rating", {name: RATINGS[name] for name in names})
    metrics: list[Any] = [ratings] if test in TESTS and TESTS[test].kind == MEANS else ["bleu", ratings]
    chosen: dict[str, Any] = {"interval": "percentile", "include": "parts", "n_resamples": 199, **options}
    if test in TESTS and TESTS[test].margin is not None:
        test += ":rating=1" if len(metrics) == 1 else ":bleu=9,rating=1"
        chosen.pop("interval")
    return compare(CORPUS.references, systems, metrics, all_pairs=True, test=test, **chosen)


def numbers(record: Any) -> dict[str, Any]:
    """The fields. Of a histogram, whose bins have their lower ends and are on a grid, the sum."""
    found = asdict(record)
    if record.null is not None:
        found["null"] = record.null.width, sum(record.null.counts), record.null.observed
    return found


def same(one: Any, other: Any) -> bool:
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == (pytest.approx(other, rel=1e-9, abs=1e-9) if isinstance(other, float) else other))


@pytest.mark.parametrize("test", TURNED)
def test_a_turned_pair_has_the_numbers_of_the_other_order(test: str) -> None:
    one, other = compared(("tuned", "baseline"), test), compared(("baseline", "tuned"), test)
    assert one.is_reversible
    for metric in (used.name for used in one.metrics):
        backward, expected = one.pair("tuned", "baseline", metric), other.pair("tuned", "baseline", metric)
        for name, value in numbers(expected).items():
            assert same(numbers(backward)[name], value), (name, numbers(backward)[name], value)
        assert one.verdict(backward) == other.verdict(expected)
        assert backward.reversed == one.pair("baseline", "tuned", metric)  # the stored one
        if backward.null is not None and expected.null is not None:
            assert backward.null.low == pytest.approx(expected.null.low, abs=backward.null.width)


def test_the_numbers_include_all_that_has_a_direction() -> None:
    pair = compared(("tuned", "baseline")).pair("tuned", "baseline", "BLEU")
    assert pair.test.wins not in (None, 0, pair.test.n_resamples)
    assert known(pair.brevity).system != known(pair.brevity).baseline
    assert known(pair.influence).skewness
    assert pair.contributions
    assert pair.null is not None
    assert pair.confidence_interval is not None


def test_a_difference_of_0_has_no_sign() -> None:
    comparison = compare(metrics=SegmentScores("rating", {"a": [1, 2, 3] * 5, "b": [1, 2, 3] * 5}), all_pairs=True)
    assert str(comparison.pair("a", "b").difference) == str(comparison.pair("b", "a").difference) == "0.0"


def test_an_average_and_a_baseline_are_turned_too() -> None:
    scores = SegmentScores("rating", {"a": RATINGS["baseline"], "b": RATINGS["tuned"]})
    found = known(compare_sets({"x": TestSet(metrics=scores), "y": TestSet(metrics=scores)}, n_resamples=99).average)
    assert found.pair("a", "b").difference == -found.pair("b", "a").difference


def test_one_sided_tests_are_not_turned() -> None:
    comparison = compared(("tuned", "baseline"), alternative="better")
    assert not comparison.is_reversible
    with pytest.raises(InputError, match=r"'tuned' was not compared with baseline 'baseline'; its comparisons: pair"):
        comparison.pair("tuned", "baseline", "BLEU")
