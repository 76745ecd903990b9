"""Reports, figures and commands of studies of power and sensitivity, and of plans."""

from __future__ import annotations

from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reshuffle import SegmentScores, StudyResult, compare, read_json, study
from reshuffle.report import Layout, Terminal, render
from reshuffle.report.studies import STUDIES
from reshuffle.report.studies.plots import choices

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
        return study.power(metrics=ratings(), models=("eta", "parametric"), effects=0.3, size_adjusted=True, **SMALL)
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
    return study.sensitivity(metrics=ratings(), effects=0.3, sizes=(50, 100), all_pairs=True, **SMALL)


# With other options than test_every_study.py has. It writes, draws and reads them.
RESULTS = {name: partial(made, name) for name in ("models", "without data", "simulated plan", "variants")}


def test_power_in_text() -> None:
    text = render(made("power"), "text", Layout(Terminal(100)))
    lines = text.splitlines()
    assert lines[0] == "Power in %: model eta, new − old, clear, 40 simulations"
    assert lines[2].split() == ["Test", "n", "η", "Δ", "α=0.01", "α=0.05", "α=0.1"]
    first = made("power").tables["power"][0]
    assert lines[4].split()[:6] == ["ar", "40", "0", "0.0000", f"{100 * first.rate:.1f}", "±4.4"]
    assert "significant differences are up to" in text
    adjusted = " ".join(render(made("models"), "text", Layout(Terminal(100))).split())
    assert "at which the test rejects α of the test sets without a difference (size-adjusted)" in adjusted
    assert "P₀ = 0.13, b₀ = 25.8 (Card et al. 2020)." in str(made("without data"))


def test_plans_in_text() -> None:
    text = render(made("plan"), "text", Layout(Terminal(100)))
    planned = made("plan").tables
    (needed, _) = planned["needed"]
    assert f"To detect a difference of 0.25 clear with 80% power, a test set needs {needed.size} segments." in text
    (at_hand,) = [d for d in planned["detectable"] if (d.size, d.method) == (120, "normal")]
    assert f"With 80% power, 120 segments detect a difference of at least {at_hand.difference:.4f} clear." in text
    several = " ".join(render(made("simulated plan"), "text", Layout(Terminal(100))).split())
    assert "each test at 0.025 (α = 0.05 over 2 tests)" in several
    assert "gives a z-test the simulated power of bootstrap-both, divided by the true effect" in several
    assert "Not simulated: this is the power of a z-test" in text
    (compared,) = compare(metrics=pair(), n_resamples=99).detectable
    assert compared.difference == at_hand.difference


def test_tables_of_the_paper_in_text() -> None:
    text = render(made("sensitivity"), "text", Layout(Terminal(120)))
    lines = text.splitlines()
    header = ["Metric", "old", "(SE)", "new", "(SE)", "Δ", "(SE)", "p,", "ar", "p,", "bootstrap", "Δ/SE"]
    assert lines[2].split() == header
    assert (lines[4].split()[0], lines[4][-3:]) == ("clear", "(1)")
    assert "clear shows the difference most clearly." in text
    contrast = next(c for c in made("sensitivity").tables["contrasts"] if c.effect == 0.5)
    assert f"{100 * contrast.difference:+.1f}" in text.split("Difference in power")[1]
    assert "new − old" in render(made("variants"), "text", Layout(Terminal(120)))


def test_identical_systems_have_no_clearest_metric() -> None:
    same = {"a": ["x y", "z w v"] * 10, "b": ["x y", "z w v"] * 10}
    found = study.sensitivity(["x y", "z w u"] * 10, same, ["bleu", "chrf"], simulations=5, n_resamples=19)
    assert "No metric shows a difference." in found.render("text")


def test_power_without_a_level_is_explained() -> None:
    scores = np.random.default_rng(3).normal(size=(2, 60)).round(2)
    metric = SegmentScores("q", dict(zip("ab", scores, strict=True)))
    shown = {
        few: study.power(metrics=metric, size_adjusted=True, alphas=0.3, tests="ar", simulations=60, n_resamples=n)
        for few, n in (("few", 1), ("many", 99))
    }
    assert [rate.level for rate in shown["few"].tables["power"]] == [0.0] * 6
    assert "For 6 of 6 powers there is no level at which" in " ".join(shown["few"].render("text").split())
    assert min(rate.level for rate in shown["many"].tables["power"]) > 0
    assert "there is no level" not in " ".join(shown["many"].render("text").split())


# Figures.


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
    legend = by_metric.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["clear", "noisy"]


def test_pages_leave_out_figures_of_one_point() -> None:
    figures = STUDIES["power"].figures
    assert choices(made("models"), figures["sizes"]) == []
    assert len(choices(made("power"), figures["sizes"])) == 2 * 3


# Commands.

FILES = ("reference.txt", "baseline.txt", "tuned.txt")
NUMBERS = ("--simulations", "15", "-n", "19", "--seed", "7", "--workers", "1", "--format", "json")


def texts(demo: Path) -> tuple[list[str], dict[str, list[str]]]:
    references, *outputs = ((demo / name).read_text("utf-8").splitlines() for name in FILES)
    return references, dict(zip(("baseline", "tuned"), outputs, strict=True))


