"""Reports of studies: every format, saved studies, figures, pages, and the command line."""

from __future__ import annotations

import csv
import io
import json
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from browser import Browser
from pages import markup
from reshuffle import InputError, SegmentScores, StudyResult, compare, read_html, read_json, study, types
from reshuffle.cli.studies import COMMANDS
from reshuffle.inference.tests import DEFAULT
from reshuffle.options.declare import options_of
from reshuffle.options.studies import Agreement, Multiplicity
from reshuffle.report import Layout, Terminal, render
from reshuffle.report.plots import file_of
from reshuffle.report.studies import STUDIES
from reshuffle.results import UsedMetric, clopper_pearson
from reshuffle.results.studies import PvalueShare, Rate
from reshuffle.results.studies.type1 import Type1Plan
from reshuffle.study.settings import DEFAULT_TESTS
from schemas import validator
from tex import compiled_all, plain

GUIDE = Path(__file__).resolve().parents[2] / "docs/guide"
LEVELS = (0.01, 0.05, 0.1)
# Rejections of 2,000 simulated tests at these levels.
REJECTIONS = {"ar": (20, 103, 199), "bootstrap-percentile": (17, 78, 160), "bootstrap-shift": (48, 216, 451)}

# Settings that do not matter here.
OTHERS: dict[str, Any] = {
    "sampling": "replace", "scheme": "iid", "stopping": None, "weight_sets": None, "alternative": "two-sided",
    "baseline": None, "all_pairs": False, "margins": {}, "seed": 1, "equalize": None, "document_size": None,
    "icc": None, "noise": None, "runs": None, "variants": None,
}  # fmt: skip


def made(
    metrics: Sequence[str] = ("BLEU",),
    nulls: Sequence[str] = ("swap",),
    sizes: Sequence[int] = (500,),
    rejections: Mapping[str, Sequence[int]] = REJECTIONS,
) -> StudyResult[Type1Plan]:
    """A study of type-I errors with chosen numbers of rejections."""
    cells = [
        (null, size, test, metric) for null in nulls for size in sizes for test in rejections for metric in metrics
    ]
    rates = tuple(
        Rate(test, metric, null, n, alpha, count / 2000, clopper_pearson(count, 2000), 2000)
        for null, n, test, metric in cells
        for alpha, count in zip(LEVELS, rejections[test], strict=True)
    )
    points = tuple(PvalueShare(t, m, null, n, p, p) for null, n, t, m in cells for p in (0.1, 0.5, 1.0))
    return StudyResult(
        study="type1",
        plan=Type1Plan(
            null=tuple(nulls),
            metrics=tuple(metrics),
            systems=("old", "new"),
            units=2500,
            unit="segment",
            tests=tuple(rejections),
            sizes=tuple(sizes),
            alphas=LEVELS,
            simulations=2000,
            n_resamples=999,
            **OTHERS,
        ),
        metrics=tuple(UsedMetric(name, f"{name}|nrefs:1", True, None) for name in metrics),
        tables={"rates": rates, "pvalues": points},
        truths={null: f"What is true under {null}." for null in nulls},
        signature="study:type1|null:swap|n:999|version:reshuffle-0",
        version="0",
    )


SEVERAL = made(("BLEU", "chrF2"), ("swap", "equal-score"), (100, 2500))


@cache
def computed() -> StudyResult:
    """A study of the package's own."""
    scores = np.random.default_rng(3).integers(0, 9, (2, 40)).astype(float)
    ratings = SegmentScores("rating", dict(zip(("a", "b"), scores, strict=True)))
    return study.type1(metrics=ratings, tests=["ar", "bootstrap-shift"], simulations=30, n_resamples=39)


def results() -> list[StudyResult]:
    return [made(), SEVERAL, computed()]


# --- Text and the other formats


def test_text_shows_rates_intervals_verdicts_and_what_was_true() -> None:
    lines = render(made(), "text", Layout(Terminal(100))).splitlines()
    expected = [
        "Type-I error in %: BLEU, null hypothesis swap, n = 500, 2,000 simulations",
        "ar                      1.0   0.6 to 1.5    5.1    4.2 to 6.2  10.0    8.7 to 11.3",
        "bootstrap-percentile    0.9   0.5 to 1.4    3.9†   3.1 to 4.8   8.0†    6.8 to 9.3",
        "bootstrap-shift         2.4*  1.8 to 3.2   10.8*  9.5 to 12.2  22.6*  20.7 to 24.4",
        "Too liberal: bootstrap-shift at every α.",
        "Conservative: bootstrap-percentile at α = 0.05 and 0.1.",
        "The rates of ar are compatible with α.",
        "swap: What is true under swap.",
        "Tests: ar, bootstrap-percentile and bootstrap-shift, two-sided, with 999 replicates each.",
    ]
    assert [line for line in lines if line in expected] == expected


