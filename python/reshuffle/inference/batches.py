"""Tests of batches: many problems of the same shape in one call."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .. import signature
from ..resampling import CountSample, ProblemGroup, Problems, Replicates
from ..resampling.schemes import shuffle_batch
from ..results import SignificanceResult
from ..settings import Resampling
from .hypotheses import Hypotheses, Observed, Outcome
from .plan import Plan
from .randomization import outcome_of_shuffles
from .replay import Replay
from .running import run_on_test_set, run_signature
from .steps import array_steps

__all__ = ["run_batch"]

ONE_PAIR = Hypotheses.from_pairs([(0, 1)])


def run_batch(
    plan: Plan, problems: Problems, resampling: Resampling, replay: Replay | None = None
) -> SignificanceResult:
    """Test two systems in each problem, with the same results as one problem at a time."""
    if replay is not None:
        if resampling.progress is not None:
            resampling.progress.plan(array_steps(plan.test.replicates))
        replicates = replay.replicates(problems.samples, resampling)
        hypotheses = Hypotheses.from_pairs(ONE_PAIR.pairs, n_metrics=len(problems))
        return _record(plan, problems, replicates, resampling, run_on_test_set(plan, replicates, hypotheses))
    if resampling.progress is not None:
        stages = [1 if _is_together(plan, group) else len(group.indices) for group in problems.groups]
        resampling.progress.plan(array_steps(plan.test.replicates, sum(stages)))
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


def _is_together(plan: Plan, group: ProblemGroup) -> bool:
    """Whether one call of Rust can test all problems of a group."""
    shuffling = plan.shuffling
    is_supported = plan.test.in_batches and shuffling.stopping is None and shuffling.scheme != "subgroup"
    return is_supported and group.metric.core is not None


def _test_together(plan: Plan, group: ProblemGroup, problems: Problems, resampling: Resampling) -> Outcome | None:
    """Test all problems of a group in one call of Rust; None if that does not support the test or the metric."""
    if not _is_together(plan, group):
        return None
    shuffling = plan.shuffling
    sample = CountSample.from_interleaved(group.metric, group.arrays, problems.unit)
    pairs = [(2 * problem, 2 * problem + 1) for problem in range(len(group.indices))]
    seeds = problems.seeds[group.indices]
    # Each problem has its own seed; that of these replicates is not used.
    replicates = Replicates.from_settings([sample], replace(resampling, seed=int(seeds[0])))
    observed = Observed(replicates, Hypotheses.from_pairs(pairs), plan.alternative, shuffling)
    thresholds = observed.thresholds[None]
    shuffled = shuffle_batch(observed.replicates, thresholds, plan.alternative, shuffling.scheme, seeds)
    return None if shuffled is None else outcome_of_shuffles(observed.statistic, shuffled)


def _record(
    plan: Plan, problems: Problems, replicates: Replicates, resampling: Resampling, outcome: Outcome
) -> SignificanceResult:
    """One result with an array element for each problem. ``replicates`` are those of any one of them."""
    metric = problems.groups[0].metric
    scheme = outcome.scheme
    names = set() if scheme is None else set(scheme.tolist())
    schemes = "+".join(sorted(names)) if names - {"iid"} else None
    seed: int | None = int(problems.seeds[0])
    if replicates.is_replay:
        schemes, seed = signature.for_replay(replicates.n_resamples), None
    run = run_signature(plan, replicates, schemes, seed)
    own_seeds = np.ndim(resampling.seed) > 0
    if own_seeds:
        run = run._replace(seed=signature.for_seeds(problems.seeds.tolist()))
    rule = plan.shuffling.stopping
    metrics = {group.metric.signature() for group in problems.groups}
    return SignificanceResult(
        test=plan.test.name,
        metric=metric.name,
        statistic=outcome.statistic,
        pvalue=outcome.pvalue,
        alternative=plan.alternative,
        exceedances=outcome.exceedances,
        n_resamples=outcome.n_resamples,
        seed=problems.seeds if own_seeds else seed,
        signature=signature.joined([*sorted(metrics), signature.for_batch(len(problems)), run.line]),
        wins=outcome.wins,
        ties=outcome.ties,
        scheme=scheme,
        stopping=None if rule is None else rule.used(resampling.n_resamples, outcome.stopped),
        caveats=plan.caveats,
        tails=plan.tails if outcome.tails is None else outcome.tails,
        standard_error=outcome.standard_error,
    )
