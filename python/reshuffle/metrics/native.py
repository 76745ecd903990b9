"""Metrics that are counted and scored in Rust, by name; :func:`metric` makes one with options."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from .. import _core, signature
from .._core import Progress
from ..data.corpus import listed_segments, numbered, reference_columns
from ..data.formats.mteval import SpacedText
from ..errors import IN_SEGMENT, InputError, Option, System, quoted
from ..lazy import lazy
from ..validate import check_name
from .base import Counts, Formula, Metric, MetricLike, Scores, counts_array, thread_count, totals_array
from .registry import metric_specs, tokenizer_specs
from .tokenizers import EXTERNAL, LoadedTokenizer, for_language, load, model_takers

__all__ = ["NativeMetric", "metric", "resolve", "tokenize"]


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
        check_name(f"{key} option", option, list(known))
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
