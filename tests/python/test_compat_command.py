"""``python -m reshuffle.compat.sacrebleu`` prints the same bytes as ``sacrebleu`` for the same arguments."""

from __future__ import annotations

import json
import os
import random
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

METRICS = ["-m", "bleu", "chrf", "ter"]
MANY = ["-i", "a.txt", "b.txt", "c.txt"]


def command(arguments: list[str], stdin: str = "", **environment: str) -> dict[str, Any]:
    return {"arguments": arguments, "stdin": stdin, "environment": environment}


def read_commands() -> Iterator[dict[str, Any]]:
    """The commands of a file, as a shell reads them: variables, ``sacrebleu``, arguments, and the file on stdin."""
    for line in (Path(__file__).parents[1] / "data/sacrebleu_commands.txt").read_text("utf-8").splitlines():
        words, _, stdin = line.partition(" < ")
        variables, _, arguments = words.partition("sacrebleu")
        yield command(shlex.split(arguments), stdin, **dict(each.split("=") for each in variables.split()))


COMMANDS = [*read_commands()]


def write_texts(folder: Path) -> None:
    rng = random.Random(5)
    words = "the a cat dog sat on mat moon , it rained all day long . It's 3,004 “quoted” (really) 世界 naïve".split()

    def line() -> str:
        return " ".join(rng.choices(words, k=rng.randrange(1, 14)))

    def changed(line: str, rate: float) -> str:
        kept = [word if rng.random() > rate else rng.choice(words) for word in line.split()]
        if rng.random() < rate:
            rng.shuffle(kept)
        return " ".join(kept)

    reference = [line() for _ in range(20)]
    systems = {
        name: [changed(line, rate) for line in reference] for name, rate in zip("abc", (0.1, 0.2, 0.3), strict=True)
    }
    systems["b"][3] = ""
    second = [changed(line, 0.3) for line in reference]
    texts = {
        "ref.txt": reference,
        "ref2.txt": second,
        "refs.tsv": map("\t".join, zip(reference, second, strict=True)),
        "three.tsv": map("\t".join, zip(*systems.values(), strict=True)),
        "uneven.tsv": ["a\tb", "a"],
        "short.txt": reference[:-1],
        "empty.txt": [],
        "line.txt": ["the cat sat on the mat"],
        "other.txt": ["a cat sat"],
        "periods.txt": [f"the cat sat on the mat {number} ." for number in range(120)],
        **{f"{name}.txt": lines for name, lines in systems.items()},
    }
    for name, lines in texts.items():
        (folder / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    (folder / "latin.txt").write_bytes("ein größerer Satz mit Umlauten hier\n".encode("latin-1"))


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("texts")
    write_texts(folder)
    return folder


def environment(folder: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("SACREBLEU", "NO_COLOR"))}
    return {**kept, "SACREBLEU": str(folder / "downloads"), "PYTHONIOENCODING": "utf-8", "COLUMNS": "100"}


def results_of(who: str, commands: list[dict[str, Any]], texts: Path) -> list[list[Any]]:
    """Exit code, output and errors of each command, by sacreBLEU (``host``) or by reshuffle (``ours``)."""
    if not hasattr(os, "fork"):
        pytest.skip("no fork on this platform")
    read = [{**c, "stdin": (texts / c["stdin"]).read_text("utf-8") if c["stdin"] else ""} for c in commands]
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("commands.py")), who],
        input=json.dumps(read),
        capture_output=True,
        text=True,
        check=False,
        cwd=texts,
        env=environment(texts),
    )
    assert done.returncode == 0, done.stderr
    found: list[list[Any]] = json.loads(done.stdout)
    return found


def without_callers(errors: str) -> str:
    """Tracebacks without the frames above sacreBLEU's ``main``, which differ here."""
    return re.sub(r"(?s)(?<=Traceback \(most recent call last\):\n).*?(?=  File [^\n]*sacrebleu\.py)", "", errors)


def test_all_commands_print_the_same_bytes(texts: Path) -> None:
    both = list(zip(*(results_of(who, COMMANDS, texts) for who in ("host", "ours")), strict=True))
    for case, (host, ours) in zip(COMMANDS, both, strict=True):
        host[2], ours[2] = without_callers(host[2]), without_callers(ours[2])
        assert host == ours, case
    # The commands cover results, usage errors, errors in the input, and crashes.
    assert {0, 1, 2, 17} == {host[0] for host, _ in both}
    assert any("Traceback" in host[2] for host, _ in both)


