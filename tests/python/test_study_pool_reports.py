"""Reports, figures and commands of ``validate``, ``samples`` and ``agreement``."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from counts import bleu_counts
from reshuffle import FromCounts, SegmentScores, StudyResult, study
from reshuffle.report import Layout, Terminal, render
from reshuffle.report.studies.plots import draw_figure
from told import assert_told

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


def test_texts_mark_sizes_with_few_samples() -> None:
    """Where b is always better, the pool of 40 has 20 samples of 2, but 4 of 10."""
    better = SegmentScores("x", {"a": [0.0] * 40, "b": [1.0] * 40})
    found = study.validate(metrics=better, sizes=(2, 10), layouts="block", truth="whole", n_resamples=50, bins=(0, 9))
    scores = study.samples(metrics=better, sizes=10, layouts="block", n_resamples=50)
    results = {"validation by hand": hand(), "validation of a better system": found, "samples": scores}
    assert_told("pool", {name: render(each, "text", Layout(Terminal(100))) for name, each in results.items()})


def test_the_tables_of_all_tests_fit_a_page() -> None:
    found = study.agreement(metrics=RATINGS, n_resamples=19)
    lines = render(found, "text", Layout()).splitlines()[:-1]
    assert max(map(len, lines)) <= 100
    headers = [line for line in lines if line.startswith("Confidence %")]
    assert sum(line.count("signif. %") for line in headers) == len(found.plan["tests"])
    assert [test for line in headers for test in line.split() if test in found.plan["tests"]] == found.plan["tests"]


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


def test_the_matrix_of_agreement_has_every_two_columns() -> None:
    ax = draw_figure(agreed(), "agreement", alpha=0.1)
    rows = [row for row in agreed().tables["tests"] if row.alpha == 0.1]
    assert len(rows) == 8 * 7 // 2
    assert sorted(text.get_text() for text in ax.texts) == sorted(f"{100 * row.agreement:.0f}" for row in rows)
    assert [label.get_text().split("  ")[0] for label in ax.get_yticklabels()][:2] == ["BLEU, ar", "BLEU, bootstrap"]


# --- The command line
