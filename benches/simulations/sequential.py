"""Measure how often tests while data arrive are wrong, and how soon they are right.

    python -m benches.simulations.sequential --help

Each stream of differences is looked at by the methods of ``reshuffle watch``, as that does. Beside them stand a z-test
after every unit from the 51st on (``naive``), and one at the end (``once``). ``nights`` are a corpus metric:
BLEU of outputs that are swapped with probability ½, or real, as segments arrive.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeAlias
from zlib import crc32

import numpy as np
from scipy.special import ndtri

from benches.data import SET, Array, find
from benches.machine import markdown_table
from reshuffle import SegmentScores
from reshuffle.metrics.base import Metric
from reshuffle.options.watch import WatchOptions
from reshuffle.resampling import CountSample
from reshuffle.resampling.counting import Data
from reshuffle.settings import Resampling
from reshuffle.watch import METHODS, Hypothesis

__all__ = ["CASES", "decided_at"]

ALPHA = 0.05
UNITS = 2000
# The columns: a method and its options.
COLUMNS: Mapping[str, Mapping[str, Any]] = {
    "betting": {},
    "sign": {},
    "asymptotic": {},
    "asymptotic from 50": {"first_look": 50},
    "obrien-fleming, 5 looks": {"looks": 5},
    "obrien-fleming, 20 looks": {"looks": 20},
    "pocock, 5 looks": {"looks": 5},
}
OTHERS = ("naive", "once")
# A z-test needs some units.
NAIVE_FROM = 50

Stream: TypeAlias = Callable[[np.random.Generator], Array]


class Case(NamedTuple):
    """Differences of −1 to 1."""

    draw: Stream
    signed: bool = True
    """Whether wins and losses are equally likely under the null hypothesis, so that the sign test is for it."""


def disagreements(share: float, difference: float = 0.0) -> Stream:
    """Scores of 0 and 1 that differ in a share of the segments."""
    chances = [(share - difference) / 2, 1 - share, (share + difference) / 2]
    return lambda rng: rng.choice([-1.0, 0.0, 1.0], size=UNITS, p=chances)


def skewed(sign: float) -> Stream:
    """.9 in one of ten segments, −.1 in the others, or the reverse."""
    return lambda rng: sign * np.where(rng.random(UNITS) < 0.1, 0.9, -0.1)


CASES: Mapping[str, Case] = {
    **{f"null, {share:.0%} differ": Case(disagreements(share)) for share in (0.04, 0.1, 0.4)},
    "null, skewed": Case(skewed(1), signed=False),
    "null, skewed, mirrored": Case(skewed(-1), signed=False),
    **{f"Δ = .03, {share:.0%} differ": Case(disagreements(share, 0.03)) for share in (0.1, 0.4)},
}


def sample_of(values: Array) -> CountSample:
    """Scores of 0 to 1 of two systems with these differences."""
    scores = SegmentScores("score", {"new": np.maximum(values, 0), "old": np.maximum(-values, 0)})
    (sample,) = Data.from_arguments(None, None, scores).count(("new", "old"), Resampling(threads=1))
    return sample.with_counts()


def decided_at(column: str, sample: CountSample) -> int | None:
    """After how many units the method decides."""
    method = column.split(",")[0].split(" ")[0]
    bounds = (0.0, 1.0) if method == "betting" else None
    options = WatchOptions(method=method, bounds=bounds, planned=sample.n_units, threads=1, **COLUMNS[column])
    return METHODS[method](Hypothesis(sample, 1, ALPHA, options)).decided_at


def z_after_each(values: Array) -> Array:
    """The z of all units so far, after each unit."""
    n = np.arange(1, len(values) + 1)
    sums, squares = np.cumsum(values), np.cumsum(values**2)
    variances = np.maximum((squares - sums**2 / n) / np.maximum(n - 1, 1), 1e-300)
    return np.asarray(np.where(sums == 0, 0.0, sums / np.sqrt(n * variances)))


def row(name: str, simulations: int) -> list[str]:
    """The share of decided streams for each column, and the median of when."""
    case, rng = CASES[name], np.random.default_rng(crc32(name.encode()))
    found: dict[str, list[int | None]] = {column: [] for column in (*COLUMNS, *OTHERS)}
    limit = -float(ndtri(ALPHA / 2))
    for _ in range(simulations):
        values = case.draw(rng)
        sample = sample_of(values)
        for column in COLUMNS:
            if column != "sign" or case.signed:
                found[column].append(decided_at(column, sample))
        beyond = np.abs(z_after_each(values)) >= limit
        early = np.flatnonzero(beyond[NAIVE_FROM:])
        found["naive"].append(int(early[0]) + NAIVE_FROM + 1 if early.size else None)
        found["once"].append(UNITS if beyond[-1] else None)
    return [name, *(_cell(each) for each in found.values())]


def _cell(stops: list[int | None], units: int = UNITS) -> str:
    if not stops:
        return "–"
    times = [stop for stop in stops if stop is not None]
    share = f"{len(times) / len(stops):.3f}".lstrip("0")
    return f"{share}, {int(np.median([units if stop is None else stop for stop in stops])):,}"


# Corpus metrics.


def bleu_counts(first: str, second: str) -> tuple[Metric, Array]:
    """The counts of two systems of WMT17: (2, S, K)."""
    files = find(SET)
    outputs = files.outputs()
    systems = {name: outputs[name] for name in (first, second)}
    data = Data.from_arguments(files.references(), systems, "bleu")
    (sample,) = data.count((first, second), Resampling())
    counted = sample.with_counts()
    return counted.metric, counted.counts


PAIRS = (("SYSTRAN.4847", "KIT.4950"), ("LMU-nmt-reranked.4934", "KIT.4950"))
LENGTH = 3000


def nights(pair: tuple[str, str], swapped: bool, simulations: int) -> list[str]:
    """The share of series of segments in which ``asymptotic`` decides, and a z-test once."""
    metric, counts = bleu_counts(*pair)
    rng = np.random.default_rng(crc32(" ".join(pair).encode()))
    found: dict[str, list[int | None]] = {column: [] for column in ("asymptotic", "asymptotic from 50", "once")}
    for _ in range(simulations):
        drawn = counts[:, rng.integers(counts.shape[1], size=LENGTH)]
        if swapped:
            swaps = rng.random(LENGTH) < 0.5
            drawn = np.where(swaps[None, :, None], drawn[::-1], drawn)
        sample = CountSample.from_counts(metric, np.ascontiguousarray(drawn))
        for column in ("asymptotic", "asymptotic from 50"):
            found[column].append(decided_at(column, sample))
        z = (sample.scores[0] - sample.scores[1]) / np.sqrt(sample.linear.variance(0, 1))
        found["once"].append(LENGTH if abs(z) >= -float(ndtri(ALPHA / 2)) else None)
    name = " and ".join(each.split(".")[0] for each in pair) + (", swapped" if swapped else "")
    return [name, *(_cell(each, LENGTH) for each in found.values())]


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benches.simulations.sequential",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--simulations", type=int, default=2000, help="streams of each case (default: 2000)")
    parser.add_argument("--nights", type=int, default=300, help="series of segments of BLEU (default: 300; 0: none)")
    options = parser.parse_args()
    print(f"Share decided, median stop; {options.simulations:,} streams of {UNITS:,} units, α = {ALPHA}\n")
    print(markdown_table(["stream", *COLUMNS, *OTHERS], [row(name, options.simulations) for name in CASES]))
    if options.nights:
        print(f"\nBLEU, {options.nights:,} series of {LENGTH:,} segments\n")
        rows = [nights(pair, swapped, options.nights) for pair in PAIRS for swapped in (True, False)]
        print(markdown_table(["systems", "asymptotic", "asymptotic from 50", "once"], rows))


if __name__ == "__main__":
    main()
