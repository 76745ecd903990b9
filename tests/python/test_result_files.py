"""Results of code generation, agents, HELM and retrieval: every format against plain loops, and wrong files."""

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inputs import put
from known import known
from reshuffle import InputError, join_scores, pass_at_k, read_scores
from reshuffle.data.formats import Source
from reshuffle.data.retrieval import scores_of_run
from told import assert_raises, assert_refused

pytestmark = pytest.mark.usefixtures("here")


def means(run: Any, *arguments: str) -> dict[str, float]:
    """The score of each system."""
    found = json.loads(run("score", *arguments, "--format", "json").out)
    return {each["system"]: each["score"] for each in found["scores"]}


# --- pass@k


@given(st.integers(1, 60).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n))))
def test_pass_at_k_is_a_ratio_of_binomials(drawn: tuple[int, int, int]) -> None:
    n, c, k = drawn
    expected = 1 - Fraction(math.comb(n - c, k), math.comb(n, k))
    assert pass_at_k(n, c, k) == pytest.approx(float(expected), abs=1e-14)


def test_pass_at_k_equals_human_eval(golden: Path, tmp_path: Path, run: Any) -> None:
    known = json.loads((golden / "counts/passk/passk.json").read_text(encoding="utf-8"))
    many = [(1_000_000, 1, 500_000, 0.5), (1_000_000, 999_999, 2, 1)]  # which need no large numbers
    for n, c, k, expected in (*known["rows"], *many):
        assert pass_at_k(n, c, k) == pytest.approx(expected, abs=1e-12)
    for name, own in known["systems"].items():
        lines = [{"task_id": f"HumanEval/{i}", "n": own["n"], "c": c} for i, c in enumerate(own["c"])]
        put(f"{name}.jsonl", "\n".join(map(json.dumps, lines)))
        for measure, expected in own["mean"].items():
            assert means(run, "--scores", measure, f"{name}.jsonl") == {name: pytest.approx(expected, abs=1e-9)}


def test_results_of_human_eval_and_evalplus_have_their_scores(golden: Path, run: Any) -> None:
    folder = golden / "counts/passk"
    expected = json.loads((folder / "files_expected.json").read_text(encoding="utf-8"))
    for file in ("samples.jsonl_results.jsonl", "evalplus_eval_results.json"):
        for measure in ("pass@1", "pass@2", "plus pass@1", "plus pass@2")[: 4 if file.startswith("eval") else 2]:
            (found,) = means(run, "--scores", measure, str(folder / file)).values()
            assert found == pytest.approx(expected[measure], abs=1e-9)
        (found,) = means(run, "--scores", "passed", str(folder / file)).values()
        assert found == pytest.approx(expected["pass@1"], abs=1e-9)
    # The names of the measures end with the number of samples of the problem that has the fewest.
    table = read_scores(folder / "samples.jsonl_results.jsonl")
    assert table.name == "pass@1"
    samples = [json.loads(line) for line in (folder / "samples.jsonl_results.jsonl").read_text().splitlines()]
    for problem, found in zip(table.segment_ids or (), known(table.segments)[0], strict=True):
        own = [each["passed"] for each in samples if each["task_id"] == problem]
        assert found == pytest.approx(sum(own) / len(own))


def evalplus(*statuses: tuple[str, str | None]) -> str:
    """A file with one problem for each sample, which EvalPlus writes on one line."""
    own = {f"H/{i}": [{"base_status": base, "plus_status": plus}] for i, (base, plus) in enumerate(statuses)}
    return json.dumps({"date": "", "hash": "", "eval": own})


def test_evalplus_may_lack_its_own_tests() -> None:
    put("a.json", evalplus(("pass", None), ("fail", None)))
    assert read_scores("a.json").name == "pass@1"


