"""LaTeX, Typst and Markdown: what they show, that names cannot break them, and that they compile."""

from __future__ import annotations

import csv
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pages import markup
from reshuffle import Comparison, SegmentScores, SetComparison, compare, compare_sets, read_json, score
from reshuffle.data.demo import demo_corpus
from reshuffle.errors import printable
from reshuffle.report import Layout, document, latex, render
from reshuffle.report.cells import Table
from reshuffle.report.latex import LONG

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


@pytest.mark.parametrize("all_pairs", [True, False])
@pytest.mark.parametrize("n", [2, 16, 60])
@pytest.mark.parametrize("fmt", ["latex", "typst"])
def test_a_paper_has_one_table_of_systems_whose_caption_explains_it(fmt: str, n: int, all_pairs: bool) -> None:
    comparison = of_systems(n, all_pairs)
    report = render(comparison, fmt)
    code = "".join(line for line in report.splitlines(True) if not line.startswith(("%", "//")))
    if fmt == "latex":
        environment = "longtable" if n > LONG else "table"
        assert code.count(f"\\begin{{{environment}}}") == code.count("\\begin{") - (n <= LONG) == 1
        rows = [line for line in code.splitlines() if re.match(r"(\\textbf\{)?s\d+", line)]
        (caption,) = re.findall(r"\\caption\{(.*)\}\\label\{tab:reshuffle\}", code)
    else:
        assert code.count("#figure(") == code.count("table(\n") == 1
        rows = [line for line in code.splitlines() if re.match(r' *(strong\()?"s\d+"', line)]
        (caption,) = re.findall(r'figure.caption\(position: top, "(.*)"\)', code)
        assert code.count("breakable: true") == (n > LONG)
    assert len(rows) == n
    assert "approximate randomization, two-sided, 99 shuffles of segments" in caption
    assert ("Rank: simultaneous 95" in caption) == all_pairs
    assert ("difference from s0" in caption) == (not all_pairs)
    starred = any("*" in re.sub(r"phantom\{\*\}|hide\(.\*.\)", "", line) for line in rows)
    assert ("*: " in caption) == starred
    assert ("Adjusted p: step-down maxT over" in caption) == (n > 2)
    assert "p: approximate" in report.split("caption")[-1]  # and the notes, as comments


@pytest.mark.parametrize("fmt", ["latex", "typst"])
def test_the_pairs_are_tables_of_their_own_on_request(fmt: str) -> None:
    comparison = of_systems(3)
    one, several = (render(comparison, fmt, layout) for layout in (Layout(), Layout(pairs=True)))
    start = "\\begin{table}" if fmt == "latex" else "#figure("
    assert (one.count(start), several.count(start)) == (1, len(document(comparison, Layout(pairs=True)).tables))
    assert several.count(start) >= 4
    labels = re.findall(r"tab.reshuffle(?:-\d+)?(?=[}>])", several)
    assert len(set(labels)) == len(labels) == several.count(start)


def test_scores_without_tests_have_one_table() -> None:
    corpus = demo_corpus()
    for fmt in ("latex", "typst"):
        report = render(score(corpus.references, corpus.systems, ["bleu", "ter"]), fmt)
        assert "p_1" not in report
        assert "BLEU and TER (lower is better): 400 segments, 1 reference, 4 systems." in report


@pytest.mark.parametrize("breaks", [(), (2,), (2, 3)])
@pytest.mark.parametrize(
    ("scale", "space", "fits", "next_size"),
    [(1, 6, "", r"\small"), (0.9, 6, r"\small", r"\footnotesize"), (0.8, 3, r"\footnotesize", r"\scriptsize")],
)
def test_latex_has_the_largest_letters_with_which_a_table_fits(
    breaks: tuple[int, ...], scale: float, space: int, fits: str, next_size: str
) -> None:
    # An article is 345 points wide, a letter 5.5, and more space between metrics 10.
    most = int(((345 - 2 * space * 4) / scale - 10 * len(breaks)) / 5.5)
    for characters, expected in ((most, fits), (most + 1, next_size)):
        table = Table("", ["System", "x", "y", "z"], breaks=breaks)
        table.add(["n" * (characters - 3), "1", "2", "3"])
        size = "".join(latex._size(table))
        assert size.startswith(expected)
        assert bool(size) == bool(expected)


