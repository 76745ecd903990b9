"""Documentation: README, docs, docstrings and stubs run, and the output that they show is the actual output.

After an intended change of output, run this file with ``RESHUFFLE_UPDATE_DOCS=1`` and read the diff.
"""

import doctest
import importlib
import importlib.util
import inspect
import os
import pkgutil
import re
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import reshuffle
from conftest import ROOT, Outcome
from reshuffle.data.demo import write_demo_judgments
from reshuffle.inference.intervals import INTERVALS
from reshuffle.inference.tests import TESTS

# The paper has the form of a journal.
PAGES = [ROOT / "README.md", *sorted(p for p in (ROOT / "docs").rglob("*.md") if p.parent.name != "paper")]


def pages_with(part: str) -> list[Path]:
    return [page for page in PAGES if part in page.read_text("utf-8")]


def name_of(page: Path) -> str:
    """The page from the folder of the repository on."""
    return page.relative_to(ROOT).as_posix()


FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL
MODULES = ["reshuffle", *(m.name for m in pkgutil.walk_packages(reshuffle.__path__, "reshuffle."))]
SECTION = re.compile(r"(W\d\d-\d{4})\W{0,3}(?:\([^)]*\))?\W*section (\d[\d.]*\d|\d)")
# Evaluation harnesses that are not required for the tests, and the module that an adapter needs.
HARNESSES = {"lm_eval": "lm_eval.api.metrics", "lighteval": "lighteval.metrics"}
# Libraries that an adapter imports.
HARNESSES |= {"evaluate": "evaluate", "inspect_ai": "inspect_ai.scorer"}
UPDATE = "RESHUFFLE_UPDATE_DOCS" in os.environ
# The end of a command in a session that shows its exit code.
EXIT_CODE = "; echo $?"


def has_examples(name: str) -> bool:
    """Whether the source of a module has doctests."""
    spec = importlib.util.find_spec(name)
    return spec is not None and spec.origin is not None and ">>> " in Path(spec.origin).read_text("utf-8")


# Spellings that are not those of CONTRIBUTING.md. No title of a paper that is cited has one, but for the one below.
OTHER_SPELLING = re.compile(
    r"(?i)\b(?:un)?(?:(?:linear|maxim|minim|normal|optim|organ|penal|random|recogn|standard|student|summar|vector)is"
    r"(?:e|ing|ation)|behavior|favor(?!it)|neighbor|labeled|labeling|modeled|centered|analyz|misspelt)"
)


def test_spelling_is_british_with_ize() -> None:
    sources = [path for path in (ROOT / "python").rglob("*.py") if "compat" not in path.parts]
    found = {
        name_of(path): OTHER_SPELLING.findall(path.read_text("utf-8").replace("Behavioral Sciences", ""))
        for path in [*PAGES, *sources]
    }
    assert {name: words for name, words in found.items() if words} == {}


@pytest.mark.parametrize("name", [m for m in MODULES if not m.endswith(("_core", "__main__")) and has_examples(m)])
def test_examples_in_docstrings_run(name: str) -> None:
    for harness, module in HARNESSES.items():
        if f".compat.{harness}" in name:
            pytest.importorskip(module)
    failed, _ = doctest.testmod(importlib.import_module(name), optionflags=FLAGS)
    assert failed == 0


def test_examples_in_the_stub_run() -> None:
    stub = Path(reshuffle.__file__).with_name("_core.pyi")
    examples = doctest.DocTestParser().get_doctest(stub.read_text("utf-8"), {}, "_core.pyi", str(stub), 0)
    assert examples.examples
    assert doctest.DocTestRunner(optionflags=FLAGS).run(examples).failed == 0


