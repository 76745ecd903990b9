"""The command line as used from a shell and by programs: inputs, options, reports and errors."""

import csv
import html
import io
import json
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import pytest

from reshuffle import compare, read_corpus
from reshuffle.cli.params import Option
from reshuffle.cli.root import cli
from told import assert_noted, assert_refused
from unnamed import unnamed

SYSTEMS = ["baseline", "tuned", "larger", "rules"]


COMPARE = ("compare", "reference.txt", *(f"{name}.txt" for name in SYSTEMS), "-n", "500")


def test_json_holds_what_the_api_returns(demo: Path, run: Any) -> None:
    corpus = read_corpus(["reference.txt"], [f"{name}.txt" for name in SYSTEMS])
    expected = compare(corpus.references, corpus.systems, n_resamples=500, test="bootstrap", include="parts")
    assert unnamed(run(*COMPARE, "--format", "json", "--test", "bootstrap").out) == expected.render("json")


def commands_of(group: click.Group) -> Iterator[click.Command]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield command
        if isinstance(command, click.Group):
            yield from commands_of(command)


def test_options_of_all_commands_are_refused_if_repeated() -> None:
    commands = [*commands_of(cli)]
    assert len(commands) > 20
    others = [param for command in commands for param in command.params]
    assert [param for param in others if not isinstance(param, click.Argument | Option)] == []


def test_a_baseline_is_named_by_system_or_by_file_and_comes_first(demo: Path, run: Any) -> None:
    for baseline in ("larger", "larger.txt"):
        rows = list(csv.DictReader(io.StringIO(run(*COMPARE, "--format", "csv", "--baseline", baseline).out)))
        assert [row["system"] for row in rows] == ["baseline", "tuned", "rules"]
        assert {row["baseline"] for row in rows} == {"larger"}


@pytest.fixture
def outputs(demo: Path) -> Path:
    """A folder with the systems' outputs, a hidden file and a folder, beside the demo's files."""
    folder = demo / "outputs"
    (folder / "more").mkdir(parents=True)
    for path in (*(f"{name}.txt" for name in SYSTEMS), ".hidden"):
        (folder / path).write_bytes((demo / path).read_bytes() if (demo / path).exists() else b"no output")
    return folder


ALL_FILES = [f"outputs/{name}.txt" for name in sorted(SYSTEMS)]
FILES = [f"{name}.txt" for name in SYSTEMS]


def test_notes_and_warnings_of_commands(outputs: Path, run: Any) -> None:
    """Which file is the baseline, what is probably no file of ids, and which files are taken for one."""
    for name, n in (("a.scores", 60), ("b.scores", 60), ("all.scores", 400), ("ter", 400)):
        (outputs.parent / name).write_text("".join(f"{len(name) * i % 7}\n" for i in range(n)))
    assert_noted("notes", run)


@pytest.fixture
def containers(outputs: Path, demo: Path) -> Path:
    """Folders, an XML file of WMT with the demo in documents of 8 segments, and manifests that name them or files."""
    lines = {name: (demo / f"{name}.txt").read_text("utf-8").splitlines() for name in ("reference", *SYSTEMS)}

    def text(name: str, first: int) -> str:
        own = "".join(f'<seg id="{n}">{html.escape(lines[name][first + n])}</seg>' for n in range(8))
        kind = '<ref translator="A">' if name == "reference" else f'<hyp system="{name}">'
        return f"{kind}{own}</{kind[1:4]}>"

    documents = "".join(f'<doc id="d{n}">{"".join(text(name, n) for name in lines)}</doc>' for n in range(0, 400, 8))
    (demo / "wmt.xml").write_text(f'<dataset id="news">{documents}</dataset>', "utf-8")
    (demo / "talks.txt").write_text("".join(f"{n // 8}\n" for n in range(400)), "utf-8")
    (demo / "scores").mkdir()
    for name, scores in (("a", "0.5 0.25 2 1"), ("b", "1 0.5 0.25 2")):
        (demo / f"scores/{name}.txt").write_text("\n".join(scores.split()))
    for name, systems, documents in (
        ("folder", "outputs", "talks.txt"),
        ("files", ALL_FILES, "talks.txt"),
        ("wmt", "wmt.xml", "wmt.xml"),
        ("files_of_wmt", FILES, "talks.txt"),
    ):
        table = {"references": "reference.txt", "systems": systems, "documents": documents}
        (demo / f"{name}.json").write_text(json.dumps({"sets": {"a": table}}))
    return demo


