"""The command of gates: exit codes, files and folders, configurations, bad input, and logs of harnesses."""

import json
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from gates import by_system, command, labelled, noisy, of_demo
from reshuffle import InputError, SegmentScores, compare, gate
from reshuffle.cli.main import run
from reshuffle.errors import MisreadWarning
from test_logs import zipped
from told import assert_raises, assert_refused


def test_command_of_labels(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    files = []
    for metric in labelled(-0.6):
        path = tmp_path / f"{metric.name}.tsv"
        rows = np.array([*by_system(metric).values()]).T.tolist()
        path.write_text("base\tnew\n" + "".join(f"{a}\t{b}\n" for a, b in rows))
        files += ["--scores", metric.name, str(path)]
    assert run(["gate", *files, "--human", "people", "--margin", "people=0.2"]) == 1
    assert capfd.readouterr().out.startswith("REJECT: people is worse (-0.6")


def test_a_margin_without_a_name_is_that_of_the_only_metric_that_needs_one(
    demo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    named = gate(metrics=noisy(50, -1), margin={"points": 0.5}, n_resamples=99)
    for margin in (0.5, "0.5", np.float64(0.5)):
        assert gate(metrics=noisy(50, -1), margin=margin, n_resamples=99) == named
    both = of_demo("baseline", "tuned", "bleu", "chrf", rule="superior", primary="bleu", margin="2%")
    assert [task.given_margin for task in both.tasks] == [None, "2%"]
    people = gate(metrics=labelled(0.3), human="people", margin=0.2)
    assert people == gate(metrics=labelled(0.3), human="people", margin={"people": 0.2})
    line = f"{PAIR} --format json"
    assert command(f"{line} --margin 9") == 0
    assert json.loads(capsys.readouterr().out)["tasks"][0]["margin"] == 9
    # A number after the first margin may be a file.
    (demo / "baseline.txt").rename(demo / "7")
    assert command("--ref reference.txt --margin bleu=9 7 tuned.txt") == 0


# Two systems of the demo.
PAIR = "baseline.txt tuned.txt --ref reference.txt"


@pytest.mark.parametrize(
    ("line", "verdict", "code"),
    [
        (f"{PAIR} -m bleu chrf --margin bleu=2 chrf=2%", "ALLOW", 0),
        ("baseline.txt rules.txt --ref reference.txt --margin bleu=0.8", "REJECT", 1),
        ("tuned.txt baseline.txt --ref reference.txt --margin bleu=0.01sd", "INCONCLUSIVE", 5),
        ("--set news reference.txt baseline.txt tuned.txt --margin bleu=2", "ALLOW", 0),
    ],
)
def test_the_exit_code_is_the_verdict(
    demo: Path, capsys: pytest.CaptureFixture[str], line: str, verdict: str, code: int
) -> None:
    assert command(line) == code
    assert capsys.readouterr().out.startswith(f"{verdict}: ")


def test_github_is_told_of_bad_input_too(demo: Path, run: Any) -> None:
    done = run("gate", "baseline.txt", "tuned.txt", "--ref", "reference.txt", "--format", "github")
    assert done.code == 2
    assert (
        done.out == f"::error title=reshuffle gate::{done.err.removeprefix('reshuffle: error: ').replace('%', '%25')}"
    )


def test_bad_input_is_refused_in_a_sentence(demo: Path, run: Any) -> None:
    (demo / "short.txt").write_text("a\n")
    (demo / "right.scores").write_text("1\n0\n")
    (demo / "a.scores").write_text("1\n2\n3\n")
    (demo / "b.scores").write_text("1\n2\n")
    (demo / "nan.scores").write_text("1\nNaN\n3\n")
    (demo / "shares.scores").write_text("1\n0\n" * 20)
    (demo / "percent.scores").write_text("100\n0\n0\n0\n" * 10)
    (demo / "twice.tsv").write_text("id\tright\n" + "".join(f"q{n // 2}\t{n % 2}\n" for n in range(40)))
    numbered = "".join(f"{n}\t{n % 2}\n" for n in range(40))
    (demo / "numbered.tsv").write_text("number\tright\n" + numbered)
    (demo / "flat.toml").write_text('[qa]\nscores.rating = ["a.scores", "b.scores"]\n')
    for name in ("base", "new"):
        (demo / name).mkdir()
        (demo / name / "talks.txt").write_text("1\n")
    answers = '{"correct": true}\n{"correct": false}\n' * 20
    for name, tasks in {"one": "qa math", "two": "qa math", "short": "qa", "long": "qa math more"}.items():
        (demo / name).mkdir()
        for task in tasks.split():
            (demo / name / f"{task}.jsonl").write_text(answers)
    assert_refused("errors_of_gate", run)


def test_what_is_refused_as_a_mistake_can_be_said_to_be_meant(demo: Path) -> None:
    (demo / "numbered.tsv").write_text("number\tright\n" + "".join(f"{n}\t{n % 2}\n" for n in range(40)))
    assert command("--scores x numbered.tsv#right numbered.tsv#number --margin 0.5") == 0
    for name, scores in (("few", "0.01\n0\n"), ("many", "0.9\n0\n")):
        (demo / name).write_text(scores * 20)
    assert command("--scores words few many --margin 0.005") == 0


def test_in_python_such_mistakes_are_warnings() -> None:
    with pytest.warns(MisreadWarning, match="latency: higher scores count as better"):
        metric = SegmentScores("latency", {"a": [1.0, 2.0] * 20, "b": [2.0, 3.0] * 20})
    assert gate(metrics=metric, margin=0.5, n_resamples=99).verdict == "allow"
    ids = [f"q{n // 2}" for n in range(40)]
    metric = SegmentScores("right", {"a": [1.0, 0.0] * 20, "b": [1.0] * 40}, segment_ids=ids)
    for function in (partial(gate, margin=0.2), compare):
        with pytest.warns(MisreadWarning, match="right: each of 20 ids occurs 2 times"):
            function(metrics=metric, n_resamples=99)
    assert gate(metrics=metric, documents=ids, margin=0.2, n_resamples=99).verdict == "allow"


def test_files_of_the_same_names_in_two_folders_are_of_two_systems_on_each_test_set(demo: Path, run: Any) -> None:
    words = []
    for name in ("base", "new"):
        (demo / name).mkdir()
    for name in ("news", "talks"):
        for at, system in (("base", "baseline"), ("new", "tuned")):
            (demo / at / f"{name}.txt").write_bytes((demo / f"{system}.txt").read_bytes())
        words += ["--set", name, "reference.txt", f"base/{name}.txt", f"new/{name}.txt"]
    found = json.loads(run("gate", *words, "--margin", "bleu=2", "-n", "999", "--format", "json").out)
    assert (found["baseline"], found["system"], len(found["tasks"])) == ("base", "new", 2)


def logs_in_folders(demo: Path, base: list[str], new: list[str]) -> str:
    """A log of right and wrong answers for each name, in two folders; the words that name them."""
    for system, names in (("base", base), ("new", new)):
        (demo / system).mkdir()
        for n, name in enumerate(names):
            rows = [json.dumps({"correct": row % 2 == 0, "doc": row // 2}) for row in range(40 + 2 * n)]
            (demo / system / name).write_text("\n".join(rows))
    return "--scores correct base new --margin correct=0.5"


def test_folders_of_scores_have_a_task_for_each_file_as_in_a_manifest(demo: Path, run: Any) -> None:
    logs = ["qa.jsonl", "math.jsonl"]
    line = logs_in_folders(demo, logs, logs)
    (demo / "tasks.toml").write_text(
        "".join(
            f'sets.{name}.scores.correct = {{ base = "base/{name}.jsonl", new = "new/{name}.jsonl" }}\n'
            for name in ("math", "qa")
        )
    )

    def tasks(words: str) -> Any:
        return json.loads(run("gate", *words.split(), "-n", "999", "--format", "json").out)["tasks"]

    assert tasks(line) == tasks("--manifest tasks.toml --margin correct=0.5")
    assert [task["test_set"] for task in tasks(line)] == ["math", "qa"]
    assert [task["higher_is_better"] for task in tasks(f"{line} --lower-is-better correct")] == [False, False]
    of_documents = [(task["unit"], task["n_units"]) for task in tasks(f"{line} --docs doc")]
    assert of_documents == [("document", 21), ("document", 20)]  # each file has a column
    compared = json.loads(run("compare", *line.split()[:4], "-n", "99", "--format", "json").out)
    assert [*compared["sets"]] == ["math", "qa"]


def test_folders_of_samples_of_lm_eval_are_matched_by_task(demo: Path, run: Any) -> None:
    date = "2026-11-28T10-00-0"
    names = [[f"samples_{task}_{date}{n}.5.jsonl" for task in ("a.b", "c")] for n in (1, 2)]
    line = logs_in_folders(demo, [*names[0], f"results_{date}1.5.json"], names[1])
    found = json.loads(run("gate", *line.split(), "-n", "999", "--format", "json").out)
    assert [task["test_set"] for task in found["tasks"]] == ["a.b", "c"]


def test_the_line_for_folders_of_texts_works(demo: Path) -> None:
    for name, system in (("base", "baseline"), ("new", "tuned")):
        (demo / name).mkdir()
        (demo / name / "news.2.txt").write_bytes((demo / f"{system}.txt").read_bytes())
    with pytest.raises(InputError, match=r"lines such as sets\.\"news\.2\"") as caught:
        command("base new --ref reference.txt --margin bleu=2")
    (demo / "tasks.toml").write_text(str(caught.value).partition("such as ")[2])
    assert command("--manifest tasks.toml --margin bleu=2") == 0


def test_full_text_has_the_tables_and_other_formats_have_them_anyway(demo: Path, run: Any) -> None:
    line = [*f"gate {PAIR} --margin bleu=9".split()]
    short, full = (run(*line, *more).out.splitlines() for more in ([], ["--full"]))
    assert full[0] == short[0]
    assert len(full) > len(short)
    outcome = run(*line, "--full", "--format", "json")
    assert (outcome.code, json.loads(outcome.out)["verdict"]) == (0, "allow")
    assert "--full changes nothing" in outcome.err


def test_the_baseline_of_a_folder_is_said(demo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (demo / "scores").mkdir()
    for name in ("new", "old"):
        (demo / "scores" / f"{name}.txt").write_text("1\n0\n" * 30)
    said = "the baseline is new, the first file of scores by name: name both files for another"
    for words, is_said in (("scores", True), ("scores/old.txt scores/new.txt", False)):
        assert command(f"--scores x {words} --margin x=0.5") == 0
        assert (said in capsys.readouterr().err) == is_said
    with pytest.raises(InputError, match="scores is a folder, which has no columns: write --scores x and the folders"):
        command("--scores x scores#x scores#x --margin x=0.5")


def test_the_baseline_in_a_table_of_both_systems_is_said(demo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = "".join(f"q{n},{model},d{n % 2},{n % 3 % 2}\n" for n in range(60) for model in ("new", "old"))
    (demo / "both.csv").write_text(f"id,model,dataset,x\n{rows}")
    said = "the baseline is new, the first system in both.csv: to choose another, name both systems, as FILE#NAME or"
    for words, is_said in (("both.csv", True), ("both.csv#model=old both.csv#model=new", False)):
        assert command(f"--scores x {words} --margin x=0.3") == 0
        assert (said in capsys.readouterr().err) == is_said
    (demo / "both.csv").write_text(f"id,model,dataset,x\n{rows.partition(chr(10))[2]}")
    with pytest.raises(InputError, match=r"lacks segment q0, which .*, name each system as"):
        command("--scores x both.csv --margin x=0.3")
    assert command("--scores x both.csv#model=old both.csv#model=new --margin x=0.3 --unmatched drop") == 0
    (demo / "both.csv").write_text(
        f"id,model,x\n{''.join(f'q{n},{m},{n % 2}' + chr(10) for n in range(9) for m in 'abc')}"
    )
    with pytest.raises(InputError) as error:
        command("--scores x both.csv --margin x=0.3")
    assert str(error.value.with_flags()).endswith("two of a file, write FILE#NAME or FILE#model=NAME for each")


def test_a_configuration_has_margins_and_options_replace_its_keys(
    demo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (demo / "gate.toml").write_text('alpha = 0.1\nmetrics = ["bleu", "chrf"]\n[margin]\nbleu = 2\nchrf = "2%"\n')
    assert command(f"{PAIR} --config gate.toml --format json") == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["alpha"], [task["given_margin"] for task in found["tasks"]]) == (0.1, ["2", "2%"])
    line = f"{PAIR} --config gate.toml --margin bleu=0.1 -m bleu --alpha 0.01"
    assert command(line) == 5
    capsys.readouterr()
    (demo / "gate.toml").write_text("margin = 2\nalpha = 0.1\n")  # of the only metric
    assert command(f"{PAIR} --config gate.toml --format json") == 0
    assert [task["given_margin"] for task in json.loads(capsys.readouterr().out)["tasks"]] == ["2"]


def test_a_bad_value_of_a_configuration_is_named_by_file_and_key(demo: Path) -> None:
    def configured(text: str, words: str = "") -> int:
        Path("gate.toml").write_text(text)
        return command(f"{PAIR} --config gate.toml {words}")

    assert_raises("python_errors_of_gate_files", {"configured": configured})
    Path("gate.json").write_text('{"metrics": ["bleu", "ter"], "margin": {"ter": 1}}')
    with pytest.raises(InputError, match=r'as in "margin": \{"BLEU": "2%"\}, or use "rule": "no-regression"$'):
        command(f"{PAIR} --config gate.json")


def test_a_report_takes_no_place_of_a_history_that_does_not_exist_yet(demo: Path) -> None:
    with pytest.raises(InputError, match=r"new\.json is also an input and would be overwritten"):
        command(f"{PAIR} --margin bleu=9 --history new.json -o new.json")
    assert not Path("new.json").exists()


def test_a_history_may_be_named_by_the_configuration(demo: Path) -> None:
    (demo / "ci").mkdir()
    (demo / "ci" / "gate.toml").write_text('margin = 9\nhistory = "nights.jsonl"\n')
    assert command(f"{PAIR} --config ci/gate.toml") == 0
    assert len((demo / "ci" / "nights.jsonl").read_text().splitlines()) == 1


def test_metrics_of_texts_are_refused_where_all_test_sets_of_a_manifest_have_scores(demo: Path) -> None:
    for name in ("base", "new"):
        (demo / f"{name}.jsonl").write_text('{"correct": true}\n{"correct": false}\n' * 20)
    scores = '{ base = "base.jsonl", new = "new.jsonl" }'
    (demo / "tasks.toml").write_text(f"sets.qa = {{ scores.correct = {scores} }}\n")
    (demo / "gate.toml").write_text('metrics = ["bleu"]\nmargin = 0.1\n')
    for options in ("-m bleu --margin 0.1", "--config gate.toml"):
        with pytest.raises(InputError, match="-m bleu needs texts, which no test set has"):
            command(f"--manifest tasks.toml {options}")
    (demo / "gate.toml").write_text('metrics = ["correct"]\nmargin = 0.1\n')  # the scores, which need no -m
    assert command("--manifest tasks.toml --config gate.toml") == 0


def test_a_saved_gate_is_shown_also_as_a_test_report(demo: Path, run: Any) -> None:
    line = f"gate {PAIR} --margin bleu=2 -n 999 -o gate.json -o gate.html -o gate.xml"
    assert run(*line.split()).code == 0
    for saved in ("gate.json", "gate.html"):
        shown = run("show", saved, "--full").out
        assert shown.startswith("ALLOW: BLEU is not worse by 2 or more")
        assert "The segments that lost most under BLEU" in shown
        assert run("show", saved, "--format", "junit").out == Path("gate.xml").read_text("utf-8")
    assert "holds a gate: expected a comparison" in run("plot", "gate.json", "forest", "-o", "x.pdf").refusal()


def test_a_gate_is_verified_without_a_line_in_its_history(demo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = "gate tuned.txt baseline.txt --ref reference.txt --margin bleu=0.1 -n 999 --history nights.jsonl".split()
    assert run([*line, "-o", "gate.json"]) == 5
    before = Path("nights.jsonl").read_bytes()
    assert run(["verify", "gate.json", *line]) == 0
    assert run(["verify", "gate.json", *(word.replace("=0.1", "=9") for word in line)]) == 1
    assert "gate: 'inconclusive' → 'allow'" in capsys.readouterr().out
    assert Path("nights.jsonl").read_bytes() == before


def test_a_configuration_with_scores_and_another_rule(demo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, scores in {"a": [0, 1] * 30, "b": [0, 1, 1] * 20}.items():
        (demo / f"{name}.txt").write_text("".join(f"{each}\n" for each in scores))
    (demo / "scores.toml").write_text('metrics = ["ACC"]\n\n[margin]\nacc = 0.5\n')
    line = "--scores acc a.txt b.txt --config scores.toml"
    assert command(line) == 0
    assert command(f"{line} --rule no-regression") == 0
    assert "scores.toml: margin is left out, because --rule no-regression has none" in capsys.readouterr().err
    assert command(f"{line} -o verdict.json") == 0
    assert capsys.readouterr().err.startswith("ALLOW: acc is not worse by 0.5 or more")


# --- Logs of harnesses


def inspect_log(model: str, right: NDArray[np.bool_]) -> dict[str, Any]:
    """A log of invented questions with two epochs, (2, questions), as inspect_ai 0.3.285 writes it.

    ``inspect_ai.eval(Task(..., scorer=match(), epochs=2), model=..., fail_on_error=False)``, without what is not read:
    the model did not answer the last question.
    """
    last = right.shape[1] - 1
    samples = [
        {
            "id": q, "epoch": epoch, "input": f"What is {q} + {q}?", "target": f"{2 * q}",
            "metadata": {"passage": f"p{q // 4}"},
            "scores": {} if q == last else {"match": {"value": "C" if each else "I", "answer": "?", "history": []}},
            **({"error": {"message": "ValueError('no answer')"}} if q == last else {}),
        }
        for epoch, row in enumerate(right.tolist(), 1)
        for q, each in enumerate(row)
    ]  # fmt: skip
    about = {"task": "sums", "model": model, "config": {"epochs": 2, "fail_on_error": False}}
    return {"version": 2, "status": "success", "eval": about, "samples": samples}


def lm_eval_log(right: NDArray[np.bool_], first: int = 0) -> str:
    """Samples of invented questions, as lm_eval 0.4.13 writes them.

    ``lm_eval run --model dummy --tasks sums --include_path . --log_samples --output_path out``, where sums.yaml has
    the output type ``multiple_choice`` and questions in a local file of JSON lines.
    """
    return "".join(
        json.dumps(
            {
                "doc_id": n, "doc": {"question": f"What is {n} + {n}?", "passage": f"p{n // 4}"}, "target": "0",
                "arguments": {"gen_args_0": {"arg_0": f"What is {n} + {n}?", "arg_1": f" {2 * n}"}},
                "resps": [[["-0.5", "False"]], [["-0.9", "False"]]],
                "filtered_resps": [["-0.5", "False"], ["-0.9", "False"]], "filter": "none",
                "metrics": ["acc"], "doc_hash": sha256(b"%d" % n).hexdigest(), "prompt_hash": "1" * 64,
                "target_hash": "0" * 64,
                "acc": float(x),
            }
        )
        + "\n"
        for n, x in enumerate(right.tolist(), first)
    )  # fmt: skip


def passages(demo: Path, n: int) -> None:
    """The passage of each question, by its id, as a command takes it out of a log."""
    (demo / "passages.tsv").write_text("id\tpassage\n" + "".join(f"{q}\tp{q // 4}\n" for q in range(n)))


def test_logs_of_inspect_ai_with_epochs_and_clusters(demo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    right = np.random.default_rng(6).random((2, 2, 84)) < np.array([0.9, 0.4])[:, None, None]
    # The same model twice: the systems are called after the files.
    base, new = (inspect_log("openai/a", own) for own in right)
    new["samples"].reverse()
    (demo / "a.json").write_text(json.dumps({**base, "status": "error"}, indent=2))
    (demo / "b.eval").write_bytes(zipped(new))
    passages(demo, 84)
    line = "--scores match a.json b.eval --margin match=0.05 --format json"
    with pytest.raises(InputError, match="match, system a, segment 84: the score is missing; with missing='pairwise'"):
        command(line)
    answered = right[:, :, :-1]
    for more, unit, n in (("", "segment", 83), (" --docs passages.tsv#passage", "document", 21)):
        assert command(f"{line} --missing pairwise{more}") == 1
        out, err = capsys.readouterr()
        assert "a.json: the evaluation was not completed (status 'error')" in err
        (task,) = json.loads(out)["tasks"]
        assert (task["unit"], task["n_units"]) == (unit, n)
        assert task["baseline_score"] == pytest.approx(answered[0].mean())
        assert task["difference"] == pytest.approx(answered[1].mean() - answered[0].mean())


def test_logs_of_lm_eval_with_clusters(demo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    right = np.random.default_rng(7).random((2, 200)) < 0.6
    for model, own in zip(("a", "b"), right, strict=True):
        (demo / f"{model}.jsonl").write_text(lm_eval_log(own))
    passages(demo, 200)
    line = "--scores acc a.jsonl b.jsonl --margin acc=0.4 --format json"
    assert command(line) == 0
    assert json.loads(capsys.readouterr().out)["tasks"][0]["unit"] == "segment"
    assert command(f"{line} --docs passages.tsv#passage") == 0
    (task,) = json.loads(capsys.readouterr().out)["tasks"]
    # The same answers in 50 passages are 50 units.
    metric = SegmentScores("acc", dict(zip("ab", right.astype(float), strict=True)))
    (own,) = gate(metrics=metric, documents=[f"p{n // 4}" for n in range(200)], margin=0.4, n_resamples=999).tasks
    assert (task["unit"], task["n_units"]) == (own.unit, own.n_units) == ("document", 50)
    assert (task["difference"], task["bound"]) == (own.difference, own.bound)


def test_segments_of_logs_are_listed_by_their_ids(demo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    right = np.random.default_rng(7).random((2, 40)) < 0.6
    for model, own in zip(("a", "b"), right, strict=True):
        lines = [json.loads(line) for line in lm_eval_log(own).splitlines()]
        # A limited run: every second question.
        (demo / f"{model}.jsonl").write_text(
            "".join(json.dumps(each | {"doc_id": 2 * n}) + "\n" for n, each in enumerate(lines))
        )
    lost, gained = ([f"{2 * n}" for n in np.flatnonzero(old & ~new)] for old, new in (right, right[::-1]))
    command("--scores acc a.jsonl b.jsonl --margin acc=0.4 --format json")
    (task,) = json.loads(capsys.readouterr().out)["tasks"]
    assert [each["segment"] for each in task["lost"]] == lost[:3]
    assert run(["flips", "--scores", "acc", "a.jsonl", "b.jsonl", "--threshold", "0.5", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [each["segment"] for each in found["segments"]] == [f"{2 * n}" for n in range(40)]
    assert (found["lost"], found["gained"]) == (lost, gained)
    run(["flips", "--scores", "acc", "a.jsonl", "b.jsonl", "--threshold", "0.5", "--format", "csv"])
    assert capsys.readouterr().out.splitlines()[2].startswith("2,")
    run(["score", "--scores", "acc", "a.jsonl", "b.jsonl", "--segments"])
    assert capsys.readouterr().out.splitlines()[3].startswith("2\ta\t")
    run(["score", "--scores", "acc", "a.jsonl", "b.jsonl", "--segments", "--format", "jsonl"])
    assert json.loads(capsys.readouterr().out.splitlines()[2])["segment"] == "2"
