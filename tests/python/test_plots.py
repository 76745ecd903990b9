"""Figures: what they show of a result, and that they are fit for a paper."""

from __future__ import annotations

import hashlib
import io
import itertools
import math
import os
import re
import shlex
import shutil
import stat
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import QuadMesh
from matplotlib.figure import Figure
from matplotlib.offsetbox import AnnotationBbox
from matplotlib.patches import StepPatch
from matplotlib.text import Text

from reshuffle import (
    Comparison,
    InputError,
    InputWarning,
    SegmentScores,
    SetComparison,
    TestSet,
    bootstrap_test,
    compare,
    compare_sets,
    read_json,
    score,
)
from reshuffle.data.demo import demo_corpus
from reshuffle.report import PLOTS, Layout, paper_files
from reshuffle.report.cells import rank_cell, short_pvalue
from reshuffle.report.plots import figure_of, file_of, style
from reshuffle.report.plots.densities import smoothed
from reshuffle.report.plots.intervals import MARKER, set_limits
from reshuffle.report.plots.labels import columns, printable, wrapped
from reshuffle.report.plots.null import tails
from reshuffle.report.plots.style import COLUMN, INK, MUTED, PAGE, STYLE
from reshuffle.results import ConfidenceInterval, Histogram, NullHistogram

SEGMENTS = 200
KINDS = list(PLOTS)
LONG = ("transformer_big_ensemble_v2_beam8_lenpen0.6_ckpt-average-10xx", "x" * 60, "a system with a name of words")
HOSTILE = ("$x^2$", "a_b^c", r"\alpha \frac{1}{2}", "two\nlines\tand tabs", "nul\0", "half \ud800", "% # & ~ { }", "$")


@cache
def systems(names: tuple[str, ...], seed: int = 0) -> dict[str, list[float]]:
    """Segment scores of systems whose quality decreases in the order of the names, with some ties."""
    rng = np.random.default_rng(seed)
    segment = rng.normal(0, 10, SEGMENTS)
    quality = np.linspace(1.2, -1.2, len(names)) * (1 + len(names) / 8)
    return {
        name: np.clip(60 + q + segment + rng.normal(0, 8, SEGMENTS), 0, 100).round(1).tolist()
        for name, q in zip(names, quality, strict=True)
    }


def numbered(k: int) -> tuple[str, ...]:
    return tuple(f"system-{i}" for i in range(1, k + 1))


@cache
def compared(names: tuple[str, ...], all_pairs: bool = True, lower: bool = False, **options: Any) -> Comparison:
    """A comparison with histograms, computed from normal distributions."""
    scores = SegmentScores("rating", systems(names), higher_is_better=not lower)
    return with_histograms(compare(metrics=scores, all_pairs=all_pairs, n_resamples=500, **options))


def with_histograms(comparison: Comparison) -> Comparison:
    rng = np.random.default_rng(1)
    return replace(
        comparison,
        scores=tuple(
            replace(s, draws=Histogram(*histogram(rng.normal(s.score, 0.6, 2000)))) for s in comparison.scores
        ),
        comparisons=tuple(
            replace(p, null=NullHistogram(*histogram(rng.normal(0, 0.8, 2000)), p.difference))
            for p in comparison.comparisons
        ),
    )


def histogram(values: Any) -> tuple[float, float, tuple[int, ...]]:
    """Low, width and counts of 64 bins that contain all values."""
    low, high = min(values), max(values)
    width = (high - low) / 63
    counts = np.bincount(np.floor((values - low) / width).astype(int), minlength=64)
    return float(low), float(width), tuple(map(int, counts))


def drawn(ax: Axes) -> Any:
    """The figure after its layout is computed."""
    figure: Any = ax.figure
    canvas: Any = FigureCanvasAgg(figure)
    canvas.draw()
    return figure


def plotted(comparison: Comparison, kind: str, **options: Any) -> Axes:
    """A figure of any kind, for the first pair if need be."""
    if kind == "null" and "system" not in options:
        options["system"] = comparison.comparisons[-1]
    axes: Axes = getattr(comparison.plot, kind)(**options)
    return axes


@cache
def saved_as_pdf(kind: str) -> tuple[Any, bytes]:
    """A figure of four systems, and its file."""
    figure: Any = plotted(compared(numbered(4)), kind).figure
    content = io.BytesIO()
    figure.savefig(content, format="pdf")
    return figure, content.getvalue()


def lines_of(ax: Axes) -> list[Any]:
    """The lines, without matplotlib's types of their data, which allow for nearly anything."""
    return list(ax.lines)


def names_of(ax: Axes) -> list[str]:
    return [label.get_text() for label in ax.get_yticklabels()]


def texts_of(ax: Axes) -> list[str]:
    return [text.get_text() for text in ax.texts if text.get_text()]


def key_of(ax: Axes) -> dict[str, Any]:
    """The texts below the label of the axis, and their colours."""
    texts: list[Any] = [text for box in ax.findobj(AnnotationBbox) for text in box.findobj(Text)]
    return {text.get_text(): text.get_color() for text in texts if text.get_text()}


def markers(ax: Axes) -> list[tuple[float, bool]]:
    """The values of the markers from top to bottom, and whether they are filled."""
    lines = [line for line in lines_of(ax) if line.get_marker() in ("o", "s") and line.get_markersize() == MARKER]
    lines.sort(key=lambda line: line.get_ydata()[0])
    return [(float(line.get_xdata()[0]), line.get_markerfacecolor() != "white") for line in lines]


def cells_of(mesh: Any) -> Any:
    """The values of a square mesh, NaN where it has none. Before matplotlib 3.8 they are one list."""
    values = mesh.get_array().filled(np.nan)
    k = math.isqrt(values.size)
    return values.reshape(k, k)


def whiskers(ax: Axes) -> list[tuple[float, float]]:
    """The ends of horizontal lines, from top to bottom."""
    found = [line.get_xydata() for line in lines_of(ax) if line.get_linestyle() == "-" and len(line.get_xydata()) == 2]
    flat = [xy for xy in found if xy[0][1] == xy[1][1]]
    return [(float(xy[0][0]), float(xy[1][0])) for xy in sorted(flat, key=lambda xy: float(xy[0][1]))]


# What figures show.


def test_the_ranking_shows_scores_intervals_ranks_and_groups() -> None:
    comparison = compared(numbered(8))
    (ranking,) = comparison.rankings
    ax = comparison.plot.ranking()
    best_first = [ranked.system for ranked in ranking.systems]
    assert names_of(ax) == best_first
    scores = [comparison.score(system) for system in best_first]
    assert [(s.score, True) for s in scores] == markers(ax)
    ends = [s.confidence_interval for s in scores]
    assert [(ci.low, ci.high) for ci in ends if ci is not None] == whiskers(ax)
    texts = texts_of(ax)
    for text in [f"{s.score:.2f}" for s in scores]:
        assert text in texts
    assert [
        f"{r.rank_low}–{r.rank_high}" if r.rank_low < r.rank_high else f"{r.rank_low}" for r in ranking.systems
    ] == [text for text in texts if re.fullmatch(r"\d(–\d)?", text)]
    # A column of dots for each group, below its letter.
    assert ranking.groups is not None
    dots = [line for line in lines_of(ax) if line.get_marker() == "o" and line.get_markersize() == 3]
    ys = ax.get_yticks().tolist()
    assert [[ys[best_first.index(s)] for s in sorted(group, key=best_first.index)] for group in ranking.groups] == [
        line.get_xydata()[:, 1].tolist() for line in dots
    ]
    assert [chr(97 + i) for i in range(len(ranking.groups))] == [text for text in texts if re.fullmatch("[a-z]", text)]