@pytest.mark.parametrize("page", pages_with(">>> "), ids=name_of)
def test_examples_in_pages_run(page: Path, demo_files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(demo_files, "demo")
    bring_examples(page)
    if "votes/" in page.read_text("utf-8"):
        write_demo_judgments("votes")
    failed, _ = doctest.testfile(str(page), module_relative=False, optionflags=FLAGS, encoding="utf-8")
    assert failed == 0


def bring_examples(page: Path) -> None:
    """Copy the folder of examples beside a page, if there is one, into the current folder."""
    if (page.parent / "examples").is_dir():
        shutil.copytree(page.parent / "examples", "examples")


CONSOLE = re.compile(r"```console\n(.*?)```", re.DOTALL)
# Sessions whose simulations take ten seconds of two processors each.
LONG = re.compile(r"^\$ reshuffle (plan|study exchange) ", re.MULTILINE)


@pytest.mark.parametrize(
    ("page", "long"),
    [
        *(pytest.param(page, UPDATE, id=name_of(page)) for page in pages_with("```console\n")),
        *(
            pytest.param(page, True, id=f"{name_of(page)}, long", marks=pytest.mark.slow)
            for page in PAGES
            if any(LONG.search(session) for session in CONSOLE.findall(page.read_text("utf-8")))
        ),
    ],
)
def test_sessions_in_pages_show_the_actual_output(
    page: Path,
    long: bool,
    demo_files: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    run: Callable[..., Outcome],
) -> None:
    monkeypatch.chdir(tmp_path)
    text = page.read_text("utf-8")
    if "demo --write demo\n" not in text:  # the files of a page that does not write them itself
        shutil.copytree(demo_files, "demo")
    bring_examples(page)

    def replay(session: re.Match[str]) -> str:
        if LONG.search(session[0]) and not long:
            return session[0]
        shown = []
        for line in session[1].splitlines():
            if line.startswith("$ "):
                command, code, _ = line[2:].partition(EXIT_CODE)
                program, *arguments = shlex.split(command)
                outcome = run(*arguments)
                assert program == "reshuffle"
                assert code or outcome.code == 0
                shown.append(f"{line}\n{outcome.out}" + (f"{outcome.code}\n" if code else ""))
        return f"```console\n{''.join(shown)}```"

    replayed = CONSOLE.sub(replay, text)
    if UPDATE:
        page.write_text(replayed, "utf-8")
    assert replayed == text or UPDATE


def test_cited_sections_of_papers_are_correct() -> None:
    """Koehn 2004: an interval from draws in section 5, paired test in 6, validation in 7. Chen & Cherry 2014: 2.2."""
    assert INTERVALS["koehn"].source == "W04-3250, section 5"
    assert TESTS["paired-bootstrap"].source == "W04-3250, section 6"
    sections = {"W04-3250": {"5", "6", "7"}, "W14-3346": {"2.2"}}
    files = [*PAGES, *(p for folder in ("python", "rust", "tests") for p in (ROOT / folder).rglob("*"))]
    cited = set()
    for path in files:
        if path.suffix in (".py", ".pyi", ".rs", ".md"):
            for paper, section in SECTION.findall(path.read_text("utf-8")):
                assert section in sections.get(paper, {section}), path
                cited.add(paper)
    assert cited >= sections.keys()


def test_the_page_of_metrics_agrees_with_the_registries(run: Callable[..., Outcome]) -> None:
    assert run("explain", "--format", "markdown").out == (ROOT / "docs/metrics.md").read_text("utf-8")


def test_no_page_installs_from_an_index_before_there_are_wheels() -> None:
    assert "no wheels yet" in (ROOT / "README.md").read_text("utf-8")
    # With extras, pip only adds packages to what is installed.
    from_index = re.compile(r"pip install reshuffle\b(?!\[)|dependencies: \[reshuffle\]")
    assert [name_of(page) for page in PAGES if from_index.search(page.read_text("utf-8"))] == []


def test_everything_public_has_a_docstring() -> None:
    for name in reshuffle.__all__:
        thing = getattr(reshuffle, name)
        if name == "__version__":
            continue
        if name != "Progress":  # its docstring is in the stub
            assert inspect.getdoc(thing), name
        if inspect.isfunction(thing) and len(inspect.signature(thing).parameters) > 3:
            doc = inspect.getdoc(thing) or ""
            assert all(section in doc for section in ("Parameters", "Returns", "Raises", "Examples")) or (
                "parameters are those of" in doc
            ), name


LINK = re.compile(r"\]\((?!https?:)([^)#]*)#?([^)]*)\)")
# Links to files of this repository from elsewhere: the README is also the page of the package, and docs are a site.
ABSOLUTE = re.compile(
    r"\]\(https://(?:github\.com/reshuffle-mt/reshuffle/blob|raw\.githubusercontent\.com/reshuffle-mt/reshuffle)"
    r"/main/([^)#]+)#?([^)]*)\)"
)


def test_links_between_pages_are_valid() -> None:
    for page in [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", ROOT / "benches/README.md"]:
        text = page.read_text("utf-8")
        links = [(page.parent / target if target else page, anchor) for target, anchor in LINK.findall(text)]
        links += [(ROOT / target, anchor) for target, anchor in ABSOLUTE.findall(text)]
        for leads_to, anchor in links:
            assert leads_to.exists(), f"{name_of(page)}: {leads_to}"
            if anchor:
                assert anchor in anchors(leads_to), f"{name_of(page)}: {leads_to}#{anchor}"


def test_links_lead_somewhere_wherever_a_page_is_shown() -> None:
    """The page of the package on PyPI has no neighbours, and a site has only those in docs."""
    assert LINK.findall((ROOT / "README.md").read_text("utf-8")) == []
    for page in PAGES[1:]:
        for target, _ in LINK.findall(page.read_text("utf-8")):
            assert (page.parent / target).resolve().is_relative_to(ROOT / "docs"), f"{name_of(page)}: {target}"


def test_pages_that_comments_and_messages_name_exist() -> None:
    named = re.compile(r"\bdocs/[\w/-]+\.md(?:#[\w-]+)?")
    files = [path for folder in ("python", "rust", "tests", "benches", ".ci") for path in (ROOT / folder).rglob("*")]
    found = set()
    for path in [*files, ROOT / "CONTRIBUTING.md"]:
        if path.suffix in (".py", ".pyi", ".rs", ".md", ".j2", ".js") and "record" not in path.parts:
            found |= {(path, name) for name in named.findall(path.read_text("utf-8"))}
    assert len(found) > 50
    for path, name in found:
        page, _, anchor = name.partition("#")
        assert (ROOT / page).is_file(), f"{path}: {name}"
        assert not anchor or anchor in anchors(ROOT / page), f"{path}: {name}"


def test_every_page_is_in_the_navigation_once() -> None:
    listed = re.findall(r"(?:root|file): (\S+)", (ROOT / "docs/_toc.yml").read_text("utf-8"))
    assert sorted(listed) == sorted(page.relative_to(ROOT / "docs").with_suffix("").as_posix() for page in PAGES[1:])


def test_pages_are_short() -> None:
    """But for those in which one looks things up."""
    looked_up = ("metrics.md", "counting.md", "json.md", "speed.md", "recipes.md")
    for page in PAGES[1:]:
        if page.parent.name != "api" and page.name not in looked_up:
            assert len(page.read_text("utf-8").split()) <= 2500, name_of(page)


def test_the_reference_has_every_public_name() -> None:
    text = "".join(page.read_text("utf-8") for page in (ROOT / "docs/api").glob("*.md"))
    shown = set(re.findall(r"(?:^\.\. auto\w+:: |`)(\w+)\b", text, re.MULTILINE))
    compat = importlib.import_module("reshuffle.compat")
    for module in (reshuffle, reshuffle.study, reshuffle.meta, reshuffle.tune, compat):
        assert set(module.__all__) - {"__version__"} <= shown, module.__name__


def anchors(page: Path) -> set[str]:
    """The anchors that GitHub gives to the headings of a page; they must be unique."""
    text = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    found = [re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings]
    assert len(found) == len(set(found)), name_of(page)
    return set(found)


def test_every_claim_is_proved_cited_or_measured_by_a_program_that_exists() -> None:
    table = (ROOT / "docs/statistics/claims.md").read_text("utf-8")
    rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in table.splitlines() if line.startswith("| ")][1:]
    claims = [row for row in rows if not row[0].strip().startswith("**")]
    assert len(claims) > 50
    for claim, basis, where in claims:
        assert re.match(r" (proved|cited|measured)\b", basis), claim
        assert ".md" in where, claim
    for name in re.findall(r"`benches\.simulations\.(\w+)`", table):
        assert (ROOT / f"benches/simulations/{name}.py").exists(), name
    for path in re.findall(r"\btests/python/\w+\.py", table):
        assert (ROOT / path).exists(), path
