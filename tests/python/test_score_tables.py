"""Scores of people and of other tools: every format against plain loops, real files, and messages for bad ones."""

import contextlib
import gzip
import json
import math
import re
import warnings
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reshuffle
from inputs import put, scores_by_system
from known import known
from reshuffle import InputError, InputWarning, read_lines
from reshuffle.data.formats.base import Source
from reshuffle.data.formats.comet import read_records
from reshuffle.data.score_tables import ScoreTable, read_all_scores, read_scores
from reshuffle.data.scores import read_numbers
from told import assert_raises

pytestmark = pytest.mark.usefixtures("here")

MISSING = ["None", "NA", "nan", "", "null"]
# Ratings: system, segment, score.
RATINGS = st.lists(
    st.tuples(st.sampled_from("abc"), st.integers(1, 4), st.none() | st.integers(-9, 9).map(lambda n: n / 2)),
    min_size=1,
    max_size=15,
).filter(lambda ratings: any(score is not None for *_, score in ratings))


def field(score: float | None, i: int = 0) -> str:
    return MISSING[i % len(MISSING)] if score is None else str(score)


def means(ratings: list[tuple[str, int, float | None]]) -> dict[tuple[str, int], float]:
    """The mean of the ratings of each cell: a loop over ratings."""
    found = defaultdict(list)
    for system, segment, score in ratings:
        if score is not None:
            found[system, segment].append(score)
    return {cell: sum(scores) / len(scores) for cell, scores in found.items()}


def cells(table: ScoreTable, base: int = 1) -> dict[tuple[str, int], float]:
    """The cells of a table that have scores."""
    return {
        (system, segment): value
        for system, row in zip(table.systems, known(table.segments).tolist(), strict=True)
        for segment, value in enumerate(row, base)
        if not math.isnan(value)
    }


def as_tsv(ratings: list[tuple[str, int, float | None]]) -> str:
    rows = [f"{segment}\t{system}\t{field(score, i)}" for i, (system, segment, score) in enumerate(ratings)]
    return "\n".join(["sid\tSYSTEM\tHUMAN", *rows, ""])


def as_csv(ratings: list[tuple[str, int, float | None]]) -> str:
    rows = [
        f'"{system}",{field(score, i)},"a, ""b""\nc",{segment}' for i, (system, segment, score) in enumerate(ratings)
    ]
    return "\r\n".join(["system,HUMAN,source,segment", *rows, ""])


def as_mqm(ratings: list[tuple[str, int, float | None]]) -> str:
    rows = [f"{system}\t{'None' if score is None else score} {segment}" for system, segment, score in ratings]
    return "\n".join(["system HUMAN seg_id", *rows, ""])


def as_jsonl(ratings: list[tuple[str, int, float | None]]) -> str:
    rows = [{"system": system, "segment": segment, "HUMAN": score} for system, segment, score in ratings]
    return "".join(json.dumps(row) + "\n" for row in rows)


@given(RATINGS, st.sampled_from([as_tsv, as_csv, as_mqm, as_jsonl]))
def test_ratings_are_averaged_in_every_format(
    ratings: list[tuple[str, int, float | None]], write: Callable[[Any], str]
) -> None:
    table = read_scores(put("any.txt", write(ratings)))
    expected = means(ratings)
    assert cells(table) == pytest.approx(expected)
    assert table.n_segments == max(segment for _, segment, _ in ratings)
    assert set(table.systems) == {system for system, *_ in ratings}
    assert table.n_ratings == sum(score is not None for *_, score in ratings)
    for system, mean in zip(table.systems, table.means, strict=True):
        own = [value for (name, _), value in expected.items() if name == system]
        assert mean == pytest.approx(np.mean(own) if own else math.nan, nan_ok=True)


@given(RATINGS, st.permutations("abc"))
def test_files_of_mt_metrics_eval_are_in_the_order_of_segments(
    ratings: list[tuple[str, int, float | None]], systems: list[str]
) -> None:
    expected = {(s, i): value for s, i, value in ratings if value is not None}
    lines = [f"{s}\t{expected.get((s, i))}\n" for s in systems for i in range(1, 5)]
    table = read_scores(put("COMET-refA.seg.score", "".join(lines)), n_segments=4)
    assert (table.name, table.systems, table.n_segments) == ("COMET-refA", tuple(systems), 4)
    assert cells(table) == expected


@given(RATINGS)
def test_scores_of_systems_have_no_segments(ratings: list[tuple[str, int, float | None]]) -> None:
    rows = "".join(f"en-de {field(score)} {system}\n" for system, _, score in ratings if score is not None)
    table = read_scores(put("sys.csv", "LP HUMAN SYSTEM\n" + rows))
    expected = means([(system, 1, score) for system, _, score in ratings])
    assert table.segments is None
    found = dict(zip(table.systems, known(table.system_scores).tolist(), strict=True))
    assert found == pytest.approx({system: value for (system, _), value in expected.items()})


