"""The HTML report in a browser: its parts work, are legible to all readers, and show the numbers of the result."""

from __future__ import annotations

import base64
import csv
import hashlib
import json
import math
import re
from dataclasses import replace
from functools import partial
from itertools import chain, pairwise
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import reshuffle
import reshuffle.report.json
from browser import Browser
from known import known
from lazy import Lazy
from pages import contrast, markup
from reshuffle import Comparison, SegmentScores, SetComparison, compare, compare_sets, gate, read_html, score
from reshuffle.data.demo import demo_corpus
from reshuffle.errors import printable
from reshuffle.report import Layout
from reshuffle.report.caveats import cautions
from reshuffle.report.cells import pvalue_cell, short_pvalue
from reshuffle.report.formulas import symbols_for_scripts
from reshuffle.report.page import COMMENTS, HERE, SCRIPTS, STUDY_SCRIPTS
from reshuffle.report.tables import pair_tables, tables

CORPUS = demo_corpus()
REFERENCES = [lines[:120] for lines in CORPUS.references]
SYSTEMS = {name: lines[:120] for name, lines in CORPUS.systems.items()}
HOSTILE = (
    "</script><script>window.hacked = 1</script>",
    "<img src=x onerror=window.hacked=1>",
    "'\"&amp;{{ 7 * 7 }}\u2028b\u202e",
    "c\u2067d\u2069\u202d",
    "a" * 10_000,
    " ",
)


def ratings(names: list[str], n: int = 60, missing: int = 0, metric: str = "rating") -> SegmentScores:
    """Scores of systems, each of which is a little better than the one before."""
    scores = np.random.default_rng(len(names)).normal(50, 10, (len(names), n)) + 2 * np.arange(len(names))[:, None]
    scores[0, :missing] = np.nan
    return SegmentScores(metric, dict(zip(names, scores, strict=True)), missing="pairwise" if missing else "error")


def numbered(k: int) -> list[str]:
    return [f"s{i:02}" for i in range(k)]


def on_sets(**options: Any) -> SetComparison:
    texts = {
        name: ([lines[a:b] for lines in REFERENCES], {system: lines[a:b] for system, lines in SYSTEMS.items()})
        for name, (a, b) in {"news": (0, 60), "Average": (60, 120), "7": (0, 40)}.items()
    }
    return compare_sets(texts, ["bleu", "ter"], all_pairs=True, n_resamples=99, **options)


RESULTS = Lazy[Comparison | SetComparison](
    {
        "all pairs": lambda: compare(
            REFERENCES, SYSTEMS, ["bleu", "ter"], all_pairs=True, n_resamples=199, test="ar", include="parts"
        ),
        "baseline": lambda: compare(REFERENCES, SYSTEMS, ["bleu", "ter"], n_resamples=199),
        "one pair": lambda: compare(
            REFERENCES, {name: SYSTEMS[name] for name in ("baseline", "tuned")}, n_resamples=199
        ),
        "score": lambda: score(REFERENCES, SYSTEMS, ["bleu", "ter"], confidence_level=0.9, n_resamples=199),
        "scores alone": lambda: score(REFERENCES, SYSTEMS, "bleu"),
        "missing": lambda: compare(metrics=ratings(numbered(4), missing=5), all_pairs=True, n_resamples=199),
        "one-sided": lambda: compare(metrics=ratings(numbered(3)), all_pairs=True, alternative="less", n_resamples=199),
        "exact": lambda: compare(
            metrics=ratings(numbered(3), 10), test="ar:scheme=exact", interval=None, adjust="holm"
        ),
        "no adjustment": lambda: compare(
            metrics=ratings(numbered(3)), test="t-test", interval="t", adjust="none", all_pairs=True
        ),
        "100,000 draws": lambda: compare(metrics=ratings(numbered(2)), n_resamples=100_000, interval=None),
        "many": lambda: compare(metrics=ratings(numbered(20)), all_pairs=True, n_resamples=199, interval=None),
        "sets": lambda: on_sets(),
        "no average": lambda: on_sets(average=False),
        "hostile": lambda: compare(
            metrics=ratings([*HOSTILE], metric=f"m {HOSTILE[0]}"), all_pairs=True, n_resamples=99
        ),
    }
)


def comparison(name: str) -> Comparison:
    found = RESULTS[name]
    assert isinstance(found, Comparison)
    return found


PAGES = Lazy({name: partial(lambda each: RESULTS[each].render("html"), name) for name in RESULTS})


def cells(browser: Browser, table: str, kind: str = "") -> list[list[str]]:
    """The texts of the cells of a table's body, in rows of a kind."""
    return browser.each(f"{table} tbody tr{kind}", "[...each.cells].map((cell) => cell.textContent)")


def sort(browser: Browser, column: int, table: str = "#pairs table") -> str | None:
    """Click the header of a column, and return its direction."""
    header = browser.all(f"{table} thead th")[column]
    header.find_element("css selector", "button").click()
    return header.get_dom_attribute("aria-sort")


# --- Every kind of result


@pytest.mark.parametrize("name", RESULTS)
def test_every_result_fits_wide_and_narrow_pages_with_the_pairs_of_the_text_report(browser: Browser, name: str) -> None:
    browser.open(PAGES[name])
    result = RESULTS[name]
    (first, *_) = [result] if isinstance(result, Comparison) else result.sets.values()
    for width in (1400, 400):
        browser.resize(width)
        assert browser.run("return document.documentElement.scrollWidth") == width
        assert browser.run("return scrollY") == 0
    tested = bool(first.comparisons)
    assert browser.shown("#ranking") == [True]
    assert browser.shown("#pairs, #null, #differences") == [tested] * 3
    assert browser.run("return window.hacked") is None
    ids = browser.each("[id]", "each.id")
    assert len(ids) == len({*ids})
    # Texts below the visible part are not laid out, and have no innerText yet.
    buttons = zip(browser.shown("button"), browser.texts("button"), strict=True)
    assert all(text.strip() for is_shown, text in buttons if is_shown)
    if isinstance(result, Comparison):
        check_pairs(browser, result)


