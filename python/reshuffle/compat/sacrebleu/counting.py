"""Counts for a metric of sacreBLEU, from hypotheses and references.

The options of the metric are read whenever it counts, because programs may change them after its construction. *Hooks*
are methods of the metric that a subclass or an instance may override. An overridden hook that preprocesses lines is
called for every line, as often as sacreBLEU does, and the result is counted here. If any other hook that affects counts
is overridden, :class:`NotNative` is raised, and the caller uses sacreBLEU's method.
"""

from __future__ import annotations

import math
import os
import string
import sys
import warnings
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from types import FunctionType
from typing import Any, TypeVar

import numpy as np
import sacrebleu
from numpy.typing import NDArray
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER
from sacrebleu.tokenizers.tokenizer_re import TokenizerRegexp
from sacrebleu.tokenizers.tokenizer_ter import TercomTokenizer

from reshuffle import InputError, InputWarning, NativeMetric, metric

from ..patching import NotNative
from .references import Columns, Info, Options, Reading, ReferenceCache

# The limits of the native metrics' options.
MOST_ORDERS = {"bleu": 100, "chrf": 16}
LARGEST_BETA = 1e6
# If the least common multiple of the numbers of references is larger, the native metric rounds mean lengths.
LARGEST_MULTIPLE = 1 << 31
# Rows that are passed to `zip` at once, which takes about a hundred bytes for each.
ROWS_AT_ONCE = 4096

T = TypeVar("T")

_NONE = type(None)
_INTEGERS = frozenset([int])
_STRINGS = frozenset([str])
_TEXT = frozenset([str, _NONE])

# What a subclass of str does not override if it is counted as str.
_BEHAVIOUR = frozenset(vars(str)) - {
    *("__new__", "__init__", "__doc__", "__repr__", "__str__", "__format__", "__getattribute__"),
    *("__getnewargs__", "__sizeof__"),
}

_PUNCTUATION = frozenset(string.punctuation)

_FOLDER = os.path.dirname(__file__) + os.sep  # noqa: PTH120
_HOST_FOLDER = os.path.dirname(sacrebleu.__file__) + os.sep  # noqa: PTH120


# --- which hooks are overridden


def overrides(metric: Any, *hooks: str) -> str | None:
    """The first of these methods that the metric's class or the instance overrides, or None.

    sacreBLEU's own methods, the replacements in this package, and the methods of its subclasses are not overrides.
    """
    own, cls = vars(metric), type(metric)
    owner = _host_class(cls)  # type: ignore[arg-type] # as in _kind
    for hook in hooks:
        try:
            if hook in own or not is_native(getattr(cls, hook), hook, owner):
                return hook
        except TypeError:  # lru_cache cannot hash it, so it is not a function
            return hook
    return None


@lru_cache(maxsize=256)
def _host_class(cls: type) -> type | None:
    """sacreBLEU's class of a metric."""
    return next((base for base in cls.__mro__ if base in _KINDS), None)


@lru_cache(maxsize=1024)
def is_native(function: object, name: str, owner: type | None = None) -> bool:
    """Whether the function of this name was defined by sacreBLEU, in the class ``owner``, or by this package.

    The file of the code is compared, because :func:`functools.wraps` copies names.
    """
    function = getattr(function, "__wrapped__", function) if hasattr(function, "cache_info") else function
    if not isinstance(function, FunctionType) or function.__name__ != name:
        return False
    file = function.__code__.co_filename
    if owner is None or not file.startswith(_HOST_FOLDER):
        return file.startswith((_HOST_FOLDER, _FOLDER))
    # A subclass may use a method of another metric.
    return function.__qualname__ in (f"{owner.__name__}.{name}", f"Metric.{name}")


# --- what is specific to BLEU, chrF and TER


def _none(metric: Any) -> Options:
    return ()


