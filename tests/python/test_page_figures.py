"""The figures of the HTML report in a browser: what is drawn where, against the numbers of the result."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from browser import Browser
from reshuffle import SegmentScores, bootstrap_test, compare, score
from reshuffle.data.demo import demo_corpus
from reshuffle.results import Comparison, Histogram, NullHistogram, PairedDifference

CORPUS = demo_corpus()
BINS = 64


@cache
def everything(**settings: Any) -> Comparison:
    """The four systems of the demo corpus under a metric where more is better and one where less is."""
    return compare(CORPUS.references, CORPUS.systems, ["bleu", "ter"], n_resamples=499, **settings)


@cache
def rated(n_systems: int, **settings: Any) -> Comparison:
    """Systems with segment scores that differ little, and rather long names."""
    rng = np.random.default_rng(7)
    common = rng.normal(size=200)
    names = [f"wmt-submission-{i:03d}-of-team-{i % 7}" for i in range(n_systems)]
    scores = {name: list(70 + 5 * rng.normal(size=200) + 8 * common + rng.normal()) for name in names}
    return compare(metrics=SegmentScores("rating", scores), n_resamples=199, **{"all_pairs": True, **settings})


def histogram(values: Sequence[float], *others: float) -> tuple[float, float, tuple[int, ...]]:
    """The lowest value, bin width and counts of a histogram whose range also contains ``others``."""
    low, high = min(*values, *others), max(*values, *others)
    if low == high:
        return float(low), 0.0, (len(values),)
    width = (high - low) / (BINS - 0.5)
    counts, _ = np.histogram(values, BINS, (low, low + BINS * width))
    return float(low), float(width), tuple(map(int, counts))


def with_histograms(result: Comparison) -> Comparison:
    """The result with known, lopsided histograms instead of its own."""
    rng = np.random.default_rng(3)

    def values() -> Any:
        return rng.gamma(6, 0.2, 3000) - 1.2

    scores = [replace(s, draws=Histogram(*histogram(s.score + values()))) for s in result.scores]
    pairs = [
        replace(p, null=NullHistogram(*histogram(values(), p.difference, -p.difference), p.difference))
        for p in result.comparisons
    ]
    return replace(result, scores=tuple(scores), comparisons=tuple(pairs))


def by_score(result: Comparison, metric: str) -> list[str]:
    """The systems from best to worst."""
    sign = {m.name: -1 if m.higher_is_better else 1 for m in result.metrics}[metric]
    return sorted(result.systems, key=lambda system: sign * result.score(system, metric).score)


def scale_of(browser: Browser, figure: str) -> tuple[float, float]:
    """The value at x = 0 and that of a pixel, from the first and the last label of the axis."""
    ticks = browser.run(
        "return [...document.querySelectorAll(arguments[0] + ' .axis .tick')]"
        ".map((tick) => [Number(tick.textContent), Number(tick.getAttribute('x'))])",
        figure,
    )
    (first, x0), (last, x1) = ticks[0], ticks[-1]
    pixel = (last - first) / (x1 - x0)
    return first - x0 * pixel, pixel


def marks(browser: Browser, selector: str) -> list[dict[str, Any]]:
    """The attributes of each element."""
    found: list[dict[str, Any]] = browser.run(
        "return [...document.querySelectorAll(arguments[0])]"
        ".map((mark) => Object.fromEntries([...mark.attributes].map((each) => [each.name, each.value])))",
        selector,
    )
    return found


def values_at(browser: Browser, figure: str, xs: Sequence[float]) -> list[float]:
    """The values at horizontal positions of a figure."""
    origin, pixel = scale_of(browser, figure)
    return [origin + x * pixel for x in xs]


def whisker_ends(browser: Browser, figure: str) -> list[tuple[float, float]]:
    """The values at the ends of each whisker."""
    ends = []
    for mark in marks(browser, f"{figure} .whisker"):
        found = re.match(r"M([\d.]+),[\d.]+H([\d.]+)", mark["d"])
        assert found is not None, mark
        ends.append((float(found[1]), float(found[2])))
    return [tuple(values_at(browser, figure, pair)) for pair in ends]  # type: ignore[misc]


class TestRanking:
    def test_dots_and_lines_are_at_the_scores_and_the_ends_of_their_intervals(self, browser: Browser) -> None:
        result = everything(all_pairs=True)
        browser.open(result.render("html"))
        systems = by_score(result, "BLEU")
        assert systems == browser.texts("#ranking .row .name")
        scores = [result.score(system, "BLEU") for system in systems]
        dots = [float(mark["cx"]) for mark in marks(browser, "#ranking .dot")]
        assert [s.score for s in scores] == pytest.approx(values_at(browser, "#ranking", dots), abs=1e-6)
        ends = [(s.confidence_interval.low, s.confidence_interval.high) for s in scores if s.confidence_interval]
        assert np.array(ends) == pytest.approx(np.array(whisker_ends(browser, "#ranking")), abs=1e-6)

    def test_each_group_has_a_bar_over_its_systems_and_a_letter_at_each(self, browser: Browser) -> None:
        result = rated(9)
        browser.open(result.render("html"))
        (ranking,) = result.rankings
        assert ranking.groups is not None
        bars = browser.run(
            "return [...document.querySelectorAll('#ranking .group')].map((group) => {"
            "const bar = group.querySelector('.group-bar');"
            "const ys = [...group.querySelectorAll('text')].map((letter) => Number(letter.getAttribute('y')));"
            "return [group.textContent, Number(bar.getAttribute('y')), Number(bar.getAttribute('height')), ys]; })"
        )
        rows = browser.run(
            "return Object.fromEntries([...document.querySelectorAll('#ranking .row .name')]"
            ".map((name, row) => [currentView().systems[row].name, Number(name.getAttribute('y'))]))"
        )
        for letter, members, (text, y, height, ys) in zip("abcdefghi", ranking.groups, bars, strict=False):
            assert letter * len(members) == text
            assert sorted(rows[member] for member in members) == pytest.approx(ys)
            assert y < min(ys) <= max(ys) < y + height
        assert len(ranking.groups) == len(bars)

    def test_with_a_baseline_stars_and_filled_dots_mark_significant_differences(self, browser: Browser) -> None:
        result = everything(baseline="baseline")
        browser.open(result.render("html"))
        systems = by_score(result, "BLEU")
        found = browser.run(
            "return [...document.querySelectorAll('#ranking .row')].map((row) => "
            "[row.querySelectorAll('text.strong').length, row.querySelector('.dot').getAttribute('class')])"
        )
        for system, (stars, dot) in zip(systems, found, strict=True):
            if system == "baseline":
                assert (0, "dot even") == (stars, dot)
                continue
            pair = result.pair(system, metric="BLEU")
            significant = pair.is_significant(0.05)
            side = "even hollow" if not significant else "better" if pair.difference > 0 else "worse"
            assert (int(significant), f"dot {side}") == (stars, dot)

    def test_rank_intervals_are_bars_where_there_are_too_many_groups_for_letters(self, browser: Browser) -> None:
        result = rated(40)
        ranking = replace(result.rankings[0], groups=None)
        browser.open(replace(result, rankings=(ranking,)).render("html"))
        bars = marks(browser, "#ranking .rank-bar")
        lengths = [float(bar["x2"]) - float(bar["x1"]) for bar in bars]
        ranks = [ranked.rank_high - ranked.rank_low for ranked in ranking.systems]
        unit = (max(lengths) - min(lengths)) / (max(ranks) - min(ranks))
        assert [min(lengths) + unit * (n - min(ranks)) for n in ranks] == pytest.approx(lengths, abs=1e-6)
        assert [] == browser.all("#ranking .group")

    def test_scores_without_tests_have_dots_only(self, browser: Browser) -> None:
        browser.open(score(CORPUS.references, CORPUS.systems, n_resamples=99).render("html"))
        assert 4 == len(browser.all("#ranking .dot"))
        assert [] == browser.all("#ranking .group, #ranking .hollow, #ranking .reference")


class TestDifferences:
    @pytest.mark.parametrize("metric", ["BLEU", "TER"])
    def test_dots_are_at_the_differences_from_the_chosen_system(self, browser: Browser, metric: str) -> None:
        result = everything(all_pairs=True)
        browser.open(result.render("html"))
        browser.run("showView(0, arguments[0])", ["BLEU", "TER"].index(metric))
        systems = by_score(result, metric)
        for chosen in (systems[0], systems[2]):
            browser.run(
                "const choice = document.getElementById('reference'); choice.value = arguments[0];"
                "choice.dispatchEvent(new Event('change'))",
                str(systems.index(chosen)),
            )
            others = [system for system in systems if system != chosen]
            assert others == browser.texts("#differences .choice .name")
            scores = {system: result.score(system, metric).score for system in systems}
            expected = [scores[system] - scores[chosen] for system in others]
            dots = [float(mark["cx"]) for mark in marks(browser, "#differences .dot")]
            assert expected == pytest.approx(values_at(browser, "#differences", dots), abs=1e-6)
            (zero,) = marks(browser, "#differences .zero")
            assert [0.0] == pytest.approx(values_at(browser, "#differences", [float(zero["x1"])]), abs=1e-6)

    def test_lines_end_at_the_ends_of_intervals_also_of_reversed_pairs(self, browser: Browser) -> None:
        result = everything(all_pairs=True)
        browser.open(result.render("html"))
        systems = by_score(result, "BLEU")
        expected = []
        for system in systems[1:]:
            pair = next(p for p in result.comparisons if {p.system, p.baseline} == {system, systems[0]})
            interval = pair.confidence_interval
            assert interval is not None
            forward = pair.system == system
            expected.append((interval.low, interval.high) if forward else (-interval.high, -interval.low))
        assert np.array(expected) == pytest.approx(np.array(whisker_ends(browser, "#differences")), abs=1e-6)

    def test_sides_say_which_is_better(self, browser: Browser) -> None:
        browser.open(everything(baseline="baseline").render("html"))
        assert ["← worse than baseline", "better than baseline →"] == browser.texts("#differences .side")
        browser.run("showView(0, 1)")
        assert ["← better than baseline", "worse than baseline →"] == browser.texts("#differences .side")

    def test_stars_filled_dots_and_colours_mark_significant_differences(self, browser: Browser) -> None:
        result = everything(baseline="baseline")
        browser.open(result.render("html"))
        browser.run("showView(0, 1)")
        found = browser.run(
            "return [...document.querySelectorAll('#differences .choice')].map((row) => "
            "[row.dataset.system, row.querySelectorAll('text.strong').length, row.querySelector('.dot').getAttribute('class')])"
        )
        kinds = set()
        for system, stars, dot in found:
            pair = result.pair(system, metric="TER")
            side = "even hollow" if not pair.is_significant(0.05) else "worse" if pair.difference > 0 else "better"
            assert (int(pair.is_significant(0.05)), f"dot {side}") == (stars, dot)
            kinds.add(side)
        assert {"even hollow", "worse", "better"} == kinds

    def test_a_click_selects_the_pair_and_keys_do(self, browser: Browser) -> None:
        result = everything(all_pairs=True)
        browser.open(result.render("html"))
        systems = by_score(result, "BLEU")
        rows = browser.all("#differences .choice")
        rows[1].click()
        assert [systems[2], systems[0]] == browser.run("return state.pair")
        assert ["false", "true", "false"] == [row.get_attribute("aria-selected") for row in rows]
        browser.press("DOWN", "ENTER")
        assert [systems[3], systems[0]] == browser.run("return state.pair")
        browser.press("HOME", "SPACE")
        assert [systems[1], systems[0]] == browser.run("return state.pair")
        browser.press("UP", "END", "DOWN")
        assert systems[3] == browser.run("return document.activeElement.dataset.system")
        assert ["-1", "-1", "0"] == [row.get_attribute("tabindex") for row in rows]
        assert ["true", "false", "false"] == [row.get_attribute("aria-selected") for row in rows]

    def test_the_chosen_system_stays_under_another_metric(self, browser: Browser) -> None:
        browser.open(everything(all_pairs=True).render("html"))
        choice = browser.one("#reference")
        choice.send_keys("rules")
        browser.wait("return document.querySelectorAll('#differences .choice[data-system=rules]').length === 0")
        assert browser.run("return document.activeElement.id") == "reference"
        browser.run("showView(0, 1)")
        assert [] == browser.all("#differences .choice[data-system=rules]")

    def test_intervals_without_an_end_are_arrows(self, browser: Browser) -> None:
        result = everything(baseline="baseline")
        pairs = [
            replace(p, confidence_interval=replace(p.confidence_interval, low=-math.inf, high=math.inf))
            if index == 0 and p.confidence_interval is not None
            else p
            for index, p in enumerate(result.comparisons)
        ]
        browser.open(replace(result, comparisons=tuple(pairs)).render("html"))
        endless = pairs[0].system
        path = browser.run(
            "return document.querySelector(`#differences [data-system='${arguments[0]}'] .whisker`).getAttribute('d')",
            endless,
        )
        assert 2 == path.count("L") / 2  # an arrow head has two lines, the end of a bounded interval none
        assert "NaN" not in path and "Infinity" not in path

    def test_p_of_a_one_sided_test_is_shown_in_the_direction_of_the_test(self, browser: Browser) -> None:
        result = everything(all_pairs=True, alternative="greater")
        browser.open(result.render("html"))
        tested = {(p.system, p.baseline) for p in result.comparisons}
        rows = browser.all("#differences .choice")
        for row in rows:
            row.click()
            assert tuple(browser.run("return state.pair")) in tested
        assert "that the later system in the input scores higher" in browser.texts("#differences figcaption")[0]


def class_of(p: float, alpha: float) -> int:
    """The class of a p-value in the heat map."""
    return sum(p > end * alpha * (1 + 1e-9) for end in (0.02, 0.2, 1, 2))


def decisive(pair: PairedDifference) -> float:
    adjusted = pair.test.adjusted_pvalue
    return float(pair.test.pvalue if adjusted is None else adjusted)


def matrix_cells(browser: Browser) -> dict[tuple[int, int], int]:
    """The class of each cell, by row and column."""
    layout = browser.run("return matrix.layout")
    cells = {}
    for index in range(5):
        path = browser.run(f"return document.querySelector('#matrix .matrix .p{index}').getAttribute('d')")
        for x, y in re.findall(r"M([\d.]+),([\d.]+)h", path):
            cells[round(float(y) / layout["height"]), round(float(x) / layout["cell"])] = index
    return cells


class TestMatrix:
    @pytest.mark.parametrize("n_systems", [3, 16, 100])
    def test_every_pair_has_a_cell_of_its_class(self, browser: Browser, n_systems: int) -> None:
        result = rated(n_systems)
        browser.open(result.render("html"))
        systems = by_score(result, "rating")
        expected = {}
        for pair in result.comparisons:
            first, second = sorted([systems.index(pair.system), systems.index(pair.baseline)])
            expected[second, first] = class_of(decisive(pair), 0.05)
        assert expected == matrix_cells(browser)
        assert n_systems < 5 or len(set(expected.values())) > 3
        names = [text.split(" ", 1) for text in browser.texts("#matrix .name")]
        assert [str(place + 1) for place in range(n_systems)] == [number for number, _ in names]
        # Few elements, so that a hundred systems scroll smoothly.
        assert len(browser.all("#matrix .matrix *")) < (400 if n_systems <= 20 else 4 * n_systems)

    def test_classes_follow_alpha(self, browser: Browser) -> None:
        result = rated(16, alpha=0.01)
        browser.open(result.render("html"))
        cells = matrix_cells(browser)
        significant = sum(pair.is_significant(0.01) for pair in result.comparisons)
        assert significant == sum(index <= 2 for index in cells.values()) > 0
        assert "≤ 0.0002" in browser.texts("#matrix .swatch")[0]

    def test_values_are_those_of_the_result(self, browser: Browser) -> None:
        result = everything(all_pairs=True)
        browser.open(result.render("html"))
        systems = by_score(result, "BLEU")
        expected = []
        for row in range(1, 4):
            for column in range(row):
                pair = next(
                    p
                    for p in result.comparisons
                    if p.metric == "BLEU" and {p.system, p.baseline} == {systems[row], systems[column]}
                )
                expected.append(decisive(pair))
        shown = browser.texts("#matrix .value")
        for p, text in zip(expected, shown, strict=True):
            if text == "<.001":
                assert p < 0.001
            else:
                assert p == pytest.approx(float(text), abs=0.0005 if p < 0.1 else 0.005)

    def test_arrow_keys_move_and_enter_selects(self, browser: Browser) -> None:
        result = rated(8)
        browser.open(result.render("html"))
        systems = by_score(result, "rating")
        browser.run("document.querySelector('#matrix .matrix').focus()")

        def cell() -> list[int]:
            found: list[int] = browser.run("return matrix.cell")
            return found

        assert [1, 0] == cell()
        browser.press("ARROW_DOWN", "ARROW_DOWN", "ARROW_RIGHT")
        assert [3, 1] == cell()
        assert browser.texts("#matrix .figure-status")[0].startswith(f"{systems[1]} − {systems[3]}: ")
        browser.press("ENTER")
        assert [systems[1], systems[3]] == browser.run("return state.pair")
        browser.press("END")
        assert [3, 2] == cell()
        browser.press("ARROW_RIGHT")  # the diagonal has no cells
        assert [3, 2] == cell()
        browser.press("PAGE_DOWN", "HOME")
        assert [7, 0] == cell()
        browser.press("ARROW_DOWN", "ARROW_LEFT", "PAGE_UP", "ARROW_UP")
        assert [1, 0] == cell()

    def test_a_click_selects_the_pair_under_the_pointer(self, browser: Browser) -> None:
        result = rated(60)
        browser.open(result.render("html"))
        systems = by_score(result, "rating")
        browser.run("document.getElementById('matrix').scrollIntoView()")
        x, y = browser.run(
            "const box = document.querySelector('#matrix .matrix').getBoundingClientRect();"
            "return [box.left + 7.5 * matrix.layout.cell, box.top + 20.5 * matrix.layout.height]"
        )
        for kind, count in (("mouseMoved", 0), ("mousePressed", 1), ("mouseReleased", 1)):
            at = {"type": kind, "x": x, "y": y, "button": "left" if count else "none", "clickCount": count}
            browser.driver.execute_cdp_cmd("Input.dispatchMouseEvent", at)
        assert [systems[7], systems[20]] == browser.wait("return state.pair?.[0] === arguments[0] && state.pair", systems[7])
        assert browser.texts("#matrix .figure-status")[0].startswith(f"{systems[7]} − {systems[20]}: ")

    def test_a_selection_elsewhere_is_outlined(self, browser: Browser) -> None:
        result = rated(8)
        browser.open(result.render("html"))
        systems = by_score(result, "rating")
        browser.run("selectPair(arguments[0], arguments[1])", systems[6], systems[2])
        (outline,) = marks(browser, "#matrix .cell-chosen")
        layout = browser.run("return matrix.layout")
        assert "visible" == outline["visibility"]
        assert [2 * layout["cell"], 6 * layout["height"]] == pytest.approx(
            [float(outline["x"]), float(outline["y"])], abs=1
        )

    def test_there_is_none_with_a_baseline(self, browser: Browser) -> None:
        browser.open(everything(baseline="baseline").render("html"))
        assert not browser.one("#matrix").is_displayed()
