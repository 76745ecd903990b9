"""Measure how often tests with speakers or passages as units reject at .05 although nothing differs.

    python -m benches.simulations.speakers --help

Speakers have word error rates about 10%, passages have questions of which about 30% are answered wrong: both are ratios
of sums. The log-odds of the rates vary with a standard deviation of 0.8, and both systems have further errors of their
own with some speakers or passages. Rates of the systems over all of them are equal. ``default`` is what a comparison
does without ``test``: ``ar`` if fewer than 30 units differ, else ``bootstrap-both``.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from benches.data import Array
from reshuffle import metric
from reshuffle.inference.batches import run_batch
from reshuffle.inference.few_differing import FEW_DIFFERING
from reshuffle.resampling import Problems
from reshuffle.settings import Resampling, Units

from .blocks import plan_of

TESTS = ("ar", "bootstrap-both", "default")
UNITS = (10, 20, 30, 40)
ALPHA, SPREAD = 0.05, 0.8


class Population(NamedTuple):
    """How the systems depend on the unit, in log-odds, and whether few units have most words or questions."""

    name: str
    own: tuple[float, float]
    unequal: bool
    rate: float = 0.1
    words: int = 150
    fewest: int = 10
    """How many words every unit has at least, if their numbers differ."""


POPULATIONS = (
    Population("as many words each", (0.3, 0.3), False),
    Population("words differ", (0.3, 0.3), True),
    Population("words differ, one system depends on the speaker", (0.8, 0.0), True),
    Population("10 questions each", (0.3, 0.3), False, 0.3, 10),
    Population("questions differ", (0.3, 0.3), True, 0.3, 10, 1),
    Population("questions differ, one system depends on the passage", (0.8, 0.0), True, 0.3, 10, 1),
)


def sample(rng: np.random.Generator, population: Population, simulations: int, units: int) -> Array:
    """Errors and words of each unit: (2, simulations, units, 2)."""
    shape = simulations, units
    words = np.full(shape, population.words)
    if population.unequal:
        words = rng.geometric(1 / population.words, shape) + population.fewest
    easy = np.log(population.rate / (1 - population.rate)) + SPREAD * rng.normal(size=shape)
    nodes, weights = np.polynomial.hermite_e.hermegauss(21)

    def odds(logits: Array) -> Array:
        return np.asarray(1 / (1 + np.exp(-logits)))

    systems = []
    for own, most in ((own, max(population.own)) for own in population.own):
        if own == most:
            rates = odds(easy + own * rng.normal(size=shape))
        else:  # the mean rate of the other system on this unit
            rates = odds(easy[..., None] + most * nodes) @ (weights / weights.sum())
        systems.append(np.stack([rng.binomial(words, rates), words], axis=-1))
    return np.stack(systems)


def rejections(a: Array, b: Array, seeds: Array, n_resamples: int) -> dict[str, float]:
    """The share of the samples that each test rejects."""
    problems = Problems.from_arrays(metric("wer"), a, b, Units(), seeds)
    resampling = Resampling(n_resamples, seeds, 1)
    p = {test: np.asarray(run_batch(plan_of(test), problems, resampling).pvalue) for test in TESTS[:2]}
    few = (a != b).any(axis=-1).sum(axis=-1) < FEW_DIFFERING
    p["default"] = np.where(few, p["ar"], p["bootstrap-both"])
    return {test: float((p[test] <= ALPHA).mean()) for test in TESTS}


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        prog="python -m benches.simulations.speakers",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--simulations", type=int, default=4000, metavar="N", help="per cell (default: %(default)s)")
    parser.add_argument("--n-resamples", type=int, default=2000, metavar="R", help="default: %(default)s")
    given = parser.parse_args(arguments)
    error = np.sqrt(ALPHA * (1 - ALPHA) / given.simulations)
    print(f"{given.simulations} simulations, R = {given.n_resamples}; standard error {error:.4f}")
    print(f"| population | units | {' | '.join(TESTS)} |")
    print(f"|---|---|{'---|' * len(TESTS)}")
    for number, population in enumerate(POPULATIONS):
        for units in UNITS:
            rng = np.random.default_rng([number, units])
            a, b = sample(rng, population, given.simulations, units)
            found = rejections(a, b, rng.integers(1 << 63, size=given.simulations), given.n_resamples)
            cells = " | ".join(f"{found[test]:.3f}" for test in TESTS)
            print(f"| {population.name} | {units} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
