"""The steps of a comparison and their costs, which are known before it starts, for reports of progress.

Costs are rough times on one thread, in nanoseconds. They decide only how evenly a progress bar moves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..metrics.black_box import CorpusFunction
from ..metrics.named import AnyMetric
from ..progress import Step
from ..resampling.counting import Data
from ..resampling.replicates import PROGRESS_STAGES
from .estimates import SUMS
from .intervals import Interval
from .plan import Plan

# For each replicate: to add up the counts of a unit of a system, and to score the sums.
SUM, SCORE = 0.5, 30
# To score sums by a formula in Python, and to process a segment in a function of texts.
FORMULA, FUNCTION = 500, 1_000
# To standardize the draws of a pair, for each draw.
ADJUST = 10
# The cost of a draw or shuffle with its standard error, in draws or shuffles without it.
STUDENTIZED = 8


@dataclass(frozen=True)
class JobPlan:
    """The comparison of k systems in some pairs on some test sets, or their scores if there is no test.

    ``names`` are those of the test sets; empty if there is only one, without a name.
    """

    sets: Sequence[Data]
    names: Sequence[str]
    n_systems: int
    n_pairs: int
    n_resamples: int
    plan: Plan | None
    interval: Interval | None
    average: bool = False

    def steps(self) -> list[Step]:
        """All steps in their order."""
        parts = [
            _Part(self, data.metrics, data.n_segments, f" ({name})" if self.names else "")
            for data, name in zip(self.sets, self.names or [""], strict=True)
        ]
        steps: list[Step] = []
        for data, part in zip(self.sets, parts, strict=True):
            steps += data.counting_steps(self.n_systems, part.of)
        for find in (_Part.draws, _Part.tests, _Part.intervals):
            steps += [step for part in parts for step in find(part)]
        if self.average:
            n = sum(data.n_segments for data in self.sets)
            average = _Part(self, self.sets[0].metrics, n, " (average)", averages=True)
            steps += [*average.draws(), *average.tests()]
        return steps


@dataclass(frozen=True)
class _Part:
    """The replicates of a test set, or of the averages over them. ``of`` is added to the names of steps."""

    job: JobPlan
    metrics: Sequence[AnyMetric]
    n_segments: int
    of: str
    averages: bool = False

    @property
    def has_draws(self) -> bool:
        """Whether there are draws for intervals, which tests use, too."""
        return self.job.interval is not None and self.job.interval.draws

    @property
    def in_python(self) -> int:
        """The metrics whose replicates are scored in Python, as all averages are."""
        return sum(self.averages or not _is_in_core(m) for m in self.metrics)

    @property
    def with_kink(self) -> int:
        """The metrics whose score has a kink."""
        return sum(not isinstance(m, CorpusFunction) and m.kink is not None for m in self.metrics)

    @property
    def stages(self) -> int:
        """The stages of a pass over all replicates: one for all metrics in Rust, and one for each in Python."""
        return self.in_python + (self.in_python < len(self.metrics))

    def draws(self) -> Iterator[Step]:
        """The draws of intervals."""
        if self.has_draws:
            yield self.replicates("draws", self.stages)

    def tests(self) -> Iterator[Step]:
        """The replicates of the test and its adjustment."""
        plan = self.job.plan
        if plan is None or plan.test.replicates is None:
            return
        kind = plan.test.replicates
        if plan.margins:
            yield from self._with_margin(plan, kind)
            return
        if not (kind == "draws" and self.has_draws):
            yield self.replicates(kind, self._stages_of_tests(plan))
        if plan.test.name == "bootstrap-kink" and self.with_kink:
            yield self.replicates("draws", self.with_kink)  # of the lengths
        if kind == "draws" and plan.step_down is not None:
            # ``both`` adjusts each of its two tests.
            n = 2 if plan.test.name == "bootstrap-both" else 1
            yield f"adjusting{self.of}", n * self.job.n_resamples * self.job.n_pairs * len(self.metrics) * ADJUST, n

    def _with_margin(self, plan: Plan, kind: str) -> Iterator[Step]:
        """The replicates of a test with a margin: shuffles and standard errors are those of one difference."""
        if kind == "draws" and not self.has_draws:
            yield self.replicates(kind, self.stages)
        n = self.job.n_pairs * len(self.metrics)
        if (
            kind == "shuffles"
            and plan.shuffling.scheme != "exact"
            and 2 ** (self.n_segments - 1) > self.job.n_resamples
        ):
            yield self.replicates(kind, n)
        if plan.test.kind == SUMS:
            name, cost, _ = self.replicates(kind, self.stages)
            yield name, STUDENTIZED * cost * self.job.n_pairs / self.job.n_systems, n

    def _stages_of_tests(self, plan: Plan) -> int:
        """The stages of all passes that the test and its adjustment make over their replicates."""
        step_down = plan.step_down if plan.test.replicates == "shuffles" else None
        n_tests = self.job.n_pairs * len(self.metrics)
        adjusted = step_down is not None and not step_down.keeps_statistics(n_tests, self.job.n_resamples)
        if plan.test.name != "ar-studentized" or self.averages:
            return (1 + adjusted) * self.stages  # adjustments from shuffles make the shuffles again
        by_min_p = adjusted and plan.adjustment is not None and plan.adjustment.name == "minp"
        if self.in_python:  # a pass for differences, and two for their standard errors
            return (1 + by_min_p) * (self.stages + 2 * self.in_python)
        return 1 + (len(self.metrics) if by_min_p else adjusted)

    def intervals(self) -> Iterator[Step]:
        """The replicates of intervals that make their own for each score or difference."""
        job, interval = self.job, self.job.interval
        if interval is None or not (interval.name == "studentized" or interval.shuffles):
            return
        kind, n = ("shuffles", job.n_pairs) if interval.shuffles else ("draws", job.n_systems + job.n_pairs)
        name, cost, _ = self.replicates(kind, self.stages)
        yield name, STUDENTIZED * cost * n / job.n_systems, n * len(self.metrics)

    def replicates(self, kind: str, n_stages: int) -> Step:
        """All replicates of a kind, in this many stages."""
        results = self.job.n_pairs if kind == "shuffles" else self.job.n_systems
        cost = 0.0
        for m in self.metrics:
            if isinstance(m, CorpusFunction):
                cost += 2 * results * self.n_segments * FUNCTION
            else:
                cost += self.n_segments * self.job.n_systems * SUM + results * (SCORE if _is_in_core(m) else FORMULA)
        return f"{PROGRESS_STAGES[kind]}{self.of}", self.job.n_resamples * cost * n_stages / self.stages, n_stages


def _is_in_core(metric: AnyMetric) -> bool:
    return not isinstance(metric, CorpusFunction) and metric.core is not None
