"""What NLTK 3.10.4 computes, by name: against NLTK itself on whatever hypothesis invents."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from nltk.translate.bleu_score import SmoothingFunction, corpus_bleu, sentence_bleu
from nltk.translate.nist_score import corpus_nist

from reshuffle import InputError, metric, score, segment_scores
from texts import PLAIN, Columns, corpora, references_of

# Short, empty and long sentences of few words.
WORDS = st.lists(st.sampled_from("ab"), max_size=4).map(" ".join) | PLAIN
CORPORA = corpora(WORDS, max_segments=4)
WEIGHTS = st.none() | st.lists(st.sampled_from([0, 0.01, 0.25, 0.5, 1]), min_size=1, max_size=6)
# NLTK's methods of smoothing for a corpus, by ours.
OF_CORPUS = {"none": 0, "floor": 1, "add-k": 2, "exp": 3}
OF_SENTENCE = {"0": 0, "1": 1, "2": 2, "3": 3, "nltk-4": 4, "nltk-5": 5, "nltk-6": 6, "nltk-7": 7}


def tokens_of(corpus: tuple[list[str], Columns]) -> tuple[list[list[list[str]]], list[list[str]]]:
    """References and hypotheses as NLTK takes them."""
    hypotheses, columns = corpus
    return [[line.split() for line in of] for of in references_of(columns)], [line.split() for line in hypotheses]


def options_of(weights: Sequence[float] | None, auto_reweigh: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    """Ours, and NLTK's."""
    ours: dict[str, Any] = {"auto_reweigh": auto_reweigh}
    theirs: dict[str, Any] = {"auto_reweigh": auto_reweigh}
    if weights is not None:
        ours |= {"weights": weights, "max_ngram_order": len(weights)}
        theirs |= {"weights": tuple(weights)}
    return ours, theirs


