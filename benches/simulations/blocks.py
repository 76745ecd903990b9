"""Simulations of significance tests: samples from populations, in blocks whose results are kept in a file.

A block is a fixed number of samples of one population. Its random numbers depend on the population, the sample size and
the number of the block only, so that tests that are added later get the same samples, and an interrupted run continues
where it stopped.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
from argparse import ArgumentParser, Namespace
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple, Protocol, TypeAlias, TypeVar
from zlib import crc32

import numpy as np

from benches.data import Array, MissingDataError, Texts, find
from benches.machine import circumstances, cores, dated_record
from reshuffle.inference.batches import ONE_PAIR, run_batch
from reshuffle.inference.plan import Plan
from reshuffle.inference.running import run_on_test_set
from reshuffle.inference.tests import TESTS
from reshuffle.resampling import Problems
from reshuffle.settings import ComparisonSettings, Resampling, Units

from .populations import NULLS, PAIRS, Population

__all__ = [
    "BLOCK",
    "LEVELS",
    "SEGMENTS",
    "Cell",
    "Key",
    "Results",
    "cells",
    "command",
    "parsed_with_common",
    "plan_of",
    "rejections",
    "run_program",
    "simulate",
    "texts",
]

BLOCK = 250
LEVELS = (0.1, 0.05, 0.01)
SEGMENTS = (100, 500, 2000)


class AnyCell(Protocol):
    """What identifies a population and a sample size in the file of results."""

    @property
    def part(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def segments(self) -> int: ...


C = TypeVar("C", bound=AnyCell)


@dataclass(frozen=True)
class Cell:
    """Samples of one size from one population. ``part`` is ``size`` for equal scores, ``power`` for a difference."""

    part: str
    name: str
    segments: int

    def population(self) -> Population:
        """The population, from the texts."""
        return _population(self.part, self.name, self.segments if self.part == "power" else 0)

    def sample(self, block: int) -> tuple[Population, Array, Array]:
        """The population, the samples of a block, (2, BLOCK, S, K), and a seed for the replicates of each."""
        rng = np.random.default_rng([crc32(f"{self.part} {self.name}".encode()), self.segments, block])
        population = self.population()
        return population, population.sample(rng, BLOCK, self.segments), rng.integers(1 << 63, size=BLOCK)


def cells(part: str, segments: Sequence[int]) -> list[Cell]:
    """All cells of a part, by sample size."""
    if part == "size":
        return [Cell(part, name, size) for size in segments for name in NULLS]
    return [Cell(part, name, size) for size in segments for name, pair in PAIRS.items() if size in pair.etas]


@cache
def texts() -> Texts:
    """The texts from which populations are made."""
    files = find()
    return Texts(files, files.references(), files.outputs())


@cache
def _population(part: str, name: str, segments: int) -> Population:
    build = NULLS[name] if part == "size" else PAIRS[name].at(segments)
    return build(texts())


# p-values of a block.


def pvalues(cell: Cell, block: int, tests: Sequence[str], n_resamples: int) -> dict[str, Array]:
    """The p-values of each test for the samples of a block: (BLOCK,) by test."""
    population, (a, b), seeds = cell.sample(block)
    problems = Problems.from_arrays(population.metric, a, b, Units(), seeds)
    resampling = Resampling(n_resamples, seeds, 1)
    plans = {test: plan_of(test) for test in tests}
    drawn = {test: plan for test, plan in plans.items() if plan.test.replicates == "draws"}
    found = {
        test: np.asarray(run_batch(plans[test], problems, resampling).pvalue) for test in tests if test not in drawn
    }
    if drawn:  # tests on the same draws, which are made once
        each = [
            [run_on_test_set(plan, replicates, ONE_PAIR).pvalue[0] for plan in drawn.values()]
            for _, replicates in problems.enumerate_replicates(resampling)
        ]
        found |= dict(zip(drawn, np.transpose(each), strict=True))
    return found


def rejections(cell: Cell, block: int, tests: Sequence[str], n_resamples: int) -> dict[str, Array]:
    """Which samples of a block each test rejects at each level: (levels, BLOCK) by test."""
    found = pvalues(cell, block, tests, n_resamples)
    return {test: p <= np.array(LEVELS)[:, None] for test, p in found.items()}


def plan_of(test: str, adjust: str | None = None) -> Plan:
    """The plan of a test. The default scheme would test some samples exactly; users' samples are larger."""
    shuffled = TESTS[test].replicates == "shuffles"
    return Plan.from_settings(ComparisonSettings(test=test, scheme="iid" if shuffled else "auto", adjust=adjust))


# Results, and the file that keeps them.


class Key(NamedTuple):
    """What identifies a line of the file."""

    part: str
    name: str
    segments: int
    n_resamples: int
    test: str
    block: int


@dataclass
class Results:
    """Which tests rejected which samples: an array (rows, BLOCK) for each key. Of one pair, the rows are levels."""

    rejected: dict[Key, Array]

    @classmethod
    def read(cls, path: Path) -> Results:
        """The results in a file, which need not exist. An incomplete last line is left out."""
        results = cls({})
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        for line in text[: text.rfind("\n") + 1].splitlines():
            *key, rejected = json.loads(line)
            bits = np.array([bytearray.fromhex(row) for row in rejected], dtype=np.uint8)
            results.rejected[Key(*key)] = np.unpackbits(bits, axis=1, count=BLOCK).astype(bool)
        return results

    def of(self, cell: AnyCell, n_resamples: int, tests: Sequence[str], simulations: int) -> dict[str, Array] | None:
        """The rejections of each test in a cell, (rows, n), for the first n samples that all tests have had.

        n is at most ``simulations``. None if a test has had none.
        """
        found: dict[str, list[Array]] = {test: [] for test in tests}
        for block in blocks(simulations):
            keys = [Key(*_fields(cell), n_resamples, test, block) for test in tests]
            if not all(key in self.rejected for key in keys):
                break
            for key in keys:
                found[key.test].append(self.rejected[key])
        if not all(found.values()):
            return None
        return {test: np.concatenate(arrays, axis=1)[:, :simulations] for test, arrays in found.items()}


