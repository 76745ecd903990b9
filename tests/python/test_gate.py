"""Gates: verdicts against slow twins, exit codes, what people and programs read, and bad input."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from itertools import product
from pathlib import Path
from statistics import NormalDist
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from numpy.typing import NDArray

import reshuffle
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
from reshuffle.cli.main import run
from reshuffle.data.demo import demo_corpus
from reshuffle.inference.gate import verdict_of
from reshuffle.types import GateFormat
from test_logs import zipped

CORPUS = demo_corpus()
DEMO = {name: list(CORPUS.systems[name]) for name in ("baseline", "tuned", "rules")}


def of_demo(base: str, new: str, *metrics: str, **options: Any) -> Gate:
    """A gate on the demo's corpus."""
    return gate(CORPUS.references, {base: DEMO[base], new: DEMO[new]}, list(metrics), n_resamples=999, **options)


def scores(new: NDArray[np.float64] | list[float], base: Any = 0.0, name: str = "points") -> SegmentScores:
    """Scores of a baseline and a new system."""
    return SegmentScores(name, {"base": np.zeros(len(new)) + base, "new": np.asarray(new)})


def noisy(n: int, mean: float, name: str = "points", seed: int = 1) -> SegmentScores:
    """Scores whose differences have a standard deviation of 1."""
    values = np.random.default_rng(seed).normal(size=n)
    return scores((values - values.mean() + mean).round(2), name=name)


def by_system(metric: SegmentScores) -> dict[str, Any]:
    given: Any = metric.scores
    return dict(given)


def labelled(difference: float, n: int = 80, seed: int = 0) -> list[SegmentScores]:
    """Labels of n of 400 segments, whose differences have this mean and a standard deviation of 1, and a judge."""
    rng = np.random.default_rng(seed)
    base, apart = rng.normal(size=(2, 400))
    both = np.array([base, base + apart - apart.mean() + difference])
    people = np.where(rng.permutation(400) < n, both, np.nan)
    judge = both + rng.normal(0, 0.5, both.shape)
    return [
        SegmentScores("people", dict(zip(("base", "new"), people, strict=True)), missing="pairwise"),
        SegmentScores("judge", dict(zip(("base", "new"), judge, strict=True))),
    ]


@pytest.mark.parametrize(
    ("difference", "margin", "verdict"), [(0.3, 0.2, "allow"), (-0.6, 0.2, "reject"), (0.0, 0.1, "inconclusive")]
)
def test_labels_have_three_verdicts(difference: float, margin: float, verdict: str) -> None:
    metrics = labelled(difference)
    found = gate(metrics=metrics, human="people", margin={"people": margin})
    assert found.verdict == verdict
    (task,) = found.tasks
    (own,) = [each for each in reshuffle.human(metrics=metrics).tables["differences"] if each.predictor == "judge"]
    assert (task.difference, task.standard_error, task.n_units) == (own.estimate, own.standard_error, own.labelled)
    # The one-sided tests beside the two-sided one, and the bound beside the interval.
    assert min(task.worse_pvalue, 1 - task.worse_pvalue) == pytest.approx(own.pvalue / 2)
    wide = reshuffle.human(metrics=metrics, confidence_level=0.9).tables["differences"][1]
    assert task.bound == pytest.approx(wide.low)
    assert task.bound is not None
    assert task.margin_pvalue is not None
    assert task.is_shown == (task.bound > -margin) == (task.margin_pvalue <= 0.05)
    assert task.is_worse == (wide.high < 0)


@pytest.mark.parametrize("shift", [-1.0, 0.0, 0.1])
def test_labels_that_all_differ_by_the_same_show_nothing(shift: float) -> None:
    """As in the table of ``human``: whatever the metric says, no error can be known."""
    people, judge = labelled(0.3)
    base = np.asarray(by_system(people)["base"])
    metrics = [SegmentScores("people", {"base": base, "new": base + shift}, missing="pairwise"), judge]
    found = gate(metrics=metrics, human="people", margin={"people": 0.2})
    (task,) = found.tasks
    assert found.verdict == "inconclusive"
    assert (task.standard_error, task.bound, task.margin_pvalue, task.worse_pvalue) == (None, -np.inf, 1, 1)
    (own,) = [each for each in reshuffle.human(metrics=metrics).tables["differences"] if each.predictor == "judge"]
    assert own.pvalue == 1
    said = " ".join(found.render("text").split())
    assert "people is not shown to be within 0.2 of the baseline" in said
    assert "The labels of people, or their differences, are all equal" in said
    assert reshuffle.read_json(found.render("json")) == found


def test_labels_of_the_same_outputs() -> None:
    same = [
        SegmentScores(each.name, dict.fromkeys(("base", "new"), by_system(each)["base"]), missing=each.missing)
        for each in labelled(0.3)
    ]
    found = gate(metrics=same, human="people", margin={"people": 0.2})
    assert (found.verdict, found.tasks[0].bound, found.tasks[0].standard_error) == ("allow", 0, 0)
    assert "the systems do not differ under any metric" in found.render("text")


def test_labels_of_errors() -> None:
    """Where lower is better, the verdicts are those of the negative labels."""
    metrics = labelled(-0.6)
    errors = [
        SegmentScores(
            each.name, {name: -np.asarray(values) for name, values in by_system(each).items()}, False, each.missing
        )
        for each in metrics
    ]
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


