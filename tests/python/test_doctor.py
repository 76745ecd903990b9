"""``reshuffle doctor``: what is installed, and what files are, with commands that take them."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import sys
from pathlib import Path
from typing import Any

import click
import pytest

import reshuffle
from reshuffle import _core
from reshuffle.cli.doctor import _optional, health
from reshuffle.cli.file_kinds import KINDS, OF_FORMAT, SCORES, TABLE, TEXTS, found_in
from reshuffle.cli.main import run as run_here
from reshuffle.cli.root import CONTEXT, cli
from reshuffle.metrics.tokenizers import EXTERNAL
from reshuffle.report.checklist import TITLE
from told import assert_told

# What is optional, by the name under which it is imported.
ANSWERS = "".join(f'{{{{"id": "{{0[{n}]}}", "right": {n % 2}}}}}\n' for n in range(3))
OPTIONAL = "MeCab mecab_ko sentencepiece matplotlib ir_measures zstandard distributed pandas polars".split()


def test_without_optional_packages_doctor_says_how_to_get_each(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in OPTIONAL:
        monkeypatch.setitem(sys.modules, name, None)  # as if it were not installed
    found = health()
    there = ["inspect_ai logs"] if sys.version_info >= (3, 14) else []
    assert found["usable"] == there
    assert set(found["missing"]) == {name for name, _ in _optional()} - set(there)
    for name, problem in found["missing"].items():
        assert re.search(r"pip install|--meteor-jar", problem), name
        assert "=[" not in problem, name
    shown = run("doctor")
    assert shown.code == 0
    assert shown.err == ""
    assert there or re.search(r"^  Optional +nothing$", shown.out, re.MULTILINE)
    assert "pip install 'reshuffle[spm]'" in shown.out


def test_versions_instructions_and_packages_are_those_in_use(run: Any) -> None:
    found = json.loads(run("doctor", "--json").out)
    assert found["reshuffle"] == reshuffle.__version__
    assert found["vector_instructions"] == _core.simd()
    assert found["threads"] == _core.threads() >= 1
    packages = found["packages"]
    assert packages["numpy"] == sys.modules["numpy"].__version__
    assert {"attrs", "click", "jinja2", "numpy", "rich", "sacrebleu", "scipy"} <= packages.keys()
    assert not packages.keys() & {"pytest", "hypothesis", "mypy", "ruff", "pexpect", "rouge-score", "import-linter"}
    optional = {*found["usable"], *found["missing"]}
    assert set(EXTERNAL) < optional
    assert not set(found["usable"]) & set(found["missing"])
    pytest.importorskip("matplotlib")
    pytest.importorskip("pandas")
    assert {"figures", "pandas"} <= set(health()["usable"])


CONTENTS = {
    "all.tsv": "ref\told\tnew\tbleurt\na b\ta\tb\t1\nc\tc\td\t.5\n",
    "domains.csv": "id,domain,text\n" + "".join(f"{i},{'ab'[i % 2]},some text\n" for i in range(8)),
    "gold.tags": "O B-PER\nO\n",
    "gold.conll": "Ann B-PER\n\n",
    "parses.conllu": "1\tYes\t_\t_\t_\t_\t0\troot\t_\t_\n\n",
    "talks.trn": "the cat (anna-1)\na dog (ben-1)\n",
    "old.scores": "0.5\n1\n0\n",
    "new.scores": "1\n1\n0\n",
    "da.tsv": "system\tscore\tseg_id\na\t1\t1\nb\t2\t1\n",
    "bad-da.tsv": "system\tscore\tseg_id\na\tbad\t1\n",
    # As those of MQM that WMT published.
    "mqm.avg_seg_scores.tsv": "system mqm_avg_score seg_id\na\t-1.0 1\na\t-2.0 2\nb\t-1.0 1\nb\t-2.0 2\n",
    "dev.nbest": "0 ||| a b ||| lm= -1 ||| -1\n0 ||| a c ||| lm= -2 ||| -2\n1 ||| d ||| lm= -1 ||| -1\n",
    "battles.csv": "model_a,model_b,winner,judge\na,b,model_a,x\na,b,tie,y\n",
    "votes.rank": "1 cs-en a cs-en b\n2 cs-en b cs-en a\n1 de-en a de-en b\n",
    "single.rank": "1 cs-en a cs-en b\n2 cs-en b cs-en a\n",
    "pairs.csv": "LP HUMAN SYSTEM\ncs-en 0.5 a\ncs-en 0.4 b\nde-en 0.3 a\nde-en 0.1 b\n",
    "weights": "lm= 0.5\ntm= 0.2 -0.3\n",
    "weights.json": '{"lm": 0.5, "tm": 1}',
    "moses.ini": "[input-factors]\n0\n\n[weight]\nLM0= 0.5\n",
    "named.txt": "lm 0.5\ntm -1\n",
    "notes.txt": "# Notes\n\nSome words.\n",
    "labels.tsv": "old\tnew\n1\t2\nNA\tNA\n",
    "numbers.tsv": "old\tnew\n1\t2\n3\tx\n2\t2\n",
    # Numbers that are written otherwise, or as strings, are no texts; those of runs no counts; of epochs, no scores.
    "percent.csv": "id,a,b,c\n" + "".join(f"s{i},{i},{2 * i},{i}.5%\n" for i in range(3)),
    "strings.jsonl": '{"bleu": "0.5", "text": "a"}\n{"bleu": "0.7", "text": "b"}\n',
    "pandas.csv": ",id,epoch,edits,chars\n" + "".join(f"{i},q{i},{i % 3},{i % 4},{9 + i}\n" for i in range(30)),
    "epochs.csv": "epoch,loss,accuracy\n" + "".join(f"{i},{0.5 / i},{0.3 + i / 100}\n" for i in range(1, 9)),
    # Missing references are empty segments.
    "bare.jsonl": '"some more words"\nnull\n',
    "nulls.jsonl": '{"a": "x", "b": null}\n' * 2 + '{"a": "x", "b": "y"}\n',
    "a.run": "q1 Q0 d1 1 2.5 bm25\nq1 Q0 d2 2 1.5 bm25\n",
    "qrels": "q1 0 d1 1\nq1 0 d2 0\n",
    "sets.toml": '[sets.news]\nreferences = "reference.txt"\nsystems = ["baseline.txt", "tuned.txt"]\n',
    "gate.toml": "margin = 0.5\nalpha = 0.1\n",
    "runs.json": '{"references": "reference.txt", "systems": {"a": ["baseline.txt"]}}',
    "paper/checklist.txt": f"{TITLE}\n",
    "all.xml": "<?xml version='1.0'?><dataset id='t'><doc id='d'>"
    "<ref translator='X'><seg id='1'>a b c</seg><seg id='2'>e a b c</seg></ref>"
    "<hyp system='one'><seg id='1'>a b d</seg><seg id='2'>e a b d</seg></hyp>"
    "<hyp system='two'><seg id='1'>a c c</seg><seg id='2'>e a c c</seg></hyp></doc></dataset>",
    **{
        f"lines/{name}.jsonl": "".join(f'{{"id": "q{i}", "text": "the {name} {i}"}}\n' for i in range(3))
        for name in ("ref", "a", "b")
    },
    **{f"texts and scores/{name}.txt": "the cat\nthe dog\n" for name in "ab"},
    **{f"texts and scores/{name}.comet": "0.5\n0.25\n" for name in "ab"},
    "problems.csv": "problem,model,passed\n" + "p1,a,True\np1,a,False\np1,b,True\np1,b,True\n",
    "mixed/a.pdf": "%PDF-1.5",
    "mixed/a.txt": "x y\n",
    "mixed/b.txt": "x y\n",
    # Scores of two systems on a test set, and of one system on two.
    **{f"systems/{name}.jsonl": ANSWERS.format("xyz") for name in "ab"},
    "tasks/a.jsonl": ANSWERS.format("xyz"),
    "tasks/c.jsonl": ANSWERS.format("uvw"),
}


@pytest.fixture(scope="module")
def made(demo_files: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a file of every kind, not to be changed."""
    folder = tmp_path_factory.mktemp("kinds")
    shutil.copytree(demo_files, folder, dirs_exist_ok=True)
    for name, content in CONTENTS.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(content, "utf-8")
    lines = (folder / "reference.txt").read_text().splitlines()
    rows = [f"{n}\t{line}\n" for n, line in enumerate(lines)]
    (folder / "ids.tsv").write_text("".join(["id\tthe ref\n", *rows]))
    (folder / "docs.tsv").write_text("".join(["id\n", *(f"{n // 10}\n" for n in range(len(lines)))]))
    (folder / "outputs").mkdir()
    for name in ("baseline.txt", "tuned.txt"):
        (folder / "outputs" / name).write_bytes((folder / name).read_bytes())
    texts = "reference.txt baseline.txt tuned.txt"
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert run_here(f"count {texts} -o counts.npz".split()) == 0
        assert run_here(f"compare {texts} -n 100 -o result.json -o result.html".split()) == 0
        gate = "gate baseline.txt tuned.txt --ref reference.txt --rule no-regression -n 100 --history nights.jsonl"
        assert run_here(gate.split()) in (0, 1, 5)
    return folder


