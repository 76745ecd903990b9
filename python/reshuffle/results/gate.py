"""The result of :func:`reshuffle.gate`: frozen records, like those of :mod:`reshuffle.results`."""

from __future__ import annotations

from typing import ClassVar

from ..documented import record
from ..errors import counted
from .reported import Reported

# The test of the margin of right-or-wrong answers.
SCORE_TEST = "score"
# With fewer runs, only nearly monotone scores can be told from chance after an adjustment for several tasks.
FEWEST_RUNS = 8


@record
class LostSegment:
    """A segment (or a document) that the new system makes worse."""

    segment: int | str
    """The number of the segment, from 1, or its id, as in logs; or the id of the document."""
    baseline_score: float
    """Its scores."""
    system_score: float
    contribution: float
    """What it contributes to the difference, in points: the contributions of all segments add up to it, for metrics
    that are not means to a first approximation.
    """


def _task_name(metric: str, test_set: str) -> str:
    return f"{metric} on {test_set}" if test_set else metric


@record
class GateTask:
    """What is tested: a metric on a test set."""

    test_set: str
    """Its name; empty if it is the only one."""
    metric: str
    higher_is_better: bool
    unit: str
    """``segment`` or ``document``."""
    n_units: int
    """The number of segments or documents that are compared."""
    n_differing: int
    """In how many of them the systems differ under the metric."""
    baseline_score: float
    system_score: float
    difference: float
    """The system's score minus the baseline's."""
    standard_error: float | None
    """That of the difference, by the delta method; where Tango's score test tests the margin, that of a system worse
    by exactly the margin. None if it is unknown, as where labels are all equal.
    """
    margin: float | None
    """How much worse the system may be, in points; None if the rule needs no margin here."""
    given_margin: str | None
    """The margin as it was written, such as ``0.1sd``."""
    bound: float | None
    """The end of the one-sided confidence interval of the difference, on the side where the system is worse."""
    margin_test: str | None
    """The test of whether the system is worse by the margin or more, and its p-value. ``score`` is Tango's score test
    of right-or-wrong answers.
    """
    margin_pvalue: float | None
    worse_test: str
    """The test of whether the system is worse, its p-value, and that adjusted for all tasks."""
    worse_pvalue: float
    worse_adjusted_pvalue: float
    better_pvalue: float | None
    """The p-value of whether the system is better; None unless it has to be."""
    has_enough: bool
    """Whether there are enough segments or documents for a verdict."""
    is_shown: bool
    """Whether what the rule asks of this task is shown: that the system is not worse by the margin; or, for a primary
    metric, that it is better. True for the rule ``no-regression``.
    """
    is_worse: bool
    """Whether the system is shown to be worse."""
    detectable: float | None
    """The regression that would be shown with a probability of 80%, at the level of one of all tasks."""
    more_units: int | None
    """About how many more segments or documents are needed, so that all tasks together would be allowed with a
    probability of 80% if nothing changed; None if it is unknown or the rule has no margins.
    """
    lost: tuple[LostSegment, ...]
    """The segments that lost most, at most three; none for functions of texts. Of equal losses the first are listed."""
    n_lost: int | None = None
    """How many segments lost as much as the last of these, or more. None if nothing is listed."""
    n_missing: int = 0
    """How many more segments or documents there are, which are not compared because a score is missing."""

    @property
    def name(self) -> str:
        """The name of the task in reports."""
        return _task_name(self.metric, self.test_set)

    @property
    def is_primary(self) -> bool:
        """Whether the system has to be better."""
        return self.better_pvalue is not None

    @property
    def loss(self) -> float:
        """How much worse the system scored; negative if it scored better."""
        return -self.difference if self.higher_is_better else self.difference

    @property
    def room(self) -> float | None:
        """The margin in standard errors; None without a margin or a standard error above 0."""
        return self.margin / self.standard_error if self.margin and self.standard_error else None


@record
class Trend:
    """Whether the scores of a task rise or fall over the runs of a history."""

    task: str
    n_runs: int
    """The number of runs; runs with the same outputs as the one before are not counted."""
    tau: float
    """Kendall's τ of scores and time."""
    pvalue: float
    """Two-sided p of the test of Mann (1945) and Kendall, adjusted for all tasks by Holm's method."""
    scores: tuple[float, ...]
    """The scores, the earliest first."""


@record
class PastTask:
    """What a history keeps of a task."""

    test_set: str
    metric: str
    n_units: int
    baseline_score: float
    system_score: float
    margin: float | None
    bound: float | None

    @property
    def name(self) -> str:
        """The name of the task in reports."""
        return _task_name(self.metric, self.test_set)


@record
class PastGate:
    """A line of a history."""

    time: str
    """When the gate was run, in UTC."""
    version: str
    digest: str
    verdict: str
    tasks: tuple[PastTask, ...]


@record
class Gate(Reported):
    """A verdict on new outputs: ``allow``, ``reject`` or ``inconclusive``.

    ``print(gate)`` says why; :meth:`to_dicts` has a row for each task.
    """

    verdict: str
    """``allow``, ``reject`` or ``inconclusive``."""
    rule: str
    alpha: float
    """The largest probability of each error, in one run."""
    baseline: str
    system: str
    tasks: tuple[GateTask, ...]
    """Each metric on each test set."""
    allowed_if_equal: float | None
    """The probability that the outputs would be allowed if nothing had changed, from standard errors and margins as if
    tasks were independent; None if the rule has no such margins.
    """
    needed_room: float | None
    """The margin in standard errors at which this probability would be 80%."""
    n_resamples: int
    seed: int
    digest: str
    """Of the counts and scores of both systems: equal for equal outputs."""
    trends: tuple[Trend, ...]
    """Trends over the runs of a history, if there is one with enough runs."""
    signature: str
    """One line with everything needed to repeat the result on the same texts."""
    version: str
    """The version of reshuffle."""
    n_runs: int | None = None
    """The runs of the history whose outputs differ from those of the run before; None without a history."""

    DERIVED: ClassVar[tuple[str, ...]] = ("allowed", "is_identical")

    def __repr__(self) -> str:
        return f"<Gate: {self.verdict}; {self.system} against {self.baseline}, {counted(len(self.tasks), 'task')}>"

    def __bool__(self) -> bool:
        raise TypeError("a gate is neither true nor false: use its attribute allowed, as in 'assert result.allowed'")

    @property
    def allowed(self) -> bool:
        """Whether the verdict is ``allow``."""
        return self.verdict == "allow"

    @property
    def is_identical(self) -> bool:
        """Whether the systems differ in no segment under any metric; with labels, in no labelled segment.

        If so, a file may have been passed twice.
        """
        return not any(task.n_differing for task in self.tasks)

    @property
    def weakest(self) -> GateTask | None:
        """The task whose margin is the smallest in standard errors, if any has both."""
        return min((t for t in self.tasks if t.room is not None), key=lambda t: t.room or 0.0, default=None)
