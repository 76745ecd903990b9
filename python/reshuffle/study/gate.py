"""``gate``: how often gates allow and reject, and how often tests decide while data arrive."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..execution import ItemJob
from ..execution.tables import Column, Columns, Kind
from ..gate import gated
from ..inference.gate import needed_room
from ..inference.power import critical_value
from ..metrics.base import Scores
from ..metrics.precomputed import SegmentScores
from ..options.declare import called_with
from ..options.gate import Gate as GateOptions
from ..options.studies import Gate
from ..options.watch import WatchOptions
from ..resampling import CountSample
from ..resampling.counting import Data
from ..results.studies import StudyResult
from ..results.studies.gate import GATE, GatePlan, GateRate
from ..seeds import derive_seed
from ..sets import SetData
from ..settings import Resampling, Units
from ..watch import METHODS, Hypothesis, decided_at
from .rates import rate_interval
from .run_model import normal_values
from .settings import StudySettings, settings_of

# The systems, the baseline first, and their scores of 0 to 1.
NAMES = ("base", "new")
LABEL = "score"
VERDICTS = ("allow", "reject", "inconclusive")
LOOKED = ("decided", "wrongly", "undecided")
# A z-test needs some units.
NAIVE_FROM = 51
TRUTHS = {
    "equal": "No task has a difference in expectation.",
    "one worse": "On the first task the new system is worse by exactly the margin; others have no difference.",
    "all worse": "On every task the new system is worse by exactly the margin.",
}


@dataclass(frozen=True)
class Differences:
    """The differences of segments, within −1 to 1, from normal scores and a true difference."""

    sd: float
    """The standard deviation of a segment's difference, if the systems are equally good."""
    of_normal: Callable[[Scores, float], Scores]
    most: float = 0.1
    """The largest true difference for which they keep within −1 to 1."""
    signed: bool = True
    """Whether wins and losses are then equally likely."""


def _answers(share: float) -> Differences:
    """Right and wrong answers that differ in a share of the segments."""
    from scipy.special import ndtri

    def of_normal(z: Scores, difference: float) -> Scores:
        lower, upper = ndtri((share - difference) / 2), ndtri((share + difference) / 2)
        return (z > -upper).astype(np.float64) - (z < lower)

    return Differences(math.sqrt(share), of_normal, share)


def _skewed(sign: float) -> Differences:
    """.9 in one of ten segments, −.1 in the others, or the reverse."""
    from scipy.special import ndtri

    return Differences(0.3, lambda z, difference: difference + sign * np.where(z > ndtri(0.9), 0.9, -0.1), signed=False)


DIFFERENCES: Mapping[str, Callable[[], Differences]] = {
    "normal": lambda: Differences(0.125, lambda z, difference: np.clip(0.125 * z + difference, -1, 1)),
    "4%": lambda: _answers(0.04),
    "10%": lambda: _answers(0.1),
    "40%": lambda: _answers(0.4),
    "skewed": lambda: _skewed(1),
    "mirrored": lambda: _skewed(-1),
}


@called_with(Gate)
def gate(options: Gate) -> StudyResult[GatePlan]:
    """How often a gate allows, rejects, or is inconclusive, and how often tests while data arrive decide.

    Scores are simulated: of each task, a test set whose segments have differences with a known distribution. The new
    system is as good as the baseline on all tasks, or worse by exactly the margin on one or all of them.

    Returns
    -------
    StudyResult
        With the table ``decisions`` (:class:`~reshuffle.results.studies.GateRate`).

    Raises
    ------
    InputError
        If a name is unknown, a number is out of range, the method ``sign`` is asked for skewed differences, or a margin
        is larger than differences can be.

    Notes
    -----
    Gates are those of :func:`reshuffle.gate` with the rule ``non-inferior``; the others are the methods of
    :func:`reshuffle.watch`, all tasks together at level ``alpha``. Segment s has on task j the normal score
    √ρ·u(s) + √(1 − ρ)·e(j, s), from which its difference follows. Cost: that of a gate, or of a test, for each
    simulation and each truth.

    Examples
    --------
    >>> from reshuffle.study import gate
    >>> study = gate(tasks=1, correlation=0, simulations=40, n_resamples=199)
    >>> [(each.truth, each.decision, each.rate) for each in study.tables["decisions"] if each.is_wrong]
    [('equal', 'reject', 0.1), ('one worse', 'allow', 0.025)]
    """
    _check(options)
    with settings_of("gate", options) as settings:
        jobs = list(_jobs(options))
        settings.resampling.announce(settings.steps(len(jobs)))
        found = [rate for job in jobs for rate in _rates(job, settings)]
        truths = {name: TRUTHS[name] for name in dict.fromkeys(rate.truth for rate in found)}
        return settings.result(options, {"decisions": found}, truths, label=LABEL, seed=int(settings.seed))


