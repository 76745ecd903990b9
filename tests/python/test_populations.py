"""The populations of ``size_power`` and ``family_errors`` in ``benches/simulations``, and the file of their results."""

import json
from pathlib import Path

import numpy as np
import pytest

from benches.data import Files, Texts
from benches.simulations.blocks import BLOCK, LEVELS, Cell, Results, _drop_partial_line
from benches.simulations.families import Family, lognormal
from benches.simulations.family_errors import adjusted, methods
from benches.simulations.populations import ANY, BLEU, WRONG, Outputs, Population, count, equal_pair, resized
from known import known
from reshuffle import SegmentScores, compare
from reshuffle.resampling import CountSample, Replicates
from reshuffle.settings import Resampling
from texts import translations


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
    for adjust in ("none", "holm", "by", "maxt"):
        comparison = compare(
            metrics=metrics,
            test="ar:scheme=iid" if test == "ar" else test,
            adjust=None if adjust == "none" else adjust,
            all_pairs=True,
            n_resamples=199,
            seed=3,
            interval=None,
        )
        of_pairs = {
            (pair.metric, pair.system, pair.baseline): pair.test.pvalue
            if pair.test.adjusted_pvalue is None
            else pair.test.adjusted_pvalue
            for pair in comparison.comparisons
        }
        expected = [of_pairs[m, a, b] for m in "ab" for a, b in ("10", "20", "21")]
        np.testing.assert_array_equal(found[f"{test} {adjust} metric"], expected)
