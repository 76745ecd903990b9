"""Benchmarks of single calls of the Python interface: ``python -m benches.calls --help``.

``cargo bench`` times the kernels without Python, ``benches.races`` compares with other tools. These also show
the cost of the Python bindings: checking and converting arguments, reading Python strings, making results.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest
from numpy.typing import NDArray
from pytest_benchmark.fixture import BenchmarkFixture

import reshuffle
from benches.data import BASELINE, OTHER, MissingDataError, find
from reshuffle import study, tune
from reshuffle.data.demo_lists import write_demo_lists
from reshuffle.execution import Execution
from reshuffle.results.studies import StudyResult
from reshuffle.study import testing
from reshuffle.study.experiments import Experiment, Population, Selection

Counts: TypeAlias = NDArray[np.int64]

try:
    FILES = find()
except MissingDataError as missing:
    pytest.skip(str(missing), allow_module_level=True)

BLEU = reshuffle.metric("bleu")
SIMULATIONS = 50
TABLE_SIMULATIONS = 200


@pytest.fixture(scope="module")
def references() -> list[list[str]]:
    return FILES.references()


@pytest.fixture(scope="module")
def systems() -> dict[str, list[str]]:
    return FILES.outputs()


@pytest.fixture(scope="module")
def pair(references: list[list[str]], systems: dict[str, list[str]]) -> tuple[Counts, Counts]:
    other, baseline = BLEU.suff_stats(references, [systems[OTHER], systems[BASELINE]])
    # SciPy is imported for the first p-value; without this call, the first benchmark would include the import.
    reshuffle.approximate_randomization(other, baseline, BLEU, n_resamples=1)
    return other, baseline


def test_read_corpus(benchmark: BenchmarkFixture) -> None:
    """Reading 17 files of 3,004 lines is pure Python and takes a sizeable part of the time of counting them."""
    corpus = benchmark(reshuffle.read_corpus, [FILES.reference], FILES.systems)
    assert len(FILES.systems) == len(corpus.systems)


@pytest.mark.parametrize(
    ("name", "n_systems"),
    [("bleu", 1), ("bleu", 16), *((name, 1) for name in ("chrf", "chrf++", "ter", "gtm", "nist", "sentbleu"))],
)
def test_count(
    benchmark: BenchmarkFixture, references: list[list[str]], systems: dict[str, list[str]], name: str, n_systems: int
) -> None:
    """Counting one system includes the whole cost of the references; sixteen in one call share it and all cores."""
    metric = reshuffle.metric(name)
    counts = benchmark(metric.suff_stats, references, list(systems.values())[:n_systems])
    assert (n_systems, len(references[0]), len(metric.columns)) == counts.shape


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
    counts = metric.suff_stats(references, [systems[OTHER], systems[BASELINE]])[:, :n_segments]
    options: dict[str, Any] = {"test": "ar-studentized" if studentized else "ar", "scheme": "iid", "workers": 1}
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


@pytest.mark.parametrize("scoring", ["ter", "100 * edits / ref_len", "100 * exp(min(0, 1 - ref_len / edits))"])
def test_draws_of_a_formula_as_text(benchmark: BenchmarkFixture, scoring: str) -> None:
    """A formula as text should take at most twice as long as the same one of the registry, which is the first."""
    length = np.random.default_rng(0).integers(5, 40, 3000)
    counts = {
        name: np.stack([np.random.default_rng(i).binomial(length, 0.3), length], 1) for i, name in enumerate("ab")
    }
    own = reshuffle.FromCounts("x", counts, scoring, columns=None if scoring == "ter" else ["edits", "ref_len"])
    options: dict[str, Any] = {"test": "bootstrap", "interval": None, "n_resamples": 10_000}
    assert benchmark(lambda: reshuffle.compare(metrics=own, **options)).comparisons


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


FORMS: Mapping[str, Mapping[str, Any]] = {
    "p alone": {"test": "ar:scheme=iid"},
    "maxT": {"test": "ar:scheme=iid", "adjust": "maxt"},
    "studentized maxT": {"test": "ar-studentized:scheme=iid", "adjust": "maxt"},
    "delta intervals": {"test": "ar:scheme=iid", "interval": "delta"},
    "auto": {"test": "ar"},
}


@pytest.mark.parametrize(
    ("name", "form"),
    [*(("bleu", form) for form in FORMS if form != "auto"), *(("ter", form) for form in ("p alone", "auto"))],
)
def test_all_pairs(
    benchmark: BenchmarkFixture, references: list[list[str]], systems: dict[str, list[str]], name: str, form: str
) -> None:
    """All 28 pairs of eight systems from counts. maxT takes a second pass, which standardizes by the spreads of the
    first; studentized, every pair has sums of its own. The exact p-values of ``auto``, for TER's one column that
    differs, should not make users wait."""
    few = dict(list(systems.items())[:8])
    counts = dict(zip(few, reshuffle.metric(name).suff_stats(references, list(few.values())), strict=True))
    options = {"adjust": None, "interval": None, "all_pairs": True, **FORMS[form]}
    metrics = reshuffle.FromCounts(name, counts, name)
    result = benchmark(reshuffle.compare, metrics=metrics, n_resamples=10_000, **options)
    assert len(result.comparisons) == 28


@pytest.mark.parametrize("way", ["without", "with", "from"])
def test_checkpoint(benchmark: BenchmarkFixture, tmp_path: Path, way: str) -> None:
    """A study with a checkpoint should take as long as without, and next to nothing from its finished file. The time of
    the processor (``--benchmark-timer=time.process_time``) has no waits for the disk."""
    scores = np.random.default_rng(1).random((2, 2000)).round(2)
    quality = reshuffle.SegmentScores("quality", {"a": scores[0], "b": scores[1]})
    files = (tmp_path / f"{i}.checkpoint" for i in count())
    finished = next(files)

    def run(checkpoint: Path | None) -> StudyResult:
        options: dict[str, Any] = {"simulations": SIMULATIONS, "n_resamples": 999, "workers": 1}
        return study.type1(metrics=quality, tests=["ar", "bootstrap-shift"], checkpoint=checkpoint, **options)

    if way == "from":
        run(finished)
    if way == "with":
        result = benchmark(lambda: run(next(files)))
    else:
        result = benchmark(run, finished if way == "from" else None)
    assert result.plan["simulations"] == SIMULATIONS


# The tests of a table of sizes: those of a study by default, and ``ar-studentized``.
TABLE = ("ar", "ar-studentized", "bootstrap-both", "bootstrap", "bootstrap-shift")


@pytest.mark.parametrize("threads", [1, None], ids=["1 thread", "all threads"])
@pytest.mark.parametrize("tests", [TABLE, *((test,) for test in TABLE[:4])], ids=["table", *TABLE[:4]])
@pytest.mark.parametrize("other", ["ter", "chrf"])
def test_simulations(
    benchmark: BenchmarkFixture,
    references: list[list[str]],
    systems: dict[str, list[str]],
    tests: Sequence[str],
    other: str,
    threads: int | None,
) -> None:
    """Test sets of 500 segments, tested under BLEU and another metric with R = 999. The bootstrap tests share their
    draws, so a table costs little more than the draws and both tests of shuffles."""
    metrics = [BLEU, reshuffle.metric(other)]
    outputs = [systems[OTHER], systems[BASELINE]]
    population = Population("pair", metrics, [metric.suff_stats(references, outputs) for metric in metrics])
    experiment = Experiment([population], Selection("replace", 500), 1)
    study = testing.Testing(tests, 999, execution=Execution(threads=threads))
    tested = benchmark(study.run, experiment, TABLE_SIMULATIONS)
    assert tested.pvalue.shape == (len(tests), 2, TABLE_SIMULATIONS)


@pytest.mark.parametrize("name", ["chrf", "bleu"])
def test_mbr(benchmark: BenchmarkFixture, tmp_path: Path, name: str) -> None:
    """Minimum Bayes risk decoding compares all pairs of the entries of each list."""
    lists = tune.read_nbest(write_demo_lists(str(tmp_path))[0])
    assert len(benchmark(tune.mbr, lists, name).utilities) == len(lists)


@pytest.mark.parametrize("module", ["numpy", "reshuffle"])
def test_import(benchmark: BenchmarkFixture, module: str) -> None:
    """``import reshuffle`` in a new interpreter should take little longer than that of numpy, which it needs."""
    benchmark(subprocess.run, [sys.executable, "-c", f"import {module}"], check=True)
