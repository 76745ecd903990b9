"""Gates: verdicts against slow twins, what people and programs read, their history, answers, and bad arguments."""

from __future__ import annotations

import base64
import json
import math
import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from statistics import NormalDist
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.stats import binom, norm

import reshuffle
from gates import CORPUS, DEMO, by_system, labelled, noisy, of_demo, scores
from known import known
from reshuffle import (
    CorpusFunction,
    Gate,
    InputError,
    InputWarning,
    NonInferiority,
    SegmentScores,
    TestSet,
    compare,
    gate,
)
from reshuffle.inference.answers import Answers
from reshuffle.inference.gate import verdict_of
from reshuffle.types import GateFormat
from told import assert_raises, assert_told, beyond_the_first


@pytest.mark.parametrize(
    ("difference", "margin", "verdict"), [(0.3, 0.2, "allow"), (-0.6, 0.2, "reject"), (0.0, 0.1, "inconclusive")]
)
def test_labels_have_three_verdicts(difference: float, margin: float, verdict: str) -> None:
    metrics = labelled(difference)
    found = gate(metrics=metrics, human="people", margin={"people": margin})
    assert found.verdict == verdict
    (task,) = found.tasks
    own = of_judge(metrics)
    assert (task.difference, task.standard_error, task.n_units) == (own.estimate, own.standard_error, own.labelled)
    # The one-sided tests beside the two-sided one, and the bound beside the interval.
    assert min(task.worse_pvalue, 1 - task.worse_pvalue) == pytest.approx(own.pvalue / 2)
    wide = of_judge(metrics, confidence_level=0.9)
    bound, margin_pvalue = known(task.bound), known(task.margin_pvalue)
    assert bound == pytest.approx(wide.low)
    assert task.is_shown == (bound > -margin) == (margin_pvalue <= 0.05)
    assert task.is_worse == (wide.high < 0)


def of_judge(metrics: list[SegmentScores], **options: Any) -> Any:
    """The difference that ``human`` estimates with the help of the judge."""
    rows = reshuffle.human(metrics=metrics, **options).tables["differences"]
    (own,) = [each for each in rows if each.predictor == "judge"]
    return own


def all_shifted(shift: float) -> list[SegmentScores]:
    """Labels that all differ by the same, and a judge."""
    people, judge = labelled(0.3)
    base = np.asarray(by_system(people)["base"])
    return [with_scores(people, {"base": base, "new": base + shift}), judge]


@pytest.mark.parametrize("shift", [-1.0, 0.0, 0.1])
def test_labels_that_all_differ_by_the_same_show_nothing(shift: float) -> None:
    """As in the table of ``human``: whatever the metric says, no error can be known."""
    found = gate(metrics=all_shifted(shift), human="people", margin={"people": 0.2})
    (task,) = found.tasks
    assert found.verdict == "inconclusive"
    assert (task.standard_error, task.bound, task.margin_pvalue, task.worse_pvalue) == (None, -np.inf, 1, 1)
    assert of_judge(all_shifted(shift)).pvalue == 1
    assert reshuffle.read_json(found.render("json")) == found


def with_scores(metric: SegmentScores, scores: dict[str, Any], higher_is_better: bool = True) -> SegmentScores:
    return SegmentScores(metric.name, scores, higher_is_better, metric.missing)


def test_labels_of_errors() -> None:
    """Where lower is better, the verdicts are those of the negative labels."""
    metrics = labelled(-0.6)
    errors = [with_scores(m, {name: -np.asarray(own) for name, own in by_system(m).items()}, False) for m in metrics]
    one, other = (gate(metrics=each, human="people", margin={"people": 0.2}).tasks[0] for each in (metrics, errors))
    assert (one.worse_pvalue, one.margin_pvalue, one.bound) == pytest.approx(
        (other.worse_pvalue, other.margin_pvalue, -(other.bound or 0.0))
    )


def test_labels_under_other_rules_and_units() -> None:
    metrics = labelled(0.5)
    better = gate(metrics=metrics, human="people", rule="superior", primary="people")
    assert (better.verdict, better.tasks[0].margin) == ("allow", None)
    assert better.tasks[0].better_pvalue == pytest.approx(1 - better.tasks[0].worse_pvalue)
    assert gate(metrics=metrics, human="people", rule="no-regression").verdict == "allow"
    own = gate(metrics=metrics, human="people", margin={"people": "0.1sd"}).tasks[0]
    labels = np.asarray(by_system(metrics[0])["base"])
    assert own.margin == pytest.approx(0.1 * np.nanstd(labels, ddof=1))


def test_labels_that_were_chosen() -> None:
    metrics = labelled(0.0)
    judge = np.asarray(by_system(metrics[1])["base"])
    low, (every, _) = judge < np.quantile(judge, 0.2), labelled(0.0, n=400)
    people = with_scores(every, {name: np.where(low, own, np.nan) for name, own in by_system(every).items()})
    with pytest.warns(reshuffle.InputWarning, match="judge scores the labelled segments differently"):
        gate(metrics=[people, metrics[1]], human="people", margin={"people": 1})


