"""``reshuffle show`` and ``verify``: saved results of every kind, as the commands that computed them showed them."""

import gzip
import hashlib
import json
import os
import re
import shutil
import threading
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT
from reshuffle import read_json
from reshuffle.cli.main import main
from reshuffle.data.demo import write_demo
from told import assert_refused

TEXTS = "reference.txt baseline.txt tuned.txt larger.txt"
KINDS = {
    "comparison": f"compare {TEXTS} -m bleu chrf -n 100",
    "all-pairs": f"compare {TEXTS} --all-pairs -n 100",
    "texts": f"compare {TEXTS} --include texts -n 100",
    "sets": f"compare --set one {TEXTS} --set two {TEXTS} -n 100",
    "scores": f"score {TEXTS} -m bleu ter",
    "runs": "runs --refs reference.txt --baseline baseline.txt tuned.txt --system new larger.txt rules.txt -n 100",
    "study": f"study type1 {TEXTS} --simulations 4 -n 40",
}
MOST_FIGURES = "reshuffle.report.studies.page.MAX_FIGURES"
READABLE = {"text": "as.txt", "markdown": "as.md", "latex": "as.tex", "typst": "as.typ", "html": "as.html"}
# The command line in a page, and its button.
COMMAND = re.compile(r'<div class="copied">\s*<h3 id="command-title">.*?</div>\s*', re.DOTALL)


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's files, and the result of each kind in a folder of its own."""
    folder = tmp_path_factory.mktemp("saved")
    write_demo(str(folder))
    (folder / "names.tsv").write_text("tuned\tTuned on news\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(MOST_FIGURES, 1)
        for kind, command in KINDS.items():
            (folder / kind).mkdir()
            outputs = [f"{kind}/{name}" for name in ("as.json", *READABLE.values())]
            with pytest.raises(SystemExit) as stopped:
                main([*command.split(), *(word for name in outputs for word in ("-o", name))])
            assert stopped.value.code == 0
    return folder


@pytest.fixture(autouse=True)
def inside(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands run in the folder of the results, and write one figure into the page of a study."""
    monkeypatch.chdir(saved)
    monkeypatch.setattr(MOST_FIGURES, 1)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("source", ["as.json", "as.html"])
def test_every_format_is_that_of_the_command(saved: Path, run: Any, kind: str, source: str) -> None:
    formats = {**READABLE, "json": "as.json"}
    if source == "as.html":  # holds the same JSON
        formats = {fmt: formats[fmt] for fmt in ("text", "json")}
    for fmt, name in formats.items():
        expected = (saved / kind / name).read_text("utf-8")
        if fmt == "html":
            assert COMMAND.search(expected)
            expected = COMMAND.sub("", expected)
        # In files, labels have the name of the file.
        expected = re.sub("(tab[:-])as", r"\1reshuffle", expected) if fmt in ("latex", "typst") else expected
        assert run("show", f"{kind}/{source}", "--format", fmt) == (0, expected, "")


@pytest.mark.parametrize("kind", KINDS)
def test_csv_is_that_of_the_command_and_a_file_has_every_table(saved: Path, run: Any, kind: str) -> None:
    of_command = KINDS[kind].replace(" --include texts", "").split()
    assert run("show", f"{kind}/as.json", "--format", "csv")[:2] == run(*of_command, "--format", "csv")[:2]
    assert run("show", f"{kind}/as.json", "-o", f"{kind}/all.csv") == (0, "", "")
    found = {path.name.split(".")[1]: path.read_text("utf-8") for path in (saved / kind).glob("all.*")}
    if kind == "scores":
        assert list(found) == ["csv"]
        return
    assert len(found) > 1
    for table, content in found.items():
        assert run("show", f"{kind}/as.json", "--format", "csv", "--table", table).out == content


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("comparison", "--pairs"),
        ("comparison", "--no-pairs --digits 4 --names names.tsv"),
        ("comparison", "--methods"),
        ("all-pairs", "--triangle"),
        ("sets", "--names names.tsv --pairs"),
        ("scores", "--digits 1"),
        ("runs", "--full"),
        ("runs", "--methods"),
    ],
)
def test_options_of_reports_are_those_of_the_command(run: Any, kind: str, options: str) -> None:
    found = run("show", f"{kind}/as.json", *options.split())
    assert found[:2] == run(*KINDS[kind].split(), *options.split())[:2]
    assert found.out != run("show", f"{kind}/as.json").out


@pytest.mark.parametrize("fmt", ["json", "csv"])
def test_a_test_set_is_shown_alone(run: Any, fmt: str) -> None:
    words = ("show", "sets/as.json", "--set", "two")
    sets: Any = read_json("sets/as.json")
    assert run(*words, "--format", fmt).out == sets["two"].render(fmt)
    assert run(*words).out.startswith("BLEU: 400 segments, 1 reference, 3 systems\n")


def test_a_triangle_is_of_the_systems_that_all_test_sets_have(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reshuffle.report.layout.MAX_TRIANGLE", 3)
    sets = f"--set one {TEXTS} rules.txt --set two {TEXTS}"
    words = f"compare {sets} --all-pairs --triangle --no-pairs --missing-systems drop -n 9 -o triangle.json"
    assert run(*words.split()).code == 0
    found = run("show", "triangle.json", "--triangle", "--no-pairs")
    assert (found.code, found.out.count("by how much the system")) == (0, 3)


def test_the_guide_names_the_commands_whose_results_are_shown(run: Any) -> None:
    shown = " ".join(run("show", "--help").out.split())
    names = re.findall(r"\w+", shown.partition("that reshuffle ")[2].partition(" wrote;")[0])
    page = " ".join((ROOT / "docs/guide/reports.md").read_text("utf-8").split())
    listed = page.partition("It reads the results of ")[2].partition(". ")[0]
    assert re.findall(r"`(\w+)`", listed) == [name for name in names if name != "or"]


def test_notes_name_flags_and_standard_input_is_read(saved: Path, run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with (saved / "comparison/as.json").open() as file:
        monkeypatch.setattr("sys.stdin", file)
        shown = run("show", "-", "--no-pairs").out
        assert "For the differences, intervals and p of all" in " ".join(shown.split())


def test_what_cannot_be_shown_or_run_again_is_refused_in_a_sentence(saved: Path, run: Any) -> None:
    (saved / "other.tsv").write_text("tunde\tTuned on news\n")
    (saved / "lines.jsonl").write_text('{"correct": 1}\n' * 2)
    result = (saved / "comparison/as.json").read_text("utf-8")
    (saved / "changed.json").write_text(result.replace('"alpha": 0.05', '"alpha": "low"'), "utf-8")
    (saved / "nameless.json").write_text(nameless(saved / "comparison/as.json"), "utf-8")
    page = (saved / "comparison/as.html").read_bytes()
    (saved / "cut.html").write_bytes(page[: page.index(b'id="result"') + 1000])
    before = {path: path.read_bytes() for path in saved.rglob("*") if path.is_file()}
    assert_refused("errors_of_show", run)
    assert {path: path.read_bytes() for path in saved.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_command_gives_the_same_bytes(saved: Path, run: Any, kind: str) -> None:
    words = KINDS[kind].split()
    signature = json.loads((saved / kind / "as.json").read_text("utf-8"))["signature"]
    for source in ("as.json", "as.html"):
        found = run("verify", f"{kind}/{source}", *words, "--workers", "1")
        assert found[:2] == (0, f"same bytes: {signature}\n")
    changed = (
        (saved / kind / "as.json").read_text("utf-8").replace('"higher_is_better": true', '"higher_is_better": false')
    )
    (saved / "changed.json").write_text(changed, "utf-8")
    found = run("verify", "changed.json", *words)
    assert found.code == 1
    assert "metrics[0].higher_is_better: False → True\n" in found.out


@pytest.mark.parametrize("kind", KINDS)
def test_results_have_the_digests_of_their_files(saved: Path, run: Any, kind: str) -> None:
    names = dict.fromkeys(word for word in KINDS[kind].split() if word.endswith(".txt"))
    expected = [
        {"name": name, "size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        for name, content in ((name, (saved / name).read_bytes()) for name in names)
    ]
    assert json.loads((saved / kind / "as.json").read_text("utf-8"))["inputs"] == expected
    for source in ("as.json", "as.html"):
        said = f"same files: {', '.join(names)}; add the command to compute the result again\n"
        assert run("verify", f"{kind}/{source}") == (0, said, "")
    in_folder = "".join(f"{kind}/as.{ending}:\n{said}" for ending in ("html", "json"))
    assert run("verify", kind) == (0, in_folder, "")


def test_a_folder_of_results_is_verified_to_its_end(saved: Path, run: Any, tmp_path: Path) -> None:
    kind = next(iter(KINDS))
    for name, content in (("a", '{"schema": "no"}'), ("b", (saved / kind / "as.json").read_text()), ("c", '{"a": 1}')):
        (tmp_path / f"{name}.json").write_text(content, "utf-8")
    code, out, err = run("verify", str(tmp_path))
    assert (code, out.count("same files: "), "c.json" in out) == (2, 1, False)
    assert "a.json" in err
    assert "a command computes one result" in run("verify", str(tmp_path), *KINDS[kind].split()).refusal()
    for name in "ab":
        (tmp_path / f"{name}.json").unlink()
    assert "has no results" in run("verify", str(tmp_path)).refusal()


def nameless(source: Path) -> str:
    """A result of an earlier version, which had no digests."""
    result = json.loads(source.read_text("utf-8"))
    del result["inputs"]
    return json.dumps(result)


def test_a_result_without_digests_or_with_files_that_only_one_was_read_from_is_verified(saved: Path, run: Any) -> None:
    (saved / "nameless.json").write_text(nameless(saved / "scores/as.json"), "utf-8")
    found = run("verify", "nameless.json", *KINDS["scores"].split())
    assert (found.code, found.out[:12]) == (0, "same bytes: ")
    shutil.copy(saved / "tuned.txt", saved / "another.txt")
    found = run("verify", "comparison/as.json", *KINDS["comparison"].split(), "--", "another.txt")
    assert (found.code, found.out.splitlines()[0]) == (1, "another.txt: not read before")
    assert "inputs[" not in found.out


def test_changed_files_are_named_before_anything_is_computed(
    saved: Path, tmp_path: Path, run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = KINDS["comparison"].split()
    for name in TEXTS.split():
        shutil.copy(saved / name, tmp_path)
    monkeypatch.chdir(tmp_path)
    source = str(saved / "comparison/as.json")
    same = run("verify", source, *words)
    with Path("tuned.txt").open("a") as file:
        file.write("\n")
    changed = run("verify", source).out
    now = hashlib.sha256(Path("tuned.txt").read_bytes()).hexdigest()
    assert changed.startswith("tuned.txt has changed since: 25,333 bytes, SHA-256 ")
    assert now[:16] in changed
    assert run("verify", source, *words) == (2, changed, run(*words).err)  # a line too many: nothing can be computed
    for name in TEXTS.split():
        (saved / name).with_suffix(".gz").write_bytes(gzip.compress((saved / name).read_bytes()))
    others = [str(saved / word.replace(".txt", ".gz")) if word.endswith(".txt") else word for word in words]
    found = run("verify", source, *others)
    assert found.code == 1
    assert found.out.splitlines()[0].startswith("reference.gz in place of reference.txt: ")
    assert found.out.splitlines()[-1].startswith("same values from other files: BLEU")
    elsewhere = [str(saved / word) if word.endswith(".txt") else word for word in words]
    assert run("verify", source, *elsewhere) == same == (0, same.out, "")
    Path("tuned.txt").unlink()
    missing = run("verify", source)
    assert (missing.code, missing.err) == (1, "")
    assert missing.out.startswith("Files are looked up in the current folder, and some are not there: go to")
    assert missing.out.endswith("\ntuned.txt: no such file here\n")
    assert missing.out.count("\n") == 2


def test_what_can_be_read_only_once_has_no_digest_and_is_not_called_the_same(
    saved: Path, run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(saved / "pipe.txt")
    writer = threading.Thread(target=lambda: (saved / "pipe.txt").write_bytes((saved / "larger.txt").read_bytes()))
    writer.start()
    with (saved / "tuned.txt").open() as file:
        monkeypatch.setattr("sys.stdin", file)
        assert run("score", "reference.txt", "-", "pipe.txt", "-o", "once.json").code == 0
    writer.join()
    inputs = read_json("once.json").inputs
    assert [(each.name, each.sha256 is None) for each in inputs] == [("reference.txt", False), ("-", True), ("-", True)]
    found = run("verify", "once.json")
    assert found.out == (
        "-: not compared (standard input or a pipe)\n"
        "same files: reference.txt; add the command to compute the result again\n"
    )
    document = json.loads((saved / "once.json").read_text("utf-8"))
    document["inputs"] = document["inputs"][1:]
    (saved / "stdin.json").write_text(json.dumps(document), "utf-8")
    found = run("verify", "stdin.json")
    assert (found.code, found.out) == (2, "")
    assert "RESULT was not read from files that can be compared: expected a command after it" in found.err


def test_absolute_paths_are_compared_from_their_common_folder(saved: Path, run: Any) -> None:
    (saved / "new").mkdir()
    shutil.copy(saved / "larger.txt", saved / "new/reference.txt")
    references = [str(saved / name) for name in ("reference.txt", "new/reference.txt")]
    assert run("score", f"/{references[0]}", "tuned.txt", "-o", "absolute.json", "--refs", references[1]).code == 0
    assert run("verify", "absolute.json").out == (
        "same files: reference.txt, new/reference.txt, tuned.txt; add the command to compute the result again\n"
    )
    assert run("score", "reference.txt", "tuned.txt", "-o", "mixed.json", "--refs", references[1]).code == 0
    # Beside others, they are named from the current folder.
    assert run("verify", "mixed.json").out == run("verify", "absolute.json").out


def test_what_differs_is_named_with_its_key_and_by_how_much(saved: Path, run: Any) -> None:
    result = json.loads((saved / "comparison/as.json").read_text("utf-8"))
    result["comparisons"][0]["test"]["pvalue"] += 0.25
    result["scores"][1]["draws"]["counts"][0] += 2
    result["scores"][1]["draws"]["counts"][1] += 1
    result["signature"] = result["signature"].replace("|n:100|", "|n:200|")
    (saved / "changed.json").write_text(json.dumps(result), "utf-8")
    outcome = run("verify", "changed.json", *KINDS["comparison"].split())
    heading, *rows = outcome.out.splitlines()
    assert (outcome.code, outcome.err) == (1, "")
    assert heading == "3 values differ (saved → now); all verdicts are the same:"
    assert rows[0] == "  signature: 'n:200' → 'n:100'"
    assert re.fullmatch(r"  comparisons\[0\]\.test\.pvalue: [\d.]+ → [\d.]+ \(-0\.25\)", rows[1])
    # Histograms follow from the rest.
    assert rows[2] == "  scores[1].draws.counts: 2 of 64 numbers, by at most 2"


def test_other_texts_are_a_difference_and_long_lists_are_cut(saved: Path, run: Any) -> None:
    outcome = run("verify", "comparison/as.json", *KINDS["comparison"].replace("larger", "rules").split())
    files, first, *verdicts, heading = outcome.out.splitlines()[:7]
    rows = outcome.out.splitlines()[7:]
    assert files.startswith("rules.txt in place of larger.txt: 24,426 bytes, SHA-256 ")
    assert (outcome.code, first) == (1, "4 verdicts differ (saved → now):")
    assert verdicts[0] == "  larger against baseline under BLEU: 'better' → missing"
    assert verdicts[-1] == "  rules against baseline under chrF2: missing → 'worse'"
    places = [row.split(":")[0].split(".")[-1] for row in rows[:-1]]
    assert [*dict.fromkeys(places)][:2] == ["score", "statistic"]
    assert not {"counts", "width", "seed"} & {*places}
    assert len(rows) == 21
    assert rows[-1] == f"  … and {int(heading.split()[0]) - 20} others"


def test_verify_writes_nothing_and_takes_the_line_of_a_page(saved: Path, run: Any) -> None:
    before = {path: path.read_bytes() for path in saved.rglob("*") if path.is_file()}
    reports = "-o comparison/as.json -o new.csv --format csv --table pairs --pairs --methods --names none.tsv"
    line = f"reshuffle {KINDS['comparison']} {reports}".split()
    assert run("verify", "comparison/as.html", *line)[::2] == (0, "")
    assert run("verify", "study/as.json", *KINDS["study"].split(), "--resume", "new.checkpoint")[::2] == (0, "")
    assert {path: path.read_bytes() for path in saved.rglob("*") if path.is_file()} == before


def test_one_list_of_names_serves_all_tables(demo: Path, run: Any) -> None:
    """Names of other systems are ignored and not saved, if there is one of these."""
    words = "compare reference.txt tuned.txt larger.txt -n 99 --names names.tsv".split()
    Path("names.tsv").write_text("gone\tOurs\ntuned\tOurs\n", "utf-8")
    assert "Ours" in run(*words, "-o", "-", "-o", "r.json").out
    assert json.loads(Path("r.json").read_text("utf-8"))["display_names"] == {"tuned": "Ours"}
    Path("names.tsv").write_text("gone\tx\nother\ty\n", "utf-8")
    assert "no name of the 2 is for one of the systems" in run(*words).refusal()


def test_a_saved_result_keeps_the_display_names(demo: Path, run: Any) -> None:
    Path("names.tsv").write_text("tuned\tOurs\nlarger\tTheirs\n", "utf-8")
    words = "compare reference.txt tuned.txt larger.txt -n 99 --names names.tsv".split()
    shown = run(*words).out
    assert "Ours" in shown
    assert run(*words, "-o", "r.json", "-o", "r.html").code == 0
    assert json.loads(Path("r.json").read_text("utf-8"))["systems"] == ["tuned", "larger"]
    for file in ("r.json", "r.html"):
        assert run("show", file).out.splitlines()[:6] == shown.splitlines()[:6]
        assert run("show", file, "--format", "csv").out.splitlines()[1].startswith("larger,tuned,")
    for named in (words, words[:-2]):
        assert run("verify", "r.json", *named).out.startswith("same bytes")
    # Another file of names replaces all of them.
    Path("others.tsv").write_text("tuned\tMine\n", "utf-8")
    others = run("show", "r.json", "--names", "others.tsv").out
    assert "Mine" in others
    assert "Theirs" not in others
    result: Any = read_json("r.json")
    assert "Ours" in result.render("markdown")
    assert "Mine" in result.render("markdown", names={"tuned": "Mine"})
