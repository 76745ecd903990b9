"""What the command line writes: files, streams and pipes, and their errors."""

import csv
import errno
import io
import json
import os
import re
import shlex
import stat
import subprocess
import sys
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from reshuffle import InputError, report
from reshuffle.cli import output
from test_cli import COMPARE, SYSTEMS


def plain(page: str) -> str:
    """A page without the marks around flags of its command line."""
    return re.sub(r'<span class="flag">([^<]*)</span>', r"\1", page)


def test_the_ending_of_the_output_file_chooses_the_format_and_an_option_that_of_others(demo: Path, run: Any) -> None:
    for ending, fmt in {
        ".json": "json", ".md": "markdown", ".tex": "latex", ".typ": "typst", ".html": "html", ".txt": "text",
        ".TEX": "latex", "": "text",
    }.items():  # fmt: skip
        expected = plain(run(*COMPARE, "--format", fmt).out)
        for chosen, name in (((), f"out{ending}"), (("--format", fmt), "other.out")):
            assert run(*COMPARE, *chosen, "-o", name) == (0, "", "")
            # HTML also has the command line.
            options = shlex.join((*chosen, "-o", name))
            written = plain((demo / name).read_text("utf-8")).replace(f" {options}<", f" --format {fmt}<")
            # Labels have the name of the file, so that an article can have several.
            assert expected == re.sub(rf"(tab[:-]){Path(name).stem}\b", r"\1reshuffle", written)
    refused = run(*COMPARE, "--format", "markdown", "-o", "mine.json", "-o", "mine.html").refusal()
    assert "--format markdown is for files whose names do not say their format, but mine.json does" in refused
    both = run(*COMPARE, "--format", "markdown", "-o", "mine.json", "-o", "-")
    assert both.out.startswith("**BLEU")
    assert json.loads((demo / "mine.json").read_text("utf-8"))["seed"] == 12345
    segments = ("score", "reference.txt", "tuned.txt", "--segments", "-o")
    for ending, start in ((".jsonl", "{"), (".tsv", "segment\t"), ("", "segment\t")):
        assert run(*segments, f"segments{ending}").code == 0
        assert (demo / f"segments{ending}").read_text("utf-8").startswith(start)


def test_one_command_writes_several_files(demo: Path, run: Any) -> None:
    files = {"out.json": "out.json", "out.html": "out.html", "out.csv": "out.pairs.csv", "report": "report"}
    options = [word for name in files for word in ("-o", name)]
    outcome = run(*COMPARE, *options, "-o", "-", "--methods")
    together = {name: plain((demo / file).read_text("utf-8")) for name, file in files.items()}
    assert (outcome.code, outcome.out) == (0, together["report"])
    for name, file in files.items():
        assert run(*COMPARE, "-o", name, *(["--methods"] if name == "report" else [])).code == 0
        alone = plain((demo / file).read_text("utf-8"))
        # HTML also has the command line.
        assert alone.replace(f"-o {name}<", "") == together[name].replace(
            f"{shlex.join([*options, '-o', '-', '--methods'])}<", ""
        )


def test_csv_has_a_file_for_systems_and_one_for_pairs(demo: Path, run: Any) -> None:
    command = (*COMPARE, "--all-pairs")
    expected = {name: run(*command, "--format", "csv", "--table", name).out for name in ("systems", "pairs")}
    assert expected["pairs"] == run(*command, "--format", "csv").out == run(*command, "--format", "csv", "-o", "-").out
    rows = list(csv.DictReader(io.StringIO(expected["pairs"])))
    assert [(row["baseline"], row["system"]) for row in rows] == [*combinations(SYSTEMS, 2)]
    assert rows[0]["pvalue"].startswith("0.1397")
    assert len(list(csv.DictReader(io.StringIO(expected["systems"])))) == 4
    (demo / "out.csv").write_text("kept")
    assert run(*command, "-o", "out.csv") == (0, "", "")
    for name, table in expected.items():
        assert table == (demo / f"out.{name}.csv").read_text("utf-8")
        assert run(*command, "--table", name, "-o", "one.csv").code == 0
        assert table == (demo / "one.csv").read_text("utf-8")
    assert (demo / "out.csv").read_text() == "kept"
    assert run(*command, "--format", "csv", "-o", "plain").code == 0
    assert (demo / "plain.systems").read_text("utf-8") == expected["systems"]
    # Scores without tests have one table.
    assert run("score", "reference.txt", "tuned.txt", "-o", "scores.csv").code == 0
    assert (demo / "scores.csv").read_text("utf-8").startswith("system,metric,score,")


