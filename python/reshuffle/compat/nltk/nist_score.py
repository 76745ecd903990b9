"""The functions of ``nltk.translate.nist_score``, with the same arguments and results, counted by reshuffle."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate, chain, islice, repeat
from typing import Any, cast

import nltk.translate.nist_score as host
import numpy as np
from nltk.translate.nist_score import nist_length_penalty
from numpy.typing import NDArray

from reshuffle import CommonNgrams, common_ngrams

from ..patching import NotNative, Seam, rebound
from .native import check_orders, counted

__all__ = ["SEAM", "corpus_nist", "nist_length_penalty", "sentence_nist"]

Tokens = Sequence[str]

MOST_ORDERS = 100


def corpus_nist(list_of_references: Sequence[Sequence[Tokens]], hypotheses: Sequence[Tokens], n: int = 5) -> float:
    """NIST of a corpus. For each order, NLTK uses the reference whose matches have the most information.

    >>> references = [["the cat sat on the mat".split()], ["a dog".split(), "the dog".split()]]
    >>> round(corpus_nist(references, ["the cat sat on a mat".split(), "the dog".split()], n=2), 4)
    2.9138
    """
    SEAM.count()
    try:
        check_orders(1, n, MOST_ORDERS)
        found = counted(common_ngrams, list_of_references, hypotheses, n)
        lengths = np.fromiter(map(len, hypotheses), np.int64, len(hypotheses))
        possible = np.maximum(lengths - np.arange(n)[:, None], 0).sum(axis=1).tolist()
        if 0 in possible:
            raise NotNative("no hypothesis has an n-gram of the last order")
        gained, reference_lengths = _best(found, list_of_references, len(lengths), n)
        if not reference_lengths:
            raise NotNative("the references are empty")
    except NotNative as reason:
        return cast(float, SEAM.leave(reason, list_of_references, hypotheses, n))
    precision = 0.0
    for gain, total in zip(gained, possible, strict=True):
        precision += gain / total
    return cast(float, precision * host.nist_length_penalty(reference_lengths, n * int(lengths.sum())))


sentence_nist = rebound(host.sentence_nist, __name__, "NIST of a sentence.", corpus_nist=corpus_nist)


def _best(found: CommonNgrams, references: Any, segments: int, n: int) -> tuple[list[float], int]:
    """The information gained in each order, and the lengths of the references, summed over orders and segments."""
    gains = _gains(found)
    lengths = np.fromiter(map(len, chain.from_iterable(references)), np.int64, gains.shape[1])
    if gains.shape[1] > segments:
        of = np.repeat(np.arange(segments), list(map(len, references)))
        last = np.flatnonzero(np.diff(of, append=segments))
        if len(last) < segments:
            raise NotNative("a segment has no reference")
        # The best reference of a segment is the last one of it in this order.
        best = np.stack([np.lexsort((lengths, gain, of))[last] for gain in gains])
        gains, lengths = np.take_along_axis(gains, best, axis=1), lengths[best]
    elif 0 in map(len, references):
        raise NotNative("a segment has no reference")
    else:
        lengths = lengths * n
    # Added from the first segment to the last, which numpy's sum does not do.
    return [list(accumulate(gain))[-1] for gain in gains.tolist()], int(lengths.sum())


def _gains(found: CommonNgrams) -> NDArray[np.float64]:
    """For each order and reference, the sum of the information of the matches: (n, P)."""
    own, of_prefix = found.frequencies.T
    # numpy's logarithm may differ from that of the math module in the last digit.
    information = np.array([math.log(ratio, 2) for ratio in (of_prefix / own).tolist()])
    values = iter((information[found.rows] * found.matches).tolist() if len(found.rows) else [])
    # Python's sum adds in another way than numpy's, and differently from one version of Python to the next.
    sums = map(sum, map(islice, repeat(values), found.numbers.ravel().tolist()))
    return np.fromiter(sums, float, found.numbers.size).reshape(found.numbers.shape)


SEAM = Seam.function(host.corpus_nist, corpus_nist)
