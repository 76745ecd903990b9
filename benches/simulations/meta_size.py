"""How often tests between metrics reject a null hypothesis that holds: the table of docs/statistics.md.

Two metrics whose errors have the same distribution, so that both agree equally well with people. What is swapped has to
match what is exchangeable: errors of cells, of segments for all systems, or of systems on all segments.

    python -m benches.simulations.meta_size --help
"""

from __future__ import annotations

import argparse
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reshuffle import meta
from reshuffle.meta import ScoreTable, TestSet

SYSTEMS, SEGMENTS, SHUFFLES = 10, 50, 199
UNITS = ("both", "inputs", "systems")

# The standard deviations of errors by cell, by segment and by system.
CASES = {
    "errors of cells": (1.0, 0.0, 0.0),
    "errors of segments too": (1.0, 0.7, 0.0),
    "errors of systems too": (1.0, 0.0, 0.7),
    "errors of both too": (1.0, 0.7, 0.7),
    "other distribution": (1.0, 0.0, 0.0),
}


def scores(rng: np.random.Generator, quality: NDArray[np.float64], case: str, second: bool) -> NDArray[np.float64]:
    """A metric: quality and errors. ``other distribution``: the second one has skewed errors of the same variance."""
    cell, segment, system = CASES[case]
    errors = rng.normal(0, cell, quality.shape)
    if case == "other distribution" and second:
        errors = rng.exponential(cell, quality.shape) - cell
    shared = rng.normal(0, segment, quality.shape[1]) + rng.normal(0, system, (len(quality), 1))
    return np.asarray(quality + errors + shared)


def rejected(case: str, seed: int) -> dict[tuple[str, str], bool]:
    """Which tests reject at .05 in one simulation."""
    rng = np.random.default_rng(seed)
    shape = SYSTEMS, SEGMENTS
    quality = rng.normal(0, 0.5, (SYSTEMS, 1)) + rng.normal(0, 0.5, SEGMENTS) + rng.normal(0, 0.7, shape)
    names = tuple(f"system {i}" for i in range(SYSTEMS))
    tables = [ScoreTable(name, names, scores(rng, quality, case, name == "b"), None) for name in "ab"]
    people = ScoreTable("people", names, quality + rng.normal(0, 0.7, shape), None)
    test_set = TestSet.from_scores(tables, human=people)
    settings: dict[str, Any] = {"interval": None, "n_resamples": SHUFFLES, "seed": seed, "threads": 1}
    found = {}
    for unit in UNITS:
        of_segments = meta.segments(
            test_set, coefficients=["pearson", "kendall-b"], groupings=["none", "item"], test=f"perm-{unit}", **settings
        )
        for pair in of_segments.comparisons:
            found[f"{pair.coefficient} {pair.grouping}", unit] = pair.pvalue <= 0.05
        of_systems = meta.systems(test_set, coefficients=["pearson", "accuracy"], test=f"perm-{unit}", **settings)
        for pair in of_systems.comparisons:
            found[f"{pair.coefficient} of systems", unit] = pair.pvalue <= 0.05
    (pair,) = meta.systems(test_set, coefficients="pearson", test="williams", interval=None).comparisons
    found["pearson of systems", "williams"] = pair.pvalue <= 0.05
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        prog="python -m benches.simulations.meta_size",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--simulations", type=int, default=1000, metavar="N", help="per case (default: %(default)s)")
    simulations = parser.parse_args().simulations
    rows: dict[str, dict[tuple[str, str], float]] = {}
    with ProcessPoolExecutor() as pool:
        for case in CASES:
            found = list(pool.map(partial(rejected, case), range(simulations), chunksize=10))
            rows[case] = {key: float(np.mean([each[key] for each in found])) for key in found[0]}
    columns = list(dict.fromkeys(key for row in rows.values() for key in row))
    print(f"{simulations} simulations; standard error {np.sqrt(0.05 * 0.95 / simulations):.3f} at .05")
    for coefficient in dict.fromkeys(name for name, _ in columns):
        print(f"| {coefficient} | " + " | ".join(test for name, test in columns if name == coefficient) + " |")
        for case, row in rows.items():
            print(f"| {case} | " + " | ".join(f"{row[key]:.3f}" for key in columns if key[0] == coefficient) + " |")


if __name__ == "__main__":
    main()
