"""Reports of comparisons of runs: every format, sentences, figures, and saved results."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from reshuffle import InputError, SegmentScores, compare, compare_runs, read_html, read_json
from reshuffle.report import Layout, Terminal, render
from reshuffle.report.cells import Table
from reshuffle.report.plots import file_of
from reshuffle.report.studies import STUDIES
from reshuffle.report.studies.plots import choices
from reshuffle.report.studies.run_sentences import answers, conclusions, notes, variance_test
from reshuffle.report.wording import MAX_NAMED, spelled
from reshuffle.results import ConfidenceInterval, UsedMetric
from reshuffle.results.studies import ObservedDifference, RunComparison, RunDifference, RunScores, SystemRuns
from reshuffle.results.studies.runs import RunPlan, runs_needed, smallest_of_splits
from schemas import validator
from tex import compiled_all

# The scores of MultEval's example, and s_sel from 20,000 draws in numpy.
BLEU = {"baseline": (18.538889, 18.464451, 18.577084), "sys1": (18.986909, 18.474014, 18.979487)}
TER = {"baseline": (65.519164, 65.890337, 65.560582), "sys1": (64.177844, 65.339153, 64.932934)}
S_SEL = {"BLEU": {"baseline": 0.2629, "sys1": 0.2620}, "TER": {"baseline": 0.3687, "sys1": 0.3641}}
P = {
    "BLEU": {"hierarchical": 0.2574, "run": 0.3, "segment": 0.0102, "pooled": 0.0001},
    "TER": {"hierarchical": 0.1139, "run": 0.1, "segment": 0.0001, "pooled": 0.0001},
}
NULLS = {
    "hierarchical": "new runs of both systems, on new segments, would have the same expected score",
    "run": "it does not matter which system a run belongs to",
    "segment": "for each segment, the outputs of one system could as well be the other's",
    "pooled": "for each segment, it does not matter which run of which system an output comes from",
}
REASON = (
    "it asks whether new runs on new segments would differ, with any number of runs, and takes both runs and segments "
    "into account"
)

QUESTIONS = {
    "hierarchical": "would new runs on new segments differ?",
    "run": "would new runs differ on these segments?",
    "segment": "would the outputs of these runs differ on new segments?",
    "pooled": "would the outputs of these runs differ on new segments?",
}


def scored(runs: Sequence[float], s_sel: float = 0.3, dev: Sequence[float] = ()) -> RunScores:
    """The record of some scores. The split of the variance is made up."""
    several = len(runs) > 1
    return RunScores(
        runs=tuple(runs),
        mean=float(np.mean(runs)),
        minimum=min(runs),
        maximum=max(runs),
        pooled=float(np.mean(runs)) + 0.001,
        s_test=float(np.std(runs, ddof=1)) if several else None,
        s_sel=s_sel,
        s_dev=float(np.std(dev, ddof=1)) if len(dev) > 1 else None,
        dev_runs=tuple(dev),
        median_run=int(np.argsort(runs, kind="stable")[(len(runs) - 1) // 2]),
        between_runs=0.02 if several else None,
        between_segments=0.06 if several else None,
        interaction=0.02 if several else None,
        effective_test_sets=1.4 if several else None,
    )


def difference_of(metric: str, exchange: str, difference: float, p: float, **changes: Any) -> RunDifference:
    """The record of a test of sys1 against the baseline, with 10,000 replicates or all 20 splits."""
    exact = exchange == "run"
    found = RunDifference(
        baseline="baseline",
        system="sys1",
        metric=metric,
        exchange=exchange,
        statistic="pooled",
        difference=difference,
        pvalue=p,
        adjusted_pvalue=None,
        smallest_pvalue=0.1 if exact else 1 / 10_001,
        runs_needed=4 if exact else None,
        exceedances=round(p * 20) if exact else round(p * 10_001) - 1,
        n_resamples=20 if exact else 10_000,
        exact=exact,
        degrees_of_freedom=3.8 if exchange == "hierarchical" else None,
        confidence_interval=ConfidenceInterval(difference - 0.54, difference + 0.55, 0.95, "hierarchical"),
    )
    return replace(found, **changes)


def made(
    exchange: Sequence[str] = ("hierarchical", "segment", "pooled"),
    scores: Mapping[str, Mapping[str, RunScores]] | None = None,
    differences: Mapping[str, float] | None = None,
    pvalues: Mapping[str, Mapping[str, float]] = P,
    plan: Mapping[str, Any] | None = None,
) -> RunComparison:
    """MultEval's example with chosen numbers. ``scores`` are by system and metric."""
    if scores is None:
        of_metric = {"BLEU": BLEU, "TER": TER}
        scores = {
            name: {metric: scored(of_metric[metric][name], S_SEL[metric][name]) for metric in of_metric}
            for name in BLEU
        }
    first = next(iter(scores.values()))
    baseline, *others = scores
    if differences is None:
        differences = {m: scores["sys1"][m].mean - first[m].mean for m in first} if others else {}
    observed = [
        ObservedDifference("baseline", "sys1", metric, n, d, 0.2 / n, d - 0.5, d + 0.5, d - 0.4, d + 0.4, 0.3 / n, 999)
        for metric, d in differences.items()
        for n in (1, 2, 3)
    ]
    settings: dict[str, Any] = {
        "systems": {name: len(own[next(iter(first))].runs) for name, own in scores.items()},
        "baseline": baseline,
        "all_pairs": False,
        "exchange": list(exchange) if others else [],
        "exchange_requested": "auto",
        "exchange_reason": REASON if others else None,
        "questions": {name: QUESTIONS[name] for name in (exchange if others else ())},
        "left_out": {},
        "statistic": "pooled",
        "alternative": "two-sided",
        "adjust": "auto",
        "adjustments": dict.fromkeys(exchange, "none"),
        "family": "metric",
        "alpha": 0.05,
        "confidence_level": 0.95,
        "median_on": "test",
        "median_metric": next(iter(first)),
        "median_runs": {name: own[next(iter(first))].median_run for name, own in scores.items()},
        "duplicates": [],
        "unit": "segment",
        "segments": 2489,
        "units": 2489,
        "strata": None,
        "n_resamples": 10_000,
        "seed": 12345,
    }
    comparisons = tuple(
        difference_of(m, unit, d, pvalues[m][unit]) for m, d in differences.items() for unit in exchange
    )
    return RunComparison(
        study="runs",
        plan=RunPlan(**{**settings, **(plan or {})}),
        metrics=tuple(UsedMetric(name, f"{name}|nrefs:1", name == "BLEU", None, "P02-1040") for name in first),
        tables={
            "systems": tuple(
                SystemRuns(name, tuple(f"{name}/opt{i}.txt" for i in range(len(own["BLEU"].runs))), dict(own))
                for name, own in scores.items()
            ),
            "comparisons": comparisons,
            "observed": tuple(observed),
        },
        truths={name: NULLS[name] for name in settings["exchange"]},
        signature="study:runs|exchange:hierarchical,segment,pooled|version:reshuffle-0",
        version="0",
    )


