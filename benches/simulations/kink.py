"""Measure the tests at the kink of BLEU's brevity penalty, where two null hypotheses are far apart.

    python -m benches.simulations.kink --help

One system is cut to two lengths near that of the reference. Then words are replaced until the scores of both
populations are equal (part ``population``), or until the expected scores of samples of S segments are (``expected``).
Away from the kink these are the same. In ``exchangeable``, the outputs are swapped with probability ½ instead. Power is
that on real pairs (``power``), and on outputs that are left as they were cut (``cut``). ``auto`` is the default of
``compare``, which depends on the number of segments in which the outputs differ. Four procedures that are no tests of
the registry are compared with them: the inverted BCa interval, the bootstrap of m out of S segments, the nested
bootstrap, and the directional delta method. ``note`` is the share of samples whose report has the note ``near-kink``.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from zlib import crc32

import numpy as np

from benches.data import SET, Array, Texts, find
from benches.machine import markdown_table
from reshuffle.inference.batches import ONE_PAIR, run_batch
from reshuffle.inference.estimates import Estimate
from reshuffle.inference.intervals import INTERVALS
from reshuffle.inference.kink import DrawnPair, brevity_of, is_near_kink
from reshuffle.inference.plan import Plan
from reshuffle.inference.running import run_on_test_set
from reshuffle.inference.tests import TESTS
from reshuffle.resampling import Problems, Replicates
from reshuffle.settings import ComparisonSettings, Resampling, Units

from .blocks import BLOCK, LEVELS, Results, command, parsed_with_common, plan_of, run_program
from .populations import ANY, PAIRS, WRONG, Cuts, Population

PARTS = ("population", "expected", "exchangeable", "power", "cut")
AT = LEVELS.index(0.05)
DRAWN = ("bootstrap-both", "bootstrap", "bootstrap-percentile", "bootstrap-kink")
SHUFFLED = ("ar", "ar-studentized")
# The m of the m-out-of-S bootstrap is S to this power.
M_EXPONENT = 2 / 3
OTHERS = ("auto", "bca inverted", "m out of S", "nested", "directional", "note")
# The nested bootstrap draws so many times, and again so many times from each draw.
OUTER, INNER = 199, 99
COLUMNS = (*DRAWN, *SHUFFLED, *OTHERS)
DEFAULT = ("bootstrap-both", "bootstrap-kink")
AUTO = Plan.from_settings(ComparisonSettings(test="auto"))

LENGTHS = ((1.0, 0.998), (1.0, 0.997), (1.0, 0.994), (1.003, 1.0), (1.0, 0.99), (0.998, 0.992), (0.994, 0.978))
# Lengths of outputs that differ, and the words that are cut. Without wrong words a long output is better; without any
# words it has fewer matches.
DIFFERENT = (
    (WRONG, 1.02, 1.01),
    (WRONG, 1.01, 1.0),
    (ANY, 1.01, 1.0),
    (ANY, 1.0, 0.99),
    (ANY, 0.99, 0.98),
)
SYSTEMS = {SET: "LIUM-NMT.4900", "wmt19-en-de": "MLLP-UPV.6651", "wmt21-en-de": "VolcTrans-AT"}
SEGMENTS = (100, 500, 2000, 8000)


def _named_cuts() -> dict[str, tuple[str, Cuts]]:
    """The test set and the cuts of each population by name."""
    named = {}
    for test_set, system in SYSTEMS.items():
        for nested in (True, False) if test_set == SET else (True,):
            for longer, shorter in LENGTHS:
                how = "nested" if nested else "independent"
                name = f"{how} {longer:.3f}/{shorter:.3f}" + ("" if test_set == SET else f", {test_set[:5]}")
                named[name] = test_set, Cuts(system, longer, shorter, nested)
    return named


CUTS: Mapping[str, tuple[str, Cuts]] = _named_cuts()
DIFFERENT_CUTS: Mapping[str, tuple[str, Cuts]] = {
    f"{longer:.3f}/{shorter:.3f}, {'wrong' if words is WRONG else 'any'} words": (
        SET,
        Cuts(SYSTEMS[SET], longer, shorter, True, words),
    )
    for words, longer, shorter in DIFFERENT
}
# The names of the populations of each part.
NAMES: Mapping[str, Sequence[str]] = {
    "population": list(CUTS),
    "expected": list(CUTS),
    "exchangeable": list(CUTS),
    "power": list(PAIRS),
    "cut": list(DIFFERENT_CUTS),
}


@dataclass(frozen=True)
class Cell:
    """Samples of one size from one population."""

    part: str
    name: str
    segments: int

    def population(self) -> Population:
        """The population, from the texts."""
        return _population(self.part, self.name, self.segments if self.part in ("expected", "power") else 0)


@cache
def _texts(test_set: str) -> Texts:
    files = find(test_set)
    return Texts(files, files.references(), files.outputs())


@cache
def _population(part: str, name: str, segments: int) -> Population:
    if part == "power":
        return PAIRS[name].at(segments)(_texts(SET))
    test_set, cuts = (DIFFERENT_CUTS if part == "cut" else CUTS)[name]
    if part == "population":
        return cuts.of_equal_scores(_texts(test_set))
    if part == "expected":
        return cuts.of_equal_expectations(_texts(test_set), segments)
    return cuts.as_cut(_texts(test_set), swapped=0.5 if part == "exchangeable" else 0.0)


# What each test makes of a sample.


def m_out_of_n(counts: Array, population: Population, n_resamples: int, seed: int) -> float:
    """The two-sided p of the bootstrap of m out of S segments: √m·|d*_m − d| against √S·|d| (Bickel et al. 1997)."""
    segments = counts.shape[1]
    m = round(segments**M_EXPONENT)
    rng = np.random.default_rng(seed)
    drawn = counts[:, rng.integers(segments, size=(n_resamples, m))].sum(axis=2)
    scores, drawn_scores = (population.metric.score(totals) for totals in (counts.sum(axis=1), drawn))
    difference = scores[0] - scores[1]
    deviations = np.abs(drawn_scores[0] - drawn_scores[1] - difference) * np.sqrt(m / segments)
    return float((1 + np.count_nonzero(deviations >= abs(difference) - 1e-12)) / (n_resamples + 1))


def nested(counts: Array, population: Population, seed: int) -> float:
    """The two-sided p of the nested bootstrap: the rank of the p of ``bootstrap`` among those of draws (Beran 1988).

    The draws of a draw show how its own p is distributed where the difference of the sample is the true one.
    """
    segments = counts.shape[1]
    rng = np.random.default_rng(seed)
    values = counts.astype(float)

    def differences(drawn: Array) -> Array:
        """The differences of draws, (n, S) indices: (n,)."""
        n = len(drawn)
        cells = (drawn + segments * np.arange(n)[:, None]).ravel()
        times = np.bincount(cells, minlength=n * segments).reshape(n, segments).astype(float)
        scores = population.metric.score((times @ values).astype(np.int64))
        return np.asarray(scores[0] - scores[1])

    (observed,) = differences(np.arange(segments)[None])
    outer = rng.integers(segments, size=(OUTER, segments))
    drawn = differences(outer)

    def p_of(difference: float, of_draws: Array, truth: float) -> float:
        extreme = np.abs(of_draws - difference) >= abs(difference - truth) - 1e-12
        return float((1 + np.count_nonzero(extreme)) / (len(of_draws) + 1))

    own = [
        p_of(difference, differences(indices[rng.integers(segments, size=(INNER, segments))]), observed)
        for difference, indices in zip(drawn.tolist(), outer, strict=True)
    ]
    return float((1 + np.count_nonzero(np.array(own) <= p_of(observed, drawn, 0.0))) / (OUTER + 1))


def directional(replicates: Replicates) -> float:
    """The two-sided p of the directional delta method (Fang & Santos 2019): as if lengths were at the kink, if near it.

    A length counts as at the kink within √ln S standard errors, and else as where it was observed.
    """
    pair = DrawnPair.from_replicates(replicates, 0, 0, 1)
    drawn, n = replicates.draws[0], replicates.n_resamples
    if pair is None:
        difference = float(np.subtract(*replicates.samples[0].scores))
        deviations = drawn[0] - drawn[1] - difference
    else:
        difference, own = pair.difference, pair.excess[:, None]
        far = np.abs(pair.excess) > np.sqrt(np.log(replicates.n_units)) * pair.errors
        at = np.where(far, pair.excess, 0.0)[:, None]
        moved = np.minimum(0, at + pair.drawn_excess - own) - np.minimum(0, at)
        first, second = drawn * np.exp(moved - np.minimum(0, pair.drawn_excess) + np.minimum(0, own))
        deviations = first - second - difference
    return float((1 + np.count_nonzero(np.abs(deviations) >= abs(difference) - 1e-12)) / (n + 1))


def bca_inverted(replicates: Replicates) -> Array:
    """Whether the BCa interval excludes 0, at each level."""
    estimate = Estimate(replicates, 0, 0, 1)
    ends = [INTERVALS["bca"].ends(estimate, 1 - level) for level in LEVELS]
    return np.array([not low <= 0 <= high for low, high in ends])


def rejections(cell: Cell, block: int, tests: Sequence[str], n_resamples: int) -> dict[str, Array]:
    """Which samples of a block each test rejects at each level: (levels, BLOCK) by test."""
    rng = np.random.default_rng([crc32(f"{cell.part} {cell.name}".encode()), cell.segments, block])
    population = cell.population()
    a, b = population.sample(rng, BLOCK, cell.segments)
    seeds = rng.integers(1 << 63, size=BLOCK)
    problems = Problems.from_arrays(population.metric, a, b, Units(), seeds)
    resampling = Resampling(n_resamples, seeds, 1)
    levels = np.array(LEVELS)[:, None]
    found = {
        test: np.asarray(run_batch(plan_of(test), problems, resampling).pvalue) <= levels
        for test in tests
        if test in SHUFFLED
    }
    rows: dict[str, list[Array]] = {test: [] for test in tests if test not in SHUFFLED}
    for index, replicates in problems.enumerate_replicates(resampling):
        for test, of_test in rows.items():
            if test == "auto" or test in TESTS:
                plan = AUTO if test == "auto" else plan_of(test)
                p = run_on_test_set(plan, replicates, ONE_PAIR).pvalue[0]
                of_test.append(p <= levels[:, 0])
            elif test == "bca inverted":
                of_test.append(bca_inverted(replicates))
            elif test == "m out of S":
                counts = np.stack([a[index], b[index]])
                of_test.append(m_out_of_n(counts, population, n_resamples, int(seeds[index])) <= levels[:, 0])
            elif test == "nested":
                of_test.append(nested(np.stack([a[index], b[index]]), population, int(seeds[index])) <= levels[:, 0])
            elif test == "directional":
                of_test.append(directional(replicates) <= levels[:, 0])
            else:
                (brevity,) = brevity_of(replicates.samples[0], [(0, 1)])
                of_test.append(np.full(len(LEVELS), is_near_kink(brevity)))
    return found | {test: np.array(of_test).T for test, of_test in rows.items()}


# Tables.


def chosen(options: argparse.Namespace) -> list[Cell]:
    """The cells that the options select."""
    found = []
    for part in options.part:
        for size in options.segments:
            names = [name for name in NAMES[part] if part != "power" or size in PAIRS[name].etas]
            found += [Cell(part, name, size) for name in names if options.only is None or name in options.only]
    return found


def z_of(population: Population, segments: int) -> str:
    """How many standard errors each length is expected to be from that of the reference."""
    errors = population.length_errors(segments)
    return "" if errors is None else ", ".join(f"{z:+.1f}" for z in errors)


def size_rows(found: Mapping[Cell, Mapping[str, Array]], tests: Sequence[str]) -> list[list[str]]:
    """A row for each cell: how often each test rejects, and how many rejections of the default have the note."""
    rows = []
    for cell, rejected in found.items():
        default, note = rejected[DEFAULT[0]][AT], rejected["note"][AT]
        with_note = f"{note[default].mean():.2f}" if default.any() else "–"
        rates = [f"{rejected[test][AT].mean():.3f}" for test in tests]
        rows.append(
            [
                cell.name,
                f"{cell.segments:,}",
                f"{len(note):,}",
                z_of(cell.population(), cell.segments),
                *rates,
                with_note,
            ]
        )
    return rows


def power_rows(found: Mapping[Cell, Mapping[str, Array]]) -> list[list[str]]:
    """A row for each real pair: the power of the default, and the ratio to it with its standard error."""
    rows = []
    for cell, rejected in found.items():
        p, q = (rejected[test][AT] for test in DEFAULT)
        ratio = q.mean() / p.mean()
        error = ratio * np.sqrt((p.mean() + q.mean() - 2 * (p & q).mean()) / (p.mean() * q.mean()) / len(p))
        rows.append([cell.name, f"{cell.segments:,}", f"{p.mean():.3f}", f"{ratio:.3f} ± {error:.3f}"])
    return rows


def report(options: argparse.Namespace, results: Results) -> str:
    """All tables, of the cells with samples that all tests have had."""
    parts = []
    header = ["", "S", "n", "z", *(f"`{test}`" if test in TESTS else test for test in options.tests)]
    titles = {
        "population": "equal scores of the populations",
        "expected": "equal expected scores",
        "exchangeable": "exchangeable outputs",
        "power": "power",
        "cut": "power, outputs as cut",
    }
    for part in PARTS:
        found = {
            cell: rejected
            for cell in chosen(options)
            if cell.part == part
            and (rejected := results.of(cell, options.n_resamples, options.tests, options.simulations)) is not None
        }
        if not found:
            continue
        n = min(next(iter(rejected.values())).shape[1] for rejected in found.values())
        parts.append(f"## Share of p ≤ .05: {titles[part]}")
        parts.append(
            f"Standard error with the fewest samples, n = {n:,}: {(0.05 * 0.95 / n) ** 0.5:.3f} of a rate of .05."
        )
        parts.append(markdown_table([*header, "rejections with the note"], size_rows(found, options.tests), 1))
        if part == "power":
            rows = power_rows(found)
            parts.append(markdown_table(["systems", "S", f"`{DEFAULT[0]}`", f"ratio of `{DEFAULT[1]}`"], rows, 2))
    intro = (
        f"Samples with replacement, R = {options.n_resamples}. z: how many standard errors the lengths are from that "
        "of the reference. bca inverted: whether the interval excludes 0. m out of S: m = S^(2/3). nested: "
        f"{OUTER} draws, and {INNER} of each."
    )
    return "\n\n".join([intro, *parts]) + "\n"


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benches.simulations.kink",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="\n".join(
            ["populations:", *(f"  {name}" for name in (*CUTS, *DIFFERENT_CUTS)), "pairs:", *(f"  {n}" for n in PAIRS)]
        ),
    )
    parser.add_argument("--part", nargs="+", choices=PARTS, default=PARTS, help="default: all")
    parser.add_argument(
        "--only", nargs="+", choices=[*CUTS, *DIFFERENT_CUTS, *PAIRS], metavar="NAME", help="populations (default: all)"
    )
    parser.add_argument("--segments", nargs="+", type=int, choices=SEGMENTS, default=[500], help="default: 500")
    parser.add_argument("--tests", nargs="+", choices=COLUMNS, default=COLUMNS, help="default: all")
    return parsed_with_common(parser, arguments, simulations=1000, n_resamples=799, results="kink.jsonl")


def again(options: argparse.Namespace) -> str:
    """The command that repeats this run, without paths of this machine."""
    return command("kink", options, {"part": PARTS, "only": None, "segments": [500], "tests": COLUMNS})


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is missing and print the tables."""
    options = parse(arguments)
    work = dict.fromkeys(chosen(options), options.tests)
    return run_program("tests at the kink of the brevity penalty", again(options), options, rejections, work, report)


if __name__ == "__main__":
    sys.exit(main())
