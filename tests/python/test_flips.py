"""Flips: segments gained and lost at a threshold, and the segments with the largest parts of the difference."""

import csv
import io
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from budgets import budget
from mutations import crashes
from reshuffle import CorpusFunction, InputError, SegmentScores, flips, read_json, score, segment_scores
from reshuffle.data.demo import demo_corpus
from told import assert_raises
from unnamed import unnamed

nan = math.nan
CORPUS = demo_corpus()
PAIR: dict[str, Any] = {"system": "tuned", "baseline": "baseline"}


@settings(max_examples=budget(60), deadline=None)
@given(
    st.lists(st.tuples(*[st.one_of(st.integers(0, 5).map(float), st.just(nan))] * 2), min_size=4, max_size=12),
    st.integers(0, 5),
    st.booleans(),
)
def test_flips_are_those_of_a_loop_over_the_segments(
    rows: list[tuple[float, float]], threshold: int, higher_is_better: bool
) -> None:
    rows = [(1.0, 4.0), (3.0, 2.0), *rows]
    table = {"old": [row[0] for row in rows], "new": [row[1] for row in rows]}
    metric = SegmentScores("rating", table, higher_is_better, missing="pairwise")
    found = flips(metric=metric, system="new", baseline="old", threshold=threshold, top=3)
    names: dict[tuple[bool, bool], list[int]] = {(a, b): [] for a in (False, True) for b in (False, True)}
    common = {number: pair for number, pair in enumerate(rows, 1) if not math.isnan(sum(pair))}
    for number, pair in common.items():
        passes = [value >= threshold if higher_is_better else value <= threshold for value in pair]
        names[passes[0], passes[1]].append(number)
    parts = {number: (new - old) / len(common) for number, (old, new) in common.items()}
    difference = sum(parts.values())
    assert (found.gained, found.lost) == (names[False, True], names[True, False])
    assert (found.n_both, found.n_neither) == (len(names[True, True]), len(names[False, False]))
    assert found.net == len(found.gained) - len(found.lost)
    assert found.n_unchanged + len(found.gained) + len(found.lost) == len(common) == len(found.segments)
    assert found.n_missing == len(rows) - len(common)
    assert found.difference == pytest.approx(difference)
    assert parts == {each.segment: pytest.approx(each.contribution, abs=1e-12) for each in found.segments}
    # Of equal parts, those with the sign of the difference are listed first.
    largest = sorted(filter(None, parts.values()), key=lambda part: (-abs(part), part * difference < 0))[:3]
    assert [each.contribution for each in found.largest] == pytest.approx(largest)
    n = len(found.gained) + len(found.lost)
    expected = binomtest(len(found.gained), n).pvalue if n else 1.0
    assert found.pvalue == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("metric", "threshold"), [("bleu", 40), ("ter", 30), ("chrf", 80)])
def test_a_part_is_about_the_change_when_a_segment_is_left_out(metric: str, threshold: float) -> None:
    systems = {name: CORPUS.systems[name][:40] for name in ("baseline", "tuned")}
    references = CORPUS.references[0][:40]
    found = flips(references, systems, metric, threshold=threshold, top=40, **PAIR)
    scores = segment_scores(references, systems, metric)

    def without(segment: int) -> float:
        kept = [s for s in range(40) if s != segment - 1]
        rest = {name: [lines[s] for s in kept] for name, lines in systems.items()}
        base, tuned = score([references[s] for s in kept], rest, metric).scores
        return tuned.score - base.score

    for each in found.largest[:3]:
        assert each.contribution == pytest.approx(found.difference - without(int(each.segment)), rel=0.15)
    assert [each.baseline_score for each in found.segments] == scores.system_scores("baseline").tolist()
    assert [each.system_score for each in found.segments] == scores.system_scores("tuned").tolist()
    assert sum(each.contribution for each in found.segments) == pytest.approx(found.difference, rel=0.05)
    sizes = sorted((abs(each.contribution) for each in found.segments if each.contribution), reverse=True)
    assert [abs(each.contribution) for each in found.largest] == sizes
    assert (score(references, systems, metric).scores[1].score) == found.system_score


def test_documents_are_compared_instead_of_segments() -> None:
    ids = [f"talk {s // 40}" for s in range(400)]
    found = flips(CORPUS.references, CORPUS.systems, "bleu", threshold=72, documents=ids, **PAIR)
    expected = segment_scores(CORPUS.references, CORPUS.systems, "bleu", documents=ids)
    assert [each.segment for each in found.segments] == list(expected.documents or ())
    assert [each.system_score for each in found.segments] == expected.system_scores("tuned").tolist()
    assert found.unit == "document"
    assert list(found.to_dicts()[0]) == ["document", "baseline_score", "system_score", "flip", "contribution"]
    assert "10 documents of 2 systems" in str(found)
    assert "|flips:72|unit:document[10]|version:" in found.signature
    table = {"a": [1.0, nan, 3, 4, nan, 2], "b": [2.0, 5, nan, 1, 3, nan]}
    ratings = SegmentScores("rating", table, missing="pairwise")
    found = flips(metric=ratings, system="b", baseline="a", threshold=2, documents=[1, 1, 1, 2, 2, 3])
    # Only the segments that both have scores for: 1 in the first document, 4 in the second, none in the third.
    by_document = [(each.segment, each.baseline_score, each.system_score) for each in found.segments]
    assert by_document == [("1", 1.0, 2.0), ("2", 4.0, 1.0)]
    assert (found.gained, found.lost, found.n_missing) == (["1"], ["2"], 1)


