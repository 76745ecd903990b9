"""Which columns of files of ``--scores`` have the scores, what these are called, and on which scale they are."""

from __future__ import annotations

import json
from typing import Any

import pytest

from inputs import put, put_lines
from scored import A, B, compare_right, metrics

pytestmark = pytest.mark.usefixtures("here")


def test_a_name_that_is_almost_that_of_the_only_key_of_scores_is_doubted(run: Any) -> None:
    for system in "ab":
        put_lines(f"{system}.jsonl", ({"id": i, "correct": i % 2} for i in range(6)))
    words = ("a.jsonl", "b.jsonl", "-n", "99")
    doubt = (
        "a.jsonl: no scores are called 'corect', so 'correct' is read: is the name mistyped? If not, write FILE#correct"
    )
    assert doubt in run("compare", "--scores", "corect", *words).err
    gate = ("gate", "--rule", "no-regression", "--scores", "corect")
    assert doubt in run(*gate, *words).refusal()
    assert run(*gate, "a.jsonl#correct", "b.jsonl#correct", "-n", "99").code != 2
    for name in ("correct", "Correct", "acc", "correct@1"):  # names are free
        assert "mistyped" not in run("compare", "--scores", name, *words).err


def test_a_name_of_scores_that_no_column_has(run: Any) -> None:
    for system in "ab":
        put_lines(f"{system}.jsonl", [{"id": i, "score": i % 5, "tokens": i % 3} for i in range(6)])
    words = ("a.jsonl", "b.jsonl", "-n", "99")
    other = "a.jsonl: no scores are called 'f1', so 'score' is read; to choose another (tokens), write FILE#tokens"
    assert other in run("compare", "--scores", "f1", *words).err
    lost = "unknown column of scores 'token': did you mean 'tokens'? Known: score, tokens; to use this name for"
    assert f"a.jsonl: {lost}" in run("compare", "--scores", "token", *words).refusal()
    for system in "ab":
        put_lines(f"{system}.jsonl", [{"id": i, "latency": i % 5} for i in range(6)])
    assert "no scores are called 'accuracy', so 'latency' is read" in run("compare", "--scores", "accuracy", *words).err


def test_the_only_key_beside_ids_has_the_scores(run: Any) -> None:
    command = ("compare", "--scores", "accuracy", "a.jsonl", "b.jsonl")
    # Text is no score, even if it is called prediction, as scores of MetricX are.
    for more in ({"note": "x"}, {"prediction": "x"}, {}):
        for name, scores in (("a", A), ("b", B)):
            put_lines(f"{name}.jsonl", ({"doc_id": i, "acc": score, **more} for i, score in enumerate(scores)))
        if more:
            refused = run(*command).refusal()
            keys = ", ".join(["doc_id", "acc", *more])
            assert f"expected one key, got 3 ({keys}): choose one as in 'a.jsonl#acc'" in refused
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


def test_columns_beside_answers_are_told_of(run: Any) -> None:
    rows = [f"q{n},{n % 5 + 1},{n % 2},{n % 3 % 2}\n" for n in range(40)]
    found = compare_right(run, put("levels.csv", f"id,difficulty,a,b\n{''.join(rows)}"))
    assert "'difficulty' has other values than 0 and 1, unlike the other columns, and is taken as a system" in found.err
    assert "choose other columns, as in 'levels.csv#a' 'levels.csv#b'" in found.err


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


def test_a_key_that_the_first_line_lacks_is_not_another_one(run: Any) -> None:
    put_lines("a.jsonl", ({"id": i, "topic": "t", **({} if i < 2 else {"right": True})} for i in range(6)))
    put_lines("b.jsonl", ({"id": i, "right": False} for i in range(6)))
    for name in ("a.jsonl", "a.jsonl#right"):
        refused = run("compare", "--scores", "right", "b.jsonl#right", name, "--missing", "pairwise").refusal()
        assert "a.jsonl, line 1: expected the key 'right', which line 3 has, got id, topic" in refused


def test_a_rare_minus_1_among_answers_may_stand_for_a_failure(run: Any) -> None:
    def warned(n_failed: int, others: str) -> bool:
        put("x.tsv", "a\tb\n" + "0\t-1\n" * n_failed + f"1\t{others}\n0\t1\n1\t0\n" * 20)
        return "of b are -1, and all others are 0 or 1: if that" in run("compare", "--scores", "x", "x.tsv").err

    assert [warned(2, "1"), warned(9, "1"), warned(2, "2")] == [True, False, False]


SHARES = [n / 40 for n in range(40)]
ANSWERS = [n % 3 % 2 for n in range(40)]