@cache
def computed(n_runs: tuple[int, ...] = (5, 5, 4), **options: Any) -> RunComparison:
    """A comparison of simulated ratings."""
    rng = np.random.default_rng(4)
    names = ["old", "new", "other & long_name of a system"][: len(n_runs)]
    segments = rng.normal(0, 1, 60)
    ratings = {
        f"{name}#{run}": segments + shift + rng.normal(0, 0.05) + rng.normal(0, 0.6, 60)
        for name, shift, n in zip(names, (0.0, 0.6, 0.1), n_runs, strict=False)
        for run in range(n)
    }
    systems: Any = dict(zip(names, n_runs, strict=True))
    return compare_runs(None, systems, SegmentScores("rating", ratings), **{"n_resamples": 499, **options})


def with_dev() -> RunComparison:
    dev = {"baseline": (20.1, 20.3, 20.2), "sys1": (20.5, 20.52, 20.51)}
    return made(scores={name: {"BLEU": scored(BLEU[name], 0.26, dev[name])} for name in BLEU})


ONE = {"baseline": 18.0, "sys1": 19.0}
RESULTS: Mapping[str, Callable[[], RunComparison]] = {
    "example": made,
    "run decides": lambda: made(("run", "hierarchical", "pooled")),
    "development set": with_dev,
    "one system": lambda: made(scores={"baseline": {"BLEU": scored(BLEU["baseline"])}}),
    "one run": lambda: made(("segment", "pooled"), {name: {"BLEU": scored([x])} for name, x in ONE.items()}),
    "computed": computed,
    "all pairs": lambda: computed(all_pairs=True, exchange="all"),
    "many runs": lambda: computed((50, 50), exchange=("run", "segment")),
}


# --- Text


