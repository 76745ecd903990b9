"""The programs of ``benches``: those that its README names can be run, and two builds are compared in turn."""

import re
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

pytest.importorskip("sacrebleu", reason="benchmarks need sacreBLEU: pip install 'reshuffle[bench]'")

from benches.calls import __main__ as calls

README = Path(__file__).resolve().parents[2] / "benches/README.md"
PROGRAMS = sorted(
    {name for name in re.findall(r"python -m (benches[\w.]+\w)", README.read_text("utf-8")) if name[-4:] != "NAME"}
)


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_say_what_they_do(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = find_spec(name)
    program = import_module(f"{name}.__main__" if spec is not None and spec.submodule_search_locations else name)
    monkeypatch.setattr(sys, "argv", [name, "--help"])
    with pytest.raises(SystemExit, match=r"^0$"):
        program.main()
    assert capsys.readouterr().out.startswith(f"usage: python -m {name} ")


def test_the_page_names_all_programs_and_records() -> None:
    benches = README.parent
    programs = {
        ".".join(file.relative_to(benches.parent).with_suffix("").parts).removesuffix(".__main__")
        for file in benches.glob("*/*.py")
        if 'if __name__ == "__main__"' in file.read_text("utf-8")
    }
    assert sorted(programs) == PROGRAMS
    cases = set(re.findall(r"^\| .*--only ([a-z -]+)`", README.read_text("utf-8"), re.MULTILINE))
    named = {case for group in cases for case in group.split()}
    assert named <= set(import_module("benches.races.__main__").CASES)
    records = set(re.findall(r"\(record/([\w.-]+)\)", README.read_text("utf-8")))
    assert {file.name for file in benches.glob("record/*.md")} == records, "name the record in benches/README.md"


def test_two_builds_take_turns(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    processes: list[str] = []

    def medians(python: str, options: Sequence[str]) -> dict[str, float]:
        assert options == ["-k", "count"]
        processes.append("before" if python == "old" else "now")
        shared = {"count": 0.006 if python == "old" else 0.002}
        return shared if python == "old" else {**shared, "new": 1.0}

    monkeypatch.setattr(calls, "medians", medians)
    assert calls.main(["--before", "old", "--turns", "3", "-k", "count"]) == 0
    assert processes == ["before", "now", "now", "before", "before", "now"]
    assert capsys.readouterr().out.splitlines() == [
        "count: 3.000 (3.000 to 3.000), now / before 2.00 ms / 6.00 ms",
        "new: not in both builds",
    ]