def test_tests_of_equivalence_are_not_called_two_sided() -> None:
    metric = SegmentScores("q", {"a": [0.1, 0.5, 0.3, 0.2] * 5, "b": [0.2, 0.4, 0.3, 0.1] * 5})
    for tests, shown in (
        (["equivalence:q=0.1", "equivalence-ar"], "Tests: equivalence and equivalence-ar, with 19 replicates each."),
        (["equivalence:q=0.1", "ar"], "Tests: equivalence and ar, ar two-sided, with 19 replicates each."),
        (["bootstrap", "ar"], "Tests: bootstrap and ar, two-sided, with 19 replicates each."),
    ):
        found = study.type1(metrics=metric, tests=tests, simulations=5, n_resamples=19)
        assert shown in found.render("text")


def test_rates_of_several_cells_are_in_one_row_each() -> None:
    text = SEVERAL.render()
    for null in ("swap", "equal-score"):
        assert text.count(f"Type-I error in %: null hypothesis {null}, 2,000 simulations") == 1
        assert f"{null}: What is true under {null}." in text
    assert len(re.findall(r"^bootstrap-shift +(BLEU|chrF2) +(100|2,500) +2.4\* ±0.7 +10.8\* ±1.4", text, re.M)) == 8
    assert "±: half the width of the 95% CI." in text
    assert "one in forty rates" in text


def test_captions_explain_the_symbols() -> None:
    (caption,) = re.findall(r"\\caption\{(.*)\}\\label", made().render("latex"))
    assert caption.startswith(r"Type-I error in \%: BLEU, null hypothesis swap, $n$ = 500, 2,000 simulations. Bold:")
    (caption,) = re.findall(r'caption\(position: top, "(.*)"\)', plain(made().render("typst")))
    assert caption.endswith("*: the interval lies above α (liberal). †: the interval lies below α (conservative).")


def test_latex_compiles(tmp_path: Path) -> None:
    compiled_all(tmp_path, [result.render("latex") for result in results()])


def test_typst_compiles(tmp_path: Path) -> None:
    typst: Any = pytest.importorskip("typst", reason="typst is not installed")
    (tmp_path / "study.typ").write_text(SEVERAL.render("typst"), "utf-8")
    assert typst.compile(str(tmp_path / "study.typ")).startswith(b"%PDF")


def test_a_result_displays_itself() -> None:
    result = made()
    assert repr(result) == "<StudyResult: type1; rates: 9, pvalues: 9>"
    assert str(result) == render(result, "text", Layout(Terminal.from_stdout())).rstrip("\n")
    assert result._repr_html_().count("<table") == 1
    with pytest.raises(InputError, match=r"a table .* is chosen for the format csv, not for json"):
        result.render("json", table="rates")
    with pytest.raises(InputError, match="unknown study 'type2': did you mean 'type1'"):
        replace(result, study="type2").render()


# --- Tables as data


def test_csv_and_dicts_have_the_fields_of_the_records() -> None:
    result = computed()
    for table in (None, "rates", "pvalues"):
        rows = result.to_dicts(table)
        written = [*csv.DictReader(io.StringIO(result.render("csv", table=table)))]
        assert [{key: str(value) for key, value in row.items()} for row in rows] == written
    columns = "test metric null size alpha rate low high simulations".split()
    assert columns == list(result.to_dicts()[0])
    assert [rate.confidence_interval.low for rate in result.rates] == [row["low"] for row in result.to_dicts()]
    with pytest.raises(InputError, match="unknown table 'rate': did you mean 'rates'"):
        result.to_dicts("rate")


def test_a_band_and_its_interval_have_columns_of_their_own() -> None:
    band = study.validate(
        metrics=SegmentScores("rating", np.random.default_rng(1).random((3, 60))), sizes=[10], n_resamples=49
    )
    row = band.to_dicts("bands")[0]
    assert (row["low"], row["high"]) == (band.tables["bands"][0].low, band.tables["bands"][0].high)


# --- Saved studies


NAMES = st.text(max_size=6)
NUMBERS = st.floats(allow_nan=True, allow_infinity=True)


