"""Figures: what they show of a result."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.figure import Figure
from matplotlib.offsetbox import AnnotationBbox
from matplotlib.text import Text

from known import ends, known
from plotted import (
    KINDS,
    cells_of,
    compared,
    drawn,
    key_of,
    lines_of,
    markers,
    names_of,
    numbered,
    of_three_metrics,
    panels,
    plotted,
    steps,
    systems,
    texts_of,
    whiskers,
)
from reshuffle import SegmentScores, bootstrap_test, compare, score
from reshuffle.report import Layout, paper_files
from reshuffle.report.cells import rank_cell, short_pvalue
from reshuffle.report.plots import figure_of
from reshuffle.report.plots.densities import smoothed
from reshuffle.report.plots.intervals import MARKER
from reshuffle.report.plots.look import MUTED
from reshuffle.report.plots.null import tails
from reshuffle.report.plots.style import PaperFigure
from reshuffle.results import ConfidenceInterval, Histogram, NullHistogram
from reshuffle.types import Test
from told import assert_raises, assert_told


@pytest.fixture(autouse=True)
def without_ticks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures are made, but the search for letters that no font has makes every tick, which takes half of the time."""
    for module in ("panels", "style"):  # panels takes its function from style when it is imported
        monkeypatch.setattr(f"reshuffle.report.plots.{module}.warn_of_missing_letters", lambda figure: None)


def test_the_ranking_shows_scores_intervals_ranks_and_groups() -> None:
    comparison = compared(numbered(8))
    (ranking,) = comparison.rankings
    ax = comparison.plot.ranking()
    best_first = [ranked.system for ranked in ranking.systems]
    assert names_of(ax) == best_first
    scores = [comparison.score(system) for system in best_first]
    assert [(s.score, True) for s in scores] == markers(ax)
    assert [ends(s) for s in scores] == whiskers(ax)
    texts = texts_of(ax)
    assert {f"{s.score:.2f}" for s in scores} <= {*texts}
    ranks = [rank_cell(ranked.rank_low, ranked.rank_high) for ranked in ranking.systems]
    assert ranks == [text for text in texts if re.fullmatch(r"\d(–\d)?", text)]
    # A column of dots for each group, below its letter.
    groups = known(ranking.groups)
    dots = [line for line in lines_of(ax) if line.get_marker() == "o" and line.get_markersize() == 3]
    heights = dict(zip(best_first, ax.get_yticks().tolist(), strict=True))
    shown = [sorted(line.get_xydata()[:, 1].tolist()) for line in dots]
    assert shown == [sorted(heights[system] for system in group) for group in groups]
    assert [*"abcdefgh"[: len(groups)]] == [text for text in texts if re.fullmatch("[a-z]", text)]


def test_the_ranking_of_a_comparison_with_a_baseline_marks_it_and_significant_differences() -> None:
    comparison = compared(numbered(5), all_pairs=False)
    ax = comparison.plot.ranking()
    shown = dict(zip(names_of(ax), markers(ax), strict=True))
    for pair in comparison.comparisons:
        assert shown[pair.system] == (comparison.score(pair.system).score, pair.is_significant(0.05))
        assert f"{pair.difference:+.2f}".replace("-", "−") in texts_of(ax)
    assert {filled for _, filled in shown.values()} == {True, False}
    (square,) = [line for line in lines_of(ax) if line.get_marker() == "s"]
    assert square.get_xdata() == [comparison.score("system-1").score]
    ax = score(metrics=SegmentScores("rating", systems(numbered(3)))).plot.ranking()  # without tests
    assert names_of(ax) == ["system-1", "system-2", "system-3"]
    assert (whiskers(ax), len(markers(ax)), ax.get_xlabel()) == ([], 3, "rating (→ better)")


def test_figures_that_cannot_be_drawn_are_refused() -> None:
    names = {
        "Figure": Figure,
        "three": compared(numbered(3)),
        "against": compared(numbered(3), all_pairs=False),
        "one_sided": compared(numbered(3), alternative="less"),
        "plain": score(metrics=SegmentScores("rating", systems(numbered(3)))),
    }
    assert_raises("python_errors_of_plots", globals() | names)