def test_neither_file_of_csv_is_written_if_one_cannot_be(demo: Path, run: Any, monkeypatch: Any) -> None:
    for name in ("systems", "pairs"):
        (demo / f"out.{name}.csv").write_text("old")
    pieces = report.pieces

    def fails(result: Any, fmt: str, layout: Any) -> Any:
        if layout.table == "pairs":
            raise InputError("no")
        return pieces(result, fmt, layout)

    with monkeypatch.context() as patched:
        patched.setattr(output, "pieces", fails)
        assert run(*COMPARE, "-o", "out.csv").code == 2
    assert (demo / "out.pairs.csv").read_text() == "old"
    (demo / "out.pairs.csv").unlink()
    (demo / "out.pairs.csv").mkdir()
    assert "out.pairs.csv is not a file" in run(*COMPARE, "-o", "out.csv").refusal()
    assert (demo / "out.systems.csv").read_text() == "old"
    assert not list(demo.glob(".*"))
    # A table that is also an input is not overwritten.
    (demo / "in.pairs.csv").write_text((demo / "tuned.txt").read_text("utf-8"), "utf-8")
    files = ("reference.txt", "baseline.txt", "in.pairs.csv")
    assert "in.pairs.csv is also an input" in run("compare", *files, "--input-format", "text", "-o", "in.csv").refusal()


def test_a_report_is_written_atomically_and_keeps_the_files_permissions(demo: Path, run: Any) -> None:
    report = demo / "report.md"
    report.write_text("old")
    report.chmod(0o640)
    (demo / "link.md").symlink_to(report)
    outcome = run(*COMPARE, "--format", "markdown", "-o", "link.md")
    assert (outcome.code, outcome.out) == (0, "")
    assert report.read_text().startswith("**BLEU: 400 segments")
    assert stat.S_IMODE(report.stat().st_mode) == 0o640
    assert (demo / "link.md").is_symlink()
    assert not list(demo.glob(".*"))


