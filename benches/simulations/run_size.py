"""Measure the size of tests of systems with few runs, unequal numbers of them, unequal spreads and skewed scores.

    python -m benches.simulations.run_size --help

Two systems have the same expected score; n and m runs, and S segments. A score is a sum of contributions of segments,
as the linearized score of any metric is. All effects are drawn anew in each simulation:

- segments: the difference of both systems in a segment, which all runs share; normal, with a share
  ``ρ`` of the variance;
- run × segment: normal, for each output;
- runs: normal, or exponential (skewness 2). ``ratio`` is the standard deviation of the n runs divided by that of the m
  runs, and ``sd`` the larger of the two.

The unit of ``sd`` is the standard deviation, over test sets, of the difference of two outputs. With ρ = 0 the segments
of a test set favour neither system, so that the questions of all tests have the same answer. With ρ > 0 the tests that
take the segments as given (``unstudentized`` and ``studentized`` permutation of runs, ``Welch``) answer another one.

The first tables have the largest share of p ≤ .05 over the ratios and standard deviations for each pair of numbers of
runs, the last one has all cells. ``note`` is the share of samples with the note that skewed runs may be rejected too
often. All tests of a cell get the same simulations. ``Satterthwaite`` is ``hierarchical-t`` with one level.

With ``--dominant`` the runs make nearly all of the variance: of both systems alike, or of one only. ``draws alone`` is
the hierarchical bootstrap without the correction of its tails. The last lines have a difference of two to four of its
standard deviations: the power.
"""

from __future__ import annotations

import argparse
import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtr, stdtrit

from reshuffle.inference.run_tests import skewness_matters
from reshuffle.resampling.run_hierarchical import no_lighter_than_normal
from reshuffle.resampling.run_linear import one_level, quantiles, tails

Array = NDArray[np.float64]

ALPHA, SEGMENTS = 0.05, 100
# Simulations that share the draws; draws; random splits of runs, if there are more.
BLOCK, DRAWS, SPLITS = 250, 399, 3003
NUMBERS = (2, 3, 5, 10)
RATIOS = (1 / 5, 1 / 3, 1.0, 3.0, 5.0)
DEVIATIONS = (0.3, 3.0)
CORRELATIONS = (0.0, 0.1, 0.5)
SHAPES = ("normal", "skewed")
OF_RUNS = ("unstudentized", "studentized", "Welch")
OF_BOTH = ("Satterthwaite", "hierarchical", "hierarchical-t")
TESTS = (*OF_RUNS, *OF_BOTH)

# With --dominant: numbers of runs, standard deviations, and those with which power is measured.
DOMINANT_NUMBERS = ((2, 2), (2, 3), (2, 5), (3, 3), (3, 5), (3, 10), (5, 5), (10, 10))
DOMINANT_DEVIATIONS = (0.0, 1.0, 10.0, 22.0, 450.0)
POWER_DEVIATIONS = (0.3, 1.0, 3.0)


@dataclass(frozen=True)
class Cell:
    """The parameters of a row."""

    n: int
    m: int
    ratio: float
    sd: float
    correlation: float
    shape: str
    difference: float = 0.0
    """The expected difference, in its standard deviations over runs and test sets."""

    @property
    def deviations(self) -> tuple[float, float]:
        """The standard deviations of the runs of both systems."""
        return self.sd * min(1.0, self.ratio), self.sd / max(1.0, self.ratio)

    def contributions(self, rng: np.random.Generator) -> Array:
        """The contributions of segments to the score of each output: (BLOCK, n + m, S)."""
        numbers, size = (self.n, self.m), (BLOCK, self.n + self.m)
        effects = rng.normal(size=size) if self.shape == "normal" else rng.exponential(size=size) - 1
        effects *= np.repeat(self.deviations, numbers)
        values = rng.normal(size=(*size, SEGMENTS)) * np.sqrt((1 - self.correlation) / 2 / SEGMENTS)
        values[:, : self.n] += rng.normal(size=(BLOCK, 1, SEGMENTS)) * np.sqrt(self.correlation / SEGMENTS)
        spreads = [sd**2 / k for sd, k in zip(self.deviations, numbers, strict=True)]
        noise = (1 - self.correlation) / 2 * sum(1 / k for k in numbers)
        values[:, : self.n] += self.difference * math.sqrt(sum(spreads) + noise + self.correlation) / SEGMENTS
        return np.asarray(values + effects[..., None] / SEGMENTS)


