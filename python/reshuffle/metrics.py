"""Metrics: from texts to counts, and from summed counts to scores.

The metrics themselves are written in Rust and found by name; :func:`metric` makes one with options. A function over
summed counts is a metric too.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from ._core import Progress
from .errors import MAX_THREADS, InputError, check_integer

__all__ = ["Formula", "Metric", "MetricLike", "NativeMetric", "metric", "resolve", "tokenize"]

Counts: TypeAlias = NDArray[np.int64]
Scores: TypeAlias = NDArray[np.float64]


class Metric(ABC):
    """A corpus score that is a function of summed integer counts.

    ``core`` is its formula in Rust, if it has one there.
    """

    name: str
    higher_is_better: bool = True
    core: _core.Metric | None = None

    @abstractmethod
    def score(self, totals: ArrayLike) -> Scores:
        """The scores of summed counts: shape (…, K) in, shape (…) out, in the metric's units."""

    def segment_scores(self, counts: ArrayLike) -> Scores:
        """The scores of segments, each by itself: shape (…, K) in, shape (…) out. The corpus formula by default."""
        return self.score(counts)

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

    def __post_init__(self) -> None:
        object.__setattr__(self, "core", _core.Metric(self.key, dict(self.options)))
        object.__setattr__(self, "name", self.core.name)
        object.__setattr__(self, "higher_is_better", self.core.higher_is_better)

    def __repr__(self) -> str:
        options = "".join(f", {name}={value!r}" for name, value in self.options.items())
        return f"metric({self.key!r}{options})"

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(metric, self.key, **self.options), ()

    @property
    def columns(self) -> list[str]:
        """What each of the K counts of a segment is."""
        return self.core.columns

    def suff_stats(
        self,
        systems: Sequence[Sequence[str]],
        references: Sequence[Sequence[str | None]],
        *,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> Counts:
        """Count all segments of all systems against the references, in one parallel call.

        Parameters
        ----------
        systems : k sequences of S hypotheses
        references : sequences of S references
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
        columns = ([list(column) for column in systems], [list(column) for column in references])
        try:
            return self.core.count(*columns, threads=thread_count(threads), progress=progress)
        except (TypeError, UnicodeError) as error:
            raise _explain(*columns, error) from None

    def score(self, totals: ArrayLike) -> Scores:
        """See :meth:`Metric.score`.

        >>> metric("bleu").score([4, 4, 4, 3, 2, 1, 4, 3, 2, 1])
        array(100.)
        """
        totals = counts_array(totals, "totals")
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
        """See :meth:`Metric.details`."""
        return dict(self.core.details(np.ascontiguousarray(totals)))

    def signature(self, n_references: str | None = None) -> str:
        """See :meth:`Metric.signature`.

        >>> metric("bleu").signature("1")
        'BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp'
        """
        return self._signature(self.core.signature, n_references)

    def segment_signature(self, n_references: str | None = None) -> str:
        """See :meth:`Metric.segment_signature`.

        >>> metric("bleu").segment_signature("1")
        'BLEU|nrefs:1|case:mixed|eff:yes|tok:13a|smooth:exp'
        """
        return self._signature(self.core.segment_signature, n_references)

    def _signature(self, options: Sequence[tuple[str, str]], n_references: str | None) -> str:
        nrefs = [] if n_references is None else [f"nrefs:{n_references}"]
        return "|".join([self.name, *nrefs, *(f"{name}:{value}" for name, value in options)])


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
        """See :meth:`Metric.score`. :class:`InputError` if the function gives another shape, NaN or an infinity."""
        totals = counts_array(totals, "totals")
        scores = np.asarray(self.function(totals), dtype=np.float64)
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
        return self.name if n_references is None else f"{self.name}|nrefs:{n_references}"


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
    raise InputError(f"a metric is a name, a Metric or a function over summed counts, got {like!r}")


def tokenize(lines: Iterable[str], tokenizer: str = "13a") -> list[list[str]]:
    """The tokens of each line.

    >>> tokenize(["Hello, world."])
    [['Hello', ',', 'world', '.']]
    """
    return _core.tokenize(list(lines), tokenizer)


def counts_array(values: ArrayLike, what: str, ndim: int | None = None) -> Counts:
    """``values`` as int64, or :class:`InputError` if that would change them or they have the wrong dimensions."""
    array = np.asarray(values)
    if ndim is not None and array.ndim != ndim:
        raise InputError(f"{what} must have {ndim} dimensions, got shape {array.shape}")
    if array.ndim == 0 or array.size == 0:
        raise InputError(f"{what} must hold at least one row of counts, got shape {array.shape}")
    if array.dtype == np.bool_ or np.issubdtype(array.dtype, np.integer):
        if array.dtype == np.uint64 and array.max() > np.iinfo(np.int64).max:
            raise InputError(f"{what} must fit 64-bit signed integers, got {array.max()}")
        return array.astype(np.int64, copy=False)
    if not np.issubdtype(array.dtype, np.floating):
        raise InputError(f"{what} must be integers, got {array.dtype}")
    bad = ~(np.isfinite(array) & (array == np.rint(array)) & (np.abs(array) < 2.0**62))
    if bad.any():
        raise InputError(f"{what} must be whole numbers, got {array[bad][0]}")
    return array.astype(np.int64)


def thread_count(threads: int | None) -> int:
    """The core's word for a number of threads: 0 for as many as there are cores."""
    return 0 if threads is None else check_integer("threads", threads, 1, MAX_THREADS)


def _explain(systems: list[list[str]], references: list[list[str | None]], error: Exception) -> InputError:
    """Find the line that the core could not take. Only called after it failed."""
    groups: list[tuple[str, Sequence[Sequence[object]], bool]] = [
        ("system", systems, False),
        ("reference", references, True),
    ]
    for what, columns, may_be_missing in groups:
        for number, column in enumerate(columns, 1):
            for segment, line in enumerate(column, 1):
                place = f"{what} {number}, segment {segment}"
                if line is None and may_be_missing:
                    continue
                if not isinstance(line, str):
                    return InputError(f"{place}: expected a string, got {line!r}")
                if any("\ud800" <= c <= "\udfff" for c in line):
                    return InputError(f"{place}: not valid Unicode, it holds a lone surrogate: {line!r}")
    return InputError(str(error))
