"""A paired test of several systems against a baseline, with sacreBLEU's arguments and results.

A *reading* is the statistics of all systems under one metric.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import sacrebleu.significance as host
from numpy.typing import NDArray

from ..patching import NotNative, Seam
from . import replay, sound
from .counting import as_statistics, counts, overrides
from .samples import Sample, as_values, values_of_counts
from .seams import warn_of_tokenized

References: TypeAlias = "Sequence[Sequence[str | None]] | None"
BaselineInfo: TypeAlias = "Mapping[str, tuple[Any, Any]]"
Results: TypeAlias = "dict[str, Any]"
Readings: TypeAlias = "dict[str, _Reading | NotNative]"

logger = logging.getLogger("sacrebleu")

PERFORMING = {
    "ar": " > Performing approximate randomization test (# trials: {})",
    "bs": " > Performing paired bootstrap resampling test (# resamples: {})",
}
INTERVALS = " > Performing bootstrap resampling for confidence interval (# resamples: {})"


def check_number(n_samples: Any) -> None:
    """Raises :class:`NotNative` if ``n_samples`` is not a positive integer, so that sacreBLEU has to handle it."""
    if not _is_integer(n_samples) or n_samples < 1:
        raise NotNative("the number of replicates is not an integer above 0")


def _is_integer(number: Any) -> bool:
    # numpy's generators, which sacreBLEU calls, refuse booleans.
    return isinstance(number, (int, np.integer)) and not isinstance(number, bool)


@dataclass
class Outcome:
    """The name of each system, with its result for each metric.

    ``sound`` has the metrics that were tested in the mode ``sound``, with the midpoint and half width of the baseline's
    interval.
    """

    results: list[tuple[str, Results]]
    sound: dict[str, sound.MeanAndHalfWidth] = field(default_factory=dict)


@dataclass(frozen=True)
class Task:
    """The arguments of sacreBLEU's test functions, for any number of systems.

    ``systems`` are the names and hypotheses of all systems except the baseline. ``seam`` is that of the test function.
    """

    test: str
    seam: Seam
    baseline: BaselineInfo
    systems: Sequence[tuple[str, Sequence[str]]]
    references: References
    metrics: Mapping[str, Any]
    n_samples: int
    n_ar_confidence: int
    seed: Any
    draws: replay.Draws = field(default_factory=replay.Draws)

    @property
    def n_draws(self) -> int:
        """The number of draws for intervals. If it is 0 or less, there are no intervals."""
        return self.n_samples if self.test == "bs" else self.n_ar_confidence

    def readings(self, pvalues: str) -> Readings:
        """For each metric, its reading, or the reason why sacreBLEU's function has to be used."""
        found: Readings = {}
        for name in self.metrics:
            try:
                found[name] = self._reading(name, pvalues)
            except NotNative as reason:
                found[name] = reason
        return found

    def run(self, pvalues: str, readings: Readings | None = None) -> Outcome:
        """The results. ``pvalues`` is the mode, ``exact-replay`` or ``sound``."""
        if pvalues != "sound" and self.systems:
            # sacreBLEU's error for an impossible seed comes before anything is counted.
            np.random.default_rng(self.seed)
        outcome = Outcome([(name, {}) for name, _ in self.systems])
        readings = self.readings(pvalues) if readings is None else readings
        native = [reading for reading in readings.values() if not isinstance(reading, NotNative)]
        for reading in native:
            reading.count()
        # The order of the loops is that of sacreBLEU's log messages.
        for system, (_, results) in enumerate(outcome.results):
            for name, how in readings.items():
                results[name] = self._original(system, name, how) if isinstance(how, NotNative) else how.read(system)
        for reading in native:
            if reading.failure is not None:
                for system, (_, results) in enumerate(outcome.results):
                    results[reading.name] = self._original(system, reading.name, reading.failure)
        complete = [reading for reading in native if reading.failure is None]
        if complete and self.systems:
            (self._sound if pvalues == "sound" else self._replay)(complete, outcome)
        # In the order of the metrics.
        outcome.results = [
            (name, {metric: results[metric] for metric in self.metrics}) for name, results in outcome.results
        ]
        return outcome

    def _reading(self, name: str, pvalues: str) -> _Reading:
        """Raises :class:`NotNative` if sacreBLEU's function has to be used for this metric."""
        check_number(self.n_samples)
        if self.test == "ar" and not _is_integer(self.n_ar_confidence):
            raise NotNative("the number of draws for intervals is not an integer")
        values = as_values(self.baseline[name][0])
        if any(len(hypotheses) != len(values) for _, hypotheses in self.systems):
            raise NotNative("the systems have different numbers of segments")
        reading = _Reading(self, name, values, sound.DIVISORS if pvalues == "sound" else ())
        reading.check(values)
        return reading

    def _original(self, system: int, metric: str, reason: NotNative) -> Any:
        """The result of sacreBLEU's own function for a system and a metric."""
        name, hypotheses = self.systems[system]
        metrics = {metric: self.metrics[metric]}
        arguments = (self.baseline, name, hypotheses, self.references, metrics)
        numbers = (self.n_samples, self.n_ar_confidence, self.seed)
        _, results = self.seam.leave(f"{metric}: {reason}", *arguments, *numbers)
        return results[metric]

    def _replay(self, readings: Sequence[_Reading], outcome: Outcome) -> None:
        """Add p-values and intervals from the replicates that sacreBLEU would make."""
        systems = range(len(self.systems))
        # With a seed, sacreBLEU makes the same replicates for every system; without one, different replicates for each.
        same = isinstance(self.seed, (int, np.integer))
        for group in [list(systems)] if same else [[system] for system in systems]:
            samples = [reading.sample(group) for reading in readings]
            rng = np.random.default_rng(self.seed)
            found = [[outcome.results[system][1][reading.name] for system in group] for reading in readings]
            complete = self._shuffled if self.test == "ar" else self._drawn
            complete(samples, [self.baseline[reading.name][1] for reading in readings], found, rng)

    def _shuffled(
        self, samples: Sequence[Sample], baselines: Sequence[Any], found: Sequence[Sequence[Any]], rng: replay.Rng
    ) -> None:
        scores = replay.shuffled_scores(samples, rng, self.n_samples)
        for baseline, results, pairs in zip(baselines, found, scores, strict=True):
            for result, (a, b) in zip(results, pairs, strict=True):
                result.p_value = host._compute_p_value(np.abs(a - b), abs(baseline.score - result.score))
        if self.n_draws > 0:
            intervals = replay.drawn_scores(samples, rng, self.n_draws, self.draws, first=1)
            for results, draws in zip(found, intervals, strict=True):
                for result, drawn in zip(results, draws, strict=True):
                    result.mean, result.ci = host.estimate_ci(drawn)

    def _drawn(
        self, samples: Sequence[Sample], baselines: Sequence[Any], found: Sequence[Sequence[Any]], rng: replay.Rng
    ) -> None:
        scores = replay.drawn_scores(samples, rng, self.n_samples, self.draws)
        for baseline, results, (of_baseline, *draws) in zip(baselines, found, scores, strict=True):
            for result, drawn in zip(results, draws, strict=True):
                result.mean, result.ci = host.estimate_ci(drawn)
                differences = np.abs(drawn - of_baseline)
                statistics = differences - differences.mean()
                result.p_value = host._compute_p_value(statistics, abs(baseline.score - result.score))

    def _sound(self, readings: Sequence[_Reading], outcome: Outcome) -> None:
        """Add p-values and intervals from reshuffle's tests."""
        samples = [reading.sample(range(len(self.systems))) for reading in readings]
        seed = secrets.randbits(64) if self.seed is None else self.seed
        found = sound.tested(self.test, samples, int(self.n_samples), int(self.n_draws), seed)
        for reading, (pvalues, (baseline, *intervals)) in zip(readings, found, strict=True):
            outcome.sound[reading.name] = baseline
            for (_, results), pvalue, interval in zip(outcome.results, pvalues, intervals, strict=True):
                result = results[reading.name]
                result.p_value = pvalue
                result.mean, result.ci = interval