def _own_info(owner: Any, lines: list[str], preprocessed: bool) -> Info:
    if not preprocessed:
        lines = [owner._preprocess_segment(line) for line in lines]
    info: Info = owner._extract_reference_info(lines)
    return info


@dataclass(frozen=True)
class _Kind:
    """A class of sacreBLEU's metrics, and how its options are translated to those of reshuffle's native metric ``key``.

    ``hooks`` are the methods that native counts replace. ``reading`` returns how lines are preprocessed, or None if
    ``_preprocess_segment`` has to be called. ``shape`` returns the options that affect cached references, and
    ``choice`` those that do not. ``plain`` are the options for lines that are already preprocessed. ``passes`` is how
    often sacreBLEU preprocesses a reference. ``info`` computes sacreBLEU's dictionary of a segment from a metric, the
    segment's references, and whether these are already preprocessed.
    """

    key: str
    hooks: tuple[str, ...]
    reading: Callable[[Any], Reading | None]
    shape: Callable[[Any], Options] = _none
    choice: Callable[[Any], Options] = _none
    plain: Options = ()
    info: Callable[[Any, list[str], bool], Info] = _own_info
    passes: int = 1


def _bleu_reading(bleu: Any) -> Reading | None:
    name = _tokenizer_name(bleu.tokenizer)
    return None if name is None else _tokenized(name, bool(bleu.lowercase))


@lru_cache
def _tokenized(name: str, lowercase: bool) -> Reading:
    return Reading(lowercase, (("tokenize", name),))


def _bleu_shape(bleu: Any) -> Options:
    return (("max_ngram_order", _integer(bleu, "max_ngram_order", 1, MOST_ORDERS["bleu"])),)


def _chrf_reading(chrf: Any) -> Reading | None:
    return Reading(bool(chrf.lowercase), ())


def _chrf_shape(chrf: Any) -> Options:
    characters, words = (_integer(chrf, name, 0, MOST_ORDERS["chrf"]) for name in ("char_order", "word_order"))
    return (("char_order", characters), ("word_order", words), ("whitespace", bool(chrf.whitespace)))


def _chrf_choice(chrf: Any) -> Options:
    """The options that determine which of several references a hypothesis is compared with.

    Raises :class:`NotNative` if other attributes have unusual values.
    """
    beta = chrf.beta
    if chrf.word_order > 0 and chrf._PUNCTS != _PUNCTUATION:
        raise NotNative("_PUNCTS is not ASCII punctuation")
    if chrf.order != chrf.char_order + chrf.word_order or chrf.order == 0:
        raise NotNative("order is not the sum of char_order and word_order, or is 0")
    # The native metric computes beta * beta, sacreBLEU beta**2. If they differ in the last bit, so may the choice.
    if type(beta) not in (int, float) or not 0 <= beta <= LARGEST_BETA or beta * beta != beta**2:
        raise NotNative("beta is not a number from 0 to 1,000,000, or beta * beta and beta**2 differ")
    return (("beta", float(beta)), ("eps_smoothing", bool(chrf.eps_smoothing)))


def _ter_reading(ter: Any) -> Reading | None:
    tokenizer = ter.tokenizer
    if type(tokenizer) is not TercomTokenizer or not is_native(TercomTokenizer.__call__, "__call__"):
        return None
    # sacreBLEU lowercases first, then normalizes. Lowercasing twice changes nothing.
    return Reading(
        not tokenizer._case_sensitive,
        (
            ("normalized", bool(tokenizer._normalized)),
            ("no_punct", bool(tokenizer._no_punct)),
            ("asian_support", bool(tokenizer._asian_support)),
            ("case_sensitive", True),
        ),
    )


def _ter_info(owner: Any, lines: list[str], preprocessed: bool) -> Info:
    # TER preprocesses lines again when it splits them into words.
    return {"ref_words": [line.split() for line in lines]} if preprocessed else _own_info(owner, lines, False)


_HOOKS = ("_extract_reference_info", "_compute_segment_statistics")
_CHRF_HOOKS = ("_get_match_statistics", "_remove_punctuation")