def bash(command: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a line of bash. Its exit code is that of the first program of a pipe that fails."""
    line = command.replace("reshuffle ", f"{sys.executable} -m reshuffle ")
    shell, env = ["bash", "-o", "pipefail", "-c", line], {**os.environ, **environment}
    return subprocess.run(shell, capture_output=True, encoding="utf-8", check=False, cwd=folder, env=env)


SCORE = "reshuffle score reference.txt tuned.txt"
CLOSED = "standard output cannot be written: it is closed; use -o to write to a file\n"
FULL = pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")


@pytest.mark.parametrize(
    ("command", "blamed"),
    [
        pytest.param(f"{SCORE} > /dev/full", "standard output cannot be written: No space", marks=FULL),
        pytest.param(f"{SCORE} -o /dev/stdout > /dev/full", "standard output cannot be written: No space", marks=FULL),
        (f"{SCORE} -o /dev/fd/77", "/dev/fd/77 cannot be written: Bad file descriptor"),
        ("reshuffle score reference.txt - <&-", "standard input is closed"),
        (
            "mkdir a; cd a; rmdir ../a; reshuffle demo",
            "the current folder does not exist any more: change to another one",
        ),
        ("reshuffle --version >&-", CLOSED),
        ("reshuffle compare --help >&-", CLOSED),
        ("reshuffle demo --write new >&-", CLOSED),
    ],
)
def test_an_error_names_the_stream_that_is_full_closed_or_gone(demo: Path, command: str, blamed: str) -> None:
    done = bash(command, demo)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith(f"reshuffle: error: {blamed}")


def test_the_report_does_not_depend_on_standard_error(demo: Path, run: Any) -> None:
    # No file may get the descriptor of a closed stream: what is written to that stream would end up in the file.
    for closed in ("2>&-", "0<&- 2>&-"):
        assert bash(f"{SCORE} --segments -o segments.tsv {closed} 1>&-", demo).returncode == 0
        assert (demo / "segments.tsv").read_text().startswith("segment\tsystem\tBLEU\n1\ttuned\t")
    assert bash(f"{SCORE} 2>&-", demo).stdout == run(*SCORE.split()[1:]).out != ""
    assert bash("reshuffle compare reference.txt 2>&-", demo).returncode == 2


GATE = "reshuffle gate tuned.txt rules.txt --ref reference.txt -m ter --margin 0.1 -n 199"


def test_exit_codes_are_the_same_when_the_reader_closes_the_pipe(demo: Path) -> None:
    for command, code in (
        (f"{SCORE} --format json -o /dev/stdout | true", 0),
        ("reshuffle compare --help | true", 0),
        ("reshuffle explain --format markdown | head -n 1", 0),
        (f"{GATE} -o >(true)", 1),
        (f"{GATE} -o - -o gate.json --format json | true", 1),
        (f"reshuffle verify gate.json {GATE.partition(' ')[2]} --seed 2 | true", 1),
        ("reshuffle gate tuned.txt tuned.txt --ref reference.txt --rule superior --primary bleu -n 199 | true", 5),
        ("{ sleep 0.5; reshuffle score reference.txt nowhere.txt; } 2>&1 | true", 2),
    ):
        done = bash(command, demo)
        assert (done.returncode, done.stdout.count("\n") <= 1) == (code, True), (command, done.stderr)
        assert code or done.stderr == "" or done.stderr.startswith("Signature: ")
    assert (demo / "gate.json").stat().st_size > 1000  # files are written all the same


@pytest.mark.skipif(os.name == "nt", reason="/dev/stdout is POSIX")
def test_o_accepts_names_of_streams(demo: Path, run: Any) -> None:
    words = SCORE.split()[1:]
    expected = run(*words).out
    assert run(*words, "-o", "/dev/null", "-o", "/dev/stderr") == (0, "", expected)
    for redirection in ("-o /dev/fd/1 | cat", "-o >(cat)"):
        assert bash(f"{SCORE} {redirection}; wait", demo).stdout == expected, redirection
    (demo / "log").write_text("before\n")
    assert bash(f"{SCORE} -o /dev/stdout >> log", demo).returncode == 0
    assert (demo / "log").read_text("utf-8") == f"before\n{expected}"
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)


def test_output_is_utf_8_in_any_locale(demo: Path) -> None:
    (demo / "tuned.txt").rename(demo / "größer.txt")
    done = bash("reshuffle score reference.txt größer.txt", demo, PYTHONIOENCODING="latin-1")
    assert "\ngrößer " in done.stdout


@pytest.mark.parametrize("call", ["exists", "access", "open", "write", "close", "unlink", "replace", "chmod"])
def test_the_error_names_the_file_that_cannot_be_written(demo: Path, run: Any, monkeypatch: Any, call: str) -> None:
    # root is subject to no permissions, and file systems differ, so the system's refusal is simulated.
    target = demo / "report"
    target.write_text("old")

    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise OSError(errno.EROFS, "Read-only file system")

    def opened(path: Any, mode: str, **kwargs: Any) -> Any:
        stream = io.StringIO()
        Path(path).touch()
        setattr(stream, {"write": "writelines", "close": "close"}[call], refuse)
        return stream

    if call == "access":
        monkeypatch.setattr("os.access", lambda *args: False)
    elif call in ("write", "close"):
        monkeypatch.setattr("reshuffle.leftovers.open", opened, raising=False)
    elif call != "open":  # "exists": a folder without search permission
        monkeypatch.setattr(f"pathlib.Path.{'is_dir' if call == 'exists' else call}", refuse)
    if call in ("open", "unlink"):  # the error of a read-only file system for a missing file, too
        monkeypatch.setattr("reshuffle.leftovers.open", refuse, raising=False)
    outcome = run(*COMPARE, "-o", "report")
    reason = "Permission denied" if call == "access" else "Read-only file system"
    assert outcome == (2, "", f"reshuffle: error: report cannot be written: {reason}\n")
    monkeypatch.undo()
    assert target.read_text() == "old"
    assert not list(demo.glob(".*"))


def test_what_files_and_columns_are_called_is_printable_in_a_terminal(
    demo: Path, run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    hostile, shown = "a\x1b[31m\x9b\u202eb", r"a\u001b[31m\u009b\u202eb"
    (demo / "tuned.txt").rename(demo / f"{hostile}.txt")
    (demo / "table.tsv").write_text(f"{hostile}\tb\n1\t2\n", "utf-8")
    compare = ("compare", "reference.txt", "baseline.txt", f"{hostile}.txt", "-n", "9")
    for command, code in (
        (compare, 0),
        (("compare", "reference.txt", f"{hostile}2.txt", "larger.txt"), 2),
        (("compare", "reference.txt", "baseline.txt", f"table.tsv:{hostile}"), 2),
        (("compare", "reference.txt", "baseline.txt", "table.tsv:c"), 2),
        ((*compare, "--baseline", hostile.upper()), 2),
        (("compare", "reference.txt", "baseline.txt", f"{hostile}.txt", f"{hostile}.txt"), 0),
        (("score", "reference.txt", f"{hostile}.txt", "-m", f"bleu:{hostile}=1"), 2),
        (("explain", hostile), 2),
        ((f"{hostile}",), 2),
        (("compare", f"--{hostile}"), 2),
    ):
        found = run(*command)
        assert found.code == code, command
        assert found.err.startswith("reshuffle: error: ") == (code == 2)
        text = found.out + found.err
        assert {c for c in text if not c.isprintable()} <= {"\n"}, command
    names = {fmt: run(*compare, "--format", fmt).out for fmt in ("csv", "json")}
    assert all(hostile[-1] in text and "\u202e" in text for text in names.values())
    # On a terminal, formats for programs are printable too, and JSON has the same names.
    monkeypatch.setattr("reshuffle.cli.output.stdout_width", lambda: 100)
    monkeypatch.setenv("NO_COLOR", "1")
    for fmt in ("csv", "json", "markdown", "html"):
        text = run(*compare, "--format", fmt).out
        assert {c for c in text if not c.isprintable()} <= {"\n"}
        assert shown.replace("\\", r"\\" if fmt == "markdown" else "\\") in text.replace(r"\[", "[")
    assert json.loads(run(*compare, "--format", "json").out) == json.loads(names["json"])
    assert shown in run("score", "reference.txt", f"{hostile}.txt", "--segments").out