@given(st.lists(st.tuples(NAMES, NAMES, st.integers(0, 10**9), NUMBERS, st.integers(0, 50)), min_size=1), NAMES)
def test_any_record_is_read_back(rows: list[tuple[str, str, int, float, int]], truth: str) -> None:
    rates = tuple(
        Rate(test, metric, "swap", size, alpha, count / 50, clopper_pearson(count, 50), 50)
        for test, metric, size, alpha, count in rows
    )
    used = tuple(UsedMetric(name, name, True) for name in dict.fromkeys(metric for _, metric, *_ in rows))
    result = replace(
        made(),
        tables={"rates": rates},
        truths={"swap": truth},
        metrics=used,
        plan=replace(made().plan, variants={"x": [1, None, {"y": (0.1, "z")}]}),
    )
    assert repr(read_json(result.render("json")).__dict__) == repr(result.__dict__)


def test_other_keys_are_ignored_and_damaged_ones_are_named() -> None:
    document = json.loads(made().render("json"))
    assert read_json(json.dumps(document | {"of a later version": [{"x": 1}]})) == made()
    changes: tuple[tuple[Callable[[Any], object], str], ...] = (
        (lambda d: d["rates"][3].pop("alpha"), r"JSON, rates\[3\].alpha: the key is missing"),
        (lambda d: d["rates"][0].update(size="5"), r"rates\[0\].size: expected a whole number, got '5'"),
        (lambda d: (d.pop("rates"), d.pop("pvalues")), "expected the records of a table"),
        (lambda d: d["plan"].pop("sampling"), r"JSON, plan\.sampling: the key is missing"),
        (lambda d: d["plan"].update(sizes=[10, "20"]), r"plan\.sizes\[1\]: expected a whole number, got '20'"),
        (lambda d: d.update(schema="reshuffle.study/9"), "reads reshuffle.study/1, got 'reshuffle.study/9': inst"),
    )
    for change, message in changes:
        damaged = json.loads(json.dumps(document))
        change(damaged)
        with pytest.raises(InputError, match=message):
            read_json(json.dumps(damaged))


def test_the_schema_refuses_other_documents() -> None:
    document = json.loads(SEVERAL.render("json"))
    validator().validate(document)
    wrong: list[dict[str, Any]] = [{"schema": "x"}, {"rates": [{}]}, {"truths": [1]}, {"metrics": 1}]
    for change in wrong:
        assert not validator().is_valid(document | change)


# --- Figures


@pytest.mark.parametrize("kind", STUDIES["type1"].figures)
def test_figures_have_a_legend_and_are_drawn_alike_twice(kind: str) -> None:
    ax, again = (getattr(made().plot, kind)() for _ in range(2))
    assert file_of(ax.figure, "svg") == file_of(again.figure, "svg")
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [*REJECTIONS]


def test_more_figures_than_a_page_shows_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reshuffle.report.studies.page.MAX_FIGURES", 3)
    page = SEVERAL.render("html")
    # Both kinds of figures for each of two metrics, nulls and sizes.
    assert (page.count("<img "), f"{2 * 8 - 3} more figures are not shown" in page) == (3, True)


def test_a_figure_without_room_does_not_cost_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    def without_room(figure: Any, fmt: str) -> bytes:
        raise InputError("a figure of 3 × 2 inches has no room for its labels")

    monkeypatch.setattr("reshuffle.report.studies.page.file_of", without_room)
    page = made().render("html")
    assert ("<img " in page, " more figures are not shown: reshuffle plot draws them" in page) == (False, True)


def test_rates_are_drawn_relative_to_their_levels() -> None:
    ax = made().plot.rates()
    points = [line for line in ax.lines if line.get_marker() not in ("None", "")]
    drawn = sorted(float(y) for line in points for y in np.asarray(line.get_ydata()))
    assert drawn == pytest.approx(sorted(rate.rate / rate.alpha for rate in made().rates))
    filled = sum(line.get_markerfacecolor() != "white" for line in points)
    assert filled == sum(rate.verdict != "at its level" for rate in made().rates) == 5


def test_a_figure_is_of_one_metric_null_and_size() -> None:
    plots = SEVERAL.plot
    assert dir(plots) == ["qq", "rates", "study"]
    chosen = plots.rates(metric="chrf2", null="swap", size=100)
    assert len([line for line in chosen.lines if line.get_marker() not in ("None", "")]) == 9
    for options, message in (
        ({}, r"several values of metric: choose one with metric: BLEU, chrF2"),
        ({"metric": "blue"}, "unknown metric 'blue'"),
        ({"metric": "BLEU", "null": "swap", "size": 3}, "unknown size '3'"),
        ({"alpha": 0.1}, "rates has no option alpha: it has metric, null, size"),
    ):
        with pytest.raises(InputError, match=message):
            plots.rates(**options)
    with pytest.raises(AttributeError, match="has no figure 'forest'; its figures: rates, qq"):
        plots.forest  # noqa: B018
    with pytest.raises(InputError, match="shows the table pvalues, but the result has none"):
        replace(made(), tables={"rates": made().rates}).plot.qq()