_KINDS: dict[type, _Kind] = {
    BLEU: _Kind("bleu", (*_HOOKS, "_get_closest_ref_len"), _bleu_reading, _bleu_shape, plain=(("tokenize", "none"),)),
    CHRF: _Kind("chrf", (*_HOOKS, *_CHRF_HOOKS), _chrf_reading, _chrf_shape, _chrf_choice),
    TER: _Kind("ter", _HOOKS, _ter_reading, plain=(("case_sensitive", True),), info=_ter_info, passes=2),
}


def _kind(metric: Any) -> _Kind:
    """The class of the metric. Raises :class:`NotNative` if it is not sacreBLEU's, or overrides how it counts."""
    cls = type(metric)
    host_class = _host_class(cls)  # type: ignore[arg-type] # the types of sacreBLEU are unknown
    if host_class is None:
        raise NotNative(f"{cls.__name__} is not BLEU, CHRF or TER")
    kind = _KINDS[host_class]
    hook = overrides(metric, *kind.hooks)
    if hook is not None:
        raise NotNative(f"{cls.__name__} overrides {hook}")
    return kind


def _integer(metric: Any, name: str, low: int, high: int) -> int:
    value = getattr(metric, name)
    if type(value) is not int or not low <= value <= high:
        raise NotNative(f"{name} is not an integer from {low} to {high}")
    return value


# --- tokenizers

# BLEU's tokenizers that reshuffle has: module and class, then the name and the attributes of an instance.
_TOKENIZERS = {
    ("sacrebleu.tokenizers.tokenizer_13a", "Tokenizer13a"): ("13a", {"_post_tokenizer"}),
    ("sacrebleu.tokenizers.tokenizer_zh", "TokenizerZh"): ("zh", {"_post_tokenizer"}),
    ("sacrebleu.tokenizers.tokenizer_intl", "TokenizerV14International"): ("intl", {"_re"}),
    ("sacrebleu.tokenizers.tokenizer_char", "TokenizerChar"): ("char", set()),
    ("sacrebleu.tokenizers.tokenizer_none", "NoneTokenizer"): ("none", set()),
}
TOKENIZER_NAMES = frozenset(name for name, _ in _TOKENIZERS.values())
_RULES = TokenizerRegexp()._re
_INTL_RULES = [(r"(\P{N})(\p{P})", r"\1 \2 "), (r"(\p{P})(\P{N})", r" \1 \2"), (r"(\p{S})", r" \1 ")]


def _tokenizer_name(tokenizer: Any) -> str | None:
    """The name of reshuffle's tokenizer that does the same, or None."""
    cls = type(tokenizer)
    name, attributes = _TOKENIZERS.get((cls.__module__, cls.__qualname__), (None, None))
    if name is None or not is_native(cls.__call__, "__call__"):
        return None
    own = vars(tokenizer)
    if own.keys() != attributes:
        return None
    if name == "intl" and [(rule.pattern, to) for rule, to in own["_re"]] != _INTL_RULES:
        return None
    if name == "zh" and not is_native(cls._is_chinese_char, "_is_chinese_char"):
        return None
    if "_post_tokenizer" in own and not _is_unchanged(own["_post_tokenizer"]):
        return None
    return name


def _is_unchanged(tokenizer: Any) -> bool:
    """Whether the second stage of ``13a`` and ``zh`` is sacreBLEU's."""
    if type(tokenizer) is not TokenizerRegexp or not is_native(TokenizerRegexp.__call__, "__call__"):
        return False
    return bool(vars(tokenizer) == {"_re": _RULES})


# --- references


def cached(metric: Any, references: Iterable[Iterable[str | None]]) -> ReferenceCache:
    """The return value of ``_cache_references``. Sets ``metric.num_refs``.

    Raises
    ------
    NotNative
        If sacreBLEU's method has to be used.
    """
    kind = _kind(metric)
    owner = object.__new__(type(metric))
    vars(owner).update(vars(metric))
    cache = _read_references(kind, metric, _columns(references), owner)
    if cache.reading is not None and hasattr(owner, "tokenizer"):
        owner.tokenizer = copy(owner.tokenizer)
    return cache


