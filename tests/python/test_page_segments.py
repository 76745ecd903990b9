"""The segments in an HTML report: their order, marks, filters and controls, in a browser."""

from __future__ import annotations

import re
from functools import cache
from itertools import product
from typing import Any
from urllib.parse import parse_qs

import numpy as np
import pytest

from browser import Browser
from known import known
from pages import contrast
from reshuffle import Comparison, CorpusFunction, SegmentScores, compare, compare_sets
from reshuffle.data.demo import demo_corpus

SECTION = "#segments"
SEGMENT = f"{SECTION} .segments > li"


@cache
def demo(**options: Any) -> Comparison:
    corpus = demo_corpus()
    return compare(corpus.references, corpus.systems, ["bleu", "ter"], n_resamples=19, include="texts", **options)


def small(systems: dict[str, list[str]], references: Any, metrics: Any = "chrf", **options: Any) -> Comparison:
    return compare(references, systems, metrics, n_resamples=9, include="texts", **options)


def numbers(browser: Browser) -> list[int]:
    """The numbers of the segments in the order of the page, from 0."""
    texts = browser.texts(f"{SEGMENT} > h3")
    return [int(found[1].replace(",", "")) - 1 for text in texts if (found := re.match(r"Segment ([\d,]+)", text))]


def choose(browser: Browser, label: str, value: str) -> None:
    """Choose an option of a control, as a reader does."""
    select = browser.one(f'{SECTION} select[aria-label="{label}"]')
    browser.run("arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('change'))", select, value)


def search(browser: Browser, text: str) -> None:
    field = browser.one(f'{SECTION} input[type="search"]')
    browser.run("arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('input'))", field, text)


def expected_order(comparison: Comparison, metric: str, system: str, baseline: str, side: int = 0) -> list[int]:
    """Segments by the size of the difference; of one side only if ``side`` is 1 or -1."""
    scores = known(comparison.texts).scores[metric]
    sign = 1 if next(m for m in comparison.metrics if m.name == metric).higher_is_better else -1
    pairs = list(zip(scores[system], scores[baseline], strict=True))
    differences = [None if a is None or b is None else a - b for a, b in pairs]
    chosen = [i for i, d in enumerate(differences) if not side or (d is not None and d * sign * side > 0)]
    return sorted(chosen, key=lambda i: -1e9 if (d := differences[i]) is None else abs(d), reverse=True)


def pair_of(browser: Browser) -> tuple[str, str]:
    """The system and the baseline whose outputs are shown."""
    baseline, system, *_ = browser.texts(f"{SEGMENT}:first-child .outputs bdi")
    return system, baseline


# --- Order, scores and filters


@pytest.mark.parametrize("metric", ["BLEU", "TER"])
def test_segments_are_sorted_by_the_difference_of_their_scores(browser: Browser, metric: str) -> None:
    comparison = demo(all_pairs=True)
    browser.open(comparison.render("html"), f"metric={metric}&system=tuned&baseline=rules")
    system, baseline = pair_of(browser)
    assert {system, baseline} == {"tuned", "rules"}
    order = expected_order(comparison, metric, system, baseline)
    assert numbers(browser) == order[:20]
    assert browser.texts(f"{SECTION} output") == ["400 segments"]
    scores = known(comparison.texts).scores[metric]
    shown = browser.texts(f"{SEGMENT} .score")
    assert shown == [f"{scores[name][i]:.2f}" for i in order[:20] for name in (baseline, system)]
    differences = [scores[system][i] - scores[baseline][i] for i in order[:20]]  # type: ignore[operator]
    assert browser.texts(f"{SEGMENT} .change") == [f"Δ {d:+.2f}" for d in differences]
    higher = metric == "BLEU"
    classes = browser.each(f"{SEGMENT} .change span", "each.className")
    assert classes == ["better" if (d > 0) == higher else "worse" for d in differences]
    for side, value in (("system", 1), ("baseline", -1)):
        choose(browser, "Show", side)
        of_side = expected_order(comparison, metric, system, baseline, value)
        assert numbers(browser) == of_side[:20]
        assert browser.texts(f"{SECTION} output") == [f"{len(of_side)} of 400 segments"]


