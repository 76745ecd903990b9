"""The gate where others call it: the fixture of pytest, and the action's script as GitHub's runner calls it."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import reshuffle
from processes import python
from reshuffle import toml

ROOT = Path(__file__).parents[2]
ACTION = ROOT / ".github/actions/gate"
# By name: files of source distributions cannot be executed.
COMMAND = 'bash "$GITHUB_ACTION_PATH/gate.sh"'

# The fixture.

TESTS = """
import pytest

SAME, WORSE, OPEN = [3, 4, 5, 4, 2] * 20, [1, 2, 3, 2, 0] * 20, [3, 4, 5, 4, 2] * 19 + [2, 4, 5, 4, 1]

def test_same(not_worse):
    assert not_worse(SAME, SAME, margin=0.5).allowed

def test_worse(not_worse):
    not_worse(SAME, WORSE, margin=0.5)

def test_lower(not_worse):
    assert not_worse(SAME, WORSE, margin=0.5, higher_is_better=False).allowed

def test_open(not_worse):
    not_worse(SAME, OPEN, margin=0.01)

def test_skipped(not_worse):
    not_worse(SAME, OPEN, margin={"score": 0.01}, inconclusive="skip")

def test_texts(not_worse):
    lines = ["the cat sat on the mat", "a dog barked at the moon"] * 20
    not_worse(lines, lines, references=lines, metrics=["bleu", "chrf"], margin={"bleu": "1%", "chrf": 1})

def test_no_margin(not_worse):
    not_worse(SAME, SAME)
"""


def test_the_fixture_fails_unless_outputs_are_allowed_and_a_failure_reads_like_the_report(tmp_path: Path) -> None:
    project = toml.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["entry-points"]["pytest11"] == {"reshuffle": "reshuffle.pytest_plugin"}
    (tmp_path / "test_models.py").write_text(TESTS)
    command = [sys.executable, "-m", "pytest", "-p", "reshuffle.pytest_plugin", "-p", "no:cacheprovider", "-rsA"]
    environment = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    session = done.stdout
    for test in ("same", "lower", "texts"):
        assert f"PASSED test_models.py::test_{test}" in session
    for test in ("worse", "open", "no_margin"):
        assert f"FAILED test_models.py::test_{test}" in session
    assert "3 failed, 3 passed, 1 skipped" in session
    scores = {"base": [3, 4, 5, 4, 2] * 20, "new": [1, 2, 3, 2, 0] * 20}
    report = str(reshuffle.gate(metrics=reshuffle.SegmentScores("score", scores), margin={"score": 0.5}))
    assert report.startswith("REJECT: score is worse (-2.000, p < 0.0001).")
    assert report in session
    assert "InputError: no margin for score: say how much worse" in session
    assert "reshuffle/gate.py" not in session


def test_the_plugin_costs_nothing_until_it_is_used() -> None:
    assert (
        python("import sys, pytest, reshuffle.pytest_plugin; print({'numpy', 'scipy'} & {*sys.modules})") == "set()\n"
    )


# The action. Its runner replaces ${{ … }} by values in the environment of the script.

GH = """#!/usr/bin/env bash
printf '%s\\n' "$*" >> "$GH_CALLS"
case "$*" in *--paginate*) [ ! -e "$GH_EARLIER" ] || cat "$GH_EARLIER" ;; esac
"""

# Stands for reshuffle: writes what it is told to, and ends with a code.
STAND_IN = """#!/bin/sh
for word; do
    case "$word" in
        */gate.json) [ -z "$VERDICT" ] || echo "{\\"verdict\\": \\"$VERDICT\\"}" > "$word" ;;
        */gate.md) printf '<!-- reshuffle-gate -->\\n### %s\\n' "$VERDICT" > "$word" ;;
    esac
done
exit "$CODE"
"""

needs_bash = pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")


class Runner:
    """A folder with the demo's texts, and the environment that GitHub's runner gives to the script."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        programs = folder / "bin"
        programs.mkdir()
        for name, text in (("gh", GH), ("reshuffle", f'#!/bin/sh\nexec "{sys.executable}" -m reshuffle "$@"\n')):
            (programs / name).write_text(text)
            (programs / name).chmod(0o755)
        files = {name: str(folder / name) for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "GH_CALLS")}
        self.environment = {
            **os.environ,
            **files,
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            "GH_EARLIER": str(folder / "earlier"),
            "GITHUB_ACTION_PATH": str(ACTION),
            "GITHUB_REPOSITORY": "owner/name",
            "RUNNER_TEMP": str(folder),
        }

    def run(self, arguments: str, **inputs: str) -> subprocess.CompletedProcess[str]:
        """What the step of action.yml does."""
        values = {"FAIL_ON": "inconclusive", "COMMENT": "false", "PAGE": "", "PULL_REQUEST": ""} | inputs
        return subprocess.run(
            # As `shell: bash` calls it.
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", COMMAND],
            cwd=self.folder,
            env=self.environment | values | {"ARGUMENTS": arguments},
            capture_output=True,
            text=True,
            check=False,
        )

    def stand_in(self, verdict: str, code: int) -> None:
        """Put a program with this verdict and exit code, which takes no time, into the place of reshuffle."""
        (self.folder / "bin/reshuffle").write_text(STAND_IN)
        self.environment |= {"VERDICT": verdict, "CODE": str(code)}

    def read(self, name: str) -> str:
        path = self.folder / name
        return path.read_text("utf-8") if path.exists() else ""