# --- The page


def test_tables_of_the_page_can_be_sorted(browser: Browser) -> None:
    browser.open(made().render("html"))
    header = browser.all("table thead th")[1]
    header.find_element("css selector", "button").click()
    names = browser.texts("table tbody td:first-child")
    assert header.get_attribute("aria-sort") == "descending"
    assert names == ["bootstrap-shift", "ar", "bootstrap-percentile"]


def test_names_in_the_page_are_no_markup(browser: Browser) -> None:
    name = "</script><script>window.hacked = 1</script><img src=x onerror=window.hacked=1>"
    result = made(metrics=(name, "b"))
    page = result.render("html")
    browser.open(page)
    assert browser.run("return window.hacked") is None
    assert "<img src=x" not in markup(page)
    assert read_html(page) == result


def test_without_matplotlib_the_page_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reshuffle.report.studies.page.find_spec", lambda name: None)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    page = made().render("html")
    assert "matplotlib, which draws the figures, is not installed" in page
    assert "<img" not in page
    with pytest.raises(ModuleNotFoundError, match=r"plots need matplotlib: pip install 'reshuffle\[plots\]'"):
        made().plot  # noqa: B018


# --- The command line

ARGUMENTS = ("study", "type1", "reference.txt", "baseline.txt", "tuned.txt", "--simulations", "20", "-n", "39")


def test_the_command_gives_what_the_function_gives(run: Any, demo: Path) -> None:
    options = ("--null", "swap", "--tests", "ar,bootstrap,bootstrap-shift", "-m", "bleu", "chrf", "--sizes", "50", "80")
    outcome = run(*ARGUMENTS, *options, "--alphas", "0.1,0.2", "--seed", "7", "--workers", "1", "--format", "json")
    assert (outcome.code, outcome.err) == (0, "")
    lines = {
        name: (demo / f"{name}.txt").read_text("utf-8").splitlines() for name in ("reference", "baseline", "tuned")
    }
    references = lines.pop("reference")
    expected = study.type1(
        references, lines, ["bleu", "chrf"], tests=["ar", "bootstrap", "bootstrap-shift"], sizes=[50, 80],
        alphas=[0.1, 0.2], simulations=20, n_resamples=39, seed=7,
    )  # fmt: skip
    found = read_json(outcome.out)
    assert replace(found, inputs=()) == expected
    rates = json.loads(outcome.out)["rates"]
    assert set(rates[0]) == {
        "test", "metric", "null", "size", "alpha", "rate", "confidence_interval", "simulations"
    }  # fmt: skip
    assert {"low", "high"} < set(rates[0]["confidence_interval"])


@pytest.mark.parametrize(
    "words",
    [
        ("--tests", "ar", "bootstrap", "reference.txt", "baseline.txt", "tuned.txt"),
        ("reference.txt", "baseline.txt", "tuned.txt", "--tests", "ar,bootstrap"),
        ("--test", "ar", "--sizes", "400", "--test", "bootstrap", "reference.txt", "baseline.txt", "tuned.txt"),
    ],
)
@pytest.mark.usefixtures("demo")
def test_lists_are_separated_by_commas_or_spaces(run: Any, words: tuple[str, ...]) -> None:
    outcome = run("study", "type1", *words, "--simulations", "5", "-n", "19", "--format", "json")
    assert outcome.code == 0, outcome.err
    assert json.loads(outcome.out)["plan"]["tests"] == ["ar", "bootstrap"]


def test_reports_are_written_to_files(run: Any, demo: Path) -> None:
    for ending in ("tex", "html"):
        outcome = run(*ARGUMENTS, "--tests", "ar", "-o", f"out.{ending}")
        assert (outcome.code, outcome.out, outcome.err) == (0, "", "")
    page = (demo / "out.html").read_text("utf-8")
    assert "reshuffle study type1 reference.txt" in page
    result = read_html(page)
    assert isinstance(result, StudyResult)
    assert (demo / "out.tex").read_text("utf-8") == result.render("latex")
    figure = run("plot", "out.html", "qq", "-o", "qq.svg")
    assert (figure.code, figure.err) == (0, "")


