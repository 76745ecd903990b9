"""Exact match and token F1 of answers to questions, as in the script of SQuAD."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Callable
from functools import cache, partial
from operator import eq

from .base import Found, Options, Spec, Texts

ARTICLES = re.compile(r"\b(?:a|an|the)\b")
WITHOUT_PUNCTUATION = str.maketrans("", "", string.punctuation)


def normalized(answer: str) -> str:
    """The words of an answer in lower case, without ASCII punctuation and English articles.

    >>> normalized("The U.S.A.,  an  ally")
    'usa ally'
    """
    return " ".join(ARTICLES.sub(" ", answer.lower().translate(WITHOUT_PUNCTUATION)).split())


def word_f1(answer: str, gold: str) -> float:
    """F1 of the words of two normalized answers. Two empty ones agree.

    >>> word_f1("b c d", "a b c"), word_f1("", ""), word_f1("", "a")
    (0.6666666666666666, 1.0, 0.0)
    """
    if answer == gold:
        return 1.0
    words, expected = answer.split(), gold.split()
    if {*words}.isdisjoint(expected):  # most answers are all right or all wrong
        return 0.0
    common = sum((Counter(words) & Counter(expected)).values())
    return 2 * common / (len(words) + len(expected))


def _best(score: Callable[[str, str], float], texts: Texts, options: Options) -> Found:
    """The score of each answer against the gold answer that it is closest to."""
    import numpy as np

    clean, score = cache(normalized), cache(score)
    golds = [[clean(gold) for gold in own if gold is not None] for own in zip(*texts.references, strict=True)]
    for segment, own in enumerate(golds):
        if not own:
            texts.fail("the reference", segment, "all references are missing")
    scores = {
        name: np.array([max(score(clean(line), gold) for gold in own) for line, own in zip(lines, golds, strict=True)])
        for name, lines in texts.systems.items()
    }
    return Found(("score",), scores)


SQUAD = "D16-1264"
NORM = [("norm", "squad")]
EXACT = Spec(
    "exact",
    "share of answers that equal a gold answer, normalized as by SQuAD: no case, punctuation or English articles",
    SQUAD,
    shown="exact",
    counts="score",
    count=partial(_best, eq),
    fixed=NORM,
)
F1 = Spec(
    "f1",
    "F1 of the words of an answer and the closest gold answer, normalized as by SQuAD; the mean over questions",
    SQUAD,
    shown="F1",
    counts="score",
    count=partial(_best, word_f1),
    fixed=NORM,
    steps=1e9,
)
