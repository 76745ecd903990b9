"""Reports of studies: every format, saved studies, figures, pages, and the command line."""

from __future__ import annotations

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

from browser import Browser
from counts import bleu_counts
from pages import markup
from reshuffle import FromCounts, InputError, SegmentScores, StudyResult, compare, read_html, read_json, study, types
from reshuffle.cli.studies import COMMANDS
from reshuffle.report import Layout, Terminal, render
from reshuffle.report.studies import draw_figure
from reshuffle.report.studies.agreement import pooled
from reshuffle.results import UsedMetric, clopper_pearson
from reshuffle.results.studies import DomainBand, PvalueShare, Rate
from reshuffle.results.studies.type1 import Type1Plan
from test_run_reports import RESULTS as RUNS
from told import assert_raises, assert_refused, assert_told, beyond_the_first

GUIDE = Path(__file__).resolve().parents[2] / "docs/guide"
LEVELS = (0.01, 0.05, 0.1)
# Rejections of 2,000 simulated tests at these levels.
REJECTIONS = {"ar": (20, 103, 199), "bootstrap-percentile": (17, 78, 160), "bootstrap-shift": (48, 216, 451)}


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
        plan=replace(
            computed().plan,
            null=tuple(nulls),
            metrics=tuple(metrics),
            systems=("old", "new"),
            units=2500,
            tests=tuple(rejections),
            sizes=tuple(sizes),
            simulations=2000,
            n_resamples=999,
            seed=1,
        ),
        metrics=tuple(UsedMetric(name, f"{name}|nrefs:1", True, None) for name in metrics),
        tables={"rates": rates, "pvalues": points},
        truths={null: f"What is true under {null}." for null in nulls},
        signature="study:type1|null:swap|n:999|version:reshuffle-0",
        version="0",
    )


@cache
def computed() -> StudyResult[Type1Plan]:
    """A study of the package's own."""
    scores = np.random.default_rng(3).integers(0, 9, (2, 40)).astype(float)
    ratings = SegmentScores("rating", dict(zip(("a", "b"), scores, strict=True)))
    return study.type1(metrics=ratings, tests=["ar", "bootstrap-shift"], simulations=30, n_resamples=39)


@cache
def several() -> StudyResult[Type1Plan]:
    return made(("BLEU", "chrF2"), ("swap", "equal-score"), (100, 2500))


RESULTS: dict[str, Callable[[], StudyResult]] = {"one null": made, "several": several, "computed": computed}


# --- Text and the other formats


def test_text_and_captions_have_rates_intervals_verdicts_and_what_was_true() -> None:
    one, more = (render(result, "text", Layout(Terminal(100))) for result in (made(), several()))
    assert_told("type1", {"one null": one, "several": more, "LaTeX": made().render("latex")})


def test_tests_of_equivalence_are_not_called_two_sided() -> None:
    metric = SegmentScores("q", {"a": [0.1, 0.5, 0.3, 0.2] * 5, "b": [0.2, 0.4, 0.3, 0.1] * 5})
    for tests, shown in (
        (["equivalence:q=0.1", "equivalence-ar"], "Tests: equivalence and equivalence-ar, with 19 replicates each."),
        (["equivalence:q=0.1", "ar"], "Tests: equivalence and ar, ar two-sided, with 19 replicates each."),
        (["bootstrap", "ar"], "Tests: bootstrap and ar, two-sided, with 19 replicates each."),
    ):
        found = study.type1(metrics=metric, tests=tests, simulations=5, n_resamples=19)
        assert shown in found.render("text")


def damaged(result: StudyResult, change: Callable[[Any], object]) -> object:
    document = json.loads(result.render("json"))
    change(document)
    return read_json(json.dumps(document))


def test_a_result_displays_itself_or_says_why_not_and_damaged_ones_are_named() -> None:
    result = made()
    assert repr(result) == "<StudyResult: type1; BLEU; rates: 9, pvalues: 9>"
    assert str(result) == render(result, "text", Layout(Terminal.from_stdout())).rstrip("\n")
    assert result._repr_html_().count("<table") == 1
    results = {"one": result, "several": several()}
    changed = {"unknown": replace(result, study="type2"), "without": replace(result, tables={"rates": result.rates})}
    names = {
        "damaged": damaged,
        "runs": RUNS["example"](),
        "one_system": RUNS["one system"](),
        "pairs": RUNS["all pairs"](),
    }
    assert_raises("python_errors_of_study_results", {**results, **changed, **names})