def _read_references(kind: _Kind, metric: Any, columns: list[list[Any]], owner: Any) -> ReferenceCache:
    types = set(map(type, chain.from_iterable(columns)))
    if not types <= _TEXT and not all(kind_of_line is _NONE or _is_text(kind_of_line) for kind_of_line in types):
        raise NotNative("a reference is not a string")
    numbers = _numbers(columns) if _NONE in types else len(columns)
    shape = _options(kind.shape, metric)
    reading = _reading(kind, metric)
    if reading is None:
        columns = _preprocessed_references(metric, columns, kind.passes)
    distinct = set(numbers) if isinstance(numbers, list) else {numbers} if columns and columns[0] else set()
    metric.num_refs = distinct.pop() if len(distinct) == 1 else -1
    return ReferenceCache(columns, numbers, reading, shape, owner, kind.info)


@lru_cache(maxsize=64)
def _is_text(kind_of_line: type) -> bool:
    """Whether lines of this type behave as strings do. Some subclasses have their own ``split`` or ``replace``."""
    if not issubclass(kind_of_line, str):
        return False
    own = kind_of_line.__mro__[: kind_of_line.__mro__.index(str)]
    return kind_of_line is np.str_ or _BEHAVIOUR.isdisjoint(chain.from_iterable(map(vars, own)))


def _reading(kind: _Kind, metric: Any) -> Reading | None:
    return None if overrides(metric, "_preprocess_segment") else _options(kind.reading, metric)


def _options(read: Callable[[Any], T], metric: Any) -> T:
    """Options of a metric. They may be missing, if a subclass does not call the constructor of sacreBLEU's class."""
    try:
        return read(metric)
    except AttributeError as error:
        raise NotNative(f"{error}") from None


def _columns(references: Iterable[Iterable[Any]]) -> list[list[Any]]:
    """Columns of references, truncated to the length of the shortest as in sacreBLEU."""
    columns = _lists(references, "the references are not sequences")
    lengths = set(map(len, columns))
    if len(lengths) > 1:
        least = min(lengths)
        _warn(
            f"the references have {' and '.join(f'{length:,}' for length in sorted(lengths))} segments: as in "
            f"sacreBLEU, only the first {least:,} are used"
        )
        columns = [column[:least] for column in columns]
    return columns


def _lists(columns: Iterable[Iterable[Any]], problem: str) -> list[list[Any]]:
    try:
        return [list(column) for column in columns]
    except TypeError:
        raise NotNative(problem) from None


def _numbers(columns: list[list[Any]]) -> list[int]:
    """The number of references of each segment."""
    return [sum(line is not None for line in lines) for lines in zip(*columns, strict=True)]


def _preprocessed_references(metric: Any, columns: list[list[Any]], passes: int) -> Columns:
    """The columns after the metric's own preprocessing, which is called in the order of sacreBLEU."""
    rows: list[list[str | None]] = []
    for lines in zip(*columns, strict=True):
        row = list(lines)
        for _ in range(passes):
            row = [None if line is None else _preprocessed(metric, line) for line in row]
        rows.append(row)
    return [list(column) for column in zip(*rows, strict=True)]


def _preprocessed(metric: Any, line: str) -> str:
    text = metric._preprocess_segment(line)
    if not isinstance(text, str):
        raise NotNative(f"_preprocess_segment returned {type(text).__name__} instead of str")
    return text


# --- counts


