"""Tested differences of all kinds: ``print``, ``is_significant``, their intervals, and pairs reversed."""

from dataclasses import asdict
from typing import Any

import numpy as np
import pytest

from known import known
from reshuffle import Comparison, InputError, SegmentScores, TestSet, compare, compare_runs, compare_sets, meta
from reshuffle.data.demo import demo_corpus
from reshuffle.inference.estimates import MEANS
from reshuffle.inference.tests import TESTS
from reshuffle.meta import Judgments

CORPUS = demo_corpus()
TWO = {name: CORPUS.systems[name] for name in ("baseline", "tuned")}
RUNS = {name: [lines, lines[::-1], [*lines[3:], *lines[:3]]] for name, lines in TWO.items()}


def of_pairs(**options: Any) -> list[Any]:
    return list(compare(CORPUS.references, CORPUS.systems, n_resamples=99, **options).comparisons)


def of_sets() -> list[Any]:
    result = compare_sets(dict.fromkeys(("one", "other"), (CORPUS.references, TWO)), n_resamples=99)
    return [*result["one"].comparisons, *(result.average.comparisons if result.average else ())]


def of_metrics(**options: Any) -> list[Any]:
    votes = Judgments.from_votes(["a", "b"], 3, segment=[0, 1, 2], better=[0, 0, 0], worse=[1, 1, 1])
    references = ["the cat sat on the mat", "a dog barked at the moon", "all is well"]
    outputs = {"a": ["the cat sat on mat", "a dog at the moon", "all is"], "b": ["cat mat", "moon dog", "is all"]}
    test_set = meta.JudgedSet.from_texts(references, outputs, ["sentbleu", "chrf", "ter"], judgments=votes)
    return list(meta.segments(test_set, n_resamples=99, **options).comparisons)


KINDS: dict[str, Any] = {
    "pairs": of_pairs,
    "parts": lambda: of_pairs(include="parts", all_pairs=True, metrics=["bleu", "chrf++", "meteor"]),
    "exact": lambda: of_pairs(metrics="ter", test="ar:scheme=exact", adjust="none"),
    "margin": lambda: of_pairs(test="equivalence:bleu=5"),
    "documents": lambda: of_pairs(documents=[i // 10 for i in range(400)], interval=None),
    "sets": of_sets,
    "runs": lambda: list(compare_runs(CORPUS.references, RUNS, exchange="all", n_resamples=99).comparisons),
    "metrics": of_metrics,
    "metrics without adjustment": lambda: of_metrics(adjust="none", interval=None),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore::reshuffle.InputWarning")
def test_every_difference_prints_a_few_lines_and_knows_whether_it_is_significant(kind: str) -> None:
    found = KINDS[kind]()
    assert found
    for each in found:
        lines = str(each).splitlines()
        assert 2 <= len(lines) <= 12
        names = [getattr(each, name, "") for name in ("system", "baseline", "metric", "metric_a", "metric_b")]
        assert all(name in lines[0] for name in names)
        assert "p = " in lines[1] or "p < " in lines[1]
        tested = getattr(each, "test", each) if hasattr(each, "n_units") else each
        final = tested.pvalue if tested.adjusted_pvalue is None else tested.adjusted_pvalue
        assert ("adjusted p" in lines[1]) == (tested.adjusted_pvalue is not None)
        assert [each.is_significant(alpha) for alpha in (final - 1e-9, final)] == [False, True]


def test_a_pair_of_systems_prints_what_it_rests_on_and_its_parts() -> None:
    (pair,) = compare(CORPUS.references, TWO, n_resamples=999, include="parts").comparisons
    lines = str(pair).splitlines()
    low, high = known(pair.confidence_interval)
    assert lines[0] == f"tuned − baseline, BLEU: +2.05, 95% CI {low:+.2f} to {high:+.2f} (percentile)"
    assert lines[1] == "p = 0.1600 (bootstrap-both, two-sided)"
    assert lines[3] == "382 of 400 segments differ, which tell as much as 266 differences of equal size would."
    assert lines[4].startswith("Contributions: brevity penalty +0.37, 1-gram precision +0.07, ")
    assert lines[-1] == f"Signature: {pair.test.signature}"
    assert repr(pair).startswith("<PairedDifference: BLEU, tuned against baseline; difference=2.05")


def test_a_verdict_is_that_of_a_pair() -> None:
    scores = SegmentScores("x", {"a": [1.0, 2.0, 3.0] * 4, "b": [2.0, 2.0, 4.0] * 4})
    comparison = compare(metrics=scores, n_resamples=99)
    with pytest.raises(InputError, match=r"verdict takes a pair, such as comparison\.pair\('b'\), got 'b'"):
        comparison.verdict("b")  # type: ignore[arg-type]
    assert "draws=" not in repr(comparison.scores[0])


def test_of_all_pairs_the_better_system_is_the_first() -> None:
    def rows(comparison: Comparison) -> list[list[str]]:
        lines = [line.split() for line in comparison.render("text", pairs=True).splitlines()]
        return [line for line in lines if line[1:2] and line[0] in systems and line[1] in systems]

    systems = {name: CORPUS.systems[name] for name in ("tuned", "baseline", "rules")}
    comparison = compare(CORPUS.references, systems, all_pairs=True, n_resamples=99, include="parts")
    result = comparison.render("json")
    pairs = rows(comparison)[:3]
    assert [pair[:2] for pair in pairs] == [["tuned", "baseline"], ["tuned", "rules"], ["baseline", "rules"]]
    assert all(float(pair[2]) > 0 for pair in pairs)
    # The parts are reversed with their pair: they add up to its difference.
    lines = [line.split() for line in comparison.render("text", pairs=True).splitlines()]
    parts = [float(line[-4]) for line in lines if line[-5:-4] in (["precision"], ["penalty"])]
    assert [sum(parts[i : i + 5]) for i in (0, 5, 10)] == pytest.approx([float(pair[2]) for pair in pairs], abs=0.03)
    assert comparison.render("json") == result
    # The hypothesis of a one-sided test is that of its own order.
    one_sided = rows(compare(CORPUS.references, systems, all_pairs=True, n_resamples=99, alternative="better"))
    assert all(float(pair[2]) < 0 for pair in one_sided[:3])


# --- Pairs reversed


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