@pytest.mark.parametrize(
    ("name", "scores", "others", "said"),
    [
        ("right", ANSWERS, [100 * n for n in reversed(ANSWERS)], "b reach 100: convert them to one scale"),
        ("right", SHARES, [100 * n for n in ANSWERS], "b reach 100"),
        ("f1", SHARES, [99 * n + 0.25 for n in SHARES], "b reach 96.775"),
        ("f1", [99 * n + 0.25 for n in SHARES], SHARES, "a reach 96.775"),
        ("f1", SHARES, [25 * n for n in SHARES], "b reach 24.375"),  # of a weak system
        ("acc", ANSWERS, [n + 0.01 for n in SHARES], ""),
        ("acc", ANSWERS, [4 * n + 0.01 for n in SHARES], "b are from 0.01 to 3.91: if these are log-likelihoods"),
        ("rating", SHARES, [n % 5 + 1 for n in range(40)], "b reach 5"),
        ("acc", SHARES, [-4 * n - 0.01 for n in SHARES], "b are from -3.91 to -0.01: if these"),
        # Other scores, of which one system has none above 1.
        ("points", ANSWERS, [2 * n for n in ANSWERS], ""),
        ("acc", ANSWERS, SHARES, ""),
        ("seconds", SHARES, [50 * n for n in SHARES], ""),
        ("speedup", [1.0] * 40, [12 * n for n in SHARES], ""),
        ("words", [0.01 * n for n in ANSWERS], [0.9 * n for n in ANSWERS], ""),
        ("reward", [n - 0.5 for n in SHARES], [-4 * n for n in SHARES], ""),
    ],
)
def test_scores_on_two_scales_are_told(
    run: Any, name: str, scores: list[float], others: list[float], said: str
) -> None:
    put("x.tsv", "a\tb\n" + "".join(f"{a}\t{b}\n" for a, b in zip(scores, others, strict=True)))
    lower = ("--lower-is-better", name) if name == "seconds" else ()
    told = run("compare", "--scores", name, "x.tsv", "-n", "99", *lower).err
    assert (said in told, "are from 0 to 1" in told) == (True, said != "")
    gated = run("gate", "--scores", name, "x.tsv", "--rule", "no-regression", "-n", "99", *lower)
    assert (gated.code == 2) == (said != "")


def test_rows_of_models_are_no_segments(run: Any) -> None:
    header = ",".join(f"q{n}" for n in range(30))
    put("x.csv", f"model,{header}\n" + "".join(f"{name}{',1' * 30}\n" for name in "ab"))
    said = "x.csv: each column is taken as a system: 30 systems with 2 segments; if each row is a system, transpose"
    assert said in run("compare", "--scores", "x", "x.csv", "-n", "99").err


@pytest.mark.parametrize("words", ["C I", "yes no", "Passed failed", "correct incorrect", "right wrong"])
@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_right_and_wrong_in_words_are_numbers_if_the_column_is_chosen(run: Any, words: str, ending: str) -> None:
    def write(name: str, *values: object) -> None:
        rows = [{"id": n, "match": value} for n, value in enumerate(values)]
        put(f"{name}.csv", "id,match\n" + "".join(f"{n},{value}\n" for n, value in enumerate(values)))
        put_lines(f"{name}.jsonl", rows)

    right, wrong = words.split()
    compared = ("compare", "--scores", "match", f"a.{ending}", f"b.{ending}", "-n", "99", "--format", "csv")
    write("a", right, wrong, right, right)
    write("b", 1, 0, 0, 1)
    found = run(*compared)
    shown = ", ".join(sorted([f"{right!r} as 1", f"{wrong!r} as 0"]))
    assert found.err == f"reshuffle: a.{ending}#match: words are read as numbers: {shown}\n"
    assert "b,a,match,0.5,0.75" in found.out
    write("a", right, wrong, "maybe", right)
    assert f"a.{ending}#match, line" in run(*compared).refusal()
    # Beside other numbers, in a table of models and epochs.
    cells = [(n, at, model) for n in range(9) for at in (1, 2) for model in "xy"]
    rows = [{"id": n, "epoch": at, "model": model, "passed": (right, wrong)[n * at % 3 // 2]} for n, at, model in cells]
    put_lines("c.jsonl", rows)
    put("c.csv", "id,epoch,model,passed\n" + "".join(",".join(map(str, row.values())) + "\n" for row in rows))
    for metric in ("passed", "pass@1"):
        found = run("compare", "--scores", metric, f"c.{ending}", "-n", "99", "--format", "csv")
        assert f"y,x,{metric},0.6666" in found.out
        assert f"reshuffle: c.{ending}#passed: words are read as numbers: {shown}\n" in found.err
    assert "mistyped" in run("compare", "--scores", "pased", f"c.{ending}").err


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
    assert "q.csv: 'question', 'passage' look like ids but are taken as systems: if they are ids, choose" in outcome.err
    assert "as in 'q.csv#a' 'q.csv#b'" in outcome.err
    assert "question_id" not in outcome.out
