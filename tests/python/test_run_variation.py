"""How much the scores of runs vary, the hierarchical bootstrap, and intervals: each against a slow twin."""

import math
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import optimize, stats

from budgets import budget
from known import known
from reshuffle import FromCounts, SegmentScores, _core
from reshuffle.inference.exchange import EXCHANGES
from reshuffle.inference.run_tests import run_caveats, run_outcome
from reshuffle.inference.run_variation import observed_differences, run_scores
from reshuffle.resampling import runs as resampled_runs
from reshuffle.resampling.runs import RunData
from reshuffle.runs import Runs
from reshuffle.settings import Resampling, RunSettings, Units

Array = NDArray[np.float64]

N_DRAWS, SEED = 60, 11


def run_data(
    scores: Mapping[str, Array], n_draws: int = N_DRAWS, units: Units | None = None, threads: int | None = 1
) -> RunData:
    """Systems with (n, S) segment scores of n runs."""
    own = {f"{name}#{run}": row for name, rows in scores.items() for run, row in enumerate(rows)}
    runs = Runs.from_arguments(None, {name: len(rows) for name, rows in scores.items()}, SegmentScores("x", own))
    return RunData.from_data(runs.data, runs.n_runs, units or Units(), Resampling(n_draws, SEED, threads))


def ratio_data(seed: int, numbers: Sequence[int], n_segments: int, **options: Any) -> RunData:
    """Systems under two ratios of counts: one scored in Rust (the length) and one by a function."""
    rng = np.random.default_rng(seed)
    names = [f"s{i}#{run}" for i, n in enumerate(numbers) for run in range(n)]
    length = rng.integers(3, 30, n_segments)
    counts = {name: np.stack([length + rng.integers(-2, 4, n_segments), length], axis=1) for name in names}
    twice = FromCounts("twice", counts, lambda totals: 200 * totals[..., 0] / totals[..., 1])
    metrics = [FromCounts("length", counts, "length"), twice]
    runs = Runs.from_arguments(None, {f"s{i}": n for i, n in enumerate(numbers)}, metrics)
    return RunData.from_data(
        runs.data, runs.n_runs, Units(), Resampling(**{"n_resamples": N_DRAWS, "seed": SEED} | options)
    )


def slow_draws(data: RunData, m: int) -> tuple[Array, dict[str, Array], dict[str, Array]]:
    """Deviations, fixed and hierarchical scores under metric m: a loop over draws and systems."""
    sample = data.samples[m]
    sizes = None if sample.strata is None else sample.strata.sizes.tolist()
    order = np.arange(data.n_units) if sample.strata is None else sample.strata.order
    n_draws, k = data.resampling.n_resamples, len(data.names)
    scores = np.empty((len(data.totals), n_draws))
    fixed, drawn = ({name: np.empty((k, n_draws)) for name in ("pooled", "mean")} for _ in range(2))
    for r in range(n_draws):
        weights = np.empty(data.n_units, np.int64)
        weights[order] = _core.draw_weights(SEED, r, data.n_units, strata=sizes)
        sums = [sum(int(w) * row for w, row in zip(weights, rows, strict=True)) for rows in sample.counts]
        scores[:, r] = [float(sample.metric.score(each)) for each in sums]
        for system, rows in enumerate(data.rows):
            n = data.n_runs[system]
            taken = max(n - 1, 1)
            stream = _core.stream_indices(_core.derive(SEED, "run", system), 0, n, n_draws * taken)
            chosen = [rows.start + int(i) for i in stream[r * taken : (r + 1) * taken]]
            every = range(rows.start, rows.stop)
            for found, outputs in ((fixed, every), (drawn, chosen)):
                found["pooled"][system, r] = sample.metric.score(sum(sums[i] for i in outputs))
                found["mean"][system, r] = np.mean([scores[i, r] for i in outputs])
    return scores.std(axis=1, ddof=1), fixed, drawn


STRATA, DOCUMENTS = ["news", "talks", "news"] * 4, [0, 1, 2, 3, 4, 5] * 2
RATINGS = dict(zip("ab", np.split(np.random.default_rng(5).normal(size=(5, 12)), [3]), strict=True))


