"""``reshuffle.study.samples``: scores and conclusions on samples, and curves, against plain loops and by hand."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

from counts import as_bleu, bleu_counts
from known import known
from reshuffle import SegmentScores, bootstrap_interval, compare, derive_seed, metric
from reshuffle.study import samples, validate


@pytest.mark.parametrize("layout", ["broad", "block"])
def test_scores_intervals_and_differences_are_those_of_a_comparison_on_each_sample(layout: str) -> None:
    counts, bleu = bleu_counts(3, 3, 65, 0.02), metric("bleu")
    result = samples(metrics=as_bleu(counts), sizes=15, layouts=layout, n_resamples=60, baseline="s1", curve_sizes=())
    whole = bleu.score(counts.sum(axis=1))
    scores, differences = iter(result.tables["scores"]), iter(result.tables["differences"])
    for j in range(4):
        units = slice(j, 60, 4) if layout == "broad" else slice(15 * j, 15 * j + 15)
        own, seed = counts[:, units], derive_seed(12345, "test-set", j)
        for i in range(3):
            row = next(scores)
            ends = bootstrap_interval(own[i], "bleu", interval="koehn", n_resamples=60, seed=seed)
            assert (row.layout, row.size, row.sample, row.system) == (layout, 15, j + 1, f"s{i}")
            assert row.score == bleu.score(own[i].sum(axis=0))
            assert row.confidence_interval == ends
            assert row.covers == (ends.low <= whole[i] <= ends.high)
        compared = compare(
            metrics=as_bleu(own), test="paired-bootstrap", baseline="s1", n_resamples=60, seed=seed, adjust="none"
        )
        for pair in compared.comparisons:
            found, test = next(differences), pair.test
            wins = known(test.wins)
            losses = 60 - wins - known(test.ties)
            assert (found.sample, found.system, found.baseline) == (j + 1, pair.system, pair.baseline)
            assert found.difference == pytest.approx(test.statistic, rel=1e-12)
            assert found.confidence == max(wins, losses) / 60
            true = whole[int(pair.system[1])] - whole[1]
            favoured = np.sign(wins - losses)
            expected = None if found.confidence < 0.95 else "right" if favoured == np.sign(true) else "wrong"
            assert found.conclusion == expected
            assert found.reversal == (found.difference * true < 0)
    assert next(scores, None) is next(differences, None) is None


def test_conclusions_are_those_of_validate() -> None:
    data = as_bleu(bleu_counts(3, 4, 120, 0.01))
    one = samples(metrics=data, sizes=10, layouts=("broad", "block"), n_resamples=80, all_pairs=True, curve_sizes=())
    other = validate(metrics=data, sizes=10, truth="whole", n_resamples=80)
    assert one.tables["pairs"] == other.tables["pairs"]


def test_a_small_example_by_hand() -> None:
    # The scores of a sample are all equal, so its draws and the ends of its interval are, too.
    ratings = SegmentScores("x", {"a": [2.0] * 30 + [4.0] * 10, "b": [3.0] * 10 + [1.0] * 10 + [4.0] * 20})
    result = samples(metrics=ratings, sizes=10, layouts="block", n_resamples=50, curve_sizes=(40,))
    a, b = result.tables["ranges"]
    assert (a.system, a.pool_score, a.lowest, a.highest, a.outside) == ("a", 2.5, 2, 4, 1)
    assert (b.system, b.pool_score, b.lowest, b.highest, b.outside) == ("b", 3, 1, 4, 0.75)  # one sample has score 3
    assert a.few_samples
    assert [(r.difference, r.conclusion, r.reversal) for r in result.tables["differences"]] == [
        (1, "right", False), (-1, "wrong", True), (2, "right", False), (0, None, False)
    ]  # fmt: skip
    (row,) = result.tables["pairs"]
    assert (row.better, row.worse, row.gap, row.right, row.wrong) == ("b", "a", 0.5, 0.5, 0.25)
    (point,) = result.tables["curves"]
    assert (point.size, point.samples, point.pairs, point.references) == (40, 1, 1, None)
    assert point.relative_width == pytest.approx(point.width / 2.75)


def test_curves_average_widths_and_count_the_separated_pairs() -> None:
    counts = bleu_counts(8, 4, 100, 0.02)
    result = samples(metrics=as_bleu(counts), sizes=10, layouts="broad", n_resamples=99, curve_sizes=(25, 50))
    for point, m in zip(result.tables["curves"], (4, 2), strict=True):
        widths, of_pairs, separated = [], [], []
        for j in range(m):
            own, seed = counts[:, j::m], derive_seed(12345, "test-set", j)
            options: dict[str, Any] = {"interval": "koehn", "n_resamples": 99, "seed": seed}
            for rows in own:
                ends = bootstrap_interval(rows, "bleu", **options)
                widths.append(ends.high - ends.low)
            for a, b in combinations(own, 2):
                ends = bootstrap_interval(a, "bleu", b=b, **options)
                of_pairs.append(ends.high - ends.low)
                separated.append(not ends.low <= 0 <= ends.high)
        assert (point.samples, point.pairs) == (m, 6)
        assert point.width == pytest.approx(np.mean(widths))
        assert point.difference_width == pytest.approx(np.mean(of_pairs))
        assert point.separated == np.mean(separated)


REFERENCES: list[list[str | None]] = [
    ["the cat sat on the mat", "a dog barked at the moon", "it rained all day long"] * 20,
    ["the cat was on the mat", "a dog howled at the moon", "it was raining all day"] * 20,
    ["a cat sat on a mat", None, "all day it rained"] * 20,
]
SYSTEMS = {
    "one": ["the cat sat on a mat", "a dog barked at moon", "it rained all day"] * 20,
    "two": ["cat was on the mat", "the dog howled at the moon", "it was raining"] * 20,
}


def test_curves_by_number_of_references_count_again_with_the_first_ones() -> None:
    result = samples(REFERENCES, SYSTEMS, ["bleu", "chrf"], sizes=20, n_resamples=50, curve_sizes=(30, 60))
    points = result.tables["curves"]
    keys = [(point.metric, point.references, point.size) for point in points]
    assert keys == [(m, n, size) for m in ("BLEU", "chrF2") for n in (1, 2, 3) for size in (30, 60)]
    assert result.plan["n_references"] == [1, 2, 3]
    for n in (1, 2, 3):
        alone = samples(REFERENCES[:n], SYSTEMS, "bleu", sizes=20, n_resamples=50, curve_sizes=60, n_references=n)
        (point,) = alone.tables["curves"]
        assert point in points
    # The third reference is missing in places, so it cannot be the only one.
    for references in (REFERENCES[::-1], REFERENCES[1:]):
        chosen = samples(references, SYSTEMS, sizes=20, n_resamples=50, curve_sizes=60)
        first = 1 if references[0][1] is not None else 2
        assert chosen.plan["n_references"] == list(range(first, len(references) + 1))
