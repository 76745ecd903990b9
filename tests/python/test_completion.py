"""Completion: what real shells write after the Tab key."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import click
import pytest

from reshuffle import types
from reshuffle.cli.completion import SWITCHES, _Bash
from reshuffle.cli.root import COMPLETE, cli

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="these shells are those of Unix")

# How each shell starts without anybody's settings, and what it needs before it can complete.
STARTS = {
    "bash": (["--norc", "--noprofile"], ""),
    "zsh": (["-f"], "autoload -Uz compinit; compinit -u -D; "),
    "fish": (["--no-config"], ""),
}
# What is typed before Tab, and what is on the line after it: commands, options, values, lists of values, files.
TYPED = {
    "expl": "explain",
    "study sensi": "study sensitivity",
    "compare --worke": "compare --workers",
    "compare --test bootstrap-k": "compare --test bootstrap-kink",
    "compare r.txt -m bleu met": "compare r.txt -m bleu meteor",
    "compare refer": "compare reference.txt",
    "compare --docs refer": "compare --docs reference.txt",
}
TO_THE_START = "\x01"  # Ctrl-A


def completed(words: str) -> list[str]:
    """What is offered for the last of these words, or its type if that is not a name."""
    *args, incomplete = words.split(" ")
    found = _Bash(cli, {}, "reshuffle", COMPLETE).get_completions(args, incomplete)
    return [item.value if item.type == "plain" else f"<{item.type}>" for item in found]


@pytest.fixture(params=STARTS)
def shell(request: Any, tmp_path: Path) -> Iterator[Any]:
    pexpect = pytest.importorskip("pexpect")
    name = request.param
    program = shutil.which(name)
    if program is None:
        pytest.skip(f"{name} is not installed")
    (tmp_path / "reference.txt").write_text("a\n")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    env = {"PATH": path, "HOME": str(tmp_path), "TERM": "dumb", "LC_ALL": "C.UTF-8", "PS1": "$ "}
    options, before = STARTS[name]
    child = pexpect.spawn(
        program, options, env=env, cwd=str(tmp_path), encoding="utf-8", timeout=30, dimensions=(40, 200)
    )
    child.sendline(f"{before}{SWITCHES[name][0]}; echo rea''dy")
    child.expect("ready")
    yield child
    child.close(force=True)


def test_shells_complete_commands_options_values_and_files(shell: Any) -> None:
    for typed, expected in TYPED.items():
        shell.sendline(f"reshuffle {typed}\t{TO_THE_START}echo ")
        shell.expect(rf"\n\r*(\x1b[^\n]*)?reshuffle {expected} *\r*\n")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("compare --alternative ", get_args(types.Alternative)),
        ("compare r.txt -m bleu chr", ("chrf", "chrf++")),
        ("compare --test = bootstrap-k", ("bootstrap-kink",)),  # as bash takes it apart
        ("study type1 --tests ar,bootstrap-k", ("ar,bootstrap-kink",)),
        ("compare --tokenize mt", ("mteval-intl",)),  # an option of a metric
        ("compare --workers p", ("processes",)),
        ("explain bootstrap-k", ("bootstrap-kink",)),
        ("meta seg", ("segments",)),
        ("compare -m bleu --set A b", ("<file>",)),
        ("show ", ("<file>",)),
        ("compare -n ", ("<file>",)),
        ("nonsense --odd", ("<file>",)),  # an unknown command ends in no traceback
        ("compare --refs=a b c", ("<file>",)),  # which is an error when it is run
    ],
)
def test_names_are_offered_and_else_files(words: str, expected: tuple[str, ...]) -> None:
    assert tuple(completed(words)) == expected


def test_every_command_and_option_is_offered() -> None:
    context = click.Context(cli)
    assert completed("") == cli.list_commands(context)
    for name in cli.list_commands(context):
        command = cli.get_command(context, name)
        assert command is not None
        if not isinstance(command, click.Group):
            shown = {option for p in command.get_params(context) if not getattr(p, "hidden", True) for option in p.opts}
            assert {option for option in shown if option.startswith("--")} <= set(completed(f"{name} --")), name


def test_names_are_offered_without_numpy() -> None:
    asked = {**os.environ, COMPLETE: "bash_complete", "COMP_WORDS": "reshuffle compare --test ", "COMP_CWORD": "3"}
    command = [sys.executable, "-X", "importtime", "-m", "reshuffle"]
    done = subprocess.run(command, env=asked, capture_output=True, text=True, check=True)
    assert "plain,bootstrap-both" in done.stdout
    assert "numpy" not in {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