def test_text_shows_scores_then_what_was_found_then_tests() -> None:
    lines = render(made(), "text", Layout(Terminal(80), full=True)).splitlines()
    expected = [
        "Scores of 3 runs of each system: 2,489 segments",
        "BLEU ↑  baseline  18.53   0.26    0.06  18.46 to 18.58           0",
        "TER ↓   baseline  65.66   0.37    0.20  65.52 to 65.89           2",
        "By the hierarchical bootstrap, sys1 is not significantly different from baseline",
        "under BLEU and TER.",
        "Whole runs are not exchanged, because p could not fall below 0.1 with 3 runs",
        "each; with 4, below 0.0286, and with 5, below 0.0079.",
        "Large s_sel: sys1 − baseline under BLEU (0.26, difference 0.29). Clark et al.",
        "Differences from baseline: would new runs on new segments differ? (p by the",
        "BLEU ↑  sys1    +0.29  -0.25 to +0.84  0.2574",
        "The same differences: p by other tests",
        "TER ↓   sys1        0.0001     0.0001",
    ]
    assert [line for line in lines if line in expected] == expected


def test_limits_are_told_of_the_test_that_decides_first() -> None:
    result = made(("hierarchical", "run"))
    kinds = {"hierarchical": ("skewed-runs",), "run": ("unequal-spreads", "skewed-runs")}
    limited = tuple(replace(each, caveats=kinds[each.exchange]) for each in result.comparisons)
    result = replace(result, tables={**result.tables, "comparisons": limited})
    (sentence,) = (sentence for sentence in conclusions(result) if sentence.startswith("Limit"))
    start = "Limitation of hierarchical: if the scores of runs are skewed, it rejects too often (up to ."
    assert sentence.startswith(start)
    beside = [sentence for sentence in notes(result) if sentence.startswith("Limit")]
    assert [sentence.split(": ")[0] for sentence in beside] == ["Limitation of run"] * 2
    one = tuple(replace(each, caveats=each.caveats if each.metric == "TER" else ()) for each in limited)
    (sentence,) = found(replace(result, tables={**result.tables, "comparisons": one}), "Limitation of hierarchical")
    assert sentence.startswith("Limitation of hierarchical, sys1 − baseline under TER: if")
    for fmt in ("text", "markdown", "latex", "typst", "html"):
        assert "if the scores of runs are skewed" in " ".join(re.sub("[%/]{1,2} ", "", result.render(fmt)).split()), fmt


def test_only_the_unit_that_decides_has_stars() -> None:
    low = {"BLEU": dict.fromkeys(NULLS, 0.01), "TER": dict.fromkeys(NULLS, 0.2)}
    text = made(pvalues=low).render("text", full=True)
    assert text.count("0.0100*") == 1
    assert "*: p ≤ 0.05 by the hierarchical bootstrap" in text
    beside = {"BLEU": {**P["BLEU"], "segment": 0.01}, "TER": P["TER"]}
    assert "*" not in made(pvalues=beside).render("text", full=True)


def test_tests_that_cannot_reach_alpha_are_marked() -> None:
    result = made(("run", "segment"), plan={"exchange_requested": ["run", "segment"]})
    text = result.render("text", full=True)
    assert "0.3000†‡" in text
    assert "†: exact p. ‡: no outputs could give p ≤ 0.05." in text
    sentence = "run: with 3 runs each, p cannot fall below 0.1; with 4, below 0.0286, "
    assert found(result, f"{sentence}and with 5, below 0.0079.")
    reaching = tuple(replace(each, smallest_pvalue=0.02) for each in result.comparisons)
    enough = replace(result, tables={**result.tables, "comparisons": reaching})
    assert "cannot fall below" not in " ".join(conclusions(enough))
    assert "‡" not in enough.render("text", full=True)


def test_other_limits_of_p_have_other_advice() -> None:
    for exact, expected in (
        (True, "segment: p ≥ 0.25: all exchanges are counted, because the outputs differ in so few segments."),
        (False, "segment: p ≥ 0.25: use more replicates (n_resamples)."),
    ):
        result = made(("segment",))
        limited = tuple(replace(each, smallest_pvalue=0.25, exact=exact) for each in result.comparisons)
        assert found(replace(result, tables={**result.tables, "comparisons": limited}), "segment:") == [expected]
    assert not found(made(("segment",)), "segment:")


