"""Which test of runs decides, where tests of runs may reject too often, and the simulations that measure it."""

import math
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from benches.simulations.run_size import (
    BLOCK,
    DRAWS,
    SEGMENTS,
    Cell,
    Moments,
    closed_forms,
    hierarchical,
    permutations,
    splits_of,
)
from known import known
from reshuffle import SegmentScores, compare_runs, metric
from reshuffle.inference.exchange import EXCHANGES, NEW_RUNS_AND_SEGMENTS
from reshuffle.inference.run_tests import run_caveats, run_outcome
from reshuffle.resampling import CountSample
from reshuffle.resampling.run_linear import one_level
from reshuffle.resampling.runs import RunData
from reshuffle.seeds import derive_seed
from reshuffle.settings import Resampling, RunSettings

Array = NDArray[np.float64]
ALPHA = 0.05
HIERARCHICAL = ("hierarchical", "hierarchical-t")


def data_of(values: Array, n: int) -> RunData:
    """Two systems with these contributions of segments, (n + m, S), whose sums are the scores of runs."""
    names = [str(i) for i in range(len(values))]
    scores = SegmentScores("x", dict(zip(names, np.round(values * values.shape[1], 6), strict=True)))
    sample = CountSample.from_counts(scores, scores.counts_of(names))
    return RunData(("a", "b"), (n, len(values) - n), [sample], Resampling(DRAWS, 3, 1))


def rejects(name: str, data: RunData) -> bool:
    _, outcome = run_outcome(data, [(0, 1)], EXCHANGES[name], RunSettings(statistic="mean"))
    return bool(outcome.pvalue[0] <= ALPHA)


@pytest.mark.parametrize("cell", [Cell(3, 5, 3, 1, 0.1, "normal"), Cell(2, 5, 1, 0.3, 0.5, "skewed")])
def test_the_simulation_tests_what_the_package_does(cell: Cell) -> None:
    rng = np.random.default_rng(5)
    values = cell.contributions(rng)
    values[::3, : cell.n] += 2.5 / SEGMENTS  # so that many are rejected
    of = Moments.of(values, cell.n)
    found = {**closed_forms(of), **permutations(of, splits_of(cell.n, cell.m, rng))}
    drawn = hierarchical(values, of, rng)["hierarchical"]
    agreeing = 0
    for i in range(40):
        data = data_of(values[i], cell.n)
        spread = data.covariances[0].of_difference(0, 1)
        assert (of.variance[i], of.of_draws[i]) == pytest.approx((spread.variance, spread.of_draws), rel=1e-3)
        for name, own in (("welch", "Welch"), ("hierarchical-t", "hierarchical-t"), ("run", "studentized")):
            assert rejects(name, data) == found[own][i], name
        agreeing += rejects("hierarchical", data) == drawn[i]
    assert agreeing >= 38  # the draws are others
    assert 10 < found["Welch"].sum() < BLOCK - 10


@pytest.mark.parametrize("numbers", [(2, 2), (2, 5), (3, 3)])
@pytest.mark.parametrize("both", [False, True])
def test_runs_that_make_all_of_the_variance_are_not_certain(numbers: tuple[int, int], both: bool) -> None:
    """Draws of two runs have few values: the difference exceeds all of them, though it is within the noise."""
    n, m = numbers
    scores = np.concatenate([np.linspace(-1, 1, n), np.linspace(-1, 1, m) * both])
    of_mean = [own.var(ddof=1) / len(own) for own in (scores[:n], scores[n:])]
    scores[:n] += 2.2 * math.sqrt(sum(of_mean))
    values = scores[:, None] / SEGMENTS + np.random.default_rng(1).normal(size=(n + m, SEGMENTS)) * 1e-5
    data = data_of(values * 1e3, n)
    settings = RunSettings(statistic="mean")
    found = {name: run_outcome(data, [(0, 1)], EXCHANGES[name], settings)[1].pvalue[0] for name in HIERARCHICAL}
    assert found["hierarchical-t"] > 0.07
    assert found["hierarchical"] > found["hierarchical-t"] - 1 / (DRAWS + 1)
    low, of_t = (EXCHANGES[name].interval.ends(data, 0, (0, 1), "mean", 0.95)[0] for name in HIERARCHICAL)
    assert low < 0  # as p > .05
    assert low == pytest.approx(of_t, rel=0.1)


