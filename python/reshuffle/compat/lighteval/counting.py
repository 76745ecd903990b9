"""The counts of a task's items, and standard errors."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from reshuffle import InputError, InputWarning, NativeMetric, metric

from ..harness import Counted

Aggregation = Callable[[Sequence[Any]], float]


def count(metric: Aggregation, population: Iterable[Any]) -> Counted:
    """Count the items of a translation metric.

    The counts can be passed to the functions of reshuffle, for example to :func:`reshuffle.bootstrap_interval`.

    Parameters
    ----------
    metric : callable
        ``compute_corpus`` of a ``CorpusLevelTranslationMetric``.
    population : iterable of GenerativeCorpusMetricInput
        As in lighteval, only the first prediction of each item is counted, and for BLEU only the first reference.

    Returns
    -------
    Counted
        ``metric`` and ``counts``, an (S, K) ndarray of int64.

    Raises
    ------
    InputError
        If ``metric`` is another function, the numbers of references differ, or items are not texts.

    Examples
    --------
    >>> from lighteval.metrics.metrics_corpus import CorpusLevelTranslationMetric
    >>> from lighteval.metrics.sample_preparator import GenerativeCorpusMetricInput
    >>> items = [GenerativeCorpusMetricInput(["the cat sat on the mat"], ["the cat sat on a mat"])]
    >>> count(CorpusLevelTranslationMetric("bleu").compute_corpus, items).counts
    array([[6, 6, 5, 3, 2, 1, 6, 5, 4, 3]])
    """
    native = metric_of(metric)
    if native is None:
        raise InputError("only CorpusLevelTranslationMetric.compute_corpus has counts")
    used = 1 if native.key == "bleu" else None
    try:
        items = [(_texts(item.preds)[0], _texts(item.golds)[:used]) for item in population]
    except (AttributeError, IndexError, TypeError):
        raise InputError("items must have predictions and references (preds and golds)") from None
    return Counted.from_items(native, [prediction for prediction, _ in items], [references for _, references in items])


def from_counts(metric: Aggregation, population: Sequence[Any], number_experiments: int) -> float:
    """The standard error of a translation metric. Raises :class:`InputError` if the items cannot be counted."""
    counted = count(metric, population)
    if counted.metric.key != "bleu":
        what = f"lighteval computes {counted.metric.name} of the first item only; this standard error is for all items"
        warnings.warn(InputWarning(what), stacklevel=4)
    return counted.bootstrap_error(number_experiments)


def from_draws(
    original: Callable[..., float], metric: Aggregation, population: Sequence[Any], number_experiments: int
) -> float:
    """The standard deviation of lighteval's own draws: its result times √R."""
    block = min(1000, number_experiments)
    divided = original(metric, population, number_experiments)
    return divided * math.sqrt(number_experiments // block * block)


def metric_of(aggregation: Aggregation) -> NativeMetric | None:
    """The metric that a method of lighteval's translation metrics computes, or None."""
    from lighteval.metrics.metrics_corpus import CorpusLevelTranslationMetric as Host

    owner: Any = getattr(aggregation, "__self__", None)
    inherits = all(getattr(type(owner), name, None) is getattr(Host, name) for name in ("compute_corpus", "get_metric"))
    if not inherits or getattr(aggregation, "__name__", None) != "compute_corpus":
        return None
    native: Callable[..., NativeMetric] = metric
    makers = {
        "bleu": partial(native, "bleu", trg_lang=owner.lang) if owner.lang else partial(native, "bleu"),
        "chrf": partial(native, "chrf"),
        "chrf++": partial(native, "chrf", word_order=2),
        "ter": partial(native, "ter", asian_support=owner.lang != ""),
    }
    return makers[owner.metric_type]() if owner.metric_type in makers else None


def _texts(value: Any) -> list[Any]:
    """A text or a sequence of texts as a list, as in lighteval."""
    return list(value) if isinstance(value, (list, tuple)) else [value]
