"""What tests conclude from samples of a pool, and whether it is right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..execution.tables import NUMBER, PROBABILITY, SIGN, Column, Columns, stacked
from ..inference.hypotheses import Hypotheses
from ..inference.plan import Plan
from ..inference.running import run_on_test_set
from ..lazy import lazy
from ..metrics.base import Metric, Scores
from ..metrics.black_box import CorpusFunction
from ..resampling import Pairs, Replicates
from ..settings import ComparisonSettings, Resampling
from .pools import OfSamples, Pool, Split, signs

# The test whose confidence is the share of draws that a system wins. That of other tests is 1 − p.
BY_WINS = "paired-bootstrap"

# Confidences are compared with a level with this tolerance: 1 − .05 is less than .95 in floating point for some p.
SLACK = 1e-9

# Numbers in memory at a time when draws of pairs are compared: 8 MB.
CELLS = 1 << 20


def wins_and_losses(draws: Scores, pairs: Pairs) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """In how many draws the first system of each pair scores higher, and in how many the second: (k, R) → (pairs,) ×2.

    >>> wins, losses = wins_and_losses(np.array([[1.0, 2.0, 3.0], [1.0, 1.0, 5.0]]), [(0, 1)])
    >>> wins.tolist(), losses.tolist()
    ([1], [1])
    """
    first, second = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
    wins, losses = np.empty((2, len(first)), dtype=np.int64)
    step = max(1, CELLS // draws.shape[1])
    for start in range(0, len(first), step):
        block = slice(start, start + step)
        a, b = draws[first[block]], draws[second[block]]
        wins[block], losses[block] = np.count_nonzero(a > b, axis=1), np.count_nonzero(a < b, axis=1)
    return wins, losses


def plans_of(tests: Sequence[str], metrics: Sequence[Metric | CorpusFunction]) -> list[Plan]:
    """The plan of each test without adjustment.

    :class:`InputError <reshuffle.InputError>` if a test is unknown or does not support one of the metrics.
    """
    return [Plan.from_settings(ComparisonSettings(test=test, adjust="none"), *metrics) for test in tests]


def conclude(tests: Sequence[str], replicates: Replicates, pairs: Pairs) -> Iterator[tuple[Scores, NDArray[np.int8]]]:
    """The confidence of each test in each pair, and the sign of the difference that it favours: (metrics, pairs) each.

    The confidence of ``paired-bootstrap`` is the share of draws won by the system that wins more of them, without the
    + 1 of its p-value: Koehn 2004 (W04-3250), section 6. It favours neither if both win equally many. The confidence of
    other tests is 1 − p, and they favour the system with the higher score.
    """
    hypotheses = Hypotheses.from_pairs(pairs, n_metrics=len(replicates.samples))
    favoured = np.stack([signs(sample.scores, pairs) for sample in replicates.samples])
    for test, plan in zip(tests, plans_of(tests, [sample.metric for sample in replicates.samples]), strict=True):
        if test == BY_WINS:
            wins, losses = np.stack([wins_and_losses(draws, pairs) for draws in replicates.draws], axis=1)
            yield np.maximum(wins, losses) / replicates.n_resamples, np.sign(wins - losses).astype(np.int8)
        else:
            yield 1 - hypotheses.table(run_on_test_set(plan, replicates, hypotheses).pvalue), favoured


@dataclass(frozen=True, eq=False)
class Conclusions:
    """What a test concludes about P pairs under a metric from each of m samples, and the truth.

    ``confidence``, ``favoured`` and ``truth`` are arrays (m, P). The last two are the signs of differences, where 0
    stands for no difference.
    """

    metric: str
    test: str
    split: Split
    confidence: Scores
    favoured: NDArray[np.int8]
    truth: NDArray[np.int8]

    def reached(self, level: float) -> NDArray[np.bool_]:
        """Where the test draws a conclusion at this confidence: (m, P)."""
        return np.asarray((self.confidence >= level - SLACK) & (self.favoured != 0))

    def right(self, level: float) -> NDArray[np.bool_]:
        """Where it draws the right conclusion."""
        return np.asarray(self.reached(level) & (self.favoured == self.truth))

    def wrong(self, level: float) -> NDArray[np.bool_]:
        """Where it draws a wrong conclusion; every conclusion is wrong if there is no true difference."""
        return np.asarray(self.reached(level) & (self.favoured != self.truth))


@dataclass(frozen=True, eq=False)
class Drawn:
    """The samples of one split of a pool."""

    split: Split
    scores: Scores
    """Shape (metrics, m, k). The score of each system on each sample, and the standard deviation of its draws."""
    deviations: Scores
    """Shape (metrics, m, k)."""
    deviations_of_pairs: Scores
    """Shape (metrics, m, P). The standard deviation of the draws of each pair's difference."""
    conclusions: Sequence[Conclusions]
    """One for each test and metric."""

    @classmethod
    def from_pool(
        cls,
        pool: Pool,
        split: Split,
        pairs: Pairs,
        tests: Sequence[str],
        truth: str,
        labels: Sequence[str],
        resampling: Resampling,
    ) -> Drawn:
        """Draw from all samples and test all pairs on them."""
        job = _OfSamples(pool, split, resampling.n_resamples, resampling.seed, pairs, tests, truth)
        table = job.of_all(resampling)
        of = {name: stacked(table[name], -2) for name in job.columns.by_name}
        found = [
            Conclusions(label, test, split, of["confidence"][t, metric], of["favoured"][t, metric], of["truth"][metric])
            for t, test in enumerate(tests)
            for metric, label in enumerate(labels)
        ]
        return cls(split, of["scores"], of["deviations"], of["deviations_of_pairs"], found)


