"""How often tests between metrics reject null hypotheses that hold and that do not, for docs/evidence/people.md.

Two metrics whose errors have the same distribution, so that both agree equally well with people. What is swapped has to
match what is exchangeable: errors of cells, of segments for all systems, or of systems on all segments. In the last
case the second metric has larger errors of cells, and a test should reject.

``swap-…`` are swaps of standardized scores as in ``perm-…``, of Pearson's r over all outputs divided by its standard
error for systems and segments. They are not offered, and computed here from their formulas.

    python -m benches.simulations.meta_size --help
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reshuffle import meta
from reshuffle.meta import JudgedSet, ScoreTable

Array = NDArray[np.float64]

SHUFFLES = 199
UNITS = ("both", "inputs", "systems")
AT_SEGMENTS = ("t-both", *(f"{kind}-{unit}" for kind in ("perm", "boot") for unit in UNITS))


class Case(NamedTuple):
    """Standard deviations of errors by cell, by segment and by system, and numbers of systems and segments."""

    cell: float = 1.0
    segment: float = 0.0
    system: float = 0.0
    # Of the second metric, in relation to the first.
    second: float = 1.0
    skewed: bool = False
    systems: int = 10
    segments: int = 50


CASES = {
    "errors of cells": Case(),
    "and of segments": Case(segment=0.7),
    "and of systems": Case(system=0.7),
    "and of both": Case(segment=0.7, system=0.7),
    "of both, 4 systems": Case(segment=0.7, system=0.7, systems=4),
    "of both, 30 systems on 20 segments": Case(segment=0.7, system=0.7, systems=30, segments=20),
    **{f"of systems ({sd})": Case(system=sd) for sd in (0.2, 0.45)},
    **{f"of systems ({sd}), {n} systems": Case(system=sd, systems=n) for n in (4, 6) for sd in (0.0, 0.45, 0.7)},
    "other distribution": Case(skewed=True),
    "power": Case(second=1.4),
}


def scores(rng: np.random.Generator, quality: Array, case: Case, second: bool) -> Array:
    """A metric: quality and errors. If ``skewed``, the second one has exponential errors of the same variance."""
    errors = rng.normal(0, case.cell * (case.second if second else 1), quality.shape)
    if case.skewed and second:
        errors = rng.exponential(case.cell, quality.shape) - case.cell
    shared = rng.normal(0, case.segment, quality.shape[1]) + rng.normal(0, case.system, (len(quality), 1))
    return np.asarray(quality + errors + shared)


def rejected(name: str, seed: int, tests: tuple[str, ...] | None = None) -> dict[tuple[str, str], bool]:
    """Which tests reject at .05 in one simulation; all of them by default."""
    case, rng = CASES[name], np.random.default_rng(seed)
    shape = case.systems, case.segments
    quality = rng.normal(0, 0.5, (shape[0], 1)) + rng.normal(0, 0.5, shape[1]) + rng.normal(0, 0.7, shape)
    names = tuple(f"system {i}" for i in range(shape[0]))
    cells = [scores(rng, quality, case, second) for second in (False, True)]
    human = quality + rng.normal(0, 0.7, shape)
    tables = [ScoreTable(name, names, own, None) for name, own in zip("ab", cells, strict=True)]
    test_set = JudgedSet.from_scores(tables, human=ScoreTable("people", names, human, None))
    settings: dict[str, Any] = {"interval": None, "n_resamples": SHUFFLES, "seed": seed, "workers": 1}
    found = {}
    for test in AT_SEGMENTS if tests is None else tests:
        of_segments = [
            meta.segments(test_set, coefficients=["pearson"], groupings=["none", "item"], test=test, **settings),
            meta.segments(test_set, coefficients=["kendall-b", "acc23"], test=test, **settings),
            meta.segments(test_set, coefficients="darr", minimum_difference=0.7, test=test, **settings)
            if test in ("t-both", "perm-both", "perm-inputs", "perm-systems", "boot-inputs")
            else None,
        ]
        for pair in (pair for result in of_segments if result is not None for pair in result.comparisons):
            found[f"`{pair.coefficient}`, {pair.grouping}", test] = pair.pvalue <= 0.05
    if tests is not None:
        return found
    for unit, p in studentized(cells, human, rng):
        found["`pearson`, none", f"swap-{unit}"] = p <= 0.05
    for unit in UNITS:
        of_systems = meta.systems(test_set, coefficients=["pearson", "accuracy"], test=f"perm-{unit}", **settings)
        for pair in of_systems.comparisons:
            found[f"`{pair.coefficient}` of systems", f"perm-{unit}"] = pair.pvalue <= 0.05
    (pair,) = meta.systems(test_set, coefficients="pearson", test="williams", interval=None).comparisons
    found["`pearson` of systems", "williams"] = pair.pvalue <= 0.05
    return found


def studentized(cells: list[Array], human: Array, rng: np.random.Generator) -> Iterator[tuple[str, float]]:
    """p-values of swaps of two metrics' standardized cells, systems and segments, by t instead of r's difference."""
    a, b = ((own - own.mean()) / own.std() for own in cells)
    y = (human - human.mean()) / human.std()
    observed = _t(a[None], b[None], y)[0]
    for unit in UNITS:
        shape = {"both": human.shape, "inputs": (1, human.shape[1]), "systems": (len(human), 1)}[unit]
        swap = rng.random((SHUFFLES, *shape)) < 0.5
        t = _t(np.where(swap, b, a), np.where(swap, a, b), y)
        yield unit, (1 + (np.abs(t) >= abs(observed) - 1e-9).sum()) / (SHUFFLES + 1)


def _t(a: Array, b: Array, y: Array) -> Array:
    """The difference of Pearson's r of (R, N, S) scores, divided by its standard error by derivatives."""
    influences, values = [], []
    for x in (a, b):
        z = (x - x.mean(axis=(1, 2), keepdims=True)) / x.std(axis=(1, 2), keepdims=True)
        r = (z * y).mean(axis=(1, 2), keepdims=True)
        influences.append((z * y - r * (z**2 + y**2) / 2) / y.size)
        values.append(r[:, 0, 0])
    u = influences[0] - influences[1]
    systems, segments = (u.sum(axis=2) ** 2).sum(axis=1), (u.sum(axis=1) ** 2).sum(axis=1)
    variance = segments + np.maximum(systems - (u**2).sum(axis=(1, 2)), 0)
    return np.asarray((values[0] - values[1]) / np.sqrt(variance))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        prog="python -m benches.simulations.meta_size",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="\n".join(["cases:", *(f"  {name}" for name in CASES)]),
    )
    parser.add_argument("--simulations", type=int, default=1000, metavar="N", help="per case (default: %(default)s)")
    parser.add_argument("--cases", nargs="+", choices=CASES, metavar="NAME", default=list(CASES), help="default: all")
    parser.add_argument("--tests", nargs="+", choices=AT_SEGMENTS, help="only these tests, at segment level")
    parser.add_argument("--processes", type=int, metavar="N", help="(default: one per core)")
    options = parser.parse_args()
    simulations, tests = options.simulations, None if options.tests is None else tuple(options.tests)
    rows: dict[str, dict[tuple[str, str], float]] = {}
    with ProcessPoolExecutor(options.processes) as pool:
        for case in options.cases:
            work = partial(rejected, case, tests=tests)
            found = list(pool.map(work, range(simulations), chunksize=10))
            rows[case] = {key: float(np.mean([each[key] for each in found])) for key in found[0]}
    columns = list(dict.fromkeys(key for row in rows.values() for key in row))
    print(f"{simulations} simulations; standard error {np.sqrt(0.05 * 0.95 / simulations):.3f} at .05")
    for coefficient in dict.fromkeys(name for name, _ in columns):
        named = [key for key in columns if key[0] == coefficient]
        print(f"| {coefficient} | " + " | ".join(f"`{test}`" for _, test in named) + " |")
        print("|---" * (len(named) + 1) + "|")
        for case, row in rows.items():
            shown = (f"{row[key]:.3f}".removeprefix("0") for key in named)
            print(f"| {case} | " + " | ".join(shown) + " |")


if __name__ == "__main__":
    main()
