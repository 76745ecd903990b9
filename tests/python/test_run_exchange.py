"""Exchange units of systems with several runs: against slow twins, enumeration and MultEval 0.5.1's p-values."""

import math
import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product
from pathlib import Path
from statistics import variance
from typing import Any, TypeAlias

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budgets import budget
from reshuffle import FromCounts, _core, derive_seed, metric, read_lines
from reshuffle.inference.exchange import EXCHANGES
from reshuffle.inference.run_tests import run_outcome
from reshuffle.metrics.base import Counts, Formula
from reshuffle.resampling import CountSample
from reshuffle.resampling.counting import Data
from reshuffle.resampling.run_exchange import MANY_SPLITS, Exchanged
from reshuffle.resampling.runs import RunData
from reshuffle.settings import Resampling, RunSettings, Units

# A cell is the index of an output, and of a unit. A pseudo-run is a list of cells.
Run: TypeAlias = Sequence[tuple[int, int]]
# A replicate: the pseudo-runs of both systems.
Sides: TypeAlias = tuple[list[Run], list[Run]]

RATIO = metric("length")  # scored in Rust
RATIO_OF_SUMS = Formula("ratio", lambda totals: totals[..., 0] / totals[..., 1])
ROOT = Formula("root", lambda totals: np.sqrt(1 + totals[..., 0] ** 2) / (1 + totals[..., 1]))
SEGMENT_UNITS = ("segment", "pooled", "cell", "multeval")


def run_data(counts: Sequence[Counts], n_resamples: int = 7, seed: int = 3, threads: int | None = None) -> RunData:
    """Systems with these counts, (runs, units, 2), under two metrics."""
    rows = np.concatenate(counts)
    samples = [CountSample.from_counts(RATIO, rows), CountSample.from_counts(ROOT, rows + 1)]
    names = tuple(f"s{system}" for system in range(len(counts)))
    return RunData(names, tuple(map(len, counts)), samples, Resampling(n_resamples, seed, threads))


