"""Measure how often tests reject at .05 where few segments decide about a difference whose expectation is 0.

    python -m benches.simulations.skewed_size --help

The populations are differences of segment scores: skewed, with rare catastrophes, of which few are not 0, or as human
MQM scores have them. The tests are computed here by their definitions, on draws and swaps that the samples of a block
share, so that they cost a product of matrices; tests/python/test_few_differing.py compares them with the package's.
``ar-studentized`` of means has the p of ``ar``. ``default`` is what a comparison does without ``test``. The last
columns are about its notes: in what share of the samples that it rejects each of them appears, and in what share of all
samples it rejects without a note.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from itertools import product
from pathlib import Path
from typing import NamedTuple, TypeAlias
from zlib import crc32

import numpy as np
import scipy.stats

from benches.data import FOLDER, Array
from benches.machine import markdown_table
from reshuffle.inference.concentration import SEGMENTS_WITH_RARE, SKEWED
from reshuffle.inference.few_differing import FEW_DIFFERING

__all__ = ["CASES", "NOTES", "TESTS", "influences", "pvalues", "samples"]

BLOCK = 250
ALPHA = 0.05
TESTS = ("bootstrap-both", "bootstrap-percentile", "ar", "t-test", "default")
NOTES = ("few", "skewed", "rare")
# Patterns of swaps of so few segments are enumerated, as the package does with R = 10,000.
ENUMERATED = 12

Population: TypeAlias = Callable[[np.random.Generator, tuple[int, int]], Array]


def normal(rng: np.random.Generator, shape: tuple[int, int]) -> Array:
    """Normal differences."""
    return rng.normal(size=shape)


def lognormal(rng: np.random.Generator, shape: tuple[int, int]) -> Array:
    """Lognormal differences with σ = 1.5, less their mean."""
    return np.asarray(np.exp(1.5 * rng.normal(size=shape)) - np.exp(1.125))


def catastrophes(rng: np.random.Generator, shape: tuple[int, int]) -> Array:
    """One segment in a hundred costs 35 standard deviations of the others, which are better by as much in all."""
    return np.asarray(rng.normal(0.35, 1, shape) - 35.0 * (rng.random(shape) < 0.01))


def sparse(expected: int, skewed: bool) -> Population:
    """Differences of which ``expected`` of a sample are not 0: exponential, of random sign or less their mean."""

    def draw(rng: np.random.Generator, shape: tuple[int, int]) -> Array:
        size = rng.exponential(size=shape)
        values = size - 1 if skewed else size * rng.choice([-1, 1], size=shape)
        return np.where(rng.random(shape) < expected / shape[1], values, 0.0)

    return draw


def mqm(first: str, second: str) -> Population:
    """Differences of two systems' MQM scores, 0 to −25, drawn from those of WMT 2021, less their mean."""

    def draw(rng: np.random.Generator, shape: tuple[int, int]) -> Array:
        scores: dict[str, dict[str, float]] = {}
        path = Path(FOLDER) / "wmt21-en-de" / "judgments" / "mqm_newstest2021_ende.avg_seg_scores.tsv"
        for line in path.read_text(encoding="utf-8").splitlines()[1:]:
            system, value, segment = line.split()
            if value != "None":
                scores.setdefault(system, {})[segment] = float(value)
        common = sorted(scores[first].keys() & scores[second].keys())
        differences = np.array([scores[first][segment] - scores[second][segment] for segment in common])
        return np.asarray(rng.choice(differences - differences.mean(), shape))

    return draw


class Case(NamedTuple):
    """A population and a number of segments."""

    draw: Population
    segments: int


CASES: Mapping[str, Case] = {
    **{f"normal, {n}": Case(normal, n) for n in (10, 20, 30, 40, 100)},
    **{f"lognormal, {n}": Case(lognormal, n) for n in (100, 500)},
    **{f"catastrophes, {n}": Case(catastrophes, n) for n in (100, 500)},
    **{
        f"{kind}, {n} of 2,000 differ": Case(sparse(n, kind == "skewed"), 2000)
        for kind in ("symmetric", "skewed")
        for n in (5, 10, 20, 40)
    },
    **{
        f"MQM, {second} and {first}, {n}": Case(mqm(first, second), n)
        for first, second in (("Facebook-AI", "VolcTrans-GLAT"), ("ref-C", "Facebook-AI"))
        for n in (100, 500)
    },
}


def samples(name: str, block: int) -> tuple[Array, np.random.Generator]:
    """The samples of a block, (BLOCK, S), and the generator for its replicates."""
    case = CASES[name]
    rng = np.random.default_rng([crc32(name.encode()), block])
    return case.draw(rng, (BLOCK, case.segments)), rng


# The tests, from differences (n, S) to p-values (n,).