def test_p_values_are_those_of_the_tests_that_the_gate_names() -> None:
    found = of_demo("baseline", "rules", "bleu", "ter", margin={"bleu": 20, "TER": 11})
    assert [task.margin for task in found.tasks] == [20, 11]
    two = {name: DEMO[name] for name in ("baseline", "rules")}
    compared: Any = partial(compare, CORPUS.references, two, ["bleu", "ter"], n_resamples=999, interval="delta")
    within = compared(test=NonInferiority({"bleu": 20, "ter": 11}, by="studentized"), adjust="none")
    worse = compared(alternative="worse", family="all", adjust="maxt")
    for task, one, other in zip(found.tasks, within.comparisons, worse.comparisons, strict=True):
        assert (task.margin_test, task.margin_pvalue) == ("non-inferiority-studentized", one.test.pvalue)
        assert (task.worse_test, task.worse_adjusted_pvalue) == ("bootstrap-both", other.test.adjusted_pvalue)
        ends = one.confidence_interval
        assert task.bound == (ends.low if task.higher_is_better else ends.high)
        assert task.difference == one.difference == other.difference


def test_the_verdict_is_what_its_definition_says() -> None:
    task = gate(metrics=noisy(50, 0), margin={"points": 1}, n_resamples=99).tasks[0]
    for rule, states in product(
        ("non-inferior", "superior", "no-regression"), product(product((False, True), repeat=3), repeat=2)
    ):
        passes = rule == "no-regression"
        tasks = [
            replace(task, has_enough=enough, is_shown=enough and (shown or passes), is_worse=enough and worse)
            for enough, shown, worse in states
        ]
        # A proven loss within its margin is allowed, but not where there are no margins.
        possible = [("allow", all(each.is_shown for each in tasks)), ("reject", any(each.is_worse for each in tasks))]
        expected = next((name for name, holds in possible[:: -1 if passes else 1] if holds), "inconclusive")
        assert verdict_of(rule, tasks) == expected, (rule, states)


def test_margins_in_standard_deviations_and_per_cent_of_the_baseline() -> None:
    rng = np.random.default_rng(2)
    base, new = rng.normal(50, 10, (2, 80)).round(2)
    metric = SegmentScores("points", {"base": base, "new": new})
    (in_sd,) = gate(metrics=metric, margin={"points": "0.1sd"}).tasks
    (in_percent,) = gate(metrics=metric, margin={"points": "2%"}).tasks
    assert (in_sd.margin, in_percent.margin) == pytest.approx((0.1 * base.std(ddof=1), 0.02 * base.mean()))
    assert (in_sd.given_margin, in_percent.given_margin) == ("0.1sd", "2%")
    # That of BLEU follows from its standard error.
    (task,) = of_demo("baseline", "tuned", "bleu", margin={"bleu": "0.1sd"}).tasks
    counts = reshuffle.metric("bleu").suff_stats(CORPUS.references, {"baseline": DEMO["baseline"]})
    error = np.ravel(reshuffle.standard_error(counts, "bleu"))
    assert task.margin == pytest.approx(0.1 * float(error[0]) * np.sqrt(len(DEMO["baseline"])))


def of_news(human: str | None = None) -> dict[str, TestSet]:
    names = ("news", "a/b", "talks")
    return {name: TestSet(metrics=noisy(50, -1) if human is None else labelled(0.3)) for name in names}


@pytest.mark.parametrize("human", [None, "people"])
def test_a_margin_of_one_test_set_replaces_that_of_all(human: str | None) -> None:
    metric = human or "points"
    margins = {metric: 3, f"news/{metric}": 4, f"a/b/{metric}": 5}
    found = gate(sets=of_news(human), margin=margins, human=human, n_resamples=99)
    assert [task.margin for task in found.tasks] == [4, 5, 3]


def of_few(sizes: dict[str, int], margin: float) -> Gate:
    """Equal systems on test sets with these numbers of segments."""
    sets = {name: TestSet(metrics=noisy(n, 0)) for name, n in sizes.items()}
    return gate(sets=sets, margin=margin, n_resamples=99)


def test_the_power_sentence_is_that_of_normal_estimates() -> None:
    metrics = [noisy(100, 0.05, f"m{n}", seed=n) for n in range(5)]
    found = gate(metrics=metrics, margin={f"m{n}": 0.1 + n / 10 for n in range(5)}, n_resamples=999)
    expected = 1.0
    for n, task in enumerate(found.tasks):
        values = np.random.default_rng(n).normal(size=100)
        assert task.standard_error == pytest.approx(values.std(ddof=1) / 10, rel=0.01)
        expected *= NormalDist().cdf((0.1 + n / 10) / (task.standard_error or 0) - NormalDist().inv_cdf(0.95))
    assert found.allowed_if_equal == pytest.approx(expected)
    assert found.needed_room == pytest.approx(3.3547, abs=0.0001)
    weakest = found.tasks[0]
    assert found.weakest == weakest
    # With so many more segments, the margin is as many standard errors as are needed.
    larger = known(weakest.standard_error) * np.sqrt(100 / (100 + known(weakest.more_units)))
    assert 0.1 / larger == pytest.approx(found.needed_room, rel=0.01)


