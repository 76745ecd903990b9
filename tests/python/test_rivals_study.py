"""Studies without reshuffle, as the benchmarks time them: with reshuffle's random numbers they give its p-values."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("sacrebleu", reason="benchmarks need sacreBLEU: pip install 'reshuffle[bench]'")

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
from reshuffle import SegmentScores, approximate_randomization, bootstrap_test, derive_seed, metric
from reshuffle.data.demo import demo_corpus
from reshuffle.study import testing
from reshuffle.study.experiments import Experiment
from reshuffle.study.populations import Population, Selection

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


def test_random_numbers_of_numpy_make_a_true_null_hypothesis(setting: Setting) -> None:
    pvalues = numpy_ar(Setting(setting.counts, 50, 39), range(400))
    assert 0.01 <= (pvalues <= 0.05).mean() <= 0.1
    assert derive_seed(setting.seed, "simulation", 3) != setting.seed