@pytest.mark.parametrize(
    "data",
    [
        *(ratio_data(3, numbers, 17) for numbers in ((1, 2), (3, 3), (2, 4, 1))),
        *(run_data(RATINGS, units=Units(documents, STRATA)) for documents in (None, DOCUMENTS)),
        run_data(RATINGS, units=Units(DOCUMENTS)),
    ],
)
def test_draws_agree_with_a_loop(data: RunData) -> None:
    for m in range(len(data.samples)):
        deviations, fixed, drawn = slow_draws(data, m)
        np.testing.assert_allclose(data.deviations[m], deviations, rtol=1e-9)
        for name in ("pooled", "mean"):
            np.testing.assert_allclose(data.fixed_draws[name][m], fixed[name], rtol=1e-9, atol=1e-12)
            np.testing.assert_allclose(data.hierarchical_draws[name][m], drawn[name], rtol=1e-9, atol=1e-12)


def test_draws_depend_neither_on_batches_nor_on_threads() -> None:
    once = ratio_data(4, (3, 2), 40)
    with mock.patch.object(resampled_runs, "BATCH_CELLS", 100):
        batches = ratio_data(4, (3, 2), 40, threads=3)
        for m in range(2):
            np.testing.assert_allclose(batches.deviations[m], once.deviations[m], rtol=1e-12)
            for name in ("pooled", "mean"):
                np.testing.assert_array_equal(batches.fixed_draws[name][m], once.fixed_draws[name][m])
                np.testing.assert_array_equal(batches.hierarchical_draws[name][m], once.hierarchical_draws[name][m])


def mean_squares(values: Array) -> tuple[float, float, float]:
    """The textbook's estimates for the mean of (n, S) values over columns: between rows, between columns, the rest."""
    n, s = values.shape
    grand = values.mean()
    rows = s * sum((values[i].mean() - grand) ** 2 for i in range(n)) / (n - 1)
    columns = n * sum((values[:, j].mean() - grand) ** 2 for j in range(s)) / (s - 1)
    rest = sum(
        (values[i, j] - values[i].mean() - values[:, j].mean() + grand) ** 2 for i, j in product(range(n), range(s))
    ) / ((n - 1) * (s - 1))
    # of the mean of S columns
    return (rows - rest) / s, (columns - rest) / n / s, rest / s


@given(st.integers(0, 10**6), st.integers(2, 5), st.integers(2, 12))
def test_components_are_the_two_way_moments(seed: int, n: int, s: int) -> None:
    rng = np.random.default_rng(seed)
    values = np.round(rng.normal(size=(n, s)) + 2 * rng.normal(size=s) + rng.normal(size=(n, 1)), 4)
    data = run_data({"a": values})
    parts = known(data.covariances[0].parts(0))
    expected = mean_squares(values)
    assert parts[1:] == pytest.approx(expected, abs=1e-9)
    variation = run_scores(data, 0, 0)
    runs, segments, rest = (max(each, 0) for each in expected)
    assert (variation.between_runs, variation.between_segments, variation.interaction) == pytest.approx(
        (runs, segments, rest), abs=1e-9
    )
    assert variation.effective_test_sets == pytest.approx((runs + segments + rest) / ((runs + rest) / n + segments))
    one = run_scores(run_data({"one": values[:1]}), 0, 0)
    assert (one.between_runs, one.between_segments, one.interaction, one.effective_test_sets) == (None,) * 4


@pytest.mark.parametrize("units", [Units(), Units(strata=["x", "y", "x"] * 4), Units(documents=list("aabbccddeeff"))])
def test_covariances_are_those_of_the_delta_method(units: Units) -> None:
    rng = np.random.default_rng(5)
    data = run_data({"a": rng.normal(size=(3, 12)), "b": rng.normal(size=(2, 12))}, units=units)
    covariances, variances = data.covariances[0].covariances, data.samples[0].linear
    assert np.diag(covariances) == pytest.approx([variances.variance(i) for i in range(5)])
    for i, j in product(range(5), repeat=2):
        difference = covariances[i, i] + covariances[j, j] - 2 * covariances[i, j]
        assert difference == pytest.approx(variances.variance(i, j), abs=1e-12)