def blocks(simulations: int) -> range:
    """The blocks that hold a number of samples."""
    return range(-(-simulations // BLOCK))


# From a cell, the number of a block, tests and R to the rejections of each test: (rows, BLOCK).
Rejections: TypeAlias = Callable[[C, int, Sequence[str], int], dict[str, Array]]


def _lines(run: Rejections[C], cell: C, block: int, tests: Sequence[str], n_resamples: int) -> list[str]:
    """The lines of the file for one block."""
    return [
        json.dumps(
            [*Key(*_fields(cell), n_resamples, test, block), [np.packbits(row).tobytes().hex() for row in rejected]]
        )
        for test, rejected in run(cell, block, tests, n_resamples).items()
    ]


def _fields(cell: AnyCell) -> tuple[str, str, int]:
    return cell.part, cell.name, cell.segments


def simulate(
    run: Rejections[C],
    chosen: Mapping[C, Sequence[str]],
    simulations: int,
    n_resamples: int,
    path: Path,
    jobs: int,
) -> Iterator[tuple[int, int]]:
    """Run the blocks that a file lacks, and append each to it; yields how many are done, and of how many.

    ``chosen`` has the tests of each cell. Blocks are run in their order, so that all cells have results early.
    """
    _drop_partial_line(path)
    known = Results.read(path).rejected
    missing: dict[tuple[C, int], list[str]] = defaultdict(list)
    for block in blocks(simulations):
        for cell, tests in chosen.items():
            for test in tests:
                if Key(*_fields(cell), n_resamples, test, block) not in known:
                    missing[cell, block].append(test)
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool, path.open("a", encoding="utf-8") as file:
        running = [
            pool.submit(_lines, run, cell, block, wanted, n_resamples) for (cell, block), wanted in missing.items()
        ]
        try:
            for done, lines in enumerate(as_completed(running), 1):
                print(*lines.result(), sep="\n", file=file, flush=True)
                yield done, len(running)
        finally:
            pool.shutdown(cancel_futures=True)  # after Ctrl-C, do not run what is waiting


def _drop_partial_line(path: Path) -> None:
    """Remove a last line that an interrupted run did not finish, so that nothing is appended to it."""
    if path.exists():
        text = path.read_bytes()
        os.truncate(path, text.rfind(b"\n") + 1)


def parsed_with_common(
    parser: ArgumentParser, arguments: Sequence[str] | None, *, simulations: int, n_resamples: int, results: str
) -> Namespace:
    """The arguments, with the options that all studies have and these defaults."""
    parser.add_argument(
        "--simulations", type=int, default=simulations, metavar="N", help="per cell (default: %(default)s)"
    )
    parser.add_argument("--n-resamples", type=int, default=n_resamples, metavar="R", help="default: %(default)s")
    parser.add_argument("--jobs", type=int, default=cores(), metavar="N", help="processes (default: one per core)")
    parser.add_argument(
        "--results",
        type=Path,
        default=Path(results),
        metavar="FILE",
        help="JSON lines to continue and to append to (default: %(default)s)",
    )
    parser.add_argument("--no-run", action="store_true", help="only print the tables of what FILE has")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write a dated record as well")
    parsed = parser.parse_args(arguments)
    for name in ("simulations", "n_resamples", "jobs"):
        if getattr(parsed, name) < 1:
            parser.error(f"--{name.replace('_', '-')} must be at least 1, got {getattr(parsed, name)}")
    for path in (parsed.results, parsed.markdown):
        if path is not None and not path.absolute().parent.is_dir():
            parser.error(f"there is no folder {path.parent}")  # checked before the simulations, not after
    return parsed


def run_program(
    title: str,
    command_line: str,
    options: Namespace,
    run: Rejections[C],
    chosen: Mapping[C, Sequence[str]],
    report: Callable[[Namespace, Results], str],
) -> int:
    """Run what is missing, print the tables, and write the record if one was asked for."""
    try:
        find()
    except MissingDataError as missing:
        print(missing, file=sys.stderr)
        return 2
    facts = circumstances()
    if not options.no_run:
        work = simulate(run, chosen, options.simulations, options.n_resamples, options.results, options.jobs)
        for done, total in work:
            if sys.stderr.isatty():
                print(f"\r{done:,} of {total:,} blocks", end="", file=sys.stderr)
    tables = report(options, Results.read(options.results))
    print(f"\n{tables}")
    if options.markdown is not None:
        options.markdown.write_text(dated_record(title, facts, command_line, tables), encoding="utf-8")
    return 0


def command(program: str, options: Namespace, defaults: Mapping[str, object]) -> str:
    """The command that repeats a run, without paths of this machine and options that have their defaults."""
    arguments = ["--simulations", str(options.simulations), "--n-resamples", str(options.n_resamples)]
    for name, default in defaults.items():
        if getattr(options, name) != default:
            arguments += [f"--{name}", *map(str, getattr(options, name))]
    return shlex.join(["python", "-m", f"benches.simulations.{program}", *arguments])
