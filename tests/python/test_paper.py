"""The folder of a paper: what is in it, that it compiles, and what it never overwrites."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reshuffle import (
    Comparison,
    Equivalence,
    InputError,
    InputFile,
    NonInferiority,
    SegmentScores,
    SetComparison,
    StudyResult,
    compare,
    compare_sets,
    read_json,
    score,
    study,
)
from reshuffle.data.demo import demo_corpus
from reshuffle.inference.exchange import EXCHANGES
from reshuffle.inference.multiplicity import ADJUSTMENTS
from reshuffle.meta.coefficients import TESTS
from reshuffle.report import Layout, paper_files, render
from reshuffle.report.paper import MOST_FIGURES
from reshuffle.report.sources import entries_of, every_entry, papers
from reshuffle.report.systems import some_interval_disagrees
from reshuffle.report.words import words
from reshuffle.results.studies import MODULES
from reshuffle.results.studies.watch import SEQUENTIAL_TESTS
from test_meta_report import RESULTS as META
from test_run_reports import RESULTS as RUNS
from test_study_power_reports import RESULTS as POWER
from tex import ARTICLE, TWO_COLUMNS, TYPST, compile_typst, compiled, need, plain
from told import assert_refused, assert_told, beyond_the_first

CORPUS = demo_corpus()
FIXED = {
    *(f"{part}.{ending}" for part in ("table", "methods", "appendix", "figures") for ending in ("tex", "typ")),
    "references.bib", "checklist.txt",
}  # fmt: skip
# Of what runs, in the checklist.
VERSIONS = r"^(Python|numpy|scipy|matplotlib) (\S+)\n"
DIFFERENCES = {"differences.tex", "differences.typ"}


@cache
def ranked() -> Comparison:
    return compare(CORPUS.references, CORPUS.systems, ["bleu", "ter"], all_pairs=True, n_resamples=500)


@cache
def in_pairs() -> Comparison:
    return compare(CORPUS.references, CORPUS.systems, all_pairs=True, n_resamples=99)


@cache
def with_baseline() -> Comparison:
    return compare(CORPUS.references, CORPUS.systems, n_resamples=500)


@cache
def on_sets(average: bool) -> SetComparison:
    sets = {"news 2023": (CORPUS.references, CORPUS.systems), "chat.en": (CORPUS.references, CORPUS.systems)}
    return compare_sets(sets, n_resamples=200, average=average)


@cache
def simulated() -> StudyResult:
    return study.type1(CORPUS.references, CORPUS.systems, "bleu", sizes=30, simulations=10, n_resamples=39, seed=7)


@pytest.fixture
def unsaved(monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures are made, but not saved, which takes nearly all of the time."""
    monkeypatch.setattr("reshuffle.report.paper.file_of", lambda axes, fmt: b"%PDF-")
    for module in ("panels", "style"):  # which makes every tick
        monkeypatch.setattr(f"reshuffle.report.plots.{module}.warn_of_missing_letters", lambda figure: None)


def pictures_among(files: Mapping[str, bytes]) -> set[str]:
    """The names of the figures, after a check that the other files are those of every paper."""
    assert files.keys() >= FIXED
    figures = files.keys() - FIXED - DIFFERENCES
    assert all(name.endswith(".pdf") and files[name].startswith(b"%PDF-") for name in figures)
    return {name.removeprefix("reshuffle-").removesuffix(".pdf") for name in figures}


def citations(texts: Mapping[str, str]) -> set[str]:
    """The keys that the paragraphs cite, in LaTeX and in Typst."""
    latex = re.findall(r"\\citep\{([^}]*)\}", texts["methods.tex"] + texts["appendix.tex"])
    cited = {key for keys in latex for key in keys.split(",")}
    assert cited == {*re.findall(r"#cite\(<([^>]*)>\)", texts["methods.typ"] + texts["appendix.typ"])}
    return cited


@cache
def many(n: int, all_pairs: bool) -> Comparison:
    scores = {f"s{j}": [float((i * (j + 3)) % 7 + j) for i in range(40)] for j in range(n)}
    metrics = [SegmentScores(name, scores) for name in ("m1", "m2")]
    return compare(metrics=metrics, all_pairs=all_pairs, n_resamples=99)


