"""Measure the error rates and the power of adjustments for multiple tests.

    python -m benches.simulations.family_errors --help

All pairs of several systems are compared. ``families.py`` makes the populations, and so it is known which pairs have
equal scores; ``blocks.py`` keeps the results in a file, from which an interrupted run continues. The file has the
hypotheses that were rejected at .05 in each sample.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple
from zlib import crc32

import numpy as np

from benches.data import Array
from benches.machine import markdown_table
from reshuffle.inference.hypotheses import Hypotheses, Outcome
from reshuffle.inference.multiplicity import ADJUSTMENTS
from reshuffle.inference.running import run_on_test_set
from reshuffle.inference.tests import TESTS
from reshuffle.resampling import CountSample, Replicates
from reshuffle.results import clopper_pearson
from reshuffle.settings import Resampling

from .blocks import BLOCK, Results, command, parsed_with_common, plan_of, run_program, texts
from .families import FAMILIES, Family

PART = "family"
ALPHA = 0.05
SEGMENTS = (100, 500, 2000)
DEFAULT_TESTS = ("bootstrap-both", "bootstrap", "bootstrap-percentile", "ar", "ar-studentized", "anova", "permutation")
LARGE = 500
NONE = "none"
METRIC, ALL = "metric", "all"
# Tukey and Scheffé compare with all systems under one metric.
PER_METRIC = (NONE, "tukey", "scheffe")


@dataclass(frozen=True)
class Cell:
    """Samples of one size from the population of a family."""

    name: str
    segments: int

    part = PART

    @property
    def family(self) -> Family:
        """The population."""
        return _family(self.name)


@cache
def _family(name: str) -> Family:
    return FAMILIES[name](texts())


class Method(NamedTuple):
    """A test, an adjustment, and which hypotheses form a family: those of one metric, or all."""

    test: str
    adjust: str
    family: str

    def __str__(self) -> str:
        return " ".join(self)

    @property
    def steps_down(self) -> bool:
        """Whether the adjustment is from the replicates of the test."""
        return self.adjust in TESTS[self.test].step_down

    @classmethod
    def parse(cls, text: str) -> Method:
        """The method that this text names."""
        return cls(*text.split())


def methods(tests: Sequence[str], adjustments: Sequence[str] | None, n_metrics: int) -> list[str]:
    """All combinations of these tests with the adjustments that they support."""
    return [
        str(Method(test, adjust, family))
        for test in tests
        for adjust in (NONE, *ADJUSTMENTS)
        if adjustments is None or adjust in adjustments
        if adjust == NONE or adjust in TESTS[test].step_down or not ADJUSTMENTS[adjust].from_replicates
        for family in ((METRIC, ALL) if n_metrics > 1 and adjust not in PER_METRIC else (METRIC,))
    ]


# Simulations.


def rejections(cell: Cell, block: int, wanted: Sequence[str], n_resamples: int) -> dict[str, Array]:
    """Which hypotheses each method rejects in the samples of a block: (H, BLOCK) by method, metric by metric."""
    rng = np.random.default_rng([crc32(f"{PART} {cell.name}".encode()), cell.segments, block])
    family = cell.family
    found: dict[str, Array] = {method: np.empty((family.true_nulls.size, BLOCK), dtype=bool) for method in wanted}
    for sample in range(BLOCK):
        drawn = family.sample(rng, cell.segments)
        samples = [CountSample.from_counts(*pair) for pair in zip(family.metrics, drawn, strict=True)]
        seed = int(rng.integers(1 << 63))
        replicates = Replicates(samples, Resampling(n_resamples, seed, 1))
        for method, p in adjusted(replicates, family.pairs, wanted):
            found[method][:, sample] = p <= ALPHA
    return found


def adjusted(
    replicates: Replicates, pairs: Sequence[tuple[int, int]], wanted: Sequence[str]
) -> Iterator[tuple[str, Array]]:
    """The adjusted p-values of each method: (H,).

    A test is run once for each adjustment from replicates, and its p-values are used for all other adjustments.
    """
    n_metrics = len(replicates.samples)
    families = {family: Hypotheses.from_pairs(pairs, n_metrics, family=family) for family in (METRIC, ALL)}
    outcomes: dict[str, Outcome] = {}
    stepped = [text for text in wanted if Method.parse(text).steps_down]
    for text in [*stepped, *(text for text in wanted if text not in stepped)]:
        method = test, adjust, family = Method.parse(text)
        if method.steps_down:
            outcomes[test] = run_on_test_set(plan_of(test, adjust), replicates, families[family])
            p = outcomes[test].adjusted
            assert p is not None
            yield text, p
            continue
        if test not in outcomes:
            outcomes[test] = run_on_test_set(plan_of(test), replicates, families[METRIC])
        p = outcomes[test].pvalue
        if adjust != NONE:
            of_pvalues = ADJUSTMENTS[adjust].of_pvalues
            assert of_pvalues is not None
            p = np.concatenate([of_pvalues(p[each]) for each in families[family].families()])
        yield text, p


# Error rates.


class Rates(NamedTuple):
    """Which samples have a false rejection, (n,); the share of false rejections, (n,), of all; and power.

    Power is the mean share of the false null hypotheses that are rejected; None if all null hypotheses are true.
    """

    any_false: Array
    false_share: Array
    power: float | None


def rates(rejected: Array, true_nulls: Array) -> Rates:
    """From (H, n) rejections and the (H,) true null hypotheses."""
    false = rejected[true_nulls].sum(axis=0)
    power = None if true_nulls.all() else float(rejected[~true_nulls].mean())
    return Rates(false > 0, false / np.maximum(rejected.sum(axis=0), 1), power)


def with_interval(happened: Array) -> str:
    """A rate with its 95% interval (Clopper & Pearson)."""
    interval = clopper_pearson(int(happened.sum()), len(happened))
    return f"{happened.mean():.3f} ({interval.low:.3f}–{interval.high:.3f})"


Found = Mapping[Cell, Mapping[str, Array]]


def error_rows(found: Found, test: str, adjustments: Sequence[str]) -> list[list[str]]:
    """A row for each cell and family: the family-wise error rate of each adjustment of a test."""
    rows = []
    for cell, of_methods in found.items():
        family = cell.family
        n = next(iter(of_methods.values())).shape[1]
        kink = "K" if family.near_kink(cell.segments) else ""
        for scope, label, select in _scopes(family):
            texts_ = [_error(of_methods, Method(test, adjust, scope), family, select) for adjust in adjustments]
            if any(texts_):
                rows.append([cell.name + label, f"{cell.segments:,}", f"{n:,}", kink, *texts_])
    return rows


def _scopes(family: Family) -> list[tuple[str, str, Array]]:
    """Families that errors are counted over: how methods form theirs, a label, and the hypotheses."""
    metrics, pairs = family.true_nulls.shape
    every = np.ones(metrics * pairs, dtype=bool)
    if metrics == 1:
        return [(METRIC, "", every)]
    each = [
        (METRIC, f": {measure.name}", np.repeat(np.arange(metrics) == m, pairs))
        for m, measure in enumerate(family.metrics)
    ]
    return [*each, (METRIC, ": any metric, a family each", every), (ALL, ": any metric, one family", every)]


def _error(of_methods: Mapping[str, Array], method: Method, family: Family, select: Array) -> str:
    name = str(method._replace(family=METRIC) if method.adjust == NONE else method)
    if name not in of_methods:
        return ""
    found = rates(of_methods[name][select], family.true_nulls.ravel()[select])
    if method.adjust != NONE and ADJUSTMENTS[method.adjust].rate == "false discovery rate":
        return f"{found.false_share.mean():.3f}"
    return with_interval(found.any_false)


def power_rows(found: Found, columns: Sequence[str]) -> list[list[str]]:
    """A row for each cell with true differences: the share of these that each method finds."""
    rows = []
    for cell, of_methods in found.items():
        true_nulls = cell.family.true_nulls.ravel()
        if true_nulls.all():
            continue
        powers = [f"{rates(of_methods[name], true_nulls).power:.3f}" if name in of_methods else "" for name in columns]
        n = next(iter(of_methods.values())).shape[1]
        rows.append([cell.name, f"{cell.segments:,}", f"{n:,}", *powers])
    return rows


def summary_rows(found: Found, test: str, adjustments: Sequence[str]) -> list[list[str]]:
    """A row for each adjustment that controls the family-wise error rate: its range, away from the kink and near it.

    Over populations under one metric, with ``LARGE`` segments or more.
    """
    rows = []
    for adjust in adjustments:
        if adjust == NONE or ADJUSTMENTS[adjust].rate == "false discovery rate":
            continue
        name = str(Method(test, adjust, METRIC))
        parts: dict[bool, list[tuple[Array, str]]] = {False: [], True: []}
        for cell, of_methods in found.items():
            family = cell.family
            if len(family.metrics) == 1 and cell.segments >= LARGE and name in of_methods:
                false = rates(of_methods[name], family.true_nulls.ravel()).any_false
                parts[family.near_kink(cell.segments)].append((false, f"{cell.name}, S = {cell.segments:,}"))
        if parts[False] or parts[True]:
            rows.append([f"`{test}`", f"`{adjust}`", *(_extremes(parts[near]) for near in (False, True))])
    return rows


def _extremes(each: Sequence[tuple[Array, str]]) -> str:
    """The smallest rate, and the largest one with its interval and its population."""
    if not each:
        return ""
    ordered = sorted(each, key=lambda pair: float(pair[0].mean()))
    largest, where = ordered[-1]
    return f"{ordered[0][0].mean():.3f} to {with_interval(largest)}: {where}"


def report(options: argparse.Namespace, results: Results) -> str:
    """All tables. The methods of a test are compared on the samples that all of them have had."""
    found: dict[str, dict[Cell, dict[str, Array]]] = {test: {} for test in options.tests}
    for cell, wanted in chosen(options).items():
        for test, of_test in found.items():
            run = [name for name in wanted if Method.parse(name).test == test]
            run = [name for name in run if results.of(cell, options.n_resamples, [name], 1) is not None]
            rejected = results.of(cell, options.n_resamples, run, options.simulations) if run else None
            if rejected is not None:
                of_test[cell] = rejected
    parts = [
        f"All pairs, two-sided tests at {ALPHA:g}, R = {options.n_resamples}, samples with replacement; n is their "
        "number. Each rate has its 95% interval (Clopper–Pearson). `bh` and `by`: the false discovery rate. **K**: "
        "in samples of S segments, the length of an output is within 2 standard errors of that of the reference."
    ]
    summary, tables = [], []
    for test, of_test in found.items():
        used = {Method.parse(name).adjust for of_methods in of_test.values() for name in of_methods}
        adjustments = [adjust for adjust in (NONE, *ADJUSTMENTS) if adjust in used]
        summary += summary_rows(of_test, test, adjustments)
        if of_test:
            header = ["population", "S", "n", "", *(f"`{name}`" for name in adjustments)]
            rows = error_rows(of_test, test, adjustments)
            tables += [f"## Family-wise error rate at {ALPHA:g}: `{test}`", markdown_table(header, rows, 1)]
    if summary:
        header = ["test", "adjustment", "away from the kink", "near it"]
        title = f"## Range of family-wise error rates at {ALPHA:g}, one metric, S ≥ {LARGE}"
        parts += [title, markdown_table(header, summary, 4)]
    parts += tables
    for test, of_test in found.items():
        columns = list(dict.fromkeys(name for of_methods in of_test.values() for name in of_methods))
        rows = power_rows(of_test, columns)
        if rows:
            names = [" ".join(f"`{word}`" for word in name.split()[1:]) for name in columns]
            parts += [f"## Power: `{test}`", markdown_table(["population", "S", "n", *names], rows, 1)]
    lines = dict.fromkeys(f"- {cell.name}: {cell.family.about}." for of_test in found.values() for cell in of_test)
    parts.append("## Populations\n\n" + "\n".join(lines))
    return "\n\n".join(parts) + "\n"


# The command line.


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benches.simulations.family_errors",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="\n".join(["populations:", *(f"  {name}" for name in FAMILIES)]),
    )
    parser.add_argument("--only", nargs="+", choices=FAMILIES, metavar="NAME", help="populations (default: all)")
    parser.add_argument("--segments", nargs="+", type=int, choices=SEGMENTS, default=[500], help="default: 500")
    parser.add_argument("--tests", nargs="+", choices=TESTS, default=DEFAULT_TESTS, help="default: %(default)s")
    parser.add_argument("--adjust", nargs="+", choices=[NONE, *ADJUSTMENTS], help="default: all")
    return parsed_with_common(parser, arguments, simulations=1000, n_resamples=999, results="family_errors.jsonl")


def chosen(options: argparse.Namespace) -> dict[Cell, list[str]]:
    """The cells that the options select, with the methods of each."""
    return {
        cell: methods(options.tests, options.adjust, len(cell.family.metrics))
        for segments in options.segments
        for name in options.only or FAMILIES
        for cell in [Cell(name, segments)]
    }


def again(options: argparse.Namespace) -> str:
    """The command that repeats this run, without paths of this machine."""
    defaults = {"only": None, "segments": [500], "tests": DEFAULT_TESTS, "adjust": None}
    return command("family_errors", options, defaults)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is missing and print the tables."""
    options = parse(arguments)
    work = chosen(options)
    return run_program(
        "error rates and power of adjustments for multiple tests", again(options), options, rejections, work, report
    )


if __name__ == "__main__":
    sys.exit(main())