@pytest.mark.parametrize(("multirow", "first"), [(True, r"\multirow{2}{*}{a}"), (False, "a")])
def test_names_of_several_rows_are_written_once_in_latex(multirow: bool, first: str) -> None:
    rows = [(["a", "x"], [2]), (["a", "y"], [0]), (["b", "z"], [1])]
    shown = [latex._row(cells, (), spans, multirow).removesuffix(r" \\") for cells, spans in rows]
    assert shown == [f"{first} & x", " & y", "b & z"]


def test_latex_has_more_space_between_metrics_and_smaller_letters_for_wide_tables() -> None:
    size = re.compile(r"\\(small|footnotesize|scriptsize)")
    for length, expected in ((2, ["small"]), (12, ["footnotesize"]), (99, ["scriptsize"])):
        names = tuple(f"{i}{'n' * length}" for i in range(3))
        report = render(of_systems(3, all_pairs=False, names=names), "latex")
        assert size.findall(report) == expected
        assert report.count(r"@{\hskip 1em}r") == 2
    report = render(score(metrics=SegmentScores("x", {"a": [1, 2, 3], "b": [2, 3, 4]})), "latex")
    assert size.findall(report) == []


# --- Markup in names


def test_latex_escapes_names() -> None:
    report = render(of_systems(6, names=STRANGE), "latex")
    rows = [line for line in report.splitlines() if line.endswith(r"\\") and "System" not in line]
    text = "\n".join(rows)
    for escaped in (
        r"[a] *b* \$x\_1\textasciicircum{}2\$",
        r"* \textbackslash{} \{c\} \# \textasciitilde{} \`{}q\`{} \char34{}r\char34{} 's'",
        r"a-{}-b-{}-{}-c $<$d$>$ \textbar{}e\textbar{} \%f \&g;",
        r"\_f\_ @g =h /i //j k",
        "ä ß -7",
        "- x",
    ):
        assert escaped in text
    # \\ would take a star or a bracket as an argument.
    assert not any(row.startswith(("*", "[")) for row in rows)
    assert "{}[a]" in text or r"\textbf{[a]" in text


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


def test_markdown_escapes_names_and_shows_the_best_in_bold() -> None:
    report = render(of_systems(6, names=STRANGE), "markdown")
    for escaped in (
        r"\[a\] \*b\* \$x_1^2\$", r"\* \\ {c} # \~ \`q\` ", r"a--b---c \<d> \|e\| %f \&g;", r"\_f\_ @g =h /i //j k",
    ):  # fmt: skip
        assert escaped in report
    rows = [line for line in report.splitlines() if line.startswith("| ")]
    assert len({len(re.findall(r"(?<!\\)\|", row)) for row in rows[:8]}) == 1
    assert re.search(r"^\| \*\*.*\*\* \| \*\*\d", report, re.MULTILINE)


# --- Several test sets


@cache
def on_sets(all_pairs: bool = True) -> SetComparison:
    corpus = demo_corpus()
    sets = {
        name: (list(corpus.references[0][start:end]), {k: v[start:end] for k, v in corpus.systems.items()})
        for name, start, end in (("news & views", 0, 150), ("_talks_", 150, 280), ("[x]|", 280, 400))
    }
    return compare_sets(sets, ["bleu", "ter"], n_resamples=199, all_pairs=all_pairs)


@pytest.mark.parametrize("all_pairs", [True, False])
def test_a_paper_has_a_table_of_systems_and_test_sets_for_each_metric(all_pairs: bool) -> None:
    result = on_sets(all_pairs)
    latex, typst = (render(result, fmt) for fmt in ("latex", "typst"))
    assert latex.count(r"\begin{table}") == typst.count("#figure(") == 2
    assert r"System & Average & news \& views & \_talks\_ & [x]\textbar{} \\" in latex
    assert '"System", "Average", "news & views", "_talks_", "[x]|"' in typst
    for report in (latex, typst):
        captions = [line for line in report.splitlines() if "caption" in line]
        assert len(captions) == 2
        for caption in captions:
            assert "199 draws of segments within each test set" in caption
            assert ("Systems that share a letter do not differ significantly." in caption) == all_pairs
            assert ("differs from baseline, adjusted p" in caption) == (not all_pairs)
    more = render(result, "latex", Layout(pairs=True))
    assert more.count(r"\begin{table}") > 2 + 3 * 2
    labels = re.findall(r"\\label\{(.*)\}", more)
    assert len(set(labels)) == len(labels)


