"""Standard errors for lighteval's corpus metrics.

lighteval 0.13 divides the standard deviation of the scores of its bootstrap draws by the square root of their number,
so with 1,000 draws its standard errors of corpus metrics are 31.6 times too small. The functions of this module have
the same names and arguments as its own, and return the standard deviation. BLEU, chrF and TER are computed from counts,
other metrics by lighteval.

``reshuffle.compat.install(only=("lighteval",))`` makes lighteval itself use them. Its numbers then change. Therefore
``install()`` patches it only if it is named.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from reshuffle import InputError

from ..patching import logger
from .counting import Aggregation, count, from_counts, from_draws, metric_of

__all__ = ["bootstrap_stderr", "count", "get_stderr_function"]


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
    from .seams import BOOTSTRAP

    if metric_of(metric) is None:
        return from_draws(BOOTSTRAP.original, metric, population, number_experiments)
    try:
        return from_counts(metric, population, number_experiments)
    except InputError as error:
        logger.warning("lighteval computes the standard error: %s", error)
        return from_draws(BOOTSTRAP.original, metric, population, number_experiments)


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
