"""Tested differences of all kinds: ``print``, ``is_significant``, intervals, pairs reversed, and one-sided tests."""

from dataclasses import asdict
from typing import Any

import numpy as np
import pytest

import reshuffle
from known import known
from reshuffle import Comparison, FromCounts, InputError, SegmentScores, TestSet, compare, compare_sets, meta, study
from reshuffle.data.demo import demo_corpus, demo_runs
from reshuffle.inference.estimates import MEANS
from reshuffle.inference.tests import TESTS
from reshuffle.meta import Judgments
from told import assert_raises

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
    "runs": lambda: list(reshuffle.compare_runs(CORPUS.references, RUNS, exchange="all", n_resamples=99).comparisons),
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


# --- ``better`` and ``worse``: one-sided tests in the direction of each metric


SEGMENTS = 24
ONE_SIDED = np.random.default_rng(5)
FIRST = {name: ONE_SIDED.integers(0, 9, SEGMENTS) + bonus for name, bonus in {"a": 0, "b": 1, "c": 2}.items()}
SECOND = {name: ONE_SIDED.integers(0, 9, SEGMENTS) + bonus for name, bonus in {"a": 1, "b": 2, "c": 0}.items()}


def scores(name: str, values: dict[str, Any], sign: int = 1) -> SegmentScores:
    return SegmentScores(name, {system: sign * each for system, each in values.items()}, higher_is_better=sign > 0)


def counts(name: str, values: dict[str, Any], sign: int = 1) -> FromCounts:
    tables = {system: each[:, None] for system, each in values.items()}
    return FromCounts(name, tables, lambda totals: sign * totals[..., 0] / SEGMENTS, higher_is_better=sign > 0)


def upside_down(make: Any = scores) -> tuple[list[Any], list[Any]]:
    """Two metrics, and the same with the second one negated, so that lower is better."""
    return [make("x", FIRST), make("y", SECOND)], [make("x", FIRST), make("y", SECOND, -1)]


def pvalues(result: reshuffle.Comparison) -> list[tuple[float, float | None]]:
    return [(pair.test.pvalue, pair.test.adjusted_pvalue) for pair in result.comparisons]


TESTED = [
    {"test": "ar:scheme=iid"},
    {"test": "ar:scheme=iid", "adjust": "minp", "family": "all"},
    {"test": "ar:scheme=subgroup", "adjust": "holm"},
    {"test": "ar:stopping=besag-clifford", "adjust": "holm"},
    {"test": "ar:scheme=exact", "adjust": "none"},
    {"test": "ar-studentized", "family": "all"},
    {"test": "ar-studentized", "adjust": "minp"},
    {"test": "bootstrap-both", "family": "all"},
    {"test": "bootstrap"},
    {"test": "bootstrap-percentile"},
    {"test": "paired-bootstrap"},
    {"test": "t-test"},
    {"test": "wilcoxon"},
    {"test": "sign-test"},
]


@pytest.mark.parametrize(("alternative", "side"), [("better", "greater"), ("worse", "less")])
@pytest.mark.parametrize("options", TESTED, ids=lambda options: "-".join(options.values()))
def test_a_metric_upside_down_has_the_same_p(options: dict[str, Any], alternative: str, side: str) -> None:
    of_means = options["test"] in ("t-test", "wilcoxon", "sign-test")
    for make in (scores,) if of_means else (scores, counts):
        given = {"baseline": "b", "n_resamples": 127, "seed": 3, **options}
        upright, mixed = upside_down(make)
        expected = compare(metrics=upright, alternative=side, **given)
        found = compare(metrics=mixed, alternative=alternative, **given)
        assert pvalues(expected) == pvalues(found)
        assert {"greater", "less"} == {pair.test.alternative for pair in found.comparisons}
        assert alternative == known(found.test).alternative


def test_a_test_in_the_observed_direction_is_called_one_sided() -> None:
    found = compare(metrics=scores("points", FIRST), test="paired-bootstrap", all_pairs=True, n_resamples=99)
    assert {row["alternative"] for row in found.to_dicts("pairs")} == {"one-sided"} == {known(found.test).alternative}
    assert "|alternative:one-sided|" in found.signature
    assert "one-sided in the observed direction" in found.render("text")
    assert found.rankings
    assert found.pair("a", "c").difference == -found.pair("c", "a").difference
    assert reshuffle.read_json(found.render("json")) == found


def test_whole_runs_are_tested_in_the_direction_of_each_metric() -> None:
    options: dict[str, Any] = {"exchange": ["segment", "hierarchical"], "n_resamples": 99}
    corpus, runs = demo_corpus(), demo_runs(3)
    both = reshuffle.compare_runs(corpus.references, runs, ["bleu", "ter"], alternative="better", **options)
    bleu, ter = (
        reshuffle.compare_runs(corpus.references, runs, metric, alternative=side, **options).comparisons
        for metric, side in (("bleu", "greater"), ("ter", "less"))
    )
    assert [*bleu, *ter] == list(both.comparisons)
    shown = " ".join(str(both).split())
    assert "nder TER, larger is significantly better than baseline, and tuned is not shown to be better." in shown


@pytest.mark.parametrize("scheme", ["iid", "orbit", "subgroup"])
def test_studies_test_in_the_direction_of_each_metric(scheme: str) -> None:
    options: dict[str, Any] = {"simulations": 30, "n_resamples": 39, "alphas": 0.2, "sampling": "fixed"}
    options["tests"] = (f"ar:scheme={scheme}", "bootstrap")
    upright, mixed = upside_down()
    expected = study.type1(metrics=upright, alternative="greater", **options)
    found = study.type1(metrics=mixed, alternative="better", **options)
    assert [rate.rate for rate in expected.tables["rates"]] == [rate.rate for rate in found.tables["rates"]]


def test_batches_have_the_direction_of_their_metric() -> None:
    ter = reshuffle.metric("ter")
    corpus = demo_corpus()
    a, _, b, *_ = ter.suff_stats(corpus.references, list(corpus.systems.values()))
    options: dict[str, Any] = {"metric": ter, "n_resamples": 99}
    batch = reshuffle.approximate_randomization(np.stack([a, a]), np.stack([b, b]), alternative="worse", **options)
    one = reshuffle.approximate_randomization(a, b, alternative="greater", **options)
    assert [one.pvalue, one.pvalue] == batch.pvalue.tolist()
    assert (one.alternative, "alternative:worse" in batch.signature) == (batch.alternative, True)


def test_one_direction_of_scores_is_refused_if_it_is_better_under_some_metrics_only() -> None:
    _, mixed = upside_down()
    assert_raises("python_errors_of_directions", {"mixed": mixed})
