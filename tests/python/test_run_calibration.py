"""Sizes of the hierarchical bootstrap and coverage of its interval for 3, 5 and 10 runs, through the real code."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from reshuffle import SegmentScores, metric
from reshuffle.inference.exchange import EXCHANGES
from reshuffle.inference.run_tests import run_outcome
from reshuffle.resampling import CountSample
from reshuffle.resampling.runs import RunData
from reshuffle.seeds import derive_seed
from reshuffle.settings import Resampling, RunSettings

pytestmark = pytest.mark.slow

Array = NDArray[np.float64]

SIMULATIONS, REPLICATES, ALPHA = 4000, 399, 0.05
# Four standard errors of a simulated rate of α.
ERROR = 4 * math.sqrt(ALPHA * (1 - ALPHA) / SIMULATIONS)

# With few runs of the same spread, the test is conservative: the least size that is expected, by the number of runs.
LEAST = {3: 0.025, 5: 0.035, 10: 0.045}

Simulated = Callable[[np.random.Generator, int], CountSample]


def rates(simulate: Simulated, n: int, statistic: str, truth: float = 0.0) -> dict[str, float]:
    """The share of rejections of ``hierarchical`` and ``segment``, and the coverage of the interval of the first."""
    rejected, covered = dict.fromkeys(("hierarchical", "segment"), 0), 0
    for i in range(SIMULATIONS):
        sample = simulate(np.random.default_rng([23, n, i]), n)
        resampling = Resampling(REPLICATES, derive_seed(5, "simulation", i), 1)
        data = RunData(("a", "b"), (n, n), [sample], resampling)
        for name in rejected:
            p = run_outcome(data, [(0, 1)], EXCHANGES[name], RunSettings(statistic=statistic))[1].pvalue[0]
            rejected[name] += p <= ALPHA
        interval = EXCHANGES["hierarchical"].interval.of(data, 0, (0, 1), statistic, 1 - ALPHA)
        assert interval is not None
        covered += interval.low <= truth <= interval.high
    return {"coverage": covered / SIMULATIONS} | {name: count / SIMULATIONS for name, count in rejected.items()}


def normal(run_sd: float, correlation: float, difference: float = 0.0) -> Simulated:
    """Segment scores of 100 segments: all effects are normal. As in ``benches/simulations/run_coverage.py``."""

    def simulate(rng: np.random.Generator, n: int) -> CountSample:
        s = 100
        values = rng.normal(size=(2 * n, s)) * math.sqrt((1 - correlation) / 2)
        values[:n] += rng.normal(size=s) * math.sqrt(correlation) + difference
        values += rng.normal(size=(2 * n, 1)) * run_sd / math.sqrt(s)
        scores = SegmentScores("x", {str(i): np.round(row, 4) for i, row in enumerate(values)})
        return CountSample.from_counts(scores, scores.counts_of([str(i) for i in range(2 * n)]))

    return simulate


@pytest.mark.parametrize("n", [3, 5, 10])
@pytest.mark.parametrize("run_sd", [0, 1])
def test_the_hierarchical_bootstrap_holds_its_level_for_means(n: int, run_sd: float) -> None:
    found = rates(normal(run_sd, 0.5), n, "mean")
    print(f"\nmeans, n = {n}, run sd {run_sd}: {found}")
    assert LEAST[n] - ERROR / 2 <= found["hierarchical"] <= ALPHA + ERROR
    assert found["coverage"] == 1 - found["hierarchical"]
    if run_sd:
        assert found["segment"] > 2 * ALPHA - ERROR  # it takes runs as fixed


def test_the_interval_covers_a_difference() -> None:
    found = rates(normal(0.7, 0.5, 0.3), 3, "pooled", 0.3)
    print(f"\nmeans, n = 3, with a difference: {found}")
    assert 1 - ALPHA - ERROR <= found["coverage"] <= 1 - LEAST[3] + ERROR / 2
    assert found["hierarchical"] > 0.5  # power


@pytest.mark.parametrize("n", [3, 5, 10])
def test_the_hierarchical_bootstrap_holds_its_level_for_bleu(n: int, data: Path) -> None:
    """Runs take each segment from one of two WMT17 systems, with probabilities that vary between runs.

    They vary between segments too: by a part that runs of a system share, so that their outputs resemble each other.
    """
    folder = data / "wmt17-en-de"
    references = (folder / "ref.txt").read_text("utf-8").splitlines()
    names = ("uedin-nmt.4722", "online-G.0")
    paths = [next(path for path in (folder / "sys").iterdir() if name in path.name) for name in names]
    texts = {path.name: path.read_text("utf-8").split("\n")[: len(references)] for path in paths}
    bleu = metric("bleu")
    counts = bleu.counted(texts, [references], 1, None)

    def simulate(rng: np.random.Generator, n: int) -> CountSample:
        drawn = counts[:, rng.integers(counts.shape[1], size=300)]
        inclination = rng.normal(size=(2, 1, 300)) + rng.normal(size=(2, n, 300)) + 0.4 * rng.normal(size=(2, n, 1))
        chosen = (inclination > 0).reshape(2 * n, 300).astype(int)
        return CountSample.from_counts(bleu, drawn[chosen, np.arange(300)])

    found = rates(simulate, n, "pooled")
    print(f"\nBLEU, n = {n}: {found}")
    assert LEAST[n] - ERROR / 2 <= found["hierarchical"] <= ALPHA + ERROR
    assert found["coverage"] == 1 - found["hierarchical"]
    assert found["segment"] > ALPHA + ERROR / 2