def test_keys_of_a_later_version_are_ignored() -> None:
    document = json.loads(made().render("json"))
    assert read_json(json.dumps(document | {"of a later version": [{"x": 1}]})) == made()


# --- Studies of pools

COUNTS = bleu_counts(5, 4, 120, 0.015)
BLEU = FromCounts("BLEU", {f"s{i}": rows for i, rows in enumerate(COUNTS)}, "bleu")
RATINGS = SegmentScores("rating", {f"s{i}": np.arange(120) * (i + 7) % 11 for i in range(4)}, higher_is_better=False)


@cache
def validation() -> StudyResult:
    return study.validate(metrics=BLEU, sizes=(10, 30), tests=("paired-bootstrap", "ar"), n_resamples=99)


@cache
def sampled() -> StudyResult:
    return study.samples(metrics=BLEU, sizes=12, layouts="broad", n_resamples=99, curve_sizes=(20, 60))


@cache
def agreed() -> StudyResult:
    tests = ("ar", "bootstrap", "bootstrap-shift", "paired-bootstrap")
    return study.agreement(metrics=[BLEU, RATINGS], tests=tests, n_resamples=99, alphas=(0.05, 0.1))


def hand() -> StudyResult:
    """Two of four blocks say that b is better, which it is on the whole; one says a, and in one all scores are 0."""
    scores = {"a": [0.0] * 40, "b": [1.0] * 20 + [-1.0] * 10 + [0.0] * 10}
    return study.validate(
        metrics=SegmentScores("x", scores), sizes=10, layouts="block", truth="whole", n_resamples=50, bins=(0, 0.5)
    )


def test_texts_mark_sizes_with_few_samples_and_fit_a_page() -> None:
    """Where b is always better, the pool of 40 has 20 samples of 2, but 4 of 10."""
    better = SegmentScores("x", {"a": [0.0] * 40, "b": [1.0] * 40})
    found = study.validate(metrics=better, sizes=(2, 10), layouts="block", truth="whole", n_resamples=50, bins=(0, 9))
    scores = study.samples(metrics=better, sizes=10, layouts="block", n_resamples=50)
    results = {"validation by hand": hand(), "validation of a better system": found, "samples": scores}
    told = {name: render(each, "text", Layout(Terminal(100))) for name, each in results.items()}
    assert_told("pool", beyond_the_first(told))
    agreement = study.agreement(metrics=RATINGS, n_resamples=19)
    lines, tests = render(agreement, "text", Layout()).splitlines()[:-1], agreement.plan["tests"]
    assert max(map(len, lines)) <= 100
    headers = [line for line in lines if line.startswith("Confidence %")]
    assert sum(line.count("signif. %") for line in headers) == len(tests)
    assert [word for line in headers for word in line.split() if word in tests] == tests


def drawn(ax: Any) -> list[tuple[float, float, bool]]:
    """The markers of a figure: their places, and whether they are filled."""
    return [
        (float(line.get_xdata()[0]), float(line.get_ydata()[0]), line.get_markerfacecolor() != "white")
        for line in ax.lines
        if line.get_marker() not in ("None", "") and line.get_linestyle() == "None"
    ]


def test_figures_show_the_records() -> None:
    where: dict[str, Any] = {"metric": "BLEU", "layout": "broad", "size": 12, "system": "s2"}
    for figure in ("scores", "differences"):
        rows = [r for r in sampled().tables[figure] if all(getattr(r, key) == value for key, value in where.items())]
        assert drawn(draw_figure(sampled(), figure, **where)) == [
            (row.sample, row.score, not row.covers)
            if figure == "scores"
            else (row.sample, row.difference, row.reversal)
            for row in rows
        ]
    points = [point for point in sampled().tables["curves"] if point.metric == "BLEU"]
    assert drawn(draw_figure(sampled(), "curves")) == [(point.size, 100 * point.separated, True) for point in points]
    shown = drawn(draw_figure(agreed(), "gains", metric="BLEU", test="ar"))
    pairs = [r for r in agreed().tables["pair_pvalues"] if (r.metric, r.test) == ("BLEU", "ar")]
    assert shown == [(pair.gain, 1 - pair.pvalue, pair.pvalue <= 0.1) for pair in pairs]
    bands = [b for b in validation().tables["bands"] if b.size is None and b.test == "ar" and b.right is not None]
    layouts: list[dict[str, Any]] = [{}, {"layout": "broad"}]
    for layout, own in zip(layouts, (bands, [band for band in bands if band.layout == "broad"]), strict=True):
        shown = drawn(draw_figure(validation(), "bands", metric="BLEU", test="ar", **layout))
        assert sorted(y for _, y, _ in shown) == sorted(100 * band.right for band in own)
    shown = drawn(draw_figure(validation(), "gaps", metric="BLEU", test="ar", layout="block"))
    gaps = [g for g in validation().tables["gaps"] if (g.test, g.layout) == ("ar", "block")]
    assert sorted(y for _, y, _ in shown) == sorted(100 * gap.right for gap in gaps)
    # The matrix of agreement has every two columns.
    ax = draw_figure(agreed(), "agreement", alpha=0.1)
    rows = [row for row in agreed().tables["tests"] if row.alpha == 0.1]
    assert len(rows) == 8 * 7 // 2
    assert sorted(text.get_text() for text in ax.texts) == sorted(f"{100 * row.agreement:.0f}" for row in rows)
    assert [label.get_text().split("  ")[0] for label in ax.get_yticklabels()][:2] == ["BLEU, ar", "BLEU, bootstrap"]