def test_the_ranking_of_a_comparison_with_a_baseline_marks_it_and_significant_differences() -> None:
    comparison = compared(numbered(5), all_pairs=False)
    assert comparison.alpha is not None
    ax = comparison.plot.ranking()
    shown = dict(zip(names_of(ax), markers(ax), strict=True))
    for pair in comparison.comparisons:
        assert shown[pair.system] == (comparison.score(pair.system).score, pair.is_significant(comparison.alpha))
        assert f"{pair.difference:+.2f}".replace("-", "−") in texts_of(ax)
    assert {filled for _, filled in shown.values()} == {True, False}
    (square,) = [line for line in lines_of(ax) if line.get_marker() == "s"]
    assert square.get_xdata() == [comparison.score("system-1").score]
    assert "■ system-1" in "".join(key_of(ax))
    assert "adjusted $p$ ≤ 0.05" in "".join(key_of(ax))


def test_scores_without_tests_have_a_ranking_and_densities() -> None:
    scores = SegmentScores("rating", systems(numbered(3)))
    plain = score(metrics=scores)
    ax = plain.plot.ranking()
    assert names_of(ax) == ["system-1", "system-2", "system-3"]
    assert (whiskers(ax), len(markers(ax)), ax.get_xlabel()) == ([], 3, "rating (→ better)")
    for kind in ("forest", "matrix", "null"):
        with pytest.raises(InputError, match="this result has scores only"):
            getattr(plain.plot, kind)()
    with pytest.raises(InputError, match="has no histograms of bootstrap draws: compute it with an interval or a test"):
        replace(plain, scores=tuple(replace(s, draws=None) for s in plain.scores)).plot.densities()


def test_the_forest_shows_the_differences_from_the_baseline() -> None:
    comparison = compared(numbered(5), all_pairs=False)
    ax = comparison.plot.forest()
    pairs = [comparison.pair(system) for system in names_of(ax)]
    assert [(p.difference, p.is_significant(0.05)) for p in pairs] == markers(ax)
    assert [
        (p.confidence_interval.low, p.confidence_interval.high) for p in pairs if p.confidence_interval
    ] == whiskers(ax)
    assert names_of(ax) == ["system-2", "system-3", "system-5", "system-4"]  # by score
    assert ax.get_xlabel() == "Δrating from system-1, 95% CI (→ better)"
    assert "".join(key_of(ax)).startswith("● worse (adjusted $p$ ≤ 0.05)    ○ not significant")
    with pytest.raises(
        InputError, match="the systems were compared with 'system-1': leave out the baseline 'system-2'"
    ):
        comparison.plot.forest(baseline="system-2")


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


@pytest.mark.parametrize(("k", "shift"), [(9, 90), (10, 20)])
def test_few_systems_and_those_that_leave_room_for_others_are_on_the_axis(k: int, shift: float) -> None:
    scores = {name: np.random.default_rng(i).normal(50 + i, 5, 60) for i, name in enumerate(numbered(k))}
    own = SegmentScores("m", {**scores, "far": scores["system-1"] - shift})
    ax = compare(metrics=own, n_resamples=99).plot.forest()
    assert "arrow" not in ax.get_xlabel()
    assert len(whiskers(ax)) == k


def test_forests_of_all_metrics_fit_a_page_or_the_figure_warns(tmp_path: Path, run: Any) -> None:
    scores = {name: np.random.default_rng(i).normal(50 + i, 5, 30) for i, name in enumerate(numbered(25))}
    other = {name: -values for name, values in scores.items()}
    result = compare(metrics=[SegmentScores("m", scores), SegmentScores("o", other)], all_pairs=True, n_resamples=99)
    (tmp_path / "r.json").write_text(result.render("json"), "utf-8")

    def said(kind: str) -> str:
        return str(run("plot", str(tmp_path / "r.json"), kind, "-o", str(tmp_path / f"{kind}.pdf")).err)

    assert "the best system under m, so that all metrics fit a page: --baseline chooses another" in said("forest")
    assert "(--metric)" in said("matrix")


def test_the_key_of_the_forest_has_the_colours_of_its_markers() -> None:
    for baseline in ("system-1", "system-3", "system-5"):
        ax = compared(numbered(5)).plot.forest(baseline=baseline)
        colors = {line.get_color() for line in lines_of(ax) if line.get_marker() == "|"}
        dots: list[Any] = [text for box in ax.findobj(AnnotationBbox) for text in box.findobj(Text)]
        assert {dot.get_color() for dot in dots if dot.get_text() == "●"} == colors - {MUTED}
        assert {dot.get_color() for dot in dots if dot.get_text() == "○"} == colors & {MUTED}
        (key,) = drawn(ax).findobj(AnnotationBbox)
        assert key.get_window_extent().y1 <= ax.xaxis.label.get_window_extent().y0


@pytest.mark.parametrize("k", [2, 16, 40])
def test_an_interval_is_visible_however_far_apart_systems_are(k: int) -> None:
    values = systems(numbered(k))
    far = {**values, "far": [value - 1000 for value in values["system-2"]]}
    ax = compare(metrics=SegmentScores("rating", far), all_pairs=True, n_resamples=200).plot.forest()
    drawn(ax)
    ends = [line for line in lines_of(ax) if line.get_marker() == "|"]
    arrows = [line for line in lines_of(ax) if line.get_marker() == "<"]
    assert len(arrows) == (k >= 10)  # of few systems, none is off the axis
    assert [len(line.get_xdata()) for line in ends] == [2] * (k - len(arrows))
    assert all(line.get_markersize() > MARKER for line in ends)
    low, high = ax.get_xlim()
    assert sum(low <= tick <= high for tick in ax.get_xticks()) >= 3


def test_simultaneous_intervals_are_named() -> None:
    comparison = compared(numbered(3), all_pairs=False, interval="simultaneous", test="bootstrap")
    assert ", simultaneous 95% CI (→ better)" in comparison.plot.forest().get_xlabel()
    assert "rating, 95% CI (→ better)" in comparison.plot.ranking().get_xlabel()


@pytest.mark.parametrize("baseline", [None, *numbered(5)])
def test_the_forest_of_all_pairs_is_drawn_from_any_system(baseline: str | None) -> None:
    comparison = compared(numbered(5))
    ax = comparison.plot.forest(baseline=baseline)
    chosen = baseline or "system-1"
    scores = {system: comparison.score(system).score for system in comparison.systems}
    assert names_of(ax) == [s for s in sorted(scores, key=lambda s: -scores[s]) if s != chosen]
    differences = [value for value, _ in markers(ax)]
    assert differences == pytest.approx([scores[system] - scores[chosen] for system in names_of(ax)])
    for system, difference, (low, high) in zip(names_of(ax), differences, whiskers(ax), strict=True):
        assert low < difference < high
        found = {(p.system, p.baseline): p.confidence_interval for p in comparison.comparisons}
        interval = found.get((system, chosen)) or found[chosen, system]
        assert interval is not None
        assert (low, high) in [(interval.low, interval.high), (-interval.high, -interval.low)]


