"""What a gate decides: whether new outputs are allowed, from tests of tasks (a metric on a test set).

Task j has the difference Δ_j, oriented so that larger is better, and the margin M_j > 0. *Allow*, if every task is
shown to be non-inferior at level α, is an intersection–union test (Berger 1982, doi:10.1080/00401706.1982.10487790): it
allows outputs with some Δ_j ≤ −M_j with a probability of at most α, without an adjustment. *Reject*, if not allowed and
some task is shown to be worse with p-values adjusted for all tasks, rejects outputs with all Δ_j ≥ 0 with a probability
of at most α.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ..grouping import grouped
from ..metrics.base import Metric
from ..metrics.black_box import CorpusFunction
from ..resampling import CountSample, Replicates, Sample
from ..resampling.schemes import Shuffling
from ..results import GateTask, Trend
from ..results.gate import FEWEST_RUNS, SCORE_TEST, PastGate, PastTask
from .answers import Answers
from .hypotheses import Hypotheses, Observed
from .multiplicity import holm
from .power import MAX_UNITS, POWER, critical_value
from .tests import TESTS

RULES: Mapping[str, str] = {
    "non-inferior": "allow outputs that are non-inferior within the margin under every metric on every test set",
    "superior": "allow outputs that are better under the primary metrics, and non-inferior under the others",
    "no-regression": "allow outputs that are not shown to be worse; this bounds no risk",
}

# Tests of margins are too liberal for fewer resampling units.
FEWEST = 20

# The pair of systems: the new one and the baseline.
PAIR = (1, 0)


class MarginOutcome(NamedTuple):
    """The test of whether the new system is worse by the margin or more."""

    test: str
    pvalue: float
    bound: float
    """The end of the one-sided interval on the side where the system is worse."""
    standard_error: float | None = None
    """That of the difference, if the test has one of its own."""


def margin_test(metric: Metric | CorpusFunction, has_strata: bool) -> str:
    """The name of the test of a margin under a metric, unless segments have right-or-wrong answers."""
    if metric.is_mean:
        return "non-inferiority-ar"
    return "non-inferiority-studentized" if metric.is_sum and not has_strata else "non-inferiority"


def margin_outcomes(
    replicates: Replicates, margins: Sequence[float | None], alpha: float
) -> list[MarginOutcome | None]:
    """The test of each metric's margin on a test set; None for metrics without one."""
    every = Hypotheses.from_pairs([PAIR], len(margins)).in_rows_of(replicates.samples)
    has_strata = replicates.strata is not None
    found: list[MarginOutcome | None] = [None] * len(margins)
    for m, margin in enumerate(margins):
        if margin is None or has_strata:
            continue
        answers = _answers(replicates.samples[m], margin)
        if answers is not None:
            sign = 1 if replicates.samples[m].metric.higher_is_better else -1
            bound, error = sign * answers.bound(alpha), answers.standard_error(margin)
            found[m] = MarginOutcome(SCORE_TEST, answers.pvalue(margin), bound, error)
    of_test = grouped(
        (margin_test(replicates.samples[m].metric, has_strata), m)
        for m, margin in enumerate(margins)
        if margin is not None and found[m] is None
    )
    filled = [math.nan if margin is None else margin for margin in margins]
    for name, chosen in of_test.items():
        some = every.take(np.array(chosen))
        observed = Observed(replicates, some, "non-inferiority", Shuffling("auto"), margins=filled, alpha=alpha)
        outcome = TESTS[name].run(observed)
        assert outcome.low is not None
        assert outcome.high is not None
        for m, p, low, high in zip(chosen, outcome.pvalue, outcome.low, outcome.high, strict=True):
            bound = low if replicates.samples[m].metric.higher_is_better else high
            found[m] = MarginOutcome(name, float(p), float(bound))
    return found


def _answers(sample: Sample, margin: float) -> Answers | None:
    """The right-or-wrong answers of the segments; None if scores have other values, or documents are drawn."""
    if not isinstance(sample, CountSample) or not sample.metric.is_mean or sample.unit != "segment":
        return None
    ((new, base),) = sample.rows_of([PAIR])
    scores_of = sample.metric.segment_scores
    scores = scores_of(sample.rows(new)), scores_of(sample.rows(base))
    return Answers.of(*scores, sample.metric.higher_is_better, margin)


def verdict_of(rule: str, tasks: Sequence[GateTask]) -> str:
    """``allow``, ``reject`` or ``inconclusive``."""
    is_worse, has_enough = any(task.is_worse for task in tasks), all(task.has_enough for task in tasks)
    if rule != "no-regression" and all(task.is_shown for task in tasks):
        return "allow"
    if is_worse:
        return "reject"
    return "allow" if rule == "no-regression" and has_enough else "inconclusive"


def allowed_if_equal(rooms: Iterable[float], alpha: float) -> float:
    """P(allow) without any difference: Π Φ(M_j/se_j − z₁₋α), for independent tasks with these margins M_j/se_j.

    >>> round(allowed_if_equal([2.5] * 5, 0.05), 2)
    0.34
    """
    from statistics import NormalDist

    z = critical_value(alpha, "greater")
    return math.prod(NormalDist().cdf(room - z) for room in rooms)


def needed_room(n_tasks: int, alpha: float, power: float = POWER) -> float:
    """The margin in standard errors with which n independent tasks are allowed with this power if nothing changed.

    >>> [round(needed_room(n, 0.05), 2) for n in (1, 5, 20)]
    [2.49, 3.35, 3.93]
    """
    from statistics import NormalDist

    return critical_value(alpha, "greater") + NormalDist().inv_cdf(power ** (1 / n_tasks))


def more_units(n_units: int, room: float, needed: float) -> int | None:
    """How many more units make the margin ``needed`` standard errors, which shrink with √n; None for too many.

    >>> more_units(1000, 2.0, 4.0), more_units(1000, 4.0, 2.0)
    (3000, 0)
    """
    wanted = n_units * (needed / room) ** 2
    return max(0, math.ceil(wanted) - n_units) if wanted < MAX_UNITS else None


def changes(runs: Sequence[PastGate]) -> list[PastGate]:
    """The runs without those with the outputs of the run before, which add nothing."""
    return [*runs[:1], *(now for before, now in pairwise(runs) if now.digest != before.digest)]


def trends(runs: Sequence[PastGate]) -> tuple[Trend, ...]:
    """The trend of each task of the last run over all runs that have it, the earliest first.

    Runs on another number of segments are left out.
    """
    series = {task.name: _scores(runs, task) for task in runs[-1].tasks}
    enough = {name: scores for name, scores in series.items() if len(scores) >= FEWEST_RUNS and np.ptp(scores) > 0}
    if not enough:
        return ()
    from scipy.stats import kendalltau  # takes long to import

    found = [kendalltau(range(len(scores)), scores) for scores in enough.values()]
    adjusted = holm(np.array([float(each.pvalue) for each in found]))
    return tuple(
        Trend(name, len(scores), float(each.statistic), float(p), tuple(scores))
        for (name, scores), each, p in zip(enough.items(), found, adjusted, strict=True)
    )


def _scores(runs: Sequence[PastGate], task: PastTask) -> list[float]:
    """The scores of the new system under a task, run by run."""
    key = task.name, task.n_units
    return [each.system_score for run in runs for each in run.tasks if (each.name, each.n_units) == key]