@pytest.mark.parametrize(
    ("metrics", "options", "message"),
    [
        (labelled(0.0), {"human": "judge", "margin": {"people": 1}}, "judge has no missing scores"),
        (labelled(0.0), {"human": "people", "margin": {"judge": 1}}, "judge only predicts people"),
        (labelled(0.0), {"human": "people", "rule": "superior", "primary": "judge"}, "no margin for people"),
        ([noisy(50, 0.0)], {"margin": 1, "history": 0}, "history must be the path of a file, got 0"),
        (labelled(0.0, n=10), {"human": "people", "margin": {"people": 1}}, "only 10 segments have labels"),
        (
            [*labelled(0.0), noisy(400, 0.0)],
            {"human": "people", "margin": {"people": 1}},
            "judge, points could predict people, but a gate takes one predictor",
        ),
    ],
)
def test_labels_that_a_gate_does_not_take(metrics: list[SegmentScores], options: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        gate(metrics=metrics, **options)


def test_labels_that_were_chosen() -> None:
    metrics = labelled(0.0)
    judge = np.asarray(by_system(metrics[1])["base"])
    low = judge < np.quantile(judge, 0.2)
    people = SegmentScores(
        "people",
        {name: np.where(low, values, np.nan) for name, values in by_system(labelled(0.0, n=400)[0]).items()},
        missing="pairwise",
    )
    with pytest.warns(reshuffle.InputWarning, match="judge scores segments with labels differently"):
        gate(metrics=[people, metrics[1]], human="people", margin={"people": 1})


def test_command_of_labels(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    files = []
    for metric in labelled(-0.6):
        path = tmp_path / f"{metric.name}.tsv"
        rows = np.array([*by_system(metric).values()]).T.tolist()
        path.write_text("base\tnew\n" + "".join(f"{a}\t{b}\n" for a, b in rows))
        files += ["--scores", metric.name, str(path)]
    assert run(["gate", *files, "--human", "people", "--margin", "people=0.2"]) == 1
    assert capfd.readouterr().out.startswith("REJECT: people is worse (-0.6")


def test_p_values_are_those_of_the_tests_that_the_gate_names() -> None:
    found = of_demo("baseline", "rules", "bleu", "ter", margin={"bleu": 20, "TER": 11})
    texts = CORPUS.references, {name: DEMO[name] for name in ("baseline", "rules")}
    for test, values in (
        ("non-inferiority-studentized", ("margin_pvalue", "margin_test")),
        ("auto", ("worse_adjusted_pvalue", "worse_test")),
    ):
        is_margin = test != "auto"
        chosen: Any = NonInferiority({"bleu": 20, "ter": 11}, by="studentized") if is_margin else test
        others: dict[str, Any] = (
            {"adjust": "none"} if is_margin else {"alternative": "worse", "family": "all", "adjust": "maxt"}
        )
        expected = compare(*texts, ["bleu", "ter"], test=chosen, n_resamples=999, interval="delta", **others)
        for task, pair in zip(found.tasks, expected.comparisons, strict=True):
            p, name = (getattr(task, value) for value in values)
            assert (pair.test.pvalue if is_margin else pair.test.adjusted_pvalue) == p
            assert name == ("non-inferiority-studentized" if is_margin else "bootstrap-both")
            assert pair.difference == task.difference
            if is_margin:
                assert pair.confidence_interval is not None
                ends = pair.confidence_interval
                assert task.bound == (ends.low if task.higher_is_better else ends.high)
    assert [found.tasks[0].margin, found.tasks[1].margin] == [20, 11]


@pytest.mark.parametrize(
    ("mean", "margin", "verdict"),
    [(0.0, 0.5, "allow"), (0.0, 0.05, "inconclusive"), (-0.6, 0.5, "reject"), (-0.3, 0.6, "allow")],
)
def test_verdicts_of_means(mean: float, margin: float, verdict: str) -> None:
    found = gate(metrics=noisy(100, mean), margin={"points": margin}, n_resamples=1999)
    assert found.verdict == verdict
    # A proven regression within the margin is allowed, and said.
    assert (mean == -0.3) == ("by less than the margin" in str(found))


def test_the_verdict_is_what_its_definition_says() -> None:
    task = gate(metrics=noisy(50, 0), margin={"points": 1}, n_resamples=99).tasks[0]
    for rule, states in product(
        ("non-inferior", "superior", "no-regression"), product(product((False, True), repeat=3), repeat=2)
    ):
        tasks = [
            replace(task, has_enough=enough, is_shown=enough and shown, is_worse=enough and worse)
            for enough, shown, worse in states
        ]
        if rule == "no-regression":
            tasks = [replace(each, is_shown=each.has_enough) for each in tasks]
        expected = "inconclusive"
        if any(each.is_worse for each in tasks):
            expected = "reject"
        elif rule == "no-regression" and all(each.has_enough for each in tasks):
            expected = "allow"
        if rule != "no-regression" and all(each.is_shown for each in tasks):
            expected = "allow"
        assert verdict_of(rule, tasks) == expected, (rule, states)


def test_margins_in_standard_deviations_and_per_cent_of_the_baseline() -> None:
    rng = np.random.default_rng(2)
    base, new = rng.normal(50, 10, (2, 80)).round(2)
    metric = SegmentScores("points", {"base": base, "new": new})
    (in_sd,) = gate(metrics=metric, margin={"points": "0.1sd"}).tasks
    (in_percent,) = gate(metrics=metric, margin={"points": "2%"}).tasks
    assert in_sd.margin == pytest.approx(0.1 * base.std(ddof=1))
    assert in_percent.margin == pytest.approx(0.02 * base.mean())
    assert (in_sd.given_margin, in_percent.given_margin) == ("0.1sd", "2%")


def test_a_margin_without_a_name_is_that_of_the_only_metric_that_needs_one(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    named = gate(metrics=noisy(50, -1), margin={"points": 0.5}, n_resamples=99)
    for margin in (0.5, "0.5", np.float64(0.5)):
        assert gate(metrics=noisy(50, -1), margin=margin, n_resamples=99) == named
    both = of_demo("baseline", "tuned", "bleu", "chrf", rule="superior", primary="bleu", margin="2%")
    assert [task.given_margin for task in both.tasks] == [None, "2%"]
    people = gate(metrics=labelled(0.3), human="people", margin=0.2)
    assert people == gate(metrics=labelled(0.3), human="people", margin={"people": 0.2})
    line = "baseline.txt tuned.txt --ref ref.txt --format json"
    assert command(f"{line} --margin 9") == 0
    assert json.loads(capsys.readouterr().out)["tasks"][0]["margin"] == 9
    # A number after the first margin may be a file.
    (folder / "baseline.txt").rename(folder / "7")
    assert command("--ref ref.txt --margin bleu=9 7 tuned.txt") == 0
    with pytest.raises(InputError, match="BLEU has two margins"):
        command("--margin 9 bleu=9 7 tuned.txt --ref ref.txt")
    with pytest.raises(InputError, match="the margin is given twice"):
        command("7 tuned.txt --ref ref.txt --margin 9 --margin 8")
    with pytest.raises(
        InputError, match=r"one margin for 2 metrics, BLEU, chrF2: say which metric .* margin \(such as BLEU=9"
    ):
        command("7 tuned.txt --ref ref.txt --margin 9 -m bleu chrf")


@pytest.mark.parametrize("human", [None, "people"])
def test_a_margin_of_one_test_set_replaces_that_of_all(human: str | None) -> None:
    metric = human or "points"
    sets = {
        name: TestSet(metrics=noisy(50, -1) if human is None else labelled(0.3)) for name in ("news", "a/b", "talks")
    }
    margins = {metric: 3, f"news/{metric}": 4, f"a/b/{metric}": 5}
    assert [task.margin for task in gate(sets=sets, margin=margins, human=human, n_resamples=99).tasks] == [4, 5, 3]
    del margins[metric]
    with pytest.raises(InputError, match=f"test set 'talks': no margin for {metric}"):
        gate(sets=sets, margin=margins, human=human, n_resamples=99)
    with pytest.raises(InputError, match=r"^unknown test set of a margin 'tolks': did you mean 'talks'"):
        gate(sets=sets, margin={metric: 3, f"tolks/{metric}": 2}, human=human, n_resamples=99)
    with pytest.raises(InputError, match=f"'talks', which is a test set: write talks/METRIC, such as talks/{metric}=2"):
        gate(sets=sets, margin={metric: 3, "talks": 2}, human=human, n_resamples=99)
    with pytest.raises(InputError, match=f"a metric is primary on all test sets, so write '{metric}'"):
        gate(sets=sets, margin={metric: 3}, rule="superior", primary=f"news/{metric}", human=human, n_resamples=99)


def test_how_likely_it_was_to_be_allowed_is_said_if_the_gate_is_inconclusive() -> None:
    for verdict, found in RESULTS.items():
        assert ("If nothing had changed" in str(found)) == (verdict == "inconclusive")
    few = {name: TestSet(metrics=noisy(n, 0)) for name, n in zip("abcd", (30, 40, 50, 60), strict=True)}
    found = gate(sets={name: few[name] for name in "ab"}, margin=0.2, n_resamples=99)
    said = re.search(
        r"or about (\d+) more segments of a and (\d+) more segments of b\. Tightest", " ".join(f"{found}".split())
    )
    assert said
    assert [task.more_units for task in found.tasks] == pytest.approx([int(each) for each in said.groups()], rel=0.1)
    found = gate(sets=few, margin=0.15, n_resamples=99)
    name = max(found.tasks, key=lambda task: task.more_units or 0).test_set
    assert f" more segments of {name} and fewer of others. Tightest" in " ".join(f"{found}".split())


def test_margins_of_bleu_in_standard_deviations_follow_from_its_standard_error() -> None:
    (task,) = of_demo("baseline", "tuned", "bleu", margin={"bleu": "0.1sd"}).tasks
    counts = reshuffle.metric("bleu").suff_stats(CORPUS.references, {"baseline": DEMO["baseline"]})
    error = np.ravel(reshuffle.standard_error(counts, "bleu"))
    assert task.margin == pytest.approx(0.1 * float(error[0]) * np.sqrt(len(DEMO["baseline"])))


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
    assert weakest.more_units is not None
    assert weakest.standard_error is not None
    larger = weakest.standard_error * np.sqrt(100 / (100 + weakest.more_units))
    assert 0.1 / larger == pytest.approx(found.needed_room, rel=0.01)
    assert "Tightest margin: m0" in str(found)


def test_identical_outputs_are_allowed_and_that_is_said() -> None:
    texts = {"base": DEMO["tuned"], "new": DEMO["tuned"]}
    found = gate(CORPUS.references, texts, ["bleu", "chrf"], margin={"bleu": 0.1, "chrf": 0.1})
    assert found.allowed
    assert found.is_identical
    assert str(found).startswith("ALLOW: the systems do not differ under any metric.")
    note = "The outputs are identical, or have the same scores everywhere: a file may have been passed twice."
    for fmt in ("text", "markdown", "html", "junit"):
        assert note in " ".join(found.render(fmt).split()), fmt
    assert json.loads(found.render("json"))["is_identical"] is True
    assert note not in str(RESULTS["allow"])
    ties = gate(metrics=scores([1.0] * 30, base=1.0), margin={"points": 1})
    assert ties.is_identical
    assert ties.allowed


def test_fewer_than_20_segments_are_inconclusive() -> None:
    few = gate(metrics=scores([-5.0] * 19), margin={"points": 1})
    assert (few.verdict, few.tasks[0].is_worse) == ("inconclusive", False)
    assert "19 segments are too few" in str(few)
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


def test_missing_scores_are_left_out() -> None:
    values = np.where(np.arange(60) % 3 == 0, np.nan, -1.0) + np.arange(60) % 2
    found = gate(
        metrics=SegmentScores("points", {"base": np.zeros(60), "new": values}, missing="pairwise"),
        margin={"points": 0.9},
    )
    (task,) = found.tasks
    assert (task.n_units, task.n_missing, task.difference) == (40, 20, -0.5)
    assert "points: 40 of 60 segments were compared, those with scores of both" in found.render("text")
    assert all(each.segment % 3 != 1 for each in task.lost if isinstance(each.segment, int))


def test_test_sets_and_metrics_are_one_family() -> None:
    first, second = noisy(60, 0.0, seed=3), noisy(80, -0.9, seed=4)
    found = gate(
        sets={"news": reshuffle.TestSet(metrics=first), "talks": reshuffle.TestSet(metrics=second)},
        margin={"points": 0.6},
        n_resamples=999,
    )
    assert [task.name for task in found.tasks] == ["points on news", "points on talks"]
    assert found.verdict == "reject"
    assert "points on talks is worse" in str(found)
    alone = gate(metrics=second, margin={"points": 0.6}, n_resamples=999)
    assert alone.tasks[0].worse_adjusted_pvalue <= found.tasks[1].worse_adjusted_pvalue


def test_superior_needs_primary_metrics_to_be_better() -> None:
    better, equal = noisy(100, 0.5, "a"), noisy(100, 0.0, "b", seed=5)
    rule: dict[str, Any] = {"rule": "superior", "margin": {"b": 0.5}, "n_resamples": 999}
    assert gate(metrics=[better, equal], primary="a", **rule).allowed
    swapped = gate(metrics=[better, equal], primary="b", rule="superior", margin={"a": 0.5}, n_resamples=999)
    assert swapped.verdict == "inconclusive"
    assert "b is not shown to be better" in str(swapped)


def test_no_regression_says_what_it_would_have_found() -> None:
    found = gate(metrics=noisy(100, 0.0), rule="no-regression", n_resamples=999)
    (task,) = found.tasks
    assert found.allowed
    assert task.standard_error is not None
    factor = NormalDist().inv_cdf(0.95) + NormalDist().inv_cdf(0.8)
    assert task.detectable == pytest.approx(factor * task.standard_error)
    assert "found with a probability of 80%: points 0.2" in str(found)


def test_functions_of_texts_are_gated_from_draws() -> None:
    def words(hypotheses: list[str], references: list[list[str | None]]) -> float:
        return sum(len(line.split()) for line in hypotheses) / len(hypotheses)

    few = {name: lines[:30] for name, lines in (("base", DEMO["baseline"]), ("new", DEMO["rules"]))}
    found = gate(CORPUS.references[0][:30], few, CorpusFunction("words", words), margin={"words": 5}, n_resamples=99)
    assert (found.tasks[0].margin_test, found.tasks[0].lost) == ("non-inferiority", ())
    with pytest.raises(InputError, match="give its margin in points"):
        gate(CORPUS.references[0][:30], few, CorpusFunction("words", words), margin={"words": "1sd"}, n_resamples=99)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: gate(metrics=noisy(30, 0)), "no margin for points: say how much worse"),
        (lambda: gate(metrics=noisy(30, 0), margin={"bleu": 1}), "unknown metric of a margin"),
        (lambda: gate(metrics=noisy(30, 0), margin={"points": 0}), "margin of points must be a finite number above 0"),
        (lambda: gate(metrics=noisy(30, 0), margin={"points": -1}), "margin of points must be a finite number above 0"),
        (lambda: gate(metrics=noisy(30, 0), margin={"points": float("nan")}), "must be a finite number above 0"),
        (lambda: gate(metrics=noisy(30, 0), margin={"points": "much"}), "must be a number of points, such as 0.5"),
        (lambda: gate(metrics=noisy(30, 0), margin="much"), "the margin must be a number of points, such as 0.5"),
        (lambda: gate(metrics=noisy(30, 0), margin=True), "margin must be a mapping"),
        (
            lambda: gate(metrics=[noisy(30, 0), noisy(30, 0, "others")], margin=1),
            r"one margin for 2 metrics, points, others: say which metric it is of, with margin \(such as points=1\)",
        ),
        (lambda: gate(metrics=noisy(30, 0), margin={"points": 1, "bleu": 1}), "unknown metric of a margin 'bleu'"),
        (lambda: gate(metrics=noisy(30, 0), margin={"points": "1%"}), "baseline's score is 0: give the margin in"),
        (
            lambda: gate(metrics=noisy(30, 0), margin={"points": 1}, rule="no-regression"),
            "has no margins: leave out margin, or",
        ),
        (
            lambda: gate(metrics=noisy(30, 0), margin={"points": 1}, primary="points"),
            "has no primary metrics: leave out primary, or",
        ),
        (lambda: gate(metrics=noisy(30, 0), rule="superior"), "must be better: name them with primary$"),
        (lambda: gate(metrics=noisy(30, 0), rule="superior", primary="bleu"), "unknown primary metric 'bleu'"),
        (lambda: gate(metrics=noisy(30, 0), margin={"points": 1}, rule="best"), "unknown rule 'best'"),
        (lambda: gate(metrics=noisy(30, 0), margin={"points": 1}, alpha=0.5), "alpha"),
        (
            lambda: gate(metrics=noisy(30, 0), margin={"points": 1}, n_resamples=18),
            "with 19 replicates or more, got 18",
        ),
        (lambda: gate(metrics=scores([1.0]), margin={"points": 1}), "only one segment"),
        (
            lambda: gate(CORPUS.references, DEMO, margin={"bleu": 1}),
            "expected two systems, a baseline and a new one, got 3",
        ),
        (lambda: gate(sets={}, margin={"bleu": 1}), "expected a mapping of names to test sets"),
        (
            lambda: gate(CORPUS.references, DEMO, sets={"a": (None, None)}, margin={"bleu": 1}),
            "sets cannot be combined",
        ),
    ],
)
def test_bad_arguments_are_refused_in_a_sentence(call: Callable[[], Gate], message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()


# What programs and people read.


def results() -> dict[str, Gate]:
    """A gate of each kind."""
    return {
        "allow": of_demo("baseline", "tuned", "bleu", "chrf", margin={"bleu": 2, "chrf": "2%"}),
        "reject": of_demo("baseline", "rules", "bleu", "ter", margin={"bleu": 2, "ter": 2}),
        "inconclusive": of_demo("tuned", "baseline", "bleu", "chrf", margin={"bleu": 1, "chrf": 5}),
    }


RESULTS = results()


@pytest.mark.parametrize("verdict", RESULTS)
def test_every_format_has_the_verdict_and_json_is_read_back(verdict: str) -> None:
    found = RESULTS[verdict]
    assert found.verdict == verdict
    assert reshuffle.read_json(found.render("json")) == found
    assert reshuffle.read_html(found.render("html")) == found
    formats: tuple[GateFormat, ...] = ("text", "markdown", "html", "latex", "typst")
    for fmt in formats:
        assert verdict.upper() in found.render(fmt)
    assert [row["verdict"] for row in found.to_dicts()] == [verdict] * 2


def test_text_is_short_and_has_the_table_of_tasks_that_are_not_allowed() -> None:
    lines = [line for line in str(RESULTS["inconclusive"]).splitlines() if line]
    assert len(lines) <= 16
    assert lines[0].startswith("INCONCLUSIVE: BLEU is not shown to be within 1 of the baseline (-2.05, bound -4.")
    tables = {verdict: "adjusted p (worse)" in str(found) for verdict, found in RESULTS.items()}
    assert tables == {"allow": False, "reject": True, "inconclusive": True}


def test_which_scores_are_better_is_said_unless_the_name_says_it() -> None:
    metrics = [noisy(80, 0, "points"), noisy(80, 0, "WER", 2), noisy(80, 0, "BLEU", 3)]
    metrics.append(SegmentScores("seconds", {"base": [1.0] * 80, "new": [1.0, 1.1] * 40}, higher_is_better=False))
    found = gate(metrics=metrics, margin=dict.fromkeys(["points", "WER", "BLEU", "seconds"], 2), n_resamples=99)
    for fmt in ("text", "markdown"):
        assert "Under points and WER, higher scores are better." in found.render(fmt)
        assert "Under seconds, lower scores are better." in found.render(fmt)
    assert "Under TER, lower scores are better." in str(RESULTS["reject"])
    assert "scores are better" not in str(RESULTS["allow"])


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


@pytest.mark.parametrize("verdict", RESULTS)
def test_junit_has_a_case_for_each_task(verdict: str) -> None:
    root = ElementTree.fromstring(RESULTS[verdict].render("junit"))
    failures = [case.find("failure") is not None for case in root.iter("testcase")]
    assert root.tag == "testsuite"
    assert (root.get("tests"), root.get("failures")) == ("2", str(sum(failures)))
    assert failures == {"allow": [False] * 2, "reject": [True] * 2, "inconclusive": [True, False]}[verdict]


def test_a_loss_within_its_margin_is_rejected_with_the_open_task_named() -> None:
    """Of a task that is worse within its margin, one beyond it, one that is open and one that passes."""
    tasks = {"math": (0.3, 0.9), "qa": (0.0, 0.5), "code": (0.0, 0.1)}
    sets = {name: TestSet(metrics=noisy(200, -mean)) for name, (mean, _) in tasks.items()}
    margin = {f"{name}/points": allowed for name, (_, allowed) in tasks.items()}
    found = gate(sets=sets, margin=margin, n_resamples=999)
    assert found.verdict == "reject"
    said = " ".join(f"{found}".split())
    assert re.search(r"points on math is worse \(.*?\), though within its margin of 0.9; points on code is not", said)
    assert "A loss within its margin is allowed only if no other task is open." in said
    failures = [case.find("failure") for case in ElementTree.fromstring(found.render("junit")).iter("testcase")]
    assert [None if each is None else each.get("type") for each in failures] == ["reject", None, "inconclusive"]
    texts = [each.text or "" for each in failures if each is not None]
    assert texts[0].startswith("REJECT: points on math is worse")
    assert texts[1].startswith("INCONCLUSIVE: points on code is not shown to be within 0.1")
    # A loss beyond its margin is reason enough.
    found = gate(sets=sets, margin=margin | {"math/points": 0.05}, n_resamples=999)
    assert "code is not" not in str(found)


def test_junit_can_hold_any_name() -> None:
    name = 'a"<&\x00\x1b'
    found = gate(metrics=noisy(30, -2, name=name), margin={name: 1}, n_resamples=99)
    (case,) = ElementTree.fromstring(found.render("junit")).iter("testcase")
    assert case.get("name") == 'a"<&\\u0000\\u001b'


# The command line.


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the demo's texts, in which commands run."""
    for name, lines in {**DEMO, "ref": CORPUS.references[0]}.items():
        (tmp_path / f"{name}.txt").write_text("".join(f"{line}\n" for line in lines), "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def command(line: str) -> int:
    return run(["gate", *line.split(), "-n", "999"])


@pytest.mark.parametrize(
    ("line", "verdict", "code"),
    [
        ("baseline.txt tuned.txt --ref ref.txt -m bleu chrf --margin bleu=2 chrf=2%", "ALLOW", 0),
        ("baseline.txt rules.txt --ref ref.txt --margin bleu=0.8", "REJECT", 1),
        ("tuned.txt baseline.txt --ref ref.txt --margin bleu=0.01sd", "INCONCLUSIVE", 5),
        ("--set news ref.txt baseline.txt tuned.txt --margin bleu=2", "ALLOW", 0),
    ],
)
def test_the_exit_code_is_the_verdict(
    folder: Path, capsys: pytest.CaptureFixture[str], line: str, verdict: str, code: int
) -> None:
    assert command(line) == code
    assert capsys.readouterr().out.startswith(f"{verdict}: ")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("baseline.txt --ref ref.txt --margin bleu=1", "expected BASE and NEW"),
        ("--margin r1=1 --human r1 r2", "got r2: if these are other raters, a gate takes one"),
        ("--scores r1 a --scores r2 a --margin r1=1 --human r1 r2 r3", "got r2, r3: if these are other raters"),
        ("baseline.txt tuned.txt --margin bleu=1", "no reference: add --ref REF; if these are scores of segments"),
        ("", "got none: write 'reshuffle gate BASE NEW --ref REF --margin bleu=0.8', or for scores"),
        ("ref.txt baseline.txt tuned.txt", "if one is the reference, write BASE NEW --ref REF"),
        ("a.scores b.scores --scores rating --margin 1", "without texts, write --scores rating a.scores b.scores"),
        ("--scores rating a.scores --margin 1", "expected two systems, a baseline and a new one, got 1 system: a"),
        ("base new --scores r --margin 1", "without texts, write --scores r base new"),
        ("baseline.txt tuned.txt --ref ref.txt", r"no margin for BLEU: .* with margin \(such as BLEU=0.8\)"),
        ("--scores r right.scores right.scores", r"with margin \(such as r=0.02\)"),
        ("--scores r a.scores b.scores --margin 1", "if the files are of several tasks, name those of each in a manif"),
        ("baseline.txt tuned.txt --ref ref.txt --set a ref.txt baseline.txt tuned.txt --margin bleu=1", "--set"),
        ("baseline.txt tuned.txt --ref ref.txt --margin bleu=5pp", "such as bleu=0.5, bleu=0.1sd or bleu=1%, got"),
        ("baseline.txt tuned.txt --ref ref.txt --margin bleu=1 bleu=2", "margin of bleu is given twice"),
        ("baseline.txt tuned.txt --ref ref.txt -m bleu ter --margin bleu=1", "no margin for TER"),
        ("baseline.txt tuned.txt --ref ref.txt -m bleu ter --margin 2%", r"with margin \(such as BLEU=2%\)"),
        (
            "baseline.txt tuned.txt --ref ref.txt --margin bleu=1 chrf=1",
            "'chrf', which is not compared: name it, too, ",
        ),
        ("--set a ref.txt baseline.txt tuned.txt --ref ref.txt --margin 1", "write the reference after NAME"),
        ("flat.toml --margin 1", "got flat.toml: if it is a manifest, write --manifest before it"),
        (
            "--manifest flat.toml --margin 1",
            r"flat.toml: unknown key 'qa': if it is a test set, write \[sets.q",
        ),
        ("baseline.txt tuned.txt --ref ref.txt --margin bleu=1 --page https://x", "--page is for the format markdown"),
        ("baseline.txt short.txt --ref ref.txt --margin bleu=1", "must match segment by segment"),
        ("--scores rating a.scores b.scores --margin rating=1", "segments"),
        ("--scores rating a.scores nan.scores --margin rating=1", "nan.scores"),
    ],
)
def test_bad_input_is_refused_in_a_sentence(folder: Path, line: str, message: str) -> None:
    (folder / "short.txt").write_text("a\n")
    (folder / "right.scores").write_text("1\n0\n")
    (folder / "a.scores").write_text("1\n2\n3\n")
    (folder / "b.scores").write_text("1\n2\n")
    (folder / "nan.scores").write_text("1\nNaN\n3\n")
    (folder / "flat.toml").write_text('[qa]\nscores.rating = ["a.scores", "b.scores"]\n')
    for name in ("base", "new"):
        (folder / name).mkdir()
        (folder / name / "talks.txt").write_text("1\n")
    with pytest.raises(InputError, match=message):
        command(line)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("--rule superior --margin bleu=1", "name them with --primary"),
        ("--primary bleu --margin bleu=1", "the rule non-inferior has no primary metrics: leave out --primary"),
        ("--rule no-regression --margin bleu=1", "has no margins: leave out --margin"),
        ("--margin bleu=1 --alpha 0.5", "--alpha must be below 0.5, got 0.5"),
    ],
)
def test_options_that_do_not_fit_are_refused_with_their_flags_before_files_are_read(
    run: Any, line: str, message: str
) -> None:
    outcome = run("gate", "none.txt", "nothing.txt", "--ref", "no.txt", *line.split())
    assert (outcome.code, message in outcome.err) == (2, True), outcome.err