def test_a_result_without_histograms_is_not_called_one_without_replicates() -> None:
    comparison = compared(numbered(2))
    without = replace(comparison, comparisons=tuple(replace(pair, null=None) for pair in comparison.comparisons))
    with pytest.raises(InputError, match="no histogram of the null distribution of 'system-2' and 'system-1': compute"):
        without.plot.null()


def test_pairs_of_one_sided_tests_are_not_reversed() -> None:
    comparison = compared(numbered(3), alternative="less")
    first = comparison.comparisons[0]
    ax = comparison.plot.forest(baseline=first.baseline)
    assert {p.system for p in comparison.comparisons if p.baseline == first.baseline} == set(names_of(ax))
    # By default the only possible baseline, although it is not the best system.
    assert comparison.plot.forest().get_xlabel() == ax.get_xlabel()
    with pytest.raises(InputError, match="the tests are one-sided, and 'system-2' was compared with system-1 as the"):
        comparison.plot.forest(baseline="system-2")
    with pytest.raises(InputError, match="'system-1' was not compared with baseline 'system-2'"):
        comparison.plot.null("system-1", "system-2")
    # The row is the system, the column its baseline.
    (mesh,) = [c for c in comparison.plot.matrix().collections if isinstance(c, QuadMesh)]
    classes = cells_of(mesh)
    for pair in comparison.comparisons:
        assert not np.isnan(classes[int(pair.system[-1]) - 1, int(pair.baseline[-1]) - 1])


def test_lower_scores_are_better_if_the_metric_says_so() -> None:
    comparison = compared(numbered(4), lower=True)
    assert names_of(comparison.plot.ranking()) == ["system-4", "system-3", "system-2", "system-1"]
    ax = comparison.plot.forest()
    assert "(← better)" in ax.get_xlabel()
    assert all(value > 0 for value, _ in markers(ax))
    worse = {line.get_color() for line in lines_of(ax) if line.get_linestyle() == "-" and line.get_linewidth() == 1.0}
    assert worse <= {"#D55E00", "#5f5f5f"}


@pytest.mark.parametrize("k", [2, 9, 20, 21])
def test_the_matrix_has_a_cell_for_each_pair(k: int) -> None:
    comparison = compared(numbered(k))
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
    legend = ax.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == [
        *("≤ 0.001", "≤ 0.01", "≤ 0.05", "≤ 0.1", "> 0.1"),
        *["≤ 0.05"] * (k <= 20 and min(ps) <= 0.05),  # of the star
    ]
    assert legend.get_title().get_text() == ("$p$" if k == 2 else "adjusted $p$")


def test_a_matrix_needs_all_pairs() -> None:
    with pytest.raises(
        InputError, match="a matrix shows all pairs, but the systems were compared with 'system-1' only"
    ):
        compared(numbered(3), all_pairs=False).plot.matrix()
    assert len(names_of(compared(numbered(2), all_pairs=False).plot.matrix())) == 2


def test_the_matrix_has_a_class_up_to_alpha() -> None:
    legend = compared(numbered(3), alpha=0.02).plot.matrix().get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == [
        "≤ 0.001",
        "≤ 0.01",
        "≤ 0.02",
        "≤ 0.1",
        "> 0.1",
        "≤ 0.02",
    ]


def steps(ax: Axes) -> list[Any]:
    return [patch for patch in ax.patches if isinstance(patch, StepPatch)]


def test_the_null_distribution_shows_the_histogram_the_observed_value_and_the_tails() -> None:
    comparison = compared(numbered(3), test="ar")
    pair = comparison.comparisons[0]
    null = pair.null
    assert null is not None
    ax = comparison.plot.null(pair)
    whole, *shaded, outline = steps(ax)
    for patch in (whole, outline):
        np.testing.assert_array_equal(patch.get_data().values, null.counts)
        np.testing.assert_allclose(patch.get_data().edges, null.low + null.width * np.arange(65))
    verticals = [line.get_xdata()[0] for line in lines_of(ax)]
    assert verticals == [null.observed, -null.observed]
    for patch in shaded:
        assert np.abs(patch.get_data().edges).min() == pytest.approx(abs(null.observed))
    title = ax.get_title()
    assert f"observed {null.observed:+.2f}".replace("-", "−") in title
    assert f"$p$ = {pair.test.pvalue:.4f}" in title
    assert f"adjusted $p$ = {pair.test.adjusted_pvalue:.4f}" in title
    assert ax.get_xlabel() == f"Δrating: {pair.system} − {pair.baseline}\nunder the null hypothesis"
    assert ax.get_ylabel() == "shuffles"


def test_one_tail_is_filled_where_p_counts_one_and_a_key_has_its_formula() -> None:
    own = SegmentScores("m", {"a": np.zeros(60), "b": np.random.default_rng(2).normal(0.5, 3, 60)})
    ax = compare(metrics=own, test="bootstrap-percentile", n_resamples=199).plot.null()
    observed = lines_of(ax)[0].get_xdata()[0]
    _, tail, _ = steps(ax)
    assert min(tail.get_data().edges, key=abs) == pytest.approx(-observed)
    said = " ".join(text.get_text() for artist in ax.artists for text in artist.findobj(Text))
    for part in ("observed", "- - with the opposite sign", "$p$ = 2($c$ + 1)/($R$ + 1)"):
        assert part in said


def test_a_pair_is_named_in_several_ways() -> None:
    comparison = compared(numbered(3))
    pair = comparison.comparisons[0]
    label = f"{pair.system} − {pair.baseline}"
    assert label in comparison.plot.null(pair).get_xlabel()
    assert label in comparison.plot.null(pair.system, pair.baseline).get_xlabel()
    turned = comparison.plot.null(pair.baseline, pair.system)
    assert f"{pair.baseline} − {pair.system}" in turned.get_xlabel()
    values, counts = steps(turned)[0].get_data().edges, steps(turned)[0].get_data().values
    assert pair.null is not None
    np.testing.assert_allclose(values, -(pair.null.low + pair.null.width * np.arange(65))[::-1])
    np.testing.assert_array_equal(counts, pair.null.counts[::-1])
    against = compared(numbered(3), all_pairs=False)
    assert "system-3 − system-1" in against.plot.null("system-3").get_xlabel()
    assert "system-2 − system-1" in compared(numbered(2)).plot.null().get_xlabel()
    wrongs: Any = (
        (
            (),
            "there are 3 pairs: choose one, as in null('system-2', 'system-1')",
        ),
        (("system-4",), "unknown system 'system-4'"),
        (("system-1",), "'system-1' is always the baseline"),
        (("system-3", "system-9"), "unknown baseline 'system-9'"),
        (("system-3", "rating"), "'rating' is a metric, not a baseline: name it as metric='rating'"),
        ((("system-3", "system-1"),), "expected a system and its baseline, as two names, got ('system-3', 'system-1')"),
    )
    for wrong, message in wrongs:
        with pytest.raises(InputError, match=re.escape(message)):
            comparison.plot.null(*wrong)
    with pytest.raises(InputError, match="'system-2' is a system, but this argument is a metric"):
        comparison.plot.forest("system-2")


