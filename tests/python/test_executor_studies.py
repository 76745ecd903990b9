"""Studies with executors, in Python and on the command line: the same bytes, and no worker that is left behind."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from processes import wait_for_ends
from reshuffle import SegmentScores, study
from reshuffle.results.studies import StudyResult
from texts import translations


def scores(name: str = "quality", systems: str = "abcd", n: int = 60) -> SegmentScores:
    rng = np.random.default_rng(len(name))
    rows = rng.normal(50, 9, n) + rng.normal(np.arange(len(systems))[:, None], 5, (len(systems), n))
    return SegmentScores(name, dict(zip(systems, rows.round(2), strict=True)))


def texts(n: int = 60) -> dict[str, Any]:
    """References and two systems that differ in a word here and there."""
    references, systems = translations(n, 0.8, 0.7)
    return {"references": references, "systems": dict(zip("ab", systems.values(), strict=True))}


SMALL: dict[str, Any] = {"simulations": 12, "n_resamples": 99}
STUDIES: dict[str, Callable[..., StudyResult]] = {
    "type1": lambda **own: study.type1(**texts(), metrics=["bleu", "chrf"], null=["swap", "noise"], **SMALL, **own),
    "type1, margins": lambda **own: study.type1(
        metrics=scores(), null="swap", tests=["equivalence:quality=2"], **SMALL, **own
    ),
    "power": lambda **own: study.power(
        **texts(), models=["eta", "real", "parametric"], effects=[0, 0.5], size_adjusted=True, **SMALL, **own
    ),
    "parametric_power": lambda **own: study.parametric_power([0.5, 1.0], 200, **SMALL, **own),
    "sensitivity": lambda **own: study.sensitivity(metrics=[scores(), scores("other")], effects=0.5, **SMALL, **own),
    "plan": lambda **own: study.plan(
        metrics=scores(), difference={"quality": 1.0}, **SMALL | {"n_resamples": 199}, **own
    ),
    "multiplicity": lambda **own: study.multiplicity(metrics=scores(), **SMALL, **own),
    "exchange, model": lambda **own: study.exchange(
        exchange=["run", "hierarchical", "cell"], runs=3, simulations=20, n_resamples=49, **own
    ),
    "exchange, runs": lambda **own: study.exchange(metrics=scores(systems="abcdefg"), runs=3, **SMALL, **own),
    "gate": lambda **own: study.gate(methods=["gate", "sign"], tasks=2, sizes=40, **SMALL, **own),
    "agreement": lambda **own: study.agreement(metrics=[scores(), scores("other")], n_resamples=99, **own),
    "validate": lambda **own: study.validate(metrics=scores(), sizes=10, tests=["paired-bootstrap", "ar"], **own),
    "samples": lambda **own: study.samples(metrics=scores(), sizes=10, curve_sizes=[20], **own),
}


@pytest.mark.parametrize("name", STUDIES)
def test_every_study_is_the_same_with_processes(processes: Any, name: str) -> None:
    here, there = STUDIES[name](), STUDIES[name](workers=processes)
    assert there.tables == here.tables
    assert there.render("json") == here.render("json")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("files")
    made = texts(400)
    for name, lines in {"ref": made["references"], **made["systems"]}.items():
        (folder / name).write_text("".join(f"{line}\n" for line in lines))
    return folder


COMMAND = ("study", "type1", "ref", "a", "b", "--seed", "7")


def started(files: Path, temporary: Path, *arguments: str) -> subprocess.Popen[str]:
    """A long study in a process group of its own."""
    command = [sys.executable, "-m", "reshuffle", *COMMAND, "--simulations", "10000000", *arguments]
    return subprocess.Popen(
        command,
        cwd=files,
        env={**os.environ, "TMPDIR": str(temporary)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def workers_of(process: subprocess.Popen[str], temporary: Path) -> list[Any]:
    """The workers of a command, once they compute."""
    psutil = pytest.importorskip("psutil")
    for _ in range(1200):
        found = [
            each
            for each in psutil.Process(process.pid).children(recursive=True)
            if any("spawn_main" in word for word in each.cmdline())
        ]
        if (
            len(found) == 2
            and list(temporary.glob("reshuffle-*/*"))
            and all(sum(each.cpu_times()) > 1 for each in found)
        ):
            return found
        assert process.poll() is None, process.stderr and process.stderr.read()
        time.sleep(0.05)
    raise AssertionError("the workers do not compute")


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.parametrize("whole_group", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_ctrl_c_ends_the_command_and_its_workers(files: Path, tmp_path: Path, whole_group: bool) -> None:
    """Terminals send SIGINT to all processes of the group, ``kill -INT`` to one."""
    process = started(files, tmp_path, "--workers", "processes:2")
    workers = workers_of(process, tmp_path)
    (os.killpg if whole_group else os.kill)(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors.strip()) == (130, "reshuffle: interrupted")
    wait_for_ends(workers)
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_a_killed_worker_ends_the_command_with_one_sentence(files: Path, tmp_path: Path) -> None:
    process = started(files, tmp_path, "--workers", "processes:2", "--resume", str(tmp_path / "checkpoint"))
    workers = workers_of(process, tmp_path)
    workers[0].kill()
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 4
    assert "reshuffle: error: a worker process ended before it finished simulation" in errors
    assert "run it again with the same checkpoint (--resume)" in errors
    assert "Traceback" not in errors
    wait_for_ends(workers)
    assert [each.name for each in tmp_path.iterdir()] == ["checkpoint"]
