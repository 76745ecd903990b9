"""NLTK's smoothing functions, without its class of fractions, which takes most of their time."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import nltk.translate.bleu_score as host
from nltk.translate.bleu_score import SmoothingFunction

from .native import bleu, counted

# What `corpus_bleu` passes to a smoothing function besides the precisions in NLTK 3.9.1 to 3.10.4. References and
# hypothesis are those of the last segment.
NOW = ("references", "hypothesis", "hyp_len")
# A change that passes the whole corpus as well is under way (https://github.com/nltk/nltk/pull/3903).
KNOWN = (*NOW, "list_of_references", "hypotheses")

# The order of the n-grams beyond BLEU's that `method5` looks at.
BEYOND = 5

MOST_INTERPOLATED = 8

# A precision: a ratio of integers, which has no rounding error, or a float.
Precision = tuple[int, int] | float


class Corpus(NamedTuple):
    """The summed counts of a corpus, the number of tokens of its hypotheses, and its texts."""

    matches: list[int]
    totals: list[int]
    length: int
    list_of_references: Sequence[Any]
    hypotheses: Sequence[Any]

    @property
    def ratios(self) -> list[tuple[int, int]]:
        """The precision of each order."""
        return list(zip(self.matches, self.totals, strict=True))

    def passed(self, names: Sequence[str]) -> dict[str, Any]:
        """The arguments of these names for a smoothing function."""
        values = {
            "references": self.list_of_references[-1],
            "hypothesis": self.hypotheses[-1],
            "hyp_len": self.length,
            "list_of_references": self.list_of_references,
            "hypotheses": self.hypotheses,
        }
        return {name: values[name] for name in names}


def keywords(function: Any) -> tuple[str, ...] | None:
    """The names of the arguments that this version of ``corpus_bleu`` passes, or None if one of them is unknown."""
    for constant in function.__code__.co_consts:
        if isinstance(constant, tuple) and "hyp_len" in constant:
            return constant if set(constant) <= set(KNOWN) else None
    return None


def smoothed(method: Any, corpus: Corpus, names: Sequence[str]) -> list[Any]:
    """The precisions that a smoothing function returns, those of NLTK's own as floats.

    ``names`` are the arguments that the function gets besides the precisions.
    """
    if type(getattr(method, "__self__", None)) is SmoothingFunction:
        native = _METHODS.get(method.__func__)
        if native is not None and (names == NOW or native in _OF_COUNTS):
            found = native(method, corpus)
            if found is not None:
                return list(map(_float, found))
    fractions = [host.Fraction(m, t, _normalize=False) for m, t in corpus.ratios]
    return list(method(fractions, **corpus.passed(names)))


# --- the methods. None means that NLTK's own has to be used, perhaps because it raises an error.

Smoothed = Sequence[Precision] | None


def _none(method: Any, corpus: Corpus) -> Smoothed:
    if 0 not in corpus.matches:
        return corpus.ratios
    # For the warnings. The method reads only the attribute `numerator`, which integers have.
    method(corpus.matches)
    return [(m, t) if m else sys.float_info.min for m, t in corpus.ratios]


def _add_epsilon(method: Any, corpus: Corpus) -> Smoothed:
    epsilon = method.__self__.epsilon
    return [(m, t) if m else float((m + epsilon) / t) for m, t in corpus.ratios]


def _add_one(method: Any, corpus: Corpus) -> Smoothed:
    first, *others = corpus.ratios
    return [first, *((m + 1, t + 1) for m, t in others)]


def _halved(method: Any, corpus: Corpus) -> Smoothed:
    return _numbered(corpus, lambda k, total: 1 / (2**k * total))


def _halved_by_length(method: Any, corpus: Corpus) -> Sequence[Precision]:
    if corpus.length <= 1:
        return corpus.ratios
    strength, logarithm = method.__self__.k, math.log(corpus.length)
    return _numbered(corpus, lambda k, total: 1 / (2**k * strength / logarithm) / total)


def _numbered(corpus: Corpus, value: Callable[[int, int], float]) -> Sequence[Precision]:
    """The precisions, where ``value(k, total)`` replaces that of the k-th order without a match."""
    precisions: list[Precision] = []
    k = 0
    for m, t in corpus.ratios:
        k += not m
        precisions.append((m, t) if m else value(k, t))
    return precisions


def _means(precisions: Sequence[Precision], corpus: Corpus) -> list[Precision]:
    """The mean of each precision, the smoothed one before it (for the first, itself and 1), and the one after it."""
    texts = [corpus.list_of_references[-1]], [corpus.hypotheses[-1]]
    row = counted(bleu(BEYOND, True).counted_tokens, *texts)[0].tolist()
    after = (row[1 + BEYOND], row[1 + 2 * BEYOND])
    means: list[Precision] = []
    before = _sum(precisions[0], (1, 1))
    for precision, following in zip(precisions, [*precisions[1:], after], strict=True):
        total = _sum(_sum(before, precision), following)
        before = total / 3 if isinstance(total, float) else (total[0], 3 * total[1])
        means.append(before)
    return means


def _sum(a: Precision, b: Precision) -> Precision:
    if isinstance(a, float) or isinstance(b, float):
        return _float(a) + _float(b)
    return a[0] * b[1] + b[0] * a[1], a[1] * b[1]


def _float(precision: Precision) -> float:
    return precision if isinstance(precision, float) else precision[0] / precision[1]


def _interpolated(method: Any, corpus: Corpus) -> Smoothed:
    alpha, precisions = method.__self__.alpha, corpus.ratios
    # NLTK's error without a trigram; and with every order, the integers have twice as many digits.
    usual = type(alpha) is int and alpha > 0 and 2 < len(precisions) <= MOST_INTERPOLATED
    if not usual or 0 in corpus.matches[:3]:
        return None
    length = len(corpus.hypotheses[-1])
    for i in range(2, len(precisions)):
        (above, below), (above_before, below_before) = precisions[i - 1], precisions[i - 2]
        # The prior is the square of the last precision over the one before it.
        prior, of = above**2 * below_before, below**2 * above_before
        precisions[i] = corpus.matches[i] * of + alpha * prior, of * (max(length - i, 0) + alpha)
    return precisions


_METHODS: dict[Any, Callable[[Any, Corpus], Smoothed]] = {
    SmoothingFunction.method0: _none,
    SmoothingFunction.method1: _add_epsilon,
    SmoothingFunction.method2: _add_one,
    SmoothingFunction.method3: _halved,
    SmoothingFunction.method4: _halved_by_length,
    SmoothingFunction.method5: lambda method, corpus: _means(corpus.ratios, corpus),
    SmoothingFunction.method6: _interpolated,
    SmoothingFunction.method7: lambda method, corpus: _means(_halved_by_length(method, corpus), corpus),
}
# Those that need no more than counts, and therefore are the same whatever they are passed.
_OF_COUNTS = {_none, _add_epsilon, _add_one, _halved, _halved_by_length}
