"""Results in Python: printed, in notebooks, looked up by name, as dicts and data frames."""

import copy
import csv
import io
import json
import pickle
import re
import sys
from functools import partial
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import reshuffle
from browser import Browser
from known import known
from lazy import Lazy
from reshuffle import Comparison, InputError, SegmentScores, approximate_randomization, compare, metric, score
from reshuffle.data.demo import demo_corpus
from reshuffle.report import TABLES, Layout, Terminal, as_fragment, document, notebook, render
from reshuffle.report.cells import keys
from reshuffle.report.conclusions import conclusions
from reshuffle.report.notes import notes
from reshuffle.report.tables import tables
from reshuffle.results.compared import Compared
from reshuffle.results.reported import Reported
from reshuffle.toml import loads
from test_caveats import CASES
from test_caveats import case as caveat_case
from told import assert_raises, assert_told

CORPUS = demo_corpus()
REFERENCES = list(CORPUS.references[0][:80])
SYSTEMS = {name: list(lines[:80]) for name, lines in CORPUS.systems.items()}
DOCUMENTS = [i // 4 for i in range(80)]
STRATA = [i // 40 for i in range(80)]


def ratings(k: int = 3, n: int = 40) -> SegmentScores:
    rng = np.random.default_rng(1)
    return SegmentScores("rating", {f"s{i}": rng.integers(0, 5, n) for i in range(k)})


RESULTS = Lazy[Comparison](
    {
        "baseline": lambda: compare(REFERENCES, SYSTEMS, ["bleu", "ter"], n_resamples=99),
        "all pairs": lambda: compare(
            REFERENCES, SYSTEMS, ["bleu", "ter"], test="ar", n_resamples=99, all_pairs=True, adjust="holm"
        ),
        "documents and strata": lambda: compare(
            REFERENCES, SYSTEMS, ["bleu", "chrf"], n_resamples=99, documents=DOCUMENTS, strata=STRATA
        ),
        "score": lambda: score(REFERENCES, SYSTEMS, ["bleu", "ter"]),
        "score with intervals": lambda: score(REFERENCES, SYSTEMS, "bleu", interval="delta"),
        "without replicates": lambda: compare(metrics=ratings(), test="t-test", interval="t"),
        "post-hoc": lambda: compare(REFERENCES, SYSTEMS, "bleu", test="anova", adjust="tukey", interval=None),
        "one-sided": lambda: compare(
            metrics=ratings(9), all_pairs=True, alternative="less", alpha=0.2, n_resamples=999
        ),
        **{kind: partial(caveat_case, kind) for kind in CASES},  # every caveat
    }
)
TABLE = reshuffle.segment_scores(REFERENCES, SYSTEMS, ["bleu", "ter"])
BY_DOCUMENT = reshuffle.segment_scores(REFERENCES, SYSTEMS, "bleu", documents=DOCUMENTS)


class FakeTerminal(io.StringIO):
    def isatty(self) -> bool:
        return True


# --- Printed


@pytest.mark.parametrize("name", RESULTS)
def test_a_comparison_is_printed_as_the_command_line_shows_it_looked_up_and_data(name: str) -> None:
    result = RESULTS[name]
    assert render(result, "text", Layout(Terminal(100))) == f"{result}\n"
    # Every score and every pair is found by its names.
    for found in result.scores:
        assert result.score(found.system, found.metric) is found
        assert result.score(found.system, found.metric.lower()) is found
    for pair in result.comparisons:
        assert result.pair(pair.system, pair.baseline, pair.metric) is pair
        if result.baseline is not None:
            assert result.pair(pair.system, metric=pair.metric) is pair
    if len(result.metrics) == 1:
        assert [result.score(system) for system in result.systems] == list(result.scores)
    # Dicts equal the rows of the CSV.
    for table in TABLES:
        rows = list(csv.DictReader(io.StringIO(render(result, "csv", Layout(table=table)))))
        dicts = result.to_dicts(table)
        assert [{key: "" if value is None else str(value) for key, value in row.items()} for row in dicts] == rows
        json.dumps(dicts, allow_nan=False)
    if result.comparisons:  # rows of scores have no caveats
        pairs = result.to_dicts("pairs")
        assert [row["caveats"].split() for row in pairs] == [list(pair.caveats) for pair in result.comparisons]
        assert {c.kind for c in result.caveats} == {kind for row in pairs for kind in row["caveats"].split()}


def test_a_comparison_prints_in_the_width_of_the_terminal_and_without_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    result = RESULTS["score"]
    monkeypatch.setenv("COLUMNS", "60")
    for stdout, width in ((FakeTerminal(), 60), (io.StringIO(), 100), (None, 100)):  # None: pythonw
        monkeypatch.setattr(sys, "stdout", stdout)
        assert render(result, "text", Layout(Terminal(width))) == f"{result}\n"
        assert "\x1b" not in str(result)


def test_reprs_of_large_results_are_short() -> None:
    long = SegmentScores("m" * 500, {f"{i}{'x' * 500}": np.arange(3) for i in range(60)})
    many = compare(metrics=long, test="t-test", interval="t", all_pairs=True)
    table = reshuffle.SegmentTable(
        ("a", "b"), (reshuffle.UsedMetric("M", "M", True),), {"M": np.zeros((2, 50_000))}, "M", "0"
    )
    batch = approximate_randomization(np.zeros((900, 3)), np.ones((900, 3)))
    votes = reshuffle.VoteTable.from_columns(["a"] * 99, ["b"] * 99, ["a"] * 99, judge=range(99))
    assert repr(votes) == "<VoteTable: 99 votes; 2 systems (a, b); 99 judges>"
    for result in (many, table, batch, TABLE, *RESULTS.values()):
        assert len(repr(result)) < 500
        assert "\n" not in repr(result)
    shown = repr(RESULTS["all pairs"])
    for part in ("BLEU, TER", "4 systems (baseline, tuned, larger, rules)", "12 tests (ar)", "seed=12345"):
        assert part in shown
    assert repr(RESULTS["score"]).endswith("80 segments>")
    assert "draws=" not in repr(RESULTS["baseline"].scores[0])
    assert "; 1 segment>" in repr(score(metrics=SegmentScores("m", {"a": [1.0], "b": [2.0]})))
    assert repr(BY_DOCUMENT) == "<SegmentTable: BLEU; 4 systems (baseline, tuned, larger, rules); 20 documents>"


# --- Notebooks


class Page(HTMLParser):
    """Checks that tags are closed in order, and collects the text of cells, of sentences and of all other elements."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.texts: dict[str, list[str]] = {}
        self.attributes: list[tuple[str, str | None]] = []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += attrs
        if tag in ("meta", "wbr"):  # have no end
            return
        self.open.append(tag)
        self.texts.setdefault(tag, []).append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        for tag in {*self.open}:
            self.texts[tag][-1] += data


@pytest.mark.parametrize("name", RESULTS)
def test_beneath_the_page_a_notebook_has_what_was_found_the_tables_and_the_notes(name: str) -> None:
    result = RESULTS[name]
    html = as_fragment(document(result, Layout()))
    page = Page(html)
    shown = list(tables(result, Layout()))
    assert [table.title for table in shown] == page.texts["caption"]
    assert [cell for table in shown for cell in table.header] == page.texts["th"]
    assert [cell for table in shown for row in table.rows for cell in row] == page.texts["td"]
    assert [*conclusions(result, Layout())] == page.texts.get("p", [])
    sentences = [*notes(result, Layout()), *keys(shown)]
    assert [*sentences, f"Signature: {result.signature}"] == page.texts["li"]
    assert len(page.texts["summary"]) == 1  # notes are folded
    assert html.isascii()
    # Colours suit light and dark pages; the page loads nothing and runs no script.
    assert {"style", "scope"} == {attribute for attribute, _ in page.attributes}
    styles = " ".join(value or "" for _, value in page.attributes).replace("currentColor", "")
    assert "color" not in styles
    assert "url" not in styles


@pytest.mark.parametrize("name", RESULTS)
def test_without_scripts_the_html_report_has_the_tables_and_the_sentences_of_the_text(name: str) -> None:
    result = RESULTS[name]
    page = Page(result.render("html"))
    shown = list(tables(result, Layout()))
    assert sorted(table.title for table in shown) == sorted(page.texts["caption"])
    assert sorted(c for table in shown for row in table.rows for c in row) == sorted(page.texts["td"])
    sentences = [*conclusions(result, Layout()), *dict.fromkeys(table.key for table in shown if table.key)]
    assert sentences == [text for text in page.texts["p"] if text and "need JavaScript" not in text]
    assert sorted(notes(result, Layout(pairs=True))) == sorted(page.texts.get("li", []))
    assert {result.signature, result.methods_sentence()} <= {*page.texts["pre"]}
    # The security policy of the page forbids styles and scripts in attributes.
    assert not [name for name, _ in page.attributes if name.startswith("on") or name in ("style", "src")]
    assert {value for name, value in page.attributes if name == "href"} == {"#results"}


def test_html_escapes_every_name() -> None:
    evil = "<script>alert('&amp;')</script>\" システム"
    scores = SegmentScores(f"m {evil}", {evil: [1, 2, 3], "b": [2, 3, 1]})
    for html in (
        compare(metrics=scores, n_resamples=9)._repr_html_(),
        reshuffle.segment_scores(metrics=scores)._repr_html_(),
    ):
        assert "<script" not in html
        page = Page(html)
        assert evil in page.texts["td"]
        assert f"m {evil}" in page.texts["th"]
        assert "script" not in page.texts


# --- The page of the HTML report in a frame


FRAME = re.compile(r'<iframe[^>]* srcdoc="([^"]*)"></iframe>')
HALVES = {
    name: ([REFERENCES[part]], {system: lines[part] for system, lines in SYSTEMS.items()})
    for name, part in {"first": slice(0, 40), "second": slice(40, 80)}.items()
}
FRAMED = Lazy[Comparison | reshuffle.SetComparison](
    {
        "pairs": lambda: RESULTS["all pairs"],
        "scores": lambda: RESULTS["score"],
        "sets": lambda: reshuffle.compare_sets(HALVES, n_resamples=99),
    }
)


@pytest.mark.parametrize("name", FRAMED)
def test_the_frame_holds_the_page_and_may_only_run_its_scripts(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where frames are removed, and if the page is too large for a notebook, the tables remain."""
    shown, tables_of_text = FRAMED[name]._repr_html_(), as_fragment(document(FRAMED[name], Layout()))
    (page,) = FRAME.findall(shown)
    assert FRAMED[name].render("html") == unescape(page)
    assert re.findall('sandbox="([^"]*)"', shown) == ["allow-scripts"]
    monkeypatch.setattr(notebook, "MAX_PAGE", 1000)
    without = FRAMED[name]._repr_html_()
    for remaining in (FRAME.sub("", shown), without):
        assert tables_of_text in remaining
        assert "<iframe" not in remaining
        assert "<script" not in remaining
    assert 'write(result.render("html"))' in unescape(without)


def test_a_page_with_too_large_texts_is_not_rendered(monkeypatch: pytest.MonkeyPatch) -> None:
    comparison = compare(CORPUS.references, CORPUS.systems, n_resamples=200, include="texts")
    monkeypatch.setattr(notebook, "as_html", lambda *_: pytest.fail("rendered"))
    monkeypatch.setattr(notebook, "MAX_PAGE", known(comparison.texts).n_bytes - 1)
    assert "more than 0.12484 MB" in comparison._repr_html_()


def test_the_page_works_in_a_sandboxed_frame(browser: Browser) -> None:
    browser.open(f"<!DOCTYPE html><html><body>{FRAMED['pairs']._repr_html_()}</body></html>")
    (frame,) = browser.all("iframe")
    assert frame.rect["height"] > 500
    # The frame covers the tables.
    assert browser.run("return document.elementFromPoint(60, 60).tagName") == "IFRAME"
    browser.driver.switch_to.frame(frame)
    bleu, ter = browser.all("[role=tab]")
    assert (bleu.get_attribute("aria-selected"), ter.get_attribute("aria-selected")) == ("true", "false")
    ter.click()
    assert (bleu.get_attribute("aria-selected"), ter.get_attribute("aria-selected")) == ("false", "true")
    browser.driver.switch_to.default_content()
    assert browser.console() == []
    assert browser.requests() == []


# --- Looked up


def test_a_failed_lookup_names_what_can_be_looked_up() -> None:
    names = {"BASELINE": RESULTS["baseline"], "PAIRS": RESULTS["all pairs"], "ALONE": RESULTS["score"]}
    assert_raises("python_errors_of_results", globals() | names)
    # Metrics that differ only in case are not confused.
    scores = [SegmentScores(name, {"a": [1, 2, value], "b": [2, 3, 4]}) for name, value in (("M", 3), ("m", 6))]
    result = score(metrics=scores)
    assert [result.score("a", name).score for name in "Mm"] == [2, 3]


def test_advice_for_an_attribute_leads_to_one_that_exists() -> None:
    for owner, group in loads((Path(reshuffle.__file__).parent / "advice.toml").read_text("utf-8")).items():
        if owner in ("argument", "arguments of Plots", "metric", "test", "format", "missing"):
            continue
        kind = {"reshuffle": reshuffle, "Reported": Reported, "Compared": Compared}.get(owner)
        found = (getattr(each, owner, None) for each in (reshuffle, reshuffle.meta, reshuffle.report))
        kind = kind or next(filter(None, found))
        for advice, names in group.items():
            assert not [name for name in names if hasattr(kind, name)], owner
            for used in re.findall(r"^use (?:comparison\.|reshuffle\.)?(\w+)", advice):
                assert used in {*dir(kind), *getattr(kind, "__dataclass_fields__", ()), *dir(reshuffle), "print"}, (
                    advice
                )
    comparison = RESULTS["baseline"]
    assert pickle.loads(pickle.dumps(copy.copy(comparison))) == comparison


# --- Saved


def test_save_writes_what_render_returns(tmp_path: Path) -> None:
    result = RESULTS["baseline"]
    for ending, fmt in {"": "text", ".txt": "text", ".JSON": "json", ".tex": "latex", ".csv": "csv"}.items():
        result.save(tmp_path / f"result{ending}", digits=1)
        # Labels have the name of the file, so that an article can have several.
        rendered = result.render(fmt, digits=1).replace("tab:reshuffle", "tab:result")
        assert (tmp_path / f"result{ending}").read_text("utf-8") == rendered
    TABLE.save(tmp_path / "segments.tsv")
    assert (tmp_path / "segments.tsv").read_text("utf-8") == TABLE.render("tsv")


def test_a_result_that_cannot_be_saved_leaves_an_earlier_file(tmp_path: Path) -> None:
    file = tmp_path / "result.tex"
    file.write_text("earlier")
    for name, options, error, message in (
        ("result.pdf", {}, InputError, r"no format has the ending .pdf; use .txt, .* \(figures: result.plot.NAME"),
        ("no/result.json", {}, InputError, "cannot be written: No such file"),
        ("result.tex", {"digit": 1}, TypeError, "did you mean 'digits'"),
    ):
        with pytest.raises(error, match=message):
            RESULTS["baseline"].save(tmp_path / name, **options)
    assert file.read_text() == "earlier"
    assert [*tmp_path.iterdir()] == [file]


# --- As data


@pytest.mark.parametrize("table", [TABLE, BY_DOCUMENT], ids=["segments", "documents"])
def test_dicts_of_segments_equal_the_json_lines(table: reshuffle.SegmentTable) -> None:
    assert [json.loads(line) for line in table.render("jsonl").splitlines()] == table.to_dicts()


# --- Segments


def test_a_table_of_segments_prints_its_first_rows_or_a_short_one_in_full() -> None:
    lines = str(TABLE).splitlines()
    assert lines[0] == "80 segments, 4 systems"
    assert lines[2].split() == ["Segment", "System", "BLEU", "TER"]
    expected = [
        [str(s + 1), name, f"{TABLE.scores['BLEU'][k, s]:.2f}", f"{TABLE.scores['TER'][k, s]:.2f}"]
        for s in range(2)
        for k, name in enumerate(TABLE.systems)
    ]
    assert expected == [line.split() for line in lines[4:12]]
    assert lines[12:] == ["", "8 of 320 rows; to_dicts() and to_pandas() have all.", f"Signature: {TABLE.signature}"]
    assert str(BY_DOCUMENT).splitlines()[0] == "20 documents, 4 systems"
    page = Page(TABLE._repr_html_())
    assert [cell for row in expected for cell in row] == page.texts["td"]
    table = reshuffle.segment_scores(metrics=SegmentScores("system", {"a": [1, 2]}))
    lines = str(table).splitlines()
    assert [line.split() for line in lines[4:6]] == [["1", "a", "1.000"], ["2", "a", "2.000"]]
    assert not any("rows" in line for line in lines)


# --- One test


def test_a_test_result_prints_its_settings_and_its_p_value() -> None:
    a, b = metric("bleu").suff_stats([REFERENCES], [SYSTEMS["tuned"], SYSTEMS["baseline"]])
    scores = SegmentScores("acc", {"old": [0, 1, 1, 0] * 9, "new": [1, 1, 1, 0] * 9})
    pair = compare(metrics=scores, n_resamples=99).pair("new")
    shuffled = partial(approximate_randomization, a, b, "bleu", n_resamples=999)
    cases: dict[str, reshuffle.SignificanceResult] = {
        "shuffles": shuffled(),
        "a subgroup": shuffled(scheme="subgroup"),
        "all shuffles": approximate_randomization([1, 2, 1, 3], [0, 1, 0, 1]),
        "convolution": approximate_randomization(np.arange(60), np.arange(60) % 7),
        "draws": reshuffle.bootstrap_test(a, b, "bleu", n_resamples=999, test="bootstrap-percentile"),
        "stopped": shuffled(stopping=reshuffle.BesagClifford(5)),
        "not stopped": approximate_randomization(a, b, "bleu", stopping="gandy", n_resamples=9),
        "adjusted": RESULTS["all pairs"].comparisons[0].test,
        "a batch": approximate_randomization(a.reshape(2, 40, -1), b.reshape(2, 40, -1), "bleu", n_resamples=99),
        "of a pair with names": pair.test,
        "of the same pair reversed": pair.reversed.test,
    }
    assert_told("tests", {case: str(result) for case, result in cases.items()})


def test_plots_say_which_figures_there_are() -> None:
    scores = SegmentScores("acc", {"old": [0, 1, 1, 0] * 9, "new": [1, 1, 1, 0] * 9})
    for result, figure in (
        (compare(metrics=scores, n_resamples=99), "forest"),
        (reshuffle.study.plan(metrics=scores, simulate=False), "detectable"),
    ):
        assert repr(result.plot).startswith("figures of the result: result.plot.")
        assert f"result.plot.{figure}(" in repr(result.plot)
        with pytest.raises(TypeError, match=r"figures of the result: result\.plot\."):
            result.plot()