@pytest.mark.parametrize(("test", "n_resamples"), [("ar", 10000), ("bootstrap", 10000), ("ar", 99), ("bootstrap", 99)])
def test_bars_of_null_distributions_are_no_comb_with_few_replicates_or_values(test: Test, n_resamples: int) -> None:
    right = np.random.default_rng(3).random((2, 300)) < [[0.6], [0.61]]
    scores = {name: row.astype(float).tolist() for name, row in zip("ab", right, strict=True)}
    comparison = compare(
        metrics=SegmentScores("correct", scores), documents=np.repeat(range(30), 10), test=test, n_resamples=n_resamples
    )
    heights = steps(comparison.plot.null())[0].get_data().values
    high = np.flatnonzero(heights > heights.max() / 2)
    assert len(high) > 2
    assert np.diff(high).max() == 1


def test_a_far_difference_does_not_squeeze_the_others() -> None:
    scores = {name: np.random.default_rng(i).normal(50 + i, 5, 60) for i, name in enumerate(numbered(10))}
    far = compare(metrics=SegmentScores("m", {**scores, "far": scores["system-1"] - 90}), n_resamples=99)
    ax = far.plot.forest(digits=1)
    left, right = ax.get_xlim()
    assert -30 < left < right < 30
    assert ax.get_xlabel().endswith("arrow: off the axis")
    assert [text.get_text() for text in ax.texts].count("−90.0") == 2  # in the column, and beside the arrow
    (value,) = [text for text in ax.texts if text.get_text() == "−90.0" and text.get_bbox_patch()]
    drawn(ax)
    zero = ax.transData.transform((0, 0))[0]
    assert value.get_window_extent().x1 < zero  # the text is left of the line
    assert "Arrow: a difference off the axis, with its value." in paper_files(far, Layout())["figures.tex"].decode()
    for k in (2, 16):  # the intervals of the others are visible
        values = systems(numbered(k))
        far = compare(
            metrics=SegmentScores("m", {**values, "far": np.array(values["system-2"]) - 1000}), n_resamples=99
        )
        ax = far.plot.forest()
        drawn(ax)
        ends, arrows = ([line for line in lines_of(ax) if line.get_marker() == marker] for marker in "|<")
        assert len(arrows) == (k >= 10)  # of few systems, none is off the axis
        assert [len(line.get_xdata()) for line in ends] == [2] * (k - len(arrows))
        assert all(line.get_markersize() > MARKER for line in ends)
        low, high = ax.get_xlim()
        assert sum(low <= tick <= high for tick in ax.get_xticks()) >= 3


def test_forests_of_all_metrics_fit_a_page_or_the_figure_warns(
    tmp_path: Path, run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PaperFigure, "savefig", lambda figure, file, **_: file.write(b"%PDF-"))
    scores = {name: np.random.default_rng(i).normal(50 + i, 5, 30) for i, name in enumerate(numbered(25))}
    other = {name: -values for name, values in scores.items()}
    result = compare(metrics=[SegmentScores("m", scores), SegmentScores("o", other)], all_pairs=True, n_resamples=99)
    (tmp_path / "r.json").write_text(result.render("json"), "utf-8")

    def said(kind: str) -> str:
        return str(run("plot", str(tmp_path / "r.json"), kind, "-o", str(tmp_path / f"{kind}.pdf")).err)

    assert "the best system under m, so that all metrics fit a page: --baseline chooses another" in said("forest")
    assert "(--metric)" in said("matrix")