@dataclass(frozen=True)
class Moments:
    """What the closed forms read of each simulation: arrays (BLOCK,), but for the scores of the outputs."""

    scores: Array
    n: int
    difference: Array
    of_runs: tuple[Array, Array]
    segments: Array
    of_draws: Array

    @property
    def m(self) -> int:
        """The number of runs of the second system."""
        return int(self.scores.shape[1]) - self.n

    @property
    def degrees(self) -> tuple[int, int]:
        """Those of the spreads of the runs."""
        return self.n - 1, self.m - 1

    @property
    def variance(self) -> Array:
        """For new runs and new segments."""
        return np.asarray(sum(self.of_runs) + self.segments)

    @classmethod
    def of(cls, values: Array, n: int) -> Moments:
        """Of contributions (BLOCK, n + m, S). The formulas are those of ``RunCovariances.of_difference``."""
        scores, s = values.sum(axis=2), values.shape[2]
        m = values.shape[1] - n
        centred = values - values.mean(axis=2, keepdims=True)
        means = np.stack([centred[:, :n].mean(axis=1), centred[:, n:].mean(axis=1)])
        within_draws = np.zeros(len(values))
        for own, mean, k in zip((centred[:, :n], centred[:, n:]), means, (n, m), strict=True):
            within_draws += s * ((own - mean[:, None]) ** 2).sum(axis=(1, 2)) / (k - 1) / k
        w_draws = s * ((means[0] - means[1]) ** 2).sum(axis=1)
        of_runs = scores[:, :n].var(axis=1, ddof=1) / n, scores[:, n:].var(axis=1, ddof=1) / m
        # contributions are S times smaller than in a mean, so variances of sums have s/(s − 1) in front
        segments = np.maximum((w_draws - within_draws) / s * (s / (s - 1)), 0)
        of_draws = sum(of_runs) + (within_draws + w_draws) / s
        difference = scores[:, :n].mean(axis=1) - scores[:, n:].mean(axis=1)
        return cls(scores, n, difference, of_runs, segments, of_draws)

    def levels(self) -> tuple[Array, Array]:
        """The shares and degrees of freedom of the levels, as ``run_levels`` has them: (BLOCK, levels)."""
        a, b = self.of_runs
        if not one_level(self.n, self.m):
            parts = np.stack([a, b, self.segments], axis=1)
            degrees = np.broadcast_to([*self.degrees, SEGMENTS - 1], parts.shape)
        else:
            parts = np.stack([a + b, self.segments], axis=1)
            degrees = np.stack([_satterthwaite(self.of_runs, self.degrees), np.full(len(a), SEGMENTS - 1.0)], axis=1)
        return parts / self.variance[:, None], np.asarray(degrees, dtype=np.float64)


def _satterthwaite(parts: Sequence[Array], degrees: Sequence[int]) -> Array:
    return np.asarray(sum(parts) ** 2 / sum(part**2 / nu for part, nu in zip(parts, degrees, strict=True)))


def closed_forms(of: Moments) -> dict[str, NDArray[np.bool_]]:
    """Which simulations the t tests reject."""
    t_runs = np.abs(of.difference) / np.sqrt(sum(of.of_runs))
    t = np.abs(of.difference) / np.sqrt(of.variance)
    one_level = _satterthwaite((*of.of_runs, of.segments), (*of.degrees, SEGMENTS - 1))
    return {
        "Welch": t_runs >= -stdtrit(_satterthwaite(of.of_runs, of.degrees), ALPHA / 2),
        "Satterthwaite": 2 * stdtr(one_level, -t) <= ALPHA,
        "hierarchical-t": t >= quantiles(ALPHA / 2, *of.levels()),
    }