def _check(options: Gate) -> None:
    """:class:`InputError` for methods that do not suit the differences, and differences that are too large."""
    if "sign" in options.methods:
        for name in options.differences:
            if not DIFFERENCES[name]().signed:
                raise InputError(
                    f"method 'sign' tests whether wins and losses are equally likely, which is false of {name} "
                    "differences: leave one of them out"
                )
    fewest = {"naive": NAIVE_FROM, "asymptotic": options.first_look}
    for name in options.methods:
        if min(options.sizes) < fewest.get(name, 2):
            raise InputError(
                f"sizes: {min(options.sizes):,} segments end before the first look of {name}, after {fewest[name]:,}: "
                "ask for more segments" + (", or an earlier first look" if name == "asymptotic" else "")
            )
    for job in _jobs(options):
        if job.difference > job.own.most:
            raise InputError(
                f"margin: {job.margin:g} standard errors are larger than {job.differences} differences of {job.size:,} "
                "segments can be: ask for smaller margins, or more segments"
            )


def _jobs(options: Gate) -> Iterator[_Decisions]:
    """The simulations of each kind of tasks."""
    for differences, size, tasks, correlation in product(
        options.differences, options.sizes, options.tasks, options.correlation
    ):
        if tasks > 1 or correlation == options.correlation[0]:  # one task has no correlation
            for margin in options.margin or (round(needed_room(tasks, options.alpha), 2),):
                settings = options.alpha, options.n_resamples, options.first_look, options.looks, options.seed
                kind = differences, tasks, correlation if tasks > 1 else 0.0, margin, size
                yield _Decisions(tuple(options.methods), *kind, *settings)


def _rates(job: _Decisions, settings: StudySettings) -> Iterator[GateRate]:
    """The rate of each decision, for each method and truth."""
    n = settings.simulations
    found = job.results(n, settings.execution)
    for m, method in enumerate(job.methods):
        decisions = VERDICTS if method == GATE else LOOKED
        for t, truth in enumerate(job.truths):
            wrong = "wrongly" if method != GATE else "reject" if truth == "equal" else "allow"
            units = None if method == GATE else float(np.median(found["units"][:, m, t]))
            for at, decision in enumerate(decisions):
                reached = found["decision"][:, m, t] == at
                yield GateRate(
                    method, job.differences, job.tasks, job.correlation, job.margin, truth, job.size, decision,
                    decision == wrong, job.alpha, float(reached.mean()), rate_interval(reached), units, n,
                )  # fmt: skip


