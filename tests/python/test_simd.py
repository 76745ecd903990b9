"""SIMD paths: every instruction set gives the same bytes."""

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from reshuffle import _core
from texts import translations

PATHS = ("portable", "avx2", "avx512")


def run(path: str | None, *arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Python in a new process, with the path forced or left to the default."""
    environment = {name: value for name, value in os.environ.items() if name != "RESHUFFLE_SIMD"}
    if path is not None:
        environment["RESHUFFLE_SIMD"] = path
    command = [sys.executable, *arguments]
    return subprocess.run(command, env=environment, cwd=cwd, capture_output=True, text=True, timeout=300, check=False)


@cache
def supported_paths() -> list[str]:
    best = run(None, "-c", "from reshuffle import _core; print(_core.simd())").stdout.strip()
    return list(PATHS[: PATHS.index(best) + 1])


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A reference and three systems; the number of segments is odd and exceeds a chunk of flips on every path."""
    folder = tmp_path_factory.mktemp("texts")
    reference, systems = translations(1501, 0.7, 0.68, 0.5)
    for name, lines in zip(("ref", *"abc"), (reference, *systems.values()), strict=True):
        (folder / name).write_text("".join(f"{line}\n" for line in lines))
    return folder


COMMANDS = {
    "shuffles": "-m bleu -m nist -m ter -n 700 --test ar:scheme=iid",
    "a subgroup": "-m bleu -n 1000 --test ar:scheme=subgroup",
    "exact tests": "-m ter -n 700 --test ar:scheme=exact",
    "maxt": "-m bleu -m chrf -n 300 --test ar --adjust maxt --all-pairs",
    "studentized": "-m bleu -m nist -m chrf -m ter -n 300 --test ar-studentized",
    "draws": "-m bleu -m nist -n 130 --test bootstrap",
    "the default test": "-m bleu -m chrf -n 300 --adjust maxt --all-pairs",
}


# The path is chosen once in a process, so each path has a process for all commands.
ALL_COMMANDS = f"""
import json
from click.testing import CliRunner
from reshuffle import _core
from reshuffle.cli.root import cli
results = {{"path": _core.simd()}}
for name, options in {COMMANDS!r}.items():
    done = CliRunner().invoke(cli, ["compare", "ref", "a", "b", "c", *options.split(), "--format", "json"])
    assert done.exit_code == 0, done.output
    results[name] = done.stdout
print(json.dumps(results))
"""


@pytest.fixture(scope="module")
def outputs(texts: Path) -> dict[str, dict[str, str]]:
    done = {path: run(path, "-c", ALL_COMMANDS, cwd=texts) for path in supported_paths()}
    assert all(one.returncode == 0 for one in done.values()), {path: one.stderr for path, one in done.items()}
    return {path: json.loads(one.stdout) for path, one in done.items()}


@pytest.mark.parametrize("name", COMMANDS)
def test_all_paths_give_the_same_bytes(name: str, outputs: dict[str, dict[str, str]]) -> None:
    assert len(json.loads(outputs["portable"][name])["comparisons"]) > 1
    for path, output in outputs.items():
        assert output["path"] == path
        assert output[name] == outputs["portable"][name], path


def test_an_empty_variable_means_the_best_path() -> None:
    script = "from reshuffle import _core; print(_core.simd())"
    assert run("", "-c", script).stdout == f"{supported_paths()[-1]}\n"
    assert _core.simd() in supported_paths()


USES = {
    "simd": "_core.simd()",
    "counts": "metric('bleu').suff_stats([['a']], [['a']])",
    "scores": "metric('bleu').score([[1, 1, 1, 0, 0, 0, 1, 0, 0, 0]])",
    "random values": "_core.stream_values(1, 'shuffle', 0, 5)",
    "weights": "_core.draw_weights(1, 0, 50)",
    "exact": "_core.subset_sum_distribution(np.ones(5, np.uint64))",
    "shuffles": "approximate_randomization(np.ones((9, 2), int), np.zeros((9, 2), int), lambda t: t[..., 0])",
}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="each use is the first one of a fork")
def test_an_unknown_path_is_an_error_at_the_first_use() -> None:
    script = f"""
import os
import numpy as np
from reshuffle import InputError, _core, approximate_randomization, metric
for name, use in {USES!r}.items():
    child = os.fork()
    if child == 0:
        try:
            exec(use)
        except InputError as error:
            print(f"{{name}}: {{error}}", flush=True)
        os._exit(0)
    os.waitpid(child, 0)
"""
    done = run("sse9", "-c", script)
    assert (done.returncode, done.stderr) == (0, "")
    message = 'RESHUFFLE_SIMD must be unset or one of portable, avx2, avx512, got "sse9"'
    assert done.stdout.splitlines() == [f"{use}: {message}" for use in USES]
