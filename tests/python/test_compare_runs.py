"""``compare_runs``: bad arguments are refused in a sentence, before texts are counted; degenerate data."""

import json
from dataclasses import fields
from typing import Any

import numpy as np
import pytest

from reshuffle import InputError, SegmentScores, compare_runs
from reshuffle.options.comparisons import CompareRuns
from reshuffle.options.declare import options_of
from reshuffle.resampling.runs import RunData
from reshuffle.results.studies.runs import RunPlan
from told import assert_raises

NUMBERS = {"a": 3, "b": 3}
RATINGS = {
    f"{name}#{run}": np.random.default_rng([run, ord(name)]).normal(size=20) for name in NUMBERS for run in range(3)
}
X, Y = SegmentScores("X", RATINGS), SegmentScores("Y", RATINGS)
FULL = {"a": [1.0, 2.0, 3.0], "b": [3.0, 2.0, 1.0]}


OF_LISTS = SegmentScores("X", {name: [RATINGS[f"{name}#{run}"] for run in range(3)] for name in NUMBERS})


def test_what_needs_no_counts_is_refused_before_counting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RunData, "from_data", lambda *args: pytest.fail("counted"))
    assert_raises("python_errors_of_compare_runs", globals())
    monkeypatch.undo()
    lacking = SegmentScores("X", {**RATINGS, "b#1": [1.0, np.nan, *np.ones(18)]}, missing="pairwise")
    with pytest.raises(InputError, match="X lacks some, the first of b#1 on segment 2"):
        compare_runs(None, NUMBERS, lacking)


def test_the_median_run_may_be_chosen_by_scores_of_zero() -> None:
    zeros = {name: {"X": [0.0, 0.0, 0.0]} for name in NUMBERS}
    result = compare_runs(None, NUMBERS, X, n_resamples=9, dev_scores=zeros, median_on="dev")
    assert result.plan["median_runs"] == {"a": 1, "b": 1}


def test_p_values_that_do_not_count_ties_are_never_adjusted() -> None:
    scores = SegmentScores("X", {**RATINGS, **{f"c#{run}": RATINGS[f"a#{run}"] for run in range(3)}})
    with pytest.warns(match="same output"):
        result = compare_runs(
            None, {"a": 3, "b": 3, "c": 3}, scores, exchange=["multeval", "cell"], adjust="maxt", n_resamples=99
        )
    assert result.plan["adjustments"] == {"multeval": "none", "cell": "maxt"}
    adjusted = {(each.exchange, each.system): each.adjusted_pvalue for each in result.comparisons}
    assert (adjusted["multeval", "b"], adjusted["multeval", "c"]) == (None, None)
    assert adjusted["cell", "c"] == 1


def test_a_difference_that_no_draw_changes_is_not_adjusted_to_1() -> None:
    constant = {"a": 1.0, "b": 2.0, "c": 1.0}
    scores = SegmentScores("X", {f"{name}#{run}": np.full(9, x) for name, x in constant.items() for run in range(3)})
    with pytest.warns(match="same output"):
        result = compare_runs(None, dict.fromkeys(constant, 3), scores, exchange="hierarchical", n_resamples=99)
    assert [(each.pvalue, each.adjusted_pvalue) for each in result.comparisons] == [(0.01, 0.01), (1, 1)]


def test_sums_over_many_runs_that_would_overflow_are_refused_with_advice() -> None:
    rng = np.random.default_rng(1)
    scores = SegmentScores("X", {f"{name}#{run}": rng.normal(30, 1, 20) for name in "ab" for run in range(300)})
    with pytest.raises(InputError, match=r"the 300 runs of a are too large .* round the scores"):
        compare_runs(None, {"a": 300, "b": 300}, scores, exchange="pooled", n_resamples=9)


def test_scores_of_runs_are_a_list_for_each_system() -> None:
    expected = compare_runs(None, NUMBERS, X, n_resamples=99)
    arrays = SegmentScores("X", {name: np.array(own) for name, own in OF_LISTS.scores.items()})  # type: ignore[union-attr]
    for metric in (OF_LISTS, arrays, X):
        assert compare_runs(metrics=metric, n_resamples=99) == expected


def test_one_score_and_one_pair_are_looked_up_as_in_comparisons() -> None:
    rng = np.random.default_rng(1)
    runs = {name: [rng.normal(size=20) for _ in range(3)] for name in "abc"}
    result = compare_runs(metrics=SegmentScores("rating", runs), n_resamples=99, exchange=["pooled", "segment"])
    assert result.score("b", "RATING") is result.systems[1].scores["rating"]
    pair = result.pair("c")
    assert (pair.system, pair.baseline, pair.exchange) == ("c", "a", "pooled")
    assert result.pair("a", "c", exchange="segment").difference == -result.pair("c", exchange="segment").difference
    with pytest.raises(InputError, match=r"only with 'a': compare with all_pairs=True"):
        result.pair("b", "c")
    with pytest.raises(InputError, match="unknown exchange 'x'; known: pooled, segment"):
        result.pair("b", exchange="x")
    assert repr(pair).startswith("<RunDifference: rating, c against a; difference=")
    assert repr(result).startswith(
        "<RunComparison: rating; 3 systems (a, b, c), 9 runs; 20 segments; 4 tests (pooled, "
    )


def test_runs_in_a_table_or_mapping_have_the_names_of_its_columns() -> None:
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(1)
    own = {name: pandas.DataFrame(rng.normal(size=(20, 3)), columns=["s13", "s42", 7]) for name in "ab"}
    result = compare_runs(metrics=SegmentScores("rating", own), n_resamples=99, exchange="segment")
    assert [system.outputs for system in result.systems] == [("s13", "s42", "7")] * 2
    texts: Any = {"a": {"s1": ["x y", "z"], "s2": ["x", "z"]}, "b": [["x y", "y"], ["y", "z"]]}
    of_texts = compare_runs(["x y", "z"], texts, "chrf", n_resamples=9, exchange="segment")
    assert [system.outputs for system in of_texts.systems] == [("s1", "s2"), ("b#0", "b#1")]


def test_the_plan_is_a_record_and_a_mapping_and_has_all_options_that_decide_about_results() -> None:
    plan = compare_runs(None, NUMBERS, X, n_resamples=19, alternative="better").plan
    assert (plan.alternative, plan.systems) == ("better", NUMBERS)
    assert [*plan] == [each.name for each in fields(RunPlan)]
    assert plan == RunPlan(**plan) == json.loads(json.dumps(dict(plan)))
    assert plan != {**plan, "alpha": 0.01}
    with pytest.raises(KeyError):
        plan["threads"]
    # All but the texts, which the result names by system, and what computes it.
    others = {"references", "metrics", "documents", "dev_references", "dev_systems", "dev_scores"}
    assert {*options_of(CompareRuns)} - others - {"workers", "progress"} <= {*plan}
