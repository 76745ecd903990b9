"""The command of gates: exit codes, files and folders, configurations, and bad input."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gates import by_system, command, labelled, noisy, of_demo
from reshuffle import InputError, SegmentScores, compare, gate
from reshuffle.cli.main import run
from reshuffle.errors import MisreadWarning
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
    with pytest.raises(InputError, match="BLEU has two margins"):
        command("--margin 9 bleu=9 7 tuned.txt --ref reference.txt")
    with pytest.raises(InputError, match="the margin is given twice"):
        command("7 tuned.txt --ref reference.txt --margin 9 --margin 8")
    with pytest.raises(
        InputError, match=r"one margin for 2 metrics, BLEU, chrF2: say which metric .* margin=\{'BLEU': 9"
    ):
        command("7 tuned.txt --ref reference.txt --margin 9 -m bleu chrf")


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
    assert_refused("errors_of_gate", run)


def test_what_is_refused_as_a_mistake_can_be_said_to_be_meant(demo: Path) -> None:
    (demo / "numbered.tsv").write_text("number\tright\n" + "".join(f"{n}\t{n % 2}\n" for n in range(40)))
    assert command("--scores x numbered.tsv#right numbered.tsv#number --margin 0.5") == 0
    for name, scores in (("few", [1, 0]), ("many", [90, 0])):
        (demo / name).write_text("".join(f"{score / 100}\n" for score in scores * 20))
    assert command("--scores words few many --margin 0.005") == 0


def test_in_python_such_mistakes_are_warnings() -> None:
    with pytest.warns(MisreadWarning, match="latency: higher scores count as better"):
        metric = SegmentScores("latency", {"a": [1.0, 2.0] * 20, "b": [2.0, 3.0] * 20})
    assert gate(metrics=metric, margin=0.5, n_resamples=99).verdict == "allow"
    ids = [f"q{n // 2}" for n in range(40)]
    metric = SegmentScores("right", {"a": [1.0, 0.0] * 20, "b": [1.0] * 40}, segment_ids=ids)
    with pytest.warns(MisreadWarning, match="right: each of 20 ids occurs 2 times"):
        assert gate(metrics=metric, margin=0.2, n_resamples=99).verdict == "allow"
    with pytest.warns(MisreadWarning, match="right: each of 20 ids occurs 2 times"):
        compare(metrics=metric, n_resamples=99)
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
            (demo / system / name).write_text('{"correct": true}\n{"correct": false}\n' * (20 + n))
    return "--scores correct base new --margin correct=0.5"


def test_folders_of_scores_have_a_task_for_each_file_as_in_a_manifest(demo: Path, run: Any) -> None:
    line = logs_in_folders(demo, ["qa.jsonl", "math.jsonl"], ["qa.jsonl", "math.jsonl"])
    (demo / "tasks.toml").write_text(
        "".join(
            f'sets.{name}.scores.correct = {{ base = "base/{name}.jsonl", new = "new/{name}.jsonl" }}\n'
            for name in ("math", "qa")
        )
    )
    found = run("gate", *line.split(), "-n", "999", "--format", "json").out
    again = run("gate", *"--manifest tasks.toml --margin correct=0.5 -n 999 --format json".split()).out
    assert json.loads(found)["tasks"] == json.loads(again)["tasks"]
    assert [task["test_set"] for task in json.loads(found)["tasks"]] == ["math", "qa"]
    lower = run("gate", *line.split(), "--lower-is-better", "correct", "-n", "999", "--format", "json").out
    assert [task["higher_is_better"] for task in json.loads(lower)["tasks"]] == [False, False]
    compared = json.loads(run("compare", *line.split()[:4], "-n", "99", "--format", "json").out)
    assert [*compared["sets"]] == ["math", "qa"]


def test_documents_of_folders_of_scores_are_a_column_of_each_file(demo: Path, run: Any) -> None:
    logs = ["qa.jsonl", "math.jsonl"]
    line = ["gate", *logs_in_folders(demo, logs, logs).split(), "-n", "999"]
    for file in demo.glob("*/*.jsonl"):
        rows = [{**json.loads(row), "doc": n // 2} for n, row in enumerate(file.read_text().splitlines())]
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = json.loads(run(*line, "--docs", "doc", "--format", "json").out)
    assert [(task["unit"], task["n_units"]) for task in found["tasks"]] == [("document", 21), ("document", 20)]
    assert "--docs is for one test set" in run(*line, "--docs", "reference.txt").refusal()
    mixed = run("gate", "--scores", "correct", "base", "new/qa.jsonl", "--margin", "1").refusal()
    assert "would both be called qa" in mixed
    assert "name only folders, one of each system" in mixed
    assert run("gate", "--scores", "correct", "base", "nwe", "--margin", "1").err.count("\n") == 1
    (demo / "base/more.jsonl").write_bytes((demo / "base/qa.jsonl").read_bytes())
    alone = run("gate", "--scores", "correct", "base", "--margin", "1").refusal()
    assert "got the folder base: name a folder of each system" in alone
    beside = run("gate", "baseline.txt", "tuned.txt", "--scores", "correct", "base", "--margin", "1").refusal()
    assert "--scores correct: expected a file for each of 2 systems after the name, got 3" in beside
    (demo / "base/more.jsonl").unlink()
    watched = run("watch", "--scores", "correct", "base", "new", "--bounds", "0", "1").refusal()
    assert "for several test sets use 'reshuffle compare' or 'reshuffle gate'" in watched
    texts = ("reference.txt", "baseline.txt", "tuned.txt")
    beside = run("compare", *texts, "--scores", "correct", "base", "new").refusal()
    assert "for several test sets 'reshuffle compare' and 'reshuffle gate' take a manifest (--manifest)" in beside
    two = run("compare", "--scores", "correct", "speed", "base/qa.jsonl", "new/qa.jsonl").refusal()
    assert "speed: no such file: if it is another metric, it needs a --scores of its own, as in --scores corr" in two


def test_folders_of_samples_of_lm_eval_are_matched_by_task(demo: Path, run: Any) -> None:
    date = "2026-11-28T10-00-0"
    names = [[f"samples_{task}_{date}{n}.5.jsonl" for task in ("a.b", "c")] for n in (1, 2)]
    line = logs_in_folders(demo, [*names[0], f"results_{date}1.5.json"], names[1])
    outcome = run("gate", *line.split(), "-n", "999", "--format", "json")
    assert [task["test_set"] for task in json.loads(outcome.out)["tasks"]] == ["a.b", "c"]


@pytest.mark.parametrize(
    ("base", "new", "message"),
    [
        (["qa.jsonl", "math.jsonl"], ["qa.jsonl"], "the folder new has no file for math"),
        (["qa.jsonl", "qa.txt"], ["qa.jsonl"], r"base/qa.jsonl and base/qa.txt are both of qa: move one"),
    ],
)
def test_folders_of_other_files_are_refused(demo: Path, base: list[str], new: list[str], message: str) -> None:
    line = logs_in_folders(demo, base, new)
    with pytest.raises(InputError, match=message):
        command(line)


def test_the_line_for_folders_of_texts_works(demo: Path) -> None:
    for name, system in (("base", "baseline"), ("new", "tuned")):
        (demo / name).mkdir()
        (demo / name / "news.2.txt").write_bytes((demo / f"{system}.txt").read_bytes())
    with pytest.raises(InputError, match=r"lines such as sets\.\"news\.2\"") as caught:
        command("base new --ref reference.txt --margin bleu=2")
    (demo / "tasks.toml").write_text(str(caught.value).partition("such as ")[2])
    assert command("--manifest tasks.toml --margin bleu=2") == 0


def test_full_text_has_the_tables_and_other_formats_have_them_anyway(demo: Path, run: Any) -> None:
    line = ["gate", "baseline.txt", "tuned.txt", "--ref", "reference.txt", "--margin", "bleu=9"]
    short, full = run(*line).out, run(*line, "--full").out
    assert full.startswith(short.splitlines()[0])
    assert len(full.splitlines()) > len(short.splitlines())
    outcome = run(*line, "--full", "--format", "json")
    assert (outcome.code, "--full changes nothing" in outcome.err) == (0, True)
    assert json.loads(outcome.out)["verdict"] == "allow"


def test_the_baseline_of_a_folder_is_said(demo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (demo / "scores").mkdir()
    for name in ("new", "old"):
        (demo / "scores" / f"{name}.txt").write_text("1\n0\n" * 30)
    assert command("--scores x scores --margin x=0.5") == 0
    assert (
        "the baseline is new, the first file of scores by name: name both files for another" in capsys.readouterr().err
    )
    assert command("--scores x scores/old.txt scores/new.txt --margin x=0.5") == 0
    assert "baseline is" not in capsys.readouterr().err


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
    (demo / "gate.toml").write_text("margins = 1\n")
    with pytest.raises(InputError, match="unknown key 'margins': did you mean 'margin'"):
        command(f"{PAIR} --config gate.toml")


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
