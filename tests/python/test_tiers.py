"""The tiers of tests: ``.ci/slow.py`` knows which slow tests belong to which files."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / ".ci/slow.py"

if not SCRIPT.exists():
    pytest.skip("not a checkout", allow_module_level=True)

spec = importlib.util.spec_from_file_location("slow", SCRIPT)
assert spec is not None
assert spec.loader is not None
slow = importlib.util.module_from_spec(spec)
spec.loader.exec_module(slow)


def test_every_slow_test_belongs_to_a_room() -> None:
    marked = {
        path.name
        for path in Path(__file__).parent.glob("test_*.py")
        if path != Path(__file__) and re.search(r"mark\.slow\b|@CHARACTERS", path.read_text("utf-8"))
    }
    named = {
        path.name
        for names in slow.ROOMS.values()
        for name in names
        for path in Path(__file__).parent.glob(f"test_{name}.py")
    }
    assert marked - named == set(), "name them in .ci/slow.py"


@pytest.mark.parametrize("part", [part for room in slow.ROOMS for part in room])
def test_every_room_exists(part: str) -> None:
    assert list(ROOT.glob(part))


def test_a_change_runs_the_tests_of_its_room() -> None:
    own = "tests/python/test_words.py"
    assert slow.tests([Path("rust/src/tune/mira.rs"), Path(own)]) == sorted(
        [
            own,
            *(f"tests/python/{path.name}" for path in Path(__file__).parent.glob("test_tune*.py")),
            "tests/python/test_mert.py",
            "tests/python/test_oracle.py",
        ]
    )
    assert slow.tests([Path("README.md")]) == []


def test_nothing_is_run_for_a_change_without_a_room(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["slow.py", "HEAD"])
    monkeypatch.setattr(slow, "touched", lambda base: [Path("README.md")])
    assert slow.main() == 0
    assert capsys.readouterr().out.startswith("no slow tests")