def counts(
    metric: Any, systems: Sequence[Sequence[str]], references: Sequence[Sequence[str | None]] | None
) -> NDArray[np.int64]:
    """The counts of all systems, in one parallel call.

    Parameters
    ----------
    metric : sacreBLEU's BLEU, CHRF or TER, or a subclass
    systems : k sequences of S hypotheses
    references : columns of S references each, or None
        None uses the references that the metric has cached.

    Returns
    -------
    (k, S, K) ndarray of int64
        In the order of sacreBLEU's statistics.

    Raises
    ------
    NotNative
        If sacreBLEU's method has to be used.
    """
    hook = overrides(metric, "_extract_corpus_statistics")
    if hook is not None:
        raise NotNative(f"{type(metric).__name__} overrides {hook}")
    kind = _kind(metric)
    rows, numbers = _counted(kind, metric, systems, references)
    if kind is _KINDS[TER]:
        multiple = _multiple(numbers)
        if multiple > 1:
            if (rows[:, :, 1] % multiple).any():
                raise NotNative("mean lengths of references are not whole numbers")
            rows = rows // multiple
    return rows


def statistics(
    metric: Any, hypotheses: Sequence[str], references: Sequence[Sequence[str | None]] | None
) -> list[list[Any]]:
    """The return value of ``_extract_corpus_statistics`` for one system, without warnings about tokenized hypotheses.

    Raises
    ------
    NotNative
        If sacreBLEU's method has to be used.
    """
    kind = _kind(metric)
    counted, numbers = _counted(kind, metric, [hypotheses], references)
    rows = counted[0]
    if kind is not _KINDS[TER]:
        statistics: list[list[Any]] = rows.tolist()
        return statistics
    multiple = _multiple(numbers)
    # sacreBLEU divides the number of words by the number of references.
    words = rows[:, 1] * numbers // multiple
    return [list(row) for row in zip((rows[:, 0] // multiple).tolist(), (words / numbers).tolist(), strict=True)]


def as_statistics(metric: Any, rows: NDArray[np.int64]) -> list[list[Any]]:
    """(S, K) counts of one system in sacreBLEU's types: int, but float for TER's lengths of references."""
    values: list[list[Any]] = rows.tolist()
    if isinstance(metric, TER):
        return [[edits, float(length)] for edits, length in values]
    return values


def integer_sums(rows: Sequence[Any]) -> list[int] | None:
    """The sums of several rows of int, or None for rows of other types, which sacreBLEU has to sum."""
    if len(rows) < 2 or type(rows[0]) is not list or set(map(type, rows[0])) != _INTEGERS:
        return None
    sums = [0] * len(rows[0])
    try:
        for start in range(0, len(rows), ROWS_AT_ONCE):
            sums = [sum(column) for column in zip(sums, *rows[start : start + ROWS_AT_ONCE], strict=True)]
    except (TypeError, ValueError):
        return None
    return sums if set(map(type, sums)) == _INTEGERS else None


def _multiple(numbers: int | list[int]) -> int:
    """The factor by which the native metric multiplies TER's counts, so that mean lengths are whole numbers."""
    multiple = numbers if isinstance(numbers, int) else math.lcm(*numbers)
    if multiple > LARGEST_MULTIPLE:
        raise NotNative("the least common multiple of the numbers of references is above 2^31")
    return multiple


def _counted(
    kind: _Kind, metric: Any, systems: Sequence[Sequence[str]], references: Sequence[Sequence[str | None]] | None
) -> tuple[NDArray[np.int64], int | list[int]]:
    """The counts of the native metric, and the number of references of each segment."""
    all_hypotheses = _lists(systems, "the hypotheses are not a sequence")
    types = set(map(type, chain.from_iterable(all_hypotheses)))
    if not types <= _STRINGS and not all(map(_is_text, types)):
        raise NotNative("a hypothesis is not a string")
    choice = _options(kind.choice, metric)
    cache = _references(kind, metric, references)
    columns, numbers, texts = _aligned(cache, all_hypotheses)
    if 0 in numbers if isinstance(numbers, list) else numbers == 0:
        raise NotNative("a segment has no reference")
    reading = cache.reading if cache.owner is metric else _reading(kind, metric)
    if reading is None or reading != cache.reading:
        texts = [[_preprocessed(metric, line) for line in hypotheses] for hypotheses in texts]
        if cache.reading is not None:
            columns = _preprocessed_references(cache.owner, columns, kind.passes)
        options = kind.plain
    else:
        options = reading.options
        if reading.lowercase:
            texts = [[line.lower() for line in hypotheses] for hypotheses in texts]
            columns = [[None if line is None else line.lower() for line in column] for column in columns]
    native = _native(kind.key, (*options, *cache.shape, *choice))
    if not columns or not columns[0]:
        return np.zeros((len(texts), 0, len(native.columns)), np.int64), numbers
    rows = _count(native, texts, columns)
    if kind is _KINDS[CHRF]:
        _check_choice(metric, rows, numbers)
    return rows, numbers


def _count(native: NativeMetric, systems: list[list[str]], columns: Columns) -> NDArray[np.int64]:
    try:
        # Not `suff_stats`, because its checks take as long as counting a sentence.
        return native.counted_unchecked(columns, systems)
    except UnicodeError:
        raise NotNative("a line is not valid Unicode: it has a lone surrogate") from None
    except InputError as error:
        raise NotNative(f"{error}") from None


@lru_cache(maxsize=64)
def _native(key: str, options: Options) -> NativeMetric:
    return metric(key, **dict(options))


def _references(kind: _Kind, metric: Any, references: Sequence[Sequence[str | None]] | None) -> ReferenceCache:
    if references:
        hook = overrides(metric, "_cache_references")
        if hook is not None:
            raise NotNative(f"{type(metric).__name__} overrides {hook}")
        return _read_references(kind, metric, _columns(references), metric)
    cache = metric._ref_cache
    if not isinstance(cache, ReferenceCache):
        raise NotNative("the references were cached by sacreBLEU" if cache else "there are no references")
    if not cache:
        raise NotNative("there are no references")
    if cache.is_read:
        raise NotNative("the cached references were read, and may have been changed")
    if cache.shape != _options(kind.shape, metric):
        raise NotNative("options have changed since the references were cached")
    return cache


def _aligned(cache: ReferenceCache, systems: list[list[str]]) -> tuple[Columns, int | list[int], list[list[str]]]:
    """References, their numbers, and systems, all truncated to the same number of segments as in sacreBLEU."""
    lengths = set(map(len, systems))
    if lengths == {len(cache)}:
        return cache.columns, cache.numbers, systems
    least = min(*lengths, len(cache)) if lengths else 0
    hypotheses = " and ".join(f"{length:,}" for length in sorted(lengths))
    _warn(
        f"there are {hypotheses} hypotheses and {len(cache):,} segments with references: as in sacreBLEU, only the "
        f"first {least:,} are scored"
    )
    if len({min(length, len(cache)) for length in lengths}) > 1:
        raise NotNative("the systems have different numbers of hypotheses")
    return (*cache.first(least), [system[:least] for system in systems])


def _check_choice(metric: Any, rows: NDArray[np.int64], numbers: int | list[int]) -> None:
    """Raises :class:`NotNative` if an overridden F-score may choose another reference than the native one, or none."""
    if overrides(metric, "_compute_f_score") is None:
        return
    if not isinstance(numbers, int) or numbers > 1:
        raise NotNative(f"{type(metric).__name__} overrides _compute_f_score, and there are several references")
    for system in rows.tolist():
        for row in system:
            # sacreBLEU begins with a best score of -1.
            if not metric._compute_f_score(row) > -1.0:
                raise NotNative(f"_compute_f_score of {type(metric).__name__} returns -1 or less")


def _warn(message: str) -> None:
    """Issue a warning that points to the calling line outside reshuffle and sacreBLEU."""
    level, frame = 1, sys._getframe(0)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in (
        "reshuffle",
        "sacrebleu",
    ):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, InputWarning, stacklevel=level)