def check_pairs(browser: Browser, result: Comparison) -> None:
    """The pairs of a loaded page are those of the text report."""
    for position, metric in enumerate(result.metrics if result.comparisons else ()):
        one = replace(
            result,
            metrics=(metric,),
            scores=tuple(s for s in result.scores if s.metric == metric.name),
            comparisons=tuple(better_first(result, p) for p in result.comparisons if p.metric == metric.name),
        )
        browser.run("showView(0, arguments[0])", position)
        browser.run("currentPairs.beforePrint()")
        if result.baseline is None:
            # The tables of the formula's parts follow; another test reads them on the page.
            (table, *_) = pair_tables(one, Layout(pairs=True))
            expected = {tuple(map(printable, row[:2])): row[2:] for row in table.rows}
        else:
            (table,) = tables(one, Layout())
            start = table.header.index("Δ")
            expected = {(row[0], result.baseline): row[start:] for row in table.rows if row[0] != result.baseline}
            assert [text.strip() for text in browser.texts("#pairs th")][2:] == table.header[start:]
        # A family of one metric has other titles: only cells are compared.
        found = {tuple(row[:2]): row[2:] for row in cells(browser, "#pairs")}
        assert found == expected
        won = [pair for pair in one.comparisons if one.verdict(pair) == "better"]
        better = {(printable(pair.system), printable(pair.baseline)) for pair in won}
        assert {tuple(row[:2]) for row in cells(browser, "#pairs", ".won")} == better


def better_first(result: Comparison, pair: Any) -> Any:
    """A pair of a two-sided test of all pairs as the page shows it: the better system first."""
    if result.baseline is not None or known(result.test).alternative != "two-sided":
        return pair
    (higher,) = (metric.higher_is_better for metric in result.metrics if metric.name == pair.metric)
    return pair if (pair.difference >= 0) == higher or pair.difference == 0 else pair.reversed


def test_numbers_and_pvalues_are_written_as_in_other_reports(browser: Browser) -> None:
    browser.open(PAGES["scores alone"])
    rng = np.random.default_rng(1)
    for alpha in (0.05, 0.001, 0.0125, None):
        beside = [] if alpha is None else [alpha * (1 + sign * 10.0**-k) for k in range(1, 9) for sign in (-1, 1)]
        values = [*(10.0 ** rng.uniform(-5, 0, 200)).tolist(), *beside, alpha or 1.0, 0.9995, 0.99949, 0.0005, 1.0]
        script = "return arguments[0].map((p) => [formatP(p, 4, arguments[1]), shortP(p, arguments[1])])"
        texts = browser.run(script, values, alpha)
        assert texts == [[pvalue_cell(p, alpha=alpha), short_pvalue(p, alpha)] for p in values]
        for p, shown in zip(values, texts, strict=True):  # on their side of alpha
            assert alpha is None or all(text[0] == "<" or (float(text) <= alpha) == (p <= alpha) for text in shown)
    values = [*(rng.normal(size=300) * 10.0 ** rng.integers(-4, 5, 300)).tolist()]
    values += [i / 8 for i in range(-40, 41)] + [0.5, 1.5, 2.5, 1e-7, 1e20, -1e-9]
    for decimals in (0, 1, 2, 4, 15):
        texts = browser.run("return arguments[0].map((value) => fixed(value, arguments[1]))", values, decimals)
        assert texts == [f"{value:.{decimals}f}" for value in values]
    assert browser.run("return [Infinity, -Infinity, NaN].map((value) => signed(value, 2))") == ["+inf", "-inf", "nan"]


def test_a_table_that_is_cut_off_says_how_many_columns_more_it_has(browser: Browser) -> None:
    metrics = [SegmentScores(f"m{i}", {name: [1.0, 2.0, 3.0, i] * 9 for name in "abc"}) for i in range(4)]
    browser.resize(390)
    browser.open(compare(metrics=metrics, all_pairs=True, n_resamples=99).render("html"))
    hint = browser.one("#summary .columns-hint")
    before = int(hint.text.removesuffix(" more columns →"))
    assert before > 3
    browser.run("document.querySelector('#summary .scroll').scrollLeft = 1e6")
    browser.wait("return document.querySelector('#summary .columns-hint').textContent.trim() === ''")
    browser.resize(1400)
    browser.wait("return document.querySelector('#summary .columns-hint').hidden")


def test_the_digits_of_the_report_and_infinite_ends_of_intervals_are_those_of_the_page(browser: Browser) -> None:
    result = comparison("one pair")
    (pair,) = result.comparisons
    interval = known(pair.confidence_interval)
    infinite = replace(pair, confidence_interval=replace(interval, low=-math.inf))
    browser.open(replace(result, comparisons=(infinite,)).render("html", digits=1))
    assert f"{result.score('tuned', 'BLEU').score:.1f}" in chain.from_iterable(cells(browser, "#summary"))
    (row,), shown = cells(browser, "#pairs"), details(browser)
    assert row[2] == shown["Difference Δ"] == f"{pair.difference:+.1f}"
    assert row[3] == shown["95% CI"] == f"-inf to {interval.high:+.1f}"


def test_compressed_pairs_are_shown_as_others(browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reshuffle.report.json, "MAX_PLAIN", 100)
    result = comparison("all pairs")
    page = result.render("html")
    assert '"comparisons": {"deflate"' in page
    assert read_html(page) == result
    browser.open(page, "metric=TER&system=rules&baseline=tuned")
    assert browser.run("return [viewName(), ...state.pair]") == ["TER", "rules", "tuned"]
    check_pairs(browser, result)


# --- Narrow pages


def test_narrow_pages_show_all_of_a_pair_and_have_buttons_to_sections_and_to_the_pair(browser: Browser) -> None:
    browser.resize(390)
    browser.open(PAGES["all pairs"])
    browser.press("TAB")  # the first key skips to the results
    assert browser.driver.switch_to.active_element.text == "Skip to the results"
    browser.press("ENTER")
    assert browser.run("return document.activeElement.tagName") == "MAIN"
    assert len(browser.all("main")) == 1
    assert browser.run("const [rows] = document.querySelectorAll('.rows'); return rows.scrollWidth <= rows.clientWidth")
    shown = [cell.text for cell in browser.all("#pairs tbody tr:first-child td") if cell.is_displayed()]
    assert len(shown) == 5
    assert " to " in shown[3]
    assert not browser.one("#selection").is_displayed()
    buttons = [button for button in browser.all("#contents button") if button.is_displayed()]
    assert len(buttons) >= 5
    for button in buttons:
        button.click()
        assert browser.run("return document.activeElement.textContent") == button.text
        assert 0 <= browser.run("return document.activeElement.getBoundingClientRect().top") < 1000
    browser.resize(390, 700)
    browser.run("document.getElementById('differences').scrollIntoView(); selectPair('tuned', 'rules')")
    browser.wait("return !document.getElementById('selection').hidden")
    button = browser.one("#selection")
    assert "tuned − rules" in button.text
    button.click()
    browser.wait("return document.getElementById('selection').hidden")
    assert browser.run("return document.activeElement.textContent") == "Selected pair"
    # The parts of scores have the whole width of a page.
    browser.resize(1280)
    fits = "const table = document.querySelector('#components .scroll'); return table.scrollWidth <= table.clientWidth"
    browser.wait(fits)
    width = "return document.querySelector(arguments[0]).clientWidth"
    assert browser.run(width, "#components") == browser.run(width, "#view") > browser.run(width, "#ranking") + 300


