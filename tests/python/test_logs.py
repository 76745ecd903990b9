"""Logs of harnesses and annotations, joined by ids: every format against plain loops, and messages for bad files."""

import gzip
import io
import json
import math
import zipfile
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inputs import put, put_lines
from known import known
from reshuffle import InputError, InputWarning, ScoreTable, SegmentScores, join_scores, read_scores
from reshuffle.data.corpus import system_names
from reshuffle.data.joined_scores import paths_of_models, paths_of_runs
from reshuffle.data.reading import is_log
from told import assert_raises

pytestmark = pytest.mark.usefixtures("here")

# Values as inspect_ai writes them, and the numbers that it takes them for.
GRADES = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0, "yes": 1.0, "No": 0.0, "TRUE": 1.0, "0.25": 0.25}


def log(samples: list[dict[str, Any]], model: str = "openai/a", **header: Any) -> dict[str, Any]:
    return {"version": 2, "status": "success", "eval": {"task": "mt", "model": model}, **header, "samples": samples}


def sample(name: int | str, epoch: int = 1, **values: Any) -> dict[str, Any]:
    scores = {scorer: {"value": value, "answer": 'a {[" ', "history": []} for scorer, value in values.items()}
    return {"id": name, "epoch": epoch, "input": "in", "scores": scores}


def zipped(of_log: dict[str, Any], zstd: bool = False, ended: bool = True) -> bytes:
    """A log as the ZIP file that inspect_ai writes, with Zstandard as its releases since 2025 do."""
    samples = of_log["samples"]
    header = {key: value for key, value in of_log.items() if key != "samples"}
    members = {"_journal/start.json": header}
    members |= {f"samples/{each.get('id')}_epoch_{each.get('epoch')}.json": each for each in samples}
    if ended:
        members |= {"summaries.json": samples, "header.json": header}
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, value in members.items():
            archive.writestr(name, json.dumps(value))
    return recompressed(members) if zstd else data.getvalue()


def recompressed(members: dict[str, Any]) -> bytes:
    """A ZIP file whose members are compressed with Zstandard in two frames: stored ones with another number."""
    zstandard = pytest.importorskip("zstandard")
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_STORED) as archive:
        for name, value in members.items():
            text = json.dumps(value).encode()
            half = len(text) // 2
            archive.writestr(name, b"".join(zstandard.ZstdCompressor().compress(p) for p in (text[:half], text[half:])))
        infos = archive.infolist()
        start = archive.start_dir if hasattr(archive, "start_dir") else 0
    assert infos
    content = bytearray(data.getvalue())
    for info in infos:
        content[info.header_offset + 8 : info.header_offset + 10] = (93).to_bytes(2, "little")
    at = start
    for _ in infos:
        at = content.index(b"PK\x01\x02", at)
        content[at + 10 : at + 12] = (93).to_bytes(2, "little")
        at += 4
    return bytes(content)


SAMPLES = [
    sample(2, 1, match="C", both={"f": 1, "g": None}),
    sample("x y", 1, match="P", both={"f": 0.5, "g": 3}),
    sample(2, 2, match="I", both={"f": 0, "g": 2}),
    {"id": "broken", "epoch": 1, "scores": {}},
]


@pytest.mark.parametrize("kind", ["json", "compact", "deflated", "zstd", "started"])
def test_inspect(kind: str) -> None:
    file = "a.json" if kind in ("json", "compact") else "a.eval"
    if file == "a.json":
        put(file, json.dumps(log(SAMPLES), indent=2 if kind == "json" else None))
    else:
        put(file, zipped(log(SAMPLES), kind == "zstd", kind != "started"))
    table = read_scores(file, metric="match")
    assert (table.systems, table.segment_ids, table.name) == (("openai/a",), ("2", "x y", "broken"), "match")
    np.testing.assert_array_equal(table.segments, [[0.5, 0.5, math.nan]])
    np.testing.assert_array_equal(read_scores(file, metric="both/g").segments, [[2, 3, math.nan]])
    with pytest.raises(InputError, match="expected the scores of one metric, got match, both/f, both/g"):
        read_scores(file)
    with pytest.raises(InputError, match=r"a\.\w+: expected one score of each sample, got 1 and 0 for '2'"):
        read_scores(file, metric="match", repeated="error")


