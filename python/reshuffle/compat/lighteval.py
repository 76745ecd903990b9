"""Standard errors for lighteval's corpus metrics.

lighteval 0.13 divides the standard deviation of the scores of its bootstrap draws by the square root of their number,
so with 1,000 draws its standard errors of corpus metrics are 31.6 times too small. The functions of this module have
the same names and arguments as its own, and return the standard deviation. BLEU, chrF and TER are computed from counts,
other metrics by lighteval.

``reshuffle.compat.install(only=("lighteval",))`` makes lighteval itself use them. Its numbers then change. Therefore
``install()`` patches it only if it is named.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from typing import Any

from reshuffle import InputError, InputWarning, NativeMetric
from reshuffle import metric as native

from .harness import Counted
from .patching import Seam, logger

__all__ = ["bootstrap_stderr", "count", "get_stderr_function"]

Aggregation = Callable[[Sequence[Any]], float]


def bootstrap_stderr(metric: Aggregation, population: Sequence[Any], number_experiments: int) -> float:
    """Bootstrap standard error of ``metric(population)``, to be used instead of lighteval's function of the same name.

    Parameters
    ----------
    metric : callable
        The aggregation of a corpus metric. ``compute_corpus`` of a ``CorpusLevelTranslationMetric`` is computed from
        counts. For any other function, lighteval calls it on every draw.
    population : sequence
        The items of the task, for translation metrics ``GenerativeCorpusMetricInput``.
    number_experiments : int
        The number of bootstrap draws.

    Returns
    -------
    float
        The standard deviation of the scores of the R draws, with denominator R − 1. lighteval returns this number
        divided by √R.

    Raises
    ------
    ImportError
        If lighteval is not installed. All other errors are raised by lighteval.

    Warns
    -----
    InputWarning
        For chrF and TER. lighteval 0.13 passes the references item by item, but sacreBLEU expects columns. Its score is
        therefore that of the first item only. The standard error is for the score of all items.

    Examples
    --------
    >>> from lighteval.metrics.metrics_corpus import CorpusLevelTranslationMetric
    >>> from lighteval.metrics.sample_preparator import GenerativeCorpusMetricInput
    >>> items = [
    ...     GenerativeCorpusMetricInput(["the cat sat on the mat"], ["the cat sat on a mat"]),
    ...     GenerativeCorpusMetricInput(["a dog barked at the moon"], ["a dog barks at the moon"]),
    ...     GenerativeCorpusMetricInput(["it rained all day long"], ["it rained all day"]),
    ... ]
    >>> round(bootstrap_stderr(CorpusLevelTranslationMetric("bleu").compute_corpus, items, 100_000), 1)
    10.9
    """
    if metric_of(metric) is None:
        return from_draws(metric, population, number_experiments)
    try:
        return from_counts(metric, population, number_experiments)
    except InputError as error:
        logger.warning("lighteval computes the standard error: %s", error)
        return from_draws(metric, population, number_experiments)


def get_stderr_function(aggregation: Aggregation, number_experiments: int = 1000) -> Callable[[Sequence[Any]], float]:
    """A function from items to the standard error of ``aggregation``, as lighteval's function of the same name.

    Parameters
    ----------
    aggregation : callable
        The aggregation of a metric. As in lighteval, a function whose name contains "mean" is taken for a mean, whose
        standard error is s/√n.
    number_experiments : int
        The number of bootstrap draws.

    Examples
    --------
    >>> import numpy as np
    >>> round(get_stderr_function(np.mean)([0.0, 1.0, 1.0, 0.0]), 4)
    0.2887
    """
    from lighteval.metrics.utils.stderr import mean_stderr

    if "mean" in aggregation.__name__:
        of_mean: Callable[[Sequence[Any]], float] = mean_stderr
        return of_mean
    return partial(bootstrap_stderr, aggregation, number_experiments=number_experiments)


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


def from_draws(metric: Aggregation, population: Sequence[Any], number_experiments: int) -> float:
    """The standard deviation of lighteval's own draws: its result times √R."""
    block = min(1000, number_experiments)
    divided: float = bootstrap_seam().original(metric, population, number_experiments)
    return divided * math.sqrt(number_experiments // block * block)


def metric_of(aggregation: Aggregation) -> NativeMetric | None:
    """The metric that a method of lighteval's translation metrics computes, or None."""
    from lighteval.metrics.metrics_corpus import CorpusLevelTranslationMetric as Host

    owner: Any = getattr(aggregation, "__self__", None)
    inherits = all(getattr(type(owner), name, None) is getattr(Host, name) for name in ("compute_corpus", "get_metric"))
    if not inherits or getattr(aggregation, "__name__", None) != "compute_corpus":
        return None
    options: dict[str, tuple[str, dict[str, Any]]] = {
        "bleu": ("bleu", {"trg_lang": owner.lang} if owner.lang else {}),
        "chrf": ("chrf", {}),
        "chrf++": ("chrf", {"word_order": 2}),
        "ter": ("ter", {"asian_support": owner.lang != ""}),
    }
    if owner.metric_type not in options:
        return None
    key, own = options[owner.metric_type]
    found: NativeMetric = native(key, **own)
    return found


def _texts(value: Any) -> list[Any]:
    """A text or a sequence of texts as a list, as in lighteval."""
    return list(value) if isinstance(value, (list, tuple)) else [value]


# What :func:`reshuffle.compat.install` replaces. lighteval is imported only then, and when it is called.


def patched(metric: Aggregation, population: Sequence[Any], number_experiments: int) -> float:
    """The standard error from counts if possible, otherwise lighteval's own times √R."""
    bootstrap_seam().count()
    try:
        return from_counts(metric, population, number_experiments)
    except InputError as error:
        bootstrap_seam().fall_back(str(error))
        return from_draws(metric, population, number_experiments)


@cache
def bootstrap_seam() -> Seam:
    """The seam of lighteval's function."""
    from lighteval.metrics.utils import stderr as host

    return Seam.function(host.bootstrap_stderr, patched)


def __getattr__(name: str) -> Any:
    if name == "SEAMS":
        return [bootstrap_seam()]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
