"""Measure how often a gate allows and rejects, where the truth is known.

    python -m benches.simulations.gate [--suites N]

The tasks of a suite are metrics whose segment scores differ by normal noise, with a correlation between tasks. Margins
are multiples of the true standard error of a difference. Three minutes on one core with the default numbers.
"""

from __future__ import annotations

import argparse
import math
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from benches.data import Array
from benches.machine import markdown_table
from reshuffle import SegmentScores, gate
from reshuffle.seeds import derive_seed

SEGMENTS, N_RESAMPLES, ALPHA = 200, 399, 0.05
# The standard deviation of a segment's difference.
NOISE = 5.0
VERDICTS = ("allow", "reject", "inconclusive")


class Suite(NamedTuple):
    """Equally correlated tasks with equal margins."""

    n_tasks: int
    correlation: float
    room: float
    """The margin in standard errors."""
    n_suites: int

    @property
    def margin(self) -> float:
        """The margin in points."""
        return self.room * NOISE / math.sqrt(SEGMENTS)


SUITES = (
    Suite(1, 0, 2.5, 1000),
    Suite(5, 0, 2.5, 300),
    Suite(5, 0.5, 2.5, 300),
    Suite(20, 0, 4, 150),
    Suite(20, 0.5, 4, 150),
)


def truths(suite: Suite) -> dict[str, Array]:
    """The true differences of the tasks, in points."""
    one = np.zeros(suite.n_tasks)
    one[0] = -suite.margin
    found = {"no change": np.zeros(suite.n_tasks), "one worse by its margin": one}
    return found if suite.n_tasks == 1 else {**found, "all worse by their margins": np.full_like(one, -suite.margin)}


def verdicts(suite: Suite, truth: Array, n_suites: int) -> Iterator[str]:
    """The verdicts of simulated suites. All truths have the same noise."""
    for number in range(n_suites):
        rng = np.random.default_rng([derive_seed(12345, "simulation", number), suite.n_tasks])
        shared, own = rng.normal(size=(1, SEGMENTS)), rng.normal(size=(suite.n_tasks, SEGMENTS))
        noise = NOISE * (np.sqrt(suite.correlation) * shared + np.sqrt(1 - suite.correlation) * own)
        base = rng.normal(50, 10, (suite.n_tasks, SEGMENTS))
        new = base + noise + truth[:, None]
        metrics = [
            SegmentScores(f"task{task}", {"base": old.round(2), "new": now.round(2)})
            for task, (old, now) in enumerate(zip(base, new, strict=True))
        ]
        margins = {metric.name: suite.margin for metric in metrics}
        yield gate(metrics=metrics, margin=margins, n_resamples=N_RESAMPLES, seed=number, alpha=ALPHA).verdict


def rates(suite: Suite, truth: Array, n_suites: int) -> dict[str, float]:
    """The share of each verdict."""
    counts = Counter(verdicts(suite, truth, n_suites))
    return {verdict: counts[verdict] / n_suites for verdict in VERDICTS}


def main(arguments: Sequence[str] | None = None) -> None:
    """Simulate all suites, and print a table."""
    parser = argparse.ArgumentParser(prog="python -m benches.simulations.gate", description=__doc__)
    parser.add_argument("--suites", type=int, metavar="N", help="suites of each kind (default: 1,000 to 150)")
    options = parser.parse_args(arguments)
    began, rows = time.perf_counter(), []
    for suite in SUITES:
        n = options.suites or suite.n_suites
        for name, truth in truths(suite).items():
            found = rates(suite, truth, n)
            shown = [f"{found[verdict]:.3f}" for verdict in VERDICTS]
            rows.append([f"{suite.n_tasks}", f"{suite.correlation:g}", f"{suite.room:g}", name, f"{n:,}", *shown])
    print(markdown_table(["tasks", "ρ", "margin/se", "truth", "suites", *VERDICTS], rows))
    print(f"\n{time.perf_counter() - began:.0f} seconds")


if __name__ == "__main__":
    main()
