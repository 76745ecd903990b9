"""Reports, figures and commands of ``validate``, ``samples`` and ``agreement``."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from counts import bleu_counts
from reshuffle import FromCounts, SegmentScores, StudyResult, read_json, study
from reshuffle.report import Layout, Terminal, render
from reshuffle.report.studies.agreement import pooled
from reshuffle.report.studies.plots import draw_figure
from reshuffle.report.studies.wording import band_name, gap_name
from reshuffle.results.studies import DomainBand
from reshuffle.study.validation import BANDS

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


def test_text_of_a_validation() -> None:
    text = render(hand(), "text", Layout(Terminal(100)))
    lines = [line.split() for line in text.splitlines()]
    assert lines[2] == ["Confidence", "%", "n=10†", "right", "%", "95%", "CI"]
    assert lines[4][:3] == ["100", "3", "66.7"]
    assert "x, paired-bootstrap: of the conclusions at 95% confidence, 66.7% of those from blocks† are right." in text
    assert ["0", "to", "0.5", "1", "50.0", "25.0"] in lines
    assert ["b", "a", "0.25", "50", "25"] in lines
    assert ["block", "10†", "4"] in [line[:3] for line in lines]
    assert "†: fewer than ten samples, too few for reliable shares." in text


def test_sentences_mark_sizes_with_few_samples_as_tables_do() -> None:
    """b is always better. The pool of 40 has 20 samples of 2, but 4 of 10."""
    better = SegmentScores("x", {"a": [0.0] * 40, "b": [1.0] * 40})
    found = study.validate(metrics=better, sizes=(2, 10), layouts="block", truth="whole", n_resamples=50, bins=(0, 9))
    text = " ".join(found.render("text").split())
    assert "at least 90% of samples of 2 where the difference is over 0 and of 10† where it is over 0 lead" in text
    assert "n=2 right % n=10† right % all n† right %" in text
    scores = study.samples(metrics=better, sizes=10, layouts="block", n_resamples=50).render("text")
    assert "x, blocks of 10†: 0 of 8 intervals" in " ".join(scores.split())


def test_bands_and_bins_have_names() -> None:
    named = [band_name(low, high) for low, high in zip(BANDS, (1.0, *BANDS), strict=False)]
    assert named == ["100", "99.9 to <100", "99 to <99.9", "95 to <99", "90 to <95", "80 to <90", "70 to <80",
                     "60 to <70", "50 to <60", "<50"]  # fmt: skip
    assert [gap_name(0, 0.5), gap_name(2.5, None)] == ["0 to 0.5", "over 2.5"]


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


def test_bands_of_several_parts_are_pooled() -> None:
    def band(pairs: int, wins: float | None, significant: float | None) -> DomainBand:
        return DomainBand("x", "ar", "1", "2", 0.05, 0.9, 0.95, pairs, wins, significant, None)

    assert pooled([band(3, 1.0, 1 / 3), band(1, 0.0, 0.0), band(0, None, None)]) == (4, (0.75, 0.25))
    assert pooled([band(0, None, None)]) == (0, (None, None))


# --- The command line


def texts(demo: Path) -> tuple[list[str], dict[str, list[str]]]:
    names = ("reference", "baseline", "tuned", "online")
    lines = {n: (demo / f"{n}.txt").read_text("utf-8").splitlines() for n in names if (demo / f"{n}.txt").exists()}
    return lines.pop("reference"), lines


def files(demo: Path) -> list[str]:
    return ["reference.txt", *(f"{name}.txt" for name in texts(demo)[1])]


@pytest.mark.parametrize(
    ("words", "arguments"),
    [
        (
            "validate --sizes 20 50 --layouts broad --tests paired-bootstrap,ar --truth whole --confidence 0.9"
            " --bins 0,1,2 --n-samples 8 -n 49 --seed 3",
            {
                "sizes": (20, 50), "layouts": "broad", "tests": ("paired-bootstrap", "ar"), "truth": "whole",
                "confidence_level": 0.9, "bins": (0, 1, 2), "n_samples": 8, "n_resamples": 49, "seed": 3,
            },
        ),
        ("validate --baseline tuned.txt --sizes 20 -n 9", {"baseline": "tuned", "sizes": 20, "n_resamples": 9}),
        (
            "samples --sizes 40 --curve-sizes 50 100 --interval percentile --all-pairs -n 49 --n-references 1",
            {
                "sizes": 40, "curve_sizes": (50, 100), "interval": "percentile", "all_pairs": True, "n_references": 1,
                "n_resamples": 49,
            },
        ),
        (
            "agreement --tests ar bootstrap --alphas 0.1 --domains domains.txt -n 49",
            {"tests": ("ar", "bootstrap"), "alphas": 0.1, "domains": ["talks", "news", "news"], "n_resamples": 49},
        ),
        ("agreement --halves block --tests ar -n 9", {"halves": "block", "tests": "ar", "n_resamples": 9}),
    ],
)  # fmt: skip
def test_commands_give_what_functions_give(run: Any, demo: Path, words: str, arguments: dict[str, Any]) -> None:
    references, systems = texts(demo)
    if "domains" in arguments:
        arguments = {**arguments, "domains": (arguments["domains"] * len(references))[: len(references)]}
        (demo / "domains.txt").write_text("\n".join(arguments["domains"]) + "\n", "utf-8")
    name, *options = words.split()
    outcome = run("study", name, *files(demo), *options, "--format", "json")
    assert (outcome.code, outcome.err) == (0, "")
    assert replace(read_json(outcome.out), inputs=()) == getattr(study, name)(references, systems, **arguments)


def test_figures_are_plotted_from_files(run: Any, demo: Path) -> None:
    assert run("study", "samples", *files(demo), "--sizes", "40", "-n", "49", "-o", "samples.json").code == 0
    where = ("--layout", "broad", "--system", next(iter(texts(demo)[1])))
    assert run("plot", "samples.json", "scores", *where, "-o", "scores.svg").code == 0
    wrong = run("plot", "samples.json", "scores", "--layout", "brood", "-o", "no.svg").refusal()
    assert "unknown layout 'brood'" in wrong
    wrong = run("plot", "samples.json", "scores", "--layout", "broad", "-o", "no.svg").refusal()
    assert "several values of system: choose one with --system" in wrong


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("validate", "--sizes", "5000"), "a sample of 5,000 segments is larger than the pool of 400"),
        (("validate", "--sizes", "400"), "or truth='whole' (--truth whole)"),
        (("validate", "--layouts", "brood"), "unknown layout 'brood'"),
        (("validate", "--truth", "half"), "unknown truth 'half'"),
        (("samples", "--n-references", "2"), "n_references has 2, but segments have at most 1 reference:"),
        (("agreement", "--alphas", "2"), "alphas must lie strictly between 0 and 1"),
        (("validate", "--strata", "reference.txt"), "--strata does not apply to 'reshuffle study"),
    ],
)
def test_bad_arguments_are_one_sentence(run: Any, demo: Path, words: tuple[str, ...], message: str) -> None:
    assert message in run("study", words[0], *files(demo), *words[1:]).refusal()
