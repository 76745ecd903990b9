"""LaTeX, Typst and Markdown: what they show, that names cannot break them, and that they compile."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pages import markup
from reshuffle import Comparison, SegmentScores, SetComparison, StudyResult, TestSet, compare, compare_sets, score
from reshuffle.data.demo import demo_corpus
from reshuffle.errors import InputError, printable
from reshuffle.report import Layout, document, render
from reshuffle.report.cells import Table
from reshuffle.report.fitting import SIZES, Fit, pages, table_width
from reshuffle.types import Format
from test_meta_report import RESULTS as META
from test_run_reports import RESULTS as RUNS
from test_study_power_reports import RESULTS as POWER
from test_study_reports import RESULTS as TYPE1
from test_tune import RESULTS as TUNE
from tex import TWO_COLUMNS, TYPST, compile_typst, compiled
from told import assert_told, beyond_the_first

# Everything that is markup in one of the formats.
STRANGE = (
    "[a] *b* $x_1^2$",
    "* \\ {c} # ~ `q` \"r\" 's'", "a--b---c <d> |e| %f &g;", "_f_ @g =h /i //j \n k", "ä ß -7", "- x",
)  # fmt: skip


@cache
def of_systems(n: int, all_pairs: bool = True, names: tuple[str, ...] = ()) -> Comparison:
    """n systems under three metrics, the first of which is a mean of scores in the hundreds."""
    rng = np.random.default_rng(n)
    base = rng.normal(60, 9, 40)
    ratings = [
        {
            name: (base + i / 2 + rng.normal(0, 3, 40)).round(1)
            for i, name in enumerate(names or [f"s{j}" for j in range(n)])
        }
        for _ in range(3)
    ]
    metrics = [SegmentScores(f"m{j}", scores, higher_is_better=j < 2) for j, scores in enumerate(ratings)]
    return compare(metrics=metrics, test="ar", all_pairs=all_pairs, n_resamples=99, interval="delta")


def code_of(report: str) -> str:
    """A report without its comments."""
    return "\n".join(line for line in report.splitlines() if not line.startswith(("%", "//")))


def without_rows(report: str) -> str:
    """The code of a report, with the number of its rows of systems in their place."""
    lines = code_of(report).splitlines()
    rows = [line for line in lines if re.match(r' *(\\textbf\{|strong\()?"?s\d+\b', line)]
    return "\n".join([f"({len(rows)} rows)", *(line for line in lines if line not in rows)])


def test_a_paper_has_one_table_of_systems_whose_caption_explains_it() -> None:
    told = {}
    for n, all_pairs in product((2, 60), (True, False)):
        for fmt in ("latex", "typst"):
            case = f"{n} systems, {'all pairs' if all_pairs else 'a baseline'}, {fmt}"
            told[case] = without_rows(render(of_systems(n, all_pairs), fmt))
    assert_told("tables_of_papers", beyond_the_first(told))


@pytest.mark.parametrize("fmt", ["latex", "typst"])
def test_the_pairs_are_tables_of_their_own_on_request(fmt: str) -> None:
    comparison = of_systems(3)
    one, several = (render(comparison, fmt, layout) for layout in (Layout(), Layout(pairs=True)))
    start = "\\begin{table" if fmt == "latex" else "#figure("
    assert (one.count(start), several.count(start)) == (1, len(document(comparison, Layout(pairs=True)).tables))
    assert several.count(start) >= 4
    labels = re.findall(r"tab.reshuffle(?:-\d+)?(?=[}>])", several)
    assert len(set(labels)) == len(labels) == several.count(start)


def test_wide_tables_have_smaller_letters_and_tall_ones_are_divided_where_rows_have_lines() -> None:
    for length, expected in ((2, ["footnotesize"]), (30, []), (45, ["small"]), (99, ["scriptsize"])):
        names = tuple(f"{i}{'n' * length}" for i in range(3))
        report = render(of_systems(3, all_pairs=False, names=names), "latex")
        assert re.findall(r"\\(small|footnotesize|scriptsize)", report) == expected
        assert report.count(r"@{\hskip 1.6em}r") == 2
    # A table that is taller than a page is divided where its rows have lines.
    table = Table("", ["System"], sections={0: "news", 31: "chat", 62: "talks"}, rules=[31, 62])
    for row in range(93):
        table.add([str(row)])
    parts = pages(table, Fit(SIZES[1], 2))
    assert [len(part.rows) for part in parts] == [31, 31, 31]
    assert [(*part.sections.values(), *part.rules) for part in parts] == [("news",), ("chat",), ("talks",)]
    table.title = "caption " * 80  # it takes place on the first page only
    assert [len(part.rows) for part in pages(table, Fit(SIZES[1], 2))][1:] == [31, 31]
    unruled = replace(table, title="", sections={}, rules=[])
    assert [len(part.rows) for part in pages(unruled, Fit(SIZES[1], 2))] == [47, 46]
    # Rows that share a cell stay together, and no part is much shorter than the others.
    shared = Table("", ["System", "Part"], n_names=2, grouped=1)
    for row in range(101):
        shared.add([str(row // 4), str(row)])
    assert [len(part.rows) for part in pages(shared, Fit(SIZES[0], 2))] == [36, 36, 29]


# --- Markup in names


def test_names_are_no_markup() -> None:
    """In LaTeX, \\\\ would take a star or a bracket as an argument."""
    told = {fmt: code_of(render(of_systems(6, names=STRANGE), fmt)) for fmt in ("latex", "typst")}
    markdown = render(of_systems(6, names=STRANGE), "markdown")
    told["markdown"] = "\n".join(line for line in markdown.splitlines() if line.startswith("|"))
    assert_told("names_in_papers", told)


TYPST_STRING = re.compile(r'"((?:[^"\\]|\\["\\])*)"')


def with_names(names: list[str]) -> Comparison:
    """Scores of two systems with these names."""
    base = of_systems(2)
    scores = tuple(replace(score, system=names[base.systems.index(score.system)]) for score in base.scores)
    return replace(base, systems=tuple(names), scores=scores, rankings=(), comparisons=(), test=None, detectable=())


NAME = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)


@given(st.lists(NAME, min_size=2, max_size=2, unique=True))
@example(["0", "-0"])
def test_no_name_ends_a_line_or_a_string(names: list[str]) -> None:
    latex, typst = (render(with_names(names), fmt) for fmt in ("latex", "typst"))
    latex = re.sub(r"^% pdflatex may not set .*\n", "", latex, count=1, flags=re.MULTILINE)  # some letters of names
    assert latex.count("\n") == len(latex.splitlines()) == render(with_names(["a", "b"]), "latex").count("\n")
    assert typst.count("\n") == len(typst.splitlines()) == render(with_names(["a", "b"]), "typst").count("\n")
    body = "".join(line for line in typst.splitlines(True) if not line.startswith("//"))
    strings = [found.replace('\\"', '"').replace("\\\\", "\\") for found in TYPST_STRING.findall(body)]
    assert {printable(" ".join(name.split())) for name in names} <= set(strings)
    assert '"' not in TYPST_STRING.sub("", body)


@pytest.mark.parametrize("all_pairs", [True, False])
def test_a_name_that_looks_like_a_number_keeps_its_hyphen(all_pairs: bool) -> None:
    names = ("-71", "-72.5 to -71", "-73*")
    comparison = of_systems(3, all_pairs, names=names)
    for fmt, minus in (("latex", "$-$"), ("typst", "−")):
        report = render(comparison, fmt, Layout(triangle=all_pairs, pairs=True))
        assert minus in report  # in differences
        for name in names:
            assert name in report
            assert name.replace("-", minus) not in report


# --- Several test sets


@cache
def on_sets(all_pairs: bool = True) -> SetComparison:
    corpus = demo_corpus()
    sets = {
        name: (list(corpus.references[0][start:end]), {k: v[start:end] for k, v in corpus.systems.items()})
        for name, start, end in (("news & views", 0, 150), ("_talks_", 150, 280), ("[x]|", 280, 400))
    }
    return compare_sets(sets, ["bleu", "ter"], n_resamples=199, all_pairs=all_pairs)


def test_a_paper_has_a_table_of_systems_and_test_sets_for_each_metric() -> None:
    scores = {name: [float(i * (j + 3) % 7 + j) for i in range(40)] for j, name in enumerate(("s1", "s2", "s3"))}
    one = TestSet(metrics=[SegmentScores(metric, scores) for metric in ("Rank", "n")])  # metrics like symbols
    sets = {"news & views": one, "_talks_": one}
    told = {}
    for all_pairs in (True, False):
        result = compare_sets(sets, all_pairs=all_pairs, n_resamples=99)
        for fmt in ("latex", "typst") if all_pairs else ("latex",):
            case = f"{'all pairs' if all_pairs else 'a baseline'}, {fmt}"
            told[case] = without_rows(render(result, fmt))
    assert_told("test_sets_of_papers", beyond_the_first(told))
    more = render(on_sets(), "latex", Layout(pairs=True))
    assert more.count(r"\begin{table") > 2 + 3 * 2
    labels = re.findall(r"\\label\{(.*)\}", more)
    assert len(set(labels)) == len(labels)


def test_markdown_and_html_have_the_tables_and_sentences_of_the_text() -> None:
    text, markdown, html = (markup(render(on_sets(), fmt)) for fmt in ("text", "markdown", "html"))
    assert r"| System | Average | news \& views | \_talks\_ | \[x\]\| |" in markdown
    assert "news &amp; views</th>" in html
    assert html.count("<table") == len(re.findall("^\\| ---", markdown, re.MULTILINE)) == 3
    for sentence in ("larger is significantly better than all others", "step-down maxT over 6 pairs"):
        assert all(sentence in " ".join(report.split()) for report in (text, markdown, html))


# --- Compilers


def documents() -> Mapping[str, Comparison | SetComparison]:
    corpus = demo_corpus()
    return {
        "two": of_systems(2),
        "sixteen": of_systems(16),
        "sixty": of_systems(60),
        "baseline": of_systems(16, all_pairs=False),
        "strange": of_systems(6, names=STRANGE),
        "score": score(corpus.references, corpus.systems, ["bleu", "ter"]),
        "sets": on_sets(),
        "sets-baseline": on_sets(False),
    }


def reports(fmt: Format) -> Iterator[str]:
    """Reports of comparisons, and of every study and what is special about its results."""
    for name, result in documents().items():
        yield render(result, fmt, Layout(pairs=name != "sixty"))
    studies: list[Callable[[], StudyResult]] = [make for of in (META, RUNS, POWER, TUNE, TYPE1) for make in of.values()]
    for make in studies:
        yield make().render(fmt)


def test_latex_compiles(tmp_path: Path) -> None:
    """Each report on pages of its own."""
    said = compiled(tmp_path, "\n\\clearpage\n".join(reports("latex")))
    assert "Undefined" not in said
    assert "Float too large" not in said


@TYPST
def test_typst_compiles(tmp_path: Path) -> None:
    compile_typst(tmp_path, *reports("typst"))


def of_three_metrics(n: int, all_pairs: bool) -> Comparison:
    """As many systems as a paper or a shared task compares, with names like theirs."""
    rng = np.random.default_rng(1)
    base = rng.normal(50, 10, 200)
    names = [f"Online-{letter}" for letter in "ABCDEFGHIJKLMNOP"[:n]]
    metrics = [
        SegmentScores(metric, {name: (base + rng.normal(size=200)).round(2) for name in names})
        for metric in ("BLEU", "chrF2", "TER")
    ]
    return compare(metrics=metrics, all_pairs=all_pairs, n_resamples=99)


@pytest.mark.parametrize("all_pairs", [False, True])
@pytest.mark.parametrize(("n", "environment"), [(4, "table"), (16, None)])
def test_tables_fit_the_columns_of_a_paper(tmp_path: Path, n: int, environment: str | None, all_pairs: bool) -> None:
    comparison = of_three_metrics(n, all_pairs)
    chosen = render(comparison, "latex")
    assert environment is None or f"\\begin{{{environment}}}" in chosen
    for columns, begin in ((1, "table"), (2, "table*")):
        report = render(comparison, "latex", Layout(columns=columns))
        assert f"\\begin{{{begin}}}" in report
        chosen += f"\n\\clearpage\n{report}"
    assert "Overfull" not in compiled(tmp_path, chosen, TWO_COLUMNS)


def test_the_estimate_of_a_width_is_not_below_that_of_latex(tmp_path: Path) -> None:
    """Where it was, tables would be made smaller than type of a usual size is."""
    for comparison in (of_three_metrics(4, all_pairs=True), of_three_metrics(16, all_pairs=False)):
        (table, *_) = document(comparison, Layout().for_paper()).tables
        tabular = re.findall(r"\\begin\{tabular\}.*?\\end\{tabular\}", render(comparison, "latex"), re.S)[0]
        said = compiled(tmp_path, f"\\newbox\\x\\setbox\\x\\hbox{{{tabular}}}\\typeout{{WIDTH \\the\\wd\\x}}\n")
        width = float(re.findall(r"WIDTH ([\d.]+)pt", said)[0])
        assert 0.98 * width < table_width(table, SIZES[0]) < 1.25 * width


def test_letters_or_ranks_show_groups_by_choice() -> None:
    comparison = of_three_metrics(4, all_pairs=True)
    for groups, fmt, shown in (
        (None, "text", ["Rank", "Group"]), (None, "latex", ["Group"]), ("ranks", "latex", ["Rank"]),
        ("both", "typst", ["Rank", "Group"]), ("letters", "text", ["Group"]), ("ranks", "text", ["Rank"]),
    ):  # fmt: skip
        report = render(comparison, fmt, Layout(groups=groups))  # type: ignore[arg-type]
        assert [name for name in ("Rank", "Group") if re.search(rf"\b{name}\b(?!:)", report)] == shown
        assert [name for name in ("Rank", "Group") if f"{name}: " in report] == shown
    for wrong in ({"groups": "x"}, {"columns": 3}):
        with pytest.raises(InputError):
            comparison.render("latex", **wrong)


def test_the_methods_paragraph_cites_what_the_entries_have(tmp_path: Path) -> None:
    comparison = of_three_metrics(4, all_pairs=True)
    latex, typst = (render(comparison, fmt, Layout(methods=True)) for fmt in ("latex", "typst"))
    keys = re.findall(r"@\w+\{([^,]+),", comparison.bibtex())
    cited = [key for found in re.findall(r"~\\citep\{([^}]*)\}", latex) for key in found.split(",")]
    assert cited == re.findall(r"#cite\(<([^>]+)>\)", typst)
    # The table has letters, so that the paragraph is silent on ranks.
    assert {*keys} - {*cited} == {"mogstad-etal-2024-inference"}
    assert {*cited} <= {*keys}
    assert "letter display" in latex
    assert "Ranks are" not in latex
    main, appendix = latex.split("% for the appendix:\n")
    assert "signature: {\\renewcommand" in appendix
    assert "\\scriptsize\\ttfamily" in appendix
    assert "R + 1" not in main
    paragraph = next(line for line in latex.splitlines() if "\\citep" in line)
    assert paragraph.isascii()
    assert "doi:" not in paragraph
    compiled(tmp_path, latex)


def test_symbols_are_mathematics_in_papers_but_not_in_names() -> None:
    values: Any = {name: [[1, 2, 3, 4], [1, 3, 2, 5], [0, 1, 2, 3]][i] * 9 for i, name in enumerate("abc")}
    named = dict(zip(("k", "tau d", "s"), values.values(), strict=True))
    result = compare(metrics=SegmentScores("n", named), baseline="k", n_resamples=99)
    layout = Layout(methods=True, names={"s": "S c"})
    reports = {fmt: render(result, fmt, layout) for fmt in ("latex", "typst")}
    assert_told("symbols", {fmt: code_of(report).replace(". ", ".\n") for fmt, report in reports.items()})
    assert "$" not in render(result, "text", layout) + render(result, "markdown")