def of_draws(differences: Array, weights: Array) -> tuple[Array, Array]:
    """``bootstrap`` and ``bootstrap-percentile``. ``weights`` say how often each draw has each segment: (R, S)."""
    observed = differences.sum(axis=1)
    drawn = weights @ differences.T
    near = 1e-9 * np.abs(differences).sum(axis=1)
    centred = (np.abs(drawn - observed) >= np.abs(observed) - near).sum(axis=0)
    tail = np.minimum((drawn <= near).sum(axis=0), (drawn >= -near).sum(axis=0))
    n = len(weights) + 1
    return (centred + 1) / n, np.minimum(2 * (tail + 1) / n, 1)


def of_swaps(differences: Array, signs: Array) -> Array:
    """``ar``. ``signs`` are ±1 for each shuffle and segment: (R, S). Few segments that differ: all patterns."""
    near = 1e-9 * np.abs(differences).sum(axis=1)
    threshold = np.abs(differences.sum(axis=1)) - near
    found = ((np.abs(signs @ differences.T) >= threshold).sum(axis=0) + 1) / (len(signs) + 1)
    for index in np.flatnonzero((differences != 0).sum(axis=1) <= ENUMERATED):
        own = differences[index][differences[index] != 0]
        patterns = np.array(list(product([-1.0, 1.0], repeat=len(own))))
        found[index] = (np.abs(patterns @ own) >= threshold[index]).mean()
    return np.asarray(found)


def pvalues(differences: Array, weights: Array, signs: Array) -> dict[str, Array]:
    """The p-values of all tests."""
    centred, percentile = of_draws(differences, weights)
    both, ar = np.maximum(centred, percentile), of_swaps(differences, signs)
    differing = (differences != 0).sum(axis=1)
    with np.errstate(invalid="ignore"):
        t = np.nan_to_num(scipy.stats.ttest_1samp(differences, 0, axis=1).pvalue, nan=1.0)
    default = np.where((differing > 0) & (differing < FEW_DIFFERING), ar, both)
    return dict(zip(TESTS, (both, percentile, ar, t, default), strict=True))


def influences(differences: Array) -> tuple[Array, Array, Array]:
    """The numbers of segments that differ, the effective ones, and the skewness, of each sample: (n,)."""
    with np.errstate(invalid="ignore", divide="ignore"):
        effective = np.abs(differences).sum(axis=1) ** 2 / (differences**2).sum(axis=1)
        skewness: Array = np.asarray(np.nan_to_num(scipy.stats.skew(differences, axis=1)))
    return (differences != 0).sum(axis=1), effective, skewness


def noted(differences: Array) -> dict[str, Array]:
    """Which samples have each note, if their difference is significant: (n,)."""
    differing, _, skewness = influences(differences)
    n = differences.shape[1]
    few = differing < FEW_DIFFERING
    skewed = n < SKEWED * skewness**2
    return dict(zip(NOTES, (few, skewed, ~few & ~skewed & (n < SEGMENTS_WITH_RARE)), strict=True))


def row(name: str, simulations: int, n_resamples: int) -> list[str]:
    """The line of a case in the table."""
    rejected: dict[str, list[Array]] = {test: [] for test in TESTS}
    notes: dict[str, list[Array]] = {note: [] for note in NOTES}
    effective: list[Array] = []
    for block in range(-(-simulations // BLOCK)):
        differences, rng = samples(name, block)
        segments = differences.shape[1]
        weights = rng.multinomial(segments, [1 / segments] * segments, size=n_resamples).astype(float)
        signs = rng.choice([-1.0, 1.0], size=(n_resamples, segments))
        for test, p in pvalues(differences, weights, signs).items():
            rejected[test].append(p <= ALPHA)
        for note, has in noted(differences).items():
            notes[note].append(has)
        effective.append(influences(differences)[1])
    default = np.concatenate(rejected["default"])
    of_note = {note: np.concatenate(has) for note, has in notes.items()}
    with_any = np.any([*of_note.values()], axis=0)
    median = np.nanmedian(np.concatenate(effective))
    shares = [f"{has[default].mean():.2f}" if default.any() else "–" for has in of_note.values()]
    return [
        name,
        f"{median:.0f}",
        *(f"{np.concatenate(rejected[test]).mean():.3f}" for test in TESTS),
        *shares,
        f"{(default & ~with_any).mean():.3f}",
    ]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        prog="python -m benches.simulations.skewed_size",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--simulations", type=int, default=2000, metavar="N", help="per case (default: %(default)s)")
    parser.add_argument("--n-resamples", type=int, default=999, metavar="R", help="default: %(default)s")
    parser.add_argument("--only", nargs="+", choices=list(CASES), metavar="CASE", default=list(CASES))
    options = parser.parse_args()
    header = ["differences, segments", "effective", *TESTS, *(f"note: {note}" for note in NOTES), "without a note"]
    rows = [row(name, options.simulations, options.n_resamples) for name in options.only]
    error = np.sqrt(ALPHA * (1 - ALPHA) / options.simulations)
    print(f"{options.simulations} samples, R = {options.n_resamples}; standard error {error:.4f} at {ALPHA}")
    print(markdown_table(header, rows))


if __name__ == "__main__":
    main()
