"""What a notebook shows: the page of the HTML report in a frame, and tables where there are no frames."""

import re
from html import unescape

import pytest

from browser import Browser
from lazy import Lazy
from reshuffle import Comparison, SetComparison, compare, compare_sets, score
from reshuffle.data.demo import demo_corpus
from reshuffle.report import Layout, as_fragment, document, notebook

CORPUS = demo_corpus()
PARTS = {name: slice(200 * part, 200 * (part + 1)) for part, name in enumerate(("first", "second"))}
SETS = {
    name: ([column[part] for column in CORPUS.references], {s: lines[part] for s, lines in CORPUS.systems.items()})
    for name, part in PARTS.items()
}
RESULTS = Lazy[Comparison | SetComparison](
    {
        "pairs": lambda: compare(CORPUS.references, CORPUS.systems, ["bleu", "ter"], all_pairs=True, n_resamples=200),
        "scores": lambda: score(CORPUS.references, CORPUS.systems),
        "sets": lambda: compare_sets(SETS, n_resamples=200),
    }
)
FRAME = re.compile(r'<iframe[^>]* srcdoc="([^"]*)"></iframe>')


@pytest.mark.parametrize("name", RESULTS)
def test_the_frame_holds_the_page_and_may_only_run_its_scripts(name: str) -> None:
    shown = RESULTS[name]._repr_html_()
    (page,) = FRAME.findall(shown)
    assert RESULTS[name].render("html") == unescape(page)
    assert re.findall('sandbox="([^"]*)"', shown) == ["allow-scripts"]


@pytest.mark.parametrize("name", RESULTS)
def test_where_frames_are_removed_the_tables_remain(name: str) -> None:
    remaining = FRAME.sub("", RESULTS[name]._repr_html_())
    assert as_fragment(document(RESULTS[name], Layout())) in remaining
    assert "<iframe" not in remaining
    assert "<script" not in remaining


@pytest.mark.parametrize("name", RESULTS)
def test_a_page_too_large_for_a_notebook_is_left_out_in_words(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notebook, "MAX_PAGE", 1000)
    shown = RESULTS[name]._repr_html_()
    assert as_fragment(document(RESULTS[name], Layout())) in shown
    assert "<iframe" not in shown
    assert 'write(result.render("html"))' in unescape(shown)


def test_a_page_with_too_large_texts_is_not_rendered(monkeypatch: pytest.MonkeyPatch) -> None:
    comparison = compare(CORPUS.references, CORPUS.systems, n_resamples=200, include="texts")
    monkeypatch.setattr(notebook, "as_html", lambda *_: pytest.fail("rendered"))
    assert comparison.texts is not None
    monkeypatch.setattr(notebook, "MAX_PAGE", comparison.texts.n_bytes - 1)
    assert "more than 0.12484 MB" in comparison._repr_html_()


def test_the_page_works_in_a_sandboxed_frame(browser: Browser) -> None:
    browser.open(f"<!DOCTYPE html><html><body>{RESULTS['pairs']._repr_html_()}</body></html>")
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
