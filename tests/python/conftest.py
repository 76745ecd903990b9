"""What the tests share: where the real data lies, and a profile for property-based tests."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, settings

from reshuffle import Corpus, read_corpus
from reshuffle.cli.main import main
from reshuffle.data.demo import write_demo

ROOT = Path(__file__).resolve().parents[2]

# No deadline: the first example of a test pays for imports. Derandomized: CI must not fail by chance.
settings.register_profile("default", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("default")


def data_dir() -> Path | None:
    """Where real outputs of real systems lie, if they do: ``RESHUFFLE_DATA`` or ../shared/data."""
    path = Path(os.environ.get("RESHUFFLE_DATA", ROOT.parent / "shared" / "data"))
    return path if path.is_dir() else None


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real data; the tests that need it are skipped without it, or fail where it is demanded."""
    path = data_dir()
    if path is None:
        reason = "no real data: set RESHUFFLE_DATA to a folder with wmt17-en-de and the other sets"
        if "RESHUFFLE_REQUIRE_DATA" in os.environ:
            pytest.fail(reason)
        pytest.skip(reason)
    return path


@pytest.fixture(scope="session")
def golden(data: Path) -> Path:
    """Numbers that other tools printed, beside the data."""
    path = data.parent / "golden"
    if not path.is_dir():
        reason = f"no numbers of other tools: {path} is not there"
        if "RESHUFFLE_REQUIRE_DATA" in os.environ:
            pytest.fail(reason)
        pytest.skip(reason)
    return path


@pytest.fixture(scope="session")
def wmt17(data: Path) -> Corpus:
    """The main set: sixteen systems, 3,004 segments, one reference."""
    return read_corpus([str(data / "wmt17-en-de/ref.txt")], sorted(map(str, (data / "wmt17-en-de/sys").iterdir())))


@pytest.fixture
def demo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The demo's files in the current directory."""
    write_demo(str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path


class Outcome(NamedTuple):
    """What a command line did."""

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