def test_samples_that_lack_the_score_of_an_epoch_are_warned_of() -> None:
    put("a.json", json.dumps(log([*SAMPLES, {"id": "x y", "epoch": 2, "scores": None}])))
    with pytest.warns(InputWarning, match="a.json: 1 of 5 samples have no score, perhaps after an error: the mean of"):
        assert known(read_scores("a.json", metric="match").segments)[0, 1] == 0.5


@pytest.mark.parametrize("kind", ["deflated", "zstd", "started"])
def test_the_decompressed_size_of_all_members_is_limited(kind: str) -> None:
    Path("a.eval").write_bytes(zipped(log(SAMPLES), kind == "zstd", kind != "started"))
    header = {key: value for key, value in log(SAMPLES).items() if key != "samples"}
    size = sum(len(json.dumps(each)) for each in [header, *(SAMPLES if kind == "started" else [SAMPLES])])
    assert read_scores("a.eval", metric="match", max_input=size).systems == ("openai/a",)
    with pytest.raises(InputError, match=f"^a.eval is larger than {size - 1:,} bytes when decompressed: .*max_input"):
        read_scores("a.eval", metric="match", max_input=size - 1)


def test_the_limit_of_sizes_is_that_of_what_looks_at_a_file_first() -> None:
    put("2026-11-01T10-00-00_a_b.json", "")
    with pytest.raises(InputError, match=r"a_b\.json is empty: expected a log of inspect_ai$"):
        system_names(["2026-11-01T10-00-00_a_b.json"])
    rows = "".join(f"{i}\tm\t{i % 2}\n" for i in range(9))
    Path("a.tsv.gz").write_bytes(gzip.compress(f"id\tmodel\tscore\n{rows}".encode()))
    size = len(gzip.decompress(Path("a.tsv.gz").read_bytes()))
    looks: list[Callable[[int], object]] = [
        lambda limit: is_log("a.tsv.gz", limit),
        lambda limit: paths_of_runs("a.tsv.gz", limit),
        lambda limit: paths_of_models("a.tsv.gz", limit),
    ]
    for look in looks:
        look(size)
        with pytest.raises(InputError, match=r"a\.tsv\.gz is larger than .* when decompressed"):
            look(size - 1)
    assert not is_log("\0", size)


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from([*GRADES, True, 2, -0.5, None])), min_size=1))
def test_inspect_against_a_loop(given: list[tuple[str, Any]]) -> None:
    found: defaultdict[str, list[float]] = defaultdict(list)
    for name, value in given:
        number = GRADES[value] if isinstance(value, str) else value
        found[name] += [] if number is None else [float(number)]
    put("a.json", json.dumps(log([sample(name, i, s=value) for i, (name, value) in enumerate(given)])))
    if not any(found.values()):
        with pytest.raises(InputError, match="all are missing"):
            read_scores("a.json")
        return
    table = read_scores("a.json")
    assert table.segment_ids == tuple(found)
    expected = [[sum(each) / len(each) if each else math.nan for each in found.values()]]
    assert table.segments is not None
    np.testing.assert_allclose(table.segments, np.array(expected), rtol=1e-15)


def test_version_1() -> None:
    of_log = log([{"id": 1, "epoch": 1, "score": {"value": "C"}}]) | {"version": 1}
    put("a.json", json.dumps(of_log))
    table = read_scores("a.json")
    assert (table.name, table.segment_ids, table.means.tolist()) == ("score", ("1",), [1.0])


# What calls in python_errors_of_logs.txt are about.
ONE, OTHER = (ScoreTable(name, (s,), np.zeros((1, 1)), segment_ids=("1",)) for name, s in ("ma", "nb"))
OF_SYSTEMS, BY_POSITION = (
    ScoreTable("m", ("a",), system_scores=np.zeros(1)),
    {"by_position": True, "input_format": "numbers"},
)


def test_bad_logs() -> None:
    put("a.scores", "1\n2\n")
    put("b.scores", "3\n5\n")
    joined = join_scores({"a": "a.scores", "b": "b.scores"}, by_position=True, input_format="numbers")
    assert (joined.table.means.tolist(), joined.report) == ([1.5, 4], "2 segments are in all files")
    assert_raises("python_errors_of_logs", globals())
    Path("a.eval").write_bytes(zipped(log([])))
    with pytest.raises(InputError, match=r"^a.eval: "):
        read_scores("a.eval")


@pytest.mark.parametrize("keep", [10, 200, -30])
def test_incomplete_files(keep: int) -> None:
    Path("a.eval").write_bytes(zipped(log(SAMPLES))[:keep])
    put("a.json", json.dumps(log(SAMPLES), indent=2)[:keep])
    for file in ("a.eval", "a.json"):
        with pytest.raises(InputError, match=f"^{file}"):
            read_scores(file, input_format="inspect")