def test_names_in_tables_are_broken_between_their_parts_and_may_differ_in_spaces_only(browser: Browser) -> None:
    names = ["news.en_de-sentence_document.6974.txt", "MSRA.MADL.6926.txt", "a b", "a  b"]
    apart = SegmentScores("m", {name: [mean, mean + 1.0, mean + 2.0] * 20 for mean, name in enumerate(names)})
    browser.resize(390)
    browser.open(compare(metrics=apart, all_pairs=True, n_resamples=199).render("html"))
    # Rows below a rule have their cells in the columns, too.
    assert browser.all("#summary tr.rule")
    columns = """const rows = [...document.querySelectorAll("#summary tr")];
      const right = (cell) => Math.round(cell.getBoundingClientRect().right);
      return new Set(rows.map((row) => [...row.cells].map(right).join())).size;"""
    assert browser.run(columns) == 1
    lines = browser.run(
        """const rangeOf = (node, at) => {
          const range = document.createRange();
          range.setStart(node, at);
          range.setEnd(node, at + 1);
          return range.getBoundingClientRect().top;
        };
        return [...document.querySelectorAll("td.name")].map((cell) => [...cell.childNodes].filter((node) => node.data)
          .map((node) => new Set([...node.data].map((_, at) => Math.round(rangeOf(node, at)))).size));"""
    )
    assert any(len(parts) > 4 for parts in lines)
    assert {n for parts in lines for n in parts} == {1}
    assert {*browser.texts("#summary td.name")} == {*names}
    browser.run("selectPair('a b', 'a  b')")
    for selector in ("#summary td.name", "#ranking text", "#pairs td.name", "#null .heading bdi"):
        shown = browser.each(selector, "[each.textContent, getComputedStyle(each).whiteSpace]")
        assert {text: style for text, style in shown if text.startswith("a ")} == dict.fromkeys(names[2:], "pre-wrap")