def given_by(run: Any, *words: str) -> StudyResult:
    outcome = run(*words)
    assert (outcome.code, outcome.err) == (0, "")
    result = read_json(outcome.out)
    assert isinstance(result, StudyResult)
    return result


def test_study_power_gives_what_the_function_gives(run: Any, demo: Path) -> None:
    options = ("--models", "eta", "real", "--effects", "0,0.2", "--size-adjusted", "--tests", "ar", "--sizes", "50")
    found = given_by(run, "study", "power", *FILES, *options, "-m", "bleu", "chrf", *NUMBERS)
    assert replace(found, inputs=()) == study.power(
        *texts(demo), ["bleu", "chrf"], models=["eta", "real"], effects=[0, 0.2], size_adjusted=True, tests="ar",
        sizes=50, simulations=15, n_resamples=19, seed=7,
    )  # fmt: skip


def test_study_power_without_files(run: Any) -> None:
    options = ("--models", "parametric", "--difference", "0.5", "1", "--sizes", "100", "--alpha", "0.05")
    found = given_by(run, "study", "power", *options, "--b-zero", "20", *NUMBERS)
    assert found == study.parametric_power(
        (0.5, 1.0), 100, b_zero=20.0, alphas=0.05, simulations=15, n_resamples=19, seed=7
    )
    default = given_by(run, "study", "power", "--models", "parametric", *NUMBERS)
    assert default.plan["sizes"] == [2000]
    assert default.plan["difference"] == [1.0]


def test_study_sensitivity_gives_what_the_function_gives(run: Any, demo: Path) -> None:
    options = ("--effects", "0", "0.5", "--sizes", "60", "--not-adjusted")
    found = given_by(run, "study", "sensitivity", *FILES, *options, *NUMBERS)
    assert replace(found, inputs=()) == study.sensitivity(
        *texts(demo), effects=[0, 0.5], sizes=60, size_adjusted=False, simulations=15, n_resamples=19, seed=7
    )
    assert [m.name for m in found.metrics] == ["BLEU", "NIST"]


def test_plan_gives_what_the_function_gives(run: Any, demo: Path) -> None:
    options = ("--difference", "bleu=1", "chrf2=0.5", "BLEU=2", "--power", "0.8,0.9", "--sizes", "100", "400")
    found = given_by(run, "plan", *FILES, *options, "-m", "bleu", "chrf", "--no-simulate", "--format", "json")
    expected = {"difference": {"bleu": [1.0, 2.0], "chrF2": 0.5}, "power": [0.8, 0.9], "sizes": [100, 400]}
    assert replace(found, inputs=()) == study.plan(*texts(demo), ["bleu", "chrf"], simulate=False, **expected)  # type: ignore[arg-type]
    simulated = given_by(run, "plan", *FILES, "--difference", "bleu=1", "--tests", "ar", *NUMBERS)
    assert replace(simulated, inputs=()) == study.plan(
        *texts(demo), difference={"bleu": 1.0}, tests="ar", simulations=15, n_resamples=19, seed=7
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("study power TEXTS --effects 0.7", "--effects must be a number from 0 to 0.5, got 0.7"),
        ("study power TEXTS --models reel", "unknown model 'reel': did you mean 'real'?"),
        ("study power TEXTS --difference 1", "--difference is for --models parametric without REF and SYS"),
        ("study power TEXTS --b-zero 1", "--b-zero is for --models parametric without REF and SYS"),
        ("study power", "no reference and no systems: add REF and SYS"),
        ("study power --models parametric -m bleu", "-m needs texts or scores: add REF and SYS"),
        ("study power --models parametric --all-pairs", "--all-pairs needs texts or scores"),
        ("study power --models parametric --tests t-test", "is for the test ar only"),
        ("study power --models parametric --p-zero 1", "p_zero must be at least 0 and below 1"),
        ("study power TEXTS --sizes 5000", "has only 400"),
        ("study sensitivity TEXTS -m bleu", "only one metric (BLEU)"),
        ("plan TEXTS --difference bleu", "--difference must be a metric and a number"),
        ("plan TEXTS --difference bleu=-1", "in points of BLEU must be a number of at least 0, got -1.0"),
        ("plan TEXTS -m bleu chrf --difference 2", "with --difference (such as BLEU=0.5)"),
        ("plan TEXTS --difference blue=1", "unknown metric 'blue': did you mean 'BLEU'?"),
        ("plan TEXTS --alpha 5", "alpha must lie strictly between 0 and 1"),
        ("plan TEXTS --no-simulate --tests ar", "--tests is for simulated tests: leave it out, or --no-s"),
        ("plan TEXTS --no-simulate -n 99", "-n is for simulated tests"),
        ("plan reference.txt tuned.txt", "expected at least two systems after REF"),
    ],
)
@pytest.mark.usefixtures("demo")
def test_bad_arguments_are_one_sentence(run: Any, words: str, message: str) -> None:
    simulated = ["--simulations", "5", "-n", "9"] if words.startswith("study") else []
    assert message in run(*words.replace("TEXTS", " ".join(FILES)).split(), *simulated).refusal()
