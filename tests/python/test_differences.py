"""Tested differences of all kinds: ``print``, ``is_significant``, and intervals that can be unpacked."""

from typing import Any

import pytest

from reshuffle import (
    Comparison,
    ConfidenceInterval,
    InputError,
    SegmentScores,
    compare,
    compare_runs,
    compare_sets,
    meta,
)
from reshuffle.data.demo import demo_corpus
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
    assert lines[0] == "tuned − baseline, BLEU: +2.05, 95% CI -0.88 to +5.06 (percentile)"
    assert lines[1] == "p = 0.1600 (bootstrap-both, two-sided)"
    assert lines[3] == "382 of 400 segments differ, which tell as much as 266 differences of equal size would."
    assert lines[4].startswith("Contributions: brevity penalty +0.37, 1-gram precision +0.07, ")
    assert lines[-1] == f"Signature: {pair.test.signature}"
    assert repr(pair).startswith("<PairedDifference: BLEU, tuned against baseline; difference=2.05")


def test_an_interval_can_be_unpacked_into_its_ends() -> None:
    (pair,) = compare(CORPUS.references, TWO, n_resamples=99).comparisons
    interval = pair.confidence_interval
    assert isinstance(interval, ConfidenceInterval)
    low, high = interval
    assert (interval.low, interval.high) == (low, high)


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
