"""``reshuffle tune`` and ``rerank``: options and files against ``reshuffle.tune``, and every kind of bad input."""

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from processes import wait_for_ends
from reshuffle import metric, tune
from reshuffle.cli.tune import COMMANDS
from reshuffle.tune.decoders import _split
from reshuffle.tune.options import OPTIMIZERS
from told import assert_refused
from tuning_files import NAMES, SMALL, flags, references, write, write_all

LISTS = ("--nbest", "dev.nbest", "--refs", "dev.ref")
TEST = ("--test-set", "test.nbest", "test.ref")


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Development and test lists in the current directory."""
    monkeypatch.chdir(tmp_path)
    write_all(tmp_path)
    return tmp_path


def results(outcome: Any) -> dict[str, Any]:
    assert (outcome.code, outcome.err) == (0, "")
    found: dict[str, Any] = json.loads(outcome.out)
    return found


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_every_optimizer_gives_the_result_of_python(name: str, files: Path, run: Any) -> None:
    found = results(
        run("tune", name, *LISTS, *TEST, "--init", "weights", "--replications", "2", "--seed", "7", "--tokenize",
            "none", "--format", "json", *flags(name))
    )  # fmt: skip
    lists, other = tune.read_nbest("dev.nbest"), tune.read_nbest("test.nbest")
    own = tune.tune(
        OPTIMIZERS[name].options(**SMALL[name]), lists, references(40, 1), metric=metric("bleu", tokenize="none"),
        test=(other, references(40, 2)), initial=tune.read_weights("weights", NAMES), replications=2, seed=7,
    ).result  # fmt: skip
    assert found["runs"] == json.loads(own.render("json"))["runs"]
    assert found["start"][0]["test_score"] == own.start.test_score  # type: ignore[union-attr]
    assert [*COMMANDS] == [*OPTIMIZERS]


def test_flags_reach_the_metric_of_entries(files: Path, run: Any) -> None:
    command = ("tune", "pro", *LISTS, *flags("pro"), "--format", "json")
    plain, flagged, named, by_ter = (
        results(run(*command, *more))["plan"]["sentence_metric"]
        for more in (
            ("-m", "bleu:tokenize=none"), ("--tokenize", "none", "--smoothing", "3"),
            ("--sentence-metric", "sentbleu:smoothing=3", "--tokenize", "none"), ("-m", "ter"),
        )
    )  # fmt: skip
    assert "|tok:none|smooth:7" in plain
    assert "|tok:none|smooth:3" in flagged
    assert flagged == named
    assert by_ter.startswith("TER|")
    gains = results(run("tune", "kbmira", *LISTS, "--epochs", "2", "--sentence-metric", "sentbleu", "--format", "json"))
    assert gains["plan"]["sentence_metric"].startswith("sentBLEU")


def test_saved_outputs_are_runs_of_systems(files: Path, run: Any) -> None:
    found = {}
    for name in ("mert", "kbmira"):
        command = ("tune", name, *LISTS, *TEST, "--replications", "3", "--save", name, *flags(name))
        found[name] = results(run(*command, "--tokenize", "none", "--format", "json"))
    names = [f"{part}.{i}" for part in ("dev", "test", "weights") for i in (1, 2, 3)]
    assert sorted(path.name for path in Path("mert").iterdir()) == names
    outputs = [[f"{name}/{part}.{i}" for i in (1, 2, 3)] for name in found for part in ("test", "dev")]
    compared = results(
        run("runs", "--refs", "test.ref", "--baseline", *outputs[0], "--system", "kbmira", *outputs[2], "--dev-refs",
            "dev.ref", "--dev-baseline", *outputs[1], "--dev-system", "kbmira", *outputs[3], "--tokenize", "none",
            "-n", "99", "--format", "json")
    )  # fmt: skip
    for system, own in zip(compared["systems"], found.values(), strict=True):
        scores = system["scores"]["BLEU"]
        assert scores["runs"] == [each["test_score"] for each in own["runs"]]
        assert scores["dev_runs"] == [each["dev_score"] for each in own["runs"]]
        assert scores["s_test"] == pytest.approx(own["s_test"])
        assert scores["s_dev"] == pytest.approx(own["s_dev"])


@pytest.mark.parametrize("name", ["kbmira", "l1"])
def test_rerank_chooses_what_tune_has_chosen(name: str, files: Path, run: Any) -> None:
    assert run("tune", name, *LISTS, *TEST, "--save", "new/folder", *flags(name)).code == 0
    printed = run("rerank", "test.nbest", "new/folder/weights.1")
    assert (printed.code, printed.err) == (0, "")
    assert printed.out == Path("new/folder/test.1").read_text("utf-8")
    assert run("rerank", "test.nbest", "new/folder/weights.1", "-o", "out.txt").out == ""
    assert Path("out.txt").read_bytes() == Path("new/folder/test.1").read_bytes()


def test_outputs_are_numbered_so_that_names_are_in_order(files: Path, run: Any) -> None:
    assert run("tune", "kbmira", *LISTS, "--epochs", "1", "--replications", "10", "--save", "out").code == 0
    names = [f"{part}.{i:02}" for part in ("dev", "weights") for i in range(1, 11)]
    assert sorted(path.name for path in Path("out").iterdir()) == names


DECODER = """
import sys
weights = dict(line.split() for line in open(sys.argv[1]))
lists = {}
for number, line in enumerate(open("dev.nbest")):
    sentence, _, features, _ = line.split(" ||| ")
    values = [float(word) for word in features.split() if not word.endswith("=")]
    names = ("lm", "tm_0", "tm_1", "length")
    score = sum(float(weights[name]) * value for name, value in zip(names, values))
    lists.setdefault(int(sentence), []).append((-score, number, line))