@pytest.mark.parametrize(
    ("numbers", "beside"),
    [((2, 2), False), ((2, 8), True), ((3, 3), False), ((4, 4), True), ((3, 10), True), ((10, 10), True)],
)
@pytest.mark.filterwarnings("ignore::reshuffle.InputWarning")
def test_auto_asks_the_same_question_with_any_number_of_runs(numbers: tuple[int, int], beside: bool) -> None:
    rng, systems = np.random.default_rng(1), dict(zip("ab", numbers, strict=True))
    outputs = [f"{name}#{run}" for name, n in systems.items() for run in range(n)]
    ratings = {name: rng.normal(rng.normal(0, 0.5), 1, 40) for name in outputs}
    result: Any = compare_runs(None, systems, SegmentScores("rating", ratings), n_resamples=199)
    units = result.plan["exchange"]
    assert units == ["hierarchical", "welch", *(["run"] if beside else []), "segment", "pooled"]
    assert result.plan["questions"]["hierarchical"] == NEW_RUNS_AND_SEGMENTS == "would new runs on new segments differ?"
    text = " ".join(result.render().split())
    assert "differences from a: would new runs on new segments differ? (p by the hierarchical bootstrap)" in text
    assert text.index("would new runs on new segments differ?") < text.index("other tests")


@cache
def noted(cell: Cell, exchange: str, kind: str) -> float:
    """The share of samples of a cell in which the test has the note."""
    values = cell.contributions(np.random.default_rng(7))[:40]
    return float(np.mean([kind in run_caveats(EXCHANGES[exchange], data_of(own, cell.n), 0, (0, 1)) for own in values]))


@pytest.mark.parametrize(
    ("n", "m", "ratio", "correlation"),
    [(3, 3, 5, 0.0), (3, 5, 3, 0.1), (3, 10, 5, 0.1), (5, 10, 3, 0.1), (10, 10, 5, 0.0), (2, 10, 5, 0.5)],
)
@pytest.mark.parametrize("exchange", ["hierarchical", "hierarchical-t"])
def test_data_that_are_rejected_too_often_have_the_note(
    n: int, m: int, ratio: float, correlation: float, exchange: str
) -> None:
    assert noted(Cell(n, m, ratio, 3, correlation, "skewed"), exchange, "skewed-runs") >= 0.9
    assert noted(Cell(10, 10, 1, 0.1, 0.5, "normal"), exchange, "skewed-runs") == 0


@pytest.mark.parametrize(("n", "m"), [(2, 5), (3, 5), (3, 10), (5, 5), (5, 10)])
def test_whole_runs_have_a_note_where_unequal_spreads_matter(n: int, m: int) -> None:
    for correlation in (0.0, 0.5):
        assert noted(Cell(n, m, 3, 1, correlation, "normal"), "run", "unequal-spreads") == 1
    assert noted(Cell(n, m, 3, 1, 0, "normal"), "welch", "unequal-spreads") == (0 if one_level(n, m) else 1)
    assert noted(Cell(n, m, 3, 1, 0, "normal"), "hierarchical", "unequal-spreads") == 0


# --- Sizes and coverage of the hierarchical bootstrap


SIMULATIONS, REPLICATES = 4000, 399
# Four standard errors of a simulated rate of α.
ERROR = 4 * math.sqrt(ALPHA * (1 - ALPHA) / SIMULATIONS)

# With few runs of the same spread, the test is conservative: the least size that is expected, by the number of runs.
LEAST = {3: 0.025, 5: 0.035, 10: 0.045}

Simulated = Callable[[np.random.Generator, int], CountSample]