@pytest.mark.parametrize("fmt", ["text", "markdown", "latex", "typst", "html"])
def test_every_format_names_options_in_one_language(fmt: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reshuffle.report.studies.page.find_spec", lambda name: None)  # no figures, which take long
    result = made(("segment",))
    limited = tuple(replace(each, smallest_pvalue=0.25, exact=False) for each in result.comparisons)
    for command, option in ((None, "n_resamples"), ("reshuffle runs", "-n")):
        shown = replace(result, tables={**result.tables, "comparisons": limited})
        report = " ".join(render(shown, fmt, Layout(command=command)).replace("\\_", "_").split())
        assert f"use more replicates ({option})" in report


def test_adjusted_p_is_shown_where_there_is_one() -> None:
    result = made()
    adjusted = tuple(replace(each, adjusted_pvalue=0.4567) for each in result.comparisons)
    tables = {**result.tables, "comparisons": adjusted}
    shown = replace(result, tables=tables, plan=replace(result.plan, adjustments={"hierarchical": "maxt"}))
    text = render(shown, "text", Layout(Terminal(200), full=True))
    assert "would new runs on new segments differ? (adjusted p by the hierarchical bootstrap)" in text
    assert text.count("0.4567") == 6
    assert "p adjusted by step-down maxT (Westfall & Young 1993) over the pairs under each metric." in text
    assert "adjusted" not in made().render("text", full=True)


def test_an_undefined_deviation_is_no_zero() -> None:
    text = RESULTS["one run"]().render("text", full=True)
    assert re.search(r"BLEU ↑ +baseline +18.00 +0.30 +– +– +0$", text, re.M)
    assert "With one run, s_test is undefined." in text
    tiny = made(scores={"baseline": {"BLEU": scored([30.0, 30.001], 0.001)}}).render("text", full=True)
    assert re.search(r"baseline +30.00 +<0.01 +<0.01 ", tiny)


# --- Sentences: they appear exactly when the numbers say so


def found(result: RunComparison, start: str) -> list[str]:
    sentences = (spelled(sentence, for_command=False) for sentence in conclusions(result))
    return [sentence for sentence in sentences if sentence.startswith(start)]


def of_bleu(dev: Mapping[str, Sequence[float]], s_sel: float = 0.01, test: Any = BLEU, **options: Any) -> RunComparison:
    return made(scores={name: {"BLEU": scored(test[name], s_sel, dev[name])} for name in BLEU}, **options)


def test_high_s_dev_is_half_of_the_smallest_difference() -> None:
    dev = {"baseline": (20.0, 20.2), "sys1": (20.0, 20.02)}  # standard deviations of .1414 and .0141
    test = {"baseline": (18.0, 18.0), "sys1": (19.0, 19.0)}
    for difference, expected in ((0.28, True), (0.29, False)):
        sentences = found(of_bleu(dev, test=test, differences={"BLEU": difference}), "High s_dev")
        assert bool(sentences) is expected
    high = "High s_dev: baseline under BLEU (0.14, difference 0.28). The optimizer may end in different local optima"
    assert found(of_bleu(dev, test=test, differences={"BLEU": 0.28}), high)
    assert not found(made(), "High s_dev")
    alone = {"baseline": {"BLEU": scored([18.0, 18.1], 0.2, dev["baseline"])}}
    assert found(made(scores=alone), "High s_dev: baseline under BLEU (0.14, s_sel 0.20)")


def test_overfitting_is_told_from_chance() -> None:
    equal = {"baseline": (20.0, 20.01, 20.02), "sys1": (20.5, 20.52, 20.51)}
    p = variance_test(equal["sys1"], BLEU["sys1"])
    assert p is not None
    assert p < 0.05
    (sure, unsure) = found(of_bleu(equal), "s_test > s_dev")
    cases = f"sys1 under BLEU (0.29 > 0.01, p = {p:.2g})"
    assert sure == f"s_test > s_dev: {cases}. This points to overfitting of the tuning set (p: Pitman–Morgan test)."
    assert "baseline under BLEU (0.06 > 0.01, p = " in unsure
    assert "also chance" in unsure
    larger = {name: [2 * x for x in runs] for name, runs in BLEU.items()}
    assert found(of_bleu(larger), "s_test > s_dev") == []
    assert found(made(), "s_test > s_dev") == []


SCORES = st.lists(st.integers(-1000, 1000), min_size=3, max_size=8)


@given(st.data())
def test_variances_are_compared_by_the_correlation_of_sums_and_differences(data: st.DataObject) -> None:
    x = data.draw(SCORES)
    y = data.draw(st.lists(st.integers(-1000, 1000), min_size=len(x), max_size=len(x)))
    p = variance_test(x, y)
    total, difference = np.add(x, y), np.subtract(x, y)
    if np.ptp(total) == 0 or np.ptp(difference) == 0:
        assert p is None
        return
    expected = scipy.stats.pearsonr(total, difference).pvalue
    assert p == pytest.approx(expected, abs=1e-6)
    assert p == pytest.approx(variance_test(y, x), abs=1e-9)


def test_variances_of_two_runs_cannot_be_compared() -> None:
    assert variance_test([1, 2], [3, 5]) is None
    assert variance_test([1, 2, 3], [1, 2, 3]) is None


def test_more_runs_are_recommended_where_s_sel_is_large_and_nothing_was_shown() -> None:
    dev: dict[str, tuple[float, ...]] = {"baseline": (), "sys1": ()}
    unsure, sure = ({"BLEU": dict.fromkeys(NULLS, p)} for p in (0.2, 0.01))
    for s_sel, pvalues, expected in ((0.2, unsure, True), (0.1, unsure, False), (0.2, sure, False)):
        result = of_bleu(dev, s_sel, differences={"BLEU": 0.3}, pvalues=pvalues)
        assert bool(found(result, "Large s_sel: sys1 − baseline under BLEU (0.20, difference 0.30)")) is expected
        assert bool(found(result, "Large s_sel")) is expected


def test_fewer_than_three_runs_are_warned_of() -> None:
    assert not found(made(), "Warning")
    alone = RESULTS["one run"]()
    (one,) = found(alone, "Warning: baseline and sys1 have 1 run each; Clark et al. 2011 recommend at least 3")
    assert one.endswith("With one run, s_test is undefined.")
    two = made(scores={"baseline": {"BLEU": scored([18.0, 18.2])}, "sys1": {"BLEU": scored([18.0, 18.4, 18.3])}})
    (warning,) = found(two, "Warning")
    assert warning.startswith("Warning: baseline has 2 runs; ")
    assert "undefined" not in warning


def test_duplicates_are_warned_of_and_identical_systems_are_named() -> None:
    copies = [["sys1", 1, "sys1", 0], ["sys1", 2, "baseline", 1]]
    assert found(made(plan={"duplicates": copies}), "Warning") == [
        "Warning: runs 0 and 1 of sys1 and run 2 of sys1 and run 1 of baseline have the same bytes: p counts "
        "copies as further runs, so it is too small."
    ]
    same = [["sys1", run, "baseline", run] for run in range(3)]
    identical: dict[str, Any] = {
        "pvalues": {metric: dict.fromkeys(NULLS, 1.0) for metric in P}, "differences": {"BLEU": 0.0, "TER": 0.0}
    }  # fmt: skip
    result = made(plan={"duplicates": same}, **identical)
    assert not found(result, "Warning")
    (sentence,) = found(result, "sys1 and baseline are identical")
    assert sentence.endswith("byte for byte: p = 1.")
    within = [same[0], same[2], ["baseline", 1, "baseline", 0], ["sys1", 1, "baseline", 0]]
    both = made(plan={"duplicates": within}, **identical)
    assert len(found(both, "sys1 and baseline are identical")) == 1
    assert found(both, "Warning: runs 0 and 1 of baseline have the same bytes")


def test_many_cases_are_counted() -> None:
    copies = [["sys1", run, "sys1", 0] for run in range(1, MAX_NAMED + 3)]
    (warning,) = found(made(plan={"duplicates": copies}), "Warning")
    assert "and 2 more have the same bytes" in warning


def test_median_runs_that_differ_between_metrics_are_named() -> None:
    assert found(made(), "For manual analysis: the median runs by BLEU on the test set are run 0 of baseline and run 2")
    assert found(made(), "Other metrics choose other median runs: TER (run 2 of baseline).")
    by_ter = made(plan={"median_metric": "TER", "median_on": "dev"})
    assert found(by_ter, "For manual analysis: the median runs by TER on the development set are run 2 of baseline and")
    assert not found(with_dev(), "Other metrics")
    assert not found(RESULTS["one run"](), "For manual")


def test_the_answer_follows_the_direction_of_the_metric() -> None:
    low = {metric: dict.fromkeys(NULLS, 0.01) for metric in P}
    worse = {"BLEU": -0.3, "TER": -0.8}
    for differences, expected in (
        ({"BLEU": 0.3, "TER": -0.8}, "sys1 is better than baseline under BLEU and TER."),
        (worse, "under BLEU, sys1 is worse than baseline; under TER, sys1 is better than baseline."),
    ):
        result = made(differences=differences, pvalues=low)
        assert next(conclusions(result)) == f"By the hierarchical bootstrap, {expected}"
        for shown in (STUDIES["runs"].tables, STUDIES["runs"].paper):
            assert shown is not None
            (table,) = (table for table in shown(result) if "Δ" in table.header)
            bold = {row[0][:-2] for row, flags in zip(table.rows, table.bold, strict=True) if any(flags)}
            assert bold == ({"BLEU", "TER"} if differences["BLEU"] > 0 else {"TER"})
            assert table.key == "Bold: significantly better than baseline, by the hierarchical bootstrap."


@pytest.mark.parametrize("name", RESULTS)
def test_a_terminal_shows_the_answer_and_where_the_rest_is(name: str) -> None:
    result = RESULTS[name]()
    text, full = result.render(), result.render("text", full=True)
    lines = " ".join(text.split())
    assert len(text) < len(full)
    assert "render(full=True) and all other formats also show" in lines
    assert "--full and all other formats also show" in " ".join(render(result, "text", Layout(command="x")).split())
    for sentence in answers(result):
        assert spelled(sentence, for_command=False) in lines
    assert len(re.findall(r"^\| ---", result.render("markdown"), re.M)) == len([*STUDIES["runs"].tables(result)])


def test_a_terminal_shows_two_metrics_of_two_systems_in_25_lines() -> None:
    text = render(made(), "text", Layout(Terminal(100)))
    assert len(text.splitlines()) <= 25
    assert "Median" not in text


def test_notes_have_the_nulls_the_reason_and_what_was_left_out() -> None:
    result = made(plan={"left_out": {"cell": "needs as many runs of one system as of the other: choose another unit"}})
    text = " ".join(result.render("text", full=True).split())
    for name in result.plan["exchange"]:
        assert f"{name}: {NULLS[name]}" in text
    assert f"Why hierarchical decides: {REASON.replace('<=', '≤')}." in text
    assert "cell is left out: it needs as many runs of one system as of the other." in text
    assert "left out" not in made().render("text", full=True)


def test_replicates_and_adjustments_are_named_by_unit() -> None:
    (sentence,) = [note for note in notes(made(("run", "segment"))) if note.startswith("Tests:")]
    assert sentence == "Tests: two-sided; run: all 20 exchanges; segment: 10,000 replicates."
    of_three = computed((3, 4, 3), exchange=("segment", "run"))
    (sentence,) = [note for note in notes(of_three) if note.startswith("Tests:")]
    assert "; run: all 20 to 35 exchanges; p adjusted by step-down maxT" in sentence
    assert sentence.endswith("(segment) and Holm 1979 (run) over the pairs under each metric.")


def test_documents_are_called_so() -> None:
    result = made(("segment", "pooled"), plan={"unit": "document", "units": 100})
    text = " ".join(result.render("text", full=True).split())
    assert "By exchanging documents (for these runs only)" in text
    assert "Runs Documents Run × document Effective test sets" in text


def test_long_tables_of_other_experiments_are_only_data() -> None:
    result = made()
    (first, *_), names = result.observed, [f"s{i}" for i in range(13)]
    many = tuple(replace(first, system=name, n_runs=n) for name in names for n in (1, 2))
    longer = replace(result, tables={**result.tables, "observed": many}).render("text", full=True)
    usual = result.render("text", full=True)
    assert ["Central 95%" in text for text in (longer, usual)] == [False, True]
    assert ["--table observed" in text for text in (longer, usual)] == [True, False]


@pytest.mark.parametrize("alternative", ["two-sided", "greater"])
def test_the_runs_that_are_enough_are_those_of_the_test(alternative: str) -> None:
    for alpha in (0.05, 0.01, 0.001):
        needed = runs_needed(alpha, alternative)
        result = made(plan={"alpha": alpha, "alternative": alternative})
        (sentence,) = found(result, "Whole runs are not") or [""]
        reached = smallest_of_splits(3, 3, alternative) <= alpha
        assert (sentence == "") is reached
        assert reached or f"; with {needed}, below" in sentence


# --- Formats


def test_the_latex_table_has_scores_and_tests_and_the_nulls_in_the_caption() -> None:
    latex = made().render("latex")
    assert latex.startswith("% needs \\usepackage{booktabs}, \\usepackage{graphicx} and \\usepackage{multirow}\n")
    header = r"Metric & System & Avg & $s_{\mathrm{sel}}$ & $s_{\mathrm{test}}$ & $\Delta$ & 95\% CI & "
    assert header + r"$p$ \\" in latex
    assert r"\multirow{2}{*}{BLEU $\uparrow$} & baseline & 18.53 & 0.26 & 0.06 & -- & -- & -- \\" in latex
    assert r" & sys1 & 18.81 & 0.26 & 0.29 & +0.29 & $-$0.25 to +0.84 & 0.2574 \\" in latex
    assert r"Metric & System & $p$, segment & $p$, pooled \\" in latex
    assert r"\multirow{2}{*}{TER $\downarrow$}" in latex
    captions = re.findall(r"\\caption\{(.*)\}\\label", latex)
    for name, at in (("hierarchical", 0), ("segment", 1), ("pooled", 1)):
        assert [f"Null hypothesis of {name}: {NULLS[name]}." in each for each in captions[:2]] == [at == 0, at == 1]
    assert "s\\_sel" not in captions[0]
    assert r"$s_{\mathrm{dev}}$" in with_dev().render("latex")


def test_latex_compiles(tmp_path: Path) -> None:
    compiled_all(tmp_path, [make().render("latex") for make in RESULTS.values()])


def test_typst_compiles(tmp_path: Path) -> None:
    typst: Any = pytest.importorskip("typst", reason="typst is not installed")
    for number, make in enumerate(RESULTS.values()):
        (tmp_path / f"{number}.typ").write_text(make().render("typst"), "utf-8")
        assert typst.compile(str(tmp_path / f"{number}.typ")).startswith(b"%PDF")


NAMES = st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("xy"), st.text(max_size=2)), max_size=8)


