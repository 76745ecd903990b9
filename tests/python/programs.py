"""Programs of other tools, as reshuffle runs them: in this process, on copies of files of tests/data."""

import io
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from conftest import Outcome

__all__ = ["Program", "copies", "program"]

Program = Callable[..., Outcome]


def copies(folder: Path) -> Any:
    """A fixture: the current folder has copies of the files of this one."""

    @pytest.fixture
    def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
        monkeypatch.chdir(tmp_path)

    return files


def program(main: Callable[[list[str]], int]) -> Any:
    """A fixture: a function that runs a program in the test's folder, and checks its exit code."""

    @pytest.fixture
    def run(capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Program:
        monkeypatch.chdir(tmp_path)

        def call(*arguments: object, stdin: bytes = b"", code: int = 0) -> Outcome:
            monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(stdin)))
            try:
                found = main(list(map(str, arguments)))
            except SystemExit as stopped:
                found = int(stopped.code or 0)
            done = Outcome(found, *capfd.readouterr())
            assert done.code == code, done
            return done

        return call

    return run