def test_the_signature_has_every_digit_of_the_threshold() -> None:
    for threshold in (50.12345678901234, 0.1, 5e-324, -1.0):
        found = flips(CORPUS.references, CORPUS.systems, "bleu", threshold=threshold, **PAIR)
        (part,) = [part for part in found.signature.split("|") if part.startswith("flips:")]
        assert float(part.removeprefix("flips:")) == threshold
        assert "unit:" not in found.signature


def test_functions_of_texts_have_flips_too() -> None:
    function = CorpusFunction("words", lambda hypotheses, references: sum(len(h.split()) for h in hypotheses))
    systems = {"a": ["p q", "r", "s"], "b": ["p", "r r r", "s"]}
    found = flips(["x", "x", "x"], systems, function, system="b", baseline="a", threshold=2)
    assert (found.gained, found.lost) == ([2], [1])
    assert [(each.segment, each.contribution) for each in found.largest] == [(2, 2.0), (1, -1.0)]


def test_reports_of_flips() -> None:
    found = flips(CORPUS.references, CORPUS.systems, "chrf", threshold=80, top=2, **PAIR)
    document = json.loads(found.render("json"))
    assert (document["gained"], document["lost"], document["net"]) == (found.gained, found.lost, 15)
    assert [each["segment"] for each in document["largest"]] == [each.segment for each in found.largest]
    assert read_json(found.render("json")) == found
    assert not crashes(found.render("json"), 20)
    rows = list(csv.DictReader(io.StringIO(found.render("csv"))))
    assert [row["flip"] for row in rows] == [each.flip for each in found.segments]
    assert [float(row["contribution"]) for row in rows] == [row["contribution"] for row in found.to_dicts()]
    text = " ".join(str(found).split())
    assert f"{len(found.gained)} segments gained, {len(found.lost)} lost, net +15; 249 unchanged" in text
    assert f"… ({len(found.gained)} in all; json and csv have them)." in text
    assert repr(found).startswith("<Flips: chrF2 at 80, tuned against baseline; 83 gained")
    same = flips(metric=SegmentScores("x", {"a": [1, 2], "b": [1, 2]}), system="a", baseline="b", threshold=2)
    assert (same.largest, same.pvalue, same.gained) == ([], 1.0, [])
    assert "0 segments gained, 0 lost, net +0; 2 unchanged" in " ".join(str(same).split())
    for fmt, start in (("markdown", "**chrF2"), ("latex", "% needs"), ("typst", "#figure(")):
        assert found.render(fmt).startswith(start)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="unknown format 'xml'"):
        found.render("xml")  # type: ignore[arg-type]


def of_demo(**arguments: Any) -> Any:
    chosen: dict[str, Any] = {"metric": "bleu", "threshold": 50, **PAIR, **arguments}
    return flips(CORPUS.references, CORPUS.systems, **chosen)


def test_wrong_arguments_are_explained() -> None:
    assert_raises("python_errors_of_flips", globals())


@pytest.mark.parametrize("higher", [True, False])
def test_scores_of_0_and_1_need_no_threshold(higher: bool) -> None:
    right = SegmentScores("x", {"a": [0, 1, 1, 0], "b": [1, 0, 1, 0]}, higher)
    assert flips(metric=right) == flips(metric=right, threshold=0.5)
    half = SegmentScores("x", {"a": [0, 1, 1, 0], "b": [1, 0, 0.5, 0]}, higher)
    with pytest.raises(InputError, match="scores of segments are from 0 to 1: choose"):
        flips(metric=half)
    lacking = SegmentScores("x", {"a": [0, 1, None, 0], "b": [1, 0, 0.5, 0]}, higher, "pairwise")
    assert flips(metric=lacking).threshold == 0.5


def test_the_command_line_has_flips(run: Callable[..., Any], demo: Path) -> None:
    line = "flips reference.txt baseline.txt tuned.txt -m chrf --threshold 80".split()
    done = run(*line, "--format", "json", "-o", "-", "-o", "flips.json")
    expected = flips(CORPUS.references, CORPUS.systems, "chrf", threshold=80, **PAIR)
    assert (done.code, unnamed(done.out)) == (0, expected.render("json"))
    plotted = run("plot", "flips.json", "forest", "-o", "forest.svg")
    assert "holds flips: expected a comparison or a study, of which there are figures" in plotted.err
    several = run(*line, "larger.txt", "--system", "larger.txt", "--baseline", "tuned")
    assert (several.code, "larger" in several.out) == (0, True)
    Path("scores.tsv").write_text(
        "segment\tsystem\tx\n1\ta\t1\n2\ta\t\n3\ta\t5\n1\tb\t4\n2\tb\t3\n3\tb\tNone\n4\ta\t2\n4\tb\t1\n"
    )
    done = run(*"flips --scores x scores.tsv#x --threshold 2 --missing pairwise --format csv".split())
    rows = "segment,baseline_score,system_score,flip,contribution\n1,1.0,4.0,gained,1.5\n4,2.0,1.0,lost,-0.5\n"
    assert (done.code, done.out) == (0, rows)