@pytest.mark.parametrize(
    ("container", "same"),
    [
        ("compare reference.txt outputs/", ["compare", "reference.txt", *ALL_FILES]),
        (
            "compare reference.txt outputs --baseline outputs/rules.txt",
            ["compare", "reference.txt", *ALL_FILES, "--baseline", "rules"],
        ),
        ("score reference.txt outputs", ["score", "reference.txt", *ALL_FILES]),
        ("compare --set a reference.txt outputs", ["compare", "--set", "a", "reference.txt", *ALL_FILES]),
        ("compare --manifest folder.json", ["compare", "--manifest", "files.json"]),
        ("compare --scores COMET scores", ["compare", "--scores", "COMET", "scores/a.txt", "scores/b.txt"]),
        (
            "study power reference.txt outputs --size 50 --simulations 2",
            ["study", "power", "reference.txt", *ALL_FILES, "--size", "50", "--simulations", "2"],
        ),
        ("compare wmt.xml wmt.xml", ["compare", "wmt.xml#A", *(f"wmt.xml#{name}" for name in SYSTEMS)]),
        ("score wmt.xml wmt.xml", ["score", "reference.txt", *FILES]),
        ("compare wmt.xml wmt.xml --docs wmt.xml", ["compare", "reference.txt", *FILES, "--docs", "talks.txt"]),
        ("compare --manifest wmt.json", ["compare", "--manifest", "files_of_wmt.json"]),
    ],
)
def test_a_folder_or_a_file_of_several_systems_stands_for_all_of_them(
    containers: Path, run: Any, container: str, same: list[str]
) -> None:
    few = ["-n", "50"] if same[0] != "score" else []
    found, expected = (run(*words, *few, "--format", "json") for words in (container.split(), same))
    # A note on the baseline, which another test checks.
    err, other = ([line for line in each.err.splitlines() if "by name" not in line] for each in (found, expected))
    assert (found.code, err) == (0, other)
    assert unnamed(found.out) == unnamed(expected.out)


def test_a_system_is_not_named_twice_by_its_file(containers: Path, run: Any) -> None:
    refusal = run("compare", "wmt.xml", "wmt.xml", "wmt.xml#tuned").refusal()
    assert "wmt.xml#tuned is given twice, by itself and by its folder or file: leave out one of them\n" in refusal


def test_ids_of_documents_without_texts_are_read_from_a_file_of_several_systems(containers: Path, run: Any) -> None:
    assert run("score", "wmt.xml", "wmt.xml", "--segments", "-o", "scores.tsv").code == 0
    scores = ["compare", "--scores", "BLEU", "scores.tsv", "-n", "50", "--format", "json", "--docs"]
    assert unnamed(run(*scores, "wmt.xml").out) == unnamed(run(*scores, "talks.txt").out)


@pytest.mark.parametrize(
    ("words", "number"),
    [
        ("{} --refs tuned.txt rules.txt", 3),
        ("--refs tuned.txt rules.txt --interval delta {}", 3),
        ("--refs tuned.txt --refs rules.txt --interval delta -- {}", 3),
        ("--ref tuned.txt --ref=larger.txt {} --ref rules.txt", 4),
        ("--ref tuned.txt {} --refs larger.txt rules.txt", 4),
        ("{} --refs tuned.txt larger.txt --ref rules.txt", 4),
        ("{} --refs=tuned.txt --refs=rules.txt --interval delta", 3),
        ("--refs=tuned.txt --interval delta {}", 2),
        ("--refs=tuned.txt -- {}", 2),
    ],
)
def test_references_are_given_by_refs_and_ref(demo: Path, run: Any, words: str, number: int) -> None:
    assert f"|nrefs:{number}|" in run("score", *words.format("reference.txt baseline.txt").split()).out


def test_the_same_seed_gives_the_same_bytes_on_any_number_of_threads(demo: Path, run: Any) -> None:
    one = run(*COMPARE, "--format", "json", "--workers", "1").out
    assert one == run(*COMPARE, "--format", "json", "--workers", "3").out
    assert one != run(*COMPARE, "--format", "json", "--seed", "1").out


def test_bad_input_gives_one_sentence_and_exit_code_2(outputs: Path, demo: Path, run: Any) -> None:
    (demo / "short.txt").write_text("one line\n")
    (demo / "empty.txt").touch()
    (demo / "table.tsv").write_text("ref\tsys\na b\ta c\n")
    (demo / "every/model").mkdir(parents=True)
    (demo / "every/model/a.txt").touch()
    assert run("score", "short.txt", "short.txt").code == 0  # one segment, which cannot be compared
    before = {path: path.read_bytes() for path in demo.rglob("*") if path.is_file()}
    assert_refused("errors_of_compare", run)
    assert "--tokenise" in run(*COMPARE, "--tokenise", "13a").refusal()  # click's words depend on its version
    assert before == {path: path.read_bytes() for path in demo.rglob("*") if path.is_file()}


def test_more_replicates_than_fit_in_memory_give_one_sentence_and_exit_code_3(demo: Path, run: Any) -> None:
    outcome = run(*COMPARE[:5], "-n", "9" * 15)
    assert (outcome.code, outcome.out, outcome.err.count("\n")) == (3, "", 1)
    assert outcome.err.startswith("reshuffle: error: not enough memory: cannot allocate ")


