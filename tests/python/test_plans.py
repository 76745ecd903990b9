"""The settings of a study as a record, which is also a mapping with the values of JSON."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Any

import pytest

from reshuffle import InputError, SegmentScores, compare_runs, read_json
from reshuffle.options.comparisons import CompareRuns
from reshuffle.options.declare import options_of
from reshuffle.results.studies import RunComparison
from reshuffle.results.studies.meta import MetaPlan
from reshuffle.results.studies.runs import RunPlan

META: dict[str, Any] = {"level": "segment", "test_sets": ["de"], "systems": {"de": ["a", "b"]}, "segments": {"de": 9}}


@pytest.fixture(scope="module")
def result() -> RunComparison:
    ratings = {f"{name}#{run}": [run, 1, 2 * (name == "b"), 3] for name in "ab" for run in range(3)}
    return compare_runs(None, {"a": 3, "b": 3}, SegmentScores("rating", ratings), n_resamples=19, alternative="better")


def test_a_plan_is_a_record_and_a_mapping(result: RunComparison) -> None:
    assert (result.plan.alternative, result.plan.systems) == ("better", {"a": 3, "b": 3})
    assert [*result.plan] == [each.name for each in fields(RunPlan)]
    assert len(result.plan) == len([*result.plan])
    assert result.plan["exchange"] == list(result.plan.exchange)
    written = json.loads(result.render("json"))["plan"]
    assert dict(result.plan) == written == result.plan
    assert result.plan != {**written, "alpha": 0.01}
    with pytest.raises(KeyError):
        result.plan["threads"]


def test_a_plan_is_read_back(result: RunComparison) -> None:
    read = read_json(result.render("json"))
    assert isinstance(read, RunComparison)
    assert read.plan == result.plan == RunPlan(**result.plan)


@pytest.mark.parametrize(
    ("key", "value", "problem"),
    [
        ("systems", {"a": "3"}, r"plan\.systems\.a: expected a whole number"),
        ("exchange", "run", r"plan\.exchange: expected a list"),
        ("alpha", 2, r"plan\.alpha: expected a number between 0 and 1"),
    ],
)
def test_a_setting_of_another_type_is_named(result: RunComparison, key: str, value: object, problem: str) -> None:
    document = json.loads(result.render("json"))
    document["plan"][key] = value
    with pytest.raises(InputError, match=problem):
        read_json(json.dumps(document))


def test_options_of_runs_that_decide_about_results_are_in_the_plan() -> None:
    """All but the texts, which the result names by system, and what computes it."""
    others = {"references", "metrics", "documents", "dev_references", "dev_systems", "dev_scores"}
    others |= {"workers", "progress"}
    assert {*options_of(CompareRuns)} - others <= {each.name for each in fields(RunPlan)}


def test_settings_that_only_some_plans_have_are_left_out_of_others() -> None:
    plan = MetaPlan(**META, confidence_level=0.95, alpha=0.05, ties="half")
    assert plan.test_sets == ("de",)
    assert "ties" in plan
    assert "human_scores" not in plan
    assert plan.human_scores is None
    assert "baseline" in plan
