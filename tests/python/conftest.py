"""Shared fixtures: where the real data is, the demo's files, a command line; and a profile for hypothesis."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, settings

from browser import browser, browser_of_module
from reshuffle import Corpus, read_corpus
from reshuffle.cli.main import main
from reshuffle.data.demo import write_demo

__all__ = ["browser", "browser_of_module"]

ROOT = Path(__file__).resolve().parents[2]

# Meant for this run of pytest, not for those that tests start.
os.environ.pop("PYTEST_ADDOPTS", None)
# The size of a terminal, which readline, imported by pytest, puts into the environment of the workers of pytest-xdist.
for name in ("COLUMNS", "LINES"):
    os.environ.pop(name, None)

# A run in the background, or under nohup, ignores signals, and so would the commands that tests interrupt.
for number, handler in ((signal.SIGINT, signal.default_int_handler), (getattr(signal, "SIGHUP", None), signal.SIG_DFL)):
    if number is not None and signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, handler)

# No deadline: the first example of a test pays for imports. Derandomized: CI must not fail by chance.
settings.register_profile("default", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("default")


def data_dir() -> Path | None:
    """The folder with outputs of real systems, if it exists: ``RESHUFFLE_DATA`` or ../shared/data."""
    path = Path(os.environ.get("RESHUFFLE_DATA", ROOT.parent / "shared" / "data"))
    return path if path.is_dir() else None


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real data. Without it, tests that use it are skipped, or fail if the data is required."""
    path = data_dir()
    if path is None:
        reason = "no real data: set RESHUFFLE_DATA to a folder with wmt17-en-de and the other sets"
        if "RESHUFFLE_REQUIRE_DATA" in os.environ:
            pytest.fail(reason)
        pytest.skip(reason)
    return path


@pytest.fixture(scope="session")
def golden(data: Path) -> Path:
    """Numbers printed by other tools, stored beside the data."""
    path = data.parent / "golden"
    if not path.is_dir():
        reason = f"no numbers of other tools: {path} is not there"
        if "RESHUFFLE_REQUIRE_DATA" in os.environ:
            pytest.fail(reason)
        pytest.skip(reason)
    return path


@pytest.fixture(scope="session")
def wmt17(data: Path) -> Corpus:
    """The main test set: sixteen systems, 3,004 segments, one reference."""
    return read_corpus([str(data / "wmt17-en-de/ref.txt")], sorted(map(str, (data / "wmt17-en-de/sys").iterdir())))


@pytest.fixture
def demo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The demo's files in the current directory."""
    write_demo(str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path


class Outcome(NamedTuple):
    """Exit code and output of a command line."""

    code: int
    out: str
    err: str


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