@given(NAMES, st.integers(0, 2))
def test_cells_span_the_rows_that_repeat_them(rows: list[tuple[str, str, str]], grouped: int) -> None:
    table = Table("", ["", "", ""], n_names=3, grouped=grouped)
    for row in rows:
        table.add(row)
    for column in range(grouped):
        spans = [own[column] for own in table.spans()]
        starts = [n for n, span in enumerate(spans) if span]
        assert [n for n in range(len(rows)) if n == 0 or rows[n][: column + 1] != rows[n - 1][: column + 1]] == starts
        assert [spans[start] for start in starts] == np.diff([*starts, len(rows)]).tolist()


# --- Tables as data


def test_csv_has_a_row_for_each_system_and_metric() -> None:
    result = made()
    rows = result.to_dicts("systems")
    assert [(row["system"], row["metric"]) for row in rows] == [
        (name, metric) for name in ("baseline", "sys1") for metric in ("BLEU", "TER")
    ]
    assert rows[2]["runs"] == "18.986909,18.474014,18.979487"
    assert rows[2]["outputs"] == "sys1/opt0.txt,sys1/opt1.txt,sys1/opt2.txt"
    assert rows[2]["s_test"] == result.systems[1].scores["BLEU"].s_test
    assert "scores" not in rows[0]
    written = [*csv.DictReader(io.StringIO(result.render("csv", table="systems")))]
    assert [row["system"] for row in written] == [row["system"] for row in rows]
    assert result.to_dicts() == result.to_dicts("pairs")
    one_run: Any = compare(metrics=SegmentScores("m", {"a": [1, 2, 3], "b": [2, 2, 3]}), test="ar").to_dicts()
    assert [*result.to_dicts()[0]][:12] == [*one_run[0]][:12]
    assert len(result.to_dicts("pairs")) == len(result.comparisons)
    assert len(result.to_dicts("observed")) == len(result.observed)


