"""Segment scores: equal to sacreBLEU's on real and generated segments, and in Python and on the command line."""

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sacrebleu.metrics.bleu import BLEU as SacreBLEU  # noqa: N811

from reshuffle import (
    CorpusFunction,
    Formula,
    InputError,
    SegmentScores,
    SegmentTable,
    UsedMetric,
    metric,
    score,
    segment_scores,
)
from reshuffle.report import pieces, render
from told import assert_raises, assert_refused, command

LINES = st.lists(st.sampled_from(["a", "b", "A", "a-b", "1,5", "c.", "&amp;", "Σ"]), max_size=8).map(" ".join)
SMOOTHING: st.SearchStrategy[dict[str, Any]] = st.one_of(
    st.builds(dict, smooth_method=st.sampled_from(["none", "exp", "floor", "add-k"])),
    st.builds(dict, smooth_method=st.sampled_from(["floor", "add-k"]), smooth_value=st.sampled_from([0.01, 0.5, 1, 2])),
)

REFERENCES = ["the cat sat on the mat", "no", "it rained"]
SYSTEMS = {"a": ["the cat sat on a mat", "", "it"], "b": ["a cat", "no no", "it rained all day"]}


@given(LINES, st.lists(LINES, min_size=1, max_size=3), SMOOTHING, st.integers(1, 5))
def test_scores_of_any_segment_equal_sacrebleus_sentence_scores(
    hypothesis: str, references: list[str], smoothing: dict[str, Any], order: int
) -> None:
    assume(any(reference.strip() for reference in references))
    expected = SacreBLEU(effective_order=True, max_ngram_order=order, **smoothing)
    bleu = metric("bleu", max_ngram_order=order, **smoothing)
    got = segment_scores([[r] for r in references], [[hypothesis]], bleu).scores["BLEU"]
    assert got.shape == (1, 1)
    assert got.item() == pytest.approx(expected.sentence_score(hypothesis, references).score, rel=1e-9, abs=1e-9)


def test_the_table_has_the_signature_of_its_metric() -> None:
    table = segment_scores(REFERENCES, SYSTEMS, ["bleu", metric("bleu", lowercase=True)])
    assert (table.systems, table.n_segments) == (("a", "b"), 3)
    mixed, lower = (f"BLEU|nrefs:1|case:{case}|eff:yes|tok:13a|smooth:exp" for case in ("mixed", "lc"))
    assert [m.signature for m in table.metrics] == [mixed, lower]
    assert [m.name for m in table.metrics] == list(table.scores) == ["BLEU case:mixed", "BLEU case:lc"]
    assert table.signature == f"{mixed}|{lower}|version:reshuffle-{table.version}"
    assert all(scores.shape == (2, 3) for scores in table.scores.values())
    assert list(segment_scores(REFERENCES, SYSTEMS).scores) == ["BLEU"]
    with pytest.raises(InputError, match=r"references has 3 segments, x has 1"):
        segment_scores(REFERENCES, {"x": ["a"]})


def test_the_score_of_a_document_is_the_corpus_score_of_its_segments() -> None:
    documents = ["x", "y", "x"]
    rating = SegmentScores("rating", {"a": [1, 2, 4], "b": [3, 3, 3]})
    own = CorpusFunction("words", lambda hypotheses, references: float(sum(len(h.split()) for h in hypotheses)))
    table = segment_scores(REFERENCES, SYSTEMS, ["bleu", rating, own], documents=documents)
    assert (table.documents, table.n_segments) == (("x", "y"), 2)
    assert table.metrics[0].signature == metric("bleu").signature("1")
    for number, chosen in enumerate([[0, 2], [1]]):
        systems = {name: [lines[i] for i in chosen] for name, lines in SYSTEMS.items()}
        expected = [s.score for s in score([REFERENCES[i] for i in chosen], systems, "bleu").scores]
        np.testing.assert_array_equal(expected, table.scores["BLEU"][:, number])
    np.testing.assert_array_equal([[2.5, 2], [3, 3]], table.scores["rating"])
    np.testing.assert_array_equal([[7, 0], [6, 2]], table.scores["words"])
    (first, *_), (header, *_) = (render(table, fmt).splitlines() for fmt in ("jsonl", "tsv"))
    assert (list(json.loads(first))[:2], json.loads(first)["document"]) == (["document", "system"], "x")
    assert header.split("\t") == ["document", "system", "BLEU", "rating", "words"]
    with pytest.raises(InputError, match="documents: expected an id for each of 3 segments, got 2"):
        segment_scores(REFERENCES, SYSTEMS, documents=["x", "y"])


def test_a_formula_can_define_its_own_segment_scores() -> None:
    accuracy = Formula("accuracy", lambda totals: totals[..., 0] / totals[..., 1])
    np.testing.assert_array_equal([[0.5, 1.0]], accuracy.segment_scores([[[1, 2], [3, 3]]]))
    assert accuracy.segment_signature("1") == accuracy.signature("1")
    bleu = metric("bleu")
    counts = bleu.suff_stats([REFERENCES], list(SYSTEMS.values()))
    one_by_one = [[bleu.segment_scores(row) for row in rows] for rows in counts]
    np.testing.assert_array_equal(one_by_one, bleu.segment_scores(counts))


