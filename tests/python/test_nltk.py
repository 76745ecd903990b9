"""The options that reproduce NLTK 3.10.4, against NLTK itself on generated texts."""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from nltk.translate.bleu_score import SmoothingFunction, corpus_bleu, sentence_bleu
from nltk.translate.nist_score import corpus_nist

from budgets import budget
from reshuffle import InputError, metric, score, segment_scores
from texts import PLAIN, Columns, corpora, references_of

# Short, empty and long sentences of few different words.
WORDS = st.lists(st.sampled_from("ab"), max_size=4).map(" ".join) | PLAIN
CORPORA = corpora(WORDS, max_segments=4)
WEIGHTS = st.none() | st.lists(st.sampled_from([0, 0.01, 0.25, 0.5, 1]), min_size=1, max_size=6)
# NLTK's smoothing methods for a corpus, by our names.
CORPUS_METHODS = {"none": 0, "floor": 1, "add-k": 2, "exp": 3}
SENTENCE_METHODS = {"0": 0, "1": 1, "2": 2, "3": 3, "nltk-4": 4, "nltk-5": 5, "nltk-6": 6, "nltk-7": 7}


def tokens_of(corpus: tuple[list[str], Columns]) -> tuple[list[list[list[str]]], list[list[str]]]:
    """References and hypotheses in the form that NLTK takes."""
    hypotheses, columns = corpus
    return [[line.split() for line in segment] for segment in references_of(columns)], [
        line.split() for line in hypotheses
    ]


