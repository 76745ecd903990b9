"""Tests of batches: many problems of the same shape in one call."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .. import _core, signature
from ..options.declare import taken
from ..resampling import CountSample, ProblemGroup, Problems, Replicates, directed
from ..resampling.problems import Seeds
from ..resampling.replicates import array_steps
from ..resampling.schemes import shuffle_batch
from ..results import SignificanceResult
from ..settings import Resampling
from .hypotheses import Hypotheses, Observed, ObservedPairs, Outcome
from .plan import Plan
from .randomization import outcome_of_shuffles
from .replay import Replay
from .running import run_on_test_set, run_signature

# Problems are drawn together while their scores are at most so many: 32 MB.
DRAWN_CELLS = 1 << 22

ONE_PAIR = Hypotheses.from_pairs([(0, 1)])


def run_batch(
    plan: Plan, problems: Problems, resampling: Resampling, replay: Replay | None = None
) -> SignificanceResult:
    """Test two systems in each problem, with the same results as one problem at a time."""
    if replay is not None:
        resampling.announce(array_steps(plan.test.replicates))
        replicates = replay.replicates(problems.samples, resampling)
        hypotheses = Hypotheses.from_pairs(ONE_PAIR.pairs, n_metrics=len(problems))
        return _record(plan, problems, replicates, resampling, run_on_test_set(plan, replicates, hypotheses))
    n_stages = sum(_n_stages(plan, group, problems, resampling) for group in problems.groups)
    resampling.announce(array_steps(plan.test.replicates, n_stages))
    indices: list[int] = []
    outcomes: list[Outcome] = []
    for group in problems.groups:
        together = _test_together(plan, group, problems, resampling)
        indices += group.indices.tolist()
        if together is not None:
            outcomes.append(together)
        else:
            each = (problems.replicates(group, position, resampling) for position in range(len(group.indices)))
            outcomes += [run_on_test_set(plan, replicates, ONE_PAIR) for replicates in each]
    outcome = Outcome.concatenate(outcomes).take(np.argsort(indices))
    first = problems.replicates(problems.groups[0], 0, resampling)
    return _record(plan, problems, first, resampling, outcome)


def _is_together(plan: Plan, group: ProblemGroup, problems: Problems) -> bool:
    """Whether the core can test many problems of a group in one call."""
    if not plan.test.in_batches or plan.shuffling.stopping is not None or group.metric.core is None:
        return False
    return plan.test.replicates == "shuffles" or problems.strata is None


def _parts(plan: Plan, group: ProblemGroup, resampling: Resampling) -> list[slice]:
    """The problems of a group that are tested in one call: all, or so many that their draws have room."""
    n = len(group.indices)
    size = max(DRAWN_CELLS // (2 * resampling.n_resamples), 1) if plan.test.replicates == "draws" else n
    return [slice(first, first + size) for first in range(0, n, size)]


def _n_stages(plan: Plan, group: ProblemGroup, problems: Problems, resampling: Resampling) -> int:
    """The stages of progress of a group."""
    return len(_parts(plan, group, resampling)) if _is_together(plan, group, problems) else len(group.indices)


def _test_together(plan: Plan, group: ProblemGroup, problems: Problems, resampling: Resampling) -> Outcome | None:
    """Test the problems of a group in few calls of Rust; None if that does not support the test or the metric."""
    if not _is_together(plan, group, problems):
        return None
    test = _draw_together if plan.test.replicates == "draws" else _shuffle_together
    outcomes = [
        test(plan, sample, problems.seeds[group.indices[part]], resampling)
        for part in _parts(plan, group, resampling)
        for sample in [
            CountSample.from_interleaved(group.metric, [array[part] for array in group.arrays], problems.unit)
        ]
    ]
    return outcomes[0] if len(outcomes) == 1 else Outcome.concatenate(outcomes)


def _pairs(n: int) -> Hypotheses:
    """The hypotheses about n problems, whose systems are interleaved."""
    return Hypotheses.from_pairs([(2 * problem, 2 * problem + 1) for problem in range(n)])


def _shuffle_together(plan: Plan, sample: CountSample, seeds: Seeds, resampling: Resampling) -> Outcome:
    """Shuffle all problems of a sample."""
    # Each problem has its own seed; that of these replicates is not used.
    replicates = Replicates([sample], replace(resampling, seed=int(seeds[0])))
    observed = Observed(replicates, _pairs(len(seeds)), plan.alternative, plan.shuffling)
    scheme = plan.shuffling.scheme
    shuffled = shuffle_batch(replicates, observed.thresholds[None], observed.alternatives[0], scheme, seeds)
    return outcome_of_shuffles(observed.statistic, shuffled)


def _draw_together(plan: Plan, sample: CountSample, seeds: Seeds, resampling: Resampling) -> Outcome:
    """Draw all problems of a sample, which has no strata."""
    replicates = Replicates([sample], replace(resampling, seed=int(seeds[0])))
    native = sample.native("draws")
    assert native is not None  # the metric has a formula in the core
    metric, counts = native
    drawn = _core.draw_many(
        metric,
        counts,
        n=resampling.n_resamples,
        seeds=seeds,
        threads=replicates.threads,
        progress=resampling.progress,
    )
    scores, hypotheses = sample.scores.reshape(1, -1, 2), _pairs(len(seeds))
    observed = taken(
        ObservedPairs, plan, replicates=replicates, hypotheses=hypotheses, scores=scores, drawn=drawn[None]
    )
    return plan.test.run(observed)


def _record(
    plan: Plan, problems: Problems, replicates: Replicates, resampling: Resampling, outcome: Outcome
) -> SignificanceResult:
    """One result with an array element for each problem. ``replicates`` are those of any one of them."""
    metric = problems.groups[0].metric
    names = set() if outcome.scheme is None else set(outcome.scheme.tolist())
    schemes = "+".join(sorted(names)) if names - {"iid"} else None
    seed: int | None = int(problems.seeds[0])
    if replicates.is_replay:
        schemes, seed = signature.for_replay(replicates.n_resamples), None
    run = run_signature(plan, replicates, schemes, seed)
    own_seeds = np.ndim(resampling.seed) > 0
    if own_seeds:
        run["seed"] = signature.for_seeds(problems.seeds.tolist())
    rule = plan.shuffling.stopping
    metrics = {group.metric.signature() for group in problems.groups}
    return taken(
        SignificanceResult,
        outcome,
        test=plan.test.name,
        metric=metric.name,
        alternative=directed(plan.alternative, metric.higher_is_better),
        seed=problems.seeds if own_seeds else seed,
        signature=signature.joined([*sorted(metrics), signature.for_batch(len(problems)), signature.for_run(run)]),
        stopping=None if rule is None else rule.used(resampling.n_resamples, outcome.stopped),
        caveats=plan.caveats,
        tails=plan.tails if outcome.tails is None else outcome.tails,
    )