def random_counts(sizes: Sequence[int], units: int, seed: int, same: float = 0.0) -> list[Counts]:
    """Counts of systems with so many runs. A unit has the same counts in all of them with a probability."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(1, 30, (sum(sizes), units, 2))
    rows[:, rng.random(units) < same] = 5
    return np.split(rows, np.cumsum(sizes)[:-1])


def exchange(name: str, data: RunData, statistic: str, pairs: Sequence[tuple[int, int]] = ((0, 1),)) -> Exchanged:
    return EXCHANGES[name].run(data, pairs, statistic)


def difference(data: RunData, sides: Sides, statistic: str) -> list[float]:
    """The statistic of two lists of pseudo-runs for each metric, cell by cell."""
    scores = []
    for runs in sides:
        sums = np.array([sum(data.counts[output, unit] for output, unit in run) for run in runs])
        if statistic == "pooled":
            scores.append([float(score) for score in data.scored(sums.sum(axis=0))])
        else:
            scores.append([float(np.mean(own)) for own in data.scored(sums)])
    return [x - y for x, y in zip(*scores, strict=True)]


def in_errors(data: RunData, left: Sequence[int], right: Sequence[int], statistic: str) -> list[float]:
    """The difference of two groups of whole runs, divided by its standard error if both have two: for each metric."""
    sides = tuple([[(run, unit) for unit in range(data.n_units)] for run in side] for side in (left, right))
    found = difference(data, sides, statistic)  # type: ignore[arg-type]
    if min(len(left), len(right)) < 2:
        return found
    scores = data.scored(data.totals)
    errors = [
        math.sqrt(sum(np.var([own[run] for run in side], ddof=1) / len(side) for side in (left, right)))
        for own in scores
    ]
    return [d / error for d, error in zip(found, errors, strict=True)]


def outputs(data: RunData) -> tuple[list[int], list[int]]:
    """The outputs of the first two systems."""
    n, m = data.n_runs[:2]
    return list(range(n)), list(range(n, n + m))


def coin(seed: int, replicate: int, unit: int) -> int:
    return int(_core.stream_values(seed, "shuffle", replicate, unit // 64 + 1)[-1]) >> unit % 64 & 1


def swapped(pairs: Sequence[tuple[int, int]], coins: Callable[[int, int], int], units: int) -> Sides:
    """Pseudo-runs of outputs that are paired; those of pair i are swapped in a unit if its coin is 1."""
    sides: Sides = ([], [])
    for i, outputs in enumerate(pairs):
        for side, runs in enumerate(sides):
            runs.append([(outputs[side ^ coins(i, unit)], unit) for unit in range(units)])
    return sides


def by_segment(data: RunData, replicate: int) -> Sides:
    """All outputs of a unit are swapped by the same coin. Unequal numbers: all runs are repeated."""
    a, b = outputs(data)
    common = math.lcm(len(a), len(b))
    paired = [(a[i % len(a)], b[i % len(b)]) for i in range(common)]
    return swapped(paired, lambda _, unit: coin(data.resampling.seed, replicate, unit), data.n_units)


def by_cell(data: RunData, replicate: int) -> Sides:
    """Each run has coins of its own."""
    seeds = [int(derive_seed(data.resampling.seed, "run", run)) for run in range(data.n_runs[0])]
    paired = list(zip(*outputs(data), strict=True))
    return swapped(paired, lambda run, unit: coin(seeds[run], replicate, unit), data.n_units)


def by_position(data: RunData, replicate: int) -> Sides:
    """Position i of a permutation gets the output of label i. The first n positions are the pseudo-runs of a."""
    n, m = data.n_runs[:2]
    labels = _core.permutations(data.resampling.seed, replicate, n + m, data.n_units).tolist()
    runs: list[Run] = [[(of_unit[i], unit) for unit, of_unit in enumerate(labels)] for i in range(n + m)]
    return runs[:n], runs[n:]


def by_label(data: RunData, replicate: int) -> Sides:
    """Outputs whose label is one of the first n are those of a, in one long output."""
    n, m = data.n_runs[:2]
    labels = _core.permutations(data.resampling.seed, replicate, n + m, data.n_units).tolist()
    cells = [(output, unit, label < n) for unit, own in enumerate(labels) for output, label in enumerate(own)]
    x, y = ([(output, unit) for output, unit, is_first in cells if is_first == side] for side in (True, False))
    return [x], [y]


def as_multeval(data: RunData, replicate: int) -> Sides:
    """X has in place i the output π(i) of b if the coin says so, else of a; Y has π⁻¹(i) of the other system."""
    n, units, seed = data.n_runs[0], data.n_units, data.resampling.seed
    labels = _core.permutations(seed, replicate, n, units).tolist()
    words = _core.stream_values(seed, "shuffle", replicate, -(-units // 64) * n).tolist()
    x: list[Run] = []
    y: list[Run] = []
    for i in range(n):
        coins = [words[unit // 64 * n + i] >> unit % 64 & 1 for unit in range(units)]
        x.append([(labels[unit][i] + n * coins[unit], unit) for unit in range(units)])
        y.append([(labels[unit].index(i) + n * (1 - coins[unit]), unit) for unit in range(units)])
    return x, y


TWINS = {
    ("segment", "pooled"): by_segment,
    ("segment", "mean"): by_segment,
    ("pooled", "pooled"): by_label,
    ("pooled", "mean"): by_position,
    ("cell", "pooled"): by_cell,
    ("cell", "mean"): by_cell,
    ("multeval", "pooled"): as_multeval,
}


@given(data=st.data())
@settings(max_examples=budget(25))
@pytest.mark.parametrize(("name", "statistic"), TWINS)
def test_units_are_those_of_their_slow_twins(name: str, statistic: str, data: Any) -> None:
    n = data.draw(st.integers(1, 4))
    m = n if EXCHANGES[name].equal_runs else data.draw(st.integers(1, 4))
    units = data.draw(st.sampled_from([2, 3, 63, 64, 65, 130]))
    of_runs = run_data(
        random_counts([n, m], units, data.draw(st.integers(0, 99))), 3, data.draw(st.integers(0, 2**64 - 1))
    )
    found = exchange(name, of_runs, statistic)
    assert len(found.statistics) == 2
    for replicate in range(3):
        if not found.exact[0]:
            expected = difference(of_runs, TWINS[name, statistic](of_runs, replicate), statistic)
            assert [own[0][replicate] for own in found.statistics] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("statistic", ["pooled", "mean"])
@pytest.mark.parametrize(("n", "m"), [(1, 1), (3, 3), (2, 4), (5, 3)])
def test_few_runs_are_split_in_all_ways(n: int, m: int, statistic: str) -> None:
    data = run_data(random_counts([n, m], 9, 10 * n + m))
    found = exchange("run", data, statistic)
    expected = []
    for left in combinations(range(n + m), n):
        right = [run for run in range(n + m) if run not in left]
        expected.append(in_errors(data, left, right, statistic))
    assert found.exact == [True]
    assert found.studentized == (min(n, m) > 1)
    observed = in_errors(data, range(n), range(n, n + m), statistic)
    for i in (0, 1):
        assert sorted(found.statistics[i][0]) == pytest.approx(sorted(row[i] for row in expected), rel=1e-9, abs=1e-12)
        assert found.statistics[i][0][0] == pytest.approx(observed[i], rel=1e-12)
    _, outcome = run_outcome(data, [(0, 1)], EXCHANGES["run"], RunSettings(statistic=statistic))
    for i in (0, 1):
        count = sum(abs(row[i]) >= abs(observed[i]) * (1 - 1e-9) for row in expected)
        assert (outcome.exceedances[i], outcome.n_resamples[i]) == (count, math.comb(n + m, n))
        assert outcome.pvalue[i] == count / math.comb(n + m, n) >= outcome.smallest[i]


@given(st.lists(st.sampled_from([(1, 3), (2, 3), (1, 7), (3, 7), (5, 9)]), min_size=3, max_size=8), st.integers(1, 7))
@settings(max_examples=budget(60))
@pytest.mark.parametrize("statistic", ["pooled", "mean"])
def test_ties_of_splits_count_as_in_exact_arithmetic(statistic: str, runs: list[tuple[int, int]], n: int) -> None:
    """Many splits are equal here, and floats would differ in their last bits."""
    n = min(n, len(runs) - 1)

    def distance(left: Sequence[int]) -> tuple[bool, Fraction]:
        """Whether t is infinite, and t squared; beside a single run, the difference."""
        sides = [[runs[i] for i in range(len(runs)) if (i in left) == side] for side in (True, False)]
        if statistic == "pooled":
            a, b = (Fraction(sum(x for x, _ in side), sum(y for _, y in side)) for side in sides)
        else:
            a, b = (sum((Fraction(*run) for run in side), Fraction(0)) / len(side) for side in sides)
        if min(map(len, sides)) < 2:
            return False, abs(a - b)
        squared = sum((variance([Fraction(*run) for run in side]) / len(side) for side in sides), Fraction(0))
        if a == b or squared == 0:
            return a != b, Fraction(0)
        return False, (a - b) ** 2 / squared

    splits = list(combinations(range(len(runs)), n))
    expected = sum(distance(left) >= distance(range(n)) for left in splits)
    rows = np.array(runs)[:, None].repeat(2, axis=1)  # two units with the same counts
    data = run_data([rows[:n], rows[n:]])
    _, outcome = run_outcome(data, [(0, 1)], EXCHANGES["run"], RunSettings(statistic=statistic))
    assert (outcome.exceedances[0], outcome.n_resamples[0]) == (expected, len(splits))


def test_the_observed_split_is_one_of_all_in_adjusted_pvalues_too() -> None:
    data = run_data(random_counts([3, 3, 3], 4, 7))
    pairs = [(1, 0), (2, 0), (2, 1)]
    adjustment, outcome = run_outcome(data, pairs, EXCHANGES["run"], RunSettings(adjust="maxt"))
    assert adjustment == "maxt"
    assert outcome.adjusted is not None
    counts = outcome.adjusted * math.comb(6, 3)
    assert counts.tolist() == pytest.approx(np.rint(counts).tolist(), abs=1e-9)
    assert (outcome.adjusted > outcome.pvalue).any()


@pytest.mark.parametrize("statistic", ["pooled", "mean"])
def test_many_runs_are_split_at_random(statistic: str) -> None:
    assert math.comb(18, 9) > MANY_SPLITS
    data = run_data(random_counts([9, 9], 4, 5), n_resamples=5000)
    found = exchange("run", data, statistic)
    assert found.exact == [False]
    for replicate in (0, 1, 4095, 4096, 4999):
        labels = _core.permutations(3, replicate // 4096, 18, min(4096, 5000 - replicate // 4096 * 4096))
        order = labels[replicate % 4096].tolist()
        expected = in_errors(data, order[:9], order[9:], statistic)
        assert [own[0][replicate] for own in found.statistics] == pytest.approx(expected, rel=1e-9, abs=1e-12)
    _, outcome = run_outcome(data, [(0, 1)], EXCHANGES["run"], RunSettings(statistic=statistic))
    assert outcome.smallest == [1 / 5001] * 2  # there are 48,620 splits
    # All splits when R is not smaller than their number; the shares of random ones agree with them.
    every = exchange("run", run_data(random_counts([9, 9], 4, 5), n_resamples=48_620), statistic)
    assert every.exact == [True]
    assert len(every.statistics[0][0]) == 48_620
    for random, exact in zip(found.statistics, every.statistics, strict=True):
        limit = np.quantile(np.abs(exact[0]), 0.9)
        assert float(np.mean(np.abs(random[0]) >= limit)) == pytest.approx(0.1, abs=0.017)  # 4 standard errors


@pytest.mark.parametrize("statistic", ["pooled", "mean"])
@pytest.mark.parametrize(("n", "m"), [(3, 3), (2, 3)])
def test_patterns_of_few_units_are_enumerated(n: int, m: int, statistic: str) -> None:
    counts = random_counts([n, m], 40, 8, same=0.85)
    differing = [unit for unit in range(40) if len({tuple(row[unit]) for own in counts for row in own}) > 1]
    d = len(differing)
    assert 3 <= d <= 8
    data = run_data(counts, n_resamples=2**d)
    found = exchange("segment", data, statistic)
    assert (found.exact, len(found.statistics[0][0])) == ([True], 2**d)
    a, b = outputs(data)
    paired = [(a[i % n], b[i % m]) for i in range(math.lcm(n, m))]
    expected = []
    for pattern in product([0, 1], repeat=d):
        flips = dict(zip(differing, pattern, strict=True))
        expected.append(difference(data, swapped(paired, lambda _, u: flips.get(u, 0), 40), statistic))  # noqa: B023
    for i in (0, 1):
        assert sorted(found.statistics[i][0]) == pytest.approx(sorted(row[i] for row in expected), abs=1e-12)
    assert exchange("segment", run_data(counts, n_resamples=2**d - 1), statistic).exact == [False]


@given(st.sampled_from(sorted(EXCHANGES)), st.sampled_from(["pooled", "mean"]), st.integers(0, 50))
@settings(max_examples=budget(60))
def test_threads_do_not_matter(name: str, statistic: str, seed: int) -> None:
    if statistic not in EXCHANGES[name].statistics:
        return
    counts = random_counts([3, 3, 3], 100, seed)
    one, many = (
        exchange(name, run_data(counts, 70, seed, threads), statistic, [(1, 0), (2, 0), (2, 1)]) for threads in (1, 3)
    )
    for x, y in zip(one.statistics, many.statistics, strict=True):
        assert [values.tobytes() for values in x] == [values.tobytes() for values in y]
    assert one.closed == many.closed
    assert one.together == (one.closed is None)


@pytest.mark.parametrize("name", sorted(EXCHANGES))
def test_identical_systems_get_p_1(name: str) -> None:
    own = random_counts([3], 30, 4)[0]
    data = run_data([own, own], 200)
    for statistic in EXCHANGES[name].statistics:
        _, outcome = run_outcome(data, [(0, 1)], EXCHANGES[name], RunSettings(statistic=statistic))
        # MultEval does not count ties, so it finds them to differ.
        assert outcome.pvalue.tolist() == [1 / 201 if name == "multeval" else 1.0] * 2


@pytest.mark.parametrize("name", ["segment", "pooled", "run"])
def test_copies_of_one_run_are_no_difference(name: str) -> None:
    """Systems with the same outputs, but with unequal numbers of runs. Smoothed BLEU changes when sums are doubled."""
    rows = np.array([[[4, 4, 3, 0, 0, 0, 4, 3, 2, 1], [5, 4, 2, 1, 0, 0, 5, 4, 3, 2], [4, 5, 1, 0, 0, 0, 4, 3, 2, 1]]])
    sample = CountSample.from_counts(metric("bleu"), np.repeat(rows, 3, axis=0))
    data = RunData(("one", "two"), (1, 2), [sample], Resampling(100))
    assert data.score_of(0, "pooled") != data.score_of(1, "pooled")
    assert run_outcome(data, [(0, 1)], EXCHANGES[name], RunSettings())[1].pvalue.tolist() == [1]


@pytest.mark.parametrize(("n", "m"), [(3, 3), (2, 4), (4, 3)])
def test_exchanging_runs_keeps_its_level(n: int, m: int) -> None:
    """Runs of one configuration, however different: over all splits, p <= k/N in no more than k of the N."""
    (pool,) = random_counts([n + m], 12, n)
    pool[0] *= 3  # a run that is unlike the others
    splits = list(combinations(range(n + m), n))
    found = []
    for left in splits:
        right = [run for run in range(n + m) if run not in left]
        data = run_data([pool[list(left)], pool[right]])
        p = run_outcome(data, [(0, 1)], EXCHANGES["run"], RunSettings())[1].pvalue[0]
        found.append(round(p * len(splits)))
        assert p * len(splits) == pytest.approx(found[-1])
    assert all(sum(p <= k for p in found) <= k for k in range(1, len(splits) + 1))
    assert min(found) == (2 if n == m else 1)


@pytest.mark.parametrize("name", sorted(EXCHANGES))
def test_documents_are_exchanged_as_wholes(name: str) -> None:
    """The same as segments whose counts are the sums over the documents."""
    documents = [0, 0, 1, 2, 2, 2, 3, 4, 5, 5]
    rows = np.concatenate(random_counts([2, 2], 10, 6))
    sums = np.stack([[own[np.array(documents) == d].sum(axis=0) for d in range(6)] for own in rows])
    found = []
    for counts, units in ((rows, Units(documents)), (sums, Units())):
        of_metric = FromCounts("ratio", {f"s{i // 2}#{i % 2}": own for i, own in enumerate(counts)}, RATIO_OF_SUMS)
        data = Data.from_arguments(None, None, of_metric)
        found.append(RunData.from_data(data, {"s0": 2, "s1": 2}, units, Resampling(30)))
    of_documents, of_sums = (exchange(name, data, "pooled").statistics[0][0] for data in found)
    assert of_documents.tolist() == of_sums.tolist()


def test_memory_does_not_grow_with_segments_times_replicates() -> None:
    data = run_data(random_counts([3, 3], 4000, 1), 2000)
    for name in (*SEGMENT_UNITS, "run"):
        exchange(name, replace(data, resampling=Resampling(10)), "pooled")
        tracemalloc.start()
        exchange(name, data, "pooled")
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 6 << 20, name  # a byte for each segment of each replicate would be 8 MB


# ------------------------------------------------------------------------------- MultEval's example


@pytest.fixture(scope="module")
def example(data: Path) -> dict[str, list[list[str]]]:
    """The outputs of newstest2010 that MultEval 0.5.1 comes with: three systems with three runs each."""
    folder = data / "multeval-newstest2010-optreps"
    systems = {name: [read_lines(str(folder / name / f"opt{run}.txt")) for run in range(3)] for name in SYSTEMS}
    return {"ref": [read_lines(str(folder / "ref.txt"))], **systems}


SYSTEMS = ("baseline", "sys1", "sys2")
BLEU, TER, LENGTH = (
    metric("bleu", tokenize="none"),
    metric("ter", variant="tercom"),
    metric("length", tokenize="none"),
)


def counted(
    systems: dict[str, list[list[str]]], references: list[list[str]], metrics: Any, n_resamples: int
) -> RunData:
    """Systems with runs, counted under some metrics."""
    texts = {f"{name}#{run}": text for name, runs in systems.items() for run, text in enumerate(runs)}
    data = Data.from_arguments(references, texts, metrics)
    numbers = {name: len(runs) for name, runs in systems.items()}
    return RunData.from_data(data, numbers, Units(), Resampling(n_resamples))


def pvalues(name: str, data: RunData, statistic: str = "pooled") -> list[list[float]]:
    """p of every other system against the first, for each metric."""
    pairs = [(system, 0) for system in range(1, len(data.names))]
    _, outcome = run_outcome(data, pairs, EXCHANGES[name], RunSettings(statistic=statistic))
    found: list[list[float]] = outcome.pvalue.reshape(-1, len(pairs)).tolist()
    return found


def near(p: float, published: tuple[float, float], n_resamples: int) -> bool:
    """Is a p-value within four standard errors of a range? Those who published it used 10,000 shuffles."""
    middle = min(max(p, published[0]), published[1])
    error = math.sqrt(middle * (1 - middle) * (1 / n_resamples + 1 / 10_000))
    return abs(p - middle) <= 4 * error + 1 / 10_000


@pytest.mark.parametrize(
    ("name", "bleu", "ter", "length"),
    [
        ("run", (0.3, 0.3), (0.1, 0.1), (0.8, 0.8)),
        ("segment", (0.01, 0.01), (0.0001, 0.0001), (0.2791, 0.284)),
        ("pooled", (0.0001, 0.0002), (0.0001, 0.0001), (0.049, 0.049)),
        ("cell", (0.0001, 0.0004), (0.0001, 0.0001), (0.0963, 0.097)),
    ],
)
def test_the_example_of_multeval(name: str, bleu: Any, ter: Any, length: Any, counts_of_example: RunData) -> None:
    for p, published in zip(pvalues(name, counts_of_example), (bleu, ter, length), strict=True):
        assert near(p[0], published, 10_000)
        assert p[1] == 1  # sys2 is the baseline


@pytest.fixture(scope="module")
def counts_of_example(example: dict[str, list[list[str]]]) -> RunData:
    systems = {name: example[name] for name in SYSTEMS}
    with pytest.warns(match="identical"):
        return counted(systems, example["ref"], [BLEU, TER, LENGTH], 10_000)


@pytest.mark.parametrize(
    ("a", "b", "published"),
    [
        ("B0", "S1", {BLEU: (0.616, 0.625), TER: (0.247, 0.257)}),
        ("B0", "B1", {BLEU: (0.343, 0.356), LENGTH: (0.0082, 0.0103)}),
        ("B1", "S1", {BLEU: (0.936, 0.940)}),
        ("B01", "S12", {BLEU: (0.0145, 0.0150)}),
        ("B012", "S120", {LENGTH: (0.085, 0.085)}),
        ("B000", "S111", {TER: (0.047, 0.047)}),
    ],
)
def test_the_shuffles_of_multeval(a: str, b: str, published: Any, counts_of_example: RunData) -> None:
    """MultEval 0.5.1 on some runs of its example, 10,000 shuffles each."""
    rows = [3 * "BS".index(side[0]) + int(run) for side in (a, b) for run in side[1:]]
    samples = [
        CountSample.from_counts(sample.metric, sample.counts[rows])
        for sample in counts_of_example.samples
        if sample.metric in published
    ]
    data = RunData((a, b), (len(a) - 1, len(b) - 1), samples, Resampling(10_000))
    for sample, (p,) in zip(samples, pvalues("multeval", data), strict=True):
        assert near(p, published[sample.metric], 10_000)
