"""Measure the hierarchical bootstrap of few runs and its corrections. ``run_size`` has unequal numbers and spreads.

    python -m benches.simulations.run_coverage --help

Two systems have the same expected score, n runs each, and S segments. A score is a sum of contributions of segments,
as the linearized score of any metric is. All effects are drawn anew in each simulation:

- segments: the difference of both systems in a segment, which all runs share; normal;
- run × segment: normal, for each output;
- runs: normal with ``run sd``, or of another shape.

The unit of ``run sd`` is the standard deviation, over test sets, of the difference of two outputs. ``correlation`` is
the share of its variance that the runs have in common. The table has the share of simulations in which a two-sided test
rejects at .05. Every test but ``percentile`` rejects exactly when its 95% interval excludes 0, so the coverage of the
interval is 1 less the number in the table. ``--power`` has what levels cost: the power of t tests, which need no draws.
"""

from __future__ import annotations

import argparse
import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from reshuffle.resampling.run_hierarchical import Hierarchical
from reshuffle.resampling.run_linear import Levels, RunCovariances, satterthwaite

Array = NDArray[np.float64]

ALPHA = 0.05
# Simulations that share the draws, and draws.
BLOCK, DRAWS = 50, 999


@dataclass(frozen=True)
class Cell:
    """One row of the table."""

    runs: tuple[int, int]
    segments: int
    run_sd: tuple[float, float]
    correlation: float
    shape: str = "normal"

    def label(self) -> str:
        """The first columns of the row."""
        n = str(self.runs[0]) if self.runs[0] == self.runs[1] else f"{self.runs[0]}, {self.runs[1]}"
        equal = self.run_sd[0] == self.run_sd[1]
        sd = f"{self.run_sd[0]:g}" if equal else f"{self.run_sd[0]:g}, {self.run_sd[1]:g}"
        return f"{n} | {self.segments:,} | {sd} | {self.correlation:g} | {self.shape}"

    def effects(self, rng: np.random.Generator) -> Array:
        """The effects of the runs in a block of simulations, mean 0: (BLOCK, n + m)."""
        size = (BLOCK, sum(self.runs))
        drawn = rng.normal(size=size) if self.shape == "normal" else rng.exponential(size=size) - 1
        return np.asarray(drawn * np.repeat(self.run_sd, self.runs))

    def contributions(self, rng: np.random.Generator) -> Array:
        """The contributions of segments to the score of each output: (BLOCK, n + m, S)."""
        n, s = self.runs[0], self.segments
        values = rng.normal(size=(BLOCK, sum(self.runs), s)) * np.sqrt((1 - self.correlation) / 2 / s)
        values[:, :n] += rng.normal(size=(BLOCK, 1, s)) * np.sqrt(self.correlation / s)
        return np.asarray(values + self.effects(rng)[..., None] / s)


@dataclass(frozen=True)
class Drawn:
    """A simulation: the observed difference, the deviations of its draws by kind, and its covariances."""

    difference: float
    segments: Array
    all_runs: Array
    one_less: Array
    covariances: RunCovariances


def exceeded(difference: float, deviations: Array) -> bool:
    """Whether p = (c + 1)/(R + 1) is at most .05."""
    c = np.count_nonzero(np.abs(deviations) >= abs(difference))
    return bool((c + 1) / (len(deviations) + 1) <= ALPHA)


def corrected(drawn: Drawn, factor: bool, t: bool) -> bool:
    """The bootstrap with n − 1 runs: with the variance corrected for the interaction, with the tails of t."""
    spread = drawn.covariances.of_difference(0, 1)
    deviations = drawn.one_less * (spread.factor if factor else 1)
    if not t:
        return exceeded(drawn.difference, deviations)
    hierarchical = Hierarchical.from_deviations(drawn.difference, deviations, spread.levels)
    return exceeded(hierarchical.compared, hierarchical.deviations)


def outside_percentiles(drawn: Drawn) -> bool:
    """Whether the percentile interval of the plain bootstrap excludes 0."""
    low, high = np.quantile(drawn.difference + drawn.all_runs, [ALPHA / 2, 1 - ALPHA / 2])
    return bool(low > 0 or high < 0)


