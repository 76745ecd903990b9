"""Experiments and tests on them in Rust equal their definition in numpy and the public tests, bit for bit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from budgets import budget
from known import known
from reshuffle import BesagClifford, Formula, _core, approximate_randomization, bootstrap_test, derive_seed, metric
from reshuffle.execution import Execution
from reshuffle.inference.tests import DEFAULT
from reshuffle.metrics.base import Counts
from reshuffle.metrics.precomputed import SegmentScores
from reshuffle.study import testing
from reshuffle.study.experiments import SAMPLING, Experiment, Population, Selection
from reshuffle.study.settings import StudySettings
from reshuffle.types import BootstrapTest

BLEU, TER = metric("bleu"), metric("ter")
SAME = Formula("the same", lambda totals: BLEU.score(totals))


class Twin:
    """The definition of a simulated test set, in numpy."""

    def __init__(self, populations: Sequence[Population], selection: Selection, seed: int) -> None:
        self.populations, self.selection, self.seed = populations, selection, seed

    def units(self, simulation: int) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """The chosen units, and in which of them the two systems are swapped."""
        population = self.populations[simulation % len(self.populations)]
        seed = derive_seed(self.seed, "simulation", simulation)
        n_all = population.n_groups
        n = n_all if self.selection.size is None else self.selection.size
        if self.selection.sampling == "replace":
            chosen = _core.stream_indices(seed, 0, n_all, n, purpose="selection").astype(np.intp)
        elif self.selection.sampling == "subset":
            # The units with the smallest keys, in the order of the population.
            keys = _core.stream_values(seed, "selection", 0, n_all)
            chosen = np.sort(np.argsort(keys, kind="stable")[:n])
        else:
            chosen = np.arange(n_all)
        # The j-th chosen unit is swapped if the stream's j-th 32-bit word is less than swapped·2^32.
        words = _core.stream_values(seed, "assignment", 0, -(-len(chosen) // 2)).view(np.uint32)[: len(chosen)]
        swapped = words < round(self.selection.swapped * 2**32)
        if population.groups is None:
            return chosen, swapped
        members = [np.flatnonzero(population.groups == group) for group in range(n_all)]
        return (
            np.concatenate([members[group] for group in chosen]),
            np.repeat(swapped, [len(members[group]) for group in chosen]),
        )

    def data_set(self, simulation: int) -> list[Counts]:
        """The counts of both systems in a simulated test set: (2, n, K) for each metric."""
        chosen, swapped = self.units(simulation)
        counts = (counts[:, chosen] for counts in self.populations[simulation % len(self.populations)].counts)
        return [np.ascontiguousarray(np.where(swapped[:, None], own[::-1], own)) for own in counts]


def bleu_counts(rng: np.random.Generator, units: int) -> Counts:
    """BLEU counts of a system; some segments are short."""
    lengths = rng.choice([0, 1, 2, 3, 9, 14, 200], units, p=[0.02, 0.02, 0.02, 0.04, 0.5, 0.3, 0.1])
    totals = np.maximum(lengths[:, None] - np.arange(4), 0)
    matches = np.minimum(np.sort(rng.integers(0, 12, (units, 4)))[:, ::-1], totals)
    return np.column_stack([lengths, lengths, matches, totals]).astype(np.int64)


def population(seed: int, units: int, kind: str = "several", groups: bool = False) -> Population:
    """Two systems under BLEU, TER and the mean of real numbers; they agree in some segments."""
    rng = np.random.default_rng(seed)
    a, b = bleu_counts(rng, units), bleu_counts(rng, units)
    b[:, 1] = a[:, 1]  # the same references
    same = rng.random(units) < rng.choice([0, 0.3, 0.97])
    b[same] = a[same]
    ter = rng.integers(0, [[[6, 300]]], (2, units, 2))
    ter[1, :, 1] = ter[0, :, 1]
    ids = None
    if groups:
        _, first, inverse = np.unique(
            rng.integers(0, max(units // 3, 2), units), return_index=True, return_inverse=True
        )
        ids = np.argsort(np.argsort(first))[inverse].astype(np.uint32)
    name, counts = f"population {seed}", np.stack([a, b])
    if kind == "bleu":
        return Population(name, [BLEU], [counts], ids)
    if kind == "formula":
        return Population(name, [SAME], [counts], ids)
    scores = SegmentScores("score", dict(zip("ab", rng.normal(30, 9, (2, units)), strict=True)))
    metrics = [BLEU, TER, scores]
    return Population(name, metrics, [counts, ter, scores.counts_of(["a", "b"])], ids)


SELECTIONS = st.builds(
    Selection,
    sampling=st.sampled_from(SAMPLING),
    size=st.one_of(st.none(), st.integers(2, 40)),
    swapped=st.sampled_from([0.0, 0.25, 0.5, 1.0]),
)


def both(seed: int, selection: Selection, units: int, n_populations: int, groups: bool) -> tuple[Experiment, Twin]:
    """The same experiment in Rust and in numpy."""
    populations = [population(seed + p, units + 7 * p, groups=groups) for p in range(n_populations)]
    if selection.sampling == "fixed" or (groups and selection.size is not None):
        selection = Selection(selection.sampling, None, selection.swapped)
    return Experiment(populations, selection, seed), Twin(populations, selection, seed)


BOTH = st.builds(both, st.integers(0, 10**6), SELECTIONS, st.integers(40, 90), st.integers(1, 3), st.booleans())


def public(twin: Twin, simulation: int, test: str, n: int, seed: int | None = None, **options: Any) -> list[float]:
    """The p-values of a public test of a simulated test set, for each metric."""
    metrics = twin.populations[simulation % len(twin.populations)].metrics
    options |= {"seed": derive_seed(twin.seed, "simulation", simulation) if seed is None else seed}
    tested: Any = approximate_randomization if test in testing.CAN_STOP else bootstrap_test
    return [
        float(tested(a, b, own, test=test, n_resamples=n, **options).pvalue)
        for own, (a, b) in zip(metrics, twin.data_set(simulation), strict=True)
    ]


@settings(max_examples=budget(60))
@given(BOTH, st.integers(0, 2**40))
def test_simulated_test_sets_equal_their_definition(made: tuple[Experiment, Twin], first: int) -> None:
    experiment, twin = made
    for simulation in range(first, first + 4):
        for actual, expected in zip(experiment.units(simulation), twin.units(simulation), strict=True):
            np.testing.assert_array_equal(actual, expected)
        for actual, expected in zip(experiment.data_set(simulation), twin.data_set(simulation), strict=True):
            np.testing.assert_array_equal(actual, expected)


@settings(max_examples=budget(80))
@given(
    BOTH,
    st.sampled_from([1, 5, 20, 63, 64, 99, 130, 513, 1000, 1500]),
    st.sampled_from(["two-sided", "better", "worse"]),
    st.sampled_from(["iid", "subgroup"]) | st.builds(BesagClifford, st.integers(1, 60)),
)
def test_whole_and_stopped_tests_equal_public_tests(
    made: tuple[Experiment, Twin], n: int, alternative: str, how: str | BesagClifford
) -> None:
    experiment, twin = made
    shuffles: dict[str, Any] = {"scheme": how} if isinstance(how, str) else {"scheme": "iid", "stopping": how}
    tests = [*testing.CAN_STOP, *get_args(BootstrapTest)]
    if alternative != "two-sided":
        tests.remove("bootstrap-shift")
    two = Execution(threads=2)
    tested = testing.Testing(tests, n, alternative, execution=two, **shuffles).run(experiment, 5, first=3)
    for i in range(5):
        scores = [
            m.score(c.sum(axis=1)) for m, c in zip(twin.populations[0].metrics, twin.data_set(3 + i), strict=True)
        ]
        if len(twin.populations) == 1:
            assert tested.statistic[:, i].tolist() == [float(a - b) for a, b in scores]
        for t, test in enumerate(tests):
            options = shuffles if test in testing.CAN_STOP else {}
            expected = public(twin, 3 + i, test, n, alternative=alternative, **options)
            assert tested.pvalue[t, :, i].tolist() == expected, test


@pytest.mark.parametrize("rule", [None, BesagClifford(30)], ids=["all", "stopped"])
def test_results_do_not_depend_on_threads_or_on_how_simulations_are_split(rule: BesagClifford | None) -> None:
    experiment, _ = both(5, Selection("replace", 50), 70, 2, False)
    tests = [*testing.CAN_STOP, "bootstrap", "bootstrap-both", "bootstrap-shift"][: None if rule is None else 2]
    options: dict[str, Any] = {"stopping": rule, "weight_sets": 4}

    def tested(threads: int, n: int, first: int) -> testing.Tested:
        of = testing.Testing(tests, 99 if rule is None else 2000, execution=Execution(threads=threads), **options)
        return of.run(experiment, n, first)

    whole, parts = tested(3, 23, 2), [tested(1, n, first) for first, n in ((2, 9), (11, 14))]
    np.testing.assert_array_equal(whole.pvalue, np.concatenate([part.pvalue for part in parts], axis=2))
    np.testing.assert_array_equal(whole.statistic, np.concatenate([part.statistic for part in parts], axis=1))


@settings(max_examples=budget(15))
@given(st.integers(0, 10**6), st.sampled_from([1, 3]), st.sampled_from([1, 2, 5]), st.booleans(), st.booleans())
def test_shared_weights_are_those_of_the_seed_of_the_set(
    seed: int, n_populations: int, sets: int, groups: bool, fixed: bool
) -> None:
    experiment, twin = both(seed, Selection("fixed" if fixed else "replace"), 60, n_populations, groups)
    tests = ["bootstrap-both", "paired-bootstrap"]
    tested = testing.Testing(tests, 130, weight_sets=sets, execution=Execution(threads=1)).run(experiment, 40, first=1)
    for i in (0, 1, 2, 17, 38, 39):
        draws = derive_seed(twin.seed, "simulation", (1 + i) % sets)
        for t, test in enumerate(tests):
            assert tested.pvalue[t, :, i].tolist() == public(twin, 1 + i, test, 130, draws)


def test_other_tests_and_formulas_are_public_tests_of_one_test_set_after_another() -> None:
    selection = Selection("replace", 30)
    experiment = Experiment([population(3, 60, "formula")], selection, 8)
    in_rust = Experiment([population(3, 60, "bleu")], selection, 8)
    tests = ["ar", "bootstrap", "ar-studentized"]
    one, other = (testing.Testing(tests, 99).run(each, 4) for each in (experiment, in_rust))
    np.testing.assert_array_equal(one.pvalue[:2], other.pvalue[:2])
    np.testing.assert_allclose(one.pvalue[2], other.pvalue[2], atol=0.03)  # gradients by finite differences
    assert not np.array_equal(one.pvalue[0], one.pvalue[2])
    twin = Twin(in_rust.populations, selection, 8)
    auto = testing.Testing(["ar"], 99, scheme="auto").run(in_rust, 4)
    assert auto.pvalue[0, 0].tolist() == [public(twin, i, "ar", 99)[0] for i in range(4)]


def test_an_orbit_is_that_of_each_population_whatever_the_alternative() -> None:
    """An orbit has no standard errors: only the shuffles of ``ar`` are shared."""
    populations = [population(seed, 30 + seed) for seed in (2, 3, 4)]
    of = populations, Selection("fixed"), 6
    experiment, twin = Experiment(*of), Twin(*of)
    for alternative in ("two-sided", "better", "worse"):
        tested = testing.Testing(["ar", "ar-studentized"], 99, alternative, "orbit").run(experiment, 7, first=2)
        for i in range(7):
            studentized = public(twin, 2 + i, "ar-studentized", 99, scheme="iid", alternative=alternative)
            assert tested.pvalue[1, :, i].tolist() == studentized
            own = populations[(2 + i) % 3]
            for m, (each, (a, b)) in enumerate(zip(own.metrics, experiment.data_set(2 + i), strict=True)):
                x, y = own.counts[m]
                # The same shuffles of the population, with the simulation's difference as the threshold.
                seed = derive_seed(6, "simulation", 2**63)
                options: dict[str, Any] = {"n_resamples": 99, "scheme": "iid", "keep_null_distribution": True}
                null = known(approximate_randomization(x, y, each, seed=seed, **options).null_distribution)
                t = float(each.score(a.sum(axis=0)) - each.score(b.sum(axis=0)))
                sign = {"two-sided": 0, "better": 1, "worse": -1}[alternative] * (1 if each.higher_is_better else -1)
                extreme, observed = (np.abs(null), abs(t)) if sign == 0 else (sign * null, sign * t)
                expected = (1 + np.count_nonzero(extreme >= observed - 1e-9)) / 100
                assert tested.pvalue[0, m, i] == expected


@settings(max_examples=budget(60))
@given(
    st.integers(0, 10**6),
    st.integers(2, 40),
    st.integers(1, 700),
    st.lists(st.sampled_from([0.001, 0.01, 0.05, 0.1, 1 / 3, 0.5, 0.9, 0.999]), min_size=1, max_size=3, unique=True),
    st.sampled_from(["two-sided", "better"]),
)
def test_stopped_tests_decide_at_the_levels_of_a_study_as_all_shuffles_do(
    seed: int, units: int, n: int, alphas: list[float], alternative: str
) -> None:
    """Few units give many ties, and n need not fit the levels."""
    experiment = Experiment([population(seed, units)], Selection("fixed"), seed)
    rule = known(StudySettings(n_resamples=n, alphas=alphas, stopping="besag-clifford").rule)
    all_shuffles = testing.Testing(["ar"], n, alternative).run(experiment, 20).pvalue
    stopped = testing.Testing(["ar"], n, alternative, stopping=rule).run(experiment, 20).pvalue
    for alpha in alphas:
        np.testing.assert_array_equal(stopped <= alpha, all_shuffles <= alpha)
    small = all_shuffles <= max(alphas)
    np.testing.assert_array_equal(stopped[small], all_shuffles[small])


@pytest.mark.parametrize("kind", ["several", "bleu"])
def test_no_test_on_shuffles_or_draws_leaves_the_core(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The road of one public test after another takes ten times as long, so no test of a large table may need it."""

    def slow(*_: object) -> None:
        raise AssertionError("tested one by one")

    monkeypatch.setattr(testing, "_one_by_one", slow)
    experiment = Experiment([population(3, 60, kind)], Selection("replace", 30), 8)
    tests = [*testing.CAN_STOP, *get_args(BootstrapTest)]
    assert DEFAULT in tests
    for scheme in ("iid", "subgroup"):
        tested = testing.Testing(tests, 99, scheme=scheme).run(experiment, 4)
        assert ((tested.pvalue > 0) & (tested.pvalue <= 1)).all()


def test_memory_is_that_of_a_test_set_and_a_block() -> None:
    """5,000 test sets of 1,000 segments would take 800 MB, and their draws more."""
    resource = pytest.importorskip("resource")

    def peak() -> int:
        return int(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)

    experiment = Experiment([population(1, 1000, "bleu")], Selection(), 1)
    testing.Testing(["ar", "ar-studentized", "bootstrap"], 99).run(experiment, 10)
    before = peak()
    testing.Testing(["ar"], 9).run(experiment, 5_000)
    testing.Testing(["ar-studentized"], 9).run(experiment, 1_000)
    testing.Testing(["bootstrap"], 999).run(experiment, 100)
    assert peak() - before < 200 << 10  # in KiB