def test_the_key_of_the_forest_has_the_colours_of_its_markers() -> None:
    # Under bootstrap-shift each pair has a caveat.
    for baseline, test in (("system-1", "auto"), ("system-3", "auto"), ("system-5", "bootstrap-shift")):
        ax = compared(numbered(5), test=test).plot.forest(baseline=baseline)
        colors = {line.get_color() for line in lines_of(ax) if line.get_marker() == "|"}
        dots: list[Any] = [text for box in ax.findobj(AnnotationBbox) for text in box.findobj(Text)]
        assert {dot.get_color() for dot in dots if dot.get_text() == "●"} == colors - {MUTED}
        assert {dot.get_color() for dot in dots if dot.get_text() == "○"} == colors & {MUTED}
        (key,) = drawn(ax).findobj(AnnotationBbox)
        assert key.get_window_extent().y1 <= ax.xaxis.label.get_window_extent().y0


def words_of(ax: Axes) -> str:
    """The title, the labels and the keys of a figure."""
    legend = ax.get_legend()
    boxes = [] if legend is None else [legend.get_title().get_text(), *(each.get_text() for each in legend.get_texts())]
    texts = (ax.get_title(), ax.get_xlabel(), ax.get_ylabel(), "".join(key_of(ax)), ", ".join(boxes))
    return "\n".join(filter(None, texts))


# What differs from a comparison of all pairs of three systems.
DIFFERENT: dict[str, dict[str, Any]] = {
    "all pairs": {},
    "a baseline": {"all_pairs": False},
    "simultaneous intervals": {"all_pairs": False, "interval": "simultaneous", "test": "bootstrap"},
    "no intervals": {"interval": None},
    "less is better": {"lower": True},
    "one-sided": {"alternative": "less"},
    "another level": {"alpha": 0.02},
    "shuffles": {"test": "ar"},
}


def test_figures_say_what_they_show() -> None:
    """Of other cases, only figures whose words differ from those of all pairs are compared with the told text."""
    told: dict[str, str] = {}
    for case, options in DIFFERENT.items():
        comparison = compared(numbered(3), **options)
        for kind in KINDS:
            if kind != "matrix" or comparison.baseline is None:
                ax = plotted(comparison, kind)
                if words_of(ax) != told.get(f"all pairs: {kind}"):
                    told[f"{case}: {kind}"] = words_of(ax)
                assert case != "no intervals" or kind not in ("ranking", "forest") or not whiskers(ax)
    panel = {"": (of_three_metrics(4, True), "m1")}
    for kind in ("ranking", "densities"):
        told[f"a test set: {kind}"] = words_of(figure_of(kind, panel, test_set="news").axes[0])
    assert_told("figures", told)


@pytest.mark.parametrize(
    ("all_pairs", "baseline"), [(True, None), (True, "system-3"), (True, "system-5"), (False, None)]
)
def test_the_forest_shows_the_differences_from_any_system(all_pairs: bool, baseline: str | None) -> None:
    comparison = compared(numbered(5), all_pairs)
    ax = comparison.plot.forest(baseline=baseline)
    chosen = baseline or "system-1"
    scores = {system: comparison.score(system).score for system in comparison.systems}
    assert names_of(ax) == [s for s in sorted(scores, key=lambda s: -scores[s]) if s != chosen]
    found = {(p.system, p.baseline): p for pair in comparison.comparisons for p in (pair, pair.reversed)}
    pairs = [found[system, chosen] for system in names_of(ax)]
    assert [value for value, _ in markers(ax)] == pytest.approx([pair.difference for pair in pairs])
    assert [filled for _, filled in markers(ax)] == [pair.is_significant(0.05) for pair in pairs]
    assert whiskers(ax) == [ends(pair) for pair in pairs]


def test_pairs_of_one_sided_tests_are_not_reversed_and_lower_scores_may_be_better() -> None:
    comparison = compared(numbered(3), alternative="less")
    first = comparison.comparisons[0]
    ax = comparison.plot.forest(baseline=first.baseline)
    assert {p.system for p in comparison.comparisons if p.baseline == first.baseline} == set(names_of(ax))
    # By default the only possible baseline, although it is not the best system.
    assert comparison.plot.forest().get_xlabel() == ax.get_xlabel()
    # The row is the system, the column its baseline.
    (mesh,) = [c for c in comparison.plot.matrix().collections if isinstance(c, QuadMesh)]
    classes = cells_of(mesh)
    for pair in comparison.comparisons:
        assert not np.isnan(classes[int(pair.system[-1]) - 1, int(pair.baseline[-1]) - 1])
    comparison = compared(numbered(4), lower=True)
    assert names_of(comparison.plot.ranking()) == ["system-4", "system-3", "system-2", "system-1"]
    ax = comparison.plot.forest()
    assert all(value > 0 for value, _ in markers(ax))
    worse = {line.get_color() for line in lines_of(ax) if line.get_linestyle() == "-" and line.get_linewidth() == 1.0}
    assert worse <= {"#D55E00", "#5f5f5f"}