def rates_of(simulate: Simulated, n: int, statistic: str, truth: float = 0.0) -> dict[str, float]:
    """The share of rejections of ``hierarchical`` and ``segment``, and the coverage of the interval of the first."""
    rejected, covered = dict.fromkeys(("hierarchical", "segment"), 0), 0
    for i in range(SIMULATIONS):
        sample = simulate(np.random.default_rng([23, n, i]), n)
        resampling = Resampling(REPLICATES, derive_seed(5, "simulation", i), 1)
        data = RunData(("a", "b"), (n, n), [sample], resampling)
        for name in rejected:
            p = run_outcome(data, [(0, 1)], EXCHANGES[name], RunSettings(statistic=statistic))[1].pvalue[0]
            rejected[name] += p <= ALPHA
        interval = known(EXCHANGES["hierarchical"].interval.of(data, 0, (0, 1), statistic, 1 - ALPHA))
        covered += interval.low <= truth <= interval.high
    return {"coverage": covered / SIMULATIONS} | {name: count / SIMULATIONS for name, count in rejected.items()}


def normal(run_sd: float, correlation: float, difference: float = 0.0) -> Simulated:
    """Segment scores of 100 segments: all effects are normal. As in ``benches/simulations/run_coverage.py``."""

    def simulate(rng: np.random.Generator, n: int) -> CountSample:
        s = 100
        values = rng.normal(size=(2 * n, s)) * math.sqrt((1 - correlation) / 2)
        values[:n] += rng.normal(size=s) * math.sqrt(correlation) + difference
        values += rng.normal(size=(2 * n, 1)) * run_sd / math.sqrt(s)
        scores = SegmentScores("x", {str(i): np.round(row, 4) for i, row in enumerate(values)})
        return CountSample.from_counts(scores, scores.counts_of([str(i) for i in range(2 * n)]))

    return simulate


@pytest.mark.slow
@pytest.mark.parametrize("n", [3, 5, 10])
@pytest.mark.parametrize("run_sd", [0, 1])
def test_the_hierarchical_bootstrap_holds_its_level_for_means(n: int, run_sd: float) -> None:
    found = rates_of(normal(run_sd, 0.5), n, "mean")
    print(f"\nmeans, n = {n}, run sd {run_sd}: {found}")
    assert LEAST[n] - ERROR / 2 <= found["hierarchical"] <= ALPHA + ERROR
    assert found["coverage"] == 1 - found["hierarchical"]
    if run_sd:
        assert found["segment"] > 2 * ALPHA - ERROR  # it takes runs as fixed


@pytest.mark.slow
def test_the_interval_covers_a_difference() -> None:
    found = rates_of(normal(0.7, 0.5, 0.3), 3, "pooled", 0.3)
    print(f"\nmeans, n = 3, with a difference: {found}")
    assert 1 - ALPHA - ERROR <= found["coverage"] <= 1 - LEAST[3] + ERROR / 2
    assert found["hierarchical"] > 0.5  # power


@pytest.mark.slow
@pytest.mark.parametrize("n", [3, 5, 10])
def test_the_hierarchical_bootstrap_holds_its_level_for_bleu(n: int, data: Path) -> None:
    """Runs take each segment from one of two WMT17 systems, with probabilities that vary between runs.

    They vary between segments too: by a part that runs of a system share, so that their outputs resemble each other.
    """
    folder = data / "wmt17-en-de"
    references = (folder / "ref.txt").read_text("utf-8").splitlines()
    names = ("uedin-nmt.4722", "online-G.0")
    paths = [next(path for path in (folder / "sys").iterdir() if name in path.name) for name in names]
    texts = {path.name: path.read_text("utf-8").split("\n")[: len(references)] for path in paths}
    bleu = metric("bleu")
    counts = bleu.counted(texts, [references], 1, None)

    def simulate(rng: np.random.Generator, n: int) -> CountSample:
        drawn = counts[:, rng.integers(counts.shape[1], size=300)]
        inclination = rng.normal(size=(2, 1, 300)) + rng.normal(size=(2, n, 300)) + 0.4 * rng.normal(size=(2, n, 1))
        chosen = (inclination > 0).reshape(2 * n, 300).astype(int)
        return CountSample.from_counts(bleu, drawn[chosen, np.arange(300)])

    found = rates_of(simulate, n, "pooled")
    print(f"\nBLEU, n = {n}: {found}")
    # With ten runs, .037 of the tests reject.
    assert LEAST[n] - ERROR <= found["hierarchical"] <= ALPHA + ERROR
    assert found["coverage"] == 1 - found["hierarchical"]
    assert found["segment"] > ALPHA + ERROR / 2
