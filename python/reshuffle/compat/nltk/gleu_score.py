"""The functions of ``nltk.translate.gleu_score``, with the same arguments and results, counted by reshuffle."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import nltk.translate.gleu_score as host
import numpy as np
from numpy.typing import NDArray

from ..patching import NotNative, Seam, rebound
from .native import MOST_ORDERS, bleu, check_orders, counted

__all__ = ["SEAM", "corpus_gleu", "sentence_gleu"]

Tokens = Sequence[str]


def corpus_gleu(
    list_of_references: Sequence[Sequence[Tokens]], hypotheses: Sequence[Tokens], min_len: int = 1, max_len: int = 4
) -> float:
    """GLEU of a corpus, from 0 to 1: matching n-grams per n-gram of the longer text, under the best reference.

    Matches and n-grams are summed over segments.

    >>> references = [["the cat sat on the mat".split()], ["a dog".split(), "the dog".split()]]
    >>> round(corpus_gleu(references, ["the cat sat on a mat".split(), "the dog".split()]), 4)
    0.6667
    """
    SEAM.count()
    try:
        check_orders(min_len, max_len, MOST_ORDERS["bleu"])
        rows = counted(bleu(max_len, False).counted_tokens, list_of_references, hypotheses, each_reference=True)
    except NotNative as reason:
        return cast(float, SEAM.leave(reason, list_of_references, hypotheses, min_len, max_len))
    orders = slice(1 + min_len, 2 + max_len)
    matched = rows[:, orders].sum(axis=1)
    possible = np.maximum(rows[:, max_len:][:, orders].sum(axis=1), _ngrams(rows[:, 1], min_len, max_len))
    numbers = list(map(len, list_of_references))
    if max(numbers) > 1:
        chosen = _best(matched, possible, numbers)
        matched, possible = matched[chosen], possible[chosen]
    total = int(possible.sum())
    return int(matched.sum()) / total if total else 0.0


ABOUT = "GLEU of a sentence, from 0 to 1, under the best reference."
sentence_gleu = rebound(host.sentence_gleu, __name__, ABOUT, corpus_gleu=corpus_gleu)


def _ngrams(lengths: NDArray[np.int64], min_len: int, max_len: int) -> Any:
    """How many n-grams of these orders texts of these lengths have."""
    return np.maximum(lengths[:, None] - np.arange(min_len - 1, max_len), 0).sum(axis=1)


def _best(matched: NDArray[np.int64], possible: NDArray[np.int64], numbers: list[int]) -> Any:
    """The first reference of each segment with the highest ratio, of those with n-grams on either side."""
    (usable,) = np.nonzero(possible)
    segments = np.repeat(np.arange(len(numbers)), numbers)[usable]
    order = np.lexsort((-(matched[usable] / possible[usable]), segments))
    _, first = np.unique(segments[order], return_index=True)
    return usable[order[first]]


SEAM = Seam.function(host.corpus_gleu, corpus_gleu)