@dataclass(frozen=True, eq=False)
class _OfSamples(OfSamples):
    """What :class:`Drawn` has of each sample."""

    pairs: Pairs
    tests: Sequence[str]
    truth: str

    @property
    def columns(self) -> Columns:
        """As :class:`Drawn` and :class:`Conclusions` have them."""
        of_systems, of_pairs = ((len(self.pool.metrics), n) for n in (len(self.pool.names), len(self.pairs)))
        of_tests = len(self.tests), *of_pairs
        return Columns(
            {
                "scores": Column(NUMBER, of_systems),
                "deviations": Column(NUMBER, of_systems),
                "deviations_of_pairs": Column(NUMBER, of_pairs),
                "confidence": Column(PROBABILITY, of_tests),
                "favoured": Column(SIGN, of_tests),
                "truth": Column(SIGN, of_pairs),
            }
        )

    def of_sample(self, units: NDArray[np.intp], replicates: Replicates) -> tuple[Scores | NDArray[np.int8], ...]:
        """The columns of a sample."""
        found = list(conclude(self.tests, replicates, self.pairs))
        known = self._whole if self.truth == "whole" else self.pool.scores_of_rest(units)
        scores = np.stack([sample.scores for sample in replicates.samples])
        deviations, of_pairs = zip(*(_deviations(draws, self.pairs) for draws in replicates.draws), strict=True)
        confidence, favoured = (np.stack(each) for each in zip(*found, strict=True))
        truths = np.stack([signs(own, self.pairs) for own in known])
        return scores, np.stack(deviations), np.stack(of_pairs), confidence, favoured, truths

    @lazy
    def _whole(self) -> list[Scores]:
        """The scores of all systems on the whole pool."""
        return self.pool.scores()


def _deviations(draws: Scores, pairs: Pairs) -> tuple[Scores, Scores]:
    """The standard deviations of the draws of each system and of each pair's difference: (k, R) → (k,), (pairs,)."""
    products = np.atleast_2d(np.cov(draws, ddof=1)) if draws.shape[1] > 1 else np.zeros((len(draws), len(draws)))
    first, second = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
    variances = np.diag(products)
    of_pairs = variances[first] + variances[second] - 2 * products[first, second]
    return np.sqrt(variances), np.sqrt(np.maximum(of_pairs, 0.0))
