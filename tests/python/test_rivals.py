"""What benchmarks race against, formulae of agreement and studies: against SciPy, plain loops, and this package."""

from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from scipy.stats import pearsonr, zscore

from benches.races.rivals.meta import (
    calibrated,
    groups_of,
    kendall_b,
    mean_of_groups,
    pair_pvalues,
    pearson,
    permuted,
    soft_accuracy,
)
from benches.races.rivals.study import (
    Setting,
    numpy_ar,
    numpy_bootstrap_shift,
    our_shuffles,
    our_test_set,
    sacrebleu_ar,
    sacrebleu_bootstrap,
    same_pvalues_of_studies,
    scipy_mean,
)
from reshuffle import SegmentScores, approximate_randomization, bootstrap_test, meta, metric
from reshuffle.data.demo import demo_corpus
from reshuffle.study import testing
from reshuffle.study.experiments import Experiment, Population, Selection


def matrix(seed: int) -> tuple[Any, Any, Any]:
    """Scores of four systems by people, with gaps, and by two metrics, with ties."""
    rng = np.random.default_rng(seed)
    human = rng.integers(0, 4, (4, 12)).astype(float)
    human[:, rng.random(12) < 0.3] = np.nan
    # Of quarters, floats have all differences: this package calibrates decimals as whole numbers, its rivals as floats.
    metrics = [np.round(4 * (np.nan_to_num(human) + rng.normal(0, 2, (4, 12)))) / 4 for _ in range(2)]
    return human, metrics[0], metrics[1]


@pytest.mark.parametrize("seed", range(3))
def test_values_are_those_of_this_package(seed: int) -> None:
    human, first, second = matrix(seed)
    systems = ("a", "b", "c", "d")
    tables = [meta.ScoreTable(name, systems, cells, None, True) for name, cells in (("x", first), ("y", second))]
    test_set = meta.JudgedSet.from_scores(tables, human=meta.ScoreTable("people", systems, human, None, True))
    for coefficient, grouping, value in (
        ("pearson", "none", mean_of_groups(pearson)),
        ("kendall-b", "item", mean_of_groups(kendall_b)),
        ("acc23", "item", calibrated),
    ):
        result = meta.segments(test_set, coefficients=coefficient, groupings=grouping, test=None, interval=None)
        for found, cells in zip(result.results, (first, second), strict=True):
            assert found.value == pytest.approx(value(*groups_of(human, cells, grouping)), abs=1e-12)


def test_a_replicate_swaps_standardized_cells() -> None:
    human, a, b = np.array([1.0, 2.0, 4.0]), np.array([3.0, 1.0, 2.0]), np.array([0.0, 5.0, 9.0])
    observed, replicates = permuted([human], [a], [b], mean_of_groups(pearson), 40, np.random.default_rng(1))
    assert observed == pytest.approx(pearsonr(human, a)[0] - pearsonr(human, b)[0])
    first, second = zscore(a), zscore(b)
    possible: list[float] = []
    for swapped in product([False, True], repeat=3):
        one, other = np.where(swapped, second, first), np.where(swapped, first, second)
        possible.append(float(pearsonr(human, one)[0] - pearsonr(human, other)[0]))
    assert all(min(abs(value - each) for value in possible) < 1e-12 for each in replicates)
    assert len({round(float(each), 9) for each in replicates}) == len({round(float(each), 9) for each in possible})


def test_p_values_of_pairs_are_those_of_all_signs() -> None:
    scores = np.array([[1.0, 3.0, 2.0, 5.0], [2.0, 1.0, 1.0, 3.0], [4.0, 4.0, 0.0, 1.0]])
    found = pair_pvalues(scores, 20_000, np.random.default_rng(2))
    for p, (i, j) in zip(found, combinations(range(3), 2), strict=True):
        difference = scores[i] - scores[j]
        exact = np.mean([np.dot(signs, difference) >= difference.sum() for signs in product([-1, 1], repeat=4)])
        assert p == pytest.approx(exact, abs=0.02)
    same, other = soft_accuracy(scores, [scores, -scores], 20_000, np.random.default_rng(3))
    assert same == pytest.approx(1, abs=0.02)
    assert other < 0.7


# --- Studies without reshuffle, as the benchmarks time them: with reshuffle's random numbers they give its p-values


SIMULATIONS = range(3, 9)


@pytest.fixture(scope="module")
def setting() -> Setting:
    corpus = demo_corpus()
    counts = metric("bleu").suff_stats(corpus.references, [corpus.systems["baseline"], corpus.systems["tuned"]])
    return Setting(counts, size=120, n_resamples=99)


def test_rebuilt_test_sets_are_those_of_an_experiment(setting: Setting) -> None:
    population = Population("a, b", [metric("bleu")], [setting.counts])
    experiment = Experiment([population], Selection(size=setting.size), setting.seed)
    for simulation in SIMULATIONS:
        np.testing.assert_array_equal(experiment.data_set(simulation)[0], our_test_set(setting)(simulation))


def test_loops_over_shuffles_give_the_pvalues_of_a_study(setting: Setting) -> None:
    population = Population("a, b", [metric("bleu")], [setting.counts])
    experiment = Experiment([population], Selection(size=setting.size), setting.seed)
    tests = testing.Testing(["ar"], n_resamples=setting.n_resamples)
    expected = tests.run(experiment, len(SIMULATIONS), SIMULATIONS[0]).pvalue[0, 0]
    replay = (setting, SIMULATIONS, our_test_set(setting), our_shuffles(setting))
    same_pvalues_of_studies(expected, numpy_ar(*replay), sacrebleu_ar(*replay))
    assert len(set(expected)) > 3
    with pytest.raises(AssertionError):
        same_pvalues_of_studies(expected, numpy_ar(*replay[:3]))


def test_loops_over_draws_give_the_pvalues_of_their_indices(setting: Setting) -> None:
    expected = []
    for i in SIMULATIONS:
        a, b = setting.test_set(i)
        expected.append(bootstrap_test(a, b, "bleu", test="bootstrap-shift", indices=setting.indices(i)).pvalue)
    for loop in (numpy_bootstrap_shift, sacrebleu_bootstrap):
        np.testing.assert_allclose(loop(setting, SIMULATIONS, indices=setting.indices), expected, rtol=1e-12)


def test_scipy_enumerates_to_the_exact_pvalue() -> None:
    rng = np.random.default_rng(1)
    scores = SegmentScores("x", {name: rng.integers(0, 50, 40) for name in "ab"})
    setting = Setting(scores.counts_of(["a", "b"]), size=9, n_resamples=1000)
    expected = []
    for i in SIMULATIONS:
        a, b = setting.test_set(i)
        expected.append(approximate_randomization(a, b, scores, scheme="exact").pvalue)
    np.testing.assert_allclose(scipy_mean(setting, SIMULATIONS), expected, rtol=1e-12)