def test_system_files_of_mt_metrics_eval() -> None:
    table = read_scores(put("BLEU-refA.refB.sys.score", "a\t1\nb\tNone\n"), systems=["b", "a"])
    assert (table.name, table.systems, table.segments) == ("BLEU-refA.refB", ("b", "a"), None)
    np.testing.assert_array_equal(known(table.system_scores), [np.nan, 1])
    Path("en-de.mqm.seg.score.gz").write_bytes(gzip.compress(b"a 1\na 2\nb 3\nb None\n"))
    human = read_scores("en-de.mqm.seg.score.gz")
    assert (human.name, human.n_ratings) == ("en-de.mqm", 3)


def test_segment_scores_of_this_package(run: Callable[..., Any]) -> None:
    ref = put("ref.txt", "the cat sat on the mat\nno\n")
    files = [put("one.txt", "the cat sat on a mat\nno\n"), put("two.txt", "a cat\nyes\n")]
    options = ["-m", "bleu", "-m", "ter"]
    for name in ("tsv", "jsonl"):
        result = run("score", ref, *files, *options, "--segments", "--format", name)
        assert result.code == 0
        found = read_all_scores(put(f"long.{name}", result.out), lower_is_better=["TER"], systems=["two", "one"])
        assert [(table.name, table.higher_is_better) for table in found.values()] == [("BLEU", True), ("TER", False)]
        assert found["BLEU"].systems == ("two", "one")
        assert known(found["BLEU"].segments)[1].tolist() == pytest.approx([53.7284966, 100], abs=1e-6)
        only = read_scores(f"long.{name}", metric="TER", higher_is_better=False)
        assert only.systems == ("one", "two")
        np.testing.assert_array_equal(only.segments, found["TER"].segments[::-1])  # type: ignore[index]


def test_json_lines_with_one_key_are_the_segments_of_one_system() -> None:
    table = read_scores(put("one.jsonl", '{"score": 0.5}\n{"score": null}\n'), systems=["a"])
    assert table.systems == ("a",)
    np.testing.assert_array_equal(table.segments, [[0.5, np.nan]])


@pytest.mark.parametrize(
    ("header", "rows", "ids", "segments"),
    [
        ("model,seg_id,score", "a,1,1 a,2,0 b,1,1 b,2,1", None, [[1, 0], [1, 1]]),
        ("model,id,score", "a,y,1 a,x,0 b,x,1 b,y,1", ("y", "x"), [[1, 0], [1, 1]]),
        ("model,id,score", "a,y,1 a,x,0", ("y", "x"), [[1, 0]]),
        ("model,score", "a,1 a,0 b,1 b,1", None, None),
    ],
    ids=["numbers", "ids", "one model", "neither"],
)
@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_models_are_systems_with_numbers_or_ids_of_segments_or_neither(
    header: str, rows: str, ids: tuple[str, ...] | None, segments: list[list[int]] | None, ending: str
) -> None:
    lines = [header, *rows.split()]
    if ending == "jsonl":
        cells = [[int(cell) if cell.isdigit() else cell for cell in row.split(",")] for row in lines[1:]]
        lines = [json.dumps(dict(zip(header.split(","), row, strict=True))) for row in cells]
    table = read_scores(put(f"models.{ending}", "".join(f"{line}\n" for line in lines)))
    assert table.systems == (("a", "b") if " b," in rows else ("system",))
    assert (table.segment_ids, None if table.segments is None else table.segments.tolist()) == (ids, segments)
    assert table.means.tolist() == [0.5, 1][: len(table.systems)]


def test_rules_of_json_are_those_of_compare() -> None:
    row = '{{"system": "a", "segment": {}, "x": {}}}\n'
    blank = put("blank.jsonl", row.format(1, 2) + row.format('"2"', "null") + "\n")
    np.testing.assert_array_equal(read_scores(blank).segments, [[2, np.nan]])
    assert known(read_scores(put("marked.txt", "\ufeff1\n2\n")).segments).tolist() == [[1, 2]]
    # Quotes without a partner are text in TSV.
    quotes = read_scores(put("q.tsv", 'system\tsource\tscore\na\t"\t1\nb\tx"y\t2\n'))
    assert known(quotes.system_scores).tolist() == [1, 2]
    for rows, message in (
        (row.format(1, '"0.5"') + row.format(2, 1), r"s.jsonl#x, line 1: expected a finite number, got the string"),
        (row.format(1, 1) + row.format("null", 1), r"s.jsonl#segment, line 2: expected the .* of a segment, got null"),
    ):
        path = put("s.jsonl", rows)
        for read in (partial(read_scores, columns={"score": "x"}), scores_by_system):
            with pytest.raises(InputError, match=message):
                read(path)


