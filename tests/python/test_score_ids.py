"""Rows of files of ``--scores``: which belong together by their ids, in any order, and what if some are lacking."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inputs import put, put_lines
from reshuffle import InputError, InputWarning, join_scores
from reshuffle.data.joined_scores import segment_order
from reshuffle.data.score_columns import opened
from scored import A, B, compare_right, compared, metrics, put_scores

pytestmark = pytest.mark.usefixtures("here")


@pytest.mark.parametrize("key", ["id", "Instance_ID", "qid", "task", "name", "index"])
def test_rows_are_matched_by_columns_that_are_usually_ids(run: Any, key: str) -> None:
    ids = [*range(7, 47)] if key == "index" else [f"q{i}" for i in range(40)]
    rows = [{key: name, "score": i % 5} for i, name in enumerate(ids)]
    put_lines("a.jsonl", rows)
    put_lines("b.jsonl", [{**row, "score": (i * 7) % 4} for i, row in enumerate(rows)])
    command = ("compare", "--scores", "score", "a.jsonl", "b.jsonl", "-n", "99", "--format", "csv")
    expected = run(*command).out
    put("b.jsonl", "".join(reversed(Path("b.jsonl").read_text().splitlines(True))))
    assert run(*command).out == expected


def test_columns_with_a_value_twice_with_fractions_or_with_long_texts_are_none_of_ids(run: Any) -> None:
    for key, value in (("task", lambda i: f"t{i // 2}"), ("key", lambda i: i + 0.5)):
        rows = [{key: value(i), "score": i % 5} for i in range(40)]
        put_lines("a.jsonl", rows)
        put_lines("b.jsonl", [{**row, key: value(39 - i)} for i, row in enumerate(rows)])
        found = run("compare", "--scores", "score", "a.jsonl", "b.jsonl", "-n", "99")
        assert (found.code, "have the same scores everywhere" in " ".join(found.out.split())) == (0, True)
    put_lines("long.jsonl", [{"prompt": "x" * 65 + str(i), "score": i % 3} for i in range(30)])
    assert opened("long.jsonl")[0].ids(["score"]) is None
    # Few whole numbers are scores of a system.
    put("wide.csv", "sample,greedy\n1,3\n2,1\n3,2\n")
    found = json.loads(run("compare", "--scores", "x", "wide.csv", "-n", "9", "--format", "json").out)
    assert found["systems"] == ["sample", "greedy"]


@given(st.permutations(range(7)), st.sampled_from([0, 1]))
def test_order_of_segments_against_sorting(numbers: list[int], base: int) -> None:
    ids = [str(n + base) for n in numbers]
    assert [int(ids[at]) for at in segment_order(ids, "x", "texts")] == sorted(map(int, ids))
    with pytest.raises(InputError, match="1 of 8 segments have none"):
        segment_order(ids, "x", "texts", 8)


TABLE_ENDINGS = {"tsv": "id\ttext\tscore\tdoc\n", "jsonl": ""}


def table_of(kind: str, texts: list[str], scores: list[float], order: list[int]) -> str:
    """A table whose rows have ids, in any order. Each segment is a document of two."""
    rows = [{"id": f"s{i}", "text": texts[i], "score": scores[i], "doc": f"d{i // 2}"} for i in order]
    if kind == "jsonl":
        return "".join(json.dumps(each) + "\n" for each in rows)
    return TABLE_ENDINGS[kind] + "".join("\t".join(map(str, each.values())) + "\n" for each in rows)


@pytest.mark.parametrize("kind", TABLE_ENDINGS)
def test_rows_of_tables_are_matched_by_their_ids(run: Any, kind: str) -> None:
    texts = [f"the cat {'sat' * (i % 3)} {i}" for i in range(6)]
    changed = [text.replace("cat", "dog") if i % 2 else text for i, text in enumerate(texts)]
    found = []
    for order in ([0, 1, 2, 3, 4, 5], [3, 0, 5, 1, 2, 4]):
        put(f"a.{kind}", table_of(kind, texts, A, [0, 1, 2, 3, 4, 5]))
        put(f"b.{kind}", table_of(kind, changed, B, order))
        put(f"docs.{kind}", table_of(kind, texts, A, order[::-1]))
        scores = "--scores x a.{0}#score b.{0}#score --docs docs.{0}#doc -n 99 --format json"
        for words in (f"compare {scores}", f"compare a.{{0}}#text a.{{0}}#text b.{{0}}#text {scores}"):
            result = json.loads(run(*words.format(kind).split()).out)
            found.append(result["scores"] + result["comparisons"])
    assert found[:2] == found[2:]


@pytest.mark.parametrize(
    "words",
    [
        "--scores x a.tsv#x b.tsv#x",
        "a.tsv#text a.tsv#text b.tsv#text -m accuracy",
        "--scores x c.tsv#x d.tsv#x --docs b.tsv#doc",  # the ids of c and d are known
        "ref.trn ref.trn hyp.trn -m accuracy --docs b.tsv#doc",
    ],
)
def test_rows_are_matched_by_a_column_of_any_name_in_another_order(run: Any, words: str) -> None:
    found = []
    for order in (range(6), [3, 0, 5, 1, 2, 4]):
        for files, scores, rows in (("ac", A, range(6)), ("bd", B, order)):
            table = "".join(f"s{i}\t{i % 2}\t{scores[i]}\td{i // 2}\n" for i in rows)
            put(f"{files[0]}.tsv", f"utt\ttext\tx\tdoc\n{table}")
            put(f"{files[1]}.tsv", f"id\ttext\tx\tdoc\n{table}")
        put("ref.trn", "".join(f"{i % 2} (s{i})\n" for i in range(6)))
        put("hyp.trn", "".join(f"{i % 3} (s{i})\n" for i in range(6)))
        outcome = run("compare", *words.split(), "-n", "99", "--format", "json")
        result = json.loads(outcome.out)
        found.append((result["scores"], result["comparisons"]))
        assert ("so segments are matched by it" in outcome.err) == (order[0] == 3)
    assert found[0] == found[1]


def test_numbers_in_another_order_may_be_ids_or_ranks(run: Any) -> None:
    for name, order in (("a", range(6)), ("b", [3, 0, 5, 1, 2, 4])):
        put(f"{name}.tsv", "rank\tx\n" + "".join(f"{i}\t{A[i]}\n" for i in order))
        put(f"{name}.txt.tsv", "\tutt\tx\n" + "".join(f"{n}\ts{i}\t{A[i]}\n" for n, i in enumerate(order)))
        put(f"{name}.csv", "rank,text,x\n" + "".join(f"{i},t{n},{A[n]}\n" for n, i in enumerate(order)))
    refusal = run("compare", "--scores", "x", "a.tsv", "b.tsv").refusal()
    assert "the same numbers in the column 'rank', in different orders: if they are ids of segments, call" in refusal
    # Not the numbers of rows that pandas writes.
    assert "in the column 'utt'" in run("compare", "--scores", "x", "a.txt.tsv", "b.txt.tsv", "-n", "99").err
    # The texts are in one order.
    assert run("compare", "--scores", "x", "a.csv", "b.csv", "-n", "99").err == ""


def test_numbers_of_rows_are_no_ids_where_prompts_are_in_another_order(run: Any) -> None:
    for ending in ("tsv", "jsonl"):
        for name, scores, order in (("a", A, range(6)), ("b", B, [3, 0, 5, 1, 2, 4])):
            rows = [(n, f"q{i}", scores[i]) for n, i in enumerate(order)]
            text = "idx\tprompt\tx\n" + "".join(f"{n}\t{q}\t{x}\n" for n, q, x in rows)
            if ending == "jsonl":  # prompts as lists of messages
                objects = ({"idx": n, "prompt": [{"role": "user", "content": q}], "x": x} for n, q, x in rows)
                text = "".join(json.dumps(each) + "\n" for each in objects)
            put(f"{name}.{ending}", text)
        outcome = run("compare", "--scores", "x", f"a.{ending}", f"b.{ending}", "--test", "t-test", "--interval", "t")
        assert "in the column 'prompt' in different orders, so segments are matched by it" in outcome.err
        with pytest.warns(InputWarning, match="in the column 'prompt' in different orders"):
            joined = join_scores([f"a.{ending}", f"b.{ending}"], metric="x").table
        assert joined.segments is not None
        assert joined.segments.tolist() == [A, B]
        put("a.txt", "".join(f"{x}\n" for x in A))
        put("b.txt", "".join(f"{x}\n" for x in B))
        assert (
            outcome.out == run("compare", "--scores", "x", "a.txt", "b.txt", "--test", "t-test", "--interval", "t").out
        )


def test_rows_with_ids_of_answers_are_matched_by_questions(run: Any) -> None:
    for name, scores, order in (("a", A, range(6)), ("b", B, [3, 0, 5, 1, 2, 4])):
        rows = [
            {"id": f"{name}-{i}", "try": n, "question": f"What is {i}?", "x": scores[i]} for n, i in enumerate(order)
        ]
        put_lines(f"{name}.jsonl", rows)
        put_scores(name, (f"q{i}" for i in range(6)), scores)
    words = ("-n", "99", "--format", "csv")
    found = run("compare", "--scores", "x", "a.jsonl", "b.jsonl", *words)
    said = "a.jsonl and b.jsonl have no id in common, but the same values in the column 'question', so segments are"
    assert said in found.err
    assert found.out == run("compare", "--scores", "x", "a.tsv", "b.tsv", *words).out
    assert said in run("compare", "--scores", "x", "a.jsonl", "b.jsonl", "--scores", "y", "a.jsonl#x", "b.jsonl#x").err


def test_segments_in_the_order_of_their_numbers_are_not_matched_again(run: Any) -> None:
    for name, order in (("a", range(6)), ("b", [3, 0, 5, 1, 2, 4]), ("sorted", range(6))):
        rows = "".join(f"{name}\t{i + 1}\tp{i}\t{(A if name == 'a' else B)[i]}\n" for i in order)
        put(f"{name}.tsv", f"system\tsegment\tprompt\tx\n{rows}")
    words = ("compare", "--format", "csv", "--scores", "x", "a.tsv")
    found, expected = run(*words, "b.tsv"), run(*words, "sorted.tsv")
    assert (found.err, found.out.replace("b,a,", "sorted,a,")) == ("", expected.out)


def test_rows_of_counts_are_matched_by_ids_of_any_name(run: Any) -> None:
    for name, order in (("a", range(6)), ("b", [3, 0, 5, 1, 2, 4]), ("sorted", range(6))):
        scores = A if name == "a" else B
        put(f"{name}.tsv", "utt\terrors\twords\n" + "".join(f"u{i}\t{scores[i]}\t{i + 1}\n" for i in order))
    words = ("compare", "--format", "csv", "--lower-is-better", "WER", "--counts", "WER:errors/words", "a.tsv")
    found, expected = run(*words, "b.tsv"), run(*words, "sorted.tsv")
    assert found.out.replace("b,a,", "sorted,a,") == expected.out != ""
    assert "have the same values in the column 'utt' in different orders, so segments are matched by it" in found.err


def test_questions_that_occur_twice_must_be_in_one_order(run: Any) -> None:
    for name, order in (("a", range(6)), ("b", [2, 3, 0, 1, 4, 5])):
        put(f"{name}.tsv", "question\tx\n" + "".join(f"q{i // 2}\t{A[i]}\n" for i in order))
    outcome = run("compare", "--scores", "x", "a.tsv", "b.tsv")
    assert outcome.code == 2
    assert "so it is not clear which rows belong together: sort both alike" in outcome.err


@pytest.mark.parametrize(
    ("words", "first", "without"),
    [
        ("ref.txt a.tsv#text b.tsv#text", "#text", "ref.txt"),
        ("--scores x x.txt a.tsv#score b.tsv#score", "#score", "x.txt"),
        ("ref.txt ref.txt ref.txt --scores x a.tsv#score b.tsv#score --by-position", "#score", "ref.txt"),
        ("--scores x a.tsv#score b.tsv#score --docs ref.txt", "#score", "ref.txt"),
        ("--counts x:score a.tsv b.tsv --docs ref.txt", "#score", "ref.txt"),
        ("b.tsv#text b.tsv#text b.tsv#text --scores x a.tsv#score x.txt --by-position", "#score", "x.txt"),
        ("--scores x a.tsv#score x.txt --docs b.tsv#doc", "#score", "x.txt"),
    ],
)
def test_tables_in_other_orders_beside_a_file_without_ids_are_refused(
    run: Any, words: str, first: str, without: str
) -> None:
    texts = [f"the cat {i}" for i in range(6)]
    put("ref.txt", "".join(f"{text}\n" for text in texts))
    put("x.txt", "".join(f"{score}\n" for score in A))
    put("a.tsv", table_of("tsv", texts, A, [3, 0, 5, 1, 2, 4]))
    put("b.tsv", table_of("tsv", texts, B, [0, 1, 2, 3, 4, 5]))
    refusal = run("compare", *words.split()).refusal()
    assert re.search(rf"a\.tsv{first} and b\.tsv|b\.tsv#\w+ and a\.tsv{first}", refusal)
    assert f" have the same ids in different orders, and {without} has no ids, so it is not clear" in refusal


def test_each_file_follows_the_first_one_that_has_its_ids(run: Any) -> None:
    texts = [f"the cat {i}" for i in range(6)]
    for folder in ("other", "moved", "plain"):
        Path(folder).mkdir()
    for name, scores in (("a", A), ("b", B)):
        put(f"{name}.tsv", table_of("tsv", texts, scores, [*range(6)]))
        put(f"other/{name}.tsv", "id\tx\n" + "".join(f"z{i}\t{score}\n" for i, score in enumerate(scores)))
        put(f"moved/{name}.tsv", table_of("tsv", texts, scores, [3, 0, 5, 1, 2, 4]))
        put(f"plain/{name}.txt", "".join(f"{text}\n" for text in texts))
    moved = ("--scores", "score", "moved/a.tsv", "moved/b.tsv")
    words = ("compare", "a.tsv#text", "a.tsv#text", "b.tsv#text", "--scores", "x", "other/a.tsv", "other/b.tsv", *moved)
    table = json.loads(run(*words, "--docs", "a.tsv#doc", "--format", "json").out)["comparisons"]
    assert table[1]["test"]["pvalue"] == table[2]["test"]["pvalue"]  # of documents, which other rows would mix
    assert table[1]["confidence_interval"] == table[2]["confidence_interval"]
    counts = ("--counts", "y:score/score", "a.tsv", "b.tsv")
    refusal = run("compare", "plain/a.txt", "plain/a.txt", "plain/b.txt", *moved, *counts).refusal()
    assert "moved/a.tsv and a.tsv#score have the same ids in different orders, and plain/a.txt has no ids" in refusal


def test_rows_of_tables_of_several_systems_are_matched_by_their_ids(run: Any) -> None:
    kinds = {"id": "s", "seg_id": "", "sid": "s", "task": "t"}
    for name, order in (("same", range(1, 7)), ("other", [4, 1, 6, 2, 3, 5])):
        for kind, prefix in kinds.items():
            rows = "".join(f"{prefix}{n}\t{A[n - 1]}\t{B[n - 1]}\td{n * n % 5}\n" for n in order)
            put(f"{kind}-{name}.tsv", f"{kind}\tp\tq\tdoc\n{rows}")

    def found(words: str, *files: str) -> Any:
        outcome = run("compare", *words.format(*files).split(), "-n", "99", "--format", "json")
        assert outcome.code == 0, outcome.err
        # Sums in another order differ in their last digits.
        rounded = json.loads(outcome.out.replace("-other", "-same"), parse_float=lambda text: f"{float(text):.9f}")
        return rounded["scores"], rounded["comparisons"]

    for kind in kinds:
        expected, *others = (
            found(f"--scores x {kind}-{{}}.tsv --docs {kind}-{{}}.tsv#doc", scores, docs)
            for scores in ("same", "other")
            for docs in ("same", "other")
        )
        assert others == [expected] * 3
    expected, *others = (
        found("--counts x:p id-{}.tsv sid-same.tsv --docs id-{}.tsv#doc", counts, docs)
        for counts, docs in (("same", "same"), ("other", "same"), ("other", "other"))
    )
    assert others == [expected] * 2


def test_ids_that_are_the_same_numbers_are_matched(run: Any) -> None:
    right = [n % 3 % 2 for n in range(40)]
    put("a.csv", "id,right\n" + "".join(f"{n},{right[n]}\n" for n in range(40)))
    put("b.csv", "id,right\n" + "".join(f"{n}.0,{right[n]}\n" for n in reversed(range(40))))
    found = compare_right(run, "a.csv", "b.csv", "--test", "sign-test", "--interval", "t")
    assert "+0.0000" in found.out
    assert "by position" not in found.err


def test_ids_in_another_case_are_matched(run: Any) -> None:
    ids, order = [f"MMLU/q{i}" for i in range(6)], [3, 0, 5, 1, 2, 4]
    expected = compared(run, ids, ids, "--format", "csv")
    put_scores("b", [ids[i].lower() for i in order], [B[i] for i in order])
    words = ("compare", "--scores", "x", "a.tsv", "b.tsv", "-n", "99", "--format", "csv")
    found = run(*words)
    assert (found.out, found.err) == (expected.out, "")
    put_scores("b", [ids[i].lower() for i in order[1:]], [B[i] for i in order[1:]])
    assert "5 segments are in all files; x of b.tsv lacks 1: 'MMLU/q3'" in run(*words).refusal()
    put_scores("b", [f"mmlu/q00{i}" for i in order], [B[i] for i in order])
    assert run(*words).out == expected.out
    put_scores("b", ["mmlu/q0", "MMLU/q0", *ids[2:]], B)  # of two spellings neither is that of another file
    assert "MMLU/q1" in run(*words).err


def test_an_id_that_occurs_twice_is_no_reason_to_ignore_the_others(run: Any) -> None:
    ids = ["s0", "s1", "s2", "s3", "s1", "s5"]
    assert compared(run, ids, ids).err == ""
    missing = compared(run, ["s0", "s1", "s2", "s3", "s4", "s5"], ids).refusal()
    assert "b.tsv has the id 's1' twice: give both files the same ids, each once" in missing
    said = "b.tsv has the id 's1' twice, and 's0' is segment 6 of b.tsv and segment 1 of a.tsv: give both files"
    assert said in compared(run, ids, ids[::-1]).refusal()
    # Ids of documents are no ids of rows.
    assert compared(run, ids, ["d0", "d0", "d0", "d1", "d1", "d1"]).err == ""


def test_rows_without_ids_beside_rows_with_some_are_told(run: Any) -> None:
    put_scores("a", (f"s{i}" for i in range(6)), A)
    put_scores("rows", range(6), A)
    put_scores("docs", [0, 0, 0, 1, 1, 1], B)
    put("b.tsv", "x\n" + "".join(f"{score}\n" for score in B))
    put("b.txt", "".join(f"{score}\n" for score in B))
    words = ("--scores", "x", "a.tsv")
    for name, lacking in (("b.tsv", "no ids"), ("b.txt", "no ids"), ("docs.tsv", "ids that occur several times")):
        said = f"{name} has {lacking}, unlike a.tsv, so rows are matched by position: give both the same ids"
        assert said in run("compare", *words, name, "-n", "99").err
        assert said in run("gate", *words, name, "--rule", "no-regression").refusal()
        # Numbers of rows are positions; and texts seldom have ids.
        assert run("compare", "--scores", "x", "rows.tsv", name, "-n", "99").err == ""
    assert run("compare", "b.txt", "b.txt", "b.tsv#x", *words, "a.tsv", "--by-position", "-m", "accuracy").code == 0


def test_rows_in_another_order_are_refused_if_an_id_differs(run: Any) -> None:
    names = [f"q{i}" for i in range(6)]
    refused = compared(run, names, ["q9", *names[:0:-1]]).refusal()
    assert "a.tsv has the id 'q0', which b.tsv lacks, and 'q1' is segment 6 of b.tsv and segment 2 of a.tsv" in refused
    # Numbers that begin with 0 or 1 are in the same order; other orders of numbers are others.
    for first, second, code in (
        (names, ["q9", *names[1:]], 0),
        (names, [*"543219"], 0),
        (range(6), range(1, 7), 0),
        (range(6), [1, 2, 3, 4, 6, 5], 2),
        ([1, 2, 4, 5, 6, 7], range(1, 7), 2),
    ):
        assert compared(run, first, second).code == code
    message = "segment 1 has the id '0' in a.tsv and '1' in b.tsv: the ids are not the same, so segments are matched by"
    assert message in compared(run, range(6), range(1, 7)).err
    assert "the ids are" not in compared(run, range(6), [0, 0, 1, 1, 2, 2]).err


def test_rows_with_ids_that_a_file_lacks_are_refused_or_dropped(run: Any) -> None:
    rows = [{"id": f"s{i}", "doc": i // 2, "score": score} for i, score in enumerate(A)]
    put_lines("a.jsonl", rows)
    put_lines("b.jsonl", (row | {"score": B[i]} for i, row in enumerate(rows) if i != 4))
    words = ("compare", "--scores", "score", "a.jsonl", "b.jsonl", "-n", "99")
    said = "score of b.jsonl lacks 1: 's4'"
    assert f"{said}; --unmatched drop leaves out segments that are not in all" in run(*words).refusal()
    of_runs = run(
        "runs", "--scores", "score", "--baseline", "a.jsonl", "a.jsonl", "--system", "x", "b.jsonl", "b.jsonl"
    )
    assert of_runs.refusal().endswith("an empty score, not a missing row, is a missing score\n")
    of_people = ("human", "--scores", "people", "b.jsonl", "--scores", "judge", "a.jsonl")
    assert "lacks 1: 's4'; an empty score, not a missing row, is a missing score; --unm" in run(*of_people).refusal()
    found = run(*words, "--unmatched", "drop", "--docs", "a.jsonl#doc")
    assert said in found.err
    assert "5 segments in 3 documents" in found.out
    assert "score: 1 segment left out, because not all files have it." in found.out
    gated = run("gate", *words[1:], "--margin", "0.3", "--unmatched", "drop")
    assert "\nTested on 5 segments.\n1 segment left out, because not all files have it.\n" in gated.out
    put_lines("b.jsonl", ({"id": f"s{i}", "score": i} for i in (1, 2, 3, 1)))
    assert "b.jsonl: the id 's1' occurs twice" in run(*words, "--unmatched", "drop").refusal()


def test_rows_that_are_left_out_are_counted_on_each_test_set(run: Any) -> None:
    for test_set, lost in (("x", 1), ("y", 2)):
        for system, scores in (("a", A), ("b", B[lost:])):
            Path(system).mkdir(exist_ok=True)
            rows = [f"{test_set}{i},{score}\n" for i, score in enumerate(scores)]
            put(f"{system}/{test_set}.csv", "id,score\n" + "".join(rows))
    found = run("compare", "--scores", "score", "a", "b", "--unmatched", "drop", "-n", "99")
    assert "\n[x] score: 1 segment left out, because not all files have it.\n" in found.out
    assert "\n[y] score: 2 segments left out, because not all files have them.\n" in found.out


def test_lines_without_an_id_are_read_by_position(run: Any) -> None:
    for name, scores in (("a", A), ("b", B)):
        put_lines(f"{name}.jsonl", ({"score": s} | ({"id": i} if i < 3 else {}) for i, s in enumerate(scores)))
    assert metrics(run("compare", "--scores", "x", "a.jsonl", "b.jsonl", "-n", "99", "--format", "json"))


def test_reports_name_rows_by_their_ids(run: Any) -> None:
    for name, scores in (("a", A), ("b", B)):
        put_scores(name, (f"s{i}" for i in range(6)), scores)
    listed = run("score", "--scores", "x", "a.tsv", "b.tsv", "--segments", "--format", "tsv").out
    assert [line.split("\t")[0] for line in listed.splitlines()[1::2]] == [f"s{i}" for i in range(6)]
    for first, expected in ((0, [*"001122334455"]), (1, [1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6])):
        rows = "".join(f"{i + first}\t{system}\t{i}\n" for i in range(6) for system in "ab")
        put("long.tsv", f"segment\tsystem\tx\n{rows}")
        again = run("score", "--scores", "x", "long.tsv", "--segments", "--format", "jsonl").out
        assert [json.loads(line)["segment"] for line in again.splitlines()] == expected