@pytest.fixture
def files(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of every kind, in the current folder."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


OTHER_FILES = "reference.txt ids.tsv docs.tsv outputs counts.npz result.json result.html nights.jsonl".split()
FOLDERS = ["paper", "mixed", "systems", "tasks", "lines", "texts and scores"]
# What stands for the other words of commands.
OTHERS = {
    "REF": "reference.txt", "BASELINE": "baseline.txt", "NEW": "tuned.txt", "BASE": "baseline.txt",
    "OTHER": "new.scores", "FOLDER": "outputs", "LISTS": "dev.nbest",
    "COMMAND": "compare reference.txt baseline.txt tuned.txt -n 100",
}  # fmt: skip


def test_each_kind_of_file_is_recognized(files: Path) -> None:
    kinds, told = set(), {}
    for name in (*OTHER_FILES, *(name for name in CONTENTS if "/" not in name), *FOLDERS):
        found = found_in(name)
        kinds |= {each.kind for each in found}
        told[name] = "\n".join(
            line
            for each in found
            for line in (f"{each.kind}, {each.format}: {each.contents or each.problem}".rstrip(": "), *each.commands)
        )
    assert kinds >= {each.name for each in (*KINDS, SCORES, TABLE, TEXTS)}
    assert_told("doctor", told)


def test_every_command_that_is_offered_exists() -> None:
    offered = [command for each in (*KINDS, SCORES, TABLE, TEXTS) for command in each.commands]
    offered += [command for commands in OF_FORMAT.values() for command in commands]
    assert len(offered) > 20
    for line in offered:
        context = click.Context(cli, **CONTEXT)  # a command keeps the names of --help of its first context
        command: click.Command = cli
        _, *words = shlex.split(line)
        while isinstance(command, click.Group):
            found = command.get_command(context, words.pop(0))
            assert found is not None, line
            command = found
        known = {name for param in command.get_params(context) for name in param.opts}
        assert {word for word in words if word.startswith("-")} <= known, line


TAKEN = "reference.txt old.scores outputs counts.npz result.json sets.toml nights.jsonl dev.nbest named.txt talks.trn"
TAKEN += " ids.tsv docs.tsv all.xml lines"


@pytest.mark.parametrize("name", TAKEN.split())
def test_commands_that_are_offered_take_the_file(files: Path, run: Any, name: str) -> None:
    others = {**OTHERS, **dict.fromkeys(("REF", "BASELINE", "NEW"), "talks.trn")} if name == "talks.trn" else OTHERS
    found = found_in(name)[0]
    assert found.commands
    for line in found.commands:
        words = shlex.split(" ".join(others.get(word, word) for word in line.split(" ")))
        if "tune" not in words:  # the lists have another number of sentences than the reference
            done = run(*words[1:])
            assert done.code in (0, 1) or "no margin" in done.err, (line, done.err)  # nothing else is missing
    assert name in found.commands[0]


def test_the_commands_for_votes_of_several_pairs_and_for_a_folder_with_the_reference(files: Path, run: Any) -> None:
    assert run("demo", "--write", "demo").code == 0
    for name, more in (("votes.rank", "-n 100 --units vote"), ("demo", "-n 99")):
        command = shlex.split(found_in(name)[0].commands[0])
        assert run(*command[1:], *more.split()).code == 0


def test_commands_for_scores_of_any_form_work(tmp_path: Path, run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    def write(name: str, *rows: str) -> None:
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text("\n".join(rows) + "\n")

    for name in ("a", "b"):
        answers = (
            {"id": i, "question": f"q {i}", "answer": f"{name} {i}", "ms": i + 1, "ok": (i + len(name)) % 3 > 0}
            for i in range(50)
        )
        write(f"answers/{name}.jsonl", *map(json.dumps, answers))
    wide = [f"{i}\t{i % 5}\t{i % 7}" for i in range(50)]
    for name in ("full.tsv", "copy.tsv"):
        write(name, "id\told\tnew", *wide)
    write("gaps.tsv", "id\told\tnew", *(f"{i}\tNA\t" if i % 2 else row for i, row in enumerate(wide)))
    for name, gap in (("people.tsv", "NA"), ("judge.tsv", "1")):
        rows = (f"{i}\t{i % 3}\t{i % 4}" if i % 2 else f"{i}\t{gap}\t{gap}" for i in range(1, 51))
        write(name, "segment\tsmall\tlarge", *rows)
    for name, words in (("words_a.csv", ("yes", "no", "")), ("words_b.csv", ("no", "yes"))):
        write(name, "id,ok", *(f"{i},{words[i % len(words)]}" for i in range(50)))
    for name, first, other in (
        ("words_a.csv", "--scores ok words_a.csv OTHER --missing pairwise", "words_b.csv"),
        ("people.tsv", "--scores METRIC people.tsv --missing pairwise", "judge.tsv"),
        ("answers/a.jsonl", "--scores ok answers/a.jsonl OTHER", "answers/b.jsonl"),
        ("answers", "--scores ok answers", "answers/b.jsonl"),
        ("gaps.tsv", "--scores METRIC gaps.tsv --missing pairwise", "full.tsv"),
        ("full.tsv", "--scores METRIC full.tsv", "copy.tsv"),
    ):
        (found,) = found_in(name)
        assert found.commands[0] == f"reshuffle compare {first}", name
        for line in found.commands:
            written = line.replace("OTHER", other).replace("REF", "question").replace("SYSTEM", "answer")
            done = run(*shlex.split(written)[1:])
            assert done.code == 0, (line, done.err)
    assert "human --scores LABELS gaps.tsv --scores METRIC OTHER" in found_in("gaps.tsv")[0].commands[1]
    for task, metric in (("arc", "acc"), ("gsm8k", "exact_match")):  # of the same numbers of questions
        rows = (json.dumps(LM | {"doc_id": i, "doc": {}, "metrics": [metric], metric: i % 2}) for i in range(30))
        write(f"lm/samples_{task}_2026-01-02T10-00-00.5.jsonl", *rows)
    (found,) = found_in("lm")
    assert found.commands[0] == "reshuffle compare --manifest MANIFEST"
    lines = found.watch[0].partition(": ")[2].split("; ")
    write("manifest.toml", *(line.replace("SYSTEM", system) for line in lines for system in ("a", "b")))
    assert run("compare", "--manifest", "manifest.toml").code == 0
    long = (f"{system}\tx{i}\t{i % 4 or 'NA'}" for i in range(30) for system in ("a", "b"))
    write("long.tsv", "system\titem\tscore", *long)
    (found,) = found_in("long.tsv")  # no texts in the columns of names
    assert "no column of segments" in found.contents
    assert not any("compare" in line for line in found.commands)


@pytest.mark.parametrize(
    ("content", "name", "message"),
    [
        (b"\xff\xfe\x00", "a.txt", "a.txt is UTF-16 text"),
        (b"\xfe", "a.txt", "not valid UTF-8"),
        (b"", "a.txt", "is empty"),
        (b"PK\x03\x04", "a.npz", "damaged or cut off"),
        (b'{"schema": "reshuffle.comparison/2"}', "a.json", "the key is missing"),
        (b"0 ||| a\n", "a.nbest", "line 1"),
        (b"[sets.a]\nnonsense = 1\n", "a.toml", "nonsense"),
        (b"{}{", "a.jsonl", "line 1"),
        (b"model_a,model_b,winner\na,b,model_a\na,b\n", "a.csv", "line 3: expected 3 fields"),
        (b"model_a,model_b,winner\na,b,model_a\na,b,none\n", "a.csv", "the winner, got 'none'"),
        (b'{"model_a": "a", "model_b": "b", "winner": "model_a"}\n{"model_a', "a.jsonl", "line 2"),
        (b"0.5\n1\nx\n0\n", "a.scores", "line 3: expected a finite number, got 'x'"),
        (b"a\t0.5\na\t1\nb\tbad\nb\t1\n", "a.seg.score", "line 3: expected a finite number, got 'bad'"),
        (b'{"a": [{"COMET": 0.5}, {"CO', "a.json", "line 1: not valid JSON"),
        (b"lm= 0.5\ntm= x\n", "weights", "line 2"),
        (b"PK\x03\x04", "a.zip", "ZIP"),
        (b"%PDF-1.4\n", "a.pdf", "expected text, got a binary file"),
        (b"\x7fELF\x02\x01\x01\x00", "a", "expected text, got a binary file"),
        (b"<!DOCTYPE html>\n<p>a</p>\n</html>\n", "a.html", "it may be another page"),
        (b'{"cells": [], "nbformat": 4}', "a.ipynb", "got JSON with the keys cells, nbformat"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused(
    tmp_path: Path, run: Any, content: bytes, name: str, message: str
) -> None:
    (tmp_path / name).write_bytes(content)
    assert message in run("doctor", str(tmp_path / name)).refusal()


def test_a_file_that_cannot_be_read_hides_no_other(files: Path, run: Any) -> None:
    Path("a.pdf").write_bytes(b"%PDF")
    shown = run("doctor", "reference.txt", "no-such-file", "a.pdf", "old.scores")
    assert shown.code == 2
    assert re.findall(r"^(\S+):$", shown.out, re.MULTILINE) == ["reference.txt", "old.scores"]
    assert [re.match(r"reshuffle: error: (\S+):", line)[1] for line in shown.err.splitlines()] == [  # type: ignore[index]
        "no-such-file",
        "a.pdf",
    ]
    shown = run("doctor", "--json", "no-such-file", "old.scores")
    assert (shown.code, list(json.loads(shown.out))) == (2, ["old.scores"])
    assert run("doctor", "--json", "no-such-file").refusal()
    assert "no-such-file" in run("doctor", "no-such-file").refusal()
    assert "name a file" in run("doctor", "-").refusal()


@pytest.mark.parametrize("share", [0.5, 0.9, 1])
def test_a_page_that_is_cut_off_is_not_called_whole(files: Path, run: Any, share: float) -> None:
    page = Path("result.html").read_bytes()
    Path("cut.html").write_bytes(page[: round(share * len(page))])
    (found,) = found_in("cut.html")
    assert ("the page is cut off" in found.contents) == (share < 1)
    assert ("reshuffle show cut.html -o" in found.contents) == (share < 1)
    assert run("show", "cut.html").code == 0


def test_doctor_changes_no_file(files: Path) -> None:
    history = Path("nights.jsonl").read_bytes() + b'{"cut off'
    Path("nights.jsonl").write_bytes(history)
    (found,) = found_in("nights.jsonl")
    assert "line 2 is damaged" in found.contents
    assert Path("nights.jsonl").read_bytes() == history
    whole = history.removesuffix(b'{"cut off')
    Path("nights.jsonl").write_bytes(whole + b"x\n" + whole)
    with pytest.raises(reshuffle.InputError, match=r"line 2: .*; remove the line"):
        found_in("nights.jsonl")


def test_json_has_what_text_shows(files: Path, run: Any) -> None:
    found = json.loads(run("doctor", "--json", "dev.nbest", "all.tsv").out)
    assert list(found) == ["dev.nbest", "all.tsv"]
    text = run("doctor", "dev.nbest", "all.tsv").out
    for kinds in found.values():
        assert all(f"    {command}\n" in text + "\n" for each in kinds for command in each["commands"])


def test_names_of_files_are_quoted_for_shells_and_safe_on_terminals(tmp_path: Path, run: Any) -> None:
    file = tmp_path / "a b\x1b[31m.txt"
    file.write_text("a\n")
    shown = run("doctor", str(file)).out
    assert "\x1b" not in shown
    assert f"reshuffle score REF '{tmp_path}/a b\\u001b[31m.txt'" in shown


def csv(header: str, *rows: str) -> str:
    return "\n".join([header, *rows]) + "\n"


# What is in files of scores, and what compare says of them, too; several files are read together.
QUESTIONS = [f"q{i}" for i in range(30)]
LM = {"target": "A", "arguments": [], "resps": [], "filtered_resps": [], "metrics": ["acc"]}
SCORED = {
    "epochs.csv": csv("id,epoch,ok", *(f"{q},{e},{(i + e) % 3 // 2}" for i, q in enumerate(QUESTIONS) for e in (1, 2))),
    "again.csv": csv("id,correct", *(f"{q},{i % 2}" for q in QUESTIONS for i in range(3))),
    "twice.csv": csv("id,passed", *(f"{q},{i % 2}" for i, q in enumerate([*QUESTIONS, "q3"]))),
    "words.csv": csv("id,correct", *(f"{q},{'yes' if i % 3 else 'no'}" for i, q in enumerate(QUESTIONS))),
    "grades.csv": csv("question,answer,grade", *(f"{q}?,{q}!,{'CI'[i % 2]}" for i, q in enumerate(QUESTIONS))),
    "tests.jsonl": "".join(
        f'{{"node": "t::{q}", "outcome": "{"passed" if i % 3 else "failed"}", "s": {i / 8}}}\n'
        for i, q in enumerate(QUESTIONS)
    ),
    "scales.csv": csv("id,a,b", *(f"{q},{i / 40},{2.5 * i}" for i, q in enumerate(QUESTIONS))),
    "asked.csv": csv("id,prompt,reply,score", *(f"{q},what {q},it {q},{i % 5}" for i, q in enumerate(QUESTIONS))),
    "models.csv": csv("model,id,ok", *(f"{m},{q},{i % m}" for m in (2, 3) for i, q in enumerate(QUESTIONS))),
    "a.csv": csv("id,acc", *(f"{q},{i / 40}" for i, q in enumerate(QUESTIONS))),
    "b.csv": csv("id,acc", *(f"{q},{i / 50}" for i, q in reversed([*enumerate(QUESTIONS)]))),
    "c.csv": csv("id,acc", *(f"{q},{i * 4}" for i, q in enumerate(QUESTIONS[:25]))),
    "turns.csv": csv(
        "id,turn,score,time", *(f"{q},{t},{i % 7},{i + t}.5" for i, q in enumerate(QUESTIONS) for t in (1, 2))
    ),
    "talk.csv": csv(
        "utt_id,speaker,lp,reference,base,tuned",
        *(f"u{i},s{i // 4},{('de', 'lv-en')[i % 2]},it is so,is so,it {('so', 'is')[i % 2]}" for i in range(60)),
    ),
    "right.csv": csv("id,old,new", *(f"{q},{'CI'[i % 2]},{'CI'[i % 3 // 2]}" for i, q in enumerate(QUESTIONS))),
    "labels_a.csv": csv(
        "id,label,prediction", *(f"{q},{'xyz'[i % 3]},{'xyz'[i % 2]}" for i, q in enumerate(QUESTIONS))
    ),
    "labels_b.csv": csv(
        "id,label,prediction", *(f"{q},{'xyz'[i % 3]},{'xyz'[i % 4 % 3]}" for i, q in reversed([*enumerate(QUESTIONS)]))
    ),
    "runs_a.csv": csv("id,seed,ok", *(f"{q},{s},{i * s % 2}" for i, q in enumerate(QUESTIONS) for s in (1, 2))),
    "runs_b.csv": csv("id,seed,ok", *(f"{q},{s},{i * s % 3 // 2}" for i, q in enumerate(QUESTIONS) for s in (1, 2))),
    "late.csv": csv("id,status", *(f"{q},{('passed', 'failed', 'timeout')[i % 3]}" for i, q in enumerate(QUESTIONS))),
    "nested.jsonl": "".join(f'{{"id": "{q}", "scores": {{"acc": 1}}}}\n' for q in QUESTIONS),
    "lang_a.csv": csv(
        "id,lang,ok", *(f"{q},{x},{(i + e) % 2}" for i, q in enumerate(QUESTIONS) for e, x in enumerate(("de", "en")))
    ),
    "lang_b.csv": csv("id,lang,ok", *(f"{q},{x},{i % 3 // 2}" for i, q in enumerate(QUESTIONS) for x in ("de", "en"))),
    "topics.csv": csv(
        "id,passage,gold,old,new",
        *(f"{q},p{i // 3},{'xy'[i % 2]},{'xy'[i % 3 // 2]},{'xy'[i % 5 // 3]}" for i, q in enumerate(QUESTIONS)),
    ),
    "gold.txt": "a\nb\n" * 30,
    "class_a.txt": "a\na\nb\n" * 20,
    "class_b.txt": "a\nb\na\na\n" * 15,
    **{f"{model}/results_2026-01-02T10-00-00.5.json": "{}" for model in ("old", "new")},
    **{
        f"{model}/samples_{task}_2026-01-02T10-00-00.5.jsonl": "".join(
            json.dumps(
                LM
                | {"doc_id": i, "doc_hash": f"{task}{i}", "acc": float((i + len(task)) % 3 < n)}
                | {"doc": {"q": f"{i}?", "topic": f"p{i // 4}"}}
            )
            + "\n"
            for i in range(30)
        )
        for n, model in enumerate(("old", "new"), 1)
        for task in ("arc", "qa")
    },
    **{
        f"{model}/{name}.csv": csv("id,ok", *(f"{i},{i * n * ord(name[0]) % 7 % 2}" for i in range(30)))
        for n, model in enumerate(("first", "second"), 1)
        for name in ("code", "math")
    },
    "plain.csv": csv("f1", *(f"{i / 30}" for i in range(30))),
    "ref.txt": "a b\n" * 30,
    "one.txt": "a c\n" * 30,
    "mark.txt": "\ufeffa d\n" * 30,
    "two.txt": "a d\n" * 29,
}
TOGETHER = (
    "a.csv b.csv",
    "a.csv b.csv c.csv",
    "a.csv plain.csv",
    "ref.txt one.txt mark.txt",
    "ref.txt one.txt two.txt",
    "old new",
    "first second",
    "labels_a.csv labels_b.csv",
    "runs_a.csv runs_b.csv",
    "lang_a.csv lang_b.csv",
    "gold.txt class_a.txt class_b.txt",
    "a.csv one.txt",
)


def test_what_is_in_scores_and_what_to_watch(tmp_path: Path, run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, content in SCORED.items():
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(content, "utf-8")
    files = [name for name in SCORED if "/" not in name and name not in " ".join(TOGETHER)] + ["new", *TOGETHER]
    told = {each: run("doctor", *each.split()).out for each in files}
    assert_told("doctor_of_scores", told)
    for name in files[:-1]:  # what is advised works, and says no more
        found = json.loads(run("doctor", "--json", *name.split()).out)
        (last,) = [*found.values()][-1]
        if not last["commands"]:
            assert any("must match" in line or "expected a finite" in line for line in last["watch"])
            continue
        done = run(*shlex.split(last["commands"][0].replace("OTHER", name.replace("new", "old")))[1:])
        assert done.code == 0, done.err
        said = re.findall("reshuffle: (?:warning: )?(?!error|what is said)(.*)", done.err)
        assert {*said} <= {text for kinds in found.values() for each in kinds for text in each["watch"]}, name


LABELS = {
    "gold.txt": ("yes\nno\n" * 20, "gold.txt BASELINE NEW"),
    "numbers.txt": ("1\n0\n2\n" * 20, "numbers.txt BASELINE NEW"),
    "three.csv": ("gold,old,new\n" + "yes,no,yes\nno,yes,no\n" * 9, "three.csv#gold three.csv#old three.csv#new"),
    "two.csv": ("model,gold,out\n" + "m,0,1\nm,1,0\n" * 9, "two.csv#gold two.csv#out OTHER#out"),
    "one.jsonl": ('{"label": 0}\n{"label": 1}\n' * 9, "one.jsonl#label BASELINE#label NEW#label"),
}


@pytest.mark.parametrize("name", LABELS)
def test_labels_of_classes_are_compared_as_such(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    content, columns = LABELS[name]
    Path(name).write_text(content)
    assert f"reshuffle compare {columns} -m accuracy macro-f1" in found_in(name)[0].commands