def limited() -> Comparison:
    """Tests of which some can hardly reject, under a metric where less is better, too."""
    scores = {name: np.random.default_rng(i).normal(i, 1, 50).round(2) for i, name in enumerate("abc")}
    metrics = [SegmentScores(name, scores, higher_is_better=name == "up") for name in ("up", "down")]
    return compare(metrics=metrics, n_resamples=99)


def test_the_table_of_differences_is_of_all_pairs_or_of_those_with_the_best_system(unsaved: None) -> None:
    """The better system of a pair is the first; differences from the best system have it as the baseline."""
    results = {
        "all pairs of six": many(6, all_pairs=True),
        "all pairs of seven": many(7, all_pairs=True),
        "a baseline": many(7, all_pairs=False),
        "less is better": limited(),
    }
    texts = {case: paper_files(result, Layout()) for case, result in results.items()}
    tables = {case: files["differences.tex"].decode().splitlines() for case, files in texts.items()}
    assert_told("differences_of_papers", {case: "\n".join(lines[4:-1]) for case, lines in tables.items()})
    # The text says what was done; formulas and the signature are in the appendix.
    main, appendix = (plain(texts["all pairs of six"][f"{part}.tex"].decode()) for part in ("methods", "appendix"))
    for text in ("(R + 1)", "k-th", "detected with 80", "\\scriptsize\\ttfamily m1", "compact letter display"):
        assert text in appendix
        assert text not in main


def rated(n: int, *metrics: str, lower: str = "", **options: Any) -> Comparison:
    """Systems, each of which is better than the one before."""
    scores = {f"s{j}": [float((i * (j + 3)) % 7 + j) for i in range(40)] for j in range(n)}
    chosen = [SegmentScores(name, scores, higher_is_better=name != lower) for name in metrics]
    return compare(metrics=chosen, **{"n_resamples": 99, "all_pairs": True, **options})


CAPTIONS: dict[str, Callable[[], Any]] = {
    "a baseline": with_baseline,
    "scores with intervals": lambda: score(CORPUS.references, CORPUS.systems, interval="percentile", n_resamples=99),
    "all pairs of two metrics": ranked,
    "all pairs of one metric": in_pairs,
    "test sets without an average": lambda: on_sets(False),
    "runs": RUNS["computed"],
    "seven systems, of which one is the best": lambda: rated(7, "m1"),
    "seven systems under two metrics": lambda: rated(7, "m1", "m2"),
    "the best system of two metrics is another": lambda: rated(3, "m", "errors", lower="errors"),
    "one-sided tests from one system": lambda: rated(3, "m", "errors", lower="errors", alternative="better"),
    "one-sided tests of pairs that cannot be reversed": lambda: rated(7, "m1", alternative="greater"),
    "non-inferiority": lambda: rated(7, "m1", test=NonInferiority({"m1": 1})),
    "equivalence": lambda: rated(7, "m1", test=Equivalence({"m1": 1})),
}


def test_captions_and_the_text_name_what_is_shown(unsaved: None) -> None:
    told = {}
    for case, make in CAPTIONS.items():
        names = {"baseline": "Base_1"} if case == "a baseline" else {}
        contents = paper_files(make(), Layout(names=names))
        files = {name: content.decode() for name, content in contents.items() if name.endswith(".tex")}
        shown = "".join(files.get(f"{part}.tex", "") for part in ("table", "differences", "figures"))
        captions = [line for line in shown.splitlines() if line.startswith(r"\caption{")]
        sentences = files["methods.tex"].replace(". ", ".\n").splitlines()
        told[case] = "\n".join([*captions, *(line for line in sentences if r"\ref" in line)])
        assert pictures_among(contents) == {*re.findall(r"\\label\{fig:reshuffle-(.*?)\}", files["figures.tex"])}
        cited = citations({name: content.decode() for name, content in contents.items() if name[-4:] != ".pdf"})
        assert cited <= {*re.findall(r"^@\w+\{(.*),$", contents["references.bib"].decode(), re.M)}
    assert_told("captions", told)