@pytest.fixture
def runner(demo: Path) -> Runner:
    return Runner(demo)


BASE_AND_NEW = "baseline.txt tuned.txt --ref reference.txt -n 99 --margin bleu="


def test_the_action_passes_its_inputs_to_the_script() -> None:
    text = (ACTION / "action.yml").read_text("utf-8")
    script = (ACTION / "gate.sh").read_text("utf-8")
    (step,) = (part for part in text.split("- id: ") if part.startswith("gate"))
    given = [line.split(":")[0].strip() for line in step.partition("env:\n")[2].splitlines()]
    assert given == ["ARGUMENTS", "FAIL_ON", "COMMENT", "PAGE", "GH_TOKEN", "PULL_REQUEST"]
    assert f"run: {COMMAND}\n" in step
    # No input is pasted into a script: a name of a file could be a command.
    assert "${{" not in step.partition("env:\n")[0]
    assert all(f"${name}" in script or f"${{{name}" in script for name in given if name != "GH_TOKEN")


@needs_bash
def test_the_action_sets_its_outputs_and_the_summary(runner: Runner) -> None:
    done = runner.run(BASE_AND_NEW.replace(" --ref", "\n --ref") + "2")
    assert done.returncode == 0
    assert done.stdout.startswith(
        "::notice title=reshuffle gate%2C tuned against baseline::ALLOW: BLEU is not worse by 2 or more"
    )
    outputs = dict(line.split("=", 1) for line in runner.read("GITHUB_OUTPUT").splitlines())
    assert outputs["verdict"] == "allow"
    assert json.loads(Path(outputs["json"]).read_text("utf-8"))["verdict"] == "allow"
    assert Path(outputs["html"]).read_text("utf-8").startswith("<!DOCTYPE html>")
    assert runner.read("GITHUB_STEP_SUMMARY").startswith("<!-- reshuffle-gate ")
    assert runner.read("GH_CALLS") == ""


@needs_bash
@pytest.mark.parametrize(
    ("verdict", "of_gate", "fail_on", "code"),
    [
        ("reject", 1, "inconclusive", 1),
        ("reject", 1, "reject", 1),
        ("reject", 1, "nothing", 0),
        ("inconclusive", 5, "inconclusive", 5),
        ("inconclusive", 5, "reject", 0),
        ("inconclusive", 5, "always", 2),
        ("", 2, "nothing", 2),  # an error of the input
        ("", 1, "nothing", 2),  # a traceback
    ],
)
def test_the_action_fails_as_it_was_told(runner: Runner, verdict: str, of_gate: int, fail_on: str, code: int) -> None:
    runner.stand_in(verdict, of_gate)
    done = runner.run("words", FAIL_ON=fail_on)
    assert done.returncode == code
    assert ("::error::" in done.stdout) == (code == 2)


@needs_bash
def test_arguments_are_words_and_never_commands(runner: Runner) -> None:
    assert runner.run("$(touch owned) baseline.txt;touch owned --ref reference.txt").returncode == 2
    assert not (runner.folder / "owned").exists()


@needs_bash
def test_the_comment_of_an_earlier_run_is_updated(runner: Runner) -> None:
    inputs = {"COMMENT": "true", "PULL_REQUEST": "7", "PAGE": "https://example.org/gate.html"}
    program = (runner.folder / "bin/reshuffle").read_text()
    runner.stand_in("allow", 0)
    assert runner.run("words", **inputs).returncode == 0
    (runner.folder / "bin/reshuffle").write_text(program)
    (runner.folder / "earlier").write_text("12345\n")
    assert runner.run(f"{BASE_AND_NEW}2", **inputs).returncode == 0
    listed, created, again, updated = runner.read("GH_CALLS").splitlines()
    assert listed == again
    assert listed.startswith("api --paginate repos/owner/name/issues/7/comments --jq")
    assert created.startswith("api --method POST repos/owner/name/issues/7/comments -F body=@")
    assert updated.startswith("api --method PATCH repos/owner/name/issues/comments/12345 -F body=@")
    assert "[Report](<https://example.org/gate.html>)" in Path(updated.rpartition("@")[2]).read_text("utf-8")


@needs_bash
@pytest.mark.parametrize("refused", ["--paginate", "POST"])
@pytest.mark.parametrize(("verdict", "code"), [("allow", 0), ("reject", 1)])
def test_a_comment_that_cannot_be_written_does_not_change_the_verdict(
    runner: Runner, refused: str, verdict: str, code: int
) -> None:
    (runner.folder / "bin/gh").write_text(f'{GH}case "$*" in *{refused}*) exit 4 ;; esac\n')
    runner.stand_in(verdict, code)
    done = runner.run("words", COMMENT="true", PULL_REQUEST="7")
    assert done.returncode == code
    assert "::warning::the comment could not be written" in done.stdout
    assert len(runner.read("GH_CALLS").splitlines()) == (1 if refused == "--paginate" else 2)