def splits_of(n: int, m: int, rng: np.random.Generator) -> Array:
    """All splits of n + m runs, the observed one first, or random ones: 1 for runs of the first, (splits, n + m)."""
    if math.comb(n + m, n) <= SPLITS:
        chosen = np.array([*itertools.combinations(range(n + m), n)])
    else:
        chosen = np.stack([np.arange(n), *(rng.permutation(n + m)[:n] for _ in range(SPLITS))])
    members = np.zeros((len(chosen), n + m))
    np.put_along_axis(members, chosen, 1.0, axis=1)
    return members


def permutations(of: Moments, members: Array) -> dict[str, NDArray[np.bool_]]:
    """Which simulations the permutations of whole runs reject: the share of splits with |t| ≥ the observed one."""
    n, m = of.n, of.m
    centred = of.scores - of.scores.mean(axis=1, keepdims=True)  # so that squares do not cancel
    sums, squares = centred @ members.T, centred**2 @ members.T
    others, other_squares = -sums, (centred**2).sum(axis=1, keepdims=True) - squares
    variance = (squares - sums**2 / n) / (n - 1) / n + (other_squares - others**2 / m) / (m - 1) / m
    difference = np.abs(sums / n - others / m)
    rejected = {}
    for name, extreme in (("unstudentized", difference), ("studentized", difference / np.sqrt(variance))):
        rejected[name] = (extreme >= extreme[:, :1] * (1 - 1e-10)).mean(axis=1) <= ALPHA
    return rejected


def hierarchical(values: Array, of: Moments, rng: np.random.Generator) -> dict[str, NDArray[np.bool_]]:
    """Which simulations the hierarchical bootstrap rejects, with n − 1 runs: with and without that of the tails."""
    n, s = of.n, values.shape[2]
    weights = rng.multinomial(s, np.full(s, 1 / s), size=DRAWS)
    drawn = values @ weights.T.astype(np.float64)
    sides = []
    for own in (slice(0, n), slice(n, n + of.m)):
        size = own.stop - own.start
        taken = rng.multinomial(size - 1, np.full(size, 1 / size), size=DRAWS)
        sides.append(np.einsum("bnr,rn->br", drawn[:, own], taken) / (size - 1))
    deviations = (sides[0] - sides[1] - of.difference[:, None]) * np.sqrt(of.variance / of.of_draws)[:, None]
    scale = np.sqrt((deviations**2).mean(axis=1))
    compared = -ndtri(tails(np.abs(of.difference) / scale, *of.levels())) * scale
    rejected = {}
    for name, values in (("hierarchical", no_lighter_than_normal(deviations, scale)), ("draws alone", deviations)):
        p = ((np.abs(values) >= compared[:, None]).sum(axis=1) + 1) / (DRAWS + 1)
        rejected[name] = np.asarray(p <= ALPHA)
    return rejected