def test_three_notes_cautions_first_are_shown_and_the_others_folded_except_on_paper(browser: Browser) -> None:
    documents = [i // 8 for i in range(120)]
    result = compare(REFERENCES, SYSTEMS, ["bleu", "ter"], test="bootstrap", documents=documents, n_resamples=19)
    browser.open(result.render("html"))
    texts = browser.texts("#summary .notes li")
    expected = [*cautions(result, Layout(pairs=True), accounted=False)]
    n_cautions = len(expected)
    assert texts[:n_cautions] == expected
    dependence = [*cautions(result, Layout(pairs=True), accounted=True)]
    assert dependence
    assert texts[-len(dependence) :] == dependence
    assert browser.shown("#summary .notes li") == [True] * 3 + [False] * (len(texts) - 3)
    of_pair = {*browser.texts("#null .notes li")}  # of the selected one
    assert any("reject too often" in sentence for sentence in of_pair)
    own = " This pair is one of them."
    assert {sentence.removesuffix(own) for sentence in of_pair} <= {*texts}
    folded = browser.one("#summary details")
    others = f"{n_cautions - 3} more cautions and {len(texts) - n_cautions} more notes"
    assert browser.texts("#summary details > summary") == [others]
    for event, is_open in (("beforeprint", "true"), ("afterprint", None)):
        browser.run("window.dispatchEvent(new Event(arguments[0]))", event)
        assert folded.get_dom_attribute("open") == is_open


def test_links_to_sections_come_first_and_tabs_before_what_they_choose(browser: Browser) -> None:
    browser.open(PAGES["sets"])
    ids = browser.each("main > *", "each.id")
    assert [*filter(None, ids)] == ["contents", "summary", "tabs", "of-sets", "view", "methods"]
    assert browser.texts("#contents button")[:3] == ["Average over 3 test sets", "Test sets", "Ranking"]
    assert browser.texts("h1")[0].endswith(" on news, Average and 7")

    def shown() -> list[str]:
        captions = browser.all("#of-sets caption")
        return [caption.text for caption in captions if caption.is_displayed()]

    assert shown() == ["BLEU on 3 test sets"]
    browser.all("#tabs [role=tab]")[-1].click()
    assert shown() == ["TER on 3 test sets, lower is better"]
    names = browser.texts("#of-sets table:first-of-type th")[1:4]
    for name, tab in zip(names, browser.all("#tabs [role=tab]"), strict=False):
        tab.click()
        assert {*browser.texts("#of-sets th.chosen")} == {name}
    # Numbers are aligned, although the letters after them have different widths: abc, ij.
    ends = """return [...document.querySelectorAll("#of-sets tbody tr td:nth-child(2)")].flatMap((cell, row) => {
      fillMarked(cell, `30.00 ${["iil", "mm ", "a  "][row % 3]}`);
      const range = document.createRange();
      range.setEnd(cell.firstChild, cell.firstChild.length);
      range.setStart(cell.firstChild, cell.firstChild.length - 1);
      return cell.offsetParent ? [Math.round(10 * range.getBoundingClientRect().right)] : [];
    })"""
    assert len({*browser.run(ends)}) == 1


@pytest.mark.parametrize(("scheme", "width"), [("light", 390), ("dark", 390), ("dark", 1400)])
def test_a_table_has_a_shadow_where_it_is_cut_off(browser: Browser, scheme: str, width: int) -> None:
    edges = []
    browser.prefer(prefers_color_scheme=scheme)
    browser.resize(width)
    browser.open(PAGES["all pairs"])
    # As it is, at its right end, and without a shadow.
    for change in (
        "firstElementChild.style.visibility = 'hidden'",
        "scrollLeft = 9999",
        "style.backgroundImage = 'none'",
    ):
        left, top, width, height = browser.run(
            f"const table = document.querySelector('#summary .scroll'); table.{change};"
            "const box = table.getBoundingClientRect();"
            "return [box.left + scrollX, box.top + scrollY, table.clientWidth, table.clientHeight]"
        )
        clip = {"x": left + width - 60, "y": top + 10, "width": 60, "height": height - 20, "scale": 1}
        shot = browser.cdp("Page.captureScreenshot", {"clip": clip, "captureBeyondViewport": True})
        edges.append(shot["data"])
    shown, at_the_end, plain = edges
    assert (shown == plain) == (browser.size[0] == 1400)
    assert at_the_end == plain


def test_the_tables_of_a_gate_are_never_cut_off(browser: Browser) -> None:
    names = ["nightly-2026-11-28.large", "nightly-2026-11-29.large"]
    scores = [ratings(names, metric=metric) for metric in ("faithfulness", "fluency")]
    found = gate(metrics=scores, margin={"faithfulness": "1%", "fluency": "0.2sd"}, n_resamples=99)
    for width in (1000, 390):
        browser.resize(width)
        browser.open(found.render("html"))
        assert not any(browser.each(".scroll", "each.scrollWidth > each.clientWidth")), width
    header = "return getComputedStyle(document.querySelector('.stacks td:last-child'), '::before').content"
    assert browser.run(header) == '"Result"'
    # Figures follow the theme; paper is light, and they keep their white where colours are forced.
    shown = "document.documentElement.dataset.theme = arguments[0];"
    shown += "const { filter, mixBlendMode } = getComputedStyle(document.querySelector('.drawings img'));"
    shown += "return [filter, mixBlendMode];"
    assert browser.run(shown, "light") == ["none", "multiply"]
    assert browser.run(shown, "dark") == ["invert(1) hue-rotate(180deg) brightness(0.9)", "screen"]
    browser.cdp("Emulation.setEmulatedMedia", {"media": "print"})
    printed = browser.run(shown, "dark")
    browser.cdp("Emulation.setEmulatedMedia", {"media": ""})
    assert printed == ["none", "multiply"]
    browser.prefer(forced_colors="active")
    assert browser.run(shown, "dark") == ["none", "normal"]


def test_names_in_the_figure_of_a_gate_leave_room_for_its_lines() -> None:
    for name in ("faithfulness of the summaries of all talks", "忠実さ" * 12):
        scores = SegmentScores(name, {"a": [0.0, 1.0] * 20, "b": [1.0, 0.0] * 20})
        (drawn,) = re.findall(r"svg\+xml;base64,([\w+/=]+)", gate(metrics=scores, margin=0.5).render("html"))
        image = ElementTree.fromstring(base64.b64decode(drawn))
        # An inner image cuts off what is wider than the column.
        (column,) = image.findall("{http://www.w3.org/2000/svg}svg")
        (shown,) = (str(text.text) for text in column)
        assert (shown[-1], name.startswith(shown[:-1])) == ("…", True)
        lines = image.iter("{http://www.w3.org/2000/svg}line")
        assert 150 < float(str(column.get("width"))) < min(float(line.get("x1", "inf")) for line in lines)


# --- Security


def test_the_policy_allows_only_the_style_sheet_and_the_scripts_of_the_page() -> None:
    for page in PAGES.values():
        (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', page)
        assert policy.startswith("default-src 'none'; ")
        for kind, pattern in {"style": r"<style>(.*?)</style>", "script": r"<script>(.*?)</script>"}.items():
            (content,) = re.findall(pattern, page, re.DOTALL)
            digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
            assert f"{kind}-src 'sha256-{digest}'" in policy
        assert "unsafe" not in policy
        # The addresses of papers are text.
        assert {address[:25] for address in re.findall(r"\w+://\S*", markup(page))} <= {"https://aclanthology.org/"}


def test_the_policy_blocks_everything_else(browser: Browser) -> None:
    browser.expected += ["Content Security Policy", "Content-Security-Policy", "Refused to", "Fetch API cannot load"]
    browser.open(PAGES["baseline"])
    blocked = browser.run(
        """
        for (const [kind, text] of [["script", "window.hacked = 1"], ["style", "h1 { display: none }"]])
          document.body.append(Object.assign(document.createElement(kind), { textContent: text }));
        const text = document.createElement("p");
        text.innerHTML = "<b style='display: none'>x</b>"
            + "<img src='https://example.org/x.png' onerror='window.hacked = 1'>";
        document.body.append(text);
        return fetch("https://example.org/").then(() => "fetched", () => "refused");
        """
    )
    assert blocked == "refused"
    assert browser.run("return window.hacked") is None
    assert all(browser.shown("h1, body > p > b"))
    browser.requests()


def test_hostile_names_are_shown_and_copied_as_they_are(browser: Browser) -> None:
    browser.open(PAGES["hostile"])
    names = {*map(printable, HOSTILE)}
    for name in names:
        assert browser.texts("#summary td.name").count(name) == 1
        assert name in chain.from_iterable(cells(browser, "#pairs"))
    ranked = browser.each("#ranking .row .name", "each.querySelector('title')?.textContent ?? each.textContent")
    assert sorted(ranked) == sorted(names)
    assert f"m {HOSTILE[0]}" in browser.texts("h1")[0]
    assert browser.run("return document.querySelectorAll('script').length") == 3
    assert len(browser.all("img")) == 0
    # Names cannot turn round the words after them.
    assert not re.search("[\u202a-\u202e\u2066-\u2069]", browser.run("return document.body.innerText"))
    embedded = json.loads(browser.run("return document.getElementById('result').textContent"))
    assert embedded["systems"][0] == HOSTILE[0]
    assert read_html(PAGES["hostile"]) == RESULTS["hostile"]
    rows = [*csv.reader(copied(browser, "CSV", "#summary").splitlines())]
    assert {row[0] for row in rows[1:]} == {name.strip() for name in names}
    latex = copied(browser, "LaTeX", "#summary")
    assert not re.search(r"(?<!\\)[&%#_](?![^ ])", latex.replace(" & ", ""))
    assert r"$<$/script$>$$<$script$>$window.hacked = 1$<$/script$>$" in latex
    assert r"\{\{ 7 * 7 \}\}" in latex
    # The address has any names.
    browser.run("selectPair(...arguments)", HOSTILE[2], HOSTILE[0])
    browser.load(browser.run("return location.href"))
    assert browser.run("return state.pair") == [HOSTILE[2], HOSTILE[0]]
    assert browser.run("return window.hacked") is None


# --- Tables


def test_the_tables_of_systems_are_sorted_by_any_column(browser: Browser) -> None:
    browser.open(PAGES["baseline"])
    table = "#summary table"
    before = cells(browser, table)
    header = [text.strip() for text in browser.texts(f"{table} th")]
    assert header[:3] == ["System", "BLEU", "Δ"]
    assert sort(browser, 0, table) == "ascending"
    assert [row[0] for row in cells(browser, table)] == sorted(SYSTEMS)
    assert sort(browser, 1, table) == "descending"
    assert [row[1] for row in cells(browser, table)] == sorted((row[1] for row in before), key=float, reverse=True)
    assert sort(browser, 1, table) == "ascending"
    assert [row[1] for row in cells(browser, table)] == sorted((row[1] for row in before), key=float)
    # The baseline has no difference, and is last in both directions.
    for _ in range(2):
        sort(browser, 2, table)
        assert cells(browser, table)[-1][2] == "baseline"
    assert browser.run("return document.querySelectorAll('#summary th[aria-sort]').length") == 1


def test_the_pairs_are_sorted_by_any_column_under_every_metric_and_filtered(browser: Browser) -> None:
    browser.open(PAGES["all pairs"])
    header = [text.strip() for text in browser.texts("#pairs th")]
    assert header == ["System", "Baseline", "Δ", "95% CI", "p", "adjusted p"]
    numbers = {
        2: float,
        3: lambda text: float(text.split(" to ")[0]),
        4: float,
        5: lambda text: float(text.rstrip("* ")),
    }
    for column in range(6):
        key = numbers.get(column, str)
        first = sort(browser, column)
        assert first == ("descending" if column in (2, 3) else "ascending")
        values = [key(row[column]) for row in cells(browser, "#pairs")]
        assert values == sorted(values, reverse=first == "descending")
        assert sort(browser, column) != first
        values = [key(row[column]) for row in cells(browser, "#pairs")]
        assert values == sorted(values, reverse=first != "descending")
    field = browser.one("#pairs input[type=search]")
    for typed, expected in (("LARG", 3), (" base", 1), (" nothing", 0)):
        field.send_keys(typed)
        rows = cells(browser, "#pairs")
        assert (browser.texts("#pairs .count"), len(rows)) == ([f"{expected} of 6 pairs"], expected)
        assert all("larger" in row[:2] for row in rows)
        assert expected != 1 or {*rows[0][:2]} == {"baseline", "larger"}
    field.clear()
    browser.run("arguments[0].dispatchEvent(new Event('input'))", field)
    assert browser.texts("#pairs .count") == ["6 pairs"]
    browser.one("#significant-only").click()
    rows = cells(browser, "#pairs")
    assert 0 < len(rows) < 6
    assert all(row[-1].endswith("*") for row in rows)
    browser.one("#significant-only").click()
    sort(browser, 2)
    browser.all("[role=tab]")[1].click()
    assert browser.all("#pairs th")[2].get_dom_attribute("aria-sort") == "descending"
    values = [float(row[2]) for row in cells(browser, "#pairs")]
    assert values == sorted(values, reverse=True)


def test_rows_are_added_as_the_table_is_scrolled_chosen_by_keys_and_copied_as_csv(browser: Browser) -> None:
    browser.open(PAGES["many"])
    n = 20 * 19 // 2
    assert browser.texts("#pairs .count") == [f"{n} pairs"]
    assert browser.one("#pairs table").get_dom_attribute("aria-rowcount") == str(n + 1)
    assert len(browser.all("#pairs tbody tr")) < n
    assert browser.each("#pairs tbody tr", "each.tabIndex").count(0) == 1
    browser.run("document.querySelector('#pairs tbody tr').focus()")
    position = "return [...document.querySelectorAll('#pairs tbody tr')].indexOf(document.activeElement)"
    keys = {"ARROW_DOWN": 1, "PAGE_DOWN": 11, "ARROW_UP": 10, "HOME": 0}
    for key, expected in (*keys.items(), ("ARROW_UP", 0)):
        browser.press(key)
        assert browser.run(position) == expected
    browser.press("ARROW_DOWN", "ENTER")
    pair = cells(browser, "#pairs")[1][:2]
    assert browser.run("return state.pair") == pair
    assert browser.texts("#null .heading") == [" vs. ".join(pair)]
    assert browser.each("#pairs tbody tr", "each.ariaSelected")[:3] == ["false", "true", "false"]
    browser.run("document.getElementById('pairs').scrollIntoView()")
    for _ in range(10):
        browser.run("const rows = document.querySelector('.rows'); rows.scrollTop = rows.scrollHeight")
        browser.run("return new Promise((done) => requestAnimationFrame(() => setTimeout(done, 20)))")
    assert len({tuple(sorted(row[:2])) for row in cells(browser, "#pairs")}) == len(browser.all("#pairs tbody tr")) == n
    browser.press("HOME", "END")
    assert browser.run(position) == n - 1
    # Tables are copied as CSV in the order of their rows.
    browser.open(PAGES["many"])
    sort(browser, 0, "#summary table")
    header, *rows = csv.reader(copied(browser, "CSV", "#summary").splitlines())
    assert header[0] == "System"
    assert rows == [[text.strip() for text in row] for row in cells(browser, "#summary")]
    field = browser.one("#pairs input[type=search]")
    field.send_keys("s0")
    header, *rows = csv.reader(copied(browser, "CSV", "#pairs").splitlines())
    assert header[:3] == ["System", "Baseline", "Δ"]
    assert f"{len(rows)} of 190 pairs" in browser.texts("#pairs .count")
    assert len(rows) > len(cells(browser, "#pairs"))  # also those that scrolling adds
    assert all("s0" in row[0] or "s0" in row[1] for row in rows)


# --- The selected pair


def details(browser: Browser) -> dict[str, str]:
    return dict(zip(browser.texts("#null dt"), browser.texts("#null dd"), strict=True))


def test_a_click_on_a_pair_shows_its_details_and_parts_in_its_direction(browser: Browser) -> None:
    result = comparison("all pairs")
    browser.open(PAGES["all pairs"])
    directions = set()
    for row in browser.all("#pairs tbody tr"):
        row.find_element("tag name", "td").click()  # Firefox's driver clicks on no rows
        system, baseline, difference, interval, p, adjusted = (
            cell.text for cell in row.find_elements("tag name", "td")
        )
        (pair,) = (p for p in result.comparisons if p.metric == "BLEU" and {p.system, p.baseline} == {system, baseline})
        shown = details(browser)
        assert shown["Difference Δ"] == difference
        assert shown["95% CI"] == interval
        assert (shown["p"], shown["Adjusted p"]) == (p, adjusted.rstrip("* "))
        assert shown[system] == f"{result.score(system, 'BLEU').score:.2f}"
        assert shown["At least as extreme"] == f"{pair.test.exceedances} of 199"
        assert browser.texts("#pair-signature") == [pair.test.signature]
        (verdict,) = browser.texts("#null .verdict")
        assert verdict.startswith(
            f"{system} is significantly better (adjusted p " if adjusted.endswith("*") else "Not sig"
        )
        assert browser.texts("#status")[0].startswith(f"{system} − {baseline}: {difference}.")
        sign = 1 if pair.system == system else -1
        directions.add(sign)
        parts = {term: value for term, value in shown.items() if term.startswith("Δ from")}
        assert [*parts] == [
            f"Δ from {part}" for part in ("brevity penalty", *(f"{n}-gram precision" for n in range(1, 5)))
        ]
        for text, each in zip(parts.values(), pair.contributions or (), strict=True):
            of_part, low, high = (float(word.strip("()")) for word in text.replace(" to ", " ").split())
            ends = known(each.confidence_interval)
            assert of_part == pytest.approx(sign * each.difference, abs=0.0051)
            assert [low, high] == pytest.approx(sorted([sign * ends.low, sign * ends.high]), abs=0.0051)
    assert directions == {1, -1}


def test_the_draws_in_which_a_system_is_higher_are_its_own_and_one_sided_tests_keep_their_direction(
    browser: Browser,
) -> None:
    browser.open(PAGES["missing"])
    directions = set()
    for pair in comparison("missing").comparisons:
        browser.run("selectPair(...arguments)", pair.system, pair.baseline)
        wins, ties, n = pair.test.wins, pair.test.ties, pair.test.n_resamples
        as_tested = browser.texts("#null .heading") == [f"{pair.system} vs. {pair.baseline}"]
        directions.add(as_tested)
        shown = details(browser)
        system = pair.system if as_tested else pair.baseline
        assert shown[f"Draws in which {system} scores higher"] == f"{wins if as_tested else n - wins - ties} of {n}"
        assert shown["Draws with equal scores"] == f"{ties}"
        assert shown["Segments"] == str(pair.n_segments)
    assert directions == {True, False}
    browser.open(PAGES["one-sided"])
    for pair in comparison("one-sided").comparisons:
        browser.run("selectPair(...arguments)", pair.baseline, pair.system)
        assert browser.texts("#null .heading") == [f"{pair.system} vs. {pair.baseline}"]
        shown = details(browser)
        assert (shown["Alternative"], shown["Difference Δ"]) == ("less", f"{pair.difference:+.2f}")
        assert ("is significantly worse" in browser.texts("#null .verdict")[0]) == pair.is_significant(0.05)
    scores = SegmentScores("rating", {"a": [1, 2, 3, 4] * 9, "b": [1, 3, 3, 4] * 9})
    browser.open(compare(metrics=scores, test="paired-bootstrap", n_resamples=199).render("html"))
    assert details(browser)["Alternative"] == "one-sided in the observed direction"


# --- Test sets and metrics


def test_tabs_follow_clicks_and_keys_and_the_address_keeps_the_view(browser: Browser) -> None:
    browser.open(PAGES["sets"])
    names = {
        kind: [tab.text for tab in browser.all(f"[aria-label='{kind}'] [role=tab]")] for kind in ("Test set", "Metric")
    }
    # In JavaScript, keys that look like numbers come before others.
    assert names == {"Test set": ["Average of all", "news", "Average", "7"], "Metric": ["BLEU", "TER"]}

    def chosen() -> list[str]:
        tabs = browser.all("[role=tab][aria-selected=true]")
        assert browser.each("[role=tab]", "each.tabIndex").count(0) == 2
        assert browser.texts("#view-name") == [", ".join(tab.text for tab in tabs)]
        return [tab.text for tab in tabs]

    assert chosen() == ["Average of all", "BLEU"]
    first = cells(browser, "#pairs")
    browser.all("[role=tab]")[1].click()
    assert chosen() == ["news", "BLEU"]
    assert cells(browser, "#pairs") != first
    for key, expected in (
        ("ARROW_RIGHT", "Average"), ("END", "7"), ("ARROW_RIGHT", "Average of all"), ("ARROW_LEFT", "7"),
        ("HOME", "Average of all"),
    ):  # fmt: skip
        browser.press(key)
        assert chosen() == [expected, "BLEU"]
        assert browser.driver.switch_to.active_element.text == expected
    assert {*browser.each("[role=tab]", "each.getAttribute('aria-controls')")} == {
        browser.one("[role=tabpanel]").get_dom_attribute("id")
    }
    browser.run("showView(1, 1); selectPair('rules', 'tuned')")
    address = browser.run("return location.href")
    assert address.endswith("#set=news&metric=TER&system=rules&baseline=tuned")
    shown = cells(browser, "#pairs")
    browser.load(address)
    assert browser.texts("#view-name") == ["news, TER"]
    assert browser.run("return state.pair") == ["rules", "tuned"]
    assert cells(browser, "#pairs") == shown
    # Links from elsewhere may be typed.
    browser.run("location.hash = 'metric=BLEU&set=unknown&system=rules&baseline=nobody'")
    browser.wait("return document.getElementById('view-name').textContent === 'news, BLEU'")
    assert browser.run("return state.pair") == ["rules", "tuned"]
    browser.load(f"{address.split('#')[0]}#%E0%A4%A")
    assert browser.texts("#view-name") == ["Average of all, BLEU"]


def test_at_first_the_best_pair_is_selected_as_it_is_shown(browser: Browser) -> None:
    names = numbered(3)  # the last one is the best
    for options, expected in (
        ({"baseline": names[2]}, [names[1], names[2]]),
        ({"baseline": names[0]}, [names[2], names[0]]),
        ({"all_pairs": True}, [names[2], names[1]]),
    ):
        browser.open(compare(metrics=ratings(names), n_resamples=99, **options).render("html"))
        assert browser.run("return state.pair") == expected
        assert browser.texts("#null .heading") == [" vs. ".join(expected)]


# --- Names, and pages without scripts


def test_display_names_are_shown_and_systems_keep_theirs(browser: Browser) -> None:
    browser.open(
        replace(on_sets(), dropped=("gone",)).render("html", names={"larger": "The larger one", "gone": "left out"})
    )
    shown = browser.run("return document.body.innerText")
    assert "The larger one" in shown
    assert "left out" in shown
    assert not re.search(r"\blarger\b(?<!The larger)(?! of two)", shown)
    assert browser.run("return state.pair")[0] == "larger"
    browser.one("#pairs input[type=search]").send_keys("The larger one")
    assert browser.texts("#pairs .count") == ["3 of 6 pairs"]


def test_without_scripts_the_page_has_the_tables_of_the_text_report(browser: Browser) -> None:
    disable = "Emulation.setScriptExecutionDisabled"
    browser.cdp(disable, {"value": True})
    try:
        browser.open(PAGES["baseline"])
        shown = browser.one("body").text
        for sentence in (
            "The figures and the full table of pairs need JavaScript.",
            "baseline",
            "TER, lower is better",
        ):
            assert sentence in shown
        assert not any(browser.shown("#view section, #contents, #tabs, #theme"))
    finally:
        browser.cdp(disable, {"value": False})


# --- Copying, theme, paper


def test_texts_are_copied_or_selected_and_shown_where_they_cannot_be(browser: Browser) -> None:
    result = RESULTS["baseline"]
    browser.open(PAGES["baseline"])
    browser.cdp("Browser.grantPermissions", {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]})
    for text in ("sentence", "bibtex", "signature", "versions"):
        button = browser.one(f"[data-copies={text}]")
        button.click()
        browser.wait("return arguments[0].textContent === 'Copied'", button)
        assert browser.run("return navigator.clipboard.readText()") == browser.texts(f"#{text}")[0]
    assert browser.texts("#signature") + browser.texts("#bibtex") == [result.signature, result.bibtex()]
    assert browser.texts("#versions")[0].splitlines()[0] == f"reshuffle {result.version}"
    browser.wait("return [...document.querySelectorAll('.copy')].every((each) => each.textContent !== 'Copied')")
    browser.run(
        "navigator.clipboard.writeText = () => Promise.reject(new Error('forbidden'));"
        "window.copied = [];"
        "document.execCommand = (name) => { copied.push(name, String(getSelection())); return false; }"
    )
    browser.run("document.querySelector('[data-copies=signature]').click()")
    browser.wait("return document.querySelector('[data-copies=signature]').textContent === 'Press Ctrl+C'")
    assert browser.run("return copied") == ["copy", result.signature]
    table = browser.all("#summary .table-copies pre")[0]
    assert not table.is_displayed()
    browser.run("document.querySelector('#summary button[aria-label^=\"Copy as CSV\"]').click()")
    browser.wait("return !arguments[0].hidden", table)
    assert browser.run("return String(getSelection())").startswith("System,BLEU")


def copied(browser: Browser, name: str, table: str) -> str:
    """What the clipboard has after a click on the button of this name."""
    permissions = {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]}
    browser.cdp("Browser.grantPermissions", permissions)
    button = browser.one(f'{table} button[aria-label^="Copy as {name}: "]')
    browser.run("arguments[0].click()", button)
    browser.wait("return arguments[0].textContent === 'Copied'", button)
    found: str = browser.run("return navigator.clipboard.readText()")
    return found