@dataclass(eq=False)
class _Reading:
    """The statistics of all systems under one metric.

    ``failure`` is the reason why sacreBLEU's function has to be used, if it is found late.
    """

    task: Task
    name: str
    baseline: NDArray[Any]
    divisors: Sequence[int]
    counts: NDArray[np.int64] | None = None
    values: list[NDArray[Any]] = field(default_factory=list)
    failure: NotNative | None = None

    @property
    def metric(self) -> Any:
        return self.task.metrics[self.name]

    def check(self, values: NDArray[Any]) -> None:
        """Raises :class:`NotNative` if one system's statistics cannot be resampled as integers."""
        if values.shape != self.baseline.shape:
            raise NotNative("the statistics of two systems have different shapes")
        # Draws do not need integers, because sums of float32 can also be repeated in sacreBLEU's order.
        needs_counts = bool(self.divisors) or self.task.test == "ar"
        if needs_counts and Sample.from_values(self.metric, [values], self.divisors).counts is None:
            raise NotNative("the statistics are not whole numbers")

    def count(self) -> None:
        """Count all systems in one call, unless the metric's own method has to count."""
        hypotheses = [hypotheses for _, hypotheses in self.task.systems]
        if not hypotheses:
            return
        try:
            self.counts = counts(self.metric, hypotheses, self.task.references)
        except NotNative:
            self.counts = None

    def read(self, system: int) -> Any:
        """sacreBLEU's result object for a system, with its score. Logs the messages that sacreBLEU logs."""
        task, metric = self.task, self.metric
        name, hypotheses = task.systems[system]
        logger.info(f"Computing {self.name} for {name!r} and extracting sufficient statistics")
        if self.counts is None:
            statistics = metric._extract_corpus_statistics(hypotheses, task.references)
            score = metric._aggregate_and_compute(statistics)
            self._add(statistics)
        else:
            if not metric._force:
                warn_of_tokenized(hypotheses)
            score = self._native_score(self.counts[system])
            self.values.append(values_of_counts(metric, self.counts[system]))
        logger.info(PERFORMING[task.test].format(task.n_samples))
        if task.test == "ar" and task.n_draws > 0:
            logger.info(INTERVALS.format(task.n_draws))
        return host.Result(score.score)

    def _add(self, statistics: Any) -> None:
        try:
            values = as_values(statistics)
            self.check(values)
            self.values.append(values)
        except NotNative as reason:
            self.failure = reason

    def _native_score(self, counts: NDArray[np.int64]) -> Any:
        # sacreBLEU's method returns a single row as the sum. An overriding method gets all rows.
        rows = counts if overrides(self.metric, "_aggregate_and_compute") else counts.sum(axis=0, keepdims=True)
        return self.metric._aggregate_and_compute(as_statistics(self.metric, rows))

    def sample(self, systems: Sequence[int]) -> Sample:
        """The baseline and these systems."""
        values = [self.baseline, *(self.values[system] for system in systems)]
        return Sample.from_values(self.metric, values, self.divisors)
