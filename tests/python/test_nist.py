"""NIST: a slow twin on generated texts, and what differs from NLTK. The script's numbers: test_compat_mteval.py."""

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.translate.nist_score import corpus_nist

from budgets import budget
from reshuffle import metric
from texts import PLAIN, Columns, corpora, references_of


def ngrams(tokens: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1))


class Twin:
    """A slow, obvious implementation of NIST; the information of n-grams comes from all references."""

    def __init__(self, references: Sequence[Sequence[Sequence[str]]], order: int = 5, mteval: bool = False) -> None:
        self.order, self.mteval = order, mteval
        every = [tokens for segment in references for tokens in segment]
        self.words = sum(map(len, every))
        self.counts: Counter[tuple[str, ...]] = Counter()
        for tokens, n in itertools.product(every, range(1, order + 1)):
            self.counts += ngrams(tokens, n)

    def information(self, ngram: tuple[str, ...]) -> float:
        prefix = ngram[:-1]
        # Perl: `if ($mgram)`, and "0" is false.
        whole = self.words if not prefix or (self.mteval and prefix == ("0",)) else self.counts[prefix]
        return -math.log2(self.counts[ngram] / whole)

    def row(self, hypothesis: Sequence[str], references: Sequence[Sequence[str]]) -> list[float | Fraction]:
        gains: list[float | Fraction] = []
        for n in range(1, self.order + 1):
            clipped: Counter[tuple[str, ...]] = Counter()
            for reference in references:
                clipped |= ngrams(reference, n)
            gains.append(math.fsum(self.information(g) * m for g, m in (ngrams(hypothesis, n) & clipped).items()))
        possible = [max(len(hypothesis) - n + 1, 0) for n in range(1, self.order + 1)]
        return [*gains, *possible, len(hypothesis), Fraction(sum(map(len, references)), len(references))]

    def score(self, rows: Sequence[Sequence[float | Fraction]]) -> float:
        totals = [sum(column) for column in zip(*rows, strict=True)]
        gains = sum(float(g) / max(int(n), 1) for g, n in zip(totals, totals[self.order : -2], strict=False))
        ratio = float(totals[-2] / totals[-1]) if totals[-1] else 1.0
        if ratio >= 1:
            return gains
        return gains * math.exp(math.log(0.5) * (math.log(ratio) / math.log(1.5)) ** 2) if ratio else 0.0


@settings(max_examples=budget(300))
@given(corpora(PLAIN, max_segments=4), st.integers(1, 7), st.booleans())
def test_rows_and_scores_with_any_references_equal_the_slow_twin(
    corpus: tuple[list[str], Columns], order: int, mteval: bool
) -> None:
    hypotheses, columns = corpus
    references = [[line.split() for line in segment] for segment in references_of(columns)]
    twin = Twin(references, order, mteval)
    expected = [twin.row(h.split(), r) for h, r in zip(hypotheses, references, strict=True)]

    nist = metric("nist", tokenize="none", max_ngram_order=order, mteval_quirks=mteval)
    rows = nist.suff_stats(columns, [hypotheses])[0]
    # Lengths are integers in steps of one over the least common multiple of the numbers of references.
    units = int(np.lcm.reduce([len(segment) for segment in references]))
    np.testing.assert_allclose(rows[:, :order] / 2**28, [[float(x) for x in r[:order]] for r in expected], atol=1e-6)
    assert rows[:, order:-2].tolist() == [row[order:-2] for row in expected]
    assert rows[:, -2:].tolist() == [[x * units for x in row[-2:]] for row in expected]
    for row, segment in zip(expected, nist.segment_scores(rows), strict=True):
        assert twin.score([row]) == pytest.approx(segment, abs=1e-6)
    assert twin.score(expected) == pytest.approx(float(nist.score(rows.sum(axis=0))), abs=1e-6)


def test_nltk_differs_because_it_picks_one_reference_for_each_order() -> None:
    # The example of nltk 3.10.4's sentence_nist. For each order, NLTK picks the reference with the highest gain and
    # uses its length as the reference length. mteval-v13a clips by the largest count in any reference, so n-grams of
    # all references match, and takes their mean length.
    hypothesis = "It is a guide to action which ensures that the military always obeys the commands of the party"
    references = [
        "It is a guide to action that ensures that the military will forever heed Party commands",
        "It is the guiding principle which guarantees the military forces always being under the command of the Party",
        "It is the practical guide for the army always to heed the directions of the party",
    ]
    theirs = corpus_nist([[line.split() for line in references]], [hypothesis.split()])
    nist = metric("nist", tokenize="none")
    (row,) = nist.suff_stats([[line] for line in references], [[hypothesis]])[0]
    assert [theirs, float(nist.score(row))] == pytest.approx([3.3709, 5.0379], abs=1e-4)
