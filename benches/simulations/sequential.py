"""Measure how often tests of BLEU while data arrive are wrong, how soon they are right, and e-values of nights.

    python -m benches.simulations.sequential --help

Outputs that are swapped with probability ½, or real ones, are looked at as segments arrive by the method ``asymptotic``
of ``reshuffle watch``. Beside it stands a z-test at the end (``once``). ``reshuffle study gate`` has the methods for
scores of segments.

The table of nights has the product of the e-values of ``sign`` over nights, of new segments or of the same ones.
"""

from __future__ import annotations

import argparse
from zlib import crc32

import numpy as np
from scipy.special import ndtri

from benches.data import SET, Array, find
from benches.machine import markdown_table
from reshuffle.inference.sequential import sign_wealth
from reshuffle.metrics.base import Metric
from reshuffle.options.watch import WatchOptions
from reshuffle.resampling import CountSample
from reshuffle.resampling.counting import Data
from reshuffle.settings import Resampling
from reshuffle.watch import Hypothesis, decided_at

ALPHA = 0.05
LENGTH = 3000
PAIRS = (("SYSTRAN.4847", "KIT.4950"), ("LMU-nmt-reranked.4934", "KIT.4950"))
# The first look of each column.
COLUMNS = {"asymptotic": 500, "asymptotic from 50": 50}
NIGHTS, SEGMENTS = 20, 40


def bleu_counts(first: str, second: str) -> tuple[Metric, Array]:
    """The counts of two systems of WMT17: (2, S, K)."""
    files = find(SET)
    outputs = files.outputs()
    systems = {name: outputs[name] for name in (first, second)}
    data = Data.from_arguments(files.references(), systems, "bleu")
    (sample,) = data.count((first, second), Resampling())
    counted = sample.with_counts()
    return counted.metric, counted.counts


def series(pair: tuple[str, str], swapped: bool, simulations: int) -> list[str]:
    """The share of series of segments in which ``asymptotic`` decides, and a z-test once; the median of when."""
    metric, counts = bleu_counts(*pair)
    rng = np.random.default_rng(crc32(" ".join(pair).encode()))
    found: dict[str, list[int | None]] = {column: [] for column in (*COLUMNS, "once")}
    for _ in range(simulations):
        drawn = counts[:, rng.integers(counts.shape[1], size=LENGTH)]
        if swapped:
            swaps = rng.random(LENGTH) < 0.5
            drawn = np.where(swaps[None, :, None], drawn[::-1], drawn)
        sample = CountSample.from_counts(metric, np.ascontiguousarray(drawn))
        for column, first_look in COLUMNS.items():
            options = WatchOptions(method="asymptotic", first_look=first_look, workers=1)
            found[column].append(decided_at(Hypothesis(sample, ALPHA, options)))
        z = (sample.scores[0] - sample.scores[1]) / np.sqrt(sample.linear.variance(0, 1))
        found["once"].append(LENGTH if abs(z) >= -float(ndtri(ALPHA / 2)) else None)
    name = " and ".join(each.split(".")[0] for each in pair) + (", swapped" if swapped else "")
    return [name, *map(_cell, found.values())]


def _cell(stops: list[int | None]) -> str:
    share = f"{np.mean([stop is not None for stop in stops]):.3f}".lstrip("0")
    return f"{share}, {int(np.median([LENGTH if stop is None else stop for stop in stops])):,}"


def nights(share: float, simulations: int) -> list[str]:
    """How often the product of the e-values of nights ever reaches 1/α if this share of segments is new each night.

    10% of the segments differ, and are as often better as worse. Segments that stay have the same difference.
    """
    rng = np.random.default_rng(round(100 * share))
    new = round(share * SEGMENTS)
    reached = 0
    for _ in range(simulations):
        differences = np.zeros(SEGMENTS)
        log_product = 0.0
        for night in range(NIGHTS):
            at = rng.permutation(SEGMENTS)[: SEGMENTS if night == 0 else new]
            differences[at] = rng.choice([-1.0, 0.0, 1.0], len(at), p=[0.05, 0.9, 0.05])
            log_product += float(sign_wealth(differences)[-1])
            if log_product >= -np.log(ALPHA):
                reached += 1
                break
    return [f"{100 * share:g}%", f"{reached / simulations:.3f}".lstrip("0")]


def main() -> None:
    """Simulate all pairs, and nights, and print tables."""
    parser = argparse.ArgumentParser(
        prog="python -m benches.simulations.sequential",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--simulations", type=int, default=300, help="series of segments (default: 300)")
    parser.add_argument("--nights", type=int, default=2000, help="series of nights; 0 leaves them out (default: 2000)")
    options = parser.parse_args()
    print(f"Share decided, median stop; {options.simulations:,} series of {LENGTH:,} segments, α = {ALPHA}\n")
    rows = [series(pair, swapped, options.simulations) for pair in PAIRS for swapped in (True, False)]
    print(markdown_table(["systems", *COLUMNS, "once"], rows))
    if options.nights:
        print(f"\nShare that ever reaches 1/α; {options.nights:,} series of {NIGHTS} nights of {SEGMENTS} segments\n")
        print(markdown_table(["new each night", "reached"], [nights(share, options.nights) for share in (1, 0.2, 0)]))


if __name__ == "__main__":
    main()
