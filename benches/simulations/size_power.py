"""Measure size and power of significance tests on real outputs.

    python -m benches.simulations.size_power --help

Size is how often a test rejects at .05 where the scores of the two populations are equal; power, where they differ.
``populations.py`` makes the populations, ``blocks.py`` runs the tests and keeps the results in a file, from which
an interrupted run continues. This is the command line with the tables.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

import numpy as np

from benches.data import Array
from benches.machine import markdown_table
from reshuffle.inference.tests import TESTS
from reshuffle.results import clopper_pearson

from .blocks import LEVELS, SEGMENTS, Cell, Results, cells, command, parsed_with_common, rejections, run_program
from .populations import NULLS, PAIRS

AR = "ar"
DEFAULT_TESTS = [test.name for test in TESTS.values() if test.replicates is not None]
PARTS = ("size", "power")
AT = LEVELS.index(0.05)

# What the default test of a comparison has to reach at .05 with 500 segments or more, and the range of the power of
# ``ar`` in which powers are compared.
BAND = (0.035, 0.075)
LARGE = 500
COMPARED = (0.3, 0.9)


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benches.simulations.size_power",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="\n".join(
            ["populations of equal scores:", *(f"  {name}" for name in NULLS), "pairs of different scores:"]
        )
        + "\n"
        + "\n".join(f"  {name}" for name in PAIRS),
    )
    parser.add_argument("--part", nargs="+", choices=PARTS, default=PARTS, help="size, power (default: both)")
    parser.add_argument(
        "--only", nargs="+", choices=[*NULLS, *PAIRS], metavar="NAME", help="populations (default: all)"
    )
    parser.add_argument("--segments", nargs="+", type=int, choices=SEGMENTS, default=SEGMENTS, help="default: all")
    parser.add_argument("--tests", nargs="+", choices=DEFAULT_TESTS, default=DEFAULT_TESTS, help="default: all")
    return parsed_with_common(parser, arguments, simulations=5000, n_resamples=399, results="size_power.jsonl")


def chosen(options: argparse.Namespace) -> list[Cell]:
    """The cells that the options select."""
    return [
        cell
        for part in options.part
        for cell in cells(part, options.segments)
        if options.only is None or cell.name in options.only
    ]


# Tables.


def lengths(cell: Cell) -> str:
    """The lengths of the two outputs, and whether samples are near the kink of the brevity penalty."""
    population = cell.population()
    ratios = population.length_ratios()
    if ratios is None:
        return ""
    first, second = ratios
    return f"{first:.3f}, {second:.3f}" + (" **kink**" if population.near_kink(cell.segments) else "")


def sizes(cell: Cell, rejected: dict[str, Array]) -> tuple[str, str]:
    """The size of the samples, and how many there are."""
    return f"{cell.segments:,}", f"{next(iter(rejected.values())).shape[1]:,}"


def size_rows(found: dict[Cell, dict[str, Array]], tests: Sequence[str], level: int) -> list[list[str]]:
    """A row for each cell with equal scores: how often each test rejects."""
    return [
        [cell.name, *sizes(cell, rejected), lengths(cell), *(f"{rejected[test][level].mean():.3f}" for test in tests)]
        for cell, rejected in found.items()
    ]


def extremes(found: dict[Cell, dict[str, Array]], test: str) -> str:
    """The smallest and the largest size of a test, with the 95% interval of each."""
    if not found:
        return ""
    of_cells = sorted((rejected[test][AT] for rejected in found.values()), key=np.mean)
    parts = []
    for rejected in (of_cells[0], of_cells[-1]):
        interval = clopper_pearson(int(rejected.sum()), len(rejected))
        parts.append(f"{rejected.mean():.3f} ({interval.low:.3f}–{interval.high:.3f})")
    return " to ".join(parts)


def summary_rows(found: dict[Cell, dict[str, Array]], tests: Sequence[str]) -> list[list[str]]:
    """A row for each test: its range of sizes away from the kink and near it, and the cells outside the band."""
    large = {cell: rejected for cell, rejected in found.items() if cell.segments >= LARGE}
    near = {cell: rejected for cell, rejected in large.items() if cell.population().near_kink(cell.segments)}
    away = {cell: rejected for cell, rejected in large.items() if cell not in near}
    rows = []
    for test in tests:
        outside = [
            f"{cell.name}, S = {cell.segments:,}: {size:.3f}"
            for cell, rejected in large.items()
            if not BAND[0] <= (size := float(rejected[test][AT].mean())) <= BAND[1]
        ]
        listed = "; ".join(outside) if len(outside) <= 4 else f"{len(outside)} of {len(large)} cells"
        rows.append([f"`{test}`", extremes(away, test), extremes(near, test), listed or "none"])
    return rows


def power_rows(
    found: dict[Cell, dict[str, Array]], of_equal: dict[Cell, dict[str, Array]], tests: Sequence[str]
) -> list[list[str]]:
    """A row for each cell with different scores: size and power of ``ar``, and ratios of other powers to that.

    The size is that for the same systems, changed until their scores are equal.
    """
    rows = []
    for cell, rejected in found.items():
        of_ar = rejected[AR][AT]
        ratios = [ratio(rejected[test][AT], of_ar) for test in tests if test != AR]
        eta = PAIRS[cell.name].etas[cell.segments]
        texts = [f"{value:.3f} ± {error:.3f}" for value, error in ratios]
        same = of_equal.get(Cell("size", f"equal BLEU: {cell.name}", cell.segments))
        size = "" if same is None else f"{same[AR][AT].mean():.3f}"
        rows.append([cell.name, *sizes(cell, rejected), f"{eta:g}", size, f"{of_ar.mean():.3f}", *texts])
    return rows


def ratio(rejected: Array, of_ar: Array) -> tuple[float, float]:
    """The power of a test relative to that of ``ar`` on the same samples, and its standard error (delta method)."""
    p, q, both = rejected.mean(), of_ar.mean(), (rejected & of_ar).mean()
    if not p or not q:
        return float("nan"), float("nan")
    return float(p / q), float(p / q * np.sqrt((p + q - 2 * both) / (p * q) / len(of_ar)))


def power_summary(found: dict[Cell, dict[str, Array]], tests: Sequence[str]) -> list[list[str]]:
    """A row for each test: the smallest and the mean ratio where ``ar`` has a power between .3 and .9."""
    low, high = COMPARED
    compared = [rejected for rejected in found.values() if low <= rejected[AR][AT].mean() <= high]
    rows = []
    for test in tests:
        if test != AR and compared:
            ratios = [ratio(rejected[test][AT], rejected[AR][AT]) for rejected in compared]
            value, error = min(ratios)
            mean = np.mean([value for value, _ in ratios])
            rows.append([f"`{test}`", f"{value:.3f} ± {error:.3f}", f"{mean:.3f}", str(len(compared))])
    return rows


def report(options: argparse.Namespace, results: Results) -> str:
    """All tables, of the cells with samples that all tests have had."""
    found: dict[str, dict[Cell, dict[str, Array]]] = {part: {} for part in PARTS}
    for cell in chosen(options):
        rejected = results.of(cell, options.n_resamples, options.tests, options.simulations)
        if rejected is not None:
            found[cell.part][cell] = rejected
    error = (0.05 * 0.95 / options.simulations) ** 0.5
    parts = [
        f"Samples with replacement, R = {options.n_resamples}; with n = {options.simulations:,} samples the standard "
        f"error of a rate of .05 is {error:.4f}. **kink**: in samples of S segments, the length of an output is within "
        "2 standard errors of the length of the reference."
    ]
    names = [f"`{test}`" for test in options.tests]
    if found["size"]:
        header = ["test", "away from the kink", "near it", f"outside {BAND[0]:g} to {BAND[1]:g}"]
        rows = summary_rows(found["size"], options.tests)
        parts += [f"## Range of sizes at .05, S ≥ {LARGE}", markdown_table(header, rows, 4)]
        header = ["equal scores", "S", "n", "lengths", *names]
        for level, alpha in sorted(enumerate(LEVELS), key=lambda pair: pair[0] != AT):
            rows = size_rows(found["size"], options.tests, level)
            parts += [f"## Size at {alpha:g}", markdown_table(header, rows, 1)]
    if found["power"] and AR in options.tests:
        others = [f"`{test}`" for test in options.tests if test != AR]
        rows = power_summary(found["power"], options.tests)
        title = f"## Power at .05 relative to `{AR}`, where that is {COMPARED[0]:g} to {COMPARED[1]:g}"
        parts += [title, markdown_table(["test", "smallest", "mean", "rows"], rows, 1)]
        rows = power_rows(found["power"], found["size"], options.tests)
        parts.append(
            markdown_table(["systems", "S", "n", "η", f"size of `{AR}`", f"power of `{AR}`", *others], rows, 1)
        )
    listed = "\n".join(f"- {line}" for line in descriptions(list(found["size"])))
    parts.append(f"## Populations of equal scores\n\n{listed}")
    return "\n\n".join(parts) + "\n"


def descriptions(shown: Sequence[Cell]) -> list[str]:
    """Each population in one sentence, with the difference of its scores."""
    lines = {}
    for cell in shown:
        population = cell.population()
        exchangeable = population.swapped == 0.5
        difference = "exchangeable" if exchangeable else f"difference of scores {population.difference():+.1e}"
        lines[cell.name] = f"{cell.name}: {population.about} ({difference})."
    return list(lines.values())


def again(options: argparse.Namespace) -> str:
    """The command that repeats this run, without paths of this machine."""
    defaults = {"part": PARTS, "only": None, "segments": SEGMENTS, "tests": DEFAULT_TESTS}
    return command("size_power", options, defaults)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is missing and print the tables."""
    options = parse(arguments)
    work = dict.fromkeys(chosen(options), options.tests)
    return run_program("size and power of the tests on wmt17-en-de", again(options), options, rejections, work, report)


if __name__ == "__main__":
    sys.exit(main())
