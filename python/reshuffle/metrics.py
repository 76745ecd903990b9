"""Metrics: from texts to counts, and from summed counts to scores.

The metrics themselves are written in Rust and found by name; :func:`metric` makes one with options. A function over
summed counts is a metric too.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core, signature
from ._core import Progress
from .corpus import listed_segments, numbered, reference_columns
from .errors import IN_SEGMENT, MAX_THREADS, InputError, Option, System, check_integer, check_name, quoted
from .lazy import lazy
from .mteval import SpacedText
from .specs import MetricSpec, OptionSpec, TokenizerSpec, metric_specs, tokenizer_specs
from .tokenizers import EXTERNAL, LoadedTokenizer, for_language, load, model_takers

__all__ = [
    "Formula",
    "Metric",
    "MetricLike",
    "MetricSpec",
    "NativeMetric",
    "OptionSpec",
    "TokenizerSpec",
    "metric",
    "metric_specs",
    "resolve",
    "tokenize",
    "tokenizer_specs",
]

Counts: TypeAlias = NDArray[np.int64]
Scores: TypeAlias = NDArray[np.float64]

# Sums of counts beyond this are refused, here and in the core, so that nothing ever wraps around in 64 bits.
LARGEST_SUM = _core.LARGEST_SUM
LARGEST_SUM_TOLD = f"2^{LARGEST_SUM.bit_length() - 1}"


class Metric(ABC):
    """A corpus score that is a function of summed integer counts.

    ``core`` is its formula in Rust, if it has one there. ``is_mean`` tells whether the score is the mean of the scores
    of segments; then a row of counts is a number and 1. ``reads_parses`` tells whether it counts parses (True) or texts
    (False) itself; None if it counts neither. ``decimals`` is the number of decimals of a score that are
    known where counts are numbers rounded to a unit, and None where counts are exact.
    """

    name: str
    higher_is_better: bool = True
    is_mean: bool = False
    is_sum: ClassVar[bool] = True
    decimals: int | None = None
    core: _core.Metric | None = None

    @property
    def columns(self) -> list[str] | None:
        """What each of the K counts of a segment is, if that is known."""
        return None

    @property
    def reads_parses(self) -> bool | None:
        """See above."""
        return None

    def named(self, name: str) -> Metric:
        """The same as what counts of this name are scored by: a function is called like them."""
        return self

    def formula_signature(self) -> str | None:
        """What scores counts from elsewhere, in one line; None for a function, which has no options."""
        return self.signature()

    @abstractmethod
    def score(self, totals: ArrayLike) -> Scores:
        """The scores of summed counts: shape (…, K) in, shape (…) out, in the metric's units."""

    def segment_scores(self, counts: ArrayLike) -> Scores:
        """The scores of segments, each by itself: shape (…, K) in, shape (…) out. The corpus formula by default."""
        return self.score(counts)

    def segment_scores_of(self, names: Sequence[str], counts: Counts) -> Scores:
        """The same of systems of these names, with (k, S, K) counts, to be shown: (k, S)."""
        scores = self.segment_scores(counts)
        return scores if self.decimals is None else scores.round(self.decimals)

    def details(self, totals: Counts) -> Mapping[str, float]:
        """The parts that make up the score of one (K,) row of summed counts."""
        return {}

    @abstractmethod
    def signature(self, n_references: str | None = None) -> str:
        """The options that change a score, in one line; ``n_references`` is a number or ``var``."""

    def segment_signature(self, n_references: str | None = None) -> str:
        """The same for scores of segments, where it differs."""
        return self.signature(n_references)


MetricLike: TypeAlias = "str | Metric | Callable[[Counts], ArrayLike]"