@pytest.mark.parametrize("k", [2, 9, 20, 21])
def test_the_matrix_has_a_cell_for_each_pair(k: int) -> None:
    comparison = compared(numbered(k), all_pairs=k > 2)
    ax = comparison.plot.matrix()
    assert sorted(names_of(ax), key=lambda name: -comparison.score(name).score) == names_of(ax)
    (mesh,) = [c for c in ax.collections if isinstance(c, QuadMesh)]
    classes = cells_of(mesh)
    expected = np.full((k, k), np.nan)
    for pair in comparison.comparisons:
        places = names_of(ax).index(pair.system), names_of(ax).index(pair.baseline)
        p = pair.test.adjusted_pvalue or pair.test.pvalue
        expected[max(places), min(places)] = sum(p > end for end in (0.001, 0.01, 0.05, 0.1))
    np.testing.assert_array_equal(classes, expected)
    ps = [(p.test.adjusted_pvalue or p.test.pvalue) for p in comparison.comparisons]
    values = [text for text in texts_of(ax) if not text.isdecimal() or text == "1"]
    if k <= 20:
        cells = [f"{short_pvalue(p)}{'*' * (p <= 0.05)}" for p in ps]
        assert sorted([*cells, "1", "1"]) == sorted(values)
    else:
        assert values == ["1", "1"]
        assert [texts_of(ax).count(str(n)) for n in range(1, k + 1)] == [2] * k
    # Of the classes, and of the star.
    assert len(known(ax.get_legend()).get_texts()) == 5 + (k <= 20 and min(ps) <= 0.05)


def test_the_null_distribution_shows_the_histogram_the_observed_value_and_the_tails() -> None:
    comparison = compared(numbered(3), test="ar")
    pair = comparison.comparisons[0]
    null = known(pair.null)
    ax = comparison.plot.null(pair)
    whole, *shaded, outline = steps(ax)
    for patch in (whole, outline):
        np.testing.assert_array_equal(patch.get_data().values, null.counts)
        np.testing.assert_allclose(patch.get_data().edges, null.low + null.width * np.arange(65))
    verticals = [line.get_xdata()[0] for line in lines_of(ax)]
    assert verticals == [null.observed, -null.observed]
    for patch in shaded:
        assert np.abs(patch.get_data().edges).min() == pytest.approx(abs(null.observed))
    # One tail is filled where p counts one.
    own = SegmentScores("m", {"a": np.zeros(60), "b": np.random.default_rng(2).normal(0.5, 3, 60)})
    ax = compare(metrics=own, test="bootstrap-percentile", n_resamples=199).plot.null()
    observed = lines_of(ax)[0].get_xdata()[0]
    _, tail, _ = steps(ax)
    assert min(tail.get_data().edges, key=abs) == pytest.approx(-observed)