@pytest.mark.usefixtures("demo")
def test_a_table_is_chosen_for_csv(run: Any) -> None:
    outcome = run(*ARGUMENTS, "--tests", "ar", "--format", "csv", "--table", "pvalues")
    assert outcome.out.startswith("test,metric,null,size,p,share\n")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("study", "tpye1"), "unknown study 'tpye1': did you mean 'type1'?"),
        (("study", "type1", "reference.txt"), "expected at least two systems after REF"),
        ((*ARGUMENTS, "--tests", "ar", "bootstrop"), "unknown test 'bootstrop': did you mean 'bootstrap'?"),
        ((*ARGUMENTS, "--alphas", "5%"), "--alphas must be numbers separated by commas or spaces, got '5%'"),
        ((*ARGUMENTS, "--sizes", "5000"), "5,000 segments were asked for, but the pool has only 400"),
        ((*ARGUMENTS, "--table", "rates"), "--table is for the format csv, not text"),
        ((*ARGUMENTS, "--format", "csv", "--table", "rate"), "unknown table 'rate': did you mean 'rates'?"),
        ((*ARGUMENTS, "--strata", "reference.txt"), "--strata does not apply to 'reshuffle study type1': leave it out"),
        ((*ARGUMENTS, "--baseline", "bleu.txt"), "unknown baseline 'bleu.txt'"),
    ],
)
@pytest.mark.usefixtures("demo")
def test_bad_arguments_are_one_sentence(run: Any, words: tuple[str, ...], message: str) -> None:
    assert message in run(*words).refusal()


def test_plots_of_studies_and_comparisons_are_told_apart(run: Any, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    scores = SegmentScores("rating", {"a": [1, 2, 3, 4] * 20, "b": [1, 3, 2, 4] * 20})
    Path("study.json").write_text(SEVERAL.render("json"), "utf-8")
    Path("result.json").write_text(compare(metrics=scores, n_resamples=99).render("json"), "utf-8")
    good = run("plot", "study.json", "rates", "--metric", "bleu", "--null", "swap", "--size", "100", "-o", "x.pdf")
    assert (good.code, good.err) == (0, "")
    for words, message in (
        (("study.json", "forest"), "unknown figure of the study type1 'forest'; known: rates, qq"),
        (("study.json", "rates"), "several values of metric: choose one with --metric: BLEU, chrF2"),
        (("study.json", "rates", "--baseline", "a"), "--baseline is for figures of comparisons"),
        (("result.json", "rates"), "'rates' shows a study, but the result is a comparison: choose ranking, "),
        (("result.json", "ranking", "--null", "swap"), "--null is for figures of studies"),
        (("study.json", "rat"), "unknown figure 'rat': did you mean 'rates'?"),
    ):
        outcome = run("plot", *words, "-o", "y.pdf")
        assert outcome.code == 2
        assert message in outcome.err
        assert not Path("y.pdf").exists()


def test_every_study_and_every_figure_is_in_the_guide(run: Any) -> None:
    help_text = run("plot", "--help").out
    guide = "".join(page.read_text("utf-8") for page in GUIDE.glob("*.md"))
    for kind in get_args(types.StudyPlotKind):
        assert re.search(rf"^    {kind} ", help_text, re.MULTILINE), kind
        assert f"| `{kind}` |" in guide, kind
    for name in COMMANDS:
        assert f"| `reshuffle study {name}` |" in guide


def test_help_has_groups_and_examples(run: Any) -> None:
    assert "type1" in run("study", "--help").out
    shown = run("study", "type1", "--help-all").out
    assert len(run("study", "type1", "--help").out.splitlines()) <= 80
    assert re.findall(r"^(\w+):$", shown, re.M) == ["Examples", "Input", "Metrics", "Study", "Resampling", "Output"]
    assert all(name in shown for name in get_args(types.Null))
    assert max(map(len, shown.splitlines())) <= 105


@pytest.mark.parametrize(
    ("study", "tests"),
    [
        ("type1", DEFAULT_TESTS),
        ("power", DEFAULT_TESTS),
        ("multiplicity", options_of(Multiplicity)["tests"].default),
        ("agreement", options_of(Agreement)["tests"].default),
    ],
)
def test_the_default_test_of_comparisons_is_among_those_of_studies(study: str, tests: Any, run: Any) -> None:
    assert DEFAULT in tests
    shown = " ".join(run("study", study, "--help").out.split())
    (default,) = re.findall(r"--tests, --test NAME.*?\[default: (.*?)\]", shown)
    assert [name for name in re.findall(r"[\w-]+", default) if name in get_args(types.Test)] == list(tests)
