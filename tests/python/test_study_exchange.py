"""The study of exchange units: its model, its fast paths, the published sizes, and runs of a real system."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from known import known
from reshuffle import SegmentScores, StudyResult, compare_runs, derive_seed, read_json
from reshuffle.inference.exchange import EXCHANGES
from reshuffle.results.studies import ExchangeRate
from reshuffle.settings import Resampling
from reshuffle.study import exchange
from reshuffle.study.run_model import RunModel, RunPool, SimulatedRuns, size_for_ratio, size_of_splits, variance_ratio

# The type-I errors at .05 that were measured with another implementation (1,000 simulations are assumed): exchange
# unit, n, ρ, τ, rate. τ² = .6 is the variance between runs that both rates "with run variance on top" imply.
PUBLISHED = [
    ("cell", 3, 0.54, 0.0, 0.170),
    ("pooled", 3, 0.54, 0.0, 0.217),
    ("segment", 3, 0.54, 0.0, 0.044),
    ("multeval", 3, 0.54, 0.0, 0.184),
    ("cell", 5, 0.54, 0.0, 0.262),
    ("segment", 5, 0.54, 0.0, 0.045),
    ("multeval", 5, 0.54, 0.0, 0.294),
    ("cell", 3, 0.54, math.sqrt(0.6), 0.230),
    ("segment", 3, 0.54, math.sqrt(0.6), 0.084),
    # standard deviations between runs of 0, .3 and .7 with a sampling standard deviation of .3
    ("segment", 5, 0.0, 0.0, 0.059),
    ("segment", 5, 0.0, 1.0, 0.138),
    ("segment", 5, 0.0, 0.7 / 0.3, 0.406),
]


def rates_of(result: StudyResult, **fields: object) -> list[ExchangeRate]:
    return [
        rate
        for rate in result.tables["exchange_sizes"]
        if all(getattr(rate, name) == value for name, value in fields.items())
    ]


def components_of(model: RunModel, simulations: int, seed: int = 1) -> Any:
    return np.stack([model.components(derive_seed(seed, "simulation", i)) for i in range(simulations)])


def test_correlation_and_standard_deviation_between_runs_are_those_of_the_composed_scores() -> None:
    model, size = RunModel(2, 400), 400
    scores = model.composed(components_of(model, 500), model.coefficients(0.54, 0.8)) * 1e-4
    a, b = scores[:, :2] - scores[:, 2:], scores.mean(axis=2)
    within = a - a.mean(axis=2, keepdims=True)
    correlations = (within[:, 0] * within[:, 1]).sum(axis=1) / (within**2).sum(axis=2).mean(axis=1)
    assert correlations.mean() == pytest.approx(0.54, abs=0.01)
    # Runs of one configuration: noise and quality, in units of the sampling variance 1/S.
    assert ((b[:, 0] - b[:, 1]) ** 2).mean() / 2 * size == pytest.approx(1 - 0.54 + 0.8**2, rel=0.2)


@pytest.mark.parametrize("name", EXCHANGES)
@pytest.mark.parametrize("n", [3, 10])
def test_all_cells_from_one_pass_agree_with_the_tests_of_each_test_set(name: str, n: int) -> None:
    model, resampling = RunModel(n, 90), Resampling(199, 3, None, None)
    components = components_of(model, 6)
    coefficients = np.array([model.coefficients(*cell) for cell in ((0, 0), (0.5, 0), (0.5, 1), (1, 0.3), (0, 3))])
    runs = SimulatedRuns(model, components, coefficients, "pooled", resampling)
    fast, exact = runs.pvalues(EXCHANGES[name])
    plain, plain_exact = runs.composed_pvalues(EXCHANGES[name])
    assert exact == plain_exact
    # Composed scores are rounded: a few replicates near the difference change sides.
    assert fast == pytest.approx(plain, abs=2.1 / 200)
    assert (np.abs(fast - plain) > 1e-9).mean() < 0.5
    assert len({*fast.ravel()}) > (10 if name != "run" or n > 3 else 3)


@pytest.mark.parametrize("name", ["run", "segment", "cell", "hierarchical"])
def test_p_is_that_of_a_comparison_of_runs(name: str) -> None:
    model, resampling = RunModel(4, 60), Resampling(99, 5, None, None)
    components, coefficients = components_of(model, 3), np.array([model.coefficients(0.3, 0.7)])
    pvalues, _ = SimulatedRuns(model, components, coefficients, "pooled", resampling).pvalues(EXCHANGES[name])
    for at, scores in enumerate(model.composed(components, coefficients[0])):
        outputs = {f"{'ab'[row // 4]}#{row % 4}": own for row, own in enumerate(scores)}
        compared = compare_runs(
            None, {"a": 4, "b": 4}, SegmentScores("quality", outputs), exchange=name, n_resamples=99, seed=5
        )
        assert compared.comparisons[0].pvalue == pytest.approx(pvalues[0, at], abs=0.0201)


@pytest.mark.parametrize(("name", "n", "correlation", "run_sd", "published"), PUBLISHED)
def test_published_sizes_follow_from_the_model(
    name: str, n: int, correlation: float, run_sd: float, published: float
) -> None:
    ratio = known(variance_ratio(name, n, correlation, run_sd))
    expected = size_for_ratio(ratio, 0.05, 999)
    assert abs(published - expected) < 3 * math.sqrt(expected * (1 - expected) / 1000)
    if name != "segment":
        other = known(variance_ratio("segment", n, correlation, run_sd))
        assert abs(published - size_for_ratio(other, 0.05, 999)) > 5 * math.sqrt(0.05 * 0.95 / 1000)


@pytest.mark.slow
def test_published_sizes_by_simulation() -> None:
    """Sizes of tests of runs: simulated with 5,000 test sets, beside those of another implementation."""
    units = tuple(EXCHANGES)
    common: dict[str, Any] = {"exchange": units, "simulations": 5000}
    correlated = exchange(runs=[3, 5], run_sd=[0, math.sqrt(0.6)], correlation=0.54, **common)
    varied = exchange(runs=5, run_sd=[0, 1, 0.7 / 0.3], correlation=0, **common)
    print(correlated, varied, sep="\n")
    for name, n, correlation, run_sd, published in PUBLISHED:
        (rate,) = rates_of(varied if not correlation else correlated, exchange=name, runs=n, run_sd=run_sd)
        assert abs(rate.rate - known(rate.expected)) < 0.02
        assert abs(rate.rate - published) < 3.3 * math.sqrt(rate.rate * (1 - rate.rate) / 1000)
    for rate in [*rates_of(varied, exchange="run"), *rates_of(varied, exchange="hierarchical")]:
        assert 0.03 < rate.rate < 0.06
    for rate in rates_of(correlated, exchange="hierarchical"):
        assert rate.rate < 0.065


@pytest.mark.parametrize(
    ("correlation", "run_sd"),
    [(0.3, 0.5), *(pytest.param(*each, marks=pytest.mark.slow) for each in ((0.0, 0.0), (0.9, 0.2)))],
)
def test_the_size_of_exchanged_runs_is_that_of_all_splits(correlation: float, run_sd: float) -> None:
    study = exchange(
        exchange="run", runs=[4, 5], run_sd=run_sd, correlation=correlation, sizes=30, simulations=600, n_resamples=9
    )
    for rate in rates_of(study):
        assert rate.expected == size_of_splits(rate.runs, correlation, run_sd, 0.05)
        assert rate.rate == pytest.approx(rate.expected, abs=0.04)
    assert size_of_splits(5, 1, 0, 0.05) == 1
    assert size_of_splits(3, 1, 0, 0.05) == 0


def test_the_same_seed_gives_the_same_bytes_on_any_number_of_threads() -> None:
    first, second = (
        exchange(exchange=["run", "pooled", "hierarchical"], runs=4, run_sd=0.5, sizes=40, simulations=60,
                 n_resamples=49, workers=threads)
        for threads in (1, 3)
    )  # fmt: skip
    assert first.render("json") == second.render("json")
    assert first.plot.exchange(runs=4, correlation=0.5).get_ylabel() == "type-I error at α = 0.05"


def runs_of(k: int, size: int, seed: int = 1) -> dict[str, Any]:
    return {f"run{i}": row for i, row in enumerate(np.random.default_rng(seed).integers(0, 50, (k, size)))}


def test_disjoint_sets_of_runs_are_compared_on_drawn_segments() -> None:
    counts = np.random.default_rng(2).integers(0, 9, (7, 30, 2))
    pool = RunPool([SegmentScores("x", {"any": [0.0, 1.0]})], [counts], 3, 20, "replace")
    seen, drawn = set(), []
    for i in range(300):
        seed = derive_seed(1, "simulation", i)
        split, units = pool.split(seed), pool.units(seed)
        assert (len({*split}), len(units)) == (6, 20)
        assert pool.unordered(split) == pool.unordered(split[3:] + split[:3])
        seen.add(pool.unordered(split))
        drawn.append(units)
        data = pool.data(seed, Resampling(9, 1, None, None))
        assert data.n_runs == (3, 3)
        assert (data.counts == counts[np.array(split)][:, units]).all()
    assert len(seen) > 60  # of 70
    assert np.bincount(np.concatenate(drawn), minlength=30).min() > 140
    subset = RunPool(pool.metrics, pool.counts, 3, 20, "subset").units(4)
    assert (np.diff(subset) > 0).all()
    assert (RunPool(pool.metrics, pool.counts, 3, 30, "fixed").units(4) == np.arange(30)).all()


def test_runs_of_one_system_never_differ() -> None:
    outputs = runs_of(10, 60)
    study = exchange(metrics=SegmentScores("quality", outputs), runs=[2, 5], simulations=60, n_resamples=59)
    assert study.plan["systems"] == [*outputs]
    assert {rate.exchange for rate in rates_of(study)} == {name for name in EXCHANGES if name != "multeval"}
    for rate in rates_of(study, runs=5):
        # The runs differ on this pool, and not all units expect that.
        expects = rate.exchange in ("run", "welch", "hierarchical", "hierarchical-t")
        assert rate.verdict == ("at its level" if expects else "liberal")
        assert (rate.run_sd, rate.correlation, rate.expected) == (None, None, None)
    assert [rate.rate for rate in rates_of(study, runs=2, exchange="run")] == [0.0]
    assert read_json(study.render("json")) == study


def test_a_rate_of_real_runs_is_that_of_comparisons() -> None:
    quality = SegmentScores("quality", runs_of(6, 40))
    options: dict[str, Any] = {"exchange": "segment", "n_resamples": 49}
    study = exchange(metrics=quality, runs=2, simulations=40, alphas=0.2, **options)
    pool = RunPool([quality], [quality.counts_of(list(quality.counts))], 2, 40, "replace")
    rejections = 0
    for i in range(40):
        seed = derive_seed(12345, "simulation", i)
        scores = pool.counts[0][:, pool.units(seed), 0]
        named = {f"{'ab'[at // 2]}#{at % 2}": scores[run] for at, run in enumerate(pool.split(seed))}
        compared = compare_runs(None, {"a": 2, "b": 2}, SegmentScores("quality", named), seed=seed, **options)
        rejections += compared.comparisons[0].pvalue <= 0.2
    assert rates_of(study)[0].rate == rejections / 40
