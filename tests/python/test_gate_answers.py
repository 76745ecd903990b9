"""Margins of right-or-wrong answers: the score test beside its definition, its exact size, and gates that use it."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.stats import binom, norm

from reshuffle import Gate, SegmentScores, gate
from reshuffle.inference.answers import Answers

pytestmark = pytest.mark.filterwarnings("ignore:old and new have the same scores|the margin of rating")


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