def test_a_caption_speaks_of_the_intervals_in_its_figure(unsaved: None) -> None:
    """Here one excludes 0 although adjusted p is above α, of a pair without the best system: it is not drawn."""
    rng = np.random.default_rng(2)
    scores = {name: rng.normal(mean, 1, 60).round(2) for name, mean in {"a": 9, "b": 0, "c": 0.4, "d": 0.2}.items()}
    result = compare(metrics=SegmentScores("m", scores), all_pairs=True, n_resamples=199)
    assert some_interval_disagrees(result)
    assert b"some exclude 0" not in paper_files(result, Layout())["figures.tex"]


# Studies with a paragraph of their own, with simulations, with neither texts nor systems, and with many figures.
STUDIES: dict[str, tuple[Any, set[str]]] = {
    "runs": (RUNS["computed"], {"runs", "histogram", "observed-rating-new"}),
    "type1": (simulated, {"rates", "qq"}),
    "meta": (META["metrics"], {"forest", "matrix"}),
    "power": (POWER["models"], {"power-120-0-01"}),
}


@pytest.mark.parametrize("name", STUDIES)
def test_a_paper_about_a_study_has_its_figures_paragraph_and_facts(unsaved: None, name: str) -> None:
    make, expected = STUDIES[name]
    study: StudyResult = replace(make(), inputs=(InputFile("a b.txt", 1234, "f" * 64),))
    files = paper_files(study, Layout())
    found = pictures_among(files)
    assert expected <= found
    assert len(found) <= MOST_FIGURES
    texts = {name: files[name].decode() for name in FIXED}
    assert texts["table.tex"] == render(study, "latex")
    assert citations(texts) == {*re.findall(r"^@\w+\{(.*),$", study.bibtex(), re.M)}
    for number in (study.plan["n_resamples"], study.plan["seed"]):
        assert re.search(rf"(R = |seed ){number:,}\b|seed {number}\b", study.methods_sentence())
    assert f"\nSignature: {study.signature}\n" in texts["checklist.txt"]
    assert "File a b.txt: 1,234 bytes, SHA-256" in texts["checklist.txt"]


def test_the_paragraph_about_runs_says_what_decides_and_cites_no_names() -> None:
    assert_told("methods_of_runs", {"runs": RUNS["computed"]().methods_sentence().replace(". ", ".\n")})
    # Names are no citations.
    result = RUNS["computed"]()
    plan = replace(result.plan, systems={"old [@P11-2031] {x}": 5, "\3new\3": 5})
    assert set(re.findall(r"@\w+\{(.*),", replace(result, plan=plan).bibtex())) == set(
        re.findall(r"@\w+\{(.*),", result.bibtex())
    )


