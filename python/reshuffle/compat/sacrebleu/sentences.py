"""The metric object of ``sentence_bleu``. It is cached, because creating one takes as long as scoring a sentence."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from .counting import TOKENIZER_NAMES, is_native

__all__ = ["bleu_of_sentences"]


def bleu_of_sentences(cls: Any, *options: object) -> Any:
    """The metric that ``sentence_bleu`` creates. ``options`` are in the order of its parameters.

    Calls with the same options share a metric. This is safe because ``sentence_bleu`` does not return it, and it keeps
    nothing from one sentence to the next.
    """
    try:
        metric = _shared(cls, cls.__init__, *options)
    except TypeError:  # an option cannot be hashed
        metric = None
    return _new(cls, *options) if metric is None else metric


def _new(
    cls: Any, smooth_method: object, smooth_value: object, lowercase: object, tokenize: object, effective_order: object
) -> Any:
    return cls(
        lowercase=lowercase,
        tokenize=tokenize,
        force=False,
        smooth_method=smooth_method,
        smooth_value=smooth_value,
        effective_order=effective_order,
    )


# Typed, because smoothing values 1 and 1.0 give counts of different types.
@lru_cache(maxsize=64, typed=True)
def _shared(cls: Any, init: object, *options: object) -> Any:
    """The metric, or None if each call has to create it."""
    tokenize = options[3]
    # Other tokenizers log messages or load models when they are created, and other classes may have any side effect.
    shareable = type(tokenize) is str and tokenize in TOKENIZER_NAMES and is_native(init, "__init__")
    return _new(cls, *options) if shareable else None