PAIRED = ["ref.txt", *MANY, *METRICS, "-par", "-parn", "60"]
SAME_TEXTS = ["ref.txt", *MANY, "-par", "-parn", "60", "-f", "text"]
ONE_SEGMENT = ["line.txt", "-i", "line.txt", "other.txt", "-par", "-parn", "60"]
NUMBERS_OF_NUMPY = ["ref.txt", *MANY, "-m", "chrf", "-pbs", "-pbsn", "60"]
IN_TEXT = [*NUMBERS_OF_NUMPY, "-f", "text", "-w", "4"]
SOUND = ["--pvalues", "sound"]
# Commands of sacreBLEU that print something else here.
OTHER_OF_HOST = [NUMBERS_OF_NUMPY, IN_TEXT, ["--help"]]
# Commands with what sacreBLEU does not have.
WITH_OPTIONS_OF_OURS = [PAIRED, NUMBERS_OF_NUMPY, ["--pvalues", "x"], ["--pvalues"], ["--help"], [*SAME_TEXTS, *SOUND]]
WITH_OPTIONS_OF_OURS += [options + each for each in (SAME_TEXTS, ONE_SEGMENT) for options in ([], SOUND)]


class Done(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


def outcomes(who: str, commands: list[list[str]], texts: Path) -> Callable[..., Done]:
    """What one of some commands did, by its arguments."""
    results = results_of(who, [command(arguments) for arguments in commands], texts)
    return lambda *arguments: Done(*results[commands.index([*arguments])])


@pytest.fixture(scope="module")
def ours(texts: Path) -> Callable[..., Done]:
    return outcomes("ours", WITH_OPTIONS_OF_OURS, texts)


@pytest.fixture(scope="module")
def host(texts: Path) -> Callable[..., Done]:
    return outcomes("host", OTHER_OF_HOST, texts)


def test_the_command_is_patched_and_lists_the_calls(texts: Path, ours: Callable[..., Done]) -> None:
    listed = subprocess.run(
        [sys.executable, "-m", "reshuffle.compat.sacrebleu", "-v", *PAIRED],
        capture_output=True,
        check=True,
        cwd=texts,
        encoding="utf-8",
        env=environment(texts),
        stdin=subprocess.DEVNULL,
    )
    plain = ours(*PAIRED)
    assert (plain.returncode, plain.stdout) == (0, listed.stdout)
    assert listed.stderr.startswith(f"{plain.stderr}replaced by reshuffle.compat")
    assert re.search(r"\n  PairedTest\.__call__ +1 +0\n", listed.stderr)


@pytest.mark.skipif(
    np.lib.NumpyVersion(np.__version__) < "2.0.0", reason="only under NumPy 2 are the means float32, which JSON refuses"
)
def test_json_of_the_paired_bootstrap_works_where_sacrebleu_fails(
    host: Callable[..., Done], ours: Callable[..., Done]
) -> None:
    """Under NumPy 2, means and intervals are numpy.float32, which sacreBLEU cannot write as JSON."""
    assert "TypeError: Object of type float32 is not JSON serializable" in host(*NUMBERS_OF_NUMPY).stderr
    for row in json.loads(ours(*NUMBERS_OF_NUMPY).stdout):
        chrf = row["chrF2"]
        assert f"{chrf['score']:.4f} ({chrf['mean']:.4f} ± {chrf['ci']:.4f})" in host(*IN_TEXT).stdout


def test_sound_p_values_are_one_argument_away_which_may_stand_anywhere(ours: Callable[..., Done]) -> None:
    replayed, sound = ours(*SAME_TEXTS), ours(*SOUND, *SAME_TEXTS)
    assert replayed.returncode == sound.returncode == ours(*ONE_SEGMENT).returncode == 0
    assert "pvalues:reshuffle" in sound.stdout
    assert "pvalues:reshuffle" not in replayed.stdout
    assert ours(*SAME_TEXTS, *SOUND) == sound


def test_what_our_options_refuse_exits_with_2(ours: Callable[..., Done]) -> None:
    for arguments, start, message in (
        (["--pvalues", "x"], "usage: python -m reshuffle.compat.sacrebleu [-v] [--pvalues MODE]", "choice: 'x'"),
        (["--pvalues"], "usage: python -m reshuffle.compat.sacrebleu [-v] [--pvalues MODE]", "expected"),
        ([*SOUND, *ONE_SEGMENT], "", "error: there is only one segment: tests and intervals need at least 2\n"),
    ):
        done = ours(*arguments)
        assert done.returncode == 2
        assert done.stderr.startswith(start)
        assert message in done.stderr
        assert "Traceback" not in done.stderr


def test_our_options_follow_sacrebleus_help(host: Callable[..., Done], ours: Callable[..., Done]) -> None:
    done = ours("--help")
    theirs, usage, own = done.stdout.partition("\nusage: python -m reshuffle.compat.sacrebleu [-v]")
    assert (done.returncode, theirs, done.stderr) == (0, host("--help").stdout, "")
    assert usage
    assert "--pvalues {exact-replay,sound}" in own