def test_files_of_the_same_names_in_two_folders_are_of_two_systems_on_each_test_set(folder: Path, run: Any) -> None:
    words = []
    for name in ("base", "new"):
        (folder / name).mkdir()
    for name in ("news", "talks"):
        for at, system in (("base", "baseline"), ("new", "tuned")):
            (folder / at / f"{name}.txt").write_bytes((folder / f"{system}.txt").read_bytes())
        words += ["--set", name, "ref.txt", f"base/{name}.txt", f"new/{name}.txt"]
    found = json.loads(run("gate", *words, "--margin", "bleu=2", "-n", "999", "--format", "json").out)
    assert (found["baseline"], found["system"], len(found["tasks"])) == ("base", "new", 2)


def logs_in_folders(folder: Path, base: list[str], new: list[str]) -> str:
    """A log of right and wrong answers for each name, in two folders; the words that name them."""
    for system, names in (("base", base), ("new", new)):
        (folder / system).mkdir()
        for n, name in enumerate(names):
            (folder / system / name).write_text('{"correct": true}\n{"correct": false}\n' * (20 + n))
    return "--scores correct base new --margin correct=0.5"


def test_folders_of_scores_have_a_task_for_each_file_as_in_a_manifest(folder: Path, run: Any) -> None:
    line = logs_in_folders(folder, ["qa.jsonl", "math.jsonl"], ["qa.jsonl", "math.jsonl"])
    (folder / "tasks.toml").write_text(
        "".join(
            f'sets.{name}.scores.correct = {{ base = "base/{name}.jsonl", new = "new/{name}.jsonl" }}\n'
            for name in ("math", "qa")
        )
    )
    found = run("gate", *line.split(), "-n", "999", "--format", "json").out
    again = run("gate", *"--manifest tasks.toml --margin correct=0.5 -n 999 --format json".split()).out
    assert json.loads(found)["tasks"] == json.loads(again)["tasks"]
    assert [task["test_set"] for task in json.loads(found)["tasks"]] == ["math", "qa"]
    lower = run("gate", *line.split(), "--lower-is-better", "correct", "-n", "999", "--format", "json").out
    assert [task["higher_is_better"] for task in json.loads(lower)["tasks"]] == [False, False]
    compared = json.loads(run("compare", *line.split()[:4], "-n", "99", "--format", "json").out)
    assert [*compared["sets"]] == ["math", "qa"]


