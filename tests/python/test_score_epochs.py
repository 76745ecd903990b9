"""Files of ``--scores`` with several rows of a question: models, epochs, samples, and benchmarks with the same ids."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from inputs import put, put_lines
from reshuffle.data.joined_scores import paths_of_runs
from scored import compare_right, compared

pytestmark = pytest.mark.usefixtures("here")


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
    twice = "segment q1 of system 'a' occurs twice: if there are several raters, write a file for each"
    refused = compare_right(run, "models.csv").refusal()
    assert twice in refused
    assert refused.endswith("if there are several runs, number them in a column 'run'\n")
    for ids, runs in (("id", "run"), ("problem", "sample_idx"), ("id", "attempt")):
        lines = [f"q{n},{model},{at},{(n + at) % 3 % 2}\n" for n in range(9) for model in "ab" for at in range(3)]
        put("runs.csv", f"{ids},model,{runs},right\n{''.join(lines)}")
        found = compare_right(run, "runs.csv")
        assert "9 segments, 2 systems" in found.out
        assert "is the mean over its runs; for conclusions about new runs, use 'reshuffle runs'" in found.err
        words = "--baseline runs.csv#model=a --system runs.csv#model=b"
        assert f"reshuffle runs --scores right {words}" in run("doctor", "runs.csv").out
        for given in (("--baseline", "a"), ()):
            refused = run("runs", "--scores", "right", "runs.csv", *given).refusal()
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


@pytest.mark.parametrize(
    ("part", "prefix"), [("benchmark", ""), ("domain", ""), ("topic", "item-"), ("eval", "q_"), ("dataset_name", "")]
)
def test_numbers_that_begin_anew_in_each_benchmark_are_ids_with_its_name(run: Any, part: str, prefix: str) -> None:
    rows = [(f"{own},{prefix}{n}", {"a": n % 3 % 2, "b": n % 2}) for own in ("arc", "gsm8k") for n in range(30)]
    for name in "ab":
        put(f"{name}.csv", f"{part},id,right\n" + "".join(f"{own},{right[name]}\n" for own, right in rows))
        rows.reverse()
    options = ("--test", "sign-test", "--interval", "t")
    found = compare_right(run, "a.csv", "b.csv", *options)
    assert "60 segments, 2 systems" in found.out
    assert not found.err
    lines = [f"{own},{name},{right[name]}\n" for name in "ab" for own, right in rows]
    put("all.csv", f"{part},id,model,right\n{''.join(lines)}")
    assert compare_right(run, "all.csv", *options).out == found.out


def test_numbers_in_parts_beside_the_same_without_their_names(run: Any) -> None:
    rows = [(part, n, (n * step) % 3 % 2) for step, part in ((1, "law"), (2, "bio")) for n in range(12)]
    put("a.csv", "subject,id,right\n" + "".join("{},{},{}\n".format(*row) for row in rows))
    put("b.csv", "area,id,right\n" + "".join("{},{},{}\n".format(*row) for row in rows))
    found = compare_right(run, "a.csv", "b.csv")
    assert ("+0.0000" in found.out, "by position" in found.err) == (True, False)
    put("b.csv", "area,id,right\n" + "".join("{},{},{}\n".format(*row) for row in rows[::-1]))
    assert "so it is not clear which rows belong together" in compare_right(run, "a.csv", "b.csv").refusal()


def test_questions_of_subjects_of_benchmarks_are_named_by_both(run: Any) -> None:
    rows = [(f"{b},{s},{n}", {"a": n % 3 % 2, "b": n % 2}) for b in "xy" for s in "st" for n in range(9)]
    for name, ids in (("a", "id"), ("b", "task_id")):
        header = f"benchmark,subject,{ids},right\n"
        put(f"{name}.csv", header + "".join(f"{own},{right[name]}\n" for own, right in rows))
        rows.reverse()
    found = compare_right(run, "a.csv", "b.csv")
    assert ("36 segments, 2 systems" in found.out, found.err) == (True, "")
    one = compare_right(run, "a.csv#benchmark=x", "b.csv#benchmark=x")
    assert ("18 segments, 2 systems" in one.out, one.err) == (True, "")
    mixed = compare_right(run, "a.csv#benchmark=x", "b.csv#benchmark=y")
    assert "rows of benchmark=x and benchmark=y are matched, but are different questions" in mixed.err


@pytest.mark.parametrize("columns", ["domain,id,sample,passed", "domain,task_id,passed", "domain,task_id,n,c", "jsonl"])
def test_problems_of_several_benchmarks_have_numbers_of_their_own(run: Any, columns: str) -> None:
    for name, step in (("a", 2), ("b", 3)):
        n_samples = 1 if columns.endswith("c") else 4
        cells = [(part, n, at) for part in ("he", "mbpp") for n in range(8) for at in range(n_samples)]
        right = [(n * step + at) % 3 % 2 for _, n, at in cells]
        if columns == "jsonl":
            rows = zip(cells, right, strict=True)
            put_lines(f"{name}.jsonl", ({"dataset": p, "task_id": n, "passed": x > 0} for (p, n, _), x in rows))
        else:
            more = {"sample": "{2},", "n": "4,"}.get(columns.split(",")[2], "")
            lines = [("{0},{1}," + more).format(*cell) + str(x) for cell, x in zip(cells, right, strict=True)]
            put(f"{name}.csv", "\n".join([columns, *lines, ""]))
            put(f"{name}-.csv", "\n".join(line.partition(",")[2] for line in [columns, *lines, ""]))
    kind = "jsonl" if columns == "jsonl" else "csv"
    found = run("compare", "--scores", "pass@1", f"a.{kind}", f"b.{kind}", "-n", "99")
    assert ("16 segments, 2 systems" in found.out, found.err) == (True, "")
    if "sample" in columns or columns.endswith("c"):
        twice = "segment 0 occurs twice: if several benchmarks number their problems anew, name them in a column 'bench"
        assert twice in run("compare", "--scores", "pass@1", "a-.csv", "b-.csv").refusal()


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


def test_rows_that_are_lacking_hide_no_repeated_ids(run: Any) -> None:
    def told(ids: Sequence[object]) -> str:
        for name in "ab":
            put(f"{name}.csv", "id,right\n" + "".join(f"{key},{i % 3 % 2}\n" for i, key in enumerate(ids)))
        return str(compare_right(run, "a.csv", "b.csv").err)

    answers = [f"q{i // 4}" for i in range(40)]
    but = "but rows with the same id are taken as independent"
    assert f"right: each of 10 ids occurs several times, {but}" in told(answers[1:])
    assert f"right: 9 of 10 ids occur 4 times, {but}" in told(answers[3:])
    assert f"right: 9 of 10 ids occur 2 times, {but}" in told([i // 2 for i in range(1, 20)])
    # Numbers that begin anew in documents, and a question that is in the data twice.
    assert "ids occur" not in told([i for n in (9, 5, 3, 12) for i in range(n)]) + told(["q", *answers[::4], "q"])


def test_scores_that_are_means_over_fewer_epochs_are_told(run: Any) -> None:
    header = "id,model,epoch,right\n"
    a = [f"q{n},a,{at},{(n + at) % 3 % 2}\n" for n in range(9) for at in range(3)]
    b = "".join(f"q{n},b,0,{n % 2}\n" for n in range(9))
    put("all.csv", header + "".join(a) + b)
    assert "fewer" not in compare_right(run, "all.csv").err  # one system may have more than another
    put("all.csv", header + "".join(a[1:]) + b)
    put("a.csv", header + "".join(a[4:]))
    fewer = "are means over fewer runs than the others"
    assert f"all.csv: 1 of 18 scores {fewer}" in compare_right(run, "all.csv").err
    assert f"a.csv: 1 of 8 scores {fewer}" in run("score", "--scores", "right", "a.csv").err


def test_epochs_without_ids_are_told_and_are_no_systems(run: Any) -> None:
    rows = [(at, n % 3 % 2, n % 2) for at in (1, 2) for n in range(9)]
    put("wide.csv", "epoch,a,b\n" + "".join("{},{},{}\n".format(*row) for row in rows))
    put("a.csv", "epoch,right\n" + "".join("{},{}\n".format(*row) for row in rows))
    said = "'epoch' numbers runs of the same segments, but the segments have no ids, so rows are taken as independent"
    found = compare_right(run, "wide.csv")
    assert ("18 segments, 2 systems" in found.out, f"wide.csv: {said}" in found.err) == (True, True)
    assert f"a.csv: {said}" in compare_right(run, "a.csv", "wide.csv#b").err
    assert compare_right(run, "wide.csv#epoch=2").err == ""


@pytest.mark.parametrize("ids", ["id", "segment", "question", "index"])
@pytest.mark.parametrize("runs", ["epoch", "attempt"])
def test_epochs_of_ids_of_any_name_are_averaged_or_chosen(run: Any, ids: str, runs: str) -> None:
    rows = [(n, at, (n + at) % 3 % 2, n * at % 2) for n in range(24) for at in (1, 2)]
    rows = [*rows[::2], *rows[1::2]]
    put("wide.csv", f"{ids},{runs},a,b\n" + "".join("{},{},{},{}\n".format(*row) for row in rows))
    for name, at in (("a", 2), ("b", 3)):
        put(f"{name}.csv", f"{ids},{runs},right\n" + "".join(f"{row[0]},{row[1]},{row[at]}\n" for row in rows))
        put(f"{name}.txt", "".join(f"{row[at]}\n" for row in rows if row[1] == 2))
        of_one = ([row[at] for row in rows if row[0] == n] for n in range(24))
        put(f"{name}.scores", "".join(f"{sum(own) / 2}\n" for own in of_one))
    means = compare_right(run, "a.scores", "b.scores").out
    for files in (["wide.csv"], ["a.csv", "b.csv"], ["wide.csv#a", "wide.csv#b"]):
        assert compare_right(run, *files).out.replace("wide#", "") == means.replace("wide#", "")
    assert compare_right(run, f"wide.csv#{runs}=2").out == compare_right(run, "a.txt", "b.txt").out


def test_items_of_benchmarks_of_models_have_trials(run: Any) -> None:
    rows = [(m, part, n, at) for m in "ab" for part in ("gpqa", "math") for n in range(9) for at in range(3)]
    lines = [f"{m},{part},{n},{at},{(n * (m == 'a') + at) % 3 % 2}\n" for m, part, n, at in rows]
    put("all.csv", "model,benchmark,item,trial,right\n" + "".join(lines[::2] + lines[1::2]))
    assert "18 segments, 2 systems" in compare_right(run, "all.csv").out


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