def test_problems_are_joined_by_their_ids(run: Any) -> None:
    for name, order in (("a", (0, 1, 2, 3)), ("b", (3, 1, 0, 2))):
        samples = [{"task_id": f"p{i}", "completion": "", "passed": (i + j) % 3 == 0} for i in order for j in range(4)]
        put(f"{name}_results.jsonl", "\n".join(map(json.dumps, samples)))
    joined = join_scores(["a_results.jsonl", "b_results.jsonl"], metric="pass@2").table
    assert known(joined.segments)[0].tolist() == known(joined.segments)[1].tolist()
    shown = run("compare", "--scores", "pass@2", "a_results.jsonl", "b_results.jsonl").out
    # From the rows of samples, or numbers, and the epochs of logs.
    put("n.csv", "task_id,n,c\np1,3,1\np2,4,0\n")
    put("rows.csv", "problem,sample,passed\n" + "".join(f"p1,{i},{i == 1}\np2,{i},False\n" for i in range(3)))
    put("two.csv", "model,task_id,passed\n" + "".join(f"a,p,{i}\nb,p,{i % 2}\n" for i in (0, 1, 1, 0)))
    epochs = [
        {"id": p, "epoch": i, "scores": {"match": {"value": "CI"[p > 1 or i > 1]}}} for p in (1, 2) for i in (1, 2, 3)
    ]
    put("log.json", json.dumps({"version": 2, "eval": {"model": "m"}, "samples": epochs}))
    for file in ("n.csv", "rows.csv", "log.json#match"):
        found = json.loads(run("score", "--scores", "pass@2", file, "--format", "json").out)
        assert found["scores"][0]["score"] == pytest.approx((pass_at_k(3, 1, 2) + 0) / 2), file
    found = json.loads(run("score", "--scores", "pass@2", "two.csv", "--format", "json").out)
    assert [each["score"] for each in found["scores"]] == [pytest.approx(pass_at_k(4, 2, 2))] * 2
    # A column that was named is read, whatever the case of its name.
    put("two.csv", "id,passed,Strict\n" + "".join(f"p,{i},{j}\n" for i, j in ((0, 0), (1, 0), (1, 1), (0, 0))))
    found = json.loads(run("score", "--scores", "pass@2", "two.csv#Strict", "--format", "json").out)
    assert found["scores"][0]["score"] == pytest.approx(pass_at_k(4, 1, 2))
    assert "strict" in run("score", "--scores", "pass@2", "two.csv#strict").refusal()
    put("half.csv", "problem,passed\np,0.5\np,1\n")
    assert "half.csv, line 2: pass@k: expected 0 or 1" in run("score", "--scores", "pass@2", "half.csv").refusal()
    assert "pass@4 needs 4 samples" in run("score", "--scores", "pass@4", "n.csv").refusal()
    assert "pass@2: 4 segments, 2 systems" in shown


# --- Agents and HELM


def swe_bench(**lists: list[str]) -> str:
    """A report as swebench 5.0 writes it."""
    known = ("completed", "incomplete", "empty_patch", "submitted", "resolved", "unresolved", "error")
    report: dict[str, Any] = {"total_instances": 4, "submitted_instances": 3, "schema_version": 2}
    return json.dumps(report | {f"{name}_ids": lists.get(name, []) for name in known}, indent=4)


def test_every_instance_of_swe_bench_that_is_not_resolved_counts_0() -> None:
    put("a.json", swe_bench(completed=["x", "y"], resolved=["y"], unresolved=["x"], incomplete=["z"], error=["e"]))
    table = read_scores("a.json")
    assert dict(zip(table.segment_ids or (), known(table.segments)[0], strict=True)) == {"e": 0, "x": 0, "y": 1, "z": 0}
    assert (table.name, table.systems) == ("resolved", ("a",))


def test_statistics_of_helm_are_read_by_name() -> None:
    def of(name: str, trial: int, more: dict[str, Any], **stats: list[float]) -> dict[str, Any]:
        values = [{"name": {"name": key, "split": "test"}, "count": len(x), "sum": sum(x)} for key, x in stats.items()]
        return {"instance_id": name, "train_trial_index": trial, **more, "stats": values}

    instances = [
        of("id1", 0, {}, exact_match=[1], logprob=[-2.5]),
        of("id1", 1, {}, exact_match=[0]),
        of("id2", 0, {}, exact_match=[1], empty=[]),
        of("id2", 0, {"perturbation": {"name": "typos"}}, exact_match=[0]),
    ]
    Path("run").mkdir()
    put("run/per_instance_stats.json", json.dumps(instances, indent=2))
    table = read_scores("run/per_instance_stats.json", metric="exact_match")
    assert table.systems == ("run",)
    assert table.segment_ids == ("id1", "id2", 'id2 {"name": "typos"}')
    assert known(table.segments)[0].tolist() == [0.5, 1, 0]
    with pytest.raises(InputError, match="expected the scores of one metric, got exact_match, logprob"):
        read_scores("run/per_instance_stats.json")
    for indent in (2, None):  # under another name, it is recognized by its beginning
        put("old.json", json.dumps(instances, indent=indent))
        renamed = read_scores("old.json", metric="exact_match")
        assert (renamed.systems, renamed.segment_ids) == (("old",), table.segment_ids)
        put("new.json", json.dumps([{"instance_id": "i1", "acc": 1}, {"instance_id": "i2", "acc": 0}], indent=indent))
        assert known(read_scores("new.json").segments)[0].tolist() == [1, 0]  # a table with such ids