@dataclass(frozen=True)
class NativeMetric(Metric):
    """A metric counted and scored in Rust. Made by :func:`metric`."""

    key: str
    options: Mapping[str, Any]
    core: _core.Metric = field(init=False, repr=False, compare=False)
    _told: Mapping[str, str] = field(init=False, repr=False, compare=False)
    _cut: Callable[[str], str] | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # Lists and arrays of numbers become tuples, which can be compared and hashed.
        object.__setattr__(self, "options", {name: _listed(value) for name, value in self.options.items()})
        options = dict(self.options)
        defaults = _checked_names(self.key, options)
        language = options.pop("trg_lang", None)
        tokenize = options.pop("tokenize", None)
        if language is not None:
            tokenize = for_language(language, tokenize)
        if tokenize is not None:
            options["tokenize"] = tokenize
        tokenizer = _external(options.get("tokenize"), options.pop("tokenizer_model", None))
        if tokenizer is not None:
            options["tokenize"] = "none"
        core = _core.Metric(self.key, options)
        told: dict[str, str] = {}  # what the signature says that the core does not know
        cut = None
        if tokenizer is not None:
            told["tok"] = tokenizer.signature
            lowercase = "lowercase" in defaults and bool(options.get("lowercase", defaults["lowercase"]))
            cut = partial(_cut, tokenizer, lowercase)
            if lowercase:  # not again: tokens are compared in the case that the tokenizer gives them
                core = _core.Metric(self.key, {**options, "lowercase": False})
                told["case"] = "lc"
        object.__setattr__(self, "core", core)
        object.__setattr__(self, "_told", told)
        object.__setattr__(self, "_cut", cut)
        object.__setattr__(self, "name", core.name)
        object.__setattr__(self, "higher_is_better", core.higher_is_better)
        object.__setattr__(self, "decimals", core.decimals)

    def __repr__(self) -> str:
        options = "".join(f", {name}={value!r}" for name, value in self.options.items())
        return f"metric({self.key!r}{options})"

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(metric, self.key, **self.options), ()

    def __hash__(self) -> int:
        return hash((self.key, *sorted(self.options.items())))

    @property
    def tokenizes(self) -> bool:
        """Does it have a tokenizer other than ``none``?"""
        spec = next(spec for spec in metric_specs() if spec.name == self.key)
        default = next((option.default for option in spec.options if option.name == "tokenize"), "none")
        return bool(self.options.get("tokenize", default) != "none")

    @property
    def columns(self) -> list[str]:
        """What each of the K counts of a segment is."""
        return self.core.columns

    @property
    def reads_parses(self) -> bool:
        """See :class:`Metric`."""
        return next(spec.of_parses for spec in metric_specs() if spec.name == self.key)

    def suff_stats(
        self,
        systems: Mapping[str, Sequence[str]] | Sequence[Sequence[str]],
        references: Sequence[Sequence[str | None]],
        *,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> Counts:
        """Count all segments of all systems against the references, in one parallel call.

        Parameters
        ----------
        systems : k sequences of S hypotheses, or mapping of str to these
            Errors tell the names.
        references : S references, or columns of S references each
            None stands for a reference that is missing; every segment needs at least one.
        threads : int, optional
            As many as there are cores by default. The counts do not depend on it.
        progress : Progress, optional
            Tells another thread how far the count has come.

        Returns
        -------
        (k, S, K) ndarray of int64

        Raises
        ------
        InputError
            If lengths differ, nothing is given, or a segment has no reference.

        Examples
        --------
        >>> metric("bleu").suff_stats([["a b c"]], [["a b d"]])
        array([[[3, 3, 2, 1, 0, 0, 3, 2, 1, 0]]])
        """
        named = systems if isinstance(systems, Mapping) else numbered(systems)
        columns = [listed_segments(name, column) for name, column in named.items()], reference_columns(references)
        if self.options.get("tokenize") == "mteval-intl":
            columns = _spaced(columns[0]), _spaced(columns[1])
        try:
            tokenized = columns if self._cut is None else _tokenized(self._cut, *columns, progress)
            return self.core.count(*tokenized, threads=thread_count(threads), progress=progress)
        except InputError as error:  # of the core, which numbers the systems
            names = list(named)
            raise error.worded(System, lambda system: names[system - 1]) from None
        except (TypeError, UnicodeError) as error:
            raise _explain(list(named), *columns, error) from None

    def score(self, totals: ArrayLike) -> Scores:
        """See :meth:`Metric.score`.

        >>> metric("bleu").score([4, 4, 4, 3, 2, 1, 4, 3, 2, 1])
        array(100.)
        """
        totals = totals_array(totals)
        flat = np.ascontiguousarray(totals.reshape(-1, totals.shape[-1]))
        return np.asarray(self.core.scores(flat).reshape(totals.shape[:-1]))

    def segment_scores(self, counts: ArrayLike) -> Scores:
        """See :meth:`Metric.segment_scores`. BLEU leaves out the orders for which a hypothesis is too short.

        >>> metric("bleu").segment_scores([[2, 2, 2, 1, 0, 0, 2, 1, 0, 0]])
        array([100.])
        """
        counts = counts_array(counts, "counts")
        flat = np.ascontiguousarray(counts.reshape(-1, counts.shape[-1]))
        return np.asarray(self.core.segment_scores(flat).reshape(counts.shape[:-1]))

    def details(self, totals: Counts) -> Mapping[str, float]:
        """See :meth:`Metric.details`. What is a column of the counts is whole.

        >>> metric("length").details(np.array([3, 4]))
        {'hyp_len': 3, 'ref_len': 4}
        """
        counted = set(self.columns)
        details = self.core.details(np.ascontiguousarray(totals_array(totals)))
        return {name: int(value) if name in counted and value.is_integer() else value for name, value in details}

    def signature(self, n_references: str | None = None) -> str:
        """See :meth:`Metric.signature`.

        >>> metric("bleu").signature("1")
        'BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp'
        """
        return signature.of_metric(self.name, self._options_told, n_references)

    @lazy
    def _options_told(self) -> list[tuple[str, str]]:
        """The options that change a score, as signatures name them."""
        return self._tell(self.core.signature)

    def segment_signature(self, n_references: str | None = None) -> str:
        """See :meth:`Metric.segment_signature`.

        >>> metric("bleu").segment_signature("1")
        'BLEU|nrefs:1|case:mixed|eff:yes|tok:13a|smooth:exp'
        """
        return signature.of_metric(self.name, self._tell(self.core.segment_signature), n_references)

    def _tell(self, options: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
        return [(name, self._told.get(name, value)) for name, value in options]


@dataclass(frozen=True)
class Formula(Metric):
    """A metric given by a function over summed counts.

    The function takes an integer array of shape (…, K) and returns the scores, shape (…). It is called on thousands of
    replicates at once, so it should be vectorised.

    >>> accuracy = Formula("accuracy", lambda totals: totals[..., 0] / totals[..., 1])
    >>> accuracy.score([[3, 4], [1, 4]])
    array([0.75, 0.25])
    """

    name: str
    function: Callable[[Counts], ArrayLike]
    higher_is_better: bool = True

    def score(self, totals: ArrayLike) -> Scores:
        """See :meth:`Metric.score`.

        Raises :class:`InputError` if the function does not return finite numbers of the expected shape.
        """
        totals = totals_array(totals)
        given = self.function(totals)
        try:
            array = np.asarray(given)
            # Conversion alone would accept text, drop the imaginary part of complex numbers and make NaN of None.
            if array.dtype.kind not in "biufO" or given is None:
                raise TypeError
            scores = array.astype(np.float64)
        except (TypeError, ValueError, OverflowError):
            raise InputError(
                f"{self.name}: the function gave {quoted(given)} for totals of shape {totals.shape}; expected "
                f"numbers of shape {totals.shape[:-1]}, one score for each row of {totals.shape[-1]} counts"
            ) from None
        if scores.shape != totals.shape[:-1]:
            raise InputError(
                f"{self.name}: the function gave shape {scores.shape} for totals of shape {totals.shape}; "
                f"expected {totals.shape[:-1]}, one score for each row of {totals.shape[-1]} counts"
            )
        if not np.isfinite(scores).all():
            bad = totals.reshape(-1, totals.shape[-1])[~np.isfinite(scores).ravel()][0]
            raise InputError(f"{self.name}: the score of the totals {bad.tolist()} is not a finite number")
        return scores

    def signature(self, n_references: str | None = None) -> str:
        """See :meth:`Metric.signature`; a function has no options that could be told."""
        return signature.of_metric(self.name, n_references=n_references)

    def named(self, name: str) -> Formula:
        """See :meth:`Metric.named`."""
        return replace(self, name=name)

    def formula_signature(self) -> None:
        """See :meth:`Metric.formula_signature`."""
        return


def metric(name: str, **options: Any) -> NativeMetric:
    """A metric by name; ``reshuffle metrics`` lists the names and the options of each.

    Raises
    ------
    InputError
        For a name, option or value that does not exist, with the nearest that does.

    Examples
    --------
    >>> metric("bleu", lowercase=True, tokenize="none").signature()
    'BLEU|case:lc|eff:no|tok:none|smooth:exp'
    >>> metric("bleu", trg_lang="zh").signature()
    'BLEU|case:mixed|eff:no|tok:zh|smooth:exp'
    """
    return NativeMetric(name, options)


def resolve(like: MetricLike) -> Metric:
    """A metric from its name, from a function over summed counts, or from itself."""
    if isinstance(like, Metric):
        return like
    if isinstance(like, str):
        return metric(like)
    if callable(like):
        return Formula(getattr(like, "__name__", "score"), like)
    raise InputError(f"a metric is a name, a Metric or a function over summed counts, got {quoted(like)}")


def tokenize(
    lines: Iterable[str], tokenizer: str = "13a", *, tokenizer_model: str | os.PathLike[str] | None = None
) -> list[list[str]]:
    """The tokens of each line. ``tokenizer_model`` is the model's file, for tokenizers that take one.

    :class:`InputError` if ``lines`` is a string, or holds what is none.

    >>> tokenize(["Hello, world."])
    [['Hello', ',', 'world', '.']]
    """
    check_name("tokenizer", tokenizer, [spec.name for spec in tokenizer_specs()])
    external = _external(tokenizer, tokenizer_model)
    if isinstance(lines, str) or not isinstance(lines, Iterable):
        what = "a single string" if isinstance(lines, str) else quoted(lines)
        raise InputError(f"expected a sequence of lines, got {what}")
    lines = list(lines)
    for number, line in enumerate(lines, 1):
        problem = _no_text(line)
        if problem is not None:
            raise InputError(f"line {number}: {problem}")
    if external is None:
        return _core.tokenize(lines, tokenizer)
    return [external(line).split() for line in lines]


def _checked_names(key: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """The defaults of a metric's options, once those given are known to exist.

    The core checks all the rest, and the metric's own name, but does not know of other packages' tokenizers.
    """
    known = {option.name: option for spec in metric_specs() if spec.name == key for option in spec.options}
    for option in options if known else ():
        check_name(f"option of {key}", option, list(known))
        if option == "tokenize" and isinstance(options[option], str):
            check_name(Option(option), options[option], known[option].choices)
    return {option.name: option.default for option in known.values()}


def _listed(value: object) -> object:
    """Lists and one-dimensional arrays as tuples; other values unchanged."""
    if isinstance(value, np.ndarray) and value.ndim == 1:
        return tuple(value.tolist())
    return tuple(value) if isinstance(value, list) else value


def _external(name: object, model: object) -> LoadedTokenizer | None:
    """The tokenizer of another package, or None for one of the core or none at all."""
    tokenizer = EXTERNAL.get(name) if isinstance(name, str) else None
    if model is not None and (tokenizer is None or not tokenizer.takes_model):
        raise InputError(
            "{option} applies only if {other} is {takers}: leave it out",
            option=Option("tokenizer_model"),
            other=Option("tokenize"),
            takers=model_takers(),
        )
    return None if tokenizer is None else load(tokenizer.name, model)


def _cut(tokenizer: LoadedTokenizer, lowercase: bool, line: str) -> str:
    """The tokens of a line. sacreBLEU changes the case first, then drops white space at the end."""
    return tokenizer((line.lower() if lowercase else line).rstrip())


def _tokenized(
    cut: Callable[[str], str],
    systems: list[list[str]],
    references: list[list[str | None]],
    progress: Progress | None,
) -> tuple[list[list[str]], list[list[str | None]]]:
    """All columns with spaces between tokens; every distinct line is cut once."""
    columns: list[Sequence[str | None]] = [*systems, *references]
    distinct = {line for column in columns for line in column if line is not None}
    tokens: dict[str, str] = {}
    if progress is not None:
        progress.begin("tokenizing", len(distinct))
    for done, line in enumerate(distinct, 1):
        if not isinstance(line, str):
            raise TypeError(line)
        line.encode()  # UnicodeError from here and not from within a tokenizer
        tokens[line] = cut(line)
        if progress is not None:
            progress.update(done)
    # What is missing stays so: the core says whether it may.
    return (
        [[tokens.get(line, line) for line in column] for column in systems],
        [[None if line is None else tokens[line] for line in column] for column in references],
    )


L = TypeVar("L", str, "str | None")


def _spaced(columns: list[list[L]]) -> list[list[L]]:
    """Lines from mteval files with the white space that the file has at their ends."""
    return [[line.spaced if isinstance(line, SpacedText) else line for line in column] for column in columns]


def counts_array(values: ArrayLike, what: str, ndim: int | None = None) -> Counts:
    """``values`` as int64, or :class:`InputError` if that would change them or they have the wrong dimensions."""
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise InputError(f"{what} must be an array of whole numbers: {error}") from None
    if ndim is not None and array.ndim != ndim:
        raise InputError(f"{what} must have {ndim} dimensions, got shape {array.shape}")
    if array.ndim == 0 or array.size == 0:
        raise InputError(f"{what} must hold at least one row of counts, got shape {array.shape}")
    if array.dtype == np.int64:
        return array
    if array.dtype == np.bool_ or np.issubdtype(array.dtype, np.integer):
        if array.dtype == np.uint64 and array.max() > np.iinfo(np.int64).max:
            raise InputError(f"{what} must fit 64-bit signed integers, got {array.max()}")
        return array.astype(np.int64, copy=False)
    if not np.issubdtype(array.dtype, np.floating):
        raise InputError(f"{what} must be integers, got {array.dtype}")
    bad = ~(np.isfinite(array) & (array == np.rint(array)) & (np.abs(array) <= float(LARGEST_SUM)))
    if bad.any():
        raise InputError(f"{what} must be whole numbers, got {array[bad][0]}")
    return array.astype(np.int64)


def totals_array(values: ArrayLike) -> Counts:
    """Summed counts as int64, or :class:`InputError` if they are not whole numbers, or larger than the largest sum."""
    totals = counts_array(values, "totals")
    for extreme in (int(totals.max()), int(totals.min())):
        if abs(extreme) > LARGEST_SUM:
            raise InputError(f"totals must be at most {LARGEST_SUM_TOLD} in magnitude, got {extreme}")
    return totals


def check_sums(counts: Counts, place: str = "") -> None:
    """Raise :class:`InputError`, as the core does, if sums of (k, S, K) counts over segments could be too large.

    ``place``, if there is one, is told before.
    """
    ends = zip(counts.max(axis=(0, 1)).tolist(), counts.min(axis=(0, 1)).tolist(), strict=True)
    for column, (high, low) in enumerate(ends):
        if max(high, -low) * counts.shape[1] > LARGEST_SUM:
            message = "{place}the counts of column {column} are too large: their sum would pass {largest}"
            raise InputError(message, place=place, column=column, largest=LARGEST_SUM_TOLD)


def thread_count(threads: int | None) -> int:
    """The core's word for a number of threads: 0 for as many as there are cores."""
    return 0 if threads is None else check_integer("threads", threads, 1, MAX_THREADS)


def _explain(
    names: Sequence[str], systems: list[list[str]], references: list[list[str | None]], error: Exception
) -> InputError:
    """Find the line that the core could not take. Only called after it failed."""
    columns: list[tuple[str, Sequence[object]]] = list(zip(names, systems, strict=True))
    columns += [(f"reference {number}", column) for number, column in enumerate(references, 1)]
    for index, (what, column) in enumerate(columns):
        for segment, line in enumerate(column, 1):
            if line is None and index >= len(names):
                continue
            problem = _no_text(line)
            if problem is not None:
                return InputError(IN_SEGMENT, what=what, segment=segment, problem=problem)
    return InputError(str(error))


def _no_text(line: object) -> str | None:
    """What is wrong with a line that the core cannot take, if anything is."""
    if not isinstance(line, str):
        return f"expected a string, got {quoted(line)}"
    if any("\ud800" <= c <= "\udfff" for c in line):
        return f"not valid Unicode, it holds a lone surrogate: {quoted(line)}"
    return None
