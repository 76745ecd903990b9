"""Interrupted studies go on from their checkpoint, to the same bytes as without the interruption."""

import contextlib
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result
from hypothesis import given, settings
from hypothesis import strategies as st

from budgets import budget
from reshuffle import InputError, SegmentScores, study
from reshuffle.cli.root import cli
from reshuffle.execution import jobs
from reshuffle.execution.checkpoint import Stage
from reshuffle.results.studies import StudyResult
from reshuffle.study import power, type1
from resumed_study import long_study
from texts import translations
from unnamed import unnamed

HERE = Path(__file__).parent
SCORES = SegmentScores("quality", dict(zip("ab", np.random.default_rng(1).random((2, 60)).round(2), strict=True)))


def small_study(simulations: int = 40, **options: Any) -> str:
    """Two stages, in bytes."""
    found = type1(
        metrics=SCORES,
        tests=["ar", "bootstrap-shift"],
        sizes=[20, 40],
        simulations=simulations,
        n_resamples=49,
        **options,
    )
    return found.render("json")


@pytest.fixture(scope="module")
def whole() -> str:
    return small_study()


class Interrupted(BaseException):
    """Ctrl-C, at a known place."""


@contextlib.contextmanager
def interrupted_after(blocks: int) -> Iterator[list[int]]:
    """Ends a study after so many blocks are kept. Yields a list to which the length of each is added."""
    add = Stage.add
    kept: list[int] = []

    def counted(stage: Stage, first: int, last: int, result: Any) -> None:
        if len(kept) == blocks:
            raise Interrupted
        add(stage, first, last, result)
        kept.append(last - first)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Stage, "add", counted)
        yield kept