# --- Saved results


def test_pages_and_mappings_of_other_types_are_read_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reshuffle.report.studies.page.find_spec", lambda name: None)  # no figures, which take long
    result = made()
    assert read_html(result.render("html")) == result
    frozen = tuple(replace(each, scores=MappingProxyType(dict(each.scores))) for each in result.systems)
    assert read_json(replace(result, tables={**result.tables, "systems": frozen}).render("json")) == result


FLOATS = st.floats(allow_nan=False, allow_infinity=True)


@given(
    st.dictionaries(st.text(max_size=5), st.lists(FLOATS, min_size=1, max_size=4), min_size=1, max_size=3), st.text()
)
def test_any_scores_are_read_back(scores: dict[str, list[float]], output: str) -> None:
    base = scored([1.0, 2.0])
    own = {metric: replace(base, runs=tuple(runs), s_sel=runs[0]) for metric, runs in scores.items()}
    metrics = tuple(UsedMetric(name, "x", True, None) for name in own)
    tables = {"systems": (SystemRuns("a", (output,), own),)}
    result = replace(
        made(),
        metrics=metrics,
        tables=tables,
        truths={},
        plan=replace(made().plan, exchange=(), median_metric=next(iter(own))),
    )
    assert read_json(result.render("json")) == result


def test_damaged_results_are_named() -> None:
    document = json.loads(made().render("json"))
    bleu = document["systems"][0]["scores"]["BLEU"]
    changes: tuple[tuple[Callable[[Any], object], str], ...] = (
        (lambda d: d["systems"][1]["scores"].pop("TER"), r"\[1\].scores: expected the metrics BLEU, TER, got BLEU"),
        (lambda d: d["systems"][0]["scores"].update(BLEU={**bleu, "s_sel": "x"}), r"\[0\].scores.BLEU.s_sel: expected"),
        (lambda d: d["systems"][0].update(scores=[]), r"systems\[0\].scores: expected an object, got a list"),
        (lambda d: d.pop("systems"), "systems: expected at least one system"),
        (lambda d: d["plan"].pop("exchange"), "plan.exchange: the key is missing"),
        (lambda d: d["plan"].pop("questions"), "plan.questions: the key is missing"),
        (lambda d: d["comparisons"][2].update(system="x"), r"comparisons\[2\].system: unknown system 'x'"),
        (lambda d: d["comparisons"].pop(), r"comparisons: expected each pair under each metric, by each exchange unit"),
        (lambda d: d["comparisons"][0].update(exchange="x"), r"comparisons: expected each pair under each metric"),
        (
            lambda d: d["observed"][0].update(metric="bleu"),
            r"observed\[0\].metric: unknown metric 'bleu': did you mean",
        ),
    )
    for change, message in changes:
        copy = json.loads(json.dumps(document))
        change(copy)
        with pytest.raises(InputError, match=message):
            read_json(json.dumps(copy))