def slow_spread(a: Array, b: Array) -> tuple[float, list[tuple[float, float]]]:
    """The variance of mean(a) − mean(b), for (n, S) and (m, S) scores, and its levels: variance, degrees of freedom."""
    s, (n, m) = a.shape[1], map(len, (a, b))
    runs = [rows.mean(axis=1).var(ddof=1) / len(rows) for rows in (a, b)]
    interaction = sum(mean_squares(rows)[2] / len(rows) for rows in (a, b))
    segments = max((a.mean(axis=0) - b.mean(axis=0)).var(ddof=1) / s - interaction, 0)
    if 2 in (n, m) and n != m:
        levels = [(runs[0], n - 1.0), (runs[1], m - 1.0)]
    else:
        levels = [(sum(runs), sum(runs) ** 2 / (runs[0] ** 2 / (n - 1) + runs[1] ** 2 / (m - 1)))]
    return sum(runs) + segments, [*levels, (segments, s - 1.0)]


def slow_t(t: float, levels: Sequence[tuple[float, float]]) -> float:
    """The two-sided p-value: the level at which |t| is the mean of the quantiles, weighted by the variances."""
    weights = [variance for variance, _ in levels]

    def excess(log_p: float) -> float:
        each = [stats.t.isf(math.exp(log_p) / 2, degrees) for _, degrees in levels]
        return float(np.average(each, weights=weights)) - abs(t)

    return math.exp(optimize.brentq(excess, -300, 0, xtol=1e-14))