def test_damaged_zstandard() -> None:
    data = bytearray(zipped(log(SAMPLES), zstd=True))
    at = data.index(b"\x28\xb5\x2f\xfd", data.index(b"summaries.json"))
    data[at + 4 : at + 12] = b"\xff" * 8
    Path("a.eval").write_bytes(data)
    with pytest.raises(InputError, match=r"^a.eval: summaries\.json cannot be read: "):
        read_scores("a.eval", metric="match")


def harness_line(doc: int, digest: str = "", **values: Any) -> dict[str, Any]:
    metrics = [key for key in values if key != "filter"]
    return {
        "doc_id": doc, "doc": {}, "target": "x", "arguments": {}, "resps": [["r"]], "filtered_resps": ["r"],
        "filter": "none", "metrics": metrics, "doc_hash": digest or f"{doc:064x}", **values,
    }  # fmt: skip


def test_lm_eval() -> None:
    lines = [
        harness_line(i, filter=f, em=float(i + n), bleu=["ref", "out"]) for n, f in enumerate("st") for i in (0, 1)
    ]
    put_lines("org__a/samples_gsm8k_2026.jsonl", lines)
    table = read_scores("org__a/samples_gsm8k_2026.jsonl", metric="em,t")
    assert table.systems == ("org__a",)
    assert table.segment_ids == ("0 000000000000", "1 000000000000")
    assert table.segments is not None
    assert table.segments.tolist() == [[1, 2]]
    one = put_lines("b/s.jsonl", [{k: v for k, v in line.items() if k != "metrics"} for line in lines[:2]])
    table = read_scores("b/s.jsonl")
    assert (table.name, table.systems) == ("em", ("s",)), one


def annotated(user: str, item: Any, name: str | None, **scores: Any) -> dict[str, Any]:
    by_system = {system: {"score": score, "error_spans": []} for system, score in scores.items()}
    of_item = {"src": "in", "tgt": dict.fromkeys(scores, "out")} | ({} if name is None else {"item_id": name})
    return {"user_id": user, "item_i": item, "item": [of_item], "annotation": [by_system]}


def test_pearmut() -> None:
    lines = [
        annotated("u", 0, "d1", a=10, b=20),
        {"user_id": "u", "annotation": "__RESET__"},
        annotated("u", 0, "d1", a=50, b=60),
        annotated("u", 0, "d1", a=70, b=60),  # the annotator came back
        annotated("v", 0, "d1", a=90, b=0),
        annotated("v", "welcome_0", "w", a=1, b=1),
        annotated("v", 1, None, a=5, b=None),
        annotated("v", 2, "skipped") | {"annotation": [None]},
    ]
    table = read_scores(put_lines("p.jsonl", lines))
    assert (table.name, table.systems) == ("score", ("a", "b"))
    assert table.segment_ids == ("d1", '{"src": "in"}')
    np.testing.assert_array_equal(table.segments, [[80, 5], [30, math.nan]])
    line = annotated("u", 0, "d", a=None)
    line["annotation"][0]["a"]["sliders"] = {"fluency": 3}
    assert read_scores(put_lines("p.jsonl", [line])).means.tolist() == [3]


IDS = st.lists(st.text("abcdef", min_size=1, max_size=2), min_size=1, max_size=8, unique=True)


@given(st.lists(IDS, min_size=1, max_size=4))
def test_join_against_a_loop(files: list[list[str]]) -> None:
    value = {name: float(i) for i, name in enumerate(sorted({name for ids in files for name in ids}))}
    tables = {
        f"s{k}": ScoreTable("m", ("x",), np.array([[value[name] + k for name in ids]]), segment_ids=tuple(ids))
        for k, ids in enumerate(files)
    }
    common = [name for name in files[0] if all(name in ids for ids in files)]
    everything = {name for ids in files for name in ids}
    if not common:
        with pytest.raises(InputError, match="do not match: 0 segments are in all files"):
            join_scores(tables, unmatched="drop")
        return
    joined = join_scores(tables, unmatched="drop")
    assert joined.table.segment_ids == tuple(common)
    assert joined.table.segments is not None
    assert joined.table.segments.tolist() == [[value[name] + k for name in common] for k in range(len(files))]
    lacking = {f"s{k}": everything - set(ids) for k, ids in enumerate(files) if everything - set(ids)}
    assert {name: set(ids) for name, ids in joined.unmatched.items()} == lacking
    if lacking:
        with pytest.raises(InputError, match="unmatched='drop' leaves out"):
            join_scores(tables)


