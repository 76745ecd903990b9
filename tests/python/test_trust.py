"""Files that strangers look for before they depend on the package: they agree with it and with each other."""

import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import reshuffle
from benches.races import timeline
from benches.races.report import HEADER
from conftest import ROOT, parsed
from reshuffle import toml

PAPER = ROOT / "docs/paper/paper.md"
# Sections that the journal asks for, in its order. The authors say how AI was used, which it also asks, on submission.
SECTIONS = (
    "Summary", "Statement of need", "State of the field", "Software design", "Research impact statement",
    "Acknowledgements", "References",
)  # fmt: skip


def loaded(name: str) -> Any:
    """A YAML file."""
    yaml = pytest.importorskip("yaml")
    return yaml.safe_load((ROOT / name).read_text("utf-8"))


def test_the_citation_is_that_of_this_version() -> None:
    citation = loaded("CITATION.cff")
    assert {"cff-version", "message", "title", "authors"} <= citation.keys()
    assert citation["license"] == "MIT"
    preferred = citation["preferred-citation"]
    assert {"type", "title", "authors", "year"} <= preferred.keys()
    assert citation["version"] == preferred["version"] == reshuffle.__version__
    assert "reshuffle explain NAME" in citation["message"]
    urls = {each["url"].rpartition("/")[2] for each in citation["references"]}
    assert urls == {"W05-0908", "W04-3250"}


def test_the_conda_recipe_has_the_requirements_of_the_package() -> None:
    recipe = loaded(".ci/conda/recipe.yaml")
    project = toml.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    needed = {re.sub(r"[\s\"']", "", each.partition(";")[0]) for each in project["project"]["dependencies"]}
    run = {each.replace(" ", "") for each in recipe["requirements"]["run"]}
    assert needed == {each for each in run if not each.startswith("python>")}
    assert recipe["context"]["version"] == reshuffle.__version__
    assert recipe["context"]["python_min"] == project["project"]["requires-python"].removeprefix(">=")
    assert project["build-system"]["requires"] == ["maturin>=1.9.4,<2"]
    assert "maturin >=1.9.4,<2" in recipe["requirements"]["host"]
    for line in recipe["tests"][1]["script"]:
        check_command(line)


def test_pre_commit_runs_what_ci_checks() -> None:
    (local,) = loaded(".pre-commit-config.yaml")["repos"]
    checked = (ROOT / ".ci/run").read_text("utf-8")
    for hook in local["hooks"]:
        assert hook["entry"] in checked, hook["id"]


def test_the_paper_has_the_form_of_the_journal() -> None:
    _, head, text = PAPER.read_text("utf-8").split("---\n", 2)
    assert {"title:", "tags:", "authors:", "affiliations:", "date:", "bibliography:"} <= set(
        re.findall(r"^\w+:", head, re.M)
    )
    assert tuple(re.findall(r"^# (.+)$", text, re.M)) == SECTIONS
    assert 750 <= len(text.split()) <= 1750
    entries = set(re.findall(r"^@\w+\{([^,]+),", PAPER.with_name("paper.bib").read_text("utf-8"), re.M))
    assert set(re.findall(r"@([\w-]+)", text)) == entries


def table(page: str, header: str) -> list[list[str]]:
    """The rows of the table of a page whose first line begins so."""
    _, _, rest = (ROOT / page).read_text("utf-8").partition(f"\n| {header}")
    rows = rest.partition("\n\n")[0].splitlines()[2:]
    assert rows, (page, header)
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]


@pytest.mark.parametrize("page", ["README.md", "docs/paper/paper.md"])
def test_claims_of_speed_are_those_of_the_last_records(page: str) -> None:
    assert table(page, "task | sacreBLEU 2.6.0 |") == [list(row) for row in timeline.claims(timeline.records())]


# What each row of the paper's table of error rates rests on: a row of the state of the field.
RATES = {
    "sacreBLEU, `--paired-ar`": "sacreBLEU 2.6, `--paired-ar`",
    "sacreBLEU, `--paired-bs`": "sacreBLEU 2.6, `--paired-bs`",
    "Koehn's share of draws won": "Koehn 2004",
    "MultEval, three runs": "MultEval 0.5.1",
    "mt-metrics-eval, if metrics favour some systems": "mt-metrics-eval",
}


