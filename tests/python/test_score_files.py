"""Files of ``--scores`` on the command line: tables of several systems, logs beside texts, ids of documents."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from inputs import put, scores_by_system
from reshuffle import InputError
from reshuffle.data.corpus import system_names
from scored import A, B, metrics

pytestmark = pytest.mark.usefixtures("here")

TEXTS = ("ref.txt", "a.txt", "b.txt")


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
        ("x.jsonl", '{"scores": {"f1": 1}}\n', "at the top level of the line; jq -c '. + .scores' copies them there"),
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


@pytest.mark.parametrize("field", ["passage", "Speaker", "document", "group", "doc_id"])
def test_segments_with_the_same_passage_are_told_of(run: Any, field: str) -> None:
    def told(of: Callable[[int], object], *more: str) -> str:
        for name in "ab":
            rows = "".join(f"q{n},{model},{of(n)},{n % 3 % 2}\n" for n in range(24) for model in ("x", "y"))
            put(f"{name}.csv", f"question_id,system,{field},right\n{rows}")
        return str(run("compare", "--scores", "right", "a.csv", "-n", "99", *more).err)

    said = f"a.csv: segments with the same {field!r} (6 values) are taken as independent, which can make p too small"
    assert said in told(lambda n: f"g{n // 4}")
    assert told(lambda n: f"g{n // 4}", "--docs", field) == ""
    # Too few for a test of them; and one for each question, which two systems have answered.
    assert told(lambda n: f"g{n // 8}") + told(lambda n: f"g{n}") == ""


@pytest.mark.parametrize("ids", ["id", ""])
def test_documents_about_which_files_disagree_are_told(run: Any, ids: str) -> None:
    def told(*groups: Sequence[object], command: str = "compare", docs: str = "passage") -> str:
        for name, own in zip("ab", groups, strict=True):
            rows = "".join(f"q{n}," * bool(ids) + f"{group},{n % 3 % 2}\n" for n, group in enumerate(own))
            put(f"{name}.csv", f"{ids}{',' * bool(ids)}passage,right\n{rows}")
        more = ("--rule", "no-regression") if command == "gate" else ()
        return str(run(command, "--scores", "right", "a.csv", "b.csv", "--docs", docs, "-n", "99", *more).err)

    of_four, of_three = ([f"g{n // size}" for n in range(24)] for size in (4, 3))
    said = "b.csv#passage has other documents for some segments than a.csv#passage, whose are used: if they are right"
    assert said in told(of_four, of_three)
    assert said in told(of_four, of_three, command="gate")
    assert said not in told(of_four, [name.upper() for name in of_four])  # the same under other names
    put("docs.csv", "id,passage\n" + "".join(f"q{n},{name}\n" for n, name in enumerate(of_four)))
    assert "other documents" not in told(of_four, of_three, docs="docs.csv#passage")


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


@pytest.mark.parametrize(("file", "separator"), [("x.csv", ";"), ("x.csv", "\t"), ("x.tsv", ","), ("x.tsv", ";")])
def test_other_separators_than_those_of_the_ending_are_named(run: Any, file: str, separator: str) -> None:
    put(file, "".join(f"{separator.join(row)}\n" for row in (["id", "a", "b"], ["s1", "0,5", "1"], ["s2", "1", "0"])))
    said = f"{file}, line 1: expected fields separated by {'commas' if file == 'x.csv' else 'tabs'}, as the ending"
    refused = run("compare", "--scores", "x", file).refusal()
    assert said in refused
    todo = {"\t": ": rename it to .tsv", ",": ": rename it to .csv"}.get(
        separator, "read_csv(FILE, sep=';', decimal=',').to_csv(NEW, index=False)"
    )
    assert refused.endswith(f"{todo}\n")
    assert run("doctor", file).refusal() == refused


@pytest.mark.parametrize("ids", ["segment", "id", "Question_ID"])
def test_the_segments_beside_systems_are_called_as_ids_are(run: Any, ids: str) -> None:
    rows = [f"{system},s{i},{score}\n" for system, scores in (("a", A), ("b", B)) for i, score in enumerate(scores)]
    put("long.csv", f"system,{ids},x\n" + "".join(rows))
    *_, (pair,) = metrics(run("compare", "--scores", "x", "long.csv", "--format", "json"))
    assert pair["test"]["statistic"] == pytest.approx((sum(B) - sum(A)) / len(A))
    put("long.csv", "system,talk,x\n" + "".join(rows))
    assert "expected a column of segments beside the systems" in run("compare", "--scores", "x", "long.csv").refusal()


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