def test_the_demo_does_not_overwrite_its_files(tmp_path: Path, run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    outcome = run("demo", "--write", "deep/demo")
    assert outcome.code == 0
    command = outcome.out.splitlines()[-1].split()
    by_hand = run(*command[1:]).out
    assert by_hand == run("demo").out.split("\nTo repeat")[0]
    assert "exist already: choose another folder" in run("demo", "--write", "deep/demo").refusal()


def test_the_tour_shows_what_its_commands_print(tmp_path: Path, run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shown = run("demo", "--tour")
    assert (shown.code, shown.err, [*tmp_path.iterdir()]) == (0, "", [])
    assert Path.cwd() == tmp_path
    screens = re.split(r"^\d of 3: .*\n\n\$ ", shown.out, flags=re.MULTILINE)[1:]
    assert len(screens) == 3
    run("demo", "--write", "demo")
    for screen in screens:
        command, _, output = screen.partition("\n")
        assert output.startswith(run(*shlex.split(command)[1:]).out)


def test_on_a_terminal_a_key_continues_the_tour() -> None:
    pexpect = pytest.importorskip("pexpect")
    child = pexpect.spawn(sys.executable, ["-m", "reshuffle", "demo", "--tour"], encoding="utf-8", timeout=60)
    for number in (1, 2):
        child.expect_exact(f"{number} of 3:")
        child.expect_exact("Press any key for the next one.")
        child.send(" ")
    child.expect_exact("3 of 3:")
    child.expect(pexpect.EOF)
    assert "reshuffle demo --write demo" in child.before


def test_a_p_value_equal_to_the_level_is_significant(demo: Path, run: Any) -> None:
    # 1 - 0.95 is not 0.05 in floating point, but p = 1/20 at .95 and p = 1/10 at .9 must both be significant.
    for n, confidence, p in ((19, "0.95", "0.0500*"), (9, "0.9", "0.1000*"), (99, "0.99", "0.0100*")):
        # The smallest p of the default test is 2/(n + 1).
        for options in (("--test", "ar", "-n", str(n)), ("-n", str(2 * n + 1))):
            out = run(*COMPARE[:-2], *options, "--confidence", confidence).out
            assert p in out
            assert "too few for significance" not in out


def test_max_input_limits_the_decompressed_size(demo: Path, run: Any) -> None:
    import gzip

    (demo / "tuned.gz").write_bytes(gzip.compress((demo / "tuned.txt").read_bytes()))
    files = ("reference.txt", "tuned.gz")
    assert run("score", *files).out == run("score", *files, "--max-input", "1M").out != ""
    assert "tuned.gz is larger than 1,000 bytes when" in run("score", *files, "--max-input", "1KB").refusal()
    for args in (
        ("score", *files, "--docs", "tuned.gz", "--confidence", "0.9"),
        ("score", "--scores", "x", "tuned.gz"),
    ):
        assert "is larger than 2 KiB" in run(*args, "--max-input", "2K").err
    assert "--max-input: expected a size" in run("score", *files, "--max-input", "much").err


def test_columns_of_standard_input_are_files_and_not_options(demo: Path, run: Any, monkeypatch: Any) -> None:
    names = ["reference", "baseline", "tuned"]
    columns = [(demo / f"{name}.txt").read_text("utf-8").splitlines() for name in names]
    # click would take -#n for the option -n.
    table = "\n".join("\t".join(row) for row in [("ref", "n", "tuned"), *zip(*columns, strict=True)]) + "\n"
    for args, nrefs in (
        (("-#ref", "-#n", "-#tuned", "-n", "9", "--baseline", "-#tuned"), 1),
        (("-n", "9", "-#ref", "-#n", "-#tuned", "--baseline", "tuned", "--refs", "-#tuned", "-#n"), 3),
        (("-n", "9", "--baseline", "tuned", "--", "-#ref", "-#n", "-#tuned"), 1),
    ):
        monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(table.encode())))
        found = json.loads(run("compare", "--input-format", "tsv", "--format", "json", *args).out)
        (pair,) = found["comparisons"]
        assert (pair["baseline"], pair["system"]) == ("tuned", "n")
        assert f"nrefs:{nrefs}|" in found["signature"]


def test_a_file_that_looks_like_an_option_needs_its_folder(demo: Path, run: Any) -> None:
    (demo / "-new.txt").write_bytes((demo / "tuned.txt").read_bytes())
    command = ("compare", "reference.txt", "baseline.txt")
    assert "there is no option -n: for the file" not in run(*command, "-new.txt").err  # -n takes ew.txt
    (demo / "-d.txt").write_bytes((demo / "tuned.txt").read_bytes())
    assert "there is no option -d: for the file -d.txt write ./-d.txt" in run(*command, "-d.txt").refusal()
    assert run(*command, "./-d.txt", "-n", "9").code == 0