def options_of(weights: Sequence[float] | None, auto_reweigh: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    ours: dict[str, Any] = {"auto_reweigh": auto_reweigh}
    theirs: dict[str, Any] = {"auto_reweigh": auto_reweigh}
    if weights is not None:
        ours |= {"weights": weights, "max_ngram_order": len(weights)}
        theirs |= {"weights": tuple(weights)}
    return ours, theirs


@settings(max_examples=budget(200))
@given(CORPORA, st.sampled_from(sorted(CORPUS_METHODS)), WEIGHTS, st.booleans())
def test_scores_of_any_corpus_equal_corpus_bleu_and_sentence_bleu(
    corpus: tuple[list[str], Columns], smoothing: str, weights: list[float] | None, auto_reweigh: bool
) -> None:
    references, hypotheses = tokens_of(corpus)
    ours, theirs = options_of(weights, auto_reweigh)
    bleu = metric("bleu", tokenize="none", nltk_quirks=True, smooth_method=smoothing, **ours)
    rows = bleu.suff_stats(corpus[1], [corpus[0]])[0]
    method = getattr(SmoothingFunction(), f"method{CORPUS_METHODS[smoothing]}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # method 0 warns about each order without a match
        expected = corpus_bleu(references, hypotheses, smoothing_function=method, **theirs)
        of_sentences = [
            sentence_bleu(r, h, smoothing_function=method, **theirs)
            for r, h in zip(references, hypotheses, strict=True)
        ]
    assert float(bleu.score(rows.sum(axis=0))) / 100 == pytest.approx(float(expected), rel=1e-9, abs=1e-9)
    np.testing.assert_allclose(bleu.segment_scores(rows) / 100, of_sentences, rtol=1e-9, atol=1e-9)


@settings(max_examples=budget(200))
@given(CORPORA, st.sampled_from(sorted(SENTENCE_METHODS)), WEIGHTS, st.booleans())
def test_scores_of_any_sentence_equal_sentence_bleu(
    corpus: tuple[list[str], Columns], smoothing: str, weights: list[float] | None, auto_reweigh: bool
) -> None:
    # Method 6 uses the third order, and raises an AssertionError if nothing matches there; ours gives 0.
    assume(smoothing != "nltk-6" or weights is None or len(weights) > 2)
    # Without any match, methods 1 and 3 give 0, as our strict reading. Method 0 replaces no match by 2e-308; ours gives
    # 0. The difference is visible with weights as small as 0.01.
    assume(smoothing != "0" or weights is None or 0.01 not in weights)
    ours, theirs = options_of(weights, auto_reweigh)
    method = getattr(SmoothingFunction(), f"method{SENTENCE_METHODS[smoothing]}")
    expected = []
    for references, hypothesis in zip(*tokens_of(corpus), strict=True):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                expected.append(float(sentence_bleu(references, hypothesis, smoothing_function=method, **theirs)))
            except AssertionError:
                assert smoothing == "nltk-6"
                expected.append(0.0)
    bleu = metric("sentbleu", tokenize="none", smoothing=smoothing, smoothing_reading="strict", **ours)
    rows = bleu.suff_stats(corpus[1], [corpus[0]])[0]
    np.testing.assert_allclose(bleu.segment_scores(rows) / 100, expected, rtol=1e-8, atol=1e-8)


@settings(max_examples=budget(200))
@given(CORPORA, st.integers(1, 6))
def test_nist_with_any_references_equals_nltks(corpus: tuple[list[str], Columns], order: int) -> None:
    references, hypotheses = tokens_of(corpus)
    # NLTK divides by zero if no hypothesis has an n-gram of the last order, and if all references are empty.
    assume(max(map(len, hypotheses)) >= order)
    assume(any(line for segment in references for line in segment))
    nist = metric("nist", tokenize="none", nltk_quirks=True, max_ngram_order=order)
    rows = nist.suff_stats(corpus[1], [corpus[0]])[0]
    lengths = rows[:, -1].sum()
    assume(lengths > 0)
    assert corpus_nist(references, hypotheses, n=order) == pytest.approx(float(nist.score(rows.sum(axis=0))), abs=1e-6)


def test_nltk_counts_an_ngram_of_every_order_in_every_sentence() -> None:
    # nltk 3.10.4: corpus_bleu([[["a", "b", "c"]], [["a", "b", "c", "d", "e"]]], [["a", "b", "c"], […]]) is 0.9036: of
    # 4-grams, 2 of 3 match, one of them in a sentence of three words.
    texts, nltk = ["a b c", "a b c d e"], metric("bleu", tokenize="none", nltk_quirks=True)
    assert score(texts, [texts], nltk).scores[0].score == pytest.approx(90.36, abs=0.005)
    assert nltk.signature() == "BLEU|case:mixed|eff:no|tok:none|smooth:exp|quirks:nltk"


def test_a_sentence_with_an_empty_closest_reference_has_a_score_but_no_weight() -> None:
    # nltk 3.10.4: sentence_bleu([["a", "b", "z", "a"], []], ["a"], smoothing_function=method2) is 0.5946.
    references, hypotheses = [["a b z a", "x y"], ["", "x y z"]], ["a", "x y"]
    bleu = metric("sentbleu", tokenize="none", smoothing="2", smoothing_reading="strict")
    table = segment_scores(references, [hypotheses], bleu).scores["sentBLEU"][0]
    assert table == pytest.approx([59.46, 100 * 0.25**0.25], abs=0.005)
    # Eq. 13 of W14-3346: the weight of the first sentence is 0.
    assert score(references, [hypotheses], bleu).scores[0].score == pytest.approx(table[1])


def test_signatures_contain_weights_and_one_weight_per_order_is_required() -> None:
    for name in ("bleu", "sentbleu"):
        m = metric(name, weights=[0.5, 0.25, 0.25], max_ngram_order=3, auto_reweigh=True)
        assert "|order:3|weights:0.5,0.25,0.25|reweigh:auto" in m.signature()
        assert m == metric(name, weights=np.array([0.5, 0.25, 0.25]), max_ngram_order=3, auto_reweigh=True)
        assert {m: 1}[metric(name, weights=(0.5, 0.25, 0.25), max_ngram_order=3, auto_reweigh=True)] == 1
        for weights, message in (
            ([0.5, 0.5], "weights must be 4 numbers, one for each order up to max_ngram_order, got 2: "),
            ([0.5, 0.5, -1, 1], "weights must be numbers from 0 to 1000000, got"),
            (0.5, "weights must be numbers from 0 to 1000000, got 0.5"),
            (["a"] * 4, r"weights must be numbers from 0 to 1000000, got \["),
        ):
            with pytest.raises(InputError, match=message):
                metric(name, weights=weights)


def test_effective_order_redistributes_the_weights_of_omitted_orders() -> None:
    # Weights: unigrams 1/2, bigrams 1/4; without the other orders, 2/3 and 1/3.
    bleu = metric("bleu", tokenize="none", weights=[0.5, 0.25, 0.125, 0.125], effective_order=True)
    (row,) = bleu.suff_stats([["a c"]], [["a b"]])[0]
    expected = 0.5 ** (2 / 3) * 0.5 ** (1 / 3)  # unigrams: 1 of 2; bigrams: no match of 1, smoothed to 1/2 by exp
    assert float(bleu.score(row)) == pytest.approx(100 * expected)