def by_levels(drawn: Drawn) -> bool:
    """The package's bootstrap with Hesterberg's correction of levels instead: p = 2·T(Φ⁻¹(share/2)).

    T is Student's t with levels, as in the package.
    """
    spread = drawn.covariances.of_difference(0, 1)
    c = np.count_nonzero(np.abs(drawn.one_less * spread.factor) >= abs(drawn.difference))
    share = (c + 1) / (DRAWS + 1)
    return 2 * spread.levels.tail(-float(ndtri(share / 2))) <= ALPHA


def one_level(drawn: Drawn) -> bool:
    """The package's bootstrap with Satterthwaite's degrees of freedom over all three variances instead of levels."""
    deviations = drawn.one_less * drawn.covariances.of_difference(0, 1).factor
    levels = Levels([1.0], [degrees_of_all(drawn)])
    hierarchical = Hierarchical.from_deviations(drawn.difference, deviations, levels)
    return exceeded(hierarchical.compared, hierarchical.deviations)


def degrees_of_all(drawn: Drawn) -> float:
    """Satterthwaite's degrees of freedom over the variances of both systems' runs and of the segments."""
    found = drawn.covariances
    n, m = (found.n_runs(system) for system in (0, 1))
    of_runs = [float(found.scores[rows].var(ddof=1)) / size for rows, size in zip(found.rows, (n, m), strict=True)]
    parts = [*of_runs, max(found.of_difference(0, 1).variance - sum(of_runs), 0.0)]
    return satterthwaite(parts, [n - 1, m - 1, found.n_units - 1])


def closed_form(drawn: Drawn) -> bool:
    """The package's t test."""
    spread = drawn.covariances.of_difference(0, 1)
    return abs(drawn.difference) >= math.sqrt(spread.variance) * spread.levels.quantile(ALPHA / 2)


def one_level_t(drawn: Drawn) -> bool:
    """The package's t test with Satterthwaite's degrees of freedom over all three variances."""
    spread, degrees = drawn.covariances.of_difference(0, 1), degrees_of_all(drawn)
    return abs(drawn.difference) >= math.sqrt(spread.variance) * Levels([1.0], [degrees]).quantile(ALPHA / 2)


METHODS: Mapping[str, Callable[[Drawn], bool]] = {
    "segments": lambda drawn: exceeded(drawn.difference, drawn.segments),
    "n runs": lambda drawn: exceeded(drawn.difference, drawn.all_runs),
    "n runs, percentile": outside_percentiles,
    "n − 1 runs": lambda drawn: corrected(drawn, False, False),
    "n − 1, t": lambda drawn: corrected(drawn, False, True),
    "n − 1, variance": lambda drawn: corrected(drawn, True, False),
    "variance, t of levels": by_levels,
    "variance, one level": one_level,
    "package": lambda drawn: corrected(drawn, True, True),
    "hierarchical-t": closed_form,
}


def simulated(cell: Cell, seed: int, block: int) -> Iterator[Drawn]:
    """A block of simulations, which share the draws."""
    rng = np.random.default_rng([seed, block, *cell.runs, cell.segments, *(int(100 * sd) for sd in cell.run_sd)])
    values = cell.contributions(rng)
    s, (n, m) = cell.segments, cell.runs
    rows = [slice(0, n), slice(n, n + m)]
    scores = values.sum(axis=2)
    weights = rng.multinomial(s, np.full(s, 1 / s), size=DRAWS)
    drawn_scores = values @ weights.T.astype(np.float64)

    def taken(less: int) -> Array:
        """The difference of the mean scores of drawn runs: (BLOCK, DRAWS)."""
        means = []
        for own in rows:
            size = own.stop - own.start
            numbers = rng.multinomial(size - less, np.full(size, 1 / size), size=DRAWS)
            means.append(np.einsum("bnr,rn->br", drawn_scores[:, own], numbers) / (size - less))
        return np.asarray(means[0] - means[1])

    fixed = drawn_scores[:, :n].mean(axis=1) - drawn_scores[:, n:].mean(axis=1)
    all_runs, one_less = taken(0), taken(1)
    differences = scores[:, :n].mean(axis=1) - scores[:, n:].mean(axis=1)
    centred = values - values.mean(axis=2, keepdims=True)
    for i, difference in enumerate(differences.tolist()):
        products = centred[i] @ centred[i].T
        covariances = RunCovariances(scores[i], products * s / (s - 1), products, s, rows)
        yield Drawn(difference, fixed[i] - difference, all_runs[i] - difference, one_less[i] - difference, covariances)