def test_a_key_of_scores_that_some_lines_lack_is_not_left_out_without_a_word() -> None:
    path = put("some.jsonl", '{"score": 1, "ms": 3, "note": "x"}\n{"score": 2}\n')
    with pytest.warns(InputWarning, match="line 2: expected the key 'ms'.*; the scores in 'ms' are left out"):
        assert list(read_all_scores(path)) == ["score"]


def test_names_match_with_and_without_txt() -> None:
    path = put("n.tsv", "system\tscore\tsegment\nNemo\t1\t1\nA.txt\t2\t1\n")
    paths = [Path("sys/A.txt"), Path("sys/NVIDIA-NeMo.txt")]
    for systems in (["A", "NVIDIA-NeMo"], ["A.txt", "NVIDIA-NeMo.txt"], paths):
        for name in ("NVIDIA-NeMo", "NVIDIA-NeMo.txt"):
            table = read_scores(path, systems=systems, sysmap={"Nemo": name})
            assert [each.removesuffix(".txt") for each in table.systems] == ["A", "NVIDIA-NeMo"]
            assert cells(table) == {(table.systems[0], 1): 2, (table.systems[1], 1): 1}


# Real files.


def test_segments_of_direct_assessments_count_from_1(data: Path) -> None:
    # The rows of testset_de-en.tsv have the scores and the sources, wmt17-en-de/ref.txt the source of de-en.
    folder = data / "wmt17-da-seg"
    table = read_scores(folder / "DA-seglevel.csv", language_pair="de-en", n_segments=3004)
    rows = [line.split("\t") for line in read_lines(folder / "testset_de-en.tsv")[1:]]
    source = [re.sub(r"\W", "", line.lower()) for line in read_lines(data / "wmt17-en-de/ref.txt")]
    text_of = {round(float(row[4]), 9): re.sub(r"\W", "", row[1].lower()) for row in rows}
    found = {(segment, round(value, 9)) for (_, segment), value in cells(table, base=0).items()}
    assert len(found) == 560
    assert sum(text_of[value] == source[segment] for segment, value in found) == 560
    assert sum(text_of[value] == source[segment - 1] for segment, value in found) <= 1


def test_sentence_bleu_agrees_with_people_as_wmt17_printed(data: Path) -> None:
    # Pearson's r of sentBLEU on 560 segments (Bojar et al. 2017, W17-4755). testset_lv-en.tsv lacks some.
    printed = {"cs": 0.435, "de": 0.432, "fi": 0.571, "ru": 0.484, "tr": 0.538, "zh": 0.512}
    for pair, r in printed.items():
        tables = read_all_scores(data / f"wmt17-da-seg/testset_{pair}-en.tsv")
        human, bleu = tables.values()
        assert ([*tables], human.systems) == (["HUMAN_score", "sentBLEU"], ("system",))
        assert human.n_ratings == bleu.n_ratings == 560
        assert np.corrcoef(human.segments[0], bleu.segments[0])[0, 1] == pytest.approx(r, abs=0.0006)  # type: ignore[index]


# Contents of the bad files in python_errors_of_score_tables.txt.
MQM = "system\tmqm_avg_score\tseg_id\na\t-1\t1\nb\tNone\t1\n"
PAIRS = "LP HUMAN SYSTEM\nen-de 1 a\nen-fr 2 a\n"
WIDE = "segment\tsystem\tBLEU\tTER\n1\ta\t1\t2\n1\tb\t3\t2\n"
LONG = "METRIC\tLP\tTESTSET\tSYSTEM\tSCORE\nA\tx\tn1\ts\t1\nB\tx\tn2\ts\t1\n"
JSON = '{"segment": 1, "system": "a", "x": 0.5}\n'


def test_what_is_wrong_with_scores_is_said() -> None:
    assert_raises("python_errors_of_score_tables", globals())


@pytest.mark.parametrize(
    ("content", "options", "flags"),
    [
        (MQM, (), "map their names with --sysmap, or leave them out with --missing-systems drop"),
        (MQM.replace("seg_id", "n"), ("--columns", "segment=n"), "say with --segment-base whether"),
        ("foo\tbar\tsystem\nx\ty\tz\n", (), "name it with --columns score=NAME"),
        (LONG, (), "choose one, as in --test-set n1"),
    ],
)
def test_errors_name_what_their_reader_can_type(
    run: Callable[..., Any], content: str, options: tuple[str, ...], flags: str
) -> None:
    texts = (
        "--refs",
        put("r.txt", "x\ny\n"),
        "--systems",
        put("A.txt", "x\nx\n"),
        put("B.txt", "y\ny\n"),
        "-m",
        "bleu",
    )
    error = run("meta", "systems", "--human", put("e.tsv", content), *texts, *options).refusal()
    assert flags in error
    assert "=" not in error.replace("score=NAME", "")


