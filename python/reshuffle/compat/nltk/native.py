"""Counts of reshuffle for NLTK's functions, which take lists of tokens."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeVar

from reshuffle import InputError, NativeMetric, metric

from ..patching import NotNative

T = TypeVar("T")

# The limits of the native metrics' options.
MOST_ORDERS = {"bleu": 100, "chrf": 16}


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


def counted(count: Callable[..., T], *arguments: Any, **options: Any) -> T:
    """What ``count`` returns for texts in NLTK's form. Raises :class:`NotNative` if they cannot be counted."""
    try:
        return count(*arguments, **options)
    except (TypeError, ValueError) as error:
        raise _reason(error) from None


def _reason(error: Exception) -> NotNative:
    if isinstance(error, UnicodeError):
        return NotNative("a text is not valid Unicode: it has a lone surrogate")
    if isinstance(error, InputError):
        # Not the message, which has numbers: there would be as many reasons as segments.
        return NotNative("there are no segments, a segment has no reference, or numbers of segments differ")
    return NotNative(str(error))