def test_compare_joins_logs(run: Any) -> None:
    """The command on logs in different orders equals that on a table in one order."""
    values = {"a": [(7 * i) % 5 / 4 for i in range(12)], "b": [(3 * i) % 5 / 4 for i in range(12)]}
    put("a.json", json.dumps(log([sample(i, f1=value) for i, value in enumerate(values["a"])])))
    put("b.eval", zipped(log([sample(i, f1=value) for i, value in enumerate(values["b"])][::-1])))
    put(
        "t.tsv",
        "segment\ta\tb\n" + "".join(f"{i}\t{a}\t{b}\n" for i, (a, b) in enumerate(zip(*values.values(), strict=True))),
    )
    of_logs, of_table = (
        json.loads(run("compare", "--scores", "f1", *files, "--format", "json").out)
        for files in (["a.json", "b.eval"], ["t.tsv"])
    )
    assert [of_logs[key] for key in ("scores", "comparisons")] == [of_table[key] for key in ("scores", "comparisons")]


def test_logs_that_inspect_named_are_called_like_their_models(run: Any) -> None:
    first, second = (f"2026-11-30T13-21-3{i}-00-00_task_Xy{i}" for i in "38")
    samples = [sample(i, match="CI"[i % 2]) for i in range(4)]
    put(f"{first}.eval", zipped(log(samples, "openai/gpt-x")))
    for model, systems in (("google/small", ["gpt-x", "small"]), ("openai/gpt-x", [first, second])):
        put(f"{second}.json", json.dumps(log(samples, model)))
        found = run("score", "--scores", "match", f"{first}.eval", f"{second}.json", "--format", "json")
        assert [each["system"] for each in json.loads(found.out)["scores"]] == systems
    put(f"{second}.json", json.dumps(log(samples, "azure/gpt-x")))
    found = run("score", "--scores", "match", f"{first}.eval", f"{second}.json", "--format", "json")
    assert [each["system"] for each in json.loads(found.out)["scores"]] == ["openai/gpt-x", "azure/gpt-x"]