def test_the_error_rates_of_the_paper_are_those_of_the_pages() -> None:
    field = {tool: " ".join(cells) for tool, *cells in table("docs/field.md", "tool | what it computes")}
    *others, (ours, _, rejects) = table("docs/paper/paper.md", "tool | test | rejects")
    highest = []
    for tool, _, claimed in others:
        said = field[RATES[tool]].partition("[rejects]")[2].partition(";" if ";" not in claimed else "; no")[0]
        assert re.findall(r"\.\d+", claimed) == re.findall(r"\s(\.\d+)", said), tool
        highest.append(max(map(float, re.findall(r"\.\d+", claimed))) / 0.05)
    assert len(others) == len(RATES)
    numbers = "zero one two three four five six seven eight nine".split()
    lowest, most = (numbers[round(each)] for each in (min(highest), max(highest)))
    assert f"{lowest} to {most} times as often as they promise" in PAPER.read_text("utf-8")
    assert ours.startswith("reshuffle, the default")
    usual, kink = rejects.split("; ")
    (study,) = re.findall(r"all 29 rows of the study.*\| ([\d.]+)–([\d.]+) \|$", page("docs/evidence/size.md"), re.M)
    assert usual == " to ".join(f"{float(rate):.2f}"[1:] for rate in study)
    assert re.fullmatch(r"up to (\.\d\d) near the kink of the brevity penalty", kink)
    assert f"`bootstrap-both` rejects {kink.partition(' near')[0]}." in page("docs/evidence/kink.md")


def page(name: str) -> str:
    """The text of a page."""
    return (ROOT / name).read_text("utf-8")


def test_the_paper_counts_the_claims_of_papers_that_hold() -> None:
    rows = re.findall(r"\.md\) \| (\d+) \| (\d+) \| (\d+) \|", page("docs/papers/index.md"))
    hold, in_part, do_not = map(sum, zip(*(map(int, row) for row in rows), strict=True))
    text = PAPER.read_text("utf-8")
    assert f"of {hold + in_part + do_not} claims, {hold} hold, {in_part} hold in part, and {do_not} do not" in text


def test_the_paper_compiles() -> None:
    pandoc = shutil.which("pandoc")
    if pandoc is None:
        pytest.skip("pandoc is not installed")
    command = [pandoc, PAPER.name, "--citeproc", "--fail-if-warnings", "-t", "html"]
    done = subprocess.run(command, cwd=PAPER.parent, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert re.search(r"Riezler\s+and\s+Maxwell\s+2005", done.stdout)  # the citation, not its key


def offered() -> Iterator[str]:
    """The commands on the reviewers' page."""
    for code in re.findall(r"`([^`]+)`", (ROOT / "docs/reviewers.md").read_text("utf-8")):
        if re.match(r"(RESHUFFLE_SIMD=\w+ |time )?(reshuffle|python -m|\.ci/run)\b", code):
            yield code


def check_command(line: str) -> None:
    """Fail if a command, an option or a file in it does not exist."""
    line = re.sub(r"^(RESHUFFLE_SIMD=\w+|time) ", "", line)
    if line.startswith("reshuffle "):
        parsed(line)
        return
    words = [word for part in line.split(" && ") for word in shlex.split(part)]
    for word in words:
        if word.startswith(("tests/", ".ci/")):
            assert (ROOT / word).exists(), line
    if words[:2] == ["python", "-m"]:
        module = ROOT / "/".join(words[2].split("."))
        assert not words[2].startswith("benches") or module.is_dir() or module.with_suffix(".py").is_file(), line


def test_every_command_on_the_reviewers_page_exists() -> None:
    """Files, commands and options, also those of programs that measure."""
    from benches.races.__main__ import parse as races
    from benches.simulations.size_power import parse as sizes

    programs: Mapping[str, Any] = {"benches.races": races, "benches.simulations.size_power": sizes}
    commands = list(offered())
    assert len(commands) > 15
    seen = set()
    for line in commands:
        check_command(line)
        words = shlex.split(line)
        if words[:2] == ["python", "-m"] and words[2] in programs:
            programs[words[2]](words[3:])  # exits if it cannot be parsed
            seen.add(words[2])
    assert seen == set(programs)


def test_the_page_of_records_is_what_the_records_give() -> None:
    found = timeline.records()
    assert timeline.PAGE.read_text("utf-8") == timeline.page(found), "run: python -m benches.races.timeline"
    assert len([record for record in found if record.races]) >= 14
    assert timeline.FIGURE.stat().st_size < 50_000


def test_what_became_slower_is_found(tmp_path: Path) -> None:
    header = f"| {' | '.join(HEADER)} |\n| --- | --- | --- | ---: | ---: | ---: | ---: | --- |\n"
    found = []
    for day, (theirs, ours, speed) in enumerate([("2.00 s", "10.0 ms", "200×"), ("2.10 s", "15.0 ms", "140×")], 1):
        rows = f"| ar | one pair | other | {theirs} | | | 1.0× | |\n|  |  | reshuffle | {ours} | | | {speed} | |\n"
        file = tmp_path / f"2026-01-0{day}.md"
        file.write_text(f"# A record\n\n- machine: M\n- command: `c`\n\n{header}{rows}", "utf-8")
        found.append(timeline.read(file))
    assert "| ar: one pair | reshuffle | 10.0 ms | 15.0 ms | 1.50× | 200×, then 140× |" in timeline.page(found)
    assert list(timeline.repeated(found[:1])) == []