PIECES = [*'10xa\t\t\n\n,"{ \r\ufeff', "-1", "None", "SYSTEM", "score", "e9"]


@given(
    st.sampled_from([MQM, PAIRS, WIDE, LONG, JSON, "a\t1\na\t2\n"]),
    st.lists(st.tuples(st.integers(0, 90), st.sampled_from(PIECES), st.integers(0, 2)), max_size=8),
    st.sampled_from(["fuzz.tsv", "fuzz.seg.score", "fuzz.jsonl"]),
)
def test_no_file_is_read_with_another_error(start: str, changes: list[tuple[int, str, int]], name: str) -> None:
    text = start * 2
    for at, piece, drop in changes:
        text = text[:at] + piece + text[at + drop :]
    path = put(name, text)
    for options in ({}, {"systems": ["a", "b"], "unknown": "drop"}, {"n_segments": 1}):
        with contextlib.suppress(InputError), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            table = read_scores(path, **options)
            assert table.n_ratings > 0
        with contextlib.suppress(InputError), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert read_all_scores(path, **options)


def test_a_column_with_a_wrong_field_is_not_left_out_without_a_word(tmp_path: Path) -> None:
    path = tmp_path / "two.tsv"
    lines = ["system\tsegment\tA\tB\tremark", "a\t1\t1\t5\tgood", "a\t2\t.\t5\t7", "b\t1\t3\t5\tbad"]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        assert list(read_all_scores(path)) == ["B"]
    (message,) = (str(each.message) for each in given)
    assert f"{path}#A, line 3: '.' is not a number, so the column 'A' is left out" in message
    with pytest.raises(InputError, match=r"#A, line 3: expected a finite number, got '\.'"):
        read_scores(path, metric="A")


def test_ids_of_rows_are_those_of_the_language_pair() -> None:
    rows = [("en-de", "a", "x", 1), ("en-fr", "a", "x", 9), ("en-de", "b", "x", 2), ("en-fr", "b", "x", 8)]
    put("pairs.csv", "lp,model,id,score\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))
    table = read_scores("pairs.csv", language_pair="en-fr")
    assert (table.systems, table.segment_ids, known(table.segments).tolist()) == (("a", "b"), ("x",), [[9], [8]])


def test_models_that_are_numbers_without_ids_are_scores() -> None:
    rows = [(0.5, 0.25), (0.75, None), (1, 0.5)]
    put("two.jsonl", "".join(json.dumps({"human": human, "model": model}) + "\n" for human, model in rows))
    assert read_scores("two.jsonl", metric="human").means.tolist() == [0.75]
    assert read_scores("two.jsonl", metric="model").means.tolist() == [0.375]


def test_arrays_of_numpy_and_decimal_commas_are_told_how_to_be_written() -> None:
    np.save("a.npy", np.zeros(3))
    np.savez("a.npz", a=np.zeros(3), b=np.ones(3))
    for name in ("a.npy", "a.npz"):
        with pytest.raises(
            InputError, match=r"^a\.npy is an array|^a\.npz: .* got arrays of NumPy: write .* by numpy\.savetxt,"
        ):
            read_scores(name)
    put("a.txt", "0.5\n0,5\n")
    with pytest.raises(InputError, match=r"line 2: expected a finite number, got '0,5': write decimals with a point$"):
        read_numbers("a.txt")


@pytest.mark.parametrize(("content", "path"), [("[1, 2.5]", "'.[]'"), ('{"a b": [1], "c": [2]}', """'.["a b"][]'""")])
def test_numbers_alone_in_json_are_told_how_to_be_written(content: str, path: str) -> None:
    put("a.json", content)
    files = "a text file for each system," if "c" in content else "a text file"
    hint = f"got the number 1; write numbers alone as {files} with one on each line, as jq {path} does"
    with pytest.raises(InputError, match=re.escape(hint)):
        read_records(Source.read("a.json", "scores"))


def test_errors_about_files_that_are_not_tables_advise_calls_in_python() -> None:
    reshuffle.save_counts("a.npz", ["a b"], {"A": ["a"], "B": ["b"]})
    with pytest.raises(InputError, match=r"write compare\(metrics=open_counts\('a.npz'\)\)$"):
        read_scores("a.npz")
