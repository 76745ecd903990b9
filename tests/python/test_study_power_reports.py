"""Reports, figures and commands of studies of power and sensitivity, and of plans."""

from __future__ import annotations

from functools import cache, partial
from types import SimpleNamespace
from typing import Any

import numpy as np

from known import known
from reshuffle import SegmentScores, StudyResult, study
from reshuffle.report import Layout, Terminal, render
from reshuffle.report.studies import report_of
from reshuffle.report.studies.design import _range
from told import assert_told

SMALL: dict[str, Any] = {"simulations": 40, "n_resamples": 39}


@cache
def ratings() -> tuple[SegmentScores, SegmentScores]:
    rng = np.random.default_rng(6)
    quality = rng.normal([[0.0], [0.5], [0.4]], 1, (3, 120))
    return tuple(  # type: ignore[return-value]
        SegmentScores(name, dict(zip(("old", "new", "other"), quality + rng.normal(0, noise, (3, 120)), strict=True)))
        for name, noise in (("clear", 0.2), ("noisy", 2))
    )


def of_two(scores: SegmentScores) -> SegmentScores:
    """The scores of two of the systems."""
    counts = scores.segment_scores(scores.counts_of(("old", "new")))
    return SegmentScores(scores.name, dict(zip(("old", "new"), counts, strict=True)))


@cache
def pair() -> SegmentScores:
    return of_two(ratings()[0])


@cache
def made(name: str) -> StudyResult:
    """A small study."""
    if name == "power":
        return study.power(metrics=pair(), tests=("ar", "t-test"), sizes=(40, 80), effects=(0, 0.2, 0.5), **SMALL)
    if name == "models":
        return study.power(
            metrics=ratings(), models=("eta", "parametric"), effects=0.3, tests="ar", size_adjusted=True, **SMALL
        )
    if name == "without data":
        return study.parametric_power((0.5, 1.0), (100, 200), alphas=(0.01, 0.05), **SMALL)
    if name == "plan":
        return study.plan(metrics=pair(), difference={"clear": 0.25}, sizes=(60, 120), simulate=False)
    if name == "simulated plan":
        differences: dict[str, Any] = {"clear": [0.2, 0.3], "noisy": 0.1}
        return study.plan(metrics=ratings(), difference=differences, power=(0.8, 0.9), n_resamples=79, simulations=40)
    if name == "sensitivity":
        return study.sensitivity(
            metrics=list(map(of_two, ratings())), effects=(0, 0.2, 0.5), alphas=0.05, sizes=60, **SMALL
        )
    return study.sensitivity(metrics=ratings(), effects=0.3, tests="ar", sizes=(50, 100), all_pairs=True, **SMALL)


# With other options than test_every_study.py has. It writes, draws and reads them.
RESULTS = {name: partial(made, name) for name in ("models", "without data", "simulated plan", "variants")}


def test_texts_of_power_sensitivity_and_plans() -> None:
    names = ("power", "without data", "plan", "sensitivity")
    assert_told("power", {name: render(made(name), "text", Layout(Terminal(120))) for name in names})


def with_levels(n_resamples: int) -> StudyResult:
    """Power at levels that are made to hold, of which one replicate can reach none."""
    metric = SegmentScores("q", dict(zip("ab", np.random.default_rng(3).normal(size=(2, 60)).round(2), strict=True)))
    return study.power(
        metrics=metric, size_adjusted=True, alphas=0.3, tests="ar", simulations=60, n_resamples=n_resamples
    )


def test_what_other_results_say() -> None:
    same = {"a": ["x y", "z w v"] * 10, "b": ["x y", "z w v"] * 10}
    alike = study.sensitivity(["x y", "z w u"] * 10, same, ["bleu", "chrf"], tests="ar", simulations=5, n_resamples=19)
    for result, sentences in (
        (made("models"), ["at which the test rejects α of the test sets without a difference (size-adjusted)"]),
        (
            made("simulated plan"),
            [
                "each test at 0.025 (α = 0.05 over 2 tests)",
                "gives a z-test the simulated power of bootstrap-both, divided by the true effect",
            ],
        ),
        (made("variants"), ["new − old"]),
        (alike, ["No metric shows a difference."]),
        (with_levels(1), ["For 6 of 6 powers there is no level at which"]),
    ):
        text = " ".join(render(result, "text", Layout(Terminal(120))).split())
        assert [sentence for sentence in sentences if sentence not in text] == []
    assert "there is no level" not in " ".join(with_levels(99).render("text").split())
    assert min(rate.level for rate in with_levels(99).tables["power"]) > 0


def test_curves_show_the_records() -> None:
    axes = made("power").plot.power(size=80, alpha=0.05)
    (*_, last) = (line for line in axes.get_lines() if len(np.ravel(line.get_xdata())) == 3)
    records = [r for r in made("power").tables["power"] if (r.size, r.alpha) == (80, 0.05)]
    assert np.ravel(last.get_ydata()).tolist() == [r.rate for r in records if r.test == "t-test"]
    assert axes.get_xlabel() == "true difference (clear)"
    assert axes.get_ylabel() == "power at α = 0.05"
    assert made("power").plot.sizes(test="ar", alpha=0.05).get_xlabel() == "segments"
    by_size = made("plan").plot.detectable()
    assert by_size.get_ylabel() == "minimum detectable difference (clear)"
    by_metric = made("sensitivity").plot.sensitivity(test="ar")
    legend = known(by_metric.get_legend())
    assert [text.get_text() for text in legend.get_texts()] == ["clear", "noisy"]


def test_pages_leave_out_figures_of_one_point() -> None:
    figures = report_of("power").figures
    assert figures["sizes"].choices(made("models")) == []
    assert len(figures["sizes"].choices(made("power"))) == 2 * 3


def test_a_range_whose_ends_look_the_same_is_one_number() -> None:
    (shown,) = filter(None, [_range([SimpleNamespace(low=1.0, high=2.0)], lambda each, end: f"{end:.1f}")])
    assert [shown(SimpleNamespace(low=11.93, high=end)) for end in (11.94, 12.0)] == ["11.9", "11.9 to 12.0"]