# --- Retrieval


def test_what_trec_eval_prints_is_read(golden: Path, run: Any) -> None:
    file = golden / "counts/ir/online-A.0.trec_eval-q.txt"
    rows = [line.split() for line in file.read_text(encoding="utf-8").splitlines()]
    for measure in dict.fromkeys(row[0] for row in rows):
        own = {query: float(value) for name, query, value in rows if name == measure}
        summary = own.pop("all")
        (found,) = means(run, "--scores", measure, str(file)).values()
        assert found == pytest.approx(sum(own.values()) / len(own), abs=1e-9)
        assert found == pytest.approx(summary, abs=1e-4)
        table = read_scores(file, metric=measure)
        assert dict(zip(table.segment_ids or (), known(table.segments)[0], strict=True)) == own


def test_runs_score_as_by_ir_measures(golden: Path, run: Any) -> None:
    pytest.importorskip("ir_measures")
    folder = golden / "counts/ir"
    runs = json.loads((folder / "ir.json").read_text(encoding="utf-8"))["runs"]
    qrels = Source.read(str(folder / "qrels"), "judgments")
    for name, own in runs.items():
        for measure, queries in own["per_query"].items():
            table = scores_of_run(Source.read(str(folder / f"{name}.run"), "a run"), qrels, measure)
            found = dict(zip(table.segment_ids or (), known(table.segments)[0], strict=True))
            assert found == pytest.approx(queries, abs=1e-12)
    files = [str(folder / f"{name}.run") for name in runs]
    found = means(run, "--scores", "nDCG@10", *files, "--scores", "AP", *files, "--qrels", str(folder / "qrels"))
    assert len(found) == 2
    shown = json.loads(run("score", "--scores", "RR", *files, "--qrels", str(folder / "qrels"), "--format", "json").out)
    for each, own in zip(sorted(shown["scores"], key=lambda s: s["system"]), runs.values(), strict=True):
        assert each["score"] == pytest.approx(own["aggregate"]["RR"], abs=1e-9)
    # Queries without results count 0, and those without judgments nothing.
    put("qrels", "q1 0 d1 1\nq2 0 d1 1\n")
    put("a.run", "q1 Q0 d1 1 3 a\nq3 Q0 d1 1 3 a\n")
    table = scores_of_run(Source.read("a.run", ""), Source.read("qrels", ""), "RR")
    assert (table.segment_ids, known(table.segments).tolist()) == (("q1", "q2"), [[1.0, 0.0]])


def test_wrong_files_are_explained() -> None:
    assert_raises("python_errors_of_result_files", globals())


def test_wrong_runs_and_arrays_of_numpy_are_explained(run: Any) -> None:
    pytest.importorskip("ir_measures")
    for name in ("a.npy", "b.npy"):
        np.save(name, np.ones(3))
    assert_refused("errors_of_result_files", run)
    for measure in ("nDCG@ten", "open('x')"):  # the rest of the message is that of ir_measures
        refused = run("score", "--scores", measure, "a.run", "--qrels", "qrels").refusal()
        assert f"--scores {measure}: ir_measures knows no such measure (" in refused
    refused = run("score", "--scores", "RR", "a.run#run=2", "--qrels", "qrels").refusal()
    assert "a.run: expected no choice of rows of a run with relevance judgments, got 'run=2'" in refused


@pytest.mark.parametrize(
    "contents", ["{}", "[1]", '[{"instance_id": "a"}]', "[", '[{"instance_id": "a", "stats": []}]']
)
def test_wrong_statistics_of_helm_are_explained(contents: str) -> None:
    put("per_instance_stats.json", contents)
    with pytest.raises(InputError, match=r"per_instance_stats\.json: (expected a list of instances|no instance has)"):
        read_scores("per_instance_stats.json", metric="x")