def test_segments_are_filtered_by_the_texts_that_are_shown(browser: Browser) -> None:
    systems = {
        "a": ["an Apple", "a pear", "nothing", "x (b)"],
        "b": ["one", "two", "three APPLES", "y"],
        "c": ["pear", "pear", "pear", "pear"],
    }
    references = [["one", "two", "three", "apple pie"], [None, None, "Äpfel", None]]
    comparison = small(systems, references, source=[HOSTILE[0], None, "Ein Haus", "Quelle"])
    browser.open(comparison.render("html"), "system=b&baseline=a")
    # The source is above the references.
    above = browser.each(SEGMENT, "[...each.querySelectorAll('.source')].map((text) => text.textContent)")
    sources = dict(zip(numbers(browser), above, strict=True))
    assert sources[0] == [f"Source{HOSTILE[0]}", "Reference 1one"]
    assert sources[1] == ["Reference 1two"]
    assert sources[2] == ["SourceEin Haus", "Reference 1three", "Reference 2Äpfel"]
    search(browser, " apple ")
    assert sorted(numbers(browser)) == [0, 2, 3]
    assert browser.texts(f"{SECTION} output") == ["3 of 4 segments"]
    queries = {"äPFEL": [2], "(b)": [3], "pear": [1], "ein haus": [2], "nowhere": [], "": [0, 1, 2, 3]}
    for text, found in queries.items():
        search(browser, text)
        assert sorted(numbers(browser)) == found
    choose(browser, "System", "c")  # the filter stays, and is about the texts of the new pair
    search(browser, "pear")
    assert sorted(numbers(browser)) == [0, 1, 2, 3]