def test_tables_are_copied_as_latex_and_what_is_selected_is_legible_in_forced_colours(browser: Browser) -> None:
    browser.open(PAGES["all pairs"])
    lines = copied(browser, "LaTeX", "#pairs").splitlines()
    assert lines[:2] == [r"\begin{tabular}{llrrrr}", r"\toprule"]
    assert lines[2] == r"System & Baseline & $\Delta$ & 95\% CI & $p$ & adjusted $p$ \\"
    assert lines[-2:] == [r"\bottomrule", r"\end{tabular}"]
    assert [line.split(" & ")[:2] for line in lines[4:-2]] == [row[:2] for row in cells(browser, "#pairs")]
    assert re.search(r" & \$\+\$\d+\.\d+ & ", lines[4])
    browser.prefer(forced_colors="active")
    for cell in browser.all("#pairs tr[aria-selected=true] td"):
        style = "const s = getComputedStyle(arguments[0]); return [s.forcedColorAdjust, s.backgroundColor, s.color]"
        adjust, background, color = browser.run(style, cell)
        assert adjust == "none"
        assert background != color
    # The list of tabs cuts what is outside it.
    (tab,) = browser.all("[role=tab][aria-selected=true]")
    assert tab.value_of_css_property("outline-offset") == "-2px"