def test_documents_of_folders_of_scores_are_a_column_of_each_file(folder: Path, run: Any) -> None:
    line = [
        "gate",
        *logs_in_folders(folder, ["qa.jsonl", "math.jsonl"], ["qa.jsonl", "math.jsonl"]).split(),
        "-n",
        "999",
    ]
    for file in folder.glob("*/*.jsonl"):
        rows = [{**json.loads(row), "doc": n // 2} for n, row in enumerate(file.read_text().splitlines())]
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = json.loads(run(*line, "--docs", "doc", "--format", "json").out)
    assert [(task["unit"], task["n_units"]) for task in found["tasks"]] == [("document", 21), ("document", 20)]
    assert "--docs is for one test set" in run(*line, "--docs", "ref.txt").refusal()
    mixed = run("gate", "--scores", "correct", "base", "new/qa.jsonl", "--margin", "1").refusal()
    assert "would both be called qa" in mixed
    assert "name only folders, one of each system" in mixed
    assert run("gate", "--scores", "correct", "base", "nwe", "--margin", "1").err.count("\n") == 1


def test_folders_of_samples_of_lm_eval_are_matched_by_task(folder: Path, run: Any) -> None:
    date = "2026-11-28T10-00-0"
    names = [[f"samples_{task}_{date}{n}.5.jsonl" for task in ("a.b", "c")] for n in (1, 2)]
    line = logs_in_folders(folder, [*names[0], f"results_{date}1.5.json"], names[1])
    outcome = run("gate", *line.split(), "-n", "999", "--format", "json")
    assert [task["test_set"] for task in json.loads(outcome.out)["tasks"]] == ["a.b", "c"]


@pytest.mark.parametrize(
    ("base", "new", "message"),
    [
        (["qa.jsonl", "math.jsonl"], ["qa.jsonl"], "the folder new has no file for math"),
        (["qa.jsonl", "qa.txt"], ["qa.jsonl"], r"base/qa.jsonl and base/qa.txt are both of qa: move one"),
    ],
)
def test_folders_of_other_files_are_refused(folder: Path, base: list[str], new: list[str], message: str) -> None:
    line = logs_in_folders(folder, base, new)
    with pytest.raises(InputError, match=message):
        command(line)


def test_the_line_for_folders_of_texts_works(folder: Path) -> None:
    for name, system in (("base", "baseline"), ("new", "tuned")):
        (folder / name).mkdir()
        (folder / name / "news.2.txt").write_bytes((folder / f"{system}.txt").read_bytes())
    with pytest.raises(InputError, match=r"lines such as sets\.\"news\.2\"") as caught:
        command("base new --ref ref.txt --margin bleu=2")
    (folder / "tasks.toml").write_text(str(caught.value).partition("such as ")[2])
    assert command("--manifest tasks.toml --margin bleu=2") == 0


def test_labels_of_several_test_sets(folder: Path, run: Any) -> None:
    for name, values in by_system(labelled(0.3)[0]).items():
        (folder / f"{name}.people").write_text("".join(f"{value}\n" for value in values))
    for name, values in by_system(labelled(0.3)[1]).items():
        (folder / f"{name}.judge").write_text("".join(f"{value}\n" for value in values))
    (folder / "tasks.toml").write_text(
        '[sets.a.scores]\npeople = ["base.people", "new.people"]\njudge = ["base.judge", "new.judge"]\n'
    )
    line = "gate --manifest tasks.toml --human people --margin 1 --format json"
    assert json.loads(run(*line.split()).out)["verdict"] == "allow"


def test_full_text_has_the_tables_and_other_formats_have_them_anyway(folder: Path, run: Any) -> None:
    line = ["gate", "baseline.txt", "tuned.txt", "--ref", "ref.txt", "--margin", "bleu=9"]
    short, full = run(*line).out, run(*line, "--full").out
    assert full.startswith(short.splitlines()[0])
    assert len(full.splitlines()) > len(short.splitlines())
    outcome = run(*line, "--full", "--format", "json")
    assert (outcome.code, "--full changes nothing" in outcome.err) == (0, True)
    assert json.loads(outcome.out)["verdict"] == "allow"


def test_the_baseline_of_a_folder_is_said(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "scores").mkdir()
    for name in ("new", "old"):
        (folder / "scores" / f"{name}.txt").write_text("1\n0\n" * 30)
    assert command("--scores x scores --margin x=0.5") == 0
    assert (
        "the baseline is new, the first file of scores by name: name both files for another" in capsys.readouterr().err
    )
    assert command("--scores x scores/old.txt scores/new.txt --margin x=0.5") == 0
    assert "baseline is" not in capsys.readouterr().err


def test_a_configuration_has_margins_and_options_replace_its_keys(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "gate.toml").write_text('alpha = 0.1\nmetrics = ["bleu", "chrf"]\n[margin]\nbleu = 2\nchrf = "2%"\n')
    assert command("baseline.txt tuned.txt --ref ref.txt --config gate.toml --format json") == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["alpha"], [task["given_margin"] for task in found["tasks"]]) == (0.1, ["2", "2%"])
    line = "baseline.txt tuned.txt --ref ref.txt --config gate.toml --margin bleu=0.1 -m bleu --alpha 0.01"
    assert command(line) == 5
    capsys.readouterr()
    (folder / "gate.toml").write_text("margin = 2\nalpha = 0.1\n")  # of the only metric
    assert command("baseline.txt tuned.txt --ref ref.txt --config gate.toml --format json") == 0
    assert [task["given_margin"] for task in json.loads(capsys.readouterr().out)["tasks"]] == ["2"]
    (folder / "gate.toml").write_text("margins = 1\n")
    with pytest.raises(InputError, match="unknown key 'margins': did you mean 'margin'"):
        command("baseline.txt tuned.txt --ref ref.txt --config gate.toml")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("alpha = 2", "gate.toml: alpha must lie strictly between 0 and 1, got 2.0"),
        ('rule = "none"', "gate.toml: unknown rule 'none'"),
        ("margin.bleu = -1", "gate.toml: the margin of bleu must be a finite number above 0"),
        ('metrics = ["blue"]', "gate.toml: unknown metric 'blue'"),
        ('margin = "2 percent"', "gate.toml: the margin must be a number of points, such as 0.5, a number of"),
        ("margin = true", "gate.toml, margin: expected a number or a string, got the boolean true"),
        (
            'margin = 1\nmetrics = ["bleu", "ter"]',
            "gate.toml, margin: one margin for 2 metrics, BLEU, TER: say which metric it is of",
        ),
    ],
)
def test_a_bad_value_of_a_configuration_is_named_by_file_and_key(folder: Path, text: str, message: str) -> None:
    (folder / "gate.toml").write_text(text)
    with pytest.raises(InputError, match=f"^{re.escape(message)}"):
        command("baseline.txt tuned.txt --ref ref.txt --config gate.toml")