with open(sys.argv[2], "w") as out:
    for sentence in sorted(lists):
        best = sorted(lists[sentence])[:3]
        out.writelines(line for _, _, line in sorted(best, key=lambda entry: entry[1]))
"""


def test_a_command_decodes_like_the_simulated_decoder(files: Path, run: Any) -> None:
    Path("decode.py").write_text(DECODER, encoding="utf-8")
    common = ("tune", "kbmira", "--refs", "dev.ref", "--init", "weights", "--rounds", "3", "--format", "json")
    command = f"{sys.executable} decode.py {{weights}} {{nbest}}"
    decoded = results(run(*common, "--decoder", command))
    simulated = results(run(*common, "--simulate", "dev.nbest", "--size", "3"))
    assert decoded["runs"] == simulated["runs"]
    assert decoded["plan"]["rounds"] > 1
    assert (decoded["plan"]["decoder"], simulated["plan"]["decoder"]) == ("command", "simulated")
    text = run(*common[:-2], "--simulate", "dev.nbest", "--size", "3", "--replications", "2")
    assert "The decoder is simulated" in " ".join(text.out.split())


def test_several_files_of_lists_are_joined(files: Path, run: Any) -> None:
    lines = Path("dev.nbest").read_text("utf-8").splitlines()
    write("a.nbest", lines[::2])
    write("b.nbest", [*lines[1::2]])
    command = ("tune", "kbmira", "--refs", "dev.ref", "--epochs", "2", "--format", "json")
    parts = results(run(*command, "--nbest", "a.nbest", "b.nbest", "a.nbest"))
    whole = results(run(*command, "--nbest", "dev.nbest"))
    distinct = {tuple(line.split(" ||| ")[:3]) for line in lines}
    assert parts["plan"]["entries"]["dev"] == len(distinct) <= whole["plan"]["entries"]["dev"]


def test_sources_are_read_for_templates(files: Path, run: Any) -> None:
    write("dev.src", [f"w{i % 3}" for i in range(40)])
    write("test.src", [f"w{i % 3}" for i in range(40)])
    options = ("--templates", "words", "--gamma", "0.1", "--limit", "8", "--sources", "dev.src", "--save", "out")
    assert run("tune", "l1", *LISTS, *TEST, "--test-sources", "test.src", *options).code == 0
    assert any(name.startswith("words=") for name in json.loads(Path("out/weights.1").read_text("utf-8")))
    printed = run("rerank", "test.nbest", "out/weights.1", "--sources", "test.src")
    assert printed.out == Path("out/test.1").read_text("utf-8")


def test_bad_options_are_explained(files: Path, run: Any) -> None:
    write("short", ["a"])
    write("ranges", ["1 1 1 1"])
    write("other", ["0 ||| a ||| lm= 1"])
    write("few", [f"{each} 1" for each in NAMES if each != "tm_1"])
    write("far", [f"{i} ||| a ||| lm= 1 tm= 2 3 length= 4" for i in (0, 2**63 - 1)])
    Path("full").mkdir()
    write("full/test.1", ["x"])
    assert_refused("errors_of_tune", run)


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("sys.exit('no model')", "failed with exit code 1: no model"),
        ("pass", "wrote no lists: expected it to write the file {nbest}"),
        ("open(sys.argv[2], 'w').write('0 ||| a ||| lm= x\\n')", "lists.nbest, line 1"),
        ("open(sys.argv[2], 'w').write('99 ||| a ||| lm= 1 tm= 2 3 length= 4\\n')", "the id 99 has no reference"),
    ],
)
def test_decoders_that_fail_are_explained(program: str, message: str, files: Path, run: Any) -> None:
    Path("decode.py").write_text(f"import sys\n{program}\n", encoding="utf-8")
    command = f"{sys.executable} decode.py {{weights}} {{nbest}}"
    for words in (("--init", "weights"), ("--nbest", "dev.nbest", "--rounds", "2")):
        assert message in run("tune", "kbmira", "--refs", "dev.ref", *words, "--decoder", command).refusal()
    gone = run("tune", "kbmira", "--refs", "dev.ref", "--init", "weights", "--decoder", "./gone {weights} {nbest}")
    assert "the decoder './gone' cannot be run: No such file or directory" in gone.err


def test_the_words_of_a_command_are_those_of_a_shell() -> None:
    command = r"""'C:\new tools\decode.exe' -n "a b" # {nbest} x\y"""
    assert list(_split(command, windows=False)) == shlex.split(command)
    assert list(_split(command, windows=True)) == [r"C:\new tools\decode.exe", "-n", "a b", "#", "{nbest}", r"x\y"]


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, -signal.SIGTERM)])
def test_an_interrupted_command_ends_its_decoder(number: int, code: int, files: Path) -> None:
    """With the programs that the decoder started, one of which takes no signals, and without their folder."""
    child = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True); time.sleep(600)"
    Path("decode.py").write_text(
        "import os, subprocess, sys\n"
        f"child = subprocess.Popen([sys.executable, '-c', {child!r}], stdout=subprocess.PIPE)\n"
        "child.stdout.readline()\n"
        "open('started.part', 'w').write(f'{os.getpid()} {child.pid}')\n"
        "os.rename('started.part', 'started')\n"
        "child.wait()\n",
        encoding="utf-8",
    )
    temporary = files / "temporary"
    temporary.mkdir()
    decoder = f"{sys.executable} decode.py {{weights}} {{nbest}}"
    command = [sys.executable, "-m", "reshuffle", "tune", "kbmira", "--refs", "dev.ref", "--init", "weights"]
    with subprocess.Popen(
        [*command, "--decoder", decoder], env={**os.environ, "TMPDIR": str(temporary)}, stderr=subprocess.PIPE
    ) as process:
        end = time.monotonic() + 60
        while not Path("started").exists():
            assert time.monotonic() < end
            assert process.poll() is None
            time.sleep(0.01)
        started = [psutil.Process(int(pid)) for pid in Path("started").read_text().split()]
        assert list(temporary.iterdir())
        process.send_signal(number)
        process.communicate(timeout=60)
    assert code == process.returncode
    wait_for_ends(started)
    assert list(temporary.iterdir()) == []
