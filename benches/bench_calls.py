"""Benchmarks of single calls of the Python API:

    python -m pytest benches/bench_calls.py --benchmark-only -p no:cacheprovider

``cargo bench`` times the kernels without Python, ``benches/tools.py`` compares with other tools. These benchmarks show
the overhead of the Python bindings: checking and converting arguments, reading Python strings, making results.
"""

from __future__ import annotations

import subprocess
import sys
from typing import Any, TypeAlias

import numpy as np
import pytest
from numpy.typing import NDArray
from pytest_benchmark.fixture import BenchmarkFixture

import reshuffle
from data import BASELINE, OTHER, MissingDataError, find

Counts: TypeAlias = NDArray[np.int64]

try:
    FILES = find()
except MissingDataError as missing:
    pytest.skip(str(missing), allow_module_level=True)

BLEU = reshuffle.metric("bleu")


@pytest.fixture(scope="module")
def references() -> list[list[str]]:
    return FILES.references()


@pytest.fixture(scope="module")
def systems() -> dict[str, list[str]]:
    return FILES.outputs()


@pytest.fixture(scope="module")
def pair(references: list[list[str]], systems: dict[str, list[str]]) -> tuple[Counts, Counts]:
    other, baseline = BLEU.suff_stats([systems[OTHER], systems[BASELINE]], references)
    # SciPy is imported for the first p-value; without this call, the first benchmark would include the import.
    reshuffle.approximate_randomization(other, baseline, BLEU, n_resamples=1)
    return other, baseline


def test_read_corpus(benchmark: BenchmarkFixture) -> None:
    """Reading 17 files of 3,004 lines is pure Python and takes a sizeable part of the time of counting them."""
    corpus = benchmark(reshuffle.read_corpus, [FILES.reference], FILES.systems)
    assert len(FILES.systems) == len(corpus.systems)


@pytest.mark.parametrize("n_systems", [1, 16])
def test_count(
    benchmark: BenchmarkFixture, references: list[list[str]], systems: dict[str, list[str]], n_systems: int
) -> None:
    """Counting one system includes the whole cost of the references; sixteen in one call share it and all cores."""
    counts = benchmark(BLEU.suff_stats, list(systems.values())[:n_systems], references)
    assert (n_systems, len(references[0]), len(BLEU.columns)) == counts.shape


@pytest.mark.parametrize("n_resamples", [1, 10_000])
def test_approximate_randomization(benchmark: BenchmarkFixture, pair: tuple[Counts, Counts], n_resamples: int) -> None:
    """A test with one shuffle is all overhead, which simulations pay for each of thousands of small tests."""
    result = benchmark(reshuffle.approximate_randomization, *pair, BLEU, n_resamples=n_resamples)
    assert n_resamples == result.n_resamples


@pytest.mark.parametrize("n_segments", [500, 3_004])
@pytest.mark.parametrize("studentized", [False, True], ids=["ar", "ar-studentized"])
@pytest.mark.parametrize("name", ["bleu", "chrf", "ter", "nist"])
def test_shuffles(
    benchmark: BenchmarkFixture,
    references: list[list[str]],
    systems: dict[str, list[str]],
    name: str,
    studentized: bool,
    n_segments: int,
) -> None:
    """On one thread, shuffles of ``ar-studentized`` should take at most four times as long as those of ``ar``.
    The time includes that of the constants that no swap changes."""
    metric = reshuffle.metric(name)
    counts = metric.suff_stats([systems[OTHER], systems[BASELINE]], references)[:, :n_segments]
    options: dict[str, Any] = {"studentized": studentized, "scheme": "iid", "threads": 1}
    result = benchmark(reshuffle.approximate_randomization, *counts, metric, n_resamples=10_000, **options)
    assert result.n_resamples == 10_000


@pytest.mark.parametrize("n_resamples", [1, 1_000])
def test_bootstrap_test(benchmark: BenchmarkFixture, pair: tuple[Counts, Counts], n_resamples: int) -> None:
    """The same for bootstrap draws, which cost several times as much as shuffles."""
    result = benchmark(reshuffle.bootstrap_test, *pair, BLEU, n_resamples=n_resamples)
    assert n_resamples == result.n_resamples


def test_bootstrap_test_of_a_formula(benchmark: BenchmarkFixture, pair: tuple[Counts, Counts]) -> None:
    """A metric in Python gets its sums from Rust; this shows the cost of scoring them in Python."""

    def precision(totals: Counts) -> Any:
        return totals[..., 2] / totals[..., 6]

    result = benchmark(reshuffle.bootstrap_test, *pair, precision, n_resamples=1_000)
    assert result.n_resamples == 1_000


def test_bootstrap_interval(benchmark: BenchmarkFixture, pair: tuple[Counts, Counts]) -> None:
    """An interval for a difference is a bootstrap test without the p-value, so the two should cost the same."""
    interval = benchmark(reshuffle.bootstrap_interval, pair[0], BLEU, b=pair[1], n_resamples=1_000)
    assert interval.low < interval.high


@pytest.mark.parametrize("test", ["ar", "bootstrap-both"])
@pytest.mark.parametrize("all_pairs", [False, True], ids=["baseline", "all pairs"])
def test_compare(
    benchmark: BenchmarkFixture, references: list[list[str]], systems: dict[str, list[str]], all_pairs: bool, test: str
) -> None:
    """All 120 pairs share shuffles and draws with the 15 of a baseline, so they cost less than eight times as much.
    p is adjusted by maxT, the default."""
    comparison = benchmark(reshuffle.compare, references, systems, all_pairs=all_pairs, test=test)
    assert len(comparison.comparisons) == (120 if all_pairs else 15)


@pytest.mark.parametrize("module", ["numpy", "reshuffle"])
def test_import(benchmark: BenchmarkFixture, module: str) -> None:
    """``import reshuffle`` in a new interpreter should take little longer than that of numpy, which it needs."""
    benchmark(subprocess.run, [sys.executable, "-c", f"import {module}"], check=True)
