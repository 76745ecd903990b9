"""The study of gates and of looks while data arrive: its data, what it decides, and the promises of both."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest

from reshuffle import SegmentScores, watch
from reshuffle import gate as gate_of
from reshuffle.inference.gate import allowed_if_equal
from reshuffle.results.studies import GateRate, StudyResult
from reshuffle.seeds import derive_seed
from reshuffle.study import gate
from reshuffle.study.gate import DIFFERENCES, NAIVE_FROM
from reshuffle.study.run_model import normal_values

OPTIONS: dict[str, dict[str, Any]] = {
    "betting": {"bounds": (0, 1)},
    "sign": {},
    "asymptotic": {"first_look": 20},
    "obrien-fleming": {"planned": 60, "looks": 3},
    "pocock": {"planned": 60, "looks": 3},
}
LOOKING = tuple(OPTIONS)


def rates(study: StudyResult, **values: Any) -> dict[str, GateRate]:
    """The rates of one kind of tasks, by decision."""
    found = [each for each in study.tables["decisions"] if all(getattr(each, k) == v for k, v in values.items())]
    by_decision = {each.decision: each for each in found}
    assert len(by_decision) == len(found)
    return by_decision


def scores_of(simulation: int, tasks: int, correlation: float, worse: int, difference: float) -> list[SegmentScores]:
    """The tasks of one simulation, from their definition."""
    shared, *own = normal_values(derive_seed(12345, "simulation", simulation), (tasks + 1) * 60).reshape(-1, 60)
    found = []
    for task, noise in enumerate(own):
        z = math.sqrt(correlation) * shared + math.sqrt(1 - correlation) * noise
        x = DIFFERENCES["normal"]().of_normal(z, -difference if task < worse else 0.0).round(6)
        found.append(SegmentScores(f"t{task}", {"base": np.maximum(-x, 0), "new": np.maximum(x, 0)}))
    return found


def test_decisions_are_those_of_the_gate_and_of_watch() -> None:
    n, margin = 6, 2.0
    study = gate(
        methods=["gate", *LOOKING], tasks=3, correlation=0.5, margin=margin, sizes=60, simulations=n, n_resamples=99,
        first_look=20, looks=3,
    )  # fmt: skip
    difference = margin * 0.125 / math.sqrt(60)
    for truth, worse in (("equal", 0), ("one worse", 1), ("all worse", 3)):
        expected: dict[str, Counter[str]] = {method: Counter() for method in ("gate", *LOOKING)}
        stops: dict[str, list[int]] = {method: [] for method in LOOKING}
        for i in range(n):
            metrics = scores_of(i, 3, 0.5, worse, difference)
            margins = {each.name: difference for each in metrics}
            seed = derive_seed(12345, "simulation", i)
            expected["gate"][gate_of(metrics=metrics, margin=margins, n_resamples=99, seed=seed).verdict] += 1
            for method in LOOKING:
                found = watch(metrics=metrics, method=method, **OPTIONS[method]).tables["verdicts"]
                first = min((each.decided_at for each in found if each.decided_at is not None), default=None)
                stops[method].append(first or 60)
                # The first tasks are those that are worse.
                right = [
                    task < worse and each.verdict == "worse"
                    for task, each in enumerate(found)
                    if each.decided_at == first
                ]
                expected[method]["undecided" if first is None else "decided" if all(right) else "wrongly"] += 1
        for method, counts in expected.items():
            shown = rates(study, method=method, truth=truth)
            assert {name: each.rate for name, each in shown.items()} == {name: counts[name] / n for name in shown}
            if method != "gate":
                assert shown["decided"].units == np.median(stops[method])


def test_decisions_in_the_wrong_direction_are_no_successes() -> None:
    """Where the new system is hardly worse, naive tests show one difference in both directions, about as often."""
    study = gate(methods="naive", differences="40%", tasks=1, margin=0.01, sizes=400, simulations=100)
    found, equal = (rates(study, truth=truth) for truth in ("one worse", "equal"))
    assert (found["decided"].rate, found["wrongly"].rate) == pytest.approx((0.12, 0.12), abs=0.1)
    assert min(found["decided"].rate, found["wrongly"].rate) > 0 == equal["decided"].rate
    assert equal["wrongly"].rate == pytest.approx(1 - equal["undecided"].rate)


def test_z_tests_after_every_segment_and_once() -> None:
    study = gate(methods=["naive", "once"], tasks=1, margin=2, sizes=60, simulations=40)
    stops = []
    for i in range(40):
        (metric,) = scores_of(i, 1, 0.0, 0, 0.0)
        scores: Any = metric.scores
        x = scores["new"] - scores["base"]
        beyond = [n for n in range(2, 61) if abs(x[:n].mean()) >= 1.959964 * x[:n].std(ddof=1) / math.sqrt(n)]
        stops.append((min((n for n in beyond if n >= NAIVE_FROM), default=None), 60 in beyond))
    naive, once = (rates(study, method=name, truth="equal")["wrongly"].rate for name in ("naive", "once"))
    assert naive == np.mean([stop is not None for stop, _ in stops])
    assert once == np.mean([at_end for _, at_end in stops])


def test_the_report_marks_wrong_decisions_and_says_what_was_simulated() -> None:
    study = gate(methods="naive", differences="10%", tasks=[1, 2], margin=4, sizes=400, simulations=60)
    text = " ".join(study.render("text").split())
    assert "naive decides wrongly more often than α = 0.05 in 3 of 8 cases" in text
    assert "Margin = 4 standard errors." in text
    assert "wrongly: it is not, or has the opposite sign." in text
    gated = gate(tasks=1, simulations=40, n_resamples=99).render("text")
    assert "Wrong decisions of gate are compatible with α = 0.05." in gated


@pytest.mark.slow
@pytest.mark.parametrize(("tasks", "n"), [(1, 600), (5, 150)])
def test_gates_keep_their_level_and_have_the_power_that_they_say(tasks: int, n: int) -> None:
    study = gate(tasks=tasks, simulations=n, n_resamples=399)
    for each in study.tables["decisions"]:
        if each.is_wrong:
            assert each.rate <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / n), each
    equal = rates(study, truth="equal", correlation=0.0)["allow"]
    promised = allowed_if_equal([equal.margin] * tasks, 0.05)
    assert equal.rate == pytest.approx(promised, abs=3 * math.sqrt(promised * (1 - promised) / n))