@settings(max_examples=300)
@given(CORPORA, st.sampled_from(sorted(OF_CORPUS)), WEIGHTS, st.booleans())
def test_any_corpus_scores_as_by_corpus_bleu_and_sentence_bleu(
    corpus: tuple[list[str], Columns], smoothing: str, weights: list[float] | None, auto_reweigh: bool
) -> None:
    references, hypotheses = tokens_of(corpus)
    ours, theirs = options_of(weights, auto_reweigh)
    bleu = metric("bleu", tokenize="none", nltk_quirks=True, smooth_method=smoothing, **ours)
    rows = bleu.suff_stats([corpus[0]], corpus[1])[0]
    method = getattr(SmoothingFunction(), f"method{OF_CORPUS[smoothing]}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # method 0 warns about each order without a match
        expected = corpus_bleu(references, hypotheses, smoothing_function=method, **theirs)
        of_sentences = [
            sentence_bleu(r, h, smoothing_function=method, **theirs)
            for r, h in zip(references, hypotheses, strict=True)
        ]
    assert float(bleu.score(rows.sum(axis=0))) / 100 == pytest.approx(float(expected), rel=1e-9, abs=1e-9)
    np.testing.assert_allclose(bleu.segment_scores(rows) / 100, of_sentences, rtol=1e-9, atol=1e-9)


@settings(max_examples=300)
@given(CORPORA, st.sampled_from(sorted(OF_SENTENCE)), WEIGHTS, st.booleans())
def test_any_sentence_scores_as_by_sentence_bleu(
    corpus: tuple[list[str], Columns], smoothing: str, weights: list[float] | None, auto_reweigh: bool
) -> None:
    # Method 6 looks at the third order, and raises an AssertionError where nothing matches there: 0 here.
    assume(smoothing != "nltk-6" or weights is None or len(weights) > 2)
    # Method 0 gives 2e-308 for no match, which is 0 here, and shows under weights as small as 0.01.
    assume(smoothing != "0" or weights is None or 0.01 not in weights)
    ours, theirs = options_of(weights, auto_reweigh)
    method = getattr(SmoothingFunction(), f"method{OF_SENTENCE[smoothing]}")
    expected = []
    for references, hypothesis in zip(*tokens_of(corpus), strict=True):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                expected.append(float(sentence_bleu(references, hypothesis, smoothing_function=method, **theirs)))
            except AssertionError:
                assert smoothing == "nltk-6"
                expected.append(0.0)
    bleu = metric("sentbleu", tokenize="none", smoothing=smoothing, **ours)
    rows = bleu.suff_stats([corpus[0]], corpus[1])[0]
    np.testing.assert_allclose(bleu.segment_scores(rows) / 100, expected, rtol=1e-8, atol=1e-8)


@settings(max_examples=300)
@given(CORPORA, st.integers(1, 6))
def test_any_references_give_nltks_nist(corpus: tuple[list[str], Columns], order: int) -> None:
    references, hypotheses = tokens_of(corpus)
    # NLTK divides by zero where no hypothesis has an n-gram of the last order, and where all references are empty.
    assume(max(map(len, hypotheses)) >= order)
    assume(any(line for of in references for line in of))
    nist = metric("nist", tokenize="none", nltk_quirks=True, max_ngram_order=order)
    rows = nist.suff_stats([corpus[0]], corpus[1])[0]
    lengths = rows[:, -1].sum()
    assume(lengths > 0)
    assert corpus_nist(references, hypotheses, n=order) == pytest.approx(float(nist.score(rows.sum(axis=0))), abs=1e-6)


def test_of_several_references_nltk_takes_the_best_one_for_each_order() -> None:
    # The example of nltk 3.10.4's sentence_nist, which gives 3.3709…
    hypothesis = "It is a guide to action which ensures that the military always obeys the commands of the party"
    references = [
        "It is a guide to action that ensures that the military will forever heed Party commands",
        "It is the guiding principle which guarantees the military forces always being under the command of the Party",
        "It is the practical guide for the army always to heed the directions of the party",
    ]
    columns = [[line] for line in references]
    (of_nltk,) = score(columns, [[hypothesis]], metric("nist", tokenize="none", nltk_quirks=True)).scores
    assert of_nltk.score == pytest.approx(3.37095, abs=0.5e-4)
    (of_mteval,) = score(columns, [[hypothesis]], metric("nist", tokenize="none")).scores
    assert of_mteval.score == pytest.approx(5.0379, abs=0.5e-4)


def test_nltk_counts_an_ngram_of_every_order_in_every_sentence() -> None:
    # nltk 3.10.4: corpus_bleu([[["a", "b", "c"]], [["a", "b", "c", "d", "e"]]], [["a", "b", "c"], […]]) is 0.9036: of
    # four-grams 2 of 3 match, one of them in a sentence of three words.
    texts = ["a b c", "a b c d e"]
    nltk, ours = (metric("bleu", tokenize="none", nltk_quirks=quirks) for quirks in (True, False))
    assert score(texts, [texts], nltk).scores[0].score == pytest.approx(90.36, abs=0.005)
    assert score(texts, [texts], ours).scores[0].score == pytest.approx(100)
    assert nltk.signature() == "BLEU|case:mixed|eff:no|tok:none|smooth:exp|quirks:nltk"


def test_a_sentence_whose_closest_reference_is_empty_has_a_score_and_no_weight() -> None:
    # nltk 3.10.4: sentence_bleu([["a", "b", "z", "a"], []], ["a"], smoothing_function=method2) is 0.5946.
    references, hypotheses = [["a b z a", "x y"], ["", "x y z"]], ["a", "x y"]
    bleu = metric("sentbleu", tokenize="none", smoothing="2")
    table = segment_scores(references, [hypotheses], bleu).scores["sentBLEU"][0]
    assert table == pytest.approx([59.46, 100 * 0.25**0.25], abs=0.005)
    # Eq. 13 of W14-3346: the first sentence weighs nothing.
    assert score(references, [hypotheses], bleu).scores[0].score == pytest.approx(table[1])


def test_weights_are_in_the_signature_and_have_to_be_as_many_as_orders() -> None:
    for name in ("bleu", "sentbleu"):
        made = metric(name, weights=[0.5, 0.25, 0.25], max_ngram_order=3, auto_reweigh=True)
        assert "|order:3|weights:0.5,0.25,0.25|reweigh:auto" in made.signature()
        assert made == metric(name, weights=np.array([0.5, 0.25, 0.25]), max_ngram_order=3, auto_reweigh=True)
        assert {made: 1}[metric(name, weights=(0.5, 0.25, 0.25), max_ngram_order=3, auto_reweigh=True)] == 1
        for weights, message in (
            ([0.5, 0.5], "weights must be 4 numbers, one for each order up to max_ngram_order, got 2: "),
            ([0.5, 0.5, -1, 1], "weights must be numbers from 0 to 1000000, got"),
            (0.5, "weights must be numbers from 0 to 1000000, got 0.5"),
            (["a"] * 4, "weights must be a name, a number, numbers, true, false or None"),
        ):
            with pytest.raises(InputError, match=message):
                metric(name, weights=weights)


def test_effective_order_shares_the_weights_of_orders_left_out() -> None:
    # Unigrams half, bigrams a quarter: without the others two thirds and one third.
    bleu = metric("bleu", tokenize="none", weights=[0.5, 0.25, 0.125, 0.125], effective_order=True)
    (row,) = bleu.suff_stats([["a b"]], [["a c"]])[0]
    expected = 0.5 ** (2 / 3) * 0.5 ** (1 / 3)  # 1 of 2, and for no match of 1 exp's half
    assert float(bleu.score(row)) == pytest.approx(100 * expected)