@pytest.fixture(scope="module")
def short_blocks() -> Iterator[None]:
    """Blocks of a few simulations."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(jobs, "TASK_SECONDS", 1e-3)
        yield


WAYS = st.fixed_dictionaries({"threads": st.sampled_from([1, 2, None]), "pool": st.booleans()})


@contextlib.contextmanager
def way(threads: int | None, pool: bool) -> Iterator[dict[str, Any]]:
    with ThreadPoolExecutor(2) if pool else contextlib.nullcontext() as executor:
        yield {"workers": threads if executor is None else executor}


@settings(max_examples=budget(15))
@given(st.lists(st.tuples(st.integers(0, 6), WAYS), max_size=4), WAYS)
def test_any_interruptions(
    whole: str,
    short_blocks: None,
    tmp_path_factory: pytest.TempPathFactory,
    interruptions: list[tuple[int, dict[str, Any]]],
    last: dict[str, Any],
) -> None:
    """After any number of blocks, and with other threads and executors."""
    path = tmp_path_factory.mktemp("resume") / "study.checkpoint"
    for blocks, how in interruptions:
        with interrupted_after(blocks), contextlib.suppress(Interrupted), way(**how) as options:
            assert small_study(checkpoint=path, **options) == whole
    with way(**last) as options:
        assert small_study(checkpoint=path, **options) == whole
    with interrupted_after(0):  # nothing is left to do
        assert small_study(checkpoint=path) == whole


def test_more_simulations_go_on(whole: str, short_blocks: None, tmp_path: Path) -> None:
    """Only those that are missing are computed; a study with fewer uses what lies in its range."""
    path = tmp_path / "study.checkpoint"
    with interrupted_after(-1) as kept:
        small_study(checkpoint=path)
    assert sum(kept) == 80
    more = small_study(100)
    with interrupted_after(-1) as kept:
        assert small_study(100, checkpoint=path) == more
    assert sum(kept) == 120
    with interrupted_after(0):
        assert small_study(40, checkpoint=path) == whole
    fewer = small_study(33)
    with interrupted_after(-1) as kept:
        assert small_study(33, checkpoint=path) == fewer
    assert sum(kept) < 66


def test_levels_may_change(short_blocks: None, tmp_path: Path) -> None:
    small_study(checkpoint=tmp_path / "a")
    with interrupted_after(0):
        assert small_study(checkpoint=tmp_path / "a", alphas=0.2) == small_study(alphas=0.2)


def test_other_studies_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "study.checkpoint"
    small_study(checkpoint=path)
    before = path.read_bytes()
    with pytest.raises(InputError, match=r"blocks of another study: seed is 12345 there and 1 here\. Give another"):
        small_study(checkpoint=path, seed=1)
    with pytest.raises(InputError, match="has blocks of 'type1', not of 'power'"):
        power(metrics=SCORES, checkpoint=path)
    other = SegmentScores("quality", dict(zip("ab", np.random.default_rng(2).random((2, 60)).round(2), strict=True)))
    with pytest.raises(InputError, match="its settings are the same, but not its data"):
        type1(metrics=other, tests=["ar", "bootstrap-shift"], sizes=[20, 40], n_resamples=49, checkpoint=path)
    assert path.read_bytes() == before


def killed_at_random(folder: Path, simulations: int, kills: int, longest: float) -> tuple[int, str]:
    """Kill a study ``kills`` times, let it finish, and return how often a kill found it at work, and its result."""
    checkpoint, output = folder / "study.checkpoint", folder / "resumed.json"
    command = [sys.executable, str(HERE / "resumed_study.py"), str(simulations), str(output), str(checkpoint)]
    chosen, at_work = random.Random(1), 0
    for _ in range(kills):
        with subprocess.Popen(command, stderr=subprocess.PIPE) as process:
            before = size(checkpoint)
            # Usually the study is at work by then, sometimes it still begins.
            if chosen.random() < 0.8:
                wait_until_larger(checkpoint, before, process)
            time.sleep(chosen.uniform(0, longest))
            process.kill()
            _, complaint = process.communicate()
        at_work += process.returncode == -signal.SIGKILL and size(checkpoint) > before
        assert process.returncode == -signal.SIGKILL or output.exists(), complaint
    finished = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "Error" not in finished.stderr
    return at_work, output.read_text("utf-8")


def size(path: Path) -> int:
    """The bytes of a checkpoint and of its latest blocks, which are beside it until it is closed."""
    return sum(each.stat().st_size for each in path.parent.glob(f"{path.name}*"))


def wait_until_larger(path: Path, before: int, process: subprocess.Popen[bytes]) -> None:
    """Wait until a process has written to a file, or has ended."""
    end = time.monotonic() + 120
    while size(path) <= before and process.poll() is None:
        assert time.monotonic() < end
        time.sleep(1e-3)


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
@pytest.mark.parametrize(
    ("simulations", "kills", "longest", "least"),
    [(500, 1, 0.05, 1), pytest.param(20_000, 50, 0.2, 20, marks=pytest.mark.slow)],
)
def test_killed(simulations: int, kills: int, longest: float, least: int, tmp_path: Path) -> None:
    at_work, result = killed_at_random(tmp_path, simulations, kills, longest)
    assert result == long_study(simulations)
    assert at_work >= least


@pytest.fixture
def texts(demo_files: Path) -> list[Path]:
    """A reference and the outputs of two systems."""
    return [demo_files / f"{name}.txt" for name in ("reference", "baseline", "tuned")]


def reshuffle(*arguments: object) -> Result:
    return CliRunner().invoke(cli, [str(argument) for argument in arguments])


def test_command_line(texts: list[Path], short_blocks: None, tmp_path: Path) -> None:
    checkpoint, output = tmp_path / "study.checkpoint", tmp_path / "a.json"
    options = ["--simulations", "40", "-n", "49", "--sizes", "50", "-o", output]
    study = ["study", "type1", *texts, *options]
    assert reshuffle(*study).exit_code == 0
    whole = output.read_bytes()
    with interrupted_after(3), pytest.raises(Interrupted):
        reshuffle(*study, "--resume", checkpoint)
    output.unlink()
    assert reshuffle(*study, "--resume", checkpoint).exit_code == 0
    assert output.read_bytes() == whole
    for arguments, message in [
        ([*study, "--seed", "7", "--resume", checkpoint], "seed is 12345 there and 7 here"),
        ([*study, "--resume", texts[2]], "tuned.txt is not a checkpoint of reshuffle"),
        ([*study, "--resume", output], "is also an input and would be overwritten"),
        ([*study, "--resume", "-"], "--resume must be the path of a file, got '-'"),
    ]:
        result = reshuffle(*arguments)
        assert isinstance(result.exception, InputError)
        assert message in str(result.exception)


def test_counts_in_place_of_texts(texts: list[Path], short_blocks: None, tmp_path: Path) -> None:
    """A study on texts goes on with their counts, wherever the file is."""
    options = ["--simulations", "20", "-n", "49", "--format", "json", "--resume", tmp_path / "study.checkpoint"]
    assert reshuffle("count", *texts, "-o", tmp_path / "counts.npz").exit_code == 0
    whole = reshuffle("study", "type1", *texts, *options)
    assert whole.exit_code == 0, whole.output
    (tmp_path / "counts.npz").rename(tmp_path / "moved.npz")
    with interrupted_after(0):
        found = reshuffle("study", "type1", tmp_path / "moved.npz", *options)
    assert unnamed(found.output) == unnamed(whole.output)


def scores_of(name: str = "quality", systems: str = "abcd", n: int = 60) -> SegmentScores:
    rng = np.random.default_rng(len(name))
    rows = rng.normal(50, 9, n) + rng.normal(np.arange(len(systems))[:, None], 5, (len(systems), n))
    return SegmentScores(name, dict(zip(systems, rows.round(2), strict=True)))


REFERENCES, OUTPUTS = translations(60, 0.8, 0.7)
TEXTS: dict[str, Any] = {"references": REFERENCES, "systems": dict(zip("ab", OUTPUTS.values(), strict=True))}
SMALL: dict[str, Any] = {"simulations": 20, "n_resamples": 59}
STUDIES: dict[str, Callable[..., StudyResult]] = {
    "type1": lambda **own: study.type1(**TEXTS, metrics=["bleu", "chrf"], null=["swap", "noise"], **SMALL, **own),
    "type1, margins": lambda **own: study.type1(
        metrics=scores_of(), null="swap", tests=["equivalence:quality=2"], **SMALL, **own
    ),
    "power": lambda **own: study.power(
        **TEXTS, models=["eta", "real", "parametric"], effects=[0, 0.5], size_adjusted=True, **SMALL, **own
    ),
    "parametric_power": lambda **own: study.parametric_power([0.5, 1.0], 200, **SMALL, **own),
    "sensitivity": lambda **own: study.sensitivity(
        metrics=[scores_of(), scores_of("other")], effects=0.5, **SMALL, **own
    ),
    "plan": lambda **own: study.plan(
        metrics=scores_of(), difference={"quality": 1.0}, **SMALL | {"n_resamples": 199}, **own
    ),
    "multiplicity": lambda **own: study.multiplicity(metrics=scores_of(), **SMALL, **own),
    "exchange, model": lambda **own: study.exchange(
        exchange=["run", "hierarchical", "cell"], runs=3, simulations=200, n_resamples=49, **own
    ),
    "exchange, runs": lambda **own: study.exchange(metrics=scores_of(systems="abcdefg"), runs=3, **SMALL, **own),
    "gate": lambda **own: study.gate(methods=["gate", "sign"], tasks=2, sizes=40, **SMALL, **own),
    "agreement": lambda **own: study.agreement(metrics=[scores_of(), scores_of("other")], n_resamples=99, **own),
    "validate": lambda **own: study.validate(metrics=scores_of(), sizes=10, tests=["paired-bootstrap", "ar"], **own),
    "samples": lambda **own: study.samples(metrics=scores_of(), sizes=10, curve_sizes=[20], **own),
}


@pytest.mark.parametrize("name", STUDIES)
def test_every_study_goes_on_with_other_workers(
    name: str, short_blocks: None, tmp_path: Path, processes: ProcessPoolExecutor
) -> None:
    call, path = STUDIES[name], tmp_path / "study.checkpoint"
    whole = call()
    with interrupted_after(1), pytest.raises(Interrupted):
        call(checkpoint=path)
    found = call(checkpoint=str(path), workers=processes)
    assert found.render("json") == whole.render("json")
    with interrupted_after(0):
        assert call(checkpoint=path) == whole


def test_every_function_is_resumed() -> None:
    assert {name.partition(",")[0] for name in STUDIES} == {name for name in study.__all__ if name.islower()}