def test_documents_with_scores_of_another_type_are_refused_by_the_schema() -> None:
    document = json.loads(computed().render("json"))
    document["systems"][0]["scores"]["rating"]["s_sel"] = None
    assert not validator().is_valid(document)


# --- Figures


@pytest.mark.parametrize("kind", STUDIES["runs"].figures)
@pytest.mark.parametrize("name", ["one run", "many runs", "all pairs"])
def test_every_figure_is_drawn(kind: str, name: str) -> None:
    """Twice alike, on one of the results."""
    result = RESULTS[name]()
    figure = STUDIES["runs"].figures[kind]
    for chosen in choices(result, figure)[:1]:
        drawn = [file_of(getattr(result.plot, kind)(**chosen).figure, "svg") for _ in range(1 + (name == "all pairs"))]
        assert drawn[0].startswith(b"<?xml")
        assert drawn[0] == drawn[-1]
    assert choices(result, figure) or (kind == "observed" and not result.observed)


def test_each_run_is_a_point_with_its_deviation() -> None:
    result = made()
    ax = result.plot.runs(metric="BLEU")
    points = [line for line in ax.lines if line.get_marker() == "o"]
    drawn = [float(np.asarray(line.get_xdata())[0]) for line in points]
    assert drawn == [*BLEU["baseline"], *BLEU["sys1"]]
    filled = [x for x, line in zip(drawn, points, strict=True) if line.get_markerfacecolor() != "white"]
    assert filled == [BLEU["baseline"][0], BLEU["sys1"][2]]
    segments = [segment for lines in ax.collections for segment in getattr(lines, "get_segments", list)()]
    halves = [float(np.ptp(segment[:, 0])) / 2 for segment in segments if len(segment) == 2]
    assert halves == pytest.approx([0.2629] * 3 + [0.2620] * 3)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["baseline", "sys1"]