def test_a_pair_is_named_in_several_ways() -> None:
    comparison = compared(numbered(3))
    pair = comparison.comparisons[0]
    label = f"{pair.system} − {pair.baseline}"
    assert label in comparison.plot.null(pair).get_xlabel()
    assert label in comparison.plot.null(pair.system, pair.baseline).get_xlabel()
    turned = comparison.plot.null(pair.baseline, pair.system)
    assert f"{pair.baseline} − {pair.system}" in turned.get_xlabel()
    shown, null = steps(turned)[0].get_data(), known(pair.null)
    np.testing.assert_allclose(shown.edges, -(null.low + null.width * np.arange(65))[::-1])
    np.testing.assert_array_equal(shown.values, null.counts[::-1])
    against = compared(numbered(3), all_pairs=False)
    assert "system-3 − system-1" in against.plot.null("system-3").get_xlabel()
    assert "system-2 − system-1" in compared(numbered(2)).plot.null().get_xlabel()


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("name", ["bootstrap", "bootstrap-percentile", "paired-bootstrap", "bootstrap-both"])
@pytest.mark.parametrize("shift", [-1.3, 0.4, 2.1])
def test_the_tails_hold_the_replicates_that_p_counts(name: Any, alternative: Any, shift: float) -> None:
    rng = np.random.default_rng(5)
    a = rng.normal(0, 5, 60).round(2)
    b = a - shift + rng.normal(0, 4, 60).round(2)
    test = bootstrap_test(
        a, b, test=name, alternative=alternative, n_resamples=999, seed=3, keep_null_distribution=True
    )
    values = np.asarray(known(test.null_distribution))
    if not math.isclose(values.mean(), 0, abs_tol=abs(shift) / 2):
        values = values - test.statistic  # the draws themselves
    comparison = compared(numbered(2))
    null = NullHistogram(0.0, 1.0, (1,), observed=float(test.statistic))
    pair = replace(comparison.comparisons[0], test=test, null=null)
    slack = 1e-9
    inside = sum(np.count_nonzero((values >= low - slack) & (values <= high + slack)) for low, high in tails(pair))
    assert inside == test.exceedances


@pytest.mark.parametrize(("test", "units"), [("bootstrap-both", 1), ("ar", 2)])
def test_bins_of_a_null_distribution_are_whole_steps_of_a_mean_of_0_and_1(test: Any, units: int) -> None:
    """Bins of one and of two possible values would look like a comb."""
    scores = {name: np.random.default_rng(seed).integers(0, 2, 1000) for seed, name in enumerate("ab")}
    ax = compare(metrics=SegmentScores("right", scores), test=test, n_resamples=999).plot.null()
    widths = np.diff(steps(ax)[0].get_data().edges) * 1000 / units
    np.testing.assert_allclose(widths, widths.round(), atol=1e-6)
    assert widths.min() > 0.9


def test_a_null_distribution_may_be_one_value_or_have_probabilities() -> None:
    comparison = compared(numbered(2), test="ar")
    (pair,) = comparison.comparisons
    one = replace(pair, null=NullHistogram(0.0, 0.0, (500,), 0.0))
    ax = replace(comparison, comparisons=(one,)).plot.null()
    assert not steps(ax)
    drawn(ax)
    for low, width, counts in ((1.0, 0.0, (500,)), (-32e-3, 1e-3, (9,) * 64)):
        far = replace(pair, null=NullHistogram(low, width, counts, 30.0))
        ax = replace(comparison, comparisons=(far,)).plot.null()
        drawn(ax)
        assert ax.get_xlim()[0] < -30
        assert ax.get_xlim()[1] > 30
    exact = replace(pair, null=NullHistogram(-2.0, 1.0, (0.25, 0.5, 0.0, 0.25), 1.5))
    ax = replace(comparison, comparisons=(exact,)).plot.null()
    assert ax.get_ylabel() == "probability"
    assert "Studentized Δrating" in ax.get_xlabel()
    drawn(ax)


def test_densities_show_the_smoothed_draws_of_each_system() -> None:
    comparison = compared(numbered(4))
    ax = comparison.plot.densities()
    assert names_of(ax) == list(numbered(4))
    curves = [line.get_xydata() for line in lines_of(ax) if len(line.get_xydata()) > 100]
    assert len(curves) == 4
    for system, curve in zip(names_of(ax), curves, strict=True):
        mode = float(curve[np.argmin(curve[:, 1]), 0])
        assert mode == pytest.approx(comparison.score(system).score, abs=0.4)


