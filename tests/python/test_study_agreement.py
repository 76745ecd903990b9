"""``reshuffle.study.agreement``: against plain loops, comparisons, SciPy, by hand and on WMT's outputs."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from counts import as_bleu, bleu_counts
from reshuffle import SegmentScores, compare, derive_seed
from reshuffle.metrics.base import Counts
from reshuffle.study import agreement
from reshuffle.study.agreement import Decisions, agreements
from reshuffle.study.validation import BANDS

PAIRS = list(combinations(range(4), 2))


COUNTS = bleu_counts(5, 4, 80, 0.008)


def pvalues(counts: Counts, test: str, seed: int) -> dict[tuple[str, str], tuple[float, float]]:
    """Difference and p of each pair, from a comparison."""
    compared = compare(
        metrics=as_bleu(counts), test=test, all_pairs=True, adjust="none", n_resamples=99, seed=seed, interval=None
    )
    found = {}
    for pair in compared.comparisons:
        found[pair.system, pair.baseline] = pair.test.statistic, pair.test.pvalue
    return found


@pytest.mark.parametrize("test", ["ar", "bootstrap-shift", "bootstrap-both"])
def test_the_pvalues_are_those_of_compare(test: str) -> None:
    result = agreement(metrics=as_bleu(COUNTS), tests=test, n_resamples=99, seed=5)
    expected = pvalues(COUNTS, test, 5)
    assert len(result.tables["pair_pvalues"]) == 6
    for row in result.tables["pair_pvalues"]:
        pair = (row.better, row.worse)
        statistic, p = expected[pair] if pair in expected else expected[pair[::-1]]
        assert p == row.pvalue
        assert abs(statistic) == pytest.approx(row.gain)
        assert (statistic > 0) == (pair in expected)


@pytest.mark.parametrize("halves", ["broad", "block"])
def test_winners_elsewhere_are_counted_as_a_plain_loop_counts_them(halves: str) -> None:
    result = agreement(metrics=as_bleu(COUNTS), tests="bootstrap", halves=halves, n_resamples=99, alphas=0.1)
    parts = [COUNTS[:, j::2] if halves == "broad" else COUNTS[:, 40 * j : 40 * j + 40] for j in range(2)]
    found = [pvalues(part, "bootstrap", derive_seed(12345, "test-set", j)) for j, part in enumerate(parts)]
    rows = iter(result.tables["domains"])
    for here, there in ((0, 1), (1, 0)):
        for low, high in zip(BANDS[1:], (2, *BANDS[1:]), strict=False):
            inside = [pair for pair, (_, p) in found[here].items() if low <= round(1 - p, 9) < high]
            wins = [pair for pair in inside if found[here][pair][0] * found[there][pair][0] > 0]
            significant = [pair for pair in wins if found[there][pair][1] <= 0.1]
            row = next(rows)
            assert (row.tested_on, row.checked_on, row.low) == (f"half {here + 1}", f"half {there + 1}", low)
            assert row.pairs == len(inside)
            assert row.also_wins == (len(wins) / len(inside) if inside else None)
            assert row.also_significant == (len(significant) / len(inside) if inside else None)
    assert next(rows, None) is None


def test_domains_are_the_parts() -> None:
    domains = [("news", "talks", "web")[i % 3] for i in range(80)]
    result = agreement(metrics=as_bleu(COUNTS), tests="bootstrap", domains=domains, n_resamples=99)
    parts = {(row.tested_on, row.checked_on) for row in result.tables["domains"]}
    assert parts == {(a, b) for a in ("news", "talks", "web") for b in ("news", "talks", "web") if a != b}
    assert (result.plan["domains"], result.plan["halves"]) == (["news", "talks", "web"], None)
    assert agreement(metrics=as_bleu(COUNTS), halves=None, n_resamples=9).tables["domains"] == ()


def test_gains_and_thresholds_are_counted_as_a_plain_loop_counts_them() -> None:
    result = agreement(metrics=as_bleu(COUNTS), tests="bootstrap", n_resamples=99, bins=(0.5, 1, 2), alphas=(0.05, 0.2))
    pairs = [(row.gain, row.pvalue) for row in result.tables["pair_pvalues"]]
    for row in result.tables["gains"]:
        inside = [p for gain, p in pairs if row.low < gain <= (row.high or 1e9)]
        assert row.pairs == len(inside)
        assert row.significant == sum(p <= row.alpha for p in inside) / len(inside)
    for row in result.tables["thresholds"]:
        yes, no = ([g for g, p in pairs if (p <= row.alpha) == wanted] for wanted in (True, False))
        assert row.significant == len(yes) / 6
        assert row.smallest_significant == min(yes, default=None)
        assert row.largest_insignificant == max(no, default=None)
        if row.threshold is not None:
            assert row.errors == sum(g >= row.threshold for g in no) + sum(g < row.threshold for g in yes)


def test_agreement_by_hand() -> None:
    better = np.array([1, 1, 1, 1, 1, -1], dtype=np.int8)
    first = Decisions("BLEU", "ar", np.array([0.01, 0.02, 0.03, 0.2, 0.04, 0.6]), better)
    other = np.array([1, -1, 1, 1, 1, 1], dtype=np.int8)
    second = Decisions("TER", "ar", np.array([0.05, 0.01, 0.2, 0.3, 0.04, 0.7]), other)
    (row,) = agreements([first, second], [0.05], PAIRS, 4)
    assert (row.pairs, row.both, row.neither, row.only_first, row.only_second, row.opposed) == (6, 3, 2, 1, 0, 1)
    assert row.agreement == 4 / 6
    # Observed agreement of the decisions 5/6, expected 4/6·3/6 + 2/6·3/6 = 1/2.
    assert row.kappa == pytest.approx((5 / 6 - 1 / 2) / (1 / 2))
    assert row.rank_correlation == pytest.approx(stats.spearmanr(first.pvalue, second.pvalue).statistic)


def test_systems_that_lower_scores_favour_are_better() -> None:
    errors = {"a": np.arange(40) % 5 + 1, "b": np.arange(40) % 5, "c": np.arange(40) % 7}
    low = agreement(metrics=SegmentScores("x", errors, higher_is_better=False), tests="ar", n_resamples=99)
    high = agreement(metrics=SegmentScores("x", errors), tests="ar", n_resamples=99)
    for one, other in zip(low.tables["pair_pvalues"], high.tables["pair_pvalues"], strict=True):
        assert (one.better, one.worse, one.gain, one.pvalue) == (other.worse, other.better, other.gain, other.pvalue)
    assert low.tables["domains"] == high.tables["domains"]


def test_documents_are_the_units() -> None:
    documents = (np.arange(80) // 4).tolist()
    domains = ["news" if d < 8 else "talks" for d in documents]
    result = agreement(metrics=as_bleu(COUNTS), documents=documents, domains=domains, n_resamples=99)
    assert "units:20|unit:document" in result.signature
    expected = agreement(
        metrics=as_bleu(COUNTS.reshape(4, 20, 4, -1).sum(axis=2)), domains=domains[::4], n_resamples=99
    )
    assert result.tables == expected.tables
