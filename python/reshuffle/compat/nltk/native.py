"""Counts of reshuffle for NLTK's functions, which take lists of tokens."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reshuffle import CommonNgrams, InputError, NativeMetric, common_ngrams, metric

Array = NDArray[np.int64]

# The limits of the native metrics' options.
MOST_ORDERS = {"bleu": 100, "chrf": 16}


class NotNative(Exception):  # noqa: N818 - not an error: the caller then uses NLTK's function
    """reshuffle cannot compute this, and NLTK's own function has to. The argument is the reason."""


@lru_cache(maxsize=64)
def bleu(order: int, quirks: bool) -> NativeMetric:
    """Counts of words up to this order. With ``quirks``, at least one n-gram of each order in every segment."""
    return metric("bleu", tokenize="none", smooth_method="none", max_ngram_order=order, nltk_quirks=quirks)


@lru_cache(maxsize=64)
def chrf(order: int, whitespace: bool) -> NativeMetric:
    """Counts of characters up to this order."""
    return metric("chrf", char_order=order, word_order=0, whitespace=whitespace)


def check_orders(least: object, most: object, limit: int) -> None:
    """Raise :class:`NotNative` unless these are the bounds of a range of n-gram orders up to ``limit``."""
    if type(least) is not int or type(most) is not int or not 1 <= least <= most <= limit:
        raise NotNative(f"the orders of n-grams are not a range between 1 and {limit}")


def counts(native: NativeMetric, hypotheses: Any, references: Any, *, each_reference: bool = False) -> Array:
    """The counts of texts in NLTK's form. Raises :class:`NotNative` if they cannot be counted."""
    try:
        return native.counted_tokens(references, hypotheses, each_reference=each_reference)
    except (TypeError, ValueError) as error:
        raise _reason(error) from None


def common(hypotheses: Any, references: Any, order: int) -> CommonNgrams:
    """The n-grams that hypotheses and references have in common. Raises :class:`NotNative` as :func:`counts` does."""
    try:
        return common_ngrams(references, hypotheses, order)
    except (TypeError, ValueError) as error:
        raise _reason(error) from None


def of_lines(native: NativeMetric, hypotheses: list[str], references: list[str]) -> Array:
    """The counts of lines. Raises :class:`NotNative` if they cannot be counted."""
    try:
        rows: Array = native.counted_unchecked([[*references]], [hypotheses])[0]
    except (TypeError, ValueError) as error:
        raise _reason(error) from None
    return rows


def _reason(error: Exception) -> NotNative:
    if isinstance(error, UnicodeError):
        return NotNative("a text is not valid Unicode: it has a lone surrogate")
    if isinstance(error, InputError):
        # Not the message, which has numbers: there would be as many reasons as segments.
        return NotNative("there are no segments, a segment has no reference, or numbers of segments differ")
    return NotNative(str(error))