def test_markdown_and_html_have_the_tables_and_sentences_of_the_text() -> None:
    result = on_sets()
    assert result.average is not None
    text, markdown, html = (markup(render(result, fmt)) for fmt in ("text", "markdown", "html"))
    assert r"| System | Average | news \& views | \_talks\_ | \[x\]\| |" in markdown
    assert "news &amp; views</th>" in html
    assert html.count("<table") == len(re.findall("^\\| ---", markdown, re.MULTILINE)) == 3
    for sentence in ("larger is better than all others", "step-down maxT over 6 pairs"):
        assert all(sentence in " ".join(report.split()) for report in (text, markdown, html))
    assert f"`{result.signature}`" in markdown


def test_the_two_files_of_csv_have_all_test_sets(demo: Path, run: Any) -> None:
    one = ("--set", "one", "reference.txt", "baseline.txt", "tuned.txt")
    two = ("--set", "two", "reference.txt", "baseline.txt", "tuned.txt")
    assert run("compare", *one, *two, "-n", "99", "-o", "out.csv").code == 0
    for table in ("systems", "pairs"):
        rows = list(csv.DictReader((demo / f"out.{table}.csv").read_text("utf-8").splitlines()))
        assert {row["test_set"] for row in rows} == {"one", "two", ""}
    assert run("compare", *one, *two, "-n", "99", "-o", "out.json").code == 0
    read = read_json(demo / "out.json")
    assert isinstance(read, SetComparison)
    assert run("compare", *one, *two, "-n", "99", "--format", "markdown").out == render(read, "markdown")
    assert run("compare", *one, *two, "-n", "99", "--methods").out.endswith(read.bibtex())


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


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_latex_compiles(tmp_path: Path) -> None:
    lines = [
        r"\documentclass{article}",
        r"\usepackage[T1]{fontenc}",
        r"\usepackage{booktabs,longtable}",
        r"\begin{document}",
    ]
    for name, comparison in documents().items():
        for layout in (Layout(), Layout(pairs=name != "sixty")):
            file = f"{name}-{bool(layout.pairs)}.tex"
            (tmp_path / file).write_text(render(comparison, "latex", layout), "utf-8")
            lines += [f"\\input{{{file}}}", r"\clearpage"]
    (tmp_path / "all.tex").write_text("\n".join([*lines, r"\end{document}"]), "utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all.tex"]
    done = subprocess.run(command, capture_output=True, check=False, cwd=tmp_path, timeout=120)
    assert done.returncode == 0, done.stdout.decode("utf-8", "replace")[-2000:]
    assert b"Undefined" not in done.stdout


def test_typst_compiles(tmp_path: Path) -> None:
    typst: Any = pytest.importorskip("typst", reason="typst is not installed")
    for name, comparison in documents().items():
        source = tmp_path / f"{name}.typ"
        source.write_text(render(comparison, "typst", Layout(pairs=name != "sixty")), "utf-8")
        assert typst.compile(str(source)).startswith(b"%PDF")


@pytest.mark.parametrize("fmt", ["latex", "typst"])
def test_symbols_in_names_of_systems_are_not_explained(fmt: Any) -> None:
    scores = {"first*": [1, 2, 3, 4] * 20, "1.5 a": [1, 3, 2, 4] * 20, "†third": [0, 1, 2, 3] * 20}
    report = render(compare(metrics=SegmentScores("m", scores), all_pairs=True, n_resamples=99), fmt)
    (caption,) = (line for line in report.splitlines() if "caption" in line)
    assert "*:" not in caption
    assert "exact p" not in caption
    assert caption.count("share a letter") == 1