def test_identical_outputs_are_allowed_and_that_is_said_in_every_format() -> None:
    texts = {"base": DEMO["tuned"], "new": DEMO["tuned"]}
    found = gate(CORPUS.references, texts, ["bleu", "chrf"], margin={"bleu": 0.1, "chrf": 0.1})
    assert (found.verdict, found.is_identical) == ("allow", True)
    assert json.loads(found.render("json"))["is_identical"] is True
    note = "The outputs are identical, or have the same scores everywhere: a file may have been passed twice."
    for fmt in ("text", "markdown", "html", "junit"):
        assert note in " ".join(found.render(fmt).split()), fmt
    ties = gate(metrics=scores([1.0] * 30, base=1.0), margin={"points": 1})
    assert (ties.verdict, ties.is_identical) == ("allow", True)


def test_fewer_than_20_segments_are_inconclusive() -> None:
    few = gate(metrics=scores([-5.0] * 19), margin={"points": 1})
    assert (few.verdict, few.tasks[0].is_worse, few.allowed_if_equal) == ("inconclusive", False, None)
    assert gate(metrics=scores([-5.0] * 20), margin={"points": 1}).verdict == "reject"
    documents = [f"d{n // 10}" for n in range(100)]
    assert gate(metrics=noisy(100, 0), margin={"points": 1}, documents=documents).verdict == "inconclusive"


def test_segments_that_lost_most_add_up_to_the_difference() -> None:
    values = [0.0] * 17 + [-3.0, -1.0, -2.0, 4.0]
    (task,) = gate(metrics=scores(values), margin={"points": 1}).tasks
    assert [(each.segment, each.system_score) for each in task.lost] == [(18, -3), (20, -2), (19, -1)]
    assert [each.contribution for each in task.lost] == pytest.approx([-3 / 21, -2 / 21, -1 / 21])
    documents = [f"d{n // 2}" for n in range(42)]
    (of_documents,) = gate(metrics=scores(np.repeat(values, 2)), margin={"points": 1}, documents=documents).tasks
    assert [each.segment for each in of_documents.lost] == ["d17", "d19", "d18"]
    assert of_documents.unit == "document"


def with_missing() -> Gate:
    values = np.where(np.arange(60) % 3 == 0, np.nan, -1.0) + np.arange(60) % 2
    metric = SegmentScores("points", {"base": np.zeros(60), "new": values}, missing="pairwise")
    return gate(metrics=metric, margin={"points": 0.9})


def test_missing_scores_are_left_out() -> None:
    (task,) = with_missing().tasks
    assert (task.n_units, task.n_missing, task.difference) == (40, 20, -0.5)
    assert [each.segment for each in task.lost] == [3, 5, 9]


def on_sets(**metrics: SegmentScores) -> Gate:
    sets = {name: TestSet(metrics=metric) for name, metric in metrics.items()}
    return gate(sets=sets, margin={"points": 0.6}, n_resamples=999)


def test_test_sets_and_metrics_are_one_family() -> None:
    second = noisy(80, -0.9, seed=4)
    found = on_sets(news=noisy(60, 0.0, seed=3), talks=second)
    alone = gate(metrics=second, margin={"points": 0.6}, n_resamples=999)
    assert alone.tasks[0].worse_adjusted_pvalue <= found.tasks[1].worse_adjusted_pvalue


def superior(primary: str) -> Gate:
    """Whether a, which is better, or b, which is equal, is better."""
    metrics = [noisy(100, 0.5, "a"), noisy(100, 0.0, "b", seed=5)]
    other = {"a": "b", "b": "a"}[primary]
    return gate(metrics=metrics, primary=primary, rule="superior", margin={other: 0.5}, n_resamples=999)


def no_regression() -> Gate:
    return gate(metrics=noisy(100, 0.0), rule="no-regression", n_resamples=999)


def test_no_regression_says_what_it_would_have_found() -> None:
    (task,) = no_regression().tasks
    factor = NormalDist().inv_cdf(0.95) + NormalDist().inv_cdf(0.8)
    assert task.detectable == pytest.approx(factor * known(task.standard_error))


def n_words(hypotheses: list[str], references: list[list[str | None]]) -> float:
    return sum(len(line.split()) for line in hypotheses) / len(hypotheses)


FEW = {name: lines[:30] for name, lines in (("base", DEMO["baseline"]), ("new", DEMO["rules"]))}


def test_functions_of_texts_are_gated_from_draws() -> None:
    found = gate(CORPUS.references[0][:30], FEW, CorpusFunction("words", n_words), margin={"words": 5}, n_resamples=99)
    assert (found.tasks[0].margin_test, found.tasks[0].lost) == ("non-inferiority", ())


def of_points(**options: Any) -> Gate:
    return gate(**{"metrics": noisy(30, 0), **options})


def test_bad_arguments_are_refused_in_a_sentence() -> None:
    assert_raises("python_errors_of_gate", globals())