def test_panels_fit_a_page_or_the_caption_says_so_and_the_appendix_how_scores_were_stored(
    unsaved: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = paper_files(many(30, all_pairs=True), Layout())
    assert b"m1 and m2: scores" in files["figures.tex"]
    stored = "(mean:segments in the signature), which were stored as whole multiples of the resolution. All"
    assert stored in files["appendix.tex"].decode()
    before = paper_files(ranked(), Layout())
    assert "mean:segments" not in before["appendix.tex"].decode()
    monkeypatch.setattr("reshuffle.report.paper.PAGE_HEIGHT", 1.0)
    said = b"Only the first 1 of 2 panels have room."
    after = paper_files(ranked(), Layout())
    assert [said in found["figures.tex"] for found in (before, after)] == [False, True]


def test_captions_of_studies_leave_out_what_a_result_has_not(unsaved: None) -> None:
    files = {name: paper_files(META[name](), Layout()) for name in ("scores of systems", "metrics")}
    for texts in files.values():
        assert not re.search("None|: [,)]", texts["figures.tex"].decode() + texts["figures.typ"].decode())
    assert "tested by PERM-INPUTS~\\citep{deutsch" in files["metrics"]["methods.tex"].decode()


def test_every_study_has_a_paragraph() -> None:
    texts = words("studies")
    assert {*MODULES} - {"runs", "human"} == {*texts["study"]}
    every = [*texts["common"].values(), *(each for own in texts["study"].values() for each in own)]
    assert {each[1:] for each in every if each.startswith("=")} == {*texts["common"]}
    cited = {source for each in every for source in re.findall(r"\[@(.+?)\]", each)}
    for source in cited - {"{source}", "{adjustment_source}"} | {test.source for test in SEQUENTIAL_TESTS.values()}:
        assert entries_of(source) == [source]
    assert {name: own["source"] for name, own in words("runs")["exchange"].items()} == {
        name: unit.source for name, unit in EXCHANGES.items()
    }
    sources = words("meta")["phrase"]["adjustment_source"].values()
    known = {ADJUSTMENTS[name].source.partition(",")[0] for name in ("holm", "maxt")}
    assert {*"; ".join(sources).split("; ")} == known
    assert words("meta")["source"] == {name: test.source for name, test in TESTS.items()}


def test_the_table_and_the_paragraph_are_those_of_the_reports(unsaved: None, tmp_path: Path) -> None:
    files = {path.name: path for path in ranked().paper(tmp_path / "new" / "paper", names={"larger": "Large"})}
    assert all(path.parent == tmp_path / "new" / "paper" for path in files.values())
    texts = {name: files[name].read_text("utf-8") for name in FIXED}
    # Labels have the name of the folder, so that an article can have several papers.
    for ending, fmt, label in (("tex", "latex", "tab:"), ("typ", "typst", "tab-")):
        table = render(ranked(), fmt, Layout(names={"larger": "Large"}))
        assert texts[f"table.{ending}"] == table.replace(f"{label}reshuffle", f"{label}paper")
    assert {*re.findall(r"\\ref\{(.+?)\}", texts["methods.tex"])} == {
        "tab:paper",
        "tab:paper-differences",
        "fig:paper-forest",
    }
    report = render(ranked(), "latex", Layout(methods=True, names={"larger": "Large"}))
    assert texts["methods.tex"].splitlines()[1].partition(" Table~")[0] in report.splitlines()
    assert texts["appendix.tex"].splitlines()[1] in report.splitlines()
    assert citations(texts) < {*re.findall(r"^@\w+\{(.*),$", ranked().bibtex(), re.M)}  # no ranks are shown
    # All entries, so that an article with several papers needs those of one.
    assert texts["references.bib"] == "\n".join(paper.bibtex for paper in papers().values())


def test_the_checklist_has_the_facts(unsaved: None) -> None:
    told = {}
    results: dict[str, Comparison | SetComparison]
    results = {"a comparison": ranked(), "test sets": on_sets(True), "cautions": limited()}
    for case, result in results.items():
        layout = Layout(names={} if case == "cautions" else {"larger": "Large"})
        facts = paper_files(result, layout)["checklist.txt"].decode()
        versions, told[case] = re.findall(VERSIONS, facts, re.M), re.sub(VERSIONS, "", facts, flags=re.M)
        assert [name for name, _ in versions] == ["Python", "numpy", "scipy", "matplotlib"]
    assert_told("checklists", beyond_the_first(told))


def test_the_same_result_gives_the_same_files(tmp_path: Path) -> None:
    (tmp_path / "result.json").write_text(with_baseline().render("json"), "utf-8")
    again: Any = read_json(tmp_path / "result.json")
    papers = [each.paper(tmp_path / name) for name, each in (("a/p", with_baseline()), ("b/p", again))]
    first, second = ([(path.name, path.read_bytes()) for path in paths] for paths in papers)
    assert first == second
    figures = [content for name, content in first if name.endswith(".pdf")]
    assert len(figures) == 2
    assert all(content.startswith(b"%PDF-") for content in figures)


def test_only_an_earlier_paper_is_replaced(unsaved: None, tmp_path: Path) -> None:
    tmp_path /= "own"
    tmp_path.mkdir()
    for name in ("references.bib", "own-forest.pdf", "main.tex"):
        (tmp_path / name).write_text("of the user", "utf-8")
    with pytest.raises(
        InputError, match=r"has references\.bib, own-forest\.pdf already, not from an earlier paper: choose"
    ):
        with_baseline().paper(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"references.bib", "own-forest.pdf", "main.tex"}
    for name in ("references.bib", "own-forest.pdf"):
        (tmp_path / name).unlink()
    with_baseline().paper(tmp_path)
    assert len(with_baseline().paper(tmp_path, digits=1)) == len([*tmp_path.iterdir()]) - 1
    assert "73.2 " in (tmp_path / "table.tex").read_text("utf-8")
    assert (tmp_path / "main.tex").read_text("utf-8") == "of the user"
    (tmp_path / "own-matrix.pdf").write_text("of the user", "utf-8")  # a figure that the earlier paper does not have
    with pytest.raises(InputError, match=r"has own-matrix\.pdf already, not from an earlier paper"):
        in_pairs().paper(tmp_path)
    (tmp_path / "own-matrix.pdf").unlink()
    # A paper is replaced as a whole: its figures do not stay beside another table. Files that it cannot have made do.
    facts, own = tmp_path / "checklist.txt", tmp_path / "own.pdf"
    facts.write_text(
        facts.read_text("utf-8").rstrip() + ", main.tex, ../outside.pdf\nC2: see own.pdf, own.pdf\n", "utf-8"
    )
    (tmp_path.parent / "outside.pdf").touch()
    own.touch()
    written = {path.name for path in in_pairs().paper(tmp_path)}
    assert {path.name for path in tmp_path.iterdir()} == {"main.tex", "own.pdf", *written}
    assert "own-ranking.pdf" not in written
    assert (tmp_path.parent / "outside.pdf").exists()
    with pytest.raises(InputError, match=r"main\.tex is a file: choose another name for the folder of the paper"):
        with_baseline().paper(tmp_path / "main.tex")


def test_the_command_writes_the_same_beside_its_report(unsaved: None, demo: Path, run: Any) -> None:
    compared = ["compare", "reference.txt", "tuned.txt", "larger.txt", "-n", "200"]
    outcome = run(*compared, "--paper", "paper", "--columns", "2")
    main, after = (
        "".join(f" \\input{{paper/{part}}}" for part in parts)
        for parts in (("table", "methods", "figures"), ("appendix", "differences"))
    )
    files = len([*Path("paper").iterdir()])
    assert (outcome.code, outcome.out) == (0, run(*compared).out)
    packages = r"\usepackage{booktabs,graphicx,multirow,natbib,xurl} \graphicspath{{paper/}}"
    appendix = f"\\appendix \\section{{Statistical details}}{after}"
    latex = f"{packages}{main} \\bibliography{{paper/references}} {appendix}"
    assert outcome.err == f"Wrote {files} files to paper/. In LaTeX: {latex}\n"
    guide = (Path(__file__).parents[2] / "docs/guide/reports.md").read_text("utf-8").split("```latex")[-1]
    assert guide.partition("```")[0].replace("…\n", "").split() == latex.split()
    assert "table*" in Path("paper/table.tex").read_text("utf-8")
    runs = "runs --refs reference.txt --baseline tuned.txt larger.txt --system new baseline.txt rules.txt -n 99"
    for command in (compared, runs.split()):
        assert run(*command, "--methods", "-o", "m.tex", "-o", "m.json").code == 0
        assert Path("m.bib").read_text("utf-8") == every_entry()
        assert r"\citep{" in Path("m.tex").read_text("utf-8")
    for number, command in enumerate((compared, runs.split())):
        assert run(*command, "--paper", f"{number}/paper", "-o", "r.json").code == 0
        assert run("show", "r.json", "--paper", f"{number}/shown/paper").code == 0
        for path in Path(f"{number}/shown/paper").iterdir():
            # A command's notes name its own options.
            same = path.read_bytes() == (Path(f"{number}/paper") / path.name).read_bytes()
            assert same or path.name.startswith("table")
    assert "SHA-256" in Path("1/paper/checklist.txt").read_text("utf-8")
    assert run("score", "reference.txt", "tuned.txt", "--paper", "scored").code == 0
    assert Path("scored/scored-ranking.pdf").is_file()


def test_what_cannot_be_written_is_an_error(demo: Path, run: Any) -> None:
    Path("mine").mkdir()
    Path("mine/table.tex").write_text("of the user", "utf-8")
    assert run("flips", "reference.txt", "tuned.txt", "larger.txt", "--threshold", "50", "-o", "flips.json").code == 0
    assert_refused("errors_of_papers", run)
    assert not Path("p").exists()
    assert Path("mine/table.tex").read_text("utf-8") == "of the user"


def test_a_missing_matplotlib_is_named(demo: Path, run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(demo)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    outcome = run("compare", "reference.txt", "tuned.txt", "larger.txt", "--paper", "paper")
    assert outcome == (2, "", "reshuffle: error: plots need matplotlib: pip install 'reshuffle[plots]'\n")
    assert not Path("paper").exists()


def hostile() -> Comparison:
    """Names that are markup, or no names of files."""
    values: Any = [[1, 2, 3, 4, 5], [2, 3, 1, 5, 5], [1, 1, 2, 1, 2]]
    systems = dict(zip(["a_b $x$", "50% #1 & {c}", "half \ud800 \\d ~ ^"], values, strict=True))
    metrics = [SegmentScores(name, systems) for name in ("../m_1", "m 1", "é/ü", "%")]
    return compare(metrics=metrics, all_pairs=True, n_resamples=99, interval="delta")


def sixteen() -> Comparison:
    outputs = {f"{name}-{i}": [*texts[i:], *texts[:i]] for name, texts in CORPUS.systems.items() for i in range(4)}
    return compare(CORPUS.references, outputs, ["bleu", "chrf", "ter"], all_pairs=True, n_resamples=99)


@pytest.mark.parametrize(
    "make", [hostile, lambda: on_sets(False), RUNS["computed"], pytest.param(sixteen, marks=pytest.mark.slow)]
)
def test_an_article_with_the_files_compiles(tmp_path: Path, make: Any) -> None:
    need("pdflatex", "bibtex")
    paths = make().paper(tmp_path / "paper")
    parts = [path.stem for path in paths if path.suffix == ".tex"]
    assert parts == ["table", *["differences"] * (make is not RUNS["computed"]), "methods", "appendix", "figures"]
    entries = r"\bibliographystyle{plainnat}\bibliography{paper/references}"
    body = [r"\graphicspath{{paper/}}", *(f"\\input{{paper/{part}}}\n\\clearpage" for part in parts), entries]
    if make is hostile:  # nothing to cite but the test
        assert [path.name for path in paths if path.suffix == ".pdf"] == ["paper-forest.pdf"]
    said = compiled(tmp_path, "\n".join(body), TWO_COLUMNS.replace("natbib", "natbib,xurl"), bibtex=True)
    assert make in (hostile, RUNS["computed"]) or "Overfull" not in said
    assert "undefined" not in said
    assert "multiply defined" not in said


def test_a_signature_fits_one_column_without_fontenc(unsaved: None, tmp_path: Path) -> None:
    begin = ARTICLE.replace(r"\usepackage[T1]{fontenc}", "")
    said = compiled(tmp_path, paper_files(ranked(), Layout())["appendix.tex"].decode(), begin)
    assert "Overfull" not in said
    assert "Font shape" not in said


@pytest.mark.parametrize("package", ["", r"\usepackage{caption}", r"\usepackage[tableposition=top]{caption}"])
def test_captions_of_tables_are_above_them_with_space(unsaved: None, tmp_path: Path, package: str) -> None:
    table = paper_files(with_baseline(), Layout())["table.tex"].decode()
    place = r"\pdfsavepos\write16{Y:\the\pdflastypos.}"
    for old, new in (
        (r"\caption{", r"\caption[short]{"),
        (r"}\label{", f"{place}}}\\label{{"),
        (r"\toprule", f"\\noalign{{{place}}}\\toprule"),
    ):
        assert table.count(old) == 1
        table = table.replace(old, new)
    said = compiled(tmp_path, table, ARTICLE.replace(r"\begin{document}", f"{package}\\begin{{document}}"))
    caption, rule = (int(at) / 65536 for at in re.findall(r"Y:(\d+)\.", said))
    # In points. The lengths of an article give about 8 with the package caption.
    assert 7 < caption - rule < 10


@TYPST
@pytest.mark.parametrize("make", [ranked, RUNS["computed"], META["metrics"]])
def test_typst_compiles(tmp_path: Path, make: Any) -> None:
    parts = [f'#include "{path.name}"' for path in make().paper(tmp_path) if path.suffix == ".typ"]
    compile_typst(tmp_path, "\n".join([*parts, '#bibliography("references.bib")', ""]))