def test_tests_without_replicates_have_no_null_distribution() -> None:
    comparison = compare(metrics=SegmentScores("rating", systems(numbered(2))), test="t-test")
    with pytest.raises(InputError, match="has no null distribution from replicates: t-test has none"):
        comparison.plot.null()


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
    assert test.null_distribution is not None
    values = np.asarray(test.null_distribution)
    if not math.isclose(values.mean(), 0, abs_tol=abs(shift) / 2):
        values = values - test.statistic  # the draws themselves
    comparison = compared(numbered(2))
    null = NullHistogram(0.0, 1.0, (1,), observed=float(test.statistic))
    pair = replace(comparison.comparisons[0], test=test, null=null)
    slack = 1e-9
    inside = sum(np.count_nonzero((values >= low - slack) & (values <= high + slack)) for low, high in tails(pair))
    assert inside == test.exceedances


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
    assert ax.get_xlabel() == "rating on bootstrap draws; filled: 95% CI"


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


def test_systems_whose_draws_are_equal_have_a_line() -> None:
    comparison = compared(numbered(2))
    first, second = comparison.scores
    changed = replace(comparison, scores=(replace(first, draws=Histogram(first.score, 0.0, (500,))), second))
    ax = changed.plot.densities()
    assert len([line for line in lines_of(ax) if len(line.get_xydata()) > 100]) == 1
    assert len(ax.collections) == 3  # the curve, its interval and the line
    drawn(replace(changed, scores=(changed.scores[0], replace(second, draws=None))).plot.densities())