# A gate of each kind.
RESULTS: dict[str, Gate] = {
    "allow": of_demo("baseline", "tuned", "bleu", "chrf", margin={"bleu": 2, "chrf": "2%"}),
    "reject": of_demo("baseline", "rules", "bleu", "ter", margin={"bleu": 2, "ter": 2}),
    "inconclusive": of_demo("tuned", "baseline", "bleu", "chrf", margin={"bleu": 1, "chrf": 5}),
}


@pytest.mark.parametrize(("verdict", "fails"), [("allow", [0, 0]), ("reject", [1, 1]), ("inconclusive", [1, 0])])
def test_every_format_has_the_verdict_and_json_is_read_back(verdict: str, fails: list[int]) -> None:
    found = RESULTS[verdict]
    assert found.verdict == verdict
    assert reshuffle.read_json(found.render("json")) == found
    assert reshuffle.read_html(found.render("html")) == found
    formats: tuple[GateFormat, ...] = ("text", "markdown", "html", "latex", "typst")
    for fmt in formats:
        assert verdict.upper() in found.render(fmt)
    assert [row["verdict"] for row in found.to_dicts()] == [verdict] * 2
    level = {"allow": "notice", "reject": "error", "inconclusive": "warning"}[verdict]
    title = f"reshuffle gate%2C {found.system} against {found.baseline}"
    assert re.fullmatch(rf"::{level} title={title}::{verdict.upper()}: .*\n", found.render("github"))
    # JUnit has a case for each task.
    root = ElementTree.fromstring(found.render("junit"))
    assert [case.find("failure") is not None for case in root.iter("testcase")] == fails
    assert (root.tag, root.get("tests"), root.get("failures")) == ("testsuite", "2", str(sum(fails)))
    assert all("Δ " in said and ", bound " in said for said in map(str, root.itertext()) if "within margin" in said)


def of_four_directions() -> Gate:
    metrics = [noisy(80, 0, "points"), noisy(80, 0, "WER", 2), noisy(80, 0, "BLEU", 3)]
    metrics.append(SegmentScores("seconds", {"base": [1.0] * 80, "new": [1.0, 1.1] * 40}, higher_is_better=False))
    return gate(metrics=metrics, margin=dict.fromkeys(["points", "WER", "BLEU", "seconds"], 2), n_resamples=99)


def test_a_markdown_comment_is_found_again_and_escapes_names() -> None:
    nasty = "x-->|<b>*y*"
    found = gate(metrics=noisy(30, 0, name=nasty), margin={nasty: 1}, n_resamples=99)
    first, _, heading, *rest = found.render("markdown").splitlines()
    assert first.startswith("<!-- reshuffle-gate ")
    assert first.count("-->") == 1
    assert heading.startswith("### ALLOW: x--\\>") or "\\<b>" in heading
    assert not any("<b>" in line.replace("\\<b>", "") for line in rest if "Signature" not in line)
    # The same tasks have the same marker, whatever their outputs; others have another one.
    again = gate(metrics=noisy(30, 0.1, name=nasty), margin={nasty: 2}, n_resamples=99)
    assert again.render("markdown").splitlines()[0] == first
    assert RESULTS["allow"].render("markdown").splitlines()[0] != first


def loss_within_its_margin(math: float = 0.9) -> Gate:
    """Of a task that is worse within its margin, one that passes and one that is open."""
    tasks = {"math": (0.3, math), "qa": (0.0, 0.5), "code": (0.0, 0.1)}
    sets = {name: TestSet(metrics=noisy(200, -mean)) for name, (mean, _) in tasks.items()}
    margin = {f"{name}/points": allowed for name, (_, allowed) in tasks.items()}
    return gate(sets=sets, margin=margin, n_resamples=999)


def test_failures_of_junit_say_what_the_tasks_are() -> None:
    found = loss_within_its_margin().render("junit")
    failures = [case.find("failure") for case in ElementTree.fromstring(found).iter("testcase")]
    assert [None if each is None else each.get("type") for each in failures] == ["reject", None, "inconclusive"]
    texts = [each.text or "" for each in failures if each is not None]
    assert texts[0].startswith("REJECT: points on math is worse")
    assert texts[1].startswith("INCONCLUSIVE: points on code is not shown to be within 0.1")
    # Any name can stand in XML.
    name = 'a"<&\x00\x1b'
    named = gate(metrics=noisy(30, -2, name=name), margin={name: 1}, n_resamples=99).render("junit")
    (case,) = ElementTree.fromstring(named).iter("testcase")
    assert case.get("name") == 'a"<&\\u0000\\u001b'


# If the first segment alone lost most, 9 others lost as much as the third.
@pytest.mark.parametrize(("first", "said"), [(1.0, "3 of 10"), (3.0, "the last 2 of 9")])
def test_of_equal_losses_the_first_are_listed_and_counted(first: float, said: str) -> None:
    base = [first] + [1.0] * 9 + [0.0] * 10 + [1.0] * 20
    found = gate(metrics=SegmentScores("correct", {"base": base, "new": [0.0] * 10 + [1.0] * 30}), margin=0.5)
    (task,) = found.tasks
    assert ([each.segment for each in task.lost], task.n_lost) == ([1, 2, 3], 10)
    assert f"The segments that lost most under correct, {said} with the same loss" in found.render("markdown")


