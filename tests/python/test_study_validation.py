"""``study.validate`` and ``study.samples``: Koehn's validation against plain loops, by hand, and on WMT's outputs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from counts import as_bleu, bleu_counts
from known import known
from reshuffle import SegmentScores, _core, bootstrap_interval, compare, derive_seed, metric, read_corpus
from reshuffle.metrics.base import Counts
from reshuffle.results import clopper_pearson
from reshuffle.results.studies import BandAccuracy, StudyResult
from reshuffle.study import samples, validate
from reshuffle.study.rates import clustered_interval, jackknife_interval, share_of_pairs_interval
from reshuffle.study.validation import BANDS


def by_loops(counts: Counts, layout: str, size: int, n: int, seed: int, truth: str) -> dict[str, Any]:
    """Confidences, conclusions and their bands as the paper describes them, one draw after another."""
    bleu = metric("bleu")
    k, n_units, _ = counts.shape
    m = n_units // size
    rows = []
    for j in range(m):
        units = [j + i * m for i in range(size)] if layout == "broad" else list(range(j * size, (j + 1) * size))
        draws = []
        for r in range(n):
            times = _core.draw_weights(derive_seed(seed, "test-set", j), r, size)
            drawn = [unit for unit, n_times in zip(units, times, strict=True) for _ in range(n_times)]
            draws.append([float(bleu.score(counts[system][drawn].sum(axis=0))) for system in range(k)])
        rest = [u for u in range(n_units) if truth == "whole" or u not in units]
        true_scores = [float(bleu.score(counts[system][rest].sum(axis=0))) for system in range(k)]
        for a, b in combinations(range(k), 2):
            wins = sum(draw[a] > draw[b] for draw in draws)
            losses = sum(draw[a] < draw[b] for draw in draws)
            better = a if true_scores[a] > true_scores[b] else b
            concluded = a if wins > losses else b if losses > wins else None
            rows.append((j, (a, b), max(wins, losses) / n, concluded, better))
    bands = []
    for low, high in zip(BANDS, (2, *BANDS), strict=False):
        inside = [row for row in rows if low <= row[2] < high and row[3] is not None]
        bands.append((low, len(inside), sum(row[3] == row[4] for row in inside)))
    pairs = {}
    for pair in combinations(range(k), 2):
        own = [row for row in rows if row[1] == pair]
        certain = [row for row in own if row[2] >= 0.95 and row[3] is not None]
        right = sum(row[3] == row[4] for row in certain)
        pairs[pair] = (right / m, (len(certain) - right) / m)
    return {"bands": bands, "pairs": pairs}


@pytest.mark.parametrize("truth", ["whole", "complement"])
@pytest.mark.parametrize("layout", ["broad", "block"])
def test_the_study_equals_plain_loops(layout: str, truth: str) -> None:
    counts = bleu_counts(3, 4, 63, 0.015)
    result = validate(
        metrics=as_bleu(counts), sizes=10, layouts=layout, truth=truth, n_resamples=40, seed=7, confidence_level=0.95
    )
    expected = by_loops(counts, layout, 10, 40, 7, truth)
    found = [(b.low, b.conclusions, round((b.right or 0) * b.conclusions)) for b in result.tables["bands"]]
    assert [band for band in expected["bands"] if band[0] > 0 or band[1]] == found
    for row, (right, wrong) in zip(result.tables["pairs"], expected["pairs"].values(), strict=True):
        assert (right, wrong) == (row.right, row.wrong)
    assert sum(n for _, n, _ in expected["bands"]) > 30


# Ten segments per sample. b is better than a by 1 in all segments of the samples 0 and 1, worse by 1 in sample 2, and
# equal in sample 3, so that every draw of a sample has the same winner.
HAND = {"a": [0.0] * 40, "b": [1.0] * 20 + [-1.0] * 10 + [0.0] * 10}


def test_a_small_example_by_hand() -> None:
    hand: dict[str, Any] = {"metrics": SegmentScores("x", HAND), "sizes": 10, "layouts": "block", "n_resamples": 50}
    result = validate(truth="whole", bins=(0, 0.2, 0.3), **hand)
    (row,) = result.tables["pairs"]
    # On the whole b is better by 10/40. Two of four samples say so, one says the opposite, one says nothing.
    assert (row.better, row.worse, row.gap, row.right, row.wrong) == ("b", "a", 0.25, 0.5, 0.25)
    assert row.right_interval == clopper_pearson(2, 4)
    assert row.few_samples
    first, *others = result.tables["bands"]
    assert (first.low, first.high, first.conclusions, first.right) == (1, 1, 3, 2 / 3)
    assert [(band.conclusions, band.right, band.confidence_interval) for band in others] == [(0, None, None)] * 8
    (gap,) = result.tables["gaps"]
    assert (gap.low, gap.high, gap.pairs, gap.right, gap.wrong) == (0.2, 0.3, 1, 0.5, 0.25)
    scores, differences = result.tables["spread"]
    # The means of the samples of b are 1, 1, −1 and 0, with variance 2.75/3; those of a have none.
    assert scores.observed == pytest.approx((2.75 / 3 / 2) ** 0.5)
    assert differences.observed == pytest.approx((2.75 / 3) ** 0.5)
    assert (scores.bootstrap, differences.bootstrap, differences.ratio) == (0, 0, 0)
    # The complement: without sample 0 or 1 the difference is 0, without sample 2 it is 20/30, without 3 10/30.
    result = validate(**hand)
    (row,) = result.tables["pairs"]
    assert (row.right, row.wrong) == (0, 0.75)  # where scores are equal, any conclusion is wrong
    (band, *_) = result.tables["bands"]
    assert (band.conclusions, band.right) == (1, 0)  # pairs without a true difference are left out


def test_other_tests_conclude_with_one_minus_p() -> None:
    counts = bleu_counts(5, 3, 60, 0.02)
    result = validate(metrics=as_bleu(counts), sizes=20, layouts="broad", tests=("ar", "bootstrap"), n_resamples=99)
    certain: Counter[tuple[str, frozenset[str]]] = Counter()
    for j in range(3):
        seed = derive_seed(12345, "test-set", j)
        for test in ("ar", "bootstrap"):
            found = compare(
                metrics=as_bleu(counts[:, j::3]), test=test, all_pairs=True, adjust="none", n_resamples=99, seed=seed
            )
            sure = [pair for pair in found.comparisons if pair.test.pvalue <= 0.05]
            certain.update((test, frozenset((pair.system, pair.baseline))) for pair in sure)
    assert certain
    for row in result.tables["pairs"]:
        assert round(3 * (row.right + row.wrong)) == certain[row.test, frozenset((row.better, row.worse))]


def test_a_cell_does_not_depend_on_the_other_cells_or_on_threads() -> None:
    data = as_bleu(bleu_counts(5, 4, 200, 0.01))
    both = validate(metrics=data, sizes=(20, 50), tests=("paired-bootstrap", "ar"), n_resamples=99)
    one = validate(metrics=data, sizes=50, layouts="block", tests="ar", n_resamples=99, workers=3)
    for table, rows in one.tables.items():
        of_block = [row for row in both.tables[table] if (row.size, row.layout) == (50, "block")]
        assert list(rows) == [row for row in of_block if getattr(row, "test", "ar") == "ar"]


def test_all_sizes_together_are_the_sum_of_the_sizes() -> None:
    result = validate(metrics=as_bleu(bleu_counts(5, 4, 300, 0.01)), sizes=(10, 30), layouts="broad", n_resamples=100)
    bands: Sequence[BandAccuracy] = result.tables["bands"]
    for low in BANDS[:-1]:
        small, large, together = (band for band in bands if band.low == low)
        assert (small.size, large.size, together.size) == (10, 30, None)
        assert small.conclusions + large.conclusions == together.conclusions
        hits = [(band.right or 0) * band.conclusions for band in (small, large, together)]
        assert hits[0] + hits[1] == pytest.approx(hits[2])
        assert together.confidence_interval is None


def test_documents_are_sampled_as_wholes() -> None:
    rng = np.random.default_rng(4)
    scores = {name: rng.normal(size=60) for name in "ab"}
    documents = np.repeat(np.arange(20), 3)
    rng.shuffle(documents)
    order = list(dict.fromkeys(documents.tolist()))
    # Documents of equal size: their sums are three times their means.
    means = {name: [float(np.mean(values[documents == d].round(6))) for d in order] for name, values in scores.items()}
    rounded = {name: values.round(6) for name, values in scores.items()}
    whole = validate(metrics=SegmentScores("x", rounded), documents=documents, sizes=5, n_resamples=100)
    units = validate(metrics=SegmentScores("x", means), sizes=5, n_resamples=100)
    assert "units:20|unit:document" in whole.signature
    for one, other in zip(whole.tables["pairs"], units.tables["pairs"], strict=True):
        assert (one.better, one.right, one.wrong, one.samples) == (other.better, other.right, other.wrong, 4)
        assert one.gap == pytest.approx(other.gap)


@pytest.mark.slow
def test_clustered_intervals_cover_where_intervals_of_independent_cases_do_not() -> None:
    rng = np.random.default_rng(2)
    covered = np.zeros(2)
    for _ in range(400):
        hits = rng.binomial(40, rng.beta(4, 2, 20))  # 20 clusters of 40 cases; the mean of the rates is 2/3
        own, naive = clustered_interval(hits, np.full(20, 40)), clopper_pearson(int(hits.sum()), 800)
        covered += [known(own).low <= 2 / 3 <= known(own).high, naive.low <= 2 / 3 <= naive.high]
    assert covered[0] / 400 > 0.92
    assert covered[1] / 400 < 0.6


def test_empty_clusters_do_not_count_and_one_cluster_has_no_interval() -> None:
    hits, cases = np.array([3, 0, 4, 0]), np.array([5, 0, 5, 0])
    assert clustered_interval(hits, cases) == clustered_interval(hits[::2], cases[::2])
    assert clustered_interval(hits[:2], cases[:2]) is None


def test_the_jackknife_over_systems_of_a_mean_is_the_textbook_formula() -> None:
    pairs = list(combinations(range(6), 2))
    values = np.random.default_rng(3).random(len(pairs))
    interval = known(jackknife_interval(lambda mask: float(values[mask].mean()), pairs, 6))
    without = [np.mean([v for v, pair in zip(values, pairs, strict=True) if i not in pair]) for i in range(6)]
    error = (5 / 6 * sum((w - np.mean(without)) ** 2 for w in without)) ** 0.5
    assert (interval.low + interval.high) / 2 == pytest.approx(values.mean())
    assert (interval.high - interval.low) / 2 == pytest.approx(2.570582 * error, rel=1e-6)  # t with 5 degrees
    assert jackknife_interval(lambda mask: None, pairs, 6) is None


@pytest.mark.slow
def test_intervals_of_shares_of_pairs_cover_where_those_of_independent_pairs_do_not() -> None:
    """A pair is a hit if the sum of its systems' qualities is positive, with probability ½."""
    rng, pairs = np.random.default_rng(4), list(combinations(range(12), 2))
    first, second = np.array(pairs).T
    covered = np.zeros(2)
    for _ in range(400):
        quality = rng.normal(size=12)
        hits = quality[first] + quality[second] > 0
        own, naive = share_of_pairs_interval(hits, np.ones(66), pairs, 12), clopper_pearson(int(hits.sum()), 66)
        covered += [known(own).low <= 0.5 <= known(own).high, naive.low <= 0.5 <= naive.high]
    assert covered[0] / 400 > 0.93
    assert covered[1] / 400 < 0.7


