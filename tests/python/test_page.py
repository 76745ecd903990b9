"""The HTML report in a browser."""

from __future__ import annotations

from browser import Browser
from reshuffle import compare
from reshuffle.data.demo import demo_corpus

CORPUS = demo_corpus()
ALL = compare(CORPUS.references, CORPUS.systems, ["bleu", "ter"], all_pairs=True, n_resamples=199)


def test_the_page_opens(browser: Browser) -> None:
    browser.open(ALL.render("html"))
    assert browser.texts("h1") == ["4 systems under BLEU and TER"]
    assert browser.texts("#pairs .count") == ["6 pairs"]