def test_formats_have_numbers_in_full_precision() -> None:
    table = segment_scores(REFERENCES, SYSTEMS, ["bleu", metric("bleu", lowercase=True)])
    expected = [
        {"segment": s + 1, "system": name} | {m: float(scores[k, s]) for m, scores in table.scores.items()}
        for s in range(3)
        for k, name in enumerate(table.systems)
    ]
    rows = csv.DictReader(render(table).splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE)
    assert expected == [
        {"segment": int(row.pop("segment")), "system": row.pop("system")} | {m: float(x) for m, x in row.items()}
        for row in rows
    ]
    assert expected == [json.loads(line) for line in render(table, "jsonl").splitlines()]
    with pytest.raises(InputError, match="unknown format 'jsno': did you mean 'jsonl'"):
        render(table, "jsno")
    odd = segment_scores(["x"], {'a\t"b"\n': ["x"]})
    assert json.loads(render(odd, "jsonl"))["system"] == 'a\t"b"\n'
    with pytest.raises(InputError, match="tsv cannot hold a tab or an end of line"):
        render(odd)


@pytest.mark.parametrize("fmt", ["tsv", "jsonl"])
def test_large_tables_are_rendered_completely_in_small_pieces(fmt: str) -> None:
    scores = np.arange(2 * 20_000, dtype=np.float64).reshape(2, -1)
    table = SegmentTable(("a", "b"), (UsedMetric("M", "M", True),), {"M": scores}, "M", "0")
    parts = [*pieces(table, fmt)]
    assert max(map(len, parts)) < 10**6
    lines = "".join(parts).splitlines()[-40_000:]
    assert [int(line.split("\t")[0]) if fmt == "tsv" else json.loads(line)["segment"] for line in lines] == [
        s for s in range(1, 20_001) for _ in "ab"
    ]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    rows = zip(REFERENCES, *SYSTEMS.values(), strict=True)
    Path("all.tsv").write_text("".join("\t".join(row) + "\n" for row in [("ref", *SYSTEMS), *rows]))
    yield tmp_path
    assert not list(tmp_path.glob(".*"))


FILES = ("all.tsv#ref", "all.tsv#a", "all.tsv#b")


def test_the_command_writes_what_the_api_returns(folder: Path, run: Any) -> None:
    signature = f"Signature: {segment_scores(REFERENCES, SYSTEMS).signature}\n"
    for fmt in ("tsv", "jsonl"):
        expected = render(segment_scores(REFERENCES, SYSTEMS), fmt)
        assert run("score", *FILES, "--segments", "--format", fmt) == (0, expected, signature)
    expected = render(segment_scores(REFERENCES, SYSTEMS))
    assert run("score", *FILES, "--segments", "-o", "out") == (0, "", signature)
    assert Path("out").read_text() == expected
    assert run("score", *FILES, "--segments", "-o", "-") == (0, expected, signature)
    assert not Path("-").exists()
    refused = run("score", *FILES, "--segments", "--workers", "processes").refusal()
    assert "--workers: segments are scored by this process" in refused
    # The output can be read back.
    assert run("score", "out#BLEU", "out#system", "--input-format", "tsv").code == 0


@pytest.mark.parametrize("fmt", ["tsv", "jsonl"])
def test_segment_scores_are_read_back_by_system(folder: Path, run: Any, fmt: str) -> None:
    run("score", *FILES, "-m", "bleu", "-m", "chrf", "--segments", "--format", fmt, "-o", f"out.{fmt}")
    scores = ("--scores", "sentences", f"out.{fmt}#BLEU")
    means = dict(zip("ab", segment_scores(REFERENCES, SYSTEMS).scores["BLEU"].mean(axis=1).tolist(), strict=True))
    # Alone, the file provides the names of the systems; beside texts, the scores are looked up by the texts' names.
    beside = (FILES[0], *reversed(FILES[1:]), "-m", "ter")
    for args in ((), ("--scores", "chrf", f"out.{fmt}#chrF2"), beside):
        found = run("compare", *args, *scores, "-n", "9", "--format", "json")
        assert found.code == 0
        got = {s["system"]: s["score"] for s in json.loads(found.out)["scores"] if s["metric"] == "sentences"}
        assert got == pytest.approx(means)
    refused = run("compare", *scores, "--scores", "x", f"out.{fmt}#BLEU", "missing").refusal()
    assert "--scores x: expected a file for each of 1 systems after the name, got 2" in refused
    # A file with the scores of several systems must be the only one.
    refused = run("compare", *scores, f"out.{fmt}#chrF2").refusal()
    assert f"out.{fmt}#BLEU has the scores of 2 systems (a, b), expected one system" in refused


def test_scores_of_systems_with_different_segments_are_refused(folder: Path, run: Any) -> None:
    def compared(rows: str) -> int:
        Path("x.tsv").write_text("segment\tsystem\tM\n" + rows)
        return command(["compare", "--scores", "M", "x.tsv#M"])

    assert_raises("python_errors_of_segments", {"compared": compared})
    before = Path("all.tsv").read_bytes()
    assert_refused("errors_of_segments", run)
    assert before == Path("all.tsv").read_bytes()