@pytest.mark.parametrize("kind", ["ranking", "forest"])
@pytest.mark.parametrize(
    ("low", "high"),
    [(-math.inf, 70.0), (50.0, math.inf), (math.nan, 70.0), (math.nan, math.nan), (-math.inf, math.inf)],
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


def test_undefined_scores_are_not_drawn_but_listed() -> None:
    comparison = compared(numbered(3), all_pairs=False)
    changed = replace(comparison, scores=(replace(comparison.scores[0], score=math.nan), *comparison.scores[1:]))
    ax = changed.plot.ranking()
    assert names_of(ax)[-1] == "system-1"
    assert "nan" in texts_of(ax)
    drawn(ax)


def test_results_without_intervals_have_only_markers() -> None:
    comparison = compared(numbered(3), interval=None)
    for kind in ("ranking", "forest", "densities"):
        ax = plotted(comparison, kind)
        assert "CI" not in ax.get_xlabel()
        assert kind == "densities" or not whiskers(ax)


# The options that all figures have.


@pytest.mark.parametrize("kind", KINDS)
def test_axes_are_drawn_into_and_returned(kind: str) -> None:
    figure = Figure()
    left, right = figure.subplots(1, 2)
    assert plotted(compared(numbered(3)), kind, ax=right) is right
    assert [*left.lines, *left.texts, *left.collections] == []
    drawn(right)
    with pytest.raises(InputError, match="width and height apply to new figures only: leave them out with ax"):
        plotted(compared(numbered(3)), kind, ax=right, width=3.0)


def test_columns_do_not_overlap_in_the_wider_font_of_users_axes() -> None:
    ax = compared(numbered(3)).plot.forest(ax=Figure(figsize=(6, 3), layout="constrained").subplots())
    drawn(ax)
    (difference, pvalue) = (text.get_window_extent() for text in ax.texts if text.get_text() in ("Δ", "adjusted $p$"))
    assert difference.x1 + 5 < pvalue.x0


@pytest.mark.parametrize("kind", KINDS)
def test_display_names_replace_those_of_the_input(kind: str) -> None:
    comparison = compared(numbered(3))
    ax = (
        plotted(
            comparison, kind, names={"system-1": "First", "system-2": "Second"}, system="system-2", baseline="system-1"
        )
        if (kind == "null")
        else plotted(comparison, kind, names={"system-1": "First", "system-2": "Second"})
    )
    shown = " ".join([*names_of(ax), ax.get_xlabel(), *key_of(ax)])
    assert "Second" in shown
    assert "system-2" not in shown
    with pytest.raises(InputError, match="names: unknown system 'system-9'"):
        plotted(comparison, kind, names={"system-9": "x"})
    with pytest.raises(InputError, match="would both be called"):
        plotted(comparison, kind, names={"system-1": "system-2"})


def test_digits_are_those_of_scores_and_differences() -> None:
    comparison = compared(numbered(3), all_pairs=False)
    assert f"{comparison.scores[0].score:.4f}" in texts_of(comparison.plot.ranking(digits=4))
    assert f"{comparison.comparisons[0].difference:+.0f}".replace("-", "−") in texts_of(
        comparison.plot.forest(digits=0)
    )
    with pytest.raises(InputError, match="digits must be a whole number from 0 to 15, got 16"):
        comparison.plot.forest(digits=16)


@pytest.mark.parametrize("kind", KINDS)
def test_a_metric_is_chosen_by_its_name(kind: str) -> None:
    values = systems(numbered(3))
    metrics = [SegmentScores("first", values), SegmentScores("second", {s: [-x for x in v] for s, v in values.items()})]
    comparison = with_histograms(compare(metrics=metrics, all_pairs=True, n_resamples=200))
    options: Any = {"system": "system-2", "baseline": "system-1"} if kind == "null" else {}
    ax = plotted(comparison, kind, metric="SECOND", **options)
    if kind == "null":
        assert "Δsecond" in ax.get_xlabel()
    elif kind == "forest":
        assert names_of(ax) == ["system-2", "system-1"]
    else:
        assert names_of(ax) == ["system-3", "system-2", "system-1"]
    panels = plotted(comparison, kind, **options or {"metric": None}).figure.axes
    titles = [panel.get_title(loc="left") or panel.get_xlabel() for panel in panels]
    assert [name in title for name, title in zip(("first", "second"), titles, strict=True)] == [True, True]
    with pytest.raises(InputError, match="there are 2 metrics: choose one with metric='first' or 'second'"):
        plotted(comparison, kind, ax=Figure().add_subplot(), **options)
    with pytest.raises(InputError, match="unknown metric 'third'"):
        plotted(comparison, kind, metric="third", **options)


def test_a_notebook_displays_axes_as_the_picture() -> None:
    axes: Any = compared(numbered(2)).plot.ranking()
    content, size = axes._repr_png_()
    assert content.startswith(b"\x89PNG")
    assert size["width"] == pytest.approx(144 * axes.figure.get_figwidth())


@pytest.mark.parametrize("length", [0, -1, 51, math.nan, "3", True])
def test_lengths_out_of_range_are_refused(length: Any) -> None:
    with pytest.raises(InputError, match="height must be a number of inches above 0, at most 50"):
        compared(numbered(2)).plot.ranking(height=length)


@pytest.mark.parametrize("kind", KINDS)
def test_a_figure_without_room_for_its_labels_is_refused(kind: str) -> None:
    figure: Any = plotted(compared(numbered(4)), kind, width=0.3).figure
    message = r"a figure of 0.3 × .* inches has no room for its labels: choose a larger width"
    with pytest.raises(InputError, match=message):
        figure.savefig(io.BytesIO())


@pytest.mark.parametrize("kind", ["ranking", "forest"])
@pytest.mark.parametrize("fmt", ["svg", "pdf", "png"])
def test_a_long_name_has_room_in_every_format(kind: str, fmt: str) -> None:
    """Texts have other widths in a file than on the canvas, where they are measured."""
    scores = SegmentScores("m", {"a": [1, 2, 3, 4] * 9, "wvgybzvffkqidtovfapvnsqjulm-vi": [2, 3, 4, 4] * 9})
    figure: Any = plotted(compare(metrics=scores, n_resamples=99), kind).figure
    figure.savefig(io.BytesIO(), format=fmt)


def test_too_many_pixels_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit is that of matplotlib; newer releases have a higher one, which takes gigabytes to reach."""

    def savefig(*args: Any, **options: Any) -> None:
        raise ValueError("Image size of 909x70000 pixels is too large. It must be less than 2^16 in each direction.")

    figure: Any = compared(numbered(2)).plot.ranking().figure
    monkeypatch.setattr(Figure, "savefig", savefig)
    with pytest.raises(InputError, match=r"Choose PDF or SVG, or a smaller width or height"):
        figure.savefig(io.BytesIO(), format="png")


# Fit for a paper.


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("names", "all_pairs"),
    [
        (numbered(2), True),
        ((*LONG, *numbered(9)), True),
        (numbered(4), False),
        (LONG, False),
        *(
            pytest.param(names, all_pairs, marks=pytest.mark.slow)
            for names in (numbered(16), (*LONG, *numbered(45)))
            for all_pairs in (True, False)
        ),
    ],
    ids=lambda value: str(value if isinstance(value, bool) else len(value)),
)
def test_no_text_is_cut_or_overlaps_another(kind: str, names: tuple[str, ...], all_pairs: bool) -> None:
    if kind == "matrix" and not all_pairs:
        return
    check_texts(plotted(compared(names, all_pairs, adjust="none"), kind))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_100_systems_fit_a_page(kind: str) -> None:
    ax = plotted(compared(numbered(100), adjust="none"), kind)
    width, height = drawn(ax).get_size_inches()
    assert (width <= PAGE, height <= 9.1) == (True, True)
    check_texts(ax)


def check_texts(ax: Axes) -> None:
    """All texts are inside the figure, names and cells in columns are apart, and letters are not too small."""
    figure = drawn(ax)
    renderer = figure.canvas.get_renderer()
    # Ticks beyond the limits of an axis have labels that are not drawn.
    low, high = ax.get_xlim()
    hidden = [
        label for tick, label in zip(ax.get_xticks(), ax.get_xticklabels(), strict=True) if not low <= tick <= high
    ]
    found: list[Any] = figure.findobj(Text)
    texts = [text for text in found if text.get_visible() and text.get_text() and text not in hidden]
    boxes = [text.get_window_extent(renderer) for text in texts]
    outer = figure.bbox
    for text, box in zip(texts, boxes, strict=True):
        inside = box.x0 >= outer.x0 - 1 and box.x1 <= outer.x1 + 1 and box.y0 >= outer.y0 - 1 and box.y1 <= outer.y1 + 1
        assert inside, (text.get_text(), box.bounds, outer.bounds)
        assert text.get_fontsize() >= 5
    small = [box.padded(-0.09 * box.height) for box in boxes]
    for i, box in enumerate(small):
        for other, text in zip(small[:i], texts[:i], strict=True):
            assert not box.overlaps(other), (texts[i].get_text(), text.get_text())


def test_figures_are_as_wide_as_a_column_or_a_page() -> None:
    for kind in KINDS:
        assert saved_as_pdf(kind)[0].get_size_inches()[0] == pytest.approx(7.7 / 2.54)
    assert drawn(compared(numbered(16)).plot.matrix()).get_size_inches()[0] == pytest.approx(PAGE)
    assert drawn(compared(numbered(4)).plot.ranking(width=5, height=2)).get_size_inches().tolist() == [5, 2]
    assert (round(COLUMN, 2), round(PAGE, 2)) == (3.03, 6.3)


@pytest.mark.parametrize("kind", ["ranking", "forest"])
def test_figures_are_page_wide_where_axes_would_be_narrower_than_3_cm(kind: str) -> None:
    comparison, widths = compared(numbered(9), adjust="none"), set()
    for length in (4, 8, 12, 16, 24, 40):
        names = {system: system[-1] * length for system in comparison.systems}
        ax = plotted(comparison, kind, names=names)
        figure = drawn(ax)
        width = figure.get_size_inches()[0]
        widths.add(round(width, 2))
        axes = ax.get_position().width * width
        # The estimate is by the widths of letters.
        assert axes > 2.8 / 2.54
        if width > COLUMN:
            assert axes - (PAGE - COLUMN) < 3.2 / 2.54
    assert widths == {round(COLUMN, 2), round(PAGE, 2)}


@pytest.mark.parametrize("width", [1.2, COLUMN, PAGE])
@pytest.mark.parametrize("limits", [(-0.0031, 0.0034), (-0.00002, 0.00007), (0.7901, 0.8102), (15, 29), (-1e-7, 3e-6)])
def test_labels_of_ticks_are_apart(limits: tuple[float, float], width: float) -> None:
    class Axis:
        size, font_size = (width, 1.0), 7.5

        def draw(self, ax: Axes) -> None:
            set_limits(ax, limits, [])
            ax.set_yticks([])

    ax = style.axes_of(Axis(), None, None, None)
    figure = drawn(ax)
    low, high = ax.get_xlim()
    places, every = ax.get_xticks(), ax.get_xticklabels()
    shown = [label for place, label in zip(places, every, strict=True) if low <= place <= high]
    boxes = [label.get_window_extent(figure.canvas.get_renderer()) for label in shown]
    assert len(shown) >= 2
    assert all(right.x0 - left.x1 > 0.4 * left.height for left, right in itertools.pairwise(boxes))


def test_differences_in_figures_keep_two_digits() -> None:
    comparison, small = compared(numbered(4), all_pairs=False), (-0.000021, 0.0, -0.0)
    pairs = [
        replace(pair, test=replace(pair.test, statistic=difference))
        for pair, difference in zip(comparison.comparisons, small, strict=True)
    ]
    for kind in ("forest", "ranking"):
        texts = texts_of(plotted(replace(comparison, comparisons=tuple(pairs)), kind))
        assert texts.count("\N{MINUS SIGN}0.000021") == 1
        assert texts.count("+0.000000") == 2


def test_headers_stand_on_one_line() -> None:
    figure = compared(numbered(9), adjust="none").plot.ranking()
    texts: list[Any] = list(figure.texts)
    headers = [text for text in texts if text.get_text() in ("score", "rank", *"abcdefgh")]
    assert len(headers) > 3
    assert {(text.get_va(), text.xyann[1]) for text in headers} == {("baseline", headers[0].xyann[1])}


def test_lines_of_labels_do_not_end_inside_a_term() -> None:
    for width in range(12, 60):
        lines = wrapped("Averaged BLEU from a baseline, 95% CI (→ better)", width).split("\n")
        assert not [line for line in lines if line.endswith(("95%", "→"))]
    draws = compared(("a system with a name of words", "other"))
    renamed = replace(draws, metrics=(replace(draws.metrics[0], name="rating of all people"),))
    scores = tuple(replace(score, metric="rating of all people") for score in draws.scores)
    label = replace(renamed, scores=scores, comparisons=()).plot.densities().get_xlabel()
    assert label.split("\n")[-1] == "filled: 95% CI"


@pytest.mark.parametrize("kind", KINDS)
def test_hostile_names_are_shown_as_they_are(kind: str) -> None:
    metric = r"$\frac{1}{" + "long_metric " * 5 + "\n\0"
    scores = SegmentScores(metric, systems(HOSTILE))
    ax = plotted(with_histograms(compare(metrics=scores, all_pairs=True, n_resamples=500, adjust="none")), kind)
    drawn(ax)
    if kind != "matrix":  # which does not name the metric
        assert r"$\frac{1}{long_" in ax.get_xlabel()
    for label in (label for label in [*ax.get_yticklabels(), ax.xaxis.label] if label.get_text()):
        assert not label.get_parse_math()
        assert not label.get_usetex()
    if kind in ("ranking", "matrix", "densities"):
        assert sorted(map(printable, HOSTILE)) == sorted(name.replace("\n", " ") for name in names_of(ax))
    figure: Any = ax.figure
    for fmt in ("pdf", "svg") if kind == "ranking" else ("pdf",):
        figure.savefig(io.BytesIO(), format=fmt)


def test_names_are_wrapped_and_shortened_only_beyond_three_lines() -> None:
    assert wrapped("a" * 60, 24).replace("\n", "") == "a" * 60
    assert wrapped("a" * 60, 24).count("\n") == 2
    assert wrapped("a" * 1000, 24).count("\n") == 2
    assert wrapped("a" * 1000, 24).endswith("…")
    assert wrapped("系统" * 10, 25) == f"{'系统' * 6}\n{'系统' * 4}"


@given(st.text(max_size=80), st.integers(6, 40))
def test_wrapped_names_have_short_lines_and_keep_their_letters(name: str, width: int) -> None:
    lines = wrapped(name, width).split("\n")
    assert len(lines) <= 3
    assert all(columns(line) <= width or len(line) == 1 for line in lines)
    kept = "".join("".join(lines).split())
    whole = "".join(printable(name).split())
    assert whole == kept or (kept.endswith("…") and whole.startswith(kept[:-1]))


def test_missing_letters_give_one_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(style, "_fonts", lambda: style.FONTS)
    names = ("系统", "b")
    with pytest.warns(
        InputWarning, match="no installed font has the characters 系, 统: install a font that has them"
    ) as raised:
        drawn(compared(names).plot.ranking())
    assert len(raised) == 1
    with pytest.warns(InputWarning, match="no installed font") as raised:
        figure_of("ranking", {"one": (compared(names), None), "other": (compared(names), None)})
    assert len(raised) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_fonts_are_embedded_as_truetype(kind: str, tmp_path: Path) -> None:
    content = saved_as_pdf(kind)[1]
    fonts = re.findall(rb"/Subtype /(Type0|Type1|Type3|TrueType|CIDFontType\d)\b", content)
    assert set(fonts) == {b"Type0", b"CIDFontType2"}
    # Every descriptor of a font names the stream with its outlines.
    assert content.count(b"/FontFile2") == content.count(b"/Type /FontDescriptor") == fonts.count(b"CIDFontType2") > 0
    assert b"STIXGeneral" in content
    if shutil.which("pdffonts"):
        path = tmp_path / "figure.pdf"
        path.write_bytes(content)
        listed = subprocess.run(["pdffonts", path], capture_output=True, text=True, check=True).stdout.splitlines()[2:]
        assert listed
        assert all(re.search(r"CID TrueType +Identity-H +yes yes yes", line) for line in listed)


def test_text_of_svg_is_paths() -> None:
    content = io.BytesIO()
    figure: Any = compared(numbered(4)).plot.ranking().figure
    figure.savefig(content, format="svg")
    assert b"<text" not in content.getvalue()
    assert b"<dc:date>" not in content.getvalue()


def digests(kinds: Sequence[str]) -> list[str]:
    """A digest of each figure, and of one in the other formats."""
    others = (file_of(compared(numbered(4)).plot.ranking().figure, fmt) for fmt in ("svg", "png"))
    return [hashlib.sha256(content).hexdigest() for content in (*(saved_as_pdf(kind)[1] for kind in kinds), *others)]


@pytest.mark.parametrize("kinds", [["matrix"], pytest.param([*KINDS], marks=pytest.mark.slow)], ids=["one", "all"])
def test_files_do_not_depend_on_the_process_the_time_or_the_settings_of_the_user(
    tmp_path: Path, kinds: list[str]
) -> None:
    """A matplotlibrc sets what a user may have set: other fonts, sizes, colours and LaTeX."""
    settings = tmp_path / "matplotlibrc"
    settings.write_text(
        "font.family: monospace\nfont.size: 20\ntext.usetex: True\naxes.facecolor: black\npdf.fonttype: 3\n"
        "savefig.dpi: 50\nsavefig.bbox: tight\nsvg.fonttype: none\naxes.unicode_minus: False\n"
    )
    source = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); from test_plots import digests; "
    source += f"print(*digests({kinds!r}), 'matplotlib.pyplot' in sys.modules, matplotlib.rcParams['font.size'])"
    source = source.replace("import sys;", "import sys, matplotlib;", 1)
    environment = {**os.environ, "PYTHONHASHSEED": "1", "MATPLOTLIBRC": str(settings), "SOURCE_DATE_EPOCH": "9"}
    command = [sys.executable, "-c", source]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.split() == [*digests(kinds), "False", "20.0"]  # pyplot is not imported


def test_settings_of_matplotlib_are_left_as_they_are() -> None:
    before = dict(matplotlib.rcParams)
    for kind in KINDS:
        figure: Any = plotted(compared(numbered(3)), kind).figure
        figure.savefig(io.BytesIO(), format="svg")
    assert before == dict(matplotlib.rcParams)
    assert set(STYLE) <= set(before)


def test_shades_are_apart_in_black_and_white() -> None:
    """The lightness L* of CIELAB, in steps of which 5 would be clear, and the contrast of the values on them."""
    from matplotlib.colors import to_rgb

    from reshuffle.report.plots.matrix import SHADES

    def luminance(color: str) -> float:
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(color)]
        return float(np.dot([0.2126, 0.7152, 0.0722], linear))

    lightness = [116 * luminance(shade) ** (1 / 3) - 16 for shade in SHADES]
    assert all(np.diff(lightness) > 9), lightness
    for i, shade in enumerate(SHADES):
        text = luminance("white" if i < 2 else INK)
        high, low = max(text, luminance(shade)), min(text, luminance(shade))
        assert (high + 0.05) / (low + 0.05) >= 4.5, shade


# Without matplotlib, and on several test sets.


def test_a_missing_matplotlib_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(
        ModuleNotFoundError, match=re.escape("plots need matplotlib: pip install 'reshuffle[plots]'")
    ) as r:
        compared(numbered(2)).plot  # noqa: B018
    assert r.value.name == "matplotlib"


def test_test_sets_and_their_average_have_figures() -> None:
    sets = {name: TestSet(metrics=SegmentScores("r", systems(numbered(3), seed))) for seed, name in enumerate("xy")}
    result = compare_sets(sets, n_resamples=200, all_pairs=True)
    assert result.average is not None
    for comparison in (result["x"], result.average):
        ax = comparison.plot.ranking()
        assert [f"{comparison.score(system).score:.2f}" for system in names_of(ax)] == [
            text for text in texts_of(ax) if re.fullmatch(r"\d\d\.\d\d", text)
        ]


# The command line.


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of saved results: of all pairs, of several test sets with and without their average, of scores."""
    folder = tmp_path_factory.mktemp("saved")
    corpus = demo_corpus()
    references, outputs = corpus.references, {name: corpus.systems[name] for name in ("baseline", "tuned", "larger")}
    sets = {name: TestSet(references, outputs) for name in ("one", "two")}
    options: Any = {"n_resamples": 200}
    results: dict[str, Any] = {
        "pairs.json": compare(references, outputs, ["bleu", "ter"], all_pairs=True, **options),
        "one.html": compare(references, outputs, all_pairs=True, **options),
        "baseline.json": compare(references, outputs, **options),
        "sets.json": compare_sets(sets, all_pairs=True, **options),
        "apart.json": compare_sets(sets, all_pairs=True, average=False, **options),
    }
    for name, result in results.items():
        (folder / name).write_text(result.render(name.partition(".")[2]), "utf-8")
    (folder / "names.tsv").write_text("tuned\tOurs\nbaseline\tBase\n")
    (folder / "names.pdf").write_text("tuned\tOurs\n")
    (folder / "others.tsv").write_text("nobody\tx\n")
    (folder / "text.txt").write_text("some text\n")
    return folder


@pytest.fixture
def results(saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of that folder, which is the current directory."""
    shutil.copytree(saved, tmp_path / "results")
    monkeypatch.chdir(tmp_path / "results")
    return tmp_path / "results"


START = {"pdf": b"%PDF-1.4", "svg": b"<?xml", "png": b"\x89PNG"}


@pytest.mark.parametrize(("kind", "fmt"), [*zip(KINDS, ("pdf", "svg", "png", "pdf", "svg"), strict=True)])
def test_plot_writes_what_the_methods_draw(results: Path, run: Any, kind: str, fmt: str) -> None:
    options: dict[str, Any] = {"metric": "TER", "digits": 3, "width": 3.5, "height": 2.5}
    if kind == "null":
        options |= {"system": "tuned", "baseline": "baseline"}
    if kind == "forest":
        options["baseline"] = "tuned"
    flags = {"--system": ["--pair"], "--baseline": [] if kind == "null" else ["--baseline"]}
    pairs = ((*flags.get(f"--{name}", [f"--{name}"]), value) for name, value in options.items())
    arguments = [str(word) for option in pairs for word in option]
    outcome = run("plot", "pairs.json", kind, "-o", f"out.{fmt}", *arguments, "--names", "names.tsv")
    assert outcome == (0, "", "")
    content = (results / f"out.{fmt}").read_bytes()
    assert content.startswith(START[fmt])
    comparison = read_json("pairs.json")
    assert isinstance(comparison, Comparison)
    ax = getattr(comparison.plot, kind)(names={"tuned": "Ours", "baseline": "Base"}, **options)
    assert content == file_of(ax.figure, fmt)


def test_plot_reads_html_and_standard_input(results: Path, run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run("plot", "one.html", "ranking", "-o", "html.svg").code == 0
    with (results / "one.html").open(encoding="utf-8") as file:
        monkeypatch.setattr(sys, "stdin", file)
        assert run("plot", "-", "ranking", "-o", "stdin.svg").code == 0
    result = read_json("one.html")
    assert isinstance(result, Comparison)
    expected = file_of(result.plot.ranking().figure, "svg")
    assert (results / "html.svg").read_bytes() == (results / "stdin.svg").read_bytes() == expected


def test_a_figure_names_its_test_set() -> None:
    comparison = compared(numbered(3))
    for kind in ("forest", "ranking", "densities"):
        (ax,) = figure_of(kind, {"rating": (comparison, "rating")}, test_set="fr-en").axes
        assert "rating (fr-en)" in ax.get_xlabel()


def test_plot_shows_the_average_or_a_test_set(results: Path, run: Any) -> None:
    result = read_json("sets.json")
    assert isinstance(result, SetComparison)
    assert result.average is not None
    for arguments, comparison in ((["--set", "two"], result["two"]), ([], result.average)):
        assert run("plot", "sets.json", "null", "--pair", "tuned", "larger", "-o", "out.svg", *arguments).code == 0
        panel: dict[str, Any] = {comparison.metrics[0].name: (comparison, comparison.metrics[0].name)}
        options: dict[str, Any] = {"system": "tuned", "baseline": "larger", "test_set": "".join(arguments[1:])}
        expected = file_of(figure_of("null", panel, **options), "svg")
        assert (results / "out.svg").read_bytes() == expected
    assert run("plot", "apart.json", "ranking", "--set", "one", "-o", "out.svg").code == 0


BAD = {
    "no output": ("pairs.json ranking", "missing option '-o'"),
    "no kind": ("pairs.json", "missing argument 'KIND': choose ranking, forest, matrix, null or densities"),
    "no kind of a baseline": ("baseline.json", "choose ranking, forest, null or densities"),
    "kind": (
        "pairs.json rank -o x.pdf",
        "unknown figure 'rank': did you mean 'ranking'? Known: ranking, forest, matrix",
    ),
    "ending": (
        "pairs.json ranking -o x.jpg",
        "-o: expected a file name that ends in .pdf, .svg or .png, got 'x.jpg'",
    ),
    "standard output": ("pairs.json ranking -o -", "that ends in .pdf, .svg or .png, got '-'"),
    "empty output": ("pairs.json ranking -o ''", "-o: expected the name of a file, got an empty one"),
    "folder": ("pairs.json ranking -o folder.pdf/x.pdf", "folder.pdf/x.pdf cannot be written: No such file"),
    "result": ("nothing.json ranking -o x.pdf", "nothing.json: no such file"),
    "no result": ("text.txt ranking -o x.pdf", "text.txt is not JSON: expected the JSON of a result"),
    "metric": ("pairs.json ranking -o x.pdf --metric chrf", "unknown metric 'chrf'; known: BLEU, TER"),
    "no pair": ("pairs.json null -o x.pdf", "with --pair, as in --pair "),
    "pair of others": ("pairs.json forest -o x.pdf --pair a b", "--pair is for null, not for forest: leave it out"),
    "baseline of others": ("pairs.json null -o x.pdf --baseline a", "--baseline is for forest, not for null"),
    "set": ("sets.json ranking -o x.pdf --set three", "unknown test set 'three'; known: one, two"),
    "no average": (
        "apart.json ranking -o x.pdf",
        "the result has no average over test sets: choose one of its test sets with --set: one, ",
    ),
    "no set": (
        "pairs.json ranking -o x.pdf --set one",
        "the result has a single test set, without a name: leave out --set one",
    ),
    "names": ("baseline.json ranking -o x.pdf --names others.tsv", "others.tsv, line 1: unknown system 'nobody'"),
    "digits": ("baseline.json ranking -o x.pdf --digits 16", "--digits must be a whole number from 0 to 15, got 16"),
    "room": ("baseline.json ranking -o x.pdf --width 0.4", "a figure of 0.4 × 1.19 inches has no room for its labels"),
    "an input": ("baseline.json ranking -o names.pdf --names names.pdf", "names.pdf is also an input"),
}


@pytest.mark.parametrize(("arguments", "message"), BAD.values(), ids=BAD.keys())
def test_bad_arguments_give_one_sentence_and_keep_the_output(
    results: Path, run: Any, arguments: str, message: str
) -> None:
    (results / "x.pdf").write_bytes(b"old")
    before = {path: path.read_bytes() for path in results.rglob("*") if path.is_file()}
    assert message in run("plot", *shlex.split(arguments)).refusal()
    assert before == {path: path.read_bytes() for path in results.rglob("*") if path.is_file()}


def test_plot_names_a_missing_matplotlib(results: Path, run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    outcome = run("plot", "baseline.json", "ranking", "-o", "x.pdf")
    assert outcome == (2, "", "reshuffle: error: plots need matplotlib: pip install 'reshuffle[plots]'\n")
    assert not (results / "x.pdf").exists()


@cache
def of_three_metrics(k: int, all_pairs: bool) -> Comparison:
    metrics = [SegmentScores(f"m{seed}", systems(numbered(k), seed)) for seed in range(3)]
    return with_histograms(compare(metrics=metrics, all_pairs=all_pairs, n_resamples=500))


def panels(comparison: Comparison, kind: str, **options: Any) -> list[Axes]:
    """The panels of all metrics."""
    shown = {metric.name: (comparison, metric.name) for metric in comparison.metrics}
    figure: Any = figure_of(kind, shown, **options)
    return list(figure.axes)


@pytest.mark.parametrize("kind", KINDS)
def test_several_metrics_have_a_panel_each(results: Path, run: Any, kind: str) -> None:
    pair = ["--pair", "tuned", "baseline"] if kind == "null" else []
    assert run("plot", "pairs.json", kind, "-o", "out.svg", *pair).code == 0
    comparison: Any = read_json("pairs.json")
    made = panels(comparison, kind, **({"system": "tuned", "baseline": "baseline"} if pair else {}))
    assert [ax.get_title("left") for ax in made] == ([""] * 2 if pair else ["BLEU", "TER"])
    out = (results / "out.svg").read_bytes()
    # The ids of clip paths are hashes of what the solver of the layout finds, which may differ in the last digit.
    drawn, written = (re.sub(rb"#?\bp[0-9a-f]{10}\b", b"", svg) for svg in (file_of(made[0].figure, "svg"), out))
    assert drawn == written
    assert len([ax for ax in made if ax.get_legend() is not None]) == (kind == "matrix")


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
    if kind == "ranking" and all_pairs:  # beside each row, its rank and its letters
        for ax, ranking in zip(made, comparison.rankings, strict=True):
            shown = [text.get_text() for text in ax.texts]
            ranks = [rank_cell(ranking[name].rank_low, ranking[name].rank_high) for name in first]
            assert shown == ["rank", *ranks, "group", *(ranking[name].letters for name in first)]
    apart: Any = panels(of_three_metrics(16, True), "forest")  # each metric has its own best system
    assert {len(names_of(ax)) for ax in apart} == {15}


def test_forests_one_above_the_other_have_the_order_of_the_first_metric() -> None:
    scores = {name: [index + 1.0, index + 2.0, 3.0] * 9 for index, name in enumerate("abcd")}
    metrics = [SegmentScores("m", scores), SegmentScores("errors", scores, higher_is_better=False)]
    comparison = compare(metrics=metrics, n_resamples=99)
    assert names_of(comparison.plot.forest("errors")) == ["b", "c", "d"]
    assert [names_of(ax) for ax in panels(comparison, "forest")] == [["d", "c", "b"]] * 2


def test_figures_of_pairs_name_their_metric_and_test_set() -> None:
    comparison = of_three_metrics(4, True)
    for kind in ("matrix", "forest", "ranking", "null"):
        options: dict[str, Any] = {"system": "system-1", "baseline": "system-2"} if kind == "null" else {}
        figure: Any = figure_of(kind, {"": (comparison, "m1")}, test_set="news", **options)
        assert "m1 (news)" in figure.axes[0].get_xlabel()


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


def test_plot_says_that_panels_have_other_baselines(tmp_path: Path, run: Any) -> None:
    scores = {"a": [1.0, 2.0, 3.0] * 9, "b": [2.0, 2.0, 4.0] * 9, "c": [2.0, 2.0, 3.0] * 9}
    metrics = [SegmentScores("m", scores), SegmentScores("errors", scores, higher_is_better=False)]
    saved = tmp_path / "saved.json"
    saved.write_text(compare(metrics=metrics, all_pairs=True, n_resamples=99).render("json"), "utf-8")
    said = "reshuffle: the differences are from the best system under each metric, b (m) and a (errors): --baseline"
    plot = ("plot", str(saved), "forest", "-o", str(tmp_path / "x.svg"))
    assert run(*plot).err.startswith(said)
    assert (run(*plot, "--baseline", "c").err, run(*plot, "-m", "errors").err) == ("", "")


def test_panels_have_one_key_with_the_kinds_of_markers_that_they_have() -> None:
    made = panels(of_three_metrics(4, False), "forest")
    figure = drawn(made[0])
    boxes = [box for box in figure.findobj(AnnotationBbox) if box.findobj(Text)]
    (key,) = boxes
    texts = [text.get_text() for text in key.findobj(Text)]
    filled = {filled for ax in made for _, filled in markers(ax)}
    assert (any("≤" in text for text in texts), "○" in texts) == (True in filled, False in filled)
    bottom = min(ax.xaxis.label.get_window_extent().y0 for ax in made)
    assert key.get_window_extent().y1 <= bottom


def test_a_pipe_is_written_to_directly(results: Path, run: Any) -> None:
    os.mkfifo("pipe.png")
    # Opened without waiting for the writer, which may fail before it opens the pipe. The picture fits into the pipe.
    reader = os.open("pipe.png", os.O_RDONLY | os.O_NONBLOCK)
    outcome = run("plot", "baseline.json", "forest", "-o", "pipe.png")
    assert (outcome, os.read(reader, 4)) == ((0, "", ""), b"\x89PNG")
    os.close(reader)
    assert stat.S_ISFIFO(os.stat("pipe.png").st_mode)  # noqa: PTH116


@pytest.mark.parametrize("tight", [False, True])
def test_columns_stay_left_of_the_next_axes(tight: bool) -> None:
    figure = Figure(figsize=(9, 2.5))
    left, right = figure.subplots(1, 2)
    compared(numbered(4)).plot.ranking(ax=left)
    if tight:
        figure.tight_layout()
    figure.draw_without_rendering()
    assert any(text.get_text() == "group" for text in left.texts)
    assert max(text.get_window_extent().x1 for text in left.texts) < right.get_window_extent().x0
    assert left.get_window_extent().width > 140  # pixels; a little less with old matplotlib