@pytest.mark.parametrize("name", ["example", "many runs"])
def test_histograms_contain_every_run(name: str) -> None:
    result = RESULTS[name]()
    ax = result.plot.histogram(metric=result.metrics[0].name)
    patches: Any = ax.patches
    heights = np.array([-patch.get_height() for patch in patches]).reshape(len(result.systems), -1)
    n = len(result.systems[0].scores[result.metrics[0].name].runs)
    label = ax.get_xlabel()
    (highest,) = re.findall(r"highest bar: (\d+) of", label)
    counts = heights / heights.max() * int(highest)
    assert counts.sum(axis=1) == pytest.approx([n] * len(result.systems))


def test_observed_differences_have_their_ranges_and_shares() -> None:
    ax = made().plot.observed(metric="BLEU")
    thick = [line for line in ax.lines if line.get_linewidth() > 2]
    observed = [each for each in made().observed if each.metric == "BLEU"]
    assert [np.asarray(line.get_ydata()).tolist() for line in thick] == [[each.low, each.high] for each in observed]
    assert [text.get_text() for text in ax.texts] == ["30%", "15%", "10%"]


def test_a_figure_is_of_one_metric() -> None:
    plots = made().plot
    assert dir(plots) == ["histogram", "observed", "runs", "study"]
    with pytest.raises(InputError, match=r"several values of metric: choose one with metric: BLEU, TER"):
        plots.runs()
    with pytest.raises(InputError, match="shows the table observed, but the result has none"):
        RESULTS["one system"]().plot.observed()
    several = computed(all_pairs=True, exchange="all")
    with pytest.raises(InputError, match=r"several values of system: choose one with system"):
        several.plot.observed()
    ax = several.plot.observed(system="other & long_name of a system")
    legend: Any = ax.get_legend()
    assert [text.get_text() for text in legend.get_texts()] == ["− old", "− new"]
