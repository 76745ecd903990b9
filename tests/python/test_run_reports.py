"""Reports of comparisons of runs: every format, sentences, figures, and saved results."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure

from known import known
from reshuffle import SegmentScores, compare_runs, read_html, read_json
from reshuffle.inference.run_variation import variance_test
from reshuffle.report import Layout, Terminal, render
from reshuffle.report.studies import report_of
from reshuffle.report.studies.run_sentences import answers, conclusions, notes
from reshuffle.report.wording import MAX_NAMED, spelled
from reshuffle.results import ConfidenceInterval, UsedMetric
from reshuffle.results.studies import ObservedDifference, RunComparison, RunDifference, RunScores, SystemRuns
from told import assert_told

# The scores of MultEval's example, and s_sel from 20,000 draws in numpy.
BLEU = {"baseline": (18.538889, 18.464451, 18.577084), "sys1": (18.986909, 18.474014, 18.979487)}
TER = {"baseline": (65.519164, 65.890337, 65.560582), "sys1": (64.177844, 65.339153, 64.932934)}
S_SEL = {"BLEU": {"baseline": 0.2629, "sys1": 0.2620}, "TER": {"baseline": 0.3687, "sys1": 0.3641}}
P = {
    "BLEU": {"hierarchical": 0.2574, "run": 0.3, "segment": 0.0102, "pooled": 0.0001},
    "TER": {"hierarchical": 0.1139, "run": 0.1, "segment": 0.0001, "pooled": 0.0001},
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
        variance_pvalue=variance_test(dev, runs) if dev else None,
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
    metric, tested = next(iter(first)), exchange if others else ()
    usual = computed(exchange="all")
    settings: dict[str, Any] = {
        "systems": {name: len(own[metric].runs) for name, own in scores.items()},
        "baseline": baseline,
        "exchange": tested,
        "exchange_requested": "auto",
        "exchange_reason": computed().plan.exchange_reason if others else None,
        "questions": {name: usual.plan.questions[name] for name in tested},
        "left_out": {},
        "adjustments": dict.fromkeys(exchange, "none"),
        "median_metric": metric,
        "median_runs": {name: own[metric].median_run for name, own in scores.items()},
        "segments": 2489,
        "units": 2489,
        "n_resamples": 10_000,
    }
    comparisons = tuple(
        difference_of(m, unit, d, pvalues[m][unit]) for m, d in differences.items() for unit in exchange
    )
    return RunComparison(
        study="runs",
        plan=replace(usual.plan, **settings | dict(plan or {})),
        metrics=tuple(UsedMetric(name, f"{name}|nrefs:1", name == "BLEU", None, "P02-1040") for name in first),
        tables={
            "systems": tuple(
                SystemRuns(name, tuple(f"{name}/opt{i}.txt" for i in range(len(own["BLEU"].runs))), dict(own))
                for name, own in scores.items()
            ),
            "comparisons": comparisons,
            "observed": tuple(observed),
        },
        truths={name: usual.truths[name] for name in tested},
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


def of_bleu(dev: Mapping[str, Sequence[float]], s_sel: float = 0.01, test: Any = BLEU, **options: Any) -> RunComparison:
    return made(scores={name: {"BLEU": scored(test[name], s_sel, dev[name])} for name in BLEU}, **options)


def with_tests(
    result: RunComparison, caveats: Mapping[str, tuple[str, ...]] = MappingProxyType({}), **fields: Any
) -> Any:
    """The result with other fields of all its tests, and with caveats by exchange unit or metric."""
    records = tuple(
        replace(each, caveats=caveats.get(each.exchange, caveats.get(each.metric, ())), **fields)
        for each in result.comparisons
    )
    return replace(result, tables={**result.tables, "comparisons": records})


def identical(duplicates: list[list[Any]]) -> RunComparison:
    p = {metric: dict.fromkeys(P["BLEU"], 1.0) for metric in P}
    return made(plan={"duplicates": duplicates}, pvalues=p, differences={"BLEU": 0.0, "TER": 0.0})


SURE, UNSURE = ({metric: dict.fromkeys(P["BLEU"], p) for metric in P} for p in (0.01, 0.2))
NO_DEV: dict[str, tuple[float, ...]] = {"baseline": (), "sys1": ()}
# Standard deviations of .1414 and .0141.
DEV = {"baseline": (20.0, 20.2), "sys1": (20.0, 20.02)}
EVEN = {"baseline": (18.0, 18.0), "sys1": (19.0, 19.0)}
OVERFITTED = {"baseline": (20.0, 20.01, 20.02), "sys1": (20.5, 20.52, 20.51)}
SAME = [["sys1", run, "baseline", run] for run in range(3)]
COPIES = [["sys1", run, "sys1", 0] for run in range(1, MAX_NAMED + 3)]
BOTH = {"hierarchical": ("skewed-runs",), "run": ("unequal-spreads", "skewed-runs")}

# Results with sentences that the example has not.
CASES: Mapping[str, Callable[[], RunComparison]] = {
    **{name: RESULTS[name] for name in ("run decides", "development set", "one system", "one run")},
    "both tests are limited": lambda: with_tests(made(("hierarchical", "run")), caveats=BOTH),
    "a test is limited under one metric": lambda: with_tests(made(), caveats={"TER": ("skewed-runs",)}),
    "p cannot reach alpha": lambda: made(("run", "segment"), plan={"exchange_requested": ["run", "segment"]}),
    "p can reach alpha": lambda: with_tests(made(("run", "segment")), smallest_pvalue=0.02),
    "all exchanges are counted": lambda: with_tests(made(("segment",)), smallest_pvalue=0.25, exact=True),
    "few replicates": lambda: with_tests(made(("segment",)), smallest_pvalue=0.25, exact=False),
    "s_dev is half of the difference": lambda: of_bleu(DEV, test=EVEN, differences={"BLEU": 0.28}),
    "s_dev is below half of the difference": lambda: of_bleu(DEV, test=EVEN, differences={"BLEU": 0.29}),
    "s_dev of one system": lambda: made(scores={"baseline": {"BLEU": scored([18.0, 18.1], 0.2, DEV["baseline"])}}),
    "overfitting": lambda: of_bleu(OVERFITTED),
    "s_dev is larger": lambda: of_bleu({name: [2 * x for x in runs] for name, runs in BLEU.items()}),
    "large s_sel": lambda: of_bleu(NO_DEV, 0.2, differences={"BLEU": 0.3}, pvalues=UNSURE),
    "small s_sel": lambda: of_bleu(NO_DEV, 0.1, differences={"BLEU": 0.3}, pvalues=UNSURE),
    "large s_sel of a significant difference": lambda: of_bleu(NO_DEV, 0.2, differences={"BLEU": 0.3}, pvalues=SURE),
    "two runs of one system": lambda: made(
        scores={"baseline": {"BLEU": scored([18.0, 18.2])}, "sys1": {"BLEU": scored([18.0, 18.4, 18.3])}}
    ),
    "copies": lambda: made(plan={"duplicates": [["sys1", 1, "sys1", 0], ["sys1", 2, "baseline", 1]]}),
    "many copies": lambda: made(plan={"duplicates": COPIES}),
    "identical systems": lambda: identical(SAME),
    "identical systems with copies": lambda: identical(
        [SAME[0], SAME[2], ["baseline", 1, "baseline", 0], ["sys1", 1, "baseline", 0]]
    ),
    "median runs by TER on the development set": lambda: made(plan={"median_metric": "TER", "median_on": "dev"}),
    "better": lambda: made(differences={"BLEU": 0.3, "TER": -0.8}, pvalues=SURE),
    "worse under one metric": lambda: made(differences={"BLEU": -0.3, "TER": -0.8}, pvalues=SURE),
    "a unit is left out": lambda: made(plan={"left_out": {"cell": "needs as many runs of both: choose another unit"}}),
    "documents": lambda: made(("segment", "pooled"), plan={"unit": "document", "units": 100}),
}


def sentences(result: RunComparison) -> list[str]:
    return [spelled(sentence, for_command=False) for sentence in (*conclusions(result), *notes(result))]


def test_sentences_are_told_where_the_numbers_say_so() -> None:
    usual = sentences(made())
    told = {name: [each for each in sentences(make()) if each not in usual] for name, make in CASES.items()}
    example = render(made(), "text", Layout(Terminal(80), full=True))
    assert_told("runs", {"example": example, **{name: "\n".join(own) for name, own in told.items()}})


def test_marks_and_headings_of_tables() -> None:
    def text(result: RunComparison) -> str:
        return render(result, "text", Layout(Terminal(200), full=True))

    usual, first = text(made()), made().observed[0]
    starred = text(made(pvalues={**P, "BLEU": dict.fromkeys(P["BLEU"], 0.01)}))
    assert (starred.count("0.0100*"), "*: p ≤ 0.05 by the hierarchical bootstrap" in starred) == (1, True)
    assert "*" not in text(made(pvalues={**P, "BLEU": {**P["BLEU"], "segment": 0.01}}))
    assert "0.3000†‡" in text(CASES["p cannot reach alpha"]())
    assert "‡" not in text(CASES["p can reach alpha"]())
    adjusted = text(with_tests(made(plan={"adjustments": {"hierarchical": "maxt"}}), adjusted_pvalue=0.4567))
    assert "would new runs on new segments differ? (adjusted p by the hierarchical bootstrap)" in adjusted
    assert (adjusted.count("0.4567"), "adjusted" in usual) == (6, False)
    assert re.search(r"BLEU ↑ +baseline +18.00 +0.30 +– +– +0$", text(RESULTS["one run"]()), re.M)
    tiny = text(made(scores={"baseline": {"BLEU": scored([30.0, 30.001], 0.001)}}))
    assert re.search(r"baseline +30.00 +<0.01 +<0.01 ", tiny)
    assert re.search("Runs +Documents +Run × document +Effective test sets", text(CASES["documents"]()))
    # Long tables of other experiments are only data.
    many = tuple(replace(first, system=f"s{i}", n_runs=n) for i in range(13) for n in (1, 2))
    longer = text(replace(made(), tables={**made().tables, "observed": many}))
    assert [("Central 95%" in each, "--table observed" in each) for each in (usual, longer)] == [(1, 0), (0, 1)]


@pytest.mark.parametrize("fmt", ["text", "markdown", "latex", "typst", "html"])
def test_every_format_names_options_in_one_language(fmt: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reshuffle.report.studies.page.find_spec", lambda name: None)  # no figures, which take long
    for command, option in ((None, "n_resamples"), ("reshuffle runs", "-n")):
        report = render(CASES["few replicates"](), fmt, Layout(command=command))
        assert f"use more replicates ({option})" in " ".join(report.replace("\\_", "_").split())


SCORES = st.lists(st.integers(-1000, 1000), min_size=3, max_size=8)


@given(st.data())
def test_variances_are_compared_by_the_correlation_of_sums_and_differences(data: st.DataObject) -> None:
    x = data.draw(SCORES)
    y = data.draw(st.lists(st.integers(-1000, 1000), min_size=len(x), max_size=len(x)))
    p = variance_test(x, y)
    assert variance_test(x[:2], y[:2]) is None  # variances of two runs cannot be compared
    total, difference = np.add(x, y), np.subtract(x, y)
    if np.ptp(total) == 0 or np.ptp(difference) == 0:
        assert p is None
        return
    expected = scipy.stats.pearsonr(total, difference).pvalue
    assert p == pytest.approx(expected, abs=1e-6)
    assert p == pytest.approx(variance_test(y, x), abs=1e-9)


@pytest.mark.parametrize(("case", "better"), [("better", {"BLEU", "TER"}), ("worse under one metric", {"TER"})])
def test_bold_type_follows_the_direction_of_the_metric(case: str, better: set[str]) -> None:
    for shown in (report_of("runs").tables, report_of("runs").paper):
        (table,) = (table for table in known(shown)(CASES[case]()) if "Δ" in table.header)
        assert {row[0][:-2] for row, bold in zip(table.rows, table.bold, strict=True) if any(bold)} == better
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
    assert len(re.findall(r"^\| ---", result.render("markdown"), re.M)) == len([*report_of("runs").tables(result)])
    # Two metrics of two systems take at most 25 lines.
    text = render(made(), "text", Layout(Terminal(100)))
    assert len(text.splitlines()) <= 25
    assert "Median" not in text


def test_the_latex_table_has_scores_and_tests_and_the_nulls_in_the_caption() -> None:
    code = "\n".join(line for line in made().render("latex").splitlines() if not line.startswith("%"))
    assert_told("runs.tex", {"example": code})


def test_lines_between_systems_of_a_metric_spare_its_name() -> None:
    latex, typst = (RESULTS["computed"]().render(fmt) for fmt in ("latex", "typst"))
    assert "\n\\cmidrule{2-5}\n & \\multirow{" in latex
    assert "\n\\midrule\n &" not in latex
    assert "table.hline(start: 1, stroke: 0.3pt)" in typst


def test_pages_and_mappings_of_other_types_are_read_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reshuffle.report.studies.page.find_spec", lambda name: None)  # no figures, which take long
    result = made()
    assert read_html(result.render("html")) == result
    frozen = tuple(replace(each, scores=MappingProxyType(dict(each.scores))) for each in result.systems)
    assert read_json(replace(result, tables={**result.tables, "systems": frozen}).render("json")) == result


# --- Figures


def test_runs_are_points_with_their_deviations_and_observed_differences_have_ranges_and_shares() -> None:
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
    ax = made().plot.observed(metric="BLEU")
    thick = [line for line in ax.lines if line.get_linewidth() > 2]
    observed = [each for each in made().observed if each.metric == "BLEU"]
    assert [np.asarray(line.get_ydata()).tolist() for line in thick] == [[each.low, each.high] for each in observed]
    assert [text.get_text() for text in ax.texts] == ["30%", "15%", "10%"]


@pytest.mark.parametrize(("inches", "lines"), [(9.0, 2), (2.4, 5)])
def test_the_label_of_runs_has_as_many_lines_as_it_needs(inches: float, lines: int) -> None:
    ax = made().plot.runs(metric="BLEU", ax=Figure(figsize=(inches, 3)).subplots())
    said = r"BLEU of each run ± $s_\mathrm{sel}$ line: mean, band: ± $s_\mathrm{test}$, ●: median run"
    assert (ax.get_xlabel().count("\n") + 1, " ".join(ax.get_xlabel().split())) == (lines, said)


def test_an_end_that_is_zero_but_for_rounding_needs_no_decimals() -> None:
    shown = made(differences=dict.fromkeys(("BLEU", "TER"), 0.4000000000000001)).render("text", full=True)
    assert "+0.00 to +0.80" in shown


def test_each_metric_has_a_panel() -> None:
    plots = made().plot
    assert dir(plots) == ["histogram", "observed", "runs", "study"]
    assert [ax.get_title(loc="left") for ax in plots.runs().figure.axes] == ["BLEU", "TER"]
    ax = computed(all_pairs=True, exchange="all").plot.observed(system="other & long_name of a system")
    legend: Any = ax.get_legend()
    assert [text.get_text() for text in legend.get_texts()] == ["− old", "− new"]