@pytest.mark.parametrize("statistic", ["pooled", "mean"])
@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@given(seed=st.integers(0, 10**6), n=st.integers(2, 5), m=st.integers(2, 5))
@settings(max_examples=budget(15))
def test_t_tests_of_runs_are_scipys_and_a_search(alternative: str, statistic: str, seed: int, n: int, m: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = (np.round(rng.normal(size=(size, 10)) + rng.normal(size=(size, 1)), 4) for size in (n, m))
    data = run_data({"a": a, "b": b})
    chosen = RunSettings(statistic=statistic, alternative=alternative)
    found = {name: run_outcome(data, [(0, 1)], EXCHANGES[name], chosen)[1] for name in ("welch", "hierarchical-t")}
    welch: Any = stats.ttest_ind(a.mean(axis=1), b.mean(axis=1), equal_var=False, alternative=alternative)  # type: ignore[call-overload]
    assert found["welch"].pvalue[0] == pytest.approx(welch.pvalue, rel=1e-6)
    # Satterthwaite's degrees of freedom; SciPy names them from 1.11 on.
    of_a, of_b = (x.mean(axis=1).var(ddof=1) / len(x) for x in (a, b))
    freedom = (of_a + of_b) ** 2 / (of_a**2 / (n - 1) + of_b**2 / (m - 1))
    assert found["welch"].degrees_of_freedom[0] == pytest.approx(freedom, rel=1e-6)
    half, centre = stats.t.ppf(0.95, freedom) * math.sqrt(of_a + of_b), a.mean() - b.mean()
    interval = known(EXCHANGES["run"].interval.of(data, 0, (0, 1), statistic, 0.9))
    assert (interval.low, interval.high) == pytest.approx((centre - half, centre + half), abs=1e-6)
    assert interval.method == "welch-t"
    variance, levels = slow_spread(a, b)
    t = (a.mean() - b.mean()) / math.sqrt(variance)
    both = slow_t(t, levels)
    expected = (
        both if alternative == "two-sided" else both / 2 if (t > 0) == (alternative == "greater") else 1 - both / 2
    )
    assert found["hierarchical-t"].pvalue[0] == pytest.approx(expected, rel=1e-5)
    for outcome in found.values():
        assert [*outcome.n_resamples, *outcome.exceedances, *outcome.exact, *outcome.smallest] == [0, 0, False, 0]


def test_without_any_spread_the_difference_decides() -> None:
    a, b = np.random.default_rng(3).normal(size=(2, 25))
    data = run_data({"a": np.stack([a] * 3), "b": np.stack([b] * 3), "c": np.stack([a] * 4)})
    for name, p in (("welch", 0), ("run", 0.1)):
        _, found = run_outcome(data, [(0, 1), (0, 2)], EXCHANGES[name], RunSettings(statistic="mean"))
        assert found.pvalue.tolist() == [p, 1]
        assert run_caveats(EXCHANGES[name], data, 0, (0, 1)) == ("no-spread",)


@pytest.mark.parametrize(
    ("name", "statistic"),
    [("welch", "mean"), ("hierarchical-t", "mean"), ("hierarchical", "pooled"), ("hierarchical", "mean")],
)
@given(seed=st.integers(0, 10**6), level=st.sampled_from([0.5, 0.8, 0.95]))
@settings(max_examples=budget(50))
def test_the_interval_excludes_zero_exactly_when_the_test_rejects(
    name: str, statistic: str, seed: int, level: float
) -> None:
    rng = np.random.default_rng(seed)
    data = run_data({"a": rng.normal(size=(3, 8)) + rng.normal(), "b": rng.normal(size=(2, 8))}, n_draws=99)
    _, outcome = run_outcome(data, [(0, 1)], EXCHANGES[name], RunSettings(statistic=statistic))
    interval = known(EXCHANGES[name].interval.of(data, 0, (0, 1), statistic, level))
    assert (outcome.pvalue[0] <= round(1 - level, 12)) == (not interval.low <= 0 <= interval.high)
    if name == "hierarchical":
        assert interval.method == "hierarchical"
        assert (interval.low + interval.high) / 2 == pytest.approx(outcome.difference[0])
        assert outcome.degrees_of_freedom[0] == pytest.approx(data.covariances[0].of_difference(0, 1).levels.fewest)


@pytest.mark.parametrize("exchange", ["segment", "pooled", "cell", "multeval"])
def test_intervals_with_fixed_runs_are_percentiles_of_the_draws(exchange: str) -> None:
    data = ratio_data(6, (2, 2), 15, n_resamples=99)
    for m, statistic in product(range(2), ("pooled", "mean")):
        _, fixed, _ = slow_draws(data, m)
        draws = sorted(fixed[statistic][0] - fixed[statistic][1])
        interval = known(EXCHANGES[exchange].interval.of(data, m, (0, 1), statistic, 0.9))
        assert (interval.low, interval.high) == pytest.approx((draws[4], draws[-5]), rel=1e-9)
        assert interval.method == "percentile"


def test_one_run_has_an_interval_only_where_runs_are_fixed() -> None:
    data = ratio_data(6, (1, 3), 15)
    found = {name: EXCHANGES[name].interval.of(data, 0, (0, 1), "pooled", 0.95) is not None for name in EXCHANGES}
    assert found == {name: name not in ("run", "welch", "hierarchical", "hierarchical-t") for name in EXCHANGES}


def test_observed_differences_are_all_experiments() -> None:
    a, b = np.array([1.0, 2, 4]), np.array([0.0, 2.5])
    data = run_data({"b": np.stack([b] * 3, axis=1), "a": np.stack([a] * 3, axis=1)})
    found = {each.n_runs: each for each in observed_differences(data, [(1, 0)], ["x"])}
    assert list(found) == [1, 2, 3, 5, 10]
    for n in (1, 2, 3, 5):
        differences = [np.mean(x) - np.mean(y) for x, y in product(product(a, repeat=n), product(b, repeat=n))]
        each = found[n]
        assert (each.baseline, each.system, each.metric, each.experiments) == ("b", "a", "x", 6**n)
        assert each.mean == pytest.approx(np.mean(differences))
        assert each.standard_deviation == pytest.approx(np.std(differences))
        assert each.standard_deviation == pytest.approx(math.sqrt((a.var() + b.var()) / n))
        assert (each.minimum, each.maximum) == pytest.approx((min(differences), max(differences)))
        assert (each.low, each.high) == pytest.approx(np.quantile(differences, [0.025, 0.975]))
        signs = np.sign(np.round(differences, 9))
        assert each.reversed == pytest.approx(np.mean(signs < 0) + np.mean(signs == 0) / 2)


def test_random_experiments_have_the_variance_of_new_runs() -> None:
    rng = np.random.default_rng(9)
    data = run_data({"a": rng.normal(size=(12, 4)), "b": rng.normal(size=(4, 4))})
    found = {each.n_runs: each for each in observed_differences(data, [(0, 1)], ["x"])}
    assert list(found) == [1, 2, 3, 5, 10]
    scores = [data.samples[0].scores[rows] for rows in data.rows]
    for n, each in found.items():
        expected = math.sqrt(sum(own.var() / n for own in scores))
        assert each.standard_deviation == pytest.approx(expected, rel=0.03)
        assert each.mean == pytest.approx(scores[0].mean() - scores[1].mean(), abs=0.05 * expected)
        assert each.experiments == (48 if n == 1 else 48**2 if n == 2 else 10_000)
