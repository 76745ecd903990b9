"""Shared fixtures: where the real data is, the demo's files, a command line; and a profile for hypothesis."""

import atexit
import contextlib
import gc
import importlib
import os
import shlex
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, cast

import pytest
from hypothesis import settings

import budgets
from browser import browser, browser_of_process
from characters import characters
from reshuffle import Corpus, read_corpus
from reshuffle.cli.main import main
from reshuffle.cli.root import cli
from reshuffle.data.demo import write_demo
from reshuffle.execution.executors import process_pool

__all__ = ["browser", "browser_of_process", "budgets", "characters"]

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parents[1]

# What the person who runs the tests says: where real data and other tools are, how many damaged inputs to try, and
# whether to write new output.
FOR_TESTS = {
    "RESHUFFLE_BROWSER",
    "RESHUFFLE_DATA",
    "RESHUFFLE_FUZZ",
    "RESHUFFLE_METEOR_JAR",
    "RESHUFFLE_REQUIRE_DATA",
    "RESHUFFLE_UPDATE_DOCS",
}


def leave_this_machine() -> None:
    """Take away what makes the results of reshuffle depend on the machine: its WordNet, its settings, its home."""
    for name in [name for name in os.environ if name.startswith("RESHUFFLE_") and name not in FOR_TESTS]:
        del os.environ[name]
    # PYTEST_ADDOPTS is meant for this run of pytest, not for those that tests start. The size of the terminal is put
    # into the environment of the workers of pytest-xdist by readline, which pytest imports.
    for name in ("WNSEARCHDIR", "NLTK_DATA", "PYTEST_ADDOPTS", "COLUMNS", "LINES"):
        os.environ.pop(name, None)
    # Where no bytecode is written, every process that a test starts compiles every module: three times the whole time.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    # Workers inherit the folder of the process that starts them.
    if "PYTEST_XDIST_WORKER" not in os.environ:
        for name, folder in (("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")):  # where cargo itself is installed
            os.environ.setdefault(name, str(Path.home() / folder))
        home = tempfile.TemporaryDirectory(prefix="reshuffle-home-")
        atexit.register(home.cleanup)
        os.environ["HOME"] = home.name


leave_this_machine()

# Modules and tests stay until the end. While they are imported there is no garbage, but a lot to search for it.
gc.disable()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One process more than there are cores: tests wait for browsers and for other processes, so a core would idle."""
    return (os.cpu_count() or 1) + 1


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Import a share of the files first: all processes collect all, and find compiled what others have imported."""
    worker = getattr(session.config, "workerinput", None)
    if worker is None or [Path(each).resolve() for each in session.config.args] != [FOLDER]:
        return
    files = sorted(FOLDER.glob("test_*.py"))
    for file in files[int(worker["workerid"].removeprefix("gw")) :: worker["workercount"]]:
        with contextlib.suppress(Exception, pytest.skip.Exception):  # raised again when the file is collected
            importlib.import_module(file.stem)


def pytest_collection_finish() -> None:
    """Leave what has been collected out of later searches for garbage."""
    gc.freeze()
    gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test without the packages of the extra ``interop`` that its marks name."""
    for mark in item.iter_markers("interop"):
        for package in mark.args:
            pytest.importorskip(package, reason=f"{package} is not installed: pip install '.[interop]'")


# A run in the background, or under nohup, ignores signals, and so would the commands that tests interrupt.
for number, handler in ((signal.SIGINT, signal.default_int_handler), (getattr(signal, "SIGHUP", None), signal.SIG_DFL)):
    if number is not None and signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, handler)

settings.load_profile("default")  # of budgets


def data_dir() -> Path | None:
    """The folder with outputs of real systems, if it exists: ``RESHUFFLE_DATA`` or ../shared/data."""
    path = Path(os.environ.get("RESHUFFLE_DATA", ROOT.parent / "shared" / "data"))
    return path if path.is_dir() else None


def without(reason: str) -> NoReturn:
    """Skip a test without its data, or fail if ``RESHUFFLE_REQUIRE_DATA`` is set, to another value than 0."""
    if os.environ.get("RESHUFFLE_REQUIRE_DATA", "0") != "0":
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real data. Without it, tests that use it are skipped, or fail if the data is required."""
    path = data_dir()
    if path is None:
        without("no real data: set RESHUFFLE_DATA to a folder with wmt17-en-de and the other sets")
    return path


@pytest.fixture(scope="session")
def golden(data: Path) -> Path:
    """Numbers printed by other tools, stored beside the data."""
    path = data.parent / "golden"
    if not path.is_dir():
        without(f"no numbers of other tools: {path} is not there")
    return path


@pytest.fixture(scope="session")
def wmt17(data: Path) -> Corpus:
    """The main test set: sixteen systems, 3,004 segments, one reference."""
    return read_corpus([str(data / "wmt17-en-de/ref.txt")], sorted(map(str, (data / "wmt17-en-de/sys").iterdir())))


@pytest.fixture(scope="session")
def demo_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the demo's files, not to be changed: they take longer to make than to copy."""
    folder = tmp_path_factory.mktemp("demo")
    write_demo(str(folder))
    return folder


@pytest.fixture
def demo(demo_files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The demo's files in the current directory."""
    shutil.copytree(demo_files, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


class Outcome(NamedTuple):
    """Exit code and output of a command line."""

    code: int
    out: str
    err: str

    def refusal(self, program: str = "reshuffle") -> str:
        """The error of a command that is refused: one sentence, exit code 2, and nothing else."""
        assert (self.code, self.out, self.err.count("\n")) == (2, "", 1), self
        assert self.err.startswith(f"{program}: error: ")
        return self.err


def parsed(command: str) -> dict[str, Any]:
    """The values that a command line gives to the options of its command, which is not run."""
    program, *words = shlex.split(command)
    assert program == "reshuffle"
    context, found = cli.make_context(program, words), cast("Any", cli)
    while hasattr(found, "resolve_command"):
        _, found, words = found.resolve_command(context, remaining(context))
        context = found.make_context(found.name, words, parent=context)
    return context.params


def remaining(context: Any) -> list[str]:
    """The arguments of a group's command. click has renamed the first part."""
    known = vars(context)
    return [*(known.get("_protected_args") or known.get("protected_args") or []), *context.args]


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str]) -> Callable[..., Outcome]:
    """Run a command line in this process: ``run("compare", …)``."""

    def call(*args: str) -> Outcome:
        with pytest.raises(SystemExit) as stopped:
            main(args)
        assert isinstance(stopped.value.code, int)
        return Outcome(stopped.value.code, *capfd.readouterr())

    return call


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for the files of all tests of a module."""
    return tmp_path_factory.mktemp("inputs")


@pytest.fixture
def here(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the module's folder the current directory."""
    monkeypatch.chdir(folder)


@pytest.fixture(scope="module")
def processes() -> Iterator[ProcessPoolExecutor]:
    """Two processes that compute parts of jobs."""
    with process_pool(2) as pool:
        yield pool