def rates(cell: Cell, simulations: int, seed: int) -> dict[str, float]:
    """The share of simulations in which each test rejects, and of those with the note."""
    one_sided = {math.inf: 10**6}  # a ratio without a number
    key = [seed, cell.n, cell.m]
    key += [round(100 * x) for x in (one_sided.get(cell.ratio, cell.ratio), cell.sd, cell.correlation)]
    rng = np.random.default_rng([*key, SHAPES.index(cell.shape)])
    members = splits_of(cell.n, cell.m, rng)
    found: dict[str, int] = dict.fromkeys((*TESTS, "draws alone", "note"), 0)
    for _ in range(-(-simulations // BLOCK)):
        values = cell.contributions(rng)
        of = Moments.of(values, cell.n)
        rejected = {**permutations(of, members), **closed_forms(of), **hierarchical(values, of, rng)}
        rejected["note"] = skewness_matters(of.of_runs, of.variance, min(of.n, of.m))
        for name, own in rejected.items():
            found[name] += int(own.sum())
    return {name: count / (-(-simulations // BLOCK) * BLOCK) for name, count in found.items()}


def cells(numbers: Sequence[int]) -> Iterator[Cell]:
    """All rows. Ratios below 1 are the same as their inverse for equal numbers of runs."""
    for shape, n, m in itertools.product(SHAPES, numbers, numbers):
        ratios = [ratio for ratio in RATIOS if n < m or (n == m and ratio >= 1)]
        for ratio, correlation, sd in itertools.product(ratios, CORRELATIONS, DEVIATIONS):
            yield Cell(n, m, ratio, sd, correlation, shape)


def largest_rates(found: dict[Cell, dict[str, float]], shape: str) -> Iterator[str]:
    """The lines of the table of the largest rates."""
    yield f"| runs | {' | '.join(f'{name}, ρ = 0' for name in OF_RUNS)} | {' | '.join(OF_BOTH)} |"
    yield f"|---|{'---:|' * len(TESTS)}"
    for n, m in dict.fromkeys((cell.n, cell.m) for cell in found):
        own = {cell: rate for cell, rate in found.items() if (cell.n, cell.m, cell.shape) == (n, m, shape)}
        alone = [rate for cell, rate in own.items() if cell.correlation == 0]
        values = [max(rate[name] for rate in alone) for name in OF_RUNS]
        values += [max(rate[name] for rate in own.values()) for name in OF_BOTH]
        yield f"| {n}, {m} | {' | '.join(f'{value:.3f}' for value in values)} |"


def dominant_cells() -> Iterator[Cell]:
    """Those of ``--dominant``; of unequal numbers, the runs of the system with fewer vary, or those of both."""
    for n, m in DOMINANT_NUMBERS:
        for ratio, sd in itertools.product((1.0, math.inf), DOMINANT_DEVIATIONS):
            if sd > 0 or ratio == 1:
                yield Cell(n, m, ratio, sd, 0.0, "normal")
    for (n, m), sd in itertools.product(DOMINANT_NUMBERS, POWER_DEVIATIONS):
        yield Cell(n, m, 1.0, sd, 0.5, "normal", 4.0 if n == 2 else 3.0)


def print_dominant(simulations: int, seed: int) -> None:
    """Print the table of ``--dominant``."""
    shown = ("draws alone", "hierarchical", "hierarchical-t")
    print(f"\n| n, m | runs that vary | sd | ρ | difference | {' | '.join(shown)} |")
    print("|---|---|---:|---:|---:|---:|---:|---:|")
    for cell in dominant_cells():
        found = rates(cell, simulations, seed)
        vary = "both" if cell.ratio == 1 else "of n"
        values = " | ".join(f"{found[name]:.3f}" for name in shown)
        print(f"| {cell.n}, {cell.m} | {vary} | {cell.sd:g} | {cell.correlation:g} | {cell.difference:g} | {values} |")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        prog="python -m benches.simulations.run_size",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--simulations", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--runs", type=int, nargs="+", default=NUMBERS, help="numbers of runs of either system")
    parser.add_argument("--dominant", action="store_true", help="runs that make nearly all of the variance")
    arguments = parser.parse_args()
    error = math.sqrt(ALPHA * (1 - ALPHA) / arguments.simulations)
    print(f"{arguments.simulations:,} simulations, S = {SEGMENTS}, R = {DRAWS}; standard error of .05: {error:.4f}")
    if arguments.dominant:
        print_dominant(arguments.simulations, arguments.seed)
        return
    found = {cell: rates(cell, arguments.simulations, arguments.seed) for cell in cells(arguments.runs)}
    for shape in SHAPES:
        print(f"\nThe largest size over ratios and sd, runs {shape}:\n")
        print("\n".join(largest_rates(found, shape)))
    print(f"\n| runs are | n, m | ratio | ρ | sd | {' | '.join(TESTS)} | note |")
    print(f"|---|---|---:|---:|---:|{'---:|' * (len(TESTS) + 1)}")
    for cell, rate in found.items():
        shown = " | ".join(f"{rate[name]:.3f}" for name in (*TESTS, "note"))
        print(
            f"| {cell.shape} | {cell.n}, {cell.m} | {cell.ratio:.2g} | {cell.correlation:g} | {cell.sd:g} | {shown} |"
        )


if __name__ == "__main__":
    main()
