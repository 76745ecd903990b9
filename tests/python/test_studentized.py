"""Studentized approximate randomization beside its definition, unit by unit in numpy."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.typing import NDArray

from reshuffle import metric
from reshuffle.metrics.base import Counts, Metric
from reshuffle.metrics.native import resolve
from reshuffle.metrics.precomputed import SegmentScores
from reshuffle.resampling import Batch, CountSample, Replicates, Series
from reshuffle.resampling.linear import gradient
from reshuffle.resampling.studentized import Probed, both_ends, studentize
from reshuffle.resampling.units import Documents, Strata

BLEU = metric("bleu")


def projections(m: Metric, a: Counts, b: Counts) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The directions g_j, and the matrix from ḡ to the factors α_j."""
    delta = (a - b).astype(float)
    moments = delta.T @ delta
    directions = Probed.from_counts(m, a, b).directions
    rows = [d @ moments / (d @ moments @ d) if d @ moments @ d > 0 else 0 * d for d in directions]
    return directions, np.array(rows)


def by_definition(m: Metric, a: Counts, b: Counts, flips: NDArray[np.bool_], strata: Strata) -> tuple[float, float]:
    """The difference and its variance on one shuffle, from the contribution of each unit."""
    x, y = np.where(flips[:, None], b, a), np.where(flips[:, None], a, b)
    gradients = gradient(m, both_ends(a, b), np.stack([x.sum(axis=0), y.sum(axis=0)]))
    mean, half = gradients.mean(axis=0), (gradients[0] - gradients[1]) / 2
    directions, projection = projections(m, a, b)
    contributions = ((x - y) @ directions.T) @ (projection @ mean) + (x + y) @ half
    scores = m.score(np.stack([x.sum(axis=0), y.sum(axis=0)]))
    return float(scores[0] - scores[1]), strata.variance(contributions)


def statistics_of(m: Metric, a: Counts, b: Counts, strata: Strata | None, n: int) -> NDArray[np.float64]:
    sample = CountSample.from_counts(m, np.stack([a, b]), strata=strata)
    replicates = Replicates([studentize(sample, (0, 1))], n_resamples=n, seed=3)
    (statistics,) = replicates.run([Series()], [(0, 1)])
    return np.asarray(statistics[0, 0])


@pytest.mark.parametrize("name", ["bleu", "nist", "chrf", "ter", "length"])
@pytest.mark.parametrize("n_strata", [1, 3])
def test_statistics_of_real_outputs_equal_the_definition(name: str, n_strata: int) -> None:
    rng = np.random.default_rng(1)
    words = "a b c d e f".split()
    lines = [[" ".join(rng.choice(words, rng.integers(0, 12))) for _ in range(150)] for _ in range(3)]
    m = metric(name)
    a, b = m.suff_stats(lines[:2], [lines[2]])
    strata = None if n_strata == 1 else Strata(rng.permutation(np.arange(150) % 37 % n_strata))
    got = statistics_of(m, a, b, strata, 40)
    single = Strata.or_single(strata, 150)
    for r in range(40):
        flips = Batch(3, r, 1, 1).flips(r, 150)[:150].astype(bool)
        difference, variance = by_definition(m, a, b, flips, single)
        assert got[r] == pytest.approx(difference / variance**0.5, rel=2e-3, abs=1e-6), (r, name)
