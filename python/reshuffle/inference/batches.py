"""Tests of batches: many problems of the same shape in one call."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .. import _core, signature
from ..options.declare import taken
from ..resampling import CountSample, ProblemGroup, Problems, Replicates, directed
from ..resampling.problems import Seeds
from ..resampling.replicates import array_steps
from ..resampling.schemes import shuffle_batch
from ..resampling.supplied import Supplied
from ..results import SignificanceResult
from ..settings import Resampling
from .hypotheses import Hypotheses, Observed, ObservedPairs, Outcome
from .plan import Plan
from .randomization import outcome_of_shuffles
from .replay import replicates_of
from .running import run_on_test_set, run_signature

# Problems are drawn together while their scores are at most so many: 32 MB.
DRAWN_CELLS = 1 << 22

ONE_PAIR = Hypotheses.from_pairs([(0, 1)])


def run_batch(
    plan: Plan, problems: Problems, resampling: Resampling, replay: Supplied | None = None
) -> SignificanceResult:
    """Test two systems in each problem, with the same results as one problem at a time."""
    batch = _Batch(plan, problems, resampling)
    if replay is not None:
        resampling.announce(array_steps(plan.test.replicates))
        replicates = replicates_of(problems.samples, resampling, replay)
        hypotheses = Hypotheses.from_pairs(ONE_PAIR.pairs, n_metrics=len(problems))
        return batch.record(replicates, Outcome.concatenate([run_on_test_set(plan, replicates, hypotheses)]))
    resampling.announce(array_steps(plan.test.replicates, sum(map(batch.n_stages, problems.groups))))
    indices: list[int] = []
    outcomes: list[Outcome] = []
    for group in problems.groups:
        indices += group.indices.tolist()
        outcomes += batch.outcomes(group)
    outcome = Outcome.concatenate(outcomes).take(np.argsort(indices))
    return batch.record(problems.replicates(problems.groups[0], 0, resampling), outcome)


def _pairs(n: int) -> Hypotheses:
    """The hypotheses about n problems, whose systems are interleaved."""
    return Hypotheses.from_pairs([(2 * problem, 2 * problem + 1) for problem in range(n)])


@dataclass(frozen=True, eq=False)
class _Batch:
    """The tests of a batch."""

    plan: Plan
    problems: Problems
    resampling: Resampling

    def n_stages(self, group: ProblemGroup) -> int:
        """The stages of progress of a group."""
        return len(self._parts(group)) if self._is_together(group) else len(group.indices)

    def _is_together(self, group: ProblemGroup) -> bool:
        """Whether the core can test many problems of a group in one call."""
        test = self.plan.test
        if not test.in_batches or self.plan.shuffling.stopping is not None or group.metric.core is None:
            return False
        return test.replicates == "shuffles" or self.problems.strata is None

    def _parts(self, group: ProblemGroup) -> list[slice]:
        """The problems of a group that are tested in one call: all, or so many that their draws have room."""
        n = size = len(group.indices)
        if self.plan.test.replicates == "draws":
            size = max(DRAWN_CELLS // (2 * self.resampling.n_resamples), 1)
        return [slice(first, first + size) for first in range(0, n, size)]

    def outcomes(self, group: ProblemGroup) -> list[Outcome]:
        """Test the problems of a group: in few calls of Rust, if that supports the test and the metric."""
        if not self._is_together(group):
            positions = range(len(group.indices))
            each = (self.problems.replicates(group, position, self.resampling) for position in positions)
            return [run_on_test_set(self.plan, replicates, ONE_PAIR) for replicates in each]
        test = self._draw_together if self.plan.test.replicates == "draws" else self._shuffle_together
        found = []
        for part in self._parts(group):
            arrays = [array[part] for array in group.arrays]
            sample = CountSample(group.metric, arrays, self.problems.unit)
            seeds = self.problems.seeds[group.indices[part]]
            # Each problem has its own seed; that of these replicates is not used.
            replicates = Replicates([sample], replace(self.resampling, seed=int(seeds[0])))
            found.append(test(sample, seeds, replicates))
        return found

    def _shuffle_together(self, sample: CountSample, seeds: Seeds, replicates: Replicates) -> Outcome:
        """Shuffle all problems of a sample."""
        observed = Observed(replicates, _pairs(len(seeds)), self.plan.alternative, self.plan.shuffling)
        scheme = self.plan.shuffling.scheme
        shuffled = shuffle_batch(replicates, observed.thresholds[None], observed.alternatives[0], scheme, seeds)
        return outcome_of_shuffles(observed.statistic, shuffled)

    def _draw_together(self, sample: CountSample, seeds: Seeds, replicates: Replicates) -> Outcome:
        """Draw all problems of a sample, which has no strata."""
        native = sample.native("draws")
        assert native is not None  # the metric has a formula in the core
        n = replicates.n_resamples
        drawn = _core.draw_many(*native, n=n, seeds=seeds, threads=replicates.threads, progress=replicates.progress)
        scores, hypotheses = sample.scores.reshape(1, -1, 2), _pairs(len(seeds))
        observed = taken(
            ObservedPairs, self.plan, replicates=replicates, hypotheses=hypotheses, scores=scores, drawn=drawn[None]
        )
        return self.plan.test.run(observed)

    def record(self, replicates: Replicates, outcome: Outcome) -> SignificanceResult:
        """One result with an array element for each problem. ``replicates`` are those of any one of them."""
        plan, problems = self.plan, self.problems
        metric = problems.groups[0].metric
        names = set() if outcome.scheme is None else set(outcome.each(outcome.scheme).tolist())
        schemes = "+".join(sorted(names)) if names - {"iid"} else None
        seed: int | None = int(problems.seeds[0])
        if replicates.is_replay:
            schemes, seed = signature.for_replay(replicates.n_resamples), None
        run = run_signature(plan, replicates, schemes, seed)
        own_seeds = np.ndim(self.resampling.seed) > 0
        if own_seeds:
            run["seed"] = signature.for_seeds(problems.seeds.tolist())
        rule = plan.shuffling.stopping
        metrics = {group.metric.signature() for group in problems.groups}
        return taken(
            SignificanceResult,
            outcome,
            test=plan.test.name,
            metric=metric.name,
            alternative=directed(plan.test.carried_out(plan.alternative), metric.higher_is_better),
            seed=problems.seeds if own_seeds else seed,
            signature=signature.joined([*sorted(metrics), signature.for_batch(len(problems)), signature.for_run(run)]),
            stopping=None if rule is None else rule.used(self.resampling.n_resamples, outcome.stopped),
            caveats=plan.caveats,
            tails=plan.tails if outcome.tails is None else outcome.tails,
        )
