"""The programs of ``benches`` that its README names, rivals beside SciPy and this package, and invented populations."""

import json
import re
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sacrebleu", reason="benchmarks need sacreBLEU: pip install 'reshuffle[bench]'")

from scipy.stats import pearsonr, zscore

from benches.calls import __main__ as calls
from benches.data import Files, Texts
from benches.races.rivals import study as rivals
from benches.races.rivals.meta import mean_of_groups, pair_pvalues, pearson, permuted, soft_accuracy
from benches.simulations.blocks import BLOCK, LEVELS, Cell, Results, _drop_partial_line
from benches.simulations.families import Family, lognormal
from benches.simulations.family_errors import adjusted, methods
from benches.simulations.populations import ANY, BLEU, WRONG, Outputs, Population, count, equal_pair, resized
from known import known
from reshuffle import SegmentScores, approximate_randomization, bootstrap_test, compare, metric
from reshuffle.data.demo import demo_corpus
from reshuffle.resampling import CountSample, Replicates
from reshuffle.settings import Resampling
from reshuffle.study import experiments, testing
from texts import translations

README = Path(__file__).resolve().parents[2] / "benches/README.md"
PROGRAMS = sorted(
    {name for name in re.findall(r"python -m (benches[\w.]+\w)", README.read_text("utf-8")) if name[-4:] != "NAME"}
)


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_say_what_they_do(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = find_spec(name)
    program = import_module(f"{name}.__main__" if spec is not None and spec.submodule_search_locations else name)
    monkeypatch.setattr(sys, "argv", [name, "--help"])
    with pytest.raises(SystemExit, match=r"^0$"):
        program.main()
    assert capsys.readouterr().out.startswith(f"usage: python -m {name} ")


def test_the_page_names_all_programs_and_records() -> None:
    benches = README.parent
    programs = {
        ".".join(file.relative_to(benches.parent).with_suffix("").parts).removesuffix(".__main__")
        for file in benches.glob("*/*.py")
        if 'if __name__ == "__main__"' in file.read_text("utf-8")
    }
    assert sorted(programs) == PROGRAMS
    cases = set(re.findall(r"^\| .*--only ([a-z -]+)`", README.read_text("utf-8"), re.MULTILINE))
    named = {case for group in cases for case in group.split()}
    assert named <= set(import_module("benches.races.__main__").CASES)
    records = set(re.findall(r"\(record/([\w.-]+)\)", README.read_text("utf-8")))
    assert {file.name for file in benches.glob("record/*.md")} == records, "name the record in benches/README.md"


def test_two_builds_take_turns(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    processes: list[str] = []

    def medians(python: str, options: Sequence[str]) -> dict[str, float]:
        assert options == ["-k", "count"]
        processes.append("before" if python == "old" else "now")
        shared = {"count": 0.006 if python == "old" else 0.002}
        return shared if python == "old" else {**shared, "new": 1.0}

    monkeypatch.setattr(calls, "medians", medians)
    assert calls.main(["--before", "old", "--turns", "3", "-k", "count"]) == 0
    assert processes == ["before", "now", "now", "before", "before", "now"]
    assert capsys.readouterr().out.splitlines() == [
        "count: 3.000 (3.000 to 3.000), now / before 2.00 ms / 6.00 ms",
        "new: not in both builds",
    ]


# --- What benchmarks race against: formulae of agreement, and studies


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


def experiment_of(setting: rivals.Setting) -> experiments.Experiment:
    population = experiments.Population("a, b", [metric("bleu")], [setting.counts])
    return experiments.Experiment([population], experiments.Selection(size=setting.size), setting.seed)


@pytest.fixture(scope="module")
def setting() -> rivals.Setting:
    corpus = demo_corpus()
    counts = metric("bleu").suff_stats(corpus.references, [corpus.systems["baseline"], corpus.systems["tuned"]])
    return rivals.Setting(counts, size=120, n_resamples=99)


def test_loops_over_shuffles_give_the_pvalues_of_a_study(setting: rivals.Setting) -> None:
    experiment = experiment_of(setting)
    tests = testing.Testing(["ar"], n_resamples=setting.n_resamples)
    expected = tests.run(experiment, len(SIMULATIONS), SIMULATIONS[0]).pvalue[0, 0]
    replay = (setting, SIMULATIONS, rivals.our_test_set(setting), rivals.our_shuffles(setting))
    rivals.same_pvalues_of_studies(expected, rivals.numpy_ar(*replay), rivals.sacrebleu_ar(*replay))
    assert len(set(expected)) > 3
    with pytest.raises(AssertionError):
        rivals.same_pvalues_of_studies(expected, rivals.numpy_ar(*replay[:3]))


def test_loops_over_draws_give_the_pvalues_of_their_indices(setting: rivals.Setting) -> None:
    expected = []
    for i in SIMULATIONS:
        a, b = setting.test_set(i)
        expected.append(bootstrap_test(a, b, "bleu", test="bootstrap-shift", indices=setting.indices(i)).pvalue)
    for loop in (rivals.numpy_bootstrap_shift, rivals.sacrebleu_bootstrap):
        np.testing.assert_allclose(loop(setting, SIMULATIONS, indices=setting.indices), expected, rtol=1e-12)


def test_scipy_enumerates_to_the_exact_pvalue() -> None:
    rng = np.random.default_rng(1)
    scores = SegmentScores("x", {name: rng.integers(0, 50, 40) for name in "ab"})
    setting = rivals.Setting(scores.counts_of(["a", "b"]), size=9, n_resamples=1000)
    expected = []
    for i in SIMULATIONS:
        a, b = setting.test_set(i)
        expected.append(approximate_randomization(a, b, scores, scheme="exact").pvalue)
    np.testing.assert_allclose(rivals.scipy_mean(setting, SIMULATIONS), expected, rtol=1e-12)


# --- The populations of ``size_power`` and ``family_errors``, and the file of their results


@pytest.fixture(scope="module")
def texts() -> tuple[Outputs, Outputs, Outputs]:
    """A reference of 200 segments, and two outputs that share about two thirds and half of its words."""
    references, systems = translations(200, 0.85, 0.8)
    better, worse = systems.values()
    return tuple([line.split() for line in lines] for lines in (references, better, worse))  # type: ignore[return-value]


def test_the_scores_of_an_equal_pair_are_equal(texts: tuple[Outputs, Outputs, Outputs]) -> None:
    references, better, worse = texts
    counts = equal_pair([better, worse], references, np.random.default_rng(1))
    population = Population("", BLEU, counts)
    before = BLEU.score(np.stack([count(better, references), count(worse, references)]).sum(axis=1))
    assert before[0] - before[1] > 1
    assert abs(population.difference()) < 0.01  # one word of 3,000 changes BLEU by as much as 0.05
    assert np.array_equal(count(worse, references), counts[1])
    # Only matches were lost.
    columns = list(BLEU.columns or ())
    lost = count(better, references) - counts[0]
    assert {columns[c] for c in np.flatnonzero(lost.any(axis=0))} == {f"match_{n}" for n in (1, 2, 3, 4)}
    assert lost.min() >= 0


@pytest.mark.parametrize("ratio_of_lengths", [0.9, 1, 1.1])
def test_resizing_reaches_the_length_and_changes_only_the_marked_words(
    texts: tuple[Outputs, Outputs, Outputs], ratio_of_lengths: float
) -> None:
    references, output, _ = texts
    length = round(ratio_of_lengths * sum(map(len, output)))
    for words in (ANY, WRONG):
        changed = resized(output, length, words.mark(output, references), np.random.default_rng(2))
        assert length == sum(map(len, changed))
        if words is WRONG:
            right = [[word for word in words if word != "wrong"] for words in output]
            assert right == [[word for word in words if word != "wrong"] for words in changed]


def test_an_interrupted_run_continues_after_the_last_complete_line(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    cell = Cell("size", "name", 100)
    rejected = np.random.default_rng(6).random((2, len(LEVELS), BLOCK)) < 0.3
    bits = [[np.packbits(level).tobytes().hex() for level in block] for block in rejected]
    lines = [json.dumps(["size", "name", 100, 199, "ar", block, bits[block]]) for block in range(2)]
    path.write_text("\n".join([*lines, lines[0][:40]]), encoding="utf-8")
    assert len(Results.read(path).rejected) == 2
    _drop_partial_line(path)
    assert path.read_text(encoding="utf-8") == "".join(f"{line}\n" for line in lines)
    results = Results.read(path)
    found = known(results.of(cell, 199, ["ar"], BLOCK + 10))
    assert np.array_equal(np.concatenate(list(rejected), axis=1)[:, : BLOCK + 10], found["ar"])
    everything = known(results.of(cell, 199, ["ar"], 10 * BLOCK))
    assert everything["ar"].shape == (len(LEVELS), 2 * BLOCK)
    assert results.of(cell, 199, ["ar", "bootstrap"], 10) is None


def test_the_first_systems_of_a_family_are_permuted_in_each_segment() -> None:
    segments = np.arange(300)
    # The scores of system i are i + 10·segment, under both metrics.
    values = [row + 10 * segments for row in np.arange(4)[:, None]]
    metrics = [SegmentScores(name, [row.astype(float) for row in values]) for name in ("one", "two")]
    counts = [metric.counts_of(list(metric.counts)) for metric in metrics]
    family = Family("", tuple(metrics), tuple(counts), permuted=3)
    one, two = family.sample(np.random.default_rng(8), 3000)
    assert np.array_equal(one, two)
    scores = metrics[0].segment_scores(one).astype(int)
    assert (scores // 10 == scores[0] // 10).all()  # all systems have the same segments
    systems = scores % 10
    assert (systems[3] == 3).all()
    assert (np.sort(systems[:3], axis=0) == np.arange(3)[:, None]).all()
    orders, times = np.unique(systems[:3], axis=1, return_counts=True)
    assert orders.shape[1] == 6
    assert times.min() > 400  # 500 expected, standard deviation 20
    assert family.pairs == [(1, 0), (2, 0), (2, 1), (3, 0), (3, 1), (3, 2)]
    assert family.true_nulls.tolist() == [[True, True, True, False, False, False]] * 2
    np.testing.assert_allclose(family.differences[0], [0, 0, 0, 2, 2, 2])


def test_means_of_a_family_are_equal_but_for_the_worse_systems() -> None:
    family = lognormal([1, 0.5, 0.5], n_metrics=2, below=[0.06])(Texts(Files("", ()), [], {}))
    np.testing.assert_allclose(family.differences, [[0, -0.06, -0.06]] * 2, atol=1e-12)
    spreads = [
        np.log(np.std(metric.segment_scores(c), axis=1))
        for metric, c in zip(family.metrics, family.counts, strict=True)
    ]
    assert all(one > other + 0.5 for one, other, _ in spreads)


@pytest.mark.parametrize("test", ["bootstrap-both", "ar"])
def test_adjusted_p_values_of_simulations_are_those_of_compare(test: str) -> None:
    rng = np.random.default_rng(9)
    values = rng.integers(50, size=(3, 2, 40)) / 10
    metrics = [
        SegmentScores(name, {f"{system}": row for system, row in enumerate(of_metric)})
        for name, of_metric in zip("ab", values.swapaxes(0, 1), strict=True)
    ]
    samples = [CountSample.from_counts(metric, metric.counts_of(list(metric.counts))) for metric in metrics]
    replicates = Replicates(samples, Resampling(199, 3))
    wanted = methods([test], None, 2)
    found = dict(adjusted(replicates, [(1, 0), (2, 0), (2, 1)], wanted))
    options: dict[str, Any] = {"test": "ar:scheme=iid" if test == "ar" else test, "n_resamples": 199, "seed": 3}
    for adjust in ("none", "holm", "by", "maxt"):
        comparison = compare(metrics=metrics, adjust=adjust, all_pairs=True, interval=None, **options)
        # The first metric, then the second one; of each the pairs in the same order.
        expected = [pair.test.adjusted_pvalue or pair.test.pvalue for pair in comparison.comparisons]
        np.testing.assert_array_equal(found[f"{test} {adjust} metric"], expected)