def test_bands_of_several_parts_are_pooled() -> None:
    def band(pairs: int, wins: float | None, significant: float | None) -> DomainBand:
        return DomainBand("x", "ar", "1", "2", 0.05, 0.9, 0.95, pairs, wins, significant, None)

    assert pooled([band(3, 1.0, 1 / 3), band(1, 0.0, 0.0), band(0, None, None)]) == (4, (0.75, 0.25))
    assert pooled([band(0, None, None)]) == (0, (None, None))


# --- The page


def test_tables_of_the_page_can_be_sorted_and_names_are_no_markup(
    browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reshuffle.report.studies.page.MAX_FIGURES", 1)
    result = made(metrics=("</script><script>window.hacked = 1</script><img src=x onerror=window.hacked=1>",))
    page = result.render("html")
    browser.open(page)
    header = browser.all("table thead th")[1]
    header.find_element("css selector", "button").click()
    assert header.get_dom_attribute("aria-sort") == "descending"
    assert browser.texts("table tbody td:first-child") == ["bootstrap-shift", "ar", "bootstrap-percentile"]
    assert browser.run("return window.hacked") is None
    assert "<img src=x" not in markup(page)
    assert read_html(page) == result


def test_the_page_says_which_figures_it_does_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    def without_room(figure: Any, fmt: str) -> bytes:
        raise InputError("a figure of 3 × 2 inches has no room for its labels")

    monkeypatch.setattr("reshuffle.report.studies.page.MAX_FIGURES", 1)
    page = several().render("html")
    # Both kinds of figures for each of two metrics, nulls and sizes.
    assert (page.count("<img "), f"{2 * 8 - 1} more figures are not shown" in page) == (1, True)
    monkeypatch.setattr("reshuffle.report.studies.page.file_of", without_room)
    page = made().render("html")
    assert ("<img " in page, " more figures are not shown: reshuffle plot draws them" in page) == (False, True)
    monkeypatch.setattr("reshuffle.report.studies.page.find_spec", lambda name: None)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    page = made().render("html")
    assert "matplotlib, which draws the figures, is not installed" in page
    assert "<img" not in page
    with pytest.raises(ModuleNotFoundError, match=r"plots need matplotlib: pip install 'reshuffle\[plots\]'"):
        made().plot  # noqa: B018


# --- The command line


def test_plots_of_studies_and_comparisons_are_told_apart(run: Any, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    scores = SegmentScores("rating", {"a": [1, 2, 3, 4] * 20, "b": [1, 3, 2, 4] * 20})
    Path("study.json").write_text(several().render("json"), "utf-8")
    Path("result.json").write_text(compare(metrics=scores, n_resamples=99).render("json"), "utf-8")
    good = run("plot", "study.json", "rates", "--metric", "bleu", "--null", "swap", "--size", "100", "-o", "x.pdf")
    assert (good.code, good.err) == (0, "")
    assert_refused("errors_of_plots_of_studies", run)
    assert not Path("y.pdf").exists()


def test_every_study_and_every_figure_is_in_the_guide(run: Any) -> None:
    help_text = run("plot", "--help-all").out
    guide = "".join(page.read_text("utf-8") for page in GUIDE.glob("*.md"))
    for kind in get_args(types.StudyPlotKind):
        assert re.search(rf"^    {kind} ", help_text, re.MULTILINE), kind
        assert f"| `{kind}` |" in guide, kind
    for name in COMMANDS:
        assert f"| `reshuffle study {name}` |" in guide