# The true difference for ``--power``, in standard deviations of the difference of the mean scores.
EFFECT = 2.1


def powers(n: int, simulations: int, seed: int) -> list[float]:
    """The power of t tests with one level and with levels, for n runs of each system."""
    cell, rng = Cell((n, n), 100, (0.3, 0.3), 0.5), np.random.default_rng([seed, n])
    per_run = (1 - cell.correlation) / 2 + cell.run_sd[0] ** 2
    true = EFFECT * math.sqrt(cell.correlation + 2 * per_run / n)
    rejected, none, s = np.zeros(2), np.empty(0), cell.segments
    for _ in range(simulations // BLOCK):
        for values in cell.contributions(rng):
            scores, centred = values.sum(axis=1), values - values.mean(axis=1, keepdims=True)
            products = centred @ centred.T
            rows = [slice(0, n), slice(n, 2 * n)]
            covariances = RunCovariances(scores, products * s / (s - 1), products, s, rows)
            difference = float(scores[:n].mean() - scores[n:].mean()) + true
            drawn = Drawn(difference, none, none, none, covariances)
            rejected += [one_level_t(drawn), closed_form(drawn)]
    return [float(rate) for rate in rejected / (simulations // BLOCK * BLOCK)]


def rejections(cell: Cell, seed: int, block: int) -> Array:
    """How many simulations of a block each method rejects."""
    rejected = [[method(drawn) for method in METHODS.values()] for drawn in simulated(cell, seed, block)]
    return np.asarray(np.sum(rejected, axis=0))


def cells() -> Iterator[Cell]:
    """The rows of the table."""
    for n, sd, correlation in itertools.product((3, 5, 10), (0, 0.3, 0.7, 1, 2), (0.3, 0.6)):
        yield Cell((n, n), 300, (sd, sd), correlation)
    for n in (3, 5):
        yield Cell((n, n), 1000, (0.7, 0.7), 0.6)
    for sd in (0.3, 1):
        yield Cell((2, 2), 300, (sd, sd), 0.6)
        yield Cell((3, 3), 300, (sd, sd), 0.6, "skewed")
        yield Cell((3, 10), 300, (sd, sd), 0.6)
        yield Cell((3, 3), 300, (sd, sd / 5), 0.6)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        prog="python -m benches.simulations.run_coverage",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--simulations", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--power", action="store_true", help="print what levels cost in power instead")
    arguments = parser.parse_args()
    if arguments.power:
        print("| runs | one level | levels |\n| ---: | ---: | ---: |")
        for n in (2, 3, 5, 10):
            one, levels = powers(n, arguments.simulations, arguments.seed)
            print(f"| {n} | {one:.3f} | {levels:.3f} |", flush=True)
        return
    blocks = -(-arguments.simulations // BLOCK)
    print(f"{blocks * BLOCK:,} simulations, {DRAWS} draws, seed {arguments.seed}")
    print(f"| runs | S | run sd | correlation | runs are | {' | '.join(METHODS)} |")
    print(f"| ---: | ---: | ---: | ---: | --- |{' ---: |' * len(METHODS)}")
    with ProcessPoolExecutor(arguments.jobs, mp_context=get_context("spawn")) as pool:
        for cell in cells():
            counts = sum(
                pool.map(rejections, *zip(*((cell, arguments.seed, block) for block in range(blocks)), strict=True))
            )
            rates = " | ".join(f"{rate:.3f}" for rate in counts / (blocks * BLOCK))
            print(f"| {cell.label()} | {rates} |", flush=True)


if __name__ == "__main__":
    main()