def test_more_segments_are_added_twenty_at_a_time(browser: Browser) -> None:
    comparison = demo()
    browser.open(comparison.render("html"), "system=tuned&baseline=baseline")
    order = expected_order(comparison, "BLEU", "tuned", "baseline")
    assert not browser.one("#documents").is_displayed()  # which it has not
    button = browser.one(f"{SECTION} .controls > button")
    assert button.text == "Show 20 more (380 left)"
    browser.run("arguments[0].focus()", button)
    browser.press("ENTER")
    assert numbers(browser) == order[:40]
    assert browser.run("return document.activeElement.textContent").startswith(f"Segment {order[20] + 1}Δ")
    search(browser, "cat")
    n = int(browser.texts(f"{SECTION} output")[0].split()[0])
    for _ in range(n // 20):
        assert button.is_displayed()
        button.click()
    assert len(numbers(browser)) == n
    assert not button.is_displayed()


def test_missing_scores_are_last(browser: Browser) -> None:
    scores = {"a": [1.0, np.nan, 3.0, 5.0], "b": [1.5, 9.0, np.nan, 1.0]}
    ratings = SegmentScores("rating", scores, missing="pairwise")
    systems = {name: [f"{name} {i}" for i in range(4)] for name in scores}
    browser.open(small(systems, ["r"] * 4, ratings).render("html"))
    assert numbers(browser) == [3, 0, 1, 2]
    assert browser.texts(f"{SEGMENT} .score")[4:] == ["no score", "9.000", "3.000", "no score"]
    assert len(browser.texts(f"{SEGMENT} .change")) == 2
    choose(browser, "Show", "baseline")
    assert numbers(browser) == [3]


def words(hypotheses: list[str], references: list[list[str | None]]) -> float:
    return sum(len(line.split()) for line in hypotheses)


def test_without_scores_of_segments_they_are_in_the_order_of_the_test_set(browser: Browser) -> None:
    name = "toString"  # which every object of JavaScript has
    systems = {"a": ["one", "two words", "x"], "b": ["1", "2", "3 4 5"]}
    comparison = small(systems, ["r", "s", "t"], ["chrf", CorpusFunction(name, words)])
    browser.open(comparison.render("html"), f"metric={name}")
    assert numbers(browser) == [0, 1, 2]
    assert browser.texts(f"{SEGMENT} .score") == []
    assert browser.texts(f"{SECTION} .legend")[0].startswith(f"{name} has no segment scores: segments are in the order")
    assert browser.all(f'{SECTION} select[aria-label="Show"]') == []


def test_outputs_that_resemble_each_other_take_little_space_in_the_page() -> None:
    rng = np.random.default_rng(2)
    vocabulary = ["".join(letters) for letters in rng.choice([*"abcdefghij"], (5000, 6))]
    lines = [" ".join(rng.choice(vocabulary, 30)) for _ in range(50)]
    systems = {f"s{i}": [line.replace("a", "b", i) for line in lines] for i in range(40)}
    ratings = {name: rng.integers(0, 9, 50).tolist() for name in systems}
    sizes = []
    for n in (10, 40):
        few = {name: systems[name] for name in [*systems][:n]}
        scores = SegmentScores("rating", {name: ratings[name] for name in few})
        without = compare(metrics=scores, n_resamples=9).render("html")
        sizes.append(len(small(few, lines, scores).render("html")) - len(without))
    assert sum(len(line) for each in systems.values() for line in each) > 400_000
    assert sizes[1] < 2 * sizes[0] < 100_000


@cache
def large() -> Comparison:
    rng = np.random.default_rng(3)
    systems = {name: ["".join(map(chr, rng.integers(0x4E00, 0x9FFF, 2600))) for _ in range(100)] for name in "ab"}
    ratings = SegmentScores("rating", {"a": [*range(100)], "b": [*range(2, 102)]})
    return small(systems, ["r"] * 100, ratings)


def test_large_texts_are_read_when_the_segments_come_into_sight(browser: Browser) -> None:
    comparison = large()
    systems = known(comparison.texts).systems
    browser.open(comparison.render("html"))
    assert browser.texts(f"{SECTION} .body") == ["Reading the texts …"]
    browser.run("document.querySelector('#segments').scrollIntoView()")
    browser.wait(f"return document.querySelectorAll('{SEGMENT}').length === 20")
    assert browser.texts(f"{SEGMENT}:first-child .outputs .text") == [systems["a"][0], systems["b"][0]]
    browser.open(comparison.render("html"))
    browser.run("delete window.DecompressionStream; document.querySelector('#segments').scrollIntoView()")
    browser.wait("return document.querySelector('#segments .body').textContent.includes('a browser of 2023 or later')")


# --- Marks


def longest_common(a: list[str], b: list[str]) -> int:
    """The length of a longest common subsequence, by the table of all prefixes."""
    row = [0] * (len(b) + 1)
    for x in a:
        before = row[:]
        for j, y in enumerate(b):
            row[j + 1] = before[j] + 1 if x == y else max(before[j + 1], row[j])
    return row[-1]


def test_as_many_words_as_possible_are_aligned(browser: Browser) -> None:
    browser.open(demo().render("html"))
    rng = np.random.default_rng(5)
    letters = np.array(["a", "b", "c", "dd", " ", "  ", "字", "e\u0301", ".", "\n"])
    pairs = [["".join(rng.choice(letters, rng.integers(0, 14))) for _ in range(2)] for _ in range(400)]
    found = browser.run(
        """return arguments[0].map(([x, y]) => {
          const [a, b] = [wordsOf(x), wordsOf(y)];
          const edits = editsFrom(x, y).words;
          return {
            a: a.map((word) => word.text), b: b.map((word) => word.text), partner: [...alignedWords(a, b)],
            whole: a.map((word) => word.text + word.after).join(""),
            marked: markedPair(x, y).map((nodes) => nodes.map((node) => node.textContent ?? node).join("")),
            kept: edits.filter((word) => word.mark !== "del").map((word) => word.text + word.after).join(""),
          };
        })""",
        pairs,
    )
    for (x, y), each in zip(pairs, found, strict=True):
        assert (each["whole"], each["marked"], each["kept"]) == (x, [x, y], y)
        aligned = [(i, j) for i, j in enumerate(each["partner"]) if j >= 0]
        assert all(each["a"][i] == each["b"][j] for i, j in aligned)
        assert [j for _, j in aligned] == sorted({j for _, j in aligned})
        assert len(aligned) == longest_common(each["a"], each["b"])


def marks(browser: Browser, segment: int = 1) -> list[list[str]]:
    """The marked parts of the two outputs of a segment."""
    return browser.each(
        f"{SEGMENT}:nth-child({segment}) .outputs .text",
        "[...each.querySelectorAll('ins, del')].map((mark) => `${mark.tagName} ${mark.textContent}`)",
    )


LONG = " ".join(f"a{i}" for i in range(3000))
# The old output, the new one, and what is marked in each.
MARKED = {
    "a word that has only moved": ("today it rains", "it rains today", [["DEL today"], ["INS today"]]),
    "Chinese": ("今天天气很好。", "今天天氣真好。", [["DEL 气很"], ["INS 氣真"]]),
    "Thai": ("ภาษาไทยดี", "ภาษาไทดี", [["DEL ย"], []]),
    "Katakana": ("東京タワーへ", "東京タワに", [["DEL ーへ"], ["INS に"]]),
    "too different": (
        f"same {LONG} end", f"same {LONG.replace('a', 'b')} end", [[f"DEL {LONG}"], [f"INS {LONG.replace('a', 'b')}"]],
    ),
    "directions": ("שלום עולם", "مرحبا", [["DEL שלום עולם"], ["INS مرحبا"]]),
}  # fmt: skip


def test_texts_are_marked_by_word_or_by_character_in_the_direction_of_their_letters(browser: Browser) -> None:
    systems = {"old": [old for old, *_ in MARKED.values()], "new": [new for _, new, _ in MARKED.values()]}
    browser.open(small(systems, ["r"] * len(MARKED), baseline="old").render("html"), "system=new&baseline=old")
    places = numbers(browser)
    found = {name: marks(browser, places.index(number) + 1) for number, name in enumerate(MARKED)}
    assert found == {name: marked for name, (*_, marked) in MARKED.items()}
    rows = browser.each(
        SEGMENT, "[...each.querySelectorAll('.outputs .text')].map((t) => getComputedStyle(t).direction)"
    )
    directions = dict(zip(places, rows, strict=True))
    assert [directions[number] for number in range(len(MARKED))] == [["ltr"] * 2] * 5 + [["rtl"] * 2]


def test_words_that_differ_are_marked_between_the_outputs_or_from_the_closest_reference(browser: Browser) -> None:
    systems = {"old": ["The small cat  sat down.", "x"], "new": ["A small cat sat, down!", "y"]}
    references = [["Nothing of this", "x"], ["A small dog sat down.", None]]
    browser.open(small(systems, references, baseline="old").render("html"), "system=new&baseline=old")
    search(browser, "small")
    assert marks(browser) == [["DEL The", "DEL ."], ["INS A", "INS ,", "INS !"]]
    assert browser.texts(f"{SEGMENT} .outputs .text") == [systems["old"][0], systems["new"][0]]
    assert browser.texts(f"{SECTION} .legend") == ["Words only in old or moved; words only in new or moved."]
    choose(browser, "Highlight", "reference")
    assert marks(browser) == [
        ["DEL A", "INS The", "DEL dog", "INS cat"],
        ["DEL dog", "INS cat", "INS ,", "DEL .", "INS !"],
    ]
    legend = "Words that are not in the closest reference or moved; words of that reference that are missing or moved."
    assert browser.texts(f"{SECTION} .legend") == [legend]
    assert browser.texts(f"{SEGMENT} h4")[:2] == ["Reference 1", "Reference 2"]
    choose(browser, "Highlight", "none")
    assert marks(browser) == [[], []]
    assert browser.texts(f"{SECTION} .legend") == [""]
    search(browser, "y")
    assert browser.texts(f"{SEGMENT} .source") == ["Reference 1x"]  # the other one is missing


# --- Pairs, metrics and test sets


def test_the_selected_pair_is_shown_and_chosen_here(browser: Browser) -> None:
    comparison = demo(all_pairs=True)
    browser.open(comparison.render("html"))
    browser.run("selectPair('baseline', 'rules')")
    assert pair_of(browser) == ("baseline", "rules")
    select = browser.one(f'{SECTION} select[aria-label="System"]')
    browser.run("arguments[0].focus()", select)
    browser.press("t")  # chooses "tuned" by the keyboard
    assert browser.wait("return state.pair[0] === 'tuned'")
    assert pair_of(browser) == ("tuned", "rules")
    assert browser.run("return document.activeElement") == select
    address = parse_qs(browser.run("return location.hash.slice(1)"))
    assert (address["system"], address["baseline"]) == (["tuned"], ["rules"])
    assert "tuned vs. rules" in browser.texts("#null .heading")[0]
    # A system against itself is no pair: the two change places.
    choose(browser, "System", "rules")
    assert pair_of(browser) == ("rules", "tuned")
    choose(browser, "Baseline", "rules")
    assert pair_of(browser) == ("tuned", "rules")


def test_two_systems_that_were_not_compared_are_shown_here_only(browser: Browser) -> None:
    comparison = demo()  # with a baseline
    browser.open(comparison.render("html"), "system=tuned&baseline=baseline")
    choose(browser, "Baseline", "larger")
    assert pair_of(browser) == ("tuned", "larger")
    assert numbers(browser) == expected_order(comparison, "BLEU", "tuned", "larger")[:20]
    assert browser.run("return state.pair") == ["tuned", "baseline"]
    browser.run("showView(0, 1)")  # stays for another metric, until another pair is selected
    assert pair_of(browser) == ("tuned", "larger")
    assert numbers(browser) == expected_order(comparison, "TER", "tuned", "larger")[:20]
    browser.run("selectPair('rules', 'baseline')")
    assert pair_of(browser) == ("rules", "baseline")
    # Other choices stay, too.
    browser.open(comparison.render("html"), "system=tuned&baseline=baseline")
    choose(browser, "Show", "system")
    choose(browser, "Highlight", "reference")
    search(browser, "boat")
    browser.run("showView(0, 1)")
    texts = known(comparison.texts)
    order = expected_order(comparison, "TER", "tuned", "baseline", 1)
    lines = [(texts.systems["tuned"][i], texts.systems["baseline"][i], *texts.references[i]) for i in range(400)]
    assert numbers(browser) == [i for i in order if any("boat" in (line or "").lower() for line in lines[i])][:20] != []
    values = browser.each(f"{SECTION} select, {SECTION} input", "each.value")
    assert values == ["tuned", "baseline", "system", "reference", "boat"]


def test_segments_are_those_of_the_chosen_test_set(browser: Browser) -> None:
    sets = {
        "news": (["r", "s"], {"a": ["news a", "x"], "b": ["news b", "y"]}),
        "talks": (["r", "s", "t"], {"a": ["talks a", "x", "z"], "b": ["talks b", "y", "z"]}),
    }
    result = compare_sets(sets, "chrf", n_resamples=9, include="texts")
    page = result.render("html")
    browser.open(page)
    assert browser.texts(f"{SECTION} .body") == [
        "The average over test sets has no segments of its own: choose a test set."
    ]
    for name, n in (("news", 2), ("talks", 3)):
        browser.open(page, f"set={name}")
        assert len(numbers(browser)) == n
        search(browser, f"{name} a")
        assert numbers(browser) == [0]
    assert not browser.all(f'{SECTION} select[aria-label="System"]')  # there are only two systems


# --- Hostile texts, and narrow pages

HOSTILE = [
    "</script><script>window.broken = true</script>",
    "<img src=x onerror='window.broken = true'>",
    "<!-- --> &lt;b&gt; ]]> ${1} \\u003c",
    "NUL \0 and line\u2028separator\u2029",
    "\u202eoverride\u202c and \u2066isolate",
    "x" * 10_000,
    "word " * 2_000,
    "   leading and trailing  \n\n",
    "{{ 7 * 7 }} {% raw %}",
]


def test_hostile_texts_are_shown_as_they_are(browser: Browser) -> None:
    name = "<b onclick='window.broken = true'>" + "long name " * 20
    systems = {name: HOSTILE, "b": [line[::-1] for line in HOSTILE]}
    documents = [f"<img src=x onerror='window.broken = true'>{i // 3}" for i in range(len(HOSTILE))]
    ratings = SegmentScores("<i>", {each: [*range(i, i + len(HOSTILE))] for i, each in enumerate(systems)})
    references = [HOSTILE[1:] + HOSTILE[:1]]
    comparison = small(systems, references, ratings, all_pairs=True, documents=documents, source=HOSTILE)
    browser.resize(400)
    browser.open(comparison.render("html"))
    assert pair_of(browser) == ("b", name)
    assert numbers(browser) == [*range(len(HOSTILE))]
    for edits in ("outputs", "reference", "none"):
        choose(browser, "Highlight", edits)
        texts = browser.run(
            """const copies = [...document.querySelectorAll(arguments[0])].map((text) => text.cloneNode(true));
            if (arguments[1]) copies.forEach((copy) => copy.querySelectorAll("del").forEach((each) => each.remove()));
            return copies.map((copy) => copy.textContent)""",
            f"{SEGMENT} .outputs .text",
            edits == "reference",
        )
        expected = [text for line in HOSTILE for text in (line, line[::-1])]
        if edits == "reference":  # the white space after a removed word stays
            texts, expected = (["".join(text.split()) for text in each] for each in (texts, expected))
        assert texts == expected
    browser.run("document.querySelector('#ngrams').scrollIntoView()")
    browser.wait("return document.querySelector('#ngrams table') !== null")
    assert browser.run("return window.broken") is None
    assert browser.all("main img, main script, main i, main b") == []
    browser.wait("return document.documentElement.scrollWidth <= 400")
    section = "document.querySelector(arguments[0]).scrollWidth <= document.querySelector(arguments[0]).clientWidth"
    assert browser.run(f"return {section}", SECTION)


def test_outputs_are_side_by_side_where_there_is_room_and_an_empty_one_is_named(browser: Browser) -> None:
    names = {"a": "a name that needs several lines " * 6, "b": "b"}
    browser.open(small({"a": ["", "x"], "b": ["y", "z"]}, ["y", "x"]).render("html", names=names))
    for width, columns in ((400, 1), (1400, 2)):
        browser.resize(width)
        for part in ("div", "div > .text"):  # texts are in line, too
            tops = browser.each(f"{SEGMENT}:first-child .outputs > {part}", "each.getBoundingClientRect().top")
            assert len(set(tops)) == 3 - columns
        assert browser.run("return document.documentElement.scrollWidth") <= width
    assert names["a"] in browser.texts(f"{SEGMENT} bdi")
    assert "(empty)" in browser.texts(f"{SEGMENT} .outputs .text")
    choose(browser, "Highlight", "reference")
    search(browser, "y")
    assert browser.texts(f"{SEGMENT}:first-child .outputs .text") == ["y", "y"]  # the missing word is marked
    assert marks(browser)[0] == ["DEL y"] or marks(browser)[1] == ["DEL y"]


def test_marked_words_have_contrast_in_both_themes(browser: Browser) -> None:
    for theme, mark in product(("light", "dark"), ("ins", "del")):
        browser.prefer(prefers_color_scheme=theme)
        if mark == "ins":
            browser.open(demo().render("html"))
        background, text, surface = browser.run(
            """const mark = document.querySelector(arguments[0]);
            const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
            const painted = (...colours) => {  // one over the other
              for (const colour of colours) { canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1); }
              return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
            };
            const surface = getComputedStyle(document.body).backgroundColor;
            const { backgroundColor, color } = getComputedStyle(mark);
            return [painted(surface, backgroundColor), painted(color), painted(surface)]""",
            f"{SEGMENT} {mark}",
        )
        assert contrast(background, text) >= 4.5
        assert background != surface


# --- What else is known of texts


def table_rows(browser: Browser, section: str) -> list[list[list[str]]]:
    """The rows of each table of a section, with its header."""
    cells = "[...each.rows].map((row) => [...row.cells].map((cell) => cell.textContent))"
    return browser.each(f"{section} .scroll table", cells)


def test_documents_are_those_of_the_pair_with_mean_scores_of_their_segments(browser: Browser) -> None:
    corpus, ids = demo_corpus(), [f"<b>talk {i // 40}" for i in range(400)]
    options: Any = {"n_resamples": 19, "include": "texts", "all_pairs": True}
    comparison = compare(corpus.references, corpus.systems, ["bleu", "ter"], documents=ids, **options)
    browser.open(comparison.render("html"), "metric=TER&system=tuned&baseline=rules")
    scores = known(comparison.texts).scores["TER"]
    system, baseline = pair_of(browser)
    expected = []
    for document in dict.fromkeys(ids):
        inside = [i for i, each in enumerate(ids) if each == document]
        means = [np.mean([scores[name][i] for i in inside]) for name in (system, baseline)]
        expected.append([document, "40", f"{means[0]:.2f}", f"{means[1]:.2f}", f"{means[0] - means[1]:+.2f}"])
    ((header, *rows),) = table_rows(browser, "#documents")
    assert header == ["Document", "Segments", system, baseline, "Δ"]
    assert sorted(expected) == sorted(rows)
    differences = [abs(float(row[-1])) for row in rows]
    assert differences == sorted(differences, reverse=True)
    search(browser, "talk 3")
    assert sorted(numbers(browser)) == [*range(120, 140)] or len(numbers(browser)) == 20
    assert all(", <b>talk 3" in text for text in browser.texts(f"{SEGMENT} > h3"))


def test_documents_are_compared_on_the_segments_that_both_systems_have_and_lengths_of_references(
    browser: Browser,
) -> None:
    scores = {"a": [1.0, 9.0, 2.0, 3.0, np.nan, 4.0], "b": [2.0, np.nan, 2.0, 2.0, 7.0, np.nan]}
    ratings = SegmentScores("rating", scores, missing="pairwise")
    systems = {name: [f"{name} {i}" for i in range(6)] for name in scores}
    documents = ["x", "x", "y", "y", "z", "z"]
    references = [" ".join(["w"] * n) for n in (3, 10, 11, 20, 25, 41)]
    page = small(systems, references, ["chrf", ratings], documents=documents, baseline="b").render("html")
    browser.open(page, "metric=rating&system=a&baseline=b")
    ((_, *rows),) = table_rows(browser, "#documents")
    # The mean of all scores of a in x is 5, but 9 has no counterpart.
    x, y, z = sorted(rows)
    assert [x[0], x[1], *map(float, x[2:])] == ["x", "1", 1, 2, -1]
    assert [y[0], y[1], *map(float, y[2:])] == ["y", "2", 2.5, 2, 0.5]
    assert z[:2] == ["z", "0"]
    assert not any(re.search(r"\d", cell) for cell in z[2:])
    ((header, *rows),) = table_rows(browser, "#lengths")
    assert header == ["System", "0–10 (2)", "11–20 (2)", "21–30 (1)", "over 40 (1)"]
    means = {row[0]: [float(cell) if cell[:1].isdigit() else None for cell in row[1:]] for row in rows}
    assert means == {"a": [5, 2.5, None, 4], "b": [2, 2, 7, None]}


def test_words_are_those_that_one_output_has_and_the_other_lacks(browser: Browser) -> None:
    systems = {
        "a": ["the cat sat", "a dog dog", "same <b>", "nothing"],
        "b": ["the mat sat", "the dog barks", "same <b>", "the the the"],
    }
    references = [["the cat sat", "a dog barks", "same <b>", "the end"], ["the mat", None, None, None]]
    browser.open(small(systems, references, baseline="b").render("html"), "system=a&baseline=b")
    has_words = "return document.querySelector('#ngrams table') !== null"
    browser.wait("return document.querySelector('#ngrams [aria-busy]') === null")
    assert not browser.run(has_words)  # out of sight; on paper, everything is seen
    assert browser.run(f"window.dispatchEvent(new Event('beforeprint')); {has_words}")
    first, second = table_rows(browser, "#ngrams")
    assert first[0] == ["Word", "Only this system", "Only the other"]
    assert sorted(first[1:]) == [["a", "1", "0"], ["cat", "1", "0"]]
    assert second[0] == ["Word", "Only this system", "Only the other"]
    assert sorted(second[1:]) == [["barks", "1", "0"], ["mat", "1", "0"], ["the", "1", "0"]]
    select = browser.one("#ngrams select")
    browser.run("arguments[0].value = '2'; arguments[0].dispatchEvent(new Event('change'))", select)
    first, second = table_rows(browser, "#ngrams")
    assert sorted(row[0] for row in first[1:]) == ["a dog", "cat sat", "the cat"]
    assert sorted(row[0] for row in second[1:]) == ["dog barks", "the mat"]
    assert browser.run("return document.activeElement === document.querySelector('#ngrams select')")