def test_a_history_may_be_named_by_the_configuration(folder: Path) -> None:
    (folder / "ci").mkdir()
    (folder / "ci" / "gate.toml").write_text('margin = 9\nhistory = "nights.jsonl"\n')
    assert command("baseline.txt tuned.txt --ref ref.txt --config ci/gate.toml") == 0
    assert len((folder / "ci" / "nights.jsonl").read_text().splitlines()) == 1


def test_metrics_of_texts_are_refused_where_all_test_sets_of_a_manifest_have_scores(folder: Path) -> None:
    for name in ("base", "new"):
        (folder / f"{name}.jsonl").write_text('{"correct": true}\n{"correct": false}\n' * 20)
    scores = '{ base = "base.jsonl", new = "new.jsonl" }'
    (folder / "tasks.toml").write_text(f"sets.qa = {{ scores.correct = {scores} }}\n")
    (folder / "gate.toml").write_text('metrics = ["bleu"]\nmargin = 0.1\n')
    for options in ("-m bleu --margin 0.1", "--config gate.toml"):
        with pytest.raises(InputError, match="-m bleu needs texts, which no test set has"):
            command(f"--manifest tasks.toml {options}")
    (folder / "gate.toml").write_text('metrics = ["correct"]\nmargin = 0.1\n')  # the scores, which need no -m
    assert command("--manifest tasks.toml --config gate.toml") == 0