def shares(result: StudyResult, layout: str) -> list[int]:
    """The accuracies in percent in the bands from 99.9, 99, 95, 90, 80, 70, 60 and 50 %."""
    bands = [band for band in result.tables["bands"] if band.layout == layout]
    top, next_to_top, *others = ((band.conclusions, round((band.right or 0) * band.conclusions)) for band in bands)
    joined = [(top[0] + next_to_top[0], top[1] + next_to_top[1]), *others]
    return [round(100 * right / n) for n, right in joined]


@pytest.mark.slow
def test_accuracies_by_confidence_on_wmt_are_like_those_of_the_paper(data: Path) -> None:
    """Koehn 2004 (W04-3250), Table 4, has 100, 99.4, 98, 95, 88, 77, 72 and 52 % for broad samples of all sizes.

    All 253 pairs of WMT13's 23 systems from German into English, samples of 100.
    """
    folder = data / "wmt13-de-en"
    corpus = read_corpus([str(folder / "ref.txt")], sorted(map(str, (folder / "sys").iterdir())))
    result = validate(corpus.references, corpus.systems, sizes=(100, 300), truth="whole")
    broad = [band for band in result.tables["bands"] if band.layout == "broad" and band.size is None]
    # Three times both systems win equally many draws.
    assert sum(band.conclusions for band in broad) == 253 * (30 + 10) - 3
    published = {1.0: 100, 0.999: 100, 0.99: 99, 0.95: 98, 0.9: 95, 0.8: 88, 0.7: 77, 0.6: 72, 0.5: 52}
    for band in broad:
        assert 100 * known(band.right) == pytest.approx(published[band.low], abs=9)
    # Consecutive segments are from one document, so conclusions from blocks are less often right.
    alone = validate(corpus.references, corpus.systems, sizes=100, truth="whole")
    assert shares(alone, "broad") == pytest.approx([100, 99, 98, 91, 87, 76, 71, 57], abs=9)
    assert shares(alone, "block") == pytest.approx([99, 96, 91, 84, 81, 69, 56, 53], abs=5)
    # The bootstrap's spread is that over broad samples, and much too small for blocks.
    ratios = {(row.layout, row.quantity): row.ratio for row in alone.tables["spread"]}
    assert ratios["broad", "differences"] == pytest.approx(1, abs=0.05)
    assert ratios["block", "differences"] < 0.7
    # 300 sentences suffice for a difference of 2 to 3 points of BLEU, 100 do not.
    rights = {row.size: row.right for row in result.tables["gaps"] if (row.layout, row.low) == ("broad", 2)}
    assert rights[300] > 0.9
    assert rights[100] < 0.75


# --- Scores and conclusions on samples, and curves


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


def test_samples_of_a_small_example_by_hand() -> None:
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
