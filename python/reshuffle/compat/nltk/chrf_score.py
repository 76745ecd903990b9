"""The functions of ``nltk.translate.chrf_score``, with the same arguments and results, counted by reshuffle."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import nltk.translate.chrf_score as host
import numpy as np
from nltk.translate.chrf_score import chrf_precision_recall_fscore_support

from ..patching import NotNative, Seam, rebound
from .native import MOST_ORDERS, check_orders, chrf, counted

__all__ = ["SEAM", "chrf_precision_recall_fscore_support", "corpus_chrf", "sentence_chrf"]

Text = str | Sequence[str]

# NLTK's F-score of an order without a match.
NO_MATCH = 1e-16
LARGEST_BETA = 1e6

# Python's white space that this version of NLTK does not remove: 3.10.1 and later use another engine for regular
# expressions than Python's.
KEPT = [c for c in "\x1c\x1d\x1e\x1f" if host._preprocess(c, True)]


def corpus_chrf(
    references: Sequence[Text],
    hypotheses: Sequence[Text],
    min_len: int = 1,
    max_len: int = 6,
    beta: float = 3.0,
    ignore_whitespace: bool = True,
) -> float:
    """The mean of the chrF of all sentences, from 0 to 1. There is one reference for each.

    Texts are strings, or lists of tokens, which NLTK joins by spaces.

    >>> round(corpus_chrf(["the cat sat on the mat", "a dog"], ["the cat sat on a mat", "the dog"]), 4)
    0.4748
    """
    SEAM.count()
    try:
        check_orders(min_len, max_len, MOST_ORDERS["chrf"])
        if type(beta) not in (int, float) or not abs(beta) <= LARGEST_BETA:
            raise NotNative("beta is not a number from -1,000,000 to 1,000,000")
        lines = _lines(hypotheses), _lines(references)
        if len(lines[0]) != len(lines[1]):
            raise NotNative("numbers of segments differ")
        if ignore_whitespace and any(c in "".join(of) for of in lines for c in KEPT):
            raise NotNative("NLTK does not remove the separators U+001C to U+001F")
        (rows,) = counted(chrf(max_len, not ignore_whitespace).counted_unchecked, [[*lines[1]]], [lines[0]])
    except NotNative as reason:
        return cast(float, SEAM.leave(reason, references, hypotheses, min_len, max_len, beta, ignore_whitespace))
    # For each order: characters of the hypothesis, of the reference, and matches.
    possible, expected, matched = rows.reshape(len(rows), max_len, 3)[:, min_len - 1 :].T
    precision, recall = matched / np.maximum(possible, 1), matched / np.maximum(expected, 1)
    factor = beta**2
    with np.errstate(invalid="ignore"):
        scores = (1 + factor) * (precision * recall) / (factor * precision + recall)
    scores[matched == 0] = NO_MATCH
    # Python's sum adds in another way than numpy's, and differently from one version of Python to the next.
    return sum(map(sum, scores.tolist())) / len(scores) / len(rows)


ABOUT = "chrF of a sentence, from 0 to 1. Texts are strings, or lists of tokens, which NLTK joins by spaces."
sentence_chrf = rebound(host.sentence_chrf, __name__, ABOUT, corpus_chrf=corpus_chrf)


def _lines(texts: Any) -> list[str]:
    """Strings, or tokens joined by spaces."""
    if type(texts) not in (list, tuple):
        raise NotNative("the texts are not in a list or a tuple")
    types = set(map(type, texts))
    if types == {str}:
        return list(texts)
    if not types <= {str, list, tuple}:
        raise NotNative("a text is not a string, a list or a tuple")
    try:
        return [text if type(text) is str else " ".join(text) for text in texts]
    except TypeError:
        raise NotNative("a token is not a string") from None


SEAM = Seam.function(host.corpus_chrf, corpus_chrf)