@given(st.lists(st.integers(0, 1000), min_size=2, max_size=64).filter(any), st.floats(-1e6, 1e6), st.floats(1e-6, 1e3))
def test_a_smoothed_histogram_is_a_density_with_its_mean(counts: list[int], low: float, width: float) -> None:
    x, density = smoothed(Histogram(low, width, tuple(counts)))
    assert (density >= 0).all()
    step = x[1] - x[0]
    assert density.sum() * step == pytest.approx(1, abs=0.01)
    mean = low + width * (np.average(np.arange(len(counts)), weights=counts) + 0.5)
    assert (density * x).sum() * step / (density.sum() * step) == pytest.approx(
        mean, abs=1e-6 * abs(mean) + 0.1 * width
    )


def test_bins_with_more_values_than_others_are_no_peaks_of_densities() -> None:
    values = np.random.default_rng(1).binomial(3000, 0.013, 10_000)
    width = 1.06 / 3000  # now and then, a bin has two values
    edges = values.min() / 3000 + width * np.arange(65)
    draws = Histogram(edges[0], width, tuple(np.histogram((values + 0.01) / 3000, edges)[0].tolist()))
    rough, smooth = (np.abs(np.diff(smoothed(draws, step)[1])).sum() for step in (None, 1 / 3000))
    highest = smoothed(draws, 1 / 3000)[1].max()
    assert rough / highest > 2.2 > smooth / highest


def test_systems_without_different_draws_have_a_line_and_without_scores_none() -> None:
    comparison = compared(numbered(2))
    first, second = comparison.scores
    changed = replace(comparison, scores=(replace(first, draws=Histogram(first.score, 0.0, (500,))), second))
    ax = changed.plot.densities()
    assert len([line for line in lines_of(ax) if len(line.get_xydata()) > 100]) == 1
    assert len(ax.collections) == 3  # the curve, its interval and the line
    drawn(replace(changed, scores=(changed.scores[0], replace(second, draws=None))).plot.densities())
    comparison = compared(numbered(3), all_pairs=False)
    changed = replace(comparison, scores=(replace(comparison.scores[0], score=math.nan), *comparison.scores[1:]))
    ax = changed.plot.ranking()
    assert names_of(ax)[-1] == "system-1"
    assert "nan" in texts_of(ax)
    drawn(ax)


@pytest.mark.parametrize(
    ("kind", "low", "high"),
    [
        ("ranking", -math.inf, 70.0),
        ("forest", 50.0, math.inf),
        ("ranking", math.nan, 70.0),
        ("forest", math.nan, math.nan),
        ("forest", -math.inf, math.inf),
    ],
)
def test_infinite_and_undefined_ends_of_intervals_are_drawn(kind: str, low: float, high: float) -> None:
    comparison = compared(numbered(3), all_pairs=False)
    interval = ConfidenceInterval(low, high, 0.95, "percentile")
    changed = replace(
        comparison,
        scores=(replace(comparison.scores[0], confidence_interval=interval), *comparison.scores[1:]),
        comparisons=(replace(comparison.comparisons[0], confidence_interval=interval), *comparison.comparisons[1:]),
    )
    ax = plotted(changed, kind)
    assert all(map(math.isfinite, ax.get_xlim()))
    arrows = [line.get_marker() for line in lines_of(ax) if line.get_marker() in ("<", ">")]
    assert arrows == [arrow for arrow, end in zip("<>", (low, high), strict=True) if math.isinf(end)]
    drawn(ax)


@pytest.mark.parametrize(("kind", "all_pairs"), [("ranking", True), ("densities", True), ("forest", False)])
def test_panels_of_many_systems_share_their_rows(kind: str, all_pairs: bool) -> None:
    comparison = of_three_metrics(16, all_pairs)
    made = panels(comparison, kind)
    figure: Any = made[0].figure
    first, *others = map(names_of, made)
    assert others == [[], []]
    assert figure.get_size_inches()[1] < 4.5
    if kind != "densities":
        for ax, metric in zip(made, comparison.metrics, strict=True):
            scores = {each.system: each for each in comparison.scores if each.metric == metric.name}
            pairs = {each.system: each for each in comparison.comparisons if each.metric == metric.name}
            values = [scores[name].score if kind == "ranking" else pairs[name].difference for name in first]
            assert [value for value, _ in markers(ax)] == values
            # Beside each row, its score and its letters, or its difference, with a star.
            shown = [text.get_text() for text in ax.texts]
            if kind == "ranking":
                (ranking,) = (each for each in comparison.rankings if each.metric == metric.name)
                decimals = len(shown[1].partition(".")[2])
                numbers = [f"{scores[name].score:.{decimals}f}" for name in first]
                assert shown == ["score", *numbers, "group", *(ranking[name].letters for name in first)]
            else:
                assert len(first) <= len(shown) - 1 == len(first) + shown.count("*")
                assert shown.count("*") == sum(pairs[name].is_significant(0.05) for name in first)