def figures(found: Gate) -> list[ElementTree.Element]:
    """The figures in the page: of the tasks, and of trends."""
    drawn = re.findall(r"data:image/svg\+xml;base64,([\w+/=]+)", found.render("html"))
    return [ElementTree.fromstring(base64.b64decode(each)) for each in drawn]


def test_the_page_draws_each_task_its_bound_and_its_margin() -> None:
    found = gate(metrics=[noisy(80, 0.3), noisy(80, -0.2, "other", 2)], margin={"points": 0.5, "other": 0.2})
    svg = "{http://www.w3.org/2000/svg}"
    image = figures(found)[0]
    assert next(image.iter(f"{svg}text")).text == "points"  # the first of the table

    def at(tag: str, key: str, chosen: Callable[[ElementTree.Element], Any] = lambda line: True) -> list[float]:
        return [float(str(each.get(key))) for each in image.iter(f"{svg}{tag}") if chosen(each)]

    (margin,) = {*at("line", "x1", lambda line: line.get("x1") == line.get("x2") and line.get("stroke-dasharray"))}
    zero = next(x for x in at("line", "x1", lambda line: line.get("x1") == line.get("x2")) if x != margin)
    bounds = at("line", "x2", lambda line: line.get("x1") != line.get("x2") and line.get("stroke-width"))
    for task, dot, bound in zip(found.tasks, at("circle", "cx"), bounds, strict=True):
        assert dot == pytest.approx(zero + task.difference / known(task.margin) * (zero - margin), abs=0.2)
        assert bound == pytest.approx(zero + known(task.bound) / known(task.margin) * (zero - margin), abs=0.2)
    # Without margins the rows are in standard errors; far losses are arrows at the end of the scale.
    lost = gate(metrics=noisy(80, -20.0), rule="no-regression")
    assert [*figures(lost)[0].iter(f"{svg}path")]
    assert "rows scaled to their standard errors" in lost.render("html")
    for result, has_margins in ((found, True), (lost, False)):
        assert ("Margins" in result.render("html"), ">Plan<" in result.render("html")) == (has_margins, False)


def test_the_headline_and_the_table_write_the_same_p() -> None:
    found = of_demo("baseline", "rules", "bleu", margin={"BLEU": 0.5})
    (task,) = found.tasks
    tiny = replace(found, tasks=(replace(task, worse_pvalue=0.00009, worse_adjusted_pvalue=0.00009),))
    assert "p < 0.0001" in str(tiny)
    assert "| <0.0001 |" in tiny.render("markdown").replace("&lt;", "<").replace("\\<", "<")


def right_or_wrong() -> list[SegmentScores]:
    return [
        with_scores(m, {name: np.where(np.isnan(own), own, own > 0) for name, own in by_system(m).items()})
        for m in labelled(0.3)
    ]


def test_a_margin_that_hardly_any_score_can_miss_is_warned_of() -> None:
    errors = SegmentScores("errors", {"a": [2.0, 1.0] * 30, "b": [0.0, 7.0, 1.0] * 20}, higher_is_better=False)
    with pytest.warns(InputWarning, match="the margin of errors is 9, and all scores of segments are between 0"):
        assert gate(metrics=errors, margin=9, n_resamples=99).verdict == "allow"
    # Where scores may be negative, 0 is not the worst.
    assert gate(metrics=noisy(100, 0.5, "z"), margin=1, n_resamples=99).verdict == "allow"
    assert gate(metrics=SegmentScores("z", {"a": [-1, 1.2] * 30, "b": [-1, 1.3] * 30}), margin=0.2).verdict == "allow"
    right = ["yes"] * 40 + ["no"] * 20
    for metric in ("mcc", "kappa"):
        outputs = {"a": right[:10] + ["no"] * 30 + ["yes"] * 3 + right[43:], "b": right}
        (task,) = gate([right], outputs, metric, margin=0.5, n_resamples=99).tasks
        assert 0 < task.baseline_score < 0.5


@pytest.mark.parametrize(("pvalue", "is_open"), [(0.052, True), (0.046, True), (0.02, False), (1 / 1024, False)])
def test_a_task_that_other_replicates_may_decide_otherwise_is_named(pvalue: float, is_open: bool) -> None:
    result = means(0.0, 0.2)
    text = " ".join(str(replace(result, tasks=(replace(result.tasks[0], margin_pvalue=pvalue),))).split())
    assert ("Monte Carlo error leaves open whether points is within the margin" in text) is is_open


def test_the_same_scores_twice_are_warned_of() -> None:
    with pytest.warns(InputWarning, match="a and b have the same scores on every segment: was a file passed twice"):
        gate(metrics=SegmentScores("acc", {"a": [0.0, 1.0] * 30, "b": [0.0, 1.0] * 30}), margin={"acc": 0.1})


def means(mean: float, margin: float, n: int = 100, **options: Any) -> Gate:
    """A gate on differences with this mean and a standard deviation of 1."""
    return gate(metrics=noisy(n, mean), margin=margin, n_resamples=999, **options)