@dataclass(frozen=True, eq=False)
class _Decisions(ItemJob):
    """What each method decides on simulated test sets, for each truth."""

    methods: tuple[str, ...]
    differences: str
    tasks: int
    correlation: float
    margin: float
    size: int
    alpha: float
    n_resamples: int
    first_look: int
    looks: int
    seed: int

    @property
    def own(self) -> Differences:
        return DIFFERENCES[self.differences]()

    @property
    def difference(self) -> float:
        """The margin in points."""
        return self.margin * self.own.sd / math.sqrt(self.size)

    @property
    def truths(self) -> Sequence[str]:
        return tuple(TRUTHS)[: 2 + (self.tasks > 1)]

    @property
    def columns(self) -> Columns:
        """The index of the decision, and the segments after which it was made."""
        shape = len(self.methods), len(self.truths)
        units, decision = Kind("<i8", 0, self.size), Kind("<i1", 0, len(VERDICTS) - 1)
        return Columns({"decision": Column(decision, shape), "units": Column(units, shape)})

    def item(self, index: int, threads: int | None) -> tuple[NDArray[np.int8], NDArray[np.int64]]:
        """The decisions on one suite of test sets. All truths have the same noise."""
        seed = derive_seed(self.seed, "simulation", index)
        decisions, units = self.columns.empty(1)[0]
        for t, truth in enumerate(self.truths):
            data = Data.from_arguments(None, None, self.metrics(seed, truth))
            samples = [sample.with_counts() for sample in data.count(NAMES, Resampling(threads=1))]
            for m, method in enumerate(self.methods):
                if method == GATE:
                    decisions[m, t], units[m, t] = self._gate(data, seed, threads), self.size
                else:
                    decisions[m, t], units[m, t] = self._looked(method, samples, truth, threads)
        return decisions, units

    def metrics(self, seed: int, truth: str) -> list[SegmentScores]:
        """The scores of both systems on all tasks."""
        shared, *own = normal_values(seed, (1 + self.tasks) * self.size).reshape(1 + self.tasks, self.size)
        found = []
        for task, noise in enumerate(own):
            z = math.sqrt(self.correlation) * shared + math.sqrt(1 - self.correlation) * noise
            values = self.own.of_normal(z, -self.difference if _is_worse(task, truth) else 0.0).round(6)
            # From 0 to 1, and high, because margins larger than the baseline's score are refused.
            scores = {"base": (1 - np.maximum(values, 0)).round(6), "new": (1 - np.maximum(-values, 0)).round(6)}
            found.append(SegmentScores(f"task{task}", scores))
        return found

    def _gate(self, data: Data, seed: int, threads: int | None) -> int:
        rule = GateOptions(margin=dict.fromkeys(data.labels, self.difference), alpha=self.alpha)
        resampling = Resampling(self.n_resamples, seed, threads)
        return VERDICTS.index(gated({"": SetData(data, Units())}, rule, resampling).verdict)

    def _looked(self, method: str, samples: Sequence[CountSample], truth: str, threads: int | None) -> tuple[int, int]:
        """What the first tests to decide show, and after how many segments. Right only if all of them are."""
        hypotheses = [self._hypothesis(method, sample, threads) for sample in samples]
        stops = [self._stop(method, each) for each in hypotheses]
        first = min((stop for stop in stops if stop is not None), default=None)
        if first is None:
            return LOOKED.index("undecided"), self.size
        is_right = all(
            _is_worse(task, truth) and each.values[:first].sum() < 0
            for task, (each, stop) in enumerate(zip(hypotheses, stops, strict=True))
            if stop == first
        )
        return LOOKED.index("decided" if is_right else "wrongly"), first

    def _hypothesis(self, method: str, sample: CountSample, threads: int | None) -> Hypothesis:
        """The test of a task, at its share of the level."""
        rows = CountSample.from_counts(sample.metric, sample.counts[::-1], sample.unit)
        options = WatchOptions(
            method=method,
            bounds=(0, 1),
            planned=self.size,
            first_look=self.first_look,
            looks=self.looks,
            workers=threads,
        )
        return Hypothesis(rows, self.alpha / self.tasks, options)

    def _stop(self, method: str, hypothesis: Hypothesis) -> int | None:
        """After how many segments a test of one task decides."""
        if method in METHODS:
            return decided_at(hypothesis)
        # The z tests of Hypothesis.estimates, all at once: there is one after every segment.
        n, sums = np.arange(1, self.size + 1), np.cumsum(hypothesis.values)
        variances = (np.cumsum(hypothesis.values**2) - sums**2 / n) / np.maximum(n - 1, 1) * n
        beyond = (variances > 0) & (sums**2 >= critical_value(hypothesis.alpha) ** 2 * variances)
        beyond[: self.size - 1 if method == "once" else NAIVE_FROM - 1] = False
        return int(beyond.argmax()) + 1 if beyond.any() else None


def _is_worse(task: int, truth: str) -> bool:
    """Whether the new system is worse on a task."""
    return truth == "all worse" or (truth == "one worse" and task == 0)