def test_a_source_that_nothing_reads_is_refused(folder: Path) -> None:
    with pytest.raises(InputError, match="--source is for reports of compare with texts, and for sari"):
        command("baseline.txt tuned.txt --ref ref.txt --source ref.txt --margin bleu=2")


def test_the_help_fits_a_screen(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    run(["gate", "--help"])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 65
    for option in ("--margin METRIC=MARGIN", "--manifest FILE", "--lower-is-better NAME", "--docs FILE"):
        assert any(line.startswith(f"  {option}") for line in lines)


def test_a_saved_gate_is_shown(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command("baseline.txt tuned.txt --ref ref.txt --margin bleu=2 -o gate.json -o gate.html -o gate.xml") == 0
    capsys.readouterr()
    for saved in ("gate.json", "gate.html"):
        run(["show", saved, "--full"])
        shown = capsys.readouterr().out
        assert shown.startswith("ALLOW: BLEU is not worse by 2 or more")
        assert "The segments that lost most under BLEU" in shown
    assert (folder / "gate.xml").read_text().startswith("<?xml")
    with pytest.raises(InputError, match="holds a gate: expected a comparison"):
        run(["plot", "gate.json", "forest", "-o", "x.pdf"])


def test_a_gate_is_verified_without_a_line_in_its_history(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = "gate tuned.txt baseline.txt --ref ref.txt --margin bleu=0.1 -n 999 --history nights.jsonl".split()
    assert run([*line, "-o", "gate.json"]) == 5
    before = Path("nights.jsonl").read_bytes()
    assert run(["verify", "gate.json", *line]) == 0
    assert run(["verify", "gate.json", *(word.replace("=0.1", "=9") for word in line)]) == 1
    assert "gate: 'inconclusive' → 'allow'" in capsys.readouterr().out
    assert Path("nights.jsonl").read_bytes() == before


def test_of_equal_losses_the_first_are_listed_and_counted() -> None:
    base = [1.0] * 10 + [0.0] * 10 + [1.0] * 20
    found = gate(metrics=SegmentScores("correct", {"base": base, "new": [0.0] * 10 + [1.0] * 30}), margin=0.5)
    (task,) = found.tasks
    assert ([each.segment for each in task.lost], task.n_lost) == ([1, 2, 3], 10)
    assert "The segments that lost most under correct, 3 of 10 with the same loss" in found.render("markdown")
    base[0] = 3.0  # only this one lost most, and 9 others lost as much as the third
    found = gate(metrics=SegmentScores("correct", {"base": base, "new": [0.0] * 10 + [1.0] * 30}), margin=0.5)
    (task,) = found.tasks
    assert "under correct, the last 2 of 9 with the same loss" in found.render("markdown")
    assert ([each.segment for each in task.lost], task.n_lost) == ([1, 2, 3], 10)


def forest(found: Gate) -> ElementTree.Element:
    """The figure of the tasks in the page."""
    drawn = re.findall(r"data:image/svg\+xml;base64,([\w+/=]+)", found.render("html"))
    return ElementTree.fromstring(base64.b64decode(drawn[0]))


def test_the_page_draws_each_task_its_bound_and_its_margin() -> None:
    found = gate(metrics=[noisy(80, 0.3), noisy(80, -0.2, "other", 2)], margin={"points": 0.5, "other": 0.2})
    svg = "{http://www.w3.org/2000/svg}"
    image = forest(found)
    assert next(image.iter(f"{svg}text")).text == "other"  # the closest to its margin
    tasks = sorted(found.tasks, key=lambda task: task.metric)
    dots = [float(str(dot.get("cx"))) for dot in image.iter(f"{svg}circle")]
    vertical = [line for line in image.iter(f"{svg}line") if line.get("x1") == line.get("x2")]
    margins = [float(str(line.get("x1"))) for line in vertical if line.get("stroke-dasharray")]
    zeros = [float(str(line.get("x1"))) for line in vertical if line.get("stroke-width") is None]
    zero = next(x for x in zeros if x not in margins)
    assert len(set(margins)) == 1
    unit = zero - margins[0]
    bounds = [float(str(line.get("x2"))) for line in image.iter(f"{svg}line") if line.get("x1") != line.get("x2")]
    for task, dot, bound in zip(tasks, dots, bounds, strict=True):
        assert task.margin is not None
        assert task.bound is not None
        assert dot == pytest.approx(zero + task.difference / task.margin * unit, abs=0.2)
        assert bound == pytest.approx(zero + task.bound / task.margin * unit, abs=0.2)
    # Without margins the rows are in standard errors; far losses are arrows at the end of the scale.
    lost = gate(metrics=noisy(80, -20.0), rule="no-regression")
    assert [*forest(lost).iter(f"{svg}path")]
    assert "in units of its standard error" in lost.render("html")
    for result, has_margins in ((found, True), (lost, False)):
        assert ("Margins" in result.render("html"), ">Plan<" in result.render("html")) == (has_margins, False)


def test_the_headline_and_the_table_write_the_same_p() -> None:
    found = of_demo("baseline", "rules", "bleu", margin={"BLEU": 0.5})
    (task,) = found.tasks
    tiny = replace(found, tasks=(replace(task, worse_pvalue=0.00009, worse_adjusted_pvalue=0.00009),))
    assert "p < 0.0001" in str(tiny)
    assert "| <0.0001 |" in tiny.render("markdown").replace("&lt;", "<").replace("\\<", "<")


# History.


def nightly(path: Path, mean: float, seed: int) -> Gate:
    return gate(metrics=noisy(60, mean, seed=seed), margin={"points": 2}, n_resamples=99, history=path)


def test_a_history_has_a_line_for_each_run_and_its_trend_is_said(tmp_path: Path) -> None:
    path = tmp_path / "nights.jsonl"
    for night in range(7):
        assert nightly(path, -night / 10, night).trends == ()
    before = path.read_bytes()
    (trend,) = (found := nightly(path, -0.7, 7)).trends
    assert path.read_bytes().startswith(before)
    assert trend.n_runs == 8
    assert trend.tau == pytest.approx(-1)
    # Of 8! orders, two have |τ| = 1.
    assert trend.pvalue == pytest.approx(2 / 40320)
    assert "The scores of points fall over 8 runs" in str(found)
    _, drawn = re.findall(r"data:image/svg\+xml;base64,([\w+/=]+)", found.render("html"))
    (line,) = ElementTree.fromstring(base64.b64decode(drawn)).iter("{http://www.w3.org/2000/svg}polyline")
    heights = [float(point.split(",")[1]) for point in str(line.get("points")).split()]
    assert len(heights) == 8
    assert heights == sorted(heights)  # from the top, so that scores fall
    line = json.loads(path.read_text().splitlines()[-1])
    assert (line["digest"], line["verdict"], line["tasks"][0]["system_score"]) == (found.digest, found.verdict, -0.7)
    # The same outputs again are no further evidence.
    (again,) = nightly(path, -0.7, 7).trends
    assert again == trend


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
    with pytest.raises(InputError, match="line 1: expected a line of the history of a gate"):
        nightly(path, 0, 1)
    nightly(good := tmp_path / "good.jsonl", 0, 1)
    path.write_bytes(good.read_bytes() + b"x\n" + good.read_bytes())
    with pytest.raises(InputError, match="line 2: expected a line of the history of a gate"):
        nightly(path, 0, 1)
    assert b"x\n" in path.read_bytes()


# Logs of harnesses.


def inspect_log(model: str, right: NDArray[np.bool_]) -> dict[str, Any]:
    """A log of invented questions with two epochs, (2, questions), as inspect_ai 0.3.285 writes it.

    ``inspect_ai.eval(Task(..., scorer=match(), epochs=2), model=..., fail_on_error=False)``, without what is not read:
    the model did not answer the last question.
    """
    last = right.shape[1] - 1
    samples = [
        {
            "id": q, "epoch": epoch, "input": f"What is {q} + {q}?", "target": f"{2 * q}",
            "metadata": {"passage": f"p{q // 4}"},
            "scores": {} if q == last else {"match": {"value": "C" if each else "I", "answer": "?", "history": []}},
            **({"error": {"message": "ValueError('no answer')"}} if q == last else {}),
        }
        for epoch, row in enumerate(right.tolist(), 1)
        for q, each in enumerate(row)
    ]  # fmt: skip
    about = {"task": "sums", "model": model, "config": {"epochs": 2, "fail_on_error": False}}
    return {"version": 2, "status": "success", "eval": about, "samples": samples}


def lm_eval_log(right: NDArray[np.bool_], first: int = 0) -> str:
    """Samples of invented questions, as lm_eval 0.4.13 writes them.

    ``lm_eval run --model dummy --tasks sums --include_path . --log_samples --output_path out``, where sums.yaml has
    the output type ``multiple_choice`` and questions in a local file of JSON lines.
    """
    return "".join(
        json.dumps(
            {
                "doc_id": n, "doc": {"question": f"What is {n} + {n}?", "passage": f"p{n // 4}"}, "target": "0",
                "arguments": {"gen_args_0": {"arg_0": f"What is {n} + {n}?", "arg_1": f" {2 * n}"}},
                "resps": [[["-0.5", "False"]], [["-0.9", "False"]]],
                "filtered_resps": [["-0.5", "False"], ["-0.9", "False"]], "filter": "none",
                "metrics": ["acc"], "doc_hash": sha256(b"%d" % n).hexdigest(), "prompt_hash": "1" * 64,
                "target_hash": "0" * 64,
                "acc": float(x),
            }
        )
        + "\n"
        for n, x in enumerate(right.tolist(), first)
    )  # fmt: skip


def passages(folder: Path, n: int) -> None:
    """The passage of each question, by its id, as a command takes it out of a log."""
    (folder / "passages.tsv").write_text("id\tpassage\n" + "".join(f"{q}\tp{q // 4}\n" for q in range(n)))


def test_logs_of_inspect_ai_with_epochs_and_clusters(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    right = np.random.default_rng(6).random((2, 2, 84)) < np.array([0.9, 0.4])[:, None, None]
    # The same model twice: the systems are called after the files.
    base, new = (inspect_log("openai/a", own) for own in right)
    new["samples"].reverse()
    (folder / "a.json").write_text(json.dumps(base, indent=2))
    (folder / "b.eval").write_bytes(zipped(new))
    passages(folder, 84)
    line = "--scores match a.json b.eval --margin match=0.05 --format json"
    with pytest.raises(InputError, match="match, system a, segment 84: the score is missing; with missing='pairwise'"):
        command(line)
    answered = right[:, :, :-1]
    for more, unit, n in (("", "segment", 83), (" --docs passages.tsv#passage", "document", 21)):
        assert command(f"{line} --missing pairwise{more}") == 1
        (task,) = json.loads(capsys.readouterr().out)["tasks"]
        assert (task["unit"], task["n_units"]) == (unit, n)
        assert task["baseline_score"] == pytest.approx(answered[0].mean())
        assert task["difference"] == pytest.approx(answered[1].mean() - answered[0].mean())


def test_a_log_that_was_not_completed_is_warned_of(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    right = np.random.default_rng(6).random((2, 40)) < 0.6
    base, new = (inspect_log("a", np.array([own, own])) for own in right)
    (folder / "a.json").write_text(json.dumps({**base, "status": "error"}))
    (folder / "b.eval").write_bytes(zipped(new))
    command("--scores match a.json b.eval --missing pairwise --margin match=0.9")
    assert "a.json: the evaluation was not completed (status 'error')" in capsys.readouterr().err


def test_a_margin_that_no_score_can_reach_is_refused_or_warned_of() -> None:
    scores = SegmentScores("acc", {"a": [0.0, 1.0] * 30, "b": [0.0, 1.0, 1.0] * 20})
    with pytest.raises(InputError, match=r"the margin of acc is 5, but all scores of segments are from 0 to 1, so any"):
        gate(metrics=scores, margin={"acc": 5}, n_resamples=99)
    assert gate(metrics=scores, margin={"acc": 0.4}, n_resamples=99).verdict == "allow"
    ratings = SegmentScores("acc", {"a": [2.0, 1.0] * 30, "b": [0.0, 7.0, 1.0] * 20})
    with pytest.warns(
        InputWarning, match=r"the margin of acc is 9, and all scores of segments are between 0 and 7: if"
    ):
        gate(metrics=ratings, margin={"acc": 9}, n_resamples=99)
    assert gate(metrics=ratings, margin={"acc": 1.4}, n_resamples=99).verdict == "allow"
    right = []
    for m in labelled(0.3):
        values = {system: np.where(np.isnan(own), own, own > 0) for system, own in by_system(m).items()}
        right.append(SegmentScores(m.name, values, True, m.missing))
    with pytest.raises(InputError, match="the margin of people is 5, but all scores of segments are from 0 to 1"):
        gate(metrics=right, human="people", margin=5)


def test_a_margin_that_allows_a_score_of_0_is_refused_or_warned_of() -> None:
    given = {"acc": [0.0, 1.0, 1.0] * 30}
    for margin in ("200%", "3sd"):
        with pytest.raises(InputError, match=rf"the margin of acc is {margin}, which is .* a system with 0 would be"):
            gate(metrics=SegmentScores("acc", {**given, "none": [0.0] * 90}), margin={"acc": margin}, n_resamples=99)
    with pytest.warns(InputWarning, match="the margin of acc is 0.7, and the baseline has 0.6667: a system with 0"):
        gate(metrics=SegmentScores("acc", {**given, "none": [0.0] * 90}), margin={"acc": 0.7}, n_resamples=99)


def test_units_are_in_the_signature_and_few_are_said() -> None:
    metric, words = noisy(90, 0.0), "may be larger"
    whole = gate(metrics=metric, margin={"points": 0.5}, n_resamples=99)
    assert ("unit:" in whole.signature, words in str(whole)) == (False, False)
    documents = gate(metrics=metric, margin={"points": 0.5}, documents=[i // 3 for i in range(90)], n_resamples=99)
    assert "unit:document[30]" in documents.signature
    assert "Whole documents were drawn: 30." in str(documents)
    assert words in str(documents)


def test_no_probability_is_claimed_where_there_are_too_few_segments() -> None:
    few = gate(metrics=noisy(12, 0.0), margin={"points": 0.5}, n_resamples=99)
    assert few.allowed_if_equal is None
    assert "too few for a verdict" in str(few)
    assert "If nothing had changed" not in str(few)


def test_the_same_scores_twice_are_warned_of() -> None:
    with pytest.warns(InputWarning, match="a and b have the same scores on every segment: was a file passed twice"):
        gate(metrics=SegmentScores("acc", {"a": [0.0, 1.0] * 30, "b": [0.0, 1.0] * 30}), margin={"acc": 0.1})


def test_a_configuration_with_scores_and_another_rule(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, scores in {"a": [0, 1] * 30, "b": [0, 1, 1] * 20}.items():
        (folder / f"{name}.txt").write_text("".join(f"{each}\n" for each in scores))
    (folder / "scores.toml").write_text('metrics = ["ACC"]\n\n[margin]\nacc = 0.5\n')
    line = "--scores acc a.txt b.txt --config scores.toml"
    assert command(line) == 0
    assert command(f"{line} --rule no-regression") == 0
    assert "scores.toml: margin is left out, because --rule no-regression has none" in capsys.readouterr().err
    assert command(f"{line} -o verdict.json") == 0
    assert capsys.readouterr().err.startswith("ALLOW: acc is not worse by 0.5 or more")


def test_logs_of_lm_eval_with_clusters(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    right = np.random.default_rng(7).random((2, 200)) < 0.6
    for model, own in zip(("a", "b"), right, strict=True):
        (folder / f"{model}.jsonl").write_text(lm_eval_log(own))
    passages(folder, 200)
    line = "--scores acc a.jsonl b.jsonl --margin acc=0.4 --format json"
    assert command(line) == 0
    assert json.loads(capsys.readouterr().out)["tasks"][0]["unit"] == "segment"
    assert command(f"{line} --docs passages.tsv#passage") == 0
    (task,) = json.loads(capsys.readouterr().out)["tasks"]
    # The same answers in 50 passages are 50 units.
    expected = gate(
        metrics=SegmentScores("acc", dict(zip("ab", right.astype(float), strict=True))),
        documents=[f"p{n // 4}" for n in range(200)],
        margin={"acc": 0.4},
        n_resamples=999,
    )
    (own_task,) = expected.tasks
    assert (task["unit"], task["n_units"]) == (own_task.unit, own_task.n_units) == ("document", 50)
    assert (task["difference"], task["bound"]) == (own_task.difference, own_task.bound)


def test_segments_of_logs_are_listed_by_their_ids(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    right = np.random.default_rng(7).random((2, 40)) < 0.6
    for model, own in zip(("a", "b"), right, strict=True):
        lines = [json.loads(line) for line in lm_eval_log(own).splitlines()]
        # A limited run: every second question.
        (folder / f"{model}.jsonl").write_text(
            "".join(json.dumps(each | {"doc_id": 2 * n}) + "\n" for n, each in enumerate(lines))
        )
    lost, gained = ([f"{2 * n}" for n in np.flatnonzero(old & ~new)] for old, new in (right, right[::-1]))
    command("--scores acc a.jsonl b.jsonl --margin acc=0.4 --format json")
    (task,) = json.loads(capsys.readouterr().out)["tasks"]
    assert [each["segment"] for each in task["lost"]] == lost[:3]
    assert run(["flips", "--scores", "acc", "a.jsonl", "b.jsonl", "--threshold", "0.5", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [each["segment"] for each in found["segments"]] == [f"{2 * n}" for n in range(40)]
    assert (found["lost"], found["gained"]) == (lost, gained)
    run(["flips", "--scores", "acc", "a.jsonl", "b.jsonl", "--threshold", "0.5", "--format", "csv"])
    assert capsys.readouterr().out.splitlines()[2].startswith("2,")
    run(["score", "--scores", "acc", "a.jsonl", "b.jsonl", "--segments"])
    assert capsys.readouterr().out.splitlines()[3].startswith("2\ta\t")
    run(["score", "--scores", "acc", "a.jsonl", "b.jsonl", "--segments", "--format", "jsonl"])
    assert json.loads(capsys.readouterr().out.splitlines()[2])["segment"] == "2"


def test_samples_of_inspect_ai_are_listed_by_their_ids(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    right = np.random.default_rng(6).random((2, 1, 40)) < 0.6
    for name, own in zip("ab", right, strict=True):
        log = inspect_log(name, own)
        for sample in log["samples"]:
            sample["id"] = f"question {sample['id']}"
        (folder / f"{name}.json").write_text(json.dumps(log))
    command("--scores match a.json b.json --missing pairwise --margin match=0.9 --format json")
    (task,) = json.loads(capsys.readouterr().out)["tasks"]
    ids = [sample["id"] for sample in log["samples"]]
    first = int(np.flatnonzero(right[0, 0] & ~right[1, 0])[0])
    assert task["lost"][0]["segment"] == ids[first]


def test_ids_of_segments_are_as_many_as_these() -> None:
    with pytest.raises(InputError, match="acc: expected an id for each of 2 segments, got 1"):
        SegmentScores("acc", {"a": [0, 1]}, segment_ids=["q1"])


@pytest.mark.parametrize(
    ("first", "message"), [(100, "100 segments are in all files"), (200, "0 segments are in all files")]
)
def test_logs_of_other_items_are_refused(folder: Path, first: int, message: str) -> None:
    right = np.ones(200, dtype=bool)
    (folder / "a.jsonl").write_text(lm_eval_log(right))
    (folder / "b.jsonl").write_text(lm_eval_log(right, first))
    with pytest.raises(InputError, match=f"ids of segments do not match: {message}"):
        command("--scores acc a.jsonl b.jsonl --margin acc=0.05")
