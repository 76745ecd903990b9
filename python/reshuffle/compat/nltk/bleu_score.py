"""The functions of ``nltk.translate.bleu_score``, with the same arguments and results, counted by reshuffle."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import nltk.translate.bleu_score as host
from nltk.translate.bleu_score import SmoothingFunction, brevity_penalty, closest_ref_length, modified_precision

from ..patching import NotNative, Seam, rebound
from .native import MOST_ORDERS, bleu, check_orders, counted
from .smoothing import Corpus, keywords, smoothed

__all__ = [
    "SEAM",
    "SmoothingFunction",
    "brevity_penalty",
    "closest_ref_length",
    "corpus_bleu",
    "modified_precision",
    "sentence_bleu",
]

Tokens = Sequence[str]
Weights = Sequence[float] | Sequence[Sequence[float]]

# NLTK's default, for which `auto_reweigh` has an effect.
UNIFORM = (0.25, 0.25, 0.25, 0.25)


def corpus_bleu(
    list_of_references: Sequence[Sequence[Tokens]],
    hypotheses: Sequence[Tokens],
    weights: Weights = UNIFORM,
    smoothing_function: Callable[..., Any] | None = None,
    auto_reweigh: bool = False,
) -> Any:
    """BLEU of a corpus, from 0 to 1, or a list of scores for a list of weights.

    Parameters are those of NLTK: a list of references for each hypothesis, all as lists of tokens, one weight for each
    order, and a smoothing function, which may be any that NLTK accepts.

    >>> references = [["the cat sat on the mat".split()], ["a dog".split(), "the dog".split()]]
    >>> round(corpus_bleu(references, ["the cat sat on a mat".split(), "the dog".split()]), 4)
    0.4914
    """
    SEAM.count()
    try:
        all_weights = _list_of(weights)
        order = _order(all_weights)
        rows = counted(bleu(order, True).counted_tokens, list_of_references, hypotheses)
        if smoothing_function and _KEYWORDS is None:
            raise NotNative("this version of NLTK passes unknown arguments to smoothing functions")
    except NotNative as reason:
        return SEAM.leave(reason, list_of_references, hypotheses, weights, smoothing_function, auto_reweigh)
    hyp_length, ref_length, *ngrams = (rows[0] if len(rows) == 1 else rows.sum(axis=0)).tolist()
    matches, totals = ngrams[:order], ngrams[order:]
    if matches[0] == 0:
        return 0 if len(all_weights) == 1 else [0] * len(all_weights)
    corpus = Corpus(matches, totals, hyp_length, list_of_references, hypotheses)
    precisions = smoothed(smoothing_function or host.SmoothingFunction().method0, corpus, _KEYWORDS or ())
    penalty = host.brevity_penalty(ref_length, hyp_length)
    scores = []
    for weight in all_weights:
        if auto_reweigh and hyp_length < len(UNIFORM) and weight == UNIFORM:
            weight = (1 / hyp_length,) * hyp_length
        logarithms = [w * math.log(p) for w, p in zip(weight, precisions, strict=False) if p > 0]
        scores.append(penalty * math.exp(math.fsum(logarithms)))
    return scores[0] if len(all_weights) == 1 else scores


ABOUT = "BLEU of a sentence, from 0 to 1, or a list of scores for a list of weights."
sentence_bleu = rebound(host.sentence_bleu, __name__, ABOUT, corpus_bleu=corpus_bleu)


def _list_of(weights: Any) -> Any:
    """A list of weights for each score. As in NLTK, what they contain decides whether there are several."""
    try:
        weights[0][0]
    except (TypeError, IndexError):
        return [weights]
    return weights


def _order(all_weights: Any) -> int:
    try:
        order = len(all_weights[0]) if len(all_weights) == 1 else max(map(len, all_weights))
    except (TypeError, ValueError):
        raise NotNative("the weights are not sequences") from None
    check_orders(1, order, MOST_ORDERS["bleu"])
    return order


SEAM = Seam.function(host.corpus_bleu, corpus_bleu)

_KEYWORDS = keywords(SEAM.original)