def test_fields_of_logs_are_documents_and_their_epochs_are_runs(run: Any) -> None:
    right = np.random.default_rng(1).random((2, 3, 40)) < [[[0.4]], [[0.7]]]
    grades = np.where(right, "C", "I").tolist()

    def of(model: int, *epochs: int) -> list[dict[str, Any]]:
        about = [{"passage": i // 4} for i in range(40)]
        rows = [(epoch, i, each) for epoch in epochs for i, each in enumerate(grades[model][epoch])]
        return [sample(f"q{i}", epoch + 1, match=each) | {"metadata": about[i]} for epoch, i, each in rows]

    for model, name in enumerate("ab"):
        put(f"{name}.json", json.dumps(log(of(model, 0, 1, 2))))
        for epoch in range(3):
            put(f"{name}.{epoch}.json", json.dumps(log(of(model, epoch))))
    put("docs.tsv", "id\tpassage\n" + "".join(f"q{i}\t{i // 4}\n" for i in range(40)))
    put("a.eval", zipped(log(of(0, 0, 1, 2))))
    shown = " ".join(run("doctor", "a.json").out.split())
    assert " ".join(run("doctor", "a.eval").out.split()) == shown.replace("a.json", "a.eval")
    about = (
        "120 scores of match (0 or 1, mean 0.375); 40 segments, in several epochs; systems openai/a; for --docs passage"
    )
    assert f"{about} Caution the score of each sample of a.json is the mean over its epochs" in shown
    assert "reshuffle runs --scores match --baseline a.json --system OTHER" in shown

    compared = ("compare", "--scores", "match", "a.json", "b.json")
    found = run(*compared, "--docs", "passage")
    assert found.err == (
        "reshuffle: the score of each sample of a.json is the mean over its epochs; for conclusions about new epochs, "
        "use 'reshuffle runs'\n"
    )
    assert (
        found.out == run(*compared, "--docs", "docs.tsv#passage").out == run(*compared, "--docs", "b.json#passage").out
    )
    Path("logs").mkdir()
    for name in "ab":
        put(f"logs/{name}.json", Path(f"{name}.json").read_text())
    assert run("compare", "--scores", "match", "logs", "--docs", "passage").out == found.out
    told = run(*compared).err
    assert "a.json: segments with the same 'passage' (10 values) are taken as independent" in told
    assert told.endswith(": add --docs passage\n")
    assert "a.json: unknown field 'topic'; known: passage" in run(*compared, "--docs", "topic").refusal()

    runs = ("runs", "--scores", "match", "--docs", "docs.tsv#passage", "--format", "csv", "--baseline")
    apart = run(*runs, *(f"a.{i}.json" for i in range(3)), "--system", "b", *(f"b.{i}.json" for i in range(3))).out
    found = run(*runs, "a.json", "--system", "b.json")
    assert (found.out, "reshuffle: b.json: each epoch is taken as a run (3 in all)" in found.err) == (apart, True)
    put(
        "runs.json",
        json.dumps({"scores": {"match": {"baseline": ["a.json"], "b": ["b.json"]}}, "documents": "docs.tsv#passage"}),
    )
    assert run("runs", "--manifest", "runs.json", "--format", "csv").out == apart
    rows = [(m, i, e, int(right[m, e, i])) for e in range(3) for m in range(2) for i in range(40)]
    put("long.csv", "model,id,seed,match\n" + "".join(f"{'ab'[m]},q{i},{e},{x}\n" for m, i, e, x in rows))
    assert run(*runs, "long.csv#model=a", "--system", "long.csv#model=b").out == apart
    assert "long.csv#model: unknown value 'c'; known: a, b" in run(*runs, "long.csv#model=c").refusal()
    for name in ("epoch=2", "match,epoch=2", "Epoch=2"):
        assert f" {right[0, 1].mean():.4f}\n" in run("score", "--scores", "match", f"a.json#{name}").out
    assert "a.json: unknown epoch '7'; known: 1, 2, 3" in run("score", "--scores", "match", "a.json#epoch=7").refusal()
    for name in ("run=2", "match,model=x", "model=x,epoch=2"):
        refusal = run("score", "--scores", "match", f"a.json#{name}").refusal()
        assert f"a.json: expected an epoch of this log, such as epoch=1, got '{name.removeprefix('match,')}'" in refusal
    # An epoch that was chosen is one run.
    assert paths_of_runs("a.json#epoch=1", 10**6) == ["a.json#epoch=1"]

    put("docs.jsonl", "".join(json.dumps({"id": i, "doc": {"passage": "p"}}) + "\n" for i in range(4)))
    refusal = run("compare", "--scores", "match", "a.json", "b.json", "--docs", "docs.jsonl#doc").refusal()
    assert "expected the id of a document, got an object: jq -c '. + .doc' copies its keys to the line" in refusal


def test_compare_reports_what_does_not_match(run: Any) -> None:
    put("a.json", json.dumps(log([sample(i, f1=i % 3) for i in range(6)])))
    put("b.json", json.dumps(log([sample(i, f1=i % 2) for i in range(1, 10)])))
    words = ("compare", "--scores", "f1", "a.json", "b.json")
    said = "5 segments are in all files; f1 of a lacks 4: '6', '7', '8' …; f1 of b lacks 1: '0'; --unmatched"
    assert said in run(*words).refusal()
    found = run(*words, "--unmatched", "drop", "--format", "json")
    assert (found.code, "f1 of b lacks 1: '0'" in found.err) == (0, True)
    assert "|unmatched:drop[5]|" in json.loads(found.out)["signature"]
    assert "f1: 5 segments left out, because not all files have them." in run(*words, "--unmatched", "drop").out
    for command in (["watch"], ["flips", "--threshold", "1"]):
        out = run(*command, *words[1:], "--unmatched", "drop").out
        assert "5 segments left out, because not all files have them." in out
    joined = join_scores({"a": "a.json", "b": "b.json"}, metric="f1", unmatched="drop")
    assert SegmentScores.from_table(joined).signature().endswith("|unmatched:drop[5]")


def test_questions_that_have_other_ids_are_told(run: Any) -> None:
    for name, order in (("a", [0, 1, 2]), ("b", [2, 1, 0])):
        samples = [sample(i, match="CI"[each % 2]) | {"input": f"question {each}"} for i, each in enumerate(order)]
        put(f"{name}.json", json.dumps(log(samples)))
    words = ("compare", "--scores", "match", "a.json", "b.json", "-n", "99")
    assert (
        "the input of the sample '0' in b.json has another id in a.json, so rows may be matched wrongly"
        in run(*words).err
    )
    put("b.json", Path("a.json").read_text().replace("question", "Question"))
    assert "another id" not in run(*words).err
    # Old samples of lm-eval have no hashes.
    for name, order in (("a", [0, 1, 2]), ("b", [2, 1, 0])):
        lines = ({"doc_id": i, "doc": {"q": each}, "filtered_resps": [], "acc": 1.0} for i, each in enumerate(order))
        put_lines(f"{name}.jsonl", lines)
    words = ("compare", "--scores", "acc", "a.jsonl", "b.jsonl", "-n", "99")
    assert "the input of the sample '0' in b.jsonl has another id in a.jsonl" in run(*words).err


def test_samples_that_occur_twice_are_told(run: Any) -> None:
    lines = [json.dumps(harness_line(i, acc=i % 2)) + "\n" for i in range(4)]
    put("a.jsonl", "".join(lines))
    put("b.jsonl", "".join(lines + lines[:2]))
    message = (
        "b.jsonl: some samples occur several times, and the means of their scores are taken: has it the same log twice?"
    )
    assert message in run("score", "--scores", "acc", "a.jsonl", "b.jsonl").err


def test_scores_of_logs_are_not_called_otherwise(run: Any) -> None:
    put("a.json", json.dumps(log([sample(i, f1=i % 3) for i in range(6)])))
    put("b.json", json.dumps(log([sample(i, f1=i % 2) for i in range(6)])))
    refused = run("compare", "--scores", "em", "a.json", "b.json").refusal()
    assert (
        "unknown metric 'em'; known: f1; to report another as 'em', write FILE#f1 (for folders, in a manifest)"
        in refused
    )
    named = run("compare", "--scores", "em", "a.json#f1", "b.json#f1", "-n", "99")
    assert (named.code, named.out.startswith("em: 6 segments")) == (0, True)
    lines = [{"task_id": f"p{i}", "n": 5, "c": i} for i in range(6)]
    put_lines("c.jsonl", lines)
    assert (
        "c.jsonl: pass@6 needs 6 samples of each problem, and some have only 5"
        in run("score", "--scores", "pass@6", "c.jsonl").refusal()
    )


def test_logs_beside_other_files_need_numbers(run: Any) -> None:
    put("a.json", json.dumps(log([sample("x", f1=1)])))
    put("b.txt", "1\n")
    refusal = run("compare", "--scores", "f1", "a.json", "b.txt").refusal()
    assert "belong to the segments of b.txt only if their ids are" in refusal
    assert run("compare", "b.txt", "b.txt", "b.txt", "--unmatched", "drop").refusal()


def test_the_real_inspect_ai() -> None:
    """Logs that inspect_ai writes, and its means of them."""
    pytest.importorskip("inspect_ai")
    from inspect_files import evaluate

    for file, model, means in evaluate(Path("logs")):
        for name, mean in means.items():
            table = read_scores(file, metric=name)
            assert table.systems == (model,)
            assert table.means[0] == pytest.approx(mean, rel=1e-12)


def test_json_lines_of_ones_own_are_read_and_joined_by_id() -> None:
    for folder, rights in (("base", (True, False, True)), ("new", (False, False, True))):
        Path(folder).mkdir(exist_ok=True)
        rows = [{"id": f"q{i}", "doc": {"text": "x"}, "correct": right, "ms": 5} for i, right in enumerate(rights)]
        put(f"{folder}/qa.jsonl", "\n".join(map(json.dumps, rows if folder == "base" else rows[::-1])))
    files = ["base/qa.jsonl", "new/qa.jsonl"]
    joined = join_scores(files, metric="correct").table
    assert (joined.systems, joined.segment_ids) == (("base/qa.jsonl", "new/qa.jsonl"), ("q0", "q1", "q2"))
    assert joined.segments is not None
    assert joined.segments.tolist() == [[1, 0, 1], [0, 0, 1]]
    by_name = join_scores({"base": f"{files[0]}#correct", "new": f"{files[1]}#correct"})
    assert by_name.table.systems == ("base", "new")
    assert read_scores("base/qa.jsonl#ms").means.tolist() == [5]
    assert join_scores("base/qa.jsonl", metric="correct").table.systems == ("qa",)  # not a file for each letter
    with pytest.raises(InputError, match=r"expected the scores of one metric, got correct, ms: choose one as in"):
        read_scores("base/qa.jsonl")
    with pytest.raises(InputError, match=r"'base/qa.jsonl#ms' and metric='correct' name two metrics: leave out one"):
        read_scores("base/qa.jsonl#ms", metric="correct")