# From linear RGB to linear RGB, for dichromats: Machado, Oliveira and Fernandes 2009, doi:10.1109/TVCG.2009.113.
SIGHT = {
    "all colours": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
}
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def palette(theme: int) -> dict[str, str]:
    """The colours of the light (0) or dark (1) theme, by name."""
    found = re.findall(r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\);", (HERE / "page.css").read_text("utf-8"))
    return {name: colours[theme] for name, *colours in found}


def lab(colour: str, sight: str) -> Any:
    """The coordinates of CIELAB that somebody perceives."""
    values = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)
    xyz = TO_XYZ @ np.clip(SIGHT[sight] @ linear, 0, 1) / TO_XYZ.sum(axis=1)
    x, y, z = np.where(xyz > (6 / 29) ** 3, np.cbrt(xyz), xyz / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def distance(one: str, other: str, sight: str) -> float:
    return float(np.linalg.norm(lab(one, sight) - lab(other, sight)))


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("sight", SIGHT)
def test_neighbouring_colours_are_told_apart(sight: str, theme: int) -> None:
    colours = palette(theme)
    classes = [colours[f"p{i}"] for i in range(5)]
    # The lightness of the classes of p-values runs in one direction, as in black and white.
    lightness = [lab(colour, sight)[0] for colour in classes]
    assert lightness == sorted(lightness, reverse=theme == 1)
    steps = [distance(a, b, sight) for a, b in pairwise(classes)]
    assert min(steps) > 8
    assert distance(classes[2], classes[3], sight) > 15  # significant, and not
    assert distance(colours["better"], colours["worse"], sight) > 40
    for name in ("better", "worse", "accent"):
        assert distance(colours[name], colours["surface"], sight) > 30
        assert distance(colours[name], colours["text"], sight) > 20


# The text and the background of each pair have a contrast of at least 4.5:1 (WCAG 2.2, 1.4.3).
SURFACES = ("surface", "raised", "sunken", "selected")
TEXTS = [(text, surface) for surface in SURFACES for text in ("text", "muted", "accent", "better", "worse")]
TEXTS += [("on-accent", "accent"), *((f"on-p{i}", f"p{i}") for i in range(5))]


def test_the_theme_is_that_of_the_system_until_the_reader_chooses_and_its_texts_have_contrast(browser: Browser) -> None:
    def is_dark() -> bool:
        colour = browser.run("return getComputedStyle(document.body).backgroundColor")
        return sum(map(int, re.findall(r"\d+", colour)[:3])) < 300

    names = sorted({*chain.from_iterable(TEXTS)})
    for scheme in ("light", "dark"):
        browser.prefer(prefers_color_scheme=scheme)
        browser.open(PAGES["scores alone"])
        button = browser.one("#theme")
        assert is_dark() == (scheme == "dark")
        button.click()
        assert is_dark() == (scheme == "light")
        assert button.text == f"{scheme.capitalize()} theme"
        button.click()
        assert is_dark() == (scheme == "dark")
        computed = browser.run(
            "return arguments[0].map((name) => { document.body.style.color = `var(--${name})`;"
            " return getComputedStyle(document.body).color; })",
            names,
        )
        colours = {name: [int(x) for x in re.findall(r"\d+", c)[:3]] for name, c in zip(names, computed, strict=True)}
        assert len({*map(tuple, colours.values())}) > 15
        too_close = {pair: c for pair in TEXTS if (c := contrast(*(colours[name] for name in pair))) < 4.5}
        assert too_close == {}


def test_on_paper_there_are_all_rows_and_no_controls(browser: Browser) -> None:
    browser.prefer(prefers_color_scheme="dark")
    browser.open(PAGES["many"])
    browser.run("window.addEventListener('afterprint', () => { window.printed = true; })")
    browser.cdp("Page.printToPDF", {})
    assert browser.run("return window.printed")
    assert len(browser.all("#pairs tbody tr")) == 20 * 19 // 2
    browser.cdp("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        for control in ("#tabs", "#theme", "#contents", "input", ".copy"):
            assert not any(browser.shown(control))
        assert browser.run("return getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        boxes = ".rows, .scroll, .notes, pre, .side > section"
        assert not any(browser.each(boxes, "each.scrollHeight > each.clientHeight + 1"))
        # Chromium leaves buttons out of the headers that it repeats on each page.
        assert {*browser.each("th > button", "getComputedStyle(each).display")} == {"contents"}
        assert browser.one("#view-name").is_displayed()
        # A section whose texts have not been read has nothing to print.
        browser.run("document.querySelector('#matrix .body').innerHTML = '<p class=\"hint\">Reading the texts …</p>'")
        assert not browser.one("#matrix h2").is_displayed()
        assert browser.one("#ranking h2").is_displayed()
    finally:
        browser.cdp("Emulation.setEmulatedMedia", {"media": ""})


# --- Screen readers


def tree(browser: Browser) -> list[tuple[str, str]]:
    """The role and the name of everything that a screen reader meets, in its order."""
    nodes = browser.cdp("Accessibility.getFullAXTree", {})["nodes"]
    by_id = {node["nodeId"]: node for node in nodes}
    found = []

    def visit(node: Any) -> None:
        if not node["ignored"]:
            found.append((node["role"]["value"], node.get("name", {}).get("value", "")))
        for child in node.get("childIds", []):
            if child in by_id:
                visit(by_id[child])

    visit(nodes[0])
    return found


@pytest.mark.parametrize("width", [1400, 390])
def test_the_accessibility_tree_has_names_in_reading_order(browser: Browser, width: int) -> None:
    corpus = demo_corpus()
    texts = corpus.references, corpus.systems
    ids = [f"talk {i // 40}" for i in range(400)]
    result = compare(*texts, ["bleu", "ter"], all_pairs=True, n_resamples=99, include="texts", documents=ids)
    browser.resize(width)
    browser.open(result.render("html"))
    # Sections out of sight are not laid out, and not in the tree.
    for section in browser.all("main section"):
        browser.run("arguments[0].scrollIntoView()", section)
    browser.run("document.querySelector('#ngrams').scrollIntoView()")  # may have been passed before it was observed
    browser.wait("return document.querySelector('#ngrams table') !== null")
    nodes = tree(browser)
    controls = "button combobox searchbox checkbox tab listbox option application image table grid region".split()
    assert [node for node in nodes if node[0] in controls and not node[1].strip()] == []
    headings = [name for role, name in nodes if role == "heading"]
    first = ["4 systems under BLEU and TER", "Results", "BLEU", "Ranking", "Differences", "p-values"]
    rest = ["Bootstrap distributions", "Pairs", "Metrics", "Selected pair"]
    rest += "Parts Lengths Documents Words Segments Methods".split()
    for expected in (first, rest):
        assert [name for name in headings if name in expected] == expected
    # The name of each button that copies says what it copies.
    copies = [name for role, name in nodes if role == "button" and name.startswith("Copy")]
    assert len(copies) == len(set(copies)) > 12
    roles = [role for role, _ in nodes]
    assert roles.index("banner") < roles.index("main") < roles.index("contentinfo")


# --- Files and the command line


def test_the_command_is_in_the_page(browser: Browser, demo: Any, run: Any) -> None:
    arguments = ("compare", "reference.txt", "baseline.txt", "it's.txt", "--seed", "1", "-n", "99", "-o", "out.html")
    (demo / "it's.txt").write_bytes((demo / "tuned.txt").read_bytes())
    assert run(*arguments).code == 0
    browser.open((demo / "out.html").read_text("utf-8"))
    assert browser.texts("#command") == [
        """reshuffle compare reference.txt baseline.txt 'it'"'"'s.txt' --seed 1 -n 99 -o out.html"""
    ]
    # No line ends after the hyphens of a flag.
    assert browser.texts("#command .flag") == ["--seed"]
    # In Python there is no command.
    assert 'id="command"' not in PAGES["baseline"]


def test_scripts_share_no_name_and_all_are_in_the_page_without_their_comments() -> None:
    files = {path.stem: path.read_text("utf-8") for path in (HERE / "scripts").glob("*.js")}
    assert sorted({*SCRIPTS, *STUDY_SCRIPTS}) == sorted(files)
    declared = re.compile(r"^(?:async )?(?:function|class|const|let) +(\w+)", re.MULTILINE)
    names = [name for script in files.values() for name in declared.findall(script)]
    assert len(names) > 100
    assert sorted({*names}) == sorted(names)
    assert "innerHTML" not in "".join(files.values())
    assert symbols_for_scripts(["ab", "ba", "abc"]) == symbols_for_scripts(["ba", "abc", "ab"])  # the same bytes
    for name, text in files.items():
        rest = re.sub(r"^ *(//.*|/\*(?:[^*]|\*(?!/))*\*/)\n", "", text, flags=re.MULTILINE)
        assert COMMENTS.sub("", text) == rest, name
