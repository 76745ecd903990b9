"""What :func:`reshuffle.compat.install` replaces in sacreBLEU's metrics; for its tests, see significance.py."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any, cast

import sacrebleu.compat as functions
from sacrebleu.metrics.base import Metric
from sacrebleu.utils import sum_of_lists

from ..patching import NotNative, Seam
from .counting import TOKENIZER_NAMES, cached, integer_sums, is_native, statistics
from .references import ReferenceCache

# sacreBLEU warns if this many hypotheses look tokenized, or more.
TOKENIZED = 100


def _extract_corpus_statistics(
    self: Any, hypotheses: Sequence[str], references: Sequence[Sequence[str | None]] | None
) -> list[list[Any]]:
    EXTRACT.count()
    # The original could not read an iterator again.
    hypotheses, references = _read(hypotheses), _read_columns(references)
    try:
        rows = statistics(self, hypotheses, references)
    except NotNative as reason:
        return EXTRACT.leave(reason, self, hypotheses, references)  # type: ignore[no-any-return]
    if not self._force and len(rows) >= TOKENIZED:
        warn_of_tokenized(islice(hypotheses, len(rows)))
    return rows


def _cache_references(self: Any, references: Sequence[Sequence[str | None]]) -> ReferenceCache:
    CACHE.count()
    references = _read_columns(references)
    try:
        return cached(self, references)
    except NotNative as reason:
        return CACHE.leave(reason, self, references)  # type: ignore[no-any-return]


_SEQUENCES = frozenset([list, tuple, str])


def _read(values: Any) -> Any:
    return list(values) if type(values) not in _SEQUENCES and isinstance(values, Iterator) else values


def _read_columns(references: Any) -> Any:
    references = _read(references)
    if type(references) in (list, tuple) and not _SEQUENCES.issuperset(map(type, references)):
        return [_read(column) for column in references]
    return references


class _Tokenized:
    """A metric that counts nothing."""

    _force = False

    def _cache_references(self, references: list[list[str]]) -> list[str]:
        return references[0]

    def _preprocess_segment(self, line: str) -> str:
        return line

    def _compute_segment_statistics(self, hypothesis: str, info: str) -> None:
        pass


def warn_of_tokenized(hypotheses: Iterable[str]) -> None:
    """Let sacreBLEU log its own warning if enough hypotheses look tokenized."""
    ends = [line[-2:] for line in hypotheses if line.endswith(" .")]
    if len(ends) >= TOKENIZED:
        EXTRACT.original(_Tokenized(), ends, [ends])


def sentence_bleu(hypothesis: str, references: Sequence[str], *options: object) -> Any:
    """What the function of this name returns, with the class ``BLEU`` that other code may have put into its module."""
    SENTENCE_BLEU.count()
    return bleu_of_sentences(functions.BLEU, *options).sentence_score(hypothesis, references)


# Creating the metric of ``sentence_bleu`` takes as long as scoring a sentence.


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


def _new(cls: Any, *options: object) -> Any:
    names = ("smooth_method", "smooth_value", "lowercase", "tokenize", "effective_order")
    return cls(force=False, **dict(zip(names, options, strict=True)))


# Typed, because smoothing values 1 and 1.0 give counts of different types.
@lru_cache(maxsize=64, typed=True)
def _shared(cls: Any, init: object, *options: object) -> Any:
    """The metric, or None if each call has to create it."""
    tokenize = options[3]
    # Other tokenizers log messages or load models when they are created, and other classes may have any side effect.
    shareable = type(tokenize) is str and tokenize in TOKENIZER_NAMES and is_native(init, "__init__")
    return _new(cls, *options) if shareable else None


def summed(rows: Sequence[Any]) -> Any:
    """What ``sum_of_lists`` returns for two or more rows."""
    SUM.count()
    sums = integer_sums(rows)
    return SUM.original(rows) if sums is None else sums


EXTRACT = Seam.method(Metric, "_extract_corpus_statistics", cast(Any, _extract_corpus_statistics))
CACHE = Seam.method(Metric, "_cache_references", cast(Any, _cache_references))
SENTENCE_BLEU = Seam.function(functions.sentence_bleu, sentence_bleu)
SUM = Seam.function(sum_of_lists, summed, shortcut="if len(lists) == 1: return lists[0]")