def test_narrow_panels_have_no_columns_of_numbers() -> None:
    comparison = of_three_metrics(16, False)
    figure = figure_of("forest", {each.name: (comparison, each.name) for each in comparison.metrics}, width=3.3)
    assert [len(ax.texts) for ax in figure.axes] == [0, 0, 0]
    assert all(ax.get_xlabel().replace("\n", " ").endswith("95% CI (→ better)") for ax in figure.axes)


def test_labels_of_narrow_panels_have_whole_words() -> None:
    labels = [" ".join(ax.get_xlabel().split()) for ax in panels(of_three_metrics(16, True), "densities", width=2.0)]
    assert labels == [f"m{index} on bootstrap draws (→ better); filled: 95% CI" for index in range(3)]


def test_the_label_of_a_narrow_matrix_is_in_the_figure() -> None:
    comparison = compared(tuple(f"a system with a long name {index}" for index in range(22)))
    figure = figure_of("matrix", {"": (comparison, "rating")}, width=3.3)
    drawn(figure.axes[0])
    (ax,) = figure.axes
    box = ax.xaxis.label.get_window_extent()
    assert ax.get_xlabel()
    assert (box.x0 >= 0, box.x1 <= figure.bbox.x1) == (True, True)


def test_panels_have_the_order_of_the_first_metric_and_one_key_with_their_kinds_of_markers() -> None:
    scores = {name: [index + 1.0, index + 2.0, 3.0] * 9 for index, name in enumerate("abcd")}
    metrics = [SegmentScores("m", scores), SegmentScores("errors", scores, higher_is_better=False)]
    comparison = compare(metrics=metrics, n_resamples=99)
    assert names_of(comparison.plot.forest("errors")) == ["b", "c", "d"]
    assert [names_of(ax) for ax in panels(comparison, "forest")] == [["d", "c", "b"]] * 2
    # Where the best systems differ, each has rows of its own.
    assert {len(names_of(ax)) for ax in panels(of_three_metrics(16, True), "forest")} == {15}
    made = panels(of_three_metrics(4, False), "forest")
    figure = drawn(made[0])
    boxes = [box for box in figure.findobj(AnnotationBbox) if box.findobj(Text)]
    (key,) = boxes
    texts = [text.get_text() for text in key.findobj(Text)]
    filled = {filled for ax in made for _, filled in markers(ax)}
    assert (any("≤" in text for text in texts), "○" in texts) == (True in filled, False in filled)
    bottom = min(ax.xaxis.label.get_window_extent().y0 for ax in made)
    assert key.get_window_extent().y1 <= bottom


def test_a_forest_says_that_intervals_are_unadjusted_where_one_disagrees_with_p() -> None:
    rng = np.random.default_rng(5)
    scores = {name: rng.normal(0.28 * index, 1, 60) for index, name in enumerate("abcd")}
    disagrees = 0
    for adjust in ("bonferroni", None):
        found = compare(metrics=SegmentScores("m", scores), all_pairs=True, adjust=adjust, n_resamples=500)
        some = any(
            interval.low * interval.high > 0 and pair.test.final_pvalue > 0.05
            for pair in found.comparisons
            if (interval := pair.confidence_interval) is not None
        )
        assert ("unadjusted 95% CI" in found.plot.forest().get_xlabel().replace("\n", " ")) == some
        disagrees += some
    assert disagrees == 1
