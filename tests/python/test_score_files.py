"""Files of ``--scores`` on the command line: tables, systems by name, logs beside texts, ids of documents."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inputs import put, put_lines, scores_by_system
from reshuffle import InputError, InputWarning, join_scores
from reshuffle.data.corpus import system_names
from reshuffle.data.joined_scores import paths_of_runs, segment_order
from reshuffle.data.score_columns import opened

pytestmark = pytest.mark.usefixtures("here")

A, B = [0.5, 1.0, 0.25, 2.0, 0.0, 1.5], [1.0, 0.75, 0.5, 2.5, 1.0, 0.5]
TEXTS = ("ref.txt", "a.txt", "b.txt")


def metrics(outcome: Any) -> Any:
    """The last metric, its scores and its tests."""
    assert outcome.code == 0, outcome.err
    found = json.loads(outcome.out)
    metric = found["metrics"][-1]
    return metric, *([e for e in found[key] if e["metric"] == metric["name"]] for key in ("scores", "comparisons"))


def rows(order: list[int]) -> dict[str, str]:
    """The same scores in every kind of file for several systems."""
    by_system = [(s, i + 1, v[i]) for i in order for s, v in (("a", A), ("b", B))]
    wide = "".join(f"{i + 1},{A[i]},{B[i]}\n" for i in order)
    long = "".join(f'"{s}",{i},{v}\n' for s, i, v in by_system)
    return {
        "wide.csv": "segment,a,b\n" + wide,
        "wide.tsv": "segment\ta\tb\n" + wide.replace(",", "\t"),
        "long.csv": "System,seg_id,score\n" + long,
        "metrics.csv": "system,segment,score,metric\n" + long.replace("\n", ",x\n") + "a,1,9,y\n",
        "wmt.tsv": "system mqm_avg_score seg_id\n" + "".join(f"{s} {v}\t{i}\n" for s, i, v in by_system),
        "da.txt": "SYS\tSID\tHUMAN\n" + "".join(f"{s}\t{i}\t{v}\n" for s, i, v in by_system),
        "x.seg.score": "".join(f"{s}\t{v}\n" for s, own in (("a", A), ("b", B)) for v in own),
        "x.jsonl": "".join(json.dumps({"segment": i + 1, "a": A[i], "b": B[i]}) + "\n" for i in order),
    }


def put_texts() -> None:
    """A reference, outputs of two systems, and their scores."""
    put("ref.txt", "".join(f"the cat sat {i}\n" for i in range(6)))
    for name, values in (("a", A), ("b", B)):
        put(f"{name}.da", "".join(f"{v}\n" for v in values))
        put(f"{name}.txt", "".join(f"the cat {name} {i}\n" for i in range(6)))


def test_a_name_that_is_almost_that_of_the_only_key_of_scores_is_doubted(run: Any) -> None:
    for system in "ab":
        put_lines(f"{system}.jsonl", ({"id": i, "correct": i % 2} for i in range(6)))
    words = ("a.jsonl", "b.jsonl", "-n", "99")
    doubt = "a.jsonl: the scores of 'corect' are called 'correct' there: is the name mistyped?"
    assert doubt in run("compare", "--scores", "corect", *words).err
    for name in ("correct", "Correct", "acc"):  # names are free
        assert "mistyped" not in run("compare", "--scores", name, *words).err


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


def test_a_name_of_scores_that_no_column_has(run: Any) -> None:
    for system in "ab":
        put_lines(f"{system}.jsonl", [{"id": i, "score": i % 5, "tokens": i % 3} for i in range(6)])
    words = ("a.jsonl", "b.jsonl", "-n", "99")
    other = "a.jsonl: the scores of 'f1' are called 'score' there; to choose another (tokens), write FILE#tokens"
    assert other in run("compare", "--scores", "f1", *words).err
    lost = "unknown column of scores 'token': did you mean 'tokens'? Known: score, tokens; to use this name for"
    assert f"a.jsonl: {lost}" in run("compare", "--scores", "token", *words).refusal()
    for system in "ab":
        put_lines(f"{system}.jsonl", [{"id": i, "latency": i % 5} for i in range(6)])
    assert "the scores of 'accuracy' are called 'latency'" in run("compare", "--scores", "accuracy", *words).err


def test_json_lines_are_recognized_in_a_file_of_any_name() -> None:
    assert scores_by_system(put("x.txt", '{"id": "q", "score": 1}\n{"id": "r", "score": 2}\n')) == {None: [1, 2]}


def test_tables_of_several_systems(run: Any) -> None:
    put_texts()
    options = ("-n", "99", "--format", "json")
    expected = metrics(run("compare", "--scores", "x", "a.da", "b.da", *options))
    beside = metrics(run("compare", *TEXTS, "--scores", "x", "b.da", "a.da", *options))
    for file, content in rows([3, 0, 5, 1, 2, 4]).items():
        put(file, content)
        assert metrics(run("compare", "--scores", "x", file, *options)) == expected, file
        assert metrics(run("compare", *TEXTS, "--scores", "x", file, *options)) == beside, file
    put("other.csv", "c,d\n" + "".join(f"{a},{b}\n" for a, b in zip(A, B, strict=True)))
    lost = run("compare", *TEXTS, "--scores", "x", "other.csv").refusal()
    assert "no scores of 2 of 2 systems: 'a', 'b'; it has those of 'c', 'd'; if they" in lost
    assert metrics(run("compare", *TEXTS, "--scores", "x", "other.csv", "--by-position", *options)) == beside


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("x.csv", "1\n2\n", "x.csv, line 1: expected a header with the name of the column, got '1'"),
        ("x.csv", "a,b\n1\n", "x.csv, line 2: expected 2 fields as in the header, got 1"),
        ("x.csv", 'a,b\n"1,2\n', "x.csv, line 2: the quotes in the table cannot be read"),
        ("x.csv", "a,b\n1,2\n3,bad\n", "x.csv#b, line 3: expected a finite number, got 'bad'"),
        ("x.csv", "segment,a,b\n1,2,3\n1,3,4\n", "line 3: segment 1 occurs twice"),
        ("x.csv", "system,score\na,1\nb,2\n", "expected a column of segments beside the systems in 'system'"),
        ("x.csv", "system,segment,lp,score\na,1,x,1\na,1,y,2\n", "expected one language pair, got 2 (x, y)"),
        ("x.json", '{"a": [{"COMET": 1}],\n"a": [{"COMET": 2}]}', "x.json, line 2: expected one list for each system"),
        (
            "x.json",
            '{"results": {"arc": {"acc": 0.5}}}',
            "tests need a score for each segment, as in the samples of lm-e",
        ),
        ("x.json", '{"a": [{"COMET": 1}]} x', "x.json, line 1: not valid JSON: Extra data"),
        ("x.json", '[{"COMET": 1}],\n"x": [{"COMET": 2}]', "x.json, line 2: not valid JSON: Extra data"),
        ("x.score", "a\t1\nb\n", "x.score, line 2: expected 2 fields as in the first line, got 1"),
        ("x.score", "a\t1\nb\tx\n", "x.score#score, line 2: expected a finite number, got 'x'"),
        ("x.jsonl", '{"right": [1, 0]}\n', "got a list: for several answers to an item, write their mean, or a file"),
        ("x.jsonl", '{"scores": {"f1": 1}}\n', "must be a key of the line itself; jq -c '. + .scores' copies those of"),
        ("x.json", '{"q7": 0.5}', 'scores by id are JSON lines such as {"id": "q7", "score": 0.5}'),
    ],
)
def test_bad_tables(file: str, content: str, message: str) -> None:
    with pytest.raises(InputError) as raised:
        scores_by_system(put(file, content))
    assert message in str(raised.value)


def log(ids: list[Any], values: list[float], **header: Any) -> str:
    samples = [{"id": i, "epoch": 1, "scores": {"f1": {"value": v}}} for i, v in zip(ids, values, strict=True)]
    return json.dumps({"version": 2, "status": "success", "eval": {"model": "m"}, **header, "samples": samples})


def test_logs_beside_texts_and_groups(run: Any) -> None:
    put_texts()
    order = [4, 2, 0, 5, 3, 1]
    for name, values in (("a", A), ("b", B)):
        put(f"{name}.json", log([i + 1 for i in order], [values[i] for i in order]))
        put(f"{name}.named.json", log([f"s{i}" for i in order], [values[i] for i in order]))
    put("docs.txt", "x\nx\ny\ny\nz\nz\n")
    put("docs.tsv", "id\tdoc\n" + "".join(f"s{i}\t{'xxyyzz'[i]}\n" for i in (5, 0, 1, 3, 2, 4)))
    put("few.tsv", "id\tdoc\ns0\tx\n")
    scores, files, named = ("compare", "--scores", "f1"), ("a.da", "b.da"), ("a.named.json", "b.named.json")
    for texts, logs, more in ((TEXTS, ("b.json", "a.json"), ()), ((), ("a.json", "b.json"), ("--docs", "docs.txt"))):
        expected, found = (
            metrics(run("compare", *texts, *scores[1:], *each, *more, "-n", "99", "--format", "json"))
            for each in (files, logs)
        )
        assert found == expected
    # A log and a table of the same ids, in any order.
    put("b.named.tsv", "id\tf1\n" + "".join(f"s{i}\t{B[i]}\n" for i in (5, 3, 0, 1, 2, 4)))
    mixed = ("a.named.json", "b.named.tsv")
    # Documents in another order have other draws; exact p do not depend on the order.
    exact = ("--test", "ar:scheme=exact", "--format", "json")
    expected, *others = (
        json.loads(run(*scores, *each, "--docs", docs, *exact).out)["comparisons"][0]
        for each, docs in ((files, "docs.txt"), (named, "docs.tsv#doc"), (mixed, "docs.tsv#doc"))
    )
    for found in others:
        assert (found["test"]["pvalue"], found["difference"]) == (expected["test"]["pvalue"], expected["difference"])
    for command, message in (
        ((*scores, *named, "--docs", "docs.txt"), "6 of 6 ids are not: 's4', 's2', 's0' …"),
        (
            (*scores, "a.named.json", "b.named.tsv", "--docs", "docs.txt"),
            "the same ids in different orders, and docs.txt",
        ),
        (("compare", *TEXTS, *scores[1:], *named), "numbers of the segments, from 0 or 1, but 6 of 6 ids are not"),
        ((*scores, *named, "--strata", "few.tsv#doc"), "5 of 6 samples of the logs have no row with their id"),
    ):
        assert message in run(*command).refusal()


def test_systems_of_comet_keep_their_numbers_and_those_of_helm_have_the_names_of_folders(run: Any) -> None:
    put("c.json", json.dumps({"out/new.1": [{"COMET": 1}, {"COMET": 0}], "out/old.txt": [{"COMET": 0}, {"COMET": 0}]}))
    assert "\nnew.1 " in (found := run("score", "--scores", "COMET", "c.json").out)
    assert "\nold " in found
    put("two.json", json.dumps({f"{name}/new.1": [{"COMET": 1}, {"COMET": 0}] for name in "ab"}))
    found = run("score", "--scores", "COMET", "two.json").out
    assert "\na/new.1 " in found
    assert "\nb/new.1 " in found
    assert system_names(["mmlu,model=a/per_instance_stats.json", "exp/b/text"]) == ["mmlu,model=a", "b"]


def test_a_system_twice_in_a_line_of_pearmut() -> None:
    from reshuffle import read_scores as read_table

    put("p.jsonl", '{"user_id": "u", "item_i": 0, "item": [{"item_id": 1}], "annotation": [{"a": {}, "a": {}}]}\n')
    with pytest.raises(InputError, match=r"p\.jsonl, line 1: the key 'a' occurs twice in one object"):
        read_table("p.jsonl")


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


def test_texts_of_a_model_are_rows_of_a_table(run: Any) -> None:
    rows = {model: [(f"s{i}", model, i // 5, (i + at) % 3 % 2) for i in range(9)] for at, model in enumerate("ab")}
    rows["b"].reverse()
    put("wide.tsv", "gold\ta\tb\n" + "".join(f"{i // 5}\t{i % 3 % 2}\t{(i + 1) % 3 % 2}\n" for i in range(9)))
    words = ("-m", "accuracy", "-n", "99")
    expected = run("compare", "wide.tsv#gold", "wide.tsv#a", "wide.tsv#b", *words).out
    for header in ("id", "utt"):
        table = "".join("\t".join(map(str, row)) + "\n" for own in rows.values() for row in own)
        put("long.tsv", f"{header}\tmodel\tgold\tx\n{table}")
        found = run("compare", "long.tsv#gold,model=a", "long.tsv#x,model=a", "long.tsv#x,model=b", *words)
        assert found.out == expected
        assert found.err == "" or header == "utt"
        outcome = run("compare", "long.tsv#gold", "long.tsv#x,model=a", "long.tsv#x,model=b", *words)
        if header == "id":
            assert outcome.out == expected
        else:
            assert "the rows of model=a and others differ in gold: add a column 'id', or sort" in outcome.refusal()


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


def test_the_only_key_beside_ids_has_the_scores(run: Any) -> None:
    command = ("compare", "--scores", "accuracy", "a.jsonl", "b.jsonl")
    for more in ({"note": "x"}, {}):
        for name, scores in (("a", A), ("b", B)):
            put_lines(f"{name}.jsonl", ({"doc_id": i, "acc": score, **more} for i, score in enumerate(scores)))
        if more:
            refused = run(*command).refusal()
            assert "expected one key, got 3 (doc_id, acc, note): choose one as in 'a.jsonl#acc'" in refused
    *_, (pair,) = metrics(run(*command, "--format", "json"))
    assert pair["test"]["statistic"] == pytest.approx((sum(B) - sum(A)) / len(A))


def test_a_key_that_is_advised_has_scores_and_one_that_is_called_a_metric_is_found(run: Any) -> None:
    for name in "ab":
        rows = ({"id": i, "question": f"q{i}", "ms": i * 10, "ok": i % 3 > 0} for i in range(12))
        put_lines(f"{name}.jsonl", rows)
    assert "choose one as in 'a.jsonl#ok'" in run("compare", "--scores", "accuracy", "a.jsonl", "b.jsonl").refusal()
    refused = run("compare", "-m", "ok", "a.jsonl", "b.jsonl").refusal()
    assert "a.jsonl has scores of this name, so write --scores ok a.jsonl b.jsonl" in refused
    assert "known: bleu" in run("compare", "-m", "question", "a.jsonl", "b.jsonl").refusal()  # texts


def test_true_and_false_are_scores(run: Any) -> None:
    def put_files(ones: Any, zeros: Any) -> None:
        for name in "ab":
            found = [ones if (i + (name == "b")) % 3 else zeros for i in range(12)]
            put_lines(f"{name}.jsonl", ({"id": i, "ok": x, "why": "x"} for i, x in enumerate(found)))
            put(f"{name}.json", json.dumps([{"id": i, "ok": x} for i, x in enumerate(found)]))
            put(f"{name}.csv", "id,ok\n" + "".join(f"{i},{x}\n" for i, x in enumerate(found)))
            put(f"{name}.acc", "".join(f"{x}\n" for x in found))
        wide = [(ones, zeros if i % 4 else ones) for i in range(12)]
        put_lines("wide.jsonl", ({"a": a, "b": b} for a, b in wide))
        put("wide.csv", "id,a,b\n" + "".join(f"s{i},{a},{b}\n" for i, (a, b) in enumerate(wide)))
        long = ((s, i, ones if i % (2 + j) else zeros) for j, s in enumerate("abc") for i in range(12))
        put_lines("all.jsonl", ({"system": s, "segment": i + 1, "ok": x} for s, i, x in long))

    people = ("meta", "segments", "--human", "all.jsonl", "--columns", "score=ok", "--coefficient", "pearson")
    commands = [
        *(("compare", "--scores", "ok", f"a.{kind}", f"b.{kind}") for kind in ("jsonl", "json", "csv", "acc")),
        *(("compare", "--scores", "ok", file) for file in ("wide.jsonl", "wide.csv", "all.jsonl")),
        ("gate", "--scores", "ok", "a.jsonl", "b.jsonl", "--margin", "ok=0.5"),
        (*people, "--metric-scores", "judge=all.jsonl#ok"),
    ]
    put_files(1, 0)
    expected = [run(*each).out for each in commands]
    put_files(True, False)  # as pandas writes them, too
    assert [run(*each).out for each in commands] == expected
    assert all(expected)
    assert "numbers in ok" in run("doctor", "a.jsonl").out


@pytest.mark.parametrize(("file", "separator"), [("x.csv", ";"), ("x.csv", "\t"), ("x.tsv", ","), ("x.tsv", ";")])
def test_other_separators_than_those_of_the_ending_are_named(run: Any, file: str, separator: str) -> None:
    put(file, "".join(f"{separator.join(row)}\n" for row in (["id", "a", "b"], ["s1", "0,5", "1"], ["s2", "1", "0"])))
    said = f"{file}, line 1: expected fields separated by {'commas' if file == 'x.csv' else 'tabs'}, as the ending"
    assert said in run("compare", "--scores", "x", file).refusal()


@pytest.mark.parametrize("ids", ["segment", "id", "Question_ID"])
def test_the_segments_beside_systems_are_called_as_ids_are(run: Any, ids: str) -> None:
    rows = [f"{system},s{i},{score}\n" for system, scores in (("a", A), ("b", B)) for i, score in enumerate(scores)]
    put("long.csv", f"system,{ids},x\n" + "".join(rows))
    *_, (pair,) = metrics(run("compare", "--scores", "x", "long.csv", "--format", "json"))
    assert pair["test"]["statistic"] == pytest.approx((sum(B) - sum(A)) / len(A))
    put("long.csv", "system,talk,x\n" + "".join(rows))
    assert "expected a column of segments beside the systems" in run("compare", "--scores", "x", "long.csv").refusal()


def compare_right(run: Any, *words: str) -> Any:
    return run("compare", "--scores", "right", *words)


def test_a_column_of_models_has_the_systems_if_there_are_several(run: Any) -> None:
    right = {model: [(n + at) % 3 % 2 for n in range(40)] for at, model in enumerate(("small", "large"))}
    rows = [f"q{n},{model},t{n // 4},{scores[n]}\n" for n in range(40) for model, scores in right.items()]
    table = put("models.csv", "id,model,topic,right\n" + "".join(rows))
    wide = (f"q{n},{a},{b}\n" for n, (a, b) in enumerate(zip(*right.values(), strict=True)))
    expected = compare_right(run, put("wide.csv", "id,small,large\n" + "".join(wide))).out
    assert "40 segments, 2 systems" in expected
    assert compare_right(run, table).out == expected
    grouped = compare_right(run, table, "--docs", "topic").out
    assert "40 segments in 10 documents, 2 systems" in grouped
    text = Path(table).read_text()
    put("questions.csv", text.replace("id,", "question,", 1))
    assert compare_right(run, "questions.csv", "--docs", "topic").out == grouped
    put("unknown.csv", text.replace("id,model", "of,llm", 1))
    assert compare_right(run, "unknown.csv").refusal().endswith("'system' (or 'model') and 'id'\n")
    put("moved.csv", text.replace("q39,large,t9", "q39,large,t0"))
    moved = "moved.csv#topic: 1 segment with several values: 'q39'"
    assert moved in compare_right(run, "moved.csv", "--docs", "topic").refusal()
    put("models.csv", "id,model,right\n" + "q1,a,1\nq1,b,0\n" * 2)
    twice = "segment q1 of system 'a' occurs twice: write each of several raters into a file of its own"
    refused = compare_right(run, "models.csv").refusal()
    assert twice in refused
    assert refused.endswith("if they are of several runs, call the column that numbers these 'run'\n")
    for ids, runs in (("id", "run"), ("problem", "sample_idx"), ("id", "attempt")):
        lines = [f"q{n},{model},{at},{(n + at) % 3 % 2}\n" for n in range(9) for model in "ab" for at in range(3)]
        put("runs.csv", f"{ids},model,{runs},right\n{''.join(lines)}")
        found = compare_right(run, "runs.csv")
        assert "9 segments, 2 systems" in found.out
        assert "is the mean over its runs; 'reshuffle runs' takes each as a run" in found.err
        words = "--baseline runs.csv#model=a --system runs.csv#model=b"
        assert f"reshuffle runs --scores right {words}" in run("doctor", "runs.csv").out
        refused = run("runs", "--scores", "right", "runs.csv", "--baseline", "a").refusal()
        assert refused == f"reshuffle: error: runs.csv has the scores of 2 models: write --scores right {words}\n"
        assert f"each {runs} is taken as a run (3 in all)" in run("runs", "--scores", "right", *words.split()).err
        chosen = ("runs.csv#model=a", "runs.csv#model=b", "--docs", f"runs.csv#{ids}")
        assert "27 segments in 9 documents, 2 systems" in compare_right(run, *chosen).out
        if ids == "id":
            means = compare_right(run, *chosen[:2])
            assert "9 segments, 2 systems" in means.out
            assert "is the mean over its runs" in means.err
            of_systems = [f"q{n},{at},{(n + at) % 3 % 2},{n % 2}\n" for n in range(9) for at in range(3)]
            put("wide.csv", f"id,{runs},a,b\n{''.join(of_systems)}")
            assert "9 segments, 2 systems" in compare_right(run, "wide.csv").out


def test_ids_that_are_the_same_numbers_are_matched(run: Any) -> None:
    right = [n % 3 % 2 for n in range(40)]
    put("a.csv", "id,right\n" + "".join(f"{n},{right[n]}\n" for n in range(40)))
    put("b.csv", "id,right\n" + "".join(f"{n}.0,{right[n]}\n" for n in reversed(range(40))))
    found = compare_right(run, "a.csv", "b.csv", "--test", "sign-test", "--interval", "t")
    assert "+0.0000" in found.out
    assert "by position" not in found.err


def test_numbers_that_begin_anew_in_each_benchmark_are_ids_with_its_name(run: Any) -> None:
    rows = [(f"{part},{n}", {"a": n % 3 % 2, "b": n % 2}) for part in ("arc", "gsm8k") for n in range(30)]
    for name in "ab":
        put(f"{name}.csv", "benchmark,id,right\n" + "".join(f"{own},{right[name]}\n" for own, right in rows))
        rows.reverse()
    options = ("--test", "sign-test", "--interval", "t")
    found = compare_right(run, "a.csv", "b.csv", *options)
    assert "60 segments, 2 systems" in found.out
    assert not found.err
    lines = [f"{own},{name},{right[name]}\n" for name in "ab" for own, right in rows]
    put("all.csv", f"benchmark,id,model,right\n{''.join(lines)}")
    assert compare_right(run, "all.csv", *options).out == found.out


def test_columns_beside_answers_are_told_of(run: Any) -> None:
    rows = [f"q{n},{n % 5 + 1},{n % 2},{n % 3 % 2}\n" for n in range(40)]
    found = compare_right(run, put("levels.csv", f"id,difficulty,a,b\n{''.join(rows)}"))
    assert "'difficulty' has other values than 0 and 1, unlike the other columns, and is taken as a system" in found.err
    assert "choose other columns, as in 'levels.csv#a' 'levels.csv#b'" in found.err


@pytest.mark.parametrize("answers", [("yes", "no", "maybe"), ("a long text " * 9, "another " * 9, "more " * 20)])
def test_texts_of_answers_are_no_runs(answers: tuple[str, ...]) -> None:
    for name, values in (("texts", answers), ("numbers", ("0", "1"))):
        rows = [(n, values[(n + at) % 3 if name == "texts" else at], at) for n in range(9) for at in range(2)]
        lines = [f"q{n},{answer},{right}\n" for n, answer, right in rows]
        put(f"{name}.csv", f"question,generation,right\n{''.join(lines)}")
    assert paths_of_runs("texts.csv", 10**6) == ["texts.csv"]
    assert paths_of_runs("numbers.csv", 10**6) == ["numbers.csv#generation=0", "numbers.csv#generation=1"]


def test_a_column_of_one_model_or_without_repeated_ids_has_no_systems(run: Any) -> None:
    put("one.csv", "id,model,right\n" + "q1,a,1\nq2,a,0\n")
    put("other.csv", "id,model,right\n" + "q2,a,1\nq1,a,0\n")
    assert "2 segments, 2 systems" in compare_right(run, "one.csv", "other.csv").out
    # It is a score, or says who answered.
    for name, lines in (("scores.csv", "q1,0.5,0.25\nq2,1,0\n"), ("routed.csv", "q1,small,0.25\nq2,large,0\n")):
        assert run("score", "--scores", "human", put(name, "id,model,human\n" + lines)).code == 0
    # Doctor offers what is not refused.
    for table in ("id,model,right,ms\n" + "q1,a,1,3\nq1,b,0,4\n", "id,model,right\nq1,a,True\nq1,b,False\n"):
        said = run("doctor", put("models.csv", table)).out
        offered = [line.strip() for line in said.splitlines() if line.startswith("    reshuffle ")]
        assert offered == ["reshuffle compare --scores right models.csv"]
    assert run("score", "--scores", "right", "models.csv").code == 0


def test_flags_beside_numbers_are_no_systems(run: Any) -> None:
    put("wide.jsonl", "".join(json.dumps({"a": i % 3, "b": i % 2, "is_test": True}) + "\n" for i in range(12)))
    put("wide.csv", "a,b,is_test\n" + "".join(f"{i % 3},{i % 2},True\n" for i in range(12)))
    assert "2 systems" in run("compare", "--scores", "x", "wide.jsonl").out
    put("wide.csv", "a,b,is_test,text\n" + "".join(f"{i % 3},{i % 2},True,12 of 40\n" for i in range(12)))
    assert "2 systems" in run("compare", "--scores", "x", "wide.csv").out
    put("wide.csv", "a,b,is_test,note\n" + "".join(f"{i % 3},{i % 2},{' True' * (i > 3)},\n" for i in range(12)))
    assert "2 systems" in run("compare", "--scores", "x", "wide.csv", "--missing", "pairwise").out


@pytest.mark.parametrize("number", ["12.3%", '"0,53"', '"1,200.5"', "40 %"])
def test_a_column_of_numbers_that_are_written_otherwise_is_not_left_out(run: Any, number: str) -> None:
    put("wide.csv", "id,a,b,c\n" + "".join(f"s{i},{i % 3},{i % 2},{number}\n" for i in range(12)))
    refused = run("compare", "--scores", "x", "wide.csv").refusal()
    assert f"wide.csv#c, line 2: expected a finite number, got '{number.strip(chr(34))}'" in refused


def put_scores(name: str, ids: Iterable[object], scores: Sequence[float]) -> None:
    rows = (f"{key}\t{score}\n" for key, score in zip(ids, scores, strict=True))
    put(f"{name}.tsv", "id\tx\n" + "".join(rows))


def compared(run: Any, ids: Iterable[object], others: Iterable[object], *options: str) -> Any:
    """The comparison of A and B in tables with these ids."""
    put_scores("a", ids, A)
    put_scores("b", others, B)
    return run("compare", "--scores", "x", "a.tsv", "b.tsv", "-n", "99", *options)


def test_an_id_that_occurs_twice_is_no_reason_to_ignore_the_others(run: Any) -> None:
    ids = ["s0", "s1", "s2", "s3", "s1", "s5"]
    assert compared(run, ids, ids).err == ""
    missing = compared(run, ["s0", "s1", "s2", "s3", "s4", "s5"], ids).refusal()
    assert "b.tsv has the id 's1' twice: give both files the same ids, each once" in missing
    said = "b.tsv has the id 's1' twice, and 's0' is segment 6 of b.tsv and segment 1 of a.tsv: give both files"
    assert said in compared(run, ids, ids[::-1]).refusal()
    # Ids of documents are no ids of rows.
    assert compared(run, ids, ["d0", "d0", "d0", "d1", "d1", "d1"]).err == ""


def test_several_rows_with_one_id_need_the_same_order_and_get_a_warning(run: Any) -> None:
    ids = ["q0", "q0", "q1", "q1", "q2", "q2"]
    said = "each of 3 ids occurs 2 times, but rows with the same id are taken as independent"
    assert f"x: {said}" in compared(run, ids, ids).err
    assert compared(run, ids, ids, "--docs", "a.tsv#id").err == ""
    refused = compared(run, ids, ["q0", "q1", "q2"] * 2).refusal()
    assert "segment 2 has the id 'q1' in b.tsv and 'q0' in a.tsv, and these occur several times in both" in refused
    for name in "ab":
        put(f"{name}.csv", Path(f"{name}.tsv").read_text().replace("id\tx", "question\tx").replace("\t", ","))
    assert f"a.csv#question: {said}" in run("compare", "--scores", "x", "a.csv", "b.csv").err
    assert run("compare", "--scores", "x", "a.csv", "b.csv", "--docs", "question").err == ""


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


def test_a_key_that_the_first_line_lacks_is_not_another_one(run: Any) -> None:
    put_lines("a.jsonl", ({"id": i, "topic": "t", **({} if i < 2 else {"right": True})} for i in range(6)))
    put_lines("b.jsonl", ({"id": i, "right": False} for i in range(6)))
    for name in ("a.jsonl", "a.jsonl#right"):
        refused = run("compare", "--scores", "right", "b.jsonl#right", name, "--missing", "pairwise").refusal()
        assert "a.jsonl, line 1: expected the key 'right', which line 3 has, got id, topic" in refused


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


def test_a_rare_minus_1_among_answers_may_stand_for_a_failure(run: Any) -> None:
    def warned(n_failed: int, others: str) -> bool:
        put("x.tsv", "a\tb\n" + "0\t-1\n" * n_failed + f"1\t{others}\n0\t1\n1\t0\n" * 20)
        return "of b are -1, and all others are 0 or 1: if that" in run("compare", "--scores", "x", "x.tsv").err

    assert [warned(2, "1"), warned(9, "1"), warned(2, "2")] == [True, False, False]


def test_shares_beside_percentages_are_told(run: Any) -> None:
    def warned(right: str) -> bool:
        put("x.tsv", "a\tb\n" + f"0\t{right}\n1\t0\n" * 20)
        return f"of a are from 0 to 1, and those of b reach {right}" in run("compare", "--scores", "x", "x.tsv").err

    assert [warned("100"), warned("2")] == [True, False]


def test_a_table_without_a_header_is_refused(run: Any) -> None:
    put("x.csv", "0.134,0.847\n0.25,0.5\n0.75,1.5\n")
    message = "x.csv, line 1: expected a header with the names of the columns, got the numbers 0.134, 0.847"
    assert message in run("compare", "--scores", "x", "x.csv").refusal()
    # Whole numbers may be names of systems.
    put("x.csv", "1,2\n0.25,0.5\n0.75,1.5\n")
    found = run("compare", "--scores", "x", "x.csv", "-n", "99")
    message = "x.csv: line 1 (1, 2) is read as the header; if it has scores, add a line with names above it"
    assert (found.code, message in found.err) == (0, True)
    put("1.txt", "a\nb\n")
    put("2.txt", "a\nc\n")
    found = run("compare", "1.txt", "1.txt", "2.txt", "--scores", "x", "x.csv", "-n", "99")
    assert (found.code, "header" in found.err) == (0, False)


def test_labels_and_totals_are_told_from_systems_and_segments(run: Any) -> None:
    put("x.csv", "id,gold,a\nq1,1,0\nq2,2,2\nmean,1.5,1\n")
    told = run("score", "--scores", "acc", "x.csv").err
    assert "'gold' is taken as a system: if it has right labels, compare the others with it by -m accuracy" in told
    assert "'mean' in the last row is taken as a segment: if it sums up the others, leave it out" in told
    put("x.csv", "Unnamed: 0,a,b\n0,1,0\n1,0,1\n")
    assert "Unnamed" not in run("score", "--scores", "acc", "x.csv").out


def test_columns_of_ids_are_not_systems(run: Any) -> None:
    rows = [f"{i},{i},{i // 3},{i % 2},{i % 5 == 0:d}" for i in range(30)]
    put("q.csv", "\n".join(["question_id,question,passage,a,b", *rows]))
    outcome = run("compare", "--scores", "acc", "q.csv", "-n", "99")
    assert "q.csv: 'question', 'passage' look like ids, and are taken as systems: if so, choose other" in outcome.err
    assert "as in 'q.csv#a' 'q.csv#b'" in outcome.err
    assert "question_id" not in outcome.out


def test_epochs_of_benchmarks_that_number_their_questions_anew_are_averaged(run: Any) -> None:
    rows = [(part, n, at) for part, size in (("x", 9), ("y", 7)) for n in range(size) for at in range(3)]
    for name, step in (("a", 2), ("b", 5)):
        lines = [(part, n, at, (n * step + at) % 3 % 2) for part, n, at in rows]
        moved = lines[::step] + [line for place, line in enumerate(lines) if place % step]
        put(f"{name}.csv", "benchmark,id,epoch,right\n" + "".join(f"{p},{n},{at},{s}\n" for p, n, at, s in moved))
        put(f"{name}1.csv", "id,epoch,right\n" + "".join(f"{p}{n},{at},{s}\n" for p, n, at, s in lines))
    found, plain = compare_right(run, "a.csv", "b.csv"), compare_right(run, "a1.csv", "b1.csv")
    assert "16 segments, 2 systems" in found.out
    numbers = [re.findall(r"[-+]?\d\.\d+", text.out.partition("Signature")[0]) for text in (found, plain)]
    assert numbers[0] == numbers[1]
    as_runs = run("runs", "--scores", "right", "--baseline", "a.csv", "--system", "b.csv", "-n", "99")
    assert "each epoch is taken as a run (3 in all)" in as_runs.err