REPORTS: dict[str, Callable[[], Gate]] = {
    **{verdict: partial(RESULTS.__getitem__, verdict) for verdict in RESULTS},
    "a mean is allowed": lambda: means(0.0, 0.5),
    "a mean is rejected": lambda: means(-0.6, 0.5),
    "a proven regression within the margin": lambda: means(-0.3, 0.6),
    "a loss that is not shown to be within the margin": lambda: means(-0.3, 0.4),
    "a loss beyond the margin": lambda: means(-0.5, 0.4),
    "a loss within its margin beside an open task": loss_within_its_margin,
    "the same, and a loss beyond its margin": lambda: loss_within_its_margin(math=0.05),
    "how many more segments of two test sets": lambda: of_few({"a": 30, "b": 40}, 0.2),
    "of one of several test sets": lambda: of_few(dict(zip("abcd", (30, 40, 50, 60), strict=True)), 0.15),
    "too few segments": lambda: gate(metrics=scores([-5.0] * 19), margin={"points": 1}),
    "whole documents": lambda: means(0.0, 0.5, 90, documents=[i // 3 for i in range(90)]),
    "few segments of a metric that is no mean": lambda: of_demo("baseline", "tuned", "bleu", margin=2),
    "no regression under such a metric": lambda: of_demo("baseline", "tuned", "bleu", rule="no-regression"),
    "no regression": no_regression,
    "two test sets": lambda: on_sets(news=noisy(60, 0.0, seed=3), talks=noisy(80, -0.9, seed=4)),
    "the primary metric is better": lambda: superior("a"),
    "the primary metric is not shown to be better": lambda: superior("b"),
    "only a primary metric": lambda: gate(
        metrics=noisy(100, 0.0, "b", seed=5), primary="b", rule="superior", n_resamples=99
    ),
    "which scores are better": of_four_directions,
    "missing scores": with_missing,
    "labels": lambda: gate(metrics=labelled(0.3), human="people", margin={"people": 0.2}),
    "labels that all differ by the same": lambda: gate(
        metrics=all_shifted(0.1), human="people", margin={"people": 0.2}
    ),
    "labels of the same outputs": lambda: gate(
        metrics=[with_scores(m, dict.fromkeys(("base", "new"), by_system(m)["base"])) for m in labelled(0.3)],
        human="people",
        margin={"people": 0.2},
    ),
}


def test_reports_say_what_was_decided_and_why() -> None:
    assert_told("gate", beyond_the_first({case: str(make()) for case, make in REPORTS.items()}))


# --- The history of a gate, and trends over it


def nightly(path: Path, mean: float, seed: int) -> Gate:
    return gate(metrics=noisy(60, mean, seed=seed), margin={"points": 2}, n_resamples=99, history=path)


def test_a_history_has_a_line_for_each_run_and_its_trend_is_said(tmp_path: Path) -> None:
    path = tmp_path / "nights.jsonl"
    for night in range(7):
        found = nightly(path, -night / 10, night)
        assert (found.trends, found.n_runs) == ((), night + 1)
    said = "Trends are not tested yet: this takes 8 runs whose outputs differ from those of the run before; the history"
    assert f"{said} has 7." in " ".join(str(found).split())
    # Enough runs with scores that are all the same have no trend to test, and no lack of runs either.
    assert "rend" not in str(replace(found, trends=(), n_runs=12))
    before = path.read_bytes()
    (trend,) = (found := nightly(path, -0.7, 7)).trends
    assert path.read_bytes().startswith(before)
    # Of 8! orders, two have |τ| = 1.
    assert (trend.n_runs, trend.tau, trend.pvalue) == pytest.approx((8, -1, 2 / 40320))
    assert "The scores of points fall over 8 runs" in str(found)
    line = json.loads(path.read_text().splitlines()[-1])
    assert (line["digest"], line["verdict"], line["tasks"][0]["system_score"]) == (found.digest, found.verdict, -0.7)
    # The page draws it: the scores fall, the baseline has 0, and the margin is below it.
    svg = "{http://www.w3.org/2000/svg}"
    image = figures(found)[1]
    (polyline,) = image.iter(f"{svg}polyline")
    heights = [float(point.split(",")[1]) for point in str(polyline.get("points")).split()]
    assert heights == sorted(heights)
    level = [
        each for each in image.iter(f"{svg}line") if each.get("y1") == each.get("y2") and each.get("x2") == "416.0"
    ]
    at = {bool(each.get("stroke-dasharray")): float(str(each.get("y1"))) for each in level}
    assert at[False] == pytest.approx(heights[0], abs=0.1)
    down = known(found.tasks[0].margin) * (heights[-1] - heights[0]) / 0.7
    assert at[True] - at[False] == pytest.approx(down, abs=0.2)
    assert [text.text for text in image.iter(f"{svg}text")] == ["−0.0002", "−0.7000", "1", "8"]
    # The same outputs again are no further evidence.
    assert nightly(path, -0.7, 7).trends == (trend,)
    # A file of somebody else may have anything.
    saved = found.render("json")
    assert reshuffle.read_json(saved) == found
    for key, value, message in (
        ("task", "other", "unknown task 'other'"),
        ("scores", [1.0] * 8, "not all equal"),
        ("scores", [1.0, 2.0], "a score for each run"),
    ):
        changed = json.loads(saved)
        changed["trends"][0][key] = value
        with pytest.raises(InputError, match=message):
            reshuffle.read_json(json.dumps(changed))


def test_orders_without_a_trend_are_said_to_have_none(tmp_path: Path) -> None:
    path = tmp_path / "nights.jsonl"
    for night, mean in enumerate([0.1, 0.4, -0.2, 0.3, 0.0, 0.2, -0.1, 0.25]):
        found = nightly(path, mean, night)
    assert "No trend over 8 runs" in str(found)


def test_a_damaged_end_of_a_history_is_dropped_with_a_word(tmp_path: Path) -> None:
    path = tmp_path / "nights.jsonl"
    for night in range(3):
        nightly(path, 0, night)
    whole = path.read_bytes()
    for damaged in (whole + b'{"time": "20', whole + b"\xff\xfe\n", whole[:-1], whole + b"{}\n"):
        path.write_bytes(damaged)
        kept = 2 if damaged == whole[:-1] else 3
        with pytest.warns(reshuffle.InputWarning, match=f"the end, after line {kept}, is damaged and was cut off"):
            nightly(path, 0, 9)
        assert len(path.read_bytes().splitlines()) == kept + 1
        assert path.read_bytes().startswith(b"".join(whole.splitlines(keepends=True)[:kept]))


def test_a_history_that_cannot_be_written_is_an_error_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nights\.jsonl cannot be written: No such file"):
        nightly(tmp_path / "missing" / "nights.jsonl", 0, 1)


def test_a_line_that_a_full_disk_cuts_is_an_error(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")  # a limit of a file's size stands for the end of a disk
    path = tmp_path / "nights.jsonl"
    nightly(path, 0, 1)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 9, limits[1]))
    try:
        with pytest.raises(InputError, match=r"nights\.jsonl cannot be written"):
            nightly(path, 0, 2)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def test_a_file_that_is_no_history_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "nights.jsonl"
    path.write_text("BLEU = 3\n")
    with pytest.raises(InputError, match=r"line 1: expected a line of the history of a gate: .*; name another file"):
        nightly(path, 0, 1)
    nightly(good := tmp_path / "good.jsonl", 0, 1)
    for damaged in (b"x\n", b"x\ny\n"):
        path.write_bytes(good.read_bytes() + damaged + good.read_bytes())
        with pytest.raises(InputError, match=r"line 2: expected a line of the history of a gate: .*; remove the line"):
            nightly(path, 0, 1)
    assert b"x\n" in path.read_bytes()


# --- Margins of right-or-wrong answers: the score test, its exact size, and gates that use it


def pvalue_by_definition(answers: Answers, margin: float) -> float:
    """With the likelihood of p_gain maximized numerically."""
    n, gains, losses, _ = answers

    def unlikely(p_gain: float) -> float:
        counts = {p_gain: gains, p_gain + margin: losses, 1 - 2 * p_gain - margin: n - gains - losses}
        return -math.fsum(count * math.log(p) for p, count in counts.items() if count)

    p_gain = minimize_scalar(unlikely, bounds=(1e-12, (1 - margin) / 2 - 1e-12), method="bounded").x
    z = (gains - losses + n * margin) / math.sqrt(n * (2 * p_gain + margin * (1 - margin)))
    return float(norm.sf(z))


@st.composite
def some_answers(draw: st.DrawFn) -> Answers:
    n = draw(st.integers(20, 500))
    gains = draw(st.integers(0, n))
    return Answers(n, gains, draw(st.integers(0, n - gains)), draw(st.sampled_from([1.0, 100.0])))


@given(some_answers(), st.floats(0.002, 0.9))
def test_pvalues_equal_the_definition(answers: Answers, margin: float) -> None:
    expected = pvalue_by_definition(answers, margin)
    assert expected == pytest.approx(answers.pvalue(margin * answers.points), abs=2e-3)


@given(some_answers(), st.floats(0.002, 0.9), st.sampled_from([0.01, 0.05, 0.2]))
def test_the_bound_is_within_the_margin_if_p_is_small(answers: Answers, margin: float, alpha: float) -> None:
    points = margin * answers.points
    bound = answers.bound(alpha)
    if abs(bound + points) > 1e-6 * answers.points:
        assert (bound > -points) == (answers.pvalue(points) <= alpha)


def size(n: int, margin: float, p_gain: float) -> float:
    """The probability that a system worse by exactly the margin is allowed, by enumeration."""
    total = 0.0
    for losses in range(n + 1):
        p = binom.pmf(losses, n, p_gain + margin)
        if p > 1e-9:
            gains = np.arange(n - losses + 1)
            of_gains = binom.pmf(gains, n - losses, p_gain / (1 - p_gain - margin))
            for k in gains[of_gains > 1e-9]:
                total += p * of_gains[k] * (Answers(n, int(k), losses, 1.0).pvalue(margin) <= 0.05)
    return total


@pytest.mark.parametrize(("n", "largest"), [(20, 0.079), (50, 0.072), (100, 0.069), (200, 0.068)])
def test_the_size_is_largest_where_a_margin_is_just_shown_without_a_loss(n: int, largest: float) -> None:
    just = -Answers(n, 0, 0, 1.0).bound(0.05) * (1 + 1e-9)
    assert largest == pytest.approx(size(n, just, 0.0), abs=5e-4)
    assert (1 - just) ** n == pytest.approx(largest, abs=5e-4)
    others = [size(n, m / n, g / n) for m in (0.5, 1, 2, 2.8, 4, 8) for g in (0, 0.5, 2) if 2 * g + m < n]
    assert max(others) < largest


def decided(n: int, losses: int, gains: int, margin: float, *, points: float = 1.0, documents: bool = False) -> Gate:
    """A gate of answers of which the first are lost, and the last are gained."""
    old, new = np.zeros(n), np.zeros(n)
    old[: n // 2] = new[: n // 2] = points
    new[:losses] = 0
    new[n - gains :] = points
    scores = SegmentScores("accuracy", {"old": old, "new": new})
    ids = [i // 2 for i in range(n)] if documents else None
    return gate(metrics=scores, margin={"accuracy": margin * points}, documents=ids, n_resamples=399)


@pytest.mark.parametrize("points", [1.0, 100.0])
@pytest.mark.parametrize(
    ("losses", "gains", "margin", "verdict"),
    [
        (0, 0, 0.005, "inconclusive"),
        (0, 0, 0.015, "allow"),
        (1, 0, 0.015, "inconclusive"),
        (1, 0, 0.03, "allow"),
        (40, 0, 0.3, "allow"),
        (40, 0, 0.2, "reject"),
        (0, 40, 0.001, "allow"),
    ],
)
def test_verdicts(losses: int, gains: int, margin: float, verdict: str, points: float) -> None:
    found = decided(200, losses, gains, margin, points=points)
    assert verdict == found.verdict
    (task,) = found.tasks
    answers = Answers(200, gains, losses, points)
    assert (answers.pvalue(margin * points), answers.bound(0.05)) == (task.margin_pvalue, task.bound)


def test_equal_answers_that_are_too_few_say_what_they_show() -> None:
    text = " ".join(decided(200, 0, 0, 0.005).render("text").split())
    assert (
        "INCONCLUSIVE: accuracy does not differ, but 200 equal segments are too few to show that it is within 0.005 of "
        "the baseline (bound -0.0133); 339 more would be enough."
    ) in text
    assert [decided(n, 0, 0, 0.005).verdict for n in (538, 539)] == ["inconclusive", "allow"]


@pytest.mark.parametrize(("losses", "gains"), [(2, 3), (0, 0)])
def test_documents_are_shuffled_and_said_to_allow_more(losses: int, gains: int) -> None:
    found = decided(200, losses, gains, 0.1, documents=True)
    assert found.tasks[0].margin_test == "non-inferiority-ar"
    assert "Where fewer than 40 segments or documents differ" in found.render("text")


def test_errors_are_answers_too() -> None:
    scores = SegmentScores("wrong", {"old": [0.0] * 199 + [1], "new": [0.0] * 198 + [1, 1]}, higher_is_better=False)
    (task,) = gate(metrics=scores, margin={"wrong": 0.05}).tasks
    assert (task.margin_test, task.is_shown) == ("score", True)
    assert -Answers(200, 0, 1, 1.0).bound(0.05) == task.bound


@pytest.mark.parametrize("points", [1.0, 100.0])
def test_all_answers_lost_are_as_much_worse_as_can_be(points: float) -> None:
    lost = Answers(100, 0, 100, points)
    assert (lost.pvalue(points), lost.bound(0.05)) == (1.0, -points)
    assert Answers(100, 0, 99, points).pvalue(points) == 0.0


def test_other_values_are_no_answers() -> None:
    """Ratings may have other values than the two that were given."""
    (task,) = gate(metrics=SegmentScores("rating", {"old": [5.0] * 100, "new": [4.0] * 100}), margin=1.0).tasks
    assert (task.margin_test, task.is_shown, task.is_worse) == ("non-inferiority-ar", False, True)


@pytest.mark.parametrize(("score", "margin"), [(0.0, 0.005), (0.0, 1.0), (1.0, 0.005), (100.0, 1.0)])
def test_equal_answers_have_the_same_verdict_on_both_scales(score: float, margin: float) -> None:
    found = gate(metrics=SegmentScores("accuracy", {"old": [score] * 100, "new": [score] * 100}), margin=margin)
    assert (found.tasks[0].margin_test, found.verdict) == ("score", "inconclusive")


def test_shares_beside_percentages_are_refused() -> None:
    with pytest.warns(InputWarning, match="from 0 to 1, and those of b reach 100"):
        metric = SegmentScores("right", {"a": [0, 1] * 20, "b": [100, 0] * 20})
    with pytest.raises(InputError, match="convert them to one scale"):
        gate(metrics=metric, margin=0.1)
