"""The figures of the HTML report in a browser: what is drawn where, against the numbers of the result."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.stats import kendalltau

from browser import Browser
from known import known
from plotted import with_histograms
from reshuffle import NonInferiority, SegmentScores, compare, score
from reshuffle.data.demo import demo_corpus
from reshuffle.report.nulls import bars_of
from reshuffle.results import Comparison, Histogram, NullHistogram

CORPUS = demo_corpus()


@cache
def everything(**settings: Any) -> Comparison:
    """The four systems of the demo corpus under a metric where more is better and one where less is."""
    return compare(CORPUS.references, CORPUS.systems, ["bleu", "ter"], **{"n_resamples": 499, **settings})


@cache
def rated(n_systems: int, **settings: Any) -> Comparison:
    """Systems with segment scores that differ little, and rather long names."""
    rng = np.random.default_rng(7)
    common = rng.normal(size=200)
    names = [f"wmt-submission-{i:03d}-of-team-{i % 7}" for i in range(n_systems)]
    scores = {name: list(70 + 5 * rng.normal(size=200) + 8 * common + rng.normal()) for name in names}
    return compare(metrics=SegmentScores("rating", scores), **{"all_pairs": True, "n_resamples": 199, **settings})


def by_score(result: Comparison, metric: str) -> list[str]:
    """The systems from best to worst."""
    sign = {m.name: -1 if m.higher_is_better else 1 for m in result.metrics}[metric]
    return sorted(result.systems, key=lambda system: sign * result.score(system, metric).score)


def scale_of(browser: Browser, figure: str) -> tuple[float, float]:
    """The value at x = 0 and that of a pixel, from the first and the last label of the axis."""
    ticks = browser.each(f"{figure} .axis .tick", "[Number(each.textContent), Number(each.getAttribute('x'))]")
    (first, x0), (last, x1) = ticks[0], ticks[-1]
    pixel = (last - first) / (x1 - x0)
    return first - x0 * pixel, pixel


def marks(browser: Browser, selector: str) -> list[dict[str, Any]]:
    """The attributes of each element."""
    return browser.each(selector, "Object.fromEntries([...each.attributes].map(({ name, value }) => [name, value]))")


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


# The system of a row, the number of its stars, and the classes of its dot.
MARKED = """[
    each.dataset.system, each.querySelectorAll("text.strong").length, each.querySelector(".dot").getAttribute("class"),
]"""


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
        # So are the lines and the filled parts of densities, whose positions are rounded to a tenth of a pixel.
        assert systems == browser.texts("#densities .name")
        lines = [float(mark["x1"]) for mark in marks(browser, "#densities .ridge-score")]
        assert [s.score for s in scores] == pytest.approx(values_at(browser, "#densities", lines), abs=1e-6)
        for expected, path in zip(ends, marks(browser, "#densities .ridge-inner"), strict=True):
            xs = [float(x) for x in re.findall(r"[ML]([\d.]+),", path["d"])]
            found = values_at(browser, "#densities", [xs[0], xs[-1]])
            assert [*expected] == pytest.approx(found, abs=0.11 * scale_of(browser, "#densities")[1])

    def test_each_group_has_a_bar_over_its_systems_and_a_letter_at_each(self, browser: Browser) -> None:
        result = rated(9)
        browser.open(result.render("html"))
        groups = known(result.rankings[0].groups)
        bars = browser.run(
            "return [...document.querySelectorAll('#ranking .group')].map((group) => {"
            "const bar = group.querySelector('.group-bar');"
            "const ys = [...group.querySelectorAll('text')].map((letter) => Number(letter.getAttribute('y')));"
            "return [group.textContent, Number(bar.getAttribute('y')), Number(bar.getAttribute('height')), ys]; })"
        )
        names = browser.run("return currentView().systems.map((system) => system.name)")
        rows = dict(zip(names, browser.each("#ranking .row .name", "Number(each.getAttribute('y'))"), strict=True))
        for letter, members, (text, y, height, ys) in zip("abcdefghi", groups, bars, strict=False):
            assert letter * len(members) == text
            assert sorted(rows[member] for member in members) == pytest.approx(ys)
            assert y < min(ys) <= max(ys) < y + height
        assert len(groups) == len(bars)
        for width in (1400, 390, 1400):  # shown and explained at any width
            browser.resize(width)
            browser.wait(
                "const [shown] = document.querySelectorAll('#ranking svg');"
                "return (shown.viewBox.baseVal.width < WIDE) === (arguments[0] < WIDE)",
                width,
            )
            (caption,) = browser.texts("#ranking figcaption")
            assert "Ranks:" in caption
            assert "Systems in the same group" in caption
            assert "Rank" in browser.texts("#ranking svg > text")

    def test_rank_intervals_are_bars_where_there_are_too_many_groups_for_letters(self, browser: Browser) -> None:
        result = rated(9)
        ranking = replace(result.rankings[0], groups=None)
        browser.open(replace(result, rankings=(ranking,)).render("html"))
        (caption,) = browser.texts("#ranking figcaption")
        means = "simultaneous 95% confidence intervals" if ranking.simultaneous else "those compatible with the"
        assert f"Ranks: {means}" in caption
        bars = marks(browser, "#ranking .rank-bar")
        lengths = [float(bar["x2"]) - float(bar["x1"]) for bar in bars]
        ranks = [ranked.rank_high - ranked.rank_low for ranked in ranking.systems]
        unit = (max(lengths) - min(lengths)) / (max(ranks) - min(ranks))
        assert unit > 1
        assert [min(lengths) + unit * (n - min(ranks)) for n in ranks] == pytest.approx(lengths, abs=1e-6)
        assert browser.all("#ranking .group") == []


def ends_from(result: Comparison, metric: str, system: str, baseline: str) -> tuple[float, float]:
    """The interval of a difference, also of a pair that is reversed in the result."""
    pairs = [p for p in result.comparisons if p.metric == metric and {p.system, p.baseline} == {system, baseline}]
    interval = known(pairs[0].confidence_interval)
    return (interval.low, interval.high) if pairs[0].system == system else (-interval.high, -interval.low)


class TestDifferences:
    def test_dots_and_lines_are_at_the_differences_from_the_chosen_system(self, browser: Browser) -> None:
        result = everything(all_pairs=True)
        browser.open(result.render("html"))
        for metric, position in (("BLEU", 0), ("TER", 1)):
            browser.run("showView(0, arguments[0])", position)
            systems = by_score(result, metric)
            scores = {system: result.score(system, metric).score for system in systems}
            for chosen in (systems[0], systems[2]):
                browser.run(
                    "const choice = document.getElementById('reference'); choice.value = arguments[0];"
                    "choice.dispatchEvent(new Event('change'))",
                    str(systems.index(chosen)),
                )
                others = [system for system in systems if system != chosen]
                assert others == browser.texts("#differences .choice .name")
                expected = [scores[system] - scores[chosen] for system in others]
                dots = [float(mark["cx"]) for mark in marks(browser, "#differences .dot")]
                assert expected == pytest.approx(values_at(browser, "#differences", dots), abs=1e-6)
                ends = [ends_from(result, metric, system, chosen) for system in others]
                assert np.array(ends) == pytest.approx(np.array(whisker_ends(browser, "#differences")), abs=1e-6)
                (zero,) = marks(browser, "#differences .zero")
                place = float(zero["d"][1:].partition(",")[0])
                assert values_at(browser, "#differences", [place]) == pytest.approx([0.0], abs=1e-6)
        # The chosen system stays under another metric.
        browser.one("#reference").send_keys("rules")
        browser.wait("return document.querySelectorAll('#differences .choice[data-system=rules]').length === 0")
        assert browser.run("return document.activeElement.id") == "reference"
        browser.run("showView(0, 0)")
        assert browser.all("#differences .choice[data-system=rules]") == []

    def test_sides_stars_and_colours_say_what_is_better(self, browser: Browser) -> None:
        result = everything(baseline="baseline")
        browser.open(result.render("html"))
        assert browser.texts("#differences .side") == ["← worse than baseline", "better than baseline →"]
        rows = zip(by_score(result, "BLEU"), browser.each("#ranking .row", MARKED), strict=True)
        of_ranking = [[system, *rest] for system, (_, *rest) in rows]
        assert [each for each in of_ranking if each[0] == "baseline"] == [["baseline", 0, "dot even"]]
        browser.run("showView(0, 1)")
        assert browser.texts("#differences .side") == ["← better than baseline", "worse than baseline →"]
        of_differences = browser.each("#differences .choice", MARKED)
        kinds = set()
        for metric, sign, found in (("BLEU", 1, of_ranking), ("TER", -1, of_differences)):
            for system, stars, dot in (each for each in found if each[0] != "baseline"):
                pair = result.pair(system, metric=metric)
                significant = pair.is_significant(0.05)
                side = "even hollow" if not significant else "better" if sign * pair.difference > 0 else "worse"
                assert (int(significant), f"dot {side}") == (stars, dot)
                kinds.add((metric, side))
        assert {("TER", "even hollow"), ("TER", "worse"), ("TER", "better")} <= kinds

    def test_a_click_or_keys_select_a_pair(self, browser: Browser) -> None:
        result = everything(all_pairs=True)
        browser.open(result.render("html"))
        systems = by_score(result, "BLEU")
        rows = browser.all("#differences .choice")
        rows[1].find_element("tag name", "text").click()  # Firefox's driver clicks on no groups
        assert [systems[2], systems[0]] == browser.run("return state.pair")
        assert [row.get_dom_attribute("aria-selected") for row in rows] == ["false", "true", "false"]
        browser.press("DOWN", "ENTER")
        assert [systems[3], systems[0]] == browser.run("return state.pair")
        browser.press("HOME", "SPACE")
        assert [systems[1], systems[0]] == browser.run("return state.pair")
        browser.press("UP", "END", "DOWN")
        assert systems[3] == browser.run("return document.activeElement.dataset.system")
        assert [row.get_dom_attribute("tabindex") for row in rows] == ["-1", "-1", "0"]
        assert [row.get_dom_attribute("aria-selected") for row in rows] == ["true", "false", "false"]

    def test_intervals_without_an_end_are_arrows_and_undefined_ones_are_left_out(self, browser: Browser) -> None:
        result = everything(baseline="baseline")
        ends = {"larger": (-math.inf, math.inf), "rules": (math.nan, 3.0), "tuned": (0.0, math.inf)}
        pairs = []
        for pair in result.comparisons:
            low, high = ends[pair.system]
            pairs.append(
                replace(pair, confidence_interval=replace(known(pair.confidence_interval), low=low, high=high))
            )
        browser.open(replace(result, comparisons=tuple(pairs)).render("html"))
        path = "each.querySelector('.whisker')?.getAttribute('d') ?? ''"
        paths = dict(browser.each("#differences .choice", f"[each.dataset.system, {path}]"))
        # An arrow head has two lines, the end of a bounded interval one vertical stroke.
        expected = {"larger": (4, 0), "rules": (0, 0), "tuned": (2, 1)}
        assert {system: (path.count("L"), path.count("V")) for system, path in paths.items()} == expected


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
    @pytest.mark.parametrize(
        ("n_systems", "alpha"), [(8, 0.05), (24, 0.05), (16, 0.01), pytest.param(100, 0.05, marks=pytest.mark.slow)]
    )
    def test_every_pair_has_a_cell_of_its_class(self, browser: Browser, n_systems: int, alpha: float) -> None:
        result = rated(n_systems, alpha=alpha)
        browser.open(result.render("html"))
        systems = by_score(result, "rating")
        pvalues = {}
        for pair in result.comparisons:
            first, second = sorted([systems.index(pair.system), systems.index(pair.baseline)])
            pvalues[second, first] = pair.test.final_pvalue
        ends = [share * alpha * (1 + 1e-9) for share in (0.02, 0.2, 1, 2)]
        expected = {place: sum(p > end for end in ends) for place, p in pvalues.items()}
        assert expected == matrix_cells(browser)
        assert n_systems < 5 or len(set(expected.values())) >= 3
        assert f"≤ {0.02 * alpha:g}" in browser.texts("#matrix .swatch")[0]
        names = [text.split(" ", 1) for text in browser.texts("#matrix .name")]
        assert [str(place + 1) for place in range(n_systems)] == [number for number, _ in names]
        if n_systems == 24:  # a click selects the pair under the pointer
            browser.run("document.getElementById('matrix').scrollIntoView()")
            x, y = browser.run(
                "const box = document.querySelector('#matrix .matrix').getBoundingClientRect();"
                "return [box.left + 7.5 * matrix.layout.cell, box.top + 20.5 * matrix.layout.height]"
            )
            for kind, count in (("mouseMoved", 0), ("mousePressed", 1), ("mouseReleased", 1)):
                at = {"type": kind, "x": x, "y": y, "button": "left" if count else "none", "clickCount": count}
                browser.cdp("Input.dispatchMouseEvent", at)
            browser.wait(
                "return state.pair?.[0] === arguments[0] && state.pair[1] === arguments[1]", systems[7], systems[20]
            )
            assert browser.texts("#matrix .figure-status")[0].startswith(f"{systems[7]} − {systems[20]}: ")
        if n_systems == 8:
            for p, text in zip(
                (pvalues[place] for place in sorted(pvalues)), browser.texts("#matrix .value"), strict=True
            ):
                assert round(p, 4) < 0.001 if text == "<.001" else p == pytest.approx(float(text), abs=0.0051)
        # Few elements, so that a hundred systems scroll smoothly.
        assert len(browser.all("#matrix .matrix *")) < (400 if n_systems <= 20 else 4 * n_systems)

    def test_arrow_keys_move_and_enter_selects(self, browser: Browser) -> None:
        result = rated(8)
        browser.open(result.render("html"))
        systems = by_score(result, "rating")
        browser.run("document.querySelector('#matrix .matrix').focus()")

        def cell() -> list[int]:
            found: list[int] = browser.run("return matrix.cell")
            return found

        assert cell() == [1, 0]
        browser.press("ARROW_DOWN", "ARROW_DOWN", "ARROW_RIGHT")
        assert cell() == [3, 1]
        assert browser.texts("#matrix .figure-status")[0].startswith(f"{systems[1]} − {systems[3]}: ")
        assert [f"2 {systems[1]}", f"4 {systems[3]}"] == browser.texts("#matrix .pointed")
        browser.press("ENTER")
        assert [systems[1], systems[3]] == browser.run("return state.pair")
        browser.press("END")
        assert cell() == [3, 2]
        browser.press("ARROW_RIGHT")  # the diagonal has no cells
        assert cell() == [3, 2]
        browser.press("PAGE_DOWN", "HOME")
        assert cell() == [7, 0]
        browser.press("ARROW_DOWN", "ARROW_LEFT", "PAGE_UP", "ARROW_UP")
        assert cell() == [1, 0]
        # A selection elsewhere is outlined.
        browser.run("selectPair(arguments[0], arguments[1])", systems[6], systems[2])
        (outline,) = marks(browser, "#matrix .cell-chosen")
        layout = browser.run("return matrix.layout")
        assert outline["visibility"] == "visible"
        found = [float(number) for number in re.findall(r"[-\d.]+", outline["transform"])]
        assert [2 * layout["cell"], 6 * layout["height"]] == pytest.approx(found, abs=1)
        assert browser.each("#matrix .cell-chosen *", "getComputedStyle(each).fill") == ["none", "none"]


def density(histogram: Histogram, bandwidth: float, at: float) -> float:
    """The kernel density of the centres of the bins, the obvious way; ``bandwidth`` in bins."""
    total = sum(histogram.counts)
    sd = bandwidth * histogram.width
    centres = [histogram.low + (i + 0.5) * histogram.width for i in range(len(histogram.counts))]
    return sum(
        count / total * math.exp(-0.5 * ((at - centre) / sd) ** 2) / (sd * math.sqrt(2 * math.pi))
        for count, centre in zip(histogram.counts, centres, strict=True)
    )


class TestDensities:
    def test_a_density_is_that_of_a_normal_kernel(self, browser: Browser) -> None:
        result = with_histograms(everything(all_pairs=True))
        browser.open(result.render("html"))
        for system in result.systems:
            draws = known(result.score(system, "BLEU").draws)
            counts = np.array(draws.counts)
            bins = np.arange(len(counts))
            sd = math.sqrt(np.cov(bins, fweights=counts, ddof=0))
            bandwidth = max(1.5, 1.06 * sd * counts.sum() ** -0.2)
            points = browser.run(
                "return smoothed(currentView().systems.find((system) => system.name === arguments[0]).draws)", system
            )
            # The kernel ends at three bandwidths.
            highest = max(y for _, y in points)
            for x, y in points[::7]:
                assert density(draws, bandwidth, x) == pytest.approx(y, abs=0.01 * highest)
            steps = np.diff([x for x, _ in points])
            assert pytest.approx(sum(y for _, y in points) * steps[0], abs=0.01) == 1


def bars_of_page(browser: Browser, kind: str) -> list[list[float]]:
    """The left, lower, upper and right ends of the bars of the selected pair: of its tails, or of the rest."""
    (mark,) = marks(browser, f"#null .bar.{kind}")
    return [[float(x) for x in bar] for bar in re.findall(r"M([-\d.]+),([-\d.]+)V([-\d.]+)H([-\d.]+)V", mark["d"])]


def filled_share(browser: Browser) -> float:
    """The share of the area of the bars that is filled, in the figure of the selected pair."""

    def area(kind: str) -> float:
        return sum((right - left) * (low - high) for left, low, high, right in bars_of_page(browser, kind))

    tail, body = area("tail"), area("body")
    return tail / (tail + body)


SIDED = ("ar", "ar-studentized", "bootstrap", "bootstrap-percentile", "bootstrap-both", "paired-bootstrap")
FEW_VALUES = {"a": [4, 4, 3, 4, 2, 4, 4, 3], "b": [1, 2, 1, 0, 2, 1, 0, 3], "c": [2, 1, 1, 1, 2, 0, 1, 3]}
EXACT = "ar-studentized:scheme=exact"  # bars that are filled as a whole
# One test of each kind of tail; the others are slow.
BY_DEFAULT = {
    *(("ar", alternative) for alternative in ("two-sided", "better", "worse")),
    *(("bootstrap-both", alternative) for alternative in ("two-sided", "better")),
    *((test, "two-sided") for test in ("bootstrap-percentile", "bootstrap-shift", "permutation", EXACT)),
}
CASES = [
    *product(SIDED, ("two-sided", "better", "worse")),
    *((test, "two-sided") for test in ("permutation", "bootstrap-shift", EXACT)),
]


class TestNullDistribution:
    @pytest.mark.parametrize(
        ("test", "alternative"),
        [pytest.param(*case, marks=[] if case in BY_DEFAULT else pytest.mark.slow) for case in CASES],
    )
    def test_what_is_filled_is_what_p_counts(self, browser: Browser, test: str, alternative: str) -> None:
        if test == "permutation":
            result = rated(3, test=test, alternative=alternative, n_resamples=4999)
        elif "exact" in test:
            result = compare(metrics=SegmentScores("r", FEW_VALUES), test=test, all_pairs=True)
        else:
            result = everything(test=test, alternative=alternative, all_pairs=True, n_resamples=4999)
        browser.open(result.render("html"))
        for pair in result.comparisons[: len(result.systems)]:
            for first, second in ((pair.system, pair.baseline), (pair.baseline, pair.system)):
                browser.run("selectPair(arguments[0], arguments[1])", first, second)
                # Bins across the end of a tail are divided as if their values were uniform.
                inside = 0.001 if "exact" in test else max(known(pair.null).counts) / sum(known(pair.null).counts)
                expected = known(pair.test.exceedances) / known(pair.test.n_resamples)
                assert expected == pytest.approx(filled_share(browser), abs=1.1 * inside)
                (caption,) = browser.texts("#null figcaption")
                said = re.search(r"draws in which (\S+) scored at least as high as (\S+) \(", caption)
                if said is not None and pair.test.wins is not None:
                    rest = known(pair.test.n_resamples) - pair.test.wins - known(pair.test.ties)
                    lower = pair.test.wins if said[1] == pair.system else rest
                    assert lower + known(pair.test.ties) == pair.test.exceedances
                    assert {said[1], said[2]} == {first, second}

    @pytest.mark.parametrize("test", ["ar", "bootstrap"])
    def test_right_or_wrong_answers_have_the_bars_of_the_figure_and_no_comb(self, browser: Browser, test: str) -> None:
        answers = np.random.default_rng(3).random((2, 500)) < [[0.6], [0.65]]
        scores = {name: row.astype(float).tolist() for name, row in zip("ab", answers, strict=True)}
        result = compare(metrics=SegmentScores("correct", scores), test=test)
        browser.open(result.render("html"))
        (pair,) = result.comparisons
        _, heights, half = bars_of(result, pair)
        assert half > 0
        for names in (("b", "a"), ("a", "b")):
            browser.run("selectPair(arguments[0], arguments[1])", *names)
            bars = sorted(
                (left, low - high) for kind in ("tail", "body") for left, low, high, _ in bars_of_page(browser, kind)
            )
            found = np.array([height for _, height in bars])
            found /= found.max()
            # Those at the end of a tail are drawn in two parts.
            assert np.abs(found[:, None] - heights / heights.max()).min(axis=1).max() < 0.01
            high = found[found > 0.5]
            assert (high[1:] / high[:-1]).min() > 0.7
            assert filled_share(browser) == pytest.approx(pair.test.pvalue, abs=0.003)

    def test_the_line_is_at_the_observed_difference_and_bars_have_the_heights_of_the_counts(
        self, browser: Browser
    ) -> None:
        result = with_histograms(everything(test="ar", all_pairs=True))
        browser.open(result.render("html"))
        pair = result.comparisons[0]
        null = known(pair.null)
        for system, baseline, sign in ((pair.system, pair.baseline, 1), (pair.baseline, pair.system, -1)):
            browser.run(
                "document.querySelector('#null .body').replaceChildren(drawNull(currentView(),"
                "currentView().pair(arguments[0], arguments[1]), document.querySelector('#null .body')))",
                system,
                baseline,
            )
            (observed,), (mirrored,) = marks(browser, "#null .observed"), marks(browser, "#null .mirrored")
            found = values_at(browser, "#null", [float(observed["x1"]), float(mirrored["x1"])])
            assert [sign * pair.difference, -sign * pair.difference] == pytest.approx(found, abs=1e-6)
            assert f"observed {sign * pair.difference:+.2f}" == browser.texts("#null .strong")[0]
            heights = {}
            for left, low, high, right in (bar for kind in ("tail", "body") for bar in bars_of_page(browser, kind)):
                middle = sign * values_at(browser, "#null", [(left + right) / 2])[0]
                heights[int((middle - null.low) // null.width)] = low - high
            unit = max(heights.values()) / max(null.counts)
            for i, count in enumerate(null.counts):
                assert count == pytest.approx(heights.get(i, 0) / unit, abs=0.02 * max(null.counts))

    @pytest.mark.parametrize(("unit", "shift"), [(1e12, 0.05), (1e-12, 3)])
    def test_long_numbers_neither_overlap_nor_leave_the_figure(
        self, browser: Browser, unit: float, shift: float
    ) -> None:
        noise = np.random.default_rng(5).normal(size=(2, 60))
        scores = {name: list(unit * (row + shift * i)) for i, (name, row) in enumerate(zip("ab", noise, strict=True))}
        result = compare(metrics=SegmentScores("r", scores), n_resamples=200)
        browser.open(result.render("html", digits=2 if unit > 1 else 15))
        for system, baseline in (("b", "a"), ("a", "b")):
            browser.run("selectPair(arguments[0], arguments[1])", system, baseline)
            (observed,) = browser.texts("#null .strong")
            assert observed.startswith("observed ")
            assert browser.run(OVERLAPS) == []

    @pytest.mark.parametrize("width", [0.0, 1e-16, 1e-3])
    def test_a_null_distribution_far_from_the_observed_value_is_visible(self, browser: Browser, width: float) -> None:
        result = everything(test="ar", all_pairs=True)
        counts = tuple(range(1, 65)) if width else (99,)
        pairs = [replace(p, null=NullHistogram(-32 * width, width, counts, 10.0)) for p in result.comparisons]
        single = NullHistogram(0.0, 0.0, (499,), 0.0)  # of the last pair; and equal draws are a line
        scores = [replace(s, draws=Histogram(s.score, 0.0, (499,))) for s in result.scores]
        pairs[-1] = replace(pairs[-1], null=single)
        browser.open(replace(result, comparisons=tuple(pairs), scores=tuple(scores)).render("html"))
        assert len(browser.all("#densities .ridge-score")) == 4
        assert browser.all("#densities .ridge-area") == []
        bars = bars_of_page(browser, "body")
        left, right = min(bar[0] for bar in bars), max(bar[-1] for bar in bars)
        assert right - left == pytest.approx(8, abs=0.05)
        assert values_at(browser, "#null", [(left + right) / 2]) == pytest.approx([0], abs=0.05)
        assert bars_of_page(browser, "tail") == []
        lines = [*marks(browser, "#null .observed"), *marks(browser, "#null .mirrored")]
        found = values_at(browser, "#null", [float(line["x1"]) for line in lines])
        assert sorted(map(abs, found)) == pytest.approx([10, 10], abs=1e-6)
        ticks = [float(text) for text in browser.texts("#null .axis .tick")]
        assert (ticks[0], ticks[-1]) == (-10, 10)
        browser.run("showView(0, 1); selectPair(arguments[0], arguments[1])", pairs[-1].system, pairs[-1].baseline)
        assert (len(bars_of_page(browser, "tail")), bars_of_page(browser, "body")) == (1, [])

    def test_the_caption_has_the_number_of_replicates_that_p_counts(self, browser: Browser) -> None:
        result = everything(test="ar", baseline="baseline")
        browser.open(result.render("html"))
        for system in ("tuned", "rules"):
            test = result.pair(system, metric="BLEU").test
            browser.run("selectPair(arguments[0], 'baseline')", system)
            (caption,) = browser.texts("#null figcaption")
            assert f"({test.exceedances or 'none'})." in caption
            assert ("p = 2(c + 1)/(R + 1)" in caption) == (test.tails == 2)
            assert caption.startswith("499 shuffles.")
        browser.open(rated(3, test="t-test").render("html"))
        assert "This test has no replicates" in browser.texts("#null .figure-none")[0]
        assert browser.all("#null svg") == []


class TestScatter:
    def test_a_dot_is_at_the_scores_of_each_system_under_both_metrics(self, browser: Browser) -> None:
        result = everything(all_pairs=True)
        browser.open(result.render("html"))
        titles = browser.texts("#scatter circle title")
        scores = {s: (result.score(s, "BLEU").score, result.score(s, "TER").score) for s in by_score(result, "BLEU")}
        assert titles == [f"{s}: BLEU {bleu:.2f}, TER {ter:.2f}" for s, (bleu, ter) in scores.items()]
        dots = [(float(dot["cx"]), float(dot["cy"])) for dot in marks(browser, "#scatter circle")]
        for axis in (0, 1):
            line = np.polyfit([point[axis] for point in dots], [pair[axis] for pair in scores.values()], 1)
            assert np.polyval(line, [point[axis] for point in dots]) == pytest.approx(
                [p[axis] for p in scores.values()]
            )
            assert (line[0] > 0) == (axis == 0)
        ranks = [kendalltau(*(np.array([*scores.values()]) * [1, -1]).T)]
        assert f"Kendall's τ: {ranks[0].statistic:.2f}." in browser.texts("#scatter figcaption")[0]
        # So are the parts of the scores.
        header, *rows = browser.each("#components table tr", "[...each.cells].map((cell) => cell.textContent)")
        assert header[:3] == ["System", "BLEU", "1-gram precision"]
        assert header[-4:] == ["brevity penalty", "length ratio", "output length", "reference length"]
        for system, row in zip(by_score(result, "BLEU"), rows, strict=True):
            details = result.score(system, "BLEU").details
            assert row[:3] == [system, f"{result.score(system, 'BLEU').score:.2f}", f"{details['p_1']:.2f}"]
            assert row[-4:-1] == [f"{details['bp']:.3f}", f"{details['ratio']:.3f}", f"{details['hyp_len']:,}"]
        browser.run("showView(0, 1)")
        assert not browser.one("#components").is_displayed()

    def test_the_other_metric_is_chosen_and_stays(self, browser: Browser) -> None:
        metrics = ["bleu", "chrf", "ter"]
        result = compare(CORPUS.references, CORPUS.systems, metrics, all_pairs=True, n_resamples=19)
        browser.open(result.render("html"))
        assert browser.texts("#scatter option") == ["chrF2", "TER"]
        select = browser.one("#scatter select")
        browser.run("arguments[0].value = '2'; arguments[0].dispatchEvent(new Event('change'))", select)
        assert "TER" in browser.texts("#scatter circle title")[0]
        browser.run("showView(0, 1)")
        assert browser.run("return document.querySelector('#scatter select').selectedOptions[0].textContent") == "TER"
        assert browser.texts("#scatter circle title")[0].split(": ")[1].startswith("chrF2")

    @pytest.mark.parametrize(("n", "width"), [(4, 1400), (16, 390), (32, 1400)])
    def test_names_or_numbers_are_beside_their_dots_and_cover_nothing(
        self, browser: Browser, n: int, width: int
    ) -> None:
        rng = np.random.default_rng(n)
        scores = [{f"system-{i}": rng.normal(i % 3, 0.2, 40) for i in range(n)} for _ in range(2)]
        metrics = [SegmentScores(name, each) for name, each in zip("xy", scores, strict=True)]
        result = compare(metrics=metrics, n_resamples=19)
        browser.resize(width)
        browser.open(result.render("html"))
        best = by_score(result, "x")[:30]
        beside, listed = browser.texts("#scatter text.name"), browser.texts("#scatter .numbered li")
        if n == 4:
            assert (beside, listed) == (best, [])
        else:  # in clusters, names have no room
            ranks = {system: rank for rank, system in enumerate(by_score(result, "y"), 1)}
            assert listed == [f"{system} ({ranks[system]})" for system in best]
            assert {*beside} <= {f"{rank}" for rank in range(1, 31)}
            assert len(beside) == len({*beside}) >= 10
        overlaps = """
            const all = (selector) => [...document.querySelectorAll("#scatter " + selector)];
            const boxes = (selector) => all(selector).map((each) => each.getBoundingClientRect());
            const [texts, dots] = [boxes("text.name"), boxes("circle")];
            const apart = (a, b) => a.right <= b.left || b.right <= a.left;
            const above = (a, b) => a.bottom <= b.top + 3 || b.bottom <= a.top + 3;
            const others = texts.map((_, i) => [...texts.slice(i + 1), ...dots]);
            const of = (line) => ["x1", "y1", "x2", "y2"].map((end) => Number(line.getAttribute(end)));
            const side = ([ax, ay], [bx, by], [cx, cy]) => Math.sign((bx - ax) * (cy - ay) - (by - ay) * (cx - ax));
            const meet = (a, b) => [[a, b], [b, a]].every(([[ax, ay, bx, by], [cx, cy, dx, dy]]) =>
                side([ax, ay], [bx, by], [cx, cy]) * side([ax, ay], [bx, by], [dx, dy]) < 0);
            const lines = all(".reference-line").map(of);
            return [
                texts.flatMap((a, i) => others[i].filter((b) => !apart(a, b) && !above(a, b))).length,
                lines.flatMap((a, i) => lines.slice(i + 1).filter((b) => meet(a, b))).length,
            ];
        """
        assert browser.run(overlaps) == [0, 0]


def without_draws() -> Comparison:
    result = everything(all_pairs=True)
    return replace(result, scores=tuple(replace(s, draws=None) for s in result.scores))


@pytest.mark.parametrize(
    ("figure", "make"),
    [
        ("matrix", lambda: everything(baseline="baseline")),
        ("densities", without_draws),
        ("scatter", lambda: rated(3)),  # of one metric
        ("null", lambda: score(CORPUS.references, CORPUS.systems, interval="percentile", n_resamples=99)),
    ],
)
def test_a_figure_that_a_result_does_not_have_is_hidden(browser: Browser, figure: str, make: Any) -> None:
    browser.open(make().render("html"))
    assert not browser.one(f"#{figure}").is_displayed()
    dots = browser.all("#ranking .dot")
    assert len(dots) == len(browser.all("#ranking .row")) > 2
    # Without tests, dots are all that the ranking has.
    assert figure != "null" or browser.all("#ranking .group, #ranking .hollow, #ranking .reference") == []


FIGURES = ("ranking", "differences", "matrix", "densities", "null")

OVERLAPS = """
const found = [];
for (const image of document.querySelectorAll(".figure svg")) {
  const edge = image.viewBox.baseVal;
  const texts = [...image.querySelectorAll("text")].map((text) => {
    const box = text.getBBox();
    // A line of text is higher than its letters.
    const ends = { top: box.y + 2, bottom: box.y + box.height - 2, left: box.x, right: box.x + box.width };
    if (text.hasAttribute("transform")) { // turned
      const [x, y] = [Number(text.getAttribute("x")), Number(text.getAttribute("y"))];
      const [high, long] = [box.height / 2 - 2, box.width / 2];
      Object.assign(ends, { left: x - high, right: x + high, top: y - long, bottom: y + long });
    }
    return { name: text.textContent, ...ends };
  });
  for (const [index, a] of texts.entries()) {
    const beside = a.left < -1 || a.right > edge.width + 1;
    if (beside || a.top < -2 || a.bottom > edge.height + 2) found.push(["outside", a.name]);
    for (const b of texts.slice(0, index)) {
      const across = a.left < b.right - 0.5 && b.left < a.right - 0.5;
      if (across && a.top < b.bottom - 0.5 && b.top < a.bottom - 0.5) found.push([a.name, b.name]);
    }
  }
}
return found;
"""


class TestLayout:
    @pytest.mark.parametrize(
        ("kind", "width"),
        [
            *((kind, 400) for kind in ("2", "9", "16", "40", "better", "baseline")),
            *((kind, 1400) for kind in ("16", "baseline")),
            *(pytest.param(kind, 1400, marks=pytest.mark.slow) for kind in ("2", "40", "better")),
            *(pytest.param(kind, 700, marks=pytest.mark.slow) for kind in ("16", "40")),
        ],
    )
    def test_texts_do_not_overlap_or_leave_the_figure(self, browser: Browser, width: int, kind: str) -> None:
        if kind in {"baseline", "better"}:
            chosen = {"baseline": "baseline"} if kind == "baseline" else {"alternative": kind, "all_pairs": True}
            result = everything(**chosen)
        else:
            result = rated(int(kind))
        browser.resize(width)
        browser.open(result.render("html"))
        assert browser.run(OVERLAPS) == []
        assert width == browser.run("return document.documentElement.scrollWidth")
        if kind in {"9", "16"} and width == 400:  # values that are readable
            assert len(browser.all("#matrix text.value")) == {"9": 36, "16": 0}[kind]
        if kind in {"baseline", "better"} and width == 400:
            shown = browser.texts("#ranking svg text")
            assert "Score" in shown
            assert {f"{score.score:.2f}" for score in result.scores if score.metric == "BLEU"} <= {*shown}

    def test_for_another_width_figures_are_drawn_anew_with_names_shortened_where_they_differ_least(
        self, browser: Browser
    ) -> None:
        result = rated(16)
        names = {name: f"{name} trained on all data of the shared task" for name in result.systems}
        names[result.systems[0]] = "line\nbreak"
        browser.open(result.render("html", names=names))
        browser.resize(400)
        for figure in FIGURES:
            browser.run("document.getElementById(arguments[0]).scrollIntoView()", figure)
            browser.wait(
                "const image = document.querySelector(`#${arguments[0]} .figure svg`);"
                "return image.viewBox.baseVal.width < 500",
                figure,
            )
        shown = browser.each("#ranking .row .name", "each.firstChild.data")
        assert len(set(shown)) == 16
        assert all("…" in name or name == "line\nbreak" for name in shown)
        assert browser.run(  # those along the heat map are in sight
            "const scroller = document.querySelector('#matrix .figure-scroll');"
            "return scroller.scrollWidth <= scroller.clientWidth"
        )
        assert browser.run(OVERLAPS) == []

    def test_intervals_are_visible_beside_their_dots_on_narrow_pages(self, browser: Browser) -> None:
        rng = np.random.default_rng(4)
        means = [60, *range(90, 105)]  # one far behind the others, so that their intervals are short
        scores = SegmentScores("r", {f"system {mean}": rng.normal(mean, 12, 500) for mean in means})
        result = compare(metrics=scores, n_resamples=99, all_pairs=True)
        browser.resize(390)
        browser.open(result.render("html"))
        for figure in ("#ranking", "#differences"):
            lengths = [
                float(found[2]) - float(found[1])
                for mark in marks(browser, f"{figure} .whisker")
                if (found := re.match(r"M([\d.]+),[\d.]+H([\d.]+)", mark["d"]))
            ]
            radii = [float(mark["r"]) for mark in marks(browser, f"{figure} circle.dot")]
            assert len(lengths) == len(radii) >= 15
            assert all(length / 2 >= radius + 1 for length, radius in zip(lengths, radii, strict=True))

    def test_differences_have_p_and_lines_that_cross_no_text_on_narrow_pages(self, browser: Browser) -> None:
        browser.resize(390)
        scores = {name: [float(i % 7 + j) for i in range(60)] for j, name in enumerate("abc")}
        margin = NonInferiority({"r": 0.5})
        browser.open(compare(metrics=SegmentScores("r", scores), test=margin, n_resamples=99).render("html"))
        assert "adjusted p" in browser.texts("#differences svg text")
        crossed = """
            const texts = [...document.querySelectorAll("#differences [role=option] text")];
            const boxes = texts.map((text) => text.getBBox());
            const lines = [...document.querySelectorAll("#differences .zero, #differences .margin")];
            return lines.map((line) => line.getAttribute("d")).flatMap((path) =>
              [...path.matchAll(/M([\\d.]+),([\\d.]+)V([\\d.]+)/g)].map((found) => found.slice(1).map(Number)),
            ).map(([x, top, end]) => boxes.filter((box) =>
              box.x < x && x < box.x + box.width && top < box.y + box.height - 3 && box.y + 3 < end).length);
        """
        found = browser.run(crossed)
        assert len(found) == 2 * len("bc")
        assert sum(found) == 0

    def test_ridges_of_many_systems_are_those_of_the_best_until_the_reader_wants_all(self, browser: Browser) -> None:
        result = rated(24)
        browser.open(result.render("html"))
        assert len(browser.all("#densities .ridge")) == 20
        systems = by_score(result, "rating")
        assert browser.texts("#densities svg > text.name") == systems[:20]
        button = browser.one("#densities button")
        assert button.text == "Show all 24 systems"
        button.click()
        assert browser.texts("#densities svg > text.name") == systems
        assert browser.one("#densities button").text == "Show the best 20"
        assert browser.run("return document.activeElement === document.querySelector('#densities button')")
        browser.run("showView(0, 0)")  # stays
        assert len(browser.all("#densities .ridge")) == 24

    def test_scores_that_are_equal_up_to_rounding_are_drawn(self, browser: Browser) -> None:
        scores = {"a": [1e9] * 20, "b": [1e9] * 19 + [1e9 + 1e-6], "c": [1e9] * 20}
        result = compare(metrics=SegmentScores("r", scores), n_resamples=99, all_pairs=True)
        browser.open(result.render("html"))
        for figure in FIGURES:
            markup = browser.run("return document.querySelector(`#${arguments[0]} .body`).innerHTML", figure)
            assert "NaN" not in markup
            assert "Infinity" not in markup
